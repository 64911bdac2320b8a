//! `script`: what happens by name and instant, without luck (R-K6–R-K10).

mod defects;
mod obstacles;

use std::collections::BTreeMap;

use super::access::{Field, Map, nearest};
use super::joining;
use super::members::{Builder, ScriptedRegions, kubernetes};
use super::tree::{Node, Spot, Value};
use super::update::RESTARTS;
use super::world::outages;
use crate::fleet::{PowerState, regions};
use crate::ids::MemberId;
use crate::scheduler::auto_upgrade::Profile;
use crate::sim::script::{
    GatePath, GateScope, GateTiming, Released, Script, ScriptedAction, ScriptedRelease,
    ScriptedUpdate, ScriptedUpdates, ScriptedVerb, SkipTarget,
};
use crate::time::{Span, Timestamp};

const SCRIPT: &[&str] =
    &["updates", "releases", "outages", "capacity", "disruptionBudgets", "defects", "actions"];
const ACTION: &[&str] = &[
    "at",
    "run",
    "approve",
    "stop",
    "start",
    "skip",
    "complete",
    "addPool",
    "generate",
    "stopMember",
    "startMember",
    "leave",
    "join",
];
/// An action has one of these, beside its time and its run.
const VERBS: &[&str] = ACTION.split_at(2).1;
const RELEASE: &[&str] = &[
    "nodeImage",
    "kubernetesVersion",
    "securityPatch",
    "reimage",
    "regions",
    "withdrawn",
    "supportUntil",
    "ltsUntil",
    "preview",
];

/// The regions that the releases of a script name; looked up before the fleet is read.
pub(super) fn scripted_regions(script: Option<&Node>) -> ScriptedRegions<'_> {
    let releases = script.and_then(|script| script.get("releases")).filter(|node| !node.is_null());
    let mut regions = ScriptedRegions { scripted: releases.is_some(), ..Default::default() };
    let Some(Value::List(items)) = releases.map(|node| &node.value) else { return regions };
    for item in items {
        let Some(Value::Map(entries)) = item.get("regions").map(|node| &node.value) else {
            continue;
        };
        for entry in entries {
            match entry.key.as_str() {
                "*" => regions.everywhere = true,
                name => regions.named.push(name),
            }
        }
    }
    regions
}

/// Reads `script`; the place of `updates` comes beside it.
pub(super) fn read(
    field: Option<Field<'_>>,
    builder: &mut Builder<'_>,
    horizon: Span,
    (has_update, profiles): (bool, &[Profile]),
) -> (Script, Option<Spot>) {
    let Some(map) = field.and_then(|field| field.map("a script", SCRIPT)) else {
        return (Script::default(), None);
    };
    let updates = map.get("updates").map(|field| updates(&field, builder));
    let releases = map.get("releases").map(|field| releases(&field, builder));
    let capacity = map.get("capacity").map(|field| obstacles::capacity(&field, builder));
    let budgets = map.get("disruptionBudgets").map(|field| obstacles::budgets(&field, builder));
    let outages = map.get("outages").map(|field| outages::scripted(&field, builder, builder.start));
    let who = Who { has_update, profiles };
    let actions = map.get("actions").map(|field| actions(&field, builder, horizon, &who));
    let defects = map.get("defects").map(|field| defects::read(&field, builder));
    (
        Script { updates, releases, outages, capacity, budgets, defects, actions },
        map.spot("updates"),
    )
}

/// Of whom actions can be asked.
struct Who<'a> {
    has_update: bool,
    profiles: &'a [Profile],
}

fn updates(field: &Field<'_>, builder: &Builder<'_>) -> ScriptedUpdates {
    let mut updates = ScriptedUpdates::default();
    let entries =
        field.entries("a map from member names to updates, such as {\"*\": {takes: 30m}}");
    for entry in entries.unwrap_or_default() {
        let attempts = attempts(&Field::new(field.notes, &entry.key, &entry.value));
        if entry.key == "*" {
            updates.rest = attempts;
        } else if let Some(member) = builder.find_member(&entry.key, entry.at) {
            updates.by_member.insert(member, attempts);
        }
    }
    updates
}

