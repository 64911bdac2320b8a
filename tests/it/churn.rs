//! Members that are stopped, started and leave (W9, U8, R-I21), and somebody who skips those that
//! wait too long (W11).

use std::fmt::Write as _;

use fleetsim::scheduler::{Node, Reason, State};
use fleetsim::sim::{End, Outcome};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{POOL, RELEASED, START, UPDATE, histories, outcomes};

/// Members `m1`, `m2` and so on, each updated in an hour, one by one.
fn story(members: u32, update: &str, script: &str) -> String {
    let mut text = format!("name: churn\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n");
    for n in 1..=members {
        writeln!(text, "    - {{name: m{n}, region: westeurope, updateGroup: g, {POOL}}}").unwrap();
    }
    write!(
        text,
        "update: {{{UPDATE}, {update}}}\nstrategies: [{{name: one-by-one}}]\nscript:\n  updates: \
         {{\"*\": {{takes: 1h}}}}{RELEASED}{script}"
    )
    .unwrap();
    text
}

/// How each member ended: when, in hours from the start, how and why.
type Ends = Vec<(i64, State, Option<Reason>)>;

fn ends(text: &str) -> (Ends, Outcome) {
    let start: Timestamp = START.parse().unwrap();
    histories(text, 1, |plan, history, outcome| {
        let end = |id| {
            let of =
                |r: &&fleetsim::scheduler::Record| r.node == Node::Member(id) && r.to.is_ended();
            let last = history.records.iter().rfind(of);
            let minutes = |r: &fleetsim::scheduler::Record| {
                (r.time - start).as_millis() / Span::from_mins(1).as_millis()
            };
            last.map_or((0, State::NotStarted, None), |r| (minutes(r), r.to, r.reason))
        };
        (plan.fleet.members.ids().map(end).collect(), outcome.clone())
    })
    .remove(0)
}

const SKIP: &str = "stoppedMembers: skip";
const FAIL: &str = "stoppedMembers: fail";
const UPDATED: State = State::Completed;

#[test]
fn w9_a_member_that_is_stopped_follows_u8_when_it_is_tried() {
    let script = "  actions:\n    - {at: 30m, stopMember: m2}\n";
    let (ended, outcome) = ends(&story(3, SKIP, script));
    let stopped = (60, State::Skipped, Some(Reason::MemberStopped));
    assert_eq!(ended, [(60, UPDATED, None), stopped, (120, UPDATED, None)]);
    assert_eq!(outcome.end, End::Completed);
    let (ended, outcome) = ends(&story(3, FAIL, script));
    let stopped = (60, State::Failed, Some(Reason::MemberStopped));
    assert_eq!(ended, [(60, UPDATED, None), stopped, (0, State::NotStarted, None)]);
    assert_eq!(outcome.end, End::Failed);
}

#[test]
fn w9_a_member_that_is_started_in_time_is_updated_as_any_other() {
    let script = "  actions:\n    - {at: 30m, stopMember: m2}\n    - {at: 59m, startMember: m2}\n";
    let (ended, _) = ends(&story(2, FAIL, script));
    assert_eq!(ended, [(60, UPDATED, None), (120, UPDATED, None)]);
    // The same for one that was stopped from the beginning.
    let script = "  actions:\n    - {at: 30m, startMember: m2}\n";
    let text = story(2, FAIL, script).replace("name: m2, ", "name: m2, powerState: Stopped, ");
    assert_eq!(ends(&text).0, [(60, UPDATED, None), (120, UPDATED, None)]);
}

#[test]
fn w9_a_member_that_is_stopped_in_flight_ends_its_update() {
    let script = "  actions:\n    - {at: 30m, stopMember: m1}\n";
    assert_eq!(ends(&story(1, FAIL, script)).0, [(60, UPDATED, None)]);
}

#[test]
fn r_i21_a_member_that_leaves_is_skipped_unless_its_update_has_started() {
    let script = "  actions:\n    - {at: 30m, leave: m1}\n    - {at: 30m, leave: m2}\n    - {at: 40m, leave: m4}\n";
    let (ended, outcome) = ends(&story(4, FAIL, script));
    let left = |at| (at, State::Skipped, Some(Reason::MemberLeft));
    assert_eq!(ended, [(60, UPDATED, None), left(30), (120, UPDATED, None), left(40)]);
    assert_eq!((outcome.end, outcome.updated, outcome.skipped), (End::Completed, 2, 2));
    // Who is not done is not done by leaving.
    assert_eq!(outcome.time_to(99), None);
}

#[test]
fn r_i21_when_all_leave_the_run_is_skipped() {
    // Behind a gate that nobody opens, so that nobody is tried.
    let text =
        story(2, FAIL, "  actions:\n    - {at: 30m, leave: m1}\n    - {at: 40m, leave: m2}\n");
    let gate = "strategies: [{name: s, stages: [{name: s, groups: [{name: g}], beforeGates: \
                [{type: Approval}]}]}]";
    let (ended, outcome) = ends(&text.replace("strategies: [{name: one-by-one}]", gate));
    let left = |at| (at, State::Skipped, Some(Reason::MemberLeft));
    assert_eq!(ended, [left(30), left(40)]);
    assert_eq!((outcome.end, outcome.makespan), (End::Skipped, Some(Span::from_mins(40))));
}

