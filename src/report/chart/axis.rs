//! Where ticks stand and how numbers, spans and dates are written.

use std::fmt::Write as _;

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::time::{Span, Timestamp};

/// A place on an axis, in the axis's unit, and what stands there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// The value (milliseconds on time axes).
    pub(super) at: f64,
    /// Its label.
    pub(super) label: String,
}

/// Steps between ticks of time in milliseconds; beyond them the last is doubled.
const STEPS: [i64; 23] = {
    const S: i64 = 1_000;
    const M: i64 = 60 * S;
    const H: i64 = 60 * M;
    const D: i64 = 24 * H;
    [
        S,
        2 * S,
        5 * S,
        10 * S,
        15 * S,
        30 * S,
        M,
        2 * M,
        5 * M,
        10 * M,
        15 * M,
        30 * M,
        H,
        2 * H,
        3 * H,
        6 * H,
        12 * H,
        D,
        2 * D,
        4 * D,
        7 * D,
        14 * D,
        28 * D,
    ]
};

/// Steps of elapsed time that no calendar has.
const UNCIVIL: [i64; 2] = [4 * DAY, 28 * DAY];

const DAY: i64 = Span::DAY.as_millis();

/// A count as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "counts under 2^53 are exact")]
pub(super) fn count(n: usize) -> f64 {
    n as f64
}

/// A span as a coordinate, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "spans under 2^53 ms (285,000 years) are exact")]
pub(super) fn millis(span: Span) -> f64 {
    span.as_millis() as f64
}

/// The whole number nearest to a coordinate.
#[expect(clippy::cast_possible_truncation, reason = "saturates, which is what a chart wants")]
pub(super) fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// Ticks of time since the start, at most `room` of them beyond 0.
pub(super) fn elapsed_ticks(begin: Span, end: Span, room: i64) -> Vec<Tick> {
    let range = (end - begin).as_millis().max(1);
    let step = time_step(range, room);
    let first = begin.as_millis().div_euclid(step) * step;
    let mut ticks = Vec::new();
    let mut at = if first < begin.as_millis() { first + step } else { first };
    while at <= end.as_millis() {
        let span = Span::from_millis(at);
        ticks.push(Tick { at: millis(span), label: duration(span) });
        at += step;
    }
    ticks
}

fn time_step(range: i64, room: i64) -> i64 {
    let wanted = range / room.max(1);
    if let Some(&step) = STEPS.iter().find(|&&step| step > wanted) {
        return step;
    }
    let mut step = STEPS[STEPS.len() - 1];
    while step <= wanted {
        step *= 2;
    }
    step
}

/// Calendar ticks in UTC from `start` for the length of `end`, at most about `room`: times of day,
/// midnights, Mondays, or first days of months. `at` counts milliseconds from `start`.
pub(super) fn calendar_ticks(start: Timestamp, end: Span, room: i64) -> Vec<Tick> {
    let wanted = end.as_millis() / room.max(1);
    let (first, last) = (start.as_millis(), (start + end).as_millis());
    let fixed = STEPS.iter().find(|&&step| step > wanted && !UNCIVIL.contains(&step));
    let instants: Vec<i64> = if let Some(&step) = fixed {
        // The first Monday of the epoch was its fifth day.
        let offset = if step >= 7 * DAY { 4 * DAY } else { 0 };
        let begin = (first - offset + step - 1).div_euclid(step) * step + offset;
        (0..=(last - begin).div_euclid(step)).map(|index| begin + index * step).collect()
    } else {
        firsts_of_months(start, last, wanted / DAY)
    };
    let monthly = fixed.is_none();
    let label = |at: i64| {
        let format = match (at.rem_euclid(DAY), at.rem_euclid(60_000)) {
            (0, _) if monthly => "%b %Y",
            (0, _) => "%a %-d %b",
            (_, 0) => "%H:%M",
            _ => "%H:%M:%S",
        };
        civil(Timestamp::from_millis(at)).map(|date| date.strftime(format).to_string())
    };
    let tick =
        |at: i64| Some(Tick { at: millis(Span::from_millis(at - first)), label: label(at)? });
    instants.into_iter().filter_map(tick).collect()
}

