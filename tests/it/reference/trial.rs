//! Trying members: who is a candidate, in which order (O2, O3), and what a trial finds (R-B7).

use super::case::{Order, Release, Selection, Upgrade};
use super::clock::{DAY, HOUR, Millis};
use super::tree::{State, all_done};
use super::window::Window;
use super::{Flight, Halt, Plan, Sim};

/// How long an image is valid (U4).
const VALID: Millis = 90 * DAY;

/// What a trial finds.
enum Finding {
    Pending(&'static str, Option<Millis>),
    Skipped(&'static str),
    Failed(&'static str),
    Starts(Plan),
}

/// The family of an image: its name up to the last hyphen (R-I2).
pub(super) fn family(image: &str) -> &str {
    image.rsplit_once('-').map_or(image, |(family, _)| family)
}

/// The numbers of a version, for comparing (R-I2).
pub(super) fn numbers(version: &str) -> Vec<u64> {
    let version = version.rsplit_once('-').map_or(version, |(_, version)| version);
    version.split('.').map(|part| part.parse().expect("a version has numbers")).collect()
}

impl Release {
    /// When it reaches a region (R-K7).
    fn arrival(&self, region: &str) -> Option<Millis> {
        self.arrivals.get(region).or_else(|| self.arrivals.get("*")).copied()
    }

    /// Whether it has reached a region.
    pub(super) fn is_in(&self, region: &str, now: Millis) -> bool {
        self.arrival(region).is_some_and(|arrival| arrival <= now)
    }

    /// Its publication: the first arrival (R-I8).
    fn published(&self) -> Option<Millis> {
        self.arrivals.values().min().copied()
    }
}

/// The first day after each minor's community support (U7, R-I12): the public calendar, in which
/// a month without a day lasts to its end.
const SUPPORT: [(&str, &str); 11] = [
    ("1.27", "2024-08-01"),
    ("1.28", "2025-02-01"),
    ("1.29", "2025-04-01"),
    ("1.30", "2025-08-23"),
    ("1.31", "2025-11-02"),
    ("1.32", "2026-04-01"),
    ("1.33", "2026-08-01"),
    ("1.34", "2026-12-01"),
    ("1.35", "2027-04-01"),
    ("1.36", "2027-07-01"),
    ("1.37", "2027-11-01"),
];

impl Sim<'_> {
    /// (5) Tries members of the current stage, group by group in turn; true if any was tried.
    pub(super) fn try_members(&mut self) -> bool {
        let s = self.current;
        let over = self.halt != Halt::No || self.run.node.is_done();
        if over || !self.run.stages[s].begun || self.run.stages[s].passed {
            return false;
        }
        self.notice(s);
        let count = self.run.stages[s].groups.len();
        let mut any_tried = false;
        loop {
            let turn = self.run.stages[s].turn;
            let groups: Vec<usize> = match self.case.update.order {
                Order::RoundRobin => (0..count).map(|k| (turn + k) % count).collect(),
                Order::Strategy => (0..count).collect(),
                Order::Reverse => (0..count).rev().collect(),
            };
            let mut started = None;
            for g in groups {
                let tried = self.take_turn(s, g, &mut any_tried);
                if self.halt != Halt::No {
                    return true;
                }
                if tried {
                    started = Some(g);
                    break;
                }
            }
            match started {
                Some(g) => self.run.stages[s].turn = (g + 1) % count,
                None => return any_tried,
            }
        }
    }

    /// One group's turn (R-B11): candidates are tried until one starts; true if one did.
    fn take_turn(&mut self, s: usize, g: usize, any_tried: &mut bool) -> bool {
        while self.halt == Halt::No {
            let stage = &self.run.stages[s];
            let group = &stage.groups[g];
            let is_full = stage.in_flight() >= stage.slots || group.in_flight() >= group.slots;
            if is_full || !group.is_going_on() || !all_done(&group.before) {
                return false;
            }
            let candidates = (0..group.members.len()).filter(|m| self.is_candidate(s, g, *m));
            let Some(m) = candidates.min_by_key(|m| self.class(&group.members[*m].name)) else {
                return false;
            };
            *any_tried = true;
            if self.try_member(s, g, m) {
                return true;
            }
        }
        false
    }

    /// Whether Pending members of the group are looked at again at this instant (O4, R-B6).
    fn is_looked_at(&self, s: usize, g: usize) -> bool {
        self.is_poll() || self.restarted || self.run.stages[s].groups[g].stirred
    }

    /// Untried, noticed, or Pending and looked at now, but only once an instant (R-B4).
    fn is_candidate(&self, s: usize, g: usize, m: usize) -> bool {
        let member = &self.run.stages[s].groups[g].members[m];
        match member.node.state {
            State::NotStarted => true,
            State::Pending if member.tried != Some(self.now) => {
                let noticed = member.noticed.is_some_and(|until| self.now < until);
                noticed || self.is_looked_at(s, g)
            }
            _ => false,
        }
    }

    /// Notices the Pending members that could go on (O4): until their window closes.
    fn notice(&mut self, s: usize) {
        for g in 0..self.run.stages[s].groups.len() {
            if !self.is_looked_at(s, g) {
                continue;
            }
            for m in 0..self.run.stages[s].groups[g].members.len() {
                let member = &self.run.stages[s].groups[g].members[m];
                if member.node.state != State::Pending {
                    continue;
                }
                if !matches!(self.look_at(&member.name), Finding::Pending(..)) {
                    let window = self.window(&member.name);
                    let until = window.map_or(Millis::MAX, |window| window.closes(self.now));
                    self.run.stages[s].groups[g].members[m].noticed = Some(until);
                }
            }
        }
    }

    /// O2's classes; at most four hours away is class 2 (R-B9).
    fn class(&self, name: &str) -> u8 {
        match self.window(name) {
            None => 3,
            Some(window) if window.is_open(self.now) => 1,
            Some(window) => match window.next_opening(self.now) {
                Some(opening) if opening - self.now <= 4 * HOUR => 2,
                _ => 4,
            },
        }
    }

    /// The window that the update looks at (U9).
    pub(super) fn window(&self, name: &str) -> Option<&Window> {
        match self.case.update.upgrade {
            Upgrade::NodeImageOnly => self.world[name].image_window.as_ref(),
            Upgrade::Full | Upgrade::ControlPlaneOnly => {
                self.world[name].kubernetes_window.as_ref()
            }
        }
    }

    /// Tries one member; true if its update starts.
    fn try_member(&mut self, s: usize, g: usize, m: usize) -> bool {
        let now = self.now;
        let name = self.run.stages[s].groups[g].members[m].name.clone();
        let finding = self.look_at(&name);
        let member = &mut self.run.stages[s].groups[g].members[m];
        member.tried = Some(now);
        let before = (member.node.state, member.code.clone(), member.until);
        member.code = None;
        member.until = None;
        match finding {
            Finding::Pending(reason, until) => {
                member.code = Some(reason.to_owned());
                member.until = until;
                member.noticed = None;
                if before != (State::Pending, member.code.clone(), until) {
                    self.member_to(s, g, m, State::Pending, Some(reason));
                }
                false
            }
            Finding::Skipped(reason) => {
                member.code = Some(reason.to_owned());
                self.member_to(s, g, m, State::Skipped, Some(reason));
                false
            }
            Finding::Failed(reason) => {
                self.fail_member(s, g, m, reason);
                false
            }
            Finding::Starts(plan) => {
                let attempts = self.case.attempts.get(&name);
                let attempts = attempts.unwrap_or_else(|| &self.case.attempts["*"]);
                let attempt = attempts[member.attempts.min(attempts.len() - 1)].clone();
                member.attempts += 1;
                let ends = now + attempt.takes;
                self.flights.push(Flight { at: (s, g, m), ends, fails: attempt.fails, plan });
                self.member_to(s, g, m, State::Running, None);
                self.check_start(s, g, m);
                true
            }
        }
    }

    /// A member's conditions, in the order of R-B7.
    fn look_at(&self, name: &str) -> Finding {
        let cluster = &self.world[name];
        let update = &self.case.update;
        if let Some(window) = self.window(name).filter(|window| !window.is_open(self.now)) {
            return Finding::Pending("MaintenanceWindowClosed", window.next_opening(self.now));
        }
        let target = update.kubernetes.as_deref().filter(|_| self.touches_kubernetes());
        let version = cluster.kubernetes.as_deref();
        if let Some(target) = target
            && numbers(target) < numbers(version.expect("a version"))
        {
            return Finding::Skipped("TargetVersionOlder");
        }
        let Some(images) = self.images_for(name) else {
            return Finding::Skipped("NodeImageVersionNotFound");
        };
        let moves_kubernetes = target.is_some_and(|target| self.lags_behind(name, target));
        if !moves_kubernetes && images.iter().all(Option::is_none) {
            return Finding::Skipped("AlreadyAtTarget");
        }
        if cluster.stopped {
            let skips = update.skip_stopped;
            let finding = if skips { Finding::Skipped } else { Finding::Failed };
            return finding("MemberStopped");
        }
        if cluster.node_auto_provisioning && update.upgrade != Upgrade::ControlPlaneOnly {
            return Finding::Failed("NodeAutoProvisioningUnsupported");
        }
        if let Some(target) = target {
            let (from, to) = (numbers(version.expect("a version")), numbers(target));
            if from[0] != to[0] || to[1] > from[1] + 1 {
                return Finding::Failed("KubernetesMinorVersionSkipped");
            }
            if !cluster.long_term_support && self.needs_long_term_support(target) {
                return Finding::Failed("LongTermSupportRequired");
            }
            if moves_kubernetes && !self.is_in(target, false, &cluster.region) {
                return Finding::Pending("KubernetesVersionNotAvailable", None);
            }
        }
        let changed = || images.iter().flatten();
        if changed().any(|image| !self.is_in(image, true, &cluster.region)) {
            return Finding::Pending("NodeImageVersionNotAvailable", None);
        }
        if changed().any(|image| self.is_expired(image)) {
            return Finding::Failed("NodeImageVersionExpired");
        }
        let kubernetes = target.filter(|_| moves_kubernetes).map(str::to_owned);
        Finding::Starts(Plan { kubernetes, images })
    }

    fn touches_kubernetes(&self) -> bool {
        self.case.update.upgrade != Upgrade::NodeImageOnly
    }

    /// Whether the control plane, or for Full a pool (R-I11), is below the target.
    fn lags_behind(&self, name: &str, target: &str) -> bool {
        let cluster = &self.world[name];
        let control_plane = cluster.kubernetes.as_deref().expect("a version");
        let below = |version: &str| numbers(version) < numbers(target);
        let pools = cluster.pools.iter();
        below(control_plane)
            || self.case.update.upgrade == Upgrade::Full
                && pools.filter_map(|pool| pool.kubernetes.as_deref()).any(below)
    }

    /// The image that each pool would get; none if a Consistent target cannot be found.
    fn images_for(&self, name: &str) -> Option<Vec<Option<String>>> {
        let cluster = &self.world[name];
        let mut images = Vec::new();
        for pool in &cluster.pools {
            let family = family(&pool.image);
            let target = match &self.case.update.selection {
                _ if self.case.update.upgrade == Upgrade::ControlPlaneOnly => None,
                Selection::Latest if pool.from_snapshot => None,
                Selection::Latest => self.newest_in(family, &cluster.region),
                Selection::Consistent => Some(self.chosen.get(family)?.clone()),
                Selection::Custom(list) => {
                    list.iter().find(|image| self::family(image) == family).cloned()
                }
            };
            images.push(target.filter(|target| numbers(target) > numbers(&pool.image)));
        }
        Some(images)
    }

    /// All releases of a family.
    pub(super) fn images_of(&self, family: &str) -> impl Iterator<Item = &Release> {
        let images = self.case.releases.iter().filter(|release| release.is_image);
        images.filter(move |release| self::family(&release.what) == family)
    }

    fn newest_in(&self, family: &str, region: &str) -> Option<String> {
        let there = self.images_of(family).filter(|release| release.is_in(region, self.now));
        there.max_by_key(|release| numbers(&release.what)).map(|release| release.what.clone())
    }

    fn release(&self, what: &str, is_image: bool) -> Option<&Release> {
        self.case.releases.iter().find(|release| {
            release.is_image == is_image
                && (!is_image || family(&release.what) == family(what))
                && numbers(&release.what) == numbers(what)
        })
    }

    fn is_in(&self, what: &str, is_image: bool, region: &str) -> bool {
        self.release(what, is_image).is_some_and(|release| release.is_in(region, self.now))
    }

    /// U4: exactly 90 days is still valid.
    fn is_expired(&self, image: &str) -> bool {
        let published = self.release(image, true).and_then(Release::published);
        published.is_some_and(|published| self.now - published > VALID)
    }

    /// U7: out of community support.
    fn needs_long_term_support(&self, target: &str) -> bool {
        let stated = self.release(target, false).and_then(|release| release.support_until);
        let in_table = |minor: &str| SUPPORT.iter().find(|(of, _)| *of == minor);
        let until = stated.or_else(|| {
            let (_, day) = target.rsplit_once('.').and_then(|(minor, _)| in_table(minor))?;
            Some(super::clock::read_instant(&format!("{day}T00:00:00Z")))
        });
        until.is_some_and(|until| self.now >= until)
    }
}
