//! Changes that wait for a second operator: operators read them, and one of them begins to sign.
//!
//! The second operator is another person than the first: another user, and without any wallet in common, neither
//! now nor before. Nobody can know that two wallets are one person's that were never linked, or whose account was
//! deleted; so the settings name one wallet for each person. What a row of storage says of that is not believed alone: the first
//! signature is verified again, and its wallet is looked up.

use countersign_domain::challenge::{ReadText, is_ours};
use countersign_domain::desk::change::Change;
use countersign_domain::desk::operators::is_same_wallet;
use countersign_domain::desk::pending::{PendingChange, Seen};
use countersign_domain::desk::proposal::{self, Proposal, ProposalState};
use countersign_domain::desk::written::WrittenChange;
use countersign_domain::email::EmailAddress;
use countersign_domain::event::EventKind;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::{WalletAccount, WalletProof};
use countersign_ports::{
    EntropyExt, EventFilter, EventOrder, EventPage, EventSubject, Member, ProposalPage, StoreError, Verdict,
    VerifierError,
};
use time::OffsetDateTime;

use super::begin_change::{BeginChangeError, choose_signer};
use super::make_text::{ChangeText, Making, make_text};
use super::recognize_operator::{Operator, is_operators};
use super::subject::read_subject;
use super::{Desk, Stale};
use crate::Context;

/// How many times that a person linked or unlinked a wallet are looked at.
const MOST_LINKS: u32 = 1_000;

/// Some proposals, and whether there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalsListed {
    /// The proposals, the newest first.
    pub proposals: Vec<ProposalRead>,
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
    pub change: Option<Change>,
    /// May the operator sign it?
    pub may_sign: MaySign,
}

/// May an operator sign a proposal?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaySign {
    /// As far as can be told without verifying anything.
    Yes,
    /// The operator is the person who signed first.
    SamePerson,
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
    /// Somebody signed it.
    #[error("the proposal was signed already")]
    Taken,
    /// It was taken back, or was no longer possible.
    #[error("the proposal was taken back")]
    Withdrawn,
    /// Whoever signed first is no operator any more.
    #[error("the first operator is no operator any more")]
    FirstIsNoOperator,
}

impl ProposalGone {
    /// Why a proposal in this state cannot be signed; one that waits has expired.
    pub(super) const fn of(state: ProposalState) -> Self {
        match state {
            ProposalState::Waiting => Self::Expired,
            ProposalState::Taken | ProposalState::Done => Self::Taken,
            ProposalState::Failed | ProposalState::Withdrawn => Self::Withdrawn,
        }
    }
}

/// Why nobody's second signature is taken.
#[derive(Debug)]
pub(super) enum NotSecond {
    Gone(ProposalGone),
    SamePerson,
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
    // One more than is shown tells whether there are more.
    let page = ProposalPage { after, limit: limit.saturating_add(1) };
    let mut found = desk.context.storage.list_proposals(page).await?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    let mut proposals = Vec::with_capacity(found.len());
    for proposal in found {
        proposals.push(as_seen(desk, operator, proposal).await?);
    }
    Ok(ProposalsListed { proposals, more })
}

/// Reads one proposal, in whatever state.
pub async fn read_proposal(
    desk: Desk<'_>,
    operator: &Operator,
    id: GrantId,
) -> Result<Option<ProposalRead>, StoreError> {
    match desk.context.storage.find_proposal(id).await? {
        Some(proposal) => Ok(Some(as_seen(desk, operator, proposal).await?)),
        None => Ok(None),
    }
}

async fn as_seen(
    desk: Desk<'_>,
    operator: &Operator,
    proposal: Proposal,
) -> Result<ProposalRead, StoreError> {
    let now = desk.context.clock.now();
    let change = proposed(desk.context, &proposal).map(|proposed| proposed.change);
    let may_sign = if !waits(desk.context, &proposal, now) {
        MaySign::Over
    } else if is_same_person(desk.context, &proposal, operator.session.user).await? {
        MaySign::SamePerson
    } else {
        MaySign::Yes
    };
    Ok(ProposalRead { state: proposal.state_at(now), proposal, change, may_sign })
}

