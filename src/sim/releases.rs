//! Releases: what is published when, and when it reaches each region (W1, W2).
//!
//! Owns what one replication gets ([`Arrivals`]) and where it comes from ([`Releases`]): the
//! script, the recorded history, or the models ([`train`] for node images, [`kubernetes`] for
//! Kubernetes versions). Does not own what anybody aims at: that is the scheduler's.

pub mod forecast;
pub mod history;
pub mod kubernetes;
#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
mod testing;
pub mod train;

use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, support};
use crate::ids::{FamilyId, Id as _, RegionId};
use crate::quantiles::Quantiles;
use crate::scheduler::{NodeImageSelection, Released, Support};
use crate::sim::draw::{Luck, Purpose, Sequence, happens};
use crate::sim::model::{Mishap, ReleaseModel, Setting};
use crate::sim::script::ScriptedRelease;
use crate::time::{Span, Timestamp};
use kubernetes::Kubernetes;
use train::{Train, families_of};

/// Something that was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// What it is.
    pub what: Released,
    /// Its earliest arrival anywhere, whether or not the fleet is there (R-I8).
    pub published: Timestamp,
    /// From when on it is offered nowhere any more (W1); never: [`Timestamp::MAX`].
    pub withdrawn: Timestamp,
    /// How far a Kubernetes version has come in its life; `None` for images.
    pub lifecycle: Option<Lifecycle>,
}

/// The dates in the life of a Kubernetes version: those of its minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// From when on it is generally available: a preview before (A2, A3).
    pub general_from: Timestamp,
    /// The first instant out of community support (U7); never: [`Timestamp::MAX`].
    pub community_until: Timestamp,
    /// The first instant out of long-term support; never: [`Timestamp::MAX`].
    pub lts_until: Timestamp,
}

/// A release reaches a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Timestamp,
    /// Where.
    pub region: RegionId,
    /// What: a position in [`Arrivals::releases`].
    pub release: u32,
}

/// Something becomes known about a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct News {
    /// When.
    pub at: Timestamp,
    /// About what: a position in [`Arrivals::releases`].
    pub release: u32,
    /// What.
    pub what: Turn,
}

/// A turn in the life of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// It is published: an image, or a Kubernetes version, perhaps as a preview.
    Published,
    /// A Kubernetes version that was a preview is generally available.
    General,
    /// It is withdrawn everywhere.
    Withdrawn,
    /// Its community support ends (U7).
    Unsupported,
}

/// What one replication gets. Reusable: a second draw into the same value allocates nothing once
/// it is large enough.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    /// All releases: images by family, then version; then Kubernetes versions, then the security
    /// patches of Linux nodes, for those who follow them ([`Wants::security_patches`]).
    pub releases: Vec<Release>,
    /// All arrivals up to the end, by instant, release and region.
    pub arrivals: Vec<Arrival>,
    /// All that becomes known up to the end, by instant and release. Filled for those who follow
    /// releases ([`Wants::news`]), and as far as something is withdrawn.
    pub news: Vec<News>,
    /// When each release reaches each region, a row a release; never: [`Timestamp::MAX`].
    reached: Vec<Timestamp>,
    regions: usize,
    /// Scratch of the train and of the Kubernetes versions.
    train: [train::Scratch; train::LINES],
    kubernetes: kubernetes::Scratch,
}

impl Arrival {
    /// By instant, release, region; one number sorts faster than three.
    fn key(&self) -> i128 {
        let what = u64::from(self.release) << 32 | u64::from(self.region.0);
        i128::from(self.at.as_millis()) << 64 | i128::from(what)
    }
}

impl Release {
    /// The image, if it is one.
    pub const fn image(&self) -> Option<NodeImage> {
        match self.what {
            Released::NodeImage(image) => Some(image),
            Released::Kubernetes(_) | Released::SecurityPatch(_) => None,
        }
    }

    /// What becomes known of it, and when.
    fn turns(&self) -> impl Iterator<Item = (Turn, Timestamp)> {
        let life = self.lifecycle;
        let general = life.map_or(Timestamp::MAX, |life| life.general_from);
        let general = if general > self.published { general } else { Timestamp::MAX };
        let unsupported = life.map_or(Timestamp::MAX, |life| life.community_until);
        [
            (Turn::Published, self.published),
            (Turn::General, general),
            (Turn::Withdrawn, self.withdrawn),
            (Turn::Unsupported, unsupported),
        ]
        .into_iter()
    }
}

impl Arrivals {
    /// When a release reaches a region, if it does before the end.
    pub fn reached(&self, release: u32, region: RegionId) -> Option<Timestamp> {
        let at = self.reached[release as usize * self.regions + region.index()];
        (at < Timestamp::MAX).then_some(at)
    }

    /// The position of a release.
    pub fn find(&self, what: Released) -> Option<u32> {
        let found = self.releases.binary_search_by_key(&what, |release| release.what).ok()?;
        Some(u32::try_from(found).expect("releases are few"))
    }

