//! Pairwise clients: two sectors cannot find out by anything that they receive whether two of their users are one person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Receiver;

use countersign_tests::jose::claims_of;
use countersign_tests::{
    Browser, Client, ClientSite, Database, Parameters, Request, Response, Server, Wallet, on_both,
};
use serde_json::{Value, json};

use crate::logout::{heard, listen};
use crate::requests::introspect;
use crate::saved::{restored_beside, serve};

/// A pairwise client at this redirect URI, as an operator registers it.
fn at(database: &Database, redirect_uri: &str, more: &[&str]) -> Client {
    let fixed = [
        "--redirect-uri",
        redirect_uri,
        "--subject-type",
        "pairwise",
        "--scope",
        "openid profile email offline_access",
    ];
    Client::of(&database.create_client(&[&fixed, more].concat()))
}

/// Signs in on a browser that remembers it.
fn signed_in(browser: &mut Browser, client: &Client, wallet: &Wallet) -> String {
    let mut body = browser.prepare_with(&client.authorization().with("scope", "openid"), wallet).json();
    body["remember"] = json!(true);
    browser.send(Request::json("/oauth/login", &body)).expect(303).answer("code").unwrap()
}

/// A remembered user continues to a client, which gets these tokens.
fn continued(server: &Server, browser: &mut Browser, client: &Client) -> Response {
    let authorization = client.authorization().with("scope", "openid").without("prompt");
    browser.authorize(&authorization).expect(302);
    let to = browser.press(Request::form("/oauth/continue", &Parameters::of(&[]))).expect(303);
    server.exchange(client, &to.answer("code").unwrap()).expect(200)
}

/// All values that are long enough to say something, and all numbers.
fn values(of: &Value, into: &mut BTreeSet<String>) {
    match of {
        Value::String(text) if text.len() >= 4 => {
            into.insert(text.clone());
            into.extend(
                text.split([' ', '/', '@', '.', '_']).filter(|part| part.len() >= 4).map(str::to_owned),
            );
        }
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, into)),
        Value::Object(object) => object.values().for_each(|value| values(value, into)),
        Value::String(_) | Value::Null | Value::Bool(_) => {}
    }
}

/// Without the times of its own requests, which a client has a clock for.
fn timeless(mut body: Value) -> Value {
    for name in ["iat", "exp", "toe", "expires_in"] {
        body.as_object_mut().and_then(|object| object.remove(name));
    }
    body
}

/// What a client receives about one user, over everything that it can ask.
fn received(server: &Server, client: &Client, tokens: &Response) -> BTreeSet<String> {
    let [access, refresh, id] = ["access_token", "refresh_token", "id_token"].map(|name| tokens.field(name));
    let mut seen = BTreeSet::new();
    let info = server.userinfo(&access).expect(200).json();
    let again = server.refresh(client, &refresh).expect(200);
    let refused = server.refresh(client, "not-a-token").expect(400).json();
    let spent = server.exchange(client, "not-a-code").expect(400).json();
    let named = |sub: &Value| json!({"id_token": {"sub": {"value": sub}}}).to_string();
    let authorization = client.authorization().with("prompt", "none").and("claims", &named(&info["sub"]));
    let unanswered = server.browser().authorize(&authorization).expect(302);
    let ids = [claims_of(&id), claims_of(&again.field("id_token")), claims_of(&access)];
    for body in ids {
        assert_eq!(body.get("auth_time"), None, "{body}");
        assert_eq!(body["sub"], info["sub"]);
        values(&timeless(body), &mut seen);
    }
    for body in [
        info,
        refused,
        spent,
        introspect(server, client, &again.field("access_token")),
        introspect(server, client, &again.field("refresh_token")),
    ] {
        for name in ["address", "wallet_address", "wallet_account"] {
            assert_eq!(body.get(name), None, "{body}");
        }
        values(&timeless(body), &mut seen);
    }
    values(&json!([unanswered.answer("error"), unanswered.answer("error_description")]), &mut seen);
    seen
}

/// No value that is about one user is at both clients.
fn hold_apart(seen: &[(usize, usize, BTreeSet<String>)]) {
    let mut places: BTreeMap<&str, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for (client, user, values) in seen {
        for value in values {
            places.entry(value).or_default().insert((*client, *user));
        }
    }
    for (value, places) in &places {
        let (clients, users): (BTreeSet<_>, BTreeSet<_>) = places.iter().copied().unzip();
        assert!(clients.len() == 1 || users.len() > 1, "{value} is about one user, at both clients");
    }
    let own = places.values().filter(|places| places.len() == 1).count();
    assert!(own > seen.len() * 4, "{own}: the test sees what is about a user");
}

const USERS: usize = 24;

fn logout_claims(posts: &Receiver<String>) -> Value {
    heard(posts).1
}

