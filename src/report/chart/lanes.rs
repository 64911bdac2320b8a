//! Where the rows of a timeline lie: ten members have a named row each, a thousand a line each,
//! and more share lines, so that a chart stays within one page.

use super::axis::count;
use super::timeline::{Timeline, TimelineGroup, TimelineStage};

/// The most that stages may take together, in pixels.
const BUDGET: f64 = 1_420.0;
/// White space between two groups.
const GROUP_GAP: f64 = 3.0;
/// White space below a stage.
const STAGE_GAP: f64 = 8.0;

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
    });
    let thin = |row: f64, per_row: usize, stage_line: f64, group_least: f64| Fit {
        row,
        named: false,
        per_row,
        stage_line,
        group_line: 0.0,
        group_least,
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
        let groups = stage.groups.iter().map(|group| group_height(stage, group, fit) + GROUP_GAP);
        fit.stage_line + groups.sum::<f64>() + STAGE_GAP
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
            y += height + GROUP_GAP;
        }
        bands.push(StageBand { top: begin, bottom: y, groups });
        y += STAGE_GAP;
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
