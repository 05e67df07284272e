//! The lines that name a resource's scopes: `photos.read = See your photos`, `photos.admin needs staff = Manage photos`,
//! and the title in another language, `photos.read[de] = Deine Fotos sehen`.

use std::collections::BTreeMap;

use countersign_domain::group::GroupName;
use countersign_domain::resource::{ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_http_actix::page::language::page_languages;

/// Writes the lines: one for each scope, and one more for each other language.
pub(super) fn write_scopes(scopes: &[ResourceScope]) -> String {
    let lines = scopes.iter().flat_map(ResourceScope::lines);
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads the lines. A scope without a title gets one of its name.
pub(super) fn read_scopes(text: &str) -> Result<Vec<ResourceScope>, String> {
    let mut scopes: Vec<ResourceScope> = Vec::new();
    for line in lines_of(text) {
        let (left, title) = line.split_once('=').unwrap_or((line, ""));
        let (left, title) = (left.trim(), Some(title.trim()).filter(|title| !title.is_empty()));
        let title_of =
            |title| ScopeTitle::parse(title).map_err(|rejected| format!("{line:?}: a title {rejected}"));
        if let Some((name, tag)) = left.strip_suffix(']').and_then(|left| left.split_once('[')) {
            if !page_languages().any(|known| known == tag) {
                let known = page_languages().collect::<Vec<_>>().join(", ");
                return Err(format!("{line:?}: the languages of the pages are {known}"));
            }
            let scope = scopes.iter_mut().find(|scope| scope.name.as_str() == name.trim());
            let scope = scope.ok_or_else(|| format!("{line:?}: name the scope in a line before"))?;
            let title = title.ok_or_else(|| format!("{line:?}: it has no title"))?;
            scope.titles.insert(tag.to_owned(), title_of(title)?);
            continue;
        }
        let (name, needs) = match left.split_once(" needs ") {
            Some((name, group)) => (name.trim(), Some(group.trim())),
            None => (left, None),
        };
        let name = ScopeName::parse(name).map_err(|rejected| format!("{line:?}: a name {rejected}"))?;
        if scopes.iter().any(|scope| scope.name == name) {
            return Err(format!("{name} is named twice"));
        }
        let needs = needs.map(GroupName::parse).transpose();
        let needs = needs.map_err(|rejected| format!("{line:?}: {rejected}"))?;
        let title = title.map(title_of).transpose()?.unwrap_or_else(|| ScopeTitle::of_name(&name));
        scopes.push(ResourceScope { name, title, titles: BTreeMap::new(), needs });
    }
    scopes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scopes)
}

/// The lines that are not empty, without the spaces around them.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_scopes_are_read_as_they_are_written() {
        let text = "photos.admin needs staff = Manage = photos\nphotos.read = See your photos\nphotos.read[de] = Deine Fotos sehen";
        let scopes = read_scopes(text).unwrap();
        assert_eq!(scopes[0].needs.as_ref().map(GroupName::as_str), Some("staff"));
        assert_eq!(scopes[0].title.as_str(), "Manage = photos");
        assert_eq!(scopes[1].title_in("de"), "Deine Fotos sehen");
        assert_eq!(write_scopes(&scopes), text);
    }

    #[test]
    fn a_line_that_is_no_scope_is_named() {
        for (text, complaint) in [
            ("two words = x", "a name"),
            ("a = b\na = c", "named twice"),
            ("a[de] = b", "in a line before"),
            ("a = b\na[xx] = c", "languages of the pages"),
            ("a needs Staff! = b", "Staff!"),
            ("a = \u{202e}b", "a title"),
        ] {
            let error = read_scopes(text).unwrap_err();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
