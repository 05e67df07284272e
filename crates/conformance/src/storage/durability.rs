//! Rule 1: what was acknowledged is still there after the store was closed and opened again.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::group::{Group, GroupTitle};
use countersign_domain::subject::Subject;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{
    CountedGroup, DeleteClient, DeleteGroup, EmailPut, EndSession, KeyAdded, LoginCompleted, PurgeExpired,
    Redeemed, RegisterClient, RemoveBlock, RetitleGroup, Revoked, Rotated, SessionContinued, SessionOpened,
    Storage, UpdateClient, WalletLinked, WalletUnlinked,
};
use time::Duration;

use super::{clients, steps};
use crate::fixtures;
use crate::one_member::OneMember as _;

/// A client is read as it was registered, and its id stays taken.
pub async fn a_registered_client_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let mut client = fixtures::client();
    client.metadata.display = fixtures::full_display();
    open().await.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let store = open().await;
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
}

/// The new values are read, not the old ones.
pub async fn an_update_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let client = fixtures::client();
    let changed = Client { id: client.id, ..fixtures::public_client() };
    let store = open().await;
    store.register_client(RegisterClient { client, event: None }).await.unwrap();
    assert!(store.update_client(UpdateClient { client: changed.clone(), event: None }).await.unwrap());
    drop(store);
    assert_eq!(open().await.find_client(changed.id).await.unwrap(), Some(changed));
}

/// The resource is still open.
pub async fn an_opened_resource_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let client = fixtures::client();
    let store = open().await;
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert!(store.change_resources(clients::open(client.id, &["urn:a"])).await.unwrap());
    drop(store);
    assert_eq!(clients::opened(&*open().await, client.id).await, ["urn:a"]);
}

/// A decision about a client's people stays decided.
pub async fn a_decision_about_access_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let client = fixtures::client();
    let store = open().await;
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let command = fixtures::change_access(client.id, fixtures::rule("groups:a,b"));
    assert!(store.change_access(command.clone()).await.unwrap());
    drop(store);
    assert_eq!(clients::access_of(&*open().await, client.id).await.rule, command.rule);
}

/// A group with its title and its members, and what was taken away again.
pub async fn groups_and_members_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let login = steps::sign_in(&*store).await;
    let [group, deleted] = [steps::group(&*store).await, steps::group(&*store).await];
    let unseen = Subject::Wallet(fixtures::wallet_account());
    let members = [Subject::User(login.new_user), unseen.clone(), Subject::Wallet(login.account)];
    for member in &members {
        steps::add(&*store, &group, member).await;
    }
    assert!(store.remove_member(fixtures::remove_member(&group, &unseen)).await.unwrap());
    assert!(store.delete_group(DeleteGroup { name: deleted.clone(), event: None }).await.unwrap());
    let title = GroupTitle::parse("Staff").ok();
    let command = RetitleGroup { group: group.clone(), title: title.clone(), event: None };
    assert!(store.retitle_group(command).await.unwrap());
    drop(store);
    let store = open().await;
    let expected = CountedGroup { group: Group { title, ..fixtures::group(&group) }, users: 1, wallets: 1 };
    assert_eq!(store.list_groups(None, 10).await.unwrap(), [expected]);
    let listed = store.list_members(&group, None, 10).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|listed| listed.member).collect();
    assert_eq!(listed, [members[0].clone(), members[2].clone()]);
}

/// Whoever was blocked stays blocked, whoever was let in again stays in, and what ended stays ended.
pub async fn a_block_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let [user, wallet, free] =
        [steps::remember(&*store).await, steps::remember(&*store).await, steps::remember(&*store).await];
    let blocks = [fixtures::block_user(user.0.new_user), fixtures::block_wallet(&wallet.0.account)];
    let freed = fixtures::block_user(free.0.new_user);
    for command in blocks.iter().chain([&freed]) {
        steps::block(&*store, command.clone()).await;
    }
    assert!(store.remove_block(RemoveBlock { who: freed.who.clone(), event: None }).await.unwrap());
    for command in &blocks {
        let ended = store.end_access(fixtures::end_access(&command.who)).await.unwrap();
        assert_eq!((ended.sessions, ended.grants), (1, 1));
    }
    drop(store);
    let store = open().await;
    for (login, session) in [user, wallet] {
        let standing = steps::standing(&*store, &login.account).await;
        assert_eq!(standing.block.as_ref(), Some(&blocks[0].block));
        assert!(store.find_grant(login.id).await.unwrap().unwrap().revoked);
        assert_eq!(store.find_session(session.id).await.unwrap(), None);
    }
    assert_eq!(steps::standing(&*store, &free.0.account).await.block, None);
    assert_eq!(steps::session(&*store, free.1.id).await, free.1);
}

