//! Strategies: what `az fleet updatestrategy` takes and prints, inline or in a file (S1–S5, L1–L4,
//! G1), checked as far as that is possible without a fleet.

use std::collections::BTreeMap;

use super::access::{Field, Map};
use super::files::Loader;
use super::tree::{Node, Spot, Value};
use super::{GroupPlaces, StagePlaces, StrategyPlaces};
use crate::calendar::ScheduledStart;
use crate::fleet::{Amount, Selector};
use crate::scheduler::{Gate, GateKind, Group, ServiceLimits, Stage, Strategy};
use crate::time::Span;

const ENTRY: &[&str] =
    &["name", "stages", "file", "beforeGates", "afterGates", "afterStageWaitInSeconds", "groups"];
const STAGE: &[&str] = &[
    "name",
    "groups",
    "memberSelector",
    "maxConcurrency",
    "maxAllowedFailures",
    "beforeGates",
    "afterGates",
    "afterStageWaitInSeconds",
];
const GROUP: &[&str] = &[
    "name",
    "memberSelector",
    "maxConcurrency",
    "maxAllowedFailures",
    "beforeGates",
    "afterGates",
];
const GATE: &[&str] = &["displayName", "type", "scheduledStartConfiguration"];
const SCHEDULED_START: &[&str] = &["startDay", "startTime", "utcOffset"];
/// What ARM and the command line print around a strategy; read past.
const RESOURCE: &[&str] = &[
    "id",
    "name",
    "type",
    "apiVersion",
    "eTag",
    "etag",
    "systemData",
    "resourceGroup",
    "provisioningState",
    "properties",
    "strategy",
    "managedClusterUpdate",
    "updateStrategyId",
    "autoUpgradeProfileId",
    "status",
    "dependsOn",
    "comments",
    "condition",
];

/// What the names in a strategy are of.
const NAMED: &str = "a stage or a group";
/// The most members a stage may update at once, and the most groups a stage may have (L2, S2).
const SERVICE_CAP: u32 = 50;

/// Reads `strategies`; at least one comes out.
pub(super) fn read(
    list: Option<Field<'_>>,
    limits: ServiceLimits,
    loader: &Loader<'_>,
    whole: Spot,
) -> (Vec<Strategy>, Vec<StrategyPlaces>) {
    let (mut strategies, mut places) = (vec![], vec![]);
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for entry in list.iter().filter_map(Field::items).flatten() {
        let Some(map) = entry.map("a strategy", ENTRY) else { continue };
        let name = map.need("name").and_then(|field| super::file_name(&field)).unwrap_or_default();
        if let Some(line) = names.insert(name.to_lowercase(), entry.at().line) {
            let message =
                format!("two strategies are called `{name}` (upper and lower case are the same)");
            map.notes
                .error(map.place_of("name"), "duplicate-name", message)
                .hint(format!("the other is on line {line}; names become names of files"));
        }
        let (stages, stage_places) = stages_of(&map, limits, loader);
        strategies.push(Strategy { name, stages });
        places.push(StrategyPlaces { at: entry.at(), stages: stage_places });
    }
    if strategies.is_empty() {
        strategies.push(Strategy { name: "one-by-one".to_owned(), stages: vec![] });
        places.push(StrategyPlaces { at: whole, stages: vec![] });
    }
    (strategies, places)
}

/// The strategy of a scenario without `update`: a stage that nobody is in, so that the run is
/// Skipped at its start (R-H5).
pub(super) fn nobody(name: &str, whole: Spot) -> (Vec<Strategy>, Vec<StrategyPlaces>) {
    let selector = Selector::parse("nobody,!nobody").expect("it is a selector");
    let stage = Stage {
        name: "nobody".to_owned(),
        groups: vec![],
        member_selector: Some(selector),
        max_concurrency: None,
        max_allowed_failures: None,
        before_gates: vec![],
        after_gates: vec![],
        after_stage_wait: Span::ZERO,
    };
    let strategy = Strategy { name: name.to_owned(), stages: vec![stage] };
    let stage = StagePlaces {
        at: whole,
        max_concurrency: None,
        max_allowed_failures: None,
        wait: None,
        before_gates: None,
        after_gates: None,
        groups: vec![],
    };
    (vec![strategy], vec![StrategyPlaces { at: whole, stages: vec![stage] }])
}

