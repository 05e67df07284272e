//! Goes on with a database that was kept: what was given still works, what had ended has ended, and nobody is somebody
//! else.

use std::collections::BTreeSet;
use std::fs;

use countersign_tests::{Client, Database, Parameters, Request, Server, Site, Tokens, Wallet, clock};
use serde_json::Value;

use crate::kept::{Kept, server};
use crate::writing::{ANN, ANNS_SECOND, BOB, CAROL, caip10, now};

/// How long after the database was written it is read.
const LATER: i64 = 60;

/// Everything in the database, at the time when it was written and today.
#[track_caller]
pub(crate) fn read(kept: &Kept) {
    let known = kept.known();
    let now = now();
    let offset = known["written_at"].as_i64().unwrap() + LATER - now;
    let database = kept.copy(offset);
    let mut then = server(&database);
    for (name, value) in clock::off_by(offset) {
        then = then.with_env(&name, &value);
    }
    let mut then = then.start();
    Reader { site: then.site(), database: &database, known: &known }.expect_all();
    let stopped = then.terminate();
    assert!(stopped.success(), "{stopped}");

    let database = kept.copy(0);
    let today: Server = server(&database).start();
    Reader { site: today.site(), database: &database, known: &known }.expect_what_does_not_expire();
}

struct Reader<'a> {
    site: Site,
    database: &'a Database,
    known: &'a Value,
}

impl Reader<'_> {
    fn expect_all(&self) {
        self.expect_what_does_not_expire();
        self.expect_keys();
        self.expect_living();
        self.expect_remembered();
        self.expect_ended();
    }

    /// People, what operators said, and what happened.
    fn expect_what_does_not_expire(&self) {
        self.expect_events();
        self.expect_people();
        self.expect_declarations();
    }

    fn expect_events(&self) {
        let saved = self.database.folder().join("checkpoints.json");
        fs::write(&saved, self.known["checkpoints"].to_string()).unwrap();
        let verified = self.database.operate(&["event", "verify", "--against", &saved.display().to_string()]);
        assert_eq!(verified["holds"], true, "{verified}");
        let events = self.database.operate(&["event", "list", "--limit", "1000"]);
        assert!(events.as_array().unwrap().len() as u64 >= self.known["events"].as_u64().unwrap());
    }

    fn expect_people(&self) {
        let users = self.database.operate(&["user", "list"]);
        for user in self.known["users"].as_array().unwrap() {
            let same = users.as_array().unwrap().iter().find(|other| other["id"] == user["id"]);
            let same = same.unwrap_or_else(|| panic!("{user} is gone"));
            for field in ["created_at", "wallets", "groups", "blocked"] {
                assert_eq!(same[field], user[field], "{field} of {user}");
            }
        }
        let sub = |seed: u64| {
            self.database.operate(&["user", "show", &caip10(&Wallet::from_seed(seed))])["id"].clone()
        };
        assert_eq!(sub(ANN), sub(ANNS_SECOND), "a link stays");
        // Whoever signs in again is who they were, and whoever was blocked is.
        let living = self.known["living"].as_array().unwrap();
        let [of_ann, of_bob] =
            [&living[0], &living[1]].map(|known| (client(known), known["userinfo"]["sub"].clone()));
        for (seed, (client, sub)) in [(ANN, &of_ann), (ANNS_SECOND, &of_ann), (BOB, &of_bob)] {
            let mut browser = self.site.browser();
            let authorization = client.authorization().with("scope", "openid profile");
            let body = browser.prepare_with(&authorization, &Wallet::from_seed(seed));
            let code = browser.login(&body).expect(303).answer("code").unwrap();
            let tokens = Tokens::of(self.site.exchange(client, &code));
            assert_eq!(self.site.userinfo(&tokens.access).expect(200).json()["sub"], *sub);
        }
        let mut browser = self.site.browser();
        let body = browser.prepare_with(&of_ann.0.authorization(), &Wallet::from_seed(CAROL));
        assert_eq!(browser.login(&body).status, 403, "a block stays");
    }

    /// What was exported then, is so now.
    fn expect_declarations(&self) {
        let file = self.database.folder().join("export.toml");
        fs::write(&file, self.known["export"].as_str().unwrap()).unwrap();
        let plan = self.database.operate(&["apply", &file.display().to_string(), "--dry-run"]);
        for change in plan["changes"].as_array().unwrap() {
            // Only that another file declares it would be new.
            let is_same = change["fields"]
                .as_array()
                .unwrap()
                .iter()
                .all(|field| field["field"].as_str().unwrap().contains("declared"));
            assert!(is_same && change["action"] != "delete", "{change:#}");
        }
    }

    fn expect_keys(&self) {
        let kids = |keys: &Value| -> BTreeSet<String> {
            keys["keys"].as_array().unwrap().iter().map(|key| key["kid"].to_string()).collect()
        };
        let now = kids(&self.site.get("/oauth/jwks").expect(200).json());
        assert!(kids(&self.known["keys"]).is_subset(&now), "a key is gone");
    }

    fn expect_living(&self) {
        for known in self.known["living"].as_array().unwrap() {
            let (client, access, refresh) = (client(known), text(&known["access"]), text(&known["refresh"]));
            assert_eq!(self.site.userinfo(&access).expect(200).json(), known["userinfo"], "{known}");
            let refreshed = Tokens::of(self.site.refresh(&client, &refresh));
            assert_eq!(self.site.userinfo(&refreshed.access).expect(200).json(), known["userinfo"]);
            Tokens::of(self.site.refresh(&client, &refreshed.refresh));
        }
        let program = &self.known["program"];
        let form = client(program).identify(Parameters::of(&[("token", &text(&program["access"]))]));
        let told = self.site.send(&Request::form("/oauth/introspect", &form)).expect(200).json();
        assert_eq!(told["active"], true, "{told}");
        // The old secret was just used, and so is the new one.
        let rotated = &self.known["old_secret"];
        let client = Client { secret: Some(text(&rotated["new"])), ..client(rotated) };
        let form = client.identify(Parameters::of(&[("token", "unknown")]));
        self.site.send(&Request::form("/oauth/introspect", &form)).expect(200);
    }

    /// A sign-in that is remembered needs no signature.
    fn expect_remembered(&self) {
        let client = client(&self.known["remembered"]);
        let mut browser = self.site.browser();
        browser.cookies = serde_json::from_value(self.known["remembered"]["cookies"].clone()).unwrap();
        let authorization = client.authorization().with("scope", "openid profile").with("prompt", "none");
        let answered = browser.authorize(&authorization);
        assert!(answered.answer("code").is_some(), "{answered:?}");
    }

    /// What was revoked, blocked or used before stays so. At the end it presents what was used, which ends more.
    fn expect_ended(&self) {
        for known in self.known["ended"].as_array().unwrap() {
            assert_eq!(self.site.userinfo(&text(&known["access"])).status, 401, "{known}");
            let refused = self.site.refresh(&client(known), &text(&known["refresh"]));
            assert_eq!(refused.verdict(), "400 invalid_grant", "{known}");
        }
        let used = &self.known["used"];
        let refused = self.site.refresh(&client(used), &text(&used["refresh"]));
        assert_eq!(refused.verdict(), "400 invalid_grant", "{used}");
        let refused = self.site.exchange(&client(used), &text(&used["code"]));
        assert_eq!(refused.verdict(), "400 invalid_grant", "{used}");
    }
}

fn client(known: &Value) -> Client {
    Client::of(&known["client"])
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
