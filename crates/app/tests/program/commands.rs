//! The binary as an operator uses it: its commands, their output and their exit codes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::place::{Ended, Place};
use serde_json::Value;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_version_and_the_help_are_no_failures() {
    let place = Place::new();
    let version = place.run(&["--version"]);
    assert_eq!(
        (version.code, version.out.as_str()),
        (0, concat!("countersign ", env!("CARGO_PKG_VERSION"), "\n"))
    );
    let help = place.run(&["--help"]);
    assert!(
        help.code == 0 && help.out.contains("check-config") && !help.out.contains("--access-token-ttl"),
        "{}",
        help.out
    );
    for command in ["serve", "check-config"] {
        let help = place.run(&[command, "--help"]).out;
        assert!(help.contains("--access-token-ttl") && !help.contains("--secret "), "{help}");
    }
    assert!(!place.run(&["serve", "-h"]).out.contains("--access-token-ttl"));
}

#[test]
fn an_unknown_command_or_flag_is_bad_usage() {
    let place = Place::new();
    assert_eq!(place.run(&["sevre"]).code, 2);
    let flag = place.run(&["serve", "--secret=x"]);
    assert!(flag.code == 2 && flag.err.contains("--secret-file"), "{}", flag.err);
    let unused = place.run(&["client", "list", "--bind", "127.0.0.1:9"]);
    assert!(
        unused.code == 2 && unused.err.contains("'--bind' is a setting that this command does not use"),
        "{}",
        unused.err
    );
}

#[test]
fn check_config_shows_every_value_with_its_place_and_no_secret() {
    let place = Place::new();
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned();
    fs::write(place.path("countersign.toml"), "code_ttl = 45\n").unwrap();
    let Ended { code, out, err } = place.run_with(
        &["check-config", "--bind", "127.0.0.1:9"],
        &[("COUNTERSIGN_SECRET", &secret), ("COUNTERSIGN_DATABASE_URL", "postgres://ann:hunter2@db/auth")],
    );
    assert_eq!((code, err.as_str()), (0, ""));
    let line = |name: &str| {
        let line = out.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("bind"), "127.0.0.1:9 --bind");
    assert_eq!(line("code_ttl"), "45 code_ttl in countersign.toml");
    assert_eq!(line("secret"), "(secret) COUNTERSIGN_SECRET");
    assert_eq!(line("database_url"), "postgres://ann:…@db/auth COUNTERSIGN_DATABASE_URL");
    assert_eq!(line("session_ttl"), "30m default");
    assert_eq!(line("registration"), "open default while the public URL is loopback");
    assert!(out.lines().last().unwrap().starts_with("ok"), "{out}");
    assert!(!out.contains(&secret) && !out.contains("hunter2"), "{out}");
}

#[test]
fn check_config_and_serve_tell_all_mistakes_and_start_nothing() {
    let place = Place::new();
    let settings = [("COUNTERSIGN_CODE_TTL", "never"), ("COUNTERSIGN_BINDD", "x")];
    for command in ["check-config", "serve"] {
        let ended = place.run_with(&[command], &settings);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""));
        assert_eq!(
            ended.err,
            "countersign: COUNTERSIGN_BINDD: there is no such setting; did you mean COUNTERSIGN_BIND?\n\
             countersign: COUNTERSIGN_CODE_TTL: \"never\": not a number of seconds, nor a number with s, m, h, d or w; \
             code_ttl takes a time such as 60s, 1s to 10m\n"
        );
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
}

