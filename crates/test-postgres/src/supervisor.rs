//! The shell that owns the cluster, and the way to talk to it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::mem;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::binaries::Binaries;

const SCRIPT: &str = include_str!("supervisor.sh");

/// What kind of cluster it is.
#[derive(Debug)]
pub(crate) enum Settings {
    /// An empty one that keeps what was committed, and ends with us.
    Durable,
    /// The same, with these variables in the environment of its processes.
    DurableWith(Vec<(String, String)>),
    /// A copy of the cluster at this port, which follows it.
    CopyOf(u16),
    /// An empty one that is fast, and ends when no process has a lock on this file any more.
    Shared {
        /// The file, opened once more: locks belong to the opening, not to the process.
        users: File,
    },
}

/// A shell that runs `supervisor.sh`.
#[derive(Debug)]
pub(crate) struct Supervisor {
    shell: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
}

impl Supervisor {
    /// Starts the shell, which creates the cluster's files.
    pub(crate) fn start(binaries: &Binaries, settings: &Settings) -> Self {
        let mut command = unprivileged_shell();
        command.args(["-c", SCRIPT, "supervisor"]).arg(binaries.folder());
        match settings {
            Settings::Durable => command.arg("durable"),
            Settings::DurableWith(environment) => command.arg("durable").envs(environment.iter().cloned()),
            Settings::CopyOf(port) => command.args(["copy", &port.to_string()]),
            Settings::Shared { users } => {
                command.arg("shared").stderr(users.try_clone().expect("there are descriptors left"))
            }
        };
        Self::run(command)
    }

    /// Starts a shell with a script of its own, for several nodes. The script reads the archive as its standard error.
    pub(crate) fn of_nodes(binaries: &Binaries, script: &str, arguments: &[String], archive: File) -> Self {
        let mut command = unprivileged_shell();
        command.args(["-c", script, "supervisor"]).arg(binaries.folder()).args(arguments).stderr(archive);
        Self::run(command)
    }

    fn run(mut command: Command) -> Self {
        // Its own process group, so that Ctrl-C at the terminal reaches only us. The shell cleans up when it
        // sees that we are gone.
        command.process_group(0);
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().expect("sh runs, as the user `postgres` if we are root");
        let commands = shell.stdin.take();
        let mut answers = BufReader::new(shell.stdout.take().expect("stdout is a pipe"));
        let folder = read_answer(&mut answers);
        assert!(folder.starts_with('/'), "PostgreSQL's files could not be made: {folder}");
        Self { shell, commands, answers, folder: PathBuf::from(folder) }
    }

    /// Sends a command and waits until it is done.
    pub(crate) fn tell(&mut self, command: &str) -> Result<(), String> {
        let pipe = self.commands.as_mut().expect("the pipe is open until we are dropped");
        writeln!(pipe, "{command}").expect("the supervising shell listens");
        match read_answer(&mut self.answers).as_str() {
            "ok" => Ok(()),
            problem => Err(problem.to_owned()),
        }
    }

    /// Leaves a shared cluster to those who use it.
    pub(crate) fn leave(mut self) {
        self.commands = None;
        // Otherwise we would wait here until nobody uses it.
        mem::forget(self);
    }

    /// The server's log, for a message that explains a failure.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("server.log")).unwrap_or_else(|error| error.to_string())
    }

    /// The cluster's folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.commands = None;
        // The test is over, so a failed clean-up in the shell no longer matters.
        let _ = self.shell.wait();
    }
}

fn read_answer(answers: &mut impl BufRead) -> String {
    let mut line = String::new();
    answers.read_line(&mut line).expect("the supervising shell answers");
    line.trim_end().to_owned()
}

/// PostgreSQL refuses to run as root. For root, the shell runs as the user `postgres`, which PostgreSQL's
/// package creates.
fn unprivileged_shell() -> Command {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !is_root {
        return Command::new("sh");
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--", "sh"]);
    command
}
