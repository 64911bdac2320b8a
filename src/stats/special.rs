//! Tails and critical values of the normal, Student-t, beta and binomial distributions.
//!
//! Accurate to about 1e-12 (relative, in the tail asked for) at the sizes of experiments, up to
//! some 100,000 runs: densities follow Loader (2000), "Fast and accurate computation of binomial
//! probabilities", which avoids the cancellation between log-gammas; incomplete betas are
//! continued fractions (Abramowitz and Stegun 26.5.8) evaluated by Lentz's method.

#![expect(clippy::many_single_char_names, reason = "the letters are those of the formulas")]

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// `P(Z > x)` of a standard normal Z.
pub fn normal_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * FRAC_1_SQRT_2)
}

/// The `x` that a standard normal exceeds with probability `tail`, strictly between 0 and 1.
pub fn normal_critical(tail: f64) -> f64 {
    assert!(tail > 0.0 && tail < 1.0, "a tail lies strictly between 0 and 1, not at {tail}");
    if tail > 0.5 {
        return -normal_critical(1.0 - tail);
    }
    // Abramowitz and Stegun 26.2.23 is right to 4.5e-4; each Halley step triples the digits.
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = t - numerator / denominator;
    for _ in 0..3 {
        let density = libm::exp(-0.5 * x * x) / libm::sqrt(TAU);
        let step = (normal_tail(x) - tail) / density;
        x += step / (1.0 - 0.5 * x * step);
    }
    x
}

/// The `p`-quantile of a standard normal, `p` strictly between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    if p < 0.5 { -normal_critical(p) } else { normal_critical(1.0 - p) }
}

/// `P(T > t)` of a Student-t with `dof` degrees of freedom.
pub fn student_t_tail(t: f64, dof: f64) -> f64 {
    assert!(dof > 0.0, "degrees of freedom are positive, not {dof}");
    let square = t * t;
    let tail = 0.5 * beta(0.5 * dof, 0.5, dof / (dof + square), square / (dof + square));
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// The `t` that a Student-t with `dof` degrees of freedom exceeds with probability `tail`,
/// strictly between 0 and 1.
pub fn student_t_critical(tail: f64, dof: f64) -> f64 {
    assert!(tail > 0.0 && tail < 1.0, "a tail lies strictly between 0 and 1, not at {tail}");
    if tail > 0.5 {
        return -student_t_critical(1.0 - tail, dof);
    }
    let mut low = 0.0;
    let mut high = 1.0;
    while student_t_tail(high, dof) > tail {
        low = high;
        high *= 2.0;
    }
    // Newton on the tail, which is convex here; bisection whenever it would leave the bracket.
    let mut t = 0.5 * (low + high);
    for _ in 0..200 {
        let excess = student_t_tail(t, dof) - tail;
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t + excess / student_t_density(t, dof);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let moved = (next - t).abs();
        t = next;
        if moved <= 1e-15 * t {
            break;
        }
    }
    t
}

/// The `p`-quantile of a Student-t with `dof` degrees of freedom, `p` strictly between 0 and 1.
pub fn student_t_quantile(p: f64, dof: f64) -> f64 {
    if p < 0.5 { -student_t_critical(p, dof) } else { student_t_critical(1.0 - p, dof) }
}

fn student_t_density(t: f64, dof: f64) -> f64 {
    let half = 0.5 * dof;
    // The ratio of gammas is that of the beta function B(dof / 2, 1 / 2).
    let kernel = -(half + 0.5) * libm::log1p(t * t / dof);
    libm::exp(kernel) / (libm::sqrt(dof) * beta_function(half, 0.5))
}

/// The complete beta function B(a, b).
fn beta_function(a: f64, b: f64) -> f64 {
    let mode = a / (a + b);
    let log_peak = a * libm::log(mode) + b * libm::log(b / (a + b));
    libm::exp(log_peak) / beta_kernel(a, b, mode, b / (a + b))
}

/// The regularised incomplete beta function `I_x(a, b)`: `a` and `b` positive, `x` from 0 to 1.
pub fn beta_regularised(a: f64, b: f64, x: f64) -> f64 {
    assert!(a > 0.0 && b > 0.0, "the parameters of a beta are positive, not {a} and {b}");
    assert!((0.0..=1.0).contains(&x), "a beta variable lies from 0 to 1, not at {x}");
    beta(a, b, x, 1.0 - x)
}

/// `P(B <= k)` of a binomial B with `n` trials of probability `p`.
pub fn binomial_cdf(k: usize, n: usize, p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a probability lies from 0 to 1, not at {p}");
    if k >= n {
        return 1.0;
    }
    beta(real(n - k), real(k) + 1.0, 1.0 - p, p)
}

/// A count as a real number.
pub(super) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("samples hold fewer than 2^32 runs"))
}

/// `I_x(a, b)` with `y` = 1 − `x` given apart, so that an `x` close to 1 keeps its digits.
fn beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if y <= 0.0 {
        1.0
    } else if x <= (a + 1.0) / (a + b + 2.0) {
        beta_kernel(a, b, x, y) / a * beta_fraction(a, b, x)
    } else {
        1.0 - beta_kernel(b, a, y, x) / b * beta_fraction(b, a, y)
    }
}

/// `x^a · y^b / B(a, b)`, as a binomial density with real arguments.
fn beta_kernel(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let log = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * y);
    libm::exp(log) * libm::sqrt(a * b / (n * TAU))
}

/// ln Γ(n + 1) less Stirling's formula.
fn stirling_error(n: f64) -> f64 {
    if n < 15.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * libm::log(TAU);
    }
    let square = n * n;
    let tail = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - tail / square) / square) / n
}

