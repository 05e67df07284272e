//! Reads files: which tables and fields there are, and of which types. What a value must be besides is judged by the
//! parsers that commands use too, and by the rules.

mod client;
mod group;
mod person;
mod resource;
mod secret;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use countersign_operators::declared::{DeclaredFiles, Item, Mistake, Spot};

use super::node::{Entry, Node, NodeKind, from_json, from_toml};
use super::places::Places;
use crate::files::bounded_file;
use crate::output::terminal::nearest;

/// The longest file that is read: some 50,000 clients.
const LONGEST: u64 = 64 << 20;

/// What is wrong with a name that an object has twice.
const TWICE: &str = "is here twice";

/// The tables that a file can have.
const TABLES: [&str; 4] = ["client", "group", "resource", "person"];

/// Reads all files. The error lists every mistake in them, not just the first.
pub(super) fn read_files(paths: &[Arc<str>]) -> Result<DeclaredFiles, Vec<Mistake>> {
    let mut files = DeclaredFiles { sources: paths.to_vec(), ..DeclaredFiles::default() };
    let mut mistakes = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        if paths.iter().take(place).any(|before| before == path) {
            let at = Spot { file: Arc::clone(path), line: 1, column: 1 };
            let what = "is named twice".to_owned();
            mistakes.push(Mistake { at, field: "file".to_owned(), what });
            continue;
        }
        match bounded_file::read(Path::new(&**path), LONGEST) {
            Ok(text) => read_file(path, &text, &mut files, &mut mistakes),
            Err(error) => mistakes.push(Mistake {
                at: Spot { file: Arc::clone(path), line: 1, column: 1 },
                field: "file".to_owned(),
                what: format!("cannot be read: {error}"),
            }),
        }
    }
    if mistakes.is_empty() { Ok(files) } else { Err(mistakes) }
}

fn read_file(path: &Arc<str>, text: &str, files: &mut DeclaredFiles, mistakes: &mut Vec<Mistake>) {
    let mut reader = Reader { file: Arc::clone(path), places: Places::of(text), mistakes };
    let is_json =
        Path::new(&**path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let root = match if is_json { from_json(text) } else { from_toml(text) } {
        Ok(root) => root,
        Err(unreadable) => return reader.mistake(unreadable.at, "file", unreadable.what),
    };
    let NodeKind::Table(entries) = &root.value else {
        return reader.mistake(root.at, "file", "is not an object with the tables of a file".to_owned());
    };
    for (place, Entry { at, key, node }) in entries.iter().enumerate() {
        if !TABLES.contains(&&**key) {
            reader.mistake(*at, key, unknown("table", key, &TABLES));
            continue;
        }
        // TOML has no such files.
        if entries.iter().take(place).any(|before| before.key == *key) {
            reader.mistake(*at, key, TWICE.to_owned());
            continue;
        }
        let NodeKind::List(things) = &node.value else {
            reader.mistake(*at, key, format!("must be a list of tables: write [[{key}]]"));
            continue;
        };
        for thing in things {
            let Some(table) = reader.table(thing, key, fields_of(key)) else { continue };
            match &**key {
                "client" => files.clients.extend(client::read(&mut reader, table)),
                "group" => files.groups.extend(group::read(&mut reader, table)),
                "person" => files.people.extend(person::read(&mut reader, table)),
                _ => files.resources.extend(resource::read(&mut reader, table)),
            }
        }
    }
}

fn fields_of(table: &str) -> &'static [&'static str] {
    match table {
        "client" => &client::FIELDS,
        "group" => &group::FIELDS,
        "person" => &person::FIELDS,
        _ => &resource::FIELDS,
    }
}

/// Reads one file.
struct Reader<'a> {
    file: Arc<str>,
    places: Places<'a>,
    mistakes: &'a mut Vec<Mistake>,
}

/// A table whose fields all exist.
struct Table<'a> {
    name: &'static str,
    at: Spot,
    fields: BTreeMap<&'a str, &'a Node>,
    /// The places of the fields, and of the entries of lists.
    spots: BTreeMap<String, Spot>,
}

