//! The fleet: members, their pools and windows, whatever source they come from.

use std::collections::BTreeMap;

use super::access::{Field, Map, Notes, nearest};
use super::files::Loader;
use super::tree::{Node, Spot, Value};
use super::{population, window};
use crate::calendar::{MaintenanceWindow, Window};
use crate::fleet::{
    Amount, Fleet, KubernetesChannel, KubernetesVersion, Member, NodeDisruptionPolicy, NodeImage,
    OsType, OwnUpgrades, Pool, PoolImage, PoolMode, PowerState, UndrainableNodeBehavior, regions,
};
use crate::ids::{Column, FamilyId, Id, MemberId, RegionId, WindowId};
use crate::scheduler::ServiceLimits;
use crate::time::{Span, Timestamp};

const MEMBER: &[&str] = &[
    "name",
    "region",
    "updateGroup",
    "labels",
    "kubernetesVersion",
    "powerState",
    "longTermSupport",
    "nodeAutoProvisioning",
    "nodeProvisioningProfile",
    "pools",
    "maintenance",
    "nodeDisruptionPolicy",
    "autoUpgradeProfile",
    "clusterResourceId",
];
const POOL: &[&str] = &[
    "name",
    "mode",
    "osType",
    "nodeImageVersion",
    "orchestratorVersion",
    "count",
    "maxSurge",
    "maxUnavailable",
    "drainTimeoutInMinutes",
    "nodeSoakDurationInMinutes",
    "maxPods",
    "undrainableNodeBehavior",
    "ephemeralData",
    "creationData",
];
/// `default` is read and plays no part in update runs (U9, R-I18).
const CONFIGURATIONS: [&str; 3] =
    ["aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule", "default"];
/// The most members a fleet may have (`serviceLimits: azure`).
pub(super) const MOST_MEMBERS: usize = 1_000;

/// What `script.releases` says about regions, needed before the fleet is read.
#[derive(Debug, Default)]
pub(super) struct ScriptedRegions<'a> {
    /// Whether the key is there at all.
    pub(super) scripted: bool,
    /// Whether a release reaches `*`.
    pub(super) everywhere: bool,
    /// Regions by name.
    pub(super) named: Vec<&'a str>,
}

