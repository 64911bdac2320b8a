//! A member's update as the sum of its parts: the control plane, then pool after pool, each batch
//! as slow as its slowest node (W4, P1–P5).
//!
//! Owns how long an update takes under `durations: {model: nodes}`, what stops it on its way, and
//! what it costs. An update is played when it starts, in one go: nothing that happens later can
//! change it, because what could (budgets, shortages) is drawn beside it. A batch costs one draw,
//! however many nodes it has.
//!
//! `rolling` is the arithmetic of one pool and `cost` the ledger; `budget`, `shortage` and
//! `throttle` are what may stand in the way; `model` is what the scenario says of all of them.

mod budget;
mod compiled;
mod cost;
mod model;
pub mod rolling;
mod shortage;
mod throttle;

pub use compiled::Estimate;
pub(super) use compiled::Nodes;
pub use cost::Costs;
pub use model::{
    BudgetModel, CapacityModel, DurationFactor, NodeModel, Part, TIMES, ThrottlingModel,
    UpgradeKind, Work, factor,
};
pub(super) use throttle::{Throttle, UnderWay};

use std::cmp::Ordering;

use crate::bits::Bits;
use crate::fleet::{Fleet, ImageVersion, KubernetesVersion, SecurityPatch};
use crate::ids::{Column, MemberId, RegionId};
use crate::scheduler::{Scheduler, Upgrade};
use crate::sim::added::Added;
use crate::sim::draw::{BLOCK, Luck, Purpose, Sequence, unit};
use crate::time::{Span, Timestamp};
use budget::Budget;
use compiled::{NodeKind, PoolFacts};
use cost::{Ledger, Spell};
use rolling::{Capacity, Way};
use shortage::Seen;

/// A pool's places among its member's: creation, removal, then the batches.
const PLACES: u32 = 1 << 12;
/// The control plane's places come after those of all pools.
const CONTROL_PLANE: u32 = Luck::OWN / PLACES - 1;

/// Why an update stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setback {
    /// A budget that allows no disruption was noticed before the start.
    Unsatisfiable,
    /// A drain passed its timeout (P3).
    Drain,
    /// Surge nodes were refused, and there was nothing to fall back on (P2).
    Capacity,
    /// A pool with its surge nodes would have been too large (P2).
    TooLarge,
    /// The subscription had too much under way.
    Throttled,
}

impl Setback {
    /// What is refused before it starts takes so long to be refused.
    pub(super) const REFUSAL: Span = Span::MINUTE;

    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Unsatisfiable, Self::Drain, Self::Capacity, Self::TooLarge, Self::Throttled];

    /// The code that the update reports.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Unsatisfiable => "UnsatisfiablePDB",
            Self::Drain => "PodDrainFailure",
            Self::Capacity => "SurgeCapacityNotAvailable",
            Self::TooLarge => "NodePoolSizeLimitExceeded",
            Self::Throttled => "TooManyRequests",
        }
    }
}

/// Where an update is played: everything it may ask.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) fleet: &'a Fleet,
    /// Pools that members have got since the start.
    pub(super) added: &'a Added,
    /// The luck of the world, which budgets and shortages belong to.
    pub(super) luck: (&'a Luck, u32),
    /// The luck of the run that asks, which node times belong to.
    pub(super) of_times: &'a Luck,
    pub(super) now: Timestamp,
    pub(super) member: MemberId,
    /// Which attempt, or which campaign.
    pub(super) number: u16,
    /// How many times as long everything takes (throttling).
    pub(super) slow: f64,
}

/// What is true of nodes in one replication.
#[derive(Debug, Default)]
pub(super) struct NodeTruth {
    /// Members with a budget that blocks drains.
    blocked: Bits,
    /// Members whose budget is known, and when each is mended.
    mended: Vec<(MemberId, Timestamp)>,
    /// What stopped updates have left to do; a member's number in it, from 1.
    stopped: Vec<Stopped>,
    stopped_of: Column<MemberId, u32>,
    /// How far stopped updates came, pool by pool.
    progress: Vec<Progress>,
    seen: Column<RegionId, Seen>,
    ledger: Ledger,
}

