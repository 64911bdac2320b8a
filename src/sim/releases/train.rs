//! The node-image train: when each image version arrives in each region (W1, W2).
//!
//! Owns the measured model of rollouts. Does not own which image an update aims at (the
//! scheduler).
//!
//! A version has a date; after a drawn lag it arrives in order 1 (and in the two EUAP regions,
//! ours), then goes order by order, inside orders 5 and 6 slot by slot, and rests over the
//! weekend. All regions ride the same train, so they are anything but independent. Every number
//! below was measured on the public release tracker and the public release notes, unless it says
//! otherwise; the lag to order 1 and the share of abandoned rollouts rest on few rollouts (4
//! and 10).

use jiff::civil::{Date, Weekday};

use super::{Arrivals, Chance, Release};
use crate::fleet::{ImageVersion, NodeImage, OsType, PoolImage, SecurityPatch, regions};
use crate::ids::{Column, FamilyId, RegionId};
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::Released;
use crate::sim::draw::{self, Luck, Purpose, Sequence, unit};
use crate::sim::model::{Mishaps, Setting};
use crate::time::{Span, Timestamp};

/// How long before the scenario's start the train sets off (world.md).
pub const BEFORE_START: Span = Span::from_days(180);
/// From one Linux version's date to the next: lognormal, median in days (measured 2024–26, 73
/// gaps). One stream of versions serves all Linux families.
pub const LINUX_GAP_MEDIAN_DAYS: f64 = 11.2;
/// Its sigma.
pub const LINUX_GAP_SIGMA: f64 = 0.54;
/// From one security patch's date to the next: lognormal, median in days (measured 2025–26, 50
/// gaps). One stream of patches serves all Linux families, on a train of their own that goes like
/// the images' (ours: what was measured of theirs is thin and looks like it).
pub const PATCH_GAP_MEDIAN_DAYS: f64 = 10.3;
/// Its sigma.
pub const PATCH_GAP_SIGMA: f64 = 0.51;
/// Windows versions are dated this long after the second Tuesday of the month.
pub const WINDOWS_AFTER_SECOND_TUESDAY: i64 = 1;
/// From the version's date to its arrival in order 1: gamma, shape (measured on 4 rollouts).
pub const LAG_SHAPE: f64 = 5.7;
/// Its scale in days.
pub const LAG_SCALE_DAYS: f64 = 1.22;
/// From order 1 to order 2: 6.5 h.
pub const FIRST_STEP: Span = Span::from_mins(390);
/// From order to order afterwards, up to the first slot of order 5: 24.4 h.
pub const STEP: Span = Span::from_mins(1_464);
/// From slot to slot inside orders 5 and 6, and from the one to the other: 1.53 h.
pub const SLOT: Span = Span::from_secs(5_508);
/// Probability that two regions share a slot.
pub const PAIR: f64 = 0.3;
/// Probability that a slot is followed by a pause.
pub const PAUSE: f64 = 0.1;
/// How long a pause is: uniform, 1.5 to 4.5 h.
pub const PAUSE_RANGE: (Span, Span) = (Span::from_mins(90), Span::from_mins(270));
/// When the weekend hold begins, from Friday 16:00 UTC: uniform. Drawn once a rollout.
pub const HOLD_FROM: (Span, Span) = (Span::ZERO, Span::from_hours(11));
/// When it ends, from Sunday 16:00 UTC: uniform. Drawn once a rollout.
pub const HOLD_TO: (Span, Span) = (Span::ZERO, Span::from_mins(390));
/// From the last region of order 6 to order 7: uniform.
pub const GOVERNMENT: (Span, Span) = (Span::from_days(-1), Span::from_days(4));
/// From order 7 to order 8: 30.4 h.
pub const GOVERNMENT_STEP: Span = Span::from_mins(1_824);
/// From order 1 to order 9: uniform, 7.5 to 9.5 days.
pub const CHINA: (Span, Span) = (Span::from_hours(180), Span::from_hours(228));
/// Probability that a rollout is abandoned after order 5 (2 of 10 seen), unless the scenario says.
pub const ABANDONED: f64 = 0.2;

const WEEK: Span = Span::from_days(7);
const DAY: i64 = Span::DAY.as_millis();
/// 1970-01-02 was a Friday.
const A_FRIDAY_16: Timestamp = Timestamp::from_millis(Span::from_hours(24 + 16).as_millis());
/// Room for the regions of orders 5 and 6 in the draws of one version.
const SLOTS: usize = 72;
/// A stop for each order, then one for each region of orders 5 and 6.
const STOPS: usize = FIRST_SLOT + SLOTS;
const FIRST_SLOT: usize = 10;

/// One version's journey, shared by all families of its train.
#[derive(Debug, Clone, Copy)]
struct Rollout {
    version: ImageVersion,
    published: Timestamp,
    withdrawn: Timestamp,
}

/// What is drawn of one line, reused from replication to replication.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// The day of each version, counted from the train's first day.
    days: Vec<usize>,
    /// The newest first.
    rollouts: Vec<Rollout>,
    /// When each of them reaches each region, a row a rollout.
    reached: Vec<Timestamp>,
    numbers: Numbers,
    delayed: Vec<Option<Span>>,
    withdrawn: Vec<Option<Span>>,
}

/// The numbers of one line of one replication, by version.
#[derive(Debug, Clone, Default)]
struct Numbers {
    lag: Vec<u64>,
    hold_from: Vec<u64>,
    hold_to: Vec<u64>,
    abandoned: Vec<u64>,
    government: Vec<u64>,
    china: Vec<u64>,
}

