//! The simulation: one virtual clock, one queue, one loop.

pub mod draw;
pub mod model;
pub mod releases;
pub mod script;
