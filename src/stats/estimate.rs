//! Means, proportions and quantiles with their intervals (X4), honest about the horizon (X5).

use super::caveat::Caveat;
use super::sample::{Level, Sample, moments};
use super::special::{binomial_cdf, normal_critical, real, student_t_critical};

/// How sure an interval is of covering the truth: two-sided, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence {
    /// The probability of missing the truth.
    miss: f64,
}

impl Confidence {
    /// 95 %.
    pub const DEFAULT: Self = Self { miss: 1.0 - 0.95 };

    /// A confidence such as 0.95; `None` unless strictly between 0 and 1.
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Self { miss: 1.0 - level })
    }

    /// The confidence that is wrong with probability `miss`; `None` unless strictly between 0
    /// and 1.
    pub fn from_miss(miss: f64) -> Option<Self> {
        (miss > 0.0 && miss < 1.0).then_some(Self { miss })
    }

    /// The confidence, such as 0.95.
    pub fn level(self) -> f64 {
        1.0 - self.miss
    }

    /// The probability of missing the truth, such as 0.05.
    pub fn miss(self) -> f64 {
        self.miss
    }

    /// The probability of missing the truth on one side.
    pub fn tail(self) -> f64 {
        0.5 * self.miss
    }
}

/// A value, or an end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// A number in the metric's unit.
    Value(f64),
    /// Beyond the horizon, nobody knows how far (`>horizon`).
    BeyondHorizon,
    /// The sample is too small to give this end.
    Unbounded,
}

impl Bound {
    /// The number, if it is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(value),
            Self::BeyondHorizon | Self::Unbounded => None,
        }
    }
}

/// Where the truth lies, as far as the sample can tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: Bound,
    /// The upper end.
    pub high: Bound,
}

impl Interval {
    /// From `low` to `high`.
    pub fn of(low: f64, high: f64) -> Self {
        Self { low: Bound::Value(low), high: Bound::Value(high) }
    }

    /// The larger of the two sides around `value`; `None` if an end is no number.
    pub fn half_width(self, value: f64) -> Option<f64> {
        Some((value - self.low.value()?).max(self.high.value()? - value))
    }

    /// Whether a number at or before the horizon lies inside, ends included.
    pub fn contains(self, value: f64) -> bool {
        let above = match self.low {
            Bound::Value(low) => low <= value,
            Bound::BeyondHorizon => false,
            Bound::Unbounded => true,
        };
        let below = match self.high {
            Bound::Value(high) => value <= high,
            Bound::BeyondHorizon | Bound::Unbounded => true,
        };
        above && below
    }
}

/// One number about a metric, how sure it is, and what to know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: Bound,
    /// Where the truth lies; `None` where nothing can be said.
    pub interval: Option<Interval>,
    /// What a reader must know.
    pub caveats: Vec<Caveat>,
}

impl Estimate {
    /// What is known without luck: a point interval (a run that draws no random number).
    pub fn certain(value: f64) -> Self {
        Self {
            value: Bound::Value(value),
            interval: Some(Interval::of(value, value)),
            caveats: Vec::new(),
        }
    }

    /// Puts the number, known without luck, beyond the horizon.
    pub(super) fn beyond_horizon(&mut self) {
        let beyond = Bound::BeyondHorizon;
        self.value = beyond;
        self.interval = Some(Interval { low: beyond, high: beyond });
    }

    /// Whether the number is a mean or difference that counts cut-off runs as the horizon (X5).
    pub fn is_restricted(&self) -> bool {
        let mut caveats = self.caveats.iter();
        caveats.any(|c| {
            matches!(c, Caveat::RestrictedMean { .. } | Caveat::RestrictedDifference { .. })
        })
    }
}

