//! Lints of members: what they do on their own, and what they refuse.

use std::collections::BTreeMap;

use super::{Found, Run, count, form};
use crate::error::Diagnostic;
use crate::fleet::{KubernetesVersion, NodeDisruptionPolicy};
use crate::ids::MemberId;

pub(super) fn lint(run: &Run<'_>, found: &mut Found) {
    own_upgrades(run, found);
    disruption_policies(run, found);
    skipped_minor(run, found);
}

/// U10: a cluster's own auto-upgrade goes its own way.
pub(super) fn own_upgrades(run: &Run<'_>, found: &mut Found) {
    let mut channels: BTreeMap<&str, usize> = BTreeMap::new();
    let mut members: Vec<MemberId> = vec![];
    for (id, member) in run.members() {
        if let Some(channel) = &member.auto_upgrade_channel {
            *channels.entry(channel).or_default() += 1;
            members.push(id);
        }
    }
    if members.is_empty() {
        return;
    }
    let channels: Vec<String> = match channels.len() {
        1 => channels.into_keys().map(|channel| format!("`{channel}`")).collect(),
        _ => channels.into_iter().map(|(name, number)| format!("`{name}` on {number}")).collect(),
    };
    let message = format!(
        "{} {} an auto-upgrade channel of {} own on ({}): {}",
        count(members.len(), "member"),
        form(members.len(), "has", "have"),
        form(members.len(), "its", "their"),
        channels.join(", "),
        run.names(&members),
    );
    let warning = Diagnostic::warning("own-auto-upgrade", message).hint(
        "it upgrades the cluster in its window, without one days after a release, and waits for no \
         stage; turn it off in the autoUpgradeProfile",
    );
    found.add(run.first_place(&members), run.about(&members, warning));
}

/// N1, N2: policies that refuse for ever, and policies that refuse nothing.
fn disruption_policies(run: &Run<'_>, found: &mut Found) {
    let (mut blocked, mut open) = (vec![], vec![]);
    for (id, member) in run.fleet.members.iter_with_ids() {
        match member.node_disruption_policy {
            NodeDisruptionPolicy::Block => blocked.push(id),
            NodeDisruptionPolicy::AllowDuringMaintenanceWindow
                if member.node_os_window.is_none() =>
            {
                open.push(id);
            }
            _ => {}
        }
    }
    if !blocked.is_empty() {
        let message = format!(
            "nodeDisruptionPolicy Block has no end on {}: {}",
            count(blocked.len(), "member"),
            run.names(&blocked)
        );
        let warning = Diagnostic::warning("block-without-end", message).hint(
            "every change that reimages nodes is refused; AllowDuringMaintenanceWindow refuses \
             them outside the window only",
        );
        found.add(run.first_place(&blocked), run.about(&blocked, warning));
    }
    if !open.is_empty() {
        let message = format!(
            "nodeDisruptionPolicy AllowDuringMaintenanceWindow allows everything on {} without an \
             `aksManagedNodeOSUpgradeSchedule`: {}",
            count(open.len(), "member"),
            run.names(&open)
        );
        let warning = Diagnostic::warning("policy-without-window", message)
            .hint("write the schedule that the policy looks at, or `Block`");
        found.add(run.first_place(&open), run.about(&open, warning));
    }
}

/// U6, R-I10: members for which the Kubernetes target is more than a minor away.
fn skipped_minor(run: &Run<'_>, found: &mut Found) {
    let Some(target) = run.scenario.update.upgrade.kubernetes_version() else { return };
    let is_too_far = |version: KubernetesVersion| {
        version <= target && (version.major != target.major || version.minor + 1 < target.minor)
    };
    let members: Vec<MemberId> = run
        .members()
        .filter(|(_, member)| member.kubernetes_version.is_some_and(is_too_far))
        .map(|(id, _)| id)
        .collect();
    if members.is_empty() {
        return;
    }
    let mut versions: Vec<KubernetesVersion> =
        members.iter().filter_map(|id| run.fleet.members[*id].kubernetes_version).collect();
    versions.sort_unstable();
    let (oldest, newest) = (versions[0], versions[versions.len() - 1]);
    let at = if oldest == newest {
        format!("at {oldest}")
    } else {
        format!("between {oldest} and {newest}")
    };
    let message = format!(
        "Kubernetes {target} skips a minor for {} {at}, which {}: {}",
        count(members.len(), "member"),
        form(members.len(), "fails", "fail"),
        run.names(&members),
    );
    let hint = if oldest.major == target.major {
        format!("update them one minor at a time, first to {}.{}", oldest.major, oldest.minor + 1)
    } else {
        "update them one minor at a time".to_owned()
    };
    let warning = Diagnostic::warning("skipped-minor", message).hint(hint);
    found.add(run.scenario.places.update, run.about(&members, warning));
}
