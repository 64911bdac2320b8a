//! The model of nodes, compiled for a fleet.

use std::collections::BTreeMap;

use super::budget::Budgets;
use super::model::{DurationFactor, NodeModel, Part, UpgradeKind, Work, factor};
use super::rolling::{Capacity, Settings};
use super::shortage::Shortages;
use crate::fleet::{Fleet, Member, OsType, Pool, UndrainableNodeBehavior};
use crate::ids::{Column, MemberId};
use crate::quantiles::{Distribution, Quantiles, Sums};
use crate::scheduler::Upgrade;
use crate::sim::added::{Added, additions};
use crate::sim::model::Setting;
use crate::time::Span;

/// The model, compiled.
#[derive(Debug)]
pub(in crate::sim) struct Nodes {
    /// Exponential with mean 1.
    pub(super) levels: Quantiles,
    pub(super) control_plane: Quantiles,
    pub(super) create_surge: Quantiles,
    pub(super) remove_surge: Quantiles,
    /// How long nodes take, by what tells pools apart.
    pub(super) kinds: Vec<NodeKind>,
    /// Pools of all members, one after the other.
    pools: Vec<Kinds>,
    /// Where each member's pools begin.
    first_pool: Column<MemberId, u32>,
    /// Pools that members may get, by their number in the member.
    added: BTreeMap<(MemberId, u16), Kinds>,
    /// Factors of the members' control planes, for each [`Work`]; empty without factors.
    control_plane_factors: Column<MemberId, [f64; Work::ALL.len()]>,
    pub(super) budgets: Option<Budgets>,
    pub(super) shortages: Option<Shortages>,
}

/// A pool, with the kind of its nodes for each [`Work`].
#[derive(Debug, Clone, Copy)]
struct Kinds {
    facts: PoolFacts,
    kinds: [u16; Work::ALL.len()],
}

/// Nodes that take equally long, but for luck.
#[derive(Debug)]
pub(super) struct NodeKind {
    factor: f64,
    /// Drains that pass this fail, as far as the distribution lets any.
    timeout: Span,
    /// -ln of the share of drains that end in time; 0 if all do.
    pub(super) loss: f64,
    /// Drain and reimage of those.
    pub(super) sums: Sums,
}

/// What a pool's rolling update looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolFacts {
    pub(super) settings: Settings,
    pub(super) kind: u16,
    /// Milliseconds between a batch's drain and its reimage.
    pub(super) soak: i64,
    /// Milliseconds.
    pub(super) drain_timeout: i64,
    /// Addresses of a surge node: its own and one a pod (P5).
    pub(super) addresses: u32,
    pub(super) ephemeral: bool,
    /// `undrainableNodeBehavior: Cordon` (P3).
    pub(super) cordon: bool,
    /// Whether nothing stops it: a configuration change.
    pub(super) patient: bool,
}

/// What the update of all of a member's pools comes to in the mean, with nothing in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The control plane.
    control_plane: Span,
    /// All pools, one after the other.
    pools: Span,
    /// The most surge nodes at one time.
    surge: u32,
}

impl Nodes {
    pub(in crate::sim) fn new(model: &NodeModel, setting: Setting<'_>) -> Self {
        let Setting { fleet, world, script, start, .. } = setting;
        let budgets = match &script.budgets {
            Some(budgets) => Some(Budgets::Scripted(budgets.clone(), start)),
            None => world.budgets.as_ref().map(Budgets::new),
        };
        let shortages = match &script.capacity {
            Some(shortages) => Some(Shortages::scripted(shortages, start)),
            None => world.capacity.as_ref().and_then(|model| Shortages::new(model, start)),
        };
        let unit = Distribution::exponential(1.0).expect("a mean of 1");
        let mut nodes = Self {
            levels: Quantiles::new(&unit),
            control_plane: Quantiles::new(&model.control_plane),
            create_surge: Quantiles::new(&model.create_surge),
            remove_surge: Quantiles::new(&model.remove_surge),
            kinds: Vec::new(),
            pools: Vec::new(),
            first_pool: Column::new(),
            added: BTreeMap::new(),
            control_plane_factors: Column::new(),
            budgets,
            shortages,
        };
        let factors = &world.duration_factors;
        for member in &fleet.members {
            nodes.first_pool.push(u32::try_from(nodes.pools.len()).expect("pools fit u32"));
            for pool in &member.pools {
                let pools = nodes.compile(model, factors, (fleet, member, pool));
                nodes.pools.push(pools);
            }
            if !factors.is_empty() {
                let region = fleet.regions[member.region].as_str();
                let of = |work| factor(factors, (member, region), Part::ControlPlane, work);
                nodes.control_plane_factors.push(Work::ALL.map(of));
            }
        }
        for (id, number, pool) in additions(setting) {
            let pools = nodes.compile(model, factors, (fleet, &fleet.members[id], pool));
            nodes.added.insert((id, number), pools);
        }
        nodes
    }

