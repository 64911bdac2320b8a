//! Every number that a scenario assumes, by its key: the inputs of a sensitivity analysis.

use super::number::{MOST, Number, Part};
use crate::scenario::Scenario;
use crate::sim::campaign::{Asked, Habit};
use crate::sim::model::{
    Approvers, DefectModel, Distribution, DurationModel, FailureModel, Halt, LivePatchModel,
    Mishap, Mishaps, ReleaseModel, Stopping, WorldModel,
};
use crate::sim::nodes::{BudgetModel, CapacityModel, NodeModel, ThrottlingModel};
use crate::time::Span;
use Number::{Amount, Count, Drawn, Probability, Time, Times};

/// An assumption of scenarios.
struct Assumed {
    /// The keys of its [parts](Part), in their order.
    keys: [&'static str; Part::ALL.len()],
    /// Its numbers; none where a scenario has no such assumption, or nothing is drawn from it.
    numbers: for<'a> fn(&'a mut Scenario) -> Vec<Number<'a>>,
}

/// An input: a number that is assumed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Its position in [`ASSUMED`].
    assumption: usize,
    part: Part,
}

/// Declares assumptions, a line each: the key, and where its numbers stand in a scenario.
macro_rules! assumed {
    ($($key:literal: |$scenario:ident| $numbers:expr;)+) => {
        /// All assumptions, in the order of `docs/world.md`.
        const ASSUMED: &[Assumed] = &[$(Assumed {
            keys: [
                $key,
                concat!($key, ".lognormal.sigma"),
                concat!($key, ".mixture.weight"),
                concat!($key, ".beta"),
            ],
            numbers: |$scenario| Vec::from_iter($numbers),
        }),+];
    };
}

