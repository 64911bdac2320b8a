//! Scenarios that are right: what is read from them, and what holds where nothing is said.

use fleetsim::calendar::{TimeOfDay, UtcOffset};
use fleetsim::error::{Diagnostic, Severity};
use fleetsim::fleet::{Amount, OsType, PoolImage, PoolMode, PowerState};
use fleetsim::ids::{Id, MemberId};
use fleetsim::quantiles::Distribution;
use fleetsim::scenario::{Bound, Scenario, Statistic};
use fleetsim::scheduler::{
    GateKind, GroupOrder, NodeImageSelection, Restart, ServiceLimits, StoppedMembers, Upgrade,
};
use fleetsim::sim::model::{DurationModel, FailureModel, ReleaseModel};
use fleetsim::sim::script::{ScriptedVerb, SkipTarget};
use fleetsim::time::Span;

const HEAD: &str = "name: t\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\n";
const FLEET: &str = "fleet: {members: [{name: a, region: westeurope, updateGroup: g}]}\n";
const UPDATE: &str = "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}\n";
const IMAGE: &str = "AKSUbuntu-2204gen2containerd-202602.13.0";

fn read_with(
    text: &str,
    files: &[(&str, &str)],
) -> Result<(Scenario, Vec<Diagnostic>), Vec<Diagnostic>> {
    Scenario::read("t.yaml", text, &|name| {
        let file = files.iter().find(|(other, _)| *other == name);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    })
}

/// A scenario that is fine, without warnings.
fn good(text: &str) -> Scenario {
    match read_with(text, &[]) {
        Ok((scenario, warnings)) => {
            assert_eq!(warnings, [], "{text}");
            scenario
        }
        Err(errors) => panic!("{}", all(&errors)),
    }
}

fn all(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The codes of all errors.
fn codes(text: &str) -> Vec<&'static str> {
    let errors = read_with(text, &[]).map(|_| ()).expect_err(text);
    errors.iter().map(|error| error.code).collect()
}

fn minutes(median: f64, sigma: f64) -> Distribution {
    Distribution::lognormal(median * 60_000.0, sigma).unwrap()
}

#[test]
fn absent_keys_hold_what_the_page_says() {
    let scenario = good(&format!("{HEAD}{FLEET}{UPDATE}"));
    assert_eq!((scenario.seed, scenario.replications), (1, 1_000));
    assert_eq!(scenario.service_limits, ServiceLimits::Azure);
    assert_eq!(scenario.horizon, Span::from_days(60));
    assert_eq!(scenario.strategies.len(), 1);
    assert_eq!(scenario.strategies[0].name, "one-by-one");
    assert!(scenario.strategies[0].stages.is_empty());
    assert!(scenario.checks.is_empty());
    let update = &scenario.update;
    assert_eq!(update.upgrade, Upgrade::NodeImageOnly);
    assert_eq!(update.node_images, NodeImageSelection::Latest);
    assert_eq!(update.stopped_members, StoppedMembers::Fail);
    assert_eq!(update.restart, Restart::KeepFailed);
    assert_eq!(update.poll_interval, Span::HOUR);
    assert_eq!(update.group_order, GroupOrder::RoundRobin);
    let member = &scenario.fleet.members[MemberId::new(0)];
    assert_eq!(member.power_state, PowerState::Running);
    assert!(member.pools.is_empty() && !member.long_term_support);
    assert_eq!((member.kubernetes_window, member.node_os_window), (None, None));
}

