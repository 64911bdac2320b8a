//! The sum of two independent values, compiled for draws of the *largest* of several such sums.
//!
//! The largest of k values lies below x with the k-th power of the probability p that one does. On
//! the scale of w = -ln p that is a division: if w is drawn from an exponential distribution with
//! mean 1, the largest of k is the value at level w / k. So one uniform number draws the largest
//! of any number of sums, by inverse transform, from one table.
//!
//! The distribution of the sum is found once, by quadrature over the cells of one summand's
//! probability, fine in both tails. Jumps of the other are taken apart and added exactly.

use libm::{exp, log, log1p};

use super::special::Share;
use super::{Distribution, Kind};

/// Both tails are followed down to 2^-42.
const TAIL: i32 = 41;
/// Where the table begins: levels below 2^-42 are beyond the tail.
const FIRST_OCTAVE: i64 = -42;
/// And where it ends: exp(-64) is far below any uniform number.
const OCTAVES: usize = 48;
const HIGHEST: f64 = 64.0;
/// 2^-42.
const LOWEST: f64 = 2.273_736_754_432_320_6e-13;
/// Each octave of levels has 2^5 segments.
const BITS: u32 = 5;
/// The relative error allowed to a segment.
const TOLERANCE: f64 = 0.000_2;
/// Half the width of a jump, in relation to where it is: beyond the rounding of a sum.
const EDGE: f64 = 8.0 * f64::EPSILON;

/// The sum of two independent values, of which the first may be confined; see the module's words.
#[derive(Debug, Clone)]
pub struct Sums {
    segments: Box<[Segment]>,
    /// Levels, descending, and values, ascending: what the segments were made from.
    points: Vec<(f64, f64)>,
}

/// A straight piece of the value as a function of the level.
#[derive(Debug, Clone, Copy)]
struct Segment {
    base: f64,
    /// The change across the segment; not a number where the points are to be asked.
    rise: f64,
}

/// A value and the probability that comes with it.
#[derive(Debug, Clone, Copy)]
struct Mass {
    at: f64,
    mass: f64,
}

/// A summand, confined to values up to a limit.
struct Summand<'d> {
    of: &'d Distribution,
    limit: f64,
    /// What lies within the limit, and beyond.
    within: Share,
}

impl Sums {
    /// Compiles the sum of `first`, on condition that it is at most `limit`, and `second`. Values
    /// must not be negative, and `first` must have some within the limit.
    pub fn new(first: &Distribution, limit: f64, second: &Distribution) -> Self {
        let first = Summand::new(first, limit);
        let second = Summand::new(second, f64::INFINITY);
        let points = points(&first, &second);
        let mut sums = Self { segments: Box::default(), points };
        sums.segments = (0..OCTAVES << BITS).map(|number| sums.segment(number)).collect();
        sums
    }

    /// The value at a level: below it lies the share exp(-level). Falls as the level rises.
    #[inline]
    pub fn at_level(&self, level: f64) -> f64 {
        const FIRST: i64 = (1_023 + FIRST_OCTAVE) << BITS;
        const LOW: u64 = (1 << (52 - BITS)) - 1;
        let bits = level.clamp(LOWEST, HIGHEST.next_down()).to_bits();
        #[expect(clippy::cast_possible_truncation, reason = "the level was clamped")]
        let number = ((bits >> (52 - BITS)) - FIRST.cast_unsigned()) as usize;
        #[expect(clippy::cast_precision_loss, reason = "47 bits are exact")]
        let along = (bits & LOW) as f64 * (1.0 / (1_u64 << (52 - BITS)) as f64);
        let segment = self.segments[number];
        let value = segment.base + segment.rise * along;
        if value.is_nan() { self.exactly(level) } else { value }
    }

    /// The mean of the largest of `count` sums, by a fine rule of midpoints.
    pub fn mean_of_largest(&self, count: u32) -> f64 {
        const CELLS: u32 = 8_192;
        let cells = f64::from(CELLS);
        let level = |cell: u32| -log((f64::from(cell) + 0.5) / cells) / f64::from(count);
        (0..CELLS).map(|cell| self.at_level(level(cell))).sum::<f64>() / cells
    }

