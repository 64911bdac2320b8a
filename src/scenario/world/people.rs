//! `world.people`: who approves, who restarts, who watches (W10, W11).

use super::{is_none, minutes};
use crate::calendar::{TimeOfDay, UtcOffset, Weekday};
use crate::fleet::Amount;
use crate::quantiles::Distribution;
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::tree::Value;
use crate::scenario::update::RESTARTS;
use crate::scenario::window::{self, OFFSET};
use crate::scheduler::Restart;
use crate::sim::model::{Approvers, Hours, Restarter, Skipper, Starter, Watchers};

/// Everybody who does something.
#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) approvers: Option<Approvers>,
    pub(super) restarter: Option<Restarter>,
    pub(super) watchers: Option<Watchers>,
    pub(super) skipper: Option<Skipper>,
    pub(super) starter: Option<Starter>,
}

impl People {
    /// Who acts when nobody is named.
    pub(super) fn default_people() -> Self {
        Self {
            approvers: Some(default_approvers()),
            restarter: Some(default_restarter()),
            ..Self::default()
        }
    }
}

fn default_approvers() -> Approvers {
    Approvers { delay: minutes(120.0, 1.0), tolerance: Amount::Count(0), hours: default_hours() }
}

fn default_hours() -> Hours {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
    Hours {
        days: vec![Monday, Tuesday, Wednesday, Thursday, Friday],
        from: TimeOfDay(9 * 60),
        to: TimeOfDay(17 * 60),
        offset: UtcOffset::default(),
    }
}

fn default_restarter() -> Restarter {
    Restarter { after: minutes(120.0, 1.0), at_most: 20, restart: Restart::RetryFailed }
}

pub(super) fn read(field: &Field<'_>, loader: &Loader<'_>) -> People {
    if is_none(field) {
        return People::default();
    }
    let keys = &["approvers", "restart", "watchers", "skipPending", "startAgain"];
    let Some(map) = field.map("people (or `none`)", keys) else { return People::default() };
    let named = |key| map.own(key).filter(|field: &Field<'_>| !is_none(field));
    People {
        approvers: match map.get("approvers") {
            Some(field) if is_none(&field) => None,
            Some(field) => read_approvers(&field, loader),
            None => Some(default_approvers()),
        },
        restarter: match map.get("restart") {
            Some(field) if is_none(&field) => None,
            Some(field) => read_restarter(&field, loader),
            None => Some(default_restarter()),
        },
        watchers: named("watchers").and_then(|field| read_watchers(&field, loader)),
        skipper: named("skipPending").and_then(|field| read_skipper(&field, loader)),
        starter: named("startAgain").and_then(|field| read_starter(&field, loader)),
    }
}

fn lag(map: &Map<'_>, key: &'static str, loader: &Loader<'_>) -> Option<Distribution> {
    map.own(key).and_then(|field| distribution::read(&field, Unit::Duration, loader))
}

fn read_approvers(field: &Field<'_>, loader: &Loader<'_>) -> Option<Approvers> {
    let keys = &["delay", "tolerance", "days", "hours", "utcOffset"];
    let map = field.map("approvers (or `none`)", keys)?;
    let default = default_approvers();
    Some(Approvers {
        delay: lag(&map, "delay", loader).unwrap_or(default.delay),
        tolerance: bearable(&map, "tolerance").unwrap_or(default.tolerance),
        hours: read_hours(&map),
    })
}

/// How many degraded members are borne: a count or a share of the run's members.
fn bearable(map: &Map<'_>, key: &'static str) -> Option<Amount> {
    map.own(key).and_then(|field| field.amount(0))
}

/// World.md's watchers, assumed.
fn read_watchers(field: &Field<'_>, loader: &Loader<'_>) -> Option<Watchers> {
    let keys = &["limit", "reaction", "days", "hours", "utcOffset"];
    let map = field.map("watchers (or `none`)", keys)?;
    Some(Watchers {
        limit: bearable(&map, "limit").unwrap_or(Amount::Count(0)),
        reaction: lag(&map, "reaction", loader).unwrap_or_else(|| minutes(30.0, 1.0)),
        hours: hours_if_any(&map),
    })
}

fn read_skipper(field: &Field<'_>, loader: &Loader<'_>) -> Option<Skipper> {
    let keys = &["after", "days", "hours", "utcOffset"];
    let map = field.map("a habit of skipping (or `none`)", keys)?;
    let after = map.need("after")?;
    let after = distribution::read(&after, Unit::Duration, loader)?;
    Some(Skipper { after, hours: hours_if_any(&map) })
}

fn read_starter(field: &Field<'_>, loader: &Loader<'_>) -> Option<Starter> {
    let map = field.map("a start after a fix (or `none`)", &["after", "restart"])?;
    let restart = map.own("restart").and_then(|field| field.word(RESTARTS));
    Some(Starter {
        after: lag(&map, "after", loader).unwrap_or_else(|| minutes(120.0, 1.0)),
        restart: restart.unwrap_or(Restart::RetryFailed),
    })
}

/// Working hours where one of their keys is written; else around the clock.
fn hours_if_any(map: &Map<'_>) -> Option<Hours> {
    let keys = ["days", "hours", "utcOffset"];
    keys.iter().any(|key| map.spot(key).is_some()).then(|| read_hours(map))
}

fn read_hours(map: &Map<'_>) -> Hours {
    let mut hours = default_hours();
    if let Some(days) = map.own("days") {
        hours.days.clear();
        for item in days.items().into_iter().flatten() {
            let Some(day) = window::weekday(&item) else { continue };
            if hours.days.contains(&day) {
                item.fail("duplicate-name", format!("{day} is here twice"));
            }
            hours.days.push(day);
        }
        if matches!(&days.node.value, Value::List(items) if items.is_empty()) {
            days.fail("out-of-range", "people without working days never do anything")
                .hint("name a day, or turn them off with `none`");
        }
        hours.days.sort_unstable();
    }
    if let Some((from, to)) = map.own("hours").and_then(|field| working_hours(&field)) {
        (hours.from, hours.to) = (from, to);
    }
    let offset = map.own("utcOffset").and_then(|field| field.parsed(OFFSET));
    hours.offset = offset.unwrap_or(hours.offset);
    hours
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
    restarter.after = lag(&map, "after", loader).unwrap_or(restarter.after);
    let at_most = map.own("atMost").and_then(|field| field.integer(0, 1_000_000));
    restarter.at_most = at_most.unwrap_or(restarter.at_most);
    let restart = map.own("restart").and_then(|field| field.word(RESTARTS));
    restarter.restart = restart.unwrap_or(restarter.restart);
    Some(restarter)
}
