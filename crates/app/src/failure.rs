//! How a command can fail, and with which exit code.

use std::error::Error;
use std::fmt;
use std::io;

use countersign_ports::StoreError;

/// One mistake in the settings: a line that names the setting, where it came from and what it takes. It never
/// contains the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake(pub(crate) String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a command failed. The text is printed to the terminal as whole lines.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The settings are wrong: one line for each mistake.
    Settings(Vec<Mistake>),
    /// The arguments are wrong or do not go together.
    Usage(String),
    /// The command was tried and failed.
    Failed(String),
    /// The command answered a question, and its output says no. There is nothing to add.
    AnswerIsNo,
    /// The program that reads the output has all that it wants, as `head` does. There is nothing to say
    /// about it.
    Unread,
}

/// What a shell reports of a program that ended because nothing reads its output: 128 and the number of SIGPIPE.
const UNREAD: u8 = 141;

impl Failure {
    /// A failed attempt, with all its causes.
    pub(crate) fn because(what: &str, error: &(dyn Error + 'static)) -> Self {
        Self::Failed(format!("failed to {what}: {}", chain(error)))
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::AnswerIsNo => 1,
            Self::Settings(_) | Self::Usage(_) => 2,
            Self::Unread => UNREAD,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(mistakes) => {
                mistakes.iter().try_for_each(|mistake| writeln!(f, "countersign: {mistake}"))
            }
            Self::Usage(text) | Self::Failed(text) => writeln!(f, "countersign: {}", text.trim_end()),
            Self::AnswerIsNo | Self::Unread => Ok(()),
        }
    }
}

impl From<io::Error> for Failure {
    /// The output is all that a command is for, so output that cannot be written is a failure. If nothing reads it, the
    /// command ends as quietly as other programs do.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Unread;
        }
        Self::because("write the output", &error)
    }
}

/// The database failed.
pub(crate) fn store(error: &StoreError) -> Failure {
    Failure::because("work with the database", error)
}

/// An error with its causes, as one line. A cause that the text already contains is left out.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
