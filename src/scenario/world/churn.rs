//! `world.churn`: members that come and go (W9).

use super::{is_none, whom};
use crate::quantiles::Distribution;
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::members::Builder;
use crate::sim::model::{ChurnModel, Joining, Leaving, PoolAdding, Stopping};

pub(super) fn read(
    field: &Field<'_>,
    (join, add_pool): (Vec<Joining>, Vec<PoolAdding>),
    builder: &Builder<'_>,
    loader: &Loader<'_>,
) -> Option<ChurnModel> {
    if is_none(field) {
        return None;
    }
    let map =
        field.map("a model of churn (or `none`)", &["stopped", "join", "leave", "addPool"])?;
    let named = |key| map.own(key).filter(|field: &Field<'_>| !is_none(field));
    let lag = |map: &Map<'_>, key| -> Option<Distribution> {
        distribution::read(&map.need(key)?, Unit::Duration, loader)
    };
    let stopped = named("stopped").and_then(|field| {
        let keys = &["every", "lasts", "byLabel", "region", "osType"];
        let map = field.map("clusters that are stopped (or `none`)", keys)?;
        let whom = whom::read(&map, builder);
        let (every, lasts) = (lag(&map, "every"), lag(&map, "lasts"));
        Some(Stopping { whom, every: every?, lasts: lasts? })
    });
    let leave = named("leave").and_then(|field| {
        let keys = &["after", "byLabel", "region", "osType"];
        let map = field.map("members that leave (or `none`)", keys)?;
        let whom = whom::read(&map, builder);
        Some(Leaving { whom, after: lag(&map, "after")? })
    });
    let model = ChurnModel { stopped, leave, join, add_pool };
    (model != ChurnModel::default()).then_some(model)
}
