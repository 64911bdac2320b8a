//! What people do (sections 3 and 5, R-E, R-F): approvals, stops, starts, skips; and pools that
//! join.

use super::case::Verb;
use super::tree::State;
use super::{Halt, Sim};

impl Sim<'_> {
    /// (4) The actions of this instant, in order; what follows by itself follows each at once.
    pub(super) fn act(&mut self) {
        while let Some(action) = self.case.actions.get(self.acted) {
            if action.at > self.now {
                return;
            }
            self.acted += 1;
            match &action.verb {
                Verb::Approve(place) => {
                    let done = self.complete_gates(place, false);
                    self.note(done, || format!("approve {place}"));
                }
                Verb::Complete(place) => {
                    let done = self.complete_gates(place, true);
                    self.note(done, || format!("complete {place}"));
                }
                Verb::Stop => {
                    let done = self.stop();
                    self.note(done, || "stop".to_owned());
                }
                Verb::Start(retry) => {
                    let done = self.start(retry.unwrap_or(self.case.update.retry_failed));
                    self.note(done, || "start".to_owned());
                }
                Verb::Skip(targets) => {
                    for target in targets {
                        let done = self.skip(target);
                        self.note(done, || format!("skip {target}"));
                    }
                }
                Verb::AddPool(member, pool) => {
                    let Some(cluster) = self.world.get_mut(member) else { continue };
                    let mut pool = pool.clone();
                    pool.kubernetes = pool.kubernetes.or(cluster.kubernetes.clone());
                    cluster.pools.push(pool);
                }
            }
        }
    }

    /// After an action: it was refused (R-F6), or what follows follows.
    fn note(&mut self, done: bool, action: impl Fn() -> String) {
        if done {
            self.follow();
        } else {
            self.refused.push((self.now - self.case.start, action()));
        }
    }

    /// Completes the Pending gates of one kind at a place (R-F3, R-F5); false if there is none.
    fn complete_gates(&mut self, place: &str, scheduled: bool) -> bool {
        let mut parts = place.splitn(3, '/');
        let whose = parts.next().and_then(|whose| whose.split_once(':'));
        let (scope, name) = whose.expect("stage:NAME or group:NAME");
        let before = parts.next().expect("before or after") == "before";
        let display = parts.next();
        let Some((s, g)) = self.find_place(scope, name) else { return false };
        let mut any = false;
        for k in 0..self.gates(s, g, before).len() {
            let gate = &self.gates(s, g, before)[k];
            let is_meant = gate.node.state == State::Pending
                && gate.spec.schedule.is_some() == scheduled
                && display.is_none_or(|name| gate.spec.name.as_deref() == Some(name));
            if is_meant {
                self.gate_to(s, g, before, k, State::Completed);
                any = true;
            }
        }
        any
    }

    fn find_place(&self, scope: &str, name: &str) -> Option<(usize, Option<usize>)> {
        if scope == "stage" {
            let s = self.run.stages.iter().position(|stage| stage.name == name)?;
            return Some((s, None));
        }
        self.find_group(name).map(|(s, g)| (s, Some(g)))
    }

    fn find_group(&self, name: &str) -> Option<(usize, usize)> {
        self.run.stages.iter().enumerate().find_map(|(s, stage)| {
            stage.groups.iter().position(|group| group.name == name).map(|g| (s, g))
        })
    }

    fn find_member(&self, name: &str) -> Option<(usize, usize, usize)> {
        self.run.stages.iter().enumerate().find_map(|(s, stage)| {
            stage.groups.iter().enumerate().find_map(|(g, group)| {
                let m = group.members.iter().position(|member| member.name == name)?;
                Some((s, g, m))
            })
        })
    }

    /// R-D8.
    fn stop(&mut self) -> bool {
        let allowed = matches!(self.run.node.state, State::Running | State::Pending);
        if allowed {
            self.halt = Halt::Stopped;
        }
        allowed
    }

    /// R-D1–R-D9: counting starts again, what is not at an end is open again.
    fn start(&mut self, retry_failed: bool) -> bool {
        if !matches!(self.run.node.state, State::Stopped | State::Failed) {
            return false;
        }
        self.halt = Halt::No;
        self.restarted = true;
        for stage in &mut self.run.stages {
            stage.counted = 0;
            stage.failed = false;
            if stage.node.state != State::NotStarted && !stage.node.is_done() {
                stage.node.completed = None;
                stage.node.reopened = true;
            }
            for group in &mut stage.groups {
                group.counted = 0;
                group.failed = false;
                if !group.is_going_on() {
                    continue;
                }
                group.node.completed = None;
                group.node.reopened = true;
                for member in &mut group.members {
                    let again = retry_failed && !group.passed;
                    if again && member.node.state == State::Failed {
                        member.node.state = State::NotStarted;
                        member.node.started = None;
                        member.node.completed = None;
                        member.code = None;
                    }
                }
            }
        }
        self.run_to(State::Running);
        true
    }

    /// Skips one target (T9); false if it is refused.
    fn skip(&mut self, target: &str) -> bool {
        if self.run.node.is_done() {
            return false;
        }
        let (what, name) = target.split_once(':').expect("KIND:NAME");
        match what {
            "Member" => {
                let Some((s, g, m)) = self.find_member(name) else { return false };
                if self.skip_member(s, g, m) {
                    self.run.stages[s].groups[g].stirred = true;
                }
            }
            "Group" => {
                let Some((s, g)) = self.find_group(name) else { return false };
                self.skip_group(s, g);
            }
            "Stage" => {
                let Some((s, _)) = self.find_place("stage", name) else { return false };
                self.skip_stage(s);
            }
            "AfterStageWait" => {
                let Some((s, _)) = self.find_place("stage", name) else { return false };
                if self.run.stages[s].wait.is_none() {
                    return false;
                }
                self.skip_wait(s);
            }
            other => panic!("nothing to skip: {other}"),
        }
        true
    }

    /// Only what has not begun can be skipped (R-E2–R-E4); true if it was.
    fn skip_member(&mut self, s: usize, g: usize, m: usize) -> bool {
        let member = &mut self.run.stages[s].groups[g].members[m];
        let skips = matches!(member.node.state, State::NotStarted | State::Pending);
        if skips {
            member.code = Some("User".to_owned());
            member.until = None;
            self.member_to(s, g, m, State::Skipped, Some("User"));
        }
        skips
    }

    /// R-E1: at once, or when the last update in flight has ended.
    fn skip_group(&mut self, s: usize, g: usize) {
        if self.run.stages[s].groups[g].node.is_done() {
            return;
        }
        for m in 0..self.run.stages[s].groups[g].members.len() {
            self.skip_member(s, g, m);
        }
        self.skip_gates(s, Some(g));
        let group = &mut self.run.stages[s].groups[g];
        group.skipped = true;
        if group.in_flight() == 0 {
            self.close_group(s, g);
        }
    }

    fn skip_stage(&mut self, s: usize) {
        if self.run.stages[s].node.is_done() {
            return;
        }
        for g in 0..self.run.stages[s].groups.len() {
            self.skip_group(s, g);
        }
        self.skip_gates(s, None);
        self.skip_wait(s);
        let stage = &mut self.run.stages[s];
        stage.skipped = true;
        if stage.in_flight() == 0 {
            self.close_stage(s, "User");
        }
    }
}
