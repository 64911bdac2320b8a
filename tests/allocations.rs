//! No event allocates (X9): a warm replication makes one allocation, its outcome's list of times,
//! however many members and events it has.
//!
//! A binary of its own, because the counting allocator is the whole program's.

use allocation_counter::measure;
use fleetsim::experiment::Experiment;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{NoLog, Plan};
use fleetsim::sim::{Moves, Simulation};
use fleetsim::time::Timestamp;

/// Replications that are warmed up and then measured.
const REPLICATIONS: u32 = 6;

/// Windows of three kinds and none, polls, failures beyond the budgets, restarts, approvals, a
/// scheduled start, a wait; `selection` and what the releases are decide the rest.
fn text(members: u32, selection: &str, releases: &str) -> String {
    let a_fifth = members / 5;
    let window = |schedule: &str, time: &str| {
        format!(
            "maintenance: {{aksManagedNodeOSUpgradeSchedule: {{schedule: {{{schedule}}}, \
             durationHours: 8, startTime: \"{time}\", utcOffset: \"+02:00\"}}}}"
        )
    };
    let windows = [
        window("daily: {intervalDays: 1}", "22:00"),
        window("weekly: {intervalWeeks: 1, dayOfWeek: Saturday}", "01:00"),
        window("weekly: {intervalWeeks: 2, dayOfWeek: Tuesday}", "03:30"),
        "labels: {}".to_owned(),
        "labels: {tier: web}".to_owned(),
    ];
    let populations: Vec<String> = (0..)
        .zip(&windows)
        .map(|(n, window)| {
            format!(
                "    - {{count: {a_fifth}, name: \"p{n}-{{n:04}}\", region: {{choose: \
                 {{westeurope: 0.5, eastus: 0.5}}}}, updateGroup: {{choose: {{a: 0.2, b: 0.4, \
                 c: 0.4}}}}, {window}}}\n"
            )
        })
        .collect();
    format!(
        "name: allocations\nstart: 2026-03-02T08:00:00Z\nhorizon: 120d\nseed: 8\nserviceLimits: \
         none\nfleet:\n  populations:\n{}update: {{managedClusterUpdate: {{upgrade: {{type: \
         NodeImageOnly}}, nodeImageSelection: {{type: {selection}}}}}}}\nstrategies:\n  \
         - name: waves\n    stages:\n      - name: first\n        beforeGates: [{{displayName: x, \
         type: Approval}}, {{displayName: y, type: Approval}}]\n        groups: [{{name: a, \
         maxConcurrency: 20, maxAllowedFailures: 4}}]\n        afterStageWaitInSeconds: 7200\n      \
         - name: second\n        maxConcurrency: 50\n        maxAllowedFailures: 12\n        \
         groups:\n          - {{name: b, maxConcurrency: 30, maxAllowedFailures: 8, afterGates: \
         [{{type: Approval}}]}}\n          - {{name: c, maxConcurrency: 40, maxAllowedFailures: 8, \
         beforeGates: [{{type: ScheduledStart, scheduledStartConfiguration: {{startDay: Monday, \
         startTime: \"06:00\", utcOffset: \"+00:00\"}}}}]}}\n  - {{name: one-by-one}}\nworld: \
         {{durations: {{update: {{lognormal: {{median: 10m, sigma: 0.8}}}}}}, failures: \
         {{probability: 0.03, transient: 0.9}}, people: {{restart: {{after: 1h, atMost: 1000}}}}}}\n\
         {releases}",
        populations.concat()
    )
}

const SCRIPTED: &str = "script: {releases: [{nodeImage: \
                        AKSUbuntu-2204gen2containerd-202603.02.0, regions: {westeurope: \
                        2026-03-01T00:00:00Z, eastus: 2026-03-04T00:00:00Z}}]}\n";

