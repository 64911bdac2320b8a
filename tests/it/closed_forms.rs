//! The simulator against results that are known in closed form.
//!
//! Every scenario is read, planned and simulated as a user's would be. Each check is a two-sided
//! test at 99.9 % of what was simulated against the formula: of a mean with the formula's own
//! variance, of a variance with the sample's fourth moment. The seeds are fixed, so a test passes
//! or fails for good; with some forty checks, a right program had a chance of 4 % that one of them
//! failed when it was written. What a test could have found stands in its standard error: a few
//! thousand replications see an error of one or two percent of a mean.
//!
//! Durations are long, hours to weeks, so that their rounding to milliseconds and their least of a
//! second (R-A8) lie below one millionth of every mean; no run is so long that its image expires
//! (U4), which would fail it.

use std::fmt::Write as _;

use fleetsim::experiment::History;
use fleetsim::ids::MemberId;
use fleetsim::quantiles::{Distribution, Quantiles};
use fleetsim::scheduler::{Event, NoLog, Node, Plan, Record, Scheduler, State};
use fleetsim::sim::draw::{Luck, Purpose};
use fleetsim::sim::{DelayCause, End, Outcome};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{POOL, RELEASED, START, UPDATE, experiment, histories, outcomes, read};

/// The two-sided 99.9 % quantile of the standard normal distribution.
const Z: f64 = 3.2905;
/// Seconds of an hour and of a day.
const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;

#[expect(clippy::cast_precision_loss, reason = "samples are small")]
fn count(n: usize) -> f64 {
    n as f64
}

fn mean_of(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / count(sample.len())
}

/// The central moment of this order.
fn moment(sample: &[f64], order: i32) -> f64 {
    let mean = mean_of(sample);
    sample.iter().map(|x| (x - mean).powi(order)).sum::<f64>() / count(sample.len())
}

/// The sample's mean is this one, whose single values have this variance.
#[track_caller]
fn assert_mean(what: &str, sample: &[f64], mean: f64, variance: f64) {
    let (found, error) = (mean_of(sample), (variance / count(sample.len())).sqrt());
    let z = (found - mean) / error;
    assert!(z.abs() < Z, "{what}: mean {found}, expected {mean}: z = {z:.2}");
}

/// The sample's variance is this one.
#[track_caller]
fn assert_variance(what: &str, sample: &[f64], variance: f64) {
    let found = moment(sample, 2);
    let error = ((moment(sample, 4) - found * found) / count(sample.len())).sqrt();
    let z = (found - variance) / error;
    assert!(z.abs() < Z, "{what}: variance {found}, expected {variance}: z = {z:.2}");
}

/// A scenario of `n` members in group `g`, each update drawn from `update`.
fn plain(n: u32, update: &str, strategies: &str, world: &str) -> String {
    format!(
        "name: closed-form\nstart: {START}\nhorizon: 36525d\nseed: 20261130\nfleet:\n  \
         populations:\n    - {{count: {n}, name: \"m{{n:04}}\", region: westeurope, \
         updateGroup: g, {POOL}}}\nupdate: {{{UPDATE}}}\nstrategies:\n{strategies}world: \
         {{durations: {{update: {update}}}{world}}}\nscript: {RELEASED}"
    )
}

/// One stage with the group `g`, `c` members at a time, which forgives `failures`.
fn strategy(c: usize, failures: usize) -> String {
    format!(
        "  - {{name: c{c}, stages: [{{name: s, maxAllowedFailures: {failures}, groups: \
         [{{name: g, maxConcurrency: {c}, maxAllowedFailures: {failures}}}]}}]}}\n"
    )
}

const NO_LUCK_BUT_DURATIONS: &str = ", failures: none, people: none";

