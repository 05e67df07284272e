//! Who has or had which wallets.
//!
//! What is linked now is read first, then fresh events, then sealed ones. So a wallet that changes hands meanwhile, or an
//! event that is sealed meanwhile, is found in one place or the other.

use countersign_domain::event::EventKind;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{FindHoldings, Holding};
use countersign_sql::columns::{BigInt, Id, Key, Nullable, Row, StoredId, Text};
use diesel::prelude::*;

use crate::error::SqliteError;
use crate::statement::statement;

/// Of sealed events, one is read for each pair, by the index that begins with what is asked.
pub(crate) fn find_holdings(
    connection: &mut SqliteConnection,
    question: &FindHoldings,
) -> Result<Vec<Holding>, SqliteError> {
    let most = usize::try_from(question.limit).unwrap_or(usize::MAX);
    let users: Vec<Id> = question.users.iter().copied().map(Id::from).collect();
    let mut found: Vec<(HoldingRow, bool)> = Vec::new();
    let left = |found: &Vec<_>| i64::try_from(most.saturating_sub(found.len())).unwrap_or(i64::MAX);
    for &user in &users {
        let rows: Vec<HoldingRow> = NowOfUser { user, limit: left(&found) }.load(connection)?;
        found.extend(rows.into_iter().map(|row| (row, true)));
    }
    for WalletAccount { family, address, .. } in &question.wallets {
        let row: Option<HoldingRow> = NowOfWallet { family, address }.get_result(connection).optional()?;
        found.extend(row.map(|row| (row, true)));
    }
    let is_asked = |row: &HoldingRow| {
        let is_wallet =
            |wallet: &WalletAccount| (&wallet.family, &wallet.address) == (&row.family, &row.address);
        users.iter().any(|user| row.user_id == StoredId::Id(user.0)) || question.wallets.iter().any(is_wallet)
    };
    let fresh: Vec<HoldingRow> = FreshLinks { linked: LINKED, unlinked: UNLINKED }.load(connection)?;
    found.extend(fresh.into_iter().filter(is_asked).map(|row| (row, false)));
    for &user in &users {
        let (mut family, mut address) = (String::new(), String::new());
        while found.len() < most {
            let next = NextOfUser { user, family: &family, address: &address };
            let Some(row) = next.get_result::<HoldingRow>(connection).optional()? else { break };
            (family, address) = (row.family.clone(), row.address.clone());
            found.push((row, false));
        }
    }
    for WalletAccount { family, address, .. } in &question.wallets {
        // Every id sorts after the empty one.
        let mut user = StoredId::Bytes(Vec::new());
        while found.len() < most {
            let next = NextOfWallet { family, address, user: &user };
            let Some(row) = next.get_result::<HoldingRow>(connection).optional()? else { break };
            user.clone_from(&row.user_id);
            found.push((row, false));
        }
    }
    found.truncate(most);
    found.into_iter().map(|(row, is_now)| row.read(is_now)).collect()
}

const LINKED: &str = EventKind::WalletLinked.name();
const UNLINKED: &str = EventKind::WalletUnlinked.name();

/// A user, and a wallet that is or was theirs.
#[derive(Queryable)]
struct HoldingRow {
    user_id: StoredId,
    family: String,
    chain: Option<String>,
    address: String,
}

impl HoldingRow {
    fn read(self, is_now: bool) -> Result<Holding, SqliteError> {
        let at = Row { table: "wallets", key: &self.address };
        let user = at.id("user_id", &self.user_id)?;
        let chain = self.chain.unwrap_or_else(|| chain_of_old_wallet(&self.family));
        let wallet = WalletAccount { family: self.family, chain, address: self.address };
        Ok(Holding { user, wallet, is_now })
    }
}

statement! {
    NowOfUser {
        user: Id as Key,
        limit: i64 as BigInt,
    } -> (Key, Text, Nullable<Text>, Text) = "\
        SELECT user_id, family, chain, address FROM wallets WHERE user_id = :user LIMIT :limit"
}

statement! {
    NowOfWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Key, Text, Nullable<Text>, Text) = "\
        SELECT user_id, family, chain, address FROM wallets WHERE family = :family AND address = :address"
}

statement! {
    /// Reads all fresh events: they are few, and sign-ins do not pay for an index.
    FreshLinks<'a> {
        linked: &'a str as Text,
        unlinked: &'a str as Text,
    } -> (Key, Text, Nullable<Text>, Text) = "\
        SELECT DISTINCT user_id, family, chain, address FROM fresh_events \
        WHERE kind IN (:linked, :unlinked) AND user_id IS NOT NULL AND address IS NOT NULL"
}

statement! {
    /// The next wallet after this one that the user had. The kinds are those of the index.
    NextOfUser<'a> {
        user: Id as Key,
        family: &'a str as Text,
        address: &'a str as Text,
    } -> (Key, Text, Nullable<Text>, Text) = "\
        SELECT user_id, family, chain, address FROM events INDEXED BY events_of_links_by_user \
        WHERE user_id = :user AND (family, address) > (:family, :address) \
        AND kind IN ('wallet_linked', 'wallet_unlinked') ORDER BY family, address LIMIT 1"
}

statement! {
    /// The next user after this one who had the wallet.
    NextOfWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        user: &'a StoredId as Key,
    } -> (Key, Text, Nullable<Text>, Text) = "\
        SELECT user_id, family, chain, address FROM events INDEXED BY events_of_links_by_wallet \
        WHERE address = :address AND family = :family AND user_id > :user \
        AND kind IN ('wallet_linked', 'wallet_unlinked') ORDER BY user_id LIMIT 1"
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys, steps};

    /// F-23
    #[test]
    fn who_had_which_wallets_is_found_by_indexes_of_links_alone() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        finds_rows_by_keys(connection, NowOfUser { user: Id(Uuid::nil()), limit: 10 });
        finds_rows_by_keys(connection, NowOfWallet { family: "a", address: "b" });
        for (index, taken) in [
            (
                "events_of_links_by_user (user_id=? AND (family,address)>(?,?))",
                steps(connection, NextOfUser { user: Id(Uuid::nil()), family: "a", address: "b" }),
            ),
            (
                "events_of_links_by_wallet (address=? AND family=? AND user_id>?)",
                steps(
                    connection,
                    NextOfWallet { family: "a", address: "b", user: &StoredId::Bytes(Vec::new()) },
                ),
            ),
        ] {
            assert_eq!(taken, [format!("SEARCH events USING INDEX {index}")]);
        }
    }

    #[test]
    fn the_kinds_of_the_indexes_are_those_of_the_events() {
        assert_eq!((LINKED, UNLINKED), ("wallet_linked", "wallet_unlinked"));
    }
}
