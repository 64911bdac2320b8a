//! For people: aligned lines, and Markdown.

use std::fmt::Write as _;

use super::{Checked, Demand, Row};
use crate::experiment::Unit;
use crate::experiment::checks::{UNPAIRED_QUANTILES, Verdict};
use crate::report::human;
use crate::stats::Bound;
use crate::time::{Span, Timestamp};

/// A line each, aligned, with notes below what does not simply hold, and a line for all.
pub fn lines(checked: &Checked, colours: bool) -> String {
    let rows: Vec<[String; 5]> = checked.rows.iter().map(cells).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for (row, cells) in checked.rows.iter().zip(&rows) {
        let (mark, colour) = mark(row.verdict);
        if colours {
            write!(text, "\x1b[{colour}m{mark}\x1b[0m").expect("strings take all");
        } else {
            text.push(mark);
        }
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // The value stands to the right, so that magnitudes can be compared at a glance.
            if column == 2 {
                write!(line, "  {cell:>width$}").expect("strings take all");
            } else {
                write!(line, "{}{cell:<width$}", if column == 0 { " " } else { "  " })
                    .expect("strings take all");
            }
        }
        writeln!(text, "{}", line.trim_end()).expect("strings take all");
        for note in row.notes.iter().filter(|note| *note != UNPAIRED_QUANTILES) {
            writeln!(text, "    {note}").expect("strings take all");
        }
    }
    let mut notes = checked.rows.iter().flat_map(|row| &row.notes);
    if notes.any(|note| note == UNPAIRED_QUANTILES) {
        writeln!(text, "{UNPAIRED_QUANTILES}").expect("strings take all");
    }
    for differs in &checked.differs {
        writeln!(text, "baseline: {differs}").expect("strings take all");
    }
    if !checked.rows.is_empty() {
        text.push('\n');
    }
    text + &checked.verdict_line() + "\n"
}

