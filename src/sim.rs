//! The simulation: one virtual clock, one queue, one loop.
//!
//! [`Simulation::run`] is the main loop. What is true in a replication stands in [`world`], what
//! may come next in `queue`; the luck is drawn in [`draw`] before the loop begins, the real
//! scheduler decides, and [`outcome`] says what it came to.

pub mod added;
pub mod behind;
pub mod campaign;
pub mod churn;
pub mod crew;
pub mod defects;
mod delay;
pub mod draw;
mod durations;
pub mod failures;
mod hub;
pub mod model;
mod news;
pub mod nodes;
mod outages;
pub mod outcome;
pub mod patches;
pub mod people;
mod presence;
pub mod queue;
mod relay;
pub mod releases;
pub mod script;
mod staleness;
mod trace;
pub mod whom;
pub mod world;

pub use campaign::{ChangeRecord, ChangeStep, Changes};
pub use defects::Exposure;
pub use delay::{DelayCause, Delays, MemberMove, Moves};
pub use nodes::Costs;
pub use outcome::{Autonomous, End, Outcome, ProfileRun};
pub use staleness::Versions;
pub use trace::{Ascending, Trace};
pub use world::World;

use crate::scheduler::{Event, Log, Node, Output, Plan, Reason, Record, Refusal, Scheduler, State};
use crate::sim::campaign::Ongoing;
use crate::sim::hub::Hub;
use crate::sim::news::{Tiding, Upshot};
use crate::sim::queue::{Happening, Queue};
use crate::sim::world::{Asked, Truth};
use crate::time::Timestamp;

/// More steps than any instant can need: beyond, the scheduler runs in a circle.
const MOST_STEPS: u32 = 10_000_000;

/// One worker's simulation of one strategy: everything that changes, reused from replication to
/// replication.
#[derive(Debug)]
pub struct Simulation<'p> {
    world: &'p World<'p>,
    scheduler: Scheduler<'p>,
    truth: Truth,
    queue: Queue,
    notices: Vec<Notice>,
    changes: Ongoing,
    course: Course,
    path: delay::Path,
    /// The runs beside the scheduler's own, where there can be any.
    hub: Option<Box<Hub<'p>>>,
    staleness: staleness::Staleness,
    /// Whether endings that only hand their slot on are handled at once.
    relays: bool,
    /// How many of the last replication's endings were.
    relayed: u64,
    /// Whether the scheduler's invariants are checked after every step.
    checked: bool,
    /// Whose updates the last step started, where it is checked.
    started: Vec<crate::ids::MemberId>,
}

/// Takes what a replication shows besides the scheduler's records.
pub trait Watch: Log {
    /// An action was refused (R-F6): when, what, why.
    fn refused(&mut self, at: Timestamp, action: &dyn std::fmt::Display, why: Refusal);

    /// Takes a record of a run that a profile made: 1 is the first. Records of all runs come in the
    /// order in which the changes took effect.
    fn record_beside(&mut self, _run: u16, _record: Record) {}

    /// Something happened to a configuration change.
    fn change(&mut self, _: ChangeRecord) {}
}

impl Watch for crate::scheduler::NoLog {
    fn refused(&mut self, _: Timestamp, _: &dyn std::fmt::Display, _: Refusal) {}
}

/// What people are told of.
#[derive(Debug, Clone, Copy)]
enum Notice {
    GatePending(crate::ids::GateId),
    MemberPending(crate::ids::MemberId),
    RunFailed,
    RunHalts,
    RunGoesOn,
}

/// What is kept of a replication's course.
#[derive(Debug, Default)]
struct Course {
    start: Timestamp,
    /// When members were done, from the start.
    done: Ascending,
    trace: Trace,
}

impl Course {
    fn reset(&mut self, start: Timestamp) {
        self.start = start;
        self.done.clear();
        self.trace = Trace::default();
    }

    /// A member is done now.
    #[inline]
    fn member_done(&mut self, now: Timestamp) {
        self.done.push((now - self.start).as_millis());
    }
}

/// Passes records on, and notes those that people react to.
struct Told<'a, W> {
    watch: &'a mut W,
    notices: &'a mut Vec<Notice>,
    course: &'a mut Course,
    /// Whether somebody looks at members that are Pending.
    waiting: bool,
}

