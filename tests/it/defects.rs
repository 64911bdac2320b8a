//! Defective releases (W7): by script against what can be reckoned by hand, drawn against closed
//! forms, and what people make of them (W10, W11).

use std::fmt::Write as _;

use fleetsim::experiment::History;
use fleetsim::scheduler::{Node, Plan, State};
use fleetsim::sim::{DelayCause, End, Exposure, Outcome};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{POOL, RELEASED, START, UPDATE, histories, outcomes, read};

/// The two-sided 99.9 % quantile of the standard normal distribution.
const Z: f64 = 3.2905;
const IMAGE: &str = "nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0";
/// Nobody does anything.
const NOBODY: &str = "approvers: none, restart: none";

/// Members `m1`, `m2` and so on, each updated in an hour, with these strategies and defects.
fn story(members: u32, strategies: &str, people: &str, defects: &str) -> String {
    let mut text = format!("name: defects\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n");
    for n in 1..=members {
        writeln!(text, "    - {{name: m{n}, region: westeurope, updateGroup: g, {POOL}}}").unwrap();
    }
    write!(
        text,
        "update: {{{UPDATE}}}\nstrategies:\n{strategies}world: {{people: {{{people}}}}}\nscript:\n  \
         updates: {{\"*\": {{takes: 1h}}}}{RELEASED}  defects:\n{defects}"
    )
    .unwrap();
    text
}

const ONE_BY_ONE: &str = "  - {name: one-by-one}\n";

fn outcome(text: &str) -> Outcome {
    histories(text, 1, |_, _, outcome| outcome.clone()).remove(0)
}

fn exposure(members: u32, minutes: i64) -> Exposure {
    Exposure { members, time: Span::from_mins(minutes) }
}

fn hours(hours: i64) -> Timestamp {
    START.parse::<Timestamp>().unwrap() + Span::from_hours(hours)
}

#[test]
fn w7_a_scripted_defect_fails_updates_with_its_code() {
    let defect = format!("    - {{{IMAGE}, members: [m2], fails: NodeNotReady}}\n");
    let text = story(3, ONE_BY_ONE, NOBODY, &defect);
    let scenario = read(&text);
    let world = fleetsim::sim::World::new(scenario.setting());
    assert!(world.is_deterministic());
    let codes = world.codes().to_vec();
    let (reason, outcome) = histories(&text, 1, |_, history, outcome| {
        let failed = history.records.iter().find(|record| record.to == State::Failed).unwrap();
        (failed.reason.unwrap().text(&codes).to_owned(), outcome.clone())
    })
    .remove(0);
    assert_eq!(reason, "NodeNotReady");
    assert_eq!((outcome.end, outcome.updated, outcome.failed), (End::Failed, 1, 1));
    // The first member ran the release for the hour until the run was Failed.
    assert_eq!(outcome.exposure, exposure(1, 60));
}

#[test]
fn w7_members_degrade_later_and_watchers_stop_the_run() {
    // m1 is updated at 1 h, degrades at 2:30, is noticed at 3:00; the run is stopped at 3:30, when
    // m4 is being updated.
    let defect =
        format!("    - {{{IMAGE}, members: [m1], degradesAfter: 90m, noticedAfter: 30m}}\n");
    let people = format!("{NOBODY}, watchers: {{limit: 0, reaction: 30m}}");
    let found = outcome(&story(6, ONE_BY_ONE, &people, &defect));
    assert_eq!((found.end, found.updated, found.not_started), (End::Stopped, 4, 2));
    // m1 to m3 ran it for 2:30, 1:30 and 0:30; m4 came to it when the run was stopped already.
    assert_eq!(found.exposure, exposure(3, 150 + 90 + 30));
    // Whoever bears one degraded member does not stop.
    let people = format!("{NOBODY}, watchers: {{limit: 1, reaction: 30m}}");
    let found = outcome(&story(6, ONE_BY_ONE, &people, &defect));
    assert_eq!((found.end, found.updated), (End::Completed, 6));
}

