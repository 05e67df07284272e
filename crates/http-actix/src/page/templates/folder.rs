//! The operator's folder of templates, texts and assets. It is read once, at start.
//!
//! A file that cannot be used stops the server. A file without effect, or probably without the intended one, is
//! a warning at start and in `countersign check-config`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use countersign_ports::PageModule;
use serde_json::Value;

use super::{Embedded, TemplateError, assets, texts};
use crate::page::language::Language;

/// The longest file. All files are kept in memory.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// A folder with more files than this is not a folder of templates.
const MAX_FILES: usize = 1000;

/// Folders below this depth are ignored. Ours are two levels deep.
const MAX_DEPTH: usize = 4;

/// A warning names this many keys.
const MAX_NAMED: usize = 8;

/// The files by their paths below the folder, with `/` between the parts.
#[derive(Default)]
pub(crate) struct Folder {
    files: BTreeMap<String, Vec<u8>>,
    /// Can every user of this machine write to it?
    is_open: bool,
}

impl Folder {
    /// Reads all files, except those whose names begin with a dot: they belong to a version control system, to an
    /// editor or to Kubernetes.
    pub(crate) fn read(folder: Option<&Path>) -> Result<Self, TemplateError> {
        let mut this = Self::default();
        if let Some(folder) = folder {
            let root = folder.canonicalize().map_err(unreadable(folder))?;
            let about = root.metadata().map_err(unreadable(folder))?;
            this.is_open = about.permissions().mode() & 0o002 != 0;
            this.collect(&root, &root, "", MAX_DEPTH)?;
        }
        Ok(this)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The operator's replacement for our file, if there is one.
    pub(super) fn replacement(&self, file: &str) -> Option<Cow<'static, [u8]>> {
        self.files.get(file).map(|bytes| Cow::Owned(bytes.clone()))
    }