    /// By interpolation between the points.
    #[cold]
    #[inline(never)]
    fn exactly(&self, level: f64) -> f64 {
        let after = self.points.partition_point(|(other, _)| *other >= level);
        let Some((low, x_low)) = self.points.get(after) else {
            return self.points[self.points.len() - 1].1;
        };
        let Some((high, x_high)) = after.checked_sub(1).map(|before| self.points[before]) else {
            return *x_low;
        };
        let along = (log(high / level) / log(high / low.max(LOWEST))).clamp(0.0, 1.0);
        // Both scales are logarithmic where they can be: heavy tails are nearly straight then.
        if x_high > 0.0 {
            x_high * exp(log(x_low / x_high) * along)
        } else {
            x_high + (x_low - x_high) * along
        }
    }

    /// The segment of this number, straight if everything in it is.
    fn segment(&self, number: usize) -> Segment {
        let end = |number: usize| {
            let (octave, part) = (number >> BITS, number & ((1 << BITS) - 1));
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let mantissa = 1.0 + part as f64 / f64::from(1 << BITS);
            let exponent = i32::try_from(octave).expect("a small number") - 42;
            libm::scalbn(mantissa, exponent)
        };
        let (low, high) = (end(number), end(number + 1));
        let (base, last) = (self.exactly(low), self.exactly(high));
        let line = |level: f64| base + (last - base) * (level - low) / (high - low);
        let close = |level: f64, value: f64| {
            (line(level) - value).abs() <= TOLERANCE * value.abs() + f64::MIN_POSITIVE
        };
        let eighths = (1..8).map(|eighth| low + (high - low) * f64::from(eighth) / 8.0);
        let mut straight = eighths.map(|at| (at, self.exactly(at))).all(|(at, x)| close(at, x));
        let from = self.points.partition_point(|(level, _)| *level > high);
        let inside = self.points[from..].iter().take_while(|(level, _)| *level >= low);
        straight &= inside.copied().all(|(level, x)| close(level, x));
        Segment { base, rise: if straight { last - base } else { f64::NAN } }
    }
}

impl<'d> Summand<'d> {
    fn new(of: &'d Distribution, limit: f64) -> Self {
        let within = of.share(limit);
        assert!(within.below > 0.0, "nothing lies within the limit");
        Self { of, limit, within }
    }

    /// How much lies at or below `x`, and above.
    fn share(&self, x: f64) -> Share {
        if x >= self.limit {
            return Share::ALL;
        }
        let Share { below, above } = self.of.share(x);
        let Share { below: all, above: beyond } = self.within;
        Share { below: below / all, above: (above - beyond).max(0.0) / all }
    }

    fn quantile(&self, share: Share) -> f64 {
        let Share { below: all, above: beyond } = self.within;
        let share = Share { below: share.below * all, above: share.above * all + beyond };
        self.of.quantile(share).min(self.limit)
    }

    /// Where the distribution has corners, jumps and ends, ascending.
    fn corners(&self) -> Vec<f64> {
        let mut corners = Vec::new();
        self.of.corners(&mut corners);
        corners.retain(|corner| *corner < self.limit);
        corners.extend(self.limit.is_finite().then_some(self.limit));
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        corners
    }

    /// Single values with a probability of their own.
    fn jumps(&self) -> Vec<Mass> {
        let mass = |at: f64| self.share(at).below - self.share(at.next_down()).below;
        let all = self.corners().into_iter().map(|at| Mass { at, mass: mass(at) });
        all.filter(|jump| jump.mass > 1e-9).collect()
    }

    /// Shares from one tail to the other, `parts` to an octave, and those of the corners.
    fn shares(&self, parts: i32) -> Vec<Share> {
        let cut = (-TAIL..=-1).flat_map(|octave| {
            let part = move |part| f64::from(parts + part) / f64::from(parts);
            (0..parts).map(move |number| libm::scalbn(part(number), octave - 1))
        });
        let tail: Vec<f64> = cut.chain([0.5]).collect();
        let upper = tail.iter().rev().skip(1).map(|above| Share::above(*above));
        let mut shares: Vec<Share> =
            tail.iter().map(|below| Share::below(*below)).chain(upper).collect();
        let corners = self.corners();
        let sides = corners.iter().flat_map(|at| [at.next_down(), *at]);
        let inside = |share: &Share| share.below > 0.0 && share.above > 0.0;
        shares.extend(sides.map(|at| self.share(at)).filter(inside));
        let place =
            |share: &Share| if share.below <= 0.5 { share.below } else { 1.0 - share.above };
        shares.sort_by(|a, b| place(a).total_cmp(&place(b)));
        shares
    }

