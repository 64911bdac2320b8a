//! What one replication came to.

use crate::scheduler::auto_upgrade::Target;
use crate::scheduler::{RunStatus, Scheduler, State};
use crate::sim::behind::Behind;
use crate::sim::{Ascending, Changes, Costs, Course, Delays, Exposure, Trace, Versions};
use crate::time::{Span, Timestamp};

/// How a replication ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The run is Completed.
    Completed,
    /// The run is Skipped: nobody had anything to do.
    Skipped,
    /// The run is Failed, and nobody started it again before the horizon.
    Failed,
    /// The run is Stopped.
    Stopped,
    /// The run was still going on at the horizon.
    Horizon,
}

impl End {
    /// All ends, in the order in which results show them.
    pub const ALL: [Self; 5] =
        [Self::Completed, Self::Skipped, Self::Failed, Self::Stopped, Self::Horizon];

    /// The word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "Completed",
            Self::Skipped => "Skipped",
            Self::Failed => "Failed",
            Self::Stopped => "Stopped",
            Self::Horizon => "horizon",
        }
    }
}

/// One replication of one strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// From the start to the run's final state; `None` when it never came (censored).
    pub makespan: Option<Span>,
    /// Members in the run.
    pub members: u32,
    /// Members that were updated.
    pub updated: u32,
    /// Members that are Failed.
    pub failed: u32,
    /// Members that are Skipped.
    pub skipped: u32,
    /// Members that are Pending, or in the middle of an update at the horizon.
    pub pending: u32,
    /// Members that were never tried.
    pub not_started: u32,
    /// Approvals that people gave.
    pub approvals: u32,
    /// Restarts by people.
    pub restarts: u32,
    /// When each member was done, ascending, in milliseconds from the start: Completed, or Skipped
    /// because it was at or past the target.
    pub done: Ascending,
    /// A digest of everything that happened.
    pub trace: Trace,
    /// Where the makespan went; all zero unless [`crate::sim::Simulation::delays`] filled it in.
    pub delays: Delays,
    /// What the configuration changes came to; all zero without them.
    pub changes: Changes,
    /// The same of each campaign, in the scenario's order.
    pub campaigns: Vec<Changes>,
    /// What updates and changes cost; nothing of updates where the world knows no nodes.
    pub costs: Costs,
    /// Who ran a defective release, and for how long; nobody without defects (W7).
    pub exposure: Exposure,
    /// How far behind members were; zero unless [`crate::sim::Simulation::versions`] filled it in.
    pub versions: Versions,
    /// What auto-upgrade came to; `None` without profiles.
    pub autonomous: Option<Box<Autonomous>>,
}

/// What auto-upgrade came to in one replication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Autonomous {
    /// The runs that profiles made, in that order.
    pub runs: Vec<ProfileRun>,
    /// How far behind each profile the members were: by profile, then cohort
    /// ([`crate::sim::behind::Cohorts`]).
    pub behind: Vec<Vec<Behind>>,
    /// The same as time went on, as the mean over the members that were there, in whole seconds: by
    /// profile, then step ([`crate::sim::behind::STEPS`]).
    pub over_time: Vec<Vec<u32>>,
    /// Upgrades that members' own channels did (U10).
    pub own_upgrades: u32,
    /// Nodes that got a security patch without a reimage (A2).
    pub live_patched_nodes: u32,
}

/// One run that a profile made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRun {
    /// The position of its profile.
    pub profile: usize,
    /// Its name.
    pub name: String,
    /// What it aimed at, as in its name.
    pub target: String,
    /// When it was made; this and the other times count from the scenario's start.
    pub made: Span,
    /// When it was started; `None`: it was generated, and nobody started it (A8).
    pub started: Option<Span>,
    /// When it reached its final state.
    pub ended: Option<Span>,
    /// When its profile made the next run, while this one was still going on (A7).
    pub overtaken: Option<Span>,
    /// Its state at the end.
    pub state: State,
    /// Its members, by what became of them.
    pub counts: Counts,
}

