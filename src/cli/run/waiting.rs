//! What an update run that has not ended is waiting for: every reason by its name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fleetsim::ids::MemberId;
use fleetsim::scheduler::{GateKind, GateScope, Node, Reason, Scheduler, State};
use fleetsim::time::Timestamp;
use serde_json::{Value, json};

use super::Replication;
use crate::cli::words;

/// So many members are named.
const MOST_NAMES: usize = 5;

/// One thing that the run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// What it is: `approval`, `scheduledStart`, `afterStageWait`, the reason of Pending members,
    /// `updating`, `start`, `notTried`.
    code: &'static str,
    /// In words.
    pub(super) text: String,
    /// Who waits.
    members: Vec<String>,
    /// Until when, if that is known.
    until: Option<Timestamp>,
}

impl Wait {
    /// As JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "kind": self.code,
            "text": self.text,
            "members": self.members,
            "until": self.until.map(|at| at.to_string()),
        })
    }

    fn new(code: &'static str, text: String) -> Self {
        Self { code, text, members: Vec::new(), until: None }
    }

    fn until(self, until: Option<Timestamp>) -> Self {
        Self { until, ..self }
    }
}

/// Everything that the run waits for; nothing once it is Completed or Skipped.
pub(super) fn of(replication: &Replication<'_>) -> Vec<Wait> {
    let scheduler = replication.simulation.scheduler();
    if matches!(scheduler.run().state, State::Completed | State::Skipped) {
        return Vec::new();
    }
    let look = Look { replication, scheduler };
    let mut waits = look.halts();
    waits.extend(look.gates());
    waits.extend(look.after_stage_waits());
    waits.extend(look.pending_members());
    waits.extend(look.in_flight());
    waits.extend(look.not_tried());
    waits
}

/// Since when the run is Failed or Stopped, if it is.
pub(super) fn halted_since(replication: &Replication<'_>) -> Option<Timestamp> {
    let state = replication.simulation.scheduler().run().state;
    let mut records = replication.history.records.iter().rev();
    let last = records.find(|record| record.node == Node::Run)?;
    matches!(state, State::Failed | State::Stopped).then_some(last.time)
}

struct Look<'a> {
    replication: &'a Replication<'a>,
    scheduler: &'a Scheduler<'a>,
}

