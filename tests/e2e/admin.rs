//! The admin interface: what keys open, what nothing opens, and that of two who read the same one changes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::http::Connection;
use countersign_tests::secrets::Secrets;
use countersign_tests::server::free_port;
use countersign_tests::{Database, Request, Response, Server, Wallet, on_both};
use serde_json::{Value, json};

const BASE: &str = "/admin/api/v1";
const SCOPES: [&str; 10] = [
    "clients:read",
    "clients:write",
    "users:read",
    "users:write",
    "groups:read",
    "groups:write",
    "events:read",
    "events:write",
    "keys:read",
    "keys:write",
];
/// A user's id that nobody has.
const NOBODY: &str = "5f3c2d1e-0000-4000-8000-000000000001";

/// The listener of the admin interface of one server.
#[derive(Clone)]
pub(crate) struct Admin {
    address: SocketAddr,
    secrets: Arc<Secrets>,
}

impl Admin {
    /// Starts a server with an admin interface.
    pub(crate) fn start(database: &Database) -> (Server, Self) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let server = database.server().with_env("COUNTERSIGN_ADMIN_LISTEN", &address.to_string()).start();
        let admin = Self { address, secrets: database.secrets() };
        admin.wait();
        (server, admin)
    }

    /// Another process on the same database.
    pub(crate) fn beside(server: &Server) -> (Server, Self) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let settings = server.database().server().with_public_url(&server.public_url);
        let replica = settings.with_env("COUNTERSIGN_ADMIN_LISTEN", &address.to_string()).start();
        let admin = Self { address, secrets: server.database().secrets() };
        admin.wait();
        (replica, admin)
    }

    pub(crate) fn wait(&self) {
        let begun = Instant::now();
        while Connection::open(self.address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the admin interface does not listen");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn send(&self, request: &Request) -> Response {
        self.try_send(request).unwrap()
    }

    /// The same, if the connection may fail.
    pub(crate) fn try_send(&self, request: &Request) -> io::Result<Response> {
        self.secrets.learn_request(request);
        let host = self.address.to_string();
        let response = Connection::open(self.address)?.send_last(&host, request)?;
        self.secrets.learn_response(&response);
        check(request, &response);
        Ok(response)
    }

    fn ask(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Response {
        self.send(&request(method, path, body).bearer(key))
    }

    /// Sends a request that must be answered with this status, and returns the answer.
    #[track_caller]
    fn done(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Value {
        let response = self.ask(key, method, path, body);
        assert!((200..300).contains(&response.status), "{method} {path}: {response:?}");
        if response.body.is_empty() { Value::Null } else { response.json() }
    }

    #[track_caller]
    fn refused(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        let response = self.ask(key, method, path, body);
        let problem = response.json();
        let field = problem["field"].as_str().unwrap_or_default().to_owned();
        assert!(response.status >= 400, "{method} {path}: {response:?}");
        (response.status, field)
    }
}

pub(crate) fn request(method: &str, path: &str, body: Option<&Value>) -> Request {
    let request = Request::new(method, &format!("{BASE}{path}"));
    match body {
        Some(body) => request.typed("application/json", body.to_string()),
        None => request,
    }
}

/// What must hold for every answer.
#[track_caller]
fn check(request: &Request, response: &Response) {
    let at = format!("{} {}", request.method, request.target);
    assert_ne!(response.status, 500, "{at}: {response:?}");
    assert!(response.header("X-Request-Id").is_some_and(|id| !id.is_empty()), "{at}: {response:?}");
    assert_eq!(response.header("X-Content-Type-Options"), Some("nosniff"), "{at}");
    assert!(response.header("Content-Security-Policy").is_some(), "{at}");
    assert_eq!(response.all("Set-Cookie").count(), 0, "{at}: {response:?}");
    let cors = response.headers.iter().find(|(name, _)| name.to_lowercase().starts_with("access-control-"));
    assert_eq!(cors, None, "{at}");
    if !request.target.contains("/assets/") || response.status != 200 {
        assert_eq!(response.header("Cache-Control"), Some("no-store"), "{at}: {response:?}");
    }
    if response.status >= 400 && request.method != "HEAD" {
        assert_eq!(response.header("Content-Type"), Some("application/problem+json"), "{at}: {response:?}");
        let problem = response.json();
        let kind = problem["type"].as_str().unwrap();
        assert!(kind.starts_with("urn:countersign:problem:"), "{at}: {problem}");
        assert_eq!(problem["status"], response.status, "{at}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{at}: {problem}");
    }
    if response.status == 401 {
        assert!(
            response.header("WWW-Authenticate").is_some_and(|scheme| scheme.starts_with("Bearer ")),
            "{at}"
        );
    }
}

fn key(database: &Database, name: &str, scopes: &[&str]) -> String {
    let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
    let arguments: Vec<&str> = ["admin-key", "create", "--name", name].into_iter().chain(scopes).collect();
    database.operate(&arguments)["key"].as_str().unwrap().to_owned()
}

pub(crate) fn mighty(database: &Database) -> String {
    key(database, "mighty", &["clients:write", "users:write", "groups:write", "events:write", "keys:write"])
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "%{byte:02X}");
        text
    })
}

fn album() -> Value {
    json!({"client_name": "Album", "redirect_uris": ["https://album.example/cb"], "scope": "openid profile"})
}

