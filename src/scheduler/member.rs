//! What the loop keeps of a member: its whole status in two words, so that a large fleet stays in
//! the cache.
//!
//! | word | bits from the top | what |
//! |---|---|---|
//! | first | 45 | when it left `NotStarted`: 1 + milliseconds since the run's start; 0: not yet |
//! | | 16 | updates started |
//! | | 3 | its state |
//! | last | 44 | the same way: when it ended, or, while it is Pending, the announced opening |
//! | | 20 | why: 0, or the reason's code |
//!
//! One instant serves two ends because no state has both: a Pending member has not ended, and only
//! a Pending one waits for an opening (R-C13, R-K4). A row of zeros is a member of a run that has
//! not started.

use crate::scheduler::run::{MemberStatus, Times};
use crate::scheduler::{Reason, State};
use crate::time::{Span, Timestamp};

const STATE_BITS: u32 = 3;
const ATTEMPT: u64 = 1 << STATE_BITS;
const STARTED: u32 = STATE_BITS + 16;
const REASON_BITS: u32 = 20;

/// A member's status, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MemberRow {
    first: u64,
    last: u64,
}

impl MemberRow {
    #[inline]
    pub(super) const fn state(self) -> State {
        State::ALL[(self.first & (ATTEMPT - 1)) as usize]
    }

    /// Whether it is in this state.
    #[inline]
    pub(super) const fn is(self, state: State) -> bool {
        self.first & (ATTEMPT - 1) == state as u64
    }

    /// Counts an update that is started; returns how many were before.
    #[inline]
    pub(super) fn count_attempt(&mut self) -> u16 {
        let before = self.attempts();
        assert!(before < u16::MAX, "a member is updated fewer than 2^16 times");
        self.first += ATTEMPT;
        before
    }

    #[expect(clippy::cast_possible_truncation, reason = "cut to its bits")]
    const fn attempts(self) -> u16 {
        (self.first >> STATE_BITS) as u16
    }

    /// Moves to a state; `until` is told while it is Pending only. `since` is the run's start.
    #[inline]
    pub(super) fn go(
        &mut self,
        (to, reason): (State, Option<Reason>),
        until: Option<Timestamp>,
        now: Timestamp,
        since: Timestamp,
    ) {
        let here = Stamp::new(now, since).0;
        let started = if self.first >> STARTED == 0 { here } else { self.first >> STARTED };
        self.first =
            started << STARTED | self.first & (((1 << STARTED) - 1) & !(ATTEMPT - 1)) | to as u64;
        let last = match to {
            State::Pending => until.map_or(0, |until| Stamp::new(until, since).0),
            to if to.is_ended() => here,
            _ => 0,
        };
        self.last = last << REASON_BITS | reason.map_or(0, |reason| u64::from(reason.code()));
    }

    /// From `NotStarted` to `Running`: what [`Self::count_attempt`] and [`Self::go`] do for that.
    #[inline]
    pub(super) fn begin(&mut self, here: Stamp) -> u16 {
        let before = self.attempts();
        assert!(before < u16::MAX, "a member is updated fewer than 2^16 times");
        // Who has not started has no time of it.
        self.first = here.0 << STARTED | (self.first + ATTEMPT) | State::Running as u64;
        self.last = 0;
        before
    }

    /// From `Running` to `Completed`: what [`Self::go`] does for that.
    #[inline]
    pub(super) fn complete(&mut self, here: Stamp) {
        self.first = self.first & !(ATTEMPT - 1) | State::Completed as u64;
        self.last = here.0 << REASON_BITS;
    }

    /// Whether it is Pending, with this reason and this announced opening.
    #[inline]
    pub(super) fn waits_for(
        self,
        (reason, until): (Reason, Option<Timestamp>),
        since: Timestamp,
    ) -> bool {
        let until = until.map_or(0, |until| Stamp::new(until, since).0);
        self.is(State::Pending) && self.last == until << REASON_BITS | u64::from(reason.code())
    }

