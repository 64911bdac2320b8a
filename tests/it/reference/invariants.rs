//! What must hold after every instant, whatever the scenario.

use std::collections::BTreeSet;

use super::tree::{Gate, Node, State, all_done};
use super::{Halt, Sim};

impl Sim<'_> {
    /// An update starts only inside the window, behind the gates, under the limits, and with
    /// its target there.
    pub(super) fn check_start(&self, s: usize, g: usize, m: usize) {
        let stage = &self.run.stages[s];
        let group = &stage.groups[g];
        let member = &group.members[m];
        let cluster = &self.world[&member.name];
        assert_eq!(self.halt, Halt::No, "nothing starts in a halted run");
        assert_eq!(s, self.current, "stages run one after another (S1)");
        assert!(all_done(&stage.before) && all_done(&group.before), "before-gates hold (G2)");
        assert!(
            self.window(&member.name).is_none_or(|window| window.is_open(self.now)),
            "{} starts outside its window (G8)",
            member.name
        );
        assert!(!cluster.stopped, "a Stopped member is not updated (U8)");
        let plan = &self.flights.last().expect("just started").plan;
        for image in plan.images.iter().flatten() {
            let mut there = self.case.releases.iter().filter(|release| release.what == *image);
            assert!(there.any(|release| release.is_in(&cluster.region, self.now)), "{image}");
        }
        assert!(plan.kubernetes.is_some() || plan.images.iter().any(Option::is_some));
    }

    /// Everything that holds between two instants.
    pub(super) fn check(&self) {
        self.check_flights();
        node(&self.run.node, "run");
        for (s, stage) in self.run.stages.iter().enumerate() {
            node(&stage.node, &stage.name);
            gates(&stage.before);
            gates(&stage.after);
            assert!(stage.in_flight() <= stage.slots, "stage {} is overfull (L3)", stage.name);
            let failures: u64 = stage.groups.iter().map(|group| group.failures).sum();
            assert_eq!(stage.failures, failures, "a stage counts its groups' failures (L5)");
            let all_over = stage.groups.iter().all(|group| group.node.is_done());
            assert!(!stage.node.is_done() || all_over, "{} ended too early", stage.name);
            assert!(s <= self.current || stage.in_flight() == 0, "{} is too early", stage.name);
            for group in &stage.groups {
                self.check_group(group);
            }
        }
        let failures: u64 = self.run.stages.iter().map(|stage| stage.failures).sum();
        assert_eq!(self.run.failures, failures, "the run counts its stages' failures (T5)");
        let may_fly = matches!(self.run.node.state, State::Running | State::Stopping);
        assert!(self.flights.is_empty() || may_fly, "{:?} in flight", self.run.node.state);
        let stopping = self.run.node.state == State::Stopping;
        assert!(!stopping || !self.flights.is_empty(), "Stopping needs something in flight");
    }

    fn check_flights(&self) {
        let places: BTreeSet<_> = self.flights.iter().map(|flight| flight.at).collect();
        assert_eq!(places.len(), self.flights.len(), "nobody is updated twice at once");
        for flight in &self.flights {
            let (s, g, m) = flight.at;
            let member = &self.run.stages[s].groups[g].members[m];
            assert_eq!(member.node.state, State::Running, "{} is in flight", member.name);
            assert!(flight.ends > self.now, "{} ended already", member.name);
        }
        let running: usize = self.run.stages.iter().map(super::tree::Stage::in_flight).sum();
        assert_eq!(running, self.flights.len(), "Running members are those in flight");
    }

    fn check_group(&self, group: &super::tree::Group) {
        node(&group.node, &group.name);
        gates(&group.before);
        gates(&group.after);
        assert!(group.in_flight() <= group.slots, "group {} is overfull (L3)", group.name);
        let ended = |member: &super::tree::Member| member.node.is_over();
        let all_over = group.members.iter().all(ended);
        assert!(!group.node.is_done() || all_over, "{} ended too early", group.name);
        assert!(
            group.node.state != State::Running || group.in_flight() > 0,
            "{} is Running, but nobody is (R-C2)",
            group.name
        );
        for member in &group.members {
            node(&member.node, &member.name);
            let pending = member.node.state == State::Pending;
            assert!(pending || member.noticed.is_none(), "only Pending members are noticed");
            assert!(!pending || member.code.is_some(), "{} is Pending for nothing", member.name);
            let untouched = group.node.state == State::NotStarted;
            let allowed = matches!(member.node.state, State::NotStarted | State::Skipped);
            assert!(!untouched || allowed, "{} is in a group not begun", member.name);
        }
        assert!(self.run.failures >= group.failures);
    }
}

fn node(node: &Node, name: &str) {
    assert_eq!(node.completed.is_some(), node.state.has_completed(), "{name}: {node:?} (T11)");
    assert_eq!(node.started.is_none(), node.state == State::NotStarted, "{name}: {node:?} (T11)");
    assert!(!node.reopened, "{name} was opened again and not judged");
}

fn gates(gates: &[Gate]) {
    for gate in gates {
        let name = gate.spec.name.as_deref().unwrap_or("a gate");
        node(&gate.node, name);
        let known = matches!(
            gate.node.state,
            State::NotStarted | State::Pending | State::Skipped | State::Completed
        );
        assert!(known, "{name}: gates have four states (G2)");
    }
}
