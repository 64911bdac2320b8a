//! The plan: one strategy laid over one fleet, resolved once. A plan cannot be wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bits::Bits;
use crate::calendar::Interval;
use crate::error::Diagnostic;
use crate::fleet::{Fleet, Member, Selector};
use crate::ids::{Column, FamilyId, GateId, GroupId, Id, MemberId, RegionId, StageId, WindowId};
use crate::scheduler::auto_upgrade::Profile;
use crate::scheduler::limits::{Asked, Limits};
use crate::scheduler::target::FirstKinds;
use crate::scheduler::{
    Gate, GateKind, GatePath, GateScope, GateTiming, Group, ServiceLimits, Stage, Strategy, Update,
    Upgrade,
};
use crate::time::{Span, Timestamp};

/// The documented cap and default of a stage's `maxConcurrency` (L2).
pub const STAGE_MAX_CONCURRENCY: u32 = 50;
/// The documented cap of a fleet's members.
pub const FLEET_MAX_MEMBERS: usize = 1_000;
/// The documented cap of a stage's groups (S2).
pub const STAGE_MAX_GROUPS: usize = 50;

/// One strategy × one fleet × one update: who is in which group, and what every limit resolves to.
#[derive(Debug, Clone)]
pub struct Plan<'f> {
    /// The fleet that is updated.
    pub fleet: &'f Fleet,
    /// What the run does.
    pub update: &'f Update,
    /// Name of the strategy.
    pub strategy: &'f str,
    /// Stages in order.
    pub stages: Column<StageId, StagePlan>,
    /// Groups; those of one stage are neighbours.
    pub groups: Column<GroupId, GroupPlan>,
    /// Gates, in the order in which the strategy names them.
    pub gates: Column<GateId, GatePlan>,
    /// Each member's group and position in it; `None` for members that no group selects (S7).
    pub places: Column<MemberId, Option<MemberPlace>>,
    /// Where each member is.
    pub regions: Column<MemberId, RegionId>,
    /// The kinds of members at the start.
    pub(super) kinds: FirstKinds,
    /// Open intervals of each window that counts here, from the run's start to the first opening
    /// past the horizon.
    pub intervals: Column<WindowId, Vec<Interval>>,
    /// For each family, the regions where the run has pools of it (R-I5).
    pub family_regions: Column<FamilyId, Bits>,
    /// Members in the run.
    pub size: u32,
    /// Whose runs the plan is for, if it is for those of an auto-upgrade profile. Its members are
    /// all that the fleet ever has; those that it lacks when a run is made are left out of the run
    /// (R-I21). Other plans are of the members that are there from the beginning.
    pub profile: Option<&'f Profile>,
    /// Plans of the profiles that make runs beside this one's, in the scenario's order.
    pub beside: Vec<Self>,
}

/// Where a member stands in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberPlace {
    /// Its group.
    pub group: GroupId,
    /// Its position among the group's members.
    pub position: u32,
}

/// A stage, resolved.
#[derive(Debug, Clone)]
pub struct StagePlan {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Range<u32>,
    /// Members in it.
    pub size: u32,
    /// Effective ceiling over its groups together (R-G3).
    pub max_concurrency: u32,
    /// Resolved failure budget (L4).
    pub max_allowed_failures: u32,
    /// Gates before it.
    pub before_gates: Range<u32>,
    /// Gates after it.
    pub after_gates: Range<u32>,
    /// The after-stage wait; zero means none (R-F8).
    pub wait: Span,
    /// What the limits were resolved from.
    pub(super) asked: Asked,
}

/// A group, resolved.
#[derive(Debug, Clone)]
pub struct GroupPlan {
    /// Its name; an implicit group has its stage's (R-H1).
    pub name: String,
    /// Its stage.
    pub stage: StageId,
    /// Its members in the fleet's order.
    pub members: Vec<MemberId>,
    /// Effective ceiling, after the clamps of L2 (R-G3, R-G8).
    pub max_concurrency: u32,
    /// The ceiling before it was clamped to the stage's and the size, for warnings.
    pub asked_concurrency: u32,
    /// What the limits were resolved from.
    pub(super) asked: Asked,
    /// Resolved failure budget (L4).
    pub max_allowed_failures: u32,
    /// Gates before it.
    pub before_gates: Range<u32>,
    /// Gates after it.
    pub after_gates: Range<u32>,
    /// Members that share a window, so share their class in O2.
    pub cohorts: Vec<Cohort>,
    /// The cohort of each position.
    pub cohort_of: Vec<u32>,
}