fn attempts(field: &Field<'_>) -> Vec<ScriptedUpdate> {
    if !matches!(field.node.value, Value::List(_)) {
        return attempt(field).into_iter().collect();
    }
    let attempts: Vec<_> =
        field.items().into_iter().flatten().filter_map(|f| attempt(&f)).collect();
    if matches!(&field.node.value, Value::List(items) if items.is_empty()) {
        let message = format!("the list of `{}` has no attempt", field.name);
        field.fail("R-K6", message).hint("write one entry an attempt; the last repeats");
    }
    attempts
}

fn attempt(field: &Field<'_>) -> Option<ScriptedUpdate> {
    let map = field.map("an update", &["takes", "fails"])?;
    let takes = map.need("takes").and_then(|field| super::duration(&field));
    let fails = map.own("fails").and_then(|field| field.filled_text()).map(str::to_owned);
    Some(ScriptedUpdate { takes: takes?, fails })
}

fn releases(field: &Field<'_>, builder: &mut Builder<'_>) -> Vec<ScriptedRelease> {
    let mut releases: Vec<ScriptedRelease> = vec![];
    let mut known: BTreeMap<Released, u32> = BTreeMap::new();
    for item in field.items().into_iter().flatten() {
        let Some(release) = release(&item, builder) else { continue };
        if let Some(line) = known.insert(release.what, item.at().line) {
            item.fail("R-K7", "this release is here twice")
                .hint(format!("put all its regions into one entry; the other is on line {line}"));
        }
        releases.push(release);
    }
    releases
}

fn release(field: &Field<'_>, builder: &mut Builder<'_>) -> Option<ScriptedRelease> {
    let map = field.map("a release", RELEASE)?;
    let what = match map.get("securityPatch") {
        Some(patch) => security_patch(&map, &patch),
        None => released(&map, field, builder),
    };
    for (key, code) in [("supportUntil", "R-I12"), ("ltsUntil", "R-I12"), ("preview", "A3")] {
        if map.get("kubernetesVersion").is_none()
            && let Some(at) = map.spot(key)
        {
            let message = format!("`{key}` belongs to Kubernetes versions alone");
            map.notes.error(at, code, message).hint("take it out: an image is valid 90 days (U4)");
        }
    }
    if let (Some(at), None) = (map.spot("reimage"), map.get("securityPatch")) {
        let message = "`reimage` belongs to security patches";
        map.notes.error(at, "A2", message).hint("take it out: all others go in by a reimage");
    }
    let mut release = ScriptedRelease {
        what: what?,
        reimage: map.own("reimage").and_then(|field| field.boolean()),
        regions: vec![],
        everywhere_else: None,
        preview: map.own("preview").and_then(|field| field.boolean()).unwrap_or(false),
        withdrawn: map.own("withdrawn").and_then(|field| super::instant(&field)),
        support_until: map.own("supportUntil").and_then(|field| super::instant(&field)),
        lts_until: map.own("ltsUntil").and_then(|field| super::instant(&field)),
    };
    let regions = map.need("regions")?;
    let expected = "a map from regions to instants, such as {\"*\": 2026-03-02T00:00:00Z}";
    for entry in regions.entries(expected)? {
        let at = super::instant(&Field::new(field.notes, &entry.key, &entry.value));
        if entry.key == "*" {
            release.everywhere_else = at;
            continue;
        }
        let region = builder.region(&entry.key);
        if regions::find(&entry.key).is_none() && !builder.is_inhabited(region) {
            let message = format!("`{}` is not a region, and no member is there", entry.key);
            let noted = field.notes.warning(entry.at, "unknown-region", message);
            match regions::nearest(&entry.key) {
                Some(near) => noted.hint(format!("did you mean `{}`?", near.name)),
                None => noted.hint("write its programmatic name, such as westeurope"),
            }
        }
        release.regions.extend(at.map(|at: Timestamp| (region, at)));
    }
    if let (Some(withdrawn), Some(field)) = (release.withdrawn, map.own("withdrawn"))
        && release.instants().all(|at| at >= withdrawn)
    {
        field
            .fail("W1", "the release is withdrawn before it reaches any region")
            .hint("take the release out, or let it arrive somewhere first");
    }
    Some(release)
}

