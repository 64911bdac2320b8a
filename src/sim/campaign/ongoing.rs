//! What is true of configuration changes in one replication.
//!
//! A change and an update never overlap on one member: a change that comes while something else is
//! at work on its member is asked for again when that ends, and a member that is reimaged is busy
//! for the update run (R-B7).

use super::{Asked, Campaign, ChangeRecord, ChangeStep, Changes, Habit};
use crate::bits::Bits;
use crate::calendar::{Date, UtcOffset, Weekday, Window};
use crate::fleet::{NodeDisruptionPolicy, regions};
use crate::ids::{Column, MemberId, RegionId};
use crate::scheduler::disruption::{Decision, Verdict};
use crate::scheduler::{Event, Plan, Scheduler, State};
use crate::sim::Watch;
use crate::sim::durations::{Begins, Reimage};
use crate::sim::model::Setting;
use crate::sim::presence::Presence;
use crate::sim::queue::{Happening, Queue};
use crate::sim::world::{Truth, World};
use crate::time::{Span, Timestamp};

/// What is true of changes in one replication.
#[derive(Debug, Default)]
pub(in crate::sim) struct Ongoing {
    /// The last instant that is simulated.
    end: Timestamp,
    /// Members that are reimaged now.
    busy: Bits,
    /// Changes that wait until their member is free, in the order in which they were asked for.
    waiting: Vec<(MemberId, u16)>,
    /// Campaigns whose changes are part of updates, with the members that still need theirs.
    travelling: Vec<(u16, Bits)>,
    /// Entries of the queue that are about changes.
    pub(in crate::sim) queued: u32,
    /// Reimages, for the split of delays.
    reimages: Vec<(MemberId, Timestamp, Timestamp)>,
    /// What each campaign came to so far.
    outcomes: Vec<Changes>,
    /// What clocks show in each region in winter; found once.
    clocks: Column<RegionId, UtcOffset>,
}

