//! The world: what is fixed for all replications ([`World`]) and what is true in one (`Truth`).

mod arriving;
mod scripted;

use std::collections::BTreeSet;

use crate::bits::Bits;
use crate::fleet::{Fleet, NodeImage, Pool, PoolImage};
use crate::ids::{Column, FamilyId, MemberId, RegionId};
use crate::quantiles::Quantiles;
use crate::scheduler::auto_upgrade::{Channel, Profile};
use crate::scheduler::{FailureCode, Plan, Released, Scheduler};
use crate::sim::Changes;
use crate::sim::added::{Added, Additions};
use crate::sim::churn::{Churn, ChurnWorld};
use crate::sim::crew::{Crew, People};
use crate::sim::defects::{self, DefectWorld, Defects};
use crate::sim::draw::{Luck, Purpose, happens};
use crate::sim::durations::{Begins, Durations, Lengths, Place, Reimage};
use crate::sim::failures::Odds;
use crate::sim::model::Setting;
use crate::sim::nodes::{Costs, Estimate, Setback};
use crate::sim::outages::{Outages, Source};
use crate::sim::patches::PatchWorld;
use crate::sim::presence::{self, Presence};
use crate::sim::queue::{Happening, Queue, RunNo};
use crate::sim::releases::{Arrivals, Release, Releases, Turn, Wants};
use crate::sim::script::{ScriptedUpdate, ScriptedUpdates};
use crate::sim::staleness::Pools;
use crate::time::{Span, Timestamp};
use scripted::{ScriptedStep, scripted_actions};

pub(super) use scripted::{Asked, Step};

/// The code of updates that an outage fails (W3); its text is among the world's codes.
const OUTAGE: FailureCode = FailureCode(1);
/// Everything about a scenario that all replications and strategies share, compiled for the loop.
#[derive(Debug)]
pub struct World<'s> {
    pub(super) setting: Setting<'s>,
    luck: Luck,
    pub(super) durations: Durations,
    /// Whose updates fail how likely.
    odds: Odds,
    releases: Releases,
    /// Where outages come from; `None`: there are none.
    pub(super) outages: Option<Source>,
    /// Scripted actions, one for each target of a skip, by time, then by file (R-K8).
    actions: Vec<ScriptedStep<'s>>,
    /// What failed updates report; 0 is `UpdateFailed`.
    codes: Vec<String>,
    /// Where the codes of setbacks begin.
    setbacks: u16,
    /// When each campaign asks its members, where that is drawn.
    asked: Vec<Option<Quantiles>>,
    /// How long members without a window are behind their channel; `None`: own upgrades are off.
    pub(super) own_delay: Option<Quantiles>,
    /// Pools some versions behind the newest, by what they are behind of.
    behind: Vec<Behind>,
    pub(super) pools: Pools,
    pub(super) defects: Option<DefectWorld<'s>>,
    pub(super) churn: Option<ChurnWorld>,
    /// Which pools members may get; `None`: none does.
    pub(super) additions: Option<Additions<'s>>,
    /// Whether members join or leave.
    pub(super) comings: bool,
    /// `None`: nobody follows security patches.
    pub(super) patches: Option<PatchWorld>,
    pub(super) crew: Crew<'s>,
}

/// Of which family and in which region there are pools so many versions behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Behind {
    family: FamilyId,
    region: RegionId,
    versions: u32,
}

impl<'s> World<'s> {
    /// Compiles the world of a setting.
    pub fn new(setting: Setting<'s>) -> Self {
        let world = &setting.world;
        let mut codes = failure_codes(setting);
        let setbacks = u16::try_from(codes.len()).expect("codes fit u16");
        codes.extend(Setback::ALL.map(|setback| setback.code().to_owned()));
        Self {
            setting,
            luck: Luck::new(setting.seed),
            durations: Durations::new(setting),
            odds: Odds::new(world.failures.as_ref(), setting.fleet, setting.update),
            releases: Releases::new(setting, wants(setting)).for_runs(setting),
            outages: Source::of(setting),
            actions: scripted_actions(setting),
            defects: DefectWorld::new(setting, &|code| number_of(&codes, code)),
            codes,
            setbacks,
            asked: setting.campaigns.iter().map(|it| it.drawn().map(Quantiles::new)).collect(),
            own_delay: world.own_upgrades.as_ref().map(Quantiles::new),
            behind: pools_behind(setting.fleet),
            pools: Pools::new(setting.fleet),
            churn: ChurnWorld::new(setting),
            additions: Additions::new(setting),
            comings: presence::changes(setting),
            patches: PatchWorld::new(setting),
            crew: Crew::new(setting),
        }
    }

