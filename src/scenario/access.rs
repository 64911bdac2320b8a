//! Typed access to a tree: what a value must be, and what is said when it is not.
//!
//! Every accessor reports what is wrong and lets the caller go on with a stand-in, so that one
//! reading finds as many mistakes as it can. A result is used only when nothing was reported.

use std::cell::{Cell, RefCell, RefMut};
use std::fmt::Display;
use std::str::FromStr;

use super::tree::{Entry, Node, Spot, Value};
use crate::error::{Diagnostic, Place, Severity};
use crate::fleet::Amount;

/// What a missing key could look like.
const EXAMPLES: &[(&str, &str)] = &[
    ("start", "2026-03-02T08:00:00Z"),
    ("horizon", "60d"),
    ("fleet", "{members: [{name: m1, region: westeurope}]}"),
    ("managedClusterUpdate", "{upgrade: {type: NodeImageOnly}}"),
    ("upgrade", "{type: NodeImageOnly}"),
    ("region", "westeurope"),
    ("takes", "30m"),
    ("at", "2h30m"),
    ("regions", "{\"*\": 2026-03-02T00:00:00Z}"),
    ("byLabel", "\"env=prod\""),
    ("stages", "[{name: canary, groups: [{name: canary}]}]"),
    (
        "scheduledStartConfiguration",
        "{startDay: Wednesday, startTime: \"02:00\", utcOffset: \"+00:00\"}",
    ),
    ("schedule", "{weekly: {intervalWeeks: 1, dayOfWeek: Sunday}}"),
    ("durationHours", "4"),
    ("startTime", "\"01:00\""),
    ("metric", "makespan"),
    ("for", "5d"),
    ("lasts", "4h"),
    ("after", "5d"),
    ("pool", "{name: gpu, count: 3}"),
];
/// What other tools call a key.
const SYNONYMS: &[(&str, &str)] = &[
    ("location", "region"),
    ("group", "updateGroup"),
    ("tags", "labels"),
    ("version", "kubernetesVersion"),
    ("nodeCount", "count"),
    ("waitTime", "afterStageWaitInSeconds"),
    ("soak", "afterStageWaitInSeconds"),
    ("labelSelector", "memberSelector"),
    ("concurrency", "maxConcurrency"),
];
/// So many errors, and so many warnings, are kept; a file with more has one mistake many times.
const MOST_ERRORS: usize = 100;

/// So many variants are named in a message.
const MOST_VARIANTS: usize = 3;
/// Messages are cut after this many characters.
const LONGEST_MESSAGE: usize = 400;

/// The texts that were read, to show lines of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts(Vec<(String, Vec<String>)>);

/// The texts that are being read.
#[derive(Debug, Default)]
pub(super) struct Sources(RefCell<Texts>);

impl Texts {
    pub(super) fn place(&self, spot: Spot) -> Place {
        let (name, lines) = &self.0[usize::from(spot.file)];
        let text = lines.get(spot.line as usize - 1).cloned().unwrap_or_default();
        let Spot { line, column, length, .. } = spot;
        Place { file: name.clone(), line, column, length, text }
    }
}

impl Sources {
    /// All that was read.
    pub(super) fn into_texts(self) -> Texts {
        self.0.into_inner()
    }

    pub(super) fn place(&self, spot: Spot) -> Place {
        self.0.borrow().place(spot)
    }

    pub(super) fn add(&self, name: &str, text: &str) -> u16 {
        let files = &mut self.0.borrow_mut().0;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        files.push((name.to_owned(), text.lines().map(str::to_owned).collect()));
        u16::try_from(files.len() - 1).expect("the caller bounds the number of files")
    }

    /// The same; a text that is known under this name is not added again.
    pub(super) fn add_once(&self, name: &str, text: &str) -> u16 {
        let same = |(known, lines): &(String, Vec<String>)| {
            known == name && lines.iter().map(String::as_str).eq(text.lines())
        };
        let known = self.0.borrow().0.iter().position(same);
        match known {
            Some(file) => u16::try_from(file).expect("numbers of files fit"),
            None => self.add(name, text),
        }
    }

