//! Where settings come from: the command line, the environment, the settings file. Nothing here knows what
//! the settings mean.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::settings::{self, Spec};
use crate::config::throw_away::Trial;
use crate::failure::Mistake;
use crate::files::private_file;

/// The settings file that is read when none is named.
const DEFAULT_FILE: &str = "countersign.toml";
const PREFIX: &str = "COUNTERSIGN_";
/// How the origin of what is not set begins.
pub(super) const DEFAULT: &str = "default";
/// Names the folder of credentials (systemd.exec(5)).
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// One source of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    /// A file in the folder of credentials that a supervisor made for this process.
    Credential,
    File(PathBuf),
    TryOut,
    /// A trial that is running, for commands with `--dev`.
    Trial,
    /// The port that the system chose for a server that asked for any.
    System,
    /// The socket that a supervisor opened for the server.
    HandedOver,
    Default,
}

impl Origin {
    /// A setting and its source, as the operator wrote it.
    pub(crate) fn of(&self, name: &str) -> String {
        match self {
            Self::Flag => format!("--{}", name.replace('_', "-")),
            Self::Environment => Spec::variable(name),
            Self::Credential => format!("{name}, a credential"),
            Self::File(path) => format!("{name} in {}", path.display()),
            Self::TryOut => "serve --dev".to_owned(),
            Self::Trial => "the running serve --dev".to_owned(),
            Self::System => "a free port, chosen by the system".to_owned(),
            Self::HandedOver => "the socket that the supervisor handed over".to_owned(),
            Self::Default => DEFAULT.to_owned(),
        }
    }
}

/// The texts from one source.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) origin: Origin,
    pub(crate) texts: BTreeMap<&'static str, String>,
}

/// All sources, highest precedence first, and the mistakes already found in them.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) layers: Vec<Layer>,
    pub(crate) mistakes: Vec<Mistake>,
    /// The mode of the settings file, if others may read or change it.
    pub(crate) exposed: Option<u32>,
}

impl Sources {
    /// The sources of this process.
    pub(crate) fn of_process(matches: &ArgMatches) -> Self {
        Self::new(matches, std::env::vars_os(), Path::new(""))
    }

