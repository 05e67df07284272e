//! What redeeming and rotating share: the tokens of a batch, column by column.

use countersign_domain::token::Token;
use time::OffsetDateTime;
use uuid::Uuid;

use super::column;

/// A column for each field that every stored token has.
pub(super) struct TokenColumns<'a> {
    pub(super) id: Vec<Uuid>,
    pub(super) grant: Vec<Uuid>,
    pub(super) scope: Vec<String>,
    pub(super) issued_at: Vec<OffsetDateTime>,
    pub(super) access_hash: Vec<&'a [u8]>,
    pub(super) access_expires_at: Vec<OffsetDateTime>,
    pub(super) refresh_hash: Vec<Option<&'a [u8]>>,
    pub(super) refresh_expires_at: Vec<Option<OffsetDateTime>>,
    pub(super) forget_after: Vec<OffsetDateTime>,
    pub(super) bound_key: Vec<Option<&'a [u8]>>,
}

impl<'a> TokenColumns<'a> {
    /// The columns of the tokens that the commands carry.
    pub(super) fn of<C>(batch: &'a [C], token: fn(&'a C) -> &'a Token) -> Self {
        let refresh = |command| token(command).refresh.as_ref();
        Self {
            id: column(batch, |command| token(command).id.as_uuid()),
            grant: column(batch, |command| token(command).grant.as_uuid()),
            scope: column(batch, |command| token(command).scope.to_string()),
            issued_at: column(batch, |command| token(command).issued_at),
            access_hash: column(batch, |command| token(command).access_hash.as_bytes().as_slice()),
            access_expires_at: column(batch, |command| token(command).access_expires_at),
            refresh_hash: column(batch, |command| {
                refresh(command).map(|refresh| refresh.hash.as_bytes().as_slice())
            }),
            refresh_expires_at: column(batch, |command| refresh(command).map(|refresh| refresh.expires_at)),
            forget_after: column(batch, |command| token(command).forget_after()),
            bound_key: column(batch, |command| {
                token(command).key.as_ref().map(|key| key.as_bytes().as_slice())
            }),
        }
    }
}
