//! The history of one replication as a [`Timeline`]: what happened when, and what was waited for.

use crate::ids::{Column, GateId, GroupId, MemberId, StageId};
use crate::report::chart::{
    BarKind, Cause, GateKind, State, Timeline, TimelineBar, TimelineGate, TimelineGroup,
    TimelineMember, TimelineStage,
};
use crate::scheduler::{self, Node, Plan, Reason, Record, Scheduler};
use crate::time::{Span, Timestamp};

/// Draws up the timeline of the replication that `scheduler` has just gone through, from all its
/// records; `end` is the last instant that was simulated. `title` and `subtitle` are the chart's.
///
/// A waiting member's time is charged as in the delays: to a halted run first, then to a closed
/// window, a release that is not there, the poll that has not come, and last to the lack of a slot.
/// When a release arrived is not among the records, so the wait for it lasts until the next trial.
pub fn timeline(
    scheduler: &Scheduler<'_>,
    records: &[Record],
    end: Timestamp,
    (title, subtitle): (String, String),
) -> Timeline {
    let telling = Telling::of(scheduler, records, end);
    let plan = scheduler.plan();
    let stages = plan.stages.ids().map(|id| telling.stage(id));
    Timeline {
        title,
        subtitle,
        start: telling.start,
        end: telling.since(telling.end),
        state: state(scheduler.run().state),
        stages: stages.collect(),
    }
}

/// Where the run ended: its completion, the last thing that happened if it is Failed or Stopped,
/// else `end`.
pub fn last_instant(scheduler: &Scheduler<'_>, records: &[Record], end: Timestamp) -> Timestamp {
    match scheduler.run().state {
        scheduler::State::Completed | scheduler::State::Skipped => {
            scheduler.run().times.completed.unwrap_or(end).min(end)
        }
        scheduler::State::Failed | scheduler::State::Stopped => {
            records.last().map_or(end, |record| record.time)
        }
        _ => end,
    }
}

/// From when to when, half-open.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: Timestamp,
    to: Timestamp,
}

/// When a stage or group began and ended.
#[derive(Debug, Clone, Copy, Default)]
struct Life {
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
}

impl Life {
    fn note(&mut self, record: &Record) {
        self.begin.get_or_insert(record.time);
        self.end = record.to.is_ended().then_some(record.time);
    }
}

/// The records, sorted by what they are about.
struct Telling<'a> {
    scheduler: &'a Scheduler<'a>,
    start: Timestamp,
    end: Timestamp,
    stages: Column<StageId, Life>,
    groups: Column<GroupId, Life>,
    gates: Column<GateId, Life>,
    waits: Column<StageId, Life>,
    members: Column<MemberId, Vec<Record>>,
    halts: Vec<(Stretch, Cause)>,
}

impl<'a> Telling<'a> {
    fn of(scheduler: &'a Scheduler<'a>, records: &[Record], end: Timestamp) -> Self {
        let plan = scheduler.plan();
        let end = last_instant(scheduler, records, end);
        let start = scheduler.run().times.started.unwrap_or(end);
        let life = |n: usize| vec![Life::default(); n];
        let mut telling = Self {
            scheduler,
            start,
            end,
            stages: life(plan.stages.len()).into_iter().collect(),
            groups: life(plan.groups.len()).into_iter().collect(),
            gates: life(plan.gates.len()).into_iter().collect(),
            waits: life(plan.stages.len()).into_iter().collect(),
            members: plan.fleet.members.iter().map(|_| Vec::new()).collect(),
            halts: halts(records, end),
        };
        for record in records {
            match record.node {
                Node::Run => {}
                Node::Stage(id) => telling.stages[id].note(record),
                Node::Group(id) => telling.groups[id].note(record),
                Node::Gate(id) => telling.gates[id].note(record),
                Node::Wait(id) => telling.waits[id].note(record),
                Node::Member(id) => telling.members[id].push(*record),
            }
        }
        telling
    }

