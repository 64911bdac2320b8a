//! A sweep in numbers: its table, its files, and a chart for each value that was varied.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::chart::{self, LineAxis, LineChart, LinePoint, LineSeries, Measure};
use super::front::{front_csv, front_svg};
use super::human;
use super::results::folder::{self, MANIFEST, picture};
use super::results::tables::{Table, cells};
use super::results::{ResultFile, file, summary_json};
use super::summary::{StrategySummary, Summary};
use crate::error::Diagnostic;
use crate::experiment::{Metric, Unit};
use crate::sim::End;
use crate::stats::{Bound, Estimate, Level, Statistic};
use crate::time::Span;

/// Points of a grid, each an experiment of its own on the same luck.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The scenario's name.
    pub scenario: String,
    /// The digest of the scenario as it stands in its file.
    pub digest: String,
    /// The seed.
    pub seed: u64,
    /// What was varied; columns of every table.
    pub paths: Vec<String>,
    /// The points, at least one, in the order of the grid.
    pub points: Vec<SweepPoint>,
    /// The two metrics of the efficient front.
    pub front: [Metric; 2],
}

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPoint {
    /// A value for each path.
    pub values: Vec<String>,
    /// What came of it.
    pub summary: Summary,
}

/// What a metric is called in charts.
pub(super) fn label_of(metric: Metric) -> String {
    match metric {
        Metric::FailedMembers => "failed members".to_owned(),
        metric => metric.to_string(),
    }
}

/// What a metric counts.
pub(super) fn measure(metric: Metric) -> Measure {
    match metric.unit() {
        Unit::Seconds => Measure::Duration,
        Unit::Hours | Unit::Count => Measure::Count,
        Unit::Share => Measure::Share,
    }
}

impl Sweep {
    /// Every point with each of its strategies.
    pub fn rows(&self) -> impl Iterator<Item = (&SweepPoint, &StrategySummary)> {
        self.points.iter().flat_map(|p| p.summary.strategies.iter().map(move |s| (p, s)))
    }

    /// Replications of each strategy at the first point.
    pub(super) fn replications(&self) -> usize {
        self.points.first().map_or(0, |point| point.summary.replications)
    }

    /// All files, the manifest last.
    ///
    /// # Errors
    /// If a chart cannot be drawn as PNG.
    pub fn files(&self) -> Result<Vec<ResultFile>, Diagnostic> {
        let mut files =
            vec![file("sweep.csv", sweep_csv(self)), file("front.csv", front_csv(self))];
        files.extend(picture("front", front_svg(self))?);
        for (index, svg) in (1..).zip(charts(self)) {
            files.extend(picture(&format!("sweep-{index}"), svg)?);
        }
        let manifest = serde_json::to_string_pretty(&self.manifest()).expect("values are JSON");
        files.push(file(MANIFEST, manifest + "\n"));
        Ok(files)
    }

    /// Writes all files into `dir`, which is made with its parents.
    ///
    /// # Errors
    /// If a file cannot be written or drawn.
    pub fn write(&self, dir: &Path) -> Result<(), Diagnostic> {
        folder::write(dir, &self.files()?)
    }

    fn manifest(&self) -> Value {
        let strategies = self.points.first().map(|point| &point.summary.strategies);
        let names: Vec<&str> = strategies.into_iter().flatten().map(|s| s.name.as_str()).collect();
        let varied = |(index, path): (usize, &String)| {
            let mut values: Vec<&str> = Vec::new();
            for point in &self.points {
                if !values.contains(&point.values[index].as_str()) {
                    values.push(&point.values[index]);
                }
            }
            json!({"path": path, "values": values})
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "scenario": self.scenario,
            "digest": self.digest,
            "seed": self.seed,
            "replications": self.replications(),
            "strategies": names,
            "varied": self.paths.iter().enumerate().map(varied).collect::<Vec<_>>(),
            "points": self.points.len(),
            "front": self.front.map(|metric| metric.to_string()),
        })
    }
}

/// The whole sweep as one JSON document: the values of each point and its summary.
pub fn sweep_json(sweep: &Sweep) -> String {
    let points = sweep.points.iter().map(|point| {
        let values: serde_json::Map<String, Value> = sweep
            .paths
            .iter()
            .zip(&point.values)
            .map(|(path, value)| (path.clone(), Value::from(value.as_str())))
            .collect();
        // Summaries keep their own order of keys.
        format!(
            "{{\"values\": {}, \"summary\": {}}}",
            Value::from(values),
            summary_json(&point.summary)
        )
    });
    let points: Vec<String> = points.collect();
    let name = Value::from(sweep.scenario.as_str());
    format!("{{\"scenario\": {name}, \"points\": [\n{}]}}\n", points.join(",\n"))
}

