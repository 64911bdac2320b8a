//! `plan`: who would be updated when, with which limits, windows and targets. Nothing is drawn.

mod limits;
mod target;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use fleetsim::calendar::Interval;
use fleetsim::ids::{Column, GateId, GroupId, Id, MemberId, StageId, WindowId};
use fleetsim::report::human;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{GateKind, NodeImageSelection, Plan, Restart, StoppedMembers, Strategy};
use fleetsim::sim::nodes::Estimate;
use fleetsim::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::load::{Source, in_no_group};
use super::table::Table;
use super::{Console, Exit, Failure, Format, words};
use limits::Limit;
use target::{Target, Targets};

/// Without `--members`, this many members are listed one by one.
const MOST_MEMBERS: usize = 40;
/// So many different targets are shown of a fleet whose members are not listed.
const MOST_TARGETS: usize = 12;
/// So many openings of a window are shown.
const OPENINGS: usize = 3;
/// Members whose window opens within this are tried before those without a window (O2).
const SOON: Span = Span::from_hours(4);

const EXAMPLES: &str = "\
Examples:
  fleetsim plan scenario.yaml
  fleetsim plan scenario.yaml --strategy careful --members
  fleetsim plan scenario.yaml --format json | jq '.stages[].maxConcurrency'";

/// Options of `plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The scenario; `-` reads stdin
    scenario: String,
    /// The strategy to lay over the fleet, instead of the scenario's first
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// The seed with which the fleet is drawn, instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// List every member, however many there are
    #[arg(long)]
    members: bool,
}

/// Carries out `plan`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let loaded = Source::read(&options.scenario)?.scenario(options.seed)?;
    let (scenario, strategy) = loaded.candidate(options.strategy.as_ref())?;
    let experiment = loaded.lay_out(&[(scenario, strategy)])?;
    console.warn(&loaded.doubts(&experiment));
    let view = View::new(scenario, strategy, &experiment.plans[0], experiment.world.estimates());
    match console.format {
        Format::Json => console.print_json(&view.json())?,
        Format::Csv => console.print(&view.members_table(true).render(Format::Csv))?,
        format => console.print(&view.text(format, options.members))?,
    }
    Ok(Exit::Fine)
}

/// A strategy laid over a fleet, about to be shown.
struct View<'a> {
    scenario: &'a Scenario,
    strategy: &'a Strategy,
    plan: &'a Plan<'a>,
    targets: Targets<'a>,
    /// What updates come to in the mean, where the world knows nodes.
    estimates: Option<Column<MemberId, Estimate>>,
    /// The windows that count, with the letters and numbers that name them here.
    windows: BTreeMap<WindowId, String>,
}

impl<'a> View<'a> {
    fn new(
        scenario: &'a Scenario,
        strategy: &'a Strategy,
        plan: &'a Plan<'a>,
        estimates: Option<Column<MemberId, Estimate>>,
    ) -> Self {
        let mut windows = BTreeMap::new();
        for window in plan.groups.iter().flat_map(|group| &group.cohorts).filter_map(|c| c.window) {
            windows.insert(window, String::new());
        }
        for (number, name) in (1..).zip(windows.values_mut()) {
            *name = format!("W{number}");
        }
        Self { scenario, strategy, plan, targets: Targets::new(scenario, plan), estimates, windows }
    }

    // ------------------------------------------------------------------ for people

    fn text(&self, format: Format, all_members: bool) -> String {
        let mut text = self.heading();
        let mut section = |title: &str, table: &Table| {
            let mark = if format == Format::Md { "## " } else { "" };
            write!(text, "\n{mark}{title}\n\n{}", table.render(format)).expect("strings take all");
        };
        section("Stages and groups, in order", &self.stages_table());
        let gates = self.gates_table();
        if !gates.is_empty() {
            section("Gates and waits", &gates);
        }
        let windows = self.windows_table();
        if !windows.is_empty() {
            section("Windows that count, and their next openings", &windows);
        }
        if all_members || self.plan.size as usize <= MOST_MEMBERS {
            let mut title =
                "Members, in the order in which their group would try them now".to_owned();
            if self.families() == 1 {
                title = format!("{title}; all run {}", self.only_family());
            }
            section(&title, &self.members_table(false));
        } else {
            section("Members (`--members` lists each)", &self.summary_table());
            section("Targets", &self.targets_table());
        }
        text.push_str(&self.left_out());
        text
    }

