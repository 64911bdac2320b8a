//! Where the makespan went: every instant from the start to the end is charged to one cause.
//!
//! The path is followed through the stages: in each, the member that ended last (ties: the fleet's
//! order) decides, then the gate or wait that ended the stage. An instant belongs to the first
//! cause that applies, in the order of [`DelayCause::ALL`]'s priorities in `Path::cause_at`. Sums
//! are exact in integer milliseconds.

use crate::ids::{GateId, GroupId, MemberId, StageId};
use crate::scheduler::{
    Log, MemberPlace, Node, NodeImageSelection, Plan, Reason, Record, Refusal, Scheduler, State,
    Upgrade,
};
use crate::sim::Watch;
use crate::time::{Span, Timestamp};

/// What an instant of the makespan is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DelayCause {
    /// A member is updated.
    Updating,
    /// The maintenance window is closed.
    Window,
    /// The node image has not reached the region.
    Image,
    /// The Kubernetes version has not reached the region.
    Version,
    /// An approval or a scheduled start is awaited.
    Gate,
    /// Only the after-stage wait is left.
    Wait,
    /// Waiting for a slot.
    Concurrency,
    /// Everything is there, but not noticed yet.
    Poll,
    /// Another run or change is at work on the member.
    Busy,
    /// The run stopped because of failures, until somebody restarts it.
    Failed,
    /// Stopped by a user.
    Stopped,
}

impl DelayCause {
    /// All causes, in the order in which results show them.
    pub const ALL: [Self; 11] = [
        Self::Updating,
        Self::Window,
        Self::Image,
        Self::Version,
        Self::Gate,
        Self::Wait,
        Self::Concurrency,
        Self::Poll,
        Self::Busy,
        Self::Failed,
        Self::Stopped,
    ];

    /// The word behind `delay.`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Updating => "updating",
            Self::Window => "window",
            Self::Image => "image",
            Self::Version => "version",
            Self::Gate => "gate",
            Self::Wait => "wait",
            Self::Concurrency => "concurrency",
            Self::Poll => "poll",
            Self::Busy => "busy",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The split of one replication's makespan, by cause in the order of [`DelayCause::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delays([Span; 11]);

impl Delays {
    /// What was charged to a cause.
    pub const fn of(&self, cause: DelayCause) -> Span {
        self.0[cause as usize]
    }

    /// Everything together: the makespan, or the horizon where it was cut off.
    pub fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |total, span| total + *span)
    }
}

/// A stretch of time, half-open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Stretch {
    /// What both have in common.
    pub(super) fn overlap(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

/// The moves of a run's nodes in one replication, in their order, as far as delays and durations
/// look at them: a third of what its records take.
#[derive(Debug, Default)]
pub struct Moves {
    members: Vec<MemberMove>,
    /// All records but those of members.
    others: Vec<Record>,
}

/// A move of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberMove {
    /// When.
    pub time: Timestamp,
    /// Whose.
    pub member: MemberId,
    /// Where it came from.
    pub from: State,
    /// Where it went.
    pub to: State,
    /// Whether something else is at work on the member ([`Reason::MemberBusy`]).
    pub busy: bool,
}

impl Moves {
    /// Those of these records.
    pub fn of(records: &[Record]) -> Self {
        let mut moves = Self::default();
        for record in records {
            moves.record(*record);
        }
        moves
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.members.clear();
        self.others.clear();
    }

    /// Those of members.
    pub fn members(&self) -> &[MemberMove] {
        &self.members
    }
}

impl Log for Moves {
    #[inline]
    fn record(&mut self, record: Record) {
        let Node::Member(member) = record.node else {
            self.others.push(record);
            return;
        };
        let Record { time, from, to, reason, .. } = record;
        let busy = reason == Some(Reason::MemberBusy);
        self.members.push(MemberMove { time, member, from, to, busy });
    }
}

impl Watch for Moves {
    fn refused(&mut self, _: Timestamp, _: &dyn std::fmt::Display, _: Refusal) {}
}

