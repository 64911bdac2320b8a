//! A window that answers: intervals by arithmetic on occurrences, cut by the forbidden times.

use std::iter;

use super::occurrences::Occurrences;
use super::{Date, MaintenanceWindow, Schedule};
use crate::time::{Span, Timestamp};

/// How far ahead an opening is looked for: twelve years (R-J7).
const LOOK_AHEAD: Span = Span::from_days(12 * 1_461 / 4);

/// An instant no farther than 36 million years from 1970, so that no sum here overflows.
fn within_reach(t: Timestamp) -> Timestamp {
    const FAR: i64 = 1 << 60;
    Timestamp::from_millis(t.as_millis().clamp(-FAR, FAR))
}

/// A time at which a window is open, without a gap: from `open` up to, without, `close` (R-J4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first open instant.
    pub open: Timestamp,
    /// The first closed instant after it; [`Timestamp::MAX`] if the window never closes again.
    pub close: Timestamp,
}

/// A checked maintenance window, ready to be asked.
///
/// Answers are exact and take a handful of integer operations for each occurrence looked at; only
/// occurrences are stepped over, never days, and those under one forbidden span are leapt over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    description: MaintenanceWindow,
    start_date: Date,
    occurrences: Occurrences,
    /// Forbidden times, ascending, not empty, neither touching nor overlapping.
    forbidden: Vec<Interval>,
}

impl Window {
    /// The window of a description, counted from its own `startDate` or else from the local day of
    /// the scenario's start (R-J1).
    ///
    /// # Panics
    ///
    /// If [`MaintenanceWindow::check`] finds a problem in it.
    pub fn new(description: &MaintenanceWindow, scenario_start: Timestamp) -> Self {
        let problems = description.check();
        assert!(problems.is_empty(), "windows are made of checked descriptions: {problems:?}");
        let start_date =
            description.start_date.unwrap_or_else(|| Date::of(scenario_start, description.offset));
        Self {
            description: description.clone(),
            start_date,
            occurrences: Occurrences::new(description, start_date),
            forbidden: forbidden(description),
        }
    }

    /// What the window was made of.
    pub const fn description(&self) -> &MaintenanceWindow {
        &self.description
    }

    /// The day from which the window is counted: its `startDate`, or the scenario's start (R-J1).
    pub const fn start_date(&self) -> Date {
        self.start_date
    }

    /// The window for a planner, in one line.
    pub fn describe(&self) -> String {
        self.description.describe(self.start_date)
    }

    /// The open intervals that close after `t`, ascending, those first of all in which `t` itself
    /// lies. Neighbours never touch (M5). Ends with the last interval that opens within twelve
    /// years of `t` (R-J7).
    pub fn intervals_from(&self, t: Timestamp) -> Intervals<'_> {
        self.intervals(within_reach(t), within_reach(t) + LOOK_AHEAD)
    }

    /// Whether the window is open at `t`: from its opening second on, no longer at its closing
    /// second (R-J4).
    pub fn open_at(&self, t: Timestamp) -> bool {
        self.closes(t).is_some()
    }

    /// The first instant at or after `t` at which the window is open (R-J6, R-J10): `t` itself if
    /// it is; `None` if it does not open within twelve years (R-J7).
    pub fn next_opening(&self, t: Timestamp) -> Option<Timestamp> {
        self.intervals_from(t).next().map(|interval| interval.open.max(t))
    }

    /// When the window closes if it is open at `t`, else `None`. [`Timestamp::MAX`] stands for
    /// never.
    pub fn closes(&self, t: Timestamp) -> Option<Timestamp> {
        self.intervals(within_reach(t), within_reach(t)).next().map(|interval| interval.close)
    }

    /// The intervals that close after `after` and open by `until`.
    fn intervals(&self, after: Timestamp, until: Timestamp) -> Intervals<'_> {
        let index = self.occurrences.first_closing_after(after);
        Intervals { window: self, after, until, index, rest: None }
    }
}

