//! Experiments: every candidate, many replications, common random numbers, all cores. A candidate
//! is a strategy of a scenario, or of one of its variants.
//!
//! Parallel between replications only, so results do not depend on the number of threads (X3,
//! X11): each worker owns its simulations and takes small batches off one counter; outcomes are put
//! back into the order of strategies and replications.

mod auto_metric;
pub mod checks;
pub mod drift;
mod histogram;
mod metric;
mod precision;
mod sensitivity;
mod sweep;
mod updates;

pub use auto_metric::AutoMetric;
pub use histogram::{MemberTimes, Pooled};
pub use metric::{ChangeMetric, CostMetric, Metric, Unit};
pub use precision::{Goal, HEADLINES, Reached, Sought};
pub use sensitivity::{Answer, Change, FACTORS, Input, Overtaking, Question, Trial, trials};
pub use sweep::{MOST_POINTS, grid};
pub use updates::UpdateTimes;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Diagnostic;
use crate::scenario::Scenario;
use crate::scheduler::{Plan, Record, Refusal, Strategy};
use crate::sim::{ChangeRecord, Moves, Outcome, Simulation, Watch, World};
use crate::time::Timestamp;
use updates::Stopwatch;

thread_local! {
    static IN_HAND: Cell<Option<(usize, u32)>> = const { Cell::new(None) };
}

/// The plan and the replication that this thread is simulating in an experiment, if it is; for the
/// message of a panic.
pub fn in_hand() -> Option<(usize, u32)> {
    IN_HAND.get()
}

/// Replications taken off the counter at once: few enough that threads end together.
const BATCH: usize = 8;

/// The candidates of a scenario, laid over its fleet and ready to be simulated.
#[derive(Debug)]
pub struct Experiment<'s> {
    /// The scenario; of several variants, the first.
    pub scenario: &'s Scenario,
    /// Its world.
    pub world: World<'s>,
    /// One plan a candidate, in order; under the candidate's name.
    pub plans: Vec<Plan<'s>>,
    /// The other variants that candidates are of.
    others: Vec<(&'s Scenario, World<'s>)>,
    /// For each plan the variant that it is of: 0, or the position in `others` and 1.
    variants: Vec<usize>,
}

/// What an experiment yields: the outcomes of each strategy, by replication from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes {
    /// By strategy, then replication. All strategies have equally many.
    pub by_strategy: Vec<Vec<Outcome>>,
    /// How long the updates of each strategy took.
    pub updates: Vec<UpdateTimes>,
    /// Whether fewer replications were made than were asked for.
    pub interrupted: bool,
}

/// How an experiment is run.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Replications of each strategy, those included that are there already.
    pub replications: u32,
    /// Worker threads; at least 1.
    pub threads: usize,
    /// Set from outside to stop after the replications in hand.
    pub stop: &'a AtomicBool,
    /// Called after each batch with the number of replications of all strategies that are there.
    pub progress: &'a (dyn Fn(usize) + Sync),
}

impl std::fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Effort")
            .field("replications", &self.replications)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Outcomes {
    /// Of so many strategies, without replications.
    pub fn none(strategies: usize) -> Self {
        let updates = vec![UpdateTimes::default(); strategies];
        Self { by_strategy: vec![Vec::new(); strategies], updates, interrupted: false }
    }
}

impl<'s> Experiment<'s> {
    /// Lays these strategies of a scenario over its fleet.
    ///
    /// # Errors
    /// Whatever makes a strategy impossible for this fleet (S6, L2).
    pub fn new(
        scenario: &'s Scenario,
        strategies: impl IntoIterator<Item = &'s Strategy>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let candidates = strategies.into_iter().map(|strategy| (scenario, strategy));
        Self::over(scenario, candidates)
    }

