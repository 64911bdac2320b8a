//! The common case that is handled at once comes to what the general path comes to.

use fleetsim::experiment::History;
use fleetsim::sim::Simulation;

use crate::experiments::{experiment, read};
use crate::swarm;

/// Runs each strategy's first replications both ways; returns the endings, and those of them that
/// were handled at once.
fn both_ways(name: &str, text: &str, replications: u32) -> (u64, u64) {
    let scenario = read(text);
    let experiment = experiment(&scenario);
    let (mut endings, mut relayed) = (0, 0);
    for plan in &experiment.plans {
        let mut fast = Simulation::new(&experiment.world, plan).checked();
        let mut slow = Simulation::new(&experiment.world, plan).checked().step_by_step();
        for replication in 0..replications {
            let (mut one, mut other) = (History::default(), History::default());
            let found = fast.run(replication, experiment.end(), &mut one);
            let wanted = slow.run(replication, experiment.end(), &mut other);
            assert_eq!(one.records, other.records, "{name}, {}, {replication}", plan.strategy);
            assert_eq!(one.refused, other.refused, "{name}, {}, {replication}", plan.strategy);
            assert_eq!(found, wanted, "{name}, {}, {replication}", plan.strategy);
            let codes = experiment.world.codes();
            let status = |simulation: &Simulation<'_>| simulation.scheduler().status("run", codes);
            assert_eq!(status(&fast), status(&slow), "{name}, {}, {replication}", plan.strategy);
            assert_eq!(slow.relayed(), 0, "step by step means each event by itself");
            endings += u64::from(found.updated);
            relayed += fast.relayed();
        }
    }
    (endings, relayed)
}

/// Three groups behind one another's turns, windows, polls, failures, restarts, gates and waits.
fn fleet(members: u32, windows: bool, order: &str, poll: &str) -> String {
    let window = "maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {daily: {intervalDays: \
                  1}}, durationHours: 8, startTime: \"20:00\", utcOffset: \"+00:00\"}}, ";
    let population = |name: &str, count: u32, window: &str| {
        format!(
            "    - {{count: {count}, name: \"{name}-{{n:04}}\", region: westeurope, {window}\
             updateGroup: {{choose: {{a: 0.3, b: 0.3, c: 0.4}}}}, pools: [{{name: p, \
             nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]}}\n"
        )
    };
    let half = if windows { members / 2 } else { 0 };
    let populations =
        population("free", members - half, "") + &population("windowed", half, window);
    format!(
        "name: relay\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\nseed: 5\nserviceLimits: \
         none\nfleet:\n  populations:\n{}update: {{pollInterval: {poll}, groupOrder: {order}, \
         managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\nstrategies:\n  - name: \
         waves\n    stages:\n      - {{name: first, maxAllowedFailures: 9, groups: [{{name: a, \
         maxConcurrency: 7, maxAllowedFailures: 9, afterGates: [{{type: Approval}}]}}], \
         afterStageWaitInSeconds: 3600}}\n      - {{name: second, maxConcurrency: 9, \
         maxAllowedFailures: 5, groups: [{{name: b, maxConcurrency: 6, maxAllowedFailures: 4}}, \
         {{name: c, maxConcurrency: 8, maxAllowedFailures: 4}}]}}\n  - name: one-by-one\nworld: \
         {{durations: {{update: {{lognormal: {{median: 20m, sigma: 0.6}}}}}}, failures: \
         {{probability: 0.03, transient: 0.9}}, people: {{restart: {{after: 1h, atMost: \
         100}}}}}}\nscript: {{releases: [{{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, \
         regions: {{\"*\": 2026-03-01T00:00:00Z}}}}]}}\n",
        if half == 0 { population("free", members, "") } else { populations },
    )
}

#[test]
fn an_ending_that_is_handled_at_once_equals_one_that_is_handled_step_by_step() {
    for windows in [false, true] {
        for order in ["roundRobin", "strategyOrder", "reverse"] {
            for poll in ["1h", "0s"] {
                let name = format!("windows {windows}, {order}, {poll}");
                let (endings, relayed) = both_ways(&name, &fleet(150, windows, order, poll), 5);
                println!("{name}: {relayed} of {endings}");
                assert!(relayed <= endings && endings > 500, "{name}: {relayed} of {endings}");
                if !windows && order == "roundRobin" {
                    assert!(relayed > endings * 3 / 4, "{name}: {relayed} of {endings}");
                }
            }
        }
    }
}

#[test]
fn the_swarm_comes_to_the_same_step_by_step() {
    let (mut endings, mut relayed) = (0, 0);
    for seed in 0..400 {
        let found = both_ways(&format!("swarm {seed}"), &swarm::scenario(seed), 1);
        (endings, relayed) = (endings + found.0, relayed + found.1);
    }
    println!("{relayed} of {endings}");
    assert!(relayed > 0 && relayed < endings, "{relayed} of {endings}");
}

#[test]
fn r_a8_updates_of_months_take_their_time() {
    let text = fleet(2, false, "roundRobin", "1h")
        .replace("{lognormal: {median: 20m, sigma: 0.6}}", "60d")
        .replace("horizon: 60d", "horizon: 3000d")
        .replace("failures: {probability: 0.03, transient: 0.9}", "failures: none")
        .replace(", afterGates: [{type: Approval}]", "");
    let scenario = read(&text);
    let experiment = experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[1]).checked();
    let outcome = simulation.run(0, experiment.end(), &mut History::default());
    let days = outcome.makespan.map(|span| span.as_millis() / 86_400_000);
    assert_eq!(days, Some(120), "two members, one by one");
}
