//! Which assumptions move the answer most: one at a time, each a third and three times of what it
//! is, all on the same luck.
//!
//! One-at-a-time analysis (Saltelli and others 2008, "Global sensitivity analysis", section 1.2.6)
//! says how much an answer hangs on one number while all others are as assumed; it does not see
//! what two of them do together. Changes of means are paired by replication (X4), those of
//! quantiles by sections of replications.

use super::{Metric, Outcomes};
use crate::scenario::Scenario;
use crate::sim::model::{DefectModel, Distribution, DurationModel, WorldModel};
use crate::sim::script::Script;
use crate::stats::{
    Better, Bound, Caveat, Confidence, Interval, Level, PairedDifference, Sample, Statistic,
    quantile_difference,
};
use crate::time::Span;

/// What inputs are multiplied by.
pub const FACTORS: [f64; 2] = [1.0 / 3.0, 3.0];

/// An assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// `world.durations.update`: all of it, so its median and its mean.
    UpdateDuration,
    /// `world.durations.update.lognormal.sigma`.
    UpdateSigma,
    /// `world.durations.drain`.
    Drain,
    /// `world.durations.reimage`.
    Reimage,
    /// `world.disruptionBudgets.probability`, at most 1.
    BudgetProbability,
    /// `world.quota.probability`, at most 1.
    QuotaProbability,
    /// `world.failures.probability`, at most 1.
    FailureProbability,
    /// `world.failures.transient`, at most 1.
    FailureTransient,
    /// `world.people.approvers.delay`.
    ApprovalDelay,
    /// `world.people.restart.after`.
    RestartDelay,
    /// `world.defects.probability`, of every kind, at most 1.
    DefectProbability,
    /// `world.defects.share`, at most 1.
    DefectShare,
    /// `world.defects.breaks`, at most 1.
    DefectBreaks,
    /// `world.defects.atOnce`, at most 1.
    DefectAtOnce,
    /// `world.defects.degradesAfter`.
    DegradesAfter,
    /// `world.defects.noticedAfter`.
    NoticedAfter,
    /// `world.defects.halt.members`, at least 1.
    HaltMembers,
    /// `world.defects.halt.after`.
    HaltAfter,
    /// `world.defects.fixedAfter`.
    FixedAfter,
    /// `world.people.watchers.reaction`.
    WatchReaction,
    /// `world.people.skipPending.after`.
    SkipPatience,
    /// `world.people.startAgain.after`.
    StartAgain,
    /// `world.churn.stopped.every`.
    StopsEvery,
    /// `world.churn.stopped.lasts`.
    StopLasts,
    /// `world.churn.leave.after`.
    LeavesAfter,
    /// `update.pollInterval`.
    PollInterval,
}

