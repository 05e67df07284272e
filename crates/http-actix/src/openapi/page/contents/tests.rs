//! The page against the document that it is made from.

use std::collections::BTreeSet;

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use super::*;
use crate::openapi;
use crate::page::name::Name;
use crate::page::templates::Site;

fn document() -> Value {
    openapi::document(&PublicUrl::parse("https://auth.example").unwrap())
}

fn templates() -> Templates {
    Templates::load(None, Site::EXAMPLE, &[]).unwrap()
}

fn html(language: Language) -> String {
    let (document, templates) = (document(), templates());
    templates
        .render(
            language,
            Name::Docs,
            None,
            &contents(&document, &templates, language, "/openapi.json", Some("/metadata")),
        )
        .unwrap()
}

/// What stands in an attribute, wherever the page has it.
fn all(html: &str, attribute: &str) -> Vec<String> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn every_operation_is_shown_once_or_once_for_each_of_its_steps() {
    let (document, templates) = (document(), templates());
    let contents = contents(&document, &templates, Language::English, "/openapi.json", None);
    let mut shown: Vec<_> =
        contents.groups.iter().flat_map(|group| &group.operations).map(|each| each.operation).collect();
    let mut wanted = Vec::new();
    for (_, methods) in entries(&document["paths"]) {
        for (_, operation) in entries(methods) {
            let times = operation["x-steps"].as_array().map_or(1, Vec::len);
            wanted.extend(std::iter::repeat_n(text(&operation["operationId"]), times));
        }
    }
    shown.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(shown, wanted);
    let [steps, ..] = &contents.groups[..] else { panic!("the steps come first") };
    let numbers: Vec<_> = steps.operations.iter().filter_map(|step| step.number).collect();
    assert!(numbers.is_sorted() && numbers.first() == Some(&1) && numbers.last() == Some(&8), "{numbers:?}");
    let titles: BTreeSet<_> =
        contents.groups.iter().flat_map(|group| &group.operations).map(|each| each.title).collect();
    assert_eq!(titles.len(), shown.len(), "an entry of the list that another one is named like");
}

#[test]
fn each_step_of_one_operation_has_its_own_title_and_example() {
    let (document, templates) = (document(), templates());
    let contents = contents(&document, &templates, Language::English, "/openapi.json", None);
    let tokens: Vec<_> =
        contents.groups[0].operations.iter().filter(|step| step.path == "/oauth/token").collect();
    let shown: Vec<_> = tokens.iter().map(|step| (step.id.as_str(), step.title, step.example)).collect();
    assert_eq!(shown, [("step-5-token", "Exchange a code", 0), ("step-7-token", "Refresh tokens", 1)]);
}

/// A list at the side, and everything to read, are there before any script runs.
#[test]
fn every_entry_of_the_list_leads_to_a_part_of_the_page_in_every_language() {
    for language in Language::ALL {
        let html = html(language);
        let ids = all(&html, "id");
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{language:?}: an id stands there twice");
        let links: Vec<_> = all(&html, "href").into_iter().filter(|link| link.starts_with('#')).collect();
        assert!(links.len() > 50, "{links:?}");
        for link in links {
            assert!(ids.iter().any(|id| format!("#{id}") == link), "{language:?}: {link}");
        }
        for text in [
            "/oauth/clients/{client_id}",
            "/account/wallets/link",
            "authorization_pending",
            "wants you to sign in",
        ] {
            assert!(html.contains(text), "{language:?}: {text}");
        }
        assert!(!html.contains("{{") && !html.contains("{%"), "{language:?}");
    }
}

#[test]
fn fields_unfold_come_with_the_required_ones_first_and_say_their_limits_in_the_page_s_language() {
    let document = json!({"components": {"schemas": {"Inner": {"properties": {"how": {"type": "string"}}}}}});
    let schema = json!({
        "required": ["b"],
        "properties": {
            "a": {"type": "array", "maxItems": 3, "items": {"$ref": "#/components/schemas/Inner"}, "description": "A."},
            "b": {"type": "string", "format": "uri", "maxLength": 9, "enum": ["x", null, "y"]},
        },
    });
    let templates = templates();
    let fields = |language| {
        let reader = Reader { document: &document, templates: &templates, language };
        let fields = reader.fields(&schema, true).into_iter();
        let shown = |field: Field<'_>| {
            let inner: Vec<_> = field.fields.iter().map(|field| field.name.to_owned()).collect();
            (field.name.to_owned(), field.facts, inner.join(" "))
        };
        fields.map(shown).collect::<Vec<_>>()
    };
    let row = |name: &str, facts: &str, inner: &str| (name.to_owned(), facts.to_owned(), inner.to_owned());
    assert_eq!(
        fields(Language::English),
        [
            row("b", "text (uri) · required · one of x, y · at most 9 characters", ""),
            row("a", "list of any · at most 3", "how"),
        ]
    );
    assert_eq!(
        fields(Language::German),
        [
            row("b", "Text (uri) · erforderlich · eines von x, y · höchstens 9 Zeichen", ""),
            row("a", "Liste (beliebig) · höchstens 3", "how"),
        ]
    );
}

#[test]
fn a_refusal_shows_its_cases_and_without_them_its_description() {
    let headers = json!({"X-Request-Id": {}, "Retry-After": {}});
    let with_cases = json!({
        "description": "Bad Request: `a` b",
        "headers": headers,
        "content": {"application/json": {"examples": {"one": {"value": {"error": "a", "error_description": "b"}}}}},
    });
    let shown = refusal("400", &with_cases);
    assert_eq!(
        (shown.reason, shown.class, shown.text, shown.headers),
        ("Bad Request", "4", "", vec!["Retry-After"])
    );
    assert_eq!((shown.cases[0].error, shown.cases[0].text), ("a", "b"));
    let without = json!({"description": "Not Found: nothing is here"});
    let shown = refusal("404", &without);
    assert_eq!((shown.reason, shown.text, shown.cases.len()), ("Not Found", "nothing is here", 0));
}
