//! fleetsim: simulates staged updates of fleets of Kubernetes clusters through the real scheduler.

pub mod bits;
pub mod calendar;
pub mod error;
pub mod experiment;
pub mod fleet;
pub mod ids;
pub mod quantiles;
pub mod report;
pub mod scenario;
pub mod scheduler;
pub mod sim;
pub mod stats;
pub mod time;
