//! Kubernetes versions: which there are, and when AKS releases bring them to each region (W1, W2).
//!
//! AKS offers a version from one of its releases on, and AKS releases go round the regions like
//! node images, only slower. What is on record (`fleet::patches`, `fleet::support`) has its
//! recorded dates; later AKS releases, patches and minors are drawn. How a release goes round is
//! drawn in any case: what is on record says when it set off. All versions that board one release
//! arrive together, and all regions depend on the same two draws.

use crate::fleet::patches::{self, Patch};
use crate::fleet::support::{self, Minor, Month, When};
use crate::fleet::{KubernetesVersion, regions};
use crate::ids::{Column, RegionId};
use crate::quantiles::{Distribution, Quantiles};
use crate::scheduler::Released;
use crate::sim::draw::{Luck, Purpose, unit};
use crate::sim::model::Mishaps;
use crate::sim::releases::{Arrivals, Chance, Lifecycle, Release};
use crate::time::{Span, Timestamp};

/// From one AKS release's date to the next, in days: normal with this mean and standard deviation,
/// at least the third (measured: 2026).
pub const GAP_DAYS: (f64, f64, f64) = (28.0, 4.0, 20.0);
/// From one day of upstream patches to the next, in days: normal, at least the third (measured:
/// mean 30, sd 7 to 12 for each minor of 1.28 to 1.33). All minors are patched on one day (ours).
pub const UPSTREAM_GAP_DAYS: (f64, f64, f64) = (30.0, 9.5, 5.0);
/// From upstream's patch to the AKS release that brings it: lognormal, median in days and sigma
/// (measured, 72 patches).
pub const TO_AKS_DAYS: (f64, f64) = (42.0, 0.46);
/// Probabilities that a minor's planned months slip by no month, by one, or by two (measured: the
/// calendar's own history, 24 minors).
pub const SLIPS: [f64; 3] = [0.46, 0.33, 0.21];
/// How long upstream patches a minor (upstream's policy: about 14 months).
pub const PATCHED: Span = Span::from_days(426);
/// The first patch comes this long after the minor at the earliest (ours).
pub const FIRST_PATCH: Span = Span::from_days(14);
/// Upstream releases a minor every so many months, for minors that the calendar does not name
/// (documented: three a year). Then come AKS's preview, its general availability, the end of
/// community support and that of long-term support, in months from the one named before (the
/// calendar's usual distances).
pub const MINOR_MONTHS: [i32; 5] = [4, 2, 1, 12, 12];

/// The place of Kubernetes versions beside the lines of node images in the luck of mishaps.
const KUBERNETES: u16 = 3;

/// Patches of the record older than this at the start are everywhere: only the newest of each
/// minor can be wanted.
const ON_THE_WAY: Span = Span::from_days(120);

/// From this date on, AKS releases go at the pace of 2026: 2026-01-01.
pub const PACE_OF_2026: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// How AKS releases go round the regions in one era.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From the release's date to the first region: gamma, mean and coefficient of variation, in
    /// days.
    pub first: (f64, f64),
    /// From the first region to the last public one: lognormal, median in days and sigma.
    pub last: (f64, f64),
    /// Where in that time orders 1 to 4 come, orders 5 and 6 begin and end, and what lies beyond
    /// the public cloud.
    pub orders: [f64; 4],
    /// Where order 5 begins and ends.
    pub five: (f64, f64),
    /// Where order 6 begins and ends.
    pub six: (f64, f64),
    /// Where US Government and China come: after the last public region (documented: stated
    /// completion dates 2020–22, 14.0 days against 9.7).
    pub sovereign: f64,
}

/// The paces: until 2025 (measured 2023–24, 35 releases, 54 regions) and from 2026 on (measured: 4
/// releases, US regions only: thin).
pub const PACES: [Pace; 2] = [
    Pace {
        first: (5.1, 0.43),
        last: (9.3, 0.30),
        orders: [0.0, 0.10, 0.17, 0.45],
        five: (0.72, 0.82),
        six: (0.95, 1.0),
        sovereign: 1.44,
    },
    Pace {
        first: (12.2, 0.25),
        last: (21.5, 0.15),
        orders: [0.0, 0.03, 0.08, 0.135],
        five: (0.20, 0.60),
        six: (0.80, 1.0),
        sovereign: 1.44,
    },
];

