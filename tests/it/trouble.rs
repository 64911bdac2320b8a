//! Everything that can go wrong at once: the delays still add up, and every assumption about it is
//! tried.

use fleetsim::experiment::{Experiment, History, trials};
use fleetsim::sim::{End, Moves, Simulation};

use crate::experiments::{experiment, read, run};

/// The scenario of this page; [`crate::determinism`] pins what comes of it.
const TROUBLE: &str = include_str!("determinism/trouble.yaml");

/// In every replication the causes add up to the makespan, or to the horizon; the counts of
/// members to the run's; the invariants hold at every step; and what can happen does.
#[test]
fn delays_add_up_whatever_goes_wrong() {
    let mut ends = Vec::new();
    let (mut exposed, mut restarts, mut stale) = (0, 0, 0);
    for seed in 0..12 {
        let text = TROUBLE.replace("seed: 29", &format!("seed: {seed}"));
        let scenario = read(&text);
        let experiment: Experiment<'_> = experiment(&scenario);
        for plan in &experiment.plans {
            let mut simulation = Simulation::new(&experiment.world, plan).checked();
            for replication in 0..8 {
                let mut history = History::default();
                let outcome = simulation.run(replication, experiment.end(), &mut history);
                let delays = simulation.delays(&Moves::of(&history.records), experiment.end());
                let makespan = outcome.makespan.unwrap_or(scenario.horizon);
                assert_eq!(delays.total(), makespan, "seed {seed}, replication {replication}");
                let counts = [outcome.updated, outcome.failed, outcome.skipped, outcome.pending];
                let all = counts.iter().sum::<u32>() + outcome.not_started;
                assert_eq!(all, outcome.members);
                assert!(outcome.exposure.members <= outcome.members);
                let versions = simulation.versions(experiment.end());
                ends.push(outcome.end);
                exposed += usize::from(outcome.exposure.members > 0);
                restarts += outcome.restarts;
                stale += usize::from(versions.stale > fleetsim::time::Span::ZERO);
            }
        }
    }
    for end in [End::Completed, End::Stopped, End::Failed] {
        assert!(ends.contains(&end), "{end:?}");
    }
    let n = ends.len();
    assert!(exposed > n / 5 && exposed < n && restarts > 20 && stale == n, "{exposed} {restarts}");
}

/// Every assumption of the scenario is tried, and moves something.
#[test]
fn sensitivity_tries_every_assumption_about_trouble() {
    let scenario = read(TROUBLE);
    let base = run(&experiment(&scenario), 40, 2);
    let mut tried = 0;
    for trial in trials(&[&scenario]) {
        let found = run(&experiment(&trial.scenarios[0]), 40, 2);
        let key = trial.input.key();
        // Nearly nobody is polled for here, and a third of an hour is an hour to those with windows.
        let moves = found != base || key == "update.pollInterval";
        assert!(moves, "{key} × {} moves nothing", trial.factor);
        tried += 1;
    }
    // Whether these are all that there are is the question of `assumptions`.
    assert!(tried > 60, "{tried}");
}
