//! A distribution compiled into a table: the fast form.
//!
//! Both tails are cut into octaves (a quarter to a half, an eighth to a quarter, …), each octave
//! into equal segments, as many as it needs. So the table is as fine in the tails as in the
//! middle, and the place of a number in it is a count of leading zeros and a shift.

use super::special::Share;
use super::{Distribution, Kind};

/// The inverse of a distribution, compiled. From quantile 0.0001 to 0.9999 a value is within 0.1 %
/// of the exact one; outside, and in the few segments in which a straight line cannot be
/// (a gap in a mixture, say), it is the exact one.
#[derive(Debug, Clone)]
pub struct Quantiles {
    /// By side (below the median, above it) and leading zeros of the distance from that end.
    octaves: Box<[Octave; 128]>,
    segments: Vec<Segment>,
    exact: Distribution,
}

/// Where an octave's segments are.
#[derive(Debug, Clone, Copy, Default)]
struct Octave {
    first: u32,
    /// There are two to this power.
    bits: u32,
}

/// A piece of the inverse distribution: a straight line.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The value at the segment's end nearer to its tail.
    base: f64,
    /// The change across the segment; not a number where the exact function is to be asked.
    rise: f64,
}

/// The table ends at 2^-13, a little above 0.0001.
const OCTAVES: u32 = 12;
/// No octave has more than 2^10 segments.
const MOST_BITS: u32 = 10;
/// The relative error allowed where it is measured, so that it is under 0.1 % between as well.
const TOLERANCE: f64 = 0.000_5;

impl Quantiles {
    /// Compiles a distribution.
    pub fn new(distribution: &Distribution) -> Self {
        let ask = Segment { base: 0.0, rise: f64::NAN };
        let mut table = Self {
            octaves: Box::new([Octave::default(); 128]),
            segments: vec![ask],
            exact: distribution.clone(),
        };
        // An empirical distribution is its own table.
        if !matches!(distribution.0, Kind::Empirical(_)) {
            let corners = corner_points(distribution);
            for octave in 0..OCTAVES {
                table.compile(octave, false, &corners);
                table.compile(octave, true, &corners);
            }
        }
        table
    }

    /// The value at this place of the distribution: `u` is 64 uniform bits, 0 the smallest value.
    /// Rises with `u` (where the exact function is asked, but for its rounding in the last digits).
    #[inline]
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "53 bits are exact")]
    pub fn value(&self, u: u64) -> f64 {
        let side = u >> 63;
        let distance = u ^ side.wrapping_neg();
        let zeros = (distance | 1).leading_zeros();
        let octave = self.octaves[(side as usize * 64 + zeros as usize) & 127];
        let place = (distance << zeros) << 1;
        let number = (place >> 1) >> (63 - octave.bits);
        let segment = self.segments[octave.first as usize + number as usize];
        let along = ((place << octave.bits) >> 11) as i64 as f64 * (1.0 / (1_u64 << 53) as f64);
        let value = segment.base + segment.rise * along;
        if value.is_nan() { self.exactly(u) } else { value }
    }

    /// The value rounded to the integer (R-A8), and at least `at_least`.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "values beyond an i64 stop at its ends"
    )]
    pub fn millis(&self, u: u64, at_least: i64) -> i64 {
        let raised = self.value(u) + 0.5;
        let cut = raised as i64;
        // Only what is negative is cut upwards.
        let above = raised < 0.0 && (cut as f64) > raised;
        (cut - i64::from(above)).max(at_least)
    }

    /// The same where it is at least 0, as a number that stops at its end.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is negative is not above the least, and what is beyond stops at the end"
    )]
    pub fn short_millis(&self, u: u64, at_least: u32) -> u32 {
        ((self.value(u) + 0.5) as u32).max(at_least)
    }

    /// The distribution that was compiled.
    pub const fn distribution(&self) -> &Distribution {
        &self.exact
    }

    #[cold]
    #[inline(never)]
    fn exactly(&self, u: u64) -> f64 {
        self.exact.quantile(share_of(u))
    }

    /// Cuts an octave into as many segments as it needs.
    fn compile(&mut self, octave: u32, upper: bool, corners: &[(f64, f64)]) {
        let at = |bits: u32, quarter: u64| {
            // Octave 0 begins at a quarter and is a quarter wide.
            let width = libm::scalbn(0.25, -octave.cast_signed());
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let parts = quarter as f64 / f64::from(4_u32 << bits);
            let near = width + width * parts;
            if upper { Share::above(near) } else { Share::below(near) }
        };
        for bits in 0..=MOST_BITS {
            let segments: Vec<Segment> = (0..1_u64 << bits)
                .map(|number| {
                    let quarters = [0, 1, 2, 3, 4].map(|quarter| {
                        let share = at(bits, 4 * number + quarter);
                        (share, self.exact.quantile(share))
                    });
                    segment(quarters, upper, corners)
                })
                .collect();
            if bits == MOST_BITS || segments.iter().all(|segment| !segment.rise.is_nan()) {
                let first = u32::try_from(self.segments.len()).expect("a table is small");
                let index = (usize::from(upper) * 64) + octave as usize + 1;
                self.octaves[index] = Octave { first, bits };
                self.segments.extend(segments);
                return;
            }
        }
    }
}

