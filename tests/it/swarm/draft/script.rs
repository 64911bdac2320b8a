//! The update and the script of a random scenario: options, updates, releases, actions.

use std::fmt::Write as _;

use super::{ARM, BUILDS, Dice, Draft, UBUNTU, WINDOWS, WINDOWS_BUILDS};
use crate::reference::{HOUR, MINUTE, show_instant, show_span};

impl Draft {
    pub(super) fn update(&mut self) -> (String, String) {
        let mut update = match self.upgrade {
            "NodeImageOnly" => "{upgrade: {type: NodeImageOnly}".to_owned(),
            upgrade => format!("{{upgrade: {{type: {upgrade}, kubernetesVersion: 1.34.1}}"),
        };
        if self.upgrade != "ControlPlaneOnly" {
            update += &match self.dice.below(10) {
                0 => String::new(),
                1..4 => ", nodeImageSelection: {type: Latest}".to_owned(),
                4..7 => ", nodeImageSelection: {type: Consistent}".to_owned(),
                _ => self.custom(),
            };
        }
        let mut options = String::new();
        let mut option = |dice: &mut Dice, percent, key: &str, values: &[&str]| {
            if dice.chance(percent) {
                writeln!(options, "  {key}: {}", dice.pick(values))
                    .expect("strings take everything");
            }
        };
        option(&mut self.dice, 40, "stoppedMembers", &["fail", "skip"]);
        option(&mut self.dice, 60, "restart", &["keepFailed", "retryFailed"]);
        let polls = ["0", "0", "30m", "60m", "4h", "17m", "25m", "7h"];
        option(&mut self.dice, 75, "pollInterval", &polls);
        let orders = ["roundRobin", "strategyOrder", "reverse"];
        option(&mut self.dice, 50, "groupOrder", &orders);
        (update + "}", options)
    }

    fn custom(&mut self) -> String {
        let mut list = vec![format!("{{version: {UBUNTU}-{}}}", self.dice.pick(&BUILDS[1..]))];
        if self.dice.chance(30) {
            list.push(format!("{{version: {WINDOWS}-{}}}", WINDOWS_BUILDS[1]));
        }
        if self.dice.chance(20) {
            list.push(format!("{{version: {ARM}-{}}}", self.dice.pick(&BUILDS)));
        }
        format!(
            ", nodeImageSelection: {{type: Custom, customNodeImageVersions: [{}]}}",
            list.join(", ")
        )
    }

    pub(super) fn script(&mut self) -> String {
        let mut text = "  updates:\n".to_owned();
        writeln!(text, "    \"*\": {{takes: {}}}", self.steps(1, 5))
            .expect("strings take everything");
        for name in self.members.clone() {
            if self.dice.chance(45) {
                let attempts: Vec<String> =
                    (0..=self.dice.below(3)).map(|_| self.attempt()).collect();
                let list = match &attempts[..] {
                    [one] => one.clone(),
                    several => format!("[{}]", several.join(", ")),
                };
                writeln!(text, "    {name}: {list}").expect("strings take everything");
            }
        }
        text += "  releases:\n";
        text += &self.releases();
        text += "  actions:\n";
        let mut actions = self.actions();
        if self.dice.chance(30) {
            for k in (1..actions.len()).rev() {
                let other = usize::try_from(self.dice.below(k as u64 + 1)).expect("an index");
                actions.swap(k, other);
            }
        }
        text + &actions.concat()
    }

    fn attempt(&mut self) -> String {
        let takes = if self.dice.chance(8) { "0s".to_owned() } else { self.steps(1, 9) };
        if self.dice.chance(28) {
            let code = self.dice.pick(&["PodDrainFailure", "QuotaExceeded", "it \\\"broke\\\" é"]);
            return format!("{{takes: {takes}, fails: \"{code}\"}}");
        }
        format!("{{takes: {takes}}}")
    }

    fn releases(&mut self) -> String {
        let mut text = String::new();
        let mut names: Vec<String> = Vec::new();
        if self.dice.chance(80) {
            let steps = -1 - self.dice.span(100);
            let at = self.instant(steps);
            let old = format!("{UBUNTU}-202602.20.0");
            writeln!(text, "    - {{nodeImage: {old}, regions: {{\"*\": {at}}}}}")
                .expect("strings take everything");
        }
        for build in &BUILDS[1..] {
            if self.dice.chance(85) {
                names.push(format!("nodeImage: {UBUNTU}-{build}"));
            }
            if self.dice.chance(40) {
                names.push(format!("nodeImage: {ARM}-{build}"));
            }
        }
        if self.dice.chance(60) {
            names.push(format!("nodeImage: {WINDOWS}-{}", WINDOWS_BUILDS[1]));
        }
        if self.upgrade != "NodeImageOnly" {
            names.push("kubernetesVersion: 1.34.1".to_owned());
            if self.dice.chance(30) {
                names.push("kubernetesVersion: 1.34.2".to_owned());
            }
        }
        for name in names {
            let regions = self.arrivals();
            let mut more = String::new();
            if name.starts_with("kubernetes") && self.dice.chance(20) {
                // Off the grid: the last supported instant is not what is tested here.
                let until =
                    self.start + (self.dice.span(60) - 10) * self.unit + 7 * MINUTE + 11_000;
                more = format!(", supportUntil: {}", show_instant(until));
            }
            writeln!(text, "    - {{{name}, regions: {{{regions}}}{more}}}")
                .expect("strings take everything");
        }
        text
    }

