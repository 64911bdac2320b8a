//! The rollout of one replication: stages and groups from top to bottom, time from left to right.

use std::collections::BTreeMap;

use super::axis::{
    calendar_ticks, calendar_title, count, duration, elapsed_ticks, thousands, whole,
};
use super::lanes::{Fit, GroupBand, StageBand, fit, place};
use super::rows::{NAMES, Place, Ruler, STATES, members, pending_opacity};
use super::style::{
    ALARM, AXIS, BACKGROUND, BAND, Cause, GATE, GRID, MARGIN, MUTED, Sample, State, WIDTH, WINDOW,
    WORK, clock, diamond, faded, foot, head, legend, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten, width};
use crate::time::{Span, Timestamp};

/// One replication of a rollout. All spans count from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Headline.
    pub title: String,
    /// What was simulated and how it ended, in one line.
    pub subtitle: String,
    /// Where the virtual clock begins.
    pub start: Timestamp,
    /// Where the run ended, or the horizon cut it off.
    pub end: Span,
    /// How it ended.
    pub state: State,
    /// The stages, in order.
    pub stages: Vec<TimelineStage>,
}

/// A stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineStage {
    /// Its name.
    pub name: String,
    /// When it began; `None`: never.
    pub begin: Option<Span>,
    /// When it ended; `None`: not by the end of the chart.
    pub end: Option<Span>,
    /// How far it came.
    pub state: State,
    /// From when to when its after-stage wait lasted.
    pub wait: Option<(Span, Span)>,
    /// Its gates.
    pub gates: Vec<TimelineGate>,
    /// Its groups, in order.
    pub groups: Vec<TimelineGroup>,
}

/// A gate of a stage or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineGate {
    /// What it is called, as in `approval by change board`.
    pub label: String,
    /// When it became pending.
    pub pending: Span,
    /// When it was completed; `None`: not by the end of the chart.
    pub completed: Option<Span>,
    /// What it waits for.
    pub kind: GateKind,
}

/// What a gate waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateKind {
    /// Somebody's approval.
    Approval,
    /// A point in time.
    ScheduledStart,
}

/// A group of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineGroup {
    /// Its name.
    pub name: String,
    /// When it began; `None`: never.
    pub begin: Option<Span>,
    /// When it ended; `None`: not by the end of the chart.
    pub end: Option<Span>,
    /// How far it came.
    pub state: State,
    /// Its gates.
    pub gates: Vec<TimelineGate>,
    /// Its members, in fleet order.
    pub members: Vec<TimelineMember>,
}

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineMember {
    /// Its name.
    pub name: String,
    /// Its updates.
    pub bars: Vec<TimelineBar>,
    /// From when to when it waited, and for what.
    pub pending: Vec<(Span, Span, Cause)>,
    /// When its maintenance window was open.
    pub windows: Vec<(Span, Span)>,
    /// How far it came.
    pub state: State,
}

/// An update of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelineBar {
    /// When it began.
    pub from: Span,
    /// When it ended, or the chart does.
    pub to: Span,
    /// How it ended.
    pub kind: BarKind,
}

/// How an update of a member ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarKind {
    /// Well.
    Updated,
    /// Not by the end of the chart.
    Unfinished,
    /// Without success.
    Failed,
    /// It was none, but a reimage for a configuration change.
    Reimaged,
}

impl BarKind {
    const ALL: [Self; 4] = [Self::Updated, Self::Unfinished, Self::Failed, Self::Reimaged];

    pub(super) const fn colour(self) -> &'static str {
        match self {
            Self::Updated => WORK,
            Self::Unfinished => "#8FB6DF",
            Self::Failed => ALARM,
            Self::Reimaged => REIMAGE,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::Unfinished => "unfinished",
            Self::Failed => "update failed",
            Self::Reimaged => "reimaged for a change",
        }
    }
}