/// Makes the text for a second signature: the same words for the same change, and another wallet.
pub async fn begin_countersign(
    desk: Desk<'_>,
    operator: &Operator,
    id: GrantId,
    signer: Option<&WalletAccount>,
) -> Result<(PendingChange, ChangeText), BeginCountersignError> {
    let now = desk.context.clock.now();
    let signer = choose_signer(operator, signer)?;
    let (proposal, proposed) = judge_second(desk, operator.session.user, &signer, id).await?;
    let WrittenChange { change, seen, .. } = proposed;
    let subject = read_subject(desk, proposal.user, change.clone()).await.map_err(BeginChangeError::from)?;
    if Seen::of(&subject.facts) != seen {
        return Err(BeginCountersignError::Stale(Stale::between(&[], &subject.facts)));
    }
    if let Some(refused) = subject.refused {
        return Err(BeginChangeError::from(refused).into());
    }
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
    let is_first = is_same_wallet(&proposal.first.account, signer);
    if is_first || is_same_person(context, &proposal, user).await? {
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
    Ok((proposal, written))
}

/// Does a proposal wait? Its id tells when its text was issued, and is signed, so a row cannot make it live longer.
fn waits(context: &Context, proposal: &Proposal, now: OffsetDateTime) -> bool {
    let longest = proposal::LIFETIME + context.policy.lifetimes.challenge;
    proposal.waits(now) && now < proposal.id.issued_at().saturating_add(longest)
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

/// Is this user the person who signed first? By the user, by any wallet that the first had when they signed, and by
/// any wallet that both of them have or had, as far as events are kept.
async fn is_same_person(context: &Context, proposal: &Proposal, user: UserId) -> Result<bool, StoreError> {
    // A row can name another user, but not another wallet: that one signed.
    let owner = context.storage.find_owner(proposal.first.account.clone()).await?;
    if proposal.user == user || owner == Some(user) {
        return Ok(true);
    }
    let mut firsts = proposal.wallets.clone();
    firsts.push(proposal.first.account.clone());
    firsts.extend(wallets_ever(context, proposal.user).await?);
    if let Some(owner) = owner.filter(|owner| *owner != proposal.user) {
        firsts.extend(wallets_ever(context, owner).await?);
    }
    let theirs = wallets_ever(context, user).await?;
    Ok(theirs.iter().any(|wallet| firsts.iter().any(|first| is_same_wallet(first, wallet))))
}

/// The wallets of a user, and those that the user had. Otherwise a person could take a wallet off the account
/// before signing first, and sign with that wallet as somebody new.
async fn wallets_ever(context: &Context, user: UserId) -> Result<Vec<WalletAccount>, StoreError> {
    let linked = context.storage.wallets_of(user).await?.into_iter().map(|linked| linked.account);
    let filter = EventFilter {
        kinds: vec![EventKind::WalletLinked, EventKind::WalletUnlinked],
        who: Some(EventSubject::User(user)),
        ..EventFilter::default()
    };
    let page = EventPage { order: EventOrder::NewestFirst, after: None, limit: MOST_LINKS };
    let events = context.storage.list_events(&filter, page).await?;
    Ok(linked.chain(events.into_iter().filter_map(|event| event.wallet)).collect())
}

/// The other operators who confirmed an e-mail address, so that they can be told of a proposal. At most `limit`
/// operators are looked at.
pub async fn operators_with_mail(
    context: &Context,
    except: UserId,
    limit: u32,
) -> Result<Vec<(UserId, EmailAddress)>, StoreError> {
    let Some(policy) = &context.policy.desk else { return Ok(Vec::new()) };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut users: Vec<UserId> = Vec::new();
    for wallet in policy.admins.iter().take(most) {
        users.extend(context.storage.find_owner(wallet.clone()).await?);
    }
    if let Some(group) = &policy.group {
        for found in context.storage.list_members(group, None, limit).await? {
            match found.member {
                Member::User(user) => users.push(user),
                Member::Wallet(_) => users.extend(found.user),
            }
        }
    }
    users.sort();
    users.dedup();
    let mut told = Vec::new();
    for user in users.into_iter().filter(|user| *user != except).take(most) {
        let found = context.storage.find_email(user).await?;
        let confirmed = found.filter(|email| email.verified_at.is_some());
        told.extend(confirmed.map(|email| (user, email.address)));
    }
    Ok(told)
}