assumed! {
    "update.pollInterval": |s| update(s).map(|s| Time(&mut s.update.poll_interval, Span::ZERO));
    "autoUpgradeProfiles.pollInterval": |s| {
        s.profiles.iter_mut().map(|of| Time(&mut of.update.poll_interval, Span::ZERO))
    };
    "world.durations.update": |s| cluster(s).map(Drawn);
    "world.durations.factors.times": |s| durations(s).into_iter().flat_map(|s| {
        s.world.duration_factors.iter_mut().map(|of| Times(&mut of.times))
    });
    "world.durations.controlPlane":
        |s| kubernetes(s).and_then(nodes).map(|of| Drawn(&mut of.control_plane));
    "world.durations.createSurge": |s| nodes(s).map(|of| Drawn(&mut of.create_surge));
    "world.durations.drain": |s| nodes(s).map(|of| Drawn(&mut of.drain));
    "world.durations.reimage": |s| nodes(s).map(|of| Drawn(&mut of.reimage));
    "world.durations.removeSurge": |s| nodes(s).map(|of| Drawn(&mut of.remove_surge));
    "world.durations.windowsFactor":
        |s| windows(s).and_then(nodes).map(|of| Times(&mut of.windows_factor));
    "world.disruptionBudgets.probability":
        |s| budgets(s).map(|of| Probability(&mut of.probability));
    "world.disruptionBudgets.caught": |s| budgets(s).map(|of| Probability(&mut of.caught));
    "world.disruptionBudgets.mended": |s| budgets(s).and_then(|of| of.mended.as_mut()).map(Drawn);
    "world.quota.probability": |s| quota(s).map(|of| Probability(&mut of.probability));
    "world.quota.lasts": |s| quota(s).map(|of| Drawn(&mut of.lasts));
    "world.quota.total": |s| quota(s).map(|of| Probability(&mut of.total));
    "world.throttling.atMost":
        |s| throttling(s).map(|of| Count(&mut of.at_most, 1..=of.refused_above.unwrap_or(MOST)));
    "world.throttling.refusedAbove": |s| throttling(s).and_then(|of| {
        of.refused_above.as_mut().map(|above| Count(above, of.at_most..=MOST))
    });
    "world.failures.probability": |s| failures(s).into_iter().flat_map(probabilities);
    "world.failures.minorProbability": |s| kubernetes(s).and_then(failures).and_then(of_minors);
    "world.failures.where.probability": |s| failures(s).into_iter().flat_map(|of| {
        of.rules.iter_mut().map(|rule| Probability(&mut rule.probability))
    });
    "world.failures.transient": |s| failures(s).map(|of| Probability(&mut of.transient));
    "world.defects.probability":
        |s| defects(s).filter(|of| is_same(of)).into_iter().flat_map(|of| {
            [&mut of.node_image, &mut of.patch, &mut of.minor].map(Probability)
        });
    "world.defects.probability.nodeImage":
        |s| of_kinds(s).map(|of| Probability(&mut of.node_image));
    "world.defects.probability.patch":
        |s| kubernetes(s).and_then(of_kinds).map(|of| Probability(&mut of.patch));
    "world.defects.probability.minor":
        |s| kubernetes(s).and_then(of_kinds).map(|of| Probability(&mut of.minor));
    "world.defects.share": |s| defects(s).map(|of| Drawn(&mut of.share));
    "world.defects.breaks": |s| defects(s).map(|of| Probability(&mut of.breaks));
    "world.defects.atOnce": |s| defects(s).map(|of| Probability(&mut of.at_once));
    "world.defects.degradesAfter": |s| defects(s).map(|of| Drawn(&mut of.degrades_after));
    "world.defects.noticedAfter": |s| defects(s).map(|of| Drawn(&mut of.noticed_after));
    "world.defects.halt.members": |s| halt(s).map(|of| Count(&mut of.members, 1..=MOST));
    "world.defects.halt.after": |s| halt(s).map(|of| Drawn(&mut of.after));
    "world.defects.fixedAfter":
        |s| defects(s).filter(|of| of.halt.is_some()).map(|of| Drawn(&mut of.fixed_after));
    "world.releases.abandoned":
        |s| mishaps(s).and_then(|of| of.abandoned.as_mut()).map(Probability);
    "world.releases.delayed.probability": |s| delayed(s).map(|of| Probability(&mut of.probability));
    "world.releases.delayed.for": |s| delayed(s).map(|of| Drawn(&mut of.after));
    "world.releases.withdrawn.probability":
        |s| withdrawn(s).map(|of| Probability(&mut of.probability));
    "world.releases.withdrawn.after": |s| withdrawn(s).map(|of| Drawn(&mut of.after));
    "world.outages.every": |s| s.world.outages.as_mut().map(|of| Drawn(&mut of.every));
    "world.outages.lasts": |s| s.world.outages.as_mut().map(|of| Drawn(&mut of.lasts));
    "world.people.approvers.delay": |s| approvers(s).map(|of| Drawn(&mut of.delay));
    "world.people.approvers.tolerance": |s| approvers(s).map(|of| Amount(&mut of.tolerance));
    "world.people.restart.after":
        |s| people(s).and_then(|of| of.restarter.as_mut()).map(|of| Drawn(&mut of.after));
    "world.people.restart.atMost": |s| {
        people(s).and_then(|of| of.restarter.as_mut()).map(|of| Count(&mut of.at_most, 0..=MOST))
    };
    "world.people.watchers.limit":
        |s| people(s).and_then(|of| of.watchers.as_mut()).map(|of| Amount(&mut of.limit));
    "world.people.watchers.reaction":
        |s| people(s).and_then(|of| of.watchers.as_mut()).map(|of| Drawn(&mut of.reaction));
    "world.people.skipPending.after":
        |s| people(s).and_then(|of| of.skipper.as_mut()).map(|of| Drawn(&mut of.after));
    "world.people.startAgain.after":
        |s| people(s).and_then(|of| of.starter.as_mut()).map(|of| Drawn(&mut of.after));
    "world.ownUpgrades.delay": |s| own_upgrades(s).map(Drawn);
    "world.livePatches.reimage": |s| patches(s).map(|of| Probability(&mut of.reimage));
    "world.livePatches.takes": |s| patches(s).map(|of| Drawn(&mut of.takes));
    "configurationChanges.at": |s| s.campaigns.iter_mut().filter_map(|of| match &mut of.asked {
        Asked::Drawn(at) => Some(Drawn(at)),
        Asked::After(_) | Asked::Stages { .. } | Asked::WithUpdate => None,
    });
    "configurationChanges.onRefused.retryEvery":
        |s| s.campaigns.iter_mut().filter_map(|of| match &mut of.on_refused {
            Habit::RetryEvery(every) => Some(Time(every, Span::MINUTE)),
            Habit::GiveUp | Habit::RetryInWindow | Habit::ChangePolicy => None,
        });
    "world.churn.stopped.every": |s| stopped(s).map(|of| Drawn(&mut of.every));
    "world.churn.stopped.lasts": |s| stopped(s).map(|of| Drawn(&mut of.lasts));
    "world.churn.join.every": |s| s.world.churn.iter_mut().flat_map(|of| {
        of.join.iter_mut().map(|kind| Drawn(&mut kind.every))
    });
    "world.churn.leave.after": |s| {
        s.world.churn.as_mut().and_then(|of| of.leave.as_mut()).map(|of| Drawn(&mut of.after))
    };
    "world.churn.addPool.after": |s| s.world.churn.iter_mut().flat_map(|of| {
        of.add_pool.iter_mut().map(|entry| Drawn(&mut entry.after))
    });
}

