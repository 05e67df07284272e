//! Signals that ask a command to stop: what it began is undone. A second one ends it at once.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::{fs, io, thread};

use countersign_ports::ArchiveError;
use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::output::terminal::note;

/// The signals, with their numbers and names: Ctrl+C, a supervisor, and a terminal that was closed.
const SIGNALS: [(u8, &str); 3] = [(1, "SIGHUP"), (2, "SIGINT"), (15, "SIGTERM")];

/// Knows whether a signal came.
#[derive(Clone)]
pub(super) struct Interruption {
    /// The number of the first signal; 0 if none came.
    came: Arc<AtomicU8>,
}

impl Interruption {
    /// From now on, the first signal does not end the process by itself. A signal that was ignored, as by `nohup`, stays so.
    pub(super) fn listen() -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::because("listen for signals", &error);
        let came = Arc::new(AtomicU8::new(0));
        let (listening, is_listening) = mpsc::channel();
        let noted = Arc::clone(&came);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || wait(&noted, &listening))
            .map_err(failed)?;
        let started = is_listening.recv();
        started.unwrap_or_else(|_| Err(io::ErrorKind::Other.into())).map_err(failed)?;
        Ok(Self { came })
    }

    /// Fails once a signal came.
    pub(super) fn check(&self) -> Result<(), ArchiveError> {
        let came = self.came.load(Ordering::Relaxed);
        match SIGNALS.iter().find(|(number, _)| *number == came) {
            None => Ok(()),
            Some((_, name)) => {
                Err(ArchiveError::Refused(format!("interrupted by {name}; everything is as it was")))
            }
        }
    }
}

fn wait(came: &AtomicU8, listening: &mpsc::Sender<io::Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = listening.send(Err(error));
            return;
        }
    };
    runtime.block_on(async {
        let ignored = ignored();
        let mut streams = Vec::new();
        for (number, _) in SIGNALS.into_iter().filter(|(number, _)| ignored & (1 << (number - 1)) == 0) {
            match signal(SignalKind::from_raw(i32::from(number))) {
                Ok(stream) => streams.push((number, stream)),
                Err(error) => {
                    let _ = listening.send(Err(error));
                    return;
                }
            }
        }
        let _ = listening.send(Ok(()));
        loop {
            let number = std::future::poll_fn(|context| {
                for (number, stream) in &mut streams {
                    if stream.poll_recv(context).is_ready() {
                        return std::task::Poll::Ready(*number);
                    }
                }
                std::task::Poll::Pending
            })
            .await;
            if came.swap(number, Ordering::Relaxed) != 0 {
                // What was begun is not committed, so nothing is half done; the mark says it.
                let _ = kill_process(getpid(), Signal::KILL);
            }
            // If it cannot be written, the work is undone all the same.
            let _ = note("stopping: what was begun is undone; a second signal ends it at once");
        }
    });
}

/// The signals that this process ignores, as the bits of a number: bit 0 is signal 1. Where the system does not say it, none.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(line.trim(), 16).unwrap_or(0)
}
