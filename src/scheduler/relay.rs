//! The relay: an update ends and hands its slot to the next candidate, and that is all.
//!
//! In a run under way nearly every ending is like that. The general path takes two events for it,
//! [`Event::UpdateCompleted`] and [`Event::Woke`], and looks at everything that might follow. Here
//! it is first made sure that nothing else can follow; then the two moves are made at once. What
//! time alone could bring is looked at once for a chain of relays ([`Scheduler::steady_until`]):
//! none of them changes it. Each condition names the part of the general path that it makes idle.
//!
//! [`Event::UpdateCompleted`]: crate::scheduler::Event::UpdateCompleted
//! [`Event::Woke`]: crate::scheduler::Event::Woke

use crate::ids::{GroupId, MemberId, StageId};
use crate::scheduler::attempt::wrapped;
use crate::scheduler::member::Stamp;
use crate::scheduler::pick::Class;
use crate::scheduler::run::{Phase, Scheduler};
use crate::scheduler::target::Trial;
use crate::scheduler::{GroupOrder, Log, Node, Record, State};
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

/// An ending, and the start that it makes room for.
#[derive(Debug, Clone, Copy)]
struct Relay {
    stage: StageId,
    from: GroupId,
    next: Option<Next>,
}

/// Who gets the slot.
#[derive(Debug, Clone, Copy)]
struct Next {
    group: GroupId,
    member: MemberId,
    class: Class,
}

/// The record of a member's move that needs no reason.
#[inline]
fn moved(time: Timestamp, member: MemberId, (from, to): (State, State)) -> Record {
    Record { time, node: Node::Member(member), from, to, reason: None, until: None }
}

impl Scheduler<'_> {
    /// Until when, that instant excluded, time alone brings nothing, so that endings may be handed
    /// to [`Self::relay`]; `None`: there is something to do. The next event of [`Self::handle`]
    /// makes it void.
    pub fn steady_until(&mut self) -> Option<Timestamp> {
        // Nothing is left to draw, try or judge; nobody is a candidate for an instant only, and
        // nobody is kept from being tried.
        let quiet = !(self.unsettled
            || self.try_wanted
            || self.judge_wanted
            || self.look_now
            || self.has_due
            || self.timers_stale);
        let free = self.busy.is_empty() && self.left.is_empty() && self.outages.is_empty();
        if !(quiet && free && self.run.halt.is_none()) {
            return None;
        }
        let mut until = self.next_edge;
        if let Some((timer, _)) = self.next_timer {
            until = until.min(timer);
        }
        // The next poll, planned for as many updates in flight as there will be again, stays where
        // it is; a poll on every instant (R-B5) is due at once.
        if self.run.pending_members > 0 {
            until = until.min(self.next_grid);
            until = until.min(self.next_poll.unwrap_or(Timestamp::MAX));
        }
        self.steady_until = until;
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
        let Relay { stage, from, next } = self.find_relay(now, ended)?;
        self.now = now;
        let here = Stamp::new(now, self.since);
        let group = &mut self.groups[from];
        group.open_members -= 1;
        group.in_flight -= 1;
        self.observed.complete(ended);
        let row = &mut self.members[ended];
        assert!(row.state() == State::Running, "{ended:?} ended without being updated");
        row.complete(here);
        log.record(moved(now, ended, (State::Running, State::Completed)));
        let Some(Next { group: to, member, class }) = next else {
            self.stages[stage].in_flight -= 1;
            self.run.in_flight -= 1;
            return Some(Relayed::Nothing);
        };
        // The stage's and the run's updates in flight are one less and one more.
        self.groups[to].in_flight += 1;
        let plan = &self.plan.stages[stage];
        let turn = &mut self.stages[stage].turn;
        *turn = wrapped(*turn + 1, plan.groups.end - plan.groups.start);
        self.candidates[to].take_first_of(class);
        self.observed.start(member);
        let attempt = self.members[member].begin(here);
        log.record(moved(now, member, (State::NotStarted, State::Running)));
        Some(Relayed::Start { member, attempt })
    }

    /// What follows the ending, if it is one start or nothing.
    #[inline]
    fn find_relay(&mut self, now: Timestamp, ended: MemberId) -> Option<Relay> {
        let from = self.plan.places[ended]?.group;
        let giver = &self.groups[from];
        let stage = self.plan.groups[from].stage;
        let (plan, status) = (&self.plan.stages[stage], &self.stages[stage]);
        let alone = plan.groups.end - plan.groups.start == 1;
        // The group whose turn it is gets the slot.
        let to = match self.plan.update.group_order {
            _ if alone => from,
            GroupOrder::RoundRobin => GroupId(plan.groups.start + status.turn),
            GroupOrder::StrategyOrder | GroupOrder::Reverse => return None,
        };
        let Some((position, class)) = self.candidates[to].first() else {
            // The group that gives goes on, as it is, and no poll is planned that looks at slots.
            let goes_on = giver.in_flight > 1 && self.run.pending_members == 0;
            return (alone && goes_on).then_some(Relay { stage, from, next: None });
        };
        let (taker, limit) = (&self.groups[to], self.plan.groups[to].max_concurrency);
        // There is one slot only, before and after.
        let full = status.in_flight == plan.max_concurrency;
        if !(full || (alone && giver.in_flight == limit)) {
            return None;
        }
        // Neither group changes between Running and Pending, and the one that gives goes on.
        let passes = from == to
            || (taker.phase == Phase::Members
                && (1..limit).contains(&taker.in_flight)
                && giver.in_flight > 1);
        // The next starts at once: its window is open, it is not counted as Pending, and it has
        // something to do that is there.
        let member = self.plan.groups[to].members[position as usize];
        let starts = passes
            && class.is_open()
            && self.members[member].state() == State::NotStarted
            && self.observed.trial(self.plan, member, now) == Trial::Start;
        starts.then_some(Relay { stage, from, next: Some(Next { group: to, member, class }) })
    }
}
