//! How far behind members are of what auto-upgrade profiles aim at, by region and by label.
//!
//! A member is behind a profile from the first instant at which something newer than what it runs
//! is both the profile's target and in the member's region (staleness counts from the arrival in
//! the region). Nothing is sampled: between two changes the days behind grow by the clock, so
//! their integral is a difference of squares, exact in integers.

mod course;

use crate::fleet::{Fleet, KubernetesVersion, NodeImage};
use crate::ids::{Column, Id, KindId, MemberId, RegionId};
use crate::scheduler::auto_upgrade::Target;
use crate::scheduler::{Released, Scheduler};
use crate::sim::Simulation;
use crate::sim::added::{Added, below_since};
use crate::sim::releases::Arrivals;
use crate::time::{Span, Timestamp};
use course::Course;
pub use course::STEPS;

/// Label keys with more values than this are names rather than groups.
const MOST_VALUES: usize = 12;

/// The members that are looked at together: all, those of each region, those of each value of each
/// label that has a few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohorts {
    /// What they have in common: `all`, `region` or a label's key; and its value.
    pub names: Vec<(String, String)>,
    /// How many members each has.
    pub sizes: Vec<u32>,
    /// Those that each member is in.
    of: Column<MemberId, Vec<u16>>,
}

impl Cohorts {
    /// The cohorts of a fleet.
    pub fn of(fleet: &Fleet) -> Self {
        let mut names = vec![("all".to_owned(), String::new())];
        let mut regions: Vec<&str> =
            fleet.members.iter().map(|m| &*fleet.regions[m.region]).collect();
        regions.sort_unstable();
        regions.dedup();
        names.extend(regions.into_iter().map(|name| ("region".to_owned(), name.to_owned())));
        let mut labels: Vec<(&String, &String)> =
            fleet.members.iter().flat_map(|member| &member.labels).collect();
        labels.sort_unstable();
        labels.dedup();
        for values in labels.chunk_by(|one, other| one.0 == other.0) {
            if (2..=MOST_VALUES).contains(&values.len()) {
                names.extend(values.iter().map(|(key, value)| ((*key).clone(), (*value).clone())));
            }
        }
        let mut sizes = vec![0; names.len()];
        let mut of = Column::new();
        for member in &fleet.members {
            let is_in = |(by, value): &(String, String)| match by.as_str() {
                "all" if value.is_empty() => true,
                "region" => *fleet.regions[member.region] == **value,
                key => member.labels.get(key) == Some(value),
            };
            let mine = (0_u16..).zip(&names).filter(|(_, name)| is_in(name));
            let mine: Vec<u16> = mine.map(|(number, _)| number).collect();
            for number in &mine {
                sizes[usize::from(*number)] += 1;
            }
            of.push(mine);
        }
        Self { names, sizes, of }
    }
}

/// How far behind one profile the members of one cohort were in a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Behind {
    /// Twice the time integral of the milliseconds behind, over all members.
    twice_integral: i128,
    /// Member-milliseconds in which they were behind at all.
    spent: i64,
    /// Member-milliseconds in which they were in the fleet.
    present: i64,
    /// The most that a member ever was.
    pub worst: Span,
    /// Members that fell behind and were never up to date again.
    pub never_caught_up: u32,
}

impl Behind {
    /// The mean over these members, as long as they were in the fleet, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "a mean of seconds")]
    pub fn mean_seconds(&self) -> f64 {
        let all = i128::from(self.present) * 2_000;
        if all == 0 { 0.0 } else { self.twice_integral as f64 / all as f64 }
    }

    /// The share of the time of these members in the fleet in which they were behind.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share(&self) -> f64 {
        if self.present == 0 { 0.0 } else { self.spent as f64 / self.present as f64 }
    }

    /// Joins what two replications, or two cohorts, came to.
    pub fn add(&mut self, other: &Self) {
        self.twice_integral += other.twice_integral;
        self.spent += other.spent;
        self.present += other.present;
        self.worst = self.worst.max(other.worst);
        self.never_caught_up += other.never_caught_up;
    }
}

/// A member beside one profile.
#[derive(Debug, Clone, Copy)]
struct Staleness {
    /// Since when, or from when on, something newer is there; the end of time: nothing is.
    newer: Timestamp,
    /// Up to when time has been counted.
    counted: Timestamp,
    /// From when to when the member is in the fleet.
    here: (Timestamp, Timestamp),
    /// Nothing counts as newer before: when it joined, of those that are not there from the start.
    not_before: Timestamp,
    twice_integral: i128,
    spent: i64,
    worst: i64,
    /// Whether it was up to date after it had been behind.
    caught_up: bool,
}

/// Something that became a profile's target.
#[derive(Debug, Clone, Copy)]
struct Aim {
    what: Released,
    /// From when on; the beginning of time for what was there before.
    since: Timestamp,
    release: u32,
}

/// What is known when something is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    arrivals: &'a Arrivals,
    /// Who observes for all runs.
    observer: &'a Scheduler<'a>,
    /// Pools that members have got since the start.
    added: &'a Added,
}