/// The path through one stage: what is known of the member that decides it. One is reused for all
/// stages and replications.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// The moves of the member.
    own: Vec<MemberMove>,
    updating: Vec<Stretch>,
    failed: Vec<Stretch>,
    stopped: Vec<Stretch>,
    /// When something else was at work on the member.
    busy: Vec<Stretch>,
    gates: Vec<Stretch>,
    wait: Vec<Stretch>,
    /// When the member's window is closed.
    closed: Vec<Stretch>,
    /// When the member's targets are there.
    image: Option<Stretch>,
    version: Option<Stretch>,
    /// When the member is Pending for something that is there, but not noticed.
    unnoticed: Vec<Stretch>,
    member_ends: Option<Timestamp>,
    /// Where the cause may change.
    cuts: Vec<Timestamp>,
}

/// Splits the delays of one finished replication.
pub(super) fn split(
    scheduler: &Scheduler<'_>,
    moves: &Moves,
    arrived: &dyn Fn(MemberId) -> Targets,
    busy: &dyn Fn(MemberId) -> Vec<(Timestamp, Timestamp)>,
    end: Timestamp,
    path: &mut Path,
) -> Delays {
    let plan = scheduler.plan();
    let mut delays = Delays::default();
    let Some(start) = scheduler.run().times.started else { return delays };
    let finish = scheduler.run().times.completed.filter(|_| has_finished(scheduler)).unwrap_or(end);
    let mut from = start;
    for stage in plan.stages.ids() {
        let ended = scheduler.stage(stage).times.completed.filter(|_| has_ended(scheduler, stage));
        let to = ended.unwrap_or(finish).clamp(from, finish);
        if from < to {
            let decider = decider(scheduler, stage);
            path.follow(scheduler, (stage, decider), moves, arrived, Stretch { from, to });
            if let Some(id) = decider {
                path.busy(scheduler, busy(id));
            }
            path.charge(Stretch { from, to }, &mut delays);
        }
        from = to;
        if ended.is_none() {
            break;
        }
    }
    // What is left when all stages have ended: a run that was stopped at its very end (R-C11).
    if from < finish {
        path.clear();
        path.halts(moves, finish);
        path.charge(Stretch { from, to: finish }, &mut delays);
    }
    delays
}

/// When a member's targets are in its region; `None` where none is wanted. One that never came is
/// there at the end of time; one that is withdrawn, until then.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Targets {
    /// All of its node images.
    pub(super) image: Option<Stretch>,
    /// Its Kubernetes version.
    pub(super) version: Option<Stretch>,
}

impl Targets {
    /// Whether an update of this plan can have to wait for a release at all.
    pub(super) fn matter(plan: &Plan<'_>) -> bool {
        plan.update.upgrade != Upgrade::NodeImageOnly
            || plan.update.node_images != NodeImageSelection::Latest
    }
}

fn has_finished(scheduler: &Scheduler<'_>) -> bool {
    matches!(scheduler.run().state, State::Completed | State::Skipped)
}

fn has_ended(scheduler: &Scheduler<'_>, stage: StageId) -> bool {
    matches!(scheduler.stage(stage).state, State::Completed | State::Skipped)
}

/// The member that decides a stage: the one that ended last, or, in a stage that has not ended,
/// the first that is still open.
fn decider(scheduler: &Scheduler<'_>, stage: StageId) -> Option<MemberId> {
    let groups = &scheduler.plan().stages[stage].groups;
    let members = groups.clone().flat_map(|group| &scheduler.plan().groups[GroupId(group)].members);
    let open = |id: &&MemberId| !scheduler.member_state(**id).is_ended();
    if !has_ended(scheduler, stage)
        && let Some(id) = members.clone().filter(open).min()
    {
        return Some(*id);
    }
    let (mut last, mut decider) = (Timestamp::MIN, None);
    for id in members.copied() {
        let ended = scheduler.member_completed(id).unwrap_or(Timestamp::MIN);
        if ended > last || (ended == last && decider.is_none_or(|other| id < other)) {
            (last, decider) = (ended, Some(id));
        }
    }
    decider
}

impl Path {
    fn clear(&mut self) {
        let lists = [
            &mut self.updating,
            &mut self.failed,
            &mut self.stopped,
            &mut self.busy,
            &mut self.gates,
            &mut self.wait,
            &mut self.closed,
            &mut self.unnoticed,
        ];
        lists.into_iter().for_each(Vec::clear);
        (self.image, self.version, self.member_ends) = (None, None, None);
    }

