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

use super::{Arrivals, Chance, Release, SecurityPatch};
use crate::fleet::{Fleet, ImageVersion, NodeImage, OsType, regions};
use crate::ids::{Column, FamilyId, RegionId};
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::Released;
use crate::sim::draw::{Luck, Purpose, Sequence, happens, unit};
use crate::sim::model::Mishaps;
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
pub(super) struct Rollout {
    version: ImageVersion,
    withdrawn: Timestamp,
    stops: [Timestamp; STOPS],
}

/// The measured train, ready to be drawn from.
#[derive(Debug, Clone)]
pub struct Train {
    /// Families in their order, each with its line.
    families: Vec<(FamilyId, OsType)>,
    /// At which stop each region of the fleet is reached; `None`: not in the table.
    stops: Column<RegionId, Option<usize>>,
    /// How many regions orders 5 and 6 have.
    broad: [usize; 2],
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
    abandoned: f64,
    delayed: Option<Chance>,
    withdrawn: Option<Chance>,
    /// Whether security patches are wanted.
    patches: bool,
}

/// The streams of versions, each with a train of its own. The values are places of luck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Line {
    Linux = 0,
    Windows = 1,
    Patches = 2,
}

/// The image families of a fleet's pools, with their operating system.
pub fn families_of(fleet: &Fleet) -> Vec<(FamilyId, OsType)> {
    let pools = fleet.members.iter().flat_map(|member| &member.pools);
    let mut families: Vec<_> = pools.map(|pool| (pool.image.family(), pool.os_type)).collect();
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
        let broad = [in_order(5), in_order(6)];
        assert!(broad[0] + broad[1] <= SLOTS, "orders 5 and 6 fit into the draws of one version");
        let mut families = families.to_vec();
        families.sort_by_key(|(family, _)| *family);
        let day = |days: f64| days * 86_400_000.0;
        let lognormal = |median, sigma| compile(Distribution::lognormal(day(median), sigma));
        Self {
            families,
            stops: regions.iter().map(|name| stop(name, broad[0])).collect(),
            broad,
            first_day,
            versions: days.iter().map(on).collect(),
            windows: (0..days.len()).filter(|position| is_windows_day(days[*position])).collect(),
            from,
            end,
            linux_gap: lognormal(LINUX_GAP_MEDIAN_DAYS, LINUX_GAP_SIGMA),
            patch_gap: lognormal(PATCH_GAP_MEDIAN_DAYS, PATCH_GAP_SIGMA),
            lag: compile(Distribution::gamma(LAG_SHAPE, day(LAG_SCALE_DAYS))),
            abandoned: ABANDONED,
            delayed: None,
            withdrawn: None,
            patches: false,
        }
    }

    /// The same, with what goes wrong as the scenario says.
    #[must_use]
    pub fn with(mut self, mishaps: &Mishaps) -> Self {
        self.abandoned = mishaps.abandoned.unwrap_or(ABANDONED);
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

    /// Draws one replication's releases and arrivals, in no order of time.
    pub(super) fn draw(&self, luck: &Luck, replication: u32, into: &mut Arrivals) {
        into.clear(self.stops.len());
        let mut rollouts = std::mem::take(&mut into.rollouts);
        let of = |os| self.families.iter().any(|(_, other)| *other == os);
        let mut line = |line, wanted: bool| {
            let first = rollouts.len();
            if wanted {
                self.draw_line(line, luck, replication, &mut rollouts);
            }
            first..rollouts.len()
        };
        let linux = line(Line::Linux, of(OsType::Linux));
        let windows = line(Line::Windows, of(OsType::Windows));
        let patches = line(Line::Patches, self.patches);
        for (family, os) in &self.families {
            let line = if *os == OsType::Linux { &linux } else { &windows };
            for rollout in &rollouts[line.clone()] {
                let image = NodeImage { family: *family, version: rollout.version };
                self.release(Released::NodeImage(image), rollout, into);
            }
        }
        for rollout in &rollouts[patches] {
            let at = |stop: &Option<usize>| stop.map_or(Timestamp::MAX, |s| rollout.stops[s]);
            into.patches.push(SecurityPatch {
                version: rollout.version,
                published: rollout.stops[1],
                reached: self.stops.iter().map(at).collect(),
            });
        }
        into.rollouts = rollouts;
    }

    fn release(&self, what: Released, rollout: &Rollout, into: &mut Arrivals) {
        let release = Release {
            what,
            published: rollout.stops[1],
            withdrawn: rollout.withdrawn,
            lifecycle: None,
        };
        let at = |stop: &Option<usize>| stop.map_or(Timestamp::MAX, |stop| rollout.stops[stop]);
        into.push(release, self.stops.iter().map(at), self.end);
    }

    /// Draws all rollouts of a line.
    fn draw_line(&self, line: Line, luck: &Luck, replication: u32, rollouts: &mut Vec<Rollout>) {
        let mut draws = Draws::new(luck, replication, line as u16);
        let sequences = |purposes: [Purpose; 2]| {
            purposes.map(|purpose| luck.sequence(replication, purpose, line as u16))
        };
        let delays = [Purpose::ReleaseDelayed, Purpose::ReleaseDelay];
        let mut delayed = self.delayed.as_ref().map(|chance| (chance, sequences(delays)));
        let withdrawals = [Purpose::ReleaseWithdrawn, Purpose::ReleaseWithdrawal];
        let mut withdrawn = self.withdrawn.as_ref().map(|chance| (chance, sequences(withdrawals)));
        let (mut clock, mut day, mut windows) = (self.from, None, self.windows.iter());
        loop {
            let gap = if line == Line::Patches { &self.patch_gap } else { &self.linux_gap };
            day = match line {
                Line::Linux | Line::Patches => {
                    clock += Span::from_millis(gap.millis(draws.cadence.draw(), 0));
                    // Versions are dated by day; two of one day would be one.
                    let today = clock.as_millis().div_euclid(DAY) - self.first_day;
                    let today = usize::try_from(today).expect("the clock starts on the first day");
                    Some(day.map_or(today, |before: usize| today.max(before + 1)))
                }
                Line::Windows => windows.next().copied(),
            };
            let Some((day, version)) = day.and_then(|day| Some((day, *self.versions.get(day)?)))
            else {
                return;
            };
            let day = i64::try_from(day).expect("a day is a small number") + self.first_day;
            let late = delayed.as_mut().and_then(|(chance, sequences)| chance.draw(sequences));
            let dated = Timestamp::from_millis(day * DAY);
            let stops = self.ride(dated, late.unwrap_or(Span::ZERO), &mut draws);
            let after = withdrawn.as_mut().and_then(|(chance, sequences)| chance.draw(sequences));
            let withdrawn = after.map_or(Timestamp::MAX, |after| stops[1] + after);
            rollouts.push(Rollout { version, withdrawn, stops });
        }
    }

    /// One version's journey from its date, perhaps late. Everything is drawn, whether it is needed
    /// or not, so that each version's numbers stay in their places.
    fn ride(&self, dated: Timestamp, late: Span, draws: &mut Draws) -> [Timestamp; STOPS] {
        let mut stops = [Timestamp::MAX; STOPS];
        draws.slots.fill(&mut draws.of_slots);
        let abandoned = happens(draws.abandoned.draw(), self.abandoned);
        let government = between(draws.government.draw(), GOVERNMENT);
        let china = between(draws.china.draw(), CHINA);

        let first = dated + Span::from_millis(self.lag.millis(draws.lag.draw(), 0)) + late;
        let mut hold = Hold::new(draws.hold_from.draw(), draws.hold_to.draw(), first);
        stops[1] = first;
        stops[2] = hold.over(first + FIRST_STEP);
        stops[3] = hold.over(stops[2] + STEP);
        stops[4] = hold.over(stops[3] + STEP);
        let (five, all) = (FIRST_SLOT + self.broad[0], FIRST_SLOT + self.broad[0] + self.broad[1]);
        let next = slots(FIRST_SLOT..five, stops[4] + STEP, &mut hold, &draws.of_slots, &mut stops);
        if abandoned {
            return stops;
        }
        slots(five..all, next, &mut hold, &draws.of_slots, &mut stops);
        stops[7] = hold.over(stops[all - 1] + government);
        stops[8] = hold.over(stops[7] + GOVERNMENT_STEP);
        stops[9] = hold.over(first + china);
        stops
    }
}

