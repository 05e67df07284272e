//! Leaves out of our own pages, scripts and styles what only the readers of the sources need: indents, and
//! comments on lines of their own. That is a tenth of what a first visit loads. An operator's files are served
//! as they are.

use std::borrow::Cow;

/// A template without indents, and without the lines that only statements of the template language are on. A
/// line break between two elements stays, because it is a space between words. Code that a page shows is in
/// files of its own, and stays as it is.
pub(super) fn page(name: &str, source: String) -> String {
    if !name.ends_with(".html") {
        return source;
    }
    let mut lean = String::with_capacity(source.len());
    for line in source.lines() {
        let line = line.trim_start();
        lean.push_str(line);
        if !has_only_statements(line) {
            lean.push('\n');
        }
    }
    lean
}

fn has_only_statements(line: &str) -> bool {
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = match rest.get(..2) {
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => return false,
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start();
    }
    true
}

/// A script or style without the comments that begin a line. Everything else stays, line by line.
pub(super) fn asset<'a>(name: &str, bytes: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    let is_script = name.ends_with(".js");
    if !is_script && !name.ends_with(".css") {
        return bytes;
    }
    let Ok(source) = std::str::from_utf8(&bytes) else { return bytes };
    let mut lean = String::with_capacity(source.len());
    let mut in_comment = false;
    for line in source.lines() {
        let text = line.trim();
        in_comment |= text.starts_with("/*");
        let is_comment = in_comment || (is_script && text.starts_with("//"));
        if !is_comment {
            lean.push_str(line);
            lean.push('\n');
        }
        in_comment &= !text.ends_with("*/");
    }
    Cow::Owned(lean.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::Embedded;
    use super::*;

    #[test]
    fn indents_and_lines_of_statements_are_left_out_and_spaces_between_words_stay() {
        let source = "{# Two\n   lines. #}\n<p>\n  {% if a %}\n  <b>{{ a }}</b>\n  {% endif %}{# end #}\n  <i>b</i> {% if c %}c{% endif %}\n</p>\n";
        let lean = "{# Two\nlines. #}\n<p>\n{% if a %}<b>{{ a }}</b>\n{% endif %}{# end #}<i>b</i> {% if c %}c{% endif %}\n</p>\n";
        assert_eq!(page("a.html", source.to_owned()), lean);
        assert_eq!(page("snippets/a.py", "if a:\n    b()\n".to_owned()), "if a:\n    b()\n");
    }

    #[test]
    fn comments_on_their_own_lines_are_left_out_and_code_stays() {
        let script = "// Why.\nconst a = 1; // stays\n  /** More,\n   * on lines. */\n  f(\"//\", `/* ${a}`);\n/* One. */\n";
        let lean = asset("a.js", Cow::Borrowed(script.as_bytes()));
        assert_eq!(&*lean, b"const a = 1; // stays\n  f(\"//\", `/* ${a}`);\n");
        let style = asset("a.css", Cow::Borrowed(b"/* Why. */\na {\n  color: red; /* stays */\n}\n"));
        assert_eq!(&*style, b"a {\n  color: red; /* stays */\n}\n");
        assert_eq!(&*asset("a.svg", Cow::Borrowed(b"/* a */")), b"/* a */");
    }

    /// Such code would be left out with the comment.
    #[test]
    fn no_file_of_ours_has_code_behind_a_comment_that_begins_a_line() {
        let mut files = 0;
        for name in Embedded::iter().filter(|name| name.ends_with(".js") || name.ends_with(".css")) {
            let file = Embedded::get(&name).unwrap();
            let mut in_comment = false;
            for line in std::str::from_utf8(&file.data).unwrap().lines() {
                let text = line.trim();
                in_comment |= text.starts_with("/*");
                assert!(!in_comment || !text.contains("*/") || text.ends_with("*/"), "{name}: {line}");
                in_comment &= !text.ends_with("*/");
            }
            assert!(!in_comment, "{name}: a comment does not end");
            files += 1;
        }
        assert!(files > 20, "{files}");
    }
}
