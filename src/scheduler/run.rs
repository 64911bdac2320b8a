//! The run: stages one after another, groups side by side, members tried, started and counted.

use crate::bits::Bits;
use crate::ids::{Column, GateId, GroupId, MemberId, StageId};
use crate::scheduler::lane::Lane;
use crate::scheduler::limits::{Limits, NO_LIMITS};
use crate::scheduler::member::MemberRow;
use crate::scheduler::pick::{Candidates, WindowClock};
use crate::scheduler::plan::Plan;
use crate::scheduler::target::Observed;
use crate::scheduler::{Event, Log, Node, NodeKind, Output, Reason, Record, State, Wake};
use crate::time::Timestamp;

/// State and times of one node, as the status tree shows them (T11, R-C13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it left `NotStarted`.
    pub started: Option<Timestamp>,
    /// When it reached a final state; cleared when it is reopened.
    pub completed: Option<Timestamp>,
}

pub(super) const NO_TIMES: Times = Times { started: None, completed: None };

/// What the run as a whole has come to.
#[derive(Debug, Clone, Copy)]
pub struct RunStatus {
    /// Its state.
    pub state: State,
    /// Its times.
    pub times: Times,
    /// Failed updates, ever (T5, R-D4).
    pub failure_count: u32,
    /// Updates in flight.
    pub in_flight: u32,
    /// The stage that is going on or comes next; past the last one when all have ended.
    pub(super) current: u32,
    /// Whether the run has been told to halt, and how it ends when nothing is in flight.
    pub(super) halt: Option<State>,
    /// Members that are Pending.
    pub(super) pending_members: u32,
}

/// How far a stage or group has come, whatever its state shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The run has not come to it.
    NotReached,
    /// It waits for its before-gates.
    BeforeGates,
    /// Its groups run; its members are tried.
    Members,
    /// It waits for its after-gates and its wait.
    AfterGates,
    /// It is over.
    Ended,
}

/// What a stage has come to.
#[derive(Debug, Clone, Copy)]
pub struct StageStatus {
    /// Its state.
    pub state: State,
    /// Its times.
    pub times: Times,
    /// Why it is Failed.
    pub error: Option<Reason>,
    /// Failed updates, ever.
    pub failure_count: u32,
    /// Updates in flight.
    pub in_flight: u32,
    /// Its limits, and how many members of the run it has.
    pub limits: Limits,
    pub(super) phase: Phase,
    /// Failures since the last restart, which the threshold judges (R-D1).
    pub failures: u32,
    /// A threshold was exceeded since the last restart.
    pub(super) failed: bool,
    /// A user skipped it (T9).
    pub(super) skipped: bool,
    /// A restart has reopened it: its next state is news, even if it is the old one.
    pub(super) reopened: bool,
    /// The group whose turn it is (R-B10), counted within the stage.
    pub(super) turn: u32,
}

/// What a group has come to.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is an event of the group's own")]
pub struct GroupStatus {
    /// Its state.
    pub state: State,
    /// Its times.
    pub times: Times,
    /// Why it is Failed.
    pub error: Option<Reason>,
    /// Failed updates, ever.
    pub failure_count: u32,
    /// Updates in flight.
    pub in_flight: u32,
    /// Its limits, and how many members of the run it has.
    pub limits: Limits,
    /// Failures since the last restart, which the threshold judges (R-D1).
    pub failures: u32,
    pub(super) phase: Phase,
    pub(super) failed: bool,
    pub(super) skipped: bool,
    /// A restart has reopened it: its next state is news, even if it is the old one.
    pub(super) reopened: bool,
    /// Its Pending members are looked at now, whatever the grid says (R-B6).
    pub(super) look_now: bool,
    /// Members that have not ended.
    pub(super) open_members: u32,
    /// Members that are Pending.
    pub(super) pending_members: u32,
    /// Members that are Skipped.
    pub(super) skipped_members: u32,
}

/// What a member has come to.
#[derive(Debug, Clone, Copy)]
pub struct MemberStatus {
    /// Its state.
    pub state: State,
    /// Updates started.
    pub attempts: u16,
    /// Its times.
    pub times: Times,
    /// Why it is Pending, Skipped or Failed.
    pub reason: Option<Reason>,
    /// The announced opening, while it is Pending for its window.
    pub until: Option<Timestamp>,
}

/// What a gate has come to.
#[derive(Debug, Clone, Copy)]
pub struct GateStatus {
    /// Its state.
    pub state: State,
    /// Its times.
    pub times: Times,
    /// `absoluteStartTime`, once a scheduled start is reached (G6, R-F11).
    pub absolute_start: Option<Timestamp>,
}

