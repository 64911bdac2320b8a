//! What to expect of releases: when one reaches each region, over a number of replications.

use super::{Arrivals, Releases, Wants};
use crate::ids::{Column, RegionId};
use crate::scheduler::Released;
use crate::sim::draw::Luck;
use crate::sim::model::Setting;
use crate::time::Timestamp;

/// So many replications are drawn, the first ones of the scenario's seed.
pub const REPLICATIONS: u32 = 200;

/// When one release reaches each region.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Instants, ascending; never, or after the horizon: [`Timestamp::MAX`].
    reached: Column<RegionId, Vec<Timestamp>>,
}

impl Forecast {
    /// The forecast for a release in a setting.
    pub fn of(setting: Setting<'_>, what: Released) -> Self {
        let releases = Releases::new(setting, Wants::default());
        let luck = Luck::new(setting.seed);
        let regions = &setting.fleet.regions;
        let mut reached: Column<RegionId, Vec<Timestamp>> =
            regions.iter().map(|_| vec![]).collect();
        let mut drawn = Arrivals::default();
        let replications = if releases.fixed().is_some() { 1 } else { REPLICATIONS };
        for replication in 0..replications {
            releases.draw(&luck, replication, &mut drawn);
            let arrivals = releases.fixed().unwrap_or(&drawn);
            let release = arrivals.find(what);
            for region in regions.ids() {
                let at = release.and_then(|release| arrivals.reached(release, region));
                reached[region].push(at.unwrap_or(Timestamp::MAX));
            }
        }
        reached.iter_mut().for_each(|instants| instants.sort_unstable());
        Self { reached }
    }

    /// The instant by which the release has reached a region in this share of the replications;
    /// `None`: not before the horizon.
    pub fn at(&self, region: RegionId, percent: usize) -> Option<Timestamp> {
        let instants = &self.reached[region];
        let at = instants[(instants.len() - 1) * percent / 100];
        (at < Timestamp::MAX).then_some(at)
    }

    /// In what share of the replications it reaches a region by an instant.
    pub fn by(&self, region: RegionId, at: Timestamp) -> f64 {
        let instants = &self.reached[region];
        let number = |count: usize| f64::from(u32::try_from(count).expect("replications are few"));
        number(instants.partition_point(|other| *other <= at)) / number(instants.len())
    }
}
