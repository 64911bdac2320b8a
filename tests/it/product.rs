//! The product as a player of scenarios: read, planned, simulated, and shown in the same words as
//! the reference's.

use fleetsim::experiment::{Experiment, History};
use fleetsim::fleet::NodeImage;
use fleetsim::ids::MemberId;
use fleetsim::report::events::Events;
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::{GatePlan, NodeImageSelection, Plan, Scheduler};
use fleetsim::sim::{Moves, Simulation};
use fleetsim::time::{Span, Timestamp};

use crate::reference::{Final, Millis, Outcome};

/// Plays a scenario with one of its strategies up to an offset, or says which rule refuses it.
pub(crate) fn product(
    text: &str,
    strategy: Option<&str>,
    until: Option<Millis>,
) -> Result<Outcome, String> {
    let no_files = |name: &str| Err(format!("{name}: there are no files here"));
    let show = |errors: Vec<fleetsim::error::Diagnostic>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let (scenario, _) = Scenario::read("case.yaml", text, &no_files).map_err(show)?;
    let named = |s: &&fleetsim::scheduler::Strategy| strategy.is_none_or(|name| s.name == name);
    let strategy = scenario.strategies.iter().find(named).expect("the strategy is there");
    let experiment = Experiment::new(&scenario, [strategy]).map_err(show)?;
    let plan = &experiment.plans[0];
    let mut end = experiment.end();
    if let Some(until) = until {
        end = end.min(scenario.start + Span::from_millis(until));
    }
    let mut simulation = Simulation::new(&experiment.world, plan).checked();
    let mut history = History::default();
    let outcome = simulation.run(0, end, &mut history);
    let delays = simulation.delays(&Moves::of(&history.records), end);
    let makespan = outcome.makespan.unwrap_or(end - scenario.start);
    assert_eq!(delays.total(), makespan, "the delays add up\n{delays:?}\n{text}");
    let codes = experiment.world.codes();
    let events = Events { plan, run: &scenario.name, codes };
    let lines = history.records.iter().map(|record| events.line(record)).collect();
    let refused = history.refused.iter();
    let last = Final {
        refused: refused
            .map(|(at, what, _)| ((*at - scenario.start).as_millis(), what.clone()))
            .collect(),
        ..last(simulation.scheduler(), scenario.start, codes)
    };
    Ok(Outcome { events: lines, last })
}

fn last(scheduler: &Scheduler<'_>, start: Timestamp, codes: &[String]) -> Final {
    let plan = scheduler.plan();
    let name =
        |image: NodeImage| format!("{}-{}", plan.fleet.families[image.family], image.version);
    let mut last = Final {
        run: scheduler.run().state.to_string(),
        failure_count: scheduler.run().failure_count.into(),
        node_image_selection: match &plan.update.node_images {
            NodeImageSelection::Latest => None,
            NodeImageSelection::Consistent => {
                let mut images: Vec<String> = scheduler.target_images().map(name).collect();
                images.sort();
                Some(images)
            }
            NodeImageSelection::Custom(images) => Some(images.iter().copied().map(name).collect()),
        },
        ..Final::default()
    };
    let mut times = |key: String, times: fleetsim::scheduler::Times| {
        let offset = |at: Timestamp| (at - start).as_millis();
        last.started.insert(key.clone(), times.started.map(offset));
        last.completed.insert(key, times.completed.map(offset));
    };
    times("run".to_owned(), scheduler.run().times);
    for (id, stage) in plan.stages.iter_with_ids() {
        let (key, status) = (format!("stage:{}", stage.name), scheduler.stage(id));
        times(key.clone(), status.times);
        last.stages.insert(stage.name.clone(), status.state.to_string());
        last.failures.insert(key.clone(), status.failure_count.into());
        let limits = (stage.max_concurrency.into(), stage.max_allowed_failures.into());
        last.limits.insert(key, limits);
        if stage.wait > Span::ZERO {
            times(format!("wait:{}", stage.name), scheduler.wait(id).times);
            last.waits.insert(stage.name.clone(), scheduler.wait(id).state.to_string());
        }
    }
    for (id, group) in plan.groups.iter_with_ids() {
        let (key, status) = (format!("group:{}", group.name), scheduler.group(id));
        times(key.clone(), status.times);
        last.groups.insert(group.name.clone(), status.state.to_string());
        last.failures.insert(key.clone(), status.failure_count.into());
        let limits = (group.max_concurrency.into(), group.max_allowed_failures.into());
        last.limits.insert(key, limits);
        for member in &group.members {
            let (facts, status) = (&plan.fleet.members[*member], scheduler.member(*member));
            times(format!("member:{}", facts.name), status.times);
            last.members.insert(facts.name.clone(), status.state.to_string());
            *last.counts.entry(status.state.to_string()).or_default() += 1;
            if let Some(reason) = status.reason {
                last.codes.insert(facts.name.clone(), reason.text(codes).to_owned());
            }
        }
    }
    for (id, gate) in plan.gates.iter_with_ids() {
        let key = gate_name(plan, gate);
        times(format!("gate:{key}"), scheduler.gate(id).times);
        last.gates.insert(key, scheduler.gate(id).state.to_string());
    }
    for id in plan.fleet.members.ids() {
        let facts = &plan.fleet.members[id];
        last.images.insert(facts.name.clone(), images(scheduler, id).collect());
        if let Some(version) = scheduler.kubernetes_version(id) {
            last.kubernetes.insert(facts.name.clone(), version.to_string());
        }
    }
    last
}

fn images(scheduler: &Scheduler<'_>, id: MemberId) -> impl Iterator<Item = String> {
    let families = &scheduler.plan().fleet.families;
    scheduler.images(id).map(|image| format!("{}-{}", families[image.family], image.version))
}

fn gate_name(plan: &Plan<'_>, gate: &GatePlan) -> String {
    match gate.group {
        Some(group) => format!("group:{}/{}", plan.groups[group].name, gate.key()),
        None => format!("stage:{}/{}", plan.stages[gate.stage].name, gate.key()),
    }
}
