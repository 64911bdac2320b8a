//! Other values in a scenario, as if they had been typed: `PATH=VALUE`.
//!
//! A path names a value by its keys: `update.pollInterval`. Items of lists are named by their
//! `name` (`strategies.waves`) or by their number from 0 (`stages[0]`); brackets also hold names
//! and keys with dots in them (`strategies[v1.2]`). Keys that are absent are added. The tree is
//! changed before it is read, so that whatever can be wrong with a value is said as always, with
//! the place in the option.

use std::fmt;
use std::str::FromStr;

use super::access::{Notes, nearest};
use super::tree::{self, Entry, Node, Spot, Value};
use crate::time::{Span, Timestamp};

/// What places in an option call it.
pub const SOURCE: &str = "--vary";
/// The most steps of a range, and the most values of a list.
const MOST_VALUES: usize = 1_000;

/// One value of a scenario and what to try for it: `PATH=LIST` or `PATH=LOW..HIGH/STEPS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    /// Names the value.
    pub path: String,
    /// At least one, as they would be typed.
    pub values: Vec<String>,
}

/// One value, replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Names the value.
    pub path: String,
    /// YAML for it.
    pub value: String,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}

impl FromStr for Variation {
    type Err = String;

    /// Reads `PATH=a,b,c` (commas in brackets and quotes separate nothing) or
    /// `PATH=LOW..HIGH/STEPS`: equal steps between two numbers, durations, percentages or
    /// instants, both ends included, so one value more than steps.
    fn from_str(text: &str) -> Result<Self, String> {
        let equals = outside(text, '=').first().copied();
        let Some(equals) = equals else {
            return Err("it needs PATH=VALUES, as in update.pollInterval=0,30m,60m".to_owned());
        };
        let (path, list) = (text[..equals].trim(), text[equals + 1..].trim());
        segments(path).map_err(|(_, why)| why)?;
        let values = match range(list) {
            Some(values) => values?,
            None => items(list)?,
        };
        if values.len() > MOST_VALUES {
            return Err(format!("{} values are more than {MOST_VALUES}", values.len()));
        }
        for (position, value) in values.iter().enumerate() {
            if values[..position].contains(value) {
                return Err(format!("the value `{value}` is there twice"));
            }
        }
        Ok(Self { path: path.to_owned(), values })
    }
}

/// Where this character stands outside of brackets and quotes.
fn outside(text: &str, wanted: char) -> Vec<usize> {
    let (mut depth, mut quote, mut found) = (0_i32, None, Vec::new());
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, _) if c == wanted && depth == 0 => found.push(at),
            (None, _) => {}
        }
    }
    found
}

fn items(list: &str) -> Result<Vec<String>, String> {
    let mut from = 0;
    let mut values = Vec::new();
    for end in outside(list, ',').into_iter().chain([list.len()]) {
        let value = list[from..end].trim();
        if value.is_empty() {
            return Err("a value is empty; separate values with single commas".to_owned());
        }
        values.push(value.to_owned());
        from = end + 1;
    }
    Ok(values)
}

/// The ends of a range in a unit, and how its values are written.
struct Ends {
    low: f64,
    high: f64,
    write: fn(f64) -> String,
}

/// The values of `LOW..HIGH/STEPS`; `None` if it is no range.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (low, rest) = text.split_once("..")?;
    let (high, steps) = rest.rsplit_once('/').unwrap_or((rest, ""));
    let (low, high, steps) = (low.trim(), high.trim(), steps.trim());
    let Some(ends) = numbers(low, high)
        .or_else(|| percents(low, high))
        .or_else(|| spans(low, high))
        .or_else(|| instants(low, high))
    else {
        // Not an attempt at a range.
        return steps.parse::<u16>().is_ok().then(|| {
            Err(format!(
                "`{low}` and `{high}` are not two numbers, durations, percentages or instants"
            ))
        });
    };
    let Some(steps) = steps.parse::<u16>().ok().filter(|steps| *steps >= 1) else {
        let example = "as in 0..48h/8";
        return Some(Err(format!("a range is LOW..HIGH/STEPS with at least one step, {example}")));
    };
    if usize::from(steps) >= MOST_VALUES {
        return Some(Err(format!("{steps} steps are more than {}", MOST_VALUES - 1)));
    }
    let value = |step: u16| {
        let (above, below) = (f64::from(step), f64::from(steps - step));
        (ends.write)((ends.low * below + ends.high * above) / f64::from(steps))
    };
    Some(Ok((0..=steps).map(value).collect()))
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn numbers(low: &str, high: &str) -> Option<Ends> {
    Some(Ends { low: finite(low)?, high: finite(high)?, write: plain })
}

fn percents(low: &str, high: &str) -> Option<Ends> {
    let number = |text: &str| finite(text.strip_suffix('%')?);
    let write = |value| format!("\"{}%\"", plain(value));
    Some(Ends { low: number(low)?, high: number(high)?, write })
}

