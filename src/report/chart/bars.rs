//! Stacked bars, one a strategy: where the time went, how runs ended.

use super::axis::{Tick, count, duration, elapsed_ticks, percent, plain, value_ticks, whole};
use super::style::{
    AXIS, BACKGROUND, Cause, GRID, MARGIN, MUTED, Sample, State, WIDTH, contrast, foot, head,
    legend, series_colour, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten, width};
use crate::time::Span;

/// What values count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Time, in seconds.
    Duration,
    /// Things.
    Count,
    /// Shares from 0 to 1.
    Share,
}

impl Measure {
    /// Ticks from about `low` to about `high`, at most about `room`.
    pub(super) fn ticks(self, low: f64, high: f64, room: f64) -> Vec<Tick> {
        let ticks = |finest| value_ticks(low, high, room, finest).into_iter();
        match self {
            Self::Duration => {
                let span = |seconds: f64| Span::from_millis(whole(seconds * 1_000.0));
                let (begin, end) = (span(low), span(high));
                let mut ticks = elapsed_ticks(begin, end, whole(room));
                for tick in &mut ticks {
                    tick.at /= 1_000.0;
                }
                ticks
            }
            Self::Count => {
                // Means of counts can lie close together between two whole numbers.
                let finest = if high - low < 3.0 { 0.1 } else { 1.0 };
                ticks(finest).map(|at| Tick { at, label: plain(at) }).collect()
            }
            Self::Share => ticks(0.01)
                .filter(|&at| at < 1.000_001)
                .map(|at| Tick { at, label: percent(at) })
                .collect(),
        }
    }

    /// A value in words.
    pub(super) fn format(self, value: f64) -> String {
        match self {
            Self::Duration => duration(Span::from_millis(whole(value * 1_000.0))),
            Self::Count => plain(value),
            Self::Share => percent(value),
        }
    }
}

/// Which colour a part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// That of a delay cause.
    Cause(Cause),
    /// That of an outcome ([`State::Running`]: cut off by the horizon).
    State(State),
    /// That of the strategy with this index.
    Series(usize),
}

impl Tint {
    fn colour(self) -> String {
        match self {
            Self::Cause(cause) => cause.colour().to_owned(),
            Self::State(state) => state.colour().to_owned(),
            Self::Series(index) => series_colour(index),
        }
    }
}

/// Stacked horizontal bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// Headline.
    pub title: String,
    /// What was measured, in one line.
    pub subtitle: String,
    /// What values count.
    pub measure: Measure,
    /// What the axis shows, as in `mean makespan`.
    pub axis: String,
    /// The parts, in stacking order.
    pub parts: Vec<BarPart>,
    /// One bar a strategy.
    pub rows: Vec<BarRow>,
    /// A last line; empty for none.
    pub note: String,
}

/// A part of every bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarPart {
    /// What the legend calls it.
    pub name: String,
    /// Its colour.
    pub tint: Tint,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// The strategy.
    pub name: String,
    /// A second line, as in `3 % cut off`; empty for none.
    pub note: String,
    /// One value a part, in the same order; a missing or negative one is 0.
    pub values: Vec<f64>,
}

impl BarRow {
    fn value(&self, part: usize) -> f64 {
        self.values.get(part).copied().filter(|value| value.is_finite()).unwrap_or(0.0).max(0.0)
    }

    fn total(&self, parts: usize) -> f64 {
        (0..parts).map(|part| self.value(part)).sum()
    }
}

/// Width of the names to the left of the bars.
const NAMES: f64 = 216.0;
/// Height of one bar with the space around it.
const ROW: f64 = 46.0;

