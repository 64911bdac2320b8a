//! What people get to see of an experiment: files, charts and pages.

pub mod chart;
