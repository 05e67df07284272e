//! How an answer reaches the client (OAuth 2.0 Multiple Response Types, OAuth 2.0 Form Post).

/// A response mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// In the query of a redirect.
    #[default]
    Query,
    /// In a form that the browser sends.
    FormPost,
}

impl ResponseMode {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Query, Self::FormPost];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::FormPost => "form_post",
        }
    }

    /// Reads a registered name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
