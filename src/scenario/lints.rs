//! Lints: what is read without a complaint and probably not meant.
//!
//! Owns every warning that needs the whole scenario, or a strategy laid over its fleet; what can be
//! seen in one value alone, the reader warns of. Lints judge and change nothing: the simulation is
//! the same with and without them. Each has a stable code, a place and a hint; there is one
//! diagnostic for a kind and a place, and at most [`MOST_OF_A_KIND`] of a kind.

mod durations;
mod limits;
mod members;
mod pools;
mod profiles;
mod releases;
mod stages;
mod windows;

use std::collections::BTreeMap;

use super::tree::Spot;
use super::{GroupPlaces, Places, Scenario, StagePlaces, StrategyPlaces};
use crate::error::Diagnostic;
use crate::fleet::regions::{self, Region};
use crate::fleet::{Fleet, Member};
use crate::ids::{Column, MemberId, RegionId, WindowId};
use crate::scheduler::{Group, GroupPlan, Plan, Stage, StagePlan, Strategy, Update};
use crate::time::Timestamp;

use windows::TypicalUpdates;
pub(super) use windows::of_description;

/// So many diagnostics of one kind are shown; more are one habit many times.
pub const MOST_OF_A_KIND: usize = 10;
/// So many names are listed; the diagnostic holds them all.
const MOST_NAMES: usize = 10;

/// Everything doubtful about a scenario with these of its strategies, in the order of places. The
/// plans are those of the scenario's own strategies and fleet.
pub fn lint(scenario: &Scenario, plans: &[Plan<'_>]) -> Vec<Diagnostic> {
    let mut found = Found::default();
    // Without an update nobody is to be in a group.
    let plans_of_updates = if scenario.places.update.is_some() { plans } else { &[] };
    for laid in plans_of_updates.iter().filter_map(|plan| Laid::of(scenario, plan)) {
        stages::lint(&laid, &mut found);
        limits::lint(&laid, &mut found);
        releases::lint_order(&laid, &mut found);
    }
    let run = Run::new(scenario, &scenario.update, plans);
    windows::lint(&run, &mut found);
    members::lint(&run, &mut found);
    durations::lint(&run, &mut found);
    releases::lint(&run, &mut found);
    pools::lint(&run, &mut found);
    // The plans of profiles are the same beside all strategies.
    let beside = plans.first().map_or(&[][..], |plan| &plan.beside);
    profiles::lint(scenario, beside, &mut found);
    found.finish(&scenario.places)
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    list: Vec<(Option<Spot>, Diagnostic)>,
    /// Where each kind and place is in the list, and how many more there were.
    known: BTreeMap<(Option<Spot>, &'static str), (usize, usize)>,
}

impl Found {
    /// Adds a warning. Of several of one kind at one place (members of a population share theirs)
    /// the first is kept; one that says the same again (strategies can share a file) is no other.
    fn add(&mut self, at: Option<Spot>, warning: Diagnostic) {
        let next = self.list.len();
        let (position, more) = self.known.entry((at, warning.code)).or_insert((next, 0));
        match self.list.get(*position) {
            None => self.list.push((at, warning)),
            Some((_, first)) if first.message == warning.message => {}
            Some(_) => *more += 1,
        }
    }

    fn finish(self, places: &Places) -> Vec<Diagnostic> {
        let Self { mut list, known } = self;
        for (position, more) in known.into_values().filter(|(_, more)| *more > 0) {
            let more = format!(" (and {more} more like it here)");
            list[position].1.message.push_str(&more);
        }
        list.sort_by_key(|(at, _)| *at);
        let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (_, warning) in &list {
            *kinds.entry(warning.code).or_default() += 1;
        }
        let mut shown: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut warnings = Vec::new();
        for (at, mut warning) in list {
            let number = shown.entry(warning.code).or_default();
            *number += 1;
            let left_out = kinds[warning.code].saturating_sub(MOST_OF_A_KIND);
            if *number > MOST_OF_A_KIND {
                continue;
            }
            if *number == MOST_OF_A_KIND && left_out > 0 {
                let more = format!(" (and {left_out} more at other places)");
                warning.message.push_str(&more);
            }
            warnings.push(match at {
                Some(at) => warning.at(places.place(at)),
                None => warning,
            });
        }
        warnings
    }
}

/// A strategy that was laid over the fleet, with its places.
struct Laid<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan<'a>,
    strategy: &'a Strategy,
    places: &'a StrategyPlaces,
}

/// A stage as it was written, as it was resolved, and where it stands.
#[derive(Clone, Copy)]
struct LaidStage<'a> {
    stage: &'a Stage,
    plan: &'a StagePlan,
    places: &'a StagePlaces,
    /// All groups of the strategy.
    groups: &'a [GroupPlan],
}