#[test]
fn w11_the_limit_of_watchers_is_passed_not_reached_and_can_be_a_share() {
    let defect =
        format!("    - {{{IMAGE}, members: [m1, m2], degradesAfter: 1h, noticedAfter: 0s}}\n");
    let updated = |limit: &str| {
        let people = format!("{NOBODY}, watchers: {{limit: {limit}, reaction: 0s}}");
        outcome(&story(10, ONE_BY_ONE, &people, &defect)).updated
    };
    // m1 degrades at 2 h, m2 at 3 h: at that instant m3 has just ended, and m4 is not started.
    assert_eq!((updated("0"), updated("1"), updated("2")), (2, 3, 10));
    assert_eq!((updated("\"10%\""), updated("\"19%\""), updated("\"20%\"")), (3, 3, 10));
}

#[test]
fn w11_watchers_react_in_their_working_hours() {
    let defect = format!("    - {{{IMAGE}, members: [m1], degradesAfter: 1h, noticedAfter: 0s}}\n");
    // The start is a Monday, 08:00: noticed at 10:00; they come at ten on Tuesday.
    let people = format!(
        "{NOBODY}, watchers: {{limit: 0, reaction: 1h, days: [Tuesday], hours: \"09:00-17:00\"}}"
    );
    let found = outcome(&story(40, ONE_BY_ONE, &people, &defect));
    // From 08:00 on Monday to 10:00 on Tuesday 26 members are updated one by one.
    assert_eq!((found.end, found.updated), (End::Stopped, 26));
    let ran: i64 = (0..25).map(|n| 25 * 60 - n * 60).sum();
    assert_eq!(found.exposure, exposure(25, ran), "the 26th ends when the run is stopped");
}

#[test]
fn w7_a_fix_ends_exposure_and_keeps_members_from_degrading() {
    let defect = format!(
        "    - {{{IMAGE}, degradesAfter: 90m, noticedAfter: 0s, fixed: 2026-03-02T10:30:00Z}}\n"
    );
    let people = format!("{NOBODY}, watchers: {{limit: 0, reaction: 0s}}");
    let found = outcome(&story(5, ONE_BY_ONE, &people, &defect));
    // Fixed at 2:30, the instant at which m1 would degrade: endings and news come in their order.
    assert_eq!(found.end, End::Completed);
    assert_eq!(found.exposure, exposure(2, 90 + 30));
}

#[test]
fn w7_exposure_goes_on_when_the_run_is_over() {
    let defect = format!("    - {{{IMAGE}, degradesAfter: 6h, noticedAfter: 2h}}\n");
    let blind = outcome(&story(1, ONE_BY_ONE, NOBODY, &defect));
    assert_eq!(blind.exposure, exposure(1, 10 * 24 * 60 - 60), "to the horizon");
    let people = format!("{NOBODY}, watchers: {{limit: 0, reaction: 30m}}");
    let seeing = outcome(&story(1, ONE_BY_ONE, &people, &defect));
    assert_eq!((seeing.end, seeing.makespan), (End::Completed, Some(Span::from_hours(1))));
    assert_eq!(seeing.exposure, exposure(1, 8 * 60 + 30), "until they would have stopped it");
}

/// A canary, an approval behind it, and three more.
const CANARY: &str = "  - name: canary\n    stages:\n      - {name: first, memberSelector: \
                      {byLabel: \"canary\"}, afterGates: [{type: Approval}]}\n      - {name: rest, \
                      memberSelector: {byLabel: \"!canary\"}, maxConcurrency: 5}\n";

fn canary(people: &str, defects: &str) -> String {
    let text = story(4, CANARY, people, defects);
    text.replace("name: m1, ", "name: m1, labels: {canary: \"yes\"}, ")
}

const AROUND_THE_CLOCK: &str = "days: [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, \
                                Sunday], hours: \"00:00-24:00\"";

#[test]
fn w10_approvers_look_at_health_first() {
    // m1 is known to be degraded from 3 h on; the approver comes at 5 h.
    let ill = format!("    - {{{IMAGE}, members: [m1], degradesAfter: 1h, noticedAfter: 1h}}\n");
    let approver =
        |more: &str| format!("approvers: {{delay: 4h, {AROUND_THE_CLOCK}{more}}}, restart: none");
    let found = outcome(&canary(&approver(""), &ill));
    assert_eq!((found.end, found.approvals, found.updated), (End::Stopped, 0, 1));
    assert_eq!(found.exposure, exposure(1, 4 * 60));
    assert_eq!(found.delays.of(DelayCause::Stopped), Span::from_hours(10 * 24 - 5));
    let found = outcome(&canary(&approver(", tolerance: 1"), &ill));
    assert_eq!((found.end, found.approvals, found.updated), (End::Completed, 1, 4));
    // What nobody has noticed yet keeps nobody from approving.
    let unseen = ill.replace("noticedAfter: 1h", "noticedAfter: 9h");
    let found = outcome(&canary(&approver(""), &unseen));
    assert_eq!((found.end, found.approvals), (End::Completed, 1));
}

