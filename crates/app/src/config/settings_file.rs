//! The settings file that explains every setting and sets none, and its man page: both are made from the table of
//! settings.

use std::fmt::Write;

use clap_mangen::roff::{Roff, bold, italic, roman};

use crate::config::settings::{self, Preset, Spec};

/// How long lines are.
const WIDTH: usize = 100;

const INTRODUCTION: &str = "\
The settings of Countersign. Each line below that sets something is independent of the others: remove the # in front of it and change the value. \
`countersign check-config --config FILE` shows what is set and what is wrong. The server reads this file when it starts. A flag or a \
variable of the environment wins over the line here. A time is a number with s, m, h, d or w, or a number of seconds. What may be secret can be in a file of its own, whose path is the value of \
the line that ends in _file; a file that contains a secret must be readable by its owner alone, or by a group (chmod 640).";

/// The whole file.
pub(crate) fn template() -> String {
    let mut text = String::new();
    comment(&mut text, INTRODUCTION);
    for spec in settings::ALL {
        text.push('\n');
        comment(&mut text, spec.doc);
        comment(&mut text, &format!("Takes {}. Default: {}.", spec.takes, default(spec)));
        // Nothing is written by hand here, so a line has one form: what can be a number is one.
        let value = match spec.preset {
            Preset::Text(preset) => preset,
            Preset::Absent(_) => "",
        };
        let is_number = value.parse::<u64>().is_ok();
        let quoted = if is_number { value.to_owned() } else { format!("\"{value}\"") };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "#{} = {quoted}", spec.name);
        if let Some(key) = spec.file_key() {
            let _ = writeln!(text, "#{key} = \"\"");
        }
    }
    text
}

/// The man page of the file.
pub(crate) fn man_page(version: &str) -> String {
    let mut page = Roff::new();
    let title = ["COUNTERSIGN.TOML", "5", "", &format!("countersign {version}")];
    page.control("TH", title);
    page.control("SH", ["NAME"]);
    page.text([roman("countersign.toml - the settings of the countersign server")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(INTRODUCTION)]);
    page.control("PP", []);
    page.text([
        roman("The file is TOML without tables. "),
        bold("countersign generate settings"),
        roman(" prints one with every setting. The server reads the file that "),
        bold("--config"),
        roman(" or "),
        bold("COUNTERSIGN_CONFIG"),
        roman(" names, otherwise "),
        bold("countersign.toml"),
        roman(" in the working directory."),
    ]);
    page.control("SH", ["SETTINGS"]);
    for spec in settings::ALL {
        page.control("TP", []);
        page.text([bold(spec.name)]);
        page.text([roman(format!("{} Takes {}. Default: {}.", spec.doc, spec.takes, default(spec)))]);
        let also = [Some(Spec::variable(spec.name)), spec.flag().map(flag), spec.file_key().map(flag)];
        let also: Vec<_> = also.into_iter().flatten().collect();
        page.control("IP", []);
        page.text([roman("Also "), italic(also.join(", "))]);
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([bold("countersign"), roman("(1), "), bold("countersign-check-config"), roman("(1)")]);
    page.to_roff()
}

fn default(spec: &Spec) -> &'static str {
    match spec.preset {
        Preset::Text(text) => text,
        Preset::Absent(meaning) => meaning,
    }
}

fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// Adds these sentences as lines that begin with `# `.
fn comment(text: &mut String, sentences: &str) {
    let mut line = "#".to_owned();
    for word in sentences.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line.truncate(1);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_sets_nothing_and_explains_every_setting() {
        let template = template();
        assert!(template.parse::<toml::Table>().unwrap().is_empty());
        for spec in settings::ALL {
            let line = format!("\n#{} = ", spec.name);
            assert_eq!(template.matches(&line).count(), 1, "{}", spec.name);
            let before = template.split(&line).next().unwrap();
            let explained = before.rsplit("\n\n").next().unwrap().replace("\n# ", " ");
            let doc = spec.doc.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(explained.contains(&doc), "{}: {explained}", spec.name);
        }
        assert!(template.lines().all(|line| line.chars().count() <= WIDTH || !line.contains(' ')));
    }

    #[test]
    fn a_line_without_its_mark_sets_the_default() {
        let mut tried = 0;
        for spec in settings::ALL {
            let Preset::Text(preset) = spec.preset else { continue };
            let template = template();
            let line = template.lines().find(|line| line.starts_with(&format!("#{} = ", spec.name))).unwrap();
            let table: toml::Table = line[1..].parse().unwrap();
            let value = &table[spec.name];
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(value, preset, "{}", spec.name);
            tried += 1;
        }
        assert!(tried > 15, "{tried}");
    }

    #[test]
    fn the_man_page_names_every_setting_and_every_way_to_set_it() {
        let page = man_page("1.2.3");
        let plain = page.replace("\\-", "-");
        for spec in settings::ALL {
            let names = [Some(spec.name.to_owned()), Some(Spec::variable(spec.name)), spec.flag().map(flag)];
            for name in names.into_iter().flatten() {
                assert!(plain.contains(&name), "{name}");
            }
        }
    }
}
