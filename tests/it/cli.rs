//! The command line, as people and scripts meet it: exit codes, streams, texts, files.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/inputs/cli")
}

fn command(line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fleetsim"));
    command.args(line.split_whitespace()).current_dir(inputs()).env_remove("RAYON_NUM_THREADS");
    command
}

fn fleetsim(line: &str) -> Output {
    command(line).output().unwrap()
}

fn code(line: &str) -> i32 {
    fleetsim(line).status.code().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn json(line: &str) -> Value {
    let output = fleetsim(line);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(stdout(&output)).unwrap()
}

/// Both streams and the exit code, for snapshots.
fn shown(line: &str) -> String {
    let output = fleetsim(line);
    let code = output.status.code().unwrap();
    format!("{}\n--- stderr\n{}\n--- exit code {code}", stdout(&output), stderr(&output))
}

macro_rules! snapshot {
    ($name:literal, $line:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(concat!("cli-", $name), shown($line)));
    };
}

#[test]
fn texts_are_as_they_were_looked_at() {
    snapshot!("validate-fine", "validate twin.yaml drawn.yaml");
    snapshot!("validate-broken", "validate broken.yaml twice.yaml rolout.yaml");
    snapshot!("validate-alone", "validate careful.json wrong.json window.json --from 2026-04-14");
    snapshot!("validate-fleet", "validate members.json clusters.json");
    snapshot!("plan", "plan rollout.yaml");
    snapshot!("plan-drawn", "plan drawn.yaml --strategy one-by-one");
    snapshot!("plan-kubernetes", "plan kubernetes.yaml");
    snapshot!("plan-consistent", "plan consistent.yaml");
    snapshot!("plan-md", "plan twin.yaml --format md");
    snapshot!("plan-json", "plan twin.yaml --format json");
    snapshot!("run", "run rollout.yaml");
    snapshot!("run-until", "run rollout.yaml --until 20h -q");
    snapshot!("run-failed", "run rollout.yaml --strategy one-by-one");
    snapshot!("run-gate", "run twin.yaml --until 2h30m --format md");
    snapshot!("unknown-strategy", "run rollout.yaml --strategy carful");
}

#[test]
fn exit_codes_are_the_documented_ones() {
    for (line, expected) in [
        ("validate twin.yaml", 0),
        ("validate rollout.yaml", 0), // warnings only
        ("validate broken.yaml", 2),
        ("validate twin.yaml twice.yaml", 2),
        ("validate nowhere.yaml", 2),
        ("validate", 2),
        ("plan twin.yaml", 0),
        ("plan twice.yaml", 0),
        ("plan twice.yaml --strategy twice", 2),
        ("run rollout.yaml", 0),
        ("run rollout.yaml --strategy one-by-one", 0), // ends Failed
        ("run twin.yaml --until 2026-03-01", 2),
        ("run twin.yaml --until soon", 2),
        ("run twin.yaml --status no/such/folder.json", 2),
        ("run twin.yaml --timeline picture.gif", 2),
        ("compare twin.yaml --threads 0", 2),
        ("compare twin.yaml -n 0", 2),
        ("frobnicate", 2),
        ("--version", 0),
        ("--help", 0),
        ("compare --help", 0),
    ] {
        assert_eq!(code(line), expected, "{line}");
    }
}

#[test]
fn results_go_to_stdout_and_everything_else_to_stderr() {
    let output = fleetsim("run rollout.yaml --format json");
    let value: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(value["state"], "Completed");
    assert!(stderr(&output).contains("warning[members-in-no-group]"));
    let wrong = fleetsim("run broken.yaml");
    assert_eq!(stdout(&wrong), "");
    assert!(stderr(&wrong).starts_with("broken.yaml:3:10: error[wrong-type]"));
    assert!(stderr(&wrong).contains("hint: did you mean `region`?"));
}

#[test]
fn r_f6_refused_actions_are_a_line_each_on_stderr_even_when_quiet() {
    let output = fleetsim("run rollout.yaml --quiet");
    assert_eq!(
        stderr(&output),
        "refused: 10m approve stage:prod/before: the gate has not been reached yet\n\
         refused: 12h skip Member:nobody: the update run has nothing of that name\n"
    );
    let value = json("run rollout.yaml -q --format json");
    assert_eq!(value["refused"][0]["at"], "10m");
    assert_eq!(value["refused"].as_array().unwrap().len(), 2);
}

