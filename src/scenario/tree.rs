//! YAML text (JSON is YAML too) as a tree of nodes that know their places.
//!
//! Owns syntax: documents, anchors, duplicate keys, limits on size and depth. Does not own meaning:
//! plain scalars stay text here (R-K11), [`super::access`] decides what they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::access::Notes;

/// Maps and lists may lie in each other this deep; real files need about ten.
const DEEPEST: usize = 64;
/// A text may have this many bytes.
const LONGEST: usize = 256 << 20;
/// Aliases may copy this many nodes in one file.
const MOST_COPIES: usize = 1_000_000;

/// A place in one of the texts that were read; [`super::Places::place`] names it for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub(super) file: u16,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) length: u32,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Spot,
    pub(super) value: Value,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar { text: String, quoted: bool },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a map with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: Spot,
    pub(super) value: Node,
}

impl Node {
    /// Whether the value is absent: `null`, `~`, or nothing at all.
    pub(super) fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, quoted: false } => {
                matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    /// The value of a key, if the node is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// A scalar's text.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// What the node is, for "expected …, found …".
    pub(super) fn describe(&self) -> String {
        match &self.value {
            _ if self.is_null() => "nothing".to_owned(),
            Value::Scalar { text, quoted } => {
                let short: String = text.chars().take(60).collect();
                let more = if short.len() < text.len() { "…" } else { "" };
                if *quoted {
                    format!("the text \"{short}{more}\"")
                } else {
                    format!("`{short}{more}`")
                }
            }
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

/// A map or list whose end has not been read yet.
struct Open {
    at: Spot,
    anchor: usize,
    measure: Measure,
    value: Value,
    /// A map's key that waits for its value.
    key: Option<(String, Spot)>,
}

/// How much a node holds, so that copies of it can be bounded.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// Nodes, itself included.
    size: usize,
    /// Maps and lists in each other, itself included.
    depth: usize,
}

/// Reads one document; what is wrong goes to `notes`.
pub(super) fn parse(notes: &Notes, file: u16, text: &str) -> Option<Node> {
    let start = Spot { file, line: 1, column: 1, length: 1 };
    if text.len() > LONGEST {
        notes.error(start, "too-large", "the file is larger than 256 MiB");
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let joined = if notes.sources.is_json(file) { join_surrogates(text) } else { text.into() };
    let text = joined.as_ref();
    let mut builder = Builder { notes, file, open: vec![], anchors: BTreeMap::new(), copies: 0 };
    let mut root = None;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Err(error) => {
                let at = builder.spot(*error.marker(), *error.marker());
                syntax_error(notes, at, error.info(), text);
                return None;
            }
            Ok((Event::DocumentStart(_), span)) if root.is_some() => {
                let at = builder.spot(span.start, span.start);
                notes
                    .error(at, "syntax", "a second document begins here (`---`)")
                    .hint("keep one document a file");
                return None;
            }
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => match builder.take(event, span) {
                Taken::Inside => {}
                Taken::Whole(node) => root = Some(node),
                Taken::Refused => return None,
            },
        }
    }
    if root.is_none() {
        notes
            .error(start, "syntax", "there is nothing in the file but perhaps comments")
            .hint("a scenario needs name, start, horizon, fleet and update");
    }
    root
}

enum Taken {
    Inside,
    Whole(Node),
    Refused,
}

struct Builder<'a> {
    notes: &'a Notes,
    file: u16,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, Measure)>,
    copies: usize,
}

impl Builder<'_> {
    fn spot(&self, start: Marker, end: Marker) -> Spot {
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let same_line = end.line() == start.line() && end.col() > start.col();
        Spot {
            file: self.file,
            line: small(start.line().max(1)),
            column: small(start.col() + 1),
            length: if same_line { small(end.col() - start.col()) } else { 1 },
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Taken {
        let at = self.spot(span.start, span.end);
        let tag = match &event {
            Event::Scalar(_, _, _, tag)
            | Event::SequenceStart(_, tag)
            | Event::MappingStart(_, tag) => tag.as_ref(),
            _ => None,
        };
        if let Some(tag) = tag {
            let written = format!("{}{}", tag.handle, tag.suffix);
            self.notes
                .error(at, "syntax", format!("`{written}` is a YAML tag, and tags are not read"))
                .hint(format!("if the text is meant, put it in quotes: \"{written}\""));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                // A text under a tag is refused above; it must not look absent too.
                let quoted = style != ScalarStyle::Plain || tag.is_some();
                let value = Value::Scalar { text: text.into_owned(), quoted };
                self.close(Node { at, value }, anchor, Measure { size: 1, depth: 0 })
            }
            Event::SequenceStart(anchor, _) => self.begin(at, anchor, Value::List(vec![])),
            Event::MappingStart(anchor, _) => self.begin(at, anchor, Value::Map(vec![])),
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop().expect("the parser pairs starts and ends");
                self.close(Node { at: open.at, value: open.value }, open.anchor, open.measure)
            }
            Event::Alias(anchor) => self.alias(at, anchor),
            _ => Taken::Inside,
        }
    }

    fn begin(&mut self, at: Spot, anchor: usize, value: Value) -> Taken {
        if self.open.len() == DEEPEST {
            return self.too_deep(at);
        }
        if let Some(Open { value: Value::Map(_), key: None, .. }) = self.open.last() {
            let message = "a map or a list cannot be a key";
            self.notes
                .error(at, "syntax", message)
                .hint("keys are plain words; check the brackets");
            return Taken::Refused;
        }
        let at = Spot { length: 1, ..at };
        let measure = Measure { size: 1, depth: 1 };
        self.open.push(Open { at, anchor, measure, value, key: None });
        Taken::Inside
    }

    fn alias(&mut self, at: Spot, anchor: usize) -> Taken {
        let Some((node, measure)) = self.anchors.get(&anchor) else {
            self.notes.error(at, "syntax", "an alias stands inside the value that it copies");
            return Taken::Refused;
        };
        let measure = *measure;
        self.copies += measure.size;
        if self.copies > MOST_COPIES {
            self.notes
                .error(at, "too-large", "aliases copy more than a million values")
                .hint("write the values out, or make members with `fleet.populations`");
            return Taken::Refused;
        }
        if self.open.len() + measure.depth > DEEPEST {
            return self.too_deep(at);
        }
        let node = node.clone();
        self.close(node, 0, measure)
    }

    fn too_deep(&self, at: Spot) -> Taken {
        let message = format!("maps and lists lie more than {DEEPEST} deep in each other");
        self.notes.error(at, "too-deep", message).hint("check the brackets");
        Taken::Refused
    }

    fn close(&mut self, node: Node, anchor: usize, measure: Measure) -> Taken {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), measure));
        }
        let Some(parent) = self.open.last_mut() else { return Taken::Whole(node) };
        parent.measure.size += measure.size;
        parent.measure.depth = parent.measure.depth.max(measure.depth + 1);
        match &mut parent.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => {
                if let Some((key, at)) = parent.key.take() {
                    entries.push(Entry { key, at, value: node });
                } else if let Value::Scalar { text, .. } = node.value {
                    parent.key = Some((text, node.at));
                } else {
                    // Only an alias gets here.
                    self.notes.error(node.at, "syntax", "a map or a list cannot be a key");
                    return Taken::Refused;
                }
            }
            Value::Scalar { .. } => unreachable!("only maps and lists are opened"),
        }
        Taken::Inside
    }
}

