//! One metric's observations, in replication order and sorted, with what the horizon cut off (X5).

use std::fmt;
use std::str::FromStr;

use super::special::real;

/// What one replication says about one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The value in the metric's unit; the horizon where the observation is censored.
    pub value: f64,
    /// Whether the true value lies beyond the horizon.
    pub censored: bool,
}

impl Observation {
    /// A value that was seen.
    pub fn exact(value: f64) -> Self {
        Self { value, censored: false }
    }

    /// A value that lies beyond the horizon.
    pub fn beyond(horizon: f64) -> Self {
        Self { value: horizon, censored: true }
    }
}

/// One metric's observations; nothing is dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// In replication order.
    observations: Vec<Observation>,
    /// Replications from the smallest value to the largest, those beyond the horizon last, equals
    /// in replication order.
    order: Vec<usize>,
    censored: usize,
}

impl Sample {
    /// A sample in replication order.
    ///
    /// # Panics
    /// If a value is not finite, or a censored value lies below one that was seen: censored values
    /// hold the horizon, and nothing is seen beyond it.
    pub fn new(mut observations: Vec<Observation>) -> Self {
        let mut seen = f64::NEG_INFINITY;
        let mut horizon = f64::INFINITY;
        for observation in &mut observations {
            assert!(observation.value.is_finite(), "a metric is finite: {}", observation.value);
            // Turns -0 into 0, so that the order of bits is the order of values.
            observation.value += 0.0;
            if observation.censored {
                horizon = horizon.min(observation.value);
            } else {
                seen = seen.max(observation.value);
            }
        }
        assert!(seen <= horizon, "{seen} was seen beyond the horizon {horizon}");
        let mut order: Vec<usize> = (0..observations.len()).collect();
        order.sort_unstable_by(|a, b| {
            let (x, y) = (&observations[*a], &observations[*b]);
            x.censored.cmp(&y.censored).then(x.value.total_cmp(&y.value)).then(a.cmp(b))
        });
        let censored = observations.iter().filter(|o| o.censored).count();
        Self { observations, order, censored }
    }

    /// A sample of values that were all seen, in replication order.
    pub fn exact(values: &[f64]) -> Self {
        Self::new(values.iter().copied().map(Observation::exact).collect())
    }

    /// How many replications there are.
    pub fn len(&self) -> usize {
        self.observations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.observations.is_empty()
    }

    /// How many observations lie beyond the horizon.
    pub fn censored(&self) -> usize {
        self.censored
    }

    /// The observations in replication order.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The `rank`-th smallest observation, counted from 1.
    pub fn at_rank(&self, rank: usize) -> Observation {
        self.observations[self.order[rank - 1]]
    }

    /// The replication that shows the quantile: for the p50 the one with the lower median. `None`
    /// without replications.
    pub fn replication_at(&self, level: Level) -> Option<usize> {
        (!self.is_empty()).then(|| self.order[level.rank(self.len()) - 1])
    }

    /// Whether all observations are equal. True without any.
    pub fn is_constant(&self) -> bool {
        let mut pairs = self.observations.windows(2);
        pairs.all(|p| p[0].censored == p[1].censored && p[0].value.total_cmp(&p[1].value).is_eq())
    }

    /// The values in replication order, the horizon where it cut them off.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.observations.iter().map(|o| o.value)
    }
}

/// The level of a quantile, exact to 0.01 %: a rank is integer arithmetic, never
/// `ceil(0.07 · 100)`, which is 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// In 1/10,000, strictly between 0 and 10,000.
    basis_points: u16,
}

impl Level {
    /// The 5 % quantile.
    pub const P5: Self = Self { basis_points: 500 };
    /// The median.
    pub const P50: Self = Self { basis_points: 5_000 };
    /// The 95 % quantile.
    pub const P95: Self = Self { basis_points: 9_500 };
    /// The 99 % quantile.
    pub const P99: Self = Self { basis_points: 9_900 };

    /// A level in 1/10,000; `None` unless strictly between 0 and 10,000.
    pub fn from_basis_points(basis_points: u16) -> Option<Self> {
        (1..10_000).contains(&basis_points).then_some(Self { basis_points })
    }

    /// The level as a probability.
    pub fn probability(self) -> f64 {
        f64::from(self.basis_points) / 10_000.0
    }

    /// The rank of the quantile among `n` sorted values, from 1: ceil(p · n), so that the p50 of an
    /// even number is the lower median.
    pub fn rank(self, n: usize) -> usize {
        (usize::from(self.basis_points) * n).div_ceil(10_000)
    }

    /// How many of `n` runs lie at the quantile or further out.
    pub(super) fn rests_on(self, n: usize) -> usize {
        let rank = self.rank(n);
        if self.basis_points < 5_000 { rank } else { n - rank + 1 }
    }

