//! `policy explain`: what the node disruption policy says about a configuration change.

use clap::{Args, Subcommand};
use fleetsim::calendar::Window;
use fleetsim::error::Diagnostic;
use fleetsim::fleet::{Member, NodeDisruptionPolicy};
use fleetsim::scenario::Scenario;
use fleetsim::scheduler::disruption::{Change, Operation, Scope, Verdict, WINDOW};
use fleetsim::time::Timestamp;
use serde_json::json;

use super::load::{Loaded, Source, nearest};
use super::table::Table;
use super::{Console, Exit, Failure, Format, words};

/// So many names are offered in place of an unknown one.
const MOST_NAMES: usize = 8;

const EXAMPLES: &str = "\
Examples:
  fleetsim policy explain networkPolicy --from none --to azure
  fleetsim policy explain vtpm --from Disabled --to Enabled --policy Block
  fleetsim policy explain customCaTrustCertificates --scenario scenario.yaml --member prod-1

Exits 0 whatever the decision, 2 for an unknown operation or value.";

/// Options of `policy`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    question: Question,
}

/// What can be asked about the policy.
#[derive(Debug, Subcommand)]
enum Question {
    /// Is a change covered, does it reimage nodes, what would happen now, and when next
    Explain(Explain),
}

/// Options of `policy explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct Explain {
    /// The operation, as the API spells it: `networkPolicy`, `vtpm`, `nodeOSUpgradeChannel`
    operation: String,
    /// The value before; needed where an operation has listed values
    #[arg(long, value_name = "VALUE")]
    from: Option<String>,
    /// The value after
    #[arg(long, value_name = "VALUE")]
    to: Option<String>,
    /// `Allow`, `AllowDuringMaintenanceWindow` or `Block` [default: the member's]
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// When it is asked for [default: the scenario's start]
    #[arg(long, value_name = "INSTANT")]
    at: Option<Timestamp>,
    /// The member whose policy and window count
    #[arg(long, value_name = "NAME", requires = "scenario")]
    member: Option<String>,
    /// The scenario with the member; `-` reads stdin
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    /// The same request upgrades the node image or Kubernetes, too
    #[arg(long)]
    with_upgrade: bool,
}

/// Carries out `policy`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let Question::Explain(explain) = &options.question;
    let operation = operation(&explain.operation)?;
    let change = operation.change(explain.from.as_deref(), explain.to.as_deref());
    let mut change = change.map_err(|wrong| {
        let message = wrong.to_string();
        Diagnostic::error("unknown-value", message).hint(match wrong.value {
            Some(_) => "values are written as in the API, lower and upper case included",
            None => "say both: --from VALUE --to VALUE",
        })
    })?;
    change.with_upgrade = explain.with_upgrade;
    let policy = explain.policy.as_deref().map(policy).transpose()?;
    let loaded = explain.scenario.as_deref().map(Source::read).transpose()?;
    let loaded = loaded.map(|source| source.scenario(None)).transpose()?;
    let member = explain.member.as_deref().zip(loaded.as_ref());
    let member = member.map(|(name, loaded)| member_of(loaded, name)).transpose()?;
    let scenario = loaded.as_ref().map(Loaded::scenario);
    let asked = Asked::new(explain, change, policy, member, scenario);
    match console.format {
        Format::Json => console.print_json(&asked.json())?,
        format => console.print(&asked.table().render(format))?,
    }
    Ok(Exit::Fine)
}

fn operation(name: &str) -> Result<Operation, Diagnostic> {
    Operation::named(name).ok_or_else(|| {
        let names = nearest(name, Operation::all().map(Operation::name));
        let near = names.first().expect("there are operations").0;
        let more = names[1..].iter().map(|(name, _)| *name);
        let more = words::names(more, MOST_NAMES);
        Diagnostic::error("unknown-operation", format!("there is no operation `{name}`"))
            .hint(format!("did you mean {near}? Others are {more}"))
    })
}

fn policy(name: &str) -> Result<NodeDisruptionPolicy, Diagnostic> {
    let mut all = NodeDisruptionPolicy::ALL.into_iter();
    all.find(|policy| policy.name() == name).ok_or_else(|| {
        let names = NodeDisruptionPolicy::ALL.map(NodeDisruptionPolicy::name).join(", ");
        Diagnostic::error("unknown-policy", format!("`{name}` is no nodeDisruptionPolicy"))
            .hint(format!("the policies are {names}"))
    })
}

