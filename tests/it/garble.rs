//! Whatever is done to a scenario's text, reading it ends with a scenario or with errors.

use fleetsim::scenario::Scenario;

const EVERYTHING: &str = include_str!("inputs/everything.yaml");
const STRATEGY: &str = include_str!("inputs/strategy.json");

/// A small generator of our own: tests must not depend on anybody's version of one.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Text that means something to YAML or to the scenario.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "- ",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!x ",
    "|",
    ">",
    "%",
    "@",
    "\t",
    "\n",
    "\r\n",
    "---",
    "...",
    "null",
    "-1",
    "99999999999999999999",
    "0",
    "\u{1f980}",
    "\u{0}",
    "*",
    "<<: ",
    "? ",
];

fn garbled(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(3) {
        if lines.is_empty() {
            break;
        }
        let line = dice.below(lines.len());
        match dice.below(7) {
            0 => drop(lines.remove(line)),
            1 => lines.insert(line, lines[line].clone()),
            2 => {
                let other = dice.below(lines.len());
                lines.swap(line, other);
            }
            3 => lines[line].insert_str(0, &" ".repeat(dice.below(5))),
            4 => lines[line] = lines[line].trim_start().into(),
            choice => {
                let mut characters: Vec<char> = lines[line].chars().collect();
                let at = dice.below(characters.len() + 1);
                if choice == 5 && at < characters.len() {
                    characters.remove(at);
                } else {
                    let piece = PIECES[dice.below(PIECES.len())];
                    characters.splice(at..at, piece.chars());
                }
                lines[line] = characters.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

/// The first part of the text, cut anywhere.
fn cut(text: &str, dice: &mut Dice) -> String {
    text.chars().take(dice.below(text.chars().count())).collect()
}

#[test]
fn the_scenario_with_everything_is_fine() {
    let read = Scenario::read("everything.yaml", EVERYTHING, &|_| Ok(STRATEGY.to_owned()));
    let (_, warnings) = read.unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    assert_eq!(warnings, []);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut dice = Dice(2026);
    let mut refused = 0;
    for round in 0..4_000 {
        let (scenario, strategy) = match round % 4 {
            0 => (EVERYTHING.to_owned(), garbled(STRATEGY, &mut dice)),
            1 => (cut(EVERYTHING, &mut dice), STRATEGY.to_owned()),
            _ => (garbled(EVERYTHING, &mut dice), STRATEGY.to_owned()),
        };
        match Scenario::read("garbled.yaml", &scenario, &|_| Ok(strategy.clone())) {
            Ok(_) => {}
            Err(errors) => {
                refused += 1;
                assert!(!errors.is_empty());
                let shown: usize = errors.iter().map(|error| error.to_string().len()).sum();
                assert!(shown > 0);
            }
        }
    }
    assert!((2_000..4_000).contains(&refused), "{refused} of 4000 were refused");
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let mut dice = Dice(7);
    for _ in 0..3_000 {
        let length = dice.below(60);
        let text: String = (0..length).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        assert!(
            Scenario::read("noise.yaml", &text, &|_| Err("no".to_owned())).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn deep_and_long_texts_end_quickly() {
    let deep = format!("name: {}", "[".repeat(100_000));
    let braces = format!("name: {}", "{a: ".repeat(100_000));
    let links = (1..3_000).map(|n| format!("w{n}: &a{n} [*a{}]", n - 1));
    let chain =
        std::iter::once("w: &a0 [x]".to_owned()).chain(links).collect::<Vec<_>>().join("\n");
    let long = format!("name: \"{}\"", "x".repeat(5_000_000));
    for text in [deep, braces, chain, long] {
        let errors = Scenario::read("t.yaml", &text, &|_| Err("no".to_owned())).map(|_| ());
        let shown: usize = errors.unwrap_err().iter().map(|error| error.to_string().len()).sum();
        assert!(shown < 100_000, "{shown}");
    }
}
