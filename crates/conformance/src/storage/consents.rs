//! Users give consents and revoke them.

use std::sync::Arc;

use countersign_domain::consent::{Consent, ConsentDestination, ConsentTerms};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_ports::{
    CompleteLogin, DeleteClient, LoginCompleted, Redeemed, RevokeConsent, RevokeGrant, Revoked, Rotated,
    SessionContinued, Storage,
};
use time::{Duration, OffsetDateTime};

use super::races::at_once;
use super::steps::{self, consent};
use crate::fixtures;

async fn revoke(store: &dyn Storage, user: UserId, client: ClientId) -> bool {
    store.revoke_consent(fixtures::revoke_consent(user, client)).await.unwrap()
}

/// The consent that a first login at these terms makes.
fn made_by(login: &CompleteLogin) -> Consent {
    let CompleteLogin { client, ref terms, ref scope, now, .. } = *login;
    Consent { client, terms: terms.clone(), scope: scope.clone(), granted_at: now, last_used_at: now }
}

/// The next login of the same wallet at the same client.
fn again(login: &CompleteLogin, now: OffsetDateTime, scope: ScopeSet) -> CompleteLogin {
    let client = login.client;
    CompleteLogin { client, now, scope, ..fixtures::complete_login_of(login.account.clone()) }
}

/// Every set of scopes, including the empty one, with the login's time.
pub async fn a_login_is_a_consent(store: Arc<dyn Storage>) {
    for scope in (0..32).filter_map(ScopeSet::from_bits) {
        let now = fixtures::NOW + Duration::days(40_000);
        let login = CompleteLogin { scope, now, ..fixtures::complete_login() };
        let user = steps::user_of(&*store, &login).await;
        let expected = made_by(&login);
        assert_eq!(consent(&*store, user, login.client).await, Some(expected.clone()));
        assert_eq!(steps::account(&*store, user).await.consents, [expected]);
    }
}

/// Signing in elsewhere is not a consent.
pub async fn a_consent_is_one_users_to_one_client(store: Arc<dyn Storage>) {
    let [one, other] = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
    for (user, client) in [
        (one.new_user, other.client),
        (other.new_user, one.client),
        (one.new_user, fixtures::client_id()),
        (fixtures::user_id(), one.client),
    ] {
        assert_eq!(consent(&*store, user, client).await, None);
    }
    assert!(consent(&*store, one.new_user, one.client).await.is_some());
}

/// The consent has the first one's creation time and the last one's use, whichever of the user's wallets
/// signs. Fewer scopes take none away.
pub async fn consents_add_up(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let client = fixtures::client_id();
    let mut agreed = ScopeSet::of(&[]);
    for (hours, scopes) in [
        (1, vec![Scope::Wallets, Scope::OpenId]),
        (2, vec![Scope::Email]),
        (3, vec![]),
        (4, vec![Scope::OpenId]),
        (5, vec![Scope::Email, Scope::Profile]),
    ] {
        let scope = ScopeSet::of(&scopes);
        let account = if hours % 2 == 0 { &first } else { &second };
        let now = fixtures::NOW + Duration::hours(hours);
        let login = CompleteLogin {
            client,
            scope: scope.clone(),
            now,
            ..fixtures::complete_login_of(account.clone())
        };
        assert_eq!(steps::user_of(&*store, &login).await, user);
        assert_eq!(
            store.find_grant(login.id).await.unwrap().unwrap().scope,
            scope,
            "the grant has its own scope"
        );
        agreed = agreed.union(&scope);
        let granted_at = fixtures::NOW + Duration::hours(1);
        let expected = Consent {
            client,
            terms: fixtures::terms(),
            scope: agreed.clone(),
            granted_at,
            last_used_at: now,
        };
        assert_eq!(consent(&*store, user, client).await, Some(expected));
    }
}

