//! `world.outages` and `script.outages`: regions that are out (W3).

use super::is_none;
use crate::fleet::regions;
use crate::ids::RegionId;
use crate::scenario::access::{Field, Map};
use crate::scenario::changes::moment;
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::members::Builder;
use crate::sim::model::{OutageEffect, OutageModel};
use crate::sim::script::Outage;
use crate::time::Timestamp;

const EFFECTS: &[(&str, OutageEffect)] =
    &[("fail", OutageEffect::Fail), ("stretch", OutageEffect::Stretch)];

pub(super) fn read(
    field: &Field<'_>,
    builder: &Builder<'_>,
    loader: &Loader<'_>,
) -> Option<OutageModel> {
    if is_none(field) {
        return None;
    }
    let map = field.map("outages (or `none`)", &["every", "lasts", "regions", "effect"])?;
    let time = |key| map.need(key).and_then(|f| distribution::read(&f, Unit::Duration, loader));
    let (every, lasts) = (time("every"), time("lasts"));
    let regions = map.own("regions").map(|field| {
        let names = field.items().into_iter().flatten();
        names.filter_map(|name| region(&name, builder)).collect::<Vec<_>>()
    });
    let effect = effect(&map);
    Some(OutageModel { every: every?, lasts: lasts?, regions, effect })
}

fn effect(map: &Map<'_>) -> OutageEffect {
    map.own("effect").and_then(|field| field.word(EFFECTS)).unwrap_or_default()
}

/// A region of the fleet. One that exists and has no member is left out, with a warning.
fn region(field: &Field<'_>, builder: &Builder<'_>) -> Option<RegionId> {
    let name = field.filled_text()?;
    let fleet = &builder.fleet;
    let found = fleet.regions.iter_with_ids().find(|(_, other)| *other == name);
    if let Some((id, _)) = found.filter(|(id, _)| builder.is_inhabited(*id)) {
        return Some(id);
    }
    if found.is_some() || regions::find(name).is_some() {
        field
            .notes
            .warning(field.at(), "no-effect", format!("no member is in {name}"))
            .hint("its outages change nothing; name a region of the fleet");
        return None;
    }
    let noted = field.fail("unknown-region", format!("`{name}` is not a region"));
    match regions::nearest(name) {
        Some(near) => noted.hint(format!("did you mean `{}`?", near.name)),
        None => noted.hint("write its programmatic name, such as westeurope"),
    }
    None
}

/// `script.outages`: a list of `{region, from, to, effect}`.
pub(in crate::scenario) fn scripted(
    field: &Field<'_>,
    builder: &Builder<'_>,
    start: Timestamp,
) -> Vec<Outage> {
    let mut outages: Vec<Outage> = vec![];
    for item in field.items().into_iter().flatten() {
        let Some(outage) = outage(&item, builder, start) else { continue };
        let overlaps = |other: &&Outage| {
            other.region == outage.region && other.from < outage.to && outage.from < other.to
        };
        if outages.iter().any(|other| overlaps(&other)) {
            let region = &builder.fleet.regions[outage.region];
            item.fail("W3", format!("two outages of {region} overlap"))
                .hint("write one that begins with the first and ends with the last");
        }
        outages.push(outage);
    }
    outages
}

fn outage(field: &Field<'_>, builder: &Builder<'_>, start: Timestamp) -> Option<Outage> {
    let map = field.map("an outage", &["region", "from", "to", "effect"])?;
    let region = map.need("region").and_then(|field| region(&field, builder));
    let at = |key| map.need(key).and_then(|f| moment(&f, start)).map(|after| start + after);
    let (from, to) = (at("from"), at("to"));
    let effect = effect(&map);
    let (region, from, to) = (region?, from?, to?);
    if to <= from {
        field
            .fail("out-of-range", "the outage ends before it begins")
            .hint("`from` and `to` are instants, or offsets from the start such as 2h");
        return None;
    }
    Some(Outage { from, to, region, effect })
}