/// The members of a group that share one window, or have none.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// Their window.
    pub window: Option<WindowId>,
    /// Their positions in the group, ascending.
    pub positions: Vec<u32>,
}

/// A gate and its place.
#[derive(Debug, Clone)]
pub struct GatePlan {
    /// `displayName`
    pub display_name: Option<String>,
    /// `type`
    pub kind: GateKind,
    /// Its stage.
    pub stage: StageId,
    /// Its group, if it is a group's.
    pub group: Option<GroupId>,
    /// Before or after.
    pub timing: GateTiming,
    /// How people name it.
    pub path: GatePath,
}

impl GatePlan {
    /// The gate's key in events: `before`, `after/NAME` (R-K1).
    pub fn key(&self) -> String {
        let timing = if self.timing == GateTiming::Before { "before" } else { "after" };
        match &self.display_name {
            Some(name) => format!("{timing}/{name}"),
            None => timing.to_owned(),
        }
    }

    /// Whether it is a stage's or a group's.
    pub const fn scope(&self) -> GateScope {
        if self.group.is_some() { GateScope::Group } else { GateScope::Stage }
    }
}

/// Ids of a range.
pub(crate) fn ids<I: Id>(range: &Range<u32>) -> impl DoubleEndedIterator<Item = I> + use<I> {
    (range.start as usize..range.end as usize).map(I::new)
}

impl<'f> Plan<'f> {
    /// Lays `strategy` over `fleet`.
    ///
    /// # Errors
    /// A member that more than one group chooses (S6); under [`ServiceLimits::Azure`] more than
    /// 1,000 members.
    pub fn compile(
        strategy: &'f Strategy,
        fleet: &'f Fleet,
        update: &'f Update,
        limits: ServiceLimits,
        clock: Range<Timestamp>,
    ) -> Result<Self, Vec<Diagnostic>> {
        Self::compile_for(None, strategy, fleet, update, limits, &clock)
    }

    fn compile_for(
        profile: Option<&'f Profile>,
        strategy: &'f Strategy,
        fleet: &'f Fleet,
        update: &'f Update,
        limits: ServiceLimits,
        clock: &Range<Timestamp>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut plan = Self {
            fleet,
            update,
            strategy: &strategy.name,
            stages: Column::new(),
            groups: Column::new(),
            gates: Column::new(),
            places: fleet.members.iter().map(|_| None).collect(),
            regions: fleet.members.iter().map(|member| member.region).collect(),
            kinds: FirstKinds::of(fleet),
            intervals: fleet.windows.iter().map(|_| Vec::new()).collect(),
            family_regions: fleet.families.iter().map(|_| Bits::new(fleet.regions.len())).collect(),
            size: 0,
            profile,
            beside: Vec::new(),
        };
        let one_by_one = [one_by_one()];
        let stages = if strategy.stages.is_empty() { &one_by_one } else { &strategy.stages[..] };
        let mut errors = Vec::new();
        if limits == ServiceLimits::Azure && fleet.members.len() > FLEET_MAX_MEMBERS {
            let message =
                format!("a fleet has at most 1,000 members, this one {}", fleet.members.len());
            errors.push(
                Diagnostic::error("L2", message)
                    .hint("`serviceLimits: none` lifts the service's caps"),
            );
        }
        let everybody = strategy.stages.is_empty();
        for stage in stages {
            plan.add_stage(stage, everybody, limits, &mut errors);
        }
        plan.finish(clock);
        if errors.is_empty() { Ok(plan) } else { Err(errors) }
    }