#[test]
fn b_073_a_secret_that_others_may_read_stops_the_start() {
    let place = Place::new();
    fs::create_dir(place.path("data")).unwrap();
    let secret = place.path("data/countersign.db.secret");
    fs::write(&secret, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    let checked = place.run(&["check-config"]);
    assert!(checked.code == 2 && checked.err.contains("has mode 644"), "{}", checked.err);
    let served = place.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert!(served.code == 1 && served.err.contains("has mode 644"), "{}", served.err);
}

#[test]
fn migrating_twice_does_nothing_the_second_time() {
    let place = Place::new();
    let first = place.run(&["migrate"]);
    assert!(first.code == 0 && first.out.starts_with("ran "), "{first:?}");
    let second = place.run(&["migrate"]);
    assert_eq!((second.code, second.out.as_str()), (0, "nothing to do: the schema is up to date\n"));
    assert_eq!(mode(&place.path("data/countersign.db")), 0o600);
}

#[test]
fn a_client_is_created_listed_shown_given_a_new_secret_and_deleted() {
    let place = Place::with_database();
    let created = place.json(&[
        "client",
        "create",
        "--name",
        "Photo Album",
        "--redirect-uri",
        "https://photos.example/cb",
        "--redirect-uri",
        "http://127.0.0.1/cb",
        "--scope",
        "openid",
        "--scope",
        "profile email",
        "--auth-method",
        "client_secret_basic",
        "--output",
        "json",
    ]);
    let id = created["client_id"].as_str().unwrap();
    let secret = created["client_secret"].as_str().unwrap();
    assert!(secret.len() >= 43 && created["registration_access_token"].as_str().unwrap().len() >= 43);

    let shown = place.json(&["client", "show", id, "--output", "json"]);
    assert_eq!(shown["client_name"], "Photo Album");
    assert_eq!(shown["scope"], "openid profile email");
    assert_eq!(shown["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(shown["registered_by"], "operator");
    assert_eq!(shown["redirect_uris"].as_array().map(Vec::len), Some(2));
    let made = serde_json::json!({"created_at": shown["created_at"]});
    assert_eq!(shown["secrets"], Value::Array(vec![made]));
    let mut listed = place.json(&["client", "list", "--output", "json"]);
    for name in ["secrets", "access", "release"] {
        listed[0][name] = shown[name].clone();
    }
    assert_eq!(listed, Value::Array(vec![shown.clone()]), "the list leaves out secrets and access");
    assert!(!shown.to_string().contains(secret) && shown.get("registration_access_token").is_none());

    let rotated = place.json(&["client", "rotate-secret", id, "--output", "json"]);
    assert!(rotated["client_secret"].as_str().is_some_and(|new| new != secret));

    let kept = place.run_with_input(&["client", "delete", id], "no\n");
    assert!(kept.code == 1 && kept.err.contains("nothing was deleted"), "{kept:?}");
    let deleted = place.run_with_input(&["client", "delete", id], "yes\n");
    assert_eq!((deleted.code, deleted.out), (0, format!("deleted {id}\n")));
    let gone = place.run(&["client", "show", id]);
    assert_eq!((gone.code, gone.err), (1, format!("countersign: no client has the id {id}\n")));
    assert!(!place.path("data/countersign.db.secret").exists(), "the operator's commands need no secret");
}

#[test]
fn an_old_secret_is_kept_for_ninety_days_at_most_and_people_are_told_until_when() {
    let place = Place::with_database();
    let create = ["client", "create", "--name", "Kiosk", "--redirect-uri", "http://127.0.0.1/cb"];
    let id = place.json(&[&create[..], &["--output", "json"]].concat())["client_id"].clone();
    let id = id.as_str().unwrap();
    let rotate = |keep_old: &[&str]| place.run(&[&["client", "rotate-secret", id], keep_old].concat());
    for bad in ["7776001", "91d", "-1", "1.5", "a day", ""] {
        assert_eq!(rotate(&["--keep-old", bad]).code, 2, "{bad}");
    }
    let at_once = rotate(&["--keep-old", "0"]).out;
    assert!(
        at_once.ends_with("The secret is shown only once: save it now. The old one no longer works.\n"),
        "{at_once}"
    );
    let usual = rotate(&[]).out;
    assert!(usual.contains("The old one works until "), "{usual}");
    assert!(rotate(&["--keep-old", "0"]).out.contains("The old one no longer works."));
    let kept = rotate(&["--keep-old", "90d"]).out;
    let (_, until) = kept.split_once("The old one works until ").unwrap();
    let until = until.trim_end().trim_end_matches('.');
    let kept = rotate(&["--keep-old", "60"]).out;
    let cut_short = format!("The one before that, kept until {until}, no longer works.\n");
    assert!(kept.ends_with(&cut_short), "{kept}");
    let shown = place.run(&["client", "show", id]).out;
    let old = shown.lines().find(|line| line.starts_with("old_secret ")).unwrap();
    assert!(
        old.contains("  made ") && old.contains(", works until ") && old.ends_with(", never used"),
        "{shown}"
    );
    let json = place.json(&["client", "show", id, "--output", "json"]);
    assert_eq!(json["secrets"].as_array().map(Vec::len), Some(2), "{json}");
    let ended = rotate(&["--keep-old", "0"]).out;
    assert!(ended.contains("The old one no longer works.\nThe one before that, kept until "), "{ended}");
    let shown = place.run(&["client", "show", id]).out;
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["old_secret", "-"])), "{shown}");
}

