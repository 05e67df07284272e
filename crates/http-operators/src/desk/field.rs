//! The fields of forms, as the template takes them.

use serde::Serialize;

use super::sent::Sent;

/// A field, with its value.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Field {
    pub(super) name: &'static str,
    kind: &'static str,
    value: String,
    /// Has it a hint below it?
    hint: bool,
    required: bool,
    max: Option<u32>,
    /// The direction of what is written in it.
    direction: &'static str,
    /// Is it folded with what few need?
    more: bool,
    options: Vec<Choice>,
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

impl Field {
    fn new(sent: &Sent, name: &'static str, kind: &'static str) -> Self {
        Self {
            name,
            kind,
            value: sent.one(name).unwrap_or_default().to_owned(),
            hint: false,
            required: false,
            max: None,
            direction: "ltr",
            more: false,
            options: Vec::new(),
        }
    }

    /// A value that the page knows.
    pub(super) fn hidden(sent: &Sent, name: &'static str) -> Self {
        Self::new(sent, name, "hidden")
    }

    /// A line of something that is the same in every language.
    pub(super) fn text(sent: &Sent, name: &'static str) -> Self {
        Self::new(sent, name, "text")
    }

    /// A line of words.
    pub(super) fn words(sent: &Sent, name: &'static str, max: u32) -> Self {
        Self { direction: "auto", max: Some(max), ..Self::new(sent, name, "text") }
    }

    /// Several lines.
    pub(super) fn area(sent: &Sent, name: &'static str) -> Self {
        Self::new(sent, name, "area")
    }

    /// Yes or no.
    pub(super) fn tick(sent: &Sent, name: &'static str) -> Self {
        Self::new(sent, name, "tick")
    }

    /// Any of these.
    pub(super) fn ticks(sent: &Sent, name: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        let chosen: Vec<&str> = sent.all(name).collect();
        let options = values.into_iter().map(|value| Choice {
            chosen: chosen.contains(&value.as_str()),
            key: "",
            text: None,
            value,
        });
        Self { options: options.collect(), ..Self::new(sent, name, "ticks") }
    }

    /// One of these, each with the key of its text. The first is chosen if none is.
    pub(super) fn select(sent: &Sent, name: &'static str, options: &[(&'static str, &'static str)]) -> Self {
        let chosen = sent.one(name).unwrap_or_default();
        let options = options.iter().map(|(value, key)| Choice {
            value: (*value).to_owned(),
            key,
            text: None,
            chosen: *value == chosen,
        });
        Self { options: options.collect(), ..Self::new(sent, name, "select") }
    }

    /// One of these too, each with its own text.
    pub(super) fn or(mut self, options: impl IntoIterator<Item = (String, String)>) -> Self {
        let options = options.into_iter().map(|(value, text)| Choice {
            chosen: value == self.value,
            value,
            key: "",
            text: Some(text),
        });
        self.options.extend(options);
        self
    }

    pub(super) const fn with_hint(mut self) -> Self {
        self.hint = true;
        self
    }

    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Folds it with what few need.
    pub(super) const fn folded(mut self) -> Self {
        self.more = true;
        self
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.kind == "hidden"
    }

    pub(super) const fn is_folded(&self) -> bool {
        self.more
    }

    /// Hides a field whose value the page knows.
    pub(super) fn hidden_if(self, is_known: bool) -> Self {
        if is_known { Self { kind: "hidden", ..self } } else { self }
    }

    #[cfg(test)]
    pub(super) const fn has_hint(&self) -> bool {
        self.hint
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().filter(|option| option.text.is_none()).map(|option| option.key)
    }
}
