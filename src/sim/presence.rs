//! Who is in the fleet when: members that join in mid-run, and members that leave (W9, R-I21).
//!
//! The fleet has a place for everybody who is ever in it, so that its columns stay as they are;
//! here is from when to when each is there in a replication. When that is does not depend on what
//! the runs do, so all of it is known from the beginning.

use crate::bits::Bits;
use crate::fleet::{KubernetesVersion, NodeImage, Pool, PoolImage};
use crate::ids::{Column, MemberId, RegionId};
use crate::scheduler::{Released, Scheduler};
use crate::sim::model::Setting;
use crate::sim::news::Tiding;
use crate::sim::queue::Queue;
use crate::sim::script::ScriptedVerb;
use crate::sim::world::{Truth, World};
use crate::time::Timestamp;

/// From when to when each member is in the fleet, in one replication; empty where nobody joins and
/// nobody leaves.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// From when on; the end of time: not within the horizon.
    joins: Column<MemberId, Timestamp>,
    /// Until when, exclusive.
    leaves: Column<MemberId, Timestamp>,
    /// Who is not there now.
    absent: Bits,
    /// What members that joined ran, and from when on, in the order of time.
    ran: Vec<(MemberId, Timestamp, Runs)>,
}

/// Whether anybody ever joins or leaves.
pub(super) fn changes(setting: Setting<'_>) -> bool {
    let leaves = setting.world.churn.as_ref().is_some_and(|churn| churn.leave.is_some());
    let mut script = setting.script.actions.iter().flatten();
    let scripted = script.any(|action| matches!(action.action, ScriptedVerb::Leave(_)));
    leaves || scripted || setting.fleet.members.iter().any(|member| member.joins)
}

impl Presence {
    /// As at the start, with what the script says.
    pub(super) fn reset(&mut self, setting: Setting<'_>) {
        let Setting { fleet, start, .. } = setting;
        self.joins.refill(fleet.members.len(), start);
        self.leaves.refill(fleet.members.len(), Timestamp::MAX);
        self.absent.reset(fleet.members.len());
        self.ran.clear();
        for (id, member) in fleet.members.iter_with_ids() {
            if member.joins {
                self.joins[id] = Timestamp::MAX;
                self.absent.insert(id.0);
            }
        }
        for action in setting.script.actions.iter().flatten() {
            let at = start + action.at;
            match action.action {
                ScriptedVerb::Join(id) => self.joins[id] = at,
                ScriptedVerb::Leave(id) => self.will_leave(id, at),
                _ => {}
            }
        }
    }

    /// A member is to join at this instant.
    pub(super) fn will_join(&mut self, id: MemberId, at: Timestamp) {
        self.joins[id] = at;
    }

    /// A member is to leave at this instant, if it does not before.
    pub(super) fn will_leave(&mut self, id: MemberId, at: Timestamp) {
        self.leaves[id] = self.leaves[id].min(at);
    }

    /// From when to when a member is in the fleet: from the start, where nobody joins or leaves.
    pub(super) fn stay(&self, id: MemberId, start: Timestamp) -> (Timestamp, Timestamp) {
        if self.joins.is_empty() {
            return (start, Timestamp::MAX);
        }
        (self.joins[id], self.leaves[id])
    }

    /// A member joins now.
    pub(super) fn joined(&mut self, id: MemberId) {
        self.absent.remove(id.0);
    }

    /// A member leaves now.
    pub(super) fn left(&mut self, id: MemberId) {
        self.absent.insert(id.0);
    }

    /// Who is not in the fleet now; nobody where nobody ever joins or leaves.
    pub(super) fn absent(&self) -> &Bits {
        &self.absent
    }

    /// Whether a member is in the fleet now.
    pub(super) fn is_here(&self, id: MemberId) -> bool {
        self.absent.is_empty() || !self.absent.contains(id.0)
    }
}

/// What a member that joined ran for some time.
#[derive(Debug, Clone)]
pub(super) struct Newcomer {
    pub(super) region: RegionId,
    pub(super) from: Timestamp,
    /// Exclusive.
    pub(super) until: Timestamp,
    pub(super) runs: Runs,
}

/// What a member runs that joins: each of its pools, and its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) images: Vec<NodeImage>,
    pub(super) kubernetes: Option<KubernetesVersion>,
}

