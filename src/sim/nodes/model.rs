//! What the scenario says of nodes, budgets, capacity and throttling (W4, W5, W8).

use std::ops::RangeInclusive;

use crate::fleet::{Member, OsType, Pool, Selector};
use crate::quantiles::Distribution;
use crate::scheduler::Upgrade;
use crate::time::Span;

/// The smallest and the largest factor of durations.
pub const TIMES: [f64; 2] = [0.01, 100.0];

/// `durations: {model: nodes}`: the parts of an update (W4). Distributions are in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeModel {
    /// `controlPlane`: the update of a control plane (P4).
    pub control_plane: Distribution,
    /// `createSurge`: from the request for a pool's surge nodes until all of them are ready.
    pub create_surge: Distribution,
    /// `drain`: of one node, if no disruption budget blocks it.
    pub drain: Distribution,
    /// A timeout of at least this stops no drain but a blocked one, however long the distribution
    /// lets it take; `None`: every timeout stops what passes it (P3).
    pub patience: Option<Span>,
    /// `reimage`: of one node, until it is ready.
    pub reimage: Distribution,
    /// `removeSurge`: until a pool's surge nodes are gone.
    pub remove_surge: Distribution,
    /// `windowsFactor`: how much longer everything takes in a Windows pool.
    pub windows_factor: f64,
}

/// An entry of `durations.factors` (W5): what it applies to takes so many times as long.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationFactor {
    /// `where`: members whose labels match.
    pub members: Option<Selector>,
    /// `region`: members in one of these; all if there are none.
    pub regions: Vec<String>,
    /// `osType`: pools of this operating system; under `model: cluster`, members with such a pool.
    pub os_type: Option<OsType>,
    /// `upgrade`: updates of this type, and no configuration changes.
    pub upgrade: Option<UpgradeKind>,
    /// `nodes`: members with so many nodes.
    pub nodes: RangeInclusive<u32>,
    /// `times`
    pub times: f64,
}

/// A type of update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum UpgradeKind {
    Full,
    ControlPlaneOnly,
    NodeImageOnly,
}

impl From<Upgrade> for UpgradeKind {
    fn from(upgrade: Upgrade) -> Self {
        match upgrade {
            Upgrade::Full(_) => Self::Full,
            Upgrade::ControlPlaneOnly(_) => Self::ControlPlaneOnly,
            Upgrade::NodeImageOnly => Self::NodeImageOnly,
        }
    }
}

/// What is done to a member, as far as factors look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// An update of this type.
    Update(UpgradeKind),
    /// A reimage for a configuration change.
    Change,
}

impl Work {
    /// All of it.
    pub const ALL: [Self; 4] = [
        Self::Update(UpgradeKind::Full),
        Self::Update(UpgradeKind::ControlPlaneOnly),
        Self::Update(UpgradeKind::NodeImageOnly),
        Self::Change,
    ];

    /// Its position in [`Self::ALL`].
    pub const fn position(self) -> usize {
        match self {
            Self::Update(UpgradeKind::Full) => 0,
            Self::Update(UpgradeKind::ControlPlaneOnly) => 1,
            Self::Update(UpgradeKind::NodeImageOnly) => 2,
            Self::Change => 3,
        }
    }
}

/// Which part of a member the work is done to.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// All of it, as one.
    Whole,
    /// Its control plane.
    ControlPlane,
    /// This pool.
    Pool(&'a Pool),
}

/// How many times as long work on a part of a member takes: the product of all factors that apply.
pub fn factor(
    factors: &[DurationFactor],
    (member, region): (&Member, &str),
    part: Part<'_>,
    work: Work,
) -> f64 {
    let nodes = member.nodes();
    let applies = |factor: &&DurationFactor| {
        let os = |os: OsType| match part {
            Part::Whole => member.pools.iter().any(|pool| pool.os_type == os),
            Part::ControlPlane => false,
            Part::Pool(pool) => pool.os_type == os,
        };
        factor.members.as_ref().is_none_or(|selector| selector.matches(&member.labels))
            && (factor.regions.is_empty() || factor.regions.iter().any(|name| name == region))
            && factor.os_type.is_none_or(os)
            && factor.upgrade.is_none_or(|kind| work == Work::Update(kind))
            && factor.nodes.contains(&nodes)
    };
    factors.iter().filter(applies).map(|factor| factor.times).product()
}

/// `disruptionBudgets`: budgets that block drains (W8).
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetModel {
    /// Probability that a member has one, whatever is done to it; drawn once a replication.
    pub probability: f64,
    /// Share of them that is noticed before an update starts.
    pub caught: f64,
    /// Time from the first failure until somebody mends the budget, in milliseconds; `None`: never.
    pub mended: Option<Distribution>,
}

/// `quota`: shortages of capacity, region by region (W8).
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityModel {
    /// Share of the time that a region has a shortage.
    pub probability: f64,
    /// How long one lasts, in milliseconds.
    pub lasts: Distribution,
    /// Share of shortages in which not even one node is to be had.
    pub total: f64,
}

/// `throttling`: many updates in one subscription slow each other down (W8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottlingModel {
    /// So many at once go at full speed.
    pub at_most: u32,
    /// With more than so many at once, the one that starts is refused; `None`: never.
    pub refused_above: Option<u32>,
    /// The label whose value stands for the subscription; `None`: `clusterResourceId` names it.
    pub by_label: Option<String>,
}