impl<W: Watch> Log for Told<'_, W> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "where the move is known, little of it is left")]
    fn record(&mut self, record: Record) {
        self.course.trace.add(0, &record);
        match (record.node, record.to) {
            (Node::Member(_), State::Running) => {}
            (Node::Member(_), State::Completed) => self.course.member_done(record.time),
            _ => self.note(&record),
        }
        self.watch.record(record);
    }
}

impl<W> Told<'_, W> {
    /// Notes what people react to, and who is done without an update.
    fn note(&mut self, record: &Record) {
        match (record.node, record.to) {
            (Node::Member(_), State::Skipped) if at_target(record.reason) => {
                self.course.member_done(record.time);
            }
            (Node::Member(id), State::Pending) if self.waiting && record.from != State::Pending => {
                self.notices.push(Notice::MemberPending(id));
            }
            (Node::Gate(id), State::Pending) => self.notices.push(Notice::GatePending(id)),
            (Node::Run, State::Failed) => self.notices.push(Notice::RunFailed),
            (Node::Run, State::Stopping | State::Stopped) => self.notices.push(Notice::RunHalts),
            (Node::Run, State::Running)
                if matches!(record.from, State::Stopped | State::Failed) =>
            {
                self.notices.push(Notice::RunGoesOn);
            }
            _ => {}
        }
    }
}

/// Whether a member was skipped because it had nothing to do: it is done.
fn at_target(reason: Option<Reason>) -> bool {
    matches!(reason, Some(Reason::AlreadyAtTarget | Reason::TargetVersionOlder))
}

impl<'p> Simulation<'p> {
    /// A simulation of this plan in this world.
    pub fn new(world: &'p World<'p>, plan: &'p Plan<'p>) -> Self {
        let hub = Hub::new(world, plan);
        Self {
            world,
            scheduler: Scheduler::new(plan),
            truth: Truth::new(world),
            queue: Queue::new(world.usual_update()),
            notices: Vec::new(),
            changes: Ongoing::default(),
            course: Course::default(),
            path: delay::Path::default(),
            relays: hub.is_none() && world.hands_on(),
            hub,
            staleness: staleness::Staleness::default(),
            relayed: 0,
            checked: false,
            started: Vec::new(),
        }
    }

    /// The same, with the scheduler's invariants checked after every step: O(members) each.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// The same, with every event handed to the scheduler by itself: slower, to the same end.
    #[must_use]
    pub fn step_by_step(mut self) -> Self {
        self.relays = false;
        self
    }

    /// Simulates one replication until the run ends, or the clock passes `end` (inclusive, R-A7).
    pub fn run(&mut self, replication: u32, end: Timestamp, watch: &mut impl Watch) -> Outcome {
        self.scheduler.reset();
        self.relayed = 0;
        self.queue.reset(self.world.start());
        self.course.reset(self.world.start());
        self.truth.draw(self.world, replication, &mut self.scheduler);
        self.truth.begin(self.world, end, &mut self.queue);
        let start = self.world.start();
        let told = (self.world, &self.truth.presence);
        self.changes.reset(told, self.scheduler.plan(), (replication, end), &mut self.queue);
        self.with_hub(Hub::reset);
        self.deliver(start, Happening::Start, watch);
        let (mut last, mut wakes) = (start, 0_u32);
        while !self.is_over() {
            let next = self.truth.next_happening(&mut self.queue);
            let now = next.min(self.next_wake());
            if now > end {
                break;
            }
            // At one instant, what happens comes before what the scheduler wants to do.
            let happening = if next == now {
                self.truth.take_happening(self.world, &mut self.queue)
            } else {
                Happening::Wake
            };
            wakes = if now == last { wakes + 1 } else { 0 };
            assert!(wakes < MOST_STEPS, "the scheduler does not get past {now}");
            last = now;
            self.deliver(now, happening, watch);
            if self.checked {
                self.check(now);
            }
            if self.relays {
                self.relay(end, watch);
            }
        }
        let autonomous = self.hub.as_mut().map(|hub| Box::new(hub.outcome(start, end)));
        let campaigns = self.changes.outcomes();
        let changes = Changes::total(&campaigns);
        let costs = self.truth.costs(self.world, &changes, end);
        let run = (&self.scheduler, self.hub.is_none());
        let exposure = self.truth.aftermath(self.world, run, end, &mut self.queue);
        let outcome = Outcome::of(&self.scheduler, &self.course, start, end);
        Outcome { changes, campaigns, costs, exposure, autonomous, ..outcome }
    }

