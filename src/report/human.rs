//! Numbers as people read them: `3d 4h`, `1,000`, `987.2`, `0.3 %`.

use crate::experiment::Unit;
use crate::time::Span;

/// A span in its two largest units, rounded to the smaller one: `23d 4h`, `45m`, `−2h 10m`.
pub fn duration(span: Span) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let total = span.as_millis().unsigned_abs();
    if total == 0 {
        return "0s".to_owned();
    }
    let largest = UNITS.iter().position(|(_, length)| total >= *length).unwrap_or(UNITS.len() - 1);
    let finest = UNITS[(largest + 1).min(UNITS.len() - 1)].1;
    let mut rest = (total + finest / 2) / finest * finest;
    let mut parts = Vec::new();
    // Rounding may have reached the next larger unit.
    for (unit, length) in UNITS.iter().skip(largest.saturating_sub(1)) {
        if rest >= *length {
            parts.push(format!("{}{unit}", thousands(rest / length)));
            rest %= length;
        }
    }
    let sign = if span < Span::ZERO { "−" } else { "" };
    format!("{sign}{}", parts.join(" "))
}

/// Seconds as [`duration`].
pub fn seconds(value: f64) -> String {
    duration(span(value))
}

/// Seconds in one unit, with a decimal below 10: `3.5d`, `11h`, `40s`.
pub fn rough(value: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)];
    let size = value.abs();
    let (unit, length) = *UNITS.iter().find(|(_, length)| size >= *length).unwrap_or(&UNITS[3]);
    let tenths = whole((size / length * 10.0).round());
    match tenths {
        0..100 if !tenths.is_multiple_of(10) => format!("{}.{}{unit}", tenths / 10, tenths % 10),
        _ => format!("{}{unit}", thousands((tenths + 5) / 10)),
    }
}

/// The whole milliseconds nearest to this many seconds.
pub(super) fn span(seconds: f64) -> Span {
    #[expect(clippy::cast_possible_truncation, reason = "simulated time fits i64 milliseconds")]
    let millis = (seconds * 1_000.0).round() as i64;
    Span::from_millis(millis)
}

/// A whole number with separators: `12,345`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count or a mean of counts, at least 0: whole numbers as they are, others with one decimal, two
/// below 10, and `< 0.01` for what would round to nothing.
pub fn count(value: f64) -> String {
    let decimals = if value < 10.0 { 100.0 } else { 10.0 };
    if value.fract() == 0.0 {
        return thousands(whole(value));
    }
    if value < 0.01 {
        return "< 0.01".to_owned();
    }
    let scaled = whole((value * decimals).round());
    let places = whole(decimals);
    let width = if value < 10.0 { 2 } else { 1 };
    format!("{}.{:0width$}", thousands(scaled / places), scaled % places)
}

/// A share from 0 to 1 in percent: `92 %`; with a decimal where it would round to none or all.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share <= 0.0 || share >= 1.0 || (0.95..99.05).contains(&percent) {
        return format!("{} %", whole(percent.round()));
    }
    let tenths = whole((percent * 10.0).round());
    match tenths {
        0 => "< 0.1 %".to_owned(),
        1_000 => "> 99.9 %".to_owned(),
        _ => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// A number in its unit, or by how much it changed: `−3h 20m`, `12.5`, `−4 %`.
pub fn amount(value: f64, unit: Unit) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    match unit {
        Unit::Seconds => seconds(value),
        Unit::Hours => seconds(value * 3_600.0),
        Unit::Count => format!("{sign}{}", count(value.abs())),
        Unit::Share => format!("{sign}{}", percent(value.abs())),
    }
}

/// A half-width in a unit, times as [`rough`].
pub fn rough_amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => rough(value),
        Unit::Hours => rough(value * 3_600.0),
        Unit::Count | Unit::Share => amount(value, unit),
    }
}

fn whole(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts and shares are not negative and far below 2^53"
    )]
    let number = value as u64;
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_and_carry() {
        let text = |text: &str| duration(text.parse().unwrap());
        assert_eq!(text("9d4h29m"), "9d 4h");
        assert_eq!(text("9d4h31m"), "9d 5h");
        assert_eq!(text("1d23h59m"), "2d");
        assert_eq!(text("23h59m40s"), "1d");
        assert_eq!(text("59m59s"), "59m 59s");
        assert_eq!(text("0"), "0s");
        assert_eq!(text("1400d"), "1,400d");
        assert_eq!(duration(Span::from_millis(-7_800_000)), "−2h 10m");
        assert_eq!(duration(Span::from_millis(1_500)), "1s 500ms");
        assert_eq!(seconds(5_400.000_4), "1h 30m");
    }

    #[test]
    fn rough_spans_have_one_unit() {
        let found = [302_400.0, 38_000.0, 3_600.0, 59.96, 0.25, 0.0, 864_000.0].map(rough);
        assert_eq!(found, ["3.5d", "11h", "1h", "60s", "0.3s", "0s", "10d"]);
    }

    #[test]
    fn counts_have_sensible_decimals() {
        let found = [0.0, 7.0, 12_345.0, 0.004, 0.014, 3.456, 987.24, 12_345.67].map(count);
        let wanted = ["0", "7", "12,345", "< 0.01", "0.01", "3.46", "987.2", "12,345.7"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn shares_never_round_to_none_or_all() {
        let found = [0.0, 1.0, 0.5, 0.003, 0.9975, 0.0001, 0.99999].map(percent);
        assert_eq!(found, ["0 %", "100 %", "50 %", "0.3 %", "99.8 %", "< 0.1 %", "> 99.9 %"]);
    }
}
