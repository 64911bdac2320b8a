//! An experiment in numbers: what result files, charts and the terminal say of each strategy.

use super::autonomous;
use super::best::Best;
pub use crate::experiment::Reached;
use crate::experiment::{
    ChangeMetric, Experiment, HEADLINES, MemberTimes, Metric, Outcomes, UpdateTimes,
};
use crate::scenario::vary::Variation;
use crate::sim::campaign::Campaign;
use crate::sim::{End, Outcome};
use crate::stats::{
    self, Better, Bound, Confidence, Estimate, Interval, PairedDifference, Sample, Statistic,
    proportion,
};
use crate::time::Span;

/// What strategies are compared by, and which direction is better.
pub const COMPARED: [(Metric, Better); 5] = [
    (Metric::Makespan, Better::Smaller),
    (Metric::TimeTo(90), Better::Smaller),
    (Metric::TimeTo(99), Better::Smaller),
    (Metric::UpdatedMembers, Better::Larger),
    (Metric::FailedMembers, Better::Smaller),
];

/// What they are compared by besides, where there are configuration changes.
pub const COMPARED_CHANGES: [(Metric, Better); 6] = [
    (Metric::Change(ChangeMetric::TimeTo(90)), Better::Smaller),
    (Metric::Change(ChangeMetric::TimeTo(100)), Better::Smaller),
    (Metric::Change(ChangeMetric::NeverDone), Better::Smaller),
    (Metric::Change(ChangeMetric::RefusedCalls), Better::Smaller),
    (Metric::Change(ChangeMetric::OutsideWindow), Better::Smaller),
    (Metric::Change(ChangeMetric::Business), Better::Smaller),
];

/// All that is said about an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// Its digest.
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// Replications of each strategy that were made, at least 1.
    pub replications: usize,
    /// The scenario's horizon, at which what had not ended was cut off.
    pub horizon: Span,
    /// How sure the intervals are.
    pub confidence: Confidence,
    /// Whether replications draw no random number: then intervals are points.
    pub deterministic: bool,
    /// Whether there are variants, so that candidates are not just strategies.
    pub varied: bool,
    /// Whether there is an `update`; without it, profiles make the only runs.
    pub has_update: bool,
    /// In the scenario's order.
    pub strategies: Vec<StrategySummary>,
    /// Every later strategy against the first, in order, each by [`COMPARED`], and by
    /// [`COMPARED_CHANGES`] where there are changes.
    pub differences: Vec<Difference>,
    /// Which strategy is best, if that was asked (X7).
    pub best: Option<Best>,
    /// The values that the command line made variants of.
    pub vary: Vec<Variation>,
}

/// One strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategySummary {
    /// Its name.
    pub name: String,
    /// Members in its run.
    pub members: u32,
    /// Each of [`Experiment::columns`].
    pub metrics: Vec<MetricSummary>,
    /// Each of [`End::ALL`].
    pub outcomes: Vec<OutcomeShare>,
    /// When members were done, pooled over members and replications (X8).
    pub member_times: MemberTimes,
    /// How long their updates took, pooled over members, attempts and replications (X8).
    pub update_times: UpdateTimes,
    /// What each campaign of configuration changes came to, in the scenario's order.
    pub campaigns: Vec<CampaignSummary>,
    /// How far behind the targets of profiles members were; none without profiles.
    pub behind: Vec<autonomous::Row>,
}

/// One campaign of configuration changes under one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignSummary {
    /// Its name.
    pub name: String,
    /// Each of [`ChangeMetric::ALL`].
    pub metrics: Vec<MetricSummary>,
}

/// One metric of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSummary {
    /// Which.
    pub metric: Metric,
    /// Its statistics.
    pub numbers: stats::Summary,
    /// The share of replications that the horizon cut off (X5).
    pub censored: Estimate,
}

/// How many replications ended in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeShare {
    /// The way.
    pub end: End,
    /// Replications that ended so.
    pub replications: usize,
    /// Their share, with Wilson's interval.
    pub share: Estimate,
}

