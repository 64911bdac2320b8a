//! Defects in one replication: whom they touched, whom they broke, and what became of them.

use super::{Breaks, DefectWorld, Dice, Effect, Exposure, Kind, Release};
use crate::bits::Bits;
use crate::fleet::{KubernetesVersion, Member, NodeImage};
use crate::ids::{Column, MemberId, RegionId};
use crate::scheduler::{FailureCode, Released, Scheduler};
use crate::sim::draw::{Luck, Purpose, unit};
use crate::sim::queue::{Happening, Queue};
use crate::time::{Span, Timestamp};

/// No touch: the end of a member's list.
const NONE: u32 = u32::MAX;

/// What is true of defects in one replication.
#[derive(Debug)]
pub(in crate::sim) struct Defects {
    replication: u32,
    /// Releases that were looked at so far; under a script, its defects.
    known: Vec<Known>,
    /// Members that were brought to a defective release, in the order of time.
    touches: Vec<Touch>,
    /// The last touch of each member.
    last: Column<MemberId, u32>,
    withheld: Vec<Withheld>,
    /// Degraded members that somebody has noticed.
    degraded: u32,
    /// Positions in `known` of what the update at hand brings.
    brought: Vec<u16>,
    /// Until when the exposure of each member is counted.
    counted: Column<MemberId, Timestamp>,
}

/// A release that may be defective.
#[derive(Debug)]
struct Known {
    release: Release,
    luck: Luck,
    /// The release's number: defective where the probability is higher.
    number: f64,
    dice: Dice,
    /// Members that failed at once, or degraded; each counts once, however often it is tried.
    hit: Bits,
    halted: bool,
    fixed: bool,
}

/// A member that runs, or ran, a defective release.
#[derive(Debug)]
struct Touch {
    member: MemberId,
    /// Position in `known`.
    defect: u16,
    since: Timestamp,
    /// When it left the release, or the defect was fixed.
    until: Timestamp,
    noticed: bool,
    /// The member's touch before.
    before: u32,
}

/// An arrival that a halt holds back.
#[derive(Debug)]
struct Withheld {
    what: Released,
    region: RegionId,
    defect: usize,
    came: Option<Timestamp>,
}

/// What an update does, by the versions that it brings.
struct Brought<'a> {
    world: &'a DefectWorld<'a>,
    scheduler: &'a Scheduler<'a>,
    member: MemberId,
}

impl Brought<'_> {
    /// Calls `with` for each release that the member's running update brings, and the probability
    /// that such a release is defective.
    fn each(&self, mut with: impl FnMut(Release, f64)) {
        let Self { world, scheduler, member } = *self;
        let [image, patch, minor] = match &world.kind {
            Kind::Drawn { model, .. } => [model.node_image, model.patch, model.minor],
            Kind::Scripted(..) => [1.0; 3],
        };
        for (running, planned) in scheduler.images(member).zip(scheduler.planned_images(member)) {
            if let Some(version) = planned {
                with(world.image(NodeImage { family: running.family, version }), image);
            }
        }
        let target = scheduler.upgrade().kubernetes_version();
        let current = scheduler.kubernetes_version(member);
        if let (Some(target), Some(current)) = (target, current)
            && current < target
        {
            let line = |version: KubernetesVersion| (version.major, version.minor);
            let odds = if line(current) < line(target) { minor } else { patch };
            with(Release::Kubernetes(target), odds);
        }
    }
}

impl Defects {
    pub(in crate::sim) fn new() -> Self {
        Self {
            replication: 0,
            known: Vec::new(),
            touches: Vec::new(),
            last: Column::new(),
            withheld: Vec::new(),
            degraded: 0,
            brought: Vec::new(),
            counted: Column::new(),
        }
    }

    /// Nothing was touched yet; a script's defects are fixed when it says so.
    pub(in crate::sim) fn reset(
        &mut self,
        world: &DefectWorld<'_>,
        replication: u32,
        (members, start): (usize, Timestamp),
        queue: &mut Queue,
    ) {
        self.replication = replication;
        self.known.clear();
        self.touches.clear();
        self.last.refill(members, NONE);
        self.withheld.clear();
        self.degraded = 0;
        let Kind::Scripted(defects, _) = world.kind else { return };
        for (number, defect) in (0..).zip(defects) {
            let fixed = defect.fixed.is_some_and(|at| at <= start);
            self.known.push(Known {
                release: match defect.what {
                    Released::NodeImage(image) => Release::Named(image),
                    Released::Kubernetes(version) => Release::Kubernetes(version),
                    Released::SecurityPatch(patch) => Release::Patch(patch),
                },
                luck: world.luck,
                number: 0.0,
                dice: Dice { at_once: 0.0, later: 0.0 },
                hit: Bits::default(),
                halted: false,
                fixed,
            });
            if let Some(at) = defect.fixed.filter(|_| !fixed) {
                queue.push(at, Happening::DefectFixed(number));
            }
        }
    }