    /// Back to `NotStarted` (R-D5); its attempts are remembered.
    pub(super) fn reopen(&mut self) {
        self.first &= ((1 << STARTED) - 1) & !(ATTEMPT - 1);
        self.last = 0;
    }

    /// When it ended, if it has.
    #[inline]
    pub(super) fn completed(self, since: Timestamp) -> Option<Timestamp> {
        instant(self.last >> REASON_BITS, since).filter(|_| self.state().is_ended())
    }

    /// Everything, unpacked.
    pub(super) fn status(self, since: Timestamp) -> MemberStatus {
        let (state, last) = (self.state(), instant(self.last >> REASON_BITS, since));
        MemberStatus {
            state,
            attempts: self.attempts(),
            times: Times {
                started: instant(self.first >> STARTED, since),
                completed: self.completed(since),
            },
            reason: Reason::of_code((self.last & ((1 << REASON_BITS) - 1)) as u32),
            until: last.filter(|_| state == State::Pending),
        }
    }
}

/// An instant as a row keeps it: 1 + milliseconds since the run's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp(u64);

impl Stamp {
    #[inline]
    pub(super) fn new(at: Timestamp, since: Timestamp) -> Self {
        let millis = (at - since).as_millis().cast_unsigned();
        assert!(millis < (1 << 44) - 1, "a run and its windows end within 557 years");
        Self(millis + 1)
    }
}

fn instant(stamp: u64, since: Timestamp) -> Option<Timestamp> {
    let millis = stamp.checked_sub(1)?;
    Some(since + Span::from_millis(millis.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::FailureCode;

    #[test]
    fn the_common_moves_are_those_of_all_moves() {
        let (since, start, end) = (0, 7, 1 << 43);
        let [since, start, end] = [since, start, end].map(Timestamp::from_millis);
        let mut rows = [MemberRow::default(), MemberRow::default()];
        for _ in 0..3 {
            let [quick, general] = &mut rows;
            let attempt = general.count_attempt();
            general.go((State::Running, None), None, start, since);
            assert_eq!(quick.begin(Stamp::new(start, since)), attempt);
            assert_eq!(quick, general);
            general.go((State::Completed, None), None, end, since);
            quick.complete(Stamp::new(end, since));
            assert_eq!(quick, general);
            rows.iter_mut().for_each(MemberRow::reopen);
        }
    }

    #[test]
    fn a_row_keeps_what_a_status_says() {
        let since = Timestamp::from_millis(-5);
        let at = |millis: i64| since + Span::from_millis(millis);
        let mut row = MemberRow::default();
        let first = row.status(since);
        assert_eq!((first.state, first.attempts), (State::NotStarted, 0));
        let until = at((1 << 44) - 3);
        row.go((State::Pending, Some(Reason::MaintenanceWindowClosed)), Some(until), at(0), since);
        let status = row.status(since);
        assert_eq!(status.until, Some(until));
        assert_eq!(status.times, Times { started: Some(at(0)), completed: None });
        assert_eq!(status.reason, Some(Reason::MaintenanceWindowClosed));
        let waits = |reason, until| row.waits_for((reason, until), since);
        assert!(waits(Reason::MaintenanceWindowClosed, Some(until)));
        assert!(!waits(Reason::MaintenanceWindowClosed, None));
        assert!(!waits(Reason::MemberBusy, Some(until)));
        for attempt in 0..u16::MAX {
            assert_eq!(row.count_attempt(), attempt);
        }
        row.go((State::Running, None), None, at(7), since);
        let status = row.status(since);
        assert_eq!((status.until, status.reason), (None, None));
        let reason = Some(Reason::Reported(FailureCode(u16::MAX)));
        row.go((State::Failed, reason), None, until, since);
        let status = row.status(since);
        assert_eq!((status.state, status.reason, status.until), (State::Failed, reason, None));
        assert_eq!(status.times, Times { started: Some(at(0)), completed: Some(until) });
        row.reopen();
        let status = row.status(since);
        assert_eq!((status.state, status.attempts), (State::NotStarted, u16::MAX));
        assert_eq!((status.reason, status.times.started), (None, None));
    }
}
