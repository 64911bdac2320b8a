//! How far behind the targets of profiles members are as time goes on: a table and a chart.

use super::Results;
use super::pictures::{point, subtitle};
use super::progress::curve;
use super::tables::Table;
use crate::report::chart::{self, ProgressChart, ProgressSeries};
use crate::report::human;
use crate::sim::behind::STEPS;
use crate::time::Span;

/// Above the highest band there is so much of the axis more, as one part of so many.
const MARGIN: i64 = 25;

/// Quantiles over replications of how far behind members were in the mean, at equal steps.
pub(super) struct StalenessCourse {
    /// One for each strategy and profile.
    pub(super) series: Vec<Series>,
}

/// Of one profile under one strategy.
pub(super) struct Series {
    strategy: String,
    profile: String,
    /// The mean over everything, in seconds.
    mean: f64,
    /// Times since the start.
    times: Vec<Span>,
    /// The p5, p25, p50, p75 and p95 at each time, in seconds.
    curve: Vec<[f64; 5]>,
}

impl StalenessCourse {
    /// Of all strategies; none without profiles.
    pub(super) fn of(results: &Results<'_>) -> Self {
        let Results { experiment, outcomes, summary, .. } = results;
        let mut series = Vec::new();
        for (number, strategy) in summary.strategies.iter().enumerate() {
            let horizon = experiment.scenario_of(number).horizon.as_millis();
            let steps = i64::try_from(STEPS - 1).expect("there are few steps");
            let times: Vec<Span> =
                (0..=steps).map(|step| Span::from_millis(horizon * step / steps)).collect();
            let everybody = strategy.behind.iter().filter(|row| row.by == "all");
            for (profile, row) in everybody.enumerate() {
                let of = |outcome: &crate::sim::Outcome, _: &[Span]| -> Vec<f64> {
                    let autonomous = outcome.autonomous.as_ref().expect("there are profiles");
                    autonomous.over_time[profile].iter().map(|mean| f64::from(*mean)).collect()
                };
                series.push(Series {
                    strategy: strategy.name.clone(),
                    profile: row.profile.clone(),
                    mean: row.behind,
                    curve: curve(&outcomes.by_strategy[number], &times, &of),
                    times: times.clone(),
                });
            }
        }
        Self { series }
    }

    /// `staleness-progress.csv`: strategy, profile, time since the start, and quantiles over
    /// replications of how far behind members are in the mean; all in seconds.
    pub(super) fn csv(&self) -> String {
        let mut table =
            Table::new(&["strategy", "profile", "time", "p5", "p25", "p50", "p75", "p95"]);
        for Series { strategy, profile, times, curve, .. } in &self.series {
            for (time, quantiles) in times.iter().zip(curve) {
                let fixed = [strategy.clone(), profile.clone(), time.as_secs_f64().to_string()];
                table.row(fixed.into_iter().chain(quantiles.iter().map(ToString::to_string)));
            }
        }
        table.finish()
    }

    /// The chart.
    pub(super) fn picture(&self, results: &Results<'_>) -> String {
        let summary = results.summary;
        let highest = self.series.iter().flat_map(|series| &series.curve).map(|q| q[4]);
        let top = seconds(highest.fold(0.0, f64::max)).max(Span::HOUR);
        let top = top + Span::from_millis(top.as_millis() / MARGIN);
        let share = |quantiles: &[f64; 5]| quantiles.map(|q| q / top.as_secs_f64());
        let name = |series: &Series| match summary.strategies.len() {
            1 => series.profile.clone(),
            _ => format!("{} · {}", series.strategy, series.profile),
        };
        let series = self.series.iter().map(|of| ProgressSeries {
            name: name(of),
            outcome: format!("{} on average", human::seconds(of.mean)),
            points: of.times.iter().zip(&of.curve).map(|(at, q)| point(*at, share(q))).collect(),
        });
        let ends = self.series.iter().filter_map(|series| series.times.last().copied());
        chart::progress_svg(&ProgressChart {
            title: "How far behind their profiles members are".to_owned(),
            subtitle: subtitle(summary, "mean over the members that are in the fleet"),
            axis: "behind the newest target in the member's region".to_owned(),
            start: results.experiment.common_start(),
            horizon: None,
            note: String::new(),
            until: ends.max(),
            top: Some(top),
            series: series.collect(),
        })
    }
}

/// So many seconds.
#[expect(clippy::cast_possible_truncation, reason = "whole seconds, fewer than a century has")]
fn seconds(number: f64) -> Span {
    Span::from_secs(number as i64)
}
