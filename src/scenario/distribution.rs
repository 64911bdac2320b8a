//! Distributions as scenarios write them (world.md's list), of numbers or of durations.

use super::access::{Field, Map, nearest};
use super::files::Loader;
use super::tree::Value;
use crate::quantiles::Distribution;
use crate::time::Span;

/// The keys that make a map a distribution.
pub(super) const KINDS: &[&str] = &[
    "uniform",
    "triangular",
    "exponential",
    "lognormal",
    "gamma",
    "weibull",
    "normal",
    "beta",
    "empirical",
    "mixture",
];

/// What the values of a distribution are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Numbers.
    Number,
    /// Durations; the distribution is in milliseconds.
    Duration,
}

/// Reads a distribution; parameters that make no sense are an error.
pub(super) fn read(field: &Field<'_>, unit: Unit, loader: &Loader<'_>) -> Option<Distribution> {
    let reader = Reader { unit, loader };
    if let Value::Map(_) = field.node.value {
        return reader.of_kind(field);
    }
    let value = reader.value(field)?;
    reader.checked(field, Distribution::constant(value))
}

struct Reader<'a> {
    unit: Unit,
    loader: &'a Loader<'a>,
}

impl Reader<'_> {
    /// A value in the unit of the distribution.
    #[expect(clippy::cast_precision_loss, reason = "spans under 2^53 ms are exact")]
    fn value(&self, field: &Field<'_>) -> Option<f64> {
        match self.unit {
            Unit::Number => field.number(f64::MIN, f64::MAX),
            Unit::Duration => Some(super::duration(field)?.as_millis() as f64),
        }
    }

    fn of_kind(&self, field: &Field<'_>) -> Option<Distribution> {
        let entries = field.entries("a distribution")?;
        let [entry] = entries else {
            field
                .fail("distribution", "a distribution is a map with one key, its kind")
                .hint(format!("the kinds are {}", KINDS.join(", ")));
            return None;
        };
        let kind = entry.key.as_str();
        let inner = Field { name: kind, node: &entry.value, notes: field.notes };
        match kind {
            "uniform" => {
                let [low, high] = self.values(&inner, ["lowest", "highest"])?;
                self.checked(&inner, Distribution::uniform(low, high))
            }
            "triangular" => {
                let [low, mode, high] =
                    self.values(&inner, ["lowest", "most likely", "highest"])?;
                self.checked(&inner, Distribution::triangular(low, mode, high))
            }
            "empirical" => self.empirical(&inner),
            "mixture" => self.mixture(&inner),
            _ => self.parametric(&inner, kind).or_else(|| {
                if !KINDS.contains(&kind) {
                    let near = nearest(kind, KINDS.iter().copied());
                    let noted = field.notes.error(
                        entry.at,
                        "distribution",
                        format!("`{kind}` is not a kind of distribution"),
                    );
                    noted.hint(match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the kinds are {}", KINDS.join(", ")),
                    });
                }
                None
            }),
        }
    }

    /// A list of exactly these values.
    fn values<const N: usize>(&self, field: &Field<'_>, names: [&str; N]) -> Option<[f64; N]> {
        let items: Vec<_> = field.items()?.collect();
        if items.len() != N {
            let list = names.join(", ");
            let message = format!("`{}` takes a list of {N} values: {list}", field.name);
            field.fail("distribution", message);
            return None;
        }
        let mut values = [0.0; N];
        for (value, item) in values.iter_mut().zip(&items) {
            *value = self.value(item)?;
        }
        Some(values)
    }

    fn parametric(&self, field: &Field<'_>, kind: &str) -> Option<Distribution> {
        let number = |map: &Map<'_>, key| map.need(key)?.number(f64::MIN, f64::MAX);
        let value = |map: &Map<'_>, key| self.value(&map.need(key)?);
        let made = match kind {
            "exponential" => {
                let map = field.map("an exponential distribution", &["mean"])?;
                Distribution::exponential(value(&map, "mean")?)
            }
            "lognormal" => {
                let map = field.map("a lognormal distribution", &["median", "sigma", "p95"])?;
                either(&map, "sigma", "p95")?;
                let median = value(&map, "median")?;
                match map.get("p95") {
                    Some(p95) => Distribution::lognormal_p95(median, self.value(&p95)?),
                    None => Distribution::lognormal(median, number(&map, "sigma")?),
                }
            }
            "gamma" => {
                let map = field.map("a gamma distribution", &["mean", "cv", "shape", "scale"])?;
                either(&map, "shape", "mean")?;
                if map.get("shape").is_some() {
                    Distribution::gamma(number(&map, "shape")?, value(&map, "scale")?)
                } else {
                    Distribution::gamma_cv(value(&map, "mean")?, number(&map, "cv")?)
                }
            }
            "weibull" => {
                let map = field.map("a weibull distribution", &["scale", "shape"])?;
                Distribution::weibull(value(&map, "scale")?, number(&map, "shape")?)
            }
            "normal" => {
                let map = field.map("a normal distribution", &["mean", "sd", "min", "max"])?;
                let bound = |key, other| map.get(key).map_or(Some(other), |f| self.value(&f));
                let (mean, sd) = (value(&map, "mean")?, value(&map, "sd")?);
                let lowest = if self.unit == Unit::Duration { 0.0 } else { f64::NEG_INFINITY };
                let (min, max) = (bound("min", lowest)?, bound("max", f64::INFINITY)?);
                Distribution::normal(mean, sd, min, max)
            }
            "beta" => {
                if self.unit == Unit::Duration {
                    field
                        .fail(
                            "distribution",
                            "a beta distribution lies between 0 and 1 and makes no durations",
                        )
                        .hint("use triangular, gamma or lognormal");
                    return None;
                }
                let map = field.map("a beta distribution", &["a", "b"])?;
                Distribution::beta(number(&map, "a")?, number(&map, "b")?)
            }
            _ => return None,
        };
        self.checked(field, made)
    }

    /// Values in a list, or one a line in a file.
    fn empirical(&self, field: &Field<'_>) -> Option<Distribution> {
        if let Value::Scalar { .. } = field.node.value {
            let (file, text) = self.loader.text(field)?;
            let nodes = super::files::column(file, &text);
            let fields = nodes.iter().map(|node| Field::new(field.notes, "a value", node));
            let values = fields.map(|field| self.value(&field)).collect::<Option<Vec<_>>>()?;
            return self.checked(field, Distribution::empirical(values));
        }
        let values = field.items()?.map(|item| self.value(&item)).collect::<Option<Vec<_>>>()?;
        self.checked(field, Distribution::empirical(values))
    }

    fn mixture(&self, field: &Field<'_>) -> Option<Distribution> {
        let mut parts = vec![];
        for item in field.items()? {
            let part = item.map("a part of a mixture", &["weight", "of"])?;
            let weight = part.need("weight")?.number(0.0, f64::MAX)?;
            parts.push((weight, read(&part.need("of")?, self.unit, self.loader)?));
        }
        self.checked(field, Distribution::mixture(parts))
    }

    /// Reports what a constructor refused; durations in its message are shown as such.
    fn checked(
        &self,
        field: &Field<'_>,
        made: Result<Distribution, String>,
    ) -> Option<Distribution> {
        let message = match made {
            Ok(distribution) => return Some(distribution),
            Err(message) => message,
        };
        let words = message.split(' ').map(|word| {
            let number = word.trim_end_matches([',', ';']);
            match number.parse::<i64>() {
                Ok(millis) if self.unit == Unit::Duration && millis.abs() >= 1_000 => {
                    format!("{}{}", Span::from_millis(millis), &word[number.len()..])
                }
                _ => word.to_owned(),
            }
        });
        field.fail("distribution", words.collect::<Vec<_>>().join(" "));
        None
    }
}

/// Exactly one of two keys.
fn either(map: &Map<'_>, one: &'static str, other: &'static str) -> Option<()> {
    match (map.get(one), map.get(other)) {
        (Some(_), Some(second)) => {
            second.fail("distribution", format!("`{one}` and `{other}` exclude each other"));
            None
        }
        (None, None) => {
            let message = format!("the distribution needs `{one}` or `{other}`");
            map.notes.error(map.node.at, "missing-key", message);
            None
        }
        _ => Some(()),
    }
}
