//! How long Kubernetes minors are supported (U7, R-I12).
//!
//! Owns the calendar in `data/kubernetes-support.csv`: for every minor its general availability,
//! the end of community support and the end of long-term support, as AKS published them (later
//! minors as planned). Dates there are days or months; support lasts *through* the day or month
//! that is named (ours), so it ends at the first instant, in UTC, of the next. Where the
//! publication names another minor's general availability (`1.21 GA`), it ends with that minor's
//! day or month.

use std::sync::LazyLock;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::KubernetesVersion;
use crate::time::Timestamp;

struct Minor {
    /// Major and minor.
    version: (u16, u16),
    community: Option<Timestamp>,
    lts: Option<Timestamp>,
}

static MINORS: LazyLock<Vec<Minor>> =
    LazyLock::new(|| read(include_str!("../../data/kubernetes-support.csv")));

fn read(table: &str) -> Vec<Minor> {
    let rows: Vec<[&str; 4]> = table
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            fields.try_into().expect("data/kubernetes-support.csv has four columns")
        })
        .collect();
    let available = |minor: &str| {
        let row = rows.iter().find(|row| row[0] == minor);
        row.expect("a minor whose availability ends another's support is in the table")[1]
    };
    let end = |text: &str| match text.strip_suffix(" GA") {
        Some(minor) => after(available(minor)),
        None => after(text),
    };
    rows.iter()
        .map(|row| Minor { version: version(row[0]), community: end(row[2]), lts: end(row[3]) })
        .collect()
}

fn version(text: &str) -> (u16, u16) {
    let number = |text: &str| text.parse().expect("versions are two numbers");
    let (major, minor) = text.split_once('.').expect("versions have a dot");
    (number(major), number(minor))
}

/// The first instant after a day (`2025-08-22`) or a month (`2025-08`); none for no date.
fn after(text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return None;
    }
    let (day, length) = match text.len() {
        7 => (format!("{text}-01"), 1.month()),
        _ => (text.to_owned(), 1.day()),
    };
    let day: Date = day.parse().expect("dates are written as 2025-08-22 or 2025-08");
    Some((day + length).to_string().parse().expect("a date is an instant"))
}

fn minor(version: KubernetesVersion) -> Option<&'static Minor> {
    MINORS.iter().find(|minor| minor.version == (version.major, version.minor))
}

/// The first instant at which this version's minor is out of community support; `None`: the table
/// does not name it, so it is supported (R-I12).
pub fn community_support_ends(version: KubernetesVersion) -> Option<Timestamp> {
    minor(version)?.community
}

/// The first instant at which this version's minor is out of long-term support; `None` when the
/// table names no such end: minors before 1.27 had no long-term support, minors that the table
/// does not name are supported (R-I12).
pub fn lts_ends(version: KubernetesVersion) -> Option<Timestamp> {
    minor(version)?.lts
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
        assert_eq!(MINORS.len(), 24);
    }
}
