//! Lints, one scenario each that deserves the warning and one that does not. What is said stands in
//! the folder beside, as snapshots: a stranger must see what is meant and what to do.

use std::fmt::Write as _;
use std::path::Path;

use fleetsim::error::{Diagnostic, Severity};
use fleetsim::experiment::Experiment;
use fleetsim::scenario::{Scenario, lints};

use crate::conformance::{cases, without_expect};

/// What is said about a scenario with all its strategies; the reader's own warnings left out.
pub(crate) fn lint(text: &str) -> Vec<Diagnostic> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/inputs");
    let open =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let show = |errors: &[Diagnostic]| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let read = Scenario::read("s.yaml", text, &open);
    let (scenario, _) = read.unwrap_or_else(|errors| panic!("{text}\n{}", show(&errors)));
    let laid = Experiment::new(&scenario, &scenario.strategies);
    let experiment = laid.unwrap_or_else(|errors| panic!("{text}\n{}", show(&errors)));
    lints::lint(&scenario, &experiment.plans)
}

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|warning| warning.code).collect()
}

/// The scenario deserves this warning, perhaps others; they are compared with the snapshot.
pub(crate) fn warns(code: &'static str, text: &str) -> Vec<Diagnostic> {
    let found = lint(text);
    let all = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n");
    assert!(codes(&found).contains(&code), "{text}\n{all}");
    for warning in &found {
        assert_eq!(warning.severity, Severity::Warning);
        assert!(warning.hint.is_some(), "{warning}");
        assert!(warning.place.is_some(), "{warning}");
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("lints");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(code, all));
    found
}

/// The scenario deserves no warning at all.
pub(crate) fn is_quiet(text: &str) {
    let all: Vec<String> = lint(text).iter().map(ToString::to_string).collect();
    assert!(all.is_empty(), "{text}\n{}", all.join("\n\n"));
}

const HEAD: &str = "name: t\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\n";
const NODE_IMAGES: &str = "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}\n";
/// Nothing is drawn, nobody approves, and an image is there from the start.
const SCRIPT: &str = "script:\n  updates: {\"*\": {takes: 1h}}\n  releases: [{nodeImage: \
                      AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-01}}]\n";
const POOLS: &str = "pools: [{nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]";

/// Members `NAME/GROUP`, in West Europe, with more keys for all of them.
fn fleet(members: &[&str], more: &str) -> String {
    let members = members.iter().map(|member| {
        let (name, group) = member.split_once('/').unwrap();
        format!("    - {{name: {name}, region: westeurope, updateGroup: {group}, {POOLS}{more}}}\n")
    });
    format!("fleet:\n  members:\n{}", members.collect::<String>())
}

fn stages(stages: &str) -> String {
    format!("strategies:\n  - name: waves\n    stages:\n{stages}")
}

/// A scripted node image run of four members, two in `a`, two in `b`.
fn of_four(strategy: &str) -> String {
    let fleet = fleet(&["a1/a", "a2/a", "b1/b", "b2/b"], "");
    format!("{HEAD}{fleet}{NODE_IMAGES}{}{SCRIPT}", stages(strategy))
}

// ---------------------------------------------------------------------- groups and stages

#[test]
fn a_group_that_nobody_has() {
    let tail = "      - {name: z, groups: [{name: b}]}\n";
    let typo =
        "      - {name: y, groups: [{name: a}, {name: A, memberSelector: {byLabel: x=y}}]}\n";
    let typo = typo.replace("name: A", "name: aa");
    warns("empty-group", &of_four(&format!("{typo}{tail}")));
    is_quiet(&of_four(&format!("      - {{name: y, groups: [{{name: a}}]}}\n{tail}")));

    let hint = |text: &str| {
        let found = lint(&of_four(&format!("{text}{tail}")));
        let empty = found.into_iter().find(|warning| warning.code == "empty-group").unwrap();
        empty.hint.unwrap()
    };
    let nearest = hint("      - {name: y, groups: [{name: a}, {name: ab}]}\n");
    assert!(nearest.starts_with("did you mean `"), "{nearest}");
    let filtered =
        hint("      - {name: y, memberSelector: {byLabel: env=prod}, groups: [{name: a}]}\n");
    assert!(filtered.contains("2 members have updateGroup `a`, but not the labels `env=prod`"));
    let implicit = hint("      - {name: y, memberSelector: {byLabel: env=prod}}\n");
    assert!(implicit.contains("`env=prod`"), "{implicit}");
}

