//! Users revoke and delete while others sign in as fast as they can.

use std::sync::Arc;

use countersign_domain::consent::ConsentDestination;
use countersign_domain::email::UserEmail;
use countersign_domain::id::{ClientId, GrantId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_ports::{
    CompleteLogin, ConfirmEmail, EmailConfirmed, EmailPut, EndSessions, PutEmail, SessionContinued,
    SharedAddress, Storage, WalletLinked,
};

use super::races::{Pinned, at_once, count};
use super::steps;
use crate::fixtures;

const TASKS: usize = 64;
const ROUNDS: usize = 4;

/// The scopes that the active ones of these grants give together; `None` if none is active.
async fn lives_of(store: &dyn Storage, grants: &[GrantId]) -> Option<ScopeSet> {
    let mut lives: Option<ScopeSet> = None;
    for grant in grants {
        let grant = store.find_grant(*grant).await.unwrap().unwrap();
        if !grant.revoked {
            lives = Some(lives.unwrap_or_default().union(&grant.scope));
        }
    }
    lives
}

/// What the user agreed to at the client.
async fn agreed(store: &dyn Storage, user: UserId, client: ClientId) -> Option<ScopeSet> {
    let consents = store.consents_at(user, client).await.unwrap();
    consents.into_iter().map(|consent| consent.scope).reduce(|all, one| all.union(&one))
}

/// A new wallet and an old one, with different scopes: no scope is lost.
pub async fn consents_add_up_however_many_sign_at_once(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let (client, account) = (fixtures::client_id(), fixtures::wallet_account());
        let users = at_once((0..TASKS).map(|place| {
            let (store, account) = (Arc::clone(&store), account.clone());
            let scope = ScopeSet::of(&[Scope::ALL[place % Scope::ALL.len()]]);
            let login =
                CompleteLogin { client, scope: scope.clone(), ..fixtures::complete_login_of(account) };
            async move { steps::user_of(&*store, &login).await }
        }))
        .await;
        assert_eq!(agreed(&*store, users[0], client).await, Some(fixtures::all_scopes()));
        assert_eq!(steps::account(&*store, users[0]).await.consents.len(), 1);
    }
}

/// A continuation either comes first and is revoked, or comes later and is refused.
pub async fn no_continuation_outlives_its_consent(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let (login, session) = steps::remember(&*store).await;
        let (user, client) = (login.new_user, login.client);
        let grants = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&store);
            let request = fixtures::continue_session(&session, client);
            let task: Pinned<Option<GrantId>> = Box::pin(async move {
                if place == round * (TASKS / ROUNDS / 2) {
                    let revocation = fixtures::revoke_consent(user, client);
                    assert!(store.revoke_consent(revocation).await.unwrap());
                    return None;
                }
                steps::proceed_unless(&*store, &request, SessionContinued::ConsentMissing).await
            });
            task
        }))
        .await;
        let grants: Vec<_> = grants.into_iter().flatten().collect();
        assert_eq!(lives_of(&*store, &grants).await, None);
        assert_eq!(agreed(&*store, user, client).await, None);
    }
}

/// A login either comes first and is revoked, or comes later and is a new consent. Active grants match the
/// user's consents.
pub async fn no_login_outlives_its_consent(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let (login, session) = steps::remember(&*store).await;
        let (user, client) = (login.new_user, login.client);
        let grants = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&store);
            let scope = ScopeSet::of(&[Scope::ALL[place % Scope::ALL.len()]]);
            let mut login = CompleteLogin {
                client,
                scope: scope.clone(),
                ..fixtures::complete_login_of(login.account.clone())
            };
            // Logins at new terms find no row that another transaction could have locked (F-03).
            if place % 3 != 0 {
                login.terms.destination =
                    ConsentDestination::parse(&format!("https://{}.example", place % 5));
            }
            let mut request = fixtures::continue_session(&session, client);
            request.login.scope = scope;
            let task: Pinned<Option<GrantId>> = Box::pin(async move {
                match place % 16 {
                    0 => {
                        // Spreads the order: before, among and after the others.
                        for _ in 0..round {
                            store.wallets_of(user).await.unwrap();
                        }
                        store.revoke_consent(fixtures::revoke_consent(user, client)).await.unwrap();
                        None
                    }
                    1..8 => steps::proceed_unless(&*store, &request, SessionContinued::ConsentMissing).await,
                    _ => {
                        assert_eq!(steps::user_of(&*store, &login).await, user);
                        Some(login.id)
                    }
                }
            });
            task
        }))
        .await;
        let mut grants: Vec<_> = grants.into_iter().flatten().collect();
        grants.push(login.id);
        assert_eq!(agreed(&*store, user, client).await, lives_of(&*store, &grants).await);
    }
}