/// How far an update came that stopped on its way (P3).
#[derive(Debug, Clone, Copy)]
struct Stopped {
    /// How far its pools came, in `progress`.
    pools: (u32, u32),
    /// What its control plane runs by then, if the update was to move it.
    kubernetes: Option<KubernetesVersion>,
}

/// How a pool's rolling update went.
struct Rolled {
    took: i64,
    reimaged: u32,
    /// Whether it came to its end.
    done: bool,
}

impl NodeTruth {
    /// Draws what holds in a replication.
    pub(super) fn draw(&mut self, nodes: &Nodes, fleet: &Fleet, luck: (&Luck, u32)) {
        self.mended.clear();
        self.stopped.clear();
        self.stopped_of.refill(fleet.members.len(), 0);
        self.progress.clear();
        if self.seen.len() < fleet.regions.len() {
            self.seen.refill(fleet.regions.len(), Seen::default());
        }
        self.seen.iter_mut().for_each(Seen::forget);
        self.ledger.clear();
        if let Some(budgets) = &nodes.budgets {
            budgets.draw(&mut self.blocked, fleet, luck);
        }
    }

    /// What everything cost up to `end`.
    pub(super) fn costs(&mut self, end: Timestamp) -> Costs {
        self.ledger.sum_up(end)
    }

    /// Plays a member's update: how long it takes, and what stops it on its way.
    pub(super) fn update(
        &mut self,
        scene: Scene<'_>,
        scheduler: &Scheduler<'_>,
    ) -> (Span, Option<Setback>) {
        let member = scene.member;
        let budget = self.budget(scene);
        if budget.as_ref().is_some_and(|budget| budget.caught) {
            self.fails_by_budget(scene, Setback::REFUSAL);
            return (Setback::REFUSAL, Some(Setback::Unsatisfiable));
        }
        let upgrade = scheduler.upgrade();
        let work = Work::Update(upgrade.into());
        let moving = || {
            let pools = goals(scheduler, member).enumerate();
            let moves = |(_, goal): &(usize, Goal)| *goal != Goal::default();
            pools.filter(moves).map(|(pool, goal)| (pool, goal, scene.facts(pool, work)))
        };
        if moving().any(|(_, _, facts)| facts.settings.is_too_large()) {
            return (Setback::REFUSAL, Some(Setback::TooLarge));
        }
        let before = self.stopped_before(member);
        let mut clock = 0;
        let (target, current) =
            (upgrade.kubernetes_version(), scheduler.kubernetes_version(member));
        let reached = current.max(self.control_plane_of(member));
        if target > reached {
            clock += scene.control_plane(work);
        }
        let kubernetes = if matches!(upgrade, Upgrade::Full(_)) { target } else { current };
        for (pool, goal, facts) in moving() {
            let left = self.left(before, (pool, goal), facts);
            if left == 0 && facts.settings.nodes > 0 {
                continue;
            }
            let number = scene.place(pool);
            let asked = Asked { facts, number, left, purpose: Purpose::NodeTimes };
            let (rolled, setback) = self.pool(scene, asked, kubernetes, budget.as_ref(), clock);
            clock += rolled.took;
            if let Some(setback) = setback {
                let takes = scene.span(clock);
                let before = (before, work);
                self.stop(scene, before, scheduler, (pool, left - rolled.reimaged));
                if setback == Setback::Drain && budget.is_some() {
                    self.fails_by_budget(scene, takes);
                }
                return (takes, Some(setback));
            }
        }
        self.stopped_of[member] = 0;
        (scene.span(clock), None)
    }

    /// Plays a reimage for a configuration change: it rolls through these pools, waits for what
    /// blocks a drain until the timeout, and leaves such nodes (N7). Returns how long it takes, the
    /// nodes that are reimaged, and how many of them lose ephemeral data.
    pub(super) fn reimage(
        &mut self,
        scene: Scene<'_>,
        pools: impl Iterator<Item = usize>,
    ) -> (Span, u32, u32) {
        let Scene { fleet, member, .. } = scene;
        let kubernetes = fleet.members[member].kubernetes_version;
        let budget = self.budget(scene);
        let (mut clock, mut reimaged, mut losses) = (0, 0, 0);
        for pool in pools {
            let (facts, number) = (scene.facts(pool, Work::Change), scene.place(pool));
            let left = facts.settings.nodes;
            let asked = Asked { facts, number, left, purpose: Purpose::ReimageNodes };
            let (rolled, _) = self.pool(scene, asked, kubernetes, budget.as_ref(), clock);
            clock += rolled.took;
            reimaged += rolled.reimaged;
            losses += if facts.ephemeral { rolled.reimaged } else { 0 };
        }
        (scene.span(clock), reimaged, losses)
    }