#[test]
fn s7_members_that_no_group_selects() {
    let members: Vec<String> = (1..=13).map(|n| format!("m{n}/b")).chain(["a1/a".into()]).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let scenario = |strategy: &str| {
        format!("{HEAD}{}{NODE_IMAGES}{}{SCRIPT}", fleet(&members, ""), stages(strategy))
    };
    let found = warns("members-in-no-group", &scenario("      - {name: y, groups: [{name: a}]}\n"));
    assert_eq!(found[0].members.len(), 13, "all of them, for programs");
    is_quiet(&scenario("      - {name: y, groups: [{name: a}, {name: b}]}\n"));
}

#[test]
fn o1_a_canary_beside_production() {
    let scenario = |strategy: &str| {
        let fleet = fleet(&["c/canary", "p/prod-eu", "a/apac"], "");
        format!("{HEAD}{fleet}{NODE_IMAGES}{}{SCRIPT}", stages(strategy))
    };
    let code = "canary-beside-production";
    let beside = "      - {name: prod, groups: [{name: canary}, {name: prod-eu}, {name: apac}]}\n";
    warns(code, &scenario(beside));
    is_quiet(&scenario(
        "      - {name: first, groups: [{name: canary}]}\n      - {name: prod, groups: [{name: \
         prod-eu}, {name: apac}]}\n",
    ));
    let with_others = "      - {name: first, groups: [{name: canary}, {name: apac}]}\n      - \
                       {name: prod, groups: [{name: prod-eu}]}\n";
    is_quiet(&scenario(with_others));
}

#[test]
fn s1_production_before_test() {
    let code = "production-before-test";
    warns(
        code,
        &of_four(
            "      - {name: prod, groups: [{name: a}]}\n      - {name: dev-test, groups: [{name: \
             b}]}\n",
        ),
    );
    is_quiet(&of_four(
        "      - {name: pre-prod, groups: [{name: a}]}\n      - {name: prod, groups: [{name: b}]}\n",
    ));
}

#[test]
fn g4_a_wait_after_the_last_stage() {
    let stage = "      - {name: x, groups: [{name: a}], afterStageWaitInSeconds: 120}\n";
    let other = "      - {name: y, groups: [{name: b}]}\n";
    warns("wait-after-last-stage", &of_four(&format!("{other}{stage}")));
    is_quiet(&of_four(&format!("{stage}{other}")));
}

#[test]
fn g4_a_gate_after_the_last_stage() {
    let strategy = |first: &str, last: &str| {
        let text = of_four(&format!(
            "      - {{name: x, groups: [{{name: a}}]{first}}}\n      - {{name: y, groups: [{{name: \
             b}}]{last}}}\n"
        ));
        format!(
            "{text}  actions: [{{at: 2h, approve: \"stage:x/after\"}}, {{at: 3h, approve: \
                 \"stage:y/after\"}}]\n"
        )
    };
    let gate = ", afterGates: [{displayName: healthy}]";
    warns("gate-after-last-stage", &strategy("", gate));
    is_quiet(&strategy(gate, ""));
}

