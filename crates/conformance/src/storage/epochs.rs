//! A restored backup begins an epoch: what was handed out before it is gone, and everything else stays.

use std::collections::BTreeSet;
use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::desk::proposal::Proposal;
use countersign_domain::epoch::{Epoch, Lineage};
use countersign_domain::id::EpochId;
use countersign_domain::subject::Subject;
use countersign_ports::{
    ConfirmEmail, CreateAdminKey, EmailConfirmed, EmailPut, ForgetUnused, LinkWallet, ProposalAt,
    ProposalPage, PutEmail, RaiseEpoch, Redeemed, Rotated, SessionContinued, SharedAddress, SpendProof,
    Storage, TakeLease, WalletLinked,
};
use time::{Duration, OffsetDateTime};

use super::races::{at_once, count};
use super::steps;
use crate::fixtures::{self, NOW};

const TASKS: usize = 8;

async fn raise(store: &dyn Storage) -> Epoch {
    store.raise_epoch(fixtures::raise_epoch()).await.unwrap()
}

/// What servers compare, if nothing filled the store.
fn lineage(epoch: Option<EpochId>) -> Lineage {
    Lineage { epoch, filling: None, is_unfinished: false }
}

/// A store that was never restored has no epoch, whatever else it has.
pub async fn nothing_was_restored_at_first(store: Arc<dyn Storage>) {
    assert_eq!(store.epoch().await.unwrap(), None);
    assert_eq!(store.lineage().await.unwrap(), lineage(None));
    steps::redeem(&*store).await;
    assert_eq!(store.epoch().await.unwrap(), None);
}

/// A repeat gives the same epoch, and ends nothing that was handed out since, also when another one began meanwhile.
pub async fn an_epoch_is_raised_once(store: Arc<dyn Storage>) {
    let command = RaiseEpoch { now: NOW + Duration::microseconds(7), ..fixtures::raise_epoch() };
    let first = store.raise_epoch(command.clone()).await.unwrap();
    assert_eq!(first, Epoch { id: command.id, number: 1, raised_at: command.now });
    let token = steps::redeem(&*store).await;
    for _ in 0..2 {
        assert_eq!(store.raise_epoch(command.clone()).await.unwrap(), first);
        assert!(steps::is_live(&*store, &token).await);
    }
    // By a clock that was set back.
    let command = RaiseEpoch { now: NOW - Duration::DAY, ..fixtures::raise_epoch() };
    let second = store.raise_epoch(command.clone()).await.unwrap();
    assert_eq!(second, Epoch { id: command.id, number: 2, raised_at: command.now });
    assert_eq!(store.epoch().await.unwrap(), Some(second));
    assert_eq!(store.lineage().await.unwrap(), lineage(Some(second.id)));
    assert_eq!(store.find_access(token.id).await.unwrap(), None);
    assert_eq!(store.raise_epoch(RaiseEpoch { id: first.id, ..command }).await.unwrap(), first);
    assert_eq!(store.epoch().await.unwrap(), Some(second));
}

/// Whatever became of them before.
pub async fn codes_and_tokens_end_with_their_epoch(store: Arc<dyn Storage>) {
    let unused = steps::sign_in(&*store).await;
    let first = steps::redeem(&*store).await;
    let newest = steps::rotate(&*store, &first).await;
    let revoked = steps::sign_in(&*store).await;
    store.revoke_grant(fixtures::revoke_grant(revoked.id)).await.unwrap();
    raise(&*store).await;
    for grant in [unused.id, first.grant, revoked.id] {
        assert_eq!(store.find_grant(grant).await.unwrap(), None);
        assert_eq!(store.redeem_code(fixtures::redeem_code(grant)).await.unwrap(), Redeemed::Unknown);
    }
    for token in [&first, &newest] {
        assert_eq!(store.find_access(token.id).await.unwrap(), None);
        assert_eq!(store.find_refresh(token.id).await.unwrap(), None);
        let rotated = store.rotate_refresh(fixtures::rotate_refresh(token)).await.unwrap();
        assert_eq!(rotated, Rotated::Unknown);
    }
    let token = steps::redeem(&*store).await;
    assert!(steps::is_live(&*store, &token).await, "of now");
}

