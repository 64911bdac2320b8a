//! What a maintenance configuration says, as data: the description of a window (M1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::{Date, TimeOfDay, UtcOffset, Weekday};
use crate::time::Timestamp;

/// A maintenance window as it is written down (M1). Equal descriptions behave alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaintenanceWindow {
    /// `schedule`: which days have an occurrence.
    pub schedule: Schedule,
    /// `durationHours` ([`Self::DURATION_HOURS`]); without meaning for [`Schedule::TimeInWeek`].
    pub duration_hours: u32,
    /// `startDate`; absent: the local day of the scenario's start (R-J1).
    pub start_date: Option<Date>,
    /// `startTime`; without meaning for [`Schedule::TimeInWeek`].
    pub start_time: TimeOfDay,
    /// `utcOffset`: the fixed offset of the local clock (M2).
    pub offset: UtcOffset,
    /// `notAllowedDates`
    pub not_allowed: Vec<NotAllowedDates>,
    /// `weekAnchor`: from where periods are counted (M3).
    pub week_anchor: WeekAnchor,
    /// `missingDay`: what happens in a month without the `dayOfMonth` (M3).
    pub missing_day: MissingDay,
}

/// Which days have an occurrence (M1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Schedule {
    /// `daily`
    Daily {
        /// `intervalDays`
        interval_days: u32,
    },
    /// `weekly`
    Weekly {
        /// `intervalWeeks`
        interval_weeks: u32,
        /// `dayOfWeek`
        day: Weekday,
    },
    /// `absoluteMonthly`
    AbsoluteMonthly {
        /// `intervalMonths`
        interval_months: u32,
        /// `dayOfMonth` ([`MaintenanceWindow::DAYS_OF_MONTH`])
        day_of_month: u32,
    },
    /// `relativeMonthly`
    RelativeMonthly {
        /// `intervalMonths`
        interval_months: u32,
        /// `weekIndex`
        week_index: WeekIndex,
        /// `dayOfWeek`
        day: Weekday,
    },
    /// `timeInWeek`: the older form of the `default` configuration. Single hours of every week,
    /// in UTC, without a first day.
    TimeInWeek {
        /// `hourSlots` of each `day`: 1 stands for 01:00 to 02:00.
        slots: BTreeMap<Weekday, BTreeSet<u32>>,
        /// `notAllowedTime`
        not_allowed: Vec<NotAllowedTime>,
    },
}

/// Which of a month's days of one name (M1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum WeekIndex {
    First,
    Second,
    Third,
    Fourth,
    Last,
}

/// From where the periods of an interval above 1 are counted (M3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum WeekAnchor {
    /// `calendar`: from the Sunday-first week or the month that contains the start date.
    #[default]
    Calendar,
    /// `firstOccurrence`: from the first matching day on or after the start date.
    FirstOccurrence,
}

/// What becomes of a `dayOfMonth` that a month lacks (M3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MissingDay {
    /// `lastDay`: it falls on the month's last day, each month anew (R-J3).
    #[default]
    LastDay,
    /// `skip`: that month has no occurrence; it is counted all the same.
    Skip,
}

/// Local days on which nothing is allowed, both included (M4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotAllowedDates {
    /// The first such day.
    pub start: Date,
    /// The last such day.
    pub end: Date,
}

/// A time at which nothing is allowed, in the older form: from `start` up to, without, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotAllowedTime {
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

/// Something in a description that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key it stands under, as the API spells it (`durationHours`).
    pub field: &'static str,
    /// What is wrong with it, naming the value and the range.
    pub message: String,
}

impl MaintenanceWindow {
    /// `durationHours` (M1, R-J8).
    pub const DURATION_HOURS: RangeInclusive<u32> = 4..=24;
    /// `intervalDays`, `intervalWeeks`, `intervalMonths`: no upper bound (R-J8).
    pub const INTERVALS: RangeInclusive<u32> = 1..=u32::MAX;
    /// `dayOfMonth`
    pub const DAYS_OF_MONTH: RangeInclusive<u32> = 1..=31;
    /// `hourSlots` of the older form.
    pub const HOUR_SLOTS: RangeInclusive<u32> = 0..=23;

