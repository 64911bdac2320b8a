//! Random small scenarios with an update run, campaigns, and people who interfere.

use std::fmt::Write as _;

/// Numbers that a seed fixes (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    /// From 0, below `sides`.
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % sides
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let sides = list.len() as u64;
        list[usize::try_from(self.roll(sides)).expect("lists are short")]
    }
}

/// What a campaign may ask for, with its values.
const OPERATIONS: &[&str] = &[
    "operation: customCaTrustCertificates",
    "operation: vtpm, from: Disabled, to: Enabled",
    "operation: networkPolicy, from: azure, to: calico",
    "operation: networkPolicy, from: none, to: calico",
    "operation: windowsGmsa, from: disabled, to: enabled",
    "operation: outboundType",
    "operation: emergencyMaintenance",
];
const DAYS: &[&str] = &["Monday", "Tuesday", "Wednesday", "Sunday"];
const POLICIES: &[&str] = &["Allow", "AllowDuringMaintenanceWindow", "Block"];
const HABITS: &[&str] =
    &["giveUp", "{retryEvery: 7h}", "{retryEvery: 45m}", "retryInWindow", "changePolicy"];
const FAMILIES: &[&str] = &["AKSUbuntu-2204gen2containerd", "AKSWindows-2022-containerd"];

/// The scenario of a seed.
pub(super) fn scenario(seed: u64) -> String {
    let dice = &mut Dice::new(seed);
    let mut text = format!(
        "name: campaigns\nstart: 2026-03-02T08:00:00Z\nhorizon: {}d\nseed: {seed}\nfleet:\n  members:\n",
        3 + dice.roll(8)
    );
    let members = 3 + dice.roll(4);
    for number in 0..members {
        member(&mut text, number, dice);
    }
    let poll = dice.pick(&["0", "60m", "60m", "3h"]);
    writeln!(
        text,
        "update: {{managedClusterUpdate: {{upgrade: {{type: NodeImageOnly}}}}, pollInterval: {poll}}}"
    )
    .unwrap();
    let gates = dice.pick(&["", "", ", afterGates: [{type: Approval}]"]);
    let (budget, limit) = (dice.roll(4), 1 + dice.roll(2));
    writeln!(
        text,
        "strategies:\n  - name: s\n    stages:\n      - {{name: one, maxAllowedFailures: {budget}, \
         groups: [{{name: a, maxConcurrency: {limit}, maxAllowedFailures: {budget}}}]{gates}}}\n      \
         - {{name: two, maxAllowedFailures: {budget}, groups: [{{name: b, maxAllowedFailures: {budget}}}]}}"
    )
    .unwrap();
    text.push_str("script:\n  updates:\n");
    for number in 0..members {
        let fails = dice.pick(&["", "", "", ", fails: PodDrainFailure"]);
        let takes = 15 * (1 + dice.roll(20));
        writeln!(text, "    m{number}: [{{takes: {takes}m{fails}}}, {{takes: 30m}}]").unwrap();
    }
    text.push_str("  releases:\n");
    for (family, old) in FAMILIES.iter().zip(["202603.02.0", "20348.4500.260302"]) {
        let day = dice.pick(&["2026-03-01", "2026-03-01", "2026-03-03"]);
        writeln!(text, "    - {{nodeImage: {family}-{old}, regions: {{\"*\": {day}T00:00:00Z}}}}")
            .unwrap();
    }
    text.push_str("  actions:\n");
    for _ in 0..dice.roll(7) {
        let action = match dice.roll(6) {
            0 | 1 => "stop: true".to_owned(),
            2 | 3 => "start: true".to_owned(),
            4 => format!("skip: \"Member:m{}\"", dice.roll(members)),
            _ => "approve: \"stage:one/after\"".to_owned(),
        };
        writeln!(text, "    - {{at: {}m, {action}}}", 15 * dice.roll(400)).unwrap();
    }
    text.push_str("    - {at: 50h, approve: \"stage:one/after\"}\n");
    writeln!(text, "world: {{durations: {{model: cluster, update: {{uniform: [20m, 6h]}}}}}}")
        .unwrap();
    text.push_str("configurationChanges:\n");
    for _ in 0..=dice.roll(4) {
        campaign(&mut text, dice);
    }
    text
}

fn member(text: &mut String, number: u64, dice: &mut Dice) {
    let group = dice.pick(&["a", "a", "b", "none"]);
    let labels = dice.pick(&["red", "blue"]);
    let policy = dice.pick(POLICIES);
    let (linux, windows) = (1 + dice.roll(9), dice.roll(3));
    write!(
        text,
        "    - name: m{number}\n      region: {}\n      updateGroup: {group}\n      \
         labels: {{colour: {labels}}}\n      nodeDisruptionPolicy: {policy}\n      pools:\n        \
         - {{name: l, nodeImageVersion: {}-202602.13.0, count: {linux}}}\n",
        dice.pick(&["westeurope", "eastus"]),
        FAMILIES[0],
    )
    .unwrap();
    if windows > 0 {
        writeln!(
            text,
            "        - {{name: w, mode: User, nodeImageVersion: {}-20348.4400.260201, count: {windows}}}",
            FAMILIES[1]
        )
        .unwrap();
    }
    if dice.roll(3) > 0 {
        write!(
            text,
            "      maintenance:\n        aksManagedNodeOSUpgradeSchedule:\n          \
             schedule: {{weekly: {{intervalWeeks: 1, dayOfWeek: {}}}}}\n          \
             durationHours: {}\n          startTime: \"{:02}:00\"\n          utcOffset: \"+00:00\"\n",
            dice.pick(DAYS),
            4 + dice.roll(9),
            dice.roll(24)
        )
        .unwrap();
    }
}

fn campaign(text: &mut String, dice: &mut Dice) {
    let operation = dice.pick(OPERATIONS);
    let members = dice.pick(&["", "", ", members: {byLabel: colour=red}"]);
    let offset = 15 * dice.roll(300);
    let times = match dice.roll(6) {
        0 => format!("at: {offset}m"),
        1 => format!("at: {{uniform: [0s, {}h]}}", 1 + dice.roll(90)),
        2 => format!("rate: {{members: 1, every: {}h, from: {offset}m}}", 1 + dice.roll(30)),
        3 => format!("waves: [{{at: {offset}m, members: \"40%\"}}, {{at: {}m}}]", offset + 600),
        4 => format!("stages: {{every: {}h, from: {offset}m}}", dice.roll(40)),
        _ => {
            writeln!(text, "  - {{{operation}, with: update{members}}}").unwrap();
            return;
        }
    };
    let habit = dice.pick(HABITS);
    writeln!(text, "  - {{{operation}, {times}{members}, onRefused: {habit}}}").unwrap();
}