/// Draws stacked bars, with values in the parts that have room for them and totals at the ends.
pub fn bars_svg(chart: &BarChart) -> String {
    let height = height(chart);
    let mut canvas = Canvas::new(WIDTH, height);
    let top = head(&mut canvas, &chart.title, &chart.subtitle);
    let parts = chart.parts.len();
    let shown: Vec<usize> =
        (0..parts).filter(|&part| chart.rows.iter().any(|row| row.value(part) > 0.0)).collect();
    let items: Vec<(Sample, String)> = shown
        .iter()
        .map(|&part| &chart.parts[part])
        .map(|part| (Sample::Box(part.tint.colour()), part.name.clone()))
        .collect();
    let top = legend(&mut canvas, &items, top + 4.0) + 8.0;
    let plot = Rect::new(
        MARGIN + NAMES,
        top,
        WIDTH - 2.0 * MARGIN - NAMES - 76.0,
        ROW * count(chart.rows.len()),
    );
    let longest = chart.rows.iter().map(|row| row.total(parts)).fold(0.0, f64::max);
    let full = match chart.measure {
        Measure::Share => f64::max(longest, 1.0),
        Measure::Duration => f64::max(longest, 1.0) * 1.02,
        Measure::Count => f64::max(longest, 1.0),
    };
    axis(&mut canvas, chart, plot, full);
    for (index, row) in chart.rows.iter().enumerate() {
        bar(&mut canvas, chart, row, plot, (plot.y + ROW * count(index), full));
    }
    foot(&mut canvas, &chart.note, height - 14.0);
    canvas.finish(&chart.title)
}

/// The same as drawing takes: the legend's lines are only known once it is laid out.
fn height(chart: &BarChart) -> f64 {
    let mut scratch = Canvas::new(WIDTH, 0.0);
    let top = head(&mut scratch, &chart.title, &chart.subtitle);
    let items: Vec<(Sample, String)> = (0..chart.parts.len())
        .filter(|&part| chart.rows.iter().any(|row| row.value(part) > 0.0))
        .map(|part| (Sample::Box(String::new()), chart.parts[part].name.clone()))
        .collect();
    let top = legend(&mut scratch, &items, top + 4.0) + 8.0;
    let note = if chart.note.trim().is_empty() { 8.0 } else { 30.0 };
    top + ROW * count(chart.rows.len()) + 44.0 + note
}

fn axis(canvas: &mut Canvas, chart: &BarChart, plot: Rect, full: f64) {
    for tick in chart.measure.ticks(0.0, full, plot.width / 90.0) {
        let x = plot.x + tick.at / full * plot.width;
        if x > plot.right() + 0.5 {
            continue;
        }
        let colour = if tick.at > 0.0 { GRID } else { AXIS };
        canvas.line((x, plot.y), (x, plot.bottom() + 4.0), Stroke::new(colour, 1.0));
        canvas.text(&small(&tick.label, x, plot.bottom() + 15.0, Anchor::Middle));
    }
    let middle = plot.x + plot.width / 2.0;
    canvas.text(&small(&chart.axis, middle, plot.bottom() + 34.0, Anchor::Middle));
}

fn bar(canvas: &mut Canvas, chart: &BarChart, row: &BarRow, plot: Rect, at: (f64, f64)) {
    let (top, full) = at;
    let middle = top + ROW / 2.0;
    let has_note = !row.note.trim().is_empty();
    let name = shorten(&row.name, 14.0, Weight::SemiBold, NAMES - 16.0);
    let line = if has_note { middle - 8.0 } else { middle };
    canvas.text(&Text::centred(&name, plot.x - 12.0, line, 14.0).bold().anchor(Anchor::End));
    let note = shorten(&row.note, 11.0, Weight::Regular, NAMES - 16.0);
    canvas.text(&small(&note, plot.x - 12.0, middle + 9.0, Anchor::End));
    let mut x = plot.x;
    for (index, part) in chart.parts.iter().enumerate() {
        let wide = row.value(index) / full * plot.width;
        let colour = part.tint.colour();
        canvas.rect(Rect::new(x, middle - 14.0, wide, 28.0), &colour);
        let label = chart.measure.format(row.value(index));
        if width(&label, 11.0, Weight::Regular) + 10.0 <= wide {
            let text = Text::centred(&label, x + wide / 2.0, middle, 11.0).anchor(Anchor::Middle);
            canvas.text(&text.fill(contrast(&colour)));
        }
        x += wide;
        if wide > 3.0 {
            let stroke = Stroke::new(BACKGROUND, 1.0);
            canvas.line((x, middle - 14.0), (x, middle + 14.0), stroke);
        }
    }
    if chart.measure != Measure::Share {
        let total = chart.measure.format(row.total(chart.parts.len()));
        canvas.text(&Text::centred(&total, x + 8.0, middle, 13.0).bold().fill(MUTED));
    }
}