/// First days of months at least about `days` days apart, up to `last`.
fn firsts_of_months(start: Timestamp, last: i64, days: i64) -> Vec<i64> {
    let months = [1_i16, 2, 3, 6, 12, 24, 60, 120, 600, 1_200];
    let step = months.into_iter().find(|&step| i64::from(step) * 30 > days).unwrap_or(12_000);
    let Some(from) = civil(start) else {
        return Vec::new();
    };
    let month = i32::from(from.year()) * 12 + i32::from(from.month()) - 1;
    let begin = month.div_euclid(i32::from(step)) * i32::from(step);
    let instant = |index: i32| {
        let month = begin + index * i32::from(step);
        let year = i16::try_from(month.div_euclid(12)).ok()?;
        let month = i8::try_from(month.rem_euclid(12) + 1).ok()?;
        let date = Date::new(year, month, 1).ok()?.at(0, 0, 0, 0);
        Offset::UTC.to_timestamp(date).ok().map(jiff::Timestamp::as_millisecond)
    };
    (0..)
        .map_while(instant)
        .skip_while(|&at| at < start.as_millis())
        .take_while(|&at| at <= last)
        .collect()
}

/// What the dates of a range leave out: the zone, the year or years, and the date if it is one day.
pub(super) fn calendar_title(start: Timestamp, end: Span) -> String {
    match civil(start).zip(civil(start + end)) {
        Some((first, last)) if first.date() == last.date() => {
            format!("UTC, {}", first.strftime("%a %-d %b %Y"))
        }
        Some((first, last)) if first.year() == last.year() => format!("UTC, {}", first.year()),
        Some((first, last)) => format!("UTC, {}–{}", first.year(), last.year()),
        None => String::new(),
    }
}

fn civil(at: Timestamp) -> Option<DateTime> {
    jiff::Timestamp::from_millisecond(at.as_millis()).ok().map(|at| Offset::UTC.to_datetime(at))
}

/// Ticks of plain numbers from about `low` to about `high`, at most `room` steps of 1, 2 or 5 times
/// a power of ten, none below `finest`.
pub(super) fn value_ticks(low: f64, high: f64, room: f64, finest: f64) -> Vec<f64> {
    let wanted = (high - low).max(0.0) / room.max(1.0);
    let mut step = finest;
    'search: while step < 1e15 {
        for factor in [1.0, 2.0, 5.0] {
            if step * factor >= wanted {
                step *= factor;
                break 'search;
            }
        }
        step *= 10.0;
    }
    let (first, last) = (whole((low / step).floor()), whole((high / step).ceil()));
    (first..=last.max(first + 1)).map(|index| millis(Span::from_millis(index)) * step).collect()
}

/// A span in its two largest units: `23d 4h`, `45m`, `0`.
pub(super) fn duration(span: Span) -> String {
    let mut out = String::new();
    if span.as_millis() < 0 {
        out.push('−');
    }
    let total = span.as_millis().unsigned_abs();
    if total == 0 {
        return "0".to_owned();
    }
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let largest = units.iter().position(|&(_, length)| total >= length).unwrap_or(4);
    // Rounded to the second unit, or it would show 1d 23h for a minute less than two days.
    let finest = units[(largest + 1).min(4)].1;
    let mut rest = (total + finest / 2) / finest * finest;
    let mut parts = Vec::new();
    for (unit, length) in units.iter().take(largest + 2).skip(largest.saturating_sub(1)) {
        if rest >= *length {
            parts.push(format!(
                "{}{unit}",
                thousands(i64::try_from(rest / length).unwrap_or(i64::MAX))
            ));
            rest %= length;
        }
    }
    let _ = write!(out, "{}", parts.join(" "));
    out
}

/// A whole number with separators: `12,345`.
pub(super) fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0 { format!("−{out}") } else { out }
}

/// A number with three or so significant digits: `12,345`, `12.3`, `0.25`.
pub(super) fn plain(value: f64) -> String {
    let size = value.abs();
    if size >= 100.0 || (value - value.round()).abs() < 1e-9 {
        return thousands(whole(value));
    }
    let text = if size >= 10.0 { format!("{size:.1}") } else { format!("{size:.2}") };
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if value < 0.0 && short != "0" { format!("−{short}") } else { short.to_owned() }
}