/// Behind the lines of a pending gate.
const GATE_FILL: &str = "#FBEFD9";
/// The lines of an after-stage wait.
const WAIT_LINE: &str = "#C3CAD2";
/// Behind them.
const WAIT_FILL: &str = "#EEF1F4";
/// Nodes that are reimaged for a change.
const REIMAGE: &str = "#7B4B94";
/// A stage or group at work.
const SPAN_BAR: &str = "#46525E";

/// Draws a rollout. With few members each has a named row; with many each has a line, ordered by
/// when it began; with very many some share one. The height stays near 1,600 px.
pub fn timeline_svg(timeline: &Timeline) -> String {
    let fit = fit(timeline);
    let items = legend_items(timeline, fit);
    let mut scratch = Canvas::new(WIDTH, 0.0);
    let top = head(&mut scratch, &timeline.title, &timeline.subtitle);
    let body = legend(&mut scratch, &items, top + 4.0) + 30.0;
    let bands = place(timeline, fit, body);
    let bottom = bands.last().map_or(body + 20.0, |band| band.bottom);
    let note = note(fit);
    let height = bottom + if note.is_empty() { 46.0 } else { 66.0 };
    let mut canvas = Canvas::new(WIDTH, height);
    head(&mut canvas, &timeline.title, &timeline.subtitle);
    legend(&mut canvas, &items, top + 4.0);
    let ruler = Ruler::new(timeline.end);
    for (stage, band) in timeline.stages.iter().zip(&bands) {
        background(&mut canvas, timeline, stage, (band, fit, ruler));
    }
    axes(&mut canvas, timeline, ruler, (body, bottom));
    for (stage, band) in timeline.stages.iter().zip(&bands) {
        for (group, band) in stage.groups.iter().zip(&band.groups) {
            members(&mut canvas, group, (band, fit, ruler));
            group_names(&mut canvas, group, (band, fit, ruler), timeline.end);
        }
        stage_line(&mut canvas, timeline, stage, (band, fit, ruler));
    }
    foot(&mut canvas, &note, height - 14.0);
    canvas.finish(&timeline.title)
}

fn note(fit: Fit) -> String {
    match (fit.named, fit.per_row) {
        (true, _) => String::new(),
        (false, 1) => {
            "One line for each member; in each group those that began first on top.".into()
        }
        (false, members) => {
            format!(
                "One line for every {members} members, in the order they began; \
                 red where any of them failed."
            )
        }
    }
}

/// Only what the chart shows.
fn legend_items(timeline: &Timeline, fit: Fit) -> Vec<(Sample, String)> {
    let members = || timeline.stages.iter().flat_map(|s| &s.groups).flat_map(|g| &g.members);
    let mut items = Vec::new();
    for kind in BarKind::ALL {
        if members().any(|member| member.bars.iter().any(|bar| bar.kind == kind)) {
            items.push((Sample::Box(kind.colour().to_owned()), kind.label().to_owned()));
        }
    }
    if members().any(|member| !member.windows.is_empty()) {
        items.push((Sample::Box(WINDOW.to_owned()), "maintenance window open".to_owned()));
    }
    for cause in Cause::ALL {
        if members().any(|member| member.pending.iter().any(|&(_, _, other)| other == cause)) {
            let label = format!("waiting: {}", cause.label());
            let colour = faded(cause.colour(), pending_opacity(fit));
            let sample = if fit.row > 4.0 { Sample::Bar(colour) } else { Sample::Box(colour) };
            items.push((sample, label));
        }
    }
    if timeline.stages.iter().any(|stage| stage.wait.is_some()) {
        let sample = Sample::Hatched { fill: WAIT_FILL.to_owned(), line: WAIT_LINE.to_owned() };
        items.push((sample, Cause::Wait.label().to_owned()));
    }
    let gates = || {
        let stages = timeline.stages.iter();
        stages.flat_map(|s| s.gates.iter().chain(s.groups.iter().flat_map(|group| &group.gates)))
    };
    if gates().any(|gate| gate.kind == GateKind::Approval) {
        items.push((Sample::Diamond(GATE.to_owned()), "approval".to_owned()));
    }
    if gates().any(|gate| gate.kind == GateKind::ScheduledStart) {
        items.push((Sample::Clock(GATE.to_owned()), "scheduled start".to_owned()));
    }
    items
}