    /// Lays candidates over the fleets of their scenarios: variants of one file, of which `first`
    /// lends the experiment its name, seed and horizon.
    ///
    /// # Errors
    /// Whatever makes a strategy impossible for its fleet (S6, L2).
    pub fn over(
        first: &'s Scenario,
        candidates: impl IntoIterator<Item = (&'s Scenario, &'s Strategy)>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (mut laid, mut errors) = (Vec::new(), Vec::new());
        for (scenario, strategy) in candidates {
            match scenario.lay_out(strategy) {
                Ok(plan) => laid.push((scenario, plan)),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() { Ok(Self::of(first, laid)) } else { Err(errors) }
    }

    /// The same, of plans that are laid out already.
    pub fn of(
        first: &'s Scenario,
        candidates: impl IntoIterator<Item = (&'s Scenario, Plan<'s>)>,
    ) -> Self {
        let world = World::new(first.setting());
        let (plans, others, variants) = (Vec::new(), Vec::new(), Vec::new());
        let mut experiment = Self { scenario: first, world, plans, others, variants };
        for (scenario, plan) in candidates {
            let variant = experiment.variant(scenario);
            experiment.variants.push(variant);
            experiment.plans.push(plan);
        }
        experiment
    }

    /// The number of a scenario among the variants; one that is new is added.
    fn variant(&mut self, scenario: &'s Scenario) -> usize {
        let is_it = |other: &Scenario| std::ptr::eq(other, scenario);
        let known = self.others.iter().position(|(other, _)| is_it(other));
        match known {
            _ if is_it(self.scenario) => 0,
            Some(position) => position + 1,
            None => {
                self.others.push((scenario, World::new(scenario.setting())));
                self.others.len()
            }
        }
    }

    /// The scenario that a plan is of.
    pub fn scenario_of(&self, plan: usize) -> &'s Scenario {
        let variant = self.variants[plan].checked_sub(1);
        variant.map_or(self.scenario, |position| self.others[position].0)
    }

    /// The world that a plan is simulated in.
    pub fn world_of(&self, plan: usize) -> &World<'s> {
        let variant = self.variants[plan].checked_sub(1);
        variant.map_or(&self.world, |position| &self.others[position].1)
    }

    /// Where the clock begins, if it begins at the same instant for all candidates.
    pub fn common_start(&self) -> Option<Timestamp> {
        let start = self.scenario.start;
        self.others.iter().all(|(other, _)| other.start == start).then_some(start)
    }

    /// The last instant that is simulated; of a plan of another variant, [`Self::end_of`].
    pub fn end(&self) -> Timestamp {
        self.scenario.start + self.scenario.horizon
    }

    /// The last instant that is simulated of a plan.
    pub fn end_of(&self, plan: usize) -> Timestamp {
        let scenario = self.scenario_of(plan);
        scenario.start + scenario.horizon
    }

    /// The plans of each variant, with the scenario that it is.
    pub fn by_variant(&self) -> impl Iterator<Item = (&'s Scenario, &[Plan<'s>])> {
        let mut from = 0;
        self.variants.chunk_by(|one, next| one == next).map(move |same| {
            let plans = &self.plans[from..from + same.len()];
            let scenario = self.scenario_of(from);
            from += same.len();
            (scenario, plans)
        })
    }

    /// The columns of `runs.csv`: those that any candidate's scenario has, in order.
    pub fn columns(&self) -> Vec<Metric> {
        let mut columns: Vec<Metric> = Metric::columns_of(self.scenario).collect();
        for (scenario, _) in &self.others {
            let mut place = 0;
            for metric in Metric::columns_of(scenario) {
                let known = columns.iter().position(|known| *known == metric);
                if known.is_none() {
                    columns.insert(place, metric);
                }
                place = known.unwrap_or(place) + 1;
            }
        }
        columns
    }

    /// Whether no candidate draws a random number.
    pub fn is_deterministic(&self) -> bool {
        let mut worlds = (0..self.plans.len()).map(|plan| self.world_of(plan));
        self.world.is_deterministic() && worlds.all(World::is_deterministic)
    }

    /// Simulates every strategy `effort.replications` times.
    pub fn run(&self, effort: &Effort<'_>) -> Outcomes {
        let mut outcomes = Outcomes::none(self.plans.len());
        self.go_on(&mut outcomes, effort);
        outcomes
    }

    /// Goes on until there are `effort.replications` of every strategy. What is there is not
    /// simulated again, and the outcomes equal those of a single [`Self::run`] (X1).
    pub fn go_on(&self, outcomes: &mut Outcomes, effort: &Effort<'_>) {
        let first = outcomes.by_strategy.first().map_or(0, Vec::len);
        let replications = effort.replications as usize;
        let plans = self.plans.len();
        let all = replications.saturating_sub(first).div_ceil(BATCH) * plans;
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(first * plans));
        // All strategies of a batch before the next batch, and no batch is left half done, so that
        // an interrupted experiment has whole pairs.
        let take = |number: usize| {
            let stops = number.is_multiple_of(plans) && effort.stop.load(Ordering::Relaxed);
            (number < all && !stops).then_some(number + 1)
        };
        let work = || {
            let mut simulations = BTreeMap::<usize, Replicas<'_>>::new();
            let mut outcomes = Vec::new();
            while let Ok(number) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                let (batch, plan) = (number / plans, number % plans);
                let simulation = simulations
                    .entry(plan)
                    .or_insert_with(|| Replicas::new(self.world_of(plan), &self.plans[plan]));
                let begin = first + batch * BATCH;
                let range = begin..replications.min(begin + BATCH);
                let made = range.len();
                for replication in range {
                    IN_HAND.set(Some((
                        plan,
                        u32::try_from(replication).expect("replications fit u32"),
                    )));
                    outcomes.push((
                        plan,
                        replication,
                        simulation.outcome(replication, self.end_of(plan)),
                    ));
                }
                (effort.progress)(done.fetch_add(made, Ordering::Relaxed) + made);
            }
            let times = simulations.into_iter().map(|(plan, of)| (plan, of.stopwatch.times));
            (outcomes, times.collect::<Vec<_>>())
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(effort.threads)
            .build()
            .expect("the machine can start a few threads");
        let (made, times): (Vec<_>, Vec<_>) = pool.broadcast(|_| work()).into_iter().unzip();
        for (plan, times) in times.into_iter().flatten() {
            outcomes.updates[plan].merge(&times);
        }
        let missing = replications.saturating_sub(first);
        let made = made.into_iter().flatten();
        let kept = self.in_order(made, first, missing, outcomes);
        outcomes.interrupted = kept < missing;
    }

    /// Appends outcomes in order, as far as all strategies have them without a gap; returns how
    /// many of each strategy.
    fn in_order(
        &self,
        made: impl Iterator<Item = (usize, usize, Outcome)>,
        first: usize,
        missing: usize,
        outcomes: &mut Outcomes,
    ) -> usize {
        let mut table: Vec<Vec<Option<Outcome>>> = vec![vec![None; missing]; self.plans.len()];
        for (plan, replication, outcome) in made {
            table[plan][replication - first] = Some(outcome);
        }
        let whole = |row: &Vec<Option<Outcome>>| row.iter().take_while(|o| o.is_some()).count();
        let kept = table.iter().map(whole).min().unwrap_or(0);
        for (known, row) in outcomes.by_strategy.iter_mut().zip(table) {
            known.extend(row.into_iter().take(kept).flatten());
        }
        kept
    }
}

