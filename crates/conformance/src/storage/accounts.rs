//! Reads everything of a user at once, and deletes it.

use std::sync::Arc;

use countersign_domain::id::{ClientId, SessionId};
use countersign_domain::token::Token;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    Account, CompleteLogin, EmailPut, EndSession, EndSessions, LoginCompleted, NewSession, Redeemed, Rotated,
    SessionContinued, Storage, WalletLinked,
};
use time::Duration;

use super::steps;
use crate::fixtures;

/// A user with two wallets, a session and an address. At one client a code is waiting; at another, one family
/// was refreshed and one revoked.
async fn somebody(store: &dyn Storage) -> (CompleteLogin, Vec<Token>) {
    let login = fixtures::remembered_login();
    steps::user_of(store, &login).await;
    let second = fixtures::wallet_account();
    steps::link(store, &login.account, &second).await;
    let first = steps::redeem_by(store, &second).await;
    let newest = steps::rotate(store, &first).await;
    let revoked = steps::redeem_by(store, &login.account).await;
    store.revoke_grant(fixtures::revoke_grant(revoked.grant)).await.unwrap();
    let command = fixtures::put_email(login.new_user);
    assert_eq!(store.put_email(command).await.unwrap(), EmailPut::Stored);
    (login, vec![first, newest, revoked])
}

/// A user who does not exist has no account.
pub async fn nobody_has_no_account(store: Arc<dyn Storage>) {
    steps::remember(&*store).await;
    assert_eq!(store.find_account(fixtures::user_id()).await.unwrap(), None);
}

/// The same as the single reads return, and nothing of other users.
pub async fn an_account_shows_what_is_its_users(store: Arc<dyn Storage>) {
    somebody(&*store).await;
    let (login, tokens) = somebody(&*store).await;
    let user = login.new_user;
    let account = steps::account(&*store, user).await;
    let mut clients = vec![login.client];
    for grant in [tokens[0].grant, tokens[2].grant] {
        clients.push(store.find_grant(grant).await.unwrap().unwrap().client);
    }
    let mut consents = Vec::new();
    for client in clients {
        consents.push(steps::consent(&*store, user, client).await.unwrap());
    }
    let expected = Account {
        created_at: login.now,
        wallets: store.wallets_of(user).await.unwrap(),
        consents,
        sessions: vec![steps::session(&*store, login.session.unwrap().id).await],
        email: store.find_email(user).await.unwrap(),
    };
    assert_eq!((account.wallets.len(), account.email.is_some()), (2, true));
    assert_eq!(account, expected);
}

/// The first signature creates the user; later ones do not change its age.
pub async fn a_user_is_as_old_as_the_first_signature(store: Arc<dyn Storage>) {
    let born = fixtures::NOW + Duration::minutes(1);
    let login = CompleteLogin { now: born, ..fixtures::complete_login() };
    let mut opening = fixtures::open_session();
    opening.now = born;
    let users = [steps::user_of(&*store, &login).await, steps::open(&*store, &opening).await];
    for (user, account) in users.into_iter().zip([login.account, opening.account]) {
        let second = fixtures::wallet_account();
        steps::link(&*store, &account, &second).await;
        let now = born + Duration::hours(1);
        let again = CompleteLogin { now, ..fixtures::remembered_login_of(second.clone()) };
        assert_eq!(steps::user_of(&*store, &again).await, user);
        steps::unlink(&*store, &second, &account).await;
        assert_eq!(steps::account(&*store, user).await.created_at, born);
    }
}

/// Clients used at the same time are in the order of their ids, whatever the order in which the user came to
/// them. Using one moves it to the front.
pub async fn consents_are_listed_last_used_first(store: Arc<dyn Storage>) {
    let expires_at = fixtures::NOW + Duration::days(1);
    let session = Some(NewSession { expires_at, ..fixtures::new_session() });
    let login = CompleteLogin { session, ..fixtures::complete_login() };
    let session = steps::remember_by(&*store, &login).await;
    let clients: [ClientId; 4] = [(); 4].map(|()| fixtures::client_id());
    let sign_in = async |place: usize, hours: i64| {
        let (client, now) = (clients[place], fixtures::NOW + Duration::hours(hours));
        let again = CompleteLogin { client, now, ..fixtures::complete_login_of(login.account.clone()) };
        steps::user_of(&*store, &again).await;
    };
    let listed = async || -> Vec<ClientId> {
        let consents = steps::account(&*store, login.new_user).await.consents;
        consents.into_iter().map(|consent| consent.client).collect()
    };
    for (place, hours) in [(3, 1), (1, 1), (0, 2), (2, 1)] {
        sign_in(place, hours).await;
    }
    assert_eq!(listed().await, [clients[0], clients[1], clients[2], clients[3], login.client]);
    sign_in(2, 3).await;
    assert_eq!(listed().await, [clients[2], clients[0], clients[1], clients[3], login.client]);
    let mut request = fixtures::continue_session(&session, clients[3]);
    request.login.now += Duration::hours(4);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert_eq!(listed().await, [clients[3], clients[2], clients[0], clients[1], login.client]);
}

