//! Gates and waits (section 5): what is opened, what completes it, and when it is due.

use std::ops::Range;

use crate::ids::{GateId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::Scheduler;
use crate::scheduler::{GateKind, GatePath, GateScope, Log, Node, Refusal, State, Wake};
use crate::time::{Span, Timestamp};

impl Scheduler<'_> {
    /// Whether no gate of a place is left to complete.
    pub(super) fn are_done(&self, gates: &Range<u32>) -> bool {
        ids::<GateId>(gates)
            .all(|id| matches!(self.gates[id].state, State::Completed | State::Skipped))
    }

    /// All gates of a place become Pending together (G2); a scheduled start that is due at this
    /// very instant completes at once (G6, R-F1, R-F2).
    pub(super) fn open_gates(&mut self, gates: &Range<u32>, log: &mut impl Log) {
        for id in ids::<GateId>(gates) {
            if self.gates[id].state != State::NotStarted {
                continue;
            }
            let until = match self.plan.gates[id].kind {
                GateKind::Approval => None,
                GateKind::ScheduledStart(start) => Some(start.next_at_or_after(self.now)),
            };
            self.gates[id].absolute_start = until;
            self.go(Node::Gate(id), State::Pending, None, until, log);
        }
        for id in ids::<GateId>(gates) {
            if self.is_due(id) {
                self.go(Node::Gate(id), State::Completed, None, None, log);
            }
        }
    }

    fn is_due(&self, id: GateId) -> bool {
        let gate = &self.gates[id];
        gate.state == State::Pending && gate.absolute_start.is_some_and(|at| at <= self.now)
    }

    /// The after-stage wait begins together with the after-gates (G4).
    pub(super) fn begin_wait(&mut self, id: StageId, log: &mut impl Log) {
        let span = self.plan.stages[id].wait;
        if span > Span::ZERO && self.waits[id].state == State::NotStarted {
            let ends = self.now + span;
            self.waits[id].ends = ends;
            self.go(Node::Wait(id), State::Running, None, Some(ends), log);
        }
    }

    /// Whether a stage has no wait, or one that is over or skipped.
    pub(super) fn wait_is_done(&self, id: StageId) -> bool {
        self.plan.stages[id].wait == Span::ZERO
            || matches!(self.waits[id].state, State::Completed | State::Skipped)
    }

    /// Pending scheduled starts and the running wait, all of the current stage.
    pub(super) fn timers(&self) -> impl Iterator<Item = (Timestamp, Wake)> + '_ {
        let stage = (!self.run_has_ended() && (self.run.current as usize) < self.plan.stages.len())
            .then_some(StageId(self.run.current));
        stage.into_iter().flat_map(|stage| {
            let gates = self.gates_of(stage).filter_map(|id| {
                let gate = &self.gates[id];
                let pending = gate.state == State::Pending;
                gate.absolute_start.filter(|_| pending).map(|at| (at, Wake::ScheduledStart(id)))
            });
            let wait = &self.waits[stage];
            let wait = (wait.state == State::Running).then_some((wait.ends, Wake::WaitOver(stage)));
            gates.chain(wait)
        })
    }

    /// All gates of a stage and its groups: they lie side by side.
    fn gates_of(&self, stage: StageId) -> impl Iterator<Item = GateId> + use<> {
        let plan = &self.plan.stages[stage];
        ids::<GateId>(&(plan.before_gates.start..plan.after_gates.end))
    }

    /// Finds the next timer again, if gates or waits have changed.
    #[inline]
    pub(super) fn replan_timers(&mut self) {
        if self.timers_stale {
            self.find_next_timer();
        }
    }

    #[cold]
    fn find_next_timer(&mut self) {
        self.timers_stale = false;
        self.next_timer = self.timers().min_by_key(|(at, _)| *at);
    }

    /// Completes the scheduled starts and the wait that are due now, in the strategy's order.
    #[inline]
    pub(super) fn fire_timers(&mut self, log: &mut impl Log) {
        if self.timers_stale || self.next_timer.is_some_and(|(at, _)| at <= self.now) {
            self.fire_due_timers(log);
        }
    }

    #[cold]
    fn fire_due_timers(&mut self, log: &mut impl Log) {
        loop {
            let Some((_, wake)) = self.timers().find(|(at, _)| *at <= self.now) else { return };
            match wake {
                Wake::ScheduledStart(id) => {
                    self.go(Node::Gate(id), State::Completed, None, None, log);
                }
                Wake::WaitOver(stage) => {
                    self.go(Node::Wait(stage), State::Completed, None, None, log);
                }
                Wake::Now | Wake::Poll => return,
            }
            (self.unsettled, self.judge_wanted) = (true, true);
        }
    }

    /// A person approves, or completes scheduled starts by hand (G5, R-F3, R-F5, R-F6).
    pub(super) fn complete_gates(
        &mut self,
        path: &GatePath,
        approvals: bool,
        log: &mut impl Log,
    ) -> Result<(), Refusal> {
        let plan = self.plan;
        let matching = |id: &GateId| {
            let gate = &plan.gates[*id];
            let kind = matches!(gate.kind, GateKind::Approval) == approvals;
            let name = path.display_name.is_none() || path.display_name == gate.display_name;
            kind && name
        };
        let gates: Range<u32> = self.gates_at(path).ok_or(Refusal::UnknownName)?;
        let (mut first, mut completed) = (None, false);
        for id in ids::<GateId>(&gates).filter(matching) {
            let state = self.gates[id].state;
            first = first.or(Some(state));
            if state == State::Pending {
                completed = true;
                self.approvals += u32::from(approvals);
                self.go(Node::Gate(id), State::Completed, None, None, log);
            }
        }
        if !completed {
            return Err(match first {
                None => Refusal::NoSuchGate,
                Some(State::NotStarted) => Refusal::GateNotReached,
                Some(_) => Refusal::GateDone,
            });
        }
        (self.unsettled, self.judge_wanted) = (true, true);
        Ok(())
    }

    fn gates_at(&self, path: &GatePath) -> Option<Range<u32>> {
        use crate::scheduler::GateTiming;
        let (before, after) = match path.scope {
            GateScope::Stage => {
                let stage = self.plan.stages.iter().find(|stage| stage.name == path.name)?;
                (&stage.before_gates, &stage.after_gates)
            }
            GateScope::Group => {
                let group = self.plan.groups.iter().find(|group| group.name == path.name)?;
                (&group.before_gates, &group.after_gates)
            }
        };
        Some(if path.timing == GateTiming::Before { before.clone() } else { after.clone() })
    }
}