    /// The number of runs with which about 100 lie further out.
    pub(super) fn enough(self) -> usize {
        let tail = usize::from(self.basis_points.min(10_000 - self.basis_points));
        1_000_000_usize.div_ceil(tail)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.basis_points / 100, self.basis_points % 100);
        match part {
            0 => write!(f, "p{whole}"),
            _ if part % 10 == 0 => write!(f, "p{whole}.{}", part / 10),
            _ => write!(f, "p{whole}.{part:02}"),
        }
    }
}

/// A text that names no quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelError;

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantile is written p0.01 to p99.99, as in p50 or p99.9")
    }
}

impl std::error::Error for LevelError {}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        let digits =
            |t: &str| !t.is_empty() && t.len() <= 2 && t.bytes().all(|b| b.is_ascii_digit());
        let percent = text.strip_prefix('p').ok_or(LevelError)?;
        let (whole, part) = percent.split_once('.').unwrap_or((percent, "0"));
        if !digits(whole) || !digits(part) {
            return Err(LevelError);
        }
        let number = |t: &str| t.parse::<u16>().map_err(|_| LevelError);
        let scale = if part.len() == 1 { 10 } else { 1 };
        Self::from_basis_points(number(whole)? * 100 + number(part)? * scale).ok_or(LevelError)
    }
}

/// Sum with Neumaier's compensation (1974), in the order given.
pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    total + lost
}

/// Mean and unbiased variance of at least one value, by two passes.
pub(super) fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count();
    let mean = sum(values.clone()) / real(n);
    if n < 2 {
        return (mean, 0.0);
    }
    // The second term undoes the rounding of the mean (Chan, Golub and LeVeque 1983).
    let squares = sum(values.clone().map(|v| (v - mean) * (v - mean)));
    let rest = sum(values.map(|v| v - mean));
    let variance = (squares - rest * rest / real(n)) / real(n - 1);
    (mean, variance.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_exact_and_the_median_is_the_lower_one() {
        assert_eq!(Level::P50.rank(4), 2);
        assert_eq!(Level::P50.rank(5), 3);
        assert_eq!(Level::P95.rank(100), 95);
        assert_eq!(Level::P5.rank(1), 1);
        assert_eq!(Level::P99.rank(1), 1);
        let seven: Level = "p7".parse().expect("a level");
        assert_eq!(seven.rank(100), 7);
    }

    #[test]
    fn levels_are_written_as_they_are_read() {
        for text in ["p5", "p50", "p99", "p99.9", "p99.99", "p0.05"] {
            assert_eq!(text.parse::<Level>().expect(text).to_string(), text);
        }
        for text in ["", "p", "p0", "p100", "95", "p9.", "p9.999", "p-5", "p+5", "P50", "p5.5.5"] {
            assert_eq!(text.parse::<Level>(), Err(LevelError), "{text}");
        }
    }

    #[test]
    fn x5_censored_values_sort_last_and_nothing_is_dropped() {
        let sample = Sample::new(vec![
            Observation::beyond(9.0),
            Observation::exact(9.0),
            Observation::exact(2.0),
            Observation::beyond(9.0),
        ]);
        assert_eq!((sample.len(), sample.censored()), (4, 2));
        assert_eq!(sample.at_rank(1), Observation::exact(2.0));
        assert_eq!(sample.at_rank(2), Observation::exact(9.0));
        assert_eq!(sample.at_rank(3), Observation::beyond(9.0));
        assert_eq!(sample.replication_at(Level::P50), Some(1));
        assert_eq!(sample.replication_at(Level::P99), Some(3));
        assert_eq!(Sample::exact(&[]).replication_at(Level::P50), None);
    }

    #[test]
    fn equal_values_keep_replication_order() {
        let sample = Sample::exact(&[1.0, 0.0, -0.0, 0.0]);
        assert_eq!(sample.replication_at(Level::P50), Some(2));
        assert!(Sample::exact(&[0.0, -0.0]).is_constant());
        assert!(!sample.is_constant());
    }

    #[test]
    #[should_panic(expected = "was seen beyond the horizon")]
    fn x5_nothing_is_seen_beyond_the_horizon() {
        Sample::new(vec![Observation::exact(10.0), Observation::beyond(9.0)]);
    }

    #[test]
    #[should_panic(expected = "a metric is finite")]
    fn a_value_that_is_no_number_is_a_bug() {
        Sample::exact(&[1.0, f64::NAN]);
    }

    #[test]
    fn sums_keep_what_plain_addition_loses() {
        let values = [1e100, 1.0, -1e100, 1.0];
        assert_eq!(sum(values.into_iter()).to_bits(), 2.0_f64.to_bits());
        let (mean, variance) = moments([1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0].into_iter());
        assert_eq!(mean.to_bits(), (1e9_f64 + 10.0).to_bits());
        assert_eq!(variance.to_bits(), 30.0_f64.to_bits());
    }
}
