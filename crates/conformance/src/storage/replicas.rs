//! Two processes use one database: here, two stores that were opened on it.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::consent::ConsentDestination;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::signing_key::SealedKey;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AddSigningKey, CompleteLogin, DeleteClient, EmailPut, EndSession, KeyAdded, KnownAccess, LoginCompleted,
    OpenSession, Redeemed, RegisterClient, RemoveBlock, Revoked, Rotated, SessionContinued, SessionOpened,
    Storage, UpdateClient, WalletLinked, WalletUnlinked, WithdrawSigningKey,
};
use time::{Duration, OffsetDateTime};

use super::races::{Pinned, at_once, count};
use super::{clients, steps};
use crate::fixtures;
use crate::one_member::OneMember as _;

const TASKS: usize = 32;

/// Opens two stores on the database. The clauses use them in turns.
async fn replicas(open: impl AsyncFn() -> Arc<dyn Storage>) -> [Arc<dyn Storage>; 2] {
    [open().await, open().await]
}

fn in_turns(replicas: &[Arc<dyn Storage>; 2]) -> impl Iterator<Item = Arc<dyn Storage>> {
    (0..TASKS).map(|place| Arc::clone(&replicas[place % 2]))
}

/// From the answer on, no replica uses the old values, even one that has just read them.
pub async fn an_update_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let client = fixtures::client();
    let changed = Client { id: client.id, ..fixtures::public_client() };
    here.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert_eq!(there.find_client(client.id).await.unwrap(), Some(client));
    assert!(here.update_client(UpdateClient { client: changed.clone(), event: None }).await.unwrap());
    assert_eq!(there.find_client(changed.id).await.unwrap(), Some(changed));
}

/// Several operators at several machines.
pub async fn no_opened_resource_is_lost_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let client = fixtures::client();
    replicas[0].register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let uris: Vec<String> = (0..TASKS).map(|number| format!("urn:{number}")).collect();
    at_once(in_turns(&replicas).zip(&uris).map(|(store, uri)| {
        let change = clients::open(client.id, &[uri]);
        async move { assert!(store.change_resources(change).await.unwrap()) }
    }))
    .await;
    for replica in &replicas {
        let opened = clients::opened(&**replica, client.id).await;
        assert_eq!(clients::sorted(opened), clients::sorted(uris.clone()));
    }
}

/// From the answer on, the client and its tokens are gone everywhere.
pub async fn a_deletion_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let client = fixtures::client();
    here.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let login = CompleteLogin { client: client.id, ..fixtures::complete_login() };
    steps::user_of(&*here, &login).await;
    let redemption = fixtures::redeem_code(login.id);
    here.redeem_code(redemption.clone()).await.unwrap();
    assert!(there.find_client(client.id).await.unwrap().is_some());
    let known = KnownAccess::from(&steps::access(&*there, &redemption.token).await);
    assert!(here.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap());
    assert!(!there.lives_on(known).await.unwrap());
    assert_eq!(there.find_client(client.id).await.unwrap(), None);
    assert_eq!(there.find_access(redemption.token.id).await.unwrap(), None);
}

/// A revocation takes effect on the next request at every replica.
pub async fn a_088_a_revocation_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for _ in 0..TASKS {
        let [one, all] = [steps::redeem(&*here).await, steps::redeem(&*there).await];
        for token in [&one, &all] {
            assert!(steps::is_live(&*there, token).await);
        }
        assert_eq!(here.revoke_token(fixtures::revoke_token(&one)).await.unwrap(), Revoked::Revoked);
        assert_eq!(here.revoke_grant(fixtures::revoke_grant(all.grant)).await.unwrap(), Revoked::Revoked);
        for token in [&one, &all] {
            assert!(!steps::is_live(&*there, token).await);
        }
    }
}

/// Each step may go to a different replica.
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

/// Exactly one of many succeeds, wherever they arrive.
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

/// Exactly one of many succeeds, wherever they arrive.
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

/// Exactly one of many succeeds, wherever they arrive.
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

