//! The integration tests, one binary.

mod broken;
mod conformance;
mod product;
mod reference;
mod swarm;