impl Truth {
    /// What a member runs that joins at this instant: pools that are some versions behind are
    /// behind what is in its region by then, and who is like another member has that one's
    /// Kubernetes version.
    pub(super) fn runs_at(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        (now, id): (Timestamp, MemberId),
    ) -> Runs {
        let member = &world.setting.fleet.members[id];
        let image = |(pool, first): (&Pool, NodeImage)| match pool.image {
            PoolImage::Exactly(image) => image,
            PoolImage::Behind { family, versions } => {
                let newest = self.arrivals(world).newest_at(family, member.region, now, versions);
                newest.map_or(first, |version| NodeImage { family, version })
            }
        };
        let like = world.churn.as_ref().and_then(|churn| churn.like(id));
        let kubernetes = like.and_then(|like| scheduler.kubernetes_version(like));
        Runs {
            images: member.pools.iter().zip(scheduler.images(id)).map(image).collect(),
            kubernetes: kubernetes.or(member.kubernetes_version),
        }
    }

    /// A member joins, if that is what happened: `update`, which observes for all runs, learns what
    /// it runs, and what of it is defective has touched it.
    pub(super) fn arrive(
        &mut self,
        world: &World<'_>,
        (now, tiding): (Timestamp, Tiding<'_>),
        scheduler: &mut Scheduler<'_>,
        queue: &mut Queue,
    ) {
        let Tiding::Joined(id) = tiding else { return };
        let runs = self.runs_at(world, scheduler, (now, id));
        for (pool, image) in runs.images.iter().enumerate() {
            scheduler.observe_pool(id, pool, image.version);
        }
        if let Some(version) = runs.kubernetes {
            scheduler.observe_kubernetes(id, version);
        }
        self.touch(world, (now, id), &runs, queue);
        self.presence.ran.push((id, now, runs));
    }

    /// A member runs something else now: kept of those that joined.
    #[inline]
    pub(super) fn moved(
        &mut self,
        world: &World<'_>,
        (now, id): (Timestamp, MemberId),
        scheduler: &Scheduler<'_>,
    ) {
        if world.setting.fleet.members[id].joins {
            let images = scheduler.images(id).collect();
            let runs = Runs { images, kubernetes: scheduler.kubernetes_version(id) };
            self.presence.ran.push((id, now, runs));
        }
    }

    /// What members that join run, and from when to when, up to the horizon: also those that join
    /// when the run is over and nobody looks any more.
    pub(super) fn newcomers(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        horizon: Timestamp,
    ) -> Vec<Newcomer> {
        let Setting { fleet, start, .. } = world.setting;
        let mut all: Vec<Newcomer> = Vec::new();
        let later = self.to_be_added(world, horizon);
        for (id, member) in fleet.members.iter_with_ids().filter(|(_, member)| member.joins) {
            let (joins, leaves) = self.presence.stay(id, start);
            let until = leaves.min(horizon);
            if joins >= until {
                continue;
            }
            let region = member.region;
            let first = all.len();
            let ran = self.presence.ran.iter().filter(|(other, ..)| *other == id);
            for (_, from, runs) in ran {
                if let Some(last) = all[first..].last_mut() {
                    last.until = *from;
                }
                all.push(Newcomer { region, from: *from, until, runs: runs.clone() });
            }
            if first == all.len() {
                let runs = self.runs_at(world, scheduler, (joins, id));
                all.push(Newcomer { region, from: joins, until, runs });
            }
            for pool in later.iter().filter(|pool| pool.member == id) {
                let last = all.last_mut().expect("it runs something from its joining on");
                let mut runs = last.runs.clone();
                runs.images.push(pool.image);
                last.until = pool.at;
                all.push(Newcomer { region, from: pool.at, until, runs });
            }
        }
        all
    }

    /// A member joins with what may be defective. What was there before the scenario's start is
    /// not: members that are there from the beginning run it too (ours).
    pub(super) fn touch(
        &mut self,
        world: &World<'_>,
        (now, id): (Timestamp, MemberId),
        runs: &Runs,
        queue: &mut Queue,
    ) {
        if self.defects.is_none() {
            return;
        }
        let arrivals = self.arrivals(world);
        let is_new = |what: &Released| {
            let release = arrivals.find(*what).map(|number| &arrivals.releases[number as usize]);
            release.is_some_and(|release| release.published > world.start())
        };
        let images = runs.images.iter().copied().map(Released::NodeImage);
        let all = images.chain(runs.kubernetes.map(Released::Kubernetes));
        let new: Vec<Released> = all.filter(is_new).collect();
        if let (Some(defects), Some(model)) = (&mut self.defects, &world.defects) {
            defects.joined(model, &world.setting.fleet.members[id], (now, id), &new, queue);
        }
    }
}
