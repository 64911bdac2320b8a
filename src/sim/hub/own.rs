//! Members' own auto-upgrade, if it is left on: it goes its own way, in the member's windows (U10).
//!
//! When something that the member's channel follows is in its region, its own upgrade begins at the
//! next opening of the window that belongs to it; without a window, after a drawn delay. A member
//! that somebody else is at work on is left alone until that is over, and until its window is open.
//! Whichever comes first does the work, and the other finds the member there. One minor at a time;
//! members that are stopped, have left or are out of support are left alone, and nothing begins
//! where a region is out; who is started again, or whose region is back, looks again.
//!
//! Own upgrades fail like every update: with the probability of `world.failures`, or because an
//! outage begins. Who has failed tries again in its window, or at any time without one, after as
//! long as members without a window are behind; a failure that is not transient comes again.

use crate::bits::Bits;
use crate::fleet::{KubernetesChannel, KubernetesVersion, Member};
use crate::ids::{Column, MemberId, RegionId};
use crate::quantiles::Quantiles;
use crate::scheduler::auto_upgrade::Minor;
use crate::scheduler::{Event, FailureCode, Released, Scheduler, Upgrade};
use crate::sim::Simulation;
use crate::sim::draw::{Purpose, happens};
use crate::sim::durations::Begins;
use crate::sim::hub::{Hub, RunNo};
use crate::sim::queue::Happening;
use crate::sim::world::{Truth, World};
use crate::time::{Span, Timestamp};

/// Whose luck own upgrades have, in the place of a profile's position.
const OWN_UPGRADES: u16 = u16::MAX - 1;
/// What an own upgrade brings; also its number in happenings.
const IMAGES: u16 = 0;
const KUBERNETES: u16 = 1;
/// Beside what it brings: that it fails.
const FAILED: u16 = 2;

/// What is true of own upgrades in a replication.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Members whose upgrade is to begin, by what it brings.
    scheduled: [Bits; 2],
    /// Upgrades that wait until their member is free.
    waiting: Vec<(MemberId, u16)>,
    /// How many upgrades of each member were scheduled, by what they bring: the luck's places.
    count: Column<MemberId, [u16; 2]>,
    /// The version that a running upgrade brings.
    version: Column<MemberId, Option<KubernetesVersion>>,
    /// Where the luck lies of the upgrade that failed first, of members whose last one failed.
    failed: Column<MemberId, [Option<u16>; 2]>,
    /// Upgrades that were done.
    pub(super) done: u32,
}

impl Own {
    /// Where the luck of a member's next upgrade lies.
    fn place(&self, id: MemberId, brings: u16) -> u16 {
        self.count[id][usize::from(brings)].wrapping_mul(2) | brings
    }
}

impl<'p> Hub<'p> {
    /// Members begin to look at what is there.
    pub(in crate::sim) fn begin_own(&mut self, sim: &mut Simulation<'p>, now: Timestamp) {
        let fleet = sim.world.setting.fleet;
        for scheduled in &mut self.own.scheduled {
            scheduled.reset(fleet.members.len());
        }
        self.own.waiting.clear();
        self.own.version.refill(fleet.members.len(), None);
        self.own.count.refill(fleet.members.len(), [0; 2]);
        self.own.failed.refill(fleet.members.len(), [None; 2]);
        self.own.done = 0;
        for id in fleet.members.ids() {
            self.watch_channels(sim, id, now);
        }
    }

    /// A member begins to look at what its channels follow.
    pub(super) fn watch_channels(
        &mut self,
        sim: &mut Simulation<'p>,
        id: MemberId,
        now: Timestamp,
    ) {
        for brings in [IMAGES, KUBERNETES] {
            self.schedule(sim, (id, brings), now, now);
        }
    }

    /// Something that may have kept members from upgrading is over: they look again.
    pub(super) fn look_again(
        &mut self,
        sim: &mut Simulation<'p>,
        whom: impl Fn(&Member) -> bool,
        now: Timestamp,
    ) {
        if sim.world.own_delay().is_none() {
            return;
        }
        let members = &sim.world.setting.fleet.members;
        for (id, _) in members.iter_with_ids().filter(|(_, member)| whom(member)) {
            self.watch_channels(sim, id, now);
        }
    }

    /// Something has reached a region: members there that follow it will upgrade.
    pub(in crate::sim) fn offer(
        &mut self,
        sim: &mut Simulation<'p>,
        what: Released,
        region: RegionId,
        now: Timestamp,
    ) {
        let brings = match what {
            Released::Kubernetes(_) => KUBERNETES,
            Released::NodeImage(_) => IMAGES,
            Released::SecurityPatch(_) => return,
        };
        let fleet = sim.world.setting.fleet;
        for id in fleet.members.ids() {
            if fleet.members[id].region == region {
                self.schedule(sim, (id, brings), now, now);
            }
        }
    }

