//! How `serve --dev` changes the settings.

use super::*;
use crate::config::throw_away::Trial;

const URL: &str = "sqlite:///tmp/trial/countersign.db";

fn load(start: &Start) -> Result<Config, Vec<Mistake>> {
    let mut sources = start.sources();
    sources.try_out(URL.to_owned());
    Config::load(&sources, &Wiring::standard(), Purpose::TryOut)
}

#[test]
fn a_trial_has_a_database_of_its_own_and_is_open() {
    let config = load(&start()).unwrap();
    assert_eq!(config.database_url.expose(), URL);
    assert!(config.dev && config.playground && config.secret.is_none());
    assert_eq!(config.registration, RegistrationMode::Open);
    let shown = config.shown.iter().find(|shown| shown.name == "database_url").unwrap();
    assert_eq!(shown.origin, "serve --dev");
}

#[test]
fn a_database_a_secret_or_a_public_address_is_a_mistake_in_a_trial() {
    let start = start()
        .file("secret_file = '/run/secret'\n")
        .variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com")
        .flag("--database-url=sqlite://mine.db");
    let lines = start.lines(&load(&start).unwrap_err());
    let own = "serve --dev creates a database and a secret of its own and deletes them at the end; leave it \
               out, or run serve without --dev";
    assert_eq!(lines[0], format!("--database-url: {own}"));
    assert_eq!(lines[1], format!("secret_file in …/countersign.toml: {own}"));
    let about_url = lines.iter().filter(|line| line.starts_with("COUNTERSIGN_PUBLIC_URL: "));
    assert_eq!(
        about_url.filter(|line| line.contains("serve --dev is for this machine")).count(),
        1,
        "{lines:?}"
    );
}

#[test]
fn what_else_the_operator_decided_holds_in_a_trial() {
    let start = start().variable("COUNTERSIGN_PUBLIC_URL", "http://127.0.0.1:9000").flag("--playground=off");
    let config = load(&start).unwrap();
    assert_eq!((config.public_url.as_str(), config.playground), ("http://127.0.0.1:9000", false));
}

#[test]
fn a_command_at_a_trial_has_its_database_and_its_address_whatever_else_is_set() {
    let start = start()
        .file("code_ttl = 45\n")
        .variable("COUNTERSIGN_PUBLIC_URL", "https://auth.example.com")
        .flag("--log=warn");
    let trial = Trial::of_test("/tmp/trial", "http://localhost:8081");
    let mut sources = start.sources();
    sources.reach(&trial);
    let config = Config::load(&sources, &Wiring::standard(), Purpose::Administer).unwrap();
    assert_eq!(config.database_url.expose(), URL);
    assert_eq!(config.public_url.as_str(), "http://localhost:8081");
    assert_eq!((config.log.as_str(), config.lifetimes.code.whole_seconds()), ("warn", 45));
    assert_eq!(config.origin("database_url"), Some("the running serve --dev"));
}

#[test]
fn a_command_at_a_trial_that_names_another_database_or_secret_is_refused() {
    let start = start().variable("COUNTERSIGN_SECRET", SECRET).flag("--database-url=sqlite://mine.db");
    let mut sources = start.sources();
    sources.reach(&Trial::of_test("/tmp/trial", "http://localhost:8081"));
    let mistakes = Config::load(&sources, &Wiring::standard(), Purpose::Administer).unwrap_err();
    let lines = start.lines(&mistakes);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("--database-url: --dev takes the database"), "{lines:?}");
    assert!(lines[1].starts_with("COUNTERSIGN_SECRET: --dev takes"), "{lines:?}");
}
