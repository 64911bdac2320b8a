//! The conformance cases: scripted scenarios with what must come out, run through a player.
//!
//! A player is anything that turns a scenario's text into event lines and an end: the reference
//! and, at [`PLAYERS`], the product. Cases lie in `tests/it/cases`; the key `expect` holds the
//! facts:
//!
//! | key | meaning |
//! |---|---|
//! | `rules` | the rules tested |
//! | `strategy` | which strategy; the first when absent |
//! | `until` | where the clock stops |
//! | `invalid` | the rule that refuses the scenario |
//! | `kinds` | the event kinds that are compared; all when absent |
//! | `events` | all events of those kinds: `[offset, kind, name, {reason, until}]` |
//! | `final` | what holds at the end |
//! | `refused` | offsets of refused actions |

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::reference::{
    Case, Final, Millis, Outcome, Value, play, read_instant, read_span, read_yaml, show_instant,
    show_span,
};

/// Plays a scenario with one of its strategies up to an offset, or says which rule refuses it.
pub(crate) type Player = fn(&str, Option<&str>, Option<Millis>) -> Result<Outcome, String>;

/// Everything that has to agree with the cases, by name.
pub(crate) const PLAYERS: [(&str, Player); 2] =
    [("reference", reference), ("product", crate::product::product)];

/// The reference as a player.
pub(crate) fn reference(
    text: &str,
    strategy: Option<&str>,
    until: Option<Millis>,
) -> Result<Outcome, String> {
    let mut case = Case::read(text, strategy);
    if let Some(until) = until {
        case.end = case.end.min(case.start + until);
    }
    play(&case)
}

/// The scenario without its `expect`, for strict readers. `expect` is the last key of a case.
pub(crate) fn without_expect(text: &str) -> &str {
    text.find("\nexpect:").map_or(text, |position| &text[..=position])
}

/// Plays a case and compares; the error is a report for people.
pub(crate) fn check_case(text: &str, player: Player) -> Result<(), String> {
    let root = read_yaml(text);
    let expect = root.need("expect");
    let start = read_instant(root.need("start").text());
    let strategy = expect.get_text("strategy");
    let until = expect.get_text("until").map(|until| read_span(&until));
    let scenario = without_expect(text);
    let outcome = player(scenario, strategy.as_deref(), until);
    if let Some(rule) = expect.get_text("invalid") {
        return match outcome {
            Err(error) if error.contains(&rule) => Ok(()),
            Err(error) => Err(format!("{rule} should refuse this, not: {error}")),
            Ok(_) => Err(format!("{rule} should refuse this")),
        };
    }
    let outcome = outcome.map_err(|error| format!("refused: {error}"))?;
    let mut report = String::new();
    if let Some(wanted) = expect.get("events") {
        let kinds: Option<Vec<&str>> =
            expect.get("kinds").map(|kinds| kinds.items().iter().map(Value::text).collect());
        let happened = outcome.events.iter().map(|line| Happening::read(line, start));
        let happened: Vec<Happening> = happened
            .filter(|event| kinds.as_ref().is_none_or(|kinds| kinds.contains(&&*event.kind)))
            .collect();
        let wanted: Vec<Happening> = wanted.items().iter().map(Happening::wanted).collect();
        let fits = wanted.len() == happened.len()
            && wanted.iter().zip(&happened).all(|(wanted, event)| event.fits(wanted));
        if !fits {
            let show = |list: &[Happening]| list.iter().map(Happening::show).collect::<Vec<_>>();
            report += &side_by_side("expected", &show(&wanted), "happened", &show(&happened));
        }
    }
    for difference in differences(expect, &outcome.last) {
        writeln!(report, "{difference}").expect("strings take everything");
    }
    if report.is_empty() { Ok(()) } else { Err(format!("{report}\n{scenario}")) }
}

/// Compares two players' outcomes of one scenario, event by event; the error is a report.
pub(crate) fn compare(
    scenario: &str,
    (left_name, left): (&str, &Outcome),
    (right_name, right): (&str, &Outcome),
) -> Result<(), String> {
    let mut report = String::new();
    if left.events != right.events {
        report += &side_by_side(left_name, &left.events, right_name, &right.events);
    }
    let (left_end, right_end) = (shown(&left.last), shown(&right.last));
    if left_end != right_end {
        report += &side_by_side(left_name, &left_end, right_name, &right_end);
    }
    if report.is_empty() { Ok(()) } else { Err(format!("{report}\n{scenario}")) }
}