on_both! {
    fn two_sectors_receive_nothing_in_common_on_any_replica(database) {
        let first = database.start();
        let second = first.replica();
        let (posts_of, heard_at): (Vec<_>, Vec<_>) = (0..2).map(|_| listen(&[200; USERS])).unzip();
        let clients = ["https://photos.example/cb", "https://pics.example/cb"].iter().zip(&posts_of).map(|(uri, posts)| {
            at(database, uri, &["--backchannel-logout-uri", posts])
        });
        let clients: Vec<_> = clients.collect();
        let (mut seen, mut subs) = (Vec::new(), BTreeSet::new());
        for user in 0..USERS {
            let (mut browser, wallet) = (first.browser(), Wallet::fresh());
            for client in &clients {
                signed_in(&mut browser, client, &wallet);
            }
            for (number, client) in clients.iter().enumerate() {
                let server = if user % 2 == 0 { &first } else { &second };
                let tokens = continued(&first, &mut browser, client);
                let (id, there) = (claims_of(&tokens.field("id_token")), second.userinfo(&tokens.field("access_token")));
                assert!(id["sid"].is_string());
                assert_eq!(there.expect(200).json()["sub"], id["sub"], "every replica has the same keys");
                assert!(subs.insert(id["sub"].as_str().unwrap().to_owned()));
                seen.push((number, user, received(server, client, &tokens)));
            }
            // The page names no client, so it asks.
            let out = browser.press(Request::form("/oauth/logout", &Parameters::of(&[("confirm", "yes")])));
            assert!(out.status < 400, "{out:?}");
            for (number, posts) in heard_at.iter().enumerate() {
                let mut shown = BTreeSet::new();
                let claims = logout_claims(posts);
                assert!(claims["sid"].is_string() && subs.contains(claims["sub"].as_str().unwrap()), "{claims}");
                values(&timeless(claims), &mut shown);
                seen.push((number, user, shown));
            }
        }
        hold_apart(&seen);
    }

    fn a_sub_is_that_of_its_sector_and_outlives_a_restore(database) {
        let server = database.start();
        let site = ClientSite::start(json!(["https://photos.example/cb", "https://pics.example/cb"]));
        let listed = site.url("/sector.json");
        let alone = at(database, "https://photos.example/cb", &[]);
        let beside = at(database, "https://photos.example/other", &[]);
        let together: Vec<_> = ["https://photos.example/cb", "https://pics.example/cb"]
            .map(|uri| at(database, uri, &["--sector-identifier-uri", &listed]))
            .into();
        let native = at(database, "com.example.photos:/cb", &["--public"]);
        let wallet = Wallet::fresh();
        let sub = |server: &countersign_tests::Site, client: &Client| {
            let authorization = client.authorization().with("scope", "openid");
            let code = server.browser().sign_in_with(&authorization, &wallet);
            claims_of(&server.exchange(client, &code).expect(200).field("id_token"))["sub"].as_str().unwrap().to_owned()
        };
        let subs: Vec<_> = [&alone, &beside, &together[0], &together[1], &native].map(|client| sub(&server, client)).into();
        assert_eq!((&subs[0], &subs[2]), (&subs[1], &subs[3]), "one sector has one sub");
        assert_eq!(BTreeSet::from([&subs[0], &subs[2], &subs[4]]).len(), 3);
        // An application names a person to the operator by the `sub` that it was given.
        let show = ["user", "show", &subs[0]];
        for (client, sub) in [(&alone, &subs[0]), (&beside, &subs[0]), (&native, &subs[4])] {
            let shown = database.operate(&["user", "show", &sub.to_uppercase(), "--client", &client.id]);
            assert!(shown.to_string().contains(&wallet.address()), "{shown}");
        }
        for (arguments, message) in [
            (&[&show[..], &["--client", &native.id]].concat()[..], format!("knows no one by the `sub` {}", subs[0])),
            (&show[..], "if an application knows a person by this id, name the application too, with --client".to_owned()),
            (&["user", "show", "ann", "--client", &alone.id], "\"ann\" is no `sub`: ".to_owned()),
            (&[&show[..], &["--client", "Nothing"]].concat()[..], "Nothing".to_owned()),
        ] {
            let refused = database.operator(arguments).output().unwrap();
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(!refused.status.success() && refused.stdout.is_empty() && said.contains(&message), "{said}");
        }
        let file = database.folder().join("pairwise.backup");
        database.operate(&["backup", file.to_str().unwrap()]);
        let restored = restored_beside(database, &file, &[]);
        let there = serve(database, &restored, &server.public_url);
        assert_eq!([&alone, &together[1], &native].map(|client| sub(&there, client)), [0, 3, 4].map(|place| subs[place].clone()));
        // Nothing else is stored for them.
        let stored = database.number("SELECT count(*) FROM clients WHERE rare_fields LIKE '%subject_type pairwise%'");
        assert_eq!(stored, 5);
    }

    fn a_registration_that_does_not_add_up_is_refused_by_name(database) {
        let server = database.start();
        let sites = [json!("<html>"), json!({"a": 1}), json!(["https://photos.example/other"]), json!(["x".repeat(70_000)])];
        let sites = sites.map(ClientSite::start);
        let [html, object, lacking, huge] = [0, 1, 2, 3].map(|place| sites[place].url("/sector.json"));
        let fetched = "cannot be fetched: it must answer at a public https address, in time, and with 64 KiB at most";
        let array = "must return a JSON array of strings";
        let one = json!(["https://photos.example/cb"]);
        for (uris, more, shown) in [
            (&one, json!({"subject_type": "private"}), "subject_type must be public or pairwise".to_owned()),
            (&json!(["https://photos.example/cb", "https://pics.example/cb"]), json!({}),
                "sector_identifier_uri is needed, because the redirect_uris of this pairwise client have more than one host".to_owned()),
            (&one, json!({"sector_identifier_uri": "http://photos.example/s"}),
                "sector_identifier_uri must be an https address, or http on a loopback host".to_owned()),
            (&one, json!({"sector_identifier_uri": html}), format!("sector_identifier_uri {array}")),
            (&one, json!({"sector_identifier_uri": object}), format!("sector_identifier_uri {array}")),
            (&one, json!({"sector_identifier_uri": lacking}), "sector_identifier_uri returns a list without redirect_uris[0]".to_owned()),
            (&one, json!({"sector_identifier_uri": huge}), format!("sector_identifier_uri {fetched}")),
            (&one, json!({"sector_identifier_uri": "https://10.0.0.1/s"}), format!("sector_identifier_uri {fetched}")),
            (&one, json!({"sector_identifier_uri": "https://169.254.169.254/s"}), format!("sector_identifier_uri {fetched}")),
        ] {
            let mut metadata = json!({"redirect_uris": uris, "subject_type": "pairwise"});
            metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let refused = server.send(&countersign_tests::Site::registration(&metadata)).expect(400).json();
            assert_eq!((refused["error"].as_str(), refused["error_description"].as_str()), (Some("invalid_client_metadata"), Some(&*shown)));
            let mut flags = vec!["client".to_owned(), "create".to_owned(), "--name".to_owned(), "Photos".to_owned()];
            flags.extend(uris.as_array().unwrap().iter().map(|uri| format!("--redirect-uri={}", uri.as_str().unwrap())));
            flags.push(format!("--subject-type={}", metadata["subject_type"].as_str().unwrap()));
            flags.extend(metadata["sector_identifier_uri"].as_str().map(|uri| format!("--sector-identifier-uri={uri}")));
            let flags: Vec<_> = flags.iter().map(String::as_str).collect();
            let said = database.operator(&flags).output().unwrap();
            let words = String::from_utf8_lossy(&said.stderr);
            let named = if shown.starts_with("subject_type") { "possible values: public, pairwise" } else { &*shown };
            assert!(!said.status.success() && words.contains(named), "{words}");
        }
    }

    fn a_client_that_asks_for_openid_alone_learns_no_wallet_and_the_pages_say_so(database) {
        let server = database.start();
        let public = Client::of(&database.create_client(&["--redirect-uri", "https://shop.example/cb", "--scope", "openid profile email"]));
        let private = at(database, "https://photos.example/cb", &[]);
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        for (client, id) in [(&public, "A user ID, to recognize you"), (&private, "A user ID that is different at every site")] {
            for (scope, has_wallet) in [("openid", false), ("openid email", false), ("openid profile", true)] {
                let authorization = client.authorization().with("scope", scope);
                browser.authorize(&authorization).expect(302);
                let page = browser.send(Request::get("/auth").header("Accept", "text/html")).text();
                assert!(page.contains(id), "{page}");
                assert_eq!(page.contains("It does not get your wallet address."), !has_wallet, "{scope}");
                let code = browser.sign_in_with(&authorization, &wallet);
                let tokens = server.exchange(client, &code).expect(200);
                let info = server.userinfo(&tokens.field("access_token")).expect(200).json();
                for body in [info, claims_of(&tokens.field("id_token"))] {
                    for name in ["wallet_address", "wallet_account"] {
                        assert_eq!(body.get(name).is_some(), has_wallet, "{scope}: {body}");
                    }
                }
            }
        }
        signed_in(&mut browser, &public, &wallet);
        let third = at(database, "https://third.example/cb", &[]);
        signed_in(&mut browser, &third, &wallet);
        let page = browser.send(Request::get("/account").header("Accept", "text/html")).text();
        assert_eq!(page.matches("data-knows=\"wallet\"").count(), 2, "{page}");
        assert_eq!(page.matches("data-knows=\"pairwise\"").count(), 1);
        assert!(page.contains("Knows only an id that is different at every site"));
    }
}
