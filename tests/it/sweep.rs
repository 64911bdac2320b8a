//! Sweeps: other values in a scenario, on the same luck; the efficient front; what moves the answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use fleetsim::experiment::{Answer, Effort, Experiment, Input, Metric, Outcomes, Question, trials};
use fleetsim::scenario::Scenario;
use fleetsim::scenario::vary::{Edit, Variation};
use fleetsim::stats::{Confidence, Interval, Statistic};

use crate::experiments::{POOL, RELEASED, START, UPDATE, experiment, input, read};

/// Three members; one by one, or one, a wait of 40 minutes, and the other two at once.
fn scenario(world: &str) -> String {
    format!(
        "name: toy
start: {START}
horizon: 30d
seed: 3
replications: 20
fleet:
  members:
    - {{name: m1, region: westeurope, updateGroup: canary, {POOL}}}
    - {{name: m2, region: westeurope, updateGroup: prod, {POOL}}}
    - {{name: m3, region: westeurope, updateGroup: prod, {POOL}}}
update: {{{UPDATE}}}
strategies:
  - {{name: one-by-one}}
  - name: waves.2
    stages:
      - {{name: first, groups: [{{name: canary}}], afterStageWaitInSeconds: 2400}}
      - {{name: rest, groups: [{{name: prod, maxConcurrency: 2}}]}}
world: {{{world}}}
script: {RELEASED}
"
    )
}

/// Durations and failures with luck.
const LUCKY: &str = "durations: {update: {lognormal: {median: 30m, sigma: 0.4}}}, \
                     failures: {probability: 0.1, transient: 1}, people: {restart: {after: 1h}}";

fn varied(text: &str, edits: &[(&str, &str)]) -> Result<Scenario, String> {
    let edit = |(path, value): &(&str, &str)| Edit {
        path: (*path).to_owned(),
        value: (*value).to_owned(),
    };
    let edits: Vec<Edit> = edits.iter().map(edit).collect();
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    let read = Scenario::read_varied("toy.yaml", text, &no_files, None, &edits);
    let said = |errors: Vec<fleetsim::error::Diagnostic>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    read.map(|(scenario, _)| scenario).map_err(said)
}

fn outcomes(scenario: &Scenario) -> Outcomes {
    run(&experiment(scenario), 20)
}

fn run(experiment: &Experiment<'_>, replications: u32) -> Outcomes {
    let stop = AtomicBool::new(false);
    experiment.run(&Effort { replications, threads: 2, stop: &stop, progress: &|_| {} })
}

#[test]
fn a_varied_value_is_read_as_if_it_had_been_typed() {
    let text = scenario(LUCKY);
    let wait = "strategies[waves.2].stages.first.afterStageWaitInSeconds";
    let found = varied(&text, &[(wait, "60")]).unwrap();
    let typed = read(&text.replace("afterStageWaitInSeconds: 2400", "afterStageWaitInSeconds: 60"));
    assert_eq!(found.strategies, typed.strategies);
    // By number, absent keys, whole maps, and several at once.
    let found = varied(
        &text,
        &[
            ("strategies[1].stages[1].groups[0].maxConcurrency", "1"),
            ("update.pollInterval", "5m"),
            ("world.failures", "{probability: 0.5}"),
            ("fleet.members.m2.updateGroup", "canary"),
        ],
    )
    .unwrap();
    let typed = read(
        &text
            .replace("maxConcurrency: 2", "maxConcurrency: 1")
            .replace("update: {managed", "update: {pollInterval: 5m, managed")
            .replace("failures: {probability: 0.1, transient: 1}", "failures: {probability: 0.5}")
            .replace(
                "name: m2, region: westeurope, updateGroup: prod",
                "name: m2, region: westeurope, updateGroup: canary",
            ),
    );
    assert_eq!(found.strategies, typed.strategies);
    assert_eq!((found.update, found.world), (typed.update, typed.world));
    assert_eq!(found.fleet.members.iter().map(|m| &m.name).collect::<Vec<_>>(), ["m1", "m2", "m3"]);
    assert_eq!(found.digest, read(&text).digest, "the digest is the file's");
}