    fn compile(
        &mut self,
        model: &NodeModel,
        factors: &[DurationFactor],
        (fleet, member, pool): (&Fleet, &Member, &Pool),
    ) -> Kinds {
        let region = fleet.regions[member.region].as_str();
        let windows = if pool.os_type == OsType::Windows { model.windows_factor } else { 1.0 };
        let kinds = Work::ALL.map(|work| {
            let factor = windows * factor(factors, (member, region), Part::Pool(pool), work);
            self.kind(model, factor, pool.drain_timeout)
        });
        let facts = PoolFacts {
            settings: Settings::of(pool),
            kind: 0,
            soak: pool.node_soak.as_millis(),
            drain_timeout: pool.drain_timeout.as_millis(),
            addresses: 1 + pool.max_pods,
            ephemeral: pool.ephemeral_data,
            cordon: pool.undrainable == UndrainableNodeBehavior::Cordon,
            patient: false,
        };
        Kinds { facts, kinds }
    }

    /// The kind of nodes with this factor and timeout, compiled if it is new.
    fn kind(&mut self, model: &NodeModel, factor: f64, timeout: Span) -> u16 {
        let scaled = |of: &Distribution| of.scaled(factor).expect("durations can be scaled");
        let drain = scaled(&model.drain);
        let stops = model.patience.is_none_or(|patience| timeout < patience);
        let limit = if stops { timeout.as_secs_f64() * 1_000.0 } else { f64::INFINITY };
        let loss = drain.level_at_most(limit).max(0.0);
        // Where all drains end in time, the timeout makes no difference.
        let timeout = if loss > 0.0 { timeout } else { Span::ZERO };
        let same =
            |kind: &NodeKind| kind.factor.to_bits() == factor.to_bits() && kind.timeout == timeout;
        let known = self.kinds.iter().position(same);
        let number = known.unwrap_or_else(|| {
            let sums = if loss.is_finite() {
                Sums::new(&drain, limit, &scaled(&model.reimage))
            } else {
                // No drain ever ends: nothing is asked of this.
                Sums::new(&scaled(&model.reimage), f64::INFINITY, &scaled(&model.reimage))
            };
            self.kinds.push(NodeKind { factor, timeout, loss, sums });
            self.kinds.len() - 1
        });
        u16::try_from(number).expect("kinds of nodes fit u16")
    }

    /// A pool by its position in its member, as some work sees it; behind those of the fleet come
    /// those that the member has got since.
    #[inline]
    pub(super) fn pool(
        &self,
        (member, added): (MemberId, Option<&Added>),
        pool: usize,
        work: Work,
    ) -> PoolFacts {
        let Kinds { mut facts, kinds } = *self.pools_of(member, added, pool);
        facts.kind = kinds[work.position()];
        facts.patient = work == Work::Change;
        facts.cordon |= facts.patient;
        facts
    }

    #[inline]
    fn pools_of(&self, member: MemberId, added: Option<&Added>, pool: usize) -> &Kinds {
        let first = self.first_pool[member] as usize;
        let next = MemberId(member.0 + 1);
        let end = if (next.0 as usize) < self.first_pool.len() {
            self.first_pool[next] as usize
        } else {
            self.pools.len()
        };
        if first + pool < end {
            return &self.pools[first + pool];
        }
        self.added_pool(member, added, first + pool - end)
    }

    /// A pool that a member has got: the first, the second, and so on.
    #[cold]
    fn added_pool(&self, member: MemberId, added: Option<&Added>, nth: usize) -> &Kinds {
        let added = added.expect("the fleet has no such pool").of(member)[nth];
        &self.added[&(member, added.number())]
    }

    #[inline]
    pub(super) fn control_plane_factor(&self, member: MemberId, work: Work) -> f64 {
        if self.control_plane_factors.is_empty() {
            return 1.0;
        }
        self.control_plane_factors[member][work.position()]
    }