impl Pace {
    /// When a region comes, as a share of the time from the first region to the last public one.
    fn place(&self, name: &str) -> Option<f64> {
        let region = regions::find(name)?;
        let within = |(from, to): (f64, f64)| {
            let last = regions::all().iter().filter(|other| other.order == region.order).count();
            let last = u32::try_from(last).expect("regions are few") - 1;
            from + (to - from) * f64::from(region.rank.saturating_sub(1)) / f64::from(last)
        };
        Some(match region.order {
            0 => 0.0,
            5 => within(self.five),
            6 => within(self.six),
            order @ 1..=4 => self.orders[usize::from(order) - 1],
            _ => self.sovereign,
        })
    }
}

/// The model, ready to be drawn from.
#[derive(Debug, Clone)]
pub(super) struct Kubernetes {
    /// Where each region comes, by pace; `None`: not in the table.
    places: [Column<RegionId, Option<f64>>; 2],
    /// What is on record and wanted, ascending.
    recorded: Vec<Patch>,
    /// All minors, ascending, those beyond the calendar included.
    minors: Vec<Minor>,
    /// The number of each minor's first patch that is not on record; 0: nothing of it is.
    next: Vec<u16>,
    /// The last day of upstream patches on record.
    recorded_until: Timestamp,
    /// Only this version is wanted.
    only: Option<KubernetesVersion>,
    end: Timestamp,
    gap: Quantiles,
    upstream_gap: Quantiles,
    to_aks: Quantiles,
    first: [Quantiles; 2],
    last: [Quantiles; 2],
    delayed: Option<Chance>,
    withdrawn: Option<Chance>,
}

/// What a replication's draws come to before they become releases. Reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// The dates of AKS releases: those on record, then the drawn ones up to the end.
    dates: Vec<Timestamp>,
    /// How each goes round, once somebody asked.
    rounds: Vec<Option<Round>>,
    lives: Vec<Life>,
    /// The number of each minor's next patch.
    next: Vec<u16>,
    /// Each version and the AKS release that brings it; `None`: after the end.
    versions: Vec<(KubernetesVersion, Option<u32>)>,
}

/// How one AKS release goes round.
#[derive(Debug, Clone, Copy)]
struct Round {
    first: Timestamp,
    /// From the first region to the last public one, in milliseconds.
    last: f64,
    pace: usize,
}

/// What became of a minor's dates.
#[derive(Debug, Clone, Copy)]
struct Life {
    /// The AKS release of its preview, and of its general availability; `None`: after the end.
    preview: Option<u32>,
    general: Option<u32>,
    community_until: Timestamp,
    lts_until: Timestamp,
}

fn days(days: f64) -> f64 {
    days * 86_400_000.0
}

#[expect(clippy::cast_possible_truncation, reason = "some weeks in milliseconds")]
fn millis(millis: f64) -> Span {
    Span::from_millis(millis as i64)
}

fn compile(distribution: Result<Distribution, String>) -> Quantiles {
    Quantiles::new(&distribution.expect("a measured distribution makes sense"))
}

/// All minors up to an instant: the calendar's, then three a year.
fn minors_until(end: Timestamp) -> Vec<Minor> {
    let mut minors = support::minors().to_vec();
    while let Some(last) = minors.last().copied() {
        let When::Month(upstream) = last.upstream else { break };
        let [to_next, to_preview, to_general, to_eol, to_lts] = MINOR_MONTHS;
        let upstream = upstream.plus(to_next);
        if upstream.first() > end {
            break;
        }
        let preview = upstream.plus(to_preview);
        let general = preview.plus(to_general);
        let eol = general.plus(to_eol);
        minors.push(Minor {
            version: (last.version.0, last.version.1 + 1),
            upstream: When::Month(upstream),
            preview: When::Month(preview),
            general: When::Month(general),
            community_until: Some(eol.plus(1).first()),
            lts_until: Some(eol.plus(to_lts).plus(1).first()),
        });
    }
    minors
}