#[test]
fn wrong_paths_and_values_are_refused_where_they_stand() {
    let said: Vec<String> = [
        ("update.pollIntervall", "30m"),
        ("updates.pollInterval", "30m"),
        ("update.pollInterval", "fast"),
        ("update.pollInterval", "[1, "),
        ("strategies.waves.stages", "[]"),
        ("strategies[waves.2].stages[5].name", "x"),
        ("strategies[waves.2].stages.frist.name", "x"),
        ("strategies[waves.2].stages.rest.groups.prod.maxConcurrency", "\"300%\""),
        ("world.failures.probability.mean", "1"),
        ("world.durations.update.lognormal.medain", "20m"),
        ("name", "a b"),
        ("fleet.members", "3"),
    ]
    .iter()
    .map(|edit| match varied(&scenario(LUCKY), &[*edit]) {
        Ok(_) => panic!("{edit:?} is fine"),
        Err(said) => {
            assert!(said.contains("--vary:1:"), "{said}");
            said
        }
    })
    .collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("sweep-refused", said.join("\n\n")));
}

#[test]
fn x1_what_does_not_matter_changes_nothing() {
    let text = scenario(LUCKY);
    let base = outcomes(&read(&text));
    // Approvers without gates, and a limit above the group's size.
    for (path, value) in [
        ("world.people.approvers", "none"),
        ("strategies[waves.2].stages.rest.maxConcurrency", "50"),
        ("replications", "7"),
    ] {
        let found = outcomes(&varied(&text, &[(path, value)]).unwrap());
        assert_eq!(found, base, "{path}");
    }
    // What matters to one strategy only leaves the other as it was: the luck is the same.
    let wait = "strategies[waves.2].stages[0].afterStageWaitInSeconds";
    let found = outcomes(&varied(&text, &[(wait, "6000")]).unwrap());
    assert_eq!(found.by_strategy[0], base.by_strategy[0]);
    let pairs = found.by_strategy[1].iter().zip(&base.by_strategy[1]);
    let mut longer = 0;
    for (after, before) in pairs {
        let (after, before) = (after.makespan.unwrap(), before.makespan.unwrap());
        if (after - before).as_millis() == 3_600_000 {
            longer += 1;
        }
    }
    assert_eq!(longer, 20, "an hour more of waiting is an hour more, on the same luck");
}