fn instants(low: &str, high: &str) -> Option<Ends> {
    let seconds = |text: &str| {
        let at = text.parse::<Timestamp>().ok()?;
        Some((at - Timestamp::default()).as_secs_f64())
    };
    let write = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "it lies between two instants")]
        let seconds = value.round() as i64;
        (Timestamp::default() + Span::from_secs(seconds)).to_string()
    };
    Some(Ends { low: seconds(low)?, high: seconds(high)?, write })
}

fn spans(low: &str, high: &str) -> Option<Ends> {
    let seconds = |text: &str| text.parse::<Span>().ok().map(Span::as_secs_f64);
    let write = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "it lies between two spans")]
        let seconds = value.round() as i64;
        Span::from_secs(seconds).to_string()
    };
    Some(Ends { low: seconds(low)?, high: seconds(high)?, write })
}

/// A number without the last digits, in which only rounding lies.
fn plain(value: f64) -> String {
    let short: f64 = format!("{value:.11e}").parse().expect("a number reads back");
    (short + 0.0).to_string()
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    text: String,
    /// Whether it stood in brackets.
    bracket: bool,
    /// Its first character in the path, and how many there are.
    from: usize,
    length: usize,
}

/// The parts of a path; what is wrong comes with its place in characters.
fn segments(path: &str) -> Result<Vec<Segment>, (usize, String)> {
    let characters: Vec<char> = path.chars().collect();
    let mut segments = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let bracket = characters[at] == '[';
        let from = at + usize::from(bracket);
        let ends = |c: char| if bracket { c == ']' } else { c == '.' || c == '[' };
        let end = (from..characters.len()).find(|at| ends(characters[*at]));
        let end = match end {
            None if bracket => return Err((at, format!("a bracket of `{path}` is not closed"))),
            end => end.unwrap_or(characters.len()),
        };
        let text: String = characters[from..end].iter().collect();
        if text.trim().is_empty() || segments.is_empty() && bracket {
            return Err((at, format!("`{path}` is not a path such as update.pollInterval")));
        }
        segments.push(Segment { text, bracket, from, length: end - from });
        at = end + usize::from(bracket);
        if characters.get(at) == Some(&'.') {
            at += 1;
            if at == characters.len() {
                return Err((at - 1, format!("`{path}` ends in a dot")));
            }
        }
    }
    if segments.is_empty() {
        return Err((0, "the path before `=` is empty".to_owned()));
    }
    Ok(segments)
}

/// Replaces one value of a scenario's tree. `None` if that is impossible, which is noted.
pub(super) fn apply(notes: &Notes, root: &mut Node, edit: &Edit) -> Option<()> {
    let whole = place(notes, edit);
    let spot = |from: usize, length: usize| Spot {
        column: small(from + 1),
        length: small(length.max(1)),
        ..whole
    };
    // A path that is none is said before a value that cannot be read.
    if let Err((at, why)) = segments(&edit.path) {
        notes.error(spot(at, 1), "path", why);
        return None;
    }
    // Behind as many spaces as the path is long, the value knows its place.
    let before = edit.path.chars().count() + 1;
    let text = format!("{}{}", " ".repeat(before), edit.value);
    let scratch = Notes::default();
    if tree::parse(&scratch, scratch.sources.add(SOURCE, &text), &text).is_none() {
        let why = scratch.finish().err().and_then(|errors| errors.into_iter().next());
        let why = why.map_or_else(|| "it cannot be read".to_owned(), |error| error.message);
        notes
            .error(spot(before, edit.value.chars().count()), "syntax", why)
            .hint("a value is written as in the scenario; check its brackets and quotes");
        return None;
    }
    let value = tree::parse(notes, whole.file, &text)?;
    tree::refuse_duplicate_keys(notes, &value);
    put(notes, root, &edit.path, &spot, value)
}

/// Where an edit's path stands, in the option that it came from.
pub(super) fn place(notes: &Notes, edit: &Edit) -> Spot {
    let file = notes.sources.add_once(SOURCE, &edit.to_string());
    Spot { file, line: 1, column: 1, length: small(edit.path.chars().count().max(1)) }
}

/// Puts a value where a path leads; `spot` knows where so many characters of the path stand.
pub(super) fn put(
    notes: &Notes,
    root: &mut Node,
    path: &str,
    spot: &dyn Fn(usize, usize) -> Spot,
    value: Node,
) -> Option<()> {
    let segments = match segments(path) {
        Ok(segments) => segments,
        Err((at, why)) => {
            notes.error(spot(at, 1), "path", why);
            return None;
        }
    };
    let mut node = root;
    for (position, segment) in segments.iter().enumerate() {
        let at = spot(segment.from, segment.length);
        let known: String = path.chars().take(segment.from).collect();
        let above = if position == 0 { "the scenario" } else { known.trim_end_matches(['.', '[']) };
        node = match step(node, segment, above, at) {
            Ok(node) => node,
            Err((why, hint)) => {
                notes.error(at, "unknown-path", why).hint(hint);
                return None;
            }
        };
    }
    *node = value;
    Some(())
}