#[test]
fn g5_approvals_that_nobody_gives() {
    let gates = of_four(
        "      - name: x\n        beforeGates: [{displayName: board}, {displayName: night shift}]\n        \
         groups: [{name: a}, {name: b, beforeGates: [{type: Approval}]}]\n",
    );
    let actions = |actions: &str| format!("{gates}  actions: {actions}\n");
    warns("approval-nobody-gives", &actions("[{at: 1h, approve: \"stage:x/before/board\"}]"));
    is_quiet(&actions(
        "[{at: 1h, approve: \"stage:x/before\"}, {at: 2h, approve: \"group:b/before\"}]",
    ));
    is_quiet(&actions("[{at: 1h, approve: \"stage:x/before\"}, {at: 2h, skip: \"Group:b\"}]"));
    is_quiet(&format!("{gates}world: {{people: {{restart: none}}}}\n"));
    let late = lint(&actions("[{at: 61d, approve: \"stage:x/before\"}]"));
    assert_eq!(codes(&late), ["approval-nobody-gives"; 2], "past the horizon nobody acts");
}

// ---------------------------------------------------------------------- limits

#[test]
fn l2_a_group_above_its_size() {
    let strategy = |limit: &str| {
        of_four(&format!(
            "      - {{name: x, groups: [{{name: a, maxConcurrency: \"{limit}\"}}, {{name: b}}]}}\n"
        ))
    };
    warns("limit-above-size", &strategy("3"));
    is_quiet(&strategy("2"));
    is_quiet(&strategy("100%"));
}

#[test]
fn l2_a_group_above_its_stage() {
    let members: Vec<String> = (1..=9).map(|n| format!("m{n}/a")).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let scenario = |stage: u32| {
        let strategy = stages(&format!(
            "      - {{name: x, maxConcurrency: \"{stage}\", groups: [{{name: a, maxConcurrency: \
             \"100%\"}}]}}\n"
        ));
        format!("{HEAD}{}{NODE_IMAGES}{strategy}{SCRIPT}", fleet(&members, ""))
    };
    warns("limit-above-stage", &scenario(7));
    is_quiet(&scenario(9));
}

/// So many members `m1`, `m2` … in the group `a`.
fn many(count: u32) -> String {
    format!(
        "fleet:\n  populations:\n    - {{count: {count}, name: \"m{{n}}\", region: westeurope, \
         updateGroup: a, {POOLS}}}\n"
    )
}

#[test]
fn r_g1_a_percentage_above_the_service() {
    let scenario = |count: u32| {
        let strategy = stages("      - {name: x, maxConcurrency: \"100%\", groups: [{name: a}]}\n");
        format!("{HEAD}{}{NODE_IMAGES}{strategy}{SCRIPT}", many(count))
    };
    warns("limit-above-service", &scenario(60));
    is_quiet(&scenario(50));
    is_quiet(&format!("{}serviceLimits: none\n", scenario(60)));
}

#[test]
fn l1_l4_percentages_that_become_one() {
    let scenario = |keys: &str, group: &str| {
        let strategy =
            stages(&format!("      - {{name: x, {keys}, groups: [{{name: a, {group}}}]}}\n"));
        format!("{HEAD}{}{NODE_IMAGES}{strategy}{SCRIPT}", many(7))
    };
    let code = "percentage-is-one";
    let stage = "maxConcurrency: \"10%\", maxAllowedFailures: \"5%\"";
    warns(code, &scenario(stage, "maxConcurrency: \"25%\""));
    is_quiet(&scenario(
        "maxConcurrency: \"50%\", maxAllowedFailures: \"15%\"",
        "maxConcurrency: \"16%\"",
    ));
}

#[test]
fn l8_a_budget_without_the_stages() {
    let strategy = |keys: &str| {
        of_four(&format!(
            "      - {{name: x{keys}, groups: [{{name: a, maxAllowedFailures: \"50%\"}}, {{name: \
             b}}]}}\n"
        ))
    };
    warns("budget-without-stage", &strategy(""));
    is_quiet(&strategy(", maxAllowedFailures: 1"));
}

#[test]
fn l5_a_budget_of_everybody() {
    let strategy = |stage: &str, group: &str| {
        of_four(&format!(
            "      - {{name: x, maxAllowedFailures: {stage}, groups: [{{name: a, \
             maxAllowedFailures: {group}}}, {{name: b}}]}}\n"
        ))
    };
    warns("budget-of-everybody", &strategy("\"100%\"", "2"));
    is_quiet(&strategy("3", "1"));
}

