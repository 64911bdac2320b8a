//! The life of Kubernetes minors on AKS: preview, general availability, support (U7, W2, R-I12).
//!
//! Owns the calendar in `data/kubernetes-minors.csv`: for every minor its upstream release, its
//! preview, its general availability, the end of community support and the end of long-term
//! support, as AKS published them (later minors as planned). Dates there are days or months;
//! support lasts *through* the day or month that is named (ours), so it ends at the first instant,
//! in UTC, of the next. Where the publication names another minor's general availability (`1.21
//! GA`), it ends with that minor's day or month.

use std::sync::LazyLock;

use jiff::civil::date;

use super::KubernetesVersion;
use crate::time::{Span, Timestamp};

/// A minor and its dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minor {
    /// Major and minor.
    pub version: (u16, u16),
    /// Upstream's first release of it.
    pub upstream: When,
    /// AKS's preview.
    pub preview: When,
    /// AKS's general availability.
    pub general: When,
    /// The first instant out of community support; `None`: not named.
    pub community_until: Option<Timestamp>,
    /// The first instant out of long-term support; `None`: it has none.
    pub lts_until: Option<Timestamp>,
}

/// A date of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The first instant of a day, in UTC.
    Day(Timestamp),
    /// Some day of this month.
    Month(Month),
}

/// A month: months since January of year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(i32);

impl Month {
    /// The month so many months later.
    #[must_use]
    pub const fn plus(self, months: i32) -> Self {
        Self(self.0 + months)
    }

    /// Its first instant, in UTC.
    pub fn first(self) -> Timestamp {
        let (year, month) = (self.0.div_euclid(12), self.0.rem_euclid(12) + 1);
        let small = "months are those of years that calendars know";
        let first = date(i16::try_from(year).expect(small), i8::try_from(month).expect(small), 1);
        let since = first.duration_since(date(1970, 1, 1));
        Timestamp::default() + Span::from_secs(since.as_secs())
    }
}

impl Month {
    /// The month of an instant, in UTC.
    pub fn of(at: Timestamp) -> Self {
        let day = at.as_millis().div_euclid(Span::DAY.as_millis());
        let day = i32::try_from(day).expect("scenarios stay in the calendar");
        let day = date(1970, 1, 1)
            .checked_add(jiff::Span::new().days(day))
            .expect("scenarios stay in the calendar");
        Self(i32::from(day.year()) * 12 + i32::from(day.month()) - 1)
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

impl std::str::FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('-').filter(|(year, month)| {
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            year.len() == 4 && month.len() == 2 && digits(year) && digits(month)
        });
        let number = |text: &str| text.parse::<i32>().ok();
        let months = parts.and_then(|(year, month)| Some((number(year)?, number(month)?)));
        match months {
            Some((year, month @ 1..=12)) => Ok(Self(year * 12 + month - 1)),
            _ => Err(format!("`{text}` is not a month; write it as 2026-06")),
        }
    }
}

impl When {
    /// `2025-08-22` or `2025-08`.
    fn read(text: &str) -> Self {
        if text.len() > 7 {
            return Self::Day(text.parse().expect("days are written as 2025-08-22"));
        }
        Self::Month(text.parse().expect("months are written as 2025-08"))
    }

    /// The first instant after the day or month.
    fn end(self) -> Timestamp {
        match self {
            Self::Day(day) => day + Span::DAY,
            Self::Month(month) => month.plus(1).first(),
        }
    }

    /// Its first instant.
    pub fn first(self) -> Timestamp {
        match self {
            Self::Day(day) => day,
            Self::Month(month) => month.first(),
        }
    }
}

/// When the calendar was read: what lies after is planned. 2026-08-21.
pub const CALENDAR_OF: Timestamp = Timestamp::from_millis(1_787_270_400_000);

static MINORS: LazyLock<Vec<Minor>> =
    LazyLock::new(|| read(include_str!("../../data/kubernetes-minors.csv")));

fn read(table: &str) -> Vec<Minor> {
    let rows: Vec<[&str; 6]> = super::rows(table)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            fields.try_into().expect("data/kubernetes-minors.csv has six columns")
        })
        .collect();
    let available = |minor: &str| {
        let row = rows.iter().find(|row| row[0] == minor);
        row.expect("a minor whose availability ends another's support is in the table")[3]
    };
    let end = |text: &str| match text.strip_suffix(" GA") {
        Some(minor) => Some(When::read(available(minor)).end()),
        None => (!text.is_empty()).then(|| When::read(text).end()),
    };
    rows.iter()
        .map(|row| Minor {
            version: version(row[0]),
            upstream: When::read(row[1]),
            preview: When::read(row[2]),
            general: When::read(row[3]),
            community_until: end(row[4]),
            lts_until: end(row[5]),
        })
        .collect()
}

fn version(text: &str) -> (u16, u16) {
    let number = |text: &str| text.parse().expect("versions are two numbers");
    let (major, minor) = text.split_once('.').expect("versions have a dot");
    (number(major), number(minor))
}

/// All minors of the calendar, ascending.
pub fn minors() -> &'static [Minor] {
    &MINORS
}

fn minor(version: KubernetesVersion) -> Option<&'static Minor> {
    MINORS.iter().find(|minor| minor.version == (version.major, version.minor))
}

/// The first instant at which this version's minor is out of community support; `None`: the table
/// does not name it, so it is supported (R-I12).
pub fn community_support_ends(version: KubernetesVersion) -> Option<Timestamp> {
    minor(version)?.community_until
}

/// The first instant at which this version's minor is out of long-term support; `None` when the
/// table names no such end: minors before 1.27 had no long-term support, minors that the table
/// does not name are supported (R-I12).
pub fn lts_ends(version: KubernetesVersion) -> Option<Timestamp> {
    minor(version)?.lts_until
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(version: &str) -> (Option<String>, Option<String>) {
        let version = version.parse().unwrap();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        (text(community_support_ends(version)), text(lts_ends(version)))
    }

    #[test]
    fn r_i12_support_lasts_through_the_month_or_day_that_is_named() {
        assert_eq!(
            ends("1.33.3"),
            (Some("2026-08-01T00:00:00Z".into()), Some("2027-08-01T00:00:00Z".into()))
        );
        assert_eq!(
            ends("1.30.0"),
            (Some("2025-08-23T00:00:00Z".into()), Some("2026-08-01T00:00:00Z".into()))
        );
        assert_eq!(ends("1.22.6"), (Some("2023-01-01T00:00:00Z".into()), None));
    }

    #[test]
    fn r_i12_the_availability_of_a_later_minor_ends_support() {
        assert_eq!(ends("1.18.1"), (Some("2021-08-19T00:00:00Z".into()), None));
        assert_eq!(ends("1.14.0"), (Some("2020-08-01T00:00:00Z".into()), None));
    }

    #[test]
    fn r_i12_a_version_that_is_not_named_is_supported() {
        assert_eq!(ends("1.99.0"), (None, None));
        assert_eq!(ends("2.33.0"), (None, None));
        assert_eq!(minors().len(), 24);
        assert!(minors().is_sorted_by(|a, b| a.version < b.version));
    }

    #[test]
    fn w2_months_are_counted_over_the_turn_of_the_year() {
        let december = When::read("2026-12");
        assert_eq!(december.first().to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(december.end().to_string(), "2027-01-01T00:00:00Z");
        let When::Month(month) = december else { panic!("no month") };
        assert_eq!(month.plus(14).first().to_string(), "2028-02-01T00:00:00Z");
        assert_eq!(When::read("2024-02-29").end().to_string(), "2024-03-01T00:00:00Z");
    }
}