    /// Plays the rolling update of one pool, and enters what it costs.
    fn pool(
        &mut self,
        scene: Scene<'_>,
        asked: Asked,
        kubernetes: Option<KubernetesVersion>,
        budget: Option<&Budget>,
        clock: i64,
    ) -> (Rolled, Option<Setback>) {
        let Scene { nodes, fleet, luck, now, member, .. } = scene;
        let Asked { facts, left, .. } = asked;
        let nothing = |took| Rolled { took, reimaged: 0, done: true };
        if left == 0 {
            return (nothing(0), None);
        }
        let capacity = match &nodes.shortages {
            Some(shortages) if facts.settings.surge > 0 => {
                let at = now + scene.span(clock);
                shortages.capacity(&mut self.seen, luck, fleet.members[member].region, at)
            }
            _ => Capacity::Plenty,
        };
        let mut draws = scene.draws(asked.purpose, asked.number);
        let kind = &nodes.kinds[usize::from(facts.kind)];
        let create = kind.scaled(nodes.create_surge.value(draws.draw()));
        let remove = kind.scaled(nodes.remove_surge.value(draws.draw()));
        let way = facts.settings.way(left, capacity, kubernetes);
        // A change waits for its surge in patience: it goes on with what it has, in place.
        let in_place = Way { at_once: 1, surge: 0 };
        let Some(way) = way.or(facts.patient.then_some(in_place)) else {
            return (nothing(create), Some(Setback::Capacity));
        };
        let blocked = budget.map_or(vec![], |budget| asked.blocked(fleet, member, budget));
        let mut rolled = roll(nodes, kind, (&facts, way, left), &blocked, &mut draws);
        if way.surge > 0 {
            rolled.took += if rolled.done { create + remove } else { create };
        }
        let [from, to] = [clock, clock + rolled.took].map(|at| now + scene.span(at));
        self.ledger.enter(Spell {
            from,
            to,
            surge: way.surge,
            addresses: facts.addresses,
            reimaged: if asked.purpose == Purpose::NodeTimes { rolled.reimaged } else { 0 },
            ephemeral: facts.ephemeral,
        });
        let setback = (!rolled.done).then_some(Setback::Drain);
        (rolled, setback)
    }

    /// The member's budget, if one blocks now.
    fn budget(&self, scene: Scene<'_>) -> Option<Budget> {
        let Scene { nodes, fleet, luck, now, member, .. } = scene;
        let budgets = nodes.budgets.as_ref().filter(|_| self.blocked.contains(member.0))?;
        if fleet.members[member].nodes() == 0 {
            return None;
        }
        let known = self.mended.iter().find(|(other, _)| *other == member);
        if known.is_some_and(|(_, mended)| *mended <= now) {
            return None;
        }
        Some(budgets.of(fleet, member, luck))
    }

    /// An update ends that failed by a budget: people learn of it.
    fn fails_by_budget(&mut self, scene: Scene<'_>, takes: Span) {
        let Scene { nodes, luck, now, member, .. } = scene;
        if self.mended.iter().all(|(other, _)| *other != member)
            && let Some(budgets) = &nodes.budgets
        {
            self.mended.push((member, budgets.mended(member, now + takes, luck)));
        }
    }

    /// What an update that stopped brought the member's control plane to.
    fn control_plane_of(&self, member: MemberId) -> Option<KubernetesVersion> {
        let number = self.stopped_of[member].checked_sub(1)?;
        self.stopped[number as usize].kubernetes
    }

    /// What an earlier update of this member left to do.
    fn stopped_before(&self, member: MemberId) -> Option<Stopped> {
        let number = self.stopped_of[member].checked_sub(1)?;
        Some(self.stopped[number as usize])
    }

