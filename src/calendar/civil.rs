//! Days, days of the week, times of day and UTC offsets, and how they are written.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil;

use crate::time::{Span, Timestamp};

/// Seven days.
pub(super) const WEEK: Span = Span::from_days(7);
/// The Sunday before 1970-01-01, which was a Thursday: weeks are counted from it.
pub(super) const SUNDAY: Timestamp = Timestamp::from_millis(-4 * Span::DAY.as_millis());

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

impl Weekday {
    /// All seven, Sunday first.
    pub const ALL: [Self; 7] = [
        Self::Sunday,
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
    ];

    /// From the beginning of the week to the beginning of this day.
    pub(super) fn since_sunday(self) -> Span {
        Span::from_days(i64::from(self as u8))
    }

    /// How many days after a day like `self` the next `other` comes; 0 if they are the same.
    pub(super) fn days_until(self, other: Self) -> i32 {
        (i32::from(other as u8) - i32::from(self as u8)).rem_euclid(7)
    }
}

impl fmt::Display for Weekday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for Weekday {
    type Err = String;

    /// Reads the API's names: `Sunday` to `Saturday`, case included.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|day| day.to_string() == text).ok_or_else(|| {
            format!("`{text}` is not a day of the week; write Monday, Tuesday, … or Sunday")
        })
    }
}

/// A fixed offset from UTC in minutes, within ±14:00 (M2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UtcOffset(pub i16);

impl UtcOffset {
    /// No offset.
    pub const UTC: Self = Self(0);
    /// The largest offset either way: 14:00 (R-J8).
    pub const MAX: Self = Self(14 * 60);

    /// How far the local clock is ahead of UTC.
    pub(super) fn ahead(self) -> Span {
        Span::from_mins(i64::from(self.0))
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, minutes) = (if self.0 < 0 { '-' } else { '+' }, self.0.unsigned_abs());
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl FromStr for UtcOffset {
    type Err = String;

    /// Reads `+HH:MM` and `-HH:MM`, up to 14:00 either way.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a UTC offset; write it as +01:00 or -08:00, up to 14:00");
        let (sign, rest) = match text.split_at_checked(1).ok_or_else(wrong)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return Err(wrong()),
        };
        let minutes = sign * hours_and_minutes(rest).ok_or_else(wrong)?;
        if minutes.abs() > Self::MAX.0 { Err(wrong()) } else { Ok(Self(minutes)) }
    }
}

/// A time of day in minutes since local midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(pub u16);

impl TimeOfDay {
    /// The last minute of a day.
    pub const MAX: Self = Self(24 * 60 - 1);

    /// From midnight to this time.
    pub(super) fn since_midnight(self) -> Span {
        Span::from_mins(i64::from(self.0))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl FromStr for TimeOfDay {
    type Err = String;

    /// Reads `HH:MM`, from `00:00` to `23:59`.
    fn from_str(text: &str) -> Result<Self, String> {
        hours_and_minutes(text)
            .and_then(|minutes| u16::try_from(minutes).ok())
            .map(Self)
            .filter(|time| *time <= Self::MAX)
            .ok_or_else(|| {
                format!("`{text}` is not a time of day; write it as HH:MM, 00:00 to 23:59")
            })
    }
}

/// The minutes of `HH:MM`, two digits each, the minutes below 60.
fn hours_and_minutes(text: &str) -> Option<i16> {
    let two_digits = |part: &str| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<i16>().ok()).flatten()
    };
    let (hours, minutes) = text.split_once(':')?;
    let minutes = two_digits(minutes).filter(|minutes| *minutes < 60)?;
    Some(two_digits(hours)? * 60 + minutes)
}

/// A calendar day (proleptic Gregorian, years −9999 to 9999). Displays and parses as `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Days since 1970-01-01, always within the years above.
    epoch_day: i32,
}