/// Keeps count, for all profiles and members.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// By profile, then member.
    members: Vec<Vec<Staleness>>,
    /// By profile.
    aims: Vec<Vec<Aim>>,
    /// By profile, then kind: from when on the members of a kind are behind, and behind which of
    /// the first so many aims.
    of_kinds: Vec<Vec<(usize, Timestamp)>>,
    /// Which kinds are older than what a profile has come to aim at; `None`: nobody has looked.
    older: Vec<Option<bool>>,
    /// By profile.
    courses: Vec<Course>,
    regions: Vec<RegionId>,
}

impl Watched {
    /// Nothing counted yet.
    pub(super) fn reset(
        &mut self,
        profiles: usize,
        fleet: &Fleet,
        (start, horizon): (Timestamp, Span),
    ) {
        let nothing = Staleness {
            newer: Timestamp::MAX,
            counted: start,
            here: (start, Timestamp::MAX),
            not_before: Timestamp::MIN,
            twice_integral: 0,
            spent: 0,
            worst: 0,
            caught_up: false,
        };
        self.members.resize_with(profiles, Vec::new);
        self.aims.resize_with(profiles, Vec::new);
        self.of_kinds.resize_with(profiles, Vec::new);
        self.of_kinds.iter_mut().for_each(Vec::clear);
        self.courses.clear();
        self.courses.resize(profiles, Course::new(start, horizon));
        for (members, aims) in self.members.iter_mut().zip(&mut self.aims) {
            members.clear();
            members.extend(fleet.members.iter().map(|member| Staleness {
                here: (if member.joins { Timestamp::MAX } else { start }, Timestamp::MAX),
                ..nothing
            }));
            aims.clear();
        }
        self.regions.clear();
        self.regions.extend(fleet.members.iter().map(|member| member.region));
    }

    /// A profile aims at something, from this instant on.
    pub(super) fn aim(
        &mut self,
        profile: usize,
        target: &Target,
        since: Timestamp,
        seen: Seen<'_>,
    ) {
        match target {
            Target::Kubernetes { version, .. } => {
                let what = Released::Kubernetes(*version);
                self.aim_at(profile, what, since, seen);
            }
            Target::SecurityPatch(patch) => {
                let what = Released::SecurityPatch(*patch);
                self.aim_at(profile, what, since, seen);
            }
            Target::NodeImages(images) => {
                for image in images {
                    let what = Released::NodeImage(*image);
                    self.aim_at(profile, what, since, seen);
                }
            }
        }
    }

    pub(super) fn aim_at(
        &mut self,
        profile: usize,
        what: Released,
        since: Timestamp,
        seen: Seen<'_>,
    ) {
        let Some(release) = seen.arrivals.find(what) else { return };
        if self.aims[profile].iter().any(|aim| aim.release == release) {
            return;
        }
        let aim = Aim { what, since, release };
        self.aims[profile].push(aim);
        self.older.clear();
        let some_have_grown = !seen.added.is_empty();
        for (id, member) in (0..).map(MemberId).zip(&mut self.members[profile]) {
            let region = self.regions[id.0 as usize];
            if !member.is_here() {
                continue;
            }
            if some_have_grown && seen.has_grown(id) {
                member.newer = member.newer.min(seen.behind_since(id, &aim, region));
                continue;
            }
            let older = at(&mut self.older, seen.observer.kind(id), None);
            if *older.get_or_insert_with(|| seen.below_since(id, what).is_some()) {
                member.newer = member.newer.min(seen.there(&aim, region));
            }
        }
    }

    /// A member runs something else from now on.
    pub(super) fn moved(&mut self, id: MemberId, now: Timestamp, seen: Seen<'_>) {
        let region = self.regions[id.0 as usize];
        let profiles = self.members.iter_mut().zip(&self.aims).zip(&mut self.of_kinds);
        for (((members, aims), of_kinds), course) in profiles.zip(&mut self.courses) {
            let member = &mut members[id.0 as usize];
            if !member.is_here() {
                continue;
            }
            member.count(now, course);
            let was_behind = member.newer <= now;
            member.newer = member.not_before.max(if seen.has_grown(id) {
                let newer = aims.iter().map(|aim| seen.behind_since(id, aim, region)).min();
                newer.unwrap_or(Timestamp::MAX)
            } else {
                // Members of a kind run the same, in the same region.
                let (looked, newer) = at(of_kinds, seen.observer.kind(id), (0, Timestamp::MAX));
                for aim in &aims[*looked..] {
                    *newer = seen.behind_since(id, aim, region).min(*newer);
                }
                *looked = aims.len();
                *newer
            });
            member.caught_up |= was_behind && member.newer > now;
        }
    }

    /// A member joins: from now on its time counts, and how far it is behind.
    pub(super) fn joined(&mut self, id: MemberId, now: Timestamp, seen: Seen<'_>) {
        for members in &mut self.members {
            let member = &mut members[id.0 as usize];
            (member.here, member.counted) = ((now, Timestamp::MAX), now);
            member.not_before = now;
        }
        self.moved(id, now, seen);
    }

