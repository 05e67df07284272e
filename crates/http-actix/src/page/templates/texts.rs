//! The texts of the pages, in every language: `locales/LANGUAGE/AREA.json`. English is complete, and replaces
//! what another language lacks. A text in the operator's folder replaces ours.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tera::value::Key;
use tera::{Kwargs, Map as TeraMap, State, Tera, TeraResult};

use super::{Embedded, Folder, TemplateError};
use crate::page::language::Language;

pub(super) const FOLDER: &str = "locales/";

/// The texts of all languages, each by area and key.
pub(super) struct Texts {
    english: Value,
    others: BTreeMap<Language, Value>,
}

impl Texts {
    pub(super) fn load(folder: &Folder) -> Result<Self, TemplateError> {
        let areas: Vec<String> = Embedded::iter()
            .filter_map(|file| Some(file.strip_prefix("locales/en/")?.strip_suffix(".json")?.to_owned()))
            .collect();
        let nothing = Value::Object(Map::new());
        let english = over(&nothing, Language::English, &areas, folder)?;
        let mut others = BTreeMap::new();
        for language in Language::ALL.into_iter().filter(|language| *language != Language::English) {
            others.insert(language, over(&english, language, &areas, folder)?);
        }
        Ok(Self { english, others })
    }

    /// Finds a text by its key: `area.key`, or deeper.
    pub(super) fn get(&self, language: Language, key: &str) -> Option<&str> {
        key.split('.').try_fold(self.tree(language), |tree, part| tree.get(part))?.as_str()
    }

    /// All texts of a language.
    pub(super) fn tree(&self, language: Language) -> &Value {
        self.others.get(&language).unwrap_or(&self.english)
    }
}

/// The texts of a language, on top of `base`.
fn over(base: &Value, language: Language, areas: &[String], folder: &Folder) -> Result<Value, TemplateError> {
    let mut tree = base.clone();
    for area in areas {
        let path = format!("{FOLDER}{}/{area}.json", language.tag());
        let ours = Embedded::get(&path).map(|file| file.data);
        for file in [ours, folder.replacement(&path)].into_iter().flatten() {
            let wrong = |reason| TemplateError::Texts { path: path.clone(), reason };
            let texts = parse(&file).map_err(wrong)?;
            let area = BTreeMap::from([(area.clone(), texts)]);
            lay_over(&mut tree, Value::Object(area.into_iter().collect()), "").map_err(wrong)?;
        }
    }
    Ok(tree)
}

fn parse(file: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(file).map_err(|error| error.to_string())
}

/// Replaces the texts that have the same keys. A text must stay a text, and a group a group.
fn lay_over(below: &mut Value, above: Value, at: &str) -> Result<(), String> {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                let empty =
                    if value.is_object() { Value::Object(Map::new()) } else { Value::String(String::new()) };
                let place = below.entry(key.clone()).or_insert(empty);
                lay_over(place, value, &format!("{at}.{key}"))?;
            }
            Ok(())
        }
        (below @ Value::String(_), above @ Value::String(_)) => {
            *below = above;
            Ok(())
        }
        _ => Err(format!(
            "{} must be a text, or an object of texts, as in English",
            at.trim_start_matches('.')
        )),
    }
}

/// Puts values into a text, where `{name}` is the place for `name`. A place without a value does not change.
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}').and_then(|(name, after)| Some((value(name)?, after))) {
            Some((value, after)) => {
                filled.push_str(&value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The names in the placeholders of a text.
pub(super) fn places(text: &str) -> BTreeSet<String> {
    let found = RefCell::new(BTreeSet::new());
    fill(text, |name| {
        found.borrow_mut().insert(name.to_owned());
        Some(String::new())
    });
    found.into_inner()
}

pub(super) fn register_filters(tera: &mut Tera) {
    tera.register_filter("fill", fill_html);
    tera.register_filter("fill_linked", fill_linked);
    tera.register_filter("fill_plain", fill_plain);
    tera.register_filter("json_attribute", json_attribute);
    tera.register_filter("prose", prose);
}

/// `{{ t.auth.wants | fill(client=name) }}`: HTML in which the direction of each value does not affect the
/// text around it.
fn fill_html(text: &str, values: Kwargs, state: &State) -> TeraResult<tera::Value> {
    let value = |name: &str| {
        let value = values.get::<String>(name).ok().flatten()?;
        Some(format!("<bdi>{}</bdi>", state.escape(&value).ok()?))
    };
    Ok(tera::Value::safe_string(&fill(&state.escape(text)?, value)))
}

/// `{{ text | fill_linked(parts=parts, words=words, base=base) }}`: the same where values have links. Each part has a `text`,
/// or a `word` among the words, and perhaps a `path` of the desk.
fn fill_linked(text: &str, values: Kwargs, state: &State) -> TeraResult<tera::Value> {
    let (parts, words) = (values.must_get::<&TeraMap>("parts")?, values.must_get::<&TeraMap>("words")?);
    let base = values.must_get::<&str>("base")?;
    let of = |map: &TeraMap, name: &str| map.get(&Key::Str(name)).cloned();
    let shown = |part: &tera::Value| {
        let word = || of(words, part.get_from_path("word")?.as_str()?);
        let text =
            part.get_from_path("text").filter(|text| text.as_str().is_some()).cloned().or_else(word)?;
        let text = format!("<bdi>{}</bdi>", state.escape(text.as_str()?).ok()?);
        Some(match part.get_from_path("path").and_then(|path| path.as_str()) {
            Some(path) => {
                format!(
                    "<a href=\"{}/admin{}\">{text}</a>",
                    state.escape(base).ok()?,
                    state.escape(path).ok()?
                )
            }
            None => text,
        })
    };
    let value = |name: &str| Some(of(parts, name).as_ref().and_then(shown).unwrap_or_else(|| "…".to_owned()));
    Ok(tera::Value::safe_string(&fill(&state.escape(text)?, value)))
}

/// The same as plain text, for titles and attributes.
fn fill_plain(text: &str, values: Kwargs, _: &State) -> String {
    fill(text, |name| values.get::<String>(name).ok().flatten())
}

/// A text as HTML. What is between backticks is code.
fn prose(text: &str, _: Kwargs, state: &State) -> TeraResult<tera::Value> {
    let escaped = state.escape(text)?;
    let mut html = String::with_capacity(escaped.len() + 64);
    for (number, part) in escaped.split('`').enumerate() {
        match number % 2 {
            0 => html.push_str(part),
            _ => html.extend(["<code>", part, "</code>"]),
        }
    }
    Ok(tera::Value::safe_string(&html))
}

/// A value as JSON, which a script reads from an attribute. The attribute must be in single quotes: JSON is
/// full of double quotes, and each would become six characters.
///
/// `without` are members to leave out, separated by spaces: the texts of a script that a page does not run.
fn json_attribute(value: tera::Value, options: Kwargs, _: &State) -> TeraResult<tera::Value> {
    let failed = |error: serde_json::Error| tera::Error::message(error.to_string());
    let json = match options.get::<String>("without")? {
        None => serde_json::to_string(&value).map_err(failed)?,
        Some(without) => {
            let mut value = serde_json::to_value(&value).map_err(failed)?;
            if let Some(members) = value.as_object_mut() {
                members.retain(|name, _| without.split(' ').all(|other| other != name));
            }
            value.to_string()
        }
    };
    let escaped = json.replace('&', "&amp;").replace('\'', "&#39;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(tera::Value::safe_string(&escaped))
}

#[cfg(test)]
mod tests;
