//! Distributions of which one number is another: what a sensitivity analysis tries.

use super::{Distribution, Kind, SHAPES};

impl Distribution {
    /// A beta distribution with the same `a` and `factor` times the mean, at most 0.99 and as far
    /// as `b` can be; `None` of other distributions.
    pub fn leaning(&self, factor: f64) -> Option<Self> {
        let Kind::Beta { a, b } = self.0 else { return None };
        let mean = (a / (a + b) * factor).min(0.99);
        let [least, most] = SHAPES;
        Some(Self(Kind::Beta { a, b: (a * (1.0 - mean) / mean).clamp(least, most) }))
    }

    /// A beta distribution with `factor` times the `a` and the `b`: the same mean, and closer to it
    /// the larger they are, as far as they can be; `None` of other distributions.
    pub fn concentrated(&self, factor: f64) -> Option<Self> {
        let Kind::Beta { a, b } = self.0 else { return None };
        let [least, most] = SHAPES;
        let factor = factor.clamp(least / a.min(b), most / a.max(b));
        Some(Self(Kind::Beta { a: a * factor, b: b * factor }))
    }

    /// A lognormal with the same median and `factor` times the sigma, at most 10; a mixture with
    /// all its lognormal parts so. `None` of distributions that have no sigma.
    pub fn spread(&self, factor: f64) -> Option<Self> {
        match &self.0 {
            Kind::Lognormal { median, sigma } => {
                let sigma = (sigma * factor).clamp(0.0, 10.0);
                Some(Self(Kind::Lognormal { median: *median, sigma }))
            }
            Kind::Mixture(parts) => {
                let spread: Vec<Option<Self>> =
                    parts.iter().map(|(_, of)| of.spread(factor)).collect();
                let any = spread.iter().any(Option::is_some);
                let both = parts.iter().zip(spread);
                let parts =
                    both.map(|((weight, of), spread)| (*weight, spread.unwrap_or(of.clone())));
                any.then(|| Self(Kind::Mixture(parts.collect())))
            }
            _ => None,
        }
    }

    /// A mixture in which all parts but the first weigh `factor` times as much; `None` of other
    /// distributions, and of mixtures of one part.
    pub fn reweighted(&self, factor: f64) -> Option<Self> {
        let Kind::Mixture(parts) = &self.0 else { return None };
        let (first, others) = parts.split_first().filter(|(_, others)| !others.is_empty())?;
        let others = others.iter().map(|(weight, of)| (weight * factor, of.clone()));
        Self::mixture([first.clone()].into_iter().chain(others).collect()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lognormal(median: f64, sigma: f64) -> Distribution {
        Distribution::lognormal(median, sigma).unwrap()
    }

    fn mixture(parts: Vec<(f64, Distribution)>) -> Distribution {
        Distribution::mixture(parts).unwrap()
    }

    #[test]
    fn a_spread_mixture_has_all_its_lognormal_parts_spread_and_no_others() {
        let other = Distribution::uniform(1.0, 2.0).unwrap();
        let parts = |s: f64| vec![(1.0, lognormal(5.0, s)), (3.0, other.clone())];
        assert_eq!(mixture(parts(0.5)).spread(3.0), Some(mixture(parts(1.5))));
        assert_eq!(lognormal(5.0, 4.0).spread(3.0), Some(lognormal(5.0, 10.0)), "at most 10");
        assert_eq!(mixture(vec![(1.0, other.clone())]).spread(3.0), None);
        assert_eq!(other.spread(3.0), None);
    }

    #[test]
    fn a_reweighted_mixture_keeps_its_parts() {
        let parts = |weight: f64| vec![(1.0, lognormal(5.0, 0.5)), (weight, lognormal(50.0, 0.5))];
        assert_eq!(mixture(parts(1.0)).reweighted(3.0), Some(mixture(parts(3.0))));
        assert_eq!(mixture(parts(1.0)[..1].to_vec()).reweighted(3.0), None, "it is all there is");
        assert_eq!(lognormal(5.0, 0.5).reweighted(3.0), None);
    }

    #[test]
    fn a_concentrated_beta_keeps_its_mean_and_a_leaning_one_its_a() {
        let beta = |a: f64, b: f64| Distribution::beta(a, b).unwrap();
        assert_eq!(beta(2.0, 6.0).concentrated(3.0), Some(beta(6.0, 18.0)));
        assert_eq!(beta(2.0, 6.0).leaning(2.0), Some(beta(2.0, 2.0)));
        let most = beta(10.0, 30.0).leaning(20.0).unwrap().mean();
        assert!((most - 0.99).abs() < 1e-12, "{most}");
        // Shapes stay what a scenario can say.
        assert_eq!(beta(2.0, 2.0).leaning(3.0), Some(beta(2.0, 0.05)));
        assert_eq!(beta(0.1, 0.2).concentrated(1.0 / 3.0), Some(beta(0.05, 0.1)));
        assert_eq!(lognormal(1.0, 1.0).concentrated(3.0), None);
    }
}
