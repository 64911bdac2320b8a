//! Members whose own auto-upgrade is left on (U10): whoever comes first does the work.

use crate::profiles::{Played, play};

/// One member in western Europe with its own channels, an update that begins at once; an image and
/// two Kubernetes versions come within the first days. Updates take 90 minutes, own upgrades 40.
fn scenario(member: &str, more: &str) -> String {
    format!(
        "
name: own
start: 2026-03-02T08:00:00Z
horizon: 10d
fleet:
  members:
    - name: a
      region: westeurope
      updateGroup: g
      kubernetesVersion: 1.33.3
      pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}}]
      {member}
world: {{durations: {{update: 40m}}, ownUpgrades: {{delay: 2h}}}}
script:
  updates: {{\"*\": {{takes: 90m}}}}
  releases:
    - {{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{westeurope: 2026-03-02T10:00:00Z}}}}
    - {{kubernetesVersion: 1.33.4, regions: {{\"*\": 2026-03-02T08:00:00Z}}}}
    - {{kubernetesVersion: 1.35.0, regions: {{westeurope: 2026-03-04T08:00:00Z}}}}
    - {{kubernetesVersion: 1.34.2, regions: {{westeurope: 2026-03-04T08:00:00Z}}}}
strategies:
  - {{name: both, stages: [{{name: s, groups: [{{name: g, maxConcurrency: 2}}]}}]}}
{more}
"
    )
}

const IMAGES: &str =
    "autoUpgradeProfiles: [{name: images, channel: NodeImage, updateStrategyId: both}]";
const WINDOW: &str = "maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {daily: {intervalDays: 1}}, durationHours: 4, startTime: \"12:30\", utcOffset: \"+00:00\"}}";

fn own_upgrades(played: &Played) -> u32 {
    played.outcome.autonomous.as_ref().unwrap().own_upgrades
}

fn channel(kubernetes: &str, node_os: &str) -> String {
    format!("autoUpgradeProfile: {{upgradeChannel: {kubernetes}, nodeOSUpgradeChannel: {node_os}}}")
}

#[test]
fn u10_the_run_comes_first_and_the_member_finds_the_work_done() {
    let played = play(&scenario(&channel("none", "NodeImage"), IMAGES));
    // The image arrives at 2h and the run starts at once; the member's own delay ends at 4h.
    assert_eq!(
        played.of(&["member"]),
        ["2h images-202603.02.0 memberStarted a", "3h30m images-202603.02.0 memberCompleted a"]
    );
    assert_eq!((own_upgrades(&played), &*played.images[0]), (0, "202603.02.0"));
}

/// The run of the images waits behind a gate that is approved at this time.
fn gated(at: &str) -> String {
    let groups = "groups: [{name: g, maxConcurrency: 2}]";
    let approval = format!("{{at: {at}, run: images-202603.02.0, approve: \"stage:s/before\"}}");
    scenario(&channel("none", "NodeImage"), IMAGES)
        .replace(groups, &format!("{groups}, beforeGates: [{{type: Approval}}]"))
        .replace("script:\n", &format!("script:\n  actions: [{approval}]\n"))
}

#[test]
fn u10_the_member_comes_first_and_the_run_finds_it_at_the_target() {
    // The run waits for its gate until 6h; the member has upgraded itself from 4h to 4h40m.
    let played = play(&gated("6h"));
    assert_eq!(played.of(&["member"]), ["6h images-202603.02.0 memberSkipped a (AlreadyAtTarget)"]);
    assert_eq!((own_upgrades(&played), &*played.images[0]), (1, "202603.02.0"));
    let behind = &played.outcome.autonomous.as_ref().unwrap().behind[0][0];
    assert_eq!(behind.worst.to_string(), "2h40m", "from the arrival to the end of its upgrade");
}

#[test]
fn u10_a_run_that_meets_the_member_at_work_waits_for_it() {
    let played = play(&gated("4h10m"));
    // The run was started at 2h, so it polls on the hour: free at 4h40m, seen at 5h.
    assert_eq!(
        played.of(&["member"]),
        [
            "4h10m images-202603.02.0 memberPending a (MemberBusy)",
            "5h images-202603.02.0 memberSkipped a (AlreadyAtTarget)",
        ]
    );
}

#[test]
fn u10_own_upgrades_keep_to_the_members_window() {
    let member = format!("{}\n      {WINDOW}", channel("none", "NodeImage"));
    let off = IMAGES.replace("both}", "both, disabled: true}");
    let played = play(&scenario(&member, &off));
    // 12:30 is 4h30m after the start; the image has been there since 10:00.
    let behind = &played.outcome.autonomous.as_ref().unwrap().behind[0][0];
    assert_eq!((own_upgrades(&played), behind.worst.to_string()), (1, "3h10m".to_owned()));
    let none = scenario(&member, &off).replace("ownUpgrades: {delay: 2h}", "ownUpgrades: none");
    let played = play(&none);
    assert_eq!((own_upgrades(&played), &*played.images[0]), (0, "202602.13.0"));
}

#[test]
fn u10_each_channel_brings_its_own_versions_one_minor_at_a_time() {
    let off = IMAGES.replace("both}", "both, disabled: true}");
    let at_the_end = |kubernetes: &str| {
        let played = play(&scenario(&channel(kubernetes, "None"), &off));
        (played.kubernetes[0].clone(), own_upgrades(&played))
    };
    assert_eq!(at_the_end("none"), ("1.33.3".to_owned(), 0));
    assert_eq!(at_the_end("patch"), ("1.33.4".to_owned(), 1));
    // N is 1.33 at first, then 1.35: 1.33.4, then 1.34.2, then 1.35.0.
    assert_eq!(at_the_end("rapid"), ("1.35.0".to_owned(), 3));
    // N-1 is 1.32 at first, then 1.34.
    assert_eq!(at_the_end("stable"), ("1.34.2".to_owned(), 1));
    let stopped = scenario(&channel("rapid", "NodeImage"), &off)
        .replace("updateGroup: g", "updateGroup: g\n      powerState: Stopped");
    assert_eq!(own_upgrades(&play(&stopped)), 0);
}

#[test]
fn u10_own_upgrades_go_on_beside_an_update_without_profiles() {
    let update = "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}";
    let played = play(&scenario(&channel("none", "NodeImage"), update));
    // At the start there is nothing newer, so the update is over; the image comes later.
    assert_eq!(played.of(&["member"]), ["0s update memberSkipped a (AlreadyAtTarget)"]);
    assert_eq!((own_upgrades(&played), &*played.images[0]), (1, "202603.02.0"));
}

#[test]
fn u10_own_upgrades_fail_like_others_and_are_tried_again() {
    let world = |failures: &str| {
        scenario(&channel("none", "NodeImage"), "")
            .replace("world: {", &format!("world: {{failures: {failures}, "))
            .replace("strategies:", "update: {managedClusterUpdate: {upgrade: {type: Full, kubernetesVersion: 1.33.4}}}\nstrategies:")
            .replace("  updates: {\"*\": {takes: 90m}}\n", "")
            .replace("durations: {update: 40m}", "durations: {update: 40m}, releases: none")
    };
    let never = play(&world("{probability: 1, transient: 0}"));
    assert_eq!((own_upgrades(&never), &*never.images[0]), (0, "202602.13.0"), "it fails for ever");
    // The image comes at 2 h; the first attempt begins at 4 h and fails at 4 h 40, the second
    // begins two hours later and is done at 7 h 20.
    let again = play(&world("{probability: 1, transient: 1}"));
    assert_eq!((own_upgrades(&again), &*again.images[0]), (1, "202603.02.0"));
}

#[test]
fn u10_nothing_begins_of_itself_where_a_member_is_stopped_or_a_region_is_out() {
    let text = |actions: &str, outage: &str| {
        let more = format!("script:\n  actions: [{actions}]\n{outage}");
        scenario(&channel("none", "NodeImage"), IMAGES)
            .replace("name: images, ", "name: images, disabled: true, ")
            .replace("script:\n", &more)
    };
    let done = |played: &Played| (own_upgrades(played), played.images[0].clone());
    let (old, new) = ((0, "202602.13.0".to_owned()), (1, "202603.02.0".to_owned()));
    assert_eq!(done(&play(&text("", ""))), new);
    // Its own upgrade would begin at 4 h.
    let stopped = play(&text("{at: 3h, stopMember: a}", ""));
    assert_eq!(done(&stopped), old);
    let started = play(&text("{at: 3h, stopMember: a}, {at: 5h, startMember: a}", ""));
    assert_eq!(done(&started), new, "it looks again when it is started");
    let left = play(&text("{at: 3h, leave: a}", ""));
    assert_eq!(done(&left), old);
    let out =
        "  outages: [{region: westeurope, from: 2026-03-02T11:00:00Z, to: 2026-03-02T13:00:00Z}]\n";
    assert_eq!(done(&play(&text("", out))), new, "it looks again when its region is back");
    // One that begins in the midst of it fails, and is tried again.
    let out = out.replace("11:00", "12:20");
    assert_eq!(done(&play(&text("", &out))), new);
}
