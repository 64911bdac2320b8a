//! The rollout itself, the same for all peers: who is updated when. What differs between them is
//! only how an engine is told to wait.

use fleetsim::quantiles::{Distribution, Quantiles};
use fleetsim::sim::draw::{Luck, Purpose, happens};

use crate::workload::{FAILS, MEDIAN, SEED, SIGMA, STAGES, WAIT, at_once};

/// The shortest update in milliseconds, as in fleetsim.
const SHORTEST: i64 = 1_000;

/// The luck of all engines that take the same: fleetsim's own.
pub struct Draws {
    luck: Luck,
    durations: Quantiles,
}

impl Draws {
    pub fn new() -> Self {
        let duration = Distribution::lognormal(f64::from(MEDIAN) * 1_000.0, SIGMA);
        let durations = Quantiles::new(&duration.expect("sound parameters"));
        Self { luck: Luck::new(SEED), durations }
    }
}

/// What comes after the end of an update.
pub enum Next {
    /// This member begins, and takes this many milliseconds.
    Update(u32, u64),
    /// Nothing: others are still being updated.
    Nothing,
    /// The next stage, after this many milliseconds.
    Stage(u64),
    /// The rollout is over.
    Over,
}

/// One rollout; reused from replication to replication.
#[derive(Default)]
pub struct Rollout {
    durations: Vec<u64>,
    fails: Vec<bool>,
    members: u32,
    stage: u32,
    /// The next member to begin.
    next: u32,
    running: u32,
    failed_here: u32,
    /// Members that failed.
    pub failed: u32,
    /// When the rollout ended, in milliseconds from the start.
    pub end: u64,
}

impl Rollout {
    pub fn new(members: u32) -> Self {
        Self { members, ..Self::default() }
    }

    /// Draws a replication and goes back to the start.
    pub fn draw(&mut self, draws: &Draws, replication: u32) {
        let Draws { luck, durations } = draws;
        let sequence = |purpose| luck.sequence(replication, purpose, 0).take(self.members as usize);
        self.durations.clear();
        let takes = |bits| durations.millis(bits, SHORTEST).cast_unsigned();
        self.durations.extend(sequence(Purpose::Duration).map(takes));
        self.fails.clear();
        self.fails.extend(sequence(Purpose::Failure).map(|bits| happens(bits, FAILS)));
        (self.stage, self.next, self.running) = (0, 0, 0);
        (self.failed_here, self.failed, self.end) = (0, 0, 0);
    }

    /// The drawn durations in milliseconds, and who fails.
    pub fn drawn(&self) -> (&[u64], &[bool]) {
        (&self.durations, &self.fails)
    }

    /// Begins the next stage; the members to begin with and their durations come from
    /// [`Self::begin`], as often as this says.
    pub fn begin_stage(&mut self) -> u32 {
        self.stage += 1;
        self.failed_here = 0;
        self.running = at_once(self.members).min(self.members / STAGES);
        self.running
    }

    /// The next member of the stage and how long its update takes.
    pub fn begin(&mut self) -> (u32, u64) {
        let member = self.next;
        self.next += 1;
        (member, self.durations[member as usize])
    }

    /// A member's update has ended.
    pub fn ended(&mut self, member: u32) -> Next {
        self.failed_here += u32::from(self.fails[member as usize]);
        if self.next < self.stage * (self.members / STAGES) {
            let (member, takes) = self.begin();
            return Next::Update(member, takes);
        }
        self.running -= 1;
        if self.running > 0 {
            return Next::Nothing;
        }
        self.failed += self.failed_here;
        let stopped = self.failed_here * 20 > self.members / STAGES;
        if stopped || self.stage == STAGES {
            Next::Over
        } else {
            Next::Stage(u64::from(WAIT) * 1_000)
        }
    }
}
