//! `variants`: candidates that differ in more than their strategy.
//!
//! A variant is the scenario with other values in it, each a path as `--vary` takes it and what
//! stands there instead. The tree is changed before it is read, so every variant is a scenario of
//! its own, with its own fleet and its own world; seed and places of all draws are shared, so they
//! meet the same luck (X1).

use std::borrow::Cow;

use super::access::{Field, Notes};
use super::tree::{Entry, Node, Spot, Value};
use super::vary::{self, Edit};
use super::{Scenario, file_name};

/// Between the name of a variant and that of a strategy; it is in neither.
pub const JOINT: char = '+';
/// More than anybody compares.
const MOST_VARIANTS: usize = 1_000;
/// A value that is typed is so long at most in the name of its variant.
const LONGEST_PART: usize = 48;
/// What all candidates share, so that they can be compared on the same luck.
const SHARED: &[&str] = &["name", "seed", "horizon", "replications", "variants", "checks"];
const VARIANT: &[&str] = &["name", "set"];

/// A variant that the command line asks for: a name, and other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Becomes a part of file names.
    pub name: String,
    /// What is different.
    pub edits: Vec<Edit>,
}

/// Names points of a grid: what each value is called and its value, as far as that can be in the
/// name of a file.
///
/// # Errors
/// If there are more than a comparison can have.
pub fn tried(points: &[Vec<Edit>]) -> Result<Vec<Tried>, String> {
    if points.len() > MOST_VARIANTS {
        return Err(format!("{} variants are more than {MOST_VARIANTS}", points.len()));
    }
    let mut all: Vec<Tried> = Vec::new();
    for edits in points {
        let paths: Vec<Vec<String>> = edits.iter().map(|edit| vary::keys(&edit.path)).collect();
        let part = |(edit, keys): (&Edit, &Vec<String>)| {
            let last = |keys: &Vec<String>| keys.last().cloned().unwrap_or_default();
            let alone = paths.iter().filter(|other| last(other) == last(keys)).count() == 1;
            let key = if alone { last(keys) } else { keys.join("-") };
            legal(&format!("{key}-{}", edit.value))
        };
        let parts: Vec<String> = edits.iter().zip(&paths).map(part).collect();
        let name = parts.join(&JOINT.to_string());
        let is_taken = |name: &str| all.iter().any(|other| other.name.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
        all.push(Tried { name: free.unwrap_or(name), edits: edits.clone() });
    }
    Ok(all)
}

/// A text as a part of a file's name.
fn legal(text: &str) -> String {
    let text = text.replace('%', "pct");
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)));
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let short: String = name.chars().take(LONGEST_PART).collect();
    short.trim_end_matches(['-', '.']).to_owned()
}

/// One variant, not yet read.
pub(super) struct Variant {
    /// `None`: the scenario as it stands, because it has no variants.
    pub(super) name: Option<String>,
    changes: Vec<Change>,
}

/// One value that is another.
#[derive(Clone)]
enum Change {
    /// Typed on the command line.
    Typed(Edit),
    /// An entry of `set`.
    Written(Entry),
}

/// The variants of a scenario, at least one: those of the file, each with each of the command line.
pub(super) fn read(notes: &Notes, root: &Node, tried: &[Tried]) -> Vec<Variant> {
    let field = root.get("variants").filter(|node| !node.is_null());
    let written = field.map(|node| written(&Field::new(notes, "variants", node)));
    let typed = |tried: &Tried| Variant {
        name: Some(tried.name.clone()),
        changes: tried.edits.iter().cloned().map(Change::Typed).collect(),
    };
    let whole = || Variant { name: None, changes: Vec::new() };
    let typed = if tried.is_empty() { vec![whole()] } else { tried.iter().map(typed).collect() };
    let written = written.filter(|list| !list.is_empty()).unwrap_or_else(|| vec![whole()]);
    let both = typed.iter().flat_map(|typed| written.iter().map(move |other| typed.with(other)));
    both.collect()
}

