//! Scenario files: text in, a checked [`Scenario`] out, every error with its place.
//!
//! Owns the scenario format and everything that can be wrong with it. Opens no file itself: the
//! caller reads those that the scenario names. Does not own what needs a strategy and the fleet
//! together (S6 and its like): that is the plan's.

mod access;
mod adding;
pub mod alone;
mod changes;
mod checks;
mod distribution;
mod drawn;
mod files;
mod joining;
pub mod lints;
mod members;
mod population;
mod profiles;
mod script;
mod strategy;
mod tree;
mod update;
pub mod variants;
pub mod vary;
mod window;
mod world;

pub use checks::{Bound, Check, Statistic};
pub use files::Open;
pub use tree::Spot;

use std::collections::BTreeSet;

use access::{Field, Map, Notes, Texts};
use files::Loader;
use members::Builder;

use crate::calendar::MaintenanceWindow;
use crate::error::{Diagnostic, Place};
use crate::fleet::Fleet;
use crate::ids::{Column, MemberId, WindowId};
use crate::scheduler::auto_upgrade::Profile;
use crate::scheduler::{NodeImageSelection, Plan, ServiceLimits, Strategy, Update};
use crate::sim::campaign::Campaign;
use crate::sim::model::{Setting, WorldModel};
use crate::sim::script::{Released, Script};
use crate::time::{Span, Timestamp};

/// One scenario file, checked: everything the program needs and nothing that can be wrong.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// `name`
    pub name: String,
    /// `start`: where the virtual clock begins.
    pub start: Timestamp,
    /// `horizon`: where it ends at the latest (inclusive, R-A7).
    pub horizon: Span,
    /// `seed`; 1 when absent.
    pub seed: u64,
    /// `replications`; 1,000 when absent.
    pub replications: u32,
    /// `serviceLimits`
    pub service_limits: ServiceLimits,
    /// The fleet, drawn once from the seed.
    pub fleet: Fleet,
    /// `update`: what every candidate strategy carries out.
    pub update: Update,
    /// Whether `update` is there. Without it and with profiles, the only run is nobody's.
    pub has_update: bool,
    /// `strategies`, at least one; under the names of candidates where there are variants.
    pub strategies: Vec<Strategy>,
    /// Which of the file's variants it is; `None` if the file has none.
    pub variant: Option<String>,
    /// The names of all candidates of the file: the strategies of every variant.
    pub candidates: Vec<String>,
    /// `autoUpgradeProfiles`
    pub profiles: Vec<Profile>,
    /// `configurationChanges`
    pub campaigns: Vec<Campaign>,
    /// `world`, with its defaults.
    pub world: WorldModel,
    /// `script`
    pub script: Script,
    /// `checks`, for continuous integration.
    pub checks: Vec<Check>,
    /// A digest of everything that was read (SHA-256, hex): the scenario's text and its files'.
    pub digest: String,
    /// Where things stand in the files, for whoever has something to say about them.
    pub places: Places,
}

/// Where the parts of a scenario stand in its files.
#[derive(Debug, Clone, Default)]
pub struct Places {
    sources: Texts,
    /// Of each strategy, in the order of [`Scenario::strategies`].
    pub strategies: Vec<StrategyPlaces>,
    /// Of each member; members of one population share theirs.
    pub members: Column<MemberId, Spot>,
    /// Of each distinct window, where it is described first.
    pub windows: Column<WindowId, Spot>,
    /// Of every maintenance configuration called `default`.
    pub default_configurations: Vec<Spot>,
    /// What they say: each distinct one, where it is described first.
    pub default_windows: Vec<(MaintenanceWindow, Spot)>,
    /// Of `script.updates`.
    pub scripted_updates: Option<Spot>,
    /// Of `update`.
    pub update: Option<Spot>,
    /// Of `world`.
    pub world: Option<Spot>,
    /// Of each auto-upgrade profile.
    pub profiles: Vec<Spot>,
    /// Of each entry of `world.churn.addPool`.
    pub added_pools: Vec<Spot>,
    /// Of `world.releases`.
    pub releases: Option<Spot>,
    /// Of the strategy of each.
    pub profile_strategies: Vec<StrategyPlaces>,
}