    fn heading(&self) -> String {
        let Scenario { name, start, horizon, update, .. } = self.scenario;
        let images = match &update.node_images {
            _ if update.upgrade.kubernetes_version().is_some() && !self.moves_images() => "",
            NodeImageSelection::Latest => ", Latest node images",
            NodeImageSelection::Consistent => ", Consistent node images",
            NodeImageSelection::Custom(_) => ", Custom node images",
        };
        let polls = match update.poll_interval {
            Span::ZERO => "at once".to_owned(),
            every => format!("every {every}"),
        };
        let stopped = match update.stopped_members {
            StoppedMembers::Fail => "fail",
            StoppedMembers::Skip => "are skipped",
        };
        // People bring their own kind of restart; the update's is for whoever starts it else.
        let people = self.scenario.world.restarter.as_ref();
        let restart = match people.map_or(update.restart, |who| who.restart) {
            Restart::KeepFailed => "keeps failed members as they are",
            Restart::RetryFailed => "tries failed members again",
        };
        let members = words::count(self.plan.size, "member");
        let stages = words::count(self.plan.stages.len() as u64, "stage");
        format!(
            "{name}: strategy {}, {members} in {stages}\n\
             {}{images}; from {} for {horizon} at most\n\
             windows and releases are noticed {polls}; stopped clusters {stopped}; \
             a restart {restart}\n",
            self.strategy.name,
            self.upgrade(),
            words::instant(*start),
        )
    }

    fn upgrade(&self) -> String {
        use fleetsim::scheduler::Upgrade;
        match self.scenario.update.upgrade {
            Upgrade::Full(version) => format!("Full to Kubernetes {version}"),
            Upgrade::ControlPlaneOnly(version) => {
                format!("ControlPlaneOnly to Kubernetes {version}")
            }
            Upgrade::NodeImageOnly => "NodeImageOnly".to_owned(),
        }
    }

    fn moves_images(&self) -> bool {
        use fleetsim::scheduler::Upgrade;
        !matches!(self.scenario.update.upgrade, Upgrade::ControlPlaneOnly(_))
    }

    fn stages_table(&self) -> Table {
        let mut table = Table::new(&["stage", "group", "#members", "at once", "failures allowed"]);
        for (id, stage) in self.plan.stages.iter_with_ids() {
            let (at_once, failures) = self.stage_limits(id);
            let title = format!("{}. {}", id.index() + 1, stage.name);
            let size = stage.size.to_string();
            let limits = (at_once.stage_concurrency(), failures.failures());
            table.row([title, String::new(), size, limits.0, limits.1]);
            for group in self.groups_of(id) {
                let (at_once, failures) = self.group_limits(id, group);
                let facts = &self.plan.groups[group];
                let size = facts.members.len().to_string();
                let implicit = self.asked_group(id, group).is_none() && !self.is_one_by_one();
                let limits = if implicit {
                    ("as the stage".to_owned(), "as the stage".to_owned())
                } else {
                    (at_once.group_concurrency(stage.max_concurrency), failures.failures())
                };
                table.row([String::new(), facts.name.clone(), size, limits.0, limits.1]);
            }
        }
        table
    }

    fn gates_table(&self) -> Table {
        let mut table = Table::new(&["at", "what", "completes"]);
        for (id, stage) in self.plan.stages.iter_with_ids() {
            let name = &stage.name;
            self.gate_rows(&mut table, &format!("before stage {name}"), &stage.before_gates);
            for group in self.groups_of(id) {
                let group = &self.plan.groups[group];
                let name = &group.name;
                self.gate_rows(&mut table, &format!("before group {name}"), &group.before_gates);
                self.gate_rows(&mut table, &format!("after group {name}"), &group.after_gates);
            }
            self.gate_rows(&mut table, &format!("after stage {name}"), &stage.after_gates);
            if stage.wait > Span::ZERO {
                let completes = format!("{} after the stage's last group", stage.wait);
                table.row([format!("after stage {name}"), "wait".to_owned(), completes]);
            }
        }
        table
    }

    fn gate_rows(&self, table: &mut Table, at: &str, gates: &std::ops::Range<u32>) {
        for number in gates.clone() {
            let gate = &self.plan.gates[GateId(number)];
            let name = gate.display_name.as_ref().map_or(String::new(), |name| format!(" {name}"));
            let (kind, completes) = match gate.kind {
                GateKind::Approval => ("approval", "when somebody approves".to_owned()),
                GateKind::ScheduledStart(start) => {
                    let next = words::instant(start.next_at_or_after(self.scenario.start));
                    let (day, time, offset) = (start.day, start.time, start.offset);
                    let text = format!("{day} {time} at {offset}; from the start, {next}");
                    ("scheduled start", text)
                }
            };
            table.row([at.to_owned(), format!("{kind}{name}"), completes]);
        }
    }

