//! `histograms.csv`: how pooled times are distributed (X8).

use super::tables::{Table, number};
use crate::experiment::{Pooled, Unit};
use crate::report::summary::Summary;

/// Steps from a quantile to the one halfway from there to 1.
const TICKS: u64 = 5;

/// The ranks that are shown of `n` sorted values, from 1, with their quantiles: from the smallest
/// value on, five steps for each halving of what is left, so that tails are as fine as the middle.
/// The largest value is the last row, with quantile 1.
fn ranks(n: u64) -> Vec<(u64, f64)> {
    let mut ranks = Vec::new();
    for halving in 0..u64::BITS {
        for tick in 0..TICKS {
            // What lies above: (10 - tick) / (10 · 2^halving).
            let (left, of) = (2 * TICKS - tick, u128::from(2 * TICKS) << halving);
            let above = u128::from(n) * u128::from(left) / of;
            let rank = n - u64::try_from(above).expect("at most n");
            if rank == n {
                ranks.push((n, 1.0));
                return ranks;
            }
            #[expect(clippy::cast_precision_loss, reason = "powers of two times small numbers")]
            ranks.push((rank.max(1), (of - u128::from(left)) as f64 / of as f64));
        }
    }
    ranks
}

/// Rows of one strategy's pooled times, of which `beyond` more lie beyond the horizon.
fn rows(table: &mut Table, strategy: &str, times: &str, pooled: &Pooled, beyond: u64) {
    if pooled.count() + beyond == 0 {
        return;
    }
    for (rank, quantile) in ranks(pooled.count() + beyond) {
        let seconds = |millis: f64| number(millis / 1_000.0, Unit::Seconds).to_string();
        let value = pooled.at_rank(rank).map_or(">horizon".to_owned(), seconds);
        let cells = [quantile.to_string(), value, rank.to_string()];
        table.row([strategy.to_owned(), times.to_owned()].into_iter().chain(cells));
    }
}

/// `histograms.csv`: for each strategy and kind of time, quantile by quantile, the time in seconds
/// to three significant digits, and how many lie at or below it.
pub fn histograms_csv(summary: &Summary) -> String {
    let mut table = Table::new(&["strategy", "times", "quantile", "value", "count"]);
    for strategy in &summary.strategies {
        let (members, updates) = (&strategy.member_times, &strategy.update_times);
        let name = &strategy.name;
        rows(&mut table, name, "memberTimes", &members.done, members.not_done);
        rows(&mut table, name, "updateTimes.completed", &updates.completed, 0);
        rows(&mut table, name, "updateTimes.failed", &updates.failed, 0);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x8_ranks_rise_to_the_largest_value_and_are_finer_in_the_tail() {
        assert_eq!(ranks(1), [(1, 0.0), (1, 1.0)]);
        let found = ranks(1_000);
        let first =
            [(1, 0.0), (100, 0.1), (200, 0.2), (300, 0.3), (400, 0.4), (500, 0.5), (550, 0.55)];
        assert_eq!(found[..7], first);
        assert!(found.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{found:?}");
        assert_eq!(found.last(), Some(&(1_000, 1.0)));
        assert_eq!(found.len(), 51, "ten halvings of five steps, and the largest");
        for (rank, quantile) in found {
            // The quantile of rank r is the smallest value with a share of at least that at or
            // below it.
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let (share, before) = (rank as f64 / 1_000.0, (rank - 1) as f64 / 1_000.0);
            assert!(share >= quantile - 1e-12 && (rank == 1 || before < quantile), "{rank}");
        }
        assert!(ranks(u64::MAX).len() < 330);
    }

    #[test]
    fn what_lies_beyond_the_horizon_is_counted_last() {
        let mut pooled = Pooled::default();
        for millis in [1_000, 2_000, 3_000] {
            pooled.add(millis);
        }
        let mut table = Table::new(&["strategy", "times", "quantile", "value", "count"]);
        rows(&mut table, "s", "t", &pooled, 1);
        rows(&mut table, "s", "none", &Pooled::default(), 0);
        let text = table.finish();
        assert!(text.contains("\ns,t,0.5,2,2\n"), "{text}");
        assert!(text.contains("\ns,t,0,1,1\n"), "{text}");
        assert!(text.ends_with("s,t,1,>horizon,4\n"), "{text}");
    }
}
