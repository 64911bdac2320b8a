//! Configuration changes beside update runs: who is refused, who waits, what is reimaged.

use fleetsim::experiment::{Experiment, History, Metric};
use fleetsim::report::events::{Events, stream};
use fleetsim::scenario::Scenario;
use fleetsim::sim::{Changes, DelayCause, Moves, Outcome, Simulation};
use fleetsim::time::Span;

/// Two members, reimages of 40 minutes, updates of 30; the rest is the test's.
fn scenario(update: bool, changes: &str) -> String {
    let run = "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}}\n";
    let update = if update { run } else { "" };
    format!(
        r#"
name: changes
start: 2026-03-02T08:00:00Z
horizon: 30d
fleet:
  members:
    - name: a
      region: westeurope
      labels: {{policy: allow}}
      pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0, count: 5}}]
    - name: b
      region: westeurope
      labels: {{policy: window}}
      nodeDisruptionPolicy: AllowDuringMaintenanceWindow
      pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0, count: 7}}]
      maintenance:
        aksManagedNodeOSUpgradeSchedule:
          schedule: {{weekly: {{intervalWeeks: 1, dayOfWeek: Sunday}}}}
          durationHours: 4
          startTime: "01:00"
          utcOffset: "+00:00"
    - name: c
      region: westeurope
      labels: {{policy: block}}
      nodeDisruptionPolicy: Block
      pools: [{{name: p, nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0, count: 11}}]
{update}script:
  updates: {{"*": {{takes: 30m}}}}
  releases:
    - nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0
      regions: {{"*": 2026-03-01T00:00:00Z}}
world: {{durations: {{model: cluster, update: 40m}}}}
configurationChanges: [{changes}]
"#
    )
}

fn read(text: &str) -> Scenario {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    match Scenario::read("changes.yaml", text, &no_files) {
        Ok((scenario, _)) => scenario,
        Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<String>()),
    }
}

