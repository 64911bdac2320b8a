//! Kinds of members: every distinct combination of what members are and run, kept once.
//!
//! Members of one kind come to the same trial, and an update makes the same of them. So both are
//! worked out once a kind, and again only when something has changed that they depend on; what a
//! member runs is the number of its kind. A kind never changes: who runs something else is of
//! another kind.

use std::collections::BTreeMap;

use crate::fleet::{
    Fleet, ImageVersion, KubernetesVersion, OsType, Pool, PoolImage, PowerState, SecurityPatch,
};
use crate::ids::{Column, FamilyId, Id, KindId, MemberId, RegionId};
use crate::scheduler::target::Trial;

/// A pool, as it is observed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedPool {
    pub(super) family: FamilyId,
    pub(super) version: ImageVersion,
    /// The last security patch that went in beside the image, if there was one.
    pub(super) patch: Option<SecurityPatch>,
    /// Whether its nodes run Linux.
    pub(super) linux: bool,
    pub(super) orchestrator: Option<KubernetesVersion>,
    pub(super) from_snapshot: bool,
}

impl ObservedPool {
    pub(super) fn new(pool: &Pool, version: ImageVersion) -> Self {
        Self {
            family: pool.image.family(),
            version,
            patch: None,
            linux: pool.os_type == OsType::Linux,
            orchestrator: pool.orchestrator_version,
            from_snapshot: pool.from_snapshot,
        }
    }

    /// Whether it lacks a security patch: neither that nor a later one went in, and its image is of
    /// an earlier day.
    pub(super) fn lacks(&self, patch: SecurityPatch) -> bool {
        self.linux && self.patch < Some(patch) && self.version < patch.image()
    }

    /// Whether both are the same, down to how their versions are written.
    fn is(&self, other: &Self) -> bool {
        let image = |pool: &Self| (pool.family, pool.version.as_written());
        image(self) == image(other)
            && self.patch == other.patch
            && self.orchestrator == other.orchestrator
            && self.from_snapshot == other.from_snapshot
    }
}

/// What the members of a kind are, besides their pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Facts {
    pub(super) region: RegionId,
    pub(super) kubernetes: Option<KubernetesVersion>,
    pub(super) stopped: bool,
    pub(super) long_term_support: bool,
    pub(super) node_auto_provisioning: bool,
}

/// What a trial of a kind's members comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlook {
    /// The state of things for which it was worked out: see `Observed::epoch`.
    pub(super) epoch: u64,
    pub(super) trial: Trial,
    /// What the update would make of them.
    pub(super) next: KindId,
}

#[derive(Debug, Clone)]
struct Kind {
    facts: Facts,
    first_pool: u32,
    end_pool: u32,
    /// The kind at the start of which it has come.
    origin: KindId,
    /// The one that came of the same kind before it.
    older: Option<KindId>,
    outlook: Outlook,
}

/// Of which kind a member is, and of which the update in flight makes it; the same without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) now: KindId,
    pub(super) then: KindId,
}

/// The kinds of a fleet at the start; a plan has them once for all its runs.
#[derive(Debug, Clone)]
pub(in crate::scheduler) struct FirstKinds {
    kinds: Column<KindId, Kind>,
    pools: Vec<ObservedPool>,
    pub(super) of: Column<MemberId, Runs>,
    /// Pools that are some versions behind the newest, and where they stand in `pools`.
    behind: Vec<(Behind, usize)>,
}

/// Of which family and in which region a pool is so many versions behind.
type Behind = (FamilyId, RegionId, u32);

impl FirstKinds {
    /// The kinds of this fleet.
    pub(in crate::scheduler) fn of(fleet: &Fleet) -> Self {
        let mut firsts =
            Self { kinds: Column::new(), pools: Vec::new(), of: Column::new(), behind: Vec::new() };
        let mut known = BTreeMap::new();
        for member in &fleet.members {
            let facts = Facts {
                region: member.region,
                kubernetes: member.kubernetes_version,
                stopped: member.power_state == PowerState::Stopped,
                long_term_support: member.long_term_support,
                node_auto_provisioning: member.node_auto_provisioning,
            };
            let written = |pool: &Pool| {
                let version = match pool.image {
                    PoolImage::Exactly(image) => Ok(image.version.as_written()),
                    PoolImage::Behind { versions, .. } => Err(versions),
                };
                let os = pool.os_type as u8;
                (pool.image.family(), version, os, pool.orchestrator_version, pool.from_snapshot)
            };
            let pools: Vec<_> = member.pools.iter().map(written).collect();
            let kind = *known.entry((facts, pools)).or_insert_with(|| firsts.add(facts, member));
            firsts.of.push(Runs { now: kind, then: kind });
        }
        firsts
    }

