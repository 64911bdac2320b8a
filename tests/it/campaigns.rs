//! Campaigns of configuration changes beside an update run, under random stops, starts, skips and
//! approvals: every step is checked, and what happens to each change is worked out once more, by a
//! naive reading of the rules that shares no code with the simulator.

mod draft;
mod naive;

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use fleetsim::experiment::{Effort, Experiment, History};
use fleetsim::report::events::{Events, stream};
use fleetsim::report::results::{Results, changes_csv};
use fleetsim::report::summary::Summary;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{Node, State};
use fleetsim::sim::{ChangeStep, Changes, Moves, Outcome, Simulation};
use fleetsim::stats::Confidence;
use fleetsim::time::{Span, Timestamp};
use sha2::{Digest, Sha256};

/// How many scenarios a test run looks at.
const SCENARIOS: u64 = 400;
/// The two-sided 99.9 % quantile of the standard normal distribution.
const Z: f64 = 3.2905;

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("{name}: there are no files here"))
}

fn read(text: &str) -> Scenario {
    match Scenario::read("campaigns.yaml", text, &no_files) {
        Ok((scenario, _)) => scenario,
        Err(errors) => {
            panic!("{text}\n{}", errors.iter().map(ToString::to_string).collect::<String>())
        }
    }
}

/// Plays one replication in checked mode.
fn play(experiment: &Experiment<'_>, replication: u32) -> (Outcome, History) {
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let mut outcome = simulation.run(replication, experiment.end(), &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    (outcome, history)
}

/// When each member was updated: from, to, and whether it succeeded; open ends are `None`.
fn updates(scenario: &Scenario, history: &History) -> Vec<Vec<naive::Update>> {
    let mut all = vec![Vec::new(); scenario.fleet.members.len()];
    for record in &history.records {
        let Node::Member(id) = record.node else { continue };
        let known: &mut Vec<naive::Update> = &mut all[id.0 as usize];
        match record.to {
            State::Running => {
                known.push(naive::Update { from: record.time, to: None, well: false });
            }
            State::Completed | State::Failed => {
                // Members that fail when they are tried were never updated.
                if let Some(last) = known.last_mut().filter(|last| last.to.is_none()) {
                    (last.to, last.well) = (Some(record.time), record.to == State::Completed);
                }
            }
            _ => {}
        }
    }
    all
}

/// One scenario of the swarm, looked at from all sides; the error says what does not hold.
fn look(seed: u64) -> Result<naive::Seen, String> {
    let text = draft::scenario(seed);
    let scenario = read(&text);
    let experiment = Experiment::new(&scenario, &scenario.strategies).expect("it fits the fleet");
    let (outcome, history) = play(&experiment, 0);
    let updates = updates(&scenario, &history);
    let told = naive::Told::of(&scenario, &history);
    let expected = naive::expected(&scenario, &experiment.plans[0], &updates, &told);
    for (id, member) in scenario.fleet.members.iter_with_ids() {
        let index = id.0 as usize;
        if told.events[index] != expected.events[index] {
            return Err(format!(
                "{}: told {:#?}\nexpected {:#?}\n{text}",
                member.name, told.events[index], expected.events[index]
            ));
        }
        let mut work: Vec<(Timestamp, Timestamp)> =
            told.reimages[index].iter().map(|r| (r.from, r.to)).collect();
        work.extend(updates[index].iter().map(|u| (u.from, u.to.unwrap_or(Timestamp::MAX))));
        work.sort_unstable();
        if work.windows(2).any(|pair| pair[0].1 > pair[1].0) {
            return Err(format!(
                "{}: an update and a change overlap: {work:?}\n{text}",
                member.name
            ));
        }
    }
    if outcome.campaigns != expected.outcomes {
        return Err(format!("{:#?}\nexpected {:#?}\n{text}", outcome.campaigns, expected.outcomes));
    }
    if outcome.changes != Changes::total(&expected.outcomes) {
        return Err(format!("the total is wrong: {:?}\n{text}", outcome.changes));
    }
    let spent = outcome.makespan.unwrap_or(scenario.horizon);
    if outcome.delays.total() != spent {
        return Err(format!("delays add up to {}, not {spent}\n{text}", outcome.delays.total()));
    }
    Ok(expected.seen)
}

#[test]
fn n1_n6_r_b7_changes_and_updates_keep_the_rules_whatever_people_do() {
    let mut seen = naive::Seen::default();
    let mut wrong = String::new();
    for seed in 0..SCENARIOS {
        match look(seed) {
            Ok(more) => seen.add(&more),
            Err(why) => {
                writeln!(wrong, "seed {seed}: {why}").unwrap();
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // A swarm in which something never happens tests nothing of it.
    assert!(seen.all_happened(), "{seen:?}");
}

/// N1, W12: of a member that is asked at a time uniform over a week and asks again when its window
/// of d hours opens, every D hours, the mean wait is (D − d)²/(2D): it waits with probability
/// (D − d)/D, and then (D − d)/2 on average.
#[test]
fn n1_w12_the_mean_wait_for_a_weekly_window_is_that_of_the_formula() {
    let text = "
name: waits
start: 2026-03-02T08:00:00Z
horizon: 30d
seed: 77
fleet:
  populations:
    - count: 100
      name: \"m-{n:03}\"
      region: westeurope
      nodeDisruptionPolicy: AllowDuringMaintenanceWindow
      pools: [{name: p}]
      maintenance:
        aksManagedNodeOSUpgradeSchedule:
          schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Thursday}}
          durationHours: 12
          startTime: \"22:00\"
          utcOffset: \"+00:00\"
configurationChanges:
  - {at: {uniform: [0s, 7d]}, operation: trustedCa, onRefused: retryInWindow}
";
    let scenario = read(text);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut waits = Vec::new();
    for replication in 0..40 {
        let (outcome, history) = play(&experiment, replication);
        let mut asked = vec![None; 100];
        for (_, record) in &history.changes {
            let asked = &mut asked[record.member.0 as usize];
            match record.step {
                ChangeStep::Asked { .. } => {
                    asked.get_or_insert(record.time);
                }
                ChangeStep::Started => {
                    waits.push((record.time - asked.expect("it was asked")).as_secs_f64());
                }
                _ => {}
            }
        }
        assert_eq!(outcome.changes.never_done(), 0);
    }
    assert_eq!(waits.len(), 4_000);
    let (whole, open) = (7.0 * 86_400.0, 12.0 * 3_600.0);
    let closed: f64 = whole - open;
    let mean = closed * closed / (2.0 * whole);
    let variance = closed.powi(3) / (3.0 * whole) - mean * mean;
    let found = waits.iter().sum::<f64>() / 4_000.0;
    let z = (found - mean) / (variance / 4_000.0).sqrt();
    assert!(z.abs() < Z, "mean {found}, expected {mean}: z = {z:.2}");
}

/// Two variants of one scenario with every kind of time and habit, with luck.
const GOLDEN: &str = include_str!("campaigns/golden.yaml");

#[test]
fn x3_campaigns_are_the_same_bytes_on_any_number_of_threads_and_machine() {
    let files = |threads: usize| {
        let read = Scenario::read_all("golden.yaml", GOLDEN, &no_files, None, &[], &[]);
        let (scenarios, _) = read.unwrap_or_else(|errors| panic!("{}", errors[0]));
        let candidates =
            scenarios.iter().flat_map(|s| s.strategies.iter().map(move |one| (s, one)));
        let experiment = Experiment::over(&scenarios[0], candidates).unwrap();
        let stop = AtomicBool::new(false);
        let effort = Effort { replications: 17, threads, stop: &stop, progress: &|_| {} };
        let outcomes = experiment.run(&effort);
        let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
        let mut simulation = Simulation::new(experiment.world_of(1), &experiment.plans[1]);
        let mut history = History::default();
        simulation.run(3, experiment.end(), &mut history);
        let (plan, codes) = (&experiment.plans[1], experiment.world.codes());
        let events = Events { plan, run: "golden", codes };
        let events = stream(&history, (&events, &[]), &scenarios[1].campaigns);
        let results = Results {
            experiment: &experiment,
            outcomes: &outcomes,
            summary: &summary,
            target: None,
        };
        let files = results.files().unwrap().into_iter();
        // PNG bytes are the same on one machine only.
        let files = files.filter(|file| !file.bytes.starts_with(b"\x89PNG"));
        (
            changes_csv(&summary),
            events,
            files.map(|file| (file.name, file.bytes)).collect::<Vec<_>>(),
        )
    };
    let once = files(1);
    assert!(once == files(3), "with three threads");
    let names: Vec<&str> = once.2.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["changes.csv", "changes-progress.csv", "changes.svg", "changes-done.svg"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let digest = |text: &str| {
        let bytes = Sha256::digest(text.as_bytes());
        bytes.iter().take(8).fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    let golden = ["fb40dd1b26bb8de8", "f2665ce132301769"];
    assert_eq!([digest(&once.0), digest(&once.1)], golden, "what campaigns draw has changed");
}

#[test]
fn hours_beyond_the_horizon_are_not_counted() {
    let text = |horizon: &str| {
        format!(
            "
name: cut
start: 2026-03-02T08:00:00Z
horizon: {horizon}
fleet: {{members: [{{name: a, region: westeurope, pools: [{{name: p, count: 4}}]}}]}}
world: {{durations: {{model: cluster, update: 3h}}}}
configurationChanges: [{{at: 1h, operation: trustedCa}}]
"
        )
    };
    let hours = |horizon: &str| {
        let scenario = read(&text(horizon));
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        let changes = play(&experiment, 0).0.changes;
        assert_eq!(changes.reimaged_nodes, 4);
        (changes.outside_window, changes.business, changes.never_done())
    };
    assert_eq!(hours("1d"), (Span::from_hours(3), Span::from_hours(3), 0));
    assert_eq!(hours("2h"), (Span::HOUR, Span::HOUR, 1));
}
