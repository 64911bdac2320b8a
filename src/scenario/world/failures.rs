//! `world.failures`: what fails by itself (W6).

use super::is_none;
use crate::scenario::access::{Field, Map};
use crate::sim::model::FailureModel;

/// World.md's defaults, assumed.
pub(super) const DEFAULT_FAILURES: FailureModel =
    FailureModel { probability: 0.01, transient: 0.6 };

pub(super) fn read(field: &Field<'_>) -> Option<FailureModel> {
    if is_none(field) {
        return None;
    }
    let map = field.map("a model of failures (or `none`)", &["probability", "transient"])?;
    let share = |map: &Map<'_>, key, default| {
        map.own(key).and_then(|field| field.number(0.0, 1.0)).unwrap_or(default)
    };
    Some(FailureModel {
        probability: share(&map, "probability", DEFAULT_FAILURES.probability),
        transient: share(&map, "transient", DEFAULT_FAILURES.transient),
    })
}
