//! What a command changes is a line of the log, for those who want to see it.

use serde_json::Value;

use crate::place::{Ended, Place};

/// The lines about changes, which follow the line about the database.
fn lines(ended: &Ended) -> Vec<Value> {
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut lines = ended.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = lines.next().unwrap();
    assert_eq!(first["message"], "command works on this database", "{ended:?}");
    assert!(first["database"].is_string() && first["issuer"] == "http://localhost:8080", "{first}");
    lines.collect()
}

#[test]
fn every_change_of_a_client_is_logged_with_its_id_and_who_made_it() {
    let place = Place::with_database();
    let run = |arguments: &[&str]| {
        let variables =
            [("COUNTERSIGN_LOG", "debug"), ("COUNTERSIGN_LOG_FORMAT", "json"), ("SUDO_UID", "1000")];
        place.run_with(&[arguments, &["--output", "json"]].concat(), &variables)
    };
    let created =
        run(&["client", "create", "--name", "Photo Album", "--redirect-uri", "https://photos.example/cb"]);
    let client: Value = serde_json::from_str(&created.out).unwrap();
    let id = client["client_id"].as_str().unwrap();
    let resource = "https://api.example.com";
    let steps: [(&str, Ended); 6] = [
        ("client registered", created),
        ("client got a new secret", run(&["client", "rotate-secret", id])),
        ("client got a new secret", run(&["client", "rotate-secret", id, "--keep-old", "60"])),
        ("resources opened to client", run(&["client", "open-resource", id, resource])),
        ("resources closed to client", run(&["client", "close-resource", id, resource])),
        ("client deleted", run(&["client", "delete", id, "--yes"])),
    ];
    for (message, ended) in steps {
        let lines = lines(&ended);
        assert_eq!(lines.len(), 1, "{message}: {}", ended.err);
        let line = &lines[0];
        assert_eq!((&line["message"], &line["client.id"]), (&message.into(), &id.into()));
        assert_eq!((&line["level"], &line["target"]), (&"INFO".into(), &"countersign::changes".into()));
        assert!(line["operator.uid"].is_u64() && line["operator.sudo_uid"] == 1000, "{line}");
        assert!(
            !ended.err.contains("secret\":") && !ended.err.contains(&client["client_secret"].to_string())
        );
    }
}

#[test]
fn the_line_about_a_new_secret_says_until_when_the_old_one_works() {
    let place = Place::with_database();
    let create = ["client", "create", "--name", "Kiosk", "--redirect-uri", "http://127.0.0.1/cb"];
    let id = place.json(&[&create[..], &["--output", "json"]].concat())["client_id"].clone();
    for (keep_old, kept) in [("60", true), ("0", false)] {
        let rotate = ["client", "rotate-secret", id.as_str().unwrap(), "--keep-old", keep_old];
        let variables = [("COUNTERSIGN_LOG", "debug"), ("COUNTERSIGN_LOG_FORMAT", "json")];
        let ended = place.run_with(&[&rotate[..], &["--output", "json"]].concat(), &variables);
        let answer: Value = serde_json::from_str(&ended.out).unwrap();
        let line = lines(&ended).remove(0);
        assert_eq!(line["old_secret.kept"], kept, "{line}");
        assert_eq!(line.get("old_secret.expires_at"), answer.get("old_secret_expires_at"));
        assert_eq!(line.get("old_secret.expires_at").is_some(), kept);
    }
}

#[test]
fn a_change_prints_its_answer_and_nothing_else() {
    let place = Place::with_database();
    for (arguments, answer) in [
        (&["group", "create", "staff"][..], "created staff\n"),
        (&["group", "delete", "staff", "--force"], "deleted staff, which had 0 users and 0 wallets\n"),
    ] {
        let ended = place.run(arguments);
        assert_eq!((ended.code, &*ended.out, &*ended.err), (0, answer, ""), "{arguments:?}");
    }
    assert_eq!(place.run(&["client", "list"]).err, "");
}
