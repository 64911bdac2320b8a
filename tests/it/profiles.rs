//! Auto-upgrade profiles and several runs at once, with events worked out by hand (A1–A8, T1).

mod own;
mod swarm;

use fleetsim::experiment::{Experiment, History};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{Node, State};
use fleetsim::sim::{Outcome, ProfileRun, Simulation};

use crate::experiments::read;

/// Two members in two regions; everything else is the test's.
fn scenario(more: &str) -> String {
    format!(
        "
name: beside
start: 2026-03-02T08:00:00Z
horizon: 10d
strategies:
  - {{name: both, stages: [{{name: s, groups: [{{name: g, maxConcurrency: 2}}]}}]}}
{more}
"
    )
}

/// The fleet of most tests.
const FLEET: &str = "
fleet:
  members:
    - {name: a, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
    - {name: b, region: eastus, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]}
";

const IMAGES: &str = "{name: images, channel: NodeImage, updateStrategyId: both}";
const STABLE: &str = "{name: stable, channel: Stable, updateStrategyId: both}";

/// The scenario of these profiles, releases and actions, with updates of 90 minutes.
fn beside(profiles: &[&str], releases: &[&str], actions: &[&str]) -> String {
    let list =
        |items: &[&str]| items.iter().fold(String::new(), |text, item| text + "\n    - " + item);
    scenario(&format!(
        "{FLEET}
autoUpgradeProfiles:{}
script:
  updates: {{\"*\": {{takes: 90m}}}}
  releases:{}
  actions: [{}]
",
        list(profiles),
        list(releases),
        actions.join(", ")
    ))
}

/// One replication with everything checked after every step: what happened to runs and members, as
/// `OFFSET RUN KIND MEMBER (REASON)`, and what it came to.
pub(crate) struct Played {
    pub(crate) events: Vec<String>,
    pub(crate) refused: Vec<String>,
    pub(crate) outcome: Outcome,
    pub(crate) kubernetes: Vec<String>,
    pub(crate) images: Vec<String>,
}

pub(crate) fn play(text: &str) -> Played {
    let scenario: Scenario = read(text);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let outcome = simulation.run(0, experiment.end(), &mut history);
    let names: Vec<&str> = simulation.beside().map(|(name, _)| name).collect();
    let events = history.all().filter_map(|(run, record)| {
        let who = match record.node {
            Node::Run => String::new(),
            Node::Member(id) => format!(" {}", scenario.fleet.members[id].name),
            _ => return None,
        };
        let run = run.map_or("update", |run| names[run]);
        let why = record.reason.map(|reason| format!(" ({})", reason.text(&[])));
        let at = record.time - scenario.start;
        Some(format!("{at} {run} {}{who}{}", record.kind(), why.unwrap_or_default()))
    });
    let refused = history.refused.iter();
    let scheduler = simulation.scheduler();
    let members = scenario.fleet.members.ids();
    Played {
        events: events.collect(),
        refused: refused
            .map(|(at, what, why)| format!("{} {what}: {why}", *at - scenario.start))
            .collect(),
        kubernetes: members
            .map(|id| scheduler.kubernetes_version(id).unwrap().to_string())
            .collect(),
        images: scenario
            .fleet
            .members
            .ids()
            .flat_map(|id| scheduler.images(id).map(|image| image.version.to_string()))
            .collect(),
        outcome,
    }
}

impl Played {
    /// The events of these kinds, such as `memberStarted` or `run`.
    pub(crate) fn of(&self, kinds: &[&str]) -> Vec<&str> {
        let is_one = |event: &&str| kinds.iter().any(|kind| event.contains(&format!(" {kind}")));
        self.events.iter().map(String::as_str).filter(is_one).collect()
    }

    fn runs(&self) -> &[ProfileRun] {
        &self.outcome.autonomous.as_ref().unwrap().runs
    }

    /// The runs that were made: name and state at the end.
    fn made(&self) -> Vec<(&str, State)> {
        self.runs().iter().map(|run| (run.name.as_str(), run.state)).collect()
    }
}

const STABLE_IS_1_33: &str = "{kubernetesVersion: 1.34.1, regions: {\"*\": 2026-02-01T00:00:00Z}}";

#[test]
fn a7_two_profiles_share_a_member_one_after_the_other() {
    let releases = [
        STABLE_IS_1_33,
        "{kubernetesVersion: 1.33.5, regions: {\"*\": 2026-03-02T09:00:00Z}}",
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-02T09:00:00Z}}",
    ];
    let played = play(&beside(&[IMAGES, STABLE], &releases, &[]));
    // Both runs are made at 09:00; the profile that stands first is served first and takes both
    // members. They are free at 10:30 and noticed at the other run's next poll.
    assert_eq!(
        played.events,
        [
            "1h images-202603.02.0 runStarted",
            "1h stable-1.33.5 runStarted",
            "1h images-202603.02.0 memberStarted a",
            "1h images-202603.02.0 memberStarted b",
            "1h stable-1.33.5 memberPending a (MemberBusy)",
            "1h stable-1.33.5 memberPending b (MemberBusy)",
            "1h stable-1.33.5 runPending",
            "2h30m images-202603.02.0 memberCompleted a",
            "2h30m images-202603.02.0 memberCompleted b",
            "2h30m images-202603.02.0 runCompleted",
            "3h stable-1.33.5 memberStarted a",
            "3h stable-1.33.5 memberStarted b",
            "3h stable-1.33.5 runRunning",
            "4h30m stable-1.33.5 memberCompleted a",
            "4h30m stable-1.33.5 memberCompleted b",
            "4h30m stable-1.33.5 runCompleted",
        ]
    );
    assert_eq!(played.kubernetes, ["1.33.5", "1.33.5"]);
    assert_eq!(played.images, ["202603.02.0", "202603.02.0"]);
}