    /// Schedules a member's upgrade, not before an instant, if its channel follows this and none is
    /// scheduled yet.
    fn schedule(
        &mut self,
        sim: &mut Simulation<'p>,
        (id, brings): (MemberId, u16),
        now: Timestamp,
        earliest: Timestamp,
    ) {
        let member = &sim.world.setting.fleet.members[id];
        let follows = match brings {
            IMAGES => member.own_upgrades.images,
            _ => member.own_upgrades.kubernetes.is_some(),
        };
        let Some(delay) = sim.world.own_delay().filter(|_| follows) else { return };
        if sim.scheduler.is_stopped(id)
            || !sim.truth.presence.is_here(id)
            || self.own.scheduled[usize::from(brings)].contains(id.0)
        {
            return;
        }
        let is_there = match brings {
            IMAGES => sim.scheduler.has_newer_images(id),
            _ => own_target(sim, id, now).is_some(),
        };
        if !is_there {
            return;
        }
        let at = match next_opening(sim, id, brings, earliest) {
            Ok(opens) => opens,
            Err(()) if earliest > now => Some(earliest),
            Err(()) => Some(now + sim.truth.own_delay(delay, id, self.own.place(id, brings))),
        };
        if let Some(at) = at {
            self.own.count[id][usize::from(brings)] += 1;
            self.own.scheduled[usize::from(brings)].insert(id.0);
            sim.queue.push(at, Happening::OwnBegins(id, brings));
        }
    }

    /// A scheduled upgrade begins, unless there is nothing to do any more.
    pub(in crate::sim) fn begin_own_upgrade(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        (id, brings): (MemberId, u16),
    ) {
        if self.at_work[id].is_some() || sim.changes.is_busy(id) {
            self.own.waiting.push((id, brings));
            return;
        }
        self.own.scheduled[usize::from(brings)].remove(id.0);
        let kept = sim.scheduler.is_stopped(id) || sim.scheduler.has_outage(id);
        if kept || !sim.truth.presence.is_here(id) {
            return;
        }
        let member = &sim.world.setting.fleet.members[id];
        let current = sim.scheduler.kubernetes_version(id);
        if current.is_some_and(|v| self.calendar.is_out(v, member.long_term_support, now)) {
            return;
        }
        let moves = if brings == IMAGES {
            sim.scheduler.begin_newest_images(id)
        } else {
            self.own.version[id] = own_target(sim, id, now);
            self.own.version[id].is_some()
        };
        if !moves {
            return;
        }
        self.at_work[id] = Some(RunNo::OWN);
        self.since[id] = now;
        self.tell_others(sim, now, None, Event::Busy(id, true));
        let place = self.own.place(id, brings);
        let takes = sim.truth.own_duration(sim.world, (now, id), place);
        let code = self.fails(sim, (id, brings), place).then(FailureCode::default);
        let (takes, code) = sim.truth.outage(sim.world, now, id, takes, code);
        let ends = if code.is_some() { brings | FAILED } else { brings };
        sim.queue.push(now + takes, Happening::OwnEnds(id, ends));
    }

    /// Whether a member's own upgrade fails that begins now (W6).
    fn fails(&mut self, sim: &Simulation<'p>, (id, brings): (MemberId, u16), place: u16) -> bool {
        let first = &mut self.own.failed[id][usize::from(brings)];
        let version = self.own.version[id];
        let upgrade = version.map_or(Upgrade::NodeImageOnly, Upgrade::Full);
        let fails = match *first {
            Some(before) => sim.truth.own_fails_again(sim.world, id, before),
            None => sim.truth.own_fails(sim.world, &sim.scheduler, (id, upgrade), place),
        };
        *first = first.or(Some(place)).filter(|_| fails);
        fails
    }

    /// An own upgrade ends: everybody learns what the member runs now.
    pub(in crate::sim) fn end_own_upgrade(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        (id, ends): (MemberId, u16),
    ) {
        let (brings, failed) = (ends & !FAILED, ends & FAILED != 0);
        match self.own.version[id].take() {
            Some(version) if !failed => sim.scheduler.observe_kubernetes(id, version),
            None if !failed => sim.scheduler.end_newest_images(id),
            Some(_) => {}
            None => sim.scheduler.cancel_newest_images(id),
        }
        self.own.done += u32::from(!failed);
        self.free(sim, RunNo::OWN, now, id);
        sim.changes.freed(now, id, &mut sim.queue);
        let delay = sim.world.own_delay().filter(|_| failed);
        let place = self.own.place(id, brings);
        let rest = delay.map(|delay| sim.truth.own_delay(delay, id, place).max(Span::SECOND));
        self.schedule(sim, (id, brings), now, now + rest.unwrap_or(Span::ZERO));
    }

