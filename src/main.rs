//! The `fleetsim` command.
fn main() {}
