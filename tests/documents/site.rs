//! The site that `make docs` builds has every page, and the documents name targets that `make` has.

use std::collections::BTreeSet;

use super::{files_in, links, project, read, sources};

#[test]
fn the_summary_of_the_site_lists_every_page_once_under_its_title() {
    let folder = project().join("docs");
    let mut pages = Vec::new();
    files_in(&folder, &["md"], &mut pages);
    let relative = |path: &std::path::PathBuf| {
        path.strip_prefix(&folder).expect("a page of the folder").to_string_lossy().into_owned()
    };
    let mut pages: Vec<String> = pages.iter().map(relative).filter(|page| page != "SUMMARY.md").collect();
    let mut listed = links(&read("docs/SUMMARY.md"));
    pages.sort();
    listed.sort();
    assert_eq!(listed, pages, "left: docs/SUMMARY.md, right: the pages in docs");
    for line in read("docs/SUMMARY.md").lines().filter(|line| line.contains("](")) {
        let (title, page) = line.trim_start_matches([' ', '-', '[']).split_once("](").expect("a link");
        let page = page.trim_end_matches(')');
        let heading = read(&format!("docs/{page}")).lines().next().map(str::to_owned);
        assert_eq!(heading, Some(format!("# {title}")), "docs/{page}");
    }
}

#[test]
fn every_target_of_make_that_a_document_names_exists() {
    let rules = read("Makefile") + &read("studies.mk");
    let targets: BTreeSet<&str> = rules
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0))
        .filter(|name| is_target(name))
        .collect();
    let mut named = 0;
    for (document, text) in sources(&["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs"])
    {
        for (at, _) in text.match_indices("make ") {
            let is_command = text[..at].ends_with('`') || text[..at].ends_with('\n');
            let name = text[at + "make ".len()..].split([' ', '`', '\n', ',']).next().unwrap_or_default();
            if is_command && is_target(name) && is_in_code(&text, at) {
                assert!(targets.contains(name), "{}: make {name}", document.display());
                named += 1;
            }
        }
    }
    assert!(named > 50, "the test finds the targets: {named}");
}

fn is_target(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Is this place in a block of code, or right after a backtick?
fn is_in_code(text: &str, at: usize) -> bool {
    text[..at].ends_with('`') || text[..at].matches("\n```").count() % 2 == 1
}