/// A deleted client does not come back.
pub async fn a_deletion_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let client = fixtures::client();
    let store = open().await;
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert!(store.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap());
    drop(store);
    assert_eq!(open().await.find_client(client.id).await.unwrap(), None);
}

/// An issued code can be redeemed.
pub async fn a_code_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let login = steps::sign_in(&*open().await).await;
    let store = open().await;
    assert_eq!(store.find_grant(login.id).await.unwrap().unwrap().code_hash, login.code_hash);
    let redemption = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Stored);
}

/// A restart does not make a used challenge valid again.
pub async fn a_used_challenge_stays_used(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let login = steps::sign_in(&*open().await).await;
    let mut again = fixtures::complete_login_of(login.account);
    again.id = login.id;
    let outcome = open().await.complete_login(again).await.unwrap();
    assert_eq!(outcome, LoginCompleted::ChallengeSpent);
}

/// A wallet that comes back belongs to the same user.
pub async fn a_wallet_keeps_its_user(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let login = steps::sign_in(&*open().await).await;
    let again = fixtures::complete_login_of(login.account);
    assert_eq!(steps::user_of(&*open().await, &again).await, login.new_user);
}

/// A restart does not take a wallet's name away.
pub async fn a_name_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let login = steps::sign_in(&*store).await;
    let command = fixtures::name_wallet(login.new_user, &login.account, "Savings");
    assert!(store.name_wallet(command).await.unwrap());
    drop(store);
    let wallets = open().await.wallets_of(login.new_user).await.unwrap();
    assert_eq!(wallets[0].name.as_ref().map(WalletName::as_str), Some("Savings"));
}

/// A restart does not make a redeemed code valid again; its tokens are still there.
pub async fn a_redeemed_code_stays_redeemed(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let token = steps::redeem(&*open().await).await;
    let store = open().await;
    assert_eq!(steps::stored(&*store, &token).await, token);
    assert!(steps::is_live(&*store, &token).await);
    let replay = fixtures::redeem_code(token.grant);
    assert_eq!(store.redeem_code(replay).await.unwrap(), Redeemed::Replayed);
}

/// A restart does not make a rotated refresh token valid again; the new one is valid.
pub async fn d_27_a_rotation_stays(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let first = steps::redeem(&*store).await;
    let second = steps::rotate(&*store, &first).await;
    drop(store);
    let store = open().await;
    let reuse = fixtures::rotate_refresh(&first);
    assert_eq!(store.rotate_refresh(reuse).await.unwrap(), Rotated::Reused);
    assert_eq!(steps::newest(&*store, &first).await, second.id);
    steps::rotate(&*store, &second).await;
}

/// What is revoked stays revoked.
pub async fn a_revoked_token_stays_revoked(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let token = steps::redeem(&*store).await;
    assert_eq!(store.revoke_token(fixtures::revoke_token(&token)).await.unwrap(), Revoked::Revoked);
    drop(store);
    assert!(steps::access(&*open().await, &token).await.token_revoked);
}

/// What is revoked stays revoked.
pub async fn a_revoked_grant_stays_revoked(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let token = steps::redeem(&*store).await;
    assert_eq!(store.revoke_grant(fixtures::revoke_grant(token.grant)).await.unwrap(), Revoked::Revoked);
    drop(store);
    let store = open().await;
    assert!(steps::access(&*store, &token).await.grant_revoked);
    let rotation = fixtures::rotate_refresh(&token);
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Revoked);
}

/// Tokens that were signed before a restart can be verified after it.
pub async fn a_signing_key_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let command = fixtures::add_signing_key();
    assert_eq!(open().await.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    assert_eq!(open().await.signing_keys().await.unwrap(), [command.key]);
}

/// What was purged does not come back.
pub async fn a_purge_stays(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let login = steps::sign_in(&*store).await;
    let before = login.forget_after + Duration::seconds(1);
    assert_eq!(store.purge_expired(PurgeExpired::oldest(fixtures::past(before), 10)).await.unwrap().rows, 1);
    drop(store);
    assert_eq!(open().await.find_grant(login.id).await.unwrap(), None);
}

