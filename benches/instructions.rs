//! The instruction gate: how many instructions a replication takes, against the record.
//!
//! `cargo bench --bench instructions` counts with valgrind's callgrind, and fails where a workload
//! takes over 5 % more than `benches/record/instructions.csv` says with the same compiler.
//! Instructions repeat to a thousandth where wall time moves by a tenth, so that the gate holds on a
//! busy machine. Each workload is counted at two numbers of replications: the difference is free of
//! the start-up. Without valgrind nothing is counted, and nothing fails.
//!
//! `-- --record` writes the record anew, and `-- WORKLOAD MEMBERS N` makes N replications, to be
//! measured by whatever tool.

#![expect(clippy::print_stdout, reason = "a bench tells what it found")]

mod fleets;
mod rollout;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::{env, fs};

use fleets::Kind;
use fleetsim::experiment::{Effort, Experiment};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::NoLog;
use fleetsim::sim::Simulation;

/// What a workload may take, over the record.
const ALLOWED: f64 = 1.05;
/// Below this share of the record the record is stale: it would let the gain be lost again.
const STALE: f64 = 0.95;
/// Work grows as members times the logarithm of those in flight (X10): what the exponent of members
/// may be.
const STEEPEST: f64 = 1.1;

/// What is measured: a workload, and how many members it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    workload: &'static str,
    members: u32,
}

const fn case(workload: &'static str, members: u32) -> Case {
    Case { workload, members }
}

/// What the gate looks at.
const GATED: [Case; 6] = [
    case("rollout", 1_000),
    case("rollout", 10_000),
    case("plain", 1_000),
    case("eventful", 1_000),
    case("eventful", 10_000),
    case("watched", 1_000),
];
/// What the record holds besides, for the exponents.
const RECORDED: [Case; 2] = [case("rollout", 100), case("eventful", 100)];

impl Case {
    /// Replications at which instructions are counted; the first ones warm up.
    fn counts(self) -> [u32; 2] {
        let warm = (10_000 / self.members).clamp(2, 10);
        [warm, warm + (100_000 / self.members).max(2)]
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{},{}", self.workload, self.members))
    }
}

/// What was counted: instructions a replication.
type Found = [(Case, u64)];

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/record/instructions.csv")
}

/// Makes replications 0, 1, 2 and so on of a workload.
///
/// `rollout` is the reference workload; `plain` has nothing in the way of its members; `eventful`
/// has windows, failures and an approval; `watched` is the same in a whole experiment: records kept,
/// delays split, times pooled.
fn replicate(workload: &str, members: u32, replications: u32) {
    let scenario: Scenario = match workload {
        "rollout" => rollout::scenario(members),
        "plain" => fleets::scenario(Kind::Plain, members),
        "eventful" | "watched" => fleets::scenario(Kind::Eventful, members),
        other => panic!("there is no workload `{other}`; there are {GATED:?}"),
    };
    let experiment: Experiment<'_> = fleets::experiment(&scenario);
    if workload == "watched" {
        let stop = AtomicBool::new(false);
        let effort = Effort { replications, threads: 1, stop: &stop, progress: &|_| {} };
        black_box(experiment.run(&effort));
        return;
    }
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    for number in 0..replications {
        black_box(simulation.run(number, experiment.end(), &mut NoLog));
    }
}

