//! Security patches of Linux nodes: which go into running nodes, and which need a reimage (A2).
//!
//! A live patch restarts nothing and reimages no node, needs no surge, and is no matter of the node
//! disruption policy; it is an update of its member like any other, only shorter. Whether a patch
//! needs a reimage is its own: the same for all members, under every strategy (X1).

use std::collections::BTreeMap;

use crate::fleet::SecurityPatch;
use crate::ids::MemberId;
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::auto_upgrade::Channel;
use crate::scheduler::{Released, Scheduler};
use crate::sim::draw::{Luck, Purpose, happens};
use crate::sim::model::Setting;
use crate::sim::world::{Truth, World};
use crate::time::Span;

/// How security patches go in (`world.livePatches`).
#[derive(Debug, Clone, PartialEq)]
pub struct LivePatchModel {
    /// Share of patches that need a reimage.
    pub reimage: f64,
    /// How long the live patch of a member takes, in milliseconds.
    pub takes: Distribution,
}

/// No live patch takes less.
const SHORTEST: i64 = Span::SECOND.as_millis();
/// The kind of release that a security patch is, in the luck of releases.
const PATCH: u8 = 4;

/// The security patches of a world, compiled for all replications.
#[derive(Debug)]
pub(super) struct PatchWorld {
    luck: Luck,
    /// What the script says of whether patches need a reimage.
    said: BTreeMap<SecurityPatch, bool>,
    /// Share that need one, and how long a live patch takes; `None`: nothing is live-patched.
    live: Option<(f64, Quantiles)>,
    constant: bool,
}

impl PatchWorld {
    /// Those of a setting; `None` if nobody follows them.
    pub(super) fn new(setting: Setting<'_>) -> Option<Self> {
        let follows = |channel: Channel| channel == Channel::SecurityPatch;
        if !setting.profiles.iter().any(|profile| follows(profile.channel)) {
            return None;
        }
        let scripted = setting.script.releases.iter().flatten();
        let said = scripted.filter_map(|release| match release.what {
            Released::SecurityPatch(patch) => Some((patch, release.reimage?)),
            _ => None,
        });
        let model = setting.world.live_patches.as_ref();
        let constant = model.is_none_or(|model| {
            let (shortest, longest) = model.takes.range();
            let certain = model.reimage <= 0.0 || model.reimage >= 1.0;
            shortest.to_bits() == longest.to_bits() && certain
        });
        Some(Self {
            luck: Luck::new(setting.seed),
            said: said.collect(),
            live: model.map(|model| (model.reimage, Quantiles::new(&model.takes))),
            constant,
        })
    }

    /// Whether nothing is drawn for them.
    pub(super) fn is_constant(&self) -> bool {
        self.constant
    }

    /// Whether a patch needs a reimage in this replication.
    fn reimages(&self, patch: SecurityPatch, replication: u32) -> bool {
        let Some((share, _)) = &self.live else { return true };
        self.said.get(&patch).copied().unwrap_or_else(|| {
            let luck = self.luck.of_release(PATCH, patch.image().key());
            happens(luck.at(replication, Purpose::PatchReimages, 0, 0), *share)
        })
    }
}

impl Truth {
    /// Whether the update that a run makes of its members is a live patch.
    fn is_live(&self, world: &World<'_>, scheduler: &Scheduler<'_>) -> bool {
        let patch = scheduler.security_patch();
        match (&world.patches, patch) {
            (Some(patches), Some(patch)) => !patches.reimages(patch, self.replication()),
            _ => false,
        }
    }

    /// How long the live patch of a member takes; `None`: its update is none.
    pub(super) fn live_patch(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        (luck, member, attempt): (&Luck, MemberId, u16),
    ) -> Option<Span> {
        if !self.is_live(world, scheduler) {
            return None;
        }
        let (_, takes) = world.patches.as_ref()?.live.as_ref()?;
        let bits = luck.at(self.replication(), Purpose::LivePatch, attempt, member.0);
        Some(Span::from_millis(takes.millis(bits, SHORTEST)))
    }

    /// Nodes that an update of a member patches live, once it has ended well; its scheduler has not
    /// been told yet.
    pub(super) fn live_patched(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        member: MemberId,
    ) -> u32 {
        if !self.is_live(world, scheduler) {
            return 0;
        }
        let pools = world.pools_of(&self.added, member).zip(scheduler.planned_patches(member));
        pools.filter(|(_, moves)| *moves).map(|(pool, _)| pool.count).sum()
    }
}
