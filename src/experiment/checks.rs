//! `checks`: whether what a scenario demands holds, as far as its replications can tell.
//!
//! A check is understood before anything is simulated ([`questions`]) and answered once, at the
//! final number of replications ([`Question::answer`]), or look by look ([`Experiment::decide`]),
//! by a two-sided confidence interval: it holds if the whole interval lies on the right side of the
//! bound, fails if the whole interval lies on the wrong one, and is undecided otherwise (X4). What
//! the horizon cut off is never counted as good news (X5).

mod decide;

pub use decide::{Decided, Until};

use super::{Experiment, Metric, Outcomes, Unit};
use crate::error::Diagnostic;
use crate::scenario::{self, Check, Scenario};
use crate::sim::Outcome;
use crate::stats::{
    Better, Bound, Caveat, Confidence, Estimate, Interval, Level, Observation, PairedDifference,
    Sample, Statistic, proportion,
};
use crate::time::{Span, Timestamp};

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval is on the right side of the bound.
    Holds,
    /// The whole interval is on the wrong side.
    Fails,
    /// Neither, or there is no interval.
    Undecided,
}

/// What is looked at in each replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A metric.
    Metric(Metric),
    /// Whether the run has ended (Completed or Skipped) before an instant: 0 or 1.
    CompletedBy(Timestamp),
}

impl Measure {
    /// The unit of its values.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Metric(metric) => metric.unit(),
            Self::CompletedBy(_) => Unit::Share,
        }
    }
}

/// One check of one strategy, understood and not yet answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question<'s> {
    /// The check.
    pub check: &'s Check,
    /// The strategy's name.
    pub strategy: &'s str,
    /// What it is compared with (`lessThan`), another strategy.
    pub reference: Option<&'s str>,
    /// What is looked at.
    pub measure: Measure,
    /// Which statistic of it.
    pub statistic: Statistic,
    confidence: Confidence,
    /// Whether it may be asked again with more replications.
    looks: bool,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'s> {
    /// The question.
    pub question: Question<'s>,
    /// The statistic with its interval; of `lessThan` the difference, strategy less reference. Its
    /// interval is open where the horizon hides the truth.
    pub estimate: Estimate,
    /// What the interval says.
    pub verdict: Verdict,
    /// Replications of each strategy that it rests on.
    pub replications: usize,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Understands all checks of a scenario, which its variants share: a question for each check and
/// candidate, in the order of the checks, then of the candidates.
///
/// # Errors
/// For every check that asks for what does not exist: it is never a pass.
///
/// # Panics
/// Without a scenario.
pub fn questions(variants: &[Scenario]) -> Result<Vec<Question<'_>>, Vec<Diagnostic>> {
    let scenario = variants.first().expect("a scenario is a variant of itself");
    let (mut questions, mut errors) = (Vec::new(), Vec::new());
    for check in &scenario.checks {
        match understood(check, variants) {
            Ok(found) => questions.extend(found),
            Err(error) => errors.push(error.at(scenario.places.place(check.at))),
        }
    }
    if errors.is_empty() { Ok(questions) } else { Err(errors) }
}

fn understood<'s>(
    check: &'s Check,
    variants: &'s [Scenario],
) -> Result<Vec<Question<'s>>, Diagnostic> {
    let measure = measure(check, variants)?;
    let statistic = statistic(check, measure)?;
    let reference = match &check.bound {
        scenario::Bound::LessThan(name) => Some(name.as_str()),
        scenario::Bound::AtMost(_) | scenario::Bound::AtLeast(_) => None,
    };
    let confidence = Confidence::new(check.confidence).expect("the reader checks confidences");
    let names = variants[0].candidates.iter().map(String::as_str);
    let questions = names
        .filter(|name| check.strategy.as_ref().is_none_or(|wanted| wanted == name))
        .filter(|name| reference != Some(*name))
        .map(|strategy| Question {
            check,
            strategy,
            reference,
            measure,
            statistic,
            confidence,
            looks: false,
        });
    let questions: Vec<_> = questions.collect();
    if questions.is_empty() {
        let message = "a strategy cannot be less than itself";
        let hint = "name another strategy in `strategy` or in `lessThan`";
        return Err(Diagnostic::error("conflict", message).hint(hint));
    }
    Ok(questions)
}