// ---------------------------------------------------------------------- windows

/// A scripted node image run of one member in a region with this maintenance.
fn windowed(region: &str, maintenance: &str) -> String {
    format!(
        "{HEAD}fleet:\n  members:\n    - name: m1\n      region: {region}\n      {POOLS}\n      \
         maintenance:\n        {maintenance}\n{NODE_IMAGES}{SCRIPT}"
    )
}

const NODE_OS: &str = "aksManagedNodeOSUpgradeSchedule";
const SUNDAYS: &str = "schedule: {weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, startTime: \"01:00\"";

fn window(region: &str, keys: &str) -> String {
    windowed(region, &format!("{NODE_OS}: {{{keys}}}"))
}

#[test]
fn windows_under_four_hours() {
    let older = |hours: &str| {
        windowed(
            "eastus",
            &format!(
                "default: {{timeInWeek: [{{day: Saturday, hourSlots: {hours}}}, {{day: Tuesday, \
                      hourSlots: [1, 2]}}]}}"
            ),
        )
    };
    warns("short-window", &older("[1, 6, 23]"));
    let found = lint(&older("[3, 4, 5, 6]").replace("[1, 2]", "[10, 11, 12, 13]"));
    assert_eq!(codes(&found), ["default-governs-nothing"]);
}

#[test]
fn windows_that_never_open() {
    let yearly = |date: &str| {
        let keys = format!(
            "schedule: {{absoluteMonthly: {{intervalMonths: 6, dayOfMonth: 1}}}}, durationHours: 4, \
             startTime: \"01:00\", startDate: {date}"
        );
        window("eastus", &keys)
    };
    warns("window-never-opens", &yearly("2026-02-02"));
    is_quiet(&yearly("2026-04-01"));
    let never = format!("{SUNDAYS}, notAllowedDates: [{{start: 2026-01-01, end: 2060-01-01}}]");
    let never = lint(&window("eastus", &never));
    assert_eq!(codes(&never), ["window-never-opens"]);
    assert!(never[0].hint.as_ref().unwrap().contains("twelve years"));
}

#[test]
fn m4_forbidden_dates_that_hit_nothing() {
    let with = |dates: &str| window("eastus", &format!("{SUNDAYS}, notAllowedDates: [{dates}]"));
    let code = "forbidden-dates-hit-nothing";
    warns(
        code,
        &with(
            "{start: 2025-12-24, end: 2025-12-26}, {start: 2026-03-09, end: 2026-03-14}, {start: \
             2026-03-22, end: 2026-03-22}, {start: 2026-12-24, end: 2026-12-26}",
        ),
    );
    is_quiet(&with("{start: 2026-03-20, end: 2026-03-25}"));
}

#[test]
fn m3_an_interval_without_a_start_date() {
    let with = |more: &str| {
        window("eastus", &format!("{}{more}", SUNDAYS.replace("Weeks: 1", "Weeks: 2")))
    };
    warns("interval-without-start-date", &with(""));
    is_quiet(&with(", startDate: 2026-03-01"));
}

#[test]
fn m2_daylight_saving() {
    let code = "daylight-saving";
    let members = |offset: &str, regions: [&str; 3]| {
        let members = regions.iter().zip(1..).map(|(region, n)| {
            format!(
                "    - {{name: m{n}, region: {region}, {POOLS}, maintenance: {{{NODE_OS}: \
                 {{{SUNDAYS}, utcOffset: \"{offset}\"}}}}}}\n"
            )
        });
        let members: String = members.collect();
        format!("{HEAD}fleet:\n  members:\n{members}{NODE_IMAGES}{SCRIPT}")
    };
    warns(code, &members("+01:00", ["westeurope", "francecentral", "eastus"]));
    is_quiet(&members("+05:30", ["centralindia", "westeurope", "eastus"]));
    is_quiet(&members("+00:00", ["uksouth", "westeurope", "eastus"]));
    assert_eq!(codes(&lint(&members("+00:00", ["uksouth", "ukwest", "northeurope"]))), [code]);
    let winter = |start: &str| {
        members("+01:00", ["westeurope"; 3]).replace("2026-03-02T08", start).replace("60d", "20d")
    };
    is_quiet(&winter("2026-03-02T08"));
    let summer = lint(&winter("2026-06-01T08"));
    assert!(
        summer[0].message.contains("02:00 on the clocks of `westeurope` throughout"),
        "{summer:?}"
    );
}

