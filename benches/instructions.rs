//! The instruction gate: how many instructions a replication takes, against the record.
//!
//! `cargo bench --bench instructions` counts with valgrind's callgrind, and fails where a workload
//! takes over 5 % more than `benches/record/instructions.csv` says with the same compiler.
//! Instructions repeat to a thousandth where wall time moves by a tenth, so that the gate holds on a
//! busy machine. Each workload is counted at two numbers of replications: the difference is free of
//! the start-up. Without valgrind nothing is counted, and nothing fails.
//!
//! `-- --record` writes the record anew, and `-- WORKLOAD N` makes N replications, to be measured
//! by whatever tool.

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

/// Members of every workload.
const MEMBERS: u32 = 1_000;
/// Replications at which instructions are counted; the first ones warm up.
const COUNTS: [u32; 2] = [10, 110];
/// What a workload may take, over the record.
const ALLOWED: f64 = 1.05;
/// Below this share of the record the record is stale: it would let the gain be lost again.
const STALE: f64 = 0.95;

/// What is measured.
const WORKLOADS: [&str; 4] = ["rollout", "plain", "eventful", "watched"];

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/record/instructions.csv")
}

/// Makes replications 0, 1, 2 and so on of a workload.
///
/// `rollout` is the reference workload; `plain` has nothing in the way of its members; `eventful`
/// has windows, failures and an approval; `watched` is the same in a whole experiment: records kept,
/// delays split, times pooled.
fn replicate(workload: &str, replications: u32) {
    let scenario: Scenario = match workload {
        "rollout" => rollout::scenario(MEMBERS),
        "plain" => fleets::scenario(Kind::Plain, MEMBERS),
        "eventful" | "watched" => fleets::scenario(Kind::Eventful, MEMBERS),
        other => panic!("there is no workload `{other}`; there are {WORKLOADS:?}"),
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
fn counted(workload: &str, replications: u32) -> Result<u64, String> {
    let program = env::current_exe().map_err(|why| why.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([workload, &replications.to_string()])
        .output()
        .map_err(|why| format!("valgrind does not start: {why}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let total = said.lines().find_map(|line| line.split_once("Collected :"));
    let total = total.and_then(|(_, number)| number.trim().parse().ok());
    total.filter(|_| output.status.success()).ok_or_else(|| format!("callgrind says:\n{said}"))
}

fn a_replication(workload: &str) -> Result<u64, String> {
    let [few, many] = COUNTS.map(|replications| counted(workload, replications));
    let replications = u64::from(COUNTS[1] - COUNTS[0]);
    Ok((many? - few?).div_ceil(replications))
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

/// By workload: instructions a replication, and the toolchain.
fn recorded() -> BTreeMap<String, (u64, String)> {
    let text = fs::read_to_string(record()).unwrap_or_default();
    let row = |line: &str| {
        let mut cells = line.split(',');
        let (workload, _, number) = (cells.next()?, cells.next()?, cells.next()?.parse().ok()?);
        Some((workload.to_owned(), (number, cells.next()?.to_owned())))
    };
    text.lines().filter_map(row).collect()
}

fn write(found: &[(&str, u64)]) {
    let toolchain = toolchain();
    let mut text = "workload,members,instructions_a_replication,toolchain\n".to_owned();
    for (workload, instructions) in found {
        writeln!(text, "{workload},{MEMBERS},{instructions},{toolchain}")
            .expect("strings take all");
    }
    fs::write(record(), text).expect("the record can be written");
    println!("wrote {}", record().display());
}

/// Whether nothing takes more than the record allows.
fn holds(found: &[(&str, u64)]) -> bool {
    let (known, toolchain) = (recorded(), toolchain());
    let update = "cargo bench --bench instructions -- --record";
    let (mut holds, mut stale) = (true, false);
    for (workload, instructions) in found {
        let Some((before, with)) = known.get(*workload) else {
            println!("{workload}: not in the record");
            holds = false;
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let ratio = *instructions as f64 / *before as f64;
        if *with != toolchain {
            println!(
                "{workload}: not compared: the record is of rustc {with}, this is {toolchain}"
            );
            continue;
        }
        if ratio > ALLOWED {
            println!("{workload}: {:.1} % more than recorded", (ratio - 1.0) * 100.0);
            holds = false;
        }
        stale |= ratio < STALE;
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

fn show(found: &[(&str, u64)]) {
    let known = recorded();
    println!("workload  instructions a replication  an update    record  change");
    for (workload, instructions) in found {
        let update = instructions / u64::from(MEMBERS);
        let before = known.get(*workload).map(|(number, _)| *number);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let change = before.map(|before| (*instructions as f64 / before as f64 - 1.0) * 100.0);
        let change = change.map_or(String::new(), |change| format!("{change:+.1} %"));
        let before = before.map_or(String::new(), |before| before.to_string());
        println!("{workload:9} {instructions:26} {update:10} {before:>9} {change:>7}");
    }
}

fn main() -> ExitCode {
    // Cargo itself says `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [workload, replications] = &arguments[..] {
        replicate(workload, replications.parse().expect("a number of replications"));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions are not counted: there is no valgrind here");
        return ExitCode::SUCCESS;
    }
    let mut found = Vec::new();
    for workload in WORKLOADS {
        match a_replication(workload) {
            Ok(instructions) => found.push((workload, instructions)),
            Err(why) => {
                println!("{workload}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    show(&found);
    match &arguments[..] {
        [] if holds(&found) => ExitCode::SUCCESS,
        [] => ExitCode::FAILURE,
        [word] if word == "--record" => {
            write(&found);
            ExitCode::SUCCESS
        }
        _ => {
            println!("usage: cargo bench --bench instructions [-- --record | WORKLOAD N]");
            ExitCode::FAILURE
        }
    }
}
