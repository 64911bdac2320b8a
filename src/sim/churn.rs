//! Members come and go: they are stopped and started, they join and they leave (W9).

use std::collections::BTreeMap;

use crate::fleet::{Fleet, PowerState};
use crate::ids::{Column, MemberId};
use crate::quantiles::{Distribution, Quantiles};
use crate::sim::added::PoolAdding;
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::Setting;
use crate::sim::presence::Presence;
use crate::sim::queue::{Happening, Queue};
use crate::sim::whom::Whom;
use crate::time::{Span, Timestamp};

/// No member is stopped, or started, sooner than this after it was the other.
const SHORTEST: i64 = Span::SECOND.as_millis();

/// How members come and go (W9).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChurnModel {
    /// `stopped`: members are stopped and started again; `None`: they stay as they are.
    pub stopped: Option<Stopping>,
    /// `leave`: members leave the fleet; `None`: nobody does.
    pub leave: Option<Leaving>,
    /// `join`: members join the fleet, kind by kind; empty: nobody does.
    pub join: Vec<Joining>,
    /// `addPool`: members get a pool that they did not have; empty: nobody does.
    pub add_pool: Vec<PoolAdding>,
}

/// Members are stopped and started again.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopping {
    /// Who.
    pub whom: Whom,
    /// For how long a member runs until it is stopped, in milliseconds.
    pub every: Distribution,
    /// For how long it is stopped, in milliseconds.
    pub lasts: Distribution,
}

/// Members leave the fleet for good.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaving {
    /// Who.
    pub whom: Whom,
    /// From the scenario's start, or from when it joins, until a member leaves, in milliseconds.
    pub after: Distribution,
}

/// Members of one kind join the fleet, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining {
    /// Who, in the order in which they join: members of the fleet of which it is said that they
    /// join.
    pub members: Vec<MemberId>,
    /// Whom each of them is like; empty when they are described by themselves.
    pub like: Vec<MemberId>,
    /// From the scenario's start, or from one joining, to the next, in milliseconds.
    pub every: Distribution,
}

/// The churn of a world, compiled for all replications.
#[derive(Debug)]
pub(super) struct ChurnWorld {
    luck: Luck,
    /// Who is stopped, in the fleet's order.
    stopped: Vec<MemberId>,
    lags: Option<(Quantiles, Quantiles)>,
    /// Who can leave.
    leaving: Vec<MemberId>,
    leaves: Option<Quantiles>,
    /// Who joins, kind by kind, and how far apart.
    joining: Vec<(Vec<MemberId>, Quantiles)>,
    /// Whom members that join are like.
    like: BTreeMap<MemberId, MemberId>,
    members: usize,
}

impl ChurnWorld {
    pub(super) fn new(setting: Setting<'_>) -> Option<Self> {
        let model = setting.world.churn.as_ref()?;
        let fleet = setting.fleet;
        let chosen = |whom: &Whom| {
            let fits = |id: &MemberId| whom.fits(&fleet.members[*id]);
            fleet.members.ids().filter(fits).collect::<Vec<_>>()
        };
        Some(Self {
            luck: Luck::new(setting.seed),
            stopped: model.stopped.as_ref().map(|model| chosen(&model.whom)).unwrap_or_default(),
            lags: model
                .stopped
                .as_ref()
                .map(|model| (Quantiles::new(&model.every), Quantiles::new(&model.lasts))),
            leaving: model.leave.as_ref().map(|model| chosen(&model.whom)).unwrap_or_default(),
            leaves: model.leave.as_ref().map(|model| Quantiles::new(&model.after)),
            joining: model
                .join
                .iter()
                .map(|kind| (kind.members.clone(), Quantiles::new(&kind.every)))
                .collect(),
            like: model.join.iter().flat_map(Joining::pairs).collect(),
            members: fleet.members.len(),
        })
    }
}

