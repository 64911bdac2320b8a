//! The CSV files.

use super::progress::Progress;
use crate::experiment::{ChangeMetric, Metric, Outcomes, Unit};
use crate::report::summary::Summary;
use crate::stats::{Bound, Estimate, Interval};

/// `summary.csv`: strategy, metric, statistic, value, low, high. Beside the statistics, times have
/// a row `censored`: the share of replications that the horizon cut off. Shares of outcomes are
/// means of 0 and 1.
pub fn summary_csv(summary: &Summary) -> String {
    let mut table = Table::new(&["strategy", "metric", "statistic", "value", "low", "high"]);
    for strategy in &summary.strategies {
        let mut row = |metric: Metric, statistic: String, estimate: &Estimate, unit| {
            let [value, low, high] = cells(estimate, unit);
            table.row([strategy.name.clone(), metric.to_string(), statistic, value, low, high]);
        };
        for of in &strategy.metrics {
            for (statistic, estimate) in of.numbers.iter() {
                row(of.metric, statistic.to_string(), estimate, of.metric.unit());
            }
            if can_be_censored(of.metric) {
                row(of.metric, "censored".to_owned(), &of.censored, Unit::Share);
            }
        }
        for of in &strategy.outcomes {
            row(Metric::Outcome(of.end), "mean".to_owned(), &of.share, Unit::Share);
        }
    }
    table.finish()
}

/// `runs.csv`: every metric of every replication.
pub fn runs_csv(summary: &Summary, outcomes: &Outcomes) -> String {
    let first = summary.strategies.first().expect("an experiment has a strategy");
    let metrics: Vec<Metric> = first.metrics.iter().map(|of| of.metric).collect();
    let names: Vec<String> = metrics.iter().map(ToString::to_string).collect();
    let fixed = ["strategy", "replication", "outcome", "censored"];
    let header: Vec<&str> = fixed.into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new(&header);
    for (strategy, outcomes) in summary.strategies.iter().zip(&outcomes.by_strategy) {
        for (replication, outcome) in outcomes.iter().enumerate() {
            let (mut values, mut censored) = (Vec::new(), Vec::new());
            for (metric, name) in metrics.iter().zip(&names) {
                if metric.is_of_update() && !summary.has_update {
                    values.push(String::new());
                    continue;
                }
                let observation = metric.of(outcome, summary.horizon);
                values.push(number(observation.value, metric.unit()).to_string());
                censored.extend(observation.censored.then_some(name.as_str()));
            }
            let word = if summary.has_update { outcome.end.word() } else { "" }.to_owned();
            let row = [strategy.name.clone(), replication.to_string(), word, censored.join(";")];
            table.row(row.into_iter().chain(values));
        }
    }
    table.finish()
}

/// `differences.csv`: every later strategy less the first one, paired by replication.
pub fn differences_csv(summary: &Summary) -> String {
    let mut table = Table::new(&[
        "strategy",
        "reference",
        "metric",
        "statistic",
        "value",
        "low",
        "high",
        "shareBetter",
        "varianceReduction",
    ]);
    for difference in &summary.differences {
        let [value, low, high] = cells(&difference.paired.mean, difference.metric.unit());
        let [better, _, _] = cells(&difference.paired.share_better, Unit::Share);
        let reduction = difference.paired.variance_reduction;
        table.row([
            summary.strategies[difference.strategy].name.clone(),
            summary.strategies[difference.reference].name.clone(),
            difference.metric.to_string(),
            "mean".to_owned(),
            value,
            low,
            high,
            better,
            reduction.map(|share| share.to_string()).unwrap_or_default(),
        ]);
    }
    table.finish()
}

/// `progress.csv`: the share of members that are done, over time.
pub fn progress_csv(summary: &Summary, progress: &Progress) -> String {
    let mut table = Table::new(&["strategy", "time", "p5", "p25", "p50", "p75", "p95"]);
    for (strategy, curve) in summary.strategies.iter().zip(&progress.by_strategy) {
        for (time, shares) in progress.times.iter().zip(curve) {
            let fixed = [strategy.name.clone(), time.as_secs_f64().to_string()];
            table.row(fixed.into_iter().chain(shares.iter().map(ToString::to_string)));
        }
    }
    table.finish()
}

/// Whether the horizon can cut a metric off.
pub(super) fn can_be_censored(metric: Metric) -> bool {
    let of_changes = matches!(metric, Metric::Change(ChangeMetric::TimeTo(_)));
    of_changes || matches!(metric, Metric::Makespan | Metric::TimeTo(_))
}

/// A value as files show it: durations to the millisecond.
pub(in crate::report) fn number(value: f64, unit: Unit) -> f64 {
    match unit {
        // Adding 0 turns −0 into 0.
        Unit::Seconds => (value * 1_000.0).round() / 1_000.0 + 0.0,
        Unit::Hours | Unit::Count | Unit::Share => value + 0.0,
    }
}

/// Value and both ends of the interval.
pub(in crate::report) fn cells(estimate: &Estimate, unit: Unit) -> [String; 3] {
    let cell = |bound: Bound| match bound {
        Bound::Value(value) => number(value, unit).to_string(),
        Bound::BeyondHorizon => ">horizon".to_owned(),
        Bound::Unbounded => String::new(),
    };
    let open = Interval { low: Bound::Unbounded, high: Bound::Unbounded };
    let interval = estimate.interval.unwrap_or(open);
    [estimate.value, interval.low, interval.high].map(cell)
}

/// A CSV file in the making.
pub(in crate::report) struct Table(csv::Writer<Vec<u8>>);

impl Table {
    pub(in crate::report) fn new(header: &[&str]) -> Self {
        let mut table = Self(csv::Writer::from_writer(Vec::new()));
        table.row(header.iter().map(ToString::to_string));
        table
    }

    pub(in crate::report) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.write_record(cells).expect("rows have the header's length and memory takes them");
    }

    pub(in crate::report) fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("all cells are text")
    }
}