fn measure(check: &Check, variants: &[Scenario]) -> Result<Measure, Diagnostic> {
    if let Some(by) = check.by {
        return Ok(Measure::CompletedBy(by));
    }
    if let (Ok(Metric::Change(metric)), true) =
        (check.metric.parse(), variants.iter().all(|scenario| scenario.campaigns.is_empty()))
    {
        let message = format!("`{metric}` is measured of configuration changes; there are none");
        return Err(Diagnostic::error("unknown-metric", message)
            .hint("write `configurationChanges`, or check another metric"));
    }
    check.metric.parse().map(Measure::Metric).map_err(|_: String| {
        let message =
            format!("`{}` is not measured by this version; it cannot be checked", check.metric);
        let names: Vec<String> = Metric::columns().map(|metric| metric.to_string()).collect();
        Diagnostic::error("unknown-metric", message)
            .hint(format!("measured are {}, outcome.Completed and the like", names.join(", ")))
    })
}

fn statistic(check: &Check, measure: Measure) -> Result<Statistic, Diagnostic> {
    let probability = match check.statistic {
        scenario::Statistic::Mean => return Ok(Statistic::Mean),
        scenario::Statistic::Quantile(probability) => probability,
    };
    if measure.unit() == Unit::Share {
        let message = format!("`{}` is a share of the replications: it has no p…", check.metric);
        return Err(Diagnostic::error("unknown-statistic", message)
            .hint("leave `statistic` out, or write `statistic: mean`: the mean is the share"));
    }
    let points = (probability * 10_000.0).round();
    let exact = (probability * 10_000.0 - points).abs() < 1e-6;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..=10,000")]
    let level = Level::from_basis_points(points.clamp(0.0, 10_000.0) as u16);
    level.filter(|_| exact).map(Statistic::Quantile).ok_or_else(|| {
        let message = "a quantile lies between p0.01 and p99.99, in steps of 0.01";
        Diagnostic::error("unknown-statistic", message).hint("write p99.9, say")
    })
}

