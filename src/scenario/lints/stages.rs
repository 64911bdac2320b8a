//! Lints of stages and groups: who is in them, in which order they come, and who opens gates.

use std::collections::BTreeMap;

use super::{Found, Laid, LaidGroup, LaidStage, count, form, member_names, names};
use crate::error::Diagnostic;
use crate::ids::MemberId;
use crate::scenario::access::nearest;
use crate::scenario::tree::Spot;
use crate::scheduler::{Gate, GateKind, GatePath, GateScope, GateTiming, SkipTarget};
use crate::sim::script::ScriptedVerb;
use crate::time::Span;

pub(super) fn lint(laid: &Laid<'_>, found: &mut Found) {
    members_in_no_group(laid, found);
    let mut update_groups: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &laid.scenario.fleet.members {
        if let Some(group) = &member.update_group {
            *update_groups.entry(group).or_default() += 1;
        }
    }
    for stage in laid.stages() {
        if stage.stage.groups.is_empty() && stage.plan.size == 0 {
            empty_stage(stage, found);
        }
        for group in stage.groups().filter(|group| group.size() == 0) {
            empty_group(stage, group, &update_groups, found);
        }
        unanswered_gates(laid, stage, found);
    }
    canary_beside_production(laid, found);
    production_first(laid, found);
    nothing_follows(laid, found);
}

/// S7: who is left out.
fn members_in_no_group(laid: &Laid<'_>, found: &mut Found) {
    let (plan, fleet) = (laid.plan, laid.plan.fleet);
    // Who joins in mid-run is in no run that exists (R-I21): nothing is wrong with that.
    let is_left_out = |id: &MemberId| plan.places[*id].is_none() && !fleet.members[*id].joins;
    let left_out: Vec<MemberId> = fleet.members.ids().filter(is_left_out).collect();
    if left_out.is_empty() {
        return;
    }
    let message = format!(
        "strategy `{}`: {} of {} {} in no group and not updated: {}",
        plan.strategy,
        left_out.len(),
        count(fleet.members.len(), "member"),
        form(left_out.len(), "is", "are"),
        names(left_out.iter().map(|id| fleet.members[*id].name.as_str())),
    );
    let warning = Diagnostic::warning("members-in-no-group", message)
        .hint("add a group for them, or widen a selector")
        .about(member_names(fleet, &left_out));
    found.add(Some(laid.places.at), warning);
}

/// A stage whose selector chooses nobody (T10).
fn empty_stage(stage: LaidStage<'_>, found: &mut Found) {
    let selector = stage.stage.member_selector.as_ref().map_or(String::new(), ToString::to_string);
    let message = format!("no member is in the stage `{}`: it is skipped", stage.name());
    let warning = Diagnostic::warning("empty-group", message)
        .hint(format!("no member's labels match `{selector}`"));
    found.add(Some(stage.places.at), warning);
}

/// A group that no member has (T10).
fn empty_group(
    stage: LaidStage<'_>,
    group: LaidGroup<'_>,
    update_groups: &BTreeMap<&str, usize>,
    found: &mut Found,
) {
    let name = group.name();
    let message = format!(
        "no member is in the group `{name}` of the stage `{}`: it is skipped",
        stage.name()
    );
    let filter = stage.stage.member_selector.as_ref();
    let hint = if let Some(selector) = &group.group.member_selector {
        match filter {
            Some(filter) => format!("no member's labels match both `{filter}` and `{selector}`"),
            None => format!("no member's labels match `{selector}`"),
        }
    } else if let (Some(filter), Some(members)) = (filter, update_groups.get(name)) {
        let (members, have) = (count(*members, "member"), form(*members, "has", "have"));
        format!("{members} {have} updateGroup `{name}`, but not the labels `{filter}` of the stage")
    } else if let Some(near) = nearest(name, update_groups.keys().copied()) {
        format!("did you mean `{near}`? groups choose members by their exact updateGroup")
    } else {
        format!("give members `updateGroup: {name}`, or the group a memberSelector")
    };
    found.add(Some(group.places.at), Diagnostic::warning("empty-group", message).hint(hint));
}

