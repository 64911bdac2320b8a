//! The same scenario, seed and version: the same outcomes and the same bytes (X3).

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use fleetsim::experiment::{Experiment, History, Outcomes};
use fleetsim::report::events::Events;
use fleetsim::report::results::{ResultFile, Results};
use fleetsim::report::summary::Summary;
use fleetsim::scenario::Scenario;
use fleetsim::sim::{Moves, Outcome, Simulation};
use fleetsim::stats::Confidence;

use crate::experiments::{experiment, read, run};
use crate::swarm;

/// Replications of each strategy: more than one batch for each of three threads.
const REPLICATIONS: u32 = 25;

/// Scenarios with luck in everything that this version draws.
const LUCKY: [(&str, &str); 4] = [
    ("windows", include_str!("determinism/windows.yaml")),
    ("failures", include_str!("determinism/failures.yaml")),
    ("train", include_str!("determinism/train.yaml")),
    ("trouble", include_str!("determinism/trouble.yaml")),
];

/// Several runs at once, members that upgrade themselves, join, leave and get pools; nodes.
const BESIDE: [(&str, &str); 4] = [
    ("profiles", include_str!("determinism/profiles.yaml")),
    ("nodes", include_str!("determinism/nodes.yaml")),
    ("churn", include_str!("determinism/churn.yaml")),
    ("pools", include_str!("determinism/pools.yaml")),
];

/// The scenarios that the product ships.
fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "yaml"));
    paths.sort();
    paths
}

fn open_scenario(path: &Path) -> Scenario {
    let folder = path.parent().expect("a file lies in a folder");
    let open = |name: &str| {
        fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let text = fs::read_to_string(path).unwrap();
    let read = Scenario::read(&path.display().to_string(), &text, &open);
    read.unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0])).0
}

/// Renders all result files of an experiment.
fn files(experiment: &Experiment<'_>, outcomes: &Outcomes) -> Vec<ResultFile> {
    let summary = Summary::of(experiment, outcomes, Confidence::DEFAULT).unwrap();
    Results { experiment, outcomes, summary: &summary, target: None }.files().unwrap()
}

/// The same outcomes with one, two and three threads, twice in a row, and read anew; and the same
/// bytes in every file of the first and the last of them.
fn assert_deterministic(name: &str, read: impl Fn() -> Scenario) {
    let scenario = read();
    let laid = experiment(&scenario);
    let first = run(&laid, REPLICATIONS, 1);
    for threads in [1, 2, 3] {
        let again = run(&laid, REPLICATIONS, threads);
        assert!(first == again, "{name}: outcomes with {threads} threads");
    }
    let other = read();
    let other = experiment(&other);
    let anew = run(&other, REPLICATIONS, 2);
    assert!(first == anew, "{name}: outcomes when read anew");
    let pairs = files(&laid, &first).into_iter().zip(files(&other, &anew));
    for (left, right) in pairs {
        assert!(left == right, "{name}: {} when made anew", left.name);
    }
}

#[test]
fn x3_shipped_scenarios_are_deterministic() {
    for path in shipped() {
        assert_deterministic(&path.display().to_string(), || open_scenario(&path));
    }
}

#[test]
fn x3_lucky_scenarios_are_deterministic() {
    for (name, text) in LUCKY.into_iter().chain(BESIDE) {
        assert_deterministic(name, || read(text));
    }
}

#[test]
fn x3_swarm_scenarios_are_deterministic() {
    for seed in 0..4 {
        assert_deterministic(&format!("swarm {seed}"), || read(&swarm::scenario(seed)));
    }
}

/// One replication, with everything that it shows.
#[derive(PartialEq)]
struct Shown {
    outcome: Outcome,
    lines: Vec<String>,
    refused: Vec<String>,
}

fn show(experiment: &Experiment<'_>, simulation: &mut Simulation<'_>, replication: u32) -> Shown {
    let plan = simulation.scheduler().plan();
    let mut history = History::default();
    let mut outcome = simulation.run(replication, experiment.end(), &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    let (run, codes) = (&experiment.scenario.name, experiment.world.codes());
    let own = Events { plan, run, codes };
    let beside = simulation.beside();
    let beside: Vec<Events<'_>> =
        beside.map(|(run, of)| Events { plan: of.plan(), run, codes }).collect();
    let refused = history.refused.iter();
    let line = |(run, record): (Option<usize>, &fleetsim::scheduler::Record)| {
        run.map_or(&own, |run| &beside[run]).line(record)
    };
    Shown {
        outcome,
        lines: history.all().map(line).collect(),
        refused: refused.map(|(at, what, why)| format!("{at} {what}: {why}")).collect(),
    }
}

/// A simulation that has run others, in any order, runs a replication as a new one does.
fn assert_reusable(name: &str, text: &str) {
    let scenario = read(text);
    let experiment = experiment(&scenario);
    for plan in &experiment.plans {
        let new = |replication| {
            let mut simulation = Simulation::new(&experiment.world, plan);
            show(&experiment, &mut simulation, replication)
        };
        let fresh: Vec<Shown> = (0..20).map(new).collect();
        let ascending: Vec<u32> = (0..20).collect();
        let descending: Vec<u32> = (0..20).rev().collect();
        let jumping: Vec<u32> = (0..40).map(|n| n * 7 % 20).collect();
        for order in [ascending, descending, jumping] {
            let mut reused = Simulation::new(&experiment.world, plan);
            for replication in order {
                let shown = show(&experiment, &mut reused, replication);
                let wanted = &fresh[replication as usize];
                assert!(shown == *wanted, "{name}: replication {replication} in a used simulation");
            }
        }
    }
}

#[test]
fn a_reused_simulation_equals_a_new_one() {
    for (name, text) in LUCKY.into_iter().chain(BESIDE) {
        assert_reusable(name, text);
    }
    for seed in 0..60 {
        assert_reusable(&format!("swarm {seed}"), &swarm::scenario(seed));
    }
}

/// A digest of every event of the first replications of every strategy.
fn digest(text: &str) -> String {
    let scenario = read(text);
    let experiment = experiment(&scenario);
    let mut digest = Sha256::new();
    for plan in &experiment.plans {
        let mut simulation = Simulation::new(&experiment.world, plan);
        for replication in 0..10 {
            for line in show(&experiment, &mut simulation, replication).lines {
                digest.update(line.as_bytes());
                digest.update(b"\n");
            }
        }
    }
    digest.finalize()[..8].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[test]
fn x2_golden_runs_are_pinned() {
    let pinned = [
        ("windows", "4ffdae16b09896e8"),
        ("failures", "a222645e44712d16"),
        ("train", "2ab24454eb48a95a"),
        ("trouble", "1fd712965f898583"),
        ("profiles", "3eced42ab62058cc"),
        ("nodes", "18f4036e43b73409"),
        ("churn", "e2c89f3b43751943"),
        ("pools", "1249c19472f40dff"),
    ];
    let found: Vec<(&str, String)> =
        LUCKY.into_iter().chain(BESIDE).map(|(name, text)| (name, digest(text))).collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(name, hex)| (*name, hex.as_str())).collect();
    assert_eq!(
        found, pinned,
        "a change of these is a change of every result: it belongs into the change log"
    );
}
