//! Browsers remember sign-ins until they end.

use std::sync::Arc;

use countersign_domain::id::UserId;
use countersign_domain::login_session::LoginSession;
use countersign_domain::secret::SecretHash;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    CompleteLogin, EndSession, EndSessions, LinkWallet, LoginCompleted, NewSession, OpenSession,
    SessionContinued, SessionOpened, Storage, UnlinkWallet, WalletLinked, WalletUnlinked,
};
use time::{Duration, OffsetDateTime};

use super::steps;
use crate::fixtures;

/// The session that this must have made.
fn session_of(
    session: &NewSession,
    user: UserId,
    account: &WalletAccount,
    at: OffsetDateTime,
) -> LoginSession {
    LoginSession {
        id: session.id,
        user,
        account: account.clone(),
        secret_hash: session.secret_hash,
        browser: session.browser.clone(),
        authenticated_at: at,
        last_used_at: at,
        expires_at: session.expires_at,
    }
}

/// The session that this command must have opened.
fn opened(command: &OpenSession, user: UserId) -> LoginSession {
    session_of(&command.session, user, &command.account, command.now)
}

/// A session that replaces another one.
fn in_place_of(session: &LoginSession) -> NewSession {
    NewSession { replaces: Some(session.id), ..fixtures::new_session() }
}

async fn is_there(store: &dyn Storage, session: &LoginSession) -> bool {
    store.find_session(session.id).await.unwrap().is_some()
}

/// Its wallet, user and time are those of the login. If the wallet is known, the session belongs to its user.
pub async fn a_remembered_login_is_a_session_that_is_found(store: Arc<dyn Storage>) {
    let first = fixtures::remembered_login();
    let user = steps::user_of(&*store, &first).await;
    let elsewhere = WalletAccount { chain: "eip155:137".to_owned(), ..first.account.clone() };
    let now = fixtures::NOW + Duration::minutes(7);
    let second = CompleteLogin { now, ..fixtures::remembered_login_of(elsewhere) };
    assert_eq!(steps::user_of(&*store, &second).await, user);
    for login in [first, second] {
        let session = login.session.unwrap();
        let expected = session_of(&session, user, &login.account, login.now);
        assert_eq!(store.find_session(session.id).await.unwrap(), Some(expected));
        assert!(store.find_grant(login.id).await.unwrap().is_some());
    }
}

/// A browser is only remembered if the user asked for it.
pub async fn a_login_that_is_not_remembered_makes_no_session(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, []);
}

/// A session without a login. Its wallet makes a user, and nobody gets a grant.
pub async fn an_opened_session_is_found_and_grants_nothing(store: Arc<dyn Storage>) {
    let command = fixtures::open_session();
    let user = steps::open(&*store, &command).await;
    assert_eq!(user, command.new_user);
    assert_eq!(steps::session(&*store, command.session.id).await, opened(&command, user));
    assert_eq!(store.find_grant(command.id).await.unwrap(), None);
    let account = steps::account(&*store, user).await;
    assert_eq!(account.created_at, command.now);
    assert_eq!(account.wallets[0].account, command.account);
    assert_eq!(account.wallets[0].linked_at, command.now);
    assert_eq!(account.consents, []);
    assert_eq!(account.sessions, [opened(&command, user)]);
}

/// Logins and opened sessions find the same user, also with linked wallets.
pub async fn one_wallet_opens_sessions_of_one_user(store: Arc<dyn Storage>) {
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    for wallet in wallets {
        let command = fixtures::open_session_of(wallet);
        assert_eq!(steps::open(&*store, &command).await, user);
        assert_eq!(steps::session(&*store, command.session.id).await, opened(&command, user));
    }
    let first = fixtures::open_session();
    let user = steps::open(&*store, &first).await;
    let login = fixtures::remembered_login_of(first.account);
    assert_eq!(steps::user_of(&*store, &login).await, user);
}

/// Nothing is found under an unknown id.
pub async fn an_unknown_session_is_not_found(store: Arc<dyn Storage>) {
    steps::remember(&*store).await;
    assert_eq!(store.find_session(fixtures::session_id()).await.unwrap(), None);
}

