//! Inverse distributions: one uniform number in, one value out.

/// A distribution as a scenario names it. Every value is drawn by inverse transform, so that paired
/// strategies stay coupled.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution;