/// An end, line by line. What a refusal says is anybody's own wording: only its offset counts.
fn shown(last: &Final) -> Vec<String> {
    let mut last = last.clone();
    for (_, wording) in &mut last.refused {
        wording.clear();
    }
    format!("{last:#?}").lines().map(str::to_owned).collect()
}

/// Two lists beside each other around their first difference.
fn side_by_side(left_name: &str, left: &[String], right_name: &str, right: &[String]) -> String {
    let length = left.len().max(right.len());
    let differs = |at: &usize| left.get(*at) != right.get(*at);
    let first = (0..length).find(differs).unwrap_or(0);
    let shown = first.saturating_sub(8)..length.min(first + 16);
    let cell = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_default();
    let widest = shown.clone().map(|at| cell(left, at).chars().count()).max().unwrap_or(0);
    let width = widest.max(left_name.len());
    let mut text = format!("{:>5}   {left_name:width$}   {right_name}\n", "");
    for at in shown {
        let mark = if differs(&at) { '≠' } else { ' ' };
        writeln!(text, "{at:>5} {mark} {:width$} | {}", cell(left, at), cell(right, at))
            .expect("strings take everything");
    }
    text
}

/// One event in the form of the cases.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Happening {
    at: Millis,
    kind: String,
    name: String,
    reason: Option<String>,
    until: Option<Millis>,
}

impl Happening {
    /// From an event line.
    fn read(line: &str, start: Millis) -> Self {
        let event: BTreeMap<String, String> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let get = |key: &str| event.get(key).cloned();
        let at = |key: &str| get(key).map(|instant| read_instant(&instant) - start);
        let name = match (get("gate"), get("member"), get("group"), get("stage")) {
            (Some(gate), _, Some(group), _) => format!("group:{group}/{gate}"),
            (Some(gate), _, None, Some(stage)) => format!("stage:{stage}/{gate}"),
            (_, Some(name), ..) | (_, _, Some(name), _) | (_, _, _, Some(name)) => name,
            _ => "run".to_owned(),
        };
        Self {
            at: at("time").expect("every event has a time"),
            kind: get("kind").expect("every event has a kind"),
            name,
            reason: get("reason"),
            until: at("until"),
        }
    }

    /// From a case.
    fn wanted(value: &Value) -> Self {
        let items = value.items();
        let options = items.get(3).unwrap_or(&Value::Null);
        Self {
            at: read_span(items[0].text()),
            kind: items[1].text().to_owned(),
            name: items[2].text().to_owned(),
            reason: options.get_text("reason"),
            until: options.get_text("until").map(|until| read_span(&until)),
        }
    }

    /// Whether the event is what is wanted; what the case does not say may be anything.
    fn fits(&self, wanted: &Self) -> bool {
        (self.at, &self.kind, &self.name) == (wanted.at, &wanted.kind, &wanted.name)
            && (wanted.reason.is_none() || wanted.reason == self.reason)
            && (wanted.until.is_none() || wanted.until == self.until)
    }

    fn show(&self) -> String {
        let mut text = format!("{} {} {}", show_span(self.at), self.kind, self.name);
        if let Some(reason) = &self.reason {
            write!(text, " ({reason})").expect("strings take everything");
        }
        if let Some(until) = self.until {
            write!(text, " until {}", show_span(until)).expect("strings take everything");
        }
        text
    }
}

