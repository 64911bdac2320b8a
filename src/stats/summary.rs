//! All that is said about one metric of one strategy.

use std::fmt;
use std::str::FromStr;

use super::caveat::Caveat;
use super::estimate::{Bound, Confidence, Estimate, mean, quantile};
use super::sample::{Level, LevelError, Observation, Sample};

/// What is asked of a metric, as `checks` and the summary spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// `mean`.
    Mean,
    /// `p50` and the like.
    Quantile(Level),
    /// `min`: the smallest observation.
    Min,
    /// `max`: the largest observation.
    Max,
}

impl Statistic {
    /// The statistic of a sample. `None` without observations.
    pub fn of(self, sample: &Sample, confidence: Confidence) -> Option<Estimate> {
        match self {
            Self::Mean => mean(sample, confidence),
            Self::Quantile(level) => quantile(sample, level, confidence),
            Self::Min => extreme(sample, 1),
            Self::Max => extreme(sample, sample.len()),
        }
    }
}

/// An extreme of the sample itself, which has no interval: it says little about other runs.
fn extreme(sample: &Sample, rank: usize) -> Option<Estimate> {
    if sample.is_empty() {
        return None;
    }
    let Observation { value, censored } = sample.at_rank(rank);
    let value = if censored { Bound::BeyondHorizon } else { Bound::Value(value) };
    Some(Estimate { value, interval: None, caveats: Vec::new() })
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Quantile(level) => level.fmt(f),
            Self::Min => f.write_str("min"),
            Self::Max => f.write_str("max"),
        }
    }
}

/// A text that names no statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatisticError;

impl fmt::Display for StatisticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a statistic is mean, min, max, or a quantile such as p50 or p99.9")
    }
}

impl std::error::Error for StatisticError {}

impl From<LevelError> for StatisticError {
    fn from(_: LevelError) -> Self {
        Self
    }
}

impl FromStr for Statistic {
    type Err = StatisticError;

    fn from_str(text: &str) -> Result<Self, StatisticError> {
        match text {
            "mean" => Ok(Self::Mean),
            "min" => Ok(Self::Min),
            "max" => Ok(Self::Max),
            _ => Ok(Self::Quantile(text.parse()?)),
        }
    }
}

/// One metric's sample in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many replications.
    pub n: usize,
    /// How many of them lie beyond the horizon.
    pub censored: usize,
    /// [`Statistic`] and estimate, in the order of [`Summary::STATISTICS`].
    estimates: Vec<(Statistic, Estimate)>,
}

impl Summary {
    /// What a summary holds, in the order in which it is printed.
    pub const STATISTICS: [Statistic; 6] = [
        Statistic::Mean,
        Statistic::Quantile(Level::P5),
        Statistic::Quantile(Level::P50),
        Statistic::Quantile(Level::P95),
        Statistic::Min,
        Statistic::Max,
    ];

    /// Summarises a sample. `None` without observations.
    pub fn of(sample: &Sample, confidence: Confidence) -> Option<Self> {
        let mut estimates = Vec::with_capacity(Self::STATISTICS.len());
        for statistic in Self::STATISTICS {
            estimates.push((statistic, statistic.of(sample, confidence)?));
        }
        Some(Self { n: sample.len(), censored: sample.censored(), estimates })
    }

    /// The summary of `n` runs that draw no random number: every statistic is the one observation,
    /// with a point interval.
    pub fn certain(observation: Observation, n: usize) -> Self {
        let Observation { value, censored } = observation;
        let cut_off = if censored { n } else { 0 };
        let estimate = |statistic| {
            let mut estimate = Estimate::certain(value);
            match statistic {
                _ if !censored => {}
                Statistic::Mean => {
                    estimate.caveats.push(Caveat::RestrictedMean { censored: n, n });
                }
                Statistic::Quantile(level) => {
                    estimate.beyond_horizon();
                    estimate.caveats.push(Caveat::BeyondHorizon { level, censored: n, n });
                }
                Statistic::Min | Statistic::Max => estimate.beyond_horizon(),
            }
            (statistic, estimate)
        };
        Self { n, censored: cut_off, estimates: Self::STATISTICS.map(estimate).into() }
    }

    /// Statistics and estimates, in the order in which they are printed.
    pub fn iter(&self) -> impl Iterator<Item = (Statistic, &Estimate)> {
        self.estimates.iter().map(|(statistic, estimate)| (*statistic, estimate))
    }

    /// The estimate of one of [`Summary::STATISTICS`].
    pub fn get(&self, statistic: Statistic) -> Option<&Estimate> {
        self.iter().find(|(s, _)| *s == statistic).map(|(_, estimate)| estimate)
    }

    /// What a reader must know, each once.
    pub fn caveats(&self) -> Vec<Caveat> {
        let mut caveats: Vec<Caveat> =
            self.iter().flat_map(|(_, estimate)| estimate.caveats.iter().copied()).collect();
        caveats.sort_unstable();
        caveats.dedup();
        caveats
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::Interval;
    use super::*;

    const C95: Confidence = Confidence::DEFAULT;

    #[test]
    fn statistics_are_written_as_they_are_read() {
        for text in ["mean", "min", "max", "p95", "p99.9"] {
            assert_eq!(text.parse::<Statistic>().expect(text).to_string(), text);
        }
        assert_eq!("median".parse::<Statistic>(), Err(StatisticError));
    }

    #[test]
    fn x4_a_summary_holds_every_statistic() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let summary = Summary::of(&Sample::exact(&values), C95).expect("runs");
        let value = |text: &str| {
            let statistic = text.parse().expect("a statistic");
            summary.get(statistic).expect("one of the six").value
        };
        assert_eq!(value("mean"), Bound::Value(500.5));
        assert_eq!(value("p5"), Bound::Value(50.0));
        assert_eq!(value("p50"), Bound::Value(500.0));
        assert_eq!(value("p95"), Bound::Value(950.0));
        assert_eq!(value("min"), Bound::Value(1.0));
        assert_eq!(value("max"), Bound::Value(1000.0));
        assert_eq!(summary.get(Statistic::Quantile(Level::P99)), None);
        assert!(summary.caveats().is_empty());
        assert_eq!(Summary::of(&Sample::exact(&[]), C95), None);
    }

    #[test]
    fn caveats_come_once() {
        let summary = Summary::of(&Sample::exact(&[3.0]), C95).expect("a run");
        let only = summary.caveats();
        assert_eq!(only.iter().filter(|c| **c == Caveat::OnlyOneReplication).count(), 1);
    }

    #[test]
    fn x5_extremes_know_the_horizon() {
        let sample = Sample::new(vec![Observation::beyond(9.0), Observation::exact(2.0)]);
        let summary = Summary::of(&sample, C95).expect("runs");
        assert_eq!((summary.n, summary.censored), (2, 1));
        let max = summary.get(Statistic::Max).expect("there");
        assert_eq!((max.value, max.interval), (Bound::BeyondHorizon, None));
    }

    #[test]
    fn a_run_without_luck_has_point_intervals() {
        let summary = Summary::certain(Observation::exact(5.0), 1);
        for (_, estimate) in summary.iter() {
            assert_eq!(estimate, &Estimate::certain(5.0));
        }
        let summary = Summary::certain(Observation::beyond(5.0), 3);
        let mean = summary.get(Statistic::Mean).expect("there");
        assert_eq!(mean.interval, Some(Interval::of(5.0, 5.0)));
        assert!(mean.is_restricted());
        let max = summary.get(Statistic::Max).expect("there");
        assert_eq!(max.value, Bound::BeyondHorizon);
        assert_eq!(summary.censored, 3);
    }
}
