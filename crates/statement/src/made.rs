//! What a series of migrations leaves in a database, read from their text.
//!
//! A database can hold tables, columns, views and triggers of other programs. The only thing that says which of them are ours is what our own
//! migrations say, so this reads them, and no list is written by hand. It reads the statements that make, change and drop tables, views
//! and triggers, in the dialects of SQLite and PostgreSQL, and passes over all others. Tests of both adapters compare what it finds with the
//! catalog of the database after each migration.

use std::collections::{BTreeMap, BTreeSet};

/// What migrations made, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Tables and their columns.
    pub tables: BTreeMap<String, BTreeSet<String>>,
    /// Views.
    pub views: BTreeSet<String>,
    /// Triggers and the table of each.
    pub triggers: BTreeMap<String, String>,
}

/// Words with which a line in `CREATE TABLE` begins that is not a column.
const CONSTRAINTS: [&str; 6] = ["primary", "unique", "check", "foreign", "constraint", "exclude"];

impl Made {
    /// What these scripts make, one after the other.
    pub fn by<'a>(scripts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut made = Self::default();
        for script in scripts {
            for statement in statements(script) {
                made.take(&statement);
            }
        }
        made
    }

    fn take(&mut self, statement: &[String]) {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["create", "table", "if", "not", "exists", name, rest @ ..]
            | ["create", "table", name, rest @ ..] => {
                self.tables.insert((*name).to_owned(), columns(rest));
            }
            ["create", "view", name, ..] | ["create", "or", "replace", "view", name, ..] => {
                self.views.insert((*name).to_owned());
            }
            ["create", "trigger", name, rest @ ..]
            | ["create", "or", "replace", "trigger", name, rest @ ..] => {
                if let Some(table) =
                    rest.iter().position(|word| *word == "on").and_then(|on| rest.get(on + 1))
                {
                    self.triggers.insert((*name).to_owned(), (*table).to_owned());
                }
            }
            ["drop", kind @ ("table" | "view" | "trigger"), "if", "exists", name, ..]
            | ["drop", kind @ ("table" | "view" | "trigger"), name, ..] => self.drop_one(kind, name),
            ["alter", "table", "only", name, rest @ ..] | ["alter", "table", name, rest @ ..] => {
                for change in split(rest) {
                    self.alter(name, change);
                }
            }
            _ => {}
        }
    }

    fn drop_one(&mut self, kind: &str, name: &str) {
        match kind {
            "table" => {
                self.tables.remove(name);
                self.triggers.retain(|_, table| table != name);
            }
            "view" => {
                self.views.remove(name);
            }
            _ => {
                self.triggers.remove(name);
            }
        }
    }

    fn alter(&mut self, table: &str, change: &[&str]) {
        let columns = self.tables.entry(table.to_owned()).or_default();
        match change {
            ["add", "column", "if", "not", "exists", name, ..] | ["add", "column", name, ..] => {
                columns.insert((*name).to_owned());
            }
            ["add", word, ..] if !CONSTRAINTS.contains(word) => {
                columns.insert((*word).to_owned());
            }
            ["drop", "column", "if", "exists", name, ..] | ["drop", "column", name, ..] => {
                columns.remove(*name);
            }
            ["rename", "to", name] => {
                let columns = self.tables.remove(table).unwrap_or_default();
                self.tables.insert((*name).to_owned(), columns);
                self.triggers.values_mut().filter(|of| *of == table).for_each(|of| *of = (*name).to_owned());
            }
            ["rename", "column", from, "to", to] | ["rename", from, "to", to] => {
                columns.remove(*from);
                columns.insert((*to).to_owned());
            }
            _ => {}
        }
    }
}

/// The names of the columns between the brackets of a `CREATE TABLE`.
fn columns(rest: &[&str]) -> BTreeSet<String> {
    let Some((_, inner)) = rest.split_first() else { return BTreeSet::new() };
    let mut depth = 1_u32;
    let end = inner.iter().position(|word| {
        match *word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let items = split(inner.get(..end.unwrap_or(inner.len())).unwrap_or_default());
    let first = items.into_iter().filter_map(|item| item.first());
    first.filter(|word| !CONSTRAINTS.contains(word)).map(|word| (*word).to_owned()).collect()
}

/// Splits at the commas that no brackets enclose.
fn split<'w, 'a>(words: &'w [&'a str]) -> Vec<&'w [&'a str]> {
    let mut depth = 0_u32;
    let is_end = |word: &&str| {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *word == ","
    };
    words.split(is_end).collect()
}

