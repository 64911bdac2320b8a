//! Pools that members get in mid-run (W9): those of `world.churn.addPool`, and those of `script`.

use super::access::Field;
use super::distribution::{self, Unit};
use super::files::Loader;
use super::members::Builder;
use super::tree::{Node, Spot, Value};
use super::world::whom;
use crate::fleet::Pool;
use crate::sim::added::MOST_ENTRIES;
use crate::sim::model::PoolAdding;
use crate::time::Span;

const ADD_POOL: &[&str] = &["after", "pool", "byLabel", "region", "osType"];
/// So many members are named that have a pool of the name already.
const MOST_NAMES: usize = 3;

/// Reads `world.churn.addPool`: one entry, or a list of them, each with its place. All members must
/// have been read, those included that join.
pub(super) fn of_world(
    world: Option<&Node>,
    builder: &mut Builder<'_>,
    horizon: Span,
    loader: &Loader<'_>,
) -> (Vec<PoolAdding>, Vec<Spot>) {
    let node = world.and_then(|world| world.get("churn")?.get("addPool"));
    let mut read = (vec![], vec![]);
    let Some(node) = node.filter(|node| !node.is_null()) else { return read };
    let field = Field::new(builder.notes, "addPool", node);
    if matches!(&node.value, Value::Scalar { text, .. } if text == "none") {
        return read;
    }
    let entries: Vec<Field<'_>> = match node.value {
        Value::List(_) => field.items().into_iter().flatten().collect(),
        _ => vec![field],
    };
    if let Some(more) = entries.get(MOST_ENTRIES) {
        let message = format!("a cluster has at most {MOST_ENTRIES} pools");
        more.fail("service-limit", message).hint("write fewer entries of `addPool`");
    }
    for field in entries.into_iter().take(MOST_ENTRIES) {
        let Some((adding, pool)) = entry(&field, builder, loader) else { continue };
        check_name(&pool, &adding, builder, &read.0);
        let (soonest, _) = adding.after.range();
        if soonest > horizon.as_secs_f64() * 1_000.0 {
            field
                .notes
                .warning(field.at(), "no-effect", "no member gets this pool before the horizon")
                .hint("lengthen `horizon`, or write a shorter `after`");
        }
        read.0.push(adding);
        read.1.push(field.at());
    }
    read
}

/// An entry, and its pool as it is written.
fn entry<'a>(
    field: &Field<'a>,
    builder: &mut Builder<'_>,
    loader: &Loader<'_>,
) -> Option<(PoolAdding, Field<'a>)> {
    let map = field.map("a pool that members get (or `none`)", ADD_POOL)?;
    let whom = whom::read(&map, builder);
    let after = map.need("after").and_then(|f| distribution::read(&f, Unit::Duration, loader));
    let written = map.need("pool");
    let pool = written.and_then(|field| builder.new_pool(&field));
    Some((PoolAdding { whom, after: after?, pool: pool? }, written?))
}

/// The name of a new pool is none that its member has, or gets by an earlier entry.
fn check_name(
    pool: &Field<'_>,
    adding: &PoolAdding,
    builder: &Builder<'_>,
    earlier: &[PoolAdding],
) {
    let name = &adding.pool.name;
    let getting = || builder.fleet.members.iter().filter(|member| adding.whom.fits(member));
    let has = |pools: &[Pool]| pools.iter().any(|pool| pool.name == *name);
    let taken: Vec<&str> =
        getting().filter(|member| has(&member.pools)).map(|member| &*member.name).collect();
    let hint = "give the new pool another `name`, or choose other members";
    if !taken.is_empty() {
        let shown = taken.len().min(MOST_NAMES);
        let more = match taken.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (names, verb) =
            (taken[..shown].join("`, `"), if taken.len() == 1 { "has" } else { "have" });
        let message = format!("`{names}`{more} already {verb} a pool called `{name}`");
        pool.fail("duplicate-name", message).hint(hint);
        return;
    }
    let both = |other: &PoolAdding| {
        other.pool.name == *name && getting().any(|member| other.whom.fits(member))
    };
    if earlier.iter().any(both) {
        let message = format!("some members get two pools called `{name}`");
        pool.fail("duplicate-name", message).hint(hint);
    }
}

impl Builder<'_> {
    /// Reads a pool that a member gets in mid-run: without an image it begins with the newest.
    pub(super) fn new_pool(&mut self, field: &Field<'_>) -> Option<Pool> {
        let behind = std::mem::replace(&mut self.default_behind, 0);
        let pool = self.pool(field, 1);
        self.default_behind = behind;
        pool
    }
}
