//! The peers that are written in Python.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Came;

/// `peers.py` and the interpreter that has its packages.
pub struct Script {
    python: PathBuf,
    path: PathBuf,
}

impl Script {
    pub fn new(python: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers.py");
        Self { python: python.into(), path }
    }

    /// What comes of these durations in milliseconds and failures.
    pub fn replicate(
        &self,
        function: &str,
        members: u32,
        drawn: &[(Vec<u64>, Vec<bool>)],
    ) -> Vec<Came> {
        let drawn = serde_json::to_string(drawn).expect("numbers are JSON");
        let said = self.ask(&["replicate", function, &members.to_string()], &drawn);
        serde_json::from_str(&said).expect("the script prints JSON")
    }

    /// Runs a second by processor time, on the script's own draws.
    pub fn rate(&self, function: &str, members: u32, seconds: f64) -> f64 {
        let said = self.ask(&["rate", function, &members.to_string(), &seconds.to_string()], "");
        said.trim().parse().expect("the script prints a number")
    }

    fn ask(&self, arguments: &[&str], input: &str) -> String {
        let mut child = Command::new(&self.python)
            .arg(&self.path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(input.as_bytes()).expect("the script reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the script ends");
        assert!(output.status.success(), "the script failed: {arguments:?}");
        String::from_utf8(output.stdout).expect("the script prints text")
    }
}
