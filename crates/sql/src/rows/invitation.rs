//! Rows of `invitations` and `invitation_uses`.

use countersign_domain::group::GroupName;
use countersign_domain::id::InvitationId;
use countersign_domain::invitation::{Invitation, InvitationUse, Inviter};
use countersign_domain::person_name::PersonName;
use countersign_domain::wallet::WalletAccount;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{At, BigInt, Binary, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::statement::row;

row! {
    /// An invitation that is stored.
    pub InvitationRow<'a> {
        id: Id as Key,
        hash: &'a [u8] as Binary,
        group_name: &'a str as Text,
        client_id: Option<Id> as Nullable<Key>,
        inviter: Option<&'a str> as Nullable<Text>,
        person_name: Option<&'a str> as Nullable<Text>,
        uses: i64 as BigInt,
        used: i64 as BigInt,
        created_at: At as Moment,
        expires_at: At as Moment,
        revoked_at: Option<At> as Nullable<Moment>,
    }
}

impl<'a> From<&'a Invitation> for InvitationRow<'a> {
    fn from(invitation: &'a Invitation) -> Self {
        Self {
            id: invitation.id.into(),
            hash: invitation.hash.as_bytes(),
            group_name: invitation.group.as_str(),
            client_id: invitation.client.map(Id::from),
            inviter: invitation.inviter.as_ref().map(Inviter::as_str),
            person_name: invitation.name.as_ref().map(PersonName::as_str),
            uses: invitation.uses.into(),
            used: invitation.used.into(),
            created_at: At(invitation.created_at),
            expires_at: At(invitation.expires_at),
            revoked_at: invitation.revoked_at.map(At),
        }
    }
}

/// The columns of a [`StoredInvitation`], in the order of its fields.
macro_rules! invitation_columns {
    () => {
        "id, hash, group_name, client_id, inviter, person_name, uses, used, created_at, expires_at, revoked_at"
    };
}
pub(crate) use invitation_columns;

/// The SQL types of [`StoredInvitation`].
pub type InvitationSql = (
    Key,
    Binary,
    Text,
    Nullable<Key>,
    Nullable<Text>,
    Nullable<Text>,
    BigInt,
    BigInt,
    Moment,
    Moment,
    Nullable<Moment>,
);

/// An invitation that is read.
#[derive(Debug, Queryable)]
pub struct StoredInvitation {
    id: StoredId,
    hash: Vec<u8>,
    group_name: String,
    client_id: Option<StoredId>,
    inviter: Option<String>,
    person_name: Option<String>,
    uses: i64,
    used: i64,
    created_at: StoredTime,
    expires_at: StoredTime,
    revoked_at: Option<StoredTime>,
}

impl TryFrom<StoredInvitation> for Invitation {
    type Error = SqlError;

    /// Words that are none, as another program might have written them, are not shown.
    fn try_from(row: StoredInvitation) -> Result<Self, SqlError> {
        let at = Row { table: "invitations", key: &row.id };
        Ok(Self {
            id: at.id("id", &row.id)?,
            hash: at.hash("hash", &row.hash)?,
            group: GroupName::parse(&row.group_name).map_err(|_| at.impossible("group_name"))?,
            client: at.optional_id("client_id", row.client_id.as_ref())?,
            inviter: row.inviter.and_then(|words| Inviter::parse(&words).ok()),
            name: row.person_name.and_then(|name| PersonName::parse(&name).ok()),
            uses: u32::try_from(row.uses).map_err(|_| at.impossible("uses"))?,
            used: u32::try_from(row.used).map_err(|_| at.impossible("used"))?,
            created_at: at.time("created_at", row.created_at)?,
            expires_at: at.time("expires_at", row.expires_at)?,
            revoked_at: at.optional_time("revoked_at", row.revoked_at)?,
        })
    }
}

/// The SQL types of [`UseRow`].
pub type UseSql = (Key, Text, Text, Text, Moment);

/// A wallet that came in.
#[derive(Debug, Queryable)]
pub struct UseRow {
    invitation_id: StoredId,
    family: String,
    chain: String,
    address: String,
    used_at: StoredTime,
}

impl UseRow {
    /// By which invitation.
    pub(crate) fn invitation(&self) -> Result<InvitationId, SqlError> {
        let at = Row { table: "invitation_uses", key: &self.invitation_id };
        at.id("invitation_id", &self.invitation_id)
    }
}

impl TryFrom<UseRow> for InvitationUse {
    type Error = SqlError;

    fn try_from(row: UseRow) -> Result<Self, SqlError> {
        let at = Row { table: "invitation_uses", key: &row.invitation_id };
        Ok(Self {
            invitation: row.invitation()?,
            used_at: at.time("used_at", row.used_at)?,
            wallet: WalletAccount { family: row.family, chain: row.chain, address: row.address },
        })
    }
}
