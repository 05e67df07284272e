//! A running server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command};

use serde_json::Value;

use crate::place::Place;

/// A server that has reported its address.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) log: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
    /// What it logged until it listened.
    pub(crate) first_lines: String,
}

impl Server {
    pub(crate) fn start(place: &Place, variables: &[(&str, &str)]) -> Self {
        let mut command = place.command(&["--bind", "127.0.0.1:0"]);
        command.envs(variables.iter().copied());
        Self::spawn(command)
    }

    /// Starts this command, which serves on a free port, and waits until it listens.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self { child, log, address, first_lines: String::new() };
        loop {
            let mut line = String::new();
            assert_ne!(
                server.log.read_line(&mut line).unwrap(),
                0,
                "the server ended: {}",
                server.first_lines
            );
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["message"] == "listening" {
                server.address = event["address"].as_str().unwrap().parse().unwrap();
                return server;
            }
            server.first_lines.push_str(&line);
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// The status of the readiness probe; `None` if nothing listens any more.
    pub(crate) fn readiness(&self) -> Option<u16> {
        let mut connection = TcpStream::connect(self.address).ok()?;
        let request = "GET /health/ready HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    /// The exit code, and the rest of the log.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.log.read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // In every test that passes, the server has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