impl<'s> Question<'s> {
    /// Answers it from an experiment that simulated its strategies.
    ///
    /// # Panics
    /// If the experiment lacks one of them, or has no replications.
    pub fn answer(&self, experiment: &Experiment<'_>, outcomes: &Outcomes) -> Answer<'s> {
        let luck = !experiment.is_deterministic();
        let side = |name: &str| {
            let position = experiment.plans.iter().position(|plan| plan.strategy == name);
            let position = position.expect("the strategy was simulated");
            let (outcomes, clock) =
                (&outcomes.by_strategy[position][..], Clock::of(experiment.scenario_of(position)));
            Side { measure: self.measure, outcomes, clock, luck }
        };
        let (side, reference) = (side(self.strategy), self.reference.map(side));
        let (estimate, mut notes) = match reference {
            None => side.estimate(self.statistic, self.confidence),
            Some(reference) => side.less(&reference, self.statistic, self.confidence),
        };
        let horizon = side.clock.horizon.as_secs_f64();
        let verdict = decide(&self.check.bound, estimate.interval, horizon);
        notes.splice(0..0, told(&estimate.caveats));
        // More replications do not look beyond the horizon.
        if verdict == Verdict::Undecided && side.unknown() == 0 {
            notes.extend(self.more_replications(&estimate, side.outcomes.len()));
        }
        let replications = side.outcomes.len();
        Answer { question: *self, estimate, verdict, replications, notes }
    }

    /// The number of replications that would decide, if the value stays: intervals shrink with
    /// their square root.
    fn more_replications(&self, estimate: &Estimate, n: usize) -> Option<String> {
        let bound = match self.check.bound {
            scenario::Bound::AtMost(bound) | scenario::Bound::AtLeast(bound) => bound,
            scenario::Bound::LessThan(_) => 0.0,
        };
        let (value, interval) = (estimate.value.value()?, estimate.interval?);
        let (low, high) = (interval.low.value()?, interval.high.value()?);
        if high <= low {
            return None;
        }
        let half = if value < bound { high - value } else { value - low };
        let ratio = half / (value - bound).abs();
        #[expect(clippy::cast_precision_loss, reason = "replications stay below 2^53")]
        let needed = n as f64 * ratio * ratio * 1.1;
        Some(if needed < 10_000_000.0 {
            let option = if self.looks { "--max-replications" } else { "-n" };
            format!("undecided at this n; about {option} {} would decide it", rounded_up(needed))
        } else {
            "the value is too near to the bound for replications to decide".to_owned()
        })
    }
}

/// The next number with two digits that count.
fn rounded_up(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^7")]
    let value = value.ceil() as u64;
    let unit = 10_u64.pow(value.max(1).ilog10().saturating_sub(1));
    value.div_ceil(unit) * unit
}

/// Caveats as notes. That many runs agree is no news.
pub(super) fn told(caveats: &[Caveat]) -> Vec<String> {
    let news = |caveat: &&Caveat| !matches!(caveat, Caveat::Constant { n } if *n >= 100);
    caveats.iter().filter(news).map(ToString::to_string).collect()
}

/// Where the interval lies to the bound. Bounds include themselves; a quantile beyond the horizon
/// is larger than the horizon, nobody knows by how much.
fn decide(bound: &scenario::Bound, interval: Option<Interval>, horizon: f64) -> Verdict {
    let Some(Interval { low, high }) = interval else { return Verdict::Undecided };
    let is_above = |bound: f64| match low {
        Bound::Value(low) => low > bound,
        Bound::BeyondHorizon => horizon >= bound,
        Bound::Unbounded => false,
    };
    let reaches = |bound: f64| match low {
        Bound::Value(low) => low >= bound,
        Bound::BeyondHorizon | Bound::Unbounded => is_above(bound),
    };
    let high = high.value();
    let (holds, fails) = match bound {
        scenario::Bound::AtMost(bound) => {
            (high.is_some_and(|high| high <= *bound), is_above(*bound))
        }
        scenario::Bound::AtLeast(bound) => {
            (reaches(*bound), high.is_some_and(|high| high < *bound))
        }
        scenario::Bound::LessThan(_) => (high.is_some_and(|high| high < 0.0), reaches(0.0)),
    };
    match (holds, fails) {
        (true, _) => Verdict::Holds,
        (false, true) => Verdict::Fails,
        (false, false) => Verdict::Undecided,
    }
}

/// The part of time that was simulated.
#[derive(Debug, Clone, Copy)]
struct Clock {
    start: Timestamp,
    horizon: Span,
}

impl Clock {
    fn of(scenario: &Scenario) -> Self {
        Self { start: scenario.start, horizon: scenario.horizon }
    }
}

/// What one strategy's replications say.
#[derive(Debug, Clone, Copy)]
struct Side<'a> {
    measure: Measure,
    outcomes: &'a [Outcome],
    clock: Clock,
    luck: bool,
}

