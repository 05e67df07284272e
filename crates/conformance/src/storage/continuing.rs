//! A session continues without a signature, because its user agreed before.

use std::sync::Arc;

use countersign_domain::consent::Consent;
use countersign_domain::grant::{Grant, Holder};
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    CompleteLogin, ContinueSession, EndSession, LoginCompleted, Redeemed, SessionContinued, Storage,
};
use time::Duration;

use super::steps;
use crate::fixtures;

/// The grant that this command must have made.
fn grant_of(command: &ContinueSession) -> Grant {
    let login = command.login.clone();
    Grant {
        id: login.id,
        client: login.client,
        holder: Holder::Person { user: login.new_user, account: login.account },
        redirect_uri: login.redirect_uri,
        scope: login.scope,
        nonce: login.nonce,
        code_challenge: login.code_challenge,
        particulars: login.particulars,
        session: Some(command.session),
        code_hash: login.code_hash,
        authenticated_at: command.authenticated_at,
        code_expires_at: login.code_expires_at,
        redeemed: false,
        revoked: false,
    }
}

/// A request for these scopes.
fn asking_for(scope: ScopeSet, command: ContinueSession) -> ContinueSession {
    ContinueSession { login: CompleteLogin { scope, ..command.login }, ..command }
}

/// The grant has the time of the signature, not of the session's use. Session and consent record the use.
pub async fn a_session_continues_where_its_user_agreed(store: Arc<dyn Storage>) {
    let account = WalletAccount { chain: "eip155:137".to_owned(), ..fixtures::wallet_account() };
    let login = fixtures::remembered_login_of(account);
    let session = steps::remember_by(&*store, &login).await;
    let mut command = fixtures::continue_session(&session, login.client);
    command.login.now += Duration::minutes(20);
    command.login.nonce = None;
    assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
    assert_eq!(store.find_grant(command.login.id).await.unwrap(), Some(grant_of(&command)));
    let used = LoginSession { last_used_at: command.login.now, ..session.clone() };
    assert_eq!(steps::session(&*store, session.id).await, used);
    let consent = Consent {
        client: login.client,
        terms: login.terms.clone(),
        scope: login.scope,
        granted_at: login.now,
        last_used_at: command.login.now,
    };
    assert_eq!(steps::consent(&*store, login.new_user, login.client).await, Some(consent));

    let redemption = fixtures::redeem_code(command.login.id);
    assert_eq!(store.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Stored);
    let access = steps::access(&*store, &redemption.token).await;
    assert_eq!(steps::person(&access.holder), (login.new_user, &login.account));
    assert_eq!(access.client, login.client);
    let grant = store.find_grant(command.login.id).await.unwrap().unwrap();
    assert_eq!(grant.authenticated_at, login.now);
    steps::rotate(&*store, &redemption.token).await;
}

/// As often as asked, wherever the user agreed, with whichever wallet.
pub async fn a_session_continues_many_times_at_many_clients(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let mut clients = Vec::new();
    for account in [first.clone(), second, first.clone()] {
        let login = fixtures::complete_login_of(account);
        steps::user_of(&*store, &login).await;
        clients.push(login.client);
    }
    let opening = fixtures::open_session_of(first);
    assert_eq!(steps::open(&*store, &opening).await, user);
    let session = steps::session(&*store, opening.session.id).await;
    for client in clients.iter().cycle().take(7) {
        let command = fixtures::continue_session(&session, *client);
        assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
        assert_eq!(store.find_grant(command.login.id).await.unwrap(), Some(grant_of(&command)));
    }
}

/// All scopes, some or none; a smaller request takes nothing from the consent.
pub async fn a_consent_covers_what_was_signed_for_and_no_more(store: Arc<dyn Storage>) {
    for agreed in [
        ScopeSet::of(&[]),
        ScopeSet::of(&[Scope::Profile, Scope::Wallets]),
        ScopeSet::of(&[Scope::OpenId, Scope::Email, Scope::OfflineAccess]),
        fixtures::all_scopes(),
    ] {
        let login = CompleteLogin { scope: agreed.clone(), ..fixtures::remembered_login() };
        let session = steps::remember_by(&*store, &login).await;
        for scope in (0..32).filter_map(ScopeSet::from_bits) {
            let command = asking_for(scope.clone(), fixtures::continue_session(&session, login.client));
            let expected = if scope.is_subset_of(&agreed) {
                SessionContinued::CodeIssued
            } else {
                SessionContinued::ConsentMissing
            };
            assert_eq!(steps::proceed(&*store, &command).await, expected, "{scope} of {agreed}");
            let grant = store.find_grant(command.login.id).await.unwrap();
            assert_eq!(grant.is_some(), expected == SessionContinued::CodeIssued);
        }
        let consent = steps::consent(&*store, login.new_user, login.client).await.unwrap();
        assert_eq!(consent.scope, agreed);
    }
}

