//! What is to come: the earliest first, and among equals endings before people, then the first
//! scheduled (R-A1, R-A2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{GateId, MemberId, RegionId};
use crate::scheduler::{FailureCode, Released};
use crate::time::Timestamp;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// The run is started.
    Start,
    /// A member's update ends, perhaps as a failure.
    UpdateEnds(MemberId, Option<FailureCode>),
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

impl Happening {
    /// The order of kinds at one instant.
    const fn class(self) -> u64 {
        match self {
            Self::Start => 0,
            Self::UpdateEnds(..) => 1,
            Self::Arrival(..) => 2,
            Self::Scripted(_) | Self::Approval(_) | Self::Restart => 3,
            Self::Wake => 4,
        }
    }
}

/// The queue of a replication.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    /// By instant, then class and number of its kind, which no two entries share.
    heap: BinaryHeap<Reverse<(Timestamp, u64, Happening)>>,
    pushed: u64,
}

impl Queue {
    pub(super) fn reset(&mut self) {
        self.heap.clear();
        self.pushed = 0;
    }

    pub(super) fn push(&mut self, at: Timestamp, happening: Happening) {
        let order = happening.class() << 56 | self.pushed;
        self.pushed += 1;
        self.heap.push(Reverse((at, order, happening)));
    }

    /// The next instant, and whether what happens then is an ending.
    pub(super) fn peek(&self) -> Option<(Timestamp, bool)> {
        self.heap.peek().map(|Reverse((at, order, _))| (*at, *order >> 56 <= 1))
    }

    pub(super) fn pop(&mut self) -> Option<Happening> {
        self.heap.pop().map(|Reverse((_, _, happening))| happening)
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
        let (mut queue, noon) = (Queue::default(), Timestamp::from_millis(0));
        queue.push(noon, Happening::Restart);
        queue.push(noon, Happening::UpdateEnds(MemberId(7), None));
        queue.push(noon, Happening::UpdateEnds(MemberId(3), None));
        assert_eq!(queue.pop(), Some(Happening::UpdateEnds(MemberId(7), None)));
        assert_eq!(queue.pop(), Some(Happening::UpdateEnds(MemberId(3), None)));
        assert_eq!(queue.pop(), Some(Happening::Restart));
        assert!(queue.is_empty());
    }
}
