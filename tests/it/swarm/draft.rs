//! The scenario of a seed, as text: one item a line, so that lines can be left out.

mod fleet;
mod script;

use std::fmt::Write as _;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::reference::{HOUR, MINUTE, Millis, read_instant, show_instant, show_span};

const UBUNTU: &str = "AKSUbuntu-2204gen2containerd";
const ARM: &str = "AKSUbuntu-2204gen2arm64containerd";
const WINDOWS: &str = "AKSWindows-2022-containerd";
const BUILDS: [&str; 4] = ["202602.13.0", "202602.27.0", "202603.02.0", "202603.09.0"];
const WINDOWS_BUILDS: [&str; 2] = ["20348.4648.260112", "20348.4773.260210"];
const REGIONS: [&str; 3] = ["westeurope", "eastus", "northeurope"];
const STARTS: [&str; 5] = [
    "2026-03-02T08:00:00Z",
    "2026-03-01T23:40:00Z",
    "2026-03-31T06:10:00Z",
    "2026-02-27T21:15:00Z",
    "2026-03-04T12:00:07Z",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Draws.
struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn span(&mut self, bound: u64) -> Millis {
        i64::try_from(self.below(bound)).expect("a small number")
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[usize::try_from(self.below(list.len() as u64)).expect("an index")]
    }

    fn pick_owned(&mut self, list: &[String]) -> Option<String> {
        if list.is_empty() {
            return None;
        }
        let position = usize::try_from(self.below(list.len() as u64)).expect("an index");
        Some(list[position].clone())
    }
}

/// One scenario in the making.
struct Draft {
    dice: Dice,
    start: Millis,
    /// The grid of time.
    unit: Millis,
    horizon: Millis,
    regions: Vec<&'static str>,
    upgrade: &'static str,
    /// How many percent of the members have a window.
    windows: u64,
    /// The members' homes: the group's name and whether a label chooses it.
    homes: Vec<(String, bool)>,
    stages: Vec<String>,
    groups: Vec<String>,
    members: Vec<String>,
    /// `stage:S/before/NAME` of approvals and of scheduled starts.
    approvals: Vec<String>,
    schedules: Vec<String>,
    waits: Vec<String>,
}

/// The scenario of a seed.
pub(crate) fn scenario(seed: u64) -> String {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let start = read_instant(dice.pick(&STARTS));
    let unit = [10, 15, 30, 30, 60][usize::try_from(dice.below(5)).expect("an index")] * MINUTE;
    let days = if dice.chance(30) { 65 } else { 3 + dice.span(25) };
    let regions = REGIONS[..=usize::try_from(dice.below(3)).expect("an index")].to_vec();
    let upgrade = match dice.below(20) {
        0..12 => "NodeImageOnly",
        12..17 => "Full",
        _ => "ControlPlaneOnly",
    };
    let mut draft = Draft {
        dice,
        start,
        unit,
        horizon: days * 24 * HOUR,
        regions,
        upgrade,
        windows: 0,
        homes: Vec::new(),
        stages: Vec::new(),
        groups: Vec::new(),
        members: Vec::new(),
        approvals: Vec::new(),
        schedules: Vec::new(),
        waits: Vec::new(),
    };
    draft.windows = [0, 20, 40, 80][usize::try_from(draft.dice.below(4)).expect("an index")];
    let strategy = draft.strategy();
    let members = draft.fleet();
    let (update, update_options) = draft.update();
    let script = draft.script();
    format!(
        "name: swarm-{seed}\nstart: {}\nhorizon: {days}d\nfleet:\n  members:\n{members}\
         update:\n  managedClusterUpdate: {update}\n{update_options}\
         strategies:\n{strategy}script:\n{script}",
        show_instant(start)
    )
}

impl Draft {
    /// A whole number of grid steps, written as an offset.
    fn steps(&mut self, from: Millis, bound: u64) -> String {
        show_span((from + self.dice.span(bound)) * self.unit)
    }

    /// An instant on the grid, some steps away from the start.
    fn instant(&self, steps: Millis) -> String {
        show_instant(self.start + steps * self.unit)
    }

    fn strategy(&mut self) -> String {
        if self.dice.chance(8) {
            self.groups.push("default".to_owned());
            self.stages.push("default".to_owned());
            self.homes.push(("default".to_owned(), false));
            return "  - {name: one-by-one}\n".to_owned();
        }
        let mut text = "  - name: waves\n    stages:\n".to_owned();
        let stages = 1 + self.dice.below(4).min(self.dice.below(4));
        for s in 1..=stages {
            text += &self.stage(s);
        }
        text
    }