    /// Arrivals in the fleet's regions: mostly before the start, some while the run goes on.
    fn arrivals(&mut self) -> String {
        if self.dice.chance(40) {
            return format!("\"*\": {}", self.arrival());
        }
        let mut list = Vec::new();
        for region in self.regions.clone() {
            if self.dice.chance(90) {
                list.push(format!("{region}: {}", self.arrival()));
            }
        }
        if list.len() < self.regions.len() && (list.is_empty() || self.dice.chance(30)) {
            list.push(format!("\"*\": {}", self.arrival()));
        }
        list.join(", ")
    }

    fn arrival(&mut self) -> String {
        match self.dice.below(20) {
            0 => show_instant(self.start - 90 * 24 * HOUR - self.dice.span(2) * 1_000),
            1..12 => {
                let steps = -1 - self.dice.span(500);
                self.instant(steps)
            }
            12 => self.instant(0),
            _ => {
                let steps = 1 + self.dice.span(90);
                self.instant(steps)
            }
        }
    }

    /// Offsets on the grid, some at full hours.
    fn at(&mut self) -> String {
        if self.dice.chance(25) {
            return show_span(self.dice.span(48) * HOUR);
        }
        let bound = if self.dice.chance(50) { 12 } else { 60 };
        self.steps(0, bound)
    }

    fn actions(&mut self) -> Vec<String> {
        let mut list = Vec::new();
        let mut put = |at: String, what: String| list.push(format!("    - {{at: {at}, {what}}}\n"));
        let approving = self.dice.chance(85);
        let every = (2 + self.dice.span(7)) * HOUR;
        for path in self.approvals.clone() {
            let place = if self.dice.chance(40) { &path } else { without_name(&path) };
            let what = format!("approve: \"{place}\"");
            for _ in 0..self.dice.below(3) {
                put(self.at(), what.clone());
            }
            for k in 1..=if approving { 6 } else { 0 } {
                put(show_span(k * every), format!("approve: \"{path}\""));
            }
        }
        for path in self.schedules.clone() {
            if self.dice.chance(35) {
                let verb = self.dice.pick(&["complete", "complete", "approve"]);
                put(self.at(), format!("{verb}: \"{path}\""));
            }
        }
        let persistent = self.dice.chance(65);
        let every = (3 + self.dice.span(9)) * HOUR;
        for k in 1..=if persistent { 8 } else { 0 } {
            put(show_span(k * every), "start: true".to_owned());
        }
        for _ in 0..self.dice.below(3).min(self.dice.below(3)) {
            put(self.at(), "stop: true".to_owned());
        }
        for _ in 0..self.dice.below(4) {
            let what = match self.dice.below(4) {
                0 => "start: {restart: retryFailed}",
                1 => "start: {restart: keepFailed}",
                _ => "start: true",
            };
            put(self.at(), what.to_owned());
        }
        for _ in 0..self.dice.below(4).min(self.dice.below(5)) {
            let targets: Vec<String> = (0..=self.dice.below(2)).map(|_| self.target()).collect();
            let targets = match &targets[..] {
                [one] if self.dice.chance(50) => format!("\"{one}\""),
                list => format!("[\"{}\"]", list.join("\", \"")),
            };
            put(self.at(), format!("skip: {targets}"));
        }
        if self.dice.chance(12) {
            let member = self.dice.pick_owned(&self.members).expect("somebody");
            let family = self.dice.pick(&[UBUNTU, ARM]);
            let pool = format!("{{name: late, nodeImageVersion: {family}-{}}}", BUILDS[0]);
            put(self.at(), format!("addPool: {{member: {member}, pool: {pool}}}"));
        }
        if self.dice.chance(5) {
            put(show_span(self.horizon), "stop: true".to_owned());
            put(show_span(self.horizon + self.unit), "stop: true".to_owned());
        }
        list
    }

    fn target(&mut self) -> String {
        let wrong = self.dice.chance(8);
        let (what, names) = match self.dice.below(20) {
            0..9 => ("Member", &self.members),
            9..14 => ("Group", &self.groups),
            14..17 => ("Stage", &self.stages),
            _ => ("AfterStageWait", if self.dice.chance(70) { &self.waits } else { &self.stages }),
        };
        let name = self.dice.pick_owned(names).filter(|_| !wrong);
        format!("{what}:{}", name.unwrap_or_else(|| "nowhere".to_owned()))
    }
}

/// A gate's place without the gate's own name.
fn without_name(path: &str) -> &str {
    let slash = path.find('/').expect("before or after");
    path[slash + 1..].find('/').map_or(path, |end| &path[..slash + 1 + end])
}