    /// Checks what holds between two steps.
    fn check(&mut self, now: Timestamp) {
        self.with_hub(|hub, simulation| hub.check(simulation));
        self.scheduler.check_invariants();
        for member in self.started.drain(..) {
            self.truth.check_start(self.world, &self.scheduler, member, now);
        }
    }

    /// Hands one happening to the scheduler and carries out what it asks for.
    fn deliver(&mut self, now: Timestamp, happening: Happening, watch: &mut impl Watch) {
        if self.hub.is_some() {
            self.with_hub(|hub, simulation| hub.deliver(simulation, now, happening, watch));
            return;
        }
        if let Happening::UpdateEnds(member, code) = happening {
            let queue = &mut self.queue;
            self.truth.ends(self.world, &self.scheduler, now, (member, code), queue);
        }
        let event = match happening {
            Happening::Start => Event::Started,
            Happening::Wake => Event::Woke,
            Happening::UpdateEnds(member, None) => Event::UpdateCompleted(member),
            Happening::UpdateEnds(member, Some(code)) => Event::UpdateFailed(member, code),
            Happening::Arrival(what, region) if self.truth.withholds(self.world, what, region) => {
                return;
            }
            Happening::Arrival(what, region) => Event::Arrived(what, region),
            Happening::Outage(region, begins) => Event::Outage(region, begins),
            Happening::Withdrawn(what) => Event::Withdrawn(what),
            Happening::Scripted(number) => self.world.scripted(number),
            Happening::Published | Happening::OwnBegins(..) | Happening::OwnEnds(..) => {
                unreachable!("only the hub looks at releases")
            }
            Happening::ChangeAsked(..) | Happening::ChangeEnds(..) => {
                return self.change(now, happening, watch);
            }
            _ if happening.is_news() => return self.news(now, happening, watch),
            _ => {
                let (crew, degraded) = (&self.world.crew, self.truth.known_degraded());
                let people = &mut self.truth.people;
                let deed = people.deed(crew, (now, happening), degraded, &self.scheduler);
                let Some(event) = deed else { return };
                event
            }
        };
        let waiting = self.world.crew.skips();
        let (notices, course) = (&mut self.notices, &mut self.course);
        let mut told = Told { watch: &mut *watch, notices, course, waiting };
        let _ = self.scheduler.handle(now, event, &mut told);
        for number in 0..self.scheduler.outputs().len() {
            match self.scheduler.outputs()[number] {
                Output::StartUpdate { member, attempt } => {
                    self.begin(now, member, attempt);
                    if self.changes.travel() {
                        self.changes.leave(now, member, watch);
                    }
                }
                Output::Refused(why) => watch.refused(now, &Asked { event, run: None }, why),
            }
        }
        if let Happening::UpdateEnds(member, failure) = happening
            && !self.world.setting.campaigns.is_empty()
        {
            if failure.is_none() && self.changes.travel() {
                self.changes.arrive(now, member, self.world.start(), watch);
            }
            self.changes.freed(now, member, &mut self.queue);
        }
        self.react(now);
    }

    /// People react to what they were told.
    fn react(&mut self, now: Timestamp) {
        let degraded = self.truth.known_degraded();
        let draws = (&self.truth.luck, self.truth.replication());
        for notice in self.notices.drain(..) {
            let people = &mut self.truth.people;
            let (what, who) = ((now, notice), (&self.scheduler, degraded));
            people.react(&self.world.crew, draws, what, who, &mut self.queue);
        }
    }

    /// When a scheduler wants to be woken next; the end of time: none does.
    #[inline]
    fn next_wake(&self) -> Timestamp {
        let wake = self.scheduler.next_wake().map_or(Timestamp::MAX, |(at, _)| at);
        self.hub.as_ref().map_or(wake, |hub| wake.min(hub.next_wake()))
    }

