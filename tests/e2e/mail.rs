//! An e-mail link, from the sign-in page to the claim. The server talks to a real mail server,
//! `tests/peers/smtp_server.py`.

#[path = "../../crates/adapters-smtp/tests/smtp/mail_server.rs"]
pub(crate) mod mail_server;

use countersign_tests::server::project;
use countersign_tests::{Database, Parameters, Request, Tokens, Wallet};
use mail_server::MailServer;
use serde_json::Value;

fn header<'a>(mail: &'a Value, name: &str) -> &'a str {
    let headers = mail["headers"].as_array().unwrap();
    let found = headers.iter().find(|header| header[0] == name);
    found.unwrap_or_else(|| panic!("{name} in {mail}"))[1].as_str().unwrap()
}

/// an address is verified once the user follows the link that was mailed to it. The link works once.
#[test]
fn an_address_given_at_sign_in_is_confirmed_by_the_mailed_link_in_the_persons_language() {
    let mut mail_server = MailServer::start(&project().join("tests/peers"), &[]);
    let port = mail_server.next()["port"].as_u64().unwrap();
    let server = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_SMTP_URL", &format!("smtp://127.0.0.1:{port}"))
        .with_env("COUNTERSIGN_MAIL_FROM", "Sign-in <signin@auth.example>")
        .start();
    let (client, wallet) = (server.register(), Wallet::fresh());
    let mut browser = server.browser();
    let authorization = client.authorization().with("scope", "profile email").with("ui_locales", "de");
    let body = browser.prepare_with(&authorization, &wallet).with("email", "ada@mail.example.com");
    let code = browser.login(&body).expect(303).answer("code").unwrap();
    let tokens = Tokens::of(server.exchange(&client, &code));
    let verified = || server.userinfo(&tokens.access).expect(200).json()["email_verified"].clone();
    assert_eq!(server.userinfo(&tokens.access).expect(200).field("email"), "ada@mail.example.com");
    assert_eq!(verified(), false);

    let mail = mail_server.next();
    assert_eq!(mail["to"], serde_json::json!(["ada@mail.example.com"]));
    assert_eq!(header(&mail, "Auto-Submitted"), "auto-generated");
    let subject = header(&mail, "Subject");
    assert!(subject.contains("E-Mail-Adresse"), "in German: {subject}");
    let text = mail["text"].as_str().unwrap();
    let link = text.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let path = link.strip_prefix(&server.public_url).unwrap();
    let (_, token) = path.split_once("token=").unwrap();

    // Mail scanners open links.
    let mut elsewhere = server.browser();
    elsewhere.send(Request::get(path).header("Accept", "text/html")).expect(200);
    assert_eq!(verified(), false, "opening the link is not enough");
    let mut at_home = crate::account::sign_in(&server, &wallet);
    let confirm = |token: &str| {
        let form = Parameters::of(&[("token", token)]);
        Request::form("/account/email/confirm", &form).header("Accept", "text/html")
    };
    let good = at_home.filled(confirm(token));
    let mut press = |token: &str| at_home.press(confirm(token));
    let other_end = if token.ends_with('A') { 'B' } else { 'A' };
    press(&format!("{}{other_end}", &token[..token.len() - 1])).expect(403);
    assert!((200..400).contains(&press(token).status));
    assert_eq!(verified(), true);
    at_home.send(good).expect(400);
}
