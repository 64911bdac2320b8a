//! Scenario files: text in, a checked [`Scenario`] out, every error with its place.

use crate::fleet::Fleet;
use crate::scheduler::{ServiceLimits, Strategy, Update};
use crate::sim::model::WorldModel;
use crate::sim::script::Script;
use crate::time::{Span, Timestamp};

/// One scenario file, checked: everything the program needs and nothing that can be wrong.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// `name`
    pub name: String,
    /// `start`: where the virtual clock begins.
    pub start: Timestamp,
    /// `horizon`: where it ends at the latest (inclusive, R-A7).
    pub horizon: Span,
    /// `seed`; 1 when absent.
    pub seed: u64,
    /// `replications`; 1,000 when absent.
    pub replications: u32,
    /// `serviceLimits`
    pub service_limits: ServiceLimits,
    /// The fleet, drawn once from the seed.
    pub fleet: Fleet,
    /// `update`: what every candidate strategy carries out.
    pub update: Update,
    /// `strategies`, at least one.
    pub strategies: Vec<Strategy>,
    /// `world`, with its defaults.
    pub world: WorldModel,
    /// `script`
    pub script: Script,
    /// A digest of everything that was read (SHA-256, hex): the scenario's text and its files'.
    pub digest: String,
}
