//! The lane: candidates of a group that start one after the other, because they are alike.
//!
//! What a trial of the first comes to, it comes to for all of them, as long as nothing changes but
//! what their own starts and endings change. So it is looked at once.

use crate::ids::{GroupId, KindId, MemberId, StageId};
use crate::scheduler::member::Stamp;
use crate::scheduler::pick::Class;
use crate::scheduler::run::Scheduler;
use crate::scheduler::{Log, Output, Record, State};
use crate::time::Timestamp;

/// The candidates of a group who start as soon as there is a slot, one after the other: those of a
/// class with open windows who are of the same kind and have not waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane<'p> {
    pub(super) group: GroupId,
    members: &'p [MemberId],
    class: Class,
    kind: KindId,
    /// What the update makes of them.
    next: KindId,
    /// From then on their trial may come to something else.
    ends: Timestamp,
}

impl<'p> Scheduler<'p> {
    /// The lane of the current stage at an instant, if it has one.
    pub(super) fn lane_of_stage(&self, at: Timestamp) -> Option<Lane<'p>> {
        if self.run.current >= self.stage_count() {
            return None;
        }
        let id = StageId(self.run.current);
        let (groups, stage) = (&self.plan.stages[id].groups, &self.stages[id]);
        let group = GroupId(groups.start);
        let most = self.groups[group].limits.max_concurrency;
        let full = [stage.limits.max_concurrency, most].contains(&stage.in_flight);
        let alone = groups.end - groups.start == 1;
        if alone && full { self.lane_of(group, at) } else { None }
    }

    /// The lane of a group at an instant at which nothing but windows and versions keeps members
    /// from being updated, if it has one.
    fn lane_of(&self, group: GroupId, at: Timestamp) -> Option<Lane<'p>> {
        let (position, class) = self.candidates[group].first()?;
        let members = &self.plan.groups[group].members;
        let (kind, next, ends) = self.observed.starts(members[position as usize], at)?;
        class.is_open().then_some(Lane { group, members, class, kind, next, ends })
    }

    /// The next of a lane is Running from now on; which attempt of it that is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop of relays a call costs a twentieth")]
    pub(super) fn begin_next(
        &mut self,
        lane: &Lane<'p>,
        (now, here): (Timestamp, Stamp),
    ) -> Option<(MemberId, u16)> {
        let Self { candidates, members, observed, .. } = self;
        let mut begun = None;
        candidates[lane.group].take_first_of(lane.class, |position| {
            let member = lane.members[position as usize];
            let row = &mut members[member];
            let starts = row.is(State::NotStarted)
                && now < lane.ends
                && observed.start_as(member, lane.kind, lane.next);
            if starts {
                begun = Some((member, row.begin(here)));
            }
            starts
        });
        begun
    }

    /// Starts up to so many updates of those next in a group that are as the one before, which was
    /// just started; says how many.
    pub(super) fn start_alike(&mut self, id: GroupId, most: u32, log: &mut impl Log) -> u32 {
        if most == 0 || !self.is_undisturbed() {
            return 0;
        }
        let Some(lane) = self.lane_of(id, self.now) else { return 0 };
        let (now, here) = (self.now, Stamp::new(self.now, self.since));
        let mut started = 0;
        while started < most
            && let Some((member, attempt)) = self.begin_next(&lane, (now, here))
        {
            log.record(Record::of_move(now, member, (State::NotStarted, State::Running)));
            self.out.push(Output::StartUpdate { member, attempt });
            started += 1;
        }
        self.run.in_flight += started;
        self.stages[self.plan.groups[id].stage].in_flight += started;
        self.groups[id].in_flight += started;
        started
    }
}
