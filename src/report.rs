//! What a simulation shows: events, results, charts.

pub mod events;
