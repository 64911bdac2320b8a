//! The update run as a tree of plain nodes, and how a strategy becomes one.

use std::collections::BTreeMap;

use super::case::{Case, Cluster, GateSpec, GroupSpec, Limits, StageSpec};
use super::clock::Millis;
use super::select;

/// The states of section 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    NotStarted,
    Pending,
    Running,
    Stopping,
    Stopped,
    Skipped,
    Failed,
    Completed,
}

impl State {
    /// As the API spells it.
    pub(crate) fn name(self) -> String {
        format!("{self:?}")
    }
}

/// A state and its two instants (T11).
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) state: State,
    pub(crate) started: Option<Millis>,
    pub(crate) completed: Option<Millis>,
    /// A restart has opened the node again; the next state is news, whatever it is.
    pub(crate) reopened: bool,
}

impl Node {
    fn new() -> Self {
        Self { state: State::NotStarted, started: None, completed: None, reopened: false }
    }

    /// Enters a state, with the instants of T11 and R-C13.
    pub(crate) fn enter(&mut self, state: State, now: Millis) {
        self.state = state;
        self.reopened = false;
        self.started = self.started.or(Some(now));
        self.completed = self.is_over().then_some(now);
    }

    /// Completed or Skipped: nothing changes this any more.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Completed | State::Skipped)
    }

    /// Completed, Skipped or Failed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_done() || self.state == State::Failed
    }
}

/// A gate of a stage or group.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    pub(crate) spec: GateSpec,
    pub(crate) node: Node,
    /// When a scheduled start completes, once its gate is Pending.
    pub(crate) due: Option<Millis>,
}

/// An after-stage wait.
#[derive(Debug, Clone)]
pub(crate) struct Wait {
    pub(crate) length: Millis,
    pub(crate) node: Node,
    pub(crate) due: Option<Millis>,
}

/// A member of the run.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) node: Node,
    /// The error code, or why the member is Pending.
    pub(crate) code: Option<String>,
    /// The announced opening of a Pending member.
    pub(crate) until: Option<Millis>,
    /// Noticed (O4), up to this instant.
    pub(crate) noticed: Option<Millis>,
    /// When the member was tried last.
    pub(crate) tried: Option<Millis>,
    /// Updates started (R-K6).
    pub(crate) attempts: usize,
}

/// A group.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each named by a rule")]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) node: Node,
    pub(crate) members: Vec<Member>,
    pub(crate) before: Vec<Gate>,
    pub(crate) after: Vec<Gate>,
    pub(crate) slots: usize,
    pub(crate) allowed: u64,
    /// Failed updates ever, and since the last restart (R-D1).
    pub(crate) failures: u64,
    pub(crate) counted: u64,
    /// The threshold is exceeded.
    pub(crate) failed: bool,
    /// A user skipped the group (R-E1).
    pub(crate) skipped: bool,
    /// The group is behind its members.
    pub(crate) passed: bool,
    /// A user skipped one of its members at this instant (O4, R-B6).
    pub(crate) stirred: bool,
}

/// A stage.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each named by a rule")]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) node: Node,
    pub(crate) groups: Vec<Group>,
    pub(crate) before: Vec<Gate>,
    pub(crate) after: Vec<Gate>,
    pub(crate) wait: Option<Wait>,
    pub(crate) slots: usize,
    pub(crate) allowed: u64,
    pub(crate) failures: u64,
    pub(crate) counted: u64,
    pub(crate) failed: bool,
    pub(crate) skipped: bool,
    /// The before-gates are done and the groups have begun.
    pub(crate) begun: bool,
    /// The groups have ended, the after-gates and the wait have begun.
    pub(crate) passed: bool,
    /// Whose turn it is (R-B10).
    pub(crate) turn: usize,
}

/// The run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) node: Node,
    pub(crate) stages: Vec<Stage>,
    pub(crate) failures: u64,
}

impl Group {
    /// Updates in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.members.iter().filter(|member| member.node.state == State::Running).count()
    }

    /// No members, or nothing but Skipped ones.
    pub(crate) fn has_nobody(&self) -> bool {
        self.members.iter().all(|member| member.node.state == State::Skipped)
    }

    /// Begun and not yet at an end that a restart could not undo.
    pub(crate) fn is_going_on(&self) -> bool {
        self.node.state != State::NotStarted && !self.node.is_done()
    }
}

impl Stage {
    /// Updates in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.groups.iter().map(Group::in_flight).sum()
    }

    /// Whether after-gates and wait need nothing more.
    pub(crate) fn is_released(&self) -> bool {
        all_done(&self.after) && self.wait.as_ref().is_none_or(|wait| wait.node.is_done())
    }
}

/// Whether no gate holds any more.
pub(crate) fn all_done(gates: &[Gate]) -> bool {
    gates.iter().all(|gate| gate.node.is_done())
}

/// Whether a gate of these is Pending.
pub(crate) fn any_pending(gates: &[Gate]) -> bool {
    gates.iter().any(|gate| gate.node.state == State::Pending)
}

