//! `countersign doctor` and `healthcheck` beside real servers, databases, a mail server and a proxy with TLS: each line is
//! shown for what works, and for each thing that can be wrong.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use countersign_test_postgres::Cluster;
use countersign_tests::server::{OPERATOR_SECRET, free_port, project};
use countersign_tests::{Database, Parameters, Request, Server};
use serde_json::Value;

use crate::mail::mail_server::MailServer;

/// What the doctor said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    findings: Vec<Value>,
}

impl Said {
    fn by(mut command: Command) -> Self {
        let ended = command.args(["--output", "json"]).output().unwrap();
        let (out, err) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
        let findings = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"));
        let said = Self { code: ended.status.code(), findings };
        let fails = said.findings.iter().any(|finding| finding["state"] == "fail");
        assert_eq!(said.code, Some(i32::from(fails)), "{said:?}");
        for finding in &said.findings {
            let mut fields: Vec<_> = finding.as_object().unwrap().keys().collect();
            fields.sort();
            assert_eq!(fields, ["advice", "check", "message", "state"]);
        }
        said
    }

    /// The states of one check.
    fn states(&self, check: &str) -> Vec<&str> {
        let of_check = self.findings.iter().filter(|finding| finding["check"] == check);
        of_check.map(|finding| finding["state"].as_str().unwrap()).collect()
    }

    /// Asserts that there is one finding of this kind with these words in it.
    #[track_caller]
    fn has(&self, check: &str, state: &str, words: &str) {
        let is_it = |finding: &&Value| {
            finding["check"] == check
                && finding["state"] == state
                && finding["message"].as_str().unwrap().contains(words)
        };
        assert!(self.findings.iter().any(|finding| is_it(&finding)), "{check} {state} {words}: {self:#?}");
    }

    /// Asserts that nothing else than this check is unwell.
    #[track_caller]
    fn only(&self, check: &str) {
        let unwell = self.findings.iter().filter(|finding| finding["state"] != "ok");
        let others: Vec<_> = unwell.filter(|finding| finding["check"] != check).collect();
        assert!(others.is_empty(), "besides {check}: {others:#?}");
    }
}

/// The doctor for a server, with the same settings.
fn doctor(server: &Server) -> Command {
    on(server.database(), &server.public_url)
}

fn on(database: &Database, public_url: &str) -> Command {
    let mut command = database.operator(&["doctor"]);
    command.env("COUNTERSIGN_PUBLIC_URL", public_url);
    command
}

fn with(mut command: Command, variables: &[(&str, &str)]) -> Command {
    command.envs(variables.iter().copied());
    command
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(25);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until this many servers wrote down that they run.
fn until_noted(database: &Database, servers: i64) {
    until("they run", || database.number("SELECT count(*) FROM replicas WHERE settings <> ''") >= servers);
}

#[test]
fn all_is_well_with_a_server_that_runs_on_both_databases() {
    for server in [Server::sqlite(), Server::postgres()] {
        until_noted(server.database(), 1);
        let said = Said::by(doctor(&server));
        // The PostgreSQL that tests share does not wait for the disk.
        said.only(if server.database().is_postgres() { "durability" } else { "none" });
        let kind = if server.database().is_postgres() { "PostgreSQL 1" } else { "SQLite 3" };
        said.has("database", "ok", kind);
        if !server.database().is_postgres() {
            said.has("durability", "ok", "each answer waits for the disk");
        }
        said.has("keys", "ok", "the secret opens them");
        said.has("clock", "ok", "it agrees");
        said.has("replicas", "ok", "1 server on this database");
        said.has("proxies", "ok", "no server hears");
        said.has("public_url", "ok", "answers as this server does");
        for check in ["settings", "secret"] {
            assert_eq!(said.states(check), ["ok"]);
        }
        assert_eq!(said.states("disk").len(), usize::from(!server.database().is_postgres()));
        let text = doctor(&server).output().unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.starts_with("ok    settings    all of them are valid"), "{text}");
        assert_eq!(text.ends_with("\nall is well\n"), said.code == Some(0), "{text}");
    }
}

