//! The documents are correct: links have a target, decisions and
//! requirements are listed, and guides name everything that a reader needs.

mod adapters;
mod one_word;
mod packaging;
mod requirements;
mod site;
mod style;
mod translations;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that contain nothing that we wrote for readers.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".git", "vectors"];

/// Endings of the names of files with code or prose.
const WRITTEN: [&str; 7] = ["rs", "md", "mjs", "py", "sh", "toml", "Makefile"];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the project").to_owned()
}

/// The text of a file of the project.
fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Everything with code or prose in these files and folders of the project.
fn sources(below: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in below {
        let path = project().join(path);
        if path.is_dir() { files_in(&path, &WRITTEN, &mut found) } else { found.push(path) }
    }
    found
        .into_iter()
        .map(|path| {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, text)
        })
        .collect()
}

/// The files in a folder and below it whose names have one of these endings.
pub(super) fn files_in(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) && !name.starts_with('.') {
                files_in(&path, ends, found);
            }
        } else if ends.iter().any(|end| name.rsplit('.').next() == Some(end)) {
            found.push(path);
        }
    }
}

/// A line `<!-- tests/… -->` says that the block below it is this file. A file may be indented as a whole.
#[test]
fn the_files_in_the_documentation_are_those_that_are_tested() {
    let mut shown = 0;
    for (document, text) in sources(&["README.md", "docs"]) {
        for (_, after) in text.match_indices("<!-- tests/").map(|(place, _)| text.split_at(place)) {
            let (name, rest) = after["<!-- ".len()..].split_once(" -->\n").expect("the mark ends");
            let block = rest.strip_prefix("```").and_then(|rest| rest.split_once('\n'));
            let (_, block) = block.unwrap_or_else(|| panic!("{}: no block below {name}", document.display()));
            let (block, _) = block.split_once("\n```").expect("the block ends");
            let file = read(name);
            let margin = file.len() - file.trim_start_matches(' ').len();
            let lines: Vec<&str> =
                file.trim_end().lines().map(|line| line.get(margin..).unwrap_or("")).collect();
            assert_eq!(block, lines.join("\n"), "{}: copy {name}", document.display());
            shown += 1;
        }
    }
    assert_eq!(shown, 7, "files in the documentation");
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut files = Vec::new();
    files_in(&project(), &["md"], &mut files);
    let mut broken = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a document");
        for link in links(&text) {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target =
                if path.is_empty() { file.clone() } else { file.parent().expect("a folder").join(path) };
            let is_there = target.exists();
            let anchor_is_there = anchor.is_none_or(|anchor| {
                target.extension().is_none_or(|kind| kind != "md")
                    || fs::read_to_string(&target)
                        .is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor))
            });
            if !is_there || !anchor_is_there {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{} links are broken:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn every_decision_is_listed() {
    let folder = project().join("docs/adr");
    let list = fs::read_to_string(folder.join("README.md")).expect("docs/adr/README.md");
    let mut decisions = 0;
    for entry in fs::read_dir(&folder).expect("docs/adr").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") && name.starts_with(|first: char| first.is_ascii_digit()) {
            assert!(list.contains(&format!("({name})")), "docs/adr/README.md does not list {name}");
            decisions += 1;
        }
    }
    assert!(decisions > 0, "there are decisions");
}

/// The relative links of a document, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // Text between backticks is code, not a link.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for part in prose.split("](").skip(1) {
            let link = part.split([')', ' ']).next().unwrap_or_default().trim_matches(['<', '>']);
            let elsewhere = link.contains("://") || link.starts_with("mailto:") || link.starts_with('/');
            if !link.is_empty() && !elsewhere {
                links.push(link.to_owned());
            }
        }
    }
    links
}

/// The anchors of headings: lower case, hyphens for spaces, no punctuation.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading
                .chars()
                .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
            kept.collect::<String>().to_lowercase().replace(' ', "-")
        })
        .collect()
}
