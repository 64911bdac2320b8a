//! Configuration changes: campaigns that ask members for a change, one after another (W12, N1–N7).
//!
//! The decision is the scheduler's ([`crate::scheduler::disruption`]); here are who asks when, what
//! people do about a refusal, and what a reimage costs. A change and an update never overlap on one
//! member: a change that comes while something else is at work on its member is asked for again
//! when that ends, and a member that is reimaged is busy for the update run (R-B7).

use crate::bits::Bits;
use crate::calendar::{Date, UtcOffset, Weekday, Window};
use crate::fleet::{NodeDisruptionPolicy, OsType, Pool, regions};
use crate::ids::MemberId;
use crate::scheduler::disruption::{Change, Decision, Operation, Scope};
use crate::scheduler::{Event, Log, Scheduler, State};
use crate::sim::durations::{Begins, Reimage};
use crate::sim::model::Setting;
use crate::sim::queue::{Happening, Queue};
use crate::sim::world::{Truth, World};
use crate::time::{Span, Timestamp};

/// One entry of `configurationChanges`: a change that some members are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Campaign {
    /// What is changed.
    pub operation: Operation,
    /// The value before, if the scenario says it.
    pub from: Option<String>,
    /// The value after, if the scenario says it.
    pub to: Option<String>,
    /// When each member is asked first, from the start; in the fleet's order.
    pub asked: Vec<(MemberId, Span)>,
    /// What people do about a refusal.
    pub on_refused: Habit,
}

/// What people do when the policy refuses a change (`onRefused`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Habit {
    /// They leave it.
    #[default]
    GiveUp,
    /// They ask again after this time, again and again.
    RetryEvery(Span),
    /// They ask again when the window opens next, if it is the window that refuses.
    RetryInWindow,
    /// They set the policy to Allow, ask again at once, and set it back.
    ChangePolicy,
}

impl Campaign {
    fn change(&self) -> Change<'_> {
        let change = self.operation.change(self.from.as_deref(), self.to.as_deref());
        change.expect("the scenario's changes are checked when it is read")
    }

    /// Whether a reimage takes this pool: gMSA is a matter of Windows pools alone.
    fn affects(&self, pool: &Pool) -> bool {
        let windows_only =
            self.operation.scope() == Scope::Pool && self.operation.name() == "windowsGmsa";
        pool.count > 0 && (!windows_only || pool.os_type == OsType::Windows)
    }
}

/// What the configuration changes of a replication came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Changes that were wanted: members of campaigns.
    pub wanted: u32,
    /// Requests that the policy refused.
    pub refused_calls: u32,
    /// Policies that were set to Allow, for the time of one request.
    pub policy_changes: u32,
    /// Nodes that were reimaged.
    pub reimaged_nodes: u32,
    /// Those of them that lost ephemeral data (N7).
    pub ephemeral_data_losses: u32,
    /// Reimaging time while the member's `aksManagedNodeOSUpgradeSchedule` was open.
    pub in_window: Span,
    /// Reimaging time while it was closed, or of members without one.
    pub outside_window: Span,
    /// Reimaging time from Monday to Friday, 09:00 to 17:00 on the clock of the member's region
    /// in January.
    pub business: Span,
    /// When each change was done, ascending, in milliseconds from the start.
    pub done: Vec<i64>,
}

impl Changes {
    /// Changes that were not done by the horizon.
    pub fn never_done(&self) -> u32 {
        self.wanted - u32::try_from(self.done.len()).expect("changes fit u32")
    }

    /// The first instant at which this share of the changes is done; `None` if it never was.
    pub fn time_to(&self, percent: u32) -> Option<Span> {
        let needed = (u64::from(self.wanted) * u64::from(percent)).div_ceil(100);
        match usize::try_from(needed).expect("changes fit usize") {
            0 => Some(Span::ZERO),
            needed => self.done.get(needed - 1).copied().map(Span::from_millis),
        }
    }
}

