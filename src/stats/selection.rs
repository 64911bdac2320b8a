//! Which strategy is best, with a promised probability of being right (X7).
//!
//! The fully sequential procedure KN of Kim and Nelson (2001), "A fully sequential procedure for
//! indifference-zone selection in simulation", ACM TOMACS 11(3), with c = 1: it works on the
//! variances of paired differences, so common random numbers make it faster. Observations are means
//! of batches of replications, which are closer to normal than single replications.

use std::fmt;

use super::estimate::Confidence;
use super::sample::{Sample, moments, sum};
use super::special::real;

/// The rule of selection: smaller is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    indifference: f64,
    confidence: Confidence,
    /// Replications in a batch.
    batch: usize,
    /// Batches from which variances are estimated.
    first_stage: usize,
}

/// Why a rule of selection makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionError {
    /// The indifference zone is not a positive number.
    Indifference,
    /// A coin is as sure as that.
    Confidence,
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Indifference => "the indifference zone must be above zero, such as 12h",
            Self::Confidence => "the confidence of a selection must be above 0.5, such as 0.95",
        })
    }
}

impl std::error::Error for SelectionError {}

/// What can be said about the best system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This one. If it is better than every other by the indifference zone or more, it is chosen
    /// with at least the promised probability.
    Best {
        /// Its index.
        system: usize,
        /// With how many replications it was decided.
        replications: usize,
    },
    /// Can't tell yet: several are left.
    CannotTellYet {
        /// Their indices, ascending.
        surviving: Vec<usize>,
        /// With how many replications it will be decided at the latest.
        suffices: usize,
    },
    /// Can't tell yet: the variances are not estimated.
    TooFew {
        /// How many replications that takes.
        needed: usize,
    },
    /// Can't tell: over 1 % of a system's observations lie beyond the horizon.
    Censored {
        /// The first such system.
        system: usize,
        /// How many of its observations.
        censored: usize,
        /// Of how many.
        n: usize,
    },
}

impl Selection {
    /// A rule for differences that matter from `indifference` on, in the metric's unit, with the
    /// given probability of being right; 20 batches of 10 replications estimate the variances.
    pub fn new(indifference: f64, confidence: Confidence) -> Result<Self, SelectionError> {
        if !(indifference > 0.0 && indifference.is_finite()) {
            return Err(SelectionError::Indifference);
        }
        if confidence.miss() >= 0.5 {
            return Err(SelectionError::Confidence);
        }
        Ok(Self { indifference, confidence, batch: 10, first_stage: 20 })
    }

    /// The same rule with batches of `batch` replications, of which `first_stage` estimate the
    /// variances.
    ///
    /// # Panics
    /// If a batch is empty, or there are fewer than two.
    #[must_use]
    pub fn with_batches(self, batch: usize, first_stage: usize) -> Self {
        assert!(batch >= 1 && first_stage >= 2, "a variance takes two batches of a replication");
        Self { batch, first_stage, ..self }
    }

    /// Selects among systems of which each sample holds the same replications. More replications
    /// never change a decision for a best one, unless their censored share passes 1 %.
    ///
    /// # Panics
    /// Without systems, or if samples differ in length.
    pub fn decide(&self, systems: &[&Sample]) -> Decision {
        let n = systems.first().expect("there is something to select from").len();
        assert!(systems.iter().all(|s| s.len() == n), "systems need the same replications");
        if let Some(system) = systems.iter().position(|s| s.censored() * 100 > n) {
            return Decision::Censored { system, censored: systems[system].censored(), n };
        }
        if systems.len() == 1 {
            return Decision::Best { system: 0, replications: 0 };
        }
        let needed = self.first_stage * self.batch;
        if n < needed {
            return Decision::TooFew { needed };
        }
        let batches: Vec<Vec<f64>> = systems.iter().map(|s| self.batch_means(s)).collect();
        self.screen(&batches)
    }

    /// The means of the full batches.
    fn batch_means(&self, system: &Sample) -> Vec<f64> {
        let batches = system.observations().chunks_exact(self.batch);
        batches.map(|b| sum(b.iter().map(|o| o.value)) / real(self.batch)).collect()
    }

