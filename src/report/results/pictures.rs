//! The charts of an experiment, from its numbers.

use super::Results;
use super::progress::Progress;
use crate::experiment::{ChangeMetric, History, Metric};
use crate::report::chart::{
    self, BarChart, BarPart, BarRow, Measure, ProgressChart, ProgressPoint, ProgressSeries,
    ScatterAxis, ScatterChart, ScatterPoint, Tint,
};
use crate::report::human;
use crate::report::summary::{StrategySummary, Summary, sample};
use crate::report::timeline::{runs_timeline, timeline, with_changes};
use crate::sim::{DelayCause, End, Outcome, Simulation};
use crate::stats::{Bound, Level, Statistic};

/// Pixels of a PNG for each of the drawing's own.
pub(in crate::report) const SCALE: f32 = 2.0;

/// Name and SVG of each chart.
pub(super) fn all(results: &Results<'_>, progress: &Progress) -> Vec<(String, String)> {
    let summary = results.summary;
    let mut pictures = Vec::new();
    // Where profiles make the only runs, there is no `update` whose progress could be drawn.
    if summary.has_members() && summary.has_update {
        let chart = progress_chart(results, progress);
        pictures.push(("progress".to_owned(), chart::progress_svg(&chart)));
        pictures.push(("delays".to_owned(), chart::bars_svg(&delays_chart(summary))));
        pictures.push(("tradeoff".to_owned(), chart::scatter_svg(&tradeoff_chart(summary))));
    }
    for (index, strategy) in summary.strategies.iter().enumerate() {
        pictures.push((format!("timeline-{}", strategy.name), timeline_picture(results, index)));
    }
    pictures
}

fn progress_chart(results: &Results<'_>, progress: &Progress) -> ProgressChart {
    let summary = results.summary;
    let curves = summary.strategies.iter().zip(&progress.by_strategy);
    let series = curves.map(|(strategy, curve)| ProgressSeries {
        name: strategy.name.clone(),
        outcome: outcome(summary, strategy),
        points: progress.times.iter().zip(curve).map(|(at, q)| point(*at, *q)).collect(),
    });
    let cut_off = summary.strategies.iter().any(|strategy| cut_off(strategy) > 0);
    let note = if cut_off {
        format!(
            "Replications without an end by the horizon ({}) count with what they had done.",
            human::duration(summary.horizon)
        )
    } else {
        String::new()
    };
    ProgressChart {
        title: "Share of members that are at the target".to_owned(),
        subtitle: subtitle(summary, ""),
        axis: "members updated".to_owned(),
        start: results.experiment.common_start(),
        horizon: Some(summary.horizon),
        note,
        until: None,
        top: None,
        series: series.collect(),
    }
}

pub(super) fn point(at: crate::time::Span, [p5, p25, p50, p75, p95]: [f64; 5]) -> ProgressPoint {
    ProgressPoint { at, p5, p25, p50, p75, p95 }
}

/// What was simulated, and what is shown of it.
pub(super) fn subtitle(summary: &Summary, shown: &str) -> String {
    let replications = match (summary.deterministic, summary.replications) {
        (true, _) => "no luck involved".to_owned(),
        (false, 1) => "1 replication".to_owned(),
        (false, n) => format!("{} replications", human::thousands(n as u64)),
    };
    let gap = if shown.is_empty() { "" } else { " · " };
    format!("{} · {replications}{gap}{shown}", summary.scenario)
}

/// How a strategy ended, in a few words.
fn outcome(summary: &Summary, strategy: &StrategySummary) -> String {
    let done = strategy.outcomes.iter().filter(|o| matches!(o.end, End::Completed | End::Skipped));
    let ended: usize = done.map(|o| o.replications).sum();
    let share = share(ended, summary.replications);
    let median = strategy.estimate(Metric::Makespan, Statistic::Quantile(Level::P50));
    let median = match median.expect("the makespan has a median").value {
        Bound::Value(seconds) => human::seconds(seconds),
        _ => format!("> {}", human::duration(summary.horizon)),
    };
    format!("{share} completed, median {median}")
}

fn share(part: usize, whole: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "replications are far fewer than 2^53")]
    human::percent(part as f64 / whole as f64)
}

/// Replications of a strategy that have no makespan.
pub(in crate::report) fn cut_off(strategy: &StrategySummary) -> usize {
    strategy.metric(Metric::Makespan).map_or(0, |makespan| makespan.numbers.censored)
}

fn delays_chart(summary: &Summary) -> BarChart {
    let rows = summary.strategies.iter().map(|strategy| {
        let cut_off = cut_off(strategy);
        let note = match share(cut_off, summary.replications) {
            _ if cut_off == 0 => String::new(),
            share => format!("{share} cut off"),
        };
        BarRow {
            name: strategy.name.clone(),
            note,
            values: DelayCause::ALL.map(|c| strategy.mean(Metric::Delay(c))).to_vec(),
        }
    });
    let rows: Vec<BarRow> = rows.collect();
    let note = if rows.iter().any(|row| !row.note.is_empty()) {
        let horizon = human::duration(summary.horizon);
        format!("Replications that were cut off count up to the horizon ({horizon}).")
    } else {
        String::new()
    };
    BarChart {
        title: "Where the time goes".to_owned(),
        subtitle: subtitle(summary, "mean makespan, by what its critical path was doing"),
        measure: Measure::Duration,
        axis: "mean makespan".to_owned(),
        parts: DelayCause::ALL
            .map(|cause| BarPart { name: cause.label().to_owned(), tint: Tint::Cause(cause) })
            .to_vec(),
        rows,
        note,
    }
}

