//! Maintenance schedules: is a window open at an instant, and when does it open next?
//!
//! Owns section 7 of the rules (M1–M5, R-J1–R-J11) and the next occurrence of a scheduled start
//! (G6). Works on the local clock of a fixed UTC offset; there is no daylight saving (M2).

use crate::time::{Span, Timestamp};

/// A day of the week, Sunday first as the API counts weeks (M3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the days name themselves")]
pub enum Weekday {
    Sunday,
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
}

/// A fixed offset from UTC in minutes, within ±14:00 (M2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UtcOffset(pub i16);

/// A time of day in minutes since local midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(pub u16);

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
        let local = reached + Span::from_mins(i64::from(self.offset.0));
        let week = 7 * 86_400_000_i64;
        // 1970-01-01 was a Thursday; weeks counted from Sunday 1969-12-28.
        let sunday = -4 * 86_400_000_i64;
        let target = i64::from(self.day as u8) * 86_400_000 + i64::from(self.time.0) * 60_000;
        let into_week = (local.as_millis() - sunday).rem_euclid(week);
        reached + Span::from_millis((target - into_week).rem_euclid(week))
    }
}

/// A checked maintenance window, ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window;

/// A time in which a window is open: `[open, close)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// First instant at which it is open.
    pub open: Timestamp,
    /// First instant at which it is closed again.
    pub close: Timestamp,
}

impl Window {
    /// Stub.
    pub fn intervals_from(&self, _t: Timestamp) -> impl Iterator<Item = Interval> {
        std::iter::empty()
    }
}
