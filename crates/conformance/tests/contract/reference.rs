//! What the reference store, the fixtures and the fakes promise by themselves.

use countersign_conformance::fakes::{ManualClock, SeededEntropy, TestWallet};
use countersign_conformance::fixtures::{self, grant_id, user_id};
use countersign_conformance::memory::{MemoryStorage, Revocation};
use countersign_domain::grant::RevocationReason;
use countersign_domain::subject::Subject;
use countersign_ports::{
    AccountStore, BlockStore, Clock, CompleteLogin, EndAccess, EntropyExt, LoginStore, RevokeConsent,
    RevokeGrant, TokenStore, WalletStore,
};
use time::Duration;

#[tokio::test]
async fn an_unlinked_wallet_is_why_its_grants_are_revoked() {
    let store = MemoryStorage::default();
    let login = fixtures::complete_login();
    let other = fixtures::wallet_account();
    store.complete_login(login.clone()).await.unwrap();
    store.link_wallet(fixtures::link_wallet(&login.account, &other)).await.unwrap();
    let unlink = fixtures::unlink_wallet(&other, &login.account);
    let at = unlink.now;
    store.unlink_wallet(unlink).await.unwrap();
    let reason = RevocationReason::WalletUnlinked;
    assert_eq!(store.revocation(login.id), Some(Revocation { at, reason }));
}

#[tokio::test]
async fn whoever_ends_access_says_why_its_grants_are_revoked() {
    let store = MemoryStorage::default();
    let [first, second] = [(); 2].map(|()| fixtures::complete_login());
    for (login, reason) in [(first, RevocationReason::Blocked), (second, RevocationReason::Operator)] {
        store.complete_login(login.clone()).await.unwrap();
        let now = login.now + Duration::hours(1);
        store
            .end_access(EndAccess {
                who: Subject::User(login.new_user),
                reason,
                keeps: None,
                now,
                event: None,
            })
            .await
            .unwrap();
        assert_eq!(store.revocation(login.id), Some(Revocation { at: now, reason }));
    }
}

#[tokio::test]
async fn a_revoked_consent_is_why_its_grants_are_revoked() {
    let store = MemoryStorage::default();
    let [dead, alive] = [(); 2].map(|()| fixtures::complete_login());
    let alive = CompleteLogin { account: dead.account.clone(), client: dead.client, ..alive };
    for login in [&dead, &alive] {
        store.complete_login(login.clone()).await.unwrap();
    }
    let first = fixtures::revoke_grant(dead.id);
    store.revoke_grant(first.clone()).await.unwrap();
    let revoke = fixtures::revoke_consent(dead.new_user, dead.client);
    let at = revoke.now + Duration::hours(1);
    assert!(store.revoke_consent(RevokeConsent { now: at, ..revoke }).await.unwrap());
    assert_eq!(store.revocation(dead.id), Some(Revocation { at: first.now, reason: first.reason }));
    let reason = RevocationReason::ConsentRevoked;
    assert_eq!(store.revocation(alive.id), Some(Revocation { at, reason }));
}

#[tokio::test]
async fn when_and_why_a_grant_was_revoked_stays_as_it_was_first() {
    let store = MemoryStorage::default();
    let login = fixtures::complete_login();
    let first = fixtures::revoke_grant(login.id);
    let later = RevokeGrant {
        reason: RevocationReason::RefreshReused,
        now: first.now + Duration::hours(1),
        ..first.clone()
    };
    store.complete_login(login).await.unwrap();
    store.revoke_grant(first.clone()).await.unwrap();
    store.revoke_grant(later).await.unwrap();
    assert_eq!(store.revocation(first.id), Some(Revocation { at: first.now, reason: first.reason }));
}

#[test]
fn seeded_entropy_repeats_itself_from_run_to_run_but_not_within_one() {
    let [one, same, other] = [1, 1, 2].map(SeededEntropy::new);
    let first: [u8; 40] = one.bytes();
    assert_eq!(same.bytes(), first);
    assert_ne!(one.bytes(), first);
    assert_ne!(other.bytes(), first);
}

#[test]
fn the_clock_moves_when_it_is_told_to() {
    let clock = ManualClock::default();
    clock.advance(Duration::seconds(90));
    assert_eq!(clock.now(), fixtures::NOW + Duration::seconds(90));
}

#[test]
fn an_address_is_the_one_of_its_key() {
    // The key 0x…01, whose address appears in the tests of every Ethereum library.
    let wallet = TestWallet::from_key(&format!("{:0>64}", 1));
    assert_eq!(wallet.address(), "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
}

#[test]
fn ids_differ_from_call_to_call_and_later_ones_sort_later() {
    let ids: Vec<_> = (0..1_000).map(|_| grant_id()).collect();
    assert!(ids.is_sorted_by(|earlier, later| earlier < later));
}

#[test]
fn users_have_names_of_their_own() {
    let name = || user_id().as_public().preferred_username();
    assert_ne!(name(), name());
}