/// Speed against what it costs: the blast radius where a defective release was met (W7), else the
/// failed members.
fn tradeoff_chart(summary: &Summary) -> ScatterChart {
    let exposed = |strategy: &StrategySummary| strategy.mean(Metric::ExposedMembers) > 0.0;
    let (cost, title, label) = if summary.strategies.iter().any(exposed) {
        (Metric::ExposedMembers, "Speed against blast radius", "mean exposed members")
    } else {
        (Metric::FailedMembers, "Speed against failed members", "mean failed members")
    };
    let points: Vec<ScatterPoint> = summary
        .strategies
        .iter()
        .enumerate()
        .map(|(series, strategy)| ScatterPoint {
            name: strategy.name.clone(),
            series,
            x: mean_of(strategy, Metric::Makespan),
            y: mean_of(strategy, cost),
            censored: cut_off(strategy) > 0,
        })
        .collect();
    let note = if points.iter().any(|point| point.censored) {
        let horizon = human::duration(summary.horizon);
        format!("Hollow: some replications were cut off and count as the horizon ({horizon}).")
    } else {
        String::new()
    };
    let axis = |label: &str, measure| ScatterAxis { label: label.to_owned(), measure };
    ScatterChart {
        title: title.to_owned(),
        subtitle: subtitle(
            summary,
            "means with their 95 % intervals; nearer to the corner is better",
        ),
        x: axis("mean makespan", Measure::Duration),
        y: axis(label, Measure::Count),
        points,
        note,
    }
}

/// A mean with the ends of its interval, or itself where there are none.
pub(in crate::report) fn mean_of(strategy: &StrategySummary, metric: Metric) -> chart::Estimate {
    let value = strategy.mean(metric);
    let interval = strategy.estimate(metric, Statistic::Mean).and_then(|mean| mean.interval);
    let end = |bound: Option<Bound>| bound.and_then(Bound::value).unwrap_or(value);
    let (low, high) = (interval.map(|i| i.low), interval.map(|i| i.high));
    chart::Estimate { value, low: end(low), high: end(high) }
}

/// The replication with the lower-median makespan, once more and watched; without an update run,
/// the one in which the last change is done at the median.
fn timeline_picture(results: &Results<'_>, strategy: usize) -> String {
    let (experiment, summary) = (results.experiment, results.summary);
    let outcomes = &results.outcomes.by_strategy[strategy];
    let (metric, whose) = if summary.has_members() {
        (Metric::Makespan, "makespan")
    } else {
        (Metric::Change(ChangeMetric::TimeTo(100)), "last change")
    };
    let values = sample(outcomes, metric, summary.horizon);
    let median = values.replication_at(Level::P50).expect("there are replications");
    let mut simulation =
        Simulation::new(experiment.world_of(strategy), &experiment.plans[strategy]);
    let mut history = History::default();
    let replication = u32::try_from(median).expect("replications fit u32");
    let end = experiment.end_of(strategy);
    simulation.run(replication, end, &mut history);
    let name = &summary.strategies[strategy].name;
    let plan = &experiment.plans[strategy];
    if !summary.has_update && !plan.beside.is_empty() {
        let texts = (
            format!("{name}: the runs of its profiles"),
            format!("{} · replication {replication}", summary.scenario),
        );
        let clock = experiment.world_of(strategy).start()..end;
        let runs = runs_timeline(simulation.beside(), plan, &history.beside, clock, texts);
        return chart::timeline_svg(&runs);
    }
    let which = if summary.deterministic {
        String::new()
    } else {
        format!("replication {replication}, whose {whose} is the median · ")
    };
    let texts = (
        format!("{name}: one rollout"),
        format!("{} · {which}{}", summary.scenario, members(&outcomes[median])),
    );
    let scheduler = simulation.scheduler();
    let campaigns = &experiment.scenario_of(strategy).campaigns;
    let timeline = timeline(scheduler, &history.records, end, texts);
    chart::timeline_svg(&with_changes(timeline, scheduler, &history, campaigns, end))
}

/// How many members ended how.
fn members(outcome: &Outcome) -> String {
    let counts = [
        (outcome.updated, "updated"),
        (outcome.failed, "failed"),
        (outcome.skipped, "skipped"),
        (outcome.pending, "pending"),
        (outcome.not_started, "not started"),
    ];
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = shown
        .map(|(count, word)| format!("{} {word}", human::thousands(u64::from(*count))))
        .collect();
    match outcome.changes.wanted {
        _ if !words.is_empty() => words.join(", "),
        0 => "no members".to_owned(),
        wanted => {
            let done = outcome.changes.done.len() as u64;
            let wanted = human::thousands(u64::from(wanted));
            format!("{} of {wanted} changes done", human::thousands(done))
        }
    }
}
