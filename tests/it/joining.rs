//! Members that join in mid-run: in no run that exists, in every later one, and counted from then
//! on (W9, R-I21).

use fleetsim::scheduler::State;
use fleetsim::sim::{Changes, Outcome};
use fleetsim::time::Span;

use crate::experiments::{START, UPDATE, experiment, histories, outcomes, read, run};
use crate::profiles::{Played, play};

const FAMILY: &str = "AKSUbuntu-2204gen2containerd";

/// A member of group `g` in this region with this image.
fn member(name: &str, region: &str, image: &str) -> String {
    format!(
        "{{name: {name}, region: {region}, updateGroup: g, kubernetesVersion: 1.33.3, pools: \
         [{{name: p, nodeImageVersion: {FAMILY}-{image}}}]}}"
    )
}

/// Two members; images at 9 o'clock, and on the third day at 8. Updates take 90 minutes.
fn scenario(head: &str, actions: &[&str]) -> String {
    let (a, b) = (member("a", "westeurope", "202602.13.0"), member("b", "eastus", "202602.13.0"));
    let actions = actions.iter().fold(String::new(), |text, one| text + "\n    - " + one);
    format!(
        "name: joining\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n    - {a}\n    - {b}\n{head}\n\
         script:\n  updates: {{\"*\": {{takes: 90m}}}}\n  releases:\n    - {{nodeImage: \
         {FAMILY}-202603.02.0, regions: {{\"*\": 2026-03-02T09:00:00Z}}}}\n    - {{nodeImage: \
         {FAMILY}-202603.09.0, regions: {{\"*\": 2026-03-05T08:00:00Z}}}}\n  actions:{actions}\n"
    )
}

const PROFILE: &str = "strategies:\n  - {name: both, stages: [{name: s, groups: [{name: g, \
                       maxConcurrency: \"50%\", maxAllowedFailures: \"40%\"}]}]}\n\
                       autoUpgradeProfiles: [{name: images, channel: NodeImage, updateStrategyId: \
                       both}]";

/// `c` joins after two hours, when the first run is going on.
fn join(image: &str) -> String {
    format!("{{at: 2h, join: {}}}", member("c", "westeurope", image))
}

fn played(actions: &[&str]) -> Played {
    play(&scenario(PROFILE, actions))
}

/// The first run starts `a` and `b`, one after the other; the second these, each with its time.
fn assert_second_run_starts(found: &Played, expected: &[&str]) {
    let first = ["1h a", "2h30m b"].map(|start| ("202603.02.0", start));
    let second = expected.iter().map(|start| ("202603.09.0", *start));
    let all = first.into_iter().chain(second).map(|(image, start)| {
        let (at, member) = start.split_once(' ').unwrap();
        format!("{at} images-{image} memberStarted {member}")
    });
    assert_eq!(found.of(&["memberStarted"]), all.collect::<Vec<_>>());
}

#[test]
fn r_i21_a_member_that_joins_is_in_no_run_that_exists_and_in_the_next() {
    let found = played(&[&join("202602.13.0")]);
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    let counts: Vec<_> = runs.iter().map(|run| (run.counts.updated, run.state)).collect();
    assert_eq!(counts, [(2, State::Completed), (3, State::Completed)]);
    assert_eq!(found.images, ["202603.09.0"; 3]);
    // S9, L1: 50 % of the two members of the first run is one at a time, as 50 % of three is.
    assert_second_run_starts(&found, &["3d a", "3d1h30m b", "3d3h c"]);
}

#[test]
fn l1_shares_are_of_the_members_that_a_run_has() {
    let c = join("202602.13.0");
    let d = format!("{{at: 2h, join: {}}}", member("d", "eastus", "202602.13.0"));
    let text = scenario(PROFILE, &[&c, &d]);
    let failing = text.replace("updates: {", "updates: {b: {takes: 90m, fails: X}, ");
    let found = play(&failing);
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    // 40 % of two is one failure that is borne, so both runs complete; of four, two at a time.
    let states: Vec<State> = runs.iter().map(|run| run.state).collect();
    // The stage bears none: the first failure fails it (L8).
    assert_eq!(states, [State::Failed, State::Failed]);
    // Two of four at a time.
    assert_second_run_starts(&found, &["3d a", "3d b"]);
    let counts = runs[1].counts;
    assert_eq!((counts.updated, counts.failed, counts.not_started), (1, 1, 2));
}

#[test]
fn s9_a_generated_run_has_the_members_of_its_making() {
    let actions = [
        "{at: 90m, generate: images}",
        &join("202602.13.0"),
        "{at: 3h, start: true, run: images-202603.02.0}",
    ];
    let text = scenario(PROFILE, &actions)
        .replace("channel: NodeImage", "channel: NodeImage, disabled: true");
    let found = play(&text);
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    assert_eq!((runs.len(), runs[0].counts.updated, runs[0].counts.skipped), (1, 2, 0));
    assert_eq!(found.images, ["202603.02.0", "202603.02.0", "202602.13.0"]);
}