impl Reader<'_> {
    fn spot(&self, at: usize) -> Spot {
        let (line, column) = self.places.of_byte(at);
        Spot { file: Arc::clone(&self.file), line, column }
    }

    fn mistake(&mut self, at: usize, field: &str, what: String) {
        let at = self.spot(at);
        self.mistakes.push(Mistake { at, field: field.to_owned(), what });
    }

    /// Reads the names of the fields of a table.
    fn table<'a>(&mut self, node: &'a Node, name: &str, known: &'static [&'static str]) -> Option<Table<'a>> {
        let NodeKind::Table(entries) = &node.value else {
            self.mistake(node.at, name, "must be a table".to_owned());
            return None;
        };
        let name = TABLES.into_iter().chain(INNER).find(|table| *table == name).unwrap_or_default();
        // An empty table and one of TOML begin at their header, others with their first field.
        let mut table =
            Table { name, at: self.spot(node.at), fields: BTreeMap::new(), spots: BTreeMap::new() };
        let mut is_right = true;
        for Entry { at, key, node } in entries {
            let field = format!("{name}.{key}");
            let what = if !known.contains(&&**key) {
                Some(advice(name, key).unwrap_or_else(|| unknown("field", key, known)))
            } else if table.fields.contains_key(&**key) {
                Some(TWICE.to_owned())
            } else {
                None
            };
            if let Some(what) = what {
                self.mistake(*at, &field, what);
                is_right = false;
                continue;
            }
            table.fields.insert(key, node);
            table.spots.insert(key.clone(), self.spot(*at));
            if let NodeKind::List(nodes) = &node.value {
                for (place, node) in nodes.iter().enumerate() {
                    table.spots.insert(format!("{key}[{place}]"), self.spot(node.at));
                }
            }
        }
        is_right.then_some(table)
    }
}

/// The tables in tables.
const INNER: [&str; 2] = ["resource.scopes", "group.wallets"];

impl Table<'_> {
    /// Takes a field out and parses its text.
    fn text<T, Rejected: ToString>(
        &mut self,
        reader: &mut Reader<'_>,
        field: &str,
        parse: impl FnOnce(&str) -> Result<T, Rejected>,
    ) -> Option<T> {
        let node = self.fields.remove(field)?;
        let parsed = match &node.value {
            NodeKind::Text(text) => parse(text).map_err(|rejected| rejected.to_string()),
            NodeKind::Number(_)
            | NodeKind::Truth(_)
            | NodeKind::List(_)
            | NodeKind::Table(_)
            | NodeKind::Other(_) => Err("must be a string".to_owned()),
        };
        parsed.map_err(|what| reader.mistake(node.at, &format!("{}.{field}", self.name), what)).ok()
    }

    /// Takes a field out that is a list.
    fn list(&mut self, reader: &mut Reader<'_>, field: &str) -> Vec<Node> {
        let Some(node) = self.fields.remove(field) else { return Vec::new() };
        let NodeKind::List(nodes) = &node.value else {
            reader.mistake(node.at, &format!("{}.{field}", self.name), "must be a list".to_owned());
            return Vec::new();
        };
        nodes.clone()
    }

    /// A field that must be there is not.
    fn missing(&self, reader: &mut Reader<'_>, field: &str) {
        let field = format!("{}.{field}", self.name);
        reader.mistakes.push(Mistake { at: self.at.clone(), field, what: "is missing".to_owned() });
    }

    fn item<T>(self, value: T) -> Item<T> {
        Item { at: self.at, fields: self.spots, value }
    }
}

/// What to write instead of a field that others have.
fn advice(table: &str, field: &str) -> Option<String> {
    Some(match (table, field) {
        ("client", "client_secret" | "secret") => {
            "a file must not contain a secret: write secret_file with the path of a file that has it alone, or secret_env with \
             the name of an environment variable"
                .to_owned()
        }
        ("client", "client_name") => "there is no such field; write `name`".to_owned(),
        ("client", "client_id") => "there is no such field; write `id`".to_owned(),
        ("client", "resource") => "there is no such field; write `resources`".to_owned(),
        ("person", "user" | "wallet" | "id") => {
            "there is no such field; write `who` with the id of a user or a wallet".to_owned()
        }
        ("group", "members" | "member") => {
            "there is no such field; write `users` with ids, and `wallets` with addresses".to_owned()
        }
        ("resource", "scope") => "there is no such field; write [[resource.scopes]]".to_owned(),
        _ => return None,
    })
}

/// There is no such table or field. Suggests the one that was probably meant.
fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    match nearest(given, known.iter().map(|name| (*name).to_owned())) {
        Some(meant) => format!("there is no such {what}; did you mean `{meant}`?"),
        None => format!("there is no such {what}; there are {}", known.join(", ")),
    }
}