impl Ongoing {
    /// Asks for nothing yet, and puts the first request of each member into the queue. `end` is the
    /// last instant that is simulated.
    pub(in crate::sim) fn reset(
        &mut self,
        (world, presence): (&World<'_>, &Presence),
        plan: &Plan<'_>,
        (replication, end): (u32, Timestamp),
        queue: &mut Queue,
    ) {
        let setting = world.setting;
        self.busy.reset(setting.fleet.members.len());
        if setting.campaigns.is_empty() {
            return;
        }
        if self.clocks.is_empty() {
            let clock = |name: &String| regions::find(name).map_or(UtcOffset::UTC, |at| at.january);
            self.clocks = setting.fleet.regions.iter().map(clock).collect();
        }
        self.end = end;
        self.waiting.clear();
        self.travelling.clear();
        self.reimages.clear();
        self.queued = 0;
        self.outcomes.clear();
        self.outcomes.resize_with(setting.campaigns.len(), Changes::default);
        for (number, campaign) in (0..).zip(setting.campaigns) {
            // Who joins after a campaign has begun is not asked.
            let begin = setting.start + campaign.begins();
            let is_there = |id: &MemberId| presence.stay(*id, setting.start).0 <= begin;
            let wanted = campaign.members.iter().filter(|id| is_there(id)).count();
            self.of(number).wanted = u32::try_from(wanted).expect("they fit u32");
            if campaign.asked == Asked::WithUpdate {
                let mut members = Bits::default();
                members.reset(setting.fleet.members.len());
                for id in campaign.members.iter().filter(|id| is_there(id)) {
                    members.insert(id.0);
                }
                self.travelling.push((number, members));
                continue;
            }
            let all = campaign.members.iter().enumerate();
            for (position, id) in all.filter(|(_, id)| is_there(id)) {
                let after = match &campaign.asked {
                    Asked::After(times) => times[position],
                    Asked::Drawn(_) => world.asked(replication, number, *id),
                    Asked::Stages { from, every } => *from + *every * stage_of(plan, *id),
                    Asked::WithUpdate => unreachable!("it is asked for with the update"),
                };
                self.push(queue, setting.start + after, *id, number);
            }
        }
    }

    /// What each campaign came to.
    pub(in crate::sim) fn outcomes(&self) -> Vec<Changes> {
        self.outcomes.clone()
    }

    fn of(&mut self, campaign: u16) -> &mut Changes {
        &mut self.outcomes[usize::from(campaign)]
    }

    /// Whether nothing is to come and nothing is at work.
    pub(in crate::sim) fn is_over(&self) -> bool {
        self.queued == 0 && self.waiting.is_empty()
    }

    /// Whether a member is reimaged now.
    pub(in crate::sim) fn is_busy(&self, id: MemberId) -> bool {
        self.busy.contains(id.0)
    }

    /// Somebody asks for a change while another run is at work on the member: it waits.
    pub(in crate::sim) fn wait(
        &mut self,
        now: Timestamp,
        (member, campaign): (MemberId, u16),
        watch: &mut impl Watch,
    ) {
        self.queued -= 1;
        for step in [ChangeStep::Asked { policy_changed: false }, ChangeStep::Pending] {
            watch.change(ChangeRecord { time: now, campaign, member, step });
        }
        self.waiting.push((member, campaign));
    }

    fn push(&mut self, queue: &mut Queue, at: Timestamp, member: MemberId, campaign: u16) {
        self.queued += 1;
        queue.push(at, Happening::ChangeAsked(member, campaign));
    }

    /// Somebody asks a member for a change (N1): it is carried out, refused, or waits its turn.
    pub(in crate::sim) fn ask(
        &mut self,
        now: Timestamp,
        (id, number): (MemberId, u16),
        (world, truth): (&World<'_>, &mut Truth),
        scheduler: &mut Scheduler<'_>,
        queue: &mut Queue,
        watch: &mut impl Watch,
    ) {
        let setting = world.setting;
        let campaign = &setting.campaigns[usize::from(number)];
        let member = &setting.fleet.members[id];
        if !truth.presence.is_here(id) {
            // Nobody wants anything of a member that has left.
            self.of(number).wanted -= 1;
            return;
        }
        let mut told = |step| {
            watch.change(ChangeRecord { time: now, campaign: number, member: id, step });
        };
        told(ChangeStep::Asked { policy_changed: false });
        if self.busy.contains(id.0) || scheduler.member(id).state == State::Running {
            told(ChangeStep::Pending);
            self.waiting.push((id, number));
            return;
        }
        let change = campaign.change();
        let window = member.node_os_window.map(|window| &setting.fleet.windows[window]);
        let verdict = change.judge(member.node_disruption_policy, window, now);
        if verdict.decision() == Decision::Refused {
            told(refusal(verdict));
            self.of(number).refused_calls += 1;
            match campaign.on_refused {
                Habit::GiveUp => return,
                Habit::RetryEvery(span) => return self.push(queue, now + span, id, number),
                Habit::RetryInWindow => {
                    let next = verdict.next_opening();
                    return next.map_or((), |at| self.push(queue, at, id, number));
                }
                Habit::ChangePolicy => {
                    self.of(number).policy_changes += 1;
                    let again = change.judge(NodeDisruptionPolicy::Allow, window, now);
                    assert!(again.decision() != Decision::Refused, "Allow refuses nothing");
                    told(ChangeStep::Asked { policy_changed: true });
                }
            }
        }
        if !change.reimages()
            || !world.pools_of(&truth.added, id).any(|pool| campaign.affects(pool))
        {
            told(ChangeStep::Completed);
            self.of(number).done.push((now - setting.start).as_millis());
            return;
        }
        told(ChangeStep::Started);
        let begins = Begins { now, member: id, number };
        let reimage = truth.reimage(world, begins, |pool| campaign.affects(pool));
        let ends = now + reimage.takes;
        self.count(begins, reimage, setting);
        queue.push(ends, Happening::ChangeEnds(id, number));
        let outputs = scheduler.handle(now, Event::Busy(id, true), watch);
        assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
    }

    /// A reimage begins; its nodes and hours are counted.
    fn count(&mut self, begins: Begins, reimage: Reimage, setting: Setting<'_>) {
        let Begins { now, member: id, number } = begins;
        let (ends, member) = (now + reimage.takes, &setting.fleet.members[id]);
        self.busy.insert(id.0);
        self.queued += 1;
        self.reimages.push((id, now, ends));
        let window = member.node_os_window.map(|window| &setting.fleet.windows[window]);
        let clock = self.clocks[member.region];
        // What lies beyond the end is not simulated.
        let end = self.end;
        let of = self.of(number);
        of.reimaged_nodes += reimage.nodes;
        of.ephemeral_data_losses += reimage.losses;
        of.charge(window, clock, now, ends.min(end));
    }

    /// A reimage ends: the member is free.
    pub(in crate::sim) fn end(
        &mut self,
        now: Timestamp,
        (id, number): (MemberId, u16),
        start: Timestamp,
        scheduler: &mut Scheduler<'_>,
        watch: &mut impl Watch,
    ) {
        self.busy.remove(id.0);
        self.of(number).done.push((now - start).as_millis());
        let step = ChangeStep::Completed;
        watch.change(ChangeRecord { time: now, campaign: number, member: id, step });
        let outputs = scheduler.handle(now, Event::Busy(id, false), watch);
        assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
    }

    /// Whether changes are part of updates.
    pub(in crate::sim) fn travel(&self) -> bool {
        !self.travelling.is_empty()
    }

    /// A member's update starts: the changes that are part of it start with it.
    pub(in crate::sim) fn leave(&self, now: Timestamp, id: MemberId, watch: &mut impl Watch) {
        for (campaign, members) in &self.travelling {
            if members.contains(id.0) {
                let (campaign, step) = (*campaign, ChangeStep::StartedWithUpdate);
                watch.change(ChangeRecord { time: now, campaign, member: id, step });
            }
        }
    }

    /// A member's update has succeeded: the changes that were part of it are done.
    pub(in crate::sim) fn arrive(
        &mut self,
        now: Timestamp,
        id: MemberId,
        start: Timestamp,
        watch: &mut impl Watch,
    ) {
        for (campaign, members) in &mut self.travelling {
            if members.contains(id.0) {
                members.remove(id.0);
                self.outcomes[usize::from(*campaign)].done.push((now - start).as_millis());
                let (campaign, step) = (*campaign, ChangeStep::Completed);
                watch.change(ChangeRecord { time: now, campaign, member: id, step });
            }
        }
    }

    /// The changes that waited for this member are asked for again, now.
    pub(in crate::sim) fn freed(&mut self, now: Timestamp, id: MemberId, queue: &mut Queue) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|(member, number)| {
            let others = *member != id;
            if !others {
                self.push(queue, now, *member, *number);
            }
            others
        });
        self.waiting = waiting;
    }

