//! What auto-upgrade came to in one replication: its runs, and how far behind members were.

use std::fmt::Write as _;

use fleetsim::experiment::{AutoMetric, Metric};
use fleetsim::report::autonomous::{behind_table, of_metrics, outcome_of, rows};
use fleetsim::sim::ProfileRun;
use fleetsim::time::Span;
use serde_json::{Value, json};

use super::Replication;
use crate::cli::table::Table;
use crate::cli::{Format, compare, words};

/// So many runs are listed; the events and the status have all.
const MOST_RUNS: usize = 40;

/// The sentence, the runs and the table; empty without profiles.
pub(super) fn text(replication: &Replication<'_>, format: Format) -> String {
    let Some(autonomous) = &replication.outcome.autonomous else { return String::new() };
    if replication.scenario.profiles.is_empty() {
        let own = words::count(autonomous.own_upgrades, "member upgrade");
        return format!("{own} by the members' own auto-upgrade channels\n");
    }
    let horizon = replication.end - replication.scenario.start;
    let number = |metric: AutoMetric| Metric::Auto(metric).of(replication.outcome, horizon).value;
    let mut text = format!("{}\n", of_metrics(number));
    if autonomous.own_upgrades > 0 {
        let own = words::count(autonomous.own_upgrades, "member upgrade");
        writeln!(text, "{own} by the members' own channels").expect("strings take all");
    }
    let mut table = Table::new(&[
        "run",
        "state",
        "#made",
        "#took",
        "#overtaken",
        "#updated",
        "#failed",
        "#left",
    ]);
    for run in autonomous.runs.iter().take(MOST_RUNS) {
        table.row(row(run));
    }
    text.push('\n');
    text.push_str(&table.render(format));
    if let Some(more) = autonomous.runs.len().checked_sub(MOST_RUNS + 1) {
        writeln!(text, "and {} more", more + 1).expect("strings take all");
    }
    let behind =
        rows(replication.simulation.scheduler().plan(), std::slice::from_ref(replication.outcome));
    text.push('\n');
    text.push_str(&behind_table(&behind, compare::width()));
    text
}

fn row(run: &ProfileRun) -> Vec<String> {
    let span = |span: Option<Span>| span.map_or_else(String::new, words::span);
    vec![
        run.name.clone(),
        run.state.to_string(),
        format!("+{}", words::span(run.made)),
        span(run.makespan()),
        span(run.overtaken.map(|at| at - run.made)),
        run.counts.updated.to_string(),
        run.counts.failed.to_string(),
        (run.counts.pending + run.counts.not_started).to_string(),
    ]
}

/// The runs, for programs.
pub(super) fn json(replication: &Replication<'_>) -> Vec<Value> {
    let start = replication.scenario.start;
    let at = |span: Option<Span>| span.map(|span| (start + span).to_string());
    let runs = replication.outcome.autonomous.iter().flat_map(|autonomous| &autonomous.runs);
    runs.map(|run| {
        json!({
            "run": run.name,
            "profile": replication.scenario.profiles[run.profile].name,
            "target": run.target,
            "state": run.state.name(),
            "outcome": outcome_of(run),
            "made": at(Some(run.made)),
            "startTime": at(run.started),
            "completedTime": at(run.ended),
            "overtaken": at(run.overtaken),
            "updatedMembers": run.counts.updated,
            "failedMembers": run.counts.failed,
            "skippedMembers": run.counts.skipped,
            "pendingMembers": run.counts.pending,
            "notStartedMembers": run.counts.not_started,
        })
    })
    .collect()
}
