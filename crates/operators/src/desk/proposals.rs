//! Changes that wait for a second operator: operators read them, and one of them begins to sign.
//!
//! The second operator is another person than the first: another user, without any wallet in common, neither
//! now nor before, nor through other accounts (`one_person`). It cannot be known that two wallets belong to
//! one person if they were never linked, or if their account was deleted; so the settings name one wallet for
//! each person. What a row of storage says of that is not believed alone: the first signature is verified
//! again, and its wallet is looked up.

use countersign_domain::act::Act;
use countersign_domain::act::written::WrittenChange;
use countersign_domain::challenge::{ReadText, is_ours};
use countersign_domain::desk::pending::{PendingChange, Seen};
use countersign_domain::desk::proposal::{Proposal, ProposalState};
use countersign_domain::email::EmailAddress;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{EntropyExt, ProposalAt, ProposalPage, StoreError, Verdict, VerifierError};
use countersign_usecases::Context;
use countersign_usecases::context::cause::SERVER;
use countersign_usecases::steps::recognize_operator::{Operator, is_operators};

use super::begin_change::{BeginChangeError, Signing, choose_signer, require_word};
use super::make_text::{ChangeText, Making, make_text};
use super::subject::read_subject;
use super::{Desk, Stale, waits};
use crate::people::list_operators::{OperatorListed, list_operators};
use crate::people::one_person::{Circle, OnePerson};

/// Some proposals, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalsListed {
    /// The proposals, the newest first.
    pub proposals: Vec<ProposalRead>,
    /// How many rows among them cannot be read, because they were altered.
    pub unreadable: usize,
    /// Where the next page begins.
    pub last: Option<GrantId>,
    /// Do more follow the last one?
    pub more: bool,
}

/// A proposal as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalRead {
    /// The proposal.
    pub proposal: Proposal,
    /// What became of it, as it is now.
    pub state: ProposalState,
    /// What would change. `None` if its row was altered.
    pub change: Option<Act>,
    /// May the operator sign it?
    pub may_sign: MaySign,
}

/// May an operator sign a proposal?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaySign {
    /// As far as is known without verifying anything.
    Yes,
    /// The operator is the person who signed first.
    SamePerson,
    /// Whether the operator is the person who signed first cannot be known.
    PersonUnknown,
    /// It does not wait any more.
    Over,
}

/// Why a proposal can no longer be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposalGone {
    /// It is not there, or its row is not what the first operator signed.
    #[error("there is no such proposal")]
    Unknown,
    /// Its time is over.
    #[error("the proposal has expired")]
    Expired,
    /// It has been signed.
    #[error("the proposal was signed already")]
    Taken,
    /// It was taken back, or was no longer possible.
    #[error("the proposal was taken back")]
    Withdrawn,
    /// Another operator refused it.
    #[error("the proposal was refused")]
    Refused,
    /// The first operator was suspended.
    #[error("the first operator was suspended, and the proposal ended")]
    FirstSuspended,
    /// The first signer is no longer an operator.
    #[error("the first operator is no longer an operator")]
    FirstIsNoOperator,
}

impl ProposalGone {
    /// Why a proposal in this state cannot be signed; one that waits has expired.
    pub(super) const fn of(state: ProposalState) -> Self {
        match state {
            ProposalState::Waiting => Self::Expired,
            ProposalState::Taken | ProposalState::Done => Self::Taken,
            ProposalState::Failed | ProposalState::Withdrawn => Self::Withdrawn,
            ProposalState::Refused => Self::Refused,
            ProposalState::Suspended => Self::FirstSuspended,
        }
    }
}

/// Why no second signature is accepted.
#[derive(Debug)]
pub(super) enum NotSecond {
    Gone(ProposalGone),
    SamePerson,
    PersonUnknown,
    Verifier(VerifierError),
    Store(StoreError),
}