impl Input {
    /// All that there can be, in the order of the assumptions.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ASSUMED.len()).flat_map(|assumption| Part::ALL.map(|part| Self { assumption, part }))
    }

    /// The input with a key.
    pub fn named(key: &str) -> Option<Self> {
        Self::all().find(|input| input.key() == key)
    }

    /// Its key in the scenario; lists go without their positions, as all their items are
    /// multiplied.
    pub fn key(self) -> &'static str {
        ASSUMED[self.assumption].keys[self.part.position()]
    }

    /// Multiplies this input of a scenario; whether the scenario has such an input, something
    /// draws from it, and it is not what it was.
    pub fn multiply(self, scenario: &mut Scenario, factor: f64) -> bool {
        let numbers = (ASSUMED[self.assumption].numbers)(scenario).into_iter();
        // All of them, not only up to the first that changes.
        numbers.fold(false, |any, number| number.multiply(self.part, factor) | any)
    }

    /// The scenario with this input multiplied; `None` if nothing is multiplied.
    pub fn multiplied(self, scenario: &Scenario, factor: f64) -> Option<Scenario> {
        let mut varied = scenario.clone();
        self.multiply(&mut varied, factor).then_some(varied)
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

// What is assumed in vain where the scenario does not look at it.

/// With an update of its own.
fn update(s: &mut Scenario) -> Option<&mut Scenario> {
    s.updates_somebody().then_some(s)
}

/// Where there are runs that people look after.
fn people(s: &mut Scenario) -> Option<&mut WorldModel> {
    s.has_runs().then_some(&mut s.world)
}

/// Where updates can fail.
fn failures(s: &mut Scenario) -> Option<&mut FailureModel> {
    (s.has_runs() || s.has_own_upgrades()).then_some(s)?.world.failures.as_mut()
}

/// Where something moves Kubernetes versions.
fn kubernetes(s: &mut Scenario) -> Option<&mut Scenario> {
    s.moves_kubernetes().then_some(s)
}

/// Where there are Windows pools.
fn windows(s: &mut Scenario) -> Option<&mut Scenario> {
    s.has_windows().then_some(s)
}

/// Where there are gates that somebody approves.
fn approvers(s: &mut Scenario) -> Option<&mut Approvers> {
    s.asks_for_approvals().then_some(s)?.world.approvers.as_mut()
}

/// Where members upgrade themselves.
fn own_upgrades(s: &mut Scenario) -> Option<&mut Distribution> {
    s.has_own_upgrades().then_some(s)?.world.own_upgrades.as_mut()
}

/// Where security patches go in, and not by a script.
fn patches(s: &mut Scenario) -> Option<&mut LivePatchModel> {
    s.patches_live().then_some(s)?.world.live_patches.as_mut()
}

/// Where the world says how long things take.
fn durations(s: &mut Scenario) -> Option<&mut Scenario> {
    s.draws_durations().then_some(s)
}

fn cluster(s: &mut Scenario) -> Option<&mut Distribution> {
    match &mut durations(s)?.world.durations {
        DurationModel::Cluster(update) => Some(update),
        DurationModel::Nodes(_) => None,
    }
}

fn nodes(s: &mut Scenario) -> Option<&mut NodeModel> {
    match &mut durations(s)?.world.durations {
        DurationModel::Nodes(nodes) => Some(nodes),
        DurationModel::Cluster(_) => None,
    }
}

fn budgets(s: &mut Scenario) -> Option<&mut BudgetModel> {
    durations(s).filter(|s| s.script.budgets.is_none())?.world.budgets.as_mut()
}

fn quota(s: &mut Scenario) -> Option<&mut CapacityModel> {
    durations(s).filter(|s| s.script.capacity.is_none())?.world.capacity.as_mut()
}

/// Updates slow each other down, but not those of a script.
fn throttling(s: &mut Scenario) -> Option<&mut ThrottlingModel> {
    s.world.throttling.as_mut().filter(|_| s.script.updates.is_none())
}

fn defects(s: &mut Scenario) -> Option<&mut DefectModel> {
    s.world.defects.as_mut().filter(|_| s.script.defects.is_none())
}

fn halt(s: &mut Scenario) -> Option<&mut Halt> {
    defects(s)?.halt.as_mut()
}

/// Defects whose kinds of release are not all equally probable.
fn of_kinds(s: &mut Scenario) -> Option<&mut DefectModel> {
    defects(s).filter(|of| !is_same(of))
}

fn stopped(s: &mut Scenario) -> Option<&mut Stopping> {
    s.world.churn.as_mut()?.stopped.as_mut()
}

fn mishaps(s: &mut Scenario) -> Option<&mut Mishaps> {
    (s.world.releases == ReleaseModel::Train).then_some(&mut s.world.mishaps)
}

fn delayed(s: &mut Scenario) -> Option<&mut Mishap> {
    mishaps(s)?.delayed.as_mut()
}

fn withdrawn(s: &mut Scenario) -> Option<&mut Mishap> {
    mishaps(s)?.withdrawn.as_mut()
}

/// Probability that an update fails, and that of minors where it is the same number.
fn probabilities(of: &mut FailureModel) -> impl Iterator<Item = Number<'_>> {
    let same = of.minor_probability.to_bits() == of.probability.to_bits();
    let minor = Some(&mut of.minor_probability).filter(|_| same);
    [&mut of.probability].into_iter().chain(minor).map(Probability)
}

/// The probability of minors, where it is one of its own.
fn of_minors(of: &mut FailureModel) -> Option<Number<'_>> {
    let same = of.minor_probability.to_bits() == of.probability.to_bits();
    (!same).then_some(Probability(&mut of.minor_probability))
}

/// Whether all kinds of release are equally often defective: then it is one number.
fn is_same(of: &DefectModel) -> bool {
    [of.patch, of.minor].iter().all(|other| other.to_bits() == of.node_image.to_bits())
}
