//! How far behind members were: staleness and skew, taken from a replication that is over.
//!
//! A member is *stale* from the arrival in its region of the first version newer than the one that
//! it runs, until it is done; a member that is never done, until the horizon. *Skew* is the most
//! distinct versions of one image family that members of the run ran at one time. Members that join
//! in mid-run are in no run; they count from their joining on, as long as something newer than what
//! they run is there. By a pool that it gets in mid-run a member is stale since then at the
//! earliest.

use std::collections::BTreeMap;
use std::slice;

use crate::fleet::{Fleet, ImageVersion, NodeImage, PoolImage};
use crate::ids::{Column, FamilyId, Id as _, MemberId, RegionId};
use crate::scheduler::{Node, Plan, Record, Released, Scheduler, State, Upgrade};
use crate::sim::added::AddedPool;
use crate::sim::at_target;
use crate::sim::presence::Newcomer;
use crate::time::{Span, Timestamp};

/// What a replication says about versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Versions {
    /// Time of members between a newer version's arrival and their being done, summed.
    pub stale: Span,
    /// The most distinct versions of one image family at one time.
    pub skew: u32,
}

/// Pools of one family in one region that run the same image at the start.
#[derive(Debug)]
struct Alike {
    family: FamilyId,
    region: RegionId,
    image: PoolImage,
    /// Members, and the places of their pools among all pools.
    pools: Vec<(MemberId, usize)>,
}

/// The pools of a fleet, sorted once for all replications.
#[derive(Debug)]
pub(super) struct Pools {
    alike: Vec<Alike>,
    /// Which of them are of a family in a region, a row a family.
    at: Vec<Vec<usize>>,
    /// Where each member's pools begin; one more than there are members.
    first: Column<MemberId, usize>,
    /// The family of each pool.
    families: Vec<FamilyId>,
    regions: usize,
}

impl Pools {
    /// Where a member's pools stand among all pools.
    fn of(&self, id: MemberId) -> std::ops::Range<usize> {
        self.first[id]..self.first[MemberId(id.0 + 1)]
    }
}

impl Pools {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let (mut sorted, mut first) = (BTreeMap::new(), Column::new());
        let mut families = Vec::new();
        for (id, member) in fleet.members.iter_with_ids() {
            first.push(families.len());
            for pool in &member.pools {
                let (version, behind) = match pool.image {
                    PoolImage::Exactly(image) => (Some(image.version), 0),
                    PoolImage::Behind { versions, .. } => (None, versions),
                };
                let key = (pool.image.family(), member.region, version, behind);
                let alike: &mut (PoolImage, Vec<_>) =
                    sorted.entry(key).or_insert((pool.image, Vec::new()));
                alike.1.push((id, families.len()));
                families.push(pool.image.family());
            }
        }
        first.push(families.len());
        let regions = fleet.regions.len();
        let mut at = vec![Vec::new(); regions * fleet.families.len()];
        let mut alike = Vec::new();
        for ((family, region, ..), (image, pools)) in sorted {
            at[family.index() * regions + region.index()].push(alike.len());
            alike.push(Alike { family, region, image, pools });
        }
        Self { alike, at, first, families, regions }
    }
}

/// What is needed for it; one is reused for all replications.
#[derive(Debug, Default)]
pub(super) struct Staleness {
    /// What each pool runs.
    running: Vec<ImageVersion>,
    /// What the pools of [`Pools::alike`] run at the start, and what came after it first.
    at_first: Vec<(ImageVersion, Timestamp)>,
    /// Since when each member is stale.
    since: Column<MemberId, Timestamp>,
    /// How many pools run each version, by family.
    counts: Column<FamilyId, Vec<(ImageVersion, u32)>>,
}

/// What a replication of a world was.
pub(super) struct Told<'a, F> {
    pub(super) pools: &'a Pools,
    pub(super) scheduler: &'a Scheduler<'a>,
    pub(super) records: &'a [Record],
    /// What a pool ran at the start.
    pub(super) ran: &'a dyn Fn(FamilyId, RegionId, PoolImage) -> ImageVersion,
    /// All arrivals, by time.
    pub(super) arrivals: F,
    /// Pools that members got, in the order of time.
    pub(super) added: Vec<AddedPool>,
    /// What members that joined ran.
    pub(super) newcomers: Vec<Newcomer>,
    pub(super) horizon: Timestamp,
}

