//! What is where in a replication: releases that have come, regions that are out.

use super::{OUTAGE, Truth, World};
use crate::fleet::{ImageVersion, NodeImage, PoolImage};
use crate::ids::{FamilyId, MemberId, RegionId};
use crate::scheduler::{FailureCode, NodeImageSelection, Released, Scheduler, Support};
use crate::sim::delay::{Stretch, Targets};
use crate::sim::releases::{Arrivals, Lifecycle};
use crate::time::{Span, Timestamp};

impl Truth {
    /// The releases of this replication.
    pub(in crate::sim) fn arrivals<'a>(&'a self, world: &'a World<'_>) -> &'a Arrivals {
        world.releases.fixed().unwrap_or(&self.arrivals)
    }

    /// Until when the update's Kubernetes version is supported (U7, R-I12).
    pub(super) fn support(&self, world: &World<'_>) -> Support {
        let Some(target) = world.setting.update.upgrade.kubernetes_version() else {
            return Support::default();
        };
        let arrivals = self.arrivals(world);
        let release = arrivals.find(Released::Kubernetes(target));
        let life = release.and_then(|release| arrivals.releases[release as usize].lifecycle);
        life.unwrap_or_else(|| Lifecycle::of(target)).support()
    }

    pub(super) fn arrival(
        &self,
        world: &World<'_>,
        number: usize,
    ) -> Option<(Timestamp, Released, RegionId)> {
        let arrivals = self.arrivals(world);
        let arrival = arrivals.arrivals.get(number)?;
        let what = arrivals.releases[arrival.release as usize].what;
        Some((arrival.at, what, arrival.region))
    }

    /// What has arrived where by now.
    pub(in crate::sim) fn arrived<'a>(
        &'a self,
        world: &'a World<'_>,
    ) -> impl Iterator<Item = (Timestamp, Released, RegionId)> + 'a {
        let all = (0..self.next_arrival).filter_map(|number| self.arrival(world, number));
        self.as_they_came(all)
    }

    /// All arrivals of the replication, by time; those that a halt held back when they came.
    pub(in crate::sim) fn all_arrivals<'a>(
        &'a self,
        world: &'a World<'_>,
    ) -> impl Iterator<Item = (Timestamp, Released, RegionId)> + 'a {
        self.as_they_came((0..).map_while(|number| self.arrival(world, number)))
    }

    /// Arrivals that a halt held back when they came, if they did.
    fn as_they_came<'a>(
        &'a self,
        arrivals: impl Iterator<Item = (Timestamp, Released, RegionId)> + 'a,
    ) -> impl Iterator<Item = (Timestamp, Released, RegionId)> + 'a {
        arrivals.filter_map(|(at, what, region)| match &self.defects {
            Some(defects) => Some((defects.came((at, what, region))?, what, region)),
            None => Some((at, what, region)),
        })
    }

    /// What a pool of the fleet ran at the start.
    pub(in crate::sim) fn ran(
        &self,
        world: &World<'_>,
        family: FamilyId,
        region: RegionId,
        image: PoolImage,
    ) -> ImageVersion {
        match image {
            PoolImage::Exactly(image) => image.version,
            PoolImage::Behind { versions, .. } => {
                let newest =
                    self.arrivals(world).newest_at(family, region, world.start(), versions);
                newest.unwrap_or(ImageVersion::OLDEST)
            }
        }
    }

    /// What an outage of its region makes of an update that begins now (W3).
    pub(in crate::sim) fn outage(
        &self,
        world: &World<'_>,
        now: Timestamp,
        member: MemberId,
        takes: Span,
        code: Option<FailureCode>,
    ) -> (Span, Option<FailureCode>) {
        if world.outages.is_none() {
            return (takes, code);
        }
        let region = world.setting.fleet.members[member].region;
        match self.outages.through(region, now, takes, OUTAGE) {
            Ok(takes) => (takes, code),
            Err((takes, outage)) => (takes, Some(outage)),
        }
    }

    /// When a member's region had an outage.
    pub(in crate::sim) fn outages_of(
        &self,
        world: &World<'_>,
        member: MemberId,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let region = world.setting.fleet.members[member].region;
        self.outages.of(region).iter().map(|outage| (outage.from, outage.to))
    }

    /// When the targets of a member's update reached its region.
    pub(in crate::sim) fn targets_of(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        member: MemberId,
    ) -> Targets {
        let (plan, facts) = (scheduler.plan(), &world.setting.fleet.members[member]);
        let arrivals = self.arrivals(world);
        let there = |what: Released| {
            let found = self
                .all_arrivals(world)
                .find(|(_, released, region)| *released == what && *region == facts.region);
            let release = arrivals.find(what);
            let lost = release.map(|number| arrivals.releases[number as usize].withdrawn);
            let never = Timestamp::MAX;
            Stretch { from: found.map_or(never, |(at, _, _)| at), to: lost.unwrap_or(never) }
        };
        let waits = scheduler.member_completed(member).is_none();
        let families = |target: &NodeImage| {
            // The update brought nothing to a pool that came when it was in flight, or later.
            let of_fleet = facts.pools.len();
            let mut pools = scheduler.images(member).enumerate();
            pools.any(|(position, image)| {
                let is_in = waits || position < of_fleet || image.version >= target.version;
                image.family == target.family && is_in
            })
        };
        let latest = plan.update.node_images == NodeImageSelection::Latest;
        let images = scheduler.target_images().filter(|_| !latest).filter(families);
        Targets {
            image: images.map(|image| there(Released::NodeImage(image))).reduce(Stretch::overlap),
            version: plan
                .update
                .upgrade
                .kubernetes_version()
                .map(|version| there(Released::Kubernetes(version))),
        }
    }
}
