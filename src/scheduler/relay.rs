//! The relay: an update ends and hands its slot to the next candidate, and that is all.
//!
//! In a run under way nearly every ending is like that. The general path takes two events for it,
//! [`Event::UpdateCompleted`] and [`Event::Woke`], and looks at everything that might follow. Here
//! it is first made sure that nothing else can follow; then the two moves are made at once. What
//! time alone could bring is looked at once for a chain of relays ([`Scheduler::steady_until`]):
//! none of them changes it. Each condition names the part of the general path that it makes idle.
//! Where a stage has one group, what the next candidates have in common is looked at once as well
//! (`lane`).
//!
//! [`Event::UpdateCompleted`]: crate::scheduler::Event::UpdateCompleted
//! [`Event::Woke`]: crate::scheduler::Event::Woke

use crate::ids::{GroupId, MemberId, StageId};
use crate::scheduler::attempt::wrapped;
use crate::scheduler::lane::Lane;
use crate::scheduler::member::Stamp;
use crate::scheduler::pick::Class;
use crate::scheduler::plan::ids;
use crate::scheduler::run::{GroupStatus, Scheduler};
use crate::scheduler::target::Trial;
use crate::scheduler::{Log, Record, State};
use crate::time::Timestamp;

/// What an ending that was handled at once has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "dropping it loses an update"]
pub enum Relayed {
    /// The driver must start this update.
    Start {
        /// The member.
        member: MemberId,
        /// Which attempt of the member in this run, from 0.
        attempt: u16,
    },
    /// Nobody is left to start in the group, whose other updates go on.
    Nothing,
}

/// What becomes of the slot of an update that has ended.
#[derive(Debug, Clone, Copy)]
enum Slot {
    /// The next candidate of a group gets it.
    To(Next),
    /// It stays free.
    Free,
}

#[derive(Debug, Clone, Copy)]
struct Next {
    group: GroupId,
    candidate: (u32, Class),
    member: MemberId,
}

impl<'p> Scheduler<'p> {
    /// From `next`, when something happens next, until when, that instant excluded, time alone
    /// brings nothing, so that endings may be handed to [`Self::relay`]; `None`: there is something
    /// to do. The next event of [`Self::handle`] makes it void.
    pub fn steady_until(&mut self, next: Timestamp) -> Option<Timestamp> {
        // Nothing is left to draw, try or judge; nobody is a candidate for an instant only, and
        // nobody is kept from being tried.
        let quiet = !(self.unsettled
            || self.try_wanted
            || self.judge_wanted
            || self.look_now
            || self.has_due
            || self.timers_stale);
        if !(quiet && self.is_undisturbed() && self.run.halt.is_none()) {
            return None;
        }
        let mut until = self.next_edge;
        if let Some((timer, _)) = self.next_timer {
            until = until.min(timer);
        }
        if self.run.pending_members > 0 {
            // An ending just at a point of the grid makes room for a look (R-B3). Between two
            // points nothing is looked at, and the next poll stays where it is.
            until = until.min(self.grid_from(next));
            until = until.min(self.next_poll.unwrap_or(Timestamp::MAX));
        }
        if until <= next {
            return None;
        }
        self.steady_until = until;
        self.lane = self.lane_of_stage(next);
        Some(until)
    }

    /// A member's update has ended well, before [`Self::steady_until`], and nothing else happens at
    /// this instant: does what [`Self::handle`] does for that and for being woken afterwards, if no
    /// more comes of it than the start of one other update. `None`: more does, nothing is done, and
    /// `handle` must do it.
    #[inline]
    pub fn relay(
        &mut self,
        now: Timestamp,
        ended: MemberId,
        log: &mut impl Log,
    ) -> Option<Relayed> {
        assert!(now >= self.now && now < self.steady_until, "{now} is not in the steady time");
        assert!(self.members[ended].is(State::Running), "{ended:?} ended without being updated");
        if let Some(lane) = self.lane
            && let Some(relayed) = self.relay_in(&lane, (now, ended), log)
        {
            return Some(relayed);
        }
        // Updates in flight are the current stage's.
        let id = StageId(self.run.current);
        let stage = &self.plan.stages[id];
        let alone = stage.groups.end - stage.groups.start == 1;
        let from = if alone {
            GroupId(stage.groups.start)
        } else {
            self.plan.places[ended].expect("only members of the run are updated").group
        };
        let slot = self.find_slot(now, (id, alone), from)?;
        self.end_well((now, Stamp::new(now, self.since)), ended, from, log);
        self.groups[from].in_flight -= 1;
        let status = &mut self.stages[id];
        let Slot::To(Next { group: to, candidate, member }) = slot else {
            status.in_flight -= 1;
            self.run.in_flight -= 1;
            self.lane = None;
            return Some(Relayed::Nothing);
        };
        // The stage's and the run's updates in flight are one less and one more.
        self.groups[to].in_flight += 1;
        status.turn = wrapped(to.0 - stage.groups.start + 1, stage.groups.end - stage.groups.start);
        self.candidates[to].remove_first(candidate);
        let attempt = self.set_running(to, member, log);
        Some(Relayed::Start { member, attempt })
    }