    /// Where the clock begins.
    pub fn start(&self) -> Timestamp {
        self.setting.start
    }

    /// All updates but one in a hundred take less, as a rule.
    pub(super) fn usual_update(&self) -> Span {
        self.durations.usual_update(self.setting.fleet)
    }

    /// The texts of failure codes.
    pub fn codes(&self) -> &[String] {
        &self.codes
    }

    /// Whether a replication draws no random number at all.
    pub fn is_deterministic(&self) -> bool {
        let constant = self.durations.is_constant(self.setting);
        let drawn = self.asked.iter().any(Option::is_some);
        let constant_delay = self.setting.world.own_upgrades.as_ref().is_none_or(|delay| {
            let (shortest, longest) = delay.range();
            shortest.to_bits() == longest.to_bits()
        });
        let own = (constant && constant_delay) || !self.has_own_upgrades();
        let changes = own && !drawn && (constant || self.setting.campaigns.is_empty());
        let updates = self.setting.script.updates.is_some() || (constant && self.odds.are_none());
        let people = self.crew.is_idle();
        let defects = self.defects.as_ref().is_none_or(DefectWorld::is_scripted);
        let releases = self.releases.fixed().is_some();
        let outages = self.outages.as_ref().is_none_or(Source::is_fixed);
        let patches = self.patches.as_ref().is_none_or(PatchWorld::is_constant);
        updates
            && patches
            && changes
            && outages
            && releases
            && people
            && defects
            && self.churn.is_none()
    }

    /// The luck of the n-th run of a profile.
    pub(super) fn luck_of_run(&self, profile: u16, nth: u32) -> Luck {
        self.luck.of_run(profile, nth)
    }

    /// What the update of all pools of each member comes to in the mean, with nothing in its way;
    /// `None` where the model of durations knows nothing of nodes.
    pub fn estimates(&self) -> Option<Column<MemberId, Estimate>> {
        self.durations.estimates(self.setting)
    }

    /// When a campaign asks a member first, where that is drawn, from the start.
    pub(super) fn asked(&self, replication: u32, campaign: u16, member: MemberId) -> Span {
        let times = self.asked[usize::from(campaign)].as_ref().expect("its times are drawn");
        let bits = self.luck.at(replication, Purpose::ChangeAsked, campaign, member.0);
        Span::from_millis(times.millis(bits, 0))
    }
}

/// Profiles and members' own channels follow releases, `update` does not.
fn wants(setting: Setting<'_>) -> Wants {
    let own = setting.world.own_upgrades.is_some()
        && setting.fleet.members.iter().any(|member| member.own_upgrades.kubernetes.is_some());
    let followed = setting.profiles.iter().any(|profile| profile.channel.is_kubernetes());
    let patches = |profile: &Profile| profile.channel == Channel::SecurityPatch;
    let security_patches = setting.profiles.iter().any(patches);
    Wants { kubernetes: own || followed, security_patches, news: !setting.profiles.is_empty() }
}

/// All codes that updates fail with: `UpdateFailed`, the code of drawn failures, then those of
/// scripted updates and of defects.
fn failure_codes(setting: Setting<'_>) -> Vec<String> {
    let updates = setting.script.updates.iter();
    let attempts = updates.flat_map(|u| u.by_member.values().chain([&u.rest])).flatten();
    let mut codes = vec!["UpdateFailed".to_owned()];
    for code in attempts.filter_map(|update| update.fails.clone()).chain(defects::codes(setting)) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

fn number_of(codes: &[String], text: &str) -> FailureCode {
    let number = codes.iter().position(|code| code == text).expect("all codes are known");
    FailureCode(u16::try_from(number).expect("codes fit u16"))
}

fn pools_behind(fleet: &Fleet) -> Vec<Behind> {
    let mut all = BTreeSet::new();
    for member in &fleet.members {
        for pool in &member.pools {
            if let PoolImage::Behind { family, versions } = pool.image {
                all.insert(Behind { family, region: member.region, versions });
            }
        }
    }
    all.into_iter().collect()
}

/// What is true in one replication; the scheduler learns of it only when it happens.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) replication: u32,
    pub(super) luck: Luck,
    pub(super) lengths: Lengths,
    /// Whether what an update comes to is the member's own luck alone.
    plain: bool,
    /// Whose first attempt fails.
    first_failures: Bits,
    arrivals: Arrivals,
    outages: Outages,
    next_arrival: usize,
    next_news: usize,
    next_action: usize,
    /// When the next arrival, news of a release or scripted action is.
    next_fixed: Timestamp,
    pub(super) people: People,
    pub(super) defects: Option<Defects>,
    pub(super) churn: Churn,
    pub(super) presence: Presence,
    pub(super) added: Added,
}

