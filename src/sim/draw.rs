//! The luck: every random number belongs to a place, never to a moment (X1).
//!
//! Owns the only generator of the program (X2: `ChaCha8`) and how places are packed into its key,
//! stream and position. Does not own what the numbers mean: they are uniform bits here, and
//! [`crate::quantiles`] makes values of them.
//!
//! | part of the generator | what it holds |
//! |---|---|
//! | key, 32 bytes | seed (8 bytes, little-endian), whose luck (6), 2 zeros, release (9), 7 zeros |
//! | stream, 64 bits | replication (32 bits), purpose (16), attempt (16), from the top |
//! | position, in 32-bit words | 2 × the entity's index |
//!
//! Whose luck: zero for what belongs to no run, and for `update`; of a profile's run, 1 + the
//! profile's position (2 bytes), then which of its runs it is (4 bytes); of members' own upgrades,
//! 65,535, then the same as their attempts. Release: zero for what belongs to none; of a defect,
//! the release's name (8 bytes) and kind (1 byte).
//!
//! Replication 2^32 - 1 is not one: its streams are those of the fleet's populations, which are
//! drawn once for all replications ([`Luck::population`]). Changing any of this changes every
//! result, and a test pins the first draws.

mod near;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a number is drawn for. The values are part of the results: never change or reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub enum Purpose {
    /// How long a member's update takes; by member and attempt.
    Duration = 0,
    /// Whether a member's update fails; by member and attempt.
    Failure = 1,
    /// Whether the failures of a member are transient; by member.
    FailureKind = 2,
    /// How long approvers take; by gate.
    ApprovalDelay = 16,
    /// How long until somebody restarts a failed run; by restart.
    RestartDelay = 17,
    /// From one image version's date to the next; by version. The attempts of this and the other
    /// purposes of releases tell the trains apart (0 Linux, 1 Windows).
    ReleaseCadence = 32,
    /// From a version's date to its arrival in order 1; by version.
    ReleaseLag = 33,
    /// Pairs and pauses of the slots inside orders 5 and 6; by version and slot.
    ReleaseSlots = 34,
    /// When a rollout's weekend hold begins; by version.
    ReleaseHoldFrom = 35,
    /// When a rollout's weekend hold ends; by version.
    ReleaseHoldTo = 36,
    /// Whether a rollout is abandoned before order 6; by version.
    ReleaseAbandoned = 37,
    /// From the end of order 6 to order 7; by version.
    ReleaseGovernment = 38,
    /// From order 1 to order 9; by version.
    ReleaseChina = 39,
    /// From one AKS release's date to the next; by release after those on record.
    AksCadence = 40,
    /// From an AKS release's date to its first region; by release, those on record included.
    AksLag = 41,
    /// From an AKS release's first region to its last public one; by release.
    AksSpan = 42,
    /// From one day of upstream Kubernetes patches to the next; by day.
    UpstreamCadence = 43,
    /// From a day of upstream patches to the AKS release that brings them; by day.
    UpstreamLag = 44,
    /// By how many months the plan of a Kubernetes minor slips; by minor.
    MinorSlip = 45,
    /// On which day of the month a planned minor comes; by minor.
    MinorDay = 46,
    /// Whether a rollout is delayed; by version. The attempts tell the trains apart, as with other
    /// purposes of releases (2 security patches, 3 Kubernetes).
    ReleaseDelayed = 64,
    /// By how long a rollout is delayed; by version.
    ReleaseDelay = 65,
    /// Whether a version is withdrawn; by version.
    ReleaseWithdrawn = 66,
    /// How long after its publication a version is withdrawn; by version.
    ReleaseWithdrawal = 67,
    /// From the end of one outage of a region to the beginning of the next; by outage. The attempts
    /// of this and the next tell the regions apart (their position in the table of regions).
    OutageGap = 68,
    /// How long an outage lasts; by outage.
    OutageLength = 69,
    /// How long a configuration change reimages a member; by member. The attempts tell campaigns
    /// apart.
    Reimage = 48,
    /// How long the parts of a member's update take; by member, pool and batch ([`Luck::own`]).
    NodeTimes = 80,
    /// Which members have a disruption budget that blocks, and how; by member. The attempts tell
    /// questions apart: whether (0), caught (1), nodes (2), which (3–5), when mended (6).
    Budget = 81,
    /// How long the parts of a configuration change take; by member, pool and batch
    /// ([`Luck::own`]). The attempts tell campaigns apart.
    ReimageNodes = 82,
    /// From one shortage of capacity to the next; by number. The attempts of this and the next two
    /// purposes tell regions apart.
    ShortageGap = 83,
    /// How long a shortage lasts; by number.
    ShortageLength = 84,
    /// Whether a shortage is total; by number.
    ShortageKind = 85,
    /// Whether a release is defective; in the luck of the release.
    Defective = 96,
    /// Which share of members is susceptible to it; in the luck of the release.
    DefectShare = 97,
    /// Whether and how a release breaks a member; by member, in the luck of the release.
    Susceptible = 98,
    /// From a member's update until it degrades; by member, in the luck of the release.
    DegradesAfter = 99,
    /// From there until it is noticed; by member, in the luck of the release.
    NoticedAfter = 100,
    /// From the last hit that is borne until the platform halts a release; in its luck.
    HaltLag = 101,
    /// From the halt until the defect is fixed; in the luck of the release.
    FixLag = 102,
    /// How long watchers take to stop the run; by the number of times they did.
    WatchReaction = 108,
    /// How long a member may be Pending until somebody skips it; by member. The attempts count its
    /// times of being Pending.
    SkipPatience = 109,
    /// How long until somebody starts the run again once a defect is fixed; by start.
    StartAgain = 110,
    /// How long a member runs until it is stopped; by member. The attempts count its stops.
    StopsAfter = 116,
    /// How long it is stopped; by member. The attempts count its stops.
    StoppedFor = 117,
    /// When a member leaves the fleet; by member.
    LeavesAfter = 118,
    /// When a configuration change is asked for, where that is drawn; by member. The attempts tell
    /// campaigns apart.
    ChangeAsked = 144,
    /// From the start, or one joining, to the next; by number. The attempts tell kinds of members
    /// that join apart. (From here to 299: members that join, security patches, own upgrades.)
    JoinsAfter = 200,
    /// Whether a security patch needs a reimage; in the luck of the patch.
    PatchReimages = 201,
    /// How long the live patch of a member takes; by member and attempt.
    LivePatch = 202,
    /// When a member gets a pool; by member. The attempts tell the entries of `addPool` apart.
    PoolAddedAfter = 203,
    /// How long a member without a window is behind its own channel before it upgrades itself; by
    /// member. The attempts count its own upgrades, images even, Kubernetes odd.
    OwnDelay = 128,
}