/// The instructions that this program takes for some replications, under callgrind.
fn counted(case: Case, replications: u32) -> Result<u64, String> {
    let program = env::current_exe().map_err(|why| why.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([case.workload, &case.members.to_string(), &replications.to_string()])
        .output()
        .map_err(|why| format!("valgrind does not start: {why}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let total = said.lines().find_map(|line| line.split_once("Collected :"));
    let total = total.and_then(|(_, number)| number.trim().parse().ok());
    total.filter(|_| output.status.success()).ok_or_else(|| format!("callgrind says:\n{said}"))
}

/// All cases with their instructions a replication.
fn count(cases: &[Case]) -> Result<Vec<(Case, u64)>, String> {
    let one = |case: &Case| {
        let [few, many] = case.counts().map(|replications| counted(*case, replications));
        let [fewer, more] = case.counts();
        Ok((*case, (many? - few?).div_ceil(u64::from(more - fewer))))
    };
    cases.iter().map(one).collect()
}

/// The compiler that makes the numbers what they are.
fn toolchain() -> String {
    let said = Command::new(env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .arg("--version")
        .output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let words = said.unwrap_or_default();
    words.split_whitespace().nth(1).unwrap_or("unknown").to_owned()
}

/// By workload and members, as in the record: instructions a replication, and the toolchain.
fn recorded() -> BTreeMap<String, (u64, String)> {
    let text = fs::read_to_string(record()).unwrap_or_default();
    let row = |line: &str| {
        let mut cells = line.rsplitn(3, ',');
        let (toolchain, number) = (cells.next()?.to_owned(), cells.next()?.parse().ok()?);
        Some((cells.next()?.to_owned(), (number, toolchain)))
    };
    text.lines().filter_map(row).collect()
}

fn write(found: &Found) {
    let toolchain = toolchain();
    let mut text = "workload,members,instructions_a_replication,toolchain\n".to_owned();
    for (case, instructions) in found {
        writeln!(text, "{case},{instructions},{toolchain}").expect("strings take all");
    }
    fs::write(record(), text).expect("the record can be written");
    println!("wrote {}", record().display());
}

/// How steeply a workload's instructions rise with its members: the slope of the logarithms, by
/// least squares.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn exponent(found: &Found, workload: &str) -> f64 {
    let of = found.iter().filter(|(case, _)| case.workload == workload);
    let points: Vec<(f64, f64)> =
        of.map(|(case, count)| (f64::from(case.members).ln(), (*count as f64).ln())).collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let with = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    with / points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>()
}

/// Prints how work grows; whether it grows as slowly as it should.
fn grows(found: &Found) -> bool {
    let mut holds = true;
    for workload in ["rollout", "eventful"] {
        let sizes = found.iter().filter(|(case, _)| case.workload == workload);
        let sizes = sizes.map(|(case, _)| case.members);
        let (low, high) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
        let exponent = exponent(found, workload);
        println!("{workload}: instructions grow as members^{exponent:.3} from {low} to {high}");
        holds &= exponent <= STEEPEST;
    }
    if !holds {
        println!("that is steeper than members^{STEEPEST} (X10)");
    }
    holds
}

/// Whether nothing takes more than the record allows.
fn holds(found: &Found) -> bool {
    let (known, toolchain) = (recorded(), toolchain());
    let update = "cargo bench --bench instructions -- --record";
    let (mut holds, mut stale) = (true, false);
    for (case, instructions) in found {
        let Some((before, with)) = known.get(&case.to_string()) else {
            println!("{case}: not in the record");
            holds = false;
            continue;
        };
        if *with != toolchain {
            println!("{case}: not compared: the record is of rustc {with}, this is {toolchain}");
            continue;
        }
        let change = change(*instructions, *before);
        if change > ALLOWED {
            println!("{case}: {:.1} % more than recorded", (change - 1.0) * 100.0);
            holds = false;
        }
        stale |= change < STALE;
    }
    if !holds {
        println!(
            "too many instructions. If the price is worth paying, say why in the commit, with"
        );
        println!("  {update}");
    } else if stale {
        println!("over 5 % fewer than recorded: keep the gain with\n  {update}");
    }
    holds
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn change(now: u64, before: u64) -> f64 {
    now as f64 / before as f64
}

fn show(found: &Found) {
    let known = recorded();
    println!("workload,members  instructions a replication  an update     record   change");
    for (case, instructions) in found {
        let update = instructions / u64::from(case.members);
        let before = known.get(&case.to_string()).map(|(number, _)| *number);
        let change = before.map(|before| (change(*instructions, before) - 1.0) * 100.0);
        let change = change.map_or(String::new(), |change| format!("{change:+.1} %"));
        let before = before.map_or(String::new(), |before| before.to_string());
        println!("{case:16} {instructions:27} {update:10} {before:>10} {change:>8}");
    }
}

/// Counts, compares or records; whether all is well.
fn measure(arguments: &[String]) -> Result<bool, String> {
    match arguments {
        [] => {
            let found = count(&GATED)?;
            show(&found);
            let grows = grows(&found);
            Ok(holds(&found) && grows)
        }
        [word] if word == "--record" => {
            let mut found = count(&[&GATED[..], &RECORDED].concat())?;
            found.sort_unstable();
            show(&found);
            write(&found);
            Ok(grows(&found))
        }
        _ => Err("cargo bench --bench instructions [-- --record | WORKLOAD MEMBERS N]".to_owned()),
    }
}

fn main() -> ExitCode {
    // Cargo itself says `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [workload, members, replications] = &arguments[..] {
        let number = |text: &String| text.parse().expect("a number");
        replicate(workload, number(members), number(replications));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions are not counted: there is no valgrind here");
        return ExitCode::SUCCESS;
    }
    match measure(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