/// The parts of a path; none if it is no path.
pub(super) fn keys(path: &str) -> Vec<String> {
    let segments = segments(path).unwrap_or_default();
    segments.into_iter().map(|segment| segment.text).collect()
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The value that a segment names in a node called `above`; an absent key is added to a map.
fn step<'n>(
    node: &'n mut Node,
    segment: &Segment,
    above: &str,
    at: Spot,
) -> Result<&'n mut Node, (String, String)> {
    if node.is_null() {
        node.value = Value::Map(Vec::new());
    }
    let found = node.describe();
    match &mut node.value {
        Value::Map(entries) => {
            let known = entries.iter().position(|entry| entry.key == segment.text);
            let index = known.unwrap_or_else(|| {
                let nothing = Value::Scalar { text: String::new(), quoted: false };
                let value = Node { at, value: nothing };
                entries.push(Entry { key: segment.text.clone(), at, value });
                entries.len() - 1
            });
            Ok(&mut entries[index].value)
        }
        Value::List(items) => {
            let number = segment.text.parse::<usize>().ok().filter(|_| segment.bracket);
            let position = match number {
                Some(number) if number < items.len() => number,
                Some(number) => return Err(beyond(number, items.len(), above)),
                None => {
                    let mut names = items.iter().map(name);
                    let found = names.position(|name| name == Some(&segment.text));
                    found.ok_or_else(|| unnamed(segment, items, above))?
                }
            };
            Ok(&mut items[position])
        }
        Value::Scalar { .. } => Err((
            format!("`{above}` is {found}, so there is no `{}` in it", segment.text),
            format!("vary `{above}` itself, or write it as a map in the scenario first"),
        )),
    }
}

fn name(item: &Node) -> Option<&str> {
    item.get("name").and_then(Node::as_text)
}

fn beyond(number: usize, count: usize, above: &str) -> (String, String) {
    let last = match count {
        0 => "it is empty".to_owned(),
        _ => format!("the last is [{}]", count - 1),
    };
    (format!("`{above}` has no item [{number}]"), format!("items count from 0; of {count}, {last}"))
}

fn unnamed(segment: &Segment, items: &[Node], above: &str) -> (String, String) {
    let names: Vec<&str> = items.iter().filter_map(name).collect();
    let hint = match nearest(&segment.text, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("its items have no names; write `{above}[0]`"),
        None => format!("the names here are {}", names.join(", ")),
    };
    (format!("`{above}` has no item named `{}`", segment.text), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        text.parse::<Variation>().unwrap_or_else(|why| panic!("{text}: {why}")).values
    }

    #[test]
    fn lists_are_split_at_commas_outside_of_brackets_and_quotes() {
        assert_eq!(values("update.pollInterval=0,30m, 60m"), ["0", "30m", "60m"]);
        assert_eq!(values("a={uniform: [1, 2]},3"), ["{uniform: [1, 2]}", "3"]);
        assert_eq!(values("a=\"x,y\",z"), ["\"x,y\"", "z"]);
        let variation: Variation = "s[v1.2].x=1".parse().unwrap();
        assert_eq!(variation.path, "s[v1.2].x");
    }

    #[test]
    fn ranges_have_equal_steps_and_both_ends() {
        let found = values("stages[0].afterStageWaitInSeconds=0..172800/8");
        assert_eq!(found.len(), 9, "eight steps");
        assert_eq!((found[0].as_str(), found[1].as_str()), ("0", "21600"));
        assert_eq!(found[8], "172800");
        let found = values("world.failures.probability=0.003..0.03/4");
        assert_eq!(found, ["0.003", "0.00975", "0.0165", "0.02325", "0.03"]);
        assert_eq!(values("a=0..48h/4"), ["0s", "12h", "1d", "1d12h", "2d"]);
        assert_eq!(values("a=10%..50%/2"), ["\"10%\"", "\"30%\"", "\"50%\""]);
        assert_eq!(values("a=1..0/1"), ["1", "0"], "downwards too");
    }

    #[test]
    fn what_is_no_variation_is_refused_with_a_reason() {
        for (text, part) in [
            ("update.pollInterval", "PATH=VALUES"),
            ("=1", "empty"),
            ("a=", "empty"),
            ("a=1,,2", "empty"),
            ("a=1,1", "twice"),
            ("a=1..2", "at least one step"),
            ("a=1..2/0", "at least one step"),
            ("a=1..2/1000", "more than 999"),
            ("a=1..2h/3", "not two numbers"),
            ("a..b=1", "not a path"),
            ("a.=1", "ends in a dot"),
            ("[0]=1", "not a path"),
        ] {
            let why = text.parse::<Variation>().unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn paths_know_where_their_parts_stand() {
        let found = segments("strategies.waves.stages[0].wait").unwrap();
        let places: Vec<_> = found.iter().map(|s| (s.text.as_str(), s.from, s.bracket)).collect();
        let wanted = [
            ("strategies", 0, false),
            ("waves", 11, false),
            ("stages", 17, false),
            ("0", 24, true),
            ("wait", 27, false),
        ];
        assert_eq!(places, wanted);
    }
}
