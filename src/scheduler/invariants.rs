//! What must hold after every step, whatever happened. O(members); called by tests.

use crate::ids::{GroupId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::{Node, State};

impl Scheduler<'_> {
    /// Checks that counts agree with states, that no limit is passed, and that the tree of states
    /// is consistent.
    ///
    /// # Panics
    /// If anything does not hold; that is a fault of the scheduler.
    pub fn check_invariants(&self) {
        let mut in_flight = 0;
        for id in self.plan.stages.ids() {
            self.check_stage(id);
            in_flight += self.stages[id].in_flight;
        }
        assert_eq!(self.run.in_flight, in_flight, "the run's updates are its stages'");
        let pending: u32 = self.groups.iter().map(|group| group.pending_members).sum();
        assert_eq!(self.run.pending_members, pending, "the run's Pending members are its groups'");
        let failures: u32 = self.stages.iter().map(|stage| stage.failure_count).sum();
        assert_eq!(self.run.failure_count, failures, "failures are counted at every level (L5)");
        if matches!(self.run.state, State::Completed | State::Skipped | State::Stopped) {
            assert_eq!(in_flight, 0, "a {} run has nothing in flight", self.run.state);
        }
        assert!(
            self.run.state != State::Failed || in_flight == 0,
            "a run is Stopping, not Failed, while updates are in flight (T4)"
        );
        self.check_times();
    }

    fn check_stage(&self, id: StageId) {
        let (plan, stage) = (&self.plan.stages[id], &self.stages[id]);
        let (mut in_flight, mut failures) = (0, 0);
        for group in ids::<GroupId>(&plan.groups) {
            self.check_group(group);
            in_flight += self.groups[group].in_flight;
            failures += self.groups[group].failure_count;
        }
        assert_eq!(stage.in_flight, in_flight, "{}: updates are its groups'", plan.name);
        assert_eq!(stage.failure_count, failures, "{}: failures are its groups'", plan.name);
        assert!(in_flight <= stage.limits.max_concurrency, "{}: over its limit (L3)", plan.name);
        let current = id.0.cmp(&self.run.current);
        match current {
            std::cmp::Ordering::Less => {
                assert_eq!(stage.phase, Phase::Ended, "{}: stages end in order", plan.name);
            }
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                let untouched = stage.phase == Phase::NotReached || stage.skipped;
                assert!(untouched, "{}: stages begin in order", plan.name);
            }
        }
    }

    fn check_group(&self, id: GroupId) {
        let (plan, group) = (&self.plan.groups[id], &self.groups[id]);
        let count = |wanted: State| {
            self.members_of(id).filter(|id| self.members[*id].state() == wanted).count()
        };
        assert_eq!(group.in_flight as usize, count(State::Running), "{}: in flight", plan.name);
        assert_eq!(group.pending_members as usize, count(State::Pending), "{}", plan.name);
        assert_eq!(group.skipped_members as usize, count(State::Skipped), "{}", plan.name);
        let open = count(State::NotStarted) + count(State::Pending) + count(State::Running);
        assert_eq!(group.open_members as usize, open, "{}: open members", plan.name);
        let most = group.limits.max_concurrency;
        assert!(group.in_flight <= most, "{}: over its limit (L3)", plan.name);
        for (position, member) in (0..).zip(&plan.members) {
            let ready =
                group.phase == Phase::Members && self.candidates[id].contains(plan, position);
            let state = self.members[*member].state();
            let may_be_tried = matches!(state, State::NotStarted | State::Pending);
            assert!(!ready || may_be_tried, "{member:?} is {state} and a candidate");
            let untried = state == State::NotStarted && group.phase == Phase::Members;
            assert!(!untried || ready, "{member:?} is not tried and no candidate");
        }
        if group.state == State::Completed {
            assert!(
                self.are_done(&plan.after_gates),
                "{}: Completed behind its gates (G3)",
                plan.name
            );
        }
    }

    /// T11 and R-C13: a node has a startTime once it has left `NotStarted`, and a completedTime in
    /// a final state only.
    fn check_times(&self) {
        let members = self.plan.groups.iter().flat_map(|group| &group.members).copied();
        let nodes = std::iter::once(Node::Run)
            .chain(self.plan.stages.ids().map(Node::Stage))
            .chain(self.plan.groups.ids().map(Node::Group))
            .chain(members.map(Node::Member))
            .chain(self.plan.gates.ids().map(Node::Gate))
            .chain(self.plan.stages.ids().map(Node::Wait));
        for node in nodes {
            let (state, times, reopened) = match node {
                Node::Run => (self.run.state, self.run.times, false),
                Node::Stage(id) => {
                    (self.stages[id].state, self.stages[id].times, self.stages[id].reopened)
                }
                Node::Group(id) => {
                    (self.groups[id].state, self.groups[id].times, self.groups[id].reopened)
                }
                Node::Member(id) => {
                    let member = self.member(id);
                    (member.state, member.times, false)
                }
                Node::Gate(id) => (self.gates[id].state, self.gates[id].times, false),
                Node::Wait(id) => (self.waits[id].state, self.waits[id].times, false),
            };
            let begun = state != State::NotStarted;
            assert_eq!(times.started.is_some(), begun, "{node:?} is {state}: startTime");
            let ended = state.is_ended() && !reopened;
            assert_eq!(times.completed.is_some(), ended, "{node:?} is {state}: completedTime");
        }
    }
}
