//! A sensitivity analysis in numbers: its table, its files, its chart, and whose order changes.

use std::path::Path;

use serde_json::json;

use super::chart::{self, Measure, TornadoBar, TornadoChart, TornadoPanel};
use super::human;
use super::results::folder::{self, MANIFEST, picture};
use super::results::tables::{Table, number};
use super::results::{ResultFile, file};
use crate::error::Diagnostic;
use crate::experiment::{Answer, Change, FACTORS, Input, Overtaking, RANKED, Unit};
use crate::stats::{Bound, Statistic};

/// All trials of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The scenario's name.
    pub scenario: String,
    /// Its digest.
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// Replications of each strategy in each trial.
    pub replications: usize,
    /// The strategies, in scenario order.
    pub strategies: Vec<String>,
    /// One a trial; [`Sensitivity::sort`] puts what matters most first.
    pub rows: Vec<Row>,
}

/// One trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was changed.
    pub input: Input,
    /// What it was multiplied by.
    pub factor: f64,
    /// What that did, two statistics a strategy.
    pub changes: Vec<Change>,
    /// Which strategies change order.
    pub overtakings: Vec<Overtaking>,
    /// By which metrics another strategy is best.
    pub answers: Vec<Answer>,
}

impl Row {
    fn change(&self, strategy: usize, mean: bool) -> Option<&Change> {
        let of = |change: &&Change| {
            change.strategy == strategy && (change.statistic == Statistic::Mean) == mean
        };
        self.changes.iter().find(of)
    }

    /// The largest change of a mean.
    fn size(&self) -> f64 {
        let means = self.changes.iter().filter(|change| change.statistic == Statistic::Mean);
        means.filter_map(|change| change.change).fold(0.0, |size, change| size.max(change.abs()))
    }
}

impl Sensitivity {
    /// Sorts inputs by the largest change of any strategy's mean makespan.
    pub fn sort(&mut self) {
        let size = |input: Input| {
            let rows = self.rows.iter().filter(|row| row.input == input);
            rows.map(Row::size).fold(0.0, f64::max)
        };
        let sizes: Vec<(Input, f64)> = Input::ALL.map(|input| (input, size(input))).to_vec();
        let of =
            |input: Input| sizes.iter().find(|(other, _)| *other == input).map_or(0.0, |s| s.1);
        self.rows.sort_by(|a, b| of(b.input).total_cmp(&of(a.input)));
    }

    /// The inputs, in the order of the rows.
    pub fn inputs(&self) -> Vec<Input> {
        let mut inputs: Vec<Input> = self.rows.iter().map(|row| row.input).collect();
        inputs.dedup();
        inputs
    }

    /// The inputs that change no strategy's makespan at all, and the others, in the order of the
    /// rows.
    fn split(&self) -> (Vec<Input>, Vec<Input>) {
        let is_idle = |input: &Input| {
            let rows = self.rows.iter().filter(|row| row.input == *input);
            rows.flat_map(|row| &row.changes).all(|change| change.change == Some(0.0))
        };
        self.inputs().into_iter().partition(is_idle)
    }

    /// All files, the manifest last.
    ///
    /// # Errors
    /// If the chart cannot be drawn as PNG.
    pub fn files(&self) -> Result<Vec<ResultFile>, Diagnostic> {
        let mut files = vec![file("sensitivity.csv", sensitivity_csv(self))];
        files.extend(picture("sensitivity", chart::tornado_svg(&tornado(self)))?);
        let manifest = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "scenario": self.scenario,
            "digest": self.digest,
            "seed": self.seed,
            "replications": self.replications,
            "strategies": self.strategies,
            "factors": FACTORS,
            "inputs": self.inputs().into_iter().map(Input::key).collect::<Vec<_>>(),
        });
        let manifest = serde_json::to_string_pretty(&manifest).expect("values are JSON");
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
}

fn times(factor: f64) -> &'static str {
    if factor < 1.0 { "× 1/3" } else { "× 3" }
}