/// Groups of one stage run in parallel (O1).
fn canary_beside_production(laid: &Laid<'_>, found: &mut Found) {
    let last = laid.strategy.stages.len();
    for (number, stage) in (1..).zip(laid.stages()) {
        // What nothing comes after is production, whatever its name.
        let is_production = number == last || Role::of(stage.name()) == Role::Production;
        let others: Vec<&str> = stage
            .groups()
            .map(|group| group.group.name.as_str())
            .filter(|name| match Role::of(name) {
                Role::Production => true,
                Role::Other => is_production,
                Role::Canary | Role::Test => false,
            })
            .collect();
        let canaries = stage.groups().filter(|group| Role::of(group.name()) == Role::Canary);
        for canary in canaries.filter(|_| !others.is_empty()) {
            let message = format!(
                "the group `{}` of the stage `{}` is updated together with {}: it {}",
                canary.name(),
                stage.name(),
                names(others.iter().copied()),
                form(others.len(), "does not protect it", "protects none of them"),
            );
            let warning = Diagnostic::warning("canary-beside-production", message).hint(
                "groups of a stage run in parallel; give the canary a stage of its own, before",
            );
            found.add(Some(canary.places.at), warning);
        }
    }
}

/// Stages run in the strategy's order (S1).
fn production_first(laid: &Laid<'_>, found: &mut Found) {
    let stages: Vec<(LaidStage<'_>, Role)> =
        laid.stages().map(|stage| (stage, Role::of(stage.name()))).collect();
    for (number, (stage, _)) in
        stages.iter().enumerate().filter(|(_, (_, role))| *role == Role::Production)
    {
        let later = stages[number + 1..].iter();
        let tests: Vec<&str> = later
            .filter(|(_, role)| matches!(role, Role::Test | Role::Canary))
            .map(|(stage, _)| stage.stage.name.as_str())
            .collect();
        if !tests.is_empty() {
            let message = format!(
                "the stage `{}` is updated before {}",
                stage.name(),
                names(tests.iter().copied())
            );
            let warning = Diagnostic::warning("production-before-test", message)
                .hint("stages run in the order in which they stand; move it behind");
            found.add(Some(stage.places.at), warning);
        }
    }
}

/// G4: a wait and gates after the last stage only make the run longer.
fn nothing_follows(laid: &Laid<'_>, found: &mut Found) {
    let Some(last) = laid.stages().next_back() else { return };
    let name = last.name();
    if last.stage.after_stage_wait > Span::ZERO {
        let wait = last.stage.after_stage_wait;
        let message = format!(
            "the wait of {wait} after the last stage, `{name}`, protects no member: the run only \
             ends later"
        );
        let warning = Diagnostic::warning("wait-after-last-stage", message)
            .hint("take it out, or put it after the stage before");
        found.add(last.places.wait, warning);
    }
    if !last.stage.after_gates.is_empty() {
        let gates = last.stage.after_gates.len();
        let message = format!(
            "the {} after the last stage, `{name}`, {} no member: the run only ends later",
            form(gates, "gate", "gates"),
            form(gates, "protects", "protect"),
        );
        let warning = Diagnostic::warning("gate-after-last-stage", message)
            .hint("take it out, or put it after the stage before");
        found.add(last.places.after_gates, warning);
    }
}

/// G5: approvals never expire; without anybody who gives them the run waits for ever.
fn unanswered_gates(laid: &Laid<'_>, stage: LaidStage<'_>, found: &mut Found) {
    if laid.scenario.world.approvers.is_some() || stage.plan.size == 0 {
        return;
    }
    let name = stage.name();
    let at = stage.places;
    let (before, after) = (GateTiming::Before, GateTiming::After);
    let mut gates = |gates: &[Gate], place, scope, name: &str, timing| {
        let path = GatePath { scope, name: name.to_owned(), timing, display_name: None };
        unanswered(laid, gates, place, &path, stage, found);
    };
    gates(&stage.stage.before_gates, at.before_gates, GateScope::Stage, name, before);
    for group in stage.groups().filter(|group| group.size() > 0) {
        let (gate, place) = (&group.group.before_gates, group.places.before_gates);
        gates(gate, place, GateScope::Group, group.name(), before);
        let (gate, place) = (&group.group.after_gates, group.places.after_gates);
        gates(gate, place, GateScope::Group, group.name(), after);
    }
    gates(&stage.stage.after_gates, at.after_gates, GateScope::Stage, name, after);
}

fn unanswered(
    laid: &Laid<'_>,
    gates: &[Gate],
    at: Option<Spot>,
    place: &GatePath,
    stage: LaidStage<'_>,
    found: &mut Found,
) {
    let scenario = laid.scenario;
    let in_time = || {
        let actions = scenario.script.actions.iter().flatten();
        actions.filter(|action| action.at <= scenario.horizon)
    };
    let skips = |target: &SkipTarget| match target {
        SkipTarget::Stage(name) => name == stage.name(),
        SkipTarget::Group(name) => place.scope == GateScope::Group && *name == place.name,
        SkipTarget::Member(_) | SkipTarget::AfterStageWait(_) => false,
    };
    let is_answered = |gate: &Gate| {
        in_time().any(|action| match &action.action {
            ScriptedVerb::Approve(path) => {
                (path.scope, &path.name, path.timing) == (place.scope, &place.name, place.timing)
                    && (path.display_name.is_none() || path.display_name == gate.display_name)
            }
            ScriptedVerb::Skip(targets) => targets.iter().any(skips),
            _ => false,
        })
    };
    let waiting: Vec<&Gate> =
        gates.iter().filter(|gate| gate.kind == GateKind::Approval && !is_answered(gate)).collect();
    if waiting.is_empty() {
        return;
    }
    let scope = if place.scope == GateScope::Stage { "stage" } else { "group" };
    let timing = if place.timing == GateTiming::Before { "before" } else { "after" };
    let named: Vec<&str> = waiting.iter().filter_map(|gate| gate.display_name.as_deref()).collect();
    let place = &match (&named[..], waiting.len()) {
        ([only], 1) => GatePath { display_name: Some((*only).to_owned()), ..place.clone() },
        _ => place.clone(),
    };
    let gates = if named.is_empty() { "the approval".to_owned() } else { names(named) };
    let message = format!(
        "nobody gives {gates} {timing} the {scope} `{}`: the run waits there until the horizon",
        place.name
    );
    let warning = Diagnostic::warning("approval-nobody-gives", message).hint(format!(
        "add {{at: 2h, approve: \"{place}\"}} to script.actions, say, or name the approvers of \
         world.people"
    ));
    found.add(at, warning);
}

/// What a stage or group is for, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Canary,
    Test,
    Production,
    Other,
}

