//! The run as the ARM `updateRuns` resource shows it (section 3 of the rules, R-C13, R-K5).

use serde_json::{Value, json};

use crate::fleet::NodeImage;
use crate::ids::{GateId, GroupId, MemberId, StageId};
use crate::scheduler::plan::ids;
use crate::scheduler::run::{Scheduler, Times};
use crate::scheduler::{GateKind, Limits, NodeImageSelection, Reason, State, Upgrade};
use crate::time::Span;

impl Scheduler<'_> {
    /// The update run as an ARM resource: camelCase, RFC 3339, nulls where nothing is known yet.
    /// `codes` are the texts of failure codes.
    pub fn status(&self, name: &str, codes: &[String]) -> Value {
        let stages: Vec<Value> =
            self.plan.stages.ids().map(|id| self.stage_status(id, codes)).collect();
        let mut resource = json!({
            "name": name,
            "type": "Microsoft.ContainerService/fleets/updateRuns",
            "properties": {
                "provisioningState": "Succeeded",
                "managedClusterUpdate": self.managed_cluster_update(),
                "status": {
                    "status": self.run_status(),
                    "failureCount": self.run.failure_count,
                    "nodeImageSelection": self.node_image_selection(),
                    "stages": stages,
                },
            },
        });
        if let Some(profile) = self.plan.profile {
            let id = format!("autoUpgradeProfiles/{}", profile.name);
            resource["properties"]["autoUpgradeProfileId"] = json!(id);
        }
        resource
    }

    fn image_name(&self, image: NodeImage) -> String {
        format!("{}-{}", self.plan.fleet.families[image.family], image.version)
    }

    fn managed_cluster_update(&self) -> Value {
        let update = self.plan.update;
        let upgrade = self.upgrade();
        let (kind, version) = match upgrade {
            Upgrade::Full(version) => ("Full", Some(version)),
            Upgrade::ControlPlaneOnly(version) => ("ControlPlaneOnly", Some(version)),
            Upgrade::NodeImageOnly => ("NodeImageOnly", None),
        };
        let control_plane_only = matches!(upgrade, Upgrade::ControlPlaneOnly(_));
        let upgrade = match version {
            Some(version) => json!({"type": kind, "kubernetesVersion": version.to_string()}),
            None => json!({"type": kind}),
        };
        if control_plane_only {
            return json!({"upgrade": upgrade});
        }
        let selection = match &update.node_images {
            NodeImageSelection::Latest => json!({"type": "Latest"}),
            NodeImageSelection::Consistent => json!({"type": "Consistent"}),
            NodeImageSelection::Custom(_) => {
                let versions = self.given_images().map(|name| json!({"version": name}));
                json!({"type": "Custom", "customNodeImageVersions": versions.collect::<Vec<_>>()})
            }
        };
        json!({"upgrade": upgrade, "nodeImageSelection": selection})
    }

    /// The images that a Custom run was given: with its update, or as a profile's target.
    fn given_images(&self) -> impl Iterator<Item = String> + '_ {
        let written = match &self.plan.update.node_images {
            NodeImageSelection::Custom(images) if self.plan.profile.is_none() => &images[..],
            _ => &[],
        };
        let aimed = self.observed.targets().filter(|_| self.plan.profile.is_some());
        written.iter().copied().chain(aimed).map(|image| self.image_name(image))
    }

    /// The images of the run: chosen from its start on, or given; none under Latest (R-I15).
    fn node_image_selection(&self) -> Value {
        let mut images: Vec<String> = match &self.plan.update.node_images {
            NodeImageSelection::Latest => return Value::Null,
            NodeImageSelection::Consistent if self.run.state == State::NotStarted => {
                return Value::Null;
            }
            NodeImageSelection::Custom(_) => self.given_images().collect(),
            NodeImageSelection::Consistent => {
                self.observed.targets().map(|image| self.image_name(image)).collect()
            }
        };
        if self.plan.update.node_images == NodeImageSelection::Consistent {
            images.sort();
        }
        let versions: Vec<Value> = images.iter().map(|image| json!({"version": image})).collect();
        json!({"selectedNodeImageVersions": versions})
    }

    fn run_status(&self) -> Value {
        let failed = self.run.state == State::Failed || self.run.halt == Some(State::Failed);
        let error = failed.then(|| {
            let stage = self.stages.iter_with_ids().find(|(_, stage)| stage.failed);
            let name = stage.map_or("", |(id, _)| &self.plan.stages[id].name);
            error(Reason::StageFailed.text(&[]), &format!("stage \"{name}\" has failed"))
        });
        life(self.run.state, self.run.times, error.as_ref())
    }

    fn stage_status(&self, id: StageId, codes: &[String]) -> Value {
        let (plan, stage) = (&self.plan.stages[id], &self.stages[id]);
        let because = stage.error.map(|reason| match reason {
            Reason::GroupFailed => {
                let group = ids::<GroupId>(&plan.groups).find(|id| self.groups[*id].failed);
                let name = group.map_or("", |id| &self.plan.groups[id].name);
                error(reason.text(codes), &format!("group \"{name}\" has failed"))
            }
            _ => error(reason.text(codes), &exceeded(stage.failures, stage.limits)),
        });
        let groups: Vec<Value> =
            ids::<GroupId>(&plan.groups).map(|id| self.group_status(id, codes)).collect();
        let wait = (plan.wait > Span::ZERO).then(|| {
            let wait = &self.waits[id];
            json!({
                "status": life(wait.state, wait.times, None),
                "waitDurationInSeconds": plan.wait.as_millis() / 1_000,
            })
        });
        json!({
            "name": plan.name,
            "status": life(stage.state, stage.times, because.as_ref()),
            "maxConcurrency": stage.limits.max_concurrency,
            "maxAllowedFailures": stage.limits.max_allowed_failures,
            "failureCount": stage.failure_count,
            "beforeGates": self.gate_statuses(&plan.before_gates),
            "afterGates": self.gate_statuses(&plan.after_gates),
            "groups": groups,
            "afterStageWaitStatus": wait,
        })
    }

    fn group_status(&self, id: GroupId, codes: &[String]) -> Value {
        let (plan, group) = (&self.plan.groups[id], &self.groups[id]);
        let because = group
            .error
            .map(|reason| error(reason.text(codes), &exceeded(group.failures, group.limits)));
        let members: Vec<Value> =
            self.members_of(id).map(|id| self.member_status(id, codes)).collect();
        let message = (group.limits.size == 0 && group.state == State::Skipped)
            .then_some("the group has no members");
        json!({
            "name": plan.name,
            "status": life(group.state, group.times, because.as_ref()),
            "message": message,
            "maxConcurrency": group.limits.max_concurrency,
            "maxAllowedFailures": group.limits.max_allowed_failures,
            "failureCount": group.failure_count,
            "beforeGates": self.gate_statuses(&plan.before_gates),
            "afterGates": self.gate_statuses(&plan.after_gates),
            "members": members,
        })
    }

    fn member_status(&self, id: MemberId, codes: &[String]) -> Value {
        let (facts, member) = (&self.plan.fleet.members[id], self.member(id));
        let message = member.reason.map(|reason| self.explain(id, reason));
        let failed = matches!(member.state, State::Failed | State::Pending);
        let because = member
            .reason
            .filter(|_| failed)
            .map(|reason| error(reason.text(codes), message.as_deref().unwrap_or_default()));
        json!({
            "name": facts.name,
            "clusterResourceId": facts.cluster_resource_id,
            "operationId": Value::Null,
            "status": life(member.state, member.times, because.as_ref()),
            "message": message,
        })
    }

    /// Why a member is where it is, in a sentence for people.
    fn explain(&self, id: MemberId, reason: Reason) -> String {
        let (facts, member) = (&self.plan.fleet.members[id], self.member(id));
        let region = &self.plan.fleet.regions[facts.region];
        let target = self.upgrade().kubernetes_version();
        let target = target.map_or_else(String::new, |version| version.to_string());
        let current = self.observed.kubernetes_of(id);
        let current = current.map_or_else(String::new, |version| version.to_string());
        match reason {
            Reason::MaintenanceWindowClosed => match member.until {
                Some(until) => {
                    format!("the maintenance window is closed; it opens next at {until}")
                }
                None => "the maintenance window is closed and does not open again".to_owned(),
            },
            Reason::NodeImageVersionNotAvailable => {
                format!("a target node image is not available in region \"{region}\" yet")
            }
            Reason::KubernetesVersionNotAvailable => {
                format!("Kubernetes {target} is not available in region \"{region}\" yet")
            }
            Reason::MemberBusy => "another operation is at work on the member".to_owned(),
            Reason::User => "skipped by request".to_owned(),
            Reason::AlreadyAtTarget => "the member is at the target already".to_owned(),
            Reason::TargetVersionOlder => {
                format!("the target Kubernetes {target} is older than the member's {current}")
            }
            Reason::NodeImageVersionNotFound => {
                "no node image was chosen for the family of one of the member's pools".to_owned()
            }
            Reason::MemberStopped => "the cluster's power state is Stopped".to_owned(),
            Reason::MemberLeft => "the member has left the fleet".to_owned(),
            Reason::NodeAutoProvisioningUnsupported => {
                "a cluster with node auto-provisioning takes ControlPlaneOnly updates only"
                    .to_owned()
            }
            Reason::KubernetesMinorVersionSkipped => {
                format!("Kubernetes minors cannot be skipped: {current} to {target}")
            }
            Reason::LongTermSupportRequired if member.state == State::Skipped => {
                format!(
                    "Kubernetes {current} is out of its support window: auto-upgrade leaves the \
                     member alone"
                )
            }
            Reason::LongTermSupportRequired => {
                format!(
                    "Kubernetes {target} is out of community support; it needs long-term support"
                )
            }
            Reason::NodeImageVersionExpired => {
                "the target node image was published over 90 days ago".to_owned()
            }
            Reason::Reported(_) => "the update failed".to_owned(),
            Reason::AllMembersSkipped
            | Reason::NoMembers
            | Reason::AllGroupsSkipped
            | Reason::MaxAllowedFailuresExceeded
            | Reason::GroupFailed
            | Reason::StageFailed => String::new(),
        }
    }

    fn gate_statuses(&self, gates: &std::ops::Range<u32>) -> Vec<Value> {
        let status = |id: GateId| {
            let (plan, gate) = (&self.plan.gates[id], &self.gates[id]);
            let mut value = json!({
                "displayName": plan.display_name,
                "gateId": Value::Null,
                "status": life(gate.state, gate.times, None),
            });
            if matches!(plan.kind, GateKind::ScheduledStart(_)) {
                value["absoluteStartTime"] = json!(gate.absolute_start.map(|at| at.to_string()));
            }
            value
        };
        ids::<GateId>(gates).map(status).collect()
    }
}

fn life(state: State, times: Times, error: Option<&Value>) -> Value {
    json!({
        "state": state.name(),
        "startTime": times.started.map(|at| at.to_string()),
        "completedTime": times.completed.map(|at| at.to_string()),
        "error": error,
    })
}

fn error(code: &str, message: &str) -> Value {
    json!({"code": code, "message": message})
}

fn exceeded(failures: u32, limits: Limits) -> String {
    let Limits { size, max_allowed_failures: allowed, .. } = limits;
    format!("{failures} of {size} members have failed, {allowed} may")
}
