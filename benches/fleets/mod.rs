//! The fleets that the benches update.

use fleetsim::experiment::Experiment;
use fleetsim::scenario::Scenario;

/// What a fleet is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Four groups, fifty members at a time, nothing in the way.
    Plain,
    /// Half of the members have one of seven windows, 2 % of the updates fail, an approval stands
    /// between the two stages.
    Eventful,
    /// The same with everything that can go wrong: half of the releases are defective, clusters are
    /// stopped, and people watch and skip.
    Trouble,
}

fn text(kind: Kind, members: u32) -> String {
    let eventful = kind != Kind::Plain;
    let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let windows = days.map(|day| {
        format!(
            "maintenance: {{aksManagedNodeOSUpgradeSchedule: {{schedule: {{weekly: \
             {{intervalWeeks: 1, dayOfWeek: {day}}}}}, durationHours: 8, startTime: \"22:00\", \
             utcOffset: \"+00:00\"}}}}, "
        )
    });
    let half = if eventful { members / 2 } else { 0 };
    let parts = u32::try_from(days.len()).expect("a week");
    let population = |name: &str, count: u32, window: &str| {
        format!(
            "    - {{count: {count}, name: \"{name}-{{n:05}}\", region: westeurope, {window}\
             updateGroup: {{choose: {{a: 0.1, b: 0.3, c: 0.3, d: 0.3}}}}, pools: [{{name: p, \
             nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]}}\n"
        )
    };
    let mut populations = population("free", members - half / parts * parts, "");
    for (day, window) in days.iter().zip(&windows) {
        populations += &population(day, half / parts, window);
    }
    let (gates, failures) = if eventful {
        (", afterGates: [{type: Approval}]", "{probability: 0.02}")
    } else {
        ("", "none")
    };
    let trouble = if kind == Kind::Trouble {
        ", defects: {probability: 0.5, halt: none}, churn: {stopped: {every: {exponential: {mean: \
         240h}}, lasts: 4h}}, people: {approvers: {tolerance: \"100%\"}, watchers: {limit: \
         \"100%\"}, skipPending: {after: 30d}}"
    } else {
        ""
    };
    let group =
        |name: &str| format!("{{name: {name}, maxConcurrency: 50, maxAllowedFailures: \"100%\"}}");
    format!(
        "name: bench\nstart: 2026-03-02T08:00:00Z\nhorizon: 3650d\nserviceLimits: none\nfleet:\n  \
         populations:\n{populations}update: {{managedClusterUpdate: {{upgrade: {{type: \
         NodeImageOnly}}, nodeImageSelection: {{type: Latest}}}}}}\nstrategies:\n  - name: waves\n    \
         stages:\n      - {{name: first, maxAllowedFailures: \"100%\", groups: [{}]{gates}}}\n      \
         - {{name: second, maxConcurrency: 50, maxAllowedFailures: \"100%\", groups: [{}, {}, \
         {}]}}\nworld: {{durations: {{update: {{lognormal: {{median: 10m, sigma: 0.5}}}}}}, failures: {failures}{trouble}}}\nscript: {{releases: [{{nodeImage: \
         AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{\"*\": 2026-03-01T00:00:00Z}}}}]}}\n",
        group("a"),
        group("b"),
        group("c"),
        group("d"),
    )
}

/// The scenario of a fleet.
pub(crate) fn scenario(kind: Kind, members: u32) -> Scenario {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    match Scenario::read("bench.yaml", &text(kind, members), &no_files) {
        Ok((scenario, _)) => scenario,
        Err(errors) => panic!("{}", errors[0]),
    }
}

/// Its only strategy, ready to be simulated.
pub(crate) fn experiment(scenario: &Scenario) -> Experiment<'_> {
    Experiment::new(scenario, &scenario.strategies).expect("the strategy fits the fleet")
}
