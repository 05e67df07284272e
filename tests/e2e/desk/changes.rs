//! Every change of the list: asked for by its form, signed, carried out, and told of by its events, which verify.

use std::collections::BTreeSet;

use countersign_tests::{Client, Server, Wallet, on_both};
use serde_json::Value;

use crate::events::{end_leases, wait_until_sealed};

use super::{Seat, Wanted, account, events, everything, run_by, signed, wanted};

/// An address that nobody ever signs with.
const UNKNOWN: &str = "eip155:1:0x00000000219ab540356cBB839Cbe05303d7705Fa";

/// What there is to change.
pub(super) struct Things {
    pub(super) client: Client,
    pub(super) user: String,
    /// A wallet that is kept out.
    blocked: String,
    kid: String,
}

impl Things {
    /// A client, somebody who signed in, a group with a member, a resource and an admin key.
    pub(super) fn of(server: &Server) -> Self {
        let database = server.database();
        let client = database.let_in();
        let wallet = Wallet::fresh();
        server.browser().sign_in(&client, &wallet);
        let shown = database.operate(&["user", "show", &account(&wallet)]);
        database.operate(&["group", "create", "staff"]);
        database.operate(&["group", "add", "staff", &account(&Wallet::fresh())]);
        database.operate(&["group", "create", "empty"]);
        database.operate(&[
            "resource",
            "create",
            "https://api.example",
            "--scope",
            "photos.read=See your photos",
        ]);
        database.operate(&["resource", "create", "https://open.example", "--open-to", "named"]);
        database.operate(&["resource", "create", "https://idle.example"]);
        database.operate(&["client", "open-resource", &client.id, "https://open.example"]);
        database.operate(&["admin-key", "create", "--name", "old", "--scope", "users:read"]);
        let blocked = account(&Wallet::fresh());
        database.operate(&["wallet", "block", &blocked]);
        database.operate(&["key", "rotate"]);
        let keys = database.operate(&["key", "list"]);
        let kid = keys.as_array().unwrap().iter().find(|key| key["state"] == "announced").unwrap_or(&keys[0]);
        let kid = kid["kid"].as_str().unwrap().to_owned();
        Self { client, user: shown["id"].as_str().unwrap().to_owned(), blocked, kid }
    }

    fn person(&self) -> String {
        format!("/admin/people/{}", self.user)
    }

    fn of_client(&self) -> String {
        format!("/admin/clients/{}", self.client.id)
    }

    pub(super) fn block_user(&self, reason: &str) -> Wanted {
        wanted(&self.person(), "user-block", &[("reason", reason)])
    }

    pub(super) fn unblock_user(&self) -> Wanted {
        wanted(&self.person(), "user-unblock", &[])
    }

    pub(super) fn block_wallet(&self, reason: &str) -> Wanted {
        wanted("/admin/wallets", "wallet-block", &[("wallet", UNKNOWN), ("reason", reason)])
    }

    pub(super) fn rename_client(&self, name: &str) -> Wanted {
        wanted(&self.of_client(), "client-change", &[("client_name", name)])
    }

    pub(super) fn rotate_secret(&self) -> Wanted {
        wanted(&self.of_client(), "client-rotate-secret", &[])
    }

    pub(super) fn delete_client(&self) -> Wanted {
        wanted(&self.of_client(), "client-delete", &[])
    }

    pub(super) fn access(&self, rule: &str) -> Wanted {
        wanted(&self.of_client(), "client-access", &[("rule", rule)])
    }

    pub(super) fn register_client(&self) -> Wanted {
        let fields = [
            ("client_name", "Wiki"),
            ("redirect_uris", "https://wiki.example/cb"),
            ("scope", "openid profile"),
            ("rule", "nobody"),
        ];
        wanted("/admin/clients", "client-register", &fields)
    }

    pub(super) fn create_admin_key(&self) -> Wanted {
        let fields = [("key_name", "CI"), ("admin_scopes", "clients:write"), ("expires_days", "30")];
        wanted("/admin/admin-keys", "admin-key-create", &fields)
    }
}