/// A share as percent: `97 %`, `0.4 %`; never `0 %` or `100 %` for what is not.
pub(super) fn percent(share: f64) -> String {
    if share < 0.0 {
        return format!("−{}", self::percent(-share));
    }
    let percent = share * 100.0;
    let exact = (percent - percent.round()).abs() < 1e-9;
    if exact || (10.0..99.0).contains(&percent) {
        return format!("{} %", thousands(whole(percent)));
    }
    let text = format!("{percent:.1}");
    match text.as_str() {
        "0.0" => "< 0.1 %".to_owned(),
        "100.0" if share < 1.0 => "> 99.9 %".to_owned(),
        _ => format!("{} %", text.trim_end_matches(".0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn elapsed_ticks_are_round_and_few() {
        let ticks = |end| elapsed_ticks(Span::ZERO, end, 8);
        assert_eq!(labels(&ticks(Span::from_days(16)))[..3], ["0", "4d", "8d"]);
        assert_eq!(labels(&ticks(Span::from_mins(50)))[..3], ["0", "10m", "20m"]);
        assert_eq!(labels(&ticks(Span::from_hours(30)))[..3], ["0", "6h", "12h"]);
        for days in 1..900 {
            assert!((2..=9).contains(&ticks(Span::from_days(days)).len()), "{days} days");
        }
        assert_eq!(labels(&ticks(Span::ZERO)), ["0"]);
    }

    #[test]
    fn calendar_ticks_stand_on_midnights_mondays_and_first_days_of_months() {
        let start: Timestamp = "2026-03-03T08:00:00Z".parse().unwrap();
        let ticks = |days| calendar_ticks(start, Span::from_days(days), 9);
        assert_eq!(labels(&ticks(5))[..2], ["Wed 4 Mar", "Thu 5 Mar"]);
        assert!((ticks(5)[0].at - 16.0 * 3_600_000.0).abs() < 1e-9);
        assert_eq!(labels(&ticks(40))[..2], ["Mon 9 Mar", "Mon 16 Mar"]);
        assert_eq!(labels(&ticks(200))[..2], ["Apr 2026", "May 2026"]);
        assert_eq!(labels(&ticks(2_000))[..2], ["Jan 2027", "Jan 2028"]);
        let hours = calendar_ticks(start, Span::from_hours(20), 9);
        assert_eq!(labels(&hours)[..3], ["09:00", "12:00", "15:00"]);
        assert!(labels(&hours).contains(&"Wed 4 Mar"));
        assert_eq!(calendar_title(start, Span::from_days(400)), "UTC, 2026–2027");
        assert_eq!(calendar_title(start, Span::from_days(40)), "UTC, 2026");
        assert_eq!(calendar_title(start, Span::HOUR), "UTC, Tue 3 Mar 2026");
    }

    #[test]
    fn instants_beyond_the_calendar_have_no_ticks() {
        let far = Timestamp::from_millis(i64::MAX / 2);
        assert!(calendar_ticks(far, Span::from_days(30), 9).is_empty());
        assert_eq!(calendar_title(far, Span::DAY), "");
    }

    #[test]
    fn value_ticks_cover_the_range_in_round_steps() {
        assert_eq!(value_ticks(0.0, 43.0, 6.0, 1.0), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(value_ticks(0.0, 0.0, 6.0, 1.0), [0.0, 1.0]);
        assert_eq!(value_ticks(0.0, 3.0, 6.0, 1.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(value_ticks(18.0, 23.0, 5.0, 1.0).len(), 6);
    }

    #[test]
    fn spans_round_to_their_second_unit() {
        let day = Span::DAY;
        for (span, text) in [
            (Span::ZERO, "0"),
            (day + Span::from_hours(4) + Span::from_mins(29), "1d 4h"),
            (day + day - Span::MINUTE, "2d"),
            (Span::from_mins(45), "45m"),
            (Span::from_mins(150), "2h 30m"),
            (Span::from_millis(1_500), "1s 500ms"),
            (Span::from_days(1_200), "1,200d"),
            (-Span::HOUR, "−1h"),
        ] {
            assert_eq!(duration(span), text);
        }
    }

    #[test]
    fn numbers_have_separators_and_few_digits() {
        assert_eq!([0, 999, 1_000, -1_234_567].map(thousands), ["0", "999", "1,000", "−1,234,567"]);
        assert_eq!(
            [0.0, 0.25, 12.34, 1_234.5, -0.5].map(plain),
            ["0", "0.25", "12.3", "1,235", "−0.5"]
        );
    }

    #[test]
    fn a_share_is_never_rounded_to_nothing_or_everything() {
        for (share, text) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.97, "97 %"),
            (0.004, "0.4 %"),
            (0.0001, "< 0.1 %"),
            (0.9996, "> 99.9 %"),
            (0.995, "99.5 %"),
            (0.333, "33 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
