//! What happens to the world besides the runs: members degrade, releases are halted and fixed,
//! clusters are stopped, join, leave and get pools.

use crate::fleet::{ImageVersion, Pool, PowerState};
use crate::ids::{MemberId, RegionId};
use crate::scheduler::{Event, FailureCode, Released, Scheduler};
use crate::sim::defects::{Defects, Exposure};
use crate::sim::queue::{Happening, Queue, RunNo};
use crate::sim::world::{Truth, World};
use crate::time::Timestamp;

/// What runs learn of the world's news.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tiding<'s> {
    /// A cluster is stopped, or started.
    Power(MemberId, PowerState),
    /// A member has left.
    Left(MemberId),
    /// A member has joined: it is in no run that exists (R-I21).
    Joined(MemberId),
    /// A release that was held back arrives.
    Arrived(Released, RegionId),
    /// A member has got a pool, whose nodes run this version.
    PoolAdded(MemberId, &'s Pool, ImageVersion),
}

impl<'s> Tiding<'s> {
    /// As a scheduler is told of it; `None`: it is no business of runs that exist.
    pub(super) fn event(self) -> Option<Event<'s>> {
        match self {
            Self::Power(member, power) => Some(Event::PowerState(member, power)),
            Self::Left(member) => Some(Event::Left(member)),
            Self::Arrived(what, region) => Some(Event::Arrived(what, region)),
            Self::PoolAdded(member, pool, version) => Some(Event::PoolAdded(member, pool, version)),
            Self::Joined(_) => None,
        }
    }
}

/// What people make of news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upshot {
    /// One more member is known to be degraded.
    Noticed,
    /// A defect is fixed.
    Fixed,
}

impl Truth {
    /// Puts what is to come of itself into the queue of a replication.
    pub(super) fn begin(&mut self, world: &World<'_>, end: Timestamp, queue: &mut Queue) {
        let replication = self.replication();
        let (start, fleet) = (world.start(), world.setting.fleet);
        if let (Some(defects), Some(model)) = (&mut self.defects, &world.defects) {
            defects.reset(model, replication, (fleet.members.len(), start), queue);
        }
        if world.comings {
            self.presence.reset(world.setting);
        }
        if let Some(model) = &world.churn {
            let presence = &mut self.presence;
            self.churn.reset(model, replication, (fleet, start, end), presence, queue);
        }
        self.begin_additions(world, end, queue);
    }

    /// Degraded members that somebody has noticed.
    #[inline]
    pub(super) fn known_degraded(&self) -> u32 {
        self.defects.as_ref().map_or(0, Defects::known_degraded)
    }

    /// A member's update ends; its scheduler has not been told yet.
    #[inline]
    pub(super) fn ends(
        &mut self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        now: Timestamp,
        (member, code): (MemberId, Option<FailureCode>),
        queue: &mut Queue,
    ) {
        if let (Some(defects), Some(model)) = (&mut self.defects, &world.defects) {
            defects.ended(model, scheduler, (now, member), code, queue);
        }
    }

    /// Members and releases change: puts what runs learn of it into `tidings`, and says what people
    /// make of it.
    pub(super) fn news<'s>(
        &mut self,
        world: &World<'s>,
        (now, what): (Timestamp, Happening),
        queue: &mut Queue,
        tidings: &mut Vec<Tiding<'s>>,
    ) -> Option<Upshot> {
        match what {
            Happening::PowerTurns(member, number) => {
                let model = world.churn.as_ref()?;
                let power = self.churn.turn(model, now, (member, number), queue);
                tidings.push(Tiding::Power(member, power));
                return None;
            }
            Happening::Leaves(member) => {
                self.leaves(now, member);
                tidings.push(Tiding::Left(member));
                return None;
            }
            Happening::Joins(member) => {
                self.presence.joined(member);
                tidings.push(Tiding::Joined(member));
                return None;
            }
            Happening::PoolAdded(member, number) => {
                tidings.extend(self.add_pool(world, (now, member, number), queue));
                return None;
            }
            _ => {}
        }
        let (Some(defects), Some(model)) = (&mut self.defects, &world.defects) else { return None };
        match what {
            Happening::Degrades(member, defect) => {
                defects.degrades(model, (now, member), defect, queue);
                None
            }
            Happening::Noticed(member, defect) => {
                defects.noticed(now, member, defect);
                Some(Upshot::Noticed)
            }
            Happening::ReleaseHalted(defect) => {
                defects.halted(model, now, defect, queue);
                None
            }
            Happening::DefectFixed(defect) => {
                let came = defects.fixed(now, defect);
                tidings.extend(came.map(|(what, region)| Tiding::Arrived(what, region)));
                Some(Upshot::Fixed)
            }
            _ => unreachable!("{what:?} is no news"),
        }
    }

    /// Whether a halt holds this arrival back.
    #[inline]
    pub(super) fn withholds(
        &mut self,
        world: &World<'_>,
        what: Released,
        region: RegionId,
    ) -> bool {
        match (&mut self.defects, &world.defects) {
            (Some(defects), Some(model)) => defects.withholds(model, what, region),
            _ => false,
        }
    }

    /// A member leaves the fleet, and with it what it ran.
    fn leaves(&mut self, now: Timestamp, member: MemberId) {
        self.presence.left(member);
        if let Some(defects) = &mut self.defects {
            defects.left(now, member);
        }
    }

    /// What becomes of a replication's members once its run is over, up to the horizon: who was
    /// exposed. Where several runs go on, none of them is the rollout whose stop would count.
    pub(super) fn aftermath(
        &mut self,
        world: &World<'_>,
        (scheduler, alone): (&Scheduler<'_>, bool),
        end: Timestamp,
        queue: &mut Queue,
    ) -> Exposure {
        if self.defects.is_none() {
            return Exposure::default();
        }
        let mut tidings = Vec::new();
        let luck = self.luck;
        let draws = (&luck, self.replication());
        while let Some((at, _)) = queue.peek()
            && at <= end
        {
            let what = queue.pop().expect("the queue was peeked at");
            if matches!(what, Happening::PowerTurns(..)) {
                // A defect does not mind whether a cluster is stopped: its turns end here.
                continue;
            }
            if let Happening::PoolAdded(member, number) = what {
                let _ = self.touch_by_pool(world, (at, member, number), queue);
                continue;
            }
            if what.is_news() {
                if self.news(world, (at, what), queue, &mut tidings) == Some(Upshot::Noticed) {
                    let ill = (scheduler, self.known_degraded());
                    self.people.watch(&world.crew, draws, at, ill, queue);
                }
                if let Some(Tiding::Joined(member)) = tidings.pop() {
                    let runs = self.runs_at(world, scheduler, (at, member));
                    self.touch(world, (at, member), &runs, queue);
                }
            } else if what == Happening::WatcherStops(RunNo::UPDATE) {
                let degraded = self.known_degraded();
                let stopped = self.people.deed(&world.crew, (at, what), degraded, scheduler);
                assert!(stopped.is_none(), "the run is over");
            }
        }
        let stopped = self.people.halted().filter(|_| alone);
        let defects = self.defects.as_mut().expect("there are defects");
        defects.exposure(stopped, end)
    }
}