/// One change of each kind that can be asked for as things are, but those that undo others.
pub(super) fn every_change(things: &Things) -> Vec<Wanted> {
    let (person, client) = (things.person(), things.of_client());
    vec![
        wanted(&person, "user-sign-out", &[]),
        things.block_user("rude"),
        wanted(&person, "user-delete", &[]),
        things.block_wallet("ticket 4711"),
        wanted(&format!("/admin/wallets/{}", things.blocked), "wallet-unblock", &[]),
        wanted(&person, "user-name", &[("person_name", "Ann \"A\" O'Neill <b>")]),
        wanted(&format!("/admin/wallets/{}", things.blocked), "wallet-name", &[("person_name", "Mallory")]),
        wanted("/admin/groups", "group-create", &[("group", "partners"), ("title", "Partners")]),
        wanted(
            "/admin/groups",
            "group-create",
            &[("group", "team"), ("members", &format!("{}\n{UNKNOWN}", things.user))],
        ),
        wanted("/admin/groups/staff", "group-retitle", &[("title", "Everyone who works here")]),
        wanted("/admin/groups/empty", "group-delete", &[]),
        wanted("/admin/groups/staff", "member-add", &[("member", &things.user)]),
        wanted("/admin/groups/staff", "member-remove", &[]),
        things.register_client(),
        things.rename_client("Photos"),
        things.rotate_secret(),
        wanted(&client, "client-open-resources", &[("resources", "https://api.example")]),
        wanted(&client, "client-close-resources", &[]),
        wanted(&client, "client-access", &[("rule", "groups"), ("rule_groups", "staff")]),
        wanted(
            "/admin/resources",
            "resource-create",
            &[
                ("uri", "https://new.example"),
                ("open_to", "everyone"),
                ("resource_scopes", "new.read = Read what is new"),
            ],
        ),
        wanted(
            "/admin/resources",
            "resource-update",
            &[("resource_scopes", "photos.read = See all your photos")],
        )
        .about("https://api.example"),
        wanted("/admin/resources", "resource-delete", &[]).about("https://idle.example"),
        wanted("/admin/keys", "key-withdraw", &[]).about(&things.kid),
        wanted("/admin/keys", "keys-rotate", &[("at_once", "yes")]),
        things.create_admin_key(),
        wanted("/admin/admin-keys", "admin-key-revoke", &[]).about("old"),
        things.delete_client(),
    ]
}

/// Which event tells of a change.
fn told_by(change: &str) -> &'static str {
    match change {
        "user-block" => "user_blocked",
        "user-unblock" => "user_unblocked",
        "user-sign-out" => "user_signed_out",
        "user-delete" => "account_deleted",
        "wallet-block" => "wallet_blocked",
        "wallet-unblock" => "wallet_unblocked",
        "user-name" => "user_named",
        "wallet-name" => "wallet_named",
        "group-create" => "group_created",
        "group-retitle" => "group_changed",
        "group-delete" => "group_deleted",
        "member-add" => "group_member_added",
        "member-remove" => "group_member_removed",
        "client-register" => "client_registered",
        "client-change" | "client-open-resources" | "client-close-resources" => "client_changed",
        "client-rotate-secret" => "secret_rotated",
        "client-delete" => "client_deleted",
        "client-access" => "access_changed",
        "resource-create" => "resource_created",
        "resource-update" => "resource_changed",
        "resource-delete" => "resource_deleted",
        "keys-rotate" => "key_announced",
        "key-withdraw" => "key_withdrawn",
        "admin-key-create" => "admin_key_created",
        "admin-key-revoke" => "admin_key_revoked",
        other => panic!("{other}: which event?"),
    }
}