    /// Reads the sources. The default settings file is looked up in `directory`.
    pub(crate) fn new(
        matches: &ArgMatches,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        directory: &Path,
    ) -> Self {
        let mut mistakes = Vec::new();
        let mut flags = flags(matches);
        let variables: Vec<_> = variables.into_iter().collect();
        let credentials = credentials(&variables);
        let mut environment = environment(variables, &mut mistakes);
        let named =
            flags.remove(settings::CONFIG).or(environment.remove(settings::CONFIG)).map(PathBuf::from);
        let path = named.clone().unwrap_or_else(|| directory.join(DEFAULT_FILE));
        let mut exposed = None;
        let file = match read(&path) {
            Ok((text, mode)) => {
                exposed = private_file::exposed(mode);
                file(&text, &path, &mut mistakes)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => BTreeMap::new(),
            Err(error) => {
                let text = format!("settings file {} cannot be read: {error}", path.display());
                mistakes.push(Mistake(text));
                BTreeMap::new()
            }
        };
        let layers = vec![
            Layer { origin: Origin::Flag, texts: flags },
            Layer { origin: Origin::Environment, texts: environment },
            Layer { origin: Origin::Credential, texts: credentials },
            Layer { origin: Origin::File(path), texts: file },
        ];
        Self { layers, mistakes, exposed }
    }

    /// For `serve --dev`: sets the database. Its secret is beside it, and naming others is a mistake.
    pub(crate) fn try_out(&mut self, database_url: String) {
        self.refuse_others(
            "serve --dev creates a database and a secret of its own and deletes them at the end; leave it out, or \
             run serve without --dev",
        );
        let texts = Texts::from([("database_url", database_url)]);
        self.layers.push(Layer { origin: Origin::TryOut, texts });
    }

    /// For commands with `--dev`: the database and the address of the trial that is running. Its secret is
    /// beside the database, and naming others is a mistake.
    pub(crate) fn reach(&mut self, trial: &Trial) {
        self.refuse_others(
            "--dev takes the database and the secret of the `serve --dev` that is running; leave one of the two out",
        );
        let texts = Texts::from([
            ("database_url", trial.database_url()),
            ("public_url", trial.public_url.as_str().to_owned()),
        ]);
        self.layers.insert(0, Layer { origin: Origin::Trial, texts });
    }

    /// The server listens on this address already, whatever else is said of it.
    pub(crate) fn listening_on(&mut self, address: SocketAddr, origin: Origin) {
        let texts = Texts::from([("bind", address.to_string())]);
        self.layers.insert(0, Layer { origin, texts });
    }

    /// Records a mistake for each place that names a database or a secret.
    fn refuse_others(&mut self, reason: &str) {
        for layer in &self.layers {
            for name in OF_A_TRIAL.into_iter().filter(|name| layer.texts.contains_key(name)) {
                self.mistakes.push(Mistake(format!("{}: {reason}", layer.origin.of(name))));
            }
        }
    }
}

/// The text of a file, and the mode that it had when it was read.
fn read(path: &Path) -> io::Result<(String, u32)> {
    let mut file = fs::File::open(path)?;
    let mode = file.metadata()?.permissions().mode();
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok((text, mode))
}

/// Settings that cannot be chosen for a trial: it has its own, and deletes them at the end.
const OF_A_TRIAL: [&str; 4] = ["database_url", "database_url_file", "secret", "secret_file"];

type Texts = BTreeMap<&'static str, String>;

fn flags(matches: &ArgMatches) -> Texts {
    // A flag may stand before the command and after it, where it wins.
    let mut texts = Texts::new();
    let mut level = Some(matches);
    while let Some(matches) = level {
        let text = |name| Some((name, matches.try_get_one::<String>(name).ok().flatten()?.clone()));
        texts.extend(settings::names().chain([settings::CONFIG]).filter_map(text));
        level = matches.subcommand().map(|(_, inner)| inner);
    }
    texts
}

fn environment(mut variables: Vec<(OsString, OsString)>, mistakes: &mut Vec<Mistake>) -> Texts {
    let mut texts = Texts::new();
    variables.sort();
    for (variable, value) in variables {
        let Some(variable) = variable.to_str().filter(|variable| variable.starts_with(PREFIX)) else {
            continue;
        };
        let Some(value) = value.to_str() else {
            mistakes.push(Mistake(format!("{variable}: not UTF-8")));
            continue;
        };
        let known = settings::names().chain([settings::CONFIG]).find(|name| Spec::variable(name) == variable);
        match known {
            // Compose files pass an unset variable on as an empty text.
            Some(_) if value.is_empty() => {}
            Some(name) => {
                texts.insert(name, value.to_owned());
            }
            None if is_service_link(variable, value) => {}
            None => {
                let nearest = nearest(variable, settings::names().map(Spec::variable));
                mistakes.push(unknown(variable, &nearest));
            }
        }
    }
    texts
}

/// The credentials that are named like a setting that a file may contain: `secret`, `database_url` and so on.
/// Their paths are the values of `secret_file`, `database_url_file` and so on.
fn credentials(variables: &[(OsString, OsString)]) -> Texts {
    let folder = variables.iter().find(|(name, _)| name == CREDENTIALS);
    let Some(folder) = folder.map(|(_, folder)| Path::new(folder)).filter(|folder| folder.is_absolute())
    else {
        return Texts::new();
    };
    let files = settings::ALL.iter().filter_map(|spec| {
        let path = folder.join(spec.name);
        let key = spec.file_key().filter(|_| path.is_file())?;
        Some((key, path.to_str()?.to_owned()))
    });
    files.collect()
}

/// Kubernetes sets variables in every container for every service beside it. A service named `countersign`
/// leads to `COUNTERSIGN_PORT`, `COUNTERSIGN_SERVICE_HOST` and so on. They are not meant as settings.
fn is_service_link(variable: &str, value: &str) -> bool {
    let of_service = variable.ends_with("_SERVICE_HOST")
        || variable.ends_with("_SERVICE_PORT")
        || variable.contains("_SERVICE_PORT_");
    let numbered = variable.split("_PORT_").skip(1).any(|rest| {
        let mut words = rest.split('_');
        let is_number = words.next().is_some_and(|word| word.parse::<u16>().is_ok());
        is_number && words.next().is_some_and(|word| matches!(word, "TCP" | "UDP" | "SCTP"))
    });
    let address = variable.ends_with("_PORT") && value.contains("://");
    of_service || numbered || address
}

fn file(text: &str, path: &Path, mistakes: &mut Vec<Mistake>) -> Texts {
    let origin = Origin::File(path.to_owned());
    let table = match text.parse::<toml::Table>() {
        Ok(table) => table,
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            mistakes.push(Mistake(format!("{}, line {line}: not TOML: {message}", path.display())));
            return Texts::new();
        }
    };
    let mut texts = Texts::new();
    for (key, value) in table {
        let Some(name) = settings::names().find(|name| *name == key) else {
            mistakes.push(unknown(&origin.of(&key), &nearest(&key, settings::names().map(str::to_owned))));
            continue;
        };
        match as_text(&value) {
            Some(text) => {
                texts.insert(name, text);
            }
            None => {
                let (place, kind) = (origin.of(name), value.type_str());
                let takes = settings::takes(name);
                mistakes
                    .push(Mistake(format!("{place}: a {kind} cannot be the value; {name} takes {takes}")));
            }
        }
    }
    texts
}

/// A TOML value as it would be written in the environment. The entries of a list become separate lines.
fn as_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(on) => Some(if *on { "on" } else { "off" }.to_owned()),
        toml::Value::Array(entries) => {
            let texts: Option<Vec<&str>> = entries.iter().map(toml::Value::as_str).collect();
            texts.map(|texts| texts.join("\n"))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

fn nearest(given: &str, names: impl Iterator<Item = String>) -> String {
    names.min_by_key(|name| strsim::damerau_levenshtein(given, name)).unwrap_or_default()
}

fn unknown(place: &str, nearest: &str) -> Mistake {
    Mistake(format!("{place}: there is no such setting; did you mean {nearest}?"))
}
