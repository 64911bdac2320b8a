//! Differences between two strategies, paired by replication (X4).

use super::caveat::Caveat;
use super::estimate::{Confidence, Estimate, proportion, student_t};
use super::sample::{Observation, Sample, moments, sum};
use super::special::real;

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// As of a makespan.
    Smaller,
    /// As of updated members.
    Larger,
}

/// How a strategy differs from a reference on common random numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedDifference {
    /// How many pairs.
    pub n: usize,
    /// The mean of strategy less reference, with Student's interval; restricted to the horizon,
    /// and labelled so, where a side is censored (X5).
    pub mean: Estimate,
    /// The share of pairs in which the strategy was strictly better, with Wilson's interval. A side
    /// beyond the horizon is larger than one that is not.
    pub share_better: Estimate,
    /// The share of pairs in which neither was better, those included in which both sides lie
    /// beyond the horizon.
    pub share_equal: f64,
    /// What pairing bought: 1 − var(difference) / (var(strategy) + var(reference)). Positive when
    /// common random numbers helped: 0.9 means that independent runs would have needed ten times
    /// the replications. `None` if neither side varies.
    pub variance_reduction: Option<f64>,
    /// The correlation of the two sides. `None` if one of them does not vary.
    pub correlation: Option<f64>,
}

impl PairedDifference {
    /// Compares two samples of the same replications. `None` without any.
    ///
    /// # Panics
    /// If the samples differ in length.
    pub fn of(
        strategy: &Sample,
        reference: &Sample,
        better: Better,
        confidence: Confidence,
    ) -> Option<Self> {
        let n = strategy.len();
        assert_eq!(n, reference.len(), "pairs need the same replications on both sides");
        let counts = Counts::of(strategy, reference, better);
        let mut share_better = proportion(counts.better, n, confidence)?;
        if counts.both_beyond > 0 {
            share_better.caveats.push(Caveat::BothBeyondHorizon { pairs: counts.both_beyond, n });
        }
        let spread = Spread::of(strategy, reference);
        let mut mean = student_t(n, spread.difference_mean, spread.difference, confidence);
        if counts.censored > 0 {
            mean.caveats.push(Caveat::RestrictedDifference { censored: counts.censored, n });
        }
        Some(Self {
            n,
            mean,
            share_better,
            share_equal: real(counts.equal) / real(n),
            variance_reduction: spread.reduction(),
            correlation: spread.correlation(),
        })
    }
}

/// How the pairs fell.
struct Counts {
    better: usize,
    equal: usize,
    censored: usize,
    both_beyond: usize,
}

impl Counts {
    fn of(strategy: &Sample, reference: &Sample, better: Better) -> Self {
        let mut counts = Self { better: 0, equal: 0, censored: 0, both_beyond: 0 };
        for (a, b) in strategy.observations().iter().zip(reference.observations()) {
            let order = order(a, b);
            counts.equal += usize::from(order.is_eq());
            counts.better += usize::from(match better {
                Better::Smaller => order.is_lt(),
                Better::Larger => order.is_gt(),
            });
            counts.censored += usize::from(a.censored || b.censored);
            counts.both_beyond += usize::from(a.censored && b.censored);
        }
        counts
    }
}

fn order(a: &Observation, b: &Observation) -> std::cmp::Ordering {
    if a.censored && b.censored {
        return std::cmp::Ordering::Equal;
    }
    a.censored.cmp(&b.censored).then(a.value.total_cmp(&b.value))
}

/// Variances of both sides and of their difference.
struct Spread {
    strategy: f64,
    reference: f64,
    covariance: f64,
    difference: f64,
    difference_mean: f64,
}

impl Spread {
    fn of(strategy: &Sample, reference: &Sample) -> Self {
        let differences = strategy.values().zip(reference.values()).map(|(a, b)| a - b);
        let (difference_mean, difference) = moments_or_constant(differences);
        let (mean_a, variance_a) = moments_or_constant(strategy.values());
        let (mean_b, variance_b) = moments_or_constant(reference.values());
        let pairs = strategy.values().zip(reference.values());
        let products = sum(pairs.map(|(a, b)| (a - mean_a) * (b - mean_b)));
        let covariance = products / real(strategy.len().max(2) - 1);
        Self {
            strategy: variance_a,
            reference: variance_b,
            covariance,
            difference,
            difference_mean,
        }
    }

    fn reduction(&self) -> Option<f64> {
        let apart = self.strategy + self.reference;
        (apart > 0.0).then(|| 1.0 - self.difference / apart)
    }

    fn correlation(&self) -> Option<f64> {
        let scale = libm::sqrt(self.strategy) * libm::sqrt(self.reference);
        (scale > 0.0).then(|| (self.covariance / scale).clamp(-1.0, 1.0))
    }
}