    fn windows_table(&self) -> Table {
        let mut table = Table::new(&["window", "#members", "opens", "next"]);
        for (id, name) in &self.windows {
            let cohorts = self.plan.groups.iter().flat_map(|group| &group.cohorts);
            let members: usize =
                cohorts.filter(|c| c.window == Some(*id)).map(|c| c.positions.len()).sum();
            let openings: Vec<String> = self
                .openings(*id)
                .iter()
                .map(|interval| words::interval(*interval, self.scenario.start))
                .collect();
            let next = if openings.is_empty() { "never".to_owned() } else { openings.join(", ") };
            let text = self.plan.fleet.windows[*id].describe();
            table.row([name.clone(), members.to_string(), text, next]);
        }
        table
    }

    /// One row a member: for people, or with everything spelled out.
    fn members_table(&self, spelled_out: bool) -> Table {
        let has_windows = spelled_out || !self.windows.is_empty();
        let mut columns = vec!["stage", "group", "member", "region"];
        columns.extend(has_windows.then_some(["window", "next opening"]).into_iter().flatten());
        columns.push("target");
        columns.extend(self.estimates.iter().flat_map(|_| ["#mean time", "#surge nodes"]));
        let mut table = Table::new(&columns);
        let one_family = !spelled_out && self.families() == 1;
        for (stage, group, id) in self.members_in_order() {
            let member = &self.plan.fleet.members[id];
            let window = Plan::window_of(self.plan.update, member);
            let first = window.map_or(Some(self.scenario.start), |w| self.first_opening(w));
            let mut row = vec![
                self.plan.stages[stage].name.clone(),
                self.plan.groups[group].name.clone(),
                member.name.clone(),
                self.plan.fleet.regions[member.region].clone(),
            ];
            if has_windows {
                row.extend(self.window_cells(window, first, spelled_out));
            }
            let targets = self.targets.of(member, first.unwrap_or(self.scenario.start));
            row.push(in_words(&targets, !one_family));
            if let Some((takes, surge)) = self.estimate(id) {
                row.extend([human::duration(takes), surge.to_string()]);
            }
            table.row(row);
        }
        table
    }

    /// How long a member's update takes in the mean, and its surge nodes.
    fn estimate(&self, id: MemberId) -> Option<(Span, u32)> {
        let estimate = self.estimates.as_ref()?[id];
        let upgrade = self.plan.update.upgrade;
        Some((estimate.total(upgrade), estimate.surge(upgrade)))
    }

    /// A member's window, and when it opens first.
    fn window_cells(
        &self,
        window: Option<WindowId>,
        first: Option<Timestamp>,
        spelled_out: bool,
    ) -> [String; 2] {
        let Some(id) = window else { return ["none".to_owned(), "any time".to_owned()] };
        let name = if spelled_out {
            self.plan.fleet.windows[id].describe()
        } else {
            self.windows[&id].clone()
        };
        let opening = match first {
            None => "never".to_owned(),
            Some(at) if spelled_out => at.to_string(),
            Some(at) if at <= self.scenario.start => "open now".to_owned(),
            Some(at) => words::instant(at),
        };
        [name, opening]
    }

    fn only_family(&self) -> &str {
        let mut families = self.plan.family_regions.iter_with_ids();
        let only = families.find(|(_, regions)| !regions.is_empty());
        only.map_or("", |(family, _)| &self.plan.fleet.families[family])
    }

    /// Image families of the run's members.
    fn families(&self) -> usize {
        self.plan.family_regions.iter().filter(|regions| !regions.is_empty()).count()
    }

    fn summary_table(&self) -> Table {
        let columns = ["stage", "group", "#members", "first", "last", "regions", "windows"];
        let mut table = Table::new(&columns);
        for stage in self.plan.stages.ids() {
            for group in self.groups_of(stage) {
                let members = self.in_order(group);
                let name = |id: Option<&MemberId>| {
                    id.map_or(String::new(), |id| self.plan.fleet.members[*id].name.clone())
                };
                let mut regions: BTreeMap<&str, u32> = BTreeMap::new();
                for id in &members {
                    let region = self.plan.fleet.members[*id].region;
                    *regions.entry(&self.plan.fleet.regions[region]).or_default() += 1;
                }
                let regions: Vec<_> =
                    regions.iter().map(|(name, n)| format!("{name} {n}")).collect();
                let windows = self.plan.groups[group].cohorts.iter().map(|cohort| {
                    let name = cohort.window.map_or("none", |id| &self.windows[&id]);
                    format!("{name} {}", cohort.positions.len())
                });
                table.row([
                    self.plan.stages[stage].name.clone(),
                    self.plan.groups[group].name.clone(),
                    members.len().to_string(),
                    name(members.first()),
                    name(members.last()),
                    words::names(regions.iter().map(String::as_str), 4),
                    words::names(windows.collect::<Vec<_>>().iter().map(String::as_str), 4),
                ]);
            }
        }
        table
    }

