//! Independent failures by label, region, operating system and type of update (W6).

use fleetsim::scheduler::{Node, State};

use crate::experiments::{POOL, RELEASED, histories};

const WINDOWS: &str = "pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}, \
                       {name: w, nodeImageVersion: AKSWindows-2022-containerd-20348.4648.260112}]";

/// Ten members of each of four kinds, all updated at once; failures as given.
fn scenario(update: &str, failures: &str) -> String {
    let population = |name: &str, region: &str, more: &str| {
        format!(
            "    - {{count: 10, name: \"{name}-{{n:02}}\", region: {region}, updateGroup: g, \
             kubernetesVersion: 1.33.3, {more}}}\n"
        )
    };
    format!(
        "name: failures\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\nseed: 11\nfleet:\n  \
         populations:\n{}{}{}{}update: {{managedClusterUpdate: {{upgrade: {update}}}}}\n\
         strategies: [{{name: all, stages: [{{name: s, maxAllowedFailures: 99, groups: [{{name: g, \
         maxConcurrency: 50, maxAllowedFailures: 99}}]}}]}}]\nworld: {{people: none, failures: \
         {failures}}}\nscript: {RELEASED}    - {{kubernetesVersion: 1.34.1, regions: {{\"*\": \
         2026-03-01T00:00:00Z}}}}\n",
        population("plain", "westeurope", POOL),
        population("east", "eastus", POOL),
        population("canary", "westeurope", &format!("labels: {{env: canary}}, {POOL}")),
        population("windows", "westeurope", WINDOWS),
    )
}

/// Who failed in each replication, by the first part of its name.
fn failed(update: &str, failures: &str) -> Vec<Vec<String>> {
    histories(&scenario(update, failures), 20, |plan, history, _| {
        let failed = history.records.iter().filter(|record| record.to == State::Failed);
        let names = failed.filter_map(|record| match record.node {
            Node::Member(id) => Some(plan.fleet.members[id].name.clone()),
            _ => None,
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    })
}

/// That exactly the members of these kinds fail, every one and every time.
#[track_caller]
fn assert_fail(update: &str, failures: &str, kinds: &[&str]) {
    let mut wanted: Vec<String> =
        kinds.iter().flat_map(|kind| (1..=10).map(move |n| format!("{kind}-{n:02}"))).collect();
    wanted.sort();
    for found in failed(update, failures) {
        assert_eq!(found, wanted, "{failures}");
    }
}

const IMAGES: &str = "{type: NodeImageOnly}";
const MINOR: &str = "{type: Full, kubernetesVersion: 1.34.1}";

#[test]
fn w6_failures_go_by_label_region_and_system() {
    let only = |whom: &str| format!("{{probability: 0, where: [{{{whom}, probability: 1}}]}}");
    assert_fail(IMAGES, &only("byLabel: env=canary"), &["canary"]);
    assert_fail(IMAGES, &only("region: eastus"), &["east"]);
    assert_fail(IMAGES, &only("osType: Windows"), &["windows"]);
    assert_fail(IMAGES, &only("osType: Linux, region: [eastus]"), &["east"]);
    assert_fail(IMAGES, &only("byLabel: \"env!=canary\", osType: Windows"), &["windows"]);
}

#[test]
fn w6_the_first_rule_that_fits_is_the_members() {
    let rules = "{probability: 1, where: [{byLabel: env=canary, probability: 0}, \
                 {region: westeurope, probability: 1}, {osType: Windows, probability: 0}, \
                 {region: eastus, probability: 0}]}";
    assert_fail(IMAGES, rules, &["plain", "windows"]);
}

#[test]
fn w6_failures_go_by_the_type_of_the_update() {
    let rules = "{probability: 0, where: [{upgrade: Full, osType: Windows, probability: 1}]}";
    assert_fail(MINOR, rules, &["windows"]);
    assert_fail(IMAGES, rules, &[]);
    let minor = "{probability: 0, minorProbability: 1}";
    assert_fail(MINOR, minor, &["canary", "east", "plain", "windows"]);
    assert_fail(IMAGES, minor, &[]);
    let patch = "{type: Full, kubernetesVersion: 1.33.5}";
    assert_fail(patch, minor, &[]);
}

/// Each member's number stays where it is: raising the odds of some changes nobody else.
#[test]
fn x1_other_odds_for_some_leave_the_others_luck_alone() {
    let alike = failed(IMAGES, "{probability: 0.3}");
    let rule = "{probability: 0.3, where: [{region: eastus, probability: 0.6}]}";
    let more = failed(IMAGES, rule);
    let others = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| !name.starts_with("east")).cloned().collect()
    };
    let mut added = 0;
    for (alike, more) in alike.iter().zip(&more) {
        assert_eq!(others(alike), others(more));
        assert!(alike.iter().all(|name| more.contains(name)), "who failed still fails");
        added += more.len() - alike.len();
    }
    // 200 members of East US, of whom 30 % more fail: 60, with a standard deviation of 6.5.
    assert!((39..=81).contains(&added), "{added}");
}
