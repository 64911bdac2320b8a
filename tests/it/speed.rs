//! What the models of the world cost, as the documentation prints it from the record.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fleetsim::experiment::Experiment;
use fleetsim::ids::MemberId;
use fleetsim::scheduler::NoLog;
use fleetsim::sim::{End, Simulation};
use models::{MODELS, Model};

#[path = "../../benches/models/mod.rs"]
mod models;

const PAGE: &str = "docs/speed.md";
const RECORD: &str = "benches/record/instructions.csv";
const BEGIN: &str = "<!-- costs: written by a test -->\n\n";
const END: &str = "\n<!-- end of costs -->";
/// Set to 1, it makes the test write the table instead of comparing it.
const BLESS: &str = "FLEETSIM_BLESS";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Instructions an update of each workload with 1,000 members.
fn recorded() -> BTreeMap<String, f64> {
    let text = read(RECORD);
    let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let thousand = rows.filter(|cells| cells[1] == "1000");
    let an_update = |cells: Vec<&str>| {
        let [instructions, updates] = [2, 3].map(|cell: usize| cells[cell].parse::<f64>().unwrap());
        (cells[0].to_owned(), instructions / updates)
    };
    thousand.map(an_update).collect()
}

fn table() -> String {
    let recorded = recorded();
    let mut table =
        "| model | what is on | instructions an update | beside |\n| --- | --- | ---: | --- |\n"
            .to_owned();
    for Model { name, beside, what, .. } in MODELS {
        let (own, other) = (recorded[name], recorded[beside]);
        let beside =
            if name == beside { String::new() } else { format!("{:.2} × {beside}", own / other) };
        writeln!(table, "| {name} | {what} | {own:.0} | {beside} |").unwrap();
    }
    table
}

#[test]
fn the_documented_costs_are_those_on_record() {
    let page = read(PAGE);
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
        return fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    }
    assert!(
        written == table,
        "{PAGE} differs from {RECORD}. Write it anew:\n\n    {BLESS}=1 cargo test --test it speed::\n\n\
         It should be:\n\n{table}"
    );
}

/// A row would say nothing if its model did nothing: each takes another course than the row that
/// it is compared with, and every one updates its members.
#[test]
fn every_row_turns_something_on() {
    let course = |name: &str| {
        let scenario = models::scenario(name, 60).unwrap();
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
        let (mut outcomes, mut ends) = (Vec::new(), Vec::new());
        for number in 0..8 {
            outcomes.push(simulation.run(number, experiment.end(), &mut NoLog));
            let (scheduler, first) = (simulation.scheduler(), MemberId(0));
            let versions: Vec<_> = scheduler.images(first).collect();
            ends.push((versions, scheduler.kubernetes_version(first)));
        }
        let runs = || outcomes.iter().filter_map(|outcome| outcome.autonomous.as_ref());
        let by_profiles = runs().flat_map(|runs| &runs.runs).map(|run| run.counts.updated).sum();
        let updated = outcomes.iter().map(|outcome| outcome.updated).sum::<u32>();
        let completed = outcomes.iter().any(|outcome| outcome.end == End::Completed);
        assert!(updated.max(by_profiles) > 8 * 60 / 2, "{name}: {updated}, {by_profiles}");
        assert!(completed || by_profiles > 0, "{name}");
        (outcomes, ends)
    };
    // What is rare, or only looks on, a small fleet may never meet.
    let rare = ["skipping", "quota", "outages", "budgets"];
    for model in MODELS.iter().filter(|model| model.name != model.beside) {
        let moves = course(model.name) != course(model.beside);
        assert!(moves || rare.contains(&model.name), "{} changes nothing", model.name);
    }
}
