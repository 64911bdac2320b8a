//! Skipping: by a user (T9, section E of the readings), or because nobody is left (T10, R-C17).

use std::ops::Range;

use crate::ids::{GateId, GroupId, MemberId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::{Log, Node, Reason, Refusal, SkipTarget, State};
use crate::time::Span;

impl Scheduler<'_> {
    /// A user skips one target.
    pub(super) fn skip(&mut self, target: &SkipTarget, log: &mut impl Log) -> Result<(), Refusal> {
        match target {
            SkipTarget::Member(name) => {
                let members = &self.plan.fleet.members;
                let id = members
                    .ids()
                    .find(|id| members[*id].name == *name && self.is_in_run(*id))
                    .ok_or(Refusal::UnknownName)?;
                self.user_skips_member(id, log);
            }
            SkipTarget::Group(name) => {
                let id = self.plan.groups.ids().find(|id| self.plan.groups[*id].name == *name);
                self.user_skips_group(id.ok_or(Refusal::UnknownName)?, log);
            }
            SkipTarget::Stage(name) => {
                let id = self.stage_named(name).ok_or(Refusal::UnknownName)?;
                self.user_skips_stage(id, log);
            }
            SkipTarget::AfterStageWait(name) => {
                let id = self.stage_named(name).ok_or(Refusal::UnknownName)?;
                if self.plan.stages[id].wait == Span::ZERO {
                    return Err(Refusal::NoWait);
                }
                self.skip_wait(id, log);
            }
        }
        (self.unsettled, self.judge_wanted) = (true, true);
        Ok(())
    }

    fn stage_named(&self, name: &str) -> Option<StageId> {
        self.plan.stages.ids().find(|id| self.plan.stages[*id].name == name)
    }

    /// A member in flight or ended stays as it is (R-E2, R-E3).
    fn user_skips_member(&mut self, id: MemberId, log: &mut impl Log) {
        let group = self.plan.places[id].expect("only members of the run are skipped").group;
        if !matches!(self.members[id].state(), State::NotStarted | State::Pending) {
            return;
        }
        self.withdraw(group, id);
        self.skip_member(group, id, Reason::User, log);
        if self.groups[group].phase == Phase::Members {
            self.look_now(group);
        }
    }

    /// A member leaves the fleet. If its update has not started it is Skipped; else the update ends
    /// as it would, and nobody tries the member again (R-I21).
    pub(super) fn member_leaves(&mut self, id: MemberId, log: &mut impl Log) {
        self.left.insert(id.0);
        let open = matches!(self.members[id].state(), State::NotStarted | State::Pending);
        if let Some(place) = self.plan.places[id].filter(|_| open && !self.run_has_ended()) {
            self.withdraw(place.group, id);
            self.skip_member(place.group, id, Reason::MemberLeft, log);
            (self.unsettled, self.judge_wanted) = (true, true);
        }
    }

    fn user_skips_group(&mut self, id: GroupId, log: &mut impl Log) {
        if self.groups[id].phase == Phase::Ended {
            return;
        }
        self.groups[id].skipped = true;
        for index in 0..self.plan.groups[id].members.len() {
            let member = self.plan.groups[id].members[index];
            if matches!(self.members[member].state(), State::NotStarted | State::Pending) {
                self.withdraw(id, member);
                self.skip_member(id, member, Reason::User, log);
            }
        }
        self.skip_gates_of_group(id, log);
        if self.groups[id].in_flight == 0 {
            self.skip_group(id, Reason::User, log);
        }
    }

    fn user_skips_stage(&mut self, id: StageId, log: &mut impl Log) {
        if self.stages[id].phase == Phase::Ended {
            return;
        }
        self.stages[id].skipped = true;
        let plan = &self.plan.stages[id];
        for group in ids::<GroupId>(&plan.groups) {
            self.user_skips_group(group, log);
        }
        self.skip_gates(&plan.before_gates, log);
        self.skip_gates(&plan.after_gates, log);
        self.skip_wait(id, log);
        if self.stages[id].in_flight == 0 {
            self.skip_stage(id, Reason::User, log);
        }
    }

    /// Takes a member that is not in flight out of the candidates.
    fn withdraw(&mut self, group: GroupId, id: MemberId) {
        let place = self.plan.places[id].expect("only members of the run are skipped");
        if self.groups[group].phase == Phase::Members {
            self.candidates[group].remove(&self.plan.groups[group], place.position);
        }
        self.leave_waiting(group, id);
    }

    pub(super) fn skip_member(
        &mut self,
        group: GroupId,
        id: MemberId,
        reason: Reason,
        log: &mut impl Log,
    ) {
        self.groups[group].open_members -= 1;
        self.groups[group].skipped_members += 1;
        self.go_member(id, State::Skipped, Some(reason), None, log);
    }

    /// A group ends as Skipped, with what is left of its gates (G7, R-C18).
    pub(super) fn skip_group(&mut self, id: GroupId, reason: Reason, log: &mut impl Log) {
        self.skip_gates_of_group(id, log);
        self.groups[id].phase = Phase::Ended;
        self.groups[id].error = None;
        self.judge_wanted = true;
        self.go(Node::Group(id), State::Skipped, Some(reason), None, log);
    }

    fn skip_gates_of_group(&mut self, id: GroupId, log: &mut impl Log) {
        let plan = &self.plan.groups[id];
        self.skip_gates(&plan.before_gates, log);
        self.skip_gates(&plan.after_gates, log);
    }

    /// A stage ends as Skipped, with its groups, and what is left of its gates and its wait.
    pub(super) fn skip_stage(&mut self, id: StageId, reason: Reason, log: &mut impl Log) {
        let plan = &self.plan.stages[id];
        for group in ids::<GroupId>(&plan.groups) {
            if self.groups[group].phase != Phase::Ended {
                self.skip_group(group, self.skipped_because(group), log);
            }
        }
        self.skip_gates(&plan.before_gates, log);
        self.skip_gates(&plan.after_gates, log);
        self.skip_wait(id, log);
        self.stages[id].phase = Phase::Ended;
        self.stages[id].error = None;
        self.judge_wanted = true;
        self.go(Node::Stage(id), State::Skipped, Some(reason), None, log);
    }

    fn skip_gates(&mut self, gates: &Range<u32>, log: &mut impl Log) {
        for id in ids::<GateId>(gates) {
            if matches!(self.gates[id].state, State::NotStarted | State::Pending) {
                self.go(Node::Gate(id), State::Skipped, None, None, log);
            }
        }
    }

    fn skip_wait(&mut self, id: StageId, log: &mut impl Log) {
        let open = matches!(self.waits[id].state, State::NotStarted | State::Running);
        if self.plan.stages[id].wait > Span::ZERO && open {
            self.go(Node::Wait(id), State::Skipped, None, None, log);
        }
    }
}
