//! What came out: the events as lines, and everything that can be said about the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::case::Selection;
use super::clock::{Millis, show_instant};
use super::tree::{Gate, Node, State};
use super::{Place, Sim};

/// Events and end of one simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// One JSON object a line (R-K2).
    pub(crate) events: Vec<String>,
    /// The end.
    pub(crate) last: Final,
}

/// Everything that `final` and `refused` of a case can name. Instants are offsets in
/// milliseconds from the scenario's start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Final {
    /// State of the run.
    pub(crate) run: String,
    /// `failureCount` of the run.
    pub(crate) failure_count: u64,
    /// `nodeImageSelection` (R-I15).
    pub(crate) node_image_selection: Option<Vec<String>>,
    /// State by stage.
    pub(crate) stages: BTreeMap<String, String>,
    /// State by group.
    pub(crate) groups: BTreeMap<String, String>,
    /// State by member.
    pub(crate) members: BTreeMap<String, String>,
    /// State of the after-stage wait, by stage.
    pub(crate) waits: BTreeMap<String, String>,
    /// State by `stage:S/before/NAME`.
    pub(crate) gates: BTreeMap<String, String>,
    /// How many members are in each state; only those that occur.
    pub(crate) counts: BTreeMap<String, u64>,
    /// `failureCount` by `stage:S` and `group:G`.
    pub(crate) failures: BTreeMap<String, u64>,
    /// Resolved concurrency and failure allowance by `stage:S` and `group:G`.
    pub(crate) limits: BTreeMap<String, (u64, u64)>,
    /// Error code by member, where there is one.
    pub(crate) codes: BTreeMap<String, String>,
    /// Images of the pools, by member of the fleet.
    pub(crate) images: BTreeMap<String, Vec<String>>,
    /// Kubernetes version, by member of the fleet that has one.
    pub(crate) kubernetes: BTreeMap<String, String>,
    /// `startTime` by `run`, `stage:S`, `group:G`, `member:M`, `gate:…`, `wait:S`.
    pub(crate) started: BTreeMap<String, Option<Millis>>,
    /// `completedTime` likewise.
    pub(crate) completed: BTreeMap<String, Option<Millis>>,
    /// The refused actions: offset and what was refused, one entry a target.
    pub(crate) refused: Vec<(Millis, String)>,
}

/// One event as a line of JSON.
pub(super) fn line(
    time: Millis,
    kind: &str,
    run: &str,
    place: Place<'_>,
    reason: Option<&str>,
    until: Option<Millis>,
) -> String {
    let (time, until) = (show_instant(time), until.map(show_instant));
    let pairs = [
        ("time", Some(time.as_str())),
        ("kind", Some(kind)),
        ("run", Some(run)),
        ("stage", place.stage),
        ("group", place.group),
        ("member", place.member),
        ("gate", place.gate),
        ("reason", reason),
        ("until", until.as_deref()),
    ];
    let pairs = pairs.iter().filter_map(|(key, value)| value.map(|value| (key, value)));
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let fields: Vec<String> =
        pairs.map(|(key, value)| format!("\"{key}\":{}", quoted(value))).collect();
    format!("{{{}}}", fields.join(","))
}

impl Sim<'_> {
    /// What has come out so far.
    pub(super) fn outcome(self) -> Outcome {
        let last = self.last();
        Outcome { events: self.events, last }
    }

    fn last(&self) -> Final {
        let run = &self.run;
        let mut last = Final {
            run: run.node.state.name(),
            failure_count: run.failures,
            node_image_selection: match &self.case.update.selection {
                Selection::Latest => None,
                Selection::Consistent => Some(self.chosen.values().cloned().collect()),
                Selection::Custom(list) => Some(list.clone()),
            },
            refused: self.refused.clone(),
            ..Final::default()
        };
        self.times(&mut last, "run".to_owned(), &run.node);
        for stage in &run.stages {
            let name = format!("stage:{}", stage.name);
            last.stages.insert(stage.name.clone(), stage.node.state.name());
            last.failures.insert(name.clone(), stage.failures);
            last.limits.insert(name.clone(), (count(stage.slots), stage.allowed));
            self.gates_at_end(&mut last, &name, &stage.before, &stage.after);
            self.times(&mut last, name, &stage.node);
            if let Some(wait) = &stage.wait {
                last.waits.insert(stage.name.clone(), wait.node.state.name());
                self.times(&mut last, format!("wait:{}", stage.name), &wait.node);
            }
            for group in &stage.groups {
                let name = format!("group:{}", group.name);
                last.groups.insert(group.name.clone(), group.node.state.name());
                last.failures.insert(name.clone(), group.failures);
                last.limits.insert(name.clone(), (count(group.slots), group.allowed));
                self.gates_at_end(&mut last, &name, &group.before, &group.after);
                self.times(&mut last, name, &group.node);
                for member in &group.members {
                    let state = member.node.state.name();
                    *last.counts.entry(state.clone()).or_default() += 1;
                    last.members.insert(member.name.clone(), state);
                    if let Some(code) = &member.code {
                        last.codes.insert(member.name.clone(), code.clone());
                    }
                    self.times(&mut last, format!("member:{}", member.name), &member.node);
                }
            }
        }
        for (name, cluster) in &self.world {
            let images = cluster.pools.iter().map(|pool| pool.image.clone()).collect();
            last.images.insert(name.clone(), images);
            if let Some(version) = &cluster.kubernetes {
                last.kubernetes.insert(name.clone(), version.clone());
            }
        }
        last
    }

    fn times(&self, last: &mut Final, name: String, node: &Node) {
        let offset = |instant: Option<Millis>| instant.map(|instant| instant - self.case.start);
        last.started.insert(name.clone(), offset(node.started));
        last.completed.insert(name, offset(node.completed));
    }

    fn gates_at_end(&self, last: &mut Final, place: &str, before: &[Gate], after: &[Gate]) {
        for (timing, gates) in [("before", before), ("after", after)] {
            for gate in gates {
                let mut name = format!("{place}/{timing}");
                if let Some(display) = &gate.spec.name {
                    write!(name, "/{display}").expect("strings take everything");
                }
                self.times(last, format!("gate:{name}"), &gate.node);
                last.gates.insert(name, gate.node.state.name());
            }
        }
    }
}

fn count(slots: usize) -> u64 {
    u64::try_from(slots).expect("a small number")
}

impl State {
    /// Whether a node in this state may have a `completedTime`.
    pub(super) fn has_completed(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }
}
