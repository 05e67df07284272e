//! F-22 and the second sentence on real databases: random histories at two servers, some of which are killed in the middle of an act or start
//! again with another clock. After each act, what differs in the database is explained by the events since, and each of them explains a
//! difference. In the end the record is in order. (`usecases/src/tests/histories.rs` does the same 100,000 times in memory, row by row.)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use countersign_tests::jose::claims_of;
use countersign_tests::{Browser, Client, Database, Request, Response, Server, Tokens, Wallet, on_both};
use serde_json::{Value, json};

use crate::admin::{Admin, encoded, mighty, request};

/// What acts change: a name, and the columns in which a change needs an event. All columns if none are named, except [`WRITTEN_BEHIND`].
const TABLES: [(&str, &str); 19] = [
    ("clients", ""),
    ("user_groups", ""),
    ("group_users", ""),
    ("group_wallets", ""),
    ("blocked_users", ""),
    ("blocked_wallets", ""),
    ("named_users", ""),
    ("named_wallets", ""),
    ("resources", ""),
    ("resource_scopes", ""),
    ("users", "id"),
    ("wallets", "address"),
    ("admin_keys", "id"),
    ("consents", "client_id"),
    ("signed_consents", "client_id"),
    ("emails", ""),
    ("login_sessions", "id"),
    ("grants", "id, revoked_at"),
    ("signing_keys", "kid"),
];

/// What a server notes behind the requests: when a client was last used.
const WRITTEN_BEHIND: [&str; 1] = ["used_at"];

/// The kinds of events that a server writes by itself.
const OF_THE_SERVER: [&str; 3] = ["key_activated", "upgraded", "host_noted"];

/// What the events of a kind can tell of.
fn told(kind: &str) -> &'static [&'static str] {
    match kind {
        "sign_in" => &["users", "wallets", "grants", "login_sessions", "consents", "signed_consents"],
        "sign_in_continued" => &["grants", "login_sessions"],
        "sign_out" | "session_ended" | "user_signed_out" | "grant_revoked" => &["grants", "login_sessions"],
        "consent_revoked" => &["consents", "signed_consents", "grants"],
        "client_registered" => &["clients"],
        "client_changed" | "access_changed" => &["clients"],
        "client_deleted" => &["clients", "grants", "signed_consents", "consents"],
        "secret_rotated" => &["clients"],
        "user_blocked" | "user_unblocked" => &["blocked_users", "grants", "login_sessions"],
        "wallet_blocked" | "wallet_unblocked" => &["blocked_wallets", "grants", "login_sessions"],
        "user_named" => &["named_users"],
        "wallet_named" => &["named_wallets"],
        "group_created" | "group_changed" => &["user_groups"],
        "group_deleted" => &["user_groups", "group_users", "group_wallets"],
        "group_member_added" | "group_member_removed" => &["group_users", "group_wallets"],
        "resource_created" | "resource_changed" | "resource_deleted" => &["resources", "resource_scopes"],
        "account_deleted" => &[
            "users",
            "wallets",
            "grants",
            "login_sessions",
            "consents",
            "signed_consents",
            "group_users",
            "blocked_users",
            "named_users",
            "named_wallets",
            "emails",
        ],
        other => panic!("{other} comes from no act"),
    }
}

/// What is in the tables, and the kinds of the events by their ids.
struct Seen {
    rows: BTreeMap<&'static str, Vec<String>>,
    events: BTreeMap<String, String>,
}