/// Goes through the regions of one order, slot by slot; returns when the slot after it is due.
fn slots(
    places: std::ops::Range<usize>,
    due: Timestamp,
    hold: &mut Hold,
    draws: &[u64; SLOTS],
    stops: &mut [Timestamp; STOPS],
) -> Timestamp {
    let (mut place, mut due, last) = (places.start, due, places.end - 1);
    while place <= last {
        due = hold.over(due);
        // The upper half of the number pairs, the lower half pauses. What is written for a second
        // region that does not share the slot is overwritten by its own.
        let number = draws[place - FIRST_SLOT];
        stops[place] = due;
        stops[(place + 1).min(last)] = due;
        place += 1 + usize::from(happens(number, PAIR));
        due += SLOT + pause(number << 32);
    }
    due
}

/// The pause after a slot: of the numbers below [`PAUSE`], the lower the shorter.
fn pause(u: u64) -> Span {
    if !happens(u, PAUSE) {
        return Span::ZERO;
    }
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

/// The numbers of one line of one replication, each in the order of versions.
struct Draws {
    cadence: Sequence,
    lag: Sequence,
    slots: Sequence,
    of_slots: [u64; SLOTS],
    hold_from: Sequence,
    hold_to: Sequence,
    abandoned: Sequence,
    government: Sequence,
    china: Sequence,
}

impl Draws {
    fn new(luck: &Luck, replication: u32, line: u16) -> Self {
        let of = |purpose| luck.sequence(replication, purpose, line);
        Self {
            cadence: of(Purpose::ReleaseCadence),
            lag: of(Purpose::ReleaseLag),
            slots: of(Purpose::ReleaseSlots),
            of_slots: [0; SLOTS],
            hold_from: of(Purpose::ReleaseHoldFrom),
            hold_to: of(Purpose::ReleaseHoldTo),
            abandoned: of(Purpose::ReleaseAbandoned),
            government: of(Purpose::ReleaseGovernment),
            china: of(Purpose::ReleaseChina),
        }
    }
}

fn compile(distribution: Result<Distribution, String>) -> Quantiles {
    Quantiles::new(&distribution.expect("a measured distribution makes sense"))
}

/// The stop at which a region is reached.
fn stop(name: &str, in_order_5: usize) -> Option<usize> {
    let region = regions::find(name)?;
    let place = FIRST_SLOT + usize::from(region.rank.saturating_sub(1));
    Some(match region.order {
        0 => 1,
        5 => place,
        6 => place + in_order_5,
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
    use crate::sim::releases::Wants;
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
            all.extend(into.rollouts.iter().map(|rollout| {
                let first = rollout.stops[1];
                let after = |at: Timestamp| (at < Timestamp::MAX).then(|| days(at - first));
                (first, rollout.stops.map(after))
            }));
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
            let dated: Vec<Timestamp> = into.rollouts.iter().map(|r| dated(r.version)).collect();
            gaps.extend(dated.windows(2).map(|two| days(two[1] - two[0])));
            lags.extend(into.rollouts.iter().zip(&dated).map(|(r, at)| days(r.stops[1] - *at)));
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
        let mut stops = [Timestamp::MAX; STOPS];
        let next = slots(10..13, saturday, &mut hold, &[u64::MAX; SLOTS], &mut stops);
        assert_eq!(stops[10..13], [sunday, sunday + SLOT, sunday + SLOT * 2]);
        assert_eq!(next, sunday + SLOT * 3);
        // All pairs and the shortest pauses.
        slots(10..13, sunday, &mut hold, &[0; SLOTS], &mut stops);
        assert_eq!(stops[10..13], [sunday, sunday, sunday + SLOT + Span::from_mins(90)]);
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
