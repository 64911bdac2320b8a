//! Replications until the numbers are precise enough (X6), and which strategy is best (X7), through
//! the library and on the command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use fleetsim::experiment::{Effort, Experiment, Goal, HEADLINES, Metric, Outcomes, Sought};
use fleetsim::report::results::Results;
use fleetsim::report::summary::Summary;
use fleetsim::scenario::Scenario;
use fleetsim::stats::{Confidence, Exemption, Level, Look, Precision, Statistic, looks};

use crate::experiments::{POOL, RELEASED, START, UPDATE, experiment, read};

/// Eight members, two at a time or one by one, lognormal durations, and this world beside them.
fn scenario(horizon: &str, world: &str) -> String {
    format!(
        "name: precise
start: {START}
horizon: {horizon}
seed: 11
fleet: {{populations: [{{count: 8, name: \"m{{n}}\", region: westeurope, {POOL}}}]}}
update: {{{UPDATE}}}
strategies:
  - {{name: one-by-one}}
  - name: twos
    stages: [{{name: all, groups: [{{name: all, maxConcurrency: 2}}]}}]
world: {{{world}}}
script: {RELEASED}
"
    )
    .replace("region: westeurope,", "region: westeurope, updateGroup: all,")
}

const CALM: &str = "failures: none, people: none";

fn run(experiment: &Experiment<'_>, replications: u32, threads: usize) -> Outcomes {
    let stop = AtomicBool::new(false);
    experiment.run(&Effort { replications, threads, stop: &stop, progress: &|_| {} })
}

fn seek(experiment: &Experiment<'_>, target: f64, most: u32) -> (Sought, Vec<Look>) {
    let stop = AtomicBool::new(false);
    let effort = Effort { replications: 0, threads: 2, stop: &stop, progress: &|_| {} };
    let goal = Goal { target, confidence: Confidence::DEFAULT, most };
    let mut seen = Vec::new();
    let sought = experiment.seek(&goal, &effort, &mut |look| seen.push(look));
    (sought, seen)
}

#[test]
fn x6_going_on_from_any_replication_equals_one_run() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let whole = run(&experiment, 61, 1);
    for parts in [vec![61], vec![1, 2, 61], vec![7, 20, 50, 61], vec![8, 16, 61]] {
        for threads in [1, 2, 3] {
            let mut outcomes = Outcomes::none(2);
            let stop = AtomicBool::new(false);
            for replications in &parts {
                let replications = *replications;
                let effort = Effort { replications, threads, stop: &stop, progress: &|_| {} };
                experiment.go_on(&mut outcomes, &effort);
                assert_eq!(outcomes.by_strategy[0].len(), replications as usize);
            }
            assert_eq!(outcomes, whole, "{parts:?} on {threads} threads");
        }
    }
}

#[test]
fn x6_no_replication_is_made_twice() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let (stop, made) = (AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
    let progress = |done: usize| made.lock().unwrap().push(done);
    let effort = Effort { replications: 0, threads: 1, stop: &stop, progress: &progress };
    let goal = Goal { target: 1e-9, confidence: Confidence::DEFAULT, most: 150 };
    experiment.seek(&goal, &effort, &mut |_| {});
    let made = made.into_inner().unwrap();
    assert!(made.is_sorted_by(|a, b| a < b), "{made:?}");
    assert_eq!(made.last(), Some(&300), "150 of each of two strategies");
    // Two strategies in batches of eight: 13 batches to 100, 7 more to 150.
    assert_eq!(made.len(), 2 * (13 + 7));
}

#[test]
fn x6_replications_end_at_the_first_look_that_is_precise_enough() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let (sought, seen) = seek(&experiment, 0.04, 100_000);
    assert!(sought.is_met() && !sought.outcomes.interrupted);
    let all: Vec<Look> = looks(Confidence::DEFAULT, 100_000).take(seen.len()).collect();
    assert_eq!(seen, all, "look by look");
    assert!(sought.look.number > 1, "100 replications are too few: {:?}", sought.look);
    assert_eq!(sought.reached.len(), 2 * HEADLINES.len());
    let plain = run(&experiment, u32::try_from(sought.look.replications).unwrap(), 1);
    assert_eq!(sought.outcomes, plain);
    // At the look before, something was not precise enough.
    let before = &seen[seen.len() - 2];
    let plain = run(&experiment, u32::try_from(before.replications).unwrap(), 2);
    let summary = Summary::of(&experiment, &plain, before.confidence).unwrap();
    assert!(summary.precision(0.04).iter().any(fleetsim::experiment::Reached::is_unmet));
}

/// All files of an experiment, by name.
fn files(
    experiment: &Experiment<'_>,
    outcomes: &Outcomes,
    confidence: Confidence,
) -> BTreeMap<String, Vec<u8>> {
    let summary = Summary::of(experiment, outcomes, confidence).unwrap();
    let results = Results { experiment, outcomes, summary: &summary, target: None };
    results.files().unwrap().into_iter().map(|file| (file.name, file.bytes)).collect()
}

#[test]
fn x6_results_are_those_of_a_plain_run_but_for_the_confidence() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let (sought, _) = seek(&experiment, 0.05, 2_000);
    let found = files(&experiment, &sought.outcomes, sought.look.confidence);
    let plain = run(&experiment, u32::try_from(sought.look.replications).unwrap(), 1);
    assert!(found == files(&experiment, &plain, sought.look.confidence), "the same bytes");
    let usual = files(&experiment, &plain, Confidence::DEFAULT);
    for (name, bytes) in &found {
        let told = ["summary.csv", "summary.json", "differences.csv", "manifest.json"];
        let told = told.contains(&name.as_str()) || name.starts_with("tradeoff");
        assert_eq!(*bytes != usual[name], told, "{name}");
    }
}

#[test]
fn x6_the_limit_ends_the_search_unmet() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let (sought, seen) = seek(&experiment, 0.001, 120);
    assert!(!sought.is_met());
    assert_eq!(seen.iter().map(|look| look.replications).collect::<Vec<_>>(), [100, 120]);
    assert_eq!(sought.outcomes.by_strategy[1].len(), 120);
    let (sought, seen) = seek(&experiment, 0.001, 30);
    assert_eq!((seen.len(), sought.outcomes.by_strategy[0].len()), (1, 30));
    assert!(!sought.is_met());
}

#[test]
fn x6_constant_zero_and_censored_numbers_are_exempt() {
    let why = |text: &str, metric: Metric, statistic: Statistic| {
        let scenario = read(text);
        let experiment = experiment(&scenario);
        let (sought, _) = seek(&experiment, 0.5, 100);
        let of =
            |r: &&fleetsim::experiment::Reached| (r.metric, r.statistic) == (metric, statistic);
        sought.reached.iter().find(of).unwrap().precision
    };
    let exempt = Precision::Exempt;
    let calm = scenario("30d", CALM);
    let updated = (Metric::UpdatedMembers, Statistic::Mean);
    assert_eq!(why(&calm, updated.0, updated.1), exempt(Exemption::Constant));
    let short = scenario("4h", CALM);
    let median = Statistic::Quantile(Level::P50);
    assert_eq!(why(&short, Metric::Makespan, Statistic::Mean), exempt(Exemption::Censored));
    assert_eq!(why(&short, Metric::TimeTo(90), median), exempt(Exemption::Censored));
    // A first member that fails for good: nobody is updated, in most replications.
    let doomed = scenario("30d", "failures: {probability: 0.9, transient: 0}, people: none");
    let updated = why(&doomed, updated.0, updated.1);
    assert!(matches!(updated, Precision::Met { .. } | Precision::Unmet { .. }), "{updated:?}");
    let idle = calm.replace("202603.02.0", "202601.02.0");
    assert_eq!(why(&idle, Metric::UpdatedMembers, Statistic::Mean), exempt(Exemption::Constant));
}

#[test]
fn x6_an_interrupted_search_keeps_whole_pairs_and_says_so() {
    let scenario = read(&scenario("30d", CALM));
    let experiment = experiment(&scenario);
    let stop = AtomicBool::new(false);
    let progress = |done: usize| stop.store(done > 220, Ordering::Relaxed);
    let effort = Effort { replications: 0, threads: 2, stop: &stop, progress: &progress };
    let goal = Goal { target: 1e-9, confidence: Confidence::DEFAULT, most: 10_000 };
    let sought = experiment.seek(&goal, &effort, &mut |_| {});
    assert!(sought.outcomes.interrupted && !sought.is_met());
    assert_eq!(sought.look.number, 2);
    let [first, second] = [0, 1].map(|index| sought.outcomes.by_strategy[index].len());
    assert_eq!(first, second);
    assert!((100..150).contains(&first), "{first}");
    for (outcomes, updates) in sought.outcomes.by_strategy.iter().zip(&sought.outcomes.updates) {
        let updated: u64 = outcomes.iter().map(|outcome| u64::from(outcome.updated)).sum();
        assert_eq!(updates.completed.count(), updated, "pooled of what is kept, and no more");
    }
}

fn fleetsim(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fleetsim"));
    command.args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

/// Exit code, stdout and stderr.
fn said(folder: &Path, line: &str) -> (i32, String, String) {
    let output = fleetsim(folder, line);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.yaml"), scenario("30d", CALM)).unwrap();
    fs::write(folder.path().join("short.yaml"), scenario("4h", CALM)).unwrap();
    folder
}

#[test]
fn x6_on_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let (code, _, stderr) = said(dir, "compare s.yaml --precision 5% -o out");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("precision: 5 % is reached"), "{stderr}");
    assert!(stderr.contains("updatedMembers mean is exempt: all replications"), "{stderr}");
    assert!(stderr.contains("Lan and DeMets 1983"), "{stderr}");
    let manifest = fs::read_to_string(dir.join("out/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["precision"]["target"], 0.05);
    assert_eq!(manifest["precision"]["met"], true);
    let n = manifest["replications"].as_u64().unwrap();
    assert!(n >= 100, "{n}");
    let (code, ..) = said(dir, &format!("compare s.yaml -n {n} -o plain"));
    assert_eq!(code, 0);
    for name in ["runs.csv", "progress.csv", "timeline-twos.svg", "delays.png"] {
        let [a, b] = ["out", "plain"].map(|part| fs::read(dir.join(part).join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    let (code, _, stderr) =
        said(dir, "compare s.yaml --precision 0.1% --max-replications 130 -o out");
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("is not within 0.1 % after 130 replications"), "{stderr}");
    assert!(stderr.contains("--max-replications"), "{stderr}");
    for wrong in ["--precision 0", "--precision 200%", "--precision x", "--max-replications 9"] {
        assert_eq!(said(dir, &format!("compare s.yaml {wrong}")).0, 2, "{wrong}");
    }
}

#[test]
fn x7_on_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let ask = |rest: &str| said(dir, &format!("compare s.yaml --best makespan {rest} -o out"));
    let (code, stdout, stderr) = ask("--indifference 30m -n 400");
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("best by makespan: `twos`"), "{stdout}");
    assert!(stdout.contains("at least 95 %") && stdout.contains("Kim and Nelson"), "{stdout}");
    let summary = fs::read_to_string(dir.join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["best"]["strategy"], "twos");
    assert_eq!(summary["best"]["indifference"], 1_800.0);
    let (code, stdout, _) = ask("--indifference 30m -n 100");
    assert_eq!(code, 3, "too few to know the variances");
    assert!(stdout.contains("can't tell yet") && stdout.contains("-n 200"), "{stdout}");
    let (code, stdout, _) = ask("--indifference 30m --confidence 0.99 --precision 8%");
    assert!(code == 0 || stdout.contains("can't tell yet"), "{stdout}");
    let (code, stdout, _) =
        said(dir, "compare short.yaml --best makespan --indifference 1m -n 200 -o short");
    assert_eq!(code, 3);
    assert!(stdout.contains("can't tell: of") && stdout.contains("cut off"), "{stdout}");
    for wrong in [
        "--indifference 5 -n 200",
        "--indifference 0 -n 200",
        "-n 200",
        "--indifference 1h --confidence 1.5",
        "--indifference 1h --confidence 0.4",
    ] {
        assert_eq!(ask(wrong).0, 2, "{wrong}");
    }
    let unknown = "compare s.yaml --best speed --indifference 1h";
    assert_eq!(said(dir, unknown).0, 2);
}

#[test]
fn x8_pooled_member_times_are_in_the_summary() {
    let text = scenario("4h", CALM);
    let scenario: Scenario = read(&text);
    let experiment = experiment(&scenario);
    let outcomes = run(&experiment, 40, 2);
    let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
    for (strategy, outcomes) in summary.strategies.iter().zip(&outcomes.by_strategy) {
        let times = &strategy.member_times;
        let all: Vec<i64> = outcomes.iter().flat_map(|outcome| outcome.done.iter()).collect();
        assert_eq!(times.done.count(), all.len() as u64);
        assert_eq!(times.done.count() + times.not_done, 8 * 40);
        let sum: i64 = all.iter().sum();
        assert_eq!(times.done.sum(), u128::try_from(sum).unwrap());
    }
    let json = fleetsim::report::results::summary_json(&summary);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let times = &json["strategies"][0]["memberTimes"];
    assert_eq!(times["quantiles"]["p99"], ">horizon", "one by one, four hours are too short");
    assert!(times["quantiles"]["p5"].as_f64().unwrap() > 0.0);
}

#[test]
fn x8_update_times_are_pooled_exactly() {
    let failing = "failures: {probability: 0.05, transient: 0}, people: none";
    let text = scenario("30d", failing)
        .replace("maxConcurrency: 2}", "maxConcurrency: 2, maxAllowedFailures: \"100%\"}");
    let failing: Scenario = read(&text);
    let experiment = experiment(&failing);
    let outcomes = run(&experiment, 60, 2);
    for (outcomes, updates) in outcomes.by_strategy.iter().zip(&outcomes.updates) {
        let all = |of: fn(&fleetsim::sim::Outcome) -> u32| -> u64 {
            outcomes.iter().map(|outcome| u64::from(of(outcome))).sum()
        };
        assert_eq!(updates.completed.count(), all(|outcome| outcome.updated));
        assert_eq!(updates.failed.count(), all(|outcome| outcome.failed));
        assert!(updates.failed.count() > 0 && updates.completed.count() > 100);
    }
    let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
    let json = fleetsim::report::results::summary_json(&summary);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let failed = &json["strategies"][1]["updateTimes"]["failed"];
    assert_eq!(failed["count"], outcomes.updates[1].failed.count());
    assert!(failed["min"].as_f64() <= failed["quantiles"]["p5"].as_f64());
    assert!(failed["quantiles"]["p99"].as_f64() <= failed["max"].as_f64());
    // One by one, without windows, waits and failures, a makespan is the sum of its updates.
    let calm = read(&scenario("30d", CALM));
    let calm = run(&crate::experiments::experiment(&calm), 60, 3);
    let makespans = calm.by_strategy[0].iter().map(|outcome| outcome.makespan.unwrap());
    let all: i64 = makespans.map(fleetsim::time::Span::as_millis).sum();
    assert_eq!(calm.updates[0].completed.sum(), u128::try_from(all).unwrap());
}
