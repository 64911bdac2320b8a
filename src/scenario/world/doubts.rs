//! What is doubtful about defects and the people who mind them.

use super::is_none;
use crate::fleet::Amount;
use crate::scenario::access::{Field, Map};
use crate::sim::model::WorldModel;
use crate::sim::script::{Effect, Script};

/// Warns of what can have no effect. `world` is the map that the model was read from.
pub(super) fn warn(world: &Map<'_>, model: &WorldModel, script: &Script, members: usize) {
    let people = world.get("people");
    let part = |key: &str| -> Option<Field<'_>> {
        let field = people?;
        let node = field.node.get(key).filter(|node| !node.is_null())?;
        Some(Field { node, ..field }).filter(|field| !is_none(field))
    };
    let watchers = part("watchers");
    let of_approvers = part("approvers");
    let tolerance = of_approvers.and_then(|field| {
        let node = field.node.get("tolerance")?;
        Some(Field { node, ..field })
    });
    let defects = model.defects.is_some() || script.defects.is_some();
    if let (Some(field), false) = (watchers.or(tolerance), defects) {
        field
            .notes
            .warning(field.at(), "nobody-degrades", "no member ever degrades, so nobody minds it")
            .hint("write `defects: default` in `world`, or `defects` in `script`");
    }
    let unreachable = |amount: Amount| match amount {
        Amount::Count(count) => count as usize >= members,
        Amount::Percent(percent) => percent >= 100,
    };
    let limits = [
        (watchers, model.watchers.as_ref().map(|who| who.limit), "watchers never stop the run"),
        (
            tolerance,
            model.approvers.as_ref().map(|who| who.tolerance),
            "approvers never stop the run",
        ),
    ];
    for (field, limit, what) in limits {
        if let (Some(field), Some(limit), true) = (field, limit, defects)
            && unreachable(limit)
        {
            let message =
                format!("{what}: no more than {limit} of {members} members can be degraded");
            field
                .notes
                .warning(field.at(), "limit-never-passed", message)
                .hint("the limit is what they bear; write a smaller one");
        }
    }
    halt_and_fix(world, part("startAgain"), model, script, members);
}

fn halt_and_fix(
    world: &Map<'_>,
    start_again: Option<Field<'_>>,
    model: &WorldModel,
    script: &Script,
    members: usize,
) {
    let halt = model.defects.as_ref().and_then(|defects| defects.halt.as_ref());
    let written = world.get("defects").and_then(|field| {
        let node = field.node.get("halt")?;
        Some(Field { node, ..field })
    });
    if let (Some(field), Some(halt)) = (written, halt)
        && halt.members as usize > members
    {
        let message = format!(
            "the platform never halts a release: it waits for {} members of this fleet, which has \
             {members}",
            halt.members
        );
        field
            .notes
            .warning(field.at(), "halt-never-comes", message)
            .hint("without a halt no drawn defect is ever fixed; write a smaller number");
    }
    let fixed = match &script.defects {
        Some(scripted) => scripted.iter().any(|defect| {
            matches!(defect.effect, Effect::Degrades { .. }) && defect.fixed.is_some()
        }),
        None => halt.is_some_and(|halt| halt.members as usize <= members),
    };
    if let (Some(field), false) = (start_again, fixed) {
        field
            .notes
            .warning(field.at(), "never-started-again", "no defect is ever fixed")
            .hint("`startAgain` waits for a fix: name a `halt`, or `fixed` in the script");
    }
}
