//! Access tokens and grants are revoked.

use countersign_ports::{RevokeGrant, RevokeToken, Revoked};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{column, where_stored};
use crate::batched::Batched;
use crate::error::OpResult;
use crate::ops::tokens::revoke::{revoke_grant, revoke_token};
use crate::statement::{Act, ActText, load, statement};

impl Batched for RevokeToken {
    type Outcome = Revoked;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.id.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Revoked>>> {
        let statement = EndAccesses {
            id: column(batch, |command| command.id.as_uuid()),
            access_hash: column(batch, |command| command.access_hash.as_bytes().as_slice()),
            now: column(batch, |command| command.now),
        };
        let events =
            batch.iter().filter_map(|command| Some((command.id.as_uuid(), command.event.as_deref()?)));
        let ended: Vec<Uuid> = load(connection, statement, events)?;
        Ok(where_stored(batch, ended, |command| command.id.as_uuid(), Revoked::Revoked))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Revoked> {
        Ok(revoke_token(connection, self)?)
    }
}

impl Batched for RevokeGrant {
    type Outcome = Revoked;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.id.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Revoked>>> {
        let statement = EndGrants {
            id: column(batch, |command| command.id.as_uuid()),
            now: column(batch, |command| command.now),
            reason: column(batch, |command| command.reason.name()),
        };
        let events =
            batch.iter().filter_map(|command| Some((command.id.as_uuid(), command.event.as_deref()?)));
        let ended: Vec<Uuid> = load(connection, statement, events)?;
        Ok(where_stored(batch, ended, |command| command.id.as_uuid(), Revoked::Revoked))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Revoked> {
        Ok(revoke_grant(connection, self)?)
    }
}

statement! {
    /// Returns the tokens that were live.
    EndAccesses<'a> {
        id: Vec<Uuid> as Array<SqlUuid>,
        access_hash: Vec<&'a [u8]> as Array<Binary>,
        now: Vec<OffsetDateTime> as Array<Timestamptz>,
    } -> SqlUuid = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:id, :access_hash, :now) AS asked (id, access_hash, now) \
        ), alive AS MATERIALIZED ( \
          SELECT asked.id, asked.now FROM asked CROSS JOIN LATERAL ( \
            SELECT access_hash, access_revoked_at FROM tokens WHERE tokens.id = asked.id \
            OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS held \
          WHERE held.access_hash = asked.access_hash AND held.access_revoked_at IS NULL \
        ) \
        UPDATE tokens SET access_revoked_at = alive.now FROM alive WHERE tokens.id = alive.id \
        RETURNING tokens.id"
}

impl Act for EndAccesses<'_> {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::Whole { makes: false };
}

statement! {
    /// Returns the grants that were live.
    EndGrants {
        id: Vec<Uuid> as Array<SqlUuid>,
        now: Vec<OffsetDateTime> as Array<Timestamptz>,
        reason: Vec<&'static str> as Array<Text>,
    } -> SqlUuid = "\
        WITH asked AS MATERIALIZED ( \
          SELECT * FROM unnest(:id, :now, :reason) AS asked (id, now, reason) \
        ), alive AS MATERIALIZED ( \
          SELECT asked.* FROM asked CROSS JOIN LATERAL ( \
            SELECT revoked_at FROM grants WHERE grants.id = asked.id OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED \
          ) AS held \
          WHERE revoked_at IS NULL \
        ) \
        UPDATE grants SET revoked_at = alive.now, revocation_reason = alive.reason FROM alive \
        WHERE grants.id = alive.id \
        RETURNING grants.id"
}

impl Act for EndGrants {
    type Answer = SqlUuid;
    const TEXT: ActText = ActText::Whole { makes: false };
}
