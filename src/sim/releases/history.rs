//! What is on record: when releases of the past reached each region (W2).
//!
//! Owns `data/node-image-history.csv` and `data/aks-release-history.csv` and what they mean for a
//! fleet. A replay draws nothing. Instants are as recorded; where the record is silent, this holds:
//!
//! - One rollout of node images serves all Linux families; no rollout of a Windows image is on
//!   record, so none arrives.
//! - The tracker shows a region's current image and the three before. An image older than all that
//!   a region shows was there before them: it counts as arrived the usual time of the region's
//!   order after its date ([`USUAL_DAYS`]), but not after the first it shows, nor after its first
//!   arrival on record anywhere. One that is newer than another that the region shows, and is not
//!   shown, passed the region by.
//! - The two EUAP regions, and regions of US Government and China that the record lacks, follow
//!   the first region of their order that it has.
//! - Kubernetes versions arrive with the AKS release that brought them: as recorded, else after
//!   the usual time of the model.

use std::sync::LazyLock;

use super::kubernetes::Kubernetes;
use super::train::families_of;
use super::{Arrivals, Release, Wants};
use crate::fleet::{ImageVersion, NodeImage, OsType, regions, rows};
use crate::ids::RegionId;
use crate::scheduler::Released;
use crate::sim::model::Setting;
use crate::time::{Span, Timestamp};

/// How long after its date an image reaches orders 1 to 9, in days (measured; orders 7 to 9: after
/// order 1, thin).
pub const USUAL_DAYS: [f64; 9] = [7.0, 7.4, 8.6, 9.7, 13.8, 16.6, 18.4, 18.8, 15.6];

/// A table of instants: rows are regions, columns releases.
struct Table {
    /// What the columns are called.
    columns: Vec<&'static str>,
    rows: Vec<(&'static str, Vec<Option<Timestamp>>)>,
}

static IMAGES: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_str!("../../../data/node-image-history.csv")));
static AKS_RELEASES: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_str!("../../../data/aks-release-history.csv")));

impl Table {
    fn read(table: &'static str) -> Self {
        let header = table.lines().find(|line| !line.starts_with('#')).expect("tables have heads");
        let instant = |text: &str| {
            (!text.is_empty()).then(|| text.parse().expect("cells are instants or empty"))
        };
        let row = |line: &'static str| {
            let (region, cells) = line.split_once(',').expect("rows have cells");
            (region, cells.split(',').map(instant).collect())
        };
        Self { columns: header.split(',').skip(1).collect(), rows: rows(table).map(row).collect() }
    }

    /// The row of a region, or of the one that stands for it.
    fn of(&self, name: &str) -> Option<&[Option<Timestamp>]> {
        let find = |name: &str| self.rows.iter().find(|(region, _)| *region == name);
        let order = |name: &str| regions::find(name).map(|region| region.order);
        let row = find(name).or_else(|| {
            let order = order(name).filter(|order| [0, 7, 8, 9].contains(order))?.max(1);
            let known = |(region, _): &&(&str, Vec<_>)| regions::find(region);
            self.rows.iter().find(|row| known(row).is_some_and(|other| other.order == order))
        });
        row.map(|(_, cells)| cells.as_slice())
    }

    fn instants(&self) -> impl Iterator<Item = Timestamp> {
        self.rows.iter().flat_map(|(_, cells)| cells.iter().flatten().copied())
    }
}

/// From when to when node images are on record: from the date of the first version with a record
/// to the last arrival.
pub fn of_images() -> (Timestamp, Timestamp) {
    let table = &*IMAGES;
    let has_record = |column: &usize| table.rows.iter().any(|(_, cells)| cells[*column].is_some());
    let first = (0..table.columns.len()).find(has_record).expect("the record is not empty");
    let last = table.instants().max().expect("the record is not empty");
    (dated(table.columns[first]), last)
}

/// From when to when AKS releases are on record, era by era.
pub fn of_aks_releases() -> [(Timestamp, Timestamp); 2] {
    let table = &*AKS_RELEASES;
    let day =
        |column: &usize| -> Timestamp { table.columns[*column].parse().expect("columns are days") };
    let recent = super::kubernetes::PACE_OF_2026;
    [false, true].map(|late| {
        let columns = || (0..table.columns.len()).filter(|column| (day(column) >= recent) == late);
        let last = table.rows.iter().flat_map(|(_, cells)| columns().filter_map(|c| cells[c]));
        let first = columns().map(|column| day(&column)).min();
        (first.expect("both eras are on record"), last.max().expect("both eras are on record"))
    })
}

/// The date that an image version is named after.
fn dated(version: &str) -> Timestamp {
    let (year, month, day) = (&version[..4], &version[4..6], &version[7..9]);
    format!("{year}-{month}-{day}").parse().expect("versions on record are named after a day")
}

/// When a version on record (its column) reaches a region.
fn reaches(table: &Table, column: usize, name: &str) -> Option<Timestamp> {
    let cells = table.of(name)?;
    if cells[column].is_some() {
        return cells[column];
    }
    let first = cells.iter().position(Option::is_some)?;
    if column > first {
        return None;
    }
    let order = usize::from(regions::find(name)?.order.max(1));
    #[expect(clippy::cast_possible_truncation, reason = "some days in milliseconds")]
    let usual = Span::from_millis((USUAL_DAYS[order - 1] * 86_400_000.0) as i64);
    let anywhere = table.rows.iter().filter_map(|(_, cells)| cells[column]).min();
    let usual = dated(table.columns[column]) + usual;
    [Some(usual), cells[first], anywhere].into_iter().flatten().min()
}

/// What arrives in a setting's regions up to an instant.
pub(super) fn replay(setting: Setting<'_>, until: Timestamp, wants: Wants) -> Arrivals {
    let (mut arrivals, table) = (Arrivals::default(), &*IMAGES);
    let end = until.min(setting.start + setting.horizon);
    let regions = &setting.fleet.regions;
    arrivals.clear(regions.len());
    for (family, os) in families_of(setting) {
        let columns = if os == OsType::Linux { table.columns.len() } else { 0 };
        for column in 0..columns {
            let text = table.columns[column];
            let version: ImageVersion = text.parse().expect("columns are versions");
            let published = table.rows.iter().filter_map(|(name, _)| reaches(table, column, name));
            let release = Release {
                what: Released::NodeImage(NodeImage { family, version }),
                published: published.min().expect("every version on record arrives somewhere"),
                withdrawn: Timestamp::MAX,
                lifecycle: None,
            };
            let at = |name: &String| reaches(table, column, name).unwrap_or(Timestamp::MAX);
            arrivals.push(release, regions.iter().map(at), end);
        }
    }
    let target = setting.update.upgrade.kubernetes_version();
    if wants.kubernetes || target.is_some() {
        let only = target.filter(|_| !wants.kubernetes);
        let kubernetes = Kubernetes::new(regions, setting.start, end, only);
        let table = &*AKS_RELEASES;
        let day = |column: &&str| -> Timestamp { column.parse().expect("columns are days") };
        let columns: Vec<Timestamp> = table.columns.iter().map(day).collect();
        kubernetes.replay(&mut arrivals, |date, region: RegionId| {
            let column = columns.binary_search(&date).ok()?;
            let row = table.rows.iter().find(|(name, _)| *name == regions[region])?;
            row.1[column]
        });
    }
    arrivals.finish(wants, end);
    arrivals
}
