//! A timing wheel: entries in ascending order, at a cost that does not grow with their number.
//!
//! An entry is one word whose upper bits are an instant in milliseconds; all of it decides the
//! order, and no two are equal. Time is cut into ticks, and each tick has a slot of the wheel, a
//! list without order; a bit a slot says where anything is. Only the tick whose turn it is gets
//! sorted, as a rule a single entry. What lies beyond one turn of the wheel waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slots of the wheel, so that one word sums up the words of their bits.
const SLOTS: usize = 64 * WORDS;
const WORDS: usize = 64;
/// The end of a slot's list.
const NONE: u32 = u32::MAX;
/// So few entries are put back into their slot when an earlier tick than theirs is filled.
const FEW: usize = 8;

/// So many entries of a tick are looked through, not sorted.
const UNSORTED: usize = 4;

/// An entry in a slot, or a free place for one.
#[derive(Debug, Clone, Copy)]
struct Node {
    entry: u128,
    /// The next of its list, or of the free ones.
    next: u32,
}

/// The wheel.
#[derive(Debug, Clone)]
pub(super) struct Wheel {
    /// Where an entry's instant begins.
    instant_bits: u32,
    /// How far an entry's upper half is shifted to give its tick.
    shift: u32,
    /// The first entry of each slot's list.
    heads: Box<[u32; SLOTS]>,
    nodes: Vec<Node>,
    /// The first node that holds no entry.
    free: u32,
    /// One bit a slot: set when it is not empty.
    filled: [u64; WORDS],
    /// One bit a word of them.
    summary: u64,
    /// All slots hold ticks from this one on, and less than one turn further: the tick of the
    /// entry that was taken last, or a later one before which nothing comes.
    base: u64,
    /// Entries of ticks before this one are in `ready`, all others in slots or `far`.
    loaded: u64,
    /// Sorted, the next one last.
    ready: Vec<u128>,
    far: BinaryHeap<Reverse<u128>>,
    /// The tick of the first of them; the end of time without any.
    first_far: u64,
}

impl Wheel {
    /// An empty wheel for entries with their instant above `instant_bits`, in their upper half,
    /// with ticks so short that one turn just takes `turn` milliseconds.
    pub(super) fn new(instant_bits: u32, turn: u64) -> Self {
        assert!((64..96).contains(&instant_bits), "instants begin in the upper half");
        let tick = (turn / SLOTS as u64).clamp(1, 1 << 20).next_power_of_two();
        Self {
            instant_bits,
            shift: instant_bits - 64 + tick.trailing_zeros(),
            heads: Box::new([NONE; SLOTS]),
            nodes: Vec::new(),
            free: NONE,
            filled: [0; WORDS],
            summary: 0,
            base: 0,
            loaded: 0,
            ready: Vec::new(),
            far: BinaryHeap::new(),
            first_far: u64::MAX,
        }
    }

    /// Empties the wheel, keeping its allocations.
    pub(super) fn clear(&mut self) {
        if self.summary != 0 {
            self.heads.fill(NONE);
            self.filled = [0; WORDS];
            self.summary = 0;
        }
        self.nodes.clear();
        self.free = NONE;
        (self.base, self.loaded) = (0, 0);
        self.ready.clear();
        self.far.clear();
        self.first_far = u64::MAX;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.summary == 0 && self.far.is_empty()
    }

    #[inline]
    const fn tick(&self, entry: u128) -> u64 {
        ((entry >> 64) as u64) >> self.shift
    }

    /// Nothing comes any more before this entry would: what is pushed next is near it.
    #[inline]
    pub(super) fn catch_up(&mut self, entry: u128) {
        self.base = self.base.max(self.tick(entry));
    }

    /// Adds an entry; it must not come before the one that was taken last.
    #[inline]
    pub(super) fn push(&mut self, entry: u128) {
        if self.tick(entry) < self.loaded {
            self.push_early(entry);
        } else {
            self.store(entry);
        }
    }

    /// Adds an entry to a tick that is loaded, or before it.
    #[cold]
    fn push_early(&mut self, entry: u128) {
        let earlier = self.tick(entry) + 1 < self.loaded;
        if earlier && self.ready.len() <= FEW {
            self.loaded = self.base;
            while let Some(entry) = self.ready.pop() {
                self.store(entry);
            }
            return self.store(entry);
        }
        let place = self.ready.partition_point(|other| *other > entry);
        self.ready.insert(place, entry);
    }