    /// A member leaves: nothing of it counts any more.
    pub(super) fn left(&mut self, id: MemberId, now: Timestamp) {
        for (members, course) in self.members.iter_mut().zip(&mut self.courses) {
            let member = &mut members[id.0 as usize];
            if member.is_here() {
                member.count(now, course);
                (member.newer, member.here.1) = (Timestamp::MAX, now);
            }
        }
    }

    /// What it came to by the end: by profile, then cohort.
    pub(super) fn outcome(&mut self, cohorts: &Cohorts, end: Timestamp) -> Vec<Vec<Behind>> {
        let of_profile = |(members, course): (&mut Vec<Staleness>, &mut Course)| {
            let mut sums = vec![Behind::default(); cohorts.names.len()];
            for (member, mine) in members.iter_mut().zip(&cohorts.of) {
                member.count(end, course);
                let (joined, left) = member.here;
                let one = Behind {
                    present: (left.min(end) - joined.min(end)).as_millis(),
                    twice_integral: member.twice_integral,
                    spent: member.spent,
                    worst: Span::from_millis(member.worst),
                    never_caught_up: u32::from(member.newer <= end && !member.caught_up),
                };
                for cohort in mine {
                    sums[usize::from(*cohort)].add(&one);
                }
            }
            sums
        };
        self.members.iter_mut().zip(&mut self.courses).map(of_profile).collect()
    }

    /// How far behind members were as time went on, once [`Self::outcome`] has counted all: by
    /// profile, then step.
    pub(super) fn over_time(&self) -> Vec<Vec<u32>> {
        let of_profile = |(members, course): (&Vec<Staleness>, &Course)| {
            course.means(members.iter().map(|member| member.here))
        };
        self.members.iter().zip(&self.courses).map(of_profile).collect()
    }
}

impl Staleness {
    fn is_here(&self) -> bool {
        self.here.0 < Timestamp::MAX && self.here.1 == Timestamp::MAX
    }

    /// Counts the time up to now.
    fn count(&mut self, now: Timestamp, course: &mut Course) {
        let from = self.counted.max(self.newer);
        if from < now {
            let (first, last) = ((from - self.newer).as_millis(), (now - self.newer).as_millis());
            let square = |millis: i64| i128::from(millis) * i128::from(millis);
            self.twice_integral += square(last) - square(first);
            self.spent += last - first;
            self.worst = self.worst.max(last);
            course.add(self.newer, (from, now));
        }
        self.counted = now;
    }
}

/// What is kept of a kind; `none` at first.
fn at<T: Copy>(kept: &mut Vec<T>, kind: KindId, none: T) -> &mut T {
    if kept.len() <= kind.index() {
        kept.resize(kind.index() + 1, none);
    }
    &mut kept[kind.index()]
}

impl<'a> Seen<'a> {
    /// What a simulation shows now.
    pub(super) fn of(sim: &'a Simulation<'_>) -> Self {
        let Simulation { world, truth, scheduler, .. } = sim;
        Self { arrivals: truth.arrivals(world), observer: scheduler, added: &truth.added }
    }

    /// Whether a member has got pools: it may run what others of its kind run only since then.
    fn has_grown(self, id: MemberId) -> bool {
        !self.added.is_empty() && !self.added.of(id).is_empty()
    }

    /// Since when, or from when on, a member is behind this; the end of time: it is not.
    fn behind_since(self, id: MemberId, aim: &Aim, region: RegionId) -> Timestamp {
        let since = self.below_since(id, aim.what).map(|since| since.max(self.there(aim, region)));
        since.unwrap_or(Timestamp::MAX)
    }

    /// Whether what a member runs is older than this, and since when: by a pool that it has got,
    /// only since then.
    #[inline(never)]
    fn below_since(self, id: MemberId, what: Released) -> Option<Timestamp> {
        let Self { observer, added, .. } = self;
        let mine = if added.is_empty() { &[][..] } else { added.of(id) };
        let older = |version: KubernetesVersion| observer.kubernetes_version(id) < Some(version);
        match what {
            Released::Kubernetes(version) => older(version).then_some(Timestamp::MIN),
            Released::NodeImage(image) => {
                let is_below =
                    |pool: NodeImage| pool.family == image.family && pool.version < image.version;
                below_since(mine, observer, id, observer.images(id).map(is_below))
            }
            Released::SecurityPatch(patch) => {
                below_since(mine, observer, id, observer.lacks_patch(id, patch))
            }
        }
    }

    /// From when on a target is there for the members of a region.
    fn there(self, aim: &Aim, region: RegionId) -> Timestamp {
        let arrivals = self.arrivals;
        let reached = arrivals.reached(aim.release, region).map(|at| at.max(aim.since));
        let withdrawn = arrivals.releases[aim.release as usize].withdrawn;
        reached.filter(|at| *at < withdrawn).unwrap_or(Timestamp::MAX)
    }
}
