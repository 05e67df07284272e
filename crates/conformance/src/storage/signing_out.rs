//! Users sign out, which ends what was granted in the session.

use std::sync::Arc;

use countersign_domain::grant::RevocationReason;
use countersign_domain::id::GrantId;
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_ports::{
    CompleteLogin, EndSession, RevokeGrant, SessionClient, SessionContinued, SignOut, Storage,
};

use super::steps;
use crate::fixtures;

fn sign_out_of(session: &LoginSession) -> SignOut {
    SignOut {
        user: session.user,
        session: session.id,
        keeps: Scope::OfflineAccess,
        now: fixtures::NOW,
        event: None,
    }
}

/// A login for these scopes, with a session for the browser.
fn login_for(scopes: &[Scope]) -> CompleteLogin {
    CompleteLogin { scope: ScopeSet::of(scopes), ..fixtures::remembered_login() }
}

async fn is_revoked(store: &dyn Storage, id: GrantId) -> bool {
    store.find_grant(id).await.unwrap().unwrap().revoked
}

/// What the login granted and what the session continued to.
pub async fn whoever_signs_out_ends_what_was_granted_in_the_session(store: Arc<dyn Storage>) {
    let login = login_for(&[Scope::OpenId, Scope::Profile]);
    let session = steps::remember_by(&*store, &login).await;
    let mut request = fixtures::continue_session(&session, login.client);
    request.login.scope = ScopeSet::of(&[Scope::Profile]);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    let redemption = fixtures::redeem_code(request.login.id);
    store.redeem_code(redemption.clone()).await.unwrap();

    assert!(store.sign_out(sign_out_of(&session)).await.unwrap());
    assert_eq!(store.find_session(session.id).await.unwrap(), None);
    for id in [login.id, request.login.id] {
        assert!(is_revoked(&*store, id).await);
    }
    assert!(!steps::is_live(&*store, &redemption.token).await);
    assert!(!store.sign_out(sign_out_of(&session)).await.unwrap(), "it has already ended");
}

/// Whatever other scopes there are.
pub async fn access_while_the_person_is_away_outlives_the_session(store: Arc<dyn Storage>) {
    for scopes in [
        &[Scope::OfflineAccess][..],
        &[Scope::OfflineAccess, Scope::Wallets],
        &[Scope::OpenId, Scope::OfflineAccess],
        &Scope::ALL,
    ] {
        let login = login_for(scopes);
        let session = steps::remember_by(&*store, &login).await;
        assert!(store.sign_out(sign_out_of(&session)).await.unwrap());
        assert!(!is_revoked(&*store, login.id).await, "{scopes:?}");
    }
}

/// Grants of the same wallet without a session or in another one, other users' grants, and earlier
/// revocations.
pub async fn a_sign_out_touches_nothing_else(store: Arc<dyn Storage>) {
    let login = login_for(&[Scope::Profile]);
    let session = steps::remember_by(&*store, &login).await;
    let by_wallet = |login: &CompleteLogin| fixtures::complete_login_of(login.account.clone());
    let alone = CompleteLogin { scope: login.scope.clone(), ..by_wallet(&login) };
    let elsewhere = CompleteLogin {
        scope: login.scope.clone(),
        session: Some(fixtures::new_session()),
        ..by_wallet(&login)
    };
    let (stranger, dead) = (login_for(&[Scope::Profile]), login_for(&[Scope::Profile]));
    for other in [&alone, &elsewhere, &stranger, &dead] {
        steps::user_of(&*store, other).await;
    }
    let reason = RevocationReason::ClientRequest;
    store.revoke_grant(RevokeGrant { id: dead.id, reason, now: fixtures::NOW, event: None }).await.unwrap();
    let foreign = SignOut { user: stranger.new_user, ..sign_out_of(&session) };
    assert!(!store.sign_out(foreign).await.unwrap(), "another user's session");
    assert!(!is_revoked(&*store, login.id).await);

    assert!(store.sign_out(sign_out_of(&session)).await.unwrap());
    for other in [&alone, &elsewhere, &stranger] {
        assert!(!is_revoked(&*store, other.id).await);
    }
    for other in [&elsewhere, &stranger] {
        steps::session(&*store, other.session.as_ref().unwrap().id).await;
    }
}

/// Each client once per session, however often it was granted something. Revoked grants and grants without a
/// session do not count.
pub async fn the_clients_of_sessions_are_found(store: Arc<dyn Storage>) {
    let first = fixtures::remembered_login();
    let session = steps::remember_by(&*store, &first).await;
    let by_wallet = || fixtures::complete_login_of(first.account.clone());
    let other_client = CompleteLogin { session: Some(fixtures::new_session()), ..by_wallet() };
    let other = steps::remember_by(&*store, &other_client).await;
    steps::user_of(&*store, &by_wallet()).await;
    steps::remember(&*store).await;
    for client in [first.client, first.client, other_client.client] {
        let request = fixtures::continue_session(&session, client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    }
    let mut expected = vec![
        SessionClient { session: session.id, client: first.client },
        SessionClient { session: session.id, client: other_client.client },
        SessionClient { session: other.id, client: other_client.client },
    ];
    expected.sort_unstable();
    assert_eq!(store.clients_of_sessions(session.user).await.unwrap(), expected);

    let reason = RevocationReason::ClientRequest;
    store
        .revoke_grant(RevokeGrant { id: other_client.id, reason, now: fixtures::NOW, event: None })
        .await
        .unwrap();
    expected.retain(|client| client.session == session.id);
    assert_eq!(store.clients_of_sessions(session.user).await.unwrap(), expected);
    assert!(store.end_session(EndSession { user: session.user, id: session.id, event: None }).await.unwrap());
    assert_eq!(store.clients_of_sessions(session.user).await.unwrap(), []);
    assert_eq!(store.clients_of_sessions(fixtures::user_id()).await.unwrap(), []);
}