/// Which versions are too old for anybody to notice them.
#[derive(Debug, Clone, Copy)]
struct Forgotten {
    /// So many newer ones are everywhere by then.
    after: u32,
    by: Timestamp,
    /// None newer than this: somebody may run one just before it.
    up_to: Option<ImageVersion>,
}

/// The measured train, ready to be drawn from.
#[derive(Debug, Clone)]
pub struct Train {
    /// Families in their order, each with its line.
    families: Vec<(FamilyId, OsType)>,
    /// At which stop each region of the fleet is reached; `None`: not in the table.
    stops: Column<RegionId, Option<usize>>,
    /// Stops of orders 5 and 6 come before these.
    ends: [usize; 2],
    /// Stops from this one on are of no use to anybody.
    useful: usize,
    /// Whether a region of the orders above 6 wants to know.
    beyond: bool,
    /// The day the train sets off, counted from 1970-01-01, and every day's version from there.
    first_day: i64,
    versions: Vec<ImageVersion>,
    /// The days of Windows versions, counted from the first day.
    windows: Vec<usize>,
    from: Timestamp,
    pub(super) end: Timestamp,
    linux_gap: Quantiles,
    patch_gap: Quantiles,
    lag: Quantiles,
    abandoned: draw::Chance,
    pair: draw::Chance,
    pause: draw::Chance,
    delayed: Option<Chance>,
    withdrawn: Option<Chance>,
    /// Whether security patches are wanted.
    patches: bool,
    forgotten: Option<Forgotten>,
}

/// How many lines there are.
pub(super) const LINES: usize = 3;

/// The streams of versions, each with a train of its own. The values are places of luck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Line {
    Linux = 0,
    Windows = 1,
    Patches = 2,
}

/// The image families of all pools that there can be, with their operating system.
pub fn families_of(setting: Setting<'_>) -> Vec<(FamilyId, OsType)> {
    let families = setting.pools().map(|pool| (pool.image.family(), pool.os_type));
    let mut families: Vec<_> = families.collect();
    families.sort_by_key(|(family, _)| *family);
    families.dedup_by_key(|(family, _)| *family);
    families
}

impl Train {
    /// The train of these image families through these regions (programmatic names; it passes by
    /// those that the table of regions does not have), from 180 days before `start` to `end`.
    pub fn new(
        families: &[(FamilyId, OsType)],
        regions: &Column<RegionId, String>,
        start: Timestamp,
        end: Timestamp,
    ) -> Self {
        let from = start - BEFORE_START;
        let first_day = from.as_millis().div_euclid(DAY);
        let days: Vec<Date> = (first_day..=end.as_millis().div_euclid(DAY)).map(date).collect();
        let on = |day: &Date| ImageVersion::of_build_day(day.year(), day.month(), day.day());
        let in_order = |order| regions::all().iter().filter(|region| region.order == order).count();
        let five = FIRST_SLOT + in_order(5);
        let ends = [five, five + in_order(6)];
        assert!(ends[1] <= STOPS, "orders 5 and 6 fit into the draws of one version");
        let stops: Column<RegionId, _> = regions.iter().map(|name| stop(name, five)).collect();
        let beyond = stops.iter().flatten().any(|stop| (7..FIRST_SLOT).contains(stop));
        let useful = stops.iter().flatten().max().map_or(0, |last| last + 1);
        let mut families = families.to_vec();
        families.sort_by_key(|(family, _)| *family);
        let day = |days: f64| days * 86_400_000.0;
        let lognormal = |median, sigma| compile(Distribution::lognormal(day(median), sigma));
        Self {
            families,
            stops,
            ends,
            // The way to order 7 leads through all of order 6.
            useful: if beyond { ends[1] } else { useful },
            beyond,
            first_day,
            versions: days.iter().map(on).collect(),
            windows: (0..days.len()).filter(|position| is_windows_day(days[*position])).collect(),
            from,
            end,
            linux_gap: lognormal(LINUX_GAP_MEDIAN_DAYS, LINUX_GAP_SIGMA),
            patch_gap: lognormal(PATCH_GAP_MEDIAN_DAYS, PATCH_GAP_SIGMA),
            lag: compile(Distribution::gamma(LAG_SHAPE, day(LAG_SCALE_DAYS))),
            abandoned: draw::Chance::new(ABANDONED),
            pair: draw::Chance::new(PAIR),
            pause: draw::Chance::new(PAUSE),
            delayed: None,
            withdrawn: None,
            patches: false,
            forgotten: None,
        }
    }

    /// The same, with what goes wrong as the scenario says.
    #[must_use]
    pub fn with(mut self, mishaps: &Mishaps) -> Self {
        self.abandoned = draw::Chance::new(mishaps.abandoned.unwrap_or(ABANDONED));
        self.delayed = mishaps.delayed.as_ref().map(Chance::new);
        self.withdrawn = mishaps.withdrawn.as_ref().map(Chance::new);
        self
    }

    /// The same, with the security patches of Linux.
    #[must_use]
    pub fn with_security_patches(mut self) -> Self {
        self.patches = true;
        self
    }