#[test]
fn u9_a_window_that_this_update_does_not_look_at() {
    let other = format!("aksManagedAutoUpgradeSchedule: {{{SUNDAYS}}}");
    warns("window-without-run", &windowed("eastus", &other));
    is_quiet(&windowed("eastus", &format!("{other}\n        {NODE_OS}: {{{SUNDAYS}}}")));
}

#[test]
fn u9_a_default_that_governs_nothing() {
    let text = windowed("eastus", &format!("default: {{{SUNDAYS}}}"));
    warns("default-governs-nothing", &text);
}

#[test]
fn many_windows_that_open_at_the_same_minute() {
    let scenario = |count: u32, other: u32| {
        let population = |count: u32, name: &str, time: &str| {
            let window = SUNDAYS.replace("01:00", time);
            format!(
                "    - {{count: {count}, name: \"{name}{{n}}\", region: centralindia, {POOLS}, \
                 maintenance: {{{NODE_OS}: {{{window}}}}}}}\n"
            )
        };
        let (one, two) = (population(count, "a", "01:00"), population(other, "b", "05:00"));
        format!("{HEAD}fleet:\n  populations:\n{one}{two}{NODE_IMAGES}{SCRIPT}")
    };
    let found = warns("same-opening-minute", &scenario(60, 50));
    assert_eq!(found[0].members.len(), 60);
    is_quiet(&scenario(60, 60));
    is_quiet(&scenario(50, 1));
}

#[test]
fn o5_windows_shorter_than_the_update() {
    let text = window("eastus", SUNDAYS);
    warns("window-shorter-than-update", &text.replace("takes: 1h", "takes: 4h30m"));
    is_quiet(&text.replace("takes: 1h", "takes: 4h"));
    let drawn = text.replace("updates: {\"*\": {takes: 1h}}", "");
    is_quiet(&drawn);
    let slow = format!(
        "{drawn}world: {{durations: {{update: {{lognormal: {{median: 5h, sigma: 1}}}}}}}}\n"
    );
    let slow = lint(&slow);
    assert!(slow[0].message.ends_with("takes 5h (the median)"), "{slow:?}");
}

// ---------------------------------------------------------------------- durations

/// Members of one pool, with this world, and nothing scripted but the image.
fn with_nodes(world: &str, pool: &str) -> String {
    let script = SCRIPT.replace("updates: {\"*\": {takes: 1h}}", "");
    let more = format!(
        ", pools: [{{name: p, nodeImageVersion: \
                        AKSUbuntu-2204gen2containerd-202602.13.0{pool}}}]"
    );
    format!(
        "{HEAD}fleet:\n  members:\n    - {{name: a, region: westeurope, updateGroup: g{more}}}\n\
         {NODE_IMAGES}{script}world: {{{world}, people: none}}\n"
    )
}

#[test]
fn o5_windows_shorter_than_the_mean_of_all_nodes() {
    let text = |nodes: u32| {
        let window = "maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: \
                      {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, startTime: \
                      \"01:00\"}}, updateGroup: g";
        let text = with_nodes("durations: {model: nodes}", &format!(", count: {nodes}"));
        lint(&text.replace("updateGroup: g", window))
    };
    assert!(text(25).is_empty(), "{:?}", text(25));
    let slow = text(60);
    assert_eq!(slow[0].code, "window-shorter-than-update");
    assert!(slow[0].message.ends_with("(the mean)"), "{slow:?}");
}

