//! A second, naive implementation of the rules, to be compared with the product event by event.
//!
//! It is written from the rules alone and shares nothing with the product: its own reader, its
//! own calendar, its own scheduler. It is slow on purpose: a tree of plain nodes with names, every
//! poll an instant of its own, every question answered by looking at everything.
//!
//! The order of one instant (R-A1) is [`Sim::instant`]; what follows by itself is `follow`; trying
//! members is `trial`; what people do is `people`.

mod case;
mod clock;
mod follow;
mod invariants;
mod outcome;
mod people;
mod select;
mod tree;
mod trial;
mod window;
mod yaml;

use std::collections::BTreeMap;

pub(crate) use case::Case;
pub(crate) use clock::{HOUR, MINUTE, Millis, read_instant, read_span, show_instant, show_span};
pub(crate) use outcome::{Final, Outcome};
pub(crate) use yaml::{Value, read as read_yaml};

use case::{Cluster, Selection, Upgrade};
use tree::{Gate, Run, State};

/// The scripted world and the update run in it.
pub(crate) struct Sim<'a> {
    case: &'a Case,
    now: Millis,
    run: Run,
    halt: Halt,
    /// The stage that is or will be worked on.
    current: usize,
    /// The clusters as they are now, by name.
    world: BTreeMap<String, Cluster>,
    /// Updates in flight, in the order in which they were started (R-A2).
    flights: Vec<Flight>,
    /// The Consistent choice, by family (U2).
    chosen: BTreeMap<String, String>,
    /// How many actions have been carried out.
    acted: usize,
    /// The run was started again at this instant.
    restarted: bool,
    events: Vec<String>,
    refused: Vec<(Millis, String)>,
}

/// Whether, and why, nothing starts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    No,
    Stopped,
    Failed,
}

/// An update in flight.
#[derive(Debug, Clone)]
struct Flight {
    at: (usize, usize, usize),
    ends: Millis,
    fails: Option<String>,
    plan: Plan,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
struct Plan {
    kubernetes: Option<String>,
    /// By pool; pools that joined since are not in it (R-I6).
    images: Vec<Option<String>>,
}

/// What an event is about.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'a> {
    stage: Option<&'a str>,
    group: Option<&'a str>,
    member: Option<&'a str>,
    gate: Option<&'a str>,
}

/// Plays a case to its end, or says which rule refuses it.
pub(crate) fn play(case: &Case) -> Result<Outcome, String> {
    let run = tree::plant(case)?;
    let world = case.clusters.iter().map(|cluster| (cluster.name.clone(), cluster.clone()));
    let mut sim = Sim {
        case,
        now: case.start,
        run,
        halt: Halt::No,
        current: 0,
        world: world.collect(),
        flights: Vec::new(),
        chosen: BTreeMap::new(),
        acted: 0,
        restarted: false,
        events: Vec::new(),
        refused: Vec::new(),
    };
    loop {
        sim.instant();
        sim.check();
        match sim.next_instant() {
            Some(next) if next <= case.end => sim.now = next,
            _ => return Ok(sim.outcome()),
        }
    }
}

