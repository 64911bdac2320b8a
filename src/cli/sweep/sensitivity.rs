//! `sweep --sensitivity`: which assumptions move the answer most.

use fleetsim::experiment::{Experiment, Outcomes, answers, changes, overtakings, trials};
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
    let deterministic = experiments[0].is_deterministic();
    let (sure, horizon) = ((Confidence::DEFAULT, deterministic), base.scenario().horizon);
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
            changes: changes(pair, horizon, sure),
            overtakings: overtakings(pair, horizon, sure),
            answers: answers(pair, horizon, sure),
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