    /// The version `behind` versions behind the newest of its family that is in the region at
    /// this instant; the oldest there if there are fewer. `None`: there is none.
    pub fn newest_at(
        &self,
        family: FamilyId,
        region: RegionId,
        at: Timestamp,
        behind: u32,
    ) -> Option<ImageVersion> {
        let up_to_family = |release: &Release| release.image().is_some_and(|i| i.family <= family);
        let end = self.releases.partition_point(up_to_family);
        let (mut found, mut left) = (None, behind);
        for number in (0..end).rev() {
            let release = &self.releases[number];
            let Some(image) = release.image().filter(|image| image.family == family) else { break };
            if self.reached[number * self.regions + region.index()] <= at && at < release.withdrawn
            {
                found = Some(image.version);
                if left == 0 {
                    break;
                }
                left -= 1;
            }
        }
        found
    }

    fn clear(&mut self, regions: usize) {
        self.releases.clear();
        self.arrivals.clear();
        self.news.clear();
        self.reached.clear();
        self.regions = regions;
    }

    /// Adds a release with its arrival in each region, in the regions' order; those after `end`,
    /// and those after it was withdrawn, never come.
    fn push(&mut self, release: Release, at: impl Iterator<Item = Timestamp>, end: Timestamp) {
        let number = u32::try_from(self.releases.len()).expect("releases are few");
        self.releases.push(release);
        for (region, at) in (0..).zip(at) {
            if at <= end && at < release.withdrawn {
                self.arrivals.push(Arrival { at, region: RegionId(region), release: number });
                self.reached.push(at);
            } else {
                self.reached.push(Timestamp::MAX);
            }
        }
    }

    /// Puts arrivals and news in the order of time.
    fn finish(&mut self, wants: Wants, end: Timestamp) {
        self.arrivals.sort_unstable_by_key(Arrival::key);
        for (release, number) in self.releases.iter().zip(0..) {
            if wants.news || release.withdrawn <= end {
                let turns = release.turns().filter(|(_, at)| *at <= end);
                self.news.extend(turns.map(|(what, at)| News { at, release: number, what }));
            }
        }
        self.news.sort_unstable();
    }
}

/// Something that happens to a release with some probability, some time after something.
#[derive(Debug, Clone)]
struct Chance {
    probability: f64,
    after: Quantiles,
}

impl Chance {
    fn new(mishap: &Mishap) -> Self {
        Self { probability: mishap.probability, after: Quantiles::new(&mishap.after) }
    }

    /// After how long it happens to each of so many, if it does; to none without a chance.
    fn fill(
        chance: Option<&Self>,
        mut sequences: [Sequence; 2],
        number: usize,
        into: &mut Vec<Option<Span>>,
    ) {
        into.clear();
        if let Some(chance) = chance {
            into.extend((0..number).map(|_| chance.draw(&mut sequences)));
        }
    }

    /// The same at a single place: its line and index.
    fn at(
        &self,
        luck: &Luck,
        replication: u32,
        [whether, after]: [Purpose; 2],
        (line, index): (u16, u32),
    ) -> Option<Span> {
        let sequence = |purpose| {
            let mut sequence = luck.sequence(replication, purpose, line);
            sequence.seek(index);
            sequence
        };
        self.draw(&mut [sequence(whether), sequence(after)])
    }

    /// After how long it happens, if it does. Both numbers are drawn, whether needed or not.
    fn draw(&self, [whether, after]: &mut [Sequence; 2]) -> Option<Span> {
        let (whether, after) = (whether.draw(), after.draw());
        let after = Span::from_millis(self.after.millis(after, 0));
        happens(whether, self.probability).then_some(after)
    }
}

/// Who follows releases: nothing is drawn that nobody looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// Somebody follows Kubernetes versions beyond the update's target.
    pub kubernetes: bool,
    /// Somebody follows the security patches of Linux nodes.
    pub security_patches: bool,
    /// Somebody follows what becomes known ([`Arrivals::news`]).
    pub news: bool,
}

/// Where the releases of a scenario come from, ready to be drawn from.
#[derive(Debug, Clone)]
pub enum Releases {
    /// The same in every replication: the script's, those on record, or what is there when models
    /// are off.
    Fixed(Box<Arrivals>),
    /// The models, drawn anew in each replication.
    Drawn(Box<Drawn>),
}

/// The models of releases.
#[derive(Debug, Clone)]
pub struct Drawn {
    train: Train,
    kubernetes: Option<Kubernetes>,
    wants: Wants,
}