/// One of many revokes it; all others learn that it was already revoked.
pub async fn a_consent_is_revoked_by_one_of_many(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::revoke_consent(login.new_user, login.client);
    let outcomes = at_once((0..TASKS).map(|_| {
        let store = Arc::clone(&store);
        let command = command.clone();
        async move { store.revoke_consent(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &true), 1);
}

/// One of many deletes it; all others learn that it was already deleted.
pub async fn an_account_is_deleted_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let (login, _) = steps::remember(&*store).await;
        let user = login.new_user;
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            async move { store.delete_account(fixtures::delete_account(user)).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}

/// Whatever a deleted user does at the same time either comes first and is deleted too, or comes later. Then
/// the wallet makes a new user to whom everything belongs, and nothing is left of the old one.
pub async fn nothing_outlives_a_deleted_account(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let (login, session) = steps::remember(&*store).await;
        let (user, client) = (login.new_user, login.client);
        let new_wallet = fixtures::wallet_account();
        let done = at_once((0..TASKS).map(|place| {
            let (store, account, session) = (Arc::clone(&store), login.account.clone(), session.clone());
            let new_wallet = new_wallet.clone();
            let task: Pinned<(Option<GrantId>, Option<UserId>)> = Box::pin(async move {
                match place % 8 {
                    0 if place == 0 => {
                        // Spreads the order: before, among and after the others.
                        for _ in 0..round {
                            store.find_session(session.id).await.unwrap();
                        }
                        assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
                        (None, None)
                    }
                    1 => {
                        let request = fixtures::continue_session(&session, client);
                        let refusal = SessionContinued::SessionEnded;
                        (steps::proceed_unless(&*store, &request, refusal).await, None)
                    }
                    2 => {
                        let command = PutEmail { replace: true, ..fixtures::put_email(user) };
                        let outcome = store.put_email(command).await.unwrap();
                        assert!(matches!(outcome, EmailPut::Stored | EmailPut::UserUnknown));
                        (None, None)
                    }
                    3 => {
                        let command = fixtures::open_session_of(account);
                        (None, Some(steps::open(&*store, &command).await))
                    }
                    4 => {
                        let outcome =
                            store.link_wallet(fixtures::link_wallet(&account, &new_wallet)).await.unwrap();
                        assert!(!matches!(outcome, WalletLinked::ChallengeSpent));
                        (None, None)
                    }
                    _ => {
                        let login = CompleteLogin { client, ..fixtures::remembered_login_of(account) };
                        let user = steps::user_of(&*store, &login).await;
                        (Some(login.id), Some(user))
                    }
                }
            });
            task
        }))
        .await;

        assert_eq!(store.find_account(user).await.unwrap(), None);
        assert_eq!(store.wallets_of(user).await.unwrap(), []);
        assert_eq!(store.find_email(user).await.unwrap(), None);
        assert_eq!(store.end_sessions(EndSessions { user, event: None }).await.unwrap(), 0);
        assert_eq!(agreed(&*store, user, client).await, None);
        // The wallet now belongs to the user of the later logins, or to the user of this login.
        let last = CompleteLogin { client, ..fixtures::complete_login_of(login.account) };
        let owner = steps::user_of(&*store, &last).await;
        assert_ne!(owner, user);
        let account = steps::account(&*store, owner).await;
        assert!(account.email.is_none());
        let mut later = 0;
        for (grant, signed_as) in done {
            if let Some(signed_as) = signed_as {
                assert!(signed_as == user || signed_as == owner, "all later logins agree");
                later += usize::from(signed_as == owner);
            }
            let Some(grant) = grant else { continue };
            let Some(grant) = store.find_grant(grant).await.unwrap() else { continue };
            assert!(grant.revoked || grant.holder.user() == Some(owner), "a live grant of a deleted user");
        }
        assert_eq!(account.sessions.len(), later);
        let wallet = fixtures::complete_login_of(new_wallet);
        let its_user = steps::user_of(&*store, &wallet).await;
        assert!(its_user == wallet.new_user || its_user == owner);
    }
}

/// One of many addresses is stored, and its own link confirms it.
pub async fn one_address_of_many_comes_on_file(store: Arc<dyn Storage>) {
    for replace in [false, true, false, true] {
        let user = steps::sign_in(&*store).await.new_user;
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let command = PutEmail { replace, ..fixtures::put_email(user) };
            async move { (command.clone(), store.put_email(command).await.unwrap()) }
        }))
        .await;
        let answers: Vec<_> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        let stored = if replace { TASKS } else { 1 };
        assert_eq!(count(&answers, &EmailPut::Stored), stored);
        assert_eq!(count(&answers, &EmailPut::OtherOnFile), TASKS - stored);
        let on_file = store.find_email(user).await.unwrap().unwrap();
        let mut confirmed = 0;
        for (command, outcome) in outcomes {
            let hash = command.confirmation.unwrap().hash;
            let is_it = command.address == on_file.address;
            assert!(!is_it || outcome == EmailPut::Stored);
            assert!(
                !is_it || command.confirmation == on_file.confirmation,
                "address and link come from the same command"
            );
            let follow =
                ConfirmEmail { user, hash, shared: SharedAddress::Refused, now: fixtures::NOW, event: None };
            let confirmed_now = store.confirm_email(follow).await.unwrap() == EmailConfirmed::Confirmed;
            assert_eq!(confirmed_now, is_it);
            confirmed += usize::from(is_it);
        }
        assert_eq!(confirmed, 1);
    }
}

