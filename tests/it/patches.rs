//! Security patches: the channel `SecurityPatch`, live patches and reimages (A2).

use fleetsim::scheduler::State;
use fleetsim::sim::Outcome;

use crate::experiments::{START, experiment, outcomes, read, run};
use crate::profiles::play;

const LINUX: &str = "AKSUbuntu-2204gen2containerd";
const WINDOWS: &str = "AKSWindows-2022-containerd";

/// `a` has a Linux and a Windows pool, and `b` an image that contains the first patch. Updates
/// take 90 minutes, live patches 10.
fn scenario(profiles: &str, releases: &str, world: &str) -> String {
    format!(
        "name: patches\nstart: {START}\nhorizon: 20d\nfleet:\n  members:\n    - {{name: a, region: \
         westeurope, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{{name: p, count: 5, \
         nodeImageVersion: {LINUX}-202602.13.0}}, {{name: w, mode: User, count: 7, \
         nodeImageVersion: {WINDOWS}-20348.4648.260112}}]}}\n    - {{name: b, region: eastus, \
         updateGroup: g, kubernetesVersion: 1.33.3, pools: [{{name: p, nodeImageVersion: \
         {LINUX}-202602.25.0}}]}}\nautoUpgradeProfiles: [{profiles}]\nstrategies:\n  - {{name: both, \
         stages: [{{name: s, groups: [{{name: g, maxConcurrency: 2}}]}}]}}\nworld: {{failures: none, \
         livePatches: {{takes: 10m}}, {world}}}\nscript:\n  releases:\n{releases}"
    )
}

const PATCHES: &str = "{name: patches, channel: SecurityPatch, updateStrategyId: both}";
const IMAGES: &str = "{name: images, channel: NodeImage, updateStrategyId: both}";
const CLUSTER: &str = "durations: {update: 90m}";
const NODES: &str = "durations: {model: nodes, controlPlane: 8m, createSurge: 4m, drain: 2m, \
                     reimage: 312s, removeSurge: 2m}, disruptionBudgets: none, quota: none";

fn patch(day: &str, at: &str, more: &str) -> String {
    format!("    - {{securityPatch: {day}, regions: {{\"*\": {at}}}{more}}}\n")
}

fn live_patched(outcome: &Outcome) -> u32 {
    outcome.autonomous.as_ref().unwrap().live_patched_nodes
}

const FIRST: &str = "2026-03-02T09:00:00Z";

#[test]
fn a2_a_live_patch_takes_linux_pools_alone_and_reimages_nothing() {
    for world in [CLUSTER, NODES] {
        let text = scenario(PATCHES, &patch("2026.02.25", FIRST, ", reimage: false"), world);
        let found = play(&text);
        let expected = [
            "1h patches-2026.02.25 memberStarted a",
            "1h patches-2026.02.25 memberSkipped b (AlreadyAtTarget)",
            "1h10m patches-2026.02.25 memberCompleted a",
        ];
        assert_eq!(found.of(&["member"]), expected, "an image of its day contains a patch");
        assert_eq!(live_patched(&found.outcome), 5, "nodes of the Linux pool");
        assert_eq!(found.outcome.costs.reimaged_nodes, 0);
        assert_eq!(found.images[0], "202602.13.0", "the image stays");
    }
}

#[test]
fn a2_a_patch_that_needs_it_is_a_reimage_of_linux_pools() {
    let text = |world| scenario(PATCHES, &patch("2026.02.25", FIRST, ", reimage: true"), world);
    let found = play(&text(CLUSTER));
    assert_eq!(found.of(&["memberCompleted"]), ["2h30m patches-2026.02.25 memberCompleted a"]);
    assert_eq!(live_patched(&found.outcome), 0);
    // Five nodes, one at a time, with a surge: 4 + 5 * 7.2 + 2 minutes.
    let found = play(&text(NODES));
    assert_eq!(found.of(&["memberCompleted"]), ["1h42m patches-2026.02.25 memberCompleted a"]);
    assert_eq!(found.outcome.costs.reimaged_nodes, 5);
    // Where nothing is live-patched, so is every patch.
    let none = text(CLUSTER).replace("livePatches: {takes: 10m}", "livePatches: none");
    let none = play(&none.replace(", reimage: true", ", reimage: false"));
    assert_eq!(none.of(&["memberCompleted"]), ["2h30m patches-2026.02.25 memberCompleted a"]);
}

