//! The share of members updated over time, strategy by strategy.

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{PathElement, Polygon};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::axis::{
    Tick, calendar_ticks, calendar_title, count, duration, elapsed_ticks, millis, whole,
};
use super::style::{
    AXIS, BACKGROUND, GRID, INK, MARGIN, MUTED, WIDTH, foot, head, series_colour, series_rgb, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text, number};
use super::text::{Weight, shorten, width};
use crate::time::{Span, Timestamp};

/// Share of members updated over time, with bands over replications.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressChart {
    /// Headline.
    pub title: String,
    /// What was simulated and what the bands are, in one line.
    pub subtitle: String,
    /// What there are shares of, as in `members updated`.
    pub axis: String,
    /// Where the virtual clock begins; `None` if not at one instant for all, and then there is no
    /// calendar.
    pub start: Option<Timestamp>,
    /// Where it ends at the latest: marked when it lies within the axis.
    pub horizon: Option<Span>,
    /// A last line, as on runs that the horizon cut off; empty for none.
    pub note: String,
    /// Where the axis ends; `None`: where the curves have become flat.
    pub until: Option<Span>,
    /// How far the vertical axis goes where it shows time; points are shares of that. `None`: it
    /// shows the shares.
    pub top: Option<Span>,
    /// The strategies, in scenario order.
    pub series: Vec<ProgressSeries>,
}

/// One strategy's curve.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressSeries {
    /// The strategy.
    pub name: String,
    /// How it ended, as in `97 % completed`; empty for none.
    pub outcome: String,
    /// The curve in order of time.
    pub points: Vec<ProgressPoint>,
}

/// Quantiles over replications at one instant, each a share of members from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgressPoint {
    /// Time since the start.
    pub at: Span,
    /// 5 % of replications have updated at most this share.
    pub p5: f64,
    /// The lower quartile.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The upper quartile.
    pub p75: f64,
    /// 95 % of replications have updated at most this share.
    pub p95: f64,
}

impl ProgressPoint {
    fn quantiles(&self) -> [f64; 5] {
        [self.p5, self.p25, self.p50, self.p75, self.p95]
    }

    fn with(at: Span, [p5, p25, p50, p75, p95]: [f64; 5]) -> Self {
        Self { at, p5, p25, p50, p75, p95 }
    }
}

/// From this many strategies on, bands would hide each other: each gets a panel of its own.
const CROWD: usize = 5;
/// Width of the legend to the right of the curves.
const LEGEND: f64 = 250.0;
/// Height of one legend entry.
const ENTRY: f64 = 44.0;
/// From the plot to the titles of its axes: clear of the last tick's label.
const AXIS_TITLE: f64 = 52.0;
/// Plotters counts whole pixels; finer ones keep curves smooth.
const FINE: f64 = 20.0;
/// White space around a panel's range, in pixels, so that lines on its edge are whole.
const PAD: f64 = 4.0;

/// Draws the share of members updated over time: the median as a line, the middle half and the
/// middle 90 % of replications as bands. Five or more strategies get small panels below, one each.
pub fn progress_svg(chart: &ProgressChart) -> String {
    let crowded = chart.series.len() >= CROWD;
    let (end, cut) = x_range(chart);
    let plot_height = if crowded { 400.0 } else { 440.0 };
    let rows = if crowded { chart.series.len().div_ceil(4) } else { 0 };
    let legend_height = ENTRY * count(chart.series.len()) + 60.0;
    let plot_height = f64::max(plot_height, legend_height);
    let top = if chart.subtitle.trim().is_empty() { 80.0 } else { 102.0 };
    let height = top + plot_height + 84.0 + 186.0 * count(rows) + if crowded { 22.0 } else { 14.0 };
    let mut canvas = Canvas::new(WIDTH, height);
    head(&mut canvas, &chart.title, &chart.subtitle);
    let plot = Rect::new(MARGIN + 42.0, top, WIDTH - 2.0 * MARGIN - LEGEND - 66.0, plot_height);
    let all: Vec<usize> = (0..chart.series.len()).collect();
    frame(&mut canvas, chart, plot, end);
    let bands = if crowded { Bands::Half } else { Bands::Both };
    canvas.raw(&panel(chart, plot, end, &all, &[], bands));
    let tags = tags(chart, plot, end);
    for (index, at) in &tags {
        tag(&mut canvas, *index, *at, 9.0);
    }
    legend(&mut canvas, chart, plot, bands);
    small_panels(&mut canvas, chart, plot.bottom() + 92.0, end);
    let note = if cut.is_empty() || chart.note.trim().is_empty() {
        format!("{}{cut}", chart.note)
    } else {
        format!("{} {cut}", chart.note)
    };
    foot(&mut canvas, &note, height - 14.0);
    canvas.finish(&chart.title)
}

