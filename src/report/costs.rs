//! What updates cost, in one sentence.

use super::human;
use super::summary::StrategySummary;
use crate::experiment::{ChangeMetric, CostMetric, Metric};
use crate::stats::{Bound, Level, Statistic};

/// The sentence about one replication or many; `number` gives each metric as people read it.
pub fn sentence(number: impl Fn(CostMetric) -> String) -> String {
    use CostMetric as C;
    format!(
        "cost: {} h of surge nodes, at most {} nodes and {} addresses more at one time; {} nodes \
         reimaged, {} of them with ephemeral data",
        number(C::SurgeNodeHours),
        number(C::PeakExtraNodes),
        number(C::PeakExtraIps),
        number(C::ReimagedNodes),
        number(C::EphemeralDataLosses),
    )
}

/// The sentence about a strategy: means, and for what must be there at one time, the p95. `None`
/// where no update has cost anything.
pub fn of_strategy(strategy: &StrategySummary) -> Option<String> {
    let mean = |metric| strategy.mean(Metric::Cost(metric));
    let by_changes = Metric::Change(ChangeMetric::ReimagedNodes);
    let by_changes = strategy.metric(by_changes).map_or(0.0, |_| strategy.mean(by_changes));
    if mean(CostMetric::SurgeNodeHours) <= 0.0 && mean(CostMetric::ReimagedNodes) <= by_changes {
        return None;
    }
    let number = |metric| match metric {
        CostMetric::PeakExtraNodes | CostMetric::PeakExtraIps => {
            let p95 = Statistic::Quantile(Level::P95);
            let estimate = strategy.estimate(Metric::Cost(metric), p95);
            match estimate.map(|estimate| estimate.value) {
                Some(Bound::Value(value)) => human::count(value),
                _ => "?".to_owned(),
            }
        }
        _ => human::count(mean(metric)),
    };
    Some(format!("{}: {}", strategy.name, sentence(number)))
}