impl Releases {
    /// The releases of a setting, as far as somebody looks at them.
    pub fn new(setting: Setting<'_>, wants: Wants) -> Self {
        let (start, end) = (setting.start, setting.start + setting.horizon);
        let target = setting.update.upgrade.kubernetes_version();
        if let Some(scripted) = &setting.script.releases {
            return Self::Fixed(Box::new(of_script(setting, scripted, wants)));
        }
        if setting.world.releases == ReleaseModel::Off {
            return Self::Fixed(Box::new(everywhere(setting, target)));
        }
        if let ReleaseModel::History(until) = setting.world.releases {
            return Self::Fixed(Box::new(history::replay(setting, until, wants)));
        }
        let families = families_of(setting);
        let mishaps = &setting.world.mishaps;
        let train = Train::new(&families, &setting.fleet.regions, start, end).with(mishaps);
        let train = if wants.security_patches { train.with_security_patches() } else { train };
        let wanted = wants.kubernetes || target.is_some();
        let only = target.filter(|_| !wants.kubernetes);
        let kubernetes =
            wanted.then(|| Kubernetes::new(&setting.fleet.regions, start, end, only).with(mishaps));
        Self::Drawn(Box::new(Drawn { train, kubernetes, wants }))
    }

    /// The same, without drawn image versions that runs of this fleet cannot come to any more,
    /// where nobody looks back at them ([`Train::for_runs_from`]).
    #[must_use]
    pub fn for_runs(mut self, setting: Setting<'_>) -> Self {
        let named = matches!(setting.update.node_images, NodeImageSelection::Custom(_));
        if let Self::Drawn(drawn) = &mut self
            && !drawn.wants.news
            && !named
        {
            drawn.train = drawn.train.clone().for_runs_from(setting);
        }
        self
    }

    /// What every replication gets, if all get the same.
    pub fn fixed(&self) -> Option<&Arrivals> {
        match self {
            Self::Fixed(arrivals) => Some(arrivals),
            Self::Drawn(_) => None,
        }
    }

    /// Draws one replication's releases; nothing if they are [`Self::fixed`].
    pub fn draw(&self, luck: &Luck, replication: u32, into: &mut Arrivals) {
        let Self::Drawn(drawn) = self else { return };
        let Drawn { train, kubernetes, wants } = &**drawn;
        train.draw(luck, replication, into);
        if let Some(kubernetes) = kubernetes {
            kubernetes.draw(luck, replication, into);
        }
        train.draw_patches(luck, replication, into);
        into.finish(*wants, train.end);
    }
}

impl Lifecycle {
    /// The calendar's dates of this version (R-I12).
    pub fn of(version: KubernetesVersion) -> Self {
        let or_never = |at: Option<Timestamp>| at.unwrap_or(Timestamp::MAX);
        Self {
            general_from: Timestamp::MIN,
            community_until: or_never(support::community_support_ends(version)),
            lts_until: or_never(support::lts_ends(version)),
        }
    }

    /// What the scheduler is told of it.
    pub fn support(&self) -> Support {
        let until = self.community_until;
        Support { community_until: (until < Timestamp::MAX).then_some(until) }
    }
}

/// What there is without releases: the update's Kubernetes version, everywhere from the start.
fn everywhere(setting: Setting<'_>, target: Option<KubernetesVersion>) -> Arrivals {
    let (mut arrivals, start) = (Arrivals::default(), setting.start);
    let regions = &setting.fleet.regions;
    arrivals.clear(regions.len());
    if let Some(version) = target {
        let release = Release {
            what: Released::Kubernetes(version),
            published: start,
            withdrawn: Timestamp::MAX,
            lifecycle: Some(Lifecycle::of(version)),
        };
        arrivals.push(release, regions.iter().map(|_| start), start);
    }
    arrivals.finish(Wants::default(), start);
    arrivals
}

/// What the script says (R-K7). Nothing of it is cut off at the end: a script is as it stands.
fn of_script(setting: Setting<'_>, scripted: &[ScriptedRelease], wants: Wants) -> Arrivals {
    let mut arrivals = Arrivals::default();
    let regions = &setting.fleet.regions;
    arrivals.clear(regions.len());
    let mut releases: Vec<&ScriptedRelease> = scripted.iter().collect();
    releases.sort_by_key(|release| release.what);
    for scripted in releases {
        let at = |region| {
            let named = scripted.regions.iter().find(|(name, _)| *name == region);
            named.map(|(_, at)| *at).or(scripted.everywhere_else).unwrap_or(Timestamp::MAX)
        };
        let published = scripted.instants().min().unwrap_or(Timestamp::MAX);
        let lifecycle = match scripted.what {
            Released::NodeImage(_) | Released::SecurityPatch(_) => None,
            Released::Kubernetes(version) => {
                let calendar = Lifecycle::of(version);
                Some(Lifecycle {
                    general_from: if scripted.preview {
                        Timestamp::MAX
                    } else {
                        calendar.general_from
                    },
                    community_until: scripted.support_until.unwrap_or(calendar.community_until),
                    lts_until: scripted.lts_until.unwrap_or(calendar.lts_until),
                })
            }
        };
        let what = scripted.what;
        let release = Release {
            what,
            published,
            withdrawn: scripted.withdrawn.unwrap_or(Timestamp::MAX),
            lifecycle,
        };
        let last = Timestamp::from_millis(Timestamp::MAX.as_millis() - 1);
        arrivals.push(release, regions.ids().map(at), last);
    }
    arrivals.finish(wants, setting.start + setting.horizon);
    arrivals
}
