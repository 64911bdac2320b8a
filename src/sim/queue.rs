//! What is to come: the earliest first, and among equals endings before people, then the first
//! scheduled (R-A1, R-A2).

mod wheel;

use crate::ids::{GateId, MemberId, RegionId};
use crate::scheduler::{FailureCode, Released};
use crate::time::{Span, Timestamp};
use wheel::Wheel;

/// Which update run of a replication: 0 is the scenario's `update`, the others are those of
/// auto-upgrade profiles, in the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunNo(pub(super) u16);

impl RunNo {
    /// The scenario's `update`.
    pub const UPDATE: Self = Self(0);
    /// No run: the member's own auto-upgrade (U10).
    pub const OWN: Self = Self(u16::MAX);
}

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// The run is started.
    Start,
    /// A member's update ends, perhaps as a failure.
    UpdateEnds(MemberId, Option<FailureCode>),
    /// A campaign (by its number) asks a member for its change.
    ChangeAsked(MemberId, u16),
    /// A member's reimage for the change of this campaign ends.
    ChangeEnds(MemberId, u16),
    /// A member degrades because of a defect (by its number).
    Degrades(MemberId, u16),
    /// Somebody notices that it is degraded.
    Noticed(MemberId, u16),
    /// The platform halts the release of this defect.
    ReleaseHalted(u32),
    /// This defect is fixed.
    DefectFixed(u32),
    /// A member is stopped, or started again: the number of times it was stopped before.
    PowerTurns(MemberId, u16),
    /// A member leaves the fleet.
    Leaves(MemberId),
    /// A member joins the fleet.
    Joins(MemberId),
    /// A member gets a pool: which of those that it may get.
    PoolAdded(MemberId, u16),
    /// A release reaches a region.
    Arrival(Released, RegionId),
    /// A release is withdrawn everywhere.
    Withdrawn(Released),
    /// A region's outage begins (`true`) or ends.
    Outage(RegionId, bool),
    /// The script's action of this number.
    Scripted(u32),
    /// Somebody approves this gate of a run.
    Approval(GateId, RunNo),
    /// Somebody starts a failed run again.
    Restart(RunNo),
    /// Those who watch the fleet stop a run.
    WatcherStops(RunNo),
    /// Somebody starts a run again that was stopped because of a defect.
    StartsAgain(RunNo),
    /// Somebody skips a member of a run that has been Pending too long.
    SkipsPending(MemberId, RunNo),
    /// A member's own upgrade, of this kind, begins.
    OwnBegins(MemberId, u16),
    /// It ends.
    OwnEnds(MemberId, u16),
    /// Something was released, somewhere: auto-upgrade profiles may aim at it.
    Published,
    /// The scheduler is woken.
    Wake,
}

/// The order of what is queued at one instant: what ends and what is news comes before people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Class {
    Ending,
    News,
    People,
}

