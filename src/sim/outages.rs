//! Outages of regions (W3): nothing starts there, and what is in flight fails or stretches.
//!
//! Owns when each region is out in a replication, drawn or scripted, and what that does to an
//! update that begins before an outage. That nothing starts is the scheduler's: it is told when an
//! outage begins and ends.

use crate::fleet::{Fleet, regions};
use crate::ids::{Id as _, RegionId};
use crate::quantiles::Quantiles;
use crate::scheduler::FailureCode;
use crate::sim::draw::{Luck, Purpose};
use crate::sim::model::{OutageEffect, OutageModel, Setting};
use crate::time::{Span, Timestamp};

/// Neither an outage nor the time between two is shorter.
const SHORTEST: i64 = Span::MINUTE.as_millis();
/// The places of regions that the table does not have, by their number in the fleet.
const UNKNOWN: u16 = 1 << 15;

/// One outage of one region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outage {
    /// When it begins.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// Where.
    pub region: RegionId,
    /// What becomes of updates in flight.
    pub effect: OutageEffect,
}

/// An outage begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) at: Timestamp,
    /// What ends comes before what begins.
    pub(super) begins: bool,
    pub(super) region: RegionId,
}

/// Where outages come from.
#[derive(Debug)]
pub(super) enum Source {
    /// The script.
    Scripted(Vec<Outage>),
    /// The model: the regions, each with its place in the luck.
    Drawn {
        regions: Vec<(RegionId, u16)>,
        every: Quantiles,
        lasts: Quantiles,
        effect: OutageEffect,
    },
}

impl Source {
    /// The outages of a setting; `None`: there are none.
    pub(super) fn of(setting: Setting<'_>) -> Option<Self> {
        if let Some(scripted) = &setting.script.outages {
            return Some(Self::Scripted(scripted.clone()));
        }
        let OutageModel { every, lasts, regions, effect } = setting.world.outages.as_ref()?;
        let fleet = setting.fleet;
        let all: Vec<RegionId> = match regions {
            Some(regions) => regions.clone(),
            None => fleet.regions.ids().collect(),
        };
        Some(Self::Drawn {
            regions: all.into_iter().map(|id| (id, place(fleet, id))).collect(),
            every: Quantiles::new(every),
            lasts: Quantiles::new(lasts),
            effect: *effect,
        })
    }

    /// Whether every replication has the same.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Self::Scripted(_))
    }
}

/// A region's place in the luck: its position in the table, so that no other region of the fleet
/// matters.
fn place(fleet: &Fleet, id: RegionId) -> u16 {
    let known = regions::all().iter().position(|region| *region.name == fleet.regions[id]);
    let number = known.unwrap_or(id.index());
    let number = u16::try_from(number).expect("regions are few");
    if known.is_some() { number } else { UNKNOWN | number }
}

/// The outages of one replication. Reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Outages {
    /// By region, then time; those of a region do not overlap.
    all: Vec<Outage>,
    /// Beginnings and ends, in the order of time.
    edges: Vec<Edge>,
    next: usize,
}

impl Outages {
    /// Takes the outages of a replication from their source.
    pub(super) fn draw(
        &mut self,
        source: &Source,
        luck: &Luck,
        replication: u32,
        (start, end): (Timestamp, Timestamp),
    ) {
        self.all.clear();
        match source {
            Source::Scripted(outages) => self.all.extend_from_slice(outages),
            Source::Drawn { regions, every, lasts, effect } => {
                for (region, place) in regions {
                    let mut gaps = luck.sequence(replication, Purpose::OutageGap, *place);
                    let mut lengths = luck.sequence(replication, Purpose::OutageLength, *place);
                    let mut to = start;
                    loop {
                        let from = to + Span::from_millis(every.millis(gaps.draw(), SHORTEST));
                        if from > end {
                            break;
                        }
                        to = from + Span::from_millis(lasts.millis(lengths.draw(), SHORTEST));
                        self.all.push(Outage { from, to, region: *region, effect: *effect });
                    }
                }
            }
        }
        self.all.sort_unstable_by_key(|outage| (outage.region, outage.from));
        self.edges.clear();
        self.edges.extend(self.all.iter().flat_map(|outage| {
            let Outage { from, to, region, .. } = *outage;
            [Edge { at: from, begins: true, region }, Edge { at: to, begins: false, region }]
        }));
        self.edges.sort_unstable();
        self.next = 0;
    }

    /// When the next outage begins or ends; the end of time if none does.
    pub(super) fn next_edge(&self) -> Timestamp {
        self.edges.get(self.next).map_or(Timestamp::MAX, |edge| edge.at)
    }

    /// Takes the next edge, if it is not after an instant.
    pub(super) fn take_edge(&mut self, until: Timestamp) -> Option<Edge> {
        let edge = self.edges.get(self.next).filter(|edge| edge.at <= until).copied()?;
        self.next += 1;
        Some(edge)
    }

    /// The outages of a region.
    pub(super) fn of(&self, region: RegionId) -> &[Outage] {
        let first = self.all.partition_point(|outage| outage.region < region);
        let last = self.all.partition_point(|outage| outage.region <= region);
        &self.all[first..last]
    }