impl From<StoreError> for NotSecond {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ProposalGone> for NotSecond {
    fn from(gone: ProposalGone) -> Self {
        Self::Gone(gone)
    }
}

/// Why there is no text for a second signature.
#[derive(Debug, thiserror::Error)]
pub enum BeginCountersignError {
    /// The proposal can no longer be signed.
    #[error(transparent)]
    Gone(#[from] ProposalGone),
    /// The first operator cannot be the second.
    #[error("the same person signed already")]
    SamePerson,
    /// Whether the operator is the person who signed first cannot be known.
    #[error("it cannot be known whether the same person signed already")]
    PersonUnknown,
    /// The subject is no longer as the first operator read it.
    #[error("subject changed meanwhile")]
    Stale(Stale),
    /// There is no text, as for any change.
    #[error(transparent)]
    Begin(#[from] BeginChangeError),
    /// The first signature could not be checked.
    #[error("first signature could not be judged")]
    Verifier(#[from] VerifierError),
}

impl From<NotSecond> for BeginCountersignError {
    fn from(error: NotSecond) -> Self {
        match error {
            NotSecond::Gone(gone) => gone.into(),
            NotSecond::SamePerson => Self::SamePerson,
            NotSecond::PersonUnknown => Self::PersonUnknown,
            NotSecond::Verifier(error) => error.into(),
            NotSecond::Store(error) => Self::Begin(error.into()),
        }
    }
}

/// Lists a page of proposals, in whatever state.
pub async fn list_proposals(
    desk: Desk<'_>,
    operator: &Operator,
    after: Option<GrantId>,
    limit: u32,
) -> Result<ProposalsListed, StoreError> {
    // One more than is shown, to know whether there are more.
    let page = ProposalPage { after, limit: limit.saturating_add(1) };
    let mut found = desk.context.storage.list_proposals(page).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    let last = found.iter().rev().find_map(ProposalAt::id);
    let (mut proposals, mut unreadable) = (Vec::with_capacity(found.len()), 0);
    let mut reader = Reader::of(operator);
    for found in found {
        match found {
            ProposalAt::Proposal(proposal) => proposals.push(reader.read(desk, *proposal).await?),
            ProposalAt::Unreadable { id, problem } => {
                let id = id.map(|id| id.to_string());
                tracing::warn!(proposal.id = id, %problem, "proposal cannot be read");
                unreadable += 1;
            }
        }
    }
    Ok(ProposalsListed { proposals, unreadable, last, more })
}

/// Reads one proposal, in whatever state.
pub async fn read_proposal(
    desk: Desk<'_>,
    operator: &Operator,
    id: GrantId,
) -> Result<Option<ProposalRead>, StoreError> {
    match desk.context.storage.find_proposal(id).await? {
        Some(proposal) => Ok(Some(Reader::of(operator).read(desk, proposal).await?)),
        None => Ok(None),
    }
}

/// An operator who reads proposals. Who they are is followed once for all of them.
struct Reader<'a> {
    operator: &'a Operator,
    circle: Option<Circle>,
}

impl<'a> Reader<'a> {
    const fn of(operator: &'a Operator) -> Self {
        Self { operator, circle: None }
    }

    async fn read(&mut self, desk: Desk<'_>, proposal: Proposal) -> Result<ProposalRead, StoreError> {
        let now = desk.context.clock.now();
        let change = proposed(desk.context, &proposal).map(|proposed| proposed.change);
        let may_sign = if !waits(desk.context, &proposal, now) {
            MaySign::Over
        } else {
            match is_same_person(desk.context, &proposal, self.operator.session.user, &mut self.circle)
                .await?
            {
                OnePerson::Yes => MaySign::SamePerson,
                OnePerson::No => MaySign::Yes,
                OnePerson::Unknown => MaySign::PersonUnknown,
            }
        };
        Ok(ProposalRead { state: proposal.state_at(now), proposal, change, may_sign })
    }
}

/// Makes the text for a second signature: the same words for the same change, and another wallet.
pub async fn begin_countersign(
    desk: Desk<'_>,
    operator: &Operator,
    id: GrantId,
    signing: Signing<'_>,
) -> Result<(PendingChange, ChangeText), BeginCountersignError> {
    let now = desk.context.clock.now();
    let signer = choose_signer(operator, signing.signer)?;
    let (proposal, proposed) = judge_second(desk, operator.session.user, &signer, id).await?;
    let WrittenChange { change, seen, .. } = proposed;
    let subject = read_subject(desk, proposal.user, change.clone()).await.map_err(BeginChangeError::from)?;
    if Seen::of(&subject.facts) != seen {
        return Err(BeginCountersignError::Stale(Stale::between(&[], &subject.facts)));
    }
    if let Some(refused) = subject.refused {
        return Err(BeginChangeError::from(refused).into());
    }
    require_word(desk, operator, &subject.named, signing.word).await?;
    let written = WrittenChange { change, seen, proposal: Some(id) };
    let making = Making {
        id: GrantId::at(now, desk.context.entropy.bytes()),
        written,
        facts: subject.facts,
        needs_second: false,
        signer,
    };
    Ok(make_text(desk, now, making).map_err(BeginChangeError::from)?)
}

/// Judges whether this user can be the second who signs a proposal. Gives it with what the first signed.
pub(super) async fn judge_second(
    desk: Desk<'_>,
    user: UserId,
    signer: &WalletAccount,
    id: GrantId,
) -> Result<(Proposal, WrittenChange), NotSecond> {
    let context = desk.context;
    let now = context.clock.now();
    let proposal = context.storage.find_proposal(id).await?.ok_or(ProposalGone::Unknown)?;
    if !waits(context, &proposal, now) {
        return Err(ProposalGone::of(proposal.state_at(now)).into());
    }
    let written = proposed(context, &proposal).ok_or(ProposalGone::Unknown)?;
    let is_first = proposal.first.account.is_same(signer);
    let one_person = is_same_person(context, &proposal, user, &mut None).await?;
    if is_first || one_person == OnePerson::Yes {
        return Err(NotSecond::SamePerson);
    }
    let first = &proposal.first;
    let proof = WalletProof {
        account: first.account.clone(),
        kind: first.account.kind(),
        text: first.text.clone(),
        signature: first.signature.clone(),
    };
    match context.wallets.verify(&proof).await.map_err(NotSecond::Verifier)? {
        Verdict::Valid(found) if found == first.account => {}
        Verdict::Valid(_) | Verdict::Invalid(_) => return Err(ProposalGone::Unknown.into()),
    }
    if !is_operators(context, proposal.user, &first.account).await? {
        return Err(ProposalGone::FirstIsNoOperator.into());
    }
    match one_person {
        OnePerson::No => Ok((proposal, written)),
        OnePerson::Yes => Err(NotSecond::SamePerson),
        OnePerson::Unknown => Err(NotSecond::PersonUnknown),
    }
}

/// What the first operator signed, if the row is what it was.
fn proposed(context: &Context, proposal: &Proposal) -> Option<WrittenChange> {
    let text = &proposal.first.text;
    let read = ReadText::read(text).filter(|_| is_ours(&context.keys.texts, text))?;
    let is_of_id = read.request_id == Some(proposal.id.to_string().as_str());
    let first = &proposal.first.account;
    let is_of_signer = read.address == Some(&*first.address) && read.signer_kind() == first.kind();
    let written = WrittenChange::of(&read).ok()?;
    (is_of_id && is_of_signer && written.proposal.is_none()).then_some(written)
}

/// Is this user the person who signed first? The first person includes everything of the owner of the wallet
/// that signed, of the user that the row names, and of the wallets that they had when they signed. `circle`
/// is around the user, once it is known.
async fn is_same_person(
    context: &Context,
    proposal: &Proposal,
    user: UserId,
    circle: &mut Option<Circle>,
) -> Result<OnePerson, StoreError> {
    // A row can name another user, but not another wallet: that one signed.
    let owner = context.storage.find_owner(proposal.first.account.clone()).await?;
    if proposal.user == user || owner == Some(user) {
        return Ok(OnePerson::Yes);
    }
    let theirs = match circle.take() {
        Some(known) => known,
        None => Circle::around(&*context.storage, vec![user], Vec::new()).await?,
    };
    let users = [proposal.user].into_iter().chain(owner).collect();
    let wallets = proposal.wallets.iter().chain([&proposal.first.account]).cloned().collect();
    let firsts = Circle::around(&*context.storage, users, wallets).await?;
    let met = theirs.meets(&firsts);
    *circle = Some(theirs);
    Ok(met)
}

/// The other operators who confirmed an e-mail address, so that they can be notified of a proposal; not those who are
/// suspended. At most `limit` operators are looked at.
pub async fn operators_with_mail(
    context: &Context,
    except: UserId,
    limit: u32,
) -> Result<Vec<(UserId, EmailAddress)>, StoreError> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let listed = list_operators(context.management_for(&SERVER), limit).await?;
    let active = |operator: &OperatorListed| operator.suspension.is_none();
    let mut users: Vec<UserId> = listed
        .operators
        .iter()
        .filter(|operator| active(operator))
        .filter_map(|operator| operator.user)
        .collect();
    users.sort();
    users.dedup();
    if listed.more || users.len() > most {
        tracing::warn!(limit, "there are more operators than get a proposal by mail");
    }
    let mut recipients = Vec::new();
    for user in users.into_iter().filter(|user| *user != except).take(most) {
        let found = context.storage.find_email(user).await?;
        let confirmed = found.filter(|email| email.verified_at.is_some());
        recipients.extend(confirmed.map(|email| (user, email.address)));
    }
    Ok(recipients)
}
