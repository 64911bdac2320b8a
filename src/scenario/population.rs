//! Populations: members made by number, any of their values drawn.
//!
//! A draw belongs to (seed, population, member, key): each replication has the same fleet, and a
//! key more or less changes no other draw. Drawing happens in the tree, before a member is read,
//! so that drawn members obey the rules of written ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::access::{Field, Notes};
use super::distribution::{self, Unit};
use super::files::Loader;
use super::members::Builder;
use super::tree::{Entry, Node, Value};
use crate::sim::draw::{Luck, Sequence, unit};

/// A population may have this many members.
const MOST: i128 = 1_000_000;

/// Reads the population with this number (from 0) and appends its members.
pub(super) fn read(
    builder: &mut Builder<'_>,
    field: &Field<'_>,
    seed: u64,
    number: usize,
    loader: &Loader<'_>,
) {
    let Value::Map(entries) = &field.node.value else {
        let _ = field.map("a population", &["count", "name", "region"]);
        return;
    };
    let Some(count) = entries.iter().find(|entry| entry.key == "count") else {
        field.fail("missing-key", "a population needs `count`");
        return;
    };
    let notes = builder.notes;
    let Some(count) = Field::new(notes, "count", &count.value).integer::<u32>(0, MOST) else {
        return;
    };
    let Ok(number) = u16::try_from(number) else {
        field.fail("too-large", "a fleet has at most 65536 populations");
        return;
    };
    draw(builder, field, (seed, number), count, loader);
}

/// Appends so many members as this describes them, with the luck of this population.
pub(super) fn draw(
    builder: &mut Builder<'_>,
    field: &Field<'_>,
    (seed, number): (u64, u16),
    count: u32,
    loader: &Loader<'_>,
) {
    let notes = builder.notes;
    let Value::Map(entries) = &field.node.value else {
        let _ = field.map("a population", &["name", "region"]);
        return;
    };
    let Some(name) = field.node.get("name") else {
        field
            .fail("missing-key", "a population needs `name`")
            .hint("write a pattern, such as \"prod-{n:04}\"");
        return;
    };
    let Some(pattern) = Pattern::read(&Field::new(notes, "name", name), count) else { return };
    let luck = Luck::new(seed);
    let mut drawer = Drawer { luck, number, member: 0, fields: RefCell::default(), loader, notes };
    let before = notes.errors();
    for member in 0..count {
        drawer.member = member;
        let entries = entries.iter().filter(|entry| entry.key != "count").map(|entry| {
            let value = if entry.key == "name" {
                scalar(&entry.value, pattern.name(member + 1))
            } else {
                drawer.resolve(&entry.value, &entry.key).unwrap_or_else(|| entry.value.clone())
            };
            Entry { value, ..entry.clone() }
        });
        let node = Node { at: field.at(), value: Value::Map(entries.collect()) };
        if notes.errors() > before {
            return;
        }
        builder.member(&Field::new(notes, "a member", &node));
        if notes.errors() > before {
            // The others would say the same.
            return;
        }
    }
}

fn scalar(like: &Node, text: String) -> Node {
    Node { at: like.at, value: Value::Scalar { text, quoted: false } }
}

/// A name with a number in it: `prod-{n}`, `prod-{n:04}`.
pub(super) struct Pattern<'a> {
    before: &'a str,
    after: &'a str,
    /// How many digits at least, if there is a number at all.
    width: Option<usize>,
}

impl<'a> Pattern<'a> {
    pub(super) fn read(field: &Field<'a>, count: u32) -> Option<Self> {
        let text = field.filled_text()?;
        let wrong = |message: &str| {
            field
                .fail("name-pattern", message.to_owned())
                .hint("write {n} for the member's number, {n:04} for four digits");
            None
        };
        let Some((before, rest)) = text.split_once('{') else {
            if text.contains('}') {
                return wrong("a `}` has no `{` before it");
            }
            if count > 1 {
                return wrong("all members of this population would have the same name");
            }
            return Some(Self { before: text, after: "", width: None });
        };
        let Some((number, after)) = rest.split_once('}') else { return wrong("a `}` is missing") };
        if after.contains(['{', '}']) {
            return wrong("a name has one number in braces");
        }
        let width = match number.strip_prefix("n:0") {
            _ if number == "n" => 1,
            Some(digits) => match digits.parse() {
                Ok(width @ 1..=9) => width,
                _ => return wrong("the width of the number is one digit, 1 to 9"),
            },
            None => return wrong("only `n` can stand in braces, with or without a width"),
        };
        Some(Self { before, after, width: Some(width) })
    }

    pub(super) fn name(&self, n: u32) -> String {
        match self.width {
            Some(width) => format!("{}{n:0width$}{}", self.before, self.after),
            None => self.before.to_owned(),
        }
    }
}

