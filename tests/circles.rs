//! The modules of a crate must not depend on each other in a circle: neither the modules at its root nor
//! those in one folder.
//!
//! A module counts together with everything below it, and tests may use whatever they test. Dependencies are
//! read from the text of the files: `use`, and any other path that begins with `crate::` or `super::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The most files at the root of a crate. More are sorted into folders by subject.
const MOST_AT_ROOT: usize = 15;

type Module = Vec<String>;

/// The modules of a crate with their source, without comments and tests.
#[derive(Default)]
struct Crate {
    texts: BTreeMap<Module, String>,
    /// What the root re-exports, and the module that it comes from.
    exported: BTreeMap<String, Module>,
}

/// Which modules of one folder depend on which, with an example of each dependency.
type Room = BTreeMap<(String, String), String>;

#[test]
fn no_modules_depend_on_each_other_in_a_circle() {
    let circles: Vec<String> = crates()
        .into_iter()
        .flat_map(|(name, source)| {
            let read = Crate::read(&source);
            assert!(!read.texts.is_empty(), "{name} has modules");
            read.circles().into_iter().map(move |circle| format!("{name}: {circle}"))
        })
        .collect();
    assert!(circles.is_empty(), "circles of modules:\n{}", circles.join("\n"));
}

#[test]
fn few_files_are_at_the_root_of_a_crate() {
    let files = |source: &Path| {
        let entries = fs::read_dir(source).expect("a folder").flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs")).count()
    };
    let counted = crates().into_iter().map(|(name, source)| (name, files(&source)));
    let many: Vec<_> = counted.filter(|(_, count)| *count > MOST_AT_ROOT).collect();
    assert!(many.is_empty(), "more than {MOST_AT_ROOT} files: {many:?}");
}

/// The crates with their sources.
fn crates() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    named.map(|(name, path)| (name, path.join("src"))).collect()
}

#[test]
fn a_circle_is_found_and_named() {
    let texts = [
        ("", "pub mod a;\npub use b::below::Shown;"),
        ("a", "use crate::{Shown, other};"),
        ("b", "pub mod below;"),
        ("b/below", "fn one() { super::super::c::two(); }"),
        ("c", "use crate::a::{self, deep::{One, Other}};"),
        ("d", "// use crate::e;\nuse crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::e;\n}"),
        ("e", "use crate::d;"),
    ];
    let read = Crate::of(texts.map(|(path, text)| (module(path), text.to_owned())).into());
    let found = read.circles();
    assert_eq!(found, ["a -> b -> c -> a (a: crate::Shown; b::below: super::super::c::two; c: crate::a)"]);
}

#[test]
fn a_module_that_the_root_re_exports_is_recognized() {
    let texts = [
        ("", "mod a;\nmod b;\npub use a::below;"),
        ("a", "pub mod below;"),
        ("a/below", "use crate::b::Other;"),
        ("b", "use crate::below::Shown;"),
    ];
    let read = Crate::of(texts.map(|(path, text)| (module(path), text.to_owned())).into());
    assert_eq!(read.circles(), ["a -> b -> a (a::below: crate::b::Other; b: crate::below::Shown)"]);
}

fn module(path: &str) -> Module {
    path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let mut texts = BTreeMap::new();
        read_below(folder, &[], &mut texts);
        Self::of(texts)
    }

    fn of(texts: BTreeMap<Module, String>) -> Self {
        let mut tests = BTreeSet::new();
        let mut this = Self::default();
        for (module, text) in texts {
            let (text, its_tests) = without_tests(&text);
            tests.extend(its_tests.into_iter().map(|name| [module.clone(), vec![name]].concat()));
            this.texts.insert(module, text);
        }
        this.texts.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        let root = this.texts.get(&Module::new()).cloned().unwrap_or_default();
        for (is_public, path) in uses(&root).0 {
            if let (true, Some(name)) = (is_public, path.last()) {
                this.exported.insert(name.clone(), path.clone());
            }
        }
        this
    }

    fn circles(&self) -> Vec<String> {
        let mut rooms: BTreeMap<Module, Room> = BTreeMap::new();
        for (from, text) in &self.texts {
            let (statements, code) = uses(text);
            let paths = statements.into_iter().map(|(_, path)| path).chain(named_in(&code));
            for path in paths {
                let Some(to) = self.resolve(from, &path) else { continue };
                let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                    let example = format!("{}: {}", from.join("::"), path.join("::"));
                    let room = rooms.entry(from[..shared].to_vec()).or_default();
                    room.entry((one.clone(), other.clone())).or_insert(example);
                }
            }
        }
        rooms.values().filter_map(circle_in).collect()
    }

    /// The module that a path leads to; `None` for the root and for other crates.
    fn resolve(&self, from: &Module, path: &[String]) -> Option<Module> {
        let mut whole = match path.first()?.as_str() {
            "crate" => path[1..].to_vec(),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                [from.get(..from.len().checked_sub(ups)?)?, &path[ups..]].concat()
            }
            _ => [from, path].concat(),
        };
        if let Some((name, rest)) = whole.split_first()
            && let Some(origin) = self.exported.get(name)
            && !self.texts.contains_key(&vec![name.clone()])
        {
            whole = [origin, rest].concat();
        }
        while !whole.is_empty() && !self.texts.contains_key(&whole) {
            whole.pop();
        }
        (!whole.is_empty()).then_some(whole)
    }
}

