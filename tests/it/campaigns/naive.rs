//! What becomes of every change, worked out member by member from the rules' words alone: when a
//! member was updated, how long its reimages took and when drawn requests came are taken from what
//! was told, everything else is computed here.

use fleetsim::experiment::History;
use fleetsim::fleet::NodeDisruptionPolicy;
use fleetsim::ids::MemberId;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::Plan;
use fleetsim::sim::campaign::{Asked, Habit};
use fleetsim::sim::{ChangeStep, Changes};
use fleetsim::time::{Span, Timestamp};

/// An update of a member; `to` is open when it had not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Update {
    pub(super) from: Timestamp,
    pub(super) to: Option<Timestamp>,
    pub(super) well: bool,
}

/// A reimage of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reimage {
    campaign: u16,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

/// Something that happens to a change: when, campaign, kind, reason, until.
pub(super) type Line = (Timestamp, u16, &'static str, Option<&'static str>, Option<Timestamp>);

/// What the simulation told, by member.
pub(super) struct Told {
    pub(super) events: Vec<Vec<Line>>,
    pub(super) reimages: Vec<Vec<Reimage>>,
}

impl Told {
    pub(super) fn of(scenario: &Scenario, history: &History) -> Self {
        let members = scenario.fleet.members.len();
        let (mut events, mut reimages) = (vec![Vec::new(); members], vec![Vec::new(); members]);
        for (_, record) in &history.changes {
            let index = record.member.0 as usize;
            let (campaign, time) = (record.campaign, record.time);
            events[index].push((time, campaign, record.kind(), record.reason(), record.until()));
            let known: &mut Vec<Reimage> = &mut reimages[index];
            match record.step {
                ChangeStep::Started => {
                    known.push(Reimage { campaign, from: time, to: Timestamp::MAX });
                }
                ChangeStep::Completed => {
                    let open = known.iter_mut().find(|r| r.campaign == campaign);
                    open.into_iter().filter(|r| r.to == Timestamp::MAX).for_each(|r| r.to = time);
                }
                _ => {}
            }
        }
        Self { events, reimages }
    }
}

/// What happened at all, to know that the swarm tests it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Seen {
    by_window: u32,
    by_policy: u32,
    pending: u32,
    reimages: u32,
    policies: u32,
    with_update: u32,
    unfinished: u32,
    never: u32,
    free: u32,
}

impl Seen {
    pub(super) fn add(&mut self, more: &Self) {
        self.by_window += more.by_window;
        self.by_policy += more.by_policy;
        self.pending += more.pending;
        self.reimages += more.reimages;
        self.policies += more.policies;
        self.with_update += more.with_update;
        self.unfinished += more.unfinished;
        self.never += more.never;
        self.free += more.free;
    }

    pub(super) fn all_happened(&self) -> bool {
        let Self { by_window, by_policy, pending, reimages, policies, .. } = *self;
        let Self { with_update, unfinished, never, free, .. } = *self;
        [by_window, by_policy, pending, reimages, policies, with_update, never, free]
            .iter()
            .all(|count| *count >= 100)
            && unfinished > 0
    }
}

/// What the rules say.
pub(super) struct Expected {
    pub(super) events: Vec<Vec<Line>>,
    pub(super) outcomes: Vec<Changes>,
    pub(super) seen: Seen,
}

/// What is due at one instant, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    UpdateEnds(bool),
    ReimageEnds(u16),
    Asked(u16),
    UpdateStarts,
}

impl Due {
    fn class(self) -> u8 {
        match self {
            Self::UpdateEnds(_) => 0,
            Self::ReimageEnds(_) => 1,
            Self::Asked(_) => 2,
            Self::UpdateStarts => 3,
        }
    }
}

/// Weekly from an hour of a week that begins on Monday, 00:00 UTC, for some hours.
#[derive(Debug, Clone, Copy)]
struct Weekly {
    from: i64,
    hours: i64,
}

const HOUR: i64 = 3_600_000;
const WEEK: i64 = 7 * 24 * HOUR;

impl Weekly {
    /// The opening at or before an instant in milliseconds from the first Monday; the first week is
    /// the first.
    fn opened(self, at: i64) -> Option<i64> {
        let first = self.from * HOUR;
        (at >= first).then(|| first + (at - first) / WEEK * WEEK)
    }

