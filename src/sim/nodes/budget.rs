//! Disruption budgets that block drains (W8): which members have one, which nodes it blocks, and
//! until when.

use super::model::BudgetModel;
use crate::bits::Bits;
use crate::fleet::Fleet;
use crate::ids::MemberId;
use crate::quantiles::Quantiles;
use crate::sim::draw::{Luck, Purpose, happens, unit};
use crate::sim::script::ScriptedBudget;
use crate::time::{Span, Timestamp};

/// A budget blocks so many nodes at most.
pub(super) const MOST_BLOCKED: usize = 3;
/// The attempts of [`Purpose::Budget`]: the questions after whether there is one.
const CAUGHT: u16 = 1;
const NUMBER: u16 = 2;
const WHICH: u16 = 3;
const MENDED: u16 = 6;

/// Where budgets come from.
#[derive(Debug)]
pub(super) enum Budgets {
    /// Drawn.
    Drawn(BudgetModel, Option<Quantiles>),
    /// Named by the script, whose offsets count from this start.
    Scripted(Vec<ScriptedBudget>, Timestamp),
}

/// A member's budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Budget {
    /// Whether it is noticed before an update starts.
    pub(super) caught: bool,
    /// The numbers of the nodes that it blocks, pools one after the other, ascending.
    pub(super) nodes: Vec<u32>,
}

impl Budgets {
    pub(super) fn new(model: &BudgetModel) -> Self {
        Self::Drawn(model.clone(), model.mended.as_ref().map(Quantiles::new))
    }

    /// Draws which members have a budget that blocks.
    pub(super) fn draw(
        &self,
        blocked: &mut Bits,
        fleet: &Fleet,
        (luck, replication): (&Luck, u32),
    ) {
        blocked.reset(fleet.members.len());
        match self {
            Self::Drawn(model, _) if model.probability > 0.0 => {
                let draws = luck.sequence(replication, Purpose::Budget, 0);
                for (member, bits) in fleet.members.ids().zip(draws) {
                    if happens(bits, model.probability) {
                        blocked.insert(member.0);
                    }
                }
            }
            Self::Drawn(..) => {}
            Self::Scripted(budgets, _) => {
                for budget in budgets {
                    blocked.insert(budget.member.0);
                }
            }
        }
    }

    /// The budget of a member that has one.
    pub(super) fn of(&self, fleet: &Fleet, member: MemberId, luck: (&Luck, u32)) -> Budget {
        let pools = &fleet.members[member].pools;
        match self {
            Self::Drawn(model, _) => {
                let draw = |question| luck.0.at(luck.1, Purpose::Budget, question, member.0);
                let caught = happens(draw(CAUGHT), model.caught);
                Budget { caught, nodes: some_of(fleet.members[member].nodes(), draw) }
            }
            Self::Scripted(budgets, _) => {
                let mine = budgets.iter().filter(|budget| budget.member == member);
                let mut found = Budget { caught: mine.clone().any(|b| b.caught), nodes: vec![] };
                for budget in mine {
                    let before = &pools[..budget.pool as usize];
                    let first = before.iter().map(|pool| pool.count).sum::<u32>() + budget.after;
                    found.nodes.extend(first..first + budget.nodes);
                }
                found.nodes.sort_unstable();
                found.nodes.dedup();
                found
            }
        }
    }

    /// When a member's budget is mended that first fails an update now; the end of time if never.
    pub(super) fn mended(
        &self,
        member: MemberId,
        now: Timestamp,
        (luck, replication): (&Luck, u32),
    ) -> Timestamp {
        match self {
            Self::Drawn(_, Some(after)) => {
                let bits = luck.at(replication, Purpose::Budget, MENDED, member.0);
                now + Span::from_millis(after.millis(bits, 0))
            }
            Self::Drawn(_, None) => Timestamp::MAX,
            Self::Scripted(budgets, start) => {
                let mine = budgets.iter().filter(|budget| budget.member == member);
                let at = mine.map(|b| b.mended.map_or(Timestamp::MAX, |after| *start + after));
                at.max().unwrap_or(Timestamp::MAX)
            }
        }
    }
}

/// One to three different nodes out of so many, ascending.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the factor")]
fn some_of(nodes: u32, draw: impl Fn(u16) -> u64) -> Vec<u32> {
    let number = ((unit(draw(NUMBER)) * 3.0) as u32 + 1).min(nodes);
    let mut chosen: Vec<u32> = Vec::with_capacity(MOST_BLOCKED);
    for (question, taken) in (WHICH..).zip(0..number) {
        // One of those that are not chosen yet, counted past the chosen.
        let mut node = (unit(draw(question)) * f64::from(nodes - taken)) as u32;
        for earlier in &chosen {
            node += u32::from(node >= *earlier);
        }
        chosen.push(node);
        chosen.sort_unstable();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w8_a_budget_blocks_one_to_three_different_nodes_each_as_likely() {
        let luck = Luck::new(1);
        let (mut sizes, mut nodes, n) = ([0_u32; 4], [0_u32; 10], 30_000);
        for member in 0..n {
            let chosen = some_of(10, |question| luck.at(0, Purpose::Budget, question, member));
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]), "{chosen:?}");
            sizes[chosen.len()] += 1;
            for node in &chosen {
                nodes[*node as usize] += 1;
            }
        }
        let near = |found: u32, share: f64| {
            let error = 3.6 * (share * (1.0 - share) * f64::from(n)).sqrt();
            (f64::from(found) - share * f64::from(n)).abs() < error
        };
        assert_eq!(sizes[0], 0);
        assert!(sizes[1..].iter().all(|size| near(*size, 1.0 / 3.0)), "{sizes:?}");
        assert!(nodes.iter().all(|found| near(*found, 0.2)), "{nodes:?}");
        let few = some_of(1, |question| luck.at(0, Purpose::Budget, question, 7));
        assert_eq!(few, [0], "no more than there are");
        assert!(some_of(0, |_| 0).is_empty());
    }
}
