//! Tokens and families are revoked.

use std::sync::Arc;

use countersign_domain::grant::RevocationReason;
use countersign_ports::{Redeemed, RevokeGrant, RevokeToken, Revoked, Rotated, Storage};
use time::Duration;

use super::steps;
use crate::fixtures;

/// One access token is revoked; the others stay valid, and the refresh token still works.
pub async fn a_revoked_access_token_is_dead_and_its_family_goes_on(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    assert_eq!(store.revoke_token(fixtures::revoke_token(&second)).await.unwrap(), Revoked::Revoked);
    let snapshot = steps::access(&*store, &second).await;
    assert!(snapshot.token_revoked && !snapshot.grant_revoked);
    assert_eq!(steps::stored(&*store, &second).await, second);
    assert!(steps::is_live(&*store, &first).await);
    let third = steps::rotate(&*store, &second).await;
    assert!(steps::is_live(&*store, &third).await);
}

/// Idempotent: what is revoked stays revoked, even a token that a rotation replaced.
pub async fn a_token_that_was_revoked_before_says_so(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let command = fixtures::revoke_token(&first);
    assert_eq!(store.revoke_token(command.clone()).await.unwrap(), Revoked::Revoked);
    for _ in 0..2 {
        assert_eq!(store.revoke_token(command.clone()).await.unwrap(), Revoked::AlreadyRevoked);
    }
    assert!(!steps::is_live(&*store, &first).await);

    let lost = steps::rotate(&*store, &first).await;
    assert_eq!(store.rotate_refresh(fixtures::rotate_again(&first, &lost)).await.unwrap(), Rotated::Stored);
    assert_eq!(store.revoke_token(fixtures::revoke_token(&lost)).await.unwrap(), Revoked::AlreadyRevoked);
}

/// Nothing to revoke is an answer, not an error.
pub async fn revoking_an_unknown_token_says_so(store: Arc<dyn Storage>) {
    let token = steps::redeem(&*store).await;
    let command = RevokeToken { id: fixtures::token_id(), ..fixtures::revoke_token(&token) };
    assert_eq!(store.revoke_token(command).await.unwrap(), Revoked::Unknown);
}

/// A caller that knows only the id of a token, not the token, revokes nothing.
pub async fn another_token_with_the_id_of_one_revokes_nothing(store: Arc<dyn Storage>) {
    let [token, dead] = [steps::redeem(&*store).await, steps::redeem(&*store).await];
    store.revoke_token(fixtures::revoke_token(&dead)).await.unwrap();
    for token in [&token, &dead] {
        let command = RevokeToken { access_hash: fixtures::secret_hash(), ..fixtures::revoke_token(token) };
        assert_eq!(store.revoke_token(command).await.unwrap(), Revoked::Unknown);
    }
    assert!(steps::is_live(&*store, &token).await);
}

/// Every access token of the family is revoked, and no refresh token works.
pub async fn a_revoked_grant_takes_all_its_tokens_along(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    let outcome = store.revoke_grant(fixtures::revoke_grant(first.grant)).await.unwrap();
    assert_eq!(outcome, Revoked::Revoked);
    for token in [&first, &second] {
        let snapshot = steps::access(&*store, token).await;
        assert!(snapshot.grant_revoked && !snapshot.is_live(fixtures::NOW));
        assert!(store.find_refresh(token.id).await.unwrap().unwrap().grant.revoked);
    }
    let rotation = fixtures::rotate_refresh(&second);
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Revoked);
    assert!(store.find_grant(first.grant).await.unwrap().unwrap().revoked);
}

/// Revoking a grant also revokes its code.
pub async fn a_grant_is_revoked_before_its_code_is_redeemed(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    assert_eq!(store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap(), Revoked::Revoked);
    let redemption = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Revoked);
}

/// Idempotent, even with another reason at another time.
pub async fn a_grant_that_was_revoked_before_says_so(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let command = fixtures::revoke_grant(first.grant);
    assert_eq!(store.revoke_grant(command.clone()).await.unwrap(), Revoked::Revoked);
    let later = RevokeGrant {
        reason: RevocationReason::CodeReplayed,
        now: fixtures::NOW + Duration::hours(1),
        ..command.clone()
    };
    for repeated in [command, later] {
        assert_eq!(store.revoke_grant(repeated).await.unwrap(), Revoked::AlreadyRevoked);
    }
    assert!(!steps::is_live(&*store, &first).await);
}

/// The reason is for the operator; the effect is the same.
pub async fn every_reason_revokes(store: Arc<dyn Storage>) {
    let reasons = [
        RevocationReason::ClientRequest,
        RevocationReason::CodeReplayed,
        RevocationReason::VerifierMismatch,
        RevocationReason::RefreshReused,
        RevocationReason::WalletUnlinked,
        RevocationReason::ConsentRevoked,
        RevocationReason::AccountDeleted,
        RevocationReason::OtherUser,
        RevocationReason::SignedOut,
        RevocationReason::Blocked,
        RevocationReason::Operator,
    ];
    for reason in reasons {
        let first = steps::redeem(&*store).await;
        let command = RevokeGrant { reason, ..fixtures::revoke_grant(first.grant) };
        assert_eq!(store.revoke_grant(command).await.unwrap(), Revoked::Revoked);
        assert!(!steps::is_live(&*store, &first).await);
    }
}

/// Nothing to revoke is an answer, not an error.
pub async fn revoking_an_unknown_grant_says_so(store: Arc<dyn Storage>) {
    let command = fixtures::revoke_grant(fixtures::grant_id());
    assert_eq!(store.revoke_grant(command).await.unwrap(), Revoked::Unknown);
}

/// No other grant is affected, whether of the same wallet or of another.
pub async fn a_revocation_touches_no_other_family(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let same_wallet = fixtures::complete_login_of(login.account);
    steps::user_of(&*store, &same_wallet).await;
    let [dead, alive] = [login.id, same_wallet.id].map(fixtures::redeem_code);
    for command in [&dead, &alive] {
        assert_eq!(store.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
    }
    store.revoke_token(fixtures::revoke_token(&dead.token)).await.unwrap();
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    assert!(!steps::is_live(&*store, &dead.token).await);
    assert!(steps::is_live(&*store, &alive.token).await);
    steps::rotate(&*store, &alive.token).await;
}
