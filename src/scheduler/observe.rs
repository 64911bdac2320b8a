//! What a driver tells a run besides events: the fleet as it is when the run starts, and what other
//! runs have done since; and what the run knows of it.

use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, SecurityPatch};
use crate::ids::{FamilyId, KindId, MemberId, RegionId};
use crate::scheduler::auto_upgrade::{SupportCalendar, Target};
use crate::scheduler::run::Scheduler;
use crate::scheduler::{Released, State, Support, Upgrade};
use crate::time::Timestamp;

impl Scheduler<'_> {
    /// Learns, before the run starts, that a release reached a region at `at`. Releases must be
    /// told in the order of time.
    pub fn observe_release(&mut self, what: Released, region: RegionId, at: Timestamp) {
        self.observed.observe_release(what, region, at);
    }

    /// Learns, before the run starts, what the nodes of all pools run that are so many versions
    /// behind the newest image of a family in a region ([`PoolImage::Behind`]).
    ///
    /// [`PoolImage::Behind`]: crate::fleet::PoolImage::Behind
    pub fn observe_behind(
        &mut self,
        (family, region): (FamilyId, RegionId),
        versions: u32,
        version: ImageVersion,
    ) {
        self.observed.place(self.plan, (family, region, versions), version);
    }

    /// Learns what the nodes of a pool run of a member that joins.
    pub fn observe_pool(&mut self, member: MemberId, pool: usize, version: ImageVersion) {
        self.observed.observe_pool(member, pool, version);
    }

    /// Learns, before the run starts, until when the target Kubernetes version is supported (U7).
    pub fn observe_support(&mut self, support: Support) {
        self.support_ends = support.community_until;
        self.observed.observe_support(support);
    }

    /// Takes the target of a profile's run, before it starts (A2, A4).
    pub fn aim(&mut self, target: &Target) {
        assert!(self.plan.profile.is_some(), "only runs of profiles are given their target");
        self.observed.aim(target);
    }

    /// Learns, before a profile's run starts, until when Kubernetes versions are supported (A5).
    pub fn observe_calendar(&mut self, calendar: &SupportCalendar) {
        self.observed.observe_calendar(calendar);
    }

    /// Learns, before the run starts, what another run over the same fleet knows: what the members
    /// run, and which node images are where.
    pub fn observe_fleet(&mut self, other: &Scheduler<'_>) {
        self.left.clone_from(&other.left);
        self.observed.observe_fleet(&other.observed);
        self.outages.clone_from(&other.outages);
    }

    /// Learns from another run over the same fleet what a member runs; must not come while this
    /// run updates the member. [`Busy`](super::Event::Busy) follows when that changes what the run
    /// can do.
    pub fn observe_member(&mut self, member: MemberId, other: &Scheduler<'_>) {
        assert!(self.members[member].state() != State::Running, "one work at a time");
        self.observed.observe_member(member, &other.observed);
    }

    /// Learns that a member has got this Kubernetes version, its pools included.
    pub fn observe_kubernetes(&mut self, member: MemberId, version: KubernetesVersion) {
        self.observed.observe_kubernetes(member, version);
    }

    /// What the run does: the plan's upgrade, or, of a profile's run, that to its target.
    pub fn upgrade(&self) -> Upgrade {
        self.observed.upgrade()
    }

    /// Learns, before the run starts, that a region has an outage.
    pub fn observe_outage(&mut self, region: RegionId, begins: bool) {
        if begins {
            self.outages.insert(region.0);
        } else {
            self.outages.remove(region.0);
        }
    }

    /// Learns that a member upgrades itself to the newest images in its region (U10); says whether
    /// there are any that are newer than its own.
    pub fn begin_newest_images(&mut self, member: MemberId) -> bool {
        self.observed.begin_newest_images(member, self.plan.regions[member])
    }

    /// Learns that it has failed: the member runs what it ran.
    pub fn cancel_newest_images(&mut self, member: MemberId) {
        self.observed.cancel_images(member);
    }

    /// Whether a member's cluster is stopped (U8).
    pub fn is_stopped(&self, member: MemberId) -> bool {
        self.observed.is_stopped(member)
    }

    /// Whether a member's region has an outage (W3).
    pub fn has_outage(&self, member: MemberId) -> bool {
        self.outages.contains(self.plan.regions[member].0)
    }

    /// Learns that it has done so.
    pub fn end_newest_images(&mut self, member: MemberId) {
        self.observed.end_images(member);
    }

    /// Of which kind a member is: those of one kind are and run the same, in the same region.
    #[inline]
    pub fn kind(&self, id: MemberId) -> KindId {
        self.observed.kind(id)
    }

    /// The images of a member's pools now, in the pools' order.
    pub fn images(&self, member: MemberId) -> impl Iterator<Item = NodeImage> + '_ {
        self.observed.images_of(member)
    }

    /// What a running update brings to each pool of a member; `None` for pools left alone.
    pub fn planned_images(
        &self,
        member: MemberId,
    ) -> impl Iterator<Item = Option<ImageVersion>> + '_ {
        self.observed.planned_of(member)
    }

    /// Whether a running update moves the Kubernetes version of each pool of a member.
    pub fn planned_kubernetes(&self, member: MemberId) -> impl Iterator<Item = bool> + '_ {
        self.observed.moves_kubernetes_of(member)
    }

    /// A member's Kubernetes version now.
    pub fn kubernetes_version(&self, member: MemberId) -> Option<KubernetesVersion> {
        self.observed.kubernetes_of(member)
    }

    /// The target images of the run: chosen (Consistent, from the run's start) or given (Custom).
    pub fn target_images(&self) -> impl Iterator<Item = NodeImage> + '_ {
        self.observed.targets()
    }

    /// The security patch that the run brings, if it is the run of one (A2).
    pub fn security_patch(&self) -> Option<SecurityPatch> {
        self.observed.patch()
    }

    /// Which of a member's pools lack a security patch.
    pub fn lacks_patch(
        &self,
        member: MemberId,
        patch: SecurityPatch,
    ) -> impl Iterator<Item = bool> + '_ {
        self.observed.lacks(member, patch)
    }

    /// The last security patch of each of a member's pools, where one went in beside its image.
    pub fn security_patches(
        &self,
        member: MemberId,
    ) -> impl Iterator<Item = Option<SecurityPatch>> + '_ {
        self.observed.security_of(member)
    }

    /// Which pools of a member a running update brings a security patch.
    pub fn planned_patches(&self, member: MemberId) -> impl Iterator<Item = bool> + '_ {
        self.observed.patches_of(member)
    }

    /// Whether there are images in a member's region that are newer than its own.
    pub fn has_newer_images(&self, member: MemberId) -> bool {
        self.observed.has_newer_images(member, self.plan.regions[member])
    }
}