#[test]
fn a2_patches_and_images_contain_what_is_older() {
    let image = format!(
        "    - {{nodeImage: {LINUX}-202602.20.0, regions: {{\"*\": 2026-03-04T09:00:00Z}}}}\n    - \
         {{nodeImage: {LINUX}-202603.10.0, regions: {{\"*\": 2026-03-12T09:00:00Z}}}}\n"
    );
    let releases = patch("2026.02.25", FIRST, ", reimage: false")
        + &patch("2026.03.01", "2026-03-08T09:00:00Z", ", reimage: false")
        + &patch("2026.03.09", "2026-03-14T09:00:00Z", ", reimage: false")
        + &image;
    let found = play(&scenario(&format!("{PATCHES}, {IMAGES}"), &releases, CLUSTER));
    // A newer image goes in though a newer patch is there already, and keeps it: the next patch is
    // the next thing to do. The last image contains the last patch.
    let expected = [
        "1h patches-2026.02.25 memberStarted a",
        "2d1h images-202602.20.0 memberStarted a",
        "6d1h patches-2026.03.01 memberStarted a",
        "6d1h patches-2026.03.01 memberStarted b",
        "10d1h images-202603.10.0 memberStarted a",
        "10d1h images-202603.10.0 memberStarted b",
    ];
    assert_eq!(found.of(&["memberStarted"]), expected);
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    let last = runs.last().unwrap();
    assert_eq!((last.name.as_str(), last.state), ("patches-2026.03.09", State::Skipped));
    assert_eq!(live_patched(&found.outcome), 5 + 5 + 3);
}

#[test]
fn t1_a_member_waits_for_a_patch_that_is_not_in_its_region() {
    let release = "    - {securityPatch: 2026.02.25, reimage: false, regions: {eastus: \
                   2026-03-02T09:00:00Z, westeurope: 2026-03-03T09:00:00Z}}\n";
    let found = play(&scenario(PATCHES, release, CLUSTER));
    let expected = [
        "1h patches-2026.02.25 memberPending a (NodeImageVersionNotAvailable)",
        "1h patches-2026.02.25 memberSkipped b (AlreadyAtTarget)",
        "1d1h patches-2026.02.25 memberStarted a",
        "1d1h10m patches-2026.02.25 memberCompleted a",
    ];
    assert_eq!(found.of(&["member"]), expected);
    // a is behind for the ten minutes of its update: those members' time is forty days.
    let behind = found.outcome.autonomous.as_ref().unwrap().behind[0][0];
    let mean = 600.0 * 600.0 / 2.0 / (40.0 * 86_400.0);
    assert!((behind.mean_seconds() - mean).abs() < 1e-9);
}

/// The share of patches that need a reimage is that of one draw a patch: 99.9 %.
#[test]
fn a2_the_share_of_patches_that_need_a_reimage() {
    let release = patch("2026.02.25", FIRST, "");
    let text =
        scenario(PATCHES, &release, CLUSTER).replace("takes: 10m", "takes: 10m, reimage: 0.3");
    let scenario = read(&text);
    let outcomes = run(&experiment(&scenario), 4_000, 2);
    let live = outcomes.by_strategy[0].iter().filter(|outcome| live_patched(outcome) > 0).count();
    let share = f64::from(u32::try_from(live).unwrap()) / 4_000.0;
    assert!((share - 0.7).abs() < 3.29 * (0.7_f64 * 0.3 / 4_000.0).sqrt(), "{share}");
}

/// Without a script, patches come on a train of their own, and nothing else changes (X1).
#[test]
fn x1_following_patches_changes_no_other_draw() {
    let text = |profiles: &str| {
        format!(
            "name: year\nstart: {START}\nhorizon: 90d\nfleet:\n  populations:\n    - {{count: 6, name: \
             \"m{{n}}\", region: westeurope, kubernetesVersion: 1.33.3}}\nupdate: \
             {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\nautoUpgradeProfiles: \
             [{profiles}]\nstrategies: [{{name: one-by-one}}]\n"
        )
    };
    let stable = "{name: stable, channel: Stable}";
    let without = outcomes(&text(stable), 10, 2);
    let with =
        outcomes(&text(&format!("{stable}, {{name: patches, channel: SecurityPatch}}")), 10, 2);
    for (with, without) in with.by_strategy[0].iter().zip(&without.by_strategy[0]) {
        let (with, without) =
            (with.autonomous.as_ref().unwrap(), without.autonomous.as_ref().unwrap());
        let made = |runs: &[fleetsim::sim::ProfileRun]| -> Vec<_> {
            let stable = runs.iter().filter(|run| run.profile == 0);
            stable.map(|run| (run.name.clone(), run.made)).collect()
        };
        assert_eq!(made(&with.runs), made(&without.runs));
        let patches = with.runs.iter().filter(|run| run.profile == 1).count();
        assert!((3..20).contains(&patches), "{patches} in 90 days, at a mean gap of 11.7");
    }
}
