//! `serve --dev`: everything is created for it and deleted at the end.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::place::Place;
use crate::server::Server;

const ARGUMENTS: [&str; 4] = ["serve", "--dev", "--bind", "127.0.0.1:0"];

/// A place with a temporary folder, and a trial that runs in it.
fn trial() -> (Place, PathBuf, Server) {
    let place = Place::new();
    let temporary = place.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = place.command(&ARGUMENTS);
    command.env("TMPDIR", &temporary);
    let server = Server::spawn(command);
    (place, temporary, server)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_trial_leaves_nothing_behind_however_it_is_asked_to_end() {
    for signals in [&["TERM"][..], &["INT"], &["TERM", "TERM"]] {
        let (place, temporary, mut server) = trial();
        let folder = temporary.join(names(&temporary).concat());
        let made = names(&folder);
        for file in ["countersign.db", "countersign.db.secret"] {
            assert!(made.iter().any(|name| name == file), "{made:?}");
        }
        for signal in signals {
            server.signal(signal);
            while server.readiness() == Some(200) {}
        }
        let (code, log) = server.end();
        assert_eq!(code, Some(i32::from(signals.len() > 1)), "{log}");
        assert_eq!(names(&temporary), Vec::<String>::new(), "{signals:?}");
        assert!(!place.path("data").exists());
    }
}

#[test]
fn a_trial_says_where_to_look() {
    let (_place, temporary, mut server) = trial();
    let folder = names(&temporary).concat();
    // The port that the system chose.
    let url = format!("http://localhost:{}", server.address.port());
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
    let mut told = String::new();
    server.child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    for word in [
        &format!("{url} "),
        &format!("{url}/playground"),
        &format!("{url}/docs"),
        &folder,
        "client list --dev",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

#[test]
fn a_trial_that_cannot_start_leaves_nothing_behind() {
    let place = Place::new();
    let (temporary, templates) = (place.path("tmp"), place.path("templates"));
    fs::create_dir(&temporary).unwrap();
    fs::create_dir(&templates).unwrap();
    fs::write(templates.join("auth.html"), "{% if %}").unwrap();
    let variables = [
        ("TMPDIR", temporary.to_str().unwrap()),
        ("COUNTERSIGN_TEMPLATE_DIRECTORY", templates.to_str().unwrap()),
    ];
    let ended = place.run_with(&ARGUMENTS, &variables);
    assert!(ended.code == 1 && ended.err.contains("auth.html"), "{}", ended.err);
    assert_eq!(names(&temporary), Vec::<String>::new());
}

#[test]
fn a_trial_with_a_database_a_secret_or_a_public_address_is_refused_and_makes_nothing() {
    let place = Place::new();
    let temporary = place.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let given = [
        ("COUNTERSIGN_DATABASE_URL", "sqlite://mine.db"),
        ("COUNTERSIGN_SECRET_FILE", "mine.secret"),
        ("COUNTERSIGN_SECRET", "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"),
        ("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com"),
    ];
    for (variable, value) in given {
        let variables = [("TMPDIR", temporary.to_str().unwrap()), (variable, value)];
        let ended = place.run_with(&ARGUMENTS, &variables);
        let told = ended.err.lines().any(|line| {
            line.starts_with(&format!("countersign: {variable}: ")) && line.contains("serve --dev")
        });
        assert!(ended.code == 2 && told, "{} {}", ended.code, ended.err);
        assert_eq!(names(&temporary), Vec::<String>::new());
    }
}
