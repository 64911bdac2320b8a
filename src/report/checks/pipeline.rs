//! For the pipelines that run `check`: annotations at the check's line in the scenario.

use super::machine::message;
use super::{Checked, Row};
use crate::experiment::checks::Verdict;

/// A service that shows annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// GitHub Actions: workflow commands.
    GitHub,
    /// Azure Pipelines: logging commands.
    AzureDevOps,
}

/// A line for each check that does not hold: an error where it fails, a warning where it is
/// undecided (an error under `--strict`). `file` is the scenario as seen from the repository's
/// root; `None` where it is no file.
pub fn annotations(checked: &Checked, pipeline: Pipeline, file: Option<&str>) -> Vec<String> {
    let wrong = checked.rows.iter().filter(|row| row.verdict != Verdict::Holds);
    let line = |row: &Row| {
        let severity = if checked.is_failure(row) { "error" } else { "warning" };
        let text = [message(row)].into_iter().chain(row.notes.iter().cloned());
        let text = text.collect::<Vec<_>>().join("\n");
        match pipeline {
            Pipeline::GitHub => github(severity, row, file, &text),
            Pipeline::AzureDevOps => azure(severity, row, file, &text),
        }
    };
    wrong.map(line).collect()
}

fn github(severity: &str, row: &Row, file: Option<&str>, text: &str) -> String {
    let data = |text: &str| replaced(text, &[('%', "%25"), ('\r', "%0D"), ('\n', "%0A")]);
    let property = |text: &str| replaced(&data(text), &[(':', "%3A"), (',', "%2C")]);
    let place = file.map_or(String::new(), |file| {
        format!("file={},line={},col={},", property(file), row.place.line, row.place.column)
    });
    format!("::{severity} {place}title=fleetsim check::{}", data(text))
}

fn azure(severity: &str, row: &Row, file: Option<&str>, text: &str) -> String {
    let data = |text: &str| replaced(text, &[('%', "%AZP25"), ('\r', "%0D"), ('\n', "%0A")]);
    let property = |text: &str| replaced(&data(text), &[(';', "%3B"), (']', "%5D")]);
    let place = file.map_or(String::new(), |file| {
        let (line, column) = (row.place.line, row.place.column);
        format!("sourcepath={};linenumber={line};columnnumber={column};", property(file))
    });
    format!("##vso[task.logissue type={severity};{place}]{}", data(text))
}

fn replaced(text: &str, pairs: &[(char, &str)]) -> String {
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(*from, to))
}