impl Input {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::UpdateDuration,
        Self::UpdateSigma,
        Self::Drain,
        Self::Reimage,
        Self::BudgetProbability,
        Self::QuotaProbability,
        Self::FailureProbability,
        Self::FailureTransient,
        Self::ApprovalDelay,
        Self::RestartDelay,
        Self::DefectProbability,
        Self::DefectShare,
        Self::DefectBreaks,
        Self::DefectAtOnce,
        Self::DegradesAfter,
        Self::NoticedAfter,
        Self::HaltMembers,
        Self::HaltAfter,
        Self::FixedAfter,
        Self::WatchReaction,
        Self::SkipPatience,
        Self::StartAgain,
        Self::StopsEvery,
        Self::StopLasts,
        Self::LeavesAfter,
        Self::PollInterval,
    ];

    /// Its key in the scenario.
    pub const fn key(self) -> &'static str {
        match self {
            Self::UpdateDuration => "world.durations.update",
            Self::UpdateSigma => "world.durations.update.lognormal.sigma",
            Self::Drain => "world.durations.drain",
            Self::Reimage => "world.durations.reimage",
            Self::BudgetProbability => "world.disruptionBudgets.probability",
            Self::QuotaProbability => "world.quota.probability",
            Self::FailureProbability => "world.failures.probability",
            Self::FailureTransient => "world.failures.transient",
            Self::ApprovalDelay => "world.people.approvers.delay",
            Self::RestartDelay => "world.people.restart.after",
            Self::DefectProbability => "world.defects.probability",
            Self::DefectShare => "world.defects.share",
            Self::DefectBreaks => "world.defects.breaks",
            Self::DefectAtOnce => "world.defects.atOnce",
            Self::DegradesAfter => "world.defects.degradesAfter",
            Self::NoticedAfter => "world.defects.noticedAfter",
            Self::HaltMembers => "world.defects.halt.members",
            Self::HaltAfter => "world.defects.halt.after",
            Self::FixedAfter => "world.defects.fixedAfter",
            Self::WatchReaction => "world.people.watchers.reaction",
            Self::SkipPatience => "world.people.skipPending.after",
            Self::StartAgain => "world.people.startAgain.after",
            Self::StopsEvery => "world.churn.stopped.every",
            Self::StopLasts => "world.churn.stopped.lasts",
            Self::LeavesAfter => "world.churn.leave.after",
            Self::PollInterval => "update.pollInterval",
        }
    }

    /// The scenario with this input multiplied; `None` where it has no such input, nothing draws
    /// from it, or it stays what it is.
    pub fn multiplied(self, scenario: &Scenario, factor: f64) -> Option<Scenario> {
        let mut varied = scenario.clone();
        let world = &mut varied.world;
        let scripted = scenario.script.updates.is_some();
        match self {
            Self::UpdateDuration | Self::UpdateSigma => {
                let DurationModel::Cluster(update) = &mut world.durations else { return None };
                let varied = match self {
                    _ if scripted => return None,
                    Self::UpdateDuration => update.scaled(factor)?,
                    _ => update.spread(factor)?,
                };
                *update = varied;
            }
            Self::Drain | Self::Reimage | Self::BudgetProbability | Self::QuotaProbability => {
                self.multiply_nodes(&scenario.script, world, factor)?;
            }
            Self::FailureProbability => {
                let failures = world.failures.as_mut()?;
                let rules = failures.rules.iter_mut().map(|rule| &mut rule.probability);
                let all = [&mut failures.probability, &mut failures.minor_probability];
                for probability in all.into_iter().chain(rules) {
                    *probability = (*probability * factor).min(1.0);
                }
            }
            Self::FailureTransient => {
                let failures = world.failures.as_mut()?;
                failures.transient = (failures.transient * factor).min(1.0);
            }
            Self::ApprovalDelay => {
                let people = world.approvers.as_mut()?;
                people.delay = people.delay.scaled(factor)?;
            }
            Self::RestartDelay => {
                let people = world.restarter.as_mut()?;
                people.after = people.after.scaled(factor)?;
            }
            Self::DefectProbability
            | Self::DefectShare
            | Self::DefectBreaks
            | Self::DefectAtOnce
            | Self::DegradesAfter
            | Self::NoticedAfter
            | Self::HaltMembers
            | Self::HaltAfter
            | Self::FixedAfter => {
                // Under a script's defects, nothing draws from the model's.
                let defects = world.defects.as_mut().filter(|_| scenario.script.defects.is_none());
                self.multiply_defects(defects?, factor)?;
            }
            Self::WatchReaction
            | Self::SkipPatience
            | Self::StartAgain
            | Self::StopsEvery
            | Self::StopLasts
            | Self::LeavesAfter => {
                let lag = self.lag_of(world)?;
                *lag = lag.scaled(factor)?;
            }
            Self::PollInterval => {
                let seconds = varied.update.poll_interval.as_secs_f64() * factor;
                #[expect(clippy::cast_possible_truncation, reason = "a few hundred years at most")]
                let seconds = seconds.round() as i64;
                varied.update.poll_interval = Span::from_secs(seconds);
            }
        }
        let same = varied.world == scenario.world && varied.update == scenario.update;
        (!same).then_some(varied)
    }
}

impl Input {
    /// Multiplies a number of what nodes take and what is in their way.
    fn multiply_nodes(self, script: &Script, world: &mut WorldModel, factor: f64) -> Option<()> {
        if script.updates.is_some() {
            return None;
        }
        let probability = match self {
            Self::BudgetProbability if script.budgets.is_none() => {
                &mut world.budgets.as_mut()?.probability
            }
            Self::QuotaProbability if script.capacity.is_none() => {
                &mut world.capacity.as_mut()?.probability
            }
            Self::Drain | Self::Reimage => {
                let DurationModel::Nodes(nodes) = &mut world.durations else { return None };
                let drains = self == Self::Drain;
                let part = if drains { &mut nodes.drain } else { &mut nodes.reimage };
                *part = part.scaled(factor)?;
                return Some(());
            }
            _ => return None,
        };
        *probability = (*probability * factor).min(1.0);
        Some(())
    }

