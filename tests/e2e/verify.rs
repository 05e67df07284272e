//! "What did I just sign?": `/verify`, over HTTP.

use countersign_tests::{Browser, Database, Parameters, Request, Response, Server, Site, Wallet};
use serde_json::{Value, json};

/// A text that another site asks users to sign.
fn strange_text(wallet: &Wallet) -> String {
    format!(
        "evil.example wants you to sign in with your Ethereum account:\n{}\n\n<script>alert(1)</script> Hello.\n\n\
         URI: https://evil.example/login\nVersion: 1\nChain ID: 1\nNonce: 12345678\nIssued At: 2026-01-01T00:00:00Z",
        wallet.address()
    )
}

/// A text that the server issues to this wallet.
fn issued(site: &Site, wallet: &Wallet) -> String {
    let authorization = site.register().authorization();
    let mut browser = site.browser();
    browser.authorize(&authorization).expect(302);
    browser.challenge(&authorization, wallet)
}

fn ask(site: &Site, body: &Value) -> Response {
    site.send(&Request::json("/verify", body))
}

/// Sends the form as a browser does.
fn paste(site: &Site, fields: &[(&str, &str)]) -> Response {
    site.send(&Request::form("/verify", &Parameters::of(fields)).header("Accept", "text/html"))
}

#[test]
fn a_program_learns_who_wrote_a_text_and_who_signed_it() {
    let (server, wallet) = (Server::sqlite(), Wallet::fresh());
    let text = issued(&server, &wallet);
    let account = format!("eip155:1:{}", wallet.address());
    let answer = ask(&server, &json!({"text": text, "signature": wallet.sign(&text)})).expect(200).json();
    assert_eq!(
        (&answer["signature"], &answer["wallet_account"], &answer["writer"], &answer["issued_here"]),
        (&json!("valid"), &json!(account), &json!("this_server"), &json!(true))
    );
    assert_eq!((&answer["expired"], &answer["domain"]), (&json!(false), &json!(server.authority())));
    let other = Wallet::fresh();
    let answer = ask(&server, &json!({"text": text, "signature": other.sign(&text)})).expect(200).json();
    assert_eq!((&answer["signature"], &answer["wallet_account"]), (&json!("invalid"), &json!(account)));
    assert!(answer["reason"].is_string(), "{answer}");
    let body = json!({"text": text, "signature": other.sign(&text), "wallet_address": other.address()});
    assert_eq!(ask(&server, &body).expect(200).field("signature"), "names_another");
    let changed = text.replace("client.example", "evil.example");
    let answer =
        ask(&server, &json!({"text": changed, "signature": wallet.sign(&changed)})).expect(200).json();
    assert_eq!(
        (&answer["signature"], &answer["writer"], &answer["issued_here"]),
        (&json!("valid"), &json!("not_this_server"), &json!(false))
    );
    let elsewhere = Database::new_sqlite().start();
    let writer = ask(&elsewhere, &json!({"text": text})).expect(200).field("writer");
    assert_eq!(writer, "another_site");
}

/// A form has CR LF line breaks, and pasted text has white space around it.
#[test]
fn a_person_pastes_what_they_signed_and_reads_who_wrote_it() {
    let (server, wallet) = (Server::sqlite(), Wallet::fresh());
    let form = server.send(&Request::get("/verify").header("Accept", "text/html")).expect(200).text();
    assert!(form.contains("<h1>What did I sign?</h1>"), "{form}");
    let (ours, strange) = (issued(&server, &wallet), strange_text(&wallet));
    let rows = server.database().rows();
    let pasted = |text: &str| {
        let (signature, text) = (format!(" {}\r\n", wallet.sign(text)), text.replace('\n', "\r\n"));
        let page =
            paste(&server, &[("text", &format!("{text}\r\n")), ("signature", &signature), ("chain", "")]);
        assert_eq!(page.header("Set-Cookie"), None, "no session is stored");
        page.expect(200).text()
    };
    let page = pasted(&ours);
    assert!(
        page.contains(&format!("The wallet <bdi>{}</bdi> signed exactly this text.", wallet.address())),
        "{page}"
    );
    assert!(page.contains("This server wrote this text"), "{page}");
    assert!(
        page.contains("<bdi>Sign in to client.example. This costs nothing and cannot move funds.</bdi>"),
        "{page}"
    );
    let page = pasted(&strange);
    assert!(page.contains("This signature is valid."), "{page}");
    let warning = "it names <bdi>evil.example</bdi>. It cannot sign anyone in here.";
    assert!(page.contains(warning), "{page}");
    assert!(!page.contains("<script>alert"), "A-003: the text is never used as markup");
    assert_eq!(server.database().rows(), rows, "nothing is stored");
}

#[test]
fn what_is_missing_is_said_where_it_is_missing() {
    let (server, wallet) = (Server::sqlite(), Wallet::fresh());
    let refused = ask(&server, &json!({"signature": "0x"})).expect(400);
    assert_eq!(refused.field("error_description"), "text is missing");
    let page = paste(&server, &[("text", " \r\n"), ("signature", "0x00")]).expect(400).text();
    assert!(page.contains(r#"aria-describedby="text-hint text-alert" aria-invalid="true""#), "{page}");
    let page =
        paste(&server, &[("text", "I agree"), ("signature", &wallet.sign("I agree"))]).expect(200).text();
    assert!(page.contains("the text does not say whose it is"), "{page}");
    let fields =
        [("text", "I agree"), ("signature", &wallet.sign("I agree")), ("wallet_address", &wallet.address())];
    assert!(paste(&server, &fields).expect(200).text().contains("This signature is valid."));
    let terra = [
        ("text", "I agree"),
        ("signature", "0x00"),
        ("wallet_address", "terra188888888888888888888888888888888v372eu"),
    ];
    let page = paste(&server, &terra).expect(200).text();
    assert!(
        page.contains(r#"<option value="cosmos:columbus-5">Terra Classic (cosmos:columbus-5)</option>"#),
        "{page}"
    );
}

/// The name of a family's chain in our texts leads back to the account that requested them.
#[test]
fn the_account_is_found_in_our_texts_of_every_family() {
    let server = Server::sqlite();
    let authorization = server.register().authorization();
    let mut browser = server.browser();
    browser.authorize(&authorization).expect(302);
    let names = [
        "eip155:137:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
        "bip122:000000000019d6689c085ae165831e93:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "bc1qrqtlzcq86850yzgsyq9sssawx2qxlx5yq3xpkd",
        "4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4",
        "cosmos17gtfgtk3k5vrmdxmvr5h4tfucdd6vvw294c3np",
        "osmo10wgf826hx7wc5ttmgk8pvy8g0vcdnn8dm6qj8r",
        "TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy",
    ];
    for name in names {
        let asked = browser.send(Browser::challenge_request(&authorization, name)).expect(200);
        let account = format!("{}:{}", asked.field("chain"), asked.field("wallet_address"));
        let body = json!({"text": asked.field("challenge"), "signature": "0x00"});
        let answer = ask(&server, &body).expect(200);
        assert_eq!(
            (answer.field("wallet_account"), answer.field("writer")),
            (account, "this_server".to_owned())
        );
    }
}

/// A-047: only our own page and programs can call it.
#[test]
fn a_page_of_another_site_cannot_ask() {
    let server = Server::sqlite();
    for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
        let foreign = Request::json("/verify", &json!({"text": "I agree"})).header(name, value);
        assert_eq!(server.send(&foreign).status, 403, "{name}");
    }
}