/// Neither a repeated login nor a refused one is a consent.
pub async fn a_login_that_grants_nothing_anew_is_no_consent(store: Arc<dyn Storage>) {
    let profile = ScopeSet::of(&[Scope::Profile]);
    let first = CompleteLogin { scope: profile.clone(), ..fixtures::complete_login() };
    let user = steps::user_of(&*store, &first).await;
    let second = again(&first, fixtures::NOW + Duration::hours(1), profile);
    steps::user_of(&*store, &second).await;
    let before = consent(&*store, user, first.client).await;
    assert_eq!(before.as_ref().unwrap().last_used_at, second.now);

    assert_eq!(steps::user_of(&*store, &first).await, user);
    let more = again(&first, fixtures::NOW + Duration::hours(2), fixtures::all_scopes());
    let more = CompleteLogin { id: first.id, ..more };
    let elsewhere = CompleteLogin { client: fixtures::client_id(), ..more.clone() };
    for refused in [more, elsewhere.clone()] {
        assert_eq!(store.complete_login(refused).await.unwrap(), LoginCompleted::ChallengeSpent);
    }
    assert_eq!(consent(&*store, user, first.client).await, before);
    assert_eq!(consent(&*store, user, elsewhere.client).await, None);

    assert!(revoke(&*store, user, first.client).await);
    assert_eq!(steps::user_of(&*store, &second).await, user);
    assert_eq!(consent(&*store, user, first.client).await, None, "a repeated login does not bring it back");
}

/// It ends the waiting codes, access tokens and refresh tokens of all the user's wallets, and the way without
/// a signature.
pub async fn a_revoked_consent_is_gone_with_its_grants(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let client = fixtures::client_id();
    let mut codes = Vec::new();
    let mut tokens = Vec::new();
    for wallet in &wallets {
        let logins =
            [(); 2].map(|()| CompleteLogin { client, ..fixtures::remembered_login_of(wallet.clone()) });
        for login in &logins {
            steps::user_of(&*store, login).await;
        }
        let [redeemed, waiting] = logins;
        let redemption = fixtures::redeem_code(redeemed.id);
        store.redeem_code(redemption.clone()).await.unwrap();
        tokens.push(steps::rotate(&*store, &redemption.token).await);
        tokens.push(redemption.token);
        codes.push(waiting.id);
    }
    let sessions = steps::account(&*store, user).await.sessions;
    let request = fixtures::continue_session(&sessions[0], client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    codes.push(request.login.id);

    assert!(revoke(&*store, user, client).await);
    assert_eq!(consent(&*store, user, client).await, None);
    for code in codes {
        assert!(store.find_grant(code).await.unwrap().unwrap().revoked);
        assert_eq!(store.redeem_code(fixtures::redeem_code(code)).await.unwrap(), Redeemed::Revoked);
        let repeated = RevokeGrant { id: code, ..fixtures::revoke_grant(code) };
        assert_eq!(store.revoke_grant(repeated).await.unwrap(), Revoked::AlreadyRevoked);
    }
    for token in tokens {
        assert!(!steps::is_live(&*store, &token).await);
        let rotation = fixtures::rotate_refresh(&token);
        assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Revoked);
    }
    assert_eq!(steps::account(&*store, user).await.sessions.len(), sessions.len(), "sessions stay");
    let request = fixtures::continue_session(&sessions[0], client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::ConsentMissing);
    assert!(!revoke(&*store, user, client).await, "it is already revoked");
}

/// The user's consents at other clients stay, and so do other users' consents at this client.
pub async fn a_revoked_consent_touches_no_other(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let elsewhere = fixtures::complete_login_of(login.account.clone());
    let stranger = CompleteLogin { client: login.client, ..fixtures::complete_login() };
    let mut living = Vec::new();
    for login in [&elsewhere, &stranger] {
        let user = steps::user_of(&*store, login).await;
        let redemption = fixtures::redeem_code(login.id);
        store.redeem_code(redemption.clone()).await.unwrap();
        living.push((user, login.client, consent(&*store, user, login.client).await, redemption.token));
    }
    assert!(revoke(&*store, login.new_user, login.client).await);
    for (user, client, before, token) in living {
        assert!(before.is_some());
        assert_eq!(consent(&*store, user, client).await, before);
        assert!(steps::is_live(&*store, &token).await);
        steps::rotate(&*store, &token).await;
    }
}

