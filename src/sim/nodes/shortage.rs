//! Shortages of capacity: a region has none to give for hours, to anybody (W8).
//!
//! Each region alternates between plenty, for an exponential time, and shortages. They are drawn as
//! far as somebody asks, and each belongs to its number, so that nobody's question changes another
//! answer.

use super::model::CapacityModel;
use super::rolling::Capacity;
use crate::ids::{Column, Id, RegionId};
use crate::quantiles::{Distribution, Quantiles};
use crate::sim::draw::{Luck, Purpose, happens};
use crate::sim::script::ScriptedShortage;
use crate::time::{Span, Timestamp};

/// Before the start, this many mean lengths of a shortage are played, so that the start is an
/// instant like any other.
const WARM_UP: f64 = 20.0;

/// Where shortages come from.
#[derive(Debug)]
pub(super) enum Shortages {
    /// Drawn.
    Drawn(Drawn),
    /// Named by the script: where, from, to, and what there still is.
    Scripted(Vec<(RegionId, Timestamp, Timestamp, Capacity)>),
}

/// The model, compiled.
#[derive(Debug)]
pub(super) struct Drawn {
    start: Timestamp,
    /// Shortages begin to be drawn so long before the start.
    warm_up: Span,
    gap: Quantiles,
    lasts: Quantiles,
    total: f64,
    /// Whether there is never an end to it.
    always: bool,
}

/// What a replication has seen of one region: shortages so far, and when it knows no more.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    known_until: Option<Timestamp>,
    shortages: Vec<(Timestamp, Timestamp, Capacity)>,
}

impl Seen {
    /// Knows nothing any more, as before a replication.
    pub(super) fn forget(&mut self) {
        self.known_until = None;
        self.shortages.clear();
    }
}

impl Shortages {
    /// Compiles the model; `None` where there is never a shortage.
    pub(super) fn new(model: &CapacityModel, start: Timestamp) -> Option<Self> {
        if model.probability <= 0.0 {
            return None;
        }
        let mean = model.lasts.mean();
        let gap = mean * (1.0 - model.probability) / model.probability;
        let always = gap < 1.0;
        let gap = Distribution::exponential(gap.max(1.0)).expect("a mean of at least 1 ms");
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred years at most")]
        let warm_up = Span::from_millis((WARM_UP * mean).min(1e13) as i64);
        let (gap, lasts) = (Quantiles::new(&gap), Quantiles::new(&model.lasts));
        Some(Self::Drawn(Drawn { start, warm_up, gap, lasts, total: model.total, always }))
    }

    /// Shortages that the script names.
    pub(super) fn scripted(script: &[ScriptedShortage], start: Timestamp) -> Self {
        let what = |total| if total { Capacity::Nothing } else { Capacity::One };
        let entry = |s: &ScriptedShortage| (s.region, start + s.from, start + s.to, what(s.total));
        Self::Scripted(script.iter().map(entry).collect())
    }

    /// What a region has to give at an instant of this replication.
    pub(super) fn capacity(
        &self,
        seen: &mut Column<RegionId, Seen>,
        (luck, replication): (&Luck, u32),
        region: RegionId,
        at: Timestamp,
    ) -> Capacity {
        let drawn = match self {
            Self::Drawn(drawn) => drawn,
            Self::Scripted(all) => {
                let mine = all.iter().filter(|(where_, ..)| *where_ == region);
                let now = mine.filter(|(_, from, to, _)| *from <= at && at < *to);
                return now.map(|(.., left)| *left).min().unwrap_or(Capacity::Plenty);
            }
        };
        let seen = &mut seen[region];
        while seen.known_until.is_none_or(|until| until <= at) {
            drawn.draw_next(seen, (luck, replication), region);
        }
        let after = seen.shortages.partition_point(|(from, ..)| *from <= at);
        match after.checked_sub(1).map(|last| seen.shortages[last]) {
            Some((_, to, left)) if at < to => left,
            _ => Capacity::Plenty,
        }
    }
}

