//! For machines: JSON, CSV, and `JUnit` XML.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use super::{Checked, Demand, Row, text};
use crate::experiment::Unit;
use crate::experiment::checks::Verdict;
use crate::report::results;
use crate::stats::Bound;

/// One JSON document. Durations are seconds; a bound is a number, `">horizon"`, or null where
/// nothing is known.
pub fn json(checked: &Checked) -> String {
    let (drifts, checks): (Vec<&Row>, Vec<&Row>) =
        checked.rows.iter().partition(|row| matches!(row.demand, Demand::NoDrift { .. }));
    let rows = |rows: Vec<&Row>| rows.into_iter().map(row).collect::<Vec<_>>();
    let document = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scenario": checked.scenario,
        "digest": checked.digest,
        "seed": checked.seed,
        "replications": checked.replications,
        "deterministic": checked.deterministic,
        "strict": checked.strict,
        "verdict": checked.verdict().word(),
        "passed": checked.count(Verdict::Holds),
        "failed": checked.count(Verdict::Fails),
        "undecided": checked.count(Verdict::Undecided),
        "checks": rows(checks),
        "drifts": rows(drifts),
        "baselineDiffers": checked.differs,
    });
    let text = serde_json::to_string_pretty(&document).expect("values are always JSON");
    text + "\n"
}

fn row(row: &Row) -> Value {
    let interval = row.estimate.interval;
    let mut value = json!({
        "verdict": row.verdict.word(),
        "strategy": row.strategy,
        "metric": row.metric,
        "statistic": row.statistic,
        "by": row.by.map(|by| by.to_string()),
        "value": number(row.estimate.value, row.unit),
        "low": interval.map_or(Value::Null, |interval| number(interval.low, row.unit)),
        "high": interval.map_or(Value::Null, |interval| number(interval.high, row.unit)),
        "unit": unit(row.unit),
        "restricted": row.estimate.is_restricted(),
        "confidence": row.confidence,
        "replications": row.replications,
        "notes": row.notes,
        "file": row.place.file,
        "line": row.place.line,
        "column": row.place.column,
    });
    let demanded = match &row.demand {
        Demand::AtMost(bound) => json!({ "atMost": bound }),
        Demand::AtLeast(bound) => json!({ "atLeast": bound }),
        Demand::LessThan(name) => json!({ "lessThan": name }),
        Demand::NoDrift { before, after, paired } => {
            let [before, after] = [before, after].map(|end| number(*end, row.unit));
            json!({ "before": before, "after": after, "paired": paired })
        }
    };
    let (Value::Object(value), Value::Object(demanded)) = (&mut value, demanded) else {
        unreachable!("both are written as objects")
    };
    value.extend(demanded);
    Value::Object(std::mem::take(value))
}

fn number(bound: Bound, unit: Unit) -> Value {
    match bound {
        Bound::Value(value) => json!(results::number(value, unit)),
        Bound::BeyondHorizon => json!(">horizon"),
        Bound::Unbounded => Value::Null,
    }
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::Hours => "hours",
        Unit::Count => "count",
        Unit::Share => "share",
    }
}

/// A row each under one heading; `demand` is `atMost`, `atLeast`, `lessThan` or `noDrift`.
pub fn csv(checked: &Checked) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns = [
        "verdict",
        "strategy",
        "metric",
        "statistic",
        "by",
        "value",
        "low",
        "high",
        "demand",
        "bound",
        "confidence",
        "replications",
        "line",
        "column",
        "notes",
    ];
    table.write_record(columns).expect("memory takes all");
    for row in &checked.rows {
        let cell = |bound: Bound| match bound {
            Bound::Value(value) => results::number(value, row.unit).to_string(),
            Bound::BeyondHorizon => ">horizon".to_owned(),
            Bound::Unbounded => String::new(),
        };
        let interval = row.estimate.interval;
        let (demand, bound) = match &row.demand {
            Demand::AtMost(bound) => ("atMost", bound.to_string()),
            Demand::AtLeast(bound) => ("atLeast", bound.to_string()),
            Demand::LessThan(name) => ("lessThan", name.clone()),
            Demand::NoDrift { before, .. } => ("noDrift", cell(*before)),
        };
        let cells = [
            row.verdict.word().to_owned(),
            row.strategy.clone(),
            row.metric.clone(),
            row.statistic.clone(),
            row.by.map(|by| by.to_string()).unwrap_or_default(),
            cell(row.estimate.value),
            interval.map(|interval| cell(interval.low)).unwrap_or_default(),
            interval.map(|interval| cell(interval.high)).unwrap_or_default(),
            demand.to_owned(),
            bound,
            row.confidence.to_string(),
            row.replications.to_string(),
            row.place.line.to_string(),
            row.place.column.to_string(),
            row.notes.join("; "),
        ];
        table.write_record(cells).expect("memory takes all");
    }
    let bytes = table.into_inner().expect("memory takes all");
    String::from_utf8(bytes).expect("all cells are text")
}

