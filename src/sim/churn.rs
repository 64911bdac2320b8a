//! Members come and go: they are stopped and started, and they leave (W9).

use crate::fleet::{Fleet, PowerState};
use crate::ids::{Column, MemberId};
use crate::quantiles::{Distribution, Quantiles};
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::Setting;
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
    /// From the scenario's start until a member leaves, in milliseconds.
    pub after: Distribution,
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
            members: fleet.members.len(),
        })
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
    /// Everybody is as at the start; puts the first turns and all departures up to the horizon
    /// into the queue.
    pub(super) fn reset(
        &mut self,
        world: &ChurnWorld,
        replication: u32,
        (fleet, start, end): (&Fleet, Timestamp, Timestamp),
        queue: &mut Queue,
    ) {
        (self.replication, self.end) = (replication, end);
        self.power.refill(world.members, PowerState::Running);
        for (id, member) in fleet.members.iter_with_ids() {
            self.power[id] = member.power_state;
        }
        for id in &world.stopped {
            self.next_turn(world, start, *id, 0, queue);
        }
        let Some(after) = &world.leaves else { return };
        for id in &world.leaving {
            let bits = world.luck.at(replication, Purpose::LeavesAfter, 0, id.0);
            self.push(start, after.millis(bits, SHORTEST), Happening::Leaves(*id), queue);
        }
    }

    fn push(&self, now: Timestamp, after: i64, what: Happening, queue: &mut Queue) {
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
