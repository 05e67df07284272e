//! `docs/style.md` lists words to avoid, and how often each is still there. There may never be more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{files_in, project, read};

const STYLE: &str = "docs/style.md";
const TABLE: &str = "| avoid | because, or instead | still there |\n|---|---|---:|\n";

/// What people read: code that ships, documents, pages and what comes with them.
const WHERE: [&str; 11] = [
    "crates",
    "migrations",
    "packaging",
    "contrib",
    "templates",
    "docs",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "studies.mk",
];
const KINDS: [&str; 13] =
    ["rs", "md", "txt", "sql", "html", "js", "mjs", "json", "css", "py", "sh", "Makefile", "mk"];
/// Crates that only tests use.
const ONLY_TESTED: [&str; 3] = ["conformance", "fuzz-checks", "test-postgres"];

/// A row of the table: the word, what the table says about it, and its limit.
struct Avoided {
    word: String,
    advice: String,
    limit: usize,
}

/// With `UPDATE_DOCS` in the environment, a limit that is too high is lowered. No limit is ever raised.
#[test]
fn words_to_avoid_become_fewer() {
    let style = read(STYLE);
    let (before, rest) = style.split_once(TABLE).expect("the table");
    let (rows, after) = rest.split_once("\n\n").expect("the table ends");
    let texts = texts();
    assert!(texts.len() > 800, "the test finds the files: {}", texts.len());
    let mut lowered = String::new();
    let mut wrong = Vec::new();
    for Avoided { word, advice, limit } in rows.lines().map(row) {
        let found: Vec<(usize, &PathBuf)> = texts
            .iter()
            .map(|(path, text)| (count(text, &word), path))
            .filter(|(times, _)| *times > 0)
            .collect();
        let times = found.iter().map(|(times, _)| times).sum::<usize>();
        if times != limit {
            wrong.push(format!("{word}: {times}, and the limit is {limit}: {found:?}"));
        }
        lowered += &format!("| {word} | {advice} | {} |\n", times.min(limit));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(project().join(STYLE), format!("{before}{TABLE}{}\n\n{after}", lowered.trim_end()))
            .expect(STYLE);
    }
    assert!(
        wrong.is_empty(),
        "write another word where there are more; UPDATE_DOCS=1 lowers the limits:\n{}",
        wrong.join("\n")
    );
}

fn row(line: &str) -> Avoided {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [word, advice, limit] = cells[..] else { panic!("three columns: {line}") };
    Avoided { word: word.to_owned(), advice: advice.to_owned(), limit: limit.parse().expect("a number") }
}

/// How often a word, or several in a row, stands in a text. Lines of a comment are read as one.
fn count(text: &str, words: &str) -> usize {
    let of_words = |character: char| character.is_alphanumeric() || character == '_';
    let between =
        |gap: &str| gap.chars().all(|character| character.is_whitespace() || "/!*#".contains(character));
    let (first, others) = words.split_once(' ').unwrap_or((words, ""));
    let lower = text.to_lowercase();
    let starts = lower.match_indices(first).filter(|(at, _)| {
        let mut rest = &lower[at + first.len()..];
        !lower[..*at].ends_with(of_words)
            && others.split(' ').filter(|word| !word.is_empty()).all(|word| {
                let gap = rest.find(of_words).unwrap_or(rest.len());
                let fits = gap > 0 && between(&rest[..gap]) && rest[gap..].starts_with(word);
                rest = rest.get(gap + word.len()..).unwrap_or_default();
                fits
            })
            && !rest.starts_with(of_words)
    });
    starts.count()
}

/// Every file that people read, without tests, and without the table itself.
fn texts() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    for place in WHERE.map(|place| project().join(place)) {
        if place.is_dir() { files_in(&place, &KINDS, &mut paths) } else { paths.push(place) }
    }
    let mut texts: Vec<(PathBuf, String)> = paths
        .into_iter()
        .filter_map(|path| {
            let text = fs::read_to_string(&path).expect("a text");
            let path = path.strip_prefix(project()).expect("a file of the project").to_owned();
            is_read(&path).then_some((path, text))
        })
        .collect();
    let tests: BTreeSet<PathBuf> =
        texts.iter().flat_map(|(path, text)| modules_for_tests(path, text)).collect();
    texts.retain(|(path, _)| !path.ancestors().any(|part| tests.contains(&part.with_extension(""))));
    for (_, text) in &mut texts {
        if let Some(at) = text.find("\n#[cfg(test)]\nmod tests {") {
            text.truncate(at);
        }
    }
    texts
}

fn is_read(path: &Path) -> bool {
    let mut parts = path.iter().map(|part| part.to_string_lossy());
    let place = parts.next().unwrap_or_default().into_owned();
    let inside = parts.next().unwrap_or_default().into_owned();
    let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs" || part == "examples");
    let is_translation =
        place == "templates" && inside == "locales" && !path.starts_with("templates/locales/en");
    let is_only_tested = place == "crates" && ONLY_TESTED.contains(&inside.as_str());
    !is_test && !is_translation && !is_only_tested && path != Path::new(STYLE)
}

/// The modules of a file that only tests have, as paths without an ending.
fn modules_for_tests(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main") | None => path.parent().expect("a folder").to_owned(),
        Some(_) => path.with_extension(""),
    };
    let after = text.split("#[cfg(test)]\n").skip(1);
    let declared = after.filter_map(|rest| {
        let line = rest.lines().find(|line| !line.trim_start().starts_with("#["))?;
        line.trim().rsplit_once("mod ")?.1.strip_suffix(';').map(str::to_owned)
    });
    declared.map(|name| folder.join(name)).collect()
}

#[test]
fn words_are_counted_whole_and_across_the_lines_of_a_comment() {
    assert_eq!(count("Told, untold, told_by; what it told", "told"), 2);
    assert_eq!(count("It is no\n/// number. It is. No: is nothing", "is no"), 1);
}
