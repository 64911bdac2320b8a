//! Files about configuration changes: a table of every campaign, and their charts.

use super::Results;
use super::pictures::{point, subtitle};
use super::progress::Progress;
use super::tables::{Table, can_be_censored, cells};
use crate::experiment::{ChangeMetric, Metric, Unit};
use crate::report::chart::{
    self, Measure, PanelChart, PanelColumn, PanelRow, ProgressChart, ProgressSeries,
};
use crate::report::human;
use crate::report::summary::{CampaignSummary, StrategySummary, Summary};
use crate::stats::{Estimate, Statistic};

/// The most columns of a chart; more candidates than that are in the table.
const MOST_COLUMNS: usize = 8;

/// `changes.csv`: strategy, campaign, metric, statistic, value, low, high; like `summary.csv`, of
/// each campaign alone.
pub fn changes_csv(summary: &Summary) -> String {
    let header = ["strategy", "campaign", "metric", "statistic", "value", "low", "high"];
    let mut table = Table::new(&header);
    for strategy in &summary.strategies {
        for campaign in &strategy.campaigns {
            let mut row = |metric: Metric, statistic: String, estimate: &Estimate, unit| {
                let [value, low, high] = cells(estimate, unit);
                let fixed = [strategy.name.clone(), campaign.name.clone(), metric.to_string()];
                table.row(fixed.into_iter().chain([statistic, value, low, high]));
            };
            for of in &campaign.metrics {
                for (statistic, estimate) in of.numbers.iter() {
                    row(of.metric, statistic.to_string(), estimate, of.metric.unit());
                }
                if can_be_censored(of.metric) {
                    row(of.metric, "censored".to_owned(), &of.censored, Unit::Share);
                }
            }
        }
    }
    table.finish()
}

/// Name and SVG of each chart about changes.
pub(super) fn pictures(results: &Results<'_>, progress: &Progress) -> Vec<(String, String)> {
    let summary = results.summary;
    let mut pictures = vec![
        ("changes-progress".to_owned(), chart::progress_svg(&progress_chart(results, progress))),
        ("changes".to_owned(), chart::panels_svg(&effects_chart(summary))),
    ];
    if summary.strategies.iter().any(|strategy| strategy.campaigns.len() > 1) {
        pictures.push(("changes-done".to_owned(), chart::panels_svg(&done_chart(summary))));
    }
    pictures
}

fn progress_chart(results: &Results<'_>, progress: &Progress) -> ProgressChart {
    let summary = results.summary;
    let mean = |strategy: &StrategySummary, metric| strategy.mean(Metric::Change(metric));
    let outcome = |strategy: &StrategySummary| match mean(strategy, ChangeMetric::NeverDone) {
        never if never > 0.0 => format!("{} never done", human::count(never)),
        _ => "all done".to_owned(),
    };
    let curves = summary.strategies.iter().zip(&progress.by_strategy);
    let series = curves.map(|(strategy, curve)| ProgressSeries {
        name: strategy.name.clone(),
        outcome: outcome(strategy),
        points: progress.times.iter().zip(curve).map(|(at, q)| point(*at, *q)).collect(),
    });
    ProgressChart {
        title: "Share of configuration changes that are done".to_owned(),
        subtitle: subtitle(summary, ""),
        axis: "changes done".to_owned(),
        start: results.experiment.common_start(),
        horizon: Some(summary.horizon),
        note: String::new(),
        until: None,
        top: None,
        series: series.collect(),
    }
}

/// What the changes came to, and what they cost.
fn effects_chart(summary: &Summary) -> PanelChart {
    let columns = [
        ("changes\nnever done", ChangeMetric::NeverDone),
        ("requests\nrefused", ChangeMetric::RefusedCalls),
        ("nodes\nreimaged", ChangeMetric::ReimagedNodes),
        ("hours of reimaging\nin windows", ChangeMetric::InWindow),
        ("hours of reimaging\noutside windows", ChangeMetric::OutsideWindow),
        ("hours of reimaging\nin working time", ChangeMetric::Business),
    ];
    let column = |(index, (heading, metric)): (usize, &(&str, ChangeMetric))| PanelColumn {
        heading: (*heading).to_owned(),
        measure: Measure::Count,
        // Hours are compared with hours.
        scale: if metric.unit() == Unit::Hours { columns.len() } else { index },
        series: None,
    };
    let row = |strategy: &StrategySummary| PanelRow {
        name: strategy.name.clone(),
        values: columns
            .iter()
            .map(|(_, metric)| Some(strategy.mean(Metric::Change(*metric))))
            .collect(),
    };
    PanelChart {
        title: "What the configuration changes came to".to_owned(),
        subtitle: subtitle(summary, means(summary)),
        columns: columns.iter().enumerate().map(column).collect(),
        rows: summary.strategies.iter().map(row).collect(),
        note: "Working time: Monday to Friday, 09:00 to 17:00 in the member's region. \
               Bars of hours share one scale."
            .to_owned(),
    }
}

/// The share of each campaign's changes that were done, by candidate.
fn done_chart(summary: &Summary) -> PanelChart {
    let shown = &summary.strategies[..summary.strategies.len().min(MOST_COLUMNS)];
    let mut names: Vec<&str> = Vec::new();
    for campaign in shown.iter().flat_map(|strategy| &strategy.campaigns) {
        if !names.contains(&campaign.name.as_str()) {
            names.push(&campaign.name);
        }
    }
    let share = |strategy: &StrategySummary, name: &str| {
        let campaign = strategy.campaigns.iter().find(|campaign| campaign.name == name)?;
        let (done, never) =
            (campaign.mean(ChangeMetric::Done), campaign.mean(ChangeMetric::NeverDone));
        (done + never > 0.0).then(|| done / (done + never))
    };
    let left_out = summary.strategies.len() - shown.len();
    PanelChart {
        title: "What still moves: the share of each change that is done".to_owned(),
        subtitle: subtitle(summary, means(summary)),
        columns: (0..)
            .zip(shown)
            .map(|(index, strategy)| PanelColumn {
                heading: strategy.name.replacen('+', "\n", 1),
                measure: Measure::Share,
                scale: 0,
                series: Some(index),
            })
            .collect(),
        rows: names
            .iter()
            .map(|name| PanelRow {
                name: (*name).to_owned(),
                values: shown.iter().map(|strategy| share(strategy, name)).collect(),
            })
            .collect(),
        note: match left_out {
            0 => String::new(),
            n => format!("{n} more candidates are in changes.csv."),
        },
    }
}

fn means(summary: &Summary) -> &'static str {
    if summary.deterministic { "" } else { "means" }
}

impl CampaignSummary {
    /// The mean of a metric, cut-off runs counted as the horizon.
    pub fn mean(&self, metric: ChangeMetric) -> f64 {
        let estimate = self.estimate(metric, Statistic::Mean);
        estimate.and_then(|e| e.value.value()).expect("means of changes are numbers")
    }

    /// One number of a metric.
    pub fn estimate(&self, metric: ChangeMetric, statistic: Statistic) -> Option<&Estimate> {
        let of = self.metrics.iter().find(|of| of.metric == Metric::Change(metric))?;
        of.numbers.get(statistic)
    }
}