impl Sim<'_> {
    /// Everything that happens at one instant, in the order of R-A1.
    fn instant(&mut self) {
        self.restarted = false;
        for group in self.run.stages.iter_mut().flat_map(|stage| &mut stage.groups) {
            group.stirred = false;
        }
        if self.now == self.case.start {
            self.run_to(State::Running);
            self.choose_images();
            self.follow();
        }
        self.end_what_is_due();
        self.act();
        self.try_and_follow();
        while self.flights.iter().any(|flight| flight.ends <= self.now) {
            self.end_what_is_due();
            self.try_and_follow();
        }
        self.judge();
    }

    fn end_what_is_due(&mut self) {
        self.end_updates();
        self.complete_timers();
        self.follow();
    }

    fn try_and_follow(&mut self) {
        while self.try_members() {
            self.follow();
        }
    }

    /// The next instant at which something happens or is looked at.
    fn next_instant(&self) -> Option<Millis> {
        let mut instants: Vec<Millis> = Vec::new();
        instants.extend(self.flights.iter().map(|flight| flight.ends));
        instants.extend(self.case.actions.iter().map(|action| action.at));
        for stage in &self.run.stages {
            instants.extend(pending_dues(&stage.before));
            for group in &stage.groups {
                instants.extend(pending_dues(&group.before));
            }
            let running = stage.wait.iter().filter(|wait| wait.node.state == State::Running);
            instants.extend(running.filter_map(|wait| wait.due));
        }
        if self.halt == Halt::No && !self.run.node.is_done() {
            instants.extend(self.instants_of_pending_members());
        }
        instants.into_iter().filter(|instant| *instant > self.now).min()
    }

    /// The next poll (R-B4), or with polls "at once" the openings and arrivals (R-B5).
    fn instants_of_pending_members(&self) -> Vec<Millis> {
        let members = self.run.stages.iter().flat_map(|stage| &stage.groups);
        let pending: Vec<&str> = members
            .flat_map(|group| &group.members)
            .filter(|member| member.node.state == State::Pending)
            .map(|member| member.name.as_str())
            .collect();
        if pending.is_empty() {
            return Vec::new();
        }
        let poll = self.case.update.poll;
        if poll > 0 {
            let polls = (self.now - self.case.start) / poll;
            return vec![self.case.start + (polls + 1) * poll];
        }
        let arrivals = self.case.releases.iter().flat_map(|release| release.arrivals.values());
        let openings = pending
            .iter()
            .filter_map(|name| self.window(name))
            .filter_map(|window| window.next_opening(self.now));
        arrivals.copied().filter(|arrival| *arrival > self.now).chain(openings).collect()
    }

    /// Whether Pending members are looked at at this instant (R-B4, R-B5).
    fn is_poll(&self) -> bool {
        let poll = self.case.update.poll;
        poll == 0 || (self.now - self.case.start) % poll == 0
    }

    /// (2) The updates that end now, in the order in which they were started.
    fn end_updates(&mut self) {
        let flights = std::mem::take(&mut self.flights);
        let (over, still) = flights.into_iter().partition(|flight| flight.ends <= self.now);
        self.flights = still;
        for Flight { at: (s, g, m), fails, plan, .. } in over {
            if let Some(code) = fails {
                self.fail_member(s, g, m, &code);
                continue;
            }
            let name = self.run.stages[s].groups[g].members[m].name.clone();
            let cluster = self.world.get_mut(&name).expect("a member of the fleet");
            if let Some(version) = plan.kubernetes {
                cluster.kubernetes = Some(version.clone());
                if self.case.update.upgrade == Upgrade::Full {
                    for pool in &mut cluster.pools {
                        pool.kubernetes = Some(version.clone());
                    }
                }
            }
            for (pool, image) in cluster.pools.iter_mut().zip(plan.images) {
                if let Some(image) = image {
                    pool.image = image;
                    pool.from_snapshot = false;
                }
            }
            self.member_to(s, g, m, State::Completed, None);
        }
    }

    /// (3) Scheduled starts and waits that are due, in the strategy's order.
    fn complete_timers(&mut self) {
        for s in 0..self.run.stages.len() {
            self.complete_due_gates(s, None);
            for g in 0..self.run.stages[s].groups.len() {
                self.complete_due_gates(s, Some(g));
            }
            let wait = self.run.stages[s].wait.as_ref();
            let due = wait.filter(|wait| wait.node.state == State::Running);
            if due.and_then(|wait| wait.due).is_some_and(|due| due <= self.now) {
                self.wait_to(s, State::Completed);
            }
        }
    }

    /// Completes the scheduled starts of a stage's or group's before-gates that are due.
    fn complete_due_gates(&mut self, s: usize, g: Option<usize>) {
        let now = self.now;
        for k in 0..self.gates(s, g, true).len() {
            let gate = &self.gates(s, g, true)[k];
            let pending = gate.node.state == State::Pending;
            if pending && gate.due.is_some_and(|due| due <= now) {
                self.gate_to(s, g, true, k, State::Completed);
            }
        }
    }

    /// (6) Running or Pending: groups, stage, run; only a difference is told (R-A3, R-C2–R-C5).
    fn judge(&mut self) {
        if self.halt != Halt::No || self.run.node.is_done() {
            return;
        }
        let s = self.current;
        let choose = |running: bool| if running { State::Running } else { State::Pending };
        let mut any_running = false;
        for g in 0..self.run.stages[s].groups.len() {
            let group = &self.run.stages[s].groups[g];
            if group.is_going_on() {
                let at_gate = tree::any_pending(&group.before) || tree::any_pending(&group.after);
                let verdict = choose(group.in_flight() > 0 && !at_gate);
                any_running |= verdict == State::Running;
                if group.node.state != verdict || group.node.reopened {
                    self.group_to(s, g, verdict, None);
                }
            }
        }
        let stage = &self.run.stages[s];
        let at_gate = tree::any_pending(&stage.before) || tree::any_pending(&stage.after);
        let verdict = choose(!at_gate && (any_running || stage.passed));
        if stage.node.state != verdict || stage.node.reopened {
            self.stage_to(s, verdict, None);
        }
        if self.run.node.state != verdict {
            self.run_to(verdict);
        }
    }

    /// A failed update (T4, L5, R-C7): the member, then what it does to its group and stage.
    fn fail_member(&mut self, s: usize, g: usize, m: usize, code: &str) {
        self.run.stages[s].groups[g].members[m].code = Some(code.to_owned());
        self.member_to(s, g, m, State::Failed, Some(code));
        self.run.failures += 1;
        let stage = &mut self.run.stages[s];
        stage.failures += 1;
        stage.counted += 1;
        let group = &mut stage.groups[g];
        group.failures += 1;
        group.counted += 1;
        let group_fails = group.counted > group.allowed && !group.failed;
        group.failed |= group_fails;
        let stage_fails = (group.failed || stage.counted > stage.allowed) && !stage.failed;
        stage.failed |= stage_fails;
        if group_fails {
            self.group_to(s, g, State::Failed, None);
        }
        if stage_fails {
            self.stage_to(s, State::Failed, None);
        }
        if group_fails || stage_fails {
            self.halt = Halt::Failed;
        }
    }

    /// The Consistent choice (U2, R-I5): made once, at the first start.
    fn choose_images(&mut self) {
        if self.case.update.selection != Selection::Consistent {
            return;
        }
        let mut regions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let groups = self.run.stages.iter().flat_map(|stage| &stage.groups);
        for member in groups.flat_map(|group| &group.members) {
            let cluster = &self.world[&member.name];
            for pool in &cluster.pools {
                let family = trial::family(&pool.image).to_owned();
                regions.entry(family).or_default().push(cluster.region.clone());
            }
        }
        for (family, regions) in regions {
            let everywhere = self
                .images_of(&family)
                .filter(|release| regions.iter().all(|region| release.is_in(region, self.now)));
            let newest = everywhere.max_by_key(|release| trial::numbers(&release.what));
            if let Some(release) = newest {
                self.chosen.insert(family, release.what.clone());
            }
        }
    }

    /// The gates of a stage, or of one of its groups.
    fn gates(&self, s: usize, g: Option<usize>, before: bool) -> &[Gate] {
        let stage = &self.run.stages[s];
        match (g, before) {
            (None, true) => &stage.before,
            (None, false) => &stage.after,
            (Some(g), true) => &stage.groups[g].before,
            (Some(g), false) => &stage.groups[g].after,
        }
    }

    /// The same, to change them.
    fn gates_mut(&mut self, s: usize, g: Option<usize>, before: bool) -> &mut [Gate] {
        let stage = &mut self.run.stages[s];
        match (g, before) {
            (None, true) => &mut stage.before,
            (None, false) => &mut stage.after,
            (Some(g), true) => &mut stage.groups[g].before,
            (Some(g), false) => &mut stage.groups[g].after,
        }
    }
}

fn pending_dues(gates: &[Gate]) -> impl Iterator<Item = Millis> {
    gates.iter().filter(|gate| gate.node.state == State::Pending).filter_map(|gate| gate.due)
}