    /// The assets with their names.
    pub(super) fn assets(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let below =
            self.files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(assets::FOLDER)?, bytes)));
        below.map(|(name, bytes)| (name, bytes.as_slice())).filter(|(name, _)| is_servable(name))
    }

    fn collect(&mut self, root: &Path, folder: &Path, at: &str, depth: usize) -> Result<(), TemplateError> {
        for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            let refused = |reason| TemplateError::Refused { path: path.display().to_string(), reason };
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or_else(|| refused("has a name that is not UTF-8"))?;
            if name.starts_with('.') {
                continue;
            }
            // Kubernetes uses links within the folder. A link out of it would let someone who can only write here
            // publish what the server can read elsewhere.
            let real = path.canonicalize().map_err(unreadable(&path))?;
            if !real.starts_with(root) {
                return Err(refused("is a symbolic link that leads out of the folder"));
            }
            let about = real.metadata().map_err(unreadable(&path))?;
            let below = format!("{at}{name}");
            if about.is_dir() {
                if depth > 1 {
                    self.collect(root, &real, &format!("{below}/"), depth - 1)?;
                }
                continue;
            }
            // Reading a pipe would never end.
            if !about.is_file() {
                return Err(refused("is neither a file nor a folder"));
            }
            if about.len() > MAX_FILE {
                return Err(refused("is longer than 4 MiB"));
            }
            if self.files.len() >= MAX_FILES {
                return Err(refused("is one of more than 1000 files: the folder is not one of templates"));
            }
            let bytes = std::fs::read(&real).map_err(unreadable(&path))?;
            self.files.insert(below, bytes);
        }
        Ok(())
    }

    /// Describes each file and text that has no effect, or probably not the intended one.
    pub(super) fn doubts(&self, modules: &[PageModule], known: &KnownNames<'_>) -> Vec<String> {
        let mut doubts = Vec::new();
        let mut used = 0;
        for path in self.files.keys() {
            match self.use_of(path, modules) {
                Use::Ours | Use::Own => used += 1,
                Use::Nothing(reason) => doubts.push(format!("{path} has no effect: {reason}")),
            }
        }
        if used == 0 {
            doubts.insert(
                0,
                "nothing in this folder replaces a page, a text or an asset; `countersign templates export` writes those of this \
                 release"
                    .to_owned(),
            );
        }
        if self.is_open {
            doubts.push(
                "every user of this machine may write in this folder, and so change the pages".to_owned(),
            );
        }
        let mut named = BTreeSet::new();
        for (path, bytes) in &self.files {
            if path.ends_with(".html") && Embedded::get(path).is_some() {
                let names = names_in(&String::from_utf8_lossy(bytes));
                let missing = names.iter().filter(|name| !known.has(name));
                doubts.extend(missing.map(|name| format!("{path} names {name}, which does not exist")));
                named.extend(names);
            }
        }
        doubts.extend(self.doubtful_texts(&named));
        doubts
    }

    fn use_of(&self, path: &str, modules: &[PageModule]) -> Use {
        if Embedded::get(path).is_some() {
            return Use::Ours;
        }
        let is_script_of =
            |name: &str| modules.iter().any(|module| name == format!("wallet-{}.js", module.name));
        if let Some(name) = path.strip_prefix(assets::FOLDER) {
            return match is_servable(name) {
                _ if is_script_of(name) => Use::Ours,
                true => Use::Own,
                false => Use::Nothing(SERVABLE),
            };
        }
        Use::Nothing(match path.split('/').collect::<Vec<_>>()[..] {
            ["locales", tag, _] if !is_language(tag) => "the pages are not in this language",
            ["locales", _, _] => "no file of texts has this name",
            [page] if page.ends_with(".html") => "no page has this name",
            _ => "no file of ours has this path, and files of your own belong into assets/",
        })
    }

    /// Finds texts that no page shows, wrong placeholders, and changes in English only.
    fn doubtful_texts(&self, named: &BTreeSet<String>) -> Vec<String> {
        let mut doubts = Vec::new();
        let has_scripts = self.assets().any(|(name, _)| name.ends_with(".js"));
        // An added text is in use if a page in the folder names it, or if a script may.
        let is_shown = |area: &str, key: &str| {
            let key = format!("t.{}.{key}", area.trim_end_matches(".json"));
            let is_in = |name: &String| {
                key == *name || key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            };
            named.iter().any(is_in) || (has_scripts && key.contains(".script."))
        };
        for (path, texts) in
            self.files.iter().filter_map(|(path, bytes)| Some((path, texts_of(path, bytes)?)))
        {
            let [_, tag, area] = path.split('/').collect::<Vec<_>>()[..] else { continue };
            let english = embedded_texts(Language::English, area);
            for (key, text) in &texts {
                let Some(original) = english.get(key) else {
                    if !is_shown(area, key) {
                        doubts.push(format!("{path}: no text has the key {key}"));
                    }
                    continue;
                };
                let (places, wanted) = (texts::places(text), texts::places(original));
                for place in wanted.difference(&places) {
                    doubts.push(format!("{path}: {key} leaves out {{{place}}}"));
                }
                for place in places.difference(&wanted) {
                    doubts.push(format!("{path}: {key} has {{{place}}}, which stays as it is"));
                }
            }
            if tag == Language::English.tag() {
                doubts.extend(self.untranslated(path, area, &texts, &english));
            }
        }
        doubts
    }

    /// Finds English texts that the folder changes, and the languages in which it does not.
    fn untranslated(
        &self,
        path: &str,
        area: &str,
        texts: &BTreeMap<String, String>,
        english: &BTreeMap<String, String>,
    ) -> Vec<String> {
        let mut by_languages: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
        let theirs: Vec<_> = Language::ALL
            .into_iter()
            .filter(|language| *language != Language::English)
            .map(|language| {
                let path = format!("{}{}/{area}", texts::FOLDER, language.tag());
                let texts = self.files.get(&path).and_then(|bytes| texts_of(&path, bytes));
                let mut texts = texts.unwrap_or_default();
                // In a file that was exported as a whole, only changed texts count. In a shorter file, someone
                // chose the keys, and may have kept a text on purpose.
                let ours = embedded_texts(language, area);
                if ours.keys().all(|key| texts.contains_key(key)) {
                    texts.retain(|key, text| ours.get(key) != Some(text));
                }
                (language.tag(), texts)
            })
            .collect();
        for (key, text) in texts {
            if english.get(key).is_none_or(|original| original == text) {
                continue;
            }
            let lacking = theirs.iter().filter(|(_, texts)| !texts.contains_key(key)).map(|(tag, _)| *tag);
            let lacking: Vec<_> = lacking.collect();
            if !lacking.is_empty() {
                by_languages.entry(lacking).or_default().push(key);
            }
        }
        let lines = by_languages.into_iter().map(|(languages, keys)| {
            let more = match keys.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = keys.get(..MAX_NAMED).unwrap_or(&keys).join(", ");
            format!(
                "{path} changes {named}{more}, but in {} the pages still say what they said: change the same keys there",
                languages.join(", ")
            )
        });
        lines.collect()
    }
}

