//! Which strategy is best, and how sure that is (X7).

use super::human;
use super::summary::Summary;
use crate::experiment::{Experiment, Metric, Outcomes};
use crate::stats::{Confidence, Decision, Sample, Selection, SelectionError};

/// The procedure, as results name it.
pub const PROCEDURE: &str = "KN of Kim and Nelson 2001, \"A fully sequential procedure for \
                             indifference-zone selection in simulation\", ACM TOMACS 11(3), on \
                             means of batches of 10 paired replications";

/// What was asked, and the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// By this metric; smaller is better.
    pub metric: Metric,
    /// Differences below this do not matter, in the metric's unit.
    pub indifference: f64,
    /// The promised probability of a correct selection.
    pub confidence: Confidence,
    /// The answer; none where a world without luck decides by its values.
    decision: Option<Decision>,
    /// Without luck: the strategies of the smallest value.
    smallest: Vec<usize>,
}

impl Best {
    /// Asks which strategy has the smallest mean.
    ///
    /// # Errors
    /// If the indifference zone or the confidence make no sense.
    ///
    /// # Panics
    /// Without replications.
    pub fn of(
        experiment: &Experiment<'_>,
        outcomes: &Outcomes,
        (metric, indifference, confidence): (Metric, f64, Confidence),
    ) -> Result<Self, SelectionError> {
        let selection = Selection::new(indifference, confidence)?;
        let horizon = experiment.scenario.horizon;
        let samples: Vec<Sample> =
            outcomes.by_strategy.iter().map(|of| metric.sample(of, horizon)).collect();
        let systems: Vec<&Sample> = samples.iter().collect();
        let mut best =
            Self { metric, indifference, confidence, decision: None, smallest: Vec::new() };
        let certain = experiment.is_deterministic();
        if certain && samples.iter().all(|sample| sample.censored() == 0) {
            let first = |sample: &Sample| sample.observations()[0].value;
            let least = samples.iter().map(first).fold(f64::INFINITY, f64::min);
            let is_least = |index: &usize| first(&samples[*index]) <= least;
            best.smallest = (0..samples.len()).filter(is_least).collect();
        } else {
            best.decision = Some(selection.decide(&systems));
        }
        Ok(best)
    }

    /// Whether there is an answer.
    pub fn is_decided(&self) -> bool {
        self.strategy().is_some()
    }

    /// The best strategy; of several that are certainly equal the first.
    pub fn strategy(&self) -> Option<usize> {
        match &self.decision {
            None => self.smallest.first().copied(),
            Some(Decision::Best { system, .. }) => Some(*system),
            Some(_) => None,
        }
    }

    /// With how many replications it was decided.
    pub fn decided_with(&self) -> Option<usize> {
        match &self.decision {
            Some(Decision::Best { replications, .. }) => Some(*replications),
            _ => None,
        }
    }

    /// How many replications will do at the latest, while it is open.
    pub fn suffices(&self) -> Option<usize> {
        match &self.decision {
            Some(Decision::CannotTellYet { suffices, .. }) => Some(*suffices),
            Some(Decision::TooFew { needed }) => Some(*needed),
            _ => None,
        }
    }

    /// The answer in a sentence.
    pub fn verdict(&self, summary: &Summary) -> String {
        let metric = self.metric;
        let name = |index: usize| format!("`{}`", summary.strategies[index].name);
        let names = |list: &[usize]| list.iter().map(|i| name(*i)).collect::<Vec<_>>().join(", ");
        let (sure, zone) = (percent(self.confidence), self.zone());
        match &self.decision {
            None => match &self.smallest[..] {
                [only] => {
                    format!("best by {metric}: {}, for certain: no luck is involved", name(*only))
                }
                several => {
                    format!("best by {metric}: {} are equal, no luck is involved", names(several))
                }
            },
            Some(Decision::Best { system, replications: 0 }) => {
                format!("best by {metric}: {} is the only strategy", name(*system))
            }
            Some(Decision::Best { system, replications }) => format!(
                "best by {metric}: {}. If it is better than every other by {zone} or more, it is \
                 chosen with a probability of at least {sure} (decided with {} replications)",
                name(*system),
                human::thousands(*replications as u64)
            ),
            Some(Decision::CannotTellYet { surviving, .. }) => format!(
                "best by {metric}: can't tell yet with {} replications: {} are left",
                human::thousands(summary.replications as u64),
                names(surviving)
            ),
            Some(Decision::TooFew { .. }) => format!(
                "best by {metric}: can't tell yet: {} replications are too few to know how much \
                 luck matters",
                human::thousands(summary.replications as u64)
            ),
            Some(Decision::Censored { system, censored, n }) => format!(
                "best by {metric}: can't tell: of {}, {} of {} runs are cut off by the horizon, \
                 over 1 %",
                name(*system),
                human::thousands(*censored as u64),
                human::thousands(*n as u64)
            ),
        }
    }

