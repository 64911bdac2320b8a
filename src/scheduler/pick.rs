//! Which member of a group is tried next: O2's classes, kept by window edges instead of by sorting.
//!
//! The members of a group that share a window form a cohort and change class together, at the
//! edges of their window. A candidate is a member not yet tried, a Pending member that was noticed
//! at a poll, or, for the length of one instant, a Pending member whose message is out of date.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bits::Bits;
use crate::ids::{Column, WindowId};
use crate::scheduler::plan::{GroupPlan, Plan};
use crate::time::{Span, Timestamp};

/// How soon an opening makes a member a candidate of the second class (O2; inclusive, R-B9).
const SOON: Span = Span::from_hours(4);

/// The classes of candidates, in the order in which they are tried (O2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The window is open now.
    Open,
    /// It opens within four hours.
    Soon,
    /// No window: any time.
    NoWindow,
    /// Closed for longer.
    Closed,
}

impl Class {
    const ALL: [Self; 4] = [Self::Open, Self::Soon, Self::NoWindow, Self::Closed];

    /// Whether the window lets an update start.
    #[inline]
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::NoWindow)
    }
}

/// What a window says at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowNow {
    Open { close: Timestamp },
    Closed { opens: Option<Timestamp> },
}

/// Each window's place in its list of open intervals; time only goes forward.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowClock {
    cursor: Column<WindowId, u32>,
}

impl WindowClock {
    pub(super) fn reset(&mut self, plan: &Plan<'_>) {
        self.cursor.refill(plan.intervals.len(), 0);
    }

    pub(super) fn at(&mut self, plan: &Plan<'_>, window: WindowId, now: Timestamp) -> WindowNow {
        let intervals = &plan.intervals[window];
        let cursor = &mut self.cursor[window];
        while intervals.get(*cursor as usize).is_some_and(|interval| interval.close <= now) {
            *cursor += 1;
        }
        match intervals.get(*cursor as usize) {
            Some(interval) if interval.open <= now => WindowNow::Open { close: interval.close },
            Some(interval) => WindowNow::Closed { opens: Some(interval.open) },
            None => WindowNow::Closed { opens: None },
        }
    }
}

impl WindowClock {
    /// The first opening after an instant.
    fn opening_after(
        &mut self,
        plan: &Plan<'_>,
        window: WindowId,
        now: Timestamp,
    ) -> Option<Timestamp> {
        match self.at(plan, window, now) {
            WindowNow::Closed { opens } => opens,
            WindowNow::Open { .. } => {
                let next = self.cursor[window] as usize + 1;
                plan.intervals[window].get(next).map(|interval| interval.open)
            }
        }
    }
}

impl WindowNow {
    fn class(self, now: Timestamp) -> Class {
        match self {
            Self::Open { .. } => Class::Open,
            Self::Closed { opens: Some(at) } if at - now <= SOON => Class::Soon,
            Self::Closed { .. } => Class::Closed,
        }
    }

    /// When the class changes next.
    fn next_edge(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Open { close } => (close < Timestamp::MAX).then_some(close),
            Self::Closed { opens: Some(at) } if at - now <= SOON => Some(at),
            Self::Closed { opens } => opens.map(|at| at - SOON),
        }
    }
}

#[derive(Debug, Clone)]
struct CohortNow {
    class: Class,
    /// What its window said last; `None`: it has none.
    window: Option<WindowNow>,
    /// Its Pending members must be looked at, at the next poll.
    look: bool,
    /// It is in `stale`.
    stale: bool,
    /// How many of its members are Pending.
    pending: u32,
}

/// The candidates of one group.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Positions by class.
    ready: [Bits; 4],
    cohorts: Vec<CohortNow>,
    /// The cohorts with `look` set.
    looks: Vec<u32>,
    /// Cohorts whose messages are out of date, but were not reached for lack of a slot.
    stale: Vec<u32>,
    /// Coming class changes: (when, cohort).
    edges: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Pending members that are candidates for this instant only.
    due: Bits,
    /// Cohorts behind a closed window, with its next opening: those of their Pending members with
    /// another message are candidates for this instant only, if it comes to a slot.
    closed: Vec<(u32, Option<Timestamp>)>,
}

impl Candidates {
    pub(super) fn reset(&mut self, group: &GroupPlan) {
        self.ready.iter_mut().for_each(|bits| bits.reset(group.members.len()));
        self.cohorts.clear();
        self.cohorts.extend(group.cohorts.iter().map(|_| CohortNow {
            class: Class::NoWindow,
            window: None,
            look: false,
            stale: false,
            pending: 0,
        }));
        self.looks.clear();
        self.looks.reserve(group.cohorts.len());
        self.stale.clear();
        self.stale.reserve(group.cohorts.len());
        self.edges.clear();
        self.edges.reserve(group.cohorts.len());
        self.due.reset(group.members.len());
        self.closed.clear();
        self.closed.reserve(group.cohorts.len());
    }