    /// Values and probabilities that stand for the distribution in a sum: two in each cell
    /// (Gauss), and what lies beyond the last cells.
    fn nodes(&self) -> Vec<Mass> {
        const FIRST: f64 = 0.211_324_865_405_187_1;
        let shares = self.shares(8);
        let mut nodes: Vec<Mass> = Vec::new();
        let mut push = |share: Share, mass: f64| {
            let at = self.quantile(share);
            match nodes.last_mut() {
                Some(last) if last.at >= at => last.mass += mass,
                _ => nodes.push(Mass { at, mass }),
            }
        };
        push(shares[0], shares[0].below);
        for pair in shares.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let lower = to.below <= 0.5;
            let mass = if lower { to.below - from.below } else { from.above - to.above };
            if mass <= 0.0 {
                continue;
            }
            for along in [FIRST, 1.0 - FIRST] {
                let share = if lower {
                    Share::below(from.below + mass * along)
                } else {
                    Share::above(to.above + mass * (1.0 - along))
                };
                push(share, mass / 2.0);
            }
        }
        let last = shares[shares.len() - 1];
        push(last, last.above);
        nodes
    }

    /// The distribution without its jumps, as points with what lies below and above.
    fn smooth_part(&self, jumps: &[Mass]) -> Vec<(f64, Share)> {
        let corners = self.corners();
        let mut values: Vec<f64> = self.shares(32).iter().map(|p| self.quantile(*p)).collect();
        values.extend(corners.iter().flat_map(|at| [at.next_down(), *at]));
        values.sort_by(f64::total_cmp);
        values.dedup();
        let without = |x: f64| {
            let Share { below, above } = self.share(x);
            let at_or_below = jumps.partition_point(|jump| jump.at <= x);
            let mass = |jumps: &[Mass]| jumps.iter().map(|jump| jump.mass).sum::<f64>();
            let (left, right) = jumps.split_at(at_or_below);
            Share { below: (below - mass(left)).max(0.0), above: (above - mass(right)).max(0.0) }
        };
        values.into_iter().map(|x| (x, without(x))).collect()
    }
}

