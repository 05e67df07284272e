//! When a page is rendered as a whole, and how outlines are cut, remembered and forgotten.

use actix_web::test::TestRequest;
use serde_json::json;

use super::*;
use crate::page::templates::Site;

fn write(templates: &Templates, outlines: &Outlines<Value>, page: Value, values: &Values<'_>) -> String {
    let shape = Shape { language: Language::English, menu: None, page };
    String::from_utf8(outlines.write(templates, shape, values).unwrap()).unwrap()
}

/// Templates with an operator's folder that has one file.
fn templates_with(name: &str, source: &str) -> Templates {
    let folder = std::env::temp_dir().join(format!("countersign-outline-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), source).unwrap();
    let templates = Templates::load(Some(&folder), Site::EXAMPLE, &[]).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    templates
}

#[test]
fn an_operator_s_template_may_do_with_values_what_it_wants() {
    let source = "{% if client.name == 'me' %}{{ client.name | upper }} {{ uris[0] | length }}{% endif %}";
    let templates = templates_with("home.html", source);
    let outlines = Outlines::of(Name::Home);
    let mut values = Values::default();
    let page = json!({"client": {"name": values.place("me")}, "uris": [values.place("four")]});
    assert_eq!(write(&templates, &outlines, page, &values), "ME 4");
    assert!(outlines.remembered.read().unwrap().is_empty());
}

#[test]
fn a_page_of_ours_in_an_operator_s_frame_is_theirs_too() {
    let blocks = ["title", "head", "main"].map(|block| format!("{{% block {block} %}}{{% endblock %}}"));
    let templates =
        templates_with("base.html", &format!("Frame of {{{{ owner | upper }}}}{}", blocks.concat()));
    let mut values = Values::default();
    let page = json!({"issuer": "https://auth.example", "owner": values.place("us")});
    let html = write(&templates, &Outlines::of(Name::Home), page, &values);
    assert!(html.starts_with("Frame of US"), "{html}");
}

#[test]
fn what_a_menu_keeps_makes_no_shape() {
    let templates = Templates::load(None, Site::EXAMPLE, &[]).unwrap();
    let outlines = Outlines::of(Name::Home);
    let request = TestRequest::with_uri("/?done=anything").to_http_request();
    let mut values = Values::default();
    let page = json!({"issuer": values.place("<us>")});
    let shape = Shape { language: Language::English, menu: Menu::of(&request, Name::Home, ""), page };
    let html = String::from_utf8(outlines.write(&templates, shape, &values).unwrap()).unwrap();
    assert!(html.contains(r#"name="done" value="anything""#) && html.contains("&lt;us&gt;"), "{html}");
    assert!(outlines.remembered.read().unwrap().is_empty());
}

#[test]
fn a_shape_is_remembered_and_there_are_never_too_many() {
    let templates = Templates::load(None, Site::EXAMPLE, &[]).unwrap();
    let outlines = Outlines::of(Name::Home);
    let shown = |shape: usize, issuer: &'static str| {
        let mut values = Values::default();
        let page = json!({"shape": shape, "issuer": values.place(issuer)});
        assert!(write(&templates, &outlines, page, &values).contains(issuer));
        outlines.remembered.read().unwrap().len()
    };
    assert_eq!([shown(0, "https://one.example"), shown(0, "https://two.example")], [1, 1]);
    assert_eq!((1..MOST).map(|shape| shown(shape, "https://one.example")).max(), Some(MOST));
    assert_eq!(shown(MOST, "https://one.example"), 1);
}

#[test]
fn an_outline_is_cut_at_marks_and_at_nothing_else() {
    let mut values = Values::default();
    let [one, other] = ["<1>", "\u{fdd0}0\u{fdd1}"].map(|value| values.place(value));
    let html = format!("{one}a{other}{one}\u{fdd0}b\u{fdd1}{}", values.place(""));
    let filled = Outline::cut(&html).fill(&values).unwrap();
    assert_eq!(String::from_utf8(filled).unwrap(), "&lt;1&gt;a\u{fdd0}0\u{fdd1}&lt;1&gt;b\u{fdd1}");
}
