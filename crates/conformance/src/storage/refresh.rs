//! Refreshing a family of tokens, which never branches.

use std::sync::Arc;

use countersign_domain::refresh::NewestToken;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::token::Token;
use countersign_ports::{RotateRefresh, Rotated, Storage};
use time::Duration;

use super::steps;
use crate::fixtures;

/// After the redemption there is one token, and it is the newest.
pub async fn a_first_token_is_its_familys_newest(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let snapshot = store.find_refresh(first.id).await.unwrap().unwrap();
    assert_eq!(snapshot.newest, NewestToken { id: first.id, parent: None, issued_at: first.issued_at });
    assert!(snapshot.grant.redeemed);
}

/// The new token is found as it was written, whatever its scope and times, and is the newest of the family.
pub async fn a_rotated_token_is_the_familys_newest(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let command = fixtures::rotate_refresh(&first);
    let issued_at = fixtures::NOW + Duration::minutes(50);
    let token = Token { scope: ScopeSet::of(&[Scope::Profile]), issued_at, ..command.token };
    let command = RotateRefresh { token: token.clone(), ..command };
    assert_eq!(store.rotate_refresh(command).await.unwrap(), Rotated::Stored);
    let newest = NewestToken { id: token.id, parent: Some(first.id), issued_at };
    let snapshot = store.find_refresh(token.id).await.unwrap().unwrap();
    assert_eq!(snapshot.token, token);
    assert_eq!(snapshot.newest, newest);
    let access = steps::access(&*store, &token).await;
    assert_eq!(access, steps::meaning(&token, access.client, access.holder.clone()));

    let third = steps::rotate(&*store, &token).await;
    assert_eq!(steps::newest(&*store, &token).await, third.id, "a family may be refreshed again and again");
}

/// The old token can still be read, together with the family's newest, so that its reuse is recognized.
pub async fn a_rotated_token_stays_to_be_recognized(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    let snapshot = store.find_refresh(first.id).await.unwrap().unwrap();
    assert_eq!(snapshot.token, first);
    assert_eq!(
        snapshot.newest,
        NewestToken { id: second.id, parent: Some(first.id), issued_at: second.issued_at }
    );
}

/// Access tokens from before stay valid until they expire.
pub async fn a_rotation_leaves_older_access_tokens_alive(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    let third = steps::rotate(&*store, &second).await;
    for token in [&first, &second, &third] {
        assert!(steps::is_live(&*store, token).await);
    }
}

/// The guard: another token is the family's newest by now.
pub async fn a_076_a_token_that_was_rotated_before_is_reused(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    let third = steps::rotate(&*store, &second).await;
    for old in [&first, &second] {
        let command = fixtures::rotate_refresh(old);
        assert_eq!(store.rotate_refresh(command).await.unwrap(), Rotated::Reused);
    }
    let never_was = Token { id: fixtures::token_id(), ..third.clone() };
    let command = fixtures::rotate_refresh(&never_was);
    assert_eq!(store.rotate_refresh(command).await.unwrap(), Rotated::Reused);
}

/// The refused token is not stored. Whether to revoke the family is the caller's decision.
pub async fn a_reused_token_changes_nothing(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    let reused = fixtures::rotate_refresh(&first);
    assert_eq!(store.rotate_refresh(reused.clone()).await.unwrap(), Rotated::Reused);
    assert_eq!(store.find_access(reused.token.id).await.unwrap(), None);
    assert_eq!(store.find_refresh(reused.token.id).await.unwrap(), None);
    assert_eq!(steps::newest(&*store, &first).await, second.id);
    for token in [&first, &second] {
        assert!(steps::is_live(&*store, token).await);
    }
}

/// Rule 3: the same token id is the same command.
pub async fn a_rotation_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let command = fixtures::rotate_refresh(&first);
    for _ in 0..3 {
        assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Stored);
    }
    assert_eq!(steps::newest(&*store, &first).await, command.token.id);
    assert!(steps::is_live(&*store, &first).await);

    let again = fixtures::rotate_again(&first, &command.token);
    for _ in 0..3 {
        assert_eq!(store.rotate_refresh(again.clone()).await.unwrap(), Rotated::Stored);
    }
    assert_eq!(steps::newest(&*store, &first).await, again.token.id);
}

/// Rule 3 holds whatever happened between the lost answer and the repetition, and what happened stays.
pub async fn a_rotation_that_is_repeated_later_gives_the_same_answer(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let command = fixtures::rotate_refresh(&first);
    store.rotate_refresh(command.clone()).await.unwrap();
    let third = steps::rotate(&*store, &command.token).await;
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Stored);
    assert_eq!(steps::newest(&*store, &first).await, third.id);
    store.revoke_grant(fixtures::revoke_grant(first.grant)).await.unwrap();
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Stored);
    assert!(!steps::is_live(&*store, &command.token).await);
}

/// Within the grace period, the caller names the unused successor as the newest. The successor's access token
/// is revoked with it, and the presented token's stays valid: there is one live branch.
pub async fn a_rotation_in_the_grace_replaces_the_unused_successor(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let lost = steps::rotate(&*store, &first).await;
    let command = fixtures::rotate_again(&first, &lost);
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Stored);
    let newest = command.token;
    let snapshot = store.find_refresh(first.id).await.unwrap().unwrap();
    assert_eq!(
        snapshot.newest,
        NewestToken { id: newest.id, parent: Some(first.id), issued_at: newest.issued_at }
    );
    let replaced = steps::access(&*store, &lost).await;
    assert!(replaced.token_revoked && !replaced.grant_revoked);
    assert!(steps::is_live(&*store, &first).await);
    assert!(steps::is_live(&*store, &newest).await);
}

/// The replaced successor cannot be used, and a late copy of the first rotation cannot either.
pub async fn a_replaced_successor_is_no_longer_the_newest(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let lost = steps::rotate(&*store, &first).await;
    let again = fixtures::rotate_again(&first, &lost);
    let rival = fixtures::rotate_again(&first, &lost);
    assert_eq!(store.rotate_refresh(again.clone()).await.unwrap(), Rotated::Stored);
    for refused in [rival, fixtures::rotate_refresh(&lost), fixtures::rotate_refresh(&first)] {
        assert_eq!(store.rotate_refresh(refused).await.unwrap(), Rotated::Reused);
    }
    assert_eq!(steps::newest(&*store, &lost).await, again.token.id);
    steps::rotate(&*store, &again.token).await;
}

/// A revoked family gets no tokens.
pub async fn a_rotation_in_a_revoked_family_is_refused(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    store.revoke_grant(fixtures::revoke_grant(first.grant)).await.unwrap();
    let command = fixtures::rotate_refresh(&first);
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Revoked);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
    assert_eq!(steps::newest(&*store, &first).await, first.id);
}

/// A grant without tokens has no newest one.
pub async fn a_rotation_before_the_code_was_redeemed_is_refused(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::rotate_refresh(&fixtures::token(login.id));
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Reused);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
}

/// Without a grant there is no token.
pub async fn a_rotation_without_a_grant_is_unknown(store: Arc<dyn Storage>) {
    let command = fixtures::rotate_refresh(&fixtures::token(fixtures::grant_id()));
    assert_eq!(store.rotate_refresh(command.clone()).await.unwrap(), Rotated::Unknown);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
}