impl Seen {
    /// One query, because a program runs for each.
    fn of(database: &Database) -> Self {
        let id = shown(database, "id");
        let mut queries: Vec<_> = TABLES
            .iter()
            .map(|(table, columns)| {
                let columns: Vec<_> = match *columns {
                    "" => vec![database.row_of(table, &WRITTEN_BEHIND)],
                    named => named.split(", ").map(|column| shown(database, column)).collect(),
                };
                format!("SELECT '{table} ' || {} AS word FROM {table} t", columns.join(" || ' ' || "))
            })
            .collect();
        queries.extend(
            ["fresh_events", "events"]
                .map(|table| format!("SELECT 'event ' || {id} || ' ' || kind AS word FROM {table}")),
        );
        let mut seen =
            Self { rows: TABLES.map(|(table, _)| (table, Vec::new())).into(), events: BTreeMap::new() };
        for line in database.words(&queries.join(" UNION ALL ")) {
            let (name, rest) = line.split_once(' ').unwrap();
            if let Some((_, rows)) = seen.rows.iter_mut().find(|(table, _)| **table == name) {
                rows.push(rest.to_owned());
            } else if let Some((id, kind)) =
                rest.split_once(' ').filter(|(_, kind)| !OF_THE_SERVER.contains(kind))
            {
                seen.events.insert(id.to_owned(), kind.to_owned());
            }
        }
        seen.rows.values_mut().for_each(|rows| rows.sort());
        seen
    }
}

fn shown(database: &Database, column: &str) -> String {
    if database.is_postgres() { format!("coalesce({column}::text, '')") } else { format!("quote({column})") }
}

/// Numbers that look random (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % sides
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(items[self.roll(items.len())].clone()) }
    }
}

struct History {
    servers: [(Server, Admin); 2],
    key: String,
    dice: Dice,
    clients: Vec<(Client, Value)>,
    tokens: Vec<(Client, Tokens)>,
    wallets: Vec<Arc<Wallet>>,
    kills: u32,
}

const GROUPS: [&str; 3] = ["staff", "guests", "crew"];
const URIS: [&str; 2] = ["https://one.example", "https://two.example"];
const ACTS: [&str; 24] = [
    "register",
    "create",
    "change",
    "change itself",
    "delete client",
    "rotate",
    "access",
    "create group",
    "retitle",
    "delete group",
    "add",
    "add",
    "remove",
    "block",
    "block",
    "unblock",
    "sign out",
    "delete user",
    "resource",
    "declare",
    "undeclare",
    "sign in",
    "refresh",
    "revoke",
];

fn album(number: usize) -> Value {
    let uris = [
        json!(["https://photos.example/cb"]),
        json!(["https://photos.example/cb", "https://photos.example/two"]),
    ];
    let (name, uris) = (["Photos", "Albums"][number % 2], &uris[number / 2 % 2]);
    json!({"client_name": name, "redirect_uris": uris, "scope": "profile openid"})
}

impl History {
    fn start(database: &Database) -> Self {
        let (server, admin) = Admin::start(database);
        let beside = Admin::beside(&server);
        let seed = env::var("SEED").map_or(1, |seed| seed.parse::<u64>().unwrap());
        Self {
            servers: [(server, admin), beside],
            key: mighty(database),
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            clients: Vec::new(),
            tokens: Vec::new(),
            wallets: (0..4).map(|_| Arc::new(Wallet::fresh())).collect(),
            kills: 0,
        }
    }

    /// Someone, by the id of a user or by an address.
    fn who(&mut self) -> String {
        let wallet = self.dice.pick(&self.wallets).unwrap();
        let users = &self.tokens;
        match self.dice.pick(users) {
            Some((_, tokens)) if self.dice.roll(2) == 0 => {
                claims_of(&tokens.access)["sub"].as_str().unwrap().to_owned()
            }
            Some(_) | None => wallet.address().to_owned(),
        }
    }

