//! Common random numbers (X1): what is added beside a member's luck leaves that luck alone.

use std::collections::BTreeMap;

use fleetsim::experiment::History;
use fleetsim::scheduler::{NoLog, Node, Plan, State};
use fleetsim::sim::{Moves, Simulation};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{UPDATE, experiment, histories, outcomes, read, run};

/// What can be varied in the scenario of this page.
#[derive(Clone)]
struct Setting {
    /// Members of the second population.
    members: u32,
    /// A third population, in a region that no other member is in.
    more: bool,
    probability: f64,
    strategies: Vec<&'static str>,
}

const WAVES: &str = "
  - name: waves
    stages:
      - {name: first, maxAllowedFailures: 2, groups: [{name: a, maxConcurrency: 3, maxAllowedFailures: 2}], afterGates: [{type: Approval}]}
      - {name: second, maxAllowedFailures: 2, groups: [{name: b, maxConcurrency: 5, maxAllowedFailures: 2}]}
";
const ALL: &str = "
  - {name: all, stages: [{name: s, maxAllowedFailures: 40, groups: [{name: b, maxConcurrency: 50, maxAllowedFailures: 40}, {name: a, maxConcurrency: 20, maxAllowedFailures: 40}], afterGates: [{type: Approval}]}]}
";
const ONE_BY_ONE: &str = "
  - {name: one-by-one}
";

fn setting() -> Setting {
    Setting { members: 25, more: false, probability: 0.15, strategies: vec![WAVES] }
}

/// Everything is drawn: the fleet, releases, durations, failures, approvals and restarts.
fn text(setting: &Setting) -> String {
    let Setting { members, more, probability, strategies } = setting;
    let train = "pools: [{name: p, nodeImageVersion: {family: AKSUbuntu-2204gen2containerd, \
                 behind: 1}}]";
    let more = if *more {
        format!(
            "    - {{count: 3, name: \"more-{{n:02}}\", region: japaneast, updateGroup: b, \
             {train}}}\n"
        )
    } else {
        String::new()
    };
    format!(
        "name: coupling\nstart: 2026-03-02T08:00:00Z\nhorizon: 400d\nseed: 3\nfleet:\n  \
         populations:\n    - {{count: 10, name: \"a-{{n:02}}\", region: westeurope, \
         updateGroup: a, {train}}}\n    - {{count: {members}, name: \"b-{{n:02}}\", region: \
         {{choose: {{westeurope: 0.5, eastus: 0.5}}}}, updateGroup: b, {train}}}\n{more}\
         update: {{{UPDATE}}}\nstrategies:{}world: {{failures: {{probability: {probability}, \
         transient: 1}}}}\n",
        strategies.concat()
    )
}

/// Each update of a replication: how long it took and whether it failed, by member and attempt.
type Updates = BTreeMap<(String, usize), (Span, bool)>;

fn updates(plan: &Plan<'_>, history: &History) -> Updates {
    let (mut started, mut updates) = (BTreeMap::new(), Updates::new());
    let mut attempts: BTreeMap<_, usize> = BTreeMap::new();
    for record in &history.records {
        let Node::Member(id) = record.node else { continue };
        if record.to == State::Running {
            started.insert(id, record.time);
        } else if record.from == State::Running {
            let attempt = attempts.entry(id).or_default();
            let key = (plan.fleet.members[id].name.clone(), *attempt);
            *attempt += 1;
            updates.insert(key, (record.time - started[&id], record.to == State::Failed));
        }
    }
    updates
}

fn drawn(setting: &Setting) -> Vec<Updates> {
    histories(&text(setting), 30, |plan, history, _| updates(plan, history))
}

/// Every update that both have is the same; says how many there are.
fn same(left: &[Updates], right: &[Updates]) -> usize {
    let mut both = 0;
    for (left, right) in left.iter().zip(right) {
        for (key, update) in left {
            if let Some(other) = right.get(key) {
                assert_eq!(update, other, "{key:?}");
                both += 1;
            }
        }
    }
    both
}

#[test]
fn x1_adding_a_strategy_changes_no_other() {
    let alone = outcomes(&text(&setting()), 40, 1);
    let strategies = vec![ONE_BY_ONE, WAVES, ALL];
    let beside = outcomes(&text(&Setting { strategies, ..setting() }), 40, 1);
    assert_eq!(alone.by_strategy[0], beside.by_strategy[1]);
    assert_ne!(alone.by_strategy[0], beside.by_strategy[0]);
}

#[test]
fn x1_adding_a_thread_changes_nothing() {
    let scenario = read(&text(&Setting { strategies: vec![WAVES, ALL], ..setting() }));
    let experiment = experiment(&scenario);
    let one = run(&experiment, 50, 1);
    for threads in [2, 3, 7] {
        assert_eq!(one, run(&experiment, 50, threads), "{threads} threads");
    }
}