impl Kubernetes {
    /// The model for these regions, from `start` to `end`; of one version only, if one is named.
    pub(super) fn new(
        regions: &Column<RegionId, String>,
        start: Timestamp,
        end: Timestamp,
        only: Option<KubernetesVersion>,
    ) -> Self {
        let places = PACES.map(|pace| regions.iter().map(|name| pace.place(name)).collect());
        let minors = minors_until(end);
        let normal = |(mean, sd, least): (f64, f64, f64)| {
            compile(Distribution::normal(days(mean), days(sd), days(least), f64::INFINITY))
        };
        let recorded = match only {
            Some(version) => patches::find(version).copied().into_iter().collect(),
            None => alive(&minors, start),
        };
        let upstream = patches::all().iter().filter_map(|patch| patch.upstream);
        Self {
            places,
            recorded,
            next: minors.iter().map(next_patch).collect(),
            minors,
            recorded_until: upstream.max().expect("patches are on record"),
            only,
            end,
            gap: normal(GAP_DAYS),
            upstream_gap: normal(UPSTREAM_GAP_DAYS),
            to_aks: compile(Distribution::lognormal(days(TO_AKS_DAYS.0), TO_AKS_DAYS.1)),
            first: PACES.map(|p| compile(Distribution::gamma_cv(days(p.first.0), p.first.1))),
            last: PACES.map(|p| compile(Distribution::lognormal(days(p.last.0), p.last.1))),
            delayed: None,
            withdrawn: None,
        }
    }

    /// The same, with what goes wrong as the scenario says.
    pub(super) fn with(mut self, mishaps: &Mishaps) -> Self {
        self.delayed = mishaps.delayed.as_ref().map(Chance::new);
        self.withdrawn = mishaps.withdrawn.as_ref().map(Chance::new);
        self
    }

    /// Draws one replication's Kubernetes versions and their arrivals, in no order of time.
    pub(super) fn draw(&self, luck: &Luck, replication: u32, into: &mut Arrivals) {
        let mut scratch = std::mem::take(&mut into.kubernetes);
        self.draw_dates(luck, replication, &mut scratch);
        self.draw_lives(luck, replication, &mut scratch);
        self.board(luck, replication, &mut scratch);
        let Scratch { dates, rounds, lives, versions, .. } = &mut scratch;
        for (version, own) in versions.iter() {
            let Some(life) = self.minor(*version).map(|minor| &lives[minor]) else { continue };
            for release in [*own, life.preview, life.general].into_iter().flatten() {
                let round = &mut rounds[release as usize];
                let date = dates[release as usize];
                *round = round.or_else(|| Some(self.round(luck, replication, release, date)));
            }
        }
        let withdrawal = |version: KubernetesVersion| {
            let place = u32::from(version.minor) << 16 | u32::from(version.patch);
            let purposes = [Purpose::ReleaseWithdrawn, Purpose::ReleaseWithdrawal];
            self.withdrawn.as_ref()?.at(luck, replication, purposes, (KUBERNETES, place))
        };
        self.release(&scratch, into, withdrawal, |_, _| None);
        into.kubernetes = scratch;
    }

