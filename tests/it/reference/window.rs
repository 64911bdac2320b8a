//! Maintenance windows (section 7), day by day: every local day is asked whether an occurrence
//! begins on it.

use jiff::civil::Date;

use super::clock::{
    DAY, HOUR, Millis, local_day, read_offset, read_time_of_day, read_weekday, weekday,
};
use super::yaml::Value;

/// How far beyond the end openings are looked for (R-J7).
const LOOK_AHEAD: i64 = 12 * 366;

/// When a window is open: sorted, half-open, disjoint and not touching (M4, M5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    open: Vec<(Millis, Millis)>,
}

fn date_of(day: i64) -> Date {
    let second = jiff::Timestamp::from_millisecond(day * DAY).expect("within the calendar");
    jiff::tz::TimeZone::UTC.to_datetime(second).date()
}

fn day_of(text: &str) -> i64 {
    let date: Date = text.parse().unwrap_or_else(|error| panic!("no date: {text}: {error}"));
    super::clock::read_instant(&format!("{date}T00:00:00Z")) / DAY
}

fn months(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month())
}

/// Whether an occurrence begins on this day, counting from the period of `first` (M3).
fn occurs(schedule: &Value, day: i64, first: i64) -> bool {
    if day < first {
        return false;
    }
    if let Some(daily) = schedule.get("daily") {
        return (day - first) % daily.need("intervalDays").number() == 0;
    }
    if let Some(weekly) = schedule.get("weekly") {
        let sunday = |day: i64| day - weekday(day);
        let weeks = (sunday(day) - sunday(first)) / 7;
        return weekday(day) == read_weekday(weekly.need("dayOfWeek").text())
            && weeks % weekly.need("intervalWeeks").number() == 0;
    }
    let date = date_of(day);
    let in_period = |monthly: &Value| {
        (months(date) - months(date_of(first))) % monthly.need("intervalMonths").number() == 0
    };
    let (today, last) = (i64::from(date.day()), i64::from(date.days_in_month()));
    if let Some(monthly) = schedule.get("absoluteMonthly") {
        return in_period(monthly) && today == monthly.need("dayOfMonth").number().min(last);
    }
    let monthly = schedule.get("relativeMonthly").expect("one of the four schedules");
    let in_week = match monthly.need("weekIndex").text() {
        "First" => (1..=7).contains(&today),
        "Second" => (8..=14).contains(&today),
        "Third" => (15..=21).contains(&today),
        "Fourth" => (22..=28).contains(&today),
        "Last" => today > last - 7,
        other => panic!("no week: {other}"),
    };
    in_period(monthly) && in_week && weekday(day) == read_weekday(monthly.need("dayOfWeek").text())
}

impl Window {
    /// Reads a maintenance configuration for a scenario from `start` to `end`.
    pub(crate) fn read(configuration: &Value, start: Millis, end: Millis) -> Self {
        let window = configuration.get("maintenanceWindow").unwrap_or(configuration);
        let schedule = window.need("schedule");
        let offset = read_offset(window.get_text("utcOffset").as_deref());
        let time = read_time_of_day(window.need("startTime").text());
        let length = window.need("durationHours").number() * HOUR;
        let today = local_day(start, offset);
        let first = window.get("startDate").map_or(today, |date| day_of(date.text()));
        let mut open = Vec::new();
        for day in today - 2..=local_day(end, offset) + LOOK_AHEAD {
            if occurs(schedule, day, first) {
                let begin = day * DAY + time - offset;
                open.push((begin, begin + length));
            }
        }
        for forbidden in window.get_items("notAllowedDates") {
            let from = day_of(forbidden.need("start").text()) * DAY - offset;
            let to = (day_of(forbidden.need("end").text()) + 1) * DAY - offset;
            open = open
                .into_iter()
                .flat_map(|(begin, end)| [(begin, end.min(from)), (begin.max(to), end)])
                .filter(|(begin, end)| begin < end)
                .collect();
        }
        open.sort_unstable();
        let mut merged: Vec<(Millis, Millis)> = Vec::new();
        for (begin, end) in open {
            match merged.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        Self { open: merged }
    }

    /// The stretch of openness that holds this instant (R-J4).
    fn around(&self, now: Millis) -> Option<(Millis, Millis)> {
        let begun = self.open.iter().copied().take_while(|(begin, _)| *begin <= now);
        begun.last().filter(|(_, end)| now < *end)
    }

    /// Whether the window is open.
    pub(crate) fn is_open(&self, now: Millis) -> bool {
        self.around(now).is_some()
    }

    /// When the window, open now, closes.
    pub(crate) fn closes(&self, now: Millis) -> Millis {
        self.around(now).expect("open").1
    }

    /// The next instant at which the window opens, if it is closed now (R-J6, R-J7).
    pub(crate) fn next_opening(&self, now: Millis) -> Option<Millis> {
        self.open.iter().map(|(begin, _)| *begin).find(|begin| *begin > now)
    }
}
