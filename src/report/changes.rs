//! What configuration changes came to: one sentence of a replication, a table of many.

use super::human;
use super::summary::{CampaignSummary, StrategySummary, Summary};
use super::table::Column;
use crate::experiment::{ChangeMetric, Metric};
use crate::stats::{Bound, Estimate, Level, Statistic};

/// The sentence about one replication; `number` gives each metric as people read it.
/// Times that the horizon cut off read as such.
pub fn sentence(number: impl Fn(ChangeMetric) -> String) -> String {
    use ChangeMetric as C;
    format!(
        "changes: {} done, {} never (half after {}, 90 % after {}, all after {}); {} requests \
         refused, {} policies changed for them; {} nodes reimaged and their ephemeral data lost; \
         {} h of reimaging inside windows, {} h outside, {} h in working hours",
        number(C::Done),
        number(C::NeverDone),
        number(C::TimeTo(50)),
        number(C::TimeTo(90)),
        number(C::TimeTo(100)),
        number(C::RefusedCalls),
        number(C::PolicyChanges),
        number(C::ReimagedNodes),
        number(C::InWindow),
        number(C::OutsideWindow),
        number(C::Business),
    )
}

/// How long it takes: heading and metric of a median.
const TIMES: [(&str, ChangeMetric); 3] = [
    ("half\ndone", ChangeMetric::TimeTo(50)),
    ("90 %\ndone", ChangeMetric::TimeTo(90)),
    ("all\ndone", ChangeMetric::TimeTo(100)),
];
/// What it comes to: heading and metric of a mean.
const EFFECTS: [(&str, ChangeMetric); 8] = [
    ("done", ChangeMetric::Done),
    ("never", ChangeMetric::NeverDone),
    ("refused\nrequests", ChangeMetric::RefusedCalls),
    ("policies\nchanged", ChangeMetric::PolicyChanges),
    ("nodes\nreimaged", ChangeMetric::ReimagedNodes),
    ("hours in\nwindows", ChangeMetric::InWindow),
    ("hours\noutside", ChangeMetric::OutsideWindow),
    ("working\nhours", ChangeMetric::Business),
];

/// Whether there is anything to say.
pub(super) fn has_changes(summary: &Summary) -> bool {
    summary.strategies.iter().any(|strategy| !strategy.campaigns.is_empty())
}

/// One row of the table: a candidate, and one of its campaigns where it has several; `None` stands
/// for all of them together.
type Row<'s> = (&'s StrategySummary, Option<&'s CampaignSummary>);

fn rows(summary: &Summary) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for strategy in &summary.strategies {
        if strategy.campaigns.len() > 1 {
            rows.extend(strategy.campaigns.iter().map(|campaign| (strategy, Some(campaign))));
        }
        rows.push((strategy, None));
    }
    rows
}

fn estimate(
    (strategy, campaign): Row<'_>,
    metric: ChangeMetric,
    of: Statistic,
) -> Option<&Estimate> {
    match campaign {
        Some(campaign) => campaign.estimate(metric, of),
        None => strategy.estimate(Metric::Change(metric), of),
    }
}

/// The table's columns: names, times, effects.
pub(super) fn columns(summary: &Summary) -> [Vec<Column>; 3] {
    let rows = rows(summary);
    let words = |heading: &str, cells: Vec<String>| Column {
        heading: heading.to_owned(),
        words: true,
        cells,
    };
    let what = if summary.varied { "candidate" } else { "strategy" };
    let name = |index: usize| match index.checked_sub(1).map(|before| rows[before].0) {
        Some(before) if before.name == rows[index].0.name => String::new(),
        _ => rows[index].0.name.clone(),
    };
    let mut names = vec![words(what, (0..rows.len()).map(name).collect())];
    if rows.len() > summary.strategies.len() {
        let change = |(_, campaign): &Row<'_>| {
            campaign.map_or_else(|| "all".to_owned(), |campaign| campaign.name.clone())
        };
        names.push(words("change", rows.iter().map(change).collect()));
    }
    let numbers = |heading: &str, cells: Vec<String>| Column {
        heading: heading.to_owned(),
        words: false,
        cells,
    };
    let median = |row: &Row<'_>, metric| {
        let median = estimate(*row, metric, Statistic::Quantile(Level::P50));
        match median.map(|estimate| estimate.value) {
            Some(Bound::Value(seconds)) => human::seconds(seconds),
            _ => format!("> {}", human::duration(summary.horizon)),
        }
    };
    let mean = |row: &Row<'_>, metric| {
        let mean = estimate(*row, metric, Statistic::Mean);
        mean.and_then(|mean| mean.value.value()).map(human::count).unwrap_or_default()
    };
    let times = TIMES.iter().map(|(heading, metric)| {
        numbers(heading, rows.iter().map(|row| median(row, *metric)).collect())
    });
    let effects = EFFECTS.iter().filter(|(_, metric)| {
        let optional = matches!(metric, ChangeMetric::PolicyChanges);
        !optional || rows.iter().any(|row| mean(row, *metric) != "0")
    });
    let effects = effects.map(|(heading, metric)| {
        numbers(heading, rows.iter().map(|row| mean(row, *metric)).collect())
    });
    [names, times.collect(), effects.collect()]
}

/// What the columns mean.
pub(super) fn legend(summary: &Summary) -> Vec<String> {
    let horizon = human::duration(summary.horizon);
    let (median, mean) =
        if summary.deterministic { ("", "") } else { ("the median time ", ", on average") };
    vec![
        format!(
            "half, 90 %, all done: {median}until that share of the configuration changes is done; \
             done, never: by the horizon of {horizon}{mean}"
        ),
        "nodes reimaged: what is ephemeral on them is lost; hours: of reimaging, in and outside of \
         the members' aksManagedNodeOSUpgradeSchedule, and from Monday to Friday, 09:00 to 17:00"
            .to_owned(),
    ]
}
