//! A fixed set of small numbers with a summary level, so that "the first one" costs two words.

/// A set of numbers below a fixed size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    /// One bit a word: set when the word is not zero.
    summary: Vec<u64>,
    count: u32,
}

impl Bits {
    /// An empty set for numbers below `size`.
    pub fn new(size: usize) -> Self {
        let mut bits = Self::default();
        bits.reset(size);
        bits
    }

    /// Empties the set and resizes it, keeping its allocation.
    pub fn reset(&mut self, size: usize) {
        let words = size.div_ceil(64);
        self.words.clear();
        self.words.resize(words, 0);
        self.summary.clear();
        self.summary.resize(words.div_ceil(64), 0);
        self.count = 0;
    }

    /// How many numbers are in the set.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether `n` is in the set.
    #[inline]
    pub fn contains(&self, n: u32) -> bool {
        self.words[(n / 64) as usize] & (1 << (n % 64)) != 0
    }

    /// Adds `n`; says whether it was new.
    #[inline]
    pub fn insert(&mut self, n: u32) -> bool {
        let (word, bit) = ((n / 64) as usize, 1_u64 << (n % 64));
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.summary[word / 64] |= 1 << (word % 64);
        self.count += u32::from(new);
        new
    }

    /// Takes `n` out; says whether it was there.
    #[inline]
    pub fn remove(&mut self, n: u32) -> bool {
        let (word, bit) = ((n / 64) as usize, 1_u64 << (n % 64));
        let there = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        if self.words[word] == 0 {
            self.summary[word / 64] &= !(1 << (word % 64));
        }
        self.count -= u32::from(there);
        there
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
        self.count = 0;
    }

    /// The smallest number in the set.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        for (block, summary) in self.summary.iter().enumerate() {
            if *summary != 0 {
                let word = block * 64 + summary.trailing_zeros() as usize;
                let bit = self.words[word].trailing_zeros();
                return Some(u32::try_from(word).expect("sets are below 2^32") * 64 + bit);
            }
        }
        None
    }

    /// All numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(word, bits)| {
            let base = u32::try_from(word).expect("sets are below 2^32") * 64;
            std::iter::successors(Some(*bits), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| base + rest.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_tree_set() {
        let (mut bits, mut set, mut state) = (Bits::new(10_000), BTreeSet::new(), 7_u32);
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let n = (state >> 8) % 10_000;
            if state & 1 == 0 {
                assert_eq!(bits.insert(n), set.insert(n));
            } else {
                assert_eq!(bits.remove(n), set.remove(&n));
            }
            assert_eq!(bits.first(), set.first().copied());
            assert_eq!(bits.len(), set.len());
        }
        assert!(bits.iter().eq(set.iter().copied()));
    }
}