    fn is_open(self, at: i64) -> bool {
        self.opened(at).is_some_and(|open| at < open + self.hours * HOUR)
    }

    fn next(self, at: i64) -> i64 {
        self.opened(at).map_or(self.from * HOUR, |open| open + WEEK)
    }

    /// How long it is open in a stretch.
    fn overlap(self, from: i64, to: i64) -> i64 {
        let mut total = 0;
        let mut open = self.from * HOUR;
        while open < to {
            total += ((open + self.hours * HOUR).min(to) - open.max(from)).max(0);
            open += WEEK;
        }
        total
    }
}

/// The windows of all members, read from the text once more.
fn windows(scenario: &Scenario) -> Vec<Option<Weekly>> {
    let text = super::draft::scenario(scenario.seed);
    let mut windows: Vec<Option<Weekly>> = Vec::new();
    let after =
        |line: &str, key: &str| line.split_once(key).map(|(_, rest)| rest.trim().to_owned());
    for line in text.lines() {
        if line.starts_with("    - name: m") {
            windows.push(None);
        } else if let Some(day) = after(line, "dayOfWeek: ") {
            let day = day.trim_end_matches('}');
            let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
            let day = days.iter().position(|short| day.starts_with(short)).unwrap();
            let from = 24 * i64::try_from(day).unwrap();
            *windows.last_mut().unwrap() = Some(Weekly { from, hours: 0 });
        } else if let Some(hours) = after(line, "durationHours: ") {
            windows.last_mut().unwrap().as_mut().unwrap().hours = hours.parse().unwrap();
        } else if let Some(time) = after(line, "startTime: ") {
            let hour: i64 = time.trim_matches('"')[..2].parse().unwrap();
            windows.last_mut().unwrap().as_mut().unwrap().from += hour;
        }
    }
    windows
}

/// Whether an operation of the draft is covered by the policy, and whether it reimages.
fn table(operation: &str, from: Option<&str>) -> (bool, bool) {
    match (operation, from) {
        ("outboundType", _) => (false, false),
        ("emergencyMaintenance", _) => (false, true),
        ("networkPolicy", Some("azure")) => (true, false),
        _ => (true, true),
    }
}

/// Working time on a clock so many hours ahead of UTC; `from` and `to` count from the first Monday.
fn working(from: i64, to: i64, ahead: i64) -> i64 {
    let mut total = 0;
    let mut block = from.div_euclid(HOUR) * HOUR;
    while block < to {
        let local = block.div_euclid(HOUR) + ahead;
        let (day, hour) = (local.div_euclid(24).rem_euclid(7), local.rem_euclid(24));
        if day < 5 && (9..17).contains(&hour) {
            total += ((block + HOUR).min(to) - block.max(from)).max(0);
        }
        block += HOUR;
    }
    total
}

/// Everything that the rules say about the changes of a scenario.
pub(super) fn expected(
    scenario: &Scenario,
    plan: &Plan<'_>,
    updates: &[Vec<Update>],
    told: &Told,
) -> Expected {
    let windows = windows(scenario);
    let outcomes = vec![Changes::default(); scenario.campaigns.len()];
    let mut expected = Expected { events: Vec::new(), outcomes, seen: Seen::default() };
    for (outcome, campaign) in expected.outcomes.iter_mut().zip(&scenario.campaigns) {
        outcome.wanted = u32::try_from(campaign.members.len()).unwrap();
    }
    for id in scenario.fleet.members.ids() {
        let index = id.0 as usize;
        let one = One {
            scenario,
            id,
            window: windows[index],
            updates: &updates[index],
            told: (&told.events[index], &told.reimages[index]),
            agenda: Vec::new(),
            pushed: 0,
            busy: None,
            waiting: Vec::new(),
            travelling: Vec::new(),
            lines: Vec::new(),
        };
        let lines = one.play(plan, &mut expected);
        expected.events.push(lines);
    }
    for outcome in &mut expected.outcomes {
        outcome.done.sort_unstable();
        expected.seen.never += outcome.wanted - u32::try_from(outcome.done.len()).unwrap();
    }
    expected
}

