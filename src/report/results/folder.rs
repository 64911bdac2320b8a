//! The folder itself: whose results it holds, and files that appear whole.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::ResultFile;
use super::pictures::SCALE;
use crate::error::Diagnostic;
use crate::scenario::Scenario;

/// A drawing as two files, SVG and PNG.
///
/// # Errors
/// If it cannot be drawn as PNG.
pub(in crate::report) fn picture(name: &str, svg: String) -> Result<[ResultFile; 2], Diagnostic> {
    let png = crate::report::chart::png(&svg, SCALE)
        .map_err(|why| Diagnostic::error("chart", format!("cannot draw `{name}.png`: {why}")))?;
    let file = |end: &str, bytes| ResultFile { name: format!("{name}.{end}"), bytes };
    Ok([file("png", png), file("svg", svg.into_bytes())])
}

/// The file that says whose results these are. It is written last: a folder with it is complete.
pub(in crate::report) const MANIFEST: &str = "manifest.json";

/// All other names that results have; beside them are timelines by strategy and sweeps by number.
const NAMES: [&str; 33] = [
    "summary.json",
    "summary.csv",
    "runs.csv",
    "profile-runs.csv",
    "staleness.csv",
    "staleness-progress.csv",
    "staleness.svg",
    "staleness.png",
    "differences.csv",
    "progress.csv",
    "histograms.csv",
    "progress.svg",
    "progress.png",
    "tradeoff.svg",
    "tradeoff.png",
    "delays.svg",
    "delays.png",
    "changes.csv",
    "changes-progress.csv",
    "changes-progress.svg",
    "changes-progress.png",
    "changes.svg",
    "changes.png",
    "changes-done.svg",
    "changes-done.png",
    "report.html",
    "sweep.csv",
    "front.csv",
    "front.svg",
    "front.png",
    "sensitivity.csv",
    "sensitivity.svg",
    "sensitivity.png",
];

/// What tells results apart.
#[derive(Debug, Deserialize)]
struct Owner {
    scenario: String,
    digest: String,
}

/// Checks that results of this scenario may be written into `dir`: it does not exist, is empty,
/// holds results of the same scenario, or `force` is given. Changes nothing.
///
/// # Errors
/// If it holds anything else, or cannot be read.
pub fn claim(dir: &Path, scenario: &Scenario, force: bool) -> Result<(), Diagnostic> {
    if !dir.exists() {
        return Ok(());
    }
    if !dir.is_dir() {
        let message = format!("`{}` is a file, not a folder for results", dir.display());
        return Err(Diagnostic::error(CODE, message).hint("name another folder with -o"));
    }
    if force {
        return Ok(());
    }
    let manifest = dir.join(MANIFEST);
    let refused = |what: String| {
        let message = format!("`{}` holds {what}; nothing was written", dir.display());
        let hint = "name another folder with -o, or replace its results with --force";
        Err(Diagnostic::error(CODE, message).hint(hint))
    };
    if !manifest.exists() {
        let mut names = names(dir)?.into_iter();
        return match names.find(|name| !is_in_the_making(name)) {
            Some(name) => refused(format!("`{name}` and no {MANIFEST}")),
            None => Ok(()),
        };
    }
    let text = fs::read_to_string(&manifest).map_err(|why| cannot("read", &manifest, &why))?;
    match serde_json::from_str::<Owner>(&text) {
        Err(_) => refused(format!("a {MANIFEST} that is not of results")),
        Ok(owner) if owner.scenario != scenario.name => {
            refused(format!("results of the scenario `{}`", owner.scenario))
        }
        Ok(owner) if owner.digest != scenario.digest => refused(format!(
            "results of another version of the scenario `{}` (or of the files it reads)",
            owner.scenario
        )),
        Ok(_) => Ok(()),
    }
}

/// The code of everything that is wrong with a folder.
const CODE: &str = "results";

/// Writes the files of `dir`, each beside its place and then renamed, and removes what earlier
/// results left over. Files that are no results stay.
pub(in crate::report) fn write(dir: &Path, files: &[ResultFile]) -> Result<(), Diagnostic> {
    fs::create_dir_all(dir).map_err(|why| cannot("make", dir, &why))?;
    for file in files {
        let part = dir.join(part(&file.name));
        fs::write(&part, &file.bytes).map_err(|why| cannot("write", &part, &why))?;
    }
    let kept: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    for name in names(dir)? {
        let stale = is_result(&name) && !kept.contains(name.as_str());
        let abandoned = is_in_the_making(&name) && !kept.iter().any(|kept| part(kept) == name);
        if stale || abandoned || name == MANIFEST {
            let path = dir.join(&name);
            fs::remove_file(&path).map_err(|why| cannot("remove", &path, &why))?;
        }
    }
    for file in files {
        let (part, path) = (dir.join(part(&file.name)), dir.join(&file.name));
        fs::rename(&part, &path).map_err(|why| cannot("write", &path, &why))?;
    }
    Ok(())
}

/// Where a file stands until it is whole.
fn part(name: &str) -> String {
    format!(".{name}.part")
}

fn is_in_the_making(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
    inner.is_some_and(|name| name == MANIFEST || is_result(name))
}

/// Whether a name is one that results have, the manifest aside.
fn is_result(name: &str) -> bool {
    let picture = Path::new(name).extension().is_some_and(|end| end == "svg" || end == "png");
    let one_of_several = ["timeline-", "sweep-"].iter().any(|start| name.starts_with(start));
    NAMES.contains(&name) || one_of_several && picture
}

/// The names in a folder, in order.
fn names(dir: &Path) -> Result<BTreeSet<String>, Diagnostic> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(dir).map_err(|why| cannot("read", dir, &why))? {
        let entry = entry.map_err(|why| cannot("read", dir, &why))?;
        names.insert(entry.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn cannot(what: &str, path: &Path, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error(CODE, format!("cannot {what} `{}`: {why}", path.display()))
        .hint("check the folder's permissions and free space, or name another one with -o")
}
