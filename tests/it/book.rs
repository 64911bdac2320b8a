//! What the book shows is what the program prints: every command in a `console` block of the README
//! and the docs runs, and says the lines below it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A command of a page, and what the page says that it prints.
struct Shown {
    page: String,
    line: String,
    wanted: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = docs.filter(|path| path.extension().is_some()).collect();
    paths.push(root().join("README.md"));
    paths.sort();
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(page).collect()
}

/// The blocks of a page in this language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<Vec<&'t str>> {
    let (mut blocks, mut inside) = (Vec::new(), false);
    for line in text.lines() {
        if let Some(of) = line.strip_prefix("```") {
            inside = of == language;
            if inside {
                blocks.push(Vec::new());
            }
        } else if inside {
            blocks.last_mut().expect("it is inside of one").push(line);
        }
    }
    blocks
}

fn shown() -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for (page, text) in pages() {
        for block in blocks(&text, "console") {
            let first = all.len();
            for line in block {
                if let Some(command) = line.strip_prefix("$ ") {
                    // What follows a command on its line says what it is for.
                    let line = command.split("  #").next().unwrap_or(command).trim().to_owned();
                    let line = line.split(" # ").next().unwrap_or(&line).trim().to_owned();
                    all.push(Shown { page: page.clone(), line, wanted: Vec::new() });
                } else if all.len() > first {
                    all.last_mut().expect("there is one").wanted.push(line.trim_end().to_owned());
                }
            }
        }
    }
    all
}

/// A folder with the files that the commands name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for name in ["scenario.yaml", "doubtful.yaml", "window.json"] {
        fs::copy(root().join("tests/it/book").join(name), dir.join(name)).unwrap();
    }
    // One stands in the book, as do the checks of the other.
    let commands = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let is_story = |block: &&Vec<&str>| block.contains(&"name: story");
    let blocks = blocks(&commands, "yaml");
    let story = blocks.iter().find(is_story).expect("the page shows it");
    fs::write(dir.join("story.yaml"), story.join("\n")).unwrap();
    fs::create_dir(dir.join("scenarios")).unwrap();
    for entry in fs::read_dir(root().join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join("scenarios").join(path.file_name().unwrap())).unwrap();
    }
    fs::create_dir(dir.join("other")).unwrap();
    fs::write(dir.join("other/notes.txt"), "mine").unwrap();
    folder
}

/// What a command says when a shell runs it.
fn said(dir: &Path, line: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("fleetsim");
    let fleetsim = format!("fleetsim() {{ '{}' \"$@\"; }}\n{line}\n", program.display());
    let mut command = Command::new("bash");
    command.args(["-c", &fleetsim]).current_dir(dir).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn commands_print_what_the_book_shows() {
    let folder = folder();
    let (mut commands, mut compared) = (0, 0);
    for Shown { page, line, wanted } in shown() {
        // What `.ci/run` does, and what a soak takes hours for.
        if line.contains("cargo ") {
            continue;
        }
        let output = said(folder.path(), &line);
        let code = output.status.code();
        let [printed, errors] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let refused = wanted.iter().any(|line| line.contains("error["));
        assert!(matches!(code, Some(0..=3)), "{page}: {line}: exit {code:?}\n{errors}");
        assert_eq!(code == Some(2), refused, "{page}: {line}: exit {code:?}\n{errors}");
        // In a terminal both come together: whichever comes first.
        let all: Vec<&str> = errors.lines().chain(printed.lines()).map(str::trim_end).collect();
        let mut rest = &all[..];
        for expected in wanted.iter().filter(|line| !line.is_empty()) {
            // An ellipsis at its end cuts a long line short.
            let fits = |line: &&str| match expected.strip_suffix('…') {
                Some(begin) => line.starts_with(begin) || **line == **expected,
                None => **line == **expected,
            };
            let mut found = rest.iter().position(fits);
            if found.is_none() {
                // Warnings are shown behind the results that they are about.
                rest = &all[..];
                found = rest.iter().position(fits);
            }
            let position = found.unwrap_or_else(|| {
                panic!("{page}: `{line}` does not print:\n{expected}\nbut:\n{}", all.join("\n"))
            });
            rest = &rest[position + 1..];
            compared += 1;
        }
        commands += 1;
    }
    assert!(commands > 20 && compared > 150, "{commands} commands, {compared} lines");
}

/// The checks that the page on checks shows are those of the scenario that it checks.
#[test]
fn the_checks_of_the_book_are_those_it_runs() {
    let page = fs::read_to_string(root().join("docs/checks.md")).unwrap();
    let scenario = fs::read_to_string(root().join("tests/it/book/scenario.yaml")).unwrap();
    let checks = blocks(&page, "yaml").swap_remove(0).join("\n");
    assert!(scenario.ends_with(&(checks.clone() + "\n")), "{checks}");
}
