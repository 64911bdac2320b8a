//! What people get to see of an experiment: events, files, charts and pages.

pub mod chart;
pub mod events;