/// The replication that stands for the fleet's populations.
const POPULATIONS: u32 = u32::MAX;

/// All the luck of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Luck {
    key: [u8; 32],
}

impl Luck {
    /// Places that an entity has to itself in [`Luck::own`].
    pub const OWN: u32 = 1 << 24;

    /// The luck of this seed.
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { key }
    }

    /// The luck of the n-th run that a profile makes: as if nobody else drew, so that the same run
    /// has the same luck whatever else goes on.
    #[must_use]
    pub fn of_run(&self, profile: u16, nth: u32) -> Self {
        let mut key = self.key;
        key[8..10].copy_from_slice(&(profile + 1).to_le_bytes());
        key[10..14].copy_from_slice(&nth.to_le_bytes());
        Self { key }
    }

    /// The luck of one release: the same purposes and places as another's, and other numbers. Its
    /// kind and its key together name the release; the kind is not 0.
    #[must_use]
    pub fn of_release(&self, kind: u8, name: u64) -> Self {
        let mut key = self.key;
        key[16..24].copy_from_slice(&name.to_le_bytes());
        key[24] = kind;
        Self { key }
    }

    /// The 64 uniform bits of one place. Costs a whole refill of the generator, unless one of its
    /// neighbours was asked for lately; all of them are cheaper from a [`Self::sequence`].
    pub fn at(&self, replication: u32, purpose: Purpose, attempt: u16, index: u32) -> u64 {
        near::number(self, (replication, purpose, attempt), index)
    }

    /// The bits of the places with index 0, 1, 2 and so on.
    pub fn sequence(&self, replication: u32, purpose: Purpose, attempt: u16) -> Sequence {
        assert!(replication < POPULATIONS, "the last replication is the populations'");
        self.stream(replication, purpose as u16, attempt)
    }

    /// The bits of an entity that needs many: it has [`Luck::OWN`] places to itself, and these are
    /// those from `first` on. The purpose must not be used with [`Self::at`].
    pub fn own(
        &self,
        replication: u32,
        purpose: Purpose,
        attempt: u16,
        (index, first): (u32, u32),
    ) -> Sequence {
        assert!(first < Self::OWN, "an entity has no more places of its own");
        let mut sequence = self.sequence(replication, purpose, attempt);
        let place = u128::from(index) * u128::from(Self::OWN) + u128::from(first);
        sequence.0.set_word_pos(2 * place);
        sequence
    }

    /// The draws of one field of a population, for its members 0, 1, 2 and so on: the same in
    /// every replication. Fields are numbered by whoever reads the scenario.
    pub fn population(&self, population: u16, field: u16) -> Sequence {
        self.stream(POPULATIONS, field, population)
    }

    fn stream(&self, replication: u32, purpose: u16, attempt: u16) -> Sequence {
        let mut generator = ChaCha8Rng::from_seed(self.key);
        generator.set_stream(stream_of(replication, purpose, attempt));
        Sequence(generator)
    }
}