/// Sessions used at the same time are in the order of their ids, expired ones included. Using one moves it to
/// the front.
pub async fn sessions_are_listed_last_used_first(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let ids: [SessionId; 4] = [(); 4].map(|()| fixtures::session_id());
    for (place, minutes) in [(3, 1), (1, 1), (0, 2), (2, 1)] {
        let mut opening = fixtures::open_session_of(login.account.clone());
        opening.now += Duration::minutes(minutes);
        opening.session.id = ids[place];
        if place == 1 {
            opening.session.expires_at = opening.now;
        }
        assert_eq!(steps::open(&*store, &opening).await, login.new_user);
    }
    let listed = async || -> Vec<SessionId> {
        let sessions = steps::account(&*store, login.new_user).await.sessions;
        sessions.into_iter().map(|session| session.id).collect()
    };
    assert_eq!(listed().await, ids);
    let session = steps::session(&*store, ids[3]).await;
    let mut request = fixtures::continue_session(&session, login.client);
    request.login.now += Duration::minutes(3);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert_eq!(listed().await, [ids[3], ids[0], ids[1], ids[2]]);
}

/// No operation finds anything that belonged to the user.
pub async fn a_deleted_account_is_gone(store: Arc<dyn Storage>) {
    let (login, tokens) = somebody(&*store).await;
    let user = login.new_user;
    let account = steps::account(&*store, user).await;
    let link = account.email.unwrap().confirmation.unwrap();

    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
    assert_eq!(store.find_account(user).await.unwrap(), None);
    assert_eq!(store.wallets_of(user).await.unwrap(), []);
    for consent in account.consents {
        assert_eq!(steps::consent(&*store, user, consent.client).await, None);
        let command = fixtures::revoke_consent(user, consent.client);
        assert!(!store.revoke_consent(command).await.unwrap());
    }
    for session in account.sessions {
        assert_eq!(store.find_session(session.id).await.unwrap(), None);
        assert!(!store.end_session(EndSession { user, id: session.id, event: None }).await.unwrap());
        let request = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::SessionEnded);
    }
    assert_eq!(store.end_sessions(EndSessions { user, event: None }).await.unwrap(), 0);
    assert_eq!(store.find_email(user).await.unwrap(), None);
    let late = store.confirm_email(fixtures::confirm_email(user, link)).await.unwrap();
    assert_eq!(late, countersign_ports::EmailConfirmed::LinkInvalid);
    assert_eq!(store.put_email(fixtures::put_email(user)).await.unwrap(), EmailPut::UserUnknown);
    let waiting = store.redeem_code(fixtures::redeem_code(login.id)).await.unwrap();
    assert_eq!(waiting, Redeemed::Revoked);
    for token in tokens {
        assert!(!steps::is_live(&*store, &token).await);
        let rotation = store.rotate_refresh(fixtures::rotate_refresh(&token)).await.unwrap();
        assert_eq!(rotation, Rotated::Revoked);
    }
    assert!(!store.delete_account(fixtures::delete_account(user)).await.unwrap(), "it is already deleted");
    assert_eq!(store.find_account(user).await.unwrap(), None);
}

/// B-001: what is left of the user's grants shows that a challenge was used, and nothing else about the user.
pub async fn a_signature_from_before_the_deletion_does_not_sign_in_again(store: Arc<dyn Storage>) {
    let login = CompleteLogin { nonce: Some("n".to_owned()), ..fixtures::complete_login() };
    steps::user_of(&*store, &login).await;
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    let again = CompleteLogin { code_hash: fixtures::secret_hash(), ..login.clone() };
    assert_eq!(store.complete_login(again).await.unwrap(), LoginCompleted::ChallengeSpent);
    assert_eq!(store.find_account(login.new_user).await.unwrap(), None);
    let left = store.find_grant(login.id).await.unwrap().unwrap();
    let (_, WalletAccount { family, chain, address }) = steps::person(&left.holder);
    assert_eq!([family.as_str(), chain, address], [""; 3]);
    assert_eq!((left.nonce, left.revoked), (None, true));
}