/// Where a strategy stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyPlaces {
    /// Its entry in `strategies`.
    pub at: Spot,
    /// Its stages; none when it updates one by one.
    pub stages: Vec<StagePlaces>,
}

/// Where a stage and its keys stand; absent keys have no place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the stage's own keys")]
pub struct StagePlaces {
    pub at: Spot,
    pub max_concurrency: Option<Spot>,
    pub max_allowed_failures: Option<Spot>,
    pub wait: Option<Spot>,
    pub before_gates: Option<Spot>,
    pub after_gates: Option<Spot>,
    /// Its groups, in order; none for the implicit group.
    pub groups: Vec<GroupPlaces>,
}

/// Where a group and its keys stand; absent keys have no place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the group's own keys")]
pub struct GroupPlaces {
    pub at: Spot,
    pub max_concurrency: Option<Spot>,
    pub max_allowed_failures: Option<Spot>,
    pub before_gates: Option<Spot>,
    pub after_gates: Option<Spot>,
}

impl Places {
    /// A place as people read it: file, line, column, and the line itself.
    pub fn place(&self, spot: Spot) -> Place {
        self.sources.place(spot)
    }
}

const SCENARIO: &[&str] = &[
    "name",
    "start",
    "horizon",
    "seed",
    "replications",
    "serviceLimits",
    "fleet",
    "update",
    "strategies",
    "autoUpgradeProfiles",
    "configurationChanges",
    "world",
    "script",
    "variants",
    "checks",
];
/// What an instant looks like, for messages.
const INSTANT: &str = "an instant such as 2026-03-02T08:00:00Z";
/// The longest horizon, and the longest duration anywhere: a hundred years.
const LONGEST: Span = Span::from_days(36_525);

impl Scenario {
    /// Reads a scenario. `name` is the file as the user named it, for messages; `open` reads the
    /// files that the scenario names. With the scenario come warnings; without it, errors: as many
    /// as one reading finds, in the order of their places.
    pub fn read(
        name: &str,
        text: &str,
        open: &Open<'_>,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        Self::read_seeded(name, text, open, None)
    }

    /// The same, as if the scenario's `seed` were this one: the fleet is drawn from it too.
    pub fn read_seeded(
        name: &str,
        text: &str,
        open: &Open<'_>,
        seed: Option<u64>,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        Self::read_varied(name, text, open, seed, &[])
    }

    /// The same, as if these values stood in the scenario. Its digest is that of the file. Of a
    /// scenario with variants, the first.
    pub fn read_varied(
        name: &str,
        text: &str,
        open: &Open<'_>,
        seed: Option<u64>,
        edits: &[vary::Edit],
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (all, warnings) = Self::read_all(name, text, open, seed, edits, &[])?;
        let first = all.into_iter().next().expect("there is at least one variant");
        Ok((first, warnings))
    }

    /// Every variant, in order: those of the file, each with each of `tried`. A scenario without
    /// variants is one. What is wrong, or doubtful, with some of them only, says with which.
    pub fn read_all(
        name: &str,
        text: &str,
        open: &Open<'_>,
        seed: Option<u64>,
        edits: &[vary::Edit],
        tried: &[variants::Tried],
    ) -> Result<(Vec<Self>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let notes = Notes::default();
        let loader = Loader::new(&notes, open, text);
        let file = notes.sources.add(name, text);
        let root = tree::parse(&notes, file, text).and_then(|mut root| {
            tree::refuse_duplicate_keys(&notes, &root);
            for edit in edits {
                vary::apply(&notes, &mut root, edit)?;
            }
            Some(root)
        });
        let mut scenarios = Vec::new();
        if let Some(root) = root {
            let variants = variants::read(&notes, &root, tried);
            for variant in &variants {
                if let Some(name) = &variant.name {
                    notes.begin_variant(name);
                }
                let Some(tree) = variant.tree(&notes, &root) else { continue };
                scenarios.extend(read_root(&Field::new(&notes, "the file", &tree), &loader, seed));
            }
            notes.end_variants();
            // Without all variants nobody knows the names of all candidates.
            if scenarios.len() == variants.len() {
                variants::name(&mut scenarios, &variants);
                read_checks(&Field::new(&notes, "the file", &root), &mut scenarios);
            }
        }
        let warnings = notes.finish()?;
        assert!(!scenarios.is_empty(), "a scenario that is not read comes with an error");
        let digest = loader.digest();
        let texts = notes.sources.into_texts();
        for scenario in &mut scenarios {
            scenario.places.sources = texts.clone();
            scenario.digest.clone_from(&digest);
        }
        Ok((scenarios, warnings))
    }