/// The mean, with a Student-t interval; restricted to the horizon, and labelled so, where
/// observations are censored (X5). `None` without observations.
///
/// One observation has no interval; equal observations have a point, with a caveat.
pub fn mean(sample: &Sample, confidence: Confidence) -> Option<Estimate> {
    let first = sample.observations().first()?;
    let mut estimate = if sample.is_constant() {
        student_t(sample.len(), first.value, 0.0, confidence)
    } else {
        let (mean, variance) = moments(sample.values());
        student_t(sample.len(), mean, variance, confidence)
    };
    if sample.censored() > 0 {
        let (censored, n) = (sample.censored(), sample.len());
        estimate.caveats.push(Caveat::RestrictedMean { censored, n });
    }
    Some(estimate)
}

/// Student's interval for the mean of `n` values; a variance of exactly 0 means that all are equal.
pub(super) fn student_t(n: usize, mean: f64, variance: f64, confidence: Confidence) -> Estimate {
    let mut estimate = Estimate { value: Bound::Value(mean), interval: None, caveats: Vec::new() };
    if n < 2 {
        estimate.caveats.push(Caveat::OnlyOneReplication);
        return estimate;
    }
    if variance > 0.0 {
        let critical = student_t_critical(confidence.tail(), real(n - 1));
        let half = critical * libm::sqrt(variance / real(n));
        estimate.interval = Some(Interval::of(mean - half, mean + half));
        if n < 20 {
            estimate.caveats.push(Caveat::SmallSample { n });
        }
    } else {
        estimate.interval = Some(Interval::of(mean, mean));
        estimate.caveats.push(Caveat::Constant { n });
    }
    estimate
}

/// A proportion, with Wilson's score interval (1927). `None` without trials.
///
/// # Panics
/// If there are more successes than trials.
pub fn proportion(successes: usize, n: usize, confidence: Confidence) -> Option<Estimate> {
    assert!(successes <= n, "{successes} successes in {n} trials");
    if n == 0 {
        return None;
    }
    let trials = real(n);
    let share = real(successes) / trials;
    let critical = normal_critical(confidence.tail());
    let square = critical * critical / trials;
    let centre = (share + 0.5 * square) / (1.0 + square);
    let spread = libm::sqrt(share * (1.0 - share) / trials + 0.25 * square / trials);
    let half = critical * spread / (1.0 + square);
    // Without rounding, both ends are exact where all trials agree.
    let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes == n { 1.0 } else { (centre + half).min(1.0) };
    let caveats = if n == 1 { vec![Caveat::OnlyOneReplication] } else { Vec::new() };
    let interval = Some(Interval::of(low, high));
    Some(Estimate { value: Bound::Value(share), interval, caveats })
}

/// The ranks, from 1, of the order statistics that bound a quantile; `None` where the sample is too
/// small to bound that side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Of the lower end.
    pub low: Option<usize>,
    /// Of the upper end.
    pub high: Option<usize>,
}

/// The narrowest ranks for which each end, on its own, misses with at most half of the allowed
/// probability (David and Nagaraja 2003, section 7.1).
///
/// The coverage is therefore never below `confidence`: each end is nearest to the quantile among
/// those that keep the promise, and an end that no rank can keep is open. An end alone is a
/// one-sided bound at half the allowed miss.
pub fn ranks(n: usize, level: Level, confidence: Confidence) -> Ranks {
    let p = level.probability();
    let tail = confidence.tail();
    // Below the quantile lie B values, B binomial: rank r is above it with P(B <= r - 1).
    let low = first_true(n, |r| binomial_cdf(r, n, p) > tail);
    // Rank r is below it with P(B >= r) = P(n - B <= n - r).
    let high = 1 + first_true(n, |r| binomial_cdf(n - r - 1, n, 1.0 - p) <= tail);
    Ranks { low: (low > 0).then_some(low), high: (high <= n).then_some(high) }
}

