//! The node disruption policy: may a configuration change reimage the nodes of a cluster now?
//!
//! Owns section 9 of the rules (N1–N8): which operations exist, with which values, which changes
//! reimage nodes, and what each policy says about them. Pure: who asks says when, and with which
//! policy and window. Does not own the reimage itself, nor who asks again after a refusal.

mod table;

pub use table::{Rule, Scope, markdown};

use std::fmt;

use crate::calendar::Window;
use crate::fleet::NodeDisruptionPolicy;
use crate::time::Timestamp;
use table::{Row, TABLE};

/// The maintenance configuration that the policy looks at (N2).
pub const WINDOW: &str = "aksManagedNodeOSUpgradeSchedule";

/// An operation of the table (N8).
#[derive(Clone, Copy)]
pub struct Operation {
    /// The first of its rows.
    first: &'static Row,
}

/// A change that somebody asks for: an operation with its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    operation: Operation,
    from: Option<&'a str>,
    to: Option<&'a str>,
    /// Whether the same request upgrades the node image or Kubernetes, too (N6).
    pub with_upgrade: bool,
}

/// Why a change is none: one of its values is none of the operation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownValue<'a> {
    /// The operation.
    pub operation: Operation,
    /// The value; `None` if it was not said, although the operation has listed values.
    pub value: Option<&'a str>,
}

/// What becomes of a change, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is carried out at once.
    Allowed,
    /// The request fails; nothing is queued (N1).
    Refused,
    /// The policy has no say in it.
    NotGoverned,
}

/// What becomes of a change, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed: it reimages nothing.
    ReimagesNothing,
    /// Allowed: the policy is `Allow`.
    PolicyAllows,
    /// Allowed: the policy looks at a window that the cluster does not have (N2).
    NoWindow,
    /// Allowed: the window is open.
    WindowOpen {
        /// When it closes; [`Timestamp::MAX`] stands for never.
        closes: Timestamp,
    },
    /// Refused: the window is closed.
    WindowClosed {
        /// When it opens next, if it does within twelve years (R-J7).
        next: Option<Timestamp>,
    },
    /// Refused: the policy is `Block`.
    Blocked,
    /// Not governed: it travels with an upgrade (N6).
    WithUpgrade,
    /// Not governed: the operation is not covered yet (N5).
    NotCovered,
    /// Not governed: an upgrade, recovery or an emergency (N6).
    NeverGoverned,
}

impl Operation {
    /// All operations, in the table's order.
    pub fn all() -> impl Iterator<Item = Self> {
        let is_first = |position: &usize| {
            *position == 0 || TABLE[position - 1].operation != TABLE[*position].operation
        };
        (0..TABLE.len()).filter(is_first).map(|position| Self { first: &TABLE[position] })
    }

    /// The operation of this name, as the API spells it.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|operation| operation.name() == name)
    }

    /// The operation's name.
    pub const fn name(self) -> &'static str {
        self.first.operation
    }

    /// The rule that it belongs to.
    pub const fn rule(self) -> Rule {
        self.first.rule
    }

    /// What it changes.
    pub const fn scope(self) -> Scope {
        self.first.scope
    }

    /// Its values; none listed: any text is one.
    pub const fn values(self) -> &'static [&'static str] {
        self.first.values
    }

    /// Whether it belongs to N3 or N4, whatever the values.
    pub const fn is_covered(self) -> bool {
        self.rule().is_covered()
    }

    /// A change of it that comes alone. Values need not be said where none are listed; the change
    /// is then from some value to another.
    ///
    /// # Errors
    /// If a value is none of those listed.
    pub fn change<'a>(
        self,
        from: Option<&'a str>,
        to: Option<&'a str>,
    ) -> Result<Change<'a>, UnknownValue<'a>> {
        let is_known = |value: Option<&str>| {
            self.values().is_empty() || value.is_some_and(|value| self.values().contains(&value))
        };
        match [from, to].into_iter().find(|value| !is_known(*value)) {
            Some(value) => Err(UnknownValue { operation: self, value }),
            None => Ok(Change { operation: self, from, to, with_upgrade: false }),
        }
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Operation {}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a> Change<'a> {
    /// What is changed.
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// The value before, if it was said.
    pub const fn from(&self) -> Option<&'a str> {
        self.from
    }

    /// The value after, if it was said.
    pub const fn to(&self) -> Option<&'a str> {
        self.to
    }

    /// Whether it reimages nodes (N3–N6, N8): if a row of the table says so.
    pub fn reimages(&self) -> bool {
        let rows = TABLE.iter().filter(|row| row.operation == self.operation.name());
        rows.filter(|row| row.reimages()).any(|row| row.speaks_of(self.from, self.to))
    }

    /// What becomes of the change if it is asked for at `now` (N1), of a cluster with this policy
    /// and, if it has one, this `aksManagedNodeOSUpgradeSchedule` (N2, half-open: R-J4).
    pub fn judge(
        &self,
        policy: NodeDisruptionPolicy,
        window: Option<&Window>,
        now: Timestamp,
    ) -> Verdict {
        match self.operation.rule() {
            Rule::N5 => return Verdict::NotCovered,
            Rule::N6 => return Verdict::NeverGoverned,
            Rule::N3 | Rule::N4 if self.with_upgrade => return Verdict::WithUpgrade,
            Rule::N3 | Rule::N4 if !self.reimages() => return Verdict::ReimagesNothing,
            Rule::N3 | Rule::N4 => {}
        }
        match (policy, window) {
            (NodeDisruptionPolicy::Allow, _) => Verdict::PolicyAllows,
            (NodeDisruptionPolicy::Block, _) => Verdict::Blocked,
            (NodeDisruptionPolicy::AllowDuringMaintenanceWindow, None) => Verdict::NoWindow,
            (NodeDisruptionPolicy::AllowDuringMaintenanceWindow, Some(window)) => {
                match window.closes(now) {
                    Some(closes) => Verdict::WindowOpen { closes },
                    None => Verdict::WindowClosed { next: window.next_opening(now) },
                }
            }
        }
    }
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.name())?;
        self.from.map_or(Ok(()), |from| write!(f, " from {from}"))?;
        self.to.map_or(Ok(()), |to| write!(f, " to {to}"))
    }
}