/// The band behind a stage: its head line, its wait and its pending gates.
fn background(
    canvas: &mut Canvas,
    timeline: &Timeline,
    stage: &TimelineStage,
    (band, fit, ruler): Place<'_, StageBand>,
) {
    let line = Rect::new(MARGIN, band.top, WIDTH - 2.0 * MARGIN, fit.stage_line);
    canvas.rect(line, BAND);
    let rows = (band.top + fit.stage_line, band.bottom);
    if let Some((from, to)) = stage.wait {
        let rect = ruler.rect(from, to, 1.0, rows);
        canvas.rect(rect, WAIT_FILL);
        canvas.hatch(rect, 7.0, true, Stroke::new(WAIT_LINE, 1.0));
    }
    for gate in &stage.gates {
        pending_gate(canvas, gate, timeline.end, ruler, rows);
    }
    for (group, band) in stage.groups.iter().zip(&band.groups) {
        for gate in &group.gates {
            pending_gate(canvas, gate, timeline.end, ruler, (band.top, band.bottom));
        }
    }
}

fn pending_gate(
    canvas: &mut Canvas,
    gate: &TimelineGate,
    end: Span,
    ruler: Ruler,
    rows: (f64, f64),
) {
    let rect = ruler.rect(gate.pending, gate.completed.unwrap_or(end), 1.0, rows);
    canvas.rect(rect, GATE_FILL);
    canvas.hatch(rect, 7.0, false, Stroke::new("#EBC98C", 1.0));
}

/// Elapsed time above, dates below, and the end.
fn axes(canvas: &mut Canvas, timeline: &Timeline, ruler: Ruler, (top, bottom): (f64, f64)) {
    for tick in elapsed_ticks(Span::ZERO, timeline.end, whole(ruler.width / 64.0)) {
        let x = ruler.x(Span::from_millis(whole(tick.at)));
        canvas.line((x, top - 6.0), (x, top), Stroke::new(AXIS, 1.0));
        canvas.text(&small(&tick.label, x, top - 13.0, Anchor::Middle));
    }
    for tick in calendar_ticks(timeline.start, timeline.end, whole(ruler.width / 80.0)) {
        let x = ruler.x(Span::from_millis(whole(tick.at)));
        canvas.line((x, top), (x, bottom + 5.0), Stroke::new(GRID, 1.0));
        canvas.text(&small(&tick.label, x, bottom + 14.0, Anchor::Middle));
    }
    let stroke = Stroke::new(AXIS, 1.0);
    canvas.line((ruler.left, top), (ruler.right(), top), stroke);
    canvas.line((ruler.left, bottom), (ruler.right(), bottom), stroke);
    let x = ruler.x(timeline.end);
    canvas.line((x, top - 6.0), (x, bottom), Stroke::dashed(MUTED, 1.0, "4 3"));
    canvas.text(&small("time since the start", MARGIN, top - 13.0, Anchor::Start));
    let title = calendar_title(timeline.start, timeline.end);
    canvas.text(&small(&title, MARGIN, bottom + 14.0, Anchor::Start));
    let end = format!("{} {}", timeline.state.label(), duration(timeline.end));
    let ink = timeline.state.ink();
    let text = Text::centred(&end, WIDTH - MARGIN, top - 13.0, 12.0).bold().fill(ink);
    canvas.text(&text.anchor(Anchor::End));
}