    /// Nodes of a pool that are left to bring to its goal: one that was on its way there keeps what
    /// is done (P3), one that is to be brought to something else begins anew.
    fn left(&self, before: Option<Stopped>, (pool, goal): (usize, Goal), facts: PoolFacts) -> u32 {
        let made = before.and_then(|stopped| {
            let (from, to) = stopped.pools;
            self.progress[from as usize..to as usize].get(pool).copied()
        });
        let same = made.filter(|made| made.goal == goal);
        same.map_or(facts.settings.nodes, |made| made.left)
    }

    /// Notes how far the member's update came that stopped at this pool, with so many nodes left.
    fn stop(
        &mut self,
        scene: Scene<'_>,
        (before, work): (Option<Stopped>, Work),
        scheduler: &Scheduler<'_>,
        (at, left): (usize, u32),
    ) {
        let member = scene.member;
        let length = |list: &[Progress]| u32::try_from(list.len()).expect("few stop");
        let from = length(&self.progress);
        for (pool, goal) in goals(scheduler, member).enumerate() {
            let left = match pool.cmp(&at) {
                Ordering::Less => 0,
                Ordering::Equal => left,
                Ordering::Greater => self.left(before, (pool, goal), scene.facts(pool, work)),
            };
            self.progress.push(Progress { goal, left });
        }
        let kubernetes = scheduler.upgrade().kubernetes_version();
        let stopped = Stopped { pools: (from, length(&self.progress)), kubernetes };
        self.stopped.push(stopped);
        self.stopped_of[member] = u32::try_from(self.stopped.len()).expect("few stop");
    }
}

/// What an update brings a pool to; nothing, of pools that are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Goal {
    image: Option<ImageVersion>,
    kubernetes: Option<KubernetesVersion>,
    patch: Option<SecurityPatch>,
}

/// How far a pool came on its way to a goal.
#[derive(Debug, Clone, Copy)]
struct Progress {
    goal: Goal,
    /// Nodes that are left.
    left: u32,
}

/// What the running update of a member brings each of its pools to.
fn goals<'s>(
    scheduler: &'s Scheduler<'_>,
    member: MemberId,
) -> impl Iterator<Item = Goal> + use<'s> {
    let (target, patch) = (scheduler.upgrade().kubernetes_version(), scheduler.security_patch());
    let images = scheduler.planned_images(member);
    let others = scheduler.planned_kubernetes(member).zip(scheduler.planned_patches(member));
    images.zip(others).map(move |(image, (kubernetes, patches))| Goal {
        image,
        kubernetes: target.filter(|_| kubernetes),
        patch: patch.filter(|_| patches),
    })
}

/// A pool that is to be updated.
#[derive(Clone, Copy)]
struct Asked {
    facts: PoolFacts,
    /// Where its luck lies in the member: its position, of a pool of the fleet.
    number: u32,
    /// Its nodes that are left to do.
    left: u32,
    purpose: Purpose,
}

impl Asked {
    /// Which of the nodes that are left are blocked, by their place in the order, ascending. Those
    /// that stopped the last attempt come first in this one.
    fn blocked(self, fleet: &Fleet, member: MemberId, budget: &Budget) -> Vec<u32> {
        let pools = &fleet.members[member].pools;
        let Some(pool) = pools.get(self.number as usize) else { return vec![] };
        let first = pools[..self.number as usize].iter().map(|pool| pool.count).sum::<u32>();
        let mine = budget.nodes.iter().filter(|node| (first..first + pool.count).contains(*node));
        let mut next = 0;
        mine.map(|node| {
            let behind = first + pool.count - node;
            let place = self.left.saturating_sub(behind).max(next);
            next = place + 1;
            place
        })
        .take_while(|place| *place < self.left)
        .collect()
    }
}

