//! What `az` prints about a fleet, reduced: members, clusters and maintenance configurations.

use std::path::Path;

use fleetsim::error::Diagnostic;
use fleetsim::fleet::{Amount, PoolImage, PoolMode, PowerState};
use fleetsim::scenario::Scenario;
use fleetsim::time::Span;

fn open(name: &str) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/inputs");
    std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())
}

fn read(files: &str) -> Result<(Scenario, Vec<Diagnostic>), Vec<Diagnostic>> {
    let text = format!(
        "name: t\nstart: 2026-03-02T08:00:00Z\nhorizon: 60d\nfleet: {{files: [{files}]}}\nupdate: \
         {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\n"
    );
    Scenario::read("t.yaml", &text, &open)
}

#[test]
fn members_clusters_and_windows_are_joined_by_their_ids() {
    let (scenario, warnings) =
        read("members.json, clusters.json, maintenance.json").expect("the files are fine");
    assert_eq!(warnings, []);
    let fleet = &scenario.fleet;
    let names: Vec<&str> = fleet.members.iter().map(|member| &*member.name).collect();
    assert_eq!(names, ["member-1", "member-2"], "a Leaving member takes no part");
    let [first, second] = fleet.members.as_slice() else { panic!("two members") };
    assert_eq!(fleet.regions[first.region], "westeurope");
    assert_eq!(first.update_group.as_deref(), Some("canary"));
    assert_eq!(first.labels["env"], "prod");
    assert_eq!(first.kubernetes_version.unwrap().to_string(), "1.33.3");
    assert_eq!(first.power_state, PowerState::Running);
    assert!(first.long_term_support && first.node_auto_provisioning);
    assert_eq!(first.auto_upgrade_channel.as_deref(), Some("stable"));
    let [system, windows] = &first.pools[..] else { panic!("two pools") };
    assert_eq!((system.mode, system.count, system.max_pods), (PoolMode::System, 5, 110));
    assert_eq!((system.max_surge, system.max_unavailable), (Amount::Percent(10), Amount::Count(0)));
    assert_eq!((system.drain_timeout, system.node_soak), (Span::from_mins(60), Span::ZERO));
    let PoolImage::Exactly(image) = windows.image else { panic!("an image by name") };
    assert_eq!(image.version.to_string(), "20348.4648.260112");
    assert!(windows.from_snapshot && !system.from_snapshot);
    assert_eq!(windows.orchestrator_version.unwrap().to_string(), "1.32.9");

    let window = first.node_os_window.expect("joined, upper and lower case aside");
    assert_eq!(first.kubernetes_window, Some(window), "equal schedules share one window");
    assert_eq!(fleet.windows.len(), 1);
    assert_eq!(scenario.places.default_configurations.len(), 1);

    assert_eq!(second.power_state, PowerState::Stopped);
    assert_eq!((second.kubernetes_window, second.node_os_window), (None, None));
    assert_eq!(second.auto_upgrade_channel, None, "channels that are off are off");
}

#[test]
fn clusters_alone_are_taken_as_members_with_a_warning() {
    let (scenario, warnings) = read("clusters.json").expect("the file is fine");
    let names: Vec<&str> = scenario.fleet.members.iter().map(|member| &*member.name).collect();
    assert_eq!(names, ["cluster-1", "cluster-2", "cluster-3"]);
    assert_eq!(warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["fleet-files"]);
}

#[test]
fn members_without_their_clusters_are_refused() {
    let errors = read("members.json").map(|_| ()).unwrap_err();
    assert_eq!(errors.len(), 2);
    assert!(errors.iter().all(|error| error.message.contains("is in none of the files")));
}
