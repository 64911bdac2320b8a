//! Rollouts and experiments as they may look, for the tests of charts.

use super::{
    BarChart, BarKind, BarPart, BarRow, Cause, Estimate, GateKind, Measure, ProgressChart,
    ProgressPoint, ProgressSeries, ScatterAxis, ScatterChart, ScatterPoint, State, Timeline,
    TimelineBar, TimelineGate, TimelineGroup, TimelineMember, TimelineStage, Tint,
};
use crate::time::{Span, Timestamp};

/// Names of up to eight strategies.
pub(super) const NAMES: [&str; 8] = [
    "careful",
    "waves",
    "one-by-one",
    "big-bang",
    "regions-in-turn",
    "canary-then-all",
    "weekend-only",
    "three-rings-with-approvals",
];

pub(super) fn start() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().unwrap()
}

/// A stream of numbers from 0 to 1.
pub(super) struct Luck(u64);

impl Luck {
    pub(super) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    fn minutes(&mut self, least: f64, most: f64) -> Span {
        let minutes = least + (most - least) * self.next();
        Span::from_secs(super::axis::whole(minutes * 60.0))
    }
}

/// Curves of this many strategies; each takes its own multiple of `unit` days.
pub(super) fn progress(strategies: usize, unit: f64) -> ProgressChart {
    let longest = unit * 34.0 * 86_400_000.0;
    let series = (0..strategies).map(|index| {
        let pace = [14.0, 9.0, 26.0, 2.5, 12.0, 6.0, 21.0, 17.0][index % 8] * unit * 86_400_000.0;
        let reached = [0.99, 0.97, 1.0, 0.86, 0.98, 0.95, 1.0, 0.99][index % 8];
        let points = (0..=200).map(|step| {
            let at = longest * f64::from(step) / 200.0;
            let share = |slow: f64| {
                let through = (at / (pace * slow)).min(1.0);
                let stairs =
                    (through * 5.0).floor() / 5.0 + (through * 5.0).fract().min(0.35) / 1.75;
                stairs.min(1.0) * reached
            };
            ProgressPoint {
                at: Span::from_millis(super::axis::whole(at)),
                p5: share(1.25),
                p25: share(1.08),
                p50: share(1.0),
                p75: share(0.94),
                p95: share(0.85),
            }
        });
        ProgressSeries {
            name: NAMES[index % 8].to_owned(),
            outcome: format!("{} % completed, median 12d 4h", 80 + index),
            points: points.collect(),
        }
    });
    ProgressChart {
        title: "Share of members updated".to_owned(),
        subtitle: "contoso-node-image · 1,000 members · 1,000 replications".to_owned(),
        axis: "members updated".to_owned(),
        start: Some(start()),
        horizon: Some(Span::from_days(60)),
        note: "Runs that had not ended by the horizon (60d) count with what they had done."
            .to_owned(),
        until: None,
        top: None,
        series: series.collect(),
    }
}

/// One replication over this many members in three stages.
pub(super) fn timeline(members: usize) -> Timeline {
    let mut luck = Luck(members as u64);
    let canaries = (members / 40).max(1).min(members);
    let early = (members / 8).min(members - canaries);
    let rest = members - canaries - early;
    let mut groups = vec![("prod-westeurope", rest / 2), ("prod-eastus", rest / 3)];
    groups.push(("prod-australiaeast", rest - rest / 2 - rest / 3));
    let stages: [(&str, Vec<(&str, usize)>); 3] = [
        ("canary", vec![("canary", canaries)]),
        ("early adopters", vec![("early-eu", early - early / 2), ("early-us", early / 2)]),
        ("production", groups),
    ];
    let mut now = Span::ZERO;
    let mut out = Vec::new();
    for (index, (name, groups)) in stages.into_iter().enumerate() {
        let mut gates = Vec::new();
        if index > 0 {
            let approved = now + luck.minutes(90.0, 2_000.0);
            gates.push(gate("change board approval", now, approved, GateKind::Approval));
            now = approved;
        }
        let begin = now;
        let groups = groups.into_iter().filter(|(_, count)| *count > 0);
        let groups: Vec<TimelineGroup> =
            groups.map(|(name, count)| group(name, count, begin, &mut luck)).collect();
        now = groups.iter().filter_map(|group| group.end).max().unwrap_or(now);
        let wait = (index < 2).then(|| (now, now + Span::from_days([1, 2, 0][index])));
        now = wait.map_or(now, |(_, to)| to);
        out.push(TimelineStage {
            name: name.to_owned(),
            begin: Some(begin),
            end: Some(now),
            state: State::Completed,
            wait,
            gates,
            groups,
        });
    }
    Timeline {
        title: "Rollout with strategy “careful”".to_owned(),
        subtitle: format!(
            "contoso-node-image · {members} members · replication 412, the median one"
        ),
        start: start(),
        end: now,
        state: State::Completed,
        stages: out,
    }
}

pub(super) fn gate(label: &str, pending: Span, completed: Span, kind: GateKind) -> TimelineGate {
    TimelineGate { label: label.to_owned(), pending, completed: Some(completed), kind }
}

