//! Members that join in mid-run (W9): those of `world.churn.join`, and those of `script`.
//!
//! They are read before anything that speaks of members by name, and stand behind all others in
//! the fleet, so that they change nothing for those.

use super::access::Field;
use super::distribution::{self, Unit};
use super::files::Loader;
use super::members::{Builder, MOST_MEMBERS};
use super::population::{self, Pattern};
use super::tree::{Node, Value};
use super::world::whom;
use crate::fleet::{Member, PoolImage, PowerState};
use crate::ids::{Id as _, MemberId};
use crate::scheduler::ServiceLimits;
use crate::sim::draw::{Luck, unit};
use crate::sim::model::Joining;

const JOIN: &[&str] = &["every", "atMost", "members", "like", "name"];
/// The most members of one kind that can join.
const MOST: i128 = 10_000;
/// The luck of kinds of members that join is that of the last populations.
const LAST_POPULATION: u16 = u16::MAX;
/// Which field of them says whom a member is like.
const LIKE: u16 = 0;

/// Reads the members that `script.actions` lets join.
pub(super) fn of_script(script: Option<&Node>, builder: &mut Builder<'_>) {
    let actions = script.and_then(|script| script.get("actions")).map(|node| &node.value);
    let Some(Value::List(actions)) = actions else { return };
    for action in actions {
        let Some(node) = action.get("join").filter(|node| !node.is_null()) else { continue };
        let notes = builder.notes;
        builder.newcomers(|builder| builder.member(&Field::new(notes, "join", node)));
    }
}

/// The member that joins by this action. It was read with the fleet, and what is wrong with it was
/// reported there.
pub(super) fn joins(node: &Node, builder: &Builder<'_>) -> Option<MemberId> {
    let Value::Scalar { text, .. } = &node.get("name")?.value else { return None };
    let found = builder.known_member(text)?;
    builder.fleet.members[found].joins.then_some(found)
}

/// Reads `world.churn.join`: one kind of members, or a list of kinds.
pub(super) fn of_world(
    world: Option<&Node>,
    builder: &mut Builder<'_>,
    seed: u64,
    loader: &Loader<'_>,
) -> Vec<Joining> {
    let node = world.and_then(|world| world.get("churn")?.get("join"));
    let Some(node) = node.filter(|node| !node.is_null()) else { return vec![] };
    let field = Field::new(builder.notes, "join", node);
    if matches!(&node.value, Value::Scalar { text, .. } if text == "none") {
        return vec![];
    }
    let kinds: Vec<Field<'_>> = match node.value {
        Value::List(_) => field.items().into_iter().flatten().collect(),
        _ => vec![field],
    };
    let mut joining = vec![];
    for (number, field) in (0..LAST_POPULATION).zip(&kinds) {
        joining.extend(kind(field, builder, (seed, LAST_POPULATION - number), loader));
    }
    joining
}

/// Refuses a fleet that grows beyond what the service allows.
pub(super) fn check_size(root: &Field<'_>, builder: &Builder<'_>, limits: ServiceLimits) {
    let all = builder.fleet.members.len();
    let newcomers = builder.fleet.members.iter().filter(|member| member.joins).count();
    if limits == ServiceLimits::Azure && newcomers > 0 && all > MOST_MEMBERS {
        let message = format!(
            "with the {newcomers} members that join the fleet has {all}; the service allows 1000"
        );
        root.fail("service-limit", message)
            .hint("let fewer join (`atMost`), or write `serviceLimits: none`");
    }
}

