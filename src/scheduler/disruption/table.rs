//! What reimages nodes, and where the node disruption policy has a say: one row a line (N3–N6, N8).

use std::fmt::{self, Write as _};

/// The rule that an operation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Changes of a cluster that the policy covers.
    N3,
    /// Changes of a node pool that the policy covers.
    N4,
    /// Changes that the policy does not cover yet; nothing is reimaged until somebody upgrades the
    /// node image by hand.
    N5,
    /// Upgrades, recovery and emergencies: they reimage, and are never governed.
    N6,
}

impl Rule {
    /// Whether the policy has a say in the operations of this rule.
    pub const fn is_covered(self) -> bool {
        matches!(self, Self::N3 | Self::N4)
    }
}

/// What an operation changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The cluster: a reimage takes all its pools.
    Cluster,
    /// A node pool: a reimage takes that pool.
    Pool,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Cluster => "cluster",
            Self::Pool => "pool",
        })
    }
}

/// Some changes of one operation. An operation has one row or several neighbouring ones; a change
/// that no row speaks of reimages nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) rule: Rule,
    pub(super) scope: Scope,
    pub(super) operation: &'static str,
    /// All values of the operation, as the API spells them; none listed: any text is a value.
    pub(super) values: &'static [&'static str],
    /// The row speaks of changes from one of these; none listed: from any value.
    from: &'static [&'static str],
    /// The row speaks of changes to one of these; none listed: to any value.
    to: &'static [&'static str],
}

use Rule::{N3, N4, N5, N6};
use Scope::{Cluster, Pool};

const ANY: &[&str] = &[];
const NETWORK: &[&str] = &["none", "azure", "calico", "cilium"];
const PLUGINS: &[&str] = &["azure", "azureOverlay"];
const CHANNELS: &[&str] = &["Unspecified", "None", "Unmanaged", "SecurityPatch", "NodeImage"];
const FAMILIES: &[&str] = &["IPv4", "dualStack"];
const DATAPLANES: &[&str] = &["none", "cilium"];
const SWITCH: &[&str] = &["false", "true"];
const FEATURE: &[&str] = &["Disabled", "Enabled"];
const GMSA: &[&str] = &["disabled", "enabled", "enabledWithDns"];
const RESERVATION: &[&str] = &["none", "attached"];

