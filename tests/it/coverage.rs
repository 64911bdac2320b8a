//! Whether the intervals cover the truth, through the whole of it: the real scheduler in the real
//! loop on common luck, in a world whose truth is known in closed form (X4). The statistics alone
//! are tested beside their code.

use fleetsim::experiment::{Metric, Outcomes};
use fleetsim::sim::Outcome;
use fleetsim::stats::{
    Better, Confidence, Estimate, Level, PairedDifference, Sample, coverage_of_ranks, mean,
    proportion, quantile, ranks,
};
use fleetsim::time::Span;

use crate::experiments::{POOL, RELEASED, START, UPDATE, experiment, outcomes, read, run};

const HOUR: f64 = 3_600.0;
const C95: Confidence = Confidence::DEFAULT;

/// Eight members, one by one or two at a time, exponential updates of an hour.
fn scenario(seed: u64) -> String {
    let group =
        |c: u32| format!("stages: [{{name: s, groups: [{{name: g, maxConcurrency: {c}}}]}}]");
    format!(
        "name: covered\nstart: {START}\nhorizon: 365d\nseed: {seed}\nfleet: {{populations: \
         [{{count: 8, name: \"m{{n}}\", region: westeurope, updateGroup: g, {POOL}}}]}}\nupdate: \
         {{{UPDATE}}}\nstrategies: [{{name: one, {}}}, {{name: two, {}}}]\nworld: {{durations: \
         {{update: {{exponential: {{mean: 1h}}}}}}, failures: none, people: none}}\nscript: \
         {RELEASED}",
        group(1),
        group(2)
    )
}

/// Experiments, and replications of each.
const TRIALS: usize = 3_000;
const RUNS: usize = 40;

/// The share of experiments whose interval contains the truth.
fn covered(truth: f64, interval: impl Fn(usize) -> Option<Estimate>) -> f64 {
    let contains = |trial: &usize| {
        let estimate = interval(*trial).expect("there are replications");
        estimate.interval.expect("enough of them").contains(truth)
    };
    let hits = u32::try_from((0..TRIALS).filter(contains).count()).unwrap();
    f64::from(hits) / f64::from(u32::try_from(TRIALS).unwrap())
}

/// One experiment's replications.
fn part(outcomes: &[Outcome], trial: usize) -> Sample {
    let part = &outcomes[trial * RUNS..(trial + 1) * RUNS];
    Metric::Makespan.sample(part, Span::from_days(365))
}

#[test]
fn x4_intervals_cover_the_truth_of_the_whole_chain() {
    // Replications are independent, so one long experiment is many short ones.
    let all = u32::try_from(TRIALS * RUNS).unwrap();
    let Outcomes { by_strategy, .. } = outcomes(&scenario(5), all, 2);
    let [one, two] = &by_strategy[..] else { panic!("two strategies") };
    let fixed = 0.935..=0.965;
    // One by one, the makespan is Erlang of eight hours; two at a time take 3 + 1 + 1/2.
    let share = covered(8.0 * HOUR, |trial| mean(&part(one, trial), C95));
    assert!(fixed.contains(&share), "mean: {share}");
    let share = covered(4.5 * HOUR, |trial| mean(&part(two, trial), C95));
    assert!(fixed.contains(&share), "mean, two at a time: {share}");
    let share = covered(-3.5 * HOUR, |trial| {
        let (two, one) = (part(two, trial), part(one, trial));
        PairedDifference::of(&two, &one, Better::Smaller, C95).map(|paired| paired.mean)
    });
    assert!(fixed.contains(&share), "paired difference: {share}");
    // Halves of the quantiles of chi-square with 16 degrees of freedom.
    for (level, truth) in [(Level::P50, 15.338_499 / 2.0), (Level::P95, 26.296_228 / 2.0)] {
        let exact = coverage_of_ranks(RUNS, level, ranks(RUNS, level, C95));
        let share = covered(truth * HOUR, |trial| quantile(&part(one, trial), level, C95));
        assert!((share - exact).abs() < 0.01, "{level}: {share} for {exact}");
    }
    // P(Erlang < 8) = 1 - e^-8 · Σ 8^k/k!, k below 8.
    let terms =
        std::iter::successors(Some((1.0, 1.0)), |(k, term)| Some((k + 1.0, term * 8.0 / k)));
    let truth = 1.0 - (-8.0_f64).exp() * terms.take(8).map(|(_, term)| term).sum::<f64>();
    let yes = |trial: usize| {
        let part = &one[trial * RUNS..(trial + 1) * RUNS];
        part.iter().filter(|outcome| outcome.makespan.unwrap() < Span::from_hours(8)).count()
    };
    let share = covered(truth, |trial| proportion(yes(trial), RUNS, C95));
    let exact = wilson(truth);
    assert!((share - exact).abs() < 0.01, "share: {share} for {exact}");
}

/// The exact coverage of Wilson's interval of 40 trials.
fn wilson(p: f64) -> f64 {
    let n = f64::from(u32::try_from(RUNS).unwrap());
    let mut mass = (1.0 - p).powi(40);
    let (mut total, mut k) = (0.0, 0.0);
    for successes in 0..=RUNS {
        let estimate = proportion(successes, RUNS, C95).unwrap();
        if estimate.interval.unwrap().contains(p) {
            total += mass;
        }
        mass *= (n - k) / (k + 1.0) * p / (1.0 - p);
        k += 1.0;
    }
    total
}

#[test]
fn x4_pairs_on_common_luck_are_sharper_than_independent_runs() {
    let scenarios = [scenario(5), scenario(6)].map(|text| read(&text));
    let [same, other] = scenarios.each_ref().map(|scenario| run(&experiment(scenario), 2_000, 2));
    let sample = |outcomes: &Outcomes, strategy: usize| {
        Metric::Makespan.sample(&outcomes.by_strategy[strategy], Span::from_days(365))
    };
    let width = |two: &Sample, one: &Sample| {
        let paired = PairedDifference::of(two, one, Better::Smaller, C95).unwrap();
        let half = paired.mean.interval.unwrap().half_width(paired.mean.value.value().unwrap());
        (half.unwrap(), paired.variance_reduction.unwrap())
    };
    let (paired, reduction) = width(&sample(&same, 1), &sample(&same, 0));
    let (independent, nothing) = width(&sample(&other, 1), &sample(&same, 0));
    assert!(reduction > 0.4, "{reduction}");
    assert!(nothing.abs() < 0.1, "other luck buys nothing: {nothing}");
    // The reduction is what it says: the ratio of the squares of the widths.
    let seen = 1.0 - (paired / independent).powi(2);
    assert!((seen - reduction).abs() < 0.1, "{seen} for {reduction}");
}
