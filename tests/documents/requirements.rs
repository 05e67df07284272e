//! `docs/reports/requirements.md` says what each id requires, and a test covers each id in it or there
//! is a reason why not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{project, read, sources};

/// An id is one of these letters with two or three digits.
const SERIES: [(char, usize); 8] =
    [('A', 3), ('B', 3), ('C', 2), ('D', 2), ('E', 2), ('F', 2), ('K', 2), ('P', 2)];

/// The files and folders in which ids are used.
const USERS: [&str; 7] = ["crates", "tests", "docs", "fuzz", "bench", "Makefile", "studies.mk"];

const LIST: &str = "docs/reports/requirements.md";

#[test]
fn every_requirement_that_is_named_is_in_the_list() {
    let listed = listed();
    let mut missing = BTreeMap::new();
    for (path, text) in sources(&USERS) {
        for id in ids(&text).into_iter().map(|(id, _)| id).filter(|id| !listed.contains_key(id)) {
            missing.entry(id).or_insert_with(|| path.clone());
        }
    }
    assert!(missing.is_empty(), "{LIST} does not say what these require: {missing:?}");
}

#[test]
fn every_requirement_in_the_list_is_named_by_a_test_or_has_a_reason() {
    let listed = listed();
    let mut tested = BTreeSet::new();
    for (path, text) in
        sources(&["crates", "tests", "fuzz"]).into_iter().filter(|(path, _)| !path.ends_with(file!()))
    {
        let tests = tests_from(&path, &text);
        tested.extend(ids(&text).into_iter().filter(|(_, at)| *at >= tests).map(|(id, _)| id));
    }
    let unheld: Vec<_> =
        listed.iter().filter(|(id, reason)| reason.is_empty() && !tested.contains(*id)).collect();
    assert!(unheld.is_empty(), "no test names these, and {LIST} gives no reason: {unheld:?}");
    let held: Vec<_> =
        listed.iter().filter(|(id, reason)| !reason.is_empty() && tested.contains(*id)).collect();
    assert!(held.is_empty(), "a test names these, so the reason in {LIST} can go: {held:?}");
}

/// Every id in the list, with the reason if no test names it.
fn listed() -> BTreeMap<String, String> {
    let mut listed = BTreeMap::new();
    for line in read(LIST).lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, id, _, reason, _] = cells[..] else { continue };
        if is_id(id) {
            let earlier = listed.insert(id.to_owned(), reason.to_owned());
            assert!(earlier.is_none(), "{id} is in {LIST} twice");
        }
    }
    assert!(listed.len() > 300, "{LIST} has its tables: {}", listed.len());
    listed
}

/// Where the tests in a file begin: at its start if it is a test file, otherwise at its `#[cfg(test)]`.
fn tests_from(path: &Path, text: &str) -> usize {
    let path = path.strip_prefix(project()).expect("a file of the project");
    let is_test = path.components().any(|part| {
        let part = part.as_os_str();
        part == "tests" || part == "tests.rs" || part == "conformance" || part == "fuzz"
    });
    if is_test {
        return 0;
    }
    let has_tests = text.contains("#[test]") || text.contains("::test]") || text.contains("proptest!");
    text.find("#[cfg(test)]").unwrap_or(if has_tests { 0 } else { text.len() })
}

/// The ids in a text with their positions: `B-022`, or `b_022` in the name of a test.
fn ids(text: &str) -> Vec<(String, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (at, window) in bytes.windows(2).enumerate() {
        let (letter, in_name) = (char::from(window[0]), window[1] == b'_');
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let is_inside = before.is_ascii_alphanumeric() || (before == b'-' && !in_name);
        let is_spelled = if in_name { letter.is_ascii_lowercase() } else { window[1] == b'-' };
        if is_inside || !is_spelled {
            continue;
        }
        let digits = text[at + 2..].chars().take_while(char::is_ascii_digit).count();
        let end = at + 2 + digits;
        let after = bytes.get(end).copied().unwrap_or(b' ');
        let ends = if in_name { after == b'_' } else { !after.is_ascii_alphanumeric() };
        let id = format!("{}-{}", letter.to_ascii_uppercase(), &text[at + 2..end]);
        if ends && is_id(&id) {
            found.push((id, at));
        }
    }
    found
}

fn is_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(letter, digits)| {
        SERIES.iter().any(|(series, length)| letter == series.to_string() && digits.len() == *length)
            && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[test]
fn ids_are_found_in_sentences_and_in_names_and_nowhere_else() {
    let found = |text: &str| ids(text).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(
        found("(A-001, B-022) fn b_023_b_024_other_lengths(P-06)"),
        ["A-001", "B-022", "B-023", "B-024", "P-06"]
    );
    assert_eq!(
        found("P-256 SHA-256 ADR-036 EIP-55 BSD-2-Clause a_b_1 x_001_ A-1000 B-22"),
        Vec::<String>::new()
    );
}