    /// What is on record, without luck: where an AKS release arrived as `recorded` (by its date),
    /// elsewhere after the usual time.
    pub(super) fn replay(
        &self,
        into: &mut Arrivals,
        recorded: impl Fn(Timestamp, RegionId) -> Option<Timestamp>,
    ) {
        let dates = patches::aks_releases();
        let usual = |date: &Timestamp| {
            let pace = usize::from(*date >= PACE_OF_2026);
            let (first, last) = (PACES[pace].first.0, PACES[pace].last.0);
            Some(Round { first: *date + millis(days(first)), last: days(last), pace })
        };
        let on_record = |when: When| {
            (when.first() <= support::CALENDAR_OF).then(|| first_from(dates, when.first()))?
        };
        let life = |minor: &Minor| Life {
            preview: on_record(minor.preview),
            general: on_record(minor.general),
            community_until: minor.community_until.unwrap_or(Timestamp::MAX),
            lts_until: minor.lts_until.or(minor.community_until).unwrap_or(Timestamp::MAX),
        };
        let boards = |patch: &Patch| (patch.version, first_from(dates, patch.on_aks));
        let scratch = Scratch {
            dates: dates.to_vec(),
            rounds: dates.iter().map(usual).collect(),
            lives: self.minors.iter().map(life).collect(),
            next: vec![],
            versions: self.recorded.iter().map(boards).collect(),
        };
        self.release(&scratch, into, |_| None, recorded);
    }

    /// Makes releases of the versions.
    fn release(
        &self,
        scratch: &Scratch,
        into: &mut Arrivals,
        withdrawal: impl Fn(KubernetesVersion) -> Option<Span>,
        recorded: impl Fn(Timestamp, RegionId) -> Option<Timestamp>,
    ) {
        let never = Timestamp::MAX;
        let round = |release: Option<u32>| scratch.rounds[release? as usize];
        let first = |release| round(release).map_or(never, |round| round.first);
        let reaches = |release: Option<u32>, region: RegionId| {
            let (Some(round), Some(release)) = (round(release), release) else { return never };
            let recorded = recorded(scratch.dates[release as usize], region);
            recorded.unwrap_or_else(|| self.reaches(round, region))
        };
        for (version, own) in &scratch.versions {
            let Some(minor) = self.minor(*version) else { continue };
            let Life { preview, general, community_until, lts_until } = scratch.lives[minor];
            let published = first(*own).max(first(preview));
            let withdrawn = withdrawal(*version).filter(|_| published < never);
            let release = Release {
                what: Released::Kubernetes(*version),
                published,
                withdrawn: withdrawn.map_or(never, |after| published + after),
                lifecycle: Some(Lifecycle {
                    general_from: published.max(first(general)),
                    community_until,
                    lts_until,
                }),
            };
            // A preview is for nobody's fleet: regions have a version when it is general.
            let at = |region| reaches(*own, region).max(reaches(general, region));
            into.push(release, self.places[0].ids().map(at), self.end);
        }
    }

    /// The dates of AKS releases: on record, then drawn.
    fn draw_dates(&self, luck: &Luck, replication: u32, scratch: &mut Scratch) {
        scratch.dates.clear();
        scratch.dates.extend_from_slice(patches::aks_releases());
        let mut last = *scratch.dates.last().expect("releases are on record");
        for bits in luck.sequence(replication, Purpose::AksCadence, 0) {
            if last > self.end {
                break;
            }
            last += Span::from_millis(self.gap.millis(bits, 0));
            scratch.dates.push(last);
        }
        scratch.rounds.clear();
        scratch.rounds.resize(scratch.dates.len(), None);
    }

    /// The dates of minors: on record, or planned and slipped.
    fn draw_lives(&self, luck: &Luck, replication: u32, scratch: &mut Scratch) {
        let Scratch { dates, lives, .. } = scratch;
        lives.clear();
        let slips = luck.sequence(replication, Purpose::MinorSlip, 0);
        let withins = luck.sequence(replication, Purpose::MinorDay, 0);
        for ((minor, slip), within) in self.minors.iter().zip(slips).zip(withins) {
            let (slip, within) = (slip_of(slip), within_month(within));
            let release = |when: When| match when {
                When::Month(month) if when.first() > support::CALENDAR_OF => {
                    nearest(dates, month.plus(slip).first() + within, minor.upstream.first())
                }
                When::Day(_) | When::Month(_) => first_from(dates, when.first()),
            };
            // A minor that comes later is supported for longer, by whole months like the plan.
            let planned = minor.general.first() > support::CALENDAR_OF;
            let until = |at: Option<Timestamp>| match at {
                Some(at) if planned => Month::of(at).plus(slip).first(),
                at => at.unwrap_or(Timestamp::MAX),
            };
            lives.push(Life {
                preview: release(minor.preview),
                general: release(minor.general),
                community_until: until(minor.community_until),
                lts_until: until(minor.lts_until.or(minor.community_until)),
            });
        }
    }

