//! The values of a file with their places. A file is TOML, or JSON if its name ends in `.json`.

use serde_json::Value;
use toml::de::{DeTable, DeValue};

/// A value, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The offset in bytes.
    pub(super) at: usize,
    pub(super) value: NodeKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodeKind {
    Text(String),
    Number(i64),
    Truth(bool),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Entry>),
    /// Something that no field takes, by its name.
    Other(&'static str),
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Where its name begins.
    pub(super) at: usize,
    pub(super) key: String,
    pub(super) node: Node,
}

/// A file is neither TOML nor JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) at: usize,
    pub(super) what: String,
}

/// Nothing in a file lies deeper.
const DEEPEST: usize = 32;

impl Node {
    /// The same value as JSON, for those who read registrations.
    pub(super) fn as_json(&self) -> Value {
        match &self.value {
            NodeKind::Text(text) => Value::from(text.as_str()),
            NodeKind::Number(number) => Value::from(*number),
            NodeKind::Truth(truth) => Value::from(*truth),
            NodeKind::List(nodes) => nodes.iter().map(Self::as_json).collect(),
            NodeKind::Table(entries) => {
                let fields = entries.iter().map(|entry| (entry.key.clone(), entry.node.as_json()));
                Value::Object(fields.collect())
            }
            NodeKind::Other(_) => Value::Null,
        }
    }
}

/// Reads a TOML file.
pub(super) fn from_toml(text: &str) -> Result<Node, Unreadable> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        Unreadable { at, what: format!("not TOML: {what}") }
    })?;
    Ok(Node { at: 0, value: of_table(table.get_ref()) })
}

fn of_table(table: &DeTable<'_>) -> NodeKind {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            at: key.span().start,
            key: key.get_ref().to_string(),
            node: Node { at: value.span().start, value: of_value(value.get_ref()) },
        })
        .collect();
    entries.sort_by_key(|entry| entry.at);
    NodeKind::Table(entries)
}

fn of_value(value: &DeValue<'_>) -> NodeKind {
    match value {
        DeValue::String(text) => NodeKind::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(NodeKind::Other("a number that is too large"), NodeKind::Number),
        DeValue::Float(_) => NodeKind::Other("a number with a point"),
        DeValue::Boolean(truth) => NodeKind::Truth(*truth),
        DeValue::Datetime(_) => NodeKind::Other("a time"),
        DeValue::Array(values) => NodeKind::List(
            values
                .iter()
                .map(|value| Node { at: value.span().start, value: of_value(value.get_ref()) })
                .collect(),
        ),
        DeValue::Table(table) => of_table(table),
    }
}

/// Reads a JSON file.
pub(super) fn from_json(text: &str) -> Result<Node, Unreadable> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let before: usize =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (before + error.column().saturating_sub(1)).min(text.len());
        return Err(Unreadable { at, what: format!("not JSON: {error}") });
    }
    let mut scanner = Scanner { text, at: 0 };
    scanner.value(0).ok_or_else(|| Unreadable { at: scanner.at, what: "not JSON".to_owned() })
}

/// Walks through a text that is known to be JSON, to learn where each value is. Names that stand twice in an
/// object come twice.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_space();
        let at = self.at;
        let value = match self.peek()? {
            b'{' => self.table(depth)?,
            b'[' => self.list(depth)?,
            b'"' => NodeKind::Text(self.text()?),
            _ => {
                let rest = self.text.get(at..)?;
                let ends =
                    |character: char| matches!(character, ',' | ']' | '}') || character.is_whitespace();
                let word = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
                self.at += word.len();
                match serde_json::from_str(word).ok()? {
                    Value::Bool(truth) => NodeKind::Truth(truth),
                    Value::Number(number) => number
                        .as_i64()
                        .map_or(NodeKind::Other("a number that is not whole or too large"), NodeKind::Number),
                    Value::Null => NodeKind::Other("null"),
                    Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
                }
            }
        };
        Some(Node { at, value })
    }

    fn table(&mut self, depth: usize) -> Option<NodeKind> {
        let mut entries = Vec::new();
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(NodeKind::Table(entries));
                }
                b',' => self.at += 1,
                _ => {
                    let at = self.at;
                    let key = self.text()?;
                    self.skip_space();
                    self.at += 1;
                    entries.push(Entry { at, key, node: self.value(depth + 1)? });
                }
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<NodeKind> {
        let mut nodes = Vec::new();
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    return Some(NodeKind::List(nodes));
                }
                b',' => self.at += 1,
                _ => nodes.push(self.value(depth + 1)?),
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..)?;
        let mut is_escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        })?;
        let quoted = rest.get(..end + 2)?;
        self.at += quoted.len();
        serde_json::from_str(quoted).ok()
    }

    fn skip_space(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_values_are_read_from_toml_and_from_json() {
        let toml = "a = \"x\\ny\"\nb = [1, true, [], {}]\n[[c]]\nd = 0x10\n[[c]]\ne = 'é'\n";
        let json = r#"{"a": "x\ny", "b": [1, true, [], {}],
            "c": [{"d": 16}, {"e": "\u00e9"}]}"#;
        let (toml, json) = (from_toml(toml).unwrap(), from_json(json).unwrap());
        assert_eq!(toml.as_json(), json.as_json());
        assert_eq!(
            json.as_json(),
            serde_json::json!({"a": "x\ny", "b": [1, true, [], {}], "c": [{"d": 16}, {"e": "é"}]})
        );
    }

    #[test]
    fn every_value_knows_where_it_stands() {
        for (text, read) in [
            ("a = 1\nlist = [ \"\\\"x\", 22 ]\n", from_toml as fn(&str) -> Result<Node, Unreadable>),
            ("{\"a\": 1,\n \"list\" : [ \"\\\"x\", 22 ] }", from_json),
        ] {
            let NodeKind::Table(entries) = read(text).unwrap().value else { panic!("{text}") };
            let [_, list] = entries.as_slice() else { panic!("{entries:?}") };
            assert!(text[list.at..].trim_start_matches('"').starts_with("list"));
            let NodeKind::List(nodes) = &list.node.value else { panic!("{list:?}") };
            assert_eq!(&text[nodes[0].at..nodes[0].at + 5], "\"\\\"x\"");
            assert_eq!(&text[nodes[1].at..nodes[1].at + 2], "22");
        }
    }

    #[test]
    fn what_is_neither_names_its_place() {
        assert_eq!(from_toml("a = 1\nb == 2\n").unwrap_err().at, 9);
        assert_eq!(from_json("{\n \"a\": nul}").unwrap_err().at, 11);
        assert!(from_json("").is_err() && from_json("{} {}").is_err());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(from_json(&deep).is_err());
    }

    #[test]
    fn numbers_and_times_that_no_field_takes_are_named() {
        for (text, name) in [
            ("a = 1.5", "a number with a point"),
            ("a = 1979-05-27", "a time"),
            ("a = 99999999999999999999", "a number that is too large"),
        ] {
            let Ok(Node { value: NodeKind::Table(entries), .. }) = from_toml(text) else { panic!("{text}") };
            assert_eq!(entries[0].node.value, NodeKind::Other(name));
        }
        for (text, name) in [("1.5", "a number that is not whole or too large"), ("null", "null")] {
            assert_eq!(from_json(text).unwrap().value, NodeKind::Other(name));
        }
    }
}
