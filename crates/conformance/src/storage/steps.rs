//! Steps that most clauses take first.

use countersign_domain::admission::Standing;
use countersign_domain::checkpoint::{Digest256, SealedEvent, SignedCheckpoint, merkle_root};
use countersign_domain::client::Client;
use countersign_domain::consent::Consent;
use countersign_domain::event::Event;
use countersign_domain::grant::Holder;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, SessionId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::subject::Subject;
use countersign_domain::token::{AccessSnapshot, Token};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    Account, BlockPut, CheckpointAt, CompleteLogin, ContinueSession, EventAt, EventFilter, EventOrder,
    EventPage, GroupCreated, KnownAccess, LinkWallet, LoginCompleted, OpenSession, PutBlock, Redeemed,
    RegisterClient, Rotated, SealEvents, Sealed, SessionContinued, SessionOpened, Storage, UnlinkWallet,
    WalletLinked, WalletUnlinked,
};

use time::OffsetDateTime;
use time::macros::datetime;

use crate::fixtures;
use crate::one_member::{MemberAdded, OneMember as _};

/// A wallet signs in to a registered client.
pub(crate) async fn sign_in(store: &dyn Storage) -> CompleteLogin {
    let login = fixtures::complete_login();
    user_of(store, &login).await;
    login
}

/// Completes a login at a registered client, expects a code, and returns the user.
pub(crate) async fn user_of(store: &dyn Storage, login: &CompleteLogin) -> UserId {
    if store.find_client(login.client).await.unwrap().is_none() {
        let client = Client { id: login.client, ..fixtures::client() };
        store.register_client(RegisterClient { client, event: None }).await.unwrap();
    }
    match store.complete_login(login.clone()).await.unwrap() {
        LoginCompleted::CodeIssued { user } => user,
        LoginCompleted::ChallengeSpent => panic!("the challenge {} was never used", login.id),
    }
}

/// The one consent of a user at a client, if there is one.
pub(crate) async fn consent(store: &dyn Storage, user: UserId, client: ClientId) -> Option<Consent> {
    let mut consents = store.consents_at(user, client).await.unwrap();
    assert!(consents.len() < 2, "at one client and one set of terms: {consents:?}");
    consents.pop()
}

/// A wallet signs in and its code is redeemed.
pub(crate) async fn redeem(store: &dyn Storage) -> Token {
    let login = sign_in(store).await;
    let command = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    command.token
}

/// The newest token of a family is refreshed.
pub(crate) async fn rotate(store: &dyn Storage, newest: &Token) -> Token {
    let command = fixtures::rotate_refresh(newest);
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Stored);
    command.token
}

/// Reads the stored token, which must exist.
pub(crate) async fn stored(store: &dyn Storage, token: &Token) -> Token {
    store.find_refresh(token.id).await.unwrap().unwrap().token
}

/// The expected meaning of an access token that was issued to this client for this holder, and to which nothing
/// has happened.
pub(crate) fn meaning(token: &Token, client: ClientId, holder: Holder) -> AccessSnapshot {
    AccessSnapshot {
        id: token.id,
        access_hash: token.access_hash,
        scope: token.scope.clone(),
        issued_at: token.issued_at,
        expires_at: token.access_expires_at,
        token_revoked: false,
        grant_revoked: false,
        grant: token.grant,
        client,
        holder,
    }
}

/// The person who holds a grant or a token, and the wallet that signed.
pub(crate) fn person(holder: &Holder) -> (UserId, &WalletAccount) {
    let Holder::Person { user, account } = holder else { panic!("nobody signed for it") };
    (*user, account)
}

/// Reads what the access token means; it must exist. Also checks that the short question, whether a known
/// access token is still valid, gets the same answer.
pub(crate) async fn access(store: &dyn Storage, token: &Token) -> AccessSnapshot {
    let access = store.find_access(token.id).await.unwrap().unwrap();
    if store.lives_on(KnownAccess::from(&access)).await.unwrap() {
        assert!(!access.was_revoked(), "what has ended stays ended: {access:?}");
    } else {
        // It may have ended between the two reads.
        let found = store.find_access(token.id).await.unwrap();
        assert!(found.as_ref().is_none_or(AccessSnapshot::was_revoked), "{found:?}");
    }
    access
}

/// True if the access token is valid.
pub(crate) async fn is_live(store: &dyn Storage, token: &Token) -> bool {
    access(store, token).await.is_live(fixtures::NOW)
}

/// The newest token of the family.
pub(crate) async fn newest(store: &dyn Storage, token: &Token) -> countersign_domain::id::TokenId {
    store.find_refresh(token.id).await.unwrap().unwrap().newest.id
}

