//! No act without its event, and no event without its act. People, applications and an operator do everything at once
//! while servers, commands and PostgreSQL are killed; then what is stored is compared with what events tell, row by row.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_test_postgres::Cluster;
use countersign_tests::{
    Browser, Client, Database, Parameters, Request, Response, Server, Site, Wallet, page,
};
use serde_json::{Value, json};

use super::{
    Id, Text, Time, Told, end_leases, rows, told, verified, wait_for, wait_until_sealed, wallet, with_hyphens,
};

/// How often a server is killed on each kind of database. `make event-rounds` kills it 200 times.
const ROUNDS: usize = 10;
/// A database is used for so many rounds: before anything in it is old enough to be forgotten.
const ROUNDS_EACH: usize = 10;
const PEOPLE: usize = 3;
/// What people and applications do in each load.
const KINDS: [&str; 11] = [
    "account_deleted",
    "client_changed",
    "client_deleted",
    "client_registered",
    "consent_revoked",
    "grant_revoked",
    "session_ended",
    "sign_in",
    "sign_out",
    "wallet_linked",
    "wallet_unlinked",
];
/// What is rarer, or done by the operator, whose commands are few and are killed: it needs more rounds.
const RARE: [&str; 14] = [
    "access_changed",
    "group_created",
    "group_deleted",
    "group_member_added",
    "group_member_removed",
    "key_announced",
    "resource_changed",
    "resource_created",
    "resource_deleted",
    "secret_rotated",
    "sign_in_continued",
    "user_blocked",
    "user_signed_out",
    "wallet_blocked",
];

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Numbers that differ from run to run.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        Self(RandomState::new().hash_one(NEXT.fetch_add(1, Ordering::Relaxed)) | 1)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// People, applications and an operator, until they are told to stop. Whatever fails is left as it is: nobody knows
/// whether it happened.
#[derive(Debug)]
struct Load {
    over: Arc<AtomicBool>,
    people: Vec<JoinHandle<()>>,
    operator: JoinHandle<()>,
    command: Arc<Mutex<Option<Child>>>,
}

/// What threads of a load tell each other.
#[derive(Clone, Debug)]
struct Shared {
    over: Arc<AtomicBool>,
    /// Wallets of people who do nothing any more. What happens to them from now on, the operator does.
    at_rest: Arc<Mutex<Vec<String>>>,
    done: Arc<AtomicUsize>,
}

impl Load {
    fn start(servers: &[Site], database: &Database) -> (Self, Arc<AtomicUsize>) {
        let shared = Shared { over: Arc::default(), at_rest: Arc::default(), done: Arc::default() };
        let people = (0..PEOPLE).map(|number| {
            let (site, shared) = (servers[number % servers.len()].clone(), shared.clone());
            thread::spawn(move || live(&site, &shared))
        });
        let people = people.collect();
        let command = Arc::<Mutex<Option<Child>>>::default();
        let operator = Operator {
            database: database.clone(),
            public_url: servers[0].public_url.clone(),
            command: Arc::clone(&command),
            shared: shared.clone(),
        };
        let operator = thread::spawn(move || operator.work());
        (Self { over: shared.over, people, operator, command }, shared.done)
    }

    /// Kills the command that runs.
    fn kill_command(&self) {
        if let Some(command) = lock(&self.command).as_mut() {
            // It may just have ended.
            let _ = command.kill();
        }
    }

