//! `compare`: all strategies, many replications each, on common random numbers.

pub(super) mod asked;
pub(super) mod progress;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use fleetsim::error::Diagnostic;
use fleetsim::experiment::{Effort, Experiment, Goal, Outcomes, grid};
use fleetsim::report::results::{self, Results};
use fleetsim::report::summary::Summary;
use fleetsim::report::table;
use fleetsim::scenario::variants::{self, Tried};
use fleetsim::scenario::vary::Variation;
use fleetsim::stats::{Confidence, Look};

use super::load::{Loaded, Source};
use super::panic::{self, InHand};
use super::simulating::{Choice, Scale};
use super::{Console, Exit, Failure, Format, words};
use asked::Asked;
use progress::{Bar, Clock};

/// Where results go without `-o`: a folder of the scenario's name in here.
const RESULTS: &str = "results";
/// Columns of the table where there is no terminal.
const WIDTH: u16 = 100;
/// Columns of the table on however wide a terminal.
const WIDEST: u16 = 160;

const EXAMPLES: &str = "\
Examples:
  fleetsim compare scenario.yaml
  fleetsim compare scenario.yaml -n 10000 -o results/long --strategy careful --strategy waves
  fleetsim compare scenarios/*.yaml --format md > compared.md
  fleetsim compare scenario.yaml --precision 2%
  fleetsim compare scenario.yaml --best makespan --indifference 12h
  fleetsim compare scenario.yaml --vary update.pollInterval=0,30m,60m

All strategies meet the same luck, so their differences are sharper than their numbers. Ctrl-C
finishes the replications in hand and writes what is done; a second one stops at once.

Exit code 3: the precision was not reached, or it can't be told yet which strategy is best.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The scenarios; `-` reads stdin
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<String>,
    #[command(flatten)]
    scale: Scale,
    #[command(flatten)]
    asked: Asked,
    /// Where the results go [default: results/<scenario name>, with --vary <scenario name>-vary];
    /// with several scenarios, a subfolder each
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// A value of the scenario, and what to compare: PATH=a,b,c or PATH=LOW..HIGH/STEPS. Each is a
    /// variant, with every strategy; several --vary make a grid
    #[arg(long, value_name = "PATH=VALUES")]
    vary: Vec<Variation>,
}

/// Ctrl-C was pressed.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Carries out `compare`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    options.asked.check()?;
    let loaded = load(options)?;
    let experiments = lay_out(options, &loaded)?;
    let folders = folders(options, &loaded)?;
    for (loaded, experiment) in loaded.iter().zip(&experiments) {
        console.warn(&loaded.doubts(experiment));
    }
    listen();
    let mut done: Vec<Summary> = Vec::new();
    let mut exit = Exit::Fine;
    let goal = options.asked.goal(options.scale.replications);
    for ((loaded, experiment), folder) in loaded.iter().zip(&experiments).zip(&folders) {
        let replications = options.scale.replications_or(loaded.scenario().replications);
        let effort = (replications, options.scale.threads());
        let (outcomes, confidence) = seek(loaded, experiment, effort, goal, console);
        let Some(mut summary) = Summary::of(experiment, &outcomes, confidence) else {
            console.always("interrupted before the first replication was done: nothing is written");
            break;
        };
        summary.best = options.asked.best(experiment, &outcomes)?;
        summary.vary.clone_from(&options.vary);
        if console.format == Format::Table {
            let gap = if done.is_empty() { "" } else { "\n" };
            console.print(&format!("{gap}{}", table::terminal(&summary, width())))?;
        }
        let target = options.asked.target();
        let results = Results { experiment, outcomes: &outcomes, summary: &summary, target };
        results.write(folder, options.choice.force)?;
        console.say(&format!("wrote {}", folder.display()));
        if outcomes.interrupted {
            let done = words::count(summary.replications as u64, "replication");
            console.always(&format!("interrupted: these are the results of the first {done}"));
        }
        if options.asked.tell(&summary, console) == Exit::Undecided {
            exit = Exit::Undecided;
        }
        done.push(summary);
        if is_interrupted() {
            break;
        }
    }
    print(&done, console)?;
    Ok(if is_interrupted() { Exit::Interrupted } else { exit })
}

/// Reads all scenarios, or says what is wrong with all of them.
fn load(options: &Options) -> Result<Vec<Loaded>, Failure> {
    let tried = tried(&options.vary)?;
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for path in &options.scenarios {
        let source = Source::read(path).map_err(|error| vec![*error]);
        match source.and_then(|source| source.tried(options.choice.seed, &tried)) {
            Ok(loaded) => all.push(loaded),
            Err(found) => errors.extend(found),
        }
    }
    let mut names = BTreeSet::new();
    for loaded in &all {
        let name = &loaded.scenario().name;
        if !names.insert(name.to_lowercase()) {
            let message = format!("two of the scenarios are called `{name}`");
            let hint = "results lie in a folder of the scenario's name; rename one of them";
            errors.push(Diagnostic::error("duplicate-name", message).hint(hint));
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors.into()) }
}

/// The variants that `--vary` asks for; none without it.
fn tried(vary: &[Variation]) -> Result<Vec<Tried>, Diagnostic> {
    if vary.is_empty() {
        return Ok(Vec::new());
    }
    grid(vary).and_then(|points| variants::tried(&points)).map_err(|why| {
        Diagnostic::error("vary", why).hint("sweeps try many values: fleetsim sweep")
    })
}

fn lay_out<'l>(
    options: &Options,
    loaded: &'l [Loaded],
) -> Result<Vec<Experiment<'l>>, Vec<Diagnostic>> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for loaded in loaded {
        let candidates = loaded.candidates(&options.choice.strategy);
        match candidates.and_then(|candidates| loaded.lay_out(&candidates)) {
            Ok(experiment) => all.push(experiment),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// Where each scenario's results go; none may hold anything else.
fn folders(options: &Options, loaded: &[Loaded]) -> Result<Vec<PathBuf>, Failure> {
    let one = loaded.len() == 1;
    let folder = |loaded: &Loaded| match &options.output {
        Some(folder) if one => folder.clone(),
        Some(folder) => folder.join(&loaded.scenario().name),
        None if options.vary.is_empty() => Path::new(RESULTS).join(&loaded.scenario().name),
        None => Path::new(RESULTS).join(format!("{}-vary", loaded.scenario().name)),
    };
    let folders: Vec<PathBuf> = loaded.iter().map(folder).collect();
    for (folder, loaded) in folders.iter().zip(loaded) {
        results::claim(folder, loaded.scenario(), options.choice.force)?;
    }
    Ok(folders)
}

/// Simulates an experiment with this many replications and threads, and shows how far it is.
pub(super) fn simulate(
    loaded: &Loaded,
    experiment: &Experiment<'_>,
    effort: (u32, usize),
    console: &Console,
) -> Outcomes {
    watched(loaded, experiment, effort, console, |effort, _| (experiment.run(effort), ())).0
}

/// The same, or until a goal is reached; with the outcomes comes the confidence of intervals.
fn seek(
    loaded: &Loaded,
    experiment: &Experiment<'_>,
    effort: (u32, usize),
    goal: Option<Goal>,
    console: &Console,
) -> (Outcomes, Confidence) {
    watched(loaded, experiment, effort, console, |effort, look| match goal {
        None => (experiment.run(effort), Confidence::DEFAULT),
        Some(goal) => {
            let sought = experiment.seek(&goal, effort, look);
            (sought.outcomes, sought.look.confidence)
        }
    })
}

/// Shows how far `work` is, which simulates an experiment, and how fast it went. `work` is handed
/// the effort and whom to tell of looks.
pub(super) fn watched<T>(
    loaded: &Loaded,
    experiment: &Experiment<'_>,
    (replications, threads): (u32, usize),
    console: &Console,
    work: impl FnOnce(&Effort<'_>, &mut dyn FnMut(Look)) -> (Outcomes, T),
) -> (Outcomes, T) {
    let scenario = loaded.scenario();
    panic::note(InHand {
        scenario: loaded.name().to_owned(),
        seed: scenario.seed,
        strategies: experiment.plans.iter().map(|plan| plan.strategy.to_owned()).collect(),
        replication: None,
    });
    let plans = experiment.plans.len() as u64;
    let (name, seed) = (&scenario.name, scenario.seed);
    console.detail(&format!(
        "{name}: {} of {} with seed {seed} on {}",
        words::count(replications, "replication"),
        words::names(experiment.plans.iter().map(|plan| plan.strategy), 10),
        words::count(threads as u64, "thread"),
    ));
    let total = u64::from(replications) * plans;
    let (clock, bar) = (Clock::start(), Bar::new(name, total, console));
    let progress = |done: usize| bar.show(done as u64);
    let effort = Effort { replications, threads, stop: &STOP, progress: &progress };
    let done = work(&effort, &mut |look| {
        bar.lengthen(&format!("{name}, look {}", look.number), look.replications as u64 * plans);
    });
    bar.clear();
    console.say(&timing(&done.0, &clock, threads));
    done
}

/// How fast it went.
fn timing(outcomes: &Outcomes, clock: &Clock, threads: usize) -> String {
    let all = outcomes.by_strategy.iter().flatten();
    let (mut runs, mut updates) = (0_u64, 0_u64);
    for outcome in all {
        runs += 1;
        updates += outcome.updates();
    }
    format!(
        "{} in {} on {}: {} replications/s, {} member updates/s",
        words::count(runs, "replication"),
        clock.shown(),
        words::count(threads as u64, "thread"),
        clock.rate(runs),
        clock.rate(updates),
    )
}

/// The first Ctrl-C asks the workers to stop, the second one ends the program.
pub(super) fn listen() {
    let pressed = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        // Not into the line of the bar.
        let gap = if io::stderr().is_terminal() { "\n" } else { "" };
        let line = "finishing the replications in hand; press Ctrl-C again to stop at once";
        let _ = writeln!(io::stderr().lock(), "{gap}{line}");
    };
    // Without a handler Ctrl-C ends the program at once: good enough.
    let _ = ctrlc::set_handler(pressed);
}

/// Whether Ctrl-C was pressed.
pub(super) fn is_interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Columns of the terminal on stdout.
pub(super) fn width() -> u16 {
    terminal_size::terminal_size().map_or(WIDTH, |(width, _)| width.0.clamp(WIDTH / 2, WIDEST))
}

/// Prints what is printed only when everything is done.
fn print(done: &[Summary], console: &Console) -> Result<(), Failure> {
    let texts = |of: fn(&Summary) -> String| done.iter().map(of).collect::<Vec<_>>();
    let text = match console.format {
        Format::Table => return Ok(()),
        Format::Md => texts(table::markdown).join("\n"),
        Format::Json => match &texts(results::summary_json)[..] {
            [only] => only.clone(),
            several => format!("[\n{}\n]\n", several.join(",\n")),
        },
        Format::Csv if done.len() == 1 => results::summary_csv(&done[0]),
        Format::Csv => csv_of_several(done),
    };
    console.print(&text)
}

/// The rows of several scenarios under one heading, with a column for their names.
fn csv_of_several(done: &[Summary]) -> String {
    let mut text = String::new();
    for summary in done {
        let rows = results::summary_csv(summary);
        for (number, row) in rows.lines().enumerate() {
            if number > 0 {
                writeln!(text, "{},{row}", summary.scenario).expect("strings take all");
            } else if text.is_empty() {
                writeln!(text, "scenario,{row}").expect("strings take all");
            }
        }
    }
    text
}