/// The table: rule, scope, operation, its values, and the changes that the row speaks of. Those of
/// N3, N4 and N6 reimage nodes, those of N5 do not.
pub(super) static TABLE: [Row; 40] = [
    row(N3, Cluster, "networkPolicy", NETWORK, &["none"], &["azure", "calico"]),
    row(N3, Cluster, "networkPolicy", NETWORK, &["azure", "calico"], &["none"]),
    row(N3, Cluster, "networkPolicy", NETWORK, ANY, &["cilium"]),
    row(N3, Cluster, "networkPolicy", NETWORK, &["cilium"], ANY),
    row(N3, Cluster, "networkPlugin", PLUGINS, &["azure"], &["azureOverlay"]),
    row(N3, Cluster, "nodeOSUpgradeChannel", CHANNELS, ANY, &["Unmanaged"]),
    row(N3, Cluster, "nodeOSUpgradeChannel", CHANNELS, &["Unmanaged"], &["None"]),
    row(N3, Cluster, "nodeOSUpgradeChannel", CHANNELS, &["Unmanaged"], &["SecurityPatch"]),
    row(N3, Cluster, "nodeOSUpgradeChannel", CHANNELS, &["Unmanaged"], &["NodeImage"]),
    row(N3, Cluster, "ipFamilies", FAMILIES, &["IPv4"], &["dualStack"]),
    row(N3, Cluster, "networkDataplane", DATAPLANES, ANY, ANY),
    row(N3, Cluster, "httpProxy", ANY, ANY, ANY),
    row(N3, Cluster, "httpsProxy", ANY, ANY, ANY),
    row(N3, Cluster, "noProxy", ANY, ANY, ANY),
    row(N3, Cluster, "trustedCa", ANY, ANY, ANY),
    row(N3, Cluster, "httpProxyEnabled", SWITCH, ANY, ANY),
    row(N3, Cluster, "customCaTrustCertificates", ANY, ANY, ANY),
    row(N3, Cluster, "kubeletIdentity", ANY, ANY, ANY),
    row(N3, Cluster, "privateDnsZone", ANY, ANY, ANY),
    row(N3, Cluster, "apiServerVnetIntegration", SWITCH, &["false"], &["true"]),
    row(N3, Cluster, "ebpfHostRouting", SWITCH, ANY, ANY),
    row(N4, Pool, "localDnsProfile", ANY, ANY, ANY),
    row(N4, Pool, "vtpm", FEATURE, ANY, ANY),
    row(N4, Pool, "secureBoot", FEATURE, ANY, ANY),
    row(N4, Pool, "artifactStreaming", FEATURE, ANY, ANY),
    row(N4, Pool, "windowsGmsa", GMSA, &["disabled"], &["enabled", "enabledWithDns"]),
    row(N4, Pool, "windowsGmsa", GMSA, &["enabled"], &["enabledWithDns"]),
    row(N4, Pool, "windowsGmsa", GMSA, &["enabledWithDns"], &["enabledWithDns"]),
    row(N4, Pool, "windowsGmsa", GMSA, &["enabledWithDns"], &["enabled", "disabled"]),
    row(N4, Pool, "capacityReservationGroup", RESERVATION, &["none"], &["attached"]),
    row(N5, Pool, "sshAccess", ANY, ANY, ANY),
    row(N5, Cluster, "imdsRestriction", ANY, ANY, ANY),
    row(N5, Cluster, "bootstrapProfile", ANY, ANY, ANY),
    row(N5, Cluster, "outboundType", ANY, ANY, ANY),
    row(N6, Pool, "nodeImageVersion", ANY, ANY, ANY),
    row(N6, Cluster, "kubernetesVersion", ANY, ANY, ANY),
    row(N6, Pool, "poolRollback", ANY, ANY, ANY),
    row(N6, Cluster, "adminRestore", ANY, ANY, ANY),
    row(N6, Cluster, "identityCredentialUpdate", ANY, ANY, ANY),
    row(N6, Cluster, "emergencyMaintenance", ANY, ANY, ANY),
];

const fn row(
    rule: Rule,
    scope: Scope,
    operation: &'static str,
    values: &'static [&'static str],
    from: &'static [&'static str],
    to: &'static [&'static str],
) -> Row {
    Row { rule, scope, operation, values, from, to }
}

impl Row {
    /// Whether the row speaks of this change; a value that is not said is one like any other, and
    /// differs from the one that is. What stays as it is changes nothing, unless the row says so.
    pub(super) fn speaks_of(&self, from: Option<&str>, to: Option<&str>) -> bool {
        let is_one_of = |value: Option<&str>, list: &[&str]| {
            list.is_empty() || value.is_some_and(|value| list.contains(&value))
        };
        let says_so = !self.from.is_empty() && self.from == self.to;
        let differs = from.is_none() || from != to;
        (differs || says_so) && is_one_of(from, self.from) && is_one_of(to, self.to)
    }

    /// Whether the changes that the row speaks of reimage nodes.
    pub(super) const fn reimages(&self) -> bool {
        !matches!(self.rule, N5)
    }
}

/// The table as Markdown: one line a row.
pub fn markdown() -> String {
    let mut text = "| rule | scope | operation | values | from | to | reimages | policy asked |\n\
                    |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in &TABLE {
        let (rule, scope, operation) = (row.rule, row.scope, row.operation);
        let (values, from, to) = (list(row.values), list(row.from), list(row.to));
        let (reimages, asked) = (yes(row.reimages()), yes(rule.is_covered()));
        write!(text, "| {rule:?} | {scope} | `{operation}` | {values} ").expect("strings take all");
        writeln!(text, "| {from} | {to} | {reimages} | {asked} |").expect("strings take all");
    }
    text
}

fn list(values: &[&str]) -> String {
    if values.is_empty() {
        return "any".to_owned();
    }
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}

const fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}
