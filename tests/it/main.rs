//! The integration tests, one binary.

mod conformance;
mod reference;
mod swarm;
