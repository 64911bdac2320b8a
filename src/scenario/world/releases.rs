//! `world.releases`: how versions arrive (W1, W2).

use super::is_none;
use crate::fleet::support::Month;
use crate::scenario::access::{Field, Map};
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;
use crate::sim::model::{Mishap, Mishaps, ReleaseModel};
use crate::sim::releases::history;
use crate::time::Timestamp;

const RELEASES: &[&str] = &["model", "history", "abandoned", "delayed", "withdrawn"];

pub(super) fn read(
    field: &Field<'_>,
    start: Timestamp,
    loader: &Loader<'_>,
) -> (ReleaseModel, Mishaps) {
    let nothing = (ReleaseModel::Off, Mishaps::default());
    if is_none(field) {
        return nothing;
    }
    let Some(map) = field.map("a release model (or `none`)", RELEASES) else { return nothing };
    let model = map.get("model");
    let replay = model.as_ref().and_then(|f| f.word(&[("train", false), ("history", true)]));
    if replay == Some(true) {
        for key in ["abandoned", "delayed", "withdrawn"] {
            if let Some(at) = map.spot(key) {
                map.notes
                    .error(at, "no-effect", format!("`{key}` cannot change what is on record"))
                    .hint("take it out, or write `model: train`");
            }
        }
        return (period(&map, field, start), Mishaps::default());
    }
    if let (Some(field), None | Some(false)) = (map.get("history"), replay) {
        field
            .fail("no-effect", "`history` belongs to `model: history`")
            .hint("write `model: history`, or take it out");
    }
    let abandoned = map.own("abandoned").and_then(|field| field.number(0.0, 1.0));
    let delayed = map.own("delayed").and_then(|field| mishap(&field, "for", loader));
    let withdrawn = map.own("withdrawn").and_then(|field| mishap(&field, "after", loader));
    (ReleaseModel::Train, Mishaps { abandoned, delayed, withdrawn })
}

/// `{probability, for}` or `{probability, after}`; `none` is none.
fn mishap(field: &Field<'_>, after: &'static str, loader: &Loader<'_>) -> Option<Mishap> {
    if is_none(field) {
        return None;
    }
    let map = match after {
        "for" => field.map("a delay of releases (or `none`)", &["probability", "for"]),
        _ => field.map("a withdrawal of releases (or `none`)", &["probability", "after"]),
    }?;
    let probability = map.need("probability").and_then(|field| field.number(0.0, 1.0));
    let after = map.need(after).and_then(|f| distribution::read(&f, Unit::Duration, loader));
    Some(Mishap { probability: probability?, after: after? })
}

/// `history: 2026-06..2026-08`: whole months, both included; all that is on record of node images
/// when it is absent. The scenario starts in it.
fn period(map: &Map<'_>, releases: &Field<'_>, start: Timestamp) -> ReleaseModel {
    let (first, last) = history::of_images();
    let whole = (Month::of(first), Month::of(last));
    let field = map.get("history");
    let (from, to) = match &field {
        Some(field) => match months(field) {
            Some(months) => months,
            None => return ReleaseModel::Off,
        },
        None => whole,
    };
    let eras = history::of_aks_releases().map(|(from, to)| (Month::of(from), Month::of(to)));
    let on_record = eras.iter().chain([&whole]).any(|(first, last)| *first <= from && to <= *last);
    let at = field.as_ref().unwrap_or(releases);
    if !on_record {
        let [old, new] = eras.map(|(from, to)| format!("{from}..{to}"));
        at.fail("W2", format!("{from}..{to} is not on record")).hint(format!(
            "node images are on record for {}..{}, Kubernetes versions for {old} and {new}",
            whole.0, whole.1
        ));
    } else if !(from.first() <= start && start < to.plus(1).first()) {
        at.fail("W2", format!("the scenario starts outside of {from}..{to}"))
            .hint("the past is replayed as it was: let the scenario start in it");
    }
    ReleaseModel::History(to.plus(1).first())
}

/// Two months with two dots between them, or one month.
fn months(field: &Field<'_>) -> Option<(Month, Month)> {
    let text = field.text()?;
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse::<Month>(), to.parse::<Month>()) {
        (Ok(from), Ok(to)) if from <= to => Some((from, to)),
        (Ok(_), Ok(_)) => {
            field
                .fail("out-of-range", format!("`{text}` ends before it begins"))
                .hint(format!("write {to}..{from}"));
            None
        }
        _ => {
            field
                .fail("wrong-type", format!("`{text}` does not read as months"))
                .hint("write 2026-06..2026-08");
            None
        }
    }
}
