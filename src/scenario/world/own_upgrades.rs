//! `world.ownUpgrades`: members whose own auto-upgrade is left on (U10).

use super::is_none;
use crate::quantiles::Distribution;
use crate::scenario::access::Field;
use crate::scenario::distribution::{self, Unit};
use crate::scenario::files::Loader;

/// Days from a release's arrival to the upgrade of a member without a window, when the key is
/// absent: assumed; the documentation says days or weeks.
const DAYS: (f64, f64) = (1.0, 14.0);

fn default_delay() -> Distribution {
    let millis = |days: f64| days * 86_400_000.0;
    Distribution::uniform(millis(DAYS.0), millis(DAYS.1)).expect("the defaults make sense")
}

pub(super) fn read(field: Option<Field<'_>>, loader: &Loader<'_>) -> Option<Distribution> {
    let Some(field) = field else { return Some(default_delay()) };
    if is_none(&field) {
        return None;
    }
    let map = field.map("a model of members' own upgrades (or `none`)", &["delay"])?;
    match map.own("delay") {
        Some(field) => distribution::read(&field, Unit::Duration, loader),
        None => Some(default_delay()),
    }
}