fn read_below(folder: &Path, above: &[String], texts: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            read_below(&path, &[above, &[name]].concat(), texts);
        } else if let Some(name) = name.strip_suffix(".rs") {
            let is_root = above.is_empty() && name == "lib";
            let module = if is_root { Module::new() } else { [above, &[name.to_owned()]].concat() };
            texts.insert(module, fs::read_to_string(&path).expect("a file"));
        }
    }
}

/// The text without comments and tests, and the names of modules that contain only tests.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let mut tests = Vec::new();
    let mut left = String::new();
    let mut is_test = false;
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        if is_test && code.ends_with('{') && code.contains("mod ") {
            // Tests are at the end of a file.
            break;
        }
        if is_test && let Some((_, name)) = code.split_once("mod ") {
            tests.push(name.trim_end_matches(';').to_owned());
        }
        is_test = code.trim() == "#[cfg(test)]";
        left.push_str(code);
        left.push('\n');
    }
    (left, tests)
}

/// The paths of all `use` statements, each with whether it is public, and the text without them.
fn uses(text: &str) -> (Vec<(bool, Module)>, String) {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let begins = line.split_once("use ").filter(|(before, _)| {
            let before = before.trim();
            before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')'))
        });
        let Some((before, begin)) = begins else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut tree = begin.to_owned();
        while !tree.contains(';')
            && let Some(line) = lines.next()
        {
            tree.push_str(line.trim());
        }
        let is_public = before.trim() == "pub";
        let tree = tree.trim_end_matches(';');
        found.extend(expanded(tree).into_iter().map(|path| (is_public, path)));
    }
    (found, rest)
}

/// Every path in a tree such as `a::{b, c::{d, e}}`.
fn expanded(tree: &str) -> Vec<Module> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(str::trim).filter(|name| !name.is_empty() && *name != "self");
        return vec![names.map(str::to_owned).collect()];
    };
    let before = expanded(before).concat();
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let mut depth = 0_usize;
    let parts = inside.split(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(expanded).map(|below| [before.clone(), below].concat()).collect()
}

/// The paths in code that begin with `crate::` or `super::`.
fn named_in(code: &str) -> Vec<Module> {
    let words = code
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '_' && character != ':');
    let ours = words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    ours.map(|word| word.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()).collect()
}

/// The shortest circle in a folder.
fn circle_in(room: &Room) -> Option<String> {
    let names: BTreeSet<&String> = room.keys().map(|(from, _)| from).collect();
    let shortest = names.into_iter().filter_map(|name| way_back(room, name)).min_by_key(Vec::len)?;
    let steps = shortest.iter().zip(shortest.iter().skip(1));
    let examples: Vec<&str> = steps
        .filter_map(|(one, other)| room.get(&(one.clone(), other.clone())))
        .map(String::as_str)
        .collect();
    Some(format!("{} ({})", shortest.join(" -> "), examples.join("; ")))
}

/// The shortest path from a module back to itself.
fn way_back(room: &Room, name: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![name.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for (_, to) in room.keys().filter(|(from, _)| way.last() == Some(from)) {
                let next = [way.clone(), vec![to.clone()]].concat();
                if to == name {
                    return Some(next);
                }
                if seen.insert(to.clone()) {
                    longer.push(next);
                }
            }
        }
        ways = longer;
    }
    None
}