/// A linked wallet stays its user's, and its challenge stays spent.
pub async fn a_link_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let login = steps::sign_in(&*store).await;
    let link = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
    let user = login.new_user;
    assert_eq!(store.link_wallet(link.clone()).await.unwrap(), WalletLinked::Linked { user });
    drop(store);
    let store = open().await;
    assert_eq!(store.link_wallet(link.clone()).await.unwrap(), WalletLinked::ChallengeSpent);
    let login = fixtures::complete_login_of(link.wallet);
    assert_eq!(steps::user_of(&*store, &login).await, user);
}

/// An unlinked wallet does not come back, its grants stay revoked, and its challenge stays spent.
pub async fn an_unlink_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let token = steps::redeem_by(&*store, &second).await;
    let unlink = fixtures::unlink_wallet(&first, &second);
    assert_eq!(store.unlink_wallet(unlink.clone()).await.unwrap(), WalletUnlinked::Unlinked { user });
    drop(store);
    let store = open().await;
    assert_eq!(store.unlink_wallet(unlink).await.unwrap(), WalletUnlinked::ChallengeSpent);
    assert_eq!(steps::accounts_of(&*store, user).await, [first]);
    assert!(!steps::is_live(&*store, &token).await);
}

/// A browser is remembered and continues where its user agreed, and that use is recorded too.
pub async fn a_session_and_a_consent_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*open().await).await;
    let store = open().await;
    assert_eq!(steps::session(&*store, session.id).await, session);
    let mut request = fixtures::continue_session(&session, login.client);
    request.login.now += Duration::minutes(1);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    drop(store);
    let store = open().await;
    assert_eq!(steps::session(&*store, session.id).await.last_used_at, request.login.now);
    let consent = steps::consent(&*store, login.new_user, login.client).await.unwrap();
    assert_eq!((consent.granted_at, consent.last_used_at), (login.now, request.login.now));
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    request.login.code_hash = fixtures::secret_hash();
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::RequestSpent);
}

/// A restart opens no session twice and brings none back.
pub async fn an_ended_session_stays_ended(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let command = fixtures::open_session();
    let user = steps::open(&*store, &command).await;
    drop(store);
    let store = open().await;
    assert_eq!(steps::open(&*store, &command).await, user);
    assert!(store.end_session(EndSession { user, id: command.session.id, event: None }).await.unwrap());
    drop(store);
    let store = open().await;
    assert_eq!(store.find_session(command.session.id).await.unwrap(), None);
    assert_eq!(store.open_session(command).await.unwrap(), SessionOpened::ChallengeSpent);
}

/// A revoked consent stays revoked.
pub async fn a_revoked_consent_stays_revoked(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let (login, session) = steps::remember(&*store).await;
    let revocation = fixtures::revoke_consent(login.new_user, login.client);
    assert!(store.revoke_consent(revocation).await.unwrap());
    drop(store);
    let store = open().await;
    assert_eq!(steps::consent(&*store, login.new_user, login.client).await, None);
    assert_eq!(store.redeem_code(fixtures::redeem_code(login.id)).await.unwrap(), Redeemed::Revoked);
    let request = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::ConsentMissing);
}

/// It stays on file or confirmed, and a removed one stays removed.
pub async fn an_address_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let user = steps::sign_in(&*store).await.new_user;
    let command = fixtures::put_email(user);
    assert_eq!(store.put_email(command.clone()).await.unwrap(), EmailPut::Stored);
    drop(store);
    let store = open().await;
    let link = store.find_email(user).await.unwrap().unwrap().confirmation.unwrap();
    assert_eq!(Some(link), command.confirmation);
    let confirmed = store.confirm_email(fixtures::confirm_email(user, link)).await.unwrap();
    assert_eq!(confirmed, countersign_ports::EmailConfirmed::Confirmed);
    drop(store);
    let store = open().await;
    assert_eq!(store.put_email(command).await.unwrap(), EmailPut::AlreadyVerified);
    assert!(store.remove_email(user).await.unwrap());
    drop(store);
    assert_eq!(open().await.find_email(user).await.unwrap(), None);
}

/// A deleted user does not come back.
pub async fn a_deleted_account_stays_deleted(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let (login, session) = steps::remember(&*store).await;
    let token = steps::redeem_by(&*store, &login.account).await;
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    drop(store);
    let store = open().await;
    assert_eq!(store.find_account(login.new_user).await.unwrap(), None);
    assert_eq!(store.find_session(session.id).await.unwrap(), None);
    assert!(!steps::is_live(&*store, &token).await);
    let back = fixtures::complete_login_of(login.account);
    assert_eq!(steps::user_of(&*store, &back).await, back.new_user);
}
