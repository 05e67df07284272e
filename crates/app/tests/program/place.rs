//! Runs the binary in a folder of its own, with only the environment that a test sets.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A working directory.
pub(crate) struct Place(tempfile::TempDir);

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with a database that no server has used yet.
    pub(crate) fn with_database() -> Self {
        let place = Self::new();
        assert_eq!(place.run(&["migrate"]).code, 0);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(self.0.path()).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments), "")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        ended(command, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ended {
        ended(self.command(arguments), input)
    }

    /// Runs a command that must succeed and print JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(arguments);
        assert_eq!(ended.code, 0, "{}", ended.err);
        serde_json::from_str(&ended.out).unwrap()
    }
}

/// Runs a command with this input until it ends.
pub(crate) fn ended(mut command: Command, input: &str) -> Ended {
    let mut child = command.spawn().unwrap();
    // A command that ends without reading its input closes the pipe first.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
