//! The arithmetic of a node pool's rolling update: how many nodes at a time, with how many extra
//! ones, and what is done when those cannot be had (P1, P2).

use crate::fleet::{KubernetesVersion, Pool};

/// The most nodes of a pool, surge nodes included (P2).
pub const MOST_NODES: u32 = 1_000;
/// From this minor version on, a pool whose surge cannot be had in full tries a single node (P2).
const SINGLE_SURGE_MINOR: u16 = 35;

/// What the cloud gives to a pool that asks for surge nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capacity {
    /// Nothing.
    Nothing,
    /// One node.
    One,
    /// As many as are asked for.
    Plenty,
}

/// How a pool updates its nodes: so many at a time, with so many extra nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Nodes that are drained and reimaged at a time, at least 1.
    pub at_once: u32,
    /// Extra nodes, from before the first drain to after the last reimage; none in place.
    pub surge: u32,
}

/// What a pool's upgrade settings come to for its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Nodes of the pool.
    pub nodes: u32,
    /// `maxSurge` in nodes, percentages rounded up (P1); 0: always in place.
    pub surge: u32,
    /// `maxUnavailable` in nodes, percentages rounded down and at least 1 (P1); 0: never in place.
    pub unavailable: u32,
}

impl Settings {
    /// The settings of a pool (P1). What may not be written together was refused before.
    pub fn of(pool: &Pool) -> Self {
        let unavailable = pool.max_unavailable.of_rounded_down(pool.count);
        let is_set = pool.max_unavailable.of_rounded_up(pool.count.max(1)) > 0;
        Self {
            nodes: pool.count,
            surge: pool.max_surge.of_rounded_up(pool.count),
            unavailable: if is_set { unavailable.max(1) } else { 0 },
        }
    }

    /// Whether the pool with its surge nodes is larger than any may be (P2).
    pub fn is_too_large(self) -> bool {
        self.surge > 0 && self.nodes + self.surge.min(self.nodes) > MOST_NODES
    }

    /// How `left` nodes are updated when the cloud gives so much; `None` when it refuses the surge
    /// and the pool has nothing to fall back on (P2).
    pub fn way(
        self,
        left: u32,
        capacity: Capacity,
        kubernetes: Option<KubernetesVersion>,
    ) -> Option<Way> {
        let surge = self.surge.min(left);
        if surge > 0 && (capacity == Capacity::Plenty || (capacity == Capacity::One && surge == 1))
        {
            return Some(Way { at_once: surge, surge });
        }
        if self.unavailable == 0 {
            return None;
        }
        let tries_one = kubernetes.is_some_and(|v| (v.major, v.minor) >= (1, SINGLE_SURGE_MINOR));
        if surge > 0 && capacity == Capacity::One && tries_one {
            return Some(Way { at_once: 1, surge: 1 });
        }
        Some(Way { at_once: self.unavailable.min(left).max(1), surge: 0 })
    }
}

impl Way {
    /// How many batches `left` nodes make.
    pub fn number(self, left: u32) -> i64 {
        i64::from(left.div_ceil(self.at_once))
    }

