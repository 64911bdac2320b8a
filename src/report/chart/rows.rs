//! The rows of a timeline: where time lies, and what each member's row shows.

use std::collections::BTreeMap;

use super::axis::{millis, whole};
use super::lanes::{Fit, GroupBand};
use super::style::{Cause, MARGIN, WIDTH, WINDOW};
use super::svg::{Canvas, Rect};
use super::timeline::{BarKind, TimelineGroup, TimelineMember};
use crate::time::Span;

/// Width of the names to the left.
pub(super) const NAMES: f64 = 196.0;
/// Width of the states to the right.
pub(super) const STATES: f64 = 164.0;
/// A place and its scales.
pub(super) type Place<'a, Band> = (&'a Band, Fit, Ruler);

/// Where time lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ruler {
    /// The start, in pixels.
    pub(super) left: f64,
    /// Length of the axis in pixels.
    pub(super) width: f64,
    /// The end of the run; nothing is drawn beyond it.
    last: Span,
    /// The end of the axis.
    full: Span,
}

impl Ruler {
    /// An axis to a little beyond `end`.
    pub(super) fn new(end: Span) -> Self {
        let width = WIDTH - 2.0 * MARGIN - NAMES - STATES;
        let end = end.max(Span::SECOND);
        let margin = Span::from_millis(end.as_millis() / 100);
        Self { left: MARGIN + NAMES, width, last: end, full: end + margin }
    }

    /// Right end of the axis.
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Where an instant lies.
    pub(super) fn x(&self, at: Span) -> f64 {
        self.left + millis(at.clamp(Span::ZERO, self.last)) / millis(self.full) * self.width
    }

    /// A rectangle between two instants, at least `least` wide and inside the plot; empty if both
    /// lie after the end.
    pub(super) fn rect(&self, from: Span, to: Span, least: f64, rows: (f64, f64)) -> Rect {
        let (left, right) = (self.x(from), self.x(to));
        if from > self.last {
            return Rect::new(left, rows.0, 0.0, 0.0);
        }
        let wide = f64::max(right - left, least);
        let left = f64::min(left, self.right() - wide);
        Rect::new(left, rows.0, wide, rows.1 - rows.0)
    }
}

/// What lies on a row, from back to front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Window,
    Pending(Cause),
    Bar(BarKind),
}

/// Windows, waits and updates of a group's members.
pub(super) fn members(
    canvas: &mut Canvas,
    group: &TimelineGroup,
    (band, fit, ruler): Place<'_, GroupBand>,
) {
    let mut layers: BTreeMap<Layer, Vec<Rect>> = BTreeMap::new();
    for (row, members) in band.rows.iter().enumerate() {
        let top = band.row_top(row, fit);
        let mut shapes: BTreeMap<Layer, Vec<Rect>> = BTreeMap::new();
        for member in members {
            row_of(&group.members[*member], top, fit, ruler, &mut |layer, rect| {
                shapes.entry(layer).or_default().push(rect);
            });
        }
        for (layer, rects) in shapes {
            let rects = if fit.per_row > 1 { united(rects) } else { rects };
            layers.entry(layer).or_default().extend(rects);
        }
    }
    for (layer, rects) in layers {
        let (colour, opacity) = match layer {
            Layer::Window => (WINDOW, 1.0),
            Layer::Pending(cause) => (cause.colour(), pending_opacity(fit)),
            Layer::Bar(kind) => (kind.colour(), 1.0),
        };
        canvas.rects(&merged(rects), colour, opacity);
    }
}

/// Everything on the row of one member that begins at `top`.
fn row_of(
    member: &TimelineMember,
    top: f64,
    fit: Fit,
    ruler: Ruler,
    draw: &mut impl FnMut(Layer, Rect),
) {
    let least = if fit.row > 4.0 { 3.0 } else { 2.4 };
    let rows = |share: f64| {
        let inset = if fit.row > 4.0 { fit.row * share } else { 0.0 };
        (top + inset, top + fit.row - inset)
    };
    for &(from, to) in &member.windows {
        draw(Layer::Window, ruler.rect(from, to, 1.0, rows(0.04)));
    }
    for &(from, to, cause) in &member.pending {
        draw(Layer::Pending(cause), ruler.rect(from, to, 1.0, rows(0.4)));
    }
    for bar in &member.bars {
        let mut rect = ruler.rect(bar.from, bar.to, least, rows(0.16));
        if bar.kind == BarKind::Failed {
            let (left, low) = (f64::min(rect.x, ruler.right() - 4.0), f64::max(rect.height, 2.0));
            rect = Rect::new(left, rect.y, f64::max(rect.width, 4.0), low);
        }
        draw(Layer::Bar(bar.kind), rect);
    }
}

/// Rectangles of one row in whole pixels, those that touch made one.
fn united(mut rects: Vec<Rect>) -> Vec<Rect> {
    rects.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut out: Vec<Rect> = Vec::new();
    for rect in rects.into_iter().filter(|rect| rect.width > 0.0) {
        let (left, right) = (rect.x.floor(), rect.right().ceil());
        match out.last_mut() {
            Some(last) if left <= last.right() => {
                last.width = f64::max(last.width, right - last.x);
                last.height = f64::max(last.height, rect.height);
            }
            _ => out.push(Rect::new(left, rect.y, right - left, rect.height)),
        }
    }
    out
}

/// Lines of waiting members show the windows behind them.
pub(super) fn pending_opacity(fit: Fit) -> f64 {
    if fit.row > 4.0 { 0.9 } else { 0.45 }
}

/// Rectangles of the same width that touch from row to row become one.
fn merged(rects: Vec<Rect>) -> Vec<Rect> {
    let mut out: Vec<Rect> = Vec::with_capacity(rects.len());
    let mut above: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for rect in rects {
        let key = (whole(rect.x * 100.0), whole(rect.width * 100.0));
        if let Some(&index) = above.get(&key)
            && (out[index].bottom() - rect.y).abs() < 0.01
        {
            out[index].height += rect.height;
            continue;
        }
        above.insert(key, out.len());
        out.push(rect);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_of_equal_width_grow_together_downwards() {
        let row = |y: f64, x: f64| Rect::new(x, y, 5.0, 1.0);
        let one = merged(vec![row(0.0, 3.0), row(1.0, 3.0), row(2.0, 3.0), row(3.0, 4.0)]);
        assert_eq!(one, [Rect::new(3.0, 0.0, 5.0, 3.0), row(3.0, 4.0)]);
        assert_eq!(merged(vec![row(0.0, 3.0), row(2.0, 3.0)]).len(), 2);
    }

    #[test]
    fn shared_rows_are_whole_pixels_without_overlap() {
        let at = |x: f64| Rect::new(x, 0.0, 1.2, 1.0);
        let parts = united(vec![at(7.3), at(3.4), at(4.1), Rect::new(20.0, 0.0, 0.0, 0.0)]);
        assert_eq!(parts, [Rect::new(3.0, 0.0, 3.0, 1.0), Rect::new(7.0, 0.0, 2.0, 1.0)]);
    }

    #[test]
    fn nothing_is_drawn_beyond_the_end() {
        let ruler = Ruler::new(Span::DAY);
        assert!(
            ruler.rect(Span::HOUR, Span::from_days(9), 3.0, (0.0, 1.0)).right() <= ruler.right()
        );
        let after = ruler.rect(Span::from_days(2), Span::from_days(3), 3.0, (0.0, 1.0));
        assert!(after.width == 0.0 && after.height == 0.0);
        assert!(ruler.rect(Span::DAY, Span::DAY, 3.0, (0.0, 1.0)).width >= 3.0);
    }
}
