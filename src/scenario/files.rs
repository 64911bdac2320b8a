//! Files that a scenario names: read through the caller, and what `az` prints about a fleet.
//!
//! The kind of each printed object is recognised from its content: members from
//! `az fleet member list`, clusters from `az aks list`, maintenance configurations from
//! `az aks maintenanceconfiguration list`; lists, `{value: […]}` and single objects alike.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::access::{Field, Notes};
use super::members::Builder;
use super::tree::{Entry, Node, Spot, Value, parse, refuse_duplicate_keys};

/// How the caller reads a file that the scenario names: its text, or why it cannot be read.
pub type Open<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A scenario may name this many files.
const MOST_FILES: u16 = 1_000;

/// Reads the files that a scenario names, each once, and digests what was read.
pub(super) struct Loader<'a> {
    notes: &'a Notes,
    open: &'a Open<'a>,
    digest: RefCell<Sha256>,
    known: RefCell<BTreeMap<String, (u16, String)>>,
    count: Cell<u16>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(notes: &'a Notes, open: &'a Open<'a>, scenario: &str) -> Self {
        let digest = RefCell::new(Sha256::new_with_prefix(scenario));
        Self { notes, open, digest, known: RefCell::default(), count: Cell::new(0) }
    }

    /// SHA-256 over the scenario and every file, in the order of reading; hexadecimal.
    pub(super) fn digest(&self) -> String {
        let bytes = self.digest.borrow().clone().finalize();
        bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    /// The text of the file that a key names, with its number for places.
    pub(super) fn text(&self, field: &Field<'_>) -> Option<(u16, String)> {
        let name = field.filled_text()?;
        if let Some(known) = self.known.borrow().get(name) {
            return Some(known.clone());
        }
        self.count.set(self.count.get() + 1);
        if self.count.get() > MOST_FILES {
            field.fail("too-large", format!("the scenario names more than {MOST_FILES} files"));
            return None;
        }
        match (self.open)(name) {
            Ok(text) => {
                self.digest.borrow_mut().update(&text);
                let file = self.notes.sources.add(name, &text);
                self.known.borrow_mut().insert(name.to_owned(), (file, text.clone()));
                Some((file, text))
            }
            Err(why) => {
                field
                    .fail("file", format!("`{name}` cannot be read: {why}"))
                    .hint("paths are relative to the scenario's folder");
                None
            }
        }
    }

    /// The tree of the file that a key names.
    pub(super) fn tree(&self, field: &Field<'_>) -> Option<Node> {
        let (file, text) = self.text(field)?;
        let root = parse(self.notes, file, &text)?;
        refuse_duplicate_keys(self.notes, &root);
        Some(root)
    }
}

/// The first cell of every line of a CSV file; a first line without a digit is its heading.
pub(super) fn column(file: u16, text: &str) -> Vec<Node> {
    let mut nodes = vec![];
    for (line, content) in (1..).zip(text.lines()) {
        let cell = content.split([',', ';', '\t']).next().unwrap_or_default();
        let cell = cell.trim().trim_matches('"');
        let heading = nodes.is_empty() && !cell.contains(|c: char| c.is_ascii_digit());
        if cell.is_empty() || heading {
            continue;
        }
        let length = u32::try_from(cell.chars().count()).unwrap_or(u32::MAX);
        let at = Spot { file, line, column: 1, length };
        nodes.push(Node { at, value: Value::Scalar { text: cell.to_owned(), quoted: false } });
    }
    nodes
}

/// What the files of a fleet hold, by kind.
#[derive(Default)]
struct Printed {
    members: Vec<Node>,
    /// By resource id in lower case.
    clusters: BTreeMap<String, Node>,
    /// In the order in which they were read.
    cluster_ids: Vec<String>,
    /// By the cluster's resource id in lower case: name and configuration.
    configurations: BTreeMap<String, Vec<(String, Node)>>,
}

/// Reads `fleet.files` and appends the members.
pub(super) fn read_fleet(builder: &mut Builder<'_>, files: &Field<'_>, loader: &Loader<'_>) {
    let before = builder.notes.errors();
    let mut printed = Printed::default();
    for item in files.items().into_iter().flatten() {
        if let Some(root) = loader.tree(&item) {
            sort_out(builder.notes, &root, &mut printed);
        }
    }
    if builder.notes.errors() > before {
        return;
    }
    if printed.members.is_empty() && !printed.clusters.is_empty() {
        builder
            .notes
            .warning(files.at(), "fleet-files", "the files list clusters and no fleet members")
            .hint("every cluster is taken as a member without a group; add `az fleet member list`");
        for id in &printed.cluster_ids {
            let cluster = &printed.clusters[id];
            let node = member_node(cluster, None, cluster, id, &printed);
            builder.member(&Field::new(builder.notes, "a member", &node));
        }
    }
    for member in &printed.members {
        join(builder, member, &printed);
    }
}

