//! Every number that a scenario's world assumes is an input of the sensitivity analysis: none can
//! be added to a model, or called assumed by the book, without.

use std::collections::{BTreeMap, BTreeSet};

use fleetsim::experiment::{FACTORS, Input};
use fleetsim::scenario::Scenario;

use crate::experiments::read;

/// Every model at once.
const EVERYTHING: &str = include_str!("assumptions/everything.yaml");

/// Every model, of updates by their nodes and of updates as a whole.
fn everything() -> [Scenario; 2] {
    let of_nodes = |line: &&str| {
        ["disruptionBudgets:", "quota:"].iter().any(|key| line.trim_start().starts_with(key))
    };
    let lines: Vec<&str> = EVERYTHING.lines().filter(|line| !of_nodes(line)).collect();
    let as_a_whole = lines.join("\n").replace("model: nodes", "model: cluster");
    [read(EVERYTHING), read(&as_a_whole)]
}

/// The numbers of a world and of its configuration changes, by where they stand in the models, as
/// their debug output has them.
fn numbers(scenario: &Scenario) -> BTreeMap<String, String> {
    let text = format!("{:#?}", (&scenario.world, &scenario.campaigns, &scenario.update));
    let mut numbers = BTreeMap::new();
    // What the lines above are in, and how many items each has so far.
    let mut path: Vec<(String, usize)> = vec![(String::new(), 0)];
    for line in text.lines() {
        let line = line.trim().trim_end_matches(',');
        if matches!(line, ")" | "]" | "}") {
            path.pop();
            continue;
        }
        let (name, value) = line.split_once(": ").unwrap_or(("", line));
        let above = path.last_mut().expect("brackets are balanced");
        above.1 += 1;
        let name = if name.is_empty() { above.1.to_string() } else { name.to_owned() };
        let opened = value.strip_suffix(['(', '[', '{']);
        let place: Vec<&str> = path.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(kind) = opened {
            path.push((format!("{name} {}", kind.trim()).trim().to_owned(), 0));
        } else if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            numbers.insert(format!("{} / {name}", place.join(" / ")), value.to_owned());
        }
    }
    numbers
}

/// Numbers that nothing multiplies, by a part of their place, and why.
const NO_INPUTS: [(&str, &str); 9] = [
    ("MemberId", "who it is about"),
    ("RegionId", "where"),
    ("DurationFactor / nodes", "whom a factor is for"),
    ("Hours / from TimeOfDay", "when people work: `--vary` tries other hours"),
    ("Hours / to TimeOfDay", "the same"),
    ("Hours / offset UtcOffset", "where they work"),
    ("NodeModel / patience", "the default drain timeout: a rule of the service (P3)"),
    ("pool Pool", "what the new pool is"),
    ("KubernetesVersion", "what the update brings"),
];

/// A number that is added to a model of the world, and that no input multiplies, fails here.
#[test]
fn every_number_of_the_world_is_an_input() {
    let mut used = BTreeSet::new();
    for scenario in everything() {
        let base = numbers(&scenario);
        assert!(base.len() > 100, "{base:#?}");
        let mut moved: BTreeMap<String, &str> = BTreeMap::new();
        for (input, factor) in Input::all().flat_map(|input| FACTORS.map(|factor| (input, factor)))
        {
            let Some(varied) = input.multiplied(&scenario, factor) else { continue };
            let (key, other) = (input.key(), numbers(&varied));
            used.insert(key);
            let others = base.iter().filter(|(place, number)| other.get(*place) != Some(*number));
            for (place, _) in others {
                // The parts of a distribution can share a number: a beta's b says where its mean
                // is and how close values are to it.
                let by = moved.entry(place.clone()).or_insert(key);
                let same = key.starts_with(*by) || by.starts_with(key);
                assert!(same, "`{key}` moves {place}, which is `{by}`'s");
            }
        }
        let still: Vec<&String> = base
            .keys()
            .filter(|place| !moved.contains_key(*place))
            .filter(|place| !NO_INPUTS.iter().any(|(part, _)| place.contains(part)))
            .collect();
        assert!(still.is_empty(), "no input: {still:#?}");
    }
    let whole = |key: &&str| !["sigma", "weight", "beta"].iter().any(|part| key.ends_with(part));
    let unused: Vec<&str> =
        Input::all().map(Input::key).filter(whole).filter(|key| !used.contains(key)).collect();
    assert_eq!(unused, ["world.defects.probability"], "where all three are the same");
}