/// One strategy against the first one, replication by replication.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Index of the strategy.
    pub strategy: usize,
    /// Index of the strategy that it is compared with.
    pub reference: usize,
    /// By which metric.
    pub metric: Metric,
    /// Strategy less reference.
    pub paired: PairedDifference,
}

/// One metric's observations in replication order.
pub fn sample(outcomes: &[Outcome], metric: Metric, horizon: Span) -> Sample {
    metric.sample(outcomes, horizon)
}

impl Summary {
    /// Summarises an experiment. `None` without replications.
    pub fn of(
        experiment: &Experiment<'_>,
        outcomes: &Outcomes,
        confidence: Confidence,
    ) -> Option<Self> {
        let scenario = experiment.scenario;
        let teller = Teller {
            horizon: scenario.horizon,
            columns: experiment.columns(),
            confidence,
            deterministic: experiment.is_deterministic(),
        };
        let mut strategies = Vec::new();
        let parts = outcomes.by_strategy.iter().zip(&outcomes.updates);
        for (index, (outcomes, updates)) in parts.enumerate() {
            let campaigns = &experiment.scenario_of(index).campaigns;
            let plan = &experiment.plans[index];
            let strategy = teller.strategy(plan.strategy, campaigns, outcomes, updates)?;
            let behind = autonomous::rows(plan, outcomes);
            strategies.push(StrategySummary { behind, ..strategy });
        }
        Some(Self {
            scenario: scenario.name.clone(),
            digest: scenario.digest.clone(),
            seed: scenario.seed,
            replications: outcomes.by_strategy.first()?.len(),
            horizon: scenario.horizon,
            confidence,
            deterministic: teller.deterministic,
            has_update: scenario.has_update,
            varied: experiment.by_variant().count() > 1,
            strategies,
            differences: teller.differences(&outcomes.by_strategy),
            best: None,
            vary: Vec::new(),
        })
    }

    /// Whether anybody is in an update run; if not, there are configuration changes alone.
    pub fn has_members(&self) -> bool {
        let changes = self.strategies.iter().any(|strategy| !strategy.campaigns.is_empty());
        !changes || self.strategies.iter().any(|strategy| strategy.members > 0)
    }

    /// The difference of a later strategy to the first one.
    pub fn difference(&self, strategy: usize, metric: Metric) -> Option<&Difference> {
        self.differences.iter().find(|d| d.strategy == strategy && d.metric == metric)
    }

    /// How precise each headline number is, against a relative target such as 0.02 (X6).
    pub fn precision(&self, target: f64) -> Vec<Reached> {
        let mut reached = Vec::new();
        for (index, strategy) in self.strategies.iter().enumerate() {
            for (metric, statistic) in HEADLINES {
                let estimate = strategy.estimate(metric, statistic);
                let estimate = estimate.expect("headline numbers are in every summary");
                let precision = stats::precision(estimate, target);
                reached.push(Reached { strategy: index, metric, statistic, precision });
            }
        }
        reached
    }
}

impl StrategySummary {
    /// The estimate of a metric that files show; `None` for others.
    pub fn estimate(&self, metric: Metric, statistic: Statistic) -> Option<&Estimate> {
        if let Metric::Outcome(end) = metric {
            let share = self.outcomes.iter().find(|share| share.end == end);
            return share.filter(|_| statistic == Statistic::Mean).map(|share| &share.share);
        }
        self.metric(metric)?.numbers.get(statistic)
    }

    /// One of the metrics.
    pub fn metric(&self, metric: Metric) -> Option<&MetricSummary> {
        self.metrics.iter().find(|summary| summary.metric == metric)
    }

    /// The mean of a metric, cut-off runs counted as the horizon.
    pub fn mean(&self, metric: Metric) -> f64 {
        let estimate = self.estimate(metric, Statistic::Mean);
        estimate.and_then(|e| e.value.value()).expect("means of columns are numbers")
    }
}

/// What all estimates share.
struct Teller {
    horizon: Span,
    columns: Vec<Metric>,
    confidence: Confidence,
    deterministic: bool,
}