#[test]
fn sensitivity_finds_what_is_known_of_a_toy() {
    // Constant durations, no failures, everything there from the start: one by one takes 90
    // minutes, and the waves 30 + 40 + 30.
    let base = read(&scenario("durations: {update: 30m}, failures: none, people: none"));
    let known = outcomes(&base);
    let minutes = |outcomes: &Outcomes| {
        let of =
            |runs: &Vec<fleetsim::sim::Outcome>| runs[0].makespan.unwrap().as_millis() / 60_000;
        outcomes.by_strategy.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(minutes(&known), [90, 100]);
    let trials = trials(&[&base]);
    let inputs: Vec<Input> = trials.iter().map(|trial| trial.input).collect();
    let [duration, poll] = ["world.durations.update", "update.pollInterval"].map(input);
    let wanted = [poll, poll, duration, duration];
    assert_eq!(inputs, wanted, "what is off, or has no sigma, is left out");
    let question = Question {
        metric: Question::default_metric(&base),
        has_members: true,
        horizon: base.horizon,
        confidence: Confidence::DEFAULT,
        deterministic: true,
    };
    assert_eq!(question.metric, Metric::Makespan);
    let mut seen = BTreeMap::new();
    for trial in &trials {
        let found = outcomes(&trial.scenarios[0]);
        let pair = [&known, &found];
        let changes = question.changes(pair);
        let means: Vec<f64> = changes
            .iter()
            .filter(|change| change.statistic == Statistic::Mean)
            .map(|change| change.change.unwrap() / 60.0)
            .collect();
        for change in &changes {
            let value = change.change.unwrap();
            assert_eq!(change.interval, Some(Interval::of(value, value)), "no luck, no doubt");
        }
        seen.insert((trial.input, trial.factor > 1.0), means);
        let overtaken = question.overtakings(pair);
        // 270 against 90 + 40 + 90 minutes: now the waves are faster.
        let is_slow = trial.input == duration && trial.factor > 1.0;
        let wanted: Vec<(usize, usize, bool)> = if is_slow { vec![(1, 0, true)] } else { vec![] };
        let found: Vec<_> = overtaken.iter().map(|o| (o.less, o.more, o.clear)).collect();
        assert_eq!(found, wanted, "{:?} × {}", trial.input, trial.factor);
        // And that they are is another answer to the question which is the faster one.
        let answers = question.answers(pair);
        let of_makespan = answers.iter().filter(|answer| answer.metric == Metric::Makespan);
        let wanted = Answer { metric: Metric::Makespan, was: 0, is: 1, clear: true };
        let wanted = if is_slow { vec![wanted] } else { vec![] };
        assert_eq!(of_makespan.copied().collect::<Vec<_>>(), wanted);
    }
    assert_eq!(seen[&(duration, false)], [-60.0, -40.0]);
    assert_eq!(seen[&(duration, true)], [180.0, 120.0]);
    assert_eq!(seen[&(poll, false)], [0.0, 0.0]);
    assert_eq!(seen[&(poll, true)], [0.0, 0.0]);
}

#[test]
fn sensitivity_caps_shares_and_pairs_by_luck() {
    let base = read(&scenario(LUCKY));
    let transient = input("world.failures.transient").multiplied(&base, 3.0);
    assert!(transient.is_none(), "all failures are transient already");
    let often = input("world.failures.probability").multiplied(&base, 20.0).unwrap();
    assert!((often.world.failures.as_ref().unwrap().probability - 1.0).abs() < 1e-12);
    // On the same luck a longer duration makes every single run longer.
    let (known, slow) = (
        outcomes(&base),
        outcomes(&input("world.durations.update").multiplied(&base, 3.0).unwrap()),
    );
    for (before, after) in known.by_strategy.iter().flatten().zip(slow.by_strategy.iter().flatten())
    {
        assert!(after.makespan.unwrap() > before.makespan.unwrap());
    }
}

/// Exit code, stdout and stderr.
fn said(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fleetsim"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toy.yaml"), scenario(LUCKY)).unwrap();
    folder
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_sweep_has_every_point_of_its_grid_and_the_results_of_plain_runs() {
    let folder = folder();
    let dir = folder.path();
    let wait = "strategies[waves.2].stages[0].afterStageWaitInSeconds";
    let vary = format!("{wait}=0..7200/3");
    let line = ["sweep", "toy.yaml", "--vary", &vary, "--vary", "update.pollInterval=30m,60m"];
    let (code, stdout, stderr) = said(dir, &[&line[..], &["-o", "out"]].concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("8 points, 20 replications"), "{stdout}");
    let table = rows(&dir.join("out/sweep.csv"));
    let makespans: Vec<_> = table
        .iter()
        .filter(|row| row["metric"] == "makespan" && row["statistic"] == "mean")
        .map(|row| (row[wait].as_str(), row["update.pollInterval"].as_str(), &row["strategy"]))
        .collect();
    assert_eq!(makespans.len(), 4 * 2 * 2);
    assert_eq!(makespans[2], ("0", "60m", &"one-by-one".to_owned()), "the last changes fastest");
    // The point that changes nothing is the plain comparison.
    let (code, ..) = said(dir, &["compare", "toy.yaml", "-o", "plain"]);
    assert_eq!(code, 0);
    let plain = rows(&dir.join("plain/summary.csv"));
    let keys = ["strategy", "metric", "statistic", "value", "low", "high"];
    let same = |row: &BTreeMap<String, String>| keys.map(|key| row[key].clone());
    let here = |row: &&BTreeMap<String, String>| {
        row[wait] == "2400" && row["update.pollInterval"] == "60m"
    };
    let point: Vec<_> = table.iter().filter(here).map(same).collect();
    let wanted: Vec<_> =
        plain.iter().filter(|row| row["statistic"] != "censored").map(same).collect();
    assert_eq!(point, wanted);
    for name in ["sweep-1.svg", "sweep-2.png", "front.svg", "front.png", "manifest.json"] {
        assert!(dir.join("out").join(name).exists(), "{name}");
    }
    // The same bytes again, with one thread.
    let again = ["--threads", "1", "-o", "again", "--format", "csv"];
    let (code, csv, _) = said(dir, &[&line[..], &again].concat());
    assert_eq!(code, 0);
    for name in ["sweep.csv", "front.csv", "sweep-1.png", "front.svg", "manifest.json"] {
        let [a, b] = ["out", "again"].map(|part| fs::read(dir.join(part).join(name)).unwrap());
        assert!(a == b, "{name}");
    }
    assert_eq!(csv, fs::read_to_string(dir.join("out/sweep.csv")).unwrap());
}