    /// Whether nothing is left to luck.
    pub(in crate::sim) fn is_constant(&self, model: &NodeModel) -> bool {
        let NodeModel { control_plane, create_surge, drain, reimage, remove_surge, .. } = model;
        let parts = [control_plane, create_surge, drain, reimage, remove_surge];
        parts.iter().all(|part| part.is_constant())
            && !matches!(&self.budgets, Some(Budgets::Drawn(model, _)) if model.probability > 0.0)
            && !matches!(&self.shortages, Some(Shortages::Drawn(_)))
    }

    /// Nearly all updates take less: as if every batch were a slow one.
    pub(in crate::sim) fn usual_update(&self, fleet: &Fleet) -> Span {
        const SLOW: f64 = 0.02;
        let around = 2.0 * self.create_surge.distribution().mean();
        let pool = |member: MemberId, pool: usize| {
            let facts = self.pool((member, None), pool, Work::Update(UpgradeKind::NodeImageOnly));
            let kind = &self.kinds[usize::from(facts.kind)];
            let nodes = facts.settings.nodes;
            let way = facts.settings.way(nodes, Capacity::Plenty, None);
            let at_once = way.map_or(1, |way| way.at_once);
            let batch = kind.sums.at_level(SLOW / f64::from(at_once)) + soak(facts.soak);
            f64::from(nodes.div_ceil(at_once)) * batch + kind.factor * around
        };
        let member = |(id, member): (MemberId, &Member)| -> f64 {
            (0..member.pools.len()).map(|number| pool(id, number)).sum()
        };
        let longest = fleet.members.iter_with_ids().map(member).fold(0.0, f64::max);
        let control_plane = 2.0 * self.control_plane.distribution().mean();
        Span::from_millis(super::rounded(longest + control_plane))
    }

    /// What the update of all pools of each member comes to in the mean, with nothing in the way.
    pub(in crate::sim) fn estimates(
        &self,
        fleet: &Fleet,
        work: Work,
    ) -> Column<MemberId, Estimate> {
        let mut batches: BTreeMap<(u16, u32), f64> = BTreeMap::new();
        let of = |quantiles: &Quantiles| quantiles.distribution().mean();
        let around = of(&self.create_surge) + of(&self.remove_surge);
        let member = |(id, member): (MemberId, &Member)| {
            let (mut total, mut surge) = (0.0, 0);
            for pool in 0..member.pools.len() {
                let facts = self.pool((id, None), pool, work);
                let kind = &self.kinds[usize::from(facts.kind)];
                let nodes = facts.settings.nodes;
                let way = facts.settings.way(nodes, Capacity::Plenty, None);
                let Some(way) = way.filter(|_| nodes > 0) else { continue };
                surge = surge.max(way.surge);
                for size in way.batches(nodes) {
                    let mean = batches.entry((facts.kind, size));
                    total += *mean.or_insert_with(|| kind.sums.mean_of_largest(size));
                    total += soak(facts.soak);
                }
                total += if way.surge > 0 { kind.factor * around } else { 0.0 };
            }
            let span = |millis| Span::from_millis(super::rounded(millis));
            let control_plane = of(&self.control_plane) * self.control_plane_factor(id, work);
            Estimate { control_plane: span(control_plane), pools: span(total), surge }
        };
        fleet.members.iter_with_ids().map(member).collect()
    }
}

/// Milliseconds, as a number.
#[expect(clippy::cast_precision_loss, reason = "half an hour at most")]
fn soak(millis: i64) -> f64 {
    millis as f64
}

impl Estimate {
    /// The whole of an update of this kind.
    pub fn total(self, upgrade: Upgrade) -> Span {
        match upgrade {
            Upgrade::Full(_) => self.control_plane + self.pools,
            Upgrade::ControlPlaneOnly(_) => self.control_plane,
            Upgrade::NodeImageOnly => self.pools,
        }
    }

    /// The most surge nodes of an update of this kind.
    pub fn surge(self, upgrade: Upgrade) -> u32 {
        if matches!(upgrade, Upgrade::ControlPlaneOnly(_)) { 0 } else { self.surge }
    }
}

impl NodeKind {
    /// A time that the cloud takes, in milliseconds, for pools of this kind.
    #[inline]
    pub(super) fn scaled(&self, millis: f64) -> i64 {
        super::rounded(millis * self.factor)
    }
}
