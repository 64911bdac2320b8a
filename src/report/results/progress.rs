//! The share of members that are done over time, over replications.

use crate::experiment::Outcomes;
use crate::sim::Outcome;
use crate::stats::Level;
use crate::time::Span;

/// Equal steps from the start to the longest observed makespan, both ends included.
pub const STEPS: u32 = 201;

/// Quantiles over replications of the share of the run's members that are done, at equal steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Time since the start.
    pub times: Vec<Span>,
    /// For each strategy and time the p5, p25, p50, p75 and p95.
    pub by_strategy: Vec<Vec<[f64; 5]>>,
}

impl Progress {
    /// The progress of all strategies on common steps, up to the longest makespan that any of them
    /// showed; up to the horizon if none ended.
    pub fn of(outcomes: &Outcomes, horizon: Span) -> Self {
        let makespans =
            outcomes.by_strategy.iter().flatten().filter_map(|outcome| outcome.makespan);
        let longest = makespans.max().unwrap_or(horizon).as_millis();
        let step = |step| Span::from_millis(longest * i64::from(step) / i64::from(STEPS - 1));
        let times: Vec<Span> = (0..STEPS).map(step).collect();
        let curve =
            |outcomes: &Vec<Outcome>| times.iter().map(|time| quantiles(outcomes, *time)).collect();
        let by_strategy = outcomes.by_strategy.iter().map(curve).collect();
        Self { times, by_strategy }
    }
}

fn quantiles(outcomes: &[Outcome], time: Span) -> [f64; 5] {
    let levels = [500, 2_500, 5_000, 7_500, 9_500];
    let mut shares: Vec<f64> = outcomes.iter().map(|outcome| share(outcome, time)).collect();
    shares.sort_unstable_by(f64::total_cmp);
    levels.map(|level| {
        let level = Level::from_basis_points(level).expect("the levels are between 0 and 10,000");
        shares[level.rank(shares.len()) - 1]
    })
}

/// The share of the run's members that are done; a run without members has nothing left to do.
fn share(outcome: &Outcome, time: Span) -> f64 {
    let done = outcome.done.partition_point(|at| *at <= time.as_millis());
    let done = u32::try_from(done).expect("members fit u32");
    if outcome.members == 0 { 1.0 } else { f64::from(done) / f64::from(outcome.members) }
}