    /// Finds the defects that the member's running update brings, and that are not fixed.
    fn look(&mut self, world: &DefectWorld<'_>, scheduler: &Scheduler<'_>, member: MemberId) {
        self.brought.clear();
        let fits = match &world.kind {
            Kind::Drawn { model, .. } => model.whom.fits(&scheduler.plan().fleet.members[member]),
            Kind::Scripted(..) => true,
        };
        if !fits {
            return;
        }
        Brought { world, scheduler, member }.each(|release, odds| {
            if let Kind::Drawn { .. } = world.kind {
                self.meet(world, release);
            }
            for (number, known) in (0..).zip(&self.known) {
                let defective = known.release == release && known.number < odds && !known.fixed;
                if defective && !self.brought.contains(&number) {
                    self.brought.push(number);
                }
            }
        });
    }

    /// Draws a release when it is met first. The numbers are its own: when that is changes nothing.
    fn meet(&mut self, world: &DefectWorld<'_>, release: Release) {
        let Kind::Drawn { model, .. } = &world.kind else { return };
        if self.known.iter().any(|known| known.release == release) {
            return;
        }
        let luck = release.luck(&world.luck);
        let number = unit(luck.at(self.replication, Purpose::Defective, 0, 0));
        let share = unit(luck.at(self.replication, Purpose::DefectShare, 0, 0));
        let share = model.share.quantile_exact(share);
        let dice = Dice::of(share, model);
        let known = Known {
            release,
            luck,
            number,
            dice,
            hit: Bits::default(),
            halted: false,
            fixed: false,
        };
        self.known.push(known);
    }

    /// What a defect does to a member that it touches.
    fn breaks(&self, world: &DefectWorld<'_>, defect: u16, member: MemberId) -> Breaks {
        let known = &self.known[usize::from(defect)];
        match &world.kind {
            Kind::Drawn { .. } => {
                known.dice.breaks(&known.luck, self.replication, member, world.code)
            }
            Kind::Scripted(defects, codes) => {
                let number = usize::from(defect);
                if defects[number].members.binary_search(&member).is_err() {
                    return Breaks::Not;
                }
                codes[number].map_or(Breaks::Later, Breaks::AtOnce)
            }
        }
    }

    /// With what code a member's update that starts now will fail, if a defect fails it.
    pub(in crate::sim) fn fails(
        &mut self,
        world: &DefectWorld<'_>,
        scheduler: &Scheduler<'_>,
        member: MemberId,
    ) -> Option<FailureCode> {
        self.look(world, scheduler, member);
        self.brought.iter().find_map(|defect| match self.breaks(world, *defect, member) {
            Breaks::AtOnce(code) => Some(code),
            Breaks::Later | Breaks::Not => None,
        })
    }

    /// A member's update ends; the scheduler has not been told yet.
    pub(in crate::sim) fn ended(
        &mut self,
        world: &DefectWorld<'_>,
        scheduler: &Scheduler<'_>,
        (now, member): (Timestamp, MemberId),
        code: Option<FailureCode>,
        queue: &mut Queue,
    ) {
        self.look(world, scheduler, member);
        if code.is_none() && self.last[member] != NONE {
            self.leave_behind(&Brought { world, scheduler, member }, now);
        }
        for position in 0..self.brought.len() {
            let defect = self.brought[position];
            let breaks = self.breaks(world, defect, member);
            match code {
                Some(code) if breaks == Breaks::AtOnce(code) => {
                    self.hit(world, (now, member), defect, queue);
                }
                Some(_) => {}
                None => {
                    self.add_touch(member, defect, now);
                    if breaks == Breaks::Later {
                        let after = self.lag(world, defect, member, Purpose::DegradesAfter);
                        queue.push(now + after, Happening::Degrades(member, defect));
                    }
                }
            }
        }
    }

