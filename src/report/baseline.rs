//! Stored results, read back to be compared with.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::experiment::Metric;
use crate::experiment::drift::{Baseline, HEADLINES, StoredStrategy};
use crate::sim::End;
use crate::stats::{Observation, Sample};

/// The files of a results folder that a baseline is read from, in the order of [`read`].
pub const FILES: [&str; 3] = ["manifest.json", "summary.json", "runs.csv"];

/// What a baseline takes from `manifest.json`.
#[derive(Deserialize)]
struct Manifest {
    version: String,
    scenario: String,
    digest: String,
    seed: u64,
    replications: usize,
    strategies: Vec<String>,
}

/// What it takes from `summary.json`.
#[derive(Deserialize)]
struct Summary {
    digest: String,
    horizon: f64,
    deterministic: bool,
}

/// The columns of `runs.csv` that it takes as they are; the others are metrics.
const FIXED: [&str; 4] = ["strategy", "replication", "outcome", "censored"];

/// Reads the three [`FILES`].
///
/// # Errors
/// If one of them is not what `compare` writes, or they do not belong together: in which, and why.
pub fn read([manifest, summary, runs]: [&str; 3]) -> Result<Baseline, String> {
    let manifest: Manifest = json(FILES[0], manifest)?;
    let summary: Summary = json(FILES[1], summary)?;
    if manifest.digest != summary.digest {
        return Err(format!("{} and {} are of different results", FILES[0], FILES[1]));
    }
    let mut strategies = table(runs).map_err(|why| format!("{}: {why}", FILES[2]))?;
    let mut ordered = Vec::new();
    for name in manifest.strategies {
        let rows = strategies.remove(&name).unwrap_or_default();
        if rows.len() != manifest.replications {
            let (found, wanted) = (rows.len(), manifest.replications);
            return Err(format!(
                "{}: `{name}` has {found} rows; {} says {wanted} replications",
                FILES[2], FILES[0]
            ));
        }
        let samples = HEADLINES.iter().filter_map(|(metric, _)| sample(&rows, *metric));
        let mut samples: Vec<(Metric, Sample)> = samples.collect();
        samples.dedup_by_key(|(metric, _)| *metric);
        ordered.push(StoredStrategy { name, samples });
    }
    Ok(Baseline {
        version: manifest.version,
        scenario: manifest.scenario,
        digest: manifest.digest,
        seed: manifest.seed,
        replications: manifest.replications,
        horizon: summary.horizon,
        deterministic: summary.deterministic,
        strategies: ordered,
    })
}

fn json<T: for<'d> Deserialize<'d>>(file: &str, text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|why| format!("{file}: {why}"))
}

/// One row: how it ended, and its values by metric; a value that does not exist is absent.
struct Row {
    end: String,
    values: BTreeMap<String, Observation>,
}

/// The rows of each strategy, by replication.
fn table(text: &str) -> Result<BTreeMap<String, Vec<Row>>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|why| why.to_string())?.clone();
    let column = |name: &str| {
        let found = header.iter().position(|column| column == name);
        found.ok_or_else(|| format!("there is no column `{name}`"))
    };
    let mut fixed = [0; FIXED.len()];
    for (place, name) in fixed.iter_mut().zip(FIXED) {
        *place = column(name)?;
    }
    let mut strategies: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|why| why.to_string())?;
        let [strategy, replication, end, censored] = fixed.map(|place| &record[place]);
        let cut: Vec<&str> = censored.split(';').collect();
        let mut values = BTreeMap::new();
        for (place, name) in header.iter().enumerate().filter(|(place, _)| !fixed.contains(place)) {
            if record[place].is_empty() {
                continue;
            }
            let value = record[place].parse().ok().filter(|value: &f64| value.is_finite());
            let value = value.ok_or_else(|| format!("`{}` is not a number", &record[place]))?;
            let censored = cut.contains(&name);
            values.insert(name.to_owned(), Observation { value, censored });
        }
        let rows = strategies.entry(strategy.to_owned()).or_default();
        if replication.parse() != Ok(rows.len()) {
            return Err(format!("replication {replication} of `{strategy}` is out of order"));
        }
        rows.push(Row { end: end.to_owned(), values });
    }
    Ok(strategies)
}

