//! The regions: their names, clocks, and place in the rollout of node images.
//!
//! Owns the table in `data/regions.csv`. Orders and ranks are those of the public release tracker
//! in 2026 (measured), where two regions have one rank by name (ours); time zones and their
//! offsets are those of the IANA database. Does not own how long a rollout takes from order to
//! order (`sim::releases`).

use std::sync::LazyLock;

use jiff::tz::TimeZone;

use crate::calendar::UtcOffset;
use crate::time::Timestamp;

/// A region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Programmatic name: `westeurope`.
    pub name: &'static str,
    /// Display name: `West Europe`.
    pub display: &'static str,
    /// Order in the rollouts of 2026, 1 to 9; 0 for the two EUAP regions, which the tracker does
    /// not show.
    pub order: u8,
    /// Place inside its order, from 1, distinct; 0 where no order inside is known (0, 7, 8, 9).
    pub rank: u8,
    /// UTC offset in January.
    pub january: UtcOffset,
    /// UTC offset in July.
    pub july: UtcOffset,
    /// IANA time zone.
    pub zone: &'static str,
}

impl Region {
    /// The offset of its clocks at an instant, daylight saving included.
    pub fn offset_at(&self, at: Timestamp) -> UtcOffset {
        minutes(self.time_zone().to_offset(instant(at)))
    }

    /// When its clocks change after one instant and by another, and the offset from then on.
    pub fn clock_changes(
        &self,
        after: Timestamp,
        until: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, UtcOffset)> {
        let zone = self.time_zone();
        let mut now = self.offset_at(after);
        let mut last = instant(after);
        std::iter::from_fn(move || {
            loop {
                let (at, offset) = {
                    let next = zone.following(last).next()?;
                    (next.timestamp(), minutes(next.offset()))
                };
                last = at;
                let at = Timestamp::from_millis(at.as_millisecond());
                if at > until {
                    return None;
                }
                // A zone may change its name alone.
                if std::mem::replace(&mut now, offset) != offset {
                    return Some((at, offset));
                }
            }
        })
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::get(self.zone).expect("the zones of data/regions.csv are IANA's")
    }
}

/// Instants that no calendar reaches become the last or first one it does.
fn instant(at: Timestamp) -> jiff::Timestamp {
    let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    let millis = at.as_millis().clamp(first.as_millisecond(), last.as_millisecond());
    jiff::Timestamp::from_millisecond(millis).expect("clamped into the range")
}

fn minutes(offset: jiff::tz::Offset) -> UtcOffset {
    UtcOffset(i16::try_from(offset.seconds() / 60).expect("offsets are within a day or so"))
}

static REGIONS: LazyLock<Vec<Region>> =
    LazyLock::new(|| include_str!("../../data/regions.csv").lines().skip(1).map(read).collect());

fn read(line: &'static str) -> Region {
    let fields: Vec<&str> = line.split(',').collect();
    let [name, display, order, rank, january, july, zone] = fields[..] else {
        unreachable!("data/regions.csv has seven columns")
    };
    let number = |text: &str| text.parse().expect("orders and ranks are small numbers");
    Region {
        name,
        display,
        order: number(order),
        rank: number(rank),
        january: offset(january),
        july: offset(july),
        zone,
    }
}

/// Reads `+05:30`.
fn offset(text: &str) -> UtcOffset {
    let minutes = |text: &str| text.parse::<i16>().expect("offsets look like +05:30");
    let size = minutes(&text[1..3]) * 60 + minutes(&text[4..6]);
    UtcOffset(if text.starts_with('-') { -size } else { size })
}

/// All regions, by programmatic name.
pub fn all() -> &'static [Region] {
    &REGIONS
}

/// The region with this programmatic name.
pub fn find(name: &str) -> Option<&'static Region> {
    let position = all().binary_search_by(|region| region.name.cmp(name)).ok()?;
    Some(&all()[position])
}

