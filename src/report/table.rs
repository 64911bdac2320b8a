//! What `compare` prints: a row a strategy, what the columns mean, and what to know about them.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle};

use super::human;
use super::summary::{StrategySummary, Summary};
use crate::error::Diagnostic;
use crate::experiment::Metric;
use crate::sim::End;
use crate::stats::{Bound, Caveat, Estimate, Level, Statistic};

/// The columns of members: heading, metric, and whether the column is left out where it is 0 for
/// all strategies.
const MEMBERS: [(&str, Metric, bool); 5] = [
    ("updated", Metric::UpdatedMembers, false),
    ("failed", Metric::FailedMembers, false),
    ("skipped", Metric::SkippedMembers, false),
    ("pending", Metric::PendingMembers, false),
    ("not\nstarted", Metric::NotStartedMembers, true),
];

/// The columns of times: heading, metric and level.
const TIMES: [(&str, Metric, Level); 4] = [
    ("makespan\np50", Metric::Makespan, Level::P50),
    ("makespan\np95", Metric::Makespan, Level::P95),
    ("90 % done\np50", Metric::TimeTo(90), Level::P50),
    ("99 % done\np50", Metric::TimeTo(99), Level::P50),
];

/// The table for a terminal of this many columns, with its title, its legend and its notes; ends
/// in a line break. Texts wrap at `width`; numbers never do, so it may become wider.
pub fn terminal(summary: &Summary, width: u16) -> String {
    let (header, rows) = cells(summary);
    let line = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new().top_border(line).header_separator(line).bottom_border(line);
    let mut table = comfy_table::Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(&header).add_rows(&rows);
    let last = header.len() - 1;
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
        if index > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        // Words to the left, numbers to the right.
        let words = index == 0 || header[index].starts_with("outcome");
        if !words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = wrapped(&title(summary), "", width);
    writeln!(text, "\n{}\n", table.trim_fmt()).expect("strings take all");
    for line in legend(summary) {
        text += &wrapped(&line, "  ", width);
    }
    let notes = notes(summary);
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in &notes {
        text += &wrapped(&format!("warning: {}", note.message), "  ", width);
        if let Some(hint) = &note.hint {
            text += &wrapped(&format!("  hint: {hint}"), "    ", width);
        }
    }
    text
}

/// The same as Markdown.
pub fn markdown(summary: &Summary) -> String {
    let (header, rows) = cells(summary);
    let words = |index: usize| index == 0 || header[index].starts_with("outcome");
    let rule = (0..header.len()).map(|index| if words(index) { "---" } else { "---:" });
    let mut text = format!("{}\n\n", escaped(&title(summary), " "));
    let mut row = |cells: &mut dyn Iterator<Item = String>| {
        writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | ")).expect("strings take all");
    };
    row(&mut header.iter().map(|cell| escaped(cell, " ")));
    row(&mut rule.map(str::to_owned));
    for cells in &rows {
        row(&mut cells.iter().map(|cell| escaped(cell, "<br>")));
    }
    text.push('\n');
    for line in legend(summary) {
        writeln!(text, "{}  ", escaped(&line, " ")).expect("strings take all");
    }
    let notes = notes(summary);
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let hint = note.hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
        let line = format!("- **warning**: {}{hint}", escaped(&note.message, " "));
        writeln!(text, "{line}").expect("strings take all");
    }
    text
}

fn escaped(text: &str, line_break: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;").replace('\n', line_break)
}

fn title(summary: &Summary) -> String {
    let (first, n) = (&summary.strategies[0], summary.replications as u64);
    let mut text = format!("{}: ", summary.scenario);
    text += &match summary.strategies.len() {
        1 => "1 strategy".to_owned(),
        strategies => format!("{strategies} strategies"),
    };
    if summary.strategies.iter().all(|strategy| strategy.members == first.members) {
        let s = if first.members == 1 { "" } else { "s" };
        write!(text, ", {} member{s}", human::thousands(u64::from(first.members)))
            .expect("strings take all");
    }
    text += &match (summary.deterministic, n) {
        (true, _) => ", scripted: no luck is involved".to_owned(),
        (false, 1) => format!(", 1 replication (seed {})", summary.seed),
        (false, n) => format!(
            ", {} replications each, on the same luck (seed {})",
            human::thousands(n),
            summary.seed
        ),
    };
    text
}

