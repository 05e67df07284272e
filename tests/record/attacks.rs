//! The attacks: every table that verifying reads, column by column and row by row, with values of other rows and made-up ones;
//! rows that are gone, added and swapped; histories that are signed anew; and what the server does in between.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use countersign_conformance::fixtures;
use countersign_domain::checkpoint::{Salt, SealedEvent, merkle_root};
use countersign_domain::event::{Details, Event, EventKind, EventPerson, Pseudonym};
use countersign_tests::Database;
use countersign_usecases::Context;
use countersign_usecases::events::authenticate::authentic_last;
use countersign_usecases::events::retire_events::retire_events;
use countersign_usecases::events::seal_events::seal_events;
use time::Duration;

use crate::forgery::{Forger, Form};
use crate::scene::{Scene, Verdict};

/// A column, and what it holds.
#[derive(Clone, Copy)]
enum Holds {
    Id,
    Bytes(usize),
    Text,
    Number,
    Time,
}

use Holds::{Bytes, Id, Number, Text, Time};

/// The columns of an event; is it ever empty?
const EVENT: [(&str, Holds, bool); 16] = [
    ("id", Id, false),
    ("kind", Text, false),
    ("actor", Text, false),
    ("user_id", Id, true),
    ("pseudonym", Bytes(16), true),
    ("family", Text, true),
    ("chain", Text, true),
    ("address", Text, true),
    ("client_id", Id, true),
    ("peer", Text, true),
    ("request", Text, true),
    ("details", Text, false),
    ("signed", Text, true),
    ("salt", Bytes(16), true),
    ("commitment", Bytes(32), false),
    ("hiding_proof", Bytes(32), true),
];

const CHECKPOINT: [(&str, Holds); 8] = [
    ("number", Number),
    ("sealed_at", Time),
    ("first_position", Number),
    ("events", Number),
    ("root", Bytes(32)),
    ("previous", Bytes(32)),
    ("kept_from", Number),
    ("jws", Text),
];

const KEY: [(&str, Holds); 6] = [
    ("kid", Text),
    ("algorithm", Text),
    ("sealed", Bytes(200)),
    ("created_at", Time),
    ("active_from", Time),
    ("withdrawn_at", Time),
];

/// Everything but the person, of one sealed row put into another.
const PERSON: &str =
    "user_id = NULL, family = NULL, chain = NULL, address = NULL, peer = NULL, signed = NULL, salt = NULL";

/// What came of the attacks.
#[derive(Default)]
struct Tally {
    /// `event verify` names it.
    named: u32,
    /// Nothing that is sealed is any different.
    nothing: u32,
    /// Only checkpoints that were saved elsewhere, and a server that runs, show it.
    cut: u32,
    /// Attempts to have the server itself do what the attacker wants, which changed nothing that is sealed.
    server: u32,
    unseen: Vec<String>,
    /// How often it was named in which words.
    findings: BTreeMap<String, u32>,
}

pub(crate) fn attack(database: &Database) {
    let scene = Scene::new(database);
    let mut attacker = Attacker { scene: &scene, tally: Tally::default(), sparse: database.is_postgres() };
    let before = scene.verify();
    let Verdict::Holds(verified) = &before else { panic!("{before:?}") };
    assert!(verified.progress.checkpoints >= 11 && verified.progress.events >= 20, "{verified:?}");
    assert!(verified.forgotten >= 9 && verified.unproven_deletions.events == 0, "{verified:?}");
    assert_eq!(verified.misdated.events, 0, "{verified:?}");
    let by_keys = scene.verify_by_keys();
    assert!(by_keys.holds(), "{by_keys:?}");
    attacker.alter_events();
    attacker.tell("alter_events");
    attacker.hide_people();
    attacker.tell("hide_people");
    attacker.move_events();
    attacker.tell("move_events");
    attacker.alter_checkpoints();
    attacker.tell("alter_checkpoints");
    attacker.sign_anew();
    attacker.tell("sign_anew");
    attacker.alter_keys();
    attacker.tell("alter_keys");
    attacker.cut_the_end();
    attacker.tell("cut_the_end");
    attacker.use_the_unsealed_table();
    attacker.tell("use_the_unsealed_table");
    attacker.use_the_server_as_an_eraser();
    attacker.tell("use_the_server_as_an_eraser");
    let Tally { named, nothing, cut, server, unseen, findings } = attacker.tally;
    for (finding, times) in findings {
        println!("{times} x {finding}");
    }
    println!(
        "{} ways: {named} named, {nothing} that changed nothing sealed, {cut} cut ends that saved checkpoints and a running \
         server show, {server} that the server did not take part in, {} unseen",
        named + nothing + cut + server,
        unseen.len()
    );
    assert!(unseen.is_empty(), "unseen: {unseen:#?}");
    let least = if database.is_postgres() { 300 } else { 2_000 };
    assert!(named >= least, "{named}");
    let after = scene.verify();
    assert!(after.holds(), "everything was put back: {after:?}");
}

