//! Which members a model is about: `byLabel`, `region`, `osType`.

use crate::fleet::{OsType, regions};
use crate::ids::RegionId;
use crate::scenario::access::{Field, Map, nearest};
use crate::scenario::members::Builder;
use crate::scenario::strategy;
use crate::scenario::tree::Value;
use crate::sim::whom::Whom;

/// Reads the three keys from a map that has them.
pub(in crate::scenario) fn read(map: &Map<'_>, builder: &Builder<'_>) -> Whom {
    let by_label = map.own("byLabel").and_then(|field| strategy::label_selector(&field));
    let os = [("Linux", OsType::Linux), ("Windows", OsType::Windows)];
    let whom = Whom {
        by_label,
        regions: map.own("region").map(|field| read_regions(&field, builder)),
        os_type: map.own("osType").and_then(|field| field.word(&os)),
    };
    if map.has_only_known_keys() && !builder.fleet.members.iter().any(|member| whom.fits(member)) {
        map.notes
            .warning(map.node.at, "nobody", "no member of the fleet is meant by this")
            .hint("it changes nothing; see which labels and regions the members have");
    }
    whom
}

/// A region or a list of them, by name.
fn read_regions(field: &Field<'_>, builder: &Builder<'_>) -> Vec<RegionId> {
    if !matches!(field.node.value, Value::List(_)) {
        return region(field, builder).into_iter().collect();
    }
    field.items().into_iter().flatten().filter_map(|item| region(&item, builder)).collect()
}

fn region(field: &Field<'_>, builder: &Builder<'_>) -> Option<RegionId> {
    let name = field.filled_text()?;
    let known = &builder.fleet.regions;
    let found = known.ids().find(|id| known[*id] == name);
    if found.is_none() && regions::find(name).is_none() {
        let noted = field.fail("unknown-region", format!("`{name}` is not a region"));
        match regions::nearest(name)
            .map(|region| region.name)
            .or(nearest(name, known.iter().map(String::as_str)))
        {
            Some(near) => noted.hint(format!("did you mean `{near}`?")),
            None => noted.hint("write its programmatic name, such as westeurope"),
        }
    }
    found
}
