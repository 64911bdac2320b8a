//! Files that people check alone: a bare strategy, bare maintenance configurations, a bare list of
//! members or clusters.

use super::access::{Field, Notes};
pub use super::files::Listed;
use super::tree::{Node, Value, parse, refuse_duplicate_keys};
use super::{files, lints, strategy, window};
use crate::calendar::MaintenanceWindow;
use crate::error::Diagnostic;
use crate::scheduler::{ServiceLimits, Stage};

/// What a text seems to be, by its outermost keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A scenario; also whatever is nothing else.
    Scenario,
    /// A strategy, in any of the forms that `file` of a strategy takes.
    Strategy,
    /// Maintenance configurations: one, a list, or a map by name.
    Maintenance,
    /// Fleet members or clusters, as `fleet.files` takes them.
    Fleet,
}

/// A maintenance configuration that was read alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Its name, where the text has one.
    pub name: Option<String>,
    /// The window.
    pub window: MaintenanceWindow,
}

/// The names of maintenance configurations (R-I18).
const CONFIGURATIONS: [&str; 3] =
    ["aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule", "default"];

impl Kind {
    /// What `text` seems to be.
    pub fn of(text: &str) -> Self {
        let notes = Notes::default();
        let file = notes.sources.add("", text);
        parse(&notes, file, text).map_or(Self::Scenario, |root| kind(&root))
    }
}

fn kind(node: &Node) -> Kind {
    if let Value::List(items) = &node.value {
        let is_stage =
            |node: &Node| node.get("groups").is_some() || node.get("memberSelector").is_some();
        return match items.first() {
            Some(first) if is_stage(first) => Kind::Strategy,
            Some(first) => kind(first),
            None => Kind::Scenario,
        };
    }
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let inner = |key: &str| node.get(key).map_or(Kind::Scenario, kind);
    if has(&["fleet", "start", "horizon", "update", "strategies"]) {
        Kind::Scenario
    } else if has(&["stages", "strategy"]) || has(&["apiVersion"]) && has(&["kind"]) {
        Kind::Strategy
    } else if has(&["maintenanceWindow", "schedule", "timeInWeek", "notAllowedTime"])
        || has(&CONFIGURATIONS)
    {
        Kind::Maintenance
    } else if has(&["clusterResourceId", "agentPoolProfiles"]) {
        Kind::Fleet
    } else if has(&["properties"]) {
        inner("properties")
    } else {
        inner("value")
    }
}

/// Reads a strategy's stages; none of them means one by one.
pub fn read_stages(
    name: &str,
    text: &str,
    limits: ServiceLimits,
) -> Result<(Vec<Stage>, Vec<Diagnostic>), Vec<Diagnostic>> {
    read(name, text, |root| Some(strategy::from_file(root, limits).0))
}

/// Reads maintenance configurations.
pub fn read_maintenance(
    name: &str,
    text: &str,
) -> Result<(Vec<Configuration>, Vec<Diagnostic>), Vec<Diagnostic>> {
    read(name, text, |root| {
        let mut found = vec![];
        configurations(root, &mut found);
        Some(found)
    })
}

/// Counts what a file of members or clusters lists.
pub fn read_fleet(name: &str, text: &str) -> Result<(Listed, Vec<Diagnostic>), Vec<Diagnostic>> {
    read(name, text, |root| Some(files::list(root.notes, root.node)))
}

fn read<T>(
    name: &str,
    text: &str,
    of: impl FnOnce(&Field<'_>) -> Option<T>,
) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
    let notes = Notes::default();
    let file = notes.sources.add(name, text);
    let result = parse(&notes, file, text).and_then(|root| {
        refuse_duplicate_keys(&notes, &root);
        of(&Field::new(&notes, "the file", &root))
    });
    let warnings = notes.finish()?;
    Ok((result.expect("what is not read comes with an error"), warnings))
}

