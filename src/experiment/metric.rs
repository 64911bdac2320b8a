//! The metrics of a replication: their names in every result file, and their units.

use std::fmt;
use std::str::FromStr;

use crate::sim::{DelayCause, End, Outcome};
use crate::stats::{Observation, Sample};
use crate::time::Span;

/// A metric of one replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// From the start to the run's final state.
    Makespan,
    /// Until this share of the run's members, in percent, is done.
    TimeTo(u8),
    /// Members that were updated.
    UpdatedMembers,
    /// Members that are Failed at the end.
    FailedMembers,
    /// Members that are Skipped at the end.
    SkippedMembers,
    /// Members that are Pending, or being updated, at the end.
    PendingMembers,
    /// Members that were never tried.
    NotStartedMembers,
    /// Approvals that people gave.
    Approvals,
    /// Restarts by people.
    Restarts,
    /// Where the makespan went, along the critical path.
    Delay(DelayCause),
    /// Whether the replication ended like this: 0 or 1.
    Outcome(End),
}

/// The unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, to the millisecond.
    Seconds,
    /// A count.
    Count,
    /// A share of replications.
    Share,
}

impl Metric {
    /// The columns of `runs.csv`, in order.
    pub fn columns() -> impl Iterator<Item = Self> {
        [
            Self::Makespan,
            Self::TimeTo(50),
            Self::TimeTo(90),
            Self::TimeTo(95),
            Self::TimeTo(99),
            Self::UpdatedMembers,
            Self::FailedMembers,
            Self::SkippedMembers,
            Self::PendingMembers,
            Self::NotStartedMembers,
            Self::Approvals,
            Self::Restarts,
        ]
        .into_iter()
        .chain(DelayCause::ALL.map(Self::Delay))
    }

    /// All metrics: the columns, then the outcomes.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::columns().chain(End::ALL.map(Self::Outcome))
    }

    /// The metric's unit.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Makespan | Self::TimeTo(_) | Self::Delay(_) => Unit::Seconds,
            Self::UpdatedMembers
            | Self::FailedMembers
            | Self::SkippedMembers
            | Self::PendingMembers
            | Self::NotStartedMembers
            | Self::Approvals
            | Self::Restarts => Unit::Count,
            Self::Outcome(_) => Unit::Share,
        }
    }

    /// The metric's values in replication order.
    pub fn sample(self, outcomes: &[Outcome], horizon: Span) -> Sample {
        Sample::new(outcomes.iter().map(|outcome| self.of(outcome, horizon)).collect())
    }

    /// The metric's value in a replication; censored values hold the horizon.
    pub fn of(self, outcome: &Outcome, horizon: Span) -> Observation {
        let count = |n: u32| Observation::exact(f64::from(n));
        let time = |span: Option<Span>| match span {
            Some(span) => Observation::exact(span.as_secs_f64()),
            None => Observation::beyond(horizon.as_secs_f64()),
        };
        match self {
            Self::Makespan => time(outcome.makespan),
            Self::TimeTo(percent) => time(outcome.time_to(u32::from(percent))),
            Self::UpdatedMembers => count(outcome.updated),
            Self::FailedMembers => count(outcome.failed),
            Self::SkippedMembers => count(outcome.skipped),
            Self::PendingMembers => count(outcome.pending),
            Self::NotStartedMembers => count(outcome.not_started),
            Self::Approvals => count(outcome.approvals),
            Self::Restarts => count(outcome.restarts),
            Self::Delay(cause) => Observation::exact(outcome.delays.of(cause).as_secs_f64()),
            Self::Outcome(end) => count(u32::from(outcome.end == end)),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Makespan => f.write_str("makespan"),
            Self::TimeTo(percent) => write!(f, "timeTo{percent}"),
            Self::UpdatedMembers => f.write_str("updatedMembers"),
            Self::FailedMembers => f.write_str("failedMembers"),
            Self::SkippedMembers => f.write_str("skippedMembers"),
            Self::PendingMembers => f.write_str("pendingMembers"),
            Self::NotStartedMembers => f.write_str("notStartedMembers"),
            Self::Approvals => f.write_str("approvals"),
            Self::Restarts => f.write_str("restarts"),
            Self::Delay(cause) => write!(f, "delay.{}", cause.word()),
            Self::Outcome(end) => write!(f, "outcome.{}", end.word()),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .find(|metric| metric.to_string() == text)
            .ok_or_else(|| format!("there is no metric `{text}`"))
    }
}
