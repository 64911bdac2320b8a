//! Writes SVG: shapes and text with fixed decimals and no ids, so that the same chart is the same
//! bytes everywhere and several charts fit into one page.

use std::fmt::Write as _;

use super::style::{BACKGROUND, INK};
use super::text::Weight;

/// The fonts of every text: the embedded one, then what other machines have.
const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Half the height of a capital in em: from a middle line down to the baseline.
const HALF_CAPITAL: f64 = 0.364;

/// Which point of a text its `x` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Its left end.
    Start,
    /// Its centre.
    Middle,
    /// Its right end.
    End,
}

/// One line of text, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    content: &'a str,
    x: f64,
    baseline: f64,
    size: f64,
    weight: Weight,
    fill: &'a str,
    anchor: Anchor,
    halo: bool,
}

impl<'a> Text<'a> {
    /// Ink-coloured regular text of 12 px, starting at `x` on `baseline`.
    pub(super) fn new(content: &'a str, x: f64, baseline: f64) -> Self {
        let (weight, anchor) = (Weight::Regular, Anchor::Start);
        Self { content, x, baseline, size: 12.0, weight, fill: INK, anchor, halo: false }
    }

    /// With capitals of `size` centred on the line `y` (set before other sizes are).
    pub(super) fn centred(content: &'a str, x: f64, y: f64, size: f64) -> Self {
        Self::new(content, x, y + HALF_CAPITAL * size).size(size)
    }

    pub(super) fn size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    pub(super) fn bold(mut self) -> Self {
        self.weight = Weight::SemiBold;
        self
    }

    pub(super) fn fill(mut self, colour: &'a str) -> Self {
        self.fill = colour;
        self
    }

    pub(super) fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// With an outline of the background's colour, for text over shapes.
    pub(super) fn halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke<'a> {
    /// Colour.
    pub(super) colour: &'a str,
    /// Width in pixels.
    pub(super) width: f64,
    /// Dashes and gaps in pixels; empty: a whole line.
    pub(super) dash: &'a str,
}

impl<'a> Stroke<'a> {
    pub(super) const fn new(colour: &'a str, width: f64) -> Self {
        Self { colour, width, dash: "" }
    }

    pub(super) const fn dashed(colour: &'a str, width: f64, dash: &'a str) -> Self {
        Self { colour, width, dash }
    }

    fn attributes(&self) -> String {
        let mut out = format!(r#"stroke="{}" stroke-width="{}""#, self.colour, number(self.width));
        if !self.dash.is_empty() {
            let _ = write!(out, r#" stroke-dasharray="{}""#, self.dash);
        }
        out
    }
}

/// A picture being drawn, in pixels from the upper left corner. What comes later lies on top.
#[derive(Debug)]
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut canvas = Self { width, height, body: String::new() };
        canvas.rect(Rect::new(0.0, 0.0, width, height), BACKGROUND);
        canvas
    }

    /// Fills a rectangle; an empty one is not written.
    pub(super) fn rect(&mut self, rect: Rect, fill: &str) {
        self.rounded(rect, 0.0, fill);
    }

