//! Which target each member would get: exact where releases are known, in words where they are
//! drawn (U2, U3, U5, R-I1 to R-I3).

use fleetsim::fleet::{ImageVersion, Member, NodeImage, Pool, PoolImage, PowerState};
use fleetsim::ids::{FamilyId, Id, RegionId};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{NodeImageSelection, Plan, Released, StoppedMembers, Upgrade};
use fleetsim::sim::releases::forecast::Forecast;
use fleetsim::sim::releases::{Release, Releases, Wants};
use fleetsim::time::Timestamp;
use serde_json::{Value, json};

use crate::cli::words;

/// How the text of a target begins that skips its member.
const SKIPPED: &str = "skipped";

/// What one thing of a member (its Kubernetes version, a pool's image) would become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// `kubernetes`, or `pool NAME`.
    pub(super) of: String,
    /// The image family, of a pool's image.
    pub(super) family: Option<String>,
    /// The version it has now; empty where that is not known.
    pub(super) now: String,
    /// What it becomes, in words.
    pub(super) text: String,
    /// The version it becomes, where that is certain.
    version: Option<String>,
    /// From when on it can become that; absent where it is luck, or never.
    from: Option<Timestamp>,
}

impl Target {
    /// As JSON, images by their full names.
    pub(super) fn json(&self) -> Value {
        let full = |version: &String| match &self.family {
            Some(family) => format!("{family}-{version}"),
            None => version.clone(),
        };
        json!({
            "of": self.of,
            "now": Some(&self.now).filter(|now| !now.is_empty()).map(full),
            "target": self.version.as_ref().map(full),
            "from": self.from.map(|at| at.to_string()),
            "text": self.text,
        })
    }

    fn becomes(self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self }
    }
}