#[test]
fn absent_keys_of_a_pool_hold_what_the_page_says() {
    let fleet = format!(
        "fleet:\n  members:\n    - name: a\n      region: westeurope\n      pools:\n        - \
         {{nodeImageVersion: {IMAGE}}}\n        - {{osType: Windows, mode: User}}\n        - \
         {{nodeImageVersion: {{behind: 3}}, count: \"7\"}}\n"
    );
    let scenario = good(&format!("{HEAD}{fleet}{UPDATE}"));
    let [linux, windows, behind] = &scenario.fleet.members[MemberId::new(0)].pools[..] else {
        panic!("three pools");
    };
    assert_eq!((linux.mode, linux.os_type, linux.count), (PoolMode::System, OsType::Linux, 3));
    assert_eq!((linux.max_surge, linux.max_unavailable), (Amount::Count(1), Amount::Count(0)));
    assert_eq!((linux.max_pods, linux.drain_timeout), (30, Span::from_mins(30)));
    assert!(matches!(linux.image, PoolImage::Exactly(_)));
    let family = |pool: &fleetsim::fleet::Pool| &*scenario.fleet.families[pool.image.family()];
    assert_eq!(family(linux), "AKSUbuntu-2204gen2containerd");
    assert_eq!(family(windows), "AKSWindows-2022-containerd");
    assert!(matches!(windows.image, PoolImage::Behind { versions: 1, .. }), "world.md: 1");
    assert_eq!((windows.os_type, windows.mode), (OsType::Windows, PoolMode::User));
    assert!(matches!(behind.image, PoolImage::Behind { versions: 3, .. }));
    assert_eq!(behind.count, 7, "a quoted integer is accepted wherever an integer is");
}

#[test]
fn the_world_has_its_defaults() {
    let world = good(&format!("{HEAD}{FLEET}{UPDATE}")).world;
    assert_eq!(world.releases, ReleaseModel::Train);
    assert_eq!(world.durations, DurationModel::Cluster(minutes(40.0, 0.5)));
    let failures = world.failures.unwrap();
    let FailureModel { probability, minor_probability, transient, rules } = failures;
    assert_eq!((probability, minor_probability, transient), (0.01, 0.03, 0.6));
    assert_eq!(rules, []);
    let approvers = world.approvers.unwrap();
    assert_eq!(approvers.delay, minutes(120.0, 1.0));
    assert_eq!(approvers.hours.days.len(), 5);
    assert_eq!((approvers.hours.from, approvers.hours.to), (TimeOfDay(540), TimeOfDay(1020)));
    let restarter = world.restarter.unwrap();
    assert_eq!((restarter.at_most, restarter.restart), (20, Restart::RetryFailed));
}

#[test]
fn parts_of_the_world_are_named_or_turned_off() {
    let world = |text: &str| good(&format!("{HEAD}{FLEET}{UPDATE}world: {text}\n")).world;
    assert_eq!(world("{failures: none}").failures, None);
    let failures = world("{failures: {probability: 0.2}}").failures.unwrap();
    let odds = (failures.probability, failures.minor_probability, failures.transient);
    assert_eq!(odds, (0.2, 0.2, 0.6), "one probability is everybody's");
    let failures = world("{failures: {transient: 1}}").failures.unwrap();
    assert_eq!((failures.probability, failures.minor_probability), (0.01, 0.03));
    assert_eq!(world("{releases: none, defects: none}").releases, ReleaseModel::Off);
    assert_eq!(
        world("{durations: {update: 40m}}").durations,
        DurationModel::Cluster(Distribution::constant(2_400_000.0).unwrap())
    );
    let nobody = world("{people: none}");
    assert_eq!((nobody.approvers, nobody.restarter), (None, None));
    let some = world(
        "{people: {approvers: {hours: \"00:00-24:00\", utcOffset: \"-05:30\"}, restart: none}}",
    );
    let approvers = some.approvers.unwrap();
    assert_eq!((approvers.hours.from, approvers.hours.to), (TimeOfDay(0), TimeOfDay(1440)));
    assert_eq!(approvers.hours.offset, UtcOffset(-330));
    assert_eq!(some.restarter, None);
}

