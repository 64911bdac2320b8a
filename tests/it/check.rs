//! `check`: verdicts, exit codes, baselines, and what pipelines get to see.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;
use tempfile::TempDir;

const POOL: &str = "pools: [{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0}]";

/// Three members: one by one in 90 minutes, all together in 30; the clock begins at 08:00. `m3`
/// says what its update does.
fn scripted(m3: &str, checks: &str) -> String {
    format!(
        "name: small
start: 2026-03-02T08:00:00Z
horizon: 10d
fleet:
  members:
    - {{name: m1, region: westeurope, updateGroup: a, {POOL}}}
    - {{name: m2, region: westeurope, updateGroup: a, {POOL}}}
    - {{name: m3, region: westeurope, updateGroup: b, {POOL}}}
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}
strategies:
  - {{name: one}}
  - {{name: together, stages: [{{name: s, groups: [{{name: a, maxConcurrency: 2}}, {{name: b}}]}}]}}
script:
  updates: {{\"*\": {{takes: 30m}}, m3: {m3}}}
  releases: [{{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{\"*\": 2026-03-02T00:00:00Z}}}}]
checks:
{checks}"
    )
}

/// 20 members; their updates take a random time and fail now and then. `budget` is what the first
/// strategy allows.
fn lucky(seed: u64, budget: u32, checks: &str) -> String {
    format!(
        "name: lucky
start: 2026-03-02T08:00:00Z
horizon: 20d
seed: {seed}
replications: 200
fleet:
  populations:
    - {{count: 20, name: \"m-{{n:02}}\", region: westeurope, updateGroup: g, {POOL}}}
update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}}}
strategies:
  - {{name: narrow, stages: [{{name: s, maxAllowedFailures: {budget}, groups: [{{name: g, maxConcurrency: 2, maxAllowedFailures: {budget}}}]}}]}}
  - {{name: wide, stages: [{{name: s, maxAllowedFailures: 19, groups: [{{name: g, maxConcurrency: 10, maxAllowedFailures: 19}}]}}]}}
world: {{failures: {{probability: 0.05, transient: 0}}, people: {{restart: none}}}}
script:
  releases: [{{nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {{\"*\": 2026-03-02T00:00:00Z}}}}]
checks:
{checks}"
    )
}

/// A folder with a scenario in it.
struct Place(TempDir);

impl Place {
    fn with(text: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write(text);
        place
    }

    fn write(&self, text: &str) {
        fs::write(self.path().join("s.yaml"), text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fleetsim"));
        command.args(line.split_whitespace()).current_dir(self.path());
        for name in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "TF_BUILD", "BUILD_SOURCESDIRECTORY"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    fn check(&self, more: &str) -> (i32, String) {
        let output = self.run(&format!("check s.yaml -q {more}"));
        (code(&output), stdout(&output).to_owned())
    }

    fn json(&self, more: &str) -> (i32, Value) {
        let (code, text) = self.check(&format!("--format json {more}"));
        (code, serde_json::from_str(&text).unwrap())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

const TAKES: &str = "{takes: 30m}";
const FAILS: &str = "[{takes: 10m, fails: PodDrainFailure}]";

/// The exit code of one check on the scripted scenario.
fn scripted_check(m3: &str, check: &str) -> i32 {
    let (code, text) = Place::with(&scripted(m3, &format!("  - {{{check}}}\n"))).check("");
    assert!(!text.is_empty());
    code
}

#[test]
fn without_luck_every_check_is_decided_and_bounds_include_themselves() {
    for (check, expected) in [
        ("strategy: one, metric: makespan, statistic: mean, atMost: 90m", 0),
        ("strategy: one, metric: makespan, statistic: p95, atMost: 90m", 0),
        ("strategy: one, metric: makespan, statistic: p95, atLeast: 90m", 0),
        ("strategy: one, metric: makespan, atMost: 5399s", 1),
        ("strategy: one, metric: makespan, atLeast: 5401s", 1),
        ("strategy: \"*\", metric: makespan, atMost: 90m", 0),
        ("strategy: \"*\", metric: makespan, atMost: 1h", 1),
        ("metric: updatedMembers, atLeast: 3", 0),
        ("metric: failedMembers, atMost: 0", 0),
        ("metric: outcome.Completed, atLeast: 1", 0),
        ("metric: outcome.Failed, atMost: 0", 0),
        ("metric: delay.concurrency, statistic: p50, atMost: 1h", 0),
        ("strategy: together, metric: makespan, lessThan: one", 0),
        ("strategy: one, metric: makespan, lessThan: together", 1),
        ("strategy: together, metric: makespan, statistic: p95, lessThan: one", 0),
        ("strategy: one, metric: makespan, statistic: p95, lessThan: together", 1),
        ("strategy: one, metric: failedMembers, lessThan: together", 1),
        ("metric: completedBy, by: 2026-03-02, atLeast: 1", 0),
        ("metric: completedBy, by: 2026-03-01, atMost: 0", 0),
        ("strategy: one, metric: completedBy, by: \"2026-03-02T09:30:01Z\", atLeast: 1", 0),
        ("strategy: one, metric: completedBy, by: \"2026-03-02T09:30:00Z\", atLeast: 1", 1),
    ] {
        assert_eq!(scripted_check(TAKES, check), expected, "{check}");
    }
}

#[test]
fn x5_what_the_horizon_cut_off_is_never_good_news() {
    for (check, expected) in [
        // Failed: the makespan is beyond 10 d, and nobody knows where.
        ("strategy: one, metric: makespan, statistic: p95, atMost: 9d", 1),
        ("strategy: one, metric: makespan, statistic: p95, atMost: 10d", 1),
        ("strategy: one, metric: makespan, statistic: p95, atMost: 11d", 3),
        ("strategy: one, metric: makespan, statistic: p95, atLeast: 10d", 0),
        ("strategy: one, metric: makespan, atMost: 9d", 1),
        ("strategy: one, metric: makespan, atMost: 10d", 3),
        ("strategy: one, metric: makespan, atLeast: 10d", 0),
        ("strategy: one, metric: makespan, lessThan: together", 3),
        ("strategy: one, metric: outcome.Failed, atLeast: 1", 0),
        ("strategy: one, metric: completedBy, by: 2026-03-05, atLeast: 0.5", 1),
        ("strategy: one, metric: completedBy, by: 2026-04-05, atLeast: 0.5", 3),
    ] {
        assert_eq!(scripted_check(FAILS, check), expected, "{check}");
    }
    let check = "  - {strategy: one, metric: makespan, atLeast: 1d}\n";
    let (_, found) = Place::with(&scripted(FAILS, check)).json("");
    let found = &found["checks"][0];
    assert_eq!(found["restricted"], true);
    assert_eq!((&found["low"], &found["high"]), (&Value::from(864_000.0), &Value::Null));
    let (_, text) = Place::with(&scripted(FAILS, check)).check("");
    assert!(
        text.contains("≥ 10d") && text.contains("a restricted mean is a lower bound"),
        "{text}"
    );
}

#[test]
fn with_luck_checks_hold_fail_or_stay_undecided() {
    let place = |check: &str| Place::with(&lucky(1, 19, &format!("  - {{{check}}}\n")));
    for (check, n, expected) in [
        ("strategy: wide, metric: makespan, statistic: mean, atMost: 5d", 50, 0),
        ("strategy: wide, metric: makespan, statistic: mean, atMost: 1m", 50, 1),
        ("strategy: wide, metric: failedMembers, atMost: 1", 50, 3),
        ("strategy: \"*\", metric: failedMembers, atMost: 2", 100, 0),
        ("strategy: wide, metric: makespan, lessThan: narrow", 50, 0),
        ("strategy: narrow, metric: makespan, lessThan: wide", 50, 1),
        ("strategy: wide, metric: makespan, statistic: p50, lessThan: narrow", 50, 0),
        ("strategy: narrow, metric: makespan, statistic: p50, lessThan: wide", 50, 1),
        ("metric: completedBy, by: 2026-03-10, atLeast: 0.9", 100, 0),
        ("metric: completedBy, by: 2026-03-10, atLeast: 0.999", 100, 3), // Wilson, not 100 of 100
        ("metric: outcome.Failed, atLeast: 0.5", 100, 1),
        ("strategy: wide, metric: makespan, statistic: p95, atMost: 5d", 20, 3), // no upper end
        ("strategy: wide, metric: makespan, statistic: p95, atMost: 1m", 20, 1),
        ("strategy: wide, metric: makespan, atMost: 5d", 1, 3),
        ("strategy: wide, metric: makespan, lessThan: narrow", 1, 3),
    ] {
        let (code, text) = place(check).check(&format!("-n {n}"));
        assert_eq!(code, expected, "{check}\n{text}");
    }
}

#[test]
fn the_worst_verdict_decides_and_strict_turns_undecided_into_failed() {
    let (holds, fails, open) = (
        "  - {strategy: wide, metric: makespan, atMost: 5d}\n",
        "  - {strategy: wide, metric: makespan, atMost: 1m}\n",
        "  - {strategy: wide, metric: failedMembers, atMost: 1}\n",
    );
    for (checks, plain, strict) in [
        (holds.to_owned(), 0, 0),
        ([holds, open].concat(), 3, 1),
        ([holds, open, fails].concat(), 1, 1),
    ] {
        let place = Place::with(&lucky(1, 19, &checks));
        assert_eq!(place.check("-n 50").0, plain, "{checks}");
        assert_eq!(place.check("-n 50 --strict").0, strict, "{checks}");
    }
}

#[test]
fn under_strict_warnings_are_errors() {
    let text = scripted(TAKES, "  - {metric: makespan, atMost: 1d}\n");
    let text = text.replace(", {name: b}]", "]").replace("updateGroup: b", "updateGroup: nobody");
    let place = Place::with(&text);
    assert_eq!(code(&place.run("check s.yaml")), 0);
    let output = place.run("check s.yaml --strict");
    assert_eq!(code(&output), 2);
    let said = stderr(&output);
    assert!(said.contains("error[") && said.contains("in no group"), "{said}");
    assert!(stdout(&output).contains("all 2 checks hold"), "they are made all the same");
    place.write(&text.replace("atMost: 1d", "atMost: 1m"));
    assert_eq!(code(&place.run("check s.yaml --strict")), 1, "a check that fails comes first");
}

#[test]
fn a_star_stands_for_each_strategy_but_the_one_compared_with() {
    let checks = "  - {strategy: \"*\", metric: makespan, lessThan: one}\n  - {metric: makespan, atMost: 1d}\n";
    let (code, found) = Place::with(&scripted(TAKES, checks)).json("");
    assert_eq!(code, 0);
    let rows = found["checks"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["together", "one", "together"]);
    assert_eq!((&rows[0]["value"], &rows[0]["lessThan"]), (&Value::from(-3_600.0), &"one".into()));
    assert_eq!((&rows[1]["line"], &rows[1]["column"]), (&18.into(), &5.into()));
    assert_eq!(found["passed"], 3);
}

#[test]
fn what_cannot_be_checked_is_an_input_error_and_never_a_pass() {
    let mut said = Vec::new();
    for check in [
        "metric: makspan, atMost: 1d",
        "metric: changes.done, atMost: 1",
        "strategy: onee, metric: makespan, atMost: 1d",
        "strategy: one, metric: makespan, lessThan: one",
        "metric: makespan, statistic: q95, atMost: 1d",
        "metric: makespan, statistic: p99.999, atMost: 1d",
        "metric: outcome.Completed, statistic: p95, atLeast: 0.5",
    ] {
        let place = Place::with(&scripted(TAKES, &format!("  - {{{check}}}\n")));
        let output = place.run("check s.yaml");
        assert_eq!((code(&output), stdout(&output)), (2, ""), "{check}");
        said.push(stderr(&output).to_owned());
    }
    let place = Place::with(&scripted(TAKES, "").replace("checks:\n", ""));
    let output = place.run("check s.yaml");
    assert_eq!((code(&output), stdout(&output)), (2, ""));
    said.push(stderr(&output).to_owned());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("check-refused", said.join("\n")));
}

/// Every kind of line, on the scripted scenario and on one with luck.
const ALL_KINDS: &str = "  - {strategy: wide, metric: makespan, statistic: p95, atMost: 5d}
  - {strategy: \"*\", metric: failedMembers, atMost: 1}
  - {strategy: wide, metric: makespan, lessThan: narrow, confidence: 0.99}
  - {strategy: narrow, metric: timeTo90, statistic: p50, lessThan: wide}
  - {strategy: wide, metric: completedBy, by: 2026-03-02, atLeast: 0.9}
";

#[test]
fn the_lines_read_well() {
    let place = Place::with(&lucky(1, 19, ALL_KINDS));
    let (code, text) = place.check("-n 100");
    assert_eq!(code, 1);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let markdown = place.check("-n 100 --format md").1;
    let csv = place.check("-n 100 --format csv").1;
    settings.bind(|| {
        insta::assert_snapshot!("check-lines", text);
        insta::assert_snapshot!("check-markdown", markdown);
        insta::assert_snapshot!("check-csv", csv);
    });
    place.check("-n 100 --markdown m.md");
    assert_eq!(place.read("m.md"), markdown);
}

#[test]
fn x3_the_same_bytes_from_one_thread_and_from_two() {
    let place = Place::with(&lucky(1, 19, ALL_KINDS));
    let one = place.check("-n 60 --threads 1 --format json --junit one.xml").1;
    assert_eq!(one, place.check("-n 60 --threads 2 --format json --junit two.xml").1);
    assert_eq!(place.read("one.xml"), place.read("two.xml"));
}

#[test]
fn a_baseline_of_the_same_runs_shows_no_drift_at_all() {
    let place = Place::with(&lucky(1, 19, ""));
    assert_eq!(code(&place.run("compare s.yaml -q -o base")), 0);
    let (code, found) = place.json("--baseline base");
    assert_eq!((code, &found["baselineDiffers"]), (0, &Value::Array(Vec::new())));
    let drifts = found["drifts"].as_array().unwrap();
    assert_eq!(drifts.len(), 10);
    for drift in drifts {
        assert_eq!((&drift["verdict"], &drift["paired"]), (&"pass".into(), &true.into()));
        assert_eq!(drift["value"], 0.0, "{drift}");
        if drift["statistic"] == "mean" {
            assert_eq!((&drift["low"], &drift["high"]), (&0.0.into(), &0.0.into()), "{drift}");
        }
    }
}

#[test]
fn a_change_that_matters_drifts_and_says_from_where_to_where() {
    let place = Place::with(&lucky(1, 19, ""));
    place.run("compare s.yaml -q -o base");
    place.write(&lucky(1, 0, ""));
    let (code, found) = place.json("--baseline base");
    assert_eq!(code, 1);
    let drifted: Vec<_> = found["drifts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|drift| drift["verdict"] == "fail")
        .map(|drift| (drift["strategy"].as_str().unwrap(), drift["metric"].as_str().unwrap()))
        .collect();
    assert!(drifted.contains(&("narrow", "outcome.Completed")), "{drifted:?}");
    assert!(drifted.iter().all(|(strategy, _)| *strategy == "narrow"), "{drifted:?}");
    let (_, text) = place.check("--baseline base");
    assert!(text.contains("drift from 100 % to "), "{text}");
    assert!(
        text.contains("baseline: the scenario, or a file that it reads, has changed"),
        "{text}"
    );
}

#[test]
fn other_seeds_and_numbers_are_compared_unpaired_and_said_so() {
    let place = Place::with(&lucky(1, 19, ""));
    place.run("compare s.yaml -q -o base");
    let (code, found) = place.json("--baseline base -n 150");
    assert_eq!(code, 0, "{found}");
    assert!(found["drifts"].as_array().unwrap().iter().all(|drift| drift["paired"] == false));
    let differs = found["baselineDiffers"][0].as_str().unwrap();
    assert!(
        differs.contains("200 replications, this has 150: not paired; use -n 200"),
        "{differs}"
    );
    place.write(&lucky(2, 19, ""));
    let (code, text) = place.check("--baseline base");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("the baseline's seed is 1, this one's 2: not paired"), "{text}");
    assert!(text.contains(", unpaired"), "{text}");
}

#[test]
fn strategies_on_one_side_only_are_named() {
    let place = Place::with(&lucky(1, 19, ""));
    place.run("compare s.yaml -q -o base");
    place.write(&lucky(1, 19, "").replace("name: wide", "name: wider"));
    let (code, text) = place.check("--baseline base");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("strategy `wide` of the baseline is not in the scenario"), "{text}");
    assert!(text.contains("strategy `wider` is not in the baseline"), "{text}");
    place.write(
        &lucky(1, 19, "").replace("name: wide", "name: x").replace("name: narrow", "name: y"),
    );
    let output = place.run("check s.yaml --baseline base");
    assert_eq!(code_and_text(&output).0, 2);
    assert!(code_and_text(&output).1.contains("no strategy in common"), "{output:?}");
    let output = place.run("check s.yaml --baseline nowhere");
    assert_eq!(code_and_text(&output).0, 2);
    assert!(code_and_text(&output).1.contains("manifest.json"), "{output:?}");
}

fn code_and_text(output: &Output) -> (i32, &str) {
    (code(output), stderr(output))
}

#[test]
fn without_luck_any_difference_is_drift() {
    let place = Place::with(&scripted(TAKES, ""));
    place.run("compare s.yaml -q -o base -n 3");
    assert_eq!(place.check("--baseline base").0, 0);
    place.write(&scripted("{takes: 1801s}", ""));
    let (code, found) = place.json("--baseline base");
    assert_eq!(code, 1);
    let first = &found["drifts"][0];
    assert_eq!((&first["low"], &first["high"]), (&1.0.into(), &1.0.into()));
    assert_eq!((&first["before"], &first["after"]), (&5400.0.into(), &5401.0.into()));
    assert_eq!((&first["line"], &first["column"]), (&11.into(), &5.into()));
}

#[test]
fn junit_is_well_formed_and_tells_every_verdict() {
    let checks = format!("{ALL_KINDS}  - {{strategy: wide, metric: makespan, atMost: 1m}}\n");
    let place = Place::with(&lucky(1, 19, &checks));
    let undecided = |strict: &str| {
        place.check(&format!("-n 100 --junit j.xml {strict}"));
        let report = Report::deserialize_from_str(&place.read("j.xml")).unwrap();
        assert_eq!((report.tests, report.failures + report.errors > 0), (7, true));
        let suite = report.test_suites[0].clone();
        assert_eq!(suite.name.as_str(), "lucky: checks");
        let last = suite.test_cases.last().unwrap();
        assert_eq!(last.name.as_str(), "wide: makespan mean at most 1m");
        assert_eq!(last.classname.as_ref().unwrap().as_str(), "lucky");
        assert_eq!(last.extra["file"].as_str(), "s.yaml");
        let TestCaseStatus::NonSuccess { kind, message, .. } = &last.status else {
            panic!("it fails: {last:?}")
        };
        assert_eq!(*kind, NonSuccessKind::Failure);
        assert!(message.as_ref().unwrap().as_str().contains("not at most 1m"), "{message:?}");
        suite.test_cases[1].status.clone()
    };
    assert!(matches!(undecided(""), TestCaseStatus::Skipped { .. }));
    assert!(matches!(undecided("--strict"), TestCaseStatus::NonSuccess { .. }));
}

#[test]
fn pipelines_get_annotations_at_the_checks_line() {
    let checks = "  - {metric: makespan, atMost: 1d}\n  - {strategy: one, metric: outcome.Completed, atMost: 0}\n";
    let place = Place::with(&scripted(TAKES, checks));
    let github = place.command("check s.yaml -q").env("GITHUB_ACTIONS", "true").output().unwrap();
    let lines: Vec<&str> = stdout(&github).lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(
        lines,
        ["::error file=s.yaml,line=18,col=5,title=fleetsim check::one: outcome.Completed is \
          100 %25 [100 %25, 100 %25], not at most 0 %25"]
    );
    let azure = place.command("check s.yaml -q").env("TF_BUILD", "True").output().unwrap();
    let lines: Vec<&str> = stdout(&azure).lines().filter(|line| line.starts_with("##")).collect();
    assert_eq!(
        lines,
        ["##vso[task.logissue type=error;sourcepath=s.yaml;linenumber=18;columnnumber=5;]one: \
          outcome.Completed is 100 %AZP25 [100 %AZP25, 100 %AZP25], not at most 0 %AZP25"]
    );
    let plain = place.run("check s.yaml -q");
    assert!(!stdout(&plain).contains("::error") && !stdout(&plain).contains("##vso"));
}

#[test]
fn annotations_are_one_line_each_and_leave_machine_formats_alone() {
    let check = "  - {strategy: one, metric: makespan, atMost: 10d}\n";
    let place = Place::with(&scripted(FAILS, check));
    let mut command = place.command("check s.yaml -q --format json");
    let output = command.env("GITHUB_ACTIONS", "true").output().unwrap();
    assert_eq!(code(&output), 3);
    serde_json::from_str::<Value>(stdout(&output)).unwrap();
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("::warning file=s.yaml,line=17,"), "{said}");
    assert!(said.contains("%0Arestricted mean"), "{said}");
    let strict = place.command("check s.yaml -q --strict").env("GITHUB_ACTIONS", "true").output();
    assert!(stdout(&strict.unwrap()).contains("::error file=s.yaml,line=17,"));
}

#[test]
fn annotated_files_are_named_from_the_repositorys_root() {
    let check = "  - {strategy: one, metric: makespan, atMost: 1m}\n";
    let place = Place::with(&scripted(TAKES, check));
    let inner = place.path().join("fleet, prod");
    fs::create_dir(&inner).unwrap();
    fs::copy(place.path().join("s.yaml"), inner.join("s.yaml")).unwrap();
    let root = place.path().canonicalize().unwrap();
    let mut command = place.command("check s.yaml -q");
    command.current_dir(root.join("fleet, prod")).env("GITHUB_ACTIONS", "true");
    let output = command.env("GITHUB_WORKSPACE", &root).output().unwrap();
    assert!(stdout(&output).contains("::error file=fleet%2C prod/s.yaml,line=17,"), "{output:?}");
}

/// Checks that 100 replications leave open, one closer than the other.
fn close_checks() -> String {
    lucky(
        1,
        19,
        "  - {strategy: wide, metric: failedMembers, atMost: 1.2}\n  - {strategy: wide, metric: \
         makespan, statistic: p95, atMost: 5d}\n",
    )
}

#[test]
fn x6_replications_are_added_until_checks_are_decided() {
    let place = Place::with(&close_checks());
    let (code, found) = place.json("-n 100");
    assert_eq!((code, &found["checks"][0]["verdict"]), (3, &"undecided".into()));
    let (code, found) = place.json("--max-replications 20000");
    assert_eq!(code, 0, "{found}");
    let [first, second] = [0, 1].map(|n| &found["checks"][n]);
    assert_eq!((&first["verdict"], &second["verdict"]), (&"pass".into(), &"pass".into()));
    assert_eq!(second["replications"], 100, "what is clear is settled at the first look");
    let last = first["replications"].as_u64().unwrap();
    assert!(last > 100 && found["replications"] == last, "{found}");
    // The interval is that of the looks: wider than the same replications alone would have it.
    let (_, alone) = place.json(&format!("-n {last}"));
    let width = |of: &Value| of["high"].as_f64().unwrap() - of["low"].as_f64().unwrap();
    assert_eq!(first["value"], alone["checks"][0]["value"]);
    assert!(width(first) > 1.2 * width(&alone["checks"][0]), "{first}");
    let (_, text) = place.check("--max-replications 20000 --threads 1");
    assert!(text.contains("95 % intervals that cover however often one looks"), "{text}");
}

#[test]
fn x6_the_limit_leaves_checks_undecided_and_precision_ends_what_is_too_close() {
    let place = Place::with(&close_checks());
    let (code, text) = place.check("--max-replications 150");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("about --max-replications "), "{text}");
    assert!(text.contains("up to 150 replications each"), "{text}");
    assert_eq!(place.check("--max-replications 150 --strict").0, 1);
    let (code, found) = place.json("--precision 30%");
    assert_eq!(code, 3, "{found}");
    let notes = found["checks"][0]["notes"].to_string();
    assert!(notes.contains("too near to call"), "{notes}");
    assert_eq!(found["replications"], 100);
    for wrong in ["--max-replications 0", "--precision 0", "--max-replications 500 --baseline base"]
    {
        assert_eq!(place.check(wrong).0, 2, "{wrong}");
    }
    // Without luck, one replication decides.
    place.write(&scripted(TAKES, "  - {metric: makespan, atMost: 1d}\n"));
    let (code, found) = place.json("--max-replications 5000");
    assert_eq!((code, &found["replications"]), (0, &1.into()));
}
