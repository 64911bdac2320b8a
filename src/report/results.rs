//! The results folder of `compare`: tables, summaries and charts of one experiment.
//!
//! No file holds a date, a run time, a thread count, a host or a path: the same scenario, seed and
//! version are the same bytes (X3). Durations are seconds, to the millisecond; floats are written
//! with Rust's shortest form that reads back as the same number.

mod changes;
pub(super) mod folder;
mod histograms;
mod json;
pub(super) mod pictures;
mod progress;
mod staleness;
pub(super) mod tables;

pub use changes::changes_csv;
pub use folder::claim;
pub use histograms::histograms_csv;
pub use json::{manifest_json, summary_json};
pub use progress::{Progress, STEPS};
use staleness::StalenessCourse;
pub(super) use tables::number;
pub use tables::{differences_csv, progress_csv, runs_csv, summary_csv};

use std::path::Path;

use super::autonomous;
use crate::error::Diagnostic;
use crate::experiment::{Experiment, Outcomes};
use crate::report::summary::Summary;

/// One file of the results folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Everything that the results folder is made from.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// What was simulated.
    pub experiment: &'a Experiment<'a>,
    /// How each replication ended.
    pub outcomes: &'a Outcomes,
    /// What that comes to.
    pub summary: &'a Summary,
    /// The relative precision that was asked for (X6), such as 0.02.
    pub target: Option<f64>,
}

impl Results<'_> {
    /// All files, the manifest last.
    ///
    /// # Errors
    /// If a chart cannot be drawn as PNG.
    pub fn files(&self) -> Result<Vec<ResultFile>, Diagnostic> {
        let (summary, outcomes) = (self.summary, self.outcomes);
        let progress = Progress::of(outcomes, summary.horizon);
        let mut files = vec![
            file("summary.json", summary_json(summary)),
            file("summary.csv", summary_csv(summary)),
            file("runs.csv", runs_csv(summary, outcomes)),
            file("differences.csv", differences_csv(summary)),
            file("progress.csv", progress_csv(summary, &progress)),
            file("histograms.csv", histograms_csv(summary)),
        ];
        if summary.strategies.iter().any(|strategy| !strategy.behind.is_empty()) {
            let runs = autonomous::profile_runs_csv(self.experiment, outcomes);
            files.push(file("profile-runs.csv", runs));
            let staleness = autonomous::staleness_csv(&summary.strategies);
            files.push(file("staleness.csv", staleness));
        }
        let mut pictures = pictures::all(self, &progress);
        let staleness = StalenessCourse::of(self);
        if !staleness.series.is_empty() {
            files.push(file("staleness-progress.csv", staleness.csv()));
            pictures.push(("staleness".to_owned(), staleness.picture(self)));
        }
        if summary.strategies.iter().any(|strategy| !strategy.campaigns.is_empty()) {
            let progress = Progress::of_changes(outcomes, summary.horizon);
            files.push(file("changes.csv", changes_csv(summary)));
            files.push(file("changes-progress.csv", progress_csv(summary, &progress)));
            pictures.extend(changes::pictures(self, &progress));
        }
        for (name, svg) in pictures {
            files.extend(folder::picture(&name, svg)?);
        }
        files.push(file(folder::MANIFEST, manifest_json(summary, self.target)));
        Ok(files)
    }

    /// Writes all files into `dir`, which is made with its parents. Results of the same scenario
    /// are replaced, those of another one only with `force`.
    ///
    /// # Errors
    /// If `dir` holds something else ([`claim`]), or a file cannot be written or drawn.
    pub fn write(&self, dir: &Path, force: bool) -> Result<(), Diagnostic> {
        claim(dir, self.experiment.scenario, force)?;
        folder::write(dir, &self.files()?)
    }
}

