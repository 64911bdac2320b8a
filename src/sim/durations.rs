//! How long members' updates and changes take: by one draw, or as the sum of their parts (W4, W5),
//! and how much slower many of them at once are (W8).

use crate::fleet::{Fleet, Pool};
use crate::ids::{Column, MemberId};
use crate::quantiles::Quantiles;
use crate::scheduler::Scheduler;
use crate::sim::Changes;
use crate::sim::added::Added;
use crate::sim::draw::{BLOCK, Luck, Purpose};
use crate::sim::model::{DurationModel, Setting};
use crate::sim::nodes::{
    Costs, DurationFactor, Estimate, NodeTruth, Nodes, Part, Scene, Setback, Throttle, UnderWay,
    Work, factor,
};
use crate::time::{Span, Timestamp};

/// No update of the models takes less (R-A8).
const SHORTEST: i64 = Span::SECOND.as_millis();

/// Stands for a duration of 49 days or more, which is drawn again when it is wanted.
const LONG: u32 = u32::MAX;

/// The models of durations, compiled.
#[derive(Debug)]
pub(super) struct Durations {
    basis: Basis,
    throttle: Option<Throttle>,
}

#[derive(Debug)]
enum Basis {
    Cluster(Cluster),
    Nodes(Box<Nodes>),
}

/// One draw a member and attempt.
#[derive(Debug)]
struct Cluster {
    takes: Quantiles,
    /// Factors of updates by member; empty without any.
    of_updates: Column<MemberId, f64>,
    /// Factors of configuration changes.
    of_changes: Column<MemberId, f64>,
}

/// How long things take in one replication.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// How long each member's first attempt takes, in milliseconds; [`LONG`] if it does not fit.
    first: Column<MemberId, u32>,
    nodes: NodeTruth,
    under_way: UnderWay,
}

/// An update or a change that starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begins {
    pub(super) now: Timestamp,
    pub(super) member: MemberId,
    /// Which attempt, or which campaign.
    pub(super) number: u16,
}

/// Where it starts: the fleet, as it was and as it is, and the luck of the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) fleet: &'a Fleet,
    /// Pools that members have got since the start.
    pub(super) added: &'a Added,
    pub(super) luck: (&'a Luck, u32),
}

/// What a configuration change's reimage comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reimage {
    pub(super) takes: Span,
    pub(super) nodes: u32,
    /// How many of them lose ephemeral data.
    pub(super) losses: u32,
}

impl Durations {
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let basis = match &setting.world.durations {
            DurationModel::Cluster(takes) => {
                let work = Work::Update(setting.update.upgrade.into());
                let factors =
                    |work| factors_of(&setting.world.duration_factors, setting.fleet, work);
                let (of_updates, of_changes) = (factors(work), factors(Work::Change));
                Basis::Cluster(Cluster { takes: Quantiles::new(takes), of_updates, of_changes })
            }
            DurationModel::Nodes(model) => Basis::Nodes(Box::new(Nodes::new(model, setting))),
        };
        let throttle = setting.world.throttling.as_ref();
        Self { basis, throttle: throttle.map(|model| Throttle::new(model, setting.fleet)) }
    }

    /// Whether nothing is left to luck.
    pub(super) fn is_constant(&self, setting: Setting<'_>) -> bool {
        match (&self.basis, &setting.world.durations) {
            (Basis::Nodes(nodes), DurationModel::Nodes(model)) => nodes.is_constant(model),
            (Basis::Cluster(cluster), _) => cluster.takes.distribution().is_constant(),
            (Basis::Nodes(_), DurationModel::Cluster(_)) => {
                unreachable!("the basis is made from the model")
            }
        }
    }

    /// Whether first attempts take what is drawn for them beforehand, whatever happens.
    pub(super) fn are_drawn_before(&self) -> bool {
        matches!(self.basis, Basis::Cluster(_)) && self.throttle.is_none()
    }

    /// All updates but one in a hundred take less, as a rule.
    pub(super) fn usual_update(&self, fleet: &Fleet) -> Span {
        match &self.basis {
            Basis::Cluster(cluster) => {
                let rare = u64::MAX - (u64::MAX >> 7);
                let longest =
                    cluster.of_updates.iter().fold(1.0, |longest: f64, f| longest.max(*f));
                Span::from_millis(times(cluster.takes.millis(rare, SHORTEST), longest))
            }
            Basis::Nodes(nodes) => nodes.usual_update(fleet),
        }
    }

    /// What the update of all pools of each member comes to in the mean; `None` where the model
    /// knows nothing of nodes.
    pub(super) fn estimates(&self, setting: Setting<'_>) -> Option<Column<MemberId, Estimate>> {
        let work = Work::Update(setting.update.upgrade.into());
        match &self.basis {
            Basis::Cluster(_) => None,
            Basis::Nodes(nodes) => Some(nodes.estimates(setting.fleet, work)),
        }
    }
}

/// The product of the factors that apply to each member; nothing at all without factors.
fn factors_of(factors: &[DurationFactor], fleet: &Fleet, work: Work) -> Column<MemberId, f64> {
    let members = fleet.members.iter().filter(|_| !factors.is_empty());
    let of = |member: &crate::fleet::Member| {
        factor(factors, (member, fleet.regions[member.region].as_str()), Part::Whole, work)
    };
    members.map(of).collect()
}

/// So many times as long, rounded to the millisecond.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "below 2^53 ms")]
fn times(millis: i64, factor: f64) -> i64 {
    if factor.to_bits() == 1.0_f64.to_bits() {
        millis
    } else {
        (millis as f64 * factor + 0.5) as i64
    }
}

