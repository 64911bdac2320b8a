//! The one integration test binary: a list of its rooms.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod broken;
mod garble;
mod inputs;
mod reading;