/// The statements of a script as words. The body of a trigger belongs to its statement.
fn statements(script: &str) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut statement: Vec<String> = Vec::new();
    for word in words(script) {
        let is_trigger = statement.iter().take(4).any(|word| word == "trigger");
        let is_open = is_trigger
            && statement.iter().any(|word| word == "begin")
            && statement.last().is_none_or(|word| word != "end");
        if word == ";" && !is_open {
            statements.push(std::mem::take(&mut statement));
        } else {
            statement.push(word);
        }
    }
    statements.push(statement);
    statements.retain(|statement| !statement.is_empty());
    statements
}

/// The words and signs of a script, in small letters unless they are quoted. Comments are left out, and a text is one sign.
fn words(script: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = script;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        rest = if rest.starts_with("--") {
            past(rest, "\n")
        } else if rest.starts_with("/*") {
            past(rest, "*/")
        } else if character == '\'' {
            words.push("'".to_owned());
            past(after, "'")
        } else if character == '"' {
            let end = after.find('"').unwrap_or(after.len());
            words.push(after.get(..end).unwrap_or_default().to_owned());
            past(after, "\"")
        } else if let Some(tag) = dollar_tag(rest) {
            words.push("'".to_owned());
            past(rest.get(tag.len()..).unwrap_or_default(), tag)
        } else if character.is_alphanumeric() || character == '_' {
            let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
            words.push(rest.get(..end).unwrap_or_default().to_lowercase());
            rest.get(end..).unwrap_or_default()
        } else {
            if !character.is_whitespace() {
                words.push(character.to_string());
            }
            after
        };
    }
    words
}

/// What follows the next `end`.
fn past<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).and_then(|at| text.get(at + end.len()..)).unwrap_or_default()
}

/// The sign that begins and ends a text of PostgreSQL: `$$`, or `$` with a word and `$`.
fn dollar_tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('$')?;
    let end = inner.find('$')?;
    let is_word = inner.get(..end)?.chars().all(|character| character.is_alphabetic() || character == '_');
    is_word.then(|| text.get(..end + 2)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(scripts: &[&str]) -> Vec<(String, Vec<String>)> {
        let made = Made::by(scripts.iter().copied());
        made.tables.into_iter().map(|(name, columns)| (name, columns.into_iter().collect())).collect()
    }

    fn table(name: &str, columns: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), columns.iter().map(|column| (*column).to_owned()).collect())
    }

    #[test]
    fn tables_have_the_columns_that_statements_gave_them_and_did_not_take_away() {
        let first = "-- CREATE TABLE no (x INT);\nCREATE TABLE a (\n  id BLOB NOT NULL, -- why, and (why not\n  n NUMERIC(10, 2) CHECK (n > 0 AND \
            n < 9), t TEXT DEFAULT 'a, b; c', PRIMARY KEY (id, n), UNIQUE (t)\n) WITHOUT ROWID;\nCREATE INDEX i ON a (id);";
        let second = "/* DROP TABLE a; */ ALTER TABLE a ADD COLUMN more TEXT, ADD CONSTRAINT c CHECK (more <> ''), DROP COLUMN t;\
            ALTER TABLE a RENAME COLUMN n TO number; CREATE TABLE \"B c\" (x INT)";
        assert_eq!(tables(&[first]), [table("a", &["id", "n", "t"])]);
        assert_eq!(tables(&[first, second]), [table("B c", &["x"]), table("a", &["id", "more", "number"])]);
        let third = "CREATE TABLE b (y INT); DROP TABLE a; ALTER TABLE b RENAME TO a;";
        assert_eq!(tables(&[first, second, third]), [table("B c", &["x"]), table("a", &["y"])]);
    }

    #[test]
    fn the_body_of_a_trigger_and_of_a_function_makes_nothing() {
        let made = Made::by([
            "CREATE TABLE a (id INT); CREATE TABLE b (id INT);
             CREATE TRIGGER t AFTER UPDATE OF id ON a WHEN OLD.id IS NOT NULL BEGIN DELETE FROM b; SELECT CASE WHEN 1 THEN 2 END; END;
             CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE a; CREATE TABLE c (id INT); END $$;
             CREATE TRIGGER u AFTER DELETE ON b REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION f();
             CREATE VIEW v AS SELECT * FROM a; DROP TABLE b;",
        ]);
        assert_eq!(made.tables.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(made.triggers, BTreeMap::from([("t".to_owned(), "a".to_owned())]));
        assert_eq!(made.views, BTreeSet::from(["v".to_owned()]));
    }
}
