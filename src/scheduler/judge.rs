//! Judging: Running or Pending, once an instant is over (R-A3, R-C2 to R-C6).

use crate::ids::{GroupId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::{Log, Node, State};

impl Scheduler<'_> {
    /// Judges Running and Pending once an instant is over (R-A3): groups, then stage, then run.
    #[inline]
    pub(super) fn judge(&mut self, log: &mut impl Log) {
        if std::mem::take(&mut self.judge_wanted) {
            self.judge_all(log);
        }
    }

    #[inline(never)]
    fn judge_all(&mut self, log: &mut impl Log) {
        if self.halted() || self.run_has_ended() {
            return;
        }
        let id = StageId(self.run.current);
        for group in ids::<GroupId>(&self.plan.stages[id].groups) {
            if let Some(judged) = self.judged_group(group)
                && (judged != self.groups[group].state || self.groups[group].reopened)
            {
                self.go(Node::Group(group), judged, None, None, log);
            }
        }
        let judged = self.judged_stage(id);
        if judged != self.stages[id].state || self.stages[id].reopened {
            self.go(Node::Stage(id), judged, None, None, log);
        }
        if judged != self.run.state {
            self.go(Node::Run, judged, None, None, log);
        }
    }

    /// Whether judging would change anything.
    pub(super) fn judges_differently(&self) -> bool {
        if self.halted() || self.run_has_ended() {
            return false;
        }
        let id = StageId(self.run.current);
        let judged = self.judged_stage(id);
        let stage = &self.stages[id];
        let differs = |id: GroupId| {
            let group = &self.groups[id];
            self.judged_group(id).is_some_and(|judged| judged != group.state || group.reopened)
        };
        judged != stage.state
            || stage.reopened
            || judged != self.run.state
            || ids::<GroupId>(&self.plan.stages[id].groups).any(differs)
    }

    /// Running or Pending, for a group that has begun and not ended (R-C2, R-C3, R-C5).
    pub(super) fn judged_group(&self, id: GroupId) -> Option<State> {
        let group = &self.groups[id];
        match group.phase {
            Phase::NotReached | Phase::Ended => None,
            Phase::BeforeGates | Phase::AfterGates => Some(State::Pending),
            Phase::Members if group.in_flight > 0 => Some(State::Running),
            Phase::Members => Some(State::Pending),
        }
    }

    /// Running or Pending, for the current stage (R-C2, R-C4, R-C5, R-C6).
    pub(super) fn judged_stage(&self, id: StageId) -> State {
        let stage = &self.stages[id];
        let gates = &self.plan.stages[id].after_gates;
        match stage.phase {
            Phase::Members if stage.in_flight > 0 => State::Running,
            Phase::AfterGates if self.are_done(gates) => State::Running,
            Phase::NotReached
            | Phase::BeforeGates
            | Phase::Members
            | Phase::AfterGates
            | Phase::Ended => State::Pending,
        }
    }
}