    /// Lays a strategy over the fleet, and those of the profiles beside it.
    ///
    /// # Errors
    /// Whatever makes one impossible for this fleet (S6, L2).
    pub fn lay_out<'s>(&'s self, strategy: &'s Strategy) -> Result<Plan<'s>, Vec<Diagnostic>> {
        let (clock, limits) = (self.start..self.start + self.horizon, self.service_limits);
        let plan = Plan::compile(strategy, &self.fleet, &self.update, limits, clock.clone())?;
        plan.with_profiles(&self.profiles, limits, &clock)
    }

    /// What its world is made from.
    pub fn setting(&self) -> Setting<'_> {
        Setting {
            start: self.start,
            horizon: self.horizon,
            seed: self.seed,
            fleet: &self.fleet,
            update: &self.update,
            has_update: self.has_update,
            profiles: &self.profiles,
            world: &self.world,
            script: &self.script,
            campaigns: &self.campaigns,
        }
    }

    /// What the members of a plan, and of those of profiles beside it, lack: an entry in
    /// `script.updates` (R-K6), or the `kubernetesVersion` that the update, or a profile, looks at
    /// (R-I19).
    pub fn check_plan(&self, plan: &Plan<'_>) -> Vec<Diagnostic> {
        let selected = |plan: &Plan<'_>| -> BTreeSet<MemberId> {
            plan.groups.iter().flat_map(|group| group.members.iter().copied()).collect()
        };
        self.check(&selected(plan), &plan.beside.iter().flat_map(selected).collect())
    }

    /// The same of members that `update` selects.
    pub fn check_selected(&self, selected: impl IntoIterator<Item = MemberId>) -> Vec<Diagnostic> {
        self.check(&selected.into_iter().collect(), &BTreeSet::new())
    }

    fn check(
        &self,
        of_update: &BTreeSet<MemberId>,
        of_profiles: &BTreeSet<MemberId>,
    ) -> Vec<Diagnostic> {
        let needs_version = self.update.upgrade.kubernetes_version().is_some();
        let mut unscripted = vec![];
        let mut errors = vec![];
        for id in of_update.union(of_profiles).copied() {
            let member = &self.fleet.members[id];
            let updates = self.script.updates.as_ref();
            if updates.is_some_and(|u| u.rest.is_empty() && !u.by_member.contains_key(&id)) {
                unscripted.push(member.name.as_str());
            }
            let by_profile = of_profiles.contains(&id);
            let looked_at = by_profile || (needs_version && of_update.contains(&id));
            if looked_at && member.kubernetes_version.is_none() {
                let who = if by_profile { "an auto-upgrade profile" } else { "the update" };
                let message = format!(
                    "{who} looks at the Kubernetes version of `{}`, which has none",
                    member.name
                );
                let error = Diagnostic::error("R-I19", message)
                    .at(self.places.place(self.places.members[id]))
                    .hint("write kubernetesVersion: 1.33.3, say");
                errors.push(error);
            }
        }
        if let (Some(at), false) = (self.places.scripted_updates, unscripted.is_empty()) {
            let more = unscripted.len().saturating_sub(10);
            let names = unscripted.iter().take(10).map(|name| format!("`{name}`"));
            let mut names = names.collect::<Vec<_>>().join(", ");
            if more > 0 {
                names = format!("{names} and {more} more");
            }
            let error = Diagnostic::error("R-K6", format!("no update is scripted for {names}"))
                .at(self.places.place(at))
                .hint("add an entry for each, or one for the rest: \"*\": {takes: 30m}");
            errors.push(error);
        }
        errors
    }
}

