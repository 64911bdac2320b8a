//! A sensitivity analysis in numbers: its table, its files, its chart, and whose order changes.

use std::path::Path;

use serde_json::json;

use super::chart::{self, TornadoBar, TornadoChart, TornadoPanel};
use super::human;
use super::results::folder::{self, MANIFEST, picture};
use super::results::tables::{Table, number};
use super::results::{ResultFile, file};
use super::sweep::{label_of, measure};
use crate::error::Diagnostic;
use crate::experiment::{Answer, Change, FACTORS, Input, Metric, Overtaking, Question};
use crate::stats::{Bound, Statistic};

/// So many inputs stand in the table and the chart; the others move less, and are in the files.
const SHOWN: usize = 15;

/// All trials of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The scenario's name.
    pub scenario: String,
    /// Its digest.
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// What was asked of every trial.
    pub question: Question,
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
    /// Sorts inputs by the largest change of any strategy's mean.
    pub fn sort(&mut self) {
        let size = |input: Input| {
            let rows = self.rows.iter().filter(|row| row.input == input);
            rows.map(Row::size).fold(0.0, f64::max)
        };
        let sizes: Vec<(Input, f64)> =
            self.inputs().into_iter().map(|input| (input, size(input))).collect();
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

    /// The inputs that are shown, those that move less than they do, and those that move nothing
    /// at all, each in the order of the rows.
    fn split(&self) -> [Vec<Input>; 3] {
        let is_idle = |input: &Input| {
            let mut rows = self.rows.iter().filter(|row| row.input == *input);
            rows.all(|row| row.changes.iter().all(|change| change.values[0] == change.values[1]))
        };
        let (idle, mut busy): (Vec<Input>, Vec<Input>) =
            self.inputs().into_iter().partition(is_idle);
        let less = busy.split_off(SHOWN.min(busy.len()));
        [busy, less, idle]
    }

    fn metric(&self) -> Metric {
        self.question.metric
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
            "metric": self.metric().to_string(),
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
    let unit = sensitivity.metric().unit();
    let written = |value: f64| number(value, unit).to_string();
    for row in &sensitivity.rows {
        for change in &row.changes {
            let value = |of: Option<f64>| of.map_or(">horizon".to_owned(), written);
            let bound = |of: Option<Bound>| of.and_then(Bound::value).map(written);
            let (low, high) = (change.interval.map(|i| i.low), change.interval.map(|i| i.high));
            table.row([
                row.input.key().to_owned(),
                if row.factor < 1.0 { "1/3".to_owned() } else { "3".to_owned() },
                sensitivity.strategies[change.strategy].clone(),
                sensitivity.metric().to_string(),
                change.statistic.to_string(),
                value(change.values[0]),
                value(change.values[1]),
                change.change.map(written).unwrap_or_default(),
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
                        "metric": sensitivity.metric().to_string(),
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
                .map(|of| json!({"less": name(of.less), "more": name(of.more), "clear": of.clear}))
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

/// Headings and rows of the table: a row for each trial and strategy, of the inputs that move the
/// metric most.
pub fn table(sensitivity: &Sensitivity) -> (Vec<String>, Vec<Vec<String>>) {
    let metric = sensitivity.metric();
    let mean = format!("change of mean\n{metric}");
    let headings = ["input", "", "strategy", &mean, "change of\np95"];
    let mut rows = Vec::new();
    let [most, ..] = sensitivity.split();
    for row in sensitivity.rows.iter().filter(|row| most.contains(&row.input)) {
        for (index, name) in sensitivity.strategies.iter().enumerate() {
            rows.push(vec![
                row.input.key().to_owned(),
                times(row.factor).to_owned(),
                name.clone(),
                shown(metric, row.change(index, true)),
                shown(metric, row.change(index, false)),
            ]);
        }
    }
    (headings.map(ToOwned::to_owned).to_vec(), rows)
}

/// `+3h 20m ± 12m`; a star where cut-off runs count as the horizon.
fn shown(metric: Metric, change: Option<&Change>) -> String {
    let Some(change) = change else { return String::new() };
    let Some(value) = change.change else { return "> horizon".to_owned() };
    let sign = if value > 0.0 { "+" } else { "" };
    let star = if change.restricted { "*" } else { "" };
    let half = change.interval.and_then(|interval| interval.half_width(value));
    let half = half.map(|half| format!(" ± {}", human::rough_amount(half, metric.unit())));
    let value = human::amount(value, metric.unit());
    format!("{sign}{value}{star}{}", half.unwrap_or_default())
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

/// What follows the table: what moves less and what nothing, whose order changes, and what the
/// numbers are.
pub fn conclusions(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    let [_, less, idle] = sensitivity.split();
    let names = |of: Vec<Input>| of.into_iter().map(Input::key).collect::<Vec<_>>().join(", ");
    let metric = sensitivity.metric();
    if !less.is_empty() {
        lines.push(format!("{metric} changes less than that with: {}", names(less)));
    }
    if !idle.is_empty() {
        lines.push(format!("no {metric} changes at all with: {}", names(idle)));
    }
    lines.extend(orders(sensitivity));
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

/// What is said of an order that is not beyond doubt.
fn doubt(clear: bool) -> &'static str {
    if clear { "" } else { " (in doubt: an interval of their difference includes zero)" }
}

/// Whose order changes, a line each.
fn orders(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    let metric = sensitivity.metric();
    for row in &sensitivity.rows {
        for overtaking in &row.overtakings {
            lines.push(format!(
                "order: with {} {}, `{}` has less {metric} than `{}` on average{}",
                row.input.key(),
                times(row.factor),
                sensitivity.strategies[overtaking.less],
                sensitivity.strategies[overtaking.more],
                doubt(overtaking.clear),
            ));
        }
    }
    if lines.is_empty() && sensitivity.strategies.len() > 1 {
        lines.push(format!("order: no assumption changes the order of the means of {metric}"));
    }
    lines.extend(changed_answers(sensitivity));
    lines
}

/// Which strategy is best, and with which assumption it is another one.
fn changed_answers(sensitivity: &Sensitivity) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &sensitivity.rows {
        for answer in &row.answers {
            lines.push(format!(
                "best: with {} {}, `{}` instead of `{}` has the least {}{}",
                row.input.key(),
                times(row.factor),
                sensitivity.strategies[answer.is],
                sensitivity.strategies[answer.was],
                answer.metric,
                doubt(answer.clear),
            ));
        }
    }
    if lines.is_empty() && sensitivity.strategies.len() > 1 {
        let metrics = sensitivity.question.ranked().into_iter().map(|metric| metric.to_string());
        lines.push(format!(
            "best: no assumption changes which strategy has the least {}",
            metrics.collect::<Vec<_>>().join(", ")
        ));
    }
    lines
}

fn tornado(sensitivity: &Sensitivity) -> TornadoChart {
    // Where nothing changes anything, that is what the chart shows.
    let [most, less, mut idle] = sensitivity.split();
    idle.truncate(SHOWN);
    let inputs = if most.is_empty() { idle } else { most };
    let metric = sensitivity.metric();
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
            TornadoBar { name: label(*input), changes: FACTORS.map(change) }
        };
        let base = sensitivity.rows.first().and_then(|row| row.change(index, true));
        let base = base.and_then(|change| change.values[0]);
        let base = base.map(|mean| format!(": mean {}", human::amount(mean, metric.unit())));
        let base = base.unwrap_or_default();
        TornadoPanel { name: format!("{name}{base}"), bars: inputs.iter().map(bar).collect() }
    };
    let mut notes = Vec::new();
    if !less.is_empty() {
        notes.push(format!("{} more assumptions move less.", less.len()));
    }
    if sensitivity.rows.iter().flat_map(|row| &row.changes).any(|change| change.restricted) {
        notes.push("Runs that the horizon cut off count as the horizon.".to_owned());
    }
    TornadoChart {
        title: format!("What moves the mean {}", label_of(metric)),
        subtitle: format!(
            "{} · {} replications, all on the same luck · one assumption at a time",
            sensitivity.scenario,
            human::thousands(sensitivity.replications as u64)
        ),
        measure: measure(metric),
        axis: format!("change of mean {}", label_of(metric)),
        ends: ["a third of what is assumed".to_owned(), "three times of it".to_owned()],
        panels: sensitivity.strategies.iter().enumerate().map(panel).collect(),
        note: notes.join(" "),
    }
}

/// What an input is called in the chart, where there is little room.
fn label(input: Input) -> String {
    let key = input.key().strip_prefix("world.").unwrap_or(input.key());
    let parts = [(".lognormal.sigma", " (sigma)"), (".mixture.weight", " (weights)")];
    let parts = parts.into_iter().chain([(".beta", " (a and b)")]);
    let mut of_part =
        parts.filter_map(|(part, said)| Some(key.strip_suffix(part)?.to_owned() + said));
    of_part.next().unwrap_or_else(|| key.to_owned())
}