    /// Puts an entry into its slot, or with the far ones.
    #[inline]
    fn store(&mut self, entry: u128) {
        let tick = self.tick(entry);
        if tick.wrapping_sub(self.base) >= SLOTS as u64 {
            return self.store_far(entry);
        }
        let slot = slot_of(tick);
        let node = Node { entry, next: self.heads[slot] };
        let number = self.free;
        if let Some(place) = self.nodes.get_mut(number as usize) {
            self.free = place.next;
            *place = node;
            self.heads[slot] = number;
        } else {
            self.heads[slot] = self.add_node(node);
        }
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
    }

    #[cold]
    fn store_far(&mut self, entry: u128) {
        self.far.push(Reverse(entry));
        self.first_far = self.first_far.min(self.tick(entry));
    }

    #[cold]
    fn add_node(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("entries fit u32")
    }

    /// The first entry.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u128> {
        if self.ready.is_empty() {
            self.load();
        }
        self.ready.last().copied()
    }

    /// Takes the first entry if it is `wanted` and no other has its instant.
    #[inline]
    pub(super) fn pop_lone(&mut self, wanted: impl Fn(u128) -> bool) -> Option<u128> {
        if !self.ready.is_empty() {
            return self.pop_lone_ready(wanted);
        }
        let tick = self.first_filled();
        if tick >= self.first_far {
            return self.pop_lone_ready(wanted);
        }
        let slot = slot_of(tick);
        let number = self.heads[slot];
        let node = &mut self.nodes[number as usize];
        if node.next != NONE {
            return self.pop_lone_of_few(tick, wanted);
        }
        let entry = node.entry;
        if !wanted(entry) {
            return None;
        }
        node.next = std::mem::replace(&mut self.free, number);
        self.heads[slot] = NONE;
        self.clear_bit(slot);
        self.base = tick;
        Some(entry)
    }

    /// The same of the first filled tick, where it has several entries: a few are not sorted.
    #[inline(never)]
    fn pop_lone_of_few(&mut self, tick: u64, wanted: impl Fn(u128) -> bool) -> Option<u128> {
        let slot = slot_of(tick);
        let mut last = self.heads[slot];
        let (mut first, mut before, mut alone) = (last, NONE, true);
        let mut entry = self.nodes[first as usize].entry;
        for _ in 1..=UNSORTED {
            let next = self.nodes[last as usize].next;
            let Some(node) = self.nodes.get(next as usize) else {
                return if alone && wanted(entry) {
                    self.unlink(slot, (before, first));
                    self.base = tick;
                    Some(entry)
                } else {
                    None
                };
            };
            let other = (entry ^ node.entry) >> self.instant_bits != 0;
            if node.entry < entry {
                (first, before, entry, alone) = (next, last, node.entry, other);
            } else {
                alone &= other;
            }
            last = next;
        }
        self.pop_lone_ready(wanted)
    }

    /// Takes a node out of the list of a slot that keeps others; `before` is the one before it.
    fn unlink(&mut self, slot: usize, (before, number): (u32, u32)) {
        let node = &mut self.nodes[number as usize];
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = number;
        match self.nodes.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => self.heads[slot] = next,
        }
    }

    /// The same of the entries that are ready.
    #[inline(never)]
    fn pop_lone_ready(&mut self, wanted: impl Fn(u128) -> bool) -> Option<u128> {
        let entry = self.peek()?;
        // Entries of one instant share a tick, so that they are ready together.
        let second = self.ready.len().checked_sub(2).map(|second| self.ready[second]);
        let alone = second.is_none_or(|second| (entry ^ second) >> self.instant_bits != 0);
        if alone && wanted(entry) { self.pop() } else { None }
    }

    /// A slot is empty.
    #[inline]
    fn clear_bit(&mut self, slot: usize) {
        self.filled[slot / 64] &= !(1 << (slot % 64));
        self.summary &= !(u64::from(self.filled[slot / 64] == 0) << (slot / 64));
    }

    /// Takes the first entry.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u128> {
        if self.ready.is_empty() {
            self.load();
        }
        let entry = self.ready.pop()?;
        self.base = self.tick(entry);
        Some(entry)
    }

    /// Makes the entries of the first filled tick ready.
    fn load(&mut self) {
        let (near, far) = (self.first_filled(), self.first_far);
        let tick = near.min(far);
        if tick == u64::MAX {
            return;
        }
        self.loaded = tick + 1;
        if near == tick {
            let slot = slot_of(tick);
            let mut node = std::mem::replace(&mut self.heads[slot], NONE);
            self.clear_bit(slot);
            while let Some(place) = self.nodes.get_mut(node as usize) {
                self.ready.push(place.entry);
                let next = std::mem::replace(&mut place.next, self.free);
                self.free = std::mem::replace(&mut node, next);
            }
        }
        if far == tick {
            self.load_far(tick);
        }
        if self.ready.len() > 1 {
            self.ready.sort_unstable_by(|one, other| other.cmp(one));
        }
    }

    #[cold]
    fn load_far(&mut self, tick: u64) {
        while let Some(Reverse(entry)) = self.far.peek()
            && self.tick(*entry) == tick
        {
            self.ready.push(*entry);
            self.far.pop();
        }
        self.first_far = self.far.peek().map_or(u64::MAX, |Reverse(entry)| self.tick(*entry));
    }

    /// The first tick with a slot that is filled; the end of time without one.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are 64 words")]
    fn first_filled(&self) -> u64 {
        if self.summary == 0 {
            return u64::MAX;
        }
        // In the rest of the base's word or behind it, wrapped around: whether the one or the other
        // is hard to foretell, so that both are worked out and one is taken.
        let from = slot_of(self.base);
        let (word, bit) = (from / 64, from % 64);
        let rest = self.filled[word] >> bit;
        let behind = self.summary.rotate_right(word as u32 + 1).trailing_zeros() as usize + 1;
        let next = self.filled[(word + behind) % WORDS].trailing_zeros() as usize;
        let near = rest.trailing_zeros() as usize;
        let far = 64 * behind + next - bit;
        self.base + std::hint::select_unpredictable(rest != 0, near, far) as u64
    }
}