fn stages_of(
    map: &Map<'_>,
    limits: ServiceLimits,
    loader: &Loader<'_>,
) -> (Vec<Stage>, Vec<StagePlaces>) {
    let (inline, file) = (map.own("stages"), map.own("file"));
    for key in ["beforeGates", "afterGates", "afterStageWaitInSeconds", "groups"] {
        let Some(at) = map.spot(key) else { continue };
        if inline.is_none() && file.is_none() && key.ends_with("Gates") {
            map.notes
                .error(
                    at,
                    "G1",
                    "a strategy without stages updates one by one and can have no gates",
                )
                .hint("give it `stages`, and the gates to a stage or a group");
        } else {
            map.notes
                .error(
                    at,
                    "unknown-key",
                    format!("`{key}` belongs to a stage, not to the strategy"),
                )
                .hint("move it into one of the `stages`");
        }
    }
    if let (Some(inline), Some(_)) = (inline, file) {
        inline.fail("conflict", "a strategy has `stages` or `file`, not both").hint("take one out");
        return (vec![], vec![]);
    }
    if let Some(field) = inline {
        return stages(&field, limits);
    }
    let Some(root) = file.and_then(|file| loader.tree(&file)) else { return (vec![], vec![]) };
    from_file(&Field::new(map.notes, "the file", &root), limits)
}

/// The stages of a strategy's file, whatever is wrapped around them.
pub(super) fn from_file(root: &Field<'_>, limits: ServiceLimits) -> (Vec<Stage>, Vec<StagePlaces>) {
    let nothing = (vec![], vec![]);
    if let Value::List(_) = root.node.value {
        root.fail("shape", "a strategy is an object with `stages`, found a bare list of stages")
            .hint("write {\"stages\": [ … ]} around the list");
        return stages(&Field { name: "stages", ..*root }, limits);
    }
    if let Some(api) = root.node.get("apiVersion").and_then(Node::as_text)
        && root.node.get("kind").is_some()
    {
        let kind = root.node.get("kind").and_then(Node::as_text).unwrap_or_default();
        let message = if api.contains("kubernetes-fleet.io") {
            format!("this is a KubeFleet {kind} ({api}), which is not supported yet")
        } else {
            format!("this is a Kubernetes {kind} ({api}), not a strategy of Azure Kubernetes Fleet")
        };
        root.fail("not-supported", message).hint(
            "write it as stages and groups: {\"stages\": [{\"name\": …, \"groups\": [ … ]}]}",
        );
        return nothing;
    }
    let Some(node) = unwrapped(root) else { return nothing };
    let Some(map) = Field::new(root.notes, "strategy", node).map("a strategy", &["stages"]) else {
        return nothing;
    };
    map.need("stages").map_or(nothing, |field| stages(&field, limits))
}

/// Takes `properties` and `strategy` off, in which ARM and the command line wrap a strategy.
fn unwrapped<'a>(root: &Field<'a>) -> Option<&'a Node> {
    if root.node.get("properties").is_none() && root.node.get("strategy").is_none() {
        return Some(root.node);
    }
    let outer = root.map("a strategy resource", RESOURCE)?;
    if let Some(strategy) = outer.get("strategy") {
        return Some(strategy.node);
    }
    let inner = outer.need("properties")?.map("a strategy's properties", RESOURCE)?;
    inner.need("strategy").map(|field| field.node)
}

/// Names that were taken, with their lines: stages have their own, groups theirs.
#[derive(Default)]
struct Names {
    stages: BTreeMap<String, u32>,
    groups: BTreeMap<String, u32>,
}

fn stages(list: &Field<'_>, limits: ServiceLimits) -> (Vec<Stage>, Vec<StagePlaces>) {
    let Some(items) = list.items() else { return (vec![], vec![]) };
    if items.clone().next().is_none() {
        list.fail("S1", "a strategy needs at least one stage")
            .hint("for one by one, leave `stages` out altogether");
    }
    let mut names = Names::default();
    items.filter_map(|item| stage(&item, limits, &mut names)).unzip()
}