/// A fleet that grows member by member.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) notes: &'a Notes,
    pub(super) start: Timestamp,
    pub(super) scripted: ScriptedRegions<'a>,
    pub(super) fleet: Fleet,
    /// Where each member stands.
    pub(super) places: Column<MemberId, Spot>,
    /// Where each window is described first.
    pub(super) window_places: Column<WindowId, Spot>,
    /// Where configurations called `default` stand.
    pub(super) default_configurations: Vec<Spot>,
    /// What they say, each where it is described first.
    pub(super) default_windows: BTreeMap<MaintenanceWindow, Spot>,
    /// How many versions behind pools are of which no image is said.
    pub(super) default_behind: u32,
    names: BTreeMap<String, MemberId>,
    regions: BTreeMap<String, RegionId>,
    families: BTreeMap<String, FamilyId>,
    windows: BTreeMap<MaintenanceWindow, WindowId>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(notes: &'a Notes, start: Timestamp, scripted: ScriptedRegions<'a>) -> Self {
        Self {
            notes,
            start,
            scripted,
            fleet: Fleet::default(),
            places: Column::new(),
            window_places: Column::new(),
            default_configurations: vec![],
            default_windows: BTreeMap::new(),
            default_behind: 1,
            names: BTreeMap::new(),
            regions: BTreeMap::new(),
            families: BTreeMap::new(),
            windows: BTreeMap::new(),
        }
    }

    /// Reads `fleet`.
    pub(super) fn read(
        &mut self,
        field: &Field<'_>,
        seed: u64,
        limits: ServiceLimits,
        loader: &Loader<'_>,
    ) {
        let Some(map) = field.map("the fleet", &["members", "populations", "files"]) else {
            return;
        };
        if map.spot("members").or(map.spot("populations")).or(map.spot("files")).is_none() {
            field
                .fail("missing-key", "the fleet needs `members`, `populations` or `files`")
                .hint("for a fleet without anybody write `members: []`");
        }
        for item in map.get("members").iter().filter_map(Field::items).flatten() {
            self.member(&item);
        }
        let populations = map.get("populations");
        for (number, item) in populations.iter().filter_map(Field::items).flatten().enumerate() {
            population::read(self, &item, seed, number, loader);
        }
        if let Some(files) = map.get("files") {
            super::files::read_fleet(self, &files, loader);
        }
        if limits == ServiceLimits::Azure && self.fleet.members.len() > MOST_MEMBERS {
            let count = self.fleet.members.len();
            let message = format!("the fleet has {count} members; the service allows 1000");
            field
                .fail("service-limit", message)
                .hint("lift the service's caps with `serviceLimits: none`");
        }
    }

    /// Reads one member and appends it.
    pub(super) fn member(&mut self, field: &Field<'_>) {
        let Some(map) = field.map("a member", MEMBER) else { return };
        let name = map.need("name").and_then(|field| member_name(&field)).unwrap_or_default();
        let region_name = map.need("region").and_then(|field| field.filled_text());
        let region = map.get("region").and_then(|field| self.known_region(&field));
        let (kubernetes_window, node_os_window) = self.maintenance(&map, region_name);
        let member = Member {
            name,
            joins: false,
            region: region.unwrap_or(RegionId::new(0)),
            update_group: map
                .get("updateGroup")
                .and_then(|field| field.text())
                .filter(|group| !group.is_empty())
                .map(str::to_owned),
            labels: map.get("labels").map(|field| labels(&field)).unwrap_or_default(),
            kubernetes_version: map.get("kubernetesVersion").and_then(|field| kubernetes(&field)),
            power_state: map.get("powerState").and_then(|f| power_state(&f)).unwrap_or_default(),
            long_term_support: flag(&map, "longTermSupport"),
            node_auto_provisioning: flag(&map, "nodeAutoProvisioning") || provisioning(&map),
            pools: self.pools(&map),
            kubernetes_window,
            node_os_window,
            node_disruption_policy: map
                .get("nodeDisruptionPolicy")
                .and_then(|field| disruption_policy(&field))
                .unwrap_or_default(),
            auto_upgrade_channel: map.get("autoUpgradeProfile").and_then(|field| channel(&field)),
            own_upgrades: map.get("autoUpgradeProfile").map(own_upgrades).unwrap_or_default(),
            cluster_resource_id: map
                .get("clusterResourceId")
                .and_then(|field| field.filled_text())
                .map(str::to_owned),
        };
        self.push(member, field.at(), map.place_of("name"));
    }

    /// Appends a member, unless its name is taken.
    pub(super) fn push(&mut self, member: Member, at: Spot, name_at: Spot) {
        if member.name.is_empty() {
            return;
        }
        let id = MemberId::new(self.fleet.members.len());
        if let Some(other) = self.names.insert(member.name.clone(), id) {
            let place = self.notes.sources.place(self.places[other]);
            let message = format!("two members are called `{}`", member.name);
            self.notes
                .error(name_at, "duplicate-name", message)
                .hint(format!("the other is in {} on line {}", place.file, place.line));
        }
        self.fleet.members.push(member);
        self.places.push(at);
    }

    /// The member of this name; an error if there is none.
    pub(super) fn find_member(&self, name: &str, at: Spot) -> Option<MemberId> {
        let found = self.names.get(name).copied();
        if found.is_none() {
            let noted =
                self.notes.error(at, "unknown-member", format!("no member is called `{name}`"));
            if let Some(near) = nearest(name, self.names.keys().map(String::as_str)) {
                noted.hint(format!("did you mean `{near}`?"));
            }
        }
        found
    }

    /// The member of this name, if there is one.
    pub(super) fn known_member(&self, name: &str) -> Option<MemberId> {
        self.names.get(name).copied()
    }

    /// The id of a region.
    pub(super) fn region(&mut self, name: &str) -> RegionId {
        if let Some(id) = self.regions.get(name) {
            return *id;
        }
        let id = self.fleet.regions.push(name.to_owned());
        self.regions.insert(name.to_owned(), id);
        id
    }

    /// Whether a member lives in this region.
    pub(super) fn is_inhabited(&self, region: RegionId) -> bool {
        self.fleet.members.iter().any(|member| member.region == region)
    }

    /// A member's region: one that the cloud has, or that the script speaks of.
    pub(super) fn known_region(&mut self, field: &Field<'_>) -> Option<RegionId> {
        let name = field.filled_text()?;
        let scripted = self.scripted.everywhere || self.scripted.named.contains(&name);
        if !scripted && regions::find(name).is_none() {
            let noted = field.fail("unknown-region", format!("`{name}` is not a region"));
            match regions::nearest(name) {
                Some(near) => noted.hint(format!("did you mean `{}`?", near.name)),
                None => noted.hint(
                    "write its programmatic name, such as westeurope; a region of your own must be \
                     named in `script.releases`",
                ),
            }
            return None;
        }
        Some(self.region(name))
    }

    /// The id of an image family.
    pub(super) fn family(&mut self, name: &str) -> FamilyId {
        if let Some(id) = self.families.get(name) {
            return *id;
        }
        let id = self.fleet.families.push(name.to_owned());
        self.families.insert(name.to_owned(), id);
        id
    }

    /// A node image by its full name: the family up to the last hyphen, then the version (R-I2).
    pub(super) fn image(&mut self, field: &Field<'_>) -> Option<NodeImage> {
        let text = field.filled_text()?;
        let parts = text.rsplit_once('-').filter(|(family, _)| !family.is_empty());
        let version = parts.and_then(|(_, version)| version.parse().ok());
        let (Some((family, _)), Some(version)) = (parts, version) else {
            field
                .fail("wrong-type", format!("`{text}` is not the name of a node image"))
                .hint("it is FAMILY-VERSION, such as AKSUbuntu-2204gen2containerd-202602.13.0");
            return None;
        };
        Some(NodeImage { family: self.family(family), version })
    }

    fn maintenance(
        &mut self,
        map: &Map<'_>,
        region: Option<&str>,
    ) -> (Option<WindowId>, Option<WindowId>) {
        let mut windows = [None, None];
        let Some(field) = map.get("maintenance") else { return (None, None) };
        let entries = field.entries("a map from configuration names to windows");
        for entry in entries.unwrap_or_default() {
            let Some(which) = CONFIGURATIONS.iter().position(|name| *name == entry.key) else {
                let key = &entry.key;
                let message = format!("`{key}` is not the name of a maintenance configuration");
                let near = nearest(key, CONFIGURATIONS.into_iter());
                self.notes.error(entry.at, "R-I18", message).hint(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the names are {}", CONFIGURATIONS.join(", ")),
                });
                continue;
            };
            if entry.value.is_null() {
                continue;
            }
            let name = CONFIGURATIONS[which];
            let field = Field::new(self.notes, name, &entry.value);
            let description = window::read(&field, region, name == "default");
            match (description, windows.get_mut(which)) {
                (Some(description), Some(slot)) => *slot = Some(self.window(description, entry.at)),
                (description, None) => {
                    self.default_configurations.push(entry.at);
                    if let Some(description) = description {
                        self.default_windows.entry(description).or_insert(entry.at);
                    }
                }
                (None, _) => {}
            }
        }
        windows.into()
    }

    /// The id of a window; equal descriptions share one.
    pub(super) fn window(&mut self, description: MaintenanceWindow, at: Spot) -> WindowId {
        if let Some(id) = self.windows.get(&description) {
            return *id;
        }
        self.window_places.push(at);
        let id = self.fleet.windows.push(Window::new(&description, self.start));
        self.windows.insert(description, id);
        id
    }

    fn pools(&mut self, map: &Map<'_>) -> Vec<Pool> {
        let mut pools: Vec<Pool> = vec![];
        for item in map.get("pools").iter().filter_map(Field::items).flatten() {
            let position = pools.len() + 1;
            let Some(pool) = self.pool(&item, position) else { continue };
            if pools.iter().any(|other| other.name == pool.name) {
                let message = format!("two pools of this member are called `{}`", pool.name);
                item.fail("duplicate-name", message).hint("give each pool its own `name`");
            }
            pools.push(pool);
        }
        pools
    }

    /// Reads a node pool; `position` names it if it has no name.
    pub(super) fn pool(&mut self, field: &Field<'_>, position: usize) -> Option<Pool> {
        let map = field.map("a pool", POOL)?;
        let name = map.get("name").and_then(|field| field.filled_text());
        let name = name.map_or_else(|| format!("nodepool{position}"), str::to_owned);
        let modes = [("System", PoolMode::System), ("User", PoolMode::User)];
        let mode = map.get("mode").and_then(|field| field.word(&modes)).unwrap_or_default();
        let (os_type, image) = self.os_and_image(&map);
        let surge = map.get("maxSurge").and_then(|field| field.amount(0));
        let unavailable = map.get("maxUnavailable").and_then(|field| field.amount(0));
        let (surge, unavailable) =
            (surge.unwrap_or(Amount::Count(1)), unavailable.unwrap_or(Amount::Count(0)));
        let none = |amount| matches!(amount, Amount::Count(0) | Amount::Percent(0));
        if !none(unavailable) && mode == PoolMode::System {
            let at = map.place_of("maxUnavailable");
            self.notes
                .error(at, "P1", "a system pool cannot have `maxUnavailable`")
                .hint("write `mode: User`, or use `maxSurge`");
        }
        if none(surge) && none(unavailable) {
            let at = map.place_of("maxSurge");
            self.notes
                .error(
                    at,
                    "P1",
                    "with neither surge nor unavailable nodes the pool cannot be updated",
                )
                .hint("write maxSurge: \"1\", or a maxUnavailable on a user pool");
        }
        let minutes = |key, low, high, default| {
            let field = map.get(key);
            Span::from_mins(field.and_then(|f| f.integer(low, high)).unwrap_or(default))
        };
        let behaviours = [
            ("Schedule", UndrainableNodeBehavior::Schedule),
            ("Cordon", UndrainableNodeBehavior::Cordon),
        ];
        let undrainable = map.get("undrainableNodeBehavior").and_then(|f| f.word(&behaviours));
        let from_snapshot = map.get("creationData").is_some_and(|field| {
            let data = field.map("creationData", &["sourceResourceId"]);
            data.is_some_and(|data| data.get("sourceResourceId").is_some())
        });
        Some(Pool {
            name,
            mode,
            os_type,
            image,
            orchestrator_version: map.get("orchestratorVersion").and_then(|f| kubernetes(&f)),
            count: map.get("count").and_then(|field| field.integer(0, 1_000)).unwrap_or(3),
            max_surge: surge,
            max_unavailable: unavailable,
            drain_timeout: minutes("drainTimeoutInMinutes", 5, 1_440, 30),
            node_soak: minutes("nodeSoakDurationInMinutes", 0, 30, 0),
            max_pods: map.get("maxPods").and_then(|field| field.integer(1, 250)).unwrap_or(30),
            undrainable: undrainable.unwrap_or_default(),
            ephemeral_data: map.own("ephemeralData").and_then(|f| f.boolean()).unwrap_or(true),
            from_snapshot,
        })
    }

    /// The image decides the operating system; without an image the operating system decides the
    /// family.
    fn os_and_image(&mut self, map: &Map<'_>) -> (OsType, PoolImage) {
        let words = [("Linux", OsType::Linux), ("Windows", OsType::Windows)];
        let written = map.get("osType").and_then(|field| field.word(&words));
        let field = map.get("nodeImageVersion");
        if self.scripted.scripted && field.is_none_or(|field| field.node.get("behind").is_some()) {
            let message = "under `script.releases` a pool needs its image by name";
            self.notes
                .error(map.place_of("nodeImageVersion"), "R-I19", message)
                .hint("write nodeImageVersion: AKSUbuntu-2204gen2containerd-202602.13.0, say");
        }
        let image = match field {
            Some(field) if matches!(field.node.value, Value::Map(_)) => {
                self.behind(&field, written)
            }
            Some(field) => self.image(&field).map(PoolImage::Exactly),
            None => Some(self.default_image(written, self.default_behind)),
        };
        let image = image.unwrap_or_else(|| self.default_image(written, self.default_behind));
        let is_windows = self.fleet.families[image.family()].starts_with("AKSWindows");
        let by_family = if is_windows { OsType::Windows } else { OsType::Linux };
        if written.is_some_and(|written| written != by_family) {
            let family = &self.fleet.families[image.family()];
            let message = format!("`{family}` is an image of the other osType");
            self.notes
                .error(map.place_of("osType"), "conflict", message)
                .hint("take `osType` out: the image says which it is");
        }
        (by_family, image)
    }

    fn default_image(&mut self, os: Option<OsType>, versions: u32) -> PoolImage {
        let family = match os.unwrap_or_default() {
            OsType::Linux => "AKSUbuntu-2204gen2containerd",
            OsType::Windows => "AKSWindows-2022-containerd",
        };
        PoolImage::Behind { family: self.family(family), versions }
    }

    /// `{behind: N}`, perhaps of a family.
    fn behind(&mut self, field: &Field<'_>, os: Option<OsType>) -> Option<PoolImage> {
        let map = field.map("a nodeImageVersion", &["behind", "family"])?;
        let versions = map.need("behind")?.integer(0, 20)?;
        let family = map.get("family").and_then(|field| field.filled_text());
        Some(match family {
            Some(family) => PoolImage::Behind { family: self.family(family), versions },
            None => self.default_image(os, versions),
        })
    }
}

