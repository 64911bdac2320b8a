//! simcore 0.1.0, formerly dslab-core. `one`: a component that sends every end to itself. `many`: a
//! component for each member, which is asked to update and reports its end.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Id, Simulation, SimulationContext, cast};

use crate::rollout::{Next, Rollout};

#[derive(Clone, Serialize)]
struct Stage {}

#[derive(Clone, Serialize)]
struct Update {
    takes: u64,
}

#[derive(Clone, Serialize)]
struct Ended {
    member: u32,
}

/// Decides; asks components where there are some.
struct Controller {
    context: SimulationContext,
    rollout: Box<Rollout>,
    members: Vec<Id>,
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a year are exact")]
fn time(millis: u64) -> f64 {
    millis as f64
}

impl Controller {
    fn update(&self, (member, takes): (u32, u64)) {
        match self.members.get(member as usize) {
            Some(id) => self.context.emit_now(Update { takes }, *id),
            None => self.context.emit_self(Ended { member }, time(takes)),
        };
    }

    fn ended(&mut self, member: u32) {
        match self.rollout.ended(member) {
            Next::Update(member, takes) => self.update((member, takes)),
            Next::Nothing => {}
            Next::Stage(wait) => {
                self.context.emit_self(Stage {}, time(wait));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
            Next::Over => self.rollout.end = self.context.time() as u64,
        }
    }
}

impl EventHandler for Controller {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Ended { member } => {
                self.ended(member);
            }
            Stage {} => {
                for _ in 0..self.rollout.begin_stage() {
                    let next = self.rollout.begin();
                    self.update(next);
                }
            }
        });
    }
}

/// A member of its own.
struct Member {
    context: SimulationContext,
    number: u32,
    controller: Id,
}

impl EventHandler for Member {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Update { takes } => {
                self.context.emit_self(Ended { member: self.number }, time(takes));
            }
            Ended { member } => {
                self.context.emit_now(Ended { member }, self.controller);
            }
        });
    }
}

pub fn one(rollout: Box<Rollout>) -> Box<Rollout> {
    simulate(rollout, 0)
}

pub fn many(rollout: Box<Rollout>) -> Box<Rollout> {
    let members = u32::try_from(rollout.drawn().0.len()).expect("members fit u32");
    simulate(rollout, members)
}

fn simulate(rollout: Box<Rollout>, members: u32) -> Box<Rollout> {
    let mut simulation = Simulation::new(1);
    let context = simulation.create_context("controller");
    let id = context.id();
    let member = |number: u32| {
        let name = number.to_string();
        let context = simulation.create_context(&name);
        let member = Member { context, number, controller: id };
        simulation.add_handler(&name, Rc::new(RefCell::new(member)))
    };
    let members = (0..members).map(member).collect();
    let controller = Rc::new(RefCell::new(Controller { context, rollout, members }));
    simulation.add_handler("controller", controller.clone());
    controller.borrow().context.emit_self_now(Stage {});
    simulation.step_until_no_events();
    let mut controller = controller.borrow_mut();
    std::mem::take(&mut controller.rollout)
}
