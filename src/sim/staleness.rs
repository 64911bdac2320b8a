//! How far behind members were: staleness and skew, taken from a replication that is over.
//!
//! A member is *stale* from the arrival in its region of the first version newer than the one that
//! it runs, until it is done; a member that is never done, until the horizon. *Skew* is the most
//! distinct versions of one image family that members of the run ran at one time. Members that join
//! in mid-run are in no run; they count from their joining on, as long as something newer than what
//! they run is there. By a pool that it gets in mid-run a member is stale since then at the
//! earliest.
//!
//! Nothing is replayed. Completed is final, so a pool runs one version until its member is
//! Completed and one from then on; and members whose pools ran the same and came to be of one kind
//! are summed up together, by when the first and the last of them was Completed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::fleet::{Fleet, ImageVersion, Member, NodeImage, Pool, PoolImage};
use crate::ids::{Column, FamilyId, Id as _, KindId, MemberId, RegionId};
use crate::scheduler::{Plan, Released, Scheduler, State, Upgrade};
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
}

/// The pools of a fleet, sorted once for all replications.
#[derive(Debug)]
pub(super) struct Pools {
    alike: Vec<Alike>,
    /// Which of them are of a family in a region, a row a family.
    at: Vec<Vec<usize>>,
    /// What members' pools are, each only once: to which of `alike` they belong, in their order.
    makeups: Vec<Vec<usize>>,
    /// Which of `makeups` each member has.
    makeup: Column<MemberId, usize>,
    regions: usize,
}

impl Pools {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let key = |member: &Member, pool: &Pool| {
            let (version, behind) = match pool.image {
                PoolImage::Exactly(image) => (Some(image.version), 0),
                PoolImage::Behind { versions, .. } => (None, versions),
            };
            (pool.image.family(), member.region, version, behind)
        };
        let mut sorted = BTreeMap::new();
        for member in &fleet.members {
            for pool in &member.pools {
                sorted.entry(key(member, pool)).or_insert((pool.image, 0));
            }
        }
        let regions = fleet.regions.len();
        let mut at = vec![Vec::new(); regions * fleet.families.len()];
        let mut alike = Vec::new();
        for ((family, region, ..), (image, number)) in &mut sorted {
            *number = alike.len();
            at[family.index() * regions + region.index()].push(*number);
            alike.push(Alike { family: *family, region: *region, image: *image });
        }
        let (mut known, mut makeups) = (BTreeMap::new(), Vec::new());
        let number_of = |member: &Member| {
            let pools = member.pools.iter().map(|pool| sorted[&key(member, pool)].1);
            let pools: Vec<usize> = pools.collect();
            *known.entry(pools).or_insert_with_key(|pools| {
                makeups.push(pools.clone());
                makeups.len() - 1
            })
        };
        let makeup = fleet.members.iter().map(number_of).collect();
        Self { alike, at, makeups, makeup, regions }
    }
}

/// What pools of [`Pools::alike`] run at the start.
#[derive(Debug)]
struct First {
    family: FamilyId,
    version: ImageVersion,
    /// When something newer arrived.
    newer: Timestamp,
    /// When the last of them that is the run's came to run something else; [`Timestamp::MIN`] if
    /// none is the run's.
    left: Timestamp,
}

/// What became of the run's members with the same pools ([`Pools::makeups`]).
#[derive(Debug)]
struct Seen {
    /// Since when they are stale by their pools.
    since: Timestamp,
    /// Whether some are not Completed, and run what they ran.
    stay: bool,
    /// Where the last of those stands in [`Staleness::moved`] that came to run something.
    moved: Option<usize>,
}

/// Members of the run with the same pools that were Completed and run the same then.
#[derive(Debug)]
struct Moved {
    /// One of them.
    member: MemberId,
    kind: KindId,
    /// When the first and the last of them was Completed.
    completed: [Timestamp; 2],
    /// Others with the same pools.
    before: Option<usize>,
}

/// What is needed for it; one is reused for all replications.
#[derive(Debug, Default)]
pub(super) struct Staleness {
    /// What the pools of [`Pools::alike`] run at the start.
    first: Vec<First>,
    /// What became of the members of each of [`Pools::makeups`].
    seen: Vec<Seen>,
    moved: Vec<Moved>,
    /// The versions that pools of the run came to run, and since when the first of them did.
    came: Column<FamilyId, Vec<(ImageVersion, Timestamp)>>,
    /// From when and until when pools ran versions.
    changes: Vec<(Timestamp, Reverse<i32>, NodeImage)>,
    /// How many of these times each version is in, by family.
    counts: Column<FamilyId, Vec<(ImageVersion, u32)>>,
}

