//! Lints of maintenance windows: when they open, for whom, and what they never do.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Run, count, form, known_region, names};
use crate::calendar::{
    Date, Interval, MaintenanceWindow, NotAllowedDates, Schedule, TimeOfDay, UtcOffset, Window,
};
use crate::error::Diagnostic;
use crate::fleet::regions::Region;
use crate::ids::{Column, MemberId, WindowId};
use crate::scenario::Scenario;
use crate::scenario::tree::Spot;
use crate::scheduler::Upgrade;
use crate::sim::World;
use crate::sim::model::DurationModel;
use crate::time::{Span, Timestamp};

/// The documentation recommends windows of at least this length.
const RECOMMENDED: Span = Span::from_hours(4);
/// With so many members or fewer, the same opening is no crowd.
const CROWD: usize = 50;

pub(super) fn lint(run: &Run<'_>, found: &mut Found) {
    let places = &run.scenario.places;
    for (id, window) in run.fleet.windows.iter_with_ids() {
        let at = Some(places.windows[id]);
        for doubt in of_description(window.description()) {
            found.add(at, doubt);
        }
        if run.by_window[id].is_empty() {
            continue;
        }
        if never_opens(run, id, window, found) {
            continue;
        }
        forbids_nothing(run, window, at, found);
        daylight_saving(run, id, window, found);
        too_short(run, id, window, found);
    }
    for (description, at) in &places.default_windows {
        for doubt in of_description(description) {
            found.add(Some(*at), doubt);
        }
    }
    window_of_another_kind(run, found);
    defaults(&places.default_configurations, found);
    same_opening(run, found);
}

/// What is doubtful about a window in itself, wherever it is.
pub(in crate::scenario) fn of_description(window: &MaintenanceWindow) -> Vec<Diagnostic> {
    let mut doubts = vec![];
    let interval = window.schedule.interval();
    if interval > 1 && window.start_date.is_none() {
        let unit = match window.schedule {
            Schedule::Daily { .. } => "day",
            Schedule::Weekly { .. } => "week",
            _ => "month",
        };
        let message = format!(
            "an interval of {interval} {unit}s without a `startDate` is counted from the \
             scenario's start"
        );
        doubts.push(
            Diagnostic::warning("interval-without-start-date", message)
                .hint("write the startDate of the real window: which periods count depends on it"),
        );
    }
    let short = short_pieces(window);
    if !short.is_empty() {
        let message = format!("the window opens for less than 4 h at a time: {}", short.join(", "));
        doubts.push(
            Diagnostic::warning("short-window", message)
                .hint("at least 4 h without a gap are recommended"),
        );
    }
    doubts
}

/// The times of an older window (hours of the week) that are shorter than recommended.
fn short_pieces(window: &MaintenanceWindow) -> Vec<String> {
    let Schedule::TimeInWeek { slots, .. } = &window.schedule else { return vec![] };
    let bare = MaintenanceWindow::time_in_week(slots.clone(), vec![]);
    let week = Span::from_days(7);
    let start = Timestamp::default();
    let of_a_week = |piece: &Interval| start <= piece.open && piece.open < start + week;
    let window = Window::new(&bare, start);
    let pieces = window.intervals_from(start).take_while(|piece| piece.open < start + week);
    let mut short: Vec<Interval> = pieces
        .filter(of_a_week)
        .filter(|piece| piece.close != Timestamp::MAX && piece.close - piece.open < RECOMMENDED)
        .collect();
    short.sort_by_key(|piece| Date::of(piece.open, UtcOffset::UTC).weekday());
    let time = |at: Timestamp| {
        let of_day = at.as_millis().rem_euclid(Span::DAY.as_millis()) / Span::MINUTE.as_millis();
        TimeOfDay(u16::try_from(of_day).expect("a day has 1,440 minutes"))
    };
    let shown = short.into_iter().map(|piece| {
        let day = Date::of(piece.open, UtcOffset::UTC).weekday();
        format!("{day} {}–{}", time(piece.open), time(piece.close))
    });
    shown.collect()
}

