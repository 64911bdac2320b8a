//! `checks`: what must hold. An unknown metric or strategy is an error, never a pass.

use super::access::{Field, Map, nearest, one_of};
use super::tree::Spot;
use crate::time::{Span, Timestamp};

const CHECK: &[&str] =
    &["strategy", "metric", "statistic", "atMost", "atLeast", "lessThan", "confidence", "by"];

/// Metrics by name, with their kind.
const METRICS: &[(&str, MetricKind)] = &[
    ("makespan", MetricKind::Duration),
    ("timeTo50", MetricKind::Duration),
    ("timeTo90", MetricKind::Duration),
    ("timeTo95", MetricKind::Duration),
    ("timeTo99", MetricKind::Duration),
    ("updatedMembers", MetricKind::Count),
    ("failedMembers", MetricKind::Count),
    ("skippedMembers", MetricKind::Count),
    ("pendingMembers", MetricKind::Count),
    ("notStartedMembers", MetricKind::Count),
    ("exposedMembers", MetricKind::Count),
    ("exposedHours", MetricKind::Hours),
    ("staleHours", MetricKind::Hours),
    ("imageSkew", MetricKind::Count),
    ("approvals", MetricKind::Count),
    ("restarts", MetricKind::Count),
    ("surgeNodeHours", MetricKind::Hours),
    ("peakExtraNodes", MetricKind::Count),
    ("peakExtraIps", MetricKind::Count),
    ("reimagedNodes", MetricKind::Count),
    ("ephemeralDataLosses", MetricKind::Count),
    ("changes.timeTo50", MetricKind::Duration),
    ("changes.timeTo90", MetricKind::Duration),
    ("changes.timeTo100", MetricKind::Duration),
    ("changes.done", MetricKind::Count),
    ("changes.neverDone", MetricKind::Count),
    ("refusedCalls", MetricKind::Count),
    ("policyChanges", MetricKind::Count),
    ("changes.reimagedNodes", MetricKind::Count),
    ("changes.ephemeralDataLosses", MetricKind::Count),
    ("reimageInWindowHours", MetricKind::Hours),
    ("reimageOutsideWindowHours", MetricKind::Hours),
    ("reimageBusinessHours", MetricKind::Hours),
    ("delay.updating", MetricKind::Duration),
    ("delay.window", MetricKind::Duration),
    ("delay.image", MetricKind::Duration),
    ("delay.version", MetricKind::Duration),
    ("delay.gate", MetricKind::Duration),
    ("delay.wait", MetricKind::Duration),
    ("delay.concurrency", MetricKind::Duration),
    ("delay.poll", MetricKind::Duration),
    ("delay.busy", MetricKind::Duration),
    ("delay.failed", MetricKind::Duration),
    ("delay.stopped", MetricKind::Duration),
    ("outcome.Completed", MetricKind::Share),
    ("outcome.Skipped", MetricKind::Share),
    ("outcome.Failed", MetricKind::Share),
    ("outcome.Stopped", MetricKind::Share),
    ("outcome.horizon", MetricKind::Share),
    ("completedBy", MetricKind::Share),
];

#[derive(Clone, Copy, PartialEq)]
enum MetricKind {
    /// Bounds are durations, kept in seconds.
    Duration,
    /// Bounds are hours; a duration is read as hours.
    Hours,
    /// Bounds are numbers from 0.
    Count,
    /// Bounds are probabilities.
    Share,
}

/// One check, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Where it stands, for annotations.
    pub at: Spot,
    /// The strategy it is about; `None` stands for each of them (`*`, or no key).
    pub strategy: Option<String>,
    /// The metric's name, known to exist.
    pub metric: String,
    /// Which statistic of it.
    pub statistic: Statistic,
    /// What must hold.
    pub bound: Bound,
    /// The confidence of its interval, above 0 and below 1; 0.95 when absent.
    pub confidence: f64,
    /// `by` of `completedBy`: the end of the day (UTC) or the instant.
    pub by: Option<Timestamp>,
}

/// A statistic of a metric over the replications.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The mean; the share, for metrics that are 0 or 1.
    Mean,
    /// The quantile at this probability, above 0 and below 1 (`p95`).
    Quantile(f64),
}

/// What must hold of a statistic. Durations are in seconds, `…Hours` in hours.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// At most this, the bound included.
    AtMost(f64),
    /// At least this, the bound included.
    AtLeast(f64),
    /// Less than the same statistic of this other strategy.
    LessThan(String),
}

/// Reads `checks`.
pub(super) fn read(field: &Field<'_>, strategies: &[String]) -> Vec<Check> {
    let items = field.items().into_iter().flatten();
    items.filter_map(|item| check(&item, strategies)).collect()
}