/// What of `final` and `refused` does not hold.
fn differences(expect: &Value, end: &Final) -> Vec<String> {
    let nothing = Value::Null;
    let wanted = expect.get("final").unwrap_or(&nothing);
    let mut found = Vec::new();
    let mut same = |what: &str, wanted: String, got: String| {
        if wanted != got {
            found.push(format!("{what}: expected {wanted}, got {got}"));
        }
    };
    if let Some(run) = wanted.get_text("run") {
        same("run", run, end.run.clone());
    }
    if let Some(count) = wanted.get_text("failureCount") {
        same("failureCount", count, end.failure_count.to_string());
    }
    if wanted.get("nodeImageSelection").is_some() {
        let list = texts(wanted.get_items("nodeImageSelection"));
        same(
            "nodeImageSelection",
            format!("{list:?}"),
            format!("{:?}", end.node_image_selection.as_ref().unwrap_or(&Vec::new())),
        );
    }
    let maps = [
        ("stages", &end.stages),
        ("groups", &end.groups),
        ("members", &end.members),
        ("waits", &end.waits),
        ("gates", &end.gates),
        ("codes", &end.codes),
        ("kubernetes", &end.kubernetes),
    ];
    for (key, got) in maps {
        for (name, value) in wanted.get_pairs(key) {
            same(&format!("{key} {name}"), value.text().into(), look_up(got, name));
        }
    }
    if wanted.get("counts").is_some() {
        let counts: BTreeMap<String, u64> = wanted
            .get_pairs("counts")
            .iter()
            .map(|(state, count)| (state.clone(), count.number().unsigned_abs()))
            .collect();
        same("counts", format!("{counts:?}"), format!("{:?}", end.counts));
    }
    for (name, count) in wanted.get_pairs("failures") {
        let got = end.failures.get(name).map_or("nothing".into(), u64::to_string);
        same(&format!("failures {name}"), count.text().into(), got);
    }
    for (name, pair) in wanted.get_pairs("limits") {
        let got = end.limits.get(name).map(|(slots, allowed)| format!("[{slots}, {allowed}]"));
        let pair = format!("[{}]", texts(pair.items()).join(", "));
        same(&format!("limits {name}"), pair, got.unwrap_or_default());
    }
    for (name, images) in wanted.get_pairs("images") {
        let got = end.images.get(name).cloned().unwrap_or_default();
        same(&format!("images {name}"), texts(images.items()).join(" "), got.join(" "));
    }
    for (key, got) in [("started", &end.started), ("completed", &end.completed)] {
        for (name, offset) in wanted.get_pairs(key) {
            let offset = (*offset != Value::Null).then(|| show_span(read_span(offset.text())));
            let got = got.get(name).copied().unwrap_or_default().map(show_span);
            same(&format!("{key} {name}"), format!("{offset:?}"), format!("{got:?}"));
        }
    }
    let refused: Vec<String> = end.refused.iter().map(|(at, _)| show_span(*at)).collect();
    let wanted = texts(expect.get_items("refused")).join(", ");
    same("refused", wanted, refused.join(", "));
    found
}

fn look_up(map: &BTreeMap<String, String>, name: &str) -> String {
    map.get(name).cloned().unwrap_or_else(|| "nothing".to_owned())
}

fn texts(list: &[Value]) -> Vec<String> {
    list.iter().map(|value| value.text().to_owned()).collect()
}

/// The cases by file name, in order.
pub(crate) fn cases() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cases");
    let mut cases: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the cases are there")
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect();
    cases.sort();
    cases
}

#[test]
fn every_case_comes_out_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 44, "only {} cases", cases.len());
    let mut reports = String::new();
    for (name, text) in &cases {
        for (player_name, player) in PLAYERS {
            if let Err(report) = check_case(text, player) {
                writeln!(reports, "\n{name}, {player_name}:\n{report}")
                    .expect("strings take everything");
            }
        }
    }
    assert!(reports.is_empty(), "{reports}");
}

#[test]
fn a_wrong_expectation_is_found() {
    let (_, text) = cases().into_iter().next().expect("a case");
    for (right, wrong) in [
        ("[30m, memberCompleted, c]", "[31m, memberCompleted, c]"),
        ("failureCount: 0", "failureCount: 1"),
        ("completed: {run: 1h30m}", "completed: {run: 2h}"),
    ] {
        assert!(text.contains(right), "{right}");
        let report = check_case(&text.replace(right, wrong), reference);
        assert!(report.is_err(), "{wrong} went unseen");
    }
}

#[test]
fn a_disagreement_is_shown_side_by_side() {
    let (_, text) = cases().into_iter().next().expect("a case");
    let scenario = without_expect(&text);
    let left = reference(scenario, None, None).expect("valid");
    assert_eq!(compare(scenario, ("one", &left), ("other", &left)), Ok(()));
    let mut right = left.clone();
    right.events.swap(3, 4);
    right.last.failure_count = 9;
    let report = compare(scenario, ("one", &left), ("other", &right)).expect_err("they differ");
    assert!(report.contains("    3 ≠ ") && report.contains("failure_count: 9"), "{report}");
    assert!(report.contains("horizon: 2d"), "the scenario is shown");
}

#[test]
fn r_k2_events_are_compact_lines_with_their_keys_in_order() {
    let (_, text) = cases().into_iter().find(|(name, _)| name.starts_with("09")).expect("09");
    let outcome = reference(without_expect(&text), None, None).expect("valid");
    let start = show_instant(read_instant("2026-03-02T08:00:00Z"));
    let name = read_yaml(&text).need("name").text().to_owned();
    let wanted = format!(
        "{{\"time\":\"{start}\",\"kind\":\"memberPending\",\"run\":\"{name}\",\"stage\":\"s\",\
         \"group\":\"g\",\"member\":\"a\",\"reason\":\"MaintenanceWindowClosed\",\
         \"until\":\"2026-03-02T10:30:00Z\"}}"
    );
    assert_eq!(outcome.events[3], wanted);
}
