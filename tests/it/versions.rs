//! Staleness and skew against scenarios that can be reckoned by hand.

use fleetsim::sim::Versions;
use fleetsim::time::Span;

use crate::experiments::histories;

/// A scenario that begins on 2 March at 08:00 and ends 60 days later.
fn scenario(members: &str, update: &str, strategies: &str, script: &str) -> String {
    format!(
        "name: versions\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\nfleet:\n  members:\n\
         {members}update: {{managedClusterUpdate: {{upgrade: {update}}}}}\n{strategies}\
         script:\n{script}"
    )
}

fn versions(text: &str) -> Versions {
    histories(text, 1, |_, _, outcome| outcome.versions).remove(0)
}

fn member(name: &str, region: &str, image: &str) -> String {
    format!(
        "    - {{name: {name}, region: {region}, updateGroup: g, kubernetesVersion: 1.33.3, \
         pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-{image}}}]}}\n"
    )
}

const IMAGES: &str = "{type: NodeImageOnly}";
/// In West Europe 32 hours before the start, in East US ten hours after it.
const RELEASES: &str = "  releases:\n    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.01.0, \
                        regions: {westeurope: 2026-03-01T00:00:00Z, eastus: 2026-03-02T18:00:00Z}}\n";
const ALL_AT_ONCE: &str = "strategies: [{name: all, stages: [{name: s, maxAllowedFailures: 9, \
                           groups: [{name: g, maxConcurrency: 9, maxAllowedFailures: 9}]}]}]\n";

#[test]
fn stale_hours_count_from_the_arrival_in_the_region_until_the_member_is_done() {
    let old = "202602.13.0";
    let fleet = [
        member("a", "westeurope", old), // 32 h before the start, 1 h until it is updated
        member("b", "westeurope", old), // one hour more: its turn comes after the first
        member("c", "eastus", old),     // at the target when it is tried, before the arrival
    ];
    let script = format!("  updates: {{\"*\": {{takes: 1h}}}}\n{RELEASES}");
    let found = versions(&scenario(&fleet.concat(), IMAGES, "", &script));
    assert_eq!(found.stale, Span::from_hours(33 + 34));
    assert_eq!(found.skew, 2);
}

#[test]
fn stale_hours_of_members_that_fail_count_to_the_horizon() {
    let old = "202602.13.0";
    let fleet = [member("a", "westeurope", old), member("b", "westeurope", old)];
    let script =
        format!("  updates: {{a: {{takes: 1h}}, b: {{takes: 1h, fails: Broken}}}}\n{RELEASES}");
    let found = versions(&scenario(&fleet.concat(), IMAGES, ALL_AT_ONCE, &script));
    assert_eq!(found.stale, Span::from_hours(33 + 32 + 60 * 24));
    assert_eq!(found.skew, 2, "one runs the new image, one the old one");
}

#[test]
fn stale_hours_count_from_the_first_newer_version_not_from_the_target() {
    let fleet = member("a", "westeurope", "202602.13.0");
    let script = "  updates: {\"*\": {takes: 2h}}\n  releases:\n\
                  \x20   - {nodeImage: AKSUbuntu-2204gen2containerd-202602.20.0, regions: {\"*\": 2026-02-21T08:00:00Z}}\n\
                  \x20   - {nodeImage: AKSUbuntu-2204gen2containerd-202602.27.0, regions: {\"*\": 2026-02-28T08:00:00Z}}\n\
                  \x20   - {nodeImage: AKSUbuntu-2204gen2containerd-202602.01.0, regions: {\"*\": 2026-02-02T08:00:00Z}}\n";
    let found = versions(&scenario(&fleet, IMAGES, "", script));
    assert_eq!(found.stale, Span::from_days(9) + Span::from_hours(2));
    assert_eq!(found.skew, 1, "one member never runs two images");
}

#[test]
fn stale_hours_of_a_kubernetes_update_count_from_the_targets_arrival() {
    let fleet = member("a", "westeurope", "202603.01.0");
    let script = "  updates: {\"*\": {takes: 2h}}\n  releases:\n\
                  \x20   - {kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-02T05:00:00Z}}\n";
    let update = "{type: Full, kubernetesVersion: 1.34.1}";
    let found = versions(&scenario(&fleet, update, "", script));
    assert_eq!(found.stale, Span::from_hours(3 + 2));
    // Without releases in the script the model brings the version: some days before the start.
    let script = "  updates: {\"*\": {takes: 2h}}\n";
    let update = "{type: ControlPlaneOnly, kubernetesVersion: 1.34.1}";
    assert!(versions(&scenario(&fleet, update, "", script)).stale > Span::from_hours(26));
}

#[test]
fn image_skew_counts_the_versions_of_one_family_at_one_time() {
    let images = ["202601.05.0", "202601.12.0", "202601.19.0", "202601.19.0"];
    let fleet: String =
        (0..).zip(images).map(|(n, image)| member(&format!("m{n}"), "westeurope", image)).collect();
    // The first three end together, so that the new version is never the fourth.
    let script = format!("  updates: {{m3: {{takes: 5h}}, \"*\": {{takes: 1h}}}}\n{RELEASES}");
    assert_eq!(versions(&scenario(&fleet, IMAGES, ALL_AT_ONCE, &script)).skew, 3);
    // One by one it is, until the last of the oldest versions is gone.
    assert_eq!(versions(&scenario(&fleet, IMAGES, "", &script)).skew, 3);
    let twice = format!("{fleet}{}", member("m4", "westeurope", images[0]));
    assert_eq!(versions(&scenario(&twice, IMAGES, "", &script)).skew, 4);
}

#[test]
fn image_skew_counts_families_apart() {
    let pools = "pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}, \
                 {name: w, nodeImageVersion: AKSWindows-2022-containerd-20348.4648.260112}]";
    let fleet = format!("    - {{name: a, region: westeurope, updateGroup: g, {pools}}}\n");
    let script = format!("  updates: {{\"*\": {{takes: 1h}}}}\n{RELEASES}");
    assert_eq!(versions(&scenario(&fleet, IMAGES, "", &script)).skew, 1);
}