/// The slower one reads the other one's key, both at the first start and when a next key is due.
pub async fn two_replicas_agree_on_one_signing_key(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let [here, there] = &replicas;
    let first = fixtures::add_signing_key().key;
    let mut unless_after = OffsetDateTime::UNIX_EPOCH;
    for rotation in 0..8 {
        let active_from = fixtures::NOW + Duration::days(rotation);
        let outcomes =
            at_once(in_turns(&replicas).map(|store| {
                let key = SealedKey { active_from, ..fixtures::add_signing_key_beside(&first).key };
                async move {
                    store.add_signing_key(AddSigningKey { key, unless_after, event: None }).await.unwrap()
                }
            }))
            .await;
        assert_eq!(count(&outcomes, &KeyAdded::Stored), 1);
        unless_after = active_from;
    }
    let keys = here.signing_keys().await.unwrap();
    assert_eq!((keys.len(), &keys), (8, &there.signing_keys().await.unwrap()));
    assert!(
        here.withdraw_signing_key(WithdrawSigningKey {
            kid: keys[0].kid.clone(),
            now: fixtures::NOW,
            event: None
        })
        .await
        .unwrap()
    );
    assert!(
        !there
            .withdraw_signing_key(WithdrawSigningKey {
                kid: keys[0].kid.clone(),
                now: fixtures::NOW,
                event: None
            })
            .await
            .unwrap()
    );
}

/// From the answer on, the wallet belongs to nobody and its tokens are revoked everywhere.
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

/// Exactly one of many succeeds, wherever they arrive.
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

/// Each side unlinks a different wallet, and neither unlinks the last one.
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

/// A browser may be remembered at one replica and continue at the other. From the answer on, an ended session
/// is ended everywhere.
pub async fn a_088_an_end_of_a_session_is_seen_by_the_other_replica(
    open: impl AsyncFn() -> Arc<dyn Storage>,
) {
    let [here, there] = replicas(open).await;
    for _ in 0..TASKS {
        let (login, session) = steps::remember(&*here).await;
        let request = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*there, &request).await, SessionContinued::CodeIssued);
        assert_eq!(steps::proceed(&*here, &request).await, SessionContinued::CodeIssued);
        assert!(
            here.end_session(EndSession { user: login.new_user, id: session.id, event: None }).await.unwrap()
        );
        assert_eq!(there.find_session(session.id).await.unwrap(), None);
        let late = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*there, &late).await, SessionContinued::SessionEnded);
    }
}

/// From the answer on, nothing is granted anywhere, and what was granted is revoked.
pub async fn a_088_a_revoked_consent_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for _ in 0..TASKS {
        let (login, session) = steps::remember(&*there).await;
        let redemption = fixtures::redeem_code(login.id);
        there.redeem_code(redemption.clone()).await.unwrap();
        assert!(steps::is_live(&*there, &redemption.token).await);
        assert!(steps::consent(&*there, login.new_user, login.client).await.is_some());
        let revocation = fixtures::revoke_consent(login.new_user, login.client);
        assert!(here.revoke_consent(revocation).await.unwrap());
        assert!(!steps::is_live(&*there, &redemption.token).await);
        assert_eq!(steps::consent(&*there, login.new_user, login.client).await, None);
        let late = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*there, &late).await, SessionContinued::ConsentMissing);
    }
}

/// From the answer on, the user is gone everywhere.
pub async fn a_deleted_account_is_gone_on_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for _ in 0..8 {
        let (login, session) = steps::remember(&*here).await;
        let token = steps::redeem_by(&*there, &login.account).await;
        assert!(steps::is_live(&*there, &token).await);
        assert!(here.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
        assert_eq!(there.find_account(login.new_user).await.unwrap(), None);
        assert_eq!(there.find_session(session.id).await.unwrap(), None);
        assert!(!steps::is_live(&*there, &token).await);
        let back = fixtures::complete_login_of(login.account);
        assert_eq!(steps::user_of(&*there, &back).await, back.new_user);
        assert_eq!(steps::account(&*here, back.new_user).await.consents.len(), 1);
    }
}

/// An address that was stored at one replica is confirmed at the other, once.
pub async fn an_address_is_confirmed_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let user = steps::sign_in(&*replicas[0]).await.new_user;
    let puts = at_once(in_turns(&replicas).map(|store| {
        let command = fixtures::put_email(user);
        async move { store.put_email(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&puts, &EmailPut::Stored), 1);
    assert_eq!(count(&puts, &EmailPut::OtherOnFile), TASKS - 1);
    let on_file = replicas[1].find_email(user).await.unwrap().unwrap();
    let follow = fixtures::confirm_email(user, on_file.confirmation.unwrap());
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let follow = follow.clone();
        async move { store.confirm_email(follow).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &countersign_ports::EmailConfirmed::Confirmed), 1);
    for store in &replicas {
        assert!(store.find_email(user).await.unwrap().unwrap().verified_at.is_some());
    }
}

/// Exactly one of many succeeds, wherever they arrive.
pub async fn d_08_one_request_is_continued_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let (login, session) = steps::remember(&*replicas[0]).await;
    let id = fixtures::grant_id();
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let mut command = fixtures::continue_session(&session, login.client);
        command.login.id = id;
        async move { steps::proceed(&*store, &command).await }
    }))
    .await;
    assert_eq!(count(&outcomes, &SessionContinued::CodeIssued), 1);
    assert_eq!(count(&outcomes, &SessionContinued::RequestSpent), TASKS - 1);
}

