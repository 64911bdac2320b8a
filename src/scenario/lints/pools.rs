//! Lints of pools that members get in mid-run.

use std::collections::BTreeSet;

use super::{Found, Run, count, form};
use crate::error::Diagnostic;
use crate::scheduler::{NodeImageSelection, Upgrade};

/// R-I6, R-I4: Consistent chooses an image for each family that is there at the start. For a pool
/// of another none is found, and its member is skipped.
pub(super) fn lint(run: &Run<'_>, found: &mut Found) {
    let update = &run.scenario.update;
    let chooses = update.node_images == NodeImageSelection::Consistent
        && !matches!(update.upgrade, Upgrade::ControlPlaneOnly(_));
    let Some(churn) = run.scenario.world.churn.as_ref().filter(|_| chooses) else { return };
    let of_run = run.members().flat_map(|(_, member)| &member.pools);
    let chosen: BTreeSet<_> = of_run.map(|pool| pool.image.family()).collect();
    for (adding, at) in churn.add_pool.iter().zip(&run.scenario.places.added_pools) {
        let family = adding.pool.image.family();
        let gets = run.members().filter(|(_, member)| adding.whom.fits(member)).count();
        if chosen.contains(&family) || gets == 0 {
            continue;
        }
        let message = format!(
            "Consistent chooses an image for each family at the start, and none for `{}`: {} {} \
             Skipped if {} got the pool `{}` when tried",
            run.fleet.families[family],
            count(gets, "member"),
            form(gets, "is", "are"),
            form(gets, "it has", "they have"),
            adding.pool.name,
        );
        let hint = format!(
            "let {} get a pool of a family that the fleet has, or choose Latest",
            form(gets, "it", "them")
        );
        found.add(Some(*at), Diagnostic::warning("pool-of-unchosen-family", message).hint(hint));
    }
}