/// Scopes that were signed for at different times count together.
pub async fn scopes_of_several_signatures_count_together(store: Arc<dyn Storage>) {
    let [profile, email] = [Scope::Profile, Scope::Email].map(|scope| ScopeSet::of(&[scope]));
    let login = CompleteLogin { scope: profile.clone(), ..fixtures::remembered_login() };
    let session = steps::remember_by(&*store, &login).await;
    let both = asking_for(profile.union(&email), fixtures::continue_session(&session, login.client));
    assert_eq!(steps::proceed(&*store, &both).await, SessionContinued::ConsentMissing);
    let client = login.client;
    let step_up = CompleteLogin { client, scope: email, ..fixtures::complete_login_of(login.account) };
    steps::user_of(&*store, &step_up).await;
    // The refusal spent nothing, so the same request can continue.
    assert_eq!(steps::proceed(&*store, &both).await, SessionContinued::CodeIssued);
    assert_eq!(store.find_grant(both.login.id).await.unwrap(), Some(grant_of(&both)));
}

/// Not at another client and not for another user, not even without any scope.
pub async fn where_nobody_agreed_no_session_continues(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let (stranger, _) = steps::remember(&*store).await;
    for client in [stranger.client, fixtures::client_id()] {
        for scope in [login.scope.clone(), ScopeSet::of(&[])] {
            let command = asking_for(scope, fixtures::continue_session(&session, client));
            assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::ConsentMissing);
            assert_eq!(store.find_grant(command.login.id).await.unwrap(), None);
        }
        assert_eq!(steps::consent(&*store, login.new_user, client).await, None);
    }
    assert_eq!(steps::session(&*store, session.id).await, session, "a refusal does not count as a use");
}

/// Another code for the same request is refused, and the first grant stays unchanged.
pub async fn b_001_a_request_is_continued_once(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let first = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &first).await, SessionContinued::CodeIssued);
    for spent in [first.login.id, login.id] {
        let before = store.find_grant(spent).await.unwrap();
        let mut second = fixtures::continue_session(&session, login.client);
        second.login.id = spent;
        second.login.now += Duration::minutes(1);
        assert_eq!(steps::proceed(&*store, &second).await, SessionContinued::RequestSpent);
        assert_eq!(store.find_grant(spent).await.unwrap(), before);
    }
    assert_eq!(steps::session(&*store, session.id).await, session);
    let consent = steps::consent(&*store, login.new_user, login.client).await.unwrap();
    assert_eq!(consent.last_used_at, login.now);
    let signed = CompleteLogin { id: first.login.id, ..fixtures::complete_login_of(login.account) };
    assert_eq!(store.complete_login(signed).await.unwrap(), LoginCompleted::ChallengeSpent);
}

/// Rule 3, whatever happened to the grant, the session and the consent between the lost answer and the
/// repetition.
pub async fn a_continuation_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let command = fixtures::continue_session(&session, login.client);
    let repeat = async || {
        assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
    };
    for _ in 0..3 {
        repeat().await;
    }
    let redemption = fixtures::redeem_code(command.login.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Stored);
    repeat().await;
    assert!(
        store.end_session(EndSession { user: login.new_user, id: session.id, event: None }).await.unwrap()
    );
    repeat().await;
    assert_eq!(store.find_session(session.id).await.unwrap(), None);
    let revocation = fixtures::revoke_consent(login.new_user, login.client);
    assert!(store.revoke_consent(revocation).await.unwrap());
    repeat().await;
    assert_eq!(steps::consent(&*store, login.new_user, login.client).await, None);
    let grant = Grant { redeemed: true, revoked: true, ..grant_of(&command) };
    assert_eq!(store.find_grant(command.login.id).await.unwrap(), Some(grant));
}

/// All grants that answer one device have the same id and code. The wallet tells a repetition from another
/// answer.
pub async fn one_code_for_another_wallet_is_another_continuation(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let first = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &first).await, SessionContinued::CodeIssued);
    let mut by_other = fixtures::remembered_login();
    by_other.client = login.client;
    let session_of_other = steps::remember_by(&*store, &by_other).await;
    let mut second = fixtures::continue_session(&session_of_other, login.client);
    (second.login.id, second.login.code_hash) = (first.login.id, first.login.code_hash);
    assert_eq!(steps::proceed(&*store, &second).await, SessionContinued::RequestSpent);
    assert_eq!(steps::session(&*store, session_of_other.id).await, session_of_other);
    assert_eq!(steps::proceed(&*store, &first).await, SessionContinued::CodeIssued);
    assert_eq!(store.find_grant(first.login.id).await.unwrap(), Some(grant_of(&first)));
}