pub(super) fn file(name: &str, text: String) -> ResultFile {
    ResultFile { name: name.to_owned(), bytes: text.into_bytes() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{failing, lucky, scripted, simulate};
    use super::*;
    use crate::experiment::Metric;

    fn table(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().map(|row| row.unwrap()).collect()
    }

    /// The whole milliseconds of a number of seconds.
    fn millis(seconds: &str) -> i64 {
        let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
        assert!(part.len() <= 3, "{seconds} is finer than a millisecond");
        whole.parse::<i64>().unwrap() * 1_000 + format!("{part:0<3}").parse::<i64>().unwrap()
    }

    fn all_files(text: &str, effort: (u32, usize)) -> Vec<ResultFile> {
        simulate(text, effort, |experiment, outcomes, summary| {
            Results { experiment, outcomes, summary, target: None }.files().unwrap()
        })
    }

    #[test]
    fn runs_have_their_columns_and_order() {
        let text = simulate(&lucky(), (5, 1), |_, outcomes, summary| runs_csv(summary, outcomes));
        let header = text.lines().next().unwrap();
        assert_eq!(
            header,
            "strategy,replication,outcome,censored,makespan,timeTo50,timeTo90,timeTo95,timeTo99,\
             updatedMembers,failedMembers,skippedMembers,pendingMembers,notStartedMembers,\
             exposedMembers,exposedHours,staleHours,imageSkew,approvals,restarts,\
             surgeNodeHours,peakExtraNodes,peakExtraIps,reimagedNodes,\
             ephemeralDataLosses,delay.updating,delay.window,delay.image,delay.version,delay.gate,\
             delay.wait,delay.concurrency,delay.poll,delay.busy,delay.failed,delay.stopped"
        );
        let rows = table(&text);
        let order: Vec<_> =
            rows.iter().map(|row| (row["strategy"].clone(), row["replication"].clone())).collect();
        let strategies = ["staged", "at-once", "one-by-one"];
        let wanted: Vec<_> = strategies
            .iter()
            .flat_map(|name| (0..5).map(|n| ((*name).to_owned(), n.to_string())))
            .collect();
        assert_eq!(order, wanted);
    }

    #[test]
    fn members_and_delays_of_each_run_add_up() {
        let text = simulate(&lucky(), (40, 1), |_, outcomes, summary| runs_csv(summary, outcomes));
        for row in table(&text) {
            let count = |name: &str| row[name].parse::<u32>().unwrap();
            let members: u32 = [
                "updatedMembers",
                "failedMembers",
                "skippedMembers",
                "pendingMembers",
                "notStartedMembers",
            ]
            .map(count)
            .iter()
            .sum();
            assert_eq!(members, 30, "{row:?}");
            let delays = row.iter().filter(|(name, _)| name.starts_with("delay."));
            let total: i64 = delays.map(|(_, value)| millis(value)).sum();
            assert_eq!(total, millis(&row["makespan"]), "{row:?}");
        }
    }

    #[test]
    fn x5_censored_values_hold_the_horizon_and_are_named() {
        let text = simulate(&failing(), (1, 1), |_, outcomes, summary| runs_csv(summary, outcomes));
        let rows = table(&text);
        assert_eq!(rows[0]["outcome"], "Failed");
        assert_eq!(rows[0]["censored"], "makespan;timeTo90;timeTo95;timeTo99");
        assert_eq!(rows[0]["makespan"], "864000");
        assert_eq!(rows[0]["timeTo50"], "3600", "two of three members after an hour");
        let text = simulate(&failing(), (1, 1), |_, _, summary| summary_csv(summary));
        let lines: Vec<&str> =
            text.lines().filter(|line| line.starts_with("one,makespan,")).collect();
        assert_eq!(
            lines,
            [
                "one,makespan,mean,864000,864000,864000",
                "one,makespan,p5,>horizon,>horizon,>horizon",
                "one,makespan,p50,>horizon,>horizon,>horizon",
                "one,makespan,p95,>horizon,>horizon,>horizon",
                "one,makespan,min,>horizon,>horizon,>horizon",
                "one,makespan,max,>horizon,>horizon,>horizon",
                "one,makespan,censored,1,1,1",
            ]
        );
    }

    #[test]
    fn the_tables_of_a_scripted_experiment() {
        simulate(&scripted(), (2, 1), |_, outcomes, summary| {
            let text = summary_csv(summary);
            assert!(text.starts_with("strategy,metric,statistic,value,low,high\n"));
            for line in [
                "one,makespan,p50,5400,5400,5400",
                "one,makespan,censored,0,0,0",
                "together,makespan,mean,1800,1800,1800",
                "one,delay.concurrency,mean,3600,3600,3600",
                "one,outcome.Completed,mean,1,1,1",
                "together,outcome.horizon,mean,0,0,0",
            ] {
                assert!(text.lines().any(|found| found == line), "no {line} in {text}");
            }
            assert_eq!(
                differences_csv(summary),
                "strategy,reference,metric,statistic,value,low,high,shareBetter,varianceReduction\n\
                 together,one,makespan,mean,-3600,-3600,-3600,1,\n\
                 together,one,timeTo90,mean,-3600,-3600,-3600,1,\n\
                 together,one,timeTo99,mean,-3600,-3600,-3600,1,\n\
                 together,one,updatedMembers,mean,0,0,0,0,\n\
                 together,one,failedMembers,mean,0,0,0,0,\n"
            );
            let text = progress_csv(summary, &Progress::of(outcomes, summary.horizon));
            assert_eq!(text.lines().next().unwrap(), "strategy,time,p5,p25,p50,p75,p95");
            let rows = table(&text);
            assert_eq!(rows.len(), 2 * 201);
            assert_eq!(rows.iter().filter(|row| row["strategy"] == "one").count(), 201);
            assert_eq!((rows[0]["time"].as_str(), rows[0]["p50"].as_str()), ("0", "0"));
            assert_eq!(rows[1]["time"], "27", "201 equal steps to 90 minutes");
            let third = (1.0_f64 / 3.0).to_string();
            assert_eq!(rows[66]["p50"], "0", "not yet at 29m42s");
            assert_eq!(rows[67]["p50"], third, "one of three from 30m on");
            assert_eq!((rows[200]["time"].as_str(), rows[200]["p5"].as_str()), ("5400", "1"));
            assert_eq!(rows[201]["strategy"], "together");
        });
    }

    #[test]
    fn progress_never_falls_and_its_quantiles_are_in_order() {
        simulate(&lucky(), (40, 1), |_, outcomes, summary| {
            let progress = Progress::of(outcomes, summary.horizon);
            let makespans = outcomes.by_strategy.iter().flatten().filter_map(|o| o.makespan);
            assert_eq!(progress.times.last().copied(), makespans.max());
            for curve in &progress.by_strategy {
                assert!(curve.iter().all(|point| point.is_sorted()));
                for pair in curve.windows(2) {
                    assert!(pair[0].iter().zip(&pair[1]).all(|(before, after)| before <= after));
                }
            }
        });
    }

    #[test]
    fn the_manifest_has_its_keys_in_order() {
        let text = simulate(&lucky(), (20, 1), |_, _, summary| manifest_json(summary, Some(1e9)));
        let keys =
            ["version", "scenario", "digest", "seed", "replications", "strategies", "precision"];
        let places = keys.map(|key| text.find(&format!("\n  \"{key}\":")).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("  \"")).count(), keys.len());
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["strategies"][1], "at-once");
        assert_eq!(manifest["replications"], 20);
        assert_eq!(manifest["precision"]["met"], false, "20 runs leave the p95's interval open");
        assert_eq!(manifest["precision"]["reached"][8]["exempt"], "censored");
        let text =
            simulate(&scripted(), (1, 1), |_, _, summary| manifest_json(summary, Some(0.02)));
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["precision"]["met"], true, "without luck all is known");
        assert_eq!(manifest["precision"]["target"], 0.02);
    }

    #[test]
    fn the_json_summary_says_what_the_csv_says() {
        simulate(&lucky(), (24, 1), |_, _, summary| {
            let json: serde_json::Value = serde_json::from_str(&summary_json(summary)).unwrap();
            for row in table(&summary_csv(summary)) {
                let strategies = json["strategies"].as_array().unwrap();
                let strategy =
                    strategies.iter().find(|s| s["strategy"] == *row["strategy"]).unwrap();
                let numbers = match row["metric"].strip_prefix("outcome.") {
                    Some(end) => &strategy["outcomes"][end],
                    None if row["statistic"] == "censored" => continue,
                    None => &strategy["metrics"][&row["metric"]]["statistics"][&row["statistic"]],
                };
                for key in ["value", "low", "high"] {
                    let same = match &numbers[key] {
                        serde_json::Value::Null => row[key].is_empty(),
                        serde_json::Value::String(text) => *text == row[key],
                        // Reading JSON may lose the last bit.
                        number => {
                            let (a, b) =
                                (number.as_f64().unwrap(), row[key].parse::<f64>().unwrap());
                            (a - b).abs() <= 1e-14 * b.abs()
                        }
                    };
                    assert!(same, "{key}: {row:?} and {numbers}");
                }
            }
            let cut_off = &json["strategies"][2]["metrics"]["makespan"];
            assert_eq!(cut_off["statistics"]["mean"]["restricted"], true);
            assert!(cut_off["censored"].as_u64().unwrap() > 0);
            assert!(
                json["notes"].as_array().unwrap().iter().any(|note| note["code"] == "censored")
            );
        });
    }

    #[test]
    fn x3_same_bytes_again_and_with_two_threads() {
        let once = all_files(&lucky(), (20, 1));
        assert!(once == all_files(&lucky(), (20, 1)), "again");
        assert!(once == all_files(&lucky(), (20, 2)), "with two threads");
        let names: Vec<&str> = once.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names.last(), Some(&"manifest.json"));
        for name in ["progress.svg", "delays.png", "tradeoff.svg", "timeline-at-once.png"] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        let here = std::env::current_dir().unwrap();
        for file in &once {
            // Pictures are no text.
            let Ok(text) = String::from_utf8(file.bytes.clone()) else { continue };
            assert!(!text.contains(here.to_str().unwrap()), "{} names a path", file.name);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{}", file.name);
            assert!(!text.contains("-0,") && !text.contains(",-0\n"), "{}", file.name);
        }
    }

    #[test]
    fn files_appear_whole_and_leftovers_go() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("results/small");
        simulate(&scripted(), (1, 1), |experiment, outcomes, summary| {
            let results = Results { experiment, outcomes, summary, target: None };
            results.write(&dir, false).unwrap();
            for name in ["notes.txt", "timeline-gone.svg", "report.html", ".runs.csv.part"] {
                fs::write(dir.join(name), "old").unwrap();
            }
            fs::write(dir.join("runs.csv"), "old").unwrap();
            results.write(&dir, false).unwrap();
            let files = results.files().unwrap();
            for file in &files {
                assert_eq!(fs::read(dir.join(&file.name)).unwrap(), file.bytes, "{}", file.name);
            }
            let mut wanted: Vec<String> = files.into_iter().map(|file| file.name).collect();
            wanted.push("notes.txt".to_owned());
            wanted.sort();
            let entries = fs::read_dir(&dir).unwrap();
            let mut found: Vec<String> =
                entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            found.sort();
            assert_eq!(found, wanted);
        });
    }

    #[test]
    fn folders_with_something_else_are_refused_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let claim = |text: &str, force| {
            simulate(text, (1, 1), |experiment, _, _| claim(dir, experiment.scenario, force))
        };
        fs::write(dir.join(".manifest.json.part"), "{").unwrap();
        assert_eq!(claim(&scripted(), false), Ok(()), "an interrupted beginning of ours");
        fs::write(dir.join("thesis.txt"), "").unwrap();
        let refused = claim(&scripted(), false).unwrap_err();
        assert!(refused.message.contains("`thesis.txt`"), "{refused}");
        assert!(refused.hint.unwrap().contains("--force"));
        assert_eq!(claim(&scripted(), true), Ok(()));
        simulate(&scripted(), (1, 1), |experiment, outcomes, summary| {
            let results = Results { experiment, outcomes, summary, target: None };
            assert!(results.write(dir, false).is_err());
            assert!(!dir.join("runs.csv").exists(), "a refusal writes nothing");
            results.write(dir, true).unwrap();
        });
        assert_eq!(claim(&scripted(), false), Ok(()), "the same scenario");
        let refused = claim(&scripted().replace("30m", "31m"), false).unwrap_err();
        assert!(refused.message.contains("another version of the scenario `small`"), "{refused}");
        let refused = claim(&lucky(), false).unwrap_err();
        assert!(refused.message.contains("the scenario `small`"), "{refused}");
        fs::write(dir.join("manifest.json"), "[]").unwrap();
        assert!(claim(&scripted(), false).is_err(), "a manifest of another program");
        let file = dir.join("thesis.txt");
        let taken = simulate(&scripted(), (1, 1), |e, _, _| super::claim(&file, e.scenario, true));
        assert!(taken.is_err(), "a file is no folder");
    }

    #[test]
    fn all_columns_are_in_the_summary() {
        simulate(&lucky(), (2, 1), |_, _, summary| {
            let text = summary_csv(summary);
            for metric in Metric::all() {
                assert!(text.contains(&format!("staged,{metric},mean,")), "{metric}");
            }
        });
    }
}