/// The makespans in seconds; all runs must be Completed.
fn makespans(outcomes: &[Outcome]) -> Vec<f64> {
    let makespan = |outcome: &Outcome| {
        assert_eq!(outcome.end, End::Completed);
        outcome.makespan.expect("completed runs have one").as_secs_f64()
    };
    outcomes.iter().map(makespan).collect()
}

/// Σ 1/k^power for k to n.
fn harmonic(n: usize, power: i32) -> f64 {
    (1..=n).map(|k| count(k).powi(-power)).sum()
}

/// While more members wait than can run, one of c ends after m/c; then each end leaves one less
/// running. All these steps are independent and exponential.
#[test]
fn exponential_updates_c_at_a_time() {
    let (n, m) = (40, 8.0 * HOUR);
    let limits = [1, 2, 3, 8, 25, 39, 40];
    let strategies: String = limits.iter().map(|c| strategy(*c, 0)).collect();
    let text = plain(n, "{exponential: {mean: 8h}}", &strategies, NO_LUCK_BUT_DURATIONS);
    let found = outcomes(&text, 4_000, 2);
    for (c, outcomes) in limits.into_iter().zip(&found.by_strategy) {
        let makespans = makespans(outcomes);
        let waiting = f64::from(n) - count(c);
        let mean = m * (waiting / count(c) + harmonic(c, 1));
        let variance = m * m * (waiting / count(c).powi(2) + harmonic(c, 2));
        assert_mean(&format!("{c} of {n} at a time"), &makespans, mean, variance);
        assert_variance(&format!("{c} of {n} at a time"), &makespans, variance);
    }
}

/// The same for a fleet beyond the cap of 50 at a time, in ten groups of one stage: groups share
/// the stage's slots, and none is left free while anybody waits.
#[test]
fn exponential_updates_of_groups_that_share_a_stage() {
    let m = 40.0 * HOUR;
    let group = |g: u32| format!("{{name: g{g}, maxConcurrency: 20}}");
    let groups: Vec<String> = (0..10).map(group).collect();
    let population = |g: u32| {
        format!(
            "    - {{count: 20, name: \"g{g}-{{n:02}}\", region: westeurope, updateGroup: g{g}, \
             {POOL}}}\n"
        )
    };
    let populations: String = (0..10).map(population).collect();
    let text = format!(
        "name: closed-form\nstart: {START}\nhorizon: 36525d\nseed: 4\nfleet:\n  populations:\n\
         {populations}update: {{{UPDATE}}}\nstrategies:\n  - {{name: s, stages: [{{name: s, \
         maxConcurrency: 16, groups: [{}]}}]}}\nworld: {{durations: {{update: \
         {{exponential: {{mean: 40h}}}}}}{NO_LUCK_BUT_DURATIONS}}}\nscript: {RELEASED}",
        groups.join(", ")
    );
    let makespans = makespans(&outcomes(&text, 1_000, 2).by_strategy[0]);
    let mean = m * (184.0 / 16.0 + harmonic(16, 1));
    let variance = m * m * (184.0 / 256.0 + harmonic(16, 2));
    assert_mean("16 of 200 in ten groups", &makespans, mean, variance);
}

/// The maximum of n uniforms on [0, 1] has the mean n/(n+1).
#[test]
fn the_last_of_uniform_updates() {
    for n in [1, 2, 5, 20, 50] {
        let strategies = strategy(n, 0);
        let members = u32::try_from(n).expect("a small number");
        let text = plain(members, "{uniform: [0s, 1000h]}", &strategies, NO_LUCK_BUT_DURATIONS);
        let makespans = makespans(&outcomes(&text, 3_000, 2).by_strategy[0]);
        let (longest, n) = (1_000.0 * HOUR, count(n));
        let variance = longest.powi(2) * n / ((n + 1.0).powi(2) * (n + 2.0));
        assert_mean(&format!("{n} uniforms"), &makespans, longest * n / (n + 1.0), variance);
        assert_variance(&format!("{n} uniforms"), &makespans, variance);
    }
}

