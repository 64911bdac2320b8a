//! `world`: the models around the scheduler and what holds when they are not named (world.md).

use super::access::{Field, Map};
use super::distribution::{self, Unit};
use super::files::Loader;
use super::tree::Value;
use super::update::RESTARTS;
use super::window::{self, OFFSET};
use crate::calendar::{TimeOfDay, UtcOffset, Weekday};
use crate::quantiles::Distribution;
use crate::scheduler::Restart;
use crate::sim::model::{
    Approvers, DurationModel, FailureModel, ReleaseModel, Restarter, WorldModel,
};
use crate::sim::script::Script;

const WORLD: &[&str] = &[
    "releases",
    "durations",
    "failures",
    "defects",
    "people",
    "watchers",
    "churn",
    "outages",
    "throttling",
    "campaigns",
    "disruptionBudgets",
    "quota",
];
/// Models of the world that are off until named, and not read by this version.
const NOT_YET: [(&str, &str); 8] = [
    ("defects", "defective releases"),
    ("watchers", "watchers"),
    ("churn", "members that come and go"),
    ("outages", "outages"),
    ("throttling", "throttling"),
    ("campaigns", "campaigns"),
    ("disruptionBudgets", "disruption budgets"),
    ("quota", "quota and capacity"),
];

/// Reads `world`. A script that says what happens takes the place of the models it replaces.
pub(super) fn read(field: Option<Field<'_>>, script: &Script, loader: &Loader<'_>) -> WorldModel {
    let map = field.and_then(|field| field.map("a world", WORLD));
    let key = |key| map.and_then(|map| map.get(key));
    for (key, what) in NOT_YET {
        map.inspect(|map| map.not_yet(key, what));
    }
    if let (Some(field), Some(_)) = (key("releases"), &script.releases) {
        field
            .notes
            .warning(
                field.at(),
                "no-effect",
                "`world.releases` has no effect beside `script.releases`",
            )
            .hint("take one of the two out");
    }
    let scripted_people = script.updates.is_some() || script.actions.is_some();
    let people = key("people");
    let people_are_on = people.is_some() || !scripted_people;
    let (approvers, restarter) = match people {
        Some(field) => read_people(&field, loader),
        None if people_are_on => (Some(default_approvers()), Some(default_restarter())),
        None => (None, None),
    };
    let releases = key("releases").map_or(ReleaseModel::Train, |field| releases(&field));
    let failures = key("failures").map_or(Some(DEFAULT_FAILURES), |field| failures(&field));
    WorldModel {
        releases: if script.releases.is_some() { ReleaseModel::Off } else { releases },
        durations: key("durations")
            .and_then(|field| durations(&field, loader))
            .unwrap_or_else(|| DurationModel::Cluster(minutes(40.0, 0.5))),
        failures: if script.updates.is_some() { None } else { failures },
        approvers,
        restarter,
    }
}

/// Lognormal with its median in minutes.
fn minutes(median: f64, sigma: f64) -> Distribution {
    Distribution::lognormal(median * 60_000.0, sigma).expect("the defaults make sense")
}

/// World.md's defaults, assumed.
const DEFAULT_FAILURES: FailureModel = FailureModel { probability: 0.01, transient: 0.6 };

fn default_approvers() -> Approvers {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
    Approvers {
        delay: minutes(120.0, 1.0),
        days: vec![Monday, Tuesday, Wednesday, Thursday, Friday],
        from: TimeOfDay(9 * 60),
        to: TimeOfDay(17 * 60),
        offset: UtcOffset::default(),
    }
}

fn default_restarter() -> Restarter {
    Restarter { after: minutes(120.0, 1.0), at_most: 20, restart: Restart::RetryFailed }
}

/// `none` turns a model off.
fn is_none(field: &Field<'_>) -> bool {
    matches!(&field.node.value, Value::Scalar { text, .. } if text == "none")
}

fn releases(field: &Field<'_>) -> ReleaseModel {
    if is_none(field) {
        return ReleaseModel::Off;
    }
    let map = field.map("a release model", &["model", "history"]);
    let model = map.and_then(|map| map.get("model"));
    if let Some(field) = model
        && field.word(&[("train", false), ("history", true)]) == Some(true)
    {
        field
            .fail("not-supported", "`model: history` is not supported yet")
            .hint("write `model: train`, or name the releases in `script.releases`");
    }
    if let Some(field) = map.and_then(|map| map.get("history")) {
        field.fail("not-supported", "`history` is not supported yet").hint("take it out");
    }
    ReleaseModel::Train
}