/// Forbidden dates and times of a description as sorted, disjoint intervals (M4, R-J5).
fn forbidden(description: &MaintenanceWindow) -> Vec<Interval> {
    let offset = description.offset;
    let mut spans: Vec<Interval> = description
        .not_allowed
        .iter()
        .map(|dates| Interval { open: dates.start.begins(offset), close: dates.end.ends(offset) })
        .collect();
    if let Schedule::TimeInWeek { not_allowed, .. } = &description.schedule {
        let times = not_allowed.iter().filter(|time| time.start < time.end);
        spans.extend(times.map(|time| Interval {
            open: within_reach(time.start),
            close: within_reach(time.end),
        }));
    }
    spans.sort_unstable();
    let mut joined: Vec<Interval> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.open <= last.close => last.close = last.close.max(span.close),
            _ => joined.push(span),
        }
    }
    joined
}

/// The open intervals of a window, ascending; made by [`Window::intervals_from`].
#[derive(Debug, Clone)]
pub struct Intervals<'a> {
    window: &'a Window,
    /// Only intervals that close after this instant are yielded …
    after: Timestamp,
    /// … and open by this one.
    until: Timestamp,
    /// The next occurrence to look at.
    index: i64,
    /// What is left of the last occurrence behind a forbidden span.
    rest: Option<Interval>,
}

impl Iterator for Intervals<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        loop {
            let uncut = match self.rest.take() {
                Some(rest) => rest,
                None => self.window.occurrences.next(&mut self.index, self.until)?,
            };
            if uncut.open > self.until {
                return None;
            }
            if let Some(piece) = self.cut(uncut)
                && piece.close > self.after
            {
                return Some(piece);
            }
        }
    }
}

impl iter::FusedIterator for Intervals<'_> {}

