//! Two processes work on one database: here, two stores that were opened on it.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::signing_key::SealedKey;
use countersign_ports::{
    AddSigningKey, CompleteLogin, KeyAdded, LoginCompleted, Redeemed, RegisterClient, Revoked, Rotated,
    Storage, WalletLinked, WalletUnlinked,
};

use super::races::{at_once, count};
use super::steps;
use crate::fixtures;

const TASKS: usize = 32;

/// Both sides, taken in turns.
async fn replicas(open: impl AsyncFn() -> Arc<dyn Storage>) -> [Arc<dyn Storage>; 2] {
    [open().await, open().await]
}

fn in_turns(replicas: &[Arc<dyn Storage>; 2]) -> impl Iterator<Item = Arc<dyn Storage>> {
    (0..TASKS).map(|place| Arc::clone(&replicas[place % 2]))
}

/// From the answer on, no replica uses the old values, even if it read them just before.
pub async fn an_update_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let client = fixtures::client();
    let changed = Client { id: client.id, ..fixtures::public_client() };
    here.register_client(RegisterClient { client: client.clone() }).await.unwrap();
    assert_eq!(there.find_client(client.id).await.unwrap(), Some(client));
    assert!(here.update_client(changed.clone()).await.unwrap());
    assert_eq!(there.find_client(changed.id).await.unwrap(), Some(changed));
}

/// From the answer on, the client and its tokens are gone everywhere.
pub async fn a_deletion_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let client = fixtures::client();
    here.register_client(RegisterClient { client: client.clone() }).await.unwrap();
    let login = CompleteLogin { client: client.id, ..fixtures::complete_login() };
    steps::user_of(&*here, &login).await;
    let redemption = fixtures::redeem_code(login.id);
    here.redeem_code(redemption.clone()).await.unwrap();
    assert!(there.find_client(client.id).await.unwrap().is_some());
    assert!(steps::is_live(&*there, &redemption.token).await);
    assert!(here.delete_client(client.id).await.unwrap());
    assert_eq!(there.find_client(client.id).await.unwrap(), None);
    assert_eq!(there.find_access(redemption.token.id).await.unwrap(), None);
}

/// A revocation takes effect on the next request on every replica.
pub async fn a_088_a_revocation_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for _ in 0..TASKS {
        let [one, all] = [steps::redeem(&*here).await, steps::redeem(&*there).await];
        for token in [&one, &all] {
            assert!(steps::is_live(&*there, token).await);
        }
        assert_eq!(here.revoke_token(fixtures::revoke_token(one.id)).await.unwrap(), Revoked::Revoked);
        assert_eq!(here.revoke_grant(fixtures::revoke_grant(all.grant)).await.unwrap(), Revoked::Revoked);
        for token in [&one, &all] {
            assert!(!steps::is_live(&*there, token).await);
        }
    }
}

/// Each step may happen on another replica than the one before.
pub async fn a_sign_in_may_wander_between_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let login = steps::sign_in(&*here).await;
    let again = fixtures::complete_login_of(login.account.clone());
    assert_eq!(steps::user_of(&*there, &again).await, login.new_user);
    let redemption = fixtures::redeem_code(login.id);
    assert_eq!(there.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Stored);
    let replay = fixtures::redeem_code(login.id);
    assert_eq!(here.redeem_code(replay).await.unwrap(), Redeemed::Replayed);
    let second = steps::rotate(&*here, &redemption.token).await;
    steps::rotate(&*there, &second).await;
    let reuse = fixtures::rotate_refresh(&second);
    assert_eq!(here.rotate_refresh(reuse).await.unwrap(), Rotated::Reused);
}

/// Exactly one of many, wherever they come.
pub async fn d_05_one_code_is_redeemed_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let login = steps::sign_in(&*replicas[0]).await;
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let command = fixtures::redeem_code(login.id);
        async move { store.redeem_code(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Redeemed::Stored), 1);
    assert_eq!(count(&outcomes, &Redeemed::Replayed), TASKS - 1);
}

/// Exactly one of many, wherever they come.
pub async fn d_06_one_refresh_token_is_rotated_once_on_two_replicas(
    open: impl AsyncFn() -> Arc<dyn Storage>,
) {
    let replicas = replicas(open).await;
    let first = steps::redeem(&*replicas[0]).await;
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let command = fixtures::rotate_refresh(&first);
        async move { store.rotate_refresh(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &Rotated::Stored), 1);
    assert_eq!(count(&outcomes, &Rotated::Reused), TASKS - 1);
}

/// Exactly one of many, wherever they come.
pub async fn d_08_one_challenge_gives_one_code_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let id = fixtures::grant_id();
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let login = CompleteLogin { id, ..fixtures::complete_login() };
        async move { store.complete_login(login).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &LoginCompleted::ChallengeSpent), TASKS - 1);
}

/// Whoever is slower reads the other one's key.
pub async fn two_replicas_agree_on_one_signing_key(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let algorithm = fixtures::add_signing_key().key.algorithm;
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let key = SealedKey { algorithm: algorithm.clone(), ..fixtures::add_signing_key().key };
        async move { store.add_signing_key(AddSigningKey { key }).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &KeyAdded::Stored), 1);
    let [here, there] = &replicas;
    assert_eq!(here.signing_keys().await.unwrap(), there.signing_keys().await.unwrap());
}

/// From the answer on, the wallet is nobody's and its tokens are dead everywhere.
pub async fn an_unlink_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for _ in 0..8 {
        let (user, [first, second]) = steps::user_with_two_wallets(&*here).await;
        let token = steps::redeem_by(&*there, &second).await;
        assert!(steps::is_live(&*there, &token).await);
        assert_eq!(steps::unlink(&*here, &first, &second).await, user);
        assert!(!steps::is_live(&*there, &token).await);
        assert_eq!(steps::accounts_of(&*there, user).await, [first]);
        let back = fixtures::complete_login_of(second);
        assert_eq!(steps::user_of(&*there, &back).await, back.new_user);
    }
}

/// Exactly one of many, wherever they come.
pub async fn one_wallet_is_linked_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let wallet = fixtures::wallet_account();
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let wallet = wallet.clone();
        async move {
            let login = steps::sign_in(&*store).await;
            store.link_wallet(fixtures::link_wallet(&login.account, &wallet)).await.unwrap()
        }
    }))
    .await;
    assert_eq!(count(&outcomes, &WalletLinked::BelongsToAnother), TASKS - 1);
}

/// Each side unlinks another wallet, and neither the last one.
pub async fn two_replicas_leave_a_user_one_wallet(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    for _ in 0..8 {
        let (user, wallets) = steps::user_with_two_wallets(&*replicas[0]).await;
        let outcomes = at_once(replicas.iter().zip(wallets).map(|(store, wallet)| {
            let (store, command) = (Arc::clone(store), fixtures::unlink_wallet(&wallet, &wallet));
            async move { store.unlink_wallet(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &WalletUnlinked::Unlinked { user }), 1);
        assert_eq!(count(&outcomes, &WalletUnlinked::LastWallet), 1);
    }
}
