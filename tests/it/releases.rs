//! Releases in whole simulations: Kubernetes versions that arrive, versions that are withdrawn or
//! late, and the replay of what is on record.

use fleetsim::experiment::{Experiment, History};
use fleetsim::ids::RegionId;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{Node, Reason, Released, State};
use fleetsim::sim::releases::{Arrivals, Release, Releases, Turn, Wants};
use fleetsim::sim::{DelayCause, Moves, Outcome, Simulation};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{histories, read};
use crate::lints::{is_quiet, warns};

const LINUX: &str = "AKSUbuntu-2204gen2containerd";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// One replication of the first strategy, its invariants checked after every step.
fn simulate(scenario: &Scenario) -> (Outcome, History) {
    let experiment = Experiment::new(scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let mut outcome = simulation.run(0, experiment.end(), &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    (outcome, history)
}

/// When members reached states, and why: `m1 Pending NodeImageVersionNotAvailable 1d`.
fn members(scenario: &Scenario, history: &History) -> Vec<String> {
    let of_member = |record: &fleetsim::scheduler::Record| {
        let Node::Member(id) = record.node else { return None };
        let name = &scenario.fleet.members[id].name;
        let reason = record.reason.map_or("", |reason| reason.text(&[]));
        let after = record.time - scenario.start;
        Some(format!("{name} {} {reason} {after}", record.to).replace("  ", " "))
    };
    history.records.iter().filter_map(of_member).collect()
}

/// A fleet of one member after another, each updated for an hour, under these releases.
fn scripted(selection: &str, releases: &str) -> Scenario {
    read(&format!(
        "
name: withdrawn
start: 2026-03-02T00:00:00Z
horizon: 4d
fleet:
  members:
    - {{name: m1, region: westeurope, pools: [{{name: p, nodeImageVersion: {LINUX}-202602.01.0}}]}}
    - {{name: m2, region: westeurope, pools: [{{name: p, nodeImageVersion: {LINUX}-202602.01.0}}]}}
    - {{name: m3, region: westeurope, pools: [{{name: p, nodeImageVersion: {LINUX}-202602.01.0}}]}}
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}, nodeImageSelection: {selection}}}}}
strategies: [{{name: one-by-one}}]
script:
  updates: {{'*': {{takes: 1h}}}}
  releases:
{releases}
"
    ))
}

#[test]
fn w1_a_withdrawn_image_is_no_more_the_newest() {
    let releases = format!(
        "    - {{nodeImage: {LINUX}-202602.10.0, regions: {{'*': 2026-03-01}}}}
    - {{nodeImage: {LINUX}-202602.20.0, regions: {{'*': 2026-03-01}}, withdrawn: 2026-03-02T00:30:00Z}}
    - {{nodeImage: {LINUX}-202602.28.0, regions: {{'*': 2026-03-02T01:30:00Z}}}}
"
    );
    let scenario = scripted("{type: Latest}", &releases);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    simulation.run(0, experiment.end(), &mut History::default());
    // The first starts before the withdrawal and keeps its plan (R-I6), the second gets the newest
    // that is left, the third the one that came since.
    let versions: Vec<String> = scenario
        .fleet
        .members
        .ids()
        .flat_map(|id| simulation.scheduler().images(id))
        .map(|image| image.version.to_string())
        .collect();
    assert_eq!(versions, ["202602.20.0", "202602.10.0", "202602.28.0"]);
}

#[test]
fn w1_a_target_that_is_withdrawn_is_not_there_any_more() {
    let custom =
        format!("{{type: Custom, customNodeImageVersions: [{{version: {LINUX}-202602.20.0}}]}}");
    let releases = format!(
        "    - {{nodeImage: {LINUX}-202602.20.0, regions: {{'*': 2026-03-01}}, withdrawn: 2026-03-02T00:30:00Z}}\n"
    );
    let scenario = scripted(&custom, &releases);
    let (outcome, history) = simulate(&scenario);
    assert_eq!(
        members(&scenario, &history),
        [
            "m1 Running 0s",
            "m1 Completed 1h",
            "m2 Pending NodeImageVersionNotAvailable 1h",
            "m3 Pending NodeImageVersionNotAvailable 1h",
        ]
    );
    assert_eq!((outcome.updated, outcome.pending), (1, 2));
    // From the withdrawal on it is the image that the others wait for, before any slot.
    assert_eq!(outcome.delays.of(DelayCause::Image), Span::from_mins(4 * 24 * 60 - 30));
    // What is withdrawn before the start was never there.
    let before =
        releases.replace("withdrawn: 2026-03-02T00:30:00Z", "withdrawn: 2026-03-01T12:00:00Z");
    let (outcome, _) = simulate(&scripted(&custom, &before));
    assert_eq!((outcome.updated, outcome.pending), (0, 3));
}