/// The names of a group and its members, its gates, and how far all came.
fn group_names(
    canvas: &mut Canvas,
    group: &TimelineGroup,
    (band, fit, ruler): Place<'_, GroupBand>,
    end: Span,
) {
    let line = if band.line > 0.0 { band.line } else { f64::min(band.bottom - band.top, 24.0) };
    let middle = band.top + line / 2.0;
    let right = WIDTH - MARGIN;
    let whole_band = band.line == 0.0 && !fit.named;
    if band.line > 0.0 || (whole_band && band.bottom - band.top >= 12.0) {
        let name = format!("{} · {}", group.name, thousands(whole(count(group.members.len()))));
        let name = shorten(&name, 12.0, Weight::Regular, NAMES - 24.0);
        canvas.text(&Text::centred(&name, MARGIN + 10.0, middle, 12.0));
        let (text, ink) = tally(group);
        let text = shorten(&text, 11.0, Weight::Regular, STATES - 8.0);
        canvas.text(&small(&text, right, middle, Anchor::End).fill(ink));
    }
    if band.line > 0.0 {
        spans(canvas, (group.begin, group.end), &group.gates, None, (middle, 3.0, ruler, end));
    } else {
        for gate in &group.gates {
            mark(canvas, gate, ruler.x(gate.completed.unwrap_or(end)), middle, 5.0);
        }
    }
    if whole_band {
        let bottom = band.bottom + 1.5;
        canvas.line((MARGIN, bottom), (right, bottom), Stroke::new(GRID, 0.7));
    }
    if fit.named {
        member_names(canvas, group, (band, fit, ruler));
    }
}

fn member_names(canvas: &mut Canvas, group: &TimelineGroup, (band, fit, _): Place<'_, GroupBand>) {
    let size = f64::min(11.0, fit.row * 0.84);
    for (row, members) in band.rows.iter().enumerate() {
        let middle = band.row_top(row, fit) + fit.row / 2.0;
        for member in members.iter().map(|&member| &group.members[member]) {
            let name = shorten(&member.name, size, Weight::Regular, NAMES - 34.0);
            canvas.text(&Text::centred(&name, MARGIN + 22.0, middle, size).fill(MUTED));
            if member.state != State::Completed {
                let text = Text::centred(member.state.label(), WIDTH - MARGIN, middle, size);
                canvas.text(&text.fill(member.state.ink()).anchor(Anchor::End));
            }
        }
    }
}

/// How many members of a group came how far, what needs attention first.
fn tally(group: &TimelineGroup) -> (String, &'static str) {
    let mut counts: BTreeMap<State, usize> = BTreeMap::new();
    for member in &group.members {
        *counts.entry(member.state).or_default() += 1;
    }
    let failed = counts.remove(&State::Failed);
    let mut parts = Vec::new();
    parts.extend(failed.map(|n| (State::Failed, n)));
    parts.extend(counts.into_iter().rev());
    let words: Vec<String> = parts
        .iter()
        .map(|(state, n)| format!("{} {}", thousands(whole(count(*n))), state.label()))
        .collect();
    (words.join(", "), if failed.is_some() { ALARM } else { MUTED })
}

/// The head line of a stage.
fn stage_line(
    canvas: &mut Canvas,
    timeline: &Timeline,
    stage: &TimelineStage,
    (band, fit, ruler): Place<'_, StageBand>,
) {
    let middle = band.top + fit.stage_line / 2.0;
    let size = if fit.stage_line >= 22.0 { 13.0 } else { 11.0 };
    let name = shorten(&stage.name, size, Weight::SemiBold, NAMES - 16.0);
    canvas.text(&Text::centred(&name, MARGIN + 6.0, middle, size).bold());
    let words = match (stage.begin, stage.end) {
        (Some(begin), Some(end)) => format!("{} {}", stage.state.label(), duration(end - begin)),
        _ => stage.state.label().to_owned(),
    };
    let text = Text::centred(&words, WIDTH - MARGIN - 2.0, middle, 11.0).fill(stage.state.ink());
    canvas.text(&text.bold().anchor(Anchor::End));
    let at = (middle, 5.0, ruler, timeline.end);
    spans(canvas, (stage.begin, stage.end), &stage.gates, stage.wait, at);
}

