//! `docs/adding-a-storage-adapter.md` names everything that its reader has to implement and call.

use super::{read, sources};

const GUIDE: &str = "docs/adding-a-storage-adapter.md";

#[test]
fn the_guide_for_storage_names_every_trait_of_the_port() {
    let guide = read(GUIDE);
    let port = read("crates/ports/src/storage.rs");
    let bounds = |start: &str| {
        let (_, bounds) = port.split_once(start).expect("a trait of the whole port");
        let (bounds, _) = bounds.split_once('{').expect("its body");
        bounds.split('+').map(str::trim)
    };
    let whole = bounds("pub trait Storage:").filter(|name| *name != "DirectStorage");
    let traits: Vec<&str> = whole.chain(bounds("pub trait DirectStorage:")).collect();
    assert!(traits.len() > 5 && traits.contains(&"TokenStore"), "the test finds the traits: {traits:?}");
    for name in traits {
        assert!(guide.contains(&format!("`{name}`")), "{GUIDE} does not name {name}");
    }
}

#[test]
fn the_guide_for_storage_names_every_macro_of_conformance() {
    let guide = read(GUIDE);
    let mut macros = Vec::new();
    for (_, text) in sources(&["crates/conformance/src"]) {
        for part in text.split("#[macro_export]").skip(1) {
            let (_, rest) = part.split_once("macro_rules!").expect("a macro follows");
            macros.push(rest.split_whitespace().next().expect("its name").to_owned());
        }
    }
    assert!(macros.len() > 5, "the test finds the macros: {macros:?}");
    for name in macros {
        assert!(guide.contains(&format!("`{name}!`")), "{GUIDE} does not name {name}!");
    }
}

/// The guide must name every operation of the port, in a table or in a sentence.
#[test]
fn the_guide_for_storage_names_every_operation_that_has_a_guard() {
    let guide = read(GUIDE);
    let mut operations = Vec::new();
    for (_, text) in sources(&["crates/ports/src"]) {
        for line in text.lines().filter(|line| line.contains("(own command: ")) {
            let name = line.trim().split('(').next().expect("a name");
            operations.push(name.to_owned());
        }
    }
    assert!(operations.len() > 15, "the test finds the operations: {operations:?}");
    for name in operations {
        assert!(guide.contains(&format!("`{name}`")), "{GUIDE} does not name {name}");
    }
}