#[test]
fn under_a_script_people_are_off_unless_they_are_named() {
    let world = |rest: &str| good(&format!("{HEAD}{FLEET}{UPDATE}{rest}")).world;
    for script in ["{updates: {\"*\": {takes: 1h}}}", "{actions: []}"] {
        let scripted = world(&format!("script: {script}\n"));
        assert_eq!((scripted.approvers, scripted.restarter), (None, None), "{script}");
        let named = world(&format!("script: {script}\nworld: {{people: {{restart: none}}}}\n"));
        assert!(named.approvers.is_some() && named.restarter.is_none(), "{script}");
    }
    let releases =
        "script: {releases: [{kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-01}}]}\n";
    let scripted = world(releases);
    assert!(scripted.approvers.is_some(), "scripted releases leave people alone");
    assert!(scripted.failures.is_some(), "scripted releases leave failures to the world");
    assert_eq!(scripted.releases, ReleaseModel::Off);
    let updates = world("script: {updates: {\"*\": {takes: 1h}}}\n");
    assert_eq!(updates.releases, ReleaseModel::Train, "scripted updates leave releases alone");
    assert_eq!(updates.failures, None);
}

#[test]
fn every_kind_of_distribution_is_read() {
    for kind in [
        "40m",
        "{uniform: [10m, 1h]}",
        "{triangular: [10m, 20m, 1h]}",
        "{exponential: {mean: 40m}}",
        "{lognormal: {median: 40m, sigma: 0.5}}",
        "{lognormal: {median: 40m, p95: 2h}}",
        "{gamma: {mean: 40m, cv: 0.5}}",
        "{gamma: {shape: 2, scale: 20m}}",
        "{weibull: {scale: 40m, shape: 1.5}}",
        "{normal: {mean: 40m, sd: 10m, min: 10m, max: 2h}}",
        "{normal: {mean: 40m, sd: 10m}}",
        "{empirical: [10m, 20m, 90m]}",
        "{empirical: times.csv}",
        "{mixture: [{weight: 3, of: 40m}, {weight: 1, of: {uniform: [1h, 2h]}}]}",
    ] {
        let text = format!("{HEAD}{FLEET}{UPDATE}world: {{durations: {{update: {kind}}}}}\n");
        let files = [("times.csv", "duration,note\n10m,a\n20m,b\n\n90m,c\n")];
        let (scenario, _) = read_with(&text, &files).unwrap_or_else(|e| panic!("{}", all(&e)));
        let DurationModel::Cluster(update) = scenario.world.durations else {
            panic!("the default draws one duration a member");
        };
        let (low, high) = update.range();
        assert!(low >= 0.0 && high >= 2_400_000.0, "{kind}: {low} to {high}");
    }
}

#[test]
fn a_population_is_drawn_from_the_seed_alone() {
    let fleet = |extra: &str| {
        format!(
            "fleet:\n  populations:\n    - count: 300\n      name: \"prod-{{n:04}}\"\n      \
             region: {{choose: {{westeurope: 5, eastus: 3, westus: 0}}}}\n      updateGroup: \
             {{choose: [{{weight: 1, value: ga}}, {{weight: 1, value: gb}}]}}\n{extra}      pools: \
             [{{name: np, count: {{uniform: [3, 5]}}, maxPods: {{normal: {{mean: 60, sd: 9}}}}}}]\n"
        )
    };
    let read =
        |seed: u64, extra: &str| good(&format!("{HEAD}seed: {seed}\n{}{UPDATE}", fleet(extra)));
    let one = read(7, "");
    let members = one.fleet.members.as_slice();
    assert_eq!(members.len(), 300);
    assert_eq!((&*members[0].name, &*members[299].name), ("prod-0001", "prod-0300"));
    let count = |wanted: &str| {
        members.iter().filter(|member| one.fleet.regions[member.region] == wanted).count()
    };
    assert!((160..=215).contains(&count("westeurope")), "5 of 8 are 187: {}", count("westeurope"));
    assert_eq!(count("westeurope") + count("eastus"), 300, "a weight of 0 is never drawn");
    let sizes = |size: u32| members.iter().filter(|member| member.pools[0].count == size).count();
    assert!((3..=5).all(|size| (70..=130).contains(&sizes(size))), "each end has its full share");
    assert_eq!(sizes(3) + sizes(4) + sizes(5), 300);
    let pods: u32 = members.iter().map(|member| member.pools[0].max_pods).sum();
    assert!((58 * 300..62 * 300).contains(&pods), "{pods}");

    let again = read(7, "");
    assert_eq!(format!("{:?}", again.fleet), format!("{:?}", one.fleet));
    let other = read(8, "");
    assert_ne!(format!("{:?}", other.fleet), format!("{:?}", one.fleet));
    let more = read(7, "      powerState: {choose: {Running: 1, Stopped: 1}}\n");
    for (new, old) in more.fleet.members.iter().zip(members) {
        assert_eq!(
            (new.region, &new.pools),
            (old.region, &old.pools),
            "a key more changes no other"
        );
    }
}