impl Role {
    fn of(name: &str) -> Self {
        const TEST: [&str; 12] = [
            "dev",
            "development",
            "test",
            "tests",
            "testing",
            "tst",
            "qa",
            "uat",
            "staging",
            "sandbox",
            "preprod",
            "nonprod",
        ];
        let digits = |c: char| c.is_ascii_digit();
        let words: Vec<&str> = name.split('-').map(|word| word.trim_end_matches(digits)).collect();
        let is_prod =
            |word: &str| matches!(word, "prod" | "prd" | "live") || word.starts_with("production");
        let is_no_prod =
            |pair: &[&str]| matches!(pair[0], "non" | "pre" | "not") && is_prod(pair[1]);
        if words.iter().any(|word| word.starts_with("canary")) {
            Self::Canary
        } else if words.iter().any(|word| TEST.contains(word)) || words.windows(2).any(is_no_prod) {
            Self::Test
        } else if words.iter().any(|word| is_prod(word)) {
            Self::Production
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_stages_and_groups_are_for() {
        let roles = [
            ("canary", Role::Canary),
            ("prod-canary", Role::Canary),
            ("canary01", Role::Canary),
            ("dev", Role::Test),
            ("eu-test2", Role::Test),
            ("pre-prod", Role::Test),
            ("nonprod", Role::Test),
            ("prod-test", Role::Test),
            ("production", Role::Production),
            ("prod1", Role::Production),
            ("eu-prd", Role::Production),
            ("products", Role::Other),
            ("stage-1", Role::Other),
            ("latest", Role::Other),
            ("devices", Role::Other),
        ];
        for (name, role) in roles {
            assert_eq!(Role::of(name), role, "{name}");
        }
    }
}