/// Exactly one of many succeeds, wherever they arrive, and all agree which user the wallet belongs to.
pub async fn d_08_one_challenge_opens_one_session_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    let account = fixtures::wallet_account();
    let id = fixtures::grant_id();
    let outcomes = at_once(in_turns(&replicas).map(|store| {
        let command = OpenSession { id, ..fixtures::open_session_of(account.clone()) };
        async move { store.open_session(command).await.unwrap() }
    }))
    .await;
    assert_eq!(count(&outcomes, &SessionOpened::ChallengeSpent), TASKS - 1);
    let users = at_once(in_turns(&replicas).map(|store| {
        let command = fixtures::open_session_of(account.clone());
        async move { steps::open(&*store, &command).await }
    }))
    .await;
    assert_eq!(count(&outcomes, &SessionOpened::Opened { user: users[0] }), 1);
    assert_eq!(count(&users, &users[0]), TASKS);
}

/// Logins and continuations at one replica while the consent is revoked at the other. Active grants match the
/// user's consents.
pub async fn no_grant_outlives_its_consent_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    for _ in 0..8 {
        let (login, session) = steps::remember(&*replicas[0]).await;
        let (user, client) = (login.new_user, login.client);
        let grants = at_once(in_turns(&replicas).enumerate().map(|(place, store)| {
            let scope = ScopeSet::of(&[Scope::ALL[place % Scope::ALL.len()]]);
            let mut again =
                CompleteLogin { client, scope, ..fixtures::complete_login_of(login.account.clone()) };
            again.terms.destination = ConsentDestination::parse(&format!("https://{}.example", place % 5));
            let request = fixtures::continue_session(&session, client);
            let task: Pinned<Option<GrantId>> = Box::pin(async move {
                match place {
                    // One on each side.
                    7 | 20 => {
                        store.revoke_consent(fixtures::revoke_consent(user, client)).await.unwrap();
                        None
                    }
                    _ if place % 3 == 0 => {
                        let refusal = SessionContinued::ConsentMissing;
                        steps::proceed_unless(&*store, &request, refusal).await
                    }
                    _ => {
                        assert_eq!(steps::user_of(&*store, &again).await, user);
                        Some(again.id)
                    }
                }
            });
            task
        }))
        .await;
        let mut lives = None;
        for grant in grants.into_iter().flatten().chain([login.id]) {
            let grant = replicas[0].find_grant(grant).await.unwrap().unwrap();
            if !grant.revoked {
                lives = Some(grant.scope.union(&lives.unwrap_or_default()));
            }
        }
        let consents = replicas[1].consents_at(user, client).await.unwrap();
        assert_eq!(
            consents.into_iter().map(|consent| consent.scope).reduce(|all, one| all.union(&one)),
            lives
        );
    }
}

/// When the user of a wallet is deleted, the wallet's login either belongs to the old user and is deleted
/// too, or makes a new user on whom all agree.
pub async fn nothing_outlives_an_account_that_is_deleted_on_the_other_replica(
    open: impl AsyncFn() -> Arc<dyn Storage>,
) {
    let replicas = replicas(open).await;
    for _ in 0..8 {
        let (old, _) = steps::remember(&*replicas[0]).await;
        let user = old.new_user;
        let logins = at_once(in_turns(&replicas).enumerate().map(|(place, store)| {
            let login = fixtures::remembered_login_of(old.account.clone());
            let task: Pinned<Option<CompleteLogin>> = Box::pin(async move {
                if place == 9 {
                    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
                    return None;
                }
                steps::user_of(&*store, &login).await;
                Some(login)
            });
            task
        }))
        .await;
        let last = fixtures::complete_login_of(old.account);
        let owner = steps::user_of(&*replicas[0], &last).await;
        assert_eq!(replicas[1].find_account(user).await.unwrap(), None);
        for login in logins.into_iter().flatten() {
            let grant = replicas[1].find_grant(login.id).await.unwrap();
            let is_live = grant.is_some_and(|grant| !grant.revoked && grant.holder.user() == Some(owner));
            let session = replicas[1].find_session(login.session.unwrap().id).await.unwrap();
            assert_eq!(session.map(|session| session.user), is_live.then_some(owner));
            let consent = steps::consent(&*replicas[1], owner, login.client).await;
            assert_eq!(consent.is_some(), is_live);
        }
    }
}

