//! The metrics of auto-upgrade; columns only where the scenario has profiles.

use std::fmt;

use crate::experiment::Unit;
use crate::scheduler::State;
use crate::sim::behind::Behind;
use crate::sim::{Autonomous, Outcome};
use crate::stats::Observation;

/// A metric of what auto-upgrade profiles came to in a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutoMetric {
    /// Runs that profiles made.
    Runs,
    /// Those that are Completed, or Skipped because nobody had anything to do.
    Completed,
    /// Those whose profile made the next one while they were still going on (A7).
    Overtaken,
    /// How far behind the profiles' targets members were: the mean over profiles, members and time.
    Behind,
    /// Members that fell behind a profile and were never up to date again, summed over profiles.
    NeverCaughtUp,
    /// Upgrades that members' own channels did (U10).
    Own,
    /// Nodes that got a security patch without a reimage (A2).
    LivePatched,
}

impl AutoMetric {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 7] = [
        Self::Runs,
        Self::Completed,
        Self::Overtaken,
        Self::Behind,
        Self::NeverCaughtUp,
        Self::Own,
        Self::LivePatched,
    ];

    pub(super) const fn unit(self) -> Unit {
        match self {
            Self::Behind => Unit::Seconds,
            Self::Runs | Self::Completed | Self::Overtaken => Unit::Count,
            Self::NeverCaughtUp | Self::Own | Self::LivePatched => Unit::Count,
        }
    }

    /// The metric's value in a replication; nothing happens without profiles.
    pub(super) fn of(self, outcome: &Outcome) -> Observation {
        let value = outcome.autonomous.as_ref().map(|autonomous| self.count(autonomous));
        Observation::exact(value.unwrap_or(0.0))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn count(self, autonomous: &Autonomous) -> f64 {
        let Autonomous { runs, behind, own_upgrades, live_patched_nodes, .. } = autonomous;
        let over = |state: State| matches!(state, State::Completed | State::Skipped);
        // The first cohort is everybody.
        let everybody = behind.iter().map(|cohorts| &cohorts[0]);
        match self {
            Self::Runs => runs.len() as f64,
            Self::Completed => runs.iter().filter(|run| over(run.state)).count() as f64,
            Self::Overtaken => runs.iter().filter(|run| run.overtaken.is_some()).count() as f64,
            Self::Behind => {
                let means = everybody.map(Behind::mean_seconds);
                means.sum::<f64>() / behind.len().max(1) as f64
            }
            Self::Own => f64::from(*own_upgrades),
            Self::LivePatched => f64::from(*live_patched_nodes),
            Self::NeverCaughtUp => f64::from(everybody.map(|one| one.never_caught_up).sum::<u32>()),
        }
    }
}

impl fmt::Display for AutoMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "autoUpgrade.runs",
            Self::Completed => "autoUpgrade.completed",
            Self::Overtaken => "autoUpgrade.overtaken",
            Self::Behind => "autoUpgrade.behind",
            Self::NeverCaughtUp => "autoUpgrade.neverCaughtUp",
            Self::Own => "autoUpgrade.ownUpgrades",
            Self::LivePatched => "autoUpgrade.livePatchedNodes",
        })
    }
}
