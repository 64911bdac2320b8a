//! What each model of the world costs: the same rollout with one model turned on at a time.
//!
//! The base is a fleet in three regions, in four groups and two stages, fifty members at a time,
//! with nothing in its way: one scripted release, one draw for each update, no failures, no people.

use std::fmt::Write as _;

use fleetsim::scenario::Scenario;

/// One thing more than another row has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model {
    /// What it is called in the record.
    pub(crate) name: &'static str,
    /// The row that it is to be compared with.
    pub(crate) beside: &'static str,
    /// What it turns on, in the words of the documentation's table.
    pub(crate) what: &'static str,
    parts: Parts,
}

/// The parts of a scenario that models change.
#[derive(Debug, Clone, Copy)]
struct Parts {
    /// Keys of each member.
    member: &'static str,
    /// The pools of each member; the image is added.
    pools: &'static [&'static str],
    /// Keys of `world`, besides releases.
    world: &'static [&'static str],
    /// Whether the one release is scripted; else the trains bring them.
    scripted: bool,
    /// The type of the update, and what belongs to it; `None`: there is none.
    update: Option<&'static str>,
    /// Whether an approval stands between the stages.
    gate: bool,
    /// Keys of the scenario.
    scenario: &'static str,
}

const IMAGES: &str = "{type: NodeImageOnly}, nodeImageSelection: {type: Latest}";
const BASE: Parts = Parts {
    member: "",
    pools: &["{name: p"],
    world: &[],
    scripted: true,
    update: Some(IMAGES),
    gate: false,
    scenario: "",
};
const TRAIN: Parts = Parts { scripted: false, ..BASE };
const NODES: &str = "durations: {model: nodes}";
const NO_BUDGETS: &str = "disruptionBudgets: none";
const NO_QUOTA: &str = "quota: none";
const WIDE: [&str; 10] = [
    "{name: p0, count: 20",
    "{name: p1, count: 20",
    "{name: p2, count: 20",
    "{name: p3, count: 20",
    "{name: p4, count: 20",
    "{name: p5, count: 20",
    "{name: p6, count: 20",
    "{name: p7, count: 20",
    "{name: p8, count: 20",
    "{name: p9, count: 20",
];

const fn model(
    name: &'static str,
    beside: &'static str,
    what: &'static str,
    parts: Parts,
) -> Model {
    Model { name, beside, what, parts }
}

const fn world(world: &'static [&'static str]) -> Parts {
    Parts { world, ..BASE }
}

/// The base, then the models, each beside a row that comes before it.
pub(crate) const MODELS: [Model; 23] = [
    model("base", "base", "one scripted release, one draw an update", BASE),
    model(
        "windows",
        "base",
        "a weekly window of 8 h for every member",
        Parts {
            member: "maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: \
                 {intervalWeeks: 1, dayOfWeek: {choose: {Sunday: 1, Tuesday: 1, Friday: 1}}}}, \
                 durationHours: 8, startTime: \"22:00\", utcOffset: \"+00:00\"}}, ",
            ..BASE
        },
    ),
    model(
        "failures",
        "base",
        "2 % of the updates fail, people restart the run",
        world(&["failures: {probability: 0.02}", "people: {approvers: none}"]),
    ),
    model(
        "approvals",
        "base",
        "an approval between the stages, in working hours",
        Parts { gate: true, world: &["people: {restart: none}"], ..BASE },
    ),
    model(
        "defects",
        "base",
        "every release is defective, degraded members are watched",
        world(&[
            "defects: {probability: 1}",
            "people: {approvers: none, watchers: {limit: \"100%\"}}",
        ]),
    ),
    model(
        "churn",
        "base",
        "members stop every ten days",
        world(&["churn: {stopped: {every: {exponential: {mean: 240h}}, lasts: 4h}}"]),
    ),
    model(
        "outages",
        "base",
        "regions are out for 4 h every ten days",
        world(&["outages: {every: {exponential: {mean: 240h}}, lasts: 4h, effect: stretch}"]),
    ),
    model(
        "skipping",
        "base",
        "people skip members that wait too long",
        world(&["people: {approvers: none, skipPending: {after: 30d}}"]),
    ),
    model(
        "throttling",
        "base",
        "20 updates at full speed, by a label",
        Parts {
            member: "labels: {team: {choose: {x: 1, y: 1}}}, ",
            world: &["throttling: {atMost: 20, byLabel: team}"],
            ..BASE
        },
    ),
    model(
        "factors",
        "base",
        "clusters with a label take 1.5 times as long",
        Parts {
            member: "labels: {team: {choose: {x: 1, y: 1}}}, ",
            world: &["durations: {factors: [{where: {byLabel: team=x}, times: 1.5}]}"],
            ..BASE
        },
    ),
    model(
        "nodes",
        "base",
        "an update is its parts: one pool of 3 nodes, one at a time",
        world(&[NODES, NO_BUDGETS, NO_QUOTA]),
    ),
    model(
        "nodes-50",
        "nodes",
        "one pool of 50 nodes, one at a time",
        Parts { pools: &["{name: p, count: 50"], ..world(&[NODES, NO_BUDGETS, NO_QUOTA]) },
    ),
    model(
        "nodes-200",
        "nodes",
        "ten pools of 20 nodes, one at a time",
        Parts { pools: &WIDE, ..world(&[NODES, NO_BUDGETS, NO_QUOTA]) },
    ),
    model(
        "pools",
        "nodes",
        "members get another pool, after ten days in the mean",
        world(&[
            NODES,
            NO_BUDGETS,
            NO_QUOTA,
            "churn: {addPool: {after: {exponential: {mean: 240h}}, pool: {name: more, mode: User, \
             nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}}",
        ]),
    ),
    model(
        "budgets",
        "nodes",
        "3 % of the members have a budget that blocks",
        world(&[NODES, NO_QUOTA]),
    ),
    model("quota", "nodes", "shortages of capacity 1 % of the time", world(&[NODES, NO_BUDGETS])),
    model("train", "base", "image versions by the train, half a year of them", TRAIN),
    model(
        "kubernetes",
        "train",
        "a Kubernetes version by the AKS releases",
        Parts {
            member: "kubernetesVersion: 1.33.5, ",
            update: Some("{type: Full, kubernetesVersion: 1.34.1}"),
            ..TRAIN
        },
    ),
    model(
        "campaign",
        "base",
        "a change that reimages every member within a week",
        Parts {
            scenario: "configurationChanges: [{operation: customCaTrustCertificates, at: {uniform: \
                   [0s, 7d]}}]\n",
            ..BASE
        },
    ),
    model(
        "own-upgrades",
        "train",
        "every member's own channel brings images",
        Parts { member: "autoUpgradeProfile: {nodeOSUpgradeChannel: NodeImage}, ", ..TRAIN },
    ),
    model(
        "hub",
        "train",
        "a profile that never makes a run, beside the update",
        Parts {
            scenario: "autoUpgradeProfiles: [{name: images, channel: NodeImage, disabled: true}]\n",
            ..TRAIN
        },
    ),
    model(
        "profile",
        "train",
        "a profile makes a run for every image",
        Parts {
            update: None,
            scenario: "autoUpgradeProfiles: [{name: images, channel: NodeImage, updateStrategyId: \
                   waves}]\n",
            ..TRAIN
        },
    ),
    model(
        "profiles",
        "profile",
        "a second one for every Kubernetes patch",
        Parts {
            update: None,
            member: "kubernetesVersion: 1.33.5, ",
            scenario: "autoUpgradeProfiles:\n  - {name: images, channel: NodeImage, \
                   updateStrategyId: waves}\n  - {name: stable, channel: Stable, \
                   updateStrategyId: waves}\n",
            ..TRAIN
        },
    ),
];