fn durations(field: &Field<'_>, loader: &Loader<'_>) -> Option<DurationModel> {
    if is_none(field) {
        field
            .fail("wrong-type", "an update takes its time: `durations` cannot be none")
            .hint("write durations: {update: 40m}, say");
        return None;
    }
    let map = field.map("a model of durations", &["model", "update"])?;
    if let Some(field) = map.get("model")
        && field.word(&[("cluster", false), ("nodes", true)]) == Some(true)
    {
        field
            .fail("not-supported", "`model: nodes` is not supported yet")
            .hint("write `model: cluster`");
    }
    let update = distribution::read(&map.get("update")?, Unit::Duration, loader)?;
    Some(DurationModel::Cluster(update))
}

fn failures(field: &Field<'_>) -> Option<FailureModel> {
    if is_none(field) {
        return None;
    }
    let map = field.map("a model of failures (or `none`)", &["probability", "transient"])?;
    let share = |map: &Map<'_>, key, default| {
        map.own(key).and_then(|field| field.number(0.0, 1.0)).unwrap_or(default)
    };
    Some(FailureModel {
        probability: share(&map, "probability", DEFAULT_FAILURES.probability),
        transient: share(&map, "transient", DEFAULT_FAILURES.transient),
    })
}

fn read_people(field: &Field<'_>, loader: &Loader<'_>) -> (Option<Approvers>, Option<Restarter>) {
    if is_none(field) {
        return (None, None);
    }
    let keys = &["approvers", "restart", "watchers"];
    let Some(map) = field.map("people (or `none`)", keys) else { return (None, None) };
    map.not_yet("watchers", "watchers");
    let approvers = match map.get("approvers") {
        Some(field) if is_none(&field) => None,
        Some(field) => read_approvers(&field, loader),
        None => Some(default_approvers()),
    };
    let restarter = match map.get("restart") {
        Some(field) if is_none(&field) => None,
        Some(field) => read_restarter(&field, loader),
        None => Some(default_restarter()),
    };
    (approvers, restarter)
}

fn read_approvers(field: &Field<'_>, loader: &Loader<'_>) -> Option<Approvers> {
    let keys = &["delay", "days", "hours", "utcOffset"];
    let map = field.map("approvers (or `none`)", keys)?;
    let mut approvers = default_approvers();
    let delay = map.own("delay").and_then(|f| distribution::read(&f, Unit::Duration, loader));
    approvers.delay = delay.unwrap_or(approvers.delay);
    if let Some(days) = map.own("days") {
        approvers.days.clear();
        for item in days.items().into_iter().flatten() {
            let Some(day) = window::weekday(&item) else { continue };
            if approvers.days.contains(&day) {
                item.fail("duplicate-name", format!("{day} is here twice"));
            }
            approvers.days.push(day);
        }
        if matches!(&days.node.value, Value::List(items) if items.is_empty()) {
            days.fail("out-of-range", "approvers without working days never approve")
                .hint("name a day, or write `approvers: none`");
        }
        approvers.days.sort_unstable();
    }
    if let Some(hours) = map.own("hours").and_then(|field| working_hours(&field)) {
        (approvers.from, approvers.to) = hours;
    }
    let offset = map.own("utcOffset").and_then(|field| field.parsed(OFFSET));
    approvers.offset = offset.unwrap_or(approvers.offset);
    Some(approvers)
}

/// `09:00-17:00`; the end may be 24:00.
fn working_hours(field: &Field<'_>) -> Option<(TimeOfDay, TimeOfDay)> {
    let text = field.text()?;
    let hours = text.split_once('-').and_then(|(from, to)| {
        let to = if to == "24:00" { TimeOfDay(24 * 60) } else { to.parse().ok()? };
        Some((from.parse::<TimeOfDay>().ok()?, to))
    });
    let Some((from, to)) = hours else {
        field
            .fail("wrong-type", format!("`{text}` does not read as working hours"))
            .hint("write \"09:00-17:00\"; around the clock is \"00:00-24:00\"");
        return None;
    };
    if from >= to {
        let message = format!("the working day ends at {to}, before it starts at {from}");
        field
            .fail("out-of-range", message)
            .hint("hours across midnight are not read; shift `utcOffset` instead");
        return None;
    }
    Some((from, to))
}

fn read_restarter(field: &Field<'_>, loader: &Loader<'_>) -> Option<Restarter> {
    let map = field.map("a restart (or `none`)", &["after", "atMost", "restart"])?;
    let mut restarter = default_restarter();
    let after = map.own("after").and_then(|f| distribution::read(&f, Unit::Duration, loader));
    restarter.after = after.unwrap_or(restarter.after);
    let at_most = map.own("atMost").and_then(|field| field.integer(0, 1_000_000));
    restarter.at_most = at_most.unwrap_or(restarter.at_most);
    let restart = map.own("restart").and_then(|field| field.word(RESTARTS));
    restarter.restart = restart.unwrap_or(restarter.restart);
    Some(restarter)
}