/// A `securityPatch`, by its day.
fn security_patch(map: &Map<'_>, patch: &Field<'_>) -> Option<Released> {
    for key in ["nodeImage", "kubernetesVersion"] {
        if let Some(at) = map.spot(key) {
            let message = format!("a release is one thing; this has `securityPatch` and `{key}`");
            map.notes.error(at, "missing-key", message).hint("write one entry for each release");
        }
    }
    patch.parsed("a day such as 2026.02.25").map(Released::SecurityPatch)
}

/// What is released: a `nodeImage` or a `kubernetesVersion`.
fn released(map: &Map<'_>, field: &Field<'_>, builder: &mut Builder<'_>) -> Option<Released> {
    match (map.get("nodeImage"), map.get("kubernetesVersion")) {
        (Some(image), None) => builder.image(&image).map(Released::NodeImage),
        (None, Some(version)) => kubernetes(&version).map(Released::Kubernetes),
        (first, _) => {
            let number = if first.is_some() { "both" } else { "neither" };
            let message =
                format!("a release is a `nodeImage` or a `kubernetesVersion`; this has {number}");
            field.fail("missing-key", message).hint("write one entry for each release");
            None
        }
    }
}

/// In the order of time, then of the file (R-K8); those past the horizon never happen.
fn actions(
    field: &Field<'_>,
    builder: &mut Builder<'_>,
    horizon: Span,
    who: &Who<'_>,
) -> Vec<ScriptedAction> {
    let mut actions = vec![];
    let joinings = joinings(field, builder);
    for item in field.items().into_iter().flatten() {
        let Some(map) = item.map("an action", ACTION) else { continue };
        let at = map.need("at").and_then(|field| super::duration(&field));
        let mut given = VERBS.iter().filter_map(|verb| map.get(verb));
        let (first, second) = (given.next(), given.next());
        let Some(verb) = first else {
            // An unknown verb was reported as an unknown key.
            if map.has_only_known_keys() {
                item.fail("R-K8", "an action needs a verb")
                    .hint(format!("the verbs are {}", VERBS.join(", ")));
            }
            continue;
        };
        if let Some(other) = second {
            let message =
                format!("an action has one verb; this has `{}` and `{}`", verb.name, other.name);
            other.fail("R-K8", message).hint("write one entry for each, with the same `at`");
        }
        let run = run_of(&map, &verb, who);
        let (Some(at), Some(action)) = (at, action(&verb, builder, who)) else { continue };
        check_presence((&verb, at), &action, builder, &joinings);
        if at > horizon {
            item.notes
                .warning(
                    item.at(),
                    "R-K8",
                    format!("at {at} the simulation is over (horizon {horizon})"),
                )
                .hint("the action never happens; lengthen the horizon or take it out");
        }
        actions.push(ScriptedAction { at, run, action });
    }
    actions.sort_by_key(|action| action.at);
    actions
}

/// When each member joins that the script lets join.
fn joinings(field: &Field<'_>, builder: &Builder<'_>) -> BTreeMap<MemberId, Span> {
    let items = field.items().into_iter().flatten();
    let joining = items.filter_map(|item| {
        let member = joining::joins(item.node.get("join")?, builder)?;
        let Value::Scalar { text, .. } = &item.node.get("at")?.value else { return None };
        Some((member, text.parse().ok()?))
    });
    joining.collect()
}