    /// Starts the classes of all cohorts; members are added afterwards.
    pub(super) fn begin(
        &mut self,
        plan: &Plan<'_>,
        group: &GroupPlan,
        clock: &mut WindowClock,
        now: Timestamp,
    ) {
        self.edges.clear();
        for (index, cohort) in (0..).zip(&group.cohorts) {
            let state = cohort.window.map(|window| clock.at(plan, window, now));
            let edge = state.and_then(|state| state.next_edge(now));
            self.edges.extend(edge.map(|edge| Reverse((edge, index))));
            let own = &mut self.cohorts[index as usize];
            own.class = state.map_or(Class::NoWindow, |state| state.class(now));
            own.window = state;
        }
    }

    /// Makes a member a candidate, in its cohort's present class.
    pub(super) fn add(&mut self, group: &GroupPlan, position: u32) {
        let class = self.cohorts[group.cohort_of[position as usize] as usize].class;
        self.ready[class as usize].insert(position);
    }

    /// Makes all members candidates: what [`Self::add`] does for each.
    pub(super) fn add_all(&mut self, group: &GroupPlan) {
        if let ([cohort], [state]) = (&group.cohorts[..], &self.cohorts[..]) {
            return self.ready[state.class as usize].fill(cohort.positions.len());
        }
        (0..).zip(&group.members).for_each(|(position, _)| self.add(group, position));
    }

    /// Makes a Pending member a candidate for this instant only.
    pub(super) fn add_due(&mut self, group: &GroupPlan, position: u32) {
        self.add(group, position);
        self.due.insert(position);
    }

    /// Makes the Pending members of a cohort candidates for this instant only, if it comes to a
    /// slot and their message is not that of its closed window.
    pub(super) fn add_closed(&mut self, cohort: usize, opens: Option<Timestamp>) {
        self.closed.push((u32::try_from(cohort).expect("cohorts fit u32"), opens));
    }

    /// It has come to a slot: the next of those cohorts.
    #[inline]
    pub(super) fn take_closed(&mut self) -> Option<(u32, Option<Timestamp>)> {
        self.closed.pop()
    }

    /// How many members of a cohort are Pending.
    pub(super) fn pending_of(&self, cohort: usize) -> u32 {
        self.cohorts[cohort].pending
    }

    /// Takes a member out.
    pub(super) fn remove(&mut self, group: &GroupPlan, position: u32) {
        let class = self.cohorts[group.cohort_of[position as usize] as usize].class;
        self.ready[class as usize].remove(position);
    }

    pub(super) fn contains(&self, group: &GroupPlan, position: u32) -> bool {
        let class = self.cohorts[group.cohort_of[position as usize] as usize].class;
        self.ready[class as usize].contains(position)
    }

    /// Whether a member of this cohort is a candidate.
    #[inline]
    pub(super) fn contains_of(&self, cohort: usize, position: u32) -> bool {
        self.ready[self.cohorts[cohort].class as usize].contains(position)
    }

    /// The next candidate in O2's order, and of which class it is.
    #[inline]
    pub(super) fn first(&self) -> Option<(u32, Class)> {
        let mut filled = self.ready.iter().zip(Class::ALL);
        let (bits, class) = filled.find(|(bits, _)| !bits.is_empty())?;
        bits.first().map(|position| (position, class))
    }

    /// Takes out the next candidate, as [`Self::first`] has told it.
    #[inline]
    pub(super) fn remove_first(&mut self, (position, class): (u32, Class)) {
        self.ready[class as usize].remove_first(position);
    }

    /// Takes out the next candidate of a class, if there is one and it is wanted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop of relays a call costs a twentieth")]
    pub(super) fn take_first_of(&mut self, class: Class, wanted: impl FnOnce(u32) -> bool) {
        let bits = &mut self.ready[class as usize];
        if let Some(first) = bits.first()
            && wanted(first)
        {
            bits.remove_first(first);
        }
    }

    /// Takes the next candidate in O2's order, and says of which class it is.
    #[inline]
    pub(super) fn take_first(&mut self) -> Option<(u32, Class)> {
        let mut filled = self.ready.iter_mut().zip(Class::ALL);
        let (bits, class) = filled.find(|(bits, _)| !bits.is_empty())?;
        bits.take_first().map(|position| (position, class))
    }