impl Date {
    /// The day of that year, month (from 1) and day (from 1), if there is one.
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        civil::Date::new(year, month, day).ok().map(Self::from_civil)
    }

    /// The local day at an instant. Instants beyond the years −9999 to 9999 fall on the last day
    /// this side of them.
    pub fn of(at: Timestamp, offset: UtcOffset) -> Self {
        let days = at
            .as_millis()
            .saturating_add(offset.ahead().as_millis())
            .div_euclid(Span::DAY.as_millis());
        let first = Self::from_civil(civil::Date::MIN).epoch_day;
        let last = Self::from_civil(civil::Date::MAX).epoch_day;
        let days = days.clamp(i64::from(first), i64::from(last));
        Self { epoch_day: i32::try_from(days).expect("clamped between two i32") }
    }

    /// The instant at which the day begins on the local clock.
    pub fn begins(self, offset: UtcOffset) -> Timestamp {
        Timestamp::default() + Span::from_days(i64::from(self.epoch_day)) - offset.ahead()
    }

    /// The instant at which the day ends on the local clock, and the next begins.
    pub fn ends(self, offset: UtcOffset) -> Timestamp {
        self.begins(offset) + Span::DAY
    }

    /// Which day of the week it is.
    pub fn weekday(self) -> Weekday {
        let since_sunday = self.begins(UtcOffset::UTC) - SUNDAY;
        let days = since_sunday.as_millis().rem_euclid(WEEK.as_millis()) / Span::DAY.as_millis();
        Weekday::ALL[usize::try_from(days).expect("a remainder below 7")]
    }

    /// The day so many days later in the same month.
    pub(super) fn plus_days(self, days: i32) -> Self {
        Self { epoch_day: self.epoch_day + days }
    }

    fn from_civil(date: civil::Date) -> Self {
        let days = date.duration_since(civil::Date::constant(1970, 1, 1)).as_hours() / 24;
        Self { epoch_day: i32::try_from(days).expect("20,000 years have few enough days") }
    }

    fn to_civil(self) -> civil::Date {
        civil::Date::constant(1970, 1, 1)
            .checked_add(SignedDuration::from_hours(i64::from(self.epoch_day) * 24))
            .expect("dates are made from days that the calendar has")
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_civil(), f)
    }
}

impl FromStr for Date {
    type Err = String;

    /// Reads `YYYY-MM-DD` and nothing else.
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<civil::Date>()
            .ok()
            .filter(|date| date.to_string() == text && date.year() >= 0)
            .map(Self::from_civil)
            .ok_or_else(|| format!("`{text}` is not a date; write it as 2026-03-02"))
    }
}

/// A month, counted from January of year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Month(pub(super) i64);

impl Month {
    /// The month a date lies in.
    pub(super) fn of(date: Date) -> Self {
        let date = date.to_civil();
        Self(i64::from(date.year()) * 12 + i64::from(date.month()) - 1)
    }

