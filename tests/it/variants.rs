//! Candidates that differ in more than their strategy: `variants`, and `compare --vary`.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use fleetsim::experiment::{Effort, Experiment, Input, Metric, Outcomes, grid, trials};
use fleetsim::report::results::{Results, differences_csv, runs_csv};
use fleetsim::report::summary::Summary;
use fleetsim::scenario::Scenario;
use fleetsim::scenario::variants::{Tried, tried};
use fleetsim::scenario::vary::{Edit, Variation};
use fleetsim::stats::Confidence;

use crate::experiments::input;

/// 30 members of two groups, with luck; the rest is the test's.
fn scenario(strategies: &str, variants: &str) -> String {
    format!(
        "name: variants
start: 2026-03-02T08:00:00Z
horizon: 30d
seed: 3
fleet:
  populations:
    - count: 30
      name: \"m-{{n:02}}\"
      region: {{choose: {{westeurope: 0.5, eastus: 0.5}}}}
      updateGroup: {{choose: {{a: 0.5, b: 0.5}}}}
      pools: [{{name: p, nodeImageVersion: {{family: AKSUbuntu-2204gen2containerd, behind: 1}}}}]
      maintenance:
        aksManagedNodeOSUpgradeSchedule:
          schedule: {{daily: {{intervalDays: 1}}}}
          durationHours: 4
          startTime: \"01:30\"
          utcOffset: \"+00:00\"
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}
{strategies}
{variants}
"
    )
}

const TWO: &str = "strategies:
  - {name: careful}
  - name: waves
    stages: [{name: all, maxAllowedFailures: 30, groups: [{name: a, maxConcurrency: 3}, {name: b}]}]";
const POLLS: &str = "variants:
  - {name: as-is}
  - {name: often, set: {update.pollInterval: 5m}}";

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("{name}: there are no files here"))
}

fn read(text: &str, tried: &[Tried]) -> Vec<Scenario> {
    match Scenario::read_all("variants.yaml", text, &no_files, None, &[], tried) {
        Ok((scenarios, _)) => scenarios,
        Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()),
    }
}

fn lay_out(scenarios: &[Scenario]) -> Experiment<'_> {
    let of = |scenario: &'_ Scenario| scenario.strategies.len();
    let candidates = scenarios.iter().flat_map(|s| s.strategies.iter().map(move |one| (s, one)));
    let experiment = Experiment::over(&scenarios[0], candidates).unwrap();
    assert_eq!(experiment.plans.len(), scenarios.iter().map(of).sum::<usize>());
    experiment
}

fn simulate(experiment: &Experiment<'_>, replications: u32, threads: usize) -> Outcomes {
    let stop = AtomicBool::new(false);
    experiment.run(&Effort { replications, threads, stop: &stop, progress: &|_| {} })
}

fn candidates(text: &str, tried: &[Tried]) -> Vec<String> {
    let scenarios = read(text, tried);
    let experiment = lay_out(&scenarios);
    let names: Vec<String> = experiment.plans.iter().map(|p| p.strategy.to_owned()).collect();
    assert!(scenarios.iter().all(|scenario| scenario.candidates == names));
    names
}

fn typed(texts: &[&str]) -> Vec<Tried> {
    let variations: Vec<Variation> = texts.iter().map(|text| text.parse().unwrap()).collect();
    tried(&grid(&variations).unwrap()).unwrap()
}

#[test]
fn candidates_are_called_as_what_they_differ_in() {
    assert_eq!(candidates(&scenario(TWO, ""), &[]), ["careful", "waves"]);
    let one = "strategies: [{name: careful}]";
    assert_eq!(candidates(&scenario(one, POLLS), &[]), ["as-is", "often"]);
    assert_eq!(candidates(&scenario("", POLLS), &[]), ["as-is", "often"]);
    assert_eq!(
        candidates(&scenario(TWO, POLLS), &[]),
        ["as-is+careful", "as-is+waves", "often+careful", "often+waves"]
    );
    let typed = typed(&["update.pollInterval=0,30m"]);
    assert_eq!(candidates(&scenario(one, ""), &typed), ["pollInterval-0", "pollInterval-30m"]);
    assert_eq!(
        candidates(&scenario(one, POLLS), &typed[..1]),
        ["pollInterval-0+as-is", "pollInterval-0+often"]
    );
}

#[test]
fn typed_values_become_names_of_files() {
    let names = |texts: &[&str]| -> Vec<String> {
        typed(texts).into_iter().map(|variant| variant.name).collect()
    };
    assert_eq!(
        names(&["world.durations.update={lognormal: {median: 40m, sigma: 0.5}},40m"]),
        ["update-lognormal-median-40m-sigma-0.5", "update-40m"]
    );
    assert_eq!(names(&["a.x=10%,10pct"]), ["x-10pct", "x-10pct-2"], "no name twice");
    assert_eq!(names(&["a.x=1,2", "y=3"]), ["x-1+y-3", "x-2+y-3"]);
    assert_eq!(names(&["a.x=1", "b.x=2"]), ["a-x-1+b-x-2"], "the whole path where ends are alike");
    let long = format!("x={}", "y".repeat(200));
    assert!(names(&[&long])[0].len() <= 64);
}

