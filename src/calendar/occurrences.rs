//! When a window would be open if no day were forbidden: occurrences by their number.

use std::collections::{BTreeMap, BTreeSet};

use super::civil::{Month, SUNDAY, WEEK};
use super::{
    Date, Interval, MaintenanceWindow, MissingDay, Schedule, UtcOffset, WeekAnchor, WeekIndex,
    Weekday,
};
use crate::time::{Span, Timestamp};

/// An ascending sequence of intervals that neither touch nor overlap, numbered by an index.
///
/// As an occurrence lasts at most a day, only daily ones of 24 hours and slots of the week can
/// touch (R-J11); both are joined when the sequence is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// Index 0 begins at this instant and never ends.
    AlwaysFrom(Timestamp),
    /// Index k ≥ 0 begins k periods after `first`.
    Every { first: Timestamp, period: Span, length: Span },
    /// Index k ≥ 0 lies k intervals after the first month, if that month has its day.
    Monthly(Monthly),
    /// The spans of every week, from its Sunday, ascending; the last may reach into the next week.
    /// The first span of the week of [`SUNDAY`] has the index 0.
    Slots(Vec<(Span, Span)>),
}

/// Occurrences on one day of some months.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Monthly {
    /// The month of index 0.
    first: Month,
    /// How many months lie between two indices.
    interval: i64,
    day: DayOfMonth,
    /// Days before this one do not count (M3).
    start_date: Date,
    /// From local midnight to the occurrence's beginning.
    after_midnight: Span,
    offset: UtcOffset,
    length: Span,
}

/// How the day within a month is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DayOfMonth {
    Number(i32, MissingDay),
    Weekday(WeekIndex, Weekday),
}

impl Occurrences {
    /// The occurrences of a checked description, counted from `start_date` (M3).
    pub(super) fn new(window: &MaintenanceWindow, start_date: Date) -> Self {
        match &window.schedule {
            Schedule::Daily { interval_days } => {
                let period = Span::from_days(i64::from(*interval_days));
                Self::every(window, start_date.begins(window.offset), period)
            }
            Schedule::Weekly { interval_weeks, day } => {
                let period = WEEK * i64::from(*interval_weeks);
                let start = start_date.begins(window.offset);
                let in_first_week =
                    start - start_date.weekday().since_sunday() + day.since_sunday();
                let first = match window.week_anchor {
                    WeekAnchor::Calendar if in_first_week < start => in_first_week + period,
                    WeekAnchor::FirstOccurrence if in_first_week < start => in_first_week + WEEK,
                    WeekAnchor::Calendar | WeekAnchor::FirstOccurrence => in_first_week,
                };
                Self::every(window, first, period)
            }
            Schedule::AbsoluteMonthly { interval_months, day_of_month } => {
                let number = i32::try_from(*day_of_month).expect("checked to be at most 31");
                let day = DayOfMonth::Number(number, window.missing_day);
                Self::Monthly(Monthly::new(window, *interval_months, day, start_date))
            }
            Schedule::RelativeMonthly { interval_months, week_index, day } => {
                let day = DayOfMonth::Weekday(*week_index, *day);
                Self::Monthly(Monthly::new(window, *interval_months, day, start_date))
            }
            Schedule::TimeInWeek { slots, .. } => Self::of_slots(slots),
        }
    }

    /// One occurrence each period; `midnight` is the beginning of the first one's day.
    fn every(window: &MaintenanceWindow, midnight: Timestamp, period: Span) -> Self {
        let first = midnight + window.start_time.since_midnight();
        let length = Span::from_hours(i64::from(window.duration_hours));
        if length < period {
            Self::Every { first, period, length }
        } else {
            Self::AlwaysFrom(first)
        }
    }

    /// The hours of every week, neighbours joined, also across the week's end.
    fn of_slots(slots: &BTreeMap<Weekday, BTreeSet<u32>>) -> Self {
        let mut spans: Vec<(Span, Span)> = Vec::new();
        for (day, hours) in slots {
            for hour in hours {
                let open = day.since_sunday() + Span::from_hours(i64::from(*hour));
                match spans.last_mut() {
                    Some((_, close)) if *close == open => *close += Span::HOUR,
                    _ => spans.push((open, open + Span::HOUR)),
                }
            }
        }
        if spans == [(Span::ZERO, WEEK)] {
            return Self::AlwaysFrom(Timestamp::MIN);
        }
        if let [(Span::ZERO, sunday), .., (_, close)] = &mut spans[..]
            && *close == WEEK
        {
            *close += *sunday;
            spans.remove(0);
        }
        Self::Slots(spans)
    }

