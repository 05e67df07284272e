//! The desk over TCP: who sees it, what a signature carries out, and what nothing else carries out.

mod attacks;
mod changes;
mod charts;
mod hidden;
mod mail;
mod names;
mod quorum;
mod record;
mod settings;
mod suspending;

use std::collections::BTreeMap;

use countersign_tests::server::Settings;
use countersign_tests::{Browser, Database, Parameters, Request, Response, Site, Wallet};
use serde_json::{Value, json};

use crate::account::sign_in;

/// The account of a wallet, by CAIP-10.
fn account(wallet: &Wallet) -> String {
    format!("eip155:1:{}", wallet.address())
}

/// Settings in which these wallets are the operators'.
fn run_by(database: &Database, operators: &[&Wallet]) -> Settings {
    let accounts: Vec<String> = operators.iter().map(|wallet| account(wallet)).collect();
    database.server().with_env("COUNTERSIGN_ADMINS", &accounts.join(","))
}

/// The same with a quorum of two.
fn run_by_two(database: &Database, operators: &[&Wallet]) -> Settings {
    run_by(database, operators).with_env("COUNTERSIGN_ADMIN_QUORUM", "2")
}

/// A change, as an operator fills in its form.
#[derive(Clone, Debug)]
struct Wanted {
    /// The page that shows the form.
    page: String,
    /// The word for the change.
    change: &'static str,
    /// What the operator fills in.
    fields: Vec<(&'static str, String)>,
    /// Which of several forms for such changes: the one with this value in a hidden field.
    about: Option<String>,
}

impl Wanted {
    /// The form of the page that has this value in a hidden field.
    fn about(self, value: &str) -> Self {
        Self { about: Some(value.to_owned()), ..self }
    }
}

fn wanted(page: &str, change: &'static str, fields: &[(&'static str, &str)]) -> Wanted {
    let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Wanted { page: page.to_owned(), change, fields, about: None }
}

/// A text that waits for a signature, on the page that shows it.
#[derive(Clone, Debug)]
struct Begun {
    /// Where the signature is sent.
    action: String,
    /// The hidden fields beside it.
    hidden: Parameters,
    text: String,
}

/// An operator at the desk, in a browser.
struct Seat<'a> {
    browser: Browser,
    wallet: &'a Wallet,
}

impl<'a> Seat<'a> {
    /// Signs in.
    fn of(site: &Site, wallet: &'a Wallet) -> Self {
        Self { browser: sign_in(site, wallet), wallet }
    }

    fn get(&mut self, path: &str) -> Response {
        self.browser.send(Request::get(path).header("Accept", "text/html"))
    }

    /// A page of the desk.
    #[track_caller]
    fn page(&mut self, path: &str) -> String {
        self.get(path).expect(200).text()
    }

    /// Sends a form as the page would.
    fn post(&mut self, path: &str, fields: &Parameters) -> Response {
        self.browser.send(Request::form(path, fields).header("Accept", "text/html"))
    }

    /// The form for a change with what the page fills in and what the operator does.
    #[track_caller]
    fn filled_in(&mut self, wanted: &Wanted) -> Parameters {
        let html = self.page(&wanted.page);
        let form = countersign_tests::page::forms(&html)
            .into_iter()
            .find(|form| {
                let has = |text: &str| form.hidden.0.iter().any(|(_, value)| value == text);
                form.action.ends_with("/admin/changes")
                    && has(wanted.change)
                    && wanted.about.as_deref().is_none_or(has)
            })
            .unwrap_or_else(|| panic!("{wanted:?}: there is no such form in {html}"));
        let names: Vec<&str> = wanted.fields.iter().map(|(name, _)| *name).collect();
        let kept = form.untouched.0.into_iter().filter(|(name, _)| !names.contains(&name.as_str()));
        wanted.fields.iter().fold(Parameters(kept.collect()), |fields, (name, value)| fields.and(name, value))
    }

    /// Asks for the text of a change, whatever the answer.
    #[track_caller]
    fn ask(&mut self, wanted: &Wanted) -> Response {
        let fields = self.filled_in(wanted);
        self.post("/admin/changes", &fields)
    }

