//! Replications until checks are decided: X6's looks, and their method.
//!
//! A check is judged at each look by an interval whose allowed miss is the look's share of the
//! check's own ([`spent`]), and settled for good at the first look that decides it. All looks
//! together miss no more often than the check's confidence allows, so neither does the verdict,
//! however often one looks.

use super::{Answer, Question, Verdict, decide};
use crate::experiment::{Effort, Experiment, Outcomes};
use crate::stats::{
    Bound, Confidence, Interval, Look, Precision, Statistic, looks, precision, spent,
};

/// How long replications are added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// Replications of each strategy at most; at least 1.
    pub most: u32,
    /// A check whose interval is within this share of its value, such as 0.01, is left undecided:
    /// the value is too near to the bound.
    pub precision: Option<f64>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided<'s> {
    /// All replications.
    pub outcomes: Outcomes,
    /// An answer to each question, from the look that settled it; none without replications.
    pub answers: Vec<Answer<'s>>,
}

impl Experiment<'_> {
    /// Adds replications, look by look ([`looks`]), until every question is settled.
    /// `effort.replications` is not used; `look` is told of each look before its replications are
    /// made.
    ///
    /// # Panics
    /// If `until.most` is 0, or a question's strategy is not simulated here.
    pub fn decide<'s>(
        &self,
        questions: &[Question<'s>],
        until: &Until,
        effort: &Effort<'_>,
        look: &mut dyn FnMut(Look),
    ) -> Decided<'s> {
        let mut outcomes = Outcomes::none(self.plans.len());
        let mut panel = Panel::of(questions, until.precision);
        let mut looks = looks(Confidence::DEFAULT, until.most as usize).peekable();
        loop {
            let now = looks.next().expect("a limit of at least 1 has a last look");
            look(now);
            let replications = u32::try_from(now.replications).expect("looks end at a u32");
            self.go_on(&mut outcomes, &Effort { replications, ..*effort });
            let is_last = outcomes.interrupted || looks.peek().is_none();
            if outcomes.by_strategy.iter().any(Vec::is_empty) {
                return Decided { outcomes, answers: Vec::new() };
            }
            if panel.judge(self, &outcomes, now.number) || is_last {
                return Decided { outcomes, answers: panel.answers() };
            }
        }
    }
}

/// Questions, and what has become of each so far.
struct Panel<'q, 's> {
    precision: Option<f64>,
    questions: &'q [Question<'s>],
    /// The latest answers, and whether they are settled.
    latest: Vec<Option<(Answer<'s>, bool)>>,
}

impl<'q, 's> Panel<'q, 's> {
    fn of(questions: &'q [Question<'s>], precision: Option<f64>) -> Self {
        Self { precision, questions, latest: vec![None; questions.len()] }
    }

    /// Judges what is not settled yet, at the look of this number; whether all is settled.
    fn judge(&mut self, experiment: &Experiment<'_>, outcomes: &Outcomes, number: u32) -> bool {
        let horizon = experiment.scenario.horizon.as_secs_f64();
        for (question, latest) in self.questions.iter().zip(&mut self.latest) {
            if latest.as_ref().is_some_and(|(_, settled)| *settled) {
                continue;
            }
            let confidence = spent(question.confidence, number);
            let at_look = Question { confidence, looks: true, ..*question };
            let mut answer = at_look.answer(experiment, outcomes);
            let close = self.precision.is_some_and(|target| answer.is_close(target));
            if answer.verdict == Verdict::Undecided && close {
                answer
                    .notes
                    .push("its interval is as narrow as asked: too near to call".to_owned());
            }
            let hopeless = answer.is_hopeless(horizon);
            let settled = answer.verdict != Verdict::Undecided || close || hopeless;
            *latest = Some((answer, settled));
        }
        self.latest.iter().flatten().all(|(_, settled)| *settled)
    }

    fn answers(self) -> Vec<Answer<'s>> {
        self.latest.into_iter().flatten().map(|(answer, _)| answer).collect()
    }
}

