//! Renders in advance what is the same for all requests in a template.
//!
//! A page has a hundred texts of its language, the URLs of its scripts, and one list of texts for them. To
//! look up, escape and write all of them for every request was most of the work for a page. Other parts of a
//! template that are the same for all requests are marked with `{# constant #}` and `{# end constant #}`.

use tera::{Context, Tera};

/// Values that never change while the server runs: the texts, the hashed names of the assets, and our own
/// path.
const CONSTANT: [&str; 3] = ["t", "assets", "base"];

/// The only filter that such a value may have.
const FILTER: &str = "| json_attribute()";

/// Writes the constants into a template. What cannot be written now is rendered with the page.
pub(super) fn write_in(source: &str, tera: &Tera) -> String {
    let mut written = String::with_capacity(source.len() * 2);
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("{# constant #}") {
        let Some((part, after)) = after.split_once("{# end constant #}") else { break };
        written.push_str(&write_expressions(before, tera));
        written.push_str(&rendered(part, tera).unwrap_or_else(|| part.to_owned()));
        rest = after;
    }
    written.push_str(&write_expressions(rest, tera));
    written
}

fn write_expressions(source: &str, tera: &Tera) -> String {
    let mut written = String::with_capacity(source.len() * 2);
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("{{") {
        written.push_str(before);
        let Some((expression, after)) = after.split_once("}}") else {
            rest = &rest[before.len()..];
            break;
        };
        match value_of(expression, tera) {
            Some(value) => written.push_str(&value),
            None => written.extend(["{{", expression, "}}"]),
        }
        rest = after;
    }
    written.push_str(rest);
    written
}

fn value_of(expression: &str, tera: &Tera) -> Option<String> {
    let trimmed = expression.trim();
    let path = trimmed.strip_suffix(FILTER).unwrap_or(trimmed).trim_end();
    let is_path = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
    if !is_path || !CONSTANT.contains(&path.split('.').next()?) {
        return None;
    }
    rendered(&format!("{{{{{expression}}}}}"), tera)
}

/// Renders a piece of a template. `None` if that fails, or if the result contains what the template engine
/// would read as its own syntax.
fn rendered(piece: &str, tera: &Tera) -> Option<String> {
    let text = tera.render_str(piece, &Context::new(), true).ok()?;
    let is_plain = !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark));
    is_plain.then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tera() -> Tera {
        let mut tera = Tera::default();
        super::super::texts::register_filters(&mut tera);
        let context = tera.global_context();
        context.insert("t", &json!({"a": {"b": "<It's & {x}>", "odd": "{{ 1 }}"}}));
        context.insert("base", "/auth");
        tera
    }

    #[test]
    fn what_never_changes_is_written_and_escaped_and_the_rest_stays() {
        let cases = [
            ("<p>{{ t.a.b }}</p>", "<p>&lt;It&#39;s &amp; {x}&gt;</p>"),
            ("'{{ t.a | json_attribute() }}'", "'{{ t.a | json_attribute() }}'"),
            ("<a href=\"{{ base }}/x\">{{ client.name }}", "<a href=\"/auth/x\">{{ client.name }}"),
            ("{{ t.a.b | fill(x=y) }}", "{{ t.a.b | fill(x=y) }}"),
            ("{{ t.a[key] }}{{ t.a.missing }}", "{{ t.a[key] }}{{ t.a.missing }}"),
            ("{{ t.a.odd }}", "{{ t.a.odd }}"),
            ("{# constant #}{% if base %}{{ base }}!{% endif %}{# end constant #}{{ x }}", "/auth!{{ x }}"),
            ("{# constant #}{{ missing }}{# end constant #}{{ base }}", "{{ missing }}/auth"),
            ("{{ base }}{# constant #}{{ base }}", "/auth{# constant #}/auth"),
            ("{{ basement }}{% if t.a.b %}{{", "{{ basement }}{% if t.a.b %}{{"),
        ];
        for (source, expected) in cases {
            assert_eq!(write_in(source, &tera()), expected, "{source}");
        }
    }

    #[test]
    fn a_group_of_texts_is_written_for_a_script() {
        let mut tera = tera();
        tera.global_context().insert("t", &json!({"a": {"b": "It's"}}));
        let written = write_in("data-texts='{{ t.a | json_attribute() }}'", &tera);
        assert_eq!(written, "data-texts='{\"b\":\"It&#39;s\"}'");
    }
}
