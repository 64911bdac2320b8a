//! Scenarios that are wrong, one file each, and what is said about them: a stranger must know what
//! to do. The messages stand beside the files, as snapshots.

use std::path::{Path, PathBuf};

use fleetsim::scenario::Scenario;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken")
}

/// Every scenario in the folder, with its text.
pub(crate) fn scenarios() -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut scenarios: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    scenarios.sort();
    scenarios
}

fn open(name: &str) -> Result<String, String> {
    std::fs::read_to_string(folder().join(name)).map_err(|_| "there is no such file".to_owned())
}

#[test]
fn every_broken_scenario_is_refused_with_reason_place_and_hint() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("broken");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let scenarios = scenarios();
    assert!(scenarios.len() >= 45);
    for (name, text) in scenarios {
        let errors = Scenario::read(&name, &text, &open).map(|_| ()).expect_err(&name);
        for error in &errors {
            assert!(error.place.is_some(), "{name}: {error}");
            let place = error.place.as_ref().unwrap();
            assert!(place.line >= 1 && place.column >= 1 && place.length >= 1, "{name}: {error}");
        }
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        settings
            .bind(|| insta::assert_snapshot!(name.trim_end_matches(".yaml"), said.join("\n\n")));
    }
}