#[test]
fn tables_are_for_people() {
    let place = Place::with_database();
    assert_eq!(place.run(&["client", "list"]).out, "no clients\n");
    let create = ["client", "create", "--name", "Kiosk", "--redirect-uri", "http://127.0.0.1/cb", "--public"];
    let created = place.run(&create).out;
    assert!(
        created.contains("\ntoken_endpoint_auth_method             none\n")
            && !created.contains("\nclient_secret"),
        "{created}"
    );
    let id = created.lines().find_map(|line| line.strip_prefix("client_id")).unwrap().trim();
    let listed = place.run(&["client", "list"]).out;
    assert!(listed.starts_with("CLIENT ID ") && listed.contains("Kiosk  none    operator"), "{listed}");
    let rotated = place.run(&["client", "rotate-secret", id]);
    assert!(
        rotated.code == 1 && rotated.err.contains("the client has no secret: it is public"),
        "{rotated:?}"
    );
    assert_eq!(place.run(&["client", "delete", id, "--yes"]).code, 0);
}

#[test]
fn a_client_that_breaks_a_rule_is_bad_usage() {
    let place = Place::with_database();
    let ended = place.run(&["client", "create", "--name", "x", "--redirect-uri", "http://photos.example/cb"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.starts_with("countersign: redirect_uris[0]: must be https, "), "{}", ended.err);
    let unknown = place.run(&["client", "show", "nobody"]);
    assert_eq!(unknown.code, 1);
    assert!(
        unknown.err.starts_with("countersign: no client has the id or the name \"nobody\""),
        "{}",
        unknown.err
    );
}

#[test]
fn a_known_application_is_registered_as_it_was_tested_and_its_settings_are_printed() {
    let place = Place::with_database();
    let create =
        ["client", "create", "--name", "Matrix", "--for", "synapse", "--url", "https://matrix.example/"];
    let table = place.run(&create);
    assert!(
        table.code == 0 && table.out.contains("\nSettings of Synapse (Matrix), openid.yaml:\n\n"),
        "{table:?}"
    );
    let json = place.json(&[&create[..], &["--output", "json"]].concat());
    assert_eq!(json["redirect_uris"][0], "https://matrix.example/_synapse/client/oidc/callback");
    assert_eq!(json["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(json["scope"], "openid profile email offline_access");
    let text = json["configuration"]["text"].as_str().unwrap();
    for name in ["client_id", "client_secret"] {
        assert!(text.contains(&format!("{name}: {}", json[name])), "{name} in {text}");
    }
}

#[test]
fn an_application_that_is_not_known_or_nowhere_is_bad_usage() {
    let place = Place::with_database();
    let create = |arguments: &[&str]| {
        let ended = place.run(&[&["client", "create", "--name", "x"], arguments].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
        ended.err
    };
    let unknown = create(&["--for", "synaps", "--url", "https://matrix.example"]);
    assert!(unknown.contains("authjs, ") && unknown.contains("similar value exists: 'synapse'"), "{unknown}");
    assert!(create(&["--for", "synapse"]).contains("--url <URL>"));
    let url = create(&["--for", "synapse", "--url", "http://matrix.example"]);
    assert_eq!(
        url,
        "countersign: --url \"http://matrix.example\": http is for loopback hosts only: use https\n"
    );
    let both = create(&["--for", "synapse", "--url", "https://matrix.example", "--public"]);
    assert!(both.contains("cannot be used with"), "{both}");
    assert_eq!(place.run(&["client", "list"]).out, "no clients\n");
    let help = place.run(&["client", "create", "--help"]).out;
    assert!(help.contains("--for synapse --url https://matrix.example"), "{help}");
}

#[test]
fn openapi_prints_json() {
    let description = Place::new().json(&["openapi", "--public-url", "https://auth.example.com"]);
    assert!(description["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    assert_eq!(description["servers"][0]["url"], "https://auth.example.com");
}

#[test]
fn a_demo_wallet_is_made_once_and_signs_the_text_byte_for_byte() {
    let place = Place::new();
    fs::write(place.path("key"), "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318").unwrap();
    fs::set_permissions(place.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
    let address = place.run(&["demo-wallet", "address", "--key-file", "key"]);
    assert_eq!(address.out, "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23\n");
    assert!(address.err.contains("for trying out"), "{}", address.err);
    // The example from the eth-account documentation.
    let signature = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c\
                     747ef045e5d18a5f5d4300f8e1a0291c\n";
    let signed = place.run_with_input(&["demo-wallet", "sign", "--key-file", "key"], "Some data");
    assert_eq!(signed.out, signature);
    fs::write(place.path("text"), "Some data").unwrap();
    assert_eq!(
        place.run(&["demo-wallet", "sign", "--key-file", "key", "--text-file", "text"]).out,
        signature
    );
    let other = place.run_with_input(&["demo-wallet", "sign", "--key-file", "key"], "Some data\n");
    assert_ne!(other.out, signature, "a line feed is part of the text");

    let first = place.run(&["demo-wallet", "address", "--key-file", "new.key"]);
    assert_eq!(first.out, place.run(&["demo-wallet", "address", "--key-file", "new.key"]).out);
    assert_eq!(mode(&place.path("new.key")), 0o600);
}

#[test]
fn backups_without_a_file_go_into_their_folder_and_the_older_ones_are_removed() {
    let place = Place::with_database();
    let nowhere = place.run(&["backup"]);
    let said = "countersign: name the file to write, or set backup_directory\n";
    assert_eq!((nowhere.code, &*nowhere.err), (2, said));
    fs::create_dir(place.path("kept")).unwrap();
    let doctor = || place.run(&["doctor", "--backup-directory", "kept"]).out;
    assert!(doctor().contains("\nwarn  backups     there is no backup in kept\n"), "{}", doctor());
    for day in 1..=3 {
        fs::write(place.path(&format!("kept/countersign-2026-01-0{day}T030000Z.backup")), "").unwrap();
    }
    assert!(doctor().contains("\nwarn  backups     the newest one in kept is "), "{}", doctor());
    let saved = place.run(&["backup", "--backup-directory", "kept", "--keep", "2"]);
    assert!(saved.code == 0 && saved.out.ends_with(" bytes; removed 2 older backups\n"), "{saved:?}");
    let mut names: Vec<_> =
        fs::read_dir(place.path("kept")).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!((names.len(), &*names[0]), (2, "countersign-2026-01-03T030000Z.backup".as_ref()));
    assert!(doctor().contains("\nok    backups     the newest one is kept/countersign-"), "{}", doctor());
    assert_eq!(place.run(&["backup", "one.backup", "--keep", "2"]).code, 2, "--keep is about the folder");
}
