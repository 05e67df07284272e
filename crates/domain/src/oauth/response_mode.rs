//! How a response reaches the client (OAuth 2.0 Multiple Response Types, OAuth 2.0 Form Post).

/// The way in which a response reaches the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// In the query of a redirect.
    #[default]
    Query,
    /// In a form that the browser posts.
    FormPost,
}

impl ResponseMode {
    /// All response modes.
    pub const ALL: [Self; 2] = [Self::Query, Self::FormPost];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::FormPost => "form_post",
        }
    }

    /// Parses a registered name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