/// Whether the window opens too late for this scenario, or never.
fn never_opens(run: &Run<'_>, id: WindowId, window: &Window, found: &mut Found) -> bool {
    let next = window.next_opening(run.scenario.start);
    if next.is_some_and(|next| next <= run.end) {
        return false;
    }
    let members = &run.by_window[id];
    let message = format!(
        "the window ({}) does not open before the horizon ({}), so {} {} never updated",
        window.describe(),
        run.end,
        run.names(members),
        form(members.len(), "is", "are"),
    );
    let warning = Diagnostic::warning("window-never-opens", message).hint(match next {
        Some(next) => format!("it opens next at {next}: lengthen the horizon, or change it"),
        None => "it does not open within twelve years: look at its notAllowedDates".to_owned(),
    });
    let place = run.scenario.places.windows[id];
    found.add(Some(place), run.about(members, warning));
    true
}

/// M4: forbidden days on which the window would not have opened anyway.
fn forbids_nothing(run: &Run<'_>, window: &Window, at: Option<Spot>, found: &mut Found) {
    let description = window.description();
    if description.not_allowed.is_empty() {
        return;
    }
    let start = run.scenario.start;
    let bare = MaintenanceWindow { not_allowed: vec![], ..description.clone() };
    let bare = Window::new(&bare, start);
    let idle = |dates: &NotAllowedDates| {
        let (begins, ends) =
            (dates.start.begins(description.offset), dates.end.ends(description.offset));
        if ends <= start {
            return Some(format!("{dates} (over before the start)"));
        }
        if begins > run.end {
            return Some(format!("{dates} (after the horizon)"));
        }
        let next = bare.next_opening(begins.max(start));
        let hits = next.is_some_and(|next| next < ends && next <= run.end);
        (!hits).then(|| format!("{dates} (it would not open then)"))
    };
    let idle: Vec<String> = description.not_allowed.iter().filter_map(idle).collect();
    if !idle.is_empty() {
        let message = format!("these notAllowedDates forbid nothing here: {}", idle.join(", "));
        let warning = Diagnostic::warning("forbidden-dates-hit-nothing", message)
            .hint("are these the dates that were meant? both ends are forbidden, local days");
        found.add(at, warning);
    }
}

/// M2: windows know no daylight saving, people do.
fn daylight_saving(run: &Run<'_>, id: WindowId, window: &Window, found: &mut Found) {
    let description = window.description();
    let regions: BTreeSet<_> =
        run.by_window[id].iter().map(|member| run.fleet.members[*member].region).collect();
    let keeps = |region: &Region| [region.january, region.july].contains(&description.offset);
    let regions: Vec<Option<&Region>> =
        regions.into_iter().map(|region| known_region(run.fleet, region)).collect();
    // Those who write UTC mean UTC, unless it is the local time of all of them.
    if description.offset == UtcOffset::UTC && !regions.iter().all(|r| r.is_some_and(keeps)) {
        return;
    }
    let mut drifts: BTreeMap<(UtcOffset, String), Vec<&str>> = BTreeMap::new();
    for region in regions.into_iter().flatten().filter(|region| keeps(region)) {
        if let Some(drift) = drift(region, description.offset, run.scenario.start, run.end) {
            drifts.entry(drift).or_default().push(region.name);
        }
    }
    if drifts.is_empty() {
        return;
    }
    let shifts = drifts.into_iter().map(|((offset, when), regions)| {
        let minutes = i32::from(description.start_time.0) + i32::from(offset.0)
            - i32::from(description.offset.0);
        let minutes = u16::try_from(minutes.rem_euclid(24 * 60)).expect("a day has 1,440 minutes");
        format!("{} on the clocks of {} {when}", TimeOfDay(minutes), names(regions))
    });
    let message = format!(
        "the window keeps {} the year round: its {} is {}",
        description.offset,
        description.start_time,
        shifts.collect::<Vec<_>>().join(", "),
    );
    let warning = Diagnostic::warning("daylight-saving", message)
        .hint("windows know no daylight saving: choose hours that will do in summer and winter");
    found.add(Some(run.scenario.places.windows[id]), warning);
}