#[test]
fn wrong_settings_are_findings_and_each_warning_is_one() {
    let database = Database::sqlite();
    let wrong = [("COUNTERSIGN_CODE_TTL", "never"), ("COUNTERSIGN_BINDD", "x")];
    let said = Said::by(with(on(&database, "http://localhost:1"), &wrong));
    assert_eq!(said.states("settings"), ["fail", "fail"]);
    said.has("settings", "fail", "code_ttl takes a time");
    let doubtful = [("COUNTERSIGN_BIND", "0.0.0.0:8080"), ("COUNTERSIGN_APPLY_FILES", "/no/such/file.toml")];
    let said = Said::by(with(on(&database, "http://localhost:1"), &doubtful));
    said.has("settings", "warn", "can be reached from the network");
    said.has("settings", "fail", "/no/such/file.toml");
    said.has("replicas", "warn", "no server runs");
    said.has("public_url", "fail", "no connection");
}

#[test]
fn a_place_without_a_database_of_ours_is_told_and_stays_as_it_is() {
    let database = Database::new_sqlite();
    let said = Said::by(on(&database, "http://localhost:1"));
    said.has("database", "warn", "there is nothing at");
    said.has("secret", "ok", "when it first starts");
    assert_eq!(fs::read_dir(database.folder()).unwrap().count(), 0, "it makes nothing");
    fs::write(
        database.folder().join("countersign.db"),
        "something else, and long enough for a header of SQLite".repeat(9),
    )
    .unwrap();
    Said::by(on(&database, "http://localhost:1")).has("database", "fail", "is not a database of Countersign");
    let empty = Database::new_postgres();
    Said::by(on(&empty, "http://localhost:1")).has("database", "warn", "there is nothing at");
    assert_eq!(empty.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), 0);
}

#[test]
fn a_schema_of_another_release_is_told_and_not_changed() {
    for database in [Database::sqlite(), Database::postgres()] {
        let newest = "SELECT max(version) AS word FROM __diesel_schema_migrations";
        let newest = database.words(newest).concat();
        database.change("INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000001')");
        let said = Said::by(on(&database, "http://localhost:1"));
        said.has("database", "warn", "a newer release was here: this one does not know 20990101000001");
        database.change(&format!(
            "DELETE FROM __diesel_schema_migrations WHERE version IN ('20990101000001', '{newest}')"
        ));
        let said = Said::by(on(&database, "http://localhost:1"));
        said.has("database", "warn", "1 migration of this release did not run: ");
        assert_eq!(said.states("keys"), [""; 0], "what would bring the schema up to date is not opened");
        assert_ne!(
            database.words("SELECT max(version) AS word FROM __diesel_schema_migrations").concat(),
            newest
        );
    }
}

