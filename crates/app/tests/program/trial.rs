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

#[test]
fn commands_with_dev_work_on_the_trial_that_is_running() {
    let (place, temporary, mut server) = trial();
    let run = |arguments: &[&str]| {
        place.run_with(arguments, &[("TMPDIR", temporary.to_str().unwrap()), ("COUNTERSIGN_LOG", "debug")])
    };
    let url = format!("http://localhost:{}", server.address.port());
    let created =
        run(&["client", "create", "--dev", "--name", "Kiosk", "--redirect-uri", "http://127.0.0.1/cb"]);
    assert_eq!(created.code, 0, "{created:?}");
    let folder = temporary.join(names(&temporary).concat());
    let line = format!("database=\"sqlite://{}/countersign.db\" issuer=\"{url}\"\n", folder.display());
    assert!(created.err.contains(&line), "{}", created.err);
    assert!(run(&["client", "list", "--dev"]).out.contains("Kiosk"));
    assert_eq!(run(&["key", "rotate", "--dev"]).code, 0, "the secret of the trial is found");
    assert_eq!(run(&["group", "create", "staff", "--dev"]).out, "created staff\n");
    assert!(run(&["access", "set", "Kiosk", "groups:staff", "--dev"]).out.contains("groups:staff"));
    for (noun, none) in [("user", "no users\n"), ("wallet", "no wallets\n")] {
        assert_eq!(run(&[noun, "list", "--dev"]).out, none);
    }
    assert!(!place.path("data").exists());

    let without = run(&["client", "list"]);
    assert!(
        without.code == 1 && without.err.contains(&format!("is running at {url}: add --dev")),
        "{}",
        without.err
    );
    let both = run(&["client", "list", "--dev", "--database-url", "sqlite://mine.db"]);
    assert!(
        both.code == 2 && both.err.starts_with("countersign: --database-url: --dev takes"),
        "{}",
        both.err
    );
    server.signal("TERM");
    assert_eq!(server.end().0, Some(0));
    let over = run(&["client", "list", "--dev"]);
    assert!(
        over.code == 1 && over.err.contains("no `countersign serve --dev` of this user is running"),
        "{}",
        over.err
    );
}

#[test]
fn of_several_trials_a_command_asks_which_one_and_lists_them() {
    let (place, temporary, mut first) = trial();
    let mut command = place.command(&ARGUMENTS);
    command.env("TMPDIR", &temporary);
    let mut second = Server::spawn(command);
    let variables = [("TMPDIR", temporary.to_str().unwrap()), ("COUNTERSIGN_LOG", "debug")];
    let run = |arguments: &[&str]| place.run_with(arguments, &variables);
    let asked = run(&["client", "list", "--dev"]);
    assert_eq!(asked.code, 1);
    for server in [&first, &second] {
        let port = server.address.port();
        let words = asked.err.lines().find(|line| line.contains(&format!("localhost:{port} "))).unwrap();
        let words: Vec<_> = ["client", "list"].into_iter().chain(words.split_whitespace()).collect();
        let listed = run(&words);
        assert!(listed.code == 0 && listed.err.contains(&format!("localhost:{port}")), "{listed:?}");
    }
    for server in [&mut first, &mut second] {
        server.signal("TERM");
        assert_eq!(server.end().0, Some(0));
    }
}

#[test]
fn a_trial_that_was_killed_is_not_taken_for_one_that_runs() {
    let (place, temporary, mut server) = trial();
    server.signal("KILL");
    server.end();
    assert!(!names(&temporary).is_empty(), "its folder is left");
    let variables = [("TMPDIR", temporary.to_str().unwrap())];
    let ended = place.run_with(&["client", "list", "--dev"], &variables);
    assert!(ended.code == 1 && ended.err.contains("is running"), "{}", ended.err);
}
