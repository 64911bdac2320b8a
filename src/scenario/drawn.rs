//! Which models of the world something of a scenario looks at: the others' numbers do not matter.

use super::Scenario;
use crate::fleet::{Member, OsType};
use crate::scheduler::auto_upgrade::Channel;
use crate::scheduler::{Gate, GateKind, Stage, Strategy, Upgrade};

impl Scenario {
    /// Whether somebody is in the run of `update`: nobody is where the scenario is about profiles,
    /// or about configuration changes alone.
    pub fn updates_somebody(&self) -> bool {
        let chooses = |stage: &Stage| match &stage.member_selector {
            Some(of) => self.fleet.members.iter().any(|member| of.matches(&member.labels)),
            None => true,
        };
        let mut stages = self.strategies.iter().flat_map(|strategy| &strategy.stages);
        self.has_update && stages.any(chooses)
    }

    /// Whether there are update runs: of `update`, or of profiles.
    pub fn has_runs(&self) -> bool {
        self.updates_somebody() || !self.profiles.is_empty()
    }

    /// Whether something takes as long as `world.durations` says: updates, if no script says it,
    /// configuration changes, and what members do by themselves.
    pub fn draws_durations(&self) -> bool {
        let scripted = self.script.updates.is_some();
        !scripted || !self.campaigns.is_empty() || self.has_own_upgrades()
    }

    /// Whether some member upgrades itself (U10).
    pub fn has_own_upgrades(&self) -> bool {
        let any = |member: &Member| member.own_upgrades.any();
        self.world.own_upgrades.is_some() && self.fleet.members.iter().any(any)
    }

    /// Whether the update, a profile or a member itself moves Kubernetes versions.
    pub fn moves_kubernetes(&self) -> bool {
        let update = self.updates_somebody() && self.update.upgrade != Upgrade::NodeImageOnly;
        let follows = |channel| !matches!(channel, Channel::NodeImage | Channel::SecurityPatch);
        let own = |member: &Member| member.own_upgrades.kubernetes.is_some();
        update
            || self.profiles.iter().any(|profile| follows(profile.channel))
            || (self.world.own_upgrades.is_some() && self.fleet.members.iter().any(own))
    }

    /// Whether there are Windows pools, or can be some.
    pub fn has_windows(&self) -> bool {
        self.setting().pools().any(|pool| pool.os_type == OsType::Windows)
    }

    /// Whether a strategy has a gate that somebody approves (G5).
    pub fn asks_for_approvals(&self) -> bool {
        let of_profiles = self.profiles.iter().map(|profile| &profile.strategy);
        self.strategies
            .iter()
            .chain(of_profiles)
            .flat_map(gates)
            .any(|gate| matches!(gate.kind, GateKind::Approval))
    }

    /// Whether updates can be live patches, whose times the world says (A2).
    pub fn patches_live(&self) -> bool {
        let mut profiles = self.profiles.iter();
        self.script.updates.is_none() && profiles.any(|of| of.channel == Channel::SecurityPatch)
    }
}

fn gates(strategy: &Strategy) -> impl Iterator<Item = &Gate> {
    strategy.stages.iter().flat_map(|stage| {
        let of_stage = stage.before_gates.iter().chain(&stage.after_gates);
        let groups = stage.groups.iter();
        of_stage.chain(groups.flat_map(|of| of.before_gates.iter().chain(&of.after_gates)))
    })
}