/// From the answer on, no replica lets the user or the wallet in, and nothing of what they had works, even at
/// one that has just read it.
pub async fn a_088_a_block_is_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    for place in 0..TASKS / 2 {
        let (login, session) = steps::remember(&*there).await;
        let token = steps::redeem_by(&*there, &login.account).await;
        assert!(steps::is_live(&*here, &token).await && steps::is_live(&*there, &token).await);
        assert_eq!(steps::standing(&*there, &login.account).await.block, None);
        let command = if place % 2 == 0 {
            fixtures::block_user(login.new_user)
        } else {
            fixtures::block_wallet(&login.account)
        };
        assert_eq!(there.anything_blocked().await.unwrap(), place > 0);
        steps::block(&*here, command.clone()).await;
        assert!(there.anything_blocked().await.unwrap());
        assert_eq!(steps::standing(&*there, &login.account).await.block, Some(command.block.clone()));
        let unlink = fixtures::unlink_wallet(&login.account, &login.account);
        assert_eq!(there.unlink_wallet(unlink).await.unwrap(), WalletUnlinked::Blocked);

        let known = KnownAccess::from(&steps::access(&*there, &token).await);
        let ended = here.end_access(fixtures::end_access(&command.who)).await.unwrap();
        assert_eq!((ended.sessions, ended.grants, ended.clients.len()), (1, 2, 1));
        assert!(!there.lives_on(known).await.unwrap());
        assert!(!steps::is_live(&*there, &token).await);
        let request = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*there, &request).await, SessionContinued::SessionEnded);
        assert!(there.remove_block(RemoveBlock { who: command.who.clone(), event: None }).await.unwrap());
        assert_eq!(steps::standing(&*here, &login.account).await.block, None);
        steps::block(&*here, command).await;
    }
}

/// A member who was added, and one who was taken out, from the answer on.
pub async fn members_and_rules_are_seen_by_the_other_replica(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let [here, there] = replicas(open).await;
    let client = fixtures::client();
    here.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    for _ in 0..TASKS / 2 {
        let login = steps::sign_in(&*there).await;
        let group = steps::group(&*here).await;
        let rule = fixtures::rule(&format!("groups:{group}"));
        assert!(here.change_access(fixtures::change_access(client.id, rule.clone())).await.unwrap());
        assert_eq!(clients::access_of(&*there, client.id).await.rule, Some(rule.clone()));
        for member in [Subject::User(login.new_user), Subject::Wallet(login.account.clone())] {
            assert!(!rule.admits(&steps::standing(&*there, &login.account).await));
            steps::add(&*here, &group, &member).await;
            assert!(rule.admits(&steps::standing(&*there, &login.account).await));
            assert_eq!(there.groups_of(login.new_user).await.unwrap(), std::slice::from_ref(&group));
            assert!(there.remove_member(fixtures::remove_member(&group, &member)).await.unwrap());
            assert!(!rule.admits(&steps::standing(&*here, &login.account).await));
        }
    }
}

/// The user is blocked at one replica while their wallets are unlinked at both.
pub async fn no_wallet_changes_hands_after_a_block_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let replicas = replicas(open).await;
    for round in 0..8 {
        let mut users = Vec::new();
        for _ in 0..TASKS / 4 {
            let (user, [stays, goes]) = steps::user_with_two_wallets(&*replicas[0]).await;
            let other = fixtures::wallet_account();
            steps::link(&*replicas[0], &stays, &other).await;
            users.push((user, stays, [goes, other]));
        }
        let tasks = users.iter().flat_map(|(user, stays, goes)| {
            let (user, store) = (*user, Arc::clone(&replicas[round % 2]));
            let blocking: Pinned<Option<(UserId, Vec<WalletAccount>)>> = Box::pin(async move {
                // Spreads the order: before, among and after the others.
                for _ in 0..round {
                    store.wallets_of(user).await.unwrap();
                }
                steps::block(&*store, fixtures::block_user(user)).await;
                Some((user, steps::accounts_of(&*store, user).await))
            });
            let unlinking = goes.iter().zip(&replicas).map(|(wallet, store)| {
                let (store, command) = (Arc::clone(store), fixtures::unlink_wallet(stays, wallet));
                let task: Pinned<Option<(UserId, Vec<WalletAccount>)>> = Box::pin(async move {
                    let outcome = store.unlink_wallet(command).await.unwrap();
                    assert!(
                        outcome == WalletUnlinked::Blocked || outcome == WalletUnlinked::Unlinked { user }
                    );
                    None
                });
                task
            });
            unlinking.chain([blocking]).collect::<Vec<_>>()
        });
        for (user, then) in at_once(tasks.collect::<Vec<_>>()).await.into_iter().flatten() {
            assert_eq!(steps::accounts_of(&*replicas[1], user).await, then);
        }
    }
}