/// F-24: an event can name a grant. So no grant of a deleted account leads to its user, whenever it ended, and what comes
/// from it is still refused.
pub async fn no_grant_leads_to_a_user_whose_account_was_deleted(store: Arc<dyn Storage>) {
    let (live, tokens) = somebody(&*store).await;
    let ended =
        CompleteLogin { nonce: Some("n".to_owned()), ..fixtures::complete_login_of(live.account.clone()) };
    steps::user_of(&*store, &ended).await;
    let redeemed = fixtures::redeem_code(ended.id);
    assert_eq!(store.redeem_code(redeemed.clone()).await.unwrap(), Redeemed::Stored);
    store.revoke_grant(fixtures::revoke_grant(ended.id)).await.unwrap();
    let command = fixtures::delete_account(live.new_user);
    let pseudonym = command.pseudonym;
    assert!(store.delete_account(command).await.unwrap());
    for id in [live.id, ended.id] {
        let left = store.find_grant(id).await.unwrap().unwrap();
        let (user, WalletAccount { family, chain, address }) = steps::person(&left.holder);
        assert_eq!((user, [family.as_str(), chain, address]), (pseudonym.in_place_of_user(), [""; 3]));
        assert_eq!((left.nonce, left.session, left.revoked), (None, None, true));
        let again = fixtures::redeem_code(id);
        assert_ne!(store.redeem_code(again).await.unwrap(), Redeemed::Stored);
    }
    for token in tokens.iter().chain([&redeemed.token]) {
        assert!(!steps::is_live(&*store, token).await);
        let rotation = store.rotate_refresh(fixtures::rotate_refresh(token)).await.unwrap();
        assert_ne!(rotation, Rotated::Stored);
    }
}

/// Deleting a user who does not exist is not an error.
pub async fn deleting_nobodys_account_says_so(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    assert!(!store.delete_account(fixtures::delete_account(fixtures::user_id())).await.unwrap());
    assert_eq!(steps::account(&*store, login.new_user).await.sessions, [session]);
}

/// No other user loses anything, even at the same client.
pub async fn a_deleted_account_touches_no_other(store: Arc<dyn Storage>) {
    let (gone, _) = somebody(&*store).await;
    let (stays, tokens) = somebody(&*store).await;
    let neighbor =
        CompleteLogin { client: gone.client, ..fixtures::complete_login_of(stays.account.clone()) };
    steps::user_of(&*store, &neighbor).await;
    let before = steps::account(&*store, stays.new_user).await;
    assert!(store.delete_account(fixtures::delete_account(gone.new_user)).await.unwrap());
    assert_eq!(steps::account(&*store, stays.new_user).await, before);
    assert!(steps::is_live(&*store, &tokens[0]).await);
    steps::rotate(&*store, &tokens[1]).await;
    for grant in [stays.id, neighbor.id] {
        let redemption = fixtures::redeem_code(grant);
        assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Stored);
    }
}

/// They sign in like wallets that were never seen, and have agreed to nothing.
pub async fn the_wallets_of_a_deleted_account_make_new_users(store: Arc<dyn Storage>) {
    let (login, _) = somebody(&*store).await;
    let accounts = steps::accounts_of(&*store, login.new_user).await;
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    let command = fixtures::link_wallet(&accounts[0], &fixtures::wallet_account());
    assert_eq!(store.link_wallet(command).await.unwrap(), WalletLinked::SignerUnknown);

    let now = fixtures::NOW + Duration::hours(1);
    let mut opening = fixtures::open_session_of(accounts[0].clone());
    opening.now = now;
    opening.session.expires_at = now + Duration::hours(1);
    assert_eq!(steps::open(&*store, &opening).await, opening.new_user);
    let session = steps::session(&*store, opening.session.id).await;
    let mut request = fixtures::continue_session(&session, login.client);
    request.login.now = now;
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::ConsentMissing);
    let back = CompleteLogin { now, ..fixtures::complete_login_of(accounts[1].clone()) };
    assert_eq!(steps::user_of(&*store, &back).await, back.new_user);
    for user in [opening.new_user, back.new_user] {
        let account = steps::account(&*store, user).await;
        assert_eq!((account.created_at, account.wallets.len(), account.email), (now, 1, None));
    }
}

/// Any user who has the wallet's signature can link it.
pub async fn the_wallets_of_a_deleted_account_may_be_linked(store: Arc<dyn Storage>) {
    let (login, _) = somebody(&*store).await;
    let accounts = steps::accounts_of(&*store, login.new_user).await;
    let other = steps::sign_in(&*store).await;
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    for account in accounts {
        assert_eq!(steps::link(&*store, &other.account, &account).await, other.new_user);
        let login = fixtures::complete_login_of(account);
        assert_eq!(steps::user_of(&*store, &login).await, other.new_user);
    }
}
