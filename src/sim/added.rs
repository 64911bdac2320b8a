//! Pools that members get in mid-run (W9, R-I6): those of `world.churn.addPool`, and those of the
//! script's `addPool`.
//!
//! Who gets which pool, and when, does not depend on what the runs do, so that all of it is known
//! when a replication begins. What a new pool runs is what it is said to run; a pool that is so
//! many versions behind is behind what is in its member's region when it is added.

use crate::bits::Bits;
use crate::fleet::{ImageVersion, NodeImage, Pool, PoolImage};
use crate::ids::MemberId;
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::Scheduler;
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::Setting;
use crate::sim::news::Tiding;
use crate::sim::presence::{Presence, Runs};
use crate::sim::queue::{Happening, Queue};
use crate::sim::script::ScriptedVerb;
use crate::sim::whom::Whom;
use crate::sim::world::{Truth, World};
use crate::time::{Span, Timestamp};

/// No member gets a pool sooner than this after the start, or after it has joined.
const SHORTEST: i64 = Span::SECOND.as_millis();
/// Additions that are drawn are numbered from here, entry by entry; those that the script makes
/// from 0, member by member. The luck of a drawn pool's nodes lies at this number among its
/// member's pools, whatever other pools are added before it (X1).
const DRAWN: u16 = 3_072;
/// The most entries of `addPool`: as many node pools as a cluster of the service may have.
pub const MOST_ENTRIES: usize = 100;

/// Members get a pool (`churn.addPool`), each at most once.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolAdding {
    /// Who.
    pub whom: Whom,
    /// From the scenario's start, or from when it joins, until a member gets it, in milliseconds.
    pub after: Distribution,
    /// The pool.
    pub pool: Pool,
}

/// A pool that a member got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddedPool {
    pub(super) member: MemberId,
    /// Since when.
    pub(super) at: Timestamp,
    /// Which of those that the member may get.
    number: u16,
    /// What its nodes ran first.
    pub(super) image: NodeImage,
}

impl AddedPool {
    /// Which of those that its member may get ([`additions`]).
    pub(super) fn number(self) -> u16 {
        self.number
    }

    /// Where the luck of its nodes lies among its member's pools, of which it is the one at this
    /// position.
    pub(super) fn place(self, position: u32) -> u32 {
        if self.number < DRAWN { position } else { u32::from(self.number) }
    }
}

/// The pools that members have got by now.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// By member, then in the order in which they were added.
    all: Vec<AddedPool>,
}

impl Added {
    /// Nobody has got any.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Those of a member, in the order of its pools.
    pub(super) fn of(&self, member: MemberId) -> &[AddedPool] {
        let first = self.all.partition_point(|pool| pool.member < member);
        let end = first + self.all[first..].partition_point(|pool| pool.member == member);
        &self.all[first..end]
    }

    fn push(&mut self, pool: AddedPool) {
        let end = self.all.partition_point(|other| other.member <= pool.member);
        self.all.insert(end, pool);
    }
}

/// All pools that members may get, with their number in the member.
pub(super) fn additions(setting: Setting<'_>) -> impl Iterator<Item = (MemberId, u16, &Pool)> {
    let scripted = scripted(setting).map(|((member, number), pool)| (member, number, pool));
    let drawn = (DRAWN..).zip(entries(setting)).flat_map(move |(number, entry)| {
        let members = setting.fleet.members.iter_with_ids();
        let fits = members.filter(|(_, member)| entry.whom.fits(member));
        fits.map(move |(member, _)| (member, number, &entry.pool))
    });
    scripted.chain(drawn)
}

fn entries(setting: Setting<'_>) -> &[PoolAdding] {
    setting.world.churn.as_ref().map_or(&[], |churn| &churn.add_pool)
}

/// The pools that the script adds, in the order of time; the number counts those of a member.
fn scripted(setting: Setting<'_>) -> impl Iterator<Item = ((MemberId, u16), &Pool)> {
    let mut before = std::collections::BTreeMap::<MemberId, u16>::new();
    let added = setting.script.actions.iter().flatten().filter_map(|action| match &action.action {
        ScriptedVerb::AddPool(member, pool) => Some((*member, pool)),
        _ => None,
    });
    added.map(move |(member, pool)| {
        let next = before.entry(member).or_default();
        let number = *next;
        *next += 1;
        assert!(number < DRAWN, "a member has fewer than {DRAWN} pools");
        ((member, number), pool)
    })
}

