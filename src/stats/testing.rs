//! Luck for the tests: a seeded generator and a few distributions with known truth.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded source of samples.
pub(super) struct Luck(ChaCha8Rng);

impl Luck {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform, strictly between 0 and 1.
    pub(super) fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0
    }

    /// Exponential with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Standard normal (Box and Muller 1958).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// The share of `trials` trials in which `hit` holds.
pub(super) fn share(trials: u32, mut hit: impl FnMut() -> bool) -> f64 {
    let hits: u32 = (0..trials).map(|_| u32::from(hit())).sum();
    f64::from(hits) / f64::from(trials)
}
