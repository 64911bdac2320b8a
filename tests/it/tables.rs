//! The tables of legal moves, as the documentation prints them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fleetsim::scheduler::NodeKind;

const PAGE: &str = "docs/scheduler-states.md";
/// Set to 1, it makes the test write the page instead of comparing it.
const BLESS: &str = "FLEETSIM_BLESS";

const HEAD: &str = "\
# States of an update run

The scheduler moves every run, stage, group, member, gate and wait through these states, and no
other move is possible: each one is looked up in the table that this page is printed from, and a
move that is not in it stops the program. Rows are where a node is, columns where it may go.
States that a kind never reaches are left out.

A restart opens Stopped and Failed stages and groups again. A restart with `retryFailed` puts
failed members back to NotStarted.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for kind in NodeKind::ALL {
        let word = kind.word();
        let (first, rest) = word.split_at(1);
        write!(page, "\n## {}{rest}\n\n{}\n", first.to_uppercase(), kind.table())
            .expect("strings take all");
    }
    page
}

#[test]
fn t6_the_documented_tables_are_the_schedulers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        fs::write(&path, page()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "{PAGE} differs from the scheduler's tables. If the tables are right, write it anew:\n\n    \
         {BLESS}=1 cargo test --test it tables::\n\nIt should be:\n\n{}",
        page()
    );
}