/// What an after-stage wait has come to.
#[derive(Debug, Clone, Copy)]
pub struct WaitStatus {
    /// Its state.
    pub state: State,
    /// Its times.
    pub times: Times,
    pub(super) ends: Timestamp,
}

/// What everything is before the run starts.
const RUN_AT_FIRST: RunStatus = RunStatus {
    state: State::NotStarted,
    times: NO_TIMES,
    failure_count: 0,
    in_flight: 0,
    current: 0,
    halt: None,
    pending_members: 0,
};
const STAGE_AT_FIRST: StageStatus = StageStatus {
    state: State::NotStarted,
    times: NO_TIMES,
    error: None,
    failure_count: 0,
    in_flight: 0,
    limits: NO_LIMITS,
    phase: Phase::NotReached,
    failures: 0,
    failed: false,
    skipped: false,
    reopened: false,
    turn: 0,
};
const GROUP_AT_FIRST: GroupStatus = GroupStatus {
    state: State::NotStarted,
    times: NO_TIMES,
    error: None,
    failure_count: 0,
    in_flight: 0,
    limits: NO_LIMITS,
    phase: Phase::NotReached,
    failures: 0,
    failed: false,
    skipped: false,
    reopened: false,
    look_now: false,
    open_members: 0,
    pending_members: 0,
    skipped_members: 0,
};
const GATE_AT_FIRST: GateStatus =
    GateStatus { state: State::NotStarted, times: NO_TIMES, absolute_start: None };
const WAIT_AT_FIRST: WaitStatus =
    WaitStatus { state: State::NotStarted, times: NO_TIMES, ends: Timestamp::MAX };

/// One update run: the state of everything in the plan.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says that one kind of follow-up is wanted")]
pub struct Scheduler<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) now: Timestamp,
    /// When the run started, from which members count their time.
    pub(super) since: Timestamp,
    pub(super) run: RunStatus,
    pub(super) stages: Column<StageId, StageStatus>,
    pub(super) groups: Column<GroupId, GroupStatus>,
    pub(super) members: Column<MemberId, MemberRow>,
    pub(super) gates: Column<GateId, GateStatus>,
    pub(super) waits: Column<StageId, WaitStatus>,
    pub(super) candidates: Column<GroupId, Candidates>,
    pub(super) windows: WindowClock,
    /// When a window of the current stage's candidates passes an edge next, or before.
    pub(super) next_edge: Timestamp,
    pub(super) observed: Observed,
    /// Members that something else is at work on (R-B7).
    pub(super) busy: Bits,
    /// Members that have left the fleet (R-I21).
    pub(super) left: Bits,
    /// Members of the plan that are not in the run: they were not in the fleet when it was made.
    pub(super) absent: Bits,
    /// Regions with an outage (W3).
    pub(super) outages: Bits,
    /// Endings and decisions whose consequences have not been drawn yet.
    pub(super) unsettled: bool,
    /// Somebody may be tried.
    pub(super) try_wanted: bool,
    /// Running and Pending may have changed since they were last judged.
    pub(super) judge_wanted: bool,
    /// Some groups' Pending members are looked at now, whatever the grid says.
    pub(super) look_now: bool,
    /// Some candidates are candidates for this instant only.
    pub(super) has_due: bool,
    /// The end of the target's support, while it is to come (U7).
    pub(super) support_ends: Option<Timestamp>,
    /// The first grid point that has not been polled.
    pub(super) next_grid: Timestamp,
    pub(super) next_poll: Option<Timestamp>,
    /// The next scheduled start or end of a wait, unless `timers_stale`.
    pub(super) next_timer: Option<(Timestamp, Wake)>,
    pub(super) timers_stale: bool,
    /// The end of the steady time, while there is one: see [`Self::steady_until`].
    pub(super) steady_until: Timestamp,
    /// Who starts next in it, where that is one after the other.
    pub(super) lane: Option<Lane<'p>>,
    pub(super) restarts: u32,
    pub(super) approvals: u32,
    pub(super) out: Vec<Output>,
}

impl<'p> Scheduler<'p> {
    /// A run that has not started.
    pub fn new(plan: &'p Plan<'p>) -> Self {
        let mut scheduler = Self {
            plan,
            now: Timestamp::MIN,
            since: Timestamp::default(),
            run: RUN_AT_FIRST,
            stages: Column::new(),
            groups: Column::new(),
            members: Column::new(),
            gates: Column::new(),
            waits: Column::new(),
            candidates: plan.groups.iter().map(|_| Candidates::default()).collect(),
            windows: WindowClock::default(),
            next_edge: Timestamp::MAX,
            observed: Observed::default(),
            busy: Bits::default(),
            left: Bits::default(),
            absent: Bits::default(),
            outages: Bits::default(),
            unsettled: false,
            try_wanted: false,
            judge_wanted: false,
            look_now: false,
            has_due: false,
            support_ends: None,
            next_grid: Timestamp::MAX,
            next_poll: None,
            next_timer: None,
            timers_stale: false,
            steady_until: Timestamp::MIN,
            lane: None,
            restarts: 0,
            approvals: 0,
            out: Vec::new(),
        };
        scheduler.reset();
        scheduler
    }