    fn stage(&mut self, s: u64) -> String {
        let name = format!("s{s}");
        let mut text = format!("      - name: {name}\n");
        self.stages.push(name.clone());
        text += &self.limits(8, "        ", "\n");
        for gates in self.gates(&format!("stage:{name}"), 22, 12) {
            writeln!(text, "        {gates}").expect("strings take everything");
        }
        if self.dice.chance(35) {
            let wait = (1 + self.dice.span(8)) * self.unit / 1_000;
            writeln!(text, "        afterStageWaitInSeconds: {wait}")
                .expect("strings take everything");
            self.waits.push(name.clone());
        }
        if self.dice.chance(18) {
            writeln!(text, "        memberSelector: {{byLabel: \"home={name}\"}}")
                .expect("strings take everything");
            self.homes.push((name.clone(), true));
            self.groups.push(name);
            return text;
        }
        if self.dice.chance(15) {
            let filter = self.dice.pick(&["keep=yes", "tier!=db", "keep,!absent"]);
            writeln!(text, "        memberSelector: {{byLabel: \"{filter}\"}}")
                .expect("strings take everything");
        }
        text += "        groups:\n";
        for g in 1..=1 + self.dice.below(4).min(self.dice.below(5)) {
            text += &self.group(&format!("g{s}{g}"));
        }
        text
    }

    fn group(&mut self, name: &str) -> String {
        let mut text = format!("          - {{name: {name}");
        let by_label = self.dice.chance(40);
        if by_label {
            let form = self.dice.pick(&[
                "home=NAME",
                "home==NAME, !absent",
                "home in (NAME, nowhere)",
                "home = NAME,tier notin (none)",
            ]);
            let selector = form.replace("NAME", name);
            write!(text, ", memberSelector: {{byLabel: \"{selector}\"}}")
                .expect("strings take everything");
        }
        text += &self.limits(4, ", ", "");
        for gates in self.gates(&format!("group:{name}"), 14, 9) {
            write!(text, ", {gates}").expect("strings take everything");
        }
        self.homes.push((name.to_owned(), by_label));
        self.groups.push(name.to_owned());
        text + "}\n"
    }

    fn limits(&mut self, most: u64, before: &str, after: &str) -> String {
        let mut text = String::new();
        let mut put = |key: &str, value: String| {
            write!(text, "{before}{key}: {value}{after}").expect("strings take everything");
        };
        match self.dice.below(10) {
            0..3 => {}
            3..7 => put("maxConcurrency", (1 + self.dice.below(most)).to_string()),
            _ => put("maxConcurrency", format!("\"{}%\"", 1 + self.dice.below(100))),
        }
        match self.dice.below(10) {
            0..2 => {}
            2..7 => put("maxAllowedFailures", self.dice.below(5).to_string()),
            _ => put("maxAllowedFailures", format!("\"{}%\"", self.dice.below(101))),
        }
        text
    }

    /// `beforeGates: […]` and `afterGates: […]` of a place, with these probabilities.
    fn gates(&mut self, place: &str, before: u64, after: u64) -> Vec<String> {
        let mut lists = Vec::new();
        for (timing, percent) in [("before", before), ("after", after)] {
            if !self.dice.chance(percent) {
                continue;
            }
            let count = if self.dice.chance(25) { 2 } else { 1 };
            let mut gates = Vec::new();
            for k in 0..count {
                let named = count > 1 || self.dice.chance(70);
                let display = if named { format!("gate {k}") } else { String::new() };
                let path = if named { format!("/{display}") } else { String::new() };
                let path = format!("{place}/{timing}{path}");
                let mut gate =
                    if named { format!("displayName: {display}, ") } else { String::new() };
                if timing == "before" && self.dice.chance(40) {
                    gate += &self.schedule();
                    self.schedules.push(path);
                } else {
                    gate += "type: Approval";
                    self.approvals.push(path);
                }
                gates.push(format!("{{{gate}}}"));
            }
            lists.push(format!("{timing}Gates: [{}]", gates.join(", ")));
        }
        lists
    }

    /// A scheduled start soon after the scenario's, mostly on the grid.
    fn schedule(&mut self) -> String {
        let reached = self.start + self.dice.span(72) * self.unit;
        let offset = self.dice.pick(&["+00:00", "+01:00", "-05:00", "+05:30"]);
        let minutes = reached / MINUTE;
        let day = (minutes / 1440 + 4).rem_euclid(7);
        let day = DAYS[usize::try_from(day).expect("a weekday")];
        let time = format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60);
        format!(
            "type: ScheduledStart, scheduledStartConfiguration: \
             {{startDay: {day}, startTime: \"{time}\", utcOffset: \"{offset}\"}}"
        )
    }
}
