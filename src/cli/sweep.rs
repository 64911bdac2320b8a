//! `sweep`: all strategies at every point of a grid of other values, on common random numbers; and
//! which assumptions move the answer most.

mod sensitivity;

use std::path::{Path, PathBuf};

use clap::Args;
use fleetsim::error::Diagnostic;
use fleetsim::experiment::{Effort, Experiment, Metric, Outcomes, grid};
use fleetsim::report::front::is_cost;
use fleetsim::report::results;
use fleetsim::report::summary::Summary;
use fleetsim::report::sweep::{self, Sweep, SweepPoint};
use fleetsim::scenario::vary::{Edit, Variation};
use fleetsim::stats::Confidence;

use super::compare::progress::{Bar, Clock};
use super::compare::{STOP, is_interrupted, listen, width};
use super::load::{Loaded, Source};
use super::panic::{self, InHand};
use super::simulating::{Choice, Scale};
use super::table::wide;
use super::{Console, Exit, Failure, Format, words};

const EXAMPLES: &str = "\
Examples:
  fleetsim sweep scenario.yaml --vary update.pollInterval=0,30m,60m
  fleetsim sweep scenario.yaml \\
    --vary 'strategies.waves.stages[0].afterStageWaitInSeconds=0..172800/8'
  fleetsim sweep scenario.yaml --vary world.failures.probability=0.003..0.03/4 \\
    --vary 'strategies.waves.stages[prod].maxConcurrency=10%..50%/4' --front makespan,failedMembers
  fleetsim sweep scenario.yaml --vary start=2026-01-01..2026-12-31/364
  fleetsim sweep scenario.yaml --sensitivity

A path names a value by its keys; items of lists go by their name, or by [number] from 0.
LOW..HIGH/8 are 8 equal steps, both ends included: 9 values. Several --vary make a grid.";

/// Options of `sweep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The scenario; `-` reads stdin
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// A value of the scenario, and what to try for it: PATH=a,b,c or PATH=LOW..HIGH/STEPS; several
    /// make a grid
    #[arg(long, value_name = "PATH=VALUES", required_unless_present = "sensitivity")]
    vary: Vec<Variation>,
    /// Which assumptions move the answer most: all numbers that are assumed, one at a time, a third
    /// and three times of what they are
    #[arg(long, conflicts_with_all = ["vary", "front"])]
    sensitivity: bool,
    /// With --sensitivity: the metric that is the answer [default: makespan; without an update
    /// autoUpgrade.behind, or changes.timeTo100]
    #[arg(long, value_name = "METRIC", conflicts_with_all = ["vary", "front"])]
    metric: Option<Metric>,
    /// Two metrics of which less is better: what no other point beats in both is efficient
    #[arg(long, value_name = "A,B", default_value = "makespan,failedMembers", value_parser = front)]
    front: [Metric; 2],
    #[command(flatten)]
    scale: Scale,
    /// Where the results go [default: results/<scenario name>-sweep, or -sensitivity]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
}

/// `makespan,failedMembers`
fn front(text: &str) -> Result<[Metric; 2], String> {
    let metrics: Vec<Metric> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [first, second] = metrics[..] else {
        return Err("a front is of two metrics, as in makespan,failedMembers".to_owned());
    };
    if first == second {
        return Err("a front is of two different metrics".to_owned());
    }
    match [first, second].into_iter().find(|metric| !is_cost(*metric)) {
        Some(metric) => Err(format!(
            "of {metric} more is better, and a front is of metrics of which less is; take \
             notStartedMembers, pendingMembers or failedMembers"
        )),
        None => Ok([first, second]),
    }
}

/// Carries out `sweep`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    if options.sensitivity {
        return sensitivity::run(options, console);
    }
    let usage = |why: String| Diagnostic::error("vary", why);
    let grid = grid(&options.vary).map_err(usage)?;
    let source = Source::read(&options.scenario)?;
    let base = source.clone().scenario(options.choice.seed)?;
    let loaded = load(options, &source, &grid)?;
    let experiments = lay_out(options, &loaded)?;
    let folder = folder(options, &base, "sweep");
    results::claim(&folder, base.scenario(), options.choice.force)?;
    console.warn(&base.warnings);
    listen();
    let points = simulate(options, (&loaded, &experiments), &grid, console);
    if points.is_empty() {
        console.always("interrupted before the first point was done: nothing is written");
        return Ok(Exit::Interrupted);
    }
    let done = points.len();
    let sweep = Sweep {
        scenario: base.scenario().name.clone(),
        digest: base.scenario().digest.clone(),
        seed: base.scenario().seed,
        paths: options.vary.iter().map(|variation| variation.path.clone()).collect(),
        points,
        front: options.front,
    };
    console.print(&match console.format {
        Format::Table | Format::Md => text(&sweep, console.format),
        Format::Csv => sweep::sweep_csv(&sweep),
        Format::Json => sweep::sweep_json(&sweep),
    })?;
    sweep.write(&folder)?;
    console.say(&format!("wrote {}", folder.display()));
    if done < grid.len() {
        let points = words::count(grid.len() as u64, "point");
        console.always(&format!("interrupted: these are the first {done} of {points}"));
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Fine)
}