    /// How many members have which target.
    fn targets_table(&self) -> Table {
        let start = self.scenario.start;
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (_, _, id) in self.members_in_order() {
            let member = &self.plan.fleet.members[id];
            let window = Plan::window_of(self.plan.update, member);
            let first = window.and_then(|window| self.first_opening(window)).unwrap_or(start);
            *counts.entry(in_words(&self.targets.of(member, first), true)).or_default() += 1;
        }
        let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut table = Table::new(&["#members", "target"]);
        for (target, count) in counts.iter().take(MOST_TARGETS) {
            table.row([count.to_string(), target.clone()]);
        }
        if let Some(rest) = counts.get(MOST_TARGETS..).filter(|rest| !rest.is_empty()) {
            let members: u32 = rest.iter().map(|(_, count)| count).sum();
            table.row([members.to_string(), format!("{} other targets", rest.len())]);
        }
        table
    }

    fn left_out(&self) -> String {
        let names: Vec<&str> = in_no_group(self.plan).collect();
        if names.is_empty() {
            return String::new();
        }
        let count = words::count(names.len() as u64, "member");
        format!("\nIn no group, so not updated: {count}: {}\n", words::names(names.into_iter(), 10))
    }

    // ------------------------------------------------------------------ for programs

    fn json(&self) -> Value {
        let stages: Vec<Value> = self.plan.stages.ids().map(|id| self.stage_json(id)).collect();
        json!({
            "scenario": self.scenario.name,
            "strategy": self.strategy.name,
            "start": self.scenario.start.to_string(),
            "end": (self.scenario.start + self.scenario.horizon).to_string(),
            "members": self.plan.size,
            "stages": stages,
            "membersInNoGroup": in_no_group(self.plan).collect::<Vec<_>>(),
        })
    }

    fn stage_json(&self, id: StageId) -> Value {
        let stage = &self.plan.stages[id];
        let (at_once, failures) = self.stage_limits(id);
        let groups: Vec<Value> =
            self.groups_of(id).map(|group| self.group_json(id, group)).collect();
        json!({
            "name": stage.name,
            "members": stage.size,
            "maxConcurrency": at_once.json(),
            "maxAllowedFailures": failures.json(),
            "beforeGates": self.gates_json(&stage.before_gates),
            "afterGates": self.gates_json(&stage.after_gates),
            "afterStageWaitInSeconds": stage.wait.as_millis() / 1_000,
            "groups": groups,
        })
    }

    fn group_json(&self, stage: StageId, id: GroupId) -> Value {
        let group = &self.plan.groups[id];
        let (at_once, failures) = self.group_limits(stage, id);
        let members: Vec<Value> =
            self.in_order(id).into_iter().map(|member| self.member_json(member)).collect();
        json!({
            "name": group.name,
            "maxConcurrency": at_once.json(),
            "maxAllowedFailures": failures.json(),
            "beforeGates": self.gates_json(&group.before_gates),
            "afterGates": self.gates_json(&group.after_gates),
            "members": members,
        })
    }

    fn gates_json(&self, gates: &std::ops::Range<u32>) -> Vec<Value> {
        let gate = |number| {
            let gate = &self.plan.gates[GateId(number)];
            let mut value = json!({"displayName": gate.display_name});
            match gate.kind {
                GateKind::Approval => value["type"] = json!("Approval"),
                GateKind::ScheduledStart(start) => {
                    value["type"] = json!("ScheduledStart");
                    value["scheduledStartConfiguration"] = json!({
                        "startDay": start.day.to_string(),
                        "startTime": start.time.to_string(),
                        "utcOffset": start.offset.to_string(),
                    });
                }
            }
            value
        };
        gates.clone().map(gate).collect()
    }