/// `sensitivity.csv`: input, factor, strategy, metric, statistic, base, value, change, low, high.
pub fn sensitivity_csv(sensitivity: &Sensitivity) -> String {
    let mut table = Table::new(&[
        "input",
        "factor",
        "strategy",
        "metric",
        "statistic",
        "base",
        "value",
        "change",
        "low",
        "high",
    ]);
    let seconds = |value: f64| number(value, Unit::Seconds).to_string();
    for row in &sensitivity.rows {
        for change in &row.changes {
            let value = |of: Option<f64>| of.map_or(">horizon".to_owned(), seconds);
            let bound = |of: Option<Bound>| of.and_then(Bound::value).map(seconds);
            let (low, high) = (change.interval.map(|i| i.low), change.interval.map(|i| i.high));
            table.row([
                row.input.key().to_owned(),
                if row.factor < 1.0 { "1/3".to_owned() } else { "3".to_owned() },
                sensitivity.strategies[change.strategy].clone(),
                "makespan".to_owned(),
                change.statistic.to_string(),
                value(change.values[0]),
                value(change.values[1]),
                change.change.map(seconds).unwrap_or_default(),
                bound(low).unwrap_or_default(),
                bound(high).unwrap_or_default(),
            ]);
        }
    }
    table.finish()
}

/// The same as one JSON document, with the changes of order.
pub fn sensitivity_json(sensitivity: &Sensitivity) -> String {
    let name = |index: usize| &sensitivity.strategies[index];
    let bound = |of: Option<Bound>| of.and_then(Bound::value);
    let rows: Vec<_> = sensitivity
        .rows
        .iter()
        .map(|row| {
            let changes: Vec<_> = row
                .changes
                .iter()
                .map(|change| {
                    json!({
                        "strategy": name(change.strategy),
                        "metric": "makespan",
                        "statistic": change.statistic.to_string(),
                        "base": change.values[0],
                        "value": change.values[1],
                        "change": change.change,
                        "low": bound(change.interval.map(|interval| interval.low)),
                        "high": bound(change.interval.map(|interval| interval.high)),
                        "restricted": change.restricted,
                    })
                })
                .collect();
            let overtakings: Vec<_> = row
                .overtakings
                .iter()
                .map(|of| {
                    let (faster, slower) = (name(of.faster), name(of.slower));
                    json!({"faster": faster, "slower": slower, "clear": of.clear})
                })
                .collect();
            let answers: Vec<_> = row
                .answers
                .iter()
                .map(|of| {
                    let (was, is) = (name(of.was), name(of.is));
                    let metric = of.metric.to_string();
                    json!({"metric": metric, "was": was, "is": is, "clear": of.clear})
                })
                .collect();
            json!({
                "input": row.input.key(),
                "factor": row.factor,
                "changes": changes,
                "overtakings": overtakings,
                "answers": answers,
            })
        })
        .collect();
    let whole = json!({
        "scenario": sensitivity.scenario,
        "seed": sensitivity.seed,
        "replications": sensitivity.replications,
        "trials": rows,
    });
    serde_json::to_string_pretty(&whole).expect("values are JSON") + "\n"
}

/// Headings and rows of the table: a row for each trial and strategy, but for inputs that change
/// nothing.
pub fn table(sensitivity: &Sensitivity) -> (Vec<String>, Vec<Vec<String>>) {
    let headings = ["input", "", "strategy", "change of mean\nmakespan", "change of\np95"];
    let mut rows = Vec::new();
    let (_, busy) = sensitivity.split();
    for row in sensitivity.rows.iter().filter(|row| busy.contains(&row.input)) {
        for (index, name) in sensitivity.strategies.iter().enumerate() {
            rows.push(vec![
                row.input.key().to_owned(),
                times(row.factor).to_owned(),
                name.clone(),
                shown(row.change(index, true)),
                shown(row.change(index, false)),
            ]);
        }
    }
    (headings.map(ToOwned::to_owned).to_vec(), rows)
}

/// `+3h 20m ± 12m`; a star where cut-off runs count as the horizon.
fn shown(change: Option<&Change>) -> String {
    let Some(change) = change else { return String::new() };
    let Some(value) = change.change else { return "> horizon".to_owned() };
    let sign = if value > 0.0 { "+" } else { "" };
    let star = if change.restricted { "*" } else { "" };
    let half = change.interval.and_then(|interval| interval.half_width(value));
    let half = half.map(|half| format!(" ± {}", human::rough(half))).unwrap_or_default();
    format!("{sign}{}{star}{half}", human::seconds(value))
}

/// What the table is of, above it.
pub fn title(sensitivity: &Sensitivity) -> String {
    format!(
        "{}: one assumption at a time, a third and three times of what it is; {} replications, all \
         on the same luck (seed {})",
        sensitivity.scenario,
        human::thousands(sensitivity.replications as u64),
        sensitivity.seed
    )
}

