//! Our own pages cannot be used as a weapon (F-02, F-10, F-11, F-14, A-056, B-056): no response of ours is
//! sent to our own endpoints, and a cookie alone changes nothing. What only a browser can show is in
//! `tests/peers/foreign.mjs`.

use countersign_tests::server::project;
use countersign_tests::{
    Browser, ClientSite, Database, Parameters, Request, Response, Server, Tokens, Wallet, on_both, page,
};
use serde_json::{Value, json};

use crate::account::{form, page as shown, sign_in};
use crate::mail::mail_server::MailServer;
use crate::remembering::{remember, remembered};

/// URLs with which a browser on this machine reaches the server.
fn spellings(server: &Server, path: &str) -> Vec<String> {
    let port = server.address.port();
    ["http://localhost", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]", "https://localhost"]
        .iter()
        .map(|host| format!("{host}:{port}{path}"))
        .collect()
}

#[test]
fn f_02_no_client_has_an_address_of_ours() {
    let server = Server::sqlite();
    let good = server.register();
    let mut tried = 0;
    for path in ["/account/email/remove", "/oauth/continue", "/elsewhere", ""] {
        for uri in spellings(&server, path) {
            tried += 1;
            let refused = server.send(&server_registration(&json!({"redirect_uris": [uri]})));
            assert_eq!(refused.verdict(), "400 invalid_redirect_uri", "{uri}");
            assert!(refused.field("error_description").contains("own origin"), "{refused:?}");
            let leaving = json!({"post_logout_redirect_uris": [uri]});
            assert_eq!(server.send(&server_registration(&leaving)).status, 400, "{uri}");
            let update = json!({"client_id": good.id, "client_name": "Photo Album", "redirect_uris": [uri]});
            let update = Request::json(&format!("/oauth/clients/{}", good.id), &update);
            let update = Request { method: "PUT".to_owned(), ..update }.bearer(&good.registration_token);
            assert_eq!(server.send(&update).verdict(), "400 invalid_redirect_uri", "{uri}");
        }
    }
    assert_eq!(tried, 20);
}

fn server_registration(metadata: &Value) -> Request {
    countersign_tests::Site::registration(metadata)
}

/// RFC 8252: on a loopback literal, the port is chosen when the request is made. It cannot be our own port.
#[test]
fn f_02_a_port_that_is_free_to_choose_is_never_ours() {
    let server = Server::sqlite();
    let client = server.register_at("http://127.0.0.1/account/email/remove");
    let at = |port: u16| {
        let uri = format!("http://127.0.0.1:{port}/account/email/remove");
        server.browser().authorize(&client.authorization().with("redirect_uri", &uri))
    };
    at(7777).expect(302);
    let refused = at(server.address.port()).expect(400);
    assert_eq!(refused.header("Location"), None);
}

/// A client that an older version stored.
#[test]
fn f_02_an_address_of_ours_that_an_older_build_stored_is_nobodys() {
    let database = Database::sqlite();
    let server = database.start();
    let ours = format!("{}/account/email/remove", server.public_url);
    let client = server.register_with(&json!({"post_logout_redirect_uris": ["https://client.example/cb"]}));
    for column in ["redirect_uris", "post_logout_redirect_uris"] {
        database.change(&format!(
            "UPDATE clients SET {column} = replace({column}, 'https://client.example/cb', '{ours}')"
        ));
    }
    assert_eq!(
        database.number(&format!("SELECT count(*) FROM clients WHERE redirect_uris LIKE '%{ours}%'")),
        1
    );
    for mode in ["query", "form_post"] {
        let asked = client.authorization().with("redirect_uri", &ours).with("response_mode", mode);
        for asked in [asked.clone(), asked.clone().with("prompt", "none"), asked.with("scope", "nonsense")] {
            let refused = server.browser().authorize(&asked).expect(400);
            assert!(refused.header("Location").is_none(), "{refused:?}");
            assert!(refused.field("error_description").starts_with("Invalid redirect_uri"), "{refused:?}");
        }
    }
    let leaving = Parameters::of(&[("client_id", &client.id), ("post_logout_redirect_uri", &ours)]);
    assert_eq!(server.send(&Request::query("/oauth/logout", &leaving)).status, 400);
}

