//! People: approvers in their working hours, and somebody who restarts a failed run (W10, W11).

use crate::ids::GateId;
use crate::scheduler::{Action, Event, GateKind, Plan};
use crate::sim::Notice;
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::Approvers;
use crate::sim::queue::{Happening, Queue, RunNo};
use crate::sim::world::World;
use crate::time::{Span, Timestamp};

/// Somebody approves a gate of a run.
pub(super) fn approval<'a>(plan: &'a Plan<'_>, gate: GateId) -> Event<'a> {
    Event::Act(Action::Approve(&plan.gates[gate].path))
}

/// The people around one update run.
#[derive(Debug)]
pub(super) struct People {
    run: RunNo,
    /// How often they have restarted the run.
    restarts: u32,
}

impl People {
    /// The people around this run, at its beginning.
    pub(super) fn new(run: RunNo) -> Self {
        Self { run, restarts: 0 }
    }

    /// They react to what they are told, with the run's luck in this replication.
    pub(super) fn react(
        &mut self,
        world: &World<'_>,
        (luck, replication): (&Luck, u32),
        (now, notice): (Timestamp, Notice),
        plan: &Plan<'_>,
        queue: &mut Queue,
    ) {
        let people = &world.setting.world;
        match notice {
            Notice::GatePending(gate) => {
                if let (Some(who), Some(delay)) = (&people.approvers, &world.approval_delay)
                    && plan.gates[gate].kind == GateKind::Approval
                {
                    let bits = luck.at(replication, Purpose::ApprovalDelay, 0, gate.0);
                    let delay = Span::from_millis(delay.millis(bits, 0));
                    let at = who.working_time_after(now, delay);
                    queue.push(at, Happening::Approval(gate, self.run));
                }
            }
            Notice::RunFailed => {
                if let (Some(who), Some(delay)) = (&people.restarter, &world.restart_delay)
                    && self.restarts < who.at_most
                {
                    let number = self.restarts;
                    self.restarts += 1;
                    let bits = luck.at(replication, Purpose::RestartDelay, 0, number);
                    let delay = Span::from_millis(delay.millis(bits, 0));
                    queue.push(now + delay, Happening::Restart(self.run));
                }
            }
        }
    }
}

const DAY: i64 = Span::DAY.as_millis();

impl Approvers {
    /// The instant at which `delay` of working time has passed since `from`.
    pub(super) fn working_time_after(&self, from: Timestamp, delay: Span) -> Timestamp {
        let offset = Span::from_mins(i64::from(self.offset.0));
        let (begins, ends) = (minutes(self.from.0), minutes(self.to.0));
        let mut now = (from + offset).as_millis();
        let mut left = delay.as_millis();
        loop {
            let midnight = now.div_euclid(DAY) * DAY;
            let works = self.days.iter().any(|day| i64::from(*day as u8) == weekday(midnight));
            let today = now.max(midnight + begins);
            if works && today + left <= midnight + ends {
                return Timestamp::from_millis(today + left) - offset;
            }
            if works && today < midnight + ends {
                left -= midnight + ends - today;
            }
            now = midnight + DAY;
        }
    }
}

fn minutes(minutes: u16) -> i64 {
    Span::from_mins(i64::from(minutes)).as_millis()
}

/// The day of the week of a local midnight, Sunday 0. 1970-01-01 was a Thursday.
fn weekday(midnight: i64) -> i64 {
    (midnight.div_euclid(DAY) + 4).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{TimeOfDay, UtcOffset, Weekday};
    use crate::quantiles::Distribution;

    #[test]
    fn w10_approvals_take_working_time() {
        let approvers = Approvers {
            delay: Distribution::constant(0.0).unwrap(),
            days: vec![
                Weekday::Monday,
                Weekday::Tuesday,
                Weekday::Wednesday,
                Weekday::Thursday,
                Weekday::Friday,
            ],
            from: TimeOfDay(9 * 60),
            to: TimeOfDay(17 * 60),
            offset: UtcOffset(60),
        };
        let after = |from: &str, hours: i64| {
            let from: Timestamp = from.parse().unwrap();
            approvers.working_time_after(from, Span::from_hours(hours)).to_string()
        };
        // 2026-03-02 is a Monday; 09:00 there is 08:00Z.
        assert_eq!(after("2026-03-02T08:00:00Z", 2), "2026-03-02T10:00:00Z");
        assert_eq!(after("2026-03-02T03:00:00Z", 2), "2026-03-02T10:00:00Z");
        assert_eq!(after("2026-03-02T15:00:00Z", 2), "2026-03-03T09:00:00Z");
        assert_eq!(after("2026-03-06T15:30:00Z", 1), "2026-03-09T08:30:00Z");
        assert_eq!(after("2026-03-07T12:00:00Z", 0), "2026-03-09T08:00:00Z");
        assert_eq!(after("2026-03-02T08:00:00Z", 20), "2026-03-04T12:00:00Z");
    }
}
