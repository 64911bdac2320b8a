//! The history of one replication as a [`Timeline`]: what happened when, and what was waited for.

mod changes;

pub use changes::with_changes;
mod runs;

pub use runs::runs_timeline;

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
        state: scheduler.run().state,
        stages: stages.collect(),
    }
}

/// Where the run ended: its completion, the last thing that happened if it is Failed or Stopped,
/// else `end`.
pub fn last_instant(scheduler: &Scheduler<'_>, records: &[Record], end: Timestamp) -> Timestamp {
    match scheduler.run().state {
        State::Completed | State::Skipped => {
            scheduler.run().times.completed.unwrap_or(end).min(end)
        }
        State::Failed | State::Stopped => records.last().map_or(end, |record| record.time),
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
            state: self.scheduler.stage(id).state,
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
            state: self.scheduler.group(id).state,
            gates: gates.filter_map(|gate| self.gate(GateId(gate))).collect(),
            members: group.members.iter().map(|member| self.member(*member)).collect(),
        }
    }

    /// A gate that was reached and was not skipped at once.
    fn gate(&self, id: GateId) -> Option<TimelineGate> {
        let (gate, life) = (&self.scheduler.plan().gates[id], self.gates[id]);
        let skipped = self.scheduler.gate(id).state == State::Skipped;
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
                State::Running => {
                    let kind = match next.map(|next| next.to) {
                        Some(State::Completed) => BarKind::Updated,
                        Some(_) => BarKind::Failed,
                        None => BarKind::Unfinished,
                    };
                    bars.push(TimelineBar { from: self.since(from), to: self.since(to), kind });
                }
                State::Pending => {
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
            state: self.scheduler.member(id).state,
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
            (Node::Run | Node::Stage(_), State::Failed) => {
                since = Some((since.map_or(record.time, |(from, _)| from), Cause::Failed));
            }
            (Node::Run, State::Stopping | State::Stopped) => {
                since = since.or(Some((record.time, Cause::Stopped)));
            }
            (Node::Run, State::Running) => {
                let halt = since.take();
                halts.extend(halt.map(|(from, cause)| (Stretch { from, to: record.time }, cause)));
            }
            _ => {}
        }
    }
    halts.extend(since.map(|(from, cause)| (Stretch { from, to: end }, cause)));
    halts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, History};
    use crate::report::testing::read;
    use crate::sim::Simulation;

    /// Starts on a Monday at 08:00Z; `a` has no window, `w` is open on Mondays from 09:30 to 13:30.
    const FLEET: &str = "
name: told
start: 2026-03-02T08:00:00Z
horizon: 2d
fleet:
  members:
    - {name: a, region: westeurope, updateGroup: g, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
    - name: w
      region: westeurope
      updateGroup: g
      pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]
      maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Monday}}, durationHours: 4, startTime: \"09:30\", utcOffset: \"+00:00\"}}
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}, nodeImageSelection: {type: IMAGES}}, RESTART}
strategies:
  - {name: s, stages: [STAGES]}