/// Mean and variance; the variance of equal values is exactly 0.
fn moments_or_constant(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let mut rest = values.clone();
    let first = rest.next().unwrap_or_default();
    if rest.all(|v| (v - first).abs() <= 0.0) { (first, 0.0) } else { moments(values) }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::{Bound, Interval};
    use super::super::testing::{Luck, share};
    use super::*;

    const C95: Confidence = Confidence::DEFAULT;

    fn compare(a: &[f64], b: &[f64]) -> PairedDifference {
        let (a, b) = (Sample::exact(a), Sample::exact(b));
        PairedDifference::of(&a, &b, Better::Smaller, C95).expect("pairs")
    }

    #[test]
    fn x4_a_paired_difference_of_known_samples() {
        // Differences -1, -2, 0, -3, 1: mean -1, variance 2.5.
        let found = compare(&[1.0, 2.0, 4.0, 5.0, 8.0], &[2.0, 4.0, 4.0, 8.0, 7.0]);
        assert_eq!(found.mean.value, Bound::Value(-1.0));
        let half = found.mean.interval.expect("an interval").half_width(-1.0).expect("both ends");
        assert!((half - 1.963_243).abs() < 1e-6, "{half}");
        assert_eq!(found.share_better.value, Bound::Value(0.6));
        assert!((found.share_equal - 0.2).abs() < 1e-15);
        // var(a) = 7.5, var(b) = 6, var(difference) = 2.5, hence cov = 5.5.
        let reduction = found.variance_reduction.expect("they vary");
        assert!((reduction - (1.0 - 2.5 / 13.5)).abs() < 1e-14, "{reduction}");
        let correlation = found.correlation.expect("they vary");
        assert!((correlation - 5.5 / libm::sqrt(45.0)).abs() < 1e-14, "{correlation}");
    }

    #[test]
    fn x4_larger_may_be_better() {
        let (a, b) = (Sample::exact(&[5.0, 1.0, 2.0]), Sample::exact(&[4.0, 1.0, 3.0]));
        let found = PairedDifference::of(&a, &b, Better::Larger, C95).expect("pairs");
        assert_eq!(found.share_better.value, Bound::Value(1.0 / 3.0));
    }

    #[test]
    fn x4_pairing_reduces_variance_on_common_luck_and_costs_on_opposed() {
        let mut luck = Luck::new(4);
        let common: Vec<f64> = (0..500).map(|_| luck.normal()).collect();
        let mut noisy = |sign: f64| -> Vec<f64> {
            common.iter().map(|c| 10.0 + sign * c + 0.2 * luck.normal()).collect()
        };
        let (a, b, opposed) = (noisy(1.0), noisy(1.0), noisy(-1.0));
        // In the limit 1 - 0.08 / 2.08 and 1 - 4.08 / 2.08.
        let found = compare(&a, &b);
        let reduction = found.variance_reduction.expect("they vary");
        assert!((0.95..0.97).contains(&reduction), "{reduction}");
        assert!(found.correlation.expect("they vary") > 0.94);
        let found = compare(&a, &opposed);
        assert!(found.variance_reduction.expect("they vary") < -0.9);
    }

    #[test]
    fn x4_none_one_and_constant_pairs() {
        let empty = Sample::exact(&[]);
        assert_eq!(PairedDifference::of(&empty, &empty, Better::Smaller, C95), None);
        let one = compare(&[1.0], &[3.0]);
        assert_eq!((one.mean.value, one.mean.interval), (Bound::Value(-2.0), None));
        assert_eq!(one.mean.caveats, [Caveat::OnlyOneReplication]);
        assert_eq!((one.variance_reduction, one.correlation), (None, None));
        let same = compare(&[1.0, 2.0, 7.5], &[1.0, 2.0, 7.5]);
        assert_eq!(same.mean.interval, Some(Interval::of(0.0, 0.0)));
        assert_eq!(same.mean.caveats, [Caveat::Constant { n: 3 }]);
        assert_eq!(same.share_better.value, Bound::Value(0.0));
        assert!((same.share_equal - 1.0).abs() < 1e-15);
        assert_eq!(same.variance_reduction, Some(1.0));
    }

    #[test]
    fn x5_differences_with_censored_sides_are_restricted_and_say_so() {
        let h = Observation::beyond(60.0);
        let a = Sample::new(vec![Observation::exact(10.0), Observation::exact(60.0), h, h]);
        let b = Sample::new(vec![Observation::exact(20.0), h, h, Observation::exact(30.0)]);
        let found = PairedDifference::of(&a, &b, Better::Smaller, C95).expect("pairs");
        assert_eq!(found.mean.value, Bound::Value(5.0));
        assert!(found.mean.is_restricted());
        assert!(found.mean.caveats.contains(&Caveat::RestrictedDifference { censored: 3, n: 4 }));
        // Better by 10, better by an unknown amount, unknown, worse.
        assert_eq!(found.share_better.value, Bound::Value(0.5));
        assert!((found.share_equal - 0.25).abs() < 1e-15);
        assert_eq!(found.share_better.caveats, [Caveat::BothBeyondHorizon { pairs: 1, n: 4 }]);
    }

    #[test]
    #[should_panic(expected = "the same replications")]
    fn pairs_need_both_sides() {
        compare(&[1.0], &[1.0, 2.0]);
    }

    #[test]
    fn coverage_of_paired_differences() {
        let mut luck = Luck::new(5);
        let covered = share(2_000, || {
            let (a, b): (Vec<f64>, Vec<f64>) = (0..12)
                .map(|_| {
                    let common = luck.normal();
                    (5.0 + common + 0.3 * luck.normal(), 4.0 + common + 0.3 * luck.normal())
                })
                .unzip();
            compare(&a, &b).mean.interval.expect("an interval").contains(1.0)
        });
        assert!((0.935..=0.965).contains(&covered), "{covered}");
    }
}
