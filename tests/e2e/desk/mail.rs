//! The other operators hear of a change that waits for one of them.

use countersign_tests::server::project;
use countersign_tests::{Database, Parameters, Request, Wallet};

use super::changes::Things;
use super::{Seat, run_by_two};
use crate::mail::mail_server::MailServer;

/// Puts a confirmed address on an operator's account.
fn confirm(server: &mut MailServer, seat: &mut Seat<'_>, address: &str) {
    let ask = Parameters::of(&[("email", address)]);
    seat.browser.press(Request::form("/account/email", &ask).header("Accept", "text/html")).expect(303);
    let mail = server.next();
    let text = mail["text"].as_str().unwrap().to_owned();
    let (_, token) = text.split_once("token=").unwrap();
    let token = token.split_whitespace().next().unwrap();
    let form = Parameters::of(&[("token", token)]);
    let confirmed =
        seat.browser.press(Request::form("/account/email/confirm", &form).header("Accept", "text/html"));
    assert!((200..400).contains(&confirmed.status), "{confirmed:?}");
}

#[test]
fn the_others_are_told_by_mail_what_waits_for_them_and_whoever_proposed_it_is_not() {
    let mut mail_server = MailServer::start(&project().join("tests/peers"), &[]);
    let port = mail_server.next()["port"].as_u64().unwrap();
    let database = Database::sqlite();
    let (ann, bob, stranger) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
    let server = run_by_two(&database, &[&ann, &bob])
        .with_env("COUNTERSIGN_SMTP_URL", &format!("smtp://127.0.0.1:{port}"))
        .with_env("COUNTERSIGN_MAIL_FROM", "Sign-in <signin@auth.example>")
        .start();
    let things = Things::of(&server);
    let (mut first, mut second) = (Seat::of(&server, &ann), Seat::of(&server, &bob));
    let mut nobody = Seat::of(&server, &stranger);
    confirm(&mut mail_server, &mut first, "ann@mail.example.com");
    confirm(&mut mail_server, &mut second, "bob@mail.example.com");
    confirm(&mut mail_server, &mut nobody, "stranger@mail.example.com");
    let proposal = first.propose(&things.delete_client());
    let mail = mail_server.next();
    assert_eq!(mail["to"], serde_json::json!(["bob@mail.example.com"]));
    let text = mail["text"].as_str().unwrap();
    let link = format!("{}/admin/proposals/{proposal}", server.public_url);
    for word in [link.as_str(), &ann.address(), &things.client.id, "second operator"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let again = first.propose(&things.access("everyone"));
    let mail = mail_server.next();
    assert_eq!(mail["to"], serde_json::json!(["bob@mail.example.com"]), "and nobody else in between");
    assert!(mail["text"].as_str().unwrap().contains(&again));
}
