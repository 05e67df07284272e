//! Writes a database as people, applications and an operator leave it: everything goes through the program's own
//! interfaces, so any release can write it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::{Browser, Client, Database, Parameters, Request, Server, Site, Tokens, Wallet};
use serde_json::{Value, json};

use crate::kept::{Kept, server};

/// A client, a group and a resource that a file declares.
const DECLARED: &str = r#"
[[group]]
name = "editors"

[[client]]
name = "Declared"
redirect_uris = ["https://declared.example/cb"]
scope = "openid profile"
secret_env = "DECLARED_SECRET"
"#;

/// The time of this machine, in seconds.
#[expect(
    clippy::disallowed_methods,
    reason = "the server's clock, which this is compared with, is this machine's"
)]
pub(crate) fn now() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}

/// Wallets of people, by the seeds of their keys.
pub(crate) const ANN: u64 = 900_001;
pub(crate) const ANNS_SECOND: u64 = 900_002;
pub(crate) const BOB: u64 = 900_003;
pub(crate) const CAROL: u64 = 900_004;
const DAVE: u64 = 900_005;

const API: &str = "https://api.example.com";

/// What happens until the database is kept.
struct Life<'a> {
    database: &'a Database,
    site: Site,
}

/// Fills an empty database and keeps it.
pub(crate) fn write(kept: &Kept) {
    let database = kept.empty();
    let mut server = server(&database).start();
    let life = Life { database: &database, site: server.site() };
    let mut known = life.live();
    life.wait_until_sealed();
    known["checkpoints"] = database.operate(&["event", "checkpoints"]);
    known["events"] =
        database.operate(&["event", "list", "--limit", "1000"]).as_array().unwrap().len().into();
    known["users"] = database.operate(&["user", "list"]);
    known["export"] = export(&database).into();
    known["keys"] = server.get("/oauth/jwks").expect(200).json();
    known["written_at"] = now().into();
    stop(&mut server);
    kept.keep(&database, &known);
}