#[test]
fn w9_who_has_left_is_in_no_later_run_and_nobody_waits_for_a_group_of_nobody() {
    let found = played(&[
        &join("202602.13.0"),
        "{at: 1d, leave: a}",
        "{at: 1d, leave: b}",
        "{at: 2d, leave: c}",
    ]);
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    let what: Vec<_> = runs.iter().map(|run| (run.state, run.counts.updated)).collect();
    assert_eq!(what, [(State::Completed, 2), (State::Skipped, 0)]);
    assert_eq!(runs[1].counts.skipped, 0);
}

#[test]
fn w9_a_member_counts_as_behind_from_its_joining_on() {
    let ten_days = Span::from_days(10);
    let hours = |span: Span| span.as_secs_f64() / 3_600.0;
    let found = played(&[&join("202602.13.0")]);
    let behind = &found.outcome.autonomous.as_ref().unwrap().behind[0];
    // a: 1 h to 2 h 30; b: 1 h to 4 h; then all three from 3 d on: 1.5, 3 and 4.5 hours. c: from
    // its joining at 2 h to the second image, and on, to 3 d 4 h 30.
    let triangle = |from: f64, to: f64| (to * to - from * from) / 2.0;
    let c = triangle(0.0, 70.0 + 4.5);
    let integral = triangle(0.0, 1.5) * 2.0 + triangle(0.0, 3.0) * 2.0 + c;
    let present = 2.0 * hours(ten_days) + hours(ten_days) - 2.0;
    assert!((behind[0].mean_seconds() / 3_600.0 - integral / present).abs() < 1e-9);
    // One that leaves counts until then.
    let found = played(&[&join("202602.13.0"), "{at: 3h, leave: c}"]);
    let behind = &found.outcome.autonomous.as_ref().unwrap().behind[0];
    let integral = triangle(0.0, 1.5) * 2.0 + triangle(0.0, 3.0) * 2.0 + triangle(0.0, 1.0);
    let present = 2.0 * hours(ten_days) + 1.0;
    assert!((behind[0].mean_seconds() / 3_600.0 - integral / present).abs() < 1e-9);
    assert_eq!(behind[0].never_caught_up, 0, "it has left");
}

#[test]
fn w9_stale_hours_and_skew_count_from_the_joining_on() {
    let update = format!("update: {{{UPDATE}}}\nstrategies: [{{name: one-by-one}}]");
    let look = |actions: &[&str]| {
        histories(&scenario(&update, actions), 1, |_, _, outcome| outcome.clone()).remove(0)
    };
    let join =
        |at: &str, image: &str| format!("{{at: {at}, join: {}}}", member("c", "westeurope", image));
    let versions = |outcome: &Outcome| (outcome.versions.stale, outcome.versions.skew);
    // Nothing is there at 8: both are at the newest, and the run is over. What comes later makes
    // nobody of the run stale who is done.
    let alone = look(&[]);
    assert_eq!(versions(&alone), (Span::ZERO, 1));
    // c joins in front of what is there: stale from the arrival on, at 1 h, to the horizon.
    let early = look(&[&join("30m", "202602.13.0")]);
    assert_eq!(versions(&early), (Span::from_hours(239), 1));
    // Behind what is there: from its joining on.
    let late = look(&[&join("2h", "202602.12.0")]);
    assert_eq!(versions(&late), (Span::from_hours(238), 2));
    // With the newest: when the next comes.
    let newest = look(&[&join("2h", "202603.02.0")]);
    assert_eq!(versions(&newest), (Span::from_days(7), 2));
    // As long as it is there.
    let leaves = look(&[&join("2h", "202602.12.0"), "{at: 5h, leave: c}"]);
    assert_eq!(versions(&leaves), (Span::from_hours(3), 2));
}

#[test]
fn w9_a_campaign_takes_the_members_that_it_had_when_it_began() {
    let changes = |at: &str| {
        format!(
            "update: {{{UPDATE}}}\nstrategies: [{{name: one-by-one}}]\nconfigurationChanges: [{{at: {at}, operation: vtpm, \
             from: Disabled, to: Enabled}}]"
        )
    };
    let wanted = |at: &str, actions: &[&str]| {
        let outcome =
            outcomes(&scenario(&changes(at), actions), 1, 1).by_strategy.remove(0).remove(0);
        let Changes { wanted, done, .. } = outcome.changes;
        (wanted, done.len())
    };
    let c = join("202602.13.0");
    assert_eq!(wanted("1h", &[&c]), (2, 2), "it began before");
    assert_eq!(wanted("3h", &[&c]), (3, 3));
    assert_eq!(wanted("2h", &[&c]), (3, 3), "joining comes before what is asked then");
    assert_eq!(wanted("3h", &[&c, "{at: 150m, leave: b}"]), (2, 2), "who has left is not asked");
}