    /// An index, as high as can be told by arithmetic, before which all have closed by `t`.
    pub(super) fn first_closing_after(&self, t: Timestamp) -> i64 {
        match self {
            Self::AlwaysFrom(_) => 0,
            Self::Every { first, period, length } => {
                let since_close = (t - (*first + *length)).as_millis();
                (since_close.div_euclid(period.as_millis()) + 1).max(0)
            }
            Self::Monthly(monthly) => monthly.first_closing_after(t),
            Self::Slots(spans) => {
                let since = (t - SUNDAY).as_millis();
                let (week, into) =
                    (since.div_euclid(WEEK.as_millis()), since.rem_euclid(WEEK.as_millis()));
                let closed = |into: i64| {
                    small(spans.partition_point(|(_, close)| close.as_millis() <= into))
                };
                let count = small(spans.len());
                // The last span of the week before may still be open.
                let before = count - closed(into + WEEK.as_millis());
                week * count + closed(into) - before
            }
        }
    }

    /// The first occurrence from `index` on, and moves the index behind it; `None` if it opens
    /// after `until`.
    pub(super) fn next(&self, index: &mut i64, until: Timestamp) -> Option<Interval> {
        let found = match self {
            Self::AlwaysFrom(open) => {
                (*index == 0).then_some(Interval { open: *open, close: Timestamp::MAX })
            }
            Self::Every { first, period, length } => {
                let open = *first + *period * *index;
                Some(Interval { open, close: open + *length })
            }
            Self::Monthly(monthly) => return monthly.next(index, until),
            Self::Slots(spans) => {
                let count = small(spans.len());
                let week = index.checked_div_euclid(count)?;
                let sunday = SUNDAY + WEEK * week;
                let nth = usize::try_from(index.rem_euclid(count)).expect("a remainder");
                let (open, close) = spans[nth];
                Some(Interval { open: sunday + open, close: sunday + close })
            }
        };
        let found = found.filter(|occurrence| occurrence.open <= until)?;
        *index += 1;
        Some(found)
    }
}

/// A number of spans of one week.
fn small(count: usize) -> i64 {
    i64::try_from(count).expect("a week has at most 84 spans of hours")
}

impl Monthly {
    fn new(window: &MaintenanceWindow, interval: u32, day: DayOfMonth, start_date: Date) -> Self {
        let of_start = Month::of(start_date);
        let first = match window.week_anchor {
            WeekAnchor::Calendar => of_start,
            // The day may be past in the first month and missing in the second, but no day is
            // missing in two months on end.
            WeekAnchor::FirstOccurrence => (0..3)
                .map(|months| Month(of_start.0 + months))
                .find(|month| day.of(*month).is_some_and(|date| date >= start_date))
                .unwrap_or(of_start),
        };
        Self {
            first,
            interval: i64::from(interval),
            day,
            start_date,
            after_midnight: window.start_time.since_midnight(),
            offset: window.offset,
            length: Span::from_hours(i64::from(window.duration_hours)),
        }
    }

    fn first_closing_after(&self, t: Timestamp) -> i64 {
        // An occurrence that closes after `t` begins in the month of this day or later.
        let day = Date::of(t - self.length, self.offset);
        let months = Month::of(day).0 - self.first.0;
        // Rounded up.
        (-(-months).div_euclid(self.interval)).max(0)
    }

    /// Steps over the months that have no occurrence.
    fn next(&self, index: &mut i64, until: Timestamp) -> Option<Interval> {
        loop {
            let month = Month(self.first.0 + self.interval * *index);
            let (first, _) = month.days()?;
            if first.begins(self.offset) > until {
                return None;
            }
            *index += 1;
            if let Some(date) = self.day.of(month)
                && date >= self.start_date
            {
                let open = date.begins(self.offset) + self.after_midnight;
                let close = open + self.length;
                return Some(Interval { open, close }).filter(|_| open <= until);
            }
        }
    }
}

impl DayOfMonth {
    /// The day in that month, if it has one; `None` beyond the year 9999, too.
    fn of(self, month: Month) -> Option<Date> {
        let (first, days) = month.days()?;
        let nth = match self {
            Self::Number(number, _) if number <= days => number - 1,
            Self::Number(_, MissingDay::LastDay) => days - 1,
            Self::Number(_, MissingDay::Skip) => return None,
            Self::Weekday(index, weekday) => {
                let nth = first.weekday().days_until(weekday);
                match index {
                    WeekIndex::First => nth,
                    WeekIndex::Second => nth + 7,
                    WeekIndex::Third => nth + 14,
                    WeekIndex::Fourth => nth + 21,
                    WeekIndex::Last => nth + (days - 1 - nth) / 7 * 7,
                }
            }
        };
        Some(first.plus_days(nth))
    }
}