/// Where the axis ends, and a remark if slow replications go on beyond it.
fn x_range(chart: &ProgressChart) -> (Span, String) {
    let shortest = Span::MINUTE;
    if let Some(until) = chart.until {
        return (until.max(shortest), String::new());
    }
    let (mut any, mut median) = (shortest, shortest);
    for series in &chart.series {
        for pair in series.points.windows(2) {
            let moved = |a: f64, b: f64| (a - b).abs() > 0.000_5;
            let (before, after) = (pair[0].quantiles(), pair[1].quantiles());
            if before.iter().zip(after).any(|(&a, b)| moved(a, b)) {
                any = any.max(pair[1].at);
            }
            if moved(before[2], after[2]) {
                median = median.max(pair[1].at);
            }
        }
    }
    // A tail of slow replications longer than this would squeeze everything else to the left.
    let longest = Span::from_millis(median.as_millis() * 5 / 2);
    let (end, cut) = if any > longest && median > shortest {
        (
            longest,
            format!("Cut at {}: slow replications go on to {}.", duration(longest), duration(any)),
        )
    } else {
        (any, String::new())
    };
    (end + Span::from_millis(end.as_millis() / 40), cut)
}

/// The ticks of the vertical axis: where, as a share of it, and what.
fn heights(top: Option<Span>) -> Vec<(f64, String)> {
    let Some(top) = top else {
        return (0..=4_u8).map(|n| (f64::from(n) / 4.0, format!("{} %", n * 25))).collect();
    };
    let ticks = elapsed_ticks(Span::ZERO, top, 5);
    ticks.into_iter().map(|tick| (tick.at / millis(top), tick.label)).collect()
}

/// Grid, axes and their labels.
fn frame(canvas: &mut Canvas, chart: &ProgressChart, plot: Rect, end: Span) {
    for (share, label) in heights(chart.top) {
        let y = plot.bottom() - plot.height * share;
        let colour = if share > 0.0 { GRID } else { AXIS };
        canvas.line((plot.x, y), (plot.right(), y), Stroke::new(colour, 1.0));
        canvas.text(&small(&label, plot.x - 8.0, y, Anchor::End));
    }
    canvas.text(&small(&chart.axis, plot.x - 42.0, plot.y - 18.0, Anchor::Start));
    let scale = plot.width / millis(end);
    let place = |tick: &Tick| plot.x + tick.at * scale;
    for tick in elapsed_ticks(Span::ZERO, end, whole(plot.width / 70.0)) {
        let x = place(&tick);
        canvas.line((x, plot.y), (x, plot.bottom() + 4.0), Stroke::new(GRID, 1.0));
        canvas.text(&small(&tick.label, x, plot.bottom() + 14.0, Anchor::Middle));
    }
    let title = "time since the start";
    canvas.text(&small(title, plot.right() + AXIS_TITLE, plot.bottom() + 14.0, Anchor::Start));
    if let Some(start) = chart.start {
        let y = plot.bottom() + 38.0;
        canvas.line((plot.x, y - 10.0), (plot.right(), y - 10.0), Stroke::new(GRID, 1.0));
        for tick in calendar_ticks(start, end, whole(plot.width / 84.0)) {
            let x = place(&tick);
            canvas.line((x, y - 10.0), (x, y - 5.0), Stroke::new(AXIS, 1.0));
            canvas.text(&small(&tick.label, x, y + 3.0, Anchor::Middle));
        }
        let title = calendar_title(start, end);
        canvas.text(&small(&title, plot.right() + AXIS_TITLE, y + 3.0, Anchor::Start));
    }
    if let Some(horizon) = chart.horizon.filter(|&horizon| horizon <= end) {
        let x = plot.x + millis(horizon) * scale;
        canvas.line((x, plot.y - 6.0), (x, plot.bottom()), Stroke::dashed(MUTED, 1.2, "5 4"));
        canvas.text(&small("horizon", x, plot.y - 13.0, Anchor::Middle));
    }
}

/// Which bands a panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bands {
    /// The middle half and the middle 90 %.
    Both,
    /// The middle half only.
    Half,
}

