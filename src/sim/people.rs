//! People's working hours (W10).

use crate::calendar::{TimeOfDay, UtcOffset, Weekday};
use crate::time::{Span, Timestamp};

const DAY: i64 = Span::DAY.as_millis();

/// When somebody works: the same hours of some days of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hours {
    /// Working days, at least one.
    pub days: Vec<Weekday>,
    /// Start of the working day.
    pub from: TimeOfDay,
    /// End of the working day.
    pub to: TimeOfDay,
    /// Their clock.
    pub offset: UtcOffset,
}

impl Hours {
    /// The instant at which `delay` of working time has passed since `from`.
    pub(super) fn after(&self, from: Timestamp, delay: Span) -> Timestamp {
        let offset = Span::from_mins(i64::from(self.offset.0));
        let (begins, ends) = (minutes(self.from.0), minutes(self.to.0));
        let mut now = (from + offset).as_millis();
        let mut left = delay.as_millis();
        loop {
            let midnight = now.div_euclid(DAY) * DAY;
            let works = self.days.iter().any(|day| i64::from(*day as u8) == weekday(midnight));
            let today = now.max(midnight + begins);
            if works && today + left <= midnight + ends {
                return Timestamp::from_millis(today + left) - offset;
            }
            if works && today < midnight + ends {
                left -= midnight + ends - today;
            }
            now = midnight + DAY;
        }
    }
}

fn minutes(minutes: u16) -> i64 {
    Span::from_mins(i64::from(minutes)).as_millis()
}

/// The day of the week of a local midnight, Sunday 0. 1970-01-01 was a Thursday.
fn weekday(midnight: i64) -> i64 {
    (midnight.div_euclid(DAY) + 4).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w10_approvals_take_working_time() {
        let hours = Hours {
            days: vec![
                Weekday::Monday,
                Weekday::Tuesday,
                Weekday::Wednesday,
                Weekday::Thursday,
                Weekday::Friday,
            ],
            from: TimeOfDay(9 * 60),
            to: TimeOfDay(17 * 60),
            offset: UtcOffset(60),
        };
        let after = |from: &str, length: i64| {
            let from: Timestamp = from.parse().unwrap();
            hours.after(from, Span::from_hours(length)).to_string()
        };
        // 2026-03-02 is a Monday; 09:00 there is 08:00Z.
        assert_eq!(after("2026-03-02T08:00:00Z", 2), "2026-03-02T10:00:00Z");
        assert_eq!(after("2026-03-02T03:00:00Z", 2), "2026-03-02T10:00:00Z");
        assert_eq!(after("2026-03-02T15:00:00Z", 2), "2026-03-03T09:00:00Z");
        assert_eq!(after("2026-03-06T15:30:00Z", 1), "2026-03-09T08:30:00Z");
        assert_eq!(after("2026-03-07T12:00:00Z", 0), "2026-03-09T08:00:00Z");
        assert_eq!(after("2026-03-02T08:00:00Z", 20), "2026-03-04T12:00:00Z");
    }
}
