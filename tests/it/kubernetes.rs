//! Kubernetes targets without scripted releases: the train carries node images only, so the version
//! is everywhere from the start.

use fleetsim::experiment::{Experiment, History};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::State;
use fleetsim::sim::{DelayCause, Moves, Simulation};
use fleetsim::time::Span;

const SCENARIO: &str = "
name: minor
start: 2026-03-02T08:00:00Z
horizon: 10d
fleet:
  members:
    - {name: a, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{name: p}]}
    - {name: b, region: eastus, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{name: p}]}
update: {managedClusterUpdate: {upgrade: {type: Full, kubernetesVersion: 1.34.1}}}
strategies: [{name: s, stages: [{name: s, groups: [{name: g}]}]}]
script:
  updates: {'*': {takes: 1h}}
";

#[test]
fn a_target_that_nobody_releases_by_script_is_there_and_never_waited_for() {
    let (scenario, _) =
        Scenario::read("minor.yaml", SCENARIO, &|name| Err(name.to_owned())).unwrap();
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let outcome = simulation.run(0, experiment.end(), &mut history);
    assert_eq!(simulation.scheduler().run().state, State::Completed);
    assert_eq!(outcome.makespan, Some(Span::from_hours(2)));
    let delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    assert_eq!(delays.of(DelayCause::Version), Span::ZERO);
    assert_eq!(delays.of(DelayCause::Updating), Span::from_hours(1));
    assert_eq!(delays.of(DelayCause::Concurrency), Span::from_hours(1));
}
