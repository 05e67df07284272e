//! Which database a command works on: it says so, and it creates none.

use std::fs;

use crate::place::Place;

/// Commands that open a database.
const COMMANDS: [&[&str]; 5] = [
    &["client", "list"],
    &["client", "create", "--name", "Photo Album", "--redirect-uri", "https://photos.example/cb"],
    &["client", "delete", "01a1fd8c-6900-7000-8000-599900000001", "--yes"],
    &["key", "list"],
    &["key", "rotate"],
];

/// A place whose folder for temporary files is its own, so that no trial of somebody else is found.
fn variables(place: &Place) -> [(&'static str, String); 1] {
    [("TMPDIR", place.path("").to_str().unwrap().to_owned())]
}

fn run(place: &Place, arguments: &[&str], more: &[(&str, &str)]) -> crate::place::Ended {
    let own = variables(place);
    let all: Vec<_> =
        own.iter().map(|(name, value)| (*name, value.as_str())).chain(more.iter().copied()).collect();
    place.run_with(arguments, &all)
}

#[test]
fn a_command_creates_no_database_and_says_which_one_it_looked_for_and_why() {
    let place = Place::new();
    let path = place.path("data/countersign.db");
    for command in COMMANDS {
        let ended = run(&place, command, &[]);
        assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{ended:?}");
        let line = format!(
            "countersign: there is no database sqlite://{} (the default of database_url). Name the one that the server \
             uses: --database-url, COUNTERSIGN_DATABASE_URL, or --config with the server's settings file. `countersign \
             serve` and `countersign migrate` create one.\n",
            path.display()
        );
        assert_eq!(ended.err, line);
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
}

#[test]
fn the_setting_that_named_a_database_is_told() {
    let place = Place::new();
    let named = |arguments: &[&str], variables: &[(&str, &str)]| {
        let ended = run(&place, arguments, variables);
        assert_eq!(ended.code, 1, "{ended:?}");
        ended.err
    };
    let flag = named(&["client", "list", "--database-url", "sqlite://a.db"], &[]);
    assert!(flag.contains("/a.db (from --database-url)"), "{flag}");
    let before = named(&["--database-url", "sqlite://b.db", "--workers", "3", "key", "list"], &[]);
    assert!(before.contains("/b.db (from --database-url)"), "{before}");
    let variable = named(&["key", "list"], &[("COUNTERSIGN_DATABASE_URL", "sqlite://c.db")]);
    assert!(variable.contains("/c.db (from COUNTERSIGN_DATABASE_URL)"), "{variable}");
    fs::write(place.path("countersign.toml"), "database_url = 'sqlite://d.db'").unwrap();
    let file = named(&["key", "list"], &[]);
    assert!(file.contains("/d.db (from database_url in countersign.toml)"), "{file}");
}

#[test]
fn an_empty_file_and_a_foreign_one_are_told_apart_and_stay_as_they_are() {
    let place = Place::new();
    fs::write(place.path("empty.db"), "").unwrap();
    fs::write(place.path("notes.txt"), "not a database").unwrap();
    let list = |name: &str| {
        let url = format!("sqlite://{name}");
        let ended = run(&place, &["client", "list"], &[("COUNTERSIGN_DATABASE_URL", &url)]);
        assert_eq!((ended.code, ended.out.as_str()), (1, ""));
        ended.err
    };
    let empty = list("empty.db");
    assert!(
        empty.contains("nothing of Countersign is in the database ") && empty.contains("countersign migrate"),
        "{empty}"
    );
    let foreign = list("notes.txt");
    assert!(foreign.contains("notes.txt is not a database of Countersign (from "), "{foreign}");
    assert!(!foreign.contains("countersign migrate"), "nobody migrates their notes: {foreign}");
    assert_eq!(fs::read(place.path("empty.db")).unwrap(), b"");
    assert_eq!(fs::read(place.path("notes.txt")).unwrap(), b"not a database");
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 2);
}
