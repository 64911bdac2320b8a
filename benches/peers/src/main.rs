//! The reference workload on fleetsim and on other discrete-event engines, side by side.
//!
//! `peers PYTHON` first sees to it that all engines do the same work: on the same draws, every
//! replication ends at the same millisecond with the same failures. Then it takes the time of each,
//! in turn, round by round, and writes tables to stdout and into the README, and a record to
//! `record.csv`. `peers agree` does the first only, without Python.

#![feature(coroutines, coroutine_trait, stmt_expr_attributes)]

mod desim;
mod nexosim;
mod python;
mod rollout;
mod simcore;
#[path = "../../rollout/mod.rs"]
mod workload;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cpu_time::ProcessTime;
use fleetsim::experiment::Experiment;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::NoLog;
use fleetsim::sim::Simulation;

use python::Script;
use rollout::{Draws, Rollout};

/// Fleets.
const SIZES: [u32; 2] = [1_000, 10_000];
/// Rounds of which medians are taken.
const ROUNDS: usize = 7;
/// Replications that must agree.
const AGREE: u32 = 20;
/// Processor time of an engine in a round, at least, in seconds.
const ENOUGH: f64 = 0.3;

/// When a rollout ended, in milliseconds from the start, and how many members failed.
type Came = (u64, u32);

/// Simulates the replication of this number.
type Replicate<'a> = Box<dyn FnMut(u32) -> Came + 'a>;

/// What is measured: a name, how the engine is used, and runs a second by round.
struct Row<'a> {
    name: &'static str,
    how: &'static str,
    engine: Engine<'a>,
    /// Whether it takes the draws that all take, so that it comes to the same.
    shared: bool,
    rates: Vec<f64>,
}

enum Engine<'a> {
    /// In this process.
    Here(Replicate<'a>),
    /// A function of the script.
    Python(&'a Script, &'static str),
}

fn row<'a>(name: &'static str, how: &'static str, engine: Engine<'a>) -> Row<'a> {
    Row { name, how, engine, shared: true, rates: Vec::new() }
}

/// The real scheduler in the real loop, as `compare` runs it but for the records.
fn ours<'a>(experiment: &'a Experiment<'a>) -> Replicate<'a> {
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    Box::new(move |replication| {
        let outcome = simulation.run(replication, experiment.end(), &mut NoLog);
        let makespan = outcome.makespan.expect("the rollout is over before the horizon");
        (makespan.as_millis().cast_unsigned(), outcome.failed)
    })
}

/// A peer with the draws of fleetsim; one rollout, reused.
fn theirs(draws: &Draws, members: u32, peer: fn(Box<Rollout>) -> Box<Rollout>) -> Replicate<'_> {
    let mut kept = Some(Box::new(Rollout::new(members)));
    Box::new(move |replication| {
        let mut rollout = kept.take().expect("it always comes back");
        rollout.draw(draws, replication);
        let rollout = peer(rollout);
        let came = (rollout.end, rollout.failed);
        kept = Some(rollout);
        came
    })
}

fn rows<'a>(
    experiment: &'a Experiment<'a>,
    members: u32,
    [draws, own]: [&'a Draws; 2],
    script: Option<&'a Script>,
) -> Vec<Row<'a>> {
    let here = |name, how, peer| row(name, how, Engine::Here(theirs(draws, members, peer)));
    let mut rows = vec![
        row("fleetsim", "the real scheduler", Engine::Here(ours(experiment))),
        here("simcore 0.1.0", "one component", simcore::one),
        here("simcore 0.1.0", "a component a member", simcore::many),
        here("desim 0.4.0", "coroutine workers", desim::workers),
        here("nexosim 1.0.0", "one model", nexosim::one),
        here("nexosim 1.0.0", "a controller and a fleet", nexosim::two),
    ];
    let alone = |name, how, peer| Row {
        shared: false,
        ..row(name, how, Engine::Here(theirs(own, members, peer)))
    };
    rows.extend([
        alone("simcore 0.1.0", "one component, draws by rand_distr", simcore::one),
        alone("desim 0.4.0", "coroutine workers, draws by rand_distr", desim::workers),
        alone("nexosim 1.0.0", "one model, draws by rand_distr", nexosim::one),
    ]);
    rows.extend(script.into_iter().flat_map(|script| {
        [
            row("SimPy 4.1.2", "process workers", Engine::Python(script, "simpy-workers")),
            row(
                "SimPy 4.1.2",
                "processes and a Resource",
                Engine::Python(script, "simpy-resource"),
            ),
            row("salabim 26.0.9", "component workers", Engine::Python(script, "salabim-workers")),
        ]
    }));
    rows
}

