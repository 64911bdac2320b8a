//! What `check` says: a line each for people, and the same for machines and for the pipelines that
//! run it.

mod machine;
mod pipeline;
mod text;

pub use machine::{csv, json, junit};
pub use pipeline::{Pipeline, annotations};
pub use text::{lines, markdown};

use std::fmt::Write as _;

use super::human;
use crate::error::Place;
use crate::experiment::checks::{Answer, Measure, Verdict};
use crate::experiment::drift::{Drift, Drifts};
use crate::experiment::{Experiment, Unit};
use crate::scenario::{self, Check};
use crate::stats::{Bound, Estimate};
use crate::time::{Span, Timestamp};

/// Everything that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The scenario's name.
    pub scenario: String,
    /// Its digest.
    pub digest: String,
    /// Its seed.
    pub seed: u64,
    /// Replications of each strategy; of checks that were settled earlier, at most.
    pub replications: usize,
    /// Whether replications were added until checks were settled.
    pub looks: bool,
    /// Whether they draw no random number.
    pub deterministic: bool,
    /// Whether undecided counts as failed.
    pub strict: bool,
    /// In what the baseline, if there is one, is of something else.
    pub differs: Vec<String>,
    /// The checks, then the drifts.
    pub rows: Vec<Row>,
}

/// One check or drift of one strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What became of it.
    pub verdict: Verdict,
    /// The strategy's name.
    pub strategy: String,
    /// The metric's name, as files spell it.
    pub metric: String,
    /// The statistic's name.
    pub statistic: String,
    /// The instant of `completedBy`.
    pub by: Option<Timestamp>,
    /// What was demanded.
    pub demand: Demand,
    /// The number and its interval; of `lessThan` and drift the difference.
    pub estimate: Estimate,
    /// Their unit.
    pub unit: Unit,
    /// The horizon, for what lies beyond.
    pub horizon: Span,
    /// The confidence of the interval, over all looks.
    pub confidence: f64,
    /// Replications of each strategy that it rests on.
    pub replications: usize,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Where it is demanded.
    pub place: Place,
}

/// What was demanded of a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// `atMost`
    AtMost(f64),
    /// `atLeast`
    AtLeast(f64),
    /// `lessThan`: the name of the other strategy.
    LessThan(String),
    /// That it does not differ from the baseline's number.
    NoDrift {
        /// The baseline's number.
        before: Bound,
        /// The number now.
        after: Bound,
        /// Whether replications were paired.
        paired: bool,
    },
}

impl Verdict {
    /// The word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "pass",
            Self::Fails => "fail",
            Self::Undecided => "undecided",
        }
    }
}

