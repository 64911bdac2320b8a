//! A scenario as the reference needs it: the fleet, one strategy, the update, the script.

use std::collections::BTreeMap;

use super::clock::{Millis, read_instant, read_offset, read_span, read_time_of_day, read_weekday};
use super::window::Window;
use super::yaml::{self, Value};

/// One scenario with one strategy.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) start: Millis,
    /// The last instant that is looked at (R-A7).
    pub(crate) end: Millis,
    pub(crate) capped: bool,
    /// In the fleet's order.
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) update: Update,
    /// Empty: one by one (S8).
    pub(crate) stages: Vec<StageSpec>,
    /// By member, `*` for the rest (R-K6).
    pub(crate) attempts: BTreeMap<String, Vec<Attempt>>,
    pub(crate) releases: Vec<Release>,
    /// In the order of time, then of the file (R-K8).
    pub(crate) actions: Vec<Action>,
}

/// A member as the world knows it.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) region: String,
    pub(crate) update_group: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) kubernetes: Option<String>,
    pub(crate) stopped: bool,
    pub(crate) long_term_support: bool,
    pub(crate) node_auto_provisioning: bool,
    pub(crate) pools: Vec<Pool>,
    pub(crate) kubernetes_window: Option<Window>,
    pub(crate) image_window: Option<Window>,
}

/// A node pool.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pub(crate) image: String,
    /// `orchestratorVersion`; the member's when absent (R-I11).
    pub(crate) kubernetes: Option<String>,
    pub(crate) from_snapshot: bool,
}

/// `update`.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) upgrade: Upgrade,
    /// The target of Full and `ControlPlaneOnly`.
    pub(crate) kubernetes: Option<String>,
    pub(crate) selection: Selection,
    pub(crate) skip_stopped: bool,
    pub(crate) retry_failed: bool,
    pub(crate) poll: Millis,
    pub(crate) order: Order,
}

/// `upgrade.type` (U1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upgrade {
    Full,
    ControlPlaneOnly,
    NodeImageOnly,
}

/// `nodeImageSelection` (U2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    Latest,
    Consistent,
    Custom(Vec<String>),
}

/// `groupOrder` (O3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    RoundRobin,
    Strategy,
    Reverse,
}

/// A stage of the strategy.
#[derive(Debug, Clone)]
pub(crate) struct StageSpec {
    pub(crate) name: String,
    pub(crate) selector: Option<String>,
    pub(crate) groups: Vec<GroupSpec>,
    pub(crate) limits: Limits,
    pub(crate) before: Vec<GateSpec>,
    pub(crate) after: Vec<GateSpec>,
    pub(crate) wait: Millis,
}

/// A group of a stage.
#[derive(Debug, Clone)]
pub(crate) struct GroupSpec {
    pub(crate) name: String,
    pub(crate) selector: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) before: Vec<GateSpec>,
    pub(crate) after: Vec<GateSpec>,
}

/// `maxConcurrency` and `maxAllowedFailures` as written: `3` or `25%`.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) concurrency: Option<String>,
    pub(crate) failures: Option<String>,
}

/// A gate.
#[derive(Debug, Clone)]
pub(crate) struct GateSpec {
    pub(crate) name: Option<String>,
    /// Weekday, time and offset of a scheduled start; absent for an approval.
    pub(crate) schedule: Option<(i64, Millis, Millis)>,
}

/// What one attempt at an update does.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) takes: Millis,
    pub(crate) fails: Option<String>,
}

/// A release and its arrivals.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    /// A node image, or a Kubernetes version.
    pub(crate) what: String,
    pub(crate) is_image: bool,
    /// By region; `*` is every region not named (R-K7).
    pub(crate) arrivals: BTreeMap<String, Millis>,
    pub(crate) support_until: Option<Millis>,
}

/// Something that somebody does.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    pub(crate) at: Millis,
    pub(crate) verb: Verb,
}

/// What is done.
#[derive(Debug, Clone)]
pub(crate) enum Verb {
    /// A place such as `stage:s/before/name`.
    Approve(String),
    Complete(String),
    Stop,
    /// With another kind of restart than the update's (R-D13): whether failed members are retried.
    Start(Option<bool>),
    Skip(Vec<String>),
    AddPool(String, Pool),
}