#[test]
fn r_i21_a_member_that_left_in_flight_is_not_tried_again() {
    let script =
        "  actions:\n    - {at: 30m, leave: m1}\n    - {at: 3h, start: {restart: retryFailed}}\n";
    let text = story(2, FAIL, script)
        .replace("{\"*\": {takes: 1h}}", "{m1: {takes: 1h, fails: Broken}, \"*\": {takes: 1h}}");
    let (ended, outcome) = ends(&text);
    assert_eq!(ended, [(180, State::Skipped, Some(Reason::MemberLeft)), (240, UPDATED, None)]);
    assert_eq!(outcome.end, End::Completed);
}

/// Twelve members, an hour each; every cluster runs for ten hours and is stopped for two.
#[test]
fn w9_clusters_are_stopped_and_started_in_turn() {
    let text = |update: &str| {
        format!(
            "name: turns\nstart: {START}\nhorizon: 10d\nfleet:\n  populations: [{{count: 12, name: \
             \"m-{{n:02}}\", region: westeurope, updateGroup: g, {POOL}}}]\nupdate: {{{UPDATE}, \
             {update}}}\nstrategies: [{{name: s, stages: [{{name: s, maxAllowedFailures: 12, \
             groups: [{{name: g, maxAllowedFailures: 12}}]}}]}}]\nworld: {{durations: {{update: \
             1h}}, failures: none, people: none, churn: {{stopped: {{every: 10h, lasts: 2h}}}}}}\n\
             script: {RELEASED}"
        )
    };
    let (ended, outcome) = ends(&text(SKIP));
    // The tenth ends at ten hours, when all are stopped: the rest is tried at that instant.
    assert_eq!((outcome.updated, outcome.skipped, outcome.end), (10, 2, End::Completed));
    assert_eq!(ended[11], (600, State::Skipped, Some(Reason::MemberStopped)));
    assert_eq!(ends(&text(FAIL)).1.failed, 2);
    // With half the way to go, nobody is stopped when it is tried, before two more hours.
    let slow = text(SKIP).replace("{every: 10h, lasts: 2h}", "{every: 4h, lasts: 30m}");
    let (_, outcome) = ends(&slow);
    // Tried at 0, 1, 2, 3 h: updated; at 4 h all are stopped.
    assert_eq!((outcome.updated, outcome.skipped), (4, 8));
}

/// Who leaves before a gate opens after 100 hours is binomial.
#[test]
fn w9_departures_are_drawn_one_by_one() {
    let text = format!(
        "name: leave\nstart: {START}\nhorizon: 30d\nseed: 4\nfleet:\n  populations: [{{count: 50, \
         name: \"m-{{n:02}}\", region: westeurope, updateGroup: g, {POOL}}}]\nupdate: \
         {{{UPDATE}}}\nstrategies: [{{name: s, stages: [{{name: s, groups: [{{name: g, \
         maxConcurrency: 50}}], beforeGates: [{{type: Approval}}]}}]}}]\nworld: {{durations: \
         {{update: 1h}}, failures: none, churn: {{leave: {{after: {{exponential: {{mean: \
         200h}}}}}}}}}}\nscript: {RELEASED}  actions: [{{at: 100h, approve: stage:s/before}}]\n"
    );
    let found = outcomes(&text, 1_000, 2);
    let skipped: f64 = found.by_strategy[0].iter().map(|o| f64::from(o.skipped)).sum();
    let (p, n) = (1.0 - (-0.5_f64).exp(), 50.0 * 1_000.0);
    let z = (skipped - n * p) / (n * p * (1.0 - p)).sqrt();
    assert!(z.abs() < 3.2905, "{skipped} of {n} left: z = {z:.2}");
    assert!(found.by_strategy[0].iter().all(|o| o.updated + o.skipped == 50));
}

/// A window that opens every Sunday; the start is a Monday, 08:00.
fn windows(people: &str) -> String {
    let window = "maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: \
                  {intervalWeeks: 1, dayOfWeek: Sunday}}, durationHours: 4, startTime: \"01:00\"}}";
    format!(
        "name: pending\nstart: {START}\nhorizon: 20d\nfleet:\n  members:\n    - {{name: m1, region: \
         westeurope, updateGroup: g, {POOL}}}\n    - {{name: m2, region: westeurope, updateGroup: g, \
         {window}, {POOL}}}\nupdate: {{{UPDATE}}}\nstrategies: [{{name: one-by-one}}]\nworld: \
         {{durations: {{update: 1h}}, failures: none, people: {{{people}}}}}\nscript: {RELEASED}"
    )
}

#[test]
fn w11_somebody_skips_a_member_that_is_pending_too_long() {
    let skipped = |minutes| (minutes, State::Skipped, Some(Reason::User));
    // m2 is first tried together with m1, which has no window and goes first.
    let (ended, outcome) = ends(&windows("skipPending: {after: 3d}"));
    let pending = 60;
    assert_eq!(ended, [(60, UPDATED, None), skipped(pending + 3 * 24 * 60)]);
    assert_eq!(outcome.end, End::Completed);
    // Nobody waits that long: the window opens first, on Sunday at one.
    let (ended, _) = ends(&windows("skipPending: {after: 6d}"));
    assert_eq!(ended[1].1, UPDATED);
    let (ended, _) = ends(&windows("skipPending: none"));
    assert_eq!(ended[1].1, UPDATED);
    // Counted in working hours, three hours of Tuesdays end on Tuesday at noon.
    let hours = "skipPending: {after: 3h, days: [Tuesday], hours: \"09:00-17:00\"}";
    assert_eq!(ends(&windows(hours)).0[1], skipped((24 + 4) * 60));
}