/// W9: who leaves, or gets a pool, must have joined.
fn check_presence(
    (verb, at): (&Field<'_>, Span),
    action: &ScriptedVerb,
    builder: &Builder<'_>,
    joinings: &BTreeMap<MemberId, Span>,
) {
    let (id, what) = match action {
        ScriptedVerb::Leave(id) => (id, "leaves"),
        ScriptedVerb::AddPool(id, _) => (id, "gets a pool"),
        _ => return,
    };
    if let Some(joins) = joinings.get(id).filter(|joins| at < **joins) {
        let name = &builder.fleet.members[*id].name;
        let message = format!("`{name}` {what} at {at}, before it joins at {joins}");
        verb.fail("W9", message).hint("write a later `at`");
    }
}

/// `run`: the profile's run that is asked, by its name. Whether there is one by then shows when the
/// time comes (R-E6); here only that there can be.
fn run_of(map: &Map<'_>, verb: &Field<'_>, who: &Who<'_>) -> Option<String> {
    let of_the_world = ["addPool", "generate", "stopMember", "startMember", "leave", "join"];
    let of_a_run = !of_the_world.contains(&verb.name);
    let Some(field) = map.own("run") else {
        if of_a_run && !who.has_update {
            let message = format!("`{}` of which run? the scenario has no `update`", verb.name);
            verb.fail("A7", message).hint("add the key `run` with the name: run: PROFILE-TARGET");
        }
        return None;
    };
    let name = field.filled_text()?;
    let made_by = |profile: &Profile| {
        let target = name.strip_prefix(&profile.name).and_then(|rest| rest.strip_prefix('-'));
        target.is_some_and(|target| !target.is_empty())
    };
    if !of_a_run {
        let message = format!("`{}` is not asked of a run", verb.name);
        field.fail("A7", message).hint("take `run` out");
    } else if !who.profiles.iter().any(made_by) {
        let hint = match who.profiles.first() {
            Some(profile) => {
                format!("runs are called PROFILE-TARGET, such as {}-202603.02.0", profile.name)
            }
            None => "without it, the action is asked of the scenario's `update`".to_owned(),
        };
        field.fail("A7", format!("no profile makes a run called `{name}`")).hint(hint);
    }
    Some(name.to_owned())
}

/// The position of the profile that is named.
fn generate(verb: &Field<'_>, who: &Who<'_>) -> Option<ScriptedVerb> {
    let name = verb.filled_text()?;
    let position = who.profiles.iter().position(|profile| profile.name == name);
    if position.is_none() {
        let names = who.profiles.iter().map(|profile| profile.name.as_str());
        let hint = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of the scenario's `autoUpgradeProfiles`".to_owned(),
        };
        verb.fail("A8", format!("there is no auto-upgrade profile `{name}`")).hint(hint);
    }
    position.map(ScriptedVerb::Generate)
}

fn action(verb: &Field<'_>, builder: &mut Builder<'_>, who: &Who<'_>) -> Option<ScriptedVerb> {
    match verb.name {
        "generate" => generate(verb, who),
        "approve" => gate_path(verb).map(ScriptedVerb::Approve),
        "complete" => gate_path(verb).map(ScriptedVerb::Complete),
        "stop" => only_true(verb).map(|()| ScriptedVerb::Stop),
        "start" => start(verb),
        "skip" => skip(verb).map(ScriptedVerb::Skip),
        "stopMember" => {
            member(verb, builder).map(|id| ScriptedVerb::Power(id, PowerState::Stopped))
        }
        "startMember" => {
            member(verb, builder).map(|id| ScriptedVerb::Power(id, PowerState::Running))
        }
        "leave" => member(verb, builder).map(ScriptedVerb::Leave),
        "join" => joining::joins(verb.node, builder).map(ScriptedVerb::Join),
        _ => {
            let map = verb.map("an addPool", &["member", "pool"])?;
            let member = map
                .need("member")
                .and_then(|field| builder.find_member(field.filled_text()?, field.at()));
            let pool = map.need("pool").and_then(|field| builder.new_pool(&field));
            let (member, pool) = (member?, pool?);
            let name_is_taken =
                builder.fleet.members[member].pools.iter().any(|other| other.name == pool.name);
            if name_is_taken {
                let message = format!("the member already has a pool called `{}`", pool.name);
                verb.fail("duplicate-name", message).hint("give the new pool another name");
            }
            Some(ScriptedVerb::AddPool(member, pool))
        }
    }
}

