//! `countersign generate`: the files of an installation that are made from the command line and the table of
//! settings. They are the same on every machine and at any time.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::cli::{self, GenerateCommand};
use crate::config::settings_file;
use crate::failure::Failure;

/// Carries out one command.
pub(crate) fn generate(command: GenerateCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        GenerateCommand::Settings => write!(out, "{}", settings_file::template())?,
        GenerateCommand::Man { folder } => man(&folder, out)?,
        GenerateCommand::Completions { shell } => {
            // clap_complete panics if it cannot write, for example into a pipe that was closed.
            let mut text = Vec::new();
            let mut command = cli::command();
            let name = command.get_name().to_owned();
            clap_complete::generate(shell, &mut command, name, &mut text);
            out.write_all(&text)?;
        }
    }
    Ok(())
}

/// Writes all pages, and lists them.
fn man(folder: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::because(&format!("make {}", folder.display()), &error))?;
    let mut command = cli::command();
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages);
    pages.push((
        "countersign.toml.5".to_owned(),
        settings_file::man_page(env!("CARGO_PKG_VERSION")).into_bytes(),
    ));
    for (name, page) in pages {
        let path = folder.join(name);
        fs::write(&path, page)
            .map_err(|error| Failure::because(&format!("write {}", path.display()), &error))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// The pages of a command and of its verbs: their file names and their texts.
fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        collect(verb, pages);
    }
    let page = Man::new(command.clone()).source(format!("countersign {}", env!("CARGO_PKG_VERSION")));
    let name = page.get_filename();
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    if page.render(&mut text).is_ok() {
        pages.push((name, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_man_page_that_names_its_flags() {
        let folder = tempfile::tempdir().unwrap();
        let mut out = Vec::new();
        generate(GenerateCommand::Man { folder: folder.path().to_owned() }, &mut out).unwrap();
        let mut command = cli::command();
        command.build();
        let mut waiting = vec![&command];
        let mut seen = 0;
        while let Some(command) = waiting.pop() {
            waiting.extend(command.get_subcommands());
            let name = command.get_display_name().unwrap_or(command.get_name());
            let page = fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
            let plain = page.replace("\\-", "-");
            for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
                let Some(flag) = flag.get_long() else { continue };
                assert!(plain.contains(&format!("--{flag}")), "{name} --{flag}");
            }
            seen += 1;
        }
        assert!(seen > 50, "{seen}");
        assert_eq!(
            out.iter().filter(|byte| **byte == b'\n').count(),
            seen + 1,
            "and that of the settings file"
        );
    }

    #[test]
    fn completions_know_every_verb() {
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let mut out = Vec::new();
            generate(GenerateCommand::Completions { shell }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            for verb in ["check-config", "rotate-secret", "sign-out"] {
                assert!(text.contains(verb), "{shell}: {verb}");
            }
        }
    }
}