#[test]
fn w10_after_a_fix_the_run_is_started_again_and_the_gate_looked_at_again() {
    let ill = format!(
        "    - {{{IMAGE}, members: [m1], degradesAfter: 1h, noticedAfter: 1h, fixed: \
         2026-03-02T18:00:00Z}}\n"
    );
    let people = format!(
        "approvers: {{delay: 4h, {AROUND_THE_CLOCK}}}, restart: none, startAgain: {{after: 2h}}"
    );
    let found = outcome(&canary(&people, &ill));
    assert_eq!((found.end, found.approvals, found.restarts), (End::Completed, 1, 1));
    // Stopped at 5 h, fixed at 10, started at 12, approved at 16; then an hour for the rest.
    assert_eq!(found.makespan, Some(Span::from_hours(17)));
    assert_eq!(found.delays.of(DelayCause::Stopped), Span::from_hours(7));
    assert_eq!(found.delays.of(DelayCause::Gate), Span::from_hours(4 + 4));
    assert_eq!(found.exposure, exposure(1, 9 * 60));
}

/// Two regions; the release comes to the second one at 11:30, after the start at 08:00.
const TWO_REGIONS: &str = "name: halt
start: 2026-03-02T08:00:00Z
horizon: 10d
fleet:
  members:
    - {name: a1, region: westeurope, updateGroup: g, POOL}
    - {name: a2, region: westeurope, updateGroup: g, POOL}
    - {name: b1, region: eastus, updateGroup: g, POOL}
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}, nodeImageSelection: {type: Custom, customNodeImageVersions: [{version: AKSUbuntu-2204gen2containerd-202603.02.0}]}}}
strategies: [{name: s, stages: [{name: s, groups: [{name: g, maxConcurrency: 3}]}]}]
world:
  durations: {update: 1h}
  failures: none
  people: none
  defects: {probability: 1, share: 1, breaks: 1, atOnce: 0, degradesAfter: 1h, noticedAfter: 0s, halt: {members: 2, after: 1h}, fixedAfter: 5h}
script:
  releases:
    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {westeurope: 2026-03-01T00:00:00Z, eastus: 2026-03-02T11:30:00Z}}
";

#[test]
fn w7_a_halted_release_arrives_nowhere_until_it_is_fixed() {
    let text = TWO_REGIONS.replace("POOL", POOL);
    let (found, started) = histories(&text, 1, |plan, history, outcome| {
        let b1 = plan.fleet.members.ids().last().map(Node::Member).unwrap();
        let wanted = |r: &&fleetsim::scheduler::Record| r.node == b1 && r.to == State::Running;
        (outcome.clone(), history.records.iter().find(wanted).unwrap().time)
    })
    .remove(0);
    // Two degrade at 2 h, the halt is at 3 h, the fix at 8 h: then it comes to East US.
    assert_eq!(started, hours(8));
    assert_eq!(found.makespan, Some(Span::from_hours(9)));
    assert_eq!(found.delays.of(DelayCause::Image), Span::from_hours(8));
    assert_eq!(found.exposure, exposure(2, 2 * 7 * 60), "b1 runs what is fixed");
    // b1 is stale from the fix on, the others from the arrival 32 h before the start.
    assert_eq!(found.versions.stale, Span::from_hours(2 * 33 + 1));
    // Without a halt the release arrives when it was to.
    let unhalted = text.replace("halt: {members: 2, after: 1h}", "halt: none");
    let found = outcome(&unhalted);
    assert_eq!(found.makespan, Some(Span::from_hours(5)), "the poll at 12:00 notices it");
    // b1 too runs the release then, from the run's end to the horizon.
    let to_horizon = 10 * 24 * 60;
    assert_eq!(found.exposure, exposure(3, 2 * (to_horizon - 60) + to_horizon - 5 * 60));
}