impl Intervals<'_> {
    /// The part of an interval before the first forbidden span in it, if it is not empty; keeps
    /// what lies behind that span.
    fn cut(&mut self, uncut: Interval) -> Option<Interval> {
        let forbidden = &self.window.forbidden;
        let next = forbidden.partition_point(|span| span.close <= uncut.open);
        let Some(span) = forbidden.get(next).filter(|span| span.open < uncut.close) else {
            return Some(uncut);
        };
        if span.close < uncut.close {
            self.rest = Some(Interval { open: span.close, close: uncut.close });
        } else {
            self.index = self.index.max(self.window.occurrences.first_closing_after(span.close));
        }
        (uncut.open < span.open).then_some(Interval { open: uncut.open, close: span.open })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::{
        MissingDay, NotAllowedDates, NotAllowedTime, TimeOfDay, WeekAnchor, WeekIndex, Weekday,
    };
    use super::*;

    /// An instant: `2026-03-02T08:00` or with seconds, always UTC.
    fn at(text: &str) -> Timestamp {
        let seconds = if text.len() == 16 { ":00Z" } else { "Z" };
        format!("{text}{seconds}").parse().unwrap()
    }

    fn window(schedule: Schedule, time: &str, hours: u32, offset: &str) -> MaintenanceWindow {
        MaintenanceWindow {
            offset: offset.parse().unwrap(),
            ..MaintenanceWindow::new(schedule, time.parse().unwrap(), hours)
        }
    }

    fn from_date(window: MaintenanceWindow, date: &str) -> MaintenanceWindow {
        MaintenanceWindow { start_date: Some(date.parse().unwrap()), ..window }
    }

    fn except(window: MaintenanceWindow, dates: &[(&str, &str)]) -> MaintenanceWindow {
        let dates = dates.iter().map(|(start, end)| NotAllowedDates {
            start: start.parse().unwrap(),
            end: end.parse().unwrap(),
        });
        MaintenanceWindow { not_allowed: dates.collect(), ..window }
    }

    fn daily(interval_days: u32) -> Schedule {
        Schedule::Daily { interval_days }
    }

    fn weekly(interval_weeks: u32, day: Weekday) -> Schedule {
        Schedule::Weekly { interval_weeks, day }
    }

    fn on_day(interval_months: u32, day_of_month: u32) -> Schedule {
        Schedule::AbsoluteMonthly { interval_months, day_of_month }
    }

    fn on_the(interval_months: u32, week_index: WeekIndex, day: Weekday) -> Schedule {
        Schedule::RelativeMonthly { interval_months, week_index, day }
    }

    fn slots(days: &[(Weekday, &[u32])]) -> BTreeMap<Weekday, BTreeSet<u32>> {
        days.iter().map(|(day, hours)| (*day, hours.iter().copied().collect())).collect()
    }

    /// A window whose description names its start date, so that the scenario's does not matter.
    fn checked(window: &MaintenanceWindow) -> Window {
        Window::new(window, at("2000-01-01T00:00"))
    }

    /// The first intervals that close after `t`, as `2026-03-02T08:00/12:00` in UTC.
    fn first(window: &Window, t: &str, count: usize) -> Vec<String> {
        let minute = |t: Timestamp| t.to_string()[..16].to_owned();
        window
            .intervals_from(at(t))
            .take(count)
            .map(|found| format!("{}/{}", minute(found.open), &minute(found.close)[11..]))
            .collect()
    }

    #[test]
    fn conformance_12_every_second_sunday() {
        let sunday = window(weekly(2, Weekday::Sunday), "01:00", 4, "+01:00");
        let a = checked(&from_date(sunday.clone(), "2026-03-02"));
        let start = at("2026-03-02T08:00");
        let offset = |span: &str| start + span.parse::<Span>().unwrap();
        assert_eq!(a.next_opening(start), Some(offset("12d16h")));
        assert_eq!(a.closes(offset("12d16h")), Some(offset("12d20h")));
        assert_eq!(a.next_opening(offset("12d21h")), Some(offset("26d16h")));
        let c = checked(&from_date(sunday, "2026-03-09"));
        assert_eq!(c.next_opening(start), Some(offset("19d16h")));
    }

    #[test]
    fn conformance_13_day_31() {
        let start = at("2026-04-02T08:00");
        let offset = |span: &str| Some(start + span.parse::<Span>().unwrap());
        let a = from_date(window(on_day(1, 31), "02:00", 4, "+00:00"), "2026-04-02");
        assert_eq!(checked(&a).next_opening(start), offset("27d18h"));
        let b = from_date(window(on_day(2, 31), "02:00", 4, "+00:00"), "2026-03-01");
        assert_eq!(checked(&b).next_opening(start), offset("58d18h"));
    }

    #[test]
    fn conformance_14_last_friday_and_first_monday() {
        let start = at("2026-03-02T08:00");
        let offset = |span: &str| Some(start + span.parse::<Span>().unwrap());
        let friday = window(on_the(1, WeekIndex::Last, Weekday::Friday), "20:00", 6, "-05:00");
        let a = checked(&from_date(friday, "2026-03-02"));
        assert_eq!(a.next_opening(start), offset("25d17h"));
        let monday = window(on_the(1, WeekIndex::First, Weekday::Monday), "20:00", 6, "-05:00");
        let b = checked(&from_date(monday, "2026-03-03"));
        assert_eq!(b.next_opening(start), offset("35d17h"));
    }

    #[test]
    fn conformance_15_forbidden_day() {
        let night = from_date(window(daily(1), "22:00", 6, "+00:00"), "2026-03-01");
        let night = checked(&except(night, &[("2026-03-03", "2026-03-03")]));
        assert_eq!(
            first(&night, "2026-03-02T08:00", 3),
            ["2026-03-02T22:00/00:00", "2026-03-04T00:00/04:00", "2026-03-04T22:00/04:00"]
        );
        assert!(!night.open_at(at("2026-03-03T01:00")));
        assert_eq!(night.next_opening(at("2026-03-03T01:00")), Some(at("2026-03-04T00:00")));
    }

    #[test]
    fn conformance_41_the_local_day_of_the_scenarios_start() {
        let start = at("2026-03-02T23:40");
        let noon = Window::new(&window(daily(2), "12:00", 4, "+02:00"), start);
        assert_eq!(noon.start_date().to_string(), "2026-03-03");
        assert_eq!(noon.next_opening(start), Some(at("2026-03-03T10:00")));
        assert_eq!(noon.next_opening(at("2026-03-03T15:40")), Some(at("2026-03-05T10:00")));
    }

    #[test]
    fn m1_the_documentations_weekly_default() {
        let tuesday = window(weekly(1, Weekday::Tuesday), "01:00", 4, "+00:00");
        let tuesday = except(tuesday, &[("2021-05-26", "2021-05-30")]);
        let tuesday = Window::new(&tuesday, at("2021-05-20T00:00"));
        assert_eq!(
            first(&tuesday, "2021-05-20T00:00", 2),
            ["2021-05-25T01:00/05:00", "2021-06-01T01:00/05:00"]
        );
    }

    #[test]
    fn m3_every_third_month_on_day_1_counts_from_january() {
        let quarterly = from_date(window(on_day(3, 1), "09:00", 4, "-08:00"), "2023-01-20");
        let quarterly = checked(&except(quarterly, &[("2023-12-23", "2024-01-05")]));
        assert_eq!(
            first(&quarterly, "2023-01-01T00:00", 4),
            [
                "2023-04-01T17:00/21:00",
                "2023-07-01T17:00/21:00",
                "2023-10-01T17:00/21:00",
                "2024-04-01T17:00/21:00"
            ]
        );
    }

    #[test]
    fn m2_first_monday_every_third_month_at_half_an_hours_offset() {
        let monday = window(on_the(3, WeekIndex::First, Weekday::Monday), "08:30", 10, "+05:30");
        let monday = except(
            from_date(monday, "2023-01-01"),
            &[("2023-02-18", "2023-02-25"), ("2023-12-23", "2024-01-05")],
        );
        assert_eq!(
            first(&checked(&monday), "2022-06-01T00:00", 5),
            [
                "2023-01-02T03:00/13:00",
                "2023-04-03T03:00/13:00",
                "2023-07-03T03:00/13:00",
                "2023-10-02T03:00/13:00",
                "2024-04-01T03:00/13:00"
            ]
        );
    }

    #[test]
    fn m1_daily_from_a_date() {
        let daily = checked(&from_date(window(daily(1), "09:00", 4, "+00:00"), "2023-11-22"));
        assert_eq!(
            first(&daily, "2023-11-01T00:00", 2),
            ["2023-11-22T09:00/13:00", "2023-11-23T09:00/13:00"]
        );
    }

    #[test]
    fn m1_the_older_form_joins_neighbouring_hours_and_keeps_single_ones_apart() {
        let not_allowed =
            [("2021-11-26T03:00", "2021-11-30T12:00"), ("2021-12-26T03:00", "2021-12-26T12:00")]
                .map(|(start, end)| NotAllowedTime { start: at(start), end: at(end) });
        let slots = slots(&[(Weekday::Tuesday, &[1, 2]), (Weekday::Wednesday, &[1, 6])]);
        let window = checked(&MaintenanceWindow::time_in_week(slots, not_allowed.to_vec()));
        assert_eq!(
            first(&window, "2021-11-22T00:00", 5),
            [
                "2021-11-23T01:00/03:00",
                "2021-11-24T01:00/02:00",
                "2021-11-24T06:00/07:00",
                // Tuesday the 30th is not allowed before noon.
                "2021-12-01T01:00/02:00",
                "2021-12-01T06:00/07:00"
            ]
        );
    }

    #[test]
    fn m1_the_older_form_is_cut_at_instants_and_joins_across_the_weeks_end() {
        let slots = slots(&[(Weekday::Saturday, &[22, 23]), (Weekday::Sunday, &[0, 12])]);
        let not_allowed =
            NotAllowedTime { start: at("2026-03-07T23:30:15"), end: at("2026-03-07T23:40:30") };
        let window = MaintenanceWindow::time_in_week(slots, vec![not_allowed]);
        let window = checked(&window);
        assert_eq!(
            first(&window, "2026-03-02T00:00", 4),
            [
                "2026-03-07T22:00/23:30",
                "2026-03-07T23:40/01:00",
                "2026-03-08T12:00/13:00",
                "2026-03-14T22:00/01:00"
            ]
        );
        assert_eq!(window.closes(at("2026-03-07T22:00")), Some(at("2026-03-07T23:30:15")));
        assert_eq!(window.next_opening(at("2026-03-07T23:30:15")), Some(at("2026-03-07T23:40:30")));
        // Sunday 00:30 lies in a span that began in the week before.
        assert_eq!(window.closes(at("2026-03-15T00:30")), Some(at("2026-03-15T01:00")));
        assert_eq!(window.closes(at("1969-12-28T00:30")), Some(at("1969-12-28T01:00")));
    }

    #[test]
    fn m3_every_second_sunday_counts_from_the_week_of_the_start_date() {
        let sunday = window(weekly(2, Weekday::Sunday), "01:00", 4, "+00:00");
        let sunday = from_date(sunday, "2026-04-14");
        assert_eq!(
            first(&checked(&sunday), "2026-04-14T00:00", 2),
            ["2026-04-26T01:00/05:00", "2026-05-10T01:00/05:00"]
        );
        // A later day of the same week is in the first period.
        let friday = window(weekly(2, Weekday::Friday), "01:00", 4, "+00:00");
        assert_eq!(
            first(&checked(&from_date(friday, "2026-04-14")), "2026-04-01T00:00", 2),
            ["2026-04-17T01:00/05:00", "2026-05-01T01:00/05:00"]
        );
        let sunday = MaintenanceWindow { week_anchor: WeekAnchor::FirstOccurrence, ..sunday };
        assert_eq!(
            first(&checked(&sunday), "2026-04-14T00:00", 2),
            ["2026-04-19T01:00/05:00", "2026-05-03T01:00/05:00"]
        );
    }

    #[test]
    fn m3_first_occurrence_moves_the_first_month_too() {
        let first_of_month = |day, missing_day| {
            let window = from_date(window(on_day(3, day), "09:00", 4, "+00:00"), "2023-01-20");
            let week_anchor = WeekAnchor::FirstOccurrence;
            let window = checked(&MaintenanceWindow { week_anchor, missing_day, ..window });
            first(&window, "2023-01-01T00:00", 2)
        };
        assert_eq!(
            first_of_month(1, MissingDay::LastDay),
            ["2023-02-01T09:00/13:00", "2023-05-01T09:00/13:00"]
        );
        assert_eq!(
            first_of_month(20, MissingDay::LastDay),
            ["2023-01-20T09:00/13:00", "2023-04-20T09:00/13:00"]
        );
        let day_30 = from_date(window(on_day(3, 30), "09:00", 4, "+00:00"), "2023-01-31");
        let day_30 = MaintenanceWindow {
            week_anchor: WeekAnchor::FirstOccurrence,
            missing_day: MissingDay::Skip,
            ..day_30
        };
        assert_eq!(
            first(&checked(&day_30), "2023-01-01T00:00", 2),
            ["2023-03-30T09:00/13:00", "2023-06-30T09:00/13:00"]
        );
    }

    #[test]
    fn m3_every_nth_day_counts_from_the_start_date() {
        let third = checked(&from_date(window(daily(3), "00:00", 4, "+00:00"), "2026-02-27"));
        assert_eq!(
            first(&third, "2026-02-27T04:00", 2),
            ["2026-03-02T00:00/04:00", "2026-03-05T00:00/04:00"]
        );
    }

    #[test]
    fn m3_missing_days_are_skipped_on_request() {
        let day_31 = from_date(window(on_day(1, 31), "02:00", 4, "+00:00"), "2026-01-31");
        let skipping = MaintenanceWindow { missing_day: MissingDay::Skip, ..day_31 };
        assert_eq!(
            first(&checked(&skipping), "2026-01-01T00:00", 3),
            ["2026-01-31T02:00/06:00", "2026-03-31T02:00/06:00", "2026-05-31T02:00/06:00"]
        );
    }

    #[test]
    fn r_j1_the_occurrence_of_the_first_day_counts_the_evening_before_does_not() {
        let start = at("2026-03-02T08:00");
        // 06:00 to 10:00 is under way when the scenario starts.
        let morning = Window::new(&window(daily(7), "06:00", 4, "+00:00"), start);
        assert!(morning.open_at(start));
        // 02:00 to 06:00 is past: the next one counts from it.
        let early = Window::new(&window(daily(7), "02:00", 4, "+00:00"), start);
        assert_eq!(early.next_opening(start), Some(at("2026-03-09T02:00")));
        // 20:00 to 10:00 would be under way, had it begun the evening before.
        let night = Window::new(&window(daily(1), "20:00", 14, "+00:00"), start);
        assert_eq!(night.next_opening(start), Some(at("2026-03-02T20:00")));
        assert!(!night.open_at(start));
    }

    #[test]
    fn r_j3_each_month_is_clamped_anew() {
        let day_31 = from_date(window(on_day(1, 31), "02:00", 4, "+00:00"), "2024-01-31");
        assert_eq!(
            first(&checked(&day_31), "2024-01-01T00:00", 5),
            [
                "2024-01-31T02:00/06:00",
                "2024-02-29T02:00/06:00",
                "2024-03-31T02:00/06:00",
                "2024-04-30T02:00/06:00",
                "2024-05-31T02:00/06:00"
            ]
        );
    }

    #[test]
    fn r_j4_open_at_the_opening_second_closed_at_the_closing_second() {
        let window = checked(&from_date(window(daily(1), "02:00", 4, "+00:00"), "2026-03-02"));
        let (open, close) = (at("2026-03-02T02:00"), at("2026-03-02T06:00"));
        assert!(!window.open_at(open - Span::from_millis(1)));
        assert!(window.open_at(open));
        assert_eq!(window.closes(open), Some(close));
        assert!(window.open_at(close - Span::from_millis(1)));
        assert!(!window.open_at(close));
        assert_eq!(window.closes(close), None);
        assert_eq!(window.next_opening(close), Some(at("2026-03-03T02:00")));
    }

    #[test]
    fn r_j5_days_are_forbidden_at_the_windows_offset() {
        let night = from_date(window(daily(1), "22:00", 6, "+05:30"), "2026-03-01");
        let night = checked(&except(night, &[("2026-03-03", "2026-03-04")]));
        assert_eq!(
            first(&night, "2026-03-02T08:00", 3),
            // Local midnight is 18:30 in UTC.
            ["2026-03-02T16:30/18:30", "2026-03-04T18:30/22:30", "2026-03-05T16:30/22:30"]
        );
    }

    #[test]
    fn r_j6_an_opening_inside_a_cut_is_where_the_cut_ends() {
        let night =
            from_date(window(weekly(1, Weekday::Monday), "22:00", 6, "+00:00"), "2026-03-01");
        let night = checked(&except(night, &[("2026-03-02", "2026-03-02")]));
        assert_eq!(night.next_opening(at("2026-03-02T23:00")), Some(at("2026-03-03T00:00")));
    }

    #[test]
    fn r_j7_a_window_that_never_opens() {
        let now = at("2026-03-02T00:00");
        let never = |window: MaintenanceWindow| {
            let window = Window::new(&window, now);
            assert_eq!(window.next_opening(now), None);
            assert!(!window.open_at(now));
            assert_eq!(window.intervals_from(now).next(), None);
        };
        never(MaintenanceWindow::time_in_week(BTreeMap::new(), Vec::new()));
        never(except(window(daily(1), "22:00", 6, "+00:00"), &[("2026-01-01", "9999-12-31")]));
        never(except(window(daily(1), "00:00", 24, "+00:00"), &[("2026-01-01", "9999-12-31")]));
        let february = from_date(window(on_day(12, 31), "22:00", 6, "+00:00"), "2026-02-01");
        never(MaintenanceWindow { missing_day: MissingDay::Skip, ..february });
        never(from_date(
            window(weekly(4_000, Weekday::Monday), "22:00", 6, "+00:00"),
            "2026-01-01",
        ));
        never(from_date(window(daily(u32::MAX), "22:00", 6, "+00:00"), "2026-01-01"));
        never(from_date(
            window(weekly(u32::MAX, Weekday::Monday), "22:00", 6, "-14:00"),
            "2026-01-01",
        ));
        never(from_date(window(on_day(u32::MAX, 1), "22:00", 6, "+00:00"), "2026-01-01"));
    }

    #[test]
    fn r_j7_looks_twelve_years_ahead_and_no_farther() {
        let opening = at("2038-03-02T00:00");
        let late = checked(&from_date(window(daily(1), "00:00", 4, "+00:00"), "2038-03-02"));
        assert_eq!(late.next_opening(at("2026-03-02T00:00")), Some(opening));
        assert_eq!(late.next_opening(at("2026-03-01T23:59:59")), None);
        assert_eq!(late.intervals_from(at("2026-03-02T00:00")).count(), 1);
        let closed =
            except(window(daily(1), "00:00", 4, "+00:00"), &[("2026-03-02", "2036-03-01")]);
        let closed = checked(&from_date(closed, "2026-03-02"));
        assert_eq!(closed.next_opening(at("2026-03-02T00:00")), Some(at("2036-03-02T00:00")));
    }

    #[test]
    fn r_j10_the_next_opening_of_an_open_window_is_now() {
        let window = checked(&from_date(window(daily(1), "02:00", 4, "+00:00"), "2026-03-02"));
        let now = at("2026-03-05T03:17:42");
        assert_eq!(window.next_opening(now), Some(now));
    }

    #[test]
    fn r_j11_touching_occurrences_are_one_interval_without_end() {
        let always = checked(&from_date(window(daily(1), "09:00", 24, "+01:00"), "2026-03-02"));
        let whole = Interval { open: at("2026-03-02T08:00"), close: Timestamp::MAX };
        for t in ["2026-01-01T00:00", "2026-03-02T08:00", "2030-06-01T12:34"] {
            assert_eq!(always.intervals_from(at(t)).collect::<Vec<_>>(), [whole]);
        }
        assert_eq!(always.closes(at("2031-01-01T00:00")), Some(Timestamp::MAX));
        assert!(!always.open_at(at("2026-03-02T07:59:59")));
        let every_hour: Vec<u32> = (0..24).collect();
        let slots = slots(&Weekday::ALL.map(|day| (day, &every_hour[..])));
        let always = checked(&MaintenanceWindow::time_in_week(slots, Vec::new()));
        let whole = Interval { open: Timestamp::MIN, close: Timestamp::MAX };
        assert_eq!(always.intervals_from(at("2026-01-01T00:00")).collect::<Vec<_>>(), [whole]);
    }

    #[test]
    fn m4_an_endless_interval_is_cut_into_pieces() {
        let always = from_date(window(daily(1), "00:00", 24, "+00:00"), "2026-01-01");
        let dates = [("2026-12-24", "2026-12-26"), ("2026-03-03", "2026-03-03")];
        let always = checked(&except(always, &dates));
        let found: Vec<_> = always.intervals_from(at("2026-03-02T12:00")).collect();
        let piece = |open: &str, close| Interval { open: at(open), close };
        assert_eq!(
            found,
            [
                piece("2026-01-01T00:00", at("2026-03-03T00:00")),
                piece("2026-03-04T00:00", at("2026-12-24T00:00")),
                piece("2026-12-27T00:00", Timestamp::MAX)
            ]
        );
        assert_eq!(always.closes(at("2026-05-01T00:00")), Some(at("2026-12-24T00:00")));
        assert_eq!(always.next_opening(at("2026-12-25T00:00")), Some(at("2026-12-27T00:00")));
    }

    #[test]
    fn m4_overlapping_and_touching_forbidden_dates_are_one() {
        let always = from_date(window(daily(1), "00:00", 24, "+00:00"), "2026-03-01");
        let dates = [
            ("2026-03-10", "2026-03-11"),
            ("2026-03-03", "2026-03-05"),
            ("2026-03-06", "2026-03-06"),
            ("2026-03-04", "2026-03-04"),
        ];
        let always = checked(&except(always, &dates));
        assert_eq!(always.next_opening(at("2026-03-03T00:00")), Some(at("2026-03-07T00:00")));
        assert_eq!(always.intervals_from(at("2026-03-01T00:00")).count(), 3);
    }

    #[test]
    fn m4_an_occurrence_that_ends_or_begins_with_a_forbidden_day_leaves_no_empty_interval() {
        let evening = from_date(window(daily(1), "20:00", 4, "+00:00"), "2026-03-01");
        let evening = checked(&except(evening, &[("2026-03-02", "2026-03-02")]));
        assert_eq!(
            first(&evening, "2026-03-01T00:00", 2),
            ["2026-03-01T20:00/00:00", "2026-03-03T20:00/00:00"]
        );
        let morning = from_date(window(daily(1), "00:00", 4, "+00:00"), "2026-03-01");
        let morning = checked(&except(morning, &[("2026-03-02", "2026-03-02")]));
        assert_eq!(
            first(&morning, "2026-03-01T00:00", 2),
            ["2026-03-01T00:00/04:00", "2026-03-03T00:00/04:00"]
        );
    }

    #[test]
    fn m5_the_ends_of_time_are_answered_too() {
        let slots = slots(&[(Weekday::Saturday, &[23]), (Weekday::Sunday, &[0])]);
        let not_allowed = NotAllowedTime { start: at("2030-01-01T00:00"), end: Timestamp::MAX };
        for window in [
            from_date(window(daily(1), "00:00", 24, "+00:00"), "2026-03-01"),
            from_date(window(daily(3), "00:00", 4, "+14:00"), "2026-03-01"),
            from_date(
                window(weekly(u32::MAX, Weekday::Monday), "00:00", 4, "-14:00"),
                "2026-03-01",
            ),
            from_date(window(on_day(1, 31), "00:00", 4, "+14:00"), "9999-12-31"),
            from_date(
                window(on_the(1, WeekIndex::Last, Weekday::Friday), "23:59", 24, "-14:00"),
                "0000-01-01",
            ),
            MaintenanceWindow::time_in_week(slots, vec![not_allowed]),
        ] {
            let window = checked(&window);
            for t in
                [Timestamp::MIN, Timestamp::MAX, at("9999-12-30T00:00"), at("0000-01-01T00:00")]
            {
                let opening = window.next_opening(t);
                // At "never" itself there is only no panic to ask for.
                assert!(t == Timestamp::MAX || window.open_at(t) == (opening == Some(t)));
                assert!(opening.is_none_or(|opening| opening >= t));
            }
        }
    }

    #[test]
    fn windows_of_equal_descriptions_are_equal_and_keep_them() {
        let start = at("2026-03-02T08:00");
        let description = window(daily(2), "12:00", 4, "+02:00");
        let made = Window::new(&description, start);
        assert_eq!(made.description(), &description);
        assert_eq!(made, Window::new(&description.clone(), start));
        assert_ne!(made, Window::new(&description, start + Span::DAY));
        assert_eq!(
            made.describe(),
            "every 2nd day 12:00–16:00 at +02:00 from 2026-03-02 (the scenario's start)"
        );
    }

    #[test]
    #[should_panic(expected = "durationHours")]
    fn windows_are_not_made_of_unchecked_descriptions() {
        let description = MaintenanceWindow::new(daily(1), TimeOfDay(0), 25);
        let _ = Window::new(&description, at("2026-03-02T08:00"));
    }
}
