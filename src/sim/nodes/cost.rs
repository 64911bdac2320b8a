//! What updates cost: surge nodes over time, addresses, nodes that lose their data (P5, N7).
//!
//! An update enters the spells of its surge nodes when it starts; the peaks are found by one sweep
//! when the replication is over.

use crate::time::{Span, Timestamp};

/// What the updates and changes of a replication cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    /// Time that surge nodes existed, summed over them, up to the horizon.
    pub surge_node_time: Span,
    /// The most surge nodes at one time in the whole fleet.
    pub peak_extra_nodes: u32,
    /// The most addresses that surge nodes and their pods took at one time.
    pub peak_extra_ips: u32,
    /// Nodes that were reimaged.
    pub reimaged_nodes: u32,
    /// Those of them that lost ephemeral data (N7).
    pub ephemeral_data_losses: u32,
}

/// A pool's rolling update, or a part of one, as it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spell {
    /// Surge nodes exist from here…
    pub(super) from: Timestamp,
    /// …to here, which is when the nodes count as reimaged.
    pub(super) to: Timestamp,
    /// How many surge nodes.
    pub(super) surge: u32,
    /// Addresses of each of them: its own and one a pod (P5).
    pub(super) addresses: u32,
    /// Nodes that are reimaged.
    pub(super) reimaged: u32,
    /// Whether these nodes lose ephemeral data.
    pub(super) ephemeral: bool,
}

/// The spells of a replication.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    spells: Vec<Spell>,
    /// For the sweep: an instant, whether nodes appear at it, how many, and their addresses.
    steps: Vec<(Timestamp, bool, u32, u32)>,
}

impl Ledger {
    pub(super) fn clear(&mut self) {
        self.spells.clear();
    }

    #[inline]
    pub(super) fn enter(&mut self, spell: Spell) {
        self.spells.push(spell);
    }

    /// What everything cost up to `end`. Nodes that go at an instant are gone before others come.
    pub(super) fn sum_up(&mut self, end: Timestamp) -> Costs {
        let mut costs = Costs::default();
        self.steps.clear();
        for spell in &self.spells {
            if spell.to <= end {
                costs.reimaged_nodes += spell.reimaged;
                costs.ephemeral_data_losses += if spell.ephemeral { spell.reimaged } else { 0 };
            }
            let to = spell.to.min(end);
            if spell.surge > 0 && spell.from < to {
                let addresses = spell.surge * spell.addresses;
                self.steps.push((spell.from, true, spell.surge, addresses));
                self.steps.push((to, false, spell.surge, addresses));
                let time = (to - spell.from).as_millis() * i64::from(spell.surge);
                costs.surge_node_time += Span::from_millis(time);
            }
        }
        self.steps.sort_unstable_by_key(|(at, appear, ..)| (*at, *appear));
        let (mut nodes, mut addresses) = (0, 0);
        for (_, appear, more, their_addresses) in &self.steps {
            if *appear {
                (nodes, addresses) = (nodes + more, addresses + their_addresses);
                costs.peak_extra_nodes = costs.peak_extra_nodes.max(nodes);
                costs.peak_extra_ips = costs.peak_extra_ips.max(addresses);
            } else {
                (nodes, addresses) = (nodes - more, addresses - their_addresses);
            }
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(from: i64, to: i64, surge: u32, addresses: u32) -> Spell {
        let at = |minute| Timestamp::default() + Span::from_mins(minute);
        let (from, to) = (at(from), at(to));
        Spell { from, to, surge, addresses, reimaged: 7, ephemeral: surge != 2 }
    }

    fn costs(spells: &[Spell], end: i64) -> Costs {
        let mut ledger = Ledger::default();
        for spell in spells {
            ledger.enter(*spell);
        }
        ledger.sum_up(Timestamp::default() + Span::from_mins(end))
    }

    #[test]
    fn p5_the_peak_is_that_of_everything_at_one_time() {
        let found = costs(&[spell(60, 90, 5, 31), spell(0, 60, 4, 251), spell(30, 70, 2, 31)], 500);
        assert_eq!(found.peak_extra_nodes, 7, "those that end at 60 are gone when others come");
        assert_eq!(found.peak_extra_ips, 4 * 251 + 2 * 31, "the peak of addresses is elsewhere");
        assert_eq!(found.surge_node_time, Span::from_mins(5 * 30 + 4 * 60 + 2 * 40));
        assert_eq!((found.reimaged_nodes, found.ephemeral_data_losses), (21, 14));
    }

    #[test]
    fn p5_what_lies_beyond_the_end_costs_nothing() {
        let found = costs(&[spell(0, 60, 4, 31), spell(50, 90, 3, 31)], 40);
        assert_eq!(found.surge_node_time, Span::from_mins(160));
        assert_eq!((found.peak_extra_nodes, found.reimaged_nodes), (4, 0));
        assert_eq!(costs(&[], 40), Costs::default());
    }
}