impl ChurnWorld {
    /// Whom a member that joins is like.
    pub(super) fn like(&self, id: MemberId) -> Option<MemberId> {
        self.like.get(&id).copied()
    }
}

impl Joining {
    /// Who is like whom.
    fn pairs(&self) -> impl Iterator<Item = (MemberId, MemberId)> + '_ {
        self.members.iter().copied().zip(self.like.iter().copied())
    }
}

/// What is true of churn in one replication.
#[derive(Debug, Default)]
pub(super) struct Churn {
    replication: u32,
    end: Timestamp,
    power: Column<MemberId, PowerState>,
}

impl Churn {
    /// Everybody is as at the start; puts the first turns, and who joins and leaves up to the
    /// horizon, into the queue.
    pub(super) fn reset(
        &mut self,
        world: &ChurnWorld,
        replication: u32,
        (fleet, start, end): (&Fleet, Timestamp, Timestamp),
        presence: &mut Presence,
        queue: &mut Queue,
    ) {
        (self.replication, self.end) = (replication, end);
        self.power.refill(world.members, PowerState::Running);
        for (id, member) in fleet.members.iter_with_ids() {
            self.power[id] = member.power_state;
        }
        self.joinings(world, start, presence, queue);
        for id in &world.stopped {
            self.next_turn(world, presence.stay(*id, start).0, *id, 0, queue);
        }
        let Some(after) = &world.leaves else { return };
        for id in &world.leaving {
            let bits = world.luck.at(replication, Purpose::LeavesAfter, 0, id.0);
            let (joins, after) = (presence.stay(*id, start).0, after.millis(bits, SHORTEST));
            if joins <= end {
                presence.will_leave(*id, joins + Span::from_millis(after));
                self.push(joins, after, Happening::Leaves(*id), queue);
            }
        }
    }

    /// Puts the joinings up to the horizon into the queue.
    fn joinings(
        &self,
        world: &ChurnWorld,
        start: Timestamp,
        presence: &mut Presence,
        queue: &mut Queue,
    ) {
        for (kind, (members, every)) in (0..).zip(&world.joining) {
            let draws = world.luck.sequence(self.replication, Purpose::JoinsAfter, kind);
            let mut at = start;
            for (id, bits) in members.iter().zip(draws) {
                at += Span::from_millis(every.millis(bits, SHORTEST));
                if at > self.end {
                    break;
                }
                presence.will_join(*id, at);
                queue.push(at, Happening::Joins(*id));
            }
        }
    }

    /// Nothing happens to a member that never joins.
    fn push(&self, now: Timestamp, after: i64, what: Happening, queue: &mut Queue) {
        if now > self.end {
            return;
        }
        let at = now + Span::from_millis(after);
        if at <= self.end {
            queue.push(at, what);
        }
    }

    fn next_turn(
        &self,
        world: &ChurnWorld,
        now: Timestamp,
        id: MemberId,
        number: u16,
        queue: &mut Queue,
    ) {
        let Some((every, lasts)) = &world.lags else { return };
        let (lag, purpose) = match self.power[id] {
            PowerState::Running => (every, Purpose::StopsAfter),
            PowerState::Stopped => (lasts, Purpose::StoppedFor),
        };
        let bits = world.luck.at(self.replication, purpose, number, id.0);
        self.push(now, lag.millis(bits, SHORTEST), Happening::PowerTurns(id, number), queue);
    }

    /// A member is stopped or started; says which, and puts its next turn into the queue.
    pub(super) fn turn(
        &mut self,
        world: &ChurnWorld,
        now: Timestamp,
        (id, number): (MemberId, u16),
        queue: &mut Queue,
    ) -> PowerState {
        let (power, number) = match self.power[id] {
            PowerState::Running => (PowerState::Stopped, number),
            PowerState::Stopped => (PowerState::Running, number.saturating_add(1)),
        };
        self.power[id] = power;
        self.next_turn(world, now, id, number, queue);
        power
    }
}
