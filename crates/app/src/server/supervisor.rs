//! What a supervisor learns by the protocol of sd_notify(3): that the server is ready, that it stops, and
//! that it is alive. Without a supervisor, nothing is sent.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

/// A supervisor that does not read is not waited for longer than this.
const PATIENCE: Duration = Duration::from_millis(500);

/// A supervisor that wants reports more often than this does not get them.
const AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// The supervisor of this process.
#[derive(Clone, Debug)]
pub(crate) struct Supervisor {
    /// `None` if there is no supervisor, or if it does not want to hear.
    socket: Option<Arc<UnixDatagram>>,
    /// How often it wants to hear that the server is alive; `None` for never.
    every: Option<Duration>,
}

impl Supervisor {
    /// The supervisor that started this process.
    pub(crate) fn of_process() -> Self {
        Self::named_by(|name| env::var_os(name), std::process::id())
    }

    /// The supervisor that these variables name.
    fn named_by(variable: impl Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let socket = variable("NOTIFY_SOCKET").and_then(|address| {
            let connected = connect(&address);
            if let Err(error) = &connected {
                tracing::warn!(%error, "the supervisor cannot be notified (NOTIFY_SOCKET)");
            }
            connected.ok().map(Arc::new)
        });
        let number = |name| variable(name).and_then(|text| text.to_str()?.parse::<u64>().ok());
        let is_for_us = variable("WATCHDOG_PID").is_none() || number("WATCHDOG_PID") == Some(process.into());
        let limit = number("WATCHDOG_USEC").filter(|limit| *limit > 0 && is_for_us);
        // Two may be late or lost before the limit is over.
        Self { socket, every: limit.map(|limit| Duration::from_micros(limit / 3).max(AT_MOST_EVERY)) }
    }

    /// Requests are answered from now on.
    pub(crate) fn ready(&self) {
        self.tell("READY=1");
    }

    /// The server stops in order.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// Says again and again that the server is alive, if the supervisor wants to hear it. It says so of the process
    /// and of the thread that does the upkeep. Whether requests are answered is asked from outside
    /// (`countersign healthcheck`): a flood of connections must not get the server killed.
    pub(crate) async fn keep_alive(self) {
        let Some(every) = self.every else { return };
        loop {
            self.tell("WATCHDOG=1");
            sleep(every).await;
        }
    }

    fn tell(&self, what: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(what.as_bytes()) {
            tracing::warn!(%error, what, "the supervisor could not be notified");
        }
    }
}

fn connect(address: &OsStr) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    match address.as_encoded_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => {
            use std::os::linux::net::SocketAddrExt;
            use std::os::unix::net::SocketAddr;
            socket.connect_addr(&SocketAddr::from_abstract_name(name)?)?;
        }
        _ => socket.connect(address)?,
    }
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(socket: &UnixDatagram) -> String {
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    fn with(variables: &[(&str, &str)]) -> Supervisor {
        let found =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Supervisor::named_by(found, 7)
    }

    #[test]
    fn a_supervisor_hears_that_the_server_is_ready_and_that_it_stops() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let supervisor = with(&[("NOTIFY_SOCKET", path.to_str().unwrap())]);
        supervisor.ready();
        assert_eq!(told(&socket), "READY=1");
        supervisor.stopping();
        assert_eq!(told(&socket), "STOPPING=1");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_socket_may_have_a_name_that_is_no_path() {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("countersign-test-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        with(&[("NOTIFY_SOCKET", &format!("@{name}"))]).ready();
        assert_eq!(told(&socket), "READY=1");
    }

    #[test]
    fn the_watchdog_hears_three_times_as_often_as_it_must_if_it_watches_this_process() {
        let every = |variables: &[(&str, &str)]| with(variables).every;
        let third = Some(Duration::from_secs(20));
        assert_eq!(every(&[("WATCHDOG_USEC", "60000000")]), third);
        assert_eq!(every(&[("WATCHDOG_USEC", "60000000"), ("WATCHDOG_PID", "7")]), third);
        for other in [
            &[("WATCHDOG_USEC", "60000000"), ("WATCHDOG_PID", "8")][..],
            &[("WATCHDOG_USEC", "60000000"), ("WATCHDOG_PID", "me")],
            &[("WATCHDOG_USEC", "0")],
            &[("WATCHDOG_USEC", "-1")],
            &[],
        ] {
            assert_eq!(every(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_supervisor_that_is_gone_or_full_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        with(&[("NOTIFY_SOCKET", folder.path().join("nobody").to_str().unwrap())]).ready();
        with(&[("NOTIFY_SOCKET", "")]).ready();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let supervisor = with(&[("NOTIFY_SOCKET", path.to_str().unwrap())]);
        // More than the queue of a socket holds: the last ones are given up, not waited for.
        let begun = std::time::Instant::now();
        let held =
            (0..).take_while(|_| supervisor.socket.as_ref().unwrap().send(b"WATCHDOG=1").is_ok()).count();
        assert!(held > 0 && begun.elapsed() < Duration::from_secs(5), "{held}");
        drop(socket);
        supervisor.stopping();
    }
}