on_both! {
    fn a_program_manages_clients_access_and_resources(database) {
        let (server, admin) = Admin::start(database);
        let key = mighty(database);
        let created = admin.done(&key, "POST", "/clients", Some(&album()));
        let path = format!("/clients/{}", created["client_id"].as_str().unwrap());
        assert_eq!((created["registered_by"].as_str(), created["scope"].as_str()), (Some("operator"), Some("openid profile")));
        let secret = created["client_secret"].as_str().unwrap();
        let client = countersign_tests::Client::of(&created);
        assert!(server.sign_in(&client).len() > 20);
        let shown = admin.done(&key, "GET", &path, None);
        assert!(shown.get("client_secret").is_none() && !shown.to_string().contains(secret));

        let changed = json!({"client_name": "Photos", "logo_uri": "https://album.example/logo.png"});
        let changed = admin.done(&key, "PATCH", &path, Some(&changed));
        assert_eq!((&changed["client_name"], &changed["scope"]), (&json!("Photos"), &json!("openid profile")));
        let changed = admin.done(&key, "PATCH", &path, Some(&json!({"logo_uri": null})));
        assert!(changed.get("logo_uri").is_none() && changed["client_name"] == "Photos");
        assert_eq!(admin.refused(&key, "PATCH", &path, Some(&json!({"redirect_uris": ["ftp://x"]}))), (400, "redirect_uris".to_owned()));
        assert_eq!(admin.refused(&key, "PATCH", &path, Some(&json!({"resources": []}))), (400, "resources".to_owned()));

        let rotated = admin.done(&key, "POST", &format!("{path}/secret"), Some(&json!({"keep_old": 600})));
        assert!(rotated["old_secret_expires_at"].is_string() && rotated["client_secret"] != created["client_secret"]);
        let secrets = admin.done(&key, "GET", &format!("{path}/secrets"), None);
        assert_eq!(secrets["items"].as_array().map(Vec::len), Some(2));

        let scopes = json!([{"name": "photos.read", "title": "See your photos", "titles": {"de": "Deine Fotos sehen"}}]);
        let declared = json!({"uri": "https://api.example/v1", "open_to": "named", "scopes": scopes});
        admin.done(&key, "POST", "/resources", Some(&declared));
        let again = json!({"uri": "https://api.example/v1", "scopes": []});
        assert_eq!(admin.refused(&key, "POST", "/resources", Some(&again)).0, 409);
        let resource = format!("/resources/{}", encoded("https://api.example/v1"));
        assert_eq!(admin.done(&key, "GET", &resource, None)["scopes"][0]["titles"]["de"], "Deine Fotos sehen");
        let uris = json!({"resources": ["https://api.example/v1"]});
        let opened = admin.done(&key, "POST", &format!("{path}/resources/open"), Some(&uris));
        assert_eq!(opened["resources"], uris["resources"]);
        assert_eq!(admin.refused(&key, "DELETE", &resource, None).0, 409);
        let closed = admin.done(&key, "POST", &format!("{path}/resources/close"), Some(&uris));
        assert_eq!(closed["resources"], json!([]));
        let unknown = json!({"resources": ["https://other.example"]});
        let refused = admin.ask(&key, "POST", &format!("{path}/resources/open"), Some(&unknown)).status;
        assert!(refused == 409 || refused == 200, "{refused}: on loopback any URI is one");
        let fewer = json!({"scopes": []});
        assert_eq!(admin.done(&key, "PUT", &format!("{resource}?force=true"), Some(&fewer))["open_to"], "everyone");
        admin.done(&key, "DELETE", &resource, None);
        assert_eq!(admin.refused(&key, "GET", &resource, None), (404, "uri".to_owned()));

        let access = format!("{path}/access");
        assert_eq!(admin.refused(&key, "PUT", &access, Some(&json!({"rule": "groups:staff"}))).0, 409);
        admin.done(&key, "POST", "/groups", Some(&json!({"name": "staff", "title": "Staff"})));
        let set = admin.done(&key, "PUT", &access, Some(&json!({"rule": "groups:staff", "release": "all"})));
        assert_eq!((&set["rule"], &set["release"], &set["groups"][0]["users"]), (&json!("groups:staff"), &json!("all"), &json!(0)));
        assert_eq!(admin.done(&key, "GET", &access, None), set);
        assert_eq!(admin.refused(&key, "PUT", &access, Some(&json!({"rule": "all"}))), (400, "rule".to_owned()));

        let listed = admin.done(&key, "GET", "/clients?limit=1", None);
        assert_eq!(listed["items"][0]["client_id"], created["client_id"], "{listed}");
        admin.done(&key, "DELETE", &path, None);
        assert_eq!(admin.refused(&key, "GET", &path, None), (404, "client_id".to_owned()));
        assert_eq!(admin.refused(&key, "DELETE", &path, None).0, 404);
    }

    fn a_program_manages_users_wallets_groups_and_keys(database) {
        let (server, admin) = Admin::start(database);
        let key = mighty(database);
        let client = server.register();
        let wallet = Wallet::fresh();
        let tokens = server.tokens(&client);
        let user = server.userinfo(&tokens.access).expect(200).field("sub");
        let shown = admin.done(&key, "GET", &format!("/users/{user}"), None);
        let account = shown["wallets"][0].as_str().unwrap().to_owned();
        assert_eq!(admin.done(&key, "GET", &format!("/users/{}", encoded(&account)), None), shown);
        assert_eq!(shown["grants"][0]["client"], client.id.as_str());

        admin.done(&key, "POST", "/groups", Some(&json!({"name": "staff"})));
        let members = json!({"members": [user, wallet.address(), user]});
        let added = admin.done(&key, "POST", "/groups/staff/members/add", Some(&members));
        assert_eq!(added["items"].as_array().map(Vec::len), Some(2));
        let listed = admin.done(&key, "GET", "/groups/staff/members?limit=1", None);
        assert_eq!(listed["items"][0]["user"], user.as_str());
        let next = listed["next"].as_str().unwrap();
        let listed = admin.done(&key, "GET", &format!("/groups/staff/members?limit=1&after={next}"), None);
        assert!(listed["items"][0]["wallet"].is_string() && listed.get("next").is_none(), "{listed}");
        assert_eq!(admin.done(&key, "GET", "/users?group=staff", None)["items"][0]["id"], user.as_str());
        assert_eq!(admin.refused(&key, "DELETE", "/groups/staff", None).0, 409);
        let titled = admin.done(&key, "PATCH", "/groups/staff", Some(&json!({"title": "All of us"})));
        assert_eq!((&titled["title"], &titled["users"], &titled["wallets"]), (&json!("All of us"), &json!(1), &json!(1)));
        let removed = admin.done(&key, "POST", "/groups/staff/members/remove", Some(&members));
        assert_eq!(removed["items"][0]["removed"], true);
        admin.done(&key, "DELETE", "/groups/staff", None);
        let nobody = json!({"members": [NOBODY]});
        assert_eq!(admin.refused(&key, "POST", "/groups/staff/members/add", Some(&nobody)).0, 404);
        let unclear = json!({"members": ["somebody"]});
        assert_eq!(admin.refused(&key, "POST", "/groups/staff/members/add", Some(&unclear)), (400, "members[0]".to_owned()));

        let reason = json!({"reason": "lost phone"});
        let blocked = admin.done(&key, "PUT", &format!("/users/{user}/block"), Some(&reason));
        assert_eq!((&blocked["already"], blocked["grants_ended"].as_u64() > Some(0)), (&json!(false), true));
        server.userinfo(&tokens.access).expect(401);
        let again = admin.done(&key, "PUT", &format!("/users/{user}/block"), Some(&json!({})));
        assert_eq!(again["already"], true);
        assert_eq!(admin.done(&key, "GET", "/users?blocked=true", None)["items"][0]["blocked"]["reason"], "lost phone");
        let unblocked = admin.done(&key, "DELETE", &format!("/users/{user}/block"), None);
        assert_eq!(unblocked["was_blocked"], true);
        assert_eq!(admin.done(&key, "DELETE", &format!("/users/{user}/block"), None)["was_blocked"], false);
        let outside = format!("/wallets/{}/block", wallet.address());
        admin.done(&key, "PUT", &outside, Some(&reason));
        assert_eq!(admin.done(&key, "GET", "/wallets?blocked=true", None)["items"].as_array().map(Vec::len), Some(1));
        assert_eq!(admin.done(&key, "DELETE", &outside, None)["was_blocked"], true);
        assert_eq!(admin.done(&key, "GET", "/wallets", None)["items"][0]["user"], user.as_str());
        let kept = admin.done(&key, "POST", &format!("/users/{user}/sign-out?keep_offline=true"), None);
        let ended = admin.done(&key, "POST", &format!("/users/{user}/sign-out"), None);
        assert_eq!((&kept["offline_access"], &ended["offline_access"]), (&json!("kept"), &json!("ended")));
        assert_eq!(admin.ask(&key, "DELETE", &format!("/users/{user}"), None).status, 200);
        assert_eq!(admin.refused(&key, "GET", &format!("/users/{user}"), None).0, 404);

        let before = admin.done(&key, "GET", "/keys", None);
        let rotated = admin.done(&key, "POST", "/keys/rotate", Some(&json!({"algorithm": "ES256"})));
        let count = |keys: &Value| keys["items"].as_array().map(Vec::len).unwrap();
        assert_eq!(count(&rotated), count(&before) + 1);
        assert_eq!(admin.refused(&key, "POST", "/keys/rotate", Some(&json!({"algorithm": "ES256"}))).0, 409);
        let next = rotated["items"].as_array().unwrap().iter().find(|key| key["state"] == "announced").unwrap();
        let path = format!("/keys/{}/withdraw", encoded(next["kid"].as_str().unwrap()));
        assert_eq!(admin.done(&key, "POST", &path, None)["state"], "withdrawn");
        assert_eq!(admin.refused(&key, "POST", &path, None).0, 409);
        assert_eq!(admin.refused(&key, "POST", "/keys/none/withdraw", None), (404, "kid".to_owned()));
    }

    fn a_key_of_one_scope_opens_what_its_scope_says_and_nothing_else(database) {
        let (_server, admin) = Admin::start(database);
        let document = admin.send(&Request::get(&format!("{BASE}/openapi.json"))).expect(200).json();
        let keys: Vec<(&str, String)> =
            SCOPES.iter().map(|scope| (*scope, key(database, &scope.replace(':', "-"), &[scope]))).collect();
        let (mut opened, mut closed) = (0, 0);
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let needed = operation["x-scope"].as_str().unwrap();
                let path = path
                    .replace("{client_id}", "01a1fd8c-0000-7000-8000-000000000001")
                    .replace("{uri}", "https%3A%2F%2Fnone.example")
                    .replace("{who}", NOBODY)
                    .replace("{name}", "none")
                    .replace("{kid}", "none");
                for (scope, key) in &keys {
                    let request = Request::new(&method.to_uppercase(), &path).bearer(key);
                    // A body that no operation reads, so that nothing is changed.
                    let request = request.typed("application/json", "{\"nothing\":1}");
                    let response = admin.send(&request);
                    let is_open = *scope == needed || scope.replace(":write", ":read") == needed;
                    if is_open {
                        assert!(![401, 403].contains(&response.status), "{scope} {method} {path}: {response:?}");
                        opened += 1;
                    } else {
                        assert_eq!(response.status, 403, "{scope} {method} {path}: {response:?}");
                        let challenge = response.header("WWW-Authenticate").unwrap();
                        assert!(challenge.contains(&format!("scope=\"{needed}\"")), "{challenge}");
                        assert!(response.field("detail").contains(needed), "{response:?}");
                        closed += 1;
                    }
                }
                let response = admin.send(&Request::new(&method.to_uppercase(), &path));
                assert_eq!(response.status, 401, "without a key: {method} {path}");
            }
        }
        println!("{opened} open, {closed} closed");
        assert!(opened + closed >= 360 && opened > 40, "{opened} {closed}");
    }

    fn a_revoked_key_is_refused_by_the_next_request_on_both_replicas(database) {
        let (server, here) = Admin::start(database);
        let (_replica, there) = Admin::beside(&server);
        for round in 0..5 {
            let name = format!("CI-{round}");
            let text = key(database, &name, &["clients:read"]);
            for _ in 0..3 {
                here.done(&text, "GET", "/clients", None);
                there.done(&text, "GET", "/clients", None);
            }
            let revoked = database.operate(&["admin-key", "revoke", &name]);
            assert_eq!((&revoked["state"], &revoked["name"]), (&json!("revoked"), &json!(name)));
            for admin in [&here, &there] {
                let response = admin.ask(&text, "GET", "/clients", None);
                assert_eq!(response.status, 401);
                assert!(response.header("WWW-Authenticate").unwrap().contains("error=\"invalid_token\""));
            }
        }
        let listed = database.operate(&["admin-key", "list"]);
        let used = listed.as_array().unwrap().iter().filter(|key| key["last_used_at"].is_string()).count();
        assert_eq!((listed.as_array().map(Vec::len), used), (Some(5), 5));
        let arguments = ["admin-key", "create", "--name", "short", "--scope", "clients:read", "--expires", "2"];
        let short = database.operate(&arguments)["key"].as_str().unwrap().to_owned();
        here.done(&short, "GET", "/clients", None);
        thread::sleep(Duration::from_millis(2_500));
        for admin in [&here, &there] {
            assert!(admin.ask(&short, "GET", "/clients", None).field("detail").contains("expired"));
        }
        for again in [["admin-key", "revoke", "CI-0"], ["admin-key", "revoke", "nobody"]] {
            assert_eq!(database.operator(&again).output().unwrap().status.code(), Some(1));
        }
        let taken = database.operator(&["admin-key", "create", "--name", "CI-0", "--scope", "keys:read"]).output();
        assert_eq!(taken.unwrap().status.code(), Some(1), "a name is given once");
    }

    fn of_many_writers_who_read_the_same_one_is_answered_and_the_others_get_412(database) {
        let (server, here) = Admin::start(database);
        let (_replica, there) = Admin::beside(&server);
        let key = mighty(database);
        here.done(&key, "POST", "/groups", Some(&json!({"name": "staff"})));
        let created = here.done(&key, "POST", "/clients", Some(&album()));
        let client = format!("/clients/{}", created["client_id"].as_str().unwrap());
        let declared = json!({"uri": "https://api.example", "scopes": []});
        here.done(&key, "POST", "/resources", Some(&declared));
        let resource = format!("/resources/{}", encoded("https://api.example"));
        let cases: Vec<(String, String, String, Vec<Value>)> = vec![
            (client.clone(), "PATCH".into(), client.clone(), vec![json!({"client_name": "N"}), json!({"contacts": ["N"]})]),
            (format!("{client}/access"), "PUT".into(), format!("{client}/access"), vec![json!({"rule": "nobody", "release": "all"}), json!({"rule": "everyone"})]),
            (client.clone(), "POST".into(), format!("{client}/secret"), vec![json!({}), json!({"keep_old": 60})]),
            ("/groups/staff".into(), "PATCH".into(), "/groups/staff".into(), vec![json!({"title": "N"})]),
            (resource.clone(), "PUT".into(), resource.clone(), vec![json!({"open_to": "named", "scopes": [{"name": "n.read"}]})]),
        ];
        let (mut won, mut lost) = (0, 0);
        for round in 0..4 {
            for (read, method, path, bodies) in &cases {
                let tag = here.ask(&key, "GET", read, None).header("ETag").unwrap().to_owned();
                let statuses: Vec<u16> = thread::scope(|scope| {
                    let writers: Vec<_> = (0..12_usize).map(|writer| {
                        let admin = if writer % 2 == 0 { &here } else { &there };
                        let name = format!("n{round}x{writer}");
                        let body = bodies[writer % bodies.len()].to_string();
                        let body: Value = serde_json::from_str(&body.replace("\"N\"", &format!("\"{name}\"")).replace("n.read", &format!("{name}.read"))).unwrap();
                        let request = request(method, path, Some(&body)).bearer(&key).header("If-Match", &tag);
                        scope.spawn(move || admin.send(&request).status)
                    }).collect();
                    writers.into_iter().map(|writer| writer.join().unwrap()).collect()
                });
                let good = statuses.iter().filter(|status| **status == 200).count();
                let stale = statuses.iter().filter(|status| **status == 412).count();
                // Two of the rules are the one that is there in some rounds: what changes nothing excludes nobody.
                let is_rule = path.ends_with("/access");
                assert_eq!(good + stale, 12, "{method} {path}: {statuses:?}");
                assert!(good == 1 || is_rule, "{method} {path}: {statuses:?}");
                won += good;
                lost += stale;
            }
        }
        println!("{won} answered, {lost} refused with 412");
        let old = "\"AAAAAAAAAAAAAAAAAAAAAA\"";
        for (method, path, body) in [
            ("DELETE", client.as_str(), None),
            ("DELETE", "/groups/staff", None),
            ("DELETE", resource.as_str(), None),
            ("PATCH", "/groups/staff", Some(json!({"title": "x"}))),
        ] {
            let stale = request(method, path, body.as_ref()).bearer(&key).header("If-Match", old);
            assert_eq!(here.send(&stale).status, 412, "{method} {path}");
            let weak = request(method, path, body.as_ref()).bearer(&key).header("If-Match", "W/\"x\"");
            assert_eq!(here.send(&weak).status, 412, "{method} {path}");
        }
        let any = request("DELETE", &client, None).bearer(&key).header("If-Match", "*");
        assert_eq!(here.send(&any).status, 204);
        let user = request("POST", &format!("/users/{NOBODY}/sign-out"), None).bearer(&key).header("If-Match", old);
        assert_eq!(here.send(&user).status, 412, "users have no ETag");
    }

    fn a_creation_that_is_repeated_gives_the_same_answer_with_the_same_secret(database) {
        let (server, here) = Admin::start(database);
        let (_replica, there) = Admin::beside(&server);
        let (text, other) = (mighty(database), key(database, "other", &["clients:write", "groups:write"]));
        let create = |admin: &Admin, text: &str, name: &str, path: &str, body: &Value| {
            admin.send(&request("POST", path, Some(body)).bearer(text).header("Idempotency-Key", name))
        };
        let first = create(&here, &text, "deploy-1", "/clients", &album()).expect_status(201);
        let answers: BTreeSet<String> = thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|place| {
                let admin = if place % 2 == 0 { &here } else { &there };
                let text = &text;
                scope.spawn(move || create(admin, text, "deploy-1", "/clients", &album()).expect_status(201).text())
            }).collect();
            all.into_iter().map(|answer| answer.join().unwrap()).collect()
        });
        assert_eq!(answers, BTreeSet::from([first.text()]));
        let secret = first.field("client_secret");
        assert!(secret.len() >= 43);
        let at_once: BTreeSet<String> = thread::scope(|scope| {
            let all: Vec<_> = (0..16).map(|place| {
                let admin = if place % 2 == 0 { &here } else { &there };
                let text = &text;
                scope.spawn(move || create(admin, text, "deploy-2", "/clients", &album()).expect_status(201).text())
            }).collect();
            all.into_iter().map(|answer| answer.join().unwrap()).collect()
        });
        assert_eq!(at_once.len(), 1, "sixteen at the same time make one client");
        let by_other = create(&here, &other, "deploy-1", "/clients", &album()).expect_status(201);
        assert_ne!(by_other.field("client_id"), first.field("client_id"), "each key has names of its own");
        assert_ne!(by_other.field("client_secret"), secret);
        let mut otherwise = album();
        otherwise["client_name"] = json!("Other");
        assert_eq!(create(&there, &text, "deploy-1", "/clients", &otherwise).status, 422);
        assert_eq!(create(&there, &text, "deploy-1", "/groups", &json!({"name": "staff"})).status, 422);
        assert_eq!(here.done(&text, "GET", "/clients", None)["items"].as_array().map(Vec::len), Some(3));
        for (path, body) in [
            ("/groups", json!({"name": "staff"})),
            ("/resources", json!({"uri": "https://api.example", "scopes": [{"name": "a.read"}]})),
        ] {
            let name = format!("again {path}").replace(' ', "-");
            let answer = create(&here, &text, &name, path, &body).expect_status(201);
            assert_eq!(create(&there, &text, &name, path, &body).expect_status(201).text(), answer.text());
            let mut otherwise = body.clone();
            otherwise["title"] = json!("x");
            otherwise["open_to"] = json!("named");
            otherwise.as_object_mut().unwrap().remove(if path == "/groups" { "open_to" } else { "title" });
            assert_eq!(create(&there, &text, &format!("other{path}"), path, &otherwise).status, 409);
        }
        for bad in ["", &"x".repeat(256)] {
            assert_eq!(create(&here, &text, bad, "/clients", &album()).status, 400, "{bad}");
        }
        let stored = database.dump();
        for hidden in [secret.as_bytes(), &text.as_bytes()[5..], b"deploy-1"] {
            assert!(!stored.windows(hidden.len()).any(|window| window == hidden), "it is stored in clear");
        }
        let client = countersign_tests::Client::of(&first.json());
        assert!(server.sign_in(&client).len() > 20, "the secret of the repeat is the client's");
    }

    /// F-22: nothing is made a second time in the name of the first, and its secret stays dead.
    fn a_repeated_creation_of_what_was_deleted_makes_nothing(database) {
        let (server, here) = Admin::start(database);
        let (_replica, there) = Admin::beside(&server);
        let text = mighty(database);
        let ghosts = [
            ("/clients", album(), "client_registered"),
            ("/groups", json!({"name": "staff"}), "group_created"),
            ("/resources", json!({"uri": "https://api.example", "scopes": [{"name": "a.read"}]}), "resource_created"),
        ];
        for (path, body, kind) in ghosts {
            let name = format!("ghost of {path}").replace(['/', ' '], "-");
            let create = |admin: &Admin, name: &str| {
                admin.send(&request("POST", path, Some(&body)).bearer(&text).header("Idempotency-Key", name))
            };
            let first = create(&here, &name).expect_status(201);
            assert_eq!(create(&there, &name).expect_status(201).text(), first.text());
            let shown = first.json();
            let gone = match path {
                "/clients" => format!("/clients/{}", shown["client_id"].as_str().unwrap()),
                "/groups" => "/groups/staff".to_owned(),
                _ => "/resources/https%3A%2F%2Fapi.example".to_owned(),
            };
            // A group's deletion answers with what it was.
            let deleted = here.send(&request("DELETE", &gone, None).bearer(&text)).status;
            assert_eq!(deleted, if path == "/groups" { 200 } else { 204 });
            for admin in [&here, &there] {
                let refused = create(admin, &name).expect_status(409).json();
                assert_eq!(refused["field"], "Idempotency-Key", "{refused}");
            }
            assert_eq!(here.send(&request("GET", &gone, None).bearer(&text)).status, 404);
            let events = |kind: &str| {
                let events = here.done(&text, "GET", &format!("/events?type={kind}"), None);
                events["items"].as_array().unwrap().len()
            };
            assert_eq!(events(kind), 1, "one was made, and one event tells of it");
            create(&there, &format!("{name}-again")).expect_status(201);
            assert_eq!(events(kind), 2);
        }
    }
}