/// The other offset of a region's clocks, and when they have it; `None`: never in this span.
fn drift(
    region: &Region,
    kept: UtcOffset,
    start: Timestamp,
    end: Timestamp,
) -> Option<(UtcOffset, String)> {
    let at_start = region.offset_at(start);
    let changes: Vec<(Timestamp, UtcOffset)> = region.clock_changes(start, end).take(3).collect();
    let day = |number: usize| {
        let (at, offset): (Timestamp, UtcOffset) = changes[number];
        Date::of(at, offset)
    };
    let more = if changes.len() > 2 { ", …" } else { "" };
    match (at_start == kept, changes.len()) {
        (true, 0) => None,
        (false, 0) => Some((at_start, "throughout".to_owned())),
        (true, 1) => Some((changes[0].1, format!("from {}", day(0)))),
        (true, _) => Some((changes[0].1, format!("from {} to {}{more}", day(0), day(1)))),
        (false, 1) => Some((at_start, format!("until {}", day(0)))),
        (false, _) => Some((at_start, format!("until {} and from {}{more}", day(0), day(1)))),
    }
}

/// Updates that take longer than their window is ever open run past its close (O5).
fn too_short(run: &Run<'_>, id: WindowId, window: &Window, found: &mut Found) {
    let opens = window.intervals_from(run.scenario.start);
    let opens = opens.take_while(|interval| interval.open <= run.end);
    let lengths =
        opens.map(|interval| interval.close.as_millis().saturating_sub(interval.open.as_millis()));
    let Some(longest) = lengths.max().map(Span::from_millis) else { return };
    let takes = |id: &MemberId| match &run.scenario.script.updates {
        Some(updates) => {
            let attempts = updates.by_member.get(id).unwrap_or(&updates.rest);
            attempts.iter().map(|attempt| attempt.takes).max().unwrap_or_default()
        }
        None => run.typical_updates.takes(*id),
    };
    let slow: Vec<MemberId> =
        run.by_window[id].iter().copied().filter(|id| takes(id) > longest).collect();
    let Some(slowest) = slow.iter().map(takes).max() else { return };
    let scripted = run.scenario.script.updates.is_some();
    let how = if scripted { "" } else { run.typical_updates.word() };
    let message = format!(
        "the window is open for {longest} at most, the update of {} takes {slowest}{how}",
        run.names(&slow),
    );
    let warning = Diagnostic::warning("window-shorter-than-update", message)
        .hint("an update that has started goes on past the close of its window");
    found.add(Some(run.scenario.places.windows[id]), run.about(&slow, warning));
}

/// How long updates take, to the second, as far as that can be said.
pub(super) enum TypicalUpdates {
    /// The median, the same for all.
    Median(Span),
    /// The mean, by member.
    Mean(Column<MemberId, Span>),
}

impl TypicalUpdates {
    pub(super) fn of(scenario: &Scenario) -> Self {
        match &scenario.world.durations {
            DurationModel::Cluster(takes) => {
                #[expect(clippy::cast_possible_truncation, reason = "a hundred years at most")]
                let millis = takes.quantile_exact(0.5) as i64;
                Self::Median(Span::from_secs(millis / 1_000))
            }
            DurationModel::Nodes(_) => {
                let estimates = World::new(scenario.setting()).estimates().unwrap_or_default();
                let upgrade = scenario.update.upgrade;
                let seconds = |span: Span| Span::from_secs(span.as_millis() / 1_000);
                Self::Mean(estimates.iter().map(|of| seconds(of.total(upgrade))).collect())
            }
        }
    }

    fn takes(&self, member: MemberId) -> Span {
        match self {
            Self::Median(span) => *span,
            Self::Mean(means) => means[member],
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Median(_) => " (the median)",
            Self::Mean(_) => " (the mean)",
        }
    }
}