    /// An act as one request to the admin interface. `None` if there is nothing yet to do it to.
    fn request(&mut self, act: &str) -> Option<Request> {
        let (one, two) = (self.dice.roll(4), self.dice.roll(3));
        let client = self.dice.pick(&self.clients).map(|(client, _)| format!("/clients/{}", client.id));
        let group = GROUPS[self.dice.roll(3)];
        let uri = URIS[one % 2];
        let (open_to, scope) = (["everyone", "named"][two % 2], ["one.read", "two.read"][one % 2]);
        let resource = json!({"uri": uri, "open_to": open_to, "scopes": [{"name": scope}]});
        let rule = ["everyone", "nobody", "groups:staff"][two];
        let title = ["Staff", "All", "Some"][two];
        let reason = ["spam", "fraud", "theft"][two];
        let asked = |method: &str, path: &str, body: Option<Value>| {
            Some(request(method, path, body.as_ref()).bearer(&self.key))
        };
        match act {
            "create" => asked("POST", "/clients", Some(album(one))).map(|request| {
                if two == 0 { request.header("Idempotency-Key", &format!("client-{one}")) } else { request }
            }),
            "change" => {
                asked("PATCH", &client?, Some(album(one))).map(|request| request.header("If-Match", "*"))
            }
            "delete client" => asked("DELETE", &client?, None),
            "rotate" => asked("POST", &format!("{}/secret", client?), Some(json!({}))),
            "access" => asked("PUT", &format!("{}/access", client?), Some(json!({"rule": rule}))),
            "create group" => asked("POST", "/groups", Some(json!({"name": group}))),
            "retitle" => asked("PATCH", &format!("/groups/{group}"), Some(json!({"title": title}))),
            "delete group" => asked("DELETE", &format!("/groups/{group}?force=true"), None),
            "declare" | "resource" => {
                let path = format!("/resources/{}?force=true", encoded(uri));
                if act == "declare" {
                    asked("POST", "/resources", Some(resource))
                } else {
                    asked("PUT", &path, Some(json!({"open_to": open_to, "scopes": [{"name": scope}]})))
                }
            }
            "undeclare" => asked("DELETE", &format!("/resources/{}?force=true", encoded(uri)), None),
            _ => {
                let who = self.who();
                let asked = |method: &str, path: &str, body: Option<Value>| {
                    Some(request(method, path, body.as_ref()).bearer(&self.key))
                };
                let kind = if who.contains('-') { "users" } else { "wallets" };
                match act {
                    "add" | "remove" => asked(
                        "POST",
                        &format!("/groups/{group}/members/{act}"),
                        Some(json!({"members": [who]})),
                    ),
                    "block" => asked("PUT", &format!("/{kind}/{who}/block"), Some(json!({"reason": reason}))),
                    "unblock" => asked("DELETE", &format!("/{kind}/{who}/block"), None),
                    "sign out" => asked("POST", &format!("/users/{who}/sign-out"), None),
                    "delete user" => asked("DELETE", &format!("/users/{who}"), None),
                    other => panic!("{other} is no act"),
                }
            }
        }
    }

    /// Carries out one act at one of the servers. Returns what was asked and answered, for messages.
    fn act(&mut self, act: &str) -> String {
        let place = self.dice.roll(2);
        let client = self.dice.pick(&self.clients);
        let site = self.servers[place].0.site();
        match act {
            "register" => {
                let registered = site.send(&Request::json("/oauth/clients", &album(self.dice.roll(4))));
                self.keep(&registered);
                format!("{registered:?}")
            }
            "change itself" => {
                let Some((client, registered)) = client else { return String::new() };
                let Some(token) = registered["registration_access_token"].as_str() else {
                    return String::new();
                };
                let name = ["Photos", "Albums"][self.dice.roll(2)];
                let body = json!({"client_id": client.id, "client_name": name,
                    "redirect_uris": registered["redirect_uris"], "scope": registered["scope"]});
                let request = Request::new("PUT", &format!("/oauth/clients/{}", client.id));
                format!("{:?}", site.send(&request.typed("application/json", body.to_string()).bearer(token)))
            }
            "sign in" => {
                let Some((client, _)) = client else { return String::new() };
                let wallet = self.dice.pick(&self.wallets).unwrap();
                let (mut browser, asked) = (site.browser(), client.authorization());
                browser.authorize(&asked);
                let challenge = browser.send(Browser::challenge_request(&asked, &wallet.address()));
                if challenge.status != 200 {
                    return format!("{challenge:?}");
                }
                let login = Browser::login_body(&asked, &wallet, &challenge.field("challenge"));
                let answered = browser.login(&login);
                let code = if answered.status == 303 { answered.answer("code") } else { None };
                if let Some(code) = code {
                    let exchanged = site.exchange(&client, &code);
                    if exchanged.status == 200 {
                        self.tokens.push((client, Tokens::of(exchanged)));
                    }
                }
                format!("{answered:?}")
            }
            "refresh" | "revoke" => {
                let Some((client, tokens)) = self.dice.pick(&self.tokens) else { return String::new() };
                if act == "revoke" {
                    return format!("{:?}", site.revoke(&client, &tokens.refresh));
                }
                // Half of them were used before, which ends the grant.
                let refreshed = site.refresh(&client, &tokens.refresh);
                if refreshed.status == 200 {
                    self.tokens.push((client, Tokens::of(refreshed.clone())));
                }
                format!("{refreshed:?}")
            }
            _ => {
                let Some(request) = self.request(act) else { return String::new() };
                if self.dice.roll(12) == 0 {
                    self.kill_during(place, &request);
                    return format!("killed during {request:?}");
                }
                let answered = self.servers[place].1.send(&request);
                if request.method == "POST" && request.target.ends_with("/clients") {
                    self.keep(&answered);
                }
                format!("{request:?}\n{answered:?}")
            }
        }
    }

