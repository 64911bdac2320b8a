//! A timeline of a stage in one line of characters.

use fleetsim::ids::{GroupId, StageId};
use fleetsim::scheduler::{Node, Plan, Record, State};
use fleetsim::time::{Span, Timestamp};

/// So many characters wide.
const WIDTH: usize = 48;

/// What the characters mean.
pub(super) const LEGEND: &str =
    "█ updating  g gate  w wait  x halted  · windows, releases, nothing to do";

/// What may be going on, the first that applies in a cell is shown.
const MARKS: [char; 5] = ['█', 'x', 'g', 'w', '·'];

/// The strip of a stage, from `start` to `end`.
pub(super) fn strip(
    plan: &Plan<'_>,
    stage: StageId,
    records: &[Record],
    start: Timestamp,
    end: Timestamp,
) -> String {
    let length = (end - start).as_millis().max(1);
    let mut cells = [MARKS.len(); WIDTH];
    let mut paint = |from: Timestamp, to: Timestamp, mark: usize| {
        let cell = |at: Timestamp| {
            let share = i128::from((at - start).as_millis()) * WIDTH as i128 / i128::from(length);
            usize::try_from(share).unwrap_or(0).min(WIDTH - 1)
        };
        // The last cell is one in which something of the stretch lies.
        let last = to - Span::from_millis(i64::from(to > from));
        for cell in &mut cells[cell(from)..=cell(last)] {
            *cell = (*cell).min(mark);
        }
    };
    let (mut begun, mut halted): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    let mut open: Vec<(Node, Timestamp)> = Vec::new();
    for record in records.iter().filter(|record| record.time <= end) {
        let (at, node) = (record.time, record.node);
        if node == Node::Run {
            match record.to {
                State::Failed | State::Stopped => halted = Some(at),
                _ => {
                    if let (Some(since), Some(_)) = (halted.take(), begun) {
                        paint(since, at, 1);
                    }
                }
            }
        }
        if !belongs(plan, node, stage) {
            continue;
        }
        match node {
            Node::Stage(_) if record.to.is_ended() && record.to != State::Failed => {
                if let Some(since) = begun.take() {
                    paint(since, at, 4);
                }
            }
            Node::Stage(_) => begun = begun.or(Some(at)),
            Node::Run | Node::Group(_) => {}
            Node::Member(_) | Node::Gate(_) | Node::Wait(_) if is_on(record) => {
                open.push((node, at));
            }
            Node::Member(_) | Node::Gate(_) | Node::Wait(_) => {
                if let Some(position) = open.iter().position(|(other, _)| *other == node) {
                    paint(open.swap_remove(position).1, at, mark(node));
                }
            }
        }
    }
    for (node, since) in open {
        paint(since, end, mark(node));
    }
    if let (Some(since), Some(_)) = (halted, begun) {
        paint(since, end, 1);
    }
    if let Some(since) = begun {
        paint(since, end, 4);
    }
    cells.iter().map(|cell| MARKS.get(*cell).copied().unwrap_or(' ')).collect()
}

/// Whether a record begins something that a strip shows.
fn is_on(record: &Record) -> bool {
    match record.node {
        Node::Gate(_) => record.to == State::Pending,
        _ => record.to == State::Running,
    }
}

fn mark(node: Node) -> usize {
    match node {
        Node::Gate(_) => 2,
        Node::Wait(_) => 3,
        _ => 0,
    }
}

fn belongs(plan: &Plan<'_>, node: Node, stage: StageId) -> bool {
    let of_group = |group: GroupId| plan.groups[group].stage == stage;
    match node {
        Node::Run => false,
        Node::Stage(id) | Node::Wait(id) => id == stage,
        Node::Group(id) => of_group(id),
        Node::Member(id) => plan.places[id].is_some_and(|place| of_group(place.group)),
        Node::Gate(id) => plan.gates[id].stage == stage,
    }
}
