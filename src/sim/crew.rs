//! What people make of what they see: watchers who stop a run, approvers who look at health first,
//! somebody who skips members that wait too long, and who starts again (W10, W11).

use crate::fleet::Amount;
use crate::ids::{Column, GateId, MemberId};
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::{Action, Event, GateKind, Plan, Restart, Scheduler, SkipTarget, State};
use crate::sim::Notice;
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::{Setting, WorldModel};
use crate::sim::people::Hours;
use crate::sim::queue::{Happening, Queue, RunNo};
use crate::time::{Span, Timestamp};

/// People who watch the fleet and stop the run (W11).
#[derive(Debug, Clone, PartialEq)]
pub struct Watchers {
    /// They stop it when more members than this are known to be degraded; percentages are of the
    /// run's members, rounded down.
    pub limit: Amount,
    /// From there until they stop it, in milliseconds.
    pub reaction: Distribution,
    /// When they work; `None`: around the clock.
    pub hours: Option<Hours>,
}

/// Somebody who skips members that have been Pending too long (W11).
#[derive(Debug, Clone, PartialEq)]
pub struct Skipper {
    /// From a member's becoming Pending until it is skipped, in milliseconds.
    pub after: Distribution,
    /// When they work; `None`: around the clock.
    pub hours: Option<Hours>,
}

/// Somebody who starts a run again that people stopped, once the defect is fixed.
#[derive(Debug, Clone, PartialEq)]
pub struct Starter {
    /// From the fix until the start, in milliseconds.
    pub after: Distribution,
    /// What becomes of the failed members.
    pub restart: Restart,
}

/// The people of a world, compiled for all runs and replications.
#[derive(Debug)]
pub(super) struct Crew<'s> {
    people: &'s WorldModel,
    approval: Option<Quantiles>,
    restart: Option<Quantiles>,
    reaction: Option<Quantiles>,
    patience: Option<Quantiles>,
    start_again: Option<Quantiles>,
    /// Every member by name, to skip it by; empty if nobody skips.
    names: Column<MemberId, SkipTarget>,
}

impl<'s> Crew<'s> {
    pub(super) fn new(setting: Setting<'s>) -> Self {
        let people = setting.world;
        let members = setting.fleet.members.iter().filter(|_| people.skipper.is_some());
        Self {
            people,
            approval: people.approvers.as_ref().map(|who| Quantiles::new(&who.delay)),
            restart: people.restarter.as_ref().map(|who| Quantiles::new(&who.after)),
            reaction: people.watchers.as_ref().map(|who| Quantiles::new(&who.reaction)),
            patience: people.skipper.as_ref().map(|who| Quantiles::new(&who.after)),
            start_again: people.starter.as_ref().map(|who| Quantiles::new(&who.after)),
            names: members.map(|member| SkipTarget::Member(member.name.clone())).collect(),
        }
    }

    /// Whether nobody draws anything.
    pub(super) fn is_idle(&self) -> bool {
        let lags =
            [&self.approval, &self.restart, &self.reaction, &self.patience, &self.start_again];
        lags.into_iter().all(Option::is_none)
    }

    /// Whether somebody skips members that are Pending.
    pub(super) fn skips(&self) -> bool {
        self.patience.is_some()
    }

    /// Somebody starts a failed run again.
    fn restart(&self) -> Event<'static> {
        Event::Act(Action::Start(self.people.restarter.as_ref().map(|who| who.restart)))
    }
}

/// What people draw from: the run's luck, and the replication.
pub(super) type Draws<'a> = (&'a Luck, u32);

/// When somebody who sets out now is there.
fn lag(
    lag: &Quantiles,
    hours: Option<&Hours>,
    (luck, replication): Draws<'_>,
    (purpose, attempt, index): (Purpose, u16, u32),
    now: Timestamp,
) -> Timestamp {
    let lag = Span::from_millis(lag.millis(luck.at(replication, purpose, attempt, index), 0));
    hours.map_or(now + lag, |hours| hours.after(now, lag))
}

/// The people around one update run, in one replication.
#[derive(Debug)]
pub(super) struct People {
    run: RunNo,
    /// How often they have restarted the run after failures, and started it after fixes.
    restarts: u32,
    starts: u32,
    /// Whether watchers are about to stop the run, and how often they were.
    reacting: bool,
    reactions: u32,
    /// Since when the run is halted.
    halted: Option<Timestamp>,
    /// Whether people stopped it because of its members' health.
    stopped_for_health: bool,
    /// Approvals that approvers withheld because of the members' health since the run went on,
    /// and ever.
    withheld: Vec<GateId>,
    refused: Vec<GateId>,
    /// How often each member has been Pending, and when somebody skips it; empty if nobody does.
    pending: Column<MemberId, (u16, Timestamp)>,
}

