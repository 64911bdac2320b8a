//! The one look of all charts: colours, sizes, heads and legends.

use super::axis::whole;
use super::svg::{Anchor, Canvas, Rect, Stroke, Text};
use super::text::{Weight, shorten, width};
pub use crate::scheduler::State;
pub use crate::sim::DelayCause as Cause;

/// Width of every chart in pixels.
pub(super) const WIDTH: f64 = 1_200.0;
/// White space around a chart.
pub(super) const MARGIN: f64 = 28.0;

/// Paper.
pub(super) const BACKGROUND: &str = "#FFFFFF";
/// Main text.
pub(super) const INK: &str = "#18212B";
/// Secondary text.
pub(super) const MUTED: &str = "#57636F";
/// Lines that carry an axis.
pub(super) const AXIS: &str = "#9AA5B0";
/// Lines that only guide the eye.
pub(super) const GRID: &str = "#E4E8EC";
/// Shaded bands behind data.
pub(super) const BAND: &str = "#F5F7F9";
/// Failures.
pub(super) const ALARM: &str = "#C2302B";
/// Work being done.
pub(super) const WORK: &str = "#1F64AD";
/// People's decisions.
pub(super) const GATE: &str = "#D08700";
/// Maintenance windows.
pub(super) const WINDOW: &str = "#CFE8DC";

/// Colours of strategies: told apart by colour-blind readers (after Okabe and Ito 2008, yellow and
/// black replaced by Tol's indigo and a grey).
const SERIES: [(u8, u8, u8); 8] = [
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0x00, 0x9E, 0x73),
    (0xC2, 0x6A, 0x9B),
    (0xE0, 0x9A, 0x00),
    (0x4A, 0xA8, 0xDD),
    (0x33, 0x22, 0x88),
    (0x68, 0x68, 0x68),
];

/// The colour of the strategy at this place in the scenario; the ninth begins anew.
pub(super) fn series_rgb(index: usize) -> (u8, u8, u8) {
    SERIES[index % SERIES.len()]
}

/// The same as `#RRGGBB`.
pub(super) fn series_colour(index: usize) -> String {
    let (red, green, blue) = series_rgb(index);
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Black or white, whichever reads better on a colour written as `#RRGGBB`.
pub(super) fn contrast(colour: &str) -> &'static str {
    let part = |at: usize| u32::from_str_radix(colour.get(at..at + 2).unwrap_or("0"), 16);
    let luma = [(1, 299), (3, 587), (5, 114)]
        .map(|(at, weight)| part(at).unwrap_or(0) * weight)
        .iter()
        .sum::<u32>();
    if luma > 150_000 { INK } else { BACKGROUND }
}

/// A colour written as `#RRGGBB`, of which this share covers white paper.
pub(super) fn faded(colour: &str, share: f64) -> String {
    let part = |at: usize| {
        let value = u8::from_str_radix(colour.get(at..at + 2).unwrap_or("00"), 16).unwrap_or(0);
        whole(255.0 - (255.0 - f64::from(value)) * share)
    };
    format!("#{:02X}{:02X}{:02X}", part(1), part(3), part(5))
}

impl Cause {
    /// What a legend calls it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Updating => "updating",
            Self::Failed => "failed, not restarted",
            Self::Stopped => "stopped",
            Self::Busy => "member busy",
            Self::Gate => "gate",
            Self::Wait => "after-stage wait",
            Self::Window => "window closed",
            Self::Image => "image not in region",
            Self::Version => "version not in region",
            Self::Poll => "not noticed yet",
            Self::Concurrency => "no free slot",
        }
    }

    pub(super) const fn colour(self) -> &'static str {
        match self {
            Self::Updating => WORK,
            Self::Failed => ALARM,
            Self::Stopped => "#7A4A3A",
            Self::Busy => "#3F7F74",
            Self::Gate => GATE,
            Self::Wait => "#B4BDC6",
            Self::Window => "#9CC3E6",
            Self::Image => "#7B68B5",
            Self::Version => "#B9ACDC",
            Self::Poll => "#E3CF8F",
            Self::Concurrency => "#6B7884",
        }
    }
}

impl State {
    /// What a chart calls it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotStarted => "not started",
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Completed => "completed",
        }
    }

    pub(super) const fn colour(self) -> &'static str {
        match self {
            Self::NotStarted => "#D5DADF",
            Self::Pending => "#E3CF8F",
            Self::Running => "#A9C4E4",
            Self::Stopping => "#B98B7C",
            Self::Stopped => "#7A4A3A",
            Self::Skipped => "#9AA5B0",
            Self::Failed => ALARM,
            Self::Completed => "#2B7A78",
        }
    }

    /// The colour of its name in a table: only what needs attention stands out.
    pub(super) const fn ink(self) -> &'static str {
        match self {
            Self::Failed => ALARM,
            Self::Stopped | Self::Stopping => "#7A4A3A",
            _ => MUTED,
        }
    }
}