#[test]
fn r_k2_events_are_written_as_one_compact_object_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let output = fleetsim(&format!("run twin.yaml --events {}", path.display()));
    assert!(output.status.success());
    // By hand: a 08–09, b 09–10, the group's after-gate from 10 on, approved at 11.
    let line = |hour: u32, kind: &str, rest: &str| {
        format!(
            "{{\"time\":\"2026-03-02T{hour:02}:00:00Z\",\"kind\":\"{kind}\",\"run\":\"twin\"{rest}}}\n"
        )
    };
    let (stage, group) = (r#","stage":"s""#, r#","stage":"s","group":"g""#);
    let (a, b) = (format!(r#"{group},"member":"a""#), format!(r#"{group},"member":"b""#));
    let gate = format!(r#"{group},"gate":"after/ünlocked""#);
    let expected = [
        line(8, "runStarted", ""),
        line(8, "stageStarted", stage),
        line(8, "groupStarted", group),
        line(8, "memberStarted", &a),
        line(9, "memberCompleted", &a),
        line(9, "memberStarted", &b),
        line(10, "memberCompleted", &b),
        line(10, "gatePending", &gate),
        line(10, "groupPending", group),
        line(10, "stagePending", stage),
        line(10, "runPending", ""),
        line(11, "gateCompleted", &gate),
        line(11, "groupCompleted", group),
        line(11, "stageCompleted", stage),
        line(11, "runCompleted", ""),
    ];
    assert_eq!(fs::read_to_string(&path).unwrap(), expected.concat());
    // On stdout, the summary makes room.
    let output = fleetsim("run twin.yaml --events -");
    assert_eq!(stdout(&output), expected.concat());
    assert!(stderr(&output).starts_with("twin: strategy gated"));
}

#[test]
fn r_a7_until_is_inclusive() {
    let state = |until: &str| {
        let value = json(&format!("run twin.yaml --format json --until {until}"));
        value["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("3h"), "Completed");
    assert_eq!(state("2026-03-02T11:00:00Z"), "Completed");
    assert_eq!(state("2h59m59s"), "Pending");
    assert_eq!(state("0"), "Running");
    assert_eq!(state("3000d"), "Completed");
}

#[test]
fn an_unfinished_run_names_what_it_waits_for() {
    let kinds = |line: &str| {
        let value = json(line);
        let waits = value["waitingFor"].as_array().unwrap();
        waits.iter().map(|wait| wait["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let run = |until: &str| kinds(&format!("run rollout.yaml -q --format json --until {until}"));
    assert_eq!(run("10m"), ["updating", "notTried"]);
    assert_eq!(run("20h"), ["afterStageWait", "notTried"]);
    assert_eq!(run("25h"), ["approval", "notTried"]);
    assert_eq!(run("26h"), ["scheduledStart", "MaintenanceWindowClosed", "notTried"]);
    assert_eq!(run("14d"), Vec::<String>::new());
    let failed = kinds("run rollout.yaml -q --format json --strategy one-by-one");
    assert_eq!(failed, ["start", "notTried"]);
}

#[test]
fn status_is_the_arm_resource_under_the_scenarios_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("status.json");
    assert_eq!(code(&format!("run twin.yaml --until 90m --status {}", path.display())), 0);
    let status: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(status["name"], "twin");
    let members = &status["properties"]["status"]["stages"][0]["groups"][0]["members"];
    assert_eq!(members[0]["status"]["state"], "Completed");
    assert_eq!(members[1]["status"]["state"], "Running");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is written");
}

#[test]
fn the_timeline_is_drawn_by_the_files_ending() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [("t.svg", &b"<svg"[..]), ("t.PNG", &b"\x89PNG"[..])] {
        let path = folder.path().join(name);
        assert_eq!(code(&format!("run twin.yaml --timeline {}", path.display())), 0);
        let bytes = fs::read(&path).unwrap();
        let head = &bytes[..bytes.len().min(400)];
        assert!(head.windows(begins.len()).any(|part| part == begins), "{name}");
    }
}

#[test]
fn a_scenario_can_come_from_stdin() {
    let text = fs::read(inputs().join("twin.yaml")).unwrap();
    let mut child = command("run - --format json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let output = child.wait_with_output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["scenario"], "twin");
    assert_eq!(code("validate - -"), 2);
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = command("plan -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads any more before the program has anything to say.
    drop(child.stdout.take());
    let text = fs::read(inputs().join("twin.yaml")).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[test]
fn files_that_are_not_there_are_named_with_who_named_them() {
    let output = fleetsim("run rolout.yaml");
    assert_eq!(
        stderr(&output),
        "error[file]: rolout.yaml, named on the command line, cannot be read: there is no such \
         file\n  hint: did you mean rollout.yaml?\n"
    );
    let output = command("run cli/broken.yaml").current_dir(inputs().join("..")).output().unwrap();
    let text = stderr(&output);
    assert!(
        text.contains("cli/broken.yaml:9:21: error[file]: `nowhere.json` cannot be read"),
        "{text}"
    );
    assert!(text.contains("(cli/nowhere.json)"), "{text}");
}

#[test]
fn no_colour_codes_reach_pipes_or_no_color() {
    for line in ["run broken.yaml", "validate broken.yaml", "frobnicate"] {
        let output = command(line).env("NO_COLOR", "1").output().unwrap();
        for stream in [stdout(&output), stderr(&output)] {
            assert!(!stream.contains('\x1b'), "{line}: {stream}");
        }
    }
}

#[test]
fn another_seed_draws_another_fleet() {
    let regions = |seed: &str| {
        let plan = json(&format!("plan drawn.yaml --format json --strategy one-by-one {seed}"));
        let members = plan["stages"][0]["groups"][0]["members"].as_array().unwrap().clone();
        members.iter().map(|member| member["region"].to_string()).collect::<String>()
    };
    assert_eq!(regions(""), regions("--seed 7"));
    assert_ne!(regions(""), regions("--seed 8"));
}

#[test]
fn a_run_is_the_replication_that_compare_counts() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(&format!("compare drawn.yaml -q -n 8 -o {}", folder.path().display())), 0);
    let runs = fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    let mut lines = runs.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "makespan").unwrap();
    let makespan = lines.find(|line| line.starts_with("waves,5,")).unwrap().split(',').nth(column);
    let run = json("run drawn.yaml --replication 5 --format json");
    let seconds: Value = serde_json::from_str(makespan.unwrap()).unwrap();
    assert_eq!(seconds.as_f64(), run["metrics"]["makespan"].as_f64());
}

/// The files of a folder by name, with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    let mut files: Vec<_> = entries.map(read).collect();
    files.sort();
    files
}

#[test]
fn x3_compare_writes_the_same_bytes_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("deep/one"), folder.path().join("two"));
    let first = fleetsim(&format!("compare drawn.yaml --threads 1 -o {}", one.display()));
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(stdout(&first).contains("waves"), "the table is the result");
    assert!(stderr(&first).contains(" on 1 thread: "), "{}", stderr(&first));
    assert!(stderr(&first).contains(&format!("wrote {}", one.display())));
    let second = command(&format!("compare drawn.yaml -o {}", two.display()))
        .env("RAYON_NUM_THREADS", "3")
        .output()
        .unwrap();
    assert!(stderr(&second).contains(" on 3 threads: "), "{}", stderr(&second));
    assert_eq!(files(&one), files(&two));
    assert_eq!(first.stdout, second.stdout);
    // The same scenario again replaces its results; they do not change.
    assert_eq!(code(&format!("compare drawn.yaml -q -o {}", two.display())), 0);
    assert_eq!(files(&one), files(&two));
}

#[test]
fn results_of_something_else_are_refused_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
    let line = format!("compare twin.yaml -q -n 1 -o {}", folder.path().display());
    let refused = fleetsim(&line);
    assert_eq!((refused.status.code(), stdout(&refused)), (Some(2), ""));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    assert_eq!(files(folder.path()).len(), 1, "nothing was written");
    assert_eq!(code(&format!("{line} --force")), 0);
    assert!(folder.path().join("manifest.json").exists());
}

#[test]
fn several_scenarios_get_a_subfolder_each() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("compare twin.yaml drawn.yaml -n 2 -o {}", folder.path().display());
    let output = fleetsim(&format!("{line} --format csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let headings = stdout(&output).lines().filter(|line| line.contains("statistic")).count();
    assert_eq!(headings, 1);
    assert!(stdout(&output).lines().any(|line| line.starts_with("drawn,waves,makespan,")));
    for name in ["twin", "drawn"] {
        assert!(folder.path().join(name).join("runs.csv").exists(), "{name}");
    }
    assert_eq!(code("compare twin.yaml twin.yaml"), 2);
}

#[test]
fn compare_takes_some_of_the_strategies() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    let line = format!("compare drawn.yaml -n 2 -o {folder} --strategy one-by-one --format csv");
    let output = fleetsim(&line);
    assert!(stdout(&output).contains("one-by-one") && !stdout(&output).contains("waves"));
    assert_eq!(code(&format!("{line} --strategy nobody")), 2);
}

#[cfg(unix)]
#[test]
fn an_interrupted_compare_writes_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("compare drawn.yaml -v -n 60000 -o {}", folder.path().display());
    let mut child = command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("60000 replications") {
        assert!(reader.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    reader.read_to_string(&mut told).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("interrupted"), "{told}");
    let runs = folder.path().join("runs.csv");
    let rows = fs::read_to_string(runs).map_or(0, |text| text.lines().count() - 1);
    assert!(rows.is_multiple_of(2) && rows < 120_000, "whole pairs, and not all: {rows}");
}
