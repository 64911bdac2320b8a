//! The special functions behind the distributions, on `libm` alone, so that no result depends on
//! the platform's own `exp` or `ln`.
//!
//! Probabilities travel as a [`Share`], so that both tails keep their full relative precision.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{erfc, exp, expm1, fabs, lgamma, log, log1p, sqrt};

/// A probability together with its complement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// The probability of a value at or below.
    pub(super) below: f64,
    /// The probability of a value above.
    pub(super) above: f64,
}

impl Share {
    /// All of it.
    pub(super) const ALL: Self = Self { below: 1.0, above: 0.0 };
    /// Nothing of it.
    pub(super) const NOTHING: Self = Self { below: 0.0, above: 1.0 };

    /// This much below, the rest above.
    pub(super) fn below(below: f64) -> Self {
        Self { below, above: 1.0 - below }
    }

    /// This much above, the rest below.
    pub(super) fn above(above: f64) -> Self {
        Self { below: 1.0 - above, above }
    }

    /// The complement.
    pub(super) const fn swapped(self) -> Self {
        Self { below: self.above, above: self.below }
    }

    /// Whether this share takes in at least the other, judged on the smaller tail.
    pub(super) fn reaches(self, other: Self) -> bool {
        if other.below <= 0.5 { self.below >= other.below } else { self.above <= other.above }
    }

    /// The logarithm of the part below.
    pub(super) fn ln_below(self) -> f64 {
        if self.below <= 0.5 { log(self.below) } else { log1p(-self.above) }
    }

    /// The logarithm of the part above.
    pub(super) fn ln_above(self) -> f64 {
        self.swapped().ln_below()
    }
}

/// The polynomial with these coefficients, the highest power first.
fn polynomial(x: f64, coefficients: [f64; 8]) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// How much of a standard normal lies below `z`.
pub(super) fn normal_share(z: f64) -> Share {
    Share { below: 0.5 * erfc(-z * FRAC_1_SQRT_2), above: 0.5 * erfc(z * FRAC_1_SQRT_2) }
}

/// The density of a standard normal at `z`.
pub(super) fn normal_density(z: f64) -> f64 {
    exp(-0.5 * z * z) / sqrt(2.0 * PI)
}

/// The standard normal quantile: algorithm AS 241 (Wichura, Applied Statistics 37, 1988), relative
/// error about 1e-16.
pub(super) fn normal_quantile(share: Share) -> f64 {
    let off_centre = if share.below <= 0.5 { share.below - 0.5 } else { 0.5 - share.above };
    if fabs(off_centre) <= 0.425 {
        let r = 0.180_625 - off_centre * off_centre;
        return off_centre * polynomial(r, CENTRE.0) / polynomial(r, CENTRE.1);
    }
    let r = sqrt(-log(share.below.min(share.above)));
    let z = if r <= 5.0 {
        polynomial(r - 1.6, SHOULDER.0) / polynomial(r - 1.6, SHOULDER.1)
    } else {
        polynomial(r - 5.0, TAIL.0) / polynomial(r - 5.0, TAIL.1)
    };
    if off_centre < 0.0 { -z } else { z }
}

/// Numerator and denominator, the highest power first.
type Ratio = ([f64; 8], [f64; 8]);

const CENTRE: Ratio = (
    [
        2.509_080_928_730_122_7e3,
        3.343_057_558_358_813e4,
        6.726_577_092_700_87e4,
        4.592_195_393_154_987e4,
        1.373_169_376_550_946e4,
        1.971_590_950_306_551_3e3,
        1.331_416_678_917_843_8e2,
        3.387_132_872_796_366_5,
    ],
    [
        5.226_495_278_852_854e3,
        2.872_908_573_572_194_3e4,
        3.930_789_580_009_271e4,
        2.121_379_430_158_659_7e4,
        5.394_196_021_424_751e3,
        6.871_870_074_920_579e2,
        4.231_333_070_160_091e1,
        1.0,
    ],
);

