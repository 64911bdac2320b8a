//! When to stop adding replications: sequential precision with honest coverage (X6).
//!
//! Looking at an interval again and again, and stopping when it pleases, covers the truth less
//! often than the interval says. So the allowed probability of a miss is spent over the looks
//! (alpha spending: `Lan and DeMets` 1983, "Discrete sequential boundaries for clinical trials"),
//! in the form that Mnih, Szepesvari and Audibert (2008, "Empirical Bernstein stopping") use for
//! stopping at a relative precision: looks at geometrically growing sizes, and a union bound over
//! them. Look j takes 1 / (j (j + 1)) of the allowance; the shares of all looks ever add up to 1,
//! so any rule may say when to stop, for any metric, and raising the limit changes no earlier look.
//! The price is wider intervals at later looks; the coverage is at least what the intervals have at
//! a fixed size.

use super::caveat::Caveat;
use super::estimate::{Bound, Confidence, Estimate};

/// The replications at the first look.
pub const FIRST_LOOK: usize = 100;

/// One look at the results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Counted from 1.
    pub number: u32,
    /// How many replications there are at this look.
    pub replications: usize,
    /// The confidence with which intervals are computed at this look, and reported if it is the
    /// last, so that they cover with the confidence asked for.
    pub confidence: Confidence,
}

/// The looks for intervals of the given confidence: at 100 replications, then at half as many
/// again each time, the last at `max_replications`.
///
/// A limit below 100 leaves one look, at the limit; there is none without replications.
pub fn looks(confidence: Confidence, max_replications: usize) -> impl Iterator<Item = Look> {
    let first = FIRST_LOOK.min(max_replications);
    let sizes = std::iter::successors((first > 0).then_some(first), move |size| {
        (*size < max_replications).then(|| (size * 3).div_ceil(2).min(max_replications))
    });
    (1_u32..).zip(sizes).map(move |(number, replications)| Look {
        number,
        replications,
        confidence: spent(confidence, number),
    })
}

/// What look `number`, from 1, may spend of the allowed miss, as a confidence.
pub fn spent(confidence: Confidence, number: u32) -> Confidence {
    let share = 1.0 / (f64::from(number) * (f64::from(number) + 1.0));
    Confidence::from_miss(confidence.miss() * share)
        .expect("a share of a probability is a probability")
}

/// Whether an estimate is as precise as asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// It is.
    Met {
        /// The half-width over the value.
        relative: f64,
    },
    /// It is not yet.
    Unmet {
        /// The half-width over the value; `None` while an end is open.
        relative: Option<f64>,
    },
    /// It is not asked for; the metric is named in the report.
    Exempt(Exemption),
}

/// Why a relative precision is not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exemption {
    /// The value is 0, so nothing is within a percentage of it.
    Zero,
    /// The mean is restricted, or the quantile's interval reaches beyond the horizon.
    Censored,
    /// All replications gave the same value.
    Constant,
}