    /// Adds one batch at a time and drops what is clearly worse than another that is left.
    fn screen(&self, batches: &[Vec<f64>]) -> Decision {
        let reach = self.reach(batches);
        let mut left: Vec<usize> = (0..batches.len()).collect();
        let mut totals = vec![0.0; batches.len()];
        for r in 1..=batches[0].len() {
            for (total, means) in totals.iter_mut().zip(batches) {
                *total += means[r - 1];
            }
            if r < self.first_stage {
                continue;
            }
            let worse = |i: usize, l: usize| {
                let allowance = 0.5 * self.indifference * (reach[i][l] - real(r)).max(0.0);
                totals[i] - totals[l] > allowance
            };
            let before = left.clone();
            left.retain(|&i| !before.iter().any(|&l| worse(i, l)));
            // Once no allowance is left, only exact ties are.
            if left.len() == 1 || furthest(&reach, &left) < real(r) {
                return Decision::Best { system: left[0], replications: r * self.batch };
            }
        }
        let suffices = first_count_above(furthest(&reach, &left)) * self.batch;
        Decision::CannotTellYet { surviving: left, suffices }
    }

    /// For each pair the number of batches, h² S² / δ², after which the sign of the difference
    /// decides, S² the variance of the difference in the first stage.
    fn reach(&self, batches: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let degrees = real(self.first_stage - 1);
        let base = 2.0 * self.confidence.miss() / real(batches.len() - 1);
        let eta = 0.5 * libm::expm1(-2.0 / degrees * libm::log(base));
        let scale = 2.0 * eta * degrees / (self.indifference * self.indifference);
        let pair = |a: &[f64], b: &[f64]| {
            let differences = a.iter().zip(b).map(|(x, y)| x - y);
            scale * moments(differences.take(self.first_stage)).1
        };
        batches.iter().map(|a| batches.iter().map(|b| pair(a, b)).collect()).collect()
    }
}

/// The longest reach among the systems left.
fn furthest(reach: &[Vec<f64>], left: &[usize]) -> f64 {
    let pairs = left.iter().flat_map(|&i| left.iter().map(move |&l| reach[i][l]));
    pairs.fold(0.0, f64::max)
}

