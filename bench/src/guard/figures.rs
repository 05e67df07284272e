//! The recorded figures, and the verdict on new ones.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::step::Step;

/// How far a step may differ from its figure, in percent.
const TOLERANCE: f64 = 3.0;
const HEADER: &str = "\
# Thousands of instructions per request for each step, as counted by callgrind on SQLite. `make guard` counts the build
# of the tests, and `make guard-release` the release. Both fail when a step differs by more than 3 %.
";
/// The system's libraries, which also affect the figures, besides our code and the locked crates.
const LIBRARIES: [(&str, &[&str]); 3] =
    [("openssl", &["version"]), ("getconf", &["GNU_LIBC_VERSION"]), ("valgrind", &["--version"])];

/// The content of the file: figures for each architecture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Recorded(BTreeMap<String, Figures>);

/// The figures of one count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// The system's libraries at that count.
    pub(super) libraries: String,
    pub(super) steps: BTreeMap<Step, f64>,
}

/// The recorded figures cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// The file cannot be read or written.
    #[error("{path} cannot be used")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file does not contain figures.
    #[error("{path} does not contain figures")]
    Meaningless {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: toml::de::Error,
    },
    /// The figures cannot be written as TOML.
    #[error("figures cannot be written")]
    Unwritable(#[from] toml::ser::Error),
}

/// The new figures beside the recorded ones.
#[derive(Debug)]
pub struct Verdict {
    recorded: Option<Figures>,
    now: Figures,
}

impl Recorded {
    /// Reads the file. If it does not exist, nothing is recorded.
    pub(super) fn read(path: &Path) -> Result<Self, FiguresError> {
        match fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|source| FiguresError::Meaningless { path: path.to_owned(), source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(FiguresError::File { path: path.to_owned(), source }),
        }
    }

    /// The same with other figures for this architecture.
    pub(super) fn with(&self, figures: Figures) -> Self {
        let mut all = self.0.clone();
        all.insert(ARCH.to_owned(), figures);
        Self(all)
    }

    /// Writes the file.
    pub(super) fn write(&self, path: &Path) -> Result<(), FiguresError> {
        let text = format!("{HEADER}\n{}", toml::to_string(self)?);
        fs::write(path, text).map_err(|source| FiguresError::File { path: path.to_owned(), source })
    }

    /// Compares figures of this architecture with the recorded ones.
    pub(super) fn judge(mut self, now: Figures) -> Verdict {
        Verdict { recorded: self.0.remove(ARCH), now }
    }
}

impl Verdict {
    /// A table with a line for each step.
    pub fn table(&self) -> String {
        let mut table = "thousands of instructions  recorded        now   difference\n".to_owned();
        for (&step, &now) in &self.now.steps {
            let name = step.name();
            let recorded = self.recorded.as_ref().and_then(|figures| figures.steps.get(&step));
            let _ = match recorded {
                Some(&before) => {
                    writeln!(table, "{name:<25} {before:>9.1} {now:>10.1} {:>+10.1} %", percent(before, now))
                }
                None => writeln!(table, "{name:<25} {:>9} {now:>10.1}", "–"),
            };
        }
        table
    }

    /// What is wrong, with a line for each step; empty if all is well.
    pub fn complaints(&self) -> Vec<String> {
        let Some(recorded) = &self.recorded else {
            return vec![format!("nothing is recorded for {ARCH}: run `make guard-record`")];
        };
        let steps = self.now.steps.iter();
        let mut complaints: Vec<String> = steps
            .filter_map(|(step, now)| complaint(*step, recorded.steps.get(step).copied(), *now))
            .collect();
        if !complaints.is_empty() && recorded.libraries != self.now.libraries {
            complaints.push(format!(
                "this is {}, and the figures were recorded with {}: if nothing else changed, run `make \
                 guard-record`",
                self.now.libraries, recorded.libraries
            ));
        }
        complaints
    }
}

fn complaint(step: Step, recorded: Option<f64>, now: f64) -> Option<String> {
    let name = step.name();
    let Some(recorded) = recorded else {
        return Some(format!("{name} was never recorded: run `make guard-record`"));
    };
    let difference = percent(recorded, now);
    let size = difference.abs();
    if size <= TOLERANCE {
        return None;
    }
    Some(if difference > 0.0 {
        format!("{name} takes {size:.1} % more instructions than recorded: it got slower; find out why")
    } else {
        format!(
            "{name} takes {size:.1} % fewer instructions than recorded: it got faster; run `make \
             guard-record` to keep that"
        )
    })
}

fn percent(recorded: f64, now: f64) -> f64 {
    (now / recorded - 1.0) * 100.0
}

/// The system's libraries that affect the figures, in one line.
pub(super) fn libraries() -> String {
    let version = |&(program, words): &(&str, &[&str])| {
        let output = Command::new(program).args(words).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        // The words after the name and the version, such as a date, do not matter.
        Some(text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
    };
    let known = |(program, words)| version(&(program, words)).unwrap_or_else(|| format!("{program} unknown"));
    LIBRARIES.map(known).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(libraries: &str, step: Step, thousands: f64) -> Figures {
        Figures { libraries: libraries.to_owned(), steps: BTreeMap::from([(step, thousands)]) }
    }

    /// The verdict on a login that was recorded with a hundred thousand instructions.
    fn verdict(now: f64) -> Verdict {
        let recorded = Recorded::default().with(figures("OpenSSL 1", Step::Login, 100.0));
        recorded.judge(figures("OpenSSL 2", Step::Login, now))
    }

    #[test]
    fn three_percent_to_either_side_are_nothing() {
        assert!(verdict(102.9).complaints().is_empty());
        assert!(verdict(97.1).complaints().is_empty());
    }

    #[test]
    fn more_instructions_are_told_with_what_else_is_different() {
        let told = verdict(103.2).complaints();
        assert_eq!(told[0], "login takes 3.2 % more instructions than recorded: it got slower; find out why");
        assert!(told[1].starts_with("this is OpenSSL 2, and the figures were recorded with OpenSSL 1"));
    }

    #[test]
    fn fewer_instructions_are_told_too() {
        let told = verdict(90.0).complaints();
        assert!(told[0].starts_with("login takes 10.0 % fewer instructions than recorded: it got faster"));
    }

    #[test]
    fn what_was_never_recorded_is_told() {
        let unknown = Recorded::default().judge(figures("", Step::Keys, 1.0)).complaints();
        assert_eq!(unknown, [format!("nothing is recorded for {ARCH}: run `make guard-record`")]);
        let recorded = Recorded::default().with(figures("", Step::Login, 1.0));
        let new_step = recorded.judge(figures("", Step::Keys, 1.0)).complaints();
        assert_eq!(new_step, ["keys was never recorded: run `make guard-record`"]);
    }

    #[test]
    fn the_table_shows_both_and_the_difference() {
        let table = verdict(101.0).table();
        assert_eq!(table.lines().last(), Some("login                         100.0      101.0       +1.0 %"));
    }

    #[test]
    fn what_is_written_is_read_back_and_other_architectures_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instructions.toml");
        assert_eq!(Recorded::read(&path).unwrap(), Recorded::default());
        let recorded = Recorded(BTreeMap::from([("other".to_owned(), figures("x", Step::Keys, 1.5))]));
        let recorded = recorded.with(figures("OpenSSL 1", Step::Flow, 2.5));
        recorded.write(&path).unwrap();
        assert_eq!(Recorded::read(&path).unwrap(), recorded);
    }
}
