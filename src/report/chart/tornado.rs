//! What moves a number most: one bar an input, to the left and right of the number as it is.

use super::axis::count;
use super::bars::Measure;
use super::style::{
    AXIS, GRID, MARGIN, MUTED, Sample, WIDTH, faded, foot, head, legend, series_colour, small,
};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten};

/// Bars of changes, a panel a strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoChart {
    /// Headline.
    pub title: String,
    /// What was done to the inputs, in one line.
    pub subtitle: String,
    /// What values count.
    pub measure: Measure,
    /// What the axis shows.
    pub axis: String,
    /// What the two ends of a bar are: an input made smaller, and made larger.
    pub ends: [String; 2],
    /// One a strategy, in scenario order.
    pub panels: Vec<TornadoPanel>,
    /// A last line; empty for none.
    pub note: String,
}

/// One strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoPanel {
    /// Its name, and what its number is.
    pub name: String,
    /// One an input, the longest first.
    pub bars: Vec<TornadoBar>,
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub struct TornadoBar {
    /// Its name.
    pub name: String,
    /// The change of the number when the input is smaller, and when it is larger; `None` where it
    /// is not known.
    pub changes: [Option<f64>; 2],
}

/// Width of the names to the left of the bars.
const NAMES: f64 = 240.0;
/// Height of one bar with the space around it.
const ROW: f64 = 26.0;
/// Room for a panel's name above its bars.
const TITLE: f64 = 34.0;
/// Room for the values beyond the bars' ends.
const VALUES: f64 = 84.0;

/// Draws, for each strategy, how much a number changes when an input does.
pub fn tornado_svg(chart: &TornadoChart) -> String {
    let colour = series_colour(0);
    let colours = [faded(&colour, 0.45), colour];
    let items: Vec<(Sample, String)> =
        colours.iter().cloned().map(Sample::Box).zip(chart.ends.iter().cloned()).collect();
    let rows: usize = chart.panels.iter().map(|panel| panel.bars.len()).sum();
    let inner = ROW * count(rows) + TITLE * count(chart.panels.len());
    let note = if chart.note.trim().is_empty() { 0.0 } else { 24.0 };
    let height = 112.0 + inner + 52.0 + note;
    let mut canvas = Canvas::new(WIDTH, height);
    let top = head(&mut canvas, &chart.title, &chart.subtitle);
    let top = legend(&mut canvas, &items, top + 4.0) + 4.0;
    let wide = WIDTH - 2.0 * MARGIN - NAMES - 2.0 * VALUES;
    let plot = Rect::new(MARGIN + NAMES + VALUES, top, wide, inner);
    let all = chart.panels.iter().flat_map(|panel| &panel.bars);
    let changes = all.flat_map(|bar| bar.changes.into_iter().flatten());
    let (low, high) =
        changes.fold((0.0_f64, 0.0_f64), |(low, high), change| (low.min(change), high.max(change)));
    let least = if chart.measure == Measure::Share { 0.01 } else { 1.0 };
    let scale = plot.width / f64::max(high - low, least);
    let zero = plot.x - low * scale;
    axis(&mut canvas, chart, plot, (low, scale));
    let mut y = plot.y;
    for panel in &chart.panels {
        let name = shorten(&panel.name, 14.0, Weight::SemiBold, WIDTH - 2.0 * MARGIN);
        canvas.text(&Text::centred(&name, MARGIN, y + TITLE / 2.0, 14.0).bold());
        y += TITLE;
        for bar in &panel.bars {
            draw(&mut canvas, chart.measure, bar, (zero, scale, y + ROW / 2.0), &colours);
            y += ROW;
        }
    }
    canvas.line((zero, plot.y), (zero, plot.bottom()), Stroke::new(AXIS, 1.2));
    foot(&mut canvas, &chart.note, height - 14.0);
    canvas.finish(&chart.title)
}

fn axis(canvas: &mut Canvas, chart: &TornadoChart, plot: Rect, (low, scale): (f64, f64)) {
    let high = low + plot.width / scale;
    for tick in chart.measure.ticks(low, high, plot.width / 90.0) {
        if tick.at < low || tick.at > high {
            continue;
        }
        let x = plot.x + (tick.at - low) * scale;
        canvas.line((x, plot.y), (x, plot.bottom() + 4.0), Stroke::new(GRID, 1.0));
        canvas.text(&small(&tick.label, x, plot.bottom() + 15.0, Anchor::Middle));
    }
    let middle = plot.x + plot.width / 2.0;
    canvas.text(&small(&chart.axis, middle, plot.bottom() + 34.0, Anchor::Middle));
}

/// One bar with its values; a smaller change of the same sign lies over a larger one.
fn draw(
    canvas: &mut Canvas,
    measure: Measure,
    bar: &TornadoBar,
    (zero, scale, middle): (f64, f64, f64),
    colours: &[String; 2],
) {
    let name = shorten(&bar.name, 12.0, Weight::Regular, NAMES - 8.0);
    canvas.text(&Text::centred(&name, MARGIN, middle, 12.0));
    let mut parts: Vec<(f64, &String)> =
        bar.changes.iter().zip(colours).filter_map(|(change, c)| Some(((*change)?, c))).collect();
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    for (change, colour) in &parts {
        let (from, to) = (zero.min(zero + change * scale), zero.max(zero + change * scale));
        canvas.rect(Rect::new(from, middle - 9.0, to - from, 18.0), colour);
    }
    let ends = parts.iter().map(|part| part.0);
    let (low, high) =
        ends.fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end), high.max(end)));
    if low < 0.0 {
        let text = measure.format(low);
        canvas.text(&small(&text, zero + low * scale - 6.0, middle, Anchor::End));
    }
    if high > 0.0 {
        let text = format!("+{}", measure.format(high));
        canvas.text(&small(&text, zero + high * scale + 6.0, middle, Anchor::Start));
    }
    if parts.is_empty() {
        let text = Text::centred("beyond the horizon", zero + 8.0, middle, 11.0).fill(MUTED);
        canvas.text(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_both_sides_of_the_number_as_it_is() {
        let bar = |name: &str, changes| TornadoBar { name: name.to_owned(), changes };
        let chart = TornadoChart {
            title: "What moves the makespan".to_owned(),
            subtitle: String::new(),
            measure: Measure::Duration,
            axis: "change".to_owned(),
            ends: ["a third".to_owned(), "three times".to_owned()],
            panels: vec![TornadoPanel {
                name: "waves".to_owned(),
                bars: vec![
                    bar("durations.update", [Some(-7_200.0), Some(36_000.0)]),
                    bar("nothing", [Some(0.0), Some(0.0)]),
                    bar("unknown", [None, None]),
                ],
            }],
            note: String::new(),
        };
        let svg = tornado_svg(&chart);
        for text in [">−2h<", ">+10h<", ">waves<", "beyond the horizon", "three times"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
        let still = TornadoChart { panels: Vec::new(), ..chart };
        assert!(!tornado_svg(&still).contains("NaN"));
    }
}
