//! What follows by itself: beginnings and ends of groups, stages and the run, and what a halt
//! makes of them. Also the changes of state with their events.

use super::clock::{Millis, next_weekly};
use super::outcome::line;
use super::tree::{State, all_done};
use super::{Halt, Place, Sim};

impl Sim<'_> {
    /// Lets follow what follows by itself (R-A1, R-C10).
    pub(super) fn follow(&mut self) {
        if self.run.node.is_done() {
            return;
        }
        if self.halt != Halt::No {
            self.follow_halted();
            return;
        }
        while self.current < self.run.stages.len() {
            if !self.follow_stage(self.current) {
                return;
            }
            self.current += 1;
        }
        let all_skipped =
            |sim: &Self| sim.run.stages.iter().all(|stage| stage.node.state == State::Skipped);
        self.run_to(if all_skipped(self) { State::Skipped } else { State::Completed });
    }

    /// Moves a stage on; true once it has ended.
    fn follow_stage(&mut self, s: usize) -> bool {
        if self.run.stages[s].node.is_done() {
            return true;
        }
        if !self.run.stages[s].begun {
            if self.run.stages[s].groups.iter().all(super::tree::Group::has_nobody) {
                self.close_stage(s, "AllGroupsSkipped");
                return true;
            }
            if self.run.stages[s].node.state == State::NotStarted {
                self.stage_to(s, State::Running, None);
                self.open_gates(s, None, true);
            }
            if !all_done(&self.run.stages[s].before) {
                return false;
            }
            self.run.stages[s].begun = true;
            for g in 0..self.run.stages[s].groups.len() {
                self.begin_group(s, g);
            }
        }
        let mut all_ended = true;
        for g in 0..self.run.stages[s].groups.len() {
            all_ended &= self.follow_group(s, g);
        }
        if !all_ended {
            return false;
        }
        if self.skip_ended_stage(s) {
            return true;
        }
        if !self.run.stages[s].passed {
            self.run.stages[s].passed = true;
            self.open_gates(s, None, false);
            let wait = self.run.stages[s].wait.as_ref();
            if wait.is_some_and(|wait| wait.node.state == State::NotStarted) {
                self.wait_to(s, State::Running);
            }
        }
        let released = self.run.stages[s].is_released();
        if released {
            self.stage_to(s, State::Completed, None);
        }
        released
    }

    /// A stage whose groups have ended and that a user skipped, or all of whose groups are.
    fn skip_ended_stage(&mut self, s: usize) -> bool {
        let stage = &self.run.stages[s];
        let by_user = stage.skipped;
        if by_user || stage.groups.iter().all(|group| group.node.state == State::Skipped) {
            self.close_stage(s, if by_user { "User" } else { "AllGroupsSkipped" });
            return true;
        }
        false
    }

    fn begin_group(&mut self, s: usize, g: usize) {
        let group = &self.run.stages[s].groups[g];
        if group.node.is_done() {
            return;
        }
        if group.has_nobody() {
            self.close_group(s, g);
            return;
        }
        self.group_to(s, g, State::Running, None);
        self.open_gates(s, Some(g), true);
    }

    /// Moves a begun group on; true once it has ended.
    fn follow_group(&mut self, s: usize, g: usize) -> bool {
        if self.end_group(s, g) {
            return true;
        }
        let group = &self.run.stages[s].groups[g];
        let processed = group.members.iter().all(|member| member.node.is_over());
        if processed && !group.passed {
            self.run.stages[s].groups[g].passed = true;
            self.open_gates(s, Some(g), false);
            return self.end_group(s, g);
        }
        false
    }

    /// Ends a group that needs nothing more; true if it has ended.
    fn end_group(&mut self, s: usize, g: usize) -> bool {
        let group = &self.run.stages[s].groups[g];
        if group.node.is_done() {
            return true;
        }
        if group.in_flight() > 0 {
            return false;
        }
        if group.skipped || group.has_nobody() {
            self.close_group(s, g);
            return true;
        }
        let processed = group.members.iter().all(|member| member.node.is_over());
        if processed && !group.failed && all_done(&group.after) {
            self.run.stages[s].groups[g].passed = true;
            self.group_to(s, g, State::Completed, None);
            return true;
        }
        false
    }

    /// A halted run: endings take effect, everything else comes to rest (R-C8, R-C10).
    fn follow_halted(&mut self) {
        let s = self.current;
        if s < self.run.stages.len() && !self.run.stages[s].node.is_done() {
            self.halt_stage(s);
        }
        let rest = if self.halt == Halt::Failed { State::Failed } else { State::Stopped };
        let verdict = if self.flights.is_empty() { rest } else { State::Stopping };
        if self.run.node.state != verdict {
            self.run_to(verdict);
        }
    }

    fn halt_stage(&mut self, s: usize) {
        if self.run.stages[s].node.state == State::NotStarted {
            return;
        }
        if !self.run.stages[s].begun {
            if self.run.stages[s].groups.iter().all(super::tree::Group::has_nobody) {
                self.close_stage(s, "AllGroupsSkipped");
                return;
            }
        } else if self.halt_groups(s) && self.end_halted_stage(s) {
            return;
        }
        let stage = &self.run.stages[s];
        let rest = if stage.in_flight() > 0 { State::Stopping } else { State::Stopped };
        if !stage.failed && (stage.node.state != rest || stage.node.reopened) {
            self.stage_to(s, rest, None);
        }
    }

    /// Brings the groups of a halted stage to rest; true if all have ended.
    fn halt_groups(&mut self, s: usize) -> bool {
        let mut all_ended = true;
        for g in 0..self.run.stages[s].groups.len() {
            if self.end_group(s, g) {
                continue;
            }
            all_ended = false;
            let group = &self.run.stages[s].groups[g];
            let rest = if group.in_flight() > 0 { State::Stopping } else { State::Stopped };
            if !group.failed && (group.node.state != rest || group.node.reopened) {
                self.group_to(s, g, rest, None);
            }
        }
        all_ended
    }

    fn end_halted_stage(&mut self, s: usize) -> bool {
        let stage = &self.run.stages[s];
        if stage.skipped {
            self.close_stage(s, "User");
            return true;
        }
        if stage.failed {
            return false;
        }
        if self.skip_ended_stage(s) {
            return true;
        }
        if self.run.stages[s].is_released() {
            self.run.stages[s].passed = true;
            self.stage_to(s, State::Completed, None);
            return true;
        }
        false
    }

    /// A group becomes Skipped, its gates first (G7, R-C18).
    pub(super) fn close_group(&mut self, s: usize, g: usize) {
        self.skip_gates(s, Some(g));
        let group = &self.run.stages[s].groups[g];
        let reason = match (group.skipped, group.members.is_empty()) {
            (true, _) => "User",
            (false, true) => "NoMembers",
            (false, false) => "AllMembersSkipped",
        };
        self.group_to(s, g, State::Skipped, Some(reason));
    }

    /// A stage becomes Skipped: what is left of its groups, its gates and its wait first.
    pub(super) fn close_stage(&mut self, s: usize, reason: &str) {
        for g in 0..self.run.stages[s].groups.len() {
            if !self.run.stages[s].groups[g].node.is_done() {
                self.close_group(s, g);
            }
        }
        self.skip_gates(s, None);
        self.skip_wait(s);
        self.stage_to(s, State::Skipped, Some(reason));
    }

    /// The gates of a place that are not Completed become Skipped (R-F7).
    pub(super) fn skip_gates(&mut self, s: usize, g: Option<usize>) {
        for before in [true, false] {
            for k in 0..self.gates(s, g, before).len() {
                if !self.gates(s, g, before)[k].node.is_done() {
                    self.gate_to(s, g, before, k, State::Skipped);
                }
            }
        }
    }

    /// A wait that is not over becomes Skipped.
    pub(super) fn skip_wait(&mut self, s: usize) {
        let wait = self.run.stages[s].wait.as_ref();
        if wait.is_some_and(|wait| !wait.node.is_done()) {
            self.wait_to(s, State::Skipped);
        }
    }

    /// The gates of a place become Pending together (G2); what is due at once completes (R-F2).
    fn open_gates(&mut self, s: usize, g: Option<usize>, before: bool) {
        for k in 0..self.gates(s, g, before).len() {
            if self.gates(s, g, before)[k].node.state == State::NotStarted {
                let now = self.now;
                let gate = &mut self.gates_mut(s, g, before)[k];
                let schedule = gate.spec.schedule;
                gate.due = schedule.map(|(day, time, offset)| next_weekly(now, day, time, offset));
                self.gate_to(s, g, before, k, State::Pending);
            }
        }
        if before {
            self.complete_due_gates(s, g);
        }
    }

    /// The run changes its state.
    pub(super) fn run_to(&mut self, to: State) {
        let kind = kind("run", self.run.node.state, to);
        self.run.node.enter(to, self.now);
        self.emit(&kind, Place::default(), None, None);
    }

    /// A stage changes its state.
    pub(super) fn stage_to(&mut self, s: usize, to: State, reason: Option<&str>) {
        let now = self.now;
        let stage = &mut self.run.stages[s];
        let kind = kind("stage", stage.node.state, to);
        stage.node.enter(to, now);
        let name = stage.name.clone();
        self.emit(&kind, Place { stage: Some(&name), ..Place::default() }, reason, None);
    }

    /// A group changes its state.
    pub(super) fn group_to(&mut self, s: usize, g: usize, to: State, reason: Option<&str>) {
        let now = self.now;
        let group = &mut self.run.stages[s].groups[g];
        let kind = kind("group", group.node.state, to);
        group.node.enter(to, now);
        let (stage, group) = self.names(s, g);
        let place = Place { stage: Some(&stage), group: Some(&group), ..Place::default() };
        self.emit(&kind, place, reason, None);
    }

    /// A member changes its state, or is Pending for a new reason.
    pub(super) fn member_to(
        &mut self,
        s: usize,
        g: usize,
        m: usize,
        to: State,
        reason: Option<&str>,
    ) {
        let now = self.now;
        let member = &mut self.run.stages[s].groups[g].members[m];
        let kind = match to {
            State::Running => "memberStarted".to_owned(),
            _ => kind("member", member.node.state, to),
        };
        member.node.enter(to, now);
        member.noticed = None;
        let (until, name) = (member.until, member.name.clone());
        let (stage, group) = self.names(s, g);
        let place =
            Place { stage: Some(&stage), group: Some(&group), member: Some(&name), gate: None };
        self.emit(&kind, place, reason, until.filter(|_| to == State::Pending));
    }

    /// A gate changes its state.
    pub(super) fn gate_to(
        &mut self,
        s: usize,
        g: Option<usize>,
        before: bool,
        k: usize,
        to: State,
    ) {
        let now = self.now;
        let gate = &mut self.gates_mut(s, g, before)[k];
        gate.node.enter(to, now);
        let due = gate.due.filter(|_| to == State::Pending);
        let timing = if before { "before" } else { "after" };
        let name = gate.spec.name.as_ref();
        let label = name.map_or(timing.to_owned(), |name| format!("{timing}/{name}"));
        let stage = self.run.stages[s].name.clone();
        let group = g.map(|g| self.names(s, g).1);
        let place = Place {
            stage: Some(&stage),
            group: group.as_deref(),
            member: None,
            gate: Some(&label),
        };
        self.emit(&format!("gate{}", to.name()), place, None, due);
    }

    /// A wait changes its state.
    pub(super) fn wait_to(&mut self, s: usize, to: State) {
        let now = self.now;
        let stage = &mut self.run.stages[s];
        let name = stage.name.clone();
        let wait = stage.wait.as_mut().expect("only a wait that exists changes");
        let kind = kind("wait", wait.node.state, to);
        wait.node.enter(to, now);
        let due = (to == State::Running).then(|| now + wait.length);
        wait.due = due.or(wait.due);
        self.emit(&kind, Place { stage: Some(&name), ..Place::default() }, None, due);
    }

    fn names(&self, s: usize, g: usize) -> (String, String) {
        let stage = &self.run.stages[s];
        (stage.name.clone(), stage.groups[g].name.clone())
    }

    fn emit(&mut self, kind: &str, place: Place<'_>, reason: Option<&str>, until: Option<Millis>) {
        let run = &self.case.name;
        self.events.push(line(self.now, kind, run, place, reason, until));
    }
}

/// `groupStarted` and its like (R-A5).
fn kind(what: &str, from: State, to: State) -> String {
    match (from, to) {
        (State::NotStarted, State::Running) => format!("{what}Started"),
        _ => format!("{what}{}", to.name()),
    }
}
