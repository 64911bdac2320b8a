//! What is to come: the earliest first, and among equals endings before people, then the first
//! scheduled (R-A1, R-A2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{GateId, MemberId, RegionId};
use crate::scheduler::{FailureCode, Released};
use crate::time::{Span, Timestamp};

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening {
    /// The run is started.
    Start,
    /// A member's update ends, perhaps as a failure.
    UpdateEnds(MemberId, Option<FailureCode>),
    /// A campaign (by its number) asks a member for its change.
    ChangeAsked(MemberId, u16),
    /// A member's reimage for the change of this campaign ends.
    ChangeEnds(MemberId, u16),
    /// A release reaches a region.
    Arrival(Released, RegionId),
    /// The script's action of this number.
    Scripted(u32),
    /// Somebody approves this gate.
    Approval(GateId),
    /// Somebody starts the failed run again.
    Restart,
    /// The scheduler is woken.
    Wake,
}

/// The class of endings.
const ENDING: u8 = 1;
/// The class of other news; what ends and what is news comes before people.
const NEWS: u8 = 2;

impl Happening {
    /// The order of kinds at one instant.
    const fn class(self) -> u64 {
        match self {
            Self::Start => 0,
            Self::UpdateEnds(..) => ENDING as u64,
            Self::Arrival(..) | Self::ChangeEnds(..) => NEWS as u64,
            Self::Scripted(_) | Self::Approval(_) | Self::Restart => 3,
            Self::ChangeAsked(..) => 3,
            Self::Wake => 4,
        }
    }
}

/// The queue of a replication: one word an entry, so that comparing is cheap.
///
/// | bits from the top | what |
/// |---|---|
/// | 48 | milliseconds since the replication's start |
/// | 4 | the kind's order within an instant |
/// | 28 | the entry's number: first scheduled, first out |
/// | 32 | the member or gate |
/// | 16 | 0, or 1 + the failure's code or the campaign |
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<u128>>,
    start: Timestamp,
    pushed: u32,
}

impl Queue {
    /// Empties the queue for a replication that begins at `start`.
    pub(super) fn reset(&mut self, start: Timestamp) {
        self.heap.clear();
        self.start = start;
        self.pushed = 0;
    }

    pub(super) fn push(&mut self, at: Timestamp, happening: Happening) {
        let millis = u64::try_from((at - self.start).as_millis()).expect("nothing lies behind us");
        assert!(millis < 1 << 48, "instants stay within 8,900 years of the start");
        assert!(self.pushed < 1 << 28, "a replication has fewer than 2^28 happenings");
        let (entity, code) = match happening {
            Happening::UpdateEnds(member, None) => (member.0, 0),
            Happening::UpdateEnds(member, Some(code)) => (member.0, u64::from(code.0) + 1),
            Happening::ChangeAsked(member, campaign) | Happening::ChangeEnds(member, campaign) => {
                (member.0, u64::from(campaign) + 1)
            }
            Happening::Approval(gate) => (gate.0, 0),
            Happening::Restart => (u32::MAX, 0),
            Happening::Start
            | Happening::Arrival(..)
            | Happening::Scripted(_)
            | Happening::Wake => {
                unreachable!("the loop itself makes {happening:?}")
            }
        };
        let high = millis << 16 | happening.class() << 12 | u64::from(self.pushed >> 16);
        let low = u64::from(self.pushed & 0xffff) << 48 | u64::from(entity) << 16 | code;
        self.pushed += 1;
        self.heap.push(Reverse(u128::from(high) << 64 | u128::from(low)));
    }

    /// The next instant, and whether what happens then is an ending or other news.
    #[inline]
    pub(super) fn peek(&self) -> Option<(Timestamp, bool)> {
        let Reverse(entry) = self.heap.peek()?;
        let millis = i64::try_from(entry >> 80).expect("48 bits fit");
        let ending = (entry >> 76) & 0xf <= u128::from(NEWS);
        Some((self.start + Span::from_millis(millis), ending))
    }

    #[expect(clippy::cast_possible_truncation, reason = "each part is cut to its bits")]
    pub(super) fn pop(&mut self) -> Option<Happening> {
        let Reverse(entry) = self.heap.pop()?;
        let (entity, code) = ((entry >> 16) as u32, entry as u16);
        let (class, member) = ((entry >> 76) as u8 & 0xf, MemberId(entity));
        match (class, code.checked_sub(1)) {
            (ENDING, code) => return Some(Happening::UpdateEnds(member, code.map(FailureCode))),
            (NEWS, Some(campaign)) => return Some(Happening::ChangeEnds(member, campaign)),
            (_, Some(campaign)) => return Some(Happening::ChangeAsked(member, campaign)),
            (_, None) => {}
        }
        let restart = entity == u32::MAX;
        Some(if restart { Happening::Restart } else { Happening::Approval(GateId(entity)) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_a1_endings_come_before_people_and_the_first_started_first() {
        let (mut queue, noon) = (Queue::default(), Timestamp::from_millis(43_200_000));
        queue.reset(Timestamp::from_millis(0));
        queue.push(noon, Happening::Restart);
        queue.push(noon, Happening::UpdateEnds(MemberId(7), None));
        queue.push(noon, Happening::UpdateEnds(MemberId(3), Some(FailureCode(65_534))));
        queue.push(noon, Happening::Approval(GateId(9)));
        assert_eq!(queue.peek(), Some((noon, true)));
        assert_eq!(queue.pop(), Some(Happening::UpdateEnds(MemberId(7), None)));
        let failed = Happening::UpdateEnds(MemberId(3), Some(FailureCode(65_534)));
        assert_eq!(queue.pop(), Some(failed));
        assert_eq!(queue.peek(), Some((noon, false)));
        assert_eq!(queue.pop(), Some(Happening::Restart));
        assert_eq!(queue.pop(), Some(Happening::Approval(GateId(9))));
        assert!(queue.is_empty());
    }
}
