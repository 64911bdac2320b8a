//! Independent failures of updates, by whose they are and what they do (W6).

use crate::bits::Bits;
use crate::fleet::{Fleet, KubernetesVersion, Member};
use crate::ids::{Column, MemberId};
use crate::scheduler::{Update, Upgrade};
use crate::sim::draw::{BLOCK, Chance, Luck, Purpose, happens};
use crate::sim::whom::Whom;

/// Independent failures of updates (W6).
#[derive(Debug, Clone, PartialEq)]
pub struct FailureModel {
    /// Probability that a member's update fails.
    pub probability: f64,
    /// The same, of an update that brings a newer Kubernetes minor.
    pub minor_probability: f64,
    /// Share of failures that clear on a later attempt; the others fail every time.
    pub transient: f64,
    /// `where`: other probabilities; the first that fits a member and the update is the member's.
    pub rules: Vec<FailureRule>,
}

/// Another probability for some.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureRule {
    /// Whose updates.
    pub whom: Whom,
    /// `upgrade`: which type of update; `None`: any.
    pub upgrade: Option<UpgradeType>,
    /// Probability that such an update fails.
    pub probability: f64,
}

/// `type` of an upgrade (U1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum UpgradeType {
    Full,
    ControlPlaneOnly,
    NodeImageOnly,
}

impl UpgradeType {
    /// The type of an upgrade.
    pub const fn of(upgrade: Upgrade) -> Self {
        match upgrade {
            Upgrade::Full(_) => Self::Full,
            Upgrade::ControlPlaneOnly(_) => Self::ControlPlaneOnly,
            Upgrade::NodeImageOnly => Self::NodeImageOnly,
        }
    }
}

impl FailureModel {
    /// Probability that this upgrade of the member fails; it runs this version.
    pub(super) fn of(
        &self,
        member: &Member,
        current: Option<KubernetesVersion>,
        upgrade: Upgrade,
    ) -> f64 {
        let kind = UpgradeType::of(upgrade);
        let fits = |rule: &&FailureRule| {
            rule.upgrade.is_none_or(|wanted| wanted == kind) && rule.whom.fits(member)
        };
        if let Some(rule) = self.rules.iter().find(fits) {
            return rule.probability;
        }
        let minor = upgrade.kubernetes_version().is_some_and(|target| {
            current.is_some_and(|is| (is.major, is.minor) < (target.major, target.minor))
        });
        if minor { self.minor_probability } else { self.probability }
    }
}

/// How likely each member's update fails, found once for all replications.
#[derive(Debug)]
pub(super) enum Odds {
    /// Everybody's alike.
    Same(f64),
    /// Each its own.
    Each(Column<MemberId, f64>),
}

impl Odds {
    pub(super) fn new(model: Option<&FailureModel>, fleet: &Fleet, update: &Update) -> Self {
        let Some(model) = model else { return Self::Same(0.0) };
        let of = |member: &Member| model.of(member, member.kubernetes_version, update.upgrade);
        let each: Column<MemberId, f64> = fleet.members.iter().map(of).collect();
        match each.iter().next() {
            Some(first) if each.iter().any(|odds| odds.to_bits() != first.to_bits()) => {
                Self::Each(each)
            }
            first => Self::Same(first.copied().unwrap_or(0.0)),
        }
    }

    /// Whether nobody fails.
    pub(super) fn are_none(&self) -> bool {
        match self {
            Self::Same(odds) => *odds <= 0.0,
            Self::Each(each) => each.iter().all(|odds| *odds <= 0.0),
        }
    }

    /// Whose first attempt fails. Every member's number lies in its own place, whatever its odds.
    pub(super) fn draw(&self, luck: &Luck, replication: u32, members: usize, into: &mut Bits) {
        into.reset(members);
        if self.are_none() {
            return;
        }
        let mut numbers = luck.sequence(replication, Purpose::Failure, 0);
        match self {
            Self::Same(odds) => {
                let (chance, mut block) = (Chance::new(*odds), [0; BLOCK]);
                let members = u32::try_from(members).expect("members fit u32");
                for first in (0..members).step_by(BLOCK) {
                    numbers.fill(&mut block);
                    for (member, bits) in (first..members).zip(block) {
                        if chance.happens(bits) {
                            into.insert(member);
                        }
                    }
                }
            }
            Self::Each(each) => {
                for ((id, odds), bits) in each.iter_with_ids().zip(numbers) {
                    if happens(bits, *odds) {
                        into.insert(id.0);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w6_members_alike_are_drawn_as_members_each_their_own() {
        let (luck, members) = (Luck::new(3), 1_000);
        let (mut same, mut each) = (Bits::default(), Bits::default());
        Odds::Same(0.3).draw(&luck, 5, members, &mut same);
        Odds::Each((0..members).map(|_| 0.3).collect()).draw(&luck, 5, members, &mut each);
        assert_eq!(same, each);
        // Who fails with less still fails with more.
        let mut more = Bits::default();
        Odds::Same(0.4).draw(&luck, 5, members, &mut more);
        assert!(same.iter().all(|member| more.contains(member)) && more.len() > same.len());
    }
}