    pub(super) fn is_json(&self, file: u16) -> bool {
        let name = &self.0.borrow().0[usize::from(file)].0;
        std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
    }
}

/// Collects what is wrong.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) sources: Sources,
    found: RefCell<Vec<Found>>,
    errors: Cell<usize>,
    /// How many variants were read so far, and the name of the one in hand.
    variants: Cell<usize>,
    variant: RefCell<Option<String>>,
}

/// A diagnostic with its place.
#[derive(Debug)]
struct Found {
    at: Option<Spot>,
    diagnostic: Diagnostic,
    /// The variants in which it was found.
    variants: Vec<String>,
}

impl Found {
    /// The diagnostic; of several variants, with those that it is about.
    fn told(&self, of_variants: usize) -> Diagnostic {
        let mut diagnostic = self.diagnostic.clone();
        if !self.variants.is_empty() && self.variants.len() < of_variants {
            let names = self.variants.iter().take(MOST_VARIANTS).map(|name| format!("`{name}`"));
            let mut names = names.collect::<Vec<_>>().join(", ");
            if self.variants.len() > MOST_VARIANTS {
                names.push_str(", …");
            }
            diagnostic.message = format!("variant {names}: {}", diagnostic.message);
        }
        diagnostic
    }
}

/// A diagnostic that was just noted and may get a hint.
pub(super) struct Noted<'a>(Option<RefMut<'a, Diagnostic>>);

impl Noted<'_> {
    pub(super) fn hint(self, hint: impl Into<String>) {
        if let Some(mut diagnostic) = self.0 {
            diagnostic.hint = Some(hint.into());
        }
    }
}

impl Notes {
    pub(super) fn error(
        &self,
        at: Spot,
        code: &'static str,
        message: impl Into<String>,
    ) -> Noted<'_> {
        self.note(Some(at), Diagnostic::error(code, message))
    }

    pub(super) fn warning(
        &self,
        at: Spot,
        code: &'static str,
        message: impl Into<String>,
    ) -> Noted<'_> {
        self.note(Some(at), Diagnostic::warning(code, message))
    }

    fn note(&self, at: Option<Spot>, mut diagnostic: Diagnostic) -> Noted<'_> {
        // What was written may be a book; nobody wants to read it again here.
        if let Some((end, _)) = diagnostic.message.char_indices().nth(LONGEST_MESSAGE) {
            diagnostic.message.truncate(end);
            diagnostic.message.push('…');
        }
        let mut found = self.found.borrow_mut();
        let variant = self.variant.borrow().clone();
        let same = |old: &&mut Found| {
            let other = &old.diagnostic;
            old.at == at && other.code == diagnostic.code && other.message == diagnostic.message
        };
        if let Some(known) = found.iter_mut().find(same) {
            known.variants.extend(variant.filter(|name| !known.variants.contains(name)));
            return Noted(None);
        }
        if diagnostic.severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        let severity = diagnostic.severity;
        let so_far = found.iter().filter(|other| other.diagnostic.severity == severity).count();
        if so_far >= MOST_ERRORS {
            return Noted(None);
        }
        found.push(Found { at, diagnostic, variants: variant.into_iter().collect() });
        Noted(Some(RefMut::map(found, |found| {
            &mut found.last_mut().expect("it was just added").diagnostic
        })))
    }

    /// From here on, what is noted is about this variant.
    pub(super) fn begin_variant(&self, name: &str) {
        self.variants.set(self.variants.get() + 1);
        self.variant.replace(Some(name.to_owned()));
    }

    /// From here on, what is noted is about no variant.
    pub(super) fn end_variants(&self) {
        self.variant.replace(None);
    }

    pub(super) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// All warnings, or all errors if there is one; in the order of their places.
    pub(super) fn finish(&self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let mut found = self.found.take();
        let variants = self.variants.get();
        found.sort_by_key(|found| found.at);
        let errors = self.errors.get();
        let wanted = if errors > 0 { Severity::Error } else { Severity::Warning };
        let mut list: Vec<_> = found
            .into_iter()
            .filter(|found| found.diagnostic.severity == wanted)
            .map(|found| {
                let diagnostic = found.told(variants);
                match found.at {
                    Some(spot) => diagnostic.at(self.sources.place(spot)),
                    None => diagnostic,
                }
            })
            .collect();
        if errors == 0 {
            return Ok(list);
        }
        if errors > list.len() {
            let message = format!("{} more errors are not shown", errors - list.len());
            list.push(Diagnostic::error("too-many", message).hint("mend these first"));
        }
        Err(list)
    }
}