struct Attacker<'a> {
    scene: &'a Scene<'a>,
    tally: Tally,
    /// Not every way is tried: each takes long.
    sparse: bool,
}

impl Attacker<'_> {
    /// How far it is.
    fn tell(&self, after: &str) {
        let Tally { named, nothing, server, unseen, .. } = &self.tally;
        println!(
            "{after}: {named} named, {nothing} nothing, {server} by the server, {} unseen",
            unseen.len()
        );
    }

    fn postgres(&self) -> bool {
        self.scene.database.is_postgres()
    }

    /// Every way, or some of them.
    fn some<T>(&self, ways: Vec<T>, of: usize) -> Vec<T> {
        let step = if self.sparse { of } else { 1 };
        ways.into_iter().step_by(step).collect()
    }

    /// A value that no row has.
    fn made_up(&self, holds: Holds, number: usize) -> String {
        match (holds, self.postgres()) {
            (Id, true) => format!("'5a5a5a5a-5a5a-7a5a-9a5a-{number:012x}'"),
            (Id, false) => format!("x'5a5a5a5a5a5a7a5a9a5a{number:012x}'"),
            (Bytes(length), true) => format!("'\\x{}'::bytea", "5a".repeat(length)),
            (Bytes(length), false) => format!("x'{}'", "5a".repeat(length)),
            (Text, _) => format!("'made-up-{number}'"),
            (Number, _) => format!("{}", 1_000 + number),
            (Time, true) => format!("'2026-01-01T00:00:{:02}Z'::timestamptz", number % 60),
            (Time, false) => format!("{}", 1_767_225_600_000_000_u64 + number as u64),
        }
    }

    fn shifted(&self, column: &str, days: i64) -> String {
        if self.postgres() {
            format!("{column} + interval '{days} days'")
        } else {
            format!("{column} + ({days} * 86400000000)")
        }
    }

    /// Tries this, and puts everything back. `None` if it changed nothing at all.
    fn judge(&mut self, sql: &str) {
        self.scene.database.change(sql);
        self.judge_what_is_there(sql);
        self.scene.restore();
    }

    fn judge_what_is_there(&mut self, what: &str) {
        if let Verdict::Named(problem) = self.scene.verify() {
            self.tally.named += 1;
            let words =
                problem.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
            *self.tally.findings.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
        } else if self.scene.is_as_before("events") && self.scene.is_as_before("checkpoints") {
            self.tally.nothing += 1;
        } else {
            self.tally.unseen.push(what.to_owned());
        }
    }

    fn positions(&self) -> Vec<u64> {
        self.scene.sealed().iter().map(|sealed| sealed.position).collect()
    }

    fn alter_events(&mut self) {
        let positions = self.positions();
        let mut ways = Vec::new();
        for position in &positions {
            for (place, (column, holds, is_nullable)) in EVENT.into_iter().enumerate() {
                let mut values = vec![self.made_up(holds, place)];
                if is_nullable {
                    values.push("NULL".to_owned());
                }
                if column != "id" {
                    for other in
                        [positions[0], positions[positions.len() / 2], positions[positions.len() - 1]]
                    {
                        values.push(format!("(SELECT {column} FROM saved_events WHERE position = {other})"));
                    }
                }
                ways.extend(values.into_iter().map(|value| {
                    // What is so already is no alteration.
                    format!(
                        "UPDATE events SET {column} = {value} WHERE position = {position} AND {column} IS DISTINCT FROM {value}"
                    )
                }));
            }
        }
        for way in self.some(ways, 12) {
            self.judge(&way);
        }
    }

    /// Somebody's sealed event is made to look as if their account had been deleted.
    fn hide_people(&mut self) {
        let pseudonyms = [
            "(SELECT pseudonym FROM saved_events WHERE pseudonym IS NOT NULL ORDER BY position LIMIT 1)"
                .to_owned(),
            self.made_up(Bytes(16), 1),
        ]
        .to_vec();
        let one = "(SELECT hiding_proof FROM saved_events WHERE hiding_proof IS NOT NULL ORDER BY position LIMIT 1)";
        let proofs = ["NULL".to_owned(), self.made_up(Bytes(32), 1), one.to_owned(), "commitment".to_owned()];
        let mut ways = Vec::new();
        for position in self.positions() {
            for pseudonym in &pseudonyms {
                for proof in &proofs {
                    ways.push(format!(
                        "UPDATE events SET {PERSON}, pseudonym = {pseudonym}, hiding_proof = {proof} \
                         WHERE position = {position} AND user_id IS NOT NULL"
                    ));
                }
            }
        }
        // The events of an account that was really deleted go over to another one.
        ways.push(format!("UPDATE events SET pseudonym = {} WHERE pseudonym IS NOT NULL", pseudonyms[1]));
        for way in self.some(ways, 9) {
            self.judge(&way);
        }
    }

    fn move_events(&mut self) {
        let positions = self.positions();
        let mut ways = Vec::new();
        for (place, one) in positions.iter().enumerate() {
            for other in &positions[place + 1..] {
                ways.push(format!(
                    "UPDATE events SET position = -1 WHERE position = {one}; \
                     UPDATE events SET position = {one} WHERE position = {other}; \
                     UPDATE events SET position = {other} WHERE position = -1"
                ));
            }
        }
        let mut ways = self.some(ways, 25);
        let last = positions[positions.len() - 1];
        let columns = EVENT.map(|(column, ..)| column).join(", ");
        let others = EVENT[1..].iter().map(|(column, ..)| *column).collect::<Vec<_>>().join(", ");
        for position in self.some(positions.clone(), 6) {
            ways.push(format!("DELETE FROM events WHERE position = {position}"));
            ways.push(format!("DELETE FROM events WHERE position >= {position}"));
            ways.push(format!("DELETE FROM events WHERE position <= {position}"));
            for at in [last + 1, last + 100, 0, 1, 3] {
                let id = self.made_up(Id, 7);
                ways.push(format!(
                    "INSERT INTO events (position, {columns}) SELECT {at}, {id}, {others} FROM saved_events WHERE position = {position}"
                ));
            }
        }
        for way in ways {
            self.judge(&way);
        }
    }

    fn alter_checkpoints(&mut self) {
        let last = self.scene.saved.len();
        let mut ways = Vec::new();
        for number in 1..=last {
            for (place, (column, holds)) in CHECKPOINT.into_iter().enumerate() {
                let mut values = vec![self.made_up(holds, place)];
                match holds {
                    Number => values.extend([" + 1", " - 1"].map(|more| format!("{column}{more}"))),
                    Time => values.extend([-100, -1, 1, 100].map(|days| self.shifted(column, days))),
                    Id | Bytes(_) | Text => {}
                }
                if column == "number" {
                    // Other rows have the numbers before and after it.
                    values.truncate(1);
                } else {
                    for other in [1, last / 2, last] {
                        values
                            .push(format!("(SELECT {column} FROM saved_checkpoints WHERE number = {other})"));
                    }
                }
                ways.extend(values.into_iter().map(|value| {
                    format!("UPDATE checkpoints SET {column} = {value} WHERE number = {number} AND {column} <> {value}")
                }));
            }
            // The signature in its other form, and cut.
            for jws in ["jws || 'A'", "substr(jws, 1, length(jws) - 2)", "replace(jws, '.', '..')"] {
                ways.push(format!("UPDATE checkpoints SET jws = {jws} WHERE number = {number}"));
            }
            if number < last {
                ways.push(format!("DELETE FROM checkpoints WHERE number = {number}"));
                ways.push(format!("DELETE FROM checkpoints WHERE number <= {number}"));
            }
        }
        for way in self.some(ways, 8) {
            self.judge(&way);
        }
    }

    /// The attacker alters an event, makes everything fit from its checkpoint on, and signs it with a key of their own, a key
    /// that they put into the table of keys, or one that was stolen before it was withdrawn.
    fn sign_anew(&mut self) {
        let (scene, all) = (self.scene, self.scene.checkpoints());
        let of_server = scene.saved.len();
        let kid = |jws: &str| -> String {
            let header = jws.split('.').next().unwrap();
            let header =
                base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, header).unwrap();
            serde_json::from_slice::<serde_json::Value>(&header).unwrap()["kid"].as_str().unwrap().to_owned()
        };
        let active = kid(&all[of_server - 1].jws);
        let forgers = [
            ("a stranger", Forger::stranger(None)),
            ("a stranger with the name of the active key", Forger::stranger(Some(&active))),
            ("a thief of the withdrawn key", Forger::thief(scene, &scene.withdrawn)),
        ];
        let brought_back = "UPDATE signing_keys SET withdrawn_at = NULL";
        let added = "INSERT INTO signing_keys (kid, algorithm, sealed, created_at, active_from) \
            SELECT 'made-up', algorithm, sealed, created_at, active_from FROM saved_signing_keys WHERE algorithm = 'ES256' LIMIT 1";
        let mut ways = Vec::new();
        for from in 0..all.len() {
            for forger in 0..forgers.len() {
                for form in [Form::Before, Form::Lookalike] {
                    for keys in ["", brought_back, added] {
                        ways.push((from, forger, form, keys));
                    }
                }
            }
        }
        for (from, forger, form, keys) in self.some(ways, 11) {
            let (who, forger) = &forgers[forger];
            let what = format!("{who} signs anew from checkpoint {} on, {form:?}, {keys}", from + 1);
            self.rewrite(from, &|checkpoint| forger.sign(checkpoint, form));
            if !keys.is_empty() {
                scene.database.change(keys);
            }
            self.judge_what_is_there(&what);
            if scene.verify_by_keys().holds() {
                self.tally.unseen.push(format!("{what}, by keys"));
            }
            // No server builds on it, whether it starts now or has run all the time.
            let servers = [Some(scene.context.clone()), scene.restarted()];
            for server in servers.into_iter().flatten() {
                if scene.runtime.block_on(seal_events(&server)).is_ok() {
                    self.tally.unseen.push(format!("{what}, and the server goes on"));
                }
            }
            if scene.verify().holds() {
                self.tally.unseen.push(format!("{what}, after the server had its turn"));
            }
            scene.restore();
        }
    }

    /// Alters an event of this checkpoint or, if its events are gone, its time; and signs it and all later ones.
    fn rewrite(&self, from: usize, sign: &dyn Fn(&countersign_domain::checkpoint::Checkpoint) -> String) {
        let scene = self.scene;
        let (mut sealed, all) = (scene.sealed(), scene.checkpoints());
        let mut sql = String::new();
        let mut previous = all.get(from.wrapping_sub(1)).map(|before| before.hash());
        for (place, signed) in all.iter().enumerate().skip(from) {
            let mut checkpoint = signed.checkpoint.clone();
            let range = checkpoint.first..checkpoint.next();
            let own: Vec<&mut SealedEvent> =
                sealed.iter_mut().filter(|event| range.contains(&event.position)).collect();
            if own.is_empty() {
                checkpoint.sealed_at -= Duration::seconds(1);
            } else {
                let mut leaves = Vec::new();
                for (index, event) in own.into_iter().enumerate() {
                    if place == from && index == 0 {
                        let salt = Salt::new([7; 16]);
                        let altered = Event { kind: EventKind::WalletLinked, ..event.event.clone() };
                        let altered = SealedEvent::seal(event.position, altered, salt);
                        let bytes = |bytes: &[u8]| self.bytes(bytes);
                        writeln!(
                            sql,
                            "UPDATE events SET kind = 'wallet_linked', salt = {}, commitment = {}, hiding_proof = NULL WHERE position = {};",
                            bytes(&[7; 16]),
                            bytes(altered.commitment.as_bytes()),
                            event.position
                        )
                        .unwrap();
                        *event = altered;
                    }
                    leaves.push(event.leaf());
                }
                checkpoint.root = merkle_root(&leaves);
            }
            if let Some(previous) = previous {
                checkpoint.previous = previous;
            }
            let jws = sign(&checkpoint);
            previous = Some(countersign_domain::checkpoint::Digest256::of(jws.as_bytes()));
            let at = checkpoint.sealed_at.unix_timestamp();
            let at = if self.postgres() { format!("to_timestamp({at})") } else { format!("{at}000000") };
            writeln!(
                sql,
                "UPDATE checkpoints SET sealed_at = {at}, root = {}, previous = {}, jws = '{jws}' WHERE number = {};",
                self.bytes(checkpoint.root.as_bytes()),
                self.bytes(checkpoint.previous.as_bytes()),
                checkpoint.number
            )
            .unwrap();
        }
        scene.database.change(&sql);
    }

    fn bytes(&self, bytes: &[u8]) -> String {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if self.postgres() { format!("'\\x{digits}'::bytea") } else { format!("x'{digits}'") }
    }

    /// Keys authenticate nothing, so whatever is in their table changes nothing that is sealed.
    fn alter_keys(&mut self) {
        let kids = self.scene.database.words("SELECT kid AS word FROM signing_keys ORDER BY kid");
        let mut ways = Vec::new();
        for kid in &kids {
            for (place, (column, holds)) in KEY.into_iter().enumerate() {
                ways.push(format!(
                    "UPDATE signing_keys SET {column} = {} WHERE kid = '{kid}'",
                    self.made_up(holds, place)
                ));
                if column != "kid" {
                    ways.push(format!(
                        "UPDATE signing_keys SET {column} = (SELECT {column} FROM saved_signing_keys WHERE kid = '{}') WHERE kid = '{kid}'",
                        kids[0]
                    ));
                }
            }
            ways.push(format!("DELETE FROM signing_keys WHERE kid = '{kid}'"));
        }
        ways.push("DELETE FROM signing_keys".to_owned());
        for way in self.some(ways, 6) {
            self.judge(&way);
        }
    }

    /// A shorter record looks like one that is not as long yet. Checkpoints that were saved elsewhere show it, and so does a
    /// server that runs.
    fn cut_the_end(&mut self) {
        let all = self.scene.checkpoints();
        let lengths: Vec<usize> = (0..all.len()).collect();
        for length in self.some(lengths, 4) {
            let first = all[length].checkpoint.first;
            self.scene.database.change(&format!(
                "DELETE FROM checkpoints WHERE number > {length}; DELETE FROM events WHERE position >= {first}"
            ));
            let is_seen = !self.scene.verify_against(&self.scene.saved).holds()
                && self.scene.runtime.block_on(seal_events(&self.scene.context)).is_err();
            if is_seen {
                self.tally.cut += 1;
            } else {
                self.tally.unseen.push(format!("the end after checkpoint {length} was cut off"));
            }
            self.scene.restore();
        }
    }

    /// Is every event that was sealed still there, as it was?
    fn keeps_all_sealed(&self) -> bool {
        self.scene
            .database
            .number("SELECT count(*) FROM (SELECT * FROM saved_events EXCEPT SELECT * FROM events) AS lost")
            == 0
    }

    /// What is not sealed can be made up. It stays apart from what happened if its time or its proof does not fit, it stops no
    /// sealing, and it hides nobody.
    fn use_the_unsealed_table(&mut self) {
        let scene = self.scene;
        let living: Vec<u64> = (scene.sealed().iter())
            .filter(|sealed| matches!(sealed.event.person, Some(EventPerson::User(_))))
            .map(|sealed| sealed.position)
            .collect();
        for (place, position) in self.some(living, 5).into_iter().enumerate() {
            let pseudonym = Pseudonym::new([place as u8; 16]);
            for proof in [None, Some("5a".repeat(32))] {
                let details = Details::default().maybe_text("proof", proof).number("events", 9);
                let deletion = Event {
                    kind: EventKind::AccountDeleted,
                    person: Some(EventPerson::Deleted(pseudonym)),
                    wallet: None,
                    address: None,
                    details,
                    ..scene.event(countersign_conformance::fixtures::user_id(), 1)
                };
                assert!(scene.runtime.block_on(scene.storage.record_event(deletion)).unwrap());
                let server = scene.restarted().unwrap();
                let sealed = scene.runtime.block_on(seal_events(&server)).map(|round| round.events);
                assert!(sealed.is_ok_and(|events| events > 0), "nothing stops sealing");
                match scene.verify() {
                    Verdict::Holds(verified)
                        if verified.unproven_deletions.events == 1 && self.keeps_all_sealed() =>
                    {
                        self.tally.server += 1;
                    }
                    other @ (Verdict::Holds(_) | Verdict::Named(_)) => {
                        self.tally.unseen.push(format!("a deletion was made up: {other:?}"))
                    }
                }
                scene.database.change(&format!(
                    "UPDATE events SET {PERSON}, pseudonym = {} WHERE position = {position}",
                    self.bytes(pseudonym.as_bytes())
                ));
                if scene.verify().holds() {
                    self.tally
                        .unseen
                        .push(format!("{position} is hidden behind a deletion that was made up"));
                } else {
                    self.tally.named += 1;
                }
                scene.restore();
            }
        }
        for days in self.some(vec![1, 30, 730], 3) {
            let id = countersign_domain::id::EventId::at(
                countersign_ports::Clock::now(&*scene.clock) - Duration::days(days),
                [days as u8; 10],
            );
            let old = Event { id, ..scene.event(countersign_conformance::fixtures::user_id(), 1) };
            assert!(scene.runtime.block_on(scene.storage.record_event(old)).unwrap());
            let server = scene.restarted().unwrap();
            scene.runtime.block_on(seal_events(&server)).unwrap();
            match scene.verify() {
                Verdict::Holds(verified)
                    if verified.misdated.first == Some(id) && self.keeps_all_sealed() =>
                {
                    self.tally.server += 1;
                }
                other @ (Verdict::Holds(_) | Verdict::Named(_)) => {
                    self.tally.unseen.push(format!("an event was back-dated by {days} days: {other:?}"))
                }
            }
            scene.restore();
        }
    }

    /// The columns are set back or forward, the server has its turn, and the columns are as before.
    fn use_the_server_as_an_eraser(&mut self) {
        let last = self.scene.saved.len();
        let mut ways = Vec::new();
        for number in 1..=last {
            for days in [-400, -100, -91, 91] {
                let shifted = self.shifted("sealed_at", days);
                ways.push(format!("UPDATE checkpoints SET sealed_at = {shifted} WHERE number <= {number}"));
                ways.push(format!("UPDATE checkpoints SET sealed_at = {shifted} WHERE number = {number}"));
            }
            for kept_from in [number + 1, last, last + 1] {
                ways.push(format!("UPDATE checkpoints SET kept_from = {kept_from} WHERE number = {number}"));
                ways.push(format!("UPDATE checkpoints SET kept_from = {kept_from} WHERE number >= {number}"));
            }
            for (column, value) in [("first_position", "first_position + 5"), ("events", "events + 5")] {
                ways.push(format!("UPDATE checkpoints SET {column} = {value} WHERE number >= {number}"));
            }
            let jws = format!("(SELECT jws FROM saved_checkpoints WHERE number = {number})");
            ways.push(format!("UPDATE checkpoints SET jws = {jws} WHERE number <> {number}"));
        }
        let columns = CHECKPOINT.map(|(column, _)| column);
        let put_back = columns[1..].iter().map(|column| {
            format!("{column} = (SELECT {column} FROM saved_checkpoints AS saved WHERE saved.number = checkpoints.number)")
        });
        let put_back = format!(
            "UPDATE checkpoints SET {} WHERE number <= {last}",
            put_back.collect::<Vec<_>>().join(", ")
        );
        for way in self.some(ways, 7) {
            // One server has run since before the attack, the other starts during it.
            let running = Context { record: Arc::default(), ..self.scene.context.clone() };
            assert!(self.scene.runtime.block_on(authentic_last(&running)).unwrap().is_some());
            self.scene.database.change(&way);
            let servers: [Option<Context>; 2] = [Some(running), self.scene.restarted()];
            for server in servers.into_iter().flatten() {
                // Whatever comes of it.
                let _ = self.scene.runtime.block_on(seal_events(&server));
                for _ in 0..3 {
                    let _ = self
                        .scene
                        .runtime
                        .block_on(retire_events(&server, fixtures::past(server.clock.now())));
                }
            }
            self.scene.database.change(&put_back);
            let verdict = self.scene.verify();
            if verdict.holds() && self.keeps_all_sealed() {
                self.tally.server += 1;
            } else {
                self.tally.unseen.push(format!("{way}: {verdict:?}"));
            }
            self.scene.restore();
        }
    }
}
