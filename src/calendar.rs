//! Maintenance schedules: is a window open at an instant, and when does it open next?
//!
//! Owns section 7 of the rules (M1–M5, R-J1–R-J11) and the next occurrence of a scheduled start
//! (G6). Works on the local clock of a fixed UTC offset; there is no daylight saving (M2).
//!
//! [`MaintenanceWindow`] says what somebody wrote down; [`Window`] is the same, counted from a
//! scenario's start and ready to be asked. Does not read files: field by field, the texts are read
//! by the `FromStr` of the types here, and [`MaintenanceWindow::check`] knows the ranges.

mod civil;
mod occurrences;
mod schedule;
mod window;

pub use civil::{Date, TimeOfDay, UtcOffset, Weekday};
pub use schedule::{
    MaintenanceWindow, MissingDay, NotAllowedDates, NotAllowedTime, Problem, Schedule, WeekAnchor,
    WeekIndex,
};
pub use window::{Interval, Intervals, Window};

use crate::time::{Span, Timestamp};

/// When a `ScheduledStart` gate completes (G6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScheduledStart {
    /// `startDay`
    pub day: Weekday,
    /// `startTime`
    pub time: TimeOfDay,
    /// `utcOffset`
    pub offset: UtcOffset,
}

impl ScheduledStart {
    /// The first occurrence at or after `reached` (G6, R-F1: to the second).
    pub fn next_at_or_after(&self, reached: Timestamp) -> Timestamp {
        let week = civil::WEEK.as_millis();
        let first = civil::SUNDAY + self.day.since_sunday() + self.time.since_midnight();
        let since_last = (reached - (first - self.offset.ahead())).as_millis().rem_euclid(week);
        reached + Span::from_millis((-since_last).rem_euclid(week))
    }
}

#[cfg(test)]
mod naive;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn start(day: Weekday, time: &str, offset: &str) -> ScheduledStart {
        ScheduledStart { day, time: time.parse().unwrap(), offset: offset.parse().unwrap() }
    }

    #[test]
    fn g6_reached_on_monday_completes_this_wednesday() {
        let gate = start(Weekday::Wednesday, "02:00", "+00:00");
        assert_eq!(gate.next_at_or_after(at("2026-03-02T08:00:00Z")), at("2026-03-04T02:00:00Z"));
        assert_eq!(gate.next_at_or_after(at("2026-09-14T09:00:00Z")), at("2026-09-16T02:00:00Z"));
    }

    #[test]
    fn g6_reached_on_wednesday_past_the_time_completes_next_week() {
        let gate = start(Weekday::Wednesday, "02:00", "+00:00");
        assert_eq!(gate.next_at_or_after(at("2026-03-04T03:00:00Z")), at("2026-03-11T02:00:00Z"));
    }

    #[test]
    fn g6_counts_days_at_the_gates_own_offset() {
        let gate = start(Weekday::Thursday, "10:00", "-08:00");
        assert_eq!(gate.next_at_or_after(at("2026-09-16T02:00:00Z")), at("2026-09-17T18:00:00Z"));
        // Sunday 01:00 at +14:00 is still Saturday 11:00 in UTC.
        let gate = start(Weekday::Sunday, "01:00", "+14:00");
        assert_eq!(gate.next_at_or_after(at("2026-03-07T11:00:01Z")), at("2026-03-14T11:00:00Z"));
        assert_eq!(gate.next_at_or_after(at("2026-03-07T10:59:59Z")), at("2026-03-07T11:00:00Z"));
        let gate = start(Weekday::Saturday, "23:30", "-14:00");
        assert_eq!(gate.next_at_or_after(at("2026-03-02T00:00:00Z")), at("2026-03-08T13:30:00Z"));
        // Before 1970 the remainders are negative.
        assert_eq!(gate.next_at_or_after(at("1960-02-29T00:00:00Z")), at("1960-03-06T13:30:00Z"));
    }

    #[test]
    fn r_f1_reached_at_that_instant_completes_at_once_a_second_later_next_week() {
        let gate = start(Weekday::Wednesday, "02:00", "+00:00");
        let due = at("2026-03-04T02:00:00Z");
        assert_eq!(gate.next_at_or_after(due), due);
        assert_eq!(gate.next_at_or_after(due - Span::SECOND), due);
        assert_eq!(gate.next_at_or_after(due + Span::SECOND), at("2026-03-11T02:00:00Z"));
        assert_eq!(gate.next_at_or_after(due + Span::from_millis(1)), at("2026-03-11T02:00:00Z"));
    }
}
