//! Inverse distributions: one uniform number in, one value out.
//!
//! Owns the distributions a scenario can name ([`Distribution`]: checked, exact, slow) and their
//! compiled form ([`Quantiles`]: a table, fast). Does not own where the uniform numbers come from
//! (`sim::draw`), nor any unit: a value is in whatever unit its parameters were.

mod special;
mod sums;
mod table;
mod varied;

pub use sums::{Sums, passing};
pub use table::Quantiles;

use libm::{exp, expm1, log, pow, sqrt, tgamma};
use special::Share;

/// A distribution as a scenario names it, its parameters checked. Every value is drawn by inverse
/// transform, so that paired strategies stay coupled.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Constant(f64),
    Uniform {
        low: f64,
        high: f64,
    },
    Triangular {
        low: f64,
        mode: f64,
        high: f64,
    },
    Exponential {
        mean: f64,
    },
    Lognormal {
        median: f64,
        sigma: f64,
    },
    Gamma {
        shape: f64,
        scale: f64,
    },
    Weibull {
        scale: f64,
        shape: f64,
    },
    Normal {
        mean: f64,
        sd: f64,
        low: f64,
        high: f64,
    },
    Beta {
        a: f64,
        b: f64,
    },
    /// Ascending.
    Empirical(Vec<f64>),
    /// Weights above zero that add up to 1.
    Mixture(Vec<(f64, Distribution)>),
}

/// The standard normal quantile at 0.95.
const NORMAL_P95: f64 = 1.644_853_626_951_472_7;

fn finite(name: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() { Ok(value) } else { Err(format!("{name} is {value}, not a number")) }
}

fn within(name: &str, value: f64, low: f64, high: f64) -> Result<f64, String> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(format!("{name} is {value}; it must lie between {low} and {high}"))
}

fn positive(name: &str, value: f64) -> Result<f64, String> {
    finite(name, value)?;
    if value > 0.0 { Ok(value) } else { Err(format!("{name} is {value}; it must be above 0")) }
}

/// Constructors. Each error says which parameter makes no sense, and why.
impl Distribution {
    /// Always this value.
    pub fn constant(value: f64) -> Result<Self, String> {
        Ok(Self(Kind::Constant(finite("the value", value)?)))
    }

    /// Uniform between two values.
    pub fn uniform(low: f64, high: f64) -> Result<Self, String> {
        finite("the lower end", low)?;
        finite("the upper end", high)?;
        if low > high {
            return Err(format!("the lower end {low} is above the upper end {high}"));
        }
        Ok(Self(Kind::Uniform { low, high }))
    }

    /// Triangular: from `low` up to `mode` and down to `high`.
    pub fn triangular(low: f64, mode: f64, high: f64) -> Result<Self, String> {
        finite("min", low)?;
        finite("mode", mode)?;
        finite("max", high)?;
        if !(low <= mode && mode <= high) {
            return Err(format!("min {low}, mode {mode}, max {high} are not in ascending order"));
        }
        Ok(Self(Kind::Triangular { low, mode, high }))
    }

    /// Exponential with this mean.
    pub fn exponential(mean: f64) -> Result<Self, String> {
        Ok(Self(Kind::Exponential { mean: positive("mean", mean)? }))
    }

    /// Lognormal with this median; `sigma` is the standard deviation of the logarithm, at most 10.
    pub fn lognormal(median: f64, sigma: f64) -> Result<Self, String> {
        positive("median", median)?;
        Ok(Self(Kind::Lognormal { median, sigma: within("sigma", sigma, 0.0, 10.0)? }))
    }

    /// Lognormal with this median and 95th percentile.
    pub fn lognormal_p95(median: f64, p95: f64) -> Result<Self, String> {
        positive("median", median)?;
        positive("p95", p95)?;
        if p95 < median {
            return Err(format!("p95 {p95} is below the median {median}"));
        }
        Self::lognormal(median, log(p95 / median) / NORMAL_P95)
    }

