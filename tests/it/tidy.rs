//! The house's rules about source text: imports run one way, third-party crates stay in their
//! rooms, and nothing grows too long.
//!
//! What is read is text, line by line, as rustfmt leaves it. Code that only tests compile may
//! import what it likes, and lay out its data as it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const LINE: usize = 100;
const FUNCTION: usize = 70;
const FILE: usize = 600;

/// What each top-level module of the library may name. One row a module, from the ground up; a
/// new module needs a row.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("bits", &[]),
    ("ids", &[]),
    ("time", &[]),
    ("error", &[]),
    ("quantiles", &[]),
    ("stats", &[]),
    ("calendar", &["time"]),
    ("fleet", &["ids", "time", "calendar"]),
    // Neither `sim` nor `scenario`, nor luck of any kind: the scheduler could drive real clusters.
    ("scheduler", &["bits", "ids", "time", "error", "calendar", "fleet"]),
    ("sim", &["bits", "ids", "time", "calendar", "quantiles", "fleet", "scheduler"]),
    // Builds what the modules from `fleet` to `sim` are made of.
    ("scenario", &["ids", "time", "error", "calendar", "quantiles", "fleet", "scheduler", "sim"]),
    ("experiment", &["time", "error", "scheduler", "sim", "scenario", "stats"]),
    (
        "report",
        &[
            "ids",
            "time",
            "error",
            "calendar",
            "scheduler",
            "sim",
            "scenario",
            "stats",
            "experiment",
        ],
    ),
];

/// Where third-party crates may be named: files, and modules with all that lies below them.
const MAY_USE: &[(&str, &[&str])] = &[
    ("clap", &["src/main.rs", "src/cli"]),
    ("comfy_table", &["src/report/table.rs", "src/cli/table.rs"]),
    (
        "csv",
        &["src/report/results", "src/report/baseline.rs", "src/report/checks", "src/cli/table.rs"],
    ),
    ("ctrlc", &["src/cli"]),
    ("hdrhistogram", &["src/experiment/histogram.rs"]),
    ("indicatif", &["src/cli"]),
    // Civil dates, at the edges: tables of dates, and axes.
    (
        "jiff",
        &[
            "src/time.rs",
            "src/calendar",
            "src/fleet/regions.rs",
            "src/fleet/support.rs",
            "src/fleet/regions.rs",
            "src/sim/releases",
            "src/report/chart",
        ],
    ),
    ("libm", &["src/quantiles", "src/stats"]),
    ("plotters", &["src/report/chart"]),
    ("quick_junit", &["src/report/checks"]),
    ("quick_junit", &["src/report/checks"]),
    ("rand", &["src/sim/draw.rs"]),
    ("rand_chacha", &["src/sim/draw.rs"]),
    ("rayon", &["src/experiment.rs"]),
    ("resvg", &["src/report/chart/raster.rs"]),
    ("saphyr_parser", &["src/scenario/tree.rs"]),
    ("serde", &["src/report", "src/cli"]),
    // The scheduler's status is the API's resource, which is JSON.
    ("serde_json", &["src/scenario", "src/scheduler/status.rs", "src/report", "src/cli"]),
    ("sha2", &["src/scenario"]),
    ("strsim", &["src/scenario", "src/fleet", "src/cli"]),
    ("terminal_size", &["src/cli"]),
];

/// One source file.
struct Source {
    /// Its path from the package's root, with slashes.
    path: String,
    lines: Vec<String>,
    /// Whether each line is compiled outside tests.
    shipped: Vec<bool>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder, but what is built, fetched or written by runs.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        if path.is_dir() {
            let generated =
                path.parent() == Some(root()) && (name == "target" || name == "results");
            if !generated && name != ".git" {
                files(&path, found);
            }
        } else if name != ".git" {
            found.push(path);
        }
    }
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/")
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    folders.iter().map(|folder| root().join(folder)).for_each(|folder| {
        if folder.exists() {
            files(&folder, &mut paths);
        }
    });
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut sources: Vec<Source> = paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
            let shipped = shipped(&lines);
            Source { path: name_of(path), lines, shipped }
        })
        .collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        let outside = !source.path.starts_with("src/");
        if outside || tests.contains(&source.path) {
            source.shipped.fill(false);
        }
    }
    sources
}

