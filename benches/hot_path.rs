//! How long the hot path takes. Items are member updates: nanoseconds an update are the time over
//! the fleet's size, and the inverse of the item rate.
//!
//! `cargo bench --bench hot_path`. The record that is kept is made by `cargo bench --bench record`.

mod fleets;

use std::sync::atomic::AtomicBool;

use divan::Bencher;
use divan::counter::ItemsCount;

use fleets::Kind;
use fleetsim::experiment::{Effort, History};
use fleetsim::quantiles::{Distribution, Quantiles};
use fleetsim::scheduler::NoLog;
use fleetsim::sim::Simulation;
use fleetsim::sim::draw::{Luck, Purpose};

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// Durations of a whole fleet's first attempts, through a compiled lognormal.
#[divan::bench(args = [100, 1_000, 10_000])]
fn draw(bencher: Bencher<'_, '_>, members: usize) {
    let lognormal = Distribution::lognormal(2_400_000.0, 0.5).expect("sound parameters");
    let (durations, luck) = (Quantiles::new(&lognormal), Luck::new(1));
    let mut replication = 0;
    bencher.counter(ItemsCount::new(members)).bench_local(|| {
        replication += 1;
        let draws = luck.sequence(replication, Purpose::Duration, 0).take(members);
        draws.map(|bits| durations.millis(bits, 1_000)).fold(0, i64::wrapping_add)
    });
}

fn replication(bencher: Bencher<'_, '_>, kind: Kind, members: u32) {
    let scenario = fleets::scenario(kind, members);
    let experiment = fleets::experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let mut number = 0;
    bencher.counter(ItemsCount::new(members)).bench_local(|| {
        number += 1;
        simulation.run(number, experiment.end(), &mut NoLog)
    });
}

/// One replication of a plain fleet, nobody watching.
#[divan::bench(args = [100, 1_000, 10_000])]
fn plain(bencher: Bencher<'_, '_>, members: u32) {
    replication(bencher, Kind::Plain, members);
}

/// One replication with windows, failures and an approval, nobody watching.
#[divan::bench(args = [100, 1_000, 10_000])]
fn eventful(bencher: Bencher<'_, '_>, members: u32) {
    replication(bencher, Kind::Eventful, members);
}

/// The same with defects, churn, and people who mind them: what the models cost when they are on.
#[divan::bench(args = [100, 1_000, 10_000])]
fn trouble(bencher: Bencher<'_, '_>, members: u32) {
    replication(bencher, Kind::Trouble, members);
}

/// How far behind members were, of a replication whose records are there.
#[divan::bench(args = [100, 1_000, 10_000])]
fn staleness(bencher: Bencher<'_, '_>, members: u32) {
    let scenario = fleets::scenario(Kind::Eventful, members);
    let experiment = fleets::experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let mut history = History::default();
    simulation.run(1, experiment.end(), &mut history);
    bencher
        .counter(ItemsCount::new(members))
        .bench_local(|| simulation.versions(&history.records, experiment.end()));
}

/// The same as an experiment runs it: records kept, delays split.
#[divan::bench(args = [100, 1_000, 10_000])]
fn watched(bencher: Bencher<'_, '_>, members: u32) {
    let scenario = fleets::scenario(Kind::Eventful, members);
    let experiment = fleets::experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let (mut number, mut history) = (0, History::default());
    bencher.counter(ItemsCount::new(members)).bench_local(|| {
        number += 1;
        history.records.clear();
        let mut outcome = simulation.run(number, experiment.end(), &mut history);
        outcome.delays = simulation.delays(&history.records, experiment.end());
        outcome
    });
}

/// 64 replications of 1,000 eventful members, with one and two threads.
#[divan::bench(args = [1, 2], sample_count = 20)]
fn threads(bencher: Bencher<'_, '_>, threads: usize) {
    let scenario = fleets::scenario(Kind::Eventful, 1_000);
    let experiment = fleets::experiment(&scenario);
    let stop = AtomicBool::new(false);
    bencher.counter(ItemsCount::new(64_000_u32)).bench_local(|| {
        experiment.run(&Effort { replications: 64, threads, stop: &stop, progress: &|_| {} })
    });
}