    /// Back to a run that has not started, keeping every allocation. Equals [`Scheduler::new`].
    pub fn reset(&mut self) {
        let plan = self.plan;
        self.now = Timestamp::MIN;
        self.run = RUN_AT_FIRST;
        self.stages.refill(plan.stages.len(), STAGE_AT_FIRST);
        self.groups.refill(plan.groups.len(), GROUP_AT_FIRST);
        for (status, stage) in self.stages.iter_mut().zip(&plan.stages) {
            status.limits = stage.limits();
        }
        for id in plan.groups.ids() {
            let limits = plan.groups[id].limits();
            (self.groups[id].open_members, self.groups[id].limits) = (limits.size, limits);
            self.candidates[id].reset(&plan.groups[id]);
        }
        self.members.refill(plan.fleet.members.len(), MemberRow::default());
        self.gates.refill(plan.gates.len(), GATE_AT_FIRST);
        self.waits.refill(plan.stages.len(), WAIT_AT_FIRST);
        self.windows.reset(plan);
        self.next_edge = Timestamp::MAX;
        self.observed.reset(plan);
        self.busy.reset(plan.fleet.members.len());
        self.left.reset(plan.fleet.members.len());
        self.absent.clear();
        self.outages.reset(plan.fleet.regions.len());
        (self.unsettled, self.try_wanted, self.judge_wanted) = (false, false, false);
        (self.look_now, self.has_due, self.support_ends) = (false, false, None);
        (self.next_grid, self.next_poll) = (Timestamp::MAX, None);
        (self.next_timer, self.timers_stale) = (None, false);
        (self.steady_until, self.lane) = (Timestamp::MIN, None);
        (self.restarts, self.approvals) = (0, 0);
        self.out.clear();
    }

    /// Takes one event at `now` and returns what the driver must do, which [`Self::outputs`]
    /// repeats until the next event.
    #[inline]
    #[must_use = "dropping the outputs loses them"]
    pub fn handle(&mut self, now: Timestamp, event: Event<'_>, log: &mut impl Log) -> &[Output] {
        self.out.clear();
        self.steady_until = Timestamp::MIN;
        assert!(now >= self.now, "time ran backwards: {now} after {}", self.now);
        let finished = !(self.unsettled || self.try_wanted);
        assert!(now == self.now || finished, "an instant was left unfinished at {}", self.now);
        self.now = now;
        match event {
            Event::UpdateCompleted(member) => self.end_update(member, None, log),
            Event::UpdateFailed(member, code) => self.end_update(member, Some(code), log),
            Event::Woke => self.woke(log),
            event => self.take_news(event, log),
        }
        self.replan_timers();
        &self.out
    }

    /// Takes an event that comes but now and then.
    #[inline(never)]
    fn take_news(&mut self, event: Event<'_>, log: &mut impl Log) {
        let now = self.now;
        match event {
            Event::Started => self.start(log),
            Event::Arrived(what, region) => {
                if self.observed.observe_release(what, region, now) {
                    self.look_at_all();
                }
                self.try_wanted |= self.polls_always();
            }
            Event::Withdrawn(what) => {
                self.observed.withdraw(what);
                self.look_at_all();
                self.try_wanted |= self.polls_always();
            }
            Event::PoolAdded(member, pool, version) => {
                self.observed.add_pool(member, pool, version);
                self.look_at_member(member);
                self.try_wanted |= self.polls_always();
            }
            Event::Busy(member, true) => {
                assert!(self.members[member].state() != State::Running, "one work at a time");
                self.busy.insert(member.0);
            }
            Event::Busy(member, false) => {
                self.busy.remove(member.0);
                self.look_at_member(member);
                self.try_wanted |= self.polls_always();
            }
            Event::PowerState(member, power) => self.observed.turn(member, power),
            Event::Left(member) => self.member_leaves(member, log),
            Event::Outage(region, begins) => {
                self.observe_outage(region, begins);
                self.look_at_all();
                self.try_wanted |= self.polls_always();
            }
            Event::Act(action) => {
                self.fire_timers(log);
                self.settle(log);
                self.act(action, log);
                self.settle(log);
                self.try_wanted |= self.polls_always();
            }
            Event::UpdateCompleted(_) | Event::UpdateFailed(..) | Event::Woke => {
                unreachable!("{event:?} is none of these")
            }
        }
    }

    /// What the driver must do after the last event.
    pub fn outputs(&self) -> &[Output] {
        &self.out
    }