/// The region somebody meant who wrote this: by display name, or with few letters wrong.
pub fn nearest(name: &str) -> Option<&'static Region> {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    let distance = |region: &Region| strsim::damerau_levenshtein(&plain, region.name);
    let nearest = all().iter().min_by_key(|region| distance(region))?;
    (distance(nearest) <= plain.len() / 3).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_the_table_is_whole_and_sorted() {
        assert_eq!(all().len(), 79);
        assert!(all().is_sorted_by(|a, b| a.name < b.name));
        let in_order = |order| all().iter().filter(|region| region.order == order).count();
        assert_eq!((0..=9).map(in_order).collect::<Vec<_>>(), [2, 1, 1, 1, 1, 30, 36, 1, 2, 4]);
        for order in [5, 6] {
            let mut ranks: Vec<u8> =
                all().iter().filter(|region| region.order == order).map(|r| r.rank).collect();
            ranks.sort_unstable();
            assert!(ranks.iter().zip(1..).all(|(rank, expected)| *rank == expected));
        }
    }

    #[test]
    fn w1_known_regions_have_the_orders_of_the_tracker() {
        let order = |name| find(name).unwrap().order;
        assert_eq!(order("westcentralus"), 1);
        assert_eq!(order("eastasia"), 2);
        assert_eq!(order("uksouth"), 3);
        assert_eq!(order("eastus"), 4);
        assert_eq!(order("westeurope"), 6);
        assert_eq!(order("usgovtexas"), 7);
        assert_eq!(order("chinanorth2"), 9);
        assert_eq!(find("westeurope").unwrap().display, "West Europe");
        assert!(find("atlantis").is_none());
    }

    #[test]
    fn offsets_keep_their_sign_and_half_hours() {
        assert_eq!(find("centralindia").unwrap().july, UtcOffset(330));
        assert_eq!(find("eastus").unwrap().january, UtcOffset(-300));
        assert_eq!(find("eastus").unwrap().july, UtcOffset(-240));
        assert_eq!(find("uksouth").unwrap().january, UtcOffset(0));
    }

    #[test]
    fn the_offsets_of_the_table_are_those_of_the_time_zones() {
        for region in all() {
            let at = |text: &str| region.offset_at(text.parse().unwrap());
            assert_eq!(at("2026-01-15T12:00:00Z"), region.january, "{}", region.name);
            assert_eq!(at("2026-07-15T12:00:00Z"), region.july, "{}", region.name);
        }
    }

    #[test]
    fn clocks_change_on_known_days() {
        let changes = |name: &str, from: &str, to: &str| -> Vec<String> {
            let changes =
                find(name).unwrap().clock_changes(from.parse().unwrap(), to.parse().unwrap());
            changes.map(|(at, offset)| format!("{at} {offset}")).collect()
        };
        let (from, to) = ("2026-03-02T00:00:00Z", "2026-12-31T00:00:00Z");
        assert_eq!(
            changes("westeurope", from, to),
            ["2026-03-29T01:00:00Z +02:00", "2026-10-25T01:00:00Z +01:00"]
        );
        assert_eq!(
            changes("eastus", from, to),
            ["2026-03-08T07:00:00Z -04:00", "2026-11-01T06:00:00Z -05:00"]
        );
        assert!(changes("centralindia", from, to).is_empty());
        assert_eq!(changes("westeurope", "2026-03-29T01:00:00Z", "2026-06-01").len(), 0);
        assert_eq!(changes("westeurope", from, "2026-03-29T01:00:00Z").len(), 1);
    }

    #[test]
    fn the_nearest_region_is_the_one_that_was_meant() {
        let meant = |name| nearest(name).map(|region| region.name);
        assert_eq!(meant("West Europe"), Some("westeurope"));
        assert_eq!(meant("east-us-2"), Some("eastus2"));
        assert_eq!(meant("westeurpoe"), Some("westeurope"));
        assert_eq!(meant("atlantis"), None);
        assert_eq!(meant(""), None);
    }
}