    fn follow(
        &mut self,
        scheduler: &Scheduler<'_>,
        (stage, decider): (StageId, Option<MemberId>),
        moves: &Moves,
        arrived: &dyn Fn(MemberId) -> Targets,
        Stretch { from, to }: Stretch,
    ) {
        self.clear();
        self.halts(moves, to);
        let place = decider.and_then(|id| scheduler.plan().places[id]);
        self.gates_and_wait(scheduler, moves, (stage, place), to);
        let Some(id) = decider else { return };
        // Nobody is tried before the stage, nor behind it.
        let first = moves.members.partition_point(|of| of.time < from);
        let end = moves.members.partition_point(|of| of.time <= to);
        self.own.clear();
        self.own.extend(moves.members[first..end].iter().filter(|of| of.member == id));
        let member = scheduler.member(id);
        self.member_ends = member.times.completed.filter(|_| member.state.is_ended());
        self.updates(to);
        if Targets::matter(scheduler.plan()) {
            let targets = arrived(id);
            (self.image, self.version) = (targets.image, targets.version);
        }
        self.windows(scheduler, id, to);
    }

    /// The stretches in which the run was halted.
    fn halts(&mut self, moves: &Moves, to: Timestamp) {
        let (mut since, mut failed) = (None, false);
        for record in &moves.others {
            match (record.node, record.to) {
                (Node::Run, State::Stopping | State::Stopped | State::Failed) => {
                    since = since.or(Some(record.time));
                    failed |= record.to == State::Failed;
                }
                (Node::Stage(_), State::Failed) => failed = true,
                (Node::Run, State::Running) => {
                    if let Some(from) = since.take() {
                        self.halt(failed, Stretch { from, to: record.time });
                    }
                    failed = false;
                }
                _ => {}
            }
        }
        if let Some(from) = since {
            self.halt(failed, Stretch { from, to });
        }
    }

    fn halt(&mut self, failed: bool, stretch: Stretch) {
        if failed { self.failed.push(stretch) } else { self.stopped.push(stretch) }
    }

    /// The stretches in which a gate on the path was Pending, or the wait was running. While the
    /// member is open only its own group's gates and the stage's count; behind it, all of them.
    fn gates_and_wait(
        &mut self,
        scheduler: &Scheduler<'_>,
        moves: &Moves,
        (stage, place): (StageId, Option<MemberPlace>),
        to: Timestamp,
    ) {
        let plan = scheduler.plan();
        let of_stage = &plan.stages[stage];
        let ends = place.and_then(|p| {
            let id = plan.groups[p.group].members[p.position as usize];
            scheduler.member(id).times.completed
        });
        for id in (of_stage.before_gates.start..of_stage.after_gates.end).map(GateId) {
            let gate = scheduler.gate(id);
            let Some(from) = pending_since(&moves.others, id) else { continue };
            let until = gate.times.completed.unwrap_or(to);
            let mine = plan.gates[id].group.is_none_or(|g| place.is_some_and(|p| p.group == g));
            let from = if mine { from } else { from.max(ends.unwrap_or(to)) };
            if from < until {
                self.gates.push(Stretch { from, to: until });
            }
        }
        let wait = scheduler.wait(stage);
        let is_running =
            |record: &&Record| record.node == Node::Wait(stage) && record.to == State::Running;
        let running = moves.others.iter().find(is_running);
        if let Some(record) = running {
            let until = wait.times.completed.unwrap_or(to);
            self.wait.push(Stretch { from: record.time, to: until });
        }
    }

    fn updates(&mut self, to: Timestamp) {
        let mut since = None;
        for record in &self.own {
            if record.to == State::Running {
                since = Some(record.time);
            } else if let Some(from) = since.take() {
                self.updating.push(Stretch { from, to: record.time });
            }
        }
        self.updating.extend(since.map(|from| Stretch { from, to }));
    }

    /// When something else was at work on the member while the run wanted it, and until a poll
    /// noticed that it was over.
    fn busy(&mut self, scheduler: &Scheduler<'_>, stretches: Vec<(Timestamp, Timestamp)>) {
        let start = scheduler.run().times.started.expect("the run has started");
        for (from, to) in stretches {
            let found = |of: &MemberMove| of.busy && from <= of.time && of.time < to;
            let found = self.own.iter().any(found);
            if found {
                self.busy.push(Stretch { from, to });
                self.unnoticed.push(Stretch { from: to, to: grid(scheduler, start, to) });
            }
        }
    }