impl Side<'_> {
    /// The metric's observations; `completedBy` counts what is not known as not completed.
    fn sample(&self) -> Sample {
        let observe = |outcome: &Outcome| match self.measure {
            Measure::Metric(metric) => metric.of(outcome, self.clock.horizon),
            Measure::CompletedBy(by) => {
                let ended = outcome.makespan.map(|makespan| self.clock.start + makespan);
                Observation::exact(if ended.is_some_and(|at| at < by) { 1.0 } else { 0.0 })
            }
        };
        Sample::new(self.outcomes.iter().map(observe).collect())
    }

    /// Replications that the horizon cut off before the instant of `completedBy`.
    fn unknown(&self) -> usize {
        match self.measure {
            Measure::CompletedBy(by) if by > self.clock.start + self.clock.horizon => {
                self.outcomes.iter().filter(|outcome| outcome.makespan.is_none()).count()
            }
            Measure::CompletedBy(_) | Measure::Metric(_) => 0,
        }
    }

    fn estimate(&self, statistic: Statistic, confidence: Confidence) -> (Estimate, Vec<String>) {
        let sample = self.sample();
        if self.measure.unit() == Unit::Share {
            return self.share(&sample, confidence);
        }
        let mut estimate = of_sample(&sample, self.luck, statistic, confidence);
        let mut notes = Vec::new();
        if let Some(interval) = estimate.interval.as_mut().filter(|_| is_cut(&sample, statistic)) {
            interval.high = Bound::Unbounded;
            notes.push("a restricted mean is a lower bound of the true one".to_owned());
        }
        (estimate, notes)
    }

    /// A share with Wilson's interval. Replications of which it is not known count as no for its
    /// lower end, and as yes for its upper one.
    fn share(&self, sample: &Sample, confidence: Confidence) -> (Estimate, Vec<String>) {
        let yes = sample.observations().iter().filter(|o| o.value > 0.5).count();
        let (n, unknown) = (sample.len(), self.unknown());
        let share = |yes: usize| {
            let share = proportion(yes, n, confidence).expect("there are replications");
            match share.value {
                Bound::Value(value) if !self.luck => Estimate::certain(value),
                _ => share,
            }
        };
        let (mut low, high) = (share(yes), share(yes + unknown));
        let mut notes = Vec::new();
        if unknown > 0 {
            if let (Some(interval), Some(best)) = (&mut low.interval, high.interval) {
                interval.high = best.high;
            }
            notes.push(format!(
                "{unknown} of {n} runs were cut off at the horizon, which is before `by`: they may \
                 be either; use a longer horizon"
            ));
        }
        (low, notes)
    }

    /// This side less the reference.
    fn less(
        &self,
        reference: &Self,
        statistic: Statistic,
        confidence: Confidence,
    ) -> (Estimate, Vec<String>) {
        let (this, other) = (self.sample(), reference.sample());
        if statistic != Statistic::Mean {
            let half = halved(confidence);
            let [a, b] = [&this, &other].map(|side| of_sample(side, self.luck, statistic, half));
            let horizon = self.clock.horizon.as_secs_f64();
            let mut notes = told(&a.caveats);
            notes.extend(
                told(&b.caveats).into_iter().filter(|note| !told(&a.caveats).contains(note)),
            );
            if self.luck {
                notes.push(UNPAIRED_QUANTILES.to_owned());
            }
            return (apart(&a, &b, [horizon; 2]), notes);
        }
        let paired = PairedDifference::of(&this, &other, Better::Smaller, confidence);
        let mut estimate = paired.expect("there are replications").mean;
        if !self.luck {
            estimate.interval = Some(Interval { low: estimate.value, high: estimate.value });
            estimate.caveats.retain(|c| matches!(c, Caveat::RestrictedDifference { .. }));
        }
        let mut notes = Vec::new();
        if this.censored() > 0 && other.censored() > 0 {
            notes.push(
                "both sides were cut off, so the difference of the true means is not bounded; \
                 compare a quantile such as p50"
                    .to_owned(),
            );
        }
        if let Some(interval) = &mut estimate.interval {
            // The truth is larger than what was cut off.
            if this.censored() > 0 || self.unknown() > 0 {
                interval.high = Bound::Unbounded;
            }
            if other.censored() > 0 || reference.unknown() > 0 {
                interval.low = Bound::Unbounded;
            }
        }
        if self.unknown() + reference.unknown() > 0 {
            notes.push("runs were cut off at the horizon, which is before `by`".to_owned());
        }
        (estimate, notes)
    }
}