fn stage(
    field: &Field<'_>,
    limits: ServiceLimits,
    names: &mut Names,
) -> Option<(Stage, StagePlaces)> {
    let map = field.map("a stage", STAGE)?;
    let name = map.need("name").and_then(|field| api_name(&field, NAMED)).unwrap_or_default();
    unique(&map, "stage", &name, &mut names.stages);
    let member_selector = map.get("memberSelector").and_then(|field| selector(&field));
    let mut places = StagePlaces {
        at: field.at(),
        max_concurrency: map.spot("maxConcurrency"),
        max_allowed_failures: map.spot("maxAllowedFailures"),
        wait: map.spot("afterStageWaitInSeconds"),
        before_gates: map.spot("beforeGates"),
        after_gates: map.spot("afterGates"),
        groups: vec![],
    };
    let mut groups = vec![];
    for item in map.get("groups").iter().filter_map(Field::items).flatten() {
        if let Some((group, place)) = group(&item, names) {
            groups.push(group);
            places.groups.push(place);
        }
    }
    if groups.is_empty() {
        if map.spot("memberSelector").is_none() && map.get("groups").is_none_or(|g| is_empty(&g)) {
            let message = format!("the stage `{name}` has neither groups nor a memberSelector");
            field.fail("S2", message).hint(
                "name the groups, or select members: memberSelector: {byLabel: \"env=prod\"}",
            );
        }
        // The implicit group of S4 bears the stage's name (R-H1).
        unique(&map, "group", &name, &mut names.groups);
    }
    if limits == ServiceLimits::Azure && groups.len() > SERVICE_CAP as usize {
        let message =
            format!("the stage `{name}` has {} groups; the service allows 50", groups.len());
        map.notes
            .error(map.place_of("groups"), "S2", message)
            .hint("split the stage, or lift the service's caps with `serviceLimits: none`");
    }
    let max_concurrency = map.get("maxConcurrency").and_then(|field| concurrency(&field));
    if let (Some(Amount::Count(count)), ServiceLimits::Azure) = (max_concurrency, limits)
        && count > SERVICE_CAP
    {
        let message =
            format!("the stage `{name}` updates {count} members at once; the service allows 50");
        map.notes
            .error(map.place_of("maxConcurrency"), "L2", message)
            .hint("write at most 50, or lift the service's caps with `serviceLimits: none`");
    }
    let wait = map.get("afterStageWaitInSeconds");
    let wait: i64 = wait.and_then(|f| f.integer(0, i128::from(i32::MAX))).unwrap_or(0);
    let stage = Stage {
        name,
        groups,
        member_selector,
        max_concurrency,
        max_allowed_failures: map.get("maxAllowedFailures").and_then(|field| field.amount(0)),
        before_gates: gates(&map, "beforeGates"),
        after_gates: gates(&map, "afterGates"),
        after_stage_wait: Span::from_secs(wait),
    };
    Some((stage, places))
}

fn is_empty(list: &Field<'_>) -> bool {
    matches!(&list.node.value, Value::List(items) if items.is_empty())
}

fn group(field: &Field<'_>, names: &mut Names) -> Option<(Group, GroupPlaces)> {
    let map = field.map("a group", GROUP)?;
    let name = map.need("name").and_then(|field| api_name(&field, NAMED)).unwrap_or_default();
    unique(&map, "group", &name, &mut names.groups);
    let places = GroupPlaces {
        at: field.at(),
        max_concurrency: map.spot("maxConcurrency"),
        max_allowed_failures: map.spot("maxAllowedFailures"),
        before_gates: map.spot("beforeGates"),
        after_gates: map.spot("afterGates"),
    };
    let group = Group {
        name,
        member_selector: map.get("memberSelector").and_then(|field| selector(&field)),
        max_concurrency: map.get("maxConcurrency").and_then(|field| concurrency(&field)),
        max_allowed_failures: map.get("maxAllowedFailures").and_then(|field| field.amount(0)),
        before_gates: gates(&map, "beforeGates"),
        after_gates: gates(&map, "afterGates"),
    };
    Some((group, places))
}

/// S1, S2: no stage name twice, no group name twice within or across stages.
fn unique(map: &Map<'_>, what: &str, name: &str, taken: &mut BTreeMap<String, u32>) {
    let at = map.place_of("name");
    if name.is_empty() {
        return;
    }
    if let Some(line) = taken.insert(name.to_owned(), at.line) {
        let code = if what == "stage" { "S1" } else { "S2" };
        let hint = match what {
            "stage" => format!("the other is on line {line}"),
            _ => format!(
                "the other is on line {line}; names are unique across all stages, and a stage \
                 without groups takes its own name for its group"
            ),
        };
        map.notes.error(at, code, format!("two {what}s are called `{name}`")).hint(hint);
    }
}

/// S1: 1–50 lower-case letters, digits and hyphens, a letter or digit at both ends.
pub(super) fn api_name(field: &Field<'_>, what: &str) -> Option<String> {
    let text = field.text()?;
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=50).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if !fits {
        let lower = text.to_lowercase().replace(['_', ' ', '.'], "-");
        let noted = field.fail("S1", format!("`{text}` cannot be the name of {what}"));
        let rule = "1 to 50 lower-case letters, digits and hyphens, a letter or digit at both ends";
        noted.hint(if lower != text && lower.bytes().all(inner) {
            format!("{rule}: `{lower}`, say")
        } else {
            rule.to_owned()
        });
        return None;
    }
    Some(text.to_owned())
}