impl Cluster {
    fn takes(&self, bits: u64, member: MemberId, factors: &Column<MemberId, f64>) -> i64 {
        let takes = self.takes.millis(bits, SHORTEST);
        if factors.is_empty() { takes } else { times(takes, factors[member]).max(SHORTEST) }
    }
}

impl Lengths {
    /// Draws how long things take in a replication; `scripted`: updates take what the script says.
    pub(super) fn draw(
        &mut self,
        durations: &Durations,
        fleet: &Fleet,
        (luck, replication): (&Luck, u32),
        scripted: bool,
    ) {
        if let Some(throttle) = &durations.throttle {
            throttle.reset(&mut self.under_way);
        }
        let cluster = match &durations.basis {
            Basis::Nodes(nodes) => return self.nodes.draw(nodes, fleet, (luck, replication)),
            Basis::Cluster(cluster) => cluster,
        };
        if scripted {
            return;
        }
        self.first.resize(fleet.members.len(), 0);
        let shortest = u32::try_from(SHORTEST).expect("a second fits");
        let mut block = [0; BLOCK];
        let mut draws = luck.sequence(replication, Purpose::Duration, 0);
        for of_block in self.first.as_mut_slice().chunks_mut(BLOCK) {
            draws.fill(&mut block);
            for (takes, bits) in of_block.iter_mut().zip(block) {
                *takes = cluster.takes.short_millis(bits, shortest);
            }
        }
        for (takes, factor) in self.first.iter_mut().zip(cluster.of_updates.iter()) {
            if *takes != LONG {
                let longer = times(i64::from(*takes), *factor).max(SHORTEST);
                *takes = u32::try_from(longer).unwrap_or(LONG);
            }
        }
    }

    /// How long a member's first attempt takes, if that was drawn beforehand.
    #[inline]
    pub(super) fn first(&self, member: MemberId) -> Option<Span> {
        let millis = self.first[member];
        (millis != LONG).then(|| Span::from_millis(i64::from(millis)))
    }

    /// How long an update takes that begins now, and what stops it on its way. `own`: the luck of
    /// the run that asks, where it is not the one whose first attempts are drawn beforehand.
    #[inline]
    pub(super) fn update(
        &mut self,
        durations: &Durations,
        Place { fleet, added, luck }: Place<'_>,
        (scheduler, own): (&Scheduler<'_>, Option<&Luck>),
        begins: Begins,
    ) -> (Span, Option<Setback>) {
        let Begins { now, member, number } = begins;
        let mut slow = 1.0;
        if let Some(throttle) = &durations.throttle {
            match throttle.pace(&mut self.under_way, member, now) {
                Some(pace) => slow = pace,
                None => return (Setback::REFUSAL, Some(Setback::Throttled)),
            }
        }
        let (takes, setback) = match &durations.basis {
            Basis::Cluster(cluster) => {
                let first = self.first[member];
                let takes = if number == 0 && own.is_none() && first != LONG {
                    i64::from(first)
                } else {
                    let bits =
                        own.unwrap_or(luck.0).at(luck.1, Purpose::Duration, number, member.0);
                    cluster.takes(bits, member, &cluster.of_updates)
                };
                (Span::from_millis(times(takes, slow)), None)
            }
            Basis::Nodes(nodes) => {
                let of_times = own.unwrap_or(luck.0);
                let scene =
                    Scene { nodes, fleet, added, luck, of_times, now, member, number, slow };
                let (takes, setback) = self.nodes.update(scene, scheduler);
                (takes.max(Span::SECOND), setback)
            }
        };
        if let Some(throttle) = &durations.throttle {
            throttle.started(&mut self.under_way, member, now + takes);
        }
        (takes, setback)
    }

    /// What a configuration change's reimage of these pools comes to that begins now; each with its
    /// position in its member.
    pub(super) fn reimage<'p>(
        &mut self,
        durations: &Durations,
        Place { fleet, added, luck }: Place<'_>,
        begins: Begins,
        pools: impl Iterator<Item = (usize, &'p Pool)> + Clone,
    ) -> Reimage {
        let Begins { now, member, number } = begins;
        match &durations.basis {
            Basis::Cluster(cluster) => {
                let bits = luck.0.at(luck.1, Purpose::Reimage, number, member.0);
                let takes = cluster.takes(bits, member, &cluster.of_changes);
                let losing = pools.clone().filter(|(_, pool)| pool.ephemeral_data);
                Reimage {
                    takes: Span::from_millis(takes),
                    nodes: pools.map(|(_, pool)| pool.count).sum(),
                    losses: losing.map(|(_, pool)| pool.count).sum(),
                }
            }
            Basis::Nodes(nodes) => {
                let (of_times, slow) = (luck.0, 1.0);
                let scene =
                    Scene { nodes, fleet, added, luck, of_times, now, member, number, slow };
                let pools = pools.map(|(position, _)| position);
                let (takes, nodes, losses) = self.nodes.reimage(scene, pools);
                Reimage { takes: takes.max(Span::SECOND), nodes, losses }
            }
        }
    }

    /// What updates and these changes cost up to `end`.
    pub(super) fn costs(
        &mut self,
        durations: &Durations,
        changes: &Changes,
        end: Timestamp,
    ) -> Costs {
        let mut costs = match &durations.basis {
            Basis::Cluster(_) => Costs::default(),
            Basis::Nodes(_) => self.nodes.costs(end),
        };
        costs.reimaged_nodes += changes.reimaged_nodes;
        costs.ephemeral_data_losses += changes.ephemeral_data_losses;
        costs
    }
}
