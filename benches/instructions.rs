//! The instruction gate: how many instructions a replication takes, against the record.
//!
//! `cargo bench --bench instructions` counts with valgrind's callgrind, and fails where a workload
//! takes over 5 % more than `benches/record/instructions.csv` says with the same compiler.
//! Instructions repeat to a thousandth where wall time moves by a tenth, so that the gate holds on a
//! busy machine. Only replications are counted, after some that warm up: no reading, no compiling
//! of the scenario. Without valgrind nothing is counted, and nothing fails.
//!
//! `-- --record` writes the record anew, and `-- WORKLOAD MEMBERS N` makes N replications, to be
//! measured by whatever tool.

#![expect(clippy::print_stdout, reason = "a bench tells what it found")]

mod fleets;
mod models;
mod rollout;
mod workloads;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use models::MODELS;
use workloads::{Case, Round};

/// What a workload may take, over the record.
const ALLOWED: f64 = 1.05;
/// Below this share of the record the record is stale: it would let the gain be lost again.
const STALE: f64 = 0.95;
/// Work grows as members times the logarithm of those in flight (X10): what the exponent of members
/// may be.
const STEEPEST: f64 = 1.1;
/// The word before the cases that are to be counted under callgrind.
const COUNT: &str = "--count";

/// What the gate looks at besides the models.
const GATED: [Case; 13] = [
    Case::new("draw", 1_000),
    Case::new("queue", 1_000),
    Case::new("queue", 10_000),
    Case::new("handle", 1_000),
    Case::new("plain", 10),
    Case::new("train", 10),
    Case::new("rollout", 1_000),
    Case::new("rollout", 10_000),
    Case::new("plain", 1_000),
    Case::new("eventful", 1_000),
    Case::new("eventful", 10_000),
    Case::new("watched", 1_000),
    Case::new("trouble", 1_000),
];
/// What the record holds besides, for the exponents.
const RECORDED: [Case; 2] = [Case::new("rollout", 100), Case::new("eventful", 100)];
/// Members of the fleet with which models are compared.
const MEMBERS: u32 = 1_000;

/// What was counted of a case, a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    case: Case,
    instructions: u64,
    updates: u64,
}

/// Makes these replications; what callgrind collects. Returns how many updates they made.
#[inline(never)]
fn measured(round: Round<'_>, numbers: Range<u32>) -> u64 {
    numbers.map(round).sum()
}

/// Measures a case after a warm-up; returns how many updates were measured.
fn warm_and_measured(case: Case) -> u64 {
    let (mut updates, count) = (0, replications(case));
    workloads::with(case, &mut |round| {
        (0..count).for_each(|number| {
            round(number);
        });
        updates = measured(round, count..2 * count);
    });
    updates
}

/// Makes replications 0, 1, 2 and so on.
fn replicate(case: Case, replications: u32) {
    workloads::with(case, &mut |round| {
        measured(round, 0..replications);
    });
}

/// Replications that are counted.
fn replications(case: Case) -> u32 {
    (10_000 / case.members).clamp(2, 100)
}

fn gated() -> Vec<Case> {
    GATED.into_iter().chain(MODELS.iter().map(|model| Case::new(model.name, MEMBERS))).collect()
}

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/record/instructions.csv")
}