/// The playground is ours and is its own client. It never gets a form.
#[test]
fn f_02_the_playground_is_answered_by_its_address_and_never_by_a_form() {
    let server = Server::sqlite();
    let client = server.register_at(&format!("{}/playground", server.public_url));
    server.browser().authorize(&client.authorization()).expect(302);
    let by_form = client.authorization().with("response_mode", "form_post");
    server.browser().authorize(&by_form).expect(400);
    server.browser().authorize(&by_form.with("scope", "nonsense")).expect(400);
    for near in ["/playground/", "/playground?x=1", "/playground/x"] {
        let uri = format!("{}{near}", server.public_url);
        let refused = server.send(&server_registration(&json!({"redirect_uris": [uri]})));
        assert_eq!(refused.verdict(), "400 invalid_redirect_uri", "{near}");
    }
}

/// Every change that a signed-in browser can make, with the fields that each needs.
fn changes(client: &str) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let named = |name, value: &str| vec![(name, value.to_owned())];
    vec![
        ("/account/sign-in", vec![]),
        ("/account/apps/revoke", named("client_id", client)),
        ("/account/sessions/end", named("session", "this")),
        ("/account/sessions/end", named("session", "all")),
        ("/account/email", named("email", "eve@example.com")),
        ("/account/email/remove", vec![]),
        ("/account/email/confirm", named("token", &"A".repeat(64))),
        ("/account/data", vec![]),
        ("/account/delete", named("confirm", "yes")),
        ("/account/wallets/challenge", named("change", "unlink")),
        ("/account/wallets/rename", named("wallet_account", "eip155:1:0xA")),
    ]
}