/// The same as Markdown, for the summary of a pipeline.
pub fn markdown(checked: &Checked) -> String {
    let line = checked.verdict_line();
    let mut text = format!("### fleetsim check: {}\n\n{line}\n\n", escaped(&checked.scenario));
    text += "|  | strategy | what | value | interval | demanded |\n";
    text += "| --- | --- | --- | ---: | --- | --- |\n";
    for row in &checked.rows {
        let [strategy, what, value, interval, demand] = cells(row).map(|cell| escaped(&cell));
        let mark = match row.verdict {
            Verdict::Holds => "✅ pass",
            Verdict::Fails => "❌ fail",
            Verdict::Undecided => "❔ undecided",
        };
        writeln!(text, "| {mark} | {strategy} | {what} | {value} | {interval} | {demand} |")
            .expect("strings take all");
    }
    let notes = checked.rows.iter().flat_map(|row| row.notes.iter().map(move |note| (row, note)));
    let mut below: Vec<String> = notes
        .map(|(row, note)| format!("{}, {}: {}", row.strategy, what(row), note))
        .chain(checked.differs.iter().map(|differs| format!("baseline: {differs}")))
        .collect();
    below.dedup();
    if !below.is_empty() {
        text.push('\n');
    }
    for note in below {
        writeln!(text, "- {}", escaped(&note)).expect("strings take all");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;").replace('\n', " ")
}

/// The mark of a line, and its colour on a terminal.
const fn mark(verdict: Verdict) -> (char, u8) {
    match verdict {
        Verdict::Holds => ('✓', 32),
        Verdict::Fails => ('✗', 31),
        Verdict::Undecided => ('?', 33),
    }
}

/// Strategy, metric and statistic, value, interval, demand.
fn cells(row: &Row) -> [String; 5] {
    [row.strategy.clone(), what(row), value(row), interval(row), demand(row)]
}

/// `makespan p95`, `completedBy 2026-03-20`, `outcome.Completed`.
pub(super) fn what(row: &Row) -> String {
    match row.by {
        Some(by) => format!("{} {}", row.metric, date(by)),
        None if row.unit == Unit::Share => row.metric.clone(),
        None => format!("{} {}", row.metric, row.statistic),
    }
}

/// Before the end of a day, as the day.
fn date(by: Timestamp) -> String {
    let last_day = (by - Span::DAY).to_string();
    match last_day.split_once("T00:00:00Z") {
        Some((day, _)) => day.to_owned(),
        None => by.to_string(),
    }
}

/// The number; a restricted mean is a lower bound.
pub(super) fn value(row: &Row) -> String {
    let at_least = if row.estimate.is_restricted() && !row.is_difference() { "≥ " } else { "" };
    format!("{at_least}{}", bound(row, row.estimate.value, "?"))
}

/// The confidence that is not named.
const USUAL: f64 = 0.95;

fn level(confidence: f64) -> String {
    format!(" at {} %", digits(confidence * 100.0))
}

/// `[8d 22h, 9d 10h]`; ends that nothing is known of are `…`.
pub(super) fn interval(row: &Row) -> String {
    match row.estimate.interval {
        None => "no interval".to_owned(),
        Some(ends) => {
            let [low, high] = [ends.low, ends.high].map(|end| bound(row, end, "…"));
            let usual = (row.confidence - USUAL).abs() < 1e-9;
            let confidence = if usual { String::new() } else { level(row.confidence) };
            format!("[{low}, {high}]{confidence}")
        }
    }
}

pub(super) fn demand(row: &Row) -> String {
    let unsigned = |value: f64| exact_enough(value, &[], row.unit, false);
    let end = |end: Bound| match end {
        Bound::Value(value) => unsigned(value),
        Bound::BeyondHorizon => format!("> {}", human::duration(row.horizon)),
        Bound::Unbounded => "?".to_owned(),
    };
    match &row.demand {
        Demand::AtMost(bound) => format!("at most {}", unsigned(*bound)),
        Demand::AtLeast(bound) => format!("at least {}", unsigned(*bound)),
        Demand::LessThan(name) => format!("less than {name}: below 0"),
        Demand::NoDrift { before, after, paired } => {
            let pairing = if *paired { "" } else { ", unpaired" };
            match row.verdict {
                Verdict::Holds => format!("no drift from {}{pairing}", end(*before)),
                Verdict::Fails => {
                    format!("drift from {} to {}{pairing}", end(*before), end(*after))
                }
                Verdict::Undecided => format!("drift from {}?{pairing}", end(*before)),
            }
        }
    }
}

/// An end or a value; digits are added where it would look like the demand without being it.
fn bound(row: &Row, end: Bound, unknown: &str) -> String {
    let demanded = match row.demand {
        Demand::AtMost(bound) | Demand::AtLeast(bound) => bound,
        Demand::LessThan(_) | Demand::NoDrift { .. } => 0.0,
    };
    match end {
        Bound::Value(value) => exact_enough(value, &[demanded], row.unit, row.is_difference()),
        Bound::BeyondHorizon => format!("> {}", human::duration(row.horizon)),
        Bound::Unbounded => unknown.to_owned(),
    }
}

fn exact_enough(value: f64, others: &[f64], unit: Unit, signed: bool) -> String {
    let short = |value: f64| human::amount(value, unit);
    let size = value.abs();
    let alike = |other: &f64| (size - other).abs() > 0.0 && short(size) == short(*other);
    let text = match unit {
        _ if !others.iter().any(alike) => short(size),
        Unit::Seconds => human::span(size).to_string(),
        Unit::Hours => human::span(size * 3_600.0).to_string(),
        Unit::Share => format!("{} %", digits(size * 100.0)),
        Unit::Count => digits(size),
    };
    let sign = match value {
        v if v < 0.0 => "−",
        v if v > 0.0 && signed => "+",
        _ => "",
    };
    format!("{sign}{text}")
}

/// Six digits that count.
fn digits(value: f64) -> String {
    let text = format!("{value:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
