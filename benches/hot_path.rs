//! How long the hot path takes. Items are member updates: nanoseconds an update are the time over
//! the fleet's size, and the inverse of the item rate.
//!
//! `cargo bench --bench hot_path`, with a part of a row's name after `--` for some rows only. The
//! record that is kept is made by `cargo bench --bench record`.

mod fleets;
#[expect(dead_code, reason = "the table of what models cost is not made here")]
mod models;
mod rollout;
mod workloads;

use std::sync::atomic::AtomicBool;

use divan::Bencher;
use divan::counter::ItemsCount;

use fleets::Kind;
use fleetsim::experiment::{Effort, Experiment, Outcomes};
use fleetsim::report::results::Results;
use fleetsim::report::summary::Summary;
use fleetsim::scheduler::NoLog;
use fleetsim::sim::Simulation;
use fleetsim::stats::Confidence;
use models::MODELS;
use workloads::{Case, WORKLOADS};

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

/// Replications of an experiment.
const REPLICATIONS: u32 = 64;

fn main() {
    divan::main();
}

fn workloads() -> Vec<Case> {
    let sizes = [100, 1_000, 10_000];
    let of = |name| sizes.map(|members| Case::new(name, members));
    WORKLOADS.into_iter().flat_map(of).collect()
}

/// The parts of the loop, and whole replications.
#[divan::bench(args = workloads())]
fn workload(bencher: Bencher<'_, '_>, case: &Case) {
    measure(bencher, *case);
}

/// Whole replications with one model turned on.
#[divan::bench(args = MODELS.iter().map(|model| Case::new(model.name, 1_000)))]
fn model(bencher: Bencher<'_, '_>, case: &Case) {
    measure(bencher, *case);
}

fn measure(bencher: Bencher<'_, '_>, case: Case) {
    let mut bencher = Some(bencher.counter(ItemsCount::new(case.members)));
    workloads::with(case, &mut |round| {
        let mut number = 0;
        bencher.take().expect("a case has one round").bench_local(|| {
            number += 1;
            round(number)
        });
    });
}

/// How far behind members were, of a replication that is over.
#[divan::bench(args = [100, 1_000, 10_000])]
fn staleness(bencher: Bencher<'_, '_>, members: u32) {
    let scenario = fleets::scenario(Kind::Eventful, members);
    let experiment = fleets::experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    simulation.run(1, experiment.end(), &mut NoLog);
    bencher.counter(ItemsCount::new(members)).bench_local(|| simulation.versions(experiment.end()));
}

fn run(experiment: &Experiment<'_>, threads: usize) -> Outcomes {
    let stop = AtomicBool::new(false);
    experiment.run(&Effort { replications: REPLICATIONS, threads, stop: &stop, progress: &|_| {} })
}

/// An experiment of 1,000 eventful members, with one and two threads.
#[divan::bench(args = [1, 2], sample_count = 20)]
fn experiment(bencher: Bencher<'_, '_>, threads: usize) {
    let scenario = fleets::scenario(Kind::Eventful, 1_000);
    let experiment = fleets::experiment(&scenario);
    bencher
        .counter(ItemsCount::new(1_000 * REPLICATIONS))
        .bench_local(|| run(&experiment, threads));
}

/// All that `compare` does between reading the scenario and writing files: the experiment, its
/// statistics, tables and charts.
#[divan::bench(args = [1, 2], sample_count = 20)]
fn compare(bencher: Bencher<'_, '_>, threads: usize) {
    let scenario = fleets::scenario(Kind::Eventful, 1_000);
    let experiment = fleets::experiment(&scenario);
    bencher.counter(ItemsCount::new(1_000 * REPLICATIONS)).bench_local(|| {
        let outcomes = run(&experiment, threads);
        let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT);
        let summary = summary.expect("there are replications");
        let experiment = &experiment;
        Results { experiment, outcomes: &outcomes, summary: &summary, target: None }.files()
    });
}
