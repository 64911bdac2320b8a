//! What is printed where: results on stdout, everything else on stderr.

use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::ValueEnum;
use fleetsim::error::{Diagnostic, Severity};

use super::Failure;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    // For people. (Ordinary comments: the help needs no sentence for each.)
    #[default]
    Table,
    // One JSON document.
    Json,
    // Comma-separated values.
    Csv,
    // Markdown.
    Md,
}

/// The two streams and how much is said on them.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four switches of the terminal")]
pub(crate) struct Console {
    /// How results are printed.
    pub(crate) format: Format,
    quiet: bool,
    verbose: bool,
    colours: bool,
    stdout_colours: bool,
}

impl Console {
    /// A console on stdout and stderr. Colours need a terminal and an absent or empty `NO_COLOR`.
    pub(crate) fn new(format: Format, quiet: bool, verbose: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let allowed = !refused && !dumb;
        let colours = io::stderr().is_terminal() && allowed;
        let stdout_colours = io::stdout().is_terminal() && allowed;
        Self { format, quiet, verbose, colours, stdout_colours }
    }

    /// Prints results on stdout.
    ///
    /// # Errors
    /// If they cannot be written.
    #[expect(clippy::unused_self, reason = "whoever prints has a console")]
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|why| match why.kind() {
            ErrorKind::BrokenPipe => Failure::PipeClosed,
            _ => Diagnostic::error("output", format!("stdout cannot be written: {why}"))
                .hint("is the disk full?")
                .into(),
        })
    }

    /// Prints one JSON document on stdout.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn print_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).expect("values are always JSON");
        self.print(&format!("{text}\n"))
    }

    /// A line on stderr, whatever was asked for. Nothing is done if nobody reads it.
    #[expect(clippy::unused_self, reason = "whoever prints has a console")]
    pub(crate) fn always(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// A line on stderr, unless `--quiet`.
    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            self.always(line);
        }
    }

    /// A line on stderr, only with `--verbose`.
    pub(crate) fn detail(&self, line: &str) {
        if self.verbose {
            self.always(line);
        }
    }

    /// Whether results are printed in colours.
    pub(crate) fn paints(&self) -> bool {
        self.stdout_colours
    }

    /// Whether progress is shown: stderr is a terminal, and nobody asked for quiet.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Errors on stderr.
    pub(crate) fn complain(&self, errors: &[Diagnostic]) {
        for error in errors {
            self.always(&self.coloured(error));
        }
    }

    /// Warnings on stderr, unless `--quiet`.
    pub(crate) fn warn(&self, warnings: &[Diagnostic]) {
        for warning in warnings {
            self.say(&self.coloured(warning));
        }
    }

    /// A diagnostic whose severity stands out on a terminal.
    fn coloured(&self, diagnostic: &Diagnostic) -> String {
        let text = diagnostic.to_string();
        if !self.colours {
            return text;
        }
        let (word, colour) = match diagnostic.severity {
            Severity::Error => ("error", 31),
            Severity::Warning => ("warning", 33),
        };
        let marked = format!("{word}[{}]", diagnostic.code);
        text.replacen(&marked, &format!("\x1b[1;{colour}m{marked}\x1b[0m"), 1)
    }
}
