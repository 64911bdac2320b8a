//! `script.defects`: which releases break whom, and how (W7).

use super::released;
use crate::ids::MemberId;
use crate::scenario::access::{Field, Map};
use crate::scenario::members::Builder;
use crate::scenario::world::whom;
use crate::scenario::{duration, instant};
use crate::sim::script::{Effect, ScriptedDefect};
use crate::time::Span;

const DEFECT: &[&str] = &[
    "nodeImage",
    "kubernetesVersion",
    "members",
    "byLabel",
    "region",
    "osType",
    "fails",
    "degradesAfter",
    "noticedAfter",
    "fixed",
];

pub(super) fn read(field: &Field<'_>, builder: &mut Builder<'_>) -> Vec<ScriptedDefect> {
    let items = field.items().into_iter().flatten();
    items.filter_map(|item| defect(&item, builder)).collect()
}

fn defect(field: &Field<'_>, builder: &mut Builder<'_>) -> Option<ScriptedDefect> {
    let map = field.map("a defect", DEFECT)?;
    let what = released(&map, field, builder);
    let members = members(&map, builder);
    let fixed = map.own("fixed").and_then(|field| instant(&field));
    let effect = effect(&map, field);
    Some(ScriptedDefect { what: what?, members, effect: effect?, fixed })
}

/// The members by name, or all that the other keys choose.
fn members(map: &Map<'_>, builder: &Builder<'_>) -> Vec<MemberId> {
    let Some(field) = map.own("members") else {
        let whom = whom::read(map, builder);
        let members = builder.fleet.members.iter_with_ids();
        return members.filter(|(_, member)| whom.fits(member)).map(|(id, _)| id).collect();
    };
    for key in ["byLabel", "region", "osType"] {
        if let Some(other) = map.get(key) {
            other
                .fail("conflict", format!("`members` and `{key}` exclude each other"))
                .hint("name the members, or say which they are");
        }
    }
    let names = field.items().into_iter().flatten();
    let mut members: Vec<MemberId> =
        names.filter_map(|item| builder.find_member(item.filled_text()?, item.at())).collect();
    members.sort_unstable();
    members.dedup();
    members
}

/// Either its updates fail, or members degrade later.
fn effect(map: &Map<'_>, field: &Field<'_>) -> Option<Effect> {
    let fails = map.own("fails");
    let [after, noticed_after] = ["degradesAfter", "noticedAfter"].map(|key| map.own(key));
    match (fails, after) {
        (Some(fails), None) => {
            if let Some(other) = noticed_after {
                other
                    .fail("conflict", "an update that fails is noticed at once")
                    .hint("take `noticedAfter` out, or write `degradesAfter` instead of `fails`");
            }
            Some(Effect::Fails(fails.filled_text()?.to_owned()))
        }
        (None, Some(after)) => {
            let noticed_after = noticed_after.map_or(Some(Span::ZERO), |field| duration(&field));
            Some(Effect::Degrades { after: duration(&after)?, noticed_after: noticed_after? })
        }
        (Some(_), Some(other)) => {
            other
                .fail("conflict", "`fails` and `degradesAfter` exclude each other")
                .hint("write one entry for the members that fail, and one for those that degrade");
            None
        }
        (None, None) => {
            field
                .fail("missing-key", "a defect needs `fails` or `degradesAfter`")
                .hint("write fails: NodeNotReady, or degradesAfter: 6h");
            None
        }
    }
}
