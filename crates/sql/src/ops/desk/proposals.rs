//! Changes that wait for a second operator.

use countersign_domain::desk::proposal::{Proposal, ProposalState, given_up_before};
use countersign_domain::forgetting::Past;
use countersign_domain::id::GrantId;
use countersign_ports::{EndProposal, ProposalAt, ProposalPage, PutProposal, TakeProposal};
use uuid::Uuid;

use crate::columns::{At, BigInt, Id, Key, Moment, Nullable, Text};
use crate::database::Statement;
use crate::ops::events::record_event::{is_recorded, record};
use crate::ops::suspended::require_active;
use crate::rows::proposal::{NewProposal, ProposalRow, ProposalSql, proposal_columns};
use crate::statement::statement;
use crate::{Database, SqlError};

/// Guard: no other one has its id.
pub fn put_proposal(db: &mut impl Database, command: &PutProposal) -> Result<bool, SqlError> {
    let PutProposal { proposal, event } = command;
    db.all_or_nothing(|db| {
        if (StoreProposal { proposal: NewProposal::of(proposal) }).run(db)? == 1 {
            record(db, event.as_deref())?;
            return Ok(true);
        }
        let present = find_proposal(db, proposal.id)?;
        Ok(present.is_some_and(|present| present.user == proposal.user && present.first == proposal.first))
    })
}

pub fn find_proposal(db: &mut impl Database, id: GrantId) -> Result<Option<Proposal>, SqlError> {
    let row: Option<ProposalRow> = FindProposal { id: id.into() }.maybe(db)?;
    row.map(Proposal::try_from).transpose()
}

pub fn list_proposals(db: &mut impl Database, page: ProposalPage) -> Result<Vec<ProposalAt>, SqlError> {
    // The highest UUID has another version than an id.
    let before = page.after.map_or(Id(Uuid::max()), Id::from);
    let rows: Vec<ProposalRow> = ListProposals { before, limit: page.limit.into() }.all(db)?;
    Ok(rows.into_iter().map(ProposalAt::from).collect())
}

/// Guards: the second operator is not suspended; it waits, or was not carried out in time; it expires later, and is another
/// user's. The loser looks again in a statement of its own, which sees what the one before waited for.
pub fn take_proposal(db: &mut impl Database, command: &TakeProposal) -> Result<bool, SqlError> {
    let TakeProposal { id, now, user, signed } = command;
    db.all_or_nothing(|db| {
        require_active(db, std::slice::from_ref(&signed.account))?;
        let take = Take {
            id: (*id).into(),
            now: At(*now),
            waiting: ProposalState::Waiting.name(),
            taken: ProposalState::Taken.name(),
            given_up: At(given_up_before(*now)),
            user: (*user).into(),
            family: &signed.account.family,
            chain: &signed.account.chain,
            address: &signed.account.address,
            text: &signed.text,
            signature: &signed.signature,
        };
        if take.run(db)? == 1 {
            return Ok(true);
        }
        let present = find_proposal(db, *id)?.filter(|present| present.state == ProposalState::Taken);
        Ok(present
            .and_then(|present| present.second)
            .is_some_and(|(by, second)| by == *user && second == *signed))
    })
}

/// Guards: it is in the state that the command names, and was signed as it says.
pub fn end_proposal(db: &mut impl Database, command: &EndProposal) -> Result<bool, SqlError> {
    let EndProposal { id, now, from, to, signed, event } = command;
    db.all_or_nothing(|db| {
        let end = End {
            id: (*id).into(),
            from: from.name(),
            to: to.name(),
            waiting: ProposalState::Waiting.name(),
            taken: ProposalState::Taken.name(),
            given_up: At(given_up_before(*now)),
            signature: signed.as_ref().map(|signed| &*signed.signature),
        };
        if end.run(db)? == 1 {
            record(db, event.as_deref())?;
            return Ok(true);
        }
        let present = find_proposal(db, *id)?;
        let is_so = present.is_some_and(|present| present.state == *to);
        Ok(is_so && is_recorded(db, event.as_deref())?.unwrap_or(true))
    })
}

pub fn forget_proposals(db: &mut impl Database, before: Past, limit: u32) -> Result<u64, SqlError> {
    let forgotten = Forget { before: At(before.time()), limit: limit.into() }.run(db)?;
    Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
}

statement! {
    /// One row if the id is free, none otherwise.
    pub StoreProposal<'a> {
        ..proposal: NewProposal<'a>,
    } = "\
        INSERT INTO proposals (:proposal.columns) VALUES (:proposal.values) ON CONFLICT (id) DO NOTHING"
}

statement! {
    pub FindProposal { id: Id as Key } -> ProposalSql = concat!(
        "SELECT ", proposal_columns!(), " FROM proposals WHERE id = :id"
    )
}

statement! {
    pub ListProposals { before: Id as Key, limit: i64 as BigInt } -> ProposalSql = concat!(
        "SELECT ", proposal_columns!(), " FROM proposals WHERE id < :before ORDER BY id DESC LIMIT :limit"
    )
}

statement! {
    /// One row if it was taken now, none otherwise. Waits for another one who takes or ends it.
    pub Take<'a> {
        id: Id as Key,
        now: At as Moment,
        waiting: &'a str as Text,
        taken: &'a str as Text,
        given_up: At as Moment,
        user: Id as Key,
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
    pub End<'a> {
        id: Id as Key,
        from: &'a str as Text,
        to: &'a str as Text,
        waiting: &'a str as Text,
        taken: &'a str as Text,
        given_up: At as Moment,
        signature: Option<&'a str> as Nullable<Text>,
    } = "\
        UPDATE proposals SET state = :to WHERE id = :id \
          AND :from = CASE WHEN state = :taken AND taken_at <= :given_up THEN :waiting ELSE state END \
          AND (:signature IS NULL OR second_signature = :signature)"
}

statement! {
    /// Rows that another session has locked are skipped until the next time.
    pub Forget { before: At as Moment, limit: i64 as BigInt },
    sqlite = "\
        DELETE FROM proposals WHERE id IN ( \
          SELECT id FROM proposals WHERE expires_at < :before ORDER BY expires_at, id LIMIT :limit \
        )",
    postgres = "\
        WITH old AS MATERIALIZED ( \
          SELECT id FROM proposals WHERE expires_at < :before \
          ORDER BY expires_at, id LIMIT :limit FOR UPDATE SKIP LOCKED \
        ) \
        DELETE FROM proposals USING old WHERE proposals.id = old.id"
}