/// The first of 0..n for which a monotone predicate holds, else `n`.
fn first_true(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The exact probability that the order statistics at `ranks` of `n` observations bound a quantile
/// of a continuous distribution (of a distribution with atoms: at least that).
pub fn coverage_of_ranks(n: usize, level: Level, ranks: Ranks) -> f64 {
    let p = level.probability();
    let above = ranks.low.map_or(0.0, |low| binomial_cdf(low - 1, n, p));
    let below = ranks.high.map_or(0.0, |high| binomial_cdf(n - high, n, 1.0 - p));
    1.0 - above - below
}

/// A quantile: the exact order statistic of rank ceil(p · n), so that the p50 is the lower median,
/// with the distribution-free interval between the order statistics at [`ranks`]. `None` without
/// observations.
///
/// What falls on a censored observation lies beyond the horizon (X5); an end that the sample is
/// too small to give is unbounded, and with neither end there is no interval.
pub fn quantile(sample: &Sample, level: Level, confidence: Confidence) -> Option<Estimate> {
    let n = sample.len();
    if n == 0 {
        return None;
    }
    let at = |rank: usize| {
        let observation = sample.at_rank(rank);
        if observation.censored { Bound::BeyondHorizon } else { Bound::Value(observation.value) }
    };
    let value = at(level.rank(n));
    let ranks = ranks(n, level, confidence);
    let low = ranks.low.map_or(Bound::Unbounded, at);
    let high = ranks.high.map_or(Bound::Unbounded, at);
    let mut caveats = Vec::new();
    if n == 1 {
        caveats.push(Caveat::OnlyOneReplication);
    }
    let rests_on = level.rests_on(n);
    if rests_on < 10 || low == Bound::Unbounded || high == Bound::Unbounded {
        caveats.push(Caveat::FewRuns { level, rests_on });
    }
    if n > 1 && sample.is_constant() {
        caveats.push(Caveat::Constant { n });
    }
    if [value, low, high].contains(&Bound::BeyondHorizon) {
        caveats.push(Caveat::BeyondHorizon { level, censored: sample.censored(), n });
    }
    let some_end = ranks.low.is_some() || ranks.high.is_some();
    Some(Estimate { value, interval: some_end.then_some(Interval { low, high }), caveats })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Luck, share};
    use super::*;

    const C95: Confidence = Confidence::DEFAULT;

    fn ends(estimate: &Estimate) -> (f64, f64) {
        let interval = estimate.interval.expect("an interval");
        (interval.low.value().expect("a lower end"), interval.high.value().expect("an upper end"))
    }

    #[track_caller]
    fn close(found: (f64, f64), expected: (f64, f64)) {
        let error = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        assert!(error < 5e-6, "{found:?} instead of {expected:?}");
    }

    #[test]
    fn x4_mean_of_a_known_sample() {
        // Mean 3, variance 2.5: 3 ± 2.776445 · sqrt(0.5).
        let estimate = mean(&Sample::exact(&[1.0, 2.0, 3.0, 4.0, 5.0]), C95).expect("runs");
        assert_eq!(estimate.value, Bound::Value(3.0));
        close(ends(&estimate), (1.036_757, 4.963_243));
        assert_eq!(estimate.caveats, [Caveat::SmallSample { n: 5 }]);
    }

    #[test]
    fn x4_mean_of_none_one_two_and_equal_observations() {
        assert_eq!(mean(&Sample::exact(&[]), C95), None);
        let one = mean(&Sample::exact(&[7.0]), C95).expect("a run");
        assert_eq!((one.value, one.interval), (Bound::Value(7.0), None));
        assert_eq!(one.caveats, [Caveat::OnlyOneReplication]);
        let two = mean(&Sample::exact(&[1.0, 3.0]), C95).expect("runs");
        close(ends(&two), (2.0 - 12.706_205, 2.0 + 12.706_205));
        let equal = mean(&Sample::exact(&[0.1; 30]), C95).expect("runs");
        assert_eq!(equal.value, Bound::Value(0.1));
        assert_eq!(equal.interval, Some(Interval::of(0.1, 0.1)));
        assert_eq!(equal.caveats, [Caveat::Constant { n: 30 }]);
    }

    #[test]
    fn x5_means_of_censored_samples_are_restricted_and_say_so() {
        let mut observations = vec![crate::stats::Observation::exact(10.0); 18];
        observations.extend([crate::stats::Observation::beyond(20.0); 2]);
        let estimate = mean(&Sample::new(observations), C95).expect("runs");
        assert_eq!(estimate.value, Bound::Value(11.0));
        assert!(estimate.is_restricted());
        assert_eq!(estimate.caveats, [Caveat::RestrictedMean { censored: 2, n: 20 }]);
    }

    #[test]
    fn x4_wilson_intervals_are_the_published_ones() {
        // Newcombe (1998), table I, method 3.
        let interval = |s, n| ends(&proportion(s, n, C95).expect("trials"));
        let published = |found: (f64, f64), low: f64, high: f64| {
            assert!((found.0 - low).abs() < 5e-5 && (found.1 - high).abs() < 5e-5, "{found:?}");
        };
        published(interval(81, 263), 0.2553, 0.3662);
        published(interval(15, 148), 0.0624, 0.1605);
        published(interval(0, 20), 0.0, 0.1611);
        published(interval(1, 29), 0.0061, 0.1718);
        assert_eq!(interval(0, 20).0.to_bits(), 0.0_f64.to_bits());
        assert_eq!(interval(20, 20).1.to_bits(), 1.0_f64.to_bits());
        assert_eq!(proportion(0, 0, C95), None);
    }

    #[test]
    fn x4_ranks_keep_the_promise_and_are_the_narrowest() {
        for n in [1, 2, 5, 6, 20, 59, 71, 72, 100, 1000] {
            for level in [Level::P5, Level::P50, Level::P95, Level::P99] {
                let chosen = ranks(n, level, C95);
                assert!(coverage_of_ranks(n, level, chosen) >= 0.95, "{n} {level} {chosen:?}");
                let p = level.probability();
                if let Some(low) = chosen.low {
                    assert!(binomial_cdf(low, n, p) > 0.025, "{n} {level}: a higher low end fits");
                }
                if let Some(high) = chosen.high {
                    let misses = 1.0 - binomial_cdf(high - 2, n, p);
                    assert!(high >= 2 && misses > 0.025, "{n} {level}: a lower high end fits");
                }
            }
        }
    }

    #[test]
    fn x4_ranks_of_the_median_are_the_published_ones() {
        // David and Nagaraja (2003) and the tables of the sign test.
        let median = |n| ranks(n, Level::P50, C95);
        assert_eq!(median(5), Ranks { low: None, high: None });
        assert_eq!(median(6), Ranks { low: Some(1), high: Some(6) });
        assert_eq!(median(10), Ranks { low: Some(2), high: Some(9) });
        assert_eq!(median(20), Ranks { low: Some(6), high: Some(15) });
        assert_eq!(median(100), Ranks { low: Some(40), high: Some(61) });
        let coverage = coverage_of_ranks(10, Level::P50, median(10));
        assert!((coverage - 0.978_515_625).abs() < 1e-12);
    }

    #[test]
    fn x4_a_quantile_is_an_order_statistic_and_open_when_runs_are_few() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let sample = Sample::exact(&hundred);
        let median = quantile(&sample, Level::P50, C95).expect("runs");
        assert_eq!(median.value, Bound::Value(50.0));
        assert_eq!(median.interval, Some(Interval::of(40.0, 61.0)));
        assert!(median.caveats.is_empty());
        let p99 = quantile(&sample, Level::P99, C95).expect("runs");
        assert_eq!(p99.value, Bound::Value(99.0));
        let interval = p99.interval.expect("a lower end");
        assert_eq!((interval.low, interval.high), (Bound::Value(97.0), Bound::Unbounded));
        assert_eq!(p99.caveats, [Caveat::FewRuns { level: Level::P99, rests_on: 2 }]);
        let one = quantile(&Sample::exact(&[4.0]), Level::P50, C95).expect("a run");
        assert_eq!((one.value, one.interval), (Bound::Value(4.0), None));
        assert_eq!(one.caveats[0], Caveat::OnlyOneReplication);
        assert_eq!(quantile(&Sample::exact(&[]), Level::P50, C95), None);
    }

    #[test]
    fn x5_quantiles_in_the_censored_part_lie_beyond_the_horizon() {
        let observation = |i| {
            if i < 93 {
                crate::stats::Observation::exact(f64::from(i))
            } else {
                crate::stats::Observation::beyond(1000.0)
            }
        };
        let sample = Sample::new((0..100).map(observation).collect());
        let p95 = quantile(&sample, Level::P95, C95).expect("runs");
        assert_eq!(p95.value, Bound::BeyondHorizon);
        let interval = p95.interval.expect("an interval");
        assert_eq!((interval.low, interval.high), (Bound::Value(89.0), Bound::BeyondHorizon));
        assert!(p95.caveats.contains(&Caveat::BeyondHorizon {
            level: Level::P95,
            censored: 7,
            n: 100
        }));
        assert!(interval.contains(900.0) && !interval.contains(88.0));
        let median = quantile(&sample, Level::P50, C95).expect("runs");
        assert_eq!(median.interval, Some(Interval::of(39.0, 60.0)));
        assert!(median.caveats.is_empty());
        let all = Sample::new(vec![crate::stats::Observation::beyond(9.0); 100]);
        let low = quantile(&all, Level::P50, C95).expect("runs").interval.expect("ends").low;
        assert_eq!(low, Bound::BeyondHorizon);
        assert!(!Interval { low, high: Bound::Unbounded }.contains(8.0));
    }

    #[test]
    fn coverage_of_student_t_on_normal_samples() {
        let mut luck = Luck::new(1);
        for n in [3, 10, 40] {
            let covered = share(4_000, || {
                let values: Vec<f64> = (0..n).map(|_| 100.0 + 15.0 * luck.normal()).collect();
                let estimate = mean(&Sample::exact(&values), C95).expect("runs");
                estimate.interval.expect("an interval").contains(100.0)
            });
            assert!((0.935..=0.965).contains(&covered), "n = {n}: {covered}");
        }
    }

    #[test]
    fn coverage_of_wilson_is_the_exact_one() {
        let mut luck = Luck::new(2);
        for (n, p) in [(20, 0.1), (50, 0.5), (100, 0.02)] {
            let covers =
                |k| proportion(k, n, C95).and_then(|e| e.interval).expect("trials").contains(p);
            let mass = |k: usize| {
                let below = if k == 0 { 0.0 } else { binomial_cdf(k - 1, n, p) };
                binomial_cdf(k, n, p) - below
            };
            let exact: f64 = (0..=n).filter(|k| covers(*k)).map(mass).sum();
            let covered = share(10_000, || covers((0..n).filter(|_| luck.uniform() < p).count()));
            assert!((covered - exact).abs() < 0.01, "n = {n}, p = {p}: {covered} for {exact}");
        }
    }

    #[test]
    fn coverage_of_order_statistics_is_the_exact_one() {
        let mut luck = Luck::new(3);
        for (n, level) in [(15, Level::P50), (40, Level::P95), (200, Level::P95)] {
            let truth = -libm::log1p(-level.probability());
            let exact = coverage_of_ranks(n, level, ranks(n, level, C95));
            let covered = share(4_000, || {
                let values: Vec<f64> = (0..n).map(|_| luck.exponential()).collect();
                let estimate = quantile(&Sample::exact(&values), level, C95).expect("runs");
                estimate.interval.expect("an end").contains(truth)
            });
            assert!((covered - exact).abs() < 0.01, "n = {n}, {level}: {covered} for {exact}");
        }
    }
}
