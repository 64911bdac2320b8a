//! `configurationChanges`: who is asked for which change, and when (W12, section 9 of the rules).

use super::access::{Field, Map, nearest, one_of};
use super::distribution;
use super::files::Loader;
use super::strategy::selector;
use super::tree::Value;
use crate::fleet::{Amount, Fleet};
use crate::ids::MemberId;
use crate::quantiles::Distribution;
use crate::scheduler::disruption::{Operation, Rule};
use crate::sim::campaign::{Asked, Campaign, Habit};
use crate::time::{Span, Timestamp};

const CHANGE: &[&str] = &[
    "name",
    "at",
    "rate",
    "waves",
    "stages",
    "with",
    "operation",
    "from",
    "to",
    "members",
    "onRefused",
];
const TIMES: &[&str] = &["at", "rate", "waves", "stages", "with"];
/// N6: they reimage, and no policy has a say in it. Upgrades are the update's.
const RECOVERY: &[&str] =
    &["poolRollback", "adminRestore", "identityCredentialUpdate", "emergencyMaintenance"];
const HABITS: &[(&str, Habit)] = &[
    ("giveUp", Habit::GiveUp),
    ("retryInWindow", Habit::RetryInWindow),
    ("changePolicy", Habit::ChangePolicy),
];
/// More campaigns than anybody has; their numbers fit 16 bits.
const MOST_CAMPAIGNS: usize = 1_000;
/// People who ask again do so at most once a minute.
const SHORTEST_RETRY: Span = Span::MINUTE;

/// When members are asked.
enum Times {
    /// All at one instant.
    At(Span),
    /// Each at a drawn one.
    Drawn(Distribution),
    /// So many in each stretch of time, evenly.
    Rate { from: Span, members: u32, every: Span },
    /// One wave after another; the last takes whoever is left.
    Waves(Vec<(Span, Option<Amount>)>),
    /// Stage after stage of the candidate's strategy.
    Stages { from: Span, every: Span },
    /// As a part of the member's update.
    WithUpdate,
}

/// What is around the changes.
struct Around<'a> {
    fleet: &'a Fleet,
    start: Timestamp,
    /// Whether there is an update run.
    has_update: bool,
    loader: &'a Loader<'a>,
}

/// Reads `configurationChanges` over a fleet that has been read.
pub(super) fn read(
    scenario: &Map<'_>,
    fleet: &Fleet,
    start: Timestamp,
    loader: &Loader<'_>,
) -> Vec<Campaign> {
    let Some(field) = scenario.get("configurationChanges") else { return vec![] };
    let around = &Around { fleet, start, has_update: scenario.get("update").is_some(), loader };
    let mut campaigns: Vec<Campaign> = vec![];
    for item in field.items().into_iter().flatten() {
        campaigns.extend(campaign(&item, around, &campaigns));
    }
    if campaigns.len() > MOST_CAMPAIGNS {
        let message = format!("there are more than {MOST_CAMPAIGNS} configuration changes");
        field.fail("out-of-range", message).hint("select more members by one change");
    }
    campaigns
}