impl Look<'_> {
    /// A run that is Failed or Stopped waits for somebody to start it.
    fn halts(&self) -> Vec<Wait> {
        let plan = self.scheduler.plan();
        let state = self.scheduler.run().state;
        if !matches!(state, State::Failed | State::Stopped) {
            return Vec::new();
        }
        let mut why = String::new();
        for (id, stage) in plan.stages.iter_with_ids() {
            if self.scheduler.stage(id).state != State::Failed {
                continue;
            }
            let failures = words::count(self.scheduler.stage(id).failures, "failure");
            let allowed = stage.max_allowed_failures;
            why = format!(": {failures} in stage {}, which allows {allowed}", stage.name);
            let groups = stage.groups.clone().map(fleetsim::ids::GroupId);
            for id in groups.filter(|id| self.scheduler.group(*id).state == State::Failed) {
                let (group, known) = (&plan.groups[id], self.scheduler.group(id));
                let failures = words::count(known.failures, "failure");
                let allowed = group.max_allowed_failures;
                write!(why, "; {failures} in group {}, which allows {allowed}", group.name)
                    .expect("strings take all");
            }
        }
        let text = format!("somebody to start the run again, which is {state}{why}");
        vec![Wait::new("start", text)]
    }

    fn gates(&self) -> Vec<Wait> {
        let plan = self.scheduler.plan();
        let mut waits = Vec::new();
        for (id, gate) in plan.gates.iter_with_ids() {
            let status = self.scheduler.gate(id);
            if status.state != State::Pending {
                continue;
            }
            let owner = match (gate.scope(), gate.group) {
                (GateScope::Group, Some(group)) => format!("group:{}", plan.groups[group].name),
                _ => format!("stage:{}", plan.stages[gate.stage].name),
            };
            let path = format!("{owner}/{}", gate.key());
            let since = status.times.started.map_or(String::new(), |at| self.since(at));
            waits.push(match gate.kind {
                GateKind::Approval => {
                    Wait::new("approval", format!("the approval {path}, Pending{since}"))
                }
                GateKind::ScheduledStart(_) => {
                    let at = status.absolute_start;
                    let due = at.map_or(String::new(), |at| format!(" on {}", words::instant(at)));
                    Wait::new("scheduledStart", format!("the scheduled start {path}{due}"))
                        .until(at)
                }
            });
        }
        waits
    }

    fn after_stage_waits(&self) -> Vec<Wait> {
        let plan = self.scheduler.plan();
        let running =
            plan.stages.ids().filter(|id| self.scheduler.wait(*id).state == State::Running);
        running
            .map(|id| {
                let records = self.replication.history.records.iter().rev();
                let until = records.filter(|r| r.node == Node::Wait(id)).find_map(|r| r.until);
                let end =
                    until.map_or(String::new(), |at| format!(" until {}", words::instant(at)));
                let text = format!("the wait after stage {}{end}", plan.stages[id].name);
                Wait::new("afterStageWait", text).until(until)
            })
            .collect()
    }

    /// Pending members by reason, and by region where that is what counts.
    fn pending_members(&self) -> Vec<Wait> {
        let fleet = self.scheduler.plan().fleet;
        let mut by_reason: BTreeMap<(&str, &str), (Reason, Vec<MemberId>)> = BTreeMap::new();
        for id in self.in_state(State::Pending) {
            let Some(reason) = self.scheduler.member(id).reason else { continue };
            let region = match reason {
                Reason::NodeImageVersionNotAvailable | Reason::KubernetesVersionNotAvailable => {
                    fleet.regions[fleet.members[id].region].as_str()
                }
                _ => "",
            };
            let entry = by_reason.entry((reason.text(&[]), region));
            entry.or_insert((reason, Vec::new())).1.push(id);
        }
        let waits = by_reason.into_iter().map(|((_, region), (reason, members))| {
            let until = members.iter().filter_map(|id| self.scheduler.member(*id).until).min();
            let (code, what) = match reason {
                Reason::MaintenanceWindowClosed => {
                    let text = match until {
                        Some(at) if at <= self.replication.end => {
                            format!("the poll that notices the opening of {}", words::instant(at))
                        }
                        Some(at) => {
                            format!("maintenance windows, the first on {}", words::instant(at))
                        }
                        None => "maintenance windows, which never open again".to_owned(),
                    };
                    ("MaintenanceWindowClosed", text)
                }
                Reason::NodeImageVersionNotAvailable => {
                    ("NodeImageVersionNotAvailable", format!("a node image to reach {region}"))
                }
                Reason::KubernetesVersionNotAvailable => (
                    "KubernetesVersionNotAvailable",
                    format!("the Kubernetes version to reach {region}"),
                ),
                _ => ("MemberBusy", "other work on the member to end".to_owned()),
            };
            self.named(code, &what, members).until(until)
        });
        waits.collect()
    }

    fn in_flight(&self) -> Option<Wait> {
        let members = self.in_state(State::Running);
        (!members.is_empty()).then(|| self.named("updating", "updates in flight", members))
    }

    fn not_tried(&self) -> Option<Wait> {
        let members = self.in_state(State::NotStarted);
        (!members.is_empty()).then(|| self.named("notTried", "their turn", members))
    }

    /// A wait of some members.
    fn named(&self, code: &'static str, what: &str, members: Vec<MemberId>) -> Wait {
        let fleet = self.scheduler.plan().fleet;
        let members: Vec<String> =
            members.into_iter().map(|id| fleet.members[id].name.clone()).collect();
        let count = words::count(members.len() as u64, "member");
        let names = words::names(members.iter().map(String::as_str), MOST_NAMES);
        Wait { members, ..Wait::new(code, format!("{what}: {count} ({names})")) }
    }

    fn in_state(&self, state: State) -> Vec<MemberId> {
        let groups = self.scheduler.plan().groups.iter();
        let members = groups.flat_map(|group| group.members.iter().copied());
        members.filter(|id| self.scheduler.member(*id).state == state).collect()
    }

    fn since(&self, at: Timestamp) -> String {
        format!(" since {}", words::offset(at, self.replication.scenario.start))
    }
}