#[test]
fn x1_a_variant_is_the_scenario_with_its_values_on_the_same_luck() {
    let text = scenario(TWO, POLLS);
    let scenarios = read(&text, &[]);
    let together = simulate(&lay_out(&scenarios), 20, 1).by_strategy;
    let edit = Edit { path: "update.pollInterval".to_owned(), value: "5m".to_owned() };
    for (position, edits) in [vec![], vec![edit]].iter().enumerate() {
        let (alone, _) =
            Scenario::read_varied("alone.yaml", &scenario(TWO, ""), &no_files, None, edits)
                .unwrap();
        let alone = Experiment::new(&alone, &alone.strategies).map(|e| simulate(&e, 20, 1));
        let alone = alone.unwrap().by_strategy;
        assert_eq!(alone, together[2 * position..2 * position + 2]);
    }
    assert_ne!(together[0], together[2], "polls matter");
}

#[test]
fn typed_variants_are_those_of_the_file() {
    let of_file = read(&scenario(TWO, POLLS), &[]);
    let of_options = read(&scenario(TWO, ""), &typed(&["update.pollInterval=60m,5m"]));
    let outcomes = |scenarios: &[Scenario]| simulate(&lay_out(scenarios), 10, 1).by_strategy;
    assert_eq!(outcomes(&of_file), outcomes(&of_options));
}

#[test]
fn variants_may_have_fleets_and_changes_of_their_own() {
    let variants = "variants:
  - {name: small}
  - {name: large, set: {'fleet.populations[0].count': 60}}
  - name: changes
    set: {configurationChanges: [{at: 1h, operation: networkPolicy, from: none, to: azure}]}
  - {name: later, set: {start: 2026-03-06T08:00:00Z}}";
    let scenarios = read(&scenario("", variants), &[]);
    let experiment = lay_out(&scenarios);
    let outcomes = simulate(&experiment, 6, 1);
    let members: Vec<u32> = outcomes.by_strategy.iter().map(|of| of[0].members).collect();
    assert_eq!(members, [30, 60, 30, 30]);
    let columns = experiment.columns();
    let refused: Metric = "refusedCalls".parse().unwrap();
    assert!(columns.contains(&refused), "one of them has changes");
    assert_eq!(columns, Metric::columns_of(&scenarios[2]).collect::<Vec<_>>());
    assert_eq!(experiment.common_start(), None);
    assert_eq!(experiment.end_of(3).to_string(), "2026-04-05T08:00:00Z");
    let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
    let results =
        Results { experiment: &experiment, outcomes: &outcomes, summary: &summary, target: None };
    let names: Vec<String> = results.files().unwrap().into_iter().map(|file| file.name).collect();
    for name in ["timeline-large.svg", "timeline-later.png", "progress.png"] {
        assert!(names.iter().any(|file| file == name), "{name} is not among {names:?}");
    }
}

#[test]
fn x3_variants_are_the_same_bytes_with_any_number_of_threads() {
    let text = scenario(TWO, POLLS);
    let files = |threads| {
        let scenarios = read(&text, &[]);
        let experiment = lay_out(&scenarios);
        let outcomes = simulate(&experiment, 17, threads);
        let summary = Summary::of(&experiment, &outcomes, Confidence::DEFAULT).unwrap();
        (runs_csv(&summary, &outcomes), differences_csv(&summary))
    };
    let (runs, differences) = files(1);
    assert_eq!((runs.clone(), differences.clone()), files(3));
    assert!(runs.contains("\noften+waves,16,"));
    assert!(differences.contains("\noften+careful,as-is+careful,makespan,mean,"));
}

#[test]
fn what_is_wrong_with_some_variants_says_with_which() {
    let variants = "variants:
  - {name: as-is}
  - {name: full, set: {update.managedClusterUpdate.upgrade.type: Full}}
  - {name: quick, set: {update.pollInterval: soon}}";
    let refused = |text: &str| {
        let read = Scenario::read_all("v.yaml", text, &no_files, None, &[], &[]);
        read.map(|_| ()).unwrap_err().iter().map(ToString::to_string).collect::<String>()
    };
    let said = refused(&scenario(TWO, variants));
    assert!(said.contains("variant `full`: "), "{said}");
    assert!(said.contains("variant `quick`: `pollInterval` must be"), "{said}");
    let said = refused(&scenario("strategies: [{name: 7 7}]", POLLS));
    assert!(!said.contains("variant"), "it is wrong with all: {said}");
    assert_eq!(said.matches("cannot be a name").count(), 1, "{said}");
}

