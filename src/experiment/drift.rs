//! Whether an experiment's headline numbers differ from stored ones: a baseline.
//!
//! Paired by replication where seed and number of replications are the same: then replication k met
//! the same luck on both sides, and a change that does nothing shows a difference of exactly 0.

use super::checks::{UNPAIRED_QUANTILES, Verdict, apart, halved, of_sample, told};
use super::{Experiment, Metric, Outcomes};
use crate::sim::{End, Outcome};
use crate::stats::{
    Better, Bound, Caveat, Confidence, Estimate, Interval, Level, PairedDifference, Sample,
    Statistic,
};

/// The numbers whose drift is looked for.
pub const HEADLINES: [(Metric, Statistic); 5] = [
    (Metric::Makespan, Statistic::Mean),
    (Metric::Makespan, Statistic::Quantile(Level::P95)),
    (Metric::TimeTo(90), Statistic::Quantile(Level::P50)),
    (Metric::FailedMembers, Statistic::Mean),
    (Metric::Outcome(End::Completed), Statistic::Mean),
];

/// Stored results, as far as drift needs them.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The version of the program that made them.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// Its digest.
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// Replications of each strategy.
    pub replications: usize,
    /// Its horizon in seconds.
    pub horizon: f64,
    /// Whether they were made without luck.
    pub deterministic: bool,
    /// In the order of the results.
    pub strategies: Vec<StoredStrategy>,
}

/// One strategy of stored results.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredStrategy {
    /// Its name.
    pub name: String,
    /// The metrics of [`HEADLINES`] that they hold, by replication.
    pub samples: Vec<(Metric, Sample)>,
}

/// What came of looking for drift.
#[derive(Debug, Clone, PartialEq)]
pub struct Drifts {
    /// Whether replications were paired.
    pub paired: bool,
    /// In what the baseline is of something else, a sentence each.
    pub differs: Vec<String>,
    /// Every headline number of every strategy that both sides have.
    pub found: Vec<Drift>,
}

/// One headline number of one strategy, against the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The strategy's name.
    pub strategy: String,
    /// The metric.
    pub metric: Metric,
    /// Its statistic.
    pub statistic: Statistic,
    /// The baseline's number.
    pub before: Bound,
    /// The number now.
    pub after: Bound,
    /// Now less before.
    pub difference: Estimate,
    /// Fails where the interval of the difference excludes 0.
    pub verdict: Verdict,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Looks for drift of the headline numbers, with intervals of this confidence.
pub fn drifts(
    experiment: &Experiment<'_>,
    outcomes: &Outcomes,
    baseline: &Baseline,
    confidence: Confidence,
) -> Drifts {
    let made = outcomes.by_strategy.first().map_or(0, Vec::len);
    let deterministic = experiment.is_deterministic();
    let comparison = Comparison {
        horizons: [experiment.scenario.horizon.as_secs_f64(), baseline.horizon],
        luck: [!deterministic, !baseline.deterministic],
        paired: experiment.scenario.seed == baseline.seed && made == baseline.replications,
        confidence,
    };
    let mut found = Vec::new();
    for (plan, outcomes) in experiment.plans.iter().zip(&outcomes.by_strategy) {
        let stored = baseline.strategies.iter().find(|stored| stored.name == plan.strategy);
        for (metric, statistic) in HEADLINES {
            let before = stored.and_then(|s| s.samples.iter().find(|(known, _)| *known == metric));
            let Some((_, before)) = before else { continue };
            let now = now(outcomes, metric, experiment);
            found.push(comparison.drift(plan.strategy, (metric, statistic), &now, before));
        }
    }
    let differs = differs(experiment, baseline, made);
    Drifts { paired: comparison.paired, differs, found }
}

fn now(outcomes: &[Outcome], metric: Metric, experiment: &Experiment<'_>) -> Sample {
    let horizon = experiment.scenario.horizon;
    Sample::new(outcomes.iter().map(|outcome| metric.of(outcome, horizon)).collect())
}