    fn stop(self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.people.into_iter().chain([self.operator]) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// One life after the other.
fn live(site: &Site, shared: &Shared) {
    let mut chance = Chance::new();
    let mut client: Option<(Client, u64)> = None;
    while !shared.over.load(Ordering::Relaxed) {
        if client.is_none() {
            let registered = sent(site, &Site::registration(&json!({"client_name": "Album 0"})), 201);
            client = registered.map(|registered| (Site::client(&registered), 0));
        }
        let Some((known, changes)) = client.as_mut() else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let mut person = Person::new(site);
        let lived = person.live(known, &mut chance);
        shared.done.fetch_add(1, Ordering::Relaxed);
        lock(&shared.at_rest).push(person.wallet.address());
        if lived.is_none() {
            thread::sleep(Duration::from_millis(10));
        }
        match chance.below(4) {
            0 if change(site, known, *changes + 1).is_some() => *changes += 1,
            // Nobody knows how often this one was changed.
            0 => client = None,
            1 => {
                let path = format!("/oauth/clients/{}", known.id);
                sent(site, &Request::new("DELETE", &path).bearer(&known.registration_token), 204);
                client = None;
            }
            _ => {}
        }
    }
}

/// An application changes its own registration, for the so-manieth time, which its name tells.
fn change(site: &Site, client: &Client, time: u64) -> Option<Response> {
    let body = json!({
        "client_id": client.id,
        "client_name": format!("Album {time}"),
        "redirect_uris": [client.redirect_uri],
    });
    let request = Request::json(&format!("/oauth/clients/{}", client.id), &body);
    sent(site, &Request { method: "PUT".to_owned(), ..request }.bearer(&client.registration_token), 200)
}

/// The response if there is one, with this status.
fn sent(site: &Site, request: &Request, status: u16) -> Option<Response> {
    site.try_send(request).ok().filter(|response| response.status == status)
}

struct Person {
    browser: Browser,
    wallet: Wallet,
}

impl Person {
    fn new(site: &Site) -> Self {
        Self { browser: site.browser(), wallet: Wallet::fresh() }
    }

    fn send(&mut self, request: Request, status: u16) -> Option<Response> {
        let response = self.browser.site.try_send(&self.browser.with_cookies(request)).ok()?;
        self.browser.keep(&response);
        (response.status == status).then_some(response)
    }

    /// Submits a form of the account page.
    fn press(&mut self, path: &str, fields: &[(&str, &str)], with: &[(&str, &str)]) -> Option<()> {
        let html = self.send(Request::get("/account").header("Accept", "text/html"), 200)?.text();
        let secret = page::secret(&html, path, with)?;
        let fields = Parameters::of(fields).and("form", &secret);
        self.send(Request::form(path, &fields).header("Accept", "text/html"), 303).map(drop)
    }

    /// Signs in, uses what that gives, comes back, and changes something at the account page.
    fn live(&mut self, client: &Client, chance: &mut Chance) -> Option<()> {
        let code = self.sign_in(client)?;
        self.use_code(client, &code, chance)?;
        if chance.below(2) == 0 {
            self.go_on(client)?;
        }
        let other = Wallet::fresh();
        if chance.below(2) == 0 {
            self.link(&other)?;
            if chance.below(2) == 0 {
                self.unlink(&other)?;
            }
        }
        match chance.below(6) {
            0 => {
                let id = [("client_id", client.id.as_str())];
                self.press("/account/apps/revoke", &id, &id)
            }
            1 => {
                let this = [("session", "this")];
                self.press("/account/sessions/end", &this, &this)
            }
            2 => {
                let all = [("session", "all")];
                self.press("/account/sessions/end", &all, &all)
            }
            3 => self.press("/account/delete", &[("confirm", "yes")], &[]),
            _ => Some(()),
        }
    }

    fn sign_in(&mut self, client: &Client) -> Option<String> {
        let authorization = client.authorization();
        self.send(Request::query("/oauth/authorize", &authorization), 302)?;
        let asked = Browser::challenge_request(&authorization, &self.wallet.address());
        let challenge = self.send(asked, 200)?.field("challenge");
        let mut body = Browser::login_body(&authorization, &self.wallet, &challenge).json();
        body["remember"] = json!(true);
        self.send(Request::json("/oauth/login", &body), 303)?.answer("code")
    }

    /// Each way in which a grant can end early, and none.
    fn use_code(&mut self, client: &Client, code: &str, chance: &mut Chance) -> Option<()> {
        let token = |form: &Parameters| Request::form("/oauth/token", form);
        let way = chance.below(6);
        if way == 5 {
            return Some(());
        }
        let tokens = self.send(token(&client.exchange_form(code)), 200)?;
        let (access, refresh) = (tokens.field("access_token"), tokens.field("refresh_token"));
        match way {
            0 => self.send(token(&client.exchange_form(code)), 400).map(drop),
            1 => {
                self.send(token(&client.refresh_form(&refresh)), 200)?;
                self.send(token(&client.refresh_form(&refresh)), 400).map(drop)
            }
            2 => self.revoke(client, &refresh),
            3 => self.revoke(client, &access),
            _ => Some(()),
        }
    }

    fn revoke(&mut self, client: &Client, token: &str) -> Option<()> {
        self.send(Request::json("/oauth/revoke", &client.revocation(token).json()), 200).map(drop)
    }

    /// A remembered sign-in instead of a signature.
    fn go_on(&mut self, client: &Client) -> Option<()> {
        let authorization = client.authorization();
        let to = self.send(Request::query("/oauth/authorize", &authorization), 302)?.location().to_owned();
        let path = to.strip_prefix(&self.browser.site.public_url).unwrap_or(&to);
        let html = self.send(Request::get(path).header("Accept", "text/html"), 200)?.text();
        let form = page::forms(&html).into_iter().find(|form| form.action.ends_with("/oauth/continue"))?;
        let kept = ["client_id", "redirect_uri", "state"];
        let fields = kept.iter().fold(form.hidden, |fields, name| fields.with(name, authorization.get(name)));
        self.send(Request::json("/oauth/continue", &fields.json()), 303).map(drop)
    }

    fn link(&self, other: &Wallet) -> Option<()> {
        let mut elsewhere = self.browser.site.browser();
        let texts = begin(&mut elsewhere, "link", &self.wallet, other)?;
        let (mine, theirs) = (texts.field("challenge"), texts.field("other_challenge"));
        let body = json!({
            "form": texts.field("form"),
            "challenge": mine,
            "signature": self.wallet.sign(&mine),
            "other_challenge": theirs,
            "other_signature": other.sign(&theirs),
        });
        sent(&elsewhere.site, &elsewhere.with_cookies(Request::json("/account/wallets/link", &body)), 200)
            .map(drop)
    }

    fn unlink(&self, other: &Wallet) -> Option<()> {
        let mut elsewhere = self.browser.site.browser();
        let texts = begin(&mut elsewhere, "unlink", &self.wallet, other)?;
        let text = texts.field("challenge");
        let body =
            json!({"form": texts.field("form"), "challenge": text, "signature": self.wallet.sign(&text)});
        sent(&elsewhere.site, &elsewhere.with_cookies(Request::json("/account/wallets/unlink", &body)), 200)
            .map(drop)
    }
}

/// Asks for the texts of a change in a browser that knows nobody.
fn begin(browser: &mut Browser, change: &str, signer: &Wallet, other: &Wallet) -> Option<Response> {
    let body = json!({
        "change": change,
        "wallet_address": signer.address(),
        "other_wallet_address": other.address(),
    });
    let texts = sent(&browser.site, &Request::json("/account/wallets/challenge", &body), 200)?;
    browser.keep(&texts);
    Some(texts)
}

/// The operator at the terminal, whose commands are killed too.
struct Operator {
    database: Database,
    public_url: String,
    command: Arc<Mutex<Option<Child>>>,
    shared: Shared,
}

impl Operator {
    fn work(&self) {
        while !self.shared.over.load(Ordering::Relaxed) {
            // What a killed command leaves undone stays undone.
            if self.turn(NEXT.fetch_add(1, Ordering::Relaxed)).is_none() {
                thread::sleep(Duration::from_millis(10));
            }
        }
    }

    fn turn(&self, number: u64) -> Option<()> {
        let nobody = Wallet::fresh().address();
        let group = format!("group{number}");
        let api = format!("https://api{number}.example");
        let rested = lock(&self.shared.at_rest).pop();
        match number % 7 {
            0 => {
                self.run(&["group", "create", &group])?;
                self.run(&["group", "add", &group, &nobody])?;
                if let Some(somebody) = &rested {
                    self.run(&["group", "add", &group, somebody])?;
                }
                self.run(&["group", "remove", &group, &nobody])
            }
            1 => {
                self.run(&["group", "create", &group])?;
                self.run(&["group", "add", &group, &nobody])?;
                self.run(&["group", "delete", &group, "--force"])
            }
            2 => {
                for reason in ["spam", "fraud", "fraud"] {
                    self.run(&["wallet", "block", &nobody, "--reason", reason])?;
                }
                self.run(&["user", "sign-out", &rested?])
            }
            3 => {
                self.run(&["resource", "create", &api, "--scope", &format!("read{number}=Read")])?;
                for _ in 0..2 {
                    self.run(&["resource", "update", &api, "--scope", &format!("write{number}=Write")])?;
                }
                let gone = format!("https://gone{number}.example");
                self.run(&["resource", "create", &gone, "--scope", &format!("gone{number}=Gone")])?;
                self.run(&["resource", "delete", &gone, "--force"])
            }
            4 => {
                self.run(&["user", "block", rested.as_ref()?])?;
                if number.is_multiple_of(2) { self.run(&["user", "unblock", &rested?]) } else { Some(()) }
            }
            5 => {
                self.run(&["key", "rotate"])?;
                self.run(&["user", "delete", &rested?, "--yes"])
            }
            _ => {
                let create =
                    ["client", "create", "--name", "Album 0", "--redirect-uri", "https://a.example/cb"];
                let created: Value = serde_json::from_slice(&self.output(&create)?).unwrap();
                let id = created["client_id"].as_str().unwrap();
                self.run(&["client", "rotate-secret", id, "--keep-old", "600"])?;
                // What is so already is no act, and leaves no event.
                for _ in 0..2 {
                    self.run(&["access", "set", id, "nobody"])?;
                    self.run(&["client", "update", id, "--name", "Album 1"])?;
                }
                Some(())
            }
        }
    }

    fn run(&self, arguments: &[&str]) -> Option<()> {
        self.output(arguments).map(drop)
    }

    /// What the command prints, if it is not killed and does what it should.
    fn output(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        if self.shared.over.load(Ordering::Relaxed) {
            return None;
        }
        let mut command = self.database.operator(arguments);
        command.args(["--output", "json"]).env("COUNTERSIGN_PUBLIC_URL", &self.public_url);
        let out = tempfile::NamedTempFile::new().unwrap();
        command.stdin(Stdio::null()).stdout(out.reopen().unwrap()).stderr(Stdio::null());
        *lock(&self.command) = Some(command.spawn().unwrap());
        loop {
            if let Some(child) = lock(&self.command).as_mut()
                && let Some(status) = child.try_wait().unwrap()
            {
                return status.success().then(|| read(out.path()));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// PostgreSQL still carries out what those who were killed had asked for.
fn wait_until_at_rest(database: &Database) {
    if !database.is_postgres() {
        return;
    }
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    wait_for("PostgreSQL to finish", || database.number(others) == 0);
}

/// What events say that there must be, and what there is, in the same words.
type Facts = BTreeSet<String>;

/// What there is after all of these events.
#[derive(Debug, Default)]
struct Replayed {
    facts: Facts,
    /// How often each client was changed.
    changes: BTreeMap<String, u64>,
    /// How many scopes each resource has.
    scopes: BTreeMap<String, u64>,
}

impl Replayed {
    fn add(&mut self, fact: String) {
        self.facts.insert(fact);
    }

    fn remove(&mut self, fact: &str) {
        self.facts.remove(fact);
    }

    /// Removes what begins like this.
    fn remove_all(&mut self, start: &str) {
        self.facts.retain(|fact| !fact.starts_with(start));
    }

    fn take(&mut self, event: &Told) {
        let Told { user, client, wallet, .. } = event;
        let is_gone = !event.pseudonym.is_empty();
        let at = event.at();
        let group = event.detail("group");
        let resource = event.detail("resource");
        let member = if user.is_empty() { wallet.clone() } else { format!("user {user}") };
        match event.kind.as_str() {
            "sign_in" | "sign_in_continued" => {
                let whose = if is_gone { "nobody" } else { user };
                if event.details["grant"].is_string() {
                    self.add(format!("client {client}: grant {} of {whose}", event.id_of("grant")));
                }
                if is_gone {
                    return;
                }
                self.add(format!("user {user}"));
                self.add(format!("user {user}: wallet {wallet}"));
                if event.details["session"] == true {
                    self.add(format!("user {user}: is remembered"));
                }
                if !client.is_empty() {
                    self.add(format!("client {client}: agreed with {user}"));
                }
            }
            "sign_out" | "session_ended" | "user_signed_out" => {
                self.remove(&format!("user {user}: is remembered"));
            }
            "consent_revoked" => self.remove(&format!("client {client}: agreed with {user}")),
            "wallet_linked" if !is_gone => self.add(format!("user {user}: wallet {wallet}")),
            "wallet_unlinked" => self.remove(&format!("user {user}: wallet {wallet}")),
            "grant_revoked" if event.details["grant"].is_string() => {
                let (grant, reason) = (event.id_of("grant"), event.detail("reason"));
                self.add(format!("client {client}: end of {grant} by {reason}"));
            }
            "grant_revoked" if event.details["access_token"].is_string() => {
                self.add(format!("end of the access token {}", event.id_of("access_token")));
            }
            "grant_revoked" => self.remove(&format!("user {user}: is remembered")),
            "client_registered" => self.add(format!("client {client}, {}", event.detail("origin"))),
            "client_changed" => *self.changes.entry(client.clone()).or_default() += 1,
            "client_deleted" => {
                self.remove_all(&format!("client {client}"));
                self.changes.remove(client);
            }
            "secret_rotated" => {
                self.remove_all(&format!("client {client}: secret"));
                if let Some(secret) = second_secret(client, at / 1_000) {
                    self.add(secret);
                }
            }
            "access_changed" => {
                self.remove_all(&format!("client {client}: lets in"));
                self.add(format!("client {client}: lets in {}", event.detail("rule")));
            }
            "user_blocked" | "wallet_blocked" if event.detail("changed") == "reason" => {}
            "user_blocked" if !is_gone => self.add(format!("user {user}: blocked at {at}")),
            "user_unblocked" => self.remove_all(&format!("user {user}: blocked")),
            "wallet_blocked" => self.add(format!("blocked {wallet} at {at}")),
            "group_created" => self.add(format!("group {group}")),
            "group_deleted" => {
                self.remove(&format!("group {group}"));
                self.remove_all(&format!("group {group}: "));
            }
            "group_member_added" if !is_gone => self.add(format!("group {group}: {member}")),
            "group_member_removed" => self.remove(&format!("group {group}: {member}")),
            "resource_created" => {
                self.add(format!("resource {resource}"));
                self.scopes.insert(resource.to_owned(), 1);
            }
            "resource_changed" => *self.scopes.get_mut(resource).unwrap() += 1,
            "resource_deleted" => {
                self.remove(&format!("resource {resource}"));
                self.scopes.remove(resource);
            }
            "key_announced" => self.add(format!("key {}", event.detail("key"))),
            "key_activated" | "upgraded" | "account_deleted" => {}
            "user_blocked" | "wallet_linked" | "group_member_added" if is_gone => {}
            other => panic!("the load does nothing that is told as {other}"),
        }
    }

    fn finish(mut self) -> Facts {
        let changes = std::mem::take(&mut self.changes).into_iter();
        let scopes = std::mem::take(&mut self.scopes).into_iter();
        self.facts.extend(changes.map(|(client, times)| format!("client {client}: changed {times} times")));
        self.facts.extend(scopes.map(|(resource, count)| format!("resource {resource}: {count} scopes")));
        self.facts
    }
}

/// That a client got another secret in this second. `None` in the second in which the client was made: when its
/// first secret is used, that is written down too, with the time of the client. The time is in the client's id.
fn second_secret(client: &str, second: i64) -> Option<String> {
    let made = i64::from_str_radix(&client.replace('-', "")[..12], 16).unwrap() / 1_000;
    (second != made).then(|| format!("client {client}: secret of second {second}"))
}

/// What there is, by the tables of everything but events.
fn stored(database: &Database) -> Facts {
    let mut facts = Facts::new();
    let whose = "(grants LEFT JOIN users ON users.id = grants.user_id)";
    for [grant, client, user] in rows(database, [Id("grants.id"), Id("client_id"), Id("users.id")], whose) {
        let whose = if user.is_empty() { "nobody" } else { user.as_str() };
        facts.insert(format!("client {client}: grant {grant} of {whose}"));
    }
    let early = "grants WHERE revocation_reason IN ('client_request', 'code_replayed', 'refresh_reused', 'other_user', \
                 'verifier_mismatch')";
    for [grant, client, reason] in
        rows(database, [Id("id"), Id("client_id"), Text("revocation_reason")], early)
    {
        facts.insert(format!("client {client}: end of {grant} by {reason}"));
    }
    for [token] in rows(database, [Id("id")], "tokens WHERE access_revoked_at IS NOT NULL") {
        facts.insert(format!("end of the access token {token}"));
    }
    for [user] in rows(database, [Id("id")], "users") {
        facts.insert(format!("user {user}"));
    }
    for [user, family, address] in rows(database, [Id("user_id"), Text("family"), Text("address")], "wallets")
    {
        facts.insert(format!("user {user}: wallet {}", wallet(&family, &address)));
    }
    for [user] in rows(database, [Id("user_id")], "login_sessions") {
        facts.insert(format!("user {user}: is remembered"));
    }
    for [user, client] in rows(database, [Id("user_id"), Id("client_id")], "signed_consents") {
        facts.insert(format!("client {client}: agreed with {user}"));
    }
    let columns = [Id("id"), Text("origin"), Text("name"), Text("access_rule")];
    for [client, origin, name, rule] in rows(database, columns, "clients") {
        facts.insert(format!("client {client}, {origin}"));
        let times = name.strip_prefix("Album ").unwrap();
        if times != "0" {
            facts.insert(format!("client {client}: changed {times} times"));
        }
        if !rule.is_empty() {
            facts.insert(format!("client {client}: lets in {rule}"));
        }
    }
    let newest = "client_secrets WHERE created_at IS NOT NULL AND hash = (SELECT secret_hash FROM clients \
                  WHERE id = client_id)";
    for [client, at] in rows(database, [Id("client_id"), Time("created_at")], newest) {
        facts.extend(second_secret(&client, at.parse::<i64>().unwrap() / 1_000));
    }
    for [user, at] in rows(database, [Id("user_id"), Time("blocked_at")], "blocked_users") {
        facts.insert(format!("user {user}: blocked at {at}"));
    }
    let columns = [Text("family"), Text("address"), Time("blocked_at")];
    for [family, address, at] in rows(database, columns, "blocked_wallets") {
        facts.insert(format!("blocked {} at {at}", wallet(&family, &address)));
    }
    for [group] in rows(database, [Text("name")], "user_groups") {
        facts.insert(format!("group {group}"));
    }
    for [group, user] in rows(database, [Text("group_name"), Id("user_id")], "group_users") {
        facts.insert(format!("group {group}: user {user}"));
    }
    let columns = [Text("group_name"), Text("family"), Text("address")];
    for [group, family, address] in rows(database, columns, "group_wallets") {
        facts.insert(format!("group {group}: {}", wallet(&family, &address)));
    }
    let scopes = "(SELECT uri, (SELECT count(*) FROM resource_scopes WHERE resource = uri) AS scopes FROM resources) AS r";
    for [resource, scopes] in rows(database, [Text("uri"), Text("scopes")], scopes) {
        facts.insert(format!("resource {resource}"));
        facts.insert(format!("resource {resource}: {scopes} scopes"));
    }
    for [key] in rows(database, [Text("kid")], "signing_keys") {
        facts.insert(format!("key {key}"));
    }
    facts
}

/// Compares what is stored with what events tell, both ways. Returns how many events and facts there are.
#[track_caller]
pub(crate) fn compare(database: &Database) -> (Vec<Told>, usize) {
    let events = told(database);
    let mut replayed = Replayed::default();
    for event in &events {
        replayed.take(event);
    }
    let (told, stored) = (replayed.finish(), stored(database));
    let unacted: Vec<_> = told.difference(&stored).collect();
    let untold: Vec<_> = stored.difference(&told).collect();
    assert!(
        unacted.is_empty() && untold.is_empty(),
        "told, and not there: {unacted:#?}\nthere, and not told: {untold:#?}"
    );
    compare_deletions(&events);
    compare_endings(database, &events);
    (events, told.len())
}

/// Each pseudonym has the event of the deletion, which counts the others.
#[track_caller]
fn compare_deletions(events: &[Told]) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for event in events.iter().filter(|event| !event.pseudonym.is_empty()) {
        *counts.entry(&event.pseudonym).or_default() += u64::from(event.kind != "account_deleted");
    }
    for event in events.iter().filter(|event| event.kind == "account_deleted") {
        let count = counts.remove(event.pseudonym.as_str());
        assert_eq!(event.details["events"].as_u64(), count, "{event:?}");
    }
    assert!(counts.is_empty(), "nobody deleted these: {counts:?}");
}

/// A grant that ended with something else has the event of that.
#[track_caller]
fn compare_endings(database: &Database, events: &[Told]) {
    let columns = [Id("id"), Id("user_id"), Id("client_id"), Text("revocation_reason"), Time("revoked_at")];
    for [grant, user, client, reason, at] in rows(database, columns, "grants WHERE revoked_at IS NOT NULL") {
        let at: i64 = at.parse().unwrap();
        let is_there = |kind: &str, is_theirs: &dyn Fn(&Told) -> bool| {
            events.iter().any(|event| event.kind == kind && event.at() == at && is_theirs(event))
        };
        // Since then, the account may have been deleted.
        let of_user = |event: &Told| event.user == user || !event.pseudonym.is_empty();
        let is_told = match reason.as_str() {
            "signed_out" => is_there("sign_out", &of_user),
            "consent_revoked" => {
                is_there("consent_revoked", &|event| of_user(event) && event.client == client)
            }
            "wallet_unlinked" => is_there("wallet_unlinked", &of_user),
            "account_deleted" => is_there("account_deleted", &|_| true),
            "operator" => is_there("user_signed_out", &of_user),
            "blocked" => {
                is_there("grant_revoked", &|event| of_user(event) && event.detail("reason") == "blocked")
            }
            // Compared row by row already.
            _ => true,
        };
        assert!(is_told, "grant {} ended at {at} by {reason}, and nothing tells of it", with_hyphens(&grant));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rounds() -> usize {
    std::env::var("ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

/// What all rounds together found.
#[derive(Debug, Default)]
struct Tally {
    events: usize,
    facts: usize,
    kinds: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, (events, facts): (Vec<Told>, usize)) {
        self.events += events.len();
        self.facts += facts;
        for event in events {
            *self.kinds.entry(event.kind).or_default() += 1;
        }
    }

    #[track_caller]
    fn tell(&self, rounds: usize, what: &str) {
        println!(
            "{rounds} rounds on {what}: {} events, {} rows compared; {:?}",
            self.events, self.facts, self.kinds
        );
        let expected =
            KINDS.iter().filter(|_| rounds >= ROUNDS).chain(RARE.iter().filter(|_| rounds >= 10 * ROUNDS));
        let missing: Vec<_> = expected.filter(|kind| !self.kinds.contains_key(**kind)).collect();
        assert!(
            missing.is_empty(),
            "nothing of these happened, so nothing is proved about them: {missing:?}"
        );
    }
}

/// Codes and grants live longer than a test.
fn start(database: &Database) -> Server {
    database.server().with_env("COUNTERSIGN_CODE_TTL", "600").start()
}

/// D-01, D-27: the server, and the command that runs just then, are killed at random.
fn survive_kill_9(new: fn() -> Database, what: &str) {
    let (rounds, mut chance, mut tally) = (rounds(), Chance::new(), Tally::default());
    let mut left = rounds;
    while left > 0 {
        let database = new();
        let mut server = start(&database);
        let turns = left.min(ROUNDS_EACH);
        compare(&database);
        for turn in 0..turns {
            let (load, lives) = Load::start(&[server.site()], &database);
            wait_for("the load to begin", || lives.load(Ordering::Relaxed) > 2);
            thread::sleep(Duration::from_millis(chance.below(1_500)));
            load.kill_command();
            server.kill9();
            load.stop();
            wait_until_at_rest(&database);
            let (events, _) = compare(&database);
            end_leases(&database);
            server.restart();
            if turn + 1 == turns {
                // All of it can be sealed, and stays as it is.
                wait_until_sealed(&database, 1);
                server.kill9();
                wait_until_at_rest(&database);
                verified(&database);
                let compared = compare(&database);
                let sealed: BTreeSet<&str> = compared.0.iter().map(|event| event.id.as_str()).collect();
                assert!(
                    events.iter().all(|event| sealed.contains(event.id.as_str())),
                    "sealing loses nothing"
                );
                tally.add(compared);
            }
        }
        left -= turns;
    }
    tally.tell(rounds, what);
}

#[test]
fn after_kill_9_each_act_has_its_event_and_each_event_its_act_on_sqlite() {
    survive_kill_9(Database::sqlite, "SQLite");
}

#[test]
fn after_kill_9_each_act_has_its_event_and_each_event_its_act_on_postgres() {
    survive_kill_9(Database::postgres, "PostgreSQL");
}

/// D-03: PostgreSQL crashes and comes back under two servers.
#[test]
fn after_crashes_of_postgresql_each_act_has_its_event_and_each_event_its_act() {
    let (rounds, mut chance, mut tally) = (rounds(), Chance::new(), Tally::default());
    let cluster = Arc::new(Cluster::start());
    let mut left = rounds;
    while left > 0 {
        let database = Database::in_cluster(&cluster);
        let mut server = start(&database);
        let mut replica = server.replica();
        let (load, lives) = Load::start(&[server.site(), replica.site()], &database);
        let turns = left.min(ROUNDS_EACH);
        for _ in 0..turns {
            let before = lives.load(Ordering::Relaxed);
            wait_for("the load to go on", || lives.load(Ordering::Relaxed) > before + 2);
            thread::sleep(Duration::from_millis(chance.below(1_500)));
            cluster.stop_immediate();
            thread::sleep(Duration::from_millis(chance.below(500)));
            cluster.start_again();
        }
        load.stop();
        assert!(!server.has_ended() && !replica.has_ended(), "a server exited");
        wait_until_sealed(&database, 1);
        verified(&database);
        server.kill9();
        replica.kill9();
        wait_until_at_rest(&database);
        tally.add(compare(&database));
        left -= turns;
    }
    tally.tell(rounds, "PostgreSQL, which was killed itself");
}