/// When a stage or group was at work, its wait and gates, and beside them what they are.
fn spans(
    canvas: &mut Canvas,
    (begin, end): (Option<Span>, Option<Span>),
    gates: &[TimelineGate],
    wait: Option<(Span, Span)>,
    (middle, thick, ruler, last): (f64, f64, Ruler, Span),
) {
    let rows = (middle - thick / 2.0, middle + thick / 2.0);
    let mut drawn: Vec<Rect> = Vec::new();
    let mut words: Vec<(Span, String)> = Vec::new();
    let mut marks: Vec<(&TimelineGate, f64)> = Vec::new();
    if let Some(begin) = begin {
        drawn.push(ruler.rect(begin, end.unwrap_or(last), 2.0, rows));
        canvas.rounded(drawn[0], 1.5, SPAN_BAR);
    }
    if let Some((from, to)) = wait {
        let rect = ruler.rect(from, to, 2.0, rows);
        canvas.rect(rect, Cause::Wait.colour());
        drawn.push(rect);
        words.push((from, format!("wait {}", duration(to - from))));
    }
    for gate in gates {
        let until = gate.completed.unwrap_or(last);
        let rect = ruler.rect(gate.pending, until, 1.0, (middle - 1.5, middle + 1.5));
        canvas.rect(rect, GATE);
        marks.push((gate, rect.right()));
        drawn.push(Rect { width: rect.width + 6.0, ..rect });
        let words_of_gate = match gate.completed {
            Some(completed) => format!("{} {}", gate.label, duration(completed - gate.pending)),
            None => format!("{}, pending", gate.label),
        };
        words.push((gate.pending, words_of_gate));
    }
    for (gate, x) in marks {
        mark(canvas, gate, x, middle, thick);
    }
    words.sort_by_key(|&(from, _)| from);
    let words: Vec<String> = words.into_iter().map(|(_, words)| words).collect();
    beside(canvas, &words.join(" · "), &drawn, (middle, ruler));
}

/// Writes a label beside what is drawn on a line, on the roomier side, cut to the room there is.
fn beside(canvas: &mut Canvas, label: &str, drawn: &[Rect], (middle, ruler): (f64, Ruler)) {
    let left = drawn.iter().map(|rect| rect.x).fold(f64::INFINITY, f64::min);
    let right = drawn.iter().map(Rect::right).fold(f64::NEG_INFINITY, f64::max);
    let (before, after) = (left - ruler.left - 10.0, ruler.right() - right - 12.0);
    let needed = width(label, 11.0, Weight::Regular);
    let to_the_right = after >= needed || after >= before;
    let room = if to_the_right { after } else { before };
    if label.is_empty() || room < 60.0 {
        return;
    }
    let label = shorten(label, 11.0, Weight::Regular, room);
    let (x, anchor) =
        if to_the_right { (right + 8.0, Anchor::Start) } else { (left - 8.0, Anchor::End) };
    canvas.text(&small(&label, x, middle, anchor));
}

/// Where a gate was completed; hollow at the end of the chart if it was not.
fn mark(canvas: &mut Canvas, gate: &TimelineGate, x: f64, middle: f64, thick: f64) {
    let radius = if thick > 3.0 { 5.5 } else { 4.5 };
    match gate.kind {
        GateKind::Approval => {
            diamond(canvas, (x, middle), radius, GATE);
            if gate.completed.is_none() {
                diamond(canvas, (x, middle), radius - 2.4, BACKGROUND);
            }
        }
        GateKind::ScheduledStart => clock(canvas, (x, middle), radius - 0.5, GATE),
    }
}
