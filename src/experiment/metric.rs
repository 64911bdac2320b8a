//! The metrics of a replication: their names in every result file, and their units.

mod cost;

pub use cost::CostMetric;

use std::fmt;
use std::str::FromStr;

use crate::experiment::AutoMetric;
use crate::scenario::Scenario;
use crate::sim::{Changes, DelayCause, End, Outcome};
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
    /// Members that ran a defective release before the rollout was stopped or the defect fixed.
    ExposedMembers,
    /// For how long they did, summed over members.
    ExposedHours,
    /// Time of members since a newer version's arrival in their region, until they are done.
    StaleHours,
    /// The most distinct versions of one image family at one time.
    ImageSkew,
    /// Approvals that people gave.
    Approvals,
    /// Restarts by people.
    Restarts,
    /// What updates and changes cost.
    Cost(CostMetric),
    /// Where the makespan went, along the critical path.
    Delay(DelayCause),
    /// What the configuration changes came to.
    Change(ChangeMetric),
    /// What auto-upgrade came to.
    Auto(AutoMetric),
    /// Whether the replication ended like this: 0 or 1.
    Outcome(End),
}

/// A metric of configuration changes; columns only where the scenario has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeMetric {
    /// Until this share of the changes, in percent, is done.
    TimeTo(u8),
    /// Changes that were done.
    Done,
    /// Changes that were not done by the horizon.
    NeverDone,
    /// Requests that a node disruption policy refused.
    RefusedCalls,
    /// Policies that were set to Allow for the time of one request.
    PolicyChanges,
    /// Nodes that changes reimaged.
    ReimagedNodes,
    /// Those of them that lost ephemeral data (N7).
    EphemeralDataLosses,
    /// Reimaging time inside the members' windows.
    InWindow,
    /// Reimaging time outside of them.
    OutsideWindow,
    /// Reimaging time in working hours.
    Business,
}

impl ChangeMetric {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 12] = [
        Self::TimeTo(50),
        Self::TimeTo(90),
        Self::TimeTo(100),
        Self::Done,
        Self::NeverDone,
        Self::RefusedCalls,
        Self::PolicyChanges,
        Self::ReimagedNodes,
        Self::EphemeralDataLosses,
        Self::InWindow,
        Self::OutsideWindow,
        Self::Business,
    ];

    /// The metric's unit.
    pub const fn unit(self) -> Unit {
        match self {
            Self::TimeTo(_) => Unit::Seconds,
            Self::InWindow | Self::OutsideWindow | Self::Business => Unit::Hours,
            Self::Done | Self::NeverDone | Self::RefusedCalls | Self::PolicyChanges => Unit::Count,
            Self::ReimagedNodes | Self::EphemeralDataLosses => Unit::Count,
        }
    }

    /// The metric's value, of all changes of a replication or of one campaign's.
    pub fn of(self, changes: &Changes, horizon: Span) -> Observation {
        let count = |n: u32| Observation::exact(f64::from(n));
        let hours = |span: Span| Observation::exact(span.as_secs_f64() / 3_600.0);
        match self {
            Self::TimeTo(percent) => match changes.time_to(u32::from(percent)) {
                Some(span) => Observation::exact(span.as_secs_f64()),
                None => Observation::beyond(horizon.as_secs_f64()),
            },
            Self::Done => count(changes.wanted - changes.never_done()),
            Self::NeverDone => count(changes.never_done()),
            Self::RefusedCalls => count(changes.refused_calls),
            Self::PolicyChanges => count(changes.policy_changes),
            Self::ReimagedNodes => count(changes.reimaged_nodes),
            Self::EphemeralDataLosses => count(changes.ephemeral_data_losses),
            Self::InWindow => hours(changes.in_window),
            Self::OutsideWindow => hours(changes.outside_window),
            Self::Business => hours(changes.business),
        }
    }
}

impl fmt::Display for ChangeMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeTo(percent) => write!(f, "changes.timeTo{percent}"),
            Self::Done => f.write_str("changes.done"),
            Self::NeverDone => f.write_str("changes.neverDone"),
            Self::RefusedCalls => f.write_str("refusedCalls"),
            Self::PolicyChanges => f.write_str("policyChanges"),
            Self::ReimagedNodes => f.write_str("changes.reimagedNodes"),
            Self::EphemeralDataLosses => f.write_str("changes.ephemeralDataLosses"),
            Self::InWindow => f.write_str("reimageInWindowHours"),
            Self::OutsideWindow => f.write_str("reimageOutsideWindowHours"),
            Self::Business => f.write_str("reimageBusinessHours"),
        }
    }
}

