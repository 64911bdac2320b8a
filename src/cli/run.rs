//! `run`: one replication of one strategy, and what it shows.

mod autonomous;
mod strip;
mod summary;
mod waiting;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use fleetsim::error::Diagnostic;
use fleetsim::experiment::{Experiment, History};
use fleetsim::report::chart;
use fleetsim::report::events::{Events, stream};
use fleetsim::report::timeline::{runs_timeline, timeline, with_changes};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::Strategy;
use fleetsim::sim::{Moves, Outcome, Simulation};
use fleetsim::time::{Span, Timestamp};

use super::load::Source;
use super::panic::{self, InHand};
use super::{Console, Exit, Failure, files};
use summary::Summary;

/// Pixels of a PNG for each of the SVG's.
const PNG_SCALE: f32 = 2.0;

const EXAMPLES: &str = "\
Examples:
  fleetsim run scenario.yaml
  fleetsim run scenario.yaml --strategy careful --replication 17 --events run.jsonl
  fleetsim run scenario.yaml --until 36h --status -

FILE can be `-` for stdout; the summary then goes to stderr. Whatever state the update run ends in,
the exit code is 0.";

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The scenario; `-` reads stdin
    scenario: String,
    /// The strategy to simulate, instead of the scenario's first
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Which replication
    #[arg(long, value_name = "K", default_value_t = 0)]
    replication: u32,
    /// Stop the clock here (this very instant included) and look: 36h, or 2026-03-03T20:00:00Z
    #[arg(long, value_name = "INSTANT|OFFSET")]
    until: Option<Until>,
    /// Write every event as a line of JSON
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Write the update run as the ARM resource
    #[arg(long, value_name = "FILE")]
    status: Option<PathBuf>,
    /// Draw the timeline of stages, groups and members
    #[arg(long, value_name = "FILE.svg|png")]
    timeline: Option<PathBuf>,
}

/// The format of a picture, by its file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Picture {
    Svg,
    Png,
}

impl Picture {
    fn of(path: &Path) -> Result<Self, Box<Diagnostic>> {
        match path.extension().map(std::ffi::OsStr::to_ascii_lowercase) {
            Some(end) if end == "svg" => Ok(Self::Svg),
            Some(end) if end == "png" => Ok(Self::Png),
            _ => {
                let message = format!("--timeline {} is neither SVG nor PNG", path.display());
                let hint = "name a file that ends in .svg or .png";
                Err(Diagnostic::error("timeline", message).hint(hint).into())
            }
        }
    }
}

/// Where the clock is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Offset(Span),
    Instant(Timestamp),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let offset = text.strip_prefix('+').unwrap_or(text).parse().map(Self::Offset);
        offset.or_else(|_| text.parse().map(Self::Instant)).map_err(|_| {
            "write an offset from the start such as 36h, or an instant such as \
             2026-03-03T20:00:00Z"
                .to_owned()
        })
    }
}

impl Until {
    /// The last instant that is simulated.
    fn end(self, scenario: &Scenario) -> Result<Timestamp, Box<Diagnostic>> {
        let (start, horizon) = (scenario.start, scenario.start + scenario.horizon);
        let at = match self {
            Self::Offset(offset) => start + offset.min(scenario.horizon),
            Self::Instant(at) => at,
        };
        if at < start {
            let message = format!("--until {at} lies before the scenario's start, {start}");
            let hint = format!("name an instant from {start} to {horizon}, or an offset");
            return Err(Diagnostic::error("until", message).hint(hint).into());
        }
        Ok(at.min(horizon))
    }
}

/// One replication that was simulated, with everything it shows.
struct Replication<'a> {
    scenario: &'a Scenario,
    strategy: &'a Strategy,
    number: u32,
    experiment: &'a Experiment<'a>,
    simulation: &'a Simulation<'a>,
    history: &'a History,
    outcome: &'a Outcome,
    /// The last instant that was simulated.
    end: Timestamp,
}

/// Carries out `run`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let loaded = Source::read(&options.scenario)?.scenario(options.seed)?;
    let (scenario, strategy) = loaded.candidate(options.strategy.as_ref())?;
    options.timeline.as_deref().map(Picture::of).transpose()?;
    let end = match options.until {
        Some(until) => until.end(scenario)?,
        None => scenario.start + scenario.horizon,
    };
    let experiment = loaded.lay_out(&[(scenario, strategy)])?;
    console.warn(&loaded.doubts(&experiment));
    panic::note(InHand {
        scenario: options.scenario.clone(),
        seed: scenario.seed,
        strategies: vec![strategy.name.clone()],
        replication: Some((0, options.replication)),
    });
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let mut history = History::default();
    let mut outcome = simulation.run(options.replication, end, &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), end);
    outcome.versions = simulation.versions(end);
    for (at, action, why) in &history.refused {
        console.always(&format!("refused: {} {action}: {why}", *at - scenario.start));
    }
    let replication = Replication {
        scenario,
        strategy,
        number: options.replication,
        experiment: &experiment,
        simulation: &simulation,
        history: &history,
        outcome: &outcome,
        end,
    };
    replication.write(options, console)?;
    Ok(Exit::Fine)
}