/// Levels and values of the sum, from its smallest value to its largest.
fn points(first: &Summand<'_>, second: &Summand<'_>) -> Vec<(f64, f64)> {
    let jumps = first.jumps();
    let smooth = first.smooth_part(&jumps);
    let sum = Sum { second, jumps, smooth, nodes: second.nodes() };
    let mut found = sum.shares(values(first, second));
    for _ in 0..2 {
        let between = found.windows(2).flat_map(|pair| too_far_apart(pair[0], pair[1])).collect();
        found.extend(sum.shares(between));
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (x, share) in found {
        // Rounding must not make it rise, and beyond the ends only the nearest value counts.
        let level = points.last().map_or(HIGHEST, |(last, _)| level_of(share).min(*last));
        match points.last_mut() {
            Some(last) if level >= HIGHEST => *last = (level, x),
            Some((last, _)) if *last <= LOWEST => {}
            _ => points.push((level, x)),
        }
    }
    points
}

/// -ln of what lies below, without rounding at either end.
fn level_of(share: Share) -> f64 {
    if share.below > share.above {
        return -log1p(-share.above.min(0.5));
    }
    if share.below > exp(-HIGHEST) { -log(share.below) } else { HIGHEST }
}

/// Values to be looked at between two that are too far apart for a straight line.
fn too_far_apart(from: (f64, Share), to: (f64, Share)) -> impl Iterator<Item = f64> {
    const MOST: u32 = 32;
    let [high, low] = [from, to].map(|(_, share)| level_of(share).max(LOWEST));
    let steps = if to.0 - from.0 > 1e-4 * to.0.abs() { log(high / low) / 0.05 } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 32")]
    let steps = steps.clamp(0.0, f64::from(MOST)) as u32;
    (1..steps).map(move |step| from.0 + (to.0 - from.0) * f64::from(step) / f64::from(steps))
}

/// A sum, taken apart for its distribution.
struct Sum<'a, 'd> {
    second: &'a Summand<'d>,
    /// The jumps of the first summand.
    jumps: Vec<Mass>,
    /// The rest of it.
    smooth: Vec<(f64, Share)>,
    /// What stands for the second.
    nodes: Vec<Mass>,
}

impl Sum<'_, '_> {
    /// How much of the sum lies at or below each of these ascending values, and above.
    fn shares(&self, values: Vec<f64>) -> Vec<(f64, Share)> {
        let nothing = Share { below: 0.0, above: 0.0 };
        let mut found: Vec<(f64, Share)> = values.into_iter().map(|x| (x, nothing)).collect();
        for jump in &self.jumps {
            for (x, sum) in &mut found {
                let share = self.second.share(*x - jump.at);
                sum.below += jump.mass * share.below;
                sum.above += jump.mass * share.above;
            }
        }
        let jumped: f64 = self.jumps.iter().map(|jump| jump.mass).sum();
        if jumped < 1.0 - 1e-9 {
            self.add_smooth_part(&mut found);
        }
        found
    }

    /// Adds what the smooth part of the first and the whole of the second make. Both lists ascend,
    /// so that each is walked once for every node.
    fn add_smooth_part(&self, found: &mut [(f64, Share)]) {
        let smooth = &self.smooth;
        let all = smooth[smooth.len() - 1].1.below + smooth[smooth.len() - 1].1.above;
        for Mass { at, mass } in &self.nodes {
            let mut next = 0;
            for (x, sum) in found.iter_mut() {
                let x = *x - at;
                while next < smooth.len() && smooth[next].0 <= x {
                    next += 1;
                }
                let share = match (next.checked_sub(1), smooth.get(next)) {
                    (None, _) => Share { below: 0.0, above: all },
                    (Some(_), None) => Share { below: all, above: 0.0 },
                    (Some(before), Some((to, after))) => {
                        let (from, before) = smooth[before];
                        let along = (x - from) / (to - from);
                        Share {
                            below: before.below + (after.below - before.below) * along,
                            above: before.above + (after.above - before.above) * along,
                        }
                    }
                };
                sum.below += mass * share.below;
                sum.above += mass * share.above;
            }
        }
    }
}

/// Values at which the sum's distribution is found: fine in both tails, and on both sides of where
/// it may jump.
fn values(first: &Summand<'_>, second: &Summand<'_>) -> Vec<f64> {
    let together = first.shares(16).into_iter().chain(second.shares(16));
    let mut values: Vec<f64> =
        together.map(|share| first.quantile(share) + second.quantile(share)).collect();
    let (mine, others) = (first.corners(), second.corners());
    if mine.len() * others.len() <= 2_000 {
        let sums = mine.iter().flat_map(|a| others.iter().map(move |b| a + b));
        values.extend(sums.flat_map(|sum| [sum * (1.0 - EDGE), sum * (1.0 + EDGE)]));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// How many of `count` values pass a limit that each passes with the probability 1 - exp(-`loss`),
/// given that one does; and a level for the others, fresh and between them. All from one uniform
/// number `unit`, above the share exp(-`loss` · `count`) in which none passes.
pub fn passing(unit: f64, loss: f64, count: u32) -> (u32, f64) {
    let odds = libm::expm1(loss);
    let (mut passing, mut term) = (0, exp(-loss * f64::from(count)));
    let mut below = 0.0;
    if loss.is_infinite() {
        return (count, 0.0);
    }
    while passing < count && (passing == 0 || unit > below + term) {
        below += term;
        term *= f64::from(count - passing) / f64::from(passing + 1) * odds;
        passing += 1;
    }
    let along = if term > 0.0 { (unit - below) / term } else { 1.0 };
    (passing, -log(along.clamp(f64::MIN_POSITIVE, 1.0)))
}

impl Distribution {
    /// -ln of the share that lies at or below `x`: infinite where nothing does.
    pub fn level_at_most(&self, x: f64) -> f64 {
        -self.share(x).ln_below()
    }

    /// Whether there is only one value.
    pub fn is_constant(&self) -> bool {
        let (low, high) = self.range();
        matches!(self.0, Kind::Constant(_)) || low.to_bits() == high.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Quantiles;
    use super::*;

    fn lognormal(median: f64, sigma: f64) -> Distribution {
        Distribution::lognormal(median, sigma).unwrap()
    }

    fn constant(value: f64) -> Distribution {
        Distribution::constant(value).unwrap()
    }

    fn uniform_to(high: f64) -> Distribution {
        Distribution::uniform(0.0, high).unwrap()
    }

    /// The default drain and reimage, in minutes.
    fn defaults() -> (Distribution, Distribution) {
        let drain = vec![(0.86, lognormal(0.8, 0.8)), (0.14, lognormal(6.0, 0.7))];
        (Distribution::mixture(drain).unwrap(), lognormal(5.0, 0.35))
    }

    /// Shares 0.0001 to 0.9999, dense in both tails.
    fn shares() -> Vec<f64> {
        let tail = (0..=36).map(|i| libm::pow(10.0, -4.0 + f64::from(i) / 10.0) / 2.0 + 5e-5);
        let tail: Vec<f64> = tail.filter(|p| *p < 0.5).collect();
        tail.iter().copied().chain([0.5]).chain(tail.iter().map(|p| 1.0 - p)).collect()
    }

    #[track_caller]
    fn assert_close(what: &str, p: f64, found: f64, exact: f64) {
        let error = (found / exact - 1.0).abs();
        assert!(error < 1e-3, "{what} at {p}: {found} for {exact}: {error:.5}");
    }

    /// Every sum whose distribution is known, and the largest of k of them.
    #[test]
    fn sums_and_their_largest_follow_the_closed_forms() {
        let uniform = uniform_to(1.0);
        let triangle = Distribution::triangular(0.0, 1.0, 2.0).unwrap();
        let exponential = Distribution::exponential(3.0).unwrap();
        let cases = [
            ("exponentials", exponential.clone(), exponential, Distribution::gamma(2.0, 3.0)),
            ("uniforms", uniform.clone(), uniform, Ok(triangle)),
            (
                "nothing and a lognormal",
                constant(0.0),
                lognormal(5.0, 0.35),
                Ok(lognormal(5.0, 0.35)),
            ),
            (
                "a lognormal and nothing",
                lognormal(5.0, 2.0),
                constant(0.0),
                Ok(lognormal(5.0, 2.0)),
            ),
            ("narrow", constant(0.0), lognormal(5.0, 0.001), Ok(lognormal(5.0, 0.001))),
            ("constants", constant(2.0), constant(5.2), Ok(constant(7.2))),
            ("a shift", constant(20.0), uniform_to(10.0), Distribution::uniform(20.0, 30.0)),
        ];
        for (what, first, second, sum) in cases {
            let (table, sum) = (Sums::new(&first, f64::INFINITY, &second), sum.unwrap());
            for p in shares() {
                for count in [1, 2, 5, 33, 1_000] {
                    let largest = libm::pow(p, 1.0 / f64::from(count));
                    let above = -libm::expm1(log(p) / f64::from(count));
                    let exact = sum.quantile(Share { below: largest, above });
                    let found = table.at_level(-log(p) / f64::from(count));
                    assert_close(&format!("{count} {what}"), p, found, exact);
                }
            }
        }
    }

    /// P(first + second <= x), by the trapezoidal rule over the normal variate behind the second,
    /// which converges faster than any power for what falls off so fast.
    fn brute(first: &Distribution, limit: f64, second: (f64, f64), x: f64) -> Share {
        let mut sum = Share { below: 0.0, above: 0.0 };
        let first = Summand::new(first, limit);
        for step in -9_000..=9_000 {
            let z = f64::from(step) / 1_000.0;
            let density = super::super::special::normal_density(z) / 1_000.0;
            let share = first.share(x - second.0 * exp(second.1 * z));
            sum.below += density * share.below;
            sum.above += density * share.above;
        }
        sum
    }

    #[test]
    fn w4_the_default_node_is_within_a_thousandth_of_brute_force() {
        let (drain, reimage) = defaults();
        for limit in [f64::INFINITY, 30.0, 5.0] {
            let table = Sums::new(&drain, limit, &reimage);
            for p in [1e-4, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97, 0.999, 0.9999] {
                for count in [1_u32, 10, 100] {
                    let value = table.at_level(-log(p) / f64::from(count));
                    let power = |share: Share| exp(share.ln_below() * f64::from(count));
                    let brute = |x| power(brute(&drain, limit, (5.0, 0.35), x));
                    let (low, high) = (brute(value * 0.999), brute(value * 1.001));
                    let text = format!("{count} within {limit} at {p}: {value}: {low} {high}");
                    assert!(low < p && p < high, "{text}");
                }
            }
        }
    }

    #[test]
    fn the_number_that_pass_is_binomial_given_that_one_does() {
        let (count, p) = (5, 0.3_f64);
        let (loss, none) = (-log1p(-p), libm::pow(1.0 - p, 5.0));
        let (mut found, mut levels, cells) = ([0.0; 6], 0.0, 200_000);
        for cell in 0..cells {
            let along = (f64::from(cell) + 0.5) / f64::from(cells);
            let (passing, level) = passing(none + (1.0 - none) * along, loss, count);
            found[passing as usize] += (1.0 - none) / f64::from(cells);
            levels += level / f64::from(cells);
        }
        for (passing, choose) in [(1_u8, 5.0), (2, 10.0), (3, 10.0), (4, 5.0), (5, 1.0)] {
            let exact = choose
                * libm::pow(p, f64::from(passing))
                * libm::pow(1.0 - p, f64::from(5 - passing));
            assert_close("so many pass", f64::from(passing), found[usize::from(passing)], exact);
        }
        assert_close("the others' level", 0.5, levels, 1.0);
        assert_eq!(super::passing(0.5, f64::INFINITY, 3).0, 3, "nothing stays within");
    }

    #[test]
    fn gaps_stay_gaps() {
        let drain = vec![(0.9, constant(1.0)), (0.1, constant(20.0))];
        let drain = Distribution::mixture(drain).unwrap();
        let table = Sums::new(&drain, f64::INFINITY, &constant(5.0));
        for p in shares() {
            let expected = if p < 0.9 { 6.0 } else { 25.0 };
            assert!((table.at_level(-log(p)) / expected - 1.0).abs() < 1e-9, "at {p}");
        }
        let smooth = Sums::new(&drain, f64::INFINITY, &Distribution::uniform(5.0, 6.0).unwrap());
        for p in shares() {
            let expected = if p < 0.9 { 6.0 + p / 0.9 } else { 25.0 + (p - 0.9) / 0.1 };
            assert_close("a gap", p, smooth.at_level(-log(p)), expected);
        }
        let confined = Sums::new(&drain, 20.0_f64.next_down(), &constant(5.0));
        assert!((confined.at_level(1e-9) - 6.0).abs() < 1e-9, "only what is within the limit");
    }

    #[test]
    fn values_fall_as_levels_rise_and_one_number_draws_the_largest() {
        let (drain, reimage) = defaults();
        let table = Sums::new(&drain, 30.0, &reimage);
        let mut before = f64::INFINITY;
        for step in -4_300..=550 {
            let value = table.at_level(libm::exp2(f64::from(step) / 100.0));
            let octave = f64::from(step) / 100.0;
            assert!(value <= before && value > 0.0, "at 2^{octave}: {value} after {before}");
            before = value;
        }
        let common = &table.segments[1 << BITS..(OCTAVES - 1) << BITS];
        assert!(common.iter().all(|segment| !segment.rise.is_nan()), "a slow value is asked for");
        // Drawn through the compiled exponential, the mean is that of the fine rule.
        let levels = Quantiles::new(&Distribution::exponential(1.0).unwrap());
        for count in [1, 7, 50] {
            let parts = 100_000_u64;
            let draw = |i: u64| levels.value(!(i * (u64::MAX / parts) + u64::MAX / parts / 2));
            let values = (0..parts).map(|i| table.at_level(draw(i) / f64::from(count)));
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let mean = values.sum::<f64>() / parts as f64;
            assert_close("the mean", 0.5, mean, table.mean_of_largest(count));
        }
    }
}
