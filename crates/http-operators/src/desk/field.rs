//! What a form asks for, and its fields as the template takes them.

use serde::Serialize;

use super::sent::Sent;
use crate::settings::Applications;

/// Something that a form asks for.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Has it a hint below it?
    pub(super) hint: bool,
    /// Must it be filled in?
    pub(super) required: bool,
    max: Option<usize>,
    /// The direction of what is written in it.
    direction: &'static str,
    /// The id of a list that the page has, with what can be written in it.
    list: Option<&'static str>,
    /// Is it folded with what few need?
    pub(super) more: bool,
    /// What can be chosen, each with the key of its text.
    #[serde(skip)]
    pub(super) keyed: &'static [(&'static str, &'static str)],
    /// What else can be chosen, each with its own text.
    #[serde(skip)]
    listed: fn(&dyn Applications) -> Vec<(String, String)>,
}

/// How something is typed or chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Not at all: the page knows it.
    Hidden,
    /// A line.
    Text,
    /// Several lines.
    Area,
    /// Yes or no.
    Tick,
    /// Any of these. Only such a field is sent several times.
    Ticks,
    /// One of these. The first is chosen if none is.
    Select,
}

/// A field of a form: what it asks for, with its value.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Field {
    #[serde(flatten)]
    pub(super) input: Input,
    value: String,
    options: Vec<Choice>,
    /// Why it cannot have this value.
    pub(super) wrong: Option<String>,
}

/// What can be chosen in a field.
#[derive(Clone, Debug, Serialize)]
struct Choice {
    value: String,
    /// The key of its text, unless `text` says it.
    key: &'static str,
    text: Option<String>,
    chosen: bool,
}

impl Kind {
    /// Asks for something that is the same in every language.
    pub(super) const fn named(self, name: &'static str) -> Input {
        let (max, keyed) = (None, &[] as &[_]);
        let listed = |_: &dyn Applications| Vec::new();
        Input {
            name,
            kind: self,
            hint: false,
            required: false,
            max,
            direction: "ltr",
            list: None,
            more: false,
            keyed,
            listed,
        }
    }
}

/// Asks for a line of words.
pub(super) const fn words(name: &'static str, max: usize) -> Input {
    Input { direction: "auto", max: Some(max), ..Kind::Text.named(name) }
}

impl Input {
    pub(super) const fn with_hint(self) -> Self {
        Self { hint: true, ..self }
    }

    /// Offers the names of groups.
    pub(super) const fn of_groups(self) -> Self {
        Self { list: Some("group-names"), ..self }
    }

    pub(super) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(super) const fn folded(self) -> Self {
        Self { more: true, ..self }
    }

    pub(super) const fn hidden(self) -> Self {
        Self { kind: Kind::Hidden, ..self }
    }

    /// Lets these be chosen, each with the key of its text.
    pub(super) const fn of(self, keyed: &'static [(&'static str, &'static str)]) -> Self {
        Self { keyed, ..self }
    }

    /// Lets these be chosen too, each with its own text.
    pub(super) const fn or(self, listed: fn(&dyn Applications) -> Vec<(String, String)>) -> Self {
        Self { listed, ..self }
    }
}

impl Field {
    pub(super) fn of(input: Input, sent: &Sent, applications: &dyn Applications) -> Self {
        let values: Vec<&str> = sent.all(input.name).collect();
        let value = values.first().copied().unwrap_or_default();
        let choice = |option: String, key, text| {
            let chosen = option == value || values.contains(&option.as_str());
            Choice { value: option, key, text, chosen }
        };
        let keyed = input.keyed.iter().map(|(option, key)| choice((*option).to_owned(), key, None));
        let listed = (input.listed)(applications).into_iter();
        let listed = listed.map(|(option, text)| choice(option, "", Some(text)));
        Self { input, value: value.to_owned(), options: keyed.chain(listed).collect(), wrong: None }
    }
}