fn kind(
    field: &Field<'_>,
    builder: &mut Builder<'_>,
    (seed, population): (u64, u16),
    loader: &Loader<'_>,
) -> Option<Joining> {
    let map = field.map("a kind of members that join (or `none`)", JOIN)?;
    let every = map.need("every").and_then(|f| distribution::read(&f, Unit::Duration, loader));
    let count = map.need("atMost").and_then(|field| field.integer::<u32>(1, MOST));
    let first = builder.fleet.members.len();
    let like = match (map.get("members"), map.get("like")) {
        (Some(members), None) => {
            if let Some(name) = map.own("name") {
                name.fail("conflict", "beside `members`, the name stands in it")
                    .hint("write members: {name: \"new-{n:03}\", region: …}");
            }
            let luck = (seed, population);
            builder.newcomers(|builder| {
                population::draw(builder, &members, luck, count?, loader);
                Some(vec![])
            })
        }
        (None, Some(like)) => {
            let like = like.map("whom they are like", &["byLabel", "region", "osType"]);
            let name = map.need("name");
            let pattern = Pattern::read(&name?, count?)?;
            let whom = whom::read(&like?, builder);
            let fits = |id: &MemberId| {
                let member = &builder.fleet.members[*id];
                !member.joins && whom.fits(member)
            };
            let models: Vec<MemberId> = builder.fleet.members.ids().filter(fits).collect();
            let draws = Luck::new(seed).population(population, LIKE);
            copies(builder, field, &models, &pattern, draws.take(count? as usize))
        }
        (members, _) => {
            let number = if members.is_some() { "both" } else { "neither" };
            let message = format!(
                "members that join are described by `members`, or are `like` others; this has \
                 {number}"
            );
            field.fail("missing-key", message).hint(
                "write like: {byLabel: \"env=prod\"} and name: \"new-{n}\", or members: {name: \
                 \"new-{n}\", region: westeurope, …}",
            );
            None
        }
    };
    let members = (first..builder.fleet.members.len()).map(MemberId::new).collect();
    Some(Joining { members, like: like?, every: every? })
}

/// Appends copies of members, each of one drawn from all these. A new cluster begins with the
/// newest images of its region; its Kubernetes version is that of the member that it is like, when
/// it joins.
fn copies(
    builder: &mut Builder<'_>,
    field: &Field<'_>,
    models: &[MemberId],
    pattern: &Pattern<'_>,
    draws: impl Iterator<Item = u64>,
) -> Option<Vec<MemberId>> {
    if models.is_empty() {
        field.fail("W9", "no member is there that others could be like").hint(
            "see which labels and regions the members have, or describe who joins by `members`",
        );
        return None;
    }
    let like: Vec<MemberId> = draws.map(|bits| models[place(bits, models.len())]).collect();
    builder.newcomers(|builder| {
        for (n, model) in (1..).zip(&like) {
            let copy = copy(&builder.fleet.members[*model], pattern.name(n));
            builder.push(copy, field.at(), field.at());
        }
    });
    Some(like)
}

/// A uniform number as one of so many places.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a place among members, from a number below 1"
)]
fn place(bits: u64, places: usize) -> usize {
    ((unit(bits) * places as f64) as usize).min(places - 1)
}

fn copy(model: &Member, name: String) -> Member {
    let mut copy = model.clone();
    for pool in &mut copy.pools {
        pool.image = PoolImage::Behind { family: pool.image.family(), versions: 0 };
        (pool.orchestrator_version, pool.from_snapshot) = (None, false);
    }
    // The cluster beside the model's: in its subscription and resource group.
    let parent = model.cluster_resource_id.as_ref().and_then(|id| id.rsplit_once('/'));
    copy.cluster_resource_id = parent.map(|(parent, _)| format!("{parent}/{name}"));
    copy.power_state = PowerState::Running;
    Member { name, joins: true, ..copy }
}

impl Builder<'_> {
    /// Reads members that join: what is appended meanwhile. Pools of which no image is said begin
    /// with the newest.
    fn newcomers<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let first = self.fleet.members.len();
        let behind = std::mem::replace(&mut self.default_behind, 0);
        let value = read(self);
        self.default_behind = behind;
        for id in (first..self.fleet.members.len()).map(MemberId::new) {
            self.fleet.members[id].joins = true;
        }
        value
    }
}
