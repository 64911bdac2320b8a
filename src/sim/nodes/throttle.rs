//! Throttling: updates in one subscription that slow each other down (W8).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::model::ThrottlingModel;
use crate::fleet::Fleet;
use crate::ids::{Column, MemberId};
use crate::time::Timestamp;

/// Which members share a subscription, and how much of it there is.
#[derive(Debug)]
pub(in crate::sim) struct Throttle {
    at_most: u32,
    refused_above: u32,
    /// By member; members without a subscription are never throttled.
    subscription: Column<MemberId, Option<u32>>,
    subscriptions: usize,
}

/// When the updates that are under way end, by subscription.
#[derive(Debug, Default)]
pub(in crate::sim) struct UnderWay(Vec<BinaryHeap<Reverse<Timestamp>>>);

impl Throttle {
    pub(in crate::sim) fn new(model: &ThrottlingModel, fleet: &Fleet) -> Self {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut subscription = Column::new();
        for member in &fleet.members {
            let name = match &model.by_label {
                Some(label) => member.labels.get(label).map(String::as_str),
                None => member.subscription(),
            };
            let fresh = u32::try_from(known.len()).expect("subscriptions fit u32");
            subscription.push(name.map(|name| *known.entry(name).or_insert(fresh)));
        }
        let refused_above = model.refused_above.unwrap_or(u32::MAX);
        Self { at_most: model.at_most, refused_above, subscription, subscriptions: known.len() }
    }

    /// How many times as long an update takes that starts now; `None` if it is refused. All endings
    /// of this instant lie behind (R-A1).
    pub(in crate::sim) fn pace(
        &self,
        under_way: &mut UnderWay,
        member: MemberId,
        now: Timestamp,
    ) -> Option<f64> {
        let Some(subscription) = self.subscription[member] else { return Some(1.0) };
        let ends = &mut under_way.0[subscription as usize];
        while ends.peek().is_some_and(|Reverse(end)| *end <= now) {
            ends.pop();
        }
        let with_this = u32::try_from(ends.len()).expect("members fit u32") + 1;
        let slow = f64::from(with_this) / f64::from(self.at_most);
        (with_this <= self.refused_above).then_some(slow.max(1.0))
    }

    /// The update that has just started ends then.
    pub(in crate::sim) fn started(
        &self,
        under_way: &mut UnderWay,
        member: MemberId,
        end: Timestamp,
    ) {
        if let Some(subscription) = self.subscription[member] {
            under_way.0[subscription as usize].push(Reverse(end));
        }
    }

    pub(in crate::sim) fn reset(&self, under_way: &mut UnderWay) {
        under_way.0.resize_with(self.subscriptions, BinaryHeap::new);
        under_way.0.iter_mut().for_each(BinaryHeap::clear);
    }
}
