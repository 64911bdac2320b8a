//! A fixed set of small numbers with a summary level, so that "the first one" costs two words.

/// A set of numbers below a fixed size.
#[derive(Debug, Clone, Default)]
pub struct Bits {
    words: Vec<u64>,
    /// One bit a word: set when the word is not zero.
    summary: Vec<u64>,
    count: u32,
    /// All words before this one are zero.
    low: u32,
}

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Bits {}

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
        (self.count, self.low) = (0, 0);
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
        self.low = self.low.min(n / 64);
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

    /// Adds all numbers below `end`.
    pub fn fill(&mut self, end: usize) {
        let ones = |words: &mut [u64], end: usize| {
            words[..end / 64].fill(u64::MAX);
            if !end.is_multiple_of(64) {
                words[end / 64] |= u64::MAX >> (64 - end % 64);
            }
        };
        ones(&mut self.words, end);
        ones(&mut self.summary, end.div_ceil(64));
        self.count = self.words.iter().map(|word| word.count_ones()).sum();
        self.low = 0;
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
        (self.count, self.low) = (0, 0);
    }

    /// The smallest number in the set.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop of relays a call costs a twentieth")]
    pub fn first(&self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let word = self.first_word();
        Some(word * 64 + self.words[word as usize].trailing_zeros())
    }

    /// Takes the smallest number out.
    #[inline]
    pub fn take_first(&mut self) -> Option<u32> {
        let first = self.first()?;
        self.remove_first(first);
        Some(first)
    }

    /// Takes out the smallest number, as [`Self::first`] has told it.
    #[inline]
    pub fn remove_first(&mut self, first: u32) {
        let word = (first / 64) as usize;
        debug_assert_eq!(self.first(), Some(first));
        self.low = first / 64;
        self.words[word] &= self.words[word].wrapping_sub(1);
        if self.words[word] == 0 {
            self.summary[word / 64] &= !(1 << (word % 64));
        }
        self.count -= 1;
    }

    /// The first word that is not zero, of a set that is not empty.
    #[inline]
    fn first_word(&self) -> u32 {
        if self.words[self.low as usize] == 0 { self.next_word() } else { self.low }
    }

    /// The first word that is not zero behind `low`.
    fn next_word(&self) -> u32 {
        let (block, low) = (self.low / 64, self.low % 64);
        let here = self.summary[block as usize] & (u64::MAX << low);
        if here != 0 {
            return block * 64 + here.trailing_zeros();
        }
        let behind = (block + 1..).zip(&self.summary[block as usize + 1..]);
        let mut filled = behind.filter(|(_, summary)| **summary != 0);
        let (block, summary) = filled.next().expect("a set that counts some has them");
        block * 64 + summary.trailing_zeros()
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
            match state & 7 {
                0..4 => assert_eq!(bits.insert(n), set.insert(n)),
                4..6 => assert_eq!(bits.remove(n), set.remove(&n)),
                _ => assert_eq!(bits.take_first(), set.pop_first()),
            }
            assert_eq!(bits.first(), set.first().copied());
            assert_eq!(bits.len(), set.len());
        }
        assert!(bits.iter().eq(set.iter().copied()));
        assert!(std::iter::from_fn(|| bits.take_first()).eq(set));
        assert!(bits.is_empty() && bits == Bits::new(10_000));
    }

    #[test]
    fn filling_adds_all_below() {
        for size in [1, 63, 64, 65, 4_095, 4_096, 4_097, 9_000] {
            for end in [0, 1, size / 2, size - 1, size] {
                let (mut filled, mut added) = (Bits::new(size), Bits::new(size));
                let last = u32::try_from(size - 1).unwrap();
                let _ = (filled.insert(last), added.insert(last));
                filled.fill(end);
                for n in 0..u32::try_from(end).unwrap() {
                    added.insert(n);
                }
                assert_eq!(filled, added, "{end} of {size}");
                assert_eq!(filled.len(), added.len());
                assert!(std::iter::from_fn(|| filled.take_first()).eq(added.iter()));
            }
        }
    }
}
