//! Auto-upgrade profiles: which target a profile has, and which update runs it makes (section 8).
//!
//! Pure: a [`Catalog`] holds what has been released, [`Profile::target`] says what a profile aims
//! at, [`Made`] remembers the runs that it made. The driver creates the runs, and drives them like
//! any other.

use std::fmt;

use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, SecurityPatch, support};
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
    /// New security patches, for Linux pools; Windows pools are left alone.
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
    pub const fn back(self, steps: u16) -> Option<Self> {
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
    /// Security patches of Linux nodes, ascending.
    patches: Vec<SecurityPatch>,
}

impl Catalog {
    /// Nothing is released yet, of so many families.
    pub fn reset(&mut self, families: usize) {
        self.kubernetes.clear();
        self.patches.clear();
        self.images.refill(families, None);
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
            Released::SecurityPatch(patch) => {
                if let Err(place) = self.patches.binary_search(&patch) {
                    self.patches.insert(place, patch);
                }
            }
        }
    }

    /// Learns that a release is offered no more.
    pub fn withdraw(&mut self, what: Released, images: impl IntoIterator<Item = NodeImage>) {
        match what {
            Released::Kubernetes(version) => self.kubernetes.retain(|other| *other != version),
            Released::SecurityPatch(patch) => self.patches.retain(|other| *other != patch),
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
    /// A security patch of Linux pools (A2).
    SecurityPatch(SecurityPatch),
}

impl Target {
    /// Whether a release is one of those that lead up to this target: of an image's family.
    pub fn follows(&self, what: Released) -> bool {
        match (self, what) {
            (Self::NodeImages(images), Released::NodeImage(image)) => {
                images.iter().any(|other| other.family == image.family)
            }
            (Self::SecurityPatch(_), Released::SecurityPatch(_)) => true,
            _ => false,
        }
    }

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
            Self::SecurityPatch(patch) => write!(f, "{patch}"),
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
            Channel::NodeImage => images(released),
            Channel::SecurityPatch => released.patches.last().copied().map(Target::SecurityPatch),
        }
    }

    /// The name of the run with this target: `PROFILE-TARGET` (A3).
    pub fn run_name(&self, target: &Target) -> String {
        format!("{}-{target}", self.name)
    }
}