    /// The same where the next of the lane gets the slot; `None`: it has no next.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most relays are like that")]
    fn relay_in(
        &mut self,
        lane: &Lane<'p>,
        (now, ended): (Timestamp, MemberId),
        log: &mut impl Log,
    ) -> Option<Relayed> {
        let here = Stamp::new(now, self.since);
        let (member, attempt) = self.begin_next(lane, (now, here))?;
        self.end_well((now, here), ended, lane.group, log);
        log.record(Record::of_move(now, member, (State::NotStarted, State::Running)));
        Some(Relayed::Start { member, attempt })
    }

    /// A member of a group is Completed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is half of a relay")]
    fn end_well(
        &mut self,
        (now, here): (Timestamp, Stamp),
        ended: MemberId,
        group: GroupId,
        log: &mut impl Log,
    ) {
        self.now = now;
        self.groups[group].open_members -= 1;
        self.observed.complete(ended);
        self.members[ended].complete(here);
        log.record(Record::of_move(now, ended, (State::Running, State::Completed)));
    }

    /// What becomes of the slot of an ending in a group; `None`: more follows from it than that.
    #[inline]
    fn find_slot(
        &mut self,
        now: Timestamp,
        (stage, alone): (StageId, bool),
        from: GroupId,
    ) -> Option<Slot> {
        let GroupStatus { in_flight, pending_members, limits, .. } = self.groups[from];
        let whole = &self.stages[stage];
        let full = whole.in_flight == whole.limits.max_concurrency;
        // Who could have started before has: nobody gets a slot that did not just become free.
        let freed = full || in_flight == limits.max_concurrency;
        let found = match (freed, alone) {
            (false, _) => None,
            (true, true) => self.candidates[from].first().map(|first| (from, first)),
            (true, false) => self.next_in_turn(stage, from),
        };
        let Some((group, candidate)) = found else {
            // The group goes on as it is, and no poll is planned that looks at slots.
            let goes_on = in_flight > 1 && !self.wants_mending(stage);
            return goes_on.then_some(Slot::Free);
        };
        // The next starts at once: its window is open, and it has something to do that is there.
        // It is not the last of its group to wait, so that polls stay planned. Neither group
        // changes between Running and Pending.
        let (passes, waiting) = if group == from {
            (true, pending_members)
        } else {
            let taker = &self.groups[group];
            (full && taker.in_flight > 0 && in_flight > 1, taker.pending_members)
        };
        let (position, class) = candidate;
        let member = self.plan.groups[group].members[position as usize];
        let starts = passes
            && class.is_open()
            && (waiting > 1 || self.members[member].is(State::NotStarted))
            && self.observed.trial(self.plan, member, now) == Trial::Start;
        starts.then_some(Slot::To(Next { group, candidate, member }))
    }

    /// The group whose turn it is of those with a candidate and room for it, once an update of
    /// `from` has ended; and the candidate.
    #[inline]
    fn next_in_turn(&self, stage: StageId, from: GroupId) -> Option<(GroupId, (u32, Class))> {
        let all = &self.plan.stages[stage].groups;
        let groups = all.end - all.start;
        (0..groups).find_map(|step| {
            let id = GroupId(all.start + self.in_turn(stage, step, groups));
            let in_flight = self.groups[id].in_flight - u32::from(id == from);
            let room = in_flight < self.groups[id].limits.max_concurrency;
            self.candidates[id].first().filter(|_| room).map(|first| (id, first))
        })
    }

    /// Whether some message of the stage is out of date and waits for a slot.
    fn wants_mending(&self, stage: StageId) -> bool {
        self.run.pending_members > 0
            && ids::<GroupId>(&self.plan.stages[stage].groups)
                .any(|id| self.candidates[id].wants_mending())
    }
}