/// A fleet of `n` in one group, all failures borne, drawn defects as given.
fn drawn(n: u32, concurrency: u32, failures: u32, defects: &str) -> String {
    format!(
        "name: drawn\nstart: {START}\nhorizon: 300d\nseed: 5\nfleet:\n  populations:\n    - {{count: \
         {n}, name: \"m-{{n:03}}\", region: westeurope, updateGroup: g, {POOL}}}\nupdate: \
         {{{UPDATE}}}\nstrategies: [{{name: s, stages: [{{name: s, maxAllowedFailures: {failures}, \
         groups: [{{name: g, maxConcurrency: {concurrency}, maxAllowedFailures: {failures}}}]}}]}}]\n\
         world: {{durations: {{update: 1h}}, failures: none, people: none, defects: {defects}}}\n\
         script: {RELEASED}"
    )
}

#[expect(clippy::cast_precision_loss, reason = "samples are small")]
fn count(n: usize) -> f64 {
    n as f64
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / count(sample.len())
}

#[track_caller]
fn assert_mean(what: &str, sample: &[f64], expected: f64, variance: f64) {
    let error = (variance / count(sample.len())).sqrt();
    let z = (mean(sample) - expected) / error;
    assert!(z.abs() < Z, "{what}: mean {}, expected {expected}: z = {z:.2}", mean(sample));
}

fn failed(text: &str, replications: u32) -> Vec<f64> {
    let found = outcomes(text, replications, 2);
    found.by_strategy[0].iter().map(|outcome| f64::from(outcome.failed)).collect()
}

/// One at a time, with `f` failures borne: members started until the stop are negative binomial,
/// each failing with share × the probability that a susceptible member breaks.
#[test]
fn w7_members_hit_before_a_stop_are_negative_binomial() {
    let (f, p) = (2_u32, 0.25 * 0.8);
    let defects = "{probability: 1, share: 0.25, breaks: 0.8, atOnce: 1}";
    let found = outcomes(&drawn(300, 1, f, defects), 3_000, 2);
    let started: Vec<f64> = found.by_strategy[0]
        .iter()
        .map(|outcome| {
            assert_eq!((outcome.end, outcome.failed), (End::Failed, f + 1));
            f64::from(outcome.updated + outcome.failed)
        })
        .collect();
    let r = f64::from(f + 1);
    assert_mean("members until the stop", &started, r / p, r * (1.0 - p) / (p * p));
}

/// The share is drawn once a release: its mean is that of the beta distribution, and the spread of
/// the failures is that of a beta-binomial, far above the binomial of independent failures.
#[test]
fn w7_failures_of_one_release_are_correlated() {
    let (a, b, n) = (2.0, 6.0, 50.0);
    let defects = "{probability: 1, breaks: 1, atOnce: 1}";
    let found = failed(&drawn(50, 50, 50, defects), 4_000);
    let share = a / (a + b);
    let binomial = n * share * (1.0 - share);
    let variance = binomial * (a + b + n) / (a + b + 1.0);
    assert_mean("failures of one release", &found, n * share, variance);
    let average = mean(&found);
    let squares: Vec<f64> = found.iter().map(|x| (x - average).powi(2)).collect();
    let fourth = mean(&squares.iter().map(|x| x * x).collect::<Vec<_>>());
    let spread = mean(&squares);
    assert_mean("their spread", &squares, variance, fourth - spread * spread);
    assert!(spread > 4.0 * binomial, "{spread} against {binomial}");
}

