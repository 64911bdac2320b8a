//! What must hold between the runs after every step. O(members × runs); called by tests.

use crate::fleet::{KubernetesVersion, NodeImage};
use crate::ids::MemberId;
use crate::scheduler::State;
use crate::sim::Simulation;
use crate::sim::hub::{Hub, RunNo};

/// What every member ran at the last step.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// `None`: it was not in the fleet.
    before: Vec<Option<(Option<KubernetesVersion>, Vec<NodeImage>)>>,
}

impl Checks {
    pub(super) fn reset(&mut self) {
        self.before.clear();
    }
}

impl<'p> Hub<'p> {
    /// Checks that a member has one work at a time, that all runs know what it runs, and that no
    /// version goes back.
    ///
    /// # Panics
    /// If anything does not hold; that is a fault of the hub.
    pub(in crate::sim) fn check(&mut self, sim: &Simulation<'p>) {
        for run in &self.runs {
            run.scheduler.check_invariants();
        }
        for id in sim.world.setting.fleet.members.ids() {
            self.check_member(sim, id);
        }
    }

    fn check_member(&mut self, sim: &Simulation<'p>, id: MemberId) {
        let of_profiles = self.runs.iter().map(|run| &run.scheduler);
        let all = std::iter::once(&sim.scheduler).chain(of_profiles);
        let updating = all.filter(|scheduler| scheduler.member(id).state == State::Running);
        let own = usize::from(self.at_work[id] == Some(RunNo::OWN));
        let works = updating.count() + usize::from(sim.changes.is_busy(id)) + own;
        assert!(works <= 1, "{id:?}: {works} works at a time");
        let known = self.at_work[id].is_some() || sim.changes.is_busy(id);
        assert_eq!(works == 1, known, "{id:?}: at work");

        let versions = |scheduler: &crate::scheduler::Scheduler<'_>| {
            (scheduler.kubernetes_version(id), scheduler.images(id).collect::<Vec<_>>())
        };
        let now = versions(&sim.scheduler);
        for no in &self.going {
            let scheduler = self.scheduler(*no).expect("runs of profiles are going");
            assert_eq!(versions(scheduler), now, "{id:?}: all runs see the same");
        }
        let index = id.0 as usize;
        if let Some(Some((kubernetes, images))) = self.checks.before.get(index) {
            assert!(now.0 >= *kubernetes, "{id:?}: Kubernetes goes back");
            let back = images.iter().zip(&now.1).any(|(before, now)| now.version < before.version);
            assert!(!back, "{id:?}: an image goes back");
        }
        self.checks.before.resize(self.checks.before.len().max(index + 1), None);
        self.checks.before[index] = Some(now).filter(|_| sim.truth.presence.is_here(id));
    }
}