/// A group whose members update in windows, a tenth at a time, one in thirty failing.
fn group(name: &str, count: usize, begin: Span, luck: &mut Luck) -> TimelineGroup {
    let mut gates = Vec::new();
    let mut begin = begin;
    if name == "prod-eastus" {
        let until = begin + Span::from_hours(20);
        gates.push(gate("scheduled start", begin, until, GateKind::ScheduledStart));
        begin = until;
    }
    let mut slots = vec![begin; count.div_ceil(5).max(2)];
    let members: Vec<TimelineMember> = (0..count)
        .map(|index| {
            let slot = (0..slots.len()).min_by_key(|&slot| slots[slot]).unwrap();
            let free = slots[slot];
            let opening = Span::from_hours([17, 64, 142][index % 3]);
            let windows: Vec<(Span, Span)> = (0..16)
                .map(|week| opening + Span::from_days(7 * week))
                .map(|from| (from, from + Span::from_hours(8)))
                .collect();
            let open = windows.iter().find(|window| window.1 > free).unwrap().0.max(free);
            let end = open + luck.minutes(40.0, 190.0);
            slots[slot] = end;
            let failed = luck.next() < 0.03;
            let kind = if failed { BarKind::Failed } else { BarKind::Updated };
            let pending = [(begin, free, Cause::Concurrency), (free, open, Cause::Window)];
            TimelineMember {
                name: format!("{name}-{:04}", index + 1),
                bars: vec![TimelineBar { from: open, to: end, kind }],
                pending: pending.into_iter().filter(|(from, to, _)| from < to).collect(),
                windows,
                state: if failed { State::Failed } else { State::Completed },
            }
        })
        .collect();
    let end = members.iter().flat_map(|member| &member.bars).map(|bar| bar.to).max();
    TimelineGroup {
        name: name.to_owned(),
        begin: Some(begin),
        end,
        state: State::Completed,
        gates,
        members,
    }
}

/// Where the makespan of this many strategies went.
pub(super) fn delays(strategies: usize) -> BarChart {
    let mut luck = Luck(7);
    let rows = (0..strategies).map(|index| BarRow {
        name: NAMES[index % 8].to_owned(),
        note: format!("{} % cut off by the horizon", index * 2),
        values: Cause::ALL.iter().map(|_| luck.next() * luck.next() * 400_000.0).collect(),
    });
    BarChart {
        title: "Where the time goes".to_owned(),
        subtitle: "mean share of the critical path by cause · 1,000 replications".to_owned(),
        measure: Measure::Duration,
        axis: "mean makespan".to_owned(),
        parts: Cause::ALL
            .iter()
            .map(|&cause| BarPart { name: cause.label().to_owned(), tint: Tint::Cause(cause) })
            .collect(),
        rows: rows.collect(),
        note: String::new(),
    }
}

/// How runs ended.
pub(super) fn outcomes(strategies: usize) -> BarChart {
    let states = [State::Completed, State::Skipped, State::Failed, State::Stopped, State::Running];
    let rows = (0..strategies).map(|index| BarRow {
        name: NAMES[index % 8].to_owned(),
        note: String::new(),
        values: vec![
            0.97 - 0.1 * super::axis::count(index),
            0.0,
            0.02,
            0.002,
            0.008 + 0.1 * super::axis::count(index),
        ],
    });
    BarChart {
        title: "How runs end".to_owned(),
        subtitle: "1,000 replications of each strategy".to_owned(),
        measure: Measure::Share,
        axis: "share of replications".to_owned(),
        parts: states
            .iter()
            .map(|&state| BarPart { name: state.label().to_owned(), tint: Tint::State(state) })
            .collect(),
        rows: rows.collect(),
        note: "running: cut off by the horizon".to_owned(),
    }
}

/// Time against members hurt.
pub(super) fn tradeoff(strategies: usize) -> ScatterChart {
    let points = (0..strategies).map(|index| {
        let days = [14.0, 9.0, 26.0, 2.5, 9.4, 6.0, 9.2, 17.0][index % 8] * 86_400.0;
        let hurt = [4.0, 12.0, 3.0, 140.0, 14.0, 60.0, 13.0, 6.0][index % 8];
        ScatterPoint {
            name: NAMES[index % 8].to_owned(),
            series: index,
            x: Estimate { value: days, low: days * 0.94, high: days * 1.07 },
            y: Estimate { value: hurt, low: hurt * 0.8, high: hurt * 1.15 },
            censored: index == 2,
        }
    });
    ScatterChart {
        title: "What speed costs".to_owned(),
        subtitle: "means with 95 % confidence intervals · 1,000 replications".to_owned(),
        x: ScatterAxis { label: "makespan".to_owned(), measure: Measure::Duration },
        y: ScatterAxis {
            label: "members on a defective release".to_owned(),
            measure: Measure::Count,
        },
        points: points.collect(),
        note: "Hollow: some runs had not ended by the horizon; the value is a lower bound."
            .to_owned(),
    }
}
