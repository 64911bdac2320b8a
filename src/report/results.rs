//! The results folder of `compare`: tables, summaries and charts of one experiment.
//!
//! No file holds a date, a run time, a thread count, a host or a path: the same scenario, seed and
//! version are the same bytes (X3). Durations are seconds, to the millisecond; floats are written
//! with Rust's shortest form that reads back as the same number.

mod folder;
mod json;
mod pictures;
mod progress;
mod tables;

pub use folder::claim;
pub use json::{manifest_json, summary_json};
pub use progress::{Progress, STEPS};
pub use tables::{differences_csv, progress_csv, runs_csv, summary_csv};

use std::path::Path;

use crate::error::Diagnostic;
use crate::experiment::{Experiment, Outcomes};
use crate::report::summary::Summary;

/// One file of the results folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Everything that the results folder is made from.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// What was simulated.
    pub experiment: &'a Experiment<'a>,
    /// How each replication ended.
    pub outcomes: &'a Outcomes,
    /// What that comes to.
    pub summary: &'a Summary,
    /// The relative precision that was asked for (X6), such as 0.02.
    pub target: Option<f64>,
}

impl Results<'_> {
    /// All files, in the order of their names' importance, the manifest last.
    ///
    /// # Errors
    /// If a chart cannot be drawn as PNG.
    pub fn files(&self) -> Result<Vec<ResultFile>, Diagnostic> {
        let (summary, outcomes) = (self.summary, self.outcomes);
        let progress = Progress::of(outcomes, summary.horizon);
        let mut files = vec![
            file("summary.json", summary_json(summary)),
            file("summary.csv", summary_csv(summary)),
            file("runs.csv", runs_csv(summary, outcomes)),
            file("differences.csv", differences_csv(summary)),
            file("progress.csv", progress_csv(summary, &progress)),
        ];
        for (name, svg) in pictures::all(self, &progress) {
            let png = crate::report::chart::png(&svg, pictures::SCALE)
                .map_err(|why| Diagnostic::error("chart", format!("cannot draw `{name}.png`: {why}")))?;
            files.push(ResultFile { name: format!("{name}.png"), bytes: png });
            files.push(file(&format!("{name}.svg"), svg));
        }
        files.push(file(folder::MANIFEST, manifest_json(summary, self.target)));
        Ok(files)
    }

    /// Writes all files into `dir`, which is made with its parents. Results of the same scenario
    /// are replaced, those of another one only with `force`.
    ///
    /// # Errors
    /// If `dir` holds something else ([`claim`]), or a file cannot be written or drawn.
    pub fn write(&self, dir: &Path, force: bool) -> Result<(), Diagnostic> {
        claim(dir, self.experiment.scenario, force)?;
        folder::write(dir, &self.files()?)
    }
}

fn file(name: &str, text: String) -> ResultFile {
    ResultFile { name: name.to_owned(), bytes: text.into_bytes() }
}