    /// Multiplies a number of the defects.
    fn multiply_defects(self, defects: &mut DefectModel, factor: f64) -> Option<()> {
        let up_to_one = |share: &mut f64| *share = (*share * factor).min(1.0);
        let lag = match self {
            Self::DefectProbability => {
                let kinds = [&mut defects.node_image, &mut defects.patch, &mut defects.minor];
                kinds.into_iter().for_each(up_to_one);
                return Some(());
            }
            Self::DefectBreaks => {
                up_to_one(&mut defects.breaks);
                return Some(());
            }
            Self::DefectAtOnce => {
                up_to_one(&mut defects.at_once);
                return Some(());
            }
            Self::HaltMembers => {
                let halt = defects.halt.as_mut()?;
                #[expect(clippy::cast_possible_truncation, reason = "at most three millions")]
                #[expect(clippy::cast_sign_loss, reason = "a count is positive")]
                let members = (f64::from(halt.members) * factor).round() as u32;
                halt.members = members.max(1);
                return Some(());
            }
            Self::DefectShare => {
                // Shares above 1 are cut to it where they are used.
                let share = &mut defects.share;
                *share = share.scaled(factor).or_else(|| share.leaning(factor))?;
                return Some(());
            }
            Self::DegradesAfter => &mut defects.degrades_after,
            Self::NoticedAfter => &mut defects.noticed_after,
            Self::HaltAfter => &mut defects.halt.as_mut()?.after,
            Self::FixedAfter => &mut defects.fixed_after,
            _ => unreachable!("{self:?} is no number of defects"),
        };
        *lag = lag.scaled(factor)?;
        Some(())
    }

    /// A time that people take, or members.
    fn lag_of(self, world: &mut WorldModel) -> Option<&mut Distribution> {
        let churn = world.churn.as_mut();
        Some(match self {
            Self::WatchReaction => &mut world.watchers.as_mut()?.reaction,
            Self::SkipPatience => &mut world.skipper.as_mut()?.after,
            Self::StartAgain => &mut world.starter.as_mut()?.after,
            Self::StopsEvery => &mut churn?.stopped.as_mut()?.every,
            Self::StopLasts => &mut churn?.stopped.as_mut()?.lasts,
            Self::LeavesAfter => &mut churn?.leave.as_mut()?.after,
            _ => unreachable!("{self:?} is no time of people or members"),
        })
    }
}

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
    for input in Input::ALL {
        for factor in FACTORS {
            let varied: Vec<Option<Scenario>> =
                scenarios.iter().map(|scenario| input.multiplied(scenario, factor)).collect();
            if varied.iter().all(Option::is_none) {
                continue;
            }
            let both = varied.into_iter().zip(scenarios);
            let scenarios = both.map(|(varied, other)| varied.unwrap_or_else(|| (*other).clone()));
            trials.push(Trial { input, factor, scenarios: scenarios.collect() });
        }
    }
    trials
}

/// How a number of a strategy changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Index of the strategy.
    pub strategy: usize,
    /// The mean or the p95 of the makespan.
    pub statistic: Statistic,
    /// The number as it was and as it is; `None` beyond the horizon.
    pub values: [Option<f64>; 2],
    /// The difference in seconds; `None` where a number lies beyond the horizon.
    pub change: Option<f64>,
    /// Where the true difference lies; `None` where the sample is too small to say.
    pub interval: Option<Interval>,
    /// Whether cut-off runs count as the horizon (X5).
    pub restricted: bool,
}

/// The changes of the makespan's mean and p95, strategy by strategy.
///
/// # Panics
/// If the two do not have the same strategies and replications, or there are none.
pub fn changes(
    [base, trial]: [&Outcomes; 2],
    horizon: Span,
    (confidence, deterministic): (Confidence, bool),
) -> Vec<Change> {
    let mut changes = Vec::new();
    for (strategy, pair) in base.by_strategy.iter().zip(&trial.by_strategy).enumerate() {
        let before = Metric::Makespan.sample(pair.0, horizon);
        let after = Metric::Makespan.sample(pair.1, horizon);
        let mut both = [
            mean_change(&before, &after, confidence),
            quantile_change(&before, &after, Level::P95, confidence),
        ];
        for change in &mut both {
            change.strategy = strategy;
            if deterministic {
                change.interval = change.change.map(|value| Interval::of(value, value));
            }
        }
        changes.extend(both);
    }
    changes
}

