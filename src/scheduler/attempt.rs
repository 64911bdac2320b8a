//! Trying members: whose turn it is, who is next, and what a trial comes to (section 4, R-B7).

use crate::ids::{GroupId, MemberId, StageId};
use crate::scheduler::member::Stamp;
use crate::scheduler::pick::{Class, WindowNow};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::target::Trial;
use crate::scheduler::{GroupOrder, Log, Output, Reason, Record, State};
use crate::time::Timestamp;

impl Scheduler<'_> {
    /// Tries members of the current stage, as long as a slot is free in their group and stage.
    pub(super) fn try_members(&mut self, log: &mut impl Log) {
        if self.halted() || self.run_has_ended() || self.run.current >= self.stage_count() {
            return;
        }
        let id = StageId(self.run.current);
        if self.stages[id].phase != Phase::Members {
            return;
        }
        let plan = &self.plan.stages[id];
        let groups = plan.groups.end - plan.groups.start;
        let most = self.stages[id].limits.max_concurrency;
        if self.next_edge <= self.now {
            self.pass_all_edges(id);
        }
        // Passes over the groups that start nobody; stops after a whole round of them.
        let mut idle = 0;
        while idle < groups && self.stages[id].in_flight < most && !self.halted() {
            let turn = self.in_turn(id, idle, groups);
            // Where nobody else has a turn, all slots are one's own.
            let slots = if groups == 1 { most - self.stages[id].in_flight } else { 1 };
            if self.take_turn(GroupId(plan.groups.start + turn), slots, log) {
                self.stages[id].turn = wrapped(turn + 1, groups);
                idle = 0;
            } else {
                idle += 1;
            }
        }
    }

    /// Which of a stage's `groups` has its turn, when so many in front of it start nobody (R-B10).
    #[inline]
    pub(super) fn in_turn(&self, id: StageId, idle: u32, groups: u32) -> u32 {
        match self.plan.update.group_order {
            GroupOrder::RoundRobin => wrapped(self.stages[id].turn + idle, groups),
            GroupOrder::StrategyOrder => idle,
            GroupOrder::Reverse => groups - 1 - idle,
        }
    }

    /// Passes the edges of all windows of a stage, and finds the next.
    #[inline(never)]
    fn pass_all_edges(&mut self, id: StageId) {
        self.next_edge = Timestamp::MAX;
        for group in ids::<GroupId>(&self.plan.stages[id].groups) {
            self.pass_edges(group);
            let next = self.candidates[group].next_edge().unwrap_or(Timestamp::MAX);
            self.next_edge = next.min(self.next_edge);
        }
    }

    pub(super) fn pass_edges(&mut self, id: GroupId) {
        if self.groups[id].phase != Phase::Members {
            return;
        }
        let (plan, members) = (&self.plan.groups[id], &self.members);
        let is_pending =
            |position: u32| members[plan.members[position as usize]].state() == State::Pending;
        self.candidates[id].pass_edges(self.plan, plan, &mut self.windows, self.now, is_pending);
    }

    /// A group's turn: its candidates in O2's order until so many have started (R-B11). Says
    /// whether any did.
    fn take_turn(&mut self, id: GroupId, slots: u32, log: &mut impl Log) -> bool {
        let (plan, group) = (&self.plan.groups[id], &self.groups[id]);
        if group.phase != Phase::Members {
            return false;
        }
        let room = group.limits.max_concurrency - group.in_flight;
        let mut left = slots.min(room);
        let mut started = false;
        while left > 0 && !self.halted() {
            self.expand_closed(id);
            let Some((position, class)) = self.candidates[id].take_first() else { break };
            if self.try_member(id, plan.members[position as usize], class, log) {
                (started, left) = (true, left - 1);
                left -= self.start_alike(id, left, log);
            }
        }
        started
    }

    /// Tries one member (R-B7, R-B8). Says whether its update started.
    #[inline]
    fn try_member(
        &mut self,
        group: GroupId,
        id: MemberId,
        class: Class,
        log: &mut impl Log,
    ) -> bool {
        // A candidate's class is that of this instant: an open window need not be asked again.
        let trial = if class.is_open() && self.is_undisturbed() {
            (self.observed.trial(self.plan, id, self.now), None)
        } else {
            self.trial(group, id)
        };
        match trial {
            (Trial::Start, _) => {
                self.start_update(group, id, log);
                return true;
            }
            (Trial::Pending(reason), until) => self.make_pending(group, id, reason, until, log),
            (Trial::Skipped(reason), _) => {
                self.leave_waiting(group, id);
                self.skip_member(group, id, reason, log);
                self.unsettled = true;
            }
            (Trial::Failed(reason), _) => {
                self.leave_waiting(group, id);
                self.groups[group].open_members -= 1;
                self.fail(id, reason, log);
            }
        }
        self.judge_wanted = true;
        false
    }

    /// Whether nothing but windows and versions keeps members from being updated.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.busy.is_empty() && self.left.is_empty() && self.outages.is_empty()
    }

    /// What a trial of the member would come to now, and the announced opening.
    pub(super) fn trial(&mut self, group: GroupId, id: MemberId) -> (Trial, Option<Timestamp>) {
        if !self.left.is_empty() && self.left.contains(id.0) {
            return (Trial::Skipped(Reason::MemberLeft), None);
        }
        if self.busy.contains(id.0) || self.outages.contains(self.plan.regions[id].0) {
            return (Trial::Pending(Reason::MemberBusy), None);
        }
        let plan = &self.plan.groups[group];
        let place = self.plan.places[id].expect("only members of the run are tried");
        let cohort = &plan.cohorts[plan.cohort_of[place.position as usize] as usize];
        if let Some(window) = cohort.window
            && let WindowNow::Closed { opens } = self.windows.at(self.plan, window, self.now)
        {
            return (Trial::Pending(Reason::MaintenanceWindowClosed), opens);
        }
        (self.observed.trial(self.plan, id, self.now), None)
    }

    fn start_update(&mut self, group: GroupId, id: MemberId, log: &mut impl Log) {
        self.run.in_flight += 1;
        self.stages[self.plan.groups[group].stage].in_flight += 1;
        let status = &mut self.groups[group];
        self.judge_wanted |= status.in_flight == 0;
        status.in_flight += 1;
        let attempt = self.set_running(group, id, log);
        self.out.push(Output::StartUpdate { member: id, attempt });
    }

    /// A member is Running from now on; returns how many of its updates were before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop of relays a call costs a twentieth")]
    pub(super) fn set_running(&mut self, group: GroupId, id: MemberId, log: &mut impl Log) -> u16 {
        self.observed.start(id);
        let row = &mut self.members[id];
        if row.is(State::NotStarted) {
            let attempt = row.begin(Stamp::new(self.now, self.since));
            log.record(Record::of_move(self.now, id, (State::NotStarted, State::Running)));
            return attempt;
        }
        self.leave_waiting(group, id);
        let attempt = self.members[id].count_attempt();
        self.go_member(id, State::Running, None, None, log);
        attempt
    }

    pub(super) fn make_pending(
        &mut self,
        group: GroupId,
        id: MemberId,
        reason: Reason,
        until: Option<Timestamp>,
        log: &mut impl Log,
    ) {
        let news = if self.members[id].is(State::Pending) {
            !self.members[id].waits_for((reason, until), self.since)
        } else {
            let position = self.plan.places[id].expect("only members of the run wait").position;
            self.run.pending_members += 1;
            self.groups[group].pending_members += 1;
            self.candidates[group].count_pending(&self.plan.groups[group], position, 1);
            true
        };
        if news {
            self.go_member(id, State::Pending, Some(reason), until, log);
        }
    }

    /// A member is Pending no more.
    #[inline]
    pub(super) fn leave_waiting(&mut self, group: GroupId, id: MemberId) {
        if self.members[id].is(State::Pending) {
            self.count_out(group, id);
        }
    }

    #[inline(never)]
    fn count_out(&mut self, group: GroupId, id: MemberId) {
        let position = self.plan.places[id].expect("only members of the run wait").position;
        self.run.pending_members -= 1;
        self.groups[group].pending_members -= 1;
        self.candidates[group].count_pending(&self.plan.groups[group], position, -1);
    }
}

/// A number below twice `modulus`, modulo it: without a division.
#[inline]
pub(super) const fn wrapped(number: u32, modulus: u32) -> u32 {
    if number < modulus { number } else { number - modulus }
}
