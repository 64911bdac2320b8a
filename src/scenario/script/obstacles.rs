//! `script.capacity` and `script.disruptionBudgets`: what stands in the way of updates, by name and
//! instant (W8).

use crate::scenario::access::{Field, nearest};
use crate::scenario::members::Builder;
use crate::sim::script::{ScriptedBudget, ScriptedShortage};

/// Shortages of capacity.
pub(super) fn capacity(field: &Field<'_>, builder: &mut Builder<'_>) -> Vec<ScriptedShortage> {
    let mut shortages = vec![];
    for item in field.items().into_iter().flatten() {
        shortages.extend(shortage(&item, builder));
    }
    shortages
}

fn shortage(field: &Field<'_>, builder: &mut Builder<'_>) -> Option<ScriptedShortage> {
    let map = field.map("a shortage", &["region", "from", "to", "total"])?;
    let name = map.need("region").and_then(|field| Some((field.filled_text()?, field)));
    let from = map.need("from").and_then(|field| super::super::duration(&field));
    let to = map.need("to").and_then(|field| super::super::duration(&field));
    let total = map.own("total").map_or(Some(true), |field| field.boolean());
    let (name, at) = name?;
    let region = builder.region(name);
    if !builder.is_inhabited(region) {
        at.notes
            .warning(at.at(), "no-effect", format!("no member is in `{name}`"))
            .hint("a shortage touches the members of its region only");
    }
    let (from, to) = (from?, to?);
    if from >= to {
        field
            .fail("out-of-range", format!("the shortage ends at {to}, before it begins at {from}"));
    }
    Some(ScriptedShortage { region, from, to, total: total? })
}

/// Disruption budgets that block.
pub(super) fn budgets(field: &Field<'_>, builder: &mut Builder<'_>) -> Vec<ScriptedBudget> {
    field.items().into_iter().flatten().filter_map(|item| budget(&item, builder)).collect()
}

fn budget(field: &Field<'_>, builder: &Builder<'_>) -> Option<ScriptedBudget> {
    let keys = &["member", "pool", "after", "nodes", "caught", "mended"];
    let map = field.map("a disruption budget", keys)?;
    let member = map
        .need("member")
        .and_then(|field| builder.find_member(field.filled_text()?, field.at()))?;
    let pools = &builder.fleet.members[member].pools;
    let pool = match map.own("pool") {
        None => 0,
        Some(field) => {
            let name = field.filled_text()?;
            let Some(found) = pools.iter().position(|pool| pool.name == name) else {
                let message = format!("the member has no pool called `{name}`");
                let near = nearest(name, pools.iter().map(|pool| pool.name.as_str()));
                let noted = field.fail("unknown-pool", message);
                if let Some(near) = near {
                    noted.hint(format!("did you mean `{near}`?"));
                }
                return None;
            };
            found
        }
    };
    let after = map.own("after").and_then(|field| field.integer(0, 1_000)).unwrap_or(0);
    let nodes = map.own("nodes").and_then(|field| field.integer(1, 1_000)).unwrap_or(1);
    let Some(count) = pools.get(pool).map(|pool| pool.count) else {
        field.fail("unknown-pool", "the member has no pools, so no node to block");
        return None;
    };
    if after + nodes > count {
        let message = format!("the pool has {count} nodes, not {}", after + nodes);
        field.fail("out-of-range", message).hint("`after` + `nodes` is at most the pool's `count`");
    }
    Some(ScriptedBudget {
        member,
        pool: u32::try_from(pool).expect("pools fit u32"),
        after,
        nodes,
        caught: map.own("caught").and_then(|field| field.boolean()).unwrap_or(false),
        mended: map.own("mended").and_then(|field| super::super::duration(&field)),
    })
}