/// What `export` prints, which is a file and not JSON.
fn export(database: &Database) -> String {
    let done = database.operator(&["export"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn stop(server: &mut Server) {
    let stopped = server.terminate();
    assert!(stopped.success(), "{stopped}");
}

impl Life<'_> {
    fn live(&self) -> Value {
        let [ann, second, bob, carol, dave] = [ANN, ANNS_SECOND, BOB, CAROL, DAVE].map(Wallet::from_seed);
        self.operate(&["group", "create", "staff", "--title", "Everyone who works here"]);
        self.operate(&["group", "add", "staff", &caip10(&bob)]);
        let scopes = [
            "--scope",
            "photos.read=See your photos",
            "--scope",
            "photos.admin",
            "--needs",
            "photos.admin=staff",
        ];
        self.operate(&[&["resource", "create", API], &scopes[..]].concat());
        self.apply();

        let album = Client::of(&self.operate(&[
            "client",
            "create",
            "--name",
            "Album",
            "--redirect-uri",
            "https://album.example/cb",
            "--scope",
            "openid profile offline_access groups photos.read photos.admin",
        ]));
        self.operate(&["access", "set", &album.id, "everyone", "--release", "all"]);
        let program = Client::of(&self.operate(&[
            "client",
            "create",
            "--name",
            "Program",
            "--grant-type",
            "client_credentials",
        ]));
        let guarded = Client::of(&self.operate(&[
            "client",
            "create",
            "--name",
            "Guarded",
            "--redirect-uri",
            "https://guarded.example/cb",
        ]));
        self.operate(&["access", "set", &guarded.id, "groups:staff"]);
        let rotated = self.operate(&["client", "rotate-secret", &guarded.id, "--keep-old", "864000"]);
        let own = self.site.register();
        let public = self.site.register_public();

        let scope = "openid profile offline_access groups photos.read photos.admin";
        let (mut remembered, code) = self.sign_in(&album, &ann, scope, true);
        let (of_ann, used) = (Tokens::of(self.site.exchange(&album, &code)), code);
        let old = of_ann.refresh;
        let of_ann = Tokens::of(self.site.refresh(&album, &old));
        self.link(&ann, &second);
        self.add_email(&mut remembered);
        let (_, code) = self.sign_in(&album, &bob, scope, false);
        let of_bob = Tokens::of(self.site.exchange(&album, &code));
        let (_, code) = self.sign_in(&guarded, &bob, "profile", false);
        let guarded_tokens = Tokens::of(self.site.exchange(&guarded, &code));
        let (_, code) = self.sign_in(&public, &ann, "profile", false);
        let of_public = Tokens::of(self.site.exchange(&public, &code));
        let (_, code) = self.sign_in(&own, &carol, "profile", false);
        let of_carol = Tokens::of(self.site.exchange(&own, &code));
        let (_, code) = self.sign_in(&own, &dave, "profile", false);
        let revoked = Tokens::of(self.site.exchange(&own, &code));
        self.site.revoke(&own, &revoked.refresh).expect(200);
        let program_token = self
            .site
            .token(&program.identify(Parameters::of(&[("grant_type", "client_credentials")])))
            .expect(200)
            .field("access_token");
        self.leave_requests_pending(&album);

        self.operate(&["user", "block", &caip10(&carol), "--reason", "lost her keys"]);
        self.operate(&["user", "delete", &caip10(&dave), "--yes"]);
        self.operate(&["wallet", "block", &caip10(&Wallet::from_seed(DAVE))]);
        self.operate(&["admin-key", "create", "--name", "CI", "--scope", "clients:read"]);
        self.operate(&["key", "rotate"]);

        let living = |client: &Client, tokens: &Tokens| {
            let told = self.site.userinfo(&tokens.access).expect(200).json();
            json!({"client": shown(client), "access": tokens.access, "refresh": tokens.refresh, "userinfo": told})
        };
        json!({
            "living": [
                living(&album, &of_ann),
                living(&album, &of_bob),
                living(&guarded, &guarded_tokens),
                living(&public, &of_public),
            ],
            "program": {"client": shown(&program), "access": program_token},
            "old_secret": {"client": shown(&guarded), "new": rotated["client_secret"]},
            "remembered": {"client": shown(&album), "cookies": remembered.cookies},
            "ended": [
                {"client": shown(&own), "access": of_carol.access, "refresh": of_carol.refresh},
                {"client": shown(&own), "access": revoked.access, "refresh": revoked.refresh},
            ],
            "used": {"client": shown(&album), "code": used, "refresh": old},
        })
    }

    /// Signs in. Returns the browser, and the code.
    fn sign_in(&self, client: &Client, wallet: &Wallet, scope: &str, remember: bool) -> (Browser, String) {
        let mut browser = self.site.browser();
        let authorization = client.authorization().with("scope", scope);
        let mut body = browser.prepare_with(&authorization, wallet).json();
        body["remember"] = remember.into();
        let answer = browser.send(Request::json("/oauth/login", &body)).expect(303);
        (browser, answer.answer("code").unwrap())
    }

    fn link(&self, mine: &Wallet, other: &Wallet) {
        let mut browser = self.site.browser();
        let body = json!({
            "change": "link",
            "wallet_address": mine.address(),
            "other_wallet_address": other.address(),
        });
        let texts = browser.send(Request::json("/account/wallets/challenge", &body)).expect(200);
        let (text, others) = (texts.field("challenge"), texts.field("other_challenge"));
        let body = json!({
            "form": texts.field("form"),
            "challenge": text,
            "signature": mine.sign(&text),
            "other_challenge": others,
            "other_signature": other.sign(&others),
        });
        browser.send(Request::json("/account/wallets/link", &body)).expect(200);
    }

    fn add_email(&self, browser: &mut Browser) {
        let form = Parameters::of(&[("email", "ann@example.com")]);
        browser.press(Request::form("/account/email", &form).header("Accept", "text/html")).expect(303);
    }

    /// A request that was pushed, and a device that waits.
    fn leave_requests_pending(&self, client: &Client) {
        let pushed = client.identify(client.authorization());
        self.site.send(&Request::form("/oauth/par", &pushed)).expect(201);
        let device = self.site.register_with(&json!({
            "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token", "authorization_code"],
        }));
        let form = device.identify(Parameters::of(&[("scope", "profile")]));
        self.site.send(&Request::form("/oauth/device_authorization", &form)).expect(200);
    }

    fn apply(&self) {
        let file = self.database.folder().join("declared.toml");
        fs::write(&file, DECLARED).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let mut apply = self.database.operator(&["apply", &file.display().to_string(), "--output", "json"]);
        let done = apply.env("DECLARED_SECRET", "0123456789abcdef0123456789abcdef").output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn operate(&self, arguments: &[&str]) -> Value {
        self.database.operate(arguments)
    }

    fn wait_until_sealed(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.database.number("SELECT count(*) FROM fresh_events") > 0 {
            assert!(Instant::now() < deadline, "the events are not sealed after a minute");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn caip10(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

fn shown(client: &Client) -> Value {
    json!({
        "client_id": client.id,
        "client_secret": client.secret,
        "redirect_uris": [client.redirect_uri],
        "registration_access_token": client.registration_token,
    })
}