/// One at a time, means and variances add up.
#[test]
fn one_at_a_time_adds_up() {
    let sigma2: f64 = 0.25;
    let lognormal = (40.0 * HOUR) * (sigma2 / 2.0).exp();
    let triangular = (10.0_f64, 20.0, 60.0);
    let (a, b, c) = triangular;
    let spread = (a * a + b * b + c * c - a * b - a * c - b * c) / 18.0;
    let cases = [
        ("{lognormal: {median: 40h, sigma: 0.5}}", lognormal, lognormal.powi(2) * sigma2.exp_m1()),
        ("{gamma: {mean: 40h, cv: 0.7}}", 40.0 * HOUR, (28.0 * HOUR).powi(2)),
        ("{triangular: [10h, 20h, 60h]}", (a + b + c) / 3.0 * HOUR, spread * HOUR * HOUR),
        ("{weibull: {scale: 40h, shape: 1}}", 40.0 * HOUR, (40.0 * HOUR).powi(2)),
        (
            "{mixture: [{weight: 1, of: 10h}, {weight: 3, of: 50h}]}",
            40.0 * HOUR,
            300.0 * HOUR * HOUR,
        ),
        ("{empirical: [10h, 30h]}", 20.0 * HOUR, 400.0 / 12.0 * HOUR * HOUR),
    ];
    for (update, mean, variance) in cases {
        let text = plain(12, update, &strategy(1, 0), NO_LUCK_BUT_DURATIONS);
        let makespans = makespans(&outcomes(&text, 3_000, 2).by_strategy[0]);
        assert_mean(update, &makespans, 12.0 * mean, 12.0 * variance);
        assert_variance(update, &makespans, 12.0 * variance);
    }
}

/// A run that forgives f failures ends with failure f + 1: a negative binomial number of trials.
#[test]
fn failures_stop_a_run_after_a_negative_binomial_number() {
    for (p, threshold) in [(0.1, 0), (0.1, 2), (0.25, 5), (0.02, 1)] {
        let world = format!(", failures: {{probability: {p}}}, people: {{restart: none}}");
        let text = plain(1_000, "{exponential: {mean: 1h}}", &strategy(1, threshold), &world);
        let outcomes = &outcomes(&text, 3_000, 2).by_strategy[0];
        let started: Vec<f64> = outcomes
            .iter()
            .map(|outcome| {
                assert_eq!(outcome.end, End::Failed, "the fleet is long enough");
                assert_eq!(outcome.failed as usize, threshold + 1);
                f64::from(outcome.updated + outcome.failed)
            })
            .collect();
        let failures = count(threshold) + 1.0;
        let what = format!("p {p}, threshold {threshold}");
        assert_mean(&what, &started, failures / p, failures * (1.0 - p) / (p * p));
        assert_variance(&what, &started, failures * (1.0 - p) / (p * p));
    }
}

/// With all failures transient and somebody who restarts, every failure costs one restart, its
/// delay and one more update: n·m + n·p·(m + r), and the number of restarts is binomial.
#[test]
fn restarts_cost_their_delay_and_another_update() {
    let (n, p, m, r) = (100, 0.1, 8.0 * HOUR, 5.0 * HOUR);
    let world = ", failures: {probability: 0.1, transient: 1}, people: {approvers: none, \
                 restart: {after: {exponential: {mean: 5h}}, atMost: 1000, \
                 restart: retryFailed}}";
    let text = plain(n, "{exponential: {mean: 8h}}", &strategy(1, 0), world);
    let outcomes = &outcomes(&text, 3_000, 2).by_strategy[0];
    assert!(outcomes.iter().all(|outcome| outcome.updated == n));
    let restarts: Vec<f64> = outcomes.iter().map(|o| f64::from(o.restarts)).collect();
    let n = f64::from(n);
    assert_mean("restarts", &restarts, n * p, n * p * (1.0 - p));
    // A member's whole time: one update, and with probability p another one and a delay.
    let more = m + r;
    let variance = m * m + p * (m * m + r * r) + p * (1.0 - p) * more * more;
    let makespans = makespans(outcomes);
    assert_mean("makespan with restarts", &makespans, n * (m + p * more), n * variance);
    assert_variance("makespan with restarts", &makespans, n * variance);
}

