//! `validate`: what is wrong and what is doubtful about files, before anything is simulated.

use std::fmt::Write as _;

use clap::Args;
use fleetsim::calendar::Window;
use fleetsim::error::{Diagnostic, Severity};
use fleetsim::scenario::alone::{self, Configuration, Kind, Listed};
use fleetsim::scheduler::ServiceLimits;
use fleetsim::time::Timestamp;
use serde_json::{Value, json};

use super::load::Source;
use super::table::Table;
use super::{Console, Exit, Failure, Format, words};

/// So many openings of a window are shown.
const OPENINGS: usize = 5;

const EXAMPLES: &str = "\
Examples:
  fleetsim validate scenarios/*.yaml
  fleetsim validate careful.json            # a strategy alone
  fleetsim validate window.json             # maintenance configurations alone
  fleetsim validate members.json            # a list of fleet members, or of clusters
  az fleet updatestrategy show … | fleetsim validate -

Warnings do not change the exit code, unless --strict makes errors of them; errors make it 2.";

/// Options of `validate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Scenarios, bare strategies, maintenance configurations, members, clusters; `-` reads stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Where the openings of a bare maintenance configuration are counted from [default: now]
    #[arg(long, value_name = "INSTANT")]
    from: Option<Timestamp>,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
}

/// What was found out about one file.
struct Report {
    name: String,
    kind: Kind,
    found: Vec<Diagnostic>,
    /// How it was read, a line each.
    read_as: Vec<String>,
}

/// Carries out `validate`.
pub(crate) fn run(options: &Options, console: &Console) -> Result<Exit, Failure> {
    let mut seen_stdin = false;
    let mut reports = Vec::new();
    for file in &options.files {
        if file == "-" && std::mem::replace(&mut seen_stdin, true) {
            let error = Diagnostic::error("usage", "stdin (`-`) can be read only once");
            return Err(error.hint("name it once").into());
        }
        reports.push(report(file, options.from));
    }
    if options.strict {
        for doubt in reports.iter_mut().flat_map(|report| &mut report.found) {
            doubt.severity = Severity::Error;
        }
    }
    match console.format {
        Format::Json => {
            console.print_json(&json!(reports.iter().map(Report::json).collect::<Vec<_>>()))?;
        }
        Format::Csv | Format::Md => console.print(&table(&reports).render(console.format))?,
        Format::Table => reports.iter().try_for_each(|report| console.print(&report.text()))?,
    }
    let is_fine = reports.iter().all(|report| report.count(Severity::Error) == 0);
    Ok(if is_fine { Exit::Fine } else { Exit::BadInput })
}

fn report(file: &str, from: Option<Timestamp>) -> Report {
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(error) => {
            let name = file.to_owned();
            return Report { name, kind: Kind::Scenario, found: vec![*error], read_as: Vec::new() };
        }
    };
    let (name, kind) = (source.name.clone(), Kind::of(&source.text));
    let result = match kind {
        Kind::Scenario => scenario(source),
        Kind::Strategy => strategy(&source),
        Kind::Maintenance => maintenance(&source, from.unwrap_or_else(now)),
        Kind::Fleet => fleet(&source),
    };
    let (read_as, found) = result.unwrap_or_else(|errors| (Vec::new(), errors));
    Report { name, kind, found, read_as }
}

/// How a file was read, and what is doubtful about it; or what is wrong with it.
type Read = Result<(Vec<String>, Vec<Diagnostic>), Vec<Diagnostic>>;

fn scenario(source: Source) -> Read {
    let loaded = source.scenario(None)?;
    let experiment = match loaded.lay_out(&loaded.candidates(&[])?) {
        Ok(experiment) => experiment,
        // The warnings of the text stand beside the errors of the plans.
        Err(errors) => return Err([loaded.warnings, errors].concat()),
    };
    Ok((Vec::new(), loaded.doubts(&experiment)))
}

fn strategy(source: &Source) -> Read {
    let (stages, warnings) = alone::read_stages(&source.name, &source.text, ServiceLimits::Azure)?;
    let stages = stages.iter().map(|stage| {
        let groups: Vec<&str> = stage.groups.iter().map(|group| group.name.as_str()).collect();
        let groups = match (groups.is_empty(), &stage.member_selector) {
            (true, Some(selector)) => format!("whoever matches `{selector}`"),
            _ => format!("groups {}", words::names(groups.into_iter(), 10)),
        };
        format!("stage {}: {groups}", stage.name)
    });
    Ok((stages.collect(), warnings))
}

/// What a list of members or clusters holds, and what a scenario makes of it.
fn fleet(source: &Source) -> Read {
    let (listed, warnings) = alone::read_fleet(&source.name, &source.text)?;
    let Listed { groups, leaving, clusters, configurations } = listed;
    let members: usize = groups.values().sum();
    let mut read_as = Vec::new();
    for (number, what) in [
        (members, "fleet member"),
        (clusters, "cluster"),
        (configurations, "maintenance configuration"),
    ] {
        if number > 0 {
            read_as.push(words::count(number as u64, what));
        }
    }
    if leaving > 0 {
        read_as.push(format!("{} Leaving, left out", words::count(leaving as u64, "member")));
    }
    for (group, number) in &groups {
        let group = if group.is_empty() { "no group" } else { &format!("group {group}") };
        read_as.push(format!("  {group}: {number}"));
    }
    let (name, other) = match (members, clusters) {
        (0, _) => ("members.json, ", "the groups: az fleet member list -o json > members.json"),
        (_, 0) => {
            ("clusters.json, ", "regions, versions and pools: az aks list -o json > clusters.json")
        }
        _ => ("", ""),
    };
    read_as.push(format!("a scenario takes it as fleet: {{files: [{name}{}]}}", source.name));
    if !other.is_empty() {
        read_as.push(format!("  the other file has {other}"));
    }
    Ok((read_as, warnings))
}

fn maintenance(source: &Source, from: Timestamp) -> Read {
    let (found, warnings) = alone::read_maintenance(&source.name, &source.text)?;
    let mut read_as = Vec::new();
    for Configuration { name, window } in &found {
        let window = Window::new(window, from);
        let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
        read_as.push(format!("{name}{}", window.describe()));
        let mut next = window.intervals_from(from).take(OPENINGS).peekable();
        if next.peek().is_none() {
            read_as.push("  never opens".to_owned());
        }
        read_as.extend(next.map(|interval| format!("  {}", words::interval(interval, from))));
    }
    Ok((read_as, warnings))
}

/// The present second: bare windows are asked about from now on.
#[expect(clippy::disallowed_methods, reason = "people ask about their own calendar, not a clock")]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    Timestamp::from_millis(i64::try_from(seconds).map_or(0, |seconds| seconds * 1_000))
}

impl Report {
    fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    fn what(&self) -> &'static str {
        match self.kind {
            Kind::Scenario => "scenario",
            Kind::Strategy => "strategy",
            Kind::Maintenance => "maintenance configuration",
            Kind::Fleet => "part of a fleet",
        }
    }

    /// `fine`, or `2 errors, 1 warning`.
    fn verdict(&self) -> String {
        let counts = [(Severity::Error, "error"), (Severity::Warning, "warning")];
        let parts: Vec<String> = counts
            .into_iter()
            .map(|(severity, noun)| (self.count(severity), noun))
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| words::count(count as u64, noun))
            .collect();
        if parts.is_empty() { "fine".to_owned() } else { parts.join(", ") }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for diagnostic in &self.found {
            write!(text, "{diagnostic}\n\n").expect("strings take all");
        }
        for line in &self.read_as {
            writeln!(text, "{line}").expect("strings take all");
        }
        let alone =
            if self.kind == Kind::Scenario { String::new() } else { format!(" ({})", self.what()) };
        writeln!(text, "{}: {}{alone}", self.name, self.verdict()).expect("strings take all");
        text
    }

    fn json(&self) -> Value {
        json!({
            "file": self.name,
            "kind": self.what(),
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "readAs": self.read_as.iter().map(|line| line.trim()).collect::<Vec<_>>(),
            "diagnostics": self.found.iter().map(diagnostic_json).collect::<Vec<_>>(),
        })
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let place = diagnostic.place.as_ref();
    json!({
        "severity": word(diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": place.map(|place| &place.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "hint": diagnostic.hint,
        "members": diagnostic.members,
    })
}

/// One row a diagnostic.
fn table(reports: &[Report]) -> Table {
    let columns = ["file", "#line", "#column", "severity", "code", "message", "hint"];
    let mut table = Table::new(&columns);
    for (report, found) in reports.iter().flat_map(|r| r.found.iter().map(move |found| (r, found)))
    {
        let place = found.place.as_ref();
        table.row([
            place.map_or(&report.name, |place| &place.file).clone(),
            place.map_or(String::new(), |place| place.line.to_string()),
            place.map_or(String::new(), |place| place.column.to_string()),
            word(found.severity).to_owned(),
            found.code.to_owned(),
            found.message.clone(),
            found.hint.clone().unwrap_or_default(),
        ]);
    }
    table
}