/// A wallet signs in, and a new one is linked to its user.
pub(crate) async fn user_with_two_wallets(store: &dyn Storage) -> (UserId, [WalletAccount; 2]) {
    let login = sign_in(store).await;
    let second = fixtures::wallet_account();
    link(store, &login.account, &second).await;
    (login.new_user, [login.account, second])
}

/// A time long after every signer was linked to its user.
const LATER: OffsetDateTime = datetime!(2027-11-21 10:00:00 UTC);

/// Links a wallet, which must succeed, and returns its user.
pub(crate) async fn link(store: &dyn Storage, signer: &WalletAccount, wallet: &WalletAccount) -> UserId {
    let command = LinkWallet { begun_at: LATER, ..fixtures::link_wallet(signer, wallet) };
    let outcome = store.link_wallet(command).await.unwrap();
    let WalletLinked::Linked { user } = outcome else { panic!("{wallet:?} was not linked: {outcome:?}") };
    user
}

/// Unlinks a wallet, which must succeed, and returns its former user.
pub(crate) async fn unlink(store: &dyn Storage, signer: &WalletAccount, wallet: &WalletAccount) -> UserId {
    let command = UnlinkWallet { begun_at: LATER, ..fixtures::unlink_wallet(signer, wallet) };
    let outcome = store.unlink_wallet(command).await.unwrap();
    let WalletUnlinked::Unlinked { user } = outcome else {
        panic!("{wallet:?} was not unlinked: {outcome:?}")
    };
    user
}

/// The accounts of a user, earliest link first.
pub(crate) async fn accounts_of(store: &dyn Storage, user: UserId) -> Vec<WalletAccount> {
    let wallets = store.wallets_of(user).await.unwrap();
    wallets.into_iter().map(|wallet| wallet.account).collect()
}

/// A wallet signs in and its code is redeemed.
pub(crate) async fn redeem_by(store: &dyn Storage, account: &WalletAccount) -> Token {
    let login = fixtures::complete_login_of(account.clone());
    user_of(store, &login).await;
    let command = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    command.token
}

/// A wallet signs in, and its browser remembers it.
pub(crate) async fn remember(store: &dyn Storage) -> (CompleteLogin, LoginSession) {
    let login = fixtures::remembered_login();
    let session = remember_by(store, &login).await;
    (login, session)
}

/// Completes a login that the browser remembers.
pub(crate) async fn remember_by(store: &dyn Storage, login: &CompleteLogin) -> LoginSession {
    user_of(store, login).await;
    session(store, login.session.as_ref().unwrap().id).await
}

/// Reads the session, which must exist.
pub(crate) async fn session(store: &dyn Storage, id: SessionId) -> LoginSession {
    store.find_session(id).await.unwrap().unwrap()
}

/// Opens a session, which must succeed, and returns its user.
pub(crate) async fn open(store: &dyn Storage, command: &OpenSession) -> UserId {
    match store.open_session(command.clone()).await.unwrap() {
        SessionOpened::Opened { user } => user,
        SessionOpened::ChallengeSpent => panic!("the challenge {} was never used", command.id),
    }
}

/// Tries to continue a session.
pub(crate) async fn proceed(store: &dyn Storage, command: &ContinueSession) -> SessionContinued {
    store.continue_session(command.clone()).await.unwrap()
}

/// Continues a session and returns the grant, or checks that it is refused for this reason.
pub(crate) async fn proceed_unless(
    store: &dyn Storage,
    command: &ContinueSession,
    refusal: SessionContinued,
) -> Option<GrantId> {
    let outcome = proceed(store, command).await;
    if outcome == SessionContinued::CodeIssued {
        return Some(command.login.id);
    }
    assert_eq!(outcome, refusal);
    None
}

/// Reads everything of a user, who must exist.
pub(crate) async fn account(store: &dyn Storage, user: UserId) -> Account {
    store.find_account(user).await.unwrap().unwrap()
}

/// Creates a group, and returns its name.
pub(crate) async fn group(store: &dyn Storage) -> GroupName {
    let name = fixtures::group_name();
    create_group(store, &name).await;
    name
}

/// Creates a group of this name, which must be free.
pub(crate) async fn create_group(store: &dyn Storage, name: &GroupName) {
    let outcome = store.create_group(fixtures::create_group(name)).await.unwrap();
    assert_eq!(outcome, GroupCreated::Stored, "{name}");
}

/// Puts a member into a group, who must be a new one.
pub(crate) async fn add(store: &dyn Storage, group: &GroupName, member: &Subject) {
    let outcome = store.add_member(fixtures::add_member(group, member)).await.unwrap();
    assert_eq!(outcome, MemberAdded::Added, "{member:?} of {group}");
}