impl Truth {
    pub(super) fn new(world: &World<'_>) -> Self {
        Self {
            replication: 0,
            luck: world.luck,
            lengths: Lengths::default(),
            plain: world.is_plain(),
            first_failures: Bits::default(),
            arrivals: Arrivals::default(),
            outages: Outages::default(),
            next_arrival: 0,
            next_news: 0,
            next_action: 0,
            next_fixed: Timestamp::MAX,
            people: People::new(RunNo::UPDATE),
            defects: world.defects.as_ref().map(|_| Defects::new()),
            churn: Churn::default(),
            presence: Presence::default(),
            added: Added::default(),
        }
    }

    /// Draws the luck of a replication and tells the scheduler what holds at the start.
    pub(super) fn draw(
        &mut self,
        world: &World<'_>,
        replication: u32,
        scheduler: &mut Scheduler<'_>,
    ) {
        self.replication = replication;
        (self.next_arrival, self.next_action) = (0, 0);
        self.people = People::new(RunNo::UPDATE);
        self.draw_updates(world);
        world.releases.draw(&world.luck, replication, &mut self.arrivals);
        let arrivals = world.releases.fixed().unwrap_or(&self.arrivals);
        let before = |at: Timestamp| at <= world.start();
        for arrival in arrivals.arrivals.iter().take_while(|arrival| before(arrival.at)) {
            let Release { what, withdrawn, .. } = arrivals.releases[arrival.release as usize];
            if !before(withdrawn) {
                scheduler.observe_release(what, arrival.region, arrival.at);
            }
            self.next_arrival += 1;
        }
        self.next_news = arrivals.news.partition_point(|news| before(news.at));
        if let Some(source) = &world.outages {
            let clock = (world.start(), world.start() + world.setting.horizon);
            self.outages.draw(source, &world.luck, replication, clock);
            while let Some(edge) = self.outages.take_edge(world.start()) {
                scheduler.observe_outage(edge.region, edge.begins);
            }
        }
        self.look_ahead(world);
        scheduler.observe_support(self.support(world));
        self.place_pools(world, scheduler);
    }

    fn draw_updates(&mut self, world: &World<'_>) {
        let setting = world.setting;
        let scripted = setting.script.updates.is_some();
        let luck = (&world.luck, self.replication);
        self.lengths.draw(&world.durations, setting.fleet, luck, scripted);
        if scripted {
            return;
        }
        let members = setting.fleet.members.len();
        let failures = &mut self.first_failures;
        world.odds.draw(&world.luck, self.replication, members, failures);
    }

    /// Pools that are some versions behind their region get the version that this means here.
    fn place_pools(&self, world: &World<'_>, scheduler: &mut Scheduler<'_>) {
        for Behind { family, region, versions } in world.behind.iter().copied() {
            let newest = self.arrivals(world).newest_at(family, region, world.start(), versions);
            if let Some(version) = newest {
                scheduler.observe_behind((family, region), versions, version);
            }
        }
    }

    /// When something happens next; the end of time if nothing does.
    #[inline]
    pub(super) fn next_happening(&self, queue: &mut Queue) -> Timestamp {
        let queued = queue.peek().map_or(Timestamp::MAX, |(at, _)| at);
        queued.min(self.next_fixed)
    }

    /// When the next arrival, news of a release or scripted action is.
    pub(super) fn next_fixed(&self) -> Timestamp {
        self.next_fixed
    }

