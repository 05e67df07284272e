//! A proposal is carried out with the act that two signed.

use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::{SecondSignature, Signed};

use crate::columns::{Id, Key, Text};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Says with an act that the proposal is carried out, if it is one that two signed. Guard: it is taken by this second
/// signature, or was carried out by it. Otherwise the act must not be committed.
pub fn fulfil(db: &mut impl Database, signed: Option<&Signed>) -> Result<(), SqlError> {
    let Some(SecondSignature { proposal, signature }) = signed.and_then(Signed::second) else {
        return Ok(());
    };
    let (taken, done) = (ProposalState::Taken.name(), ProposalState::Done.name());
    match (Fulfil { id: (*proposal).into(), signature, taken, done }).run(db)? {
        0 => Err(SqlError::ProposalTakenAway),
        _ => Ok(()),
    }
}

statement! {
    /// One row if it is this signature's, none otherwise. Waits for another one who takes or ends it.
    pub Fulfil<'a> {
        id: Id as Key,
        signature: &'a str as Text,
        taken: &'a str as Text,
        done: &'a str as Text,
    } = "\
        UPDATE proposals SET state = :done \
        WHERE id = :id AND second_signature = :signature AND state IN (:taken, :done)"
}
