//! Limits: what a strategy asks for, and what that comes to for so many members (L1, L2, L4).

use crate::fleet::Amount;
use crate::scheduler::plan::{GroupPlan, StagePlan};
use crate::scheduler::{Group, STAGE_MAX_CONCURRENCY, ServiceLimits, Stage};

/// What a strategy says about the limits of a stage or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    concurrency: Amount,
    /// Most that the service allows.
    cap: u32,
    failures: Option<Amount>,
}

/// The limits of a stage or a group, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Members that they were resolved for.
    pub size: u32,
    /// Most updates at a time (R-G3).
    pub max_concurrency: u32,
    /// Most failures that are borne (L4).
    pub max_allowed_failures: u32,
}

impl StagePlan {
    /// Its limits.
    pub(super) const fn limits(&self) -> Limits {
        let Self { size, max_concurrency, max_allowed_failures, .. } = *self;
        Limits { size, max_concurrency, max_allowed_failures }
    }
}

impl GroupPlan {
    /// Its limits.
    pub(super) fn limits(&self) -> Limits {
        let Self { max_concurrency, max_allowed_failures, .. } = *self;
        let size = u32::try_from(self.members.len()).expect("members fit u32");
        Limits { size, max_concurrency, max_allowed_failures }
    }
}

/// Those of nobody.
pub(super) const NO_LIMITS: Limits =
    Limits { size: 0, max_concurrency: 1, max_allowed_failures: 0 };

impl Asked {
    pub(super) fn of_stage(stage: &Stage, limits: ServiceLimits) -> Self {
        Self {
            concurrency: stage.max_concurrency.unwrap_or(Amount::Count(STAGE_MAX_CONCURRENCY)),
            cap: if limits == ServiceLimits::Azure { STAGE_MAX_CONCURRENCY } else { u32::MAX },
            failures: stage.max_allowed_failures,
        }
    }

    pub(super) fn of_group(group: &Group) -> Self {
        let concurrency = group.max_concurrency.unwrap_or(Amount::Count(1));
        Self { concurrency, cap: u32::MAX, failures: group.max_allowed_failures }
    }

    /// An implicit group has its stage's (S4, R-G4).
    pub(super) fn of_implicit_group(stage: &Stage) -> Self {
        let concurrency = Amount::Percent(100);
        Self { concurrency, cap: u32::MAX, failures: stage.max_allowed_failures }
    }

    /// What is asked for a stage or group of this size, before it is clamped to anything else's.
    pub(super) fn concurrency(&self, size: u32) -> u32 {
        self.concurrency.of_rounded_down(size).clamp(1, self.cap)
    }

    /// The limits of a stage of this size.
    pub(super) fn stage(&self, size: u32) -> Limits {
        Limits {
            size,
            max_concurrency: self.concurrency(size),
            max_allowed_failures: self.failures.map_or(0, |amount| amount.of_rounded_up(size)),
        }
    }

    /// The limits of a group of this size in a stage with this ceiling (L2, R-G6, R-G8).
    pub(super) fn group(&self, size: u32, ceiling: u32) -> Limits {
        let all = self.stage(size);
        Limits { max_concurrency: all.max_concurrency.min(ceiling).min(size).max(1), ..all }
    }
}