    /// When to call [`Scheduler::handle`] with [`Event::Woke`], and why.
    #[inline]
    pub fn next_wake(&self) -> Option<(Timestamp, Wake)> {
        if self.unsettled || self.try_wanted || self.judge_wanted {
            return Some((self.now, Wake::Now));
        }
        match (self.next_timer, self.next_poll) {
            (Some(timer), Some(poll)) if poll < timer.0 => Some((poll, Wake::Poll)),
            (None, Some(poll)) => Some((poll, Wake::Poll)),
            (timer, _) => timer,
        }
    }

    /// Woken: draw the consequences of this instant, try members, judge.
    fn woke(&mut self, log: &mut impl Log) {
        self.fire_timers(log);
        self.settle(log);
        self.poll_if_due();
        while self.try_wanted {
            self.try_wanted = false;
            self.try_members(log);
            self.settle(log);
        }
        // An update without length may end at this very instant: then it is not over yet (R-A6).
        if self.out.is_empty() {
            self.end_instant();
            self.judge(log);
        } else {
            let judge = std::mem::take(&mut self.judge_wanted);
            self.judge_wanted = self.has_due || (judge && self.judges_differently());
        }
        self.replan_poll();
    }

    /// The run's state, times and counts.
    pub fn run(&self) -> &RunStatus {
        &self.run
    }

    /// What a stage has come to.
    pub fn stage(&self, id: StageId) -> &StageStatus {
        &self.stages[id]
    }

    /// What a group has come to.
    pub fn group(&self, id: GroupId) -> &GroupStatus {
        &self.groups[id]
    }

    /// What a member has come to.
    pub fn member(&self, id: MemberId) -> MemberStatus {
        self.members[id].status(self.since)
    }

    /// A member's state alone: cheaper than all that [`Self::member`] says.
    #[inline]
    pub fn member_state(&self, id: MemberId) -> State {
        self.members[id].state()
    }

    /// When a member ended, if it has: cheaper than all that [`Self::member`] says.
    #[inline]
    pub fn member_completed(&self, id: MemberId) -> Option<Timestamp> {
        self.members[id].completed(self.since)
    }

    /// What a gate has come to.
    pub fn gate(&self, id: GateId) -> &GateStatus {
        &self.gates[id]
    }

    /// What a stage's wait has come to.
    pub fn wait(&self, id: StageId) -> &WaitStatus {
        &self.waits[id]
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> &'p Plan<'p> {
        self.plan
    }

    /// How often people restarted the run.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// How many gates people approved.
    pub fn approvals(&self) -> u32 {
        self.approvals
    }

    /// Changes a member's state, its times and the record.
    #[inline]
    pub(super) fn go_member(
        &mut self,
        id: MemberId,
        to: State,
        reason: Option<Reason>,
        until: Option<Timestamp>,
        log: &mut impl Log,
    ) {
        let time = self.now;
        let row = &mut self.members[id];
        let from = row.state();
        let news_of_pending = from == State::Pending && to == State::Pending;
        assert!(
            NodeKind::Member.may_go(from, to) || news_of_pending,
            "{id:?}: no move from {from} to {to}"
        );
        row.go((to, reason), until, time, self.since);
        log.record(Record { time, node: Node::Member(id), from, to, reason, until });
    }

    /// Changes a node's state, its times and the record; every change but the members' goes
    /// through here.
    pub(super) fn go(
        &mut self,
        node: Node,
        to: State,
        reason: Option<Reason>,
        until: Option<Timestamp>,
        log: &mut impl Log,
    ) {
        let now = self.now;
        let mut again = false;
        let (state, times) = match node {
            Node::Run => (&mut self.run.state, &mut self.run.times),
            Node::Stage(id) => {
                let node = &mut self.stages[id];
                again = std::mem::take(&mut node.reopened);
                (&mut node.state, &mut node.times)
            }
            Node::Group(id) => {
                let node = &mut self.groups[id];
                again = std::mem::take(&mut node.reopened);
                (&mut node.state, &mut node.times)
            }
            Node::Member(id) => return self.go_member(id, to, reason, until, log),
            Node::Gate(id) => {
                self.timers_stale = true;
                let node = &mut self.gates[id];
                (&mut node.state, &mut node.times)
            }
            Node::Wait(id) => {
                self.timers_stale = true;
                let node = &mut self.waits[id];
                (&mut node.state, &mut node.times)
            }
        };
        let from = *state;
        assert!(
            node.kind().may_go(from, to) || (again && from == to),
            "{node:?}: no move from {from} to {to}"
        );
        *state = to;
        times.started = times.started.or(Some(now));
        times.completed = to.is_ended().then_some(now);
        log.record(Record { time: now, node, from, to, reason, until });
    }
}
