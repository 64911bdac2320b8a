//! Updates that end one by one and only hand their slot on: most of what happens, at once.

use crate::ids::MemberId;
use crate::scheduler::{FailureCode, Relayed};
use crate::sim::durations::Begins;
use crate::sim::queue::Happening;
use crate::sim::{Simulation, Told, Watch, World};
use crate::time::{Span, Timestamp};

/// What a chain of relays leaves to others.
enum Left {
    /// An update that begins.
    Start(Timestamp, MemberId, u16),
    /// An ending that more follows from.
    Ending(Timestamp, MemberId),
    /// A step that starts nobody.
    Nothing(Timestamp),
}

impl World<'_> {
    /// Whether endings may be handled at once: no model looks at each by itself, between an ending
    /// and the start that follows, and no update is without length.
    pub(super) fn hands_on(&self) -> bool {
        let setting = &self.setting;
        let of_models = setting.campaigns.is_empty() && self.defects.is_none();
        of_models && setting.script.updates.as_ref().is_none_or(|updates| !updates.has_instant())
    }

    /// Whether what an update comes to is the member's own luck alone.
    pub(super) fn is_plain(&self) -> bool {
        let of_others = self.defects.is_some() || self.outages.is_some();
        !of_others && self.setting.script.updates.is_none() && self.durations.are_drawn_before()
    }
}

impl Simulation<'_> {
    /// Handles endings as long as nothing else happens.
    pub(super) fn relay(&mut self, end: Timestamp, watch: &mut impl Watch) {
        while let Some(until) = self.steady_until(end) {
            let before = self.relayed;
            let left = self.relay_until(until, watch);
            if left.is_none() && self.relayed == before {
                return;
            }
            let now = match left {
                Some(Left::Start(now, member, attempt)) => {
                    self.begin(now, member, attempt);
                    now
                }
                Some(Left::Nothing(now)) => now,
                Some(Left::Ending(now, ended)) => {
                    return self.deliver(now, Happening::UpdateEnds(ended, None), watch);
                }
                None => continue,
            };
            if self.checked {
                self.check(now);
            }
        }
    }

    /// Until when nothing but endings can happen.
    fn steady_until(&mut self, end: Timestamp) -> Option<Timestamp> {
        let (next, _) = self.queue.peek()?;
        let until = self.scheduler.steady_until(next)?;
        Some(until.min(self.truth.next_fixed()).min(end + Span::from_millis(1)))
    }

    /// Handles endings until something is left that takes more; `None`: nothing is.
    fn relay_until(&mut self, until: Timestamp, watch: &mut impl Watch) -> Option<Left> {
        let checked = self.checked;
        let Self { scheduler, truth, queue, course, notices, .. } = self;
        let mut told = Told { watch, notices, course, waiting: self.world.crew.skips() };
        while let Some((now, ended)) = queue.pop_lone_completion(until) {
            let Some(relayed) = scheduler.relay(now, ended, &mut told) else {
                return Some(Left::Ending(now, ended));
            };
            self.relayed += 1;
            match relayed {
                Relayed::Start { member, attempt } => match truth.first_update(member, attempt) {
                    Some((takes, code)) if !checked => {
                        queue.push_ending((now, takes), member, code);
                    }
                    _ => return Some(Left::Start(now, member, attempt)),
                },
                Relayed::Nothing if checked => return Some(Left::Nothing(now)),
                Relayed::Nothing => {}
            }
        }
        None
    }

    /// An update begins: its end comes into the queue.
    #[inline]
    pub(super) fn begin(&mut self, now: Timestamp, member: MemberId, attempt: u16) {
        let first = self.truth.first_update(member, attempt);
        let (takes, code) = first.unwrap_or_else(|| self.update(now, member, attempt));
        self.queue.catch_up(now);
        self.queue.push_ending((now, takes), member, code);
        if self.checked {
            self.started.push(member);
        }
    }

    /// What an update comes to, whatever the model.
    #[inline(never)]
    fn update(
        &mut self,
        now: Timestamp,
        member: MemberId,
        attempt: u16,
    ) -> (Span, Option<FailureCode>) {
        let begins = Begins { now, member, number: attempt };
        let (takes, code) = self.truth.update(self.world, (&self.scheduler, None), begins);
        self.truth.outage(self.world, now, member, takes, code)
    }

    /// How many endings of the last replication only handed their slot on, and were handled at
    /// once for that; none when [`Self::step_by_step`].
    pub fn relayed(&self) -> u64 {
        self.relayed
    }
}