/// In what the two sides are not results of the same thing.
fn differs(experiment: &Experiment<'_>, baseline: &Baseline, made: usize) -> Vec<String> {
    let scenario = experiment.scenario;
    let version = env!("CARGO_PKG_VERSION");
    let mut said = Vec::new();
    if baseline.scenario != scenario.name {
        let (theirs, ours) = (&baseline.scenario, &scenario.name);
        said.push(format!("the baseline is of another scenario, `{theirs}`; this is `{ours}`"));
    } else if baseline.digest != scenario.digest {
        said.push(
            "the scenario, or a file that it reads, has changed since the baseline".to_owned(),
        );
    }
    if baseline.version != version {
        let theirs = &baseline.version;
        said.push(format!("the baseline was made by fleetsim {theirs}; this is {version}"));
    }
    let luck = !experiment.is_deterministic() && !baseline.deterministic;
    if luck && baseline.seed != scenario.seed {
        let (theirs, ours) = (baseline.seed, scenario.seed);
        said.push(format!("the baseline's seed is {theirs}, this one's {ours}: not paired"));
    }
    if luck && baseline.replications != made {
        let theirs = baseline.replications;
        said.push(format!(
            "the baseline has {theirs} replications, this has {made}: not paired; use -n {theirs}"
        ));
    }
    let named = |name: &str| scenario.candidates.iter().any(|known| known == name);
    for stored in baseline.strategies.iter().filter(|stored| !named(&stored.name)) {
        said.push(format!("strategy `{}` of the baseline is not in the scenario", stored.name));
    }
    for plan in &experiment.plans {
        if baseline.strategies.iter().all(|stored| stored.name != plan.strategy) {
            said.push(format!("strategy `{}` is not in the baseline", plan.strategy));
        }
    }
    said
}

/// What all drifts share: now first, then the baseline.
struct Comparison {
    horizons: [f64; 2],
    luck: [bool; 2],
    paired: bool,
    confidence: Confidence,
}

impl Comparison {
    fn drift(
        &self,
        strategy: &str,
        (metric, statistic): (Metric, Statistic),
        now: &Sample,
        before: &Sample,
    ) -> Drift {
        let half = halved(self.confidence);
        let estimate = |sample, luck| of_sample(sample, luck, statistic, half);
        let (a, b) = (estimate(now, self.luck[0]), estimate(before, self.luck[1]));
        let is_lucky = self.luck == [true; 2];
        let mut notes = Vec::new();
        let mut difference = if self.paired && is_lucky && statistic == Statistic::Mean {
            let paired = PairedDifference::of(now, before, Better::Smaller, self.confidence);
            paired.expect("there are replications").mean
        } else {
            if self.paired && is_lucky {
                notes.push(UNPAIRED_QUANTILES.to_owned());
            }
            let mut difference = apart(&a, &b, self.horizons);
            difference.caveats = [&a.caveats[..], &b.caveats[..]].concat();
            difference.caveats.sort_unstable();
            difference.caveats.dedup();
            difference
        };
        // Equal runs on equal luck are no caveat here.
        difference.caveats.retain(|caveat| !matches!(caveat, Caveat::Constant { .. }));
        let cut = now.censored() + before.censored() > 0;
        #[expect(clippy::float_cmp, reason = "horizons are whole milliseconds, kept exactly")]
        let moved = self.horizons[0] != self.horizons[1];
        if cut && moved && statistic == Statistic::Mean {
            difference.interval = None;
            notes.push("the horizons differ and runs were cut off: not comparable".to_owned());
        }
        notes.splice(0..0, told(&difference.caveats));
        let (after, before) = (a.value, b.value);
        let verdict = verdict(difference.interval, cut);
        let strategy = strategy.to_owned();
        Drift { strategy, metric, statistic, before, after, difference, verdict, notes }
    }
}