/// Pools of two families and systems: what they share, they share.
fn families(defects: &str) -> String {
    let pool = |family: &str, version: &str| {
        format!("pools: [{{name: p, nodeImageVersion: {family}-{version}}}]")
    };
    let (ubuntu, azure) = ("AKSUbuntu-2204gen2containerd", "AKSAzureLinux-V3gen2");
    let windows = "AKSWindows-2022-containerd";
    let population = |name: &str, pool: &str| {
        format!(
            "    - {{count: 10, name: \"{name}-{{n:02}}\", region: westeurope, updateGroup: g, {pool}}}\n"
        )
    };
    let release = |family: &str| {
        format!(
            "    - {{nodeImage: {family}-202603.02.0, regions: {{\"*\": 2026-03-01T00:00:00Z}}}}\n"
        )
    };
    format!(
        "name: families\nstart: {START}\nhorizon: 60d\nseed: 9\nfleet:\n  populations:\n{}{}{}update: \
         {{{UPDATE}}}\nstrategies: [{{name: s, stages: [{{name: s, maxAllowedFailures: 30, groups: \
         [{{name: g, maxConcurrency: 30, maxAllowedFailures: 30}}]}}]}}]\nworld: {{durations: \
         {{update: 1h}}, failures: none, people: none, defects: {defects}}}\nscript:\n  releases:\n\
         {}{}{}",
        population("ubuntu", &pool(ubuntu, "202602.13.0")),
        population("azure", &pool(azure, "202602.13.0")),
        population("windows", &pool(windows, "202602.13.0")),
        release(ubuntu),
        release(azure),
        release(windows),
    )
}