#[test]
fn a_damaged_file_is_found_before_a_server_meets_the_damage() {
    let database = Database::sqlite();
    let path = database.folder().join("countersign.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let said = Said::by(on(&database, "http://localhost:1"));
    said.has("durability", "fail", "is damaged");
}

/// B-073
#[test]
fn a_database_that_others_can_change_is_refused_by_every_command_and_one_that_they_can_read_is_warned_of() {
    for name in ["countersign.db", "countersign.db-wal", "countersign.db-shm"] {
        let database = Database::sqlite();
        let path = database.folder().join(name);
        if !path.exists() {
            fs::write(&path, "").unwrap();
        }
        let before = fs::read(&path).unwrap();
        for mode in [0o666, 0o660, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let said = Said::by(on(&database, "http://localhost:1"));
            said.has("database", "fail", &format!("mode {mode:03o}"));
            for command in [&["serve", "--bind", "127.0.0.1:0"][..], &["client", "list"], &["migrate"]] {
                let refused = database.operator(command).output().unwrap();
                let told = String::from_utf8(refused.stderr).unwrap();
                assert_eq!(refused.status.code(), Some(1), "{command:?} {name} {mode:o}: {told}");
                assert!(told.contains(&format!("mode {mode:03o}")) && told.contains("chmod 600"), "{told}");
            }
        }
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(
            Said::by(on(&database, "http://localhost:1")).states("settings"),
            ["ok"],
            "a group may read"
        );
    }
    let [database, linked] = [Database::sqlite(), Database::new_sqlite()];
    let [real, link] = [&database, &linked].map(|database| database.folder().join("countersign.db"));
    std::os::unix::fs::symlink(&real, link).unwrap();
    let log = real.with_file_name("countersign.db-wal");
    fs::write(&log, "").unwrap();
    fs::set_permissions(&log, fs::Permissions::from_mode(0o666)).unwrap();
    Said::by(on(&linked, "http://localhost:1")).has("database", "fail", "countersign.db-wal has mode 666");
    let database = Database::sqlite();
    fs::set_permissions(database.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    let said = Said::by(on(&database, "http://localhost:1"));
    said.has("settings", "warn", "put another file in the place of the database");
    fs::set_permissions(database.folder(), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(Said::by(on(&database, "http://localhost:1")).states("settings"), ["ok"]);
    fs::set_permissions(database.folder().join("countersign.db"), fs::Permissions::from_mode(0o644)).unwrap();
    Said::by(on(&database, "http://localhost:1")).has("settings", "warn", "countersign.db has mode 644");
}

/// B-073
#[test]
fn a_database_whose_secret_file_is_gone_gets_no_new_one_and_stays_as_it_is() {
    let database = Database::sqlite();
    let [secret, away] = ["countersign.db.secret", "secret-away"].map(|name| database.folder().join(name));
    fs::rename(&secret, &away).unwrap();
    let before = database.dump();
    for _ in 0..2 {
        let refused = database.operator(&["serve", "--bind", "127.0.0.1:0"]).output().unwrap();
        let told = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{told}");
        assert!(told.contains("countersign.db.secret, and the database has signing keys"), "{told}");
        assert!(!secret.exists() && database.dump() == before);
    }
    let said = Said::by(on(&database, "http://localhost:1"));
    said.has("secret", "fail", "keys that only its secret opens");
    said.has("keys", "warn", "without the secret");
    let other =
        Said::by(with(on(&database, "http://localhost:1"), &[("COUNTERSIGN_SECRET", OPERATOR_SECRET)]));
    other.has("secret", "ok", "it is set");
    other.has("keys", "fail", "the secret does not open them");
    fs::set_permissions(&away, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&away, &secret).unwrap();
    drop(database.start());
    let migrated = Database::new_sqlite();
    assert!(migrated.operator(&["migrate"]).output().unwrap().status.success());
    assert!(migrated.start().get("/health/ready").status == 200, "without keys, a server makes its secret");
}

#[test]
fn servers_with_other_settings_notice_each_other_and_an_untrusted_proxy_is_named() {
    let one = Server::postgres();
    until_noted(one.database(), 1);
    let other = one
        .database()
        .server()
        .with_public_url(&one.public_url)
        .with_env("COUNTERSIGN_CODE_TTL", "61")
        .start();
    let noticed = |server: &Server, here: &str, there: &str| {
        let log = String::from_utf8(server.log()).unwrap();
        log.lines().any(|line| {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            line["setting"] == "code_ttl" && line["here"] == here && line["there"] == there
        })
    };
    until("the second notices", || noticed(&other, "61", "60"));
    let wrong = Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", "none")]);
    other.send(&Request::form("/oauth/token", &wrong).header("X-Forwarded-For", "203.0.113.7"));
    let said = Said::by(doctor(&one));
    said.has(
        "replicas",
        "warn",
        "code_ttl is \"60\" in these settings and \"61\" in the server that started at",
    );
    until("the first notices", || noticed(&one, "60", "61"));
    until("the proxy is noted", || {
        one.database().number("SELECT count(*) FROM replicas WHERE untrusted_proxy = '127.0.0.1'") == 1
    });
    Said::by(doctor(&one)).has("proxies", "warn", "127.0.0.1 forwards requests and is not trusted");
    let mut other = other;
    assert!(other.terminate().success());
    assert_eq!(one.database().number("SELECT count(*) FROM replicas"), 1, "one that stops says so");
    let trial = Said::by(doctor(&one));
    assert_eq!(trial.states("replicas"), ["ok"]);
}

#[test]
fn a_desk_for_a_group_in_which_nobody_is_is_warned_of() {
    let server = Database::sqlite().server().with_env("COUNTERSIGN_ADMIN_GROUP", "admins").start();
    let log = String::from_utf8(server.log()).unwrap();
    assert!(log.contains("admin_group: there is no group admins, so no one can use the desk"), "{log}");
    let setting = [("COUNTERSIGN_ADMIN_GROUP", "admins")];
    let said = || Said::by(with(doctor(&server), &setting));
    said().has("desk", "warn", "there is no group admins");
    server.database().operate(&["group", "create", "admins"]);
    said().has("desk", "warn", "no one is in the group admins");
    server.database().operate(&[
        "group",
        "add",
        "admins",
        "eip155:1:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
    ]);
    assert_eq!(said().states("desk"), ["ok"]);
}

#[test]
fn what_postgresql_must_promise_is_looked_at() {
    let cluster = Arc::new(Cluster::start());
    let database = Database::in_cluster(&cluster);
    drop(database.start());
    let said = || Said::by(on(&database, "http://localhost:1"));
    assert_eq!(said().states("durability"), ["ok"]);
    for setting in ["fsync", "full_page_writes", "autovacuum"] {
        let name = database.url().rsplit('/').next().unwrap().to_owned();
        cluster.execute(&name, &format!("ALTER SYSTEM SET {setting} = off"));
        cluster.execute(&name, "SELECT pg_reload_conf()");
        until(setting, || {
            said().findings.iter().any(|found| found["message"].as_str().unwrap().starts_with(setting))
        });
        cluster.execute(&name, &format!("ALTER SYSTEM RESET {setting}"));
        cluster.execute(&name, "SELECT pg_reload_conf()");
    }
    database.change("CREATE ROLE reader LOGIN");
    database.change("ALTER ROLE reader SET synchronous_commit = off");
    database.change("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    let url = database.url();
    let place = url.split_once("://").map_or("", |(_, place)| place);
    let url = format!("postgres://reader@{}", place.rsplit_once('@').map_or(place, |(_, place)| place));
    let of_reader =
        || Said::by(with(on(&database, "http://localhost:1"), &[("COUNTERSIGN_DATABASE_URL", &url)]));
    let found = of_reader();
    found.has("database", "fail", "the role reader cannot read and write");
    found.has("durability", "warn", "synchronous_commit is off");
    database.change("ALTER ROLE reader SET default_transaction_read_only = on");
    of_reader().has("database", "fail", "read-only");
    cluster.stop_fast();
    said().has("database", "fail", "refuse");
}

#[test]
fn a_clock_that_is_wrong_is_measured_by_the_databases() {
    let database = Database::postgres();
    let off = |by: &str| {
        let machine = std::env::consts::ARCH;
        let library = format!("/usr/lib/{machine}-linux-gnu/faketime/libfaketimeMT.so.1");
        let clock = [
            ("LD_PRELOAD", &*library),
            ("FAKETIME", by),
            ("DONT_FAKE_MONOTONIC", "1"),
            ("NO_FAKE_STAT", "1"),
        ];
        Said::by(with(on(&database, "http://localhost:1"), &clock))
    };
    off("+0").has("clock", "ok", "it agrees with the database's");
    off("+10").has("clock", "warn", "of the database's");
    off("-60").has("clock", "fail", "of the database's");
}

/// Answers each connection with this, or never.
fn listener(answer: Option<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            if let Some(answer) = answer {
                // The question may come in pieces.
                connection.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
                while connection.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
                let _ = connection.write_all(answer.as_bytes());
            } else {
                kept.push(connection);
            }
        }
    });
    port
}

#[test]
fn services_are_asked_and_each_answer_is_judged() {
    const CHAIN_1: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 39\r\nConnection: close\r\n\r\n\
        {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"0x1\"}";
    let rpc = listener(Some(CHAIN_1));
    let mut mail =
        MailServer::start(&project().join("tests/peers"), &["--user", "ann", "--password", "correct-horse"]);
    let port = mail.next()["port"].as_u64().unwrap();
    let database = Database::sqlite();
    let said = |rpc: String, smtp: String| {
        let settings = [
            ("COUNTERSIGN_ETHEREUM_RPC", &*rpc),
            ("COUNTERSIGN_SMTP_URL", &*smtp),
            ("COUNTERSIGN_MAIL_FROM", "a@auth.example"),
        ];
        Said::by(with(on(&database, "http://localhost:1"), &settings))
    };
    let good =
        said(format!("1=http://127.0.0.1:{rpc}"), format!("smtp://ann:correct-horse@127.0.0.1:{port}"));
    good.has("rpc", "ok", "chain 1");
    good.has("smtp", "ok", "takes mail from mail_from");
    let bad = said(
        format!("1=http://127.0.0.1:{rpc},137=http://127.0.0.1:{rpc},10=http://127.0.0.1:1"),
        format!("smtp://ann:wrong-horse@127.0.0.1:{port}"),
    );
    assert_eq!(bad.states("rpc"), ["ok", "fail", "fail"]);
    bad.has("rpc", "fail", "it serves chain 1");
    bad.has("smtp", "fail", "mail server is unavailable");
    let gone = said(format!("1=http://127.0.0.1:{rpc}"), "smtp://127.0.0.1:1".to_owned());
    gone.has("smtp", "fail", "cannot be reached");
}

/// A proxy with TLS.
struct Front {
    process: Child,
    ca_file: String,
}

impl Front {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new("python3");
        command.arg(project().join("tests/peers/front.py")).args(arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        Self { process, ca_file: said["ca_file"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

#[test]
fn the_public_url_is_asked_as_applications_do_and_says_what_stands_there() {
    let port = free_port();
    let url = format!("https://localhost:{port}");
    let mut server = Database::sqlite()
        .server()
        .with_public_url(&url)
        .with_env("COUNTERSIGN_TRUSTED_PROXIES", "127.0.0.1")
        .start();
    until_noted(server.database(), 1);
    let behind = server.address.port().to_string();
    let port = port.to_string();
    let front = |more: &[&str]| Front::start(&[&["--behind", &*behind, "--port", &*port], more].concat());
    let trusting = [("COUNTERSIGN_TRUSTED_PROXIES", "127.0.0.1")];
    let ask = |url: &str, front: &Front, database: &Database| {
        let mut command = with(on(database, url), &trusting);
        command.args(["--ca-file", &front.ca_file]);
        Said::by(command)
    };
    let here = server.database().clone();
    let good = front(&[]);
    let said = ask(&url, &good, &here);
    said.only("none");
    said.has("public_url", "ok", "answers as this server does");
    let mut probe = here.operator(&["healthcheck", "--url", &url]);
    let unknown = probe.output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("certificate is not accepted"), "{unknown:?}");
    probe.args(["--ca-file", &good.ca_file]);
    assert_eq!(probe.output().unwrap().status.code(), Some(0));

    let untrusted = Said::by(with(on(&here, &url), &trusting));
    untrusted.has("public_url", "fail", "its certificate is not accepted");
    untrusted.only("public_url");
    let by_address = ask(&format!("https://127.0.0.1:{port}"), &good, &here);
    by_address.has("public_url", "fail", "its certificate is not accepted");
    ask(&url, &good, &Database::new_sqlite()).has("public_url", "ok", "answers");
    let elsewhere = Database::new_sqlite();
    drop(elsewhere.start());
    ask(&url, &good, &elsewhere).has("public_url", "fail", "is served from another database");
    drop(good);

    let plain = format!("https://localhost:{behind}");
    let said = Said::by(with(on(&here, &plain), &trusting));
    assert_eq!(said.states("public_url"), ["fail"], "{said:?}");
    for (more, words) in [
        (&["--answer", "301"][..], "leads elsewhere: https://elsewhere.example/"),
        (&["--answer", "200"], "does not answer with JSON"),
        (&["--answer", "404"], "answered 404"),
        (&["--unready"], "the server is not ready: the store cannot be written"),
    ] {
        let said = ask(&url, &front(more), &here);
        said.has("public_url", "fail", words);
        said.only("public_url");
    }
    Said::by(on(&here, &format!("http://localhost:{behind}"))).has("public_url", "fail", "names the issuer");
    let nobody = Said::by(with(on(&here, "https://no-such-name.invalid"), &trusting));
    assert_eq!(nobody.states("public_url"), ["fail"], "{nobody:?}");
    assert!(server.terminate().success());
    ask(&url, &front(&[]), &here).has("public_url", "fail", "answered 502");
}

/// A-010: nothing that the settings keep secret is shown, and what never answers holds nobody up for long.
#[test]
fn no_secret_is_shown_and_nothing_is_waited_for_without_end() {
    let port = listener(None);
    let folder = tempfile::tempdir().unwrap();
    let secret = "EAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let database = format!("postgres://ann:hunter2-db@127.0.0.1:{port}/auth");
    let smtp = format!("smtp://ann:hunter2-mail@127.0.0.1:{port}");
    let rpc = format!("1=http://127.0.0.1:{port}/hunter2-rpc");
    let settings = [
        ("COUNTERSIGN_DATABASE_URL", &*database),
        ("COUNTERSIGN_SECRET", secret),
        ("COUNTERSIGN_SMTP_URL", &smtp),
        ("COUNTERSIGN_MAIL_FROM", "a@auth.example"),
        ("COUNTERSIGN_ETHEREUM_RPC", &rpc),
        ("COUNTERSIGN_REGISTRATION_TOKEN", "hunter2-registration"),
        ("COUNTERSIGN_REGISTRATION", "token"),
        ("COUNTERSIGN_EVENT_PUSH_URL", "https://events.example/hunter"),
        ("COUNTERSIGN_EVENT_PUSH_SECRET", "hunter2-push-and-long-enough"),
    ];
    let public_url = format!("http://localhost:{port}");
    let begun = Instant::now();
    let mut told = String::new();
    let running = ["text", "json"].map(|output| {
        let mut command = Command::new(countersign_tests::server::binary());
        command.args(["doctor", "--output", output]).current_dir(folder.path()).env_clear();
        command.envs(settings).env("COUNTERSIGN_PUBLIC_URL", &public_url);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for process in running {
        let ended = process.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(1));
        told.push_str(&String::from_utf8(ended.stdout).unwrap());
        told.push_str(&String::from_utf8(ended.stderr).unwrap());
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert!(!told.contains("hunter2") && !told.contains(secret), "{told}");
    for check in ["database", "rpc", "smtp", "public_url"] {
        assert!(told.contains(&format!("fail  {check}")), "{check}: {told}");
    }
}

#[test]
fn whoever_answers_at_the_public_url_leads_nobody_elsewhere_and_cannot_write_to_the_terminal() {
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let inside = trap.local_addr().unwrap();
    let page = |body: &str| -> &'static str {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        (head + body).leak()
    };
    let database = Database::sqlite();
    let long = "x".repeat(100_000);
    let shouting = listener(Some(page(&format!(r#"{{"issuer":"\u001b[2J\u202e{long}"}}"#))));
    let ended = on(&database, &format!("http://localhost:{shouting}")).output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("names the issuer") && text.len() < 4_000, "{}", text.len());
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let port = free_port();
    let url = format!("http://localhost:{port}");
    let body = format!(r#"{{"issuer":"{url}","jwks_uri":"http://{inside}/","keys":[]}}"#);
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let answer = page(&body);
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    Said::by(on(&database, &url)).has("public_url", "fail", "is served from another database");
    assert!(trap.accept().is_err(), "the address in its document was not asked");
}

#[test]
fn what_upkeep_could_not_do_is_logged_with_its_cause() {
    let server = Server::postgres();
    server.database().change("ALTER TABLE pushed_requests RENAME TO moved");
    until("upkeep says why", || {
        String::from_utf8(server.log()).unwrap().lines().any(|line| {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            line["message"] == "expired rows could not be deleted and stay for now"
                && line["error"].as_str().unwrap().contains("relation \"pushed_requests\" does not exist")
        })
    });
}