/// Header and rows.
fn cells(summary: &Summary) -> (Vec<String>, Vec<Vec<String>>) {
    let mean = |metric| move |strategy: &StrategySummary| strategy.mean(metric) > 0.0;
    let members: Vec<_> = MEMBERS
        .iter()
        .filter(|(_, metric, optional)| !optional || summary.strategies.iter().any(mean(*metric)))
        .collect();
    let reference = summary.strategies[0].name.as_str();
    let mut header = vec!["strategy".to_owned()];
    let unlucky = |heading: &str| match heading.split_once('\n') {
        // Without luck all quantiles are the one value.
        Some((heading, _)) if summary.deterministic => heading.to_owned(),
        _ => heading.to_owned(),
    };
    let times: Vec<_> = TIMES
        .iter()
        .filter(|(_, metric, level)| {
            !(summary.deterministic && *metric == Metric::Makespan && *level == Level::P95)
        })
        .collect();
    header.extend(times.iter().map(|(heading, ..)| unlucky(heading)));
    header.extend(members.iter().map(|(heading, ..)| (*heading).to_owned()));
    header.push(if summary.deterministic { "outcome" } else { "outcome of\nreplications" }.to_owned());
    if summary.strategies.len() > 1 {
        let mean = if summary.deterministic { "" } else { "mean " };
        header.push(format!("{mean}makespan\nvs {}", shortened(reference, 16)));
    }
    let row = |(index, strategy): (usize, &StrategySummary)| {
        let mut row = vec![strategy.name.clone()];
        let quantile = |(_, metric, level): &&(&str, Metric, Level)| {
            time(summary, strategy.estimate(*metric, Statistic::Quantile(*level)))
        };
        row.extend(times.iter().map(quantile));
        row.extend(members.iter().map(|(_, metric, _)| human::count(strategy.mean(*metric))));
        row.push(outcomes(summary, strategy));
        if summary.strategies.len() > 1 {
            row.push(difference(summary, index));
        }
        row
    };
    (header, summary.strategies.iter().enumerate().map(row).collect())
}

fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

fn time(summary: &Summary, estimate: Option<&Estimate>) -> String {
    match estimate.map(|estimate| estimate.value) {
        Some(Bound::Value(seconds)) => human::seconds(seconds),
        Some(Bound::BeyondHorizon) => format!("> {}", human::duration(summary.horizon)),
        Some(Bound::Unbounded) | None => "?".to_owned(),
    }
}

/// How a strategy's replications ended, a line each.
fn outcomes(summary: &Summary, strategy: &StrategySummary) -> String {
    let seen = strategy.outcomes.iter().filter(|outcome| outcome.replications > 0);
    let line = |outcome: &super::summary::OutcomeShare| {
        let word = match outcome.end {
            End::Completed => "completed",
            End::Skipped => "skipped",
            End::Failed => "failed",
            End::Stopped => "stopped",
            End::Horizon => "unfinished",
        };
        match outcome.share.value.value() {
            Some(share) if !summary.deterministic => format!("{} {word}", human::percent(share)),
            _ => word.to_owned(),
        }
    };
    seen.map(line).collect::<Vec<_>>().join("\n")
}

/// The difference of mean makespan to the first strategy, and how often it was shorter.
fn difference(summary: &Summary, strategy: usize) -> String {
    let Some(difference) = summary.difference(strategy, Metric::Makespan) else {
        return "–".to_owned();
    };
    let paired = &difference.paired;
    let Some(value) = paired.mean.value.value() else { return "?".to_owned() };
    let sign = if value > 0.0 { "+" } else { "" };
    let restricted = if paired.mean.is_restricted() { "*" } else { "" };
    let text = format!("{sign}{}{restricted}", human::seconds(value));
    if summary.deterministic {
        return text;
    }
    let half = paired.mean.interval.and_then(|interval| interval.half_width(value));
    let text = match half.map(human::seconds) {
        Some(half) => format!("{text} ± {half}"),
        None => text,
    };
    let better = paired.share_better.value.value().unwrap_or_default();
    if paired.mean.interval.is_some_and(|interval| interval.contains(0.0)) {
        return format!("{text}\nno clear difference");
    }
    format!("{text}\nshorter in {}", human::percent(better))
}

/// What the columns mean.
fn legend(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    let mean = if summary.deterministic { "members" } else { "mean number of members" };
    if summary.deterministic {
        lines.push("makespan: from the start until the run has ended".to_owned());
    } else {
        lines.push(
            "makespan: from the start until the run has ended; p50: half of the replications need \
             no longer, p95: 95 % of them"
                .to_owned(),
        );
    }
    lines.push(format!(
        "90 % done: when 90 % of the members are at the target; updated, failed, …: {mean} at the \
         end of the run, or at the horizon ({})",
        human::duration(summary.horizon)
    ));
    if summary.strategies.len() > 1 && !summary.deterministic {
        let level = human::percent(summary.confidence.level());
        lines.push(format!(
            "vs {}: the mean difference on the same luck, with its {level} confidence interval, and \
             in how many replications the makespan was shorter",
            summary.strategies[0].name
        ));
    }
    let restricted = |d: &super::summary::Difference| {
        d.metric == Metric::Makespan && d.paired.mean.is_restricted()
    };
    if summary.differences.iter().any(restricted) {
        lines.push(format!(
            "*: a replication without a makespan counts as {}, so the true difference may be larger \
             or smaller",
            human::duration(summary.horizon)
        ));
    }
    lines
}

