//! The integration tests, one binary.

mod conformance;
mod product;
mod reference;
mod swarm;