    /// Fills a rectangle with rounded corners.
    pub(super) fn rounded(&mut self, rect: Rect, radius: f64, fill: &str) {
        if rect.width <= 0.0 || rect.height <= 0.0 {
            return;
        }
        let Rect { x, y, width, height } = rect;
        let [x, y, width, height] = [x, y, width, height].map(number);
        let _ = write!(self.body, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}""#);
        if radius > 0.0 {
            let _ = write!(self.body, r#" rx="{}""#, number(radius));
        }
        let _ = writeln!(self.body, r#" fill="{fill}"/>"#);
    }

    /// Fills many rectangles of one colour as one shape, which keeps large charts small.
    pub(super) fn rects(&mut self, rects: &[Rect], fill: &str, opacity: f64) {
        let mut path = String::new();
        for rect in rects.iter().filter(|rect| rect.width > 0.0 && rect.height > 0.0) {
            let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(number);
            let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
        }
        if path.is_empty() {
            return;
        }
        let _ = write!(self.body, r#"<path fill="{fill}""#);
        if opacity < 1.0 {
            let _ = write!(self.body, r#" fill-opacity="{}""#, number(opacity));
        }
        let _ = writeln!(self.body, r#" d="{path}"/>"#);
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke<'_>) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let stroke = stroke.attributes();
        let _ = writeln!(self.body, r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {stroke}/>"#);
    }

    /// A closed polygon, filled.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], fill: &str) {
        let _ = writeln!(self.body, r#"<polygon points="{}" fill="{fill}"/>"#, list(points));
    }

    /// A closed polygon through which one sees what lies behind.
    pub(super) fn veil(&mut self, points: &[(f64, f64)], fill: &str, opacity: f64) {
        let (points, opacity) = (list(points), number(opacity));
        let _ = writeln!(
            self.body,
            r#"<polygon points="{points}" fill="{fill}" fill-opacity="{opacity}"/>"#
        );
    }

    /// An open line through points.
    pub(super) fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>) {
        let (points, stroke) = (list(points), stroke.attributes());
        let _ = writeln!(self.body, r#"<polyline points="{points}" fill="none" {stroke}/>"#);
    }

    /// A disc with a rim.
    pub(super) fn circle(&mut self, at: (f64, f64), radius: f64, fill: &str, rim: Stroke<'_>) {
        let ([x, y, radius], rim) = ([at.0, at.1, radius].map(number), rim.attributes());
        let _ =
            writeln!(self.body, r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" {rim}/>"#);
    }

    /// Diagonal lines `gap` pixels apart within a rectangle; `rising` ones go up to the right.
    pub(super) fn hatch(&mut self, rect: Rect, gap: f64, rising: bool, stroke: Stroke<'_>) {
        let Rect { x, y, width, height } = rect;
        if width <= 0.0 || height <= 0.0 {
            return;
        }
        let (mut path, mut offset) = (String::new(), gap / 2.0);
        while offset < width + height {
            // The line x + y = offset, cut to the rectangle.
            let (left, right) = ((offset - height).max(0.0), offset.min(width));
            let (low, high) = (offset - left, offset - right);
            let place = |v: f64| if rising { y + v } else { y + height - v };
            let [x1, y1, x2, y2] = [x + left, place(low), x + right, place(high)].map(number);
            let _ = write!(path, "M{x1} {y1}L{x2} {y2}");
            offset += gap;
        }
        let _ = writeln!(self.body, r#"<path d="{path}" fill="none" {}/>"#, stroke.attributes());
    }

    /// A line of text; an empty one is not written.
    pub(super) fn text(&mut self, text: &Text<'_>) {
        if text.content.trim().is_empty() {
            return;
        }
        let [x, y, size] = [text.x, text.baseline, text.size].map(number);
        let _ = write!(self.body, r#"<text x="{x}" y="{y}" font-size="{size}""#);
        let _ = write!(self.body, r#" fill="{}""#, text.fill);
        if text.weight == Weight::SemiBold {
            self.body.push_str(r#" font-weight="600""#);
        }
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(r#" text-anchor="middle""#),
            Anchor::End => self.body.push_str(r#" text-anchor="end""#),
        }
        if text.halo {
            let _ = write!(
                self.body,
                " stroke=\"{BACKGROUND}\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                 paint-order=\"stroke\""
            );
        }
        let _ = writeln!(self.body, ">{}</text>", escape(text.content));
    }

    /// SVG written elsewhere.
    pub(super) fn raw(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    /// The whole document; `title` is what screen readers say.
    pub(super) fn finish(self, title: &str) -> String {
        let [width, height] = [self.width, self.height].map(number);
        let (title, body) = (escape(title), self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\" role=\"img\">\n\
             <title>{title}</title>\n{body}</svg>\n"
        )
    }
}

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    /// Left edge.
    pub(super) x: f64,
    /// Upper edge.
    pub(super) y: f64,
    /// Width.
    pub(super) width: f64,
    /// Height.
    pub(super) height: f64,
}

impl Rect {
    pub(super) const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    /// Right edge.
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower edge.
    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Whether the two share more than an edge.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

/// A coordinate with at most two decimals.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

fn list(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (x, y) in points {
        let separator = if out.is_empty() { "" } else { " " };
        let _ = write!(out, "{separator}{},{}", number(*x), number(*y));
    }
    out
}

/// Text as XML; control characters, which XML cannot hold, become spaces.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals_and_no_negative_zero() {
        for (value, text) in
            [(0.0, "0"), (-0.001, "0"), (12.5, "12.5"), (99.999, "100"), (-3.456, "-3.46")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn text_is_escaped_and_control_characters_go() {
        assert_eq!(escape("a<b>&\u{1}\"c\""), "a&lt;b&gt;&amp; \"c\"");
    }

    #[test]
    fn hatching_stays_inside_its_rectangle() {
        for rising in [true, false] {
            let mut canvas = Canvas::new(100.0, 100.0);
            let start = canvas.body.len();
            let rect = Rect::new(10.0, 20.0, 30.0, 7.0);
            canvas.hatch(rect, 5.0, rising, Stroke::new(INK, 1.0));
            let path = canvas.body[start..].split('"').nth(1).unwrap().to_owned();
            let numbers: Vec<f64> = path
                .split(['M', 'L', ' '])
                .filter(|part| !part.is_empty())
                .map(|part| part.parse().unwrap())
                .collect();
            assert!(numbers.len() > 20);
            for point in numbers.chunks(2) {
                assert!((10.0..=40.0).contains(&point[0]) && (20.0..=27.0).contains(&point[1]));
            }
        }
    }
}
