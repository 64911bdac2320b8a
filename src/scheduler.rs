//! The update-run scheduler: sans-IO, without clock and luck.
//!
//! [`Scheduler::handle`] takes one event and yields what the driver must do;
//! [`Scheduler::next_wake`] says when it wants to be woken, and why. It knows only what events told
//! it, so it drives real clusters and simulated ones alike.
//!
//! # The contract, and the order within one instant (R-A1)
//!
//! The driver hands over everything that happens at an instant in this order: endings of updates
//! (in the order in which they started), then arrivals and other news, then people's actions; and
//! only when nothing more happens at that instant, [`Event::Woke`], as long as
//! [`Scheduler::next_wake`] is not later than now. The scheduler does the rest: scheduled starts
//! and waits come after the endings and before the first action; what follows by itself follows at
//! once; members are tried when it is woken; Running and Pending are judged last.
//!
//! # Rooms
//!
//! `plan` resolves a strategy over a fleet, with `limits`; `state` holds the table of legal moves.
//! `run` holds the state of a run and takes events: `advance` draws their consequences, `gate` and
//! `skip` open, complete and skip, `restart` stops and starts, `attempt` tries members in the order
//! that `pick` keeps, `poll` notices those that wait, `judge` says Running or Pending, `relay` does
//! the common case of all that at once, and `member` keeps what members have come to. `target`
//! knows versions and availability; `observe` takes what is so when a run starts, and `absent` who
//! is not there then; `action` is what people ask, `record` what is told, `status` the ARM
//! resource.
//!
//! Two rooms stand apart from runs: [`auto_upgrade`] decides which runs a profile makes, and with
//! which target (section 8); [`disruption`] decides whether a configuration change may reimage
//! the nodes of a cluster now (section 9).
//!
//! Several runs over one fleet are several schedulers. Their driver sees to it that a member is
//! updated by one at a time ([`Event::Busy`]), and tells each what the others have done
//! ([`Scheduler::observe_member`]).

mod absent;
mod action;
mod advance;
mod attempt;
pub mod auto_upgrade;
pub mod disruption;
mod gate;
mod invariants;
mod judge;
mod lane;
mod limits;
mod member;
mod observe;
mod pick;
mod plan;
mod poll;
mod record;
mod relay;
mod restart;
mod run;
mod skip;
mod state;
mod status;
mod strategy;
mod target;

pub use action::{Action, GatePath, GateScope, GateTiming, Refusal, Released, SkipTarget};
pub use limits::Limits;
pub use plan::{
    Cohort, FLEET_MAX_MEMBERS, GatePlan, GroupPlan, MemberPlace, Plan, STAGE_MAX_CONCURRENCY,
    STAGE_MAX_GROUPS, StagePlan,
};
pub use record::{EventKind, FailureCode, Log, NoLog, Node, Reason, Record};
pub use relay::Relayed;
pub use run::{
    GateStatus, GroupStatus, MemberStatus, RunStatus, Scheduler, StageStatus, Times, WaitStatus,
};
pub use state::{NodeKind, State};
pub use strategy::*;
pub use target::{IMAGE_VALIDITY, Support};

use crate::fleet::{ImageVersion, Pool, PowerState};
use crate::ids::{GateId, MemberId, RegionId, StageId};

/// What happens, as the driver tells it.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The run is started for the first time.
    Started,
    /// A member's update has ended well.
    UpdateCompleted(MemberId),
    /// A member's update has failed, with this code.
    UpdateFailed(MemberId, FailureCode),
    /// A release has reached a region.
    Arrived(Released, RegionId),
    /// A release is withdrawn: no region offers it any more (W1). A target that is withdrawn is
    /// not there, and not the newest.
    Withdrawn(Released),
    /// A pool has joined a member.
    PoolAdded(MemberId, &'a Pool, ImageVersion),
    /// Another run or a change begins (`true`) or ends its work on a member: until it ends, the
    /// member is not updated (R-B7, condition 0). Must not begin while the member is updated.
    Busy(MemberId, bool),
    /// A member's cluster is stopped, or started again; an update in flight goes on (R-I21).
    PowerState(MemberId, PowerState),
    /// A member has left the fleet: it is Skipped if its update has not started (R-I21).
    Left(MemberId),
    /// A region's outage begins (`true`) or ends: until it ends, its members are as if busy, and
    /// none of their updates starts (W3; R-B7, condition 0). Updates in flight go on, or the driver
    /// reports their failure.
    Outage(RegionId, bool),
    /// Somebody asks something of the run.
    Act(Action<'a>),
    /// Nothing more happens at this instant, and `next_wake` has come.
    Woke,
}

/// What the driver must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "dropping an output loses an update or a refusal"]
pub enum Output {
    /// Start the member's update; report its end with [`Event::UpdateCompleted`] or
    /// [`Event::UpdateFailed`].
    StartUpdate {
        /// The member.
        member: MemberId,
        /// Which attempt of the member in this run, from 0.
        attempt: u16,
    },
    /// The action was refused and has changed nothing (R-F6).
    Refused(Refusal),
}

/// Why the scheduler wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Something at this very instant is still to be followed up, tried or judged.
    Now,
    /// A scheduled start is due.
    ScheduledStart(GateId),
    /// An after-stage wait is over.
    WaitOver(StageId),
    /// Windows or availability have changed and the poll grid reaches the change (O4).
    Poll,
}
