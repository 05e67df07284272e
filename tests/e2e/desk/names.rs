//! Operators name people: two hundred from a file, and from then on no page shows only an id. Applications never learn of
//! it, and nothing in the database keeps the name of someone whose account is gone.

use std::fmt::Write as _;
use std::fs;

use countersign_tests::{Request, Response, Server, Wallet, on_both};
use serde_json::Value;

use super::{Seat, account, run_by, wanted};
use crate::account::{form, sign_in};
use crate::events::wait_until_sealed;

/// What a person reads on a page: the text between its tags.
fn read(html: &str) -> String {
    let body = html.split_once("<main").map_or(html, |(_, main)| main);
    let mut text = String::new();
    for part in body.split('<') {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
        text.push(' ');
    }
    let escaped = [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    let text = escaped.into_iter().fold(text, |text, (escape, character)| text.replace(escape, character));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that tries to be more than one.
fn name_of(number: usize) -> String {
    match number {
        0 => "Zoë \"Root\" <b>O'Neill</b> & Söhne".to_owned(),
        _ => format!("Person {number:03}"),
    }
}

fn apply(server: &Server, file: &str) -> Value {
    server.database().operate(&["apply", file])
}

on_both! {
    fn two_hundred_people_are_named_from_a_file_and_no_page_shows_only_an_id(database) {
        let ada = Wallet::fresh();
        let server = run_by(database, &[&ada]).start();
        let wallets: Vec<Wallet> = (0..200).map(|_| Wallet::fresh()).collect();
        let mut file = String::new();
        for (number, wallet) in wallets.iter().enumerate() {
            let name = serde_json::to_string(&name_of(number)).unwrap();
            writeln!(file, "[[person]]\nwho = \"{}\"\nname = {name}\n", account(wallet)).unwrap();
        }
        let path = database.folder().join("people.toml");
        fs::write(&path, &file).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(apply(&server, path)["changes"].as_array().unwrap().len(), 200);
        assert_eq!(apply(&server, path)["changes"].as_array().unwrap().len(), 0, "the second time");
        database.operate(&["wallet", "name", &account(&ada), "Ada Boss"]);

        // Three of them come, and one is in a group before.
        let client = database.let_in();
        database.operate(&["group", "create", "staff", "--member", &account(&wallets[3])]);
        let mut users = Vec::new();
        for wallet in &wallets[..3] {
            let mut browser = server.browser();
            let code = browser.sign_in(&client, wallet);
            let answer = server.exchange(&client, &code).expect(200);
            let tokens = answer.json();
            let userinfo = server.userinfo(tokens["access_token"].as_str().unwrap()).expect(200);
            let claims = tokens["id_token"].as_str().map(countersign_tests::jose::claims_of);
            let shown = format!("{} {} {claims:?}", answer.text(), userinfo.text());
            assert!(!shown.contains("Person 0") && !shown.contains("Neill"), "{shown}");
            let user = database.operate(&["user", "show", &account(wallet)]);
            users.push(user["id"].as_str().unwrap().to_owned());
        }
        database.operate(&["group", "add", "staff", &users[0]]);

        let mut seat = Seat::of(&server, &ada);
        let mut shows = |path: &str, names: &[usize], hidden: &[&str]| {
            let text = read(&seat.page(path));
            for number in names {
                assert!(text.contains(&name_of(*number)), "{path} shows no {}: {text}", name_of(*number));
            }
            for id in hidden {
                assert!(!text.contains(id), "{path} shows {id}: {text}");
            }
            text
        };
        let ids: Vec<&str> = users.iter().map(String::as_str).collect();
        shows("/admin/people", &[0, 1, 2], &ids);
        shows("/admin/wallets", &[0, 1, 2], &ids);
        shows("/admin/groups/staff", &[0, 3], &ids);
        shows(&format!("/admin/people/{}", users[0]), &[0], &[]);
        shows(&format!("/admin/wallets/{}", account(&wallets[7])), &[7], &[]);
        let events = shows("/admin/events?limit=500", &[0, 1, 2, 3], &ids);
        assert!(events.contains(" added Person 003 to staff"), "{events}");
        let found = seat.get("/admin/search?q=person%20199").expect(302);
        assert!(found.header("Location").unwrap().contains(wallets[199].address().as_str()), "{found:?}");

        // A signed text quotes the name, and the event says who did what.
        let blocked = wanted("/admin/wallets", "wallet-block", &[("wallet", &account(&wallets[0]))]);
        let begun = seat.begin(&blocked);
        let quoted = "called 'Zo(U+00EB) (U+0022)Root(U+0022) (U+003C)b(U+003E)O(U+0027)Neill";
        assert!(begun.text.contains(quoted), "{}", begun.text);
        assert!(matches!(seat.sign(&begun).status, 200 | 303));
        let events = read(&seat.page("/admin/events?type=wallet_blocked"));
        assert!(events.contains(&format!("Ada Boss blocked wallet {}", name_of(0))), "{events}");
        database.operate(&["wallet", "unblock", &account(&wallets[0])]);
        let renamed = wanted(&format!("/admin/people/{}", users[1]), "user-name", &[("person_name", "Beatrix Q")]);
        seat.make(&renamed);
        assert!(read(&seat.page("/admin/people")).contains("Beatrix Q"));

        // A name goes with its account, from every row.
        let named = |text: &str| {
            let text = text.to_lowercase().replace('-', "");
            let rows = database.texts();
            rows.into_iter().filter(|(_, rows)| rows.iter().any(|row| row.contains(&text))).map(|(table, _)| table).collect::<Vec<_>>()
        };
        for (wallet, names) in [(&wallets[0], ["neill", "söhne"]), (&wallets[1], ["beatrix q", "person 001"])] {
            assert!(names.iter().any(|name| !named(name).is_empty()), "{names:?}");
            sign_in(&server, wallet).press(form("/account/delete", &[("confirm", "yes")])).expect(303);
            for name in names {
                assert_eq!(named(name), [""; 0], "{name}");
            }
        }
        assert_eq!(named("person 002"), ["named_wallets"]);
        wait_until_sealed(database, 1);
        assert_eq!(database.operate(&["event", "verify"])["holds"], true);
    }

    fn no_one_else_names_people_or_reads_names(database) {
        let (ada, eve) = (Wallet::fresh(), Wallet::fresh());
        let server = run_by(database, &[&ada]).start();
        database.operate(&["wallet", "name", &account(&eve), "Eve Secret"]);
        // A person at their own account page, an operator without a signature, and a page of another site.
        let mut person = sign_in(&server, &eve);
        let page = |answer: Response| answer.text();
        assert!(!page(person.send(Request::get("/account"))).contains("Eve Secret"));
        for path in ["/admin/people", "/admin/search?q=eve", "/admin/wallets"] {
            assert_eq!(person.send(Request::get(path)).status, 404, "{path}");
        }
        let mut seat = Seat::of(&server, &ada);
        let named = wanted(&format!("/admin/wallets/{}", account(&eve)), "wallet-name", &[("person_name", "Mallory")]);
        let begun = seat.begin(&named);
        assert_eq!(seat.send(&begun, &eve.sign(&begun.text)).status, 401);
        for wrong in ["Ann\u{202e}", "Ann\u{200b}", "\u{2066}Ann\u{2069}", &"a".repeat(65), "Ann\nBob"] {
            let path = format!("/admin/wallets/{}", account(&eve));
            let answer = seat.ask(&wanted(&path, "wallet-name", &[("person_name", wrong)]));
            assert_eq!(answer.status, 400, "{wrong:?}");
        }
        let shown = database.operate(&["wallet", "list"]);
        assert!(shown.to_string().contains("Eve Secret") && !shown.to_string().contains("Mallory"), "{shown}");
    }
}
