//! Defective releases (W7): which they are, whom they break, and when.
//!
//! A release is defective or not; a defective one breaks a share of the members that it touches,
//! at once (the update fails) or later: the cluster degrades after a time, and is noticed after
//! another. Whom it breaks is one number a member and release, the same under every strategy (X1):
//! the lowest numbers break at once, the next later, the others never. So members share the
//! defect and its share, and are independent given these; releases are independent of each other.
//!
//! Owns the model ([`DefectModel`], [`ScriptedDefect`]) and what a release is; what happens in one
//! replication is in `ongoing`.

mod ongoing;

use crate::fleet::{ImageVersion, KubernetesVersion, NodeImage, OsType, SecurityPatch};
use crate::ids::{Column, FamilyId, MemberId};
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::{FailureCode, Released};
use crate::sim::draw::{Luck, Purpose, unit};
use crate::sim::model::Setting;
use crate::sim::whom::Whom;
use crate::time::{Span, Timestamp};

pub(super) use ongoing::Defects;

/// The code of updates that a drawn defect fails.
pub const DEFECTIVE: &str = "ReleaseDefective";

/// The blast radius of a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exposure {
    /// Members that ran a defective release before the rollout was stopped or the defect fixed.
    pub members: u32,
    /// For how long they did, summed over members.
    pub time: Span,
}

/// Which releases are defective, and what that means (W7).
#[derive(Debug, Clone, PartialEq)]
pub struct DefectModel {
    /// Probability that a node image is defective.
    pub node_image: f64,
    /// Probability that a Kubernetes version is, to members that run an earlier patch of its minor.
    pub patch: f64,
    /// The same, to members that run an earlier minor.
    pub minor: f64,
    /// Share of members that are susceptible to a defective release, drawn once for each.
    pub share: Distribution,
    /// Probability that a susceptible member that is touched breaks.
    pub breaks: f64,
    /// Share of members that break at once among those that break.
    pub at_once: f64,
    /// From the update's end until a member that breaks later degrades, in milliseconds.
    pub degrades_after: Distribution,
    /// From there until somebody notices, in milliseconds.
    pub noticed_after: Distribution,
    /// Who can be susceptible at all.
    pub whom: Whom,
    /// When the platform halts the release; `None`: never.
    pub halt: Option<Halt>,
    /// From the halt until the defect is fixed, in milliseconds.
    pub fixed_after: Distribution,
}

/// The platform halts a release by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Halt {
    /// After so many members of this fleet were hit: have failed at once, or degraded.
    pub members: u32,
    /// From there until the halt, in milliseconds.
    pub after: Distribution,
}

/// A defect of a script: which release, whom it breaks, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedDefect {
    /// The release.
    pub what: Released,
    /// Whom it breaks, in the fleet's order.
    pub members: Vec<MemberId>,
    /// How.
    pub effect: Effect,
    /// When it is fixed; `None`: never.
    pub fixed: Option<Timestamp>,
}

/// How a scripted defect breaks members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Their updates fail with this code.
    Fails(String),
    /// They degrade so long after their update, and are noticed so long after that.
    Degrades {
        /// From the update's end.
        after: Span,
        /// From there.
        noticed_after: Span,
    },
}

/// What can be defective: one version, for all image families of an operating system that share it
/// (they are one release), or a Kubernetes version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Release {
    Image(OsType, ImageVersion),
    /// A scripted release is an image by its full name.
    Named(NodeImage),
    Kubernetes(KubernetesVersion),
    /// Never met by updates: no security patch is defective (ours).
    Patch(SecurityPatch),
}

impl Release {
    /// The luck of this release.
    fn luck(self, luck: &Luck) -> Luck {
        match self {
            Self::Image(OsType::Linux, version) => luck.of_release(1, version.key()),
            Self::Image(OsType::Windows, version) => luck.of_release(2, version.key()),
            Self::Kubernetes(KubernetesVersion { major, minor, patch }) => {
                let name = u64::from(major) << 32 | u64::from(minor) << 16 | u64::from(patch);
                luck.of_release(3, name)
            }
            Self::Named(_) | Self::Patch(_) => unreachable!("nothing is drawn for these"),
        }
    }
}