impl Answer<'_> {
    /// Whether the interval is within a share of the value; a difference has none.
    fn is_close(&self, target: f64) -> bool {
        let is_difference = self.question.reference.is_some();
        !is_difference && matches!(precision(&self.estimate, target), Precision::Met { .. })
    }

    /// Whether no number of replications can decide: the horizon hides an end of the interval of a
    /// mean, and what it does not hide lies on the side that leaves the check open.
    fn is_hopeless(&self, horizon: f64) -> bool {
        let (Some(interval), Some(value)) = (self.estimate.interval, self.estimate.value.value())
        else {
            return false;
        };
        let hidden = interval.low == Bound::Unbounded || interval.high == Bound::Unbounded;
        if self.question.statistic != Statistic::Mean || !hidden {
            return false;
        }
        let end = |bound| match bound {
            Bound::Value(_) => Bound::Value(value),
            other => other,
        };
        let limit = Interval { low: end(interval.low), high: end(interval.high) };
        decide(&self.question.check.bound, Some(limit), horizon) == Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::super::questions;
    use super::*;
    use crate::quantiles::{Distribution, Quantiles};
    use crate::scenario::Scenario;
    use crate::sim::draw::{Luck, Purpose};
    use crate::sim::{Ascending, Outcome};
    use crate::time::Span;
    use std::sync::atomic::AtomicBool;

    const HOUR: f64 = 3_600.0;

    /// One member; the checks are answered from made-up replications.
    fn scenario(checks: &str) -> Scenario {
        let image = "nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0";
        let text = format!(
            "name: t\nstart: 2026-03-02T08:00:00Z\nhorizon: 10d\nfleet: {{members: [{{name: m, \
             region: westeurope, pools: [{{name: p, {image}}}]}}]}}\nupdate: \
             {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}\nstrategies: [{{name: \
             a}}, {{name: b}}]\nworld: {{failures: none, people: none}}\nscript: {{releases: \
             [{{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{\"*\": \
             2026-03-01T00:00:00Z}}}}]}}\nchecks: [{checks}]\n"
        );
        let read = Scenario::read("t.yaml", &text, &|_| Err("there are no files".to_owned()));
        read.unwrap_or_else(|errors| panic!("{}", errors[0])).0
    }

    /// Verdicts on made-up makespans, trial by trial.
    struct Bench<'e> {
        experiment: &'e Experiment<'e>,
        /// One that a replication is made up from.
        pattern: Outcome,
        makespan: Quantiles,
        luck: Luck,
    }

    impl<'e> Bench<'e> {
        fn of(experiment: &'e Experiment<'e>, makespan: &Distribution, seed: u64) -> Self {
            let stop = AtomicBool::new(false);
            let effort = Effort { replications: 1, threads: 1, stop: &stop, progress: &|_| {} };
            let mut pattern = experiment.run(&effort).by_strategy[0][0].clone();
            pattern.done = Ascending::default();
            let makespan = Quantiles::new(makespan);
            Self { experiment, pattern, makespan, luck: Luck::new(seed) }
        }

        /// The answers of one trial with so many replications at most; `naive` judges every look
        /// as if it were the only one.
        fn trial<'s>(
            &self,
            questions: &[Question<'s>],
            (trial, most): (u32, usize),
            naive: bool,
        ) -> Vec<Answer<'s>> {
            let mut panel = Panel::of(questions, None);
            let mut draws = [0, 1].map(|side| self.luck.sequence(trial, Purpose::Duration, side));
            let mut outcomes = Outcomes::none(2);
            for look in looks(Confidence::DEFAULT, most) {
                for (of, draws) in outcomes.by_strategy.iter_mut().zip(&mut draws) {
                    while of.len() < look.replications {
                        let millis = self.makespan.millis(draws.draw(), 0);
                        let makespan = Some(Span::from_millis(millis));
                        of.push(Outcome { makespan, ..self.pattern.clone() });
                    }
                }
                if panel.judge(self.experiment, &outcomes, if naive { 1 } else { look.number }) {
                    break;
                }
            }
            panel.answers()
        }

        /// The share of 2,000 trials in which the only question gets this verdict.
        fn share(
            &self,
            question: &[Question<'_>],
            verdict: Verdict,
            (most, naive): (usize, bool),
        ) -> f64 {
            let got =
                |trial: &u32| self.trial(question, (*trial, most), naive)[0].verdict == verdict;
            let hits = u32::try_from((0..2_000).filter(got).count()).unwrap();
            f64::from(hits) / 2_000.0
        }
    }

    /// 2.5 % and three Monte Carlo standard errors of 2,000 trials.
    const ALLOWED: f64 = 0.025 + 3.0 * 0.0035;

    fn normal() -> Distribution {
        Distribution::normal(10.0 * HOUR * 1e3, HOUR * 1e3, 0.0, 20.0 * HOUR * 1e3).unwrap()
    }

    #[test]
    fn x6_wrong_verdicts_are_as_rare_as_promised_however_often_one_looks() {
        // Each bound is at the truth, so that only one of the two verdicts is wrong.
        for (check, wrong) in [
            ("{strategy: a, metric: makespan, atMost: 10h}", Verdict::Fails),
            ("{strategy: a, metric: makespan, atLeast: 10h}", Verdict::Fails),
            ("{strategy: a, metric: makespan, statistic: p50, atMost: 10h}", Verdict::Fails),
            ("{strategy: a, metric: makespan, lessThan: b}", Verdict::Holds),
        ] {
            let scenario = scenario(check);
            let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
            let bench = Bench::of(&experiment, &normal(), 61);
            let questions = questions(std::slice::from_ref(&scenario)).unwrap();
            let share = bench.share(&questions, wrong, (507, false));
            assert!(share <= ALLOWED, "{check}: {share}");
        }
    }

    #[test]
    fn x6_judging_every_look_as_the_only_one_would_be_wrong_more_often() {
        // As evidence that the test above can fail: a half of the miss at each of the seven looks.
        let scenario = scenario("{strategy: a, metric: makespan, atMost: 10h, confidence: 0.9}");
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        let bench = Bench::of(&experiment, &normal(), 62);
        let questions = questions(std::slice::from_ref(&scenario)).unwrap();
        let [kept, naive] =
            [false, true].map(|n| bench.share(&questions, Verdict::Fails, (1_500, n)));
        let allowed = 0.05 + 3.0 * 0.0049;
        assert!(kept <= allowed, "{kept}");
        assert!(naive > allowed, "{naive}");
    }

    #[test]
    fn x6_what_is_clear_is_decided_and_what_is_decided_stays() {
        let scenario = scenario(
            "{strategy: a, metric: makespan, atMost: 11h}, {strategy: a, metric: makespan, \
             atMost: 10h5m}, {strategy: a, metric: makespan, atMost: 9h59m}",
        );
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        let bench = Bench::of(&experiment, &normal(), 63);
        let answers =
            bench.trial(&questions(std::slice::from_ref(&scenario)).unwrap(), (0, 100_000), false);
        let verdicts: Vec<Verdict> = answers.iter().map(|answer| answer.verdict).collect();
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::Fails]);
        let settled: Vec<usize> = answers.iter().map(|answer| answer.replications).collect();
        assert!(settled[0] == 100 && settled[1] > 100 && settled[2] > settled[1], "{settled:?}");
    }

    #[test]
    fn x5_what_the_horizon_hides_is_not_waited_for() {
        let scenario = scenario(
            "{strategy: a, metric: makespan, atMost: 9d}, {strategy: a, metric: makespan, \
             atMost: 4d}, {strategy: a, metric: makespan, statistic: p50, atMost: 9d}",
        );
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        // Half of the runs are cut off: the restricted mean is seven days, the median eight.
        let pattern = Bench::of(&experiment, &normal(), 64).pattern;
        let mut outcomes = Outcomes::none(2);
        for side in &mut outcomes.by_strategy {
            for number in 0..100 {
                let days = Some(Span::from_days(number % 10)).filter(|_| number % 2 == 0);
                side.push(Outcome { makespan: days, ..pattern.clone() });
            }
        }
        let all = questions(std::slice::from_ref(&scenario)).unwrap();
        let mut panel = Panel::of(&all, None);
        assert!(!panel.judge(&experiment, &outcomes, 1), "the median is not hidden");
        let found: Vec<_> = panel.latest.iter().flatten().map(|(a, s)| (a.verdict, *s)).collect();
        assert_eq!(
            found,
            [(Verdict::Undecided, true), (Verdict::Fails, true), (Verdict::Undecided, false)]
        );
    }
}
