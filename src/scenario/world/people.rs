//! `world.people`: who approves and who restarts (W10, W11).

use super::{is_none, minutes};
use crate::calendar::{TimeOfDay, UtcOffset, Weekday};
use crate::scenario::access::Field;
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::tree::Value;
use crate::scenario::update::RESTARTS;
use crate::scenario::window::{self, OFFSET};
use crate::scheduler::Restart;
use crate::sim::model::{Approvers, Restarter};

pub(super) fn default_approvers() -> Approvers {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
    Approvers {
        delay: minutes(120.0, 1.0),
        days: vec![Monday, Tuesday, Wednesday, Thursday, Friday],
        from: TimeOfDay(9 * 60),
        to: TimeOfDay(17 * 60),
        offset: UtcOffset::default(),
    }
}

pub(super) fn default_restarter() -> Restarter {
    Restarter { after: minutes(120.0, 1.0), at_most: 20, restart: Restart::RetryFailed }
}

pub(super) fn read(
    field: &Field<'_>,
    loader: &Loader<'_>,
) -> (Option<Approvers>, Option<Restarter>) {
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
