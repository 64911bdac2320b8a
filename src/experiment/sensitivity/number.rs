//! A number of a scenario that somebody assumed, and what it is when it is another one.

use std::ops::RangeInclusive;

use crate::sim::model::{Amount, Distribution};
use crate::sim::nodes::TIMES;
use crate::time::Span;

/// Which number of an assumption: most have one, distributions can have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The number; of a distribution all its values, so its median and its mean.
    Size,
    /// The sigma of a lognormal, or of all lognormal parts of a mixture.
    Sigma,
    /// What the parts of a mixture weigh, all but the first.
    Weight,
    /// The `a` and `b` of a beta distribution: how close values are to the mean.
    Concentration,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Size, Self::Sigma, Self::Weight, Self::Concentration];

    /// Its position in [`Self::ALL`].
    pub(super) const fn position(self) -> usize {
        match self {
            Self::Size => 0,
            Self::Sigma => 1,
            Self::Weight => 2,
            Self::Concentration => 3,
        }
    }
}

/// Where a number stands, and what it can be.
#[derive(Debug)]
pub(super) enum Number<'a> {
    /// A distribution of times or shares. Shares above 1 are cut to it where they are used.
    Drawn(&'a mut Distribution),
    /// A probability, or a share: at most 1.
    Probability(&'a mut f64),
    /// A factor, within what the scenario allows.
    Times(&'a mut f64),
    /// A count, within bounds.
    Count(&'a mut u32, RangeInclusive<u32>),
    /// A count, or whole percents up to 100.
    Amount(&'a mut Amount),
    /// A time, at least this.
    Time(&'a mut Span, Span),
}

/// The largest count that scenarios have.
pub(super) const MOST: u32 = 1_000_000;

impl Number<'_> {
    /// Multiplies one of its parts; whether it has such a part, and is not what it was.
    pub(super) fn multiply(self, part: Part, factor: f64) -> bool {
        match (self, part) {
            (Self::Drawn(of), part) => {
                let varied = match part {
                    Part::Size => of.scaled(factor).or_else(|| of.leaning(factor)),
                    Part::Sigma => of.spread(factor),
                    Part::Weight => of.reweighted(factor),
                    Part::Concentration => of.concentrated(factor),
                };
                varied.is_some_and(|varied| replace(of, varied))
            }
            (Self::Probability(of), Part::Size) => {
                let varied = (*of * factor).min(1.0);
                replace(of, varied)
            }
            (Self::Times(of), Part::Size) => {
                let varied = (*of * factor).clamp(TIMES[0], TIMES[1]);
                replace(of, varied)
            }
            (Self::Count(of, bounds), Part::Size) => {
                let varied = count(*of, factor).clamp(*bounds.start(), *bounds.end());
                replace(of, varied)
            }
            (Self::Amount(of), Part::Size) => {
                let varied = match *of {
                    Amount::Count(members) => Amount::Count(count(members, factor)),
                    Amount::Percent(share) => Amount::Percent(count(share, factor).min(100)),
                };
                replace(of, varied)
            }
            (Self::Time(of, least), Part::Size) => {
                #[expect(clippy::cast_possible_truncation, reason = "a few hundred years at most")]
                let millis = (of.as_secs_f64() * factor * 1_000.0).round() as i64;
                let varied = if *of == Span::ZERO { *of } else { Span::from_millis(millis) };
                replace(of, varied.max(least.min(*of)))
            }
            (_, Part::Sigma | Part::Weight | Part::Concentration) => false,
        }
    }
}

/// Puts another value in the place of one; whether it is another.
fn replace<T: PartialEq>(of: &mut T, varied: T) -> bool {
    let other = *of != varied;
    *of = varied;
    other
}

#[expect(clippy::cast_possible_truncation, reason = "at most three millions")]
#[expect(clippy::cast_sign_loss, reason = "a count is positive")]
fn count(of: u32, factor: f64) -> u32 {
    (f64::from(of) * factor).round().min(f64::from(MOST)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const THIRD: f64 = 1.0 / 3.0;

    #[test]
    fn numbers_stay_what_a_scenario_can_say() {
        let mut share = 0.5;
        assert!(Number::Probability(&mut share).multiply(Part::Size, 3.0));
        assert!((share - 1.0).abs() < 1e-12);
        assert!(!Number::Probability(&mut share).multiply(Part::Size, 3.0), "it is 1 already");
        assert!(!Number::Probability(&mut share).multiply(Part::Sigma, THIRD), "it has no sigma");
        let mut times = 50.0;
        assert!(Number::Times(&mut times).multiply(Part::Size, 3.0));
        assert!((times - 100.0).abs() < 1e-12);
        let mut members = 2;
        assert!(Number::Count(&mut members, 1..=4).multiply(Part::Size, THIRD));
        assert_eq!(members, 1, "0.67 is 1");
        assert!(!Number::Count(&mut members, 1..=4).multiply(Part::Size, THIRD), "at least 1");
        assert!(Number::Count(&mut members, 1..=2).multiply(Part::Size, 3.0));
        assert_eq!(members, 2);
        let mut borne = Amount::Percent(40);
        assert!(Number::Amount(&mut borne).multiply(Part::Size, 3.0));
        assert_eq!(borne, Amount::Percent(100));
        assert!(!Number::Amount(&mut Amount::Count(0)).multiply(Part::Size, 3.0), "none is none");
    }

    #[test]
    fn times_have_a_least_and_none_is_none() {
        let minutes = Span::from_mins;
        let multiplied = |mut time: Span, least: Span, factor: f64| {
            let other = Number::Time(&mut time, least).multiply(Part::Size, factor);
            (time, other)
        };
        assert_eq!(multiplied(minutes(60), minutes(1), THIRD), (minutes(20), true));
        assert_eq!(multiplied(minutes(2), minutes(1), THIRD), (minutes(1), true));
        assert_eq!(multiplied(minutes(1), minutes(1), THIRD), (minutes(1), false));
        assert_eq!(multiplied(Span::ZERO, Span::ZERO, 3.0), (Span::ZERO, false));
    }
}
