//! The operator's commands about people: users, wallets, groups, and whom clients let in. Each verb with each
//! kind of name, both outputs, and every wrong input with its exit code.

use std::process::{Command, Output};

use countersign_tests::server::{OPERATOR_SECRET, binary};
use countersign_tests::{Client, Database, Parameters, Request, Server, Tokens, Wallet, on_both};
use serde_json::{Value, json};

use crate::logout::{heard, listen};
use crate::remembering::remember;

/// An address that Bitcoin and this coin write alike.
const AMBIGUOUS: &str = "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy";
const COIN: &str = "name=Testcoin chain=bip122:00000000000000000000000000abcdef magic=\"Testcoin Signed Message:\\n\" \
                    p2pkh=0 p2sh=5 hrp=tcx";
/// A user's id that nobody has.
const NOBODY: &str = "5f3c2d1e-0000-4000-8000-000000000001";

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The one line that says why it was refused.
    #[track_caller]
    pub(crate) fn why(&self) -> &str {
        let mut lines = self
            .err
            .lines()
            .filter(|line| line.starts_with("countersign: ") && !line.starts_with("countersign: database "));
        let why = lines.next().unwrap_or_else(|| panic!("{self:?}"));
        assert_eq!(lines.next(), None, "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        why.trim_start_matches("countersign: ")
    }
}

/// An operator at the terminal of a server.
pub(crate) struct Operator<'a> {
    database: &'a Database,
    public_url: String,
    pub(crate) more: Vec<(&'static str, String)>,
}

impl<'a> Operator<'a> {
    pub(crate) fn of(server: &'a Server) -> Self {
        Self { database: server.database(), public_url: server.public_url.clone(), more: Vec::new() }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = Command::new(binary());
        command.current_dir(self.database.folder()).args(arguments);
        command.env("COUNTERSIGN_DATABASE_URL", self.database.url());
        command.env("COUNTERSIGN_PUBLIC_URL", &self.public_url);
        if self.database.is_postgres() {
            command.env("COUNTERSIGN_SECRET", OPERATOR_SECRET);
        }
        command.envs(self.more.iter().map(|(name, value)| (*name, value)));
        Ended::of(&command.stdin(std::process::Stdio::null()).output().unwrap())
    }

    /// Runs a command that does what it should.
    #[track_caller]
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.err);
        ended.out
    }

    /// The same, as one JSON value and nothing else.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let out = self.text(&[arguments, &["--output", "json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Runs a command that is refused, in both outputs alike. Returns the exit code and why.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let text = self.run(arguments);
        let json = self.run(&[arguments, &["--output", "json"]].concat());
        assert_eq!((text.code, text.why()), (json.code, json.why()), "{arguments:?}");
        (text.code, text.why().to_owned())
    }
}

/// A client that people sign in to for these scopes.
fn register(server: &Server, more: &Value) -> Client {
    let mut metadata = json!({"scopes": ["openid", "profile", "offline_access"]});
    for (name, value) in more.as_object().into_iter().flatten() {
        metadata[name] = value.clone();
    }
    server.register_with(&metadata)
}

/// Signs in, in a browser that remembers it.
fn sign_in(server: &Server, client: &Client, wallet: &Wallet, scope: &str) -> Tokens {
    let authorization = client.authorization().with("scope", scope);
    let answer = remember(&mut server.browser(), &authorization, wallet);
    Tokens::of(server.exchange(client, &answer.answer("code").unwrap()))
}

/// The id of the user whom an access token is for.
fn user_of(server: &Server, tokens: &Tokens) -> String {
    server.userinfo(&tokens.access).expect(200).field("sub")
}

