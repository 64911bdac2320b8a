//! Numbers that are asked for one by one.
//!
//! The generator makes a block of neighbours at once. It is kept for those that ask next: members
//! whose updates end at about the same time are neighbours, as a rule.

use std::cell::RefCell;

use super::{BLOCK, Luck, Purpose, stream_of};

thread_local! {
    /// What [`Luck::at`] has made lately. Numbers depend on nothing but their places, so that
    /// nobody can tell whether they were kept.
    static NEAR: RefCell<Near> = const { RefCell::new(Near { blocks: Vec::new() }) };
}

struct Near {
    /// Each at the place that its name comes to; empty until the first is made.
    blocks: Vec<Block>,
}

#[derive(Clone)]
struct Block {
    luck: Luck,
    place: (u32, Purpose, u16),
    /// Which block of its sequence it is; `None`: nothing was made yet.
    number: Option<u32>,
    numbers: [u64; BLOCK],
}

/// Numbers in a block.
#[expect(clippy::cast_possible_truncation, reason = "it is 32")]
const NUMBERS: u32 = BLOCK as u32;
/// How many blocks are kept, a power of two.
const KEPT: usize = 256;

/// The number of a place.
pub(super) fn number(luck: &Luck, place: (u32, Purpose, u16), index: u32) -> u64 {
    NEAR.with_borrow_mut(|near| near.number(luck, place, index))
}

impl Near {
    fn number(&mut self, luck: &Luck, place: (u32, Purpose, u16), index: u32) -> u64 {
        if self.blocks.is_empty() {
            let none = Block { luck: *luck, place, number: None, numbers: [0; BLOCK] };
            self.blocks.resize(KEPT, none);
        }
        let (block, number) = (index / NUMBERS, (index % NUMBERS) as usize);
        let kept = &mut self.blocks[slot(luck, place, block)];
        if (kept.number, kept.place, &kept.luck) != (Some(block), place, luck) {
            let (replication, purpose, attempt) = place;
            let mut sequence = luck.sequence(replication, purpose, attempt);
            sequence.seek(block * NUMBERS);
            sequence.fill(&mut kept.numbers);
            (kept.number, kept.place, kept.luck) = (Some(block), place, *luck);
        }
        kept.numbers[number]
    }
}

/// Where a block is kept; blocks of one sequence lie side by side.
fn slot(luck: &Luck, (replication, purpose, attempt): (u32, Purpose, u16), block: u32) -> usize {
    let words = luck.key.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let stream = stream_of(replication, purpose as u16, attempt);
    // The digits of the golden ratio.
    let mix =
        |mixed: u64, word: u64| (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let first = words.fold(stream, mix);
    usize::try_from(first.wrapping_add(u64::from(block)) % KEPT as u64).expect("few are kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_what_is_kept_is_what_is_made() {
        let mut luck = Luck::new(7).sequence(0, Purpose::Failure, 0);
        let lucks =
            [Luck::new(7), Luck::new(8), Luck::new(7).of_run(0, 1), Luck::new(7).of_run(1, 0)];
        // Far more blocks than are kept, and each asked for several times.
        for _ in 0..40_000 {
            let bits = luck.draw();
            let of = lucks[(bits & 3) as usize];
            let purpose = [Purpose::Duration, Purpose::Susceptible][(bits >> 2 & 1) as usize];
            let (attempt, replication) = ((bits >> 3 & 1) as u16, (bits >> 4 & 1) as u32);
            let index = (bits >> 32) as u32 % if bits >> 5 & 1 == 0 { 500 } else { u32::MAX };
            let mut made = of.sequence(replication, purpose, attempt);
            made.seek(index);
            assert_eq!(of.at(replication, purpose, attempt, index), made.draw());
        }
    }
}