    fn keep(&mut self, registered: &Response) {
        if registered.status == 201 {
            let registered = registered.json();
            self.clients.push((Client::of(&registered), registered));
            if self.clients.len() > 6 {
                self.clients.remove(0);
            }
        }
    }

    /// Kills the server while it works, and starts it again, perhaps with another clock.
    fn kill_during(&mut self, place: usize, request: &Request) {
        let (wait, off) = (self.dice.roll(6_000), [0, 0, 90, -90][self.dice.roll(4)]);
        let (server, admin) = &mut self.servers[place];
        let (asking, asked) = (admin.clone(), request.clone());
        let waiting = thread::spawn(move || drop(asking.try_send(&asked)));
        thread::sleep(Duration::from_micros(u64::try_from(wait).unwrap()));
        server.kill9();
        waiting.join().unwrap();
        server.set_clock(off);
        server.restart();
        admin.wait();
        self.kills += 1;
    }
}

on_both! {
    fn f_22_acts_and_events_agree_at_two_servers_that_are_killed(database) {
        let acts = env::var("ACTS").map_or(120, |acts| acts.parse::<u32>().unwrap());
        let mut history = History::start(database);
        let mut before = Seen::of(database);
        let (mut some, mut kinds) = (0, BTreeSet::new());
        for _ in 0..acts {
            let act = ACTS[history.dice.roll(ACTS.len())];
            let what = history.act(act);
            let after = Seen::of(database);
            let changed: BTreeSet<_> =
                TABLES.iter().map(|(table, _)| *table).filter(|table| before.rows[table] != after.rows[table]).collect();
            let news: Vec<_> = after.events.iter().filter(|(id, _)| !before.events.contains_key(*id)).map(|(_, kind)| kind.as_str()).collect();
            let explained: BTreeSet<_> = news.iter().flat_map(|kind| told(kind)).copied().collect();
            assert!(changed.is_subset(&explained), "{act}: {changed:?} changed, and the events are {news:?}: {what}");
            for kind in &news {
                assert!(told(kind).iter().any(|table| changed.contains(table)), "{act}: {kind} did not happen, only {changed:?}: {what}");
            }
            some += u32::from(!changed.is_empty());
            kinds.extend(news.iter().map(|kind| (*kind).to_owned()));
            before = after;
        }
        println!("{acts} acts: {some} changed something, {} kinds of events, {} kills", kinds.len(), history.kills);
        assert!(some > acts / 5 && kinds.len() > 10, "{some} {kinds:?}");
        let verified = database.operator(&["event", "verify"]).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
}
