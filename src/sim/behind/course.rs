//! How far behind members are as time goes on, at equal steps.
//!
//! While a member is behind, the time since it fell behind grows by the clock. So all that is kept
//! are two sums over members at each step, as differences from step to step: how many are behind,
//! and since when. Whoever is behind for some time costs two entries, however long that is.

use crate::time::{Span, Timestamp};

/// Equal steps from the start to the horizon, both ends included.
pub const STEPS: usize = 201;

/// Sums over members at each step, as differences from the step before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Course {
    start: Timestamp,
    /// From step to step, in milliseconds.
    step: u64,
    /// The last step: the horizon, or a fraction of a second before it where it is no whole number
    /// of seconds.
    end: Timestamp,
    /// How many are behind.
    behind: Vec<i64>,
    /// Since when they are, in milliseconds from the start.
    since: Vec<i64>,
}

impl Course {
    /// Nobody is behind from one instant to another.
    pub(super) fn new(start: Timestamp, length: Span) -> Self {
        let nothing = vec![0; STEPS + 1];
        let step = (length.as_millis() / last()).max(1);
        let end = start + Span::from_millis(step * last());
        let step = u64::try_from(step).expect("horizons are not negative");
        Self { start, step, end, behind: nothing.clone(), since: nothing }
    }

    /// The first step at or after an instant that is not before the start; what comes to the end is
    /// there at the last step.
    #[inline]
    fn step(&self, at: Timestamp) -> usize {
        if at >= self.end {
            return STEPS;
        }
        let after = (at - self.start).as_millis().unsigned_abs();
        usize::try_from(after.div_ceil(self.step)).expect("there are few steps")
    }

    /// A member that fell behind at `newer` is from one instant until before another.
    pub(super) fn add(&mut self, newer: Timestamp, (from, until): (Timestamp, Timestamp)) {
        let (first, end) = (self.step(from), self.step(until));
        if first < end {
            let since = (newer - self.start).as_millis();
            self.behind[first] += 1;
            self.behind[end] -= 1;
            self.since[first] += since;
            self.since[end] -= since;
        }
    }

    /// The mean at each step over the members that are there, in whole seconds: those that are
    /// from one instant until before another.
    pub(super) fn means(&self, there: impl Iterator<Item = (Timestamp, Timestamp)>) -> Vec<u32> {
        let (mut behind, mut since, mut all) = (0, 0, 0);
        let mut present = Self { behind: vec![0; STEPS + 1], since: vec![0; STEPS + 1], ..*self };
        for stay in there {
            if stay == (self.start, Timestamp::MAX) {
                all += 1;
            } else {
                present.add(self.start, stay);
            }
        }
        let length = i64::try_from(self.step).expect("steps are short");
        let mean = |step: usize| {
            behind += self.behind[step];
            since += self.since[step];
            all += present.behind[step];
            let now = length * i64::try_from(step).expect("there are few steps");
            let sum = behind * now - since;
            let seconds = if all == 0 { 0 } else { (sum + 500 * all) / (1_000 * all) };
            u32::try_from(seconds).expect("horizons are shorter than a century")
        };
        (0..STEPS).map(mean).collect()
    }
}

/// The number of the last step.
fn last() -> i64 {
    i64::try_from(STEPS - 1).expect("there are few steps")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000) + Span::from_secs(seconds)
    }

    /// A step every ten seconds.
    fn course() -> Course {
        Course::new(at(0), Span::from_secs(2_000))
    }

    #[test]
    fn who_is_behind_counts_from_its_falling_behind() {
        let mut course = course();
        course.add(at(-5), (at(0), at(21)));
        course.add(at(15), (at(15), at(30)));
        let found = course.means([(at(0), Timestamp::MAX); 2].into_iter());
        // 5, 15, 25 and 5 seconds, then nobody: who catches up at a step is not behind there.
        assert_eq!(found[..4], [3, 8, 15, 0], "halves are rounded up");
        assert!(found[3..].iter().all(|seconds| *seconds == 0));
        assert_eq!(found.len(), STEPS);
    }

    #[test]
    fn what_goes_on_to_the_end_is_there_at_the_last_step() {
        let mut course = course();
        course.add(at(1_000), (at(1_000), at(2_000)));
        let found = course.means([(at(0), Timestamp::MAX)].into_iter());
        assert_eq!((found[99], found[100], found[101]), (0, 0, 10));
        assert_eq!(found[STEPS - 1], 1_000);
    }

    #[test]
    fn the_mean_is_over_the_members_that_are_there() {
        let mut course = course();
        course.add(at(0), (at(0), at(2_000)));
        let stays = [(at(0), Timestamp::MAX), (at(100), at(200)), (at(195), Timestamp::MAX)];
        let found = course.means(stays.into_iter());
        assert_eq!([found[9], found[10], found[19], found[20]], [90, 50, 95, 100]);
        let nobody = course.means(std::iter::empty());
        assert_eq!(nobody, [0; STEPS]);
    }

    /// At each step, the same as looking at each spell.
    #[test]
    fn sums_are_those_of_all_spells() {
        let mut course = Course::new(at(0), Span::from_millis(1_234_567));
        let spells: Vec<(i64, i64, i64)> = (0..200)
            .map(|n| {
                let from = n * 977 % 1_100;
                (from - n * 31 % 90, from, from + 1 + n * 613 % 300)
            })
            .collect();
        for (newer, from, until) in &spells {
            course.add(at(*newer), (at(*from), at(*until)));
        }
        let found = course.means([(at(0), Timestamp::MAX)].into_iter());
        for (step, seconds) in (0..).zip(found) {
            let now = step * 6_172;
            let is_on = |(_, from, until): &&(i64, i64, i64)| {
                from * 1_000 <= now && (now < until * 1_000 || until * 1_000 >= 200 * 6_172)
            };
            let sum: i64 = spells.iter().filter(is_on).map(|(newer, ..)| now - newer * 1_000).sum();
            assert_eq!(i64::from(seconds), (sum + 500) / 1_000, "at step {step}");
        }
    }
}
