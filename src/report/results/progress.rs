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
        let longest = makespans.max().unwrap_or(horizon);
        Self::until(longest, outcomes, &|outcome, times| {
            let done = outcome.done.counts_up_to(times.iter().map(|time| time.as_millis()));
            done.map(|done| share(done, outcome.members)).collect()
        })
    }

    /// The same of configuration changes, up to the last that was done; up to the horizon if some
    /// never were.
    pub fn of_changes(outcomes: &Outcomes, horizon: Span) -> Self {
        let all = || outcomes.by_strategy.iter().flatten().map(|outcome| &outcome.changes);
        let last = all().filter_map(|changes| changes.done.last()).max();
        let last = last.map_or(horizon, |last| Span::from_millis(*last));
        let longest = if all().any(|changes| changes.never_done() > 0) { horizon } else { last };
        Self::until(longest, outcomes, &|outcome, times| {
            let (all, wanted) = (&outcome.changes.done, outcome.changes.wanted);
            let done = |time: &Span| all.partition_point(|at| *at <= time.as_millis());
            times.iter().map(|time| share(done(time), wanted)).collect()
        })
    }

    fn until(longest: Span, outcomes: &Outcomes, shares: &Shares<'_>) -> Self {
        let longest = longest.as_millis();
        let step = |step| Span::from_millis(longest * i64::from(step) / i64::from(STEPS - 1));
        let times: Vec<Span> = (0..STEPS).map(step).collect();
        let curve = |outcomes: &Vec<Outcome>| curve(outcomes, &times, shares);
        let by_strategy = outcomes.by_strategy.iter().map(curve).collect();
        Self { times, by_strategy }
    }
}

/// The share that is done in a replication at each of these times.
pub(super) type Shares<'a> = dyn Fn(&Outcome, &[Span]) -> Vec<f64> + 'a;

/// The p5, p25, p50, p75 and p95 over these replications at each of these times.
pub(super) fn curve(outcomes: &[Outcome], times: &[Span], of: &Shares<'_>) -> Vec<[f64; 5]> {
    let levels = [500, 2_500, 5_000, 7_500, 9_500]
        .map(|level| Level::from_basis_points(level).expect("the levels are between 0 and 10,000"));
    let mut by_time = vec![Vec::with_capacity(outcomes.len()); times.len()];
    for outcome in outcomes {
        for (shares, share) in by_time.iter_mut().zip(of(outcome, times)) {
            shares.push(share);
        }
    }
    let quantiles = |mut shares: Vec<f64>| {
        shares.sort_unstable_by(f64::total_cmp);
        levels.map(|level| shares[level.rank(shares.len()) - 1])
    };
    by_time.into_iter().map(quantiles).collect()
}

/// The share of what there is to do that is done; where there is nothing, nothing is left to do.
fn share(done: usize, all: u32) -> f64 {
    let done = u32::try_from(done).expect("members fit u32");
    if all == 0 { 1.0 } else { f64::from(done) / f64::from(all) }
}