fn read(text: &str) -> Scenario {
    let text = if text.contains("script:") {
        // Under scripted releases an image must be named.
        let pool = "pools: [{name: p, nodeImageVersion: \
                    AKSUbuntu-2204gen2containerd-202602.13.0}], region:";
        text.replace("region: {choose", &format!("{pool} {{choose"))
    } else {
        text.to_owned()
    };
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    let read = Scenario::read("test.yaml", &text, &no_files);
    read.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])).0
}

/// Allocations of one replication in a simulation that has run them all before: alone, and of the
/// moves and delays of one that is watched as an experiment does.
fn allocations(experiment: &Experiment<'_>, plan: &Plan<'_>, end: Timestamp) -> Vec<(u64, u64)> {
    let mut simulation = Simulation::new(&experiment.world, plan);
    let mut moves = Moves::default();
    let mut all = Vec::new();
    for warm in [false, true] {
        for replication in 0..REPLICATIONS {
            let alone = measure(|| drop(simulation.run(replication, end, &mut NoLog)));
            moves.clear();
            let watched = measure(|| {
                drop(simulation.run(replication, end, &mut moves));
                let _ = simulation.delays(&moves, end);
            });
            assert!(moves.members().len() > plan.size as usize, "everybody is tried");
            if warm {
                all.push((alone.count_total, watched.count_total));
            }
        }
    }
    all
}

#[test]
fn x9_an_event_allocates_nothing() {
    for (what, selection, releases) in [
        ("scripted releases, latest", "Latest", SCRIPTED),
        ("the train, latest", "Latest", ""),
        ("the train, consistent", "Consistent", ""),
    ] {
        for members in [100, 1_000, 3_000] {
            let scenario = read(&text(members, selection, releases));
            let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
            for plan in &experiment.plans {
                let found = allocations(&experiment, plan, experiment.end());
                let wanted = vec![(1, 1); REPLICATIONS as usize];
                let strategy = &plan.strategy;
                assert_eq!(found, wanted, "{what}, {members} members, {strategy}");
            }
        }
    }
}

/// The bytes that a simulation keeps of a plain fleet of this size, after a replication.
fn kept(members: u32) -> i64 {
    let text = format!(
        "name: size\nstart: 2026-03-02T08:00:00Z\nhorizon: 3650d\nserviceLimits: none\nfleet:\n  \
         populations:\n    - {{count: {members}, name: \"m-{{n}}\", updateGroup: g, region: \
         {{choose: {{westeurope: 1.0}}}}}}\nupdate: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\n\
         strategies:\n  - {{name: all, stages: [{{name: all, maxAllowedFailures: \"100%\", groups: \
         [{{name: g, maxConcurrency: 50, maxAllowedFailures: \"100%\"}}]}}]}}\nworld: {{durations: {{update: {{lognormal: {{median: \
         10m, sigma: 0.5}}}}}}, failures: {{probability: 0.01}}}}\n{SCRIPTED}"
    );
    let scenario = read(&text);
    let experiment = Experiment::new(&scenario, &scenario.strategies);
    let experiment = experiment.expect("the strategy fits the fleet");
    let mut kept = None;
    let made = measure(|| {
        let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
        let outcome = simulation.run(0, experiment.end(), &mut NoLog);
        assert!(outcome.updated > members * 9 / 10, "nearly all are updated");
        drop(outcome);
        kept = Some(simulation);
    });
    made.bytes_current
}

#[test]
fn a_member_takes_32_bytes_of_the_columns_that_the_loop_touches() {
    // Sizes at which lists that double are full.
    let (few, many) = (1 << 14, 1 << 15);
    let bytes = i32::try_from(kept(many) - kept(few)).unwrap();
    let of_a_member = f64::from(bytes) / f64::from(many - few);
    // Four bytes are the outcome's: when the member was done.
    let of_columns = of_a_member - 4.0;
    assert!((20.0..=32.0).contains(&of_columns), "{of_columns} bytes a member");
}
