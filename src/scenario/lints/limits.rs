//! Lints of concurrency and failure budgets: what they resolve to, and what they cannot do.

use super::{Found, Laid, LaidGroup, LaidStage, count};
use crate::error::Diagnostic;
use crate::fleet::Amount;
use crate::scenario::tree::Spot;
use crate::scheduler::{STAGE_MAX_CONCURRENCY, ServiceLimits};

pub(super) fn lint(laid: &Laid<'_>, found: &mut Found) {
    for stage in laid.stages().filter(|stage| stage.plan.size > 0) {
        if laid.scenario.service_limits == ServiceLimits::Azure {
            above_the_service(stage, found);
        }
        let name = format!("the stage `{}`", stage.name());
        let (written, places, size) = (stage.stage, stage.places, stage.plan.size);
        one_at_a_time(&name, written.max_concurrency, size, places.max_concurrency, found);
        one_failure(&name, written.max_allowed_failures, size, places.max_allowed_failures, found);
        let budget = (written.max_allowed_failures, stage.plan.max_allowed_failures);
        covers_all(&name, budget, size, places.max_allowed_failures, found);
        for group in stage.groups().filter(|group| group.size() > 0) {
            above_stage_or_size(stage, group, found);
            budget_of(stage, group, found);
        }
    }
}

/// R-G1: a percentage of the stage can be more than the service allows.
fn above_the_service(stage: LaidStage<'_>, found: &mut Found) {
    let Some(Amount::Percent(percent)) = stage.stage.max_concurrency else { return };
    let (size, most) = (stage.plan.size, STAGE_MAX_CONCURRENCY);
    let asked = Amount::Percent(percent).of_rounded_down(size);
    if asked > most {
        let message = format!(
            "the stage `{}` asks for {asked} members at once ({percent}% of {size}); the service \
             updates at most {most} of a stage",
            stage.name()
        );
        let warning = Diagnostic::warning("limit-above-service", message)
            .hint(format!("{most} it is; `serviceLimits: none` lifts the service's caps"));
        found.add(stage.places.max_concurrency, warning);
    }
}

/// L2: a group's ceiling that its stage or its size cuts.
fn above_stage_or_size(stage: LaidStage<'_>, group: LaidGroup<'_>, found: &mut Found) {
    let (asked, size) = (group.plan.asked_concurrency, group.size());
    let ceiling = stage.plan.max_concurrency;
    one_at_a_time(
        &format!("the group `{}`", group.name()),
        group.group.max_concurrency,
        size,
        group.places.max_concurrency,
        found,
    );
    if asked <= ceiling.min(size) {
        return;
    }
    let what = format!(
        "the group `{}` of the stage `{}` asks for {asked} members at once{}",
        group.name(),
        stage.name(),
        of_size(group.group.max_concurrency, size),
    );
    let rest = "the service may refuse it, here it is cut down";
    let warning = if size <= ceiling {
        let message = format!("{what} and has {}: {rest}", count(size as usize, "member"));
        Diagnostic::warning("limit-above-size", message)
            .hint(format!("write \"{size}\", or \"100%\""))
    } else {
        let default = if stage.stage.max_concurrency.is_none() { ", the default" } else { "" };
        let message = format!("{what}, its stage allows {ceiling}{default}: {rest}");
        Diagnostic::warning("limit-above-stage", message)
            .hint(format!("write \"{ceiling}\", or raise the stage's maxConcurrency"))
    };
    found.add(group.places.max_concurrency, warning);
}

fn budget_of(stage: LaidStage<'_>, group: LaidGroup<'_>, found: &mut Found) {
    let (written, at) = (group.group.max_allowed_failures, group.places.max_allowed_failures);
    let (budget, size) = (group.plan.max_allowed_failures, group.size());
    let name = format!("the group `{}`", group.name());
    one_failure(&name, written, size, at, found);
    if budget > 0 && stage.plan.max_allowed_failures == 0 {
        // L8: the stage judges the group's failures too.
        let message = format!(
            "{name} allows {}, its stage `{}` none: the first failure stops the run all the same",
            failures(written, budget, size),
            stage.name()
        );
        let warning = Diagnostic::warning("budget-without-stage", message)
            .hint(format!("give the stage a maxAllowedFailures of \"{budget}\" or more"));
        found.add(at, warning);
    } else {
        covers_all(&name, (written, budget), size, at, found);
    }
}

fn failures(amount: Option<Amount>, budget: u32, size: u32) -> String {
    format!("{}{}", count(budget as usize, "failure"), of_size(amount, size))
}

/// ` (50% of 8)` behind what a percentage resolves to; nothing behind a count.
fn of_size(amount: Option<Amount>, size: u32) -> String {
    match amount {
        Some(Amount::Percent(percent)) => format!(" ({percent}% of {size})"),
        _ => String::new(),
    }
}

/// L5: only more failures than the budget stop anything.
fn covers_all(
    name: &str,
    (written, budget): (Option<Amount>, u32),
    size: u32,
    at: Option<Spot>,
    found: &mut Found,
) {
    if budget < size {
        return;
    }
    let message = format!(
        "{name} allows {} and has {}: it bears that every one of them fails",
        failures(written, budget, size),
        count(size as usize, "member"),
    );
    let warning = Diagnostic::warning("budget-of-everybody", message)
        .hint(format!("only more failures than the budget stop the run; allow fewer than {size}"));
    found.add(at, warning);
}

/// L1: rounded down, at least 1.
fn one_at_a_time(
    name: &str,
    amount: Option<Amount>,
    size: u32,
    at: Option<Spot>,
    found: &mut Found,
) {
    let Some(Amount::Percent(percent)) = amount else { return };
    let hundredths = u64::from(percent) * u64::from(size);
    let how = match hundredths {
        // Of one member, one is no surprise; nor are 1.2 rounded down.
        _ if size < 2 => return,
        0..100 => "raised to 1",
        150..200 => "rounded down to 1",
        _ => return,
    };
    let message = format!(
        "maxConcurrency {percent}% of {size} members of {name} is {}, {how}: one at a time",
        decimal(hundredths)
    );
    let warning = Diagnostic::warning("percentage-is-one", message)
        .hint("write \"1\" if that is meant, else a count or a larger percentage");
    found.add(at, warning);
}

/// L4: rounded up.
fn one_failure(name: &str, amount: Option<Amount>, size: u32, at: Option<Spot>, found: &mut Found) {
    let Some(Amount::Percent(percent)) = amount else { return };
    let hundredths = u64::from(percent) * u64::from(size);
    if size < 2 || !(1..100).contains(&hundredths) {
        return;
    }
    let message = format!(
        "maxAllowedFailures {percent}% of {size} members of {name} is {}, rounded up to 1",
        decimal(hundredths)
    );
    let warning = Diagnostic::warning("percentage-is-one", message)
        .hint("write \"1\" if that is meant, \"0\" to stop at the first failure");
    found.add(at, warning);
}

/// `0.75`, `1.5`.
fn decimal(hundredths: u64) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_are_written_without_empty_digits() {
        let written: Vec<String> = [75, 150, 200, 5].into_iter().map(decimal).collect();
        assert_eq!(written, ["0.75", "1.5", "2", "0.05"]);
    }
}