    /// Closed windows, and what was open and there but not noticed.
    fn windows(&mut self, scheduler: &Scheduler<'_>, id: MemberId, to: Timestamp) {
        let plan = scheduler.plan();
        let start = scheduler.run().times.started.expect("the run has started");
        let until = self.member_ends.unwrap_or(to);
        let tried = self.own.iter().find(|record| record.to == State::Pending).copied();
        let targets = self.image.into_iter().chain(self.version);
        let there = targets.map(|target| target.from).max().unwrap_or(start);
        let mut open = |from: Timestamp, close: Timestamp| {
            if let Some(first) = tried {
                let from = from.max(there).max(first.time);
                // A member tried while all was there was never unnoticed.
                if from > first.time && from < close {
                    self.unnoticed
                        .push(Stretch { from, to: grid(scheduler, start, from).min(close) });
                }
            }
        };
        let Some(window) = Plan::window_of(plan.update, &plan.fleet.members[id]) else {
            open(start, Timestamp::MAX);
            return;
        };
        let mut closed_since = start;
        for interval in &plan.intervals[window] {
            if interval.open >= until {
                break;
            }
            if closed_since < interval.open {
                self.closed.push(Stretch { from: closed_since, to: interval.open });
            }
            open(interval.open, interval.close);
            closed_since = interval.close;
        }
        if closed_since < until {
            self.closed.push(Stretch { from: closed_since, to: until });
        }
    }

    /// Charges every instant of a stretch.
    fn charge(&mut self, stretch: Stretch, delays: &mut Delays) {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.clear();
        let lists = [
            &self.updating,
            &self.failed,
            &self.stopped,
            &self.busy,
            &self.gates,
            &self.wait,
            &self.closed,
            &self.unnoticed,
        ];
        let all = lists
            .into_iter()
            .flatten()
            .flat_map(|stretch| [stretch.from, stretch.to])
            .chain(
                self.image.into_iter().chain(self.version).flat_map(|there| [there.from, there.to]),
            )
            .chain(self.member_ends)
            .chain([stretch.from, stretch.to]);
        cuts.extend(all.filter(|at| stretch.from <= *at && *at <= stretch.to));
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            let cause = self.cause_at(pair[0]);
            delays.0[cause as usize] += pair[1] - pair[0];
        }
        self.cuts = cuts;
    }

    /// The first cause that applies.
    fn cause_at(&self, at: Timestamp) -> DelayCause {
        let within = |list: &[Stretch]| list.iter().any(|stretch| stretch.contains(at));
        let missing = |there: Option<Stretch>| there.is_some_and(|there| !there.contains(at));
        if within(&self.updating) {
            DelayCause::Updating
        } else if within(&self.failed) {
            DelayCause::Failed
        } else if within(&self.stopped) {
            DelayCause::Stopped
        } else if within(&self.busy) {
            DelayCause::Busy
        } else if within(&self.gates) {
            DelayCause::Gate
        } else if within(&self.wait) {
            DelayCause::Wait
        } else if within(&self.closed) {
            DelayCause::Window
        } else if missing(self.image) {
            DelayCause::Image
        } else if missing(self.version) {
            DelayCause::Version
        } else if within(&self.unnoticed) {
            DelayCause::Poll
        } else {
            DelayCause::Concurrency
        }
    }
}

/// The first poll at or after an instant.
fn grid(scheduler: &Scheduler<'_>, start: Timestamp, at: Timestamp) -> Timestamp {
    let interval = scheduler.plan().update.poll_interval.as_millis();
    if interval == 0 || at <= start {
        return at;
    }
    start + Span::from_millis(((at - start).as_millis() + interval - 1) / interval * interval)
}

/// When a gate was reached.
fn pending_since(records: &[Record], id: GateId) -> Option<Timestamp> {
    records
        .iter()
        .find(|record| record.node == Node::Gate(id) && record.to == State::Pending)
        .map(|record| record.time)
}