    /// Lays the strategies of auto-upgrade profiles over the same fleet, beside this plan.
    ///
    /// # Errors
    /// The same as of [`Self::compile`].
    pub fn with_profiles(
        mut self,
        profiles: &'f [Profile],
        limits: ServiceLimits,
        clock: &Range<Timestamp>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for profile in profiles {
            let (strategy, update) = (&profile.strategy, &profile.update);
            match Self::compile_for(Some(profile), strategy, self.fleet, update, limits, clock) {
                Ok(plan) => self.beside.push(plan),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    fn add_stage(
        &mut self,
        stage: &Stage,
        everybody: bool,
        limits: ServiceLimits,
        errors: &mut Vec<Diagnostic>,
    ) {
        let id = StageId::new(self.stages.len());
        let implicit = stage.groups.is_empty();
        let selectors: Vec<Chooser<'_>> = if everybody {
            vec![Chooser { name: &stage.name, by: Choice::Everybody }]
        } else if implicit {
            vec![Chooser { name: &stage.name, by: Choice::Stage }]
        } else {
            stage.groups.iter().map(Chooser::of).collect()
        };
        let chosen: Vec<Vec<MemberId>> = selectors
            .iter()
            .enumerate()
            .map(|(index, chooser)| self.choose(stage, chooser, index, errors))
            .collect();
        let size =
            u32::try_from(chosen.iter().map(Vec::len).sum::<usize>()).expect("members fit u32");
        let asked = Asked::of_stage(stage, limits);
        let Limits { max_concurrency, max_allowed_failures, .. } = asked.stage(size);
        let owner = (stage.name.as_str(), id, None);
        let before_gates = self.add_gates(&stage.before_gates, owner, GateTiming::Before);
        let first = self.groups.len();
        for (index, members) in chosen.into_iter().enumerate() {
            if implicit && !everybody {
                self.add_implicit_group(stage, id, members, max_concurrency);
            } else if everybody {
                self.add_group(&Group::plain(&stage.name), id, members, max_concurrency);
            } else {
                self.add_group(&stage.groups[index], id, members, max_concurrency);
            }
        }
        let groups = u32::try_from(first).expect("groups fit u32")
            ..u32::try_from(self.groups.len()).expect("groups fit u32");
        let after_gates = self.add_gates(&stage.after_gates, owner, GateTiming::After);
        self.size += size;
        self.stages.push(StagePlan {
            name: stage.name.clone(),
            groups,
            size,
            max_concurrency,
            max_allowed_failures,
            before_gates,
            after_gates,
            wait: stage.after_stage_wait,
            asked,
        });
    }

    /// The members that one group of a stage chooses (S3, S4), in the fleet's order.
    fn choose(
        &mut self,
        stage: &Stage,
        chooser: &Chooser<'_>,
        index: usize,
        errors: &mut Vec<Diagnostic>,
    ) -> Vec<MemberId> {
        let (fleet, mut members) = (self.fleet, Vec::new());
        let group = GroupId::new(self.groups.len() + index);
        for (id, member) in fleet.members.iter_with_ids() {
            let inside = stage.member_selector.as_ref().is_none_or(|s| s.matches(&member.labels));
            let comes_late = member.joins && self.profile.is_none();
            if !inside || comes_late || !chooser.chooses(member) {
                continue;
            }
            if let Some(other) = self.places[id] {
                let first = self.group_name(other.group, stage);
                let message = format!(
                    "strategy `{}`: member `{}` is chosen by more than one group: \
                     `{first}` and `{}`",
                    self.strategy, member.name, chooser.name
                );
                errors.push(
                    Diagnostic::error("S6", message)
                        .hint("a member can be in one group of a run only; narrow a selector"),
                );
                continue;
            }
            let position = u32::try_from(members.len()).expect("members fit u32");
            self.places[id] = Some(MemberPlace { group, position });
            members.push(id);
        }
        members
    }

    /// The name of a group that may still be in the making, inside `stage`.
    fn group_name(&self, id: GroupId, stage: &Stage) -> String {
        match id.index().checked_sub(self.groups.len()) {
            None => self.groups[id].name.clone(),
            Some(index) => stage.groups.get(index).map_or(&stage.name, |group| &group.name).clone(),
        }
    }

    fn add_implicit_group(
        &mut self,
        stage: &Stage,
        id: StageId,
        members: Vec<MemberId>,
        ceiling: u32,
    ) {
        let size = u32::try_from(members.len()).expect("members fit u32");
        let asked = Asked::of_implicit_group(stage);
        let Limits { max_concurrency, max_allowed_failures, .. } = asked.group(size, ceiling);
        self.groups.push(GroupPlan {
            name: stage.name.clone(),
            stage: id,
            members,
            max_concurrency,
            asked_concurrency: max_concurrency,
            asked,
            max_allowed_failures,
            before_gates: 0..0,
            after_gates: 0..0,
            cohorts: Vec::new(),
            cohort_of: Vec::new(),
        });
    }

    fn add_group(&mut self, group: &Group, stage: StageId, members: Vec<MemberId>, ceiling: u32) {
        let size = u32::try_from(members.len()).expect("members fit u32");
        let id = GroupId::new(self.groups.len());
        let asked = Asked::of_group(group);
        let Limits { max_concurrency, max_allowed_failures, .. } = asked.group(size, ceiling);
        let owner = (group.name.as_str(), stage, Some(id));
        let before_gates = self.add_gates(&group.before_gates, owner, GateTiming::Before);
        let after_gates = self.add_gates(&group.after_gates, owner, GateTiming::After);
        self.groups.push(GroupPlan {
            name: group.name.clone(),
            stage,
            members,
            max_concurrency,
            asked_concurrency: asked.concurrency(size),
            asked,
            max_allowed_failures,
            before_gates,
            after_gates,
            cohorts: Vec::new(),
            cohort_of: Vec::new(),
        });
    }

    fn add_gates(
        &mut self,
        gates: &[Gate],
        (owner, stage, group): (&str, StageId, Option<GroupId>),
        timing: GateTiming,
    ) -> Range<u32> {
        let first = u32::try_from(self.gates.len()).expect("gates fit u32");
        let scope = if group.is_some() { GateScope::Group } else { GateScope::Stage };
        for gate in gates {
            let display_name = gate.display_name.clone();
            let name = owner.to_owned();
            let path = GatePath { scope, name, timing, display_name: display_name.clone() };
            self.gates.push(GatePlan { display_name, kind: gate.kind, stage, group, timing, path });
        }
        first..first + u32::try_from(gates.len()).expect("gates fit u32")
    }

    /// All members of all groups, group after group.
    pub fn members(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.groups.iter().flat_map(|group| group.members.iter().copied())
    }

    /// The window that an update of this type looks at (U9).
    pub fn window_of(update: &Update, member: &Member) -> Option<WindowId> {
        match update.upgrade {
            Upgrade::Full(_) | Upgrade::ControlPlaneOnly(_) => member.kubernetes_window,
            Upgrade::NodeImageOnly => member.node_os_window,
        }
    }

    /// Cohorts, window intervals, and where the run has which families.
    fn finish(&mut self, clock: &Range<Timestamp>) {
        for group in &mut self.groups {
            let mut by_window: BTreeMap<Option<WindowId>, Vec<u32>> = BTreeMap::new();
            for (position, id) in (0..).zip(&group.members) {
                let member = &self.fleet.members[*id];
                by_window.entry(Self::window_of(self.update, member)).or_default().push(position);
                for pool in &member.pools {
                    self.family_regions[pool.image.family()].insert(member.region.0);
                }
            }
            group.cohort_of = vec![0; group.members.len()];
            for (cohort, (window, positions)) in (0..).zip(by_window) {
                for position in &positions {
                    group.cohort_of[*position as usize] = cohort;
                }
                group.cohorts.push(Cohort { window, positions });
            }
        }
        let used = self.groups.iter().flat_map(|g| g.cohorts.iter().filter_map(|c| c.window));
        for window in used {
            if self.intervals[window].is_empty() {
                self.intervals[window] = intervals_until(&self.fleet.windows[window], clock);
            }
        }
    }
}

/// The open intervals of a window from the clock's start to the first that opens past its end.
fn intervals_until(window: &crate::calendar::Window, clock: &Range<Timestamp>) -> Vec<Interval> {
    let mut intervals = Vec::new();
    for interval in window.intervals_from(clock.start) {
        intervals.push(interval);
        if interval.open > clock.end {
            break;
        }
    }
    intervals
}

/// The one stage of a run without a strategy (S8, R-H2).
fn one_by_one() -> Stage {
    Stage {
        name: "default".to_owned(),
        groups: Vec::new(),
        member_selector: None,
        max_concurrency: None,
        max_allowed_failures: None,
        before_gates: Vec::new(),
        after_gates: Vec::new(),
        after_stage_wait: Span::ZERO,
    }
}

impl Group {
    fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            member_selector: None,
            max_concurrency: None,
            max_allowed_failures: None,
            before_gates: Vec::new(),
            after_gates: Vec::new(),
        }
    }
}

/// How one group of a stage chooses inside it.
struct Chooser<'a> {
    name: &'a str,
    by: Choice<'a>,
}

enum Choice<'a> {
    /// One by one: every member (S8).
    Everybody,
    /// An implicit group: whoever the stage's selector matches (S4).
    Stage,
    /// The group's own selector (S3).
    Selector(&'a Selector),
    /// The member's `updateGroup` (S3).
    Name,
}

impl<'a> Chooser<'a> {
    fn of(group: &'a Group) -> Self {
        let by = group.member_selector.as_ref().map_or(Choice::Name, Choice::Selector);
        Self { name: &group.name, by }
    }

    fn chooses(&self, member: &Member) -> bool {
        match &self.by {
            Choice::Everybody | Choice::Stage => true,
            Choice::Selector(selector) => selector.matches(&member.labels),
            Choice::Name => member.update_group.as_deref() == Some(self.name),
        }
    }
}
