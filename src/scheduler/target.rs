//! What the scheduler knows of the fleet, and what an update of a member would do (section 6).
//!
//! Owns the observed versions, the availability by region, and R-B7: the order in which a member's
//! conditions are looked at. Does not own windows (they come first and belong to `pick`). Members
//! that are and run the same are of one kind (`kinds`), which is tried once for all of them.

mod flight;
mod kinds;
mod own;
mod patch;

use crate::bits::Bits;
use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, Pool, PowerState, SecurityPatch};
use crate::ids::{Column, FamilyId, Id, KindId, MemberId, RegionId};
use crate::scheduler::auto_upgrade::{SupportCalendar, Target};
use crate::scheduler::plan::Plan;
use crate::scheduler::{NodeImageSelection, Reason, Released, StoppedMembers, Upgrade};
use crate::time::{Span, Timestamp};
pub(super) use kinds::FirstKinds;
use kinds::{Facts, Kinds, ObservedPool, Outlook, Runs};

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
    /// All kinds of members.
    kinds: Kinds,
    /// Of which kind each member is.
    runs: Column<MemberId, Runs>,
    /// Counts the states of things that trials depend on. An outlook of another epoch is void.
    epoch: u64,
    /// From this instant on the epoch is over, whatever happens.
    epoch_ends: Timestamp,
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
    /// The security patch that a profile's run brings, and where it is (A2; `patch`).
    patch: Option<SecurityPatch>,
    patch_regions: Bits,
    /// What an update does: the plan's, or what a profile's run was given.
    upgrade: Upgrade,
    support: Support,
    /// Until when what members run is supported; auto-upgrade looks at it (A5).
    calendar: SupportCalendar,
}

impl Observed {
    pub(super) fn reset(&mut self, plan: &Plan<'_>) {
        let fleet = plan.fleet;
        self.kinds.reset(&plan.kinds);
        self.runs.clone_from(&plan.kinds.of);
        self.known = 0;
        self.regions = fleet.regions.len();
        self.newest.clear();
        self.newest.resize(fleet.regions.len() * fleet.families.len(), None);
        self.kubernetes_regions.reset(fleet.regions.len());
        self.targets.refill(fleet.families.len(), None);
        self.patch = None;
        self.patch_regions.reset(fleet.regions.len());
        self.upgrade = plan.update.upgrade;
        self.support = Support::default();
        if let NodeImageSelection::Custom(images) = &plan.update.node_images {
            for image in images {
                self.targets[image.family] = Some(image.version);
            }
        }
        self.end_epoch();
    }

    /// Something has changed that trials depend on.
    fn end_epoch(&mut self) {
        self.epoch_ends = Timestamp::MIN;
    }

    /// Learns what pools run that are so many versions behind.
    pub(super) fn place(
        &mut self,
        plan: &Plan<'_>,
        behind: (FamilyId, RegionId, u32),
        version: ImageVersion,
    ) {
        self.kinds.place(&plan.kinds, behind, version);
        self.end_epoch();
    }

    /// Learns what a pool of a member runs.
    pub(super) fn observe_pool(&mut self, id: MemberId, pool: usize, version: ImageVersion) {
        self.change(id, |_, pools| pools[pool].version = version);
    }

    /// Learns until when Kubernetes versions are supported.
    pub(super) fn observe_calendar(&mut self, calendar: &SupportCalendar) {
        self.calendar.clone_from(calendar);
        self.end_epoch();
    }

    /// A member is of another kind from now on, which differs in this; an update in flight goes on.
    fn change(&mut self, id: MemberId, change: impl Fn(&mut Facts, &mut Vec<ObservedPool>)) {
        let Runs { now, then } = self.runs[id];
        let now = self.kinds.changed(now, &change);
        let then = self.kinds.changed(then, &change);
        self.runs[id] = Runs { now, then };
    }

    /// Learns that a cluster was stopped, or started (U8).
    pub(super) fn turn(&mut self, id: MemberId, power: PowerState) {
        self.change(id, |facts, _| facts.stopped = power == PowerState::Stopped);
    }

    pub(super) fn observe_support(&mut self, support: Support) {
        self.support = support;
        self.end_epoch();
    }

    /// What an update does from now on.
    pub(super) fn upgrade(&self) -> Upgrade {
        self.upgrade
    }