    /// Gamma with this shape (0.05 to a million) and scale; its mean is their product.
    pub fn gamma(shape: f64, scale: f64) -> Result<Self, String> {
        within("shape", shape, 0.05, 1e6)?;
        Ok(Self(Kind::Gamma { shape, scale: positive("scale", scale)? }))
    }

    /// Gamma with this mean and coefficient of variation (standard deviation over mean, 0.001 to
    /// 4.47).
    pub fn gamma_cv(mean: f64, cv: f64) -> Result<Self, String> {
        positive("mean", mean)?;
        within("cv", cv, 0.001, 4.47)?;
        Ok(Self(Kind::Gamma { shape: 1.0 / (cv * cv), scale: mean * cv * cv }))
    }

    /// Weibull with this scale and shape (0.05 to 1,000).
    pub fn weibull(scale: f64, shape: f64) -> Result<Self, String> {
        positive("scale", scale)?;
        Ok(Self(Kind::Weibull { scale, shape: within("shape", shape, 0.05, 1_000.0)? }))
    }

    /// Normal with this mean and standard deviation *before* it is confined to `low..high`: what
    /// lies outside is cut off and the rest stretched to a whole (a truncated normal). Infinite
    /// bounds cut nothing.
    pub fn normal(mean: f64, sd: f64, low: f64, high: f64) -> Result<Self, String> {
        finite("mean", mean)?;
        positive("sd", sd)?;
        if low.is_nan() || high.is_nan() || low >= high {
            return Err(format!("min {low} is not below max {high}"));
        }
        if normal_window(mean, sd, low, high).2 < 1e-6 {
            return Err(format!(
                "between min {low} and max {high} lies next to nothing of a normal with mean \
                 {mean} and sd {sd}"
            ));
        }
        Ok(Self(Kind::Normal { mean, sd, low, high }))
    }

    /// Beta, on 0 to 1; both parameters from 0.05 to 100,000.
    pub fn beta(a: f64, b: f64) -> Result<Self, String> {
        let [low, high] = SHAPES;
        Ok(Self(Kind::Beta { a: within("a", a, low, high)?, b: within("b", b, low, high)? }))
    }

    /// The inverse of the empirical distribution of these values, linear between them: the
    /// smallest value at 0, the largest at 1, the others evenly between (type 7 of Hyndman and
    /// Fan, The American Statistician 50, 1996).
    pub fn empirical(mut values: Vec<f64>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("there are no values".into());
        }
        for value in &values {
            finite("a value", *value)?;
        }
        values.sort_by(f64::total_cmp);
        Ok(Self(Kind::Empirical(values)))
    }

    /// One of several distributions; the weights are relative. A single uniform number chooses
    /// and positions: this is the inverse of the mixture's distribution, not a choice followed by
    /// a draw.
    pub fn mixture(parts: Vec<(f64, Self)>) -> Result<Self, String> {
        for (weight, _) in &parts {
            finite("a weight", *weight)?;
            if *weight < 0.0 {
                return Err(format!("a weight is {weight}; it must be at least 0"));
            }
        }
        let sum: f64 = parts.iter().map(|(weight, _)| weight).sum();
        finite("the sum of the weights", sum)?;
        if sum <= 0.0 {
            return Err("the weights add up to 0".into());
        }
        let parts = parts.into_iter().filter(|(weight, _)| *weight > 0.0);
        Ok(Self(Kind::Mixture(parts.map(|(weight, of)| (weight / sum, of)).collect())))
    }
}

/// The smallest and the largest `a` and `b` of a beta distribution.
const SHAPES: [f64; 2] = [0.05, 1e5];

/// The shares of a normal below its two bounds, and how much lies between.
fn normal_window(mean: f64, sd: f64, low: f64, high: f64) -> (Share, Share, f64) {
    let (from, to) = ((low - mean) / sd, (high - mean) / sd);
    let (below, above) = (special::normal_share(from), special::normal_share(to));
    let inside = if from > 0.0 { below.above - above.above } else { above.below - below.below };
    (below, above, inside)
}

#[expect(clippy::cast_precision_loss, reason = "nobody writes 2^53 values")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