#[test]
fn w5_factors_of_nobody() {
    let factor = |factor: &str| {
        with_nodes(&format!("durations: {{model: nodes, factors: [{{{factor}, times: 2}}]}}"), "")
    };
    warns("factor-of-nobody", &factor("osType: Windows"));
    assert_eq!(codes(&lint(&factor("region: eastus"))), ["factor-of-nobody"]);
    assert_eq!(codes(&lint(&factor("nodes: {atLeast: 4}"))), ["factor-of-nobody"]);
    is_quiet(&factor("region: [eastus, westeurope], osType: Linux, nodes: {atMost: 3}"));
}

#[test]
fn w8_throttling_of_nobody() {
    let throttling = |rest: &str| with_nodes(&format!("throttling: {{atMost: 3{rest}}}"), "");
    warns("throttling-of-nobody", &throttling(""));
    let labelled = throttling(", byLabel: team");
    assert_eq!(codes(&lint(&labelled)), ["throttling-of-nobody"]);
    is_quiet(&labelled.replace("updateGroup: g", "updateGroup: g, labels: {team: x}"));
    let id = "clusterResourceId: /subscriptions/s/resourceGroups/r/providers/p";
    is_quiet(&throttling("").replace("updateGroup: g", &format!("updateGroup: g, {id}")));
}

#[test]
fn p2_pools_too_large_for_their_surge() {
    let nodes = "durations: {model: nodes}";
    warns("pool-too-large", &with_nodes(nodes, ", count: 1000"));
    is_quiet(&with_nodes(nodes, ", count: 999"));
    is_quiet(&with_nodes("durations: {update: 1h}", ", count: 1000"));
}

// ---------------------------------------------------------------------- members

#[test]
fn u10_a_channel_of_their_own() {
    let channel = |channel: &str| {
        let more = format!(", autoUpgradeProfile: {{upgradeChannel: {channel}}}");
        format!("{HEAD}{}{NODE_IMAGES}{SCRIPT}", fleet(&["a/g", "b/g"], &more))
    };
    warns("own-auto-upgrade", &channel("stable"));
    is_quiet(&channel("none"));
}

/// A member with a node disruption policy and perhaps a window.
fn policy(policy: &str, maintenance: &str) -> String {
    let more = format!(", nodeDisruptionPolicy: {policy}{maintenance}");
    format!("{HEAD}{}{NODE_IMAGES}{SCRIPT}", fleet(&["a/g", "b/g"], &more))
}

#[test]
fn n1_block_without_an_end() {
    warns("block-without-end", &policy("Block", ""));
    is_quiet(&policy("Allow", ""));
}

#[test]
fn n2_a_policy_without_a_window() {
    warns("policy-without-window", &policy("AllowDuringMaintenanceWindow", ""));
    let window = format!(", maintenance: {{{NODE_OS}: {{{SUNDAYS}}}}}");
    is_quiet(&policy("AllowDuringMaintenanceWindow", &window));
}

/// A run to a Kubernetes version that is there, of members with versions.
fn kubernetes(versions: [&str; 2]) -> String {
    let members = versions.iter().zip(1..).map(|(version, n)| {
        format!("    - {{name: m{n}, region: westeurope, kubernetesVersion: {version}}}\n")
    });
    let members: String = members.collect();
    format!(
        "{HEAD}fleet:\n  members:\n{members}update: {{managedClusterUpdate: {{upgrade: {{type: \
         ControlPlaneOnly, kubernetesVersion: 1.34.1}}}}}}\nscript:\n  updates: {{\"*\": {{takes: \
         1h}}}}\n  releases: [{{kubernetesVersion: 1.34.1, regions: {{\"*\": 2026-03-01}}}}]\n"
    )
}

#[test]
fn u6_a_target_that_skips_a_minor() {
    warns("skipped-minor", &kubernetes(["1.31.9", "1.32.3"]));
    is_quiet(&kubernetes(["1.33.9", "1.35.0"]));
}

// ---------------------------------------------------------------------- releases

