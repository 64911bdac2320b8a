//! The only room that opens input files: scenarios, what they name, and their strategies laid over
//! their fleets.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use fleetsim::error::Diagnostic;
use fleetsim::experiment::Experiment;
use fleetsim::fleet::Member;
use fleetsim::scenario::variants::{JOINT, Tried};
use fleetsim::scenario::vary::{self, Edit};
use fleetsim::scenario::{Scenario, lints};
use fleetsim::scheduler::{Plan, Strategy};

/// A strategy, and the variant of the scenario that carries it out.
pub(crate) type Candidate<'l> = (&'l Scenario, &'l Strategy);

/// So many errors of one strategy are shown; more are one mistake many times.
const MOST_ERRORS: usize = 10;

/// One file named on the command line; `-` is stdin.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// As people named it.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) text: String,
    /// Where the files it names are.
    folder: PathBuf,
}

/// A scenario that was read, with what is doubtful about it.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The scenario's variants, at least one: itself where it has none.
    pub(crate) scenarios: Vec<Scenario>,
    /// Warnings, in the order of their places.
    pub(crate) warnings: Vec<Diagnostic>,
    source: Source,
}

impl Source {
    /// Reads a file, or stdin.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub(crate) fn read(path: &str) -> Result<Self, Box<Diagnostic>> {
        if path == "-" {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|why| {
                let message = format!("stdin cannot be read: {why}");
                Diagnostic::error("file", message)
                    .hint("pipe a scenario into it: cat scenario.yaml | fleetsim validate -")
            })?;
            let text = String::from_utf8(bytes).map_err(|_| not_text("stdin"))?;
            return Ok(Self { name: "<stdin>".to_owned(), text, folder: PathBuf::new() });
        }
        let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
        let bytes = fs::read(path).map_err(|why| {
            let why = reason(&why);
            let message = format!("{path}, named on the command line, cannot be read: {why}");
            Diagnostic::error("file", message).hint(hint(Path::new(path)))
        })?;
        let text = String::from_utf8(bytes).map_err(|_| not_text(path))?;
        Ok(Self { name: path.to_owned(), text, folder })
    }

    /// Reads the scenario in it; another seed than the scenario's draws another fleet and other
    /// luck.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn scenario(self, seed: Option<u64>) -> Result<Loaded, Vec<Diagnostic>> {
        self.varied(seed, &[])
    }

    /// The same, with other values in it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn varied(
        self,
        seed: Option<u64>,
        edits: &[Edit],
    ) -> Result<Loaded, Vec<Diagnostic>> {
        self.every(seed, edits, &[])
    }

    /// The same, with variants besides its own.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn tried(
        self,
        seed: Option<u64>,
        tried: &[Tried],
    ) -> Result<Loaded, Vec<Diagnostic>> {
        self.every(seed, &[], tried)
    }

    fn every(
        self,
        seed: Option<u64>,
        edits: &[Edit],
        tried: &[Tried],
    ) -> Result<Loaded, Vec<Diagnostic>> {
        let open = |name: &str| {
            let path = self.folder.join(name);
            let bytes = fs::read(&path).map_err(|why| {
                let why = reason(&why);
                let moved = path != Path::new(name);
                if moved { format!("{why} ({})", path.display()) } else { why }
            })?;
            String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
        };
        match Scenario::read_all(&self.name, &self.text, &open, seed, edits, tried) {
            Ok((scenarios, warnings)) => {
                let warnings = warnings.into_iter().map(|found| self.as_named(found)).collect();
                Ok(Loaded { scenarios, warnings, source: self })
            }
            Err(errors) => Err(errors.into_iter().map(|found| self.as_named(found)).collect()),
        }
    }

    /// Places in files that the scenario names are given as seen from the command line.
    pub(crate) fn as_named(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let known = [self.name.as_str(), vary::SOURCE];
        let other = |place: &&mut fleetsim::error::Place| !known.contains(&place.file.as_str());
        if let Some(place) = diagnostic.place.as_mut().filter(other) {
            place.file = self.folder.join(&place.file).display().to_string();
        }
        diagnostic
    }
}

/// Why a file cannot be read, without numbers where there are words.
fn reason(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => why.to_string(),
    }
}

fn not_text(name: &str) -> Diagnostic {
    Diagnostic::error("file", format!("{name} is not UTF-8 text"))
        .hint("scenarios are YAML or JSON, in UTF-8")
}

/// What to do about a file that cannot be read.
fn hint(path: &Path) -> String {
    if path.is_dir() {
        return "name a file in it".to_owned();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("there is no folder {}", folder.display());
    }
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match nearest(&wanted, names.iter().map(String::as_str)).first() {
        Some((name, likeness)) if *likeness >= 0.7 => {
            format!("did you mean {}?", path.with_file_name(name).display())
        }
        _ => "look at its name and its permissions".to_owned(),
    }
}

/// Names by likeness to a word, the nearest first.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<(&'n str, f64)> {
    let word = word.to_lowercase();
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&word, &name.to_lowercase());
    let mut names: Vec<_> = names.map(|name| (name, likeness(name))).collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names
}