    /// The same, without versions of images that are too old to matter to this fleet: those that
    /// are older than all that its pools may run at the start, when newer ones are everywhere.
    ///
    /// Nobody aims at them: `Latest` and `Consistent` take the newer ones. Where versions can be
    /// withdrawn, or somebody looks back at what was published, the old ones matter.
    #[must_use]
    pub fn for_runs_from(mut self, setting: Setting<'_>) -> Self {
        if self.withdrawn.is_some() {
            return self;
        }
        let behind = setting.pools().filter_map(|pool| match pool.image {
            PoolImage::Behind { versions, .. } => Some(versions),
            PoolImage::Exactly(_) => None,
        });
        let exact = setting.pools().filter_map(|pool| match pool.image {
            PoolImage::Exactly(image) => Some(image.version),
            PoolImage::Behind { .. } => None,
        });
        let after = behind.max().map_or(1, |versions| versions + 1);
        self.forgotten = Some(Forgotten { after, by: setting.start, up_to: exact.min() });
        self
    }

    /// Draws one replication's releases and arrivals, in no order of time.
    pub(super) fn draw(&self, luck: &Luck, replication: u32, into: &mut Arrivals) {
        into.clear(self.stops.len());
        let mut scratch = std::mem::take(&mut into.train);
        for (line, os) in [(Line::Linux, OsType::Linux), (Line::Windows, OsType::Windows)] {
            if self.families.iter().any(|(_, other)| *other == os) {
                self.draw_line(line, luck, replication, &mut scratch[line as usize]);
            }
        }
        for (family, os) in &self.families {
            let line = if *os == OsType::Linux { Line::Linux } else { Line::Windows };
            for (rollout, reached) in scratch[line as usize].in_order(self.stops.len()) {
                let image = NodeImage { family: *family, version: rollout.version };
                let release = Release {
                    what: Released::NodeImage(image),
                    published: rollout.published,
                    withdrawn: rollout.withdrawn,
                    lifecycle: None,
                };
                into.push(release, reached.iter().copied(), self.end);
            }
        }
        into.train = scratch;
    }

    /// The same of security patches, which stand behind all other releases.
    pub(super) fn draw_patches(&self, luck: &Luck, replication: u32, into: &mut Arrivals) {
        if !self.patches {
            return;
        }
        let mut scratch = std::mem::take(&mut into.train);
        let patches = &mut scratch[Line::Patches as usize];
        self.draw_line(Line::Patches, luck, replication, patches);
        for (rollout, reached) in patches.in_order(self.stops.len()) {
            let release = Release {
                what: Released::SecurityPatch(SecurityPatch::of_day(rollout.version)),
                published: rollout.published,
                withdrawn: rollout.withdrawn,
                lifecycle: None,
            };
            into.push(release, reached.iter().copied(), self.end);
        }
        into.train = scratch;
    }

    /// The days of a line's versions, up to the end.
    fn days(&self, line: Line, luck: &Luck, replication: u32, days: &mut Vec<usize>) {
        days.clear();
        let gap = match line {
            Line::Linux => &self.linux_gap,
            Line::Patches => &self.patch_gap,
            Line::Windows => return days.extend(&self.windows),
        };
        let mut cadence = luck.sequence(replication, Purpose::ReleaseCadence, line as u16);
        let mut clock = self.from;
        loop {
            clock += Span::from_millis(gap.millis(cadence.draw(), 0));
            // Versions are dated by day; two of one day would be one.
            let today = clock.as_millis().div_euclid(DAY) - self.first_day;
            let today = usize::try_from(today).expect("the clock starts on the first day");
            let day = days.last().map_or(today, |before| today.max(before + 1));
            if day >= self.versions.len() {
                return;
            }
            days.push(day);
        }
    }

    /// Draws the rollouts of a line, the newest first.
    fn draw_line(&self, line: Line, luck: &Luck, replication: u32, scratch: &mut Scratch) {
        let Scratch { days, rollouts, reached, numbers, delayed, withdrawn } = scratch;
        self.days(line, luck, replication, days);
        let of = |purpose| luck.sequence(replication, purpose, line as u16);
        numbers.draw(days.len(), self.beyond, of);
        let delays = [Purpose::ReleaseDelayed, Purpose::ReleaseDelay];
        Chance::fill(self.delayed.as_ref(), delays.map(of), days.len(), delayed);
        let withdrawals = [Purpose::ReleaseWithdrawn, Purpose::ReleaseWithdrawal];
        Chance::fill(self.withdrawn.as_ref(), withdrawals.map(of), days.len(), withdrawn);
        let forgotten = self.forgotten.filter(|_| line != Line::Patches);
        let mut everywhere = 0;
        let mut ride = Ride::new(of(Purpose::ReleaseSlots));
        rollouts.clear();
        reached.clear();
        for (number, day) in days.iter().enumerate().rev() {
            let version = self.versions[*day];
            if forgotten.is_some_and(|it| it.forgets(version, everywhere)) {
                return;
            }
            let day = i64::try_from(*day).expect("a day is a small number") + self.first_day;
            let late = delayed.get(number).copied().flatten().unwrap_or(Span::ZERO);
            self.ride(Timestamp::from_millis(day * DAY) + late, (number, numbers), &mut ride);
            let published = ride.stops[1];
            let after = withdrawn.get(number).copied().flatten();
            let withdrawn = after.map_or(Timestamp::MAX, |after| published + after);
            rollouts.push(Rollout { version, published, withdrawn });
            let at = |stop: &Option<usize>| stop.map_or(Timestamp::MAX, |stop| ride.stops[stop]);
            reached.extend(self.stops.iter().map(at));
            let there = |stop: &usize| forgotten.is_some_and(|it| ride.stops[*stop] <= it.by);
            everywhere += u32::from(self.stops.iter().flatten().all(there));
        }
    }