/// Compares the interval's half-width, the larger of its two sides, with `target` (0.02 for 2 %)
/// times the value.
pub fn precision(estimate: &Estimate, target: f64) -> Precision {
    let has = |wanted: fn(&Caveat) -> bool| estimate.caveats.iter().any(wanted);
    let beyond = has(|c| matches!(c, Caveat::BeyondHorizon { .. }));
    let value = match estimate.value {
        _ if beyond || estimate.is_restricted() => return Precision::Exempt(Exemption::Censored),
        Bound::Value(value) => value,
        Bound::BeyondHorizon | Bound::Unbounded => return Precision::Exempt(Exemption::Censored),
    };
    if has(|c| matches!(c, Caveat::Constant { .. })) {
        return Precision::Exempt(Exemption::Constant);
    }
    if value.abs() <= 0.0 {
        return Precision::Exempt(Exemption::Zero);
    }
    let half_width = estimate.interval.and_then(|interval| interval.half_width(value));
    match half_width.map(|half| half / value.abs()) {
        Some(relative) if relative <= target => Precision::Met { relative },
        relative => Precision::Unmet { relative },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Luck, share};
    use super::super::{Level, Observation, Sample, Statistic, mean, quantile};
    use super::*;

    const C95: Confidence = Confidence::DEFAULT;

    #[test]
    fn x6_looks_grow_geometrically_and_end_at_the_limit() {
        let sizes = |max| looks(C95, max).map(|look| look.replications).collect::<Vec<_>>();
        assert_eq!(sizes(1000), [100, 150, 225, 338, 507, 761, 1000]);
        assert_eq!(sizes(100), [100]);
        assert_eq!(sizes(40), [40]);
        assert_eq!(sizes(0), [0; 0]);
        assert_eq!(sizes(100_000).len(), 19);
    }

    #[test]
    fn x6_the_looks_spend_no_more_than_allowed_and_not_by_the_limit() {
        let spent: f64 = looks(C95, usize::MAX >> 16).map(|look| look.confidence.miss()).sum();
        assert!(spent <= 0.05 && spent > 0.049, "{spent}");
        for (short, long) in looks(C95, 150).zip(looks(C95, 100_000)) {
            assert_eq!(short, long);
        }
    }

    #[test]
    fn x6_zero_censored_and_constant_metrics_are_exempt() {
        let of = |observations: Vec<Observation>, statistic: Statistic| {
            let sample = Sample::new(observations);
            precision(&statistic.of(&sample, C95).expect("runs"), 0.02)
        };
        let exact = Observation::exact;
        let constant = vec![exact(4.0); 200];
        assert_eq!(of(constant, Statistic::Mean), Precision::Exempt(Exemption::Constant));
        let zero: Vec<_> = (0..200).map(|i| exact(if i < 150 { 0.0 } else { 1.0 })).collect();
        let median = Statistic::Quantile(Level::P50);
        assert_eq!(of(zero, median), Precision::Exempt(Exemption::Zero));
        let mut cut = vec![exact(4.0); 199];
        cut.push(Observation::beyond(9.0));
        assert_eq!(of(cut.clone(), Statistic::Mean), Precision::Exempt(Exemption::Censored));
        assert_eq!(of(cut, median), Precision::Met { relative: 0.0 });
        let late = vec![Observation::beyond(9.0); 200];
        assert_eq!(of(late, median), Precision::Exempt(Exemption::Censored));
    }

    #[test]
    fn x6_the_larger_side_counts_and_open_ends_are_unmet() {
        let mut estimate = Estimate::certain(10.0);
        estimate.interval = Some(super::super::Interval::of(9.9, 10.5));
        assert_eq!(precision(&estimate, 0.05), Precision::Met { relative: 0.05 });
        assert_eq!(precision(&estimate, 0.049), Precision::Unmet { relative: Some(0.05) });
        let few = quantile(&Sample::exact(&[1.0, 2.0]), Level::P95, C95).expect("runs");
        assert_eq!(precision(&few, 0.5), Precision::Unmet { relative: None });
    }

    /// The share of trials in which the interval at the look that stops covers the truth, and the
    /// average number of replications there.
    fn sequential_coverage(
        trials: u32,
        truth: f64,
        target: f64,
        mut draw: impl FnMut() -> f64,
        estimate: impl Fn(&Sample, Confidence) -> Option<Estimate>,
    ) -> (f64, usize) {
        let mut replications = 0;
        let covered = share(trials, || {
            let mut values = Vec::new();
            let mut last = None;
            for look in looks(C95, 100_000) {
                values.resize_with(look.replications, &mut draw);
                let found = estimate(&Sample::exact(&values), look.confidence).expect("runs");
                let met = matches!(precision(&found, target), Precision::Met { .. });
                last = found.interval;
                if met {
                    break;
                }
            }
            replications += values.len();
            last.expect("an interval").contains(truth)
        });
        (covered, replications / trials as usize)
    }

    /// 94.5 % less three Monte Carlo standard errors of `trials` trials.
    fn at_least(trials: u32) -> f64 {
        0.945 - 3.0 * libm::sqrt(0.945 * 0.055 / f64::from(trials))
    }

    #[test]
    fn x6_coverage_of_the_mean_of_normal_and_skewed_metrics() {
        let mut luck = Luck::new(6);
        let normal = || 10.0 + 3.0 * luck.normal();
        let (covered, runs) = sequential_coverage(2_000, 10.0, 0.03, normal, mean);
        assert!(covered >= at_least(2_000), "normal: {covered} at {runs}");
        assert!((300..5_000).contains(&runs), "the stopping rule is at work: {runs}");
        let mut luck = Luck::new(7);
        let skewed = || luck.exponential();
        let (covered, runs) = sequential_coverage(2_000, 1.0, 0.15, skewed, mean);
        assert!(covered >= at_least(2_000), "exponential: {covered} at {runs}");
        assert!((200..3_000).contains(&runs), "the stopping rule is at work: {runs}");
    }

    #[test]
    fn x6_coverage_of_quantiles() {
        for (seed, level, target) in [(8, Level::P50, 0.15), (9, Level::P95, 0.15)] {
            let mut luck = Luck::new(seed);
            let truth = -libm::log1p(-level.probability());
            let (covered, runs) = sequential_coverage(
                2_000,
                truth,
                target,
                || luck.exponential(),
                |sample, confidence| quantile(sample, level, confidence),
            );
            assert!(covered >= at_least(2_000), "{level}: {covered} at {runs}");
            assert!((200..6_000).contains(&runs), "the stopping rule is at work: {runs}");
        }
    }

    #[test]
    fn x6_looking_without_spending_would_cover_less() {
        // The same rule with 95 % intervals at every look, as evidence that the test can fail.
        let stop_early = |spend: bool| {
            let mut luck = Luck::new(10);
            sequential_coverage(
                2_000,
                1.0,
                0.25,
                || luck.exponential(),
                |sample, confidence| mean(sample, if spend { confidence } else { C95 }),
            )
            .0
        };
        let (spent, naive) = (stop_early(true), stop_early(false));
        assert!(spent >= at_least(2_000), "{spent}");
        assert!(naive < at_least(2_000), "{naive}");
    }
}
