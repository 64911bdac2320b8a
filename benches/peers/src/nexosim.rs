//! nexosim 1.0.0, on one thread. `one`: a model that schedules every end on itself, the least work
//! that its interface allows. `two`: a controller and a fleet that send each other messages.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, Output};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

use crate::rollout::{Next, Rollout};

/// Messages that wait in a mailbox: all that can be under way at once.
const CAPACITY: usize = 1_024;

/// Where the rollout comes back to.
type Slot = Arc<Mutex<Option<Box<Rollout>>>>;

/// Models can be saved, and these never are.
#[derive(Serialize, Deserialize)]
pub struct Whole {
    #[serde(skip)]
    rollout: Option<Box<Rollout>>,
    #[serde(skip)]
    slot: Slot,
}

impl Whole {
    fn rollout(&mut self) -> &mut Rollout {
        self.rollout.as_mut().expect("it is there until it is over")
    }

    fn over(&mut self, at: MonotonicTime) {
        let mut rollout = self.rollout.take().expect("it ends once");
        rollout.end = millis(at);
        *self.slot.lock().expect("nobody panics") = Some(rollout);
    }
}

fn millis(at: MonotonicTime) -> u64 {
    at.as_secs().cast_unsigned() * 1_000 + u64::from(at.subsec_nanos() / 1_000_000)
}

#[Model]
impl Whole {
    #[nexosim(schedulable)]
    fn stage(&mut self, _: (), cx: &Context<Self>) {
        for _ in 0..self.rollout().begin_stage() {
            let (member, takes) = self.rollout().begin();
            let takes = Duration::from_millis(takes);
            cx.schedule_event(takes, schedulable!(Self::ended), member).expect("in the future");
        }
    }

    #[nexosim(schedulable)]
    fn ended(&mut self, member: u32, cx: &Context<Self>) {
        match self.rollout().ended(member) {
            Next::Update(member, takes) => {
                let takes = Duration::from_millis(takes);
                cx.schedule_event(takes, schedulable!(Self::ended), member).expect("in the future");
            }
            Next::Nothing => {}
            Next::Stage(wait) => {
                let wait = Duration::from_millis(wait);
                cx.schedule_event(wait, schedulable!(Self::stage), ()).expect("in the future");
            }
            Next::Over => self.over(cx.time()),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub struct Controller {
    whole: Whole,
    update: Output<(u32, u64)>,
}

#[Model]
impl Controller {
    #[nexosim(schedulable)]
    async fn stage(&mut self) {
        for _ in 0..self.whole.rollout().begin_stage() {
            let next = self.whole.rollout().begin();
            self.update.send(next).await;
        }
    }

    pub async fn ended(&mut self, member: u32, cx: &Context<Self>) {
        match self.whole.rollout().ended(member) {
            Next::Update(member, takes) => self.update.send((member, takes)).await,
            Next::Nothing => {}
            Next::Stage(wait) => {
                let wait = Duration::from_millis(wait);
                cx.schedule_event(wait, schedulable!(Self::stage), ()).expect("in the future");
            }
            Next::Over => self.whole.over(cx.time()),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub struct Fleet {
    ended: Output<u32>,
}

#[Model]
impl Fleet {
    pub fn update(&mut self, (member, takes): (u32, u64), cx: &Context<Self>) {
        let takes = Duration::from_millis(takes);
        cx.schedule_event(takes, schedulable!(Self::end), member).expect("in the future");
    }

    #[nexosim(schedulable)]
    async fn end(&mut self, member: u32) {
        self.ended.send(member).await;
    }
}

pub fn one(rollout: Box<Rollout>) -> Box<Rollout> {
    let slot = Slot::default();
    let model = Whole { rollout: Some(rollout), slot: slot.clone() };
    let (mut bench, mailbox) = (SimInit::with_num_threads(1), Mailbox::new());
    let begin = EventSource::new().connect(Whole::stage, &mailbox).register(&mut bench);
    let bench = bench.add_model(model, mailbox, "whole");
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("the bench is sound");
    simulation.process_event(&begin, ()).expect("it begins");
    simulation.run().expect("it ends");
    back(&slot)
}

pub fn two(rollout: Box<Rollout>) -> Box<Rollout> {
    let slot = Slot::default();
    let whole = Whole { rollout: Some(rollout), slot: slot.clone() };
    let mut controller = Controller { whole, update: Output::default() };
    let mut fleet = Fleet { ended: Output::default() };
    let to_controller = Mailbox::with_capacity(CAPACITY);
    let to_fleet = Mailbox::with_capacity(CAPACITY);
    controller.update.connect(Fleet::update, &to_fleet);
    fleet.ended.connect(Controller::ended, &to_controller);
    let mut bench = SimInit::with_num_threads(1);
    let begin = EventSource::new().connect(Controller::stage, &to_controller).register(&mut bench);
    let bench = bench
        .add_model(controller, to_controller, "controller")
        .add_model(fleet, to_fleet, "fleet");
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("the bench is sound");
    simulation.process_event(&begin, ()).expect("it begins");
    simulation.run().expect("it ends");
    back(&slot)
}

fn back(slot: &Slot) -> Box<Rollout> {
    slot.lock().expect("nobody panics").take().expect("the rollout is over")
}