#[test]
fn r_h6_the_fleet_is_in_the_order_members_populations_files() {
    let text = format!(
        "{HEAD}fleet:\n  files: [members.json, clusters.json]\n  populations: [{{count: 2, name: \
         \"p{{n}}\", region: eastus}}]\n  members: [{{name: m, region: westus}}]\n{UPDATE}"
    );
    let files = [
        (
            "members.json",
            r#"{"value": [{"name": "f", "properties": {"clusterResourceId": "/S/X"}}]}"#,
        ),
        ("clusters.json", r#"[{"id": "/s/x", "location": "UK South", "agentPoolProfiles": []}]"#),
    ];
    let (scenario, _) = read_with(&text, &files).unwrap_or_else(|e| panic!("{}", all(&e)));
    let names: Vec<_> = scenario.fleet.members.iter().map(|member| &*member.name).collect();
    assert_eq!(names, ["m", "p1", "p2", "f"]);
}

#[test]
fn strategies_come_in_the_shapes_that_azure_prints() {
    let stages = r#"[{"name": "canary", "groups": [{"name": "ring0", "maxConcurrency": "25%",
        "memberSelector": null, "beforeGates": [{"displayName": "go"}]}],
        "maxAllowedFailures": null, "afterStageWaitInSeconds": 86400, "memberSelector": null}]"#;
    let shapes = [
        format!("{{\"stages\": {stages}}}"),
        format!(
            "{{\"id\": \"/x\", \"name\": \"s\", \"type\": \"t\", \"eTag\": \"e\", \"systemData\": \
             {{}}, \"properties\": {{\"provisioningState\": \"Succeeded\", \"strategy\": \
             {{\"stages\": {stages}}}}}}}"
        ),
        format!(
            "{{\"name\": \"s\", \"resourceGroup\": \"rg\", \"strategy\": {{\"stages\": {stages}}}}}"
        ),
        format!(
            "{{\"status\": {{\"stages\": []}}, \"managedClusterUpdate\": {{}}, \
             \"updateStrategyId\": \"/x\", \"strategy\": {{\"stages\": {stages}}}}}"
        ),
        format!("\u{feff}stages:\r\n  {}\r\n", stages.replace('\n', " ")),
    ];
    let text = format!("{HEAD}{FLEET}{UPDATE}strategies: [{{name: s, file: s.json}}]\n");
    for shape in &shapes {
        let (scenario, warnings) =
            read_with(&text, &[("s.json", shape)]).unwrap_or_else(|e| panic!("{}", all(&e)));
        assert_eq!(warnings, []);
        let [stage] = &scenario.strategies[0].stages[..] else { panic!("one stage") };
        assert_eq!(stage.after_stage_wait, Span::from_hours(24));
        assert_eq!(stage.max_allowed_failures, None);
        assert_eq!(stage.groups[0].max_concurrency, Some(Amount::Percent(25)));
        assert_eq!(stage.groups[0].before_gates[0].kind, GateKind::Approval, "the default type");
    }
}

