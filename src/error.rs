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
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), place: None, hint: None }
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
            let number = place.line.to_string();
            let (gutter, column) = (" ".repeat(number.len()), place.column as usize - 1);
            write!(f, "\n{gutter} |\n{number} | {}\n{gutter} | ", place.text)?;
            write!(f, "{}{}", " ".repeat(column), "^".repeat(place.length.max(1) as usize))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
