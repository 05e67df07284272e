//! `countersign templates export`, and the warnings about an operator's own templates.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use countersign_adapters_crypto::WalletSettings;
use countersign_http_actix::{TemplateError, check_templates, embedded_templates};
use countersign_ports::PageModule;

use crate::cli::TemplatesCommand;
use crate::config::Config;
use crate::failure::Failure;
use crate::wiring::Wiring;

/// Every message about the folder begins with the name of the setting.
const SETTING: &str = "template_directory: ";

/// Reads the operator's folder as the server does, and returns warnings.
pub(crate) fn doubts(config: &Config, wiring: &Wiring) -> Result<Vec<String>, TemplateError> {
    let Some(folder) = &config.template_directory else { return Ok(Vec::new()) };
    let settings = WalletSettings { ethereum_rpc: Vec::new(), ..config.wallets.clone() };
    let modules = (wiring.wallets)(settings).page_modules();
    Ok(check_templates(folder, &modules)?.iter().map(|doubt| named(doubt)).collect())
}

/// Puts the name of the setting before a message that does not have it yet.
pub(crate) fn named(sentence: &str) -> String {
    format!("{SETTING}{}", sentence.strip_prefix(SETTING).unwrap_or(sentence))
}

/// Runs one command.
pub(crate) fn templates(
    command: TemplatesCommand,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        TemplatesCommand::Export { folder, paths } => {
            let modules = (wiring.wallets)(WalletSettings::default()).page_modules();
            export(&folder, &paths, &modules, out)
        }
    }
}

/// A file of this release: its path and its content.
type File = (String, Cow<'static, [u8]>);

fn export(
    folder: &Path,
    paths: &[String],
    modules: &[PageModule],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let files = chosen(paths, modules)?;
    // All files or none, so that a folder never mixes this release with someone's work.
    let paths = files.iter().map(|(path, _)| folder.join(path));
    let there: Vec<_> = paths.filter(|path| path.symlink_metadata().is_ok()).collect();
    if let [first, rest @ ..] = &there[..] {
        let others = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
        return Err(Failure::Failed(format!(
            "{}{others} exists already, and nothing is overwritten: choose another folder, or name the files to write",
            first.display()
        )));
    }
    for (path, content) in &files {
        let place = folder.join(path);
        write_new(folder, Path::new(path), content)
            .map_err(|error| Failure::because(&format!("write {}", place.display()), &error))?;
        writeln!(out, "{}", place.display())?;
    }
    Ok(())
}

/// The files that the paths name. A path can be a folder. Without paths it is every file.
fn chosen(paths: &[String], modules: &[PageModule]) -> Result<Vec<File>, Failure> {
    let scripts = modules
        .iter()
        .map(|module| (format!("assets/wallet-{}.js", module.name), Cow::Borrowed(module.source.as_bytes())));
    let mut files: Vec<File> = embedded_templates().chain(scripts).collect();
    files.sort();
    let is_named = |file: &str, path: &str| {
        let rest = file.strip_prefix(path.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if let Some(unknown) = paths.iter().find(|path| !files.iter().any(|(file, _)| is_named(file, path))) {
        return Err(Failure::Usage(format!(
            "this release has no {unknown}; without a path, `templates export` writes everything and lists it"
        )));
    }
    files.retain(|(file, _)| paths.is_empty() || paths.iter().any(|path| is_named(file, path)));
    Ok(files)
}

/// Writes a new file. A link below the folder is an error, because it could lead out of it.
fn write_new(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut parent = PathBuf::from(folder);
    for part in path.parent().into_iter().flat_map(Path::components) {
        parent.push(part);
        match fs::create_dir(&parent) {
            Ok(()) => {}
            Err(_) if parent.symlink_metadata().is_ok_and(|about| about.is_dir()) => {}
            Err(error) => return Err(error),
        }
    }
    fs::OpenOptions::new().write(true).create_new(true).open(folder.join(path))?.write_all(content)
}
