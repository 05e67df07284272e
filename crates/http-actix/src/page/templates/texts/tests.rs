//! Compares the files of all languages, and tests how values get into texts.

use serde_json::json;

use super::*;

/// All texts of a file by their keys.
fn flat(tree: &Value, at: &str, found: &mut BTreeMap<String, String>) {
    match tree {
        Value::Object(group) => {
            for (key, value) in group {
                let is_plain = !key.is_empty()
                    && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                assert!(is_plain, "{at}.{key} is not in snake_case");
                flat(value, &format!("{at}.{key}"), found);
            }
        }
        Value::String(text) => {
            assert!(!text.trim().is_empty(), "{at} is empty");
            found.insert(at.to_owned(), text.clone());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            panic!("{at} is no text: {tree}")
        }
    }
}

fn file(path: &str) -> Option<BTreeMap<String, String>> {
    let file = Embedded::get(path)?;
    let tree = serde_json::from_slice(&file.data).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut texts = BTreeMap::new();
    flat(&tree, "", &mut texts);
    Some(texts)
}

#[test]
fn every_language_has_every_text_with_the_places_that_it_has_in_english() {
    let mut files = 0;
    for path in Embedded::iter().filter(|path| path.starts_with(FOLDER) && path.ends_with(".json")) {
        let [_, tag, area] = path.split('/').collect::<Vec<_>>()[..] else { panic!("{path}") };
        assert!(
            Language::ALL.into_iter().any(|language| language.tag() == tag),
            "{path}: no language of ours"
        );
        let english = file(&format!("{FOLDER}en/{area}")).unwrap_or_else(|| panic!("{path}: not in English"));
        let texts = file(&path).unwrap();
        assert!(texts.keys().eq(english.keys()), "{path}: the keys are not those of English");
        for (key, text) in texts {
            assert_eq!(places(&text), places(&english[&key]), "{path}: {key}");
        }
        files += 1;
    }
    let areas = Embedded::iter().filter(|path| path.starts_with("locales/en/")).count();
    assert_eq!(files, areas * Language::ALL.len(), "every language has every file");
}

#[test]
fn what_a_language_lacks_is_english() {
    let texts = Texts::load(&Folder::default()).unwrap();
    for language in Language::ALL {
        assert_eq!(texts.get(language, "error.no.such.key"), None);
        assert!(texts.get(language, "error.broken.title").is_some(), "{language:?}");
        assert_eq!(texts.get(language, "error.broken"), None, "a group is no text");
    }
    assert_eq!(texts.get(Language::German, "common.language"), Some("Sprache"));
}

#[test]
fn a_file_that_is_not_texts_is_named() {
    let wrong = [
        (r#"{"title": 1}"#, "home.title must be a text"),
        (r#"{"title": {"deep": "x"}}"#, "home.title must be a text"),
        (r#"["title"]"#, "home must be a text"),
        (r#"{"new": [null]}"#, "home.new must be a text"),
        ("{", "EOF while parsing"),
    ];
    for (number, (content, complaint)) in wrong.into_iter().enumerate() {
        let folder = std::env::temp_dir().join(format!("countersign-texts-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("locales/en")).unwrap();
        std::fs::write(folder.join("locales/en/home.json"), content).unwrap();
        let error = Folder::read(Some(&folder))
            .and_then(|read| Texts::load(&read))
            .map(|_| ())
            .unwrap_err()
            .to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(error.starts_with("texts: locales/en/home.json: ") && error.contains(complaint), "{error}");
    }
}

#[test]
fn values_stand_in_their_places_and_nothing_else_changes() {
    let value = |name: &str| (name == "name").then(|| "{name}".to_owned());
    assert_eq!(fill("a {name} b {name}{other} {", value), "a {name} b {name}{other} {");
    assert_eq!(fill("{}{{name}}", value), "{}{{name}}");
    assert_eq!(fill("{name", value), "{name");
}

/// B-067: values that others chose are only ever text.
#[test]
fn what_fills_a_place_is_escaped_and_keeps_its_direction_to_itself() {
    let mut tera = Tera::default();
    tera.autoescape_on(vec![".html"]);
    register_filters(&mut tera);
    tera.add_raw_template(
        "a.html",
        "{{ t | fill(who=who, n=n) }}|{{ t | fill_plain(who=who, n=n) }}|{{ o | json_attribute() }}",
    )
    .unwrap();
    let page = json!({"t": "<i> {who} & {n} {no}", "who": "<b>\"", "n": 5, "o": {"k": "\"<'&"}});
    let html = tera.render("a.html", &tera::Context::from_serialize(&page).unwrap()).unwrap();
    assert_eq!(
        html,
        "&lt;i&gt; <bdi>&lt;b&gt;&quot;</bdi> &amp; <bdi>5</bdi> {no}|&lt;i&gt; &lt;b&gt;&quot; &amp; 5 {no}|\
         {\"k\":\"\\\"&lt;&#39;&amp;\"}"
    );
}

#[test]
fn what_stands_between_backticks_is_code_and_all_of_it_is_escaped() {
    let mut tera = Tera::default();
    tera.autoescape_on(vec![".html"]);
    register_filters(&mut tera);
    tera.add_raw_template("a.html", "{{ text | prose }}").unwrap();
    let html = |text: &str| {
        tera.render("a.html", &tera::Context::from_serialize(&json!({"text": text})).unwrap()).unwrap()
    };
    assert_eq!(html("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
    assert_eq!(html("<i>`a`"), "&lt;i&gt;<code>a</code>");
    assert_eq!(html("no code"), "no code");
}

/// B-067: double quotes are not escaped there, so they would end an attribute in double quotes.
#[test]
fn json_stands_in_single_quotes_in_every_template() {
    let mut places = 0;
    for path in Embedded::iter().filter(|path| path.ends_with(".html")) {
        let file = Embedded::get(&path).unwrap();
        for line in std::str::from_utf8(&file.data).unwrap().lines() {
            let parts: Vec<&str> = line.split("json_attribute()").collect();
            for pair in parts.windows(2) {
                let start = pair[0].rfind("{{ ").and_then(|start| pair[0].get(..start));
                assert!(start.is_some_and(|before| before.ends_with("=\'")), "{path}: {line}");
                assert!(pair[1].starts_with(" }}\'"), "{path}: {line}");
                places += 1;
            }
        }
    }
    assert!(places > 5, "{places}");
}
