//! What `compare` prints: a row a strategy, what the columns mean, and what to know about them.

use std::fmt::Write as _;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};

use super::autonomous;
use super::human;
use super::summary::{Difference, OutcomeShare, StrategySummary, Summary};
use crate::error::Diagnostic;
use crate::experiment::Metric;
use crate::sim::End;
use crate::stats::{Bound, Caveat, Estimate, Level, Statistic};

/// The columns of times, each at the levels of [`LEVELS`].
const TIMES: [(&str, Metric); 3] = [
    ("makespan", Metric::Makespan),
    ("90 %\ndone", Metric::TimeTo(90)),
    ("99 %\ndone", Metric::TimeTo(99)),
];

/// The lines of a row.
const LEVELS: [Level; 2] = [Level::P50, Level::P95];

/// The columns of members: heading, metric, and whether the column is left out where it is 0 for
/// all strategies.
const MEMBERS: [(&str, Metric, bool); 6] = [
    ("updated", Metric::UpdatedMembers, false),
    ("failed", Metric::FailedMembers, false),
    ("skipped", Metric::SkippedMembers, false),
    ("pending", Metric::PendingMembers, false),
    ("not\nstarted", Metric::NotStartedMembers, true),
    ("exposed", Metric::ExposedMembers, true),
];

/// A column: its heading, and a cell for each strategy. Cells have several lines.
pub(super) struct Column {
    pub(super) heading: String,
    /// Words stand to the left, numbers to the right.
    pub(super) words: bool,
    pub(super) cells: Vec<String>,
}

impl Column {
    /// A column of words, or of numbers.
    pub(super) fn new(heading: &str, words: bool, cells: Vec<String>) -> Self {
        Self { heading: heading.to_owned(), words, cells }
    }
}

/// The table for a terminal of this many columns, with its title, its legend and its notes; ends
/// in a line break. Where one table is too wide, times and members have one each.
pub fn terminal(summary: &Summary, width: u16) -> String {
    if !summary.has_update {
        let text = wrapped(&title(summary), "", width);
        return text + "\n" + &autonomous_text(summary, width);
    }
    let mut text = wrapped(&title(summary), "", width);
    if summary.has_members() {
        text += &fitting([names(summary), times(summary), ends(summary)], width);
    }
    if super::changes::has_changes(summary) {
        text += &fitting(super::changes::columns(summary), width);
    }
    text.push('\n');
    text += &autonomous_text(summary, width);
    for line in legend(summary) {
        text += &wrapped(&line, "  ", width);
    }
    if let Some(best) = &summary.best {
        text.push('\n');
        for line in best.lines(summary) {
            text += &wrapped(&line, "  ", width);
        }
    }
    let notes = notes(summary);
    if !notes.is_empty() {
        text.push('\n');
    }
    for (index, note) in notes.iter().enumerate() {
        text += &wrapped(&format!("warning: {}", note.message), "  ", width);
        // One hint for all neighbours that share it.
        let next = notes.get(index + 1).and_then(|next| next.hint.as_ref());
        if let Some(hint) = note.hint.as_ref().filter(|hint| next != Some(*hint)) {
            text += &wrapped(&format!("  hint: {hint}"), "    ", width);
        }
    }
    text
}

/// Names, and two kinds of columns: one table, or two where one is too wide.
fn fitting([names, first, second]: [Vec<Column>; 3], width: u16) -> String {
    let whole = laid_out(names.iter().chain(&first).chain(&second), width);
    if whole.lines().all(|line| line.chars().count() <= usize::from(width)) {
        return format!("\n{whole}\n");
    }
    // What the lines of a row are, says a column without a heading; it goes with times alone.
    let kept = names.iter().filter(|column| !column.heading.is_empty());
    let first = laid_out(names.iter().chain(&first), width);
    let second = laid_out(kept.chain(&second), width);
    format!("\n{first}\n\n{second}\n")
}

/// What auto-upgrade came to, and how far behind members were; empty without profiles.
fn autonomous_text(summary: &Summary, width: u16) -> String {
    let mut text = String::new();
    for strategy in &summary.strategies {
        let Some(line) = autonomous::sentence(strategy) else { continue };
        text += &wrapped(&line, "  ", width);
        writeln!(text, "\n{}", autonomous::behind_table(&strategy.behind, width))
            .expect("strings take all");
    }
    text
}