    /// Finds the next of what is fixed before the loop begins: arrivals, news of releases and the
    /// script's actions.
    fn look_ahead(&mut self, world: &World<'_>) {
        let arrival = self.arrival(world, self.next_arrival).map(|(at, _, _)| at);
        let action = world.actions.get(self.next_action).map(|step| step.at);
        let news = &self.arrivals(world).news[self.next_news..];
        let others = news.iter().take_while(|news| news.what != Turn::Withdrawn).count();
        let news = news.get(others).map(|news| news.at);
        self.next_news += others;
        let next = arrival.into_iter().chain(news).chain(action).min();
        self.next_fixed = next.unwrap_or(Timestamp::MAX).min(self.outages.next_edge());
    }

    /// Takes what happens next: endings before arrivals, arrivals before other news, these before
    /// the script, the script before other people (R-A1).
    pub(super) fn take_happening(&mut self, world: &World<'_>, queue: &mut Queue) -> Happening {
        if let Some((at, ending)) = queue.peek()
            && (at < self.next_fixed || (at == self.next_fixed && ending))
        {
            return queue.pop().expect("the queue was peeked at");
        }
        let now = self.next_fixed;
        if let Some((at, what, region)) = self.arrival(world, self.next_arrival)
            && at == now
        {
            self.next_arrival += 1;
            self.look_ahead(world);
            return Happening::Arrival(what, region);
        }
        if let Some(edge) = self.outages.take_edge(now) {
            self.look_ahead(world);
            return Happening::Outage(edge.region, edge.begins);
        }
        let arrivals = self.arrivals(world);
        if let Some(news) = arrivals.news.get(self.next_news).filter(|news| news.at == now) {
            let what = arrivals.releases[news.release as usize].what;
            self.next_news += 1;
            self.look_ahead(world);
            return Happening::Withdrawn(what);
        }
        assert!(self.next_action < world.actions.len(), "nothing happens any more");
        let number = self.next_action;
        self.next_action += 1;
        self.look_ahead(world);
        if let Step::Moves(happening) = world.actions[number].step {
            return happening;
        }
        Happening::Scripted(u32::try_from(number).expect("actions fit u32"))
    }

    /// Checks that a member that is started now has an open window, by the calendar itself, and
    /// images that have arrived (T1, G8, M4).
    pub(super) fn check_start(
        &self,
        world: &World<'_>,
        scheduler: &Scheduler<'_>,
        id: MemberId,
        now: Timestamp,
    ) {
        let fleet = world.setting.fleet;
        let member = &fleet.members[id];
        if let Some(window) = Plan::window_of(scheduler.plan().update, member) {
            assert!(fleet.windows[window].open_at(now), "{} starts outside", member.name);
        }
        for (image, planned) in scheduler.images(id).zip(scheduler.planned_images(id)) {
            let Some(version) = planned else { continue };
            let target = Released::NodeImage(NodeImage { family: image.family, version });
            let arrivals = self.arrivals(world);
            let release = arrivals.find(target).expect("members start with what is released");
            let there = arrivals.reached(release, member.region).is_some_and(|at| at <= now)
                && now < arrivals.releases[release as usize].withdrawn;
            assert!(there, "{} starts without its image", member.name);
        }
    }

    pub(super) fn replication(&self) -> u32 {
        self.replication
    }

    pub(super) fn is_script_done(&self, world: &World<'_>) -> bool {
        self.next_action == world.actions.len()
    }