/// What a file of `fleet.files` lists, when it is looked at alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// Fleet members by update group, in the order of names; without a group: an empty name.
    pub groups: BTreeMap<String, usize>,
    /// Members that are Leaving; they take no part.
    pub leaving: usize,
    /// Clusters.
    pub clusters: usize,
    /// Maintenance configurations.
    pub configurations: usize,
}

/// Counts what a file lists.
pub(super) fn list(notes: &Notes, root: &Node) -> Listed {
    let mut printed = Printed::default();
    sort_out(notes, root, &mut printed);
    let configurations = printed.configurations.values().map(Vec::len).sum();
    let mut listed =
        Listed { clusters: printed.clusters.len(), configurations, ..Listed::default() };
    for member in &printed.members {
        if is_leaving(member) {
            listed.leaving += 1;
        } else {
            let group = text(member, "group").unwrap_or_default();
            *listed.groups.entry(group.to_owned()).or_default() += 1;
        }
    }
    listed
}

/// A key of an ARM object: in `properties`, or directly, as the command line flattens it.
fn key<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let inner = node.get("properties").and_then(|properties| properties.get(key));
    inner.or_else(|| node.get(key)).filter(|node| !node.is_null())
}

fn text<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    key(node, name).and_then(Node::as_text)
}

/// Whether a member is on its way out of the fleet.
fn is_leaving(member: &Node) -> bool {
    text(member, "provisioningState") == Some("Leaving")
}

/// Puts every object of a file where it belongs.
fn sort_out(notes: &Notes, node: &Node, printed: &mut Printed) {
    if let Value::List(items) = &node.value {
        return items.iter().for_each(|item| sort_out(notes, item, printed));
    }
    if let Some(list) = node.get("value").filter(|list| matches!(list.value, Value::List(_))) {
        return sort_out(notes, list, printed);
    }
    let id = text(node, "id").unwrap_or_default().to_lowercase();
    if let Some(kind) = node.get("kind").and_then(Node::as_text) {
        notes
            .error(
                node.at,
                "not-supported",
                format!("Kubernetes objects (`kind: {kind}`) are not supported yet"),
            )
            .hint("use what `az fleet member list -o json` prints");
    } else if key(node, "clusterResourceId").is_some() {
        printed.members.push(node.clone());
    } else if key(node, "maintenanceWindow").is_some()
        || key(node, "timeInWeek").is_some()
        || id.contains("/maintenanceconfigurations/")
    {
        let Some((cluster, _)) = id.split_once("/maintenanceconfigurations/") else {
            notes
                .error(
                    node.at,
                    "fleet-files",
                    "this maintenance configuration has no `id`, so its cluster is not known",
                )
                .hint("use what `az aks maintenanceconfiguration list -o json` prints, unchanged");
            return;
        };
        let by_id = || id.rsplit('/').next().unwrap_or_default().to_owned();
        let name = text(node, "name").map_or_else(by_id, str::to_owned);
        let list = printed.configurations.entry(cluster.to_owned()).or_default();
        list.push((name, node.clone()));
    } else if key(node, "agentPoolProfiles").is_some()
        || id.contains("/providers/microsoft.containerservice/managedclusters/")
    {
        printed.cluster_ids.push(id.clone());
        if printed.clusters.insert(id.clone(), node.clone()).is_some() {
            printed.cluster_ids.pop();
            notes
                .error(node.at, "duplicate-name", format!("the cluster `{id}` is here twice"))
                .hint("keep one of the two");
        }
    } else {
        notes
            .error(
                node.at,
                "fleet-files",
                "this is neither a fleet member, nor a cluster, nor a maintenance configuration",
            )
            .hint(
                "fleet.files takes what `az fleet member list`, `az aks list` and \
                 `az aks maintenanceconfiguration list` print with `-o json`",
            );
    }
}