impl Checked {
    /// Puts answers and drifts together. A drift stands where its strategy does.
    pub fn of(
        experiment: &Experiment<'_>,
        (replications, looks): (usize, bool),
        strict: bool,
        answers: &[Answer<'_>],
        drifts: Option<&Drifts>,
    ) -> Self {
        let scenario = experiment.scenario;
        let places = &scenario.places;
        let answered = answers.iter().map(|answer| {
            let place = places.place(answer.question.check.at);
            Row::of_answer(answer, scenario.horizon, place)
        });
        let mut rows: Vec<Row> = answered.collect();
        for drift in drifts.iter().flat_map(|drifts| &drifts.found) {
            let paired = drifts.is_some_and(|drifts| drifts.paired);
            let index = scenario.strategies.iter().position(|s| s.name == drift.strategy);
            let index = index.expect("drift is looked for in the scenario's strategies");
            let place = places.place(places.strategies[index].at);
            rows.push(Row::of_drift(drift, (paired, replications), scenario.horizon, place));
        }
        Self {
            scenario: scenario.name.clone(),
            digest: scenario.digest.clone(),
            seed: scenario.seed,
            replications,
            looks,
            deterministic: experiment.is_deterministic(),
            strict,
            differs: drifts.map(|drifts| drifts.differs.clone()).unwrap_or_default(),
            rows,
        }
    }

    /// What the exit code says.
    pub fn verdict(&self) -> Verdict {
        match crate::experiment::checks::overall(self.rows.iter().map(|row| row.verdict)) {
            Verdict::Undecided if self.strict => Verdict::Fails,
            verdict => verdict,
        }
    }

    /// How many rows have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Whether a row makes the command fail.
    fn is_failure(&self, row: &Row) -> bool {
        row.verdict == Verdict::Fails || row.verdict == Verdict::Undecided && self.strict
    }

    /// `2 of 4 hold, 1 fails, 1 is undecided (1,000 replications each, seed 7, 95 % intervals)`.
    pub fn verdict_line(&self) -> String {
        let [hold, fail, open] =
            [Verdict::Holds, Verdict::Fails, Verdict::Undecided].map(|v| self.count(v));
        let mut text = match (self.rows.len(), hold) {
            (1, _) if hold == 1 => "the check holds".to_owned(),
            (1, _) if fail == 1 => "the check fails".to_owned(),
            (1, _) => "the check is undecided".to_owned(),
            (all, hold) if all == hold => format!("all {all} checks hold"),
            (all, 1) => format!("1 of {all} checks holds"),
            (all, hold) => format!("{hold} of {all} checks hold"),
        };
        let others = [(fail, "fails", "fail"), (open, "is undecided", "are undecided")];
        for (count, one, many) in others {
            if count > 0 && self.rows.len() > 1 {
                let verb = if count == 1 { one } else { many };
                write!(text, ", {count} {verb}").expect("strings take all");
            }
        }
        let strict = if open > 0 && self.strict { "; --strict: undecided is failed" } else { "" };
        format!("{text} ({}{strict})", self.luck())
    }

    fn luck(&self) -> String {
        match self.replications as u64 {
            _ if self.deterministic => "scripted: no luck is involved".to_owned(),
            1 => format!("1 replication, seed {}", self.seed),
            n => {
                let (up_to, looks) = if self.looks {
                    ("up to ", " that cover however often one looks")
                } else {
                    ("", "")
                };
                let (n, seed) = (human::thousands(n), self.seed);
                format!("{up_to}{n} replications each, seed {seed}, 95 % intervals{looks}")
            }
        }
    }
}

impl Row {
    fn of_answer(answer: &Answer<'_>, horizon: Span, place: Place) -> Self {
        let question = &answer.question;
        let check: &Check = question.check;
        Self {
            verdict: answer.verdict,
            strategy: question.strategy.to_owned(),
            metric: check.metric.clone(),
            statistic: question.statistic.to_string(),
            by: match question.measure {
                Measure::CompletedBy(by) => Some(by),
                Measure::Metric(_) => None,
            },
            demand: match &check.bound {
                scenario::Bound::AtMost(bound) => Demand::AtMost(*bound),
                scenario::Bound::AtLeast(bound) => Demand::AtLeast(*bound),
                scenario::Bound::LessThan(name) => Demand::LessThan(name.clone()),
            },
            estimate: answer.estimate.clone(),
            unit: question.measure.unit(),
            horizon,
            confidence: check.confidence,
            replications: answer.replications,
            notes: answer.notes.clone(),
            place,
        }
    }

    fn of_drift(
        drift: &Drift,
        (paired, replications): (bool, usize),
        horizon: Span,
        place: Place,
    ) -> Self {
        Self {
            verdict: drift.verdict,
            strategy: drift.strategy.clone(),
            metric: drift.metric.to_string(),
            statistic: drift.statistic.to_string(),
            by: None,
            demand: Demand::NoDrift { before: drift.before, after: drift.after, paired },
            estimate: drift.difference.clone(),
            unit: drift.metric.unit(),
            horizon,
            confidence: 0.95,
            replications,
            notes: drift.notes.clone(),
            place,
        }
    }

    /// Whether the number is a difference of two.
    fn is_difference(&self) -> bool {
        matches!(self.demand, Demand::LessThan(_) | Demand::NoDrift { .. })
    }
}
