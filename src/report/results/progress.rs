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
        let curve = |outcomes: &Vec<Outcome>| curve(outcomes, &times);
        let by_strategy = outcomes.by_strategy.iter().map(curve).collect();
        Self { times, by_strategy }
    }
}

/// The quantiles over these replications at each of these times.
fn curve(outcomes: &[Outcome], times: &[Span]) -> Vec<[f64; 5]> {
    let levels = [500, 2_500, 5_000, 7_500, 9_500].map(|level| {
        Level::from_basis_points(level).expect("the levels are between 0 and 10,000")
    });
    let mut by_time = vec![Vec::with_capacity(outcomes.len()); times.len()];
    for outcome in outcomes {
        let done = outcome.done.counts_up_to(times.iter().map(|time| time.as_millis()));
        for (shares, done) in by_time.iter_mut().zip(done) {
            shares.push(share(outcome, done));
        }
    }
    let quantiles = |mut shares: Vec<f64>| {
        shares.sort_unstable_by(f64::total_cmp);
        levels.map(|level| shares[level.rank(shares.len()) - 1])
    };
    by_time.into_iter().map(quantiles).collect()
}

/// The share of the run's members that are done; a run without members has nothing left to do.
fn share(outcome: &Outcome, done: usize) -> f64 {
    let done = u32::try_from(done).expect("members fit u32");
    if outcome.members == 0 { 1.0 } else { f64::from(done) / f64::from(outcome.members) }
}
