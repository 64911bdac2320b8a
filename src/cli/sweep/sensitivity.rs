//! `sweep --sensitivity`: which assumptions move the answer most.

use fleetsim::error::Diagnostic;
use fleetsim::experiment::{Experiment, Metric, Outcomes, Question, trials};
use fleetsim::report::results;
use fleetsim::report::sensitivity::{self, Row, Sensitivity};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::Strategy;
use fleetsim::stats::Confidence;

use super::{Options, folder, run_all};
use crate::cli::compare::{listen, width};
use crate::cli::load::Source;
use crate::cli::table::wide;
use crate::cli::{Console, Exit, Failure, Format};

/// Carries out `sweep --sensitivity`.
pub(super) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let base = Source::read(&options.scenario)?.scenario(options.choice.seed)?;
    let metric = metric(options, base.scenario())?;
    let candidates = base.candidates(&options.choice.strategy)?;
    let variants = variants(&candidates);
    let strategies: Vec<&Strategy> = candidates.iter().map(|(_, strategy)| *strategy).collect();
    let trials = trials(&variants);
    let mut experiments = vec![base.lay_out(&candidates)?];
    for trial in &trials {
        let same = candidates.iter().map(|(scenario, strategy)| {
            let variant = variants.iter().position(|variant| std::ptr::eq(*variant, *scenario));
            (&trial.scenarios[variant.expect("every candidate is of a variant")], *strategy)
        });
        experiments.push(Experiment::over(&trial.scenarios[0], same)?);
    }
    let folder = folder(options, &base, "sensitivity");
    results::claim(&folder, base.scenario(), options.choice.force)?;
    console.warn(&base.doubts(&experiments[0]));
    listen();
    let question = Question {
        metric,
        has_members: base.scenario().updates_somebody(),
        horizon: base.scenario().horizon,
        confidence: Confidence::DEFAULT,
        deterministic: experiments[0].is_deterministic(),
    };
    let mut known: Option<Outcomes> = None;
    let mut rows = Vec::new();
    run_all(options, &base, &experiments, console, &mut |index, outcomes| {
        let Some(base) = &known else {
            known = Some(outcomes);
            return;
        };
        let (trial, pair) = (&trials[index - 1], [base, &outcomes]);
        rows.push(Row {
            input: trial.input,
            factor: trial.factor,
            changes: question.changes(pair),
            overtakings: question.overtakings(pair),
            answers: question.answers(pair),
        });
    });
    let Some(known) = known else {
        console.always("interrupted before the first replications were done: nothing is written");
        return Ok(Exit::Interrupted);
    };
    let interrupted = rows.len() < trials.len();
    let mut found = Sensitivity {
        scenario: base.scenario().name.clone(),
        digest: base.scenario().digest.clone(),
        seed: base.scenario().seed,
        question,
        replications: known.by_strategy.first().map_or(0, Vec::len),
        strategies: strategies.iter().map(|strategy| strategy.name.clone()).collect(),
        rows,
    };
    found.sort();
    console.print(&match console.format {
        Format::Table | Format::Md => text(&found, console.format),
        Format::Csv => sensitivity::sensitivity_csv(&found),
        Format::Json => sensitivity::sensitivity_json(&found),
    })?;
    found.write(&folder)?;
    console.say(&format!("wrote {}", folder.display()));
    if interrupted {
        console.always("interrupted: not all assumptions were tried");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Fine)
}

/// The metric that was asked for, or what a scenario is asked.
fn metric(options: &Options, scenario: &Scenario) -> Result<Metric, Diagnostic> {
    let Some(metric) = options.metric else { return Ok(Question::default_metric(scenario)) };
    let lacking = match metric {
        Metric::Change(_) if scenario.campaigns.is_empty() => "configurationChanges",
        Metric::Auto(_) if scenario.profiles.is_empty() => "autoUpgradeProfiles",
        metric if metric.is_of_update() && !scenario.updates_somebody() => "update",
        _ => return Ok(metric),
    };
    let why = format!("`{metric}` says nothing of a scenario without `{lacking}`");
    let other = Question::default_metric(scenario);
    Err(Diagnostic::error("metric", why).hint(format!("ask for `{other}`, say")))
}

/// The scenarios that candidates are of, each once, in order.
fn variants<'s>(candidates: &[(&'s Scenario, &'s Strategy)]) -> Vec<&'s Scenario> {
    let mut variants: Vec<&Scenario> = candidates.iter().map(|(scenario, _)| *scenario).collect();
    variants.dedup_by(|a, b| std::ptr::eq(*a, *b));
    variants
}

/// The table with its title and what follows from it.
fn text(found: &Sensitivity, format: Format) -> String {
    let table = wide(&sensitivity::table(found), 3, (format, width()));
    let lines = sensitivity::conclusions(found).join("\n");
    format!("{}\n\n{table}\n{lines}\n", sensitivity::title(found))
}