/// Every engine comes to the same, to the millisecond.
fn agree(rows: &mut [Row<'_>], members: u32, draws: &Draws) -> Vec<Came> {
    let mut expected = Vec::new();
    for row in rows.iter_mut().filter(|row| row.shared) {
        let found: Vec<Came> = match &mut row.engine {
            Engine::Here(replicate) => (0..AGREE).map(replicate).collect(),
            Engine::Python(script, function) => {
                let mut rollout = Rollout::new(members);
                // A few will do: Python is slow.
                let drawn = (0..AGREE / 10).map(|replication| {
                    rollout.draw(draws, replication);
                    let (durations, fails) = rollout.drawn();
                    (durations.to_vec(), fails.to_vec())
                });
                script.replicate(function, members, &drawn.collect::<Vec<_>>())
            }
        };
        if expected.is_empty() {
            expected.clone_from(&found);
        }
        let (name, how) = (row.name, row.how);
        assert!(!found.is_empty() && expected.starts_with(&found), "{name}, {how}: {found:?}");
    }
    expected
}

/// Runs a second, by processor time.
fn rate(engine: &mut Engine<'_>, members: u32) -> f64 {
    match engine {
        Engine::Python(script, function) => script.rate(function, members, ENOUGH),
        Engine::Here(replicate) => {
            let begin = ProcessTime::now();
            let mut runs = 0_u32;
            loop {
                replicate(runs);
                runs += 1;
                let spent = begin.elapsed().as_secs_f64();
                if spent >= ENOUGH {
                    return f64::from(runs) / spent;
                }
            }
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// `12,300`, with three digits that count.
fn shown(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a few digits")]
    let digits = 2 - value.log10().floor() as i32;
    if digits > 0 {
        return format!("{value:.*}", digits.cast_unsigned() as usize);
    }
    let unit = 10_f64.powi(-digits);
    let text = format!("{:.0}", (value / unit).round() * unit);
    let mut grouped = String::new();
    for (place, digit) in text.chars().enumerate() {
        if place > 0 && (text.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The table as Markdown, and the record's rows.
fn told(members: u32, rows: &[Row<'_>], record: &mut String) -> String {
    let events = f64::from(2 * members + workload::STAGES);
    let mut table = format!(
        "\n{} members, {} at once:\n\n| engine | how | runs/s | ns an event | fleetsim makes times \
         as many |\n| --- | --- | ---: | ---: | ---: |\n",
        shown(f64::from(members)),
        workload::at_once(members)
    );
    for row in rows {
        let ratios = rows[0].rates.iter().zip(&row.rates).map(|(ours, theirs)| ours / theirs);
        let (rate, ratio) = (median(row.rates.clone()), median(ratios.collect()));
        let (name, how, cost) = (row.name, row.how, 1e9 / rate / events);
        let (runs, costs, times) = (shown(rate), shown(cost), shown(ratio));
        writeln!(table, "| {name} | {how} | {runs} | {costs} | {times} |").expect("memory");
        writeln!(record, "{name},{how},{members},{rate:.1},{cost:.1},{ratio:.3}").expect("memory");
    }
    table
}

#[expect(clippy::print_stdout, reason = "the table goes to stdout")]
#[expect(clippy::print_stderr, reason = "progress goes to stderr")]
fn main() {
    let asked = std::env::args().nth(1).expect("peers PYTHON, or peers agree");
    let script = (asked != "agree").then(|| Script::new(&asked));
    let scenarios: Vec<Scenario> = SIZES.map(workload::scenario).into();
    let experiment = |scenario| Experiment::new(scenario, &scenario.strategies);
    let experiments: Vec<Experiment<'_>> = scenarios
        .iter()
        .map(|scenario| experiment(scenario).expect("the strategy fits the fleet"))
        .collect();
    let (draws, own, mut tables) = (Draws::shared(), Draws::own(), String::new());
    let mut record = "engine,how,members,runs_a_second,ns_an_event,ratio\n".to_owned();
    for (members, experiment) in SIZES.into_iter().zip(&experiments) {
        let mut rows = rows(experiment, members, [&draws, &own], script.as_ref());
        let came = agree(&mut rows, members, &draws);
        let ends: u64 = came.iter().map(|(end, _)| end).sum();
        let failed: u32 = came.iter().map(|(_, failed)| failed).sum();
        println!(
            "{members} members: all {} agree in {AGREE} replications: mean end {} s, {failed} failures",
            rows.iter().filter(|row| row.shared).count(),
            ends / u64::from(AGREE) / 1_000
        );
        if script.is_none() {
            continue;
        }
        // The first round warms up.
        for round in 0..=ROUNDS {
            eprintln!("{members} members, round {round} of {ROUNDS}");
            for row in &mut rows {
                let rate = rate(&mut row.engine, members);
                if round > 0 {
                    row.rates.push(rate);
                }
            }
        }
        let table = told(members, &rows, &mut record);
        println!("{table}");
        tables += &table;
    }
    if script.is_some() {
        keep(&record, &tables);
    }
}

/// Writes the record, and the tables into the README.
fn keep(record: &str, tables: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::write(folder.join("record.csv"), record).expect("the record can be written");
    let readme = folder.join("README.md");
    let text = fs::read_to_string(&readme).expect("the README is there");
    let (before, rest) = text.split_once("run -->\n").expect("the README has a place for tables");
    let (_, after) = rest.split_once("<!-- end -->").expect("which ends");
    let text = format!("{before}run -->\n{tables}\n<!-- end -->{after}");
    fs::write(readme, text).expect("the README can be written");
}
