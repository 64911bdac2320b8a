//! What the scheduler tells of itself: one record for each change of state that counts.

use std::fmt;

use crate::ids::{GateId, GroupId, MemberId, StageId};
use crate::scheduler::{NodeKind, State};
use crate::time::Timestamp;

/// Something with a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the nodes of the status tree")]
pub enum Node {
    Run,
    Stage(StageId),
    Group(GroupId),
    Member(MemberId),
    Gate(GateId),
    /// The after-stage wait of this stage.
    Wait(StageId),
}

impl Node {
    /// What kind of node it is.
    pub const fn kind(self) -> NodeKind {
        match self {
            Self::Run => NodeKind::Run,
            Self::Stage(_) => NodeKind::Stage,
            Self::Group(_) => NodeKind::Group,
            Self::Member(_) => NodeKind::Member,
            Self::Gate(_) => NodeKind::Gate,
            Self::Wait(_) => NodeKind::Wait,
        }
    }
}

/// The code of a failed update: which of the driver's texts. 0 is `UpdateFailed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FailureCode(pub u16);

/// Why a node is where it is (R-K4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the codes of events and of status errors")]
pub enum Reason {
    MaintenanceWindowClosed,
    NodeImageVersionNotAvailable,
    KubernetesVersionNotAvailable,
    MemberBusy,
    User,
    AlreadyAtTarget,
    TargetVersionOlder,
    NodeImageVersionNotFound,
    MemberStopped,
    MemberLeft,
    NodeAutoProvisioningUnsupported,
    KubernetesMinorVersionSkipped,
    LongTermSupportRequired,
    NodeImageVersionExpired,
    AllMembersSkipped,
    NoMembers,
    AllGroupsSkipped,
    MaxAllowedFailuresExceeded,
    GroupFailed,
    StageFailed,
    /// The update itself failed, with this code of the driver's.
    Reported(FailureCode),
}

impl Reason {
    /// The code's text; a reported failure's stands in `codes`.
    pub fn text(self, codes: &[String]) -> &str {
        match self {
            Self::MaintenanceWindowClosed => "MaintenanceWindowClosed",
            Self::NodeImageVersionNotAvailable => "NodeImageVersionNotAvailable",
            Self::KubernetesVersionNotAvailable => "KubernetesVersionNotAvailable",
            Self::MemberBusy => "MemberBusy",
            Self::User => "User",
            Self::AlreadyAtTarget => "AlreadyAtTarget",
            Self::TargetVersionOlder => "TargetVersionOlder",
            Self::NodeImageVersionNotFound => "NodeImageVersionNotFound",
            Self::MemberStopped => "MemberStopped",
            Self::MemberLeft => "MemberLeft",
            Self::NodeAutoProvisioningUnsupported => "NodeAutoProvisioningUnsupported",
            Self::KubernetesMinorVersionSkipped => "KubernetesMinorVersionSkipped",
            Self::LongTermSupportRequired => "LongTermSupportRequired",
            Self::NodeImageVersionExpired => "NodeImageVersionExpired",
            Self::AllMembersSkipped => "AllMembersSkipped",
            Self::NoMembers => "NoMembers",
            Self::AllGroupsSkipped => "AllGroupsSkipped",
            Self::MaxAllowedFailuresExceeded => "MaxAllowedFailuresExceeded",
            Self::GroupFailed => "GroupFailed",
            Self::StageFailed => "StageFailed",
            Self::Reported(code) => codes.get(code.0 as usize).map_or("UpdateFailed", |text| text),
        }
    }
}

impl Reason {
    /// The reasons without a code of the driver's, in the order of their own codes.
    const OWN: [Self; 20] = [
        Self::MaintenanceWindowClosed,
        Self::NodeImageVersionNotAvailable,
        Self::KubernetesVersionNotAvailable,
        Self::MemberBusy,
        Self::User,
        Self::AlreadyAtTarget,
        Self::TargetVersionOlder,
        Self::NodeImageVersionNotFound,
        Self::MemberStopped,
        Self::NodeAutoProvisioningUnsupported,
        Self::KubernetesMinorVersionSkipped,
        Self::LongTermSupportRequired,
        Self::NodeImageVersionExpired,
        Self::AllMembersSkipped,
        Self::NoMembers,
        Self::AllGroupsSkipped,
        Self::MaxAllowedFailuresExceeded,
        Self::GroupFailed,
        Self::StageFailed,
        Self::MemberLeft,
    ];
    /// The codes of reported failures begin here.
    const REPORTED: u32 = 1 << 16;

