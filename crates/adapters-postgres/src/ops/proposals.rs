//! Changes that wait for a second operator.

use countersign_domain::desk::proposal::{Proposal, ProposalState, given_up_before};
use countersign_domain::event::{SecondSignature, Signed};
use countersign_domain::id::{GrantId, UserId};
use countersign_ports::{EndProposal, ProposalPage, PutProposal, TakeProposal};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::record_event::record;
use super::transaction::{Undone, all_or_nothing};
use crate::error::{OpError, OpResult};
use crate::rows::proposal::{NewProposal, ProposalRow, ProposalSql, proposal_columns};
use crate::statement::statement;

/// Guard: no other one has its id.
pub(crate) fn put_proposal(connection: &mut PgConnection, command: &PutProposal) -> OpResult<bool> {
    let PutProposal { proposal, event } = command;
    all_or_nothing(connection, |connection| {
        if (StoreProposal { proposal: NewProposal::of(proposal) }).execute(connection)? == 1 {
            record(connection, event.as_deref())?;
            return Ok(true);
        }
        let present = find_proposal(connection, proposal.id).map_err(Undone::Failed)?;
        Ok(present.is_some_and(|present| present.user == proposal.user && present.first == proposal.first))
    })
}

pub(crate) fn find_proposal(connection: &mut PgConnection, id: GrantId) -> OpResult<Option<Proposal>> {
    let row: Option<ProposalRow> = FindProposal { id: id.as_uuid() }.get_result(connection).optional()?;
    Ok(row.map(Proposal::try_from).transpose()?)
}

pub(crate) fn list_proposals(connection: &mut PgConnection, page: ProposalPage) -> OpResult<Vec<Proposal>> {
    // The highest UUID has another version than an id.
    let before = page.after.map_or(Uuid::max(), |after| after.as_uuid());
    let rows: Vec<ProposalRow> = ListProposals { before, limit: page.limit.into() }.load(connection)?;
    let proposals: Result<Vec<_>, _> = rows.into_iter().map(Proposal::try_from).collect();
    Ok(proposals?)
}

/// Guards: it waits, or nobody carried it out in time; it expires later, and is another user's. Whoever loses looks again in a statement of its own,
/// which sees what the one before waited for.
pub(crate) fn take_proposal(connection: &mut PgConnection, command: &TakeProposal) -> OpResult<bool> {
    let TakeProposal { id, now, user, signed } = command;
    let take = Take {
        id: id.as_uuid(),
        now: *now,
        waiting: ProposalState::Waiting.name(),
        taken: ProposalState::Taken.name(),
        given_up: given_up_before(*now),
        user: user.as_uuid(),
        family: &signed.account.family,
        chain: &signed.account.chain,
        address: &signed.account.address,
        text: &signed.text,
        signature: &signed.signature,
    };
    if take.execute(connection)? == 1 {
        return Ok(true);
    }
    let present = find_proposal(connection, *id)?.filter(|present| present.state == ProposalState::Taken);
    Ok(present
        .and_then(|present| present.second)
        .is_some_and(|(by, second)| by == *user && second == *signed))
}

/// Guards: it is in the state that the command names, and was signed as it says.
pub(crate) fn end_proposal(connection: &mut PgConnection, command: &EndProposal) -> OpResult<bool> {
    let EndProposal { id, now, from, to, signed, event } = command;
    all_or_nothing(connection, |connection| {
        let end = End {
            id: id.as_uuid(),
            from: from.name(),
            to: to.name(),
            waiting: ProposalState::Waiting.name(),
            taken: ProposalState::Taken.name(),
            given_up: given_up_before(*now),
            signature: signed.as_ref().map(|signed| &*signed.signature),
        };
        if end.execute(connection)? == 1 {
            record(connection, event.as_deref())?;
            return Ok(true);
        }
        let present = find_proposal(connection, *id).map_err(Undone::Failed)?;
        Ok(present.is_some_and(|present| present.state == *to))
    })
}

pub(crate) fn forget_proposals(
    connection: &mut PgConnection,
    before: OffsetDateTime,
    limit: u32,
) -> OpResult<u64> {
    let forgotten = Forget { before, limit: limit.into() }.execute(connection)?;
    Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
}

