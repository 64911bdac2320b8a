//! The command line: what can be asked, and with which code the program ends.
//!
//! Owns arguments, terminal output, files and threads. Does not own any result: those come from
//! the library, and the same commands print the same bytes wherever they run.

mod check;
mod compare;
mod console;
mod files;
mod load;
pub(crate) mod panic;
mod plan;
mod policy;
mod run;
mod simulating;
mod sweep;
mod table;
mod validate;
mod words;

use clap::{Args, Parser, Subcommand};
use fleetsim::error::Diagnostic;

pub(crate) use console::{Console, Format};

/// The exit codes of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// A check failed.
    CheckFailed = 1,
    /// Wrong input or usage.
    BadInput = 2,
    /// A check is undecided and none failed, or more replications are needed for an answer.
    Undecided = 3,
    /// A bug of ours.
    Bug = 70,
    /// Ctrl-C; what was done is written.
    Interrupted = 130,
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something about the input is wrong.
    Input(Vec<Diagnostic>),
    /// Nobody reads the output any more.
    PipeClosed,
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(errors: Vec<Diagnostic>) -> Self {
        Self::Input(errors)
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(error: Box<Diagnostic>) -> Self {
        Self::Input(vec![*error])
    }
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self::Input(vec![error])
    }
}

const EXAMPLES: &str = "\
Examples:
  fleetsim validate scenario.yaml
  fleetsim plan scenario.yaml --strategy careful
  fleetsim run scenario.yaml --until 36h --status now.json
  fleetsim compare scenario.yaml -n 10000
  fleetsim sweep scenario.yaml --vary update.pollInterval=0,30m,60m
  fleetsim check scenario.yaml --junit checks.xml

Exit codes: 0 fine, 1 a check failed, 2 bad input or usage, 3 undecided (more replications are
needed), 70 a bug of ours, 130 interrupted.";

/// Simulates staged updates of fleets of Kubernetes clusters, and compares strategies.
#[derive(Debug, Parser)]
#[command(name = "fleetsim", version, after_help = EXAMPLES, arg_required_else_help = true)]
#[command(max_term_width = 100, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// How this invocation talks.
    pub(crate) fn console(&self) -> Console {
        Console::new(self.global.format, self.global.quiet, self.global.verbose)
    }
}

/// Options of every command.
#[derive(Debug, Args)]
struct Global {
    /// How results are printed
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    #[arg(display_order = 100)]
    format: Format,
    /// No progress and no warnings on stderr
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 101)]
    quiet: bool,
    /// More about what happens, on stderr
    #[arg(short, long, global = true, display_order = 102)]
    verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look for errors and doubtful places in scenarios, strategies, maintenance configurations
    Validate(validate::Options),
    /// Show who is updated when, with which limits, windows and targets; nothing is drawn
    Plan(plan::Options),
    /// Ask the node disruption policy about a configuration change
    Policy(policy::Options),
    /// Simulate one replication of one strategy
    Run(run::Options),
    /// Simulate all strategies many times, and compare them
    Compare(compare::Options),
    /// Simulate all strategies with other values in the scenario, on the same luck
    Sweep(sweep::Options),
    /// Simulate, and see whether what the scenario demands (`checks`) holds
    Check(check::Options),
}

/// Carries out a command.
pub(crate) fn run(command: &Command, console: &Console) -> Result<Exit, Failure> {
    match command {
        Command::Validate(options) => validate::run(options, console),
        Command::Plan(options) => plan::run(options, console),
        Command::Policy(options) => policy::run(options, console),
        Command::Run(options) => run::run(options, console),
        Command::Compare(options) => compare::run(options, console),
        Command::Sweep(options) => sweep::run(options, console),
        Command::Check(options) => check::run(options, console),
    }
}
