//! A swarm of scenarios with several runs at once, random stops, starts, skips and generated runs,
//! own upgrades and configuration changes: whatever happens, a member has one work at a time, all
//! runs agree on what it runs, and no version goes back. Checked after every step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::profiles::play;

const SCENARIOS: u64 = 150;

/// A small generator of its own, so that a seed is a scenario for ever.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % sides
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[usize::try_from(self.roll(list.len() as u64)).unwrap()]
    }
}

/// The scenario of a seed: everything on a grid of half hours, so that much falls together.
fn scenario(seed: u64) -> String {
    let mut dice = Dice(seed);
    let fleet = fleet(&mut dice, seed);
    let profiles = profiles(&mut dice);
    fleet + &profiles + &script(&mut dice) + &actions(&mut dice)
}

fn fleet(dice: &mut Dice, seed: u64) -> String {
    let mut text = format!(
        "name: swarm-{seed}\nstart: 2026-03-02T08:00:00Z\nhorizon: 12d\nfleet:\n  members:\n"
    );
    for n in 0..2 + dice.roll(5) {
        let region = dice.pick(&["westeurope", "eastus"]);
        let group = dice.pick(&["g", "h"]);
        let channel = dice.pick(&["none", "none", "patch", "rapid", "node-image"]);
        let version = dice.pick(&["1.33.3", "1.33.3", "1.32.7", "1.31.1"]);
        let window = match dice.roll(3) {
            0 => {
                ", maintenance: {aksManagedNodeOSUpgradeSchedule: {schedule: {daily: {intervalDays: 1}}, durationHours: 4, startTime: \"10:00\", utcOffset: \"+00:00\"}}"
            }
            _ => "",
        };
        writeln!(
            text,
            "    - {{name: m{n}, region: {region}, updateGroup: {group}, kubernetesVersion: {version}, \
             autoUpgradeProfile: {{upgradeChannel: {channel}}}, pools: [{{name: p, nodeImageVersion: \
             AKSUbuntu-2204gen2containerd-202602.13.0}}]{window}}}"
        )
        .unwrap();
    }
    text
}

fn profiles(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.roll(2) == 0 {
        text += "update: {managedClusterUpdate: {upgrade: {type: NodeImageOnly}}, restart: retryFailed}\n";
    }
    let poll = dice.pick(&["60m", "0s", "30m"]);
    writeln!(
        text,
        "autoUpgradeProfiles:\n  - {{name: images, channel: NodeImage, updateStrategyId: both, pollInterval: {poll}}}\n  \
         - {{name: rapid, channel: Rapid, updateStrategyId: both, restart: retryFailed}}\n  \
         - {{name: stable, channel: Stable, stoppedMembers: skip}}"
    )
    .unwrap();
    let (one, two) = (1 + dice.roll(3), 1 + dice.roll(3));
    let gate =
        dice.pick(&["", ", beforeGates: [{type: Approval}]", ", afterGates: [{type: Approval}]"]);
    writeln!(
        text,
        "strategies:\n  - name: both\n    stages:\n      - {{name: s, maxAllowedFailures: 1, groups: [{{name: g, \
         maxConcurrency: {one}, maxAllowedFailures: 1}}]{gate}}}\n      - {{name: t, groups: [{{name: h, \
         maxConcurrency: {two}}}]}}"
    )
    .unwrap();
    text
}