/// Members of a run by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Members that were updated.
    pub updated: u32,
    /// Members that are Failed.
    pub failed: u32,
    /// Members that are Skipped.
    pub skipped: u32,
    /// Members that are Pending, or in the middle of an update at the horizon.
    pub pending: u32,
    /// Members that were never tried.
    pub not_started: u32,
}

impl Outcome {
    /// Members that were updated or failed, in all runs, and members' own upgrades.
    pub fn updates(&self) -> u64 {
        let of = |updated: u32, failed: u32| u64::from(updated) + u64::from(failed);
        let own = self.autonomous.iter().map(|autonomous| {
            let runs = autonomous.runs.iter().map(|run| of(run.counts.updated, run.counts.failed));
            u64::from(autonomous.own_upgrades) + runs.sum::<u64>()
        });
        of(self.updated, self.failed) + own.sum::<u64>()
    }
}

impl Counts {
    fn of(scheduler: &Scheduler<'_>) -> Self {
        let by_state = scheduler.members_by_state();
        let of = |state: State| by_state[state as usize];
        Self {
            updated: of(State::Completed),
            failed: of(State::Failed),
            skipped: of(State::Skipped),
            pending: of(State::Pending) + of(State::Running),
            not_started: of(State::NotStarted),
        }
    }
}

impl ProfileRun {
    /// What a run of a profile came to.
    pub(super) fn of(
        scheduler: &Scheduler<'_>,
        start: Timestamp,
        (profile, name, target): (usize, &str, &Target),
        (made, overtaken): (Timestamp, Option<Timestamp>),
    ) -> Self {
        let RunStatus { state, times, .. } = *scheduler.run();
        let is_over = matches!(state, State::Completed | State::Skipped);
        Self {
            profile,
            name: name.to_owned(),
            target: target.to_string(),
            made: made - start,
            started: times.started.map(|at| at - start),
            ended: times.completed.filter(|_| is_over).map(|at| at - start),
            overtaken: overtaken.map(|at| at - start),
            state,
            counts: Counts::of(scheduler),
        }
    }

    /// From its start to its end; `None` when it never ended.
    pub fn makespan(&self) -> Option<Span> {
        Some(self.ended? - self.started?)
    }
}

impl Outcome {
    /// What a replication came to.
    pub(super) fn of(
        scheduler: &Scheduler<'_>,
        course: &Course,
        start: Timestamp,
        horizon: Timestamp,
    ) -> Self {
        let run = scheduler.run();
        let end = match run.state {
            State::Completed => End::Completed,
            State::Skipped => End::Skipped,
            State::Failed => End::Failed,
            State::Stopped => End::Stopped,
            State::NotStarted | State::Pending | State::Running | State::Stopping => End::Horizon,
        };
        let finished = matches!(end, End::Completed | End::Skipped);
        let completed = run.times.completed.filter(|at| finished && *at <= horizon);
        let counts = Counts::of(scheduler);
        Self {
            end,
            makespan: completed.map(|at| at - start),
            members: scheduler.plan().size,
            updated: counts.updated,
            failed: counts.failed,
            skipped: counts.skipped,
            pending: counts.pending,
            not_started: counts.not_started,
            approvals: scheduler.approvals(),
            restarts: scheduler.restarts(),
            done: course.done.clone(),
            trace: course.trace,
            delays: Delays::default(),
            changes: Changes::default(),
            campaigns: Vec::new(),
            costs: Costs::default(),
            exposure: Exposure::default(),
            versions: Versions::default(),
            autonomous: None,
        }
    }

    /// The first instant at which this share of the run's members is done; `None` when it never
    /// was (censored).
    pub fn time_to(&self, percent: u32) -> Option<Span> {
        let needed = (u64::from(self.members) * u64::from(percent)).div_ceil(100);
        match usize::try_from(needed).expect("members fit usize") {
            0 => Some(Span::ZERO),
            needed => self.done.get(needed - 1).map(Span::from_millis),
        }
    }
}