/// Remembered sign-ins, requests that clients pushed, and devices that wait.
pub async fn sessions_and_requests_end_with_their_epoch(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let pushed = fixtures::pushed_request();
    store.push_request(pushed.clone()).await.unwrap();
    let device = fixtures::begin_device();
    store.begin_device(device.clone()).await.unwrap();
    raise(&*store).await;
    assert_eq!(store.find_session(session.id).await.unwrap(), None);
    let command = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::SessionEnded);
    let taken = store.take_pushed_request(fixtures::take_pushed_request(&pushed)).await.unwrap();
    assert_eq!(taken, None);
    assert_eq!(store.find_device(device.request.id).await.unwrap(), None);
    let by_user_code = store.find_device_by_user_code(device.request.user_code_hash).await.unwrap();
    assert_eq!(by_user_code, None);
}

/// The addresses stay, and so does it that they were confirmed.
pub async fn links_of_mails_end_with_their_epoch(store: Arc<dyn Storage>) {
    let (waits, confirmed) = (steps::sign_in(&*store).await.new_user, steps::sign_in(&*store).await.new_user);
    let links = [fixtures::email_confirmation(), fixtures::email_confirmation()];
    for (user, link) in [waits, confirmed].into_iter().zip(links) {
        let command = PutEmail { confirmation: Some(link), ..fixtures::put_email(user) };
        assert_eq!(store.put_email(command).await.unwrap(), EmailPut::Stored);
    }
    let follow = |user, link| {
        let command = ConfirmEmail { shared: SharedAddress::Agreed, ..fixtures::confirm_email(user, link) };
        store.confirm_email(command)
    };
    assert_eq!(follow(confirmed, links[1]).await.unwrap(), EmailConfirmed::Confirmed);
    raise(&*store).await;
    assert_eq!(follow(waits, links[0]).await.unwrap(), EmailConfirmed::LinkInvalid);
    let email = store.find_email(waits).await.unwrap().unwrap();
    assert_eq!((email.verified_at, email.confirmation), (None, None));
    assert!(store.find_email(confirmed).await.unwrap().unwrap().verified_at.is_some());
}

/// They are listed as before. What expired before keeps its time, and one that a server was carrying out is over, too.
pub async fn proposals_expire_with_their_epoch(store: Arc<dyn Storage>) {
    let proposal = fixtures::proposal();
    let old = Proposal { expires_at: NOW - Duration::HOUR, ..fixtures::proposal() };
    let taken = fixtures::proposal();
    for proposal in [&proposal, &old, &taken] {
        assert!(store.put_proposal(fixtures::put_proposal(proposal)).await.unwrap());
    }
    assert!(store.take_proposal(fixtures::take_proposal(&taken, fixtures::user_id())).await.unwrap());
    assert!(NOW < proposal.expires_at);
    raise(&*store).await;
    let is_taken =
        store.take_proposal(fixtures::take_proposal(&proposal, fixtures::user_id())).await.unwrap();
    assert!(!is_taken);
    let listed = store.list_proposals(ProposalPage { after: None, limit: 10 }).await.unwrap();
    let listed = listed.into_iter().filter_map(ProposalAt::readable);
    let ends: BTreeSet<_> = listed.map(|proposal| (proposal.id, proposal.expires_at)).collect();
    assert_eq!(ends, BTreeSet::from([(old.id, old.expires_at), (proposal.id, NOW), (taken.id, NOW)]));
}