trait ExpectStatus {
    fn expect_status(self, status: u16) -> Self;
}

impl ExpectStatus for Response {
    #[track_caller]
    fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// The public listener has nothing of the admin interface, which has nothing of the public one.
#[test]
fn each_listener_answers_its_own_and_nothing_else() {
    let database = Database::sqlite();
    let (server, admin) = Admin::start(&database);
    let key = mighty(&database);
    let document = admin.send(&Request::get(&format!("{BASE}/openapi.json"))).json();
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let request = Request::new(&method.to_uppercase(), &path.replace(['{', '}'], "")).bearer(&key);
            assert_eq!(server.send(&request).status, 404, "{method} {path}");
            count += 1;
        }
    }
    let public = server.get("/openapi.json").json();
    for (path, methods) in public["paths"].as_object().unwrap() {
        if ["/docs", "/assets/{name}"].contains(&path.as_str()) {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let request = Request::new(&method.to_uppercase(), &path.replace(['{', '}'], "")).bearer(&key);
            assert_eq!(admin.send(&request).status, 404, "{method} {path}");
            count += 1;
        }
    }
    for path in [
        "/",
        "/admin",
        "/admin/",
        BASE,
        "/admin/api/v1/",
        "/admin/api/v2/clients",
        "/metrics",
        "/favicon.ico",
    ] {
        assert_eq!(admin.send(&Request::get(path).bearer(&key)).status, 404, "{path}");
        count += 1;
    }
    println!("{count} paths");
    let page = admin.send(&Request::get("/docs").header("Accept-Language", "de"));
    assert_eq!(page.status, 200);
    assert!(page.text().contains("/admin/api/v1/openapi.json") && page.text().contains("createClient"));
    let assets = page.text();
    for asset in assets.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(admin.send(&Request::get(&format!("/assets/{asset}"))).status, 200, "{asset}");
    }
}

