//! Changes that wait for a second operator.

use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::id::{GrantId, UserId};
use countersign_ports::{EndProposal, ProposalPage, PutProposal, TakeProposal};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use time::OffsetDateTime;

use super::record_event::record;
use crate::error::SqliteError;
use crate::rows::field::micros;
use crate::rows::proposal::{NewProposal, ProposalRow, ProposalSql, proposal_columns};
use crate::statement::statement;

/// Forgets proposals that expired before a time.
#[derive(Debug)]
pub(crate) struct ForgetProposals {
    pub(crate) before: OffsetDateTime,
    pub(crate) limit: u32,
}

/// Guard: no other one has its id.
pub(crate) fn put_proposal(
    connection: &mut SqliteConnection,
    command: &PutProposal,
) -> Result<bool, SqliteError> {
    let PutProposal { proposal, event } = command;
    if (StoreProposal { proposal: NewProposal::of(proposal) }).execute(connection)? == 1 {
        record(connection, event.as_deref())?;
        return Ok(true);
    }
    let present = find_proposal(connection, proposal.id)?;
    Ok(present.is_some_and(|present| present.user == proposal.user && present.first == proposal.first))
}

pub(crate) fn find_proposal(
    connection: &mut SqliteConnection,
    id: GrantId,
) -> Result<Option<Proposal>, SqliteError> {
    let id = id.as_uuid();
    let row: Option<ProposalRow> = FindProposal { id: id.as_bytes() }.get_result(connection).optional()?;
    row.map(Proposal::try_from).transpose()
}

pub(crate) fn list_proposals(
    connection: &mut SqliteConnection,
    page: ProposalPage,
) -> Result<Vec<Proposal>, SqliteError> {
    // Every id sorts before one that is longer and has only ones.
    let before = page.after.map_or(vec![u8::MAX; 17], |after| after.as_uuid().as_bytes().to_vec());
    let rows: Vec<ProposalRow> =
        ListProposals { before: &before, limit: page.limit.into() }.load(connection)?;
    rows.into_iter().map(Proposal::try_from).collect()
}

/// Guards: it waits, expires later, and is another user's.
pub(crate) fn take_proposal(
    connection: &mut SqliteConnection,
    command: &TakeProposal,
) -> Result<bool, SqliteError> {
    let TakeProposal { id, now, user, signed } = command;
    let (uuid, by) = (id.as_uuid(), user.as_uuid());
    let take = Take {
        id: uuid.as_bytes(),
        now: micros(*now),
        waiting: ProposalState::Waiting.name(),
        taken: ProposalState::Taken.name(),
        user: by.as_bytes(),
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

/// Guard: it is in the state that the command names.
pub(crate) fn end_proposal(
    connection: &mut SqliteConnection,
    command: &EndProposal,
) -> Result<bool, SqliteError> {
    let EndProposal { id, from, to, event, .. } = command;
    let uuid = id.as_uuid();
    let end = End { id: uuid.as_bytes(), from: from.name(), to: to.name() };
    if end.execute(connection)? == 1 {
        record(connection, event.as_deref())?;
        return Ok(true);
    }
    let present = find_proposal(connection, *id)?;
    Ok(present.is_some_and(|present| present.state == *to))
}

pub(crate) fn forget_proposals(
    connection: &mut SqliteConnection,
    command: &ForgetProposals,
) -> Result<u64, SqliteError> {
    let ForgetProposals { before, limit } = command;
    let forgotten = Forget { before: micros(*before), limit: (*limit).into() }.execute(connection)?;
    Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
}

/// Forgets the proposals that a user signed, first or second.
pub(crate) fn forget_proposals_of(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<(), SqliteError> {
    let user = user.as_uuid();
    ForgetOf { user: user.as_bytes() }.execute(connection)?;
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
    FindProposal<'a> {
        id: &'a [u8] as Binary,
    } -> ProposalSql = concat!("SELECT ", proposal_columns!(), " FROM proposals WHERE id = :id")
}

statement! {
    ListProposals<'a> {
        before: &'a [u8] as Binary,
        limit: i64 as BigInt,
    } -> ProposalSql = concat!(
        "SELECT ", proposal_columns!(), " FROM proposals WHERE id < :before ORDER BY id DESC LIMIT :limit"
    )
}

statement! {
    /// One row if it was taken now, none otherwise.
    Take<'a> {
        id: &'a [u8] as Binary,
        now: i64 as BigInt,
        waiting: &'static str as Text,
        taken: &'static str as Text,
        user: &'a [u8] as Binary,
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        text: &'a str as Text,
        signature: &'a str as Text,
    } = "\
        UPDATE proposals SET state = :taken, second_user_id = :user, second_family = :family, \
        second_chain = :chain, second_address = :address, second_text = :text, second_signature = :signature \
        WHERE id = :id AND state = :waiting AND expires_at > :now AND user_id <> :user"
}

statement! {
    /// One row if it was in the first state, none otherwise.
    End<'a> {
        id: &'a [u8] as Binary,
        from: &'static str as Text,
        to: &'static str as Text,
    } = "UPDATE proposals SET state = :to WHERE id = :id AND state = :from"
}

statement! {
    Forget {
        before: i64 as BigInt,
        limit: i64 as BigInt,
    } = "\
        DELETE FROM proposals WHERE id IN ( \
          SELECT id FROM proposals WHERE expires_at < :before ORDER BY expires_at, id LIMIT :limit \
        )"
}

statement! {
    ForgetOf<'a> {
        user: &'a [u8] as Binary,
    } = "DELETE FROM proposals WHERE user_id = :user OR second_user_id = :user"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::plan::{database, finds_rows_by_keys, steps};

    #[test]
    fn proposals_are_found_and_listed_by_their_ids_however_many_there_are() {
        let (_folder, mut connection) = database();
        let connection = &mut connection;
        finds_rows_by_keys(connection, FindProposal { id: &[] });
        finds_rows_by_keys(connection, End { id: &[], from: "waiting", to: "withdrawn" });
        finds_rows_by_keys(connection, Forget { before: 1, limit: 10 });
        finds_rows_by_keys(connection, ForgetOf { user: &[] });
        let page = steps(connection, ListProposals { before: &[], limit: 10 });
        assert_eq!(page, ["SEARCH proposals USING PRIMARY KEY (id<?)"]);
    }
}