/// `sweep.csv`: a column for each varied path, then strategy, metric, statistic, value, low, high.
pub fn sweep_csv(sweep: &Sweep) -> String {
    let fixed = ["strategy", "metric", "statistic", "value", "low", "high"];
    let header: Vec<&str> = sweep.paths.iter().map(String::as_str).chain(fixed).collect();
    let mut table = Table::new(&header);
    for (point, strategy) in sweep.rows() {
        let mut row = |metric: Metric, statistic: String, estimate: &Estimate| {
            let fixed = [strategy.name.clone(), metric.to_string(), statistic];
            let numbers = cells(estimate, metric.unit());
            table.row(point.values.iter().cloned().chain(fixed).chain(numbers));
        };
        for of in &strategy.metrics {
            for (statistic, estimate) in of.numbers.iter() {
                row(of.metric, statistic.to_string(), estimate);
            }
        }
        for of in &strategy.outcomes {
            row(Metric::Outcome(of.end), "mean".to_owned(), &of.share);
        }
    }
    table.finish()
}

/// Headings and rows of the table: a row for each point and strategy.
pub fn table(sweep: &Sweep) -> (Vec<String>, Vec<Vec<String>>) {
    let mut headings: Vec<String> = short_names(&sweep.paths);
    let fixed =
        ["strategy", "makespan\np50", "\np95", "90 % done\np50", "failed\nmean", "completed"];
    headings.extend(fixed.map(ToOwned::to_owned));
    headings.push("front".to_owned());
    let efficient = sweep.efficient();
    let rows = sweep.rows().zip(efficient).map(|((point, strategy), efficient)| {
        let horizon = human::duration(point.summary.horizon);
        let time = |metric, level| {
            let estimate = strategy.estimate(metric, Statistic::Quantile(level));
            match estimate.map(|estimate| estimate.value) {
                Some(Bound::Value(seconds)) => human::seconds(seconds),
                Some(Bound::BeyondHorizon) => format!("> {horizon}"),
                _ => "?".to_owned(),
            }
        };
        let completed = strategy.estimate(Metric::Outcome(End::Completed), Statistic::Mean);
        let completed = completed.and_then(|share| share.value.value()).unwrap_or_default();
        let mut row = point.values.clone();
        row.push(strategy.name.clone());
        row.push(time(Metric::Makespan, Level::P50));
        row.push(time(Metric::Makespan, Level::P95));
        row.push(time(Metric::TimeTo(90), Level::P50));
        row.push(human::count(strategy.mean(Metric::FailedMembers)));
        row.push(human::percent(completed));
        row.push(if efficient { "*".to_owned() } else { String::new() });
        row
    });
    (headings, rows.collect())
}

