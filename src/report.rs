//! What a simulation shows: events, results, charts.

pub mod chart;
pub mod events;
pub mod human;
pub mod results;
pub mod summary;
pub mod table;
pub mod timeline;
