//! `autoUpgradeProfiles`: who makes update runs by itself, and with which strategy (A1–A8).

use std::collections::BTreeMap;

use super::access::{Field, Map, nearest};
use super::tree::{Spot, Value};
use super::{StrategyPlaces, strategy, update};
use crate::fleet::support;
use crate::scheduler::auto_upgrade::{Channel, Minor, Profile};
use crate::scheduler::{NodeImageSelection, Strategy, Update};
use crate::sim::script::{Released, Script};
use crate::time::Timestamp;

const PROFILE: &[&str] = &[
    "name",
    "channel",
    "updateStrategyId",
    "nodeImageSelection",
    "disabled",
    "targetKubernetesVersion",
    "longTermSupport",
    "stoppedMembers",
    "restart",
    "pollInterval",
    "groupOrder",
];

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Rapid,
    Stable,
    TargetKubernetesVersion,
    NodeImage,
    SecurityPatch,
}

/// Profiles, where each stands, and where its strategy does.
pub(super) type Profiles = (Vec<Profile>, Vec<Spot>, Vec<StrategyPlaces>);

/// Reads `autoUpgradeProfiles`.
pub(super) fn read(
    list: Option<Field<'_>>,
    (strategies, strategy_places): (&[Strategy], &[StrategyPlaces]),
) -> Profiles {
    let (mut profiles, mut places, mut of_strategies) = (vec![], vec![], vec![]);
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for entry in list.iter().filter_map(Field::items).flatten() {
        let Some(map) = entry.map("an auto-upgrade profile", PROFILE) else { continue };
        let Some(profile) = profile(&map, strategies) else { continue };
        if let Some(line) = names.insert(profile.name.clone(), entry.at().line) {
            let message = format!("two auto-upgrade profiles are called `{}`", profile.name);
            map.notes
                .error(map.place_of("name"), "duplicate-name", message)
                .hint(format!("the other is on line {line}; runs are named after their profile"));
        }
        let is_its_own = |strategy: &Strategy| strategy.name == profile.strategy.name;
        let found = strategies.iter().position(is_its_own);
        let found = found.filter(|_| map.spot("updateStrategyId").is_some());
        let one_by_one = StrategyPlaces { at: entry.at(), stages: vec![] };
        of_strategies.push(found.map_or(one_by_one, |found| strategy_places[found].clone()));
        profiles.push(profile);
        places.push(entry.at());
    }
    (profiles, places, of_strategies)
}

/// Whether the scenario has profiles.
pub(super) fn any(map: &Map<'_>) -> bool {
    let list = map.get("autoUpgradeProfiles");
    list.is_some_and(|field| match &field.node.value {
        Value::List(items) => !items.is_empty(),
        _ => false,
    })
}

fn profile(map: &Map<'_>, strategies: &[Strategy]) -> Option<Profile> {
    let name =
        map.need("name").and_then(|field| strategy::api_name(&field, "an auto-upgrade profile"));
    let channel = channel(map);
    let strategy = match map.own("updateStrategyId") {
        Some(field) => strategy_of(&field, strategies),
        None => Some(Strategy { name: "one-by-one".to_owned(), stages: vec![] }),
    };
    let options = update::options(map);
    let images = selection(map, channel);
    let disabled = map.get("disabled").and_then(|field| field.boolean());
    let channel = channel?;
    Some(Profile {
        name: name?,
        channel,
        strategy: strategy?,
        disabled: disabled.unwrap_or(false),
        update: Update {
            upgrade: channel.upgrade(),
            node_images: channel.node_images(images),
            stopped_members: options.stopped_members,
            restart: options.restart,
            poll_interval: options.poll_interval,
            group_order: options.group_order,
        },
    })
}

/// `channel`, with the keys that belong to `TargetKubernetesVersion` alone.
fn channel(map: &Map<'_>) -> Option<Channel> {
    let word = map.need("channel").and_then(|field| {
        field.word(&[
            ("Rapid", Word::Rapid),
            ("Stable", Word::Stable),
            ("TargetKubernetesVersion", Word::TargetKubernetesVersion),
            ("NodeImage", Word::NodeImage),
            ("SecurityPatch", Word::SecurityPatch),
        ])
    });
    let target = map.get("targetKubernetesVersion");
    let long_term_support = map.get("longTermSupport");
    let lts = long_term_support.and_then(|field| field.boolean()).unwrap_or(false);
    let word = word?;
    if word == Word::TargetKubernetesVersion {
        let Some(field) = target else {
            map.notes
                .error(map.node.at, "A1", "TargetKubernetesVersion needs `targetKubernetesVersion`")
                .hint("write targetKubernetesVersion: \"1.33\", say");
            return None;
        };
        let minor = minor(&field)?;
        return Some(Channel::TargetKubernetesVersion { minor, long_term_support: lts });
    }
    let asked = [("targetKubernetesVersion", target.is_some()), ("longTermSupport", lts)];
    for (key, _) in asked.into_iter().filter(|(_, is_asked)| *is_asked) {
        let message = format!("only the channel TargetKubernetesVersion takes `{key}`");
        map.notes
            .error(map.place_of(key), "A1", message)
            .hint("take it out, or write channel: TargetKubernetesVersion");
    }
    Some(match word {
        Word::Rapid => Channel::Rapid,
        Word::Stable => Channel::Stable,
        Word::NodeImage => Channel::NodeImage,
        Word::SecurityPatch | Word::TargetKubernetesVersion => Channel::SecurityPatch,
    })
}