/// Says with an act that the proposal is carried out, if it is one that two signed. Guard: it is taken by this second
/// signature, or was carried out by it. Otherwise the act must not be committed.
pub(crate) fn fulfil(connection: &mut PgConnection, signed: Option<&Signed>) -> OpResult<()> {
    let Some(SecondSignature { proposal, signature }) = signed.and_then(Signed::second) else {
        return Ok(());
    };
    let (taken, done) = (ProposalState::Taken.name(), ProposalState::Done.name());
    match (Fulfil { id: proposal.as_uuid(), signature, taken, done }).execute(connection)? {
        0 => Err(OpError::ProposalTakenAway),
        _ => Ok(()),
    }
}

/// Forgets the proposals that a user signed, first or second.
pub(crate) fn forget_proposals_of(connection: &mut PgConnection, user: UserId) -> QueryResult<()> {
    ForgetOf { user: user.as_uuid() }.execute(connection)?;
    Ok(())
}

statement! {
    /// One row if the id is free, none otherwise.
    StoreProposal<'a> {
        ..proposal: NewProposal<'a>,
    } = "\
        INSERT INTO proposals (:proposal.columns) VALUES (:proposal.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    FindProposal { id: Uuid as SqlUuid } -> ProposalSql = concat!(
        "SELECT ", proposal_columns!(), " FROM proposals WHERE id = :id"
    )
}

statement! {
    ListProposals { before: Uuid as SqlUuid, limit: i64 as BigInt } -> ProposalSql = concat!(
        "SELECT ", proposal_columns!(), " FROM proposals WHERE id < :before ORDER BY id DESC LIMIT :limit"
    )
}

statement! {
    /// One row if it was taken now, none otherwise. Waits for another one who takes or ends it.
    Take<'a> {
        id: Uuid as SqlUuid,
        now: OffsetDateTime as Timestamptz,
        waiting: &'static str as Text,
        taken: &'static str as Text,
        given_up: OffsetDateTime as Timestamptz,
        user: Uuid as SqlUuid,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        text: &'a str as Text,
        signature: &'a str as Text,
    } = "\
        UPDATE proposals SET state = :taken, second_user_id = :user, second_family = :family, \
          second_chain = :chain, second_address = :address, second_text = :text, second_signature = :signature, \
          taken_at = :now \
        WHERE id = :id AND (state = :waiting OR (state = :taken AND taken_at <= :given_up)) \
          AND expires_at > :now AND user_id <> :user"
}

statement! {
    /// One row if it was in the first state, none otherwise. Waits for another one who takes or ends it.
    End<'a> {
        id: Uuid as SqlUuid,
        from: &'static str as Text,
        to: &'static str as Text,
        waiting: &'static str as Text,
        taken: &'static str as Text,
        given_up: OffsetDateTime as Timestamptz,
        signature: Option<&'a str> as Nullable<Text>,
    } = "\
        UPDATE proposals SET state = :to WHERE id = :id \
          AND :from = CASE WHEN state = :taken AND taken_at <= :given_up THEN :waiting ELSE state END \
          AND (:signature IS NULL OR second_signature = :signature)"
}

statement! {
    /// One row if it is this signature's, none otherwise. Waits for another one who takes or ends it.
    Fulfil<'a> {
        id: Uuid as SqlUuid,
        signature: &'a str as Text,
        taken: &'static str as Text,
        done: &'static str as Text,
    } = "\
        UPDATE proposals SET state = :done \
        WHERE id = :id AND second_signature = :signature AND state IN (:taken, :done)"
}

statement! {
    /// Rows that somebody else has locked are skipped until the next time.
    Forget { before: OffsetDateTime as Timestamptz, limit: i64 as BigInt } = "\
        WITH old AS MATERIALIZED ( \
          SELECT id FROM proposals WHERE expires_at < :before \
          ORDER BY expires_at, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ) \
        DELETE FROM proposals USING old WHERE proposals.id = old.id"
}

statement! {
    /// In the order of their ids, so that two whose accounts are deleted at once do not wait for each other.
    ForgetOf { user: Uuid as SqlUuid } = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM proposals WHERE user_id = :user \
          UNION SELECT id FROM proposals WHERE second_user_id = :user \
          ORDER BY id \
        ), held AS MATERIALIZED ( \
          SELECT theirs.id FROM theirs CROSS JOIN LATERAL ( \
            SELECT FROM proposals WHERE proposals.id = theirs.id OFFSET 0 FOR UPDATE \
          ) AS locked \
        ) \
        DELETE FROM proposals USING held WHERE proposals.id = held.id"
}