impl<'s> Setting<'s> {
    /// Every pool that there is or can be: those of the fleet, and those that members may get.
    pub fn pools(self) -> impl Iterator<Item = &'s Pool> {
        let of_fleet = self.fleet.members.iter().flat_map(|member| &member.pools);
        let drawn = entries(self).iter().map(|entry| &entry.pool);
        of_fleet.chain(scripted(self).map(|(_, pool)| pool)).chain(drawn)
    }
}

/// The pools that members may get in a world, compiled for all replications.
#[derive(Debug)]
pub(super) struct Additions<'s> {
    luck: Luck,
    scripted: Vec<((MemberId, u16), &'s Pool)>,
    /// Entry by entry.
    drawn: Vec<Drawn<'s>>,
}

#[derive(Debug)]
struct Drawn<'s> {
    /// Who gets it, of so many.
    to: Bits,
    members: u32,
    after: Quantiles,
    pool: &'s Pool,
}

impl<'s> Additions<'s> {
    /// Those of a setting; `None` if nobody ever gets a pool.
    pub(super) fn new(setting: Setting<'s>) -> Option<Self> {
        let fleet = setting.fleet;
        let mut scripted: Vec<_> = scripted(setting).collect();
        scripted.sort_by_key(|(which, _)| *which);
        let drawn = entries(setting).iter().map(|entry| {
            let mut to = Bits::new(fleet.members.len());
            for (id, _) in fleet.members.iter_with_ids().filter(|(_, it)| entry.whom.fits(it)) {
                to.insert(id.0);
            }
            let members = u32::try_from(fleet.members.len()).expect("members fit u32");
            Drawn { to, members, after: Quantiles::new(&entry.after), pool: &entry.pool }
        });
        let drawn: Vec<_> = drawn.collect();
        let some = !(scripted.is_empty() && drawn.is_empty());
        some.then(|| Self { luck: Luck::new(setting.seed), scripted, drawn })
    }

    /// The pool that a member gets by this addition.
    fn pool(&self, member: MemberId, number: u16) -> &'s Pool {
        if let Some(entry) = number.checked_sub(DRAWN) {
            return self.drawn[usize::from(entry)].pool;
        }
        let which = (member, number);
        let found = self.scripted.binary_search_by_key(&which, |(which, _)| *which);
        self.scripted[found.expect("the script says which pool it adds")].1
    }

    /// Who gets which pool by luck, and when, up to `end`: by entry, then member. Who has left by
    /// then, or never joins, gets none.
    fn drawn<'a>(
        &'a self,
        replication: u32,
        presence: &'a Presence,
        (start, end): (Timestamp, Timestamp),
    ) -> impl Iterator<Item = (Timestamp, MemberId, u16)> + 'a {
        (0..).zip(&self.drawn).flat_map(move |(entry, drawn)| {
            let draws = self.luck.sequence(replication, Purpose::PoolAddedAfter, entry);
            let draws = (0..drawn.members).map(MemberId).zip(draws);
            draws.filter_map(move |(member, bits)| {
                let (joins, leaves) = presence.stay(member, start);
                if !drawn.to.contains(member.0) || joins > end {
                    return None;
                }
                let at = joins + Span::from_millis(drawn.after.millis(bits, SHORTEST));
                (at <= end && at < leaves).then_some((at, member, DRAWN + entry))
            })
        })
    }
}

impl<'s> World<'s> {
    /// The pools of a member that has got some, in the order in which schedulers know them.
    pub(super) fn pools_of<'a>(
        &'a self,
        added: &'a Added,
        member: MemberId,
    ) -> impl Iterator<Item = &'s Pool> + Clone + use<'a, 's> {
        let of_fleet = self.setting.fleet.members[member].pools.iter();
        let added = self.additions.iter().flat_map(move |additions| {
            let added = added.of(member).iter();
            added.map(move |pool| additions.pool(member, pool.number))
        });
        of_fleet.chain(added)
    }
}