/// What is true of changes in one replication.
#[derive(Debug, Default)]
pub(super) struct Ongoing {
    /// Members that are reimaged now.
    busy: Bits,
    /// Changes that wait until their member is free, in the order in which they were asked for.
    waiting: Vec<(MemberId, u16)>,
    /// Entries of the queue that are about changes.
    pub(super) queued: u32,
    /// Reimages, for the split of delays.
    reimages: Vec<(MemberId, Timestamp, Timestamp)>,
    pub(super) outcome: Changes,
}

impl Ongoing {
    /// Asks for nothing yet, and puts the first request of each member into the queue.
    pub(super) fn reset(&mut self, setting: Setting<'_>, queue: &mut Queue) {
        self.busy.reset(setting.fleet.members.len());
        if setting.campaigns.is_empty() {
            return;
        }
        self.waiting.clear();
        self.reimages.clear();
        self.queued = 0;
        self.outcome = Changes::default();
        for (number, campaign) in (0..).zip(setting.campaigns) {
            for (member, after) in &campaign.asked {
                self.outcome.wanted += 1;
                self.push(queue, setting.start + *after, *member, number);
            }
        }
    }

    /// Whether nothing is to come and nothing is at work.
    pub(super) fn is_over(&self) -> bool {
        self.queued == 0 && self.waiting.is_empty()
    }

    fn push(&mut self, queue: &mut Queue, at: Timestamp, member: MemberId, campaign: u16) {
        self.queued += 1;
        queue.push(at, Happening::ChangeAsked(member, campaign));
    }

    /// Whether a member is reimaged now.
    pub(super) fn is_busy(&self, id: MemberId) -> bool {
        self.busy.contains(id.0)
    }

    /// A change waits until its member is free.
    pub(super) fn wait(&mut self, id: MemberId, campaign: u16) {
        self.queued -= 1;
        self.waiting.push((id, campaign));
    }

    /// Somebody asks a member for a change (N1): it is carried out, refused, or waits its turn.
    pub(super) fn ask(
        &mut self,
        now: Timestamp,
        (id, number): (MemberId, u16),
        (world, truth): (&World<'_>, &mut Truth),
        scheduler: &mut Scheduler<'_>,
        queue: &mut Queue,
        log: &mut impl Log,
    ) {
        let setting = world.setting;
        let campaign = &setting.campaigns[usize::from(number)];
        let member = &setting.fleet.members[id];
        if self.busy.contains(id.0) || scheduler.member(id).state == State::Running {
            self.waiting.push((id, number));
            return;
        }
        let change = campaign.change();
        let window = member.node_os_window.map(|window| &setting.fleet.windows[window]);
        let mut verdict = change.judge(member.node_disruption_policy, window, now);
        if verdict.decision() == Decision::Refused {
            self.outcome.refused_calls += 1;
            match campaign.on_refused {
                Habit::GiveUp => return,
                Habit::RetryEvery(span) => return self.push(queue, now + span, id, number),
                Habit::RetryInWindow => {
                    let next = verdict.next_opening();
                    return next.map_or((), |at| self.push(queue, at, id, number));
                }
                Habit::ChangePolicy => {
                    self.outcome.policy_changes += 1;
                    verdict = change.judge(NodeDisruptionPolicy::Allow, window, now);
                }
            }
        }
        assert!(verdict.decision() != Decision::Refused, "Allow refuses nothing");
        if !change.reimages() || !member.pools.iter().any(|pool| campaign.affects(pool)) {
            self.outcome.done.push((now - setting.start).as_millis());
            return;
        }
        let begins = Begins { now, member: id, number };
        let Reimage { takes, nodes, losses } =
            truth.reimage(world, begins, |pool| campaign.affects(pool));
        self.outcome.reimaged_nodes += nodes;
        self.outcome.ephemeral_data_losses += losses;
        self.busy.insert(id.0);
        self.queued += 1;
        queue.push(now + takes, Happening::ChangeEnds(id, number));
        self.reimages.push((id, now, now + takes));
        let region = &setting.fleet.regions[member.region];
        let clock = regions::find(region).map_or(UtcOffset::UTC, |region| region.january);
        self.charge(window, clock, now, now + takes);
        let outputs = scheduler.handle(now, Event::Busy(id, true), log);
        assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
    }

    /// A reimage ends: the member is free.
    pub(super) fn end(
        &mut self,
        now: Timestamp,
        id: MemberId,
        start: Timestamp,
        scheduler: &mut Scheduler<'_>,
        log: &mut impl Log,
    ) {
        self.busy.remove(id.0);
        self.outcome.done.push((now - start).as_millis());
        let outputs = scheduler.handle(now, Event::Busy(id, false), log);
        assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
    }

    /// The changes that waited for this member are asked for again, now.
    pub(super) fn freed(&mut self, now: Timestamp, id: MemberId, queue: &mut Queue) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|(member, number)| {
            let others = *member != id;
            if !others {
                self.push(queue, now, *member, *number);
            }
            others
        });
        self.waiting = waiting;
    }

    /// When a member was reimaged.
    pub(super) fn reimages_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let mine = self.reimages.iter().filter(move |(member, ..)| *member == id);
        mine.map(|(_, from, to)| (*from, *to))
    }

    /// Counts a reimage's time: inside and outside of the window, and in working hours.
    fn charge(
        &mut self,
        window: Option<&Window>,
        clock: UtcOffset,
        from: Timestamp,
        to: Timestamp,
    ) {
        let open = window.map_or(Span::ZERO, |window| open_time(window, from, to));
        self.outcome.in_window += open;
        self.outcome.outside_window += to - from - open;
        self.outcome.business += working_time(clock, from, to);
    }
}