/// What the server does with a file.
enum Use {
    /// It replaces one of ours.
    Ours,
    /// It is added to our assets.
    Own,
    /// Nothing, and why.
    Nothing(&'static str),
}

const SERVABLE: &str = "an asset's name has letters, digits, dots, dashes and underscores, and one of the endings .js, .css, .svg, \
                        .png, .jpg, .jpeg, .gif, .webp, .avif and .ico";

/// Is it served? Browsers would not load other types under our Content-Security-Policy.
fn is_servable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().all(is_plain) && assets::known_content_type(name).is_some()
}

fn is_language(tag: &str) -> bool {
    Language::ALL.into_iter().any(|language| language.tag() == tag)
}

/// The names that templates can use.
pub(super) struct KnownNames<'a> {
    /// All texts.
    pub(super) texts: &'a Value,
    /// The assets, by their variables.
    pub(super) assets: &'a BTreeMap<String, String>,
}

impl KnownNames<'_> {
    /// Does the text or asset exist? If not, the page could not be rendered.
    fn has(&self, name: &str) -> bool {
        let mut parts = name.split('.');
        match parts.next() {
            Some("t") => parts.try_fold(self.texts, |tree, part| tree.get(part)).is_some(),
            Some("assets") => parts.next().is_none_or(|asset| self.assets.contains_key(asset)),
            Some(_) | None => true,
        }
    }
}

/// The texts and assets that a template names.
fn names_in(page: &str) -> BTreeSet<String> {
    let within = |start, end| {
        page.split(start).skip(1).map(move |rest: &str| rest.split(end).next().unwrap_or_default())
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    within("{{", "}}")
        .chain(within("{%", "%}"))
        .flat_map(|tag| tag.split(move |c| !is_part(c)))
        .filter(|name| name.starts_with("t.") || name.starts_with("assets."))
        .map(str::to_owned)
        .collect()
}

/// The texts of a file by their keys, if it is one of texts.
fn texts_of(path: &str, bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    if !path.starts_with(texts::FOLDER) || Embedded::get(path).is_none() {
        return None;
    }
    let mut found = BTreeMap::new();
    flatten(&serde_json::from_slice(bytes).ok()?, "", &mut found);
    Some(found)
}

fn embedded_texts(language: Language, area: &str) -> BTreeMap<String, String> {
    let path = format!("{}{}/{area}", texts::FOLDER, language.tag());
    Embedded::get(&path).and_then(|file| texts_of(&path, &file.data)).unwrap_or_default()
}

fn flatten(tree: &Value, at: &str, found: &mut BTreeMap<String, String>) {
    match tree {
        Value::Object(group) => {
            for (key, value) in group {
                let key = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                flatten(value, &key, found);
            }
        }
        Value::String(text) => {
            found.insert(at.to_owned(), text.clone());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> TemplateError {
    let path = PathBuf::from(path);
    move |source| TemplateError::Folder { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests;