impl Teller {
    fn strategy(
        &self,
        name: &str,
        campaigns: &[Campaign],
        outcomes: &[Outcome],
        updates: &UpdateTimes,
    ) -> Option<StrategySummary> {
        let mut metrics = Vec::new();
        for metric in self.columns.iter().copied() {
            metrics.push(self.metric(metric, &sample(outcomes, metric, self.horizon))?);
        }
        let mut shares = Vec::new();
        for end in End::ALL {
            let replications = outcomes.iter().filter(|outcome| outcome.end == end).count();
            let share = self.share(replications, outcomes.len())?;
            shares.push(OutcomeShare { end, replications, share });
        }
        Some(StrategySummary {
            name: name.to_owned(),
            members: outcomes.first()?.members,
            metrics,
            outcomes: shares,
            member_times: MemberTimes::of(outcomes),
            campaigns: (0..)
                .zip(campaigns)
                .map(|(number, campaign)| self.campaign(number, &campaign.name, outcomes))
                .collect::<Option<_>>()?,
            update_times: updates.clone(),
            behind: Vec::new(),
        })
    }

    fn campaign(&self, number: usize, name: &str, outcomes: &[Outcome]) -> Option<CampaignSummary> {
        let mut metrics = Vec::new();
        for metric in ChangeMetric::ALL {
            let of = |outcome: &Outcome| metric.of(&outcome.campaigns[number], self.horizon);
            let sample = Sample::new(outcomes.iter().map(of).collect());
            metrics.push(self.metric(Metric::Change(metric), &sample)?);
        }
        Some(CampaignSummary { name: name.to_owned(), metrics })
    }

    fn metric(&self, metric: Metric, sample: &Sample) -> Option<MetricSummary> {
        let numbers = if self.deterministic {
            stats::Summary::certain(*sample.observations().first()?, sample.len())
        } else {
            stats::Summary::of(sample, self.confidence)?
        };
        let censored = self.share(sample.censored(), sample.len())?;
        Some(MetricSummary { metric, numbers, censored })
    }

    fn share(&self, part: usize, n: usize) -> Option<Estimate> {
        let share = proportion(part, n, self.confidence)?;
        match share.value {
            Bound::Value(value) if self.deterministic => Some(Estimate::certain(value)),
            _ => Some(share),
        }
    }

    fn differences(&self, by_strategy: &[Vec<Outcome>]) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (strategy, outcomes) in by_strategy.iter().enumerate().skip(1) {
            let of_changes =
                COMPARED_CHANGES.iter().filter(|(metric, _)| self.columns.contains(metric));
            for (metric, better) in COMPARED.iter().chain(of_changes).copied() {
                let this = sample(outcomes, metric, self.horizon);
                let first = sample(&by_strategy[0], metric, self.horizon);
                let paired = PairedDifference::of(&this, &first, better, self.confidence);
                differences.extend(paired.map(|mut paired| {
                    if self.deterministic {
                        make_certain(&mut paired.mean);
                        make_certain(&mut paired.share_better);
                    }
                    Difference { strategy, reference: 0, metric, paired }
                }));
            }
        }
        differences
    }
}

