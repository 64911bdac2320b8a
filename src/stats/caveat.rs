//! What a reader must know before trusting a number, and what to do about it.

use std::fmt;

use super::sample::Level;

/// A warning about one of our own numbers; its text ends in a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caveat {
    /// There is one replication only, so nothing can be said about luck.
    OnlyOneReplication,
    /// The Student-t interval of a mean rests on fewer than 20 replications.
    SmallSample {
        /// How many there are.
        n: usize,
    },
    /// Fewer than 10 replications lie at the quantile or further out, or its interval is open.
    FewRuns {
        /// Which quantile.
        level: Level,
        /// How many replications lie there or further out.
        rests_on: usize,
    },
    /// All replications gave the same value.
    Constant {
        /// How many there are.
        n: usize,
    },
    /// The mean counts observations beyond the horizon as the horizon (X5).
    RestrictedMean {
        /// How many of them.
        censored: usize,
        /// Of how many.
        n: usize,
    },
    /// The quantile, or an end of its interval, lies beyond the horizon (X5).
    BeyondHorizon {
        /// Which quantile.
        level: Level,
        /// How many observations lie beyond the horizon.
        censored: usize,
        /// Of how many.
        n: usize,
    },
    /// The paired difference counts observations beyond the horizon as the horizon (X5).
    RestrictedDifference {
        /// In how many pairs at least one side lies beyond the horizon.
        censored: usize,
        /// Of how many.
        n: usize,
    },
    /// Both sides of some pairs lie beyond the horizon, so that neither is known to be better.
    BothBeyondHorizon {
        /// How many pairs.
        pairs: usize,
        /// Of how many.
        n: usize,
    },
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OnlyOneReplication => {
                f.write_str("one run says nothing about luck: no interval; use -n 1000")
            }
            Self::SmallSample { n } => write!(
                f,
                "the interval of the mean rests on {n} runs and trusts a normal shape; use -n 100"
            ),
            Self::FewRuns { level, rests_on } => {
                let runs = if rests_on == 1 { "run" } else { "runs" };
                write!(f, "the {level} rests on {rests_on} {runs}; use -n {}", level.enough())
            }
            Self::Constant { n } => write!(
                f,
                "all {n} runs gave the same value: what fewer than {:.2} % of runs do may not have \
                 shown; use a larger -n if that matters",
                unseen_percent(n)
            ),
            Self::RestrictedMean { censored, n } => write!(
                f,
                "restricted mean: {censored} of {n} runs are cut off and count as the horizon; \
                 look at `outcome`, or use a longer horizon"
            ),
            Self::BeyondHorizon { level, censored, n } => write!(
                f,
                "the {level} or its interval lies beyond the horizon: {censored} of {n} runs are \
                 cut off; look at `outcome`, or use a longer horizon"
            ),
            Self::RestrictedDifference { censored, n } => write!(
                f,
                "restricted difference: in {censored} of {n} pairs a run is cut off and counts as \
                 the horizon; look at `outcome`, or use a longer horizon"
            ),
            Self::BothBeyondHorizon { pairs, n } => write!(
                f,
                "in {pairs} of {n} pairs both runs are cut off and neither is better; \
                 look at `outcome`, or use a longer horizon"
            ),
        }
    }
}

/// What would have shown with probability 95 % among `n` runs if this percentage of runs did it.
fn unseen_percent(n: usize) -> f64 {
    100.0 * -libm::expm1(libm::log(0.05) / super::special::real(n.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caveats_say_what_to_do() {
        let few = Caveat::FewRuns { level: Level::P99, rests_on: 2 };
        assert_eq!(few.to_string(), "the p99 rests on 2 runs; use -n 10000");
        let level = "p99.9".parse().expect("a level");
        let one = Caveat::FewRuns { level, rests_on: 1 };
        assert_eq!(one.to_string(), "the p99.9 rests on 1 run; use -n 100000");
        let few = Caveat::FewRuns { level: Level::P5, rests_on: 3 };
        assert_eq!(few.to_string(), "the p5 rests on 3 runs; use -n 2000");
        assert!(Caveat::Constant { n: 100 }.to_string().contains("fewer than 2.95 % of runs"));
        let mean = Caveat::RestrictedMean { censored: 3, n: 10 }.to_string();
        assert!(mean.starts_with("restricted mean: 3 of 10 runs"), "{mean}");
    }
}