    /// Takes the target of a profile's run (A2, A4).
    pub(super) fn aim(&mut self, target: &Target) {
        self.end_epoch();
        match target {
            Target::Kubernetes { version, .. } => self.upgrade = Upgrade::Full(*version),
            Target::SecurityPatch(patch) => self.patch = Some(*patch),
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
        self.kinds.adopt_all(&other.kinds);
        self.epoch = self.epoch.max(other.epoch);
        self.runs.clone_from(&other.runs);
        self.runs.iter_mut().for_each(|runs| runs.then = runs.now);
        self.newest.clone_from(&other.newest);
        self.images.clone_from(&other.images);
        self.known = other.known;
        self.end_epoch();
    }

    /// Learns what a member runs from another run over the same fleet.
    pub(super) fn observe_member(&mut self, id: MemberId, other: &Self) {
        let now = self.kinds.equal_to(&other.kinds, other.runs[id].now);
        self.runs[id] = Runs { now, then: now };
    }

    /// Learns a member's Kubernetes version, that of its pools included.
    pub(super) fn observe_kubernetes(&mut self, id: MemberId, version: KubernetesVersion) {
        self.change(id, |facts, pools| {
            facts.kubernetes = Some(version);
            for pool in pools {
                pool.orchestrator = None;
            }
        });
    }

    pub(super) fn add_pool(&mut self, id: MemberId, pool: &Pool, version: ImageVersion) {
        self.change(id, |_, pools| pools.push(ObservedPool::new(pool, version)));
        // A full update in flight takes the new pool along.
        let (upgrade, Runs { now, then }) = (self.upgrade, self.runs[id]);
        if now != then {
            self.runs[id].then = self.kinds.changed(then, |_, pools| keep_up(pools, upgrade));
        }
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
                let news = target && self.kubernetes_regions.insert(region.0);
                if news {
                    self.end_epoch();
                }
                news
            }
            Released::SecurityPatch(patch) => {
                let news = self.patch == Some(patch) && self.patch_regions.insert(region.0);
                if news {
                    self.end_epoch();
                }
                news
            }
            Released::NodeImage(image) => {
                let known = self.know(image, at);
                let published = self.images[known].published;
                self.images[known].regions.insert(region.0);
                let newest = &mut self.newest[image.family.index() * self.regions + region.index()];
                if newest.is_none_or(|newest| newest.version < image.version) {
                    *newest = Some(Newest { version: image.version, published });
                    self.end_epoch();
                }
                let target = self.targets[image.family] == Some(image.version);
                if target {
                    self.end_epoch();
                }
                target
            }
        }
    }

    /// Learns that no region offers a release any more.
    pub(super) fn withdraw(&mut self, what: Released) {
        self.end_epoch();
        match what {
            Released::Kubernetes(version) => {
                if self.upgrade.kubernetes_version() == Some(version) {
                    self.kubernetes_regions.reset(self.regions);
                }
            }
            Released::NodeImage(image) => self.withdraw_image(image),
            Released::SecurityPatch(patch) => {
                if self.patch == Some(patch) {
                    self.patch_regions.reset(self.regions);
                }
            }
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
    pub(super) fn choose_consistent(&mut self, regions: &Column<FamilyId, Bits>) {
        self.end_epoch();
        for (family, regions) in regions.iter_with_ids() {
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

    /// Conditions 2 to 10 of R-B7: what a trial of the member comes to now.
    #[inline]
    pub(super) fn trial(&mut self, plan: &Plan<'_>, id: MemberId, now: Timestamp) -> Trial {
        let kind = self.runs[id].now;
        let Outlook { epoch, trial, .. } = self.kinds.outlook(kind);
        if epoch == self.epoch && now < self.epoch_ends {
            trial
        } else {
            self.look(plan, kind, now)
        }
    }

    /// Works out what a trial of a kind's members comes to, and what an update makes of them.
    #[cold]
    fn look(&mut self, plan: &Plan<'_>, kind: KindId, now: Timestamp) -> Trial {
        if now >= self.epoch_ends {
            self.epoch += 1;
            self.epoch_ends = self.next_expiry(now);
        }
        if plan.profile.is_some()
            && let Some(version) = self.kinds.facts(kind).kubernetes
        {
            let ends = [self.calendar.community_until(version), self.calendar.lts_until(version)];
            let ends = ends.into_iter().flatten().filter(|ends| *ends > now);
            self.epoch_ends = ends.chain([self.epoch_ends]).min().unwrap_or(self.epoch_ends);
        }
        let trial = self.try_all(plan, kind, now);
        let next = if trial == Trial::Start { self.updated(plan, kind) } else { kind };
        self.kinds.set_outlook(kind, Outlook { epoch: self.epoch, trial, next });
        trial
    }

    /// When time alone changes what trials come to: an image expires, or support ends.
    fn next_expiry(&self, now: Timestamp) -> Timestamp {
        let images = self.images[..self.known].iter();
        let expiries = images.map(|known| known.published + IMAGE_VALIDITY + Span::from_millis(1));
        let ends = expiries.chain(self.support.community_until);
        ends.filter(|ends| *ends > now).min().unwrap_or(Timestamp::MAX)
    }

    fn try_all(&self, plan: &Plan<'_>, kind: KindId, now: Timestamp) -> Trial {
        if let Some(patch) = self.patch {
            return self.try_patch(plan, kind, patch, now);
        }
        let (facts, pools) = (self.kinds.facts(kind), self.kinds.pools(kind));
        let (update, region, current) = (plan.update, facts.region, facts.kubernetes);
        let target = self.upgrade.kubernetes_version();
        if target.is_some() && target < current {
            return Trial::Skipped(Reason::TargetVersionOlder);
        }
        let images = !matches!(self.upgrade, Upgrade::ControlPlaneOnly(_));
        let full = matches!(self.upgrade, Upgrade::Full(_));
        let chosen = |pool: &ObservedPool| self.targets[pool.family].is_some();
        if images
            && update.node_images == NodeImageSelection::Consistent
            && !pools.iter().all(chosen)
        {
            return Trial::Skipped(Reason::NodeImageVersionNotFound);
        }
        let behind = |pool: &ObservedPool| pool.orchestrator.is_some_and(|v| Some(v) < target);
        let moves_kubernetes =
            target.is_some() && (current < target || (full && pools.iter().any(behind)));
        let moves_images =
            images && pools.iter().any(|pool| self.image_target(plan, pool, region).is_some());
        if !moves_kubernetes && !moves_images {
            return Trial::Skipped(Reason::AlreadyAtTarget);
        }
        if let Some(refused) = self.refuse(plan, facts, now) {
            return refused;
        }
        if moves_kubernetes && !self.kubernetes_regions.contains(region.0) {
            return Trial::Pending(Reason::KubernetesVersionNotAvailable);
        }
        if moves_images { self.try_images(plan, pools, region, now) } else { Trial::Start }
    }

    /// Conditions 5 to 6b: what a member is fails it, whatever has arrived.
    fn refuse(&self, plan: &Plan<'_>, facts: &Facts, now: Timestamp) -> Option<Trial> {
        let Facts { kubernetes: current, long_term_support, .. } = *facts;
        if facts.stopped {
            return Some(match plan.update.stopped_members {
                StoppedMembers::Fail => Trial::Failed(Reason::MemberStopped),
                StoppedMembers::Skip => Trial::Skipped(Reason::MemberStopped),
            });
        }
        let control_plane_only = matches!(self.upgrade, Upgrade::ControlPlaneOnly(_));
        if facts.node_auto_provisioning && !control_plane_only {
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
            if unsupported && !long_term_support {
                return Some(Trial::Failed(Reason::LongTermSupportRequired));
            }
        }
        // A5: auto-upgrade leaves members alone that are out of their support window.
        let out = plan.profile.is_some()
            && current.is_some_and(|v| self.calendar.is_out(v, long_term_support, now));
        out.then_some(Trial::Skipped(Reason::LongTermSupportRequired))
    }

    /// Conditions 8 and 9: are all images there, and young enough?
    fn try_images(
        &self,
        plan: &Plan<'_>,
        pools: &[ObservedPool],
        region: RegionId,
        now: Timestamp,
    ) -> Trial {
        let mut expired = false;
        for pool in pools {
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

    fn pools_of(&self, id: MemberId) -> &[ObservedPool] {
        self.kinds.pools(self.runs[id].now)
    }

    /// What an update that starts now makes of a kind's members.
    fn updated(&mut self, plan: &Plan<'_>, kind: KindId) -> KindId {
        let (upgrade, region) = (self.upgrade, self.kinds.facts(kind).region);
        let images = !matches!(upgrade, Upgrade::ControlPlaneOnly(_));
        if let Some(patch) = self.patch {
            return self.patched(kind, patch);
        }
        let mut kinds = std::mem::take(&mut self.kinds);
        let next = kinds.changed(kind, |facts, pools| {
            facts.kubernetes = upgrade.kubernetes_version().or(facts.kubernetes);
            bring(pools, |pool| self.image_target(plan, pool, region).filter(|_| images));
            keep_up(pools, upgrade);
        });
        self.kinds = kinds;
        next
    }

    /// The images of a member's pools now, in the pools' order.
    pub(super) fn images_of(&self, id: MemberId) -> impl Iterator<Item = NodeImage> + '_ {
        let image = |pool: &ObservedPool| NodeImage { family: pool.family, version: pool.version };
        self.pools_of(id).iter().map(image)
    }

    #[inline]
    pub(super) fn kind(&self, id: MemberId) -> KindId {
        self.runs[id].now
    }

    pub(super) fn kubernetes_of(&self, id: MemberId) -> Option<KubernetesVersion> {
        self.kinds.facts(self.runs[id].now).kubernetes
    }
}

/// Brings each pool to its target, where there is one.
fn bring(pools: &mut [ObservedPool], target: impl Fn(&ObservedPool) -> Option<ImageVersion>) {
    for pool in pools {
        if let Some(version) = target(pool) {
            (pool.version, pool.from_snapshot) = (version, false);
        }
    }
}

/// A full upgrade leaves no pool behind its member's Kubernetes version (R-I11).
fn keep_up(pools: &mut [ObservedPool], upgrade: Upgrade) {
    if let Upgrade::Full(target) = upgrade {
        for pool in pools.iter_mut().filter(|pool| pool.orchestrator < Some(target)) {
            pool.orchestrator = None;
        }
    }
}