/// Who failed in a replication.
fn names_of_failed(plan: &Plan<'_>, history: &History) -> Vec<String> {
    let failed = history.records.iter().filter(|record| record.to == State::Failed);
    let names = failed.filter_map(|record| match record.node {
        Node::Member(id) => Some(plan.fleet.members[id].name.clone()),
        _ => None,
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn w7_defects_of_two_releases_are_independent() {
    let (q, n) = (0.3, 4_000);
    let text = families("{probability: 0.3, share: 1, breaks: 1, atOnce: 1}");
    let hit = histories(&text, n, |plan, history, _| {
        let names = names_of_failed(plan, history);
        ["ubuntu", "azure", "windows"].map(|kind| {
            let found = names.iter().filter(|name| name.starts_with(kind)).count();
            assert!(found == 0 || found == 10, "a release that breaks everybody breaks everybody");
            found > 0
        })
    });
    let share = |wanted: &dyn Fn(&[bool; 3]) -> bool, p: f64| {
        let found: Vec<f64> = hit.iter().map(|hit| f64::from(u8::from(wanted(hit)))).collect();
        assert_mean("defective releases", &found, p, p * (1.0 - p));
    };
    share(&|[ubuntu, _, _]| *ubuntu, q);
    share(&|[_, _, windows]| *windows, q);
    share(&|[ubuntu, _, windows]| *ubuntu && *windows, q * q);
    // One version for all Linux families is one release.
    assert!(hit.iter().all(|[ubuntu, azure, _]| ubuntu == azure));
}

#[test]
fn w7_defects_can_be_of_some_members_only() {
    let only = |whom: &str| format!("{{probability: 1, share: 1, breaks: 1, atOnce: 1, {whom}}}");
    let text = families(&only("osType: Windows"));
    let failed = histories(&text, 3, |plan, history, outcome| {
        assert_eq!(outcome.exposure, Exposure::default(), "who fails does not run it");
        names_of_failed(plan, history)
    });
    assert!(failed.iter().all(|names| names.len() == 10 && names[0].starts_with("windows")));
    // Those who cannot be susceptible are not exposed either.
    let late = families("{probability: 1, share: 1, breaks: 1, atOnce: 0, osType: Windows}");
    assert_eq!(outcome(&late).exposure.members, 10);
    // A susceptible member that does not break is: it runs the release.
    let spared = families("{probability: 1, share: 1, breaks: 0, osType: Windows}");
    assert_eq!(outcome(&spared).exposure.members, 10);
}

#[test]
fn w7_the_kind_of_a_kubernetes_release_is_that_of_the_move() {
    let fleet = |from: &str| {
        drawn(
            10,
            10,
            10,
            "{probability: {nodeImage: 0, patch: 0, minor: 1}, share: 1, breaks: 1, atOnce: 1}",
        )
        .replace(
            "upgrade: {type: NodeImageOnly}",
            "upgrade: {type: Full, kubernetesVersion: 1.34.1}",
        )
        .replace("updateGroup: g,", &format!("updateGroup: g, kubernetesVersion: {from},"))
            + "    - {kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-01T00:00:00Z}}\n"
    };
    assert_eq!(outcome(&fleet("1.33.5")).failed, 10, "a newer minor");
    assert_eq!(outcome(&fleet("1.34.0")).failed, 0, "a newer patch");
}

/// Turning defects on changes nothing but what they do: if nobody is broken and nobody looks, the
/// replication is the same.
#[test]
fn x1_defects_leave_all_other_luck_alone() {
    let text = |defects: &str| {
        format!(
            "name: luck\nstart: {START}\nhorizon: 200d\nseed: 3\nfleet:\n  populations:\n    - \
             {{count: 30, name: \"m-{{n:02}}\", region: {{choose: {{westeurope: 0.5, eastus: \
             0.5}}}}, updateGroup: g, pools: [{{name: p}}]}}\nupdate: {{{UPDATE}}}\nstrategies: [{{name: s, stages: \
             [{{name: s, maxAllowedFailures: 3, groups: [{{name: g, maxConcurrency: 4, \
             maxAllowedFailures: 3}}], beforeGates: [{{type: Approval}}]}}]}}]\nworld: {{failures: \
             {{probability: 0.2}}, defects: {defects}}}\n"
        )
    };
    let without = outcomes(&text("none"), 60, 1);
    let with = outcomes(&text("{probability: 1, atOnce: 0, halt: none}"), 60, 1);
    assert!(without.by_strategy[0].iter().all(|outcome| outcome.exposure.members == 0));
    for (without, with) in without.by_strategy[0].iter().zip(&with.by_strategy[0]) {
        assert!(with.updated > 20, "{}", with.updated);
        let plain = Outcome { exposure: Exposure::default(), ..with.clone() };
        assert_eq!(*without, plain);
        assert_eq!(with.exposure.members, with.updated, "whoever is updated runs the release");
    }
}

#[test]
fn x1_the_same_members_are_susceptible_under_every_strategy() {
    let defects = "{probability: 1, breaks: 1, atOnce: 1}";
    let text = |concurrency| drawn(40, concurrency, 40, defects);
    let all = histories(&text(40), 30, |plan, history, _| names_of_failed(plan, history));
    let one = histories(&text(1), 30, |plan, history, _| names_of_failed(plan, history));
    assert_eq!(all, one);
    assert!(all.iter().map(Vec::len).sum::<usize>() > 100);
    // More of them with a larger share, and nobody else.
    let more = text(40).replace("breaks: 1", "breaks: 0.5");
    let fewer = histories(&more, 30, |plan, history, _| names_of_failed(plan, history));
    for (all, fewer) in all.iter().zip(&fewer) {
        assert!(fewer.iter().all(|name| all.contains(name)));
    }
}

/// A member that is tried again and again is one member that is hit.
#[test]
fn w7_a_member_is_hit_once_however_often_it_fails() {
    let defects = "{probability: 1, share: 1, breaks: 1, atOnce: 1, halt: {members: 2, after: 30m}, \
                   fixedAfter: 90m}";
    let restart = "{after: 1h, atMost: 9, restart: retryFailed}";
    let text = |n| {
        let people = format!("people: {{approvers: none, restart: {restart}}}");
        drawn(n, 2, 0, defects).replace("people: none", &people)
    };
    // One member fails ten times and is never fixed; of two, the second hit brings the halt.
    let one = outcome(&text(1));
    assert_eq!((one.end, one.failed, one.restarts), (End::Failed, 1, 9));
    let two = outcome(&text(2));
    // Both fail at 1 h; halted at 1:30, fixed at 3:00. Tried again at 2 h they fail at 3 h, tried
    // again at 4 h they are well.
    assert_eq!((two.end, two.updated, two.restarts), (End::Completed, 2, 2));
    assert_eq!(two.makespan, Some(Span::from_hours(5)));
}

/// The platform halts the release when its twentieth member is hit, not before.
#[test]
fn w7_the_platform_halts_after_the_members_that_are_borne() {
    let defects = |members: u32| {
        format!(
            "{{probability: 1, share: 1, breaks: 1, atOnce: 0, degradesAfter: 1h, noticedAfter: \
             0s, halt: {{members: {members}, after: 30m}}, fixedAfter: 90m}}"
        )
    };
    // One an hour, degraded an hour later: the n-th is hit at n + 1 h, fixed two hours later.
    for members in [1, 4, 20] {
        let found = outcome(&drawn(40, 1, 0, &defects(members)));
        let fixed = i64::from(members) + 3;
        let exposed = u32::try_from(fixed - 1).unwrap();
        let time = (1..fixed).map(|updated| (fixed - updated) * 60).sum();
        assert_eq!(found.exposure, exposure(exposed, time), "{members}");
        assert_eq!(found.end, End::Completed);
    }
}

/// Two members one at a time, updated by a run that a profile makes when the image comes at 09:00.
fn by_profile(people: &str, more: &str) -> String {
    format!(
        "name: profile\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n    - {{name: a, region: \
         westeurope, updateGroup: g, {POOL}}}\n    - {{name: b, region: westeurope, updateGroup: g, \
         {POOL}}}\nstrategies: [{{name: one, stages: [{{name: s, groups: [{{name: g}}]}}]}}]\n\
         autoUpgradeProfiles: [{{name: images, channel: NodeImage, updateStrategyId: one}}]\nworld: \
         {{people: {{{people}}}}}\nscript:\n  updates: {{\"*\": {{takes: 90m}}}}\n  releases:\n    - \
         {{{IMAGE}, regions: {{\"*\": 2026-03-02T09:00:00Z}}}}\n{more}"
    )
}

#[test]
fn w11_watchers_stop_the_run_of_a_profile_too() {
    // a is updated from 1:00 to 2:30 and degrades at 3:00, when b is being updated until 4:00.
    let defect = format!("  defects:\n    - {{{IMAGE}, members: [a], degradesAfter: 30m}}\n");
    let people = format!("{NOBODY}, watchers: {{limit: 0, reaction: 0s}}");
    let found = outcome(&by_profile(&people, &defect));
    let runs = &found.autonomous.as_ref().unwrap().runs;
    assert_eq!((runs.len(), runs[0].state, runs[0].counts.updated), (1, State::Stopped, 2));
    // Both run the release to the horizon: where several runs can go on, a stop ends no exposure.
    let to_horizon = 10 * 24 * 60;
    assert_eq!(found.exposure, exposure(2, to_horizon - 150 + to_horizon - 240));
    // With a fix, somebody starts the run again, and it ends.
    let fixed = defect.replace("30m}", "30m, fixed: 2026-03-03T08:00:00Z}");
    let people = format!("{people}, startAgain: {{after: 1h}}");
    let found = outcome(&by_profile(&people, &fixed));
    let runs = &found.autonomous.as_ref().unwrap().runs;
    assert_eq!(runs[0].state, State::Completed);
    assert_eq!(runs[0].makespan(), Some(Span::from_hours(24)), "from 1 h to 25 h");
    assert_eq!(found.exposure, exposure(2, 24 * 60 - 150 + 24 * 60 - 240));
}

#[test]
fn r_i21_who_leaves_is_skipped_in_a_run_that_exists_and_in_no_later_one() {
    let before = outcome(&by_profile(NOBODY, "  actions: [{at: 30m, leave: b}]\n"));
    let during = outcome(&by_profile(NOBODY, "  actions: [{at: 2h, leave: b}]\n"));
    for (found, skipped) in [(before, 0), (during, 1)] {
        let runs = &found.autonomous.as_ref().unwrap().runs;
        let counts = runs[0].counts;
        assert_eq!((runs[0].state, counts.updated, counts.skipped), (State::Completed, 1, skipped));
    }
}

#[test]
fn w7_defects_are_off_until_named_and_have_their_defaults() {
    let world = |defects: &str| read(&drawn(2, 1, 0, defects)).world;
    assert_eq!(world("none").defects, None);
    assert_eq!(world("{}").defects, world("default").defects);
    let defects = world("default").defects.unwrap();
    assert_eq!((defects.node_image, defects.patch, defects.minor), (0.03, 0.04, 0.05));
    assert_eq!((defects.breaks, defects.at_once), (0.8, 0.5));
    assert_eq!(defects.halt.map(|halt| halt.members), Some(20));
    let one = world("{probability: 0.2, halt: none}").defects.unwrap();
    assert_eq!((one.node_image, one.patch, one.minor, one.halt), (0.2, 0.2, 0.2, None));
    let plain = read(&drawn(2, 1, 0, "none").replace(", defects: none", "")).world;
    assert_eq!((plain.defects, plain.churn, plain.watchers), (None, None, None));
}