fn stream_of(replication: u32, purpose: u16, attempt: u16) -> u64 {
    u64::from(replication) << 32 | u64::from(purpose) << 16 | u64::from(attempt)
}

/// Numbers that the generator makes at once.
pub(super) const BLOCK: usize = 32;

/// The uniform numbers of neighbouring places, in the order of their index. An endless iterator.
#[derive(Debug, Clone)]
pub struct Sequence(ChaCha8Rng);

impl Sequence {
    /// The next 64 bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills a slice with the next numbers: cheaper than one by one.
    #[inline]
    pub fn fill(&mut self, places: &mut [u64]) {
        for places in places.chunks_mut(BLOCK) {
            let mut bytes = [0; 8 * BLOCK];
            let bytes = &mut bytes[..8 * places.len()];
            self.0.fill_bytes(bytes);
            for (place, bytes) in places.iter_mut().zip(bytes.as_chunks().0) {
                *place = u64::from_le_bytes(*bytes);
            }
        }
    }

    /// Goes to the place with this index.
    pub fn seek(&mut self, index: u32) {
        self.0.set_word_pos(2 * u128::from(index));
    }
}

impl Iterator for Sequence {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        Some(self.draw())
    }
}

/// 64 uniform bits as a number between 0 and 1, never either: the upper 52 bits, and a half.
#[inline]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "52 bits are exact")]
pub fn unit(u: u64) -> f64 {
    ((u >> 12) as i64 as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
}

/// Whether something of this probability happens: to the lowest numbers.
#[inline]
pub fn happens(u: u64, probability: f64) -> bool {
    unit(u) < probability
}

/// A probability, compiled: [`happens`] for many numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    /// It happens to the numbers whose upper 52 bits are below this.
    below: u64,
}