/// Columns side by side. Only names of strategies give way where there is no room.
pub(super) fn laid_out<'c>(columns: impl Iterator<Item = &'c Column>, width: u16) -> String {
    let columns: Vec<&Column> = columns.collect();
    let line = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new().top_border(line).header_separator(line).bottom_border(line);
    let mut table = comfy_table::Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(columns.iter().map(|column| column.heading.as_str()));
    for row in 0..columns[0].cells.len() {
        table.add_row(columns.iter().map(|column| column.cells[row].as_str()));
    }
    let last = columns.len() - 1;
    for (index, (column, shown)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        shown.set_padding((0, u16::from(index != last)));
        shown.set_constraint(match index {
            0 => ColumnConstraint::LowerBoundary(Width::Fixed(narrowest(column))),
            _ => ColumnConstraint::ContentWidth,
        });
        if !column.words {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The least width of the column of names: names of up to 24 letters stay whole.
fn narrowest(names: &Column) -> u16 {
    let lengths = names.cells.iter().chain([&names.heading]).map(|name| name.chars().count());
    let longest = lengths.max().unwrap_or_default().min(24);
    1 + u16::try_from(longest).expect("24 fits u16")
}

/// The same as Markdown.
pub fn markdown(summary: &Summary) -> String {
    let mut text = format!("{}\n\n", escaped(&title(summary), " "));
    let has_main = summary.has_update && summary.has_members();
    let main = has_main.then(|| [names(summary), times(summary), ends(summary)]);
    let changes = super::changes::has_changes(summary).then(|| super::changes::columns(summary));
    for columns in main.into_iter().chain(changes) {
        let columns: Vec<Column> = columns.into_iter().flatten().collect();
        let mut row = |cells: &mut dyn Iterator<Item = String>| {
            writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "))
                .expect("strings take all");
        };
        row(&mut columns.iter().map(|column| escaped(&column.heading, " ")));
        row(&mut columns.iter().map(|column| if column.words { "---" } else { "---:" }.to_owned()));
        for index in 0..columns[0].cells.len() {
            row(&mut columns.iter().map(|column| escaped(&column.cells[index], "<br>")));
        }
        text.push('\n');
    }
    let autonomous = summary.strategies.iter().filter_map(autonomous::sentence);
    for line in autonomous.chain(legend(summary)) {
        writeln!(text, "- {}", escaped(&line, " ")).expect("strings take all");
    }
    for line in summary.best.iter().flat_map(|best| best.lines(summary)) {
        writeln!(text, "- {}", escaped(&line, " ")).expect("strings take all");
    }
    for note in notes(summary) {
        let hint = note.hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
        writeln!(text, "- **warning**: {}", escaped(&format!("{}{hint}", note.message), " "))
            .expect("strings take all");
    }
    text
}

fn escaped(text: &str, line_break: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;").replace('\n', line_break)
}

fn title(summary: &Summary) -> String {
    let (first, n) = (&summary.strategies[0], summary.replications as u64);
    let strategies = match summary.strategies.len() {
        1 => "1 strategy".to_owned(),
        many if summary.varied => format!("{many} candidates"),
        many => format!("{many} strategies"),
    };
    let alike = summary.strategies.iter().all(|strategy| strategy.members == first.members);
    let members = match first.members {
        _ if !alike || !summary.has_members() => String::new(),
        1 => ", 1 member".to_owned(),
        many => format!(", {} members", human::thousands(u64::from(many))),
    };
    let luck = match n {
        _ if summary.deterministic => "scripted: no luck is involved".to_owned(),
        1 => format!("1 replication (seed {})", summary.seed),
        _ => format!(
            "{} replications each, on the same luck (seed {})",
            human::thousands(n),
            summary.seed
        ),
    };
    format!("{}: {strategies}{members}, {luck}", summary.scenario)
}

/// Strategies, and what the lines of a row are.
fn names(summary: &Summary) -> Vec<Column> {
    let strategies: Vec<String> = summary.strategies.iter().map(|s| s.name.clone()).collect();
    let heading = if summary.varied { "candidate" } else { "strategy" };
    let lines = levels(summary).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let mut columns = vec![Column { heading: heading.to_owned(), words: true, cells: strategies }];
    if !summary.deterministic {
        let cells = vec![lines; summary.strategies.len()];
        columns.push(Column { heading: String::new(), words: true, cells });
    }
    columns
}

/// The levels that differ: without luck, all quantiles are the one value.
fn levels(summary: &Summary) -> &'static [Level] {
    if summary.deterministic { &LEVELS[..1] } else { &LEVELS }
}

/// How long it takes, and how that compares.
fn times(summary: &Summary) -> Vec<Column> {
    let mut columns = Vec::new();
    for (heading, metric) in TIMES {
        let lines = |strategy: &StrategySummary| {
            let line = |level: &Level| {
                time(summary, strategy.estimate(metric, Statistic::Quantile(*level)))
            };
            levels(summary).iter().map(line).collect::<Vec<_>>().join("\n")
        };
        let cells = summary.strategies.iter().map(lines).collect();
        columns.push(Column { heading: heading.to_owned(), words: false, cells });
    }
    if summary.strategies.len() > 1 {
        let mean = if summary.deterministic { "" } else { "mean " };
        let reference = shortened(&summary.strategies[0].name, 16);
        columns.push(Column {
            heading: format!("{mean}makespan\nvs {reference}"),
            words: false,
            cells: (0..summary.strategies.len()).map(|index| difference(summary, index)).collect(),
        });
    }
    columns
}

/// What becomes of members and replications.
fn ends(summary: &Summary) -> Vec<Column> {
    let mut columns = Vec::new();
    for (heading, metric, optional) in MEMBERS {
        let means: Vec<f64> = summary.strategies.iter().map(|s| s.mean(metric)).collect();
        if !optional || means.iter().any(|mean| *mean > 0.0) {
            let cells = means.into_iter().map(human::count).collect();
            columns.push(Column { heading: heading.to_owned(), words: false, cells });
        }
    }
    columns.push(Column {
        heading: "outcome".to_owned(),
        words: true,
        cells: summary.strategies.iter().map(|s| outcomes(summary, s)).collect(),
    });
    columns
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
    let line = |outcome: &OutcomeShare| {
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
    let Some(interval) = paired.mean.interval else { return text };
    let half = interval.half_width(value).map(human::rough).unwrap_or_default();
    let shorter = paired.share_better.value.value().unwrap_or_default();
    let longer = (1.0 - shorter - paired.share_equal).max(0.0);
    let verdict = if paired.share_equal >= 1.0 {
        "always equal".to_owned()
    } else if interval.contains(0.0) {
        "unclear".to_owned()
    } else if value < 0.0 {
        format!("shorter in {}", human::percent(shorter))
    } else {
        format!("longer in {}", human::percent(longer))
    };
    format!("{text} ± {half}\n{verdict}")
}

/// What the columns mean.
fn legend(summary: &Summary) -> Vec<String> {
    let (scripted, horizon) = (summary.deterministic, human::duration(summary.horizon));
    let mut lines = Vec::new();
    if super::changes::has_changes(summary) {
        lines.extend(super::changes::legend(summary));
    }
    lines.extend(summary.strategies.iter().filter_map(super::costs::of_strategy));
    if !summary.has_members() {
        return lines;
    }
    if !scripted {
        lines.push("p50: half of the replications need no longer; p95: 95 % of them".to_owned());
    }
    lines.push(
        "makespan: from the start until the run has ended; 90 % done: until 90 % of the members \
         are at the target"
            .to_owned(),
    );
    let means = if scripted { "members" } else { "members, on average," };
    lines.push(format!("updated, failed, …: {means} at the end, or at the horizon of {horizon}"));
    if summary.strategies.len() > 1 && !scripted {
        lines.push(format!(
            "vs {}: the mean difference on the same luck ± its {} confidence interval (unclear: it \
             includes zero), and in how many replications the makespan was shorter or longer",
            summary.strategies[0].name,
            human::percent(summary.confidence.level())
        ));
    }
    let restricted = |d: &Difference| d.metric == Metric::Makespan && d.paired.mean.is_restricted();
    if summary.differences.iter().any(restricted) {
        lines.push(format!("*: makespans that never came count as {horizon}"));
    }
    lines
}

/// Warnings about the numbers in the table, each with a hint.
pub fn notes(summary: &Summary) -> Vec<Diagnostic> {
    // What is true of several strategies is said once.
    let mut found: Vec<(Vec<&str>, Diagnostic)> = Vec::new();
    for told in [without_makespan, never_done] {
        for strategy in &summary.strategies {
            let Some(note) = told(summary, strategy) else { continue };
            match found.iter_mut().find(|(_, known)| *known == note) {
                Some((strategies, _)) => strategies.push(&strategy.name),
                None => found.push((vec![&strategy.name], note)),
            }
        }
    }
    let named = |(strategies, mut note): (Vec<&str>, Diagnostic)| {
        note.message = format!("{}: {}", quoted(summary, &strategies), note.message);
        note
    };
    let mut notes: Vec<Diagnostic> = found.into_iter().map(named).collect();
    match summary.replications {
        _ if summary.deterministic => {}
        1 => notes.push(
            Diagnostic::warning("one-replication", "one replication says nothing about luck")
                .hint("use -n 1000"),
        ),
        n => {
            if n < 20 {
                let message = format!("all means rest on {n} replications");
                let hint = "use -n 1000, or at the least -n 100";
                notes.push(Diagnostic::warning("few-replications", message).hint(hint));
            }
            if summary.has_members() {
                notes.extend(weak_quantiles(summary));
            }
        }
    }
    notes
}

/// Names of strategies; many that are all of them are not named one by one.
fn quoted(summary: &Summary, names: &[&str]) -> String {
    if names.len() > 3 && names.len() == summary.strategies.len() {
        let what = if summary.varied { "candidates" } else { "strategies" };
        return format!("all {} {what}", names.len());
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// That a strategy's runs have no makespan, and why (X5).
fn without_makespan(summary: &Summary, strategy: &StrategySummary) -> Option<Diagnostic> {
    if strategy.metric(Metric::Makespan)?.numbers.censored == 0 {
        return None;
    }
    let ended = |end: End| matches!(end, End::Completed | End::Skipped);
    let seen = strategy.outcomes.iter().filter(|of| of.replications > 0 && !ended(of.end));
    let ends: Vec<&OutcomeShare> = seen.collect();
    let horizon = human::duration(summary.horizon);
    let message = if summary.deterministic {
        let why = ends.first().map_or("has not ended", |of| why(of.end));
        format!("the run {why}; without a makespan, it counts as {horizon} in differences")
    } else {
        let mut of_all = " of the replications";
        let line = |of: &&OutcomeShare| {
            let share = of.share.value.value().map(human::percent).unwrap_or_default();
            format!("{share}{} {}", std::mem::take(&mut of_all), why(of.end))
        };
        let whys = ends.iter().map(line).collect::<Vec<_>>().join(", ");
        format!("{whys}; without a makespan, they count as {horizon} in means and differences")
    };
    let hints: Vec<&str> = ends.iter().map(|of| what_helps(of.end)).collect();
    Some(Diagnostic::warning("censored", message).hint(hints.join("; ")))
}

const fn why(end: End) -> &'static str {
    match end {
        End::Failed => "failed and never went on",
        End::Stopped => "stopped and never went on",
        End::Horizon => "did not end by the horizon",
        End::Completed | End::Skipped => "ended",
    }
}

const fn what_helps(end: End) -> &'static str {
    match end {
        End::Failed => {
            "allow more failures (`maxAllowedFailures`), or let people go on behind members that \
             fail every time (`world.people.restart: {restart: keepFailed}`)"
        }
        End::Stopped => "start stopped runs again (`script.actions`)",
        End::Horizon => "use a longer `horizon`, or see in delays.svg what they wait for",
        End::Completed | End::Skipped => "nothing is needed",
    }
}

/// That members never reach the target although the run ends.
fn never_done(summary: &Summary, strategy: &StrategySummary) -> Option<Diagnostic> {
    let ended = strategy.metric(Metric::Makespan)?.numbers.censored;
    let beyond = |metric| {
        let shown = |level: &Level| {
            let estimate = strategy.estimate(metric, Statistic::Quantile(*level));
            estimate.is_some_and(|estimate| estimate.value == Bound::BeyondHorizon)
        };
        levels(summary).iter().any(shown)
    };
    let (_, metric) = TIMES.iter().find(|(_, metric)| {
        strategy.metric(*metric).is_some_and(|of| of.numbers.censored > ended) && beyond(*metric)
    })?;
    let share = strategy.metric(*metric)?.censored.value.value()?;
    let Metric::TimeTo(percent) = metric else { return None };
    let how_often = if summary.deterministic {
        String::new()
    } else {
        format!("in {} of the replications, ", human::percent(share))
    };
    let message = format!(
        "{how_often}fewer than {percent} % of the members ever get to the target: others failed, \
         or were skipped by somebody"
    );
    Some(Diagnostic::warning("censored", message).hint(
        "members that fail every time stay failed; a restart with `retryFailed` helps the rest",
    ))
}

/// Quantiles in the table that rest on a few runs only, and makespans that show no luck.
fn weak_quantiles(summary: &Summary) -> Vec<Diagnostic> {
    // Metric, caveat, and the strategies that share it.
    let mut found: Vec<(Metric, Caveat, Vec<&str>)> = Vec::new();
    for (_, metric) in TIMES {
        for (level, strategy) in
            LEVELS.iter().flat_map(|l| summary.strategies.iter().map(move |s| (l, s)))
        {
            let estimate = strategy.estimate(metric, Statistic::Quantile(*level));
            for caveat in estimate.into_iter().flat_map(|estimate| &estimate.caveats) {
                let shown = match caveat {
                    Caveat::FewRuns { .. } => true,
                    Caveat::Constant { .. } => metric == Metric::Makespan && *level == Level::P50,
                    _ => false,
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
        let message = format!("{}: {metric}: {what}", quoted(summary, &strategies));
        Diagnostic::warning("few-replications", message).hint(hint)
    };
    found.into_iter().map(note).collect()
}

/// A text in lines of at most `width`, those behind the first indented.
fn wrapped(text: &str, indent: &str, width: u16) -> String {
    let (mut out, mut column) = (String::new(), 0);
    // Spaces at the beginning stay.
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

#[cfg(test)]
mod tests {
    use super::super::testing::{failing, lucky, scripted, simulate};
    use super::*;

    #[test]
    fn the_table_of_a_scripted_experiment() {
        let text = simulate(&scripted(), (1, 1), |_, _, summary| terminal(summary, 100));
        let wanted = "\
small: 2 strategies, 3 members, scripted: no luck is involved

LINE
strategy  makespan    90 %    99 %  makespan  updated  failed  skipped  pending  outcome
                      done    done    vs one
LINE
one         1h 30m  1h 30m  1h 30m         –        3       0        0        0  completed
together       30m     30m     30m       −1h        3       0        0        0  completed
LINE

makespan: from the start until the run has ended; 90 % done: until 90 % of the members are at the
  target
updated, failed, …: members at the end, or at the horizon of 10d
";
        let line = "─".repeat(90);
        let wanted = wanted.replace("LINE", &line);
        assert_eq!(text, wanted);
    }

    #[test]
    fn tables_fit_or_are_split() {
        simulate(&lucky(), (40, 1), |_, _, summary| {
            for width in [80, 100, 120, 200] {
                let text = terminal(summary, width);
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= usize::from(width), "{widest} of {width}:\n{text}");
                let headings = text.lines().filter(|line| line.starts_with("strategy")).count();
                assert_eq!(headings, if width < 120 { 2 } else { 1 }, "{text}");
            }
        });
    }

    #[test]
    fn markdown_has_a_row_a_strategy() {
        let text = simulate(&lucky(), (40, 1), |_, _, summary| markdown(summary));
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 2 + 3, "{text}");
        let cells = |row: &str| row.matches('|').count();
        assert!(rows.iter().all(|row| cells(row) == cells(rows[0])), "{text}");
        assert!(rows[2].starts_with("| staged | p50<br>p95 | "), "{text}");
        assert!(!text.contains("> "), "what may be read as markup is escaped: {text}");
    }

    #[test]
    fn x5_runs_without_a_makespan_are_explained_with_a_hint() {
        simulate(&lucky(), (40, 1), |_, _, summary| {
            let notes = notes(summary);
            let failed =
                notes.iter().find(|note| note.message.starts_with("`one-by-one`")).unwrap();
            assert!(failed.message.contains("failed and never went on"), "{failed}");
            assert!(failed.message.contains("count as 20d"), "{failed}");
            assert!(failed.hint.as_ref().unwrap().contains("maxAllowedFailures"), "{failed}");
            assert!(terminal(summary, 120).contains("> 20d"));
            let weak = notes.iter().find(|note| note.code == "few-replications").unwrap();
            assert!(weak.message.contains("the p95 rests on 3 runs"), "{weak}");
            assert_eq!(weak.hint.as_deref(), Some("use -n 2000"));
        });
        let notes = simulate(&failing(), (1, 1), |_, _, summary| notes(summary));
        assert_eq!(notes.len(), 1, "what is true of both is said once");
        assert!(notes[0].message.starts_with("`one`, `together`: the run failed"), "{}", notes[0]);
    }

    #[test]
    fn few_replications_are_warned_of_once() {
        let codes = |n| {
            let notes = simulate(&lucky(), (n, 1), |_, _, summary| notes(summary));
            let all = notes.iter().filter(|note| note.message.contains("replication"));
            all.filter(|note| note.code != "censored").count()
        };
        assert_eq!((codes(1), codes(5)), (1, 1));
        let nothing = simulate(&scripted(), (1, 1), |_, _, summary| notes(summary));
        assert_eq!(nothing, [], "without luck one replication says everything");
    }

    #[test]
    fn texts_wrap_at_the_width_with_an_indent() {
        assert_eq!(wrapped("one two three", "  ", 8), "one two\n  three\n");
        assert_eq!(wrapped("  hint: one two", "    ", 12), "  hint: one\n    two\n");
        assert_eq!(wrapped("longerthanwidth x", "", 4), "longerthanwidth\nx\n");
    }
}