    /// A window with what has to be said; the rest as it is when absent.
    pub const fn new(schedule: Schedule, start_time: TimeOfDay, duration_hours: u32) -> Self {
        Self {
            schedule,
            duration_hours,
            start_date: None,
            start_time,
            offset: UtcOffset::UTC,
            not_allowed: Vec::new(),
            week_anchor: WeekAnchor::Calendar,
            missing_day: MissingDay::LastDay,
        }
    }

    /// A window of the older form: hours of the week in UTC, and when not.
    pub const fn time_in_week(
        slots: BTreeMap<Weekday, BTreeSet<u32>>,
        not_allowed: Vec<NotAllowedTime>,
    ) -> Self {
        // The duration is one slot's; like the start time it has no meaning here.
        Self::new(Schedule::TimeInWeek { slots, not_allowed }, TimeOfDay(0), 1)
    }

    /// Everything in the description that cannot be, in the order of the fields. A window is only
    /// made of a description without problems.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = self.schedule.check();
        let mut problem = |field, message| problems.push(Problem { field, message });
        if !matches!(self.schedule, Schedule::TimeInWeek { .. })
            && !Self::DURATION_HOURS.contains(&self.duration_hours)
        {
            problem("durationHours", outside(self.duration_hours, &Self::DURATION_HOURS));
        }
        if self.start_time > TimeOfDay::MAX {
            problem("startTime", format!("{} is past 23:59", self.start_time));
        }
        if self.offset.0.unsigned_abs() > UtcOffset::MAX.0.unsigned_abs() {
            problem("utcOffset", format!("{} is more than 14:00 from UTC", self.offset));
        }
        for dates in self.not_allowed.iter().filter(|dates| dates.end < dates.start) {
            let message = format!("{} ends before it starts, on {}", dates.start, dates.end);
            problem("notAllowedDates", message);
        }
        problems
    }

    /// The window in one line; `start` is the day from which it is counted.
    pub(super) fn describe(&self, start: Date) -> String {
        let mut except: Vec<String> = self.not_allowed.iter().map(ToString::to_string).collect();
        let interval = self.schedule.interval();
        let every = if interval == 1 { "every".into() } else { format!("every {}", nth(interval)) };
        let days = match &self.schedule {
            Schedule::Daily { .. } => format!("{every} day"),
            Schedule::Weekly { day, .. } => format!("{every} {day}"),
            Schedule::AbsoluteMonthly { day_of_month, .. } => {
                let otherwise = match self.missing_day {
                    _ if *day_of_month <= 28 => "",
                    MissingDay::LastDay => " (or its last day)",
                    MissingDay::Skip => " (if it has one)",
                };
                format!("day {day_of_month} of {every} month{otherwise}")
            }
            Schedule::RelativeMonthly { week_index, day, .. } => {
                format!("the {} {day} of {every} month", week_index.to_string().to_lowercase())
            }
            Schedule::TimeInWeek { slots, not_allowed } => {
                except.extend(not_allowed.iter().map(ToString::to_string));
                return with_exceptions(describe_slots(slots), &except);
            }
        };
        let mut line = format!("{days} {} at {} from {start}", self.describe_hours(), self.offset);
        if self.start_date.is_none() {
            line.push_str(" (the scenario's start)");
        }
        if interval > 1 && self.week_anchor == WeekAnchor::FirstOccurrence {
            line.push_str(", counted from the first occurrence");
        }
        with_exceptions(line, &except)
    }

    /// `01:00–05:00`
    fn describe_hours(&self) -> String {
        const DAY: u32 = 24 * 60;
        let end = u32::from(self.start_time.0) + self.duration_hours * 60;
        let (end, next_day) = if end > DAY { (end - DAY, " the next day") } else { (end, "") };
        format!("{}–{:02}:{:02}{next_day}", self.start_time, end / 60, end % 60)
    }
}

impl Schedule {
    /// Every how many days, weeks or months there is an occurrence.
    pub const fn interval(&self) -> u32 {
        match self {
            Self::Daily { interval_days } => *interval_days,
            Self::Weekly { interval_weeks, .. } => *interval_weeks,
            Self::AbsoluteMonthly { interval_months, .. }
            | Self::RelativeMonthly { interval_months, .. } => *interval_months,
            Self::TimeInWeek { .. } => 1,
        }
    }