impl Replication<'_> {
    fn write(&self, options: &Options, console: &Console) -> Result<(), Failure> {
        if let Some(path) = &options.events {
            put(path, &self.events(), console)?;
        }
        if let Some(path) = &options.status {
            put(path, &self.status(), console)?;
        }
        if let Some(path) = &options.timeline {
            files::write_whole(path, &self.timeline(Picture::of(path)?)?)?;
            console.detail(&format!("wrote {}", path.display()));
        }
        let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        let text = Summary::of(self).render(console.format);
        if to_stdout(&options.events) || to_stdout(&options.status) {
            console.say(text.trim_end());
            return Ok(());
        }
        console.print(&text)
    }

    /// The timeline as SVG or PNG.
    fn timeline(&self, picture: Picture) -> Result<Vec<u8>, Box<Diagnostic>> {
        let Self { scenario, strategy, number, end, .. } = *self;
        let which = if self.experiment.world.is_deterministic() {
            String::new()
        } else {
            format!(" · seed {}, replication {number}", scenario.seed)
        };
        let texts =
            (format!("{}: one rollout", strategy.name), format!("{}{which}", scenario.name));
        let (records, scheduler) = (&self.history.records, self.simulation.scheduler());
        let drawn = if scenario.has_update || scenario.profiles.is_empty() {
            let drawn = timeline(scheduler, records, end, texts);
            with_changes(drawn, scheduler, self.history, &scenario.campaigns, end)
        } else {
            let texts = (format!("{}: the runs of its profiles", scenario.name), texts.1);
            let (plan, clock) = (scheduler.plan(), scenario.start..end);
            runs_timeline(self.simulation.beside(), plan, &self.history.beside, clock, texts)
        };
        let svg = chart::timeline_svg(&drawn);
        match picture {
            Picture::Svg => Ok(svg.into_bytes()),
            Picture::Png => chart::png(&svg, PNG_SCALE).map_err(|why| {
                let message = format!("the timeline cannot be drawn as PNG: {why}");
                let hint = "write it as SVG: --timeline FILE.svg";
                Diagnostic::error("chart", message).hint(hint).into()
            }),
        }
    }

    fn events(&self) -> String {
        let codes = self.experiment.world.codes();
        let (name, plan) = (self.scenario.name.as_str(), self.simulation.scheduler().plan());
        let own = Events { plan, run: name, codes };
        let beside = self.simulation.beside();
        let beside: Vec<Events<'_>> =
            beside.map(|(run, of)| Events { plan: of.plan(), run, codes }).collect();
        stream(self.history, (&own, &beside), &self.scenario.campaigns)
    }

    /// The update run as the ARM resource; several: the list of them.
    fn status(&self) -> String {
        let codes = self.experiment.world.codes();
        let own = (self.scenario.name.as_str(), self.simulation.scheduler());
        let own = self.scenario.has_update.then_some(own);
        let all = own.into_iter().chain(self.simulation.beside());
        let mut all: Vec<_> = all.map(|(name, run)| run.status(name, codes)).collect();
        let status = if self.scenario.profiles.is_empty() {
            all.pop().expect("without profiles, `update` is the only run")
        } else {
            serde_json::json!({ "value": all })
        };
        serde_json::to_string_pretty(&status).expect("values are always JSON") + "\n"
    }
}

/// Writes what an option asked for; `-` is stdout.
fn put(path: &Path, text: &str, console: &Console) -> Result<(), Failure> {
    if path == Path::new("-") {
        return console.print(text);
    }
    files::write_whole(path, text.as_bytes())?;
    console.detail(&format!("wrote {}", path.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_is_an_offset_or_an_instant() {
        assert_eq!("36h".parse(), Ok(Until::Offset(Span::from_hours(36))));
        assert_eq!("+36h".parse(), Ok(Until::Offset(Span::from_hours(36))));
        let at: Timestamp = "2026-03-03T20:00:00Z".parse().unwrap();
        assert_eq!("2026-03-03T20:00:00Z".parse(), Ok(Until::Instant(at)));
        assert!("soon".parse::<Until>().is_err());
    }
}