    /// How long a member's attempt takes, and whether it fails (W4, W6, W7, R-I17, R-K6).
    ///
    /// The luck is the asking run's own; `None`: that of the scenario's `update`, whose first
    /// attempts are drawn beforehand.
    pub(super) fn update(
        &mut self,
        world: &World<'_>,
        asking: (&Scheduler<'_>, Option<&Luck>),
        begins: Begins,
    ) -> (Span, Option<FailureCode>) {
        let member = begins.member;
        let (takes, code) = self.attempt(world, asking, begins);
        if let (None, Some(defects), Some(model)) = (code, &mut self.defects, &world.defects) {
            return (takes, defects.fails(model, asking.0, member));
        }
        (takes, code)
    }

    /// The same of `update`'s first attempt in a plain world ([`World::is_plain`]); `None`: it is
    /// another attempt or world, or takes so long that it is drawn again.
    #[inline]
    pub(super) fn first_update(
        &self,
        member: MemberId,
        attempt: u16,
    ) -> Option<(Span, Option<FailureCode>)> {
        if !self.plain || attempt > 0 {
            return None;
        }
        let takes = self.lengths.first(member)?;
        let fails = !self.first_failures.is_empty() && self.first_failures.contains(member.0);
        Some((takes, fails.then_some(FailureCode::default())))
    }

    /// The same, of what does not depend on the release.
    fn attempt(
        &mut self,
        world: &World<'_>,
        (scheduler, luck): (&Scheduler<'_>, Option<&Luck>),
        begins: Begins,
    ) -> (Span, Option<FailureCode>) {
        let Begins { member, number: attempt, .. } = begins;
        if let Some(script) = &world.setting.script.updates {
            let ScriptedUpdate { takes, fails } = script.attempt(member, attempt);
            return (*takes, fails.as_ref().map(|text| number_of(&world.codes, text)));
        }
        let index = member.0;
        let luck_of_times = luck.unwrap_or(&world.luck);
        let live = if world.patches.is_some() {
            self.live_patch(world, scheduler, (luck_of_times, member, attempt))
        } else {
            None
        };
        let (takes, setback) = if let Some(takes) = live {
            (takes, None)
        } else {
            let (fleet, added) = (world.setting.fleet, &self.added);
            let place = Place { fleet, added, luck: (&world.luck, self.replication) };
            self.lengths.update(&world.durations, place, (scheduler, luck), begins)
        };
        if let Some(setback) = setback {
            return (takes, Some(FailureCode(world.setbacks + setback as u16)));
        }
        let drawn = luck.is_none();
        let luck = luck.unwrap_or(&self.luck);
        let fails = if drawn {
            self.first_failures.contains(index)
        } else {
            let bits = luck.at(self.replication, Purpose::Failure, 0, index);
            world.setting.world.failures.as_ref().is_some_and(|model| {
                let facts = &world.setting.fleet.members[member];
                let current = scheduler.kubernetes_version(member);
                happens(bits, model.of(facts, current, scheduler.upgrade()))
            })
        };
        let fails = fails && (attempt == 0 || !self.clears(world, luck, index));
        (takes, fails.then_some(FailureCode::default()))
    }

    /// What a campaign's change of a member comes to that begins now.
    pub(super) fn reimage(
        &mut self,
        world: &World<'_>,
        begins: Begins,
        affects: impl Fn(&Pool) -> bool,
    ) -> Reimage {
        self.reimage_with(world, &world.luck, begins, affects)
    }

    /// The same with another luck than the world's.
    pub(super) fn reimage_with(
        &mut self,
        world: &World<'_>,
        luck: &Luck,
        begins: Begins,
        affects: impl Fn(&Pool) -> bool,
    ) -> Reimage {
        let (fleet, added) = (world.setting.fleet, &self.added);
        let place = Place { fleet, added, luck: (luck, self.replication) };
        let pools = world.pools_of(added, begins.member).enumerate();
        let pools = pools.filter(|(_, pool)| affects(pool));
        self.lengths.reimage(&world.durations, place, begins, pools)
    }

    /// What updates and these changes cost up to `end`.
    pub(super) fn costs(&mut self, world: &World<'_>, changes: &Changes, end: Timestamp) -> Costs {
        self.lengths.costs(&world.durations, changes, end)
    }

    /// Whether the failures of a member are transient: the next attempt succeeds (W6).
    fn clears(&self, world: &World<'_>, luck: &Luck, index: u32) -> bool {
        let bits = luck.at(self.replication, Purpose::FailureKind, 0, index);
        let failures = world.setting.world.failures.as_ref();
        failures.is_some_and(|model| happens(bits, model.transient))
    }
}

impl ScriptedUpdates {
    /// The entry of a member's attempt: its own list or `*`, the last entry repeating (R-K6).
    fn attempt(&self, member: MemberId, attempt: u16) -> &ScriptedUpdate {
        let entries = self.by_member.get(&member).unwrap_or(&self.rest);
        let last = entries.len().checked_sub(1).expect("every member of the run has an entry");
        &entries[usize::from(attempt).min(last)]
    }

    /// Whether some update takes no time at all.
    pub(super) fn has_instant(&self) -> bool {
        let mut entries = self.by_member.values().chain([&self.rest]).flatten();
        entries.any(|update| update.takes <= Span::ZERO)
    }
}
