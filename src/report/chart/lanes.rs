//! Where the rows of a timeline lie: ten members have a named row each, a thousand a line each,
//! and more share lines, so that a chart stays within one page.

use super::axis::count;
use super::timeline::{Timeline, TimelineGroup, TimelineStage};

/// The most that stages may take together, in pixels.
const BUDGET: f64 = 1_420.0;

/// How much room everything gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// Height of a row in pixels.
    pub(super) row: f64,
    /// Whether each row has its member's name.
    pub(super) named: bool,
    /// How many members share a row.
    pub(super) per_row: usize,
    /// Height of the line that names a stage.
    pub(super) stage_line: f64,
    /// Height of the line that names a group.
    group_line: f64,
    /// The least height of a group.
    group_least: f64,
    /// White space below a group, and below a stage.
    gaps: (f64, f64),
}

/// A stage's place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageBand {
    /// Upper edge: of the line that names it.
    pub(super) top: f64,
    /// Lower edge.
    pub(super) bottom: f64,
    /// Its groups, in order.
    pub(super) groups: Vec<GroupBand>,
}

/// A group's place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupBand {
    /// Upper edge: of the line that names it, if there is one.
    pub(super) top: f64,
    /// Height of that line.
    pub(super) line: f64,
    /// Lower edge.
    pub(super) bottom: f64,
    /// Members (indices) of each row, from the top.
    pub(super) rows: Vec<Vec<usize>>,
}

impl GroupBand {
    /// Upper edge of a row.
    pub(super) fn row_top(&self, row: usize, fit: Fit) -> f64 {
        self.top + self.line + fit.row * count(row)
    }
}

/// The most generous layout within the budget.
pub(super) fn fit(timeline: &Timeline) -> Fit {
    let named = [18.0, 16.0, 14.0, 12.0, 11.0].map(|row| Fit {
        row,
        named: true,
        per_row: 1,
        stage_line: 26.0,
        group_line: 18.0,
        group_least: 0.0,
        gaps: (3.0, 8.0),
    });
    let thin = |row: f64, per_row: usize, stage_line: f64, group_least: f64| Fit {
        row,
        named: false,
        per_row,
        stage_line,
        group_line: 0.0,
        group_least,
        gaps: if group_least > 2.0 { (3.0, 8.0) } else { (1.0, 3.0) },
    };
    let rows = [10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
    let labelled = rows.map(|row| thin(row, 1, 24.0, 15.0));
    let shared = [2, 3, 4, 5, 8, 10, 20].map(|per_row| thin(1.0, per_row, 24.0, 15.0));
    let dense = rows.map(|row| thin(row, 1, 18.0, 2.0));
    let mut last = thin(1.0, 1, 14.0, 1.0);
    let all = named.into_iter().chain(labelled).chain(shared).chain(dense);
    for fit in all {
        if height(timeline, fit) <= BUDGET {
            return fit;
        }
    }
    // A million members end here too; beyond it, empty stages alone may exceed the page.
    while height(timeline, last) > BUDGET && last.per_row < 1 << 20 {
        last.per_row *= 2;
    }
    last
}

/// Height of all stages.
fn height(timeline: &Timeline, fit: Fit) -> f64 {
    let stage = |stage: &TimelineStage| {
        let groups = stage.groups.iter().map(|group| group_height(stage, group, fit) + fit.gaps.0);
        fit.stage_line + groups.sum::<f64>() + fit.gaps.1
    };
    timeline.stages.iter().map(stage).sum()
}

fn group_line(stage: &TimelineStage, group: &TimelineGroup, fit: Fit) -> f64 {
    let stands_for_all = stage.groups.len() == 1 && group.name == stage.name;
    if stands_for_all && group.gates.is_empty() { 0.0 } else { fit.group_line }
}

fn group_height(stage: &TimelineStage, group: &TimelineGroup, fit: Fit) -> f64 {
    let rows = group.members.len().div_ceil(fit.per_row);
    f64::max(group_line(stage, group, fit) + fit.row * count(rows), fit.group_least)
}

/// Every stage's and group's place, from `top` down.
pub(super) fn place(timeline: &Timeline, fit: Fit, top: f64) -> Vec<StageBand> {
    let mut y = top;
    let mut bands = Vec::with_capacity(timeline.stages.len());
    for stage in &timeline.stages {
        let begin = y;
        y += fit.stage_line;
        let mut groups = Vec::with_capacity(stage.groups.len());
        for group in &stage.groups {
            let height = group_height(stage, group, fit);
            let line = group_line(stage, group, fit);
            let rows = order(group, fit).chunks(fit.per_row).map(<[usize]>::to_vec).collect();
            groups.push(GroupBand { top: y, line, bottom: y + height, rows });
            y += height + fit.gaps.0;
        }
        bands.push(StageBand { top: begin, bottom: y, groups });
        y += fit.gaps.1;
    }
    bands
}

/// Named rows keep the fleet's order; lines without names go by when their members began.
fn order(group: &TimelineGroup, fit: Fit) -> Vec<usize> {
    let mut order: Vec<usize> = (0..group.members.len()).collect();
    if !fit.named {
        let began = |&member: &usize| {
            let first = group.members[member].bars.iter().map(|bar| bar.from).min();
            (first.is_none(), first)
        };
        order.sort_by_key(began);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::samples::timeline;
    use super::*;

    #[test]
    fn rows_shrink_with_the_fleet_and_are_shared_last() {
        let mut last = f64::INFINITY;
        for members in [1, 10, 40, 70, 100, 200, 400, 900, 3_000, 30_000] {
            let timeline = timeline(members);
            let fit = fit(&timeline);
            let each = fit.row / count(fit.per_row);
            assert!(each <= last, "{members} members: {fit:?}");
            assert!(height(&timeline, fit) <= BUDGET);
            assert_eq!(fit.named, members <= 100, "{members} members");
            assert_eq!(fit.per_row > 1, members > 1_400, "{members} members");
            last = each;
        }
    }

    #[test]
    fn every_member_has_exactly_one_row_and_none_leaves_its_group() {
        for members in [1, 10, 100, 1_000, 5_000] {
            let timeline = timeline(members);
            let fit = fit(&timeline);
            let bands = place(&timeline, fit, 100.0);
            let mut lower = 0.0;
            for (stage, band) in timeline.stages.iter().zip(&bands) {
                assert!(band.top >= lower);
                lower = band.bottom;
                for (group, place) in stage.groups.iter().zip(&band.groups) {
                    let mut placed = place.rows.concat();
                    placed.sort_unstable();
                    assert!(placed.into_iter().eq(0..group.members.len()));
                    let last = place.row_top(place.rows.len(), fit);
                    assert!(place.top >= band.top && last <= place.bottom + 0.01);
                    assert!(place.bottom <= band.bottom);
                }
            }
        }
    }

    #[test]
    fn lines_without_names_go_by_when_members_began() {
        let timeline = timeline(1_000);
        let fit = fit(&timeline);
        let group = &timeline.stages[2].groups[0];
        let began: Vec<_> =
            order(group, fit).into_iter().map(|m| group.members[m].bars[0].from).collect();
        assert!(began.is_sorted());
    }
}
