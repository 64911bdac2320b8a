//! Polls: when Pending members are noticed, by arithmetic on the grid (O4, R-B2 to R-B6).

use crate::ids::{GroupId, MemberId, StageId};
use crate::scheduler::pick::WindowNow;
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::target::Trial;
use crate::scheduler::{Reason, State};
use crate::time::{Span, Timestamp};

impl Scheduler<'_> {
    /// Whether every instant is a poll (`pollInterval: 0`, R-B5).
    pub(super) fn polls_always(&self) -> bool {
        let is_idle = self.run.state == State::NotStarted || self.run_has_ended();
        self.plan.update.poll_interval == Span::ZERO && !is_idle && !self.halted()
    }

    /// The first grid point at or after an instant (R-B4).
    pub(super) fn grid_from(&self, at: Timestamp) -> Timestamp {
        let interval = self.plan.update.poll_interval.as_millis();
        let start = self.run.times.started.expect("polls come after the start");
        if interval == 0 || at <= start {
            return at.max(start);
        }
        let steps = ((at - start).as_millis() + interval - 1) / interval;
        start + Span::from_millis(steps * interval)
    }

    /// At a poll, a restart or a skip: notices Pending members and finds stale messages.
    #[inline]
    pub(super) fn poll_if_due(&mut self) {
        if self.run.pending_members > 0 || self.look_now {
            self.poll();
        }
    }

    #[inline(never)]
    fn poll(&mut self) {
        if self.halted() || self.run_has_ended() {
            return;
        }
        let grid = self.now >= self.next_grid && {
            let here = self.grid_from(self.now);
            self.next_grid = if here == self.now {
                self.grid_from(self.now + Span::from_millis(1))
            } else {
                here
            };
            here == self.now
        };
        if !grid && !self.look_now {
            return;
        }
        self.look_now = false;
        if self.support_ends.is_some_and(|ends| ends <= self.now) {
            self.support_ends = None;
            self.look_at_all();
        }
        if self.run.current < self.stage_count() {
            for group in ids::<GroupId>(&self.plan.stages[StageId(self.run.current)].groups) {
                if std::mem::take(&mut self.groups[group].look_now) || grid {
                    self.look_at_group(group);
                }
            }
        }
    }

    /// Notices the Pending members of a group whose window is open and whose target is there, and
    /// makes those whose message is out of date candidates for this instant (R-B2, R-B12).
    pub(super) fn look_at_group(&mut self, id: GroupId) {
        if self.groups[id].phase != Phase::Members || self.groups[id].pending_members == 0 {
            return;
        }
        self.pass_edges(id);
        let plan = &self.plan.groups[id];
        while let Some(cohort) = self.candidates[id].take_look() {
            let facts = &plan.cohorts[cohort];
            if self.candidates[id].pending_of(cohort) == 0 {
                continue;
            }
            self.try_wanted = true;
            // What the window says is the same for all of a cohort.
            let window = facts.window.map(|window| self.windows.at(self.plan, window, self.now));
            let undisturbed = self.is_undisturbed();
            if let Some(WindowNow::Closed { opens }) = window
                && undisturbed
            {
                self.candidates[id].add_closed(cohort, opens);
                self.has_due = true;
                continue;
            }
            for position in &facts.positions {
                let member = plan.members[*position as usize];
                if !self.members[member].is(State::Pending)
                    || self.candidates[id].contains_of(cohort, *position)
                {
                    continue;
                }
                let trial = if undisturbed {
                    (self.observed.trial(self.plan, member, self.now), None)
                } else {
                    self.trial(id, member)
                };
                match trial {
                    (Trial::Pending(reason), until) => {
                        if !self.members[member].waits_for((reason, until), self.since) {
                            self.candidates[id].add_due(plan, *position);
                            self.has_due = true;
                        }
                    }
                    _ => self.candidates[id].add(plan, *position),
                }
            }
        }
    }

    /// A slot is free: members behind a closed window whose message is out of date are candidates
    /// for this instant.
    #[inline]
    pub(super) fn expand_closed(&mut self, id: GroupId) {
        if self.has_due {
            self.add_closed(id);
        }
    }

    fn add_closed(&mut self, id: GroupId) {
        let plan = &self.plan.groups[id];
        while let Some((cohort, opens)) = self.candidates[id].take_closed() {
            let message = (Reason::MaintenanceWindowClosed, opens);
            for position in &plan.cohorts[cohort as usize].positions {
                let row = self.members[plan.members[*position as usize]];
                if row.is(State::Pending)
                    && !row.waits_for(message, self.since)
                    && !self.candidates[id].contains_of(cohort as usize, *position)
                {
                    self.candidates[id].add_due(plan, *position);
                }
            }
        }
    }

    /// Something about availability changed: the next poll looks at everybody.
    pub(super) fn look_at_all(&mut self) {
        if self.run.current < self.stage_count() {
            for group in ids::<GroupId>(&self.plan.stages[StageId(self.run.current)].groups) {
                self.candidates[group].look_at_all();
            }
            self.replan_poll();
        }
    }

    /// Something about a member changed: the next poll looks at it.
    pub(super) fn look_at_member(&mut self, member: MemberId) {
        if let Some(place) = self.plan.places[member] {
            let group = &self.plan.groups[place.group];
            self.candidates[place.group].look_at_member(group, place.position);
            self.replan_poll();
        }
    }

    /// All Pending members of a group may be tried at this instant (R-B6).
    pub(super) fn look_now(&mut self, group: GroupId) {
        self.candidates[group].look_at_all();
        self.groups[group].look_now = true;
        (self.look_now, self.try_wanted) = (true, true);
    }

    /// When the next poll can find anything: the grid after the next window edge or look. With
    /// `pollInterval: 0` only openings make instants of their own (R-B5).
    #[inline]
    pub(super) fn replan_poll(&mut self) {
        self.next_poll = None;
        if self.run.pending_members > 0 {
            self.plan_poll();
        }
    }

    #[inline(never)]
    fn plan_poll(&mut self) {
        if self.halted() || self.run_has_ended() {
            return;
        }
        let stage = StageId(self.run.current);
        let room = self.stages[stage].in_flight < self.stages[stage].limits.max_concurrency;
        let always = self.plan.update.poll_interval == Span::ZERO;
        let mut earliest = Timestamp::MAX;
        for id in ids::<GroupId>(&self.plan.stages[stage].groups) {
            let (plan, group) = (&self.plan.groups[id], &self.groups[id]);
            if group.phase != Phase::Members || group.pending_members == 0 {
                continue;
            }
            let candidates = &self.candidates[id];
            let change = if always {
                candidates.next_opening(self.plan, plan, &mut self.windows, self.now)
            } else {
                // Messages out of date can only be mended when a slot is free (R-B3).
                let room = room && group.in_flight < group.limits.max_concurrency;
                let look = candidates.wants_look() || (room && candidates.wants_mending());
                let look = look.then_some(self.now);
                look.into_iter().chain(candidates.next_edge()).chain(self.support_ends).min()
            };
            earliest = earliest.min(change.unwrap_or(Timestamp::MAX));
        }
        if earliest < Timestamp::MAX {
            let grid = |at: Timestamp| self.grid_from(at.max(self.now)).max(self.next_grid);
            self.next_poll = Some(if always { earliest } else { grid(earliest) });
        }
    }

    /// Ends the instant for candidates of this instant only.
    #[inline]
    pub(super) fn end_instant(&mut self) {
        if std::mem::take(&mut self.has_due) {
            self.end_due();
        }
    }

    #[cold]
    fn end_due(&mut self) {
        if self.run.current >= self.stage_count() {
            return;
        }
        for id in ids::<GroupId>(&self.plan.stages[StageId(self.run.current)].groups) {
            self.candidates[id].end_instant(&self.plan.groups[id]);
        }
    }
}