/// A value under a name, about to be read as something.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) notes: &'a Notes,
    /// The key, or what the value is an item of.
    pub(super) name: &'a str,
    pub(super) node: &'a Node,
}

/// A map whose keys are known.
#[derive(Clone, Copy)]
pub(super) struct Map<'a> {
    pub(super) notes: &'a Notes,
    pub(super) node: &'a Node,
    /// What the map is, as in "a pool".
    what: &'static str,
    entries: &'a [Entry],
    keys: &'static [&'static str],
}

impl<'a> Field<'a> {
    pub(super) fn new(notes: &'a Notes, name: &'a str, node: &'a Node) -> Self {
        Self { notes, name, node }
    }

    pub(super) fn at(&self) -> Spot {
        self.node.at
    }

    /// Reports that the value is wrong.
    pub(super) fn fail(&self, code: &'static str, message: impl Into<String>) -> Noted<'a> {
        self.notes.error(self.node.at, code, message)
    }

    /// Reports that the value is of another type than expected.
    pub(super) fn wrong_type(&self, expected: &str) -> Noted<'a> {
        let (name, found) = (self.shown_name(), self.node.describe());
        self.fail("wrong-type", format!("{name} must be {expected}, found {found}"))
    }

    /// Keys in backticks; "a weight" and its like without.
    fn shown_name(&self) -> String {
        if self.name.contains(' ') { self.name.to_owned() } else { format!("`{}`", self.name) }
    }

