//! Several update runs over one fleet: the scenario's `update`, and those that auto-upgrade
//! profiles make (A3, A7, A8).
//!
//! Owns which runs there are, which of them is at work on which member, and that each learns what
//! the others have done. Who makes a run, and with which target, the scheduler decides
//! ([`crate::scheduler::auto_upgrade`]); every run is a scheduler of its own. At one instant the
//! run that was made first is served first (ours).
//!
//! The scheduler of `update` also observes for all: it is told of everything that happens to the
//! fleet, whether its own run goes on or not, and a new run learns the fleet from it.

mod checks;
mod making;
mod own;

use crate::fleet::PowerState;
use crate::ids::{Column, MemberId};
use crate::scheduler::auto_upgrade::{Catalog, Made, Profile, SupportCalendar, Target};
use crate::scheduler::{
    Event, FailureCode, Log, NoLog, Node, Output, Plan, Record, Released, Scheduler, State,
};
use crate::sim::behind::{Cohorts, Seen, Watched};
use crate::sim::crew::People;
use crate::sim::draw::Luck;
use crate::sim::durations::Begins;
use crate::sim::news::{Tiding, Upshot};
use crate::sim::outcome::{Autonomous, ProfileRun};
use crate::sim::queue::{Happening, RunNo};
use crate::sim::releases::News;
use crate::sim::world::{Asked, Truth, World};
use crate::sim::{Notice, Simulation, Told, Trace, Watch};
use crate::time::Timestamp;

/// The runs of a replication beside `update`, and what all of them share.
#[derive(Debug)]
pub(super) struct Hub<'p> {
    /// The plans of the profiles.
    plans: &'p [Plan<'p>],
    catalog: Catalog,
    calendar: SupportCalendar,
    /// What each profile has made.
    made: Vec<Made>,
    /// The runs of this replication, in the order in which they were made: run 1 first.
    runs: Vec<Run<'p>>,
    /// Runs of former replications, by profile, to be used again.
    spare: Vec<Vec<Run<'p>>>,
    /// Runs that have started and not ended, by number; `update` is not among them.
    going: Vec<RunNo>,
    /// How much of the news of releases has been read.
    read: usize,
    /// Which run updates a member now.
    at_work: Column<MemberId, Option<RunNo>>,
    /// How many updates of each member have been started, by whichever run (R-K6).
    started: Column<MemberId, u16>,
    /// When runs of profiles were at work on which member, for the split of the delays of `update`.
    work: Vec<(MemberId, Timestamp, Timestamp)>,
    since: Column<MemberId, Timestamp>,
    cohorts: Cohorts,
    behind: Watched,
    own: own::Own,
    /// Nodes that got a live patch.
    live_patched: u32,
    checks: checks::Checks,
    /// What the run in hand asks for at one step.
    outputs: Vec<Output>,
}

/// One run of a profile.
#[derive(Debug)]
pub(super) struct Run<'p> {
    profile: usize,
    name: String,
    target: Target,
    made: Timestamp,
    /// When its profile made the next run while this one went on (A7).
    overtaken: Option<Timestamp>,
    luck: Luck,
    people: People,
    scheduler: Scheduler<'p>,
}

/// Passes records of a profile's run on, and notes those that people react to.
struct Beside<'a, W> {
    watch: &'a mut W,
    notices: &'a mut Vec<Notice>,
    trace: &'a mut Trace,
    run: RunNo,
    /// Whether somebody looks at members that are Pending.
    waiting: bool,
}

impl<W: Watch> Log for Beside<'_, W> {
    fn record(&mut self, record: Record) {
        match (record.node, record.to) {
            (Node::Gate(id), State::Pending) => self.notices.push(Notice::GatePending(id)),
            (Node::Run, State::Failed) => self.notices.push(Notice::RunFailed),
            (Node::Run, State::Stopping | State::Stopped) => self.notices.push(Notice::RunHalts),
            (Node::Run, State::Running)
                if matches!(record.from, State::Stopped | State::Failed) =>
            {
                self.notices.push(Notice::RunGoesOn);
            }
            (Node::Member(id), State::Pending) if self.waiting && record.from != State::Pending => {
                self.notices.push(Notice::MemberPending(id));
            }
            _ => {}
        }
        self.trace.add(self.run.0, &record);
        self.watch.record_beside(self.run.0, record);
    }
}

impl RunNo {
    /// The position of a profile's run among them; `None`: it is `update`.
    fn beside(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }

    fn of_position(position: usize) -> Self {
        Self(u16::try_from(position + 1).expect("a replication has fewer than 65,535 runs"))
    }
}