    fn since(&self, at: Timestamp) -> Span {
        at - self.start
    }

    fn stage(&self, id: StageId) -> TimelineStage {
        let (plan, life) = (self.scheduler.plan(), self.stages[id]);
        let stage = &plan.stages[id];
        let gates = stage.before_gates.clone().chain(stage.after_gates.clone());
        let wait = self.waits[id];
        // A wait that was skipped before it ran has lasted no time.
        let wait = wait.begin.map(|begin| (begin, wait.end.unwrap_or(self.end)));
        let wait = wait.filter(|(from, to)| from < to);
        TimelineStage {
            name: stage.name.clone(),
            begin: life.begin.map(|at| self.since(at)),
            end: life.end.map(|at| self.since(at)),
            state: state(self.scheduler.stage(id).state),
            wait: wait.map(|(from, to)| (self.since(from), self.since(to))),
            gates: gates.filter_map(|gate| self.gate(GateId(gate))).collect(),
            groups: stage.groups.clone().map(|group| self.group(GroupId(group))).collect(),
        }
    }

    fn group(&self, id: GroupId) -> TimelineGroup {
        let (group, life) = (&self.scheduler.plan().groups[id], self.groups[id]);
        let gates = group.before_gates.clone().chain(group.after_gates.clone());
        TimelineGroup {
            name: group.name.clone(),
            begin: life.begin.map(|at| self.since(at)),
            end: life.end.map(|at| self.since(at)),
            state: state(self.scheduler.group(id).state),
            gates: gates.filter_map(|gate| self.gate(GateId(gate))).collect(),
            members: group.members.iter().map(|member| self.member(*member)).collect(),
        }
    }

    /// A gate that was reached and was not skipped at once.
    fn gate(&self, id: GateId) -> Option<TimelineGate> {
        let (gate, life) = (&self.scheduler.plan().gates[id], self.gates[id]);
        let skipped = self.scheduler.gate(id).state == scheduler::State::Skipped;
        let pending = life.begin.filter(|begin| !skipped || life.end != Some(*begin))?;
        let (kind, what) = match gate.kind {
            scheduler::GateKind::Approval => (GateKind::Approval, "approval"),
            scheduler::GateKind::ScheduledStart(_) => (GateKind::ScheduledStart, "scheduled start"),
        };
        Some(TimelineGate {
            label: gate.display_name.clone().unwrap_or_else(|| what.to_owned()),
            pending: self.since(pending),
            completed: life.end.map(|at| self.since(at)),
            kind,
        })
    }

    fn member(&self, id: MemberId) -> TimelineMember {
        let (mut bars, mut pending) = (Vec::new(), Vec::new());
        let records = &self.members[id];
        for (index, record) in records.iter().enumerate() {
            let next = records.get(index + 1);
            let (from, to) = (record.time, next.map_or(self.end, |next| next.time));
            match record.to {
                scheduler::State::Running => {
                    let kind = match next.map(|next| next.to) {
                        Some(scheduler::State::Completed) => BarKind::Updated,
                        Some(_) => BarKind::Failed,
                        None => BarKind::Unfinished,
                    };
                    bars.push(TimelineBar { from: self.since(from), to: self.since(to), kind });
                }
                scheduler::State::Pending => {
                    self.waiting(id, record.reason, Stretch { from, to }, &mut pending);
                }
                _ => {}
            }
        }
        TimelineMember {
            name: self.scheduler.plan().fleet.members[id].name.clone(),
            bars,
            pending,
            windows: self.windows(id),
            state: state(self.scheduler.member(id).state),
        }
    }

    /// When a member's window is open, cut to the chart; empty without a window.
    fn windows(&self, id: MemberId) -> Vec<(Span, Span)> {
        let open = self.intervals(id).unwrap_or_default().iter();
        open.map(|open| (open.open.max(self.start), open.close.min(self.end)))
            .filter(|(from, to)| from < to)
            .map(|(from, to)| (self.since(from), self.since(to)))
            .collect()
    }

