//! `check`: what must hold, for continuous integration.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use fleetsim::error::{Diagnostic, Severity};
use fleetsim::experiment::checks::{self, Answer, Decided, Question, Until, Verdict};
use fleetsim::experiment::drift::{self, Baseline};
use fleetsim::experiment::{Experiment, Outcomes};
use fleetsim::report::baseline;
use fleetsim::report::checks::{self as told, Checked, Pipeline};
use fleetsim::stats::Confidence;

use super::compare::asked::{MOST, percent};
use super::compare::{is_interrupted, listen, simulate, watched};
use super::files::write_whole;
use super::load::{Loaded, Source};
use super::simulating::{MOST_REPLICATIONS, Scale};
use super::{Console, Exit, Failure, Format, words};

const EXAMPLES: &str = "\
Examples:
  fleetsim check scenario.yaml
  fleetsim check scenario.yaml --strict --junit checks.xml
  fleetsim check scenario.yaml --baseline results/contoso --markdown summary.md
  fleetsim check scenario.yaml --max-replications 20000

✓ holds: the whole confidence interval is on the right side of the bound; ✗ fails: it is on the
wrong side; ? undecided: neither. Exit codes: 0 all hold, 1 one fails, 3 one is undecided (1 with
--strict), 2 bad input or usage (with --strict also warnings, if no check fails).";

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The scenario; `-` reads stdin
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// Results of `compare`: headline numbers must not have drifted from them
    #[arg(long, value_name = "DIR")]
    baseline: Option<PathBuf>,
    #[arg(long, value_name = "FILE", help = "Write JUnit XML")]
    junit: Option<PathBuf>,
    /// Write a summary as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Undecided is failed, and warnings are errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    scale: Scale,
    /// Add replications until every check is decided, up to so many
    #[arg(long, value_name = "N", conflicts_with = "baseline")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_REPLICATIONS))]
    max_replications: Option<u32>,
    /// The same, and leave a check undecided once its interval is within this share of its value
    /// [limit: --max-replications, else -n, else 100000]
    #[arg(long, value_name = "PERCENT", conflicts_with = "baseline", value_parser = percent)]
    precision: Option<f64>,
}

/// Carries out `check`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let loaded = Source::read(&options.scenario)?.scenario(None)?;
    let questions = checks::questions(&loaded.scenarios)?;
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    let strategies = asked(options, &loaded, &questions, baseline.as_ref())?;
    let strategies = loaded.candidates(&strategies)?;
    let experiment = loaded.lay_out(&strategies)?;
    let is_doubtful = warn(options, loaded.doubts(&experiment), console);
    listen();
    let (outcomes, answers) = answered(options, &loaded, (&experiment, &questions), console);
    let made = outcomes.by_strategy.first().map_or(0, Vec::len);
    if made == 0 {
        console.always("interrupted before the first replication was done: nothing is checked");
        return Ok(Exit::Interrupted);
    }
    let drifts = baseline
        .as_ref()
        .map(|baseline| drift::drifts(&experiment, &outcomes, baseline, Confidence::DEFAULT));
    let effort = (made, options.until().is_some());
    let checked = Checked::of(&experiment, effort, options.strict, &answers, drifts.as_ref());
    if outcomes.interrupted {
        let done = words::count(made as u64, "replication");
        console.always(&format!("interrupted: these are the checks after {done}"));
    }
    tell(options, &checked, console)?;
    Ok(match checked.verdict() {
        _ if is_interrupted() => Exit::Interrupted,
        Verdict::Fails => Exit::CheckFailed,
        _ if is_doubtful => Exit::BadInput,
        Verdict::Holds => Exit::Fine,
        Verdict::Undecided => Exit::Undecided,
    })
}

impl Options {
    /// How long replications are added, if they are.
    fn until(&self) -> Option<Until> {
        let (limit, precision) = (self.max_replications, self.precision);
        let most = limit.or(self.scale.replications).unwrap_or(MOST);
        (limit.is_some() || precision.is_some()).then_some(Until { most, precision })
    }
}

/// Simulates, and answers all questions; no answers without replications.
fn answered<'s>(
    options: &Options,
    loaded: &Loaded,
    (experiment, questions): (&Experiment<'_>, &[Question<'s>]),
    console: &Console,
) -> (Outcomes, Vec<Answer<'s>>) {
    // Without luck, one replication says everything.
    let all = |n: u32| if experiment.is_deterministic() { 1 } else { n };
    if let Some(until) = options.until() {
        let until = Until { most: all(until.most), ..until };
        let effort = (until.most, options.scale.threads());
        return watched(loaded, experiment, effort, console, |effort, look| {
            let Decided { outcomes, answers } = experiment.decide(questions, &until, effort, look);
            (outcomes, answers)
        });
    }
    let n = all(options.scale.replications_or(loaded.scenario().replications));
    let outcomes = simulate(loaded, experiment, (n, options.scale.threads()), console);
    if outcomes.by_strategy.iter().any(Vec::is_empty) {
        return (outcomes, Vec::new());
    }
    let answers = questions.iter().map(|question| question.answer(experiment, &outcomes)).collect();
    (outcomes, answers)
}

