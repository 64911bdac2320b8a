//! A table whose cells are bars: candidates from top to bottom, measures side by side, each with a
//! scale of its own.

use super::axis::count;
use super::bars::Measure;
use super::style::{AXIS, BAND, INK, MARGIN, MUTED, WIDTH, foot, head, series_colour, small};
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten};

/// Bars in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelChart {
    /// Headline.
    pub title: String,
    /// What was measured, in one line.
    pub subtitle: String,
    /// The measures, from left to right.
    pub columns: Vec<PanelColumn>,
    /// The rows, from top to bottom.
    pub rows: Vec<PanelRow>,
    /// A last line; empty for none.
    pub note: String,
}

/// A measure.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelColumn {
    /// What it is called; a line break separates its two lines.
    pub heading: String,
    /// What its values count.
    pub measure: Measure,
    /// Columns of one scale have bars that can be compared with each other.
    pub scale: usize,
    /// The colour of its bars, by the number of a strategy; `None`: each row has its own.
    pub series: Option<usize>,
}

/// A row of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelRow {
    /// Its name.
    pub name: String,
    /// One value a column; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// Width of the names to the left.
const NAMES: f64 = 216.0;
/// Height of a row.
const ROW: f64 = 38.0;
/// Height of the headings.
const HEADINGS: f64 = 44.0;
/// Room for a value behind the longest bar.
const VALUE: f64 = 58.0;

/// Draws the bars, each with its value behind it.
pub fn panels_svg(chart: &PanelChart) -> String {
    let mut scratch = Canvas::new(WIDTH, 0.0);
    let top = head(&mut scratch, &chart.title, &chart.subtitle) + 6.0 + HEADINGS;
    let note = if chart.note.trim().is_empty() { 14.0 } else { 40.0 };
    let bottom = top + ROW * count(chart.rows.len());
    let height = bottom + note;
    let mut canvas = Canvas::new(WIDTH, height);
    head(&mut canvas, &chart.title, &chart.subtitle);
    for (index, row) in chart.rows.iter().enumerate() {
        let y = top + ROW * count(index);
        if index % 2 == 0 {
            canvas.rect(Rect::new(MARGIN, y, WIDTH - 2.0 * MARGIN, ROW), BAND);
        }
        let name = shorten(&row.name, 14.0, Weight::SemiBold, NAMES - 16.0);
        let name = Text::centred(&name, MARGIN + NAMES - 14.0, y + ROW / 2.0, 14.0);
        canvas.text(&name.bold().anchor(Anchor::End));
    }
    let wide = (WIDTH - 2.0 * MARGIN - NAMES) / count(chart.columns.len().max(1));
    for (index, column) in chart.columns.iter().enumerate() {
        let left = MARGIN + NAMES + wide * count(index);
        for (line, text) in column.heading.lines().enumerate() {
            let text = shorten(text, 12.0, Weight::Regular, wide - 8.0);
            let below = column.heading.lines().count() - 1 - line;
            let y = top - 14.0 - 15.0 * count(below);
            canvas.text(&small(&text, left, y, Anchor::Start).size(12.0).fill(INK));
        }
        canvas.line((left, top), (left, bottom), Stroke::new(AXIS, 1.0));
        let full = full(chart, column.scale);
        for (number, row) in chart.rows.iter().enumerate() {
            let at = (left, top + ROW * (count(number) + 0.5));
            let value = row.values.get(index).copied().flatten();
            let colour = series_colour(column.series.unwrap_or(number));
            cell(&mut canvas, (column, value), at, (wide - VALUE, full), &colour);
        }
    }
    foot(&mut canvas, &chart.note, height - 14.0);
    canvas.finish(&chart.title)
}

/// The largest value of a scale.
fn full(chart: &PanelChart, scale: usize) -> f64 {
    let mut largest = 0.0;
    for (index, column) in chart.columns.iter().enumerate().filter(|(_, c)| c.scale == scale) {
        let values = chart.rows.iter().filter_map(|row| row.values.get(index).copied().flatten());
        largest = values.fold(largest, f64::max);
        if column.measure == Measure::Share {
            largest = f64::max(largest, 1.0);
        }
    }
    if largest > 0.0 { largest } else { 1.0 }
}

fn cell(
    canvas: &mut Canvas,
    (column, value): (&PanelColumn, Option<f64>),
    (x, y): (f64, f64),
    (room, full): (f64, f64),
    colour: &str,
) {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        canvas.text(&Text::centred("–", x + 8.0, y, 13.0).fill(MUTED));
        return;
    };
    let wide = (value.max(0.0) / full * room).min(room);
    // What is there can be seen, however little.
    let wide = if value > 0.0 { f64::max(wide, 2.0) } else { 0.0 };
    canvas.rect(Rect::new(x, y - 10.0, wide, 20.0), colour);
    let label = column.measure.format(value);
    let label = Text::centred(&label, x + wide + 7.0, y, 13.0);
    canvas.text(&if value > 0.0 { label.bold().fill(INK) } else { label.fill(MUTED) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[[Option<f64>; 2]]) -> PanelChart {
        let column = |heading: &str, measure| PanelColumn {
            heading: heading.to_owned(),
            measure,
            scale: 0,
            series: None,
        };
        PanelChart {
            title: "Panels".to_owned(),
            subtitle: "a test".to_owned(),
            columns: vec![column("one", Measure::Count), column("two\nlines", Measure::Count)],
            rows: values
                .iter()
                .map(|values| PanelRow { name: "row".to_owned(), values: values.to_vec() })
                .collect(),
            note: String::new(),
        }
    }

    #[test]
    fn columns_of_one_scale_share_their_largest_value() {
        let mut shared = chart(&[[Some(2.0), Some(8.0)], [None, Some(1.0)]]);
        assert_eq!((full(&shared, 0), full(&shared, 1)), (8.0, 1.0));
        shared.columns[0].scale = 1;
        assert_eq!((full(&shared, 1), full(&shared, 0)), (2.0, 8.0));
        shared.columns[0].measure = Measure::Share;
        shared.rows[0].values[0] = Some(0.3);
        assert!((full(&shared, 1) - 1.0).abs() < 1e-12, "shares are of the whole");
    }

    #[test]
    fn nothing_is_a_dash_and_zero_is_a_number() {
        let svg = panels_svg(&chart(&[[None, Some(0.0)]]));
        assert!(svg.contains(">–<") && svg.contains(">0<"), "{svg}");
        assert!(svg.contains(">lines<"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
