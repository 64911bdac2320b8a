//! The script's actions as the loop takes them.

use std::collections::BTreeMap;
use std::fmt;

use super::World;
use crate::fleet::PowerState;
use crate::ids::MemberId;
use crate::scheduler::{Action, Event};
use crate::sim::model::Setting;
use crate::sim::queue::Happening;
use crate::sim::script::ScriptedVerb;
use crate::time::Timestamp;

/// One step of the script.
#[derive(Debug)]
pub(in crate::sim) struct ScriptedStep<'s> {
    pub(super) at: Timestamp,
    /// The run that it is about; `None`: the scenario's `update`.
    pub(in crate::sim) run: Option<&'s str>,
    pub(in crate::sim) step: Step<'s>,
}

#[derive(Debug)]
pub(in crate::sim) enum Step<'s> {
    Act(Action<'s>),
    /// Generate the run of the profile of this number (A8).
    Generate(usize),
    Power(MemberId, PowerState),
    /// A member comes or goes, or gets a pool.
    Moves(Happening),
}

impl<'s> World<'s> {
    pub(in crate::sim) fn scripted(&self, number: u32) -> Event<'_> {
        match &self.actions[number as usize].step {
            Step::Act(action) => Event::Act(*action),
            Step::Power(member, power) => Event::PowerState(*member, *power),
            Step::Generate(_) => unreachable!("only profiles generate runs"),
            Step::Moves(_) => unreachable!("that is news of the world"),
        }
    }

    pub(in crate::sim) fn scripted_step(&self, number: u32) -> &ScriptedStep<'s> {
        &self.actions[number as usize]
    }
}

/// An action, as the script writes it, and the run of which it was asked, if it is not `update`.
pub(in crate::sim) struct Asked<'a> {
    pub(in crate::sim) event: Event<'a>,
    pub(in crate::sim) run: Option<&'a str>,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event {
            Event::Act(Action::Approve(path)) => write!(f, "approve {path}"),
            Event::Act(Action::Complete(path)) => write!(f, "complete {path}"),
            Event::Act(Action::Stop) => f.write_str("stop"),
            Event::Act(Action::Start(_)) => f.write_str("start"),
            Event::Act(Action::Skip(target)) => write!(f, "skip {target}"),
            _ => f.write_str("nothing"),
        }?;
        self.run.map_or(Ok(()), |run| write!(f, " of {run}"))
    }
}

/// The script's steps, by time, then by file (R-K8).
pub(super) fn scripted_actions(setting: Setting<'_>) -> Vec<ScriptedStep<'_>> {
    let (mut steps, mut added) = (Vec::new(), BTreeMap::<MemberId, u16>::new());
    for action in setting.script.actions.iter().flatten() {
        let at = setting.start + action.at;
        let run = action.run.as_deref();
        let mut push = |step| steps.push(ScriptedStep { at, run, step });
        match &action.action {
            ScriptedVerb::Approve(path) => push(Step::Act(Action::Approve(path))),
            ScriptedVerb::Complete(path) => push(Step::Act(Action::Complete(path))),
            ScriptedVerb::Stop => push(Step::Act(Action::Stop)),
            ScriptedVerb::Start(kind) => push(Step::Act(Action::Start(*kind))),
            ScriptedVerb::Skip(targets) => {
                for target in targets {
                    push(Step::Act(Action::Skip(target)));
                }
            }
            ScriptedVerb::Generate(profile) => push(Step::Generate(*profile)),
            ScriptedVerb::AddPool(member, _) => {
                let number = added.entry(*member).or_default();
                push(Step::Moves(Happening::PoolAdded(*member, *number)));
                *number += 1;
            }
            ScriptedVerb::Power(member, power) => push(Step::Power(*member, *power)),
            ScriptedVerb::Leave(member) => push(Step::Moves(Happening::Leaves(*member))),
            ScriptedVerb::Join(member) => push(Step::Moves(Happening::Joins(*member))),
        }
    }
    steps.sort_by_key(|step| step.at);
    steps
}