/// One member, and what is due.
struct One<'a> {
    scenario: &'a Scenario,
    id: MemberId,
    window: Option<Weekly>,
    updates: &'a [Update],
    told: (&'a [Line], &'a [Reimage]),
    /// When, in which class, after how many others, what.
    agenda: Vec<(Timestamp, u8, u32, Due)>,
    pushed: u32,
    busy: Option<u16>,
    waiting: Vec<u16>,
    travelling: Vec<u16>,
    lines: Vec<Line>,
}

impl One<'_> {
    fn push(&mut self, at: Timestamp, due: Due) {
        self.pushed += 1;
        self.agenda.push((at, due.class(), self.pushed, due));
    }

    fn line(
        &mut self,
        now: Timestamp,
        campaign: u16,
        kind: &'static str,
        why: Option<&'static str>,
    ) {
        self.lines.push((now, campaign, kind, why, None));
    }

    /// Milliseconds from Monday, 00:00: the start is Monday, 08:00.
    fn of_week(&self, at: Timestamp) -> i64 {
        (at - self.scenario.start).as_millis() + 8 * HOUR
    }

    fn first_requests(&mut self, plan: &Plan<'_>) {
        let start = self.scenario.start;
        for (number, campaign) in (0..).zip(&self.scenario.campaigns) {
            let Some(position) = campaign.members.iter().position(|id| *id == self.id) else {
                continue;
            };
            let at = match &campaign.asked {
                Asked::After(times) => start + times[position],
                Asked::Drawn(_) => {
                    let mine = |line: &&Line| line.1 == number;
                    let Some(first) = self.told.0.iter().find(mine) else { continue };
                    assert!(first.0 - start <= Span::from_hours(90), "it is drawn from the range");
                    first.0
                }
                Asked::Stages { from, every } => {
                    let groups = ["a", "b"];
                    let group = plan.places[self.id].map(|p| plan.groups[p.group].name.as_str());
                    let stage = groups.iter().position(|name| group == Some(name)).unwrap_or(2);
                    start + *from + *every * i64::try_from(stage).unwrap()
                }
                Asked::WithUpdate => {
                    self.travelling.push(number);
                    continue;
                }
            };
            self.push(at, Due::Asked(number));
        }
    }

    fn play(mut self, plan: &Plan<'_>, expected: &mut Expected) -> Vec<Line> {
        self.first_requests(plan);
        for update in self.updates {
            self.push(update.from, Due::UpdateStarts);
            if let Some(to) = update.to {
                self.push(to, Due::UpdateEnds(update.well));
            }
        }
        let end = self.scenario.start + self.scenario.horizon;
        while let Some(next) = self.agenda.iter().enumerate().min_by_key(|(_, due)| **due) {
            let (index, (now, _, _, due)) = (next.0, *next.1);
            self.agenda.swap_remove(index);
            if now > end {
                break;
            }
            match due {
                Due::UpdateStarts => {
                    for number in self.travelling.clone() {
                        self.line(now, number, "changeStarted", Some("WithUpdate"));
                    }
                }
                Due::UpdateEnds(well) => {
                    for number in if well { std::mem::take(&mut self.travelling) } else { vec![] } {
                        expected.seen.with_update += 1;
                        self.done(now, number, expected);
                    }
                    self.freed(now);
                }
                Due::ReimageEnds(number) => {
                    self.busy = None;
                    self.done(now, number, expected);
                    self.freed(now);
                }
                Due::Asked(number) => self.ask(now, number, expected),
            }
        }
        self.lines
    }

    fn done(&mut self, now: Timestamp, number: u16, expected: &mut Expected) {
        self.line(now, number, "changeCompleted", None);
        let after = (now - self.scenario.start).as_millis();
        expected.outcomes[usize::from(number)].done.push(after);
    }

    fn freed(&mut self, now: Timestamp) {
        for number in std::mem::take(&mut self.waiting) {
            self.push(now, Due::Asked(number));
        }
    }

    fn ask(&mut self, now: Timestamp, number: u16, expected: &mut Expected) {
        self.line(now, number, "changeAsked", None);
        let updating = self.updates.iter().any(|u| u.from < now && u.to.is_none_or(|to| to > now));
        if updating || self.busy.is_some() {
            expected.seen.pending += 1;
            self.line(now, number, "changePending", Some("MemberBusy"));
            self.waiting.push(number);
            return;
        }
        let campaign = &self.scenario.campaigns[usize::from(number)];
        let member = &self.scenario.fleet.members[self.id];
        let (covered, reimages) = table(campaign.operation.name(), campaign.from.as_deref());
        let week = self.of_week(now);
        let closed = self.window.is_some_and(|window| !window.is_open(week));
        let refused = covered
            && reimages
            && match member.node_disruption_policy {
                NodeDisruptionPolicy::Allow => false,
                NodeDisruptionPolicy::AllowDuringMaintenanceWindow => closed,
                NodeDisruptionPolicy::Block => true,
            };
        if refused {
            let next = self.refuse(now, number, expected);
            match campaign.on_refused {
                Habit::GiveUp => return,
                Habit::RetryEvery(span) => return self.push(now + span, Due::Asked(number)),
                Habit::RetryInWindow => {
                    return next.map_or((), |at| self.push(at, Due::Asked(number)));
                }
                Habit::ChangePolicy => {
                    expected.seen.policies += 1;
                    expected.outcomes[usize::from(number)].policy_changes += 1;
                    self.line(now, number, "changeAsked", Some("PolicyChanged"));
                }
            }
        }
        let windows_only = campaign.operation.name() == "windowsGmsa";
        let pools = member.pools.iter().filter(|pool| !windows_only || pool.name == "w");
        let nodes: u32 = pools.map(|pool| pool.count).sum();
        if !reimages || nodes == 0 {
            expected.seen.free += 1;
            self.done(now, number, expected);
            return;
        }
        self.line(now, number, "changeStarted", None);
        self.reimage(now, number, nodes, expected);
    }

    /// A refusal, and when the window opens, if it is the window that refuses.
    fn refuse(
        &mut self,
        now: Timestamp,
        number: u16,
        expected: &mut Expected,
    ) -> Option<Timestamp> {
        expected.outcomes[usize::from(number)].refused_calls += 1;
        let policy = self.scenario.fleet.members[self.id].node_disruption_policy;
        if policy == NodeDisruptionPolicy::Block {
            expected.seen.by_policy += 1;
            self.line(now, number, "changeRefused", Some("NodeDisruptionPolicyBlock"));
            return None;
        }
        expected.seen.by_window += 1;
        let week = self.of_week(now);
        let window = self.window.expect("without a window everything is allowed");
        let next = now + Span::from_millis(window.next(week) - week);
        let why = Some("MaintenanceWindowClosed");
        self.lines.push((now, number, "changeRefused", why, Some(next)));
        Some(next)
    }

    fn reimage(&mut self, now: Timestamp, number: u16, nodes: u32, expected: &mut Expected) {
        let mine = |r: &&Reimage| r.campaign == number && r.from == now;
        let to = self.told.1.iter().find(mine).map_or(Timestamp::MAX, |r| r.to);
        let end = self.scenario.start + self.scenario.horizon;
        expected.seen.reimages += 1;
        if to == Timestamp::MAX {
            expected.seen.unfinished += 1;
        } else {
            let takes = to - now;
            assert!(takes >= Span::from_mins(20) && takes <= Span::from_hours(6), "{takes}");
            self.push(to, Due::ReimageEnds(number));
        }
        self.busy = Some(number);
        let (from, to) = (self.of_week(now), self.of_week(to.min(end)));
        let open = self.window.map_or(0, |window| window.overlap(from, to));
        let region = &self.scenario.fleet.regions[self.scenario.fleet.members[self.id].region];
        let ahead = if region == "westeurope" { 1 } else { -5 };
        let outcome = &mut expected.outcomes[usize::from(number)];
        outcome.reimaged_nodes += nodes;
        outcome.ephemeral_data_losses += nodes;
        outcome.in_window += Span::from_millis(open);
        outcome.outside_window += Span::from_millis(to - from - open);
        outcome.business += Span::from_millis(working(from, to, ahead));
    }
}