    fn member_json(&self, id: MemberId) -> Value {
        let member = &self.plan.fleet.members[id];
        let window = Plan::window_of(self.plan.update, member);
        let openings = window.map(|window| {
            let openings = self.openings(window).into_iter();
            let shown = |at: Timestamp| (at != Timestamp::MAX).then(|| at.to_string());
            let json = |i: Interval| json!({"opens": shown(i.open), "closes": shown(i.close)});
            openings.map(json).collect::<Vec<_>>()
        });
        let first = window.and_then(|window| self.first_opening(window));
        let targets = self.targets.of(member, first.unwrap_or(self.scenario.start));
        let estimate = self.estimate(id);
        json!({
            "name": member.name,
            "region": self.plan.fleet.regions[member.region],
            "window": window.map(|window| self.plan.fleet.windows[window].describe()),
            "nextOpenings": openings,
            "targets": targets.iter().map(Target::json).collect::<Vec<_>>(),
            "meanDurationInSeconds": estimate.map(|(takes, _)| takes.as_secs_f64()),
            "surgeNodes": estimate.map(|(_, surge)| surge),
        })
    }

    // ------------------------------------------------------------------ facts

    fn is_one_by_one(&self) -> bool {
        self.strategy.stages.is_empty()
    }

    fn groups_of(&self, stage: StageId) -> impl Iterator<Item = GroupId> + use<> {
        self.plan.stages[stage].groups.clone().map(GroupId)
    }

    fn asked_group(&self, stage: StageId, id: GroupId) -> Option<&fleetsim::scheduler::Group> {
        let position = id.0 - self.plan.stages[stage].groups.start;
        self.strategy.stages.get(stage.index())?.groups.get(position as usize)
    }

    fn stage_limits(&self, id: StageId) -> (Limit, Limit) {
        let (stage, asked) = (&self.plan.stages[id], self.strategy.stages.get(id.index()));
        let limit = |asked, holds| Limit { asked, size: stage.size, holds };
        (
            limit(asked.and_then(|stage| stage.max_concurrency), stage.max_concurrency),
            limit(asked.and_then(|stage| stage.max_allowed_failures), stage.max_allowed_failures),
        )
    }

    fn group_limits(&self, stage: StageId, id: GroupId) -> (Limit, Limit) {
        let (group, asked) = (&self.plan.groups[id], self.asked_group(stage, id));
        let size = u32::try_from(group.members.len()).expect("members fit u32");
        let limit = |asked, holds| Limit { asked, size, holds };
        (
            limit(asked.and_then(|group| group.max_concurrency), group.max_concurrency),
            limit(asked.and_then(|group| group.max_allowed_failures), group.max_allowed_failures),
        )
    }

    fn openings(&self, window: WindowId) -> Vec<Interval> {
        let window = &self.plan.fleet.windows[window];
        window.intervals_from(self.scenario.start).take(OPENINGS).collect()
    }

    fn first_opening(&self, window: WindowId) -> Option<Timestamp> {
        self.plan.fleet.windows[window].next_opening(self.scenario.start)
    }

    fn members_in_order(&self) -> impl Iterator<Item = (StageId, GroupId, MemberId)> {
        self.plan.stages.ids().flat_map(move |stage| {
            self.groups_of(stage).flat_map(move |group| {
                self.in_order(group).into_iter().map(move |member| (stage, group, member))
            })
        })
    }

    /// The members of a group in the order in which they would be tried at the start (O2).
    fn in_order(&self, group: GroupId) -> Vec<MemberId> {
        let start = self.scenario.start;
        let class = |id: &MemberId| {
            let Some(window) = Plan::window_of(self.plan.update, &self.plan.fleet.members[*id])
            else {
                return 3;
            };
            match self.first_opening(window) {
                Some(at) if at <= start => 1,
                Some(at) if at <= start + SOON => 2,
                _ => 4,
            }
        };
        let mut members = self.plan.groups[group].members.clone();
        members.sort_by_key(class);
        members
    }
}

/// A member's targets in one cell: those that agree are said once.
fn in_words(targets: &[Target], with_family: bool) -> String {
    let Some(first) = targets.first() else { return "nothing to update".to_owned() };
    let text = |target: &Target| {
        let family = target.family.as_ref().filter(|_| with_family);
        let family = family.map_or(String::new(), |family| format!("{family} "));
        match target.now.as_str() {
            "" => format!("{family}{}", target.text),
            now => format!("{family}{now} → {}", target.text),
        }
    };
    if targets.iter().all(|other| text(other) == text(first)) {
        return text(first);
    }
    let parts: Vec<String> =
        targets.iter().map(|target| format!("{}: {}", target.of, text(target))).collect();
    parts.join("; ")
}