    /// One version's journey from its date, perhaps late, as far as somebody wants to know. Each
    /// version's numbers are in their places, whether those of others are drawn or not.
    fn ride(&self, dated: Timestamp, (number, numbers): (usize, &Numbers), ride: &mut Ride) {
        let lag = self.lag.millis(numbers.lag[number], 0);
        let first = dated + Span::from_millis(lag);
        let stops = &mut ride.stops;
        ride.hold = Hold::new(numbers.hold_from[number], numbers.hold_to[number], first);
        stops[1] = first;
        stops[2] = ride.hold.over(first + FIRST_STEP);
        stops[3] = ride.hold.over(stops[2] + STEP);
        stops[4] = ride.hold.over(stops[3] + STEP);
        if self.useful <= FIRST_SLOT {
            return;
        }
        let ([five, all], due) = (self.ends, stops[4] + STEP);
        ride.draw(number, self.useful - FIRST_SLOT);
        let next = self.slots(FIRST_SLOT..five.min(self.useful), due, ride);
        if self.abandoned.happens(numbers.abandoned[number]) {
            ride.stops[7..FIRST_SLOT].fill(Timestamp::MAX);
            ride.stops[five..all].fill(Timestamp::MAX);
            return;
        }
        if five < self.useful {
            self.slots(five..self.useful, next, ride);
        }
        if self.beyond {
            let (stops, hold) = (&mut ride.stops, &mut ride.hold);
            stops[7] = hold.over(stops[all - 1] + between(numbers.government[number], GOVERNMENT));
            stops[8] = hold.over(stops[7] + GOVERNMENT_STEP);
            stops[9] = hold.over(first + between(numbers.china[number], CHINA));
        }
    }

    /// Goes through the regions of one order, slot by slot; returns when the slot after it is due.
    fn slots(&self, places: std::ops::Range<usize>, due: Timestamp, ride: &mut Ride) -> Timestamp {
        let Ride { stops, hold, numbers, .. } = ride;
        let (mut place, mut due, last) = (places.start, hold.over(due), places.end - 1);
        while place <= last {
            // Later than all that was asked before, so it is before the hold, or in it, or after.
            if due >= hold.begins {
                due = hold.over(due);
            }
            // The upper half of the number pairs, the lower half pauses. What is written for a
            // second region that does not share the slot is overwritten by its own.
            let number = numbers[place - FIRST_SLOT];
            stops[place] = due;
            stops[(place + 1).min(last)] = due;
            place += 1 + usize::from(self.pair.happens(number));
            due += SLOT;
            if self.pause.happens(number << 32) {
                due += pause(number << 32);
            }
        }
        due
    }
}

impl Forgotten {
    /// Whether nobody notices a version, with so many newer ones everywhere.
    fn forgets(&self, version: ImageVersion, everywhere: u32) -> bool {
        everywhere >= self.after && self.up_to.is_none_or(|oldest| version <= oldest)
    }
}

impl Scratch {
    /// The rollouts with when they reach each region, the oldest first.
    fn in_order(&self, regions: usize) -> impl Iterator<Item = (&Rollout, &[Timestamp])> {
        let row = move |number: usize| &self.reached[number * regions..(number + 1) * regions];
        self.rollouts.iter().enumerate().rev().map(move |(number, rollout)| (rollout, row(number)))
    }
}

impl Numbers {
    /// Draws those of so many versions.
    fn draw(&mut self, versions: usize, beyond: bool, of: impl Fn(Purpose) -> Sequence) {
        let fill = |numbers: &mut Vec<u64>, purpose| {
            numbers.resize(versions, 0);
            of(purpose).fill(numbers);
        };
        fill(&mut self.lag, Purpose::ReleaseLag);
        fill(&mut self.hold_from, Purpose::ReleaseHoldFrom);
        fill(&mut self.hold_to, Purpose::ReleaseHoldTo);
        fill(&mut self.abandoned, Purpose::ReleaseAbandoned);
        if beyond {
            fill(&mut self.government, Purpose::ReleaseGovernment);
            fill(&mut self.china, Purpose::ReleaseChina);
        }
    }
}

/// A version on its way.
struct Ride {
    /// When each stop is reached.
    stops: [Timestamp; STOPS],
    hold: Hold,
    slots: Sequence,
    /// Where in its sequence is the next number that was not drawn.
    drawn: usize,
    numbers: [u64; SLOTS],
}

impl Ride {
    fn new(slots: Sequence) -> Self {
        let hold = Hold { begins: Timestamp::MIN, ends: Timestamp::MIN };
        let stops = [Timestamp::MAX; STOPS];
        Self { stops, hold, slots, drawn: 0, numbers: [0; SLOTS] }
    }

    /// Draws the numbers of a version's first slots.
    fn draw(&mut self, version: usize, slots: usize) {
        let place = version * SLOTS;
        if place != self.drawn {
            self.slots.seek(u32::try_from(place).expect("versions are few"));
        }
        self.slots.fill(&mut self.numbers[..slots]);
        self.drawn = place + slots;
    }
}

/// The pause after a slot that has one: of the numbers below [`PAUSE`], the lower the shorter.
fn pause(u: u64) -> Span {
    let (low, high) = (PAUSE_RANGE.0.as_secs_f64(), PAUSE_RANGE.1.as_secs_f64());
    #[expect(clippy::cast_possible_truncation, reason = "a few hours in milliseconds")]
    Span::from_millis(((low + (high - low) * (unit(u) / PAUSE)) * 1_000.0) as i64)
}

