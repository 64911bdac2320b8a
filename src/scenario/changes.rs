//! `configurationChanges`: who is asked for which change, and when (W12, section 9 of the rules).

use super::access::{Field, Map, nearest, one_of};
use super::strategy::selector;
use crate::fleet::{Amount, Fleet};
use crate::ids::MemberId;
use crate::scheduler::disruption::{Operation, Rule};
use crate::sim::campaign::{Campaign, Habit};
use crate::time::{Span, Timestamp};

const CHANGE: &[&str] = &["at", "rate", "waves", "operation", "from", "to", "members", "onRefused"];
const TIMES: &[&str] = &["at", "rate", "waves"];
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
    /// So many in each stretch of time, evenly.
    Rate { from: Span, members: u32, every: Span },
    /// One wave after another; the last takes whoever is left.
    Waves(Vec<(Span, Option<Amount>)>),
}

/// Reads `configurationChanges` over a fleet that has been read.
pub(super) fn read(field: Option<Field<'_>>, fleet: &Fleet, start: Timestamp) -> Vec<Campaign> {
    let Some(field) = field else { return vec![] };
    let mut campaigns = vec![];
    for item in field.items().into_iter().flatten() {
        campaigns.extend(campaign(&item, fleet, start));
    }
    if campaigns.len() > MOST_CAMPAIGNS {
        let message = format!("there are more than {MOST_CAMPAIGNS} configuration changes");
        field.fail("out-of-range", message).hint("select more members by one change");
    }
    campaigns
}

fn campaign(field: &Field<'_>, fleet: &Fleet, start: Timestamp) -> Option<Campaign> {
    let map = field.map("a configuration change", CHANGE)?;
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
    let times = times(&map, start);
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
    let asked = spread(&times?, &members);
    Some(Campaign { operation: operation?, from, to, asked, on_refused })
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
    if operation.rule() == Rule::N6 {
        let message = format!("`{name}` is an upgrade, recovery or emergency, not a change");
        field.fail("N6", message).hint("describe upgrades in `update`");
        return None;
    }
    Some(operation)
}

fn times(map: &Map<'_>, start: Timestamp) -> Option<Times> {
    let mut given = TIMES.iter().filter_map(|key| map.get(key));
    let Some(first) = given.next() else {
        map.notes
            .error(
                map.node.at,
                "missing-key",
                "a configuration change needs `at`, `rate` or `waves`",
            )
            .hint("write at: 2h, say: all members are asked two hours after the start");
        return None;
    };
    if let Some(other) = given.next() {
        let message = format!("a change has one of {}; this has two", TIMES.join(", "));
        other.fail("duplicate-key", message).hint("write one entry for each");
    }
    match first.name {
        "at" => moment(&first, start).map(Times::At),
        "rate" => rate(&first, start),
        _ => waves(&first, start),
    }
}

/// An offset from the start, or an instant.
fn moment(field: &Field<'_>, start: Timestamp) -> Option<Span> {
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

/// When each member is asked; whole seconds.
fn spread(times: &Times, members: &[MemberId]) -> Vec<(MemberId, Span)> {
    match times {
        Times::At(at) => members.iter().map(|id| (*id, *at)).collect(),
        Times::Rate { from, members: number, every } => {
            let after = |position: i64| {
                let millis = position * every.as_millis() / i64::from(*number);
                *from + Span::from_secs(millis / 1_000)
            };
            (0..).zip(members).map(|(position, id)| (*id, after(position))).collect()
        }
        Times::Waves(waves) => {
            let total = u32::try_from(members.len()).expect("members fit u32");
            let (mut asked, mut rest) = (Vec::with_capacity(members.len()), members.iter());
            for (position, (at, amount)) in waves.iter().enumerate() {
                let last = position + 1 == waves.len();
                let size = amount.filter(|_| !last).map_or(total, |it| it.of_rounded_up(total));
                asked.extend(rest.by_ref().take(size as usize).map(|id| (*id, *at)));
            }
            asked
        }
    }
}