/// A drawn run of two stages in these regions.
fn in_regions(test: &str, production: &str, selection: &str) -> String {
    let member = |name: &str, region: &str, group: &str| {
        format!("    - {{name: {name}, region: {region}, updateGroup: {group}, {POOLS}}}\n")
    };
    let (one, two) = (member("t1", test, "test"), member("p1", production, "prod"));
    let three = member("p2", "westeurope", "prod");
    let strategy = stages(
        "      - {name: test, groups: [{name: test}]}\n      - {name: prod, groups: [{name: prod}]}\n",
    );
    format!(
        "{HEAD}fleet:\n  members:\n{one}{two}{three}update: {{managedClusterUpdate: {{upgrade: \
         {{type: NodeImageOnly}}, nodeImageSelection: {{type: {selection}}}}}}}\n{strategy}"
    )
}

#[test]
fn w1_releases_reach_production_before_test() {
    warns("production-region-first", &in_regions("westeurope", "eastus", "Latest"));
    is_quiet(&in_regions("eastus", "westeurope", "Latest"));
    is_quiet(&in_regions("westeurope", "westeurope", "Latest"));
    is_quiet(&in_regions("westeurope", "westeurope", "Consistent"));
    is_quiet(&format!("{}{SCRIPT}", in_regions("westeurope", "eastus", "Latest")));
}

#[test]
fn u2_consistent_over_a_late_region() {
    let code = "consistent-over-late-region";
    warns(code, &in_regions("eastus", "westeurope", "Consistent"));
    let early = in_regions("eastus", "eastus2", "Consistent").replace("westeurope", "eastus2");
    is_quiet(&early);
}

#[test]
fn r_i6_a_pool_of_a_family_for_which_nothing_is_chosen() {
    let grows = |selection: &str, pool: &str| {
        let fleet = in_regions("eastus", "eastus2", selection).replace("westeurope", "eastus2");
        format!("{fleet}world: {{churn: {{addPool: {{after: 5d, pool: {pool}}}}}}}\n")
    };
    let windows = "{name: win, osType: Windows, mode: User}";
    warns("pool-of-unchosen-family", &grows("Consistent", windows));
    is_quiet(&grows("Consistent", "{name: more}"));
    is_quiet(&grows("Latest", windows));
}

#[test]
fn r_i7_targets_that_never_come() {
    let fleet = in_regions("eastus", "eastus", "Latest");
    warns("no-releases", &format!("{fleet}world: {{releases: none}}\n"));
    is_quiet(&format!("{fleet}{SCRIPT}"));
}

#[test]
fn r_i7_targets_that_come_by_chance() {
    let custom = in_regions(
        "eastus",
        "eastus",
        "Custom, customNodeImageVersions: [{version: AKSUbuntu-2204gen2containerd-202603.02.0}]",
    );
    warns("target-by-chance", &custom);
    is_quiet(&format!("{custom}{SCRIPT}"));
    warns("target-never-released", &format!("{custom}world: {{releases: none}}\n"));
}

// ---------------------------------------------------------------------- all together

#[test]
fn of_one_kind_only_so_many_are_shown() {
    let groups: Vec<String> = (1..=14).map(|n| format!("{{name: nobody-{n}}}")).collect();
    let found = lint(&of_four(&format!(
        "      - {{name: x, groups: [{{name: a}}, {{name: b}}, {}]}}\n",
        groups.join(", ")
    )));
    assert_eq!(codes(&found), vec!["empty-group"; lints::MOST_OF_A_KIND]);
    assert!(found[9].message.ends_with("(and 4 more at other places)"), "{}", found[9].message);
}

#[test]
fn of_one_place_and_kind_only_one_is_shown() {
    let text = format!(
        "{HEAD}fleet:\n  populations:\n    - {{count: 40, name: \"m{{n}}\", region: {{choose: \
         {{westeurope: 1, eastus: 1, australiaeast: 1}}}}, {POOLS}, maintenance: {{{NODE_OS}: \
         {{{SUNDAYS}, utcOffset: region}}}}}}\n{NODE_IMAGES}{SCRIPT}"
    );
    let found = lint(&text);
    assert_eq!(codes(&found), ["daylight-saving"]);
    assert!(found[0].message.ends_with("(and 2 more like it here)"), "{}", found[0].message);
}