fn campaign(field: &Field<'_>, around: &Around<'_>, known: &[Campaign]) -> Option<Campaign> {
    let fleet = around.fleet;
    let map = field.map("a configuration change", CHANGE)?;
    let name = map.own("name").and_then(|field| own_name(&field, known));
    let operation = map.need("operation").and_then(|field| operation(&field));
    let value = |key| map.own(key).and_then(|field: Field<'_>| field.text().map(str::to_owned));
    let (from, to) = (value("from"), value("to"));
    if let Some(operation) = operation
        && let Err(wrong) = operation.change(from.as_deref(), to.as_deref())
    {
        let key = if wrong.value == from.as_deref() { "from" } else { "to" };
        map.notes
            .error(map.place_of(key), "N8", wrong.to_string())
            .hint("values are written as in the API, lower and upper case included");
    }
    let times = times(&map, around);
    let on_refused = map.own("onRefused").and_then(|field| habit(&field)).unwrap_or_default();
    let selected = map.get("members").map(|field| selector(&field));
    // A selector that is wrong was reported; it selects nobody.
    let is_selected = |id: &MemberId| match &selected {
        None => true,
        Some(selector) => {
            selector.as_ref().is_some_and(|it| it.matches(&fleet.members[*id].labels))
        }
    };
    let members: Vec<MemberId> = fleet.members.ids().filter(is_selected).collect();
    if members.is_empty() && matches!(selected, Some(Some(_))) {
        map.notes
            .warning(map.place_of("members"), "empty-selector", "no member has these labels")
            .hint("nobody is asked for the change");
    }
    let (times, operation) = (times?, operation?);
    if matches!(times, Times::WithUpdate) && map.spot("onRefused").is_some() {
        map.notes
            .error(
                map.place_of("onRefused"),
                "conflict",
                "what is part of an update is not refused",
            )
            .hint("leave `onRefused` out, or say `at` instead of `with`");
    }
    let name = name.unwrap_or_else(|| free_name(operation, known));
    let asked = spread(times, members.len());
    Some(Campaign { name, operation, from, to, members, asked, on_refused })
}

/// A name that no other change has.
fn own_name(field: &Field<'_>, known: &[Campaign]) -> Option<String> {
    let name = super::file_name(field)?;
    if known.iter().any(|other| other.name.eq_ignore_ascii_case(&name)) {
        field
            .fail("duplicate-name", format!("two changes are called `{name}`"))
            .hint("name each change otherwise; without `name` it is called after its operation");
    }
    Some(name)
}

/// The operation's name, with a number if another change has it.
fn free_name(operation: Operation, known: &[Campaign]) -> String {
    let is_free = |name: &String| known.iter().all(|other| other.name != *name);
    let numbered = (2..).map(|number| format!("{}-{number}", operation.name()));
    let mut names = std::iter::once(operation.name().to_owned()).chain(numbered);
    names.find(is_free).expect("there are more numbers than changes")
}

fn operation(field: &Field<'_>) -> Option<Operation> {
    let name = field.text()?;
    let Some(operation) = Operation::named(name) else {
        let noted = field.fail("N8", format!("there is no operation `{name}`"));
        match nearest(name, Operation::all().map(Operation::name)) {
            Some(near) => noted.hint(format!("did you mean `{near}`?")),
            None => noted.hint(format!(
                "operations are {}",
                one_of(Operation::all().filter(|it| it.is_covered()).map(Operation::name))
            )),
        }
        return None;
    };
    if operation.rule() == Rule::N6 && !RECOVERY.contains(&name) {
        let message = format!("`{name}` is an upgrade, not a change");
        field.fail("N6", message).hint("describe upgrades in `update`");
        return None;
    }
    Some(operation)
}

fn times(map: &Map<'_>, around: &Around<'_>) -> Option<Times> {
    let mut given = TIMES.iter().filter_map(|key| map.get(key));
    let Some(first) = given.next() else {
        map.notes
            .error(
                map.node.at,
                "missing-key",
                "a configuration change needs `at`, `rate`, `waves`, `stages` or `with`",
            )
            .hint("write at: 2h, say: all members are asked two hours after the start");
        return None;
    };
    if let Some(other) = given.next() {
        let message = format!("a change has one of {}; this has two", TIMES.join(", "));
        other.fail("duplicate-key", message).hint("write one entry for each");
    }
    let start = around.start;
    if matches!(first.name, "stages" | "with") && !around.has_update {
        let name = first.name;
        first
            .fail("conflict", format!("`{name}` is about the update run, and there is none"))
            .hint("add an `update`, or say `at`, `rate` or `waves`");
        return None;
    }
    match first.name {
        "at" if matches!(first.node.value, Value::Map(_)) => drawn(&first, around.loader),
        "at" => moment(&first, start).map(Times::At),
        "rate" => rate(&first, start),
        "stages" => stages(&first, start),
        "with" => first.word(&[("update", ())]).map(|()| Times::WithUpdate),
        _ => waves(&first, start),
    }
}

/// A distribution of offsets from the start.
fn drawn(field: &Field<'_>, loader: &Loader<'_>) -> Option<Times> {
    let times = distribution::read(field, distribution::Unit::Duration, loader)?;
    if times.range().0 < 0.0 {
        field.fail("out-of-range", "nobody can be asked before the start");
        return None;
    }
    Some(Times::Drawn(times))
}

fn stages(field: &Field<'_>, start: Timestamp) -> Option<Times> {
    let map = field.map("waves by stages", &["every", "from"])?;
    let every = map.need("every").and_then(|field| super::duration(&field));
    let from = match map.own("from") {
        Some(field) => moment(&field, start)?,
        None => Span::ZERO,
    };
    Some(Times::Stages { from, every: every? })
}

/// An offset from the start, or an instant.
pub(super) fn moment(field: &Field<'_>, start: Timestamp) -> Option<Span> {
    let is_instant = field.node.as_text().is_some_and(|text| text.contains('-'));
    if !is_instant {
        return super::duration(field);
    }
    let at = super::instant(field)?;
    if at < start {
        field
            .fail("out-of-range", format!("{at} lies before the start, {start}"))
            .hint("name a later instant, or an offset from the start such as 2h");
        return None;
    }
    Some(at - start)
}

fn rate(field: &Field<'_>, start: Timestamp) -> Option<Times> {
    let map = field.map("a rate", &["members", "every", "from"])?;
    let members = map.need("members").and_then(|field| field.integer(1, 1_000_000));
    let every = map.need("every").and_then(|field| super::duration(&field));
    let from = match map.own("from") {
        Some(field) => moment(&field, start)?,
        None => Span::ZERO,
    };
    Some(Times::Rate { from, members: members?, every: every? })
}

fn waves(field: &Field<'_>, start: Timestamp) -> Option<Times> {
    let mut waves = vec![];
    for item in field.items()? {
        let Some(map) = item.map("a wave", &["at", "members"]) else { continue };
        let at = map.need("at").and_then(|field| moment(&field, start));
        let members = map.get("members").and_then(|field| field.amount(1));
        waves.extend(at.map(|at| (at, members)));
    }
    if !waves.is_sorted_by_key(|(at, _)| *at) {
        field.fail("out-of-range", "waves come one after another").hint("put them in order");
    }
    if waves.is_empty() {
        field.fail("missing-key", "`waves` has no wave").hint("write waves: [{at: 1d}]");
        return None;
    }
    Some(Times::Waves(waves))
}

/// What people do about a refusal; `retryEvery` comes with its time.
fn habit(field: &Field<'_>) -> Option<Habit> {
    if field.node.get("retryEvery").is_none() {
        let habit = field.node.as_text().and_then(|text| {
            HABITS.iter().find(|(word, _)| *word == text).map(|(_, habit)| *habit)
        });
        if habit.is_none() {
            let words = one_of(HABITS.iter().map(|(word, _)| *word));
            field.wrong_type(&format!("{words}, or a map such as {{retryEvery: 6h}}"));
        }
        return habit;
    }
    let every = field.map("a habit", &["retryEvery"])?.need("retryEvery")?;
    let span = super::duration(&every)?;
    if span < SHORTEST_RETRY {
        every.fail("out-of-range", format!("`retryEvery` must be at least {SHORTEST_RETRY}"));
        return None;
    }
    Some(Habit::RetryEvery(span))
}

/// When each of so many members is asked; whole seconds.
fn spread(times: Times, members: usize) -> Asked {
    Asked::After(match times {
        Times::Drawn(times) => return Asked::Drawn(times),
        Times::Stages { from, every } => return Asked::Stages { from, every },
        Times::WithUpdate => return Asked::WithUpdate,
        Times::At(at) => vec![at; members],
        Times::Rate { from, members: number, every } => {
            let after = |position: i64| {
                let millis = position * every.as_millis() / i64::from(number);
                from + Span::from_secs(millis / 1_000)
            };
            (0..).map(after).take(members).collect()
        }
        Times::Waves(waves) => {
            let total = u32::try_from(members).expect("members fit u32");
            let mut asked = Vec::with_capacity(members);
            for (position, (at, amount)) in waves.iter().enumerate() {
                let last = position + 1 == waves.len();
                let size = amount.filter(|_| !last).map_or(total, |it| it.of_rounded_up(total));
                let size = (size as usize).min(members - asked.len());
                asked.extend(std::iter::repeat_n(*at, size));
            }
            asked
        }
    })
}
