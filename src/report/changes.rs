//! What configuration changes came to, in one sentence.

use super::human;
use super::summary::StrategySummary;
use crate::experiment::{ChangeMetric, Metric};
use crate::stats::{Bound, Level, Statistic};
use crate::time::Span;

/// The sentence about one replication or many; `number` gives each metric as people read it.
/// Times that the horizon cut off read as such.
pub fn sentence(number: impl Fn(ChangeMetric) -> String) -> String {
    use ChangeMetric as C;
    format!(
        "changes: {} done, {} never (half after {}, 90 % after {}, all after {}); {} requests \
         refused, {} policies changed for them; {} nodes reimaged and their ephemeral data lost; \
         {} h of reimaging inside windows, {} h outside, {} h in working hours",
        number(C::Done),
        number(C::NeverDone),
        number(C::TimeTo(50)),
        number(C::TimeTo(90)),
        number(C::TimeTo(100)),
        number(C::RefusedCalls),
        number(C::PolicyChanges),
        number(C::ReimagedNodes),
        number(C::InWindow),
        number(C::OutsideWindow),
        number(C::Business),
    )
}

/// The sentence about a strategy: means, and medians of times. `None` without changes.
pub fn of_strategy(strategy: &StrategySummary, horizon: Span) -> Option<String> {
    strategy.metric(Metric::Change(ChangeMetric::Done))?;
    let number = |metric: ChangeMetric| {
        let ChangeMetric::TimeTo(_) = metric else {
            return human::count(strategy.mean(Metric::Change(metric)));
        };
        let median = Statistic::Quantile(Level::P50);
        let estimate = strategy.estimate(Metric::Change(metric), median);
        match estimate.map(|estimate| estimate.value) {
            Some(Bound::Value(seconds)) => human::seconds(seconds),
            _ => format!("> {}", human::duration(horizon)),
        }
    };
    Some(format!("{}: {}", strategy.name, sentence(number)))
}