    /// Any scalar but null, plain or quoted (R-K11).
    pub(super) fn text(&self) -> Option<&'a str> {
        let text = self.node.as_text();
        if text.is_none() {
            self.wrong_type("a text");
        }
        text
    }

    /// A text with at least one character.
    pub(super) fn filled_text(&self) -> Option<&'a str> {
        let text = self.text()?;
        if text.is_empty() || text.chars().any(char::is_control) {
            let name = self.shown_name();
            self.fail("out-of-range", format!("{name} must be a line of at least one character"));
            return None;
        }
        Some(text)
    }

    /// A whole number within these bounds, plain or quoted.
    pub(super) fn integer<T: TryFrom<i128> + Display>(&self, low: i128, high: i128) -> Option<T> {
        let number = match &self.node.value {
            Value::Scalar { text, .. } => text.parse::<i128>().ok(),
            _ => None,
        };
        let Some(number) = number else {
            self.wrong_type("a whole number");
            return None;
        };
        let fitting = if (low..=high).contains(&number) { T::try_from(number).ok() } else { None };
        if fitting.is_none() {
            let name = self.shown_name();
            let range = if high >= i128::from(u32::MAX) {
                format!("at least {low}")
            } else {
                format!("from {low} to {high}")
            };
            self.fail("out-of-range", format!("{name} must be {range}, found {number}"));
        }
        fitting
    }

    /// A number within these bounds: plain, or a quoted integer.
    pub(super) fn number(&self, low: f64, high: f64) -> Option<f64> {
        let number = match &self.node.value {
            Value::Scalar { text, quoted: true } => text.parse::<i32>().ok().map(f64::from),
            Value::Scalar { text, .. }
                if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
            {
                text.parse::<f64>().ok().filter(|number| number.is_finite())
            }
            _ => None,
        };
        let Some(number) = number else {
            self.wrong_type("a number");
            return None;
        };
        if (low..=high).contains(&number) {
            return Some(number);
        }
        let name = self.shown_name();
        let range = if high >= f64::MAX {
            format!("at least {low}")
        } else {
            format!("from {low} to {high}")
        };
        self.fail("out-of-range", format!("{name} must be {range}, found {number}"));
        None
    }

    /// `true` or `false`, without quotes.
    pub(super) fn boolean(&self) -> Option<bool> {
        match &self.node.value {
            Value::Scalar { text, quoted: false } if text == "true" => Some(true),
            Value::Scalar { text, quoted: false } if text == "false" => Some(false),
            _ => {
                self.wrong_type("`true` or `false`").hint("write it without quotes");
                None
            }
        }
    }

    /// A text of a type that reads itself; `expected` names it with an example.
    pub(super) fn parsed<T: FromStr<Err = String>>(&self, expected: &str) -> Option<T> {
        let Some(text) = self.node.as_text() else {
            self.wrong_type(expected);
            return None;
        };
        let value = text.parse().ok();
        if value.is_none() {
            self.wrong_type(expected);
        }
        value
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        let Some(text) = self.node.as_text() else {
            self.wrong_type(&one_of(words.iter().map(|(word, _)| *word)));
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let all = one_of(words.iter().map(|(word, _)| *word));
        let noted = self.wrong_type(&all);
        if let Some(near) = nearest(text, words.iter().map(|(word, _)| *word)) {
            noted.hint(format!("did you mean `{near}`?"));
        }
        None
    }

    /// A whole number or a whole percentage, plain or quoted; percentages from `low` to 100 %.
    /// An empty text is unset (R-G5).
    pub(super) fn amount(&self, low: u32) -> Option<Amount> {
        let text = match &self.node.value {
            Value::Scalar { text, quoted: true } if text.is_empty() => return None,
            Value::Scalar { text, .. } => text.as_str(),
            _ => "",
        };
        let digits = text.strip_suffix('%').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let (Ok(number), true) = (digits.parse::<u32>(), plain) else {
            self.wrong_type("a whole number such as \"3\", or a whole percentage such as \"25%\"");
            return None;
        };
        let percentage = digits.len() < text.len();
        if number < low || (percentage && number > 100) {
            let name = self.name;
            let message =
                format!("`{name}` must be at least {low}, or from {low}% to 100%, found `{text}`");
            self.fail("out-of-range", message);
            return None;
        }
        Some(if percentage { Amount::Percent(number) } else { Amount::Count(number) })
    }

    /// Whether a number stands without quotes in a JSON file, where the API wants a text (L1).
    pub(super) fn is_bare_json_number(&self) -> bool {
        matches!(&self.node.value, Value::Scalar { quoted: false, .. })
            && self.notes.sources.is_json(self.node.at.file)
    }

    /// A list.
    pub(super) fn items(&self) -> Option<impl Iterator<Item = Field<'a>> + Clone + use<'a>> {
        let Value::List(items) = &self.node.value else {
            self.wrong_type("a list").hint("write one entry a line, each with `- ` before it");
            return None;
        };
        let (notes, name) = (self.notes, self.name);
        Some(items.iter().map(move |node| Field { notes, name, node }))
    }

    /// The entries of a map with free keys: key, its place, value.
    pub(super) fn entries(&self, expected: &str) -> Option<&'a [Entry]> {
        if let Value::Map(entries) = &self.node.value {
            return Some(entries);
        }
        self.wrong_type(expected);
        None
    }

    /// A map with these keys and no others.
    pub(super) fn map(&self, what: &'static str, keys: &'static [&'static str]) -> Option<Map<'a>> {
        let map = self.open_map(what, keys)?;
        for entry in map.entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            unknown_key(self.notes, entry, what, keys);
        }
        Some(map)
    }

    /// A map of which these keys are read and all others ignored, as in what `az` prints.
    pub(super) fn open_map(
        &self,
        what: &'static str,
        keys: &'static [&'static str],
    ) -> Option<Map<'a>> {
        let Value::Map(entries) = &self.node.value else {
            let list = keys.iter().take(4).copied().collect::<Vec<_>>().join(", ");
            self.wrong_type(&format!("{what} (a map with keys such as {list})"));
            return None;
        };
        Some(Map { notes: self.notes, node: self.node, what, entries, keys })
    }
}