script:
  updates: {UPDATES}
  releases: [{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": RELEASED}}]
  actions: [ACTIONS]
";
    struct Case {
        stages: &'static str,
        updates: &'static str,
        actions: &'static str,
        images: &'static str,
        released: &'static str,
    }

    const CASE: Case = Case {
        stages: "{name: s1, groups: [{name: g, maxConcurrency: 1}]}",
        updates: "\"*\": {takes: 30m}",
        actions: "",
        images: "Latest",
        released: "2026-03-02T00:00:00Z",
    };

    impl Case {
        fn told(&self) -> Timeline {
            let text = FLEET
                .replace("STAGES", self.stages)
                .replace("UPDATES", self.updates)
                .replace("ACTIONS", self.actions)
                .replace("IMAGES", self.images)
                .replace("RELEASED", self.released)
                .replace("RESTART", "restart: retryFailed");
            let scenario = read(&text);
            let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
            let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
            let mut history = History::default();
            simulation.run(0, experiment.end(), &mut history);
            let texts = ("title".to_owned(), "subtitle".to_owned());
            timeline(simulation.scheduler(), &history.records, experiment.end(), texts)
        }
    }

    fn span(text: &str) -> Span {
        text.parse().unwrap()
    }

    fn stretches(member: &TimelineMember) -> Vec<(String, String, Cause)> {
        let text =
            |(from, to, cause): &(Span, Span, Cause)| (from.to_string(), to.to_string(), *cause);
        member.pending.iter().map(text).collect()
    }

    fn stretch(from: &str, to: &str, cause: Cause) -> (String, String, Cause) {
        (from.to_owned(), to.to_owned(), cause)
    }

    #[test]
    fn a_member_waits_for_its_window_then_for_the_poll_then_for_a_slot() {
        // `a` is updated from 0 to 2h30m; the window of `w` opens at 1h30m, the poll is at 2h.
        let told = Case { updates: "\"*\": {takes: 30m}, a: [{takes: 2h30m}]", ..CASE }.told();
        let [a, w] = &told.stages[0].groups[0].members[..] else { panic!("two members") };
        assert_eq!((a.name.as_str(), a.state, a.windows.len()), ("a", State::Completed, 0));
        let bar = |from, to, kind| TimelineBar { from: span(from), to: span(to), kind };
        assert_eq!(a.bars, [bar("0", "2h30m", BarKind::Updated)]);
        let waits = [
            stretch("0s", "1h30m", Cause::Window),
            stretch("1h30m", "2h", Cause::Poll),
            stretch("2h", "2h30m", Cause::Concurrency),
        ];
        assert_eq!(stretches(w), waits);
        assert_eq!(w.bars, [bar("2h30m", "3h", BarKind::Updated)]);
        assert_eq!(w.windows, [(span("1h30m"), span("3h"))], "cut where the chart ends");
        assert_eq!((told.end, told.state), (span("3h"), State::Completed));

        // With two slots `w` is tried at once.
        let stages = "{name: s1, groups: [{name: g, maxConcurrency: 2}]}";
        let told = Case { stages, ..CASE }.told();
        let w = &told.stages[0].groups[0].members[1];
        let waits = [stretch("0s", "1h30m", Cause::Window), stretch("1h30m", "2h", Cause::Poll)];
        assert_eq!(stretches(w), waits);
        assert_eq!(w.bars, [bar("2h", "2h30m", BarKind::Updated)]);
    }

    #[test]
    fn a_missing_image_is_waited_for_behind_the_window_only() {
        let images = "Custom, customNodeImageVersions: [{version: AKSUbuntu-2204gen2containerd-202603.02.0}]";
        let stages = "{name: s1, groups: [{name: g, maxConcurrency: 2}]}";
        let told = Case { images, stages, released: "2026-03-02T11:15:00Z", ..CASE }.told();
        let [a, w] = &told.stages[0].groups[0].members[..] else { panic!("two members") };
        assert_eq!(stretches(a), [stretch("0s", "4h", Cause::Image)]);
        let waits = [
            stretch("0s", "1h30m", Cause::Window),
            stretch("1h30m", "2h", Cause::Poll),
            stretch("2h", "4h", Cause::Image),
        ];
        assert_eq!(stretches(w), waits);
    }

    #[test]
    fn stages_gates_and_waits_have_their_times() {
        let stages = "{name: s1, groups: [{name: g, maxConcurrency: 2}], \
                      beforeGates: [{displayName: board, type: Approval}], \
                      afterGates: [{type: Approval}], afterStageWaitInSeconds: 7200}, \
                      {name: s2, groups: [{name: none}]}";
        let actions =
            "{at: 3h, approve: \"stage:s1/before\"}, {at: 10h, approve: \"stage:s1/after\"}";
        let told = Case { stages, actions, ..CASE }.told();
        let first = &told.stages[0];
        assert_eq!((first.begin, first.end), (Some(Span::ZERO), Some(span("10h"))));
        assert_eq!(first.wait, Some((span("3h30m"), span("5h30m"))));
        let gate = |label: &str, pending, completed| TimelineGate {
            label: label.to_owned(),
            pending: span(pending),
            completed: Some(span(completed)),
            kind: GateKind::Approval,
        };
        assert_eq!(first.gates, [gate("board", "0", "3h"), gate("approval", "3h30m", "10h")]);
        assert_eq!(first.groups[0].begin, Some(span("3h")), "groups begin behind the gate");
        assert_eq!(first.groups[0].end, Some(span("3h30m")));
        assert_eq!(told.stages[1].state, State::Skipped);
        assert_eq!(told.end, span("10h"));
    }

    #[test]
    fn failed_updates_halts_and_retries_show() {
        let stages = "{name: s1, groups: [{name: g, maxConcurrency: 2}]}";
        let updates =
            "\"*\": {takes: 30m}, a: [{takes: 10m, fails: PodDrainFailure}, {takes: 20m}]";
        let told = Case { stages, updates, actions: "{at: 3h, start: true}", ..CASE }.told();
        let [a, w] = &told.stages[0].groups[0].members[..] else { panic!("two members") };
        let bar = |from, to, kind| TimelineBar { from: span(from), to: span(to), kind };
        let bars = [bar("0", "10m", BarKind::Failed), bar("3h", "3h20m", BarKind::Updated)];
        assert_eq!((a.bars.as_slice(), a.state), (&bars[..], State::Completed));
        let waits = [stretch("0s", "10m", Cause::Window), stretch("10m", "3h", Cause::Failed)];
        assert_eq!(stretches(w), waits);
        assert_eq!(told.state, State::Completed);

        let told = Case { stages, updates, ..CASE }.told();
        assert_eq!(
            (told.state, told.end),
            (State::Failed, span("10m")),
            "nothing happens after it"
        );
        let stopped = Case { stages, actions: "{at: 1h, stop: true}", ..CASE }.told();
        assert_eq!((stopped.state, stopped.end), (State::Stopped, span("1h")));
    }

    #[test]
    fn what_is_unfinished_lasts_to_the_end_of_the_chart() {
        let stages =
            "{name: s1, groups: [{name: g, maxConcurrency: 2}], afterGates: [{type: Approval}]}";
        let updates = "\"*\": {takes: 30m}, a: [{takes: 3d}]";
        let told = Case { stages, updates, ..CASE }.told();
        assert_eq!((told.state, told.end), (State::Running, span("2d")));
        let a = &told.stages[0].groups[0].members[0];
        let bar = TimelineBar { from: Span::ZERO, to: span("2d"), kind: BarKind::Unfinished };
        assert_eq!((a.bars.as_slice(), a.state), (&[bar][..], State::Running));
        assert_eq!((told.stages[0].end, told.stages[0].gates.len()), (None, 0));
    }
}