impl<'p> Hub<'p> {
    /// The hub of the plans beside this one, and of members that upgrade themselves; `None`: nobody
    /// but `update` touches a member.
    pub(super) fn new(world: &World<'_>, plan: &'p Plan<'p>) -> Option<Box<Self>> {
        if plan.beside.is_empty() && !world.has_own_upgrades() {
            return None;
        }
        Some(Box::new(Self {
            plans: &plan.beside,
            catalog: Catalog::default(),
            calendar: SupportCalendar::default(),
            made: vec![Made::default(); plan.beside.len()],
            runs: Vec::new(),
            spare: plan.beside.iter().map(|_| Vec::new()).collect(),
            going: Vec::new(),
            read: 0,
            at_work: Column::new(),
            started: Column::new(),
            work: Vec::new(),
            since: Column::new(),
            cohorts: Cohorts::of(plan.fleet),
            behind: Watched::default(),
            own: own::Own::default(),
            live_patched: 0,
            checks: checks::Checks::default(),
            outputs: Vec::new(),
        }))
    }

    fn profile(&self, profile: usize) -> &'p Profile {
        self.plans[profile].profile.expect("the plans beside another are those of profiles")
    }

    /// Back to the start of a replication: no runs yet, and everything is known that was released
    /// by now.
    pub(super) fn reset(&mut self, sim: &mut Simulation<'p>) {
        let fleet = sim.world.setting.fleet;
        for run in self.runs.drain(..) {
            self.spare[run.profile].push(run);
        }
        self.going.clear();
        self.work.clear();
        self.at_work.refill(fleet.members.len(), None);
        self.started.refill(fleet.members.len(), 0);
        self.since.refill(fleet.members.len(), Timestamp::MIN);
        self.checks.reset();
        self.live_patched = 0;
        let now = sim.world.start();
        self.catalog.reset(fleet.families.len());
        self.calendar.clear();
        let arrivals = sim.truth.arrivals(sim.world);
        for release in &arrivals.releases {
            if let (Released::Kubernetes(version), Some(life)) = (release.what, release.lifecycle) {
                let date = |at: Timestamp| (at < Timestamp::MAX).then_some(at);
                self.calendar.say(version, date(life.community_until), date(life.lts_until));
            }
        }
        self.read = 0;
        self.read_news(arrivals, now);
        self.behind.reset(self.plans.len(), fleet, (now, sim.world.setting.horizon));
        let seen = Seen::of(sim);
        for profile in 0..self.plans.len() {
            let rules = self.profile(profile);
            let target = rules.target(&self.catalog, &self.calendar, now);
            if let Some(target) = &target {
                self.behind.aim(profile, target, Timestamp::MIN, seen);
            }
            // What came before the newest image is why a member may be behind for long.
            let earlier = arrivals.releases.iter().filter(|release| release.published <= now);
            for what in earlier.map(|release| release.what) {
                if target.as_ref().is_some_and(|target| target.follows(what)) {
                    self.behind.aim_at(profile, what, Timestamp::MIN, seen);
                }
            }
            self.made[profile].reset(target);
        }
        let mut last = now;
        for News { at, .. } in &arrivals.news[self.read..] {
            if *at > last {
                sim.queue.push(*at, Happening::Published);
                last = *at;
            }
        }
        self.begin_own(sim, now);
    }

    /// The next instant at which a profile's run wants to be woken; the end of time: none does.
    pub(super) fn next_wake(&self) -> Timestamp {
        let wakes = self.going.iter().filter_map(|no| self.scheduler(*no)?.next_wake());
        wakes.map(|(at, _)| at).min().unwrap_or(Timestamp::MAX)
    }

    fn scheduler(&self, no: RunNo) -> Option<&Scheduler<'p>> {
        no.beside().map(|position| &self.runs[position].scheduler)
    }

    /// Whose scheduler is woken: the first that wants to be.
    fn woken(&self, sim: &Simulation<'p>, now: Timestamp) -> RunNo {
        let due = |wake: Option<(Timestamp, _)>| wake.is_some_and(|(at, _)| at <= now);
        let of = |no: &&RunNo| self.scheduler(**no).is_some_and(|s| due(s.next_wake()));
        match self.going.iter().find(of) {
            Some(no) if !due(sim.scheduler.next_wake()) => *no,
            _ => RunNo::UPDATE,
        }
    }

    /// Hands one happening to whom it concerns.
    pub(super) fn deliver(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        happening: Happening,
        watch: &mut impl Watch,
    ) {
        match happening {
            Happening::Start => {
                self.refuse_targets(now, watch);
                if sim.world.setting.has_update {
                    self.hand(sim, RunNo::UPDATE, now, Event::Started, watch);
                }
            }
            Happening::Wake => self.hand(sim, self.woken(sim, now), now, Event::Woke, watch),
            Happening::UpdateEnds(member, code) => {
                self.end_update(sim, now, (member, code), watch);
            }
            Happening::Arrival(what, region) if sim.truth.withholds(sim.world, what, region) => {}
            Happening::Arrival(what, region) => {
                self.hand_to_all(sim, now, Event::Arrived(what, region), watch);
                self.offer(sim, what, region, now);
            }
            Happening::Withdrawn(it) => self.hand_to_all(sim, now, Event::Withdrawn(it), watch),
            Happening::Outage(region, begins) => {
                self.hand_to_all(sim, now, Event::Outage(region, begins), watch);
                if !begins {
                    self.look_again(sim, |member| member.region == region, now);
                }
            }
            Happening::OwnBegins(id, kind) => self.begin_own_upgrade(sim, now, (id, kind)),
            Happening::OwnEnds(id, kind) => self.end_own_upgrade(sim, now, (id, kind)),
            Happening::Published => self.look_at_releases(sim, now, watch),
            Happening::Scripted(number) => self.act(sim, now, number, watch),
            Happening::Approval(_, no)
            | Happening::Restart(no)
            | Happening::WatcherStops(no)
            | Happening::StartsAgain(no)
            | Happening::SkipsPending(_, no) => {
                let (crew, degraded) = (&sim.world.crew, sim.truth.known_degraded());
                let (people, _, scheduler) = self.around(&mut sim.truth, &sim.scheduler, no);
                if let Some(event) = people.deed(crew, (now, happening), degraded, scheduler) {
                    self.hand(sim, no, now, event, watch);
                }
            }
            Happening::Degrades(..)
            | Happening::Noticed(..)
            | Happening::ReleaseHalted(_)
            | Happening::DefectFixed(_)
            | Happening::PowerTurns(..)
            | Happening::Leaves(_)
            | Happening::Joins(_)
            | Happening::PoolAdded(..) => self.news(sim, now, happening, watch),
            Happening::ChangeAsked(member, campaign) => {
                if self.at_work[member].is_some() {
                    sim.changes.wait(now, (member, campaign), watch);
                } else {
                    self.change(sim, now, happening, member, watch);
                }
            }
            Happening::ChangeEnds(member, _) => self.change(sim, now, happening, member, watch),
        }
    }

    /// An update of one of the runs ends.
    fn end_update(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        (member, code): (MemberId, Option<FailureCode>),
        watch: &mut impl Watch,
    ) {
        let no = self.at_work[member].expect("an update that ends has a run");
        let own = self.scheduler(no).unwrap_or(&sim.scheduler);
        sim.truth.ends(sim.world, own, now, (member, code), &mut sim.queue);
        if code.is_none() {
            self.live_patched += sim.truth.live_patched(sim.world, own, member);
        }
        let event = match code {
            None => Event::UpdateCompleted(member),
            Some(code) => Event::UpdateFailed(member, code),
        };
        self.hand(sim, no, now, event, watch);
        self.free(sim, no, now, member);
        if code.is_none() && no == RunNo::UPDATE && sim.changes.travel() {
            sim.changes.arrive(now, member, sim.world.start(), watch);
        }
        sim.changes.freed(now, member, &mut sim.queue);
    }

    /// Hands an event to one run, carries out what it asks for, and lets people react.
    fn hand(
        &mut self,
        sim: &mut Simulation<'p>,
        no: RunNo,
        now: Timestamp,
        event: Event<'_>,
        watch: &mut impl Watch,
    ) {
        let mut outputs = std::mem::take(&mut self.outputs);
        match no.beside() {
            None => {
                let (notices, course) = (&mut sim.notices, &mut sim.course);
                let waiting = sim.world.crew.skips();
                let mut told = Told { watch: &mut *watch, notices, course, waiting };
                outputs.extend(sim.scheduler.handle(now, event, &mut told));
            }
            Some(position) => {
                let (notices, trace) = (&mut sim.notices, &mut sim.course.trace);
                let waiting = sim.world.crew.skips();
                let mut told = Beside { watch: &mut *watch, notices, trace, run: no, waiting };
                outputs.extend(self.runs[position].scheduler.handle(now, event, &mut told));
            }
        }
        for output in outputs.drain(..) {
            match output {
                Output::StartUpdate { member, attempt } => {
                    self.begin_update(sim, no, now, (member, attempt));
                    if no == RunNo::UPDATE && sim.changes.travel() {
                        sim.changes.leave(now, member, watch);
                    }
                }
                Output::Refused(why) => {
                    let run = no.beside().map(|position| self.runs[position].name.as_str());
                    watch.refused(now, &Asked { event, run }, why);
                }
            }
        }
        self.outputs = outputs;
        self.react(sim, no, now);
        if self.scheduler(no).is_some_and(has_ended) {
            self.going.retain(|other| *other != no);
        }
    }

    /// The people around a run react to what they are told of it.
    fn react(&mut self, sim: &mut Simulation<'p>, no: RunNo, now: Timestamp) {
        let Simulation { truth, scheduler, notices, queue, world, .. } = sim;
        let (replication, degraded) = (truth.replication(), truth.known_degraded());
        let (people, luck, scheduler) = self.around(truth, scheduler, no);
        let (draws, who) = ((luck, replication), (scheduler, degraded));
        for notice in notices.drain(..) {
            people.react(&world.crew, draws, (now, notice), who, queue);
        }
    }

    /// The people around a run, its luck and itself; those of `update` stand elsewhere.
    fn around<'a>(
        &'a mut self,
        truth: &'a mut Truth,
        update: &'a Scheduler<'p>,
        no: RunNo,
    ) -> (&'a mut People, &'a Luck, &'a Scheduler<'p>) {
        match no.beside() {
            None => (&mut truth.people, &truth.luck, update),
            Some(position) => {
                let Run { people, luck, scheduler, .. } = &mut self.runs[position];
                (people, luck, scheduler)
            }
        }
    }

    /// Something happens to members or releases, whatever the runs do: all runs learn of it, and
    /// the people around each make of it what they will.
    fn news(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        happening: Happening,
        watch: &mut impl Watch,
    ) {
        let (world, mut tidings) = (sim.world, Vec::new());
        let upshot = sim.truth.news(world, (now, happening), &mut sim.queue, &mut tidings);
        for tiding in tidings {
            if let Some(event) = tiding.event() {
                self.hand_to_all(sim, now, event, watch);
            }
            match tiding {
                Tiding::Joined(member) => self.welcome(sim, now, member),
                Tiding::Left(member) => self.behind.left(member, now),
                Tiding::PoolAdded(member, ..) => self.has_grown(sim, now, member),
                Tiding::Power(member, PowerState::Running) => self.watch_channels(sim, member, now),
                Tiding::Power(..) | Tiding::Arrived(..) => {}
            }
        }
        let Some(upshot) = upshot else { return };
        let (replication, degraded) = (sim.truth.replication(), sim.truth.known_degraded());
        for index in 0..=self.going.len() {
            let no = index.checked_sub(1).map_or(RunNo::UPDATE, |index| self.going[index]);
            let Simulation { truth, scheduler, queue, .. } = &mut *sim;
            let (people, luck, scheduler) = self.around(truth, scheduler, no);
            let (draws, ill) = ((luck, replication), (scheduler, degraded));
            match upshot {
                Upshot::Noticed => people.watch(&world.crew, draws, now, ill, queue),
                Upshot::Fixed => people.defect_fixed(&world.crew, draws, now, ill, queue),
            }
        }
    }

    /// A member joins: it is in no run that exists (R-I21), but all learn what it runs.
    fn welcome(&mut self, sim: &mut Simulation<'p>, now: Timestamp, member: MemberId) {
        let Simulation { truth, scheduler, queue, world, .. } = &mut *sim;
        truth.arrive(world, (now, Tiding::Joined(member)), scheduler, queue);
        for other in &self.going {
            let position = other.beside().expect("`update` is not among them");
            self.runs[position].scheduler.observe_member(member, scheduler);
        }
        self.behind.joined(member, now, Seen::of(sim));
        self.watch_channels(sim, member, now);
    }

    /// A member has got a pool, of which all runs have learnt: it may be behind by it.
    fn has_grown(&mut self, sim: &mut Simulation<'p>, now: Timestamp, member: MemberId) {
        self.behind.moved(member, now, Seen::of(sim));
        sim.truth.moved(sim.world, (now, member), &sim.scheduler);
        self.watch_channels(sim, member, now);
    }

    /// Hands news of the world to all runs.
    fn hand_to_all(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        event: Event<'_>,
        watch: &mut impl Watch,
    ) {
        self.hand(sim, RunNo::UPDATE, now, event, watch);
        for index in 0..self.going.len() {
            self.hand(sim, self.going[index], now, event, watch);
        }
    }

    /// A run starts a member's update: the others leave the member alone (R-B7).
    fn begin_update(
        &mut self,
        sim: &mut Simulation<'p>,
        no: RunNo,
        now: Timestamp,
        (member, attempt): (MemberId, u16),
    ) {
        assert!(self.at_work[member].is_none(), "one work at a time");
        self.at_work[member] = Some(no);
        self.since[member] = now;
        self.tell_others(sim, now, Some(no), Event::Busy(member, true));
        let own = no.beside().map(|position| &self.runs[position]);
        let scheduler = own.map_or(&sim.scheduler, |run| &run.scheduler);
        let scripted = sim.world.setting.script.updates.is_some();
        let attempt = if scripted { self.started[member] } else { attempt };
        self.started[member] += 1;
        if sim.checked {
            sim.truth.check_start(sim.world, scheduler, member, now);
        }
        let asking = (scheduler, own.map(|run| &run.luck));
        let begins = Begins { now, member, number: attempt };
        let (takes, code) = sim.truth.update(sim.world, asking, begins);
        let (takes, code) = sim.truth.outage(sim.world, now, member, takes, code);
        sim.queue.push(now + takes, Happening::UpdateEnds(member, code));
    }

    /// A run's work on a member is over: the others learn what the member runs now.
    fn free(&mut self, sim: &mut Simulation<'p>, no: RunNo, now: Timestamp, member: MemberId) {
        self.at_work[member] = None;
        if let Some(run) = no.beside().and_then(|position| self.runs.get(position)) {
            sim.scheduler.observe_member(member, &run.scheduler);
        }
        if no != RunNo::UPDATE && sim.world.setting.has_update {
            self.work.push((member, self.since[member], now));
        }
        for other in self.going.iter().filter(|other| **other != no) {
            let position = other.beside().expect("`update` is not among them");
            self.runs[position].scheduler.observe_member(member, &sim.scheduler);
        }
        self.behind.moved(member, now, Seen::of(sim));
        sim.truth.moved(sim.world, (now, member), &sim.scheduler);
        self.tell_others(sim, now, Some(no), Event::Busy(member, false));
        self.own_freed(sim, now, member);
    }

    /// Tells all runs but one that a member is busy, or is not any more.
    fn tell_others(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        but: Option<RunNo>,
        event: Event<'_>,
    ) {
        if but != Some(RunNo::UPDATE) && sim.world.setting.has_update {
            let outputs = sim.scheduler.handle(now, event, &mut NoLog);
            assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
        }
        for other in self.going.iter().filter(|other| Some(**other) != but) {
            let position = other.beside().expect("`update` is not among them");
            let outputs = self.runs[position].scheduler.handle(now, event, &mut NoLog);
            assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
        }
    }

    /// A configuration change of a member that no run updates: the others learn whether it has made
    /// the member busy, or free.
    fn change(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        happening: Happening,
        member: MemberId,
        watch: &mut impl Watch,
    ) {
        let before = sim.changes.is_busy(member);
        sim.change(now, happening, watch);
        let busy = sim.changes.is_busy(member);
        if busy != before {
            // `update` was told by the change itself.
            self.tell_others(sim, now, Some(RunNo::UPDATE), Event::Busy(member, busy));
        }
        if before && !busy {
            self.own_freed(sim, now, member);
        }
    }

    /// When runs of profiles were at work on a member.
    pub(super) fn work_on(
        &self,
        id: MemberId,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let mine = self.work.iter().filter(move |(member, ..)| *member == id);
        mine.map(|(_, from, to)| (*from, *to))
    }

    /// What became of everything, at the end of a replication.
    pub(super) fn outcome(&mut self, start: Timestamp, end: Timestamp) -> Autonomous {
        let runs = self.runs.iter().map(|run| run.outcome(start)).collect();
        let behind = self.behind.outcome(&self.cohorts, end);
        let (own_upgrades, live_patched_nodes) = (self.own.done, self.live_patched);
        let over_time = self.behind.over_time();
        Autonomous { runs, behind, over_time, own_upgrades, live_patched_nodes }
    }

    /// The runs of profiles, in the order in which they were made.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&str, &Scheduler<'p>)> {
        self.runs.iter().map(|run| (run.name.as_str(), &run.scheduler))
    }
}

fn has_ended(scheduler: &Scheduler<'_>) -> bool {
    matches!(scheduler.run().state, State::Completed | State::Skipped)
}

impl Run<'_> {
    fn outcome(&self, start: Timestamp) -> ProfileRun {
        let what = (self.profile, self.name.as_str(), &self.target);
        ProfileRun::of(&self.scheduler, start, what, (self.made, self.overtaken))
    }
}
