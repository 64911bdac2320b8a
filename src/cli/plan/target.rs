//! Which target each member would get: exact where releases are scripted, in words where they are
//! drawn (U2, U3, U5, R-I1 to R-I3).

use fleetsim::fleet::{ImageVersion, Member, NodeImage, Pool, PoolImage};
use fleetsim::ids::{FamilyId, Id, RegionId};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{NodeImageSelection, Plan, Released, Upgrade};
use fleetsim::sim::model::ReleaseModel;
use fleetsim::time::Timestamp;
use serde_json::{Value, json};

use crate::cli::words;

/// What one thing of a member (its Kubernetes version, a pool's image) would become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// `kubernetes`, or `pool NAME`.
    pub(super) of: String,
    /// What it is now.
    pub(super) now: String,
    /// What it becomes, in words.
    pub(super) text: String,
    /// The version it becomes, where that is certain.
    version: Option<String>,
    /// From when on it can become that; absent where it is luck, or never.
    from: Option<Timestamp>,
}

impl Target {
    fn words(of: &str, now: String, text: impl Into<String>) -> Self {
        Self { of: of.to_owned(), now, text: text.into(), version: None, from: None }
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "of": self.of,
            "now": self.now,
            "target": self.version,
            "from": self.from.map(|at| at.to_string()),
            "text": self.text,
        })
    }
}

/// What the scenario's releases bring to the members of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan<'a>,
}