impl Case {
    /// Reads a scenario and its first strategy, or the one that is named.
    pub(crate) fn read(text: &str, strategy: Option<&str>) -> Self {
        let root = yaml::read(text);
        let start = read_instant(root.need("start").text());
        let end = start + read_span(root.need("horizon").text());
        let strategies = root.get_items("strategies");
        let stages = strategies
            .iter()
            .find(|entry| strategy.is_none_or(|name| entry.need("name").text() == name))
            .map_or(Vec::new(), |entry| entry.get_items("stages").iter().map(stage).collect());
        let script = root.need("script");
        let members = root.need("fleet").get_items("members");
        Self {
            name: root.need("name").text().to_owned(),
            start,
            end,
            capped: root.get_text("serviceLimits").is_none_or(|limits| limits == "azure"),
            clusters: members.iter().map(|member| cluster(member, start, end)).collect(),
            update: update(root.need("update")),
            stages,
            attempts: script.get_pairs("updates").iter().map(attempts).collect(),
            releases: script.get_items("releases").iter().map(release).collect(),
            actions: actions(script.get_items("actions"), start),
        }
    }
}

fn cluster(value: &Value, start: Millis, end: Millis) -> Cluster {
    let window = |name: &str| {
        let configuration = value.get("maintenance").and_then(|all| all.get(name));
        configuration.map(|configuration| Window::read(configuration, start, end))
    };
    let labels = value.get_pairs("labels").iter();
    let provisioning = value.get("nodeProvisioningProfile").and_then(|all| all.get_text("mode"));
    Cluster {
        name: value.need("name").text().to_owned(),
        region: value.need("region").text().to_owned(),
        update_group: value.get_text("updateGroup"),
        labels: labels.map(|(key, value)| (key.clone(), value.text().to_owned())).collect(),
        kubernetes: value.get_text("kubernetesVersion"),
        stopped: value.get_text("powerState").is_some_and(|state| state == "Stopped"),
        long_term_support: value.get_text("longTermSupport").is_some_and(|on| on == "true"),
        node_auto_provisioning: provisioning.is_some_and(|mode| mode == "Auto"),
        pools: value.get_items("pools").iter().map(pool).collect(),
        kubernetes_window: window("aksManagedAutoUpgradeSchedule"),
        image_window: window("aksManagedNodeOSUpgradeSchedule"),
    }
}

fn pool(value: &Value) -> Pool {
    let source = value.get("creationData").and_then(|data| data.get("sourceResourceId"));
    Pool {
        image: value.need("nodeImageVersion").text().to_owned(),
        kubernetes: value.get_text("orchestratorVersion"),
        from_snapshot: source.is_some(),
    }
}

fn update(value: &Value) -> Update {
    let managed = value.need("managedClusterUpdate");
    let upgrade = managed.need("upgrade");
    let selection = managed.get("nodeImageSelection").map_or(Selection::Latest, |selection| {
        match selection.need("type").text() {
            "Latest" => Selection::Latest,
            "Consistent" => Selection::Consistent,
            "Custom" => Selection::Custom(
                selection
                    .get_items("customNodeImageVersions")
                    .iter()
                    .map(|entry| entry.need("version").text().to_owned())
                    .collect(),
            ),
            other => panic!("no selection: {other}"),
        }
    });
    Update {
        upgrade: match upgrade.need("type").text() {
            "Full" => Upgrade::Full,
            "ControlPlaneOnly" => Upgrade::ControlPlaneOnly,
            "NodeImageOnly" => Upgrade::NodeImageOnly,
            other => panic!("no upgrade: {other}"),
        },
        kubernetes: upgrade.get_text("kubernetesVersion"),
        selection,
        skip_stopped: value.get_text("stoppedMembers").is_some_and(|what| what == "skip"),
        retry_failed: value.get_text("restart").is_some_and(|what| what == "retryFailed"),
        poll: read_span(value.get_text("pollInterval").as_deref().unwrap_or("60m")),
        order: match value.get_text("groupOrder").as_deref() {
            None | Some("roundRobin") => Order::RoundRobin,
            Some("strategyOrder") => Order::Strategy,
            Some("reverse") => Order::Reverse,
            Some(other) => panic!("no order: {other}"),
        },
    }
}

