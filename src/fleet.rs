//! The fleet: the fixed facts about every member, as columns.
//!
//! Owns members, pools, labels and selectors, versions and images. Does not own anything that
//! changes while an update run goes on: that is the scheduler's and the world's.

pub mod patches;
pub mod regions;
mod selector;
pub mod support;
mod version;

pub use selector::{Requirement, Selector, SelectorError};
pub use version::{ImageVersion, KubernetesVersion, NodeImage, SecurityPatch};

use std::collections::BTreeMap;

use crate::calendar::Window;
use crate::ids::{Column, FamilyId, MemberId, RegionId, WindowId};
use crate::time::Span;

/// The lines of a table in `data/` below its comments and its header.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.starts_with('#')).skip(1)
}

/// All members with what they share.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// Members in the fleet's order (R-H6: members, populations, files).
    pub members: Column<MemberId, Member>,
    /// Programmatic names of the regions that members or releases name.
    pub regions: Column<RegionId, String>,
    /// Image families that pools or releases name.
    pub families: Column<FamilyId, String>,
    /// Distinct maintenance windows; members with equal schedules share one.
    pub windows: Column<WindowId, Window>,
}

/// One member cluster, at the scenario's start.
#[derive(Debug, Clone)]
pub struct Member {
    /// Unique name.
    pub name: String,
    /// Whether it joins in mid-run (W9): until then it is not in the fleet, nor in any run.
    pub joins: bool,
    /// Where it runs.
    pub region: RegionId,
    /// The member's `updateGroup`, if it has one.
    pub update_group: Option<String>,
    /// The member's labels.
    pub labels: BTreeMap<String, String>,
    /// Control-plane version; needed only by updates that look at it (R-I19).
    pub kubernetes_version: Option<KubernetesVersion>,
    /// Whether the cluster is started.
    pub power_state: PowerState,
    /// Whether the cluster has long-term support on (U7).
    pub long_term_support: bool,
    /// Whether node auto-provisioning is on (U8).
    pub node_auto_provisioning: bool,
    /// Node pools, in the file's order.
    pub pools: Vec<Pool>,
    /// `aksManagedAutoUpgradeSchedule`: the window of Kubernetes updates (U9).
    pub kubernetes_window: Option<WindowId>,
    /// `aksManagedNodeOSUpgradeSchedule`: the window of node image updates (U9).
    pub node_os_window: Option<WindowId>,
    /// `nodeDisruptionPolicy` (N1).
    pub node_disruption_policy: NodeDisruptionPolicy,
    /// The cluster's own auto-upgrade channel, if it is on (U10).
    pub auto_upgrade_channel: Option<String>,
    /// What the cluster upgrades by itself.
    pub own_upgrades: OwnUpgrades,
    /// ARM resource id of the managed cluster, where the input names one.
    pub cluster_resource_id: Option<String>,
}

impl Member {
    /// Nodes of all pools.
    pub fn nodes(&self) -> u32 {
        self.pools.iter().map(|pool| pool.count).sum()
    }

    /// The subscription that `clusterResourceId` names.
    pub fn subscription(&self) -> Option<&str> {
        let id = self.cluster_resource_id.as_ref()?;
        let mut parts = id.split('/').skip_while(|part| part.is_empty());
        let named = parts.next()?.eq_ignore_ascii_case("subscriptions");
        parts.next().filter(|name| named && !name.is_empty())
    }
}

/// What a cluster's own auto-upgrade brings (U10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnUpgrades {
    /// `upgradeChannel`: Kubernetes versions.
    pub kubernetes: Option<KubernetesChannel>,
    /// `nodeOSUpgradeChannel`, or the `upgradeChannel` node-image: the newest node images.
    pub images: bool,
}

impl OwnUpgrades {
    /// Whether there is any.
    pub const fn any(self) -> bool {
        self.images || self.kubernetes.is_some()
    }
}

/// The channel of a cluster's own Kubernetes upgrades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KubernetesChannel {
    /// The newest patch of its minor.
    Patch,
    /// The newest patch of N − 1.
    Stable,
    /// The newest patch of N.
    Rapid,
}

/// The power state of a cluster (U8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum PowerState {
    #[default]
    Running,
    Stopped,
}

/// What a cluster's node disruption policy lets through (N1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum NodeDisruptionPolicy {
    #[default]
    Allow,
    AllowDuringMaintenanceWindow,
    Block,
}

impl NodeDisruptionPolicy {
    /// All policies, in the API's order.
    pub const ALL: [Self; 3] = [Self::Allow, Self::AllowDuringMaintenanceWindow, Self::Block];

    /// The policy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::AllowDuringMaintenanceWindow => "AllowDuringMaintenanceWindow",
            Self::Block => "Block",
        }
    }
}

/// A node pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// Pool name.
    pub name: String,
    /// System or user pool.
    pub mode: PoolMode,
    /// Operating system.
    pub os_type: OsType,
    /// The image its nodes run at the scenario's start.
    pub image: PoolImage,
    /// `orchestratorVersion`, where it differs from the member's (R-I11).
    pub orchestrator_version: Option<KubernetesVersion>,
    /// How many nodes.
    pub count: u32,
    /// `maxSurge` (P1).
    pub max_surge: Amount,
    /// `maxUnavailable` (P1); zero when absent.
    pub max_unavailable: Amount,
    /// `drainTimeoutInMinutes` (P3).
    pub drain_timeout: Span,
    /// `nodeSoakDurationInMinutes` (P1).
    pub node_soak: Span,
    /// `maxPods` (P5).
    pub max_pods: u32,
    /// `undrainableNodeBehavior` (P3).
    pub undrainable: UndrainableNodeBehavior,
    /// `ephemeralData`: whether its nodes hold data that a reimage loses (N7).
    pub ephemeral_data: bool,
    /// Whether the pool was created from a snapshot (U5, R-I13: `creationData.sourceResourceId`).
    pub from_snapshot: bool,
}

/// What the nodes of a pool run at the scenario's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolImage {
    /// This image.
    Exactly(NodeImage),
    /// The image this many versions behind the newest of its family in the member's region.
    Behind {
        /// The family.
        family: FamilyId,
        /// How many versions behind; 0 is the newest.
        versions: u32,
    },
}

impl PoolImage {
    /// The image's family.
    pub const fn family(self) -> FamilyId {
        match self {
            Self::Exactly(image) => image.family,
            Self::Behind { family, .. } => family,
        }
    }
}

/// `mode` of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum PoolMode {
    #[default]
    System,
    User,
}

/// `osType` of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum OsType {
    #[default]
    Linux,
    Windows,
}

/// What happens to a node that cannot be drained (P3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum UndrainableNodeBehavior {
    #[default]
    Schedule,
    Cordon,
}

/// A whole number or a percentage of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// That many.
    Count(u32),
    /// That share, in whole percent.
    Percent(u32),
}

impl Amount {
    /// The amount out of `total`, percentages rounded down, in integers (L1).
    pub const fn of_rounded_down(self, total: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            #[expect(clippy::cast_possible_truncation, reason = "100 % of a u32 is a u32")]
            Self::Percent(percent) => (total as u64 * percent as u64 / 100) as u32,
        }
    }

    /// The amount out of `total`, percentages rounded up, in integers (L4).
    pub const fn of_rounded_up(self, total: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            #[expect(clippy::cast_possible_truncation, reason = "100 % of a u32 is a u32")]
            Self::Percent(percent) => (total as u64 * percent as u64).div_ceil(100) as u32,
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}