fn request(path: &str, fields: &[(&'static str, String)], secret: &[&str]) -> Request {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let secrets = secret.iter().map(|secret| ("form".to_owned(), (*secret).to_owned()));
    Request::form(path, &Parameters(fields.chain(secrets).collect())).header("Accept", "text/html")
}

/// The secrets of all forms on a browser's account page.
fn secrets(browser: &mut Browser) -> Vec<(String, String)> {
    let html = shown(browser, "/account");
    let forms = page::forms(&html).into_iter();
    forms.map(|form| (form.action.clone(), form.hidden.get("form").to_owned())).collect()
}

on_both! {
    /// F-02, A-056, B-056: every change on the account page is tried with every wrong secret, and from
    /// everywhere except our page.
    fn f_02_no_form_acts_on_a_cookie_alone(database) {
        let server = database.start();
        let client = server.register();
        let (ann, bob) = (Wallet::fresh(), Wallet::fresh());
        let tokens = Tokens::of(server.exchange(&client, &server.browser().sign_in(&client, &ann)));
        let mut browser = sign_in(&server, &ann);
        browser.press(form("/account/email", &[("email", "ann@example.com")])).expect(303);
        let (ours, theirs) = (secrets(&mut browser), secrets(&mut sign_in(&server, &bob)));
        // The secrets on Ann's page before she signed out and in again.
        let mut earlier = sign_in(&server, &ann);
        let stale = secrets(&mut earlier);
        earlier.press(form("/account/sessions/end", &[("session", "this")])).expect(303);
        let mut tried = 0;
        for (path, fields) in changes(&client.id) {
            let wrong = ours.iter().filter(|(action, _)| !action.ends_with(path)).chain(&theirs).chain(&stale);
            for (_, secret) in wrong {
                browser.send(request(path, &fields, &[secret])).expect(403);
                tried += 1;
            }
            browser.send(request(path, &fields, &[])).expect(403);
            browser.send(request(path, &fields, &[""])).expect(403);
            let body: Value = fields.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str()))).collect();
            browser.send(Request::json(path, &body)).expect(403);
            let named = |(action, _): &&(String, String)| action.ends_with(path);
            let good = ours.iter().find(named).map_or("x", |(_, secret)| secret.as_str());
            browser.send(request(path, &fields, &[good, good])).expect(400);
            browser.send(request(path, &fields, &[good, "x"])).expect(400);
            for (name, value) in [
                ("Origin", "null"),
                ("Origin", "https://evil.example"),
                ("Origin", "http://localhost"),
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Site", "same-site"),
                ("Sec-Fetch-Site", "bad"),
            ] {
                browser.send(request(path, &fields, &[good]).header(name, value)).expect(403);
                tried += 1;
            }
            tried += 5;
        }
        println!("{tried} forms that no page showed to this browser: none of them had an effect");
        assert!(tried > 300, "{tried}");
        server.userinfo(&tokens.access).expect(200);
        let page = shown(&mut browser, "/account");
        assert!(page.contains("ann@example.com") && page.contains("Photo Album"), "{page}");
        assert_eq!(database.number("SELECT count(*) FROM users"), 2);
    }

    /// F-02: each of two pending requests has its own forms, even if they have the same name and one asks for
    /// more.
    fn f_02_a_form_answers_the_request_that_its_page_showed(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register_at("https://two.example/cb"));
        let wallet = Wallet::fresh();
        let mut browser = remembered(&server, &client, &wallet);
        remember(&mut browser, &client.authorization().with("scope", "profile email"), &wallet);
        let little = client.authorization();
        let address = browser.authorize(&little).expect(302).location().to_owned();
        let page_of_little = shown(&mut browser, &address);
        let stranger = server.browser().authorize(&little).expect(302).location().to_owned();
        let mut elsewhere = server.browser();
        elsewhere.authorize(&little).expect(302);
        let page_elsewhere = shown(&mut elsewhere, &stranger);
        // The same client, redirect URI and state again, with more scopes.
        let much = little.clone().with("scope", "profile email");
        browser.authorize(&much).expect(302);
        let second = other.authorization();
        browser.authorize(&second).expect(302);
        let secret = |html: &str, path: &str| page::secret(html, path, &[]).unwrap();
        let named = |authorization: &Parameters| {
            let kept = ["client_id", "redirect_uri", "state"].map(|name| (name, authorization.get(name)));
            Parameters::of(&kept).with("wallet_account", &format!("eip155:1:{}", wallet.address()))
        };
        let wrong = [
            ("/oauth/continue", named(&much), secret(&page_of_little, "/oauth/continue")),
            ("/oauth/deny", named(&much), secret(&page_of_little, "/oauth/deny")),
            ("/oauth/deny", named(&second), secret(&page_of_little, "/oauth/deny")),
            ("/oauth/continue", named(&much), secret(&page_of_little, "/oauth/deny")),
            ("/oauth/deny", named(&much), secret(&page_elsewhere, "/oauth/deny")),
            ("/oauth/deny", named(&much), String::new()),
        ];
        for (path, fields, secret) in wrong {
            let fields = fields.with("form", &secret);
            browser.send(Request::form(path, &fields)).expect(403);
            browser.send(Request::json(path, &fields.json())).expect(403);
        }
        for path in ["/oauth/continue", "/oauth/deny"] {
            browser.send(Request::json(path, &json!({"form": secret(&page_of_little, "/oauth/deny")}))).expect(400);
        }
        browser.press(Request::json("/oauth/continue", &named(&much).json())).expect(303);
        browser.press(Request::json("/oauth/deny", &named(&second).json())).expect(303);
    }

    /// F-02: entering a device code, and signing out for a client.
    fn f_02_the_pages_beside_the_account_have_secrets_too(database) {
        let server = database.start();
        let mut browser = sign_in(&server, &Wallet::fresh());
        let asked = Parameters::of(&[("confirm", "yes")]);
        browser.send(Request::form("/oauth/logout", &asked)).expect(403);
        let stolen = sign_in(&server, &Wallet::fresh()).filled(Request::form("/oauth/logout", &asked));
        browser.send(stolen).expect(403);
        let other_way = Parameters::of(&[("state", "x")]);
        let html = shown(&mut browser, "/oauth/logout");
        let secret = page::secret(&html, "/oauth/logout", &[]).unwrap();
        let fields = other_way.and("confirm", "yes").and("form", &secret);
        browser.send(Request::form("/oauth/logout", &fields)).expect(403);
        let code = Parameters::of(&[("user_code", "BCDF-GHJK")]);
        browser.send(Request::form("/device", &code)).expect(403);
        let theirs = server.browser().filled(Request::form("/device", &code));
        browser.send(theirs).expect(403);
        browser.press(Request::form("/device", &code)).expect(400);
        browser.press(Request::form("/oauth/logout", &asked)).expect(200);
        assert_eq!(database.number("SELECT count(*) FROM login_sessions"), 1, "only the other session is left");
    }

    /// B-064: a browser that someone left unlocked.
    fn an_address_and_the_data_need_a_fresh_signature(database) {
        let server = database.start();
        let wallet = Wallet::fresh();
        let mut browser = sign_in(&server, &wallet);
        browser.press(form("/account/email", &[("email", "ann@example.com")])).expect(303);
        let [put, remove, data] = [
            form("/account/email", &[("email", "eve@example.com")]),
            form("/account/email/remove", &[]),
            form("/account/data", &[]),
        ]
        .map(|request| browser.filled(request));
        let older = if database.is_postgres() { "interval '10 minutes'" } else { "600000000" };
        database.change(&format!("UPDATE login_sessions SET authenticated_at = authenticated_at - {older}"));
        for request in [put, remove, data] {
            let page = browser.send(request).expect(401).text();
            assert!(page.contains("data-trouble=\"signed_in_long_ago\""), "{page}");
            assert!(page.contains("ann@example.com") && !page.contains("/account/data\""), "{page}");
        }
        let again = browser.press(form("/account/sign-in", &[])).expect(303);
        assert!(again.location().starts_with("/auth"), "{again:?}");
    }

    /// F-14
    fn f_14_an_address_where_nobody_has_a_mailbox_is_not_taken_and_not_told(database) {
        let server = database.start();
        let (client, wallet) = (server.register(), Wallet::fresh());
        let mut browser = sign_in(&server, &wallet);
        for wrong in ["x@wallet.invalid", "x@WALLET.Invalid", "x@a.test", "x@a.onion", "x@printer.local"] {
            let refused = browser.press(form("/account/email", &[("email", wrong)])).expect(400).text();
            assert!(refused.contains("data-trouble=\"reserved_email\""), "{refused}");
            let mut stranger = server.browser();
            let authorization = client.authorization().with("scope", "profile email");
            let body = stranger.prepare_with(&authorization, &wallet).with("email", wrong);
            let refused = stranger.login(&body).expect(400);
            assert!(refused.field("error_description").contains("reserved domain ."), "{refused:?}");
        }
        browser.press(form("/account/email", &[("email", "ann@example.com")])).expect(303);
        database.change("UPDATE emails SET address = 'ann@wallet.invalid', verified_at = added_at");
        let authorization = client.authorization().with("scope", "profile email");
        let tokens = Tokens::of(server.exchange(&client, &server.browser().sign_in_with(&authorization, &wallet)));
        assert_eq!(server.userinfo(&tokens.access).expect(200).json().get("email"), None);
        assert!(!shown(&mut browser, "/account").contains("wallet.invalid"));
    }

    /// F-14: anyone may see the URL of a picture, so it must not contain the user's id.
    fn f_14_the_address_of_a_picture_does_not_tell_the_sub(database) {
        let server = database.start();
        let client = server.register_with(&json!({"scopes": ["openid", "profile"]}));
        let authorization = client.authorization().with("scope", "openid profile");
        let code = server.browser().sign_in_with(&authorization, &Wallet::fresh());
        let told = server.userinfo(&Tokens::of(server.exchange(&client, &code)).access).expect(200);
        let (sub, picture) = (told.field("sub"), told.field("picture"));
        assert!(!picture.contains(&sub) && !picture.contains(&sub.replace('-', "")), "{picture}");
        let path = picture.strip_prefix(&server.public_url).unwrap();
        let drawn = server.get(path).expect(200).text();
        assert_ne!(drawn, server.get(&format!("/pictures/{sub}.svg")).expect(200).text(), "a picture at the older kind of URL differs");
    }
}