/// The smallest count above `bound`, at most some 2^32.
fn first_count_above(bound: f64) -> usize {
    let (mut low, mut high) = (0_usize, usize::from(u16::MAX) << 16);
    while low < high {
        let middle = usize::midpoint(low, high);
        if real(middle) > bound {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::Observation;
    use super::super::testing::{Luck, share};
    use super::*;

    fn rule(indifference: f64, confidence: f64) -> Selection {
        let confidence = Confidence::new(confidence).expect("a probability");
        Selection::new(indifference, confidence).expect("a sensible rule")
    }

    /// `n` replications of systems with the given means and standard deviation 1, correlated by
    /// common random numbers; `noise` draws with mean 0 and variance 1.
    fn systems(
        means: &[f64],
        n: usize,
        correlation: f64,
        mut noise: impl FnMut() -> f64,
    ) -> Vec<Sample> {
        let (common, own) = (libm::sqrt(correlation), libm::sqrt(1.0 - correlation));
        let mut columns = vec![Vec::with_capacity(n); means.len()];
        for _ in 0..n {
            let shared = common * noise();
            for (column, mean) in columns.iter_mut().zip(means) {
                column.push(mean + shared + own * noise());
            }
        }
        columns.iter().map(|c| Sample::exact(c)).collect()
    }

    fn decide(rule: Selection, systems: &[Sample]) -> Decision {
        rule.decide(&systems.iter().collect::<Vec<_>>())
    }

    /// The share of trials in which system 2 of 5, better than each other by exactly the
    /// indifference zone, is selected.
    fn correct(seed: u64, rule: Selection, n: usize, delta: f64, normal: bool) -> f64 {
        let mut luck = Luck::new(seed);
        let means = [delta, delta, 0.0, delta, delta];
        share(2_000, || {
            let noise = || if normal { luck.normal() } else { luck.exponential() - 1.0 };
            let systems = systems(&means, n, 0.5, noise);
            match decide(rule, &systems) {
                Decision::Best { system, .. } => system == 2,
                other => panic!("{n} replications did not suffice: {other:?}"),
            }
        })
    }

    #[test]
    fn x7_the_best_of_five_on_common_random_numbers_as_often_as_promised() {
        let single = rule(0.5, 0.95).with_batches(1, 20);
        let right = correct(11, single, 150, 0.5, true);
        assert!(right >= 0.95, "normal replications: {right}");
        let right = correct(12, rule(0.2, 0.90), 700, 0.2, false);
        assert!(right >= 0.90, "batch means of skewed replications: {right}");
    }

    #[test]
    fn x7_common_random_numbers_decide_sooner() {
        let replications = |correlation| {
            let mut luck = Luck::new(13);
            let systems = systems(&[0.0, 0.2], 5_000, correlation, || luck.normal());
            match decide(rule(0.1, 0.95), &systems) {
                Decision::Best { system: 0, replications } => replications,
                other => panic!("{other:?}"),
            }
        };
        assert!(replications(0.95) < replications(0.0));
    }

    #[test]
    fn x7_it_says_when_it_cannot_tell_yet_and_what_suffices() {
        let mut luck = Luck::new(14);
        let all = systems(&[0.0, 0.02, 3.0], 20_000, 0.5, || luck.normal());
        let first = |n: usize| -> Vec<Sample> {
            all.iter().map(|s| Sample::new(s.observations()[..n].to_vec())).collect()
        };
        let rule = rule(0.05, 0.95);
        assert_eq!(decide(rule, &first(199)), Decision::TooFew { needed: 200 });
        let Decision::CannotTellYet { surviving, suffices } = decide(rule, &first(200)) else {
            panic!("0.02 apart is too close for 200 replications");
        };
        assert_eq!(surviving, [0, 1]);
        assert!(suffices > 200);
        let decided = decide(rule, &first(suffices));
        let Decision::Best { replications, .. } = decided else { panic!("{decided:?}") };
        assert!(replications <= suffices);
        assert_eq!(decide(rule, &all), decided, "more replications change nothing");
        let short = decide(rule, &first(replications - 1));
        assert!(matches!(short, Decision::CannotTellYet { .. }), "{short:?}");
    }

    #[test]
    fn x7_equal_systems_and_constant_differences_are_decided() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 17)).collect();
        let (same, worse) = (Sample::exact(&values), values.iter().map(|v| v + 0.25));
        let worse = Sample::exact(&worse.collect::<Vec<_>>());
        let best = |system| Decision::Best { system, replications: 200 };
        assert_eq!(rule(1.0, 0.95).decide(&[&same, &same]), best(0));
        assert_eq!(rule(1.0, 0.95).decide(&[&worse, &same]), best(1));
        let alone = rule(1.0, 0.95).decide(&[&same]);
        assert_eq!(alone, Decision::Best { system: 0, replications: 0 });
    }

    #[test]
    fn x7_with_over_one_percent_censored_it_cannot_tell() {
        let sample = |censored: usize| {
            let mut observations = vec![Observation::exact(5.0); 300 - censored];
            observations.extend(vec![Observation::beyond(60.0); censored]);
            Sample::new(observations)
        };
        let rule = rule(1.0, 0.95);
        assert!(matches!(rule.decide(&[&sample(0), &sample(3)]), Decision::Best { .. }));
        assert_eq!(
            rule.decide(&[&sample(0), &sample(4)]),
            Decision::Censored { system: 1, censored: 4, n: 300 }
        );
    }

    #[test]
    fn x7_rules_without_sense_are_refused() {
        let half = Confidence::new(0.5).expect("a probability");
        assert_eq!(Selection::new(1.0, half), Err(SelectionError::Confidence));
        for zone in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let found = Selection::new(zone, Confidence::DEFAULT);
            assert_eq!(found, Err(SelectionError::Indifference));
        }
    }
}
