//! Index newtypes and the columns they index: a `StageId` cannot index members.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A position in the columns of its own kind.
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// The id at this position.
    fn new(position: usize) -> Self;
    /// The position.
    fn index(self) -> usize;
}

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl Id for $name {
            fn new(position: usize) -> Self {
                Self(u32::try_from(position).expect("fewer than 2^32 of a kind"))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type! {
    /// A member cluster: its position in the fleet's order (members, populations, files: R-H6).
    MemberId
}
index_type! {
    /// A stage of a plan, in the strategy's order.
    StageId
}
index_type! {
    /// A group of a plan; the groups of one stage are neighbours, in the strategy's order.
    GroupId
}
index_type! {
    /// A gate of a plan.
    GateId
}
index_type! {
    /// A region of the fleet or of its releases.
    RegionId
}
index_type! {
    /// An image family, such as `AKSUbuntu-2204gen2containerd`.
    FamilyId
}
index_type! {
    /// A kind of members of a run: those that are and run the same.
    KindId
}
index_type! {
    /// A distinct maintenance window; members with equal schedules share one.
    WindowId
}

/// A vector that only its own kind of id can index.
#[derive(PartialEq, Eq)]
pub struct Column<I, T>(Vec<T>, PhantomData<fn(I)>);

impl<I, T: Clone> Clone for Column<I, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }

    /// Keeps the allocation, which a derived one would not.
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}

impl<I: Id, T> Column<I, T> {
    /// An empty column.
    pub const fn new() -> Self {
        Self(Vec::new(), PhantomData)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a value and returns its id.
    pub fn push(&mut self, value: T) -> I {
        self.0.push(value);
        I::new(self.0.len() - 1)
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.0.len()).map(I::new)
    }

    /// All values, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// All values, in order, to change.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// Ids and values, in order.
    pub fn iter_with_ids(&self) -> impl Iterator<Item = (I, &T)> {
        self.0.iter().enumerate().map(|(position, value)| (I::new(position), value))
    }

    /// The values as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The values as a slice, to change.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    /// Makes the column this long: what is new gets this value.
    pub fn resize(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        self.0.resize(len, value);
    }

    /// Makes the column no longer than this.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Empties the column and fills it with `len` copies, keeping its allocation.
    pub fn refill(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        self.0.clear();
        self.0.resize(len, value);
    }
}

impl<I: Id, T> Default for Column<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for Column<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<I: Id, T> Index<I> for Column<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.0[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Column<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.0[id.index()]
    }
}

impl<'a, I: Id, T> IntoIterator for &'a mut Column<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<I: Id, T> FromIterator<T> for Column<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(values: It) -> Self {
        Self(values.into_iter().collect(), PhantomData)
    }
}

impl<'a, I: Id, T> IntoIterator for &'a Column<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