    /// Asks for the text of a change.
    #[track_caller]
    fn begin(&mut self, wanted: &Wanted) -> Begun {
        let answer = self.ask(wanted);
        assert_eq!(answer.status, 200, "{wanted:?}: {answer:?}");
        begun(&answer.text())
    }

    /// Sends a text with this signature.
    fn send(&mut self, begun: &Begun, signature: &str) -> Response {
        let fields = begun.hidden.clone().with("signature", signature);
        self.post(&begun.action, &fields)
    }

    /// Signs a text and sends it.
    fn sign(&mut self, begun: &Begun) -> Response {
        let signature = self.wallet.sign(&begun.text);
        self.send(begun, &signature)
    }

    /// Makes a change from its form to its end.
    #[track_caller]
    fn make(&mut self, wanted: &Wanted) -> Response {
        let begun = self.begin(wanted);
        let answer = self.sign(&begun);
        assert!(matches!(answer.status, 200 | 303), "{wanted:?}: {answer:?}");
        answer
    }

    /// Proposes a change that needs a second operator, and returns its id.
    #[track_caller]
    fn propose(&mut self, wanted: &Wanted) -> String {
        let begun = self.begin(wanted);
        let answer = self.sign(&begun);
        assert!(matches!(answer.status, 200 | 303), "{wanted:?}: {answer:?}");
        change_id(&begun.text)
    }

    /// Asks for the text of a second signature, whatever the answer.
    #[track_caller]
    fn ask_second(&mut self, proposal: &str) -> Response {
        let path = format!("/admin/proposals/{proposal}");
        let shown = self.get(&path);
        let html = shown.text();
        let form = countersign_tests::page::forms(&html)
            .into_iter()
            .find(|form| form.action.ends_with("/admin/proposals/begin"));
        match form {
            Some(form) => self.post("/admin/proposals/begin", &form.hidden),
            None => shown,
        }
    }

    /// Asks for the text of a second signature.
    #[track_caller]
    fn begin_second(&mut self, proposal: &str) -> Begun {
        let answer = self.ask_second(proposal);
        assert_eq!(answer.status, 200, "{answer:?}");
        begun(&answer.text())
    }
}

/// The text on a page, and where its signature goes.
#[track_caller]
fn begun(html: &str) -> Begun {
    let form = countersign_tests::page::forms(html)
        .into_iter()
        .find(|form| form.action.ends_with("/sign"))
        .unwrap_or_else(|| panic!("nothing is to be signed on {html}"));
    let text = form.hidden.0.iter().find(|(_, value)| value.contains(" wants you to sign in with your "));
    let text = text.unwrap_or_else(|| panic!("no text in {form:?}")).1.clone();
    Begun { action: form.action, hidden: form.hidden, text }
}

/// The id of the change that a text is about.
#[track_caller]
fn change_id(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("Request ID: "));
    line.unwrap_or_else(|| panic!("no id in {text}")).to_owned()
}

/// Everything that an operator can change, as the command line tells it, and how many rows there are.
fn everything(database: &Database) -> (Value, BTreeMap<String, i64>) {
    let lists = [
        &["client", "list"][..],
        &["user", "list"],
        &["wallet", "list"],
        &["group", "list"],
        &["resource", "list"],
        &["key", "list"],
        &["admin-key", "list"],
    ];
    let told: Vec<Value> = lists.iter().map(|list| database.operate(list)).collect();
    (json!(told), database.rows())
}

/// How many events of this kind there are, sealed or not.
fn events(database: &Database, kind: &str) -> i64 {
    database.number(&format!(
        "SELECT (SELECT count(*) FROM fresh_events WHERE kind = '{kind}') + (SELECT count(*) FROM events WHERE kind = '{kind}')"
    ))
}

/// What operators signed, of all events of this kind.
fn signed(database: &Database, kind: &str) -> Vec<Value> {
    // One statement: an event that is sealed between two would be in neither answer.
    let of = |table: &str| {
        format!("SELECT CAST(coalesce(signed, 'null') AS TEXT) AS word FROM {table} WHERE kind = '{kind}'")
    };
    let found = database.words(&format!("{} UNION ALL {}", of("events"), of("fresh_events")));
    found.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}