#[test]
fn w7_a_member_that_joins_with_a_defective_release_is_exposed_from_then_on() {
    let update = format!("update: {{{UPDATE}}}\nstrategies: [{{name: one-by-one}}]");
    let defect = format!(
        "  defects:\n    - {{nodeImage: {FAMILY}-202603.02.0, members: [c], degradesAfter: 1h, \
         fixed: 2026-03-04T08:00:00Z}}\n"
    );
    let text = scenario(&update, &[&join("202603.02.0")]) + &defect;
    let exposed = |text: &str| outcomes(text, 1, 1).by_strategy[0][0].exposure;
    let found = exposed(&text);
    assert_eq!((found.members, found.time), (1, Span::from_hours(46)), "from 2 h to the fix");
    let older = exposed(&text.replace(&join("202603.02.0"), &join("202602.13.0")));
    assert_eq!((older.members, older.time), (0, Span::ZERO));
}

/// Members join every ten hours, at most five of them, like those in westeurope.
fn drawn(every: &str, more: &str) -> String {
    let (a, b) = (member("a", "westeurope", "202602.13.0"), member("b", "eastus", "202602.13.0"));
    format!(
        "name: drawn\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n    - {a}\n    - {b}\n{PROFILE}\n\
         world:\n  durations: {{update: 90m}}\n  failures: none\n  churn: {{join: {{every: {every}, \
         atMost: 5, name: \"new-{{n}}\", like: {{region: westeurope}}}}{more}}}\nscript:\n  releases:\n    \
         - {{nodeImage: {FAMILY}-202603.02.0, regions: {{\"*\": 2026-03-02T09:00:00Z}}}}\n    - \
         {{nodeImage: {FAMILY}-202603.09.0, regions: {{\"*\": 2026-03-05T08:00:00Z}}}}\n"
    )
}

#[test]
fn w9_members_that_join_by_themselves_are_like_others_and_start_with_the_newest_images() {
    let scenario = read(&drawn("30h", ""));
    let names: Vec<&str> = scenario.fleet.members.iter().map(|m| &*m.name).collect();
    assert_eq!(names, ["a", "b", "new-1", "new-2", "new-3", "new-4", "new-5"]);
    let regions = scenario.fleet.members.iter().skip(2).map(|m| &*scenario.fleet.regions[m.region]);
    assert!(regions.eq(["westeurope"; 5]));
    // At 30 h and 60 h with the first image, in the run of the second, at 72 h; then with that.
    let found = play(&drawn("30h", ""));
    let runs = &found.outcome.autonomous.as_ref().unwrap().runs;
    assert_eq!(runs.iter().map(|run| run.counts.updated).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(found.images, ["202603.09.0"; 7]);
    assert_eq!(found.kubernetes, ["1.33.3"; 7]);
}

/// Joinings are a Poisson stream: how many members the second run, after 72 hours, has besides the
/// two that were there is Poisson(7.2).
#[test]
fn w9_joinings_come_at_the_rate_that_is_said() {
    let text = drawn("{exponential: {mean: 10h}}", "").replace("atMost: 5", "atMost: 40");
    let scenario = read(&text);
    let outcomes = run(&experiment(&scenario), 2_000, 2);
    let joined = outcomes.by_strategy[0].iter().map(|outcome| {
        let runs = &outcome.autonomous.as_ref().unwrap().runs;
        f64::from(runs[1].counts.updated - 2)
    });
    let joined: Vec<f64> = joined.collect();
    let number = 2_000.0;
    let mean = joined.iter().sum::<f64>() / number;
    let variance = joined.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (number - 1.0);
    // 99.9 %: 3.29 standard errors of a mean of Poisson(7.2), and of its variance.
    let error = (7.2_f64 / number).sqrt();
    assert!((mean - 7.2).abs() < 3.29 * error, "{mean}");
    let error_of_variance = ((7.2 + 2.0 * 7.2_f64.powi(2)) / number).sqrt();
    assert!((variance - 7.2).abs() < 3.29 * error_of_variance, "{variance}");
}

/// X1: whoever joins changes nobody else's luck.
#[test]
fn x1_members_that_join_change_no_other_draw() {
    let update = format!("update: {{{UPDATE}}}\nstrategies: [{{name: one-by-one}}]");
    let text = |churn: &str| {
        format!(
            "name: coupled\nstart: {START}\nhorizon: 30d\nfleet:\n  populations:\n    - {{count: 20, name: \
             \"m{{n}}\", region: {{choose: {{westeurope: 1, eastus: 1}}}}}}\n{update}\nworld: {{defects: \
             default, churn: {churn}}}\n"
        )
    };
    let leave = "leave: {after: {exponential: {mean: 60d}}}";
    let without = outcomes(&text(&format!("{{{leave}}}")), 20, 2);
    let with = outcomes(
        &text(&format!(
            "{{{leave}, join: [{{every: 5h, atMost: 30, members: {{name: \"new-{{n}}\", region: \
             uksouth, pools: [{{name: p, count: {{uniform: [3, 9]}}}}]}}}}]}}"
        )),
        20,
        2,
    );
    for (with, without) in with.by_strategy[0].iter().zip(&without.by_strategy[0]) {
        assert_eq!((with.trace, &with.done), (without.trace, &without.done));
        assert!(with.versions.stale > without.versions.stale, "somebody joined and is behind");
    }
}