/// What the scenario's releases bring to the members of a plan.
#[derive(Debug)]
pub(super) struct Targets<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan<'a>,
    releases: Releases,
    /// When to expect the update's Kubernetes version, where that is luck.
    forecast: Option<Forecast>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(scenario: &'a Scenario, plan: &'a Plan<'a>) -> Self {
        let releases = Releases::new(scenario.setting(), Wants::default());
        let version = scenario.update.upgrade.kubernetes_version();
        let version = version.filter(|_| releases.fixed().is_none());
        let forecast = version.map(|v| Forecast::of(scenario.setting(), Released::Kubernetes(v)));
        Self { scenario, plan, releases, forecast }
    }

    /// The targets of a member, whose first opportunity is at `first`.
    pub(super) fn of(&self, member: &Member, first: Timestamp) -> Vec<Target> {
        let kubernetes = self.kubernetes(member);
        // What skips the member skips all of it (R-I4, R-I9).
        if let Some(target) = kubernetes.iter().find(|target| target.text.starts_with(SKIPPED)) {
            return vec![target.clone()];
        }
        let mut targets: Vec<Target> = kubernetes.into_iter().collect();
        if !matches!(self.scenario.update.upgrade, Upgrade::ControlPlaneOnly(_)) {
            targets.extend(member.pools.iter().map(|pool| self.pool(member, pool, first)));
        }
        if let Some(target) = targets.iter().find(|target| target.text.starts_with(SKIPPED)) {
            return vec![target.clone()];
        }
        let does_something = targets.iter().any(|target| target.version.is_some());
        match self.refusal(member).filter(|_| does_something) {
            Some(refusal) => {
                targets.into_iter().map(|target| target.becomes(refusal.as_str())).collect()
            }
            None => targets,
        }
    }

    /// Why the member cannot be updated at all (U6, U8).
    fn refusal(&self, member: &Member) -> Option<String> {
        if member.power_state == PowerState::Stopped {
            return Some(match self.scenario.update.stopped_members {
                StoppedMembers::Fail => "fails: its power state is Stopped".to_owned(),
                StoppedMembers::Skip => format!("{SKIPPED}: its power state is Stopped"),
            });
        }
        let upgrade = self.scenario.update.upgrade;
        if member.node_auto_provisioning && !matches!(upgrade, Upgrade::ControlPlaneOnly(_)) {
            return Some("fails: node auto-provisioning takes ControlPlaneOnly only".to_owned());
        }
        let (target, now) = (upgrade.kubernetes_version()?, member.kubernetes_version?);
        (target.major != now.major || target.minor > now.minor + 1)
            .then(|| format!("fails: {now} to {target} skips a minor"))
    }

    fn kubernetes(&self, member: &Member) -> Option<Target> {
        let target = self.scenario.update.upgrade.kubernetes_version()?;
        let now = member.kubernetes_version;
        let shown = Target {
            of: "kubernetes".to_owned(),
            family: None,
            now: now.map_or_else(String::new, |version| version.to_string()),
            text: String::new(),
            version: None,
            from: None,
        };
        if now == Some(target) {
            return Some(shown.becomes("at it already"));
        }
        if now > Some(target) {
            return Some(shown.becomes(format!("{SKIPPED}: {target} is older")));
        }
        let Some(forecast) = &self.forecast else {
            let arrives = self.arrival(Released::Kubernetes(target), member.region);
            return Some(self.fixed(shown, target.to_string(), arrives, true, member.region));
        };
        let at = |percent| forecast.at(member.region, percent);
        let (Some(early), Some(late)) = (at(5), at(95)) else {
            let share = forecast.by(member.region, self.scenario.start + self.scenario.horizon);
            let region = self.region(member.region);
            let text = if share > 0.0 {
                format!("{target}, which reaches {region} in {:.0} % of the worlds", share * 100.0)
            } else {
                format!("{target}, which never reaches {region}")
            };
            return Some(Target { text, version: Some(target.to_string()), ..shown });
        };
        if at(100).is_some_and(|last| last <= self.scenario.start) {
            let start = Some(self.scenario.start);
            return Some(self.fixed(shown, target.to_string(), start, true, member.region));
        }
        let (early, late) = (words::instant(early), words::instant(late));
        let region = self.region(member.region);
        let text = format!("{target}, in {region} between {early} and {late} (90 %)");
        Some(Target { text, version: Some(target.to_string()), ..shown })
    }

    fn pool(&self, member: &Member, pool: &Pool, first: Timestamp) -> Target {
        let family = pool.image.family();
        let (now, known) = match pool.image {
            PoolImage::Exactly(image) => (image.version.to_string(), Some(image.version)),
            PoolImage::Behind { versions, .. } => (format!("newest − {versions}"), None),
        };
        let shown = Target {
            of: format!("pool {}", pool.name),
            family: Some(self.plan.fleet.families[family].clone()),
            now,
            text: String::new(),
            version: None,
            from: None,
        };
        match &self.scenario.update.node_images {
            NodeImageSelection::Latest if pool.from_snapshot => {
                shown.becomes("keeps the image of its snapshot")
            }
            NodeImageSelection::Latest => self.latest(shown, known, family, member, first),
            NodeImageSelection::Consistent => self.consistent(shown, known, family, member),
            NodeImageSelection::Custom(images) => {
                let Some(image) = images.iter().find(|image| image.family == family) else {
                    return shown.becomes("left alone: its family is not listed");
                };
                self.one(shown, known, *image, member)
            }
        }
    }

    /// The newest in the region when the update starts.
    fn latest(
        &self,
        shown: Target,
        known: Option<ImageVersion>,
        family: FamilyId,
        member: &Member,
        first: Timestamp,
    ) -> Target {
        if !self.is_known() {
            let region = self.region(member.region);
            return shown.becomes(format!("the newest in {region} when its update starts"));
        }
        let arrivals = self.arrivals(family, member.region);
        if arrivals.is_empty() {
            let region = self.region(member.region);
            return shown.becomes(format!("left alone: no release of its family reaches {region}"));
        }
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
            return shown.becomes("at the newest already");
        };
        let mut text = if from <= first {
            version.to_string()
        } else {
            format!("nothing to do before {}, then {version}", words::instant(from))
        };
        for (at, version) in &steps[1..] {
            text = format!("{text}; {version} from {}", words::instant(*at));
        }
        Target { text, version: Some(version.to_string()), from: Some(from), ..shown }
    }

    /// The newest that every region of the run has when the run starts.
    fn consistent(
        &self,
        shown: Target,
        known: Option<ImageVersion>,
        family: FamilyId,
        member: &Member,
    ) -> Target {
        let regions = &self.plan.family_regions[family];
        if !self.is_known() {
            let regions = words::count(regions.iter().count() as u64, "region");
            return shown.becomes(format!("the newest in all of the run's {regions} at its start"));
        }
        let start = self.scenario.start;
        let there = |version: ImageVersion| {
            let image = Released::NodeImage(NodeImage { family, version });
            let mut regions = regions.iter().map(|region| RegionId::new(region as usize));
            regions.all(|region| self.arrival(image, region).is_some_and(|at| at <= start))
        };
        let arrivals = self.arrivals(family, member.region).into_iter().map(|(_, version)| version);
        match arrivals.filter(|version| there(*version)).max() {
            Some(version) => self.one(shown, known, NodeImage { family, version }, member),
            None => shown.becomes(format!("{SKIPPED}: no version is in all of the run's regions")),
        }
    }

    /// One image, which the pool gets unless it is at it.
    fn one(
        &self,
        shown: Target,
        known: Option<ImageVersion>,
        image: NodeImage,
        member: &Member,
    ) -> Target {
        if known.is_some_and(|version| version >= image.version) {
            return shown.becomes("at it already");
        }
        let arrives = self.arrival(Released::NodeImage(image), member.region);
        let version = image.version.to_string();
        self.fixed(shown, version, arrives, self.is_known(), member.region)
    }

    fn fixed(
        &self,
        shown: Target,
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
        Target { text, version: Some(version), from: arrives, ..shown }
    }

    /// Whether every release is known: the script's, those on record, or none at all.
    fn is_known(&self) -> bool {
        self.releases.fixed().is_some()
    }

    /// When a known release reaches a region.
    fn arrival(&self, what: Released, region: RegionId) -> Option<Timestamp> {
        let arrivals = self.releases.fixed()?;
        arrivals.reached(arrivals.find(what)?, region)
    }

    /// Known arrivals of a family in a region, by time.
    fn arrivals(&self, family: FamilyId, region: RegionId) -> Vec<(Timestamp, ImageVersion)> {
        let releases = self.releases.fixed().map_or(&[][..], |arrivals| &arrivals.releases);
        let images = releases.iter().filter_map(Release::image);
        let images = images.filter(|image| image.family == family);
        let mut arrivals: Vec<_> = images
            .filter_map(|image| {
                let at = self.arrival(Released::NodeImage(image), region)?;
                Some((at, image.version))
            })
            .collect();
        arrivals.sort();
        arrivals
    }

    fn region(&self, region: RegionId) -> &str {
        &self.plan.fleet.regions[region]
    }
}
