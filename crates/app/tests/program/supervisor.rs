//! The server under a supervisor such as systemd: a socket and credentials that are handed over, and what the
//! supervisor hears.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::place::{Place, ended};
use crate::server::Server;

/// A command that gets these descriptors as 3 and following, for the process with this id.
fn with_descriptors(place: &Place, descriptors: &[&dyn AsFd], process: &str) -> Command {
    let mut script = String::new();
    for (number, descriptor) in (3..).zip(descriptors) {
        let descriptor = descriptor.as_fd();
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty()).unwrap();
        script.push_str(&format!("exec {number}<&{}\n", descriptor.as_raw_fd()));
    }
    script.push_str(&format!(
        "LISTEN_PID={process} LISTEN_FDS={} exec {} serve",
        descriptors.len(),
        env!("CARGO_BIN_EXE_countersign")
    ));
    let mut command = Command::new("/bin/bash");
    command.args(["-c", &script]).current_dir(place.path("")).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_socket_that_was_handed_over_outlives_the_server_and_what_waits_there_is_answered() {
    let place = Place::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let start = || {
        let mut command = with_descriptors(&place, &[&socket], "$$");
        command.env("COUNTERSIGN_BIND", "127.0.0.1:1");
        Server::spawn(command)
    };
    let mut first = start();
    assert_eq!((first.address, first.readiness()), (address, Some(200)));
    first.signal("TERM");
    assert_eq!(first.end().0, Some(0));
    let mut waiting = TcpStream::connect(address).unwrap();
    waiting.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut second = start();
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    second.signal("TERM");
    assert_eq!(second.end().0, Some(0));
}

#[test]
fn a_socket_for_another_process_is_left_alone_and_what_is_no_socket_is_refused() {
    let place = Place::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = with_descriptors(&place, &[&socket], "1");
    command.env("COUNTERSIGN_BIND", "127.0.0.1:0");
    let mut server = Server::spawn(command);
    assert_ne!(server.address, socket.local_addr().unwrap());
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));

    let place = Place::new();
    let file = fs::File::open("/dev/null").unwrap();
    let of_mail = UnixDatagram::unbound().unwrap();
    for (descriptors, because) in [
        (&[&socket as &dyn AsFd, &socket][..], "there are 2 sockets, and the server listens on one"),
        (&[&file], "fd 3 is not a socket"),
        (&[&of_mail], "fd 3 is not a valid tcp socket"),
    ] {
        let refused = ended(with_descriptors(&place, descriptors, "$$"), "");
        let line = "countersign: failed to take the socket that was handed over (LISTEN_FDS): ";
        assert_eq!((refused.code, refused.err), (1, format!("{line}{because}\n")));
    }
    assert!(!place.path("data").exists(), "nothing was made");
}

#[test]
fn the_supervisor_hears_that_the_server_is_ready_lives_and_stops() {
    let place = Place::new();
    let path = place.path("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let hear = || {
        let mut buffer = [0; 64];
        let length = supervisor.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let mut server =
        Server::start(&place, &[("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "600000")]);
    assert_eq!(hear(), "READY=1");
    assert_eq!(server.readiness(), Some(200));
    assert_eq!([hear(), hear()], ["WATCHDOG=1", "WATCHDOG=1"]);
    server.signal("TERM");
    while hear() != "STOPPING=1" {}
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn credentials_are_settings_after_the_environment_and_before_the_settings_file() {
    let place = Place::new();
    let folder = place.path("credentials");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o440)).unwrap();
    };
    write("secret", "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n");
    write("database_url", "sqlite://of-the-credential.db");
    // Not what a file may hold, and no setting at all.
    write("public_url", "https://evil.example.com");
    write("host_key", "of something else");
    fs::write(place.path("countersign.toml"), "database_url = \"sqlite://of-the-file.db\"\n").unwrap();
    let folder = folder.to_str().unwrap();
    let checked = |variables: &[(&str, &str)]| {
        let checked = place.run_with(&["check-config"], variables);
        assert_eq!(checked.code, 0, "{}", checked.err);
        checked.out
    };
    let line = |out: &str, name: &str| out.lines().find(|line| line.starts_with(name)).unwrap().to_owned();

    let out = checked(&[("CREDENTIALS_DIRECTORY", folder)]);
    assert!(line(&out, "secret ").contains("secret_file, a credential"), "{out}");
    assert!(line(&out, "database_url ").contains("of-the-credential.db"), "{out}");
    assert!(line(&out, "public_url ").contains("http://localhost:8080"), "{out}");
    let out = checked(&[
        ("CREDENTIALS_DIRECTORY", folder),
        ("COUNTERSIGN_DATABASE_URL", "sqlite://of-the-environment.db"),
    ]);
    assert!(line(&out, "database_url ").contains("of-the-environment.db"), "{out}");
    for elsewhere in ["credentials", "", "/nonexistent"] {
        let out = checked(&[("CREDENTIALS_DIRECTORY", elsewhere)]);
        assert!(line(&out, "database_url ").contains("of-the-file.db"), "{elsewhere}: {out}");
    }
    write("secret", "hardly-secret");
    let refused = place.run_with(&["check-config"], &[("CREDENTIALS_DIRECTORY", folder)]);
    assert!(refused.code == 2 && refused.err.contains("a credential"), "{}", refused.err);
    assert!(!refused.err.contains("hardly-secret"), "{}", refused.err);
}