    /// Which version boards which AKS release.
    fn board(&self, luck: &Luck, replication: u32, scratch: &mut Scratch) {
        let Scratch { dates, lives, versions, next, .. } = scratch;
        versions.clear();
        let recorded = self.recorded.iter();
        versions.extend(recorded.map(|patch| (patch.version, first_from(dates, patch.on_aks))));
        next.clone_from(&self.next);
        for ((minor, life), next) in self.minors.iter().zip(lives).zip(next.iter_mut()) {
            // A minor that is not on record begins with its preview.
            if *next == 0 {
                versions.push((patch_of(minor, 0), life.preview));
                *next = 1;
            }
        }
        let mut day = self.recorded_until;
        let gaps = luck.sequence(replication, Purpose::UpstreamCadence, 0);
        let lags = luck.sequence(replication, Purpose::UpstreamLag, 0);
        for (gap, lag) in gaps.zip(lags) {
            day += Span::from_millis(self.upstream_gap.millis(gap, 0));
            if day > self.end {
                break;
            }
            let named = day + Span::from_millis(self.to_aks.millis(lag, 0));
            let boards = nearest(dates, named, day);
            for (minor, next) in self.minors.iter().zip(next.iter_mut()) {
                let since = minor.upstream.first();
                if day >= since + FIRST_PATCH && day <= since + PATCHED {
                    versions.push((patch_of(minor, *next), boards));
                    *next += 1;
                }
            }
        }
        if let Some(only) = self.only {
            versions.retain(|(version, _)| *version == only);
        }
        versions.sort_unstable();
    }

    /// How an AKS release goes round.
    fn round(&self, luck: &Luck, replication: u32, release: u32, date: Timestamp) -> Round {
        let pace = usize::from(date >= PACE_OF_2026);
        let first = luck.at(replication, Purpose::AksLag, 0, release);
        let last = luck.at(replication, Purpose::AksSpan, 0, release);
        let purposes = [Purpose::ReleaseDelayed, Purpose::ReleaseDelay];
        let delay = self.delayed.as_ref();
        let delay = delay.and_then(|d| d.at(luck, replication, purposes, (KUBERNETES, release)));
        let first = Span::from_millis(self.first[pace].millis(first, 0));
        Round {
            first: date + first + delay.unwrap_or(Span::ZERO),
            last: self.last[pace].value(last),
            pace,
        }
    }

    /// When an AKS release reaches a region.
    fn reaches(&self, round: Round, region: RegionId) -> Timestamp {
        let place = self.places[round.pace][region];
        place.map_or(Timestamp::MAX, |place| round.first + millis(round.last * place))
    }

    fn minor(&self, version: KubernetesVersion) -> Option<usize> {
        self.minors.iter().position(|minor| minor.version == (version.major, version.minor))
    }
}

/// The patches on record that somebody can still want: of minors that are supported at the start,
/// those that come near it or after it, and the newest before.
fn alive(minors: &[Minor], start: Timestamp) -> Vec<Patch> {
    let mut alive: Vec<Patch> = vec![];
    for minor in minors {
        let until = minor.lts_until.or(minor.community_until).unwrap_or(Timestamp::MAX);
        if until <= start {
            continue;
        }
        let of = |patch: &&Patch| (patch.version.major, patch.version.minor) == minor.version;
        let all: Vec<Patch> = patches::all().iter().filter(of).copied().collect();
        let old = all.iter().filter(|patch| patch.on_aks < start - ON_THE_WAY).count();
        alive.extend(&all[old.saturating_sub(1)..]);
    }
    alive
}

fn patch_of(minor: &Minor, patch: u16) -> KubernetesVersion {
    KubernetesVersion { major: minor.version.0, minor: minor.version.1, patch }
}

