//! Small experiments for the tests of results.

use std::sync::atomic::AtomicBool;

use super::summary::Summary;
use crate::experiment::{Effort, Experiment, Outcomes};
use crate::scenario::Scenario;
use crate::stats::Confidence;

/// The member lines of a fleet: two in group `a`, one in `b`.
const MEMBERS: &str = "
fleet:
  members:
    - {name: m1, region: westeurope, updateGroup: a, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
    - {name: m2, region: westeurope, updateGroup: a, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
    - {name: m3, region: westeurope, updateGroup: b, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}, nodeImageSelection: {type: Latest}}}
";

/// A release that is there from the start.
const RELEASE: &str = "releases: [{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-02T00:00:00Z}}]";

/// Three members, 30 minutes each: one by one, or all together.
pub(super) fn scripted() -> String {
    with_updates("{takes: 30m}")
}

/// The same, with a last member that fails after 10 minutes.
pub(super) fn failing() -> String {
    with_updates("{takes: 30m}, m3: [{takes: 10m, fails: PodDrainFailure}]")
}

fn with_updates(updates: &str) -> String {
    format!(
        "name: small
start: 2026-03-02T08:00:00Z
horizon: 10d
replications: 3
{MEMBERS}
strategies:
  - {{name: one}}
  - {{name: together, stages: [{{name: s, groups: [{{name: a, maxConcurrency: 2}}, {{name: b}}]}}]}}
script:
  updates: {{\"*\": {updates}}}
  {RELEASE}
"
    )
}

/// 30 members with weekly windows, luck in durations, failures and approvals; the last strategy
/// stops at its first failure and stays so.
pub(super) fn lucky() -> String {
    format!(
        "name: lucky
start: 2026-03-02T08:00:00Z
horizon: 20d
seed: 5
fleet:
  populations:
    - {{count: 10, name: \"canary-{{n:02}}\", region: westeurope, updateGroup: canary, pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]}}
    - count: 20
      name: \"prod-{{n:02}}\"
      region: eastus
      updateGroup: prod
      pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]
      maintenance: {{aksManagedNodeOSUpgradeSchedule: {{schedule: {{weekly: {{intervalWeeks: 1, dayOfWeek: Sunday}}}}, durationHours: 4, startTime: \"01:00\", utcOffset: \"+00:00\"}}}}
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}, nodeImageSelection: {{type: Latest}}}}}}
strategies:
  - name: staged
    stages:
      - {{name: first, maxAllowedFailures: 30, groups: [{{name: canary, maxConcurrency: 3, maxAllowedFailures: 30}}], afterGates: [{{type: Approval}}], afterStageWaitInSeconds: 3600}}
      - {{name: second, maxAllowedFailures: 30, groups: [{{name: prod, maxConcurrency: 5, maxAllowedFailures: 30}}]}}
  - name: at-once
    stages: [{{name: all, maxAllowedFailures: 30, groups: [{{name: canary, maxConcurrency: 20, maxAllowedFailures: 30}}, {{name: prod, maxConcurrency: 20, maxAllowedFailures: 30}}]}}]
  - {{name: one-by-one}}
world: {{failures: {{probability: 0.05, transient: 0.5}}, people: {{restart: none}}}}
script:
  {RELEASE}
"
    )
}

/// Reads a scenario that is right.
#[track_caller]
pub(super) fn read(text: &str) -> Scenario {
    let read = Scenario::read("test.yaml", text, &|_| Err("there are no files".to_owned()));
    read.unwrap_or_else(|errors| panic!("{}", errors[0])).0
}

/// Simulates a scenario with this many replications and threads.
pub(super) fn simulate<T>(
    text: &str,
    (replications, threads): (u32, usize),
    look: impl FnOnce(&Experiment<'_>, &Outcomes, &Summary) -> T,
) -> T {
    let scenario = read(text);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let stop = AtomicBool::new(false);
    let effort = Effort { replications, threads, stop: &stop, progress: &|_| {} };
    let outcomes = experiment.run(&effort);
    let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
    look(&experiment, &outcomes, &summary)
}