/// Replaces draws by what is drawn.
struct Drawer<'a> {
    luck: Luck,
    /// The population, from 0.
    number: u16,
    /// The member in it, from 0.
    member: u32,
    /// The keys that are drawn, with their numbers: by name, so that a key more or less changes no
    /// other draw.
    fields: RefCell<BTreeMap<String, (u16, Sequence)>>,
    loader: &'a Loader<'a>,
    notes: &'a Notes,
}

impl Drawer<'_> {
    /// The node with everything drawn; `path` names its place in the member.
    fn resolve(&self, node: &Node, path: &str) -> Option<Node> {
        match &node.value {
            Value::Scalar { .. } => Some(node.clone()),
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| self.resolve(item, &format!("{path}/{at}")));
                Some(Node { at: node.at, value: Value::List(items.collect::<Option<_>>()?) })
            }
            Value::Map(entries) => {
                if let [entry] = entries.as_slice()
                    && !matches!(entry.value.value, Value::Scalar { .. })
                {
                    let field = Field::new(self.notes, &entry.key, node);
                    if entry.key == "choose" {
                        return self.choose(&Field { node: &entry.value, ..field }, path);
                    }
                    if distribution::KINDS.contains(&entry.key.as_str()) {
                        return self.number(&field, path);
                    }
                }
                let entries = entries.iter().map(|entry| {
                    let value = self.resolve(&entry.value, &format!("{path}/{}", entry.key))?;
                    Some(Entry { value, ..entry.clone() })
                });
                Some(Node { at: node.at, value: Value::Map(entries.collect::<Option<_>>()?) })
            }
        }
    }

    /// One of several, by weight: a map of weights, or a list of `{weight, value}`.
    fn choose(&self, field: &Field<'_>, path: &str) -> Option<Node> {
        let mut options = vec![];
        if let Value::Map(entries) = &field.node.value {
            for entry in entries {
                let text = Value::Scalar { text: entry.key.clone(), quoted: false };
                let weight = Field::new(self.notes, "a weight", &entry.value);
                options.push((weight.number(0.0, f64::MAX)?, Node { at: entry.at, value: text }));
            }
        } else {
            for item in field.items()? {
                let option = item.map("an option of `choose`", &["weight", "value"])?;
                let weight = option.need("weight")?.number(0.0, f64::MAX)?;
                options.push((weight, option.need("value")?.node.clone()));
            }
        }
        let total: f64 = options.iter().map(|(weight, _)| weight).sum();
        if total <= 0.0 || !total.is_finite() {
            field.fail("out-of-range", "`choose` needs at least one weight above 0");
            return None;
        }
        let mut rest = self.uniform(path) * total;
        let mut chosen = options.len() - 1;
        for (position, (weight, _)) in options.iter().enumerate() {
            if rest < *weight {
                chosen = position;
                break;
            }
            rest -= weight;
        }
        // Rounding can leave the loop without a choice; an option of weight 0 is never it.
        while options[chosen].0 <= 0.0 {
            chosen -= 1;
        }
        self.resolve(&options[chosen].1, &format!("{path}/{chosen}"))
    }

    /// A whole number from a distribution: every number of a member is whole. A uniform one gives
    /// each number between its ends the same chance; others are rounded.
    fn number(&self, field: &Field<'_>, path: &str) -> Option<Node> {
        let distribution = distribution::read(field, Unit::Number, self.loader)?;
        let uniform = self.uniform(path);
        let drawn = if let Some(ends) = field.node.get("uniform") {
            let mut ends = Field::new(self.notes, "uniform", ends).items()?;
            let low = ends.next()?.number(f64::MIN, f64::MAX)?.ceil();
            let high = ends.next()?.number(f64::MIN, f64::MAX)?.floor();
            (low + (uniform * (high - low + 1.0)).floor()).min(high.max(low))
        } else {
            distribution.quantile_exact(uniform).round()
        };
        Some(scalar(field.node, format!("{drawn:.0}")))
    }

    /// The uniform number of a key of the member, above 0 and below 1.
    fn uniform(&self, path: &str) -> f64 {
        let mut fields = self.fields.borrow_mut();
        if !fields.contains_key(path) {
            // The name's hash (FNV-1a); in the rare case that it is taken, the next one.
            let hash = path.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
            #[expect(clippy::cast_possible_truncation, reason = "the folded halves are the hash")]
            let mut number = (hash ^ (hash >> 16)) as u16;
            while fields.values().any(|(taken, _)| *taken == number) {
                number = number.wrapping_add(1);
            }
            let sequence = self.luck.population(self.number, number);
            fields.insert(path.to_owned(), (number, sequence));
        }
        let (_, sequence) = fields.get_mut(path).expect("it was put there");
        sequence.seek(self.member);
        unit(sequence.draw())
    }
}