fn images(released: &Catalog) -> Option<Target> {
    let newest = released.images.iter_with_ids();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::{GroupOrder, Restart, StoppedMembers};
    use crate::time::Span;

    const LINUX: FamilyId = FamilyId(0);
    const WINDOWS: FamilyId = FamilyId(1);
    const ARM: FamilyId = FamilyId(2);

    fn version(text: &str) -> KubernetesVersion {
        text.parse().unwrap()
    }

    fn image(family: FamilyId, version: &str) -> NodeImage {
        NodeImage { family, version: version.parse().unwrap() }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn profile(channel: Channel) -> Profile {
        Profile {
            name: "auto".to_owned(),
            channel,
            strategy: Strategy { name: "one-by-one".to_owned(), stages: vec![] },
            disabled: false,
            update: Update {
                upgrade: channel.upgrade(),
                node_images: channel.node_images(NodeImageSelection::Latest),
                stopped_members: StoppedMembers::default(),
                restart: Restart::default(),
                poll_interval: Span::HOUR,
                group_order: GroupOrder::default(),
            },
        }
    }

    fn catalog(kubernetes: &[&str], images: &[NodeImage]) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.reset(3);
        for text in kubernetes {
            catalog.add(Released::Kubernetes(version(text)));
        }
        for image in images {
            catalog.add(Released::NodeImage(*image));
        }
        catalog
    }

    /// What a channel aims at on 2026-03-02.
    fn target(channel: Channel, released: &Catalog) -> Option<Target> {
        profile(channel).target(released, &SupportCalendar::default(), at("2026-03-02T00:00:00Z"))
    }

    fn named(channel: Channel, kubernetes: &[&str]) -> Option<String> {
        target(channel, &catalog(kubernetes, &[])).map(|target| target.to_string())
    }

    fn minor(minor: u16, long_term_support: bool) -> Channel {
        let minor = Minor { major: 1, minor };
        Channel::TargetKubernetesVersion { minor, long_term_support }
    }

    #[test]
    fn a2_rapid_takes_the_newest_patch_of_the_newest_minor() {
        assert_eq!(named(Channel::Rapid, &["1.33.9", "1.33.10", "1.32.11"]).unwrap(), "1.33.10");
        assert_eq!(named(Channel::Rapid, &[]), None);
    }

    #[test]
    fn a2_stable_takes_the_newest_patch_of_the_minor_before() {
        let released = ["1.17.9", "1.18.4", "1.18.6", "1.19.1"];
        assert_eq!(named(Channel::Stable, &released).unwrap(), "1.18.6");
        assert_eq!(named(Channel::Stable, &["1.19.1"]), None, "nothing of 1.18 is released");
        assert_eq!(named(Channel::Stable, &["1.17.9", "1.19.1"]), None, "N-1 is 1.18, not 1.17");
    }

    #[test]
    fn a2_both_move_when_a_new_minor_arrives() {
        let mut released = vec!["1.32.7", "1.33.4"];
        let both =
            |released: &[&str]| (named(Channel::Rapid, released), named(Channel::Stable, released));
        assert_eq!(both(&released), (Some("1.33.4".into()), Some("1.32.7".into())));
        released.push("1.34.0");
        assert_eq!(both(&released), (Some("1.34.0".into()), Some("1.33.4".into())));
    }

    #[test]
    fn a2_a_target_minor_gets_its_patches_and_nothing_beyond() {
        let released = ["1.30.4", "1.30.5", "1.31.0", "1.32.1"];
        assert_eq!(named(minor(30, false), &released).unwrap(), "1.30.5");
        assert_eq!(named(minor(33, false), &released), None, "not released");
    }

    #[test]
    fn a2_a4_node_images_are_the_newest_released_one_a_family() {
        let images = [
            image(LINUX, "202602.13.0"),
            image(WINDOWS, "20348.4648.260112"),
            image(LINUX, "202603.02.0"),
        ];
        let released = catalog(&["1.33.4"], &images);
        let both = Target::NodeImages(vec![images[2], images[1]]);
        assert_eq!(target(Channel::NodeImage, &released), Some(both));
        assert_eq!(target(Channel::NodeImage, &catalog(&["1.33.4"], &[])), None);
    }

    #[test]
    fn a2_the_newest_security_patch_is_a_target_of_its_own_channel() {
        let images = [image(LINUX, "202603.02.0"), image(WINDOWS, "20348.4648.260112")];
        let mut released = catalog(&["1.33.4"], &images);
        assert_eq!(target(Channel::SecurityPatch, &released), None, "images are not patches");
        let patches = ["2026.02.25", "2026.02.18"].map(|text| text.parse().unwrap());
        for patch in patches {
            released.add(Released::SecurityPatch(patch));
        }
        let newest = target(Channel::SecurityPatch, &released).unwrap();
        assert_eq!(newest, Target::SecurityPatch(patches[0]));
        assert_eq!(profile(Channel::SecurityPatch).run_name(&newest), "auto-2026.02.25");
        assert_eq!(
            target(Channel::NodeImage, &released),
            target(Channel::NodeImage, &catalog(&[], &images))
        );
        released.withdraw(Released::SecurityPatch(patches[0]), []);
        assert_eq!(
            target(Channel::SecurityPatch, &released),
            Some(Target::SecurityPatch(patches[1]))
        );
    }

    #[test]
    fn a3_only_a_change_of_the_target_makes_a_run_and_the_same_target_no_second_one() {
        let mut made = Made::default();
        let rules = profile(Channel::Rapid);
        let aims = |made: &mut Made, text: &str| {
            let target = target(Channel::Rapid, &catalog(&[text], &[]));
            made.on_release(&rules, target).map(|target| rules.run_name(&target))
        };
        made.reset(target(Channel::Rapid, &catalog(&["1.33.3"], &[])));
        assert_eq!(aims(&mut made, "1.33.3"), None, "it was there before");
        assert_eq!(aims(&mut made, "1.33.4").unwrap(), "auto-1.33.4");
        assert_eq!(aims(&mut made, "1.33.4"), None);
        assert_eq!(aims(&mut made, "1.34.0").unwrap(), "auto-1.34.0");
        made.on_withdrawal(target(Channel::Rapid, &catalog(&["1.33.4"], &[])));
        assert_eq!(aims(&mut made, "1.34.0"), None, "it has its run");
        assert_eq!(made.on_release(&rules, None), None);
    }

    #[test]
    fn a3_a_disabled_profile_makes_no_runs_and_follows_what_is_released() {
        let mut rules = profile(Channel::Rapid);
        rules.disabled = true;
        let mut made = Made::default();
        let aim = |text: &str| target(Channel::Rapid, &catalog(&[text], &[]));
        made.reset(aim("1.33.3"));
        assert_eq!(made.on_release(&rules, aim("1.33.4")), None);
        rules.disabled = false;
        assert_eq!(made.on_release(&rules, aim("1.33.4")), None, "that was no change any more");
        assert_eq!(made.on_release(&rules, aim("1.33.5")), aim("1.33.5"));
    }

    #[test]
    fn a3_the_name_of_a_run_says_what_it_brings() {
        let rules = profile(Channel::NodeImage);
        let name = |images: &[NodeImage]| rules.run_name(&Target::NodeImages(images.to_vec()));
        let (linux, arm) = (image(LINUX, "202603.02.0"), image(ARM, "202603.02.0"));
        assert_eq!(name(&[linux]), "auto-202603.02.0");
        assert_eq!(name(&[linux, arm]), "auto-202603.02.0", "each version once");
        let windows = image(WINDOWS, "20348.4648.260112");
        assert_eq!(name(&[linux, windows, arm]), "auto-202603.02.0-20348.4648.260112");
    }

    #[test]
    fn a5_a_member_is_in_its_support_window_until_it_ends() {
        let mut calendar = SupportCalendar::default();
        let (one, two) = (at("2026-04-01T00:00:00Z"), at("2027-04-01T00:00:00Z"));
        calendar.say(version("1.40.0"), Some(one), Some(two));
        let second = Span::SECOND;
        let is_out = |lts, now| calendar.is_out(version("1.40.0"), lts, now);
        assert!(!is_out(false, one - second) && is_out(false, one));
        assert!(!is_out(true, one) && !is_out(true, two - second) && is_out(true, two));
        assert!(!calendar.is_out(version("1.99.0"), false, two), "nothing is known of it");
        // The table: 1.22 was supported through 2022, and had no long-term support.
        let after = at("2023-01-01T00:00:00Z");
        assert!(calendar.is_out(version("1.22.6"), false, after));
        assert!(!calendar.is_out(version("1.22.6"), false, after - second));
    }

    #[test]
    fn a6_an_old_minor_goes_on_with_long_term_support_alone() {
        let released = ["1.30.5", "1.31.9", "1.32.6"];
        assert_eq!(named(minor(30, false), &released).unwrap(), "1.30.5", "N-2 is not old");
        let released = ["1.30.5", "1.31.9", "1.32.6", "1.33.0"];
        assert_eq!(named(minor(30, false), &released), None);
        let found = target(minor(30, true), &catalog(&released, &[])).unwrap();
        let lts = Target::Kubernetes { version: version("1.30.5"), long_term_support: true };
        assert_eq!(found, lts);
        let mut calendar = SupportCalendar::default();
        calendar.say(version("1.30.5"), None, Some(at("2026-03-02T00:00:00Z")));
        let rules = profile(minor(30, true));
        let released = catalog(&released, &[]);
        let found = |now| rules.target(&released, &calendar, at(now));
        assert_eq!(found("2026-03-01T23:59:59Z"), Some(lts));
        assert_eq!(found("2026-03-02T00:00:00Z"), None, "long-term support ends, too");
    }

    #[test]
    fn a8_a_run_is_generated_once() {
        let mut made = Made::default();
        let rules = profile(Channel::Rapid);
        let aim = |text: &str| target(Channel::Rapid, &catalog(&[text], &[]));
        made.reset(aim("1.33.3"));
        let now = aim("1.33.3").unwrap();
        assert_eq!(made.generate(&now), Some(now.clone()), "even if nothing has changed");
        assert_eq!(made.generate(&now), None);
        assert_eq!(made.on_release(&rules, aim("1.33.4")), aim("1.33.4"));
        assert_eq!(made.generate(&aim("1.33.4").unwrap()), None, "the release has made it");
    }

    #[test]
    fn w1_what_is_withdrawn_is_aimed_at_no_more() {
        let (old, new) = (image(LINUX, "202602.13.0"), image(LINUX, "202603.02.0"));
        let mut released = catalog(&["1.33.3", "1.33.4"], &[old, new]);
        released.withdraw(Released::NodeImage(new), [old]);
        assert_eq!(target(Channel::NodeImage, &released), Some(Target::NodeImages(vec![old])));
        released.withdraw(Released::Kubernetes(version("1.33.4")), []);
        assert_eq!(target(Channel::Rapid, &released).unwrap().to_string(), "1.33.3");
    }
}
