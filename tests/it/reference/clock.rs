//! Instants and spans as plain milliseconds, and how scenarios write them.

use std::fmt::Write as _;

/// Milliseconds: since 1970 for an instant, or a length of time.
pub(crate) type Millis = i64;

/// One second.
pub(crate) const SECOND: Millis = 1_000;
/// One minute.
pub(crate) const MINUTE: Millis = 60 * SECOND;
/// One hour.
pub(crate) const HOUR: Millis = 60 * MINUTE;
/// One day.
pub(crate) const DAY: Millis = 24 * HOUR;

/// `1d4h30m` (R-K10).
pub(crate) fn read_span(text: &str) -> Millis {
    let mut total = 0;
    let mut digits = String::new();
    for character in text.chars() {
        let unit = match character {
            '0'..='9' => {
                digits.push(character);
                continue;
            }
            'd' => DAY,
            'h' => HOUR,
            'm' => MINUTE,
            's' => SECOND,
            _ => panic!("no duration: {text}"),
        };
        total += unit * digits.parse::<Millis>().unwrap_or_else(|_| panic!("no duration: {text}"));
        digits.clear();
    }
    assert!(digits.is_empty() || text == "0", "no duration: {text}");
    total
}

/// An offset as a scenario would write it.
pub(crate) fn show_span(span: Millis) -> String {
    let mut text = String::new();
    let mut rest = span;
    for (unit, letter) in [(DAY, 'd'), (HOUR, 'h'), (MINUTE, 'm'), (SECOND, 's')] {
        if rest >= unit {
            write!(text, "{}{letter}", rest / unit).expect("strings take everything");
            rest %= unit;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// `2026-03-02T08:00:00Z`.
pub(crate) fn read_instant(text: &str) -> Millis {
    let instant: jiff::Timestamp =
        text.parse().unwrap_or_else(|error| panic!("no instant: {text}: {error}"));
    instant.as_millisecond()
}

/// `2026-03-02T08:00:00Z`, with milliseconds only when there are any (R-K2).
pub(crate) fn show_instant(instant: Millis) -> String {
    let stamp = jiff::Timestamp::from_millisecond(instant).expect("within the calendar");
    stamp.to_string()
}

/// `"02:30"` as time since midnight.
pub(crate) fn read_time_of_day(text: &str) -> Millis {
    let (hours, minutes) = text.split_once(':').expect("HH:MM");
    let part = |text: &str| text.parse::<Millis>().expect("HH:MM");
    part(hours) * HOUR + part(minutes) * MINUTE
}

/// `"+05:30"` (M2); UTC when absent (R-J8).
pub(crate) fn read_offset(text: Option<&str>) -> Millis {
    match text.map(|text| text.split_at(1)) {
        None => 0,
        Some(("-", rest)) => -read_time_of_day(rest),
        Some((_, rest)) => read_time_of_day(rest),
    }
}

/// `Sunday` = 0 … `Saturday` = 6.
pub(crate) fn read_weekday(text: &str) -> i64 {
    let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let position = days.iter().position(|day| *day == text);
    i64::try_from(position.unwrap_or_else(|| panic!("no day: {text}"))).expect("seven days")
}

/// Whole days since 1970-01-01 in a clock that is `offset` ahead of UTC.
pub(crate) fn local_day(instant: Millis, offset: Millis) -> i64 {
    (instant + offset).div_euclid(DAY)
}

/// The weekday of a day since 1970-01-01, which was a Thursday.
pub(crate) fn weekday(day: i64) -> i64 {
    (day + 4).rem_euclid(7)
}

/// The first instant at or after `reached` that is this weekday and time at this offset (G6, F1).
pub(crate) fn next_weekly(reached: Millis, day: i64, time: Millis, offset: Millis) -> Millis {
    let today = local_day(reached, offset);
    (today..=today + 7)
        .filter(|local| weekday(*local) == day)
        .map(|local| local * DAY + time - offset)
        .find(|instant| *instant >= reached)
        .expect("every week has the day")
}
