//! People who react at the same instant: in the order in which they were told (R-A2).

use fleetsim::experiment::{Experiment, History};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{Node, State};
use fleetsim::sim::Simulation;

const SCENARIO: &str = "
name: gates
start: 2026-03-02T08:00:00Z
horizon: 2d
fleet:
  members: [{name: a, region: westeurope, updateGroup: g, pools: [{name: p}]}]
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}
strategies:
  - name: s
    stages:
      - name: s
        groups: [{name: g}]
        beforeGates:
          - {displayName: first, type: Approval}
          - {displayName: second, type: Approval}
          - {displayName: third, type: Approval}
world:
  failures: none
  people:
    approvers: {delay: 2h, days: [Monday], hours: \"09:00-17:00\", utcOffset: \"+00:00\"}
";

#[test]
fn w10_approvals_at_one_instant_come_in_the_order_of_the_gates() {
    let open = |name: &str| Err(name.to_owned());
    let (scenario, _) = Scenario::read("gates.yaml", SCENARIO, &open).unwrap();
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut history = History::default();
    Simulation::new(&experiment.world, &experiment.plans[0]).checked().run(
        0,
        experiment.end(),
        &mut history,
    );
    let approved = history.records.iter().filter_map(|record| match (record.node, record.to) {
        (Node::Gate(id), State::Completed) => Some((id.0, record.time.to_string())),
        _ => None,
    });
    // Two working hours from nine o'clock on.
    let eleven = "2026-03-02T11:00:00Z".to_owned();
    assert!(approved.eq([(0, eleven.clone()), (1, eleven.clone()), (2, eleven)]));
    assert!(history.refused.is_empty());
}