impl Distribution {
    /// The distribution of `factor` times the value, for a factor above 0; `None` of a beta, which
    /// lies between 0 and 1.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        assert!(factor > 0.0 && factor.is_finite(), "a distribution is scaled by {factor}");
        let by = |value: &f64| value * factor;
        Some(Self(match &self.0 {
            Kind::Constant(value) => Kind::Constant(by(value)),
            Kind::Uniform { low, high } => Kind::Uniform { low: by(low), high: by(high) },
            Kind::Triangular { low, mode, high } => {
                Kind::Triangular { low: by(low), mode: by(mode), high: by(high) }
            }
            Kind::Exponential { mean } => Kind::Exponential { mean: by(mean) },
            Kind::Lognormal { median, sigma } => {
                Kind::Lognormal { median: by(median), sigma: *sigma }
            }
            Kind::Gamma { shape, scale } => Kind::Gamma { shape: *shape, scale: by(scale) },
            Kind::Weibull { scale, shape } => Kind::Weibull { scale: by(scale), shape: *shape },
            Kind::Normal { mean, sd, low, high } => {
                Kind::Normal { mean: by(mean), sd: by(sd), low: by(low), high: by(high) }
            }
            Kind::Beta { .. } => return None,
            Kind::Empirical(values) => Kind::Empirical(values.iter().map(by).collect()),
            Kind::Mixture(parts) => {
                let scaled = parts.iter().map(|(weight, of)| Some((*weight, of.scaled(factor)?)));
                Kind::Mixture(scaled.collect::<Option<_>>()?)
            }
        }))
    }

    /// The value below which the share `p` lies, 0 < p < 1, to about ten digits.
    pub fn quantile_exact(&self, p: f64) -> f64 {
        assert!(p > 0.0 && p < 1.0, "a quantile is asked for at a share between 0 and 1");
        self.quantile(Share::below(p))
    }

    /// The mean, in closed form.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Kind::Constant(value) => *value,
            Kind::Uniform { low, high } => f64::midpoint(*low, *high),
            Kind::Triangular { low, mode, high } => (low + mode + high) / 3.0,
            Kind::Exponential { mean } => *mean,
            Kind::Lognormal { median, sigma } => median * exp(sigma * sigma / 2.0),
            Kind::Gamma { shape, scale } => shape * scale,
            Kind::Weibull { scale, shape } => scale * tgamma(1.0 + 1.0 / shape),
            Kind::Normal { mean, sd, low, high } => {
                let density = |bound: f64| special::normal_density((bound - mean) / sd);
                let (.., inside) = normal_window(*mean, *sd, *low, *high);
                mean + sd * (density(*low) - density(*high)) / inside
            }
            Kind::Beta { a, b } => a / (a + b),
            Kind::Empirical(values) if values.len() == 1 => values[0],
            // The mean of straight lines between the values: the outer two count half.
            Kind::Empirical(values) => {
                let outer = f64::midpoint(values[0], values[values.len() - 1]);
                (values.iter().sum::<f64>() - outer) / (count(values) - 1.0)
            }
            Kind::Mixture(parts) => parts.iter().map(|(weight, of)| weight * of.mean()).sum(),
        }
    }

    /// The smallest and the largest value, which may be infinite.
    pub fn range(&self) -> (f64, f64) {
        match &self.0 {
            Kind::Constant(value) => (*value, *value),
            Kind::Uniform { low, high }
            | Kind::Triangular { low, high, .. }
            | Kind::Normal { low, high, .. } => (*low, *high),
            Kind::Lognormal { median, sigma } if *sigma <= 0.0 => (*median, *median),
            Kind::Exponential { .. }
            | Kind::Lognormal { .. }
            | Kind::Gamma { .. }
            | Kind::Weibull { .. } => (0.0, f64::INFINITY),
            Kind::Beta { .. } => (0.0, 1.0),
            Kind::Empirical(values) => (values[0], values[values.len() - 1]),
            Kind::Mixture(parts) => parts
                .iter()
                .map(|(_, of)| of.range())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (from, to)| {
                    (low.min(from), high.max(to))
                }),
        }
    }

    fn quantile(&self, share: Share) -> f64 {
        match &self.0 {
            Kind::Constant(value) => *value,
            Kind::Uniform { low, high } => low + (high - low) * share.below,
            Kind::Triangular { low, mode, high } => {
                let (rise, fall, width) = (mode - low, high - mode, high - low);
                if share.below * width <= rise {
                    low + sqrt(share.below * width * rise)
                } else {
                    high - sqrt(share.above * width * fall)
                }
            }
            Kind::Exponential { mean } => -mean * share.ln_above(),
            Kind::Lognormal { median, sigma } => {
                median * exp(sigma * special::normal_quantile(share))
            }
            Kind::Gamma { shape, scale } => scale * special::gamma_quantile(*shape, share),
            Kind::Weibull { scale, shape } => scale * pow(-share.ln_above(), 1.0 / shape),
            Kind::Normal { mean, sd, low, high } => {
                let (from, to, inside) = normal_window(*mean, *sd, *low, *high);
                let z = special::normal_quantile(Share {
                    below: from.below + share.below * inside,
                    above: to.above + share.above * inside,
                });
                (mean + sd * z).clamp(*low, *high)
            }
            Kind::Beta { a, b } => special::beta_quantile(*a, *b, share),
            Kind::Empirical(values) => empirical_quantile(values, share),
            Kind::Mixture(parts) => self.mixture_quantile(parts, share),
        }
    }

    /// The smallest value that takes in the share: it lies between the parts' own quantiles, and
    /// is found by halving.
    fn mixture_quantile(&self, parts: &[(f64, Self)], share: Share) -> f64 {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (_, of) in parts {
            let value = of.quantile(share);
            (low, high) = (low.min(value), high.max(value));
        }
        if self.share(low).reaches(share) {
            return low;
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if high - low <= 1e-15 * low.abs().max(high.abs()) {
                break;
            }
            if self.share(middle).reaches(share) { high = middle } else { low = middle }
        }
        high
    }

    /// How much lies at or below `x`, and how much above.
    fn share(&self, x: f64) -> Share {
        let (low, high) = self.range();
        if x < low {
            return Share::NOTHING;
        }
        if x >= high {
            return Share::ALL;
        }
        match &self.0 {
            // Outside of these ranges, which are a point, x was above or below.
            Kind::Constant(_) => Share::ALL,
            Kind::Uniform { low, high } => {
                Share { below: (x - low) / (high - low), above: (high - x) / (high - low) }
            }
            Kind::Triangular { low, mode, high } if x < *mode => {
                Share::below((x - low) * (x - low) / ((high - low) * (mode - low)))
            }
            Kind::Triangular { low, mode, high } => {
                Share::above((high - x) * (high - x) / ((high - low) * (high - mode)))
            }
            Kind::Exponential { mean } => exponential_share(x / mean),
            Kind::Lognormal { median, sigma } => special::normal_share(log(x / median) / sigma),
            Kind::Gamma { shape, scale } => special::gamma_share(*shape, log(x / scale)).0,
            Kind::Weibull { scale, shape } => exponential_share(pow(x / scale, *shape)),
            Kind::Normal { mean, sd, low, high } => {
                let (from, to, inside) = normal_window(*mean, *sd, *low, *high);
                let at = special::normal_share((x - mean) / sd);
                Share {
                    below: (at.below - from.below) / inside,
                    above: (at.above - to.above) / inside,
                }
            }
            Kind::Beta { a, b } => special::beta_share(*a, *b, log(x)).0,
            Kind::Empirical(values) => empirical_share(values, x),
            Kind::Mixture(parts) => {
                let mut sum = Share { below: 0.0, above: 0.0 };
                for (weight, of) in parts {
                    let part = of.share(x);
                    sum.below += weight * part.below;
                    sum.above += weight * part.above;
                }
                sum
            }
        }
    }

    /// The values at which the distribution has a corner or a jump.
    fn corners(&self, into: &mut Vec<f64>) {
        match &self.0 {
            Kind::Triangular { mode, .. } => into.push(*mode),
            Kind::Empirical(values) => into.extend_from_slice(values),
            Kind::Mixture(parts) => parts.iter().for_each(|(_, of)| of.corners(into)),
            _ => {}
        }
        let (low, high) = self.range();
        into.extend([low, high].into_iter().filter(|end| end.is_finite()));
    }
}

