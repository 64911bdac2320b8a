//! What may happen around the scheduler: the models of the simulated world and their parameters.

pub use crate::fleet::Amount;
use crate::fleet::Fleet;
use crate::ids::RegionId;
pub use crate::quantiles::Distribution;
use crate::scheduler::auto_upgrade::Profile;
use crate::scheduler::{Restart, Update};
pub use crate::sim::added::PoolAdding;
use crate::sim::campaign::Campaign;
pub use crate::sim::churn::{ChurnModel, Joining, Leaving, Stopping};
pub use crate::sim::crew::{Skipper, Starter, Watchers};
pub use crate::sim::defects::{DefectModel, Halt};
pub use crate::sim::failures::FailureModel;
use crate::sim::nodes::{BudgetModel, CapacityModel, DurationFactor, NodeModel, ThrottlingModel};
pub use crate::sim::patches::LivePatchModel;
pub use crate::sim::people::Hours;
use crate::sim::script::Script;
use crate::time::{Span, Timestamp};

/// Everything that a world is made from: what all strategies of a scenario share.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'s> {
    /// Where the clock begins.
    pub start: Timestamp,
    /// Where it ends at the latest.
    pub horizon: Span,
    /// The seed of all luck.
    pub seed: u64,
    /// The fleet.
    pub fleet: &'s Fleet,
    /// What every strategy carries out.
    pub update: &'s Update,
    /// Whether there is such an update; without it, profiles make the only runs.
    pub has_update: bool,
    /// Who makes runs by itself.
    pub profiles: &'s [Profile],
    /// The models.
    pub world: &'s WorldModel,
    /// What takes their place.
    pub script: &'s Script,
    /// What members are asked for besides.
    pub campaigns: &'s [Campaign],
}

/// The world's models, as the scenario names them or by default (world.md's "Keys").
#[derive(Debug, Clone, PartialEq)]
pub struct WorldModel {
    /// `releases`: how versions arrive in regions.
    pub releases: ReleaseModel,
    /// What goes wrong with releases, of those that the models make.
    pub mishaps: Mishaps,
    /// `outages`: when regions are out (W3); `None`: never.
    pub outages: Option<OutageModel>,
    /// `durations`: how long an update takes.
    pub durations: DurationModel,
    /// `durations.factors`: what takes longer than others, or less long.
    pub duration_factors: Vec<DurationFactor>,
    /// `disruptionBudgets`: budgets that block drains; `None`: there are none.
    pub budgets: Option<BudgetModel>,
    /// `quota`: shortages of capacity; `None`: there are none.
    pub capacity: Option<CapacityModel>,
    /// `throttling`: how many updates at once slow each other down; `None`: they don't.
    pub throttling: Option<ThrottlingModel>,
    /// `failures`: independent failures; `None` turns them off.
    pub failures: Option<FailureModel>,
    /// `people.approvers`: who approves gates, and when; `None`: nobody does.
    pub approvers: Option<Approvers>,
    /// `people.restart`: who restarts a failed run, and when; `None`: nobody does.
    pub restarter: Option<Restarter>,
    /// `people.watchers`: who stops the run when members degrade; `None`: nobody does.
    pub watchers: Option<Watchers>,
    /// `people.skipPending`: who skips members that wait too long; `None`: nobody does.
    pub skipper: Option<Skipper>,
    /// `people.startAgain`: who starts a run again after a fix; `None`: nobody does.
    pub starter: Option<Starter>,
    /// `defects`: releases that break members; `None`: none does.
    pub defects: Option<DefectModel>,
    /// `churn`: members that come and go; `None`: all stay as they are.
    pub churn: Option<ChurnModel>,
    /// `livePatches`: how security patches go in; `None`: all by a reimage (A2).
    pub live_patches: Option<LivePatchModel>,
    /// `ownUpgrades.delay`: how long a member without a window is behind its own auto-upgrade
    /// channel before it upgrades itself, in milliseconds (U10); `None` turns own upgrades off.
    pub own_upgrades: Option<Distribution>,
}

/// How node images and Kubernetes versions arrive (W1, W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseModel {
    /// The measured trains of node images and AKS releases: one offset a version, then region by
    /// region.
    Train,
    /// What is on record arrives as it did, up to this instant.
    History(Timestamp),
    /// Nothing arrives but what the script names.
    Off,
}

/// What goes wrong with releases (W1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mishaps {
    /// `releases.abandoned`: probability that the rollout of a node image is abandoned after order
    /// 5; `None`: the measured one.
    pub abandoned: Option<f64>,
    /// `releases.delayed`: a rollout starts later than it would.
    pub delayed: Option<Mishap>,
    /// `releases.withdrawn`: a version is withdrawn, some time after its publication.
    pub withdrawn: Option<Mishap>,
}

/// Something that happens with some probability.
#[derive(Debug, Clone, PartialEq)]
pub struct Mishap {
    /// The probability.
    pub probability: f64,
    /// After, or by, how long: in milliseconds.
    pub after: Distribution,
}

/// Outages of regions, each region for itself (W3).
#[derive(Debug, Clone, PartialEq)]
pub struct OutageModel {
    /// From the scenario's start, or the end of an outage, to the next, in milliseconds.
    pub every: Distribution,
    /// How long an outage lasts, in milliseconds.
    pub lasts: Distribution,
    /// Where; `None`: in every region of the fleet.
    pub regions: Option<Vec<RegionId>>,
    /// What becomes of updates in flight.
    pub effect: OutageEffect,
}

/// What an outage does to updates in flight (W3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OutageEffect {
    /// They fail as it begins.
    #[default]
    Fail,
    /// They rest until it is over.
    Stretch,
}

/// How long a member's update takes (W4).
#[derive(Debug, Clone, PartialEq)]
pub enum DurationModel {
    /// One draw for each member and attempt; the distribution is in milliseconds.
    Cluster(Distribution),
    /// The sum of the update's parts: control plane, pools, nodes.
    Nodes(Box<NodeModel>),
}

/// People who approve gates, in their working hours (W10).
#[derive(Debug, Clone, PartialEq)]
pub struct Approvers {
    /// Working time from the gate's Pending to the approval, in milliseconds.
    pub delay: Distribution,
    /// They stop the run instead when more members than this are known to be degraded;
    /// percentages are of the run's members, rounded down.
    pub tolerance: Amount,
    /// When they work.
    pub hours: Hours,
}

/// Somebody who restarts a failed run (W11).
#[derive(Debug, Clone, PartialEq)]
pub struct Restarter {
    /// Time from the run's failure to the restart, in milliseconds.
    pub after: Distribution,
    /// How many times at most.
    pub at_most: u32,
    /// What becomes of the failed members.
    pub restart: Restart,
}