/// Makes the tree (S9), or says which rule refuses it.
pub(crate) fn plant(case: &Case) -> Result<Run, String> {
    let one_by_one = [StageSpec {
        name: "default".to_owned(),
        selector: Some(String::new()),
        groups: Vec::new(),
        limits: Limits { concurrency: None, failures: None },
        before: Vec::new(),
        after: Vec::new(),
        wait: 0,
    }];
    let specs = if case.stages.is_empty() { &one_by_one[..] } else { &case.stages };
    let mut chosen_by: BTreeMap<String, String> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut stages = Vec::new();
    for spec in specs {
        let stage = plant_stage(spec, case)?;
        for group in &stage.groups {
            if names.contains(&group.name) {
                return Err(format!("S2: two groups are called {}", group.name));
            }
            names.push(group.name.clone());
            for member in &group.members {
                if let Some(other) = chosen_by.insert(member.name.clone(), group.name.clone()) {
                    return Err(format!("S6: {} is in {other} and {}", member.name, group.name));
                }
            }
        }
        stages.push(stage);
    }
    for name in chosen_by.keys() {
        if !case.attempts.contains_key(name) && !case.attempts.contains_key("*") {
            return Err(format!("K6: no update is scripted for {name}"));
        }
    }
    Ok(Run { node: Node::new(), stages, failures: 0 })
}

fn plant_stage(spec: &StageSpec, case: &Case) -> Result<Stage, String> {
    let pass = |selector: Option<&String>, cluster: &Cluster| {
        selector.is_none_or(|selector| select::matches(selector, &cluster.labels))
    };
    let inside: Vec<&Cluster> =
        case.clusters.iter().filter(|cluster| pass(spec.selector.as_ref(), cluster)).collect();
    let implicit = [GroupSpec {
        name: spec.name.clone(),
        selector: Some(String::new()),
        limits: spec.limits.clone(),
        before: Vec::new(),
        after: Vec::new(),
    }];
    let groups = if spec.groups.is_empty() { &implicit[..] } else { &spec.groups };
    let chosen: Vec<Vec<&Cluster>> = groups
        .iter()
        .map(|group| {
            let chooses = |cluster: &&Cluster| match &group.selector {
                Some(selector) => select::matches(selector, &cluster.labels),
                None => cluster.update_group.as_ref() == Some(&group.name),
            };
            inside.iter().copied().filter(chooses).collect()
        })
        .collect();
    let everybody = chosen.iter().map(Vec::len).sum();
    let mut slots = rounded_down(spec.limits.concurrency.as_deref(), everybody).unwrap_or(50);
    if case.capped {
        if slots > 50 && spec.limits.concurrency.as_ref().is_some_and(|text| !text.contains('%')) {
            return Err(format!("L2: {} wants more than 50", spec.name));
        }
        slots = slots.min(50);
    }
    let implied = if case.stages.is_empty() { 1 } else { 50 };
    let default = if spec.groups.is_empty() { implied } else { 1 };
    let groups = groups
        .iter()
        .zip(&chosen)
        .map(|(group, members)| plant_group(group, members, slots, default))
        .collect();
    Ok(Stage {
        name: spec.name.clone(),
        node: Node::new(),
        groups,
        before: gates(&spec.before),
        after: gates(&spec.after),
        wait: (spec.wait > 0).then(|| Wait { length: spec.wait, node: Node::new(), due: None }),
        slots,
        allowed: rounded_up(spec.limits.failures.as_deref(), everybody),
        failures: 0,
        counted: 0,
        failed: false,
        skipped: false,
        begun: false,
        passed: false,
        turn: 0,
    })
}

fn plant_group(spec: &GroupSpec, members: &[&Cluster], stage: usize, default: usize) -> Group {
    let size = members.len();
    let slots = rounded_down(spec.limits.concurrency.as_deref(), size).unwrap_or(default);
    Group {
        name: spec.name.clone(),
        node: Node::new(),
        members: members.iter().map(|cluster| member(&cluster.name)).collect(),
        before: gates(&spec.before),
        after: gates(&spec.after),
        slots: slots.min(stage).min(size).max(1),
        allowed: rounded_up(spec.limits.failures.as_deref(), size),
        failures: 0,
        counted: 0,
        failed: false,
        skipped: false,
        passed: false,
        stirred: false,
    }
}

fn member(name: &str) -> Member {
    Member {
        name: name.to_owned(),
        node: Node::new(),
        code: None,
        until: None,
        noticed: None,
        tried: None,
        attempts: 0,
    }
}

fn gates(specs: &[GateSpec]) -> Vec<Gate> {
    let gate = |spec: &GateSpec| Gate { spec: spec.clone(), node: Node::new(), due: None };
    specs.iter().map(gate).collect()
}

/// A concurrency (L1): percentages rounded down, at least 1.
fn rounded_down(text: Option<&str>, total: usize) -> Option<usize> {
    let text = text?;
    let number = |text: &str| text.parse::<usize>().expect("a whole number");
    Some(match text.strip_suffix('%') {
        Some(percent) => (total * number(percent) / 100).max(1),
        None => number(text),
    })
}

/// A failure allowance (L4): percentages rounded up, 0 when unset.
fn rounded_up(text: Option<&str>, total: usize) -> u64 {
    let number = |text: &str| text.parse::<u64>().expect("a whole number");
    let total = u64::try_from(total).expect("a small fleet");
    match text.map(|text| (text, text.strip_suffix('%'))) {
        None => 0,
        Some((_, Some(percent))) => (total * number(percent)).div_ceil(100),
        Some((text, None)) => number(text),
    }
}