/// How quantiles of two strategies are compared.
pub const UNPAIRED_QUANTILES: &str = "quantiles are compared by their two intervals, each at \
    half of the allowed error: valid, but wider than a paired comparison";

/// Whether a statistic is a restricted mean.
fn is_cut(sample: &Sample, statistic: Statistic) -> bool {
    statistic == Statistic::Mean && sample.censored() > 0
}

/// Two intervals at this confidence hold together at the whole one (Bonferroni), however their
/// samples depend on each other.
pub(super) fn halved(confidence: Confidence) -> Confidence {
    Confidence::from_miss(0.5 * confidence.miss()).expect("half of a probability is one")
}

/// A statistic with its interval; without luck, that of the first replication, as a point.
pub(super) fn of_sample(
    sample: &Sample,
    luck: bool,
    statistic: Statistic,
    confidence: Confidence,
) -> Estimate {
    if luck {
        return statistic.of(sample, confidence).expect("there are replications");
    }
    let Observation { value, censored } = sample.observations()[0];
    let mut estimate = Estimate::certain(value);
    if let (true, Statistic::Quantile(level)) = (censored, statistic) {
        let beyond = Bound::BeyondHorizon;
        estimate.value = beyond;
        estimate.interval = Some(Interval { low: beyond, high: beyond });
        estimate.caveats.push(Caveat::BeyondHorizon { level, censored: 1, n: 1 });
    } else if censored {
        estimate.caveats.push(Caveat::RestrictedMean { censored: 1, n: 1 });
    }
    estimate
}

/// The difference of two statistics from their two intervals. An end is open where an interval is,
/// or where the horizon hides how far apart they are.
pub(super) fn apart(a: &Estimate, b: &Estimate, horizons: [f64; 2]) -> Estimate {
    let value = match (a.value, b.value) {
        (Bound::Value(a), Bound::Value(b)) => Bound::Value(a - b),
        _ => Bound::Unbounded,
    };
    let interval = a.interval.zip(b.interval).map(|(of_a, of_b)| Interval {
        low: match (of_a.low, of_b.high) {
            (Bound::Value(low), Bound::Value(high)) => Bound::Value(low - high),
            (Bound::BeyondHorizon, Bound::Value(high)) => Bound::Value(horizons[0] - high),
            _ => Bound::Unbounded,
        },
        high: match (of_a.high, of_b.low) {
            (Bound::Value(high), Bound::Value(low)) => Bound::Value(high - low),
            (Bound::Value(high), Bound::BeyondHorizon) => Bound::Value(high - horizons[1]),
            _ => Bound::Unbounded,
        },
    });
    Estimate { value, interval, caveats: Vec::new() }
}

