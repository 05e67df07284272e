//! An operator presents the signature of a change: it is verified, and the change is made, or waits for the second
//! operator.
//!
//! Every check is made anew, and as late as possible: that the text is the one that was issued, that it has not
//! expired and was not used, that the wallet signed exactly this text, that it is still an operator's, that its
//! owner is still the one who is signed in, and that the subject is still as the operator read it.

use std::sync::Arc;

use countersign_domain::act::Act;
use countersign_domain::act::written::WrittenChange;
use countersign_domain::challenge::{ChallengeRejected, ReadText};
use countersign_domain::desk::pending::{Fact, PendingChange, Seen};
use countersign_domain::desk::proposal::{self, Proposal, ProposalState};
use countersign_domain::event::{Actor, ChangeSignature, Details, Event, EventKind, EventPerson, Signed};
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::repeat_key::digest_of;
use countersign_domain::wallet::WalletProof;
use countersign_ports::{
    EndProposal, EntropyExt, PutProposal, SpendProof, StoreError, TakeProposal, Verdict, VerifierError,
};
use countersign_usecases::Context;
use countersign_usecases::account::change_wallets::SignedText;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::cause::Cause;
use countersign_usecases::events::hosts::note_host;
use countersign_usecases::steps::recognize_operator::{Operator, is_operators};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::carry_out::carry_out;
use super::proposals::{NotSecond, ProposalGone, judge_second};
use super::subject::{SubjectRead, read_subject};
use super::{Desk, Stale};
use crate::operate::{Effect, withdrawn_by};

/// By how much the clocks of replicas may differ.
const MARGIN: Duration = Duration::minutes(5);

/// What became of a signed change.
#[derive(Debug)]
pub enum Completed {
    /// It is made.
    Done {
        /// The change.
        change: Act,
        /// What it did.
        effect: Effect,
    },
    /// It waits for a second operator.
    Proposed {
        /// The proposal.
        proposal: Box<Proposal>,
        /// The change.
        change: Act,
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
    /// The text is for another host than this server's: `public_url` was changed since.
    #[error("this text is for {host}, and this server is another one now: begin again")]
    OtherHost {
        /// The host that the text names.
        host: String,
    },
    /// The wallet does not belong to an operator, or not to the one who is signed in.
    #[error("this wallet does not sign for the operator")]
    NotOperator,
    /// The operator is suspended. Nothing that they sign counts.
    #[error("this operator is suspended")]
    Suspended,
    /// The subject is no longer as the operator read it.
    #[error("subject changed meanwhile")]
    Stale(Stale),
    /// The first operator cannot be the second.
    #[error("the same person signed already")]
    SamePerson,
    /// Whether the operator is the person who signed first cannot be known.
    #[error("it cannot be known whether the same person signed already")]
    PersonUnknown,
    /// The proposal can no longer be signed.
    #[error(transparent)]
    ProposalGone(#[from] ProposalGone),
    /// The change is not possible.
    #[error(transparent)]
    Refused(ActRefused),
    /// The signature could not be checked.
    #[error("signature could not be judged")]
    Verifier(#[from] VerifierError),
    /// The change could not be stored, or only the answer was lost.
    #[error("change could not be stored")]
    Store(StoreError),
}

impl From<StoreError> for CompleteChangeError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::SignerSuspended => Self::Suspended,
            error @ (StoreError::Unavailable(_)
            | StoreError::Overloaded
            | StoreError::Corrupt { .. }
            | StoreError::Failed(_)) => Self::Store(error),
        }
    }
}

impl From<ActRefused> for CompleteChangeError {
    fn from(refused: ActRefused) -> Self {
        if let ActRefused::Store(error) = refused { error.into() } else { Self::Refused(refused) }
    }
}

impl From<NotSecond> for CompleteChangeError {
    fn from(error: NotSecond) -> Self {
        match error {
            NotSecond::Gone(gone) => gone.into(),
            NotSecond::SamePerson => Self::SamePerson,
            NotSecond::PersonUnknown => Self::PersonUnknown,
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
    require_own_host(context, &read)?;
    let signature = verified(desk, pending, signed).await?;
    if !is_operators(context, operator.session.user, &pending.signer).await? {
        return Err(CompleteChangeError::NotOperator);
    }
    // Nothing is signed for a host that the record does not know.
    note_host(context).await?;
    let signing = Signing { user: operator.session.user, now, signature };
    match written.proposal {
        None => first(desk, pending, written, signing).await,
        Some(id) => match second(desk, pending, written, id, signing).await {
            // One of the two is suspended. If it is the first, the second learns that the proposal is over.
            Err(CompleteChangeError::Suspended)
                if is_operators(context, operator.session.user, &pending.signer).await? =>
            {
                Err(ProposalGone::FirstSuspended.into())
            }
            completed => completed,
        },
    }
}

/// A text is carried out only by the server whose host it names.
fn require_own_host(context: &Context, text: &ReadText<'_>) -> Result<(), CompleteChangeError> {
    let host = text.host();
    if host == context.policy.public_url.authority() {
        return Ok(());
    }
    Err(CompleteChangeError::OtherHost { host: host.to_owned() })
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
    change: &Act,
    seen: Seen,
    before: Option<&[Fact]>,
) -> Result<SubjectRead, CompleteChangeError> {
    let subject = read_subject(desk, user, change.clone()).await?;
    // What the text says of the fields of a client, and of members, must be what would happen.
    let is_as_said = subject.named.fields() == change.fields() && subject.named.members() == change.members();
    if Seen::of(&subject.facts) != seen || !is_as_said {
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
    change: Act,
    before: &[Fact],
    error: ActRefused,
) -> Result<CompleteChangeError, StoreError> {
    if !error.is_overtaken() {
        return Ok(error.into());
    }
    let subject = read_subject(desk, user, change).await?;
    Ok(CompleteChangeError::Stale(Stale::between(before, &subject.facts)))
}

async fn propose(
    desk: Desk<'_>,
    pending: &PendingChange,
    change: &Act,
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
    tracing::info!(proposal.id = %id, change = change.name().word(), "change proposed");
    Ok(proposal)
}

/// Says in an event what a proposed change is about.
fn tell_subject(event: &mut Event, change: &Act) {
    let about = change.act_event();
    event.person = about.user.map(EventPerson::User);
    event.wallet = about.wallet;
    event.client = about.client;
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
    if let Some(first) = ReadText::read(&proposal.first.text) {
        require_own_host(desk.context, &first)?;
    }
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
    // The commit of the change makes the proposal done, and is refused if another server took it meanwhile.
    // So it is never made twice, and if its end is not recorded here, it waits again only if it was not made.
    let carried_out = carry_out(desk, &cause, change.clone(), subject.guard).await;
    let ended = match carried_out {
        // Most changes made it so already.
        Ok(_) => Some(ProposalState::Done),
        // It may have been made. If the second was suspended meanwhile, it waits again in a minute.
        Err(ActRefused::Store(_)) => None,
        Err(_) => Some(ProposalState::Failed),
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
        ProposalState::Waiting
        | ProposalState::Taken
        | ProposalState::Done
        | ProposalState::Withdrawn
        | ProposalState::Refused
        | ProposalState::Suspended => None,
    };
    let command = EndProposal { id, now, from: ProposalState::Taken, to, signed: Some(signature), event };
    if let Err(error) = desk.context.storage.end_proposal(command).await {
        tracing::warn!(proposal.id = %id, %error, "end of a proposal could not be stored");
    }
}