const SHOULDER: Ratio = (
    [
        7.745_450_142_783_414e-4,
        2.272_384_498_926_918_4e-2,
        2.417_807_251_774_506e-1,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        1.519_866_656_361_645_7e-2,
        1.481_039_764_274_800_8e-1,
        6.897_673_349_851e-1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
);

const TAIL: Ratio = (
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        1.242_660_947_388_078_4e-3,
        2.653_218_952_657_612_4e-2,
        2.965_605_718_285_048_7e-1,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        1.487_536_129_085_061_5e-2,
        1.369_298_809_227_358e-1,
        5.998_322_065_558_88e-1,
        1.0,
    ],
);

/// Where a rising distribution over `t` reaches `target`: Newton's method on the logarithm of the
/// smaller tail, kept inside a bracket that halves when Newton leaves it. `at` gives the share
/// below `t` and the density there.
fn solve(target: Share, bracket: (f64, f64), at: impl Fn(f64) -> (Share, f64)) -> f64 {
    let (mut low, mut high) = bracket;
    let mut t = f64::midpoint(low, high);
    for _ in 0..200 {
        let (share, density) = at(t);
        let (gap, slope) = if target.below <= 0.5 {
            (share.ln_below() - target.ln_below(), density / share.below)
        } else {
            (target.ln_above() - share.ln_above(), density / share.above)
        };
        (low, high) = if gap < 0.0 { (t, high) } else { (low, t) };
        let newton = t - gap / slope;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        // The logarithm of a value: this is its relative error.
        if fabs(next - t) <= 1e-15 * fabs(t).max(1.0) {
            return next;
        }
        t = next;
    }
    t
}

/// How much of a gamma distribution of scale 1 lies below `exp(t)`, and its density over `t`: the
/// series below the bulk, Legendre's continued fraction above it.
pub(super) fn gamma_share(shape: f64, t: f64) -> (Share, f64) {
    let x = exp(t);
    let density = exp(shape * t - x - lgamma(shape));
    if density == 0.0 {
        return (if x < shape { Share::NOTHING } else { Share::ALL }, density);
    }
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (Share::below((density * sum).min(1.0)), density);
    }
    let fraction =
        continued_fraction(x + 1.0 - shape, |i| (-i * (i - shape), x + 1.0 - shape + 2.0 * i));
    (Share::above((density * fraction).min(1.0)), density)
}

/// `1 / (b0 + a1 / (b1 + a2 / (b2 + …)))` by Lentz's method; `terms(i)` gives `a` and `b` of
/// number `i`, counted from 1.
fn continued_fraction(b0: f64, terms: impl Fn(f64) -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-300;
    let not_zero = |x: f64| if fabs(x) < TINY { TINY } else { x };
    let (mut c, mut d) = (1.0 / TINY, 1.0 / not_zero(b0));
    let mut value = d;
    for i in 1..100_000_u32 {
        let (a, b) = terms(f64::from(i));
        d = 1.0 / not_zero(a * d + b);
        c = not_zero(b + a / c);
        let change = c * d;
        value *= change;
        if fabs(change - 1.0) < 1e-16 {
            break;
        }
    }
    value
}

/// The quantile of a gamma distribution of scale 1.
pub(super) fn gamma_quantile(shape: f64, target: Share) -> f64 {
    // P(a, x) <= x^a / Γ(a + 1) bounds the quantile from below.
    let low = (target.ln_below() + lgamma(shape + 1.0)) / shape - 1e-9;
    let mut high = low.max(log(shape)) + 0.5;
    while !gamma_share(shape, high).0.reaches(target) {
        high += 0.5;
    }
    exp(solve(target, (low, high), |t| gamma_share(shape, t)))
}