impl People {
    /// The people around this run, at its beginning.
    pub(super) fn new(run: RunNo) -> Self {
        Self {
            run,
            restarts: 0,
            starts: 0,
            reacting: false,
            reactions: 0,
            halted: None,
            stopped_for_health: false,
            withheld: Vec::new(),
            refused: Vec::new(),
            pending: Column::new(),
        }
    }

    /// Since when the run has been halted without going on.
    pub(super) fn halted(&self) -> Option<Timestamp> {
        self.halted
    }

    /// They react to what they are told. So many members are known to be degraded.
    pub(super) fn react(
        &mut self,
        crew: &Crew<'_>,
        draws: Draws<'_>,
        (now, notice): (Timestamp, Notice),
        (scheduler, degraded): (&Scheduler<'_>, u32),
        queue: &mut Queue,
    ) {
        match notice {
            Notice::GatePending(gate) => {
                if scheduler.plan().gates[gate].kind == GateKind::Approval {
                    self.ask_approval(crew, draws, now, gate, queue);
                }
            }
            Notice::RunHalts => self.halted = self.halted.or(Some(now)),
            Notice::RunFailed => {
                self.halted = self.halted.or(Some(now));
                if let (Some(who), Some(delay)) = (&crew.people.restarter, &crew.restart)
                    && self.restarts < who.at_most
                {
                    let place = (Purpose::RestartDelay, 0, self.restarts);
                    self.restarts += 1;
                    let at = lag(delay, None, draws, place, now);
                    queue.push(at, Happening::Restart(self.run));
                }
            }
            Notice::RunGoesOn => {
                (self.halted, self.stopped_for_health) = (None, false);
                self.watch(crew, draws, now, (scheduler, degraded), queue);
                for gate in std::mem::take(&mut self.withheld) {
                    self.ask_approval(crew, draws, now, gate, queue);
                }
            }
            Notice::MemberPending(member) => {
                let plan = scheduler.plan();
                self.member_pending(crew, draws, now, (plan, member), queue);
            }
        }
    }

    /// An approval waits: somebody will look at it, for the first time or again.
    fn ask_approval(
        &self,
        crew: &Crew<'_>,
        draws: Draws<'_>,
        now: Timestamp,
        gate: GateId,
        queue: &mut Queue,
    ) {
        if let (Some(who), Some(delay)) = (&crew.people.approvers, &crew.approval) {
            let looks = self.refused.iter().filter(|other| **other == gate).count();
            let looks = u16::try_from(looks).unwrap_or(u16::MAX);
            let place = (Purpose::ApprovalDelay, looks, gate.0);
            let at = lag(delay, Some(&who.hours), draws, place, now);
            queue.push(at, Happening::Approval(gate, self.run));
        }
    }

    /// Somebody comes to a gate to approve: says what they do. If too many members are known to be
    /// degraded they stop the run instead, or leave it stopped.
    fn answer<'a>(
        &mut self,
        crew: &Crew<'_>,
        gate: GateId,
        degraded: u32,
        scheduler: &Scheduler<'a>,
    ) -> Option<Event<'a>> {
        let plan = scheduler.plan();
        let approve = Event::Act(Action::Approve(&plan.gates[gate].path));
        if degraded == 0 || scheduler.gate(gate).state != State::Pending {
            return Some(approve);
        }
        let who = crew.people.approvers.as_ref()?;
        if degraded <= who.tolerance.of_rounded_down(scheduler.size()) {
            return Some(approve);
        }
        self.withheld.push(gate);
        self.refused.push(gate);
        let goes = matches!(scheduler.run().state, State::Running | State::Pending);
        self.stopped_for_health |= goes;
        goes.then_some(Event::Act(Action::Stop))
    }

    /// Watchers set out to stop the run if too many members are known to be degraded.
    pub(super) fn watch(
        &mut self,
        crew: &Crew<'_>,
        draws: Draws<'_>,
        now: Timestamp,
        (scheduler, degraded): (&Scheduler<'_>, u32),
        queue: &mut Queue,
    ) {
        let (Some(who), Some(reaction)) = (&crew.people.watchers, &crew.reaction) else { return };
        if self.reacting || degraded <= who.limit.of_rounded_down(scheduler.size()) {
            return;
        }
        self.reacting = true;
        let place = (Purpose::WatchReaction, 0, self.reactions);
        self.reactions += 1;
        let at = lag(reaction, who.hours.as_ref(), draws, place, now);
        queue.push(at, Happening::WatcherStops(self.run));
    }

    /// Watchers come to stop the run: they do if it is going and its members are still ill. Once
    /// it is over, they can only say that it should have been stopped.
    fn stop(
        &mut self,
        crew: &Crew<'_>,
        now: Timestamp,
        degraded: u32,
        scheduler: &Scheduler<'_>,
    ) -> Option<Event<'static>> {
        self.reacting = false;
        let who = crew.people.watchers.as_ref()?;
        if degraded <= who.limit.of_rounded_down(scheduler.size()) {
            return None;
        }
        match scheduler.run().state {
            State::Running | State::Pending => {
                self.stopped_for_health = true;
                Some(Event::Act(Action::Stop))
            }
            State::Completed | State::Skipped => {
                self.halted = self.halted.or(Some(now));
                None
            }
            State::NotStarted | State::Stopping | State::Stopped | State::Failed => None,
        }
    }

    /// A defect is fixed: if people stopped the run for its members' health, and they are well now,
    /// somebody starts it again.
    pub(super) fn defect_fixed(
        &mut self,
        crew: &Crew<'_>,
        draws: Draws<'_>,
        now: Timestamp,
        (scheduler, degraded): (&Scheduler<'_>, u32),
        queue: &mut Queue,
    ) {
        let Some(delay) = crew.start_again.as_ref().filter(|_| self.stopped_for_health) else {
            return;
        };
        let of_run = |amount: Amount| amount.of_rounded_down(scheduler.size());
        let limit = crew.people.watchers.as_ref().map(|who| of_run(who.limit));
        let tolerance = crew.people.approvers.as_ref().map(|who| of_run(who.tolerance));
        if limit.into_iter().chain(tolerance).all(|bearable| degraded <= bearable) {
            let place = (Purpose::StartAgain, 0, self.starts);
            self.starts += 1;
            queue.push(lag(delay, None, draws, place, now), Happening::StartsAgain(self.run));
        }
    }

    /// Somebody comes to start the run again: they do if it is still stopped for its health.
    fn start_again(&self, crew: &Crew<'_>, run: State) -> Option<Event<'static>> {
        let who = crew.people.starter.as_ref()?;
        (self.stopped_for_health && run == State::Stopped)
            .then_some(Event::Act(Action::Start(Some(who.restart))))
    }

    /// A member becomes Pending: somebody will skip it if it stays so.
    fn member_pending(
        &mut self,
        crew: &Crew<'_>,
        draws: Draws<'_>,
        now: Timestamp,
        (plan, member): (&Plan<'_>, MemberId),
        queue: &mut Queue,
    ) {
        let (Some(who), Some(patience)) = (&crew.people.skipper, &crew.patience) else { return };
        if self.pending.is_empty() {
            self.pending.refill(plan.fleet.members.len(), (0, Timestamp::MAX));
        }
        let (number, _) = self.pending[member];
        let place = (Purpose::SkipPatience, number, member.0);
        let at = lag(patience, who.hours.as_ref(), draws, place, now);
        self.pending[member] = (number.saturating_add(1), at);
        queue.push(at, Happening::SkipsPending(member, self.run));
    }

    /// Somebody comes to skip a member: they do if it has been Pending ever since.
    fn skip<'a>(
        &self,
        crew: &'a Crew<'_>,
        now: Timestamp,
        member: MemberId,
        scheduler: &Scheduler<'_>,
    ) -> Option<Event<'a>> {
        let (_, at) = self.pending[member];
        (at == now && scheduler.member(member).state == State::Pending)
            .then(|| Event::Act(Action::Skip(&crew.names[member])))
    }

    /// Somebody comes to do what they set out to do: says what they do, if there is a reason.
    pub(super) fn deed<'a>(
        &mut self,
        crew: &'a Crew<'_>,
        (now, what): (Timestamp, Happening),
        degraded: u32,
        scheduler: &Scheduler<'a>,
    ) -> Option<Event<'a>> {
        match what {
            Happening::Approval(gate, _) => self.answer(crew, gate, degraded, scheduler),
            Happening::Restart(_) => Some(crew.restart()),
            Happening::WatcherStops(_) => self.stop(crew, now, degraded, scheduler),
            Happening::StartsAgain(_) => self.start_again(crew, scheduler.run().state),
            Happening::SkipsPending(member, _) => self.skip(crew, now, member, scheduler),
            _ => unreachable!("{what:?} is no deed"),
        }
    }
}