#[test]
fn a4_a7_a_run_waits_for_its_regions_is_overtaken_and_ends_when_the_next_has_done_its_work() {
    let releases = [
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {westeurope: 2026-03-02T09:00:00Z, eastus: 2026-03-09T00:00:00Z}}",
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.05.0, regions: {\"*\": 2026-03-03T09:00:00Z}}",
    ];
    let played = play(&beside(&[IMAGES], &releases, &[]));
    assert_eq!(
        played.of(&["member", "runStarted", "runCompleted"]),
        [
            "1h images-202603.02.0 runStarted",
            "1h images-202603.02.0 memberStarted a",
            "1h images-202603.02.0 memberPending b (NodeImageVersionNotAvailable)",
            "2h30m images-202603.02.0 memberCompleted a",
            "1d1h images-202603.05.0 runStarted",
            "1d1h images-202603.05.0 memberStarted a",
            "1d1h images-202603.05.0 memberStarted b",
            "1d2h30m images-202603.05.0 memberCompleted a",
            "1d2h30m images-202603.05.0 memberCompleted b",
            "1d2h30m images-202603.05.0 runCompleted",
            // b has got past its target: seen at the older run's next poll.
            "1d3h images-202603.02.0 memberSkipped b (AlreadyAtTarget)",
            "1d3h images-202603.02.0 runCompleted",
        ]
    );
    let [first, second] = played.runs() else { panic!("two runs") };
    let text = |span: Option<fleetsim::time::Span>| span.map(|span| span.to_string());
    assert_eq!(text(first.overtaken).as_deref(), Some("1d1h"));
    assert_eq!((text(first.ended).as_deref(), second.overtaken), (Some("1d3h"), None));
    assert_eq!(text(second.makespan()).as_deref(), Some("1h30m"));
    assert_eq!((first.counts.updated, first.counts.skipped), (1, 1));
}

#[test]
fn a3_previews_withdrawn_minds_and_disabled_profiles_make_no_runs() {
    let releases = [
        "{kubernetesVersion: 1.33.5, regions: {\"*\": 2026-02-01T00:00:00Z}}",
        "{kubernetesVersion: 1.34.0, preview: true, regions: {\"*\": 2026-03-03T09:00:00Z}}",
        "{kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-04T09:00:00Z}}",
        "{kubernetesVersion: 1.33.6, regions: {\"*\": 2026-03-05T09:00:00Z}}",
    ];
    let rapid = "{name: rapid, channel: Rapid, updateStrategyId: both}";
    let off = "{name: off, channel: Rapid, updateStrategyId: both, disabled: true}";
    let played = play(&beside(&[rapid, off], &releases, &[]));
    assert_eq!(played.made(), [("rapid-1.34.1", State::Completed)]);
    assert_eq!(played.of(&["runStarted"]), ["2d1h rapid-1.34.1 runStarted"]);
}