#[test]
fn keys_are_taken_from_one_authorization_header_and_from_nowhere_else() {
    let database = Database::sqlite();
    let (_server, admin) = Admin::start(&database);
    let key = mighty(&database);
    let clients = || Request::get(&format!("{BASE}/clients"));
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert_eq!(
            admin.send(&clients().header("Authorization", &format!("{scheme} {key}"))).status,
            200,
            "{scheme}"
        );
    }
    let cut = key.len() - 1;
    let other = if key.ends_with('A') { "B" } else { "A" };
    let mut refused = 0;
    for value in [
        String::new(),
        key.clone(),
        format!("Bearer{key}"),
        "Bearer ".to_owned(),
        format!("Bearer  {key}"),
        format!("Bearer {key} "),
        format!("Bearer {key},{key}"),
        format!("Basic {key}"),
        format!("DPoP {key}"),
        format!("Bearer {}", &key[..cut]),
        format!("Bearer {}{other}", &key[..cut]),
        format!("Bearer {key}A"),
        format!("Bearer {}", &key[5..]),
        format!("Bearer {}", key.replace("csak_", "CSAK_")),
        format!("Bearer {}", key.to_lowercase()),
        format!("Bearer csak_{}", "A".repeat(64)),
        "Bearer csak_".to_owned(),
        format!("Bearer {}", "x".repeat(8_000)),
        "Bearer ' OR 1=1 --".to_owned(),
        "Bearer \u{202e}csak".to_owned(),
    ] {
        let response = admin.send(&clients().header("Authorization", &value));
        let trimmed = value.trim_end() == format!("Bearer {key}");
        assert_eq!(response.status, if trimmed { 200 } else { 401 }, "{value}: {response:?}");
        refused += u32::from(!trimmed);
    }
    let twice = clients().bearer(&key).bearer(&key);
    assert_eq!(admin.send(&twice).status, 400);
    for target in [
        format!("/clients?access_token={key}"),
        format!("/clients?key={key}"),
        format!("/clients?Authorization=Bearer%20{key}"),
    ] {
        assert_eq!(admin.send(&Request::get(&format!("{BASE}{target}"))).status, 401, "{target}");
        refused += 1;
    }
    for (name, value) in [
        ("Cookie", format!("key={key}; Authorization=Bearer {key}")),
        ("X-Api-Key", key.clone()),
        ("Proxy-Authorization", format!("Bearer {key}")),
    ] {
        assert_eq!(admin.send(&clients().header(name, &value)).status, 401, "{name}");
        refused += 1;
    }
    println!("{refused} refused");
    // What a page of another site can send, it sends without a key.
    let foreign = |method: &str| {
        Request::new(method, &format!("{BASE}/clients"))
            .header("Origin", "https://evil.example")
            .header("Cookie", "a=b")
    };
    let preflight = foreign("OPTIONS").header("Access-Control-Request-Method", "POST");
    assert_eq!(admin.send(&preflight.header("Access-Control-Request-Headers", "authorization")).status, 401);
    assert_eq!(admin.send(&foreign("POST").typed("text/plain", album().to_string())).status, 401);
    assert_eq!(
        admin.send(&foreign("POST").typed("application/x-www-form-urlencoded", "client_name=x")).status,
        401
    );
    // By a name that leads here, a page has no key either; with a key the name does not matter.
    let rebound = clients().header("Host", "evil.example");
    assert_eq!(admin.send(&rebound).status, 401);
    assert_eq!(admin.send(&rebound.bearer(&key)).status, 200);
}