type Panel<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The curves of `shown` with bands, and of `faint` as grey lines, as a nested SVG over `plot`.
fn panel(
    chart: &ProgressChart,
    plot: Rect,
    end: Span,
    shown: &[usize],
    faint: &[usize],
    bands: Bands,
) -> String {
    let (wide, high) = (plot.width + 2.0 * PAD, plot.height + 2.0 * PAD);
    let (x_pad, y_pad) = (PAD / plot.width * millis(end), PAD / plot.height);
    let mut drawing = String::new();
    let area: DrawingArea<_, Shift> =
        SVGBackend::with_string(&mut drawing, (fine(wide), fine(high))).into_drawing_area();
    let mut context: Panel<'_> = ChartBuilder::on(&area)
        .build_cartesian_2d(-x_pad..millis(end) + x_pad, -y_pad..1.0 + y_pad)
        .expect("a drawing into memory cannot fail");
    for &index in faint {
        let points = until(&chart.series[index].points, end);
        line(&mut context, &points, RGBColor(0xC9, 0xD0, 0xD7).stroke_width(fine(1.0)));
    }
    for &index in shown {
        let (red, green, blue) = series_rgb(index);
        let points = until(&chart.series[index].points, end);
        let colour = RGBColor(red, green, blue);
        if bands == Bands::Both {
            band(&mut context, &points, |point| (point.p5, point.p95), colour.mix(0.13).filled());
        }
        band(&mut context, &points, |point| (point.p25, point.p75), colour.mix(0.22).filled());
    }
    for &index in shown {
        let (red, green, blue) = series_rgb(index);
        let points = until(&chart.series[index].points, end);
        line(&mut context, &points, RGBColor(red, green, blue).stroke_width(fine(2.2)));
    }
    area.present().expect("a drawing into memory cannot fail");
    drop(context);
    drop(area);
    let inner = drawing.split_once('\n').map_or("", |(_, inner)| inner);
    let [x, y] = [plot.x - PAD, plot.y - PAD].map(number);
    let [width, height] = [wide, high].map(number);
    format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
         stroke-linejoin=\"round\">\n{inner}",
        fine(wide),
        fine(high)
    )
}

/// Pixels in the finer unit of the panel.
fn fine(pixels: f64) -> u32 {
    u32::try_from(whole(pixels * FINE)).unwrap_or(1)
}

fn line(context: &mut Panel<'_>, points: &[ProgressPoint], style: ShapeStyle) {
    let points: Vec<_> = points.iter().map(|point| (millis(point.at), point.p50)).collect();
    context
        .draw_series([PathElement::new(points, style)])
        .expect("a drawing into memory cannot fail");
}

fn band(
    context: &mut Panel<'_>,
    points: &[ProgressPoint],
    of: impl Fn(&ProgressPoint) -> (f64, f64),
    style: ShapeStyle,
) {
    let upper = points.iter().map(|point| (millis(point.at), of(point).1));
    let lower = points.iter().rev().map(|point| (millis(point.at), of(point).0));
    let outline: Vec<_> = upper.chain(lower).collect();
    context.draw_series([Polygon::new(outline, style)]).expect("a drawing into memory cannot fail");
}

/// The curve up to `end`, carried on level to it if it ends before, with shares kept in 0 to 1.
fn until(points: &[ProgressPoint], end: Span) -> Vec<ProgressPoint> {
    let mut kept: Vec<ProgressPoint> = Vec::with_capacity(points.len() + 1);
    for point in points {
        let shares = point.quantiles().map(|share| share.clamp(0.0, 1.0));
        if point.at <= end {
            kept.push(ProgressPoint::with(point.at, shares));
            continue;
        }
        if let Some(last) = kept.last().filter(|last| last.at < end) {
            let part = millis(end - last.at) / millis(point.at - last.at);
            let before = last.quantiles();
            let mut between = shares;
            for (share, before) in between.iter_mut().zip(before) {
                *share = before + (*share - before) * part;
            }
            kept.push(ProgressPoint::with(end, between));
        }
        return kept;
    }
    if let Some(&last) = kept.last()
        && last.at < end
    {
        kept.push(ProgressPoint { at: end, ..last });
    }
    kept
}

/// Where on its median each strategy's number stands: the first height without another number.
fn tags(chart: &ProgressChart, plot: Rect, end: Span) -> Vec<(usize, (f64, f64))> {
    let mut placed: Vec<(usize, (f64, f64))> = Vec::new();
    for (index, series) in chart.series.iter().enumerate() {
        let points = until(&series.points, end);
        let heights = [0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.82, 0.18, 0.9, 0.1];
        let clearance = |at: (f64, f64)| {
            let apart = placed.iter().map(|(_, other)| {
                let (x, y) = (at.0 - other.0, at.1 - other.1);
                x * x + y * y
            });
            apart.fold(f64::INFINITY, f64::min)
        };
        let mut candidates: Vec<(f64, f64)> = heights
            .into_iter()
            .filter_map(|share| crossing(&points, share).map(|at| (at, share)))
            .collect();
        let along = [0.97, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79, 0.76];
        if let Some(last) = points.last() {
            candidates.extend(along.map(|part| (millis(last.at) * part, last.p50)));
        }
        let spots = candidates.into_iter().map(|(at, share)| {
            (plot.x + at / millis(end) * plot.width, plot.bottom() - share * plot.height)
        });
        let mut best: Option<(f64, f64)> = None;
        for at in spots {
            if clearance(at) >= 22.0 * 22.0 {
                best = Some(at);
                break;
            }
            if best.is_none_or(|best| clearance(at) > clearance(best)) {
                best = Some(at);
            }
        }
        placed.extend(best.map(|at| (index, at)));
    }
    placed
}

