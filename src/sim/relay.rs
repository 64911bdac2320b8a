//! Updates that end one by one and only hand their slot on: most of what happens, at once.

use crate::scheduler::Relayed;
use crate::sim::durations::Begins;
use crate::sim::queue::Happening;
use crate::sim::{Simulation, Told, Watch, World};
use crate::time::{Span, Timestamp};

impl World<'_> {
    /// Whether endings may be handled at once: no model looks at each by itself, between an ending
    /// and the start that follows, and no update is without length.
    pub(super) fn hands_on(&self) -> bool {
        let setting = &self.setting;
        let of_models = setting.campaigns.is_empty() && self.defects.is_none();
        of_models && setting.script.updates.as_ref().is_none_or(|updates| !updates.has_instant())
    }
}

impl Simulation<'_> {
    /// Handles endings as long as nothing else happens.
    pub(super) fn relay(&mut self, end: Timestamp, watch: &mut impl Watch) {
        let Some(until) = self.scheduler.steady_until() else { return };
        let until = until.min(self.truth.next_fixed()).min(end + Span::from_millis(1));
        while let Some((now, ended)) = self.queue.pop_lone_completion(until) {
            let waiting = self.world.crew.skips();
            let (notices, course) = (&mut self.notices, &mut self.course);
            let mut told = Told { watch: &mut *watch, notices, course, waiting };
            match self.scheduler.relay(now, ended, &mut told) {
                Some(Relayed::Start { member, attempt }) => {
                    let begins = Begins { now, member, number: attempt };
                    let asking = (&self.scheduler, None);
                    let (takes, code) = self.truth.update(self.world, asking, begins);
                    let (takes, code) = self.truth.outage(self.world, now, member, takes, code);
                    self.queue.push(now + takes, Happening::UpdateEnds(member, code));
                    if self.checked {
                        self.started.push(member);
                    }
                }
                Some(Relayed::Nothing) => {}
                None => return self.deliver(now, Happening::UpdateEnds(ended, None), watch),
            }
            self.relayed += 1;
            self.check(now);
        }
    }

    /// How many endings of the last replication only handed their slot on, and were handled at
    /// once for that; none when [`Self::step_by_step`].
    pub fn relayed(&self) -> u64 {
        self.relayed
    }
}