/// A session that has just expired, and one that never existed.
pub async fn a_session_that_ended_continues_nowhere(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let at = |now| {
        let mut command = fixtures::continue_session(&session, login.client);
        command.login.now = now;
        command
    };
    for late in [Duration::ZERO, Duration::seconds(1), Duration::days(400)] {
        let command = at(session.expires_at + late);
        assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::SessionEnded);
        assert_eq!(store.find_grant(command.login.id).await.unwrap(), None);
    }
    assert_eq!(steps::session(&*store, session.id).await, session);
    let in_time = at(session.expires_at - Duration::seconds(1));
    assert_eq!(steps::proceed(&*store, &in_time).await, SessionContinued::CodeIssued);

    let unknown = ContinueSession { session: fixtures::session_id(), ..at(fixtures::NOW) };
    assert_eq!(steps::proceed(&*store, &unknown).await, SessionContinued::SessionEnded);
}

/// The order is: the request is spent, the session has ended, the consent is missing.
pub async fn the_first_of_several_refusals_is_the_answer(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let mut everything = fixtures::continue_session(&session, fixtures::client_id());
    everything.login.id = login.id;
    everything.login.now = session.expires_at;
    assert_eq!(steps::proceed(&*store, &everything).await, SessionContinued::RequestSpent);
    everything.login.id = fixtures::grant_id();
    assert_eq!(steps::proceed(&*store, &everything).await, SessionContinued::SessionEnded);
    everything.login.now = fixtures::NOW;
    assert_eq!(steps::proceed(&*store, &everything).await, SessionContinued::ConsentMissing);
    everything.login.client = login.client;
    assert_eq!(steps::proceed(&*store, &everything).await, SessionContinued::CodeIssued);
}

/// What a session granted was granted with its wallet.
pub async fn what_a_session_led_to_dies_with_its_wallet(store: Arc<dyn Storage>) {
    let (user, [stays, goes]) = steps::user_with_two_wallets(&*store).await;
    let mut codes = Vec::new();
    for wallet in [&stays, &goes] {
        let login = fixtures::remembered_login_of(wallet.clone());
        let session = steps::remember_by(&*store, &login).await;
        let command = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
        codes.push(fixtures::redeem_code(command.login.id));
    }
    assert_eq!(steps::unlink(&*store, &stays, &goes).await, user);
    assert_eq!(store.redeem_code(codes.remove(1)).await.unwrap(), Redeemed::Revoked);
    assert_eq!(store.redeem_code(codes.remove(0)).await.unwrap(), Redeemed::Stored);
}

/// A name counts as a whole: no part of one covers another.
pub async fn a_consent_covers_the_scopes_of_resources_that_were_signed_for(store: Arc<dyn Storage>) {
    let agreed =
        ScopeSet::of(&[Scope::Profile]).union(&fixtures::own_scopes(&["a.read", "b.read", "a.read.all"]));
    let login = CompleteLogin { scope: agreed, ..fixtures::remembered_login() };
    let session = steps::remember_by(&*store, &login).await;
    for (own, withheld, expected) in [
        (&[][..], &[][..], SessionContinued::CodeIssued),
        (&["a.read"], &[], SessionContinued::CodeIssued),
        (&["b.read", "a.read"], &[], SessionContinued::CodeIssued),
        (&["a.read", "b.read", "a.read.all"], &[], SessionContinued::CodeIssued),
        (&["a.read"], &["b.read"], SessionContinued::CodeIssued),
        (&["a.read"], &["c.read"], SessionContinued::ConsentMissing),
        (&["c.read"], &[], SessionContinued::ConsentMissing),
        (&["a.read", "c.read"], &[], SessionContinued::ConsentMissing),
        (&["a.rea"], &[], SessionContinued::ConsentMissing),
        (&["read"], &[], SessionContinued::ConsentMissing),
        (&["A.read"], &[], SessionContinued::ConsentMissing),
    ] {
        let scope = ScopeSet::of(&[Scope::Profile]).union(&fixtures::own_scopes(own));
        let mut command = asking_for(scope.clone(), fixtures::continue_session(&session, login.client));
        command.login.withheld = fixtures::own_scopes(withheld);
        assert_eq!(steps::proceed(&*store, &command).await, expected, "{scope}");
        let grant = store.find_grant(command.login.id).await.unwrap();
        assert_eq!(
            grant.map(|grant| grant.scope),
            Some(scope).filter(|_| expected == SessionContinued::CodeIssued)
        );
    }
}