/// How long a window is open in a stretch.
fn open_time(window: &Window, from: Timestamp, to: Timestamp) -> Span {
    let within = window.intervals_from(from).take_while(|interval| interval.open < to);
    within.fold(Span::ZERO, |sum, open| sum + (open.close.min(to) - open.open.max(from)))
}

/// How much of a stretch lies in working hours: Monday to Friday, 09:00 to 17:00.
fn working_time(clock: UtcOffset, from: Timestamp, to: Timestamp) -> Span {
    let mut total = Span::ZERO;
    let mut now = from;
    while now < to {
        let day = Date::of(now, clock);
        let (begins, ends) = (day.begins(clock), day.ends(clock));
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            let (opens, closes) = (begins + Span::from_hours(9), begins + Span::from_hours(17));
            let (first, last) = (now.max(opens), to.min(closes));
            if first < last {
                total += last - first;
            }
        }
        now = ends;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_time_is_counted_on_the_local_clock() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let time = |from, to| working_time(UtcOffset(60), at(from), at(to));
        // 2026-03-02 is a Monday; 09:00 there is 08:00Z.
        assert_eq!(time("2026-03-02T07:00:00Z", "2026-03-02T09:30:00Z"), Span::from_mins(90));
        assert_eq!(time("2026-03-02T15:00:00Z", "2026-03-03T09:00:00Z"), Span::from_hours(2));
        assert_eq!(time("2026-03-07T00:00:00Z", "2026-03-08T22:00:00Z"), Span::ZERO);
        assert_eq!(time("2026-03-01T00:00:00Z", "2026-03-08T00:00:00Z"), Span::from_hours(40));
    }

    #[test]
    fn shares_of_changes_are_rounded_up() {
        let changes = Changes { wanted: 3, done: vec![5, 7], ..Changes::default() };
        assert_eq!(changes.time_to(50), Some(Span::from_millis(7)));
        assert_eq!(changes.time_to(90), None);
        assert_eq!(changes.never_done(), 1);
        assert_eq!(Changes::default().time_to(100), Some(Span::ZERO));
    }
}