#[test]
fn bodies_paths_and_parameters_that_mean_harm_are_refused_and_change_nothing() {
    let database = Database::sqlite();
    let (_server, admin) = Admin::start(&database);
    let key = mighty(&database);
    admin.done(&key, "POST", "/groups", Some(&json!({"name": "staff"})));
    let created = admin.done(&key, "POST", "/clients", Some(&album()));
    let id = created["client_id"].as_str().unwrap();
    let before = (admin.done(&key, "GET", "/clients", None), admin.done(&key, "GET", "/groups", None));
    let mut tried = 0;
    let mut expect = |request: Request, statuses: &[u16]| {
        let response = admin.send(&request.bearer(&key));
        assert!(statuses.contains(&response.status), "{statuses:?}: {response:?}");
        tried += 1;
    };
    let post = |path: &str, body: &str| {
        Request::new("POST", &format!("{BASE}{path}")).typed("application/json", body)
    };
    // Fields that nobody may set.
    for field in [
        "client_id",
        "client_secret",
        "registered_by",
        "created_at",
        "document",
        "origin",
        "is_admin",
        "access",
        "__proto__",
        "constructor",
        "registration_access_token",
    ] {
        let mut body = album();
        body[field] = json!("x");
        expect(post("/clients", &body.to_string()), &[400]);
        expect(
            Request::new("PATCH", &format!("{BASE}/clients/{id}"))
                .typed("application/json", json!({field: "x"}).to_string()),
            &[400],
        );
        expect(post("/groups", &json!({"name": "x", field: "x"}).to_string()), &[400]);
    }
    // Bodies that are no JSON object, too long, too deep, or something else.
    let huge = format!("{{\"name\":\"{}\"}}", "a".repeat(70_000));
    let deep = format!("{{\"name\":{}1{}}}", "[".repeat(2_000), "]".repeat(2_000));
    for body in [
        "",
        "null",
        "[]",
        "\"x\"",
        "{",
        "{}x",
        "{\"name\":\"a\",\"name\":\"b\"}",
        "{\"name\":1}",
        "{\"name\":\"\u{0}\"}",
        "[\"staff\"]",
        &deep,
    ] {
        expect(post("/groups", body), &[400]);
    }
    expect(post("/groups", &huge), &[413]);
    expect(post("/groups", "{\"name\":\"x\"}").header("Content-Encoding", "gzip"), &[415]);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let body = Request::new("POST", &format!("{BASE}/groups")).typed(kind, "{\"name\":\"x\"}");
        expect(body, &[415]);
    }
    // Names that are paths, or lie about what they are.
    for name in [
        "..%2Fstaff",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        "staff%00",
        "staff%0a",
        "STAFF",
        "st%C3%A4ff",
        "%E2%80%AEffats",
        "staff%2Fmembers",
        "%ff%fe",
        "a%25",
    ] {
        expect(Request::get(&format!("{BASE}/groups/{name}")), &[404]);
        expect(Request::get(&format!("{BASE}/clients/{name}")), &[404]);
        expect(Request::get(&format!("{BASE}/resources/{name}")), &[404]);
        expect(Request::get(&format!("{BASE}/users/{name}")), &[400, 404]);
        expect(Request::new("POST", &format!("{BASE}/keys/{name}/withdraw")), &[404]);
    }
    for path in [
        "/../groups/staff",
        "/groups/../clients",
        "/groups//staff",
        "//groups",
        "/groups/staff/",
        "/groups/staff/members/../../x",
    ] {
        expect(Request::get(&format!("{BASE}{path}")), &[404]);
    }
    expect(Request::get(&format!("{BASE}/groups/{}", "a".repeat(17_000))), &[414]);
    expect(Request::get(&format!("{BASE}/groups")).header("X-Long", &"a".repeat(17_000)), &[431]);
    // Texts that read otherwise than they are.
    for text in ["\u{202e}nimda", "a\u{200b}b", "a\nb", "", " ", &"a".repeat(300)] {
        expect(post("/groups", &json!({"name": "x", "title": text}).to_string()), &[400]);
        expect(
            post(
                "/clients",
                &json!({"client_name": text, "redirect_uris": ["https://a.example/cb"]}).to_string(),
            ),
            &[400],
        );
        let block = Request::new("PUT", &format!("{BASE}/users/{NOBODY}/block"));
        expect(block.typed("application/json", json!({"reason": text}).to_string()), &[400]);
    }
    // Parameters.
    for query in [
        "limit=0",
        "limit=501",
        "limit=-1",
        "limit=1e2",
        "limit=",
        "limit=1&limit=2",
        "after=x",
        "after=%00",
        "offset=1",
        "after=",
    ] {
        expect(Request::get(&format!("{BASE}/clients?{query}")), &[400]);
        expect(Request::get(&format!("{BASE}/groups?{}", query.replace("after=x", "after=X"))), &[400]);
    }
    for query in ["force=1", "force=TRUE", "force", "really=true"] {
        expect(Request::new("DELETE", &format!("{BASE}/groups/staff?{query}")), &[400]);
    }
    for method in ["TRACE", "PUT", "HEAD", "PROPFIND"] {
        expect(Request::new(method, &format!("{BASE}/clients")), &[405]);
    }
    println!("{tried} requests refused");
    assert_eq!((admin.done(&key, "GET", "/clients", None), admin.done(&key, "GET", "/groups", None)), before);
}