fn exponential_share(x: f64) -> Share {
    Share { below: -expm1(-x), above: exp(-x) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position between 0 and the number of values"
)]
fn empirical_quantile(values: &[f64], share: Share) -> f64 {
    let position = share.below * (count(values) - 1.0);
    let floor = position as usize;
    let (low, high) = (values[floor], values[(floor + 1).min(values.len() - 1)]);
    low + (high - low) * (position - libm::floor(position))
}

/// The inverse of [`empirical_quantile`], for `x` inside the range of at least two values.
fn empirical_share(values: &[f64], x: f64) -> Share {
    let at_or_below = values.partition_point(|value| *value <= x);
    let (low, high) = (values[at_or_below - 1], values[at_or_below]);
    let position = count(&values[..at_or_below]) - 1.0 + (x - low) / (high - low);
    Share::below(position / (count(values) - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn scaling_scales_every_quantile_and_spreading_keeps_the_median() {
        let all = [
            Distribution::constant(7.0),
            Distribution::uniform(2.0, 6.0),
            Distribution::triangular(1.0, 2.0, 6.0),
            Distribution::exponential(4.0),
            Distribution::lognormal(40.0, 0.5),
            Distribution::gamma(2.0, 3.0),
            Distribution::weibull(3.0, 1.5),
            Distribution::normal(5.0, 2.0, 0.0, f64::INFINITY),
            Distribution::empirical(vec![1.0, 4.0, 9.0]),
        ]
        .map(Result::unwrap);
        let parts = all.iter().map(|of| (1.0, of.clone())).collect();
        for of in all.iter().chain([&Distribution::mixture(parts).unwrap()]) {
            let scaled = of.scaled(3.0).unwrap();
            for p in [0.05, 0.5, 0.99] {
                close(scaled.quantile_exact(p), 3.0 * of.quantile_exact(p));
            }
        }
        assert_eq!(Distribution::beta(2.0, 3.0).unwrap().scaled(3.0), None);
        let wide = all[4].spread(3.0).unwrap();
        assert_eq!(wide, Distribution::lognormal(40.0, 1.5).unwrap());
        assert_eq!(all[0].spread(3.0), None);
    }

    #[test]
    fn quantiles_are_those_of_the_closed_forms() {
        let at =
            |distribution: Result<Distribution, String>, p| distribution.unwrap().quantile_exact(p);
        close(at(Distribution::constant(7.0), 0.3), 7.0);
        close(at(Distribution::uniform(2.0, 6.0), 0.25), 3.0);
        close(at(Distribution::triangular(0.0, 1.0, 2.0), 0.125), 0.5);
        close(at(Distribution::triangular(0.0, 1.0, 2.0), 0.875), 1.5);
        close(at(Distribution::exponential(10.0), 0.5), 10.0 * std::f64::consts::LN_2);
        close(at(Distribution::lognormal(40.0, 0.5), 0.5), 40.0);
        close(at(Distribution::lognormal_p95(2.0, 9.0), 0.95), 9.0);
        close(at(Distribution::gamma(1.0, 3.0), 0.9), 3.0 * std::f64::consts::LN_10);
        close(at(Distribution::weibull(5.0, 2.0), 0.9), 5.0 * sqrt(std::f64::consts::LN_10));
        close(at(Distribution::normal(28.0, 4.0, f64::NEG_INFINITY, f64::INFINITY), 0.5), 28.0);
        close(at(Distribution::normal(0.0, 1.0, 0.0, f64::INFINITY), 0.9), 1.644_853_626_951_472_7);
        close(at(Distribution::beta(1.0, 3.0), 0.271), 0.1);
        close(at(Distribution::empirical(vec![3.0, 1.0, 2.0]), 0.75), 2.5);
        close(at(Distribution::empirical(vec![3.0]), 0.75), 3.0);
    }

    #[test]
    fn a_mixture_is_inverted_as_a_whole() {
        let uniform = |low, high| Distribution::uniform(low, high).unwrap();
        let parts = vec![(1.0, uniform(0.0, 1.0)), (3.0, uniform(10.0, 11.0))];
        let mixture = Distribution::mixture(parts).unwrap();
        close(mixture.quantile_exact(0.125), 0.5);
        close(mixture.quantile_exact(0.625), 10.5);
        close(mixture.mean(), 8.0);
        let atoms = [(2.0, 0.0), (1.0, 4.0), (0.0, 99.0)];
        let atoms = atoms.map(|(weight, at)| (weight, Distribution::constant(at).unwrap()));
        let atoms = Distribution::mixture(atoms.to_vec()).unwrap();
        assert_eq!(atoms.quantile_exact(0.6).to_bits(), 0.0_f64.to_bits());
        close(atoms.quantile_exact(0.7), 4.0);
        assert_eq!(atoms.range(), (0.0, 4.0));
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused_by_name() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let refused = [
            (Distribution::constant(nan), "the value"),
            (Distribution::uniform(2.0, 1.0), "lower end"),
            (Distribution::uniform(0.0, inf), "upper end"),
            (Distribution::triangular(0.0, 3.0, 2.0), "mode"),
            (Distribution::exponential(0.0), "mean"),
            (Distribution::lognormal(-1.0, 0.5), "median"),
            (Distribution::lognormal(1.0, -0.5), "sigma"),
            (Distribution::lognormal(1.0, nan), "sigma"),
            (Distribution::lognormal_p95(2.0, 1.0), "p95"),
            (Distribution::gamma(0.0, 1.0), "shape"),
            (Distribution::gamma(1.0, inf), "scale"),
            (Distribution::gamma_cv(1.0, 0.0), "cv"),
            (Distribution::weibull(1.0, 0.0), "shape"),
            (Distribution::normal(0.0, 0.0, -1.0, 1.0), "sd"),
            (Distribution::normal(0.0, 1.0, 1.0, 1.0), "min"),
            (Distribution::normal(0.0, 1.0, 8.0, 9.0), "next to nothing"),
            (Distribution::beta(1.0, 0.0), "b is 0"),
            (Distribution::empirical(vec![]), "no values"),
            (Distribution::empirical(vec![1.0, nan]), "a value"),
            (Distribution::mixture(vec![]), "weights"),
            (Distribution::mixture(vec![(-1.0, Distribution::constant(1.0).unwrap())]), "weight"),
        ];
        for (distribution, word) in refused {
            let message = distribution.unwrap_err();
            assert!(message.contains(word), "{message} does not name {word}");
        }
    }

    #[test]
    fn shares_undo_quantiles_in_both_tails() {
        let all = [
            Distribution::triangular(0.0, 10.0, 100.0),
            Distribution::lognormal(1.0, 3.0),
            Distribution::gamma(5.7, 1.22),
            Distribution::weibull(100.0, 0.7),
            Distribution::normal(28.0, 4.0, 20.0, f64::INFINITY),
            Distribution::beta(2.0, 6.0),
            Distribution::empirical(vec![4.0, 1.0, 2.5, 2.75, 80.0]),
        ];
        for distribution in all.map(Result::unwrap) {
            for p in [1e-6, 0.01, 0.3, 0.5] {
                let below = distribution.share(distribution.quantile(Share::below(p))).below;
                let above = distribution.share(distribution.quantile(Share::above(p))).above;
                assert!((below / p - 1.0).abs() < 1e-6, "{distribution:?} at {p}: {below}");
                assert!((above / p - 1.0).abs() < 1e-6, "{distribution:?} at 1 - {p}: {above}");
            }
        }
    }
}
