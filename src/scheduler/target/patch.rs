//! Security patches (A2): whom they take, and what they make of pools.

use crate::fleet::SecurityPatch;
use crate::ids::{KindId, MemberId};
use crate::scheduler::Reason;
use crate::scheduler::plan::Plan;
use crate::scheduler::target::kinds::Runs;
use crate::scheduler::target::{Observed, Trial};
use crate::time::Timestamp;

impl Observed {
    /// The trial of a kind's members in the run of a security patch (A2): Windows pools are left
    /// alone, and a pool whose image is of the patch's day or later has it.
    pub(super) fn try_patch(
        &self,
        plan: &Plan<'_>,
        kind: KindId,
        patch: SecurityPatch,
        now: Timestamp,
    ) -> Trial {
        let (facts, pools) = (self.kinds.facts(kind), self.kinds.pools(kind));
        if !pools.iter().any(|pool| pool.lacks(patch)) {
            return Trial::Skipped(Reason::AlreadyAtTarget);
        }
        if let Some(refused) = self.refuse(plan, facts, now) {
            return refused;
        }
        if !self.patch_regions.contains(facts.region.0) {
            return Trial::Pending(Reason::NodeImageVersionNotAvailable);
        }
        Trial::Start
    }

    /// What a security patch makes of a kind's members.
    pub(super) fn patched(&mut self, kind: KindId, patch: SecurityPatch) -> KindId {
        self.kinds.changed(kind, |_, pools| {
            for pool in pools.iter_mut().filter(|pool| pool.lacks(patch)) {
                pool.patch = Some(patch);
            }
        })
    }

    /// Whether a running update brings a security patch, by pool.
    pub(in crate::scheduler) fn patches_of(&self, id: MemberId) -> impl Iterator<Item = bool> + '_ {
        let Runs { now, then } = self.runs[id];
        let (now, then) = (self.kinds.pools(now), self.kinds.pools(then));
        now.iter().zip(then).map(|(now, then)| now.patch != then.patch)
    }

    /// The last security patch of each of a member's pools, beside its image.
    pub(in crate::scheduler) fn security_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = Option<SecurityPatch>> + '_ {
        self.pools_of(id).iter().map(|pool| pool.patch)
    }

    /// Which of a member's pools lack a security patch.
    pub(in crate::scheduler) fn lacks(
        &self,
        id: MemberId,
        patch: SecurityPatch,
    ) -> impl Iterator<Item = bool> + '_ {
        self.pools_of(id).iter().map(move |pool| pool.lacks(patch))
    }

    /// The security patch that the run brings.
    pub(in crate::scheduler) fn patch(&self) -> Option<SecurityPatch> {
        self.patch
    }
}
