//! The one integration test binary: a list of its rooms.

mod broken;
