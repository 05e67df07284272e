//! How a command can end badly, and with which exit code.

use std::error::Error;
use std::fmt;
use std::io;

use crate::config::Mistake;

/// Why a command did not do what was asked. Its text is what the terminal shows, whole lines.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The settings are wrong: one line for each mistake.
    Settings(Vec<Mistake>),
    /// The command line asks for something that cannot be.
    Usage(String),
    /// It was tried and did not work.
    Failed(String),
    /// The command was asked a question, and what it wrote says no. There is nothing to add.
    AnswerIsNo,
}

impl Failure {
    /// A failure of something that was tried, with all its causes.
    pub(crate) fn because(what: &str, error: &(dyn Error + 'static)) -> Self {
        Self::Failed(format!("failed to {what}: {}", chain(error)))
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::AnswerIsNo => 1,
            Self::Settings(_) | Self::Usage(_) => 2,
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
            Self::AnswerIsNo => Ok(()),
        }
    }
}

impl From<io::Error> for Failure {
    /// What a command writes is all it is for, so output that nobody takes is a failure.
    fn from(error: io::Error) -> Self {
        Self::because("write the output", &error)
    }
}

/// An error with its causes, as one line. A cause that the text before it repeats is left out.
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
