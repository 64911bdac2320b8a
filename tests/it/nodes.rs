//! Durations by nodes (W4, W5, P1–P5), what stands in their way (W8), and what they cost.

use std::fmt::Write as _;

use fleetsim::experiment::History;
use fleetsim::scheduler::{Node, Plan, State};
use fleetsim::sim::{Costs, End, Outcome};
use fleetsim::time::{Span, Timestamp};

use crate::experiments::{RELEASED, START, UPDATE, histories, outcomes};

const OLD: &str = "nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0";
/// Constants that make the worked example: 7.2 minutes a node.
const CONSTANTS: &str =
    "controlPlane: 8m, createSurge: 4m, drain: 2m, reimage: 312s, removeSurge: 2m";
/// Nothing is in the way.
const CLEAR: &str = "disruptionBudgets: none, quota: none, failures: none, people: none";
const KUBERNETES: &str =
    "    - {kubernetesVersion: 1.34.1, regions: {\"*\": 2026-03-01T00:00:00Z}}\n";
const FULL: &str = "managedClusterUpdate: {upgrade: {type: Full, kubernetesVersion: 1.34.1}}";

/// A scenario under construction: one member `m1` in West Europe, unless others are written.
#[derive(Clone)]
struct Text {
    members: String,
    update: String,
    durations: String,
    world: String,
    script: String,
    strategies: String,
}

fn pool(settings: &str) -> String {
    format!("pools: [{{name: p, mode: User, {OLD}, {settings}}}]")
}

fn member(name: &str, rest: &str) -> String {
    format!("    - {{name: {name}, region: westeurope, kubernetesVersion: 1.33.3, {rest}}}\n")
}

/// One member with one pool.
fn one(settings: &str) -> Text {
    Text {
        members: member("m1", &pool(settings)),
        update: UPDATE.to_owned(),
        durations: CONSTANTS.to_owned(),
        world: CLEAR.to_owned(),
        script: String::new(),
        strategies: String::new(),
    }
}

impl Text {
    fn yaml(&self) -> String {
        let Self { members, update, durations, world, script, strategies } = self;
        let durations = if durations.is_empty() { String::new() } else { format!(", {durations}") };
        format!(
            "name: nodes\nstart: {START}\nhorizon: 60d\nfleet:\n  members:\n{members}update: \
             {{{update}}}\n{strategies}world: {{durations: {{model: nodes{durations}}}, {world}}}\n\
             script: {RELEASED}{KUBERNETES}{script}"
        )
    }

    fn outcome(&self) -> Outcome {
        outcomes(&self.yaml(), 1, 1).by_strategy.remove(0).remove(0)
    }

    /// The makespan of a run that is Completed.
    #[track_caller]
    fn takes(&self) -> Span {
        let outcome = self.outcome();
        assert_eq!(outcome.end, End::Completed);
        outcome.makespan.expect("completed runs have one")
    }

    /// What ends and starts, as `kind member reason @ minute`.
    fn events(&self) -> Vec<String> {
        histories(&self.yaml(), 1, |plan, history, _| updates(plan, history)).remove(0)
    }
}