/// Drift is a difference whose interval excludes 0. An end that is open because the sample is too
/// small leaves it undecided; one that the horizon hides shows no drift.
fn verdict(interval: Option<Interval>, cut: bool) -> Verdict {
    let Some(Interval { low, high }) = interval else { return Verdict::Undecided };
    let excludes =
        low.value().is_some_and(|low| low > 0.0) || high.value().is_some_and(|high| high < 0.0);
    let open = low == Bound::Unbounded || high == Bound::Unbounded;
    match (excludes, open) {
        (true, _) => Verdict::Fails,
        (false, true) if !cut => Verdict::Undecided,
        (false, _) => Verdict::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Observation;

    fn comparison(paired: bool, horizons: [f64; 2]) -> Comparison {
        Comparison { horizons, luck: [true; 2], paired, confidence: Confidence::DEFAULT }
    }

    fn mean(of: &Comparison, now: &Sample, before: &Sample) -> Drift {
        of.drift("s", (Metric::Makespan, Statistic::Mean), now, before)
    }

    fn ramp(from: f64) -> Vec<f64> {
        (0..40).map(|n| from + f64::from(n)).collect()
    }

    #[test]
    fn pairs_show_what_intervals_apart_cannot() {
        let (now, before) = (Sample::exact(&ramp(1.0)), Sample::exact(&ramp(0.0)));
        let found = mean(&comparison(true, [90.0; 2]), &now, &before);
        assert_eq!(
            (found.verdict, found.difference.interval),
            (Verdict::Fails, Some(Interval::of(1.0, 1.0)))
        );
        let found = mean(&comparison(false, [90.0; 2]), &now, &before);
        assert_eq!((found.verdict, found.difference.value), (Verdict::Holds, Bound::Value(1.0)));
        let far = Sample::exact(&ramp(60.0));
        assert_eq!(mean(&comparison(false, [90.0; 2]), &far, &before).verdict, Verdict::Fails);
        assert_eq!(mean(&comparison(false, [90.0; 2]), &before, &far).verdict, Verdict::Fails);
    }

    #[test]
    fn too_few_runs_leave_drift_undecided() {
        let (one, other) = (Sample::exact(&[1.0]), Sample::exact(&[2.0]));
        assert_eq!(mean(&comparison(true, [9.0; 2]), &one, &other).verdict, Verdict::Undecided);
        let few = Sample::exact(&[1.0, 2.0, 3.0, 4.0]);
        let p95 = (Metric::Makespan, Statistic::Quantile(Level::P95));
        let found = comparison(true, [9.0; 2]).drift("s", p95, &few, &few);
        assert_eq!(found.verdict, Verdict::Undecided);
    }

    #[test]
    fn x5_runs_that_were_cut_off_are_compared_only_at_one_horizon() {
        let cut = |horizon: f64| {
            let mut runs: Vec<Observation> =
                ramp(0.0).into_iter().map(Observation::exact).collect();
            runs.extend([Observation::beyond(horizon); 20]);
            Sample::new(runs)
        };
        let (at_90, at_80) = (cut(90.0), cut(80.0));
        let same = mean(&comparison(true, [90.0; 2]), &at_90, &at_90);
        assert_eq!(same.verdict, Verdict::Holds);
        let found = mean(&comparison(true, [90.0, 80.0]), &at_90, &at_80);
        assert_eq!((found.verdict, found.difference.interval), (Verdict::Undecided, None));
        assert!(found.notes.iter().any(|note| note.contains("not comparable")), "{found:?}");
        let p95 = (Metric::Makespan, Statistic::Quantile(Level::P95));
        let found = comparison(true, [90.0; 2]).drift("s", p95, &at_90, &at_90);
        assert_eq!((found.verdict, found.before), (Verdict::Holds, Bound::BeyondHorizon));
        let before = Sample::exact(&[ramp(0.0), ramp(0.0), ramp(0.0)].concat());
        let found = comparison(false, [90.0; 2]).drift("s", p95, &at_90, &before);
        assert_eq!(found.verdict, Verdict::Fails, "from 38 to beyond 90");
    }
}