impl Scene<'_> {
    /// A pool of the member, by its position, as some work sees it.
    #[inline]
    fn facts(&self, pool: usize, work: Work) -> PoolFacts {
        self.nodes.pool((self.member, Some(self.added)), pool, work)
    }

    /// Where the luck of this pool lies among the member's.
    #[inline]
    fn place(&self, pool: usize) -> u32 {
        let position = u32::try_from(pool).expect("pools fit u32");
        if self.added.is_empty() {
            return position;
        }
        let of_fleet = self.fleet.members[self.member].pools.len();
        let added = pool.checked_sub(of_fleet).map(|number| self.added.of(self.member)[number]);
        added.map_or(position, |added| added.place(position))
    }

    /// The draws of a pool, or of the control plane.
    fn draws(&self, purpose: Purpose, pool: u32) -> Sequence {
        assert!(pool <= CONTROL_PLANE, "a member has fewer than {CONTROL_PLANE} pools");
        let (_, replication) = self.luck;
        self.of_times.own(replication, purpose, self.number, (self.member.0, pool * PLACES))
    }

    /// How long the control plane takes.
    fn control_plane(&self, work: Work) -> i64 {
        let bits = self.draws(Purpose::NodeTimes, CONTROL_PLANE).draw();
        let takes = self.nodes.control_plane.value(bits);
        rounded(takes * self.nodes.control_plane_factor(self.member, work))
    }

    /// Time on the update's own clock, as it passes outside.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "updates take less than 2^53 ms"
    )]
    fn span(&self, clock: i64) -> Span {
        Span::from_millis((clock as f64 * self.slow + 0.5) as i64)
    }
}

/// The nearest millisecond (R-A8).
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "updates take less than 2^63 ms")]
fn rounded(millis: f64) -> i64 {
    (millis + 0.5) as i64
}

/// The drains and reimages of all batches, where nothing can be in their way: the same numbers in
/// the same order, without looking at each.
fn undisturbed(nodes: &Nodes, kind: &NodeKind, way: Way, left: u32, draws: &mut Sequence) -> i64 {
    let (mut took, mut numbers, mut sizes) = (0, [0; BLOCK], way.batches(left));
    let mut batches = usize::try_from(way.number(left)).expect("batches are few");
    while batches > 0 {
        let now = batches.min(BLOCK);
        draws.fill(&mut numbers[..now]);
        for (bits, size) in numbers[..now].iter().zip(&mut sizes) {
            // The same level as below; a whole batch of one is the usual one.
            let level = nodes.levels.value(!bits);
            let level = if size == 1 { level } else { level / f64::from(size) };
            took += rounded(kind.sums.at_level(level));
        }
        batches -= now;
    }
    took
}

/// Batch after batch of a pool: without what comes before the first and after the last.
fn roll(
    nodes: &Nodes,
    kind: &NodeKind,
    (facts, way, left): (&PoolFacts, Way, u32),
    blocked: &[u32],
    draws: &mut Sequence,
) -> Rolled {
    if blocked.is_empty() && kind.loss <= 0.0 {
        let took = undisturbed(nodes, kind, way, left, draws) + facts.soak * way.number(left);
        return Rolled { took, reimaged: left, done: true };
    }
    let (mut took, mut position, mut quarantined) = (0, 0, 0);
    let spared = if facts.patient { u32::MAX } else { way.at_once };
    let mut blocked = blocked.iter().peekable();
    for size in way.batches(left) {
        let bits = draws.draw();
        // -ln of the uniform number, shared among the batch: see `quantiles::Sums`.
        let level = nodes.levels.value(!bits) / f64::from(size) - kind.loss;
        position += size;
        let mut stuck = 0;
        while blocked.next_if(|place| **place < position).is_some() {
            stuck += 1;
        }
        if level > 0.0 && stuck == 0 {
            took += rounded(kind.sums.at_level(level)) + facts.soak;
            continue;
        }
        let mut others = level.max(0.0) * f64::from(size);
        if level <= 0.0 {
            let (passing, level) = crate::quantiles::passing(unit(bits), kind.loss, size);
            (stuck, others) = ((stuck + passing).min(size), level);
        }
        if !facts.cordon || quarantined + stuck > spared {
            let reimaged = position - stuck - quarantined;
            return Rolled { took: took + facts.drain_timeout, reimaged, done: false };
        }
        quarantined += stuck;
        let rest = match size - stuck {
            0 => 0,
            rest => rounded(kind.sums.at_level(others / f64::from(rest))),
        };
        took += rest.max(facts.drain_timeout) + facts.soak;
    }
    Rolled { took, reimaged: left - quarantined, done: true }
}
