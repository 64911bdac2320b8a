//! Label selectors (S5, R-H3): the Kubernetes string form.

use std::collections::BTreeMap;

/// Whether the labels match every requirement of the selector.
pub(crate) fn matches(selector: &str, labels: &BTreeMap<String, String>) -> bool {
    requirements(selector).iter().all(|requirement| holds(requirement, labels))
}

/// Splits at the commas that are not in parentheses.
fn requirements(selector: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in selector.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("at least one part").push(character);
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn holds(requirement: &str, labels: &BTreeMap<String, String>) -> bool {
    if let Some((left, values)) = requirement.split_once('(') {
        let values: Vec<&str> =
            values.trim_end().trim_end_matches(')').split(',').map(str::trim).collect();
        let (key, operator) = left.trim().split_once(char::is_whitespace).expect("KEY in (…)");
        let found = labels.get(key).is_some_and(|value| values.contains(&value.as_str()));
        return match operator.trim() {
            "in" => found,
            "notin" => !found,
            other => panic!("no operator: {other}"),
        };
    }
    if let Some((key, value)) = requirement.split_once("!=") {
        return labels.get(key.trim()).map(String::as_str) != Some(value.trim());
    }
    if let Some((key, value)) = requirement.split_once("==").or(requirement.split_once('=')) {
        return labels.get(key.trim()).map(String::as_str) == Some(value.trim());
    }
    match requirement.strip_prefix('!') {
        Some(key) => !labels.contains_key(key.trim()),
        None => labels.contains_key(requirement),
    }
}
