//! Random small scenarios: many features at once, on a coarse grid of time, so that ends, polls,
//! waits and people's actions fall on the same instants.
//!
//! A seed fixes a scenario ([`draft`]). Whoever disagrees about one can have it made smaller by
//! [`shrink`].

mod draft;

use std::collections::{BTreeMap, BTreeSet};

use crate::conformance::{PLAYERS, compare, reference};
pub(crate) use draft::scenario;

/// How many scenarios a test run looks at.
const SCENARIOS: u64 = 400;

/// Makes a scenario smaller as long as `fails` holds: leaves out members, groups, releases,
/// actions and single updates, one line at a time, until none can be missed.
pub(crate) fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_item = |line: &str| {
        let item = line.trim_start();
        item.starts_with("- {") || item.starts_with('m') && item.contains(": {takes")
    };
    loop {
        let before = lines.len();
        for k in (0..lines.len()).rev() {
            if k < lines.len() && is_item(lines[k]) {
                let mut fewer = lines.clone();
                fewer.remove(k);
                if fails(&(fewer.join("\n") + "\n")) {
                    lines = fewer;
                }
            }
        }
        if lines.len() == before {
            return lines.join("\n") + "\n";
        }
    }
}

/// Whether shrinking has left a key without anything below it, which then means "absent".
fn has_bare_key(text: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|pair| pair[0].ends_with(':') && indent(pair[1]) <= indent(pair[0]))
}

/// Plays a seed's scenario with every player; the error shows the first disagreement, with the
/// scenario made as small as it goes.
fn agree(seed: u64) -> Result<(), String> {
    let disagree = |text: &str| -> Result<(), String> {
        let (first, rest) = PLAYERS.split_first().expect("the reference");
        let left = first.1(text, None, None);
        for (name, player) in rest {
            match (&left, &player(text, None, None)) {
                (Ok(left), Ok(right)) => compare(text, (first.0, left), (name, right))?,
                (Err(_), Err(_)) => {}
                (Err(error), _) => return Err(format!("refused by {}: {error}", first.0)),
                (_, Err(error)) => return Err(format!("refused by {name}: {error}")),
            }
        }
        Ok(())
    };
    let text = scenario(seed);
    let Err(report) = disagree(&text) else { return Ok(()) };
    if report.starts_with("refused") {
        return Err(format!("seed {seed}: {report}\n{text}"));
    }
    let differs = |text: &str| {
        !has_bare_key(text) && disagree(text).is_err_and(|report| !report.starts_with("refused"))
    };
    let report = disagree(&shrink(&text, differs)).expect_err("still different");
    Err(format!("seed {seed}:\n{report}"))
}

#[test]
fn all_players_agree_and_keep_the_invariants() {
    let failures: Vec<String> = (0..SCENARIOS).filter_map(|seed| agree(seed).err()).collect();
    let shown = failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {SCENARIOS} disagree\n{shown}", failures.len());
}

/// The same for as many seeds as `FLEETSIM_SOAK` says, starting behind those of every test run:
/// `FLEETSIM_SOAK=20000 cargo test --release --test it -- --ignored soak`.
#[test]
#[ignore = "a soak of minutes"]
fn soak() {
    let seeds = std::env::var("FLEETSIM_SOAK").map_or(20_000, |text| text.parse().unwrap());
    for seed in SCENARIOS..SCENARIOS + seeds {
        if let Err(report) = agree(seed) {
            panic!("{report}");
        }
    }
}

#[test]
fn a_seed_is_a_scenario() {
    assert_eq!(scenario(7), scenario(7));
    assert_ne!(scenario(7), scenario(8));
    let play = || reference(&scenario(7), None, None).expect("valid");
    assert_eq!(play(), play());
}

#[test]
fn the_swarm_is_varied() {
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut refused = 0;
    for seed in 0..SCENARIOS {
        let outcome = reference(&scenario(seed), None, None).expect("valid");
        *ends.entry(outcome.last.run.clone()).or_default() += 1;
        refused += outcome.last.refused.len();
        let mut here = BTreeSet::new();
        for line in &outcome.events {
            let event: BTreeMap<String, String> = serde_json::from_str(line).expect("JSON");
            here.insert(event["kind"].clone());
            here.extend(event.get("reason").map(|reason| format!("{} {reason}", event["kind"])));
        }
        for what in here {
            *seen.entry(what).or_default() += 1;
        }
    }
    println!("{ends:?}\n{refused} refused\n{seen:#?}");
    for (end, least) in
        [("Completed", 120), ("Failed", 30), ("Stopped", 10), ("Skipped", 4), ("Pending", 10)]
    {
        assert!(ends.get(end).is_some_and(|count| *count >= least), "{end}: {ends:?}");
    }
    let states =
        ["Started", "Pending", "Running", "Stopping", "Stopped", "Failed", "Completed", "Skipped"];
    for what in ["run", "stage", "group"] {
        for state in states {
            assert!(seen.contains_key(&format!("{what}{state}")), "{what}{state} is never seen");
        }
    }
    for reason in [
        "memberPending MaintenanceWindowClosed",
        "memberPending NodeImageVersionNotAvailable",
        "memberPending KubernetesVersionNotAvailable",
        "memberFailed NodeImageVersionExpired",
        "memberFailed KubernetesMinorVersionSkipped",
        "memberFailed LongTermSupportRequired",
        "memberFailed MemberStopped",
        "memberSkipped User",
        "memberSkipped AlreadyAtTarget",
        "memberSkipped TargetVersionOlder",
        "memberSkipped NodeImageVersionNotFound",
        "memberSkipped MemberStopped",
        "groupSkipped User",
        "groupSkipped AllMembersSkipped",
        "groupSkipped NoMembers",
        "stageSkipped User",
        "stageSkipped AllGroupsSkipped",
    ] {
        assert!(seen.contains_key(reason), "{reason} is never seen");
    }
    for what in ["gate", "wait"] {
        for state in ["Completed", "Skipped"] {
            assert!(seen.contains_key(&format!("{what}{state}")), "{what}{state} is never seen");
        }
    }
}

#[test]
fn shrinking_leaves_what_matters() {
    let fails = |text: &str| {
        let outcome = reference(text, None, None);
        outcome.is_ok_and(|outcome| outcome.events.iter().any(|line| line.contains("groupFailed")))
    };
    let seed = (0..SCENARIOS).find(|seed| fails(&scenario(*seed))).expect("some group fails");
    let small = shrink(&scenario(seed), fails);
    assert!(fails(&small));
    assert!(small.lines().count() < scenario(seed).lines().count());
    let members = small.lines().filter(|line| line.contains("region:")).count();
    assert!(members <= 3, "{small}");
}