impl Targets<'_> {
    /// The targets of a member, whose first opportunity is at `first`.
    pub(super) fn of(&self, member: &Member, first: Timestamp) -> Vec<Target> {
        let mut targets = Vec::new();
        targets.extend(self.kubernetes(member));
        if !matches!(self.scenario.update.upgrade, Upgrade::ControlPlaneOnly(_)) {
            targets.extend(member.pools.iter().map(|pool| self.pool(member, pool, first)));
        }
        targets
    }

    fn kubernetes(&self, member: &Member) -> Option<Target> {
        let target = self.scenario.update.upgrade.kubernetes_version()?;
        let now = member.kubernetes_version;
        let (of, shown) = ("kubernetes", now.map_or_else(String::new, |v| v.to_string()));
        if now == Some(target) {
            return Some(Target::words(of, shown, "at it already"));
        }
        if now > Some(target) {
            return Some(Target::words(of, shown, format!("newer than {target}: skipped")));
        }
        let scripted = self.scenario.script.releases.is_some();
        let arrives = self.arrival(Released::Kubernetes(target), member.region);
        Some(self.fixed(of, shown, target.to_string(), arrives, scripted, member.region))
    }

    fn pool(&self, member: &Member, pool: &Pool, first: Timestamp) -> Target {
        let of = format!("pool {}", pool.name);
        let family = pool.image.family();
        let (now, known) = match pool.image {
            PoolImage::Exactly(image) => (self.name(image), Some(image.version)),
            PoolImage::Behind { versions, .. } => {
                let family = &self.plan.fleet.families[family];
                let newest = self.region(member.region);
                (format!("{family}, {versions} behind the newest in {newest}"), None)
            }
        };
        match &self.scenario.update.node_images {
            NodeImageSelection::Latest if pool.from_snapshot => {
                Target::words(&of, now, "keeps the image of its snapshot")
            }
            NodeImageSelection::Latest => self.latest(of, now, known, family, member, first),
            NodeImageSelection::Consistent => self.consistent(of, now, known, family, member),
            NodeImageSelection::Custom(images) => {
                let Some(image) = images.iter().find(|image| image.family == family) else {
                    return Target::words(&of, now, "left alone: its family is not listed");
                };
                self.one(of, now, known, *image, member)
            }
        }
    }

    /// The newest in the region when the update starts.
    fn latest(
        &self,
        of: String,
        now: String,
        known: Option<ImageVersion>,
        family: FamilyId,
        member: &Member,
        first: Timestamp,
    ) -> Target {
        let region = self.region(member.region);
        if self.scenario.script.releases.is_none() {
            let text = match self.scenario.world.releases {
                ReleaseModel::Train => format!("the newest in {region} when its update starts"),
                ReleaseModel::Off => "left alone: nothing is released".to_owned(),
            };
            return Target::words(&of, now, text);
        }
        let arrivals = self.arrivals(family, member.region);
        let mut newest = known.unwrap_or(ImageVersion::OLDEST);
        let mut steps: Vec<(Timestamp, ImageVersion)> = Vec::new();
        for (at, version) in arrivals {
            if version > newest {
                newest = version;
                // What has come by the first opportunity counts as one step.
                steps.retain(|(earlier, _)| *earlier > first || at > first);
                steps.push((at, version));
            }
        }
        let Some((from, version)) = steps.first().copied() else {
            return Target::words(&of, now, "at the newest already");
        };
        let name = |version| self.name(NodeImage { family, version });
        let mut text = if from <= first {
            name(version)
        } else {
            format!("nothing to do before {}, then {}", words::instant(from), name(version))
        };
        for (at, version) in &steps[1..] {
            text.push_str(&format!("; {version} from {}", words::instant(*at)));
        }
        Target { of, now, text, version: Some(name(version)), from: Some(from) }
    }

    /// The newest that every region of the run has when the run starts.
    fn consistent(
        &self,
        of: String,
        now: String,
        known: Option<ImageVersion>,
        family: FamilyId,
        member: &Member,
    ) -> Target {
        let regions = &self.plan.family_regions[family];
        if self.scenario.script.releases.is_none() {
            let text = match self.scenario.world.releases {
                ReleaseModel::Train => format!(
                    "the newest in all of the run's {} at its start",
                    words::count(regions.iter().count() as u64, "region")
                ),
                ReleaseModel::Off => "skipped: nothing is released".to_owned(),
            };
            return Target::words(&of, now, text);
        }
        let start = self.scenario.start;
        let there = |version: ImageVersion| {
            let image = Released::NodeImage(NodeImage { family, version });
            let mut regions = regions.iter().map(|region| RegionId::new(region as usize));
            regions.all(|region| self.arrival(image, region).is_some_and(|at| at <= start))
        };
        let arrivals = self.arrivals(family, member.region).into_iter().map(|(_, version)| version);
        match arrivals.filter(|version| there(*version)).max() {
            Some(version) => self.one(of, now, known, NodeImage { family, version }, member),
            None => Target::words(&of, now, "skipped: no version is in all of the run's regions"),
        }
    }

    /// One image, which the pool gets unless it is at it.
    fn one(
        &self,
        of: String,
        now: String,
        known: Option<ImageVersion>,
        image: NodeImage,
        member: &Member,
    ) -> Target {
        if known.is_some_and(|version| version >= image.version) {
            return Target::words(&of, now, "at it already");
        }
        let scripted =
            self.scenario.script.releases.is_some() || self.scenario.world.releases == ReleaseModel::Off;
        let arrives = self.arrival(Released::NodeImage(image), member.region);
        self.fixed(&of, now, self.name(image), arrives, scripted, member.region)
    }

    fn fixed(
        &self,
        of: &str,
        now: String,
        version: String,
        arrives: Option<Timestamp>,
        scripted: bool,
        region: RegionId,
    ) -> Target {
        let region = self.region(region);
        let text = match arrives {
            Some(at) if at <= self.scenario.start => version.clone(),
            Some(at) => format!("{version}, in {region} from {}", words::instant(at)),
            None if scripted => format!("{version}, which never reaches {region}"),
            None => format!("{version}, once it is in {region}"),
        };
        Target { of: of.to_owned(), now, text, version: Some(version), from: arrives }
    }

    /// When a scripted release reaches a region (R-K7).
    fn arrival(&self, what: Released, region: RegionId) -> Option<Timestamp> {
        let releases = self.scenario.script.releases.iter().flatten();
        let release = releases.into_iter().find(|release| release.what == what)?;
        let named = release.regions.iter().find(|(name, _)| *name == region);
        named.map(|(_, at)| *at).or(release.everywhere_else)
    }

    /// Scripted arrivals of a family in a region, by time.
    fn arrivals(&self, family: FamilyId, region: RegionId) -> Vec<(Timestamp, ImageVersion)> {
        let releases = self.scenario.script.releases.iter().flatten();
        let images = releases.filter_map(|release| match release.what {
            Released::NodeImage(image) if image.family == family => Some(image),
            Released::NodeImage(_) | Released::Kubernetes(_) => None,
        });
        let mut arrivals: Vec<_> = images
            .filter_map(|image| {
                let at = self.arrival(Released::NodeImage(image), region)?;
                Some((at, image.version))
            })
            .collect();
        arrivals.sort();
        arrivals
    }

    fn name(&self, image: NodeImage) -> String {
        format!("{}-{}", self.plan.fleet.families[image.family], image.version)
    }

    fn region(&self, region: RegionId) -> &str {
        &self.plan.fleet.regions[region]
    }
}