#[test]
fn w1_consistent_does_not_choose_what_was_withdrawn() {
    let releases = format!(
        "    - {{nodeImage: {LINUX}-202602.10.0, regions: {{'*': 2026-02-20}}}}
    - {{nodeImage: {LINUX}-202602.20.0, regions: {{'*': 2026-03-01}}, withdrawn: 2026-03-01T12:00:00Z}}
"
    );
    let scenario = scripted("{type: Consistent}", &releases);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    simulation.run(0, experiment.end(), &mut History::default());
    let chosen: Vec<String> =
        simulation.scheduler().target_images().map(|image| image.version.to_string()).collect();
    assert_eq!(chosen, ["202602.10.0"]);
}

/// All releases of a scenario's first replications.
fn drawn(scenario: &Scenario, wants: Wants, replications: u32) -> Vec<Arrivals> {
    let releases = Releases::new(scenario.setting(), wants);
    let luck = fleetsim::sim::draw::Luck::new(scenario.seed);
    let draw = |replication| {
        let mut arrivals = Arrivals::default();
        releases.draw(&luck, replication, &mut arrivals);
        releases.fixed().cloned().unwrap_or(arrivals)
    };
    (0..replications).map(draw).collect()
}

fn world(releases: &str, upgrade: &str) -> Scenario {
    read(&format!(
        "
name: world
start: 2026-07-20T00:00:00Z
horizon: 24d
fleet:
  members:
    - {{name: first, region: westcentralus, kubernetesVersion: 1.34.8, pools: [{{name: p}}]}}
    - {{name: last, region: westeurope, kubernetesVersion: 1.34.8, pools: [{{name: p}}]}}
update: {{managedClusterUpdate: {{upgrade: {upgrade}}}}}
strategies: [{{name: one-by-one}}]
world: {{releases: {releases}, failures: none, durations: {{update: 1h}}, people: none}}
"
    ))
}

const IMAGES: &str = "{type: NodeImageOnly}";

#[test]
fn w1_a_rollout_is_late_by_what_is_drawn_and_everything_else_stays() {
    let of = |releases: &str| drawn(&world(releases, IMAGES), Wants::default(), 20);
    let on_time = of("{model: train}");
    for (late, on_time) in of("{delayed: {probability: 1, for: 5d}}").iter().zip(&on_time) {
        // The same versions, all of them published five days later.
        assert_eq!(late.releases.len(), on_time.releases.len());
        for (late, on_time) in late.releases.iter().zip(&on_time.releases) {
            assert_eq!(late.what, on_time.what);
            assert_eq!(late.published - on_time.published, Span::from_days(5));
        }
    }
    let never = of("{delayed: {probability: 0, for: 5d}, withdrawn: {probability: 0, after: 1d}}");
    for (never, on_time) in never.iter().zip(&on_time) {
        assert_eq!((&never.releases, &never.arrivals), (&on_time.releases, &on_time.arrivals));
    }
}

#[test]
fn w1_as_many_versions_are_late_withdrawn_or_abandoned_as_the_scenario_says() {
    let releases = "{abandoned: 0.5, delayed: {probability: 0.3, for: 1h}, \
                    withdrawn: {probability: 0.1, after: 2d}}";
    let (mut all, mut late, mut withdrawn, mut west, mut reached) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let plain = drawn(&world("{model: train}", IMAGES), Wants::default(), 100);
    let drawn = drawn(&world(releases, IMAGES), Wants::default(), 100);
    for (arrivals, plain) in drawn.iter().zip(&plain) {
        for (number, (release, plain)) in (0..).zip(arrivals.releases.iter().zip(&plain.releases)) {
            all += 1.0;
            late += f64::from(u8::from(release.published > plain.published));
            let is_withdrawn = release.withdrawn < Timestamp::MAX;
            withdrawn += f64::from(u8::from(is_withdrawn));
            if is_withdrawn {
                assert_eq!(release.withdrawn - release.published, Span::from_days(2));
                assert_eq!(arrivals.reached(number, fleetsim::ids::RegionId(1)), None);
            } else if release.published < at("2026-07-15") {
                west += 1.0;
                let there = arrivals.reached(number, fleetsim::ids::RegionId(1)).is_some();
                reached += f64::from(u8::from(there));
            }
        }
    }
    // 99.9 % of a share.
    let close = |found: f64, expected: f64, of: f64| {
        let sd = (expected * (1.0 - expected) / of).sqrt();
        assert!((found / of - expected).abs() < 3.29 * sd, "{found} of {of}, not {expected}");
    };
    close(late, 0.3, all);
    close(withdrawn, 0.1, all);
    close(reached, 0.5, west);
}