/// Counts all cases in one process: callgrind collects inside [`measured`] alone, and
/// dumps what it collected whenever that returns.
fn count(cases: &[Case]) -> Result<Vec<Found>, String> {
    let why = |error: std::io::Error| format!("counting: {error}");
    let folder = env::temp_dir().join(format!("fleetsim-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(why)?;
    let measured = "instructions::measured";
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--toggle-collect={measured}"))
        .arg(format!("--dump-after={measured}"))
        .arg(format!("--callgrind-out-file={}", folder.join("out").display()))
        .arg(env::current_exe().map_err(why)?)
        .arg(COUNT)
        .args(cases.iter().map(ToString::to_string))
        .output()
        .map_err(|error| format!("valgrind does not start: {error}"))?;
    let found = if output.status.success() {
        let updates = String::from_utf8_lossy(&output.stdout);
        let one = |((number, case), updates): ((u32, &Case), &str)| {
            let dump = fs::read_to_string(folder.join(format!("out.{number}"))).map_err(why)?;
            let total = dump.lines().find_map(|line| line.strip_prefix("totals: "));
            let total: Option<u64> = total.and_then(|number| number.trim().parse().ok());
            let total = total.ok_or("callgrind's dump has no totals")?;
            let updates: u64 = updates.parse().map_err(|error| format!("{updates}: {error}"))?;
            let replications = u64::from(replications(*case));
            let a_replication = |number: u64| number.div_ceil(replications);
            let (instructions, updates) = (a_replication(total), a_replication(updates));
            Ok(Found { case: *case, instructions, updates })
        };
        (1..).zip(cases).zip(updates.lines()).map(one).collect()
    } else {
        Err(format!("callgrind says:\n{}", String::from_utf8_lossy(&output.stderr)))
    };
    fs::remove_dir_all(&folder).map_err(why)?;
    found
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
        let cells: Vec<&str> = line.split(',').collect();
        let [workload, members, instructions, _, toolchain] = cells[..] else { return None };
        let instructions = instructions.parse().ok()?;
        Some((format!("{workload},{members}"), (instructions, toolchain.to_owned())))
    };
    text.lines().filter_map(row).collect()
}

fn write(found: &[Found]) {
    let toolchain = toolchain();
    let mut text = "workload,members,instructions,updates,toolchain\n".to_owned();
    for Found { case, instructions, updates } in found {
        writeln!(text, "{case},{instructions},{updates},{toolchain}").expect("strings take all");
    }
    fs::write(record(), text).expect("the record can be written");
    println!("wrote {}", record().display());
}

/// How steeply a workload's instructions rise with its members: the slope of the logarithms, by
/// least squares.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn exponent(found: &[Found], workload: &str) -> f64 {
    let of = found.iter().filter(|found| found.case.workload == workload);
    let points: Vec<(f64, f64)> = of
        .map(|found| (f64::from(found.case.members).ln(), (found.instructions as f64).ln()))
        .collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let with = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    with / points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>()
}

/// Prints how work grows; whether it grows as slowly as it should.
fn grows(found: &[Found]) -> bool {
    let mut holds = true;
    for workload in ["rollout", "eventful"] {
        let sizes = found.iter().filter(|found| found.case.workload == workload);
        let sizes = sizes.map(|found| found.case.members);
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
fn holds(found: &[Found]) -> bool {
    let (known, toolchain) = (recorded(), toolchain());
    let update = "cargo bench --bench instructions -- --record";
    let (mut holds, mut stale) = (true, false);
    for Found { case, instructions, .. } in found {
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

fn show(found: &[Found]) {
    let known = recorded();
    println!("workload,members     instructions  updates  an update     record   change");
    for Found { case, instructions, updates } in found {
        let update = instructions / (*updates).max(1);
        let before = known.get(&case.to_string()).map(|(number, _)| *number);
        let change = before.map(|before| (change(*instructions, before) - 1.0) * 100.0);
        let change = change.map_or(String::new(), |change| format!("{change:+.1} %"));
        let before = before.map_or(String::new(), |before| before.to_string());
        print!("{case:20} {instructions:12} {updates:8} {update:10} {before:>10} {change:>8}");
        println!("{}", beside(found, *case));
    }
}

/// What a model costs beside the row that it is to be compared with, and what it is.
fn beside(found: &[Found], case: Case) -> String {
    let Some(model) = MODELS.iter().find(|model| model.name == case.workload) else {
        return String::new();
    };
    let an_update = |name| {
        let row = found.iter().find(|row| row.case == Case::new(name, MEMBERS));
        row.map_or(1, |row| row.instructions / row.updates.max(1))
    };
    let ratio = change(an_update(model.name), an_update(model.beside));
    format!("  {ratio:5.2} × {}: {}", model.beside, model.what)
}

/// Counts, compares or records; whether all is well.
fn measure(arguments: &[String]) -> Result<bool, String> {
    match arguments {
        [] => {
            let found = count(&gated())?;
            show(&found);
            let grows = grows(&found);
            Ok(holds(&found) && grows)
        }
        [word] if word == "--record" => {
            let found = count(&[&gated()[..], &RECORDED].concat())?;
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
    if let Some((COUNT, cases)) = arguments.split_first().map(|(word, rest)| (word.as_str(), rest))
    {
        for case in cases {
            let case: Case = case.parse().expect("a case");
            println!("{}", warm_and_measured(case));
        }
        return ExitCode::SUCCESS;
    }
    if let [workload, members, replications] = &arguments[..] {
        let case = format!("{workload},{members}").parse().expect("a workload and members");
        replicate(case, replications.parse().expect("a number"));
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