    /// When a member was reimaged.
    pub(in crate::sim) fn reimages_of(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let mine = self.reimages.iter().filter(move |(member, ..)| *member == id);
        mine.map(|(_, from, to)| (*from, *to))
    }
}

fn refusal(verdict: Verdict) -> ChangeStep {
    match verdict {
        Verdict::WindowClosed { next } => ChangeStep::RefusedByWindow(next),
        _ => ChangeStep::RefusedByPolicy,
    }
}

/// The number of the stage that a member is in; of members in none, that after the last.
fn stage_of(plan: &Plan<'_>, id: MemberId) -> i64 {
    let stage = plan.places[id].map(|place| plan.groups[place.group].stage.0);
    let last = || u32::try_from(plan.stages.len()).expect("stages are few");
    i64::from(stage.unwrap_or_else(last))
}

impl Campaign {
    /// When it begins, from the start: its members are those that the fleet has then.
    fn begins(&self) -> Span {
        match &self.asked {
            Asked::After(times) => times.iter().min().copied().unwrap_or_default(),
            Asked::Stages { from, .. } => *from,
            Asked::Drawn(_) | Asked::WithUpdate => Span::ZERO,
        }
    }

    /// The distribution of the instants at which its members are asked, if they are drawn.
    pub(in crate::sim) const fn drawn(&self) -> Option<&crate::quantiles::Distribution> {
        match &self.asked {
            Asked::Drawn(times) => Some(times),
            _ => None,
        }
    }
}

impl Changes {
    /// Counts a reimage's time: inside and outside of the window, and in working hours.
    fn charge(
        &mut self,
        window: Option<&Window>,
        clock: UtcOffset,
        from: Timestamp,
        to: Timestamp,
    ) {
        let open = window.map_or(Span::ZERO, |window| open_time(window, from, to));
        self.in_window += open;
        self.outside_window += to - from - open;
        self.business += working_time(clock, from, to);
    }
}
/// How long a window is open in a stretch.
fn open_time(window: &Window, from: Timestamp, to: Timestamp) -> Span {
    let within = window.intervals_from(from).take_while(|interval| interval.open < to);
    within.fold(Span::ZERO, |sum, open| sum + (open.close.min(to) - open.open.max(from)))
}

/// How much of a stretch lies in working hours: Monday to Friday, 09:00 to 17:00.
fn working_time(clock: UtcOffset, from: Timestamp, to: Timestamp) -> Span {
    let mut total = Span::ZERO;
    let mut now = from;
    while now < to {
        let day = Date::of(now, clock);
        let (begins, ends) = (day.begins(clock), day.ends(clock));
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            let (opens, closes) = (begins + Span::from_hours(9), begins + Span::from_hours(17));
            let (first, last) = (now.max(opens), to.min(closes));
            if first < last {
                total += last - first;
            }
        }
        now = ends;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_time_is_counted_on_the_local_clock() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let time = |from, to| working_time(UtcOffset(60), at(from), at(to));
        // 2026-03-02 is a Monday; 09:00 there is 08:00Z.
        assert_eq!(time("2026-03-02T07:00:00Z", "2026-03-02T09:30:00Z"), Span::from_mins(90));
        assert_eq!(time("2026-03-02T15:00:00Z", "2026-03-03T09:00:00Z"), Span::from_hours(2));
        assert_eq!(time("2026-03-07T00:00:00Z", "2026-03-08T22:00:00Z"), Span::ZERO);
        assert_eq!(time("2026-03-01T00:00:00Z", "2026-03-08T00:00:00Z"), Span::from_hours(40));
    }
}