/// Warnings about the numbers in the table, each with a hint.
pub fn notes(summary: &Summary) -> Vec<Diagnostic> {
    let mut notes: Vec<Diagnostic> =
        summary.strategies.iter().filter_map(|strategy| cut_off(summary, strategy)).collect();
    if summary.deterministic {
        return notes;
    }
    match summary.replications {
        1 => notes.push(
            Diagnostic::warning("one-replication", "one replication says nothing about luck")
                .hint("use -n 1000"),
        ),
        n @ 2..20 => notes.push(
            Diagnostic::warning("few-replications", format!("all means rest on {n} replications"))
                .hint("use -n 1000; -n 100 at the least"),
        ),
        _ => {}
    }
    if summary.replications > 1 {
        notes.extend(weak_quantiles(summary));
    }
    notes
}

/// What a strategy's makespans cannot say because runs have none (X5).
fn cut_off(summary: &Summary, strategy: &StrategySummary) -> Option<Diagnostic> {
    let cut_off = strategy.metric(Metric::Makespan)?.numbers.censored;
    if cut_off == 0 {
        return None;
    }
    let horizon = human::duration(summary.horizon);
    let ends = [End::Failed, End::Stopped, End::Horizon];
    let seen = strategy.outcomes.iter().filter(|o| o.replications > 0 && ends.contains(&o.end));
    let why = |end: End| match end {
        End::Failed => "failed and nobody started them again",
        End::Stopped => "were stopped and nobody started them again",
        _ => "had not ended by the horizon",
    };
    let hint = |end: End| match end {
        End::Failed => {
            "allow more failures (`maxAllowedFailures`) or restart failed runs \
             (`world.people.restart`)"
        }
        End::Stopped => "start them again in `script.actions`",
        _ => "use a longer `horizon`, or see in delays.svg what they wait for",
    };
    let whys: Vec<String> = seen
        .clone()
        .map(|o| format!("{} {}", human::thousands(o.replications as u64), why(o.end)))
        .collect();
    let hints: Vec<&str> = seen.map(|o| hint(o.end)).collect();
    #[expect(clippy::cast_precision_loss, reason = "replications are far fewer than 2^53")]
    let share = human::percent(cut_off as f64 / summary.replications as f64);
    let message = if summary.deterministic {
        format!("`{}` has no makespan: the run {}; it counts as {horizon} in differences",
            strategy.name,
            match strategy.outcomes.iter().find(|o| o.replications > 0).map(|o| o.end) {
                Some(End::Failed) => "failed and nobody started it again",
                Some(End::Stopped) => "was stopped and nobody started it again",
                _ => "had not ended by the horizon",
            }
        )
    } else {
        format!(
            "`{}`: {share} of the replications have no makespan ({}); in means and differences \
             they count as {horizon}, so the true mean is larger",
            strategy.name,
            whys.join(", ")
        )
    };
    Some(Diagnostic::warning("censored", message).hint(hints.join("; ")))
}

/// Quantiles in the table that rest on a few runs only, and makespans that show no luck.
fn weak_quantiles(summary: &Summary) -> Vec<Diagnostic> {
    // Metric, caveat, and the strategies that share it.
    let mut found: Vec<(Metric, Caveat, Vec<&str>)> = Vec::new();
    for (_, metric, level) in TIMES {
        for strategy in &summary.strategies {
            let estimate = strategy.estimate(metric, Statistic::Quantile(level));
            for caveat in estimate.into_iter().flat_map(|estimate| &estimate.caveats) {
                let constant = matches!(caveat, Caveat::Constant { .. });
                let shown = match caveat {
                    Caveat::FewRuns { .. } => true,
                    _ => constant && metric == Metric::Makespan && level == Level::P50,
                };
                let known = found.iter_mut().find(|(m, c, _)| *m == metric && c == caveat);
                match known {
                    _ if !shown => {}
                    Some((.., strategies)) => strategies.push(&strategy.name),
                    None => found.push((metric, *caveat, vec![&strategy.name])),
                }
            }
        }
    }
    let note = |(metric, caveat, strategies): (Metric, Caveat, Vec<&str>)| {
        let text = caveat.to_string();
        let (what, hint) = text.split_once("; ").unwrap_or((&text, "use a larger -n"));
        let names: Vec<String> = strategies.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("{metric} of {}: {what}", names.join(", "));
        Diagnostic::warning("few-replications", message).hint(hint)
    };
    found.into_iter().map(note).collect()
}

/// A text in lines of at most `width`, those behind the first indented.
fn wrapped(text: &str, indent: &str, width: u16) -> String {
    let (mut out, mut column) = (String::new(), 0);
    // Spaces at the beginning stay; so does what stands between two words of one number.
    let start = text.len() - text.trim_start().len();
    out.push_str(&text[..start]);
    column += start;
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > usize::from(width) {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}
