//! The options that all commands with many replications have.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use clap::Args;

/// As many replications as a scenario may ask for.
pub(super) const MOST_REPLICATIONS: i64 = 10_000_000;

/// How much is simulated, and by how many.
#[derive(Debug, Args)]
pub(super) struct Scale {
    /// Replications of each strategy, instead of the scenario's
    #[arg(short = 'n', long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_REPLICATIONS))]
    pub(super) replications: Option<u32>,
    #[arg(long, value_name = "N")]
    #[arg(help = "Worker threads [default: RAYON_NUM_THREADS, else all cores]")]
    threads: Option<NonZeroUsize>,
}

/// What is simulated, and whether it may replace what is there.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Replace whatever results the folder holds
    #[arg(long)]
    pub(super) force: bool,
    /// Only this strategy, candidate or variant; can be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) strategy: Vec<String>,
}

impl Scale {
    /// Replications of each strategy: those asked for, else these.
    pub(super) fn replications_or(&self, scenario: u32) -> u32 {
        self.replications.unwrap_or(scenario)
    }

    /// Worker threads: those asked for, else `RAYON_NUM_THREADS`, else all cores.
    pub(super) fn threads(&self) -> usize {
        let said = || std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
        let wanted = self.threads.or_else(said).or_else(|| available_parallelism().ok());
        wanted.unwrap_or(NonZeroUsize::MIN).get()
    }
}