    /// The month's first day and its number of days; `None` beyond the year 9999.
    pub(super) fn days(self) -> Option<(Date, i32)> {
        let year = i16::try_from(self.0.div_euclid(12)).ok()?;
        let month = i8::try_from(self.0.rem_euclid(12) + 1).ok()?;
        let first = civil::Date::new(year, month, 1).ok()?;
        Some((Date::from_civil(first), i32::from(first.days_in_month())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_times_of_day_are_hh_mm() {
        assert_eq!("00:00".parse(), Ok(TimeOfDay(0)));
        assert_eq!("23:59".parse(), Ok(TimeOfDay::MAX));
        assert_eq!("08:30".parse::<TimeOfDay>().unwrap().to_string(), "08:30");
        for wrong in ["", "8:30", "24:00", "12:60", "12:5", "12:005", "12", "12:00:00", "+1:00"] {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong}");
        }
        for wrong in ["-1:00", " 12:00", "12:00 ", "1٣:00", "12.00", "012:00", "99:00", "é2:00"] {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn r_j8_offsets_reach_fourteen_hours_either_way() {
        assert_eq!("+00:00".parse(), Ok(UtcOffset::UTC));
        assert_eq!("-00:00".parse(), Ok(UtcOffset::UTC));
        assert_eq!("+14:00".parse(), Ok(UtcOffset(840)));
        assert_eq!("-14:00".parse(), Ok(UtcOffset(-840)));
        assert_eq!("-03:30".parse(), Ok(UtcOffset(-210)));
        for text in ["+05:30", "-08:00", "-00:30", "+00:00", "+14:00"] {
            assert_eq!(text.parse::<UtcOffset>().unwrap().to_string(), text);
        }
        for wrong in
            ["", "+", "Z", "01:00", "+14:01", "-14:01", "+1:00", "+01:60", "+0100", "++1:0"]
        {
            assert!(wrong.parse::<UtcOffset>().is_err(), "{wrong}");
        }
        for wrong in ["+99:00", "−08:00", "+01:00 ", "+-1:00", "é01:00"] {
            assert!(wrong.parse::<UtcOffset>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn m1_days_are_spelled_as_the_api_does() {
        for day in Weekday::ALL {
            assert_eq!(day.to_string().parse(), Ok(day));
        }
        assert_eq!("Wednesday".parse(), Ok(Weekday::Wednesday));
        for wrong in ["sunday", "Sun", "SUNDAY", "", "Monday "] {
            assert!(wrong.parse::<Weekday>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn m1_dates_are_yyyy_mm_dd() {
        for text in ["2026-03-02", "2024-02-29", "1969-12-31", "0001-01-01", "9999-12-31"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        for wrong in
            ["2026-02-29", "2026-3-2", "20260302", "2026-03-02T00:00:00Z", "", "+002026-03-02"]
        {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
        for wrong in ["-000001-01-01", "2026-13-01", "2026-00-01", " 2026-03-02", "02.03.2026"] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
        assert!("2026-03-02".parse::<Date>().unwrap() < "2026-03-10".parse().unwrap());
        assert_eq!(Date::new(2026, 3, 2), Some("2026-03-02".parse().unwrap()));
        assert_eq!(Date::new(2026, 2, 29), None);
    }

    #[test]
    fn dates_know_their_weekday_and_their_instants() {
        let date: Date = "2026-03-02".parse().unwrap();
        assert_eq!(date.weekday(), Weekday::Monday);
        assert_eq!("1969-12-28".parse::<Date>().unwrap().weekday(), Weekday::Sunday);
        assert_eq!("1900-01-01".parse::<Date>().unwrap().weekday(), Weekday::Monday);
        assert_eq!(date.begins(UtcOffset::UTC), "2026-03-02T00:00:00Z".parse().unwrap());
        assert_eq!(date.begins(UtcOffset(330)), "2026-03-01T18:30:00Z".parse().unwrap());
        assert_eq!(date.ends(UtcOffset(-480)), "2026-03-03T08:00:00Z".parse().unwrap());
    }

    #[test]
    fn m2_the_local_day_depends_on_the_offset() {
        let at = "2026-03-02T23:40:00Z".parse().unwrap();
        for (offset, date) in [(0, "2026-03-02"), (19, "2026-03-02"), (20, "2026-03-03")] {
            assert_eq!(Date::of(at, UtcOffset(offset)).to_string(), date);
        }
        let at = "1969-12-31T00:30:00Z".parse().unwrap();
        assert_eq!(Date::of(at, UtcOffset(-60)).to_string(), "1969-12-30");
        assert_eq!(Date::of(Timestamp::MAX, UtcOffset(60)).to_string(), "9999-12-31");
        assert_eq!(Date::of(Timestamp::MIN, UtcOffset(-60)).to_string(), "-009999-01-01");
    }

    #[test]
    fn months_have_their_days() {
        let february = Month::of("2024-02-17".parse().unwrap());
        assert_eq!(february.days(), Some(("2024-02-01".parse().unwrap(), 29)));
        assert_eq!(Month(february.0 + 12).days(), Some(("2025-02-01".parse().unwrap(), 28)));
        assert_eq!(Month(february.0 - 2).days(), Some(("2023-12-01".parse().unwrap(), 31)));
        assert_eq!(Month(12 * 10_000).days(), None);
        assert_eq!(Month(i64::MAX).days(), None);
    }
}