/// The number of a minor's next patch; 0: none is on record. AKS's own builds do not count.
fn next_patch(minor: &Minor) -> u16 {
    let of = |patch: &&Patch| (patch.version.major, patch.version.minor) == minor.version;
    let upstream = patches::all().iter().filter(of).filter(|patch| patch.upstream.is_some());
    upstream.map(|patch| patch.version.patch + 1).max().unwrap_or(0)
}

/// By how many months the plan slips.
fn slip_of(bits: u64) -> i32 {
    let u = unit(bits);
    i32::from(u >= SLIPS[0]) + i32::from(u >= SLIPS[0] + SLIPS[1])
}

/// Some time within a month: 0 to 30 days.
fn within_month(bits: u64) -> Span {
    let part = (u128::from(bits) * 30 * 86_400_000) >> 64;
    Span::from_millis(i64::try_from(part).expect("30 days are few milliseconds"))
}

/// The first of these dates that is not before an instant.
fn first_from(dates: &[Timestamp], at: Timestamp) -> Option<u32> {
    let index = dates.partition_point(|date| *date < at);
    (index < dates.len()).then(|| u32::try_from(index).expect("releases are few"))
}

/// Of the dates that are not before `earliest`, the one nearest to an instant. The dates reach
/// beyond the end, so it does not matter which one is taken for what lies further away.
fn nearest(dates: &[Timestamp], at: Timestamp, earliest: Timestamp) -> Option<u32> {
    let after = first_from(dates, at.max(earliest));
    let before = dates.partition_point(|date| *date < at).checked_sub(1)?;
    let distance = |index: usize| (dates[index] - at).as_millis().abs();
    match after {
        Some(after) if distance(after as usize) < distance(before) => Some(after),
        after if dates[before] < earliest => after,
        _ => Some(u32::try_from(before).expect("releases are few")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{correlation, mean_and_sd};
    use super::*;
    use crate::ids::Id as _;

    fn every_region() -> Column<RegionId, String> {
        regions::all().iter().map(|region| region.name.to_owned()).collect()
    }

    fn named(name: &str) -> RegionId {
        RegionId::new(regions::all().iter().position(|region| region.name == name).unwrap())
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn version(text: &str) -> KubernetesVersion {
        text.parse().unwrap()
    }

    fn days_of(span: Span) -> f64 {
        span.as_secs_f64() / 86_400.0
    }

    fn model(start: &str, days: i64, only: Option<&str>) -> Kubernetes {
        let start = at(start);
        let end = start + Span::from_days(days);
        Kubernetes::new(&every_region(), start, end, only.map(version))
    }

    fn draw(model: &Kubernetes, replication: u32) -> Arrivals {
        let mut into = Arrivals::default();
        into.clear(regions::all().len());
        model.draw(&Luck::new(4), replication, &mut into);
        into.finish(crate::sim::releases::Wants::default(), model.end);
        into
    }

    fn release(arrivals: &Arrivals, text: &str) -> Option<(u32, Release)> {
        let number = arrivals.find(Released::Kubernetes(version(text)))?;
        Some((number, arrivals.releases[number as usize]))
    }

    #[test]
    fn w2_a_patch_on_record_sets_off_with_its_release_and_regions_move_together() {
        let model = model("2026-07-01", 120, Some("1.34.9"));
        let (mut firsts, mut lasts, mut pairs) = (vec![], vec![], vec![]);
        for replication in 0..400 {
            let arrivals = draw(&model, replication);
            let (number, release) = release(&arrivals, "1.34.9").unwrap();
            let lag = |name| {
                let reached = arrivals.reached(number, named(name)).unwrap();
                days_of(reached - at("2026-07-17"))
            };
            firsts.push(days_of(release.published - at("2026-07-17")));
            lasts.push(lag("westus"));
            pairs.push((lag("westeurope"), lag("northeurope")));
            assert!((lag("westcentralus") - firsts.last().unwrap()).abs() < 1e-9);
        }
        let ((first, first_sd), (last, last_sd)) = (mean_and_sd(&firsts), mean_and_sd(&lasts));
        println!("first {first:.1} {first_sd:.1}, last {last:.1} {last_sd:.1}");
        assert!((first - 12.2).abs() < 0.6 && (first_sd - 3.05).abs() < 0.5);
        // Measured: the last wave 25 to 36 days after the date.
        let inside = lasts.iter().filter(|last| (25.0..=37.0).contains(*last)).count();
        assert!(inside > 280, "{inside} of 400");
        let together = correlation(&pairs);
        assert!(together > 0.85, "correlation of two regions in one release {together:.2}");
    }

    #[test]
    fn w1_two_releases_are_independent() {
        let model = model("2026-03-01", 200, None);
        let mut pairs = vec![];
        for replication in 0..400 {
            let arrivals = draw(&model, replication);
            let lag = |text, from| {
                let (number, _) = release(&arrivals, text).unwrap();
                days_of(arrivals.reached(number, named("westeurope")).unwrap() - at(from))
            };
            pairs.push((lag("1.34.5", "2026-04-28"), lag("1.34.7", "2026-05-29")));
        }
        // 400 pairs without correlation: 99.9 % within 3.29 / 20.
        assert!(correlation(&pairs).abs() < 3.29 / 20.0, "{:.2}", correlation(&pairs));
    }

    #[test]
    fn w2_the_pace_of_2023_and_24_is_the_measured_one() {
        let model = model("2024-01-01", 200, Some("1.28.9"));
        let mut spans = vec![];
        for replication in 0..400 {
            let arrivals = draw(&model, replication);
            let (number, release) = release(&arrivals, "1.28.9").unwrap();
            let last = arrivals.reached(number, named("westus")).unwrap();
            spans.push(days_of(last - release.published).ln());
        }
        let (median, sigma) = mean_and_sd(&spans);
        let median = median.exp();
        println!("first to last region: {median:.2} d, sigma {sigma:.2}");
        // The last of order 6 in rank is the last public region.
        assert!((median - 9.3).abs() < 0.6 && (sigma - 0.30).abs() < 0.04);
    }

    #[test]
    fn w2_later_patches_take_the_measured_time_to_aks() {
        let model = model("2026-09-01", 700, None);
        let (mut lags, mut gaps) = (vec![], vec![]);
        for replication in 0..200 {
            let arrivals = draw(&model, replication);
            let scratch = &arrivals.kubernetes;
            // Days of upstream patches again, to hold boarding against them.
            let days: Vec<Timestamp> = {
                let gaps = Luck::new(4).sequence(replication, Purpose::UpstreamCadence, 0);
                let mut day = model.recorded_until;
                gaps.map(|gap| {
                    day += Span::from_millis(model.upstream_gap.millis(gap, 0));
                    day
                })
                .take(12)
                .collect()
            };
            let first = 11; // 1.34.11 is the first of 1.34 that is not on record.
            for (number, day) in (0..).zip(&days[..4]) {
                let wanted = KubernetesVersion { major: 1, minor: 35, patch: 8 + number };
                let found = scratch.versions.iter().find(|(version, _)| *version == wanted);
                let date = scratch.dates[found.unwrap().1.unwrap() as usize];
                assert!(date >= *day, "no release brings what does not exist yet");
                lags.push(days_of(date - *day));
            }
            let drawn = patches::aks_releases().len();
            gaps.extend(scratch.dates[drawn - 1..].windows(2).map(|two| days_of(two[1] - two[0])));
            assert!(scratch.versions.iter().any(|(v, _)| (v.minor, v.patch) == (34, first)));
        }
        let ((lag, lag_sd), (gap, gap_sd)) = (mean_and_sd(&lags), mean_and_sd(&gaps));
        println!("lag mean 47 sd 22 | {lag:.1} {lag_sd:.1}; gap 28 4 | {gap:.1} {gap_sd:.1}");
        assert!((lag - 47.0).abs() < 4.0 && (lag_sd - 22.0).abs() < 5.0);
        assert!((gap - 28.1).abs() < 0.3 && (gap_sd - 3.8).abs() < 0.3);
        assert!(gaps.iter().all(|gap| *gap >= 20.0 - 1e-3));
    }

    #[test]
    fn w2_a_planned_minor_slips_and_is_supported_the_longer() {
        let model = model("2026-09-01", 500, None);
        let mut slips = [0.0; 3];
        for replication in 0..1_000 {
            let arrivals = draw(&model, replication);
            let (_, first) = release(&arrivals, "1.37.0").unwrap();
            let life = first.lifecycle.unwrap();
            let slip = [at("2027-11-01"), at("2027-12-01"), at("2028-01-01")]
                .iter()
                .position(|end| *end == life.community_until)
                .unwrap();
            slips[slip] += 1e-3;
            // A preview first; boarding is to the nearest release, half a gap away at most.
            assert!(first.published <= life.general_from && first.published > at("2026-08-20"));
            let earliest = [at("2026-09-15"), at("2026-10-15"), at("2026-11-15")][slip];
            assert!(life.general_from > earliest);
        }
        println!("slips {slips:.2?}");
        // 99.9 % of a share of 1,000.
        for (found, expected) in slips.iter().zip(SLIPS) {
            let sd = (expected * (1.0 - expected) / 1_000.0_f64).sqrt();
            assert!((found - expected).abs() < 3.29 * sd);
        }
    }

    #[test]
    fn w2_minors_beyond_the_calendar_come_three_a_year() {
        let minors = minors_until(at("2028-01-01"));
        let names: Vec<u16> = minors.iter().map(|minor| minor.version.1).collect();
        assert_eq!(names, (14..=41).collect::<Vec<u16>>());
        let next = minors[24];
        assert_eq!(next.version, (1, 38));
        assert_eq!(next.upstream.first(), at("2026-12-01"));
        assert_eq!(next.general.first(), at("2027-03-01"));
        assert_eq!(next.community_until, Some(at("2028-04-01")));
    }

    #[test]
    fn w2_no_region_has_a_version_before_it_is_general_and_none_that_nobody_offers() {
        let model = model("2025-10-01", 120, None);
        for replication in 0..20 {
            let arrivals = draw(&model, replication);
            // 1.34.1 was carried from September on; 1.34 was general on 2026-01-04.
            let (number, release) = release(&arrivals, "1.34.1").unwrap();
            assert!(release.published < at("2025-12-15"));
            let general = release.lifecycle.unwrap().general_from;
            assert!(general > at("2026-01-04"));
            let arrivals_of = arrivals.arrivals.iter().filter(|arrival| arrival.release == number);
            assert!(arrivals_of.into_iter().all(|arrival| arrival.at >= general));
            assert!(super::tests::release(&arrivals, "1.34.99").is_none());
            assert!(super::tests::release(&arrivals, "1.28.2").is_none());
        }
    }

    #[test]
    fn x1_a_version_alone_arrives_as_it_does_among_all() {
        let (all, one) = (model("2026-08-01", 200, None), model("2026-08-01", 200, Some("1.35.8")));
        for replication in 0..20 {
            let (all, one) = (draw(&all, replication), draw(&one, replication));
            let (among, release_among) = release(&all, "1.35.8").unwrap();
            let (alone, release_alone) = release(&one, "1.35.8").unwrap();
            assert_eq!(one.releases.len(), 1);
            assert_eq!(release_among, release_alone);
            for region in every_region().ids() {
                assert_eq!(all.reached(among, region), one.reached(alone, region));
            }
        }
    }

    #[test]
    fn x3_a_replication_is_the_same_however_often_it_is_drawn() {
        let model = model("2026-08-01", 300, None);
        let mut into = Arrivals::default();
        let mut again = |replication| {
            into.clear(regions::all().len());
            model.draw(&Luck::new(9), replication, &mut into);
            into.finish(crate::sim::releases::Wants::default(), model.end);
            (into.releases.clone(), into.arrivals.clone())
        };
        let third = again(3);
        assert_ne!(again(4), third);
        assert_eq!(again(3), third);
        assert!(third.0.is_sorted_by(|a, b| a.what < b.what), "each version once, ascending");
    }
}