/// Reads the scenario at every point, or says everything that is wrong, each thing once.
fn load(
    options: &Options,
    source: &Source,
    grid: &[Vec<Edit>],
) -> Result<Vec<Loaded>, Vec<Diagnostic>> {
    let (mut all, mut errors) = (Vec::new(), Vec::<Diagnostic>::new());
    for edits in grid {
        match source.clone().varied(options.choice.seed, edits) {
            Ok(loaded) => all.push(loaded),
            Err(found) => {
                for error in found {
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// Lays the strategies over the fleet at every point.
fn lay_out<'l>(
    options: &Options,
    loaded: &'l [Loaded],
) -> Result<Vec<Experiment<'l>>, Vec<Diagnostic>> {
    let (mut all, mut errors) = (Vec::new(), Vec::<Diagnostic>::new());
    for loaded in loaded {
        let candidates = loaded.candidates(&options.choice.strategy);
        match candidates.and_then(|candidates| loaded.lay_out(&candidates)) {
            Ok(experiment) => all.push(experiment),
            Err(found) => {
                for error in found {
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// Where results go: without `-o`, a folder of the scenario's name and of what was done.
fn folder(options: &Options, base: &Loaded, what: &str) -> PathBuf {
    let name = || Path::new("results").join(format!("{}-{what}", base.scenario().name));
    options.output.clone().unwrap_or_else(name)
}

/// Simulates point after point; an interrupted point is left out, so that all have the same
/// replications.
fn simulate(
    options: &Options,
    (loaded, experiments): (&[Loaded], &[Experiment<'_>]),
    grid: &[Vec<Edit>],
    console: &Console,
) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    run_all(options, &loaded[0], experiments, console, &mut |index, outcomes| {
        let summary = Summary::of(&experiments[index], &outcomes, Confidence::DEFAULT);
        let summary = summary.expect("there is at least one replication");
        let values = grid[index].iter().map(|edit| edit.value.clone()).collect();
        points.push(SweepPoint { values, summary });
    });
    points
}

/// Simulates experiments one after another, and hands over the outcomes of those that are whole.
fn run_all(
    options: &Options,
    base: &Loaded,
    experiments: &[Experiment<'_>],
    console: &Console,
    done: &mut dyn FnMut(usize, Outcomes),
) {
    let threads = options.scale.threads();
    let replications = |experiment: &Experiment<'_>| {
        options.scale.replications_or(experiment.scenario.replications)
    };
    let work = |experiment: &Experiment<'_>| {
        u64::from(replications(experiment)) * experiment.plans.len() as u64
    };
    let total = experiments.iter().map(work).sum();
    let (clock, bar) = (Clock::start(), Bar::new(&base.scenario().name, total, console));
    let mut before = 0;
    for (index, experiment) in experiments.iter().enumerate() {
        panic::note(InHand {
            scenario: base.name().to_owned(),
            seed: experiment.scenario.seed,
            strategies: experiment.plans.iter().map(|plan| plan.strategy.to_owned()).collect(),
            replication: None,
        });
        let progress = |done: usize| bar.show(before + done as u64);
        let replications = replications(experiment);
        let effort = Effort { replications, threads, stop: &STOP, progress: &progress };
        let outcomes = experiment.run(&effort);
        if outcomes.interrupted {
            break;
        }
        before += work(experiment);
        done(index, outcomes);
        if is_interrupted() {
            break;
        }
    }
    bar.clear();
    console.say(&format!(
        "{} in {} on {}: {} replications/s",
        words::count(before, "replication"),
        clock.shown(),
        words::count(threads as u64, "thread"),
        clock.rate(before)
    ));
}

/// The table with its title and its legend.
fn text(sweep: &Sweep, format: Format) -> String {
    let table = wide(&sweep::table(sweep), sweep.paths.len() + 1, (format, width()));
    let overall = sweep::overall(sweep).map_or_else(String::new, |line| format!("{line}\n"));
    format!("{}\n{table}\n{}\n{overall}", sweep::title(sweep), sweep::legend(sweep))
}