fn check(field: &Field<'_>, strategies: &[String]) -> Option<Check> {
    let map = field.map("a check", CHECK)?;
    let strategy = map.own("strategy").and_then(|field| strategy_name(&field, strategies, true));
    let metric = map.need("metric").and_then(|field| metric(&field));
    let statistic = map.own("statistic").map_or(Some(Statistic::Mean), |f| statistic(&f));
    let bound = bound(&map, metric.map(|(_, kind)| kind), strategies);
    let confidence = map.own("confidence").map_or(Some(0.95), |field| {
        let confidence = field.number(0.0, 1.0)?;
        if confidence <= 0.0 || confidence >= 1.0 {
            field.fail("out-of-range", "`confidence` lies between 0 and 1, such as 0.95");
        }
        Some(confidence)
    });
    let by = by(&map, metric.map(|(name, _)| name));
    Some(Check {
        at: field.at(),
        strategy: strategy.filter(|name| name != "*"),
        metric: metric?.0.to_owned(),
        statistic: statistic?,
        bound: bound?,
        confidence: confidence?,
        by,
    })
}

fn strategy_name(field: &Field<'_>, strategies: &[String], star: bool) -> Option<String> {
    let text = field.text()?;
    if (star && text == "*") || strategies.iter().any(|name| name == text) {
        return Some(text.to_owned());
    }
    let names = || strategies.iter().map(String::as_str);
    let noted = field.fail("unknown-strategy", format!("no strategy is called `{text}`"));
    noted.hint(match nearest(text, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the strategies are {}", one_of(names())),
    });
    None
}

fn metric(field: &Field<'_>) -> Option<(&'static str, MetricKind)> {
    let text = field.text()?;
    let found = METRICS.iter().find(|(name, _)| *name == text).copied();
    if found.is_none() {
        let noted = field.fail("unknown-metric", format!("`{text}` is not a metric"));
        noted.hint(match nearest(text, METRICS.iter().map(|(name, _)| *name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "makespan, failedMembers, completedBy and delay.window are, for example".to_owned()
            }
        });
    }
    found
}

fn statistic(field: &Field<'_>) -> Option<Statistic> {
    let text = field.text()?;
    if text == "mean" {
        return Some(Statistic::Mean);
    }
    let percent =
        text.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let percent = percent.and_then(|rest| rest.parse::<f64>().ok());
    let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
    if percent.is_none() {
        field
            .fail("unknown-statistic", format!("`{text}` is not a statistic"))
            .hint("write mean, or a quantile such as p50, p95 or p99.9");
    }
    percent.map(|percent| Statistic::Quantile(percent / 100.0))
}

fn bound(map: &Map<'_>, kind: Option<MetricKind>, strategies: &[String]) -> Option<Bound> {
    let mut given = ["atMost", "atLeast", "lessThan"].iter().filter_map(|key| map.get(key));
    let (first, second) = (given.next(), given.next());
    let Some(field) = first else {
        map.notes
            .error(map.node.at, "missing-key", "a check needs `atMost`, `atLeast` or `lessThan`")
            .hint("write atMost: 14d for a duration, atMost: 2 for a count, lessThan: STRATEGY");
        return None;
    };
    if let Some(other) = second {
        let message =
            format!("a check has one bound; this has `{}` and `{}`", field.name, other.name);
        other.fail("conflict", message).hint("write one check for each");
    }
    match field.name {
        "atMost" => value(&field, kind?).map(Bound::AtMost),
        "atLeast" => value(&field, kind?).map(Bound::AtLeast),
        _ => strategy_name(&field, strategies, false).map(Bound::LessThan),
    }
}

fn value(field: &Field<'_>, kind: MetricKind) -> Option<f64> {
    let is_span = field.node.as_text().is_some_and(|text| text.parse::<Span>().is_ok());
    match kind {
        MetricKind::Duration => Some(super::duration(field)?.as_secs_f64()),
        MetricKind::Hours if is_span => Some(super::duration(field)?.as_secs_f64() / 3_600.0),
        MetricKind::Hours | MetricKind::Count => field.number(0.0, f64::MAX),
        MetricKind::Share => field.number(0.0, 1.0),
    }
}

/// A bare date means the end of that day in UTC.
fn by(map: &Map<'_>, metric: Option<&str>) -> Option<Timestamp> {
    match (map.own("by"), metric) {
        (Some(field), Some("completedBy") | None) => {
            let at = super::instant(&field)?;
            let is_date = field.node.as_text().is_some_and(|text| text.len() == "2026-03-20".len());
            Some(if is_date { at + Span::DAY } else { at })
        }
        (Some(field), Some(other)) => {
            field
                .fail("conflict", format!("`{other}` takes no `by`"))
                .hint("`by` belongs to `metric: completedBy`");
            None
        }
        (None, Some("completedBy")) => {
            map.notes
                .error(map.node.at, "missing-key", "`completedBy` needs `by`")
                .hint("write by: 2026-03-20, say");
            None
        }
        (None, _) => None,
    }
}
