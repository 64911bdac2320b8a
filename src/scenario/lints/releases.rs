//! Lints of releases: what never arrives, and what arrives in the wrong order.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Laid, LaidStage, Run, form, known_region, names};
use crate::error::Diagnostic;
use crate::fleet::patches::{self, Patch};
use crate::fleet::regions::Region;
use crate::fleet::{Fleet, KubernetesVersion, NodeImage, OsType};
use crate::ids::RegionId;
use crate::scenario::Scenario;
use crate::scheduler::{NodeImageSelection, Released, Update, Upgrade};
use crate::sim::model::ReleaseModel;
use crate::sim::releases::forecast::Forecast;
use crate::sim::releases::{Releases, Wants, history};

/// From this order on, regions are always late (measured: order 6 comes 2.9 days after order 5).
const LATE: u8 = 6;

/// Whether node images come by the measured train, which goes order by order.
fn by_train(scenario: &Scenario) -> bool {
    scenario.script.releases.is_none() && scenario.world.releases == ReleaseModel::Train
}

fn updates_images(update: &Update) -> bool {
    !matches!(update.upgrade, Upgrade::ControlPlaneOnly(_))
}

/// The earliest order of the train among regions, and the regions of that order.
fn earliest(fleet: &Fleet, regions: &BTreeSet<RegionId>) -> Option<(u8, Vec<&'static str>)> {
    let known: Vec<&Region> = regions.iter().filter_map(|id| known_region(fleet, *id)).collect();
    // A region of which nothing is known may come first.
    if known.len() < regions.len() {
        return None;
    }
    let order = known.iter().map(|region| region.order).min()?;
    let first = known.iter().filter(|region| region.order == order).map(|region| region.name);
    Some((order, first.collect()))
}

/// Releases that reach a stage's regions before those of every stage before it.
pub(super) fn lint_order(laid: &Laid<'_>, found: &mut Found) {
    let scenario = laid.scenario;
    let consistent = scenario.update.node_images == NodeImageSelection::Consistent;
    if !by_train(scenario) || !updates_images(&scenario.update) || consistent {
        return;
    }
    let fleet = &scenario.fleet;
    let mut before: Option<(u8, Vec<&str>)> = None;
    let mut tried: BTreeSet<RegionId> = BTreeSet::new();
    for stage in laid.stages() {
        let regions = regions_of(stage, fleet);
        let Some((order, first)) = earliest(fleet, &regions) else {
            if regions.is_empty() {
                continue;
            }
            return;
        };
        if let Some((earlier, others)) = before.as_ref().filter(|(earlier, _)| order < *earlier) {
            let message = format!(
                "releases reach {} (order {order}) of the stage `{}` before {} (order {earlier}), \
                 the first {} of the stages before it",
                names(first.iter().copied()),
                stage.name(),
                names(others.iter().copied()),
                form(others.len(), "region", "regions"),
            );
            let warning = Diagnostic::warning("production-region-first", message).hint(
                match scenario.update.node_images {
                    NodeImageSelection::Custom(_) => {
                        "the stages before it wait for the image; begin with members in an early \
                         region"
                    }
                    _ => {
                        "with Latest it takes images that nobody tried: begin with members in an \
                         early region, or select Consistent images"
                    }
                },
            );
            found.add(Some(stage.places.at), warning);
        }
        tried.extend(regions);
        before = earliest(fleet, &tried);
    }
}

fn regions_of(stage: LaidStage<'_>, fleet: &Fleet) -> BTreeSet<RegionId> {
    let groups = &stage.groups[stage.plan.groups.start as usize..stage.plan.groups.end as usize];
    let members = groups.iter().flat_map(|group| &group.members).map(|id| &fleet.members[*id]);
    members.filter(|member| !member.pools.is_empty()).map(|member| member.region).collect()
}

pub(super) fn lint(run: &Run<'_>, found: &mut Found) {
    consistent_waits(run, found);
    never_released(run, found);
    late_kubernetes(run, found);
    history_ends(run, found);
}

/// The update's Kubernetes version, where it is left to the models or the record: whether it comes
/// at all before the horizon.
fn late_kubernetes(run: &Run<'_>, found: &mut Found) {
    let scenario = run.scenario;
    let Some(target) = scenario.update.upgrade.kubernetes_version() else { return };
    let modelled =
        matches!(scenario.world.releases, ReleaseModel::Train | ReleaseModel::History(_));
    if scenario.script.releases.is_some() || !modelled {
        return;
    }
    let behind = run.members().filter(|(_, member)| member.kubernetes_version < Some(target));
    let regions: BTreeSet<RegionId> = behind.map(|(_, member)| member.region).collect();
    if regions.is_empty() {
        return;
    }
    let forecast = Forecast::of(scenario.setting(), Released::Kubernetes(target));
    let end = scenario.start + scenario.horizon;
    let share = |region: &RegionId| forecast.by(*region, end);
    let name = |region: &RegionId| run.fleet.regions[*region].as_str();
    let least = regions.iter().map(share).fold(1.0, f64::min);
    let worst = regions.iter().filter(|region| share(region) <= least).map(name);
    let warning = if regions.iter().all(|region| share(region) <= 0.0) {
        let message = format!("Kubernetes {target} reaches none of the run's regions before {end}");
        Diagnostic::warning("kubernetes-never-arrives", message).hint(advice(target, scenario))
    } else if least < 0.5 {
        let message = format!(
            "Kubernetes {target} reaches {} before {end} in {:.0} % of the worlds only",
            names(worst),
            least * 100.0
        );
        Diagnostic::warning("kubernetes-arrives-late", message).hint(
            "lengthen the horizon, take an older patch, or name its arrival in script.releases",
        )
    } else {
        return;
    };
    found.add(scenario.places.update, warning);
}

