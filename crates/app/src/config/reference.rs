//! docs/configuration.md, made from the table of settings, and the test that keeps it up to date.

use std::fmt::Write;
use std::{env, fs};

use super::settings::{self, Preset, Spec};

const FRAME: &str = include_str!("reference.md");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

fn page() -> String {
    let sections: String = settings::ALL.iter().map(|spec| section(spec)).collect();
    FRAME.replace("{{settings}}\n", &sections)
}

fn section(spec: &Spec) -> String {
    let Spec { name, doc, takes, .. } = spec;
    let default = match spec.preset {
        Preset::Text(text) => format!("`{text}`"),
        Preset::Absent(meaning) => meaning.to_owned(),
    };
    let mut names = vec![format!("`{}`", Spec::variable(name))];
    names.extend(spec.flag().map(flag));
    names.extend(spec.file_key().map(flag));
    let mut text = String::new();
    write!(
        text,
        "### `{name}`\n\n{doc}\n\n- takes: {takes}\n- default: {default}\n- also: {}\n\n",
        names.join(", ")
    )
    .unwrap();
    text
}

fn flag(name: &str) -> String {
    format!("`--{}`", name.replace('_', "-"))
}

#[test]
fn the_configuration_page_is_up_to_date() {
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, page()).unwrap();
    }
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page(),
        "docs/configuration.md is out of date; run UPDATE_DOCS=1 cargo test -p countersign-app configuration"
    );
}
