//! What the scheduler knows of the fleet, and what an update of a member would do (section 6).
//!
//! Owns the observed versions, the availability by region, and R-B7: the order in which a member's
//! conditions are looked at. Does not own windows (they come first and belong to `pick`).

use crate::bits::Bits;
use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, Pool, PoolImage, PowerState};
use crate::ids::{Column, FamilyId, Id, MemberId, RegionId};
use crate::scheduler::auto_upgrade::{SupportCalendar, Target};
use crate::scheduler::plan::{MemberFacts, Plan};
use crate::scheduler::{NodeImageSelection, Reason, Released, StoppedMembers, Upgrade};
use crate::time::{Span, Timestamp};

/// How long after its publication an image can be started (U4).
pub const IMAGE_VALIDITY: Span = Span::from_days(90);

/// The end of support of a Kubernetes version (R-I12), as the driver's tables or scripts say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Support {
    /// End of community support; a version without one is supported.
    pub community_until: Option<Timestamp>,
}

/// What a trial of a member behind an open window comes to (R-B7, conditions 2 to 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trial {
    Start,
    Pending(Reason),
    Skipped(Reason),
    Failed(Reason),
}

#[derive(Debug, Clone, Copy)]
struct ObservedPool {
    family: FamilyId,
    version: ImageVersion,
    /// What a running update brings it to.
    planned: Option<ImageVersion>,
    orchestrator: Option<KubernetesVersion>,
    from_snapshot: bool,
}

/// A released image and where it has arrived.
#[derive(Debug, Clone)]
struct KnownImage {
    image: NodeImage,
    /// Its first arrival anywhere (R-I8).
    published: Timestamp,
    regions: Bits,
}

#[derive(Debug, Clone, Copy)]
struct Newest {
    version: ImageVersion,
    published: Timestamp,
}

/// The observed fleet.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    /// Pools of all members, one after the other.
    pools: Vec<ObservedPool>,
    /// The same as they are at the start.
    first_pools: Vec<ObservedPool>,
    /// Where each member's pools begin; one more than there are members.
    first_pool: Column<MemberId, u32>,
    /// Pools that joined later.
    added: Vec<(MemberId, ObservedPool)>,
    kubernetes: Column<MemberId, Option<KubernetesVersion>>,
    /// Images in the order of their publication, with spare entries kept for their allocations.
    images: Vec<KnownImage>,
    known: usize,
    /// The newest image by family and region.
    newest: Vec<Option<Newest>>,
    regions: usize,
    /// Where the target Kubernetes version is.
    kubernetes_regions: Bits,
    /// The target image of each family, under Consistent and Custom.
    targets: Column<FamilyId, Option<ImageVersion>>,
    /// What an update does: the plan's, or what a profile's run was given.
    upgrade: Upgrade,
    support: Support,
    /// Until when what members run is supported; auto-upgrade looks at it (A5).
    calendar: SupportCalendar,
    /// Which clusters are stopped, once one was stopped or started since the beginning.
    stopped: Option<Bits>,
}

impl Observed {
    pub(super) fn reset(&mut self, plan: &Plan<'_>) {
        let fleet = plan.fleet;
        if self.first_pool.is_empty() {
            self.lay_out_pools(plan);
        }
        self.pools.clone_from(&self.first_pools);
        self.added.clear();
        self.kubernetes.refill(fleet.members.len(), None);
        self.known = 0;
        self.regions = fleet.regions.len();
        self.newest.clear();
        self.newest.resize(fleet.regions.len() * fleet.families.len(), None);
        self.kubernetes_regions.reset(fleet.regions.len());
        self.targets.refill(fleet.families.len(), None);
        self.upgrade = plan.update.upgrade;
        self.support = Support::default();
        self.stopped = None;
        for (id, member) in fleet.members.iter_with_ids() {
            self.kubernetes[id] = member.kubernetes_version;
        }
        if let NodeImageSelection::Custom(images) = &plan.update.node_images {
            for image in images {
                self.targets[image.family] = Some(image.version);
            }
        }
    }

    fn lay_out_pools(&mut self, plan: &Plan<'_>) {
        self.first_pool.push(0);
        for member in &plan.fleet.members {
            self.first_pools.extend(member.pools.iter().map(|pool| observe(pool, None)));
            let end = u32::try_from(self.first_pools.len()).expect("pools fit u32");
            self.first_pool.push(end);
        }
    }

    /// Learns what the nodes of a pool run.
    pub(super) fn observe_pool(&mut self, member: MemberId, pool: usize, version: ImageVersion) {
        let index = self.first_pool[member] as usize + pool;
        self.pools[index].version = version;
    }