/// `"1.33"`.
fn minor(field: &Field<'_>) -> Option<Minor> {
    let text = field.text()?;
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    };
    let minor = text
        .split_once('.')
        .and_then(|(major, minor)| Some(Minor { major: number(major)?, minor: number(minor)? }));
    if minor.is_none() {
        field
            .wrong_type("a Kubernetes minor such as \"1.33\"")
            .hint("a profile follows the patches of a minor: write it without a patch");
    }
    minor
}

/// A strategy of the scenario, by its name or by an ARM id that ends in it.
fn strategy_of(field: &Field<'_>, strategies: &[Strategy]) -> Option<Strategy> {
    let text = field.filled_text()?;
    let name = text.rsplit_once("/updateStrategies/").map_or(text, |(_, name)| name);
    let found = strategies.iter().find(|strategy| strategy.name == name);
    if found.is_none() {
        let names = strategies.iter().map(|strategy| strategy.name.as_str());
        let hint = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of the scenario's `strategies`".to_owned(),
        };
        field.fail("unknown-strategy", format!("the scenario has no strategy `{name}`")).hint(hint);
    }
    found.cloned()
}

/// `nodeImageSelection`, which the channels of images do not take: they are given theirs (A4).
fn selection(map: &Map<'_>, channel: Option<Channel>) -> NodeImageSelection {
    let Some(field) = map.get("nodeImageSelection") else { return NodeImageSelection::Latest };
    if let Some(channel) = channel.filter(|channel| !channel.is_kubernetes()) {
        let message = format!("the channel {} takes no `nodeImageSelection`", channel.name());
        field.fail("A1", message).hint("take it out: its runs bring the images that were released");
    }
    let kind = field.map("a nodeImageSelection", &["type"]).and_then(|map| map.need("type"));
    let consistent = kind.and_then(|kind| kind.word(&[("Latest", false), ("Consistent", true)]));
    if consistent.unwrap_or(false) {
        NodeImageSelection::Consistent
    } else {
        NodeImageSelection::Latest
    }
}

/// A2, without a script: what the calendar says that is not generally available at the start is no
/// target. A minor whose month begins before, and may slip, is left to each replication, which
/// reports a target that is not there.
fn check_calendar((profiles, places): (&[Profile], &[Spot]), start: Timestamp, map: &Map<'_>) {
    for (profile, at) in profiles.iter().zip(places) {
        let Channel::TargetKubernetesVersion { minor, .. } = profile.channel else { continue };
        let known = support::minors().iter().find(|it| it.version == (minor.major, minor.minor));
        let last = support::minors().last().map(|it| it.version);
        let is_old = last.is_some_and(|last| (minor.major, minor.minor) < last);
        let comes = match known {
            Some(known) if known.general.first() <= start => continue,
            Some(known) => format!("is not released before {}", known.general.first()),
            None if is_old => continue,
            None => "is in no calendar yet".to_owned(),
        };
        let message = format!("Kubernetes {minor}, the target of `{}`, {comes}", profile.name);
        map.notes
            .error(*at, "A2", message)
            .hint("name a minor that is generally available when the scenario starts");
    }
}

/// A2: what a profile follows must be there when the scenario starts, or at least come.
pub(super) fn check_targets(
    (profiles, places): (&[Profile], &[Spot]),
    script: &Script,
    start: Timestamp,
    map: &Map<'_>,
) {
    let Some(releases) = &script.releases else {
        return check_calendar((profiles, places), start, map);
    };
    let available = || releases.iter().filter(|release| !release.preview);
    for (profile, at) in profiles.iter().zip(places) {
        let Channel::TargetKubernetesVersion { minor, .. } = profile.channel else { continue };
        let is_there = available().any(|release| {
            let is_early = release.published().is_some_and(|published| published <= start);
            matches!(release.what, Released::Kubernetes(v) if Minor::of(v) == minor) && is_early
        });
        if !is_there {
            let message = format!(
                "Kubernetes {minor}, the target of `{}`, is not released when the scenario starts",
                profile.name
            );
            map.notes
                .error(*at, "A2", message)
                .hint("name a released minor, or add a release of it to `script.releases`");
        }
    }
    let kubernetes = available().any(|it| matches!(it.what, Released::Kubernetes(_)));
    let patches = available().any(|it| matches!(it.what, Released::SecurityPatch(_)));
    for (profile, at) in profiles.iter().zip(places) {
        let (nothing, what) = match profile.channel {
            Channel::Rapid | Channel::Stable => (!kubernetes, "Kubernetes versions"),
            Channel::SecurityPatch => (!patches, "security patches"),
            Channel::TargetKubernetesVersion { .. } | Channel::NodeImage => continue,
        };
        if nothing {
            let message = format!(
                "`{}` makes no runs: nothing that the channel {} follows is released",
                profile.name,
                profile.channel.name()
            );
            map.notes
                .warning(*at, "profile-without-releases", message)
                .hint(format!("add {what} to `script.releases`"));
        }
    }
}