#[test]
fn a2_news_come_in_the_order_of_time_and_patches_of_their_own_line() {
    let wants = Wants { kubernetes: true, security_patches: true, news: true };
    let all = drawn(&world("{model: train}", IMAGES), wants, 10);
    let few = drawn(&world("{model: train}", IMAGES), Wants::default(), 10);
    for (arrivals, few) in all.iter().zip(&few) {
        assert!(arrivals.news.is_sorted() && few.news.is_empty());
        // Whoever follows more changes nothing for the others (X1).
        let images = |arrivals: &Arrivals| -> Vec<_> {
            let images = arrivals.releases.iter().filter(|release| release.image().is_some());
            images.copied().collect()
        };
        assert_eq!(images(arrivals), few.releases);
        let patches: Vec<(u32, &Release)> = (0..)
            .zip(&arrivals.releases)
            .filter(|(_, release)| matches!(release.what, Released::SecurityPatch(_)))
            .collect();
        assert!(arrivals.releases.is_sorted_by(|a, b| a.what < b.what));
        // About 204 days at a mean gap of 11.7 days.
        assert!((10..30).contains(&patches.len()));
        for (number, patch) in patches {
            let reached = |region| arrivals.reached(number, RegionId(region));
            let first = (0..2).filter_map(reached).min();
            let in_time = patch.published <= at("2026-08-13");
            assert_eq!(first, in_time.then_some(patch.published), "West Central US is in order 1");
        }
        for release in &arrivals.releases {
            let published = arrivals.news.iter().filter(|news| {
                news.what == Turn::Published
                    && arrivals.releases[news.release as usize].what == release.what
            });
            let instants: Vec<Timestamp> = published.map(|news| news.at).collect();
            let end = at("2026-08-13");
            let expected: Vec<_> =
                Some(release.published).filter(|at| *at <= end).into_iter().collect();
            assert_eq!(instants, expected);
        }
        // 1.36 was general before the start; nothing of 1.37 is before October.
        assert!(
            arrivals
                .news
                .iter()
                .all(|news| news.what != Turn::General || news.at < at("2026-08-13"))
        );
    }
}

// ---------------------------------------------------------------------- Kubernetes

const FULL: &str = "{type: ControlPlaneOnly, kubernetesVersion: 1.34.9}";

#[test]
fn w2_members_wait_for_a_kubernetes_version_that_has_not_reached_their_region() {
    let text = "
name: patch
start: 2026-07-20T00:00:00Z
horizon: 60d
fleet:
  members:
    - {name: last, region: westeurope, kubernetesVersion: 1.34.8, pools: []}
update: {managedClusterUpdate: {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.34.9}}}
strategies: [{name: one-by-one}]
world: {failures: none, durations: {update: 1h}, people: none}
";
    let scenario = read(text);
    let arrivals = drawn(&scenario, Wants::default(), 20);
    let mut number = 0;
    histories(text, 20, |_, history, outcome| {
        // Named on 07-17: 25 to 36 days later it is there, by the record of other releases.
        let release =
            arrivals[number].find(Released::Kubernetes("1.34.9".parse().unwrap())).unwrap();
        let there = arrivals[number].reached(release, fleetsim::ids::RegionId(0)).unwrap();
        number += 1;
        let first = history.records.iter().find(|record| matches!(record.node, Node::Member(_)));
        assert_eq!(first.unwrap().reason, Some(Reason::KubernetesVersionNotAvailable));
        let started = history
            .records
            .iter()
            .find(|record| matches!(record.node, Node::Member(_)) && record.to == State::Running);
        // It is noticed at the next poll, at most an hour later.
        let started = started.unwrap().time;
        assert!(there <= started && started < there + Span::HOUR, "{there} {started}");
        assert_eq!(outcome.delays.of(DelayCause::Version), there - scenario.start);
        assert_eq!(outcome.delays.of(DelayCause::Poll), started - there);
        assert_eq!(outcome.delays.of(DelayCause::Updating), Span::HOUR);
    });
    assert_eq!(number, 20);
}