/// What a replication of a world was.
pub(super) struct Told<'a, F> {
    pub(super) pools: &'a Pools,
    pub(super) scheduler: &'a Scheduler<'a>,
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
        let Told { pools, scheduler, ran, arrivals, added, newcomers, horizon } = told;
        let plan = scheduler.plan();
        let upgrade = &plan.update.upgrade;
        self.begin(pools, plan, ran);
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
                        let First { version, newer, .. } = &mut self.first[*number];
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
        added.sort_by_key(|late| late.pool.member);
        let mut stale = self.of_run(pools, scheduler, (&added, &kubernetes), horizon);
        for (newer, newcomer) in newer.into_iter().zip(&newcomers) {
            let (since, until) = (newer.max(newcomer.from), newcomer.until);
            if since < until {
                stale += until - since;
            }
            let images = newcomer.runs.images.iter();
            images.for_each(|image| self.ran(*image, newcomer.from, until));
        }
        self.sum_up(pools, scheduler);
        Versions { stale, skew: self.skew() }
    }

    fn begin(
        &mut self,
        pools: &Pools,
        plan: &Plan<'_>,
        ran: &dyn Fn(FamilyId, RegionId, PoolImage) -> ImageVersion,
    ) {
        self.first.clear();
        self.first.extend(pools.alike.iter().map(|Alike { family, region, image }| First {
            family: *family,
            version: ran(*family, *region, *image),
            newer: Timestamp::MAX,
            left: Timestamp::MIN,
        }));
        empty(&mut self.came, plan.fleet.families.len());
        self.seen.clear();
        self.moved.clear();
        self.changes.clear();
    }

    /// For how long members of the run were stale, summed; and notes what they ran.
    fn of_run(
        &mut self,
        pools: &Pools,
        scheduler: &Scheduler<'_>,
        (added, kubernetes): (&[Late], &[Timestamp]),
        horizon: Timestamp,
    ) -> Span {
        let plan = scheduler.plan();
        let target = plan.update.upgrade.kubernetes_version();
        self.seen.extend(pools.makeups.iter().map(|makeup| {
            let newer = makeup.iter().map(|number| self.first[*number].newer);
            Seen { since: newer.min().unwrap_or(Timestamp::MAX), stay: false, moved: None }
        }));
        let mut stale = Span::ZERO;
        for id in plan.groups.iter().flat_map(|group| &group.members) {
            let completed = completed(scheduler, *id);
            let mut since = self.look_at(pools, scheduler, *id, completed);
            if !added.is_empty() {
                since = since.min(self.look_at_added(pools, scheduler, (*id, completed), added));
            }
            if target.is_some() {
                let member = &plan.fleet.members[*id];
                if member.kubernetes_version < target {
                    since = since.min(kubernetes[member.region.index()]);
                }
            }
            let done = completed.or_else(|| at_target_since(scheduler, *id));
            let until = done.unwrap_or(horizon).min(horizon);
            if since < until {
                stale += until - since;
            }
        }
        stale
    }

    /// Since when a member of the run is stale by the pools that it had at the start; and notes
    /// what they ran.
    #[inline]
    fn look_at(
        &mut self,
        pools: &Pools,
        scheduler: &Scheduler<'_>,
        id: MemberId,
        completed: Option<Timestamp>,
    ) -> Timestamp {
        let seen = &mut self.seen[pools.makeup[id]];
        let Some(at) = completed else {
            seen.stay = true;
            return seen.since;
        };
        let (kind, mut place) = (scheduler.kind(id), seen.moved);
        while let Some(moved) = place.map(|place| &mut self.moved[place]) {
            if moved.kind == kind {
                let [first, last] = moved.completed;
                moved.completed = [at.min(first), at.max(last)];
                return seen.since;
            }
            place = moved.before;
        }
        let moved = Moved { member: id, kind, completed: [at; 2], before: seen.moved };
        seen.moved = Some(self.moved.len());
        self.moved.push(moved);
        seen.since
    }

    /// The same of the pools that it got since.
    fn look_at_added(
        &mut self,
        pools: &Pools,
        scheduler: &Scheduler<'_>,
        (id, completed): (MemberId, Option<Timestamp>),
        added: &[Late],
    ) -> Timestamp {
        let mut since = Timestamp::MAX;
        let mut images = scheduler.images(id).skip(pools.makeups[pools.makeup[id]].len());
        let mine = added.partition_point(|late| late.pool.member < id);
        for late in added[mine..].iter().take_while(|late| late.pool.member == id) {
            let AddedPool { at, image, .. } = late.pool;
            since = since.min(late.newer.max(at));
            let moved = completed.filter(|completed| *completed >= at);
            let came = moved.and_then(|moved| Some((moved, images.next()?)));
            self.ran(image, at, came.map_or(Timestamp::MAX, |(moved, _)| moved));
            if let Some((moved, image)) = came {
                self.ran(image, moved, Timestamp::MAX);
            }
        }
        since
    }

    /// From when and until when pools of the run ran what, kind by kind.
    fn sum_up(&mut self, pools: &Pools, scheduler: &Scheduler<'_>) {
        for (makeup, seen) in pools.makeups.iter().zip(&self.seen) {
            if seen.stay {
                for number in makeup {
                    self.first[*number].left = Timestamp::MAX;
                }
            }
            let mut place = seen.moved;
            while let Some(moved) = place.map(|place| &self.moved[place]) {
                let [begin, end] = moved.completed;
                for (number, image) in makeup.iter().zip(scheduler.images(moved.member)) {
                    let First { family, version, left, .. } = &mut self.first[*number];
                    if image.version == *version {
                        *left = Timestamp::MAX;
                    } else {
                        *left = end.max(*left);
                        comes(&mut self.came[*family], image.version, begin);
                    }
                }
                place = moved.before;
            }
        }
    }

    /// Somebody ran an image from then on, until then.
    fn ran(&mut self, image: NodeImage, from: Timestamp, until: Timestamp) {
        if from < until {
            self.changes.push((from, Reverse(1), image));
            self.changes.push((until, Reverse(-1), image));
        }
    }

    /// The most versions of a family at one time.
    fn skew(&mut self) -> u32 {
        let (first, came) = (std::mem::take(&mut self.first), std::mem::take(&mut self.came));
        for First { family, version, left, .. } in &first {
            let image = NodeImage { family: *family, version: *version };
            if *left > Timestamp::MIN {
                self.ran(image, Timestamp::MIN, *left);
            }
        }
        for (family, versions) in came.iter_with_ids() {
            for (version, at) in versions {
                self.ran(NodeImage { family, version: *version }, *at, Timestamp::MAX);
            }
        }
        // What comes at an instant counts before what goes, so that nothing is counted below zero.
        self.changes.sort_unstable();
        empty(&mut self.counts, came.len());
        let mut most = 0;
        let (mut at, changes) = (Timestamp::MIN, std::mem::take(&mut self.changes));
        for (time, Reverse(change), image) in &changes {
            if *time > at {
                most = most.max(self.distinct());
                at = *time;
            }
            count(&mut self.counts[image.family], image.version, *change);
        }
        (self.first, self.came, self.changes) = (first, came, changes);
        most.max(self.distinct())
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

/// When a member was Completed, if it was.
fn completed(scheduler: &Scheduler<'_>, id: MemberId) -> Option<Timestamp> {
    let completed = scheduler.member_state(id) == State::Completed;
    scheduler.member_completed(id).filter(|_| completed)
}

/// When a member was Skipped because it was at its target, if it was.
fn at_target_since(scheduler: &Scheduler<'_>, id: MemberId) -> Option<Timestamp> {
    let skipped = scheduler.member_state(id) == State::Skipped;
    let there = skipped && at_target(scheduler.member(id).reason);
    scheduler.member_completed(id).filter(|_| there)
}

/// Whether an image is an older one of the same family.
fn is_older(image: &NodeImage, new: NodeImage) -> bool {
    image.family == new.family && image.version < new.version
}

/// An empty list for each family, in the memory that there is.
fn empty<T: Clone>(lists: &mut Column<FamilyId, Vec<T>>, families: usize) {
    lists.resize(families, Vec::new());
    lists.iter_mut().for_each(Vec::clear);
}

/// A pool runs a version since then.
fn comes(versions: &mut Vec<(ImageVersion, Timestamp)>, version: ImageVersion, at: Timestamp) {
    match versions.iter_mut().find(|(other, _)| *other == version) {
        Some((_, since)) => *since = at.min(*since),
        None => versions.push((version, at)),
    }
}

/// A version is there once more, or once less; those that are not there are not in the list.
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