/// Declares what can be queued: the happening, its parts (an entity of 32 bits, then perhaps a
/// detail of 16), and its class. A new kind is a variant of [`Happening`] and a line here.
macro_rules! queued {
    ($($kind:ident $(($entity:ident $(, $detail:ident)?))?: $class:ident,)+) => {
        /// The kinds of happenings that are queued.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        enum Kind { $($kind),+ }

        impl Kind {
            const ALL: [Self; [$(Self::$kind),+].len()] = [$(Self::$kind),+];

            #[inline]
            const fn class(self) -> Class {
                match self { $(Self::$kind => Class::$class),+ }
            }
        }

        impl Happening {
            /// Whether it is news of members and releases, whatever the runs do.
            pub const fn is_news(self) -> bool {
                matches!(
                    self,
                    Self::Degrades(..)
                        | Self::Noticed(..)
                        | Self::ReleaseHalted(_)
                        | Self::DefectFixed(_)
                        | Self::PowerTurns(..)
                        | Self::Leaves(_)
                        | Self::Joins(_)
                        | Self::PoolAdded(..)
                )
            }

            /// What goes into the queue: kind, entity and detail.
            #[inline]
            fn parts(self) -> (Kind, u32, u16) {
                match self {
                    $(Self::$kind $(($entity $(, $detail)?))? => {
                        let entity: u32 = 0 $(| Part::<u32>::bits($entity))?;
                        let detail: u16 = 0 $($(| Part::<u16>::bits($detail))?)?;
                        (Kind::$kind, entity, detail)
                    })+
                    Self::Start
                    | Self::Arrival(..)
                    | Self::Withdrawn(_)
                    | Self::Outage(..)
                    | Self::Scripted(_)
                    | Self::Wake => {
                        unreachable!("the loop itself makes {self:?}")
                    }
                }
            }

            /// What comes out of it.
            #[inline]
            fn of_parts(kind: Kind, entity: u32, detail: u16) -> Self {
                match kind {
                    $(Kind::$kind => {
                        $(let $entity = Part::<u32>::of_bits(entity);
                        $(let $detail = Part::<u16>::of_bits(detail);)?)?
                        Self::$kind $(($entity $(, $detail)?))?
                    })+
                }
            }
        }
    };
}

queued! {
    UpdateEnds(member, code): Ending,
    OwnEnds(member, kind): Ending,
    ChangeEnds(member, campaign): News,
    Degrades(member, defect): News,
    Noticed(member, defect): News,
    ReleaseHalted(defect): News,
    DefectFixed(defect): News,
    PowerTurns(member, number): News,
    Leaves(member): News,
    Joins(member): News,
    PoolAdded(member, number): News,
    Published: News,
    ChangeAsked(member, campaign): People,
    Approval(gate, run): People,
    Restart(run): People,
    WatcherStops(run): People,
    StartsAgain(run): People,
    SkipsPending(member, run): People,
    OwnBegins(member, kind): People,
}

/// A part of a happening, as bits.
trait Part<B> {
    fn bits(self) -> B;
    fn of_bits(bits: B) -> Self;
}

impl Part<u32> for MemberId {
    fn bits(self) -> u32 {
        self.0
    }