/// A member's name: anything on one line but the star, which stands for the rest in scripts.
fn member_name(field: &Field<'_>) -> Option<String> {
    let name = field.filled_text()?;
    if name == "*" {
        field.fail("out-of-range", "a member cannot be called `*`");
        return None;
    }
    Some(name.to_owned())
}

/// A Kubernetes version.
pub(super) fn kubernetes(field: &Field<'_>) -> Option<KubernetesVersion> {
    field.parsed("a Kubernetes version such as 1.33.3")
}

fn flag(map: &Map<'_>, key: &'static str) -> bool {
    map.get(key).and_then(|field| field.boolean()).unwrap_or(false)
}

fn labels(field: &Field<'_>) -> BTreeMap<String, String> {
    let entries = field.entries("a map of labels, such as {env: prod}").unwrap_or_default();
    let label = |key: &str, node: &Node| {
        let text = Field::new(field.notes, key, node).text()?;
        Some((key.to_owned(), text.to_owned()))
    };
    entries.iter().filter_map(|entry| label(&entry.key, &entry.value)).collect()
}

/// `powerState: Stopped`, or as ARM has it, `{code: Stopped}`.
pub(super) fn power_state(field: &Field<'_>) -> Option<PowerState> {
    let words = [("Running", PowerState::Running), ("Stopped", PowerState::Stopped)];
    match field.node.value {
        Value::Map(_) => field.map("a powerState", &["code"])?.need("code")?.word(&words),
        _ => field.word(&words),
    }
}