/// How the members' updates went: name, minutes from the start, and how they ended.
fn updates(plan: &Plan<'_>, history: &History) -> Vec<String> {
    let start: Timestamp = START.parse().unwrap();
    let mut lines = vec![];
    for record in &history.records {
        let Node::Member(id) = record.node else { continue };
        if record.from == State::Running {
            let minutes = (record.time - start).as_secs_f64() / 60.0;
            let name = &plan.fleet.members[id].name;
            let mut line = format!("{name} {} {minutes}", record.to);
            if let Some(reason) = record.reason {
                write!(line, " {reason:?}").unwrap();
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn w4_worked_example_of_a_hundred_nodes() {
    let minutes = |settings: &str| one(settings).takes().as_secs_f64() / 60.0;
    assert_eq!(minutes("count: 100, maxSurge: \"10%\"").to_bits(), 78.0_f64.to_bits());
    assert_eq!(minutes("count: 100, maxSurge: \"33%\"").to_bits(), 34.8_f64.to_bits());
    // The published bound of 24 hours for the nodes, and the surge around them.
    assert_eq!(one("count: 200").takes(), Span::from_mins(1_440 + 6));
    let full = Text { update: FULL.to_owned(), ..one("count: 100, maxSurge: \"10%\"") };
    assert_eq!(full.takes(), Span::from_mins(86), "P4: the control plane before");
    let soak = one("count: 100, maxSurge: \"10%\", nodeSoakDurationInMinutes: 5");
    assert_eq!(soak.takes(), Span::from_mins(78 + 10 * 5));
    let in_place = one("count: 20, maxSurge: 0, maxUnavailable: \"25%\"");
    assert_eq!(in_place.takes(), Span::from_secs(4 * 432), "no surge to wait for");
    assert_eq!(in_place.outcome().costs.peak_extra_nodes, 0);
}

#[test]
fn w4_worked_example_under_the_default_distributions() {
    let text = Text { durations: String::new(), ..one("count: 100, maxSurge: \"10%\"") };
    let outcomes = outcomes(&text.yaml(), 4_000, 2).by_strategy.remove(0);
    let minutes: Vec<f64> =
        outcomes.iter().map(|o| o.makespan.unwrap().as_secs_f64() / 60.0).collect();
    let n = f64::from(4_000);
    let mean = minutes.iter().sum::<f64>() / n;
    let variance = minutes.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = 3.2905 * (variance / n).sqrt();
    assert!((mean - 152.25).abs() < error, "{mean} ± {error} for 152.25");
    assert!(error < 1.2, "the test can see 1 %: {error}");
}

#[test]
fn p4_pools_one_after_another_and_only_those_that_move() {
    let three = |image: &str| {
        format!(
            "pools: [{{name: a, {OLD}, count: 10}}, {{name: b, {image}, count: 10}}, \
             {{name: c, {OLD}, count: 5}}]"
        )
    };
    let text = |image: &str| Text { members: member("m1", &three(image)), ..one("count: 1") };
    let pool = |nodes: i64| Span::from_secs(nodes * 432 + 360);
    assert_eq!(text(OLD).takes(), pool(10) + pool(10) + pool(5));
    let new = "nodeImageVersion: AKSUbuntu-2204gen2containerd-202603.02.0";
    assert_eq!(text(new).takes(), pool(10) + pool(5), "the second is at the target");
    // A Full update moves its Kubernetes version all the same.
    let full = Text { update: FULL.to_owned(), ..text(new) };
    assert_eq!(full.takes(), Span::from_mins(8) + pool(10) + pool(10) + pool(5));
    let control_plane =
        "managedClusterUpdate: {upgrade: {type: ControlPlaneOnly, kubernetesVersion: 1.34.1}}";
    let only = Text { update: control_plane.to_owned(), ..text(OLD) };
    assert_eq!(only.takes(), Span::from_mins(8));
}

#[test]
fn p2_a_pool_that_would_be_too_large_is_refused_before_it_starts() {
    let text = one("count: 1000");
    assert_eq!(text.events()[0].split(' ').take(3).collect::<Vec<_>>(), ["m1", "Failed", "1"]);
    assert_eq!(text.outcome().costs, Costs::default());
    assert_eq!(one("count: 999").outcome().end, End::Completed);
}

const SHORT: &str = "  capacity: [{region: westeurope, from: 0s, to: 5h, total: TOTAL}]\n";

fn short(settings: &str, total: bool) -> Text {
    Text { script: SHORT.replace("TOTAL", &total.to_string()), ..one(settings) }
}

#[test]
fn p2_surge_that_is_refused_falls_back_or_fails() {
    let surge_only = short("count: 20, maxSurge: 5", true);
    let found = surge_only.events();
    assert!(found[0].starts_with("m1 Failed 4 "), "after asking for its surge: {found:?}");
    let both = "count: 20, maxSurge: 5, maxUnavailable: 4";
    assert_eq!(short(both, true).takes(), Span::from_secs(5 * 432), "in place");
    assert_eq!(short(both, false).takes(), Span::from_secs(5 * 432), "1.33 tries no single node");
    let newer = |total| {
        let text = short(both, total);
        Text { members: text.members.replace("1.33.3", "1.35.0"), ..text }
    };
    assert_eq!(newer(false).takes(), Span::from_secs(20 * 432 + 360), "a surge of one");
    assert_eq!(newer(true).takes(), Span::from_secs(5 * 432), "not even one");
    let other = Text { members: surge_only.members.replace("westeurope", "eastus"), ..surge_only };
    assert_eq!(other.takes(), Span::from_secs(4 * 432 + 360), "elsewhere there is plenty");
}

/// Restarts by the script, one a day; failed members are tried again.
fn restarts(times: u32) -> String {
    let at = |day| format!("{{at: {day}d, start: {{restart: retryFailed}}}}");
    let all: Vec<String> = (1..=times).map(at).collect();
    format!("  actions: [{}]\n", all.join(", "))
}

fn blocked(settings: &str, budget: &str, times: u32) -> Text {
    let budget = format!("  disruptionBudgets: [{{member: m1, {budget}}}]\n");
    Text { script: budget + &restarts(times), ..one(settings) }
}

#[test]
fn p3_a_drain_timeout_stops_and_the_next_attempt_resumes() {
    // Batches of 5: 20 nodes are done, one of the next 5 is blocked for 30 minutes.
    let settings = "count: 50, maxSurge: 5";
    let text = blocked(settings, "after: 22, nodes: 1, mended: 20h", 1);
    let found = text.events();
    let first = 4.0 + 4.0 * 7.2 + 30.0;
    assert!(found[0].starts_with(&format!("m1 Failed {first} ")), "{found:?}");
    // 26 are left: the blocked one, and 25 that were not reached; in batches of 5.
    let second = 24.0 * 60.0 + 4.0 + 6.0 * 7.2 + 2.0;
    assert_eq!(found[1], format!("m1 Completed {second}"));
    let costs = text.outcome().costs;
    assert_eq!(costs.reimaged_nodes, 50, "each node once");
    // A budget that stays stops every attempt at once.
    let stays = blocked(settings, "after: 22, nodes: 1", 3).events();
    let again = |day: f64| format!("m1 Failed {} ", day * 1_440.0 + 34.0);
    assert!(stays[1].starts_with(&again(1.0)), "{stays:?}");
    assert!(stays[2].starts_with(&again(2.0)), "{stays:?}");
}

#[test]
fn p3_a_pool_resumes_where_it_stopped_and_those_before_are_done() {
    let pools = format!(
        "pools: [{{name: a, {OLD}, count: 10}}, {{name: b, {OLD}, count: 10, \
         drainTimeoutInMinutes: 5}}]"
    );
    let budget = "pool: b, after: 9, nodes: 1, mended: 20h";
    let text = Text {
        members: member("m1", &pools),
        update: FULL.to_owned(),
        ..blocked("count: 1", budget, 1)
    };
    let found = text.events();
    let first = 8.0 + 78.0 + 4.0 + 9.0 * 7.2 + 5.0;
    assert!(found[0].starts_with(&format!("m1 Failed {first} ")), "{found:?}");
    let second = 1_440.0 + 4.0 + 7.2 + 2.0;
    assert_eq!(found[1], format!("m1 Completed {second}"), "no control plane, no first pool");
}

#[test]
fn p3_drains_of_the_distribution_can_pass_the_timeout() {
    let slow = |settings: &str| {
        let durations = CONSTANTS.replace("drain: 2m", "drain: 40m");
        Text { durations, ..one(settings) }
    };
    let found = slow("count: 3").events();
    assert!(found[0].starts_with("m1 Failed 34 "), "{found:?}");
    let patient = slow("count: 3, drainTimeoutInMinutes: 60").takes();
    assert_eq!(patient, Span::from_secs(3 * (2_400 + 312) + 360));
    // Half of the drains pass: one node at a time, three in a row get through with 1/8.
    let durations = CONSTANTS
        .replace("drain: 2m", "drain: {mixture: [{weight: 1, of: 2m}, {weight: 1, of: 40m}]}");
    let text = Text { durations, ..one("count: 3") };
    let all = outcomes(&text.yaml(), 4_000, 2).by_strategy.remove(0);
    let done = all.iter().filter(|outcome| outcome.end == End::Completed);
    let done: Vec<_> = done.map(|outcome| outcome.makespan).collect();
    let expected = Span::from_secs(3 * 432 + 360);
    assert!(done.iter().all(|makespan| *makespan == Some(expected)), "only drains in time");
    let share = f64::from(u32::try_from(done.len()).unwrap()) / 4_000.0;
    assert!((share - 0.125).abs() < 3.29 * (0.125_f64 * 0.875 / 4_000.0).sqrt(), "{share}");
}

#[test]
fn p3_cordon_quarantines_up_to_the_surge_and_goes_on() {
    let settings = "count: 20, maxSurge: 2, undrainableNodeBehavior: Cordon";
    let two = blocked(settings, "after: 4, nodes: 2", 0);
    // The third batch waits for its two nodes; the other nine go on.
    assert_eq!(two.takes(), Span::from_secs(9 * 432 + 1_800 + 360));
    assert_eq!(two.outcome().costs.reimaged_nodes, 18, "two are in quarantine");
    let three = blocked(settings, "after: 4, nodes: 3", 0).events();
    let failed = 4.0 + 2.0 * 7.2 + 30.0 + 30.0;
    assert!(three[0].starts_with(&format!("m1 Failed {failed} ")), "{three:?}");
}

#[test]
fn w8_a_budget_that_is_caught_fails_in_a_minute() {
    let text = blocked("count: 20", "caught: true, mended: 20h", 1);
    let found = text.events();
    assert!(found[0].starts_with("m1 Failed 1 "), "{found:?}");
    assert!(found[1].starts_with("m1 Completed "), "mended by the second day: {found:?}");
}

#[test]
fn p5_surge_nodes_addresses_and_data_are_counted() {
    let costs = one("count: 100, maxSurge: \"10%\", maxPods: 110").outcome().costs;
    assert_eq!(costs.surge_node_time, Span::from_mins(780), "10 nodes for 78 minutes");
    assert_eq!((costs.peak_extra_nodes, costs.peak_extra_ips), (10, 10 * 111));
    assert_eq!((costs.reimaged_nodes, costs.ephemeral_data_losses), (100, 100));
    let kept = one("count: 100, maxSurge: \"10%\", ephemeralData: false").outcome().costs;
    assert_eq!((kept.reimaged_nodes, kept.ephemeral_data_losses), (100, 0));
}

/// Members of the fleet that are updated at the same time add up; those one after another don't.
#[test]
fn p5_the_peak_is_that_of_the_whole_fleet() {
    let members: String = (1..=4)
        .map(|n| {
            member(&format!("m{n}"), &format!("updateGroup: g, {}", pool("count: 20, maxSurge: 5")))
        })
        .collect();
    let at_once = |limit: u32| {
        let strategies = format!(
            "strategies: [{{name: s, stages: [{{name: s, groups: [{{name: g, maxConcurrency: \
             {limit}}}]}}]}}]\n"
        );
        Text { members: members.clone(), strategies, ..one("count: 1") }.outcome().costs
    };
    assert_eq!(at_once(1).peak_extra_nodes, 5);
    assert_eq!(at_once(2).peak_extra_nodes, 10);
    assert_eq!(at_once(4).peak_extra_nodes, 20);
    assert_eq!(at_once(4).peak_extra_ips, 20 * 31);
    assert_eq!(at_once(1).surge_node_time, at_once(4).surge_node_time);
}

#[test]
fn w5_factors_apply_to_what_they_name() {
    let minutes = |factors: &str, rest: &str| {
        let durations = format!("{CONSTANTS}, factors: [{factors}]");
        let text = Text { durations, ..one("count: 10") };
        let members = text.members.replace("region: westeurope", rest);
        Text { members, ..text }.takes().as_secs_f64() / 60.0
    };
    let (plain, labelled) = ("region: westeurope", "region: westeurope, labels: {tier: gpu}");
    let same = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    let gpu = "{where: {byLabel: \"tier=gpu\"}, times: 1.5}";
    same(minutes(gpu, plain), 78.0);
    same(minutes(gpu, labelled), 117.0);
    same(minutes("{region: [eastus, westeurope], times: 2}", plain), 156.0);
    same(minutes("{region: eastus, times: 2}", plain), 78.0);
    same(minutes("{osType: Windows, times: 2}", plain), 78.0);
    same(minutes("{osType: Linux, times: 2}", plain), 156.0);
    same(minutes("{upgrade: Full, times: 2}", plain), 78.0);
    same(minutes("{upgrade: NodeImageOnly, times: 2}", plain), 156.0);
    same(minutes("{nodes: {atLeast: 10}, times: 2}, {times: 0.5}", plain), 78.0);
    same(minutes("{nodes: {atLeast: 11}, times: 2}, {nodes: {atMost: 9}, times: 2}", plain), 78.0);
}

#[test]
fn w5_factors_apply_to_draws_of_whole_clusters_too() {
    let text = one("count: 10").yaml();
    let cluster = |factors: &str| {
        let durations = format!("durations: {{update: 40m, factors: [{factors}]}}, failures: none");
        let before = text.split_once("world: ").unwrap().0;
        let script = text.split_once("script: ").unwrap().1;
        let world = format!("world: {{{durations}}}\nscript: {script}");
        let outcome = outcomes(&format!("{before}{world}"), 1, 1).by_strategy.remove(0).remove(0);
        outcome.makespan.unwrap()
    };
    assert_eq!(cluster(""), Span::from_mins(40));
    assert_eq!(cluster("{osType: Linux, times: 1.5}"), Span::from_mins(60));
    assert_eq!(cluster("{osType: Windows, times: 1.5}"), Span::from_mins(40));
    assert_eq!(
        cluster("{upgrade: NodeImageOnly, nodes: {atLeast: 10}, times: 0.5}"),
        Span::from_mins(20)
    );
}

#[test]
fn w5_windows_pools_take_longer() {
    let windows = "pools: [{name: w, mode: User, count: 10, nodeImageVersion: \
                   AKSWindows-2022-containerd-20348.4648.260112}]";
    let release = "    - {nodeImage: AKSWindows-2022-containerd-20348.4773.260211, regions: \
                   {\"*\": 2026-03-01T00:00:00Z}}\n";
    let text =
        Text { members: member("m1", windows), script: release.to_owned(), ..one("count: 1") };
    assert_eq!(text.takes(), Span::from_millis(10 * 777_600 + 432_000 + 216_000), "× 1.8");
    let durations = format!("{CONSTANTS}, windowsFactor: 3");
    assert_eq!(Text { durations, ..text }.takes(), Span::from_mins(3 * 78));
}

#[test]
fn w8_throttling_slows_down_and_refuses() {
    let members: String = (1..=6)
        .map(|n| {
            let rest = format!(
                "updateGroup: g, labels: {{sub: {}}}, {}",
                ["a", "b"][n / 5],
                pool("count: 10")
            );
            member(&format!("m{n}"), &rest)
        })
        .collect();
    let text = |throttling: &str| Text {
        members: members.clone(),
        world: format!("{CLEAR}, throttling: {throttling}"),
        strategies: "strategies: [{name: s, stages: [{name: s, maxAllowedFailures: 9, groups: \
                     [{name: g, maxConcurrency: 50, maxAllowedFailures: 9}]}]}]\n"
            .to_owned(),
        ..one("count: 1")
    };
    let mut found = text("{atMost: 2, byLabel: sub}").events();
    found.sort();
    // The third of subscription `a` is 3/2 times as slow, the fourth twice; `b` has two.
    let expected = [78, 78, 117, 156, 78, 78].iter().zip(1..);
    let expected: Vec<String> =
        expected.map(|(minutes, n)| format!("m{n} Completed {minutes}")).collect();
    assert_eq!(found, expected);
    let mut found = text("{atMost: 2, refusedAbove: 3, byLabel: sub}").events();
    found.sort();
    assert!(found[3].starts_with("m4 Failed 1 "), "{found:?}");
    assert_eq!(found[2], "m3 Completed 117");
    // Without subscriptions nobody is throttled.
    assert!(text("{atMost: 1}").events().iter().all(|line| line.ends_with(" 78")));
}

/// A fleet of ten members with pools of several sizes, everything drawn.
fn drawn(world: &str, strategies: &str) -> Text {
    let members: String = (1..=10)
        .map(|n| {
            let rest =
                format!("updateGroup: g, {}", pool(&format!("count: {}, maxSurge: 3", 5 * n)));
            member(&format!("m{n}"), &rest)
        })
        .collect();
    Text {
        members,
        durations: String::new(),
        world: world.to_owned(),
        strategies: strategies.to_owned(),
        ..one("count: 1")
    }
}

const WAVE: &str = "strategies: [{name: s, stages: [{name: s, maxAllowedFailures: 99, groups: [{name: \
                    g, maxConcurrency: 4, maxAllowedFailures: 99}]}]}]\n";

/// How long each member's first update takes, and whether it is Completed.
fn lengths(text: &Text, replications: u32) -> Vec<Vec<(Span, bool)>> {
    histories(&text.yaml(), replications, |plan, history, _| {
        let mut began = vec![Timestamp::default(); plan.fleet.members.len()];
        let mut lengths = vec![None; plan.fleet.members.len()];
        for record in &history.records {
            let Node::Member(id) = record.node else { continue };
            let member = id.0 as usize;
            if record.to == State::Running {
                began[member] = record.time;
            } else if record.from == State::Running && lengths[member].is_none() {
                let done = record.to == State::Completed;
                lengths[member] = Some((record.time - began[member], done));
            }
        }
        lengths.into_iter().map(|length| length.expect("everybody is updated")).collect()
    })
}

#[test]
fn x1_a_cluster_meets_the_same_node_times_under_every_strategy() {
    let waves = lengths(&drawn(CLEAR, WAVE), 20);
    let one_by_one = lengths(&drawn(CLEAR, ""), 20);
    assert_eq!(waves, one_by_one);
    assert_ne!(waves[0], waves[1]);
    // Nor does another member's pool change them.
    let other = drawn(CLEAR, WAVE);
    let other = Text { members: other.members.replace("count: 5,", "count: 7,"), ..other };
    for (before, after) in waves.iter().zip(lengths(&other, 20)) {
        assert_ne!(before[0], after[0], "the first has more nodes");
        assert_eq!(before[1..], after[1..]);
    }
}

#[test]
fn x1_turning_budgets_quota_and_failures_off_changes_no_other_draw() {
    let clear = lengths(&drawn(CLEAR, WAVE), 200);
    let all = "disruptionBudgets: {probability: 0.3}, quota: {probability: 0.2}, failures: \
               {probability: 0.1}, people: none";
    let mut same = 0;
    for (with, without) in lengths(&drawn(all, WAVE), 200).iter().zip(&clear) {
        for (with, without) in with.iter().zip(without) {
            assert!(without.1);
            if with.1 {
                assert_eq!(with.0, without.0);
                same += 1;
            }
        }
    }
    // 0.7 without a budget, 0.8 without a shortage, 0.9 without a failure, of 2,000.
    assert!((900..1_120).contains(&same), "{same} are not touched");
}

#[test]
fn w8_members_of_a_region_share_its_shortages_and_regions_do_not() {
    let world = "disruptionBudgets: none, quota: {probability: 0.3}, failures: none, people: none";
    let mut text = drawn(world, WAVE.replace("maxConcurrency: 4", "maxConcurrency: 50").as_str());
    for n in 6..=10 {
        let west = format!("name: m{n}, region: westeurope");
        text.members = text.members.replace(&west, &format!("name: m{n}, region: eastus"));
    }
    // All ask at the start, so all of a region meet the same.
    let mut short = [0.0_f64; 2];
    let mut both = 0.0;
    let n = 3_000;
    for replication in lengths(&text, n) {
        for region in replication.chunks(5) {
            assert!(region.iter().all(|(_, done)| *done == region[0].1), "{region:?}");
        }
        let [west, east] = [0, 5].map(|m: usize| f64::from(u8::from(!replication[m].1)));
        short[0] += west;
        short[1] += east;
        both += west * east;
    }
    let n = f64::from(n);
    let share = (short[0] + short[1]) / (2.0 * n);
    assert!((share - 0.3).abs() < 3.29 * (0.21 / (2.0 * n)).sqrt(), "{share}");
    let error = 3.29 * (0.09_f64 * 0.91 / n).sqrt();
    assert!((both / n - 0.09).abs() < error, "independent: {}", both / n);
}

#[test]
fn w8_budgets_block_the_share_that_is_asked_for_and_half_are_caught() {
    let world = "disruptionBudgets: {probability: 0.2}, quota: none, failures: none, people: none";
    let text = Text { durations: CONSTANTS.to_owned(), ..drawn(world, WAVE) };
    let (mut caught, mut waited, n) = (0.0, 0.0, 1_000_u32);
    for (takes, done) in lengths(&text, n).into_iter().flatten() {
        if !done && takes == Span::MINUTE {
            caught += 1.0;
        } else if !done {
            assert!(takes >= Span::from_mins(34), "the timeout, at least: {takes}");
            waited += 1.0;
        }
    }
    let n = f64::from(10 * n);
    let near = |found: f64| (found / n - 0.1).abs() < 3.29 * (0.09 / n).sqrt();
    assert!(near(caught) && near(waited), "{caught} and {waited} of {n}");
}

#[test]
fn w6_a_failure_fails_at_the_end_and_the_next_attempt_does_everything() {
    let world = "disruptionBudgets: none, quota: none, failures: {probability: 1, transient: 1}, \
                 people: none";
    let script = restarts(1);
    let text = Text { world: world.to_owned(), script, ..one("count: 10") };
    let found = text.events();
    assert!(found[0].starts_with("m1 Failed 78 "), "{found:?}");
    assert_eq!(found[1], format!("m1 Completed {}", 1_440 + 78));
    assert_eq!(text.outcome().costs.reimaged_nodes, 20);
}

#[test]
fn p3_a_new_image_begins_anew_where_the_old_one_stopped() {
    let newer = "    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.05.0, regions: {\"*\": \
                 2026-03-02T20:00:00Z}}\n";
    let text = blocked("count: 50, maxSurge: 5", "after: 22, nodes: 1, mended: 20h", 1);
    let text = Text { script: newer.to_owned() + &text.script, ..text };
    let second = 24.0 * 60.0 + 78.0;
    assert_eq!(text.events()[1], format!("m1 Completed {second}"), "all fifty again");
}

#[test]
fn p3_a_pool_keeps_what_is_done_though_the_image_of_another_changes() {
    // Two families of ten nodes each; the second pool stops at its last node. By the second day
    // there is a newer image of the first family: only that pool begins anew.
    let arm = "nodeImageVersion: AKSUbuntu-2204gen2arm64containerd-202602.13.0";
    let pools = format!(
        "pools: [{{name: a, {OLD}, count: 10}}, {{name: b, {arm}, count: 10, \
         drainTimeoutInMinutes: 5}}]"
    );
    let releases = "    - {nodeImage: AKSUbuntu-2204gen2arm64containerd-202603.02.0, regions: \
                    {\"*\": 2026-03-01T00:00:00Z}}\n    - {nodeImage: \
                    AKSUbuntu-2204gen2containerd-202603.05.0, regions: {\"*\": \
                    2026-03-02T20:00:00Z}}\n";
    let text = blocked("count: 1", "pool: b, after: 9, nodes: 1, mended: 20h", 1);
    let script = releases.to_owned() + &text.script;
    let text = Text { members: member("m1", &pools), script, ..text };
    let found = text.events();
    let first = 78.0 + 4.0 + 9.0 * 7.2 + 5.0;
    assert!(found[0].starts_with(&format!("m1 Failed {first} ")), "{found:?}");
    let second = 1_440.0 + 78.0 + 4.0 + 7.2 + 2.0;
    assert_eq!(found[1], format!("m1 Completed {second}"), "ten nodes of a, one of b");
}

#[test]
fn n7_a_change_rolls_through_the_pools_and_waits_for_blocked_drains() {
    let text = |settings: &str, script: &str| {
        let yaml = Text { script: script.to_owned(), ..one(settings) }.yaml();
        let changes = "configurationChanges: [{operation: vtpm, from: Disabled, to: Enabled, at: \
                       0s}]\nworld: ";
        let before = yaml.split_once("update: ").unwrap().0;
        let after = yaml.split_once("world: ").unwrap().1;
        outcomes(&format!("{before}{changes}{after}"), 1, 1).by_strategy.remove(0).remove(0)
    };
    let plain = text("count: 20, maxSurge: 5", "");
    assert_eq!(plain.changes.done, [Span::from_secs(4 * 432 + 360).as_millis()]);
    let costs = plain.costs;
    assert_eq!((costs.reimaged_nodes, costs.ephemeral_data_losses), (20, 20));
    assert_eq!(costs.peak_extra_nodes, 5);
    let budget = "  disruptionBudgets: [{member: m1, after: 7, nodes: 2}]\n";
    let waits = text("count: 20, maxSurge: 5, ephemeralData: false", budget);
    assert_eq!(waits.changes.done, [Span::from_secs(3 * 432 + 1_800 + 360).as_millis()]);
    assert_eq!((waits.costs.reimaged_nodes, waits.costs.ephemeral_data_losses), (18, 0));
}

#[test]
fn a_script_of_constants_leaves_nothing_to_luck() {
    let scenario = crate::experiments::read(&one("count: 10").yaml());
    assert!(crate::experiments::experiment(&scenario).world.is_deterministic());
    let lucky = Text {
        durations: CONSTANTS.replace("drain: 2m", "drain: {uniform: [1m, 2m]}"),
        ..one("count: 10")
    };
    let scenario = crate::experiments::read(&lucky.yaml());
    assert!(!crate::experiments::experiment(&scenario).world.is_deterministic());
    for world in ["quota: none", "disruptionBudgets: none"] {
        let text =
            Text { world: format!("{world}, failures: none, people: none"), ..one("count: 10") };
        let scenario = crate::experiments::read(&text.yaml());
        assert!(!crate::experiments::experiment(&scenario).world.is_deterministic(), "{world}");
    }
}
