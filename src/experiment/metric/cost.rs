//! What updates and configuration changes cost the fleet (P5, N7).

use std::fmt;

use super::Unit;
use crate::sim::Costs;

/// A metric of cost; 0 where the world's models know nothing of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostMetric {
    /// Time that surge nodes existed, summed over them.
    SurgeNodeHours,
    /// The most surge nodes that existed at one time in the whole fleet.
    PeakExtraNodes,
    /// The most addresses that surge nodes and their pods took at one time in the whole fleet.
    PeakExtraIps,
    /// Nodes that were reimaged, by updates and by configuration changes.
    ReimagedNodes,
    /// Those of them that lost ephemeral data.
    EphemeralDataLosses,
}

impl CostMetric {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 5] = [
        Self::SurgeNodeHours,
        Self::PeakExtraNodes,
        Self::PeakExtraIps,
        Self::ReimagedNodes,
        Self::EphemeralDataLosses,
    ];

    pub(super) const fn unit(self) -> Unit {
        match self {
            Self::SurgeNodeHours => Unit::Hours,
            Self::PeakExtraNodes
            | Self::PeakExtraIps
            | Self::ReimagedNodes
            | Self::EphemeralDataLosses => Unit::Count,
        }
    }

    pub(super) fn of(self, costs: &Costs) -> f64 {
        f64::from(match self {
            Self::SurgeNodeHours => return costs.surge_node_time.as_secs_f64() / 3_600.0,
            Self::PeakExtraNodes => costs.peak_extra_nodes,
            Self::PeakExtraIps => costs.peak_extra_ips,
            Self::ReimagedNodes => costs.reimaged_nodes,
            Self::EphemeralDataLosses => costs.ephemeral_data_losses,
        })
    }
}

impl fmt::Display for CostMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SurgeNodeHours => "surgeNodeHours",
            Self::PeakExtraNodes => "peakExtraNodes",
            Self::PeakExtraIps => "peakExtraIps",
            Self::ReimagedNodes => "reimagedNodes",
            Self::EphemeralDataLosses => "ephemeralDataLosses",
        })
    }
}
