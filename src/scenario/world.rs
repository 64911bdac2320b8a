//! `world`: the models around the scheduler and what holds when they are not named (world.md).

mod churn;
mod defects;
mod doubts;
mod durations;
mod failures;
mod live_patches;
mod nodes;
pub(super) mod outages;
mod own_upgrades;
mod people;
mod releases;
pub(super) mod whom;

use super::access::{Field, Map};
use super::files::Loader;
use super::members::Builder;
use super::tree::Value;
use crate::quantiles::Distribution;
use crate::sim::model::{DurationModel, Joining, Mishaps, PoolAdding, ReleaseModel, WorldModel};
use crate::sim::script::Script;

const WORLD: &[&str] = &[
    "releases",
    "durations",
    "failures",
    "defects",
    "people",
    "ownUpgrades",
    "livePatches",
    "watchers",
    "churn",
    "outages",
    "throttling",
    "campaigns",
    "disruptionBudgets",
    "quota",
];
/// Models of the world that are off until named, and not read by this version.
const NOT_YET: [(&str, &str); 1] = [("campaigns", "campaigns")];

/// Reads `world`. A script that says what happens takes the place of the models it replaces.
pub(super) fn read(
    field: Option<Field<'_>>,
    comings: (Vec<Joining>, Vec<PoolAdding>),
    script: &Script,
    builder: &Builder<'_>,
    loader: &Loader<'_>,
) -> WorldModel {
    let start = builder.start;
    let map = field.and_then(|field| field.map("a world", WORLD));
    let key = |key| map.and_then(|map| map.get(key));
    for (key, what) in NOT_YET {
        map.inspect(|map| map.not_yet(key, what));
    }
    warn_of_scripts(script, map);
    let scripted_people = script.updates.is_some() || script.actions.is_some();
    if let Some(field) = key("watchers").filter(|field| !is_none(field)) {
        field
            .fail("not-supported", "watchers are people: they stand in `world.people`")
            .hint("write people: {watchers: {limit: 2}}");
    }
    let people = match key("people") {
        Some(field) => people::read(&field, loader),
        None if scripted_people => people::People::default(),
        None => people::People::default_people(),
    };
    let (releases, mishaps) = key("releases")
        .map_or((ReleaseModel::Train, Mishaps::default()), |f| releases::read(&f, start, loader));
    let outages = key("outages").and_then(|field| outages::read(&field, builder, loader));
    let failures = key("failures")
        .map_or(Some(failures::DEFAULT_FAILURES), |field| failures::read(&field, builder));
    let (durations, duration_factors) =
        durations::read(key("durations"), loader).unwrap_or_else(durations::default);
    let has_nodes = matches!(durations, DurationModel::Nodes(_));
    nodes::warn_of_scripts(script, has_nodes, map);
    let model = WorldModel {
        durations,
        duration_factors,
        budgets: nodes::read_budgets(key("disruptionBudgets"), has_nodes, loader),
        capacity: nodes::read_quota(key("quota"), has_nodes, loader),
        throttling: key("throttling").and_then(|field| nodes::read_throttling(&field)),
        releases: if script.releases.is_some() { ReleaseModel::Off } else { releases },
        mishaps,
        outages: outages.filter(|_| script.outages.is_none()),
        failures: if script.updates.is_some() { None } else { failures },
        approvers: people.approvers,
        restarter: people.restarter,
        watchers: people.watchers,
        skipper: people.skipper,
        starter: people.starter,
        defects: key("defects").and_then(|field| defects::read(&field, builder, loader)),
        own_upgrades: own_upgrades::read(key("ownUpgrades"), loader),
        live_patches: live_patches::read(key("livePatches"), loader),
        churn: key("churn").and_then(|field| churn::read(&field, comings, builder, loader)),
    };
    if let Some(map) = &map {
        doubts::warn(map, &model, script, builder.fleet.members.len());
    }
    model
}

/// What a script says takes the place of what the world says.
fn warn_of_scripts(script: &Script, world: Option<Map<'_>>) {
    let scripted = [
        ("releases", script.releases.is_some()),
        ("outages", script.outages.is_some()),
        ("defects", script.defects.is_some()),
    ];
    for (name, _) in scripted.into_iter().filter(|(_, scripted)| *scripted) {
        let field = world.and_then(|world| world.get(name));
        if let Some(field) = field.filter(|field| name == "releases" || !is_none(field)) {
            let message = format!("`world.{name}` has no effect beside `script.{name}`");
            let noted = field.notes.warning(field.at(), "no-effect", message);
            noted.hint("take one of the two out");
        }
    }
}

/// Lognormal with its median in minutes.
fn minutes(median: f64, sigma: f64) -> Distribution {
    Distribution::lognormal(median * 60_000.0, sigma).expect("the defaults make sense")
}

/// `default` turns a model on as it is.
fn is_default(field: &Field<'_>) -> bool {
    matches!(&field.node.value, Value::Scalar { text, .. } if text == "default")
}

/// `none` turns a model off.
fn is_none(field: &Field<'_>) -> bool {
    matches!(&field.node.value, Value::Scalar { text, .. } if text == "none")
}