/// What the book's tables call assumed, by the heading or the anchor of a model.
const MODELS: [(&str, &str); 10] = [
    ("durations", "world.durations"),
    ("durations-by-nodes", "world.durations"),
    ("disruption-budgets", "world.disruptionBudgets"),
    ("quota-and-capacity", "world.quota"),
    ("throttling", "world.throttling"),
    ("failures", "world.failures"),
    ("defects", "world.defects"),
    ("outages", "world.outages"),
    ("people", "world.people"),
    ("churn", "world.churn"),
];

#[test]
fn what_the_book_calls_assumed_is_an_input() {
    let keys: Vec<&str> = Input::all().map(Input::key).collect();
    let (mut section, mut rows) = (String::new(), 0);
    for line in include_str!("../../docs/world.md").lines() {
        if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            section = heading.to_lowercase().replace(' ', "-");
        }
        let Some(first) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else {
            continue;
        };
        if !line.contains("assumed") {
            continue;
        }
        let anchor = first.split_once("](#").map(|(_, anchor)| anchor.trim_end_matches(')'));
        let of = anchor.unwrap_or(&section);
        let model = MODELS.iter().find(|(model, _)| *model == of);
        let (_, model) = model.unwrap_or_else(|| panic!("which model's numbers are these? {line}"));
        let wanted = match first.strip_prefix('`') {
            Some(key) => format!("{model}.{}", key.trim_end_matches('`')),
            None => (*model).to_owned(),
        };
        let known = |key: &&str| key.starts_with(&wanted);
        assert!(keys.iter().any(known), "no input is `{wanted}`: {line}");
        rows += 1;
    }
    assert!(rows > 20, "{rows} rows");
}

/// What nothing is drawn from is left out: a model that the scenario does not look at, and one that
/// its script takes the place of.
#[test]
fn what_nothing_is_drawn_from_is_no_input() {
    let keys = |scenario: &Scenario| -> BTreeSet<&str> {
        let moves = |input: &Input| input.multiplied(scenario, 3.0).is_some();
        Input::all().filter(moves).map(Input::key).collect()
    };
    let all = keys(&read(EVERYTHING));
    let without = |from: &str, to: &str| -> Vec<&str> {
        let text = EVERYTHING.replace(from, to);
        assert_ne!(text, EVERYTHING, "{from}");
        let left = keys(&read(&text));
        all.iter().copied().filter(|key| !left.contains(key)).collect()
    };
    let images = ["channel: SecurityPatch", "channel: NodeImage"];
    let live = ["world.livePatches.reimage", "world.livePatches.takes"];
    let sigma = "world.livePatches.takes.lognormal.sigma";
    assert_eq!(without(images[0], images[1]), [live[0], live[1], sigma]);
    let own = ", autoUpgradeProfile: {nodeOSUpgradeChannel: NodeImage, upgradeChannel: patch}";
    assert_eq!(without(own, ""), ["world.ownUpgrades.delay"]);
    let windows = "osType: Windows, count";
    assert_eq!(without(windows, "count"), ["world.durations.windowsFactor"]);
    // The only ones can be those that members get in mid-run.
    let added =
        EVERYTHING.replace(windows, "count").replace("name: extra", "name: w, osType: Windows");
    assert!(keys(&read(&added)).contains("world.durations.windowsFactor"));
    let gates = ["world.people.approvers.delay", "world.people.approvers.tolerance"];
    assert_eq!(without("Gates: [{type: Approval}]", "Gates: []"), gates);
    let all_of = |prefixes: &[&str]| -> Vec<&str> {
        let fits = |key: &&str| prefixes.iter().any(|prefix| key.starts_with(prefix));
        all.iter().copied().filter(fits).collect()
    };
    let scripted = |text: &str| without("world:", &format!("script: {text}\nworld:"));
    assert_eq!(without("  releases: ", "  releases: none #"), all_of(&["world.releases"]));
    assert_eq!(scripted("{defects: []}"), all_of(&["world.defects"]));
    assert_eq!(scripted("{outages: []}"), all_of(&["world.outages"]));
    assert_eq!(scripted("{disruptionBudgets: []}"), all_of(&["world.disruptionBudgets"]));
    assert_eq!(scripted("{capacity: []}"), all_of(&["world.quota"]));
    // What members do by themselves and for changes takes its time still.
    let of_updates = ["world.failures", "world.throttling", "world.livePatches"];
    assert_eq!(scripted("{updates: {\"*\": {takes: 30m}}}"), all_of(&of_updates));
}