fn refused(text: &str) -> String {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    let errors = Scenario::read("changes.yaml", text, &no_files).map(|_| ()).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn play(text: &str) -> Outcome {
    let scenario = read(text);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    assert!(experiment.world.is_deterministic());
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let mut outcome = simulation.run(0, experiment.end(), &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    outcome
}

const CA: &str = "operation: customCaTrustCertificates";

#[test]
fn n1_each_policy_lets_through_what_it_does() {
    let outcome = play(&scenario(false, &format!("{{at: 2h, {CA}}}")));
    let changes = outcome.changes;
    assert_eq!((changes.wanted, changes.refused_calls, changes.never_done()), (3, 2, 2));
    assert_eq!(changes.reimaged_nodes, 5);
    assert_eq!(changes.done, [Span::from_mins(160).as_millis()]);
    assert_eq!(changes.outside_window, Span::from_mins(40));
    // 11:00 to 11:40 on a Monday in western Europe.
    assert_eq!(changes.business, Span::from_mins(40));
    assert_eq!((outcome.members, outcome.makespan), (0, Some(Span::ZERO)), "there is no update");
}

#[test]
fn n2_people_who_ask_again_in_the_window_are_through_in_it_but_not_under_block() {
    let changes = play(&scenario(false, &format!("{{at: 0s, {CA}, onRefused: retryInWindow}}")));
    let changes = changes.changes;
    assert_eq!((changes.refused_calls, changes.never_done()), (2, 1));
    // Monday 08:00 to Sunday 01:00, and the reimage.
    let sunday = Span::from_hours(5 * 24 + 17) + Span::from_mins(40);
    assert_eq!(changes.done, [Span::from_mins(40).as_millis(), sunday.as_millis()]);
    assert_eq!((changes.reimaged_nodes, changes.in_window), (12, Span::from_mins(40)));
}

#[test]
fn n1_people_who_ask_every_six_hours_are_refused_until_a_request_falls_into_the_window() {
    let text = format!(
        "{{at: 0s, {CA}, members: {{byLabel: policy=window}}, onRefused: {{retryEvery: 6h}}}}"
    );
    let changes = play(&scenario(false, &text)).changes;
    // From Monday 08:00 on, every six hours: Sunday 02:00 is the first in the window.
    assert_eq!(changes.refused_calls, 23);
    assert_eq!(changes.done, [(Span::from_hours(23 * 6) + Span::from_mins(40)).as_millis()]);
}

#[test]
fn n1_people_who_change_the_policy_are_through_at_once() {
    let changes = play(&scenario(false, &format!("{{at: 0s, {CA}, onRefused: changePolicy}}")));
    let changes = changes.changes;
    assert_eq!((changes.refused_calls, changes.policy_changes, changes.never_done()), (2, 2, 0));
    assert_eq!(changes.reimaged_nodes, 23);
}

#[test]
fn n3_azure_to_calico_costs_nothing_under_any_policy() {
    let text = "{at: 1h, operation: networkPolicy, from: azure, to: calico}";
    let changes = play(&scenario(false, text)).changes;
    assert_eq!((changes.refused_calls, changes.reimaged_nodes, changes.never_done()), (0, 0, 0));
    assert_eq!(changes.done, [Span::HOUR.as_millis(); 3]);
    let text = "{at: 1h, operation: networkPolicy, from: none, to: calico}";
    assert_eq!(play(&scenario(false, text)).changes.refused_calls, 2);
}

#[test]
fn r_b7_a_member_that_is_reimaged_is_busy_for_the_update_run() {
    let text = format!("{{at: 0s, {CA}, members: {{byLabel: policy=allow}}}}");
    let all =
        "strategies: [{name: all, stages: [{name: all, memberSelector: {byLabel: policy=allow}}]}]";
    let outcome = play(&format!("{}{all}\n", scenario(true, &text)));
    // The reimage ends after 40 minutes, the poll after 60 notices it, the update takes 30.
    assert_eq!(outcome.makespan, Some(Span::from_mins(90)));
    assert_eq!(outcome.delays.of(DelayCause::Busy), Span::from_mins(40));
    assert_eq!(outcome.delays.of(DelayCause::Poll), Span::from_mins(20));
    assert_eq!(outcome.delays.of(DelayCause::Updating), Span::from_mins(30));
    assert_eq!(outcome.delays.total(), Span::from_mins(90));
}

#[test]
fn r_b7_a_change_waits_until_the_update_of_its_member_has_ended() {
    let text = format!("{{at: 10m, {CA}, members: {{byLabel: policy=allow}}}}");
    let all =
        "strategies: [{name: all, stages: [{name: all, memberSelector: {byLabel: policy=allow}}]}]";
    let outcome = play(&format!("{}{all}\n", scenario(true, &text)));
    assert_eq!(outcome.makespan, Some(Span::from_mins(30)));
    assert_eq!(outcome.changes.done, [Span::from_mins(70).as_millis()]);
    assert_eq!(outcome.delays.of(DelayCause::Busy), Span::ZERO);
}

#[test]
fn two_changes_of_one_member_come_one_after_the_other() {
    let one = |at: &str| format!("{{at: {at}, {CA}, members: {{byLabel: policy=allow}}}}");
    let changes = play(&scenario(false, &format!("{}, {}", one("0s"), one("10m")))).changes;
    assert_eq!(changes.done, [40, 80].map(|minutes| Span::from_mins(minutes).as_millis()));
}

#[test]
fn w12_rates_and_waves_spread_members_over_time() {
    let n5 = "operation: outboundType";
    let rate = format!("{{rate: {{members: 2, every: 1d, from: 6h}}, {n5}}}");
    let hours = |text: &str| -> Vec<i64> {
        let changes = play(&scenario(false, text)).changes;
        changes.done.iter().map(|at| at / Span::HOUR.as_millis()).collect()
    };
    assert_eq!(hours(&rate), [6, 18, 30]);
    let waves = format!("{{waves: [{{at: 1h, members: \"34%\"}}, {{at: 2026-03-03}}], {n5}}}");
    assert_eq!(hours(&waves), [1, 1, 16]);
}

#[test]
fn n6_recovery_and_emergencies_happen_whatever_the_policy() {
    for operation in
        ["poolRollback", "adminRestore", "identityCredentialUpdate", "emergencyMaintenance"]
    {
        let changes =
            play(&scenario(false, &format!("{{at: 0s, operation: {operation}}}"))).changes;
        assert_eq!((changes.refused_calls, changes.never_done()), (0, 0), "{operation}");
        assert_eq!(changes.reimaged_nodes, 23, "{operation}: all nodes, those of Block too");
    }
}

#[test]
fn n5_what_is_not_covered_is_done_at_once_and_reimages_nothing() {
    let changes = play(&scenario(false, "{at: 0s, operation: sshAccess}")).changes;
    assert_eq!((changes.refused_calls, changes.never_done(), changes.reimaged_nodes), (0, 0, 0));
}

#[test]
fn n6_what_is_part_of_the_update_is_done_with_it_under_every_policy_and_costs_no_reimage() {
    let all = "strategies: [{name: all, stages: [{name: all, memberSelector: {byLabel: policy}, \
               maxConcurrency: 3, maxAllowedFailures: 3}]}]\n";
    let text = format!("{}{all}", scenario(true, &format!("{{with: update, {CA}}}")));
    let outcome = play(&text);
    assert_eq!((outcome.changes.refused_calls, outcome.changes.reimaged_nodes), (0, 0));
    // `b` is updated in its window, on Sunday at 01:00.
    let sunday = Span::from_hours(5 * 24 + 17) + Span::from_mins(30);
    let half = Span::from_mins(30).as_millis();
    assert_eq!(outcome.changes.done, [half, half, sunday.as_millis()]);
    let updates: Vec<i64> = outcome.done.iter().collect();
    assert_eq!(outcome.changes.done, updates, "each with its update");
    // What fails takes nothing along; the next attempt does.
    let fails = "{takes: 30m, fails: PodDrainFailure}";
    let failing = text.replace("\"*\": {takes: 30m}", &format!("\"*\": {fails}"));
    assert_eq!(play(&failing).changes.never_done(), 3);
    let again = text
        .replace("\"*\": {takes: 30m}", &format!("\"*\": [{fails}, {{takes: 30m}}]"))
        .replace("script:\n", "script:\n  actions: [{at: 2h, start: true}]\n")
        .replace("NodeImageOnly}}", "NodeImageOnly}}, restart: retryFailed")
        .replace("maxAllowedFailures: 3", "maxAllowedFailures: 0");
    let hours = play(&again).changes.done;
    assert_eq!(hours[..2], [Span::from_mins(150).as_millis(); 2], "at the second attempt");
}

#[test]
fn w12_waves_may_go_by_the_stages_of_the_strategy() {
    let stages = "strategies: [{name: s, stages: [\
                  {name: one, groups: [{name: g, memberSelector: {byLabel: policy=block}}]}, \
                  {name: two, groups: [{name: h, memberSelector: {byLabel: policy=allow}}]}]}]\n";
    let n5 = "operation: outboundType";
    let change = format!("{{stages: {{from: 12h, every: 2d}}, {n5}}}");
    let text = format!("{}{stages}", scenario(true, &change));
    let outcome = play(&text);
    let hours: Vec<i64> =
        outcome.changes.done.iter().map(|at| at / Span::HOUR.as_millis()).collect();
    assert_eq!(hours, [12, 60, 108], "whoever is in no stage comes last");
    let other =
        text.replace("name: one, groups", "name: x, groups").replace("policy=block", "nobody");
    let other = other.replace("policy=allow", "policy=block");
    let hours: Vec<i64> =
        play(&other).changes.done.iter().map(|at| at / Span::HOUR.as_millis()).collect();
    assert_eq!(hours, [60, 108, 108], "another strategy, other waves");
}

#[test]
fn each_campaign_has_its_own_numbers_and_they_add_up() {
    let text =
        format!("{{at: 2h, {CA}}}, {{name: ssh, at: 1h, operation: sshAccess}}, {{at: 3h, {CA}}}");
    let scenario = read(&scenario(false, &text));
    let names: Vec<&str> = scenario.campaigns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["customCaTrustCertificates", "ssh", "customCaTrustCertificates-2"]);
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let outcome = Simulation::new(&experiment.world, &experiment.plans[0]).checked().run(
        0,
        experiment.end(),
        &mut History::default(),
    );
    let found: Vec<_> = outcome
        .campaigns
        .iter()
        .map(|c| (c.refused_calls, c.never_done(), c.reimaged_nodes))
        .collect();
    assert_eq!(found, [(2, 2, 5), (0, 0, 0), (2, 2, 5)]);
    assert_eq!(outcome.changes, Changes::total(&outcome.campaigns));
    assert_eq!((outcome.changes.wanted, outcome.changes.never_done()), (9, 4));
}

#[test]
fn r_k2_changes_are_events_among_those_of_the_run() {
    let text = format!(
        "{{at: 10m, {CA}, onRefused: changePolicy}}, {{name: win, at: 0s, {CA}, members: {{byLabel: policy=window}}, onRefused: retryInWindow}}"
    );
    let all =
        "strategies: [{name: all, stages: [{name: all, memberSelector: {byLabel: policy=allow}}]}]";
    let scenario = read(&format!("{}{all}\n", scenario(true, &text)));
    let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    simulation.run(0, experiment.end(), &mut history);
    let codes = experiment.world.codes();
    let events = Events { plan: &experiment.plans[0], run: "changes", codes };
    let lines = stream(&history, (&events, &[]), &scenario.campaigns);
    insta::assert_snapshot!(lines);
}

#[test]
fn columns_of_changes_appear_only_with_changes() {
    let with = read(&scenario(false, &format!("{{at: 0s, {CA}}}")));
    let without = read(&scenario(true, ""));
    let has = |scenario: &Scenario| {
        Metric::columns_of(scenario).any(|metric| metric.to_string() == "refusedCalls")
    };
    assert!(has(&with) && !has(&without));
}

#[test]
fn changes_that_are_none_are_refused_with_their_place() {
    for (change, expected) in [
        ("{at: 1h, operation: networkpolicy}", "did you mean `networkPolicy`?"),
        ("{at: 1h, operation: networkPolicy, from: none, to: Azure}", "none, azure, calico"),
        ("{at: 1h, operation: kubernetesVersion}", "not a change"),
        ("{at: 1h, operation: nodeImageVersion}", "describe upgrades in `update`"),
        ("{operation: httpProxy}", "needs `at`, `rate`, `waves`, `stages` or `with`"),
        ("{with: update, operation: httpProxy}", "about the update run, and there is none"),
        ("{stages: {every: 1d}, operation: httpProxy}", "about the update run"),
        ("{at: {uniform: [0s, soon]}, operation: httpProxy}", "a duration"),
        ("{at: 0s, name: a b, operation: httpProxy}", "cannot be a name"),
        (
            "{name: x, at: 0s, operation: httpProxy}, {name: X, at: 0s, operation: noProxy}",
            "two changes are called `X`",
        ),
        ("{at: 1h, operation: httpProxy, onRefused: retryEvery}", "retryEvery: 6h"),
        ("{at: 1h, operation: httpProxy, onRefused: {retryEvery: 1s}}", "at least 1m"),
        ("{at: 2026-03-01T00:00:00Z, operation: httpProxy}", "before the start"),
        ("{at: 1h, rate: {members: 1, every: 1d}, operation: httpProxy}", "this has two"),
    ] {
        let said = refused(&scenario(false, change));
        assert!(said.contains(expected), "{change}: {said}");
        assert!(said.contains("changes.yaml:"), "{said}");
    }
}

#[test]
fn a_scenario_without_update_and_without_changes_has_nothing_to_do() {
    assert!(refused(&scenario(false, "")).contains("`update`"));
}