/// With somebody who restarts and keepFailed, all members are tried, and the failed are binomial.
#[test]
fn failed_members_are_binomial() {
    let world = ", failures: {probability: 0.2}, people: {approvers: none, \
                 restart: {after: 1h, atMost: 1000, restart: keepFailed}}";
    let text = plain(60, "{exponential: {mean: 40h}}", &strategy(7, 1), world);
    let outcomes = &outcomes(&text, 3_000, 2).by_strategy[0];
    let failed: Vec<f64> = outcomes.iter().map(|o| f64::from(o.failed)).collect();
    assert_mean("failed members", &failed, 12.0, 9.6);
    assert_variance("failed members", &failed, 9.6);
}

/// Two stages: member `a`, whose update ends at a uniform time, then `b`, whatever stands in
/// `stage` and `member` before it.
fn arrivals(longest: &str, stage: &str, member: &str, poll: &str, people: &str) -> String {
    let start = "2026-03-02T08:20:00Z";
    format!(
        "name: arrivals\nstart: {start}\nhorizon: 200d\nseed: 11\nfleet:\n  members:\n    \
         - {{name: a, region: westeurope, updateGroup: a, {POOL}}}\n    \
         - {{name: b, region: westeurope, updateGroup: b, {POOL}{member}}}\n\
         update: {{{UPDATE}, pollInterval: {poll}}}\n\
         strategies:\n  - name: s\n    stages:\n      - {{name: first, groups: [{{name: a}}]}}\n      \
         - {{name: second, groups: [{{name: b}}]{stage}}}\n\
         world: {{durations: {{update: {{uniform: [0s, {longest}]}}}}, failures: none, \
         people: {people}}}\nscript: {RELEASED}"
    )
}

fn at(history: &History, wanted: impl Fn(&Record) -> bool) -> Timestamp {
    history.records.iter().find(|record| wanted(record)).expect("it happens").time
}

/// When `a` was completed and when `b` was started.
fn wait_of_b(history: &History) -> (Timestamp, Timestamp) {
    let [a, b] = [0, 1].map(|id| Node::Member(MemberId(id)));
    (
        at(history, |r| r.node == a && r.to == State::Completed),
        at(history, |r| r.node == b && r.to == State::Running),
    )
}

const DAILY: &str = ", maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {daily: \
                     {intervalDays: 1}}, durationHours: 6, startTime: \"01:00\", \
                     utcOffset: \"+00:00\"}}";
const WEEKLY: &str = ", maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {weekly: \
                      {intervalWeeks: 1, dayOfWeek: Thursday}}, durationHours: 4, \
                      startTime: \"22:00\", utcOffset: \"+05:30\"}}";