/// F-10, F-11: who confirms an address, for which account, and how many mails a mailbox gets.
#[test]
fn f_10_f_11_a_mailed_link_names_its_account_and_a_mailbox_gets_five_an_hour() {
    let mut mails = MailServer::start(&project().join("tests/peers"), &[]);
    let port = mails.next()["port"].as_u64().unwrap();
    let database = Database::sqlite();
    let server = database
        .server()
        .with_env("COUNTERSIGN_SMTP_URL", &format!("smtp://127.0.0.1:{port}"))
        .with_env("COUNTERSIGN_MAIL_FROM", "Sign-in <signin@auth.example>")
        .with_env("COUNTERSIGN_RATE_LIMIT", "on")
        .start();
    let mut link = || {
        let mail = mails.next();
        let text = mail["text"].as_str().unwrap().to_owned();
        let link = text.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        link.split_once("token=").unwrap().1.to_owned()
    };
    let put = |address: &str| form("/account/email", &[("email", address)]);
    let confirm = |token: &str| form("/account/email/confirm", &[("token", token)]);
    let (ann_key, bob_key) = (Wallet::fresh(), Wallet::fresh());
    let (mut ann, mut bob) = (sign_in(&server, &ann_key), sign_in(&server, &bob_key));
    ann.press(put("ann@example.com")).expect(303);
    let anns = link();
    let path = format!("/account/email/confirm?token={anns}");
    let short = |wallet: &Wallet| wallet.address()[..6].to_owned();
    let at_bobs = shown(&mut bob, &path);
    assert!(
        at_bobs.contains("data-state=\"email-sign_in\"") && at_bobs.contains(&short(&ann_key)),
        "{at_bobs}"
    );
    bob.send(confirm(&anns)).expect(403);
    let leads = bob.send(Request::get(&format!("{path}&sign_in=1"))).expect(302);
    assert!(leads.location().starts_with("/auth"), "{leads:?}");
    let asked = shown(&mut ann, &path);
    assert!(asked.contains("data-state=\"email-ask\"") && asked.contains("ann@example.com"), "{asked}");
    assert!(asked.contains(&short(&ann_key)), "{asked}");
    ann.press(confirm(&anns)).expect(303);

    bob.press(put("Ann@example.com")).expect(303);
    let bobs = link();
    let told: Response = bob.press(confirm(&bobs)).expect(409);
    let told = told.text();
    assert!(told.contains("data-state=\"email-shared\""), "{told}");
    let verified = || database.number("SELECT count(*) FROM emails WHERE verified_at IS NOT NULL");
    assert_eq!(verified(), 1);
    let agreed = form("/account/email/confirm", &[("token", &bobs), ("shared", "yes")]);
    let first_secret = bob.filled(confirm(&bobs));
    bob.send(first_secret.with_field("shared", "yes")).expect(403);
    bob.press_on(&told, agreed).expect(303);
    assert_eq!(verified(), 2);

    // Two mails were already sent to this mailbox. Other spellings of its address count too, whoever requests
    // them.
    let mut eve = sign_in(&server, &Wallet::fresh());
    for address in ["ann+1@example.com", "ANN+2@Example.com", "ann+3@example.com"] {
        eve.press(put(address)).expect(303);
        link();
    }
    let refused = eve.press(put("ann+4@example.com")).expect(429);
    assert!(refused.text().contains("data-trouble=\"too_many_mails\""), "{refused:?}");
    assert_eq!(database.number("SELECT count(*) FROM emails WHERE address LIKE '%+4@%'"), 0);
}

