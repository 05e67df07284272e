//! A group in a file, with the members that the file puts into it.

use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::id::UserId;
use countersign_domain::wallet::AccountKind;
use countersign_operators::declared::{FileGroup, FileWallet, Item};

use super::{Node, NodeKind, Reader, Table};

/// The fields of a group.
pub(super) const FIELDS: [&str; 4] = ["name", "title", "users", "wallets"];
/// The fields of a wallet, where its address alone does not say enough.
const OF_WALLET: [&str; 2] = ["wallet", "kind"];

/// Reads a group.
pub(super) fn read(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Item<FileGroup>> {
    let before = reader.mistakes.len();
    let name = table.text(reader, "name", GroupName::parse);
    if !table.spots.contains_key("name") {
        table.missing(reader, "name");
    }
    let title = table.text(reader, "title", GroupTitle::parse);
    let users = table.list(reader, "users");
    let users = users.iter().enumerate().filter_map(|(place, node)| {
        let NodeKind::Text(text) = &node.value else {
            reader.mistake(node.at, &format!("group.users[{place}]"), "must be a string".to_owned());
            return None;
        };
        let user = UserId::parse(&text.to_ascii_lowercase());
        if user.is_none() {
            let what = "is not a user's id; wallets stand in `wallets`".to_owned();
            reader.mistake(node.at, &format!("group.users[{place}]"), what);
        }
        user
    });
    let users = users.collect();
    let wallets = table.list(reader, "wallets");
    let wallets = wallets.iter().enumerate();
    let wallets =
        wallets.filter_map(|(place, node)| wallet(reader, &format!("group.wallets[{place}]"), node));
    let wallets = wallets.collect();
    if reader.mistakes.len() > before {
        return None;
    }
    Some(table.item(FileGroup { name: name?, title, users, wallets }))
}

/// What is behind an address, if the file says so.
pub(super) fn kind(reader: &mut Reader<'_>, table: &mut Table<'_>) -> Option<AccountKind> {
    let parse = |text: &str| AccountKind::parse(text).ok_or("must be \"key\" or \"contract\"");
    table.text(reader, "kind", parse)
}

/// A wallet by its address alone, or as a table with its kind.
fn wallet(reader: &mut Reader<'_>, field: &str, node: &Node) -> Option<FileWallet> {
    match &node.value {
        NodeKind::Text(name) => Some(FileWallet { name: name.clone(), kind: None }),
        NodeKind::Table(_) => {
            let mut table = reader.table(node, "group.wallets", &OF_WALLET)?;
            let name = table.text(reader, "wallet", |text| Ok::<_, String>(text.to_owned()));
            if !table.spots.contains_key("wallet") {
                table.missing(reader, "wallet");
            }
            let kind = kind(reader, &mut table);
            Some(FileWallet { name: name?, kind })
        }
        NodeKind::Number(_) | NodeKind::Truth(_) | NodeKind::List(_) | NodeKind::Other(_) => {
            reader.mistake(
                node.at,
                field,
                "must be a string, or a table with `wallet` and `kind`".to_owned(),
            );
            None
        }
    }
}
