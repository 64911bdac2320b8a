//! Data of members pooled over replications (X8): HDR histograms of three significant digits, with
//! the exact count, sum and extremes beside them. Only whole numbers are added, so that parts can
//! be merged in any split and order, over threads and machines, and are the same to the bit.

use hdrhistogram::Histogram;

use crate::sim::Outcome;
use crate::stats::Level;

/// Significant digits of a histogram.
const DIGITS: u8 = 3;

/// Values in milliseconds, pooled.
#[derive(Debug, Clone, PartialEq)]
pub struct Pooled {
    histogram: Histogram<u64>,
    sum: u128,
    extremes: Option<(u64, u64)>,
}

impl Default for Pooled {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are allowed");
        Self { histogram, sum: 0, extremes: None }
    }
}

impl Pooled {
    /// Adds a value in milliseconds.
    pub fn add(&mut self, millis: u64) {
        self.histogram.record(millis).expect("a histogram that grows takes every value");
        self.sum += u128::from(millis);
        let (low, high) = self.extremes.unwrap_or((millis, millis));
        self.extremes = Some((low.min(millis), high.max(millis)));
    }

    /// Adds all values of another pool.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("a histogram that grows takes every value");
        self.sum += other.sum;
        self.extremes = match (self.extremes, other.extremes) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (known, None) | (None, known) => known,
        };
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The sum in milliseconds, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in milliseconds; `None` without values.
    #[expect(clippy::cast_precision_loss, reason = "a mean has 53 bits")]
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The smallest value, exact.
    pub fn min(&self) -> Option<f64> {
        self.extremes.map(|(low, _)| real(low))
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<f64> {
        self.extremes.map(|(_, high)| real(high))
    }

    /// The quantile in milliseconds, to three significant digits; `None` without values.
    pub fn quantile(&self, level: Level) -> Option<f64> {
        let count = usize::try_from(self.count()).ok()?;
        self.at_rank(level.rank(count) as u64)
    }

    /// The value of this rank among the sorted ones, from 1, to three significant digits; `None`
    /// if there are not so many.
    pub fn at_rank(&self, rank: u64) -> Option<f64> {
        let (low, high) = self.extremes?;
        if rank > self.count() {
            return None;
        }
        let mut seen = 0;
        let reached = self.histogram.iter_recorded().find(|step| {
            seen += step.count_since_last_iteration();
            seen >= rank
        });
        // The middle of the bucket, but no value beyond what was seen.
        reached.map(|step| {
            let value = self.histogram.median_equivalent(step.value_iterated_to());
            real(value.clamp(low, high))
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a hundred years are exact")]
fn real(millis: u64) -> f64 {
    millis as f64
}

/// When the members of a strategy were done, from the start, pooled over members and replications.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemberTimes {
    /// Of those that were done.
    pub done: Pooled,
    /// How many never were.
    pub not_done: u64,
}

impl MemberTimes {
    /// Pools replications.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut times = Self::default();
        for outcome in outcomes {
            for millis in outcome.done.iter() {
                times.done.add(u64::try_from(millis).expect("nothing is done before the start"));
            }
            times.not_done += u64::from(outcome.members) - outcome.done.len() as u64;
        }
        times
    }

    /// Adds other replications.
    pub fn merge(&mut self, other: &Self) {
        self.done.merge(&other.done);
        self.not_done += other.not_done;
    }

    /// The quantile over all members in milliseconds, those that were never done last: `None` if
    /// it lies among them, or there are no members.
    pub fn quantile(&self, level: Level) -> Option<f64> {
        let all = usize::try_from(self.done.count() + self.not_done).ok()?;
        self.done.at_rank(level.rank(all) as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pooled(values: &[u64]) -> Pooled {
        let mut pooled = Pooled::default();
        for value in values {
            pooled.add(*value);
        }
        pooled
    }

    fn times(values: &[u64], not_done: u64) -> MemberTimes {
        MemberTimes { done: pooled(values), not_done }
    }

    proptest! {
        #[test]
        fn x8_merging_in_any_split_and_order_gives_the_same(
            values in prop::collection::vec(0_u64..40_000_000_000, 0..200),
            cuts in prop::collection::vec(0_usize..200, 0..6),
            backwards: bool,
        ) {
            let whole = pooled(&values);
            let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut < values.len()).collect();
            ends.extend([0, values.len()]);
            ends.sort_unstable();
            let mut parts: Vec<Pooled> =
                ends.windows(2).map(|ends| pooled(&values[ends[0]..ends[1]])).collect();
            if backwards {
                parts.reverse();
            }
            let mut merged = Pooled::default();
            for part in &parts {
                merged.merge(part);
            }
            prop_assert_eq!(merged.mean(), whole.mean());
            prop_assert_eq!(&merged, &whole);
            for level in [Level::P5, Level::P50, Level::P95, Level::P99] {
                let of = |pool: &Pooled| pool.at_rank(level.rank(values.len()) as u64);
                prop_assert_eq!(of(&merged), of(&whole));
            }
        }

        #[test]
        fn x8_quantiles_have_three_digits_and_sums_are_exact(
            mut values in prop::collection::vec(0_u64..40_000_000_000, 1..300),
        ) {
            let pool = pooled(&values);
            prop_assert_eq!(pool.sum(), values.iter().map(|v| u128::from(*v)).sum::<u128>());
            values.sort_unstable();
            prop_assert_eq!(pool.min(), Some(real(values[0])));
            prop_assert_eq!(pool.max(), Some(real(values[values.len() - 1])));
            for level in [Level::P5, Level::P50, Level::P95, Level::P99] {
                let rank = level.rank(values.len());
                let (exact, found) = (real(values[rank - 1]), pool.at_rank(rank as u64).unwrap());
                prop_assert!((found - exact).abs() <= exact / 1_000.0, "{} {}", found, exact);
            }
        }
    }

    #[test]
    fn members_that_are_never_done_are_counted_last() {
        let found = times(&[10, 20, 30], 1);
        assert_eq!(found.quantile(Level::P50), Some(20.0));
        assert_eq!(found.quantile(Level::P95), None);
        assert_eq!(MemberTimes::default().quantile(Level::P50), None);
        let mut merged = times(&[30], 0);
        merged.merge(&times(&[20, 10], 1));
        assert_eq!(merged, found);
    }
}