    /// Sizes of the batches that `left` nodes make: all alike, but for the last.
    pub fn batches(self, left: u32) -> impl Iterator<Item = u32> {
        let (whole, rest) = (left / self.at_once, left % self.at_once);
        (0..whole).map(move |_| self.at_once).chain((rest > 0).then_some(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Amount, ImageVersion, NodeImage, OsType, PoolImage, PoolMode};
    use crate::ids::FamilyId;
    use crate::time::Span;
    use Amount::{Count, Percent};
    use Capacity::{Nothing, One, Plenty};

    fn settings(count: u32, surge: Amount, unavailable: Amount) -> Settings {
        let image = NodeImage { family: FamilyId(0), version: ImageVersion::OLDEST };
        Settings::of(&Pool {
            name: "p".to_owned(),
            mode: PoolMode::User,
            os_type: OsType::Linux,
            image: PoolImage::Exactly(image),
            orchestrator_version: None,
            count,
            max_surge: surge,
            max_unavailable: unavailable,
            drain_timeout: Span::from_mins(30),
            node_soak: Span::ZERO,
            max_pods: 30,
            undrainable: crate::fleet::UndrainableNodeBehavior::Schedule,
            ephemeral_data: true,
            from_snapshot: false,
        })
    }

    fn way(settings: Settings, capacity: Capacity, minor: u32) -> Option<(u32, u32)> {
        let version = format!("1.{minor}.0").parse().unwrap();
        let way = settings.way(settings.nodes, capacity, Some(version));
        way.map(|way| (way.at_once, way.surge))
    }

    #[test]
    fn p1_surge_is_rounded_up_and_never_more_than_the_nodes_to_update() {
        let surge = |count, amount| {
            let settings = settings(count, amount, Count(0));
            settings.way(count, Plenty, None).map(|way| way.surge)
        };
        assert_eq!(surge(100, Percent(10)), Some(10));
        assert_eq!(surge(100, Percent(33)), Some(33));
        assert_eq!(surge(15, Percent(10)), Some(2), "1.5 rounds up");
        assert_eq!(surge(3, Percent(10)), Some(1));
        assert_eq!(surge(4, Percent(50)), Some(2), "the example of five pools of four nodes");
        assert_eq!(surge(3, Count(5)), Some(3));
        let half_done = settings(100, Percent(33), Count(0)).way(7, Plenty, None).unwrap();
        assert_eq!(half_done, Way { at_once: 7, surge: 7 }, "the nodes that are left");
    }

    #[test]
    fn p1_unavailable_is_rounded_down_and_at_least_one_when_set() {
        let in_place = |count, amount| way(settings(count, Count(0), amount), Plenty, 33);
        assert_eq!(in_place(15, Percent(10)), Some((1, 0)));
        assert_eq!(in_place(29, Percent(10)), Some((2, 0)));
        assert_eq!(in_place(3, Percent(10)), Some((1, 0)), "0.3 is at least 1");
        assert_eq!(in_place(3, Count(9)), Some((3, 0)), "no more than there are");
    }

    #[test]
    fn p1_batches_take_so_many_nodes_at_a_time() {
        let sizes = |at_once, left| {
            let way = Way { at_once, surge: 0 };
            let sizes: Vec<u32> = way.batches(left).collect();
            assert_eq!(way.number(left), i64::try_from(sizes.len()).unwrap());
            sizes
        };
        assert_eq!(sizes(33, 100), [33, 33, 33, 1]);
        assert_eq!(sizes(10, 20), [10, 10]);
        assert_eq!(sizes(5, 3), [3]);
        assert_eq!(sizes(5, 0), [0; 0]);
    }

    #[test]
    fn p2_fallbacks_go_from_full_surge_over_one_node_to_in_place() {
        let both = settings(20, Percent(33), Percent(25));
        assert_eq!(way(both, Plenty, 33), Some((7, 7)));
        assert_eq!(way(both, One, 34), Some((5, 0)), "no single node before 1.35");
        assert_eq!(way(both, One, 35), Some((1, 1)));
        assert_eq!(way(both, Nothing, 35), Some((5, 0)));
        let surge = settings(20, Percent(33), Count(0));
        assert_eq!(way(surge, One, 35), None, "the fallbacks need maxUnavailable");
        assert_eq!(way(settings(20, Count(1), Count(0)), One, 33), Some((1, 1)), "one is enough");
        assert_eq!(way(settings(20, Count(1), Count(0)), Nothing, 35), None);
        assert_eq!(way(settings(20, Count(0), Count(2)), Nothing, 33), Some((2, 0)));
        assert_eq!(both.way(20, One, None), Some(Way { at_once: 5, surge: 0 }), "no version known");
    }

    #[test]
    fn p2_a_pool_with_its_surge_has_at_most_a_thousand_nodes() {
        assert!(!settings(990, Count(10), Count(0)).is_too_large());
        assert!(settings(991, Count(10), Count(0)).is_too_large());
        assert!(settings(1_000, Count(1), Count(5)).is_too_large(), "whatever it falls back on");
        assert!(!settings(1_000, Count(0), Count(5)).is_too_large(), "in place it adds nothing");
    }
}