/// Uniform between two spans, the first included, in integers.
fn between(u: u64, (low, high): (Span, Span)) -> Span {
    let width = u128::from((high - low).as_millis().unsigned_abs());
    let part = (u128::from(u) * width) >> 64;
    low + Span::from_millis(i64::try_from(part).expect("less than the width"))
}

/// A weekend hold: the same hours of every week of a rollout. Remembers the week it was last asked
/// about, because steps follow each other closely.
#[derive(Debug, Clone, Copy)]
struct Hold {
    begins: Timestamp,
    ends: Timestamp,
}

impl Hold {
    /// The hold of these two draws, in the week of this instant.
    fn new(from: u64, to: u64, near: Timestamp) -> Self {
        let weeks = (near - A_FRIDAY_16).as_millis().div_euclid(WEEK.as_millis());
        let friday = A_FRIDAY_16 + WEEK * weeks;
        let sunday = friday + Span::from_days(2);
        Self { begins: friday + between(from, HOLD_FROM), ends: sunday + between(to, HOLD_TO) }
    }

    /// When a step due at this instant happens: at the end of the hold if it falls into it.
    fn over(&mut self, due: Timestamp) -> Timestamp {
        while due >= self.ends {
            (self.begins, self.ends) = (self.begins + WEEK, self.ends + WEEK);
        }
        while due < self.ends - WEEK {
            (self.begins, self.ends) = (self.begins - WEEK, self.ends - WEEK);
        }
        if due < self.begins { due } else { self.ends }
    }
}

fn compile(distribution: Result<Distribution, String>) -> Quantiles {
    Quantiles::new(&distribution.expect("a measured distribution makes sense"))
}

/// The stop at which a region is reached; those of order 6 begin at `six`.
fn stop(name: &str, six: usize) -> Option<usize> {
    let region = regions::find(name)?;
    let place = usize::from(region.rank.saturating_sub(1));
    Some(match region.order {
        0 => 1,
        5 => FIRST_SLOT + place,
        6 => six + place,
        order => usize::from(order),
    })
}

/// The date of a day counted from 1970-01-01.
fn date(day: i64) -> Date {
    let epoch = jiff::civil::date(1970, 1, 1);
    epoch.checked_add(jiff::Span::new().days(day)).expect("scenarios stay in the calendar")
}