fn mean_change(before: &Sample, after: &Sample, confidence: Confidence) -> Change {
    let paired = PairedDifference::of(after, before, Better::Smaller, confidence);
    let paired = paired.expect("there are replications");
    let mean = |sample: &Sample| {
        Statistic::Mean.of(sample, confidence).and_then(|estimate| estimate.value.value())
    };
    let caveats = &paired.mean.caveats;
    Change {
        strategy: 0,
        statistic: Statistic::Mean,
        values: [mean(before), mean(after)],
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

/// That the order of two strategies by mean makespan is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overtaking {
    /// Now the faster one.
    pub faster: usize,
    /// Formerly the faster one.
    pub slower: usize,
    /// Whether both orders are beyond doubt: neither interval of the paired difference includes 0.
    pub clear: bool,
}

/// Which strategies change order by mean makespan.
///
/// # Panics
/// As [`changes`].
pub fn overtakings(
    outcomes: [&Outcomes; 2],
    horizon: Span,
    (confidence, deterministic): (Confidence, bool),
) -> Vec<Overtaking> {
    let [before, after] = outcomes.map(|outcomes| {
        let samples = outcomes.by_strategy.iter().map(|of| Metric::Makespan.sample(of, horizon));
        samples.collect::<Vec<_>>()
    });
    let difference = |samples: &[Sample], a: usize, b: usize| {
        let paired = PairedDifference::of(&samples[a], &samples[b], Better::Smaller, confidence);
        let mean = paired.expect("there are replications").mean;
        let sure = mean.interval.is_some_and(|interval| !interval.contains(0.0));
        let Bound::Value(value) = mean.value else { unreachable!("means are numbers") };
        (value, sure || deterministic)
    };
    let mut found = Vec::new();
    for a in 0..before.len() {
        for b in a + 1..before.len() {
            let (was, surely) = difference(&before, a, b);
            let (is, still) = difference(&after, a, b);
            let clear = surely && still;
            if was < 0.0 && is > 0.0 {
                found.push(Overtaking { faster: b, slower: a, clear });
            } else if was > 0.0 && is < 0.0 {
                found.push(Overtaking { faster: a, slower: b, clear });
            }
        }
    }
    found
}

/// By what strategies are ranked: which is best is an answer.
pub const RANKED: [Metric; 4] =
    [Metric::Makespan, Metric::FailedMembers, Metric::ExposedHours, Metric::StaleHours];

/// That another strategy is best by a metric's mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The metric, one of [`RANKED`].
    pub metric: Metric,
    /// Which strategy was best.
    pub was: usize,
    /// Which is.
    pub is: usize,
    /// Whether both are beyond doubt: neither interval of their paired difference includes 0.
    pub clear: bool,
}

/// Which answers to "which strategy is best?" change. Of equals the first is best.
///
/// # Panics
/// As [`changes`].
pub fn answers(
    outcomes: [&Outcomes; 2],
    horizon: Span,
    (confidence, deterministic): (Confidence, bool),
) -> Vec<Answer> {
    let mut found = Vec::new();
    for metric in RANKED {
        let [before, after] = outcomes.map(|outcomes| {
            let samples = outcomes.by_strategy.iter().map(|of| metric.sample(of, horizon));
            samples.collect::<Vec<Sample>>()
        });
        let best = |samples: &[Sample]| -> usize {
            let mean = |sample: &Sample| {
                let mean = Statistic::Mean.of(sample, confidence).expect("there are replications");
                mean.value.value().expect("means are numbers")
            };
            let means: Vec<f64> = samples.iter().map(mean).collect();
            (0..means.len()).fold(0, |best, n| if means[n] < means[best] { n } else { best })
        };
        let (was, is) = (best(&before), best(&after));
        if was == is {
            continue;
        }
        let sure = |samples: &[Sample]| {
            let paired =
                PairedDifference::of(&samples[is], &samples[was], Better::Smaller, confidence);
            let mean = paired.expect("there are replications").mean;
            deterministic || mean.interval.is_some_and(|interval| !interval.contains(0.0))
        };
        found.push(Answer { metric, was, is, clear: sure(&before) && sure(&after) });
    }
    found
}