on_both! {
    fn k_06_every_change_is_made_and_its_events_verify(database) {
        let ann = Wallet::fresh();
        let mut server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        let mut changes = every_change(&things);
        // What removes something comes last, and what undoes something after it.
        let delete_user = changes.remove(2);
        changes.insert(2, things.unblock_user());
        changes.push(delete_user);
        let mut made = BTreeSet::new();
        for change in &changes {
            // What was signed for several people has an event of its own.
            let names_several = change.fields.iter().any(|(name, _)| *name == "members");
            let kind = if names_several { "change_signed" } else { told_by(change.change) };
            let before = (events(database, kind), signed(database, kind));
            let begun = seat.begin(change);
            let answer = seat.sign(&begun);
            assert!(matches!(answer.status, 200 | 303), "{change:?}: {answer:?}");
            assert!(events(database, kind) > before.0, "{}: no event {kind}", change.change);
            let new: Vec<Value> = signed(database, kind).into_iter().filter(|one| !before.1.contains(one)).collect();
            if change.change == "user-delete" {
                // The person takes along what was signed about them.
                assert!(new.iter().all(Value::is_null), "{new:?}");
            } else {
                // Several keys are made by one signature.
                let one = new.first().unwrap_or_else(|| panic!("{}: nothing was signed", change.change));
                assert!(new.iter().all(|each| each == one), "{}: {new:?}", change.change);
                let signature = &one["signatures"][0];
                assert_eq!(signature["wallet"], account(&ann).as_str());
                assert_eq!(signature["text"].as_str(), Some(begun.text.as_str()));
            }
            made.insert(change.change);
        }
        println!("{} kinds of change", made.len());
        // What is not sealed yet is not verified. The keys were replaced at once, so the last seal must be a new one's.
        wait_until_sealed(database, 1);
        let sealed = database.number("SELECT count(*) FROM checkpoints");
        assert!(server.terminate().success());
        end_leases(database);
        server.restart();
        server.sign_in(&server.register());
        wait_until_sealed(database, sealed + 1);
        let verified = database.operator(&["event", "verify"]).env("COUNTERSIGN_PUBLIC_URL", &server.public_url).output().unwrap();
        assert!(verified.status.success(), "{}{}", String::from_utf8_lossy(&verified.stdout), String::from_utf8_lossy(&verified.stderr));
        check_what_became_of_it(database, &things);
    }

    fn what_is_wrong_in_a_form_is_told_before_anybody_signs(database) {
        let ann = Wallet::fresh();
        let server = run_by(database, &[&ann]).start();
        let things = Things::of(&server);
        let mut seat = Seat::of(&server, &ann);
        let before = everything(database);
        let long = "x".repeat(5_000);
        let cases = [
            wanted("/admin/wallets", "wallet-block", &[("wallet", "nobody"), ("reason", "")]),
            wanted("/admin/wallets", "wallet-block", &[("wallet", UNKNOWN), ("reason", "line\nfeed")]),
            wanted("/admin/wallets", "wallet-block", &[("wallet", UNKNOWN), ("reason", "\u{202e}nimda")]),
            wanted("/admin/wallets", "wallet-block", &[("wallet", UNKNOWN), ("reason", &long)]),
            wanted("/admin/groups", "group-create", &[("group", "Staff")]),
            wanted("/admin/groups", "group-create", &[("group", "staff")]),
            wanted("/admin/groups/staff", "member-add", &[("member", "nobody")]),
            wanted("/admin/clients", "client-register", &[("client_name", "Wiki"), ("redirect_uris", "javascript:x"), ("rule", "nobody")]),
            wanted("/admin/clients", "client-register", &[("client_name", "Wiki"), ("redirect_uris", "https://a.example/cb")]),
            wanted("/admin/clients", "client-register", &[("client_name", "\u{200b}"), ("redirect_uris", "https://a.example/cb"), ("rule", "nobody")]),
            wanted("/admin/clients", "client-register", &[("client_name", "Wiki"), ("redirect_uris", &format!("https://a.example/{long}")), ("rule", "nobody")]),
            wanted(&things.of_client(), "client-access", &[("rule", "groups"), ("rule_groups", "nowhere")]),
            wanted(&things.of_client(), "client-open-resources", &[("resources", "not a uri")]),
            wanted("/admin/resources", "resource-create", &[("uri", "nowhere"), ("resource_scopes", "")]),
            wanted("/admin/resources", "resource-create", &[("uri", "https://new.example"), ("resource_scopes", "openid = x")]),
            wanted("/admin/admin-keys", "admin-key-create", &[("key_name", "CI")]),
            wanted("/admin/admin-keys", "admin-key-create", &[("key_name", "old"), ("admin_scopes", "users:read")]),
        ];
        for case in &cases {
            let answer = seat.ask(case);
            assert!((400..500).contains(&answer.status), "{case:?}: {answer:?}");
            assert!(!answer.text().contains(" wants you to sign in with your "), "{case:?}");
        }
        println!("{} mistakes", cases.len());
        assert_eq!(everything(database), before);
    }
}

/// What the changes did, as the command line tells it.
fn check_what_became_of_it(database: &countersign_tests::Database, things: &Things) {
    let groups = database.operate(&["group", "list"]).to_string();
    assert!(
        groups.contains("partners")
            && groups.contains("Everyone who works here")
            && !groups.contains("\"empty\""),
        "{groups}"
    );
    let clients = database.operate(&["client", "list"]).to_string();
    assert!(clients.contains("Wiki") && !clients.contains(&things.client.id), "{clients}");
    let blocked = database.operate(&["wallet", "list", "--blocked"]).to_string();
    assert!(blocked.contains("ticket 4711"), "{blocked}");
    let resources = database.operate(&["resource", "list"]).to_string();
    assert!(
        resources.contains("https://new.example") && resources.contains("See all your photos"),
        "{resources}"
    );
    assert!(!resources.contains("https://idle.example"), "{resources}");
    let keys = database.operate(&["admin-key", "list"]).to_string();
    assert!(keys.contains("\"CI\""), "{keys}");
    assert_eq!(database.operator(&["user", "show", &things.user]).output().unwrap().status.code(), Some(1));
    let told = database.operate(&["event", "list", "--type", "group_changed", "--limit", "1"]);
    let id = told[0]["id"].as_str().unwrap();
    assert!(told[0]["signed"]["signatures"][0]["signature"].is_string(), "{told}");
    let shown = database.operator(&["event", "show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for word in ["signed by eip155:1:0x", "    - urn:countersign:change:group-retitle\n", "\nsignature: 0x"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let by_command = database.operate(&["event", "list", "--type", "resource_created"]).to_string();
    assert!(by_command.contains("cli:") && by_command.matches("\"signed\"").count() == 1, "{by_command}");
}