/// A member that arrives at a uniform time waits for its window (D − d)²/(2D) in the mean. With
/// polls, the members that wait are noticed at the first grid point after the opening, `late`
/// after it (O4, R-B4); those that find the window open start at once (R-B13).
#[test]
fn windows_make_members_wait() {
    let minutes = |list: &[f64]| list.iter().map(|m| m * 60.0).collect::<Vec<_>>();
    // The run starts at 08:20; openings at 01:00 are 1,000 minutes later, and every day.
    let cases = [
        ("daily, every instant", DAILY, "0", "10d", 24.0, 6.0, minutes(&[0.0])),
        // The grid is at twenty past.
        ("daily, hourly polls", DAILY, "60m", "10d", 24.0, 6.0, minutes(&[20.0])),
        // 50 minutes don't divide a day: the opening drifts through the grid in five days.
        (
            "daily, 50-minute polls",
            DAILY,
            "50m",
            "10d",
            24.0,
            6.0,
            minutes(&[0.0, 10.0, 20.0, 30.0, 40.0]),
        ),
        ("weekly, every instant", WEEKLY, "0", "28d", 168.0, 4.0, minutes(&[0.0])),
        // Thursday 22:00 at +05:30 is 16:30Z, and the grid is at 17:20.
        ("weekly, 3-hour polls", WEEKLY, "3h", "28d", 168.0, 4.0, minutes(&[50.0])),
    ];
    for (what, window, poll, longest, every, open, late) in cases {
        let text = arrivals(longest, "", window, poll, "none");
        let waits = histories(&text, 4_000, |_, history, outcome| {
            let (arrived, started) = wait_of_b(history);
            let delays = &outcome.delays;
            let charged = delays.of(DelayCause::Window) + delays.of(DelayCause::Poll);
            assert_eq!(charged, started - arrived, "the wait is charged to window and poll");
            (started - arrived).as_secs_f64()
        });
        let (every, closed) = (every * HOUR, (every - open) * HOUR);
        let late_mean = mean_of(&late);
        let late_square = late.iter().map(|x| x * x).sum::<f64>() / count(late.len());
        let mean = closed / every * (closed / 2.0 + late_mean);
        let square = closed / every * (closed * closed / 3.0 + closed * late_mean + late_square);
        if late_mean == 0.0 {
            assert!((mean - closed * closed / (2.0 * every)).abs() < 1e-6, "(D − d)²/(2D)");
        }
        assert_mean(what, &waits, mean, square - mean * mean);
    }
}

const GATE: &str = ", beforeGates: [{type: Approval}]";

/// The working time, Monday to Friday from 09:00 to 17:00 Z, between two instants: counted by the
/// minute, from the calendar alone.
fn worked(from: Timestamp, to: Timestamp) -> f64 {
    let minute = Span::from_mins(1).as_millis();
    let (from, to) = (from.as_millis(), to.as_millis());
    let mut worked = 0;
    let mut now = from;
    while now < to {
        let next = ((now.div_euclid(minute) + 1) * minute).min(to);
        let minutes = now.div_euclid(minute);
        // Day 0 of the epoch was a Thursday.
        let weekday = (minutes.div_euclid(1_440) + 4).rem_euclid(7);
        let working = (1..=5).contains(&weekday);
        if working && (540..1_020).contains(&minutes.rem_euclid(1_440)) {
            worked += next - now;
        }
        now = next;
    }
    Span::from_millis(worked).as_secs_f64()
}

/// A gate waits as much working time as its approver's delay says, whenever it is reached (W10).
#[test]
fn approvals_take_their_working_time() {
    let people = "{approvers: {delay: {exponential: {mean: 6h}}, days: [Monday, Tuesday, \
                  Wednesday, Thursday, Friday], hours: \"09:00-17:00\", utcOffset: \"+00:00\"}, \
                  restart: none}";
    let text = arrivals("28d", GATE, "", "60m", people);
    let delays = histories(&text, 3_000, |plan: &Plan<'_>, history, outcome| {
        let gate = plan.gates.ids().next().map(Node::Gate).expect("one gate");
        let reached = at(history, |r| r.node == gate && r.to == State::Pending);
        let approved = at(history, |r| r.node == gate && r.to == State::Completed);
        assert_eq!(outcome.delays.of(DelayCause::Gate), approved - reached);
        worked(reached, approved)
    });
    assert_mean("working time of approvals", &delays, 6.0 * HOUR, (6.0 * HOUR).powi(2));
    assert_variance("working time of approvals", &delays, (6.0 * HOUR).powi(2));
}