fn script(dice: &mut Dice) -> String {
    let mut text = String::new();
    text += "world: {durations: {update: 2h}, ownUpgrades: {delay: 5h}}\n";
    text += "configurationChanges: [{at: 26h, operation: customCaTrustCertificates}]\nscript:\n  updates:\n";
    for n in 0..2 {
        let fails = if dice.roll(2) == 0 { ", fails: Drain" } else { "" };
        let minutes = 30 * (1 + dice.roll(6));
        writeln!(
            text,
            "    m{n}: [{{takes: {minutes}m{fails}}}, {{takes: 1h}}, {{takes: 30m{fails}}}]"
        )
        .unwrap();
    }
    text += "    \"*\": {takes: 90m}\n  releases:\n";
    let half_hour = |dice: &mut Dice, days: u64| {
        let (day, slot) = (2 + dice.roll(days), dice.roll(48));
        format!("2026-03-{day:02}T{:02}:{:02}:00Z", slot / 2, slot % 2 * 30)
    };
    for version in ["202603.02.0", "202603.05.0", "202603.09.0"] {
        let (europe, us) = (half_hour(dice, 9), half_hour(dice, 9));
        writeln!(
            text,
            "    - {{nodeImage: AKSUbuntu-2204gen2containerd-{version}, regions: {{westeurope: {europe}, eastus: {us}}}}}"
        )
        .unwrap();
    }
    for version in ["1.32.8", "1.33.4", "1.34.0", "1.34.1"] {
        let at = half_hour(dice, 9);
        writeln!(text, "    - {{kubernetesVersion: {version}, regions: {{\"*\": {at}}}}}").unwrap();
    }
    text
}

fn actions(dice: &mut Dice) -> String {
    let mut text = String::new();
    text += "  actions:\n";
    let runs = [
        "images-202603.02.0",
        "images-202603.05.0",
        "images-202603.09.0",
        "rapid-1.34.0",
        "rapid-1.34.1",
        "stable-1.33.4",
    ];
    let mut actions: Vec<(u64, String)> = Vec::new();
    for _ in 0..24 {
        let run = dice.pick(&runs);
        let verb = match dice.roll(8) {
            0 => "stop: true".to_owned(),
            1 | 2 => "start: true".to_owned(),
            3 => "start: {restart: retryFailed}".to_owned(),
            4 => format!("skip: \"Member:m{}\"", dice.roll(3)),
            5 => dice.pick(&["skip: \"Group:g\"", "skip: \"Stage:s\""]).to_owned(),
            _ => {
                dice.pick(&["approve: \"stage:s/before\"", "approve: \"stage:s/after\""]).to_owned()
            }
        };
        actions.push((dice.roll(400), format!("run: {run}, {verb}")));
    }
    for _ in 0..4 {
        actions.push((
            dice.roll(400),
            format!("generate: {}", dice.pick(&["images", "rapid", "stable"])),
        ));
    }
    for (slot, action) in actions {
        writeln!(text, "    - {{at: {}m, {action}}}", slot * 30).unwrap();
    }
    text
}

#[test]
fn a7_no_member_is_updated_by_two_and_no_version_goes_back() {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..SCENARIOS {
        let text = scenario(seed);
        let played = std::panic::catch_unwind(|| play(&text));
        let Ok(played) = played else { panic!("seed {seed}\n{text}") };
        for event in &played.events {
            let mut words = event.split(' ').skip(2);
            let kind = words.next().unwrap_or_default().to_owned();
            let why = words.last().filter(|word| word.starts_with('(')).unwrap_or_default();
            *seen.entry(format!("{kind} {why}")).or_default() += 1;
        }
        for refused in &played.refused {
            let why = refused.rsplit(": ").next().unwrap_or_default();
            *seen.entry(format!("refused {why}")).or_default() += 1;
        }
        let autonomous = played.outcome.autonomous.as_ref().unwrap();
        *seen.entry("own upgrades".to_owned()).or_default() += u64::from(autonomous.own_upgrades);
        let overtaken = autonomous.runs.iter().filter(|run| run.overtaken.is_some()).count();
        *seen.entry("overtaken".to_owned()).or_default() += overtaken as u64;
    }
    println!("{seen:#?}");
    for what in [
        "memberPending (MemberBusy)",
        "memberPending (NodeImageVersionNotAvailable)",
        "memberPending (MaintenanceWindowClosed)",
        "memberSkipped (AlreadyAtTarget)",
        "memberSkipped (KubernetesMinorVersionSkipped)",
        "memberSkipped (LongTermSupportRequired)",
        "memberSkipped (User)",
        "memberFailed (UpdateFailed)",
        "runStopped ",
        "runFailed ",
        "runCompleted ",
        "runSkipped ",
        "refused there is no update run of that name",
        "refused the update run has not been started",
        "own upgrades",
        "overtaken",
    ] {
        assert!(seen.get(what).is_some_and(|times| *times > 0), "{what} is never seen: {seen:#?}");
    }
}
