//! Auto-upgrade profiles: which target a profile has, and which update runs it makes (section 8).
//!
//! Pure: a [`Catalog`] holds what has been released, [`Profile::target`] says what a profile aims
//! at, [`Made`] remembers the runs that it made. The driver creates the runs, and drives them like
//! any other.

use std::fmt;

use crate::bits::Bits;
use crate::fleet::{Fleet, ImageVersion, KubernetesVersion, NodeImage, OsType, support};
use crate::ids::{Column, FamilyId};
use crate::scheduler::{NodeImageSelection, Released, Strategy, Update, Upgrade};
use crate::time::Timestamp;

/// An auto-upgrade profile (A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name; the names of its runs begin with it.
    pub name: String,
    /// What it follows.
    pub channel: Channel,
    /// The strategy of its runs, copied (S9); without stages: one by one.
    pub strategy: Strategy,
    /// A disabled profile makes no runs by itself (A3).
    pub disabled: bool,
    /// What its runs do, but for the target.
    pub update: Update,
}

/// `channel` of a profile (A1, A2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// The newest patch of the newest generally available minor N.
    Rapid,
    /// The newest patch of N − 1.
    Stable,
    /// The newest patch of one minor, never beyond.
    TargetKubernetesVersion {
        /// `targetKubernetesVersion`.
        minor: Minor,
        /// `longTermSupport`: goes on when the minor is older than N − 2 (A6).
        long_term_support: bool,
    },
    /// New node images.
    NodeImage,
    /// New images of Linux pools; Windows pools are left alone.
    SecurityPatch,
}

impl Channel {
    /// The API's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rapid => "Rapid",
            Self::Stable => "Stable",
            Self::TargetKubernetesVersion { .. } => "TargetKubernetesVersion",
            Self::NodeImage => "NodeImage",
            Self::SecurityPatch => "SecurityPatch",
        }
    }

    /// Whether its runs bring a Kubernetes version.
    pub const fn is_kubernetes(self) -> bool {
        matches!(self, Self::Rapid | Self::Stable | Self::TargetKubernetesVersion { .. })
    }

    /// What the runs of the channel do, before they have a target: nothing.
    pub fn upgrade(self) -> Upgrade {
        let nothing = KubernetesVersion { major: 0, minor: 0, patch: 0 };
        if self.is_kubernetes() { Upgrade::Full(nothing) } else { Upgrade::NodeImageOnly }
    }

    /// Which images its runs bring: those of Kubernetes channels choose, those of image channels
    /// are given theirs (A4).
    pub fn node_images(self, chosen: NodeImageSelection) -> NodeImageSelection {
        if self.is_kubernetes() { chosen } else { NodeImageSelection::Custom(Vec::new()) }
    }
}

/// A Kubernetes minor, such as 1.33.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the parts name themselves")]
pub struct Minor {
    pub major: u16,
    pub minor: u16,
}

impl Minor {
    /// The minor of a version.
    pub const fn of(version: KubernetesVersion) -> Self {
        Self { major: version.major, minor: version.minor }
    }

    /// The minor this many before; `None`: there is none of that major version.
    const fn back(self, steps: u16) -> Option<Self> {
        match self.minor.checked_sub(steps) {
            Some(minor) => Some(Self { minor, ..self }),
            None => None,
        }
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Until when Kubernetes versions are supported (R-I12): what the driver says, else the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SupportCalendar {
    /// Version, end of community support, end of long-term support.
    said: Vec<(KubernetesVersion, Option<Timestamp>, Option<Timestamp>)>,
}

impl SupportCalendar {
    /// Back to the table.
    pub fn clear(&mut self) {
        self.said.clear();
    }

    /// Puts what is said of a version above the table.
    pub fn say(
        &mut self,
        version: KubernetesVersion,
        community: Option<Timestamp>,
        lts: Option<Timestamp>,
    ) {
        self.said.push((version, community, lts));
    }

    fn said(&self, version: KubernetesVersion) -> (Option<Timestamp>, Option<Timestamp>) {
        let said = self.said.iter().find(|(other, ..)| *other == version);
        said.map_or((None, None), |(_, community, lts)| (*community, *lts))
    }

    /// The first instant without community support; `None`: none is known.
    pub fn community_until(&self, version: KubernetesVersion) -> Option<Timestamp> {
        self.said(version).0.or_else(|| support::community_support_ends(version))
    }

    /// The first instant without long-term support; `None`: none is known.
    pub fn lts_until(&self, version: KubernetesVersion) -> Option<Timestamp> {
        self.said(version).1.or_else(|| support::lts_ends(version))
    }

    /// Whether a member that runs this version is out of its support window (A5).
    pub fn is_out(&self, version: KubernetesVersion, lts: bool, now: Timestamp) -> bool {
        let community = self.community_until(version).is_some_and(|until| now >= until);
        community && !(lts && self.lts_until(version).is_none_or(|until| now < until))
    }
}

/// What has been released anywhere so far.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Generally available versions, ascending; previews are no targets (A3).
    kubernetes: Vec<KubernetesVersion>,
    /// The newest image of each family.
    images: Column<FamilyId, Option<ImageVersion>>,
    /// Families of Linux pools.
    linux: Bits,
}

impl Catalog {
    /// Nothing is released yet, for this fleet.
    pub fn reset(&mut self, fleet: &Fleet) {
        self.kubernetes.clear();
        self.images.refill(fleet.families.len(), None);
        self.linux.reset(fleet.families.len());
        let pools = fleet.members.iter().flat_map(|member| &member.pools);
        for pool in pools.filter(|pool| pool.os_type == OsType::Linux) {
            self.linux.insert(pool.image.family().0);
        }
    }

