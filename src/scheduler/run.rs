//! The run: stages one after another, groups side by side, members tried, started and counted.

use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage};
use crate::ids::{Column, GateId, GroupId, MemberId, StageId};
use crate::scheduler::pick::{Candidates, WindowClock, WindowNow};
use crate::scheduler::plan::{GroupPlan, Plan, StagePlan, ids};
use crate::scheduler::target::{Observed, Trial};
use crate::scheduler::{
    Action, Event, FailureCode, GroupOrder, Log, Node, NodeKind, Output, Reason, Record, Refusal,
    Restart, State, Support, Wake,
};
use crate::time::{Span, Timestamp};

/// State and times of one node, as the status tree shows them (T11, R-C13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it left `NotStarted`.
    pub started: Option<Timestamp>,
    /// When it reached a final state; cleared when it is reopened.
    pub completed: Option<Timestamp>,
}

const NO_TIMES: Times = Times { started: None, completed: None };

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
    /// Whether a halt was decided but not yet shown (it is shown after the endings, R-B15).
    pub(super) halt_unshown: bool,
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
    pub(super) phase: Phase,
    /// Failures since the last restart (R-D1).
    pub(super) failures: u32,
    /// A threshold was exceeded since the last restart.
    pub(super) failed: bool,
    /// A user skipped it (T9).
    pub(super) skipped: bool,
    /// The group whose turn it is (R-B10), counted within the stage.
    pub(super) turn: u32,
}

/// What a group has come to.
#[derive(Debug, Clone, Copy)]
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
    pub(super) phase: Phase,
    pub(super) failures: u32,
    pub(super) failed: bool,
    pub(super) skipped: bool,
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

