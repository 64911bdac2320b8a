//! `world.releases`: how versions arrive (W1, W2).

use super::is_none;
use crate::scenario::access::Field;
use crate::sim::model::ReleaseModel;

pub(super) fn read(field: &Field<'_>) -> ReleaseModel {
    if is_none(field) {
        return ReleaseModel::Off;
    }
    let map = field.map("a release model", &["model", "history"]);
    let model = map.and_then(|map| map.get("model"));
    if let Some(field) = model
        && field.word(&[("train", false), ("history", true)]) == Some(true)
    {
        field
            .fail("not-supported", "`model: history` is not supported yet")
            .hint("write `model: train`, or name the releases in `script.releases`");
    }
    if let Some(field) = map.and_then(|map| map.get("history")) {
        field.fail("not-supported", "`history` is not supported yet").hint("take it out");
    }
    ReleaseModel::Train
}