#[test]
fn the_front_is_what_no_other_row_beats() {
    let folder = folder();
    let dir = folder.path();
    let line = "sweep toy.yaml --vary world.failures.probability=0.02,0.2 --front \
                makespan,restarts -n 40 -o out";
    let (code, _, stderr) = said(dir, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code, 0, "{stderr}");
    let table = rows(&dir.join("out/front.csv"));
    assert_eq!(table.len(), 4);
    let number = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<f64>().unwrap();
    for row in &table {
        let costs = ["makespan", "restarts"];
        let beats = |other: &&BTreeMap<String, String>| {
            costs.iter().all(|key| number(other, key) <= number(row, key))
                && costs.iter().any(|key| number(other, key) < number(row, key))
        };
        assert_eq!(row["efficient"], table.iter().all(|o| !beats(&o)).to_string(), "{row:?}");
    }
    assert!(table.iter().any(|row| row["efficient"] == "true"));
    for wrong in ["makespan", "makespan,makespan", "makespan,updatedMembers", "makespan,speed"] {
        let line = ["sweep", "toy.yaml", "--vary", "seed=1", "--front", wrong];
        assert_eq!(said(dir, &line).0, 2, "{wrong}");
    }
}

#[test]
fn wrong_sweeps_exit_2_before_anything_is_simulated() {
    let folder = folder();
    let dir = folder.path();
    for wrong in [
        vec!["sweep", "toy.yaml"],
        vec!["sweep", "toy.yaml", "--vary", "update.pollInterval"],
        vec!["sweep", "toy.yaml", "--vary", "update.pollInterval=1m,soon"],
        vec!["sweep", "toy.yaml", "--vary", "seed=1", "--vary", "seed=2"],
        vec!["sweep", "toy.yaml", "--vary", "seed=1", "--sensitivity"],
        vec!["sweep", "toy.yaml", "--vary", "seed=1", "--metric", "makespan"],
        vec!["sweep", "toy.yaml", "--sensitivity", "--metric", "autoUpgrade.behind"],
        vec!["sweep", "toy.yaml", "--sensitivity", "--metric", "changes.done"],
        vec!["sweep", "toy.yaml", "--sensitivity", "--metric", "happiness"],
        vec![
            "sweep",
            "toy.yaml",
            "--vary",
            "fleet.members[0].updateGroup=nobody,canary",
            "--strategy",
            "x",
        ],
    ] {
        let (code, stdout, stderr) = said(dir, &wrong);
        assert_eq!((code, stdout.as_str()), (2, ""), "{wrong:?}: {stderr}");
    }
    let (_, _, stderr) =
        said(dir, &["sweep", "toy.yaml", "--vary", "update.pollIntervall=1m,2m,3m"]);
    assert!(stderr.contains("--vary:1:8") && stderr.contains("did you mean"), "{stderr}");
    assert_eq!(fs::read_dir(dir).unwrap().count(), 1, "nothing was written");
}