/// The strategies that are asked about.
fn asked(
    options: &Options,
    loaded: &Loaded,
    questions: &[Question<'_>],
    baseline: Option<&Baseline>,
) -> Result<Vec<String>, Diagnostic> {
    let all = loaded.scenario().candidates.iter().cloned();
    let Some(baseline) = baseline else {
        if questions.is_empty() {
            let message = format!("{} has no `checks`: there is nothing to check", loaded.name());
            return Err(Diagnostic::error("no-checks", message).hint(
                "add `checks: [{metric: makespan, statistic: p95, atMost: 14d}]`, or name a \
                 --baseline",
            ));
        }
        let is_asked = |name: &String| {
            questions.iter().any(|q| q.strategy == name || q.reference == Some(name))
        };
        return Ok(all.filter(is_asked).collect());
    };
    let all: Vec<String> = all.collect();
    let mut stored = baseline.strategies.iter().map(|stored| stored.name.as_str());
    if stored.clone().any(|name| all.iter().any(|known| known == name)) {
        return Ok(all);
    }
    let folder = options.baseline.as_deref().unwrap_or(Path::new(""));
    let (ours, theirs) = (&loaded.scenario().name, &baseline.scenario);
    let message = format!(
        "the baseline {} (scenario `{theirs}`) and `{ours}` have no strategy in common",
        folder.display()
    );
    Err(Diagnostic::error("baseline", message)
        .hint(format!("its strategies are {}", words::names(&mut stored, 10))))
}

/// Reads the stored results.
fn read_baseline(folder: &Path) -> Result<Baseline, Diagnostic> {
    let hint = "name a folder that `fleetsim compare` wrote, such as results/contoso";
    let read = |name: &str| {
        fs::read_to_string(folder.join(name)).map_err(|why| {
            let path = folder.join(name);
            let message = format!("the baseline's {} cannot be read: {why}", path.display());
            Diagnostic::error("baseline", message).hint(hint)
        })
    };
    let [manifest, summary, runs] = baseline::FILES;
    let texts = [read(manifest)?, read(summary)?, read(runs)?];
    baseline::read([&texts[0], &texts[1], &texts[2]]).map_err(|why| {
        let message = format!("the baseline in {} is broken: {why}", folder.display());
        Diagnostic::error("baseline", message).hint("make it again with `fleetsim compare`")
    })
}

/// Shows warnings; whether, under `--strict`, they are errors.
fn warn(options: &Options, mut doubts: Vec<Diagnostic>, console: &Console) -> bool {
    if !options.strict {
        console.warn(&doubts);
        return false;
    }
    for doubt in &mut doubts {
        doubt.severity = Severity::Error;
    }
    console.complain(&doubts);
    !doubts.is_empty()
}

/// Prints and writes what was found, and annotates the scenario where a pipeline shows that.
fn tell(options: &Options, checked: &Checked, console: &Console) -> Result<(), Failure> {
    console.print(&match console.format {
        Format::Table => told::lines(checked, console.paints()),
        Format::Json => told::json(checked),
        Format::Csv => told::csv(checked),
        Format::Md => told::markdown(checked),
    })?;
    for (file, text) in [
        (&options.junit, told::junit as fn(&Checked) -> String),
        (&options.markdown, told::markdown),
    ] {
        if let Some(path) = file {
            write_whole(path, text(checked).as_bytes())?;
        }
    }
    let is_on =
        |name: &str| std::env::var_os(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    for (pipeline, name, root) in [
        (Pipeline::GitHub, "GITHUB_ACTIONS", "GITHUB_WORKSPACE"),
        (Pipeline::AzureDevOps, "TF_BUILD", "BUILD_SOURCESDIRECTORY"),
    ] {
        if !is_on(name) {
            continue;
        }
        let file = in_repository(&options.scenario, root);
        for line in told::annotations(checked, pipeline, file.as_deref()) {
            // Machine formats stay whole documents; pipelines read both streams.
            match console.format {
                Format::Table => console.print(&format!("{line}\n"))?,
                Format::Json | Format::Csv | Format::Md => console.always(&line),
            }
        }
    }
    Ok(())
}

/// A file as seen from the repository's root, where that is known; `None` for stdin.
fn in_repository(file: &str, root: &str) -> Option<String> {
    if file == "-" {
        return None;
    }
    let root = std::env::var_os(root).map(PathBuf::from);
    let whole = std::path::absolute(file).ok();
    let inside = root.zip(whole).and_then(|(root, whole)| {
        let inside = whole.strip_prefix(root).ok()?;
        Some(inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"))
    });
    Some(inside.unwrap_or_else(|| file.to_owned()))
}