    fn intervals(&self, id: MemberId) -> Option<&[crate::calendar::Interval]> {
        let plan = self.scheduler.plan();
        let window = Plan::window_of(plan.update, &plan.fleet.members[id])?;
        Some(&plan.intervals[window])
    }

    /// Cuts the time in which a member was Pending into what it waited for.
    fn waiting(
        &self,
        id: MemberId,
        reason: Option<Reason>,
        stretch: Stretch,
        pending: &mut Vec<(Span, Span, Cause)>,
    ) {
        let inside = |at: &Timestamp| stretch.from < *at && *at < stretch.to;
        let mut cuts = vec![stretch.from, stretch.to];
        for open in self.intervals(id).unwrap_or_default() {
            let all = [open.open, self.noticed(open.open), open.close];
            cuts.extend(all.into_iter().filter(inside));
        }
        let halts = self.halts.iter().flat_map(|(halt, _)| [halt.from, halt.to]);
        cuts.extend(halts.filter(inside));
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            let cause = self.cause(id, reason, pair[0]);
            let (from, to) = (self.since(pair[0]), self.since(pair[1]));
            match pending.last_mut() {
                Some(last) if last.1 == from && last.2 == cause => last.1 = to,
                _ => pending.push((from, to, cause)),
            }
        }
    }

    fn cause(&self, id: MemberId, reason: Option<Reason>, at: Timestamp) -> Cause {
        let halted = self.halts.iter().find(|(halt, _)| halt.from <= at && at < halt.to);
        if let Some((_, cause)) = halted {
            return *cause;
        }
        let opened = match self.intervals(id) {
            None => self.start,
            Some(open) => match open.iter().find(|open| open.open <= at && at < open.close) {
                Some(open) => open.open,
                None => return Cause::Window,
            },
        };
        match reason {
            Some(Reason::NodeImageVersionNotAvailable) => Cause::Image,
            Some(Reason::KubernetesVersionNotAvailable) => Cause::Version,
            Some(Reason::MemberBusy) => Cause::Busy,
            _ if at < self.noticed(opened) => Cause::Poll,
            _ => Cause::Concurrency,
        }
    }

    /// The first poll at or after an instant (O4, R-B4).
    fn noticed(&self, at: Timestamp) -> Timestamp {
        let interval = self.scheduler.plan().update.poll_interval;
        if interval == Span::ZERO || at <= self.start {
            return at;
        }
        let polls = (at - self.start).as_millis() + interval.as_millis() - 1;
        self.start + interval * (polls / interval.as_millis())
    }
}

/// The stretches in which the run was halted, and by what.
fn halts(records: &[Record], end: Timestamp) -> Vec<(Stretch, Cause)> {
    let mut halts = Vec::new();
    let mut since: Option<(Timestamp, Cause)> = None;
    for record in records {
        match (record.node, record.to) {
            (Node::Run | Node::Stage(_), scheduler::State::Failed) => {
                since = Some((since.map_or(record.time, |(from, _)| from), Cause::Failed));
            }
            (Node::Run, scheduler::State::Stopping | scheduler::State::Stopped) => {
                since = since.or(Some((record.time, Cause::Stopped)));
            }
            (Node::Run, scheduler::State::Running) => {
                let halt = since.take();
                halts.extend(halt.map(|(from, cause)| (Stretch { from, to: record.time }, cause)));
            }
            _ => {}
        }
    }
    halts.extend(since.map(|(from, cause)| (Stretch { from, to: end }, cause)));
    halts
}

const fn state(state: scheduler::State) -> State {
    match state {
        scheduler::State::NotStarted => State::NotStarted,
        scheduler::State::Pending => State::Pending,
        scheduler::State::Running => State::Running,
        scheduler::State::Stopping => State::Stopping,
        scheduler::State::Stopped => State::Stopped,
        scheduler::State::Skipped => State::Skipped,
        scheduler::State::Failed => State::Failed,
        scheduler::State::Completed => State::Completed,
    }
}
