//! What limits ask for and what they come to, in words and as JSON (L1, L2, L4, R-G1 to R-G8).

use fleetsim::fleet::Amount;
use fleetsim::scheduler::STAGE_MAX_CONCURRENCY;
use serde_json::{Value, json};

/// A limit: what was asked, of how many, and what holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// As written; absent means the default.
    pub(super) asked: Option<Amount>,
    /// Members that a percentage is of.
    pub(super) size: u32,
    /// What holds.
    pub(super) holds: u32,
}

impl Limit {
    /// The limit as JSON.
    pub(super) fn json(self) -> Value {
        json!({
            "asked": self.asked.map(|amount| amount.to_string()),
            "of": self.size,
            "effective": self.holds,
        })
    }

    /// A stage's `maxConcurrency`.
    pub(super) fn stage_concurrency(self) -> String {
        self.concurrency(|wanted| {
            if self.holds < wanted {
                format!("; the service allows {STAGE_MAX_CONCURRENCY}")
            } else {
                String::new()
            }
        })
    }

    /// A group's `maxConcurrency`, below its stage's.
    pub(super) fn group_concurrency(self, stage: u32) -> String {
        self.concurrency(|wanted| match self.holds < wanted {
            true if stage <= self.holds => format!("; the stage allows {stage}"),
            true => "; it has no more members".to_owned(),
            false => String::new(),
        })
    }

    /// What holds, what was asked, and why they differ.
    fn concurrency(self, because: impl Fn(u32) -> String) -> String {
        let Self { asked, size, holds } = self;
        match asked {
            None => format!("{holds} (default)"),
            Some(Amount::Count(wanted)) if wanted == holds => holds.to_string(),
            Some(Amount::Count(wanted)) => format!("{holds} (asked {wanted}{})", because(wanted)),
            Some(amount @ Amount::Percent(_)) => {
                let wanted = amount.of_rounded_down(size);
                let least = if wanted == 0 { ", at least 1" } else { "" };
                format!("{holds} ({amount} of {size}{least}{})", because(wanted.max(1)))
            }
        }
    }

    /// `maxAllowedFailures` of a stage or group.
    pub(super) fn failures(self) -> String {
        match self.asked {
            None => format!("{} (default)", self.holds),
            Some(Amount::Count(_)) => self.holds.to_string(),
            Some(amount @ Amount::Percent(_)) => {
                format!("{} ({amount} of {})", self.holds, self.size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l6_the_worked_values_read_as_documented() {
        let limit = |asked, size, holds| Limit { asked: Some(asked), size, holds };
        let percent = |p, size, holds| limit(Amount::Percent(p), size, holds);
        assert_eq!(percent(25, 20, 5).stage_concurrency(), "5 (25% of 20)");
        assert_eq!(percent(7, 10, 1).stage_concurrency(), "1 (7% of 10, at least 1)");
        assert_eq!(
            percent(100, 60, 50).stage_concurrency(),
            "50 (100% of 60; the service allows 50)"
        );
        assert_eq!(percent(50, 8, 4).group_concurrency(5), "4 (50% of 8)");
        assert_eq!(percent(100, 12, 7).group_concurrency(7), "7 (100% of 12; the stage allows 7)");
        let three = limit(Amount::Count(3), 2, 2);
        assert_eq!(three.group_concurrency(5), "2 (asked 3; it has no more members)");
        assert_eq!(percent(25, 19, 5).failures(), "5 (25% of 19)");
        let unset = Limit { asked: None, size: 9, holds: 50 };
        assert_eq!(unset.stage_concurrency(), "50 (default)");
    }
}
