//! The `fleetsim` command: parse, run, print what went wrong, exit.

mod cli;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Exit, Failure};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = cli.console();
    cli::panic::install();
    let exit = match cli::run(&cli.command, &console) {
        Ok(exit) => exit,
        Err(Failure::Input(errors)) => {
            console.complain(&errors);
            Exit::BadInput
        }
        // Whoever reads along has seen enough, as `head` does.
        Err(Failure::PipeClosed) => Exit::Fine,
    };
    ExitCode::from(exit as u8)
}
