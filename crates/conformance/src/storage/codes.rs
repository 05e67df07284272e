//! A code is redeemed once.

use std::sync::Arc;

use countersign_domain::grant::Holder;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::token::{RefreshToken, Token};
use countersign_ports::{RedeemCode, Redeemed, Storage};
use time::Duration;

use super::steps;
use crate::fixtures;

/// The first redemption is stored; a second one with another token is a replay.
pub async fn a_code_is_redeemed_once(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let [first, second] = [(); 2].map(|()| fixtures::redeem_code(login.id));
    assert_eq!(store.redeem_code(first).await.unwrap(), Redeemed::Stored);
    assert_eq!(store.redeem_code(second).await.unwrap(), Redeemed::Replayed);
}

/// The grant says that it was redeemed; nothing else about it changes.
pub async fn a_redeemed_grant_knows_it(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let mut grant = store.find_grant(login.id).await.unwrap().unwrap();
    store.redeem_code(fixtures::redeem_code(login.id)).await.unwrap();
    grant.redeemed = true;
    assert_eq!(store.find_grant(login.id).await.unwrap(), Some(grant));
}

/// The second token is not stored; the first one is active and the newest of the family.
pub async fn a_replayed_code_changes_nothing(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = fixtures::redeem_code(first.grant);
    assert_eq!(store.redeem_code(second.clone()).await.unwrap(), Redeemed::Replayed);
    assert_eq!(store.find_access(second.token.id).await.unwrap(), None);
    assert_eq!(store.find_refresh(second.token.id).await.unwrap(), None);
    assert!(steps::is_live(&*store, &first).await);
    assert_eq!(steps::newest(&*store, &first).await, first.id);
}

/// Rule 3: the same token id is the same command.
pub async fn a_redemption_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::redeem_code(login.id);
    for _ in 0..3 {
        assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    }
    assert_eq!(steps::stored(&*store, &command.token).await, command.token);
    assert!(steps::is_live(&*store, &command.token).await);
}

/// Rule 3 holds whatever happened between the lost answer and the repetition, and what happened stays.
pub async fn a_redemption_that_is_repeated_later_gives_the_same_answer(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::redeem_code(login.id);
    store.redeem_code(command.clone()).await.unwrap();
    let newest = steps::rotate(&*store, &command.token).await;
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    assert_eq!(steps::newest(&*store, &newest).await, newest.id);
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    assert!(!steps::is_live(&*store, &command.token).await);
}

/// If it was revoked before it was redeemed, for example after a wrong PKCE verifier, the code is burned.
pub async fn the_code_of_a_revoked_grant_is_not_redeemed(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    let command = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Revoked);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
    let grant = store.find_grant(login.id).await.unwrap().unwrap();
    assert!(grant.revoked && !grant.redeemed);
}

/// Both refusals are true then; either may be returned.
pub async fn a_code_that_was_redeemed_and_revoked_is_not_redeemed(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    store.revoke_grant(fixtures::revoke_grant(first.grant)).await.unwrap();
    let command = fixtures::redeem_code(first.grant);
    let outcome = store.redeem_code(command.clone()).await.unwrap();
    assert!(matches!(outcome, Redeemed::Replayed | Redeemed::Revoked), "{outcome:?}");
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
}

/// Without a grant there is no token.
pub async fn the_code_of_no_grant_is_unknown(store: Arc<dyn Storage>) {
    let command = fixtures::redeem_code(fixtures::grant_id());
    assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Unknown);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
}

/// One read returns what an access token means, as it was written.
pub async fn a_token_is_found_as_it_was_stored(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::redeem_code(login.id);
    store.redeem_code(command.clone()).await.unwrap();
    let holder = Holder::Person { user: login.new_user, account: login.account };
    let expected = steps::meaning(&command.token, login.client, holder);
    assert_eq!(store.find_access(command.token.id).await.unwrap(), Some(expected));
    let snapshot = store.find_refresh(command.token.id).await.unwrap().unwrap();
    assert_eq!(snapshot.token, command.token);
    assert_eq!(Some(snapshot.grant), store.find_grant(login.id).await.unwrap());
}

/// A token without a refresh token, and one whose times and scope differ from the grant's.
pub async fn a_token_without_refresh_survives(store: Arc<dyn Storage>) {
    let narrow = ScopeSet::of(&[Scope::Email]);
    let expires_at = fixtures::NOW + Duration::days(40_000);
    let refreshes = [None, Some(RefreshToken { hash: fixtures::secret_hash(), expires_at })];
    for refresh in refreshes {
        let login = steps::sign_in(&*store).await;
        let issued_at = fixtures::NOW + Duration::seconds(7);
        let token = Token { scope: narrow.clone(), issued_at, refresh, ..fixtures::token(login.id) };
        let command = RedeemCode { token: token.clone(), ..fixtures::redeem_code(login.id) };
        assert_eq!(store.redeem_code(command).await.unwrap(), Redeemed::Stored);
        assert_eq!(steps::stored(&*store, &token).await, token);
        assert_eq!(steps::access(&*store, &token).await.scope, narrow);
    }
}

/// No token is found under an unknown id.
pub async fn an_unknown_token_is_not_found(store: Arc<dyn Storage>) {
    steps::redeem(&*store).await;
    assert_eq!(store.find_access(fixtures::token_id()).await.unwrap(), None);
    assert_eq!(store.find_refresh(fixtures::token_id()).await.unwrap(), None);
}