/// One update run: the state of everything in the plan.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says that one kind of follow-up is wanted")]
pub struct Scheduler<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) now: Timestamp,
    pub(super) run: RunStatus,
    pub(super) stages: Column<StageId, StageStatus>,
    pub(super) groups: Column<GroupId, GroupStatus>,
    pub(super) members: Column<MemberId, MemberStatus>,
    pub(super) gates: Column<GateId, GateStatus>,
    pub(super) waits: Column<StageId, WaitStatus>,
    pub(super) candidates: Column<GroupId, Candidates>,
    pub(super) windows: WindowClock,
    pub(super) observed: Observed,
    /// Endings and decisions whose consequences have not been drawn yet.
    pub(super) unsettled: bool,
    /// Somebody may be tried.
    pub(super) try_wanted: bool,
    /// Running and Pending may have changed since they were last judged.
    pub(super) judge_wanted: bool,
    /// Some groups' Pending members are looked at now, whatever the grid says.
    look_now: bool,
    /// Some candidates are candidates for this instant only.
    has_due: bool,
    /// The end of the target's support, while it is to come (U7).
    support_ends: Option<Timestamp>,
    /// The first grid point that has not been polled.
    next_grid: Timestamp,
    next_poll: Option<Timestamp>,
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
            run: RunStatus {
                state: State::NotStarted,
                times: NO_TIMES,
                failure_count: 0,
                in_flight: 0,
                current: 0,
                halt: None,
                halt_unshown: false,
            },
            stages: Column::new(),
            groups: Column::new(),
            members: Column::new(),
            gates: Column::new(),
            waits: Column::new(),
            candidates: plan.groups.iter().map(|_| Candidates::default()).collect(),
            windows: WindowClock::default(),
            observed: Observed::default(),
            unsettled: false,
            try_wanted: false,
            judge_wanted: false,
            look_now: false,
            has_due: false,
            support_ends: None,
            next_grid: Timestamp::MAX,
            next_poll: None,
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
        self.run = RunStatus {
            state: State::NotStarted,
            times: NO_TIMES,
            failure_count: 0,
            in_flight: 0,
            current: 0,
            halt: None,
            halt_unshown: false,
        };
        let stage = StageStatus {
            state: State::NotStarted,
            times: NO_TIMES,
            error: None,
            failure_count: 0,
            in_flight: 0,
            phase: Phase::NotReached,
            failures: 0,
            failed: false,
            skipped: false,
            turn: 0,
        };
        self.stages.refill(plan.stages.len(), stage);
        let group = GroupStatus {
            state: State::NotStarted,
            times: NO_TIMES,
            error: None,
            failure_count: 0,
            in_flight: 0,
            phase: Phase::NotReached,
            failures: 0,
            failed: false,
            skipped: false,
            look_now: false,
            open_members: 0,
            pending_members: 0,
            skipped_members: 0,
        };
        self.groups.refill(plan.groups.len(), group);
        for id in plan.groups.ids() {
            let members = plan.groups[id].members.len();
            self.groups[id].open_members = u32::try_from(members).expect("members fit u32");
            self.candidates[id].reset(&plan.groups[id]);
        }
        let member = MemberStatus {
            state: State::NotStarted,
            attempts: 0,
            times: NO_TIMES,
            reason: None,
            until: None,
        };
        self.members.refill(plan.fleet.members.len(), member);
        let gate = GateStatus { state: State::NotStarted, times: NO_TIMES, absolute_start: None };
        self.gates.refill(plan.gates.len(), gate);
        let wait = WaitStatus { state: State::NotStarted, times: NO_TIMES, ends: Timestamp::MAX };
        self.waits.refill(plan.stages.len(), wait);
        self.windows.reset(plan);
        self.observed.reset(plan);
        (self.unsettled, self.try_wanted, self.judge_wanted) = (false, false, false);
        (self.look_now, self.has_due, self.support_ends) = (false, false, None);
        (self.next_grid, self.next_poll) = (Timestamp::MAX, None);
        (self.restarts, self.approvals) = (0, 0);
        self.out.clear();
    }

    /// Learns, before the run starts, that a release reached a region at `at`. Releases must be
    /// told in the order of time.
    pub fn observe_release(
        &mut self,
        what: super::Released,
        region: crate::ids::RegionId,
        at: Timestamp,
    ) {
        self.observed.observe_release(self.plan, what, region, at);
    }

    /// Learns, before the run starts, what the nodes of a member's pool run.
    pub fn observe_pool(&mut self, member: MemberId, pool: usize, version: ImageVersion) {
        self.observed.observe_pool(member, pool, version);
    }

    /// Learns, before the run starts, until when the target Kubernetes version is supported (U7).
    pub fn observe_support(&mut self, support: Support) {
        self.support_ends = support.community_until;
        self.observed.observe_support(support);
    }

    /// Takes one event at `now` and returns what the driver must do.
    ///
    /// The iterator borrows the scheduler: the next call cannot compile until it is gone.
    #[must_use = "dropping the outputs loses them"]
    pub fn handle(
        &mut self,
        now: Timestamp,
        event: Event<'_>,
        log: &mut impl Log,
    ) -> std::vec::Drain<'_, Output> {
        assert!(now >= self.now, "time ran backwards: {now} after {}", self.now);
        assert!(
            now == self.now || !self.unsettled,
            "an instant was left unfinished at {}",
            self.now
        );
        self.now = now;
        match event {
            Event::Started => self.start(log),
            Event::UpdateCompleted(member) => self.end_update(member, None, log),
            Event::UpdateFailed(member, code) => self.end_update(member, Some(code), log),
            Event::Arrived(what, region) => {
                if self.observed.observe_release(self.plan, what, region, now) {
                    self.look_at_all();
                }
                self.try_wanted |= self.polls_always();
            }
            Event::PoolAdded(member, pool, version) => {
                self.observed.add_pool(member, pool, version);
                if let Some(place) = self.plan.places[member] {
                    let group = &self.plan.groups[place.group];
                    self.candidates[place.group].look_at_member(group, place.position);
                    self.replan_poll();
                }
                self.try_wanted |= self.polls_always();
            }
            Event::Act(action) => {
                self.fire_timers(log);
                self.settle(log);
                self.act(action, log);
                self.settle(log);
                self.try_wanted |= self.polls_always();
            }
            Event::Woke => self.woke(log),
        }
        self.out.drain(..)
    }

    /// When to call [`Scheduler::handle`] with [`Event::Woke`], and why.
    pub fn next_wake(&self) -> Option<(Timestamp, Wake)> {
        if self.unsettled || self.try_wanted || self.judge_wanted {
            return Some((self.now, Wake::Now));
        }
        let poll = self.next_poll.map(|at| (at, Wake::Poll));
        self.timers().chain(poll).min_by_key(|(at, _)| *at)
    }

    /// Woken: draw the consequences of this instant, try members, judge.
    fn woke(&mut self, log: &mut impl Log) {
        self.fire_timers(log);
        self.settle(log);
        let before = self.out.len();
        self.poll_if_due();
        while self.try_wanted {
            self.try_wanted = false;
            self.try_members(log);
            self.settle(log);
        }
        // An update without length may end at this very instant: then it is not over yet (R-A6).
        if self.out.len() > before {
            self.judge_wanted = self.has_due || self.judges_differently();
        } else {
            self.end_instant();
            self.judge(log);
        }
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
    pub fn member(&self, id: MemberId) -> &MemberStatus {
        &self.members[id]
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

    /// The images of a member's pools now, in the pools' order.
    pub fn images(&self, member: MemberId) -> impl Iterator<Item = NodeImage> + '_ {
        self.observed.images_of(member)
    }

    /// What a running update brings to each pool of a member; `None` for pools left alone.
    pub fn planned_images(
        &self,
        member: MemberId,
    ) -> impl Iterator<Item = Option<ImageVersion>> + '_ {
        self.observed.planned_of(member)
    }

    /// A member's Kubernetes version now.
    pub fn kubernetes_version(&self, member: MemberId) -> Option<KubernetesVersion> {
        self.observed.kubernetes_of(member)
    }

    /// The target images of the run: chosen (Consistent, from the run's start) or given (Custom).
    pub fn target_images(&self) -> impl Iterator<Item = NodeImage> + '_ {
        self.observed.targets()
    }

    /// How often people restarted the run.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// How many gates people approved.
    pub fn approvals(&self) -> u32 {
        self.approvals
    }

    // ------------------------------------------------------------------ moves

    /// Changes a node's state, its times and the record; every change goes through here.
    pub(super) fn go(
        &mut self,
        node: Node,
        to: State,
        reason: Option<Reason>,
        until: Option<Timestamp>,
        log: &mut impl Log,
    ) {
        let now = self.now;
        let (state, times) = match node {
            Node::Run => (&mut self.run.state, &mut self.run.times),
            Node::Stage(id) => {
                let node = &mut self.stages[id];
                (&mut node.state, &mut node.times)
            }
            Node::Group(id) => {
                let node = &mut self.groups[id];
                (&mut node.state, &mut node.times)
            }
            Node::Member(id) => {
                let node = &mut self.members[id];
                (&mut node.state, &mut node.times)
            }
            Node::Gate(id) => {
                let node = &mut self.gates[id];
                (&mut node.state, &mut node.times)
            }
            Node::Wait(id) => {
                let node = &mut self.waits[id];
                (&mut node.state, &mut node.times)
            }
        };
        let from = *state;
        assert!(
            node.kind().may_go(from, to) || (node.kind() == NodeKind::Member && from == to),
            "{node:?}: no move from {from} to {to}"
        );
        *state = to;
        times.started = times.started.or(Some(now));
        times.completed = to.is_ended().then_some(now);
        log.record(Record { time: now, node, from, to, reason, until });
    }

    fn start(&mut self, log: &mut impl Log) {
        assert!(self.run.state == State::NotStarted, "the run has been started already");
        self.next_grid = self.now;
        self.go(Node::Run, State::Running, None, None, log);
        if self.plan.update.node_images == super::NodeImageSelection::Consistent {
            self.observed.choose_consistent(self.plan);
        }
        self.judge_wanted = true;
        self.settle_now(log);
    }

    fn end_update(&mut self, id: MemberId, failed: Option<FailureCode>, log: &mut impl Log) {
        assert!(self.members[id].state == State::Running, "{id:?} ended without being updated");
        let place = self.plan.places[id].expect("only members of the run are updated");
        let stage = self.plan.groups[place.group].stage;
        self.run.in_flight -= 1;
        self.stages[stage].in_flight -= 1;
        self.groups[place.group].in_flight -= 1;
        self.groups[place.group].open_members -= 1;
        match failed {
            None => {
                self.observed.complete(self.plan, id);
                self.members[id].reason = None;
                self.go(Node::Member(id), State::Completed, None, None, log);
            }
            Some(code) => self.fail(id, Reason::Reported(code), log),
        }
        (self.unsettled, self.try_wanted, self.judge_wanted) = (true, true, true);
    }

    /// A failed member update counts for its group, stage and run (T5, L5), and stops the run when
    /// a threshold is exceeded (L7, R-C7, R-C9).
    fn fail(&mut self, id: MemberId, reason: Reason, log: &mut impl Log) {
        let group = self.plan.places[id].expect("only members of the run fail").group;
        let stage = self.plan.groups[group].stage;
        self.members[id].reason = Some(reason);
        self.go(Node::Member(id), State::Failed, Some(reason), None, log);
        self.run.failure_count += 1;
        self.stages[stage].failure_count += 1;
        self.stages[stage].failures += 1;
        let status = &mut self.groups[group];
        status.failure_count += 1;
        status.failures += 1;
        let mut because = Reason::MaxAllowedFailuresExceeded;
        if status.failures > self.plan.groups[group].max_allowed_failures && !status.failed {
            status.failed = true;
            status.error = Some(because);
            self.go(Node::Group(group), State::Failed, None, None, log);
        }
        let over = self.stages[stage].failures > self.plan.stages[stage].max_allowed_failures;
        if !over {
            because = Reason::GroupFailed;
        }
        let status = &mut self.stages[stage];
        if (over || self.groups[group].failed) && !status.failed {
            status.failed = true;
            status.error = Some(because);
            self.go(Node::Stage(stage), State::Failed, None, None, log);
            self.halt(State::Failed);
        }
        self.unsettled = true;
    }

    /// Nothing new starts from now on; the run ends as `end` when nothing is in flight.
    pub(super) fn halt(&mut self, end: State) {
        self.run.halt = Some(end);
        self.run.halt_unshown = true;
        self.unsettled = true;
        self.next_poll = None;
    }

    pub(super) fn halted(&self) -> bool {
        self.run.halt.is_some()
    }

    // ------------------------------------------------------- what follows by itself

    pub(super) fn settle_now(&mut self, log: &mut impl Log) {
        self.unsettled = true;
        self.settle(log);
    }

    /// Draws all consequences: ends of groups and stages, gates and waits that begin, the next
    /// stage (R-A1, R-C10: endings take effect always, beginnings only while the run goes on).
    pub(super) fn settle(&mut self, log: &mut impl Log) {
        if !self.unsettled {
            return;
        }
        self.unsettled = false;
        while !self.run_has_ended() && self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            if !self.advance_stage(id, log) {
                break;
            }
            self.run.current += 1;
        }
        self.settle_run(log);
    }

    fn stage_count(&self) -> u32 {
        u32::try_from(self.plan.stages.len()).expect("stages fit u32")
    }

    pub(super) fn run_has_ended(&self) -> bool {
        matches!(self.run.state, State::Completed | State::Skipped)
    }

    /// Halts, ends or leaves the run as it is.
    fn settle_run(&mut self, log: &mut impl Log) {
        if let Some(end) = self.run.halt {
            self.show_halt(end, log);
        } else if self.run.current == self.stage_count() && !self.run_has_ended() {
            let skipped = self.stages.iter().all(|stage| stage.state == State::Skipped);
            let end = if skipped { State::Skipped } else { State::Completed };
            self.go(Node::Run, end, None, None, log);
            (self.try_wanted, self.judge_wanted, self.next_poll) = (false, false, None);
        }
    }

    /// Shows a halt: groups, then their stage, then the run (R-C8).
    fn show_halt(&mut self, end: State, log: &mut impl Log) {
        if self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            for group in ids::<GroupId>(&self.plan.stages[id].groups) {
                let GroupStatus { phase, failed, in_flight, .. } = self.groups[group];
                if !failed && phase != Phase::NotReached && phase != Phase::Ended {
                    self.stop_node(Node::Group(group), in_flight, log);
                }
            }
            let StageStatus { phase, failed, in_flight, .. } = self.stages[id];
            if !failed && phase != Phase::NotReached && phase != Phase::Ended {
                self.stop_node(Node::Stage(id), in_flight, log);
            }
        }
        self.run.halt_unshown = false;
        if self.run.in_flight > 0 {
            if self.run.state != State::Stopping {
                self.go(Node::Run, State::Stopping, None, None, log);
            }
        } else if self.run.state != State::Stopped && self.run.state != State::Failed {
            self.go(Node::Run, end, None, None, log);
        }
        (self.try_wanted, self.judge_wanted, self.next_poll) = (false, false, None);
    }

    fn stop_node(&mut self, node: Node, in_flight: u32, log: &mut impl Log) {
        let to = if in_flight > 0 { State::Stopping } else { State::Stopped };
        let state = match node {
            Node::Stage(id) => self.stages[id].state,
            Node::Group(id) => self.groups[id].state,
            Node::Run | Node::Member(_) | Node::Gate(_) | Node::Wait(_) => return,
        };
        if state != to && state != State::Stopped {
            self.go(node, to, None, None, log);
        }
    }

    /// Takes a stage as far as it goes by itself; says whether it has ended.
    fn advance_stage(&mut self, id: StageId, log: &mut impl Log) -> bool {
        let plan = &self.plan.stages[id];
        if self.stages[id].phase == Phase::NotReached {
            if self.halted() {
                return false;
            }
            self.begin_stage(id, log);
        }
        if self.stages[id].phase == Phase::BeforeGates {
            if self.nothing_but_skipped(plan) {
                self.skip_stage(id, Reason::AllGroupsSkipped, log);
            } else if self.are_done(&plan.before_gates) && !self.halted() {
                self.begin_groups(id, log);
            }
        }
        if self.stages[id].phase == Phase::Members {
            for group in ids::<GroupId>(&plan.groups) {
                self.advance_group(group, log);
            }
            let ended = ids::<GroupId>(&plan.groups).all(|g| self.groups[g].phase == Phase::Ended);
            if ended {
                self.end_groups(id, log);
            }
        }
        if self.stages[id].phase == Phase::AfterGates
            && self.are_done(&plan.after_gates)
            && self.wait_is_done(id)
            && !self.stages[id].failed
        {
            self.end_stage(id, State::Completed, log);
        }
        self.stages[id].phase == Phase::Ended
    }

    /// Whether a stage has nothing but groups that are Skipped or would be at once (R-C17).
    fn nothing_but_skipped(&self, plan: &StagePlan) -> bool {
        ids::<GroupId>(&plan.groups).all(|id| {
            let group = &self.groups[id];
            group.skipped_members as usize == self.plan.groups[id].members.len()
        })
    }

    fn begin_stage(&mut self, id: StageId, log: &mut impl Log) {
        let plan = &self.plan.stages[id];
        self.judge_wanted = true;
        if self.nothing_but_skipped(plan) {
            self.skip_stage(id, Reason::AllGroupsSkipped, log);
            return;
        }
        self.go(Node::Stage(id), State::Running, None, None, log);
        self.stages[id].phase = Phase::BeforeGates;
        self.open_gates(&plan.before_gates, log);
    }

    fn begin_groups(&mut self, id: StageId, log: &mut impl Log) {
        self.stages[id].phase = Phase::Members;
        (self.try_wanted, self.judge_wanted) = (true, true);
        for group in ids::<GroupId>(&self.plan.stages[id].groups) {
            let plan = &self.plan.groups[group];
            if self.groups[group].phase == Phase::Ended {
                continue;
            }
            if self.groups[group].open_members == 0 {
                self.skip_group(group, skipped_because(plan), log);
                continue;
            }
            self.go(Node::Group(group), State::Running, None, None, log);
            self.groups[group].phase = Phase::BeforeGates;
            self.open_gates(&plan.before_gates, log);
        }
    }

    /// Takes a group as far as it goes by itself.
    fn advance_group(&mut self, id: GroupId, log: &mut impl Log) {
        let plan = &self.plan.groups[id];
        if self.groups[id].phase == Phase::BeforeGates && self.are_done(&plan.before_gates) {
            self.begin_members(id);
        }
        let group = &self.groups[id];
        if group.phase == Phase::NotReached || group.phase == Phase::Ended {
            return;
        }
        if group.open_members > 0 || group.in_flight > 0 {
            return;
        }
        if group.skipped {
            self.skip_group(id, Reason::User, log);
        } else if group.failed {
            // It stays Failed until the run is restarted (R-D2) or a user skips it (R-E4).
        } else if group.skipped_members as usize == plan.members.len() {
            self.skip_group(id, skipped_because(plan), log);
        } else {
            let group = &mut self.groups[id];
            if group.phase == Phase::Members && (plan.after_gates.is_empty() || !self.halted()) {
                self.groups[id].phase = Phase::AfterGates;
                self.judge_wanted = true;
                self.open_gates(&plan.after_gates, log);
            }
            if self.groups[id].phase == Phase::AfterGates && self.are_done(&plan.after_gates) {
                self.groups[id].phase = Phase::Ended;
                self.go(Node::Group(id), State::Completed, None, None, log);
            }
        }
    }

    fn begin_members(&mut self, id: GroupId) {
        let plan = &self.plan.groups[id];
        self.groups[id].phase = Phase::Members;
        (self.try_wanted, self.judge_wanted) = (true, true);
        let candidates = &mut self.candidates[id];
        candidates.begin(self.plan, plan, &mut self.windows, self.now);
        for (position, member) in (0..).zip(&plan.members) {
            if self.members[*member].state == State::NotStarted {
                candidates.add(plan, position);
            }
        }
    }

    /// All groups of a stage have ended: gates and wait begin together (G4), or nothing is left.
    fn end_groups(&mut self, id: StageId, log: &mut impl Log) {
        let plan = &self.plan.stages[id];
        if self.stages[id].skipped {
            self.skip_stage(id, Reason::User, log);
        } else if ids::<GroupId>(&plan.groups).all(|g| self.groups[g].state == State::Skipped) {
            self.skip_stage(id, Reason::AllGroupsSkipped, log);
        } else if !self.stages[id].failed && (!self.halted() || self.needs_nothing_after(id)) {
            self.stages[id].phase = Phase::AfterGates;
            self.judge_wanted = true;
            if !self.halted() {
                self.open_gates(&plan.after_gates, log);
                self.begin_wait(id, log);
            }
        }
    }

    /// Whether a stage whose groups have ended has no gate and no wait before it.
    fn needs_nothing_after(&self, id: StageId) -> bool {
        self.are_done(&self.plan.stages[id].after_gates) && self.wait_is_done(id)
    }

    fn end_stage(&mut self, id: StageId, state: State, log: &mut impl Log) {
        self.stages[id].phase = Phase::Ended;
        self.judge_wanted = true;
        self.go(Node::Stage(id), state, None, None, log);
    }

    // ------------------------------------------------------------------ trying members

    /// Tries members of the current stage, as long as a slot is free in their group and stage.
    fn try_members(&mut self, log: &mut impl Log) {
        if self.halted() || self.run_has_ended() || self.run.current >= self.stage_count() {
            return;
        }
        let id = StageId(self.run.current);
        if self.stages[id].phase != Phase::Members {
            return;
        }
        let plan = &self.plan.stages[id];
        let groups = plan.groups.end - plan.groups.start;
        for group in ids::<GroupId>(&plan.groups) {
            self.pass_edges(group);
        }
        // Passes over the groups that start nobody; stops after a whole round of them.
        let mut idle = 0;
        while idle < groups && self.stages[id].in_flight < plan.max_concurrency && !self.halted() {
            let turn = match self.plan.update.group_order {
                GroupOrder::RoundRobin => (self.stages[id].turn + idle) % groups,
                GroupOrder::StrategyOrder => idle,
                GroupOrder::Reverse => groups - 1 - idle,
            };
            if self.take_turn(GroupId(plan.groups.start + turn), log) {
                self.stages[id].turn = (turn + 1) % groups;
                idle = 0;
            } else {
                idle += 1;
            }
        }
        self.replan_poll();
    }

    fn pass_edges(&mut self, id: GroupId) {
        if self.groups[id].phase != Phase::Members {
            return;
        }
        let (plan, members) = (&self.plan.groups[id], &self.members);
        let is_pending =
            |position: u32| members[plan.members[position as usize]].state == State::Pending;
        self.candidates[id].pass_edges(self.plan, plan, &mut self.windows, self.now, is_pending);
    }

    /// A group's turn: its candidates in O2's order until one starts (R-B11). Says whether one did.
    fn take_turn(&mut self, id: GroupId, log: &mut impl Log) -> bool {
        let plan = &self.plan.groups[id];
        if self.groups[id].phase != Phase::Members {
            return false;
        }
        while self.groups[id].in_flight < plan.max_concurrency && !self.halted() {
            let Some(position) = self.candidates[id].first() else { return false };
            self.candidates[id].remove(plan, position);
            if self.try_member(id, plan.members[position as usize], log) {
                return true;
            }
        }
        false
    }

    /// Tries one member (R-B7, R-B8). Says whether its update started.
    fn try_member(&mut self, group: GroupId, id: MemberId, log: &mut impl Log) -> bool {
        match self.trial(group, id) {
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

    /// What a trial of the member would come to now, and the announced opening.
    fn trial(&mut self, group: GroupId, id: MemberId) -> (Trial, Option<Timestamp>) {
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
        self.leave_waiting(group, id);
        self.observed.start(self.plan, id);
        self.run.in_flight += 1;
        self.stages[self.plan.groups[group].stage].in_flight += 1;
        self.groups[group].in_flight += 1;
        let member = &mut self.members[id];
        (member.reason, member.until) = (None, None);
        let attempt = member.attempts;
        member.attempts += 1;
        self.judge_wanted = true;
        self.go(Node::Member(id), State::Running, None, None, log);
        self.out.push(Output::StartUpdate { member: id, attempt });
    }

    fn make_pending(
        &mut self,
        group: GroupId,
        id: MemberId,
        reason: Reason,
        until: Option<Timestamp>,
        log: &mut impl Log,
    ) {
        let member = &mut self.members[id];
        let news = member.reason != Some(reason) || member.until != until;
        let pending = member.state == State::Pending;
        (member.reason, member.until) = (Some(reason), until);
        if !pending {
            let position = self.plan.places[id].expect("only members of the run wait").position;
            self.groups[group].pending_members += 1;
            self.candidates[group].count_pending(&self.plan.groups[group], position, 1);
        }
        if !pending || news {
            self.go(Node::Member(id), State::Pending, Some(reason), until, log);
        }
    }

    /// A member is Pending no more.
    pub(super) fn leave_waiting(&mut self, group: GroupId, id: MemberId) {
        if self.members[id].state == State::Pending {
            let position = self.plan.places[id].expect("only members of the run wait").position;
            self.groups[group].pending_members -= 1;
            self.candidates[group].count_pending(&self.plan.groups[group], position, -1);
            self.members[id].until = None;
        }
    }

    // ------------------------------------------------------------------ polls

    /// Whether every instant is a poll (`pollInterval: 0`, R-B5).
    fn polls_always(&self) -> bool {
        self.plan.update.poll_interval == Span::ZERO && !self.halted() && !self.run_has_ended()
    }

    /// The first grid point at or after an instant (R-B4).
    fn grid_from(&self, at: Timestamp) -> Timestamp {
        let interval = self.plan.update.poll_interval.as_millis();
        let start = self.run.times.started.expect("polls come after the start");
        if interval == 0 || at <= start {
            return at.max(start);
        }
        let steps = ((at - start).as_millis() + interval - 1) / interval;
        start + Span::from_millis(steps * interval)
    }

    /// At a poll, a restart or a skip: notices Pending members and finds stale messages.
    fn poll_if_due(&mut self) {
        let started = self.run.times.started.is_some();
        if !started || self.halted() || self.run_has_ended() {
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
    fn look_at_group(&mut self, id: GroupId) {
        if self.groups[id].phase != Phase::Members || self.groups[id].pending_members == 0 {
            return;
        }
        self.pass_edges(id);
        let plan = &self.plan.groups[id];
        while let Some(cohort) = self.candidates[id].take_look() {
            for position in &plan.cohorts[cohort].positions {
                let member = plan.members[*position as usize];
                let MemberStatus { state, reason, until, .. } = self.members[member];
                if state != State::Pending || self.candidates[id].contains(plan, *position) {
                    continue;
                }
                self.try_wanted = true;
                match self.trial(id, member) {
                    (Trial::Pending(now), opens) if reason == Some(now) && until == opens => {}
                    (Trial::Pending(_), _) => {
                        self.candidates[id].add_due(plan, *position);
                        self.has_due = true;
                    }
                    _ => self.candidates[id].add(plan, *position),
                }
            }
        }
    }

    /// Something about availability changed: the next poll looks at everybody.
    fn look_at_all(&mut self) {
        if self.run.current < self.stage_count() {
            for group in ids::<GroupId>(&self.plan.stages[StageId(self.run.current)].groups) {
                self.candidates[group].look_at_all();
            }
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
    fn replan_poll(&mut self) {
        self.next_poll = None;
        if self.run.times.started.is_none() || self.halted() || self.run_has_ended() {
            return;
        }
        let stage = StageId(self.run.current);
        let room = self.stages[stage].in_flight < self.plan.stages[stage].max_concurrency;
        for id in ids::<GroupId>(&self.plan.stages[stage].groups) {
            let (plan, group) = (&self.plan.groups[id], &self.groups[id]);
            if group.phase != Phase::Members || group.pending_members == 0 {
                continue;
            }
            let candidates = &self.candidates[id];
            let earliest = if self.plan.update.poll_interval == Span::ZERO {
                candidates.next_opening(self.plan, plan, &mut self.windows, self.now)
            } else {
                // Messages out of date can only be mended when a slot is free (R-B3).
                let room = room && group.in_flight < plan.max_concurrency;
                let look = (candidates.wants_look() && room).then_some(self.now);
                let edge = candidates.next_edge();
                let change = look.into_iter().chain(edge).chain(self.support_ends).min();
                change.map(|at| self.grid_from(at.max(self.now)).max(self.next_grid))
            };
            self.next_poll = self.next_poll.into_iter().chain(earliest).min();
        }
    }

    /// Ends the instant for candidates of this instant only.
    fn end_instant(&mut self) {
        if !std::mem::take(&mut self.has_due) || self.run.current >= self.stage_count() {
            return;
        }
        for id in ids::<GroupId>(&self.plan.stages[StageId(self.run.current)].groups) {
            self.candidates[id].end_instant(&self.plan.groups[id]);
        }
        self.replan_poll();
    }

    // ------------------------------------------------------------------ judging

    /// Judges Running and Pending once an instant is over (R-A3): groups, then stage, then run.
    fn judge(&mut self, log: &mut impl Log) {
        if !std::mem::take(&mut self.judge_wanted) || self.halted() || self.run_has_ended() {
            return;
        }
        let id = StageId(self.run.current);
        for group in ids::<GroupId>(&self.plan.stages[id].groups) {
            if let Some(judged) = self.judged_group(group)
                && judged != self.groups[group].state
            {
                self.go(Node::Group(group), judged, None, None, log);
            }
        }
        let judged = self.judged_stage(id);
        if judged != self.stages[id].state {
            self.go(Node::Stage(id), judged, None, None, log);
        }
        if judged != self.run.state {
            self.go(Node::Run, judged, None, None, log);
        }
    }

    /// Whether judging would change anything.
    fn judges_differently(&self) -> bool {
        if self.halted() || self.run_has_ended() {
            return false;
        }
        let id = StageId(self.run.current);
        let judged = self.judged_stage(id);
        judged != self.stages[id].state
            || judged != self.run.state
            || ids::<GroupId>(&self.plan.stages[id].groups)
                .any(|g| self.judged_group(g).is_some_and(|judged| judged != self.groups[g].state))
    }

    /// Running or Pending, for a group that has begun and not ended (R-C2, R-C3, R-C5).
    fn judged_group(&self, id: GroupId) -> Option<State> {
        let group = &self.groups[id];
        match group.phase {
            Phase::NotReached | Phase::Ended => None,
            Phase::BeforeGates | Phase::AfterGates => Some(State::Pending),
            Phase::Members if group.in_flight > 0 => Some(State::Running),
            Phase::Members => Some(State::Pending),
        }
    }

    /// Running or Pending, for the current stage (R-C2, R-C4, R-C5, R-C6).
    fn judged_stage(&self, id: StageId) -> State {
        let stage = &self.stages[id];
        let gates = &self.plan.stages[id].after_gates;
        match stage.phase {
            Phase::Members if stage.in_flight > 0 => State::Running,
            Phase::AfterGates if self.are_done(gates) => State::Running,
            Phase::NotReached
            | Phase::BeforeGates
            | Phase::Members
            | Phase::AfterGates
            | Phase::Ended => State::Pending,
        }
    }

    // ------------------------------------------------------------------ stop and start

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
        for stage in self.stages.iter_mut() {
            (stage.failures, stage.failed) = (0, false);
        }
        for group in self.groups.iter_mut() {
            (group.failures, group.failed) = (0, false);
        }
        if self.run.current < self.stage_count() {
            let id = StageId(self.run.current);
            let retry = kind.unwrap_or(self.plan.update.restart) == Restart::RetryFailed;
            if self.stages[id].phase != Phase::Ended {
                (self.stages[id].times.completed, self.stages[id].error) = (None, None);
            }
            for group in ids::<GroupId>(&self.plan.stages[id].groups) {
                self.reopen(group, retry);
            }
        }
        (self.unsettled, self.try_wanted, self.judge_wanted) = (true, true, true);
        Ok(())
    }

    /// Reopens a group at a restart; `retry` puts its failed members back (R-D3, R-D5).
    fn reopen(&mut self, id: GroupId, retry: bool) {
        if self.groups[id].phase == Phase::Ended {
            return;
        }
        let plan = &self.plan.groups[id];
        (self.groups[id].times.completed, self.groups[id].error) = (None, None);
        self.pass_edges(id);
        if self.groups[id].phase != Phase::Members {
            return;
        }
        self.look_now(id);
        for (position, member) in (0..).zip(&plan.members) {
            let status = &mut self.members[*member];
            if retry && status.state == State::Failed {
                status.state = State::NotStarted;
                (status.times, status.reason) = (NO_TIMES, None);
                self.groups[id].open_members += 1;
                self.candidates[id].add(plan, position);
            }
        }
    }

    fn act(&mut self, action: Action<'_>, log: &mut impl Log) {
        let done = if self.run_has_ended() {
            Err(Refusal::RunEnded)
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

/// Why a group with nobody to update is Skipped (R-K4).
fn skipped_because(plan: &GroupPlan) -> Reason {
    if plan.members.is_empty() { Reason::NoMembers } else { Reason::AllMembersSkipped }
}