fn stage(value: &Value) -> StageSpec {
    let wait = value.get("afterStageWaitInSeconds").map_or(0, Value::number);
    StageSpec {
        name: value.need("name").text().to_owned(),
        selector: selector(value),
        groups: value.get_items("groups").iter().map(group).collect(),
        limits: limits(value),
        before: value.get_items("beforeGates").iter().map(gate).collect(),
        after: value.get_items("afterGates").iter().map(gate).collect(),
        wait: wait * super::clock::SECOND,
    }
}

fn group(value: &Value) -> GroupSpec {
    GroupSpec {
        name: value.need("name").text().to_owned(),
        selector: selector(value),
        limits: limits(value),
        before: value.get_items("beforeGates").iter().map(gate).collect(),
        after: value.get_items("afterGates").iter().map(gate).collect(),
    }
}

fn selector(value: &Value) -> Option<String> {
    value.get("memberSelector").map(|selector| selector.need("byLabel").text().to_owned())
}

fn limits(value: &Value) -> Limits {
    Limits {
        concurrency: value.get_text("maxConcurrency").filter(|text| !text.is_empty()),
        failures: value.get_text("maxAllowedFailures").filter(|text| !text.is_empty()),
    }
}

fn gate(value: &Value) -> GateSpec {
    GateSpec {
        name: value.get_text("displayName"),
        schedule: value.get("scheduledStartConfiguration").map(|schedule| {
            (
                read_weekday(schedule.need("startDay").text()),
                read_time_of_day(schedule.need("startTime").text()),
                read_offset(schedule.get_text("utcOffset").as_deref()),
            )
        }),
    }
}

fn attempts((name, value): &(String, Value)) -> (String, Vec<Attempt>) {
    let one = |value: &Value| Attempt {
        takes: read_span(value.need("takes").text()),
        fails: value.get_text("fails"),
    };
    let list = match value {
        Value::List(list) => list.iter().map(one).collect(),
        single => vec![one(single)],
    };
    (name.clone(), list)
}

fn release(value: &Value) -> Release {
    let image = value.get_text("nodeImage");
    let arrivals = value.need("regions").pairs().iter();
    Release {
        is_image: image.is_some(),
        what: image.unwrap_or_else(|| value.need("kubernetesVersion").text().to_owned()),
        arrivals: arrivals.map(|(region, at)| (region.clone(), read_instant(at.text()))).collect(),
        support_until: value.get("supportUntil").map(|until| read_instant(until.text())),
    }
}

fn actions(list: &[Value], start: Millis) -> Vec<Action> {
    let mut actions: Vec<Action> = list
        .iter()
        .map(|value| Action { at: start + read_span(value.need("at").text()), verb: verb(value) })
        .collect();
    actions.sort_by_key(|action| action.at);
    actions
}

fn verb(value: &Value) -> Verb {
    if let Some(place) = value.get_text("approve") {
        return Verb::Approve(place);
    }
    if let Some(place) = value.get_text("complete") {
        return Verb::Complete(place);
    }
    if value.get("stop").is_some() {
        return Verb::Stop;
    }
    match (value.get("start"), value.get("skip"), value.get("addPool")) {
        (Some(options @ Value::Map(_)), ..) => {
            Verb::Start(options.get_text("restart").map(|what| what == "retryFailed"))
        }
        (Some(_), ..) => Verb::Start(None),
        (_, Some(Value::List(targets)), _) => {
            Verb::Skip(targets.iter().map(|target| target.text().to_owned()).collect())
        }
        (_, Some(target), _) => Verb::Skip(vec![target.text().to_owned()]),
        (_, _, Some(added)) => {
            Verb::AddPool(added.need("member").text().to_owned(), pool(added.need("pool")))
        }
        _ => panic!("no action: {value:?}"),
    }
}