fn written(field: &Field<'_>) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for item in field.items().into_iter().flatten() {
        let Some(map) = item.map("a variant", VARIANT) else { continue };
        let name = map.need("name").and_then(|field| file_name(&field)).unwrap_or_default();
        let same = |other: &Variant| {
            other.name.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(&name))
        };
        if variants.iter().any(same) {
            let message =
                format!("two variants are called `{name}` (upper and lower case are the same)");
            map.notes
                .error(map.place_of("name"), "duplicate-name", message)
                .hint("names of variants become names of files; rename one");
        }
        let set = map.get("set").and_then(|set| set.entries("a map from paths to values"));
        let changes = set.unwrap_or_default().iter().cloned().map(Change::Written).collect();
        variants.push(Variant { name: Some(name), changes });
    }
    if variants.len() > MOST_VARIANTS {
        let message = format!("there are more than {MOST_VARIANTS} variants");
        field.fail("out-of-range", message).hint("sweeps try many values: see fleetsim sweep");
        variants.truncate(1);
    } else if variants.is_empty() && matches!(field.node.value, Value::List(_)) {
        field
            .fail("missing-key", "`variants` has no variant")
            .hint("write variants: [{name: as-is}, {name: other, set: {PATH: VALUE}}]");
    }
    variants
}

impl Variant {
    fn with(&self, other: &Self) -> Self {
        let names = [&self.name, &other.name].into_iter().flatten().map(String::as_str);
        let names: Vec<&str> = names.collect();
        Self {
            name: (!names.is_empty()).then(|| names.join(&JOINT.to_string())),
            changes: [&self.changes[..], &other.changes].concat(),
        }
    }

    /// The scenario's tree with this variant's values. `None` if one cannot be put there, which is
    /// noted.
    pub(super) fn tree<'r>(&self, notes: &Notes, root: &'r Node) -> Option<Cow<'r, Node>> {
        if self.changes.is_empty() {
            return Some(Cow::Borrowed(root));
        }
        let mut tree = root.clone();
        let errors = notes.errors();
        for change in &self.changes {
            match change {
                Change::Typed(edit) => vary::apply(notes, &mut tree, edit),
                Change::Written(entry) => {
                    let spot = |from, length| within(entry, from, length);
                    vary::put(notes, &mut tree, &entry.key, &spot, entry.value.clone())
                }
            };
            let (path, at) = match change {
                Change::Typed(edit) => (&edit.path, vary::place(notes, edit)),
                Change::Written(entry) => (&entry.key, entry.at),
            };
            let first = vary::keys(path).into_iter().next();
            let shared = first.filter(|key| SHARED.contains(&key.as_str()));
            if let Some(key) = shared {
                let message = format!("a variant cannot have another `{key}`");
                notes.error(at, "variant", message).hint(format!(
                    "{} are the same for all candidates, so that they meet the same luck",
                    SHARED[..4].join(", ")
                ));
            }
        }
        (notes.errors() == errors).then_some(Cow::Owned(tree))
    }
}

/// Where a part of a key stands; quotes around it take a column.
fn within(entry: &Entry, from: usize, length: usize) -> Spot {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let quote = u32::from(entry.at.length > small(entry.key.chars().count()));
    let column = entry.at.column.saturating_add(small(from)).saturating_add(quote);
    Spot { column, length: small(length.max(1)), ..entry.at }
}

/// Names the candidates: a strategy where there are no variants, a variant where each has one
/// strategy, else both. Every scenario knows the names of all.
pub(super) fn name(scenarios: &mut [Scenario], variants: &[Variant]) {
    let one_each = scenarios.iter().all(|scenario| scenario.strategies.len() == 1);
    for (scenario, variant) in scenarios.iter_mut().zip(variants) {
        let Some(variant) = &variant.name else { continue };
        scenario.variant = Some(variant.clone());
        for strategy in &mut scenario.strategies {
            let name = &strategy.name;
            strategy.name =
                if one_each { variant.clone() } else { format!("{variant}{JOINT}{name}") };
        }
    }
    let strategies = scenarios.iter().flat_map(|scenario| &scenario.strategies);
    let candidates: Vec<String> = strategies.map(|strategy| strategy.name.clone()).collect();
    for scenario in scenarios {
        scenario.candidates.clone_from(&candidates);
    }
}
