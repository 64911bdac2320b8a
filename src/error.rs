//! What is said when input is wrong: what, where, why, and what to do.

use std::fmt;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is read, but something about it is probably not meant.
    Warning,
    /// The input is refused.
    Error,
}

/// Where in a file something stands. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// How many characters of the line are meant (at least 1).
    pub length: u32,
    /// The whole line, for the excerpt; empty when unknown.
    pub text: String,
}

/// One error or warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable code: a rule (`S6`), or a word (`unknown-key`).
    pub code: &'static str,
    /// What is wrong, as a lower-case fragment without a full stop.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// What to do.
    pub hint: Option<String>,
    /// All members that are meant, where the message names some of them.
    pub members: Vec<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Self { severity, code, message, place: None, hint: None, members: Vec::new() }
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// The same, at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same, with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, about these members.
    #[must_use]
    pub fn about(mut self, members: Vec<String>) -> Self {
        self.members = members;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.file, place.line, place.column)?;
        }
        write!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(place) = self.place.as_ref().filter(|place| !place.text.is_empty()) {
            excerpt(f, place)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Long lines are shown this many characters before the place, and this wide.
const BEFORE: usize = 60;
const WIDTH: usize = 100;

/// The line, with the place underlined; of a long line only the surroundings.
fn excerpt(f: &mut fmt::Formatter<'_>, place: &Place) -> fmt::Result {
    let column = place.column.max(1) as usize - 1;
    let whole = place.text.chars().count();
    let from = if whole <= WIDTH { 0 } else { column.saturating_sub(BEFORE).min(whole) };
    let shown = place.text.chars().skip(from).take(WIDTH);
    let line: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim_end();
    let (left, right) = (from > 0, whole > from + WIDTH);
    let (left, right) = (if left { "…" } else { "" }, if right { "…" } else { "" });
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    writeln!(f, "\n{gutter} |\n{number} | {left}{line}{right}")?;
    let start = left.chars().count() + column - from;
    let room = (left.chars().count() + line.chars().count()).saturating_sub(start).max(1);
    let carets = (place.length.max(1) as usize).min(room);
    write!(f, "{gutter} | {}{}", " ".repeat(start), "^".repeat(carets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, column: u32, length: u32) -> String {
        let place = Place { file: "f.yaml".into(), line: 12, column, length, text: text.into() };
        Diagnostic::error("word", "it is wrong").at(place).hint("mend it").to_string()
    }

    #[test]
    fn the_place_is_underlined() {
        let text = "f.yaml:12:7: error[word]: it is wrong\n   |\n12 | seed: many\n   |       \
                    ^^^^\n  hint: mend it";
        assert_eq!(shown("seed: many", 7, 4), text);
        assert!(shown("seed:\tmany", 7, 400).contains("\n12 | seed: many\n   |       ^^^^\n"));
        assert!(
            shown("short", 70, 1).contains('^'),
            "a place behind the end is shown all the same"
        );
    }

    #[test]
    fn of_a_long_line_the_surroundings_are_shown() {
        let text = format!("{}WRONG{}", "a".repeat(500), "b".repeat(500));
        let shown = shown(&text, 501, 5);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[2].len() < 120, "{shown}");
        let (line, carets) = (lines[2].chars(), lines[3].chars());
        let under: String =
            line.zip(carets).filter(|(_, caret)| *caret == '^').map(|(c, _)| c).collect();
        assert_eq!(under, "WRONG");
    }
}
