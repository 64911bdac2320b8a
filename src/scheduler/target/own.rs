//! What members bring themselves to (U10): the newest images of their regions.

use crate::fleet::ImageVersion;
use crate::ids::{MemberId, RegionId};
use crate::scheduler::target::kinds::ObservedPool;
use crate::scheduler::target::{Observed, bring};

impl Observed {
    /// Whether the region has an image that is newer than that of one of a member's pools.
    pub(in crate::scheduler) fn has_newer_images(&self, id: MemberId, region: RegionId) -> bool {
        self.pools_of(id).iter().any(|pool| self.newer_for(pool, region).is_some())
    }

    /// Plans the newest images of the region for a member's pools; says whether any is newer.
    pub(in crate::scheduler) fn begin_newest_images(
        &mut self,
        id: MemberId,
        region: RegionId,
    ) -> bool {
        let (mut kinds, now) = (std::mem::take(&mut self.kinds), self.runs[id].now);
        let then = kinds.changed(now, |_, pools| bring(pools, |pool| self.newer_for(pool, region)));
        (self.kinds, self.runs[id].then) = (kinds, then);
        then != now
    }

    fn newer_for(&self, pool: &ObservedPool, region: RegionId) -> Option<ImageVersion> {
        let newest = self.newest_of(pool.family, region).map(|newest| newest.version);
        newest.filter(|newest| *newest > pool.version && !pool.from_snapshot)
    }

    /// A member's pools stay at what they run.
    pub(in crate::scheduler) fn cancel_images(&mut self, id: MemberId) {
        self.runs[id].then = self.runs[id].now;
    }

    /// Whether a member's cluster is stopped.
    pub(in crate::scheduler) fn is_stopped(&self, id: MemberId) -> bool {
        self.kinds.facts(self.runs[id].now).stopped
    }

    /// A member's pools run what was planned for them.
    pub(in crate::scheduler) fn end_images(&mut self, id: MemberId) {
        self.complete(id);
    }
}