#[test]
fn a5_members_too_far_behind_or_out_of_support_are_left_alone() {
    let text = scenario(
        "
fleet:
  members:
    - {name: far, region: westeurope, updateGroup: g, kubernetesVersion: 1.32.1, pools: [{name: p}]}
    - {name: near, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.1, pools: [{name: p}]}
    - {name: old, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.2, pools: [{name: p}]}
    - {name: lts, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.2, longTermSupport: true, pools: [{name: p}]}
autoUpgradeProfiles: [{name: rapid, channel: Rapid, updateStrategyId: both}]
script:
  updates: {\"*\": {takes: 1h}}
  releases:
    - {kubernetesVersion: 1.33.2, supportUntil: 2026-03-01T00:00:00Z, ltsUntil: 2027-03-01T00:00:00Z, regions: {\"*\": 2025-06-01T00:00:00Z}}
    - {kubernetesVersion: 1.34.1, supportUntil: 2027-03-01T00:00:00Z, regions: {\"*\": 2026-03-02T09:00:00Z}}
",
    )
    .replace("name: p}", "name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}");
    let played = play(&text);
    assert_eq!(
        played.of(&["member", "runC"]),
        [
            "1h rapid-1.34.1 memberSkipped far (KubernetesMinorVersionSkipped)",
            "1h rapid-1.34.1 memberStarted near",
            "1h rapid-1.34.1 memberSkipped old (LongTermSupportRequired)",
            "1h rapid-1.34.1 memberStarted lts",
            "2h rapid-1.34.1 memberCompleted near",
            "2h rapid-1.34.1 memberCompleted lts",
            "2h rapid-1.34.1 runCompleted",
        ]
    );
    assert_eq!(played.kubernetes, ["1.32.1", "1.34.1", "1.33.2", "1.34.1"]);
}

#[test]
fn a6_the_first_member_without_long_term_support_fails_the_run() {
    let text = |member: &str| {
        scenario(&format!(
            "
fleet:
  members:
    - {{name: a, region: westeurope, updateGroup: g, kubernetesVersion: 1.30.1, longTermSupport: true, pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]}}
    - {{name: b, region: westeurope, updateGroup: g, kubernetesVersion: 1.30.1{member}, pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]}}
autoUpgradeProfiles: [{{name: lts, channel: TargetKubernetesVersion, targetKubernetesVersion: \"1.30\", longTermSupport: true, updateStrategyId: both}}]
script:
  updates: {{\"*\": {{takes: 1h}}}}
  releases:
    - {{kubernetesVersion: 1.30.4, regions: {{\"*\": 2026-02-01T00:00:00Z}}, ltsUntil: 2027-01-01T00:00:00Z}}
    - {{kubernetesVersion: 1.33.1, regions: {{\"*\": 2026-02-01T00:00:00Z}}}}
    - {{kubernetesVersion: 1.30.5, regions: {{\"*\": 2026-03-02T09:00:00Z}}, ltsUntil: 2027-01-01T00:00:00Z}}
"
        ))
    };
    let played = play(&text(""));
    assert_eq!(
        played.of(&["member", "run"]),
        [
            "1h lts-1.30.5 runStarted",
            "1h lts-1.30.5 memberStarted a",
            "1h lts-1.30.5 memberFailed b (LongTermSupportRequired)",
            "1h lts-1.30.5 runStopping",
            "2h lts-1.30.5 memberCompleted a",
            "2h lts-1.30.5 runFailed",
        ]
    );
    let played = play(&text(", longTermSupport: true"));
    assert_eq!(played.made(), [("lts-1.30.5", State::Completed)]);
    let without = text("").replace("longTermSupport: true, updateStrategyId", "updateStrategyId");
    assert_eq!(play(&without).made(), [], "1.30 is older than N-2");
}

#[test]
fn a8_a_run_is_generated_on_demand_and_started_by_people() {
    let releases = [
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-01T00:00:00Z}}",
    ];
    let disabled = "{name: images, channel: NodeImage, updateStrategyId: both, disabled: true}";
    let actions = [
        "{at: 30m, run: images-202603.02.0, start: true}",
        "{at: 1h, generate: images}",
        "{at: 2h, run: images-202603.02.0, stop: true}",
        "{at: 3h, generate: images}",
        "{at: 4h, run: images-202603.02.0, start: true}",
        "{at: 5h, run: images-202603.02.0, stop: true}",
        "{at: 9h, run: images-202603.02.0, start: true}",
        "{at: 10h, generate: stable}",
    ];
    let played = play(&beside(&[disabled, STABLE], &releases, &actions));
    assert_eq!(
        played.events,
        [
            "4h images-202603.02.0 runStarted",
            "4h images-202603.02.0 memberStarted a",
            "4h images-202603.02.0 memberStarted b",
            "5h images-202603.02.0 runStopping",
            "5h30m images-202603.02.0 memberCompleted a",
            "5h30m images-202603.02.0 memberCompleted b",
            "5h30m images-202603.02.0 runStopped",
            "9h images-202603.02.0 runRunning",
            "9h images-202603.02.0 runCompleted",
        ]
    );
    assert_eq!(
        played.refused,
        [
            "30m start of images-202603.02.0: there is no update run of that name",
            "2h stop of images-202603.02.0: the update run has not been started",
            "10h generate stable: nothing that the profile follows has been released",
        ]
    );
    let [run] = played.runs() else { panic!("one run") };
    assert_eq!(
        (run.made.to_string(), run.started.unwrap().to_string()),
        ("1h".into(), "4h".into())
    );
}

#[test]
fn a7_the_scenarios_own_update_goes_on_beside_the_profiles() {
    let releases = [
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-01T00:00:00Z}}",
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.05.0, regions: {\"*\": 2026-03-02T08:30:00Z}}",
    ];
    let text = beside(&[IMAGES], &releases, &[])
        + "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}\n";
    let text = text.replace("maxConcurrency: 2", "maxConcurrency: 1");
    let played = play(&text);
    // One at a time each: `update` is at work on a, so the other run begins with b, which is free;
    // then each is Pending at the other's member, until its own next poll: both at 2h, where the
    // run that was made first comes first.
    assert_eq!(
        played.of(&["member", "runC"]),
        [
            "0s update memberStarted a",
            "30m images-202603.05.0 memberPending a (MemberBusy)",
            "30m images-202603.05.0 memberStarted b",
            "1h30m update memberCompleted a",
            "1h30m update memberPending b (MemberBusy)",
            "2h images-202603.05.0 memberCompleted b",
            "2h update memberSkipped b (AlreadyAtTarget)",
            "2h update runCompleted",
            "2h images-202603.05.0 memberStarted a",
            "3h30m images-202603.05.0 memberCompleted a",
            "3h30m images-202603.05.0 runCompleted",
        ]
    );
    assert_eq!(played.images, ["202603.05.0", "202603.05.0"]);
    assert_eq!(played.outcome.makespan.unwrap().to_string(), "2h");
    assert_eq!((played.outcome.updated, played.outcome.skipped), (1, 1));
}

#[test]
fn staleness_counts_from_the_arrival_in_the_region_to_the_update() {
    let releases = [
        "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {westeurope: 2026-03-02T09:00:00Z, eastus: 2026-03-04T08:00:00Z}}",
    ];
    let played = play(&beside(&[IMAGES], &releases, &[]));
    let behind = &played.outcome.autonomous.as_ref().unwrap().behind[0];
    // All, eastus, westeurope. a is behind from 1h to 2h30m; b from 48h to 49h30m.
    let hours: Vec<String> = behind.iter().map(|one| one.worst.to_string()).collect();
    assert_eq!(hours, ["1h30m", "1h30m", "1h30m"]);
    // The mean of a ramp from 0 to 90 minutes is 45, for 90 of 14,400 minutes.
    let mean = 45.0 * 60.0 * 90.0 / 14_400.0;
    assert!((behind[0].mean_seconds() - mean).abs() < 1e-9);
    assert!((behind[1].mean_seconds() - mean).abs() < 1e-9);
    assert!((behind[2].share() - 90.0 / 14_400.0).abs() < 1e-12);
    assert!(behind.iter().all(|one| one.never_caught_up == 0));
    // Nobody updates: both stay behind to the horizon.
    let off = IMAGES.replace("both}", "both, disabled: true}");
    let played = play(&beside(&[&off], &releases, &[]));
    let behind = &played.outcome.autonomous.as_ref().unwrap().behind[0];
    assert_eq!((behind[0].never_caught_up, behind[1].worst.to_string()), (2, "8d".to_owned()));
    assert_eq!(behind[2].worst.to_string(), "9d23h");
}

#[test]
fn profiles_alone_have_no_charts_of_an_update() {
    use fleetsim::report::results::Results;
    use fleetsim::report::summary::Summary;
    use fleetsim::stats::Confidence;

    let names = |more: &str| -> Vec<String> {
        let text = beside(&[IMAGES], &[IMAGE_AT_NINE], &[]) + more;
        let scenario = read(&text);
        let experiment = crate::experiments::experiment(&scenario);
        let outcomes = crate::experiments::run(&experiment, 2, 1);
        let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
        let results = Results {
            experiment: &experiment,
            outcomes: &outcomes,
            summary: &summary,
            target: None,
        };
        let files = results.files().unwrap();
        let is_timeline = |name: &str| name.starts_with("timeline-") && name.contains(".svg");
        let timeline = files.iter().find(|file| is_timeline(&file.name)).unwrap();
        let drawn = String::from_utf8_lossy(&timeline.bytes).contains("images-202603.02.0");
        assert_eq!(
            drawn,
            more.is_empty(),
            "where there is no update, the profiles' runs are drawn"
        );
        files.into_iter().map(|file| file.name).collect()
    };
    let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
    let update = "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}\n";
    let (alone, both) = (names(""), names(update));
    for name in ["progress.svg", "delays.png", "tradeoff.svg"] {
        assert!(!has(&alone, name) && has(&both, name), "{name}");
    }
    for name in ["timeline-profiles.svg", "profile-runs.csv", "staleness.csv"] {
        assert!(has(&alone, name), "{name} is not among {alone:?}");
    }
    for name in ["staleness.svg", "staleness.png", "staleness-progress.csv"] {
        assert!(has(&alone, name) && has(&both, name), "{name}");
    }
}

/// An image that arrives everywhere an hour after the start.
const IMAGE_AT_NINE: &str = "{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: \
                             {\"*\": 2026-03-02T09:00:00Z}}";
