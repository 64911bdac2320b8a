//! Replications until the headline numbers are as precise as asked (X6).

use super::{Effort, Experiment, Metric, Outcomes};
use crate::sim::Outcome;
use crate::stats::{
    self, Confidence, Estimate, Level, Look, Precision, Statistic, looks, precision,
};

/// What must be precise, for every strategy.
pub const HEADLINES: [(Metric, Statistic); 4] = [
    (Metric::Makespan, Statistic::Mean),
    (Metric::Makespan, Statistic::Quantile(Level::P95)),
    (Metric::TimeTo(90), Statistic::Quantile(Level::P50)),
    (Metric::UpdatedMembers, Statistic::Mean),
];

/// How precise a headline number is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// Index of the strategy.
    pub strategy: usize,
    /// The metric.
    pub metric: Metric,
    /// Its statistic.
    pub statistic: Statistic,
    /// Whether the target is met.
    pub precision: Precision,
}

impl Reached {
    /// Whether more replications are needed.
    pub fn is_unmet(&self) -> bool {
        matches!(self.precision, Precision::Unmet { .. })
    }
}

/// How precise, how sure, and at what price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The larger half-width over the value, such as 0.02.
    pub target: f64,
    /// How sure the intervals are, whatever the look at which replications end.
    pub confidence: Confidence,
    /// Replications of each strategy at most; at least 1.
    pub most: u32,
}

/// What came of a search for precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Sought {
    /// All replications.
    pub outcomes: Outcomes,
    /// The look at which they ended, or in which they were interrupted: intervals are reported
    /// with its confidence.
    pub look: Look,
    /// How precise each headline number is at that look; empty without replications.
    pub reached: Vec<Reached>,
}

impl Sought {
    /// Whether every headline number is precise enough, or exempt.
    pub fn is_met(&self) -> bool {
        !self.reached.is_empty() && !self.reached.iter().any(Reached::is_unmet)
    }
}

impl Experiment<'_> {
    /// Adds replications, look by look ([`looks`]), until every headline number of every strategy
    /// is precise enough or exempt. `effort.replications` is not used; `look` is told of each look
    /// before its replications are made.
    ///
    /// # Panics
    /// If `goal.most` is 0.
    pub fn seek(&self, goal: &Goal, effort: &Effort<'_>, look: &mut dyn FnMut(Look)) -> Sought {
        let mut outcomes = Outcomes::none(self.plans.len());
        let mut looks = looks(goal.confidence, goal.most as usize).peekable();
        loop {
            let now = looks.next().expect("a limit of at least 1 has a last look");
            look(now);
            let replications = u32::try_from(now.replications).expect("looks end at a u32");
            self.go_on(&mut outcomes, &Effort { replications, ..*effort });
            let reached = self.reached(&outcomes, goal.target, now.confidence);
            let met = !reached.is_empty() && !reached.iter().any(Reached::is_unmet);
            if met || outcomes.interrupted || looks.peek().is_none() {
                return Sought { outcomes, look: now, reached };
            }
        }
    }

    /// How precise the headline numbers are; empty without replications.
    fn reached(&self, outcomes: &Outcomes, target: f64, confidence: Confidence) -> Vec<Reached> {
        let mut reached = Vec::new();
        for (strategy, outcomes) in outcomes.by_strategy.iter().enumerate() {
            for (metric, statistic) in HEADLINES {
                let estimate = self.estimate(outcomes, metric, statistic, confidence);
                reached.extend(estimate.map(|estimate| {
                    let precision = precision(&estimate, target);
                    Reached { strategy, metric, statistic, precision }
                }));
            }
        }
        reached
    }

    /// What one number of a strategy is; without luck, one replication says everything. `None`
    /// without replications.
    fn estimate(
        &self,
        outcomes: &[Outcome],
        metric: Metric,
        statistic: Statistic,
        confidence: Confidence,
    ) -> Option<Estimate> {
        let sample = metric.sample(outcomes, self.scenario.horizon);
        if !self.is_deterministic() {
            return statistic.of(&sample, confidence);
        }
        let first = *sample.observations().first()?;
        stats::Summary::certain(first, sample.len()).get(statistic).cloned()
    }
}
