//! The integration tests, one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod check;
mod cli;
mod conformance;
mod garble;
mod inputs;
mod product;
mod reading;
mod reference;
mod swarm;