#[test]
fn l1_a_bare_number_in_json_is_a_count_with_a_hint() {
    let text = format!("{HEAD}{FLEET}{UPDATE}strategies: [{{name: s, file: s.json}}]\n");
    let file = r#"{"stages": [{"name": "s", "maxConcurrency": 3, "groups": [{"name": "g"}]}]}"#;
    let (scenario, warnings) = read_with(&text, &[("s.json", file)]).unwrap();
    assert_eq!(scenario.strategies[0].stages[0].max_concurrency, Some(Amount::Count(3)));
    assert_eq!(warnings.len(), 1);
    assert_eq!((warnings[0].code, warnings[0].severity), ("L1", Severity::Warning));
    let yaml =
        "strategies: [{name: s, stages: [{name: s, maxConcurrency: 3, groups: [{name: g}]}]}]\n";
    good(&format!("{HEAD}{FLEET}{UPDATE}{yaml}"));
}

#[test]
fn s2_and_l2_the_caps_of_the_service_can_be_lifted() {
    let groups: Vec<String> = (0..51).map(|n| format!("{{name: g{n}}}")).collect();
    let strategy = format!(
        "strategies: [{{name: s, stages: [{{name: s, maxConcurrency: 51, groups: [{}]}}]}}]\n",
        groups.join(", ")
    );
    let text = format!("{HEAD}{FLEET}{UPDATE}{strategy}");
    assert_eq!(codes(&text), ["L2", "S2"]);
    good(&format!("{text}serviceLimits: none\n"));
    let crowd = "fleet: {populations: [{count: 1001, name: \"m{n}\", region: eastus}]}\n";
    assert_eq!(codes(&format!("{HEAD}{crowd}{UPDATE}")), ["service-limit"]);
    good(&format!("{HEAD}{crowd}{UPDATE}serviceLimits: none\n"));
    let clamped = "strategies: [{name: s, stages: [{name: s, maxConcurrency: 100%, groups: [{name: g, maxConcurrency: 60}]}]}]\n";
    good(&format!("{HEAD}{FLEET}{UPDATE}{clamped}"));
}

#[test]
fn r_h1_the_implicit_group_takes_the_name_of_its_stage() {
    let strategy = |first: &str| {
        format!(
            "{HEAD}{FLEET}{UPDATE}strategies: [{{name: s, stages: [{{name: one, groups: [{{name: \
             {first}}}]}}, {{name: two, memberSelector: {{byLabel: \"\"}}}}]}}]\n"
        )
    };
    assert_eq!(codes(&strategy("two")), ["S2"]);
    good(&strategy("one"));
}

#[test]
fn r_j9_windows_come_in_the_shapes_that_azure_prints() {
    let window = r#"{"durationHours": 4, "notAllowedDates": null, "schedule": {"absoluteMonthly":
        {"dayOfMonth": 1, "intervalMonths": 3}, "daily": null, "relativeMonthly": null, "weekly":
        null}, "startDate": "2023-01-20", "startTime": "09:00", "utcOffset": "-08:00"}"#;
    let shapes = [
        window.to_owned(),
        format!(
            "{{\"id\": \"/x\", \"maintenanceWindow\": {window}, \"name\": \"n\", \
             \"notAllowedTime\": null, \"resourceGroup\": \"rg\", \"systemData\": null, \
             \"timeInWeek\": null, \"type\": null}}"
        ),
        format!("{{\"properties\": {{\"maintenanceWindow\": {window}}}}}"),
    ];
    let members: Vec<String> = (0..)
        .zip(&shapes)
        .map(|(n, shape)| {
            format!(
                "    - name: m{n}\n      region: eastus\n      maintenance:\n        \
                 aksManagedNodeOSUpgradeSchedule: {}\n        default: {{timeInWeek: [{{day: \
                 Tuesday, hourSlots: [1, 2]}}]}}\n",
                shape.replace('\n', " ")
            )
        })
        .collect();
    let scenario = good(&format!("{HEAD}fleet:\n  members:\n{}{UPDATE}", members.concat()));
    assert_eq!(scenario.fleet.windows.len(), 1, "equal schedules share one window");
    assert!(scenario.fleet.members.iter().all(|member| member.node_os_window.is_some()));
    assert!(scenario.fleet.members.iter().all(|member| member.kubernetes_window.is_none()));
    assert_eq!(scenario.places.default_configurations.len(), 3);
    let described = scenario.fleet.windows.iter().next().unwrap().describe();
    assert!(described.starts_with("day 1 of every 3rd month 09:00–13:00 at -08:00"), "{described}");
}