    /// Learns until when Kubernetes versions are supported.
    pub(super) fn observe_calendar(&mut self, calendar: &SupportCalendar) {
        self.calendar.clone_from(calendar);
    }

    /// Learns that a cluster was stopped, or started (U8).
    pub(super) fn turn(&mut self, plan: &Plan<'_>, id: MemberId, power: PowerState) {
        let members = &plan.fleet.members;
        let stopped = self.stopped.get_or_insert_with(|| {
            let mut stopped = Bits::new(members.len());
            for (id, member) in members.iter_with_ids() {
                if member.power_state == PowerState::Stopped {
                    stopped.insert(id.0);
                }
            }
            stopped
        });
        match power {
            PowerState::Stopped => stopped.insert(id.0),
            PowerState::Running => stopped.remove(id.0),
        };
    }

    pub(super) fn observe_support(&mut self, support: Support) {
        self.support = support;
    }

    /// What an update does from now on.
    pub(super) fn upgrade(&self) -> Upgrade {
        self.upgrade
    }

    /// Takes the target of a profile's run (A2, A4).
    pub(super) fn aim(&mut self, target: &Target) {
        match target {
            Target::Kubernetes { version, .. } => self.upgrade = Upgrade::Full(*version),
            Target::NodeImages(images) => {
                for image in images {
                    self.targets[image.family] = Some(image.version);
                }
            }
        }
    }

    /// Learns what another run over the same fleet knows: what members run, and which images are
    /// where.
    pub(super) fn observe_fleet(&mut self, other: &Self) {
        self.pools.clone_from(&other.pools);
        self.added.clone_from(&other.added);
        self.kubernetes.clone_from(&other.kubernetes);
        self.newest.clone_from(&other.newest);
        self.images.clone_from(&other.images);
        self.known = other.known;
        for pool in self.pools.iter_mut().chain(self.added.iter_mut().map(|(_, pool)| pool)) {
            pool.planned = None;
        }
    }

    /// Learns what a member runs from another run over the same fleet.
    pub(super) fn observe_member(&mut self, id: MemberId, other: &Self) {
        let range = self.range_of(id);
        self.pools[range.clone()].copy_from_slice(&other.pools[range]);
        for (own, others) in self.added.iter_mut().zip(&other.added) {
            if own.0 == id {
                *own = *others;
            }
        }
        self.kubernetes[id] = other.kubernetes[id];
    }

    /// Whether the region has an image that is newer than that of one of a member's pools.
    pub(super) fn has_newer_images(&self, id: MemberId, region: RegionId) -> bool {
        self.pools[self.range_of(id)].iter().any(|pool| self.newer_for(pool, region).is_some())
    }

    /// Plans the newest images of the region for a member's pools; says whether any is newer.
    pub(super) fn begin_newest_images(&mut self, id: MemberId, region: RegionId) -> bool {
        for index in self.range_of(id) {
            self.pools[index].planned = self.newer_for(&self.pools[index], region);
        }
        self.pools[self.range_of(id)].iter().any(|pool| pool.planned.is_some())
    }

    fn newer_for(&self, pool: &ObservedPool, region: RegionId) -> Option<ImageVersion> {
        let newest = self.newest_of(pool.family, region).map(|newest| newest.version);
        newest.filter(|newest| *newest > pool.version && !pool.from_snapshot)
    }

    /// A member's pools run what was planned for them.
    pub(super) fn end_images(&mut self, id: MemberId) {
        for index in self.range_of(id) {
            let pool = &mut self.pools[index];
            if let Some(version) = pool.planned.take() {
                pool.version = version;
                pool.from_snapshot = false;
            }
        }
    }

    /// Learns a member's Kubernetes version, that of its pools included.
    pub(super) fn observe_kubernetes(&mut self, id: MemberId, version: KubernetesVersion) {
        self.kubernetes[id] = Some(version);
        for index in self.range_of(id) {
            self.pools[index].orchestrator = None;
        }
        for (_, pool) in self.added.iter_mut().filter(|(owner, _)| *owner == id) {
            pool.orchestrator = None;
        }
    }

    pub(super) fn add_pool(&mut self, member: MemberId, pool: &Pool, version: ImageVersion) {
        self.added.push((member, observe(pool, Some(version))));
    }

