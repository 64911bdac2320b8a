//! `manifest.json` and `summary.json`.

use serde::{Serialize, Serializer};

use super::tables::{can_be_censored, number};
use crate::experiment::{MemberTimes, Pooled, Unit};
use crate::report::best::{Best, PROCEDURE};
use crate::report::summary::{
    CampaignSummary, Difference, MetricSummary, Reached, StrategySummary, Summary,
};
use crate::scenario::vary::Variation;
use crate::stats::{Bound, Caveat, Estimate, Exemption, Level, Precision};

/// The quantiles of pooled members.
const MEMBER_LEVELS: [Level; 4] = [Level::P5, Level::P50, Level::P95, Level::P99];

/// `manifest.json`: what the results are of, and how precise they are.
pub fn manifest_json(summary: &Summary, target: Option<f64>) -> String {
    // Without a target nothing is met, but every reached precision is told.
    let reached = summary.precision(target.unwrap_or(0.0));
    let strategies: Vec<&str> = summary.strategies.iter().map(|s| s.name.as_str()).collect();
    let met = !reached.iter().any(|r| matches!(r.precision, Precision::Unmet { .. }));
    text(&Manifest {
        version: env!("CARGO_PKG_VERSION"),
        scenario: &summary.scenario,
        digest: &summary.digest,
        seed: summary.seed,
        replications: summary.replications,
        precision: ManifestPrecision {
            target,
            method: target.map(|_| METHOD),
            met: target.map(|_| met),
            reached: reached.iter().map(|reached| headline(&strategies, reached)).collect(),
        },
        strategies,
        varied: summary.vary.iter().map(ManifestVariation::of).collect(),
    })
}

#[derive(Serialize)]
struct Manifest<'a> {
    version: &'static str,
    scenario: &'a str,
    digest: &'a str,
    seed: u64,
    replications: usize,
    strategies: Vec<&'a str>,
    precision: ManifestPrecision<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    varied: Vec<ManifestVariation<'a>>,
}

/// A value that the command line made variants of.
#[derive(Serialize)]
struct ManifestVariation<'a> {
    path: &'a str,
    values: &'a [String],
}

impl<'a> ManifestVariation<'a> {
    fn of(variation: &'a Variation) -> Self {
        Self { path: &variation.path, values: &variation.values }
    }
}

/// How replications are added until a target is met ([`crate::stats::looks`]).
const METHOD: &str = "alpha spending over geometrically growing looks (Lan and DeMets 1983; Mnih, \
                      Szepesvari and Audibert 2008)";

/// How precise the headline numbers are: the larger side of each interval over the value.
#[derive(Serialize)]
struct ManifestPrecision<'a> {
    target: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    met: Option<bool>,
    reached: Vec<Headline<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Headline<'a> {
    strategy: &'a str,
    metric: String,
    statistic: String,
    half_width: Option<f64>,
    exempt: Option<&'static str>,
}

fn headline<'a>(strategies: &[&'a str], reached: &Reached) -> Headline<'a> {
    let (half_width, exempt) = match reached.precision {
        Precision::Met { relative } => (Some(relative), None),
        Precision::Unmet { relative } => (relative, None),
        Precision::Exempt(why) => (None, Some(why)),
    };
    Headline {
        strategy: strategies[reached.strategy],
        metric: reached.metric.to_string(),
        statistic: reached.statistic.to_string(),
        half_width,
        exempt: exempt.map(|why| match why {
            Exemption::Zero => "zero",
            Exemption::Censored => "censored",
            Exemption::Constant => "constant",
        }),
    }
}

/// `summary.json`: everything in `summary.csv` and `differences.csv`, with what to know about it.
pub fn summary_json(summary: &Summary) -> String {
    let confidence = summary.confidence.level();
    text(&Whole {
        version: env!("CARGO_PKG_VERSION"),
        scenario: &summary.scenario,
        digest: &summary.digest,
        seed: summary.seed,
        replications: summary.replications,
        horizon: summary.horizon.as_secs_f64(),
        // 1 − 0.05 is not quite 0.95.
        confidence: (confidence * 1e9).round() / 1e9,
        deterministic: summary.deterministic,
        strategies: summary.strategies.iter().map(strategy).collect(),
        differences: summary.differences.iter().map(|d| difference(summary, d)).collect(),
        best: summary.best.as_ref().map(|best| Selected::of(summary, best)),
        notes: crate::report::table::notes(summary).iter().map(Note::of).collect(),
    })
}

