//! YAML as a plain tree of text: nothing is guessed about types (R-K11).

use saphyr_parser::{Event, Parser, ScalarStyle};

/// One YAML node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing: empty, `null` or `~`.
    Null,
    /// Any scalar, quoted or not.
    Text(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping, in the file's order.
    Map(Vec<(String, Value)>),
}

/// Reads one document.
pub(crate) fn read(text: &str) -> Value {
    let events: Vec<Event<'_>> = Parser::new_from_str(text)
        .map(|event| event.unwrap_or_else(|error| panic!("not YAML: {error}")).0)
        .collect();
    let mut rest = events.iter().filter(|event| {
        !matches!(
            event,
            Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
        )
    });
    node(rest.next().expect("a document has a node"), &mut rest)
}

fn node<'a, 'b: 'a>(event: &'a Event<'b>, rest: &mut impl Iterator<Item = &'a Event<'b>>) -> Value {
    match event {
        Event::Scalar(text, style, ..) => match (text.as_ref(), *style) {
            ("" | "null" | "~", ScalarStyle::Plain) => Value::Null,
            (text, _) => Value::Text(text.to_owned()),
        },
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match rest.next().expect("a sequence ends") {
                    Event::SequenceEnd => return Value::List(list),
                    item => list.push(node(item, rest)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut map = Vec::new();
            loop {
                match rest.next().expect("a mapping ends") {
                    Event::MappingEnd => return Value::Map(map),
                    key => {
                        let key = node(key, rest).text().to_owned();
                        let value = rest.next().expect("a key has a value");
                        map.push((key, node(value, rest)));
                    }
                }
            }
        }
        other => panic!("no node: {other:?}"),
    }
}

impl Value {
    /// The value under a key; absent and null are the same.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value)
                .filter(|value| **value != Self::Null),
            Self::Null => None,
            other => panic!("`{key}` looked for in {other:?}"),
        }
    }

    /// The value under a key that has to be there.
    pub(crate) fn need(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("`{key}` is missing in {self:?}"))
    }

    /// The text of a scalar.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    /// The text under a key, if there is one.
    pub(crate) fn get_text(&self, key: &str) -> Option<String> {
        self.get(key).map(|value| value.text().to_owned())
    }

    /// A whole number.
    pub(crate) fn number(&self) -> i64 {
        self.text().parse().unwrap_or_else(|_| panic!("no number: {self:?}"))
    }

    /// The items of a list; none of nothing.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            Self::Null => &[],
            other => panic!("no list: {other:?}"),
        }
    }

    /// The items under a key; none if it is absent.
    pub(crate) fn get_items(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// The pairs of a mapping; none of nothing.
    pub(crate) fn pairs(&self) -> &[(String, Self)] {
        match self {
            Self::Map(map) => map,
            Self::Null => &[],
            other => panic!("no mapping: {other:?}"),
        }
    }

    /// The pairs under a key; none if it is absent.
    pub(crate) fn get_pairs(&self, key: &str) -> &[(String, Self)] {
        self.get(key).map_or(&[], Self::pairs)
    }
}