    /// Learns that a release has reached a region; says whether a target of the run has.
    pub(super) fn observe_release(
        &mut self,
        what: Released,
        region: RegionId,
        at: Timestamp,
    ) -> bool {
        match what {
            Released::Kubernetes(version) => {
                let target = self.upgrade.kubernetes_version() == Some(version);
                target && self.kubernetes_regions.insert(region.0)
            }
            Released::NodeImage(image) => {
                let known = self.know(image, at);
                let published = self.images[known].published;
                self.images[known].regions.insert(region.0);
                let newest = &mut self.newest[image.family.index() * self.regions + region.index()];
                if newest.is_none_or(|newest| newest.version < image.version) {
                    *newest = Some(Newest { version: image.version, published });
                }
                self.targets[image.family] == Some(image.version)
            }
        }
    }

    /// Learns that no region offers a release any more.
    pub(super) fn withdraw(&mut self, plan: &Plan<'_>, what: Released) {
        match what {
            Released::Kubernetes(version) => {
                if plan.update.upgrade.kubernetes_version() == Some(version) {
                    self.kubernetes_regions.reset(self.regions);
                }
            }
            Released::NodeImage(image) => self.withdraw_image(image),
        }
    }

    /// Takes an image out of all regions; where it was the newest, the newest of the others is.
    fn withdraw_image(&mut self, image: NodeImage) {
        let known = &mut self.images[..self.known];
        let Some(index) = known.iter().rposition(|known| known.image == image) else { return };
        known[index].regions.reset(self.regions);
        for region in 0..self.regions {
            let newest = &mut self.newest[image.family.index() * self.regions + region];
            if newest.is_none_or(|newest| newest.version != image.version) {
                continue;
            }
            let region = RegionId::new(region).0;
            let there = self.images[..self.known].iter().filter(|known| {
                known.image.family == image.family && known.regions.contains(region)
            });
            *newest = there
                .map(|known| Newest { version: known.image.version, published: known.published })
                .max_by_key(|newest| newest.version);
        }
    }

    /// The entry of an image, made if it is new.
    fn know(&mut self, image: NodeImage, at: Timestamp) -> usize {
        let known = &self.images[..self.known];
        if let Some(index) = known.iter().rposition(|known| known.image == image) {
            return index;
        }
        if self.known == self.images.len() {
            let regions = Bits::new(self.regions);
            self.images.push(KnownImage { image, published: at, regions });
        } else {
            let spare = &mut self.images[self.known];
            spare.image = image;
            spare.published = at;
            spare.regions.reset(self.regions);
        }
        self.known += 1;
        self.known - 1
    }

    /// Chooses the newest common image of each family (U2 Consistent, R-I5), at the run's start.
    pub(super) fn choose_consistent(&mut self, plan: &Plan<'_>) {
        for (family, regions) in plan.family_regions.iter_with_ids() {
            let everywhere = |known: &&KnownImage| {
                known.image.family == family && regions.iter().all(|r| known.regions.contains(r))
            };
            let common = self.images[..self.known].iter().filter(everywhere);
            let newest = common.map(|known| known.image.version).max();
            self.targets[family] = newest.filter(|_| !regions.is_empty());
        }
    }