/// A group likewise; implicit groups (S4) are not among them.
#[derive(Clone, Copy)]
struct LaidGroup<'a> {
    group: &'a Group,
    plan: &'a GroupPlan,
    places: &'a GroupPlaces,
}

impl<'a> Laid<'a> {
    fn of(scenario: &'a Scenario, plan: &'a Plan<'a>) -> Option<Self> {
        let position = scenario.strategies.iter().position(|other| other.name == plan.strategy)?;
        let places = scenario.places.strategies.get(position)?;
        Some(Self { scenario, plan, strategy: &scenario.strategies[position], places })
    }

    /// The stages; none when members update one by one.
    fn stages(&self) -> impl DoubleEndedIterator<Item = LaidStage<'a>> + use<'a> {
        let groups = self.plan.groups.as_slice();
        let resolved = self.plan.stages.as_slice();
        let stages = self.strategy.stages.iter().zip(&self.places.stages).enumerate();
        stages.map(move |(number, (stage, places))| LaidStage {
            stage,
            plan: &resolved[number],
            places,
            groups,
        })
    }
}

impl<'a> LaidStage<'a> {
    fn name(&self) -> &'a str {
        &self.stage.name
    }

    fn groups(&self) -> impl Iterator<Item = LaidGroup<'a>> + use<'a> {
        let plans = &self.groups[self.plan.groups.start as usize..self.plan.groups.end as usize];
        let groups = self.stage.groups.iter().zip(plans).zip(&self.places.groups);
        groups.map(|((group, plan), places)| LaidGroup { group, plan, places })
    }
}

impl LaidGroup<'_> {
    fn name(&self) -> &str {
        &self.group.name
    }

    fn size(&self) -> u32 {
        u32::try_from(self.plan.members.len()).expect("members fit u32")
    }
}

/// The update run over the fleet, whatever the strategy.
struct Run<'a> {
    scenario: &'a Scenario,
    fleet: &'a Fleet,
    update: &'a Update,
    /// The last instant that is simulated.
    end: Timestamp,
    /// Members that a strategy selects, in the fleet's order.
    selected: Vec<MemberId>,
    /// Those of them whose updates look at each window (U9).
    by_window: Column<WindowId, Vec<MemberId>>,
    /// How long updates take that are not scripted.
    typical_updates: TypicalUpdates,
}

impl<'a> Run<'a> {
    fn new(scenario: &'a Scenario, update: &'a Update, plans: &[Plan<'_>]) -> Self {
        let fleet = &scenario.fleet;
        let is_selected = |id: &MemberId| plans.iter().any(|plan| plan.places[*id].is_some());
        let selected: Vec<MemberId> = fleet.members.ids().filter(is_selected).collect();
        let mut by_window: Column<WindowId, Vec<MemberId>> =
            fleet.windows.iter().map(|_| Vec::new()).collect();
        for id in &selected {
            if let Some(window) = Plan::window_of(update, &fleet.members[*id]) {
                by_window[window].push(*id);
            }
        }
        let end = scenario.start + scenario.horizon;
        let typical_updates = TypicalUpdates::of(scenario);
        Self { scenario, fleet, update, end, selected, by_window, typical_updates }
    }

    fn members(&self) -> impl Iterator<Item = (MemberId, &'a Member)> {
        let fleet = self.fleet;
        self.selected.iter().map(|id| (*id, &fleet.members[*id]))
    }

    /// Where the first of some members stands.
    fn first_place(&self, members: &[MemberId]) -> Option<Spot> {
        members.first().map(|first| self.scenario.places.members[*first])
    }

    /// The same warning with the names of all members that are meant.
    fn about(&self, members: &[MemberId], warning: Diagnostic) -> Diagnostic {
        warning.about(member_names(self.fleet, members))
    }

    /// The members by name, for messages.
    fn names(&self, members: &[MemberId]) -> String {
        names(members.iter().map(|id| self.fleet.members[*id].name.as_str()))
    }
}

fn member_names(fleet: &Fleet, members: &[MemberId]) -> Vec<String> {
    members.iter().map(|id| fleet.members[*id].name.clone()).collect()
}

/// A region that the table has.
fn known_region(fleet: &Fleet, id: RegionId) -> Option<&'static Region> {
    regions::find(&fleet.regions[id])
}

/// `a`, `b` and 3 more.
fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(MOST_NAMES).map(|n| format!("`{n}`")).collect();
    let shown = shown.join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `1 member`, `3 members`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// One form for one, another for several.
fn form<'w>(number: usize, one: &'w str, several: &'w str) -> &'w str {
    if number == 1 { one } else { several }
}