/// How much of a beta distribution lies below `exp(t)`, `t` below zero, and its density over `t`.
pub(super) fn beta_share(a: f64, b: f64, t: f64) -> (Share, f64) {
    let (x, rest) = (exp(t), -expm1(t));
    let ln_front = a * t + b * log(rest) - (lgamma(a) + lgamma(b) - lgamma(a + b));
    let front = exp(ln_front);
    let share = if x < (a + 1.0) / (a + b + 2.0) {
        Share::below((front * beta_fraction(a, b, x) / a).min(1.0))
    } else {
        Share::above((front * beta_fraction(b, a, rest) / b).min(1.0))
    };
    (share, front / rest)
}

/// The continued fraction of the incomplete beta function.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    continued_fraction(1.0, |i| {
        let m = libm::floor(i / 2.0);
        let term = if i > 2.0 * m {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        } else {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        };
        (term, 1.0)
    })
}

/// The quantile of a beta distribution.
pub(super) fn beta_quantile(a: f64, b: f64, share: Share) -> f64 {
    let (mut low, mut high) = (-1.0, -0.5);
    while low > -1e6 && beta_share(a, b, low).0.reaches(share) {
        (low, high) = (low * 2.0, low);
    }
    while high < -1e-150 && !beta_share(a, b, high).0.reaches(share) {
        (low, high) = (high, high / 8.0);
    }
    exp(solve(share, (low, high), |t| beta_share(a, b, t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!(fabs(found / expected - 1.0) < 1e-11, "{found:e} is not {expected:e}");
    }

    #[test]
    fn normal_quantiles_undo_the_normal_distribution() {
        close(normal_quantile(Share::below(0.975)), 1.959_963_984_540_054);
        close(normal_quantile(Share::above(1e-10)), 6.361_340_902_404_056);
        close(normal_quantile(Share::below(0.05)), -1.644_853_626_951_472_7);
        assert_eq!(normal_quantile(Share::below(0.5)).to_bits(), 0.0_f64.to_bits());
        for step in 1..800_i32 {
            let z = f64::from(step - 400) / 50.0;
            if step != 400 {
                close(normal_quantile(normal_share(z)), z);
            }
        }
    }

    #[test]
    fn gamma_quantiles_undo_the_gamma_distribution() {
        for shape in [0.05, 0.5, 1.0, 3.55, 5.7, 40.0, 1e4] {
            for p in [1e-15, 1e-6, 0.01, 0.3, 0.5] {
                for share in [Share::below(p), Share::above(p)] {
                    let found = gamma_share(shape, log(gamma_quantile(shape, share))).0;
                    if found.below > 0.0 {
                        assert!(fabs(found.below / share.below - 1.0) < 1e-8, "{shape} {share:?}");
                        assert!(fabs(found.above / share.above - 1.0) < 1e-8, "{shape} {share:?}");
                    }
                }
            }
        }
        // Shape 1 is the exponential distribution; shape 1/2 is half a squared normal.
        close(gamma_quantile(1.0, Share::above(1e-18)), -log(1e-18));
        let z = normal_quantile(Share::above(0.005));
        close(gamma_quantile(0.5, Share::above(0.01)), z * z / 2.0);
    }

    #[test]
    fn beta_quantiles_undo_the_beta_distribution() {
        for (a, b) in [(2.0, 6.0), (0.1, 0.2), (5.0, 0.3), (300.0, 700.0), (1.0, 1.0)] {
            for p in [1e-12, 1e-4, 0.2, 0.5] {
                for share in [Share::below(p), Share::above(p)] {
                    let x = beta_quantile(a, b, share);
                    if x < 1.0 - 1e-9 {
                        let found = beta_share(a, b, log(x)).0;
                        assert!(fabs(found.below / share.below - 1.0) < 1e-6, "{a} {b} {share:?}");
                        assert!(fabs(found.above / share.above - 1.0) < 1e-6, "{a} {b} {share:?}");
                    }
                }
            }
        }
        // Beta(a, 1) is x^a; the arcsine distribution is Beta(1/2, 1/2).
        close(beta_quantile(4.0, 1.0, Share::below(0.0016)), 0.2);
        let sine = libm::sin(PI * 0.3 / 2.0);
        close(beta_quantile(0.5, 0.5, Share::below(0.3)), sine * sine);
    }
}