    /// The key of the interval, as the API spells it.
    const fn interval_key(&self) -> &'static str {
        match self {
            Self::Daily { .. } => "intervalDays",
            Self::Weekly { .. } => "intervalWeeks",
            Self::AbsoluteMonthly { .. } | Self::RelativeMonthly { .. } => "intervalMonths",
            Self::TimeInWeek { .. } => "timeInWeek",
        }
    }

    fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut problem = |field, message| problems.push(Problem { field, message });
        if self.interval() < 1 {
            problem(self.interval_key(), "0 is not a number of periods; at least 1".to_owned());
        }
        match self {
            Self::AbsoluteMonthly { day_of_month: day, .. }
                if !MaintenanceWindow::DAYS_OF_MONTH.contains(day) =>
            {
                problem("dayOfMonth", outside(*day, &MaintenanceWindow::DAYS_OF_MONTH));
            }
            Self::TimeInWeek { slots, not_allowed } => {
                let range = MaintenanceWindow::HOUR_SLOTS;
                for hour in slots.values().flatten().filter(|hour| !range.contains(hour)) {
                    problem("hourSlots", outside(*hour, &range));
                }
                for time in not_allowed.iter().filter(|time| time.end < time.start) {
                    let message = format!("{} ends before it starts, at {}", time.start, time.end);
                    problem("notAllowedTime", message);
                }
            }
            _ => {}
        }
        problems
    }
}

/// `25 is outside 4 to 24`
fn outside(value: u32, range: &RangeInclusive<u32>) -> String {
    format!("{value} is outside {} to {}", range.start(), range.end())
}

/// `2nd`, `11th`, `23rd`
fn nth(n: u32) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// `every Tuesday 01:00–03:00, Wednesday 01:00–02:00 and 06:00–07:00 UTC`
fn describe_slots(slots: &BTreeMap<Weekday, BTreeSet<u32>>) -> String {
    let days: Vec<String> = slots
        .iter()
        .filter(|(_, hours)| !hours.is_empty())
        .map(|(day, hours)| format!("{day} {}", describe_hours_of_day(hours)))
        .collect();
    if days.is_empty() { "never".into() } else { format!("every {} UTC", days.join(", ")) }
}

/// `01:00–02:00 and 06:00–07:00`
fn describe_hours_of_day(hours: &BTreeSet<u32>) -> String {
    let opens = hours.iter().filter(|hour| **hour == 0 || !hours.contains(&(**hour - 1)));
    let spans: Vec<String> = opens
        .map(|open| {
            let close = (*open..24).find(|hour| !hours.contains(hour)).unwrap_or(24);
            format!("{open:02}:00–{close:02}:00")
        })
        .collect();
    spans.join(" and ")
}

/// `…, except 2026-12-24 to 2026-12-26, 2027-01-01`
fn with_exceptions(line: String, except: &[String]) -> String {
    if except.is_empty() { line } else { format!("{line}, except {}", except.join(", ")) }
}

impl fmt::Display for NotAllowedDates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start == self.end {
            write!(f, "{}", self.start)
        } else {
            write!(f, "{} to {}", self.start, self.end)
        }
    }
}

impl fmt::Display for NotAllowedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.start, self.end)
    }
}

impl fmt::Display for WeekIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for WeekIndex {
    type Err = String;

    /// Reads the API's words: `First`, `Second`, `Third`, `Fourth`, `Last`.
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::First, Self::Second, Self::Third, Self::Fourth, Self::Last]
            .into_iter()
            .find(|index| index.to_string() == text)
            .ok_or_else(|| {
                format!("`{text}` is not a week of a month; write First to Fourth, or Last")
            })
    }
}

impl FromStr for WeekAnchor {
    type Err = String;

    /// Reads `calendar` and `firstOccurrence`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "calendar" => Ok(Self::Calendar),
            "firstOccurrence" => Ok(Self::FirstOccurrence),
            _ => Err(format!("`{text}` is no anchor; write calendar or firstOccurrence")),
        }
    }
}

impl FromStr for MissingDay {
    type Err = String;