fn is_windows_day(day: Date) -> bool {
    let after = jiff::Span::new().days(WINDOWS_AFTER_SECOND_TUESDAY);
    let tuesday = day.checked_sub(after).expect("scenarios stay in the calendar");
    tuesday.weekday() == Weekday::Tuesday && (8..=14).contains(&tuesday.day())
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
mod tests {
    use super::super::testing::{correlation, mean_and_sd};
    use super::*;
    use crate::ids::Id as _;
    use crate::sim::releases::{Arrival, Wants};
    use std::collections::BTreeMap;

    const LINUX: FamilyId = FamilyId(1);
    const WINDOWS: FamilyId = FamilyId(0);
    const AZURE_LINUX: FamilyId = FamilyId(2);

    fn every_region() -> Column<RegionId, String> {
        regions::all().iter().map(|region| region.name.to_owned()).collect()
    }

    fn named(name: &str) -> RegionId {
        RegionId::new(regions::all().iter().position(|region| region.name == name).unwrap())
    }

    fn start() -> Timestamp {
        "2026-03-02T08:00:00Z".parse().unwrap()
    }

    fn train(families: &[(FamilyId, OsType)]) -> Train {
        Train::new(families, &every_region(), start(), start() + Span::from_days(60))
    }

    fn draw(train: &Train, seed: u64, replication: u32, into: &mut Arrivals) {
        train.draw(&Luck::new(seed), replication, into);
        into.finish(Wants::default(), train.end);
    }

    fn days(span: Span) -> f64 {
        span.as_secs_f64() / 86_400.0
    }

    /// Rollouts whose train passed everywhere before the end: days after order 1, by stop.
    fn rollouts(replications: u32) -> Vec<(Timestamp, [Option<f64>; STOPS])> {
        let (train, mut into, mut all) =
            (train(&[(LINUX, OsType::Linux)]), Arrivals::default(), vec![]);
        for replication in 0..replications {
            draw(&train, 11, replication, &mut into);
            for (rollout, reached) in into.train[0].in_order(train.stops.len()) {
                let mut after = [None; STOPS];
                for (stop, at) in train.stops.iter().zip(reached) {
                    let passed = *at < Timestamp::MAX;
                    after[stop.unwrap()] = passed.then(|| days(*at - rollout.published));
                }
                all.push((rollout.published, after));
            }
        }
        all
    }

    /// The measured lags rest on three whole rollouts, whose regions move together: so they are
    /// held against simulated samples of three, and only the means against the mean of all.
    #[test]
    fn w1_the_train_reproduces_the_measured_lags() {
        let all = rollouts(300);
        let five = FIRST_SLOT..FIRST_SLOT + 30;
        let six = five.end..five.end + 36;
        let whole: Vec<_> = all.iter().filter(|(_, after)| after[six.end - 1].is_some()).collect();
        let of = |sample: &[&(Timestamp, [Option<f64>; STOPS])], stops: &std::ops::Range<usize>| {
            let lags = sample.iter().flat_map(|(_, after)| after[stops.clone()].iter().flatten());
            mean_and_sd(&lags.copied().collect::<Vec<f64>>())
        };
        let of_three = |stops: &std::ops::Range<usize>| -> (Vec<f64>, Vec<f64>) {
            whole.chunks_exact(3).map(|three| of(three, stops)).unzip()
        };
        println!("days after order 1, {} rollouts, means and sds of all:", whole.len());
        println!(
            "order 5 (5.19, 1.17): {:.2?}; order 6 (8.07, 0.63): {:.2?}",
            of(&whole, &five),
            of(&whole, &six)
        );
        println!("samples of three: measured | simulated 2.5 % 50 % 97.5 %");
        let ((means_5, sds_5), (means_6, sds_6)) = (of_three(&five), of_three(&six));
        assert!(target("order 5 mean", 5.19, means_5) && target("order 5 sd", 1.17, sds_5));
        assert!(target("order 6 mean", 8.07, means_6) && target("order 6 sd", 0.63, sds_6));
        for measured in [8.4, 8.9, 9.2] {
            let last = whole.iter().map(|(_, after)| after[six.end - 1].unwrap()).collect();
            assert!(target("last public region", measured, last));
        }
        assert!((of(&whole, &five).0 - 5.19).abs() < 0.2);
        assert!((of(&whole, &six).0 - 8.07).abs() < 0.2);
    }

    #[test]
    fn w1_the_lag_to_order_1_and_the_cadence_are_the_measured_ones() {
        let (train, mut into) = (train(&[(LINUX, OsType::Linux)]), Arrivals::default());
        let (mut lags, mut gaps) = (Vec::new(), Vec::new());
        for replication in 0..300 {
            draw(&train, 3, replication, &mut into);
            let rollouts = || into.train[0].in_order(train.stops.len()).map(|(rollout, _)| rollout);
            let dated: Vec<Timestamp> = rollouts().map(|r| dated(r.version)).collect();
            gaps.extend(dated.windows(2).map(|two| days(two[1] - two[0])));
            lags.extend(rollouts().zip(&dated).map(|(r, at)| days(r.published - *at)));
            assert!(dated.windows(2).all(|two| two[0] < two[1]), "versions have distinct dates");
        }
        let ((lag, lag_sd), (gap, gap_sd)) = (mean_and_sd(&lags), mean_and_sd(&gaps));
        println!(
            "lag mean 6.95 sd 2.91 | {lag:.2} {lag_sd:.2}; gap mean 12.96 | {gap:.2} {gap_sd:.2}"
        );
        assert!((lag - 5.7 * 1.22).abs() < 0.2 && (lag_sd - 2.91).abs() < 0.2);
        // The horizon cuts off long gaps, so the mean is a little short of 11.2 · exp(0.54²/2).
        assert!((gap - 12.96).abs() < 0.6);
    }

    fn dated(version: ImageVersion) -> Timestamp {
        let name = version.to_string();
        format!("{}-{}-{}", &name[..4], &name[4..6], &name[7..9]).parse().unwrap()
    }

    #[test]
    fn w1_regions_of_one_version_move_together_and_versions_apart() {
        let (train, mut into) = (train(&[(LINUX, OsType::Linux)]), Arrivals::default());
        let (west, north) = (named("westeurope"), named("northeurope"));
        let (mut within, mut between) = (Vec::new(), Vec::new());
        for replication in 0..400 {
            draw(&train, 5, replication, &mut into);
            let lag = |release: u32, region| {
                let image = into.releases[release as usize].image().unwrap();
                into.reached(release, region).map(|at| days(at - dated(image.version)))
            };
            for release in 0..10 {
                if let (Some(a), Some(b)) = (lag(release, west), lag(release, north)) {
                    within.push((a, b));
                }
                if let (Some(a), Some(b)) = (lag(release, north), lag(release + 1, north)) {
                    between.push((a, b));
                }
            }
        }
        let (within, between) = (correlation(&within), correlation(&between));
        println!("correlation of lags within a version {within:.2}, between versions {between:.2}");
        assert!(within > 0.9 && between.abs() < 0.06);
    }

    #[test]
    fn w1_an_abandoned_rollout_reaches_no_order_above_5() {
        let all = rollouts(200);
        let reaches = |after: &[Option<f64>; STOPS], stop: usize| after[stop].is_some();
        let last_of_5 = FIRST_SLOT + 29;
        assert!(all.iter().all(|(_, after)| (1..=4).all(|order| reaches(after, order))));
        assert!(all.iter().all(|(_, after)| reaches(after, last_of_5)));
        let (whole, cut): (Vec<_>, Vec<_>) =
            all.iter().partition(|(_, after)| reaches(after, last_of_5 + 1));
        let above: Vec<usize> = (7..=9).chain(last_of_5 + 1..FIRST_SLOT + 66).collect();
        assert!(cut.iter().all(|(_, after)| above.iter().all(|stop| !reaches(after, *stop))));
        assert!(whole.iter().all(|(_, after)| above.iter().all(|stop| reaches(after, *stop))));
        let share = cut.len() as f64 / all.len() as f64;
        assert!((share - ABANDONED).abs() < 0.03, "{share} abandoned");
    }

    #[test]
    fn w1_nothing_but_order_1_arrives_over_the_weekend() {
        for (first, after) in rollouts(100) {
            let at = |lag: f64| first + Span::from_millis((lag * 86_400_000.0).round() as i64);
            for at in (2..STOPS).filter_map(|stop| after[stop].map(at)) {
                let into = (at - A_FRIDAY_16).as_millis().rem_euclid(WEEK.as_millis());
                let always = Span::from_hours(11).as_millis()..Span::from_hours(48).as_millis();
                assert!(!always.contains(&into), "{at}");
            }
        }
    }

    #[test]
    fn w1_a_step_in_the_hold_happens_at_its_end_and_the_next_follows_from_there() {
        let saturday: Timestamp = "2026-03-07T10:00:00Z".parse().unwrap();
        let sunday: Timestamp = "2026-03-08T16:00:00Z".parse().unwrap();
        let mut hold = Hold::new(0, 0, saturday + Span::from_days(30));
        assert_eq!(hold.over(saturday), sunday);
        assert_eq!(hold.over(sunday), sunday);
        let friday: Timestamp = "2026-03-06T16:00:00Z".parse().unwrap();
        assert_eq!(hold.over(friday), sunday);
        assert_eq!(hold.over(friday - Span::from_millis(1)), friday - Span::from_millis(1));
        // No pair, no pause: one region a slot, from the end of the hold on.
        let train = train(&[(LINUX, OsType::Linux)]);
        let mut ride = Ride::new(Luck::new(0).sequence(0, Purpose::ReleaseSlots, 0));
        (ride.hold, ride.numbers) = (hold, [u64::MAX; SLOTS]);
        let next = train.slots(10..13, saturday, &mut ride);
        assert_eq!(ride.stops[10..13], [sunday, sunday + SLOT, sunday + SLOT * 2]);
        assert_eq!(next, sunday + SLOT * 3);
        // All pairs and the shortest pauses.
        ride.numbers = [0; SLOTS];
        train.slots(10..13, sunday, &mut ride);
        assert_eq!(ride.stops[10..13], [sunday, sunday, sunday + SLOT + Span::from_mins(90)]);
    }

    #[test]
    fn w2_windows_versions_follow_the_second_tuesday() {
        let (train, mut into) = (train(&[(WINDOWS, OsType::Windows)]), Arrivals::default());
        draw(&train, 1, 0, &mut into);
        let versions: Vec<String> = into
            .releases
            .iter()
            .map(|release| release.image().unwrap().version.to_string())
            .collect();
        let expected = ["202509.10.0", "202510.15.0", "202511.12.0", "202512.10.0", "202601.14.0"];
        assert_eq!(versions[..5], expected);
        assert_eq!(versions[5..], ["202602.11.0", "202603.11.0", "202604.15.0"]);
    }

    #[test]
    fn x1_families_and_regions_change_no_other_draw() {
        let (mut alone, mut all) = (Arrivals::default(), Arrivals::default());
        let one: Column<RegionId, String> = [String::from("westeurope")].into_iter().collect();
        let end = start() + Span::from_days(60);
        let narrow = Train::new(&[(LINUX, OsType::Linux)], &one, start(), end);
        let families =
            [(AZURE_LINUX, OsType::Linux), (LINUX, OsType::Linux), (WINDOWS, OsType::Windows)];
        let wide = train(&families);
        for replication in 0..20 {
            draw(&narrow, 9, replication, &mut alone);
            draw(&wide, 9, replication, &mut all);
            let of =
                |family| all.releases.iter().filter(move |r| r.image().unwrap().family == family);
            assert!(of(LINUX).eq(alone.releases.iter()));
            let published = |family| {
                of(family).map(|release| (release.image().unwrap().version, release.published))
            };
            assert!(published(LINUX).eq(published(AZURE_LINUX)), "one rollout serves all of Linux");
            let offset =
                all.releases.partition_point(|release| release.image().unwrap().family < LINUX);
            for (release, _) in (0..).zip(&alone.releases) {
                assert_eq!(
                    alone.reached(release, RegionId(0)),
                    all.reached(release + u32::try_from(offset).unwrap(), named("westeurope")),
                );
            }
        }
    }

    #[test]
    fn x3_a_replication_is_the_same_however_often_it_is_drawn_and_sorted() {
        let families = [(LINUX, OsType::Linux), (WINDOWS, OsType::Windows)];
        let (train, mut into) = (train(&families), Arrivals::default());
        draw(&train, 7, 3, &mut into);
        let (releases, arrivals) = (into.releases.clone(), into.arrivals.clone());
        draw(&train, 7, 4, &mut into);
        assert_ne!(into.releases, releases);
        draw(&train, 7, 3, &mut into);
        assert_eq!((&into.releases, &into.arrivals), (&releases, &arrivals));
        assert!(arrivals.is_sorted_by_key(|arrival| (arrival.at, arrival.release, arrival.region)));
        assert!(arrivals.iter().all(|arrival| arrival.at <= train.end));
        for arrival in &arrivals {
            assert_eq!(into.reached(arrival.release, arrival.region), Some(arrival.at));
            // R-I8: published at the earliest arrival.
            assert!(releases[arrival.release as usize].published <= arrival.at);
        }
        let published = |release: u32| releases[release as usize].published;
        let earliest = arrivals.iter().fold(BTreeMap::new(), |mut earliest, arrival| {
            earliest.entry(arrival.release).or_insert(arrival.at);
            earliest
        });
        assert!(earliest.iter().all(|(release, at)| published(*release) == *at));
    }

    #[test]
    fn w1_a_version_that_is_forgotten_is_one_that_nobody_would_have_noticed() {
        let families = [(LINUX, OsType::Linux), (WINDOWS, OsType::Windows)];
        let whole = train(&families);
        let (mut all, mut kept, mut left_out) = (Arrivals::default(), Arrivals::default(), 0);
        for (replication, after) in (0..60).flat_map(|r| [(r, 1), (r, 3)]) {
            draw(&whole, 8, replication, &mut all);
            let up_to = (replication % 2 == 0).then(|| all.releases[12].image().unwrap().version);
            let forgotten = Some(Forgotten { after, by: start(), up_to });
            draw(&Train { forgotten, ..whole.clone() }, 8, replication, &mut kept);
            for (family, _) in families {
                for region in whole.stops.ids() {
                    for behind in 0..after {
                        let newest =
                            |into: &Arrivals| into.newest_at(family, region, start(), behind);
                        assert_eq!(newest(&kept), newest(&all));
                    }
                }
            }
            let (mut rest, mut new) = (kept.arrivals.iter().peekable(), 0);
            for arrival in &all.arrivals {
                let of = |into: &Arrivals, arrival: &Arrival| {
                    (into.releases[arrival.release as usize], arrival.region, arrival.at)
                };
                let there = of(&all, arrival);
                if rest.next_if(|next| of(&kept, next) == there).is_some() {
                    continue;
                }
                new += 1;
                let image = there.0.image().unwrap();
                assert!(there.2 <= start() && up_to.is_none_or(|oldest| image.version <= oldest));
                // Whoever asked for the newest everywhere would have got a newer one.
                let everywhere = |release: u32| {
                    let reached = |region| all.reached(release, region);
                    whole.stops.ids().all(|region| reached(region).is_some_and(|at| at <= start()))
                };
                let newer =
                    (arrival.release + 1..).zip(&all.releases[arrival.release as usize + 1..]);
                let newer =
                    newer.filter(|(_, other)| other.image().unwrap().family == image.family);
                assert!(newer.filter(|(number, _)| everywhere(*number)).count() >= after as usize);
            }
            assert!(rest.next().is_none(), "nothing else arrives");
            left_out += new;
        }
        assert!(left_out > 50_000, "{left_out} arrivals were left out");
    }

    #[test]
    fn x1_numbers_that_nobody_needs_change_no_other() {
        let whole = train(&[(LINUX, OsType::Linux)]);
        let (mut all, mut some) = (Arrivals::default(), Arrivals::default());
        let of_order = |order: u8| {
            let mut found = regions::all().iter().filter(move |region| region.order == order);
            found.next_back().unwrap().name
        };
        for order in 0..=9 {
            let names: Column<_, _> = [of_order(order).to_owned()].into_iter().collect();
            let end = start() + Span::from_days(60);
            let narrow = Train::new(&[(LINUX, OsType::Linux)], &names, start(), end);
            for replication in 0..30 {
                draw(&whole, 4, replication, &mut all);
                draw(&narrow, 4, replication, &mut some);
                for release in 0..u32::try_from(all.releases.len()).unwrap() {
                    let reached = all.reached(release, named(of_order(order)));
                    assert_eq!(some.reached(release, RegionId(0)), reached, "order {order}");
                }
            }
        }
    }

    #[test]
    fn behind_counts_the_versions_that_are_in_the_region() {
        let families = [(LINUX, OsType::Linux), (WINDOWS, OsType::Windows)];
        let (train, mut into) = (train(&families), Arrivals::default());
        for replication in 0..50 {
            draw(&train, 2, replication, &mut into);
            for (family, region) in [(LINUX, named("westeurope")), (WINDOWS, named("eastus"))] {
                let there = into.arrivals.iter().filter(|arrival| arrival.at <= start());
                let there = there.filter(|arrival| arrival.region == region);
                let images = there.map(|a| into.releases[a.release as usize].image().unwrap());
                let mut versions: Vec<ImageVersion> = images
                    .filter(|image| image.family == family)
                    .map(|image| image.version)
                    .collect();
                versions.sort_unstable();
                let behind = |n| into.newest_at(family, region, start(), n);
                assert!(versions.len() >= 3, "everybody has something to do at the start");
                assert_eq!(behind(0), versions.last().copied());
                assert_eq!(behind(1), versions.iter().rev().nth(1).copied());
                assert_eq!(behind(1_000), versions.first().copied());
            }
            assert_eq!(into.newest_at(AZURE_LINUX, RegionId(0), start(), 0), None);
            assert_eq!(into.newest_at(LINUX, RegionId(0), train.from, 0), None);
        }
    }

    #[test]
    fn an_unknown_region_gets_nothing_and_the_canaries_come_with_order_1() {
        let names = ["atlantis", "centraluseuap", "westcentralus"].map(String::from);
        let regions: Column<RegionId, String> = names.into_iter().collect();
        let end = start() + Span::from_days(30);
        let train = Train::new(&[(LINUX, OsType::Linux)], &regions, start(), end);
        let mut into = Arrivals::default();
        draw(&train, 1, 0, &mut into);
        assert_eq!(into.reached(0, RegionId(0)), None);
        assert!(into.reached(0, RegionId(1)).is_some());
        assert_eq!(into.reached(0, RegionId(1)), into.reached(0, RegionId(2)));
    }

    /// One statistic over simulated samples, against the measured one.
    fn target(name: &str, measured: f64, mut simulated: Vec<f64>) -> bool {
        simulated.sort_by(f64::total_cmp);
        let at = |share: f64| simulated[(share * simulated.len() as f64) as usize];
        let met = at(0.025) <= measured && measured <= at(0.975);
        let (low, middle, high) = (at(0.025), at(0.5), at(0.975));
        let verdict = if met { "met" } else { "missed" };
        println!("{name}: {measured} | {low:.2} {middle:.2} {high:.2} {verdict}");
        met
    }
}
