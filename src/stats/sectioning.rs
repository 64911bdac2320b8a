//! How a quantile differs between two strategies, paired by replication.
//!
//! Sectioning (Asmussen and Glynn 2007, "Stochastic simulation", III.5; Nakayama 2014, "Confidence
//! intervals for quantiles using sectioning when applying variance-reduction techniques", ACM
//! TOMACS 24(4)): the difference within each of ten sections of the replications, around the
//! difference over all of them. Sections keep the pairs together, so common random numbers make the
//! interval narrower.

use super::estimate::{Bound, Confidence, Estimate, Interval};
use super::sample::{Level, Sample};
use super::special::student_t_critical;

/// How many sections there are.
const SECTIONS: u16 = 10;
/// Replications of a section at the least: below, its p95 is nearly its maximum.
const SECTION: usize = 40;

/// The quantile of `strategy` less that of `reference`, of the same replications. `None` where one
/// of the two lies beyond the horizon, or there are no replications; without an interval where a
/// section's does, or there are fewer than 400 replications.
///
/// # Panics
/// If the samples differ in length.
pub fn quantile_difference(
    strategy: &Sample,
    reference: &Sample,
    level: Level,
    confidence: Confidence,
) -> Option<Estimate> {
    assert_eq!(strategy.len(), reference.len(), "pairs need the same replications on both sides");
    let difference = quantile(strategy, level)? - quantile(reference, level)?;
    let interval = sectioned([strategy, reference], level, confidence, difference);
    Some(Estimate { value: Bound::Value(difference), interval, caveats: Vec::new() })
}

/// The quantile of a sample; `None` if it lies beyond the horizon.
fn quantile(sample: &Sample, level: Level) -> Option<f64> {
    if sample.is_empty() {
        return None;
    }
    let found = sample.at_rank(level.rank(sample.len()));
    (!found.censored).then_some(found.value)
}

fn sectioned(
    [strategy, reference]: [&Sample; 2],
    level: Level,
    confidence: Confidence,
    difference: f64,
) -> Option<Interval> {
    let size = strategy.len() / usize::from(SECTIONS);
    if size < SECTION {
        return None;
    }
    let section = |sample: &Sample, number: usize| {
        let part = &sample.observations()[number * size..(number + 1) * size];
        quantile(&Sample::new(part.to_vec()), level)
    };
    let mut squares = 0.0;
    for number in 0..usize::from(SECTIONS) {
        let off = section(strategy, number)? - section(reference, number)? - difference;
        squares += off * off;
    }
    let sections = f64::from(SECTIONS);
    let error = libm::sqrt(squares / (sections * (sections - 1.0)));
    let half = student_t_critical(confidence.tail(), sections - 1.0) * error;
    Some(Interval::of(difference - half, difference + half))
}

#[cfg(test)]
mod tests {
    use super::super::Observation;
    use super::super::testing::{Luck, share};
    use super::*;

    const C95: Confidence = Confidence::DEFAULT;

    #[test]
    fn a_shift_of_all_runs_is_a_shift_of_the_quantile_without_doubt() {
        let values: Vec<f64> = (0..400_u32).map(|i| f64::from(i * 7919 % 401)).collect();
        let later: Vec<f64> = values.iter().map(|value| value + 60.0).collect();
        let (before, after) = (Sample::exact(&values), Sample::exact(&later));
        let found = quantile_difference(&after, &before, Level::P95, C95).expect("runs");
        assert_eq!(found.value, Bound::Value(60.0));
        assert_eq!(found.interval, Some(Interval::of(60.0, 60.0)), "pairs are kept together");
    }

    #[test]
    fn x5_beyond_the_horizon_no_difference_is_told() {
        let before = Sample::exact(&(0..400_u32).map(f64::from).collect::<Vec<_>>());
        let cut = |i: u32| match i {
            0..300 => Observation::exact(f64::from(i)),
            _ => Observation::beyond(1_000.0),
        };
        let after = Sample::new((0..400_u32).map(cut).collect());
        assert_eq!(quantile_difference(&after, &before, Level::P95, C95), None);
    }

    #[test]
    fn small_samples_have_no_interval() {
        let few = Sample::exact(&(0..399_u32).map(f64::from).collect::<Vec<_>>());
        let found = quantile_difference(&few, &few, Level::P95, C95).expect("runs");
        assert_eq!((found.value, found.interval), (Bound::Value(0.0), None));
    }

    #[test]
    fn x4_coverage_of_the_difference_of_two_p95s() {
        let mut luck = Luck::new(41);
        let level = Level::P95;
        // Half as long on the same luck: the p95 is half of the other's.
        let truth = 0.5 * libm::log1p(-level.probability());
        let covered = share(2_000, || {
            let long: Vec<f64> = (0..400).map(|_| luck.exponential()).collect();
            let short: Vec<f64> = long.iter().map(|value| 0.5 * value).collect();
            let (long, short) = (Sample::exact(&long), Sample::exact(&short));
            let found = quantile_difference(&short, &long, level, C95).expect("runs");
            found.interval.expect("an interval").contains(truth)
        });
        assert!((0.92..=0.98).contains(&covered), "{covered}");
    }
}