/// `nodeProvisioningProfile: {mode: Auto}`, as ARM has it (U8).
pub(super) fn provisioning(map: &Map<'_>) -> bool {
    let profile = map.get("nodeProvisioningProfile");
    let profile = profile.and_then(|f| f.open_map("a nodeProvisioningProfile", &["mode"]));
    let mode = profile.and_then(|profile| profile.get("mode"));
    mode.and_then(|field| field.word(&[("Auto", true), ("Manual", false)])).unwrap_or(false)
}

/// `nodeDisruptionPolicy` (N1).
pub(super) fn disruption_policy(field: &Field<'_>) -> Option<NodeDisruptionPolicy> {
    field.word(&[
        ("Allow", NodeDisruptionPolicy::Allow),
        ("AllowDuringMaintenanceWindow", NodeDisruptionPolicy::AllowDuringMaintenanceWindow),
        ("Block", NodeDisruptionPolicy::Block),
    ])
}

/// `autoUpgradeProfile`: the cluster's own channel, if one is on (U10).
pub(super) fn channel(field: &Field<'_>) -> Option<String> {
    let keys = &["upgradeChannel", "nodeOSUpgradeChannel"];
    let map = field.map("an autoUpgradeProfile", keys)?;
    let off = ["none", "None", "Unmanaged", "Unspecified"];
    let on = |key| map.get(key).and_then(|field| field.filled_text()).filter(|c| !off.contains(c));
    on("upgradeChannel").or(on("nodeOSUpgradeChannel")).map(str::to_owned)
}

/// What the channels of an `autoUpgradeProfile` bring; `SecurityPatch` counts as images (ours).
pub(super) fn own_upgrades(field: Field<'_>) -> OwnUpgrades {
    let Value::Map(entries) = &field.node.value else { return OwnUpgrades::default() };
    let of = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key);
        entry.and_then(|entry| entry.value.as_text()).unwrap_or_default().to_lowercase()
    };
    let (kubernetes, node_os) = (of("upgradeChannel"), of("nodeOSUpgradeChannel"));
    OwnUpgrades {
        kubernetes: match kubernetes.as_str() {
            "patch" => Some(KubernetesChannel::Patch),
            "stable" => Some(KubernetesChannel::Stable),
            "rapid" => Some(KubernetesChannel::Rapid),
            _ => None,
        },
        images: kubernetes == "node-image" || ["nodeimage", "securitypatch"].contains(&&*node_os),
    }
}