/// `JUnit` XML: a suite for the checks, one for the drifts. What is undecided is skipped, unless
/// `--strict` makes it a failure. It holds no date and no run time.
pub fn junit(checked: &Checked) -> String {
    let mut report = Report::new("fleetsim check");
    let is_drift = |row: &&Row| matches!(row.demand, Demand::NoDrift { .. });
    let (drifts, checks): (Vec<&Row>, Vec<&Row>) = checked.rows.iter().partition(is_drift);
    for (name, rows) in [("checks", checks), ("baseline", drifts)] {
        if rows.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(format!("{}: {name}", checked.scenario));
        for (key, value) in [
            ("seed", checked.seed.to_string()),
            ("replications", checked.replications.to_string()),
            ("digest", checked.digest.clone()),
        ] {
            suite.add_property(Property::new(key, value));
        }
        suite.add_test_cases(rows.into_iter().map(|row| case(checked, row)));
        report.add_test_suite(suite);
    }
    report.to_string().expect("memory takes all")
}

fn case(checked: &Checked, row: &Row) -> TestCase {
    let message = message(row);
    let status = match row.verdict {
        Verdict::Holds => TestCaseStatus::success(),
        _ if checked.is_failure(row) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(row.verdict.word()).set_message(message.clone());
            status.set_description(described(row, &message));
            status
        }
        _ => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(row.verdict.word()).set_message(message.clone());
            status.set_description(described(row, &message));
            status
        }
    };
    let name = match &row.demand {
        Demand::NoDrift { .. } => format!("{}: {} drift", row.strategy, text::what(row)),
        _ => format!("{}: {} {}", row.strategy, text::what(row), text::demand(row)),
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(checked.scenario.clone());
    let place = &row.place;
    case.extra.insert("file".into(), place.file.as_str().into());
    case.extra.insert("line".into(), place.line.to_string().into());
    case
}

fn described(row: &Row, message: &str) -> String {
    let place = &row.place;
    let mut text = format!("{message}\n{}:{}:{}", place.file, place.line, place.column);
    for note in &row.notes {
        text.push('\n');
        text.push_str(note);
    }
    text
}

/// What is wrong, in a sentence.
pub(super) fn message(row: &Row) -> String {
    let what = format!("{}: {}", row.strategy, text::what(row));
    let (value, interval, demand) = (text::value(row), text::interval(row), text::demand(row));
    match &row.demand {
        Demand::NoDrift { .. } => format!("{what}: {demand}, difference {value} {interval}"),
        Demand::LessThan(name) => {
            format!(
                "{what} {} {name}: difference {value} {interval}",
                match row.verdict {
                    Verdict::Holds => "is less than",
                    Verdict::Fails => "is not less than",
                    Verdict::Undecided => "may or may not be less than",
                }
            )
        }
        Demand::AtMost(_) | Demand::AtLeast(_) => {
            format!(
                "{what} is {value} {interval}, {} {demand}",
                match row.verdict {
                    Verdict::Holds => "which is",
                    Verdict::Fails => "not",
                    Verdict::Undecided => "undecided:",
                }
            )
        }
    }
}
