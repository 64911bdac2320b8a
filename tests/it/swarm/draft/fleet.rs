//! The fleet of a random scenario: members, pools, maintenance windows.

use std::fmt::Write as _;

use super::{ARM, BUILDS, DAYS, Draft, UBUNTU, WINDOWS, WINDOWS_BUILDS};
use crate::reference::{HOUR, show_instant};

impl Draft {
    pub(super) fn fleet(&mut self) -> String {
        let mut text = String::new();
        for m in 1..=12 - self.dice.below(12).min(self.dice.below(14)) {
            text += &self.member(m);
        }
        text
    }

    fn member(&mut self, m: u64) -> String {
        let name = format!("m{m:02}");
        let region = self.dice.pick(&self.regions.clone());
        let mut text = format!("    - {{name: {name}, region: {region}");
        let mut labels = Vec::new();
        // The first members fill the groups, the others go where they like.
        let homes = self.homes.len() as u64;
        let home = if m <= homes && !self.dice.chance(20) { m - 1 } else { self.dice.below(homes) };
        let home = usize::try_from(home).expect("an index");
        if !self.dice.chance(4) {
            match &self.homes[home] {
                (name, true) => labels.push(format!("home: {name}")),
                (name, false) => {
                    write!(text, ", updateGroup: {name}").expect("strings take everything");
                }
            }
        }
        if self.dice.chance(90) {
            labels.push("keep: \"yes\"".to_owned());
        }
        if self.dice.chance(50) {
            labels.push(format!("tier: {}", self.dice.pick(&["web", "db"])));
        }
        write!(text, ", labels: {{{}}}", labels.join(", ")).expect("strings take everything");
        if self.upgrade != "NodeImageOnly" || self.dice.chance(30) {
            let version = self.dice.pick(&[
                "1.33.3", "1.33.3", "1.33.3", "1.33.9", "1.33.10", "1.33.10", "1.34.0", "1.34.0",
                "1.34.1", "1.34.2", "1.32.9",
            ]);
            write!(text, ", kubernetesVersion: {version}").expect("strings take everything");
        }
        if self.dice.chance(6) {
            text += ", powerState: Stopped";
        }
        if self.dice.chance(15) {
            text += ", longTermSupport: true";
        }
        write!(text, ", pools: [{}]", self.pools().join(", ")).expect("strings take everything");
        text += &self.maintenance();
        self.members.push(name);
        text + "}\n"
    }

    fn pools(&mut self) -> Vec<String> {
        let mut pools = Vec::new();
        if self.dice.chance(95) {
            let oldest = self.dice.chance(82);
            let build = if oldest { BUILDS[0] } else { self.dice.pick(&BUILDS) };
            pools.push(self.pool("main", UBUNTU, build));
        }
        if self.dice.chance(7) {
            let build = self.dice.pick(&WINDOWS_BUILDS);
            pools.push(self.pool("win", WINDOWS, build));
        }
        if self.dice.chance(6) {
            let build = self.dice.pick(&BUILDS);
            pools.push(self.pool("arm", ARM, build));
        }
        pools
    }

    fn pool(&mut self, name: &str, family: &str, build: &str) -> String {
        let mut text = format!("{{name: {name}, nodeImageVersion: {family}-{build}");
        if self.dice.chance(8) {
            text += ", creationData: {sourceResourceId: /snapshots/one}";
        }
        if self.upgrade != "NodeImageOnly" && self.dice.chance(10) {
            let version = self.dice.pick(&["1.33.3", "1.34.0", "1.34.1"]);
            write!(text, ", orchestratorVersion: {version}").expect("strings take everything");
        }
        text + "}"
    }

    fn maintenance(&mut self) -> String {
        let mut list = Vec::new();
        let names = ["aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"];
        let windows = self.windows;
        let looked_at = usize::from(self.upgrade == "NodeImageOnly");
        for (k, name) in names.into_iter().enumerate() {
            if self.dice.chance(if k == looked_at { windows } else { 10 }) {
                list.push(format!("{name}: {}", self.window()));
            }
        }
        if list.is_empty() {
            String::new()
        } else {
            format!(", maintenance: {{{}}}", list.join(", "))
        }
    }

    fn window(&mut self) -> String {
        let soon = self.start + self.dice.span(6) * 24 * HOUR;
        let date = &show_instant(soon)[..10];
        let day = (soon / (24 * HOUR) + 4).rem_euclid(7);
        let day = DAYS[usize::try_from(day).expect("a weekday")];
        let schedule = match self.dice.below(10) {
            0..6 => format!("daily: {{intervalDays: {}}}", 1 + self.dice.below(3)),
            6..8 => {
                let weeks = 1 + self.dice.below(2);
                format!("weekly: {{intervalWeeks: {weeks}, dayOfWeek: {day}}}")
            }
            8 => {
                let (months, day) = (1 + self.dice.below(2), &date[8..]);
                format!("absoluteMonthly: {{intervalMonths: {months}, dayOfMonth: {day}}}")
            }
            _ => {
                let week = self.dice.pick(&["First", "Second", "Fourth", "Last"]);
                format!(
                    "relativeMonthly: \
                     {{intervalMonths: 1, weekIndex: {week}, dayOfWeek: {day}}}"
                )
            }
        };
        let hours = match self.dice.below(10) {
            0..5 => 4,
            5 => 24,
            _ => 4 + self.dice.below(12),
        };
        let time = self.dice.below(48) * 30;
        let offset = self.dice.pick(&["+00:00", "+00:00", "+01:00", "-05:00", "+05:30"]);
        let mut text = format!(
            "{{schedule: {{{schedule}}}, durationHours: {hours}, \
             startTime: \"{:02}:{:02}\", utcOffset: \"{offset}\"",
            time / 60,
            time % 60
        );
        if self.dice.chance(70) {
            let first = self.start - self.dice.span(20) * 24 * HOUR + 2 * 24 * HOUR;
            write!(text, ", startDate: {}", &show_instant(first)[..10])
                .expect("strings take everything");
        }
        if self.dice.chance(15) {
            let last = &show_instant(soon + self.dice.span(2) * 24 * HOUR)[..10];
            write!(text, ", notAllowedDates: [{{start: {date}, end: {last}}}]")
                .expect("strings take everything");
        } else if self.dice.chance(2) {
            text += ", notAllowedDates: [{start: 2020-01-01, end: 2060-01-01}]";
        }
        text + "}"
    }
}
