//! A bug of ours: what is said when the program panics, and how it ends.

use std::io::Write as _;
use std::sync::Mutex;

use super::Exit;

/// What the program is doing, so that a panic can say how to see it again.
static IN_HAND: Mutex<Option<InHand>> = Mutex::new(None);

/// A scenario whose replications are being simulated.
#[derive(Debug, Clone)]
pub(crate) struct InHand {
    /// The scenario as the user named it.
    pub(crate) scenario: String,
    /// The seed.
    pub(crate) seed: u64,
    /// Its strategies that are simulated.
    pub(crate) strategies: Vec<String>,
    /// The strategy, by its place among those, and the replication; none where each thread knows
    /// its own ([`fleetsim::experiment::in_hand`]).
    pub(crate) replication: Option<(usize, u32)>,
}

/// Makes every panic, on whatever thread, end the program with a message and exit code 70.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let mut in_hand = IN_HAND.try_lock().ok().and_then(|noted| noted.clone());
        if let Some(known) = &mut in_hand {
            known.replication = known.replication.or_else(fleetsim::experiment::in_hand);
        }
        let what = info.payload_as_str().unwrap_or("no message");
        let place = info.location().map_or_else(String::new, |at| format!(" ({at})"));
        let text = message(&format!("{what}{place}"), in_hand.as_ref());
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        std::process::exit(Exit::Bug as i32);
    }));
}

/// Notes what is being done from now on.
pub(crate) fn note(in_hand: InHand) {
    *IN_HAND.lock().expect("nothing panics while it holds the lock") = Some(in_hand);
}

fn message(what: &str, in_hand: Option<&InHand>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("error[bug]: fleetsim {version} has a bug: {what}\n");
    if let Some(InHand { scenario, seed, strategies, replication }) = in_hand {
        let known = replication.and_then(|(index, number)| Some((strategies.get(index)?, number)));
        let again = match known {
            Some((strategy, number)) => {
                format!("run {scenario} --strategy {strategy} --seed {seed} --replication {number}")
            }
            None => format!("run {scenario} --seed {seed}"),
        };
        text = format!("{text}  to see it again: fleetsim {again}\n");
    }
    text.push_str("  please report it, with this message, the scenario and the files it names\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_says_how_to_see_it_again() {
        let in_hand = InHand {
            scenario: "x.yaml".to_owned(),
            seed: 7,
            strategies: vec!["one-by-one".to_owned(), "careful".to_owned()],
            replication: Some((1, 3)),
        };
        let text = message("time ran backwards", Some(&in_hand));
        assert!(text.starts_with("error[bug]: fleetsim "), "{text}");
        let again = "fleetsim run x.yaml --strategy careful --seed 7 --replication 3\n";
        assert!(text.contains(again), "{text}");
        assert!(message("x", None).contains("please report it"));
    }
}
