//! The formats of values, by the names of their fields: one name means one thing in both descriptions.

use countersign_domain::client_field::{ClientField, FieldKind};
use serde_json::{Value, json};

/// An id as it is written: a UUID of any version, in small letters.
pub const ID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
/// The address of a wallet in any of its spellings; which ones are read depends on the kinds of wallets.
pub(crate) const ADDRESS: &str = "^[0-9A-Za-z]{20,100}$";
/// A name of a group.
pub const GROUP: &str = "^[a-z][a-z0-9_.:-]{0,63}$";
/// A wallet on its chain (CAIP-10).
pub(crate) const CAIP_10: &str = "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$";
/// A chain (CAIP-2).
pub(crate) const CAIP_2: &str = "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$";
/// A list's own name for a row that no other name has.
pub const ROW: &str = "^[A-Za-z0-9_-]{4,1024}$";

/// Invisible characters. The server knows a few more, beyond U+FFFF.
const HIDDEN: &str = r"\u0000-\u001F\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uFDD0-\uFDEF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\uFFFE\uFFFF";

/// Text that people can read: no control, invisible or bidirectional characters, and more than spaces.
pub fn readable() -> String {
    format!("^[^{HIDDEN}]*[^\\s{HIDDEN}][^{HIDDEN}]*$")
}

/// What the name of a field says about its value. Names that different answers use for different things are not here,
/// and those of a client's fields are in their table.
const NAMES: [(&str, Format); 21] = [
    ("account", Format::Pattern(CAIP_10)),
    ("active_from", Format::Moment),
    ("chain", Format::Pattern(CAIP_2)),
    ("created_at", Format::Moment),
    ("described_at", Format::Uri),
    ("ends_at", Format::Moment),
    ("expires_at", Format::Moment),
    ("issuer", Format::Uri),
    ("last_seen_at", Format::Moment),
    ("last_sign_in_at", Format::Moment),
    ("last_used_at", Format::Moment),
    ("other_wallet_account", Format::Pattern(CAIP_10)),
    ("picture", Format::Uri),
    ("registration_client_uri", Format::Uri),
    ("retires_at", Format::Moment),
    ("sealed_at", Format::Moment),
    ("signed_in_at", Format::Moment),
    ("since", Format::Moment),
    ("verification_uri", Format::Uri),
    ("verification_uri_complete", Format::Uri),
    ("wallet_account", Format::Pattern(CAIP_10)),
];

#[derive(Clone, Copy)]
enum Format {
    Moment,
    Uri,
    Pattern(&'static str),
}

impl Format {
    /// What a schema says about it.
    fn rule(self) -> (&'static str, &'static str) {
        match self {
            Self::Moment => ("format", "date-time"),
            Self::Uri => ("format", "uri"),
            Self::Pattern(pattern) => ("pattern", pattern),
        }
    }
}

/// Adds to the schema of an answer what the names of its fields say about texts, where nothing else is said.
pub fn name(schema: &mut Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        let Some(format) = format_of(name) else { continue };
        let (keyword, value) = format.rule();
        let text = if property.get("items").is_some() { &mut property["items"] } else { property };
        let says_more = ["format", "pattern", "enum"].iter().any(|keyword| text.get(keyword).is_some());
        if text.get("type").and_then(Value::as_str) == Some("string") && !says_more {
            text[keyword] = json!(value);
        }
    }
}

fn format_of(name: &str) -> Option<Format> {
    if let Ok(place) = NAMES.binary_search_by_key(&name, |(known, _)| known) {
        return Some(NAMES[place].1);
    }
    match ClientField::named(name)?.kind() {
        FieldKind::Address | FieldKind::RedirectUris => Some(Format::Uri),
        FieldKind::Text
        | FieldKind::OneOf(..)
        | FieldKind::Keys
        | FieldKind::Truth
        | FieldKind::Seconds
        | FieldKind::List => None,
    }
}

/// The schema of an id.
pub fn id() -> Value {
    json!({"type": "string", "format": "uuid", "pattern": ID})
}

/// The schema of what names a user or a wallet: a user's id, an address, or a wallet with its chain.
pub fn who() -> Value {
    let address = json!({"type": "string", "pattern": ADDRESS});
    let wallet = json!({"type": "string", "pattern": CAIP_10});
    json!({"anyOf": [id(), address, wallet]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_so_that_they_are_found() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| name));
    }
}
