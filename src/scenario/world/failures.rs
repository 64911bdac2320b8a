//! `world.failures`: what fails by itself (W6).

use super::{is_none, whom};
use crate::scenario::access::{Field, Map};
use crate::scenario::members::Builder;
use crate::sim::failures::{FailureModel, FailureRule, UpgradeType};

const FAILURES: &[&str] = &["probability", "minorProbability", "transient", "where"];
const RULE: &[&str] = &["byLabel", "region", "osType", "upgrade", "probability"];
const UPGRADES: &[(&str, UpgradeType)] = &[
    ("Full", UpgradeType::Full),
    ("ControlPlaneOnly", UpgradeType::ControlPlaneOnly),
    ("NodeImageOnly", UpgradeType::NodeImageOnly),
];

/// World.md's defaults, assumed.
pub(super) const DEFAULT_FAILURES: FailureModel =
    FailureModel { probability: 0.01, minor_probability: 0.03, transient: 0.6, rules: Vec::new() };

pub(super) fn read(field: &Field<'_>, builder: &Builder<'_>) -> Option<FailureModel> {
    if is_none(field) {
        return None;
    }
    let map = field.map("a model of failures (or `none`)", FAILURES)?;
    let probability = share(&map, "probability");
    let minor = share(&map, "minorProbability").or(probability);
    let rules = map.own("where").and_then(|field| field.items());
    let rules = rules.into_iter().flatten().filter_map(|item| rule(&item, builder));
    Some(FailureModel {
        probability: probability.unwrap_or(DEFAULT_FAILURES.probability),
        minor_probability: minor.unwrap_or(DEFAULT_FAILURES.minor_probability),
        transient: share(&map, "transient").unwrap_or(DEFAULT_FAILURES.transient),
        rules: rules.collect(),
    })
}

fn share(map: &Map<'_>, key: &'static str) -> Option<f64> {
    map.own(key).and_then(|field| field.number(0.0, 1.0))
}

fn rule(field: &Field<'_>, builder: &Builder<'_>) -> Option<FailureRule> {
    let map = field.map("a rule of failures", RULE)?;
    let whom = whom::read(&map, builder);
    let upgrade = map.own("upgrade").and_then(|field| field.word(UPGRADES));
    let probability = map.need("probability").and_then(|field| field.number(0.0, 1.0))?;
    Some(FailureRule { whom, upgrade, probability })
}
