//! `docs/style.md` has one word for each thing that happens: verbs of the command line, operations of the admin
//! interface and kinds of events use no other.

use std::collections::BTreeSet;

use super::read;

const HEADING: &str = "| what happens | commands and operations | events |\n|---|---|---|\n";

#[test]
fn commands_operations_and_events_have_one_word_for_each_thing() {
    let style = read("docs/style.md");
    let (_, rest) = style.split_once(HEADING).expect("the table");
    let rows = rest.lines().take_while(|line| line.starts_with('|'));
    let (mut verbs, mut pasts) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, verb, past] = cells[..] else { panic!("three columns: {row}") };
        verbs.extend(words(verb));
        pasts.extend(words(past));
    }

    let acts = read("crates/domain/src/operators/act/table.rs");
    // `client create` ends with its verb; `createClient` and `rotateClientSecret` begin with theirs.
    let commands: BTreeSet<String> =
        quoted(&acts, "verb: Some(").map(|verb| first(last(verb, ' '), '-')).collect();
    let operations: BTreeSet<String> = acts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("operation: ("))
        .map(|line| line.split('"').nth(3).expect("the name of the operation"))
        .map(|name| name.chars().take_while(char::is_ascii_lowercase).collect())
        .collect();
    assert!(commands.len() > 12 && operations.len() > 12, "{commands:?} {operations:?}");
    let others: Vec<_> = commands.union(&operations).filter(|verb| !verbs.contains(*verb)).collect();
    assert!(others.is_empty(), "not in the table of docs/style.md: {others:?}");

    let kinds = read("crates/domain/src/events/event/kind.rs");
    let events: BTreeSet<String> = quoted(&kinds, " = ").map(|kind| last(kind, '_').to_owned()).collect();
    assert!(events.len() > 15, "{events:?}");
    let others: Vec<_> = events.iter().filter(|event| !pasts.contains(*event)).collect();
    assert!(others.is_empty(), "not in the table of docs/style.md: {others:?}");

    let unused = verbs.iter().filter(|verb| !commands.contains(*verb) && !operations.contains(*verb));
    let unused: Vec<_> = unused.chain(pasts.iter().filter(|past| !events.contains(*past))).collect();
    assert!(unused.is_empty(), "the table of docs/style.md has words that nothing uses: {unused:?}");
}

/// The words of a cell, which are code.
fn words(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(ToOwned::to_owned)
}

/// What is in quotation marks right after `before`.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.split_once(before)?.1.strip_prefix('"')?.split('"').next())
}

fn last(text: &str, between: char) -> &str {
    text.rsplit(between).next().unwrap_or(text)
}

fn first(text: &str, between: char) -> String {
    text.split(between).next().unwrap_or(text).to_owned()
}