fn text(parts: &Parts, members: u32) -> String {
    let image = if parts.scripted {
        ", nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}"
    } else {
        "}"
    };
    let pools: Vec<String> = parts.pools.iter().map(|pool| format!("{pool}{image}")).collect();
    let mut text = format!(
        "name: bench\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\nserviceLimits: none\nfleet:\n  \
         populations:\n    - {{count: {members}, name: \"m{{n:05}}\", region: {{choose: \
         {{westeurope: 1, eastus: 1, southeastasia: 1}}}}, {}updateGroup: {{choose: {{a: 0.1, b: \
         0.3, c: 0.3, d: 0.3}}}}, pools: [{}]}}\n",
        parts.member,
        pools.join(", ")
    );
    let mut add = |part: &str| text.push_str(part);
    if let Some(update) = parts.update {
        add(&format!("update: {{managedClusterUpdate: {{upgrade: {update}}}}}\n"));
    }
    let group =
        |name: &str| format!("{{name: {name}, maxConcurrency: 50, maxAllowedFailures: \"100%\"}}");
    let gate = if parts.gate { ", afterGates: [{type: Approval}]" } else { "" };
    add(&format!(
        "strategies:\n  - name: waves\n    stages:\n      - {{name: first, maxAllowedFailures: \
         \"100%\", groups: [{}]{gate}}}\n      - {{name: second, maxConcurrency: 50, \
         maxAllowedFailures: \"100%\", groups: [{}, {}, {}]}}\n",
        group("a"),
        group("b"),
        group("c"),
        group("d"),
    ));
    add("world:\n");
    for default in ["durations: {update: {lognormal: {median: 10m, sigma: 0.5}}}", "failures: none"]
        .iter()
        .chain(&["people: none"])
    {
        let key = default.split(':').next().expect("a key");
        if !parts.world.iter().any(|part| part.starts_with(key)) {
            add(&format!("  {default}\n"));
        }
    }
    for part in parts.world {
        add(&format!("  {part}\n"));
    }
    if parts.scripted {
        add("script: {releases: [{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: \
             {\"*\": 2026-03-01T00:00:00Z}}]}\n");
    }
    let _ = write!(text, "{}", parts.scenario);
    text
}

/// The scenario with this model, if there is one of this name.
pub(crate) fn scenario(name: &str, members: u32) -> Option<Scenario> {
    let model = MODELS.iter().find(|model| model.name == name)?;
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    match Scenario::read("bench.yaml", &text(&model.parts, members), &no_files) {
        Ok((scenario, _)) => Some(scenario),
        Err(errors) => panic!("{name}: {}", errors[0]),
    }
}