fn read_root(root: &Field<'_>, loader: &Loader<'_>, seed: Option<u64>) -> Option<Scenario> {
    let notes = root.notes;
    let map = root.map("a scenario", SCENARIO)?;
    let name = map.need("name").and_then(|field| file_name(&field)).unwrap_or_default();
    let start = map.need("start").and_then(|field| instant(&field)).unwrap_or_default();
    let horizon = map.need("horizon").and_then(|field| horizon(&field)).unwrap_or(Span::DAY);
    let seed = seed.or(map.own("seed").and_then(|field| field.integer(0, i128::from(u64::MAX))));
    let replications = map.own("replications").and_then(|field| field.integer(1, 10_000_000));
    let (seed, limits) = (seed.unwrap_or(1), service_limits(&map));
    let script = map.get("script");
    let mut builder =
        Builder::new(notes, start, script::scripted_regions(script.map(|field| field.node)));
    if let Some(field) = map.need("fleet") {
        builder.read(&field, seed, limits, loader);
    }
    let of_world = map.get("world").map(|field| field.node);
    let joining = joining::of_world(of_world, &mut builder, seed, loader);
    joining::of_script(script.map(|field| field.node), &mut builder);
    joining::check_size(root, &builder, limits);
    let (added, added_pools) = adding::of_world(of_world, &mut builder, horizon, loader);
    let update = update_of(&map, &mut builder);
    let campaigns = changes::read(&map, &builder.fleet, start, loader);
    let read = strategy::read(map.get("strategies"), limits, loader, root.at());
    let of_profiles = profiles::read(map.get("autoUpgradeProfiles"), (&read.0, &read.1));
    let (profiles, profile_places, profile_strategies) = of_profiles;
    let has_update = map.get("update").is_some() || profiles.is_empty();
    let (strategies, strategy_places) = candidates(&map, read, has_update);
    let runs = (has_update, &profiles[..]);
    let (script, scripted_updates) = script::read(script, &mut builder, horizon, runs);
    profiles::check_targets((&profiles, &profile_places), &script, start, &map);
    let world = world::read(map.get("world"), (joining, added), &script, &builder, loader);
    let update = update?;
    warn_of_unreleased_targets(&update, &script, &builder, map.place_of("update"));
    let places = Places {
        sources: Texts::default(),
        strategies: strategy_places,
        members: builder.places,
        windows: builder.window_places,
        default_configurations: builder.default_configurations,
        default_windows: builder.default_windows.into_iter().collect(),
        scripted_updates,
        update: map.spot("update"),
        world: map.spot("world"),
        profiles: profile_places,
        added_pools,
        releases: releases_at(&map),
        profile_strategies,
    };
    Some(Scenario {
        name,
        start,
        horizon,
        seed,
        replications: replications.unwrap_or(1_000),
        service_limits: limits,
        fleet: builder.fleet,
        update,
        has_update,
        strategies,
        variant: None,
        candidates: Vec::new(),
        profiles,
        campaigns,
        world,
        script,
        checks: Vec::new(),
        digest: String::new(),
        places,
    })
}

/// The place of `world.releases`.
fn releases_at(map: &Map<'_>) -> Option<Spot> {
    Some(map.get("world")?.node.get("releases")?.at)
}

fn service_limits(map: &Map<'_>) -> ServiceLimits {
    let words = [("azure", ServiceLimits::Azure), ("none", ServiceLimits::None)];
    let limits = map.own("serviceLimits").and_then(|field| field.word(&words));
    limits.unwrap_or_default()
}

/// The strategies that carry out `update`; without one, a strategy of nobody.
fn candidates(
    map: &Map<'_>,
    read: (Vec<Strategy>, Vec<StrategyPlaces>),
    has_update: bool,
) -> (Vec<Strategy>, Vec<StrategyPlaces>) {
    if has_only_changes(map) {
        strategy::nobody("no-update", map.node.at)
    } else if has_update {
        read
    } else {
        strategy::nobody("profiles", map.node.at)
    }
}

/// Reads `checks`, which are about the candidates of all variants.
fn read_checks(root: &Field<'_>, scenarios: &mut [Scenario]) {
    let checks = root.node.get("checks").filter(|node| !node.is_null());
    let (Some(checks), Some(first)) = (checks, scenarios.first()) else { return };
    let checks = checks::read(&Field::new(root.notes, "checks", checks), &first.candidates);
    for scenario in scenarios {
        scenario.checks.clone_from(&checks);
    }
}