#[derive(Serialize)]
struct Whole<'a> {
    version: &'static str,
    scenario: &'a str,
    digest: &'a str,
    seed: u64,
    replications: usize,
    horizon: f64,
    confidence: f64,
    deterministic: bool,
    strategies: Vec<One<'a>>,
    differences: Vec<Paired<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Selected<'a>>,
    notes: Vec<Note>,
}

/// Which strategy is best (X7); `strategy` is null while nobody can tell.
#[derive(Serialize)]
struct Selected<'a> {
    metric: String,
    indifference: f64,
    confidence: f64,
    procedure: &'static str,
    strategy: Option<&'a str>,
    replications: Option<usize>,
    suffices: Option<usize>,
    verdict: String,
}

impl<'a> Selected<'a> {
    fn of(summary: &'a Summary, best: &Best) -> Self {
        Self {
            metric: best.metric.to_string(),
            indifference: best.indifference,
            confidence: (best.confidence.level() * 1e9).round() / 1e9,
            procedure: PROCEDURE,
            strategy: best.strategy().map(|index| summary.strategies[index].name.as_str()),
            replications: best.decided_with(),
            suffices: best.suffices(),
            verdict: best.verdict(summary),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct One<'a> {
    strategy: &'a str,
    members: u32,
    outcomes: Ordered<Share>,
    metrics: Ordered<Measured>,
    /// When members were done, pooled over members and replications (X8).
    member_times: Members,
    /// What each campaign of configuration changes came to.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    campaigns: Ordered<Ordered<Measured>>,
    /// How long updates took, pooled over members, attempts and replications (X8).
    update_times: Updates,
}

/// Pooled times of updates, by how they ended.
#[derive(Serialize)]
struct Updates {
    completed: Times,
    failed: Times,
}

/// Pooled times in seconds: counts, sums and extremes exactly, quantiles to three significant
/// digits.
#[derive(Serialize)]
struct Times {
    count: u64,
    sum: f64,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    quantiles: Ordered<Option<f64>>,
}

/// Pooled times of members, in seconds; quantiles to three significant digits.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    done: u64,
    not_done: u64,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    quantiles: Ordered<Number>,
}

#[derive(Serialize)]
struct Share {
    replications: usize,
    #[serde(flatten)]
    share: Numbers,
}

#[derive(Serialize)]
struct Measured {
    unit: &'static str,
    censored: Option<usize>,
    statistics: Ordered<Numbers>,
    caveats: Vec<String>,
}

/// A value and its interval.
#[derive(Serialize)]
struct Numbers {
    value: Number,
    low: Number,
    high: Number,
    /// Cut-off runs count as the horizon (X5).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restricted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Paired<'a> {
    strategy: &'a str,
    reference: &'a str,
    metric: String,
    statistic: &'static str,
    #[serde(flatten)]
    mean: Numbers,
    share_better: Numbers,
    share_equal: f64,
    variance_reduction: Option<f64>,
    correlation: Option<f64>,
    caveats: Vec<String>,
}

#[derive(Serialize)]
struct Note {
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl Note {
    fn of(note: &crate::error::Diagnostic) -> Self {
        Self { code: note.code, message: note.message.clone(), hint: note.hint.clone() }
    }
}

/// An object whose keys keep their order.
struct Ordered<T>(Vec<(String, T)>);

impl<T> Ordered<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// A number, `">horizon"`, or null where the sample is too small.
struct Number(Bound);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Bound::Value(value) => serializer.serialize_f64(value),
            Bound::BeyondHorizon => serializer.serialize_str(">horizon"),
            Bound::Unbounded => serializer.serialize_none(),
        }
    }
}

