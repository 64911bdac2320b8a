//! Configuration changes: campaigns that ask members for a change, one after another (W12, N1–N7).
//!
//! The decision is the scheduler's ([`crate::scheduler::disruption`]); here are who asks when, what
//! people do about a refusal, and what it came to. What is going on in a replication is in
//! `ongoing`.

mod ongoing;

pub(super) use ongoing::Ongoing;

use crate::fleet::{OsType, Pool};
use crate::ids::MemberId;
use crate::quantiles::Distribution;
use crate::scheduler::disruption::{Change, Operation, Scope};
use crate::time::{Span, Timestamp};

/// One entry of `configurationChanges`: a change that some members are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// Names it in results and events; unique among campaigns.
    pub name: String,
    /// What is changed.
    pub operation: Operation,
    /// The value before, if the scenario says it.
    pub from: Option<String>,
    /// The value after, if the scenario says it.
    pub to: Option<String>,
    /// Who is asked, in the fleet's order.
    pub members: Vec<MemberId>,
    /// When each member is asked first.
    pub asked: Asked,
    /// What people do about a refusal.
    pub on_refused: Habit,
}

/// When the members of a campaign are asked first.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// So long after the start; one for each member.
    After(Vec<Span>),
    /// Each at a time of its own, drawn anew in every replication; milliseconds from the start.
    Drawn(Distribution),
    /// Stage after stage of the candidate's strategy, whoever is in no stage after the last.
    Stages {
        /// When the members of the first stage are asked, from the start.
        from: Span,
        /// From one stage to the next.
        every: Span,
    },
    /// Never by itself: the change is part of the request that updates the member, so no policy
    /// governs it, and it costs no reimage of its own (N6).
    WithUpdate,
}

/// What people do when the policy refuses a change (`onRefused`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Habit {
    /// They leave it.
    #[default]
    GiveUp,
    /// They ask again after this time, again and again.
    RetryEvery(Span),
    /// They ask again when the window opens next, if it is the window that refuses.
    RetryInWindow,
    /// They set the policy to Allow, ask again at once, and set it back.
    ChangePolicy,
}

impl Campaign {
    fn change(&self) -> Change<'_> {
        let change = self.operation.change(self.from.as_deref(), self.to.as_deref());
        change.expect("the scenario's changes are checked when it is read")
    }

    /// Whether a reimage takes this pool: gMSA is a matter of Windows pools alone.
    fn affects(&self, pool: &Pool) -> bool {
        let windows_only =
            self.operation.scope() == Scope::Pool && self.operation.name() == "windowsGmsa";
        pool.count > 0 && (!windows_only || pool.os_type == OsType::Windows)
    }
}

/// Something that happens to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeRecord {
    /// When.
    pub time: Timestamp,
    /// The campaign, by its number.
    pub campaign: u16,
    /// Whose change it is.
    pub member: MemberId,
    /// What happens.
    pub step: ChangeStep,
}

/// What can happen to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStep {
    /// Somebody asks for it; perhaps after setting the policy to Allow for this one request.
    Asked {
        /// Whether the policy was set for it.
        policy_changed: bool,
    },
    /// The member is being updated, or reimaged for another change: it is asked for again then.
    Pending,
    /// The policy is Block.
    RefusedByPolicy,
    /// The window is closed; until when, if it ever opens.
    RefusedByWindow(Option<Timestamp>),
    /// Nodes are being reimaged.
    Started,
    /// The update that it is a part of starts.
    StartedWithUpdate,
    /// It is done.
    Completed,
}