/// U9: members whose only window is the one that this update does not look at.
fn window_of_another_kind(run: &Run<'_>, found: &mut Found) {
    let node_image = matches!(run.update.upgrade, Upgrade::NodeImageOnly);
    let (kind, looks_at, ignores) = match run.update.upgrade {
        Upgrade::NodeImageOnly => {
            ("NodeImageOnly", "aksManagedNodeOSUpgradeSchedule", "aksManagedAutoUpgradeSchedule")
        }
        Upgrade::Full(_) => {
            ("Full", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
        }
        Upgrade::ControlPlaneOnly(_) => {
            ("ControlPlaneOnly", "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
        }
    };
    let only_the_other = run.members().filter(|(_, member)| {
        let windows = (member.kubernetes_window.is_some(), member.node_os_window.is_some());
        windows == (node_image, !node_image)
    });
    let members: Vec<MemberId> = only_the_other.map(|(id, _)| id).collect();
    let Some(first) = members.first().map(|id| &run.fleet.members[*id]) else { return };
    let message = format!(
        "{} {} only `{ignores}`, which a {kind} update does not look at, so {} {} updated at any \
         time",
        count(members.len(), "member"),
        form(members.len(), "has", "have"),
        run.names(&members),
        form(members.len(), "is", "are"),
    );
    let window = if node_image { first.kubernetes_window } else { first.node_os_window };
    let warning = Diagnostic::warning("window-without-run", message).hint(format!(
        "write `{looks_at}`; windows never trigger updates, they only hold them back"
    ));
    let place = window.map(|window| run.scenario.places.windows[window]);
    found.add(place, run.about(&members, warning));
}

/// U9: `default` plays no part in update runs.
fn defaults(configurations: &[Spot], found: &mut Found) {
    let Some(first) = configurations.iter().min() else { return };
    let number = configurations.len();
    let message = format!(
        "{} called `default` {} nothing here: update runs do not look at it",
        count(number, "maintenance configuration"),
        form(number, "governs", "govern"),
    );
    let warning = Diagnostic::warning("default-governs-nothing", message).hint(
        "`default` is for AKS's own releases; runs look at aksManagedNodeOSUpgradeSchedule and \
         aksManagedAutoUpgradeSchedule",
    );
    found.add(Some(*first), warning);
}

/// Many windows of one subscription that open at the same minute.
fn same_opening(run: &Run<'_>, found: &mut Found) {
    let mut windowed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut opening: BTreeMap<(&str, Timestamp), Vec<MemberId>> = BTreeMap::new();
    let windows =
        run.fleet.windows.iter_with_ids().filter(|(id, _)| !run.by_window[*id].is_empty());
    for (id, window) in windows {
        let next = window.intervals_from(run.scenario.start).next();
        let Some(next) = next.filter(|next| next.open <= run.end) else { continue };
        for member in &run.by_window[id] {
            let subscription = run.fleet.members[*member].subscription().unwrap_or_default();
            *windowed.entry(subscription).or_default() += 1;
            opening.entry((subscription, next.open)).or_default().push(*member);
        }
    }
    for ((subscription, at), members) in opening {
        let all = windowed[subscription];
        if members.len() <= CROWD || members.len() * 2 <= all {
            continue;
        }
        let of = if subscription.is_empty() {
            String::new()
        } else {
            format!(" of the subscription {subscription}")
        };
        let message = format!(
            "the windows of {} of {all} members{of} open at the same minute, {at}",
            members.len()
        );
        let warning = Diagnostic::warning("same-opening-minute", message).hint(
            "Azure throttles many requests of one subscription at once; spread the startTimes",
        );
        let window = crate::scheduler::Plan::window_of(run.update, &run.fleet.members[members[0]]);
        let place = window.map(|window| run.scenario.places.windows[window]);
        found.add(place, run.about(&members, warning));
    }
}
