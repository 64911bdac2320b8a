//! What is measured of the hot path, and of all of it.
//!
//! `draw` draws the durations of a fleet's first attempts. `queue` is the queue alone, with a
//! twentieth of the fleet in it: one update ends and another begins, as often as there are members.
//! `handle` lets the scheduler alone carry out a plain rollout, its driver being a list. `rollout` is
//! the reference workload. `plain` has nothing in the way of its members; `eventful` has windows,
//! failures and an approval; `watched` is the same with records kept and delays split; `trouble` is
//! eventful with defects, churn, and people who mind them. All others are models turned on.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::fleets::{self, Kind};
use crate::{models, rollout};
use fleetsim::experiment::Experiment;
use fleetsim::ids::MemberId;
use fleetsim::quantiles::{Distribution, Quantiles};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{Event, NoLog, Output, Plan, Scheduler};
use fleetsim::sim::draw::{Luck, Purpose};
use fleetsim::sim::queue::{Happening, Queue};
use fleetsim::sim::{Moves, Outcome, Simulation};
use fleetsim::time::{Span, Timestamp};

/// What is measured: a workload, and how many members it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Case {
    pub(crate) workload: &'static str,
    pub(crate) members: u32,
}

/// Workloads that are no models.
pub(crate) const WORKLOADS: [&str; 8] =
    ["draw", "queue", "handle", "rollout", "plain", "eventful", "watched", "trouble"];

impl Case {
    pub(crate) const fn new(workload: &'static str, members: u32) -> Self {
        Self { workload, members }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{},{}", self.workload, self.members))
    }
}

impl std::str::FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, members) = text.rsplit_once(',').ok_or("a case is WORKLOAD,MEMBERS")?;
        let mut all = WORKLOADS.into_iter().chain(models::MODELS.iter().map(|model| model.name));
        let known = all.clone().collect::<Vec<_>>().join(", ");
        let workload = all.find(|workload| *workload == name);
        let workload =
            workload.ok_or(format!("there is no workload `{name}`; there are {known}"))?;
        let members = members.parse().map_err(|error| format!("{members}: {error}"))?;
        Ok(Self { workload, members })
    }
}

/// A round of work: makes the replication of this number, returns how many updates it made.
pub(crate) type Round<'a> = &'a mut dyn FnMut(u32) -> u64;

/// Prepares a case and hands its rounds over.
pub(crate) fn with(case: Case, work: &mut dyn FnMut(Round<'_>)) {
    let scenario: Scenario = match case.workload {
        "draw" => return work(&mut draws(case.members)),
        "queue" => return work(&mut holds(case.members)),
        "rollout" => rollout::scenario(case.members),
        "plain" | "handle" => fleets::scenario(Kind::Plain, case.members),
        "eventful" | "watched" => fleets::scenario(Kind::Eventful, case.members),
        "trouble" => fleets::scenario(Kind::Trouble, case.members),
        model => models::scenario(model, case.members).expect("a case's model is known"),
    };
    let experiment: Experiment<'_> = fleets::experiment(&scenario);
    let end = experiment.end();
    if case.workload == "handle" {
        let mut alone = Alone::new(&experiment.plans[0], &scenario);
        return work(&mut |_| alone.round());
    }
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    if case.workload == "watched" {
        let mut moves = Moves::default();
        return work(&mut |number| {
            moves.clear();
            let outcome = simulation.run(number, end, &mut moves);
            black_box(simulation.delays(&moves, end));
            black_box(simulation.versions(end));
            updates(&outcome)
        });
    }
    work(&mut |number| updates(&black_box(simulation.run(number, end, &mut NoLog))));
}

/// The updates of all runs, and members' own.
fn updates(outcome: &Outcome) -> u64 {
    let own = outcome.autonomous.iter().map(|autonomous| {
        let runs = autonomous.runs.iter().map(|run| u64::from(run.counts.updated));
        u64::from(autonomous.own_upgrades) + runs.sum::<u64>()
    });
    u64::from(outcome.updated) + own.sum::<u64>()
}

fn draws(members: u32) -> impl FnMut(u32) -> u64 {
    let lognormal = Distribution::lognormal(600_000.0, 0.5).expect("sound parameters");
    let (durations, luck) = (Quantiles::new(&lognormal), Luck::new(1));
    let mut numbers = vec![0; members as usize];
    move |replication| {
        luck.sequence(replication, Purpose::Duration, 0).fill(&mut numbers);
        let spans = numbers.iter().map(|bits| durations.millis(*bits, 1_000));
        black_box(spans.fold(0, i64::wrapping_add));
        u64::from(members)
    }
}

/// The queue without a simulation: as many updates end as there are members.
fn holds(members: u32) -> impl FnMut(u32) -> u64 {
    let lognormal = Distribution::lognormal(600_000.0, 0.5).expect("sound parameters");
    let (durations, luck) = (Quantiles::new(&lognormal), Luck::new(1));
    let mut queue = Queue::new(Span::from_mins(30));
    let end = Timestamp::from_millis(1 << 41);
    move |replication| {
        let mut luck = luck.sequence(replication, Purpose::Duration, 0);
        let mut takes = || Span::from_millis(durations.millis(luck.draw(), 1_000));
        let start = Timestamp::from_millis(0);
        queue.reset(start);
        (0..members / 20).for_each(|id| queue.push_ending((start, takes()), MemberId(id), None));
        for _ in 0..members {
            let (now, member) = queue.pop_lone_completion(end).unwrap_or_else(|| {
                let (now, _) = queue.peek().expect("as many begin as end");
                match queue.pop() {
                    Some(Happening::UpdateEnds(member, None)) => (now, member),
                    other => unreachable!("{other:?}: only updates are here"),
                }
            });
            queue.push_ending((now, takes()), member, None);
        }
        u64::from(members)
    }
}

/// The scheduler without a simulation: every update takes ten minutes.
struct Alone<'p, 's> {
    scheduler: Scheduler<'p>,
    scenario: &'s Scenario,
    ends: VecDeque<(Timestamp, MemberId)>,
}

impl<'p, 's> Alone<'p, 's> {
    fn new(plan: &'p Plan<'p>, scenario: &'s Scenario) -> Self {
        Self { scheduler: Scheduler::new(plan), scenario, ends: VecDeque::new() }
    }

    fn round(&mut self) -> u64 {
        self.scheduler.reset();
        for release in self.scenario.script.releases.iter().flatten() {
            for region in self.scenario.fleet.regions.ids() {
                let at = release.everywhere_else.expect("the release is everywhere");
                self.scheduler.observe_release(release.what, region, at);
            }
        }
        let (mut now, mut updates) = (self.scenario.start, 0);
        let mut event = Event::Started;
        loop {
            for output in self.scheduler.handle(now, event, &mut NoLog) {
                if let Output::StartUpdate { member, .. } = output {
                    self.ends.push_back((now + Span::from_mins(10), *member));
                    updates += 1;
                }
            }
            let wake = self.scheduler.next_wake().map(|(at, _)| at);
            match (self.ends.front(), wake) {
                (Some((end, member)), wake) if wake.is_none_or(|wake| *end <= wake) => {
                    (now, event) = (*end, Event::UpdateCompleted(*member));
                    self.ends.pop_front();
                }
                (_, Some(wake)) => (now, event) = (wake, Event::Woke),
                (_, None) => return updates,
            }
        }
    }
}