impl Staleness {
    /// Looks back at a replication.
    pub(super) fn of<F>(&mut self, told: Told<'_, F>) -> Versions
    where
        F: Iterator<Item = (Timestamp, Released, RegionId)>,
    {
        let Told { pools, scheduler, records, ran, arrivals, added, newcomers, horizon } = told;
        let plan = scheduler.plan();
        let upgrade = &plan.update.upgrade;
        self.begin(pools, ran);
        let mut added = Late::of_run(added, plan);
        let images = !matches!(upgrade, Upgrade::ControlPlaneOnly(_));
        let target = upgrade.kubernetes_version();
        let mut kubernetes = vec![Timestamp::MAX; pools.regions];
        let mut newer = vec![Timestamp::MAX; newcomers.len()];
        for (at, what, region) in arrivals {
            for (newer, newcomer) in newer.iter_mut().zip(&newcomers) {
                if newcomer.region == region && newcomer.is_below(what, *upgrade) {
                    *newer = at.min(*newer);
                }
            }
            match what {
                Released::NodeImage(image) if images => {
                    for late in &mut added {
                        late.meet(at, image, region);
                    }
                    for number in &pools.at[image.family.index() * pools.regions + region.index()] {
                        let (version, newer) = &mut self.at_first[*number];
                        if *newer == Timestamp::MAX && image.version > *version {
                            *newer = at;
                        }
                    }
                }
                Released::Kubernetes(version) if Some(version) == target => {
                    let since = &mut kubernetes[region.index()];
                    *since = at.min(*since);
                }
                _ => {}
            }
        }
        self.since.refill(plan.fleet.members.len(), Timestamp::MAX);
        for (alike, (_, newer)) in pools.alike.iter().zip(&self.at_first) {
            for (member, _) in &alike.pools {
                self.since[*member] = self.since[*member].min(*newer);
            }
        }
        for Late { pool, newer, .. } in &added {
            self.since[pool.member] = self.since[pool.member].min(pool.at.max(*newer));
        }
        let mut stale = Span::ZERO;
        for id in plan.groups.iter().flat_map(|group| &group.members) {
            let mut since = self.since[*id];
            if target.is_some() {
                let member = &plan.fleet.members[*id];
                if member.kubernetes_version < target {
                    since = since.min(kubernetes[member.region.index()]);
                }
            }
            let until = done(scheduler, *id).unwrap_or(horizon).min(horizon);
            if since < until {
                stale += until - since;
            }
        }
        for (newer, newcomer) in newer.into_iter().zip(&newcomers) {
            let (since, until) = (newer.max(newcomer.from), newcomer.until);
            if since < until {
                stale += until - since;
            }
        }
        Versions { stale, skew: self.skew(pools, scheduler, records, (&added, &newcomers)) }
    }

    fn begin(
        &mut self,
        pools: &Pools,
        ran: &dyn Fn(FamilyId, RegionId, PoolImage) -> ImageVersion,
    ) {
        self.running.clear();
        self.running.resize(pools.families.len(), ImageVersion::OLDEST);
        self.at_first.clear();
        for alike in &pools.alike {
            let version = ran(alike.family, alike.region, alike.image);
            self.at_first.push((version, Timestamp::MAX));
            for (_, pool) in &alike.pools {
                self.running[*pool] = version;
            }
        }
    }

    /// Counts versions of the run's members, update by update, of the pools that they got, and of
    /// those that joined.
    fn skew(
        &mut self,
        pools: &Pools,
        scheduler: &Scheduler<'_>,
        records: &[Record],
        (added, newcomers): (&[Late], &[Newcomer]),
    ) -> u32 {
        let plan = scheduler.plan();
        self.counts.refill(plan.fleet.families.len(), Vec::new());
        for id in plan.groups.iter().flat_map(|group| &group.members) {
            for pool in pools.of(*id) {
                count(&mut self.counts[pools.families[pool]], self.running[pool], 1);
            }
        }
        let mut grown: Vec<AddedPool> = added.iter().map(|late| late.pool).collect();
        grown.sort_by_key(|pool| pool.member);
        let first =
            added.iter().map(|Late { pool, .. }| (pool.at, 1, slice::from_ref(&pool.image)));
        let comings = newcomers.iter().flat_map(|newcomer| {
            let images = &newcomer.runs.images[..];
            [(newcomer.from, 1, images), (newcomer.until, -1, images)]
        });
        let mut comings: Vec<(Timestamp, i32, &[NodeImage])> = first.chain(comings).collect();
        comings.sort_by_key(|(at, change, _)| (*at, *change));
        let mut comings = comings.into_iter().peekable();
        let mut most = self.distinct();
        let mut now = Timestamp::MIN;
        for record in records {
            let Node::Member(id) = record.node else { continue };
            if record.to != State::Completed {
                continue;
            }
            while let Some(coming) = comings.next_if(|(at, ..)| *at <= record.time) {
                most = most.max(self.comes(coming, &mut now));
            }
            if record.time > now {
                most = most.max(self.distinct());
                now = record.time;
            }
            let mut images = scheduler.images(id);
            for (pool, image) in pools.of(id).zip(&mut images) {
                moves(&mut self.counts[image.family], &mut self.running[pool], image.version);
            }
            let mine = grown.partition_point(|pool| pool.member < id);
            let mine = grown[mine..].iter_mut();
            let mine = mine.take_while(|pool| pool.member == id && pool.at <= record.time);
            for (pool, image) in mine.zip(images) {
                moves(&mut self.counts[image.family], &mut pool.image.version, image.version);
            }
        }
        for coming in comings {
            most = most.max(self.comes(coming, &mut now));
        }
        most.max(self.distinct())
    }

    /// Pools that came in mid-run run something from now on, or do no more; the versions that there
    /// were until now.
    fn comes(
        &mut self,
        (at, change, images): (Timestamp, i32, &[NodeImage]),
        now: &mut Timestamp,
    ) -> u32 {
        let until_now = if at > *now { self.distinct() } else { 0 };
        *now = at.max(*now);
        for image in images {
            count(&mut self.counts[image.family], image.version, change);
        }
        until_now
    }

    fn distinct(&self) -> u32 {
        let most = self.counts.iter().map(Vec::len).max().unwrap_or(0);
        u32::try_from(most).expect("versions are few")
    }
}

impl Newcomer {
    /// Whether it runs something older than this, as far as the update looks at it.
    fn is_below(&self, what: Released, upgrade: Upgrade) -> bool {
        match what {
            Released::NodeImage(new) => {
                !matches!(upgrade, Upgrade::ControlPlaneOnly(_))
                    && self.runs.images.iter().any(|image| is_older(image, new))
            }
            Released::SecurityPatch(_) => false,
            Released::Kubernetes(version) => {
                upgrade.kubernetes_version() == Some(version)
                    && self.runs.kubernetes < Some(version)
            }
        }
    }
}

/// A pool that a member of the run got.
#[derive(Debug, Clone, Copy)]
struct Late {
    pool: AddedPool,
    region: RegionId,
    /// The first arrival there of something newer.
    newer: Timestamp,
}

impl Late {
    /// Those of the members that a run has from its beginning.
    fn of_run(added: Vec<AddedPool>, plan: &Plan<'_>) -> Vec<Self> {
        let of_run = added.into_iter().filter_map(|pool| {
            let member = &plan.fleet.members[pool.member];
            let is_in = plan.places[pool.member].is_some() && !member.joins;
            is_in.then_some(Self { pool, region: member.region, newer: Timestamp::MAX })
        });
        of_run.collect()
    }

