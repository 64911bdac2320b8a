//! What a replication leaves behind of its course: a digest of every change of state, and when
//! members were done.

use crate::scheduler::{Node, Record};

/// A digest of records in their order: what changed, into which state, when. Two replications with
/// the same digest took the same course, but for a chance of one in 2^64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trace(u64);

impl Trace {
    /// The digest as a number.
    pub const fn digest(self) -> u64 {
        self.0
    }

    /// Takes the next record of a run; 0 is the scenario's own.
    #[inline]
    pub(super) fn add(&mut self, run: u16, record: &Record) {
        let (kind, id) = match record.node {
            Node::Run => (0, 0),
            Node::Stage(id) => (1, id.0),
            Node::Group(id) => (2, id.0),
            Node::Member(id) => (3, id.0),
            Node::Gate(id) => (4, id.0),
            Node::Wait(id) => (5, id.0),
        };
        let what = u64::from(run) << 38 | u64::from(id) << 6 | kind << 3 | record.to as u64;
        self.mix(record.time.as_millis().cast_unsigned(), what);
    }

    /// Folds the product of what was and what comes: one multiplication a record.
    #[inline]
    fn mix(&mut self, when: u64, what: u64) {
        // The digits of pi and e, so that nothing is multiplied by zero.
        let was = self.0.rotate_left(23) ^ when ^ 0x243f_6a88_85a3_08d3;
        let product = u128::from(was) * u128::from(what ^ 0xb7e1_5162_8aed_2a6b);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.0 = low ^ high;
    }
}

/// Ascending numbers of milliseconds, kept as their differences: four bytes each, as a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ascending {
    /// A difference, or [`FAR`] and the two halves of one.
    steps: Vec<u32>,
    len: usize,
    last: i64,
}

/// Stands for a difference of 49 days or more.
const FAR: u32 = u32::MAX;

impl Ascending {
    /// How many numbers there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        let (mut steps, mut now) = (self.steps.iter(), 0_i64);
        std::iter::from_fn(move || {
            let mut step = || steps.next().copied();
            now += match step()? {
                FAR => {
                    let halves = (step()?, step()?);
                    (u64::from(halves.0) << 32 | u64::from(halves.1)).cast_signed()
                }
                near => i64::from(near),
            };
            Some(now)
        })
    }

    /// The number at this place from 0, if there are so many.
    pub fn get(&self, place: usize) -> Option<i64> {
        if place < self.len { self.iter().nth(place) } else { None }
    }

    /// For each of these ascending numbers, how many here are not above it.
    pub fn counts_up_to(&self, most: impl IntoIterator<Item = i64>) -> impl Iterator<Item = usize> {
        let (mut numbers, mut count) = (self.iter().peekable(), 0);
        most.into_iter().map(move |most| {
            while numbers.next_if(|millis| *millis <= most).is_some() {
                count += 1;
            }
            count
        })
    }

    /// Forgets all numbers, keeping the allocation.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        (self.len, self.last) = (0, 0);
    }

    /// Adds a number that is not below 0 nor below the last one.
    #[inline]
    pub(super) fn push(&mut self, millis: i64) {
        let step = millis - self.last;
        assert!(step >= 0, "times ascend");
        (self.len, self.last) = (self.len + 1, millis);
        match u32::try_from(step) {
            Ok(near) if near != FAR => self.steps.push(near),
            _ => self.push_far(step.cast_unsigned()),
        }
    }

    #[cold]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    fn push_far(&mut self, step: u64) {
        self.steps.extend([FAR, (step >> 32) as u32, step as u32]);
    }
}

impl FromIterator<i64> for Ascending {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Self {
        let mut ascending = Self::default();
        numbers.into_iter().for_each(|millis| ascending.push(millis));
        ascending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{GroupId, MemberId};
    use crate::scheduler::State;
    use crate::time::Timestamp;

    fn record(time: i64, node: Node, to: State) -> Record {
        let time = Timestamp::from_millis(time);
        Record { time, node, from: State::NotStarted, to, reason: None, until: None }
    }

    fn trace(records: &[Record]) -> u64 {
        let mut trace = Trace::default();
        for record in records {
            trace.add(0, record);
        }
        trace.digest()
    }

    #[test]
    fn x3_a_trace_knows_order_time_node_state_and_run() {
        let member = |id, time| record(time, Node::Member(MemberId(id)), State::Running);
        let one = [member(1, 5), member(2, 5)];
        let mut others = vec![
            trace(&[]),
            trace(&one[..1]),
            trace(&one),
            trace(&[one[1], one[0]]),
            trace(&[member(1, 6), member(2, 5)]),
            trace(&[one[0], record(5, Node::Group(GroupId(2)), State::Running)]),
            trace(&[one[0], record(5, Node::Member(MemberId(2)), State::Pending)]),
        ];
        let mut beside = Trace::default();
        beside.add(1, &one[0]);
        others.push(beside.digest());
        assert_eq!(trace(&one), trace(&one.clone()));
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 8);
    }

    #[test]
    fn ascending_numbers_come_out_as_they_went_in() {
        let far = i64::from(FAR);
        let numbers = [0, 0, 1, 5, far + 4, 2 * far + 4, 3 * far + 5, 1 << 50, i64::MAX];
        let ascending: Ascending = numbers.into_iter().collect();
        assert!(ascending.iter().eq(numbers));
        assert_eq!((ascending.len(), ascending.is_empty()), (9, false));
        for (place, number) in numbers.into_iter().enumerate() {
            assert_eq!(ascending.get(place), Some(number));
        }
        let at = [-1, 0, 0, 1, 4, far + 3, far + 4, i64::MAX];
        assert!(ascending.counts_up_to(at).eq([0, 2, 2, 3, 3, 4, 5, 9]));
        assert_eq!(ascending.get(9), None);
    }
}
