//! The update-run scheduler, sans-IO.

mod strategy;

pub use strategy::*;