    /// The reason as a number above 0, below 2^17.
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::MaintenanceWindowClosed => 1,
            Self::NodeImageVersionNotAvailable => 2,
            Self::KubernetesVersionNotAvailable => 3,
            Self::MemberBusy => 4,
            Self::User => 5,
            Self::AlreadyAtTarget => 6,
            Self::TargetVersionOlder => 7,
            Self::NodeImageVersionNotFound => 8,
            Self::MemberStopped => 9,
            Self::NodeAutoProvisioningUnsupported => 10,
            Self::KubernetesMinorVersionSkipped => 11,
            Self::LongTermSupportRequired => 12,
            Self::NodeImageVersionExpired => 13,
            Self::AllMembersSkipped => 14,
            Self::NoMembers => 15,
            Self::AllGroupsSkipped => 16,
            Self::MaxAllowedFailuresExceeded => 17,
            Self::GroupFailed => 18,
            Self::StageFailed => 19,
            Self::MemberLeft => 20,
            Self::Reported(code) => Self::REPORTED + code.0 as u32,
        }
    }

    /// The reason of this number; none of 0.
    pub(super) fn of_code(code: u32) -> Option<Self> {
        if let Some(reported) = code.checked_sub(Self::REPORTED) {
            let reported = u16::try_from(reported).expect("codes of failures are 16 bits");
            return Some(Self::Reported(FailureCode(reported)));
        }
        Some(Self::OWN[code.checked_sub(1)? as usize])
    }
}

/// One change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When.
    pub time: Timestamp,
    /// Of what.
    pub node: Node,
    /// Where it came from.
    pub from: State,
    /// Where it went.
    pub to: State,
    /// Why, where the readings name a reason (R-K4).
    pub reason: Option<Reason>,
    /// Next opening, scheduled time or end of the wait (R-K4).
    pub until: Option<Timestamp>,
}

impl Record {
    /// A member's move that needs no reason.
    #[inline]
    pub(super) fn of_move(time: Timestamp, id: MemberId, (from, to): (State, State)) -> Self {
        Self { time, node: Node::Member(id), from, to, reason: None, until: None }
    }
}

impl Record {
    /// The event's kind, such as `memberStarted` (R-A5: `…Started` only out of `NotStarted`).
    pub fn kind(&self) -> EventKind {
        EventKind { node: self.node.kind(), from: self.from, to: self.to }
    }
}

/// The kind of an event. Displays as `runStarted`, `memberPending` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventKind {
    node: NodeKind,
    from: State,
    to: State,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let started = self.to == State::Running
            && (self.from == State::NotStarted
                || matches!(self.node, NodeKind::Member | NodeKind::Wait));
        write!(f, "{}{}", self.node.word(), if started { "Started" } else { self.to.name() })
    }
}

/// Takes the scheduler's records. The simulation runs most replications without keeping any.
pub trait Log {
    /// Takes one record. Records come in the order in which the changes took effect.
    fn record(&mut self, record: Record);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl Log for NoLog {
    #[inline]
    fn record(&mut self, _: Record) {}
}

impl Log for Vec<Record> {
    fn record(&mut self, record: Record) {
        self.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_and_their_numbers_agree() {
        for (number, reason) in (1..).zip(Reason::OWN) {
            assert_eq!((reason.code(), Reason::of_code(number)), (number, Some(reason)));
        }
        for code in [0, 1, u16::MAX] {
            let reason = Reason::Reported(FailureCode(code));
            assert_eq!(Reason::of_code(reason.code()), Some(reason));
        }
        assert_eq!(Reason::of_code(0), None);
    }
}
