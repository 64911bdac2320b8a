//! The history of several runs as a [`Timeline`]: a stage a profile, a row a run.

use crate::experiment::Beside;
use crate::report::chart::{
    BarKind, Cause, Timeline, TimelineBar, TimelineGroup, TimelineMember, TimelineStage,
};
use crate::scheduler::{Node, Plan, Reason, Record, Scheduler, State};
use crate::time::{Span, Timestamp};

/// Draws up the timeline of the runs that profiles made, from their records; `clock` is the time
/// that was simulated. Each profile is a stage, each of its runs a row: a bar while at least one
/// member is updated, and what is waited for while none is.
pub fn runs_timeline<'a>(
    runs: impl IntoIterator<Item = (&'a str, &'a Scheduler<'a>)>,
    plan: &Plan<'_>,
    records: &[Beside],
    clock: std::ops::Range<Timestamp>,
    (title, subtitle): (String, String),
) -> Timeline {
    let mut stages: Vec<TimelineStage> = plan.beside.iter().map(stage).collect();
    for (number, (name, scheduler)) in runs.into_iter().enumerate() {
        let mine = records.iter().filter(|record| record.run == number).map(|one| &one.record);
        let row = row(name, scheduler, mine, &clock);
        let profile = scheduler.plan().profile.map_or("", |profile| &profile.name);
        let stage = stages.iter_mut().find(|stage| stage.name == profile);
        let stage = stage.expect("every run has its profile");
        let group = &mut stage.groups[0];
        let begin = scheduler.run().times.started.map(|at| at - clock.start);
        group.begin = group.begin.or(begin);
        stage.begin = group.begin;
        group.members.push(row);
    }
    stages.retain(|stage| !stage.groups[0].members.is_empty());
    let state = State::Running;
    let end = clock.end - clock.start;
    Timeline { title, subtitle, start: clock.start, end, state, stages }
}

/// A profile without runs.
fn stage(plan: &Plan<'_>) -> TimelineStage {
    let profile = plan.profile.expect("the plans beside another are those of profiles");
    let group = TimelineGroup {
        name: profile.channel.name().to_owned(),
        begin: None,
        end: None,
        state: State::Running,
        gates: Vec::new(),
        members: Vec::new(),
    };
    TimelineStage {
        name: profile.name.clone(),
        begin: None,
        end: None,
        state: State::Running,
        wait: None,
        gates: Vec::new(),
        groups: vec![group],
    }
}

/// A run, from its records.
fn row<'r>(
    name: &str,
    scheduler: &Scheduler<'_>,
    records: impl Iterator<Item = &'r Record>,
    clock: &std::ops::Range<Timestamp>,
) -> TimelineMember {
    let (mut bars, mut pending) = (Vec::new(), Vec::new());
    let mut since: Option<(Timestamp, State)> = None;
    let mut cause = Cause::Window;
    let mut close = |from: Timestamp, to: Timestamp, was: State, now: State, cause: Cause| {
        let (from, to): (Span, Span) = (from - clock.start, to - clock.start);
        if from == to {
            return;
        }
        match was {
            State::Running | State::Stopping => bars.push(TimelineBar {
                from,
                to,
                kind: if now == State::Failed { BarKind::Failed } else { BarKind::Updated },
            }),
            State::Failed => pending.push((from, to, Cause::Failed)),
            State::Stopped => pending.push((from, to, Cause::Stopped)),
            _ => pending.push((from, to, cause)),
        }
    };
    for record in records {
        match record.node {
            Node::Run => {
                if let Some((from, was)) = since {
                    close(from, record.time, was, record.to, cause);
                }
                let over = matches!(record.to, State::Completed | State::Skipped);
                since = (!over).then_some((record.time, record.to));
            }
            Node::Member(_) if record.to == State::Pending => {
                cause = match record.reason {
                    Some(Reason::NodeImageVersionNotAvailable) => Cause::Image,
                    Some(Reason::KubernetesVersionNotAvailable) => Cause::Version,
                    Some(Reason::MemberBusy) => Cause::Busy,
                    _ => Cause::Window,
                };
            }
            Node::Gate(_) if record.to == State::Pending => cause = Cause::Gate,
            Node::Wait(_) if record.to == State::Running => cause = Cause::Wait,
            _ => {}
        }
    }
    if let Some((from, was)) = since {
        close(from, clock.end, was, was, cause);
        if was == State::Running
            && let Some(last) = bars.last_mut()
        {
            last.kind = BarKind::Unfinished;
        }
    }
    let state = match scheduler.run().state {
        State::Stopping | State::Stopped | State::Running => State::Pending,
        state => state,
    };
    TimelineMember { name: name.to_owned(), bars, pending, windows: Vec::new(), state }
}