    /// The verdict, what would help, and by which procedure it was reached.
    pub fn lines(&self, summary: &Summary) -> Vec<String> {
        let mut lines = vec![self.verdict(summary)];
        match &self.decision {
            Some(Decision::CannotTellYet { suffices, .. }) => lines.push(format!(
                "  hint: -n {suffices} will do at the latest; so may an --indifference above {}",
                self.zone()
            )),
            Some(Decision::TooFew { needed }) => {
                lines.push(format!("  hint: it takes -n {needed} at the least"));
            }
            Some(Decision::Censored { .. }) => lines.push(
                "  hint: use a longer `horizon`, see why runs do not end (`outcome`), or ask for \
                 another metric"
                    .to_owned(),
            ),
            None | Some(Decision::Best { .. }) => {}
        }
        if self.decision.is_some() {
            lines.push(format!("  smaller is better; by the procedure {PROCEDURE}"));
        }
        lines
    }

    fn zone(&self) -> String {
        human::amount(self.indifference, self.metric.unit())
    }
}

/// A confidence as people write it: `95 %`, `99.9 %`.
fn percent(confidence: Confidence) -> String {
    let percent = (confidence.level() * 1e6).round() / 1e4;
    format!("{percent} %")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failing, lucky, scripted, simulate};
    use super::*;
    use crate::stats::Confidence;

    fn ask(text: &str, n: u32, metric: Metric, zone: f64) -> (Best, Vec<String>) {
        simulate(text, (n, 1), |experiment, outcomes, summary| {
            let asked = (metric, zone, Confidence::DEFAULT);
            let best = Best::of(experiment, outcomes, asked).unwrap();
            let lines = best.lines(summary);
            (best, lines)
        })
    }

    /// Three hours of waiting, or two members fewer at once, against the same.
    fn designed(other: &str) -> String {
        let stage = |name: &str, at_once: u32, wait: u32| {
            format!(
                "  - {{name: {name}, stages: [{{name: all, maxAllowedFailures: 30, groups: [{{name: \
                 canary, maxConcurrency: {at_once}, maxAllowedFailures: 30}}], \
                 afterStageWaitInSeconds: {wait}}}]}}\n"
            )
        };
        let text = lucky();
        let (head, rest) = text.split_once("  - name: staged").unwrap();
        let (_, tail) = rest.split_once("world:").unwrap();
        let other = match other {
            "slower" => stage("slower", 3, 3 * 3_600),
            _ => stage("alike", 4, 0),
        };
        format!("{head}{}{other}world:{tail}", stage("plain", 3, 0))
    }

    #[test]
    fn x7_a_clear_winner_is_named_with_its_probability_and_the_paper() {
        let (best, lines) = ask(&designed("slower"), 200, Metric::Makespan, 3_600.0);
        assert_eq!(best.strategy(), Some(0), "{lines:?}");
        assert!(lines[0].contains("`plain`") && lines[0].contains("95 %"), "{lines:?}");
        assert!(lines[1].contains("Kim and Nelson 2001"), "{lines:?}");
        assert_eq!(best.decided_with(), Some(200));
    }

    #[test]
    fn x7_can_t_tell_yet_says_what_would_do() {
        let (best, lines) = ask(&designed("slower"), 60, Metric::Makespan, 3_600.0);
        assert!(!best.is_decided());
        assert_eq!(best.suffices(), Some(200));
        assert!(lines[0].contains("can't tell yet") && lines[1].contains("-n 200"), "{lines:?}");
        let (best, lines) = ask(&designed("alike"), 200, Metric::TimeTo(50), 1.0);
        assert_eq!(best.strategy(), None, "{lines:?}");
        assert!(best.suffices().unwrap() > 200 && lines[0].contains("are left"), "{lines:?}");
    }

    #[test]
    fn x7_over_one_percent_censored_it_can_t_tell() {
        let (best, lines) = ask(&lucky(), 200, Metric::Makespan, 3_600.0);
        assert!(!best.is_decided() && best.suffices().is_none());
        assert!(lines[0].contains("of `one-by-one`") && lines[0].contains("cut off"), "{lines:?}");
        let (best, lines) = ask(&failing(), 3, Metric::Makespan, 3_600.0);
        assert!(!best.is_decided(), "{lines:?}");
    }

    #[test]
    fn x7_without_luck_one_replication_tells() {
        let (best, lines) = ask(&scripted(), 1, Metric::Makespan, 1.0);
        assert_eq!(best.strategy(), Some(1));
        assert!(lines[0].contains("`together`, for certain"), "{lines:?}");
        let (_, lines) = ask(&scripted(), 1, Metric::FailedMembers, 1.0);
        assert!(lines[0].contains("`one`, `together` are equal"), "{lines:?}");
    }

    #[test]
    fn x7_a_zone_or_confidence_without_sense_is_refused() {
        simulate(&scripted(), (1, 1), |experiment, outcomes, _| {
            let of = |zone, level| {
                let confidence = Confidence::new(level).unwrap();
                Best::of(experiment, outcomes, (Metric::Makespan, zone, confidence)).unwrap_err()
            };
            assert_eq!(of(0.0, 0.95), SelectionError::Indifference);
            assert_eq!(of(1.0, 0.4), SelectionError::Confidence);
        });
    }
}