/// Whatever is looked at, a replication is the same: with nobody watching, with all records kept,
/// and with the delays, the dearest of the metrics, taken in the middle.
#[test]
fn x1_adding_a_metric_changes_nothing() {
    let scenario = read(&text(&setting()));
    let experiment = experiment(&scenario);
    let mut plain = Simulation::new(&experiment.world, &experiment.plans[0]);
    let mut watched = Simulation::new(&experiment.world, &experiment.plans[0]);
    for replication in 0..20 {
        let unseen = plain.run(replication, experiment.end(), &mut NoLog);
        let mut history = History::default();
        let seen = watched.run(replication, experiment.end(), &mut history);
        let delays = watched.delays(&Moves::of(&history.records), experiment.end());
        assert_eq!(unseen, seen);
        let makespan = seen.makespan.unwrap_or(scenario.horizon);
        assert_eq!(delays.total(), makespan, "the delays add up");
    }
}

#[test]
fn x1_a_member_meets_the_same_luck_under_every_strategy() {
    let all = [WAVES, ALL, ONE_BY_ONE]
        .map(|strategy| drawn(&Setting { strategies: vec![strategy], ..setting() }));
    let firsts = 30 * 35;
    let [waves, all, one_by_one] = &all;
    assert_eq!(same(waves, all), firsts, "nobody is tried again where all failures are allowed");
    assert_eq!(same(all, one_by_one), firsts);
    let both = same(waves, one_by_one);
    assert!(both > firsts + 50, "{both}: every first attempt and many second ones");
}

#[test]
fn x1_an_approver_takes_as_long_under_every_strategy() {
    let delay = |strategy| {
        // Around the clock, so that the delay shows wherever the gate is reached.
        let people = "people: {approvers: {days: [Monday, Tuesday, Wednesday, Thursday, Friday, \
                      Saturday, Sunday], hours: \"00:00-24:00\"}}";
        let text = text(&Setting { strategies: vec![strategy], ..setting() });
        let text = text.replace("world: {", &format!("world: {{{people}, "));
        histories(&text, 30, |plan, history, _| {
            let gate = plan.gates.ids().next().map(Node::Gate).expect("one gate");
            let time = |to| -> Timestamp {
                let wanted = |r: &&fleetsim::scheduler::Record| r.node == gate && r.to == to;
                history.records.iter().find(wanted).expect("it happens").time
            };
            (time(State::Pending), time(State::Completed) - time(State::Pending))
        })
    };
    let (waves, all) = (delay(WAVES), delay(ALL));
    for (left, right) in waves.iter().zip(&all) {
        assert_eq!(left.1, right.1);
    }
    assert!(waves.iter().zip(&all).any(|(left, right)| left.0 != right.0));
}

#[test]
fn x1_appending_a_member_changes_no_other_draw() {
    let before = drawn(&setting());
    let updates: usize = before.iter().map(BTreeMap::len).sum();
    for appended in [Setting { members: 26, ..setting() }, Setting { more: true, ..setting() }] {
        let after = drawn(&appended);
        let both = same(&before, &after);
        assert!(both * 10 > updates * 9, "{both} of {updates} happen in both");
        let name = |key: &(String, usize)| key.0 == "b-26" || key.0 == "more-01";
        assert!(after.iter().any(|updates| updates.keys().any(name)), "the new member is updated");
    }
    // Nor does it change where the others are: the fleet is drawn by member, too.
    let regions = |setting: &Setting| {
        let scenario = read(&text(setting));
        let name = |id| scenario.fleet.regions[id].clone();
        let member = |m: &fleetsim::fleet::Member| (m.name.clone(), name(m.region));
        scenario.fleet.members.iter().map(member).collect::<BTreeMap<_, _>>()
    };
    let (before, after) = (regions(&setting()), regions(&Setting { members: 26, ..setting() }));
    assert!(before.iter().all(|(name, region)| after[name] == *region));
}

#[test]
fn x1_turning_failures_off_leaves_durations_unchanged() {
    let (with, without) = (drawn(&setting()), drawn(&Setting { probability: 0.0, ..setting() }));
    let mut firsts = 0;
    for (with, without) in with.iter().zip(&without) {
        for ((name, attempt), (takes, failed)) in without {
            assert!(*attempt == 0 && !failed, "without failures everybody is updated once");
            assert_eq!(with[&(name.clone(), 0)].0, *takes, "{name}");
            firsts += 1;
        }
    }
    assert_eq!(firsts, 30 * 35);
    let retried = with.iter().flat_map(BTreeMap::keys).filter(|(_, attempt)| *attempt > 0).count();
    assert!(retried > 50, "{retried} updates were tried again");
}