/// Nobody holds a lease, and no replica was seen.
pub async fn what_one_replica_did_for_all_ends_with_its_epoch(store: Arc<dyn Storage>) {
    let lease = |holder| TakeLease { name: "sealing", holder, now: NOW, until: NOW + Duration::HOUR };
    assert!(store.take_lease(lease([1; 16])).await.unwrap());
    store.note_replica(fixtures::replica(), fixtures::past(NOW - Duration::DAY)).await.unwrap();
    raise(&*store).await;
    assert!(store.take_lease(lease([2; 16])).await.unwrap());
    assert_eq!(store.replicas(NOW - Duration::DAY).await.unwrap(), []);
}

/// Challenges and proofs that the backup knows of are not good again.
pub async fn what_was_spent_stays_spent(store: Arc<dyn Storage>) {
    let proof = fixtures::spend_proof();
    assert!(store.spend_proof(proof).await.unwrap());
    let login = steps::sign_in(&*store).await;
    let link = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
    assert!(matches!(store.link_wallet(link.clone()).await.unwrap(), WalletLinked::Linked { .. }));
    raise(&*store).await;
    let again = SpendProof { attempt: fixtures::spend_proof().attempt, ..proof };
    assert!(!store.spend_proof(again).await.unwrap());
    let other = LinkWallet { wallet: fixtures::wallet_account(), ..link };
    assert_eq!(store.link_wallet(other).await.unwrap(), WalletLinked::ChallengeSpent);
}

/// Users with their wallets and consents, clients, groups, blocks, admin keys, signing keys, and events.
pub async fn what_people_and_operators_decided_outlives_an_epoch(store: Arc<dyn Storage>) {
    let (login, _) = steps::remember(&*store).await;
    let user = login.new_user;
    let group = steps::group(&*store).await;
    steps::add(&*store, &group, &Subject::User(user)).await;
    let blocked = steps::sign_in(&*store).await;
    steps::block(&*store, fixtures::block_user(blocked.new_user)).await;
    let key = fixtures::admin_key();
    store.create_admin_key(CreateAdminKey { key: key.clone(), event: None }).await.unwrap();
    let event = fixtures::event();
    steps::record(&*store, &event).await;
    let wallets = store.wallets_of(user).await.unwrap();
    let client = store.find_client(login.client).await.unwrap();
    let consent = steps::consent(&*store, user, login.client).await;
    assert!(consent.is_some());
    raise(&*store).await;
    assert_eq!(store.wallets_of(user).await.unwrap(), wallets);
    assert_eq!(store.find_owner(login.account.clone()).await.unwrap(), Some(user));
    assert_eq!(store.find_client(login.client).await.unwrap(), client);
    assert_eq!(steps::consent(&*store, user, login.client).await, consent);
    assert_eq!(store.groups_of(user).await.unwrap(), [group]);
    assert!(store.block_of_user(blocked.new_user).await.unwrap().is_some());
    assert_eq!(store.list_admin_keys().await.unwrap(), [key]);
    assert_eq!(steps::events(&*store).await, [event]);
}

/// A client may have learned of them after the backup was made.
pub async fn a_user_of_an_earlier_epoch_is_known(store: Arc<dyn Storage>) {
    let earlier = steps::sign_in(&*store).await.new_user;
    raise(&*store).await;
    let late = NOW + Duration::weeks(52);
    store
        .forget_unused(ForgetUnused {
            before: fixtures::past(late),
            since: OffsetDateTime::UNIX_EPOCH,
            now: late,
            limit: 10,
        })
        .await
        .unwrap();
    assert!(store.find_account(earlier).await.unwrap().is_some());
}

/// Two restores at once are a mistake, but no two epochs are taken for one.
pub async fn of_epochs_that_are_raised_at_once_each_has_its_number(store: Arc<dyn Storage>) {
    let raised = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        async move { raise(&*store).await.number }
    }))
    .await;
    for number in 1..=TASKS {
        assert_eq!(count(&raised, &u64::try_from(number).unwrap()), 1, "{raised:?}");
    }
}

/// The newest one is found again.
pub async fn an_epoch_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    raise(&*store).await;
    let epoch = raise(&*store).await;
    drop(store);
    assert_eq!(open().await.epoch().await.unwrap(), Some(epoch));
}
