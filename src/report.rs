//! What people get to see of an experiment: events, files, charts and pages.

pub mod autonomous;
pub mod baseline;
pub mod best;
pub mod changes;
pub mod chart;
pub mod checks;
pub mod costs;
pub mod events;
pub mod front;
pub mod human;
pub mod results;
pub mod sensitivity;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod timeline;

#[cfg(test)]
mod testing;
