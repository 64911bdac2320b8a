//! `update`: the update run that every candidate strategy carries out (U1, U2, U8, T8, O3, O4).

use std::collections::BTreeMap;

use super::access::{Field, Map};
use super::members::{Builder, kubernetes};
use crate::scheduler::{GroupOrder, NodeImageSelection, Restart, StoppedMembers, Update, Upgrade};
use crate::time::Span;

const UPDATE: &[&str] =
    &["managedClusterUpdate", "stoppedMembers", "restart", "pollInterval", "groupOrder"];

/// The words of `restart`.
pub(super) const RESTARTS: &[(&str, Restart)] =
    &[("keepFailed", Restart::KeepFailed), ("retryFailed", Restart::RetryFailed)];

/// Reads `update`.
pub(super) fn read(field: &Field<'_>, builder: &mut Builder<'_>) -> Option<Update> {
    let map = field.map("an update", UPDATE)?;
    let options = options(&map);
    let cluster = map.need("managedClusterUpdate")?;
    let cluster = cluster.map("a managedClusterUpdate", &["upgrade", "nodeImageSelection"])?;
    let upgrade = cluster.need("upgrade").and_then(|field| upgrade(&field));
    let selection = cluster.get("nodeImageSelection");
    if let (Some(Upgrade::ControlPlaneOnly(_)), Some(field)) = (upgrade, selection) {
        field
            .fail("R-I1", "ControlPlaneOnly takes no `nodeImageSelection`: it touches no node")
            .hint("take it out, or write `type: Full`");
    }
    let images = selection.map_or(Some(NodeImageSelection::Latest), |f| images(&f, builder));
    Some(Update {
        upgrade: upgrade?,
        node_images: images?,
        stopped_members: options.stopped_members,
        restart: options.restart,
        poll_interval: options.poll_interval,
        group_order: options.group_order,
    })
}

/// How a run behaves, whatever it brings: the keys that are ours.
pub(super) struct Options {
    pub(super) stopped_members: StoppedMembers,
    pub(super) restart: Restart,
    pub(super) poll_interval: Span,
    pub(super) group_order: GroupOrder,
}

/// Reads them, beside other keys.
pub(super) fn options(map: &Map<'_>) -> Options {
    let stopped = [("fail", StoppedMembers::Fail), ("skip", StoppedMembers::Skip)];
    let orders = [
        ("roundRobin", GroupOrder::RoundRobin),
        ("strategyOrder", GroupOrder::StrategyOrder),
        ("reverse", GroupOrder::Reverse),
    ];
    let stopped_members = map.own("stoppedMembers").and_then(|f| f.word(&stopped));
    let restart = map.own("restart").and_then(|field| field.word(RESTARTS));
    let poll_interval = map.own("pollInterval").and_then(|field| super::duration(&field));
    let group_order = map.own("groupOrder").and_then(|field| field.word(&orders));
    Options {
        stopped_members: stopped_members.unwrap_or_default(),
        restart: restart.unwrap_or_default(),
        poll_interval: poll_interval.unwrap_or(Span::HOUR),
        group_order: group_order.unwrap_or_default(),
    }
}

/// The update of a scenario without one: its run has no members.
pub(super) fn nothing() -> Update {
    Update {
        upgrade: Upgrade::NodeImageOnly,
        node_images: NodeImageSelection::Latest,
        stopped_members: StoppedMembers::default(),
        restart: Restart::default(),
        poll_interval: Span::HOUR,
        group_order: GroupOrder::default(),
    }
}

#[derive(Clone, Copy)]
enum UpgradeType {
    Full,
    ControlPlaneOnly,
    NodeImageOnly,
}

fn upgrade(field: &Field<'_>) -> Option<Upgrade> {
    let map = field.map("an upgrade", &["type", "kubernetesVersion"])?;
    let kind = map.need("type")?.word(&[
        ("Full", UpgradeType::Full),
        ("ControlPlaneOnly", UpgradeType::ControlPlaneOnly),
        ("NodeImageOnly", UpgradeType::NodeImageOnly),
    ])?;
    let version = |map: &Map<'_>, name: &str| {
        let Some(field) = map.get("kubernetesVersion") else {
            map.notes
                .error(map.node.at, "U1", format!("{name} needs a `kubernetesVersion`"))
                .hint("write kubernetesVersion: 1.34.1, say");
            return None;
        };
        kubernetes(&field)
    };
    match kind {
        UpgradeType::Full => version(&map, "Full").map(Upgrade::Full),
        UpgradeType::ControlPlaneOnly => {
            version(&map, "ControlPlaneOnly").map(Upgrade::ControlPlaneOnly)
        }
        UpgradeType::NodeImageOnly => {
            if let Some(field) = map.get("kubernetesVersion") {
                field
                    .fail("U1", "NodeImageOnly must not have a `kubernetesVersion`")
                    .hint("take it out, or write `type: Full`");
            }
            Some(Upgrade::NodeImageOnly)
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum SelectionType {
    Latest,
    Consistent,
    Custom,
}

fn images(field: &Field<'_>, builder: &mut Builder<'_>) -> Option<NodeImageSelection> {
    let keys = &["type", "customNodeImageVersions"];
    let map = field.map("a nodeImageSelection", keys)?;
    let kind = map.need("type")?.word(&[
        ("Latest", SelectionType::Latest),
        ("Consistent", SelectionType::Consistent),
        ("Custom", SelectionType::Custom),
    ])?;
    let versions = map.get("customNodeImageVersions");
    if kind != SelectionType::Custom {
        if let Some(field) = versions {
            field
                .fail("U2", "only `type: Custom` takes `customNodeImageVersions`")
                .hint("take them out, or write `type: Custom`");
        }
        return Some(match kind {
            SelectionType::Latest => NodeImageSelection::Latest,
            _ => NodeImageSelection::Consistent,
        });
    }
    let mut images = vec![];
    let mut families = BTreeMap::new();
    for item in versions.iter().filter_map(Field::items).flatten() {
        let entry = item.map("an entry of customNodeImageVersions", &["version"]);
        let Some(version) = entry.and_then(|entry| entry.need("version")) else { continue };
        let Some(image) = builder.image(&version) else { continue };
        if let Some(line) = families.insert(image.family, item.at().line) {
            let family = &builder.fleet.families[image.family];
            version
                .fail("U2", format!("two versions of the family `{family}`"))
                .hint(format!("keep at most one a family; the other is on line {line}"));
        }
        images.push(image);
    }
    if images.is_empty() {
        map.notes
            .error(map.place_of("customNodeImageVersions"), "U2", "Custom needs at least one image")
            .hint("write customNodeImageVersions: [{version: FAMILY-VERSION}]");
    }
    Some(NodeImageSelection::Custom(images))
}
