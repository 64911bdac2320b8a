//! How long updates took, pooled over members, attempts and replications (X8).

use super::histogram::Pooled;
use crate::scheduler::State;
use crate::sim::MemberMove;
use crate::time::Timestamp;

/// How long the updates of a strategy took, from their start to their end; those that had not ended
/// by the horizon, and those of profiles, are not among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateTimes {
    /// Of those that completed.
    pub completed: Pooled,
    /// Of those that failed.
    pub failed: Pooled,
}

impl UpdateTimes {
    /// Adds other replications.
    pub fn merge(&mut self, other: &Self) {
        self.completed.merge(&other.completed);
        self.failed.merge(&other.failed);
    }
}

/// Pools what one worker simulates of a strategy.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    /// When the update that each member is in, or was in last, began.
    began: Vec<Timestamp>,
    /// What came of it.
    pub(super) times: UpdateTimes,
}

impl Stopwatch {
    /// Adds the moves of a replication.
    pub(super) fn add(&mut self, moves: &[MemberMove]) {
        for MemberMove { time, member, from, to, .. } in moves {
            let member = member.0 as usize;
            let pool = match (from, to) {
                (_, State::Running) => {
                    if self.began.len() <= member {
                        self.began.resize(member + 1, Timestamp::MAX);
                    }
                    self.began[member] = *time;
                    continue;
                }
                (State::Running, State::Completed) => &mut self.times.completed,
                (State::Running, State::Failed) => &mut self.times.failed,
                _ => continue,
            };
            let took = (*time - self.began[member]).as_millis();
            pool.add(u64::try_from(took).expect("an update ends after it began"));
        }
    }
}
