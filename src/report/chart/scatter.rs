//! Two metrics against each other, one point a strategy: what speed costs.

use super::axis::{Tick, count};
use super::bars::Measure;
use super::style::{
    AXIS, BACKGROUND, GRID, INK, MARGIN, MUTED, WIDTH, foot, head, series_colour, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten, width};

/// Two metrics against each other. Less is better in both.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterChart {
    /// Headline.
    pub title: String,
    /// What was measured and what the error bars are, in one line.
    pub subtitle: String,
    /// The horizontal metric.
    pub x: ScatterAxis,
    /// The vertical metric.
    pub y: ScatterAxis,
    /// Usually one a strategy, in scenario order.
    pub points: Vec<ScatterPoint>,
    /// A last line, as on what hollow points mean; empty for none.
    pub note: String,
}

/// An axis: its metric and what it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScatterAxis {
    /// The metric, as in `mean makespan`.
    pub label: String,
    /// What it counts.
    pub measure: Measure,
}

/// One strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// The strategy, or what is written beside the point; empty for nothing.
    pub name: String,
    /// The strategy's place in the scenario, which gives the colour.
    pub series: usize,
    /// Its place on the horizontal axis.
    pub x: Estimate,
    /// Its place on the vertical axis.
    pub y: Estimate,
    /// Whether part of it lies beyond the horizon: drawn hollow.
    pub censored: bool,
}

/// A value and the interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// An axis laid out.
#[derive(Debug)]
struct Scale {
    ticks: Vec<Tick>,
    low: f64,
    high: f64,
}

impl Scale {
    fn new(measure: Measure, room: f64, estimates: impl Iterator<Item = Estimate>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for estimate in estimates {
            low = low.min(estimate.value).min(estimate.low);
            high = high.max(estimate.value).max(estimate.high);
        }
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (0.0, 1.0);
        }
        // From zero, unless that would leave over half of the axis empty.
        low = if low * 2.0 < high { low.min(0.0) } else { low - (high - low) * 0.1 };
        let least = if measure == Measure::Share { 0.01 } else { 1.0 };
        if high - low < least {
            high = low + least;
        }
        high += (high - low) * 0.06;
        let ticks = measure.ticks(low, high, room);
        let ticks = ticks.into_iter().filter(|tick| tick.at >= low && tick.at <= high).collect();
        Self { ticks, low, high }
    }

    /// Where a value lies, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// Height of the plot.
const PLOT: f64 = 460.0;
/// Radius of a point.
const RADIUS: f64 = 7.0;

/// Draws two metrics against each other, with error bars, names, and a line through the strategies
/// that no other one beats in both.
pub fn scatter_svg(chart: &ScatterChart) -> String {
    let top = if chart.subtitle.trim().is_empty() { 90.0 } else { 112.0 };
    let note = if chart.note.trim().is_empty() { 0.0 } else { 24.0 };
    let height = top + PLOT + 62.0 + note;
    let mut canvas = Canvas::new(WIDTH, height);
    head(&mut canvas, &chart.title, &chart.subtitle);
    let plot = Rect::new(MARGIN + 56.0, top, WIDTH - 2.0 * MARGIN - 76.0, PLOT);
    let across = Scale::new(chart.x.measure, plot.width / 100.0, points(chart, |point| point.x));
    let up = Scale::new(chart.y.measure, plot.height / 60.0, points(chart, |point| point.y));
    axes(&mut canvas, chart, plot, (&across, &up));
    let place = |x: f64, y: f64| {
        (plot.x + across.at(x) * plot.width, plot.bottom() - up.at(y) * plot.height)
    };
    let frontier: Vec<(f64, f64)> =
        unbeaten(chart).iter().map(|point| place(point.x.value, point.y.value)).collect();
    if frontier.len() > 1 {
        canvas.polyline(&frontier, Stroke::dashed(AXIS, 1.5, "2 4"));
    }
    let mut taken: Vec<Rect> = Vec::new();
    for point in &chart.points {
        let colour = series_colour(point.series);
        let ((x, y), bar) = (place(point.x.value, point.y.value), Stroke::new(&colour, 1.5));
        let ((left, upper), (right, lower)) =
            (place(point.x.low, point.y.high), place(point.x.high, point.y.low));
        canvas.line((left, y), (right, y), bar);
        canvas.line((x, upper), (x, lower), bar);
        for end in [left, right] {
            canvas.line((end, y - 4.0), (end, y + 4.0), bar);
        }
        for end in [upper, lower] {
            canvas.line((x - 4.0, end), (x + 4.0, end), bar);
        }
        taken.push(Rect::new(left, y - 2.0, right - left, 4.0));
        taken.push(Rect::new(x - 2.0, upper, 4.0, lower - upper));
        taken.push(Rect::new(x - RADIUS, y - RADIUS, 2.0 * RADIUS, 2.0 * RADIUS));
    }
    for point in &chart.points {
        let colour = series_colour(point.series);
        let fill = if point.censored { BACKGROUND } else { &colour };
        let at = place(point.x.value, point.y.value);
        canvas.circle(at, RADIUS + 1.0, fill, Stroke::new(BACKGROUND, 2.0));
        let rim = RADIUS - if point.censored { 1.0 } else { 0.0 };
        canvas.circle(at, rim, fill, Stroke::new(&colour, if point.censored { 2.2 } else { 0.0 }));
    }
    for point in chart.points.iter().filter(|point| !point.name.is_empty()) {
        let at = place(point.x.value, point.y.value);
        let room = Rect::new(plot.x + 2.0, plot.y - 10.0, WIDTH - plot.x - 12.0, plot.height + 8.0);
        name(&mut canvas, &point.name, at, room, &mut taken);
    }
    foot(&mut canvas, &chart.note, height - 14.0);
    canvas.finish(&chart.title)
}

