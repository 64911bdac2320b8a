//! What people ask of an update run, by name, as the API's operations do.

use std::fmt;

use crate::fleet::{KubernetesVersion, NodeImage, SecurityPatch};
use crate::scheduler::Restart;

/// What a release brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the kinds of release")]
pub enum Released {
    NodeImage(NodeImage),
    Kubernetes(KubernetesVersion),
    SecurityPatch(SecurityPatch),
}

/// One operation on the run (T7–T9, G5, G6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Approve the Pending approvals of a place (R-F3).
    Approve(&'a GatePath),
    /// Complete the Pending scheduled starts of a place by hand (G5).
    Complete(&'a GatePath),
    /// Stop the run (T7).
    Stop,
    /// Start a Stopped or Failed run again (T8), perhaps with its own kind of restart (R-D13).
    Start(Option<Restart>),
    /// Skip one target (T9).
    Skip(&'a SkipTarget),
}

/// `stage:NAME/before[/DISPLAYNAME]` and its like. Names are looked up when the time comes, since
/// one script serves several strategies (R-E6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePath {
    /// `stage:` or `group:`.
    pub scope: GateScope,
    /// The stage's or group's name.
    pub name: String,
    /// `before` or `after`.
    pub timing: GateTiming,
    /// Everything behind the second slash (R-K9).
    pub display_name: Option<String>,
}

/// Whose gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the two scopes")]
pub enum GateScope {
    Stage,
    Group,
}

/// Before or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum GateTiming {
    Before,
    After,
}

/// `Member:NAME` and its like (T9).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum SkipTarget {
    Member(String),
    Group(String),
    Stage(String),
    AfterStageWait(String),
}

/// Why an action was refused. A refused action changes nothing (R-F6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The run is Completed or Skipped: nothing can be asked of it any more.
    RunEnded,
    /// Stop: the run is neither Running nor Pending (R-D8).
    NotStoppable,
    /// Start: the run is neither Stopped nor Failed (R-D9).
    NotStartable,
    /// The run has nothing of that name.
    UnknownName,
    /// There is no gate of that kind (or name) at the place (R-F5).
    NoSuchGate,
    /// The gate has not been reached yet (G5).
    GateNotReached,
    /// The gate is Completed or Skipped already.
    GateDone,
    /// The stage has no after-stage wait (R-E5).
    NoWait,
    /// The run was generated and not started yet: it can only be started (A8).
    NotStarted,
    /// There is no run of that name (yet).
    NoSuchRun,
    /// The profile has no target: nothing that it follows has been released (A2, A8).
    NothingReleased,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RunEnded => "the update run has ended",
            Self::NotStoppable => "only a Running or Pending update run can be stopped",
            Self::NotStartable => "only a Stopped or Failed update run can be started",
            Self::UnknownName => "the update run has nothing of that name",
            Self::NoSuchGate => "there is no gate of that kind and name there",
            Self::GateNotReached => "the gate has not been reached yet",
            Self::GateDone => "the gate is Completed or Skipped already",
            Self::NoWait => "the stage has no after-stage wait",
            Self::NotStarted => "the update run has not been started",
            Self::NoSuchRun => "there is no update run of that name",
            Self::NothingReleased => "nothing that the profile follows has been released",
        })
    }
}

impl fmt::Display for GatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.scope == GateScope::Stage { "stage" } else { "group" };
        let timing = if self.timing == GateTiming::Before { "before" } else { "after" };
        write!(f, "{scope}:{}/{timing}", self.name)?;
        self.display_name.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

impl fmt::Display for SkipTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write!(f, "Member:{name}"),
            Self::Group(name) => write!(f, "Group:{name}"),
            Self::Stage(name) => write!(f, "Stage:{name}"),
            Self::AfterStageWait(name) => write!(f, "AfterStageWait:{name}"),
        }
    }
}
