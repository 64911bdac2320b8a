//! Experiments for the tests: a scenario's text in, outcomes or whole histories out.

use std::sync::atomic::AtomicBool;

use fleetsim::experiment::{Effort, Experiment, History, Input, Outcomes};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::Plan;
use fleetsim::sim::{Moves, Outcome, Simulation};

/// Where the tests' scenarios begin, a Monday.
pub(crate) const START: &str = "2026-03-02T08:00:00Z";

/// Two families' releases, everywhere before the start: everybody has something to do, and
/// nothing about releases is drawn.
pub(crate) const RELEASED: &str = "
  releases:
    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-01T00:00:00Z}}
";

/// The pool that those releases update, as a member's line writes it.
pub(crate) const POOL: &str =
    "pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]";

/// The update of all of them.
pub(crate) const UPDATE: &str = "managedClusterUpdate: {upgrade: {type: NodeImageOnly}, \
                                 nodeImageSelection: {type: Latest}}";

/// The input of a sensitivity analysis with this key.
pub(crate) fn input(key: &str) -> Input {
    Input::named(key).unwrap_or_else(|| panic!("there is no {key}"))
}

/// Reads a scenario that is right.
#[track_caller]
pub(crate) fn read(text: &str) -> Scenario {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    match Scenario::read("test.yaml", text, &no_files) {
        Ok((scenario, _)) => scenario,
        Err(errors) => panic!("{}\n{text}", errors[0]),
    }
}

/// All strategies of a scenario, laid over its fleet.
#[track_caller]
pub(crate) fn experiment(scenario: &Scenario) -> Experiment<'_> {
    Experiment::new(scenario, &scenario.strategies).expect("the strategies fit the fleet")
}

/// The outcomes of all strategies of a scenario.
#[track_caller]
pub(crate) fn outcomes(text: &str, replications: u32, threads: usize) -> Outcomes {
    let scenario = read(text);
    run(&experiment(&scenario), replications, threads)
}

/// Runs an experiment to its end.
pub(crate) fn run(experiment: &Experiment<'_>, replications: u32, threads: usize) -> Outcomes {
    let stop = AtomicBool::new(false);
    experiment.run(&Effort { replications, threads, stop: &stop, progress: &|_| {} })
}

/// Simulates the first strategy and looks at each replication's whole history.
#[track_caller]
pub(crate) fn histories<T>(
    text: &str,
    replications: u32,
    mut look: impl FnMut(&Plan<'_>, &History, &Outcome) -> T,
) -> Vec<T> {
    let scenario = read(text);
    let experiment = experiment(&scenario);
    let plan = &experiment.plans[0];
    let mut simulation = Simulation::new(&experiment.world, plan);
    let mut looks = Vec::new();
    for replication in 0..replications {
        let mut history = History::default();
        let mut outcome = simulation.run(replication, experiment.end(), &mut history);
        outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
        outcome.versions = simulation.versions(experiment.end());
        looks.push(look(plan, &history, &outcome));
    }
    looks
}