/// That is an answer, not an error.
pub async fn revoking_where_nobody_agreed_says_so(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    assert!(!revoke(&*store, login.new_user, fixtures::client_id()).await);
    assert!(!revoke(&*store, fixtures::user_id(), login.client).await);
    assert!(consent(&*store, login.new_user, login.client).await.is_some());
    assert!(!store.find_grant(login.id).await.unwrap().unwrap().revoked);
}

/// The new consent keeps nothing of the old one, neither scopes nor creation time. What was revoked stays
/// revoked.
pub async fn whoever_agrees_again_begins_anew(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let redemption = fixtures::redeem_code(login.id);
    store.redeem_code(redemption.clone()).await.unwrap();
    let command = fixtures::revoke_consent(login.new_user, login.client);
    let command = RevokeConsent { now: fixtures::NOW + Duration::minutes(1), ..command };
    assert!(store.revoke_consent(command).await.unwrap());
    let now = fixtures::NOW + Duration::minutes(2);
    let scope = ScopeSet::of(&[Scope::OpenId]);
    let back = again(&login, now, scope);
    steps::user_of(&*store, &back).await;
    assert_eq!(consent(&*store, login.new_user, login.client).await, Some(made_by(&back)));
    assert!(!steps::is_live(&*store, &redemption.token).await);
    let redemption = fixtures::redeem_code(back.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Stored);
    let request = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::ConsentMissing);
}

/// A deleted client, registered or not, has no consents; those at other clients stay.
pub async fn a_deleted_client_takes_its_consents_along(store: Arc<dyn Storage>) {
    let command = fixtures::register_client();
    store.register_client(command.clone()).await.unwrap();
    let client = command.client.id;
    let mut remembered = Vec::new();
    for _ in 0..2 {
        let login = CompleteLogin { client, ..fixtures::remembered_login() };
        let session = steps::remember_by(&*store, &login).await;
        steps::user_of(&*store, &again(&login, login.now, login.scope.clone())).await;
        let elsewhere = fixtures::complete_login_of(login.account);
        steps::user_of(&*store, &elsewhere).await;
        remembered.push((session, elsewhere.client));
    }
    assert!(store.delete_client(DeleteClient { id: client, event: None }).await.unwrap());
    for (session, elsewhere) in remembered {
        assert_eq!(consent(&*store, session.user, client).await, None);
        let account = steps::account(&*store, session.user).await;
        assert_eq!(account.consents.iter().map(|consent| consent.client).collect::<Vec<_>>(), [elsewhere]);
        let request = fixtures::continue_session(&session, client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::ConsentMissing);
        let request = fixtures::continue_session(&session, elsewhere);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
        assert!(!revoke(&*store, session.user, client).await);
    }
}

/// The user agreed, not a wallet.
pub async fn a_consent_outlives_the_link_of_the_wallet_that_signed(store: Arc<dyn Storage>) {
    let (user, [stays, goes]) = steps::user_with_two_wallets(&*store).await;
    let login = fixtures::complete_login_of(goes.clone());
    steps::user_of(&*store, &login).await;
    let before = consent(&*store, user, login.client).await;
    steps::unlink(&*store, &stays, &goes).await;
    assert!(before.is_some());
    assert_eq!(consent(&*store, user, login.client).await, before);
    let back = again(&login, login.now, login.scope.clone());
    assert_eq!(steps::user_of(&*store, &back).await, back.new_user);
    assert!(consent(&*store, back.new_user, login.client).await.is_some());
    assert!(revoke(&*store, user, login.client).await);
    assert!(
        !store.find_grant(back.id).await.unwrap().unwrap().revoked,
        "the wallet now belongs to another user"
    );
}

