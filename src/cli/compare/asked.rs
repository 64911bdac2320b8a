//! What `compare` may be asked beside its table: a precision (X6), and which strategy is best (X7).

use clap::Args;
use fleetsim::error::Diagnostic;
use fleetsim::experiment::{Experiment, Goal, Metric, Outcomes, Reached, Unit};
use fleetsim::report::best::Best;
use fleetsim::report::human;
use fleetsim::report::summary::Summary;
use fleetsim::stats::{Confidence, Exemption, Precision, Selection};
use fleetsim::time::Span;

use crate::cli::simulating::MOST_REPLICATIONS;
use crate::cli::{Console, Exit, words};

/// Where `--precision` gives up.
pub(in crate::cli) const MOST: u32 = 100_000;

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Add replications until the intervals of the headline numbers are within this share of their
    /// values: makespan mean and p95, timeTo90 p50, updatedMembers mean
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    precision: Option<f64>,
    /// Where --precision gives up [default: -n if given, else 100000]
    #[arg(long, value_name = "N", requires = "precision")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_REPLICATIONS))]
    max_replications: Option<u32>,
    /// Say which strategy has the smallest mean of this metric, as with makespan
    #[arg(long, value_name = "METRIC", requires = "indifference")]
    best: Option<Metric>,
    /// Differences below this do not matter to --best: a duration such as 12h, or a number
    #[arg(long, value_name = "DELTA", requires = "best")]
    indifference: Option<String>,
    /// The probability with which --best is right
    #[arg(long, value_name = "P", default_value_t = 0.95, requires = "best")]
    confidence: f64,
}

impl Asked {
    /// What can be wrong before anything is simulated.
    ///
    /// # Errors
    /// If the selection makes no sense.
    pub(crate) fn check(&self) -> Result<(), Diagnostic> {
        let Some((_, zone, confidence)) = self.selection()? else { return Ok(()) };
        let wrong =
            |why: fleetsim::stats::SelectionError| Diagnostic::error("best", why.to_string());
        Selection::new(zone, confidence).map(drop).map_err(wrong)
    }

    /// The precision that was asked for.
    pub(crate) fn target(&self) -> Option<f64> {
        self.precision
    }

    /// How long replications are added, if they are.
    pub(crate) fn goal(&self, replications: Option<u32>) -> Option<Goal> {
        let most = self.max_replications.or(replications).unwrap_or(MOST);
        self.precision.map(|target| Goal { target, confidence: Confidence::DEFAULT, most })
    }

    /// Metric, indifference zone in its unit, and confidence.
    fn selection(&self) -> Result<Option<(Metric, f64, Confidence)>, Diagnostic> {
        let (Some(metric), Some(zone)) = (self.best, &self.indifference) else { return Ok(None) };
        let confidence = Confidence::new(self.confidence).ok_or_else(|| {
            let message = format!("--confidence {} is not between 0 and 1", self.confidence);
            Diagnostic::error("best", message).hint("write --confidence 0.95, say")
        })?;
        let value = match metric.unit() {
            Unit::Seconds => zone.parse::<Span>().ok().map(Span::as_secs_f64),
            Unit::Hours => zone.parse::<Span>().ok().map(|span| span.as_secs_f64() / 3_600.0),
            Unit::Count | Unit::Share => zone.parse::<f64>().ok().filter(|zone| zone.is_finite()),
        };
        let value = value.ok_or_else(|| {
            let (what, example) = match metric.unit() {
                Unit::Seconds | Unit::Hours => ("a duration", "12h"),
                Unit::Count => ("a number", "0.5"),
                Unit::Share => ("a share", "0.01"),
            };
            let message = format!("--indifference {zone} is not {what}, and {metric} is one");
            Diagnostic::error("best", message).hint(format!("write --indifference {example}, say"))
        })?;
        Ok(Some((metric, value, confidence)))
    }

    /// Which strategy is best, if that was asked.
    ///
    /// # Errors
    /// Whatever [`Self::check`] says.
    pub(crate) fn best(
        &self,
        experiment: &Experiment<'_>,
        outcomes: &Outcomes,
    ) -> Result<Option<Best>, Diagnostic> {
        let Some(asked) = self.selection()? else { return Ok(None) };
        let best = Best::of(experiment, outcomes, asked);
        best.map(Some).map_err(|why| Diagnostic::error("best", why.to_string()))
    }

    /// Says on stderr how precise the results are; whether all that was asked is answered.
    pub(crate) fn tell(&self, summary: &Summary, console: &Console) -> Exit {
        let undecided = summary.best.as_ref().is_some_and(|best| !best.is_decided());
        let unmet = self.precision.is_some_and(|target| !is_met(target, summary, console));
        if undecided || unmet { Exit::Undecided } else { Exit::Fine }
    }
}

/// Whether all headline numbers are precise enough, which is said on stderr.
fn is_met(target: f64, summary: &Summary, console: &Console) -> bool {
    let reached = summary.precision(target);
    let named = |of: &Reached| {
        format!("`{}` {} {}", summary.strategies[of.strategy].name, of.metric, of.statistic)
    };
    for of in &reached {
        let why = match of.precision {
            Precision::Exempt(Exemption::Zero) => "it is 0",
            Precision::Exempt(Exemption::Censored) => "the horizon cuts it off",
            Precision::Exempt(Exemption::Constant) => "all replications give the same",
            Precision::Met { .. } | Precision::Unmet { .. } => continue,
        };
        console.say(&format!("precision: {} is exempt: {why}", named(of)));
    }
    let done = words::count(summary.replications as u64, "replication");
    // 1 − 0.05 is not quite 0.95.
    let percent = |share: f64| (share * 1e6).round() / 1e4;
    let target = percent(target);
    let mut unmet = reached.iter().filter(|of| of.is_unmet()).peekable();
    if unmet.peek().is_none() {
        console.say(&format!(
            "precision: {target} % is reached with {done}; intervals are of {} %, so that they \
             cover with 95 % however often one looks (alpha spending over geometric looks: Lan \
             and DeMets 1983; Mnih, Szepesvari and Audibert 2008)",
            percent(summary.confidence.level())
        ));
        return true;
    }
    for of in unmet {
        let half = match of.precision {
            Precision::Unmet { relative: Some(relative) } => {
                format!("± {}", human::percent(relative))
            }
            _ => "its interval is open".to_owned(),
        };
        console.always(&format!(
            "precision: {} is not within {target} % after {done}: {half}",
            named(of)
        ));
    }
    console.always("  hint: raise --max-replications, or ask for less");
    false
}

/// `2%`, or `0.02`.
pub(in crate::cli) fn percent(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number / scale);
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "a precision is written 2%, above 0 % and below 100 %".to_owned())
}