/// A member by name.
fn member(verb: &Field<'_>, builder: &Builder<'_>) -> Option<MemberId> {
    builder.find_member(verb.filled_text()?, verb.at())
}

fn only_true(verb: &Field<'_>) -> Option<()> {
    if verb.boolean()? {
        return Some(());
    }
    let message = format!("`{}: false` does nothing", verb.name);
    verb.fail("R-K8", message).hint("write `true`, or take the action out");
    None
}

/// `start: true`, or `start: {restart: retryFailed}` (R-D13).
fn start(verb: &Field<'_>) -> Option<ScriptedVerb> {
    if matches!(verb.node.value, Value::Map(_)) {
        let restart = verb.map("a start", &["restart"])?.need("restart")?.word(RESTARTS)?;
        return Some(ScriptedVerb::Start(Some(restart)));
    }
    only_true(verb).map(|()| ScriptedVerb::Start(None))
}

/// `stage:NAME/before|after`, `group:NAME/before|after`, perhaps `/DISPLAYNAME` (R-K9).
fn gate_path(field: &Field<'_>) -> Option<GatePath> {
    let text = field.text()?;
    let path = parse_gate_path(text);
    if path.is_none() {
        field
            .fail("gate", format!("`{text}` does not name a gate"))
            .hint("write stage:NAME/before, or group:NAME/after/DISPLAYNAME for one of several");
    }
    path
}

fn parse_gate_path(text: &str) -> Option<GatePath> {
    let (scope, rest) = text.split_once(':')?;
    let scope = match scope {
        "stage" => GateScope::Stage,
        "group" => GateScope::Group,
        _ => return None,
    };
    let (name, rest) = rest.split_once('/')?;
    let (timing, display_name) = match rest.split_once('/') {
        Some((timing, display_name)) => (timing, Some(display_name)),
        None => (rest, None),
    };
    let timing = match timing {
        "before" => GateTiming::Before,
        "after" => GateTiming::After,
        _ => return None,
    };
    if name.is_empty() || display_name == Some("") {
        return None;
    }
    let display_name = display_name.map(str::to_owned);
    Some(GatePath { scope, name: name.to_owned(), timing, display_name })
}

/// One target or a list of them.
fn skip(field: &Field<'_>) -> Option<Vec<SkipTarget>> {
    if !matches!(field.node.value, Value::List(_)) {
        return Some(vec![skip_target(field)?]);
    }
    let items = field.items()?;
    let targets: Vec<_> = items.clone().filter_map(|item| skip_target(&item)).collect();
    if items.count() == 0 {
        field.fail("R-K8", "`skip` names nothing").hint("write skip: [\"Member:NAME\"], say");
    }
    Some(targets)
}

fn skip_target(field: &Field<'_>) -> Option<SkipTarget> {
    let text = field.text()?;
    let parts = text.split_once(':').filter(|(_, name)| !name.is_empty());
    let target = parts.and_then(|(kind, name)| {
        let name = name.to_owned();
        match kind {
            "Member" => Some(SkipTarget::Member(name)),
            "Group" => Some(SkipTarget::Group(name)),
            "Stage" => Some(SkipTarget::Stage(name)),
            "AfterStageWait" => Some(SkipTarget::AfterStageWait(name)),
            _ => None,
        }
    });
    if target.is_none() {
        field
            .fail("T9", format!("`{text}` does not name what to skip"))
            .hint("write Member:NAME, Group:NAME, Stage:NAME or AfterStageWait:STAGE");
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_k9_everything_after_the_second_slash_is_the_display_name() {
        for text in ["stage:s/before", "group:eu/after/ok", "stage:s/before/a/b c:d"] {
            assert_eq!(parse_gate_path(text).unwrap().to_string(), text);
        }
        for wrong in [
            "s/before",
            "stage:s",
            "stage:/before",
            "Stage:s/before",
            "stage:s/during",
            "stage:s/after/",
        ] {
            assert!(parse_gate_path(wrong).is_none(), "{wrong}");
        }
    }
}
