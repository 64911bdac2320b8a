//! Members of the plan that are not in the run: those that are not in the fleet when it is made.
//!
//! A plan of a profile's runs is laid over all members that the fleet ever has. The members of a
//! run are fixed when it is made (S9): who has not joined by then, or has left, is in no group of
//! it, takes no part in limits and shares, and is nobody's business (R-I21).

use std::borrow::Cow;

use crate::bits::Bits;
use crate::ids::{Column, FamilyId, GroupId, MemberId};
use crate::scheduler::State;
use crate::scheduler::member::MemberRow;
use crate::scheduler::run::Scheduler;

impl Scheduler<'_> {
    /// Leaves members out of the run, before it starts.
    ///
    /// # Panics
    /// If the run has been started.
    pub fn leave_out(&mut self, absent: &Bits) {
        assert!(self.run.state == State::NotStarted, "the members of a run are fixed");
        let plan = self.plan;
        self.absent.clone_from(absent);
        if absent.is_empty() {
            return;
        }
        for id in plan.stages.ids() {
            let stage = &plan.stages[id];
            let groups = stage.groups.clone().map(GroupId);
            let sizes = groups.clone().map(|group| {
                let there = self.members_of(group).count();
                u32::try_from(there).expect("members fit u32")
            });
            let sizes: Vec<u32> = sizes.collect();
            let limits = stage.asked.stage(sizes.iter().sum());
            self.stages[id].limits = limits;
            for (group, size) in groups.zip(sizes) {
                let own = plan.groups[group].asked.group(size, limits.max_concurrency);
                (self.groups[group].limits, self.groups[group].open_members) = (own, size);
            }
        }
        for id in plan.members().filter(|id| absent.contains(id.0)) {
            // They have ended before anything begins, so that nobody looks at them.
            self.members[id].go((State::Skipped, None), None, self.since, self.since);
        }
    }

    /// Whether a member is in the run.
    pub fn is_in_run(&self, id: MemberId) -> bool {
        let absent = !self.absent.is_empty() && self.absent.contains(id.0);
        !absent && self.plan.places[id].is_some()
    }

    /// The members of the run that are in a group, in the fleet's order.
    pub fn members_of(&self, id: GroupId) -> impl Iterator<Item = MemberId> + '_ {
        self.plan.groups[id].members.iter().copied().filter(|id| self.is_in_run(*id))
    }

    /// How many members of the run are in each state, in the order of [`State::ALL`].
    pub fn members_by_state(&self) -> [u32; State::ALL.len()] {
        let mut by_state = [0; State::ALL.len()];
        // Counted eight bits a state, so that no count waits for the one before.
        for rows in self.members.as_slice().chunks(255) {
            let one = |row: &MemberRow| 1_u64 << (8 * row.state() as u32);
            let counts = rows.iter().map(one).sum::<u64>().to_le_bytes();
            for (count, more) in by_state.iter_mut().zip(counts) {
                *count += u32::from(more);
            }
        }
        // The fleet's other members are not in the plan, where they stay as they were.
        let others = self.members.len() - self.plan.size as usize;
        by_state[State::NotStarted as usize] -= u32::try_from(others).expect("members fit u32");
        by_state[State::Skipped as usize] -= self.absent_members();
        by_state
    }

    /// Members of the plan that are not in the run.
    pub fn absent_members(&self) -> u32 {
        self.plan.size - self.size()
    }

    /// Members of the run.
    pub fn size(&self) -> u32 {
        self.stages.iter().map(|stage| stage.limits.size).sum()
    }

    /// For each family, the regions where the run has pools of it when it starts (R-I5): those of
    /// the plan, for a run that is there from the beginning.
    pub(super) fn family_regions(&self) -> Cow<'_, Column<FamilyId, Bits>> {
        let plan = self.plan;
        if plan.profile.is_none() {
            return Cow::Borrowed(&plan.family_regions);
        }
        let nowhere = || Bits::new(plan.fleet.regions.len());
        let mut regions: Column<FamilyId, Bits> =
            plan.fleet.families.iter().map(|_| nowhere()).collect();
        for id in plan.members().filter(|id| self.is_in_run(*id)) {
            for image in self.images(id) {
                regions[image.family].insert(plan.regions[id].0);
            }
        }
        Cow::Owned(regions)
    }
}
