//! A user or a wallet in a file, with its name for operators.

use countersign_domain::person_name::PersonName;
use countersign_operators::declared::{FilePerson, FileWallet, Item};

use super::group::kind;
use super::{Reader, Table};

/// The fields of a person.
pub(super) const FIELDS: [&str; 3] = ["who", "kind", "name"];

/// Reads a person.
pub(super) fn read(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Item<FilePerson>> {
    let before = reader.mistakes.len();
    let who = table.text(reader, "who", |text| Ok::<_, String>(text.to_owned()));
    let kind = kind(reader, &mut table);
    let name = table.text(reader, "name", PersonName::parse);
    for field in ["who", "name"] {
        if !table.spots.contains_key(field) {
            table.missing(reader, field);
        }
    }
    if reader.mistakes.len() > before {
        return None;
    }
    Some(table.item(FilePerson { who: FileWallet { name: who?, kind }, name: name? }))
}