fn points(
    chart: &ScatterChart,
    of: impl Fn(&ScatterPoint) -> Estimate,
) -> impl Iterator<Item = Estimate> {
    chart.points.iter().map(of)
}

/// The points that no other one beats in both metrics, from left to right.
fn unbeaten(chart: &ScatterChart) -> Vec<&ScatterPoint> {
    let beats = |a: &ScatterPoint, b: &ScatterPoint| {
        let (x, y) = (a.x.value <= b.x.value, a.y.value <= b.y.value);
        x && y && (a.x.value < b.x.value || a.y.value < b.y.value)
    };
    let mut best: Vec<&ScatterPoint> = chart
        .points
        .iter()
        .filter(|point| !chart.points.iter().any(|other| beats(other, point)))
        .collect();
    best.sort_by(|a, b| a.x.value.total_cmp(&b.x.value));
    best
}

fn axes(canvas: &mut Canvas, chart: &ScatterChart, plot: Rect, scales: (&Scale, &Scale)) {
    let (across, up) = scales;
    for tick in &up.ticks {
        let y = plot.bottom() - up.at(tick.at) * plot.height;
        canvas.line((plot.x, y), (plot.right(), y), Stroke::new(GRID, 1.0));
        canvas.text(&small(&tick.label, plot.x - 8.0, y, Anchor::End));
    }
    for tick in &across.ticks {
        let x = plot.x + across.at(tick.at) * plot.width;
        canvas.line((x, plot.y), (x, plot.bottom() + 4.0), Stroke::new(GRID, 1.0));
        canvas.text(&small(&tick.label, x, plot.bottom() + 15.0, Anchor::Middle));
    }
    canvas.line((plot.x, plot.y), (plot.x, plot.bottom()), Stroke::new(AXIS, 1.0));
    canvas.line((plot.x, plot.bottom()), (plot.right(), plot.bottom()), Stroke::new(AXIS, 1.0));
    let label = format!("↑ {}", chart.y.label);
    let label = shorten(&label, 12.0, Weight::Regular, plot.width / 2.0);
    canvas.text(&Text::centred(&label, MARGIN, plot.y - 20.0, 12.0).fill(INK));
    let label = shorten(&format!("{} →", chart.x.label), 12.0, Weight::Regular, plot.width / 2.0);
    let text = Text::centred(&label, plot.right(), plot.bottom() + 38.0, 12.0).fill(INK);
    canvas.text(&text.anchor(Anchor::End));
    let hint = "↙ less is better on both axes; \
                the dotted line joins strategies that no other beats on both";
    let text = Text::centred(hint, plot.x, plot.bottom() + 38.0, 12.0).fill(MUTED);
    canvas.text(&text);
}

/// Writes a name beside its point where nothing else is, with a thin line if it stands far off.
fn name(canvas: &mut Canvas, name: &str, at: (f64, f64), room: Rect, taken: &mut Vec<Rect>) {
    let name = shorten(name, 13.0, Weight::SemiBold, 220.0);
    let wide = width(&name, 13.0, Weight::SemiBold);
    let place = |dx: f64, dy: f64, left: bool| {
        let x = if left { at.0 - dx - wide } else { at.0 + dx };
        Rect::new(x - 2.0, at.1 + dy - 8.0, wide + 4.0, 16.0)
    };
    let mut candidates = Vec::new();
    for step in 0..27 {
        let far = 14.0 + 15.0 * count(step);
        for left in [false, true] {
            candidates.push((place(12.0, -far, left), step));
            candidates.push((place(12.0, far, left), step));
        }
        candidates.push((place(-wide / 2.0, -far - 4.0, false), step));
        candidates.push((place(-wide / 2.0, far + 4.0, false), step));
    }
    let inside = |rect: &Rect| {
        rect.x >= room.x
            && rect.right() <= room.right()
            && rect.y >= room.y
            && rect.bottom() <= room.bottom()
    };
    let free = |rect: &Rect| inside(rect) && !taken.iter().any(|other| other.overlaps(rect));
    let found = candidates.iter().find(|(rect, _)| free(rect)).copied();
    let Some((rect, step)) = found.or_else(|| candidates.iter().find(|c| inside(&c.0)).copied())
    else {
        return;
    };
    if step > 0 {
        let x = at.0.clamp(rect.x, rect.right());
        let y = if rect.y > at.1 { rect.y + 2.0 } else { rect.bottom() - 2.0 };
        canvas.line(at, (x, y), Stroke::new(AXIS, 0.8));
    }
    let baseline = rect.y + 8.0;
    canvas.text(&Text::centred(&name, rect.x + 2.0, baseline, 13.0).bold().halo());
    taken.push(rect);
}
