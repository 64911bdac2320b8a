//! `world.defects`: releases that break members (W7).

use super::{is_default, is_none, minutes, whom};
use crate::quantiles::Distribution;
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::scenario::members::Builder;
use crate::sim::model::{DefectModel, Halt};
use crate::sim::whom::Whom;

const DEFECTS: &[&str] = &[
    "probability",
    "share",
    "breaks",
    "atOnce",
    "degradesAfter",
    "noticedAfter",
    "byLabel",
    "region",
    "osType",
    "halt",
    "fixedAfter",
];

/// World.md's defaults; the share that breaks at once and the times after the update are ours.
fn default_defects() -> DefectModel {
    DefectModel {
        node_image: 0.03,
        patch: 0.04,
        minor: 0.05,
        share: Distribution::beta(2.0, 6.0).expect("the defaults make sense"),
        breaks: 0.8,
        at_once: 0.5,
        degrades_after: minutes(12.0 * 60.0, 1.0),
        noticed_after: minutes(120.0, 1.0),
        whom: Whom::default(),
        halt: Some(default_halt()),
        fixed_after: minutes(48.0 * 60.0, 0.5),
    }
}

fn default_halt() -> Halt {
    Halt { members: 20, after: minutes(180.0, 1.0) }
}

pub(super) fn read(
    field: &Field<'_>,
    builder: &Builder<'_>,
    loader: &Loader<'_>,
) -> Option<DefectModel> {
    if is_none(field) {
        return None;
    }
    let mut model = default_defects();
    if is_default(field) {
        return Some(model);
    }
    let map = field.map("a model of defects (or `default` or `none`)", DEFECTS)?;
    if let Some(field) = map.own("probability") {
        read_probability(&field, &mut model);
    }
    let part =
        |key, default| map.own(key).and_then(|field| field.number(0.0, 1.0)).unwrap_or(default);
    model.breaks = part("breaks", model.breaks);
    model.at_once = part("atOnce", model.at_once);
    let lag = |key, default| lag(&map, key, loader).unwrap_or(default);
    model.degrades_after = lag("degradesAfter", model.degrades_after);
    model.noticed_after = lag("noticedAfter", model.noticed_after);
    model.fixed_after = lag("fixedAfter", model.fixed_after);
    if let Some(share) = map.own("share").and_then(|field| read_share(&field, loader)) {
        model.share = share;
    }
    model.whom = whom::read(&map, builder);
    if let Some(field) = map.own("halt") {
        model.halt = if is_none(&field) { None } else { read_halt(&field, loader) };
    }
    Some(model)
}

fn read_halt(field: &Field<'_>, loader: &Loader<'_>) -> Option<Halt> {
    let default = default_halt();
    let map = field.map("a halt (or `none`)", &["members", "after"])?;
    let members = map.own("members").and_then(|field| field.integer(1, 1_000_000));
    Some(Halt {
        members: members.unwrap_or(default.members),
        after: lag(&map, "after", loader).unwrap_or(default.after),
    })
}

fn lag(map: &Map<'_>, key: &'static str, loader: &Loader<'_>) -> Option<Distribution> {
    map.own(key).and_then(|field| distribution::read(&field, Unit::Duration, loader))
}

/// One probability for all kinds of release, or one each.
fn read_probability(field: &Field<'_>, model: &mut DefectModel) {
    let kinds = [&mut model.node_image, &mut model.patch, &mut model.minor];
    if field.node.as_text().is_some() {
        if let Some(one) = field.number(0.0, 1.0) {
            for kind in kinds {
                *kind = one;
            }
        }
        return;
    }
    let keys = &["nodeImage", "patch", "minor"];
    let Some(map) = field.map("probabilities of defects", keys) else { return };
    for (key, kind) in ["nodeImage", "patch", "minor"].into_iter().zip(kinds) {
        let found = map.own(key).and_then(|field| field.number(0.0, 1.0));
        *kind = found.unwrap_or(*kind);
    }
}

/// A distribution of shares: within 0 and 1.
fn read_share(field: &Field<'_>, loader: &Loader<'_>) -> Option<Distribution> {
    let share = distribution::read(field, Unit::Number, loader)?;
    let (least, most) = share.range();
    if least < 0.0 || most > 1.0 {
        field
            .fail("out-of-range", "a share of members lies between 0 and 1")
            .hint("write share: {beta: {a: 2, b: 6}}, say");
        return None;
    }
    Some(share)
}