fn caip10(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

/// What the server answers to a sign-in with this wallet.
fn status_of_sign_in(server: &Server, client: &Client, wallet: &Wallet) -> u16 {
    let mut browser = server.browser();
    let body: Parameters = browser.prepare_with(&client.authorization(), wallet);
    browser.send(Request::json("/oauth/login", &body.json())).status
}

on_both! {
    fn a_user_is_found_by_id_by_address_and_by_caip_10(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (client, wallet) = (register(&server, &json!({"client_name": "Album"})), Wallet::fresh());
        let tokens = sign_in(&server, &client, &wallet, "openid profile");
        let user = user_of(&server, &tokens);
        let shown = operator.json(&["user", "show", &user]);
        for name in [&wallet.address(), &wallet.address().to_lowercase(), &caip10(&wallet), &user.to_uppercase()] {
            assert_eq!(operator.json(&["user", "show", name]), shown, "{name}");
        }
        assert_eq!(shown["id"], user.as_str());
        assert_eq!(shown["wallets"], json!([caip10(&wallet)]));
        assert_eq!((&shown["blocked"], &shown["groups"]), (&Value::Null, &json!([])));
        assert_eq!(shown["sessions"].as_array().map(Vec::len), Some(1));
        let grant = &shown["grants"][0];
        assert_eq!((&grant["client"], &grant["scopes"]), (&json!(client.id), &json!(["openid", "profile"])));
        for time in [&shown["created_at"], &shown["last_sign_in_at"], &grant["since"]] {
            assert!(time.as_str().is_some_and(|time| time.ends_with('Z')), "{shown}");
        }
        let text = operator.text(&["user", "show", &user]);
        assert!(text.contains(&format!("\nwallets          {}\n", caip10(&wallet))), "{text}");
        assert!(text.contains(&format!("Album ({}): openid profile, since ", client.id)), "{text}");
        assert!(operator.text(&["user", "list"]).contains(&user));
        assert_eq!(operator.text(&["user", "list", "--output", "table"]), operator.text(&["user", "list", "--output", "text"]));
    }

    fn who_is_blocked_loses_everything_and_comes_back_by_a_fresh_sign_in_alone(database) {
        let server = database.start();
        let other = server.replica();
        let operator = Operator::of(&server);
        let (uri, posts) = listen(&[200]);
        let client = register(&server, &json!({"backchannel_logout_uri": uri}));
        let wallet = Wallet::fresh();
        let tokens = sign_in(&server, &client, &wallet, "openid profile offline_access");
        let user = user_of(&server, &tokens);
        let done = operator.json(&["user", "block", &wallet.address(), "--reason", "lost phone"]);
        for server in [&server, &other] {
            assert_eq!(server.userinfo(&tokens.access).status, 401);
            assert_eq!(server.refresh(&client, &tokens.refresh).expect(400).error(), "invalid_grant");
            assert_eq!(status_of_sign_in(server, &client, &wallet), 403);
        }
        assert_eq!((&done["who"], &done["already"]), (&json!(user), &json!(false)));
        assert_eq!((&done["sessions_ended"], &done["grants_ended"]), (&json!(1), &json!(1)));
        assert_eq!((&done["clients_to_tell"], &done["clients_not_told"]), (&json!([client.id]), &json!([])));
        let told = heard(&posts).1;
        assert_eq!((&told["sub"], &told["aud"], &told["iss"]), (&json!(user), &json!(client.id), &json!(server.public_url)));

        let again = operator.text(&["user", "block", &user]);
        assert_eq!(again, format!("user {user} was blocked already: 0 sessions and 0 grants ended\n"));
        assert_eq!(operator.json(&["user", "show", &user])["blocked"]["reason"], "lost phone", "the reason stays");
        let blocked = operator.json(&["user", "list", "--blocked"]);
        assert_eq!((blocked.as_array().map(Vec::len), &blocked[0]["id"]), (Some(1), &json!(user)));
        assert_eq!(operator.json(&["wallet", "list", "--blocked"]), json!([]), "the user is blocked, not the wallet");
        assert!(operator.json(&["wallet", "list"])[0]["blocked"]["at"].is_string());

        let (code, why) = operator.refused(&["wallet", "unblock", &wallet.address()]);
        assert_eq!((code, why), (1, format!("wallet {} is not blocked, but user {user} is blocked", caip10(&wallet))));
        let free = operator.text(&["user", "unblock", &caip10(&wallet)]);
        assert_eq!(free, format!("user {user} is unblocked; what the block ended stays ended\n"));
        assert_eq!(server.userinfo(&tokens.access).status, 401);
        assert_eq!(server.refresh(&client, &tokens.refresh).expect(400).error(), "invalid_grant");
        let fresh = sign_in(&server, &client, &wallet, "openid profile");
        assert_eq!(user_of(&server, &fresh), user);
        assert_eq!(operator.refused(&["user", "unblock", &user]), (1, format!("user {user} is not blocked")));
    }

    fn a_wallet_is_blocked_before_anybody_signs_in_with_it(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (client, wallet, other) = (register(&server, &json!({})), Wallet::fresh(), Wallet::fresh());
        let (code, why) = operator.refused(&["user", "block", &wallet.address()]);
        let hint = format!("`countersign wallet block {}` keeps it out beforehand", caip10(&wallet));
        assert_eq!((code, why), (1, format!("no one has signed in with this wallet: {hint}")));
        let done = operator.json(&["wallet", "block", &wallet.address(), "--reason", "spam"]);
        assert_eq!(done["who"], json!(caip10(&wallet)));
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 403);
        assert_eq!(status_of_sign_in(&server, &client, &other), 303);
        let listed = operator.json(&["wallet", "list", "--blocked"]);
        assert_eq!(listed.as_array().map(Vec::len), Some(1));
        assert_eq!((&listed[0]["wallet"], &listed[0]["user"]), (&json!(caip10(&wallet)), &Value::Null));
        assert_eq!(listed[0]["blocked"]["reason"], "spam");
        assert!(operator.text(&["wallet", "list", "--blocked"]).contains("  spam\n"));
        operator.text(&["wallet", "unblock", &wallet.address()]);
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 303);
        assert_eq!(operator.text(&["wallet", "list", "--blocked"]), "no wallets\n");
        assert_eq!(operator.json(&["wallet", "list"]).as_array().map(Vec::len), Some(2));
    }

    fn an_operators_sign_out_ends_everything_and_keeps_offline_access_only_if_asked(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (uri, posts) = listen(&[500, 200]);
        let client = register(&server, &json!({"backchannel_logout_uri": uri}));
        let wallet = Wallet::fresh();
        let here = sign_in(&server, &client, &wallet, "openid profile");
        let away = sign_in(&server, &client, &wallet, "openid profile offline_access");
        let user = user_of(&server, &here);
        let done = operator.json(&["user", "sign-out", &user, "--keep-offline"]);
        assert_eq!((&done["sessions_ended"], &done["grants_ended"]), (&json!(2), &json!(1)));
        assert_eq!(done["offline_access"], "kept");
        assert_eq!(server.refresh(&client, &here.refresh).expect(400).error(), "invalid_grant");
        assert_eq!(server.userinfo(&here.access).status, 401);
        let away = Tokens::of(server.refresh(&client, &away.refresh));
        heard(&posts);
        let again = operator.text(&["user", "sign-out", &user, "--keep-offline"]);
        assert_eq!(again, format!("user {user} is signed out: 0 sessions and 0 grants ended; offline access is kept\n"));
        server.userinfo(&away.access).expect(200);
        let done = operator.json(&["user", "sign-out", &user]);
        assert_eq!((&done["grants_ended"], &done["offline_access"]), (&json!(1), &json!("ended")));
        server.userinfo(&away.access).expect(401);
        assert_eq!(server.refresh(&client, &away.refresh).expect(400).error(), "invalid_grant");
        let again = operator.text(&["user", "sign-out", &user]);
        assert_eq!(again, format!("user {user} is signed out: 0 sessions and 0 grants ended\n"));
        sign_in(&server, &client, &wallet, "openid profile");
    }

    fn a_client_that_cannot_be_told_is_named_and_the_block_holds(database) {
        let server = database.start();
        let mut operator = Operator::of(&server);
        let client = register(&server, &json!({"backchannel_logout_uri": "http://127.0.0.1:9/gone"}));
        let wallet = Wallet::fresh();
        let tokens = sign_in(&server, &client, &wallet, "openid profile");
        let done = operator.run(&["user", "block", &wallet.address()]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.ends_with(": 1 session and 1 grant ended, 0 clients notified, 1 client not notified\n"), "{done:?}");
        assert!(done.err.contains(&format!("client {} could not be notified: ", client.id)), "{done:?}");
        assert!(done.err.contains("telling 1 client of it, for at most 15 s"), "{done:?}");
        assert_eq!(server.userinfo(&tokens.access).status, 401);

        operator.text(&["user", "unblock", &wallet.address()]);
        sign_in(&server, &client, &wallet, "openid profile");
        operator.more.push(("COUNTERSIGN_SECRET", "b3RoZXIgc2VjcmV0IHRoYW4gdGhhdCBvZiB0aGUgc2VydmVy".to_owned()));
        let done = operator.run(&["user", "block", &wallet.address()]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.err.contains("no client could be notified that sign-ins ended: failed to open the signing keys: "), "{done:?}");
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 403);
    }

    fn a_deleted_user_is_gone_and_a_blocked_one_leaves_their_wallets_blocked(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (client, wallet) = (register(&server, &json!({})), Wallet::fresh());
        let tokens = sign_in(&server, &client, &wallet, "openid profile");
        let user = user_of(&server, &tokens);
        let asked = operator.run(&["user", "delete", &user]);
        assert_eq!((asked.code, asked.out.as_str()), (1, ""));
        assert!(asked.err.contains("for good: 1 wallet, 0 memberships, 1 session, what they allowed 1 client, and"), "{asked:?}");
        assert!(asked.err.ends_with("countersign: nothing was deleted\n"), "{asked:?}");
        let done = operator.json(&["user", "delete", &wallet.address(), "--yes"]);
        assert_eq!(done["id"], json!(user));
        assert_eq!(server.userinfo(&tokens.access).status, 401);
        let advice = "if an application knows a person by this id, name the application too, with --client";
        assert_eq!(operator.refused(&["user", "show", &user]), (1, format!("there is no user {user}: {advice}")));
        let tokens = sign_in(&server, &client, &wallet, "openid profile");
        let next = user_of(&server, &tokens);
        assert_ne!(next, user);
        operator.text(&["user", "block", &next, "--reason", "spam"]);
        let done = operator.run(&["user", "delete", &next, "--yes"]);
        assert!(done.code == 0 && done.err.contains("so their wallets are blocked now"), "{done:?}");
        assert_eq!(operator.json(&["wallet", "list", "--blocked"])[0]["blocked"]["reason"], "spam");
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 403);
    }

    fn a_group_lets_in_a_wallet_before_its_first_sign_in_and_nobody_else(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let client = register(&server, &json!({"client_name": "Wiki"}));
        let (member, stranger, friend) = (Wallet::fresh(), Wallet::fresh(), Wallet::fresh());
        let user = user_of(&server, &sign_in(&server, &client, &friend, "openid profile"));
        let created = operator.json(&["group", "create", "staff", "--title", "Everybody here"]);
        assert_eq!((&created["name"], &created["title"]), (&json!("staff"), &json!("Everybody here")));
        assert_eq!(operator.json(&["client", "show", "Wiki"])["client_id"], operator.json(&["access", "show", "Wiki"])["client_id"]);
        let set = operator.run(&["access", "set", "Wiki", "groups:staff"]);
        assert!(set.code == 0 && set.err.contains("no group of the rule has members, so no one can sign in to Wiki"), "{set:?}");
        assert!(set.out.contains("rule     everyone (default_access)  groups:staff\n"), "{set:?}");
        for wallet in [&member, &stranger, &friend] {
            assert_eq!(status_of_sign_in(&server, &client, wallet), 403);
        }
        let added = operator.json(&["group", "add", "staff", &member.address(), &user]);
        assert_eq!((&added[0]["who"], &added[0]["user"], &added[0]["added"]), (&json!(caip10(&member)), &Value::Null, &json!(true)));
        assert_eq!((&added[1]["who"], &added[1]["user"], &added[1]["added"]), (&json!(user), &Value::Null, &json!(true)));
        assert_eq!([&member, &stranger, &friend].map(|wallet| status_of_sign_in(&server, &client, wallet)), [303, 403, 303]);

        let again = operator.text(&["group", "add", "staff", &friend.address(), &user]);
        let whose = format!("added to staff: wallet {}, which belongs to user {user}\n", caip10(&friend));
        assert_eq!(again, format!("{whose}was in staff already: user {user}\n"));
        let groups = operator.json(&["user", "show", &user])["groups"].clone();
        assert_eq!(groups, json!([{"name": "staff", "through": "user"}, {"name": "staff", "through": caip10(&friend)}]));
        let people = operator.json(&["user", "list", "--group", "staff"]);
        assert_eq!(people.as_array().map(Vec::len), Some(2), "each once");
        let shown = operator.json(&["group", "show", "staff"]);
        assert_eq!((&shown["users"], &shown["wallets"], &shown["clients"]), (&json!(1), &json!(2), &json!([client.id])));
        assert_eq!(shown["members"].as_array().map(Vec::len), Some(3));
        assert_eq!(shown["members"][0]["user"], json!(user));
        let first = operator.run(&["group", "show", "staff", "--limit", "1"]);
        assert!(first.err.contains(&format!("there are more: --after {user} goes on\n")), "{first:?}");
        let rest = operator.json(&["group", "show", "staff", "--after", &user]);
        assert_eq!(rest["members"].as_array().map(Vec::len), Some(2));

        let removed = operator.run(&["group", "remove", "staff", &user]);
        assert_eq!((removed.code, removed.out), (0, format!("removed from staff: user {user}\n")));
        let still = format!("user {user} was removed, but their user is in staff as wallet {}", caip10(&friend));
        assert!(removed.err.contains(&still), "{}", removed.err);
        let twice = operator.run(&["group", "remove", "staff", &user, &member.address(), "--output", "json"]);
        assert_eq!(twice.code, 1);
        let json: Value = serde_json::from_str(&twice.out).unwrap();
        assert_eq!((&json[0]["removed"], &json[1]["removed"]), (&json!(false), &json!(true)));
        assert_eq!(json[0]["still_member_as"], json!([caip10(&friend)]));
        assert!(twice.err.contains(&format!("user {user} is no member of staff, but")), "{}", twice.err);
        assert_eq!([&member, &friend].map(|wallet| status_of_sign_in(&server, &client, wallet)), [403, 303]);
        let (code, why) = operator.refused(&["group", "remove", "staff", &member.address(), &stranger.address()]);
        let names = [&member, &stranger].map(|wallet| format!("wallet {} is no member of staff", caip10(wallet)));
        assert_eq!(code, 1);
        assert!(why.starts_with(&names[0]) && why.contains(&names[1]), "{why}");
    }

    fn a_group_in_use_is_deleted_by_force_alone(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let client = register(&server, &json!({"client_name": "Wiki"}));
        operator.text(&["group", "create", "empty"]);
        assert_eq!(operator.json(&["group", "delete", "empty"])["name"], "empty", "it took nothing away");
        operator.text(&["group", "create", "editors"]);
        let scope = ["--scope", "wiki.edit=Edit pages", "--needs", "wiki.edit=editors"];
        operator.text(&[&["resource", "create", "https://wiki.example.com"], &scope[..]].concat());
        let (_, why) = operator.refused(&["group", "delete", "editors"]);
        assert!(why.starts_with("editors is in use: scopes need it (wiki.edit). --force"), "{why}");
        assert_eq!(operator.json(&["group", "delete", "editors", "--force"])["scopes"], json!(["wiki.edit"]));
        operator.text(&["group", "create", "staff"]);
        operator.text(&["group", "add", "staff", &Wallet::fresh().address()]);
        let (code, why) = operator.refused(&["group", "delete", "staff"]);
        let force = "--force deletes it, and no one gets anything through it any more";
        assert_eq!((code, why), (1, format!("staff is in use: it has 0 users and 1 wallet. {force}")));
        operator.text(&["access", "set", &client.id, "groups:staff"]);
        let (_, why) = operator.refused(&["group", "delete", "staff"]);
        assert!(why.contains(&format!("the rule of 1 client names it (Wiki ({}))", client.id)), "{why}");
        let done = operator.run(&["group", "delete", "staff", "--force"]);
        assert_eq!((done.code, done.out.as_str()), (0, "deleted staff, which had 0 users and 1 wallet\n"));
        assert!(done.err.contains("no one gets anything through staff any more: the rule of 1 client names it"), "{}", done.err);
        assert_eq!(operator.text(&["group", "list"]), "no groups\n");
        let shown = operator.run(&["access", "show", &client.id]);
        assert!(shown.err.contains("there is no group staff, so no one gets in through it"), "{shown:?}");
        assert_eq!(status_of_sign_in(&server, &client, &Wallet::fresh()), 403);
    }

    fn access_is_changed_by_id_and_by_a_name_that_is_unique(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (wiki, wallet) = (register(&server, &json!({"client_name": "Wiki"})), Wallet::fresh());
        for name in ["staff", "guests"] {
            operator.text(&["group", "create", name]);
        }
        let before = operator.json(&["access", "show", "Wiki"]);
        let expected = json!({
            "client_id": wiki.id, "client_name": "Wiki", "access": "everyone",
            "default_access": "everyone", "release": "rule", "groups": [],
        });
        assert_eq!(before, expected);
        let set = operator.json(&["access", "set", &wiki.id, "groups:staff,guests", "--release", "all"]);
        assert_eq!((&set["rule"], &set["release"]), (&json!("groups:guests,staff"), &json!("all")));
        assert_eq!(set["changed"], json!(["rule", "release"]));
        assert_eq!(set["groups"][0], json!({"name": "guests", "users": 0, "wallets": 0}));
        let kept = operator.json(&["access", "set", &wiki.id, "nobody"]);
        assert_eq!((&kept["release"], &kept["changed"]), (&json!("all"), &json!(["rule"])));
        assert_eq!(status_of_sign_in(&server, &wiki, &wallet), 403);
        let nobody = operator.run(&["access", "set", &wiki.id, "nobody"]);
        assert!(nobody.out.ends_with("nothing changed\n") && nobody.err.contains("no one can sign in to Wiki"), "{nobody:?}");
        let back = operator.json(&["access", "set", &wiki.id, "default", "--release", "rule"]);
        assert_eq!((&back["rule"], &back["release"]), (&Value::Null, &json!("rule")));
        assert_eq!(status_of_sign_in(&server, &wiki, &wallet), 303);

        let other = register(&server, &json!({"client_name": "Wiki"}));
        let (code, why) = operator.refused(&["access", "set", "Wiki", "everyone"]);
        assert_eq!(code, 1);
        assert!(why.contains(&wiki.id) && why.contains(&other.id), "{why}");
        let (code, why) = operator.refused(&["access", "show", "Wikki"]);
        assert_eq!((code, why.as_str()), (1, "no client has the id or the name \"Wikki\"; did you mean \"Wiki\"?"));
        for (rule, release) in [("groups:stff", "all"), ("everyone", "stff")] {
            let (code, why) = operator.refused(&["access", "set", &wiki.id, rule, "--release", release]);
            assert_eq!((code, why.as_str()), (1, "there is no group stff; did you mean staff?"));
        }
        assert_eq!(operator.json(&["access", "show", &wiki.id])["rule"], Value::Null, "nothing changed");
    }

    fn lists_go_on_where_they_ended(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let client = register(&server, &json!({}));
        for _ in 0..5 {
            sign_in(&server, &client, &Wallet::fresh(), "openid profile");
        }
        for (noun, field) in [("user", "id"), ("wallet", "wallet")] {
            let all = operator.json(&[noun, "list"]);
            assert_eq!(all.as_array().map(Vec::len), Some(5));
            let mut read: Vec<Value> = Vec::new();
            let mut arguments = vec![noun.to_owned(), "list".to_owned(), "--limit".to_owned(), "2".to_owned()];
            loop {
                let words: Vec<&str> = arguments.iter().map(String::as_str).chain(["--output", "json"]).collect();
                let ended = operator.run(&words);
                read.extend(serde_json::from_str::<Vec<Value>>(&ended.out).unwrap());
                let Some((_, after)) = ended.err.split_once("there are more: ") else { break };
                let after = after.split(" goes on").next().unwrap().split(' ').map(str::to_owned);
                arguments = arguments.into_iter().take(4).chain(after).collect();
                assert_eq!(arguments[5], read.last().unwrap()[field].as_str().unwrap());
            }
            assert_eq!(Value::Array(read), all);
        }
    }

    fn wrong_input_is_refused_with_one_line_and_its_exit_code(database) {
        let server = database.start();
        let mut operator = Operator::of(&server);
        operator.more.push(("COUNTERSIGN_COINS", COIN.to_owned()));
        operator.text(&["group", "create", "staff"]);
        let free = Wallet::fresh().address();
        let swapped = |letter: char| {
            if letter.is_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
        };
        let wrong_case = format!("0x{}", free[2..].chars().map(swapped).collect::<String>());
        let unknown = "0197a1b2-0000-7000-8000-000000000001";
        let bitcoin = format!("bip122:000000000019d6689c085ae165831e93:{AMBIGUOUS} (Bitcoin)");
        for (arguments, code, told) in [
            (&["user", "show", NOBODY][..], 1, "there is no user"),
            (&["user", "block", NOBODY], 1, "there is no user"),
            (&["user", "unblock", NOBODY], 1, "there is no user"),
            (&["user", "sign-out", NOBODY], 1, "there is no user"),
            (&["user", "delete", NOBODY, "--yes"], 1, "there is no user"),
            (&["user", "show", "somebody"], 2, "is neither a user's id nor the address of a wallet"),
            (&["user", "show", "a\u{1b}[2Jb"], 2, r#""a\u{1b}[2Jb" is neither"#),
            (&["user", "show", ""], 2, "is neither"),
            (&["user", "show", &wrong_case], 2, "its capital letters do not fit"),
            (&["user", "show", AMBIGUOUS], 1, &bitcoin),
            (&["wallet", "block", AMBIGUOUS], 1, &bitcoin),
            (&["group", "add", "staff", AMBIGUOUS], 1, &bitcoin),
            (&["group", "remove", "staff", AMBIGUOUS], 1, &bitcoin),
            (&["wallet", "block", &format!("solana:1:{free}")], 2, "names a chain that has no such addresses"),
            (&["wallet", "block", NOBODY], 2, "is a user's id, and this is about wallets"),
            (&["wallet", "block", &free, "--kind", "contract"], 2, "name the chain too"),
            (&["wallet", "unblock", &free], 1, "is not blocked"),
            (&["wallet", "list", "--after", &free], 1, "no one has signed in with the wallet"),
            (&["user", "list", "--group", "stafff"], 1, "there is no group stafff; did you mean staff?"),
            (&["group", "show", "zzz"], 1, "there is no group zzz: `countersign group create zzz` creates it"),
            (&["group", "add", "staf", &free], 1, "did you mean staff?"),
            (&["group", "remove", "staf", &free], 1, "did you mean staff?"),
            (&["group", "delete", "staf"], 1, "did you mean staff?"),
            (&["group", "create", "staff"], 1, "there is a group staff already"),
            (&["group", "add", "staff", &free, NOBODY], 1, "there is no user"),
            (&["group", "add", "staff", &free, "nonsense"], 2, "is neither"),
            (&["access", "show", unknown], 1, "no client has the id 0197a1b2-"),
            (&["access", "set", unknown, "everyone"], 1, "no client has the id 0197a1b2-"),
            (&["access", "show", "nowhere"], 1, "no client has the id or the name \"nowhere\": `countersign client list`"),
        ] {
            let (ended, why) = operator.refused(arguments);
            assert!(ended == code && why.contains(told), "{arguments:?}: {ended}: {why}");
        }
        let members = operator.json(&["group", "show", "staff"]);
        assert_eq!((&members["users"], &members["wallets"]), (&json!(0), &json!(0)), "all or none");
        for (arguments, told) in [
            (&["user", "shwo", NOBODY][..], "'show'"),
            (&["user", "signout", NOBODY], "'sign-out'"),
            (&["wallet", "blok", &free], "'block'"),
            (&["group", "creat", "a"], "'create'"),
            (&["acces", "show", "a"], "'access'"),
            (&["user", "show"], "<WHO>"),
            (&["user", "list", "--limit", "0"], "--limit"),
            (&["user", "list", "--group", "Staff"], "is not a name of a group"),
            (&["user", "block", &free, "--reason", "two\nlines"], "must not hold control"),
            (&["user", "block", &free, "--reason", "a\u{202e}b"], "must not hold control"),
            (&["group", "create", "Staff"], "is not a name of a group"),
            (&["group", "create", "ok", "--title", "a\u{1b}b"], "must not hold control"),
            (&["access", "set", "Wiki", "everybody"], "it is everyone, nobody, groups:NAME,NAME, or default"),
            (&["access", "set", "Wiki", "groups:a b"], "is not a name of a group"),
            (&["user", "list", "--bind", "127.0.0.1:9"], "'--bind' is a setting that this command does not use"),
        ] {
            let ended = operator.run(arguments);
            assert!(ended.code == 2 && ended.out.is_empty() && ended.err.contains(told), "{arguments:?}: {ended:?}");
        }
    }

    /// A contract can have the address of a key's account (F-15): who blocks the one does not block the other.
    fn f_15_on_a_chain_with_contract_wallets_the_operator_says_which_account_is_meant(database) {
        let server = database.start();
        let mut operator = Operator::of(&server);
        operator.more.push(("COUNTERSIGN_ETHEREUM_RPC", "1=http://127.0.0.1:9/".to_owned()));
        let wallet = Wallet::fresh();
        let (code, why) = operator.refused(&["wallet", "block", &caip10(&wallet)]);
        assert_eq!(code, 1);
        assert!(why.contains("could be a key's account or a contract's"), "{why}");
        let contract = operator.text(&["wallet", "block", &caip10(&wallet), "--kind", "contract"]);
        assert!(contract.starts_with(&format!("wallet {} (contract) is blocked: ", caip10(&wallet))), "{contract}");
        let client = register(&server, &json!({}));
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 303, "the key's account is another one");
        for name in [wallet.address(), caip10(&wallet)] {
            let (code, why) = operator.refused(&["wallet", "block", &name]);
            assert!(code == 1 && why.contains("(key), ") && why.contains("(contract)"), "{why}");
        }
        operator.text(&["wallet", "block", &wallet.address(), "--kind", "key"]);
        assert_eq!(status_of_sign_in(&server, &client, &wallet), 403);
        assert_eq!(operator.json(&["wallet", "list", "--blocked"]).as_array().map(Vec::len), Some(2));
    }

    fn no_verb_creates_a_database_and_each_change_is_logged(database) {
        let server = database.start();
        let operator = Operator::of(&server);
        let (client, wallet) = (register(&server, &json!({"client_name": "Wiki"})), Wallet::fresh());
        let user = user_of(&server, &sign_in(&server, &client, &wallet, "openid profile"));
        let logged = |arguments: &[&str]| {
            let mut operator = Operator::of(&server);
            let log = [("COUNTERSIGN_LOG_FORMAT", "json"), ("COUNTERSIGN_LOG", "debug")];
            operator.more.extend(log.map(|(name, value)| (name, value.to_owned())));
            let ended = operator.run(arguments);
            let lines = ended.err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.filter(|line| line["level"] == "INFO").collect::<Vec<_>>()
        };
        for (arguments, message, field) in [
            (&["group", "create", "staff"][..], "group created", "group"),
            (&["group", "add", "staff", &user], "member added to group", "user.id"),
            (&["group", "add", "staff", &wallet.address()], "member added to group", "wallet"),
            (&["group", "remove", "staff", &user], "member removed from group", "user.id"),
            (&["access", "set", "Wiki", "groups:staff"], "access to client changed", "client.id"),
            (&["group", "delete", "staff", "--force"], "group deleted", "group"),
            (&["user", "sign-out", &user], "user signed out", "user.id"),
            (&["user", "block", &user], "user blocked", "user.id"),
            (&["user", "unblock", &user], "user unblocked", "user.id"),
            (&["wallet", "block", &wallet.address()], "wallet blocked", "wallet"),
            (&["wallet", "unblock", &wallet.address()], "wallet unblocked", "wallet"),
            (&["user", "delete", &user, "--yes"], "user deleted", "user.id"),
        ] {
            let lines = logged(arguments);
            assert_eq!(lines.len(), 1, "{arguments:?}: {lines:?}");
            assert_eq!(lines[0]["message"], message, "{lines:?}");
            assert!(lines[0][field].is_string() && lines[0]["operator.uid"].is_u64(), "{lines:?}");
            assert!(!lines[0].to_string().contains(&wallet.address()), "a wallet is shortened in the log");
        }
        for arguments in [&["user", "list"][..], &["group", "list"], &["access", "set", "Wiki", "groups:staff"]] {
            assert_eq!(logged(arguments), Vec::<Value>::new(), "{arguments:?} changed nothing");
        }
        let mut elsewhere = Operator::of(&server);
        let file = operator.database.folder().join("nowhere.db");
        elsewhere.more.push(("COUNTERSIGN_DATABASE_URL", format!("sqlite://{}", file.display())));
        for arguments in [&["user", "list"][..], &["wallet", "block", &wallet.address()], &["group", "create", "a"], &["access", "show", "a"]] {
            let ended = elsewhere.run(arguments);
            assert!(ended.code == 1 && ended.err.contains("there is no database"), "{ended:?}");
        }
        assert!(!file.exists());
    }
}