/// RFC 9700 section 4.11.2: if a client is only described by a document, its errors are pages, not redirects.
#[test]
fn a_client_that_a_document_describes_is_no_open_redirector() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_CLIENT_DOCUMENTS", "on").start();
    let site = ClientSite::start(json!({}));
    let id = site.url("/oauth/client.json");
    site.publish(
        json!({"client_id": id, "client_name": "Anybody", "redirect_uris": ["https://evil.example/cb"]}),
    );
    let good = Parameters::of(&[
        ("client_id", &id),
        ("redirect_uri", "https://evil.example/cb"),
        ("response_type", "code"),
        ("scope", "profile"),
        ("state", "s"),
        ("code_challenge", countersign_tests::site::CODE_CHALLENGE),
        ("code_challenge_method", "S256"),
    ]);
    server.browser().authorize(&good).expect(302);
    for (name, value) in [
        ("scope", "nonsense"),
        ("response_type", "token"),
        ("prompt", "none"),
        ("prompt", "nonsense"),
        ("code_challenge_method", "plain"),
        ("nonce", "\u{1}"),
    ] {
        for mode in ["query", "form_post"] {
            let asked = good.clone().with(name, value).with("response_mode", mode);
            let told = server.browser().authorize(&asked).expect(400);
            assert_eq!(told.header("Location"), None, "{name}={value}");
            let html = told.text();
            assert!(html.contains("data-state=\"offer\"") && html.contains("evil.example"), "{html}");
            assert!(
                !html.contains("http-equiv") && !html.contains("form-post"),
                "the page does not redirect by itself: {html}"
            );
        }
    }
    let registered = server.register();
    server.browser().authorize(&registered.authorization().with("scope", "nonsense")).expect(302);
}