/// Writes title and subtitle; what follows may begin at the returned height.
pub(super) fn head(canvas: &mut Canvas, title: &str, subtitle: &str) -> f64 {
    let room = WIDTH - 2.0 * MARGIN;
    let title = shorten(title, 20.0, Weight::SemiBold, room);
    canvas.text(&Text::new(&title, MARGIN, 38.0).size(20.0).bold());
    if subtitle.trim().is_empty() {
        return 52.0;
    }
    let subtitle = shorten(subtitle, 13.0, Weight::Regular, room);
    canvas.text(&Text::new(&subtitle, MARGIN, 60.0).size(13.0).fill(MUTED));
    74.0
}

/// Writes the last line of a chart.
pub(super) fn foot(canvas: &mut Canvas, note: &str, baseline: f64) {
    let note = shorten(note, 11.0, Weight::Regular, WIDTH - 2.0 * MARGIN);
    canvas.text(&Text::new(&note, MARGIN, baseline).size(11.0).fill(MUTED));
}

/// What a legend shows before a name.
#[derive(Debug, Clone)]
pub(super) enum Sample {
    /// A filled box.
    Box(String),
    /// A low bar, as of a waiting member.
    Bar(String),
    /// Diagonal lines.
    Hatched {
        /// Behind the lines.
        fill: String,
        /// The lines.
        line: String,
    },
    /// A diamond.
    Diamond(String),
    /// A clock face.
    Clock(String),
}

/// Writes a legend in as many lines as it takes; returns where the next thing may begin.
pub(super) fn legend(canvas: &mut Canvas, items: &[(Sample, String)], top: f64) -> f64 {
    if items.is_empty() {
        return top;
    }
    let (mut x, mut y) = (MARGIN, top + 9.0);
    for (sample, name) in items {
        let name = shorten(name, 12.0, Weight::Regular, WIDTH / 3.0);
        let wide = 22.0 + width(&name, 12.0, Weight::Regular);
        if x + wide > WIDTH - MARGIN && x > MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        draw_sample(canvas, sample, x, y);
        canvas.text(&Text::centred(&name, x + 22.0, y, 12.0).fill(MUTED));
        x += wide + 20.0;
    }
    y + 17.0
}

fn draw_sample(canvas: &mut Canvas, sample: &Sample, x: f64, y: f64) {
    let area = Rect::new(x, y - 6.0, 16.0, 12.0);
    match sample {
        Sample::Box(fill) => canvas.rounded(area, 2.0, fill),
        Sample::Bar(fill) => canvas.rect(Rect::new(x, y - 2.0, 16.0, 4.0), fill),
        Sample::Hatched { fill, line } => {
            canvas.rect(area, fill);
            canvas.hatch(area, 5.0, true, Stroke::new(line, 1.0));
        }
        Sample::Diamond(fill) => diamond(canvas, (x + 8.0, y), 6.0, fill),
        Sample::Clock(colour) => clock(canvas, (x + 8.0, y), 5.0, colour),
    }
}

/// The mark of an approval.
pub(super) fn diamond(canvas: &mut Canvas, at: (f64, f64), radius: f64, fill: &str) {
    let (x, y) = at;
    canvas.polygon(&[(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)], fill);
}

/// The mark of a scheduled start.
pub(super) fn clock(canvas: &mut Canvas, at: (f64, f64), radius: f64, colour: &str) {
    let (x, y) = at;
    canvas.circle(at, radius, BACKGROUND, Stroke::new(colour, 1.8));
    let hands = [(x, y - radius * 0.65), at, (x + radius * 0.5, y)];
    canvas.polyline(&hands, Stroke::new(colour, 1.4));
}

/// A label below a tick or beside a bar.
pub(super) fn small(content: &str, x: f64, y: f64, anchor: Anchor) -> Text<'_> {
    Text::centred(content, x, y, 11.0).fill(MUTED).anchor(anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_colour_and_name() {
        for (index, cause) in Cause::ALL.iter().enumerate() {
            for other in &Cause::ALL[..index] {
                assert_ne!(cause.colour(), other.colour());
                assert_ne!(cause.label(), other.label());
            }
        }
    }

    #[test]
    fn fading_goes_to_white() {
        assert_eq!(faded("#1F64AD", 1.0), "#1F64AD");
        assert_eq!(faded("#1F64AD", 0.0), "#FFFFFF");
        assert_eq!(faded("#000000", 0.4), "#999999");
    }

    #[test]
    fn text_on_a_colour_is_the_more_legible_one() {
        assert_eq!(contrast("#FFFFFF"), INK);
        assert_eq!(contrast("#E3CF8F"), INK);
        assert_eq!(contrast("#1F64AD"), BACKGROUND);
    }
}