    fn of_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl Part<u32> for GateId {
    fn bits(self) -> u32 {
        self.0
    }

    fn of_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl Part<u32> for RunNo {
    fn bits(self) -> u32 {
        u32::from(self.0)
    }

    #[expect(clippy::cast_possible_truncation, reason = "it was 16 bits")]
    fn of_bits(bits: u32) -> Self {
        Self(bits as u16)
    }
}

impl Part<u16> for RunNo {
    fn bits(self) -> u16 {
        self.0
    }

    fn of_bits(bits: u16) -> Self {
        Self(bits)
    }
}

impl Part<u32> for u32 {
    fn bits(self) -> u32 {
        self
    }

    fn of_bits(bits: u32) -> Self {
        bits
    }
}

impl Part<u16> for u16 {
    fn bits(self) -> u16 {
        self
    }

    fn of_bits(bits: u16) -> Self {
        bits
    }
}

impl Part<u16> for Option<FailureCode> {
    fn bits(self) -> u16 {
        self.map_or(0, |code| code.0 + 1)
    }

    fn of_bits(bits: u16) -> Self {
        bits.checked_sub(1).map(FailureCode)
    }
}

/// The queue of a replication: one word an entry, so that comparing is cheap.
///
/// | bits from the top | what |
/// |---|---|
/// | 42 | milliseconds since the replication's start |
/// | 2 | the class: the order of kinds within an instant |
/// | 28 | the entry's number: first scheduled, first out |
/// | 8 | the kind |
/// | 32 | the entity: a member, a gate |
/// | 16 | the detail: 0 or 1 + a failure's code, a campaign |
#[derive(Debug, Clone)]
pub struct Queue {
    wheel: Wheel,
    start: Timestamp,
    pushed: u32,
}

/// The last instant that an entry can name, 139 years after the start: later ones are moved to it,
/// for no horizon reaches so far.
const NEVER: u64 = (1 << 42) - 1;

/// Where an entry's instant begins.
const INSTANT: u32 = 86;

impl Queue {
    /// An empty queue. It is fastest when most entries are pushed less than `usual` ahead.
    pub fn new(usual: Span) -> Self {
        let turn = u64::try_from(usual.as_millis()).unwrap_or(0);
        Self { wheel: Wheel::new(INSTANT, turn), start: Timestamp::default(), pushed: 0 }
    }

    /// Empties the queue for a replication that begins at `start`.
    pub fn reset(&mut self, start: Timestamp) {
        self.wheel.clear();
        self.start = start;
        self.pushed = 0;
    }

    /// Adds what happens at an instant that is not before the last that was taken.
    pub fn push(&mut self, at: Timestamp, happening: Happening) {
        let millis = u64::try_from((at - self.start).as_millis()).expect("nothing lies behind us");
        self.push_parts(millis, happening.parts());
    }

    /// Nothing comes any more before `now`: what is pushed next is near it.
    #[inline]
    pub fn catch_up(&mut self, now: Timestamp) {
        let now = (now - self.start).as_millis().cast_unsigned();
        self.wheel.catch_up(u128::from(now) << INSTANT);
    }

    /// [`Self::push`] of the end of an update that begins `now` and takes so long.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop of relays a call costs a twentieth")]
    pub fn push_ending(
        &mut self,
        (now, takes): (Timestamp, Span),
        member: MemberId,
        code: Option<FailureCode>,
    ) {
        let now = (now - self.start).as_millis().cast_unsigned();
        let at = now + takes.as_millis().cast_unsigned();
        self.push_parts(at, (Kind::UpdateEnds, member.0, Part::<u16>::bits(code)));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most of it is known where the kind is")]
    fn push_parts(&mut self, millis: u64, (kind, entity, detail): (Kind, u32, u16)) {
        assert!(self.pushed < 1 << 28, "a replication has fewer than 2^28 happenings");
        let when = u128::from(millis.min(NEVER)) << INSTANT | (kind.class() as u128) << 84;
        let what = u64::from(kind as u8) << 48 | u64::from(entity) << 16 | u64::from(detail);
        let entry = when | u128::from(self.pushed) << 56 | u128::from(what);
        self.pushed += 1;
        self.wheel.push(entry);
    }

    /// The next instant, and whether what happens then is an ending or other news.
    #[inline]
    pub fn peek(&mut self) -> Option<(Timestamp, bool)> {
        let entry = self.wheel.peek()?;
        let news = (entry >> 84) & 0b11 <= Class::News as u128;
        Some((self.start + since_start(entry), news))
    }

    /// Takes what happens next.
    #[expect(clippy::cast_possible_truncation, reason = "each part is cut to its bits")]
    pub fn pop(&mut self) -> Option<Happening> {
        let entry = self.wheel.pop()?;
        let kind = Kind::ALL[usize::from((entry >> 48) as u8)];
        Some(Happening::of_parts(kind, (entry >> 16) as u32, entry as u16))
    }

    /// Takes the next entry if it is an update that ends well before `until`, and if no other entry
    /// has its instant.
    #[inline(always)]
    pub fn pop_lone_completion(&mut self, until: Timestamp) -> Option<(Timestamp, MemberId)> {
        const COMPLETION: u64 = (Kind::UpdateEnds as u64) << 48;
        let most = until - self.start;
        #[expect(clippy::cast_possible_truncation, reason = "each part is cut to its bits")]
        let what = |entry: u128| entry as u64 & 0x00ff_0000_0000_ffff;
        let wanted = |entry: u128| what(entry) == COMPLETION && since_start(entry) < most;
        let entry = self.wheel.pop_lone(wanted)?;
        #[expect(clippy::cast_possible_truncation, reason = "cut to its bits")]
        let member = MemberId((entry >> 16) as u32);
        Some((self.start + since_start(entry), member))
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.wheel.is_empty()
    }
}

/// When an entry is, from the start.
#[inline]
fn since_start(entry: u128) -> Span {
    Span::from_millis(((entry >> 64) as u64 >> (INSTANT - 64)).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_a1_endings_come_before_people_and_the_first_started_first() {
        let (mut queue, noon) = (Queue::new(Span::HOUR), Timestamp::from_millis(43_200_000));
        queue.reset(Timestamp::from_millis(0));
        queue.push(noon, Happening::Restart(RunNo(2)));
        queue.push(noon, Happening::UpdateEnds(MemberId(7), None));
        queue.push(noon, Happening::UpdateEnds(MemberId(3), Some(FailureCode(65_534))));
        queue.push(noon, Happening::Approval(GateId(9), RunNo::UPDATE));
        assert_eq!(queue.peek(), Some((noon, true)));
        assert_eq!(queue.pop(), Some(Happening::UpdateEnds(MemberId(7), None)));
        let failed = Happening::UpdateEnds(MemberId(3), Some(FailureCode(65_534)));
        assert_eq!(queue.pop(), Some(failed));
        assert_eq!(queue.peek(), Some((noon, false)));
        assert_eq!(queue.pop(), Some(Happening::Restart(RunNo(2))));
        assert_eq!(queue.pop(), Some(Happening::Approval(GateId(9), RunNo::UPDATE)));
        assert!(queue.is_empty());
    }

    /// Every kind, with the least and the greatest parts.
    fn all_kinds() -> Vec<Happening> {
        let of = |kind: Kind| {
            let [least, most] = [(0, 0), (u32::MAX, u16::MAX)];
            [least, most].map(|(entity, detail)| Happening::of_parts(kind, entity, detail))
        };
        Kind::ALL.into_iter().flat_map(of).collect()
    }

    #[test]
    fn what_goes_in_comes_out() {
        let mut queue = Queue::new(Span::HOUR);
        for (number, kind) in (0..).zip(Kind::ALL) {
            assert_eq!(kind as usize, number, "kinds are numbered in their order");
        }
        for happening in all_kinds() {
            let start = Timestamp::from_millis(-7);
            queue.reset(start);
            let at = start + Span::from_days(36_525);
            queue.push(at, happening);
            let news = happening.parts().0.class() <= Class::News;
            assert_eq!(queue.peek(), Some((at, news)), "{happening:?}");
            assert_eq!(queue.pop(), Some(happening));
            assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn r_a1_at_one_instant_the_classes_come_in_order_and_the_first_scheduled_first() {
        let (mut queue, noon) = (Queue::new(Span::HOUR), Timestamp::from_millis(43_200_000));
        queue.reset(Timestamp::from_millis(0));
        let mut wanted = all_kinds();
        wanted.reverse();
        for happening in &wanted {
            queue.push(noon, *happening);
        }
        wanted.sort_by_key(|happening| happening.parts().0.class());
        let found: Vec<Happening> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn instants_past_every_horizon_stay_in_the_queue() {
        let mut queue = Queue::new(Span::HOUR);
        queue.reset(Timestamp::from_millis(0));
        queue.push(Timestamp::MAX, Happening::Restart(RunNo(2)));
        let approval = Happening::Approval(GateId(1), RunNo::UPDATE);
        queue.push(Timestamp::from_millis(1 << 41), approval);
        assert_eq!(queue.pop(), Some(approval));
        let (at, _) = queue.peek().unwrap();
        assert!(at > Timestamp::from_millis(0) + Span::from_days(36_525), "{at}");
        assert_eq!(queue.pop(), Some(Happening::Restart(RunNo(2))));
    }
}