/// Browser names in every alphabet and of every length, hashes of every byte, extreme times.
pub async fn every_value_of_a_session_survives(store: Arc<dyn Storage>) {
    let browsers = ["", "'\"\\;--\n\t", "Firefox 火狐 على لينكس 🦊\u{301}", &"né ".repeat(3_000)];
    for (browser, byte) in browsers.into_iter().zip([0, 127, 128, 255]) {
        let session = NewSession {
            secret_hash: SecretHash::from_bytes([byte; 32]),
            browser: browser.to_owned(),
            expires_at: fixtures::NOW + Duration::days(40_001),
            ..fixtures::new_session()
        };
        let now = fixtures::NOW + Duration::days(40_000);
        let account = WalletAccount { chain: "eip155:é'🦀".to_owned(), ..fixtures::wallet_account() };
        let command = OpenSession { session, now, ..fixtures::open_session_of(account) };
        let user = steps::open(&*store, &command).await;
        assert_eq!(steps::session(&*store, command.session.id).await, opened(&command, user));
        assert_eq!(steps::account(&*store, user).await.sessions, [opened(&command, user)]);
    }
}

/// The second answer opens nothing, ends nothing and creates no user.
pub async fn b_001_a_challenge_opens_one_session(store: Arc<dyn Storage>) {
    let first = fixtures::open_session();
    let user = steps::open(&*store, &first).await;
    let session = steps::session(&*store, first.session.id).await;
    for account in [first.account.clone(), fixtures::wallet_account()] {
        let session = in_place_of(&session);
        let second = OpenSession { id: first.id, session, ..fixtures::open_session_of(account) };
        assert_eq!(store.open_session(second.clone()).await.unwrap(), SessionOpened::ChallengeSpent);
        assert_eq!(store.find_session(second.session.id).await.unwrap(), None);
        assert_eq!(store.find_account(second.new_user).await.unwrap(), None);
    }
    assert_eq!(steps::account(&*store, user).await.sessions, [session]);
}

/// A challenge that was used for anything is spent.
pub async fn b_001_a_challenge_that_was_spent_elsewhere_opens_no_session(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let linking = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
    assert!(matches!(store.link_wallet(linking.clone()).await.unwrap(), WalletLinked::Linked { .. }));
    let unlinking = fixtures::unlink_wallet(&login.account, &linking.wallet);
    assert!(matches!(store.unlink_wallet(unlinking.clone()).await.unwrap(), WalletUnlinked::Unlinked { .. }));
    for id in [login.id, linking.id, unlinking.id] {
        let command = OpenSession { id, ..fixtures::open_session_of(login.account.clone()) };
        assert_eq!(store.open_session(command.clone()).await.unwrap(), SessionOpened::ChallengeSpent);
        assert_eq!(store.find_session(command.session.id).await.unwrap(), None);
    }

    let opening = fixtures::open_session();
    steps::open(&*store, &opening).await;
    let link = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
    let link = LinkWallet { id: opening.id, ..link };
    assert_eq!(store.link_wallet(link).await.unwrap(), WalletLinked::ChallengeSpent);
    let unlink = UnlinkWallet { id: opening.id, ..fixtures::unlink_wallet(&login.account, &login.account) };
    assert_eq!(store.unlink_wallet(unlink).await.unwrap(), WalletUnlinked::ChallengeSpent);
}

/// Rule 3, even after the session was used.
pub async fn an_opening_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::open_session_of(login.account);
    for _ in 0..3 {
        assert_eq!(steps::open(&*store, &command).await, login.new_user);
    }
    let session = steps::session(&*store, command.session.id).await;
    let mut request = fixtures::continue_session(&session, login.client);
    request.login.now += Duration::minutes(1);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert_eq!(steps::open(&*store, &command).await, login.new_user);
    let used = LoginSession { last_used_at: request.login.now, ..session };
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, [used]);
}

