//! What auto-upgrade came to: runs made, completed, overtaken, and how far behind members were, by
//! region and by label.

use std::fmt::Write as _;

use super::results::tables::{Table, number};
use super::summary::StrategySummary;
use super::{human, table};
use crate::experiment::{AutoMetric, Experiment, Metric, Outcomes, Unit};
use crate::scheduler::{Plan, State};
use crate::sim::behind::{Behind, Cohorts};
use crate::sim::{Outcome, ProfileRun};
use crate::time::Span;

/// So many regions and values of a label are shown at a terminal, the most behind first.
const MOST_ROWS: usize = 12;

/// How far behind one profile the members of one cohort were, over all replications.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The profile.
    pub profile: String,
    /// What the members have in common: `all`, `region`, or a label's key.
    pub by: String,
    /// Its value; empty for all.
    pub value: String,
    /// How many they are.
    pub members: u32,
    /// Mean seconds behind, over members, time and replications.
    pub behind: f64,
    /// The most that a member ever was.
    pub worst: Span,
    /// The share of the members' time in which they were behind at all.
    pub share: f64,
    /// Members that never caught up, a replication.
    pub never: f64,
}

/// The rows of a candidate: by profile, then cohort. None without profiles.
pub fn rows(plan: &Plan<'_>, outcomes: &[Outcome]) -> Vec<Row> {
    let cohorts = Cohorts::of(plan.fleet);
    let all: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.autonomous.as_ref()).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let replications = u32::try_from(all.len()).expect("replications fit u32");
    let mut rows = Vec::new();
    for (profile, beside) in plan.beside.iter().enumerate() {
        let of_plan = beside.profile.expect("the plans beside another are those of profiles");
        for (cohort, (by, value)) in cohorts.names.iter().enumerate() {
            let mut sum = Behind::default();
            for one in &all {
                sum.add(&one.behind[profile][cohort]);
            }
            let members = cohorts.sizes[cohort];
            rows.push(Row {
                profile: of_plan.name.clone(),
                by: by.clone(),
                value: value.clone(),
                members,
                behind: sum.mean_seconds(),
                worst: sum.worst,
                share: sum.share(),
                never: f64::from(sum.never_caught_up) / f64::from(replications),
            });
        }
    }
    rows
}

/// `staleness.csv`: how far behind members were, by profile, region and label. Durations are
/// seconds.
pub(super) fn staleness_csv(strategies: &[StrategySummary]) -> String {
    let mut table = Table::new(&[
        "strategy",
        "profile",
        "by",
        "value",
        "members",
        "meanBehind",
        "worstBehind",
        "shareBehind",
        "neverCaughtUp",
    ]);
    for strategy in strategies {
        for row in &strategy.behind {
            table.row([
                strategy.name.clone(),
                row.profile.clone(),
                row.by.clone(),
                row.value.clone(),
                row.members.to_string(),
                number(row.behind, Unit::Seconds).to_string(),
                row.worst.as_secs_f64().to_string(),
                row.share.to_string(),
                row.never.to_string(),
            ]);
        }
    }
    table.finish()
}

/// `profile-runs.csv`: every run that a profile made, by strategy, replication and the order in
/// which they were made. Times are seconds from the scenario's start.
pub(super) fn profile_runs_csv(experiment: &Experiment<'_>, outcomes: &Outcomes) -> String {
    let mut table = Table::new(&[
        "strategy",
        "replication",
        "profile",
        "run",
        "target",
        "made",
        "started",
        "ended",
        "outcome",
        "makespan",
        "overtaken",
        "updatedMembers",
        "failedMembers",
        "skippedMembers",
        "pendingMembers",
        "notStartedMembers",
    ]);
    let seconds =
        |span: Option<Span>| span.map_or_else(String::new, |span| span.as_secs_f64().to_string());
    for (plan, outcomes) in experiment.plans.iter().zip(&outcomes.by_strategy) {
        for (replication, outcome) in outcomes.iter().enumerate() {
            for run in outcome.autonomous.iter().flat_map(|autonomous| &autonomous.runs) {
                let profile = plan.beside[run.profile].profile;
                let counts = run.counts;
                table.row([
                    plan.strategy.to_owned(),
                    replication.to_string(),
                    profile.map_or_else(String::new, |profile| profile.name.clone()),
                    run.name.clone(),
                    run.target.clone(),
                    seconds(Some(run.made)),
                    seconds(run.started),
                    seconds(run.ended),
                    outcome_of(run).to_owned(),
                    seconds(run.makespan()),
                    seconds(run.overtaken),
                    counts.updated.to_string(),
                    counts.failed.to_string(),
                    counts.skipped.to_string(),
                    counts.pending.to_string(),
                    counts.not_started.to_string(),
                ]);
            }
        }
    }
    table.finish()
}

/// How a run ended, in the words of `runs.csv`; `NotStarted` if nobody started it.
pub fn outcome_of(run: &ProfileRun) -> &'static str {
    match run.state {
        State::NotStarted => "NotStarted",
        State::Completed => "Completed",
        State::Skipped => "Skipped",
        State::Failed => "Failed",
        State::Stopped => "Stopped",
        State::Pending | State::Running | State::Stopping => "horizon",
    }
}

/// The sentence about a candidate, with means; `None` without profiles.
pub(super) fn sentence(strategy: &StrategySummary) -> Option<String> {
    strategy.metric(Metric::Auto(AutoMetric::Runs))?;
    let mean = |metric: AutoMetric| strategy.mean(Metric::Auto(metric));
    Some(format!("{}: {}", strategy.name, of_metrics(mean)))
}

/// The sentence about one replication or many; `number` gives each metric.
pub fn of_metrics(number: impl Fn(AutoMetric) -> f64) -> String {
    format!(
        "auto-upgrade: {} runs made, {} completed, {} overtaken by the next release; members {} \
         behind on average, {} never caught up",
        human::count(number(AutoMetric::Runs)),
        human::count(number(AutoMetric::Completed)),
        human::count(number(AutoMetric::Overtaken)),
        human::seconds(number(AutoMetric::Behind)),
        human::count(number(AutoMetric::NeverCaughtUp)),
    )
}

/// The table of how far behind members were; of many regions or values, those that are furthest.
pub fn behind_table(rows: &[Row], width: u16) -> String {
    let mut shown: Vec<&Row> = Vec::new();
    let mut left_out = 0;
    for group in rows.chunk_by(|one, other| (&one.profile, &one.by) == (&other.profile, &other.by))
    {
        let mut group: Vec<&Row> = group.iter().collect();
        group.sort_by(|one, other| other.behind.total_cmp(&one.behind));
        left_out += group.len().saturating_sub(MOST_ROWS);
        shown.extend(group.into_iter().take(MOST_ROWS));
    }
    let column = |heading: &str, words: bool, cell: &dyn Fn(&Row) -> String| {
        table::Column::new(heading, words, shown.iter().map(|row| cell(row)).collect())
    };
    let columns = [
        column("profile", true, &|row| row.profile.clone()),
        column("by", true, &|row| row.by.clone()),
        column("value", true, &|row| row.value.clone()),
        column("members", false, &|row| row.members.to_string()),
        column("behind (mean)", false, &|row| human::seconds(row.behind)),
        column("at most", false, &|row| human::duration(row.worst)),
        column("time behind", false, &|row| human::percent(row.share)),
        column("never caught up", false, &|row| human::count(row.never)),
    ];
    let mut text = table::laid_out(columns.iter(), width);
    text.push('\n');
    if left_out > 0 {
        writeln!(text, "{left_out} more are in staleness.csv").expect("strings take all");
    }
    text
}
