//! Reimages in a timeline: on the lanes of the run's members, and below them those of others.

use std::collections::BTreeMap;

use super::last_instant;
use crate::calendar::Window;
use crate::experiment::History;
use crate::ids::{GroupId, MemberId, WindowId};
use crate::report::chart::{
    BarKind, State, Timeline, TimelineBar, TimelineGroup, TimelineMember, TimelineStage,
};
use crate::scheduler::{Plan, Scheduler};
use crate::sim::ChangeStep;
use crate::sim::campaign::Campaign;
use crate::time::{Span, Timestamp};

/// A reimage: by which campaign, from when to when.
type Reimage = (u16, TimelineBar);

/// Adds the reimages of a replication to its timeline, which lasts until the last of them; `end` is
/// the last instant that was simulated. Without changes the timeline stays as it is.
pub fn with_changes(
    mut timeline: Timeline,
    scheduler: &Scheduler<'_>,
    history: &History,
    campaigns: &[Campaign],
    end: Timestamp,
) -> Timeline {
    let Some((_, last)) = history.changes.last() else { return timeline };
    let (plan, start) = (scheduler.plan(), timeline.start);
    let until = last_instant(scheduler, &history.records, end).max(last.time);
    let reimages = reimages(history, start, end);
    let unfinished = reimages.values().flatten().any(|(_, bar)| bar.kind == BarKind::Unfinished);
    let until = if unfinished { end } else { until };
    timeline.end = until - start;
    let fleet = plan.fleet;
    let windows =
        |window: Option<WindowId>| open(window.map(|window| &fleet.windows[window]), start, until);
    let bars = |id| reimages.get(&id).into_iter().flatten().map(|(_, bar)| *bar);
    for (stage, laid) in timeline.stages.iter_mut().zip(plan.stages.iter()) {
        let groups = laid.groups.clone().map(GroupId);
        for (group, id) in stage.groups.iter_mut().zip(groups) {
            for (member, id) in group.members.iter_mut().zip(&plan.groups[id].members) {
                member.bars.extend(bars(*id));
                member.bars.sort_by_key(|bar| bar.from);
                member.windows = windows(Plan::window_of(plan.update, &fleet.members[*id]));
            }
        }
    }
    let mut groups: BTreeMap<u16, Vec<TimelineMember>> = BTreeMap::new();
    for (id, all) in reimages.iter().filter(|(id, _)| plan.places[**id].is_none()) {
        for (campaign, bar) in all {
            let member = &fleet.members[*id];
            groups.entry(*campaign).or_default().push(TimelineMember {
                name: member.name.clone(),
                bars: vec![*bar],
                pending: Vec::new(),
                windows: windows(member.node_os_window),
                state: State::Completed,
            });
        }
    }
    if plan.size == 0 {
        // There is no run to show.
        timeline.stages.clear();
        timeline.state = State::Completed;
    }
    timeline.stages.extend(stage(groups, campaigns));
    timeline
}

/// Members that are in no group, by campaign.
fn stage(
    groups: BTreeMap<u16, Vec<TimelineMember>>,
    campaigns: &[Campaign],
) -> Option<TimelineStage> {
    let ends = |members: &[TimelineMember]| {
        let bars = || members.iter().flat_map(|member| &member.bars);
        (bars().map(|bar| bar.from).min(), bars().map(|bar| bar.to).max())
    };
    let groups = groups.into_iter().map(|(campaign, members)| {
        let (begin, end) = ends(&members);
        TimelineGroup {
            name: campaigns[usize::from(campaign)].name.clone(),
            begin,
            end,
            state: State::Completed,
            gates: Vec::new(),
            members,
        }
    });
    let groups: Vec<TimelineGroup> = groups.collect();
    let begin = groups.iter().filter_map(|group| group.begin).min()?;
    let end = groups.iter().filter_map(|group| group.end).max();
    Some(TimelineStage {
        name: "configuration changes".to_owned(),
        begin: Some(begin),
        end,
        state: State::Completed,
        wait: None,
        gates: Vec::new(),
        groups,
    })
}

/// Every reimage, by member; those that had not ended last until `end`.
fn reimages(
    history: &History,
    start: Timestamp,
    end: Timestamp,
) -> BTreeMap<MemberId, Vec<Reimage>> {
    let mut all: BTreeMap<MemberId, Vec<Reimage>> = BTreeMap::new();
    for (_, record) in &history.changes {
        let known = all.entry(record.member).or_default();
        match record.step {
            ChangeStep::Started => {
                let (from, to) = (record.time - start, end - start);
                known.push((record.campaign, TimelineBar { from, to, kind: BarKind::Unfinished }));
            }
            ChangeStep::Completed => {
                let open = known.iter_mut().find(|(campaign, bar)| {
                    *campaign == record.campaign && bar.kind == BarKind::Unfinished
                });
                if let Some((_, bar)) = open {
                    (bar.to, bar.kind) = (record.time - start, BarKind::Reimaged);
                }
            }
            _ => {}
        }
    }
    all.retain(|_, bars| !bars.is_empty());
    all
}

/// When a window is open, cut to the chart.
fn open(window: Option<&Window>, start: Timestamp, until: Timestamp) -> Vec<(Span, Span)> {
    let intervals = window.into_iter().flat_map(|window| window.intervals_from(start));
    intervals
        .take_while(|open| open.open < until)
        .map(|open| (open.open.max(start) - start, open.close.min(until) - start))
        .filter(|(from, to)| from < to)
        .collect()
}