/// A key that is wrong in its first character and one that is wrong in its last take the same time. The comparison is
/// of hashes, so this can only show a gross mistake.
#[test]
fn it_takes_no_longer_to_refuse_a_key_that_is_nearly_right() {
    let database = Database::sqlite();
    let (_server, admin) = Admin::start(&database);
    let key = mighty(&database);
    let changed = |place: usize| {
        let mut bytes = key.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let keys = [changed(30), changed(67)];
    let mut times = [Vec::new(), Vec::new()];
    let host = admin.address.to_string();
    let mut connection = Connection::open(admin.address).unwrap();
    for round in 0..600 {
        let which = round % 2;
        let request = Request::get(&format!("{BASE}/clients")).bearer(&keys[which]);
        let begun = Instant::now();
        assert_eq!(connection.send(&host, &request).unwrap().status, 401);
        times[which].push(begun.elapsed());
    }
    let [early, late] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    println!("medians: {early:?} and {late:?}");
    let (less, more) = (early.min(late), early.max(late));
    assert!(more < less * 2 + Duration::from_micros(500), "{early:?} {late:?}");
}

#[test]
fn a_refusal_is_one_line_with_the_name_of_the_key_and_without_the_key() {
    let database = Database::sqlite();
    let (server, admin) = Admin::start(&database);
    let text = key(&database, "CI", &["clients:read"]);
    admin.refused(&text, "GET", "/groups", None);
    admin.refused("csak_wrong", "GET", "/groups", None);
    let begun = Instant::now();
    let is_over = AtomicBool::new(false);
    let lines = loop {
        let log = String::from_utf8(server.log()).unwrap();
        let lines: Vec<Value> = log
            .lines()
            .filter(|line| line.contains("\"refused\""))
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if lines.len() >= 2 || is_over.load(Ordering::Relaxed) {
            break lines;
        }
        is_over.store(begun.elapsed() > Duration::from_secs(5), Ordering::Relaxed);
        thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(lines.len(), 2, "{lines:?}");
    let whole = lines.iter().map(Value::to_string).collect::<String>();
    for word in ["\"CI\"", "forbidden", "unauthorized", "403", "401", "groups:read", "127.0.0.0"] {
        assert!(whole.contains(word), "{word}: {whole}");
    }
    assert!(!whole.contains(&text) && !whole.contains("csak_wrong"), "{whole}");
}
