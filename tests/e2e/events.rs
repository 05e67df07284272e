//! What happened, black box: every act has its event and every event its act, whoever kills what; nobody alters an
//! event unseen; and operators read them.

pub(crate) mod crashes;
mod listing;
mod sealing;
mod secrecy;
mod tampering;
mod unsealable;

use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use countersign_tests::Database;
use serde_json::Value;

use crate::people::Ended;

/// A column, as text on both databases.
#[derive(Clone, Copy)]
enum Column {
    /// A UUID: 32 hexadecimal digits.
    Id(&'static str),
    /// Bytes: hexadecimal digits.
    Bytes(&'static str),
    /// A time: whole milliseconds since 1970.
    Time(&'static str),
    /// Anything else.
    Text(&'static str),
}

use Column::{Bytes, Id, Text, Time};

impl Column {
    fn sql(self, database: &Database) -> String {
        let text = match (self, database.is_postgres()) {
            (Id(name) | Bytes(name), false) => format!("lower(hex({name}))"),
            (Time(name), false) => format!("CAST({name} / 1000 AS TEXT)"),
            (Id(name), true) => format!("replace(CAST({name} AS TEXT), '-', '')"),
            (Bytes(name), true) => format!("encode({name}, 'hex')"),
            (Time(name), true) => {
                format!("CAST(CAST(floor(extract(epoch FROM {name}) * 1000) AS BIGINT) AS TEXT)")
            }
            (Text(name), _) => format!("CAST({name} AS TEXT)"),
        };
        format!("coalesce({text}, '')")
    }
}

/// The rows of a table, or of what else can follow `FROM`.
fn rows<const N: usize>(database: &Database, columns: [Column; N], from: &str) -> Vec<[String; N]> {
    let separated = columns.map(|column| column.sql(database)).join(" || '\u{1f}' || ");
    let found = database.words(&format!("SELECT {separated} AS word FROM {from}"));
    let row = |word: &String| {
        let cells: Vec<String> = word.split('\u{1f}').map(ToOwned::to_owned).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("{cells:?} in {from}"))
    };
    found.iter().map(row).collect()
}

/// An event, sealed or not.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    id: String,
    kind: String,
    /// A user's id.
    user: String,
    /// Of a person whose account was deleted.
    pseudonym: String,
    /// Family and address.
    wallet: String,
    client: String,
    details: Value,
}

impl Told {
    /// When it happened, in milliseconds since 1970.
    fn at(&self) -> i64 {
        i64::from_str_radix(&self.id[..12], 16).unwrap()
    }

    /// One of the details.
    fn detail(&self, name: &str) -> &str {
        self.details[name].as_str().unwrap_or_default()
    }

    /// A detail that is an id, as ids are written here.
    fn id_of(&self, name: &str) -> String {
        self.detail(name).replace('-', "")
    }
}

/// All events, the oldest first.
fn told(database: &Database) -> Vec<Told> {
    let columns = "id, kind, user_id, pseudonym, family, address, client_id, details";
    let all = format!(
        "(SELECT {columns} FROM events UNION ALL SELECT {columns} FROM fresh_events) AS told ORDER BY id"
    );
    let found = rows(
        database,
        [
            Id("id"),
            Text("kind"),
            Id("user_id"),
            Bytes("pseudonym"),
            Text("family"),
            Text("address"),
            Id("client_id"),
            Text("details"),
        ],
        &all,
    );
    let told: Vec<Told> = found
        .into_iter()
        .map(|[id, kind, user, pseudonym, family, address, client, details]| Told {
            details: serde_json::from_str(&details).unwrap_or_else(|error| panic!("{error}: {details}")),
            wallet: if address.is_empty() { String::new() } else { wallet(&family, &address) },
            id,
            kind,
            user,
            pseudonym,
            client,
        })
        .collect();
    for pair in told.windows(2) {
        assert_ne!(pair[0].id, pair[1].id, "an event is there twice");
    }
    told
}

fn wallet(family: &str, address: &str) -> String {
    format!("{family} {address}")
}

/// An id, as commands show it.
fn with_hyphens(id: &str) -> String {
    let mut shown = String::new();
    for (place, digit) in id.chars().enumerate() {
        if [8, 12, 16, 20].contains(&place) {
            shown.push('-');
        }
        write!(shown, "{digit}").unwrap();
    }
    shown
}

/// A command about events, without a running server.
fn event(database: &Database, arguments: &[&str]) -> Ended {
    Ended::of(&database.operator(&[&["event"], arguments].concat()).output().unwrap())
}

/// Verifies, and expects that everything holds. Returns the answer.
#[track_caller]
fn verified(database: &Database) -> Value {
    let ended = event(database, &["verify", "--output", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(answer["holds"], true);
    answer
}

/// A server that is killed keeps its lease for half a minute. The next one does not wait for that.
pub(crate) fn end_leases(database: &Database) {
    database.change("DELETE FROM leases");
}

/// Waits until the running server has sealed all events, and as many checkpoints are there.
#[track_caller]
pub(crate) fn wait_until_sealed(database: &Database, checkpoints: i64) {
    wait_for("the events to be sealed", || {
        database.number("SELECT count(*) FROM fresh_events") == 0
            && database.number("SELECT count(*) FROM checkpoints") >= checkpoints
    });
}

/// Waits until something is there, for a minute at most.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        assert!(Instant::now() < deadline, "waited a minute for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
