//! The simulation: one virtual clock, one queue, one loop.

pub mod model;
pub mod script;