/// The session may have been ended in between, so the caller is told that the challenge is spent.
pub async fn an_opening_that_is_repeated_brings_no_session_back(store: Arc<dyn Storage>) {
    let [ended, replaced, deleted] = [(); 3].map(|()| fixtures::open_session());
    for command in [&ended, &replaced, &deleted] {
        steps::open(&*store, command).await;
    }
    assert!(
        store
            .end_session(EndSession { user: ended.new_user, id: ended.session.id, event: None })
            .await
            .unwrap()
    );
    let session = steps::session(&*store, replaced.session.id).await;
    let successor = OpenSession { session: in_place_of(&session), ..fixtures::open_session() };
    steps::open(&*store, &successor).await;
    assert!(store.delete_account(fixtures::delete_account(deleted.new_user)).await.unwrap());
    for command in [ended, replaced, deleted.clone()] {
        let id = command.session.id;
        assert_eq!(store.open_session(command).await.unwrap(), SessionOpened::ChallengeSpent);
        assert_eq!(store.find_session(id).await.unwrap(), None);
    }
    assert_eq!(store.find_account(deleted.new_user).await.unwrap(), None);
}

/// A browser has one session. The one before ends, whoever it belonged to, and no other one does.
pub async fn a_new_session_takes_the_place_of_the_one_before(store: Arc<dyn Storage>) {
    let (login, first) = steps::remember(&*store).await;
    let bystander = fixtures::remembered_login_of(login.account.clone());
    let bystander = steps::remember_by(&*store, &bystander).await;

    let session = Some(in_place_of(&first));
    let again = CompleteLogin { session, ..fixtures::complete_login_of(login.account.clone()) };
    let second = steps::remember_by(&*store, &again).await;
    assert!(!is_there(&*store, &first).await);

    let opening = OpenSession { session: in_place_of(&second), ..fixtures::open_session() };
    let stranger = steps::open(&*store, &opening).await;
    assert!(!is_there(&*store, &second).await);
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, [bystander]);
    assert_eq!(steps::account(&*store, stranger).await.sessions, [opened(&opening, stranger)]);

    // A session that has already ended can be named as the one to replace.
    let late = OpenSession { session: in_place_of(&first), ..fixtures::open_session() };
    let late_user = steps::open(&*store, &late).await;
    assert_eq!(steps::session(&*store, late.session.id).await, opened(&late, late_user));
    let request = fixtures::continue_session(&first, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::SessionEnded);
}

/// Neither a repeated login nor a refused one changes what browsers remember.
pub async fn a_login_that_grants_nothing_anew_touches_no_session(store: Arc<dyn Storage>) {
    let (login, first) = steps::remember(&*store).await;
    let session = Some(in_place_of(&first));
    let again = CompleteLogin { session, ..fixtures::complete_login_of(login.account.clone()) };
    let second = steps::remember_by(&*store, &again).await;
    for repeated in [&login, &again] {
        assert_eq!(steps::user_of(&*store, repeated).await, login.new_user);
    }
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, std::slice::from_ref(&second));

    let session = Some(in_place_of(&second));
    let refused = CompleteLogin { id: login.id, session, ..fixtures::complete_login() };
    assert_eq!(store.complete_login(refused.clone()).await.unwrap(), LoginCompleted::ChallengeSpent);
    assert_eq!(store.find_session(refused.session.unwrap().id).await.unwrap(), None);
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, std::slice::from_ref(&second));

    assert!(
        store.end_session(EndSession { user: login.new_user, id: second.id, event: None }).await.unwrap()
    );
    assert_eq!(steps::user_of(&*store, &again).await, login.new_user);
    assert!(!is_there(&*store, &second).await, "a repeated login does not bring it back");
}

/// It can no longer be used. The user's other sessions can, and what it granted stays valid.
pub async fn an_ended_session_is_gone(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let other = fixtures::remembered_login_of(login.account.clone());
    let other = steps::remember_by(&*store, &other).await;
    let request = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    let redemption = fixtures::redeem_code(request.login.id);
    store.redeem_code(redemption.clone()).await.unwrap();

    assert!(
        store.end_session(EndSession { user: login.new_user, id: session.id, event: None }).await.unwrap()
    );
    assert!(!is_there(&*store, &session).await);
    assert!(
        !store.end_session(EndSession { user: login.new_user, id: session.id, event: None }).await.unwrap(),
        "it has already ended"
    );
    let late = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &late).await, SessionContinued::SessionEnded);

    let request = fixtures::continue_session(&other, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert!(steps::is_live(&*store, &redemption.token).await);
}