/// JSON writes characters beyond 16 bits as two escapes (`\ud83d\ude00`), YAML as one
/// (`\U0001f600`).
fn join_surrogates(text: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (mut joined, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match (unit(at), unit(at + 6)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let character = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                joined = joined + &text[copied..at] + &format!("\\U{character:08x}");
                at += 12;
                copied = at;
            }
            // Past the backslash and what it escapes, which may be another backslash.
            _ => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    joined.push_str(&text[copied..]);
    Cow::Owned(joined)
}

/// Reports keys that a map has twice; done when the map is complete.
pub(super) fn refuse_duplicate_keys(notes: &Notes, root: &Node) {
    match &root.value {
        Value::Scalar { .. } => {}
        Value::List(items) => items.iter().for_each(|item| refuse_duplicate_keys(notes, item)),
        Value::Map(entries) => {
            let mut first = BTreeMap::new();
            for entry in entries {
                if let Some(line) = first.get(entry.key.as_str()) {
                    let message = format!("`{}` is here twice", entry.key);
                    let hint = format!("it was first given on line {line}; keep one of the two");
                    notes.error(entry.at, "duplicate-key", message).hint(hint);
                } else {
                    first.insert(entry.key.as_str(), entry.at.line);
                }
                refuse_duplicate_keys(notes, &entry.value);
            }
        }
    }
}

fn syntax_error(notes: &Notes, at: Spot, info: &str, text: &str) {
    let line = text.lines().nth(at.line as usize - 1).unwrap_or_default();
    let rest: String = line.chars().skip(at.column as usize - 1).collect();
    let hint = if info.contains("unknown anchor") || rest.starts_with('*') {
        "a star begins a YAML alias; where the star itself is meant, put it in quotes: \"*\""
    } else if line.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t') {
        "YAML is indented with spaces, never with tabs"
    } else if rest.starts_with('@') || rest.starts_with('`') || rest.starts_with('%') {
        "a value that begins with this character needs quotes"
    } else if info.contains("did not find expected ','") {
        "a bracket that was opened before is not closed, or a comma is missing"
    } else if info.contains("mapping values are not allowed") {
        "a value that contains `: ` needs quotes; otherwise check the indentation"
    } else {
        "check brackets, quotes, commas and indentation on this line and the one before it"
    };
    let language = if notes.sources.is_json(at.file) { "JSON" } else { "YAML" };
    notes.error(at, "syntax", format!("this is not valid {language}: {info}")).hint(hint);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_of_json_are_joined() {
        assert_eq!(join_surrogates(r#""\ud83d\ude00!""#), r#""\U0001f600!""#);
        for kept in [r"\\ud83d\ude00", r"\ud83d", r"\ud83dé", r"\", r"\u00e9\ud83d\n", "é"] {
            assert_eq!(join_surrogates(kept), kept);
        }
        let notes = Notes::default();
        let text = r#"{"a": "\/ \u00e9 \ud83d\ude00"}"#;
        let root = parse(&notes, notes.sources.add("a.json", text), text).unwrap();
        assert_eq!(root.get("a").unwrap().as_text(), Some("/ é \u{1f600}"));
    }

    #[test]
    fn nodes_know_their_places() {
        let notes = Notes::default();
        let text = "a: 1\nlist:\n  - \"two\"\n  - {key: three}\n";
        let root = parse(&notes, notes.sources.add("a.yaml", text), text).unwrap();
        let Value::List(items) = &root.get("list").unwrap().value else { panic!("a list") };
        let place = |at: Spot| (at.line, at.column, at.length);
        assert_eq!(place(items[0].at), (3, 5, 5), "quotes included");
        assert_eq!(place(items[1].at), (4, 5, 1), "of a map its beginning");
        assert_eq!(place(items[1].get("key").unwrap().at), (4, 11, 5));
    }
}