/// The defects of a world, compiled for all replications.
#[derive(Debug)]
pub(super) struct DefectWorld<'s> {
    luck: Luck,
    kind: Kind<'s>,
    /// The operating system of each image family.
    systems: Column<FamilyId, OsType>,
    /// The code of failures by drawn defects.
    code: FailureCode,
}

#[derive(Debug)]
enum Kind<'s> {
    Drawn { model: &'s DefectModel, lags: Box<Lags> },
    Scripted(&'s [ScriptedDefect], Vec<Option<FailureCode>>),
}

#[derive(Debug)]
struct Lags {
    degrades: Quantiles,
    noticed: Quantiles,
    halt: Option<Quantiles>,
    fixed: Quantiles,
}

/// What a defective release does to a member that it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Not,
    AtOnce(FailureCode),
    Later,
}

impl<'s> DefectWorld<'s> {
    /// The defects of a setting; `None` if it has none. `code` finds the number of a failure code.
    pub(super) fn new(setting: Setting<'s>, code: &dyn Fn(&str) -> FailureCode) -> Option<Self> {
        let kind = match (&setting.script.defects, &setting.world.defects) {
            (Some(scripted), _) => {
                let codes = scripted.iter().map(|defect| match &defect.effect {
                    Effect::Fails(text) => Some(code(text)),
                    Effect::Degrades { .. } => None,
                });
                Kind::Scripted(scripted, codes.collect())
            }
            (None, Some(model)) => Kind::Drawn {
                lags: Box::new(Lags {
                    degrades: Quantiles::new(&model.degrades_after),
                    noticed: Quantiles::new(&model.noticed_after),
                    halt: model.halt.as_ref().map(|halt| Quantiles::new(&halt.after)),
                    fixed: Quantiles::new(&model.fixed_after),
                }),
                model,
            },
            (None, None) => return None,
        };
        let code =
            if setting.script.defects.is_some() { FailureCode::default() } else { code(DEFECTIVE) };
        let luck = Luck::new(setting.seed);
        Some(Self { luck, kind, systems: systems_of(setting), code })
    }

    /// Whether nothing is drawn.
    pub(super) fn is_scripted(&self) -> bool {
        matches!(self.kind, Kind::Scripted(..))
    }

    /// The release that brings a node image, as this model tells releases apart.
    fn image(&self, image: NodeImage) -> Release {
        match self.kind {
            Kind::Drawn { .. } => Release::Image(self.systems[image.family], image.version),
            Kind::Scripted(..) => Release::Named(image),
        }
    }

    /// The same for whatever arrives.
    fn release(&self, what: Released) -> Release {
        match what {
            Released::NodeImage(image) => self.image(image),
            Released::Kubernetes(version) => Release::Kubernetes(version),
            Released::SecurityPatch(patch) => Release::Patch(patch),
        }
    }
}

/// All codes that defects add.
pub(super) fn codes(setting: Setting<'_>) -> Vec<String> {
    match (&setting.script.defects, &setting.world.defects) {
        (Some(scripted), _) => scripted
            .iter()
            .filter_map(|defect| match &defect.effect {
                Effect::Fails(code) => Some(code.clone()),
                Effect::Degrades { .. } => None,
            })
            .collect(),
        (None, Some(_)) => vec![DEFECTIVE.to_owned()],
        (None, None) => Vec::new(),
    }
}

/// The operating system of each family; of families that no pool has, Linux.
fn systems_of(setting: Setting<'_>) -> Column<FamilyId, OsType> {
    let mut systems = Column::new();
    systems.refill(setting.fleet.families.len(), OsType::Linux);
    for pool in setting.pools() {
        systems[pool.image.family()] = pool.os_type;
    }
    systems
}

/// The number of a member and release, and below which numbers members break.
#[derive(Debug, Clone, Copy)]
struct Dice {
    at_once: f64,
    later: f64,
}

impl Dice {
    fn of(share: f64, model: &DefectModel) -> Self {
        let later = share.clamp(0.0, 1.0) * model.breaks;
        Self { at_once: later * model.at_once, later }
    }

    fn breaks(self, luck: &Luck, replication: u32, member: MemberId, code: FailureCode) -> Breaks {
        let number = unit(luck.at(replication, Purpose::Susceptible, 0, member.0));
        if number < self.at_once {
            Breaks::AtOnce(code)
        } else if number < self.later {
            Breaks::Later
        } else {
            Breaks::Not
        }
    }
}