/// A metric's observations; `None` where a row has none.
fn sample(rows: &[Row], metric: Metric) -> Option<(Metric, Sample)> {
    let observe = |row: &Row| match metric {
        Metric::Outcome(end) => Some(ended(row, end)),
        _ => row.values.get(&metric.to_string()).copied(),
    };
    let observations: Option<Vec<Observation>> = rows.iter().map(observe).collect();
    let observations = observations.filter(|all| !all.is_empty())?;
    let seen = observations.iter().filter(|o| !o.censored).map(|o| o.value);
    let seen = seen.fold(f64::NEG_INFINITY, f64::max);
    let holds = observations.iter().filter(|o| o.censored).all(|o| o.value >= seen);
    holds.then(|| (metric, Sample::new(observations)))
}

fn ended(row: &Row, end: End) -> Observation {
    Observation::exact(if row.end == end.word() { 1.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::super::results::{manifest_json, runs_csv, summary_json};
    use super::super::testing::{failing, lucky, simulate};
    use super::*;
    use crate::time::Span;

    fn stored(text: &str, n: u32) -> [String; 3] {
        simulate(text, (n, 1), |_, outcomes, summary| {
            [manifest_json(summary, None), summary_json(summary), runs_csv(summary, outcomes)]
        })
    }

    fn read_back([manifest, summary, runs]: &[String; 3]) -> Result<Baseline, String> {
        read([manifest, summary, runs])
    }

    #[test]
    fn what_compare_writes_is_read_back_exactly() {
        let files = stored(&lucky(), 20);
        let baseline = read_back(&files).unwrap();
        assert_eq!((baseline.replications, baseline.seed), (20, 5));
        assert_eq!((baseline.horizon, baseline.deterministic), (20.0 * 86_400.0, false));
        simulate(&lucky(), (20, 1), |_, outcomes, _| {
            for (stored, outcomes) in baseline.strategies.iter().zip(&outcomes.by_strategy) {
                assert_eq!(stored.samples.len(), 4);
                for (metric, sample) in &stored.samples {
                    let of = |outcome| metric.of(outcome, Span::from_days(20));
                    let wanted = Sample::new(outcomes.iter().map(of).collect());
                    assert_eq!(*sample, wanted, "{} {metric}", stored.name);
                }
            }
        });
    }

    #[test]
    fn x5_what_was_cut_off_stays_so() {
        let baseline = read_back(&stored(&failing(), 2)).unwrap();
        let (metric, makespan) = &baseline.strategies[0].samples[0];
        assert_eq!((*metric, makespan.censored()), (Metric::Makespan, 2));
    }

    #[test]
    fn broken_files_are_refused_with_a_reason() {
        let files = stored(&failing(), 2);
        let broken = |place: usize, from: &str, to: &str| {
            let mut files = files.clone();
            assert!(files[place].contains(from), "{}", files[place]);
            files[place] = files[place].replacen(from, to, 1);
            read_back(&files).unwrap_err()
        };
        assert!(broken(0, "{", "").starts_with("manifest.json: "));
        assert!(broken(1, "\"digest\": \"", "\"digest\": \"x").contains("different results"));
        assert!(broken(2, "one,1,", "one,2,").contains("runs.csv: replication 2 of `one`"));
        assert!(broken(2, "one,1,", "two,0,").contains("`one` has 1 rows"));
        assert!(broken(2, "strategy", "plan").contains("no column `strategy`"));
        assert!(broken(2, "864000", "NaN").contains("`NaN` is not a number"));
    }
}