    fn add(&mut self, facts: Facts, member: &crate::fleet::Member) -> KindId {
        let first_pool = number(self.pools.len());
        for pool in &member.pools {
            let version = match pool.image {
                PoolImage::Exactly(image) => image.version,
                PoolImage::Behind { family, versions } => {
                    self.behind.push(((family, member.region, versions), self.pools.len()));
                    // Until the driver tells, it counts as older than everything.
                    ImageVersion::OLDEST
                }
            };
            self.pools.push(ObservedPool::new(pool, version));
        }
        let id = KindId::new(self.kinds.len());
        let end_pool = number(self.pools.len());
        self.kinds.push(Kind::new(facts, (first_pool, end_pool), id, None));
        id
    }
}

impl Kind {
    fn new(facts: Facts, pools: (u32, u32), origin: KindId, older: Option<KindId>) -> Self {
        // Of no epoch: nobody has looked yet.
        let outlook = Outlook { epoch: 0, trial: Trial::Start, next: origin };
        Self { facts, first_pool: pools.0, end_pool: pools.1, origin, older, outlook }
    }
}

/// All kinds of one run: those at the start, and those that have come of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Kinds {
    all: Column<KindId, Kind>,
    /// The pools of all kinds, one after the other.
    pools: Vec<ObservedPool>,
    /// The last that came of each kind at the start.
    latest: Column<KindId, KindId>,
    /// The pools of a kind that is being made.
    made: Vec<ObservedPool>,
}

impl Kinds {
    /// Back to the kinds at the start, keeping every allocation.
    pub(super) fn reset(&mut self, firsts: &FirstKinds) {
        let number = firsts.kinds.len();
        if self.all.is_empty() {
            self.all.clone_from(&firsts.kinds);
            self.pools.clone_from(&firsts.pools);
            self.latest = firsts.kinds.ids().collect();
            return;
        }
        for kind in &self.all.as_slice()[number..] {
            self.latest[kind.origin] = kind.origin;
        }
        self.all.truncate(number);
        self.pools.truncate(firsts.pools.len());
        for (_, row) in &firsts.behind {
            self.pools[*row].version = ImageVersion::OLDEST;
        }
    }

    /// Takes what another run over the same fleet knows; all outlooks are void.
    pub(super) fn adopt_all(&mut self, other: &Self) {
        self.all.clone_from(&other.all);
        self.pools.clone_from(&other.pools);
        self.latest.clone_from(&other.latest);
    }

    /// What pools run that are so many versions behind.
    pub(super) fn place(&mut self, firsts: &FirstKinds, behind: Behind, version: ImageVersion) {
        for (_, row) in firsts.behind.iter().filter(|(other, _)| *other == behind) {
            self.pools[*row].version = version;
        }
    }

    #[inline]
    pub(super) fn outlook(&self, id: KindId) -> Outlook {
        self.all[id].outlook
    }

    pub(super) fn set_outlook(&mut self, id: KindId, outlook: Outlook) {
        self.all[id].outlook = outlook;
    }

    pub(super) fn facts(&self, id: KindId) -> &Facts {
        &self.all[id].facts
    }

    pub(super) fn pools(&self, id: KindId) -> &[ObservedPool] {
        let kind = &self.all[id];
        &self.pools[kind.first_pool as usize..kind.end_pool as usize]
    }

    /// The kind that differs from another in this.
    pub(super) fn changed(
        &mut self,
        from: KindId,
        change: impl FnOnce(&mut Facts, &mut Vec<ObservedPool>),
    ) -> KindId {
        let (mut facts, mut pools) = (self.all[from].facts, std::mem::take(&mut self.made));
        pools.clear();
        pools.extend_from_slice(self.pools(from));
        change(&mut facts, &mut pools);
        let id = self.find_or_add(self.all[from].origin, facts, &pools);
        self.made = pools;
        id
    }

    /// The kind that equals one of another run over the same fleet.
    pub(super) fn equal_to(&mut self, other: &Self, id: KindId) -> KindId {
        let kind = &other.all[id];
        self.find_or_add(kind.origin, kind.facts, other.pools(id))
    }

