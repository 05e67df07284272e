//! Who has or had which wallets.

use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{FindHoldings, Holding};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use crate::error::OpResult;
use crate::statement::statement;

pub(crate) fn find_holdings(
    connection: &mut PgConnection,
    question: &FindHoldings,
) -> OpResult<Vec<Holding>> {
    let column = |of: fn(&WalletAccount) -> &str| question.wallets.iter().map(of).collect();
    let find = Holdings {
        user: question.users.iter().map(|user| user.as_uuid()).collect(),
        family: column(|wallet| &wallet.family),
        address: column(|wallet| &wallet.address),
        limit: question.limit.into(),
    };
    let rows: Vec<HoldingRow> = find.load(connection)?;
    Ok(rows.into_iter().map(Holding::from).collect())
}

/// A user, and a wallet that is or was theirs.
#[derive(Queryable)]
struct HoldingRow {
    user_id: Uuid,
    family: String,
    chain: Option<String>,
    address: String,
    is_now: bool,
}

impl From<HoldingRow> for Holding {
    fn from(row: HoldingRow) -> Self {
        let chain = row.chain.unwrap_or_else(|| chain_of_old_wallet(&row.family));
        let wallet = WalletAccount { family: row.family, chain, address: row.address };
        Self { user: UserId::from_uuid(row.user_id), wallet, is_now: row.is_now }
    }
}

statement! {
    /// Of sealed events, one is read for each pair: the next one after the pair before, by the index that begins with
    /// what is asked. All fresh events are read: they are few, and sign-ins do not pay for an index. The kinds are
    /// those of the indexes.
    Holdings<'a> {
        user: Vec<Uuid> as Array<SqlUuid>,
        family: Vec<&'a str> as Array<Text>,
        address: Vec<&'a str> as Array<Text>,
        limit: i64 as BigInt,
    } -> (SqlUuid, Text, Nullable<Text>, Text, Bool) = "\
        WITH RECURSIVE of_user (user_id, family, chain, address) AS ( \
          (SELECT first.* FROM unnest(:user) AS asked (id) CROSS JOIN LATERAL ( \
            SELECT user_id, family, chain, address FROM events \
            WHERE user_id = asked.id AND kind IN ('wallet_linked', 'wallet_unlinked') \
            ORDER BY user_id, family, address LIMIT 1) AS first) \
          UNION ALL \
          (SELECT next.* FROM of_user CROSS JOIN LATERAL ( \
            SELECT user_id, family, chain, address FROM events \
            WHERE user_id = of_user.user_id AND (family, address) > (of_user.family, of_user.address) \
              AND kind IN ('wallet_linked', 'wallet_unlinked') \
            ORDER BY user_id, family, address LIMIT 1) AS next) \
        ), of_wallet (user_id, family, chain, address) AS ( \
          (SELECT first.* FROM unnest(:family, :address) AS asked (family, address) CROSS JOIN LATERAL ( \
            SELECT user_id, family, chain, address FROM events \
            WHERE events.address = asked.address AND events.family = asked.family AND user_id IS NOT NULL \
              AND kind IN ('wallet_linked', 'wallet_unlinked') \
            ORDER BY address, family, user_id LIMIT 1) AS first) \
          UNION ALL \
          (SELECT next.* FROM of_wallet CROSS JOIN LATERAL ( \
            SELECT user_id, family, chain, address FROM events \
            WHERE events.address = of_wallet.address AND events.family = of_wallet.family \
              AND user_id > of_wallet.user_id AND kind IN ('wallet_linked', 'wallet_unlinked') \
            ORDER BY address, family, user_id LIMIT 1) AS next) \
        ) \
        (SELECT theirs.*, TRUE FROM unnest(:user) AS asked (id) CROSS JOIN LATERAL ( \
          SELECT user_id, family, chain, address FROM wallets WHERE user_id = asked.id OFFSET 0) AS theirs) \
        UNION ALL \
        (SELECT owned.*, TRUE FROM unnest(:family, :address) AS asked (family, address) CROSS JOIN LATERAL ( \
          SELECT user_id, family, chain, address FROM wallets \
          WHERE wallets.family = asked.family AND wallets.address = asked.address OFFSET 0) AS owned) \
        UNION ALL \
        (SELECT DISTINCT user_id, family, chain, address, FALSE FROM fresh_events \
          WHERE kind IN ('wallet_linked', 'wallet_unlinked') AND user_id IS NOT NULL AND address IS NOT NULL \
            AND (user_id = ANY(:user) OR (family, address) IN (SELECT * FROM unnest(:family, :address)))) \
        UNION ALL \
        (SELECT of_user.*, FALSE FROM of_user) \
        UNION ALL \
        (SELECT of_wallet.*, FALSE FROM of_wallet) \
        LIMIT :limit"
}