impl fmt::Display for UnknownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, values) = (self.operation.name(), self.operation.values().join(", "));
        match self.value {
            Some(value) => write!(f, "`{value}` is no value of {name}; its values are {values}"),
            None => write!(f, "{name} changes from one of its values to another: {values}"),
        }
    }
}

impl std::error::Error for UnknownValue<'_> {}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
            Self::NotGoverned => "notGoverned",
        })
    }
}

impl Verdict {
    /// The verdict in one word.
    pub const fn decision(self) -> Decision {
        match self {
            Self::ReimagesNothing | Self::PolicyAllows => Decision::Allowed,
            Self::NoWindow | Self::WindowOpen { .. } => Decision::Allowed,
            Self::Blocked | Self::WindowClosed { .. } => Decision::Refused,
            Self::WithUpgrade | Self::NotCovered | Self::NeverGoverned => Decision::NotGoverned,
        }
    }

    /// When the same request will be allowed: the window's next opening, if it is what refuses it.
    pub const fn next_opening(self) -> Option<Timestamp> {
        match self {
            Self::WindowClosed { next } => next,
            _ => None,
        }
    }

    /// What whoever asks is told: of a refusal, which policy refuses, why, and when to ask again.
    pub fn message(self, change: &Change<'_>) -> String {
        let window = NodeDisruptionPolicy::AllowDuringMaintenanceWindow.name();
        match self {
            Self::ReimagesNothing => {
                format!("changing {change} reimages no node: every policy allows it")
            }
            Self::PolicyAllows => {
                format!("nodeDisruptionPolicy is Allow: changing {change} reimages nodes at once")
            }
            Self::NoWindow => format!(
                "nodeDisruptionPolicy is {window}, but without {WINDOW} it allows everything: \
                 changing {change} reimages nodes at once"
            ),
            Self::WindowOpen { closes: Timestamp::MAX } => format!(
                "nodeDisruptionPolicy is {window} and {WINDOW} is always open: \
                 changing {change} reimages nodes at once"
            ),
            Self::WindowOpen { closes } => format!(
                "nodeDisruptionPolicy is {window} and {WINDOW} is open until {closes}: \
                 changing {change} reimages nodes at once"
            ),
            Self::WindowClosed { next } => {
                let next = next.map_or("never opens again".to_owned(), |at| {
                    format!("is closed until {at}: ask again then")
                });
                format!(
                    "nodeDisruptionPolicy is {window} and changing {change} reimages nodes: \
                     {WINDOW} {next}"
                )
            }
            Self::Blocked => format!(
                "nodeDisruptionPolicy is Block and changing {change} reimages nodes: \
                 change the policy first"
            ),
            Self::WithUpgrade => format!(
                "changing {change} is part of a request that upgrades, \
                 which no nodeDisruptionPolicy governs"
            ),
            Self::NotCovered => format!(
                "changing {change} is not covered by the nodeDisruptionPolicy: it is accepted, \
                 and nodes take it on when their image is upgraded by hand"
            ),
            Self::NeverGoverned => format!(
                "{} is an upgrade, recovery or emergency, which no nodeDisruptionPolicy governs",
                change.operation.name()
            ),
        }
    }
}

#[cfg(test)]
mod tests;
