//! Who makes and starts runs: releases, and people (A3, A7, A8).

use crate::fleet::PowerState;
use crate::scheduler::auto_upgrade::{Channel, Target};
use crate::scheduler::{Action, Event, NoLog, Refusal, Released, Scheduler, State, Support};
use crate::sim::behind::Seen;
use crate::sim::crew::People;
use crate::sim::hub::{Hub, Run, RunNo};
use crate::sim::releases::{Arrivals, Release, Turn};
use crate::sim::world::{Asked, Step};
use crate::sim::{Simulation, Watch};
use crate::time::Timestamp;

impl<'p> Hub<'p> {
    /// Reads what has become known of releases by now; says whether something was released.
    pub(super) fn read_news(&mut self, arrivals: &Arrivals, now: Timestamp) -> bool {
        let mut released = false;
        while let Some(news) = arrivals.news.get(self.read).filter(|news| news.at <= now) {
            self.read += 1;
            let release = &arrivals.releases[news.release as usize];
            let preview = release.lifecycle.is_some_and(|life| life.general_from > news.at);
            match news.what {
                Turn::Published | Turn::General if !preview => {
                    self.catalog.add(release.what);
                    released = true;
                }
                Turn::Withdrawn => {
                    let offered =
                        |other: &&Release| other.published <= news.at && news.at < other.withdrawn;
                    let offered = arrivals.releases.iter().filter(offered);
                    self.catalog.withdraw(release.what, offered.filter_map(Release::image));
                }
                Turn::Published | Turn::General | Turn::Unsupported => {}
            }
        }
        released
    }

    /// Reports profiles whose minor is not there when the scenario starts: that is an error (A2).
    /// Once it is released they follow it.
    pub(super) fn refuse_targets(&self, now: Timestamp, watch: &mut impl Watch) {
        for profile in (0..self.plans.len()).map(|profile| self.profile(profile)) {
            let Channel::TargetKubernetesVersion { minor, .. } = profile.channel else { continue };
            if self.catalog.newest_patch(minor).is_none() && !profile.disabled {
                let asked = format!("follow Kubernetes {minor} by {}", profile.name);
                watch.refused(now, &asked, Refusal::NothingReleased);
            }
        }
    }

    /// Something was released: profiles whose target it changes make and start a run (A3).
    pub(super) fn look_at_releases(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        watch: &mut impl Watch,
    ) {
        let released = self.read_news(sim.truth.arrivals(sim.world), now);
        for profile in 0..self.plans.len() {
            let rules = self.profile(profile);
            let target = rules.target(&self.catalog, &self.calendar, now);
            if let Some(target) = &target {
                let seen = Seen::of(sim);
                self.behind.aim(profile, target, now, seen);
            }
            if !released {
                self.made[profile].on_withdrawal(target);
            } else if let Some(target) = self.made[profile].on_release(rules, target) {
                let no = self.make(sim, profile, &target, now);
                self.start(sim, no, now, watch);
            }
        }
    }

    /// Creates a run of a profile. Earlier ones that are still going on are overtaken, and go on
    /// (A7).
    fn make(
        &mut self,
        sim: &mut Simulation<'p>,
        profile: usize,
        target: &Target,
        now: Timestamp,
    ) -> RunNo {
        for no in &self.going {
            let position = no.beside().expect("`update` is not among them");
            let run = &mut self.runs[position];
            if run.profile == profile {
                run.overtaken = run.overtaken.or(Some(now));
            }
        }
        let nth = self.runs.iter().filter(|run| run.profile == profile).count();
        let nth = u32::try_from(nth).expect("runs are few");
        let luck = sim.world.luck_of_run(u16::try_from(profile).expect("profiles are few"), nth);
        let no = RunNo::of_position(self.runs.len());
        let rules = self.profile(profile);
        let name = rules.run_name(target);
        let plan = &self.plans[profile];
        let mut run = self.spare[profile].pop().unwrap_or_else(|| Run {
            profile,
            name: String::new(),
            target: target.clone(),
            made: now,
            overtaken: None,
            luck,
            people: People::new(no),
            scheduler: Scheduler::new(plan),
        });
        run.target.clone_from(target);
        (run.name, run.made, run.overtaken, run.luck) = (name, now, None, luck);
        run.people = People::new(no);
        run.scheduler.reset();
        run.scheduler.leave_out(sim.truth.presence.absent());
        run.scheduler.aim(target);
        run.scheduler.observe_calendar(&self.calendar);
        if let Target::Kubernetes { version, long_term_support } = target {
            let ends = self.calendar.community_until(*version);
            // A6: the minor counts as out of community support from the start.
            let community_until = if *long_term_support { Some(now) } else { ends };
            run.scheduler.observe_support(Support { community_until });
        }
        self.runs.push(run);
        no
    }