/// Two destinations and two sets of audiences, in every order.
fn four_terms() -> [ConsentTerms; 4] {
    let here = ConsentDestination::parse("https://one.example");
    let there = ConsentDestination::parse("https://one.example:8443");
    let api = ["https://api.example".to_owned()];
    let none = ScopeSet::of(&[]);
    [
        fixtures::terms_at(&here, &[], none.clone()),
        fixtures::terms_at(&here, &api, none.clone()),
        fixtures::terms_at(&there, &[], none.clone()),
        fixtures::terms_at(&there, &api, none),
    ]
}

/// A consent is client, destination, audiences and scopes. What was signed for at some terms adds nothing at
/// others.
pub async fn f_03_consents_at_other_terms_are_consents_of_their_own(store: Arc<dyn Storage>) {
    let client = fixtures::client_id();
    let login = CompleteLogin { client, ..fixtures::complete_login() };
    let mut expected = Vec::new();
    for (place, terms) in four_terms().into_iter().enumerate() {
        let scope = ScopeSet::of(&[Scope::ALL[place]]);
        let now = fixtures::NOW + Duration::hours(i64::try_from(place).unwrap());
        let again = CompleteLogin { terms: terms.clone(), ..again(&login, now, scope.clone()) };
        steps::user_of(&*store, &again).await;
        expected.push(Consent { client, terms, scope, granted_at: now, last_used_at: now });
    }
    let before = again(&login, fixtures::NOW - Duration::hours(1), ScopeSet::of(&[]));
    let user = steps::user_of(&*store, &before).await;
    let listed = store.consents_at(user, client).await.unwrap();
    assert_eq!(listed.len(), 5);
    assert!(expected.iter().all(|consent| listed.contains(consent)), "{listed:?}");
    assert!(listed.is_sorted_by_key(|consent| consent.terms.clone()), "{listed:?}");
    expected.reverse();
    assert_eq!(steps::account(&*store, user).await.consents[..4], expected);

    assert!(revoke(&*store, user, client).await);
    assert_eq!(store.consents_at(user, client).await.unwrap(), []);
}

/// Everything that can be signed for is read back unchanged.
pub async fn f_03_every_kind_of_terms_survives(store: Arc<dyn Storage>) {
    let resources = |count: usize| -> Vec<String> {
        (0..count).map(|number| format!("https://api-{}.example/{}", 9 - number, "a".repeat(99))).collect()
    };
    for place in ["https://[::1]:65535", "com.example.app:/", "device", "program"] {
        for count in [0, 1, 8] {
            for scope in [ScopeSet::of(&[]), ScopeSet::of(&[Scope::OpenId])] {
                let place = ConsentDestination::parse(place);
                let terms = fixtures::terms_at(&place, &resources(count), scope);
                let login = CompleteLogin { terms: terms.clone(), ..fixtures::complete_login() };
                let user = steps::user_of(&*store, &login).await;
                assert_eq!(consent(&*store, user, login.client).await.map(|found| found.terms), Some(terms));
            }
        }
    }
}