/// What decides the exit code: anything that fails, else anything undecided.
pub fn overall(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().fold(Verdict::Holds, |worst, verdict| match (worst, verdict) {
        (Verdict::Fails, _) | (_, Verdict::Fails) => Verdict::Fails,
        (Verdict::Undecided, _) | (_, Verdict::Undecided) => Verdict::Undecided,
        (Verdict::Holds, Verdict::Holds) => Verdict::Holds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Bound as Demand;

    const HORIZON: f64 = 60.0;

    fn verdict(bound: &Demand, low: Bound, high: Bound) -> Verdict {
        decide(bound, Some(Interval { low, high }), HORIZON)
    }

    #[test]
    fn bounds_include_themselves_and_less_does_not() {
        use Verdict::{Fails, Holds, Undecided};
        let v = Bound::Value;
        for (low, high, at_most, at_least, less) in [
            (9.0, 9.5, Holds, Fails, Fails),
            (9.0, 10.0, Holds, Undecided, Fails),
            (9.0, 11.0, Undecided, Undecided, Fails),
            (10.0, 10.0, Holds, Holds, Fails),
            (10.0, 11.0, Undecided, Holds, Fails),
            (10.5, 11.0, Fails, Holds, Fails),
            (-1.0, 1.0, Holds, Fails, Undecided),
            (-1.0, 0.0, Holds, Fails, Undecided),
            (-2.0, -1.0, Holds, Fails, Holds),
            (0.0, 0.0, Holds, Fails, Fails),
        ] {
            let found = [Demand::AtMost(10.0), Demand::AtLeast(10.0), Demand::LessThan("x".into())]
                .map(|bound| verdict(&bound, v(low), v(high)));
            assert_eq!(found, [at_most, at_least, less], "{low} to {high}");
        }
        assert_eq!(decide(&Demand::AtMost(1.0), None, HORIZON), Undecided);
    }

    #[test]
    fn x5_what_lies_beyond_the_horizon_is_larger_than_it() {
        let beyond = Bound::BeyondHorizon;
        let (at_most, at_least) = (Demand::AtMost, Demand::AtLeast);
        assert_eq!(verdict(&at_most(30.0), beyond, beyond), Verdict::Fails);
        assert_eq!(verdict(&at_most(60.0), beyond, beyond), Verdict::Fails);
        assert_eq!(verdict(&at_most(61.0), beyond, beyond), Verdict::Undecided);
        assert_eq!(verdict(&at_least(60.0), beyond, beyond), Verdict::Holds);
        assert_eq!(verdict(&at_least(61.0), beyond, beyond), Verdict::Undecided);
        let (low, open) = (Bound::Value(20.0), Bound::Unbounded);
        assert_eq!(verdict(&at_most(30.0), low, open), Verdict::Undecided);
        assert_eq!(verdict(&at_most(10.0), low, open), Verdict::Fails);
        assert_eq!(verdict(&at_least(30.0), open, low), Verdict::Fails);
        assert_eq!(verdict(&at_least(20.0), low, open), Verdict::Holds);
    }

    #[test]
    fn differences_of_intervals_are_as_wide_as_both() {
        let of = |value, low, high| Estimate {
            value: Bound::Value(value),
            interval: Some(Interval::of(low, high)),
            caveats: Vec::new(),
        };
        let found = apart(&of(5.0, 4.0, 7.0), &of(9.0, 8.0, 10.0), [HORIZON; 2]);
        assert_eq!(found.value, Bound::Value(-4.0));
        assert_eq!(found.interval, Some(Interval::of(-6.0, -1.0)));
        let beyond = Interval { low: Bound::BeyondHorizon, high: Bound::BeyondHorizon };
        let beyond = Estimate { interval: Some(beyond), ..of(60.0, 0.0, 0.0) };
        let ends = apart(&of(5.0, 4.0, 7.0), &beyond, [HORIZON; 2]).interval.unwrap();
        assert_eq!((ends.low, ends.high), (Bound::Unbounded, Bound::Value(-53.0)));
        let ends = apart(&beyond, &of(5.0, 4.0, 7.0), [HORIZON; 2]).interval.unwrap();
        assert_eq!((ends.low, ends.high), (Bound::Value(53.0), Bound::Unbounded));
        let ends = apart(&beyond, &beyond, [HORIZON; 2]).interval.unwrap();
        assert_eq!((ends.low, ends.high), (Bound::Unbounded, Bound::Unbounded));
    }

    #[test]
    fn one_failure_outweighs_all_and_undecided_outweighs_holding() {
        use Verdict::{Fails, Holds, Undecided};
        assert_eq!(overall([]), Holds);
        assert_eq!(overall([Holds, Undecided, Holds]), Undecided);
        assert_eq!(overall([Undecided, Fails, Holds]), Fails);
        assert_eq!(overall([Fails, Undecided]), Fails);
    }

    #[test]
    fn needed_replications_are_round_numbers() {
        let found = [0.4, 7.0, 99.5, 101.0, 12_345.0, 130_000.0].map(rounded_up);
        assert_eq!(found, [1, 7, 100, 110, 13_000, 130_000]);
    }
}
