//! Look-ups that are not batched, except those in [`read_account`](super::read_account). Each is one
//! statement and so sees one state of the database. The frequent ones are in `together/read.rs`.

use countersign_domain::client::Client;
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::LinkedWallet;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Timestamptz, Uuid as SqlUuid};
use uuid::Uuid;

use super::wallets::owner_of;
use crate::error::OpResult;
use crate::rows::client::ClientRow;
use crate::rows::wallet::WalletRow;
use crate::schema::clients;
use crate::statement::statement;

pub(crate) fn list_clients(
    connection: &mut PgConnection,
    after: Option<ClientId>,
    limit: u32,
) -> OpResult<Vec<Client>> {
    let page = clients::table.select(ClientRow::as_select()).order(clients::id).limit(limit.into());
    let rows = match after {
        Some(after) => page.filter(clients::id.gt(after.as_uuid())).load(connection)?,
        None => page.load(connection)?,
    };
    let clients: Result<Vec<_>, _> = rows.into_iter().map(Client::try_from).collect();
    Ok(clients?)
}

pub(crate) fn find_owner(connection: &mut PgConnection, wallet: &WalletAccount) -> OpResult<Option<UserId>> {
    Ok(owner_of(connection, wallet)?.map(UserId::from_uuid))
}

pub(crate) fn wallets_of(connection: &mut PgConnection, user: UserId) -> OpResult<Vec<LinkedWallet>> {
    let rows: Vec<WalletRow> = WalletsOf { user: user.as_uuid() }.load(connection)?;
    Ok(rows.into_iter().map(LinkedWallet::from).collect())
}

statement! {
    /// Sorted by bytes: the order of the database's own language is not the order that other stores use.
    WalletsOf { user: Uuid as SqlUuid } -> (Text, Nullable<Text>, Text, Timestamptz, Nullable<Text>) = "\
        SELECT family, chain, address, linked_at, name FROM wallets WHERE user_id = :user \
        ORDER BY linked_at, family COLLATE \"C\", address COLLATE \"C\""
}