    /// Reads `lastDay` and `skip`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "lastDay" => Ok(Self::LastDay),
            "skip" => Ok(Self::Skip),
            _ => Err(format!("`{text}` says nothing about a missing day; write lastDay or skip")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weekly(interval_weeks: u32) -> MaintenanceWindow {
        let schedule = Schedule::Weekly { interval_weeks, day: Weekday::Sunday };
        MaintenanceWindow::new(schedule, TimeOfDay(60), 4)
    }

    fn fields(window: &MaintenanceWindow) -> Vec<&'static str> {
        window.check().into_iter().map(|problem| problem.field).collect()
    }

    fn dates(start: &str, end: &str) -> NotAllowedDates {
        NotAllowedDates { start: start.parse().unwrap(), end: end.parse().unwrap() }
    }

    #[test]
    fn r_j8_durations_are_4_to_24_hours() {
        for (hours, legal) in [(0, false), (3, false), (4, true), (24, true), (25, false)] {
            let window = MaintenanceWindow { duration_hours: hours, ..weekly(1) };
            assert_eq!(window.check().is_empty(), legal, "{hours}");
        }
        let window = MaintenanceWindow { duration_hours: 25, ..weekly(1) };
        let problem = &window.check()[0];
        assert_eq!(problem.field, "durationHours");
        assert_eq!(problem.message, "25 is outside 4 to 24");
    }

    #[test]
    fn r_j8_intervals_start_at_1_and_have_no_upper_bound() {
        for (schedule, field) in [
            (Schedule::Daily { interval_days: 0 }, "intervalDays"),
            (Schedule::Weekly { interval_weeks: 0, day: Weekday::Monday }, "intervalWeeks"),
            (Schedule::AbsoluteMonthly { interval_months: 0, day_of_month: 1 }, "intervalMonths"),
        ] {
            assert_eq!(fields(&MaintenanceWindow { schedule, ..weekly(1) }), [field]);
        }
        assert!(weekly(u32::MAX).check().is_empty());
    }

    #[test]
    fn m1_impossible_values_are_named_by_their_key() {
        for (day_of_month, legal) in [(0, false), (1, true), (31, true), (32, false)] {
            let schedule = Schedule::AbsoluteMonthly { interval_months: 1, day_of_month };
            let window = MaintenanceWindow { schedule, ..weekly(1) };
            assert_eq!(fields(&window), if legal { vec![] } else { vec!["dayOfMonth"] });
        }
        let window = MaintenanceWindow {
            start_time: TimeOfDay(1_440),
            offset: UtcOffset(-841),
            not_allowed: vec![dates("2026-03-02", "2026-03-02"), dates("2026-03-02", "2026-03-01")],
            ..weekly(1)
        };
        assert_eq!(fields(&window), ["startTime", "utcOffset", "notAllowedDates"]);
        let lowest = MaintenanceWindow { offset: UtcOffset(i16::MIN), ..weekly(1) };
        assert_eq!(fields(&lowest), ["utcOffset"]);
    }

    #[test]
    fn m1_the_older_form_has_hours_0_to_23_and_no_duration() {
        let slots = |hour| BTreeMap::from([(Weekday::Monday, BTreeSet::from([hour]))]);
        assert!(MaintenanceWindow::time_in_week(slots(23), Vec::new()).check().is_empty());
        let at = |text: &str| text.parse().unwrap();
        let backwards =
            NotAllowedTime { start: at("2026-03-02T01:00:00Z"), end: at("2026-03-02T00:00:00Z") };
        let window = MaintenanceWindow::time_in_week(slots(24), vec![backwards]);
        assert_eq!(fields(&window), ["hourSlots", "notAllowedTime"]);
    }

    #[test]
    fn equal_descriptions_are_equal_whatever_the_order_of_slots() {
        let of = |hours: [u32; 2]| {
            let slots = BTreeMap::from([(Weekday::Monday, BTreeSet::from(hours))]);
            MaintenanceWindow::time_in_week(slots, Vec::new())
        };
        assert_eq!(of([1, 2]), of([2, 1]));
        assert_ne!(weekly(1), weekly(2));
        assert_ne!(weekly(1), MaintenanceWindow { missing_day: MissingDay::Skip, ..weekly(1) });
    }

