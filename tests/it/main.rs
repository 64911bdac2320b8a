//! The integration tests, one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod changes;
mod cli;
mod conformance;
mod disruption;
mod garble;
mod inputs;
mod product;
mod reading;
mod reference;
mod swarm;