#[test]
fn an_offset_of_region_is_that_of_january() {
    let member = |region: &str| {
        format!(
            "{HEAD}fleet: {{members: [{{name: a, region: {region}, maintenance: \
             {{aksManagedAutoUpgradeSchedule: {{schedule: {{daily: {{intervalDays: 1}}}}, \
             durationHours: 4, startTime: 01:00, utcOffset: region}}}}}}]}}\n{UPDATE}"
        )
    };
    let scenario = good(&member("centralindia"));
    let window = scenario.fleet.windows.iter().next().unwrap();
    assert_eq!(window.description().offset, UtcOffset(330));
    assert_eq!(window.description().start_time, TimeOfDay(60), "R-K11: a plain 01:00 is text");
}

#[test]
fn a_region_of_ones_own_needs_a_script_that_speaks_of_it() {
    let text = |script: &str| {
        format!("{HEAD}fleet: {{members: [{{name: a, region: r1}}]}}\n{UPDATE}script: {script}\n")
    };
    assert_eq!(codes(&text("{}")), ["unknown-region"]);
    for regions in ["{r1: 2026-03-01T00:00:00Z}", "{\"*\": 2026-03-01T00:00:00Z}"] {
        good(&text(&format!("{{releases: [{{kubernetesVersion: 1.34.1, regions: {regions}}}]}}")));
    }
    let other = "{releases: [{kubernetesVersion: 1.34.1, regions: {r2: 2026-03-01T00:00:00Z}}]}";
    let errors = read_with(&text(other), &[]).map(|_| ()).unwrap_err();
    assert!(errors.iter().any(|error| error.code == "unknown-region"), "{}", all(&errors));
}

#[test]
fn r_k8_actions_are_in_the_order_of_time_then_of_the_file() {
    let script = "script:\n  actions:\n    - {at: 5h, start: {restart: retryFailed}}\n    - {at: 1h, \
                  skip: \"Member:a\"}\n    - {at: 1h, stop: true}\n    - {at: 2h, approve: \
                  \"stage:s/before/a/b\"}\n    - {at: 0, skip: [\"Stage:s\", \"AfterStageWait:s\"]}\n";
    let scenario = good(&format!("{HEAD}{FLEET}{UPDATE}{script}"));
    let actions = scenario.script.actions.unwrap();
    let times: Vec<i64> = actions.iter().map(|action| action.at.as_millis() / 3_600_000).collect();
    assert_eq!(times, [0, 1, 1, 2, 5]);
    assert_eq!(actions[1].action, ScriptedVerb::Skip(vec![SkipTarget::Member("a".into())]));
    assert_eq!(actions[2].action, ScriptedVerb::Stop);
    let ScriptedVerb::Approve(path) = &actions[3].action else { panic!("an approval") };
    assert_eq!(path.display_name.as_deref(), Some("a/b"), "R-K9");
    assert_eq!(actions[4].action, ScriptedVerb::Start(Some(Restart::RetryFailed)), "R-D13");
}

#[test]
fn r_k6_and_r_i19_selected_members_need_what_the_run_looks_at() {
    let fleet = "fleet: {members: [{name: a, region: eastus}, {name: b, region: eastus, kubernetesVersion: 1.33.1}]}\n";
    let update =
        "update: {managedClusterUpdate: {upgrade: {type: Full, kubernetesVersion: 1.34.1}}}\n";
    let scenario =
        good(&format!("{HEAD}{fleet}{update}script: {{updates: {{a: {{takes: 1h}}}}}}\n"));
    let codes = |members: &[u32]| -> Vec<&str> {
        let selected = members.iter().map(|member| MemberId(*member));
        scenario.check_selected(selected).iter().map(|error| error.code).collect()
    };
    assert_eq!(codes(&[0]), ["R-I19"]);
    assert_eq!(codes(&[1]), ["R-K6"]);
    assert_eq!(codes(&[]), [""; 0]);
    assert_eq!(codes(&[0, 1]), ["R-I19", "R-K6"]);
}

