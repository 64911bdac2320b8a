//! Lints of durations and of what stands in the way of updates (W5, W8, P2).

use super::{Found, Run, form};
use crate::error::Diagnostic;
use crate::fleet::{Member, OsType};
use crate::ids::MemberId;
use crate::sim::model::DurationModel;
use crate::sim::nodes::DurationFactor;
use crate::sim::nodes::rolling::{MOST_NODES, Settings};

pub(super) fn lint(run: &Run<'_>, found: &mut Found) {
    if run.scenario.script.updates.is_some() {
        return;
    }
    for factor in &run.scenario.world.duration_factors {
        concerns_nobody(run, factor, found);
    }
    throttles_nobody(run, found);
    if matches!(run.scenario.world.durations, DurationModel::Nodes(_)) {
        too_large(run, found);
    }
}

/// W5: a factor that no member of the run meets.
fn concerns_nobody(run: &Run<'_>, factor: &DurationFactor, found: &mut Found) {
    let DurationFactor { members, regions, os_type, nodes, .. } = factor;
    let has = |member: &Member, os: OsType| member.pools.iter().any(|pool| pool.os_type == os);
    let meets = |member: &Member| {
        members.as_ref().is_none_or(|selector| selector.matches(&member.labels))
            && (regions.is_empty() || regions.contains(&run.fleet.regions[member.region]))
            && os_type.is_none_or(|os| has(member, os))
            && nodes.contains(&member.nodes())
    };
    if run.members().any(|(_, member)| meets(member)) || run.selected.is_empty() {
        return;
    }
    let message = format!("no member of the run meets the factor × {}", factor.times);
    let warning = Diagnostic::warning("factor-of-nobody", message)
        .hint("look at its labels, region, osType and nodes: all of them must apply");
    found.add(run.scenario.places.world, warning);
}

/// W8: throttling where no member has a subscription.
fn throttles_nobody(run: &Run<'_>, found: &mut Found) {
    let Some(model) = &run.scenario.world.throttling else { return };
    let is_in_one = |member: &Member| match &model.by_label {
        Some(label) => member.labels.contains_key(label),
        None => member.subscription().is_some(),
    };
    if run.members().any(|(_, member)| is_in_one(member)) || run.selected.is_empty() {
        return;
    }
    let what = match &model.by_label {
        Some(label) => format!("the label `{label}`"),
        None => "a `clusterResourceId` that names its subscription".to_owned(),
    };
    let warning =
        Diagnostic::warning("throttling-of-nobody", format!("no member of the run has {what}"))
            .hint("members without a subscription are not throttled; name a label: byLabel: team");
    found.add(run.scenario.places.world, warning);
}

/// P2: pools whose update is refused, every time.
fn too_large(run: &Run<'_>, found: &mut Found) {
    let is_too_large =
        |member: &Member| member.pools.iter().any(|pool| Settings::of(pool).is_too_large());
    let large = run.members().filter(|(_, member)| is_too_large(member));
    let members: Vec<MemberId> = large.map(|(id, _)| id).collect();
    if members.is_empty() {
        return;
    }
    let message = format!(
        "{} {} a pool of over {MOST_NODES} nodes with its surge: its update is refused",
        run.names(&members),
        form(members.len(), "has", "have"),
    );
    let warning = Diagnostic::warning("pool-too-large", message)
        .hint("lower its `maxSurge`, or use `maxUnavailable` with maxSurge: 0 (user pools)");
    found.add(run.first_place(&members), run.about(&members, warning));
}
