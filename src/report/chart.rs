//! The charts of an experiment as SVG, and the same as PNG.
//!
//! Owns the look and the drawing. Does not own the numbers: callers hand over plain data in
//! [`ProgressChart`], [`Timeline`], [`BarChart`] and [`ScatterChart`]. The same data are the same
//! SVG bytes on every machine (coordinates have fixed decimals, nothing calls the platform's
//! mathematics) and the same PNG bytes from run to run. Texts are set in Inter, which is embedded,
//! so that a machine without fonts draws the same picture.

mod axis;
mod bars;
mod lanes;
mod lines;
mod panels;
mod progress;
mod raster;
mod rows;
mod scatter;
mod style;
mod svg;
mod text;
mod timeline;
mod tornado;

pub use bars::{BarChart, BarPart, BarRow, Measure, Tint, bars_svg};
pub use lines::{LineAxis, LineChart, LinePoint, LineSeries, lines_svg};
pub use panels::{PanelChart, PanelColumn, PanelRow, panels_svg};
pub use progress::{ProgressChart, ProgressPoint, ProgressSeries, progress_svg};
pub use raster::png;
pub use scatter::{Estimate, ScatterAxis, ScatterChart, ScatterPoint, scatter_svg};
pub use style::{Cause, State};
pub use timeline::{
    BarKind, GateKind, Timeline, TimelineBar, TimelineGate, TimelineGroup, TimelineMember,
    TimelineStage, timeline_svg,
};
pub use tornado::{TornadoBar, TornadoChart, TornadoPanel, tornado_svg};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
