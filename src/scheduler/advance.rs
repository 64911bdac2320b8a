//! What follows by itself: endings counted, stages and groups begun and ended, halts shown.

use crate::ids::{GroupId, MemberId, StageId};
use crate::scheduler::plan::{StagePlan, ids};
use crate::scheduler::run::{GroupStatus, Phase, Scheduler, StageStatus};
use crate::scheduler::{FailureCode, Log, Node, NodeImageSelection, Reason, State};
use crate::time::Timestamp;

impl Scheduler<'_> {
    pub(super) fn start(&mut self, log: &mut impl Log) {
        assert!(self.run.state == State::NotStarted, "the run has been started already");
        (self.next_grid, self.since) = (self.now, self.now);
        self.go(Node::Run, State::Running, None, None, log);
        if self.plan.update.node_images == NodeImageSelection::Consistent {
            let regions = self.family_regions().into_owned();
            self.observed.choose_consistent(&regions);
        }
        self.judge_wanted = true;
        self.settle_now(log);
    }

    pub(super) fn end_update(
        &mut self,
        id: MemberId,
        failed: Option<FailureCode>,
        log: &mut impl Log,
    ) {
        assert!(self.members[id].state() == State::Running, "{id:?} ended without being updated");
        let place = self.plan.places[id].expect("only members of the run are updated");
        let stage = self.plan.groups[place.group].stage;
        self.run.in_flight -= 1;
        self.stages[stage].in_flight -= 1;
        let group = &mut self.groups[place.group];
        group.in_flight -= 1;
        group.open_members -= 1;
        let emptied = group.in_flight == 0;
        // Consequences are drawn when the group may have ended; a failure asks for them itself.
        self.unsettled |= group.open_members == 0 || self.run.halt.is_some();
        self.try_wanted = true;
        self.judge_wanted |= emptied;
        match failed {
            None => {
                self.observed.complete(id);
                self.go_member(id, State::Completed, None, None, log);
            }
            Some(code) => self.fail(id, Reason::Reported(code), log),
        }
    }

    /// A failed member update counts for its group, stage and run (T5, L5), and stops the run when
    /// a threshold is exceeded (L7, R-C7, R-C9).
    #[cold]
    pub(super) fn fail(&mut self, id: MemberId, reason: Reason, log: &mut impl Log) {
        let group = self.plan.places[id].expect("only members of the run fail").group;
        let stage = self.plan.groups[group].stage;
        self.go_member(id, State::Failed, Some(reason), None, log);
        self.run.failure_count += 1;
        self.stages[stage].failure_count += 1;
        self.stages[stage].failures += 1;
        let status = &mut self.groups[group];
        status.failure_count += 1;
        status.failures += 1;
        let mut because = Reason::MaxAllowedFailuresExceeded;
        if status.failures > status.limits.max_allowed_failures && !status.failed {
            status.failed = true;
            status.error = Some(because);
            self.go(Node::Group(group), State::Failed, None, None, log);
        }
        let over = self.stages[stage].failures > self.stages[stage].limits.max_allowed_failures;
        if !over {
            because = Reason::GroupFailed;
        }
        let status = &mut self.stages[stage];
        if (over || self.groups[group].failed) && !status.failed {
            status.failed = true;
            status.error = Some(because);
            self.go(Node::Stage(stage), State::Failed, None, None, log);
            self.halt(State::Failed);
        }
        self.unsettled = true;
    }

    /// Nothing new starts from now on; the run ends as `end` when nothing is in flight.
    pub(super) fn halt(&mut self, end: State) {
        self.run.halt = Some(end);
        self.unsettled = true;
        self.next_poll = None;
    }

    pub(super) fn halted(&self) -> bool {
        self.run.halt.is_some()
    }

    pub(super) fn settle_now(&mut self, log: &mut impl Log) {
        self.unsettled = true;
        self.settle(log);
    }

    /// Draws all consequences: ends of groups and stages, gates and waits that begin, the next
    /// stage (R-A1, R-C10: endings take effect always, beginnings only while the run goes on).
    #[inline]
    pub(super) fn settle(&mut self, log: &mut impl Log) {
        if self.unsettled {
            self.draw_consequences(log);
        }
    }

    #[cold]
    fn draw_consequences(&mut self, log: &mut impl Log) {
        self.unsettled = false;
        while !self.run_has_ended() && self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            if !self.advance_stage(id, log) {
                break;
            }
            self.run.current += 1;
            self.timers_stale = true;
        }
        self.settle_run(log);
    }

    pub(super) fn stage_count(&self) -> u32 {
        u32::try_from(self.plan.stages.len()).expect("stages fit u32")
    }

    pub(super) fn run_has_ended(&self) -> bool {
        matches!(self.run.state, State::Completed | State::Skipped)
    }

    /// Halts, ends or leaves the run as it is.
    pub(super) fn settle_run(&mut self, log: &mut impl Log) {
        if let Some(end) = self.run.halt {
            self.show_halt(end, log);
        } else if self.run.current == self.stage_count() && !self.run_has_ended() {
            let skipped = self.stages.iter().all(|stage| stage.state == State::Skipped);
            let end = if skipped { State::Skipped } else { State::Completed };
            self.go(Node::Run, end, None, None, log);
            (self.try_wanted, self.judge_wanted, self.next_poll) = (false, false, None);
        }
    }

    /// Shows a halt: the stage's, behind its groups', then the run's (R-C8).
    pub(super) fn show_halt(&mut self, end: State, log: &mut impl Log) {
        if self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            let StageStatus { state, phase, failed, reopened, in_flight, .. } = self.stages[id];
            if !failed && phase != Phase::NotReached && phase != Phase::Ended {
                let old = (!reopened).then_some(state);
                self.stop_node(Node::Stage(id), old, in_flight, log);
            }
        }
        if self.run.in_flight > 0 {
            if self.run.state != State::Stopping {
                self.go(Node::Run, State::Stopping, None, None, log);
            }
        } else if self.run.state != State::Stopped && self.run.state != State::Failed {
            self.go(Node::Run, end, None, None, log);
        }
        (self.try_wanted, self.judge_wanted, self.next_poll) = (false, false, None);
    }

    /// Shows that a group that has begun, not ended and not failed is halted (R-C8).
    fn stop_group(&mut self, id: GroupId, log: &mut impl Log) {
        let GroupStatus { state, phase, failed, reopened, in_flight, .. } = self.groups[id];
        if !failed && phase != Phase::NotReached && phase != Phase::Ended {
            self.stop_node(Node::Group(id), (!reopened).then_some(state), in_flight, log);
        }
    }

    /// Shows that a stage or group that was in `old` is halted; nothing in a reopened one is old.
    fn stop_node(&mut self, node: Node, old: Option<State>, in_flight: u32, log: &mut impl Log) {
        let to = if in_flight > 0 { State::Stopping } else { State::Stopped };
        if old != Some(to) && old != Some(State::Stopped) {
            self.go(node, to, None, None, log);
        }
    }

    /// Takes a stage as far as it goes by itself; says whether it has ended.
    pub(super) fn advance_stage(&mut self, id: StageId, log: &mut impl Log) -> bool {
        let plan = &self.plan.stages[id];
        if self.stages[id].phase == Phase::NotReached {
            if self.halted() {
                return false;
            }
            self.begin_stage(id, log);
        }
        if self.stages[id].phase == Phase::BeforeGates {
            if self.nothing_but_skipped(plan) {
                self.skip_stage(id, Reason::AllGroupsSkipped, log);
            } else if self.are_done(&plan.before_gates) && !self.halted() {
                self.begin_groups(id, log);
            }
        }
        if self.stages[id].phase == Phase::Members {
            for group in ids::<GroupId>(&plan.groups) {
                self.advance_group(group, log);
                if self.halted() {
                    self.stop_group(group, log);
                }
            }
            let ended = ids::<GroupId>(&plan.groups).all(|g| self.groups[g].phase == Phase::Ended);
            if ended {
                self.end_groups(id, log);
            }
        }
        if self.stages[id].phase == Phase::AfterGates
            && self.are_done(&plan.after_gates)
            && self.wait_is_done(id)
            && !self.stages[id].failed
        {
            self.end_stage(id, State::Completed, log);
        }
        self.stages[id].phase == Phase::Ended
    }

    /// Whether a stage has nothing but groups that are Skipped or would be at once (R-C17).
    pub(super) fn nothing_but_skipped(&self, plan: &StagePlan) -> bool {
        ids::<GroupId>(&plan.groups).all(|id| {
            let group = &self.groups[id];
            group.skipped_members == group.limits.size
        })
    }

    pub(super) fn begin_stage(&mut self, id: StageId, log: &mut impl Log) {
        let plan = &self.plan.stages[id];
        self.judge_wanted = true;
        if self.nothing_but_skipped(plan) {
            self.skip_stage(id, Reason::AllGroupsSkipped, log);
            return;
        }
        self.go(Node::Stage(id), State::Running, None, None, log);
        self.stages[id].phase = Phase::BeforeGates;
        self.open_gates(&plan.before_gates, log);
    }

    pub(super) fn begin_groups(&mut self, id: StageId, log: &mut impl Log) {
        self.stages[id].phase = Phase::Members;
        (self.try_wanted, self.judge_wanted) = (true, true);
        for group in ids::<GroupId>(&self.plan.stages[id].groups) {
            let plan = &self.plan.groups[group];
            if self.groups[group].phase == Phase::Ended {
                continue;
            }
            if self.groups[group].open_members == 0 {
                self.skip_group(group, self.skipped_because(group), log);
                continue;
            }
            self.go(Node::Group(group), State::Running, None, None, log);
            self.groups[group].phase = Phase::BeforeGates;
            self.open_gates(&plan.before_gates, log);
        }
    }

    /// Takes a group as far as it goes by itself.
    pub(super) fn advance_group(&mut self, id: GroupId, log: &mut impl Log) {
        let plan = &self.plan.groups[id];
        if self.groups[id].phase == Phase::BeforeGates && self.are_done(&plan.before_gates) {
            self.begin_members(id);
        }
        let group = &self.groups[id];
        if group.phase == Phase::NotReached || group.phase == Phase::Ended {
            return;
        }
        if group.open_members > 0 || group.in_flight > 0 {
            return;
        }
        if group.skipped {
            self.skip_group(id, Reason::User, log);
        } else if group.failed {
            // It stays Failed until the run is restarted (R-D2) or a user skips it (R-E4).
        } else if group.skipped_members == group.limits.size {
            self.skip_group(id, self.skipped_because(id), log);
        } else {
            let group = &mut self.groups[id];
            if group.phase == Phase::Members && (plan.after_gates.is_empty() || !self.halted()) {
                self.groups[id].phase = Phase::AfterGates;
                self.judge_wanted = true;
                self.open_gates(&plan.after_gates, log);
            }
            if self.groups[id].phase == Phase::AfterGates && self.are_done(&plan.after_gates) {
                self.groups[id].phase = Phase::Ended;
                self.go(Node::Group(id), State::Completed, None, None, log);
            }
        }
    }

    pub(super) fn begin_members(&mut self, id: GroupId) {
        let plan = &self.plan.groups[id];
        self.groups[id].phase = Phase::Members;
        (self.try_wanted, self.judge_wanted) = (true, true);
        let candidates = &mut self.candidates[id];
        candidates.begin(self.plan, plan, &mut self.windows, self.now);
        self.next_edge = candidates.next_edge().unwrap_or(Timestamp::MAX).min(self.next_edge);
        if self.groups[id].open_members as usize == plan.members.len() {
            // Nobody has been skipped and nobody tried: all of them.
            return candidates.add_all(plan);
        }
        for (position, member) in (0..).zip(&plan.members) {
            if self.members[*member].state() == State::NotStarted {
                candidates.add(plan, position);
            }
        }
    }

    /// All groups of a stage have ended: gates and wait begin together (G4), or nothing is left.
    pub(super) fn end_groups(&mut self, id: StageId, log: &mut impl Log) {
        let plan = &self.plan.stages[id];
        if self.stages[id].skipped {
            self.skip_stage(id, Reason::User, log);
        } else if self.stages[id].failed {
            // It stays Failed until the run is restarted or a user skips it (R-E4).
        } else if ids::<GroupId>(&plan.groups).all(|g| self.groups[g].state == State::Skipped) {
            self.skip_stage(id, Reason::AllGroupsSkipped, log);
        } else if !self.halted() || self.needs_nothing_after(id) {
            self.stages[id].phase = Phase::AfterGates;
            self.judge_wanted = true;
            if !self.halted() {
                self.open_gates(&plan.after_gates, log);
                self.begin_wait(id, log);
            }
        }
    }

    /// Whether a stage whose groups have ended has no gate and no wait before it.
    pub(super) fn needs_nothing_after(&self, id: StageId) -> bool {
        self.are_done(&self.plan.stages[id].after_gates) && self.wait_is_done(id)
    }

    /// Why a group with nobody to update is Skipped (R-K4).
    pub(super) fn skipped_because(&self, id: GroupId) -> Reason {
        let empty = self.groups[id].limits.size == 0;
        if empty { Reason::NoMembers } else { Reason::AllMembersSkipped }
    }

    pub(super) fn end_stage(&mut self, id: StageId, state: State, log: &mut impl Log) {
        self.stages[id].phase = Phase::Ended;
        self.judge_wanted = true;
        self.go(Node::Stage(id), state, None, None, log);
    }
}