#[expect(clippy::cast_possible_truncation, reason = "slots fit usize")]
#[inline]
const fn slot_of(tick: u64) -> usize {
    tick as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::draw::{Luck, Purpose};

    /// Pushes and pops at random, as a simulation does: never before what was popped last.
    fn assert_agrees_with_a_heap(instant_bits: u32, turn: u64, spread: u64, seed: u64) {
        let (mut wheel, mut heap) = (Wheel::new(instant_bits, turn), BinaryHeap::new());
        let instant = |entry: u128| u64::try_from(entry >> instant_bits).unwrap();
        let mut luck = Luck::new(seed).sequence(0, Purpose::Duration, 0);
        for round in 0..3 {
            wheel.clear();
            heap.clear();
            let (mut now, mut number) = (0_u64, 0_u128);
            for _ in 0..4_000 {
                let bits = luck.draw();
                // Grows, is drained and grows again; sometimes many at one instant, sometimes far.
                let grows = bits % 7 < 4;
                if grows {
                    let after = match bits >> 8 & 15 {
                        0 => 0,
                        1 => (bits >> 20) % (spread * 40),
                        2 => spread / 2,
                        _ => (bits >> 20) % spread,
                    };
                    let copies = if (bits >> 12).is_multiple_of(256) { 40 } else { 1 };
                    for _ in 0..copies {
                        number += 1;
                        let entry = u128::from(now + after) << instant_bits | number;
                        wheel.push(entry);
                        heap.push(Reverse(entry));
                    }
                } else {
                    if bits >> 13 & 1 == 0 {
                        assert_eq!(wheel.peek(), heap.peek().map(|Reverse(entry)| *entry));
                    }
                    let entry = heap.pop().map(|Reverse(entry)| entry);
                    let next = heap.peek().map(|Reverse(next)| instant(*next));
                    let alone = entry.filter(|entry| Some(instant(*entry)) != next);
                    if bits >> 15 & 1 == 0 {
                        assert_eq!(wheel.pop_lone(|_| false), None);
                    }
                    if bits >> 16 & 1 == 0 && alone.is_some() {
                        assert_eq!(wheel.pop_lone(|found| Some(found) == entry), entry);
                    } else {
                        if alone.is_none() {
                            assert_eq!(wheel.pop_lone(|_| true), None);
                        }
                        assert_eq!(wheel.pop(), entry, "round {round}, turn {turn}");
                    }
                    now = entry.map_or(now, instant);
                    // Something else may happen before the next entry.
                    if let Some(Reverse(next)) = heap.peek()
                        && (bits >> 14).is_multiple_of(4)
                    {
                        assert_eq!(wheel.peek(), Some(*next));
                        now += (instant(*next) - now) / 2;
                        if bits >> 17 & 1 == 0 {
                            wheel.catch_up(u128::from(now) << instant_bits);
                        }
                    }
                }
                assert_eq!(wheel.is_empty(), heap.is_empty());
            }
            while let Some(Reverse(entry)) = heap.pop() {
                assert_eq!(wheel.pop(), Some(entry));
            }
            assert_eq!((wheel.pop(), wheel.peek()), (None, None));
        }
    }

    #[test]
    fn agrees_with_a_heap() {
        for (seed, turn) in (0..).zip([1, 5_000, 1_000_000, 20_000_000, u64::MAX]) {
            for spread in [1, 50, 4_000, 3_000_000, 100_000_000] {
                assert_agrees_with_a_heap(86, turn, spread, seed);
            }
        }
    }
}
