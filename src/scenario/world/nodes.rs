//! `world.disruptionBudgets`, `world.quota` and `world.throttling`: what stands in the way of an
//! update (W8).

use super::{is_none, minutes};
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::sim::nodes::{BudgetModel, CapacityModel, ThrottlingModel};
use crate::sim::script::Script;

/// World.md's defaults, assumed.
fn default_budgets() -> BudgetModel {
    BudgetModel { probability: 0.03, caught: 0.5, mended: None }
}

/// World.md's share, assumed; how long and how bad a shortage is, is ours.
fn default_quota() -> CapacityModel {
    CapacityModel { probability: 0.01, lasts: minutes(240.0, 1.0), total: 0.5 }
}

/// `disruptionBudgets`; on by default where there are nodes.
pub(super) fn read_budgets(
    field: Option<Field<'_>>,
    has_nodes: bool,
    loader: &Loader<'_>,
) -> Option<BudgetModel> {
    let Some(field) = field.filter(|field| !is_none(field)) else {
        return (has_nodes && field.is_none()).then(default_budgets);
    };
    needs_nodes(&field, has_nodes);
    let map = field
        .map("a model of disruption budgets (or `none`)", &["probability", "caught", "mended"])?;
    let mut budgets = default_budgets();
    budgets.probability = share(&map, "probability").unwrap_or(budgets.probability);
    budgets.caught = share(&map, "caught").unwrap_or(budgets.caught);
    let mended = map.own("mended").filter(|field| !is_none(field));
    budgets.mended = mended.and_then(|f| distribution::read(&f, Unit::Duration, loader));
    Some(budgets)
}

/// `quota`; on by default where there are nodes.
pub(super) fn read_quota(
    field: Option<Field<'_>>,
    has_nodes: bool,
    loader: &Loader<'_>,
) -> Option<CapacityModel> {
    let Some(field) = field.filter(|field| !is_none(field)) else {
        return (has_nodes && field.is_none()).then(default_quota);
    };
    needs_nodes(&field, has_nodes);
    let map = field
        .map("a model of quota and capacity (or `none`)", &["probability", "lasts", "total"])?;
    let mut quota = default_quota();
    quota.probability = share(&map, "probability").unwrap_or(quota.probability);
    quota.total = share(&map, "total").unwrap_or(quota.total);
    if let Some(field) = map.own("lasts")
        && let Some(lasts) = distribution::read(&field, Unit::Duration, loader)
    {
        if lasts.mean() < 60_000.0 {
            field
                .fail("out-of-range", "a shortage that lasts less than 1m on average is none")
                .hint("write lasts: {lognormal: {median: 4h, sigma: 1.0}}, say");
        }
        quota.lasts = lasts;
    }
    Some(quota)
}

/// `throttling`; off until named.
pub(super) fn read_throttling(field: &Field<'_>) -> Option<ThrottlingModel> {
    if is_none(field) {
        return None;
    }
    let map =
        field.map("a model of throttling (or `none`)", &["atMost", "refusedAbove", "byLabel"])?;
    let at_most = map.need("atMost")?.integer(1, 1_000_000)?;
    let refused_above = map.own("refusedAbove").and_then(|field| {
        let above: u32 = field.integer(1, 1_000_000)?;
        if above < at_most {
            field
                .fail("out-of-range", format!("`refusedAbove` {above} is below `atMost` {at_most}"))
                .hint("updates are slowed down before they are refused");
        }
        Some(above)
    });
    let by_label = map.own("byLabel").and_then(|field| field.filled_text()).map(str::to_owned);
    Some(ThrottlingModel { at_most, refused_above, by_label })
}

fn share(map: &Map<'_>, key: &'static str) -> Option<f64> {
    map.own(key).and_then(|field| field.number(0.0, 1.0))
}

/// Budgets and shortages are met by nodes: without them, a key would have no effect.
fn needs_nodes(field: &Field<'_>, has_nodes: bool) {
    if !has_nodes {
        let message = format!("`{}` needs `durations: {{model: nodes}}`", field.name);
        field.fail("conflict", message).hint(
            "under `model: cluster` an update is one draw and has no nodes that could be blocked",
        );
    }
}

/// What a script says of nodes has no effect where there are none.
pub(super) fn warn_of_scripts(script: &Script, has_nodes: bool, map: Option<Map<'_>>) {
    let Some(map) = map else { return };
    let given = script.capacity.is_some() || script.budgets.is_some();
    if given && !has_nodes && script.updates.is_none() {
        let message = "`script.capacity` and `script.disruptionBudgets` have no effect under \
                       `durations: {model: cluster}`";
        map.notes
            .warning(map.node.at, "no-effect", message)
            .hint("write `durations: {model: nodes}`");
    }
    for (key, scripted) in
        [("quota", script.capacity.is_some()), ("disruptionBudgets", script.budgets.is_some())]
    {
        if let (true, Some(at)) = (scripted, map.spot(key)) {
            map.notes
                .warning(
                    at,
                    "no-effect",
                    format!("`world.{key}` has no effect beside the script's"),
                )
                .hint("take one of the two out");
        }
    }
}
