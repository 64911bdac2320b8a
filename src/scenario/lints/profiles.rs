//! Lints of auto-upgrade profiles: what their strategies leave out, and profiles that do the same.

use super::{Found, Laid, Run, limits, members, names, releases, stages, windows};
use crate::error::Diagnostic;
use crate::scenario::Scenario;
use crate::scheduler::Plan;

pub(super) fn lint(scenario: &Scenario, plans: &[Plan<'_>], found: &mut Found) {
    for (position, plan) in plans.iter().enumerate() {
        let profile = &scenario.profiles[position];
        let places = &scenario.places.profile_strategies[position];
        let laid = Laid { scenario, plan, strategy: &profile.strategy, places };
        stages::lint(&laid, found);
        limits::lint(&laid, found);
        releases::lint_order(&laid, found);
        let run = Run::new(scenario, &profile.update, std::slice::from_ref(plan));
        windows::lint(&run, found);
        members::own_upgrades(&run, found);
    }
    alike(scenario, plans, found);
}

/// Two profiles that move the same of the same members: the one further ahead does all the work.
fn alike(scenario: &Scenario, plans: &[Plan<'_>], found: &mut Found) {
    for (second, plan) in plans.iter().enumerate() {
        let profile = &scenario.profiles[second];
        let same_kind = |other: usize| {
            let other = &scenario.profiles[other];
            other.channel.is_kubernetes() == profile.channel.is_kubernetes()
                && !other.disabled
                && !profile.disabled
        };
        let shares = |other: usize| {
            let both = plan.places.iter().zip(&plans[other].places);
            both.filter(|(one, other)| one.is_some() && other.is_some()).count()
        };
        let first = (0..second).find(|other| same_kind(*other) && shares(*other) > 0);
        let Some(first) = first else { continue };
        let what = if profile.channel.is_kubernetes() { "Kubernetes versions" } else { "images" };
        let both = [&scenario.profiles[first].name, &profile.name];
        let message = format!(
            "{} both bring {what} to {} members",
            names(both.into_iter().map(String::as_str)),
            shares(first),
        );
        let warning = Diagnostic::warning("profiles-alike", message).hint(
            "their runs get into each other's way, and whichever is ahead does the work; leave \
             one, or let their strategies select different members",
        );
        found.add(Some(scenario.places.profiles[second]), warning);
    }
}
