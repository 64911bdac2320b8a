//! The summary of a replication, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fleetsim::experiment::{ChangeMetric, CostMetric, Metric};
use fleetsim::ids::{GroupId, MemberId, StageId};
use fleetsim::report::changes::sentence;
use fleetsim::report::costs;
use fleetsim::report::human;
use fleetsim::scheduler::{Scheduler, State};
use fleetsim::sim::DelayCause;
use fleetsim::sim::model::DurationModel;
use fleetsim::time::{Span, Timestamp};
use serde_json::{Map, Value, json};

use super::waiting::{self, Wait};
use super::{Replication, autonomous, strip};
use crate::cli::table::Table;
use crate::cli::{Format, words};

/// So many members are named with a reason.
const MOST_NAMES: usize = 5;

/// A replication, about to be shown.
pub(super) struct Summary<'a> {
    replication: &'a Replication<'a>,
    scheduler: &'a Scheduler<'a>,
    waits: Vec<Wait>,
}

impl<'a> Summary<'a> {
    pub(super) fn of(replication: &'a Replication<'a>) -> Self {
        let scheduler = replication.simulation.scheduler();
        Self { replication, scheduler, waits: waiting::of(replication) }
    }

    pub(super) fn render(&self, format: Format) -> String {
        match format {
            Format::Json => {
                serde_json::to_string_pretty(&self.json()).expect("values are always JSON") + "\n"
            }
            Format::Csv => self.metrics_table().render(Format::Csv),
            Format::Table | Format::Md => self.text(format),
        }
    }

    // ------------------------------------------------------------------ for people

    fn text(&self, format: Format) -> String {
        let mut text = self.heading();
        if !self.replication.scenario.has_update {
            return text + &autonomous::text(self.replication, format);
        }
        text.push_str(&self.members());
        text.push_str(&self.delays());
        text.push_str(&self.changes());
        text.push_str(&autonomous::text(self.replication, format));
        text.push_str(&self.costs());
        if !self.waits.is_empty() {
            text.push_str("waiting for:\n");
            for wait in &self.waits {
                writeln!(text, "  - {}", wait.text).expect("strings take all");
            }
        }
        text.push('\n');
        text.push_str(&self.stages(format).render(format));
        write!(text, "\n{}\n", strip::LEGEND).expect("strings take all");
        text
    }

    fn heading(&self) -> String {
        let Replication { scenario, strategy, number, .. } = self.replication;
        let verdict = if scenario.has_update { self.verdict() + "\n" } else { String::new() };
        let (name, seed) = (&scenario.name, scenario.seed);
        let luck = if self.replication.experiment.world.is_deterministic() {
            "nothing is left to luck".to_owned()
        } else {
            format!("seed {seed}, replication {number}")
        };
        format!("{name}: strategy {}, {luck}\n{verdict}", strategy.name)
    }

    /// What it came to, and when.
    fn verdict(&self) -> String {
        let (state, scenario) = (self.scheduler.run().state, self.replication.scenario);
        let (start, end) = (scenario.start, self.replication.end);
        if let Some(makespan) = self.replication.outcome.makespan {
            let at = words::instant(start + makespan);
            return format!("{state} after {}, on {at}", words::span(makespan));
        }
        let horizon = if end == start + scenario.horizon { ", the horizon" } else { "" };
        let (offset, instant) = (words::offset(end, start), words::instant(end));
        if let Some(since) = waiting::halted_since(self.replication) {
            let since = words::offset(since, start);
            return format!("{state} since {since}, not started again by {offset}{horizon}");
        }
        format!("{state} at {offset} ({instant}{horizon})")
    }