/// One of many confirms with it; all others are too late.
pub async fn one_link_is_followed_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let user = steps::sign_in(&*store).await.new_user;
        let command = fixtures::put_email(user);
        let follow = fixtures::confirm_email(user, command.confirmation.unwrap());
        assert_eq!(store.put_email(command).await.unwrap(), EmailPut::Stored);
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let follow = follow.clone();
            async move { store.confirm_email(follow).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &EmailConfirmed::Confirmed), 1);
    }
}

/// One confirms first, and all others are told of the other account.
pub async fn one_of_many_who_confirm_one_address_at_once_is_not_told_of_another(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let address = fixtures::email_address();
        let mut links = Vec::new();
        for _ in 0..TASKS / 2 {
            let user = steps::sign_in(&*store).await.new_user;
            let command = PutEmail { address: address.clone(), ..fixtures::put_email(user) };
            let follow = fixtures::confirm_email(user, command.confirmation.unwrap());
            assert_eq!(store.put_email(command).await.unwrap(), EmailPut::Stored);
            links.push(follow);
        }
        let outcomes = at_once(links.into_iter().map(|follow| {
            let store = Arc::clone(&store);
            async move { store.confirm_email(follow).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &EmailConfirmed::Confirmed), 1);
        assert_eq!(count(&outcomes, &EmailConfirmed::SharedAddress), TASKS / 2 - 1);
    }
}

/// The owner of a mailbox follows a link while the user changes to another address. The link does not verify
/// the other address.
pub async fn a_link_never_confirms_another_address(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let mut users = Vec::new();
        for _ in 0..TASKS / 2 {
            let command = fixtures::put_email(steps::sign_in(&*store).await.new_user);
            assert_eq!(store.put_email(command.clone()).await.unwrap(), EmailPut::Stored);
            users.push((command.clone(), PutEmail { replace: true, ..fixtures::put_email(command.user) }));
        }
        let tasks = users.iter().flat_map(|(first, second)| {
            let follow = fixtures::confirm_email(first.user, first.confirmation.unwrap());
            let (here, there, second) = (Arc::clone(&store), Arc::clone(&store), second.clone());
            let tasks: [Pinned<()>; 2] = [
                Box::pin(async move {
                    here.confirm_email(follow).await.unwrap();
                }),
                Box::pin(async move {
                    assert_eq!(there.put_email(second).await.unwrap(), EmailPut::Stored);
                }),
            ];
            tasks
        });
        at_once(tasks.collect::<Vec<_>>()).await;
        for (_, second) in users {
            let expected = UserEmail {
                address: second.address,
                added_at: second.now,
                verified_at: None,
                confirmation: second.confirmation,
            };
            assert_eq!(store.find_email(second.user).await.unwrap(), Some(expected));
        }
    }
}