/// Makes one member of what is printed about it and its cluster.
fn join(builder: &mut Builder<'_>, member: &Node, printed: &Printed) {
    if is_leaving(member) {
        return;
    }
    let name = text(member, "name").unwrap_or_default();
    let id = text(member, "clusterResourceId").unwrap_or_default().to_lowercase();
    let Some(cluster) = printed.clusters.get(&id) else {
        let message = format!("the cluster of member `{name}` is in none of the files");
        builder.notes.error(member.at, "fleet-files", message).hint(
            "regions and pools come from the clusters: add what `az aks list -o json` prints",
        );
        return;
    };
    let node = member_node(member, Some(member), cluster, &id, printed);
    builder.member(&Field::new(builder.notes, "a member", &node));
}

/// A member as a scenario would write it.
fn member_node(
    named: &Node,
    member: Option<&Node>,
    cluster: &Node,
    id: &str,
    printed: &Printed,
) -> Node {
    let at = named.at;
    let mut entries = vec![];
    let mut put = |name: &str, value: Option<&Node>| {
        if let Some(value) = value {
            let key = name.to_owned();
            entries.push(Entry { key, at: value.at, value: value.clone() });
        }
    };
    put("name", key(named, "name"));
    put("updateGroup", member.and_then(|member| key(member, "group")));
    put("labels", member.and_then(|member| key(member, "labels")));
    put("clusterResourceId", key(cluster, "id"));
    put("region", key(cluster, "location").map(programmatic).as_ref());
    let version = key(cluster, "currentKubernetesVersion").or(key(cluster, "kubernetesVersion"));
    put("kubernetesVersion", version);
    put("powerState", key(cluster, "powerState"));
    put("nodeProvisioningProfile", key(cluster, "nodeProvisioningProfile"));
    let lts = key(cluster, "supportPlan").filter(|n| n.as_text() == Some("AKSLongTermSupport"));
    put("longTermSupport", lts.map(|node| scalar(node.at, "true")).as_ref());
    let profile = key(cluster, "autoUpgradeProfile");
    let channels = ["upgradeChannel", "nodeOSUpgradeChannel"];
    put("autoUpgradeProfile", profile.map(|profile| only(profile, &channels)).as_ref());
    put("pools", key(cluster, "agentPoolProfiles").map(pools).as_ref());
    if let Some(list) = printed.configurations.get(id) {
        let windows = list.iter().map(|(name, node)| Entry {
            key: name.clone(),
            at: node.at,
            value: node.clone(),
        });
        let at = list.first().map_or(at, |(_, node)| node.at);
        put("maintenance", Some(&Node { at, value: Value::Map(windows.collect()) }));
    }
    Node { at, value: Value::Map(entries) }
}

fn scalar(at: Spot, text: &str) -> Node {
    Node { at, value: Value::Scalar { text: text.to_owned(), quoted: false } }
}

/// `West Europe` is `westeurope`.
fn programmatic(location: &Node) -> Node {
    let text = location.as_text().unwrap_or_default();
    scalar(location.at, &text.replace(' ', "").to_lowercase())
}

/// A map without other keys than these.
fn only(node: &Node, keys: &[&str]) -> Node {
    let value = match &node.value {
        Value::Map(entries) => Value::Map(
            entries.iter().filter(|entry| keys.contains(&entry.key.as_str())).cloned().collect(),
        ),
        other => other.clone(),
    };
    Node { at: node.at, value }
}

/// Agent pool profiles as pools; their upgrade settings move one level up.
fn pools(profiles: &Node) -> Node {
    let Value::List(items) = &profiles.value else { return profiles.clone() };
    let pools = items.iter().map(|profile| {
        let mut pool =
            only(profile, &["name", "mode", "osType", "nodeImageVersion", "count", "maxPods"]);
        let settings = profile.get("upgradeSettings").map(|settings| {
            let keys = [
                "maxSurge",
                "maxUnavailable",
                "drainTimeoutInMinutes",
                "nodeSoakDurationInMinutes",
                "undrainableNodeBehavior",
            ];
            only(settings, &keys)
        });
        let version =
            key(profile, "currentOrchestratorVersion").or(key(profile, "orchestratorVersion"));
        let snapshot = key(profile, "creationData").map(|data| only(data, &["sourceResourceId"]));
        if let Value::Map(entries) = &mut pool.value {
            for (key, value) in
                [("orchestratorVersion", version), ("creationData", snapshot.as_ref())]
            {
                let entry = |value: &Node| Entry {
                    key: key.to_owned(),
                    at: value.at,
                    value: value.clone(),
                };
                entries.extend(value.map(entry));
            }
            if let Some(Node { value: Value::Map(settings), .. }) = settings {
                entries.extend(settings);
            }
        }
        pool
    });
    Node { at: profiles.at, value: Value::List(pools.collect()) }
}