/// `form-action` limits where a page may post to, and requests from our own forms carry their origin.
#[test]
fn a_page_posts_to_ourselves_only_where_it_has_a_form() {
    let server = Server::sqlite();
    let client = server.register();
    let mut browser = sign_in(&server, &Wallet::fresh());
    browser.authorize(&client.authorization()).expect(302);
    let policy = |answer: &Response| {
        let policy = answer.header("Content-Security-Policy").unwrap().to_owned();
        let (_, action) = policy.split_once("form-action ").unwrap();
        action.split(';').next().unwrap().to_owned()
    };
    for path in ["/account", "/account/events", "/auth", "/device", "/verify", "/"] {
        let answer = browser.send(Request::get(path).header("Accept", "text/html")).expect(200);
        assert_eq!(policy(&answer), "'self'", "{path}");
        assert!(answer.text().contains("name=\"referrer\" content=\"same-origin\""), "{path}");
        assert_eq!(answer.header("Referrer-Policy"), Some("no-referrer"), "{path}");
    }
    let unknown = Request::query("/oauth/authorize", &Parameters::of(&[("client_id", "x")]));
    let error = browser.send(unknown.header("Accept", "text/html")).expect(400);
    assert_eq!(policy(&error), "'none'");
    let denied = Request::form("/oauth/deny", &Parameters::of(&[])).header("Accept", "text/html");
    assert_eq!(policy(&browser.press(denied).expect(200)), "'none'");
}

#[test]
fn the_description_links_to_no_other_host_unless_the_operator_names_it() {
    let page = |server: &Server| server.get("/docs").expect(200).text();
    assert!(!page(&Server::sqlite()).contains("The whole documentation"));
    let server = Database::sqlite()
        .server()
        .with_env("COUNTERSIGN_DOCUMENTATION_URL", "https://help.example.com/auth/");
    assert!(
        page(&server.start())
            .contains(r#"href="https://help.example.com/auth/">The whole documentation</a>"#)
    );
}