impl Loaded {
    /// As people named the scenario's file.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// The scenario; of several variants, the first.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenarios[0]
    }

    fn all(&self) -> impl Iterator<Item = Candidate<'_>> {
        let of = |scenario| move |strategy| (scenario, strategy);
        self.scenarios.iter().flat_map(move |scenario| scenario.strategies.iter().map(of(scenario)))
    }

    /// The candidates of these names, in the scenario's order; all of them if none is named. The
    /// name of a variant, or of a strategy, stands for all candidates that it is in.
    ///
    /// # Errors
    /// For every name that the scenario does not have.
    pub(crate) fn candidates(
        &self,
        wanted: &[String],
    ) -> Result<Vec<Candidate<'_>>, Vec<Diagnostic>> {
        let unknown: Vec<Diagnostic> = wanted
            .iter()
            .filter(|name| !self.all().any(|(_, strategy)| goes_by(&strategy.name, name)))
            .map(|name| self.unknown(name))
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let asked = |(_, strategy): &Candidate<'_>| {
            wanted.is_empty() || wanted.iter().any(|name| goes_by(&strategy.name, name))
        };
        Ok(self.all().filter(asked).collect())
    }

    /// The candidate of this name, or the scenario's first.
    ///
    /// # Errors
    /// If the scenario has no candidate of this name.
    pub(crate) fn candidate(
        &self,
        wanted: Option<&String>,
    ) -> Result<Candidate<'_>, Vec<Diagnostic>> {
        let found = self.candidates(wanted.map_or(&[], std::slice::from_ref))?;
        Ok(*found.first().expect("a scenario has at least one strategy"))
    }

    fn unknown(&self, wanted: &str) -> Diagnostic {
        let names = self.all().map(|(_, strategy)| strategy.name.as_str());
        let names: Vec<_> = nearest(wanted, names).into_iter().map(|(name, _)| name).collect();
        let message = format!("{} has no strategy `{wanted}`", self.name());
        Diagnostic::error("unknown-strategy", message)
            .hint(format!("its strategies, the nearest name first: {}", names.join(", ")))
    }

    /// Lays candidates over their fleets.
    ///
    /// # Errors
    /// Whatever makes one of them impossible for its fleet (S6, L2, R-K6, R-I19).
    pub(crate) fn lay_out<'s>(
        &'s self,
        candidates: &[Candidate<'s>],
    ) -> Result<Experiment<'s>, Vec<Diagnostic>> {
        let (mut laid, mut errors) = (Vec::new(), Vec::new());
        for (scenario, strategy) in candidates.iter().copied() {
            let found = match scenario.lay_out(strategy) {
                Ok(plan) => {
                    let found = scenario.check_plan(&plan);
                    laid.push((scenario, plan));
                    found
                }
                Err(found) => found,
            };
            self.add((scenario, strategy), found, &mut errors);
        }
        let first = candidates.first().map_or(self.scenario(), |(scenario, _)| scenario);
        if errors.is_empty() { Ok(Experiment::of(first, laid)) } else { Err(errors) }
    }

    /// Adds a strategy's errors, each once, with its place.
    fn add(
        &self,
        (scenario, strategy): Candidate<'_>,
        found: Vec<Diagnostic>,
        errors: &mut Vec<Diagnostic>,
    ) {
        let left_out = found.len().saturating_sub(MOST_ERRORS);
        for mut error in found.into_iter().take(MOST_ERRORS) {
            error.place = error.place.or_else(|| place_of(scenario, strategy));
            let error = self.source.as_named(error);
            if errors.iter().all(|known| known.message != error.message) {
                errors.push(error);
            }
        }
        if left_out > 0 {
            let name = &strategy.name;
            let message = format!("strategy `{name}`: {left_out} more errors are not shown");
            errors.push(Diagnostic::error("too-many", message).hint("mend these first"));
        }
    }

    /// What is doubtful in the scenario's text and about these plans, in the order of places.
    pub(crate) fn doubts(&self, experiment: &Experiment<'_>) -> Vec<Diagnostic> {
        // What is true of several variants is said once; what is not true of all, of which.
        let mut found: Vec<(Diagnostic, Vec<&str>)> = Vec::new();
        let mut variants = 0;
        for (scenario, plans) in experiment.by_variant() {
            variants += 1;
            let name = scenario.variant.as_deref().unwrap_or_default();
            for doubt in lints::lint(scenario, plans) {
                match found.iter_mut().find(|(known, _)| *known == doubt) {
                    Some((_, names)) => names.push(name),
                    None => found.push((doubt, vec![name])),
                }
            }
        }
        let told = |(mut doubt, names): (Diagnostic, Vec<&str>)| {
            if names.len() < variants {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                doubt.message = format!("variant {}: {}", names.join(", "), doubt.message);
            }
            self.source.as_named(doubt)
        };
        let mut doubts: Vec<Diagnostic> = self.warnings.clone();
        doubts.extend(found.into_iter().map(told));
        doubts.sort_by_cached_key(|doubt| {
            let place = doubt.place.as_ref();
            place.map(|at| (at.file != self.source.name, at.file.clone(), at.line, at.column))
        });
        doubts
    }
}

/// Whether a candidate goes by a name: its own, or that of its variant or its strategy.
fn goes_by(candidate: &str, name: &str) -> bool {
    candidate == name || candidate.split(JOINT).any(|part| part == name)
}

fn place_of(scenario: &Scenario, strategy: &Strategy) -> Option<fleetsim::error::Place> {
    let (all, places) = (&scenario.strategies, &scenario.places);
    let position = all.iter().position(|other| other.name == strategy.name)?;
    places.strategies.get(position).map(|found| places.place(found.at))
}

/// Members that no group selects, in the fleet's order.
pub(crate) fn in_no_group<'p>(plan: &'p Plan<'_>) -> impl Iterator<Item = &'p str> {
    let members = plan.fleet.members.iter_with_ids();
    let left_out = |(id, member): &(_, &Member)| plan.places[*id].is_none() && !member.joins;
    members.filter(left_out).map(|(_, member)| member.name.as_str())
}
