//! What people at a terminal read beside the output of a command, and what they are asked. Everything that
//! clients or people wrote is escaped before it is shown.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use countersign_domain::readable::is_hidden;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::failure::Failure;

/// Two names at least this similar are probably meant to be the same.
const SIMILAR: f64 = 0.6;

/// Says something to people beside the output.
pub(crate) fn note(text: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stderr().lock(), "countersign: {}", visible(text))?)
}

/// Asks a question, and reads the answer. Anything but yes is a no.
pub(crate) fn is_confirmed(question: &str) -> Result<bool, Failure> {
    write!(io::stderr().lock(), "{question} Type yes: ")?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Failure::because("read the answer", &error))?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}

/// Escapes as in JSON what a terminal would obey or hide. Clients that registered themselves wrote what is
/// shown, and their keys can hold any characters. In JSON, such characters stand only in strings.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_obeyed = |character: char| character != '\n' && is_hidden(character);
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// What others wrote, on one line and without what a terminal obeys.
pub(crate) fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// A time as people and scripts read it, in whole seconds.
pub(crate) fn written(time: OffsetDateTime) -> String {
    let seconds = time.replace_nanosecond(0).unwrap_or(time);
    seconds.format(&Rfc3339).unwrap_or_else(|_| seconds.to_string())
}

/// A number with the word for what it counts.
pub(crate) fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// The name that is most similar to what was given, whatever the case of its letters; none if no name is
/// similar enough to be what was meant.
pub(crate) fn nearest(given: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let given = given.to_lowercase();
    let rated = names
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&given, &name.to_lowercase()), name));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(similarity, _)| *similarity >= SIMILAR).map(|(_, name)| name)
}

/// A value without what has none: a field is left out instead of being null.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(entries) => Value::Array(entries.into_iter().map(without_nulls).collect()),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
    }
}

/// The time as clients are shown it.
pub(crate) fn iso8601(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_else(|_| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_suggests_the_one_that_was_meant_and_others_suggest_none() {
        let near = |given: &str| nearest(given, ["staff", "admins", "eu:sales"].map(str::to_owned));
        for (given, meant) in
            [("stff", "staff"), ("Staff", "staff"), ("admin", "admins"), ("eu-sales", "eu:sales")]
        {
            assert_eq!(near(given).as_deref(), Some(meant), "{given}");
        }
        assert_eq!((near("guests"), near(""), nearest("staff", [])), (None, None, None));
    }

    #[test]
    fn a_number_has_the_word_that_fits() {
        assert_eq!([0, 1, 2].map(|number| count(number, "grant")), ["0 grants", "1 grant", "2 grants"]);
    }
}
