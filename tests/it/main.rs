//! The integration tests, one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod conformance;
mod garble;
mod inputs;
mod lints;
mod product;
mod reading;
mod reference;
mod swarm;