/// An approver who needs no time still has nights and weekends: a gate that is reached at a
/// uniform time waits Σ closed²/(2 · week): four nights of 16 hours and a weekend of 64.
#[test]
fn approvals_wait_for_working_hours() {
    let people = "{approvers: {delay: 0s, days: [Monday, Tuesday, Wednesday, Thursday, Friday], \
                  hours: \"09:00-17:00\", utcOffset: \"-07:00\"}, restart: none}";
    let text = arrivals("28d", GATE, "", "60m", people);
    let waits = histories(&text, 4_000, |_, history, _| {
        let (reached, started) = wait_of_b(history);
        (started - reached).as_secs_f64()
    });
    let closed = [16.0, 16.0, 16.0, 16.0, 64.0].map(|hours| hours * HOUR);
    let mean = closed.iter().map(|c| c * c).sum::<f64>() / (14.0 * DAY);
    let square = closed.iter().map(|c| c.powi(3)).sum::<f64>() / (21.0 * DAY);
    assert_mean("approvals wait for hours", &waits, mean, square - mean * mean);
}

/// Lags of a release to r regions, drawn here and shown to the scheduler as arrivals: the first
/// instant at which a run that starts then finds a Consistent target is the last of them, and the
/// maximum of r exponentials has the mean m·H(r). A test of the choice with lags from outside: the
/// world's own train is not exponential, and is tested against its measurements beside its code.
#[test]
fn consistent_waits_for_the_last_region() {
    let regions = ["westeurope", "eastus", "uksouth", "northeurope", "japaneast", "westus2"];
    let mut members = String::new();
    for (n, region) in regions.iter().enumerate() {
        writeln!(members, "    - {{name: m{n}, region: {region}, updateGroup: g, {POOL}}}")
            .expect("strings take all");
    }
    let consistent = UPDATE.replace("Latest", "Consistent");
    let text = format!(
        "name: lags\nstart: {START}\nhorizon: 10d\nfleet:\n  members:\n{members}\
         update: {{{consistent}}}\nstrategies: [{{name: s, stages: [{{name: s, groups: \
         [{{name: g}}]}}]}}]\nworld: {{failures: none, people: none}}\nscript: {RELEASED}"
    );
    let scenario = read(&text);
    let released = scenario.script.releases.as_ref().expect("they are scripted")[0].what;
    let experiment = experiment(&scenario);
    let mut scheduler = Scheduler::new(&experiment.plans[0]);
    let lag = Distribution::exponential(5.0 * DAY * 1_000.0).expect("a mean above 0");
    let (lag, luck) = (Quantiles::new(&lag), Luck::new(99));
    let firsts: Vec<f64> = (0..4_000)
        .map(|replication| {
            let draws = luck.sequence(replication, Purpose::ReleaseLag, 0);
            let mut arrivals: Vec<_> = scenario
                .fleet
                .regions
                .ids()
                .zip(draws)
                .map(|(region, bits)| (Span::from_millis(lag.millis(bits, 0)), region))
                .collect();
            arrivals.sort_unstable();
            let last = arrivals.last().expect("six regions").0;
            let mut is_chosen_at = |now: Span| {
                scheduler.reset();
                for (at, region) in arrivals.iter().filter(|(at, _)| *at <= now) {
                    scheduler.observe_release(released, *region, scenario.start + *at);
                }
                let outputs = scheduler.handle(scenario.start + now, Event::Started, &mut NoLog);
                assert_eq!(outputs.len(), 0, "members are tried when the scheduler is woken");
                scheduler.target_images().next().is_some()
            };
            let first = arrivals.iter().map(|(at, _)| *at).find(|at| is_chosen_at(*at));
            assert_eq!(first, Some(last));
            assert!(!is_chosen_at(last - Span::from_millis(1)) && is_chosen_at(last));
            last.as_secs_f64()
        })
        .collect();
    let (mean, m) = (harmonic(regions.len(), 1), 5.0 * DAY);
    assert_mean("the last of six lags", &firsts, m * mean, m * m * harmonic(regions.len(), 2));
}
