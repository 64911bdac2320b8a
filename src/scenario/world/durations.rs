//! `world.durations`: how long an update takes (W4, W5).

use super::{is_none, minutes};
use crate::fleet::OsType;
use crate::quantiles::Distribution;
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::strategy::selector;
use crate::scenario::tree::Value;
use crate::sim::model::DurationModel;
use crate::sim::nodes::{DurationFactor, NodeModel, TIMES, UpgradeKind};
use crate::time::Span;

const DURATIONS: &[&str] = &[
    "model",
    "update",
    "controlPlane",
    "createSurge",
    "drain",
    "reimage",
    "removeSurge",
    "windowsFactor",
    "factors",
];
/// The keys of `model: nodes` alone.
const NODES: [&str; 6] =
    ["controlPlane", "createSurge", "drain", "reimage", "removeSurge", "windowsFactor"];
const FACTOR: &[&str] = &["where", "region", "osType", "upgrade", "nodes", "times"];

/// The model and what takes longer in it.
pub(super) type Durations = (DurationModel, Vec<DurationFactor>);

/// World.md's default, assumed.
pub(super) fn default() -> Durations {
    (DurationModel::Cluster(minutes(40.0, 0.5)), vec![])
}

/// World.md's defaults of `model: nodes`, assumed and anchored at 7.2 minutes a node.
fn default_nodes() -> NodeModel {
    let drain = vec![(0.86, minutes(0.8, 0.8)), (0.14, minutes(6.0, 0.7))];
    NodeModel {
        control_plane: minutes(8.0, 0.45),
        create_surge: minutes(4.0, 0.4),
        drain: Distribution::mixture(drain).expect("the defaults make sense"),
        // What blocks a drain for good has a model of its own, budgets. The default's tail is not
        // meant to fail updates at the default timeout, only at shorter ones.
        patience: Some(Span::from_mins(30)),
        reimage: minutes(5.0, 0.35),
        remove_surge: minutes(2.0, 0.4),
        windows_factor: 1.8,
    }
}

pub(super) fn read(field: Option<Field<'_>>, loader: &Loader<'_>) -> Option<Durations> {
    let field = field?;
    if is_none(&field) {
        field
            .fail("wrong-type", "an update takes its time: `durations` cannot be none")
            .hint("write durations: {update: 40m}, say");
        return None;
    }
    let map = field.map("a model of durations", DURATIONS)?;
    let has_nodes = map
        .own("model")
        .and_then(|field| field.word(&[("cluster", false), ("nodes", true)]))
        .unwrap_or(false);
    let others: &[&'static str] = if has_nodes { &["update"] } else { &NODES };
    for key in others {
        let Some(at) = map.spot(key) else { continue };
        let (this, other) = if has_nodes { ("nodes", "cluster") } else { ("cluster", "nodes") };
        map.notes
            .error(at, "conflict", format!("`{key}` belongs to `model: {other}`"))
            .hint(format!("write `model: {other}`, or take it out of `model: {this}`"));
    }
    let part =
        |key| map.own(key).and_then(|field| distribution::read(&field, Unit::Duration, loader));
    let model = if has_nodes {
        let mut nodes = default_nodes();
        nodes.control_plane = part("controlPlane").unwrap_or(nodes.control_plane);
        nodes.create_surge = part("createSurge").unwrap_or(nodes.create_surge);
        if let Some(drain) = part("drain") {
            (nodes.drain, nodes.patience) = (drain, None);
        }
        nodes.reimage = part("reimage").unwrap_or(nodes.reimage);
        nodes.remove_surge = part("removeSurge").unwrap_or(nodes.remove_surge);
        let factor = map.own("windowsFactor").and_then(|field| field.number(TIMES[0], TIMES[1]));
        nodes.windows_factor = factor.unwrap_or(nodes.windows_factor);
        DurationModel::Nodes(Box::new(nodes))
    } else {
        part("update").map_or_else(|| default().0, DurationModel::Cluster)
    };
    let factors = map.own("factors");
    let factors = factors.iter().filter_map(Field::items).flatten().filter_map(|f| factor(&f));
    Some((model, factors.collect()))
}

/// An entry of `factors` (W5).
fn factor(field: &Field<'_>) -> Option<DurationFactor> {
    let map = field.map("a factor", FACTOR)?;
    let words = [("Linux", OsType::Linux), ("Windows", OsType::Windows)];
    let upgrades = [
        ("Full", UpgradeKind::Full),
        ("ControlPlaneOnly", UpgradeKind::ControlPlaneOnly),
        ("NodeImageOnly", UpgradeKind::NodeImageOnly),
    ];
    let bound = |map: &Map<'_>, key| map.own(key).and_then(|field| field.integer(0, 1_000_000));
    let nodes = map.own("nodes").and_then(|field| field.map("nodes", &["atLeast", "atMost"]));
    let least = nodes.as_ref().and_then(|map| bound(map, "atLeast")).unwrap_or(0);
    let most = nodes.as_ref().and_then(|map| bound(map, "atMost")).unwrap_or(u32::MAX);
    if let (true, Some(nodes)) = (least > most, nodes) {
        let message = format!("`atLeast` {least} is above `atMost` {most}");
        nodes.notes.error(nodes.node.at, "out-of-range", message);
    }
    Some(DurationFactor {
        members: map.own("where").and_then(|field| selector(&field)),
        regions: map.own("region").map(|field| regions(&field)).unwrap_or_default(),
        os_type: map.own("osType").and_then(|field| field.word(&words)),
        upgrade: map.own("upgrade").and_then(|field| field.word(&upgrades)),
        nodes: least..=most,
        times: map.need("times")?.number(TIMES[0], TIMES[1])?,
    })
}

/// One region, or a list of them.
fn regions(field: &Field<'_>) -> Vec<String> {
    let name = |field: Field<'_>| field.filled_text().map(str::to_owned);
    match field.node.value {
        Value::List(_) => field.items().into_iter().flatten().filter_map(name).collect(),
        _ => name(*field).into_iter().collect(),
    }
}
