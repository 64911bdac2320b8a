//! `world.livePatches`: how security patches of Linux nodes go in (A2).

use super::{is_default, is_none, minutes};
use crate::scenario::access::Field;
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::sim::model::LivePatchModel;

/// Share of patches that need a reimage: assumed. A kernel comes about every four weeks, a patch
/// every 11.7 days.
const REIMAGE: f64 = 0.4;
/// How long a live patch of a member takes: lognormal, median in minutes and sigma; assumed.
const TAKES: (f64, f64) = (10.0, 0.5);

pub(super) fn read(field: Option<Field<'_>>, loader: &Loader<'_>) -> Option<LivePatchModel> {
    let (median, sigma) = TAKES;
    let default = LivePatchModel { reimage: REIMAGE, takes: minutes(median, sigma) };
    let Some(field) = field.filter(|field| !is_default(field)) else { return Some(default) };
    if is_none(&field) {
        return None;
    }
    let map = field.map("a model of live patches (or `none`)", &["reimage", "takes"])?;
    let reimage = map.own("reimage").and_then(|field| field.number(0.0, 1.0));
    let takes = map.own("takes").and_then(|f| distribution::read(&f, Unit::Duration, loader));
    Some(LivePatchModel {
        reimage: reimage.unwrap_or(default.reimage),
        takes: takes.unwrap_or(default.takes),
    })
}