/// The unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, to the millisecond.
    Seconds,
    /// Hours.
    Hours,
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
            Self::ExposedMembers,
            Self::ExposedHours,
            Self::StaleHours,
            Self::ImageSkew,
            Self::Approvals,
            Self::Restarts,
        ]
        .into_iter()
        .chain(CostMetric::ALL.map(Self::Cost))
        .chain(DelayCause::ALL.map(Self::Delay))
    }

    /// The columns of this scenario's `runs.csv`: those of changes and of auto-upgrade only where
    /// it has some.
    pub fn columns_of(scenario: &Scenario) -> impl Iterator<Item = Self> {
        let (changes, profiles) = (!scenario.campaigns.is_empty(), !scenario.profiles.is_empty());
        Self::columns()
            .chain(ChangeMetric::ALL.map(Self::Change).into_iter().filter(move |_| changes))
            .chain(AutoMetric::ALL.map(Self::Auto).into_iter().filter(move |_| profiles))
    }

    /// Whether it says something of the run of `update`, which a scenario may lack.
    pub const fn is_of_update(self) -> bool {
        !matches!(self, Self::Change(_) | Self::Auto(_))
    }

    /// All metrics that every scenario has: the columns, then the outcomes.
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
            | Self::ExposedMembers
            | Self::ImageSkew
            | Self::Approvals
            | Self::Restarts => Unit::Count,
            Self::ExposedHours | Self::StaleHours => Unit::Hours,
            Self::Outcome(_) => Unit::Share,
            Self::Cost(metric) => metric.unit(),
            Self::Change(metric) => metric.unit(),
            Self::Auto(metric) => metric.unit(),
        }
    }

    /// The metric's values in replication order.
    pub fn sample(self, outcomes: &[Outcome], horizon: Span) -> Sample {
        Sample::new(outcomes.iter().map(|outcome| self.of(outcome, horizon)).collect())
    }

    /// The metric's value in a replication; censored values hold the horizon.
    pub fn of(self, outcome: &Outcome, horizon: Span) -> Observation {
        let count = |n: u32| Observation::exact(f64::from(n));
        let hours = |span: Span| Observation::exact(span.as_secs_f64() / 3_600.0);
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
            Self::ExposedMembers => count(outcome.exposure.members),
            Self::ExposedHours => hours(outcome.exposure.time),
            Self::StaleHours => hours(outcome.versions.stale),
            Self::ImageSkew => count(outcome.versions.skew),
            Self::Approvals => count(outcome.approvals),
            Self::Restarts => count(outcome.restarts),
            Self::Cost(metric) => Observation::exact(metric.of(&outcome.costs)),
            Self::Delay(cause) => Observation::exact(outcome.delays.of(cause).as_secs_f64()),
            Self::Outcome(end) => count(u32::from(outcome.end == end)),
            Self::Change(metric) => metric.of(&outcome.changes, horizon),
            Self::Auto(metric) => metric.of(outcome),
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
            Self::ExposedMembers => f.write_str("exposedMembers"),
            Self::ExposedHours => f.write_str("exposedHours"),
            Self::StaleHours => f.write_str("staleHours"),
            Self::ImageSkew => f.write_str("imageSkew"),
            Self::Approvals => f.write_str("approvals"),
            Self::Restarts => f.write_str("restarts"),
            Self::Cost(metric) => write!(f, "{metric}"),
            Self::Delay(cause) => write!(f, "delay.{}", cause.word()),
            Self::Outcome(end) => write!(f, "outcome.{}", end.word()),
            Self::Change(metric) => write!(f, "{metric}"),
            Self::Auto(metric) => write!(f, "{metric}"),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .chain(ChangeMetric::ALL.map(Self::Change))
            .chain(AutoMetric::ALL.map(Self::Auto))
            .find(|metric| metric.to_string() == text)
            .ok_or_else(|| format!("there is no metric `{text}`"))
    }
}