#[test]
fn checks_are_read_with_their_units() {
    let checks = "strategies: [{name: careful}, {name: waves}]\nchecks:\n  - {strategy: careful, metric: \
                  makespan, statistic: p95, atMost: 14d}\n  - {strategy: \"*\", metric: failedMembers, \
                  statistic: mean, atMost: 2}\n  - {strategy: waves, metric: makespan, statistic: mean, \
                  lessThan: careful, confidence: 0.9}\n  - {metric: completedBy, by: 2026-03-20, atLeast: \
                  0.9}\n";
    let scenario = good(&format!("{HEAD}{FLEET}{UPDATE}{checks}"));
    let [first, second, third, fourth] = &scenario.checks[..] else { panic!("four checks") };
    assert_eq!(first.bound, Bound::AtMost(14.0 * 86_400.0));
    assert_eq!((first.statistic, first.confidence), (Statistic::Quantile(0.95), 0.95));
    assert_eq!((&second.strategy, &second.bound), (&None, &Bound::AtMost(2.0)));
    assert_eq!(third.bound, Bound::LessThan("careful".into()));
    assert!((third.confidence - 0.9).abs() < f64::EPSILON);
    assert_eq!(fourth.by, Some("2026-03-21T00:00:00Z".parse().unwrap()), "before that day's end");
    assert_eq!(scenario.places.place(fourth.at).line, 11);
}

#[test]
fn r_i7_a_target_that_no_release_names_is_a_warning() {
    let update = "update: {managedClusterUpdate: {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.34.2}}}\n";
    let script =
        "script: {releases: [{kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-01}}]}\n";
    let (_, warnings) = read_with(&format!("{HEAD}{FLEET}{update}{script}"), &[]).unwrap();
    assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["R-I7"]);
}

#[test]
fn the_digest_is_of_the_scenario_and_its_files_in_order() {
    let text = format!("{HEAD}{FLEET}{UPDATE}");
    assert_ne!(good(&text).digest, good(&format!("{text}\n")).digest);
    assert_eq!(good(&text).digest, good(&text).digest);
    assert_eq!(good(&text).digest.len(), 64);
    let text =
        format!("{text}strategies: [{{name: s, file: s.yaml}}, {{name: t, file: s.yaml}}]\n");
    let digest = |file: &str| read_with(&text, &[("s.yaml", file)]).unwrap().0.digest;
    let stages = "stages: [{name: s, groups: [{name: g}]}]";
    assert_ne!(digest(stages), digest(&format!("{stages}\n")));
}

#[test]
fn yaml_is_read_as_yaml_1_2() {
    let anchors = format!(
        "{HEAD}fleet:\n  members:\n    - &m {{name: a, region: westeurope, labels: &l {{env: no, v: \
         1.30}}}}\n    - {{name: b, region: \"eastus\", labels: *l}}\n{UPDATE}"
    );
    let scenario = good(&anchors);
    let labels = &scenario.fleet.members[MemberId::new(1)].labels;
    assert_eq!((&*labels["env"], &*labels["v"]), ("no", "1.30"), "R-K11: plain scalars are text");
    let json = r#"{"name": "t", "start": "2026-03-02T08:00:00Z", "horizon": "60d", "seed": 3,
        "fleet": {"members": []}, "strategies": null, "world": {}, "script": null, "checks": null,
	"update": {"managedClusterUpdate": {"upgrade": {"type": "NodeImageOnly"}}}}"#;
    assert_eq!(good(json).seed, 3);
}
