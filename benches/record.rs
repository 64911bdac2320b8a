//! The record of how fast it is, as CSV on stdout, in nanoseconds a member update.
//!
//! `cargo bench --bench record > benches/record/$(date -I).csv`. Rounds are interleaved, every row
//! once a round, so that what disturbs the machine disturbs all rows. Processor time (the median
//! of the rounds, and the median of their ratios) stands for the cost, because neighbours disturb
//! it least; the best wall time is what the threads are judged by, and says less the busier the
//! machine is.

mod fleets;
mod rollout;

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use cpu_time::ProcessTime;
use fleets::Kind;
use fleetsim::experiment::{Effort, Experiment};
use fleetsim::scheduler::NoLog;
use fleetsim::sim::Simulation;

const ROUNDS: usize = 11;
/// Member updates that each row simulates in a round, at least.
const UPDATES: u32 = 100_000;

/// One row: its name, members and threads, and nanoseconds an update by round.
struct Row<'a> {
    name: &'static str,
    members: u32,
    threads: usize,
    updates: u32,
    run: Box<dyn FnMut() + 'a>,
    processor: Vec<f64>,
    wall: Vec<f64>,
}

#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
fn timed(row: &mut Row<'_>) -> (f64, f64) {
    let (processor, wall) = (ProcessTime::now(), Instant::now());
    (row.run)();
    let (processor, wall) = (processor.elapsed(), wall.elapsed());
    let an_update = 1e9 / f64::from(row.updates);
    (processor.as_secs_f64() * an_update, wall.as_secs_f64() * an_update)
}

fn alone<'a>(name: &'static str, experiment: &'a Experiment<'a>, members: u32) -> Row<'a> {
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let replications = UPDATES.div_ceil(members);
    let run = move || {
        for number in 0..replications {
            black_box(simulation.run(number, experiment.end(), &mut NoLog));
        }
    };
    let updates = replications * members;
    Row { name, members, threads: 1, updates, run: Box::new(run), processor: vec![], wall: vec![] }
}

/// Ten times as many updates as the others, so that what two threads gain is not what starting them
/// costs.
fn together<'a>(experiment: &'a Experiment<'a>, members: u32, threads: usize) -> Row<'a> {
    let replications = 10 * UPDATES.div_ceil(members);
    let run = move || {
        let stop = AtomicBool::new(false);
        black_box(experiment.run(&Effort {
            replications,
            threads,
            stop: &stop,
            progress: &|_| {},
        }));
    };
    let updates = replications * members;
    Row {
        name: "experiment",
        members,
        threads,
        updates,
        run: Box::new(run),
        processor: vec![],
        wall: vec![],
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::print_stdout, reason = "the record goes to stdout")]
fn show(rows: &[Row<'_>]) {
    println!("row,members,threads,processor_ns,ratio,ratio_to_members,best_wall_ns");
    for row in rows {
        let (name, members, threads) = (row.name, row.members, row.threads);
        let best = row.wall.iter().copied().fold(f64::INFINITY, f64::min);
        // Against 1,000 members, experiments against one thread.
        let is_reference =
            |other: &&Row<'_>| other.name == name && other.threads == 1 && other.members == 1_000;
        let reference = rows.iter().find(is_reference).expect("every row has a reference");
        let ratios = row.processor.iter().zip(&reference.processor).map(|(one, two)| one / two);
        let (cost, ratio) = (median(row.processor.clone()), median(ratios.collect()));
        println!("{name},{members},{threads},{cost:.1},{ratio:.3},1000,{best:.1}");
    }
}

fn main() {
    let sizes = [100, 1_000, 10_000, 100_000];
    let rollouts = sizes.map(|size| ("rollout", size, rollout::scenario(size)));
    let fleets = [("plain", Kind::Plain), ("eventful", Kind::Eventful)]
        .into_iter()
        .flat_map(|(name, kind)| sizes.map(|size| (name, size, fleets::scenario(kind, size))));
    let scenarios: Vec<_> = rollouts.into_iter().chain(fleets).collect();
    let experiments: Vec<_> = scenarios
        .iter()
        .map(|(name, size, scenario)| (*name, *size, fleets::experiment(scenario)))
        .collect();
    let mut rows: Vec<Row<'_>> =
        experiments.iter().map(|(name, size, experiment)| alone(name, experiment, *size)).collect();
    let (_, size, experiment) = experiments
        .iter()
        .find(|(name, size, _)| (*name, *size) == ("eventful", 1_000))
        .expect("it is one of them");
    rows.extend([1, 2].map(|threads| together(experiment, *size, threads)));
    for round in 0..=ROUNDS {
        for row in &mut rows {
            let (processor, wall) = timed(row);
            // The first round warms up.
            if round > 0 {
                row.processor.push(processor);
                row.wall.push(wall);
            }
        }
    }
    show(&rows);
}