/// One worker's simulation of one strategy.
struct Replicas<'p> {
    simulation: Simulation<'p>,
    /// Those of `update` alone.
    moves: Moves,
    stopwatch: Stopwatch,
}

impl<'p> Replicas<'p> {
    fn new(world: &'p World<'p>, plan: &'p Plan<'p>) -> Self {
        Self {
            simulation: Simulation::new(world, plan),
            moves: Moves::default(),
            stopwatch: Stopwatch::default(),
        }
    }

    fn outcome(&mut self, replication: usize, end: Timestamp) -> Outcome {
        self.moves.clear();
        let replication = u32::try_from(replication).expect("replications fit u32");
        let mut outcome = self.simulation.run(replication, end, &mut self.moves);
        outcome.delays = self.simulation.delays(&self.moves, end);
        outcome.versions = self.simulation.versions(end);
        self.stopwatch.add(self.moves.members());
        outcome
    }
}

/// Keeps everything that a replication shows.
#[derive(Debug, Default)]
pub struct History {
    /// All records in order.
    pub records: Vec<Record>,
    /// Records of the runs that profiles made, in order.
    pub beside: Vec<Beside>,
    /// Refused actions: when, what, why.
    pub refused: Vec<(Timestamp, String, Refusal)>,
    /// What happened to configuration changes, each with the number of records of all runs
    /// before it.
    pub changes: Vec<(usize, ChangeRecord)>,
}

/// A record of a run that a profile made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Which of these runs, from 0.
    pub run: usize,
    /// How many of the records of `update` came before it.
    pub after: usize,
    /// The record.
    pub record: Record,
}

impl History {
    /// The records of all runs in the order in which they took effect, each with its run: `None` is
    /// the scenario's `update`, the others are those that profiles made.
    pub fn all(&self) -> impl Iterator<Item = (Option<usize>, &Record)> {
        let (mut own, mut beside) = (0, self.beside.iter().peekable());
        std::iter::from_fn(move || {
            if let Some(other) = beside.next_if(|other| other.after <= own) {
                return Some((Some(other.run), &other.record));
            }
            let record = self.records.get(own)?;
            own += 1;
            Some((None, record))
        })
    }
}

impl crate::scheduler::Log for History {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

impl Watch for History {
    fn record_beside(&mut self, run: u16, record: Record) {
        let (run, after) = (usize::from(run) - 1, self.records.len());
        self.beside.push(Beside { run, after, record });
    }

    fn refused(&mut self, at: Timestamp, action: &dyn std::fmt::Display, why: Refusal) {
        self.refused.push((at, action.to_string(), why));
    }

    fn change(&mut self, record: ChangeRecord) {
        self.changes.push((self.records.len() + self.beside.len(), record));
    }
}
