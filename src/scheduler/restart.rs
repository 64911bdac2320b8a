//! Stop, start, and who carries out what people ask (T7, T8, section D of the readings).

use crate::ids::{GroupId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::{Action, Log, Node, Output, Refusal, Restart, State};

impl Scheduler<'_> {
    pub(super) fn stop(&mut self) -> Result<(), Refusal> {
        if !matches!(self.run.state, State::Running | State::Pending) {
            return Err(Refusal::NotStoppable);
        }
        self.halt(State::Stopped);
        Ok(())
    }

    /// Starts a Stopped or Failed run again (T8, R-D1 to R-D6).
    pub(super) fn restart(
        &mut self,
        kind: Option<Restart>,
        log: &mut impl Log,
    ) -> Result<(), Refusal> {
        if !matches!(self.run.state, State::Stopped | State::Failed) {
            return Err(Refusal::NotStartable);
        }
        self.restarts += 1;
        self.run.halt = None;
        self.go(Node::Run, State::Running, None, None, log);
        for stage in &mut self.stages {
            (stage.failures, stage.failed) = (0, false);
        }
        for group in &mut self.groups {
            (group.failures, group.failed) = (0, false);
        }
        if self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            let retry = kind.unwrap_or(self.plan.update.restart) == Restart::RetryFailed;
            if self.stages[id].phase != Phase::Ended {
                let stage = &mut self.stages[id];
                (stage.times.completed, stage.error) = (None, None);
                stage.reopened = matches!(stage.state, State::Stopped | State::Failed);
            }
            for group in ids::<GroupId>(&self.plan.stages[id].groups) {
                self.reopen(group, retry);
            }
        }
        (self.unsettled, self.try_wanted, self.judge_wanted) = (true, true, true);
        Ok(())
    }

    /// Reopens a group at a restart; `retry` puts its failed members back (R-D3, R-D5).
    pub(super) fn reopen(&mut self, id: GroupId, retry: bool) {
        if self.groups[id].phase == Phase::Ended {
            return;
        }
        let plan = &self.plan.groups[id];
        let group = &mut self.groups[id];
        (group.times.completed, group.error) = (None, None);
        group.reopened = matches!(group.state, State::Stopped | State::Failed);
        self.pass_edges(id);
        if self.groups[id].phase != Phase::Members {
            return;
        }
        self.look_now(id);
        for (position, member) in (0..).zip(&plan.members) {
            let status = &mut self.members[*member];
            if retry && status.state() == State::Failed {
                status.reopen();
                self.groups[id].open_members += 1;
                self.candidates[id].add(plan, position);
            }
        }
    }

    pub(super) fn act(&mut self, action: Action<'_>, log: &mut impl Log) {
        let done = if self.run_has_ended() {
            Err(Refusal::RunEnded)
        } else if self.run.state == State::NotStarted {
            Err(Refusal::NotStarted)
        } else {
            match action {
                Action::Approve(path) => self.complete_gates(path, true, log),
                Action::Complete(path) => self.complete_gates(path, false, log),
                Action::Stop => self.stop(),
                Action::Start(kind) => self.restart(kind, log),
                Action::Skip(target) => self.skip(target, log),
            }
        };
        if let Err(refusal) = done {
            self.out.push(Output::Refused(refusal));
        }
    }
}