/// The share that lies below the middle of the `u`-th of 2^64 equal parts.
#[expect(clippy::cast_precision_loss, reason = "the smaller of the two keeps its digits")]
pub(super) fn share_of(u: u64) -> Share {
    let part = |n: u64| (n as f64 + 0.5) * (1.0 / (1_u128 << 64) as f64);
    Share { below: part(u), above: part(!u) }
}

/// Where the inverse distribution has a corner or a jump: shares and values, ascending.
fn corner_points(distribution: &Distribution) -> Vec<(f64, f64)> {
    let mut values = Vec::new();
    distribution.corners(&mut values);
    values.sort_by(f64::total_cmp);
    values.dedup();
    let sides =
        |value: f64| [value.next_down(), value].map(|from| (distribution.share(from).below, value));
    values.into_iter().flat_map(sides).collect()
}

/// The straight line through the outer two of five neighbouring quantiles, if the inner three and
/// all corners between lie close enough to it.
fn segment(quarters: [(Share, f64); 5], upper: bool, corners: &[(f64, f64)]) -> Segment {
    let (base, end) = (quarters[0].1, quarters[4].1);
    let rounding = 4.0 * f64::EPSILON * base.abs().max(end.abs());
    let close = |line: f64, value: f64| (line - value).abs() <= TOLERANCE * value.abs() + rounding;
    let share = |quarter: usize| quarters[quarter].0.below;
    let (from, width) = (share(0), share(4) - share(0));
    let (low, high) = (share(0).min(share(4)), share(0).max(share(4)));
    let first = corners.partition_point(|(share, _)| *share < low);
    let inside = corners[first..].iter().take_while(|(share, _)| *share <= high);
    let straight = (1..4).all(|i| {
        let along = [0.25, 0.5, 0.75][i - 1];
        close(base + (end - base) * along, quarters[i].1)
    });
    let rise = end - base;
    if !straight || !inside.copied().all(|(at, x)| close(base + rise * ((at - from) / width), x)) {
        return Segment { base, rise: f64::NAN };
    }
    // The last value on the line must not pass the first of the next by a rounding.
    let past = |rise: f64| {
        let last = base + rise * (1.0 - f64::EPSILON / 2.0);
        if upper { (last - end).min(0.0) } else { (last - end).max(0.0) }
    };
    let rise = if upper { rise.min(0.0) } else { rise.max(0.0) };
    Segment { base, rise: rise - 2.0 * past(rise) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<(&'static str, Distribution)> {
        let lognormal = |median, sigma| Distribution::lognormal(median, sigma).unwrap();
        let drain = vec![(0.86, lognormal(48e3, 0.8)), (0.14, lognormal(36e4, 0.7))];
        let lumpy = vec![
            (3.0, Distribution::constant(5.0).unwrap()),
            (2.0, Distribution::empirical(vec![1.0, 2.0, 2.0, 2.0, 9.0, 50.0]).unwrap()),
            (1.0, Distribution::uniform(20.0, 30.0).unwrap()),
        ];
        let all = [
            ("constant", Distribution::constant(60_000.0)),
            ("uniform", Distribution::uniform(-3.0, 5.0)),
            ("triangular", Distribution::triangular(0.0, 10.0, 100.0)),
            ("exponential", Distribution::exponential(300.0)),
            ("lognormal", Distribution::lognormal(2_400_000.0, 0.5)),
            ("lognormal wide", Distribution::lognormal(1.0, 3.0)),
            ("lognormal p95", Distribution::lognormal_p95(2.0, 9.0)),
            ("gamma", Distribution::gamma(5.7, 1.22)),
            ("gamma cv", Distribution::gamma_cv(10.0, 3.0)),
            ("weibull", Distribution::weibull(100.0, 0.7)),
            ("normal", Distribution::normal(28.0, 4.0, 20.0, f64::INFINITY)),
            ("normal around zero", Distribution::normal(0.1, 1.0, -9.0, 4.0)),
            ("beta", Distribution::beta(2.0, 6.0)),
            ("beta u", Distribution::beta(0.3, 0.5)),
            ("empirical", Distribution::empirical(vec![4.0, 1.0, 2.5, 2.5, 80.0])),
            ("mixture", Distribution::mixture(drain)),
            ("lumpy mixture", Distribution::mixture(lumpy)),
        ];
        all.into_iter().map(|(name, of)| (name, of.unwrap())).collect()
    }

    /// A fine grid of 64-bit places: even in the middle, even on a logarithmic scale in the tails.
    fn places() -> Vec<u64> {
        let middle = (0..20_000_u64).map(|i| i * (u64::MAX / 20_000) + 12_345);
        let tail =
            (0..3_000_i32).map(|i| 1_u64 << (i / 50 + 1) | 0x2545_f491_4f6c_dd1d >> (63 - i / 50));
        let tails: Vec<u64> = tail.collect();
        let mut all: Vec<u64> =
            middle.chain(tails.iter().copied()).chain(tails.iter().map(|u| !u)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_table_is_within_a_thousandth_of_the_exact_value_and_rises() {
        for (name, distribution) in kinds() {
            let table = Quantiles::new(&distribution);
            let (mut before, mut worst) = (f64::NEG_INFINITY, 0.0_f64);
            for u in places() {
                let (value, share) = (table.value(u), share_of(u));
                let exact = distribution.quantile(share);
                // Beside the rounding of values that cross zero.
                let error = ((value - exact).abs() - 1e-15).max(0.0) / exact.abs().max(1e-300);
                if share.below < 1e-4 || share.above < 1e-4 {
                    assert_eq!(value.to_bits(), exact.to_bits(), "{name} at {share:?}");
                } else {
                    assert!(error < 1e-3, "{name} at {share:?}: {value} for {exact}");
                }
                assert!(value >= before - 1e-12 * before.abs(), "{name} falls at {share:?}");
                (before, worst) = (value, worst.max(error));
            }
            let asked = table.segments.iter().filter(|segment| segment.rise.is_nan()).count();
            println!("{name}: {} segments, {asked} exact, worst {worst:.6}", table.segments.len());
            assert!(asked <= 24, "{name} asks the exact function in {asked} segments");
        }
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a million")]
    fn the_means_of_the_tables_are_those_of_the_closed_forms() {
        let parts = 200_000_u64;
        for (name, distribution) in kinds() {
            let table = Quantiles::new(&distribution);
            let places = (0..parts).map(|i| i * (u64::MAX / parts) + u64::MAX / parts / 2);
            let mean = places.map(|u| table.value(u)).sum::<f64>() / parts as f64;
            let error = (mean / distribution.mean() - 1.0).abs();
            // The widest lognormal has a twentieth of its mean beyond the last place.
            let allowed = if name == "lognormal wide" { 0.1 } else { 1e-3 };
            assert!(error < allowed, "{name}: {mean} for {}", distribution.mean());
        }
    }

    #[test]
    fn r_a8_values_are_rounded_to_the_millisecond_and_kept_above_the_least() {
        let table = Quantiles::new(&Distribution::uniform(-4.0, 4.0).unwrap());
        assert_eq!(table.millis(0, i64::MIN), -4);
        assert_eq!(table.millis(u64::MAX, i64::MIN), 4);
        assert_eq!(table.millis((1 << 60) * 7, i64::MIN), 0, "-0.5 rounds up");
        assert_eq!(table.millis((1 << 59) * 13, i64::MIN), -1, "-0.75 rounds down");
        assert_eq!(table.millis(0, 1_000), 1_000);
        let endless = Quantiles::new(&Distribution::constant(1e300).unwrap());
        assert_eq!(endless.millis(1, 1_000), i64::MAX);
        for (name, distribution) in kinds() {
            let table = Quantiles::new(&distribution);
            for u in places() {
                let millis = table.millis(u, 17).min(i64::from(u32::MAX));
                assert_eq!(i64::from(table.short_millis(u, 17)), millis, "{name} at {u}");
            }
        }
        assert_eq!(endless.short_millis(1, 1_000), u32::MAX);
    }
}