/// What follows the table: what changes nothing, whose order changes, and what the numbers are.
pub fn conclusions(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = orders(sensitivity);
    let (idle, _) = sensitivity.split();
    if !idle.is_empty() {
        let names: Vec<&str> = idle.into_iter().map(Input::key).collect();
        lines.insert(0, format!("no makespan changes at all with: {}", names.join(", ")));
    }
    let restricted = sensitivity.rows.iter().flat_map(|row| &row.changes).any(|c| c.restricted);
    if restricted {
        lines.push("*: runs that the horizon cut off count as the horizon".to_owned());
    }
    lines.push(
        "one at a time (Saltelli and others 2008): what two assumptions do together does not show; \
         shares are at most 1; ±: 95 % intervals, paired for means, by sectioning for p95 (from \
         400 replications on)"
            .to_owned(),
    );
    lines
}

/// Whose order changes, a line each.
fn orders(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &sensitivity.rows {
        for overtaking in &row.overtakings {
            let doubt = if overtaking.clear {
                ""
            } else {
                " (in doubt: an interval of their difference includes zero)"
            };
            lines.push(format!(
                "order: with {} {}, `{}` is faster than `{}` on average{doubt}",
                row.input.key(),
                times(row.factor),
                sensitivity.strategies[overtaking.faster],
                sensitivity.strategies[overtaking.slower]
            ));
        }
    }
    if lines.is_empty() && sensitivity.strategies.len() > 1 {
        lines.push("order: no assumption changes the order of the mean makespans".to_owned());
    }
    lines.extend(changed_answers(sensitivity));
    lines
}

/// Which strategy is best, and with which assumption it is another one.
fn changed_answers(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &sensitivity.rows {
        for answer in &row.answers {
            let doubt = if answer.clear {
                ""
            } else {
                " (in doubt: an interval of their difference includes zero)"
            };
            lines.push(format!(
                "best: with {} {}, `{}` instead of `{}` has the least {}{doubt}",
                row.input.key(),
                times(row.factor),
                sensitivity.strategies[answer.is],
                sensitivity.strategies[answer.was],
                answer.metric,
            ));
        }
    }
    if lines.is_empty() && sensitivity.strategies.len() > 1 {
        let metrics = RANKED.map(|metric| metric.to_string());
        lines.push(format!(
            "best: no assumption changes which strategy has the least {}",
            metrics.join(", ")
        ));
    }
    lines
}

fn tornado(sensitivity: &Sensitivity) -> TornadoChart {
    // Where nothing changes anything, that is what the chart shows.
    let (idle, busy) = sensitivity.split();
    let inputs = if busy.is_empty() { idle } else { busy };
    let panel = |(index, name): (usize, &String)| {
        let bar = |input: &Input| {
            let change = |factor: f64| {
                let row = sensitivity
                    .rows
                    .iter()
                    .find(|row| row.input == *input && (row.factor < 1.0) == (factor < 1.0));
                match row {
                    Some(row) => row.change(index, true).and_then(|change| change.change),
                    None => Some(0.0),
                }
            };
            let key = input.key();
            let name = key.strip_prefix("world.").unwrap_or(key);
            TornadoBar { name: name.to_owned(), changes: FACTORS.map(change) }
        };
        let base = sensitivity.rows.first().and_then(|row| row.change(index, true));
        let base = base.and_then(|change| change.values[0]).map(human::seconds);
        let base = base.map(|mean| format!(": mean makespan {mean}")).unwrap_or_default();
        TornadoPanel { name: format!("{name}{base}"), bars: inputs.iter().map(bar).collect() }
    };
    let restricted = sensitivity.rows.iter().flat_map(|row| &row.changes).any(|c| c.restricted);
    TornadoChart {
        title: "What moves the makespan".to_owned(),
        subtitle: format!(
            "{} · {} replications, all on the same luck · one assumption at a time",
            sensitivity.scenario,
            human::thousands(sensitivity.replications as u64)
        ),
        measure: Measure::Duration,
        axis: "change of the mean makespan".to_owned(),
        ends: ["a third of what is assumed".to_owned(), "three times of it".to_owned()],
        panels: sensitivity.strategies.iter().enumerate().map(panel).collect(),
        note: if restricted {
            "Runs that the horizon cut off count as the horizon.".to_owned()
        } else {
            String::new()
        },
    }
}