/// Without luck one run says everything; what was cut off stays cut off.
fn make_certain(estimate: &mut Estimate) {
    let restricted = estimate.is_restricted();
    estimate.interval = Some(Interval { low: estimate.value, high: estimate.value });
    estimate.caveats.retain(|caveat| {
        restricted && matches!(caveat, stats::Caveat::RestrictedDifference { .. })
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failing, lucky, scripted, simulate};
    use super::*;
    use crate::stats::{Level, Precision};

    fn ends(estimate: &Estimate) -> (Bound, Bound, Bound) {
        let interval = estimate.interval.unwrap();
        (interval.low, estimate.value, interval.high)
    }

    #[test]
    fn x4_later_strategies_are_compared_with_the_first_by_every_headline() {
        simulate(&lucky(), (24, 1), |_, _, summary| {
            let found: Vec<_> = summary
                .differences
                .iter()
                .map(|d| (d.strategy, d.reference, d.metric.to_string()))
                .collect();
            let names = ["makespan", "timeTo90", "timeTo99", "updatedMembers", "failedMembers"];
            let wanted: Vec<_> =
                [1, 2].iter().flat_map(|s| names.map(|name| (*s, 0, name.to_owned()))).collect();
            assert_eq!(found, wanted);
            let mean = |index: usize| summary.strategies[index].mean(Metric::Makespan);
            let difference = summary.difference(1, Metric::Makespan).unwrap();
            let value = difference.paired.mean.value.value().unwrap();
            assert!((value - (mean(1) - mean(0))).abs() < 1e-6, "{value}");
        });
    }

    #[test]
    fn x4_shares_of_outcomes_add_up_and_have_wilson_intervals() {
        simulate(&lucky(), (24, 1), |_, outcomes, summary| {
            for (strategy, outcomes) in summary.strategies.iter().zip(&outcomes.by_strategy) {
                let total: usize = strategy.outcomes.iter().map(|o| o.replications).sum();
                assert_eq!(total, outcomes.len());
            }
            let failed = summary.strategies[2].outcomes[2].clone();
            assert_eq!(failed.end, End::Failed);
            assert!(failed.replications > 0, "one by one, a failure in 30 members is likely");
            let wilson = proportion(failed.replications, 24, Confidence::DEFAULT).unwrap();
            assert_eq!(failed.share, wilson);
        });
    }

    #[test]
    fn without_luck_every_interval_is_a_point() {
        simulate(&scripted(), (3, 1), |_, _, summary| {
            assert!(summary.deterministic);
            for strategy in &summary.strategies {
                for metric in &strategy.metrics {
                    for (_, estimate) in metric.numbers.iter() {
                        let (low, value, high) = ends(estimate);
                        assert_eq!((low, high), (value, value));
                        assert_eq!(estimate.caveats, []);
                    }
                }
                for outcome in &strategy.outcomes {
                    let (low, value, high) = ends(&outcome.share);
                    assert_eq!((low, high), (value, value));
                }
            }
            let faster = &summary.difference(1, Metric::Makespan).unwrap().paired;
            let value = Bound::Value(-3_600.0);
            assert_eq!(ends(&faster.mean), (value, value, value));
            assert_eq!(faster.share_better.value, Bound::Value(1.0));
            assert_eq!(faster.mean.caveats, []);
        });
    }

    #[test]
    fn x5_a_run_that_never_ends_lies_beyond_the_horizon_and_its_mean_is_restricted() {
        simulate(&failing(), (1, 1), |_, _, summary| {
            let one = &summary.strategies[0];
            let median = one.estimate(Metric::Makespan, Statistic::Quantile(Level::P50)).unwrap();
            assert_eq!(median.value, Bound::BeyondHorizon);
            let mean = one.estimate(Metric::Makespan, Statistic::Mean).unwrap();
            assert_eq!(mean.value, Bound::Value(864_000.0));
            assert!(mean.is_restricted());
            let difference = &summary.difference(1, Metric::Makespan).unwrap().paired;
            assert!(difference.mean.is_restricted(), "both runs are cut off");
            assert_eq!(difference.share_better.value, Bound::Value(0.0));
        });
    }

    #[test]
    fn x6_the_reached_precision_of_all_headline_numbers_is_told() {
        simulate(&lucky(), (24, 1), |_, _, summary| {
            let reached = summary.precision(1e9);
            assert_eq!(reached.len(), 3 * HEADLINES.len());
            assert!(matches!(reached[0].precision, Precision::Met { relative } if relative > 0.0));
            let censored = &reached[2 * HEADLINES.len()];
            let exempt = Precision::Exempt(stats::Exemption::Censored);
            assert_eq!(censored.precision, exempt, "one by one fails and is not restarted");
        });
    }

    #[test]
    fn one_replication_has_no_interval() {
        simulate(&lucky(), (1, 1), |_, _, summary| {
            let strategy = &summary.strategies[0];
            for statistic in [Statistic::Mean, Statistic::Quantile(Level::P95)] {
                assert_eq!(strategy.estimate(Metric::Makespan, statistic).unwrap().interval, None);
            }
        });
    }
}