/// Runs the program on a scenario on stdin.
fn fleetsim(arguments: &[&str], text: &str) -> (Option<i32>, String, String) {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_fleetsim"));
    let output = command.args(arguments).write_stdin(text).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn compare_puts_all_candidates_into_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let text = scenario(TWO, POLLS);
    let compare = |more: &[&str]| {
        let asked = ["compare", "-", "-q", "-n", "4", "--force", "--format", "csv", "-o", out];
        let (code, stdout, stderr) = fleetsim(&[&asked[..], more].concat(), &text);
        assert_eq!(code, Some(0), "{stderr}");
        let mut names: Vec<String> =
            stdout.lines().skip(1).map(|l| l.split(',').next().unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    let all = ["as-is+careful", "as-is+waves", "often+careful", "often+waves"];
    assert_eq!(compare(&[]), all);
    assert_eq!(compare(&["--strategy", "waves"]), [all[1], all[3]], "by strategy");
    assert_eq!(compare(&["--strategy", "often"]), all[2..], "by variant");
    assert_eq!(compare(&["--strategy", "often+careful"]), [all[2]], "by candidate");
    assert_eq!(
        compare(&["--strategy", "as-is+waves", "--vary", "seed=1"].as_slice()[..2]),
        [all[1]]
    );
    let (code, _, stderr) = fleetsim(&["compare", "-", "--vary", "seed=1,2"], &text);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("cannot have another `seed`"), "{stderr}");
}

#[test]
fn the_manifest_names_what_was_varied() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let manifest = |vary: &[&str]| {
        let asked = ["compare", "-", "-q", "-n", "4", "--force", "-o", out];
        let (code, _, stderr) = fleetsim(&[&asked[..], vary].concat(), &scenario(TWO, ""));
        assert_eq!(code, Some(0), "{stderr}");
        let text = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let varied = manifest(&[
        "--vary",
        "update.pollInterval=0,30m",
        "--vary",
        "world.failures.probability=0.01..0.03/1",
    ]);
    let wanted = serde_json::json!([
        {"path": "update.pollInterval", "values": ["0", "30m"]},
        {"path": "world.failures.probability", "values": ["0.01", "0.03"]},
    ]);
    assert_eq!(varied["varied"], wanted);
    assert_eq!(manifest(&[]).get("varied"), None, "nothing was varied");
}

/// One by one against everybody at once, with a window or without. An assumption that only one
/// variant has is tried in it; the candidates stay who they are.
#[test]
fn sensitivity_tries_variants_as_it_tries_strategies() {
    let variants = "variants:
  - {name: as-is, set: {world.failures: none}}
  - {name: failing, set: {world.failures: {probability: 0.2, transient: 1}}}";
    let scenarios = read(&scenario(TWO, variants), &[]);
    let trials = trials(&scenarios.iter().collect::<Vec<_>>());
    for trial in &trials {
        let [as_is, failing] = &trial.scenarios[..] else { panic!("two variants") };
        let failures = [as_is, failing].map(|scenario| scenario.world.failures.clone());
        if trial.input == input("world.failures.probability") {
            assert_eq!(as_is.world, scenarios[0].world, "it has none");
            let probability = failures[1].as_ref().unwrap().probability;
            assert!((probability - 0.2 * trial.factor).abs() < 1e-9, "{probability}");
        } else if trial.input == input("world.durations.update") {
            assert!([0, 1].iter().all(|i| trial.scenarios[*i].world != scenarios[*i].world));
        }
    }
    let inputs: BTreeSet<Input> = trials.iter().map(|trial| trial.input).collect();
    assert!(
        inputs.contains(&input("world.failures.probability"))
            && inputs.contains(&input("update.pollInterval"))
    );

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let line = ["sweep", "-", "--sensitivity", "-q", "-n", "60", "--format", "csv", "-o", out];
    let (code, stdout, stderr) = fleetsim(&line, &scenario(TWO, variants));
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Vec<Vec<&str>> = stdout.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let candidates: BTreeSet<&str> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(candidates.len(), 4, "{candidates:?}");
    let mut moved = BTreeSet::new();
    for row in rows.iter().filter(|row| row[0] == "world.failures.probability") {
        // What it was, and what it is.
        if row[5] != row[6] {
            moved.insert(row[2]);
        }
    }
    assert!(moved.iter().all(|name| name.starts_with("failing")) && !moved.is_empty(), "{moved:?}");
}

#[test]
fn checks_run_and_plan_know_the_candidates() {
    let checks = "checks: [{strategy: often+waves, metric: makespan, lessThan: as-is+waves}]";
    let text = scenario(TWO, &format!("{POLLS}\n{checks}"));
    let (code, stdout, stderr) = fleetsim(&["check", "-", "-n", "50", "--format", "csv"], &text);
    assert!(matches!(code, Some(0 | 1 | 3)), "{stderr}");
    assert!(stdout.contains("often+waves"), "{stdout}");
    for command in ["run", "plan"] {
        let (code, _, stderr) = fleetsim(&[command, "-", "-q", "--strategy", "often+waves"], &text);
        assert_eq!(code, Some(0), "{stderr}");
    }
}
