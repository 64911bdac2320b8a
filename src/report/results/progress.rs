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
        Self::until(longest, outcomes, &|outcome| (&outcome.done, outcome.members))
    }

    /// The same of configuration changes, up to the last that was done; up to the horizon if some
    /// never were.
    pub fn of_changes(outcomes: &Outcomes, horizon: Span) -> Self {
        let all = || outcomes.by_strategy.iter().flatten().map(|outcome| &outcome.changes);
        let last = all().filter_map(|changes| changes.done.last()).max();
        let last = last.map_or(horizon, |last| Span::from_millis(*last));
        let longest = if all().any(|changes| changes.never_done() > 0) { horizon } else { last };
        Self::until(longest, outcomes, &|outcome| (&outcome.changes.done, outcome.changes.wanted))
    }

    fn until(longest: Span, outcomes: &Outcomes, of: &dyn Fn(&Outcome) -> Done<'_>) -> Self {
        let longest = longest.as_millis();
        let step = |step| Span::from_millis(longest * i64::from(step) / i64::from(STEPS - 1));
        let times: Vec<Span> = (0..STEPS).map(step).collect();
        let curve = |outcomes: &Vec<Outcome>| {
            times.iter().map(|time| quantiles(outcomes, of, *time)).collect()
        };
        let by_strategy = outcomes.by_strategy.iter().map(curve).collect();
        Self { times, by_strategy }
    }
}

fn quantiles(outcomes: &[Outcome], of: &dyn Fn(&Outcome) -> Done<'_>, time: Span) -> [f64; 5] {
    let levels = [500, 2_500, 5_000, 7_500, 9_500];
    let mut shares: Vec<f64> = outcomes.iter().map(|outcome| share(of(outcome), time)).collect();
    shares.sort_unstable_by(f64::total_cmp);
    levels.map(|level| {
        let level = Level::from_basis_points(level).expect("the levels are between 0 and 10,000");
        shares[level.rank(shares.len()) - 1]
    })
}

/// When things were done, ascending in milliseconds from the start, and how many there are.
type Done<'a> = (&'a [i64], u32);

/// The share of what there is to do that is done; where there is nothing, nothing is left to do.
fn share((done, all): Done<'_>, time: Span) -> f64 {
    let done = done.partition_point(|at| *at <= time.as_millis());
    let done = u32::try_from(done).expect("members fit u32");
    if all == 0 { 1.0 } else { f64::from(done) / f64::from(all) }
}