/// What to do about a version that does not come.
fn advice(target: KubernetesVersion, scenario: &Scenario) -> String {
    let same_minor =
        |patch: &&Patch| (patch.version.major, patch.version.minor) == (target.major, target.minor);
    let known = patches::all().iter().filter(same_minor);
    let known = known.filter(|patch| patch.on_aks <= scenario.start).map(|patch| patch.version);
    let nearest = known.min_by_key(|version| version.patch.abs_diff(target.patch));
    match nearest {
        Some(nearest) if nearest != target => format!(
            "members that need it stay Pending; {nearest} is on record, or name the arrival of \
             {target} in script.releases"
        ),
        _ => "members that need it stay Pending; name its arrival in script.releases".to_owned(),
    }
}

/// W2: a replay ends where the record does.
fn history_ends(run: &Run<'_>, found: &mut Found) {
    let scenario = run.scenario;
    let ReleaseModel::History(until) = scenario.world.releases else { return };
    let Some(at) = scenario.places.releases else { return };
    let images = updates_images(&scenario.update);
    let (first, last) = history::of_images();
    let pools = || run.members().flat_map(|(_, member)| &member.pools);
    if images && pools().next().is_some() && until <= first {
        let message = "no node image is on record for this time, so none arrives";
        let hint = "node images are on record from 2026-06 on; or write `model: train`";
        found.add(Some(at), Diagnostic::warning("history-without-images", message).hint(hint));
        return;
    }
    if images && pools().any(|pool| pool.os_type == OsType::Windows) {
        let message = "no Windows image is on record, so none arrives";
        let hint = "name one in script.releases, or write `model: train`";
        found.add(Some(at), Diagnostic::warning("history-without-images", message).hint(hint));
    }
    let ends = until.min(last);
    if images && scenario.start + scenario.horizon > ends {
        let message = format!("the record ends on {ends}: no image arrives after that");
        let hint = "end the horizon there, or name later releases in script.releases";
        found.add(Some(at), Diagnostic::warning("history-ends", message).hint(hint));
    }
}

/// U2: Consistent takes what every region has, so the latest region decides.
fn consistent_waits(run: &Run<'_>, found: &mut Found) {
    let update = &run.scenario.update;
    if update.node_images != NodeImageSelection::Consistent
        || !updates_images(update)
        || !by_train(run.scenario)
    {
        return;
    }
    let regions: BTreeSet<RegionId> = run
        .members()
        .filter(|(_, member)| !member.pools.is_empty())
        .map(|(_, member)| member.region)
        .collect();
    let mut orders: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
    for region in regions.iter().filter_map(|id| known_region(run.fleet, *id)) {
        orders.entry(region.order).or_default().push(region.name);
    }
    let (Some((first, early)), Some((last, late))) =
        (orders.first_key_value(), orders.last_key_value())
    else {
        return;
    };
    if *last < LATE || first == last {
        return;
    }
    let message = format!(
        "Consistent images wait for {} (order {last} of 9), where every release is late; {} {} it \
         first (order {first})",
        names(late.iter().copied()),
        names(early.iter().copied()),
        form(early.len(), "has", "have"),
    );
    let warning = Diagnostic::warning("consistent-over-late-region", message)
        .hint("the whole run takes the newest image that is there; Latest does not wait");
    found.add(run.scenario.places.update, warning);
}

/// R-I7: targets that the world does not bring. Where releases are scripted, the reader warns.
fn never_released(run: &Run<'_>, found: &mut Found) {
    let (scenario, update) = (run.scenario, &run.scenario.update);
    if scenario.script.releases.is_some() || run.selected.is_empty() {
        return;
    }
    let off = scenario.world.releases == ReleaseModel::Off;
    let images = match &update.node_images {
        NodeImageSelection::Custom(images) => images,
        NodeImageSelection::Latest | NodeImageSelection::Consistent => {
            if off && !matches!(update.upgrade, Upgrade::ControlPlaneOnly(_)) {
                let message = "releases are off, so no node image ever arrives";
                let warning = Diagnostic::warning("no-releases", message)
                    .hint("there is nothing to update images to; name some in script.releases");
                found.add(scenario.places.update, warning);
            }
            return;
        }
    };
    let releases = Releases::new(scenario.setting(), Wants::default());
    let on_record = |image: &&NodeImage| {
        let known = releases.fixed().filter(|_| !off);
        known.is_some_and(|known| known.find(Released::NodeImage(**image)).is_some())
    };
    let missing: Vec<&NodeImage> = images.iter().filter(|image| !on_record(image)).collect();
    if missing.is_empty() {
        return;
    }
    let shown: Vec<String> = missing
        .iter()
        .map(|image| format!("{}-{}", run.fleet.families[image.family], image.version))
        .collect();
    let shown = names(shown.iter().map(String::as_str));
    let (code, message) = match scenario.world.releases {
        ReleaseModel::Train => (
            "target-by-chance",
            format!("the versions of the train are drawn: {shown} exists by chance only"),
        ),
        ReleaseModel::History(_) => {
            ("target-never-released", format!("no release brings {shown}: it is not on record"))
        }
        ReleaseModel::Off => {
            ("target-never-released", format!("no release brings {shown}: releases are off"))
        }
    };
    let warning = Diagnostic::warning(code, message)
        .hint("members that need it stay Pending for ever; name the release in script.releases");
    found.add(scenario.places.update, warning);
}
