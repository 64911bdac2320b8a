//! How instants, spans, counts and lists are written for people.

use fleetsim::calendar::{Date, Interval, UtcOffset};
use fleetsim::time::{Span, Timestamp};

/// `Mon 2026-03-02 08:00Z`, to the second; seconds only when they are not zero.
pub(crate) fn instant(at: Timestamp) -> String {
    let millis = (at.as_millis() + 500).div_euclid(1_000) * 1_000;
    let text = Timestamp::from_millis(millis).to_string();
    let Some((date, time)) = text.split_once('T') else { return text };
    let day = Date::of(at, UtcOffset::UTC).weekday().to_string();
    let time = time.strip_suffix(":00Z").map_or(time.to_owned(), |minutes| format!("{minutes}Z"));
    format!("{} {date} {time}", &day[..3])
}

/// `Sun 2026-03-08 00:00Z–04:00Z`; the closing day only when it is another one. What is open at
/// `now` has begun.
pub(crate) fn interval(open: Interval, now: Timestamp) -> String {
    if open.close == Timestamp::MAX {
        let is_open = open.open <= now;
        return if is_open { "always open".into() } else { format!("{} on", instant(open.open)) };
    }
    if open.open <= now {
        return format!("open until {}", instant(open.close));
    }
    let (begins, ends) = (instant(open.open), instant(open.close));
    let same_day = begins.get(..14) == ends.get(..14);
    format!("{begins}–{}", if same_day { &ends[15..] } else { &ends })
}

/// A span for people: rounded to the second, or to the minute from a day on.
pub(crate) fn span(span: Span) -> String {
    let unit = if span.as_millis().abs() >= Span::DAY.as_millis() { 60_000 } else { 1_000 };
    let millis = (span.as_millis() + unit / 2).div_euclid(unit) * unit;
    Span::from_millis(millis).to_string()
}

/// An instant as an offset from the start: `+3h`.
pub(crate) fn offset(at: Timestamp, start: Timestamp) -> String {
    format!("+{}", span(at - start))
}

/// `1 member`, `3 members`.
pub(crate) fn count(number: impl Into<u64>, noun: &str) -> String {
    match number.into() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// The first `most` of some names, and how many more there are.
pub(crate) fn names<'n>(names: impl Iterator<Item = &'n str>, most: usize) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn instants_and_intervals_read_like_a_calendar() {
        let now = at("2026-03-02T08:00:00Z");
        assert_eq!(instant(now), "Mon 2026-03-02 08:00Z");
        assert_eq!(instant(now + Span::SECOND), "Mon 2026-03-02 08:00:01Z");
        let open = |open: &str, close: &str| Interval { open: at(open), close: at(close) };
        let same = open("2026-03-08T00:00:00Z", "2026-03-08T04:00:00Z");
        assert_eq!(interval(same, now), "Sun 2026-03-08 00:00Z–04:00Z");
        let over = open("2026-03-08T22:00:00Z", "2026-03-09T02:00:00Z");
        assert_eq!(interval(over, now), "Sun 2026-03-08 22:00Z–Mon 2026-03-09 02:00Z");
        assert_eq!(interval(over, over.open), "open until Mon 2026-03-09 02:00Z");
        let always = Interval { open: now, close: Timestamp::MAX };
        assert_eq!(interval(always, now), "always open");
    }

    #[test]
    fn spans_are_rounded_for_people() {
        assert_eq!(span(Span::from_millis(1_499)), "1s");
        assert_eq!(span(Span::from_days(2) + Span::from_secs(29)), "2d");
        assert_eq!(offset(at("2026-03-02T09:30:00Z"), at("2026-03-02T08:00:00Z")), "+1h30m");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(names(["a", "b", "c"].into_iter(), 2), "a, b and 1 more");
        assert_eq!(names(["a"].into_iter(), 2), "a");
        assert_eq!(count(1_u32, "member"), "1 member");
        assert_eq!(count(0_u32, "member"), "0 members");
    }
}