/// Which lines are compiled outside tests: not the items behind `#[cfg(test)]`.
fn shipped(lines: &[String]) -> Vec<bool> {
    let mut shipped = vec![true; lines.len()];
    let mut number = 0;
    while number < lines.len() {
        let line = &lines[number];
        number += 1;
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        // One line, or up to the brace below where it begins.
        let brace = format!("{}}}", " ".repeat(indent_of(line)));
        let ends = |line: &String| *line == brace || *line == format!("{brace};");
        let length = if lines[number].ends_with(';') {
            1
        } else {
            lines[number..].iter().position(ends).expect("items end") + 1
        };
        shipped[number - 1..number + length].fill(false);
        number += length;
    }
    shipped
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The files of modules that are declared behind `#[cfg(test)]`.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let folder = if folder == "src/lib" { "src" } else { folder };
    let unshipped = source.lines.iter().zip(&source.shipped).filter(|(_, shipped)| !**shipped);
    unshipped
        .filter_map(|(line, _)| line.strip_prefix("mod ")?.strip_suffix(';'))
        .map(|name| format!("{folder}/{name}.rs"))
        .collect()
}

impl Source {
    /// Lines compiled outside tests, comments taken off, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(&self.lines).zip(&self.shipped).filter(|(_, shipped)| **shipped);
        lines.map(|((number, line), _)| (number, without_comment(line)))
    }

    /// The top-level module that the file belongs to.
    fn module(&self) -> &str {
        let path = self.path.trim_start_matches("src/");
        path.split(['/', '.']).next().expect("a path has a beginning")
    }
}

/// A line without its comment. Addresses have no space before their slashes.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with("//") {
        return "";
    }
    line.split(" //").next().expect("a line has a beginning")
}

/// The names behind each `prefix` in a line.
fn names_behind<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (!before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')).then(|| &rest[..end])
    })
}

/// Whether a line names a crate: `name::` that is not part of a longer path or word.
fn names_crate(line: &str, name: &str) -> bool {
    let path = format!("{name}::");
    let begins = |at: usize| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    };
    line.match_indices(&path).any(|(at, _)| begins(at))
        || line.trim() == format!("use {name};")
        || line.trim().starts_with(&format!("use {name} as "))
}

#[track_caller]
fn assert_none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n{}", broken.join("\n"));
}

#[test]
fn imports_run_one_way() {
    let table: BTreeMap<&str, &[&str]> = MAY_NAME.iter().copied().collect();
    // The table itself runs one way: everybody names modules of earlier rows only.
    for (row, (module, names)) in MAY_NAME.iter().enumerate() {
        for name in *names {
            let earlier = MAY_NAME[..row].iter().any(|(module, _)| module == name);
            assert!(earlier, "the row of {module} names {name}, which does not stand above it");
        }
    }
    let mut broken = Vec::new();
    for source in sources(&["src"]) {
        let module = source.module();
        if ["main", "lib", "cli"].contains(&module) {
            continue; // The binary names whatever it likes of the library.
        }
        let Some(may_name) = table.get(module) else {
            broken.push(format!("{}: the table has no row for {module}", source.path));
            continue;
        };
        let depth = source.path.split('/').count() - 1;
        for (number, line) in source.code() {
            for name in names_behind(line, "crate::") {
                if name.is_empty() {
                    broken.push(format!("{}:{number}: name one module a line", source.path));
                } else if name != module && !may_name.contains(&name) {
                    broken.push(format!("{}:{number}: {module} names {name}", source.path));
                }
            }
            let climbs = (1..=4).rev().find(|n| line.contains(&"super::".repeat(*n)));
            if climbs.is_some_and(|climbs| climbs >= depth) && !line.contains("pub(super)") {
                broken.push(format!("{}:{number}: `super::` leaves the module", source.path));
            }
        }
    }
    assert_none("imports run one way", &broken);
}

#[test]
fn the_scheduler_knows_no_luck_and_no_simulation() {
    let mut broken = Vec::new();
    for source in sources(&["src"]).iter().filter(|source| source.module() == "scheduler") {
        for (number, line) in source.code() {
            for name in ["rand", "rand_chacha", "sim", "scenario"] {
                if names_crate(line, name) || line.contains(&format!("crate::{name}")) {
                    broken.push(format!("{}:{number}: names {name}", source.path));
                }
            }
        }
    }
    assert_none("the scheduler names neither luck, nor sim, nor scenario", &broken);
}

/// The names under a table of `Cargo.toml`, as code spells them.
fn dependencies(table: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != format!("[{table}]")).skip(1);
    let entries = lines.take_while(|line| !line.starts_with('['));
    entries.filter_map(|line| Some(line.split_once(" =")?.0.replace('-', "_"))).collect()
}