    /// Starts a run: it learns the fleet as it is now.
    fn start(
        &mut self,
        sim: &mut Simulation<'p>,
        no: RunNo,
        now: Timestamp,
        watch: &mut impl Watch,
    ) {
        let position = no.beside().expect("`update` is started by the loop");
        let Run { scheduler, target, .. } = &mut self.runs[position];
        scheduler.observe_fleet(&sim.scheduler);
        let target = match target {
            Target::Kubernetes { version, .. } => Some(Released::Kubernetes(*version)),
            Target::SecurityPatch(patch) => Some(Released::SecurityPatch(*patch)),
            Target::NodeImages(_) => None,
        };
        if let Some(target) = target {
            let arrivals = sim.truth.arrivals(sim.world);
            let release = arrivals.find(target).map(|number| arrivals.releases[number as usize]);
            let offered = release.is_some_and(|release| now < release.withdrawn);
            for (at, what, region) in sim.truth.arrived(sim.world) {
                if what == target && offered {
                    scheduler.observe_release(what, region, at);
                }
            }
        }
        for member in self.at_work.ids() {
            if self.at_work[member].is_some() || sim.changes.is_busy(member) {
                let outputs = scheduler.handle(now, Event::Busy(member, true), &mut NoLog);
                assert_eq!(outputs.len(), 0, "the run has not started");
            }
        }
        self.going.push(no);
        self.going.sort_unstable();
        self.hand(sim, no, now, Event::Started, watch);
    }

    /// Carries out a step of the script.
    pub(super) fn act(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        number: u32,
        watch: &mut impl Watch,
    ) {
        let world = sim.world;
        let scripted = world.scripted_step(number);
        let action = match &scripted.step {
            Step::Generate(profile) => return self.generate(sim, now, *profile, watch),
            Step::Power(member, power) => {
                self.hand_to_all(sim, now, world.scripted(number), watch);
                if *power == PowerState::Running {
                    self.watch_channels(sim, *member, now);
                }
                return;
            }
            Step::Moves(_) => unreachable!("that is news of the world"),
            Step::Act(action) => *action,
        };
        let found = match scripted.run {
            None => Some(RunNo::UPDATE).filter(|_| world.setting.has_update),
            Some(name) => {
                let position = self.runs.iter().position(|run| run.name == name);
                position.map(RunNo::of_position)
            }
        };
        let event = Event::Act(action);
        let Some(no) = found else {
            let asked = Asked { event, run: scripted.run };
            return watch.refused(now, &asked, Refusal::NoSuchRun);
        };
        let waits = |scheduler: &Scheduler<'_>| scheduler.run().state == State::NotStarted;
        if matches!(action, Action::Start(_)) && self.scheduler(no).is_some_and(waits) {
            self.start(sim, no, now, watch);
        } else {
            self.hand(sim, no, now, event, watch);
        }
    }

    /// Somebody generates a profile's run (A8): it is not started; one that exists stays as it is.
    fn generate(
        &mut self,
        sim: &mut Simulation<'p>,
        now: Timestamp,
        profile: usize,
        watch: &mut impl Watch,
    ) {
        let rules = self.profile(profile);
        match rules.target(&self.catalog, &self.calendar, now) {
            None => {
                let asked = format!("generate {}", rules.name);
                watch.refused(now, &asked, Refusal::NothingReleased);
            }
            Some(target) => {
                if let Some(target) = self.made[profile].generate(&target) {
                    self.make(sim, profile, &target, now);
                }
            }
        }
    }
}
