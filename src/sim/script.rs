//! The scripted world: what happens, by name and instant, without luck (`script`).

pub use super::outages::Outage;
use crate::fleet::{Pool, PowerState};
use crate::ids::{MemberId, RegionId};
use crate::scheduler::Restart;
pub use crate::scheduler::{GatePath, GateScope, GateTiming, Released, SkipTarget};
pub use crate::sim::defects::{Effect, ScriptedDefect};
use crate::time::{Span, Timestamp};

/// A script; absent parts are left to the world's models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// `updates`: what each member's n-th started update does.
    pub updates: Option<ScriptedUpdates>,
    /// `releases`: what arrives where and when, instead of the world's releases.
    pub releases: Option<Vec<ScriptedRelease>>,
    /// `outages`: when regions are out, instead of the world's; those of one region do not
    /// overlap.
    pub outages: Option<Vec<Outage>>,
    /// `capacity`: shortages, instead of the world's.
    pub capacity: Option<Vec<ScriptedShortage>>,
    /// `disruptionBudgets`: budgets that block, instead of the world's.
    pub budgets: Option<Vec<ScriptedBudget>>,
    /// `defects`: which releases break whom, instead of the world's defects.
    pub defects: Option<Vec<ScriptedDefect>>,
    /// `actions`: what people do, in the order of time, then of the file (R-K8). `None` when the
    /// key is absent: then the world's people act.
    pub actions: Option<Vec<ScriptedAction>>,
}

/// What each member's updates do (R-K6).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptedUpdates {
    /// By member; members without an entry follow `rest`.
    pub by_member: std::collections::BTreeMap<MemberId, Vec<ScriptedUpdate>>,
    /// `*`: one entry an attempt, the last repeats; each member counts its own attempts.
    pub rest: Vec<ScriptedUpdate>,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedUpdate {
    /// How long it takes; zero or at least a second (R-A6).
    pub takes: Span,
    /// The error code with which it fails at its end (R-I17); it succeeds without one.
    pub fails: Option<String>,
}

/// One release and when it reaches each region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedRelease {
    /// What is released.
    pub what: Released,
    /// When it reaches a named region.
    pub regions: Vec<(RegionId, Timestamp)>,
    /// When it reaches every region not named (R-K7).
    pub everywhere_else: Option<Timestamp>,
    /// Whether it is a preview, which is no profile's target (A3); for Kubernetes versions.
    pub preview: bool,
    /// Whether it needs a reimage, for security patches; `None`: the world says.
    pub reimage: Option<bool>,
    /// From when on it is offered nowhere any more (W1).
    pub withdrawn: Option<Timestamp>,
    /// End of community support (R-I12), for Kubernetes versions.
    pub support_until: Option<Timestamp>,
    /// End of long-term support (R-I12), for Kubernetes versions.
    pub lts_until: Option<Timestamp>,
}

impl ScriptedRelease {
    /// When it was published: its earliest arrival anywhere (R-I8); `None`: it never is.
    pub fn published(&self) -> Option<Timestamp> {
        self.instants().min()
    }

    /// When it reaches the regions that are named, and all others.
    pub fn instants(&self) -> impl Iterator<Item = Timestamp> {
        self.regions.iter().map(|(_, at)| *at).chain(self.everywhere_else)
    }
}

/// A region has little or nothing to give to pools that ask for surge nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedShortage {
    /// Where.
    pub region: RegionId,
    /// From when on, from the start.
    pub from: Span,
    /// Until when, exclusive.
    pub to: Span,
    /// Whether not even one node is to be had.
    pub total: bool,
}

/// A disruption budget that blocks drains on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedBudget {
    /// Whose.
    pub member: MemberId,
    /// Which pool, by its number in the member.
    pub pool: u32,
    /// So many of its nodes come before those that are blocked.
    pub after: u32,
    /// So many nodes are blocked.
    pub nodes: u32,
    /// Whether it is noticed before an update starts.
    pub caught: bool,
    /// When it is mended, from the start.
    pub mended: Option<Span>,
}

/// One scripted action, at an offset from the scenario's start.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedAction {
    /// When.
    pub at: Span,
    /// The name of the profile's run that it is about; `None`: the scenario's `update`.
    pub run: Option<String>,
    /// What.
    pub action: ScriptedVerb,
}

/// What a scripted action does.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedVerb {
    /// Approve the approvals of a place.
    Approve(GatePath),
    /// Complete a scheduled start by hand.
    Complete(GatePath),
    /// Stop the run.
    Stop,
    /// Start the run again, perhaps with its own kind of restart (R-D13).
    Start(Option<Restart>),
    /// Skip these, one after the other.
    Skip(Vec<SkipTarget>),
    /// Generate the run of the profile at this position, without starting it (A8).
    Generate(usize),
    /// A pool joins a member.
    AddPool(MemberId, Pool),
    /// A member's cluster is stopped, or started.
    Power(MemberId, PowerState),
    /// A member leaves the fleet.
    Leave(MemberId),
    /// A member of the fleet that joins in mid-run does so.
    Join(MemberId),
}