    /// A member joins with these new releases. What would fail its update lets it degrade at once:
    /// there is no update that could fail (ours). A script's failures are of updates alone.
    pub(in crate::sim) fn joined(
        &mut self,
        world: &DefectWorld<'_>,
        facts: &Member,
        (now, member): (Timestamp, MemberId),
        releases: &[Released],
        queue: &mut Queue,
    ) {
        let odds = match &world.kind {
            Kind::Drawn { model, .. } if !model.whom.fits(facts) => return,
            Kind::Drawn { model, .. } => (model.node_image, model.patch),
            Kind::Scripted(..) => (1.0, 1.0),
        };
        for what in releases {
            let release = world.release(*what);
            let odds = match what {
                Released::NodeImage(_) => odds.0,
                Released::Kubernetes(_) => odds.1,
                Released::SecurityPatch(_) => continue,
            };
            if let Kind::Drawn { .. } = world.kind {
                self.meet(world, release);
            }
            for defect in 0..self.known.len() {
                let known = &self.known[defect];
                let defective = known.release == release && known.number < odds && !known.fixed;
                let defect = u16::try_from(defect).expect("releases fit u16");
                if !defective || self.touch_of(member, defect, now).is_some() {
                    continue;
                }
                self.add_touch(member, defect, now);
                let after = match self.breaks(world, defect, member) {
                    Breaks::AtOnce(_) if !world.is_scripted() => Span::ZERO,
                    Breaks::Later => self.lag(world, defect, member, Purpose::DegradesAfter),
                    Breaks::AtOnce(_) | Breaks::Not => continue,
                };
                queue.push(now + after, Happening::Degrades(member, defect));
            }
        }
    }

    /// A member runs a defective release from now on.
    fn add_touch(&mut self, member: MemberId, defect: u16, now: Timestamp) {
        let (until, before) = (Timestamp::MAX, self.last[member]);
        let touch = Touch { member, defect, since: now, until, noticed: false, before };
        self.last[member] = u32::try_from(self.touches.len()).expect("touches fit u32");
        self.touches.push(touch);
    }

    /// The member runs other versions now: it leaves the defective ones that they replace.
    fn leave_behind(&mut self, brought: &Brought<'_>, now: Timestamp) {
        brought.each(|new, _| {
            let mut position = self.last[brought.member];
            while position != NONE {
                let touch = &mut self.touches[position as usize];
                position = touch.before;
                let old = self.known[usize::from(touch.defect)].release;
                let replaced = match (old, new) {
                    (Release::Image(old, _), Release::Image(new, _)) => old == new,
                    (Release::Named(old), Release::Named(new)) => old.family == new.family,
                    (Release::Kubernetes(_), Release::Kubernetes(_)) => true,
                    _ => false,
                };
                if replaced && touch.until > now {
                    touch.until = now;
                    self.degraded -= u32::from(touch.noticed);
                }
            }
        });
    }

    /// A member leaves the fleet: nothing that it ran counts any more.
    pub(in crate::sim) fn left(&mut self, now: Timestamp, member: MemberId) {
        let mut position = self.last[member];
        while position != NONE {
            let touch = &mut self.touches[position as usize];
            position = touch.before;
            if touch.until > now {
                touch.until = now;
                self.degraded -= u32::from(touch.noticed);
            }
        }
    }

    /// A drawn time of a member and defect, or the script's.
    fn lag(
        &self,
        world: &DefectWorld<'_>,
        defect: u16,
        member: MemberId,
        purpose: Purpose,
    ) -> Span {
        let degrades = purpose == Purpose::DegradesAfter;
        match &world.kind {
            Kind::Drawn { lags, .. } => {
                let lag = if degrades { &lags.degrades } else { &lags.noticed };
                let luck = &self.known[usize::from(defect)].luck;
                let bits = luck.at(self.replication, purpose, 0, member.0);
                Span::from_millis(lag.millis(bits, 0))
            }
            Kind::Scripted(defects, _) => match defects[usize::from(defect)].effect {
                Effect::Degrades { after, noticed_after } => {
                    if degrades {
                        after
                    } else {
                        noticed_after
                    }
                }
                Effect::Fails(_) => unreachable!("who fails does not degrade"),
            },
        }
    }

    /// One more member failed at once, or degraded: so many, and the platform halts the release.
    fn hit(
        &mut self,
        world: &DefectWorld<'_>,
        (now, member): (Timestamp, MemberId),
        defect: u16,
        queue: &mut Queue,
    ) {
        let known = &mut self.known[usize::from(defect)];
        if known.hit.is_empty() {
            known.hit.reset(self.last.len());
        }
        if known.hit.insert(member.0)
            && let Kind::Drawn { model, lags } = &world.kind
            && let (Some(halt), Some(lag)) = (&model.halt, &lags.halt)
            && known.hit.len() == halt.members as usize
        {
            let bits = known.luck.at(self.replication, Purpose::HaltLag, 0, 0);
            let after = Span::from_millis(lag.millis(bits, 0));
            queue.push(now + after, Happening::ReleaseHalted(u32::from(defect)));
        }
    }