fn strategy(strategy: &StrategySummary) -> One<'_> {
    let outcomes = strategy.outcomes.iter().map(|of| {
        let share = numbers(&of.share, Unit::Share);
        (of.end.word().to_owned(), Share { replications: of.replications, share })
    });
    let metrics = strategy.metrics.iter().map(|of| (of.metric.to_string(), statistics(of)));
    One {
        strategy: &strategy.name,
        members: strategy.members,
        outcomes: Ordered(outcomes.collect()),
        metrics: Ordered(metrics.collect()),
        member_times: members(&strategy.member_times),
        campaigns: Ordered(strategy.campaigns.iter().map(campaign).collect()),
        update_times: Updates {
            completed: times(&strategy.update_times.completed),
            failed: times(&strategy.update_times.failed),
        },
    }
}

fn times(pooled: &Pooled) -> Times {
    let seconds = |millis: f64| number(millis / 1_000.0, Unit::Seconds);
    let quantile = |level: &Level| (level.to_string(), pooled.quantile(*level).map(seconds));
    #[expect(clippy::cast_precision_loss, reason = "exact up to 285,000 years")]
    let sum = pooled.sum() as f64;
    Times {
        count: pooled.count(),
        sum: seconds(sum),
        mean: pooled.mean().map(seconds),
        min: pooled.min().map(seconds),
        max: pooled.max().map(seconds),
        quantiles: Ordered(MEMBER_LEVELS.iter().map(quantile).collect()),
    }
}

fn campaign(campaign: &CampaignSummary) -> (String, Ordered<Measured>) {
    let metrics = campaign.metrics.iter().map(|of| (of.metric.to_string(), statistics(of)));
    (campaign.name.clone(), Ordered(metrics.collect()))
}

fn members(times: &MemberTimes) -> Members {
    let pooled = &times.done;
    let seconds = |millis: f64| number(millis / 1_000.0, Unit::Seconds);
    let quantile = |level: &Level| {
        let value = times.quantile(*level).map(seconds);
        (level.to_string(), Number(value.map_or(Bound::BeyondHorizon, Bound::Value)))
    };
    Members {
        done: pooled.count(),
        not_done: times.not_done,
        mean: pooled.mean().map(seconds),
        min: pooled.min().map(seconds),
        max: pooled.max().map(seconds),
        quantiles: Ordered(MEMBER_LEVELS.iter().map(quantile).collect()),
    }
}

fn statistics(of: &MetricSummary) -> Measured {
    let unit = of.metric.unit();
    let statistics = of.numbers.iter().map(|(name, e)| (name.to_string(), numbers(e, unit)));
    Measured {
        unit: match unit {
            Unit::Seconds => "seconds",
            Unit::Hours => "hours",
            Unit::Count => "count",
            Unit::Share => "share",
        },
        censored: can_be_censored(of.metric).then_some(of.numbers.censored),
        statistics: Ordered(statistics.collect()),
        caveats: of.numbers.caveats().iter().map(ToString::to_string).collect(),
    }
}

fn numbers(estimate: &Estimate, unit: Unit) -> Numbers {
    let rounded = |bound: Bound| {
        Number(bound.value().map_or(bound, |value| Bound::Value(number(value, unit))))
    };
    let interval = estimate.interval;
    Numbers {
        value: rounded(estimate.value),
        low: rounded(interval.map_or(Bound::Unbounded, |interval| interval.low)),
        high: rounded(interval.map_or(Bound::Unbounded, |interval| interval.high)),
        restricted: estimate.is_restricted(),
    }
}

fn difference<'a>(summary: &'a Summary, of: &Difference) -> Paired<'a> {
    let paired = &of.paired;
    let mut caveats: Vec<Caveat> =
        [&paired.mean, &paired.share_better].into_iter().flat_map(|e| e.caveats.clone()).collect();
    caveats.sort_unstable();
    caveats.dedup();
    Paired {
        strategy: &summary.strategies[of.strategy].name,
        reference: &summary.strategies[of.reference].name,
        metric: of.metric.to_string(),
        statistic: "mean",
        mean: numbers(&paired.mean, of.metric.unit()),
        share_better: numbers(&paired.share_better, Unit::Share),
        share_equal: paired.share_equal,
        variance_reduction: paired.variance_reduction,
        correlation: paired.correlation,
        caveats: caveats.iter().map(ToString::to_string).collect(),
    }
}

fn text(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("numbers and text are always JSON");
    text.push('\n');
    text
}
