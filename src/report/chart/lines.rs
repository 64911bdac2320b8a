//! A number over the values that were tried for something, one line a strategy, with its band.

use super::bars::Measure;
use super::style::{
    AXIS, BACKGROUND, GRID, MARGIN, MUTED, Sample, WIDTH, foot, head, legend, series_colour, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten, width};

/// Lines over values that were tried.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// Headline.
    pub title: String,
    /// What was simulated and what the bands are, in one line.
    pub subtitle: String,
    /// What was tried.
    pub x: LineAxis,
    /// What the vertical axis shows, as in `makespan`.
    pub y: String,
    /// What it counts.
    pub measure: Measure,
    /// The strategies, in scenario order.
    pub series: Vec<LineSeries>,
    /// A last line; empty for none.
    pub note: String,
}

/// The horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LineAxis {
    /// What was tried.
    pub label: String,
    /// Each value: where it lies, in any unit, and how it is written.
    pub values: Vec<(f64, String)>,
}

/// One strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    /// Its name.
    pub name: String,
    /// One point a value of the axis, in the same order.
    pub points: Vec<LinePoint>,
}

/// A number and the band around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// The lower edge of the band.
    pub low: f64,
    /// The number.
    pub value: f64,
    /// The upper edge of the band.
    pub high: f64,
    /// Whether the number itself lies beyond the horizon: drawn hollow.
    pub censored: bool,
}

/// Height of the plot.
const PLOT: f64 = 420.0;
/// Bands are shown up to so many times the largest number.
const LONGEST: f64 = 2.0;
/// Radius of a point.
const RADIUS: f64 = 4.5;

/// Where values lie in pixels.
struct Scales {
    plot: Rect,
    x: (f64, f64),
    y: f64,
}

impl Scales {
    fn new(chart: &LineChart, plot: Rect) -> Self {
        let places = chart.x.values.iter().map(|(at, _)| *at);
        let low = places.clone().fold(f64::INFINITY, f64::min);
        let high = places.fold(f64::NEG_INFINITY, f64::max);
        let x = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let top = points().map(|point| point.high.max(point.value)).fold(0.0, f64::max);
        // A band longer than this would press all lines to the bottom; it leaves the plot instead.
        let most = LONGEST * points().map(|point| point.value).fold(0.0, f64::max);
        let top = top.min(most);
        let least = if chart.measure == Measure::Share { 0.01 } else { 1.0 };
        Self { plot, x, y: f64::max(top, least) * 1.04 }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let share = if self.x.1 > self.x.0 { (x - self.x.0) / (self.x.1 - self.x.0) } else { 0.5 };
        // Points do not touch the edges.
        let across = self.plot.x + 16.0 + share * (self.plot.width - 32.0);
        (across, self.plot.bottom() - (y / self.y).clamp(0.0, 1.0) * self.plot.height)
    }
}

/// Draws one line a strategy over the values that were tried, with points at the values.
pub fn lines_svg(chart: &LineChart) -> String {
    let note = if chart.note.trim().is_empty() { 0.0 } else { 24.0 };
    let items: Vec<(Sample, String)> = (0..)
        .zip(&chart.series)
        .map(|(index, series)| (Sample::Box(series_colour(index)), series.name.clone()))
        .collect();
    let mut scratch = Canvas::new(WIDTH, 0.0);
    let top = head(&mut scratch, &chart.title, &chart.subtitle);
    let top = legend(&mut scratch, &items, top + 4.0) + 34.0;
    let height = top + PLOT + 62.0 + note;
    let mut canvas = Canvas::new(WIDTH, height);
    let below = head(&mut canvas, &chart.title, &chart.subtitle);
    legend(&mut canvas, &items, below + 4.0);
    let plot = Rect::new(MARGIN + 64.0, top, WIDTH - 2.0 * MARGIN - 84.0, PLOT);
    let scales = Scales::new(chart, plot);
    axes(&mut canvas, chart, &scales);
    for (index, series) in chart.series.iter().enumerate() {
        band(&mut canvas, chart, series, &scales, &series_colour(index));
    }
    for (index, series) in chart.series.iter().enumerate() {
        line(&mut canvas, chart, series, &scales, &series_colour(index));
    }
    foot(&mut canvas, &chart.note, height - 14.0);
    canvas.finish(&chart.title)
}