#[test]
fn u7_the_support_of_a_planned_minor_ends_as_late_as_it_came() {
    // 1.37 is planned for October 2026; support ends twelve months later, so at the earliest on
    // 2027-11-01, and a month or two later where it slips.
    let text = "
name: support
start: 2027-10-25T00:00:00Z
horizon: 80d
fleet:
  members:
    - {name: m, region: westeurope, kubernetesVersion: 1.36.3, pools: [], maintenance:
        {aksManagedAutoUpgradeSchedule: {schedule: {daily: {intervalDays: 1}}, durationHours: 4, startTime: '00:00', startDate: FROM}}}
update: {managedClusterUpdate: {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.37.1}}}
strategies: [{name: one-by-one}]
world: {failures: none, durations: {update: 1h}, people: none}
";
    let failed = |from: &str| {
        let text = text.replace("FROM", from);
        let all = histories(&text, 300, |_, history, _| {
            let fails = |record: &fleetsim::scheduler::Record| {
                record.reason == Some(Reason::LongTermSupportRequired)
            };
            u32::from(history.records.iter().any(fails))
        });
        f64::from(all.iter().sum::<u32>()) / 300.0
    };
    assert!(failed("2027-10-25") < 1e-9);
    // 99.9 % of shares of 300: 46 % have not slipped, 79 % by a month at most.
    assert!((failed("2027-11-02") - 0.46).abs() < 0.095);
    assert!((failed("2027-12-02") - 0.79).abs() < 0.078);
    assert!(failed("2028-01-02") > 1.0 - 1e-9);
}

#[test]
fn a_version_that_never_comes_is_warned_of_with_one_that_does() {
    let of = |version: &str, days: u32| {
        format!(
            "
name: t
start: 2026-07-20T00:00:00Z
horizon: {days}d
fleet: {{members: [{{name: m, region: westeurope, updateGroup: g, kubernetesVersion: 1.34.8, pools: []}}]}}
update: {{managedClusterUpdate: {{upgrade: {{type: ControlPlaneOnly, kubernetesVersion: {version}}}}}}}
strategies: [{{name: s, stages: [{{name: s, groups: [{{name: g}}]}}]}}]
"
        )
    };
    warns("kubernetes-never-arrives", &of("1.34.40", 60));
    warns("kubernetes-arrives-late", &of("1.34.9", 28));
    is_quiet(&of("1.34.9", 60));
    let scripted = "script: {updates: {'*': {takes: 1h}}, releases: [{kubernetesVersion: 1.34.40, regions: {'*': 2026-07-21}}]}\n";
    is_quiet(&format!("{}{scripted}", of("1.34.40", 60)));
}

// ---------------------------------------------------------------------- history

#[test]
fn w2_a_replay_draws_nothing_and_brings_images_as_recorded() {
    let scenario = world("{model: history}", IMAGES);
    let [first, second] = &drawn(&scenario, Wants::default(), 2)[..] else { panic!() };
    assert_eq!(first.arrivals, second.arrivals);
    assert_eq!(first.releases.len(), 10);
    let family = scenario.fleet.members.iter().next().unwrap().pools[0].image.family();
    let newest = |name: &str, instant: &str, behind| {
        let region = scenario.fleet.regions.iter().position(|region| region == name).unwrap();
        let region = fleetsim::ids::RegionId(u32::try_from(region).unwrap());
        first.newest_at(family, region, at(instant), behind).unwrap().to_string()
    };
    assert_eq!(newest("westcentralus", "2026-07-28T13:04:38Z", 0), "202607.09.0");
    assert_eq!(newest("westcentralus", "2026-07-28T13:04:39Z", 0), "202607.20.0");
    assert_eq!(newest("westeurope", "2026-08-10T17:04:03Z", 0), "202607.20.0");
    assert_eq!(newest("westeurope", "2026-08-10T17:04:04Z", 0), "202607.29.0");
    // Behind: what a region had before its record begins counts too.
    assert_eq!(newest("westeurope", "2026-07-22T14:17:39Z", 0), "202607.02.0");
    assert_eq!(newest("westeurope", "2026-07-22T14:17:38Z", 0), "202606.19.0");
    assert_eq!(newest("westeurope", "2026-07-22T14:17:38Z", 1), "202606.08.1");
    assert_eq!(newest("westcentralus", "2026-07-20T00:00:00Z", 1), "202607.02.0");
    // Everybody is one behind and updates to what is there when it starts.
    let (outcome, history) = simulate(&scenario);
    assert_eq!(outcome.updated, 2);
    assert_eq!(members(&scenario, &history)[0], "first Running 0s");
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    assert!(experiment.world.is_deterministic());
}

