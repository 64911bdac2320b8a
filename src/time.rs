//! Time in integers: instants and spans of whole milliseconds.
//!
//! Owns the two time types, their arithmetic, and how they are read and written. Does not own
//! calendars ([`crate::calendar`]) nor any clock: the core never asks what time it is.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::str::FromStr;

/// An instant: milliseconds since 1970-01-01T00:00:00Z. Displays as RFC 3339 in UTC, with
/// milliseconds only when they are not zero (reading R-K2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A signed length of time in milliseconds. Displays and parses as `1d4h30m` (reading R-K10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

impl Timestamp {
    /// The earliest instant; before everything a scenario can name.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant; "never".
    pub const MAX: Self = Self(i64::MAX);

    /// The instant this many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// One second.
    pub const SECOND: Self = Self::from_secs(1);
    /// One minute.
    pub const MINUTE: Self = Self::from_secs(60);
    /// One hour.
    pub const HOUR: Self = Self::from_secs(3_600);
    /// One day of 24 hours.
    pub const DAY: Self = Self::from_secs(86_400);

    /// A span of milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// A span of seconds.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs * 1_000)
    }

    /// A span of minutes.
    pub const fn from_mins(mins: i64) -> Self {
        Self::from_secs(mins * 60)
    }

    /// A span of hours.
    pub const fn from_hours(hours: i64) -> Self {
        Self::from_secs(hours * 3_600)
    }

    /// A span of days of 24 hours.
    pub const fn from_days(days: i64) -> Self {
        Self::from_secs(days * 86_400)
    }

    /// The span in milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The span in seconds.
    #[expect(clippy::cast_precision_loss, reason = "spans under 2^53 ms (285,000 years) are exact")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.checked_add(span.0).expect("instants stay within 292 million years of 1970"))
    }
}

impl AddAssign<Span> for Timestamp {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        self + -span
    }
}

impl Sub for Timestamp {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Span {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<i64> for Span {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0 * factor)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) if self.0 % 1_000 == 0 => write!(f, "{}", at.strftime("%Y-%m-%dT%H:%M:%SZ")),
            Ok(at) => write!(f, "{}", at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ")),
            Err(_) => f.write_str(if self.0 > 0 { "never" } else { "always" }),
        }
    }
}

impl FromStr for Timestamp {
    type Err = String;

    /// Reads RFC 3339 (`2026-03-02T08:00:00Z`, any offset), or a bare date as its first instant in
    /// UTC. Fractions finer than a millisecond are cut off.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(at) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(at.as_millisecond()));
        }
        if let Ok(date) = text.parse::<jiff::civil::Date>()
            && date.to_string() == text
            && let Ok(at) = format!("{text}T00:00:00Z").parse::<jiff::Timestamp>()
        {
            return Ok(Self(at.as_millisecond()));
        }
        Err(format!("`{text}` is not an instant; write it as 2026-03-02T08:00:00Z"))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (unit, millis) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
            if rest >= millis {
                write!(f, "{}{unit}", rest / millis)?;
                rest %= millis;
            }
        }
        if rest > 0 {
            write!(f, "{rest}ms")?;
        }
        Ok(())
    }
}

impl FromStr for Span {
    type Err = String;

    /// Reads `90s`, `45m`, `2h30m`, `3d`: whole numbers of d, h, m, s in that order, each at most
    /// once; a bare `0` is accepted (reading R-K10).
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a duration; write it as 90s, 45m, 2h30m or 3d");
        if text == "0" {
            return Ok(Self::ZERO);
        }
        let mut units =
            [('d', 86_400_000_i64), ('h', 3_600_000), ('m', 60_000), ('s', 1_000)].iter();
        let (mut total, mut digits) = (0_i64, String::new());
        for c in text.chars() {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            let (_, millis) = units.find(|(unit, _)| *unit == c).ok_or_else(wrong)?;
            let number: i64 = digits.parse().map_err(|_| wrong())?;
            total =
                number.checked_mul(*millis).and_then(|n| total.checked_add(n)).ok_or_else(wrong)?;
            digits.clear();
        }
        if text.is_empty() || !digits.is_empty() {
            return Err(wrong());
        }
        Ok(Self(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_round_trip() {
        for text in ["1d4h30m", "90s", "2h30m", "3d", "0s"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
        assert_eq!("90m".parse::<Span>().unwrap(), Span::from_mins(90));
        assert_eq!("0".parse::<Span>().unwrap(), Span::ZERO);
        for wrong in ["", "5", "1m1h", "1h1h", "h", "-1h", "1.5h", "1h 30m", "99999999999999d"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn instants_are_rfc_3339_with_milliseconds_only_when_needed() {
        let at: Timestamp = "2026-03-02T08:00:00Z".parse().unwrap();
        assert_eq!(at.to_string(), "2026-03-02T08:00:00Z");
        assert_eq!((at + Span::from_millis(7)).to_string(), "2026-03-02T08:00:00.007Z");
        assert_eq!("2026-03-02T09:00:00+01:00".parse::<Timestamp>().unwrap(), at);
        assert_eq!("2026-03-02".parse::<Timestamp>().unwrap() + Span::from_hours(8), at);
        assert!("10:00".parse::<Timestamp>().is_err());
    }
}
