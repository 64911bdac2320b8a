//! Strategies and updates as the API describes them (sections 1, 2, 5 and 6 of the rules).

use crate::calendar::ScheduledStart;
use crate::fleet::{Amount, KubernetesVersion, NodeImage, Selector};
use crate::time::Span;

/// A candidate strategy: what `az fleet updatestrategy` takes and prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// The name by which results name it.
    pub name: String,
    /// The stages, in order; empty means one by one (S8).
    pub stages: Vec<Stage>,
}

/// One stage (S2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Unique name.
    pub name: String,
    /// The groups, which run in parallel; empty with a selector means one implicit group (S4).
    pub groups: Vec<Group>,
    /// Filters the members of the stage (S4).
    pub member_selector: Option<Selector>,
    /// Ceiling over all groups together (L1–L3); 50 when absent.
    pub max_concurrency: Option<Amount>,
    /// How many failures the stage bears (L4, L5); 0 when absent.
    pub max_allowed_failures: Option<Amount>,
    /// Gates before anything of the stage begins.
    pub before_gates: Vec<Gate>,
    /// Gates after all groups have ended.
    pub after_gates: Vec<Gate>,
    /// `afterStageWaitInSeconds`; zero means no wait (R-F8).
    pub after_stage_wait: Span,
}

/// One group of a stage (S3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Unique name across the strategy; without a selector it chooses members by `updateGroup`.
    pub name: String,
    /// Chooses members instead of the name (S3).
    pub member_selector: Option<Selector>,
    /// Ceiling inside the group; 1 when absent.
    pub max_concurrency: Option<Amount>,
    /// How many failures the group bears; 0 when absent.
    pub max_allowed_failures: Option<Amount>,
    /// Gates before the first member.
    pub before_gates: Vec<Gate>,
    /// Gates after the last member.
    pub after_gates: Vec<Gate>,
}

/// A gate as configured (G1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Unique at its place; only a gate that is alone there may lack one (R-F4).
    pub display_name: Option<String>,
    /// What completes it.
    pub kind: GateKind,
}

/// `type` of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateKind {
    /// A person approves (G5).
    Approval,
    /// A weekly time comes (G6); before-gates only.
    ScheduledStart(ScheduledStart),
}

/// What an update run does to its members, and how it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// `upgrade` (U1).
    pub upgrade: Upgrade,
    /// `nodeImageSelection` (U2); `Latest` when absent, unused with `ControlPlaneOnly`.
    pub node_images: NodeImageSelection,
    /// What becomes of members whose power state is Stopped (U8).
    pub stopped_members: StoppedMembers,
    /// What a restart does with failed members (T8).
    pub restart: Restart,
    /// How often windows and availability are looked at (O4); zero means at once (R-B5).
    pub poll_interval: Span,
    /// How groups compete for the slots of their stage (O3).
    pub group_order: GroupOrder,
}

/// `upgrade.type` with its version (U1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Upgrade {
    /// Control plane, then node pools and images.
    Full(KubernetesVersion),
    /// Control plane alone.
    ControlPlaneOnly(KubernetesVersion),
    /// Node images alone.
    #[default]
    NodeImageOnly,
}

impl Upgrade {
    /// The target Kubernetes version, if the upgrade has one.
    pub const fn kubernetes_version(self) -> Option<KubernetesVersion> {
        match self {
            Self::Full(version) | Self::ControlPlaneOnly(version) => Some(version),
            Self::NodeImageOnly => None,
        }
    }
}

/// `nodeImageSelection` (U2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeImageSelection {
    /// The newest in the member's region when its own update starts.
    Latest,
    /// The newest that every region of the run has when the run starts.
    Consistent,
    /// These, at most one a family.
    Custom(Vec<NodeImage>),
}

/// `stoppedMembers` (U8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoppedMembers {
    /// They fail.
    #[default]
    Fail,
    /// They are skipped.
    Skip,
}

/// `restart` (T8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// Failed members stay Failed.
    #[default]
    KeepFailed,
    /// Failed members are put back to `NotStarted`.
    RetryFailed,
}

/// `groupOrder` (O3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupOrder {
    /// One member each in turn.
    #[default]
    RoundRobin,
    /// The first group takes what it can, then the next.
    StrategyOrder,
    /// The last group takes what it can, then the one before.
    Reverse,
}

/// Whether the documented limits of the service hold (`serviceLimits`, L2, R-G7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceLimits {
    /// 50 a stage, 50 groups a stage, 1,000 members.
    #[default]
    Azure,
    /// No caps.
    None,
}