    #[test]
    fn the_words_of_the_options_are_read_as_they_are_spelled() {
        assert_eq!("Last".parse(), Ok(WeekIndex::Last));
        assert_eq!("Fourth".parse(), Ok(WeekIndex::Fourth));
        assert!("Fifth".parse::<WeekIndex>().is_err());
        assert!("first".parse::<WeekIndex>().is_err());
        assert_eq!("calendar".parse(), Ok(WeekAnchor::default()));
        assert_eq!("firstOccurrence".parse(), Ok(WeekAnchor::FirstOccurrence));
        assert!("first".parse::<WeekAnchor>().is_err());
        assert_eq!("lastDay".parse(), Ok(MissingDay::default()));
        assert_eq!("skip".parse(), Ok(MissingDay::Skip));
        assert!("last".parse::<MissingDay>().is_err());
    }

    #[test]
    fn descriptions_say_everything_in_one_line() {
        let start = "2026-03-02".parse().unwrap();
        let window = MaintenanceWindow {
            start_date: Some(start),
            offset: UtcOffset(60),
            not_allowed: vec![dates("2026-12-24", "2026-12-26"), dates("2027-01-01", "2027-01-01")],
            ..weekly(2)
        };
        assert_eq!(
            window.describe(start),
            "every 2nd Sunday 01:00–05:00 at +01:00 from 2026-03-02, \
             except 2026-12-24 to 2026-12-26, 2027-01-01"
        );
        let evening = MaintenanceWindow { start_time: TimeOfDay(22 * 60), ..weekly(1) };
        assert_eq!(
            evening.describe(start),
            "every Sunday 22:00–02:00 the next day at +00:00 \
             from 2026-03-02 (the scenario's start)"
        );
        let schedule = Schedule::Daily { interval_days: 11 };
        let window = MaintenanceWindow {
            schedule,
            start_time: TimeOfDay(20 * 60),
            start_date: Some(start),
            week_anchor: WeekAnchor::FirstOccurrence,
            ..weekly(1)
        };
        assert_eq!(
            window.describe(start),
            "every 11th day 20:00–24:00 at +00:00 from 2026-03-02, \
             counted from the first occurrence"
        );
    }

    #[test]
    fn descriptions_of_months_and_of_the_older_form() {
        let start = "2026-03-02".parse().unwrap();
        let of = |schedule, missing_day| {
            let window = MaintenanceWindow { schedule, missing_day, ..weekly(1) };
            MaintenanceWindow { start_date: Some(start), ..window }.describe(start)
        };
        let on_day = |interval_months, day_of_month| Schedule::AbsoluteMonthly {
            interval_months,
            day_of_month,
        };
        let hours = "01:00–05:00 at +00:00 from 2026-03-02";
        assert_eq!(of(on_day(3, 1), MissingDay::Skip), format!("day 1 of every 3rd month {hours}"));
        assert_eq!(
            of(on_day(1, 31), MissingDay::LastDay),
            format!("day 31 of every month (or its last day) {hours}")
        );
        assert_eq!(
            of(on_day(1, 29), MissingDay::Skip),
            format!("day 29 of every month (if it has one) {hours}")
        );
        let schedule = Schedule::RelativeMonthly {
            interval_months: 1,
            week_index: WeekIndex::Last,
            day: Weekday::Friday,
        };
        assert_eq!(
            of(schedule, MissingDay::LastDay),
            format!("the last Friday of every month {hours}")
        );
        let slots = BTreeMap::from([
            (Weekday::Wednesday, BTreeSet::from([23, 1])),
            (Weekday::Tuesday, BTreeSet::from([1, 2])),
            (Weekday::Friday, BTreeSet::new()),
        ]);
        let window = MaintenanceWindow::time_in_week(slots, Vec::new());
        assert_eq!(
            window.describe(start),
            "every Tuesday 01:00–03:00, Wednesday 01:00–02:00 and 23:00–24:00 UTC"
        );
        let window = MaintenanceWindow::time_in_week(BTreeMap::new(), Vec::new());
        assert_eq!(window.describe(start), "never");
    }
}
