//! Pools that members get in mid-run (W9, R-I6): those of `world.churn.addPool`, beside those of the
//! script's `addPool`.

use fleetsim::experiment::{Experiment, History};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{NoLog, Node, Reason, State};
use fleetsim::sim::{DelayCause, Moves, Outcome, Simulation};
use fleetsim::time::Span;

use crate::experiments::{START, UPDATE, experiment, histories, outcomes, read};
use crate::profiles::play;

const FAMILY: &str = "AKSUbuntu-2204gen2containerd";
const ARM: &str = "AKSUbuntu-2204gen2arm64containerd";

/// Releases everywhere: the first before the start, the second on the third day.
const RELEASES: &str = "
  releases:
    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.02.0, regions: {\"*\": 2026-03-01T00:00:00Z}}
    - {nodeImage: AKSUbuntu-2204gen2containerd-202603.09.0, regions: {\"*\": 2026-03-05T08:00:00Z}}
    - {nodeImage: AKSUbuntu-2204gen2arm64containerd-202603.02.0, regions: {\"*\": 2026-03-01T00:00:00Z}}
";

/// A member of group `g` with one pool of this image.
fn member(name: &str, image: &str) -> String {
    format!(
        "{{name: {name}, region: westeurope, updateGroup: g, kubernetesVersion: 1.33.3, labels: \
         {{who: {name}}}, pools: [{{name: p, nodeImageVersion: {FAMILY}-{image}}}]}}"
    )
}

/// Members with this image, updated one by one in 90 minutes each.
fn scenario(members: &[(&str, &str)], update: &str, world: &str, actions: &[&str]) -> String {
    let members = members
        .iter()
        .fold(String::new(), |text, (name, image)| text + "\n    - " + &member(name, image));
    let actions = actions.join(", ");
    format!(
        "name: pools\nstart: {START}\nhorizon: 10d\nfleet:\n  members:{members}\n{update}\nworld: \
         {{failures: none, {world}}}\nscript:\n  updates: {{\"*\": {{takes: 90m}}}}{RELEASES}  actions: \
         [{actions}]\n"
    )
}

/// Every member that is called so gets this pool after so long: by the model, and by the script.
fn both_ways(after: &str, member: &str, pool: &str) -> [(String, String); 2] {
    [
        (
            format!(
                "churn: {{addPool: {{after: {after}, byLabel: \"who={member}\", pool: {pool}}}}}"
            ),
            String::new(),
        ),
        (
            "churn: none".to_owned(),
            format!("{{at: {after}, addPool: {{member: {member}, pool: {pool}}}}}"),
        ),
    ]
}

fn pool(family: &str, image: &str) -> String {
    format!("{{name: more, mode: User, count: 5, nodeImageVersion: {family}-{image}}}")
}

const ONE_BY_ONE: &str = "strategies: [{name: one-by-one}]";

fn latest() -> String {
    format!("update: {{{UPDATE}}}\n{ONE_BY_ONE}")
}

fn consistent() -> String {
    latest().replace("Latest", "Consistent")
}

/// How each member ended: when, in minutes from the start, how, why; what its pools run then; and
/// what it all came to.
type Ended = (Vec<(i64, State, Option<Reason>)>, Vec<Vec<String>>, Outcome);

fn ended(text: &str) -> Ended {
    let scenario = read(text);
    let experiment = experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]).checked();
    let mut history = History::default();
    let mut outcome = simulation.run(0, experiment.end(), &mut history);
    outcome.delays = simulation.delays(&Moves::of(&history.records), experiment.end());
    outcome.versions = simulation.versions(experiment.end());
    let ends = scenario.fleet.members.ids().map(|id| {
        let last = history.records.iter().rfind(|r| r.node == Node::Member(id) && r.to.is_ended());
        last.map_or((0, State::NotStarted, None), |r| {
            let minutes = (r.time - scenario.start).as_millis() / Span::from_mins(1).as_millis();
            (minutes, r.to, r.reason)
        })
    });
    let images = |id| simulation.scheduler().images(id).map(|image| image.version.to_string());
    let images = scenario.fleet.members.ids().map(|id| images(id).collect());
    (ends.collect(), images.collect(), outcome)
}

/// What happens by the model is, event by event, what happens by the script.
#[test]
fn w9_a_fixed_time_is_the_scripts_add_pool_event_by_event() {
    let profile = "autoUpgradeProfiles: [{name: images, channel: NodeImage, updateStrategyId: \
                   one-by-one}]";
    let nodes = "durations: {model: nodes, controlPlane: 8m, createSurge: 4m, drain: 2m, reimage: 5m, \
                 removeSurge: 2m}, disruptionBudgets: none, quota: none, people: none, ";
    let members = [("a", "202602.13.0"), ("b", "202602.13.0"), ("c", "202603.02.0")];
    let heads = [latest(), consistent(), format!("{}\n{profile}", latest())];
    let pools = [
        ("30m", "b", pool(FAMILY, "202602.13.0")),
        ("30m", "a", pool(FAMILY, "202602.13.0")),
        ("30m", "c", pool(FAMILY, "202602.13.0")),
        ("30m", "b", pool(ARM, "202602.13.0")),
        ("2d", "c", pool(FAMILY, "202603.02.0")),
        ("90m", "b", pool(FAMILY, "202602.13.0")),
    ];
    let mut different = 0;
    for head in &heads {
        let without = play(&scenario(&members, head, "churn: none", &[]));
        for (after, who, pool) in &pools {
            for world in ["", nodes] {
                let texts = both_ways(after, who, pool).map(|(churn, action)| {
                    let text = scenario(&members, head, &format!("{world}{churn}"), &[&action]);
                    let scripted = "\n  updates: {\"*\": {takes: 90m}}";
                    if world.is_empty() { text } else { text.replace(scripted, "") }
                });
                let [model, script] = texts.clone().map(|text| play(&text));
                assert_eq!(model.events, script.events, "{}", texts[0]);
                assert!(model.outcome == script.outcome, "{}", texts[0]);
                // The script is played to its end; else nobody looks when the run is over.
                let ends = if world.is_empty() { "2d" } else { "90m" };
                let is_over = !head.contains(profile) && [ends, "2d"].contains(after);
                assert_eq!(model.images.len(), if is_over { 3 } else { 4 }, "{}", texts[0]);
                assert!(is_over || model.images == script.images, "{}", texts[0]);
                different += u32::from(world.is_empty() && model.events != without.events);
                let [model, script] = texts.clone().map(|text| ended(&text));
                assert!(model.2 == script.2, "{}", texts[0]);
            }
        }
    }
    assert!(different >= 4, "a pool makes a difference: {different}");
}

#[test]
fn r_i6_a_pool_of_a_family_that_was_chosen_for_is_updated_with_its_member() {
    let members = [("a", "202602.13.0"), ("b", "202603.02.0")];
    for (churn, action) in both_ways("30m", "b", &pool(FAMILY, "202602.13.0")) {
        let (ends, images, outcome) = ended(&scenario(&members, &consistent(), &churn, &[&action]));
        // b was at its target when the run began.
        assert_eq!(ends, [(90, State::Completed, None), (180, State::Completed, None)]);
        assert_eq!(images[1], ["202603.02.0", "202603.02.0"]);
        assert_eq!(outcome.updated, 2);
    }
}

#[test]
fn r_i6_a_pool_of_another_family_has_its_member_skipped() {
    let members = [("a", "202602.13.0"), ("b", "202602.13.0")];
    for (churn, action) in both_ways("30m", "b", &pool(ARM, "202602.13.0")) {
        let (ends, images, _) = ended(&scenario(&members, &consistent(), &churn, &[&action]));
        let skipped = (90, State::Skipped, Some(Reason::NodeImageVersionNotFound));
        assert_eq!(ends, [(90, State::Completed, None), skipped]);
        assert_eq!(images[1], ["202602.13.0", "202602.13.0"]);
        // Under Latest there is an image for it.
        let (ends, images, _) = ended(&scenario(&members, &latest(), &churn, &[&action]));
        assert_eq!(ends[1], (180, State::Completed, None));
        assert_eq!(images[1], ["202603.02.0", "202603.02.0"]);
    }
}

#[test]
fn r_i6_a_member_in_flight_keeps_the_plan_made_when_it_started() {
    let members = [("a", "202602.13.0"), ("b", "202602.13.0")];
    for family in [FAMILY, ARM] {
        for (churn, action) in both_ways("30m", "a", &pool(family, "202602.13.0")) {
            let (ends, images, outcome) =
                ended(&scenario(&members, &consistent(), &churn, &[&action]));
            assert_eq!(ends[0], (90, State::Completed, None));
            assert_eq!(images[0], ["202603.02.0", "202602.13.0"]);
            // The new pool waits for no image: its member was done.
            assert_eq!(outcome.delays.of(DelayCause::Image), Span::ZERO);
        }
    }
}

/// Who has a pool by the horizon is binomial, and nobody else is meant.
#[test]
fn w9_pools_are_drawn_one_by_one() {
    let text = format!(
        "name: share\nstart: {START}\nhorizon: 100h\nseed: 4\nfleet:\n  populations:\n    - {{count: 40, \
         name: \"m-{{n:02}}\", region: westeurope, updateGroup: g, labels: {{env: prod}}, pools: [{{name: p}}]}}\n    - {{count: \
         10, name: \"t-{{n:02}}\", region: westeurope, updateGroup: g, pools: [{{name: p}}]}}\nupdate: \
         {{{UPDATE}}}\nstrategies: [{{name: s, stages: [{{name: s, groups: [{{name: g}}], beforeGates: \
         [{{type: Approval}}]}}]}}]\nworld: {{people: none, churn: {{addPool: {{after: {{exponential: \
         {{mean: 200h}}}}, byLabel: \"env=prod\", pool: {{name: more}}}}}}}}\n"
    );
    let scenario = read(&text);
    let experiment = experiment(&scenario);
    let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
    let mut grown = vec![0_u32; scenario.fleet.members.len()];
    for replication in 0..1_000 {
        simulation.run(replication, experiment.end(), &mut NoLog);
        for (id, count) in scenario.fleet.members.ids().zip(&mut grown) {
            let pools = u32::try_from(simulation.scheduler().images(id).count()).unwrap();
            *count += pools - 1;
        }
    }
    assert!(grown[40..].iter().all(|count| *count == 0), "{grown:?}");
    let (p, n) = (1.0 - (-0.5_f64).exp(), 40.0 * 1_000.0);
    let found = f64::from(grown[..40].iter().sum::<u32>());
    let z = (found - n * p) / (n * p * (1.0 - p)).sqrt();
    assert!(z.abs() < 3.2905, "{found} of {n} have got a pool: z = {z:.2}");
    // Member by member: chi-square with 40 degrees of freedom, 99.9 %.
    let each = 1_000.0 * p;
    let chi: f64 = grown[..40].iter().map(|count| (f64::from(*count) - each).powi(2)).sum::<f64>()
        / (each * (1.0 - p));
    assert!(chi < 73.4, "{chi}");
}

/// How many pools each member has at the end.
fn pools_at_the_end(text: &str) -> Vec<usize> {
    ended(text).1.iter().map(Vec::len).collect()
}

#[test]
fn w9_who_has_left_gets_no_pool_and_who_joins_counts_from_then() {
    let add = |after: &str| {
        format!(
            "churn: {{addPool: {{after: {after}, pool: {}}}}}, people: none",
            pool(FAMILY, "202603.02.0")
        )
    };
    let behind_a_gate = latest().replace(
        ONE_BY_ONE,
        "strategies: [{name: s, stages: [{name: s, groups: [{name: g}], beforeGates: [{type: \
         Approval}]}]}]",
    );
    let members = [("a", "202602.13.0"), ("b", "202602.13.0")];
    let join = format!("{{at: 10h, join: {}}}", member("c", "202603.02.0"));
    let actions = [&join, "{at: 3h, leave: b}"];
    let counts =
        |after| pools_at_the_end(&scenario(&members, &behind_a_gate, &add(after), &actions));
    assert_eq!(counts("2h"), [2, 2, 2], "c after twelve hours");
    assert_eq!(counts("4h"), [2, 1, 2], "b has left");
    assert_eq!(counts("229h"), [2, 1, 2]);
    assert_eq!(counts("231h"), [2, 1, 1], "c after 241 hours: beyond the horizon");
    assert_eq!(counts("241h"), [1, 1, 1]);
}

/// Of the same region: what a pool begins with that comes, and the pool of a member that joins then.
#[test]
fn w9_a_pool_of_which_no_image_is_said_begins_with_the_newest_of_that_moment() {
    for (image, added) in [("", 0), (", nodeImageVersion: {behind: 2}", 2)] {
        let text = |addition: &str, action: &str| {
            format!(
                "name: newest\nstart: {START}\nhorizon: 60d\nfleet: {{members: [{{name: a, region: \
                 westeurope, updateGroup: g, pools: [{{name: p}}]}}]}}\nupdate: {{{UPDATE}}}\nstrategies: [{{name: s, stages: \
                 [{{name: s, groups: [{{name: g}}], beforeGates: [{{type: Approval}}]}}]}}]\nworld: \
                 {{people: none{addition}}}\nscript: {{actions: [{{at: 40d, join: {{name: c, region: \
                 westeurope, pools: [{{name: p{image}}}]}}}}{action}]}}\n"
            )
        };
        let pool = format!("{{name: more{image}}}");
        let churn =
            format!(", churn: {{addPool: {{after: 40d, region: westeurope, pool: {pool}}}}}");
        let action = format!(", {{at: 40d, addPool: {{member: a, pool: {pool}}}}}");
        let ways = [text(&churn, ""), text("", &action)];
        for text in ways {
            let (_, images, _) = ended(&text);
            assert_eq!(images[0][1], images[1][0], "{added} behind, of both");
            assert!(images[0][1] > images[0][0], "the first was behind at the start");
        }
    }
}

/// The train brings images of a family that no pool has at the start.
#[test]
fn w9_images_arrive_for_a_family_that_only_new_pools_have() {
    let text = |addition: &str, action: &str| {
        format!(
            "name: family\nstart: {START}\nhorizon: 60d\nfleet: {{members: [{{name: a, region: \
             westeurope, updateGroup: g, kubernetesVersion: 1.33.3, pools: [{{name: p}}]}}]}}\nstrategies: [{{name: \
             s}}]\nautoUpgradeProfiles: [{{name: images, channel: NodeImage, updateStrategyId: \
             s}}]\nworld: {{failures: none{addition}}}\nscript: {{actions: [{action}]}}\n"
        )
    };
    let pool = format!("{{name: more, nodeImageVersion: {ARM}-202602.13.0}}");
    let churn = format!(", churn: {{addPool: {{after: 1d, pool: {pool}}}}}");
    let action = format!("{{at: 1d, addPool: {{member: a, pool: {pool}}}}}");
    for text in [text(&churn, ""), text("", &action)] {
        let found = play(&text);
        assert!(found.images[1].as_str() > "202603", "{:?}", found.images);
        assert_eq!(found.images[0], found.images[1], "one version for both families");
    }
}

#[test]
fn w9_stale_hours_and_skew_count_from_the_pool_on() {
    let gate = latest().replace(
        ONE_BY_ONE,
        "strategies: [{name: s, stages: [{name: s, groups: [{name: g}], beforeGates: [{type: \
         Approval}]}]}]",
    );
    let members = [("a", "202603.09.0"), ("b", "202603.09.0")];
    let versions = |after: &str, image: &str| {
        let both = both_ways(after, "a", &pool(FAMILY, image)).map(|(churn, action)| {
            let text = scenario(&members, &gate, &format!("people: none, {churn}"), &[&action]);
            ended(&text).2.versions
        });
        assert_eq!(both[0], both[1]);
        (both[0].stale, both[0].skew)
    };
    assert_eq!(versions("11d", "202602.13.0"), (Span::ZERO, 1), "beyond the horizon");
    // Something newer has been there since before the start.
    assert_eq!(versions("2h", "202602.13.0"), (Span::from_hours(238), 2));
    // It comes on the third day.
    assert_eq!(versions("2h", "202603.02.0"), (Span::from_days(7), 2));
    assert_eq!(versions("4d", "202603.02.0"), (Span::from_days(6), 2));
    assert_eq!(versions("4d", "202603.09.0"), (Span::ZERO, 1));
    // Another family has a skew of its own.
    assert_eq!(versions("1d", &"202602.13.0".replace("02.13", "01.13")).1, 2);
    // Done with the pool, at 90 minutes: skew until then.
    let behind = [("a", "202602.13.0"), ("b", "202603.02.0")];
    for (churn, action) in both_ways("30m", "b", &pool(FAMILY, "202601.13.0")) {
        let found = ended(&scenario(&behind, &latest(), &churn, &[&action])).2.versions;
        // a since 32 hours before the start, for 90 minutes more; b from 30 minutes on, to 180.
        let stale = Span::from_hours(32) + Span::from_mins(90 + 150);
        assert_eq!((found.stale, found.skew), (stale, 3));
    }
}

#[test]
fn w9_a_member_that_joins_is_behind_by_a_pool_that_it_gets() {
    let members = [("a", "202603.09.0")];
    let join = format!("{{at: 1h, join: {}}}", member("c", "202603.09.0"));
    let versions = |after: &str| {
        let churn = format!(
            "churn: {{addPool: {{after: {after}, byLabel: \"who=c\", pool: {}}}}}",
            pool(FAMILY, "202602.13.0")
        );
        let found = ended(&scenario(&members, &latest(), &churn, &[&join])).2.versions;
        (found.stale, found.skew)
    };
    // The run is over at once: nobody looks any more when the pool comes, and it counts.
    assert_eq!(versions("4d"), (Span::from_hours(239 - 96), 2));
    assert_eq!(versions("2h"), (Span::from_hours(239 - 2), 2));
    assert_eq!(versions("300h"), (Span::ZERO, 1));
}

#[test]
fn w9_a_profile_counts_a_member_as_behind_by_its_pool_from_then_on() {
    let profile = format!(
        "{ONE_BY_ONE}\nautoUpgradeProfiles: [{{name: images, channel: NodeImage, updateStrategyId: \
         one-by-one}}]"
    );
    let members = [("a", "202603.02.0")];
    let seconds = |span: Span| span.as_secs_f64();
    for (churn, action) in both_ways("2h", "a", &pool(FAMILY, "202602.13.0")) {
        let found = play(&scenario(&members, &profile, &churn, &[&action]));
        assert_eq!(found.images, ["202603.09.0", "202603.09.0"]);
        let behind = &found.outcome.autonomous.as_ref().unwrap().behind[0][0];
        // From two hours on, when it has the pool, until the update of the third day is done.
        let days_behind = seconds(Span::from_hours(70) + Span::from_mins(90));
        let mean = days_behind * days_behind / 2.0 / seconds(Span::from_days(10));
        assert!((behind.mean_seconds() - mean).abs() < 1e-6, "{}", behind.mean_seconds());
        assert_eq!(behind.worst.as_secs_f64().to_bits(), days_behind.to_bits());
        // Step by step, 72 minutes each.
        let over_time = &found.outcome.autonomous.as_ref().unwrap().over_time[0];
        let expected = (0..=200).map(|step| step * 72).map(|minutes| {
            let is_behind = (120..3 * 24 * 60 + 90).contains(&minutes);
            if is_behind { (minutes - 120) * 60 } else { 0 }
        });
        assert!(over_time.iter().copied().eq(expected), "{over_time:?}");
    }
}

#[test]
fn u10_a_member_upgrades_its_new_pool_by_itself() {
    let own = member("a", "202603.09.0").replace(
        "updateGroup: g,",
        "updateGroup: g, autoUpgradeProfile: {nodeOSUpgradeChannel: NodeImage},",
    );
    for (churn, action) in both_ways("2h", "a", &pool(FAMILY, "202602.13.0")) {
        let text = scenario(
            &[("a", "202603.09.0")],
            &latest(),
            &format!("ownUpgrades: {{delay: 5h}}, people: none, {churn}"),
            &[&action],
        );
        let text = text.replace(&member("a", "202603.09.0"), &own);
        let found = play(&text);
        let autonomous = found.outcome.autonomous.as_ref().unwrap();
        // To the first image at 7 h, to the second when it has come.
        assert_eq!((autonomous.own_upgrades, found.images[1].as_str()), (2, "202603.09.0"));
    }
}

#[test]
fn w4_nodes_of_a_new_pool_are_updated_reimaged_and_paid_for() {
    let nodes = "durations: {model: nodes, controlPlane: 8m, createSurge: 4m, drain: 2m, reimage: 5m, \
                 removeSurge: 2m}, disruptionBudgets: none, quota: none, people: none";
    let members = [("a", "202602.13.0"), ("b", "202602.13.0")];
    let change = "configurationChanges: [{at: 1d, operation: vtpm, from: Disabled, to: Enabled}]";
    let without = scenario(
        &members,
        &format!("{}\n{change}", latest()),
        &format!("{nodes}, churn: none"),
        &[],
    );
    let scripted = "\n  updates: {\"*\": {takes: 90m}}";
    let (ends, _, outcome) = ended(&without.replace(scripted, ""));
    // Three nodes, one at a time: 4 + 3 × 7 + 2 minutes.
    assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [27, 54]);
    assert_eq!((outcome.costs.reimaged_nodes, outcome.changes.reimaged_nodes), (12, 6));
    for (churn, action) in both_ways("20m", "b", &pool(FAMILY, "202602.13.0")) {
        let head = format!("{}\n{change}", latest());
        let text = scenario(&members, &head, &format!("{nodes}, {churn}"), &[&action]);
        let (ends, _, outcome) = ended(&text.replace(scripted, ""));
        // Five nodes more: 4 + 5 × 7 + 2 minutes.
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [27, 54 + 41]);
        assert_eq!((outcome.costs.reimaged_nodes, outcome.changes.reimaged_nodes), (22, 11));
    }
    // The same under the other model of durations: the nodes that a change reimages.
    for (churn, action) in both_ways("20m", "b", &pool(FAMILY, "202602.13.0")) {
        let head = format!("{}\n{change}", latest());
        let outcome = ended(&scenario(&members, &head, &churn, &[&action])).2;
        assert_eq!(outcome.changes.reimaged_nodes, 11);
    }
}

#[test]
fn a2_a_live_patch_goes_into_the_nodes_of_a_new_pool() {
    let profile = format!(
        "{ONE_BY_ONE}\nautoUpgradeProfiles: [{{name: patches, channel: SecurityPatch, \
         updateStrategyId: one-by-one}}]"
    );
    let patch = "    - {securityPatch: 2026.03.10, reimage: false, regions: {\"*\": \
                 2026-03-10T08:00:00Z}}\n  actions:";
    let members = [("a", "202603.09.0")];
    for (churn, action) in both_ways("2h", "a", &pool(FAMILY, "202603.09.0")) {
        let text = scenario(
            &members,
            &profile,
            &format!("livePatches: {{takes: 10m}}, {churn}"),
            &[&action],
        );
        let found = play(
            &text.replace("  actions:", patch).replace("\n  updates: {\"*\": {takes: 90m}}", ""),
        );
        assert_eq!(found.outcome.autonomous.as_ref().unwrap().live_patched_nodes, 3 + 5);
    }
}

#[test]
fn w7_a_pool_with_a_defective_image_exposes_its_member() {
    let defect = format!(
        "  defects:\n    - {{nodeImage: {FAMILY}-202603.09.0, members: [a], degradesAfter: 1h, fixed: \
         2026-03-08T08:00:00Z}}\n"
    );
    let members = [("a", "202603.02.0")];
    for (churn, action) in both_ways("4d", "a", &pool(FAMILY, "202603.09.0")) {
        let text = scenario(&members, &latest(), &churn, &[&action]) + &defect;
        let exposure = outcomes(&text, 1, 1).by_strategy[0][0].exposure;
        // From the fourth day to the fix, though the run was over before it began.
        assert_eq!((exposure.members, exposure.time), (1, Span::from_days(2)));
    }
    let older = pool(FAMILY, "202603.02.0");
    for (churn, action) in both_ways("4d", "a", &older) {
        let text = scenario(&members, &latest(), &churn, &[&action]) + &defect;
        assert_eq!(outcomes(&text, 1, 1).by_strategy[0][0].exposure.members, 0);
    }
}

#[test]
fn w9_a_pool_that_nobody_gets_is_warned_of() {
    let warned = |after: &str, more: &str| {
        let churn = format!("churn: {{addPool: {{after: {after}{more}, pool: {{name: x}}}}}}");
        let text = scenario(&[("a", "202602.13.0")], &latest(), &churn, &[]).replace(
            "pool: {name: x}",
            &format!("pool: {{name: x, nodeImageVersion: {FAMILY}-202603.02.0}}"),
        );
        let no_files = |name: &str| Err(format!("{name}: there are no files here"));
        let (_, warnings) = Scenario::read("test.yaml", &text, &no_files).unwrap();
        warnings.iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    assert_eq!(warned("11d", ""), ["no-effect"]);
    assert_eq!(warned("{uniform: [241h, 30d]}", ""), ["no-effect"]);
    assert_eq!(warned("{uniform: [239h, 30d]}", ""), [""; 0]);
    assert_eq!(warned("2d", ", region: eastus"), ["nobody"]);
}

/// X1: who gets a pool changes nobody's luck, and one entry not that of another.
#[test]
fn x1_pools_that_are_added_change_no_other_draw() {
    let text = |churn: &str| {
        format!(
            "name: coupled\nstart: {START}\nhorizon: 30d\nfleet:\n  populations:\n    - {{count: 20, name: \
             \"m{{n}}\", region: {{choose: {{westeurope: 1, eastus: 1}}}}, pools: [{{name: p}}]}}\nupdate: \
             {{{UPDATE}}}\n{ONE_BY_ONE}\nworld: {{churn: {{leave: {{after: {{exponential: {{mean: \
             60d}}}}}}, stopped: {{every: {{exponential: {{mean: 20d}}}}, lasts: 4h}}, join: {{every: \
             {{exponential: {{mean: 2d}}}}, atMost: 5, like: {{}}, name: \"new-{{n}}\"}}{churn}}}}}\n"
        )
    };
    let first =
        "{after: {exponential: {mean: 5d}}, pool: {name: x, nodeImageVersion: {behind: 3}}}";
    let second = "{after: {exponential: {mean: 5d}}, pool: {name: y}}";
    // Everybody has something to do with and without the pools.
    let look = |churn: &str| {
        histories(&text(churn), 20, |plan, history, outcome| {
            let when = history.records.iter().map(|record| (record.time, record.node, record.to));
            let joined = plan.fleet.members.iter().filter(|member| member.joins).count();
            (when.collect::<Vec<_>>(), joined, outcome.done.clone(), outcome.versions.skew)
        })
    };
    let without = look("");
    let with = look(&format!(", addPool: [{first}, {second}]"));
    let mut grown = 0;
    for (with, without) in with.iter().zip(&without) {
        assert_eq!((&with.0, with.1, &with.2), (&without.0, without.1, &without.2));
        grown += u32::from(with.3 != without.3);
    }
    assert!(grown > 0, "somebody got a pool and is behind by it");
    let images = |churn: &str| -> Vec<Vec<usize>> {
        let scenario = read(&text(churn));
        let experiment = Experiment::new(&scenario, &scenario.strategies).unwrap();
        let mut simulation = Simulation::new(&experiment.world, &experiment.plans[0]);
        let replications = 0..10;
        let counts = replications.map(|replication| {
            simulation.run(replication, experiment.end(), &mut NoLog);
            let members = scenario.fleet.members.ids();
            members.map(|id| simulation.scheduler().images(id).count()).collect()
        });
        counts.collect()
    };
    let (none, one, two) = (
        images(""),
        images(&format!(", addPool: {first}")),
        images(&format!(", addPool: [{first}, {}]", second.replace("mean: 5d", "mean: 50d"))),
    );
    let pairs = || {
        none.iter().zip(&one).zip(&two).flat_map(|((none, one), two)| {
            none.iter().zip(one).zip(two).map(|((none, one), two)| (none, one, two))
        })
    };
    assert!(pairs().all(|(none, one, two)| none <= one && one <= two), "{none:?} {one:?} {two:?}");
    assert!(pairs().any(|(_, one, two)| one < two) && pairs().any(|(none, one, _)| none < one));
}