/// Another user who learned a session's id cannot end it.
pub async fn a_session_is_ended_by_its_user_only(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let (stranger, theirs) = steps::remember(&*store).await;
    assert!(
        !store
            .end_session(EndSession { user: stranger.new_user, id: session.id, event: None })
            .await
            .unwrap()
    );
    assert!(
        !store
            .end_session(EndSession { user: fixtures::user_id(), id: session.id, event: None })
            .await
            .unwrap()
    );
    assert!(
        !store
            .end_session(EndSession { user: login.new_user, id: fixtures::session_id(), event: None })
            .await
            .unwrap()
    );
    assert_eq!(steps::session(&*store, session.id).await, session);
    assert_eq!(steps::session(&*store, theirs.id).await, theirs);
}

/// Sessions of all the user's wallets, expired ones too, and of no other user.
pub async fn all_sessions_of_a_user_end_at_once(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let (_, bystander) = steps::remember(&*store).await;
    for wallet in [first.clone(), first, second.clone()] {
        steps::user_of(&*store, &fixtures::remembered_login_of(wallet)).await;
    }
    let session = NewSession { expires_at: fixtures::NOW, ..fixtures::new_session() };
    steps::open(&*store, &OpenSession { session, ..fixtures::open_session_of(second) }).await;
    assert_eq!(store.end_sessions(EndSessions { user, event: None }).await.unwrap(), 4);
    assert_eq!(steps::account(&*store, user).await.sessions, []);
    assert_eq!(store.end_sessions(EndSessions { user, event: None }).await.unwrap(), 0);
    assert_eq!(store.end_sessions(EndSessions { user: fixtures::user_id(), event: None }).await.unwrap(), 0);
    assert_eq!(steps::session(&*store, bystander.id).await, bystander);
}

/// It cannot be used after that time, but it is still read, listed and ended.
pub async fn an_expired_session_is_there_until_it_is_purged(store: Arc<dyn Storage>) {
    let session = NewSession { expires_at: fixtures::NOW, ..fixtures::new_session() };
    let login = CompleteLogin { session: Some(session.clone()), ..fixtures::complete_login() };
    let expired = steps::remember_by(&*store, &login).await;
    assert_eq!(expired, session_of(&session, login.new_user, &login.account, login.now));
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, [expired]);
    assert!(
        store.end_session(EndSession { user: login.new_user, id: session.id, event: None }).await.unwrap()
    );
}

/// On whatever chain the wallet signed in. Sessions of the user's other wallets and the user's consents stay.
pub async fn an_unlinked_wallets_sessions_end(store: Arc<dyn Storage>) {
    let (user, [stays, goes]) = steps::user_with_two_wallets(&*store).await;
    let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..goes.clone() };
    let namesake = WalletAccount { family: "cosmos:hub".to_owned(), ..goes.clone() };
    steps::link(&*store, &stays, &namesake).await;
    let login = fixtures::remembered_login_of(goes.clone());
    let ending = steps::remember_by(&*store, &login).await;
    let opening = fixtures::open_session_of(elsewhere);
    steps::open(&*store, &opening).await;
    let mut living = Vec::new();
    for account in [stays.clone(), namesake] {
        living.push(steps::remember_by(&*store, &fixtures::remembered_login_of(account)).await);
    }

    let refused = fixtures::unlink_wallet(&fixtures::wallet_account(), &goes);
    assert_eq!(store.unlink_wallet(refused).await.unwrap(), WalletUnlinked::SignerUnknown);
    assert_eq!(steps::account(&*store, user).await.sessions.len(), 4, "a refusal ends nothing");

    steps::unlink(&*store, &stays, &goes).await;
    assert_eq!(steps::account(&*store, user).await.sessions, living);
    assert_eq!(store.find_session(opening.session.id).await.unwrap(), None);
    let request = fixtures::continue_session(&ending, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::SessionEnded);
    let request = fixtures::continue_session(&living[0], login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
}