/// x · ln(x / m) + m − x, without cancellation where `x` is close to `m`.
fn deviance(x: f64, m: f64) -> f64 {
    let difference = x - m;
    if difference.abs() >= 0.1 * (x + m) {
        return x * libm::log(x / m) - difference;
    }
    // Each term is below 1 % of the one before.
    let v = difference / (x + m);
    let mut total = difference * v;
    let mut power = 2.0 * x * v;
    for odd in (3..25_u32).step_by(2) {
        power *= v * v;
        total += power / f64::from(odd);
    }
    total
}

/// The continued fraction of the incomplete beta function; converges fast for `x` below the mean.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // Some sqrt(a + b) rounds are enough: 100,000 runs need a few hundred.
    for round in 1..=10_000_u32 {
        let m = f64::from(round);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64, relative: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(error <= relative, "{found} is {error:e} away from {expected}");
    }

    // Expected values: Abramowitz and Stegun, tables 26.1, 26.5 and 26.10, with more digits from
    // 40-digit arithmetic (mpmath); the binomial ones are exact sums.

    #[test]
    fn normal_critical_values_are_the_published_ones() {
        close(normal_critical(0.025), 1.959_963_984_540_054_2, 1e-14);
        close(normal_critical(0.001), 3.090_232_306_167_813_5, 1e-14);
        close(normal_critical(1e-9), 5.997_807_015_007_687, 1e-14);
        close(normal_critical(0.3), 0.524_400_512_708_040_8, 1e-14);
        close(normal_critical(1e-300), 37.047_096_299_361_2, 1e-13);
        close(normal_quantile(0.975), 1.959_963_984_540_054_2, 1e-14);
        close(normal_quantile(0.025), -1.959_963_984_540_054_2, 1e-14);
        assert!(normal_quantile(0.5).abs() < 1e-15);
    }

    #[test]
    fn student_t_critical_values_are_the_published_ones() {
        close(student_t_critical(0.025, 1.0), 12.706_204_736_174_7, 1e-12);
        close(student_t_critical(0.025, 4.0), 2.776_445_105_197_794_4, 1e-13);
        close(student_t_critical(0.025, 9.0), 2.262_157_162_798_205_5, 1e-13);
        close(student_t_critical(0.0005, 19.0), 3.883_405_852_592_083, 1e-13);
        close(student_t_critical(0.025, 99.0), 1.984_216_951_586_417_5, 1e-13);
        close(student_t_critical(1e-6, 49.0), 5.390_798_999_260_053, 1e-13);
        close(student_t_critical(0.025, 999.0), 1.962_341_461_133_45, 1e-13);
        close(student_t_quantile(0.975, 9.0), 2.262_157_162_798_205_5, 1e-13);
        close(student_t_quantile(0.025, 9.0), -2.262_157_162_798_205_5, 1e-13);
        assert!(student_t_quantile(0.5, 3.0).abs() < 1e-14);
    }

    #[test]
    fn student_t_with_one_and_two_degrees_has_closed_forms() {
        for tail in [0.4, 0.1, 0.01, 1e-5, 1e-9] {
            let cauchy = 1.0 / libm::tan(std::f64::consts::PI * tail);
            close(student_t_critical(tail, 1.0), cauchy, 1e-12);
            let two = (1.0 - 2.0 * tail) * libm::sqrt(2.0 / (4.0 * tail * (1.0 - tail)));
            close(student_t_critical(tail, 2.0), two, 1e-12);
        }
    }

    #[test]
    fn student_t_tends_to_the_normal() {
        close(student_t_critical(0.025, 1e9), normal_critical(0.025), 1e-8);
        close(student_t_tail(-1.0, 7.0), 1.0 - student_t_tail(1.0, 7.0), 1e-15);
    }

    #[test]
    fn incomplete_beta_values_are_the_published_ones() {
        close(beta_regularised(0.5, 0.5, 0.1), 0.204_832_764_699_133_46, 1e-13);
        close(beta_regularised(2.0, 3.0, 0.4), 0.5248, 1e-14);
        close(beta_regularised(10.0, 0.5, 0.99), 0.657_928_175_156_784_3, 1e-13);
        close(beta_regularised(500.0, 600.0, 0.45), 0.381_693_733_664_840_2, 1e-12);
        assert!(beta_regularised(3.0, 4.0, 0.0) <= 0.0);
        assert!(beta_regularised(3.0, 4.0, 1.0) >= 1.0);
    }

    #[test]
    fn binomial_values_are_exact_sums() {
        close(binomial_cdf(3, 10, 0.5), 0.171_875, 1e-14);
        close(binomial_cdf(94, 100, 0.95), 0.384_000_872_043_859_76, 1e-13);
        close(binomial_cdf(949, 1000, 0.95), 0.462_470_959_198_574_86, 1e-12);
        close(binomial_cdf(94_863, 100_000, 0.95), 0.024_175_210_601_268_52, 1e-11);
        close(binomial_cdf(49_690, 100_000, 0.5), 0.025_147_028_677_331_814, 1e-11);
        close(binomial_cdf(4_865, 100_000, 0.05), 0.025_130_960_760_536_226, 1e-11);
        close(binomial_cdf(99_970, 100_000, 0.9999), 2.505_077_167_291_261e-7, 1e-9);
        assert!(binomial_cdf(10, 10, 0.3) >= 1.0);
        assert!(binomial_cdf(0, 10, 1.0) <= 0.0);
        assert!(binomial_cdf(0, 10, 0.0) >= 1.0);
    }
}
