//! Changes that wait for a second operator.

use countersign_domain::desk::proposal::{Proposal, ProposalState, given_up_before};
use countersign_domain::event::{SecondSignature, Signed};
use countersign_domain::id::{GrantId, UserId};
use countersign_ports::{EndProposal, ProposalPage, PutProposal, TakeProposal};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
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

/// Guards: it waits, or nobody carried it out in time; it expires later, and is another user's.
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
        given_up: micros(given_up_before(*now)),
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

/// Guards: it is in the state that the command names, and was signed as it says.
pub(crate) fn end_proposal(
    connection: &mut SqliteConnection,
    command: &EndProposal,
) -> Result<bool, SqliteError> {
    let EndProposal { id, now, from, to, signed, event } = command;
    let uuid = id.as_uuid();
    let end = End {
        id: uuid.as_bytes(),
        from: from.name(),
        to: to.name(),
        waiting: ProposalState::Waiting.name(),
        taken: ProposalState::Taken.name(),
        given_up: micros(given_up_before(*now)),
        signature: signed.as_ref().map(|signed| &*signed.signature),
    };
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

/// Says with an act that the proposal is carried out, if it is one that two signed. Guard: it is taken by this second
/// signature, or was carried out by it. Otherwise the act must not be committed.
pub(crate) fn fulfil(connection: &mut SqliteConnection, signed: Option<&Signed>) -> Result<(), SqliteError> {
    let Some(SecondSignature { proposal, signature }) = signed.and_then(Signed::second) else {
        return Ok(());
    };
    let id = proposal.as_uuid();
    let (taken, done) = (ProposalState::Taken.name(), ProposalState::Done.name());
    match (Fulfil { id: id.as_bytes(), signature, taken, done }).execute(connection)? {
        0 => Err(SqliteError::ProposalTakenAway),
        _ => Ok(()),
    }
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
        given_up: i64 as BigInt,
        user: &'a [u8] as Binary,
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
    /// One row if it was in the first state, none otherwise.
    End<'a> {
        id: &'a [u8] as Binary,
        from: &'static str as Text,
        to: &'static str as Text,
        waiting: &'static str as Text,
        taken: &'static str as Text,
        given_up: i64 as BigInt,
        signature: Option<&'a str> as Nullable<Text>,
    } = "\
        UPDATE proposals SET state = :to WHERE id = :id \
        AND :from = CASE WHEN state = :taken AND taken_at <= :given_up THEN :waiting ELSE state END \
        AND (:signature IS NULL OR second_signature = :signature)"
}

statement! {
    /// One row if it is this signature's, none otherwise.
    Fulfil<'a> {
        id: &'a [u8] as Binary,
        signature: &'a str as Text,
        taken: &'static str as Text,
        done: &'static str as Text,
    } = "\
        UPDATE proposals SET state = :done \
        WHERE id = :id AND second_signature = :signature AND state IN (:taken, :done)"
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
        let (from, to, waiting, taken, signature) = ("waiting", "withdrawn", "waiting", "taken", None);
        finds_rows_by_keys(connection, End { id: &[], from, to, waiting, taken, given_up: 1, signature });
        finds_rows_by_keys(connection, Fulfil { id: &[], signature: "0x", taken, done: "done" });
        finds_rows_by_keys(connection, Forget { before: 1, limit: 10 });
        finds_rows_by_keys(connection, ForgetOf { user: &[] });
        let page = steps(connection, ListProposals { before: &[], limit: 10 });
        assert_eq!(page, ["SEARCH proposals USING PRIMARY KEY (id<?)"]);
    }
}