    /// What becomes of an update that begins now and would take so long: the outages that begin
    /// before its end fail it at once, with this code, or lengthen it by theirs.
    pub(super) fn through(
        &self,
        region: RegionId,
        now: Timestamp,
        takes: Span,
        failure: FailureCode,
    ) -> Result<Span, (Span, FailureCode)> {
        let mut takes = takes;
        for outage in self.of(region).iter().filter(|outage| outage.from > now) {
            if outage.from >= now + takes {
                break;
            }
            match outage.effect {
                OutageEffect::Fail => return Err((outage.from - now, failure)),
                OutageEffect::Stretch => takes += outage.to - outage.from,
            }
        }
        Ok(takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_millis(0) + Span::from_hours(hours)
    }

    fn outages(effect: OutageEffect) -> Outages {
        let outage = |region, from, to| Outage { from: at(from), to: at(to), region, effect };
        let west = RegionId(1);
        let all = vec![outage(RegionId(0), 1, 50), outage(west, 20, 23), outage(west, 10, 12)];
        let mut outages = Outages::default();
        outages.draw(&Source::Scripted(all), &Luck::new(1), 0, (at(0), at(100)));
        outages
    }

    #[test]
    fn w3_an_update_in_flight_fails_when_the_outage_begins() {
        let (outages, west) = (outages(OutageEffect::Fail), RegionId(1));
        let through =
            |from, takes| outages.through(west, at(from), Span::from_hours(takes), FailureCode(7));
        assert_eq!(through(8, 5), Err((Span::from_hours(2), FailureCode(7))));
        assert_eq!(through(8, 2), Ok(Span::from_hours(2)), "it ends as the outage begins");
        assert_eq!(through(12, 8), Ok(Span::from_hours(8)), "between two outages");
        assert_eq!(through(30, 90), Ok(Span::from_hours(90)));
    }

    #[test]
    fn w3_an_update_in_flight_is_longer_by_every_outage_that_it_meets() {
        let (outages, west) = (outages(OutageEffect::Stretch), RegionId(1));
        let through =
            |from, takes| outages.through(west, at(from), Span::from_hours(takes), FailureCode(7));
        assert_eq!(through(8, 5), Ok(Span::from_hours(7)));
        // Only because it is late does it meet the second.
        assert_eq!(through(8, 10), Ok(Span::from_hours(10 + 2)));
        assert_eq!(through(8, 11), Ok(Span::from_hours(11 + 2 + 3)));
        assert_eq!(outages.through(RegionId(2), at(0), Span::DAY, FailureCode(7)), Ok(Span::DAY));
    }

    #[test]
    fn w3_what_ends_comes_before_what_begins() {
        let outage = |region, from, to| Outage {
            from: at(from),
            to: at(to),
            region,
            effect: OutageEffect::Fail,
        };
        let all = vec![outage(RegionId(0), 5, 9), outage(RegionId(1), 2, 5)];
        let mut outages = Outages::default();
        outages.draw(&Source::Scripted(all), &Luck::new(1), 0, (at(0), at(100)));
        let mut edges = vec![];
        while let Some(Edge { at, begins, region }) = outages.take_edge(Timestamp::MAX) {
            edges.push((at, begins, region.0));
        }
        let expected = [(at(2), true, 1), (at(5), false, 1), (at(5), true, 0), (at(9), false, 0)];
        assert_eq!(edges, expected);
        assert_eq!(outages.next_edge(), Timestamp::MAX);
    }

    #[test]
    fn w3_a_region_is_out_for_its_share_of_the_time() {
        let exponential = |hours: f64| {
            let mean = crate::quantiles::Distribution::exponential(hours * 3_600_000.0);
            Quantiles::new(&mean.unwrap())
        };
        let source = Source::Drawn {
            regions: vec![(RegionId(0), 3), (RegionId(1), 4)],
            every: exponential(90.0),
            lasts: exponential(10.0),
            effect: OutageEffect::Fail,
        };
        let (mut outages, luck) = (Outages::default(), Luck::new(3));
        let (mut out, mut at_once) = ([0_u32; 2], 0_u32);
        for replication in 0..2_000 {
            outages.draw(&source, &luck, replication, (at(0), at(2_000)));
            // Long after the start, at one instant a replication: no two depend on each other.
            let is_out = [RegionId(0), RegionId(1)].map(|region| {
                let covers = |outage: &Outage| outage.from <= at(1_500) && at(1_500) < outage.to;
                outages.of(region).iter().any(covers)
            });
            (0..2).for_each(|region| out[region] += u32::from(is_out[region]));
            at_once += u32::from(is_out[0] && is_out[1]);
        }
        // A tenth of the time, 99.9 % of shares of 2,000; regions are independent.
        for out in out {
            assert!((f64::from(out) / 2_000.0 - 0.1).abs() < 3.29 * (0.09_f64 / 2_000.0).sqrt());
        }
        let both = f64::from(at_once) / 2_000.0;
        assert!((both - 0.01).abs() < 3.29 * (0.0099_f64 / 2_000.0).sqrt(), "{both}");
    }
}
