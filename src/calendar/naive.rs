//! A second, naive reading of section 7 to compare with: it walks through every day on foot,
//! counts periods on its fingers, and marks every open minute in a list.

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const MINUTE: i64 = 60_000;
const DAY: i64 = 1_440;

/// A day, found by walking from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Day {
    year: i16,
    month: i8,
    number: i8,
}

impl Day {
    fn month_length(self) -> i8 {
        match self.month {
            2 if self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn next(self) -> Self {
        if self.number < self.month_length() {
            Self { number: self.number + 1, ..self }
        } else if self.month < 12 {
            Self { month: self.month + 1, number: 1, ..self }
        } else {
            Self { year: self.year + 1, month: 1, number: 1 }
        }
    }

    fn date(self) -> Date {
        Date::new(self.year, self.month, self.number).unwrap()
    }
}

/// The local days of a calendar from one that is known to be a Thursday, each with its weekday.
fn days_from_2015(count: usize) -> Vec<(Day, usize)> {
    let mut days = vec![(Day { year: 2015, month: 1, number: 1 }, 4)];
    while days.len() < count {
        let (day, weekday) = days[days.len() - 1];
        days.push((day.next(), (weekday + 1) % 7));
    }
    days
}

/// 2015-01-01T00:00:00Z.
const BEGINNING: i64 = 1_420_070_400_000;

/// One window, judged minute by minute from 2015 on; index 0 is midnight UTC.
struct Naive {
    /// Minutes between two marks.
    step: i64,
    open: Vec<bool>,
}

impl Naive {
    fn new(window: &MaintenanceWindow, start: Date, days: &[(Day, usize)], step: i64) -> Self {
        // In UTC the last local days may lie behind the end of the list.
        let total = i64::try_from(days.len() - 2).unwrap() * DAY;
        let mut open = vec![false; usize::try_from(total / step).unwrap()];
        let offset = i64::from(window.offset.0);
        if let Schedule::TimeInWeek { slots, not_allowed } = &window.schedule {
            for (i, mark) in open.iter_mut().enumerate() {
                let minute = i64::try_from(i).unwrap() * step;
                let (_, weekday) = days[usize::try_from(minute / DAY).unwrap()];
                let hour = u32::try_from(minute % DAY / 60).unwrap();
                let at = Timestamp::from_millis(BEGINNING + minute * MINUTE);
                *mark = slots.get(&Weekday::ALL[weekday]).is_some_and(|of| of.contains(&hour))
                    && !not_allowed.iter().any(|time| time.start <= at && at < time.end);
            }
            return Self { step, open };
        }
        for day in occurrence_days(window, start, days) {
            let from = i64::try_from(day).unwrap() * DAY + i64::from(window.start_time.0) - offset;
            for minute in from..from + i64::from(window.duration_hours) * 60 {
                if minute % step == 0 && (0..total).contains(&minute) {
                    open[usize::try_from(minute / step).unwrap()] = true;
                }
            }
        }
        let forbidden: Vec<bool> = days
            .iter()
            .map(|(day, _)| {
                let date = day.date();
                window.not_allowed.iter().any(|ban| ban.start <= date && date <= ban.end)
            })
            .collect();
        for (i, mark) in open.iter_mut().enumerate() {
            let local_day = (i64::try_from(i).unwrap() * step + offset).div_euclid(DAY);
            // Nothing opens on the first local day, which may lie before the list.
            *mark = *mark && !forbidden[usize::try_from(local_day).unwrap_or(0)];
        }
        Self { step, open }
    }

    fn at(&self, index: usize) -> Timestamp {
        Timestamp::from_millis(BEGINNING + i64::try_from(index).unwrap() * self.step * MINUTE)
    }

    fn intervals(&self) -> Vec<Interval> {
        let mut found = Vec::new();
        let mut opened = None;
        for (i, open) in self.open.iter().chain([&false]).enumerate() {
            match opened {
                None if *open => opened = Some(self.at(i)),
                Some(start) if !*open => {
                    found.push(Interval { open: start, close: self.at(i) });
                    opened = None;
                }
                _ => {}
            }
        }
        found
    }
}

/// The indices of the local days on which an occurrence begins.
fn occurrence_days(window: &MaintenanceWindow, start: Date, days: &[(Day, usize)]) -> Vec<usize> {
    let monthly = !matches!(window.schedule, Schedule::Daily { .. } | Schedule::Weekly { .. });
    let weekly = matches!(window.schedule, Schedule::Weekly { .. });
    let first_occurrence = window.week_anchor == WeekAnchor::FirstOccurrence;
    let mut found = Vec::new();
    let mut period = None;
    for (i, (day, weekday)) in days.iter().enumerate() {
        let new_period = if monthly {
            day.number == 1
        } else if weekly {
            *weekday == 0
        } else {
            true
        };
        if let Some(number) = &mut period
            && new_period
        {
            *number += 1;
        }
        let matching = day.date() >= start && matches_day(window, *day, *weekday);
        // Counting begins with the start date's period, or with the first match's.
        if period.is_none() && if first_occurrence { matching } else { day.date() == start } {
            period = Some(0);
        }
        if matching && period.is_some_and(|number| number % window.schedule.interval() == 0) {
            found.push(i);
        }
    }
    found
}

fn matches_day(window: &MaintenanceWindow, day: Day, weekday: usize) -> bool {
    let last = day.month_length();
    match &window.schedule {
        Schedule::Daily { .. } => true,
        Schedule::Weekly { day: wanted, .. } => Weekday::ALL[weekday] == *wanted,
        Schedule::AbsoluteMonthly { day_of_month, .. } => {
            let wanted = i8::try_from(*day_of_month).unwrap();
            day.number == wanted
                || (window.missing_day == MissingDay::LastDay
                    && day.number == last
                    && wanted > last)
        }
        Schedule::RelativeMonthly { week_index, day: wanted, .. } => {
            let nth = (day.number - 1) / 7;
            let right = match week_index {
                WeekIndex::First => nth == 0,
                WeekIndex::Second => nth == 1,
                WeekIndex::Third => nth == 2,
                WeekIndex::Fourth => nth == 3,
                WeekIndex::Last => day.number + 7 > last,
            };
            right && Weekday::ALL[weekday] == *wanted
        }
        Schedule::TimeInWeek { .. } => unreachable!("has no days"),
    }
}

fn random_window(luck: &mut ChaCha8Rng, days: &[(Day, usize)], step: i64) -> MaintenanceWindow {
    let grid = |minutes: i64| i16::try_from(minutes / step * step).unwrap();
    let weekday = Weekday::ALL[luck.random_range(0..7)];
    let interval = if luck.random_bool(0.4) { 1 } else { luck.random_range(1..=7) };
    let week_index =
        [WeekIndex::First, WeekIndex::Second, WeekIndex::Third, WeekIndex::Fourth, WeekIndex::Last]
            [luck.random_range(0..5)];
    let schedule = match luck.random_range(0..9) {
        0 | 1 => Schedule::Daily { interval_days: interval },
        2 | 3 => Schedule::Weekly { interval_weeks: interval, day: weekday },
        4 => Schedule::AbsoluteMonthly {
            interval_months: interval,
            day_of_month: luck.random_range(1..=31),
        },
        5 => Schedule::AbsoluteMonthly {
            interval_months: luck.random_range(1..=14),
            day_of_month: luck.random_range(28..=31),
        },
        6 | 7 => Schedule::RelativeMonthly { interval_months: interval, week_index, day: weekday },
        _ => return random_slots(luck, days),
    };
    let mut bans = Vec::new();
    for _ in 0..luck.random_range(0..6) {
        let first = luck.random_range(0..days.len() - 1);
        let length = if luck.random_bool(0.1) { 900 } else { luck.random_range(0..20) };
        let last = (first + length).min(days.len() - 1);
        bans.push(NotAllowedDates { start: days[first].0.date(), end: days[last].0.date() });
    }
    let start = luck.random_range(0..days.len().min(1_000) / 2) + 1;
    let duration = if luck.random_bool(0.3) { 24 } else { luck.random_range(4..=24) };
    // Borders that coincide with those of days are worth more than their share.
    let minute = match luck.random_range(0..5) {
        0 => 0,
        1 => (DAY - i64::from(duration) * 60) % DAY,
        _ => luck.random_range(0..DAY),
    };
    let time = TimeOfDay(u16::try_from(grid(minute)).unwrap());
    MaintenanceWindow {
        start_date: luck.random_bool(0.8).then(|| days[start].0.date()),
        offset: UtcOffset(grid(luck.random_range(-840..=840))),
        not_allowed: bans,
        week_anchor: [WeekAnchor::Calendar, WeekAnchor::FirstOccurrence][luck.random_range(0..2)],
        missing_day: [MissingDay::LastDay, MissingDay::Skip][luck.random_range(0..2)],
        ..MaintenanceWindow::new(schedule, time, duration)
    }
}

/// Hours of the week, from very few to all, with some times on the half hour cut out.
fn random_slots(luck: &mut ChaCha8Rng, days: &[(Day, usize)]) -> MaintenanceWindow {
    let share = [0.01, 0.1, 0.5, 0.95, 1.0][luck.random_range(0..5)];
    let mut slots: BTreeMap<Weekday, BTreeSet<u32>> = BTreeMap::new();
    for day in Weekday::ALL {
        for hour in 0..24 {
            if luck.random_bool(share) {
                slots.entry(day).or_default().insert(hour);
            }
        }
    }
    let times = (0..luck.random_range(0..4)).map(|_| {
        let half_hours = luck.random_range(0..i64::try_from(days.len()).unwrap() * 48);
        let start = Timestamp::from_millis(BEGINNING + half_hours * 30 * MINUTE);
        NotAllowedTime { start, end: start + Span::from_mins(30 * luck.random_range(0..500)) }
    });
    MaintenanceWindow::time_in_week(slots, times.collect())
}

/// Compares everything that can be asked of a window with the naive marks.
fn compare(description: &MaintenanceWindow, days: &[(Day, usize)], step: i64, luck: &mut impl Rng) {
    let scenario = BEGINNING + luck.random_range(1..200 * DAY) * MINUTE;
    let scenario_start = Timestamp::from_millis(scenario);
    let window = Window::new(description, scenario_start);
    let local = (scenario - BEGINNING).div_euclid(MINUTE) + i64::from(description.offset.0);
    let of_start = days[usize::try_from(local.div_euclid(DAY).max(0)).unwrap()].0.date();
    let start = description.start_date.unwrap_or(of_start);
    let naive = Naive::new(description, start, days, step);
    let (beginning, end) = (naive.at(0), naive.at(naive.open.len()));
    let expected = naive.intervals();
    let clipped =
        |found: Interval| Interval { open: found.open.max(beginning), close: found.close.min(end) };
    let found: Vec<_> = window
        .intervals_from(beginning)
        .take_while(|found| found.open < end)
        .map(clipped)
        .collect();
    assert_eq!(found, expected, "{description:#?}");

    let mut instants: Vec<Timestamp> = (0..200)
        .map(|_| {
            let millis = luck.random_range(0..(end - beginning).as_millis());
            beginning + Span::from_millis(millis)
        })
        .collect();
    for _ in 0..expected.len().min(40) {
        let edges = expected[luck.random_range(0..expected.len())];
        for edge in [edges.open, edges.close] {
            instants.extend([-1, 0, 1].map(|millis| edge + Span::from_millis(millis)));
        }
    }
    for t in instants.into_iter().filter(|t| (beginning..end).contains(t)) {
        let next = expected[expected.partition_point(|interval| interval.close <= t)..].first();
        let marked =
            naive.open[usize::try_from((t - beginning).as_millis() / MINUTE / step).unwrap()];
        let told = format!("at {t}: {description:#?}");
        assert_eq!(window.open_at(t), marked, "{told}");
        assert_eq!(window.closes(t).map(|close| close.min(end)).is_some(), marked, "{told}");
        let opening = window.next_opening(t).filter(|opening| *opening < end);
        assert_eq!(opening, next.map(|next| next.open.max(t)), "{told}");
        let found = window.intervals_from(t).next().filter(|found| found.open < end);
        assert_eq!(found.map(clipped), next.copied(), "{told}");
        let close = window.closes(t).map(|close| close.min(end));
        assert_eq!(close, next.filter(|next| next.open <= t).map(|next| next.close), "{told}");
    }
}

#[test]
fn m5_windows_answer_as_a_walk_through_ten_years_of_half_hours() {
    let days = days_from_2015(10 * 365 + 3 + 2);
    assert_eq!(days[days.len() - 3].0, Day { year: 2024, month: 12, number: 31 });
    let mut luck = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..300 {
        let description = random_window(&mut luck, &days, 30);
        compare(&description, &days, 30, &mut luck);
    }
}

#[test]
fn m5_windows_answer_as_a_walk_through_every_minute_of_two_years() {
    let days = days_from_2015(730);
    let mut luck = ChaCha8Rng::seed_from_u64(8);
    for _ in 0..60 {
        let description = random_window(&mut luck, &days, 1);
        compare(&description, &days, 1, &mut luck);
    }
}

#[test]
fn g6_scheduled_starts_answer_as_a_walk_through_minutes() {
    let days = days_from_2015(40);
    let mut luck = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..200 {
        let gate = ScheduledStart {
            day: Weekday::ALL[luck.random_range(0..7)],
            time: TimeOfDay(luck.random_range(0..1_440)),
            offset: UtcOffset(luck.random_range(-840..=840)),
        };
        let reached = luck.random_range(2 * DAY..20 * DAY);
        let expected = (reached..reached + 8 * DAY)
            .find(|minute| {
                let local = minute + i64::from(gate.offset.0);
                let (_, weekday) = days[usize::try_from(local / DAY).unwrap()];
                Weekday::ALL[weekday] == gate.day && local % DAY == i64::from(gate.time.0)
            })
            .unwrap();
        let at = |minute: i64| Timestamp::from_millis(BEGINNING + minute * MINUTE);
        assert_eq!(gate.next_at_or_after(at(reached)), at(expected), "{gate:?}");
    }
}