#[test]
fn what_strategies_of_one_file_share_is_said_once() {
    let strategies = |names: &[&str]| {
        let entries =
            names.iter().map(|name| format!("  - {{name: {name}, file: strategy.json}}\n"));
        let entries: String = entries.collect();
        let fleet = fleet(&["a1/a"], "");
        let text = format!("{HEAD}{fleet}{NODE_IMAGES}strategies:\n{entries}{SCRIPT}");
        lint(&text).into_iter().filter(|warning| warning.code == "empty-group").count()
    };
    assert!(strategies(&["one"]) > 0);
    assert_eq!(strategies(&["one", "two"]), strategies(&["one"]));
}

/// What the lints say about the conformance cases: true, and little.
#[test]
fn conformance_cases_are_mostly_quiet() {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    let mut said = String::new();
    let mut laid_out = 0;
    for (name, text) in cases() {
        let text = without_expect(&text);
        let (scenario, _) = Scenario::read(&name, text, &no_files).expect(&name);
        // One case is about a strategy that cannot be laid out.
        let Ok(experiment) = Experiment::new(&scenario, &scenario.strategies) else { continue };
        laid_out += 1;
        for warning in lints::lint(&scenario, &experiment.plans) {
            let line = warning.place.map_or(0, |place| place.line);
            writeln!(said, "{name}:{line}: {}: {}", warning.code, warning.message).unwrap();
        }
    }
    assert!(laid_out > 40);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("lints");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("conformance", said));
}

/// `validate` prints the lints, with all members for programs; `--strict` takes them for errors.
#[test]
fn validate_warns_and_strict_refuses() {
    let members: Vec<String> = (1..=12).map(|n| format!("m{n}/b")).chain(["a1/a".into()]).collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let strategy = stages("      - {name: y, groups: [{name: a}]}\n");
    let text = format!("{HEAD}{}{NODE_IMAGES}{strategy}{SCRIPT}", fleet(&members, ""));
    let validate = |more: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("fleetsim").unwrap();
        command.args(["validate", "-"]).args(more).write_stdin(text.clone());
        command.assert()
    };
    let warned = validate(&[]).code(0);
    let printed = String::from_utf8(warned.get_output().stdout.clone()).unwrap();
    assert!(printed.contains("warning[members-in-no-group]") && printed.ends_with("1 warning\n"));
    let refused = validate(&["--strict", "--format", "json"]).code(2);
    let json: serde_json::Value = serde_json::from_slice(&refused.get_output().stdout).unwrap();
    assert_eq!(json[0]["errors"], 1);
    assert_eq!(json[0]["diagnostics"][0]["members"].as_array().unwrap().len(), 12);
}

// ---------------------------------------------------------------------- profiles

#[test]
fn a7_profiles_that_do_the_same_and_strategies_of_profiles() {
    let with = |profiles: &str, group: &str| {
        format!(
            "{HEAD}{}autoUpgradeProfiles: [{profiles}]\nstrategies: [{{name: s, stages: [{{name: \
             s, groups: [{{name: {group}}}]}}]}}]\n{SCRIPT}",
            fleet(&["a/g", "b/g"], ", kubernetesVersion: 1.33.3")
        )
    };
    let images = "{name: images, channel: NodeImage, updateStrategyId: s}";
    let patches = "{name: patches, channel: SecurityPatch, updateStrategyId: s}";
    let both = format!("{images}, {patches}");
    warns("profiles-alike", &with(&both, "g"));
    is_quiet(&with(images, "g"));
    let off = both.replace("channel: SecurityPatch", "channel: SecurityPatch, disabled: true");
    is_quiet(&with(&off, "g"));
    let empty = lint(&with(images, "h"));
    assert!(codes(&empty).contains(&"empty-group"), "{empty:?}");
}