fn member_of<'s>(loaded: &'s Loaded, name: &str) -> Result<&'s Member, Diagnostic> {
    let members = &loaded.scenario().fleet.members;
    members.iter().find(|member| member.name == name).ok_or_else(|| {
        let names = nearest(name, members.iter().map(|member| member.name.as_str()));
        let names = names.into_iter().map(|(name, _)| name);
        Diagnostic::error("unknown-member", format!("{} has no member `{name}`", loaded.name()))
            .hint(format!(
                "its members, the nearest name first: {}",
                words::names(names, MOST_NAMES)
            ))
    })
}

/// A change, with everything that decides about it.
struct Asked<'a> {
    change: Change<'a>,
    policy: Option<NodeDisruptionPolicy>,
    window: Option<&'a Window>,
    at: Timestamp,
    /// What becomes of it; nobody knows without a policy.
    verdict: Option<Verdict>,
}

impl<'a> Asked<'a> {
    fn new(
        explain: &Explain,
        change: Change<'a>,
        policy: Option<NodeDisruptionPolicy>,
        member: Option<&'a Member>,
        scenario: Option<&'a Scenario>,
    ) -> Self {
        let policy = policy.or(member.map(|member| member.node_disruption_policy));
        let window = member.and_then(|member| member.node_os_window);
        let window = window.zip(scenario).map(|(id, scenario)| &scenario.fleet.windows[id]);
        // Without a scenario there is no window, and the instant decides nothing.
        let at = explain.at.or(scenario.map(|scenario| scenario.start)).unwrap_or_default();
        let verdict = policy.map(|policy| change.judge(policy, window, at));
        Self { change, policy, window, at, verdict }
    }

    fn message(&self) -> String {
        let change = &self.change;
        if let Some(verdict) = self.verdict {
            return verdict.message(change);
        }
        // What all policies agree on needs none.
        let verdicts =
            NodeDisruptionPolicy::ALL.map(|policy| change.judge(policy, self.window, self.at));
        if verdicts.iter().all(|verdict| *verdict == verdicts[0]) {
            return verdicts[0].message(change);
        }
        format!(
            "changing {change} reimages nodes: Allow lets it through, \
             AllowDuringMaintenanceWindow while {WINDOW} is open, Block refuses it"
        )
    }

    fn json(&self) -> serde_json::Value {
        let operation = self.change.operation();
        let mut answer = json!({
            "operation": operation.name(),
            "scope": operation.scope().to_string(),
            "from": self.change.from(),
            "to": self.change.to(),
            "reimages": self.change.reimages(),
            "covered": operation.is_covered(),
        });
        if let Some(verdict) = self.verdict {
            answer["decision"] = json!(verdict.decision().to_string());
        }
        answer["message"] = json!(self.message());
        let next = self.verdict.and_then(Verdict::next_opening);
        answer["nextOpening"] = json!(next.map(|at| at.to_string()));
        answer
    }

    /// The answer for people, a line a fact.
    fn table(&self) -> Table {
        let operation = self.change.operation();
        let mut table = Table::new(&["what", "answer"]);
        let mut row = |what: &str, answer: String| table.row([what.to_owned(), answer]);
        row("change", self.change.to_string());
        let covered = if operation.is_covered() { "yes" } else { "no" };
        row("covered", format!("{covered} ({:?})", operation.rule()));
        row(
            "reimages",
            match (self.change.reimages(), operation.scope()) {
                (false, _) => "no node".to_owned(),
                (true, Scope::Cluster) => "the nodes of all pools of the cluster".to_owned(),
                (true, Scope::Pool) => "the nodes of the pool".to_owned(),
            },
        );
        if let (Some(policy), Some(verdict)) = (self.policy, self.verdict) {
            row("policy", policy.name().to_owned());
            if let Some(window) = self.window {
                row("window", window.describe());
                row("asked for", words::instant(self.at));
            }
            row("decision", verdict.decision().to_string());
            if let Some(next) = verdict.next_opening() {
                row("next opening", words::instant(next));
            }
        }
        row("message", self.message());
        table
    }
}
