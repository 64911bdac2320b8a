//! Which assumptions move the answer most: one at a time, each a third and three times of what it
//! is, all on the same luck.
//!
//! One-at-a-time analysis (Saltelli and others 2008, "Global sensitivity analysis", section 1.2.6)
//! says how much an answer hangs on one number while all others are as assumed; it does not see
//! what two of them do together. Changes of means are paired by replication (X4), those of
//! quantiles by sections of replications.

mod input;
mod number;

pub use input::Input;

use super::{AutoMetric, ChangeMetric, Metric, Outcomes};
use crate::scenario::Scenario;
use crate::stats::{
    Better, Bound, Caveat, Confidence, Interval, Level, PairedDifference, Sample, Statistic,
    quantile_difference,
};
use crate::time::Span;

/// What inputs are multiplied by.
pub const FACTORS: [f64; 2] = [1.0 / 3.0, 3.0];

/// Scenarios in which one input is another.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Which.
    pub input: Input,
    /// What it was multiplied by; capped inputs by less.
    pub factor: f64,
    /// The scenarios, in order; one that has no such input is as it was.
    pub scenarios: Vec<Scenario>,
}

/// Every input of these scenarios, variants of one file, smaller and larger: in all that have it.
pub fn trials(scenarios: &[&Scenario]) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut varied: Vec<Scenario> = scenarios.iter().copied().cloned().collect();
    for input in Input::all() {
        for factor in FACTORS {
            let multiply = |any: bool, scenario| input.multiply(scenario, factor) | any;
            if varied.iter_mut().fold(false, multiply) {
                let fresh = scenarios.iter().copied().cloned().collect();
                let scenarios = std::mem::replace(&mut varied, fresh);
                trials.push(Trial { input, factor, scenarios });
            }
        }
    }
    trials
}

/// How a number of a strategy changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Index of the strategy.
    pub strategy: usize,
    /// The mean or the p95 of the metric.
    pub statistic: Statistic,
    /// The number as it was and as it is; `None` beyond the horizon.
    pub values: [Option<f64>; 2],
    /// The difference in the metric's unit; `None` where a number lies beyond the horizon.
    pub change: Option<f64>,
    /// Where the true difference lies; `None` where the sample is too small to say.
    pub interval: Option<Interval>,
    /// Whether cut-off runs count as the horizon (X5).
    pub restricted: bool,
}

/// That the order of two strategies by a metric's mean is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overtaking {
    /// The strategy that has less of it now.
    pub less: usize,
    /// The one that had.
    pub more: usize,
    /// Whether both orders are beyond doubt: neither interval of the paired difference includes 0.
    pub clear: bool,
}

/// That another strategy is best by a metric's mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The metric, one of [`Question::ranked`].
    pub metric: Metric,
    /// Which strategy was best.
    pub was: usize,
    /// Which is.
    pub is: usize,
    /// Whether both are beyond doubt: neither interval of their paired difference includes 0.
    pub clear: bool,
}

/// What is asked of every trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Whose changes.
    pub metric: Metric,
    /// Whether somebody is in the run of `update`, so that its metrics say something.
    pub has_members: bool,
    /// How far the clock goes.
    pub horizon: Span,
    /// How sure intervals are.
    pub confidence: Confidence,
    /// Whether there is no luck, and so no doubt.
    pub deterministic: bool,
}

impl Question {
    /// What a scenario is asked if nothing else is said: how long its run takes; without one, how
    /// far its profiles let members fall behind, or how long its configuration changes take.
    pub fn default_metric(scenario: &Scenario) -> Metric {
        if scenario.updates_somebody() {
            Metric::Makespan
        } else if scenario.profiles.is_empty() {
            Metric::Change(ChangeMetric::TimeTo(100))
        } else {
            Metric::Auto(AutoMetric::Behind)
        }
    }

    /// By what strategies are ranked: which is best is an answer.
    pub fn ranked(&self) -> Vec<Metric> {
        let of_update =
            [Metric::Makespan, Metric::FailedMembers, Metric::ExposedHours, Metric::StaleHours];
        let others = of_update.into_iter().filter(|of| self.has_members && *of != self.metric);
        [self.metric].into_iter().chain(others).collect()
    }