impl Truth {
    /// Nobody has got a pool yet; puts who gets one by luck up to the horizon into the queue.
    pub(super) fn begin_additions(&mut self, world: &World<'_>, end: Timestamp, queue: &mut Queue) {
        let Some(additions) = &world.additions else { return };
        self.added.all.clear();
        let clock = (world.start(), end);
        for (at, member, number) in additions.drawn(self.replication(), &self.presence, clock) {
            queue.push(at, Happening::PoolAdded(member, number));
        }
    }

    /// A member gets a pool now, unless it has left; runs learn of it, and a defective image has
    /// touched the member.
    pub(super) fn add_pool<'s>(
        &mut self,
        world: &World<'s>,
        (now, member, number): (Timestamp, MemberId, u16),
        queue: &mut Queue,
    ) -> Option<Tiding<'s>> {
        let added = self.touch_by_pool(world, (now, member, number), queue)?;
        self.added.push(added);
        let pool = world.additions.as_ref()?.pool(member, number);
        Some(Tiding::PoolAdded(member, pool, added.image.version))
    }

    /// What a pool runs that a member gets now, unless it has left; if that is defective, it has
    /// touched the member.
    pub(super) fn touch_by_pool(
        &mut self,
        world: &World<'_>,
        (now, member, number): (Timestamp, MemberId, u16),
        queue: &mut Queue,
    ) -> Option<AddedPool> {
        if !self.presence.is_here(member) {
            return None;
        }
        let added = self.addition(world, (now, member, number))?;
        let runs = Runs { images: vec![added.image], kubernetes: None };
        self.touch(world, (now, member), &runs, queue);
        Some(added)
    }

    /// The pool that a member gets at this instant; `None` where nobody gets any.
    fn addition(
        &self,
        world: &World<'_>,
        (at, member, number): (Timestamp, MemberId, u16),
    ) -> Option<AddedPool> {
        let image = match world.additions.as_ref()?.pool(member, number).image {
            PoolImage::Exactly(image) => image,
            PoolImage::Behind { family, versions } => {
                let region = world.setting.fleet.members[member].region;
                let newest = self.arrivals(world).newest_at(family, region, at, versions);
                NodeImage { family, version: newest.unwrap_or(ImageVersion::OLDEST) }
            }
        };
        Some(AddedPool { member, at, number, image })
    }

    /// The pools that members get by luck up to `end`, and had not got when the runs were over, in
    /// the order of time.
    pub(super) fn to_be_added(&self, world: &World<'_>, end: Timestamp) -> Vec<AddedPool> {
        let Some(additions) = &world.additions else { return Vec::new() };
        let clock = (world.start(), end);
        let drawn = additions.drawn(self.replication(), &self.presence, clock);
        let has = |(_, member, number): &(Timestamp, MemberId, u16)| {
            self.added.of(*member).iter().any(|pool| pool.number == *number)
        };
        let left = drawn.filter(|which| !has(which));
        let mut left: Vec<_> = left.filter_map(|which| self.addition(world, which)).collect();
        left.sort_by_key(|pool| pool.at);
        left
    }

    /// All pools that members get up to `end`, in the order of time.
    pub(super) fn all_added(&self, world: &World<'_>, end: Timestamp) -> Vec<AddedPool> {
        let mut all = self.added.all.clone();
        all.extend(self.to_be_added(world, end));
        all.sort_by_key(|pool| pool.at);
        all
    }
}

/// Since when a member is behind something by its pools of which `is_below` says so, if it is by
/// any: from the beginning of time by those of the fleet, and by another since it has it.
pub(super) fn below_since(
    added: &[AddedPool],
    observer: &Scheduler<'_>,
    member: MemberId,
    is_below: impl Iterator<Item = bool>,
) -> Option<Timestamp> {
    let mut below = is_below.enumerate().filter(|(_, below)| *below).map(|(position, _)| position);
    if added.is_empty() {
        return below.next().map(|_| Timestamp::MIN);
    }
    let of_fleet = observer.images(member).count() - added.len();
    let since = |position: usize| {
        position.checked_sub(of_fleet).map_or(Timestamp::MIN, |number| added[number].at)
    };
    below.map(since).min()
}