/// A session repeats exactly one consent: it continues only where its destination, audiences and scopes were
/// signed for together.
pub async fn f_03_a_session_repeats_one_consent(store: Arc<dyn Storage>) {
    let all = four_terms();
    let [profile, email] = [Scope::Profile, Scope::Email].map(|scope| ScopeSet::of(&[scope]));
    let first =
        CompleteLogin { scope: profile.clone(), terms: all[0].clone(), ..fixtures::remembered_login() };
    let session = steps::remember_by(&*store, &first).await;
    let second = CompleteLogin { terms: all[3].clone(), ..again(&first, fixtures::NOW, email.clone()) };
    steps::user_of(&*store, &second).await;
    let signed = [(&all[0], profile.clone()), (&all[3], email.clone())];
    let now = fixtures::NOW + Duration::minutes(1);
    for terms in &all {
        for scope in [profile.clone(), email.clone(), profile.union(&email)] {
            let mut command = fixtures::continue_session(&session, first.client);
            command.login =
                CompleteLogin { scope: scope.clone(), now, terms: terms.clone(), ..command.login };
            command.agreed = terms.audiences.clone();
            let expected = if signed.contains(&(terms, scope.clone())) {
                SessionContinued::CodeIssued
            } else {
                SessionContinued::ConsentMissing
            };
            assert_eq!(steps::proceed(&*store, &command).await, expected, "{terms:?} {scope}");
        }
    }
    // A smaller set of audiences repeats the consent that contains it, and makes no consent of its own.
    let both = fixtures::terms_at(
        &all[0].destination,
        &["https://api.example".to_owned()],
        ScopeSet::of(&[Scope::OpenId]),
    );
    let third = CompleteLogin { terms: both.clone(), ..again(&first, fixtures::NOW, email.clone()) };
    steps::user_of(&*store, &third).await;
    let mut command = fixtures::continue_session(&session, first.client);
    command.login = CompleteLogin { scope: email, now, terms: all[1].clone(), ..command.login };
    command.agreed = both.audiences.clone();
    assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
    let consents = store.consents_at(first.new_user, first.client).await.unwrap();
    assert_eq!(consents.len(), 3);
    for consent in consents {
        assert_eq!((consent.granted_at, consent.last_used_at), (fixtures::NOW, now), "{consent:?}");
    }
}

/// Scopes of resources add up like those of this server, each name once. What the person lacks the group for is
/// in the consent, and not in the grant.
pub async fn scopes_of_resources_add_up(store: Arc<dyn Storage>) {
    let account = fixtures::wallet_account();
    let client = fixtures::client_id();
    let mut agreed = ScopeSet::EMPTY;
    let rounds = [
        (&["b.read"][..], &[][..], &[Scope::Profile][..]),
        (&["a.read", "b.read"], &[], &[]),
        (&[], &[], &[Scope::Email]),
        (&["b.re"], &["c.admin"], &[]),
        (&["https://a.example/scope"], &["a.read"], &[Scope::Profile]),
        (&["b.read"], &[], &[]),
    ];
    for (hours, (own, withheld, known)) in rounds.into_iter().enumerate() {
        let now = fixtures::NOW + Duration::hours(i64::try_from(hours).unwrap());
        let scope = ScopeSet::of(known).union(&fixtures::own_scopes(own));
        let withheld = fixtures::own_scopes(withheld);
        let first = fixtures::complete_login_of(account.clone());
        let login = CompleteLogin { client, now, scope: scope.clone(), withheld, ..first };
        let user = steps::user_of(&*store, &login).await;
        assert_eq!(store.find_grant(login.id).await.unwrap().unwrap().scope, scope);
        agreed = agreed.union(&login.signed_scope());
        assert_eq!(consent(&*store, user, client).await.unwrap().scope, agreed);
        assert_eq!(steps::account(&*store, user).await.consents[0].scope, agreed);
    }
    let all = "profile email a.read b.re b.read c.admin https://a.example/scope";
    assert_eq!(agreed.to_string(), all);
}

/// However many sign at once, no scope is lost.
pub async fn scopes_of_resources_add_up_however_many_sign_at_once(store: Arc<dyn Storage>) {
    let account = fixtures::wallet_account();
    let client = fixtures::client_id();
    let first = CompleteLogin { client, ..fixtures::complete_login_of(account.clone()) };
    let user = steps::user_of(&*store, &first).await;
    let names: Vec<String> = (0..32).map(|place| format!("a{place}.read")).collect();
    at_once(names.iter().map(|name| {
        let store = Arc::clone(&store);
        let scope = fixtures::own_scopes(&[name, "shared"]);
        let login = CompleteLogin { client, scope, ..fixtures::complete_login_of(account.clone()) };
        async move { steps::user_of(&*store, &login).await }
    }))
    .await;
    let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
    expected.push("shared");
    let expected = fixtures::all_scopes().union(&fixtures::own_scopes(&expected));
    assert_eq!(consent(&*store, user, client).await.unwrap().scope, expected);
}
