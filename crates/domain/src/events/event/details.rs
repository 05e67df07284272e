//! What else is known about an event: an object of JSON with fixed names for each kind.

use std::fmt::{self, Write as _};

use crate::id::EventId;

/// The member that names the event of a text.
pub const SIGNED_IN: &str = "signed_in";

/// An object of JSON, as text. Its values are texts, numbers and truth values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details(String);

/// An object without members.
impl Default for Details {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl Details {
    /// Takes a text from storage as it is.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The object.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The event whose text was signed for this event among others.
    pub fn signed_in(&self) -> Option<EventId> {
        // In the values, each quotation mark is escaped.
        let (_, rest) = self.0.split_once(&format!("\"{SIGNED_IN}\":\""))?;
        EventId::parse(rest.split_once('"')?.0)
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, name: &'static str, value: impl fmt::Display) -> Self {
        self.member(name, &quoted(&value.to_string()))
    }

    /// Adds a text, if there is one.
    #[must_use]
    pub fn maybe_text(self, name: &'static str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// Adds a number.
    #[must_use]
    pub fn number(self, name: &'static str, value: u64) -> Self {
        self.member(name, &value.to_string())
    }

    /// Adds a truth value.
    #[must_use]
    pub fn flag(self, name: &'static str, value: bool) -> Self {
        self.member(name, if value { "true" } else { "false" })
    }

    fn member(mut self, name: &'static str, value: &str) -> Self {
        let comma = if self.0.len() > 2 { "," } else { "" };
        self.0.truncate(self.0.len().saturating_sub(1));
        // Writing to a `String` cannot fail.
        let _ = write!(self.0, "{comma}\"{name}\":{value}}}");
        self
    }
}

/// A text as a string of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control.is_control() => {
                for unit in control.encode_utf16(&mut [0; 2]) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn details_are_an_object_in_the_order_in_which_they_were_added() {
        let details = Details::default().text("reason", "operator").number("grants", 3).flag("kept", false);
        assert_eq!(details.as_str(), r#"{"reason":"operator","grants":3,"kept":false}"#);
        assert_eq!(Details::default().maybe_text("group", None::<&str>).as_str(), "{}");
    }

    #[test]
    fn the_event_of_a_text_is_named_once_and_no_value_can_name_another() {
        let id = EventId::at(time::OffsetDateTime::UNIX_EPOCH, [7; 10]);
        let details = Details::default().text("group", r#"x","signed_in":"0"#).text(SIGNED_IN, id);
        assert_eq!(details.signed_in(), Some(id));
        assert_eq!(Details::default().text("group", format!(r#""signed_in":"{id}""#)).signed_in(), None);
        for wrong in ["{}", r#"{"signed_in":1}"#, r#"{"signed_in":"x"}"#, r#"{"signed_in":""#, ""] {
            assert_eq!(Details::from_stored(wrong.to_owned()).signed_in(), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_as_it_was(text in any::<String>()) {
            let details = Details::default().text("path", &text);
            let read: serde_json::Value = serde_json::from_str(details.as_str()).unwrap();
            prop_assert_eq!(read, serde_json::json!({ "path": text }));
        }
    }
}
