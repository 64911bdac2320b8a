//! The reference workload: a rollout in five stages, as simple as a staged rollout can be, so that
//! any discrete-event engine can carry it out.
//!
//! The members lie in five stages of equal size and are updated in fleet order, a twentieth of the
//! fleet at a time. An update takes a lognormal time of mean 2,700 s and sigma 0.5, at least 1 s,
//! and fails with probability 0.002. A stage ends when all its members have ended, the next one
//! begins 3,600 s later, and more than 5 % of failures in a stage stop the rollout. That makes
//! 2 × members + 5 events.

use fleetsim::scenario::Scenario;

/// Stages of a rollout.
pub(crate) const STAGES: u32 = 5;
/// From the end of a stage to the beginning of the next one, in seconds.
pub(crate) const WAIT: u32 = 3_600;
/// The probability that an update fails.
pub(crate) const FAILS: f64 = 0.002;
/// The seed of all luck.
pub(crate) const SEED: u64 = 1;
/// The median of an update, in seconds: the mean is 2,700 s.
pub(crate) const MEDIAN: u32 = 2_383;
/// The standard deviation of an update's logarithm.
pub(crate) const SIGMA: f64 = 0.5;

/// How many members are updated at once.
pub(crate) fn at_once(members: u32) -> u32 {
    members / 20
}

fn text(members: u32) -> String {
    let (each, at_once) = (members / STAGES, at_once(members));
    let population = |stage: u32| {
        format!(
            "    - {{count: {each}, name: \"s{stage}-{{n:05}}\", region: westeurope, updateGroup: \
             s{stage}, pools: [{{name: p, nodeImageVersion: \
             AKSUbuntu-2204gen2containerd-202602.13.0}}]}}\n"
        )
    };
    let stage = |stage: u32| {
        let limits = format!("maxConcurrency: {at_once}, maxAllowedFailures: \"5%\"");
        let seconds = if stage < STAGES { WAIT } else { 0 };
        format!(
            "      - {{name: s{stage}, {limits}, groups: [{{name: s{stage}, {limits}}}], \
             afterStageWaitInSeconds: {seconds}}}\n"
        )
    };
    let populations: String = (1..=STAGES).map(population).collect();
    let stages: String = (1..=STAGES).map(stage).collect();
    format!(
        "name: rollout\nstart: 2026-03-02T08:00:00Z\nhorizon: 365d\nseed: {SEED}\n\
         serviceLimits: none\nfleet:\n  populations:\n{populations}update: {{managedClusterUpdate: \
         {{upgrade: {{type: NodeImageOnly}}, nodeImageSelection: {{type: Latest}}}}}}\n\
         strategies:\n  - name: staged\n    stages:\n{stages}world: {{durations: {{update: \
         {{lognormal: {{median: {MEDIAN}s, sigma: {SIGMA}}}}}}}, failures: {{probability: {FAILS}, \
         transient: 0}}, people: none}}\nscript: {{releases: [{{nodeImage: \
         AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{\"*\": 2026-03-01T00:00:00Z}}}}]}}\n"
    )
}

/// The rollout of a fleet of this size, a multiple of 100.
pub(crate) fn scenario(members: u32) -> Scenario {
    assert!(
        members > 0 && members.is_multiple_of(100),
        "stages of equal size, a twentieth at a time"
    );
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    match Scenario::read("rollout.yaml", &text(members), &no_files) {
        Ok((scenario, _)) => scenario,
        Err(errors) => panic!("{}", errors[0]),
    }
}