/// Whether a scenario is about configuration changes alone.
fn has_only_changes(map: &Map<'_>) -> bool {
    let is_list = |field: Field<'_>| match &field.node.value {
        tree::Value::List(items) => !items.is_empty(),
        _ => false,
    };
    let others = ["update", "strategies", "autoUpgradeProfiles"];
    map.get("configurationChanges").is_some_and(is_list)
        && others.iter().all(|key| map.get(key).is_none())
}

fn update_of(map: &Map<'_>, builder: &mut Builder<'_>) -> Option<Update> {
    let Some(field) = map.get("update") else {
        if has_only_changes(map) || profiles::any(map) {
            return Some(update::nothing());
        }
        let others = ["autoUpgradeProfiles", "configurationChanges"];
        if others.iter().all(|key| map.spot(key).is_none()) {
            map.notes
                .error(
                    map.node.at,
                    "missing-key",
                    "the scenario has nothing to do: it needs `update`",
                )
                .hint("write update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}");
        } else {
            map.need("update");
        }
        return None;
    };
    update::read(&field, builder)
}

/// R-I7: under `script.releases`, a target that no release names never arrives.
fn warn_of_unreleased_targets(update: &Update, script: &Script, builder: &Builder<'_>, at: Spot) {
    let Some(releases) = &script.releases else { return };
    let mut targets: Vec<(Released, String)> = vec![];
    if let Some(version) = update.upgrade.kubernetes_version() {
        targets.push((Released::Kubernetes(version), format!("Kubernetes {version}")));
    }
    if let NodeImageSelection::Custom(images) = &update.node_images {
        for image in images {
            let name = format!("{}-{}", builder.fleet.families[image.family], image.version);
            targets.push((Released::NodeImage(*image), name));
        }
    }
    for (target, name) in targets {
        if !releases.iter().any(|release| release.what == target) {
            let message = format!("no release of the script names the target {name}");
            builder
                .notes
                .warning(at, "R-I7", message)
                .hint("members that need it stay Pending for ever; add it to `script.releases`");
        }
    }
}

/// A name that becomes a file's: scenarios and strategies.
fn file_name(field: &Field<'_>) -> Option<String> {
    let text = field.text()?;
    let mut bytes = text.bytes();
    let fits = bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && text.len() <= 64;
    if !fits {
        field.fail("name", format!("`{text}` cannot be a name, because it becomes a file's")).hint(
            "1 to 64 letters, digits, dots, underscores and hyphens, a letter or digit first",
        );
        return None;
    }
    Some(text.to_owned())
}

/// A duration, at most a hundred years.
fn duration(field: &Field<'_>) -> Option<Span> {
    let expected = "a duration such as 90s, 45m, 2h30m or 3d";
    let digits = field.node.as_text().filter(|text| {
        text.len() < 10 && *text != "0" && text.bytes().all(|byte| byte.is_ascii_digit())
    });
    if let Some(digits) = digits {
        field
            .wrong_type(expected)
            .hint(format!("say of what: {digits}d, {digits}h, {digits}m or {digits}s"));
        return None;
    }
    let span: Span = field.parsed(expected)?;
    if span > LONGEST {
        let name = field.name;
        field.fail("out-of-range", format!("`{name}` is longer than 36525 days (a hundred years)"));
        return None;
    }
    Some(span)
}

/// An instant within the years 1970 to 2999, to the second (R-A8).
fn instant(field: &Field<'_>) -> Option<Timestamp> {
    let at: Timestamp = field.parsed(INSTANT)?;
    let last = Timestamp::from_millis(32_503_680_000_000);
    if at < Timestamp::default() || at >= last || at.as_millis() % 1_000 != 0 {
        let name = field.name;
        let message = format!("`{name}` must be a whole second of the years 1970 to 2999");
        field.fail("out-of-range", message);
        return None;
    }
    Some(at)
}

fn horizon(field: &Field<'_>) -> Option<Span> {
    let span = duration(field)?;
    if span == Span::ZERO {
        field.fail("out-of-range", "`horizon` must be longer than nothing");
        return None;
    }
    Some(span)
}