/// Blocks somebody who was not blocked.
pub(crate) async fn block(store: &dyn Storage, command: PutBlock) {
    let outcome = store.put_block(command.clone()).await.unwrap();
    assert_eq!(outcome, BlockPut::Stored, "{command:?}");
}

/// What is known about a wallet.
pub(crate) async fn standing(store: &dyn Storage, wallet: &WalletAccount) -> Standing {
    store.standing_of(wallet).await.unwrap()
}

/// All events, oldest first. Each must be either fresh or sealed, and not twice.
pub(crate) async fn events(store: &dyn Storage) -> Vec<Event> {
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: u32::MAX };
    let events = store.list_events(&EventFilter::default(), page).await.unwrap();
    let mut each = store.fresh_events(u32::MAX).await.unwrap();
    each.extend(sealed_events(store).await.into_iter().map(|sealed| sealed.event));
    each.sort_by_key(|event| event.id);
    assert_eq!(each, events, "what is fresh or sealed is what is listed");
    assert!(events.is_sorted_by(|one, other| one.id < other.id), "an event stands once: {events:?}");
    events
}

/// All sealed events, in the order of their positions.
pub(crate) async fn sealed_events(store: &dyn Storage) -> Vec<SealedEvent> {
    let rows = store.sealed_events(0, u32::MAX).await.unwrap();
    let sealed = |row| match row {
        EventAt::Event(sealed) => *sealed,
        EventAt::Unreadable { position, problem } => panic!("event {position}: {problem}"),
    };
    rows.into_iter().map(sealed).collect()
}

/// All checkpoints, in the order of their numbers.
pub(crate) async fn checkpoints(store: &dyn Storage) -> Vec<SignedCheckpoint> {
    let rows = store.checkpoints(0, u32::MAX).await.unwrap();
    let signed = |row| match row {
        CheckpointAt::Checkpoint(signed) => *signed,
        CheckpointAt::Unreadable { number, problem } => panic!("checkpoint {number}: {problem}"),
    };
    rows.into_iter().map(signed).collect()
}

/// Records an event that is new.
pub(crate) async fn record(store: &dyn Storage, event: &Event) {
    assert!(store.record_event(event.clone()).await.unwrap(), "{event:?} is new");
}

/// Seals up to so many fresh events, as a sealer does, unless another one was faster.
pub(crate) async fn try_to_seal(store: &dyn Storage, limit: u32) -> Sealed {
    let last = store.last_checkpoint().await.unwrap();
    let fresh = store.fresh_events(limit).await.unwrap();
    store.seal_events(fixtures::seal_events(last.as_ref(), fresh)).await.unwrap()
}

/// Seals these fresh events, and returns the checkpoint.
pub(crate) async fn seal_these(store: &dyn Storage, events: &[Event]) -> SealEvents {
    let last = store.last_checkpoint().await.unwrap();
    let command = fixtures::seal_events(last.as_ref(), events.to_vec());
    assert_eq!(store.seal_events(command.clone()).await.unwrap(), Sealed::Sealed);
    command
}

/// Seals all fresh events.
pub(crate) async fn seal(store: &dyn Storage) -> SealEvents {
    let fresh = store.fresh_events(u32::MAX).await.unwrap();
    seal_these(store, &fresh).await
}

/// What a verifier finds: checkpoints and positions without a gap, roots that fit, and faithful commitments.
pub(crate) async fn verify_seals(store: &dyn Storage) {
    let (checkpoints, events) = (checkpoints(store).await, sealed_events(store).await);
    let (mut position, mut number, mut previous) = (1, 1, Digest256::NOTHING);
    let mut rest = events.as_slice();
    for signed in &checkpoints {
        let checkpoint = &signed.checkpoint;
        assert_eq!((checkpoint.number, checkpoint.first), (number, position));
        assert_eq!(checkpoint.previous, previous, "checkpoint {number}");
        let (its, later) = rest.split_at(usize::try_from(checkpoint.events).unwrap());
        let positions: Vec<_> = its.iter().map(|sealed| sealed.position).collect();
        assert_eq!(positions, (position..checkpoint.next()).collect::<Vec<_>>());
        let leaves: Vec<_> = its.iter().map(SealedEvent::leaf).collect();
        assert_eq!(merkle_root(&leaves), checkpoint.root, "checkpoint {number}");
        for sealed in its {
            assert!(sealed.is_faithful(), "{sealed:?}");
        }
        (position, number, previous) = (checkpoint.next(), number + 1, signed.hash());
        rest = later;
    }
    assert_eq!(rest, [], "every sealed event has a checkpoint");
}
