//! Events as JSON lines: what `run --events` writes.

use std::fmt::Write as _;

use crate::experiment::History;
use crate::ids::{GroupId, StageId};
use crate::scheduler::{Node, Plan, Record};
use crate::sim::ChangeRecord;
use crate::sim::campaign::Campaign;

/// Renders records as one JSON object a line: keys in a fixed order, absent when without value,
/// no spaces (R-K2).
#[derive(Debug, Clone, Copy)]
pub struct Events<'a> {
    /// The plan whose names are shown.
    pub plan: &'a Plan<'a>,
    /// `run`: the scenario's name (R-K3).
    pub run: &'a str,
    /// The texts of failure codes.
    pub codes: &'a [String],
}

impl Events<'_> {
    /// The line of one record, without a line break.
    pub fn line(&self, record: &Record) -> String {
        let mut line = format!(r#"{{"time":"{}","kind":"{}""#, record.time, record.kind());
        field(&mut line, "run", self.run);
        let (stage, group) = self.place(record.node);
        if let Some(id) = stage {
            field(&mut line, "stage", &self.plan.stages[id].name);
        }
        if let Some(id) = group {
            field(&mut line, "group", &self.plan.groups[id].name);
        }
        if let Node::Member(id) = record.node {
            field(&mut line, "member", &self.plan.fleet.members[id].name);
        }
        if let Node::Gate(id) = record.node {
            field(&mut line, "gate", &self.plan.gates[id].key());
        }
        if let Some(reason) = record.reason {
            field(&mut line, "reason", reason.text(self.codes));
        }
        if let Some(until) = record.until {
            field(&mut line, "until", &until.to_string());
        }
        line.push('}');
        line
    }

    /// The line of something that happens to a configuration change; its `run` is the campaign's
    /// name.
    pub fn change(&self, change: &ChangeRecord, campaigns: &[Campaign]) -> String {
        let mut line = format!(r#"{{"time":"{}","kind":"{}""#, change.time, change.kind());
        field(&mut line, "run", &campaigns[usize::from(change.campaign)].name);
        field(&mut line, "member", &self.plan.fleet.members[change.member].name);
        if let Some(reason) = change.reason() {
            field(&mut line, "reason", reason);
        }
        if let Some(until) = change.until() {
            field(&mut line, "until", &until.to_string());
        }
        line.push('}');
        line
    }

    fn place(&self, node: Node) -> (Option<StageId>, Option<GroupId>) {
        match node {
            Node::Run => (None, None),
            Node::Stage(id) | Node::Wait(id) => (Some(id), None),
            Node::Group(id) => (Some(self.plan.groups[id].stage), Some(id)),
            Node::Member(id) => {
                let place = self.plan.places[id].expect("only members of the run have records");
                (Some(self.plan.groups[place.group].stage), Some(place.group))
            }
            Node::Gate(id) => (Some(self.plan.gates[id].stage), self.plan.gates[id].group),
        }
    }
}

/// The lines of a whole history, in the order in which everything took effect: of `update`, of the
/// runs beside it, and of configuration changes.
pub fn stream(
    history: &History,
    (own, beside): (&Events<'_>, &[Events<'_>]),
    campaigns: &[Campaign],
) -> String {
    let mut text = String::new();
    let mut add = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let mut changes = history.changes.iter().peekable();
    for (number, (run, record)) in history.all().enumerate() {
        while let Some((_, change)) = changes.next_if(|(before, _)| *before <= number) {
            add(own.change(change, campaigns));
        }
        add(run.map_or(own, |run| &beside[run]).line(record));
    }
    for (_, change) in changes {
        add(own.change(change, campaigns));
    }
    text
}

fn field(line: &mut String, key: &str, value: &str) {
    let value = serde_json::to_string(value).expect("text is always JSON");
    write!(line, r#","{key}":{value}"#).expect("strings take all");
}