impl<'a> Map<'a> {
    /// The value of a key; nulls count as absent, as `az` prints them.
    pub(super) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        assert!(self.keys.contains(&key), "`{key}` is missing among the keys of {}", self.what);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let field = Field { notes: self.notes, name: key, node: &entry.value };
        (!entry.value.is_null()).then_some(field)
    }

    /// Like [`Map::get`], but a key without a value is refused: for keys of our own, where an empty
    /// value is a slip and nobody prints nulls.
    pub(super) fn own(&self, key: &'static str) -> Option<Field<'a>> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.key == key)
            && entry.value.is_null()
        {
            self.notes
                .error(entry.at, "wrong-type", format!("`{key}` has no value"))
                .hint("give it one, or take the line out");
        }
        self.get(key)
    }

    /// A key that must be there.
    pub(super) fn need(&self, key: &'static str) -> Option<Field<'a>> {
        let field = self.get(key);
        if field.is_none() {
            let empty = self.entries.iter().find(|entry| entry.key == key);
            let at = empty.map_or(self.node.at, |entry| entry.at);
            let noted = self.notes.error(at, "missing-key", format!("{} needs `{key}`", self.what));
            if let Some((_, example)) = EXAMPLES.iter().find(|(known, _)| *known == key) {
                noted.hint(format!("write {key}: {example}, say"));
            }
        }
        field
    }

    /// Whether nothing was reported as an unknown key.
    pub(super) fn has_only_known_keys(&self) -> bool {
        self.entries.iter().all(|entry| self.keys.contains(&entry.key.as_str()))
    }

    /// The place of a key, else of the map.
    pub(super) fn place_of(&self, key: &str) -> Spot {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.map_or(self.node.at, |entry| entry.at)
    }

    /// The place of a key that is there with a value.
    pub(super) fn spot(&self, key: &str) -> Option<Spot> {
        let entry = self.entries.iter().find(|entry| entry.key == key && !entry.value.is_null());
        entry.map(|entry| entry.at)
    }

    /// Refuses a key that the format has and this version does not: an empty value is fine.
    pub(super) fn not_yet(&self, key: &'static str, what: &str) {
        let Some(field) = self.get(key) else { return };
        let nothing = match &field.node.value {
            Value::Scalar { text, .. } => text == "none",
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
        };
        if !nothing {
            self.notes
                .error(self.place_of(key), "not-supported", format!("{what} are not supported yet"))
                .hint(format!("take `{key}` out"));
        }
    }
}

fn unknown_key(notes: &Notes, entry: &Entry, what: &str, keys: &[&'static str]) {
    let key = entry.key.as_str();
    let synonym = SYNONYMS.iter().find(|(other, ours)| *other == key && keys.contains(ours));
    let synonym = synonym.map(|(_, ours)| *ours);
    let hint = match key {
        "<<" => "merge keys are not part of YAML 1.2; write the keys out".to_owned(),
        "sortOrder" => "groups of a stage run in parallel; to order them, make each its own stage \
                        (the order of `stages` counts)"
            .to_owned(),
        _ => match synonym.or_else(|| nearest(key, keys.iter().copied())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys here are {}", keys.join(", ")),
        },
    };
    let what = what.strip_prefix("a ").or(what.strip_prefix("an ")).unwrap_or(what);
    notes.error(entry.at, "unknown-key", format!("unknown key `{key}` in {what}")).hint(hint);
}

/// `a`, `b` or `c`.
pub(super) fn one_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The word most like this one, if any is like it at all.
pub(super) fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let word = word.to_lowercase();
    let likeness = |other: &str| {
        let other = other.to_lowercase();
        let edits = strsim::normalized_damerau_levenshtein(&word, &other);
        edits.max(strsim::sorensen_dice(&word, &other))
    };
    let scored = words.map(|other| (likeness(other), other));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= 0.5).then_some(best.1)
}
