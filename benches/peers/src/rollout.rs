//! The rollout itself, the same for all peers: who is updated when. What differs between them is
//! only how an engine is told to wait.

use fleetsim::quantiles::{Distribution, Quantiles};
use fleetsim::sim::draw::{Luck, Purpose, happens};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution as _, LogNormal};

use crate::workload::{FAILS, MEDIAN, SEED, SIGMA, STAGES, WAIT, at_once};

/// The shortest update in milliseconds, as in fleetsim.
const SHORTEST: i64 = 1_000;

/// Where durations and failures come from.
pub enum Draws {
    /// From fleetsim's own luck and tables, so that all engines take the same.
    Shared { luck: Luck, durations: Quantiles },
    /// From the distributions that the users of Rust's engines have: a normal number by ziggurat and
    /// an exponential of it.
    Own(LogNormal<f64>),
}

impl Draws {
    pub fn shared() -> Self {
        let duration = Distribution::lognormal(f64::from(MEDIAN) * 1_000.0, SIGMA);
        let durations = Quantiles::new(&duration.expect("sound parameters"));
        Self::Shared { luck: Luck::new(SEED), durations }
    }

    pub fn own() -> Self {
        let mu = (f64::from(MEDIAN) * 1_000.0).ln();
        Self::Own(LogNormal::new(mu, SIGMA).expect("sound parameters"))
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
        self.durations.clear();
        self.fails.clear();
        match draws {
            Draws::Shared { luck, durations } => {
                let sequence =
                    |purpose| luck.sequence(replication, purpose, 0).take(self.members as usize);
                let takes = |bits| durations.millis(bits, SHORTEST).cast_unsigned();
                self.durations.extend(sequence(Purpose::Duration).map(takes));
                self.fails.extend(sequence(Purpose::Failure).map(|bits| happens(bits, FAILS)));
            }
            Draws::Own(lognormal) => {
                let mut generator = SmallRng::seed_from_u64(u64::from(replication));
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "days")]
                let takes = |millis: f64| (millis.round() as u64).max(SHORTEST.cast_unsigned());
                for _ in 0..self.members {
                    self.durations.push(takes(lognormal.sample(&mut generator)));
                    self.fails.push(generator.random_bool(FAILS));
                }
            }
        }
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