    fn find_or_add(&mut self, origin: KindId, facts: Facts, pools: &[ObservedPool]) -> KindId {
        let is = |id: KindId| {
            let own = self.pools(id);
            self.all[id].facts == facts
                && own.len() == pools.len()
                && own.iter().zip(pools).all(|(own, pool)| own.is(pool))
        };
        // What was made last is looked for most.
        let latest = self.latest[origin];
        let all = std::iter::successors(Some(latest), |id| self.all[*id].older);
        if let Some(found) = { all }.find(|id| is(*id)) {
            return found;
        }
        let first_pool = number(self.pools.len());
        self.pools.extend_from_slice(pools);
        let rows = (first_pool, number(self.pools.len()));
        self.latest[origin] = self.all.push(Kind::new(facts, rows, origin, Some(latest)));
        self.latest[origin]
    }
}

fn number(position: usize) -> u32 {
    u32::try_from(position).expect("pools fit u32")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> ImageVersion {
        text.parse().unwrap()
    }

    /// Two kinds, each of one pool; that of the second is behind the newest.
    fn firsts() -> FirstKinds {
        let facts = |region: u32| Facts {
            region: RegionId(region),
            kubernetes: None,
            stopped: false,
            long_term_support: false,
            node_auto_provisioning: false,
        };
        let pool = |version: ImageVersion| ObservedPool {
            family: FamilyId(0),
            version,
            patch: None,
            linux: true,
            orchestrator: None,
            from_snapshot: false,
        };
        let kind = |id: u32| Kind::new(facts(id), (id, id + 1), KindId(id), None);
        FirstKinds {
            kinds: [0, 1].map(kind).into_iter().collect(),
            pools: vec![pool(version("202602.13.0")), pool(ImageVersion::OLDEST)],
            of: Column::new(),
            behind: vec![((FamilyId(0), RegionId(1), 2), 1)],
        }
    }

    fn bring(kinds: &mut Kinds, from: KindId, to: &str) -> KindId {
        kinds.changed(from, |_, pools| pools[0].version = version(to))
    }

    #[test]
    fn who_becomes_the_same_is_of_the_same_kind() {
        let (firsts, mut kinds) = (firsts(), Kinds::default());
        kinds.reset(&firsts);
        let [one, two] = [KindId(0), KindId(1)];
        let newer = bring(&mut kinds, one, "202603.02.0");
        assert!(newer != one && bring(&mut kinds, one, "202603.02.0") == newer);
        assert_eq!(bring(&mut kinds, newer, "202602.13.0"), one, "the way back");
        assert_ne!(bring(&mut kinds, two, "202603.02.0"), newer, "another region");
        // Equal versions that are written in two ways are shown in two ways.
        assert_ne!(bring(&mut kinds, one, "202603.2.0"), newer);
        let stopped = kinds.changed(newer, |facts, _| facts.stopped = true);
        assert!(stopped != newer && kinds.facts(stopped).stopped && !kinds.facts(newer).stopped);
    }

    #[test]
    fn a_reset_forgets_what_came_of_the_kinds_at_the_start() {
        let (firsts, mut kinds) = (firsts(), Kinds::default());
        kinds.reset(&firsts);
        let newer = bring(&mut kinds, KindId(1), "202603.02.0");
        kinds.place(&firsts, (FamilyId(0), RegionId(1), 2), version("202601.01.0"));
        assert_eq!(kinds.pools(KindId(1))[0].version, version("202601.01.0"));
        kinds.reset(&firsts);
        assert_eq!(kinds.pools(KindId(1))[0].version, ImageVersion::OLDEST);
        assert_eq!(bring(&mut kinds, KindId(1), "202604.01.0"), newer, "the number is free again");
        assert_eq!(kinds.pools(newer)[0].version, version("202604.01.0"));
    }

    #[test]
    fn runs_over_one_fleet_find_each_others_kinds() {
        let (firsts, mut kinds, mut others) = (firsts(), Kinds::default(), Kinds::default());
        kinds.reset(&firsts);
        others.reset(&firsts);
        bring(&mut others, KindId(0), "202601.01.0");
        let there = bring(&mut others, KindId(0), "202603.02.0");
        let here = bring(&mut kinds, KindId(0), "202603.02.0");
        assert!(here != there && kinds.equal_to(&others, there) == here);
        kinds.adopt_all(&others);
        assert_eq!(bring(&mut kinds, KindId(0), "202603.02.0"), there);
    }
}
