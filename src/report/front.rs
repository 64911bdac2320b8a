//! The efficient front of a sweep: which combinations no other one beats in two metrics at once.

use super::chart::{self, ScatterAxis, ScatterChart, ScatterPoint};
use super::human;
use super::results::pictures::{cut_off, mean_of};
use super::results::tables::{Table, cells};
use super::summary::StrategySummary;
use super::sweep::{Sweep, label_of, measure};
use crate::experiment::Metric;
use crate::sim::End;
use crate::stats::Statistic;

/// So many points are named in the drawing; of more, only the efficient ones.
const NAMED: usize = 10;

/// Which of these points are efficient: no other one is at most as large in both numbers and
/// smaller in one. Equal points are efficient together.
pub fn efficient(points: &[[f64; 2]]) -> Vec<bool> {
    let beats =
        |a: &[f64; 2], b: &[f64; 2]| a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1]);
    points.iter().map(|point| !points.iter().any(|other| beats(other, point))).collect()
}

/// Whether less of a metric is better; a front is of such metrics only.
pub fn is_cost(metric: Metric) -> bool {
    !matches!(metric, Metric::UpdatedMembers | Metric::Outcome(End::Completed | End::Skipped))
}

impl Sweep {
    /// Which point × strategy is efficient, in the order of points, then strategies: by the means
    /// of the two metrics of the front.
    pub fn efficient(&self) -> Vec<bool> {
        let means = |strategy: &StrategySummary| self.front.map(|metric| strategy.mean(metric));
        efficient(&self.rows().map(|(_, strategy)| means(strategy)).collect::<Vec<_>>())
    }
}

/// `front.csv`: the varied values, the strategy, the means of both metrics with their intervals,
/// and whether the row is efficient.
pub fn front_csv(sweep: &Sweep) -> String {
    let mut header = sweep.paths.clone();
    header.push("strategy".to_owned());
    for metric in sweep.front {
        header.extend([metric.to_string(), format!("{metric}.low"), format!("{metric}.high")]);
    }
    header.push("efficient".to_owned());
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for ((point, strategy), efficient) in sweep.rows().zip(sweep.efficient()) {
        let mut row = point.values.clone();
        row.push(strategy.name.clone());
        for metric in sweep.front {
            let mean = strategy.estimate(metric, Statistic::Mean).expect("metrics have means");
            row.extend(cells(mean, metric.unit()));
        }
        row.push(efficient.to_string());
        table.row(row);
    }
    table.finish()
}

/// `front.svg`: both metrics against each other, a point for each row.
pub fn front_svg(sweep: &Sweep) -> String {
    let efficient = sweep.efficient();
    let all = efficient.len() <= NAMED;
    let mut points: Vec<(ScatterPoint, u64)> = Vec::new();
    for (index, (point, strategy)) in sweep.rows().enumerate() {
        let strategies = &point.summary.strategies;
        let named = all || efficient[index];
        let name = format!("{} · {}", strategy.name, point.values.join(", "));
        let point = ScatterPoint {
            name: if named { name } else { String::new() },
            series: strategies.iter().position(|s| s.name == strategy.name).unwrap_or(index),
            x: mean_of(strategy, sweep.front[0]),
            y: mean_of(strategy, sweep.front[1]),
            censored: cut_off(strategy) > 0,
        };
        // Values that change nothing for a strategy give one point.
        let same = |(other, _): &&mut (ScatterPoint, u64)| {
            other.series == point.series && (other.x, other.y) == (point.x, point.y)
        };
        match points.iter_mut().find(same) {
            Some((_, more)) => *more += 1,
            None => points.push((point, 0)),
        }
    }
    let points: Vec<ScatterPoint> = points
        .into_iter()
        .map(|(mut point, more)| {
            if more > 0 && !point.name.is_empty() {
                point.name = format!("{} and {} more", point.name, human::thousands(more));
            }
            point
        })
        .collect();
    let mut note = String::new();
    if !all {
        note += "Only efficient points are named; all are in front.csv. ";
    }
    if points.iter().any(|point| point.censored) {
        note += "Hollow: some replications were cut off and count as the horizon.";
    }
    let axis = |metric: Metric| ScatterAxis {
        label: format!("mean {}", label_of(metric)),
        measure: measure(metric),
    };
    let n = human::thousands(sweep.replications() as u64);
    chart::scatter_svg(&ScatterChart {
        title: format!(
            "Efficient front: {} against {}",
            label_of(sweep.front[0]),
            label_of(sweep.front[1])
        ),
        subtitle: format!(
            "{} · {n} replications a point, all on the same luck · strategy · {}",
            sweep.scenario,
            sweep.paths.join(", ")
        ),
        x: axis(sweep.front[0]),
        y: axis(sweep.front[1]),
        points,
        note: note.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_efficient_if_none_is_as_good_in_both_and_better_in_one() {
        let points = [
            [1.0, 9.0], // the fastest
            [2.0, 5.0],
            [3.0, 5.0], // beaten by the second: equal in one, better in the other
            [4.0, 4.0],
            [5.0, 6.0], // beaten in both
            [9.0, 1.0],
            [9.0, 1.0], // equal points stand together
            [9.0, 2.0],
        ];
        let wanted = [true, true, false, true, false, true, true, false];
        assert_eq!(efficient(&points), wanted);
        assert_eq!(efficient(&[]), [false; 0]);
        assert_eq!(efficient(&[[3.0, 3.0]]), [true]);
    }

    #[test]
    fn of_costs_less_is_better() {
        assert!(is_cost(Metric::Makespan) && is_cost(Metric::FailedMembers));
        assert!(!is_cost(Metric::UpdatedMembers) && !is_cost(Metric::Outcome(End::Completed)));
    }
}
