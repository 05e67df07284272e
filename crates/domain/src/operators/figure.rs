//! What servers count by the hour, for the overview of the desk.

/// Something that servers count. Each figure has labels, from a fixed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Refused requests, by reason.
    Refusals,
    /// Issued tokens, by grant type.
    Tokens,
    /// Responses, by the time that they took.
    Latency,
}

impl Figure {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Refusals, Self::Tokens, Self::Latency];

    /// Its name in the database and in the texts of the desk.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refusals => "refusals",
            Self::Tokens => "tokens",
            Self::Latency => "latency",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.name() == name)
    }
}
