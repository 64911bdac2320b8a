//! desim 0.4.0: as many worker coroutines as there are updates at once; each takes the next member
//! when it is free. A store of tokens lets them begin a stage.

use std::cell::RefCell;
use std::rc::Rc;

use desim::prelude::{Effect, EndCondition, SimContext, Simulation};
use desim::resources::SimpleStore;

use crate::rollout::{Next, Rollout};
use crate::workload::{STAGES, at_once};

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a year are exact")]
fn time(millis: u64) -> f64 {
    millis as f64
}

pub fn workers(rollout: Box<Rollout>) -> Box<Rollout> {
    let members = u32::try_from(rollout.drawn().0.len()).expect("members fit u32");
    let workers = at_once(members).min(members / STAGES);
    let rollout = Rc::new(RefCell::new(rollout));
    let mut simulation: Simulation<Effect> = Simulation::new();
    let tokens = simulation.create_store(Box::new(SimpleStore::new(usize::MAX)));
    let shared = rollout.clone();
    let first = simulation.create_process(Box::new(
        #[coroutine]
        move |_: SimContext<Effect>| {
            let updates = shared.borrow_mut().begin_stage();
            for _ in 0..updates {
                yield Effect::Push(tokens);
            }
        },
    ));
    simulation.schedule_event(0.0, first, Effect::Wait);
    for _ in 0..workers {
        let shared = rollout.clone();
        let worker = simulation.create_process(Box::new(
            #[coroutine]
            move |_: SimContext<Effect>| {
                loop {
                    yield Effect::Pull(tokens);
                    let (mut member, mut takes) = shared.borrow_mut().begin();
                    loop {
                        let context = yield Effect::TimeOut(time(takes));
                        let next = shared.borrow_mut().ended(member);
                        match next {
                            Next::Update(other, long) => (member, takes) = (other, long),
                            Next::Nothing => break,
                            Next::Stage(wait) => {
                                yield Effect::TimeOut(time(wait));
                                let updates = shared.borrow_mut().begin_stage();
                                for _ in 0..updates {
                                    yield Effect::Push(tokens);
                                }
                                break;
                            }
                            Next::Over => {
                                #[expect(clippy::cast_possible_truncation, reason = "whole")]
                                #[expect(clippy::cast_sign_loss, reason = "after the start")]
                                let end = context.time() as u64;
                                shared.borrow_mut().end = end;
                                break;
                            }
                        }
                    }
                }
            },
        ));
        simulation.schedule_event(0.0, worker, Effect::Wait);
    }
    drop(simulation.run(EndCondition::NoEvents));
    Rc::into_inner(rollout).expect("all workers are gone").into_inner()
}
