//! Updates in flight: of which kind a member becomes.

use super::kinds::{ObservedPool, Outlook, Runs};
use super::{Observed, Trial};
use crate::fleet::ImageVersion;
use crate::ids::{KindId, MemberId};
use crate::scheduler::Upgrade;
use crate::time::Timestamp;

impl Observed {
    /// Fixes what the update of a member will do that was just tried (R-I6: a member in flight
    /// keeps its plan).
    #[inline]
    pub(in crate::scheduler) fn start(&mut self, id: MemberId) {
        let runs = &mut self.runs[id];
        let Outlook { epoch, next, .. } = self.kinds.outlook(runs.now);
        assert!(epoch == self.epoch, "{id:?} starts without a trial");
        runs.then = next;
    }

    /// The same for a member that is of this kind, of which all are known to start
    /// ([`Self::starts`]); says whether it is.
    #[inline]
    pub(in crate::scheduler) fn start_as(
        &mut self,
        id: MemberId,
        kind: KindId,
        next: KindId,
    ) -> bool {
        let runs = &mut self.runs[id];
        let is_of = runs.now == kind;
        if is_of {
            runs.then = next;
        }
        is_of
    }

    /// Of which kind a member is, if it is known at this instant that a trial starts the update of
    /// all that are; what it makes of them; and until when that holds if nothing happens.
    pub(in crate::scheduler) fn starts(
        &self,
        id: MemberId,
        at: Timestamp,
    ) -> Option<(KindId, KindId, Timestamp)> {
        let kind = self.runs[id].now;
        let Outlook { epoch, trial, next } = self.kinds.outlook(kind);
        let starts = epoch == self.epoch && at < self.epoch_ends && trial == Trial::Start;
        starts.then_some((kind, next, self.epoch_ends))
    }

    /// Carries out what a completed update has done.
    #[inline]
    pub(in crate::scheduler) fn complete(&mut self, id: MemberId) {
        let runs = &mut self.runs[id];
        runs.now = runs.then;
    }

    /// The images that a running update brings, by pool; `None` for pools left alone.
    pub(in crate::scheduler) fn planned_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = Option<ImageVersion>> + '_ {
        let Runs { now, then } = self.runs[id];
        let (now, then) = (self.kinds.pools(now), self.kinds.pools(then));
        let moved = |(now, then): (&ObservedPool, &ObservedPool)| {
            (now.version != then.version).then_some(then.version)
        };
        now.iter().zip(then).map(moved)
    }

    /// Whether a running update moves the Kubernetes version, by pool (R-I11).
    pub(in crate::scheduler) fn moves_kubernetes_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = bool> + '_ {
        let target = match self.upgrade {
            Upgrade::Full(version) => Some(version),
            Upgrade::ControlPlaneOnly(_) | Upgrade::NodeImageOnly => None,
        };
        let current = self.kubernetes_of(id);
        self.pools_of(id).iter().map(move |pool| pool.orchestrator.or(current) < target)
    }
}