impl ChangeRecord {
    /// The kind of event.
    pub const fn kind(&self) -> &'static str {
        match self.step {
            ChangeStep::Asked { .. } => "changeAsked",
            ChangeStep::Pending => "changePending",
            ChangeStep::RefusedByPolicy | ChangeStep::RefusedByWindow(_) => "changeRefused",
            ChangeStep::Started | ChangeStep::StartedWithUpdate => "changeStarted",
            ChangeStep::Completed => "changeCompleted",
        }
    }

    /// Why, in one word.
    pub const fn reason(&self) -> Option<&'static str> {
        match self.step {
            ChangeStep::Asked { policy_changed: true } => Some("PolicyChanged"),
            ChangeStep::Pending => Some("MemberBusy"),
            ChangeStep::RefusedByPolicy => Some("NodeDisruptionPolicyBlock"),
            ChangeStep::RefusedByWindow(_) => Some("MaintenanceWindowClosed"),
            ChangeStep::StartedWithUpdate => Some("WithUpdate"),
            ChangeStep::Asked { policy_changed: false }
            | ChangeStep::Started
            | ChangeStep::Completed => None,
        }
    }

    /// When the window opens that refuses it.
    pub const fn until(&self) -> Option<Timestamp> {
        match self.step {
            ChangeStep::RefusedByWindow(next) => next,
            _ => None,
        }
    }
}

/// What configuration changes of a replication came to: those of one campaign, or all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Changes that were wanted: members of campaigns.
    pub wanted: u32,
    /// Requests that the policy refused.
    pub refused_calls: u32,
    /// Policies that were set to Allow, for the time of one request.
    pub policy_changes: u32,
    /// Nodes that were reimaged.
    pub reimaged_nodes: u32,
    /// Those of them that lost ephemeral data (N7).
    pub ephemeral_data_losses: u32,
    /// Reimaging time while the member's `aksManagedNodeOSUpgradeSchedule` was open, up to the end
    /// of the simulation.
    pub in_window: Span,
    /// Reimaging time while it was closed, or of members without one.
    pub outside_window: Span,
    /// Reimaging time from Monday to Friday, 09:00 to 17:00 on the clock of the member's region
    /// in January.
    pub business: Span,
    /// When each change was done, ascending, in milliseconds from the start.
    pub done: Vec<i64>,
}

impl Changes {
    /// Everything together.
    pub fn total(parts: &[Self]) -> Self {
        let mut total = Self::default();
        for part in parts {
            total.wanted += part.wanted;
            total.refused_calls += part.refused_calls;
            total.policy_changes += part.policy_changes;
            total.reimaged_nodes += part.reimaged_nodes;
            total.ephemeral_data_losses += part.ephemeral_data_losses;
            total.in_window += part.in_window;
            total.outside_window += part.outside_window;
            total.business += part.business;
            total.done.extend(&part.done);
        }
        total.done.sort_unstable();
        total
    }

    /// Changes that were not done by the horizon.
    pub fn never_done(&self) -> u32 {
        self.wanted - u32::try_from(self.done.len()).expect("changes fit u32")
    }

    /// The first instant at which this share of the changes is done; `None` if it never was.
    pub fn time_to(&self, percent: u32) -> Option<Span> {
        let needed = (u64::from(self.wanted) * u64::from(percent)).div_ceil(100);
        match usize::try_from(needed).expect("changes fit usize") {
            0 => Some(Span::ZERO),
            needed => self.done.get(needed - 1).copied().map(Span::from_millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_changes_are_rounded_up() {
        let changes = Changes { wanted: 3, done: vec![5, 7], ..Changes::default() };
        assert_eq!(changes.time_to(50), Some(Span::from_millis(7)));
        assert_eq!(changes.time_to(90), None);
        assert_eq!(changes.never_done(), 1);
        assert_eq!(Changes::default().time_to(100), Some(Span::ZERO));
    }

    #[test]
    fn a_total_is_in_the_order_of_time() {
        let part = |wanted, done: &[i64]| Changes {
            wanted,
            refused_calls: 1,
            done: done.to_vec(),
            ..Changes::default()
        };
        let total = Changes::total(&[part(2, &[3, 9]), part(3, &[1, 4])]);
        assert_eq!((total.wanted, total.refused_calls, total.never_done()), (5, 2, 1));
        assert_eq!(total.done, [1, 3, 4, 9]);
    }
}
