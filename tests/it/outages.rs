//! Outages of regions in whole simulations (W3).

use fleetsim::experiment::History;
use fleetsim::scheduler::{Node, State};
use fleetsim::sim::DelayCause;
use fleetsim::time::Span;

use crate::experiments::{POOL, RELEASED, START, UPDATE, histories, outcomes};

/// Two members of two regions, side by side, each updated for four hours.
fn two(outages: &str, world: &str) -> String {
    format!(
        "
name: outages
start: {START}
horizon: 3d
fleet:
  members:
    - {{name: west, region: westeurope, updateGroup: g, {POOL}}}
    - {{name: east, region: eastus, updateGroup: h, {POOL}}}
update: {{{UPDATE}}}
strategies: [{{name: s, stages: [{{name: s, maxAllowedFailures: 1, groups: [{{name: g, maxAllowedFailures: 1}}, {{name: h}}]}}]}}]
script:
  updates: {{'*': {{takes: 4h}}}}{RELEASED}{outages}
world: {{people: none{world}}}
"
    )
}

/// What becomes of both members: state, reason, hours since the start.
fn story(history: &History) -> Vec<(u32, State, String, i64)> {
    let codes = ["UpdateFailed".to_owned(), "RegionOutage".to_owned()];
    let start: fleetsim::time::Timestamp = START.parse().unwrap();
    let of = |record: &fleetsim::scheduler::Record| {
        let Node::Member(id) = record.node else { return None };
        let reason = record.reason.map_or(String::new(), |reason| reason.text(&codes).to_owned());
        Some((id.0, record.to, reason, (record.time - start).as_millis() / 3_600_000))
    };
    history.records.iter().filter_map(of).collect()
}

fn of(text: &str) -> (Vec<(u32, State, String, i64)>, fleetsim::sim::Outcome) {
    histories(text, 1, |_, history, outcome| (story(history), outcome.clone())).remove(0)
}

#[test]
fn w3_an_outage_fails_what_is_in_flight_in_its_region_alone() {
    let (story, outcome) =
        of(&two("  outages: [{region: westeurope, from: 2h, to: 6h, effect: fail}]", ""));
    let nothing = String::new;
    assert_eq!(
        story,
        [
            (0, State::Running, nothing(), 0),
            (1, State::Running, nothing(), 0),
            (0, State::Failed, "RegionOutage".to_owned(), 2),
            (1, State::Completed, nothing(), 4),
        ]
    );
    assert_eq!((outcome.updated, outcome.failed), (1, 1));
}

#[test]
fn w3_an_outage_stretches_what_is_in_flight_by_its_length() {
    let (story, outcome) =
        of(&two("  outages: [{region: westeurope, from: 2h, to: 6h, effect: stretch}]", ""));
    assert_eq!(story.last().unwrap(), &(0, State::Completed, String::new(), 8));
    assert_eq!(outcome.makespan, Some(Span::from_hours(8)));
    assert_eq!(outcome.delays.of(DelayCause::Updating), Span::from_hours(8));
}

#[test]
fn w3_nothing_starts_in_a_region_that_is_out_until_a_poll_notices_its_end() {
    // From before the start to between two polls; the start is at 08:00.
    let from = "{region: westeurope, from: 0s, to: 10h30m}";
    let (story, outcome) = of(&two(&format!("  outages: [{from}]"), ""));
    assert_eq!(story[0], (0, State::Pending, "MemberBusy".to_owned(), 0));
    let started = story.iter().find(|(id, state, ..)| *id == 0 && *state == State::Running);
    assert_eq!(started.unwrap().3, 11);
    assert_eq!(outcome.delays.of(DelayCause::Busy), Span::from_mins(630));
    assert_eq!(outcome.delays.of(DelayCause::Poll), Span::from_mins(30));
    assert_eq!(outcome.delays.of(DelayCause::Updating), Span::from_hours(4));
    assert_eq!(outcome.makespan, Some(Span::from_hours(15)));
}

#[test]
fn w3_a_member_that_waits_through_an_outage_says_so() {
    // Its window opens in the outage; the outage comes first in R-B7.
    let window = "aksManagedNodeOSUpgradeSchedule: {schedule: {daily: {intervalDays: 1}}, \
                  durationHours: 8, startTime: \"12:00\"}";
    let text = two("  outages: [{region: westeurope, from: 2h, to: 9h}]", "").replacen(
        POOL,
        &format!("{POOL}, maintenance: {{{window}}}"),
        1,
    );
    let (story, _) = of(&text);
    let west: Vec<_> = story.into_iter().filter(|(id, ..)| *id == 0).collect();
    let reasons: Vec<(&str, i64)> =
        west.iter().map(|(_, _, why, at)| (why.as_str(), *at)).collect();
    assert_eq!(
        reasons,
        [("MaintenanceWindowClosed", 0), ("MemberBusy", 2), ("", 9), ("", 13)],
        "{west:?}"
    );
}

/// One member, updated for an hour, in a region with outages.
fn drawn(outages: &str) -> String {
    format!(
        "
name: drawn
start: {START}
horizon: 30d
fleet: {{members: [{{name: m, region: westeurope, updateGroup: g, {POOL}}}]}}
update: {{{UPDATE}}}
strategies: [{{name: s, stages: [{{name: s, groups: [{{name: g}}]}}]}}]
script:{RELEASED}
world: {{people: none, failures: none, durations: {{update: {{exponential: {{mean: 1h}}}}}}{outages}}}
"
    )
}

#[test]
fn w3_an_update_meets_an_outage_as_often_as_two_exponentials_race() {
    // The update ends at rate 1 an hour, outages begin at rate 1/3: a quarter of updates fails.
    let text = drawn(", outages: {every: {exponential: {mean: 3h}}, lasts: 1h}");
    let outcomes = outcomes(&text, 4_000, 2);
    let failed: u32 = outcomes.by_strategy[0].iter().map(|outcome| outcome.failed).sum();
    let share = f64::from(failed) / 4_000.0;
    // Neither comes in its first minute or second: as good as nothing against 99.9 %.
    assert!((share - 0.25).abs() < 3.29 * (0.1875_f64 / 4_000.0).sqrt() + 0.004, "{share}");
}

#[test]
fn x1_outages_that_never_come_change_nothing() {
    let without = outcomes(&drawn(""), 200, 1);
    let rare = outcomes(&drawn(", outages: {every: 36500d, lasts: 1h}"), 200, 1);
    assert!(without == rare);
    let off = outcomes(&drawn(", outages: none"), 200, 1);
    assert!(without == off);
}