    /// Ends the instant: members that were candidates for it alone are candidates no more. Those
    /// that were not reached are looked at again at the next poll with a free slot (R-B3).
    pub(super) fn end_instant(&mut self, group: &GroupPlan) {
        while let Some(position) = self.due.take_first() {
            if self.contains(group, position) {
                self.remove(group, position);
                self.out_of_date(group.cohort_of[position as usize]);
            }
        }
        while let Some((cohort, _)) = self.closed.pop() {
            self.out_of_date(cohort);
        }
    }

    /// Some messages of a cohort are out of date, and wait for a slot.
    fn out_of_date(&mut self, cohort: u32) {
        if !std::mem::replace(&mut self.cohorts[cohort as usize].stale, true) {
            self.stale.push(cohort);
        }
    }

    /// Moves every cohort whose window passed an edge into its new class. A noticed member (a
    /// candidate that `is_pending`) of a window that closes is a candidate no more (R-B2).
    pub(super) fn pass_edges(
        &mut self,
        plan: &Plan<'_>,
        group: &GroupPlan,
        clock: &mut WindowClock,
        now: Timestamp,
        is_pending: impl Fn(u32) -> bool,
    ) {
        while let Some(Reverse((edge, index))) = self.edges.peek().copied() {
            if edge > now {
                break;
            }
            self.edges.pop();
            let cohort = &group.cohorts[index as usize];
            let window = cohort.window.expect("only windows have edges");
            let state = clock.at(plan, window, now);
            self.edges.extend(state.next_edge(now).map(|edge| Reverse((edge, index))));
            let (old, new) = (self.cohorts[index as usize].class, state.class(now));
            // A look is needed when the window opened or closed, even if both happened unseen.
            if self.cohorts[index as usize].window.replace(state) != Some(state) {
                self.look_at(index);
            }
            for position in &cohort.positions {
                if !self.ready[old as usize].contains(*position) {
                    continue;
                }
                let closed_on_noticed = old == Class::Open && is_pending(*position);
                if closed_on_noticed || old != new {
                    self.ready[old as usize].remove(*position);
                }
                if !closed_on_noticed {
                    self.ready[new as usize].insert(*position);
                }
            }
            self.cohorts[index as usize].class = new;
        }
    }

    /// When a class changes next.
    pub(super) fn next_edge(&self) -> Option<Timestamp> {
        self.edges.peek().map(|Reverse((edge, _))| *edge)
    }

    /// Counts a Pending member more or less.
    pub(super) fn count_pending(&mut self, group: &GroupPlan, position: u32, change: i32) {
        let cohort = &mut self.cohorts[group.cohort_of[position as usize] as usize];
        cohort.pending = cohort.pending.strict_add_signed(change);
    }

    /// The next opening of a window that a Pending member waits for.
    pub(super) fn next_opening(
        &self,
        plan: &Plan<'_>,
        group: &GroupPlan,
        clock: &mut WindowClock,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let waiting =
            self.cohorts.iter().zip(&group.cohorts).filter(|(state, _)| state.pending > 0);
        let windows = waiting.filter_map(|(_, cohort)| cohort.window);
        windows.filter_map(|window| clock.opening_after(plan, window, now)).min()
    }

    /// Asks for a look at a cohort's Pending members, at the next poll.
    fn look_at(&mut self, cohort: u32) {
        let looked = &mut self.cohorts[cohort as usize].look;
        if !std::mem::replace(looked, true) {
            self.looks.push(cohort);
        }
    }

    /// Asks for a look at every cohort, at the next poll.
    pub(super) fn look_at_all(&mut self) {
        (0..).zip(0..self.cohorts.len()).for_each(|(cohort, _)| self.look_at(cohort));
    }

    /// Asks for a look at a member's cohort, at the next poll.
    pub(super) fn look_at_member(&mut self, group: &GroupPlan, position: u32) {
        self.look_at(group.cohort_of[position as usize]);
    }

    /// Whether the next poll must look at somebody, slots or not.
    pub(super) fn wants_look(&self) -> bool {
        !self.looks.is_empty()
    }

    /// Whether a poll with a free slot would mend somebody's message.
    pub(super) fn wants_mending(&self) -> bool {
        !self.stale.is_empty()
    }

    /// The next cohort to look at, which is then taken as looked at.
    pub(super) fn take_look(&mut self) -> Option<usize> {
        if let Some(cohort) = self.looks.pop() {
            self.cohorts[cohort as usize].look = false;
            return Some(cohort as usize);
        }
        let cohort = self.stale.pop()? as usize;
        self.cohorts[cohort].stale = false;
        Some(cohort)
    }
}