#[test]
fn w2_a_region_that_a_version_passed_by_never_gets_it() {
    // West US 3 went from 202606.19.0 to 202607.09.0; North Europe had 202607.02.0 between.
    let text = "
name: passed
start: 2026-07-01T00:00:00Z
horizon: 40d
fleet:
  members:
    - {name: a, region: westus3, pools: [{name: p}]}
    - {name: b, region: northeurope, pools: [{name: p}]}
update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}, nodeImageSelection: {type: Custom,
  customNodeImageVersions: [{version: AKSUbuntu-2204gen2containerd-202607.02.0}]}}}
strategies: [{name: s, stages: [{name: s, memberSelector: {byLabel: ''}}]}]
world: {releases: {model: history, history: 2026-06..2026-08}, failures: none, durations: {update: 1h}, people: none}
";
    let scenario = read(text);
    let (outcome, history) = simulate(&scenario);
    let all = members(&scenario, &history);
    assert_eq!((outcome.updated, outcome.pending), (1, 1), "{all:?}");
    // Recorded in North Europe at 2026-07-22T06:48:40Z; noticed at the next full hour.
    assert!(all.contains(&"b Running 21d7h".to_owned()), "{all:?}");
    assert!(all.iter().all(|line| !line.starts_with("a Running")), "{all:?}");
}

#[test]
fn w2_kubernetes_versions_are_replayed_with_the_aks_releases_that_brought_them() {
    // v20240428 named 1.29.4; West Europe had it on record.
    let text = "
name: replay
start: 2024-04-29T00:00:00Z
horizon: 25d
fleet: {members: [{name: m, region: westeurope, kubernetesVersion: 1.29.2, pools: []}]}
update: {managedClusterUpdate: {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.29.4}}, pollInterval: 0}
strategies: [{name: one-by-one}]
world: {releases: {model: history, history: 2024-04..2024-05}, failures: none, durations: {update: 1h}, people: none}
";
    let recorded = include_str!("../../data/aks-release-history.csv");
    let mut lines = recorded.lines().filter(|line| !line.starts_with('#'));
    let column = lines.next().unwrap().split(',').position(|name| name == "2024-04-28").unwrap();
    let row = lines.find(|line| line.starts_with("westeurope,")).unwrap();
    let there = at(row.split(',').nth(column).unwrap());
    let scenario = read(text);
    let (outcome, _) = simulate(&scenario);
    assert_eq!(outcome.delays.of(DelayCause::Version), there - scenario.start);
    assert_eq!(outcome.makespan, Some(there - scenario.start + Span::HOUR));
}

#[test]
fn w2_a_replay_beyond_its_record_is_warned_of() {
    let of = |start: &str, days: u32, history: &str, pool: &str| {
        format!(
            "
name: t
start: {start}T00:00:00Z
horizon: {days}d
fleet: {{members: [{{name: m, region: westeurope, updateGroup: g, pools: [{pool}]}}]}}
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}
strategies: [{{name: s, stages: [{{name: s, groups: [{{name: g}}]}}]}}]
world: {{releases: {{model: history, history: {history}}}}}
"
        )
    };
    let (linux, windows) = ("{name: p}", "{name: p, osType: Windows}");
    is_quiet(&of("2026-07-20", 23, "2026-06..2026-08", linux));
    warns("history-ends", &of("2026-07-20", 40, "2026-06..2026-08", linux));
    warns("history-without-images", &of("2023-07-20", 20, "2023-04..2024-05", linux));
    let found = crate::lints::lint(&of("2026-07-20", 23, "2026-06..2026-08", windows));
    assert_eq!(found[0].code, "history-without-images");
}

#[test]
fn w2_the_update_of_a_version_on_record_is_left_to_the_models_elsewhere() {
    let scenario = world("{model: train}", FULL);
    assert!(Releases::new(scenario.setting(), Wants::default()).fixed().is_none());
    let scenario = world("none", FULL);
    let (outcome, _) = simulate(&scenario);
    assert_eq!(outcome.delays.of(DelayCause::Version), Span::ZERO, "off: it is everywhere");
    assert_eq!(outcome.updated, 2);
}