/// The last key of each path, or the path where two end alike.
fn short_names(paths: &[String]) -> Vec<String> {
    let last = |path: &String| path.rsplit('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = paths.iter().map(last).collect();
    let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    names.iter().zip(paths).map(|(n, p)| if unique(n) { n.clone() } else { p.clone() }).collect()
}

/// What the table is of, above it.
pub fn title(sweep: &Sweep) -> String {
    let points = match sweep.points.len() {
        1 => "1 point".to_owned(),
        many => format!("{} points", human::thousands(many as u64)),
    };
    let n = human::thousands(sweep.replications() as u64);
    let mut text = format!(
        "{}: {points}, {n} replications a strategy, all on the same luck (seed {})\n",
        sweep.scenario, sweep.seed
    );
    for (name, path) in short_names(&sweep.paths).iter().zip(&sweep.paths) {
        if name != path {
            writeln!(text, "{name}: {path}").expect("strings take all");
        }
    }
    text
}

/// What the table's last column means, below it.
pub fn legend(sweep: &Sweep) -> String {
    let [first, second] = sweep.front;
    format!(
        "*: on the efficient front: no other row has a smaller mean {first} and a smaller mean \
         {second}; cut-off runs count as the horizon"
    )
}

/// A chart of the makespan over each varied value, the other ones at their first value.
/// How many of all the runs were completed, over all points together: the points as a sample, such
/// as all days of a year.
pub fn overall(sweep: &Sweep) -> Option<String> {
    let strategies = &sweep.points.first()?.summary.strategies;
    if sweep.points.len() < 2 {
        return None;
    }
    let share = |(index, strategy): (usize, &StrategySummary)| {
        let (mut completed, mut all) = (0, 0);
        for point in &sweep.points {
            for of in &point.summary.strategies[index].outcomes {
                all += of.replications;
                completed += if of.end == End::Completed { of.replications } else { 0 };
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "replications are fewer than 2^53")]
        let percent = completed as f64 / all as f64 * 100.0;
        format!("{} in {percent:.1} % ({completed} of {all} runs)", strategy.name)
    };
    let shares: Vec<String> = strategies.iter().enumerate().map(share).collect();
    Some(format!("Completed over all {} points: {}", sweep.points.len(), shares.join(", ")))
}

fn charts(sweep: &Sweep) -> Vec<String> {
    (0..sweep.paths.len()).map(|index| chart::lines_svg(&chart_of(sweep, index))).collect()
}

fn chart_of(sweep: &Sweep, varied: usize) -> LineChart {
    let first = &sweep.points[0].values;
    let at_first = |point: &&SweepPoint| {
        let mut others = (0..first.len()).filter(|other| *other != varied);
        others.all(|other| point.values[other] == first[other])
    };
    let points: Vec<&SweepPoint> = sweep.points.iter().filter(at_first).collect();
    let values: Vec<&str> = points.iter().map(|point| point.values[varied].as_str()).collect();
    let others: Vec<String> = (0..first.len())
        .filter(|other| *other != varied)
        .map(|other| format!("{} = {}", sweep.paths[other], first[other]))
        .collect();
    let fixed =
        if others.is_empty() { String::new() } else { format!(" · {}", others.join(", ")) };
    // Variations may change names of strategies; those of the first point are drawn.
    let names = sweep.points[0].summary.strategies.iter().map(|s| s.name.clone());
    let fewest = points.iter().map(|point| point.summary.strategies.len()).min().unwrap_or(0);
    let series: Vec<LineSeries> = names
        .take(fewest)
        .enumerate()
        .map(|(index, name)| LineSeries {
            name,
            points: points.iter().map(|point| median(point, index)).collect(),
        })
        .collect();
    let cut = series.iter().flat_map(|series| &series.points).any(|point| point.censored);
    let n = human::thousands(sweep.replications() as u64);
    LineChart {
        title: format!("Makespan by {}", sweep.paths[varied]),
        subtitle: format!(
            "{} · {n} replications a point, all on the same luck · median and middle 90 %{fixed}",
            sweep.scenario
        ),
        x: LineAxis {
            label: sweep.paths[varied].clone(),
            values: places(&sweep.paths[varied], &values),
        },
        y: "makespan".to_owned(),
        measure: Measure::Duration,
        series,
        note: if cut {
            "Hollow: the median lies beyond the horizon and is drawn there.".to_owned()
        } else {
            String::new()
        },
    }
}

/// The median makespan with the middle 90 % of replications; what lies beyond the horizon stands at
/// it.
fn median(point: &SweepPoint, strategy: usize) -> LinePoint {
    let horizon = point.summary.horizon.as_secs_f64();
    let strategy = &point.summary.strategies[strategy];
    let at = |level| {
        let estimate = strategy.estimate(Metric::Makespan, Statistic::Quantile(level));
        estimate.and_then(|estimate| estimate.value.value())
    };
    LinePoint {
        low: at(Level::P5).unwrap_or(horizon),
        value: at(Level::P50).unwrap_or(horizon),
        high: at(Level::P95).unwrap_or(horizon),
        censored: at(Level::P50).is_none(),
    }
}

/// Where values lie on an axis: by their size if all are numbers, percentages or durations, else
/// one after another. Keys that count seconds or minutes are written as durations.
fn places(path: &str, values: &[&str]) -> Vec<(f64, String)> {
    let bare = |text: &str| text.trim_matches('"').trim_end_matches('%').to_owned();
    let numbers: Option<Vec<f64>> = values
        .iter()
        .map(|text| bare(text).parse::<f64>().ok().filter(|n| n.is_finite()))
        .collect();
    let spans: Option<Vec<f64>> =
        values.iter().map(|text| text.parse::<Span>().ok().map(Span::as_secs_f64)).collect();
    let scale = match path {
        _ if path.ends_with("InSeconds") => Some(1.0),
        _ if path.ends_with("InMinutes") => Some(60.0),
        _ => None,
    };
    let named = |(at, text): (f64, &&str)| (at, text.trim_matches('"').to_owned());
    match (numbers, spans, scale) {
        (Some(numbers), _, Some(scale)) => {
            numbers.iter().map(|n| (n * scale, human::seconds(n * scale))).collect()
        }
        (Some(numbers), ..) => numbers.into_iter().zip(values).map(named).collect(),
        (None, Some(spans), _) => spans.into_iter().zip(values).map(named).collect(),
        (None, None, _) => (0_u32..).map(f64::from).zip(values).map(named).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_by_their_size_where_they_have_one() {
        let at = |path: &str, values: &[&str]| {
            places(path, values).into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(at("update.pollInterval", &["0", "30m", "2h"]), [0.0, 1_800.0, 7_200.0]);
        assert_eq!(at("world.failures.probability", &["0.01", "0.5"]), [0.01, 0.5]);
        assert_eq!(at("a.maxConcurrency", &["\"25%\"", "\"50%\""]), [25.0, 50.0]);
        assert_eq!(at("update.restart", &["keepFailed", "retryFailed"]), [0.0, 1.0]);
        let waits = places("s.afterStageWaitInSeconds", &["0", "86400"]);
        assert_eq!(waits, [(0.0, "0s".to_owned()), (86_400.0, "1d".to_owned())]);
    }

    #[test]
    fn headings_are_last_keys_unless_two_are_alike() {
        let paths = ["a.b.count", "a.c.count", "x.y"].map(ToOwned::to_owned);
        assert_eq!(short_names(&paths), ["a.b.count", "a.c.count", "y"]);
    }
}
