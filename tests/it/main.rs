//! The integration tests, one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod campaigns;
mod changes;
mod check;
mod churn;
mod cli;
mod closed_forms;
mod conformance;
mod coupling;
mod coverage;
mod defects;
mod determinism;
mod disruption;
mod experiments;
mod failures;
mod garble;
mod inputs;
mod kubernetes;
mod lints;
mod nodes;
mod people;
mod precision;
mod product;
mod profiles;
mod reading;
mod reference;
mod swarm;
mod sweep;
mod tables;
mod tidy;
mod trouble;
mod variants;
mod versions;
