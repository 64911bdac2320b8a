//! How far it is and how fast it goes: only for people, never in a result.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::cli::Console;

/// A bar is shown for what takes longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Real time, to tell people how long something took.
#[derive(Debug)]
pub(in crate::cli) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "people are told how long something took")]
    pub(in crate::cli) fn start() -> Self {
        Self(Instant::now())
    }

    /// `2.31 s`
    pub(in crate::cli) fn shown(&self) -> String {
        format!("{:.2} s", self.0.elapsed().as_secs_f64())
    }

    /// How many a second, with two or three digits that count.
    #[expect(clippy::cast_precision_loss, reason = "counts of work stay below 2^53")]
    pub(in crate::cli) fn rate(&self, done: u64) -> String {
        let rate = done as f64 / self.0.elapsed().as_secs_f64().max(1e-9);
        match rate {
            r if r >= 1e6 => format!("{:.2} million", r / 1e6),
            r if r >= 1e4 => format!("{:.0} thousand", r / 1e3),
            r if r >= 10.0 => format!("{r:.0}"),
            r => format!("{r:.1}"),
        }
    }
}

/// A bar on stderr with rate and time left.
#[derive(Debug)]
pub(in crate::cli) struct Bar {
    drawn: ProgressBar,
    clock: Clock,
    shown: AtomicBool,
}

impl Bar {
    /// A bar that shows itself once its work takes longer than a second; never under `--quiet` or
    /// where stderr is no terminal.
    pub(in crate::cli) fn new(name: &str, total: u64, console: &Console) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let template = "{msg} [{bar:32}] {percent}% of {len} replications, {rate}, {eta} left";
        let style = ProgressStyle::with_template(template).expect("the template is well-formed");
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            // A bar that cannot be drawn is no loss.
            let _ = write!(out, "{:.0}/s", state.per_sec());
        };
        bar.set_style(style.with_key("rate", rate).progress_chars("=> "));
        bar.set_message(name.to_owned());
        Self {
            drawn: bar,
            clock: Clock::start(),
            shown: AtomicBool::new(!console.shows_progress()),
        }
    }

    /// There is more to do than was known.
    pub(in crate::cli) fn lengthen(&self, name: &str, total: u64) {
        self.drawn.set_message(name.to_owned());
        self.drawn.set_length(total);
    }

    /// So many are done.
    pub(in crate::cli) fn show(&self, done: u64) {
        if self.clock.0.elapsed() > PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            self.drawn.set_draw_target(ProgressDrawTarget::stderr());
        }
        // Workers report out of order; the bar never goes back.
        self.drawn.set_position(done.max(self.drawn.position()));
    }

    /// Takes the bar away.
    pub(in crate::cli) fn clear(&self) {
        self.drawn.finish_and_clear();
    }
}