impl Drawn {
    /// Draws the next shortage of a region.
    fn draw_next(&self, seen: &mut Seen, (luck, replication): (&Luck, u32), region: RegionId) {
        let region = u16::try_from(region.index()).expect("regions fit u16");
        let number = u32::try_from(seen.shortages.len()).expect("shortages fit u32");
        let draw = |purpose| luck.at(replication, purpose, region, number);
        let before = seen.known_until.unwrap_or(self.start - self.warm_up);
        let (from, to) = if self.always {
            (before, Timestamp::MAX)
        } else {
            let from = before + Span::from_millis(self.gap.millis(draw(Purpose::ShortageGap), 0));
            let lasts = self.lasts.millis(draw(Purpose::ShortageLength), 1);
            (from, from + Span::from_millis(lasts))
        };
        let total = happens(draw(Purpose::ShortageKind), self.total);
        let left = if total { Capacity::Nothing } else { Capacity::One };
        seen.shortages.push((from, to, left));
        seen.known_until = Some(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(probability: f64, total: f64) -> Shortages {
        let lasts = Distribution::lognormal(4.0 * 3.6e6, 1.0).unwrap();
        let model = CapacityModel { probability, lasts, total };
        Shortages::new(&model, Timestamp::default()).unwrap()
    }

    fn seen() -> Column<RegionId, Seen> {
        (0..3).map(|_| Seen::default()).collect()
    }

    fn hours(hours: i64) -> Timestamp {
        Timestamp::default() + Span::from_hours(hours)
    }

    #[test]
    fn w8_a_region_has_shortages_for_the_share_of_time_that_is_asked_for() {
        let (shortages, luck) = (drawn(0.1, 0.3), Luck::new(1));
        let (mut short, mut total, replications) = (0.0, 0.0, 20_000);
        for replication in 0..replications {
            let (mut seen, at) = (seen(), hours(i64::from(replication % 2) * 700));
            let left = shortages.capacity(&mut seen, (&luck, replication), RegionId(1), at);
            short += f64::from(u8::from(left != Capacity::Plenty));
            total += f64::from(u8::from(left == Capacity::Nothing));
        }
        let n = f64::from(replications);
        let error = 3.29 * (0.1 * 0.9 / n).sqrt();
        assert!((short / n - 0.1).abs() < error, "{}", short / n);
        assert!(
            (total / short - 0.3).abs() < 3.29 * (0.3 * 0.7 / short).sqrt(),
            "{}",
            total / short
        );
        let never = CapacityModel {
            probability: 0.0,
            lasts: Distribution::constant(1.0).unwrap(),
            total: 1.0,
        };
        assert!(Shortages::new(&never, Timestamp::default()).is_none());
        let always = drawn(1.0, 1.0).capacity(&mut seen(), (&luck, 0), RegionId(0), hours(9));
        assert_eq!(always, Capacity::Nothing);
    }

    #[test]
    fn w8_regions_are_independent_and_no_question_changes_an_answer() {
        let (shortages, luck) = (drawn(0.3, 0.5), Luck::new(2));
        let (mut both, mut one, n) = (0.0, [0.0; 2], 8_000);
        for replication in 0..n {
            let mut forwards = seen();
            let ask = |seen: &mut Column<RegionId, Seen>, region, hour| {
                shortages.capacity(seen, (&luck, replication), RegionId(region), hours(hour))
            };
            let late = ask(&mut forwards, 0, 900);
            let early = ask(&mut forwards, 0, 5);
            let other = ask(&mut forwards, 1, 5);
            let mut alone = seen();
            assert_eq!(ask(&mut alone, 0, 5), early, "the later question changes nothing");
            assert_eq!(ask(&mut alone, 0, 900), late);
            let short = |left: Capacity| f64::from(u8::from(left != Capacity::Plenty));
            both += short(early) * short(other);
            one[0] += short(early);
            one[1] += short(other);
        }
        let (n, expected) = (f64::from(n), one[0] * one[1] / f64::from(n) / f64::from(n));
        let error = 3.29 * (expected * (1.0 - expected) / n).sqrt();
        assert!((both / n - expected).abs() < error, "{} for {expected}", both / n);
    }

    #[test]
    fn w8_scripted_shortages_hold_where_and_when_they_say() {
        let entry = |region, from, to, total| ScriptedShortage {
            region: RegionId(region),
            from: Span::from_hours(from),
            to: Span::from_hours(to),
            total,
        };
        let script = [entry(0, 2, 6, false), entry(0, 5, 9, true)];
        let shortages = Shortages::scripted(&script, Timestamp::default());
        let luck = Luck::new(1);
        let at = |region, hour| {
            shortages.capacity(&mut seen(), (&luck, 0), RegionId(region), hours(hour))
        };
        assert_eq!([1, 2, 5, 8, 9].map(|hour| at(0, hour)), {
            use Capacity::{Nothing, One, Plenty};
            [Plenty, One, Nothing, Nothing, Plenty]
        });
        assert_eq!(at(1, 3), Capacity::Plenty);
    }
}