#[test]
fn sensitivity_on_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let line = ["sweep", "toy.yaml", "--sensitivity", "-n", "400", "-o", "out"];
    let (code, stdout, stderr) = said(dir, &line);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("world.durations.update"), "{stdout}");
    assert!(stdout.contains("one at a time") && stdout.contains("order:"), "{stdout}");
    let table = rows(&dir.join("out/sensitivity.csv"));
    let mean = |row: &&BTreeMap<String, String>| row["statistic"] == "mean";
    let sizes: Vec<(&str, f64)> = table
        .iter()
        .filter(mean)
        .map(|row| (row["input"].as_str(), row["change"].parse::<f64>().unwrap().abs()))
        .collect();
    let largest = sizes.iter().fold(&sizes[0], |a, b| if b.1 > a.1 { b } else { a });
    assert_eq!(largest.0, sizes[0].0, "what matters most comes first");
    for row in table.iter().filter(mean) {
        let [base, value, change] =
            ["base", "value", "change"].map(|key| row[key].parse::<f64>().unwrap());
        assert!((value - base - change).abs() < 0.01, "{row:?}");
        let [low, high] = ["low", "high"].map(|key| row[key].parse::<f64>().unwrap());
        assert!(low <= change && change <= high, "{row:?}");
    }
    let durations = |row: &&BTreeMap<String, String>| row["input"] == "world.durations.update";
    assert!(table.iter().filter(durations).all(|row| !row["low"].is_empty()), "p95s too");
    for name in ["sensitivity.svg", "sensitivity.png", "manifest.json"] {
        assert!(dir.join("out").join(name).exists(), "{name}");
    }
}

/// Whatever the answer is, and on however many threads it is computed.
#[test]
fn sensitivity_of_another_metric() {
    let folder = folder();
    let dir = folder.path();
    let line = ["sweep", "toy.yaml", "--sensitivity", "-n", "30", "--metric", "restarts"];
    let files = ["1", "2", "3"].map(|threads| {
        let out = format!("out-{threads}");
        let (code, stdout, stderr) =
            said(dir, &[&line[..], &["--threads", threads, "-o", &out]].concat());
        assert_eq!(code, 0, "{stderr}");
        assert!(
            stdout.contains("no restarts changes at all with: update.pollInterval"),
            "{stdout}"
        );
        let bytes = |name: &str| fs::read(dir.join(&out).join(name)).unwrap();
        [stdout.into_bytes(), bytes("sensitivity.csv"), bytes("sensitivity.svg")]
    });
    assert!(files[0] == files[1] && files[1] == files[2]);
    let table = rows(&dir.join("out-1/sensitivity.csv"));
    assert!(table.iter().all(|row| row["metric"] == "restarts"));
    // Every failure is followed by a restart here, so three times the probability has more of them.
    let more = |row: &&BTreeMap<String, String>| {
        let key = ["input", "factor", "statistic"].map(|key| row[key].as_str());
        key == ["world.failures.probability", "3", "mean"]
    };
    let changes: Vec<f64> =
        table.iter().filter(more).map(|row| row["change"].parse().unwrap()).collect();
    assert!(changes.len() == 2 && changes.iter().all(|change| *change > 0.0), "{changes:?}");
}

/// Without an update the answer is what profiles or configuration changes come to.
#[test]
fn sensitivity_without_an_update() {
    let text = include_str!("../../scenarios/rotate-ca.yaml");
    let scenario = read(text);
    assert_eq!(Question::default_metric(&scenario).to_string(), "changes.timeTo100");
    let text = include_str!("../../scenarios/auto-upgrade-year.yaml");
    assert_eq!(Question::default_metric(&read(text)).to_string(), "autoUpgrade.behind");
}

#[test]
fn variations_read_as_the_manual_says() {
    let found: Variation =
        "strategies.waves.stages[0].afterStageWaitInSeconds=0..172800/8".parse().unwrap();
    assert_eq!(found.values.len(), 9);
    assert!(found.values.iter().all(|value| value.parse::<u32>().is_ok()));
}