fn configurations(field: &Field<'_>, found: &mut Vec<Configuration>) {
    if let Value::List(_) = field.node.value {
        for item in field.items().into_iter().flatten() {
            configurations(&item, found);
        }
        return;
    }
    if let Some(list) = field.node.get("value") {
        return configurations(&Field::new(field.notes, "value", list), found);
    }
    let named = CONFIGURATIONS.into_iter().filter_map(|name| Some((name, field.node.get(name)?)));
    let mut is_map = false;
    for (name, node) in named {
        is_map = true;
        one(&Field::new(field.notes, name, node), Some(name.to_owned()), found);
    }
    if !is_map {
        let name = field.node.get("name").and_then(Node::as_text).map(str::to_owned);
        one(field, name, found);
    }
}

fn one(field: &Field<'_>, name: Option<String>, found: &mut Vec<Configuration>) {
    // Without a name it may be `default`, whose older form is read too.
    let is_default = name.as_deref().is_none_or(|name| name == "default");
    if let Some(window) = window::read(field, None, is_default) {
        for doubt in lints::of_description(&window) {
            let noted = field.notes.warning(field.at(), doubt.code, doubt.message);
            noted.hint(doubt.hint.unwrap_or_default());
        }
        found.push(Configuration { name, window });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_keys() {
        let kinds = [
            ("name: x\nstart: 2026-03-02", Kind::Scenario),
            ("", Kind::Scenario),
            ("{\"stages\": []}", Kind::Strategy),
            ("[{\"name\": \"a\", \"groups\": []}]", Kind::Strategy),
            ("{\"properties\": {\"strategy\": {\"stages\": []}}}", Kind::Strategy),
            ("apiVersion: placement.kubernetes-fleet.io/v1\nkind: X", Kind::Strategy),
            ("{\"maintenanceWindow\": {}}", Kind::Maintenance),
            ("{\"value\": [{\"properties\": {\"maintenanceWindow\": {}}}]}", Kind::Maintenance),
            ("aksManagedNodeOSUpgradeSchedule: {}", Kind::Maintenance),
        ];
        for (text, kind) in kinds {
            assert_eq!(Kind::of(text), kind, "{text}");
        }
    }

    #[test]
    fn r_j9_configurations_are_read_in_every_shape() {
        let window = "{\"schedule\": {\"daily\": {\"intervalDays\": 1}, \"weekly\": null}, \
                      \"durationHours\": 4, \"startTime\": \"01:00\"}";
        let shapes = [
            (window.to_owned(), None),
            (
                format!("{{\"name\": \"default\", \"maintenanceWindow\": {window}}}"),
                Some("default"),
            ),
            (
                format!(
                    "[{{\"name\": \"default\", \"properties\": {{\"maintenanceWindow\": {window}}}}}]"
                ),
                Some("default"),
            ),
            (
                format!("{{\"aksManagedAutoUpgradeSchedule\": {window}}}"),
                Some("aksManagedAutoUpgradeSchedule"),
            ),
        ];
        for (text, name) in shapes {
            let (found, warnings) = read_maintenance("w.json", &text).expect(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].name.as_deref(), name, "{text}");
            assert!(warnings.is_empty(), "{text}");
        }
        let wrong = read_maintenance("w.json", "{\"schedule\": {}}").unwrap_err();
        assert!(wrong.iter().all(|error| error.place.is_some()), "{wrong:?}");
    }

    #[test]
    fn a_bare_strategy_is_read_with_its_places() {
        let text = "{\"stages\": [{\"name\": \"a\", \"groups\": [{\"name\": \"g\"}]}]}";
        let (stages, _) = read_stages("s.json", text, ServiceLimits::Azure).unwrap();
        assert_eq!(stages[0].groups[0].name, "g");
        let wrong = read_stages("s.json", "{\"stages\": [{\"nmae\": 1}]}", ServiceLimits::Azure);
        assert_eq!(wrong.unwrap_err()[0].place.as_ref().unwrap().file, "s.json");
    }
}