    /// The changes of the metric's mean and p95, strategy by strategy.
    ///
    /// # Panics
    /// If the two do not have the same strategies and replications, or there are none.
    pub fn changes(&self, [base, trial]: [&Outcomes; 2]) -> Vec<Change> {
        let mut changes = Vec::new();
        for (strategy, pair) in base.by_strategy.iter().zip(&trial.by_strategy).enumerate() {
            let before = self.metric.sample(pair.0, self.horizon);
            let after = self.metric.sample(pair.1, self.horizon);
            let mut both = [
                mean_change(&before, &after, self.confidence),
                quantile_change(&before, &after, Level::P95, self.confidence),
            ];
            for change in &mut both {
                change.strategy = strategy;
                if self.deterministic {
                    change.interval = change.change.map(|value| Interval::of(value, value));
                }
            }
            changes.extend(both);
        }
        changes
    }

    /// Which strategies change order by the metric's mean.
    ///
    /// # Panics
    /// As [`Self::changes`].
    pub fn overtakings(&self, [base, trial]: [&Outcomes; 2]) -> Vec<Overtaking> {
        let [before, after] = [base, trial].map(|outcomes| self.samples(self.metric, outcomes));
        let mut found = Vec::new();
        for a in 0..before.len() {
            for b in a + 1..before.len() {
                let (was, surely) = self.difference([&before[a], &before[b]]);
                let (is, still) = self.difference([&after[a], &after[b]]);
                let clear = surely && still;
                if was < 0.0 && is > 0.0 {
                    found.push(Overtaking { less: b, more: a, clear });
                } else if was > 0.0 && is < 0.0 {
                    found.push(Overtaking { less: a, more: b, clear });
                }
            }
        }
        found
    }

    /// Which answers to "which strategy is best?" change. Of equals the first is best.
    ///
    /// # Panics
    /// As [`Self::changes`].
    pub fn answers(&self, [base, trial]: [&Outcomes; 2]) -> Vec<Answer> {
        let mut found = Vec::new();
        for metric in self.ranked() {
            let [before, after] = [base, trial].map(|outcomes| self.samples(metric, outcomes));
            let best = |samples: &[Sample]| -> usize {
                let mean = |sample| mean(sample, self.confidence).expect("means are numbers");
                let means: Vec<f64> = samples.iter().map(mean).collect();
                (0..means.len()).fold(0, |best, n| if means[n] < means[best] { n } else { best })
            };
            let (was, is) = (best(&before), best(&after));
            if was != is {
                let sure = |of: &[Sample]| self.difference([&of[is], &of[was]]).1;
                found.push(Answer { metric, was, is, clear: sure(&before) && sure(&after) });
            }
        }
        found
    }

    fn samples(&self, metric: Metric, outcomes: &Outcomes) -> Vec<Sample> {
        outcomes.by_strategy.iter().map(|of| metric.sample(of, self.horizon)).collect()
    }

    /// By how much the first of two has more than the second, and whether one surely has more.
    fn difference(&self, [a, b]: [&Sample; 2]) -> (f64, bool) {
        let paired = PairedDifference::of(a, b, Better::Smaller, self.confidence);
        let mean = paired.expect("there are replications").mean;
        let sure = mean.interval.is_some_and(|interval| !interval.contains(0.0));
        let Bound::Value(value) = mean.value else { unreachable!("means are numbers") };
        (value, sure || self.deterministic)
    }
}

fn mean(sample: &Sample, confidence: Confidence) -> Option<f64> {
    Statistic::Mean.of(sample, confidence).and_then(|estimate| estimate.value.value())
}

fn mean_change(before: &Sample, after: &Sample, confidence: Confidence) -> Change {
    let paired = PairedDifference::of(after, before, Better::Smaller, confidence);
    let paired = paired.expect("there are replications");
    let caveats = &paired.mean.caveats;
    Change {
        strategy: 0,
        statistic: Statistic::Mean,
        values: [mean(before, confidence), mean(after, confidence)],
        change: paired.mean.value.value(),
        interval: paired.mean.interval,
        restricted: caveats.iter().any(|c| matches!(c, Caveat::RestrictedDifference { .. })),
    }
}

fn quantile_change(before: &Sample, after: &Sample, level: Level, sure: Confidence) -> Change {
    let found = quantile_difference(after, before, level, sure);
    Change {
        strategy: 0,
        statistic: Statistic::Quantile(level),
        values: [before, after].map(|sample| {
            let quantile = Statistic::Quantile(level).of(sample, sure);
            quantile.and_then(|estimate| estimate.value.value())
        }),
        change: found.as_ref().and_then(|difference| difference.value.value()),
        interval: found.and_then(|difference| difference.interval),
        restricted: false,
    }
}