    /// The member's touch by this defect, as long as it lasts.
    fn touch_of(&mut self, member: MemberId, defect: u16, now: Timestamp) -> Option<&mut Touch> {
        let mut position = self.last[member];
        while position != NONE {
            let touch = &self.touches[position as usize];
            if touch.defect == defect && touch.until > now {
                return Some(&mut self.touches[position as usize]);
            }
            position = touch.before;
        }
        None
    }

    /// A member degrades, if it still runs the release and the defect is not fixed.
    pub(in crate::sim) fn degrades(
        &mut self,
        world: &DefectWorld<'_>,
        (now, member): (Timestamp, MemberId),
        defect: u16,
        queue: &mut Queue,
    ) {
        if self.touch_of(member, defect, now).is_some() {
            self.hit(world, (now, member), defect, queue);
            let after = self.lag(world, defect, member, Purpose::NoticedAfter);
            queue.push(now + after, Happening::Noticed(member, defect));
        }
    }

    /// Somebody notices that a member is degraded, if it still is.
    pub(in crate::sim) fn noticed(&mut self, now: Timestamp, member: MemberId, defect: u16) {
        if let Some(touch) = self.touch_of(member, defect, now) {
            touch.noticed = true;
            self.degraded += 1;
        }
    }

    /// Degraded members that somebody has noticed, as long as they are.
    pub(in crate::sim) fn known_degraded(&self) -> u32 {
        self.degraded
    }

    /// The platform halts a release: it arrives nowhere any more, and is being fixed.
    pub(in crate::sim) fn halted(
        &mut self,
        world: &DefectWorld<'_>,
        now: Timestamp,
        defect: u32,
        queue: &mut Queue,
    ) {
        let Kind::Drawn { lags, .. } = &world.kind else { return };
        let known = &mut self.known[defect as usize];
        known.halted = true;
        let bits = known.luck.at(self.replication, Purpose::FixLag, 0, 0);
        let after = Span::from_millis(lags.fixed.millis(bits, 0));
        queue.push(now + after, Happening::DefectFixed(defect));
    }

    /// A defect is fixed: who runs the release is well, whom it reaches from now on stays so. What
    /// was held back comes now; says what.
    pub(in crate::sim) fn fixed(
        &mut self,
        now: Timestamp,
        defect: u32,
    ) -> impl Iterator<Item = (Released, RegionId)> + '_ {
        let number = defect as usize;
        self.known[number].fixed = true;
        for touch in &mut self.touches {
            if usize::from(touch.defect) == number && touch.until > now {
                touch.until = now;
                self.degraded -= u32::from(touch.noticed);
            }
        }
        self.withheld.iter_mut().filter(move |held| held.defect == number).map(move |held| {
            held.came = Some(now);
            (held.what, held.region)
        })
    }

    /// Whether a halt holds this arrival back; it is remembered until the fix.
    pub(in crate::sim) fn withholds(
        &mut self,
        world: &DefectWorld<'_>,
        what: Released,
        region: RegionId,
    ) -> bool {
        let release = world.release(what);
        let halted = |known: &Known| known.release == release && known.halted && !known.fixed;
        let Some(defect) = self.known.iter().position(halted) else { return false };
        self.withheld.push(Withheld { what, region, defect, came: None });
        true
    }

    /// When an arrival really came; `None` if it was held back and never did.
    pub(in crate::sim) fn came(
        &self,
        (at, what, region): (Timestamp, Released, RegionId),
    ) -> Option<Timestamp> {
        let held = self.withheld.iter().find(|held| held.what == what && held.region == region);
        held.map_or(Some(at), |held| held.came)
    }

    /// Who ran a defective release, and for how long: until the rollout was stopped, the defect
    /// fixed, or the horizon came.
    pub(in crate::sim) fn exposure(
        &mut self,
        stopped: Option<Timestamp>,
        horizon: Timestamp,
    ) -> Exposure {
        let mut exposure = Exposure::default();
        self.counted.refill(self.last.len(), Timestamp::MIN);
        let end = stopped.map_or(horizon, |at| at.min(horizon));
        for touch in &self.touches {
            // Two defects at one time expose a member once.
            let counted = &mut self.counted[touch.member];
            let (from, to) = (touch.since.max(*counted), touch.until.min(end));
            if from < to {
                exposure.members += u32::from(*counted == Timestamp::MIN);
                exposure.time += to - from;
                *counted = to;
            }
        }
        exposure
    }
}