impl Chance {
    /// Compiles a probability.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "whole numbers up to 2^52 are exact, and what lies outside stops at its ends"
    )]
    pub fn new(probability: f64) -> Self {
        // (n + 1/2) / 2^52 < p: both sides times 2^52 are exact, so the first n that fails is
        // p 2^52 - 1/2, rounded up; that difference alone may round, and is mended below.
        let fails = |n: u64| !happens(n << 12, probability);
        let mut below = (probability * (1_u64 << 52) as f64 - 0.5).ceil() as u64;
        below = below.min(1 << 52);
        while below > 0 && fails(below - 1) {
            below -= 1;
        }
        while below < 1 << 52 && !fails(below) {
            below += 1;
        }
        Self { below }
    }

    /// Whether it happens, as [`happens`] says.
    #[inline]
    pub const fn happens(self, u: u64) -> bool {
        u >> 12 < self.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_the_generator_is_chacha8() {
        // The published test vector TC1 of ChaCha8 with 256 bits: key and nonce all zero
        // (Strombergson, draft-strombergson-chacha-test-vectors-00).
        let expected = [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6];
        let first = Luck::new(0).at(0, Purpose::Duration, 0, 0);
        assert_eq!(first.to_le_bytes(), expected);
    }

    #[test]
    fn x2_the_first_draws_are_pinned() {
        let luck = Luck::new(1);
        let found = [
            luck.at(0, Purpose::Duration, 0, 0),
            luck.at(0, Purpose::Duration, 0, 1),
            luck.at(0, Purpose::Duration, 1, 0),
            luck.at(0, Purpose::Failure, 0, 0),
            luck.at(1, Purpose::Duration, 0, 0),
            luck.at(u32::MAX - 1, Purpose::ReleaseChina, u16::MAX, u32::MAX),
            luck.population(0, 0).draw(),
            luck.population(2, 1).draw(),
            luck.of_release(1, 0x0123_4567_89ab_cdef).at(7, Purpose::Susceptible, 0, 3),
        ];
        let pinned = [
            0x61a9_4a49_a0e9_5ecf,
            0x4b80_5b72_edd5_053e,
            0x1a81_25d4_8c6f_ea14,
            0x95ae_2983_d03b_2e30,
            0x7b25_09f7_2b8f_4646,
            0x87b7_347e_c22d_2de8,
            0xaac6_8baf_95a3_4b41,
            0x6f24_900b_deca_ed71,
            0xf961_53b9_d49f_14d6,
        ];
        assert_eq!(found, pinned, "a change of these is a change of every result");
    }

    #[test]
    fn x1_a_place_has_one_number_however_it_is_reached() {
        let luck = Luck::new(0x0123_4567_89ab_cdef);
        let places: Vec<u64> = luck.sequence(7, Purpose::Failure, 3).take(300).collect();
        let mut filled = vec![0; 300];
        luck.sequence(7, Purpose::Failure, 3).fill(&mut filled[..113]);
        let mut rest = luck.sequence(7, Purpose::Failure, 3);
        rest.seek(113);
        rest.fill(&mut filled[113..]);
        assert_eq!(filled, places);
        for (index, place) in (0..).zip(places) {
            assert_eq!(luck.at(7, Purpose::Failure, 3, index), place);
        }
    }

    #[test]
    fn x1_an_entity_has_places_of_its_own() {
        let luck = Luck::new(3);
        let own = |index, first| luck.own(1, Purpose::NodeTimes, 0, (index, first)).draw();
        let mut places = luck.own(1, Purpose::NodeTimes, 0, (9, 4_096));
        let drawn: Vec<u64> = (0..50).map(|_| places.draw()).collect();
        assert!((0..).zip(&drawn).all(|(i, bits)| own(9, 4_096 + i) == *bits));
        let mut all: Vec<u64> = (0..200).flat_map(|i| [own(i, 0), own(i, Luck::OWN - 1)]).collect();
        all.extend(drawn);
        let number = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), number, "different places have different numbers");
        let last = luck.own(1, Purpose::NodeTimes, 0, (u32::MAX, Luck::OWN - 1)).draw();
        assert_ne!(last, own(0, 0));
    }

    #[test]
    fn x1_different_places_have_different_numbers() {
        let mut all = Vec::new();
        for seed in 0..4 {
            let luck = Luck::new(seed);
            for replication in 0..4 {
                for purpose in [Purpose::Duration, Purpose::Failure, Purpose::ReleaseLag] {
                    for attempt in 0..4 {
                        all.extend(luck.sequence(replication, purpose, attempt).take(20));
                    }
                }
            }
            all.extend(luck.population(0, 0).take(20));
            all.extend(luck.population(0, 1).take(20));
            all.extend(luck.population(1, 0).take(20));
            for (kind, key) in [(1, 7), (2, 7), (1, 8)] {
                let release = luck.of_release(kind, key);
                all.extend(release.sequence(0, Purpose::Duration, 0).take(20));
                all.extend(release.sequence(0, Purpose::Susceptible, 0).take(20));
            }
        }
        let drawn = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), drawn);
    }

    #[test]
    fn a_compiled_chance_happens_to_the_same_numbers() {
        let tiny = f64::MIN_POSITIVE;
        let half = 0.5_f64;
        let luck: Vec<u64> = Luck::new(3).sequence(0, Purpose::Failure, 0).take(3_000).collect();
        let drawn = luck.iter().map(|u| unit(*u));
        let special = [0.0, tiny, 1e-16, half.next_down(), half, half.next_up(), 0.002, 0.98];
        for p in special.into_iter().chain([1.0_f64.next_down(), 1.0, 2.0, -1.0]).chain(drawn) {
            let chance = Chance::new(p);
            let edge = chance.below.saturating_sub(2)..=(chance.below + 2).min((1 << 52) - 1);
            let edges = edge.flat_map(|n| [n << 12, n << 12 | 0xfff]);
            for u in edges.chain([0, u64::MAX]).chain(luck[..20].iter().copied()) {
                assert_eq!(chance.happens(u), happens(u, p), "{u:#x} at {p}");
            }
        }
    }

    #[test]
    fn a_unit_is_never_zero_or_one() {
        assert!(unit(0) > 0.0 && unit(u64::MAX) < 1.0);
        assert!(unit(1 << 63) > 0.5 && unit((1 << 63) - 1) < 0.5);
        assert!(happens(u64::MAX, 1.0) && !happens(0, 0.0));
        let often = Luck::new(5).sequence(0, Purpose::Failure, 0).take(100_000);
        let often = often.filter(|u| happens(*u, 0.2)).count();
        assert!((19_400..20_600).contains(&often), "{often} of 100,000 with probability 0.2");
    }
}