    /// An image reaches a region.
    fn meet(&mut self, at: Timestamp, image: NodeImage, region: RegionId) {
        if self.region == region && is_older(&self.pool.image, image) {
            self.newer = at.min(self.newer);
        }
    }
}

/// When a member was done, if it was.
fn done(scheduler: &Scheduler<'_>, id: MemberId) -> Option<Timestamp> {
    let done = match scheduler.member_state(id) {
        State::Completed => true,
        State::Skipped => at_target(scheduler.member(id).reason),
        _ => false,
    };
    scheduler.member_completed(id).filter(|_| done)
}

/// Whether an image is an older one of the same family.
fn is_older(image: &NodeImage, new: NodeImage) -> bool {
    image.family == new.family && image.version < new.version
}

/// A pool runs another version from now on, if it does.
fn moves(counts: &mut Vec<(ImageVersion, u32)>, running: &mut ImageVersion, to: ImageVersion) {
    if *running != to {
        count(counts, *running, -1);
        count(counts, to, 1);
        *running = to;
    }
}

/// One pool more, or one less, that runs a version; versions that nobody runs are not in the list.
fn count(counts: &mut Vec<(ImageVersion, u32)>, version: ImageVersion, change: i32) {
    match counts.iter().position(|(other, _)| *other == version) {
        Some(place) => {
            let number = &mut counts[place].1;
            *number = number.checked_add_signed(change).expect("who leaves was there");
            if *number == 0 {
                counts.swap_remove(place);
            }
        }
        None => counts.push((version, 1)),
    }
}
