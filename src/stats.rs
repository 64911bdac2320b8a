//! The statistics of experiments: estimates with intervals, paired differences, caveats (X4, X5),
//! sequential precision (X6) and the selection of the best (X7).
//!
//! Pure functions over samples in replication order. They add in the order given, with
//! compensation, and take every transcendental function from `libm`, so that the same samples give
//! the same bits on every machine (X3).
//!
//! ```
//! use fleetsim::stats::{Confidence, Level, Observation, Sample, mean, quantile};
//!
//! let hours = [30.0, 42.0, 35.5, 60.0].map(Observation::exact);
//! let sample = Sample::new(hours.to_vec());
//! let makespan = mean(&sample, Confidence::DEFAULT).expect("there are runs");
//! assert_eq!(makespan.value.value(), Some(41.875));
//! let p95 = quantile(&sample, Level::P95, Confidence::DEFAULT).expect("there are runs");
//! assert_eq!(p95.caveats[0].to_string(), "the p95 rests on 1 run; use -n 2000");
//! ```

pub mod special;

mod caveat;
mod estimate;
mod paired;
mod sample;
mod sectioning;
mod selection;
mod sequential;
mod summary;
#[cfg(test)]
mod testing;

pub use caveat::Caveat;
pub use estimate::{Bound, Confidence, Estimate, Interval};
pub use estimate::{Ranks, coverage_of_ranks, mean, proportion, quantile, ranks};
pub use paired::{Better, PairedDifference};
pub use sample::{Level, LevelError, Observation, Sample};
pub use sectioning::quantile_difference;
pub use selection::{Decision, Selection, SelectionError};
pub use sequential::{Exemption, FIRST_LOOK, Look, Precision, looks, precision, spent};
pub use summary::{Statistic, StatisticError, Summary};