fn axes(canvas: &mut Canvas, chart: &LineChart, scales: &Scales) {
    let plot = scales.plot;
    for tick in chart.measure.ticks(0.0, scales.y, plot.height / 60.0) {
        if tick.at > scales.y {
            continue;
        }
        let y = scales.place(scales.x.0, tick.at).1;
        let colour = if tick.at > 0.0 { GRID } else { AXIS };
        canvas.line((plot.x, y), (plot.right(), y), Stroke::new(colour, 1.0));
        canvas.text(&small(&tick.label, plot.x - 8.0, y, Anchor::End));
    }
    canvas.text(&small(&chart.y, MARGIN, plot.y - 16.0, Anchor::Start));
    let mut free = f64::NEG_INFINITY;
    for (at, label) in &chart.x.values {
        let x = scales.place(*at, 0.0).0;
        canvas.line((x, plot.y), (x, plot.bottom() + 4.0), Stroke::new(GRID, 1.0));
        let label = shorten(label, 11.0, Weight::Regular, 160.0);
        let half = width(&label, 11.0, Weight::Regular) / 2.0;
        if x - half > free {
            canvas.text(&small(&label, x, plot.bottom() + 15.0, Anchor::Middle));
            free = x + half + 6.0;
        }
    }
    let label = shorten(&chart.x.label, 12.0, Weight::Regular, plot.width);
    let text = Text::centred(&label, plot.x + plot.width / 2.0, plot.bottom() + 38.0, 12.0);
    canvas.text(&text.fill(MUTED).anchor(Anchor::Middle));
}

/// A strategy's points with the places of their values, from left to right.
fn along<'c>(chart: &'c LineChart, series: &'c LineSeries) -> Vec<(f64, &'c LinePoint)> {
    let places = chart.x.values.iter().map(|(at, _)| *at);
    let mut points: Vec<_> = places.zip(&series.points).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn band(
    canvas: &mut Canvas,
    chart: &LineChart,
    series: &LineSeries,
    scales: &Scales,
    colour: &str,
) {
    let points = along(chart, series);
    let upper = points.iter().map(|(x, point)| scales.place(*x, point.high));
    let lower = points.iter().rev().map(|(x, point)| scales.place(*x, point.low));
    let outline: Vec<_> = upper.chain(lower).collect();
    if points.len() > 1 {
        canvas.veil(&outline, colour, 0.14);
    } else if let [upper, lower] = outline[..] {
        canvas.line(upper, lower, Stroke::new(colour, 1.5));
    }
}

fn line(
    canvas: &mut Canvas,
    chart: &LineChart,
    series: &LineSeries,
    scales: &Scales,
    colour: &str,
) {
    let points = along(chart, series);
    let places: Vec<_> = points.iter().map(|(x, point)| scales.place(*x, point.value)).collect();
    if places.len() > 1 {
        canvas.polyline(&places, Stroke::new(colour, 2.2));
    }
    for (at, (_, point)) in places.iter().zip(&points) {
        let fill = if point.censored { BACKGROUND } else { colour };
        canvas.circle(*at, RADIUS, fill, Stroke::new(colour, 1.8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> LineChart {
        let point =
            |value| LinePoint { low: value / 2.0, value, high: value * 2.0, censored: false };
        LineChart {
            title: "Makespan".to_owned(),
            subtitle: "median & band".to_owned(),
            x: LineAxis {
                label: "update.pollInterval".to_owned(),
                values: values.iter().map(|at| (*at, format!("{at}m"))).collect(),
            },
            y: "makespan".to_owned(),
            measure: Measure::Duration,
            series: vec![LineSeries {
                name: "waves".to_owned(),
                points: values.iter().map(|at| point(3_600.0 + at)).collect(),
            }],
            note: String::new(),
        }
    }

    #[test]
    fn every_value_has_its_point_and_its_label() {
        let svg = lines_svg(&chart(&[0.0, 30.0, 60.0]));
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("fill-opacity").count(), 1, "one band");
        for label in [">0m<", ">30m<", ">60m<", ">waves<", "median &amp; band"] {
            assert!(svg.contains(label), "{label}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn one_value_is_a_point_with_a_bar_and_crowded_labels_give_way() {
        let svg = lines_svg(&chart(&[5.0]));
        assert!(!svg.contains("NaN") && !svg.contains("fill-opacity"));
        assert_eq!(svg.matches("<circle").count(), 1);
        let many: Vec<f64> = (0..400).map(f64::from).collect();
        let svg = lines_svg(&chart(&many));
        assert_eq!(svg.matches("<circle").count(), 400);
        assert!(svg.matches("m</text>").count() < 60);
    }

    #[test]
    fn points_stand_in_the_order_of_their_values() {
        let (up, down) = (lines_svg(&chart(&[0.0, 9.0])), lines_svg(&chart(&[9.0, 0.0])));
        let line = |svg: &str| svg.split("<polyline").nth(1).unwrap().to_owned();
        assert_eq!(line(&up).split('>').next(), line(&down).split('>').next());
    }
}