    /// Learns of a release that is generally available.
    pub fn add(&mut self, what: Released) {
        match what {
            Released::Kubernetes(version) => {
                if let Err(place) = self.kubernetes.binary_search(&version) {
                    self.kubernetes.insert(place, version);
                }
            }
            Released::NodeImage(image) => {
                let newest = &mut self.images[image.family];
                *newest = (*newest).max(Some(image.version));
            }
        }
    }

    /// Learns that a release is offered no more.
    pub fn withdraw(&mut self, what: Released, images: impl IntoIterator<Item = NodeImage>) {
        match what {
            Released::Kubernetes(version) => self.kubernetes.retain(|other| *other != version),
            Released::NodeImage(image) => {
                if self.images[image.family] == Some(image.version) {
                    let others = images.into_iter().filter(|other| other.family == image.family);
                    self.images[image.family] = others.map(|other| other.version).max();
                }
            }
        }
    }

    /// The newest minor, N (A2).
    pub fn newest_minor(&self) -> Option<Minor> {
        self.kubernetes.last().copied().map(Minor::of)
    }

    /// The newest patch of a minor.
    pub fn newest_patch(&self, minor: Minor) -> Option<KubernetesVersion> {
        self.kubernetes.iter().rfind(|version| Minor::of(**version) == minor).copied()
    }

    /// The newest version of a family.
    pub fn newest_image(&self, family: FamilyId) -> Option<ImageVersion> {
        self.images[family]
    }
}

/// What a run of a profile aims at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A Kubernetes version; with `long_term_support`, members need it (A6).
    #[expect(missing_docs, reason = "said above")]
    Kubernetes { version: KubernetesVersion, long_term_support: bool },
    /// The released images, one a family, by family (A4).
    NodeImages(Vec<NodeImage>),
}

impl Target {
    /// Whether two targets bring the same.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Kubernetes { version, .. }, Self::Kubernetes { version: other, .. }) => {
                version == other
            }
            _ => self == other,
        }
    }
}

/// As in the names of runs: the version; of images, each different version once, in the order of
/// the families. Newest images only rise, so different targets have different names.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kubernetes { version, .. } => write!(f, "{version}"),
            Self::NodeImages(images) => {
                for (position, image) in images.iter().enumerate() {
                    let before = &images[..position];
                    if before.iter().any(|other| other.version == image.version) {
                        continue;
                    }
                    let gap = if position > 0 { "-" } else { "" };
                    write!(f, "{gap}{}", image.version)?;
                }
                Ok(())
            }
        }
    }
}

impl Profile {
    /// What the profile aims at, with what has been released by now; `None`: nothing (A2, A6).
    pub fn target(
        &self,
        released: &Catalog,
        calendar: &SupportCalendar,
        now: Timestamp,
    ) -> Option<Target> {
        let plain = |version| Target::Kubernetes { version, long_term_support: false };
        match self.channel {
            Channel::Rapid => released.newest_patch(released.newest_minor()?).map(plain),
            Channel::Stable => released.newest_patch(released.newest_minor()?.back(1)?).map(plain),
            Channel::TargetKubernetesVersion { minor, long_term_support } => {
                let version = released.newest_patch(minor)?;
                let newest = released.newest_minor()?;
                let old = newest.back(2).is_some_and(|oldest| minor < oldest);
                if !old {
                    return Some(plain(version));
                }
                let over = calendar.lts_until(version).is_some_and(|until| now >= until);
                (long_term_support && !over)
                    .then_some(Target::Kubernetes { version, long_term_support })
            }
            Channel::NodeImage => images(released, |_| true),
            Channel::SecurityPatch => images(released, |family| released.linux.contains(family.0)),
        }
    }

    /// The name of the run with this target: `PROFILE-TARGET` (A3).
    pub fn run_name(&self, target: &Target) -> String {
        format!("{}-{target}", self.name)
    }
}

fn images(released: &Catalog, takes: impl Fn(FamilyId) -> bool) -> Option<Target> {
    let newest = released.images.iter_with_ids().filter(|(family, _)| takes(*family));
    let images: Vec<NodeImage> = newest
        .filter_map(|(family, version)| version.map(|version| NodeImage { family, version }))
        .collect();
    (!images.is_empty()).then_some(Target::NodeImages(images))
}

/// What a profile has made so far.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// What it aimed at when it was last looked at.
    current: Option<Target>,
    /// The targets of its runs.
    targets: Vec<Target>,
}

impl Made {
    /// Nothing yet. What has been released before the profile is first looked at makes no run: only
    /// a change of its target does (A3).
    pub fn reset(&mut self, current: Option<Target>) {
        self.current = current;
        self.targets.clear();
    }

    /// The profile's target may have changed: the target of the run that it creates and starts, if
    /// it does (A3). A target that has a run gets no second one; a disabled profile makes none.
    pub fn on_release(&mut self, profile: &Profile, target: Option<Target>) -> Option<Target> {
        let target = target?;
        let same = self.current.as_ref().is_some_and(|current| current.is_same(&target));
        self.current = Some(target);
        let target = self.current.as_ref().filter(|_| !same && !profile.disabled)?;
        self.make(&target.clone())
    }

    /// A release was withdrawn: what the profile aims at may be older now, which makes no run.
    pub fn on_withdrawal(&mut self, target: Option<Target>) {
        self.current = target.or(self.current.take());
    }

    /// Somebody asks for the profile's run (A8): the target of the run that is created, without
    /// being started; `None`: there is one already, and it stays as it is.
    pub fn generate(&mut self, target: &Target) -> Option<Target> {
        self.make(target)
    }

    fn make(&mut self, target: &Target) -> Option<Target> {
        if self.targets.iter().any(|made| made.is_same(target)) {
            return None;
        }
        self.targets.push(target.clone());
        Some(target.clone())
    }
}