    /// A member is free: an upgrade that waited for it begins in its window.
    pub(in crate::sim) fn own_freed(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        id: MemberId,
    ) {
        while let Some(place) = self.own.waiting.iter().position(|(member, _)| *member == id) {
            let (_, brings) = self.own.waiting.remove(place);
            let at = next_opening(sim, id, brings, now).unwrap_or(Some(now));
            if let Some(at) = at {
                sim.queue.push(at, Happening::OwnBegins(id, brings));
            } else {
                self.own.scheduled[usize::from(brings)].remove(id.0);
            }
        }
    }
}

/// The next opening of the window that an upgrade belongs to (`None`: never again); an error
/// without a window.
fn next_opening(
    sim: &Simulation<'_>,
    id: MemberId,
    brings: u16,
    now: Timestamp,
) -> Result<Option<Timestamp>, ()> {
    let fleet = sim.world.setting.fleet;
    let member = &fleet.members[id];
    let window = match brings {
        IMAGES => member.node_os_window,
        _ => member.kubernetes_window,
    };
    window.map(|window| fleet.windows[window].next_opening(now)).ok_or(())
}

/// The version that a member's own Kubernetes upgrade brings: the newest patch in its region of
/// the channel's minor, one minor at a time.
fn own_target(sim: &Simulation<'_>, id: MemberId, now: Timestamp) -> Option<KubernetesVersion> {
    let member = &sim.world.setting.fleet.members[id];
    let current = sim.scheduler.kubernetes_version(id)?;
    let arrivals = sim.truth.arrivals(sim.world);
    let offered = (0..).zip(&arrivals.releases).filter_map(|(number, release)| {
        let Released::Kubernetes(version) = release.what else { return None };
        let here = arrivals.reached(number, member.region).is_some_and(|at| at <= now);
        let general = release.lifecycle.is_none_or(|life| life.general_from <= now);
        (here && general && now < release.withdrawn).then_some(version)
    });
    let offered: Vec<KubernetesVersion> = offered.collect();
    let newest = Minor::of(*offered.iter().max()?);
    let wanted = match member.own_upgrades.kubernetes? {
        KubernetesChannel::Patch => Minor::of(current),
        KubernetesChannel::Rapid => newest,
        KubernetesChannel::Stable => newest.back(1)?,
    };
    let next = Minor { minor: current.minor + 1, ..Minor::of(current) };
    let minor = wanted.min(next);
    let patches = offered.into_iter().filter(|version| Minor::of(*version) == minor);
    patches.max().filter(|version| *version > current)
}

impl World<'_> {
    /// Whether members upgrade themselves (U10).
    pub(in crate::sim) fn has_own_upgrades(&self) -> bool {
        self.own_delay.is_some()
            && self.setting.fleet.members.iter().any(|member| member.own_upgrades.any())
    }

    /// How long members without a window are behind; `None`: own upgrades are off.
    pub(in crate::sim) fn own_delay(&self) -> Option<&Quantiles> {
        self.own_delay.as_ref()
    }
}

impl Truth {
    /// How long a member without a window is behind its own channel before it upgrades itself.
    pub(in crate::sim) fn own_delay(
        &self,
        delay: &Quantiles,
        member: MemberId,
        place: u16,
    ) -> Span {
        let bits = self.luck.at(self.replication(), Purpose::OwnDelay, place, member.0);
        Span::from_millis(delay.millis(bits, 0))
    }

    /// Whether a member's own upgrade fails, with the luck of this place (W6).
    fn own_fails(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        (member, upgrade): (MemberId, Upgrade),
        place: u16,
    ) -> bool {
        let Some(model) = &world.setting.world.failures else { return false };
        let luck = world.luck_of_run(OWN_UPGRADES, u32::from(place));
        let bits = luck.at(self.replication(), Purpose::Failure, 0, member.0);
        let facts = &world.setting.fleet.members[member];
        happens(bits, model.of(facts, scheduler.kubernetes_version(member), upgrade))
    }

    /// Whether one fails again that failed first with the luck of this place.
    fn own_fails_again(&self, world: &World<'_>, member: MemberId, place: u16) -> bool {
        let Some(model) = &world.setting.world.failures else { return false };
        let luck = world.luck_of_run(OWN_UPGRADES, u32::from(place));
        let bits = luck.at(self.replication(), Purpose::FailureKind, 0, member.0);
        !happens(bits, model.transient)
    }

    /// How long a member's own upgrade takes: as if all its pools were reimaged.
    pub(in crate::sim) fn own_duration(
        &mut self,
        world: &World<'_>,
        (now, member): (Timestamp, MemberId),
        place: u16,
    ) -> Span {
        let luck = world.luck_of_run(OWN_UPGRADES, u32::from(place));
        let begins = Begins { now, member, number: 0 };
        self.reimage_with(world, &luck, begins, |_| true).takes
    }
}