    fn members(&self) -> String {
        let outcome = self.replication.outcome;
        let in_flight = self.scheduler.run().in_flight;
        let parts = [
            (outcome.updated, "updated"),
            (outcome.failed, "failed"),
            (outcome.skipped, "skipped"),
            (in_flight, "in flight"),
            (outcome.pending - in_flight, "pending"),
            (outcome.not_started, "not started"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let mut text = words::count(outcome.members, "member");
        if !parts.is_empty() {
            write!(text, ": {}", parts.join(", ")).expect("strings take all");
        }
        let failures = self.scheduler.run().failure_count;
        for (number, noun) in [
            (failures, "failed update"),
            (outcome.approvals, "approval"),
            (outcome.restarts, "restart"),
        ] {
            if number > 0 {
                write!(text, "; {}", words::count(number, noun)).expect("strings take all");
            }
        }
        text.push('\n');
        let exposure = outcome.exposure;
        if exposure.members > 0 {
            let (members, time) =
                (words::count(exposure.members, "member"), words::span(exposure.time));
            writeln!(text, "  {members} ran a defective release, for {time} together")
                .expect("strings take all");
        }
        for state in [State::Failed, State::Skipped] {
            for (code, members) in self.by_reason(state) {
                let word = state.to_string().to_lowercase();
                let names = words::names(members.into_iter(), MOST_NAMES);
                writeln!(text, "  {word}, {code}: {names}").expect("strings take all");
            }
        }
        text
    }

    /// What configuration changes came to.
    fn changes(&self) -> String {
        let replication = self.replication;
        if replication.scenario.campaigns.is_empty() {
            return String::new();
        }
        let horizon = replication.end - replication.scenario.start;
        let number = |metric: ChangeMetric| {
            let seen = Metric::Change(metric).of(replication.outcome, horizon);
            match metric {
                ChangeMetric::TimeTo(_) if seen.censored => "never".to_owned(),
                ChangeMetric::TimeTo(_) => human::seconds(seen.value),
                _ => human::count(seen.value),
            }
        };
        format!("{}\n", sentence(number))
    }

    /// What the updates cost, where the world knows nodes.
    fn costs(&self) -> String {
        let Replication { scenario, outcome, .. } = self.replication;
        if !matches!(scenario.world.durations, DurationModel::Nodes(_)) {
            return String::new();
        }
        let number = |metric: CostMetric| {
            human::count(Metric::Cost(metric).of(outcome, scenario.horizon).value)
        };
        format!("{}\n", costs::sentence(number))
    }

    /// Where the makespan went, the longest first.
    fn delays(&self) -> String {
        let delays = &self.replication.outcome.delays;
        let total = delays.total().as_millis();
        let mut causes: Vec<(DelayCause, Span)> = DelayCause::ALL
            .into_iter()
            .map(|cause| (cause, delays.of(cause)))
            .filter(|(_, span)| *span > Span::ZERO)
            .collect();
        if causes.is_empty() {
            return String::new();
        }
        causes.sort_by_key(|(_, span)| -*span);
        let parts: Vec<String> = causes
            .iter()
            .map(|(cause, span)| {
                let percent = (span.as_millis() * 100 + total / 2) / total;
                format!("{} {} ({percent}%)", cause.word(), words::span(*span))
            })
            .collect();
        format!("where the time went: {}\n", parts.join(", "))
    }

    fn stages(&self, format: Format) -> Table {
        let columns = ["stage", "state", "#began", "#took", "members", "timeline"];
        let mut table = Table::new(&columns);
        let plan = self.scheduler.plan();
        let (start, records) = (self.replication.scenario.start, &self.replication.history.records);
        let end = self.shown_until();
        for (id, stage) in plan.stages.iter_with_ids() {
            let status = self.scheduler.stage(id);
            let began = status.times.started.map_or(String::new(), |at| words::offset(at, start));
            let took = match (status.times.started, status.times.completed) {
                (Some(from), Some(to)) => words::span(to - from),
                (Some(from), None) => format!("{}…", words::span(end.max(from) - from)),
                (None, _) => String::new(),
            };
            let strip = strip::strip(plan, id, records, start, end);
            let strip =
                if format == Format::Md { format!("`{strip}`") } else { format!("|{strip}|") };
            let state = status.state.to_string();
            table.row([stage.name.clone(), state, began, took, self.member_states(id), strip]);
        }
        table
    }

    /// `3 Completed, 1 Failed`
    fn member_states(&self, stage: StageId) -> String {
        let mut counts: BTreeMap<State, u32> = BTreeMap::new();
        for id in self.members_of(stage) {
            *counts.entry(self.scheduler.member(id).state).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().rev().map(|(state, count)| format!("{count} {state}")).collect();
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
    }

    /// Where the strips end: with the run, with its last change if it is halted, else with the
    /// clock.
    fn shown_until(&self) -> Timestamp {
        let last = self.replication.history.records.last().map(|record| record.time);
        match self.scheduler.run().state {
            State::Completed | State::Skipped | State::Failed | State::Stopped => {
                last.unwrap_or(self.replication.end)
            }
            _ => self.replication.end,
        }
    }

    // ------------------------------------------------------------------ for programs

    fn json(&self) -> Value {
        let Replication { scenario, strategy, number, outcome, end, .. } = self.replication;
        let (run, start) = (self.scheduler.run(), scenario.start);
        let refused: Vec<Value> = self
            .replication
            .history
            .refused
            .iter()
            .map(|(at, action, why)| {
                let offset = (*at - start).to_string();
                json!({"at": offset, "action": action, "why": why.to_string()})
            })
            .collect();
        let reasons = |state| {
            let reasons = self.by_reason(state).into_iter();
            reasons.map(|(code, names)| (code.to_owned(), json!(names))).collect::<Map<_, _>>()
        };
        let mut value = json!({
            "scenario": scenario.name,
            "strategy": strategy.name,
            "seed": scenario.seed,
            "replication": number,
            "start": start.to_string(),
            "until": end.to_string(),
            "state": run.state.name(),
            "outcome": outcome.end.word(),
            "failureCount": run.failure_count,
            "members": outcome.members,
            "metrics": self.metrics_json(),
            "failed": reasons(State::Failed),
            "skipped": reasons(State::Skipped),
            "waitingFor": self.waits.iter().map(Wait::json).collect::<Vec<_>>(),
            "stages": self.stages_json(),
            "refused": refused,
        });
        if !scenario.profiles.is_empty() {
            value["profileRuns"] = json!(autonomous::json(self.replication));
        }
        value
    }

    /// Every metric under its name; those that never came are null.
    fn metrics_json(&self) -> Map<String, Value> {
        let horizon = self.replication.end - self.replication.scenario.start;
        let value = |metric: Metric| {
            let seen = metric.of(self.replication.outcome, horizon);
            if seen.censored { Value::Null } else { json!(seen.value) }
        };
        Metric::columns_of(self.replication.scenario)
            .map(|metric| (metric.to_string(), value(metric)))
            .collect()
    }

    fn metrics_table(&self) -> Table {
        let mut table = Table::new(&["metric", "value"]);
        for (metric, value) in self.metrics_json() {
            let value = if value.is_null() { String::new() } else { value.to_string() };
            table.row([metric, value]);
        }
        table
    }

    fn stages_json(&self) -> Vec<Value> {
        let stage = |id: StageId| {
            let status = self.scheduler.stage(id);
            let mut counts = Map::new();
            for member in self.members_of(id) {
                let count =
                    counts.entry(self.scheduler.member(member).state.name()).or_insert(json!(0));
                *count = json!(count.as_u64().unwrap_or(0) + 1);
            }
            json!({
                "name": self.scheduler.plan().stages[id].name,
                "state": status.state.name(),
                "startTime": status.times.started.map(|at| at.to_string()),
                "completedTime": status.times.completed.map(|at| at.to_string()),
                "failureCount": status.failure_count,
                "members": counts,
            })
        };
        self.scheduler.plan().stages.ids().map(stage).collect()
    }

    // ------------------------------------------------------------------ facts

    fn members_of(&self, stage: StageId) -> impl Iterator<Item = MemberId> {
        let plan = self.scheduler.plan();
        let groups = plan.stages[stage].groups.clone().map(GroupId);
        groups.flat_map(|group| plan.groups[group].members.iter().copied())
    }

    /// Members in a state, by reason code.
    fn by_reason(&self, state: State) -> BTreeMap<&str, Vec<&str>> {
        let plan = self.scheduler.plan();
        let codes = self.replication.experiment.world.codes();
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for id in plan.groups.iter().flat_map(|group| group.members.iter().copied()) {
            let member = self.scheduler.member(id);
            if member.state == state {
                let code = member.reason.map_or("unknown", |reason| reason.text(codes));
                reasons.entry(code).or_default().push(&plan.fleet.members[id].name);
            }
        }
        reasons
    }
}
