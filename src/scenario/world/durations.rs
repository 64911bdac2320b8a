//! `world.durations`: how long an update takes (W4, W5).

use super::is_none;
use crate::scenario::access::Field;
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::sim::model::DurationModel;

pub(super) fn read(field: &Field<'_>, loader: &Loader<'_>) -> Option<DurationModel> {
    if is_none(field) {
        field
            .fail("wrong-type", "an update takes its time: `durations` cannot be none")
            .hint("write durations: {update: 40m}, say");
        return None;
    }
    let map = field.map("a model of durations", &["model", "update"])?;
    if let Some(field) = map.get("model")
        && field.word(&[("cluster", false), ("nodes", true)]) == Some(true)
    {
        field
            .fail("not-supported", "`model: nodes` is not supported yet")
            .hint("write `model: cluster`");
    }
    let update = distribution::read(&map.get("update")?, Unit::Duration, loader)?;
    Some(DurationModel::Cluster(update))
}