    /// Lets the hub work with everything else, if there is one.
    fn with_hub(&mut self, work: impl FnOnce(&mut Hub<'p>, &mut Self)) {
        if let Some(mut hub) = self.hub.take() {
            work(&mut hub, self);
            self.hub = Some(hub);
        }
    }

    /// Something happens to members or releases, whatever the run does.
    fn news(&mut self, now: Timestamp, happening: Happening, watch: &mut impl Watch) {
        let (world, mut tidings) = (self.world, Vec::new());
        let upshot = self.truth.news(world, (now, happening), &mut self.queue, &mut tidings);
        let (notices, course) = (&mut self.notices, &mut self.course);
        let mut told = Told { watch, notices, course, waiting: world.crew.skips() };
        for tiding in tidings {
            let Some(event) = tiding.event() else {
                self.truth.arrive(world, (now, tiding), &mut self.scheduler, &mut self.queue);
                continue;
            };
            let outputs = self.scheduler.handle(now, event, &mut told);
            assert_eq!(outputs.len(), 0, "nobody is started before the scheduler is woken");
            if let Tiding::PoolAdded(member, ..) = tiding {
                self.truth.moved(world, (now, member), &self.scheduler);
            }
        }
        self.react(now);
        let ill = (&self.scheduler, self.truth.known_degraded());
        let draws = (&self.truth.luck, self.truth.replication());
        let (people, queue) = (&mut self.truth.people, &mut self.queue);
        match upshot {
            Some(Upshot::Noticed) => people.watch(&world.crew, draws, now, ill, queue),
            Some(Upshot::Fixed) => people.defect_fixed(&world.crew, draws, now, ill, queue),
            None => {}
        }
    }

    /// A configuration change is asked for, or ends.
    fn change(&mut self, now: Timestamp, happening: Happening, watch: &mut impl Watch) {
        self.changes.queued -= 1;
        let (changes, queue) = (&mut self.changes, &mut self.queue);
        match happening {
            Happening::ChangeAsked(member, campaign) => {
                let asked = (member, campaign);
                let world = (self.world, &mut self.truth);
                changes.ask(now, asked, world, &mut self.scheduler, queue, watch);
            }
            Happening::ChangeEnds(member, campaign) => {
                let (change, start) = ((member, campaign), self.world.start());
                changes.end(now, change, start, &mut self.scheduler, watch);
                changes.freed(now, member, queue);
            }
            _ => unreachable!("{happening:?} is no change"),
        }
    }

    /// Whether nothing can change any more. What the script still asks of a run that has ended is
    /// refused (R-K8), so the script is played to its end.
    fn is_over(&self) -> bool {
        if self.hub.is_some() {
            // Profiles watch for releases to the end.
            return false;
        }
        let idle = || self.scheduler.next_wake().is_none() && self.queue.is_empty();
        let over = match self.scheduler.run().state {
            State::NotStarted | State::Pending | State::Running | State::Stopping => false,
            State::Stopped | State::Failed => idle(),
            State::Skipped | State::Completed => true,
        };
        over && self.truth.is_script_done(self.world) && self.changes.is_over()
    }

    /// Where the makespan of the last replication went, from all its moves.
    pub fn delays(&mut self, moves: &Moves, end: Timestamp) -> Delays {
        let arrived = |member| self.truth.targets_of(self.world, &self.scheduler, member);
        let busy = |member| {
            let others = self.hub.iter().flat_map(|hub| hub.work_on(member));
            let mut all: Vec<_> = self.changes.reimages_of(member).chain(others).collect();
            all.extend(self.truth.outages_of(self.world, member));
            all.sort_unstable();
            all
        };
        delay::split(&self.scheduler, moves, &arrived, &busy, end, &mut self.path)
    }

    /// How far behind the members of the last replication were.
    pub fn versions(&mut self, end: Timestamp) -> Versions {
        let world = self.world;
        self.staleness.of(staleness::Told {
            pools: &world.pools,
            scheduler: &self.scheduler,
            ran: &|family, region, image| self.truth.ran(world, family, region, image),
            arrivals: self.truth.all_arrivals(world),
            added: self.truth.all_added(world, end),
            newcomers: if world.comings {
                self.truth.newcomers(world, &self.scheduler, end)
            } else {
                Vec::new()
            },
            horizon: end,
        })
    }

    /// The runs that profiles made in the last replication, by name, in the order in which they
    /// were made.
    pub fn beside(&self) -> impl Iterator<Item = (&str, &Scheduler<'p>)> {
        self.hub.iter().flat_map(|hub| hub.shown())
    }

    /// The scheduler of `update` as the last replication left it.
    pub fn scheduler(&self) -> &Scheduler<'p> {
        &self.scheduler
    }
}