/// L1. A bare number in JSON is read as a count, with a hint.
fn concurrency(field: &Field<'_>) -> Option<Amount> {
    let amount = field.amount(1)?;
    if field.is_bare_json_number() {
        field
            .notes
            .warning(
                field.at(),
                "L1",
                format!("`maxConcurrency` is a text in the API; {amount} is read as a count"),
            )
            .hint(format!("write \"{amount}\", or \"{amount}%\" if a percentage is meant"));
    }
    Some(amount)
}

/// `memberSelector: {byLabel: …}` (S5).
pub(super) fn selector(field: &Field<'_>) -> Option<Selector> {
    let name = field.name;
    if let Some(text) = field.node.as_text() {
        field
            .fail("wrong-type", format!("`{name}` expects a map with `byLabel`"))
            .hint(format!("write {name}: {{byLabel: \"{text}\"}}"));
        return None;
    }
    label_selector(&field.map("a memberSelector", &["byLabel"])?.need("byLabel")?)
}

/// A label selector as Kubernetes writes it (S5).
pub(super) fn label_selector(label: &Field<'_>) -> Option<Selector> {
    let text = label.text()?;
    match Selector::parse(text) {
        Ok(selector) => Some(selector),
        Err(error) => {
            let at = inside(label.at(), text, error.at);
            label
                .notes
                .error(at, "S5", format!("`{text}` is not a label selector: {error}"))
                .hint("write it as Kubernetes does: env=prod,tier in (web, api),!legacy");
            None
        }
    }
}

/// The place of one character of a scalar, where the scalar stands on one line without escapes.
pub(super) fn inside(at: Spot, text: &str, character: usize) -> Spot {
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let quotes = match at.length.checked_sub(length) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return at,
    };
    let character = u32::try_from(character).unwrap_or(u32::MAX);
    Spot { column: at.column + quotes + character, length: 1, ..at }
}

/// The gates of a place; names are unique there, and only a gate that is alone may lack one (R-F4).
fn gates(map: &Map<'_>, key: &'static str) -> Vec<Gate> {
    let Some(list) = map.get(key) else { return vec![] };
    let Some(items) = list.items() else { return vec![] };
    let mut gates: Vec<Gate> = vec![];
    let several = items.clone().count() > 1;
    for item in items {
        let Some(gate) = gate(&item, key) else { continue };
        let twice = gates.iter().any(|other| other.display_name == gate.display_name);
        match &gate.display_name {
            None if several => {
                item.fail("R-F4", "a gate that is not alone at its place needs a `displayName`")
                    .hint("actions and events tell the gates of one place apart by their names");
            }
            Some(name) if twice => {
                item.fail("R-F4", format!("two of these {key} are called `{name}`"))
                    .hint("actions and events tell the gates of one place apart by their names");
            }
            _ => {}
        }
        gates.push(gate);
    }
    gates
}

#[derive(Clone, Copy, PartialEq)]
enum GateType {
    Approval,
    ScheduledStart,
}

fn gate(field: &Field<'_>, key: &'static str) -> Option<Gate> {
    let map = field.map("a gate", GATE)?;
    let display_name = map.get("displayName").and_then(|field| {
        let text = field.filled_text()?;
        if text.chars().count() > 100 {
            field.fail("S1", "a gate's `displayName` has at most 100 characters");
        }
        Some(text.to_owned())
    });
    let words = [("Approval", GateType::Approval), ("ScheduledStart", GateType::ScheduledStart)];
    let kind = map.get("type").map_or(Some(GateType::Approval), |field| field.word(&words))?;
    let configuration = map.get("scheduledStartConfiguration");
    if kind == GateType::Approval {
        if let Some(field) = configuration {
            field
                .fail("G6", "an Approval gate has no `scheduledStartConfiguration`")
                .hint("write `type: ScheduledStart`, or take the configuration out");
        }
        return Some(Gate { display_name, kind: GateKind::Approval });
    }
    if key == "afterGates" {
        field
            .fail("G1", "a ScheduledStart gate can only stand before a stage or a group")
            .hint("move it to the `beforeGates` of what comes next");
    }
    let start = map.need("scheduledStartConfiguration")?;
    let start = start.map("a scheduledStartConfiguration", SCHEDULED_START)?;
    let day = start.need("startDay").and_then(|field| super::window::weekday(&field));
    let time = start.need("startTime").and_then(|field| field.parsed(super::window::TIME));
    let offset = start.need("utcOffset").and_then(|field| field.parsed(super::window::OFFSET));
    let kind = GateKind::ScheduledStart(ScheduledStart { day: day?, time: time?, offset: offset? });
    Some(Gate { display_name, kind })
}
