//! An operator presents the signature of a change: it is verified, and the change is made, or waits for the second
//! operator.
//!
//! Every check is made anew, and as late as possible: that the text is the one that was issued, that it has not
//! expired and was not used, that the wallet signed exactly this text, that it is still an operator's, that its
//! owner is still the one who is signed in, and that the subject is still as the operator read it.

use std::sync::Arc;

use countersign_domain::challenge::{ChallengeRejected, ReadText};
use countersign_domain::desk::change::Change;
use countersign_domain::desk::pending::{Fact, PendingChange, Seen};
use countersign_domain::desk::proposal::{self, Proposal, ProposalState};
use countersign_domain::desk::written::WrittenChange;
use countersign_domain::event::{Actor, ChangeSignature, Details, Event, EventKind, EventPerson, Signed};
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::repeat_key::digest_of;
use countersign_domain::wallet::WalletProof;
use countersign_ports::{
    EndProposal, EntropyExt, PutProposal, SpendProof, StoreError, TakeProposal, Verdict, VerifierError,
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::carry_out::{CarryOutError, carry_out, withdrawn_by};
use super::proposals::{NotSecond, ProposalGone, judge_second};
use super::recognize_operator::{Operator, is_operators};
use super::subject::{Subject, read_subject};
use super::{ChangeRefused, Desk, Stale};
use crate::account::change_wallets::SignedText;
use crate::context::cause::Cause;

pub use super::carry_out::Effect;

/// By how much the clocks of replicas may differ.
const MARGIN: Duration = Duration::minutes(5);

/// What became of a signed change.
#[derive(Debug)]
pub enum Completed {
    /// It is made.
    Done {
        /// The change.
        change: Change,
        /// What it did.
        effect: Effect,
    },
    /// It waits for a second operator.
    Proposed {
        /// The proposal.
        proposal: Box<Proposal>,
        /// The change.
        change: Change,
    },
}

/// Why a change is not made.
#[derive(Debug, thiserror::Error)]
pub enum CompleteChangeError {
    /// The text was not issued for this change, or can no longer be answered.
    #[error("challenge is refused")]
    Challenge(#[from] ChallengeRejected),
    /// The text was used before.
    #[error("challenge was used before")]
    Spent,
    /// The signature is not valid.
    #[error("signature is not valid: {0}")]
    Signature(&'static str),
    /// The wallet is no operator's, or not of the one who is signed in.
    #[error("this wallet does not sign for the operator")]
    NotOperator,
    /// The subject is no longer as the operator read it.
    #[error("subject changed meanwhile")]
    Stale(Stale),
    /// The first operator cannot be the second.
    #[error("the same person signed already")]
    SamePerson,
    /// The proposal can no longer be signed.
    #[error(transparent)]
    ProposalGone(#[from] ProposalGone),
    /// The change is not possible.
    #[error(transparent)]
    Refused(#[from] ChangeRefused),
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The change could not be stored. Perhaps it was made.
    #[error("change could not be stored")]
    Store(#[from] StoreError),
}

impl From<NotSecond> for CompleteChangeError {
    fn from(error: NotSecond) -> Self {
        match error {
            NotSecond::Gone(gone) => gone.into(),
            NotSecond::SamePerson => Self::SamePerson,
            NotSecond::Verifier(error) => error.into(),
            NotSecond::Store(error) => error.into(),
        }
    }
}

/// Makes a change that was signed by the operator, alone or as the second.
pub async fn complete_change(
    desk: Desk<'_>,
    operator: &Operator,
    pending: &mut PendingChange,
    signed: SignedText,
) -> Result<Completed, CompleteChangeError> {
    let context = desk.context;
    let now = context.clock.now();
    pending.admit(now, &signed.text)?;
    let read = ReadText::read(&signed.text).ok_or(ChallengeRejected::Unknown)?;
    let written = WrittenChange::of(&read).map_err(|_| ChallengeRejected::Unknown)?;
    if written.proposal != pending.proposal {
        return Err(ChallengeRejected::Unknown.into());
    }
    let signature = verified(desk, pending, signed).await?;
    if !is_operators(context, operator.session.user, &pending.signer).await? {
        return Err(CompleteChangeError::NotOperator);
    }
    let signing = Signing { user: operator.session.user, now, signature };
    match written.proposal {
        None => first(desk, pending, written, signing).await,
        Some(id) => second(desk, pending, written, id, signing).await,
    }
}

/// Who signed what, and when.
struct Signing {
    user: UserId,
    now: OffsetDateTime,
    signature: ChangeSignature,
}

/// Verifies the signature. An invalid one is counted.
async fn verified(
    desk: Desk<'_>,
    pending: &mut PendingChange,
    signed: SignedText,
) -> Result<ChangeSignature, CompleteChangeError> {
    let SignedText { text, signature } = signed;
    let account = pending.signer.clone();
    // The text says whether it is a key or a contract, so nothing else may have signed.
    let kind = account.kind();
    let proof =
        WalletProof { account: account.clone(), kind, text: text.clone(), signature: signature.clone() };
    match desk.context.wallets.verify(&proof).await? {
        Verdict::Valid(found) if found == account => Ok(ChangeSignature { account, text, signature }),
        Verdict::Valid(_) => {
            pending.challenge.count_failure();
            Err(CompleteChangeError::Signature("another account's"))
        }
        Verdict::Invalid(reason) => {
            pending.challenge.count_failure();
            Err(CompleteChangeError::Signature(reason))
        }
    }
}

async fn first(
    desk: Desk<'_>,
    pending: &PendingChange,
    written: WrittenChange,
    signing: Signing,
) -> Result<Completed, CompleteChangeError> {
    let id = pending.challenge.id;
    let WrittenChange { change, seen, .. } = written;
    let subject = unchanged(desk, signing.user, &change, seen, Some(&pending.seen)).await?;
    if subject.needs_second {
        let proposal = propose(desk, pending, &change, signing).await?;
        return Ok(Completed::Proposed { proposal: Box::new(proposal), change });
    }
    spend(desk, pending, signing.now).await?;
    let user = signing.user;
    let cause = cause_of(desk, id, &[signing.signature]);
    match carry_out(desk, &cause, change.clone(), subject.guard).await {
        Ok(effect) => Ok(Completed::Done { change, effect }),
        Err(error) => Err(explained(desk, user, change, &pending.seen, error).await?),
    }
}

/// The subject, if it is still as the operator read it and the change is possible.
async fn unchanged(
    desk: Desk<'_>,
    user: UserId,
    change: &Change,
    seen: Seen,
    before: Option<&[Fact]>,
) -> Result<Subject, CompleteChangeError> {
    let subject = read_subject(desk, user, change.clone()).await?;
    if Seen::of(&subject.facts) != seen {
        let stale = Stale::between(before.unwrap_or_default(), &subject.facts);
        return Err(CompleteChangeError::Stale(stale));
    }
    match subject.refused {
        Some(refused) => Err(refused.into()),
        None => Ok(subject),
    }
}

/// Uses up the text. From here on it makes nothing any more, whatever becomes of the change.
async fn spend(
    desk: Desk<'_>,
    pending: &PendingChange,
    now: OffsetDateTime,
) -> Result<(), CompleteChangeError> {
    let context = desk.context;
    let spend = SpendProof {
        digest: digest_of(format!("desk change {}", pending.challenge.id).as_bytes()),
        attempt: Uuid::from_bytes(context.entropy.bytes()),
        before: now - MARGIN,
        forget_after: pending.challenge.expires_at + MARGIN,
    };
    if context.storage.spend_proof(spend).await? { Ok(()) } else { Err(CompleteChangeError::Spent) }
}

/// The cause of everything that a change does: the wallet that signed last, with all signatures.
fn cause_of(desk: Desk<'_>, change: GrantId, signatures: &[ChangeSignature]) -> Cause {
    let actor = match signatures.last() {
        Some(last) => Actor::Wallet(last.account.caip10()),
        None => Actor::Server,
    };
    Cause { actor, signed: Some(Arc::new(Signed::of(change, signatures))), ..desk.cause.clone() }
}

/// Why a change that was about to be made was not.
async fn explained(
    desk: Desk<'_>,
    user: UserId,
    change: Change,
    before: &[Fact],
    error: CarryOutError,
) -> Result<CompleteChangeError, StoreError> {
    Ok(match error {
        CarryOutError::Changed => {
            let subject = read_subject(desk, user, change).await?;
            CompleteChangeError::Stale(Stale::between(before, &subject.facts))
        }
        CarryOutError::Refused(refused) => refused.into(),
        CarryOutError::Store(error) => error.into(),
    })
}

async fn propose(
    desk: Desk<'_>,
    pending: &PendingChange,
    change: &Change,
    signing: Signing,
) -> Result<Proposal, CompleteChangeError> {
    let Signing { user, now, signature } = signing;
    let storage = &desk.context.storage;
    let linked = storage.wallets_of(user).await?;
    let id = pending.challenge.id;
    let proposed_at = now.truncate_to_second();
    let proposal = Proposal {
        id,
        user,
        wallets: linked.into_iter().map(|linked| linked.account).collect(),
        first: signature.clone(),
        second: None,
        taken_at: None,
        proposed_at,
        expires_at: proposed_at + proposal::LIFETIME,
        state: ProposalState::Waiting,
    };
    spend(desk, pending, now).await?;
    let cause = cause_of(desk, id, &[signature]);
    let event = desk.context.management_for(&cause).event(now, EventKind::ChangeProposed, |event| {
        tell_subject(event, change);
        event.details = Details::default().text("proposal", id).text("change", change.name());
    });
    if !storage.put_proposal(PutProposal { proposal: proposal.clone(), event }).await? {
        return Err(CompleteChangeError::Spent);
    }
    tracing::info!(proposal.id = %id, change = change.name(), "change proposed");
    Ok(proposal)
}

/// Says in an event what a proposed change is about.
fn tell_subject(event: &mut Event, change: &Change) {
    let told = change.told();
    event.person = told.user.map(EventPerson::User);
    event.wallet = told.wallet;
    event.client = told.client;
}

async fn second(
    desk: Desk<'_>,
    pending: &PendingChange,
    written: WrittenChange,
    id: GrantId,
    signing: Signing,
) -> Result<Completed, CompleteChangeError> {
    let Signing { user, now, signature } = signing;
    let storage = &desk.context.storage;
    let (proposal, proposed) = judge_second(desk, user, &pending.signer, id).await?;
    if (&proposed.change, proposed.seen) != (&written.change, written.seen) {
        return Err(ChallengeRejected::Unknown.into());
    }
    let change = written.change;
    let subject = unchanged(desk, proposal.user, &change, written.seen, None).await?;
    spend(desk, pending, now).await?;
    if !storage.take_proposal(TakeProposal { id, now, user, signed: signature.clone() }).await? {
        let gone = match storage.find_proposal(id).await? {
            Some(found) => ProposalGone::of(found.state_at(now)),
            None => ProposalGone::Unknown,
        };
        return Err(gone.into());
    }
    let cause = cause_of(desk, id, &[proposal.first, signature.clone()]);
    // The commit of the change makes the proposal done, and is refused if somebody else took it meanwhile. So it is never
    // made twice, and if nobody says here how it ended, it waits again only if it was not made.
    let carried_out = carry_out(desk, &cause, change.clone(), subject.guard).await;
    let ended = match carried_out {
        // Most changes made it so already.
        Ok(_) => Some(ProposalState::Done),
        Err(CarryOutError::Changed | CarryOutError::Refused(_)) => Some(ProposalState::Failed),
        // Perhaps it was made.
        Err(CarryOutError::Store(_)) => None,
    };
    if let Some(to) = ended {
        end(desk, to, now, &cause, (id, signature)).await;
    }
    match carried_out {
        Ok(effect) => Ok(Completed::Done { change, effect }),
        Err(error) => Err(explained(desk, proposal.user, change, &[], error).await?),
    }
}

/// Writes down how a proposal ended that was taken with this signature.
async fn end(
    desk: Desk<'_>,
    to: ProposalState,
    now: OffsetDateTime,
    cause: &Cause,
    (id, signature): (GrantId, ChangeSignature),
) {
    let by_server = cause.by_server();
    let event = match to {
        ProposalState::Failed => {
            let management = desk.context.management_for(&by_server);
            management.event(now, EventKind::ChangeWithdrawn, |event| {
                event.details = withdrawn_by(id, "not_possible");
            })
        }
        ProposalState::Waiting | ProposalState::Taken | ProposalState::Done | ProposalState::Withdrawn => {
            None
        }
    };
    let command = EndProposal { id, now, from: ProposalState::Taken, to, signed: Some(signature), event };
    if let Err(error) = desk.context.storage.end_proposal(command).await {
        tracing::warn!(proposal.id = %id, %error, "end of a proposal could not be stored");
    }
}