#[test]
fn third_party_crates_stay_in_their_rooms() {
    let rooms: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let dependencies = dependencies("dependencies");
    assert!(dependencies.len() > 10, "{dependencies:?}");
    let sources = sources(&["src"]);
    let mut broken = Vec::new();
    let mut used = BTreeSet::new();
    for name in &dependencies {
        let Some(rooms) = rooms.get(name.as_str()) else {
            broken.push(format!("Cargo.toml: {name} has no row in the table"));
            continue;
        };
        for source in &sources {
            // A file, or a module: its file and what lies below it.
            let inside = rooms.iter().any(|room| {
                let below = source.path.strip_prefix(room);
                below.is_some_and(|rest| ["", ".rs"].contains(&rest) || rest.starts_with('/'))
            });
            for (number, _) in source.code().filter(|(_, line)| names_crate(line, name)) {
                used.insert(name.as_str());
                if !inside {
                    broken.push(format!("{}:{number}: uses {name}", source.path));
                }
            }
        }
    }
    for name in rooms.keys().filter(|name| !used.contains(*name)) {
        broken.push(format!("nobody uses {name}"));
    }
    assert_none("third-party crates stay in their rooms", &broken);
}

/// Lines, functions and files that ship stay short.
#[test]
fn nothing_grows_too_long() {
    let mut broken = Vec::new();
    for source in sources(&["src", "tests", "benches"]) {
        let path = &source.path;
        let shipped = source.lines.iter().zip(&source.shipped);
        for (number, (line, shipped)) in (1..).zip(shipped) {
            let length = line.chars().count();
            if *shipped && length > LINE {
                broken.push(format!("{path}:{number}: {length} columns"));
            }
        }
        let length = source.shipped.iter().filter(|shipped| **shipped).count();
        if length > FILE {
            broken.push(format!("{path}: {length} lines before its tests"));
        }
        broken.extend(long_functions(&source));
    }
    assert_none(
        &format!("at most {LINE} columns, {FUNCTION} lines a function, {FILE} lines a file"),
        &broken,
    );
}

/// Functions of any source, tests as well: rustfmt closes each in the column where it begins.
fn long_functions(source: &Source) -> Vec<String> {
    let is_function = |line: &str| {
        let line = line.trim_start();
        let words: Vec<&str> = line.split([' ', '(']).collect();
        let is_word = |word: &&str| ["pub", "const", "async", "super)", "crate)"].contains(word);
        words.iter().find(|word| !is_word(word) && !word.is_empty()) == Some(&"fn")
    };
    let mut long = Vec::new();
    for (start, line) in source.lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
        let close = format!("{}}}", " ".repeat(indent_of(line)));
        if line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        let end = source.lines[start..].iter().position(|line| *line == close);
        let length = end.map_or(0, |end| end + 1);
        if length > FUNCTION {
            long.push(format!("{}:{}: a function of {length} lines", source.path, start + 1));
        }
    }
    long
}

#[test]
fn every_module_says_what_it_is() {
    let sources = sources(&["src", "tests", "benches"]);
    let silent = sources.iter().filter(|source| {
        // A lint's name may stand above, a doc must come before anything else.
        !source.lines.iter().find(|line| !line.is_empty()).is_some_and(|l| l.starts_with("//!"))
    });
    let silent: Vec<String> = silent.map(|source| source.path.clone()).collect();
    assert_none("every module begins with a `//!` doc", &silent);
}

/// Words are put together here, so that this file does not hold them.
#[test]
fn no_banned_words() {
    let in_code = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("dbg", "!"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
    ];
    // Where this was made is nobody's business but the maker's.
    let anywhere = [concat!("/wo", "rk/"), concat!("../sha", "red")];
    let mut everything = Vec::new();
    files(root(), &mut everything);
    assert!(everything.len() > 100, "the repository is here");
    let mut broken = Vec::new();
    for file in everything {
        // Pictures are not text.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let name = name_of(&file);
        let is_rust = file.extension().is_some_and(|extension| extension == "rs");
        let words = anywhere.iter().chain(in_code.iter().filter(|_| is_rust));
        for banned in words {
            for (number, _) in (1..).zip(text.lines()).filter(|(_, line)| line.contains(banned)) {
                broken.push(format!("{name}:{number}: {banned}"));
            }
        }
    }
    assert_none("no banned words", &broken);
}

#[test]
fn the_reader_of_sources_reads() {
    let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let text = "mod a;\n#[cfg(test)]\nmod b;\nfn c() {}\n#[cfg(test)]\nmod d {\n    use e;\n}\nf";
    assert_eq!(shipped(&lines(text)), [true, false, false, true, false, false, false, false, true]);
    assert!(names_crate("    let x = rand::random();", "rand"));
    assert!(names_crate("use rand::Rng;", "rand"));
    assert!(!names_crate("use crate::rand::Rng;", "rand"));
    assert!(!names_crate("use operand::Rng;", "rand"));
    assert_eq!(
        names_behind("a(crate::b::c, $crate::d)", "crate::").collect::<Vec<_>>(),
        ["b", "d"]
    );
    assert_eq!(without_comment("a(); // crate::b"), "a();");
    let long = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(FUNCTION));
    let one = Source { path: "a.rs".to_owned(), shipped: vec![], lines: lines(&long) };
    assert_eq!(long_functions(&one), ["a.rs:1: a function of 72 lines"]);
}
