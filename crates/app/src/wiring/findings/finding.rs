//! What the doctor found, in words for operators.

/// Something that was looked at, and how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in one word.
    pub check: &'static str,
    /// How it is.
    pub health: Health,
    /// What was seen. It contains no secret.
    pub message: String,
    /// What to do. Something that is well needs nothing, and some messages say it themselves.
    pub advice: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It works.
    Ok,
    /// It works, and may not be what was meant.
    Warn,
    /// It does not work.
    Fail,
}

impl Health {
    /// The word that scripts read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl Finding {
    /// Something that works.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, health: Health::Ok, message: message.into(), advice: None }
    }

    /// Something that may not be what was meant.
    pub fn warn(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, health: Health::Warn, message: message.into(), advice: Some(advice.into()) }
    }

    /// Something that does not work.
    pub fn fail(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, health: Health::Fail, message: message.into(), advice: Some(advice.into()) }
    }

    /// Something that a sentence describes, which says itself what to do.
    pub fn said(check: &'static str, health: Health, message: impl Into<String>) -> Self {
        Self { check, health, message: message.into(), advice: None }
    }
}