/// When the median first reaches a share, in milliseconds.
fn crossing(points: &[ProgressPoint], share: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| pair[0].p50 < share && pair[1].p50 >= share)?;
    let part = (share - pair[0].p50) / (pair[1].p50 - pair[0].p50);
    Some(millis(pair[0].at) + part * millis(pair[1].at - pair[0].at))
}

/// A strategy's number in its colour.
fn tag(canvas: &mut Canvas, index: usize, at: (f64, f64), radius: f64) {
    canvas.circle(at, radius, &series_colour(index), Stroke::new(BACKGROUND, 1.5));
    let number = (index + 1).to_string();
    let text = Text::centred(&number, at.0, at.1, radius * 1.2).bold();
    canvas.text(&text.fill(BACKGROUND).anchor(Anchor::Middle));
}

/// Names and outcomes to the right of the plot, and what line and bands are.
fn legend(canvas: &mut Canvas, chart: &ProgressChart, plot: Rect, bands: Bands) {
    let x = WIDTH - MARGIN - LEGEND;
    let room = LEGEND - 28.0;
    for (index, series) in chart.series.iter().enumerate() {
        let y = plot.y + 10.0 + ENTRY * count(index);
        tag(canvas, index, (x + 9.0, y), 9.0);
        let name = shorten(&series.name, 14.0, Weight::SemiBold, room);
        canvas.text(&Text::centred(&name, x + 28.0, y, 14.0).bold());
        let outcome = shorten(&series.outcome, 12.0, Weight::Regular, room);
        canvas.text(&Text::centred(&outcome, x + 28.0, y + 17.0, 12.0).fill(MUTED));
    }
    let keys: &[(&str, f64)] = match bands {
        Bands::Both => &[("median", 0.0), ("middle half", 0.35), ("middle 90 %", 0.13)],
        Bands::Half => &[("median", 0.0), ("middle half", 0.22)],
    };
    let (mut x, y) = (x, plot.bottom() - 8.0);
    for (name, opacity) in keys {
        if *opacity > 0.0 {
            canvas.rects(&[Rect::new(x, y - 6.0, 14.0, 12.0)], INK, *opacity);
        } else {
            canvas.line((x, y), (x + 14.0, y), Stroke::new(INK, 2.2));
        }
        canvas.text(&small(name, x + 19.0, y, Anchor::Start));
        x += 31.0 + width(name, 11.0, Weight::Regular);
    }
}

/// One panel for each of many strategies, the others in grey behind it.
fn small_panels(canvas: &mut Canvas, chart: &ProgressChart, top: f64, end: Span) {
    if chart.series.len() < CROWD {
        return;
    }
    let wide = (WIDTH - 2.0 * MARGIN - 3.0 * 24.0) / 4.0;
    // Of shares, the half is enough; of time, the lines are those of the large panel.
    let every = if chart.top.is_some() { 1 } else { 2 };
    for (index, series) in chart.series.iter().enumerate() {
        let x = MARGIN + (wide + 24.0) * count(index % 4);
        let y = top + 186.0 * count(index / 4);
        let plot = Rect::new(x + 8.0, y + 26.0, wide - 8.0, 118.0);
        tag(canvas, index, (x + 9.0, y + 6.0), 8.0);
        let name = shorten(&series.name, 12.0, Weight::SemiBold, wide - 24.0);
        canvas.text(&Text::centred(&name, x + 24.0, y + 6.0, 12.0).bold());
        for (share, _) in heights(chart.top).into_iter().step_by(every) {
            let line = plot.bottom() - plot.height * share;
            let colour = if share > 0.0 { GRID } else { AXIS };
            canvas.line((plot.x, line), (plot.right(), line), Stroke::new(colour, 1.0));
        }
        for tick in elapsed_ticks(Span::ZERO, end, 4) {
            let at = plot.x + tick.at / millis(end) * plot.width;
            canvas.line((at, plot.y), (at, plot.bottom() + 3.0), Stroke::new(GRID, 1.0));
            canvas.text(&small(&tick.label, at, plot.bottom() + 13.0, Anchor::Middle));
        }
        let others: Vec<usize> = (0..chart.series.len()).filter(|&other| other != index).collect();
        canvas.raw(&panel(chart, plot, end, &[index], &others, Bands::Both));
    }
}
