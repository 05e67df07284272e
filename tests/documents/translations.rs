//! Each language calls a thing by one word.

use serde_json::Value;

use super::read;

/// The rows of `docs/translations.md` that say which word a language does not use.
fn words() -> Vec<(String, String)> {
    let page = read("docs/translations.md");
    let (_, table) = page.split_once("\n## Words that the pages do not use\n").expect("the second table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.filter_map(|row| match row.split(" | ").collect::<Vec<_>>()[..] {
        [language, not, _] if language != "language" => Some((language.to_owned(), not.to_owned())),
        _ => None,
    })
    .collect()
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(group) => group.values().for_each(|value| texts(value, found)),
        Value::String(text) => found.push(text.to_lowercase()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

#[test]
fn no_page_uses_a_word_that_its_language_has_another_for() {
    let words = words();
    assert!(words.len() > 15, "{words:?}");
    for (language, word) in words {
        // The pages for developers speak of challenges and of logging in, as the RFCs do.
        for area in [
            "account", "auth", "common", "continue", "desk", "device", "error", "join", "logout", "mail",
            "notice", "verify",
        ] {
            let path = format!("templates/locales/{language}/{area}.json");
            let mut found = Vec::new();
            texts(&serde_json::from_str(&read(&path)).expect("JSON"), &mut found);
            for text in found {
                assert!(!text.contains(&word.to_lowercase()), "{path}: {word} in {text}");
            }
        }
    }
}