    /// The target images of the run, under Consistent and Custom.
    pub(super) fn targets(&self) -> impl Iterator<Item = NodeImage> + '_ {
        self.targets
            .iter_with_ids()
            .filter_map(|(family, version)| version.map(|version| NodeImage { family, version }))
    }

    /// Conditions 2 to 10 of R-B7. The common case first: image only, the latest, a plain cluster.
    #[inline]
    pub(super) fn trial(&self, plan: &Plan<'_>, id: MemberId, now: Timestamp) -> Trial {
        let MemberFacts { region, plain } = plan.facts[id];
        if plain && self.added.is_empty() && self.stopped.is_none() {
            self.trial_of_latest(id, region, now)
        } else {
            self.try_all(plan, id, now)
        }
    }

    /// The trial of a running member's images under Latest: anything newer, and young enough?
    fn trial_of_latest(&self, id: MemberId, region: RegionId, now: Timestamp) -> Trial {
        let (mut moves, mut expired) = (false, false);
        for pool in self.pools[self.range_of(id)].iter().filter(|pool| !pool.from_snapshot) {
            if let Some(newest) = self.newest_of(pool.family, region)
                && newest.version > pool.version
            {
                moves = true;
                expired |= now - newest.published > IMAGE_VALIDITY;
            }
        }
        match (moves, expired) {
            (false, _) => Trial::Skipped(Reason::AlreadyAtTarget),
            (true, true) => Trial::Failed(Reason::NodeImageVersionExpired),
            (true, false) => Trial::Start,
        }
    }

    #[inline(never)]
    fn try_all(&self, plan: &Plan<'_>, id: MemberId, now: Timestamp) -> Trial {
        let (member, update) = (&plan.fleet.members[id], plan.update);
        let target = self.upgrade.kubernetes_version();
        let current = self.kubernetes[id];
        if target.is_some() && target < current {
            return Trial::Skipped(Reason::TargetVersionOlder);
        }
        let images = !matches!(self.upgrade, Upgrade::ControlPlaneOnly(_));
        let full = matches!(self.upgrade, Upgrade::Full(_));
        let chosen = |pool: &ObservedPool| self.targets[pool.family].is_some();
        if images
            && update.node_images == NodeImageSelection::Consistent
            && !self.pools_of(id).all(chosen)
        {
            return Trial::Skipped(Reason::NodeImageVersionNotFound);
        }
        let behind = |pool: &ObservedPool| pool.orchestrator.is_some_and(|v| Some(v) < target);
        let moves_kubernetes =
            target.is_some() && (current < target || (full && self.pools_of(id).any(behind)));
        let moves_images = images
            && self.pools_of(id).any(|p| self.image_target(plan, p, member.region).is_some());
        if !moves_kubernetes && !moves_images {
            return Trial::Skipped(Reason::AlreadyAtTarget);
        }
        if let Some(refused) = self.refuse(plan, id, current, now) {
            return refused;
        }
        if moves_kubernetes && !self.kubernetes_regions.contains(member.region.0) {
            return Trial::Pending(Reason::KubernetesVersionNotAvailable);
        }
        if moves_images { self.try_images(plan, id, member.region, now) } else { Trial::Start }
    }

    /// Conditions 5 to 6b: what a member is fails it, whatever has arrived.
    fn refuse(
        &self,
        plan: &Plan<'_>,
        id: MemberId,
        current: Option<KubernetesVersion>,
        now: Timestamp,
    ) -> Option<Trial> {
        let member = &plan.fleet.members[id];
        let stopped = match &self.stopped {
            Some(stopped) => stopped.contains(id.0),
            None => member.power_state == PowerState::Stopped,
        };
        if stopped {
            return Some(match plan.update.stopped_members {
                StoppedMembers::Fail => Trial::Failed(Reason::MemberStopped),
                StoppedMembers::Skip => Trial::Skipped(Reason::MemberStopped),
            });
        }
        let control_plane_only = matches!(self.upgrade, Upgrade::ControlPlaneOnly(_));
        if member.node_auto_provisioning && !control_plane_only {
            return Some(Trial::Failed(Reason::NodeAutoProvisioningUnsupported));
        }
        if let Some(target) = self.upgrade.kubernetes_version()
            && let Some(current) = current
        {
            if target.major != current.major || target.minor > current.minor + 1 {
                let reason = Reason::KubernetesMinorVersionSkipped;
                let moved_by_profile = plan.profile.is_some();
                return Some(if moved_by_profile {
                    Trial::Skipped(reason)
                } else {
                    Trial::Failed(reason)
                });
            }
            let unsupported = self.support.community_until.is_some_and(|until| now >= until);
            if unsupported && !member.long_term_support {
                return Some(Trial::Failed(Reason::LongTermSupportRequired));
            }
        }
        // A5: auto-upgrade leaves members alone that are out of their support window.
        let out = plan.profile.is_some()
            && current.is_some_and(|v| self.calendar.is_out(v, member.long_term_support, now));
        out.then_some(Trial::Skipped(Reason::LongTermSupportRequired))
    }

    /// Conditions 8 and 9: are all images there, and young enough?
    fn try_images(&self, plan: &Plan<'_>, id: MemberId, region: RegionId, now: Timestamp) -> Trial {
        let mut expired = false;
        for pool in self.pools_of(id) {
            let Some(target) = self.image_target(plan, pool, region) else { continue };
            let published = match plan.update.node_images {
                NodeImageSelection::Latest => {
                    self.newest_of(pool.family, region).map(|n| n.published)
                }
                NodeImageSelection::Consistent | NodeImageSelection::Custom(_) => {
                    self.published_in(NodeImage { family: pool.family, version: target }, region)
                }
            };
            match published {
                None => return Trial::Pending(Reason::NodeImageVersionNotAvailable),
                Some(published) => expired |= now - published > IMAGE_VALIDITY,
            }
        }
        if expired { Trial::Failed(Reason::NodeImageVersionExpired) } else { Trial::Start }
    }

    /// The image that an update would bring to this pool; `None` leaves it alone (U2, U3, U5).
    fn image_target(
        &self,
        plan: &Plan<'_>,
        pool: &ObservedPool,
        region: RegionId,
    ) -> Option<ImageVersion> {
        let target = match plan.update.node_images {
            NodeImageSelection::Latest if pool.from_snapshot => None,
            NodeImageSelection::Latest => self.newest_of(pool.family, region).map(|n| n.version),
            NodeImageSelection::Consistent | NodeImageSelection::Custom(_) => {
                self.targets[pool.family]
            }
        };
        target.filter(|target| *target > pool.version)
    }

    fn newest_of(&self, family: FamilyId, region: RegionId) -> Option<Newest> {
        self.newest[family.index() * self.regions + region.index()]
    }

    /// When an image was published, if it is in the region.
    fn published_in(&self, image: NodeImage, region: RegionId) -> Option<Timestamp> {
        let known = &self.images[..self.known];
        let known = known.iter().rfind(|known| known.image == image)?;
        known.regions.contains(region.0).then_some(known.published)
    }

    fn pools_of(&self, id: MemberId) -> impl Iterator<Item = &ObservedPool> {
        let range = self.range_of(id);
        let added = self.added.iter().filter(move |(owner, _)| *owner == id);
        self.pools[range].iter().chain(added.map(|(_, pool)| pool))
    }

    fn range_of(&self, id: MemberId) -> std::ops::Range<usize> {
        let ends = &self.first_pool.as_slice()[id.index()..][..2];
        ends[0] as usize..ends[1] as usize
    }

    /// Fixes what the member's update will do (R-I6: a member in flight keeps its plan).
    pub(super) fn start(&mut self, plan: &Plan<'_>, id: MemberId) {
        if matches!(self.upgrade, Upgrade::ControlPlaneOnly(_)) {
            return;
        }
        let region = plan.facts[id].region;
        for index in self.range_of(id) {
            self.pools[index].planned = self.image_target(plan, &self.pools[index], region);
        }
        for index in 0..self.added.len() {
            if self.added[index].0 == id {
                let planned = self.image_target(plan, &self.added[index].1, region);
                self.added[index].1.planned = planned;
            }
        }
    }

    /// Carries out what a completed update has done.
    pub(super) fn complete(&mut self, id: MemberId) {
        let full = matches!(self.upgrade, Upgrade::Full(_));
        let target = self.upgrade.kubernetes_version();
        self.kubernetes[id] = target.or(self.kubernetes[id]);
        let range = self.range_of(id);
        let added = self.added.iter_mut().filter(|(owner, _)| *owner == id);
        for pool in self.pools[range].iter_mut().chain(added.map(|(_, pool)| pool)) {
            if let Some(version) = pool.planned.take() {
                pool.version = version;
                pool.from_snapshot = false;
            }
            if full && pool.orchestrator < target {
                pool.orchestrator = None;
            }
        }
    }

    /// The images of a member's pools now, in the pools' order.
    pub(super) fn images_of(&self, id: MemberId) -> impl Iterator<Item = NodeImage> + '_ {
        let image = |pool: &ObservedPool| NodeImage { family: pool.family, version: pool.version };
        self.pools_of(id).map(image)
    }

    /// The images that a running update brings, by pool; `None` for pools left alone.
    pub(super) fn planned_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = Option<ImageVersion>> + '_ {
        self.pools_of(id).map(|pool| pool.planned)
    }

    /// Whether a running update moves the Kubernetes version, by pool (R-I11).
    pub(super) fn moves_kubernetes_of(
        &self,
        plan: &Plan<'_>,
        id: MemberId,
    ) -> impl Iterator<Item = bool> + '_ {
        let target = match plan.update.upgrade {
            Upgrade::Full(version) => Some(version),
            Upgrade::ControlPlaneOnly(_) | Upgrade::NodeImageOnly => None,
        };
        let current = self.kubernetes[id];
        self.pools_of(id).map(move |pool| pool.orchestrator.or(current) < target)
    }

    pub(super) fn kubernetes_of(&self, id: MemberId) -> Option<KubernetesVersion> {
        self.kubernetes[id]
    }
}

/// A pool as it is first seen. A pool `behind` the newest image has no version until the driver
/// tells it; until then it counts as older than everything.
fn observe(pool: &Pool, version: Option<ImageVersion>) -> ObservedPool {
    let version = version.unwrap_or(match pool.image {
        PoolImage::Exactly(image) => image.version,
        PoolImage::Behind { .. } => ImageVersion::OLDEST,
    });
    ObservedPool {
        family: pool.image.family(),
        version,
        planned: None,
        orchestrator: pool.orchestrator_version,
        from_snapshot: pool.from_snapshot,
    }
}
