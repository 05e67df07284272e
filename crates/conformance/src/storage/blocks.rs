//! Users and wallets are kept out, and what was given to them ends.

use std::sync::Arc;

use countersign_domain::admission::{Block, Standing};
use countersign_domain::grant::RevocationReason;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::login_session::LoginSession;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AccessEnded, BlockPut, BlockedWallet, CompleteLogin, ContinueSession, DeleteAccount, EndAccess,
    LinkWallet, NewSession, PutBlock, Redeemed, RemoveBlock, Rotated, SessionClient, SessionContinued,
    Storage, UnlinkWallet, WalletLinked, WalletUnlinked,
};
use time::Duration;

use super::steps;
use crate::fixtures;

const HOUR: Duration = Duration::hours(1);

/// The block that the fixtures put.
fn block() -> Block {
    fixtures::block_user(fixtures::user_id()).block
}

async fn put(store: &dyn Storage, command: &PutBlock) -> BlockPut {
    store.put_block(command.clone()).await.unwrap()
}

async fn remove(store: &dyn Storage, who: &Subject) -> bool {
    store.remove_block(RemoveBlock { who: who.clone(), event: None }).await.unwrap()
}

async fn end(store: &dyn Storage, who: &Subject) -> AccessEnded {
    store.end_access(fixtures::end_access(who)).await.unwrap()
}

async fn any(store: &dyn Storage) -> bool {
    store.anything_blocked().await.unwrap()
}

async fn of_user(store: &dyn Storage, user: UserId) -> Option<Block> {
    store.block_of_user(user).await.unwrap()
}

async fn wallets(store: &dyn Storage) -> Vec<BlockedWallet> {
    store.blocked_wallets(None, u32::MAX).await.unwrap()
}

async fn is_revoked(store: &dyn Storage, grant: GrantId) -> bool {
    store.find_grant(grant).await.unwrap().unwrap().revoked
}

async fn lasts(store: &dyn Storage, session: &LoginSession) -> bool {
    store.find_session(session.id).await.unwrap().is_some()
}

fn wallet(account: &WalletAccount) -> Subject {
    Subject::Wallet(account.clone())
}

fn elsewhere(account: &WalletAccount) -> WalletAccount {
    WalletAccount { chain: "eip155:137".to_owned(), ..account.clone() }
}

fn namesake(account: &WalletAccount) -> WalletAccount {
    WalletAccount { family: "cosmos:hub".to_owned(), chain: "cosmos:hub".to_owned(), ..account.clone() }
}

/// Whoever signs in and joins groups blocks nobody.
pub async fn nobody_is_blocked_at_first(store: Arc<dyn Storage>) {
    assert!(!any(&*store).await);
    let (login, _) = steps::remember(&*store).await;
    assert!(!any(&*store).await);
    assert_eq!(wallets(&*store).await, []);
    assert_eq!(of_user(&*store, login.new_user).await, None);
    assert_eq!(steps::standing(&*store, &login.account).await.block, None);
}

/// With every wallet of theirs, those included that come later. Others are not.
pub async fn a_blocked_user_is_kept_out_with_every_wallet(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let bystander = steps::sign_in(&*store).await;
    steps::block(&*store, fixtures::block_user(user)).await;
    assert!(any(&*store).await);
    assert_eq!(of_user(&*store, user).await, Some(block()));
    for account in [&first, &second, &elsewhere(&second)] {
        let expected = Standing { user: Some(user), block: Some(block()), groups: Vec::new() };
        assert_eq!(steps::standing(&*store, account).await, expected);
    }
    assert_eq!(wallets(&*store).await, [], "no wallet is blocked by itself");
    assert_eq!(of_user(&*store, bystander.new_user).await, None);
    for account in [&bystander.account, &fixtures::wallet_account(), &namesake(&first)] {
        assert_eq!(steps::standing(&*store, account).await.block, None);
    }
}

/// Whatever its chain, before anybody signs in with it and afterwards, and whomever it belongs to. The user's
/// other wallets are not.
pub async fn a_blocked_wallet_is_kept_out_alone(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let unseen = fixtures::complete_login();
    for account in [&first, &unseen.account] {
        steps::block(&*store, fixtures::block_wallet(account)).await;
    }
    assert!(any(&*store).await);
    for account in [&first, &elsewhere(&first)] {
        let expected = Standing { user: Some(user), block: Some(block()), groups: Vec::new() };
        assert_eq!(steps::standing(&*store, account).await, expected);
    }
    assert_eq!(of_user(&*store, user).await, None, "a wallet's block is none of its user's");
    for account in [&second, &namesake(&first), &fixtures::wallet_account()] {
        assert_eq!(steps::standing(&*store, account).await.block, None);
    }
    let expected = Standing { block: Some(block()), ..Standing::default() };
    assert_eq!(steps::standing(&*store, &unseen.account).await, expected);
    assert_eq!(store.find_owner(unseen.account.clone()).await.unwrap(), None, "a block makes no user");
    steps::user_of(&*store, &unseen).await;
    let expected = Standing { user: Some(unseen.new_user), ..expected };
    assert_eq!(steps::standing(&*store, &unseen.account).await, expected);
}

/// A user's block is told before that of the wallet, and each stays when the other is removed.
pub async fn a_user_and_their_wallet_are_blocked_each_by_itself(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let [of_theirs, of_wallet] =
        ["user", "wallet"].map(|reason| Block { reason: Some(reason.to_owned()), ..block() });
    let user = Subject::User(login.new_user);
    let told = async || steps::standing(&*store, &login.account).await.block;
    let put_wallet = PutBlock { who: wallet(&login.account), block: of_wallet.clone(), event: None };
    steps::block(&*store, put_wallet.clone()).await;
    assert_eq!(told().await, Some(of_wallet.clone()));
    steps::block(&*store, PutBlock { who: user.clone(), block: of_theirs.clone(), event: None }).await;
    assert_eq!(told().await, Some(of_theirs.clone()));
    assert!(remove(&*store, &user).await);
    assert_eq!(told().await, Some(of_wallet));
    steps::block(&*store, PutBlock { who: user.clone(), block: of_theirs.clone(), event: None }).await;
    assert!(remove(&*store, &put_wallet.who).await);
    assert_eq!(told().await, Some(of_theirs));
    assert!(any(&*store).await);
    assert!(remove(&*store, &user).await);
    assert_eq!(told().await, None);
    assert!(!any(&*store).await);
}

/// Its reason changes if the new one has any.
pub async fn a_block_that_is_there_keeps_its_time_and_chain(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let found = async |who: &Subject| match who {
        Subject::User(user) => of_user(&*store, *user).await.unwrap(),
        Subject::Wallet(_) => {
            let [blocked] = wallets(&*store).await.try_into().unwrap();
            assert_eq!(blocked.account, login.account);
            blocked.block
        }
    };
    for (first, again) in [
        (Subject::User(login.new_user), Subject::User(login.new_user)),
        (wallet(&login.account), wallet(&elsewhere(&login.account))),
    ] {
        let first = PutBlock { who: first, block: Block { reason: None, ..block() }, event: None };
        steps::block(&*store, first.clone()).await;
        let (same, replaced) = (BlockPut::AlreadyThere, BlockPut::ReasonReplaced);
        for (given, kept, answer) in [
            (None, None, same),
            (Some("spam"), Some("spam"), replaced),
            (None, Some("spam"), same),
            (Some("spam"), Some("spam"), same),
            (Some("fraud"), Some("fraud"), replaced),
        ] {
            let [given, kept] = [given, kept].map(|reason| reason.map(str::to_owned));
            let block = Block { at: fixtures::NOW + HOUR, reason: given };
            let later = PutBlock { who: again.clone(), block, event: None };
            assert_eq!(put(&*store, &later).await, answer);
            assert_eq!(found(&first.who).await, Block { at: fixtures::NOW, reason: kept });
        }
        assert_eq!(put(&*store, &first).await, BlockPut::AlreadyThere, "the same command again");
    }
}

/// A block makes no user, and waits for none.
pub async fn a_user_who_does_not_exist_is_not_blocked(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    let command = fixtures::block_user(login.new_user);
    assert_eq!(put(&*store, &command).await, BlockPut::UserUnknown);
    assert!(!any(&*store).await);
    assert!(!remove(&*store, &command.who).await);
    assert_eq!(of_user(&*store, login.new_user).await, None);
    assert_eq!(store.find_account(login.new_user).await.unwrap(), None);
    steps::user_of(&*store, &login).await;
    assert_eq!(steps::standing(&*store, &login.account).await.block, None);
}

/// It can be put again, with its own time. Other blocks stay.
pub async fn a_block_that_was_removed_is_gone(store: Arc<dyn Storage>) {
    let [login, bystander] = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
    for login in [&login, &bystander] {
        steps::block(&*store, fixtures::block_user(login.new_user)).await;
        steps::block(&*store, fixtures::block_wallet(&login.account)).await;
    }
    let who = [Subject::User(login.new_user), wallet(&elsewhere(&login.account))];
    for who in &who {
        assert!(!remove(&*store, &wallet(&namesake(&login.account))).await);
        assert!(remove(&*store, who).await);
        assert!(!remove(&*store, who).await, "it was removed");
    }
    assert_eq!(steps::standing(&*store, &login.account).await.block, None);
    assert_eq!(of_user(&*store, bystander.new_user).await, Some(block()));
    let [left] = wallets(&*store).await.try_into().unwrap();
    assert_eq!(left.account, bystander.account);
    let again = Block { at: fixtures::NOW + HOUR, reason: None };
    for who in who {
        steps::block(&*store, PutBlock { who, block: again.clone(), event: None }).await;
    }
    assert_eq!(of_user(&*store, login.new_user).await, Some(again.clone()));
    let [first, second] = wallets(&*store).await.try_into().unwrap();
    let blocked = if first.account == elsewhere(&login.account) { first } else { second };
    assert_eq!(blocked.block, again);
}

/// No reason at all, and whatever an operator writes, to the microsecond.
pub async fn every_value_of_a_block_survives(store: Arc<dyn Storage>) {
    let reasons =
        ["", "spam", "Ünïcödé 名前\nnext line\t🦀", "'; DROP TABLE blocked_users; --", "%s $1 ? \\x00"];
    for reason in reasons.map(Some).into_iter().chain([None]) {
        let login = steps::sign_in(&*store).await;
        let at = fixtures::NOW + Duration::microseconds(123_457);
        let block = Block { at, reason: reason.map(str::to_owned) };
        for who in [wallet(&login.account), Subject::User(login.new_user)] {
            steps::block(&*store, PutBlock { who, block: block.clone(), event: None }).await;
            assert_eq!(steps::standing(&*store, &login.account).await.block, Some(block.clone()));
        }
        assert_eq!(of_user(&*store, login.new_user).await, Some(block.clone()));
        assert!(wallets(&*store).await.iter().any(|blocked| blocked.block == block));
    }
}

/// By family and address, byte for byte, with the chain of the command and the user of now.
pub async fn blocked_wallets_are_listed_in_pages(store: Arc<dyn Storage>) {
    let (user, [first, _]) = steps::user_with_two_wallets(&*store).await;
    let mut expected = vec![BlockedWallet { account: elsewhere(&first), block: block(), user: Some(user) }];
    for (family, address) in [
        ("Z:1", "b"),
        ("a", "B"),
        ("a", "a"),
        ("a", "b:c"),
        ("a", "_"),
        ("a:b", "c"),
        ("a", "ß"),
        ("a", "z"),
        ("b", ""),
    ] {
        let chain = format!("{family}:chain");
        let account = WalletAccount { family: family.to_owned(), chain, address: address.to_owned() };
        expected.push(BlockedWallet { account, block: block(), user: None });
    }
    for blocked in &expected {
        steps::block(&*store, fixtures::block_wallet(&blocked.account)).await;
    }
    steps::block(&*store, fixtures::block_user(user)).await;
    expected.sort_by(|BlockedWallet { account: one, .. }, BlockedWallet { account: other, .. }| {
        (&one.family, &one.address).cmp(&(&other.family, &other.address))
    });
    let page = async |after: Option<&BlockedWallet>, limit| {
        store.blocked_wallets(after.map(|after| &after.account), limit).await.unwrap()
    };
    assert_eq!(page(None, u32::MAX).await, expected);
    for limit in 1..=expected.len() {
        let mut paged: Vec<BlockedWallet> = Vec::new();
        loop {
            let next = page(paged.last(), u32::try_from(limit).unwrap()).await;
            assert!(next.len() <= limit);
            if next.is_empty() {
                break;
            }
            paged.extend(next);
            assert!(paged.len() <= expected.len(), "a page repeats what came before");
        }
        assert_eq!(paged, expected, "in pages of {limit}");
    }
    assert_eq!(page(None, 0).await, []);
    assert!(remove(&*store, &wallet(&expected[6].account)).await);
    assert_eq!(page(Some(&expected[6]), 1).await, expected[7..8], "a page may start after a removed block");
    let never = WalletAccount { address: "b".to_owned(), ..expected[2].account.clone() };
    let found = store.blocked_wallets(Some(&never), 1).await.unwrap();
    let later = expected
        .iter()
        .find(|listed| (&listed.account.family, &listed.account.address) > (&never.family, &never.address));
    assert_eq!(found.first(), later, "or after a wallet that never was blocked");
}

/// Storage judges nobody: the caller does. What was given lasts until it is ended.
pub async fn a_block_alone_ends_nothing(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let token = steps::redeem_by(&*store, &login.account).await;
    let before = steps::account(&*store, login.new_user).await;
    steps::block(&*store, fixtures::block_user(login.new_user)).await;
    steps::block(&*store, fixtures::block_wallet(&login.account)).await;
    assert_eq!(steps::account(&*store, login.new_user).await, before);
    assert!(steps::is_live(&*store, &token).await);
    let request = fixtures::continue_session(&session, login.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    let again = fixtures::complete_login_of(login.account.clone());
    assert_eq!(steps::user_of(&*store, &again).await, login.new_user);
}

/// Codes, tokens and sessions of all their wallets. What they agreed to stays, and so do other users at the
/// same client. Signing in afterwards works as it always does.
pub async fn a_088_what_a_user_was_given_ends(store: Arc<dyn Storage>) {
    let (user, accounts) = steps::user_with_two_wallets(&*store).await;
    let mut ended = Vec::new();
    for account in accounts.clone() {
        let waiting = fixtures::remembered_login_of(account.clone());
        let session = steps::remember_by(&*store, &waiting).await;
        let first = steps::redeem_by(&*store, &account).await;
        let newest = steps::rotate(&*store, &first).await;
        ended.push((waiting, session, first, newest));
    }
    let bystander = CompleteLogin { client: ended[0].0.client, ..fixtures::remembered_login() };
    let theirs = steps::remember_by(&*store, &bystander).await;
    let consents = steps::account(&*store, user).await.consents;

    let done = end(&*store, &Subject::User(user)).await;
    // Two grants of each wallet, and the login of the user's first wallet.
    assert_eq!((done.sessions, done.grants), (2, 5));
    for (waiting, session, first, newest) in &ended {
        let outcome = store.redeem_code(fixtures::redeem_code(waiting.id)).await.unwrap();
        assert_eq!(outcome, Redeemed::Revoked);
        assert!(!lasts(&*store, session).await);
        let request = fixtures::continue_session(session, waiting.client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::SessionEnded);
        for token in [first, newest] {
            assert!(!steps::is_live(&*store, token).await);
        }
        let outcome = store.rotate_refresh(fixtures::rotate_refresh(newest)).await.unwrap();
        assert_eq!(outcome, Rotated::Revoked);
    }
    assert_eq!(end(&*store, &Subject::User(user)).await, AccessEnded::default(), "nothing is left to end");
    let account = steps::account(&*store, user).await;
    assert_eq!((account.consents, account.wallets.len(), account.sessions), (consents, 2, vec![]));
    assert!(lasts(&*store, &theirs).await && !is_revoked(&*store, bystander.id).await);
    assert_eq!(of_user(&*store, user).await, None, "ending blocks nobody");

    let (waiting, ..) = &ended[0];
    let again = fixtures::remembered_login_of(accounts[1].clone());
    let again = CompleteLogin { client: waiting.client, ..again };
    let session = steps::remember_by(&*store, &again).await;
    let request = fixtures::continue_session(&session, waiting.client);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert!(!is_revoked(&*store, again.id).await);
}

/// On whatever chain it signed. What the user's other wallets gave lasts.
pub async fn a_088_what_a_wallet_gave_ends(store: Arc<dyn Storage>) {
    let (_, [first, second]) = steps::user_with_two_wallets(&*store).await;
    steps::link(&*store, &second, &namesake(&first)).await;
    let mut given = Vec::new();
    for account in [first.clone(), elsewhere(&first), second.clone(), namesake(&first)] {
        let login = fixtures::remembered_login_of(account.clone());
        let session = steps::remember_by(&*store, &login).await;
        let request = fixtures::continue_session(&session, login.client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
        let token = steps::redeem_by(&*store, &account).await;
        given.push((session, [login.id, request.login.id], token));
    }
    let chain = "eip155:10".to_owned();
    let done = end(&*store, &wallet(&WalletAccount { chain, ..first.clone() })).await;
    // Three grants on each chain, and the user's first login.
    assert_eq!((done.sessions, done.grants), (2, 7));
    for (place, (session, grants, token)) in given.iter().enumerate() {
        let stays = place >= 2;
        assert_eq!(lasts(&*store, session).await, stays);
        assert_eq!(steps::is_live(&*store, token).await, stays);
        for grant in grants {
            assert_eq!(is_revoked(&*store, *grant).await, !stays);
        }
    }
    assert_eq!(end(&*store, &wallet(&first)).await, AccessEnded::default());
    let again = fixtures::complete_login_of(first);
    steps::user_of(&*store, &again).await;
    assert!(!is_revoked(&*store, again.id).await);
}

/// A user who does not exist, one who has nothing, and a wallet that never signed.
pub async fn ending_the_access_of_nobody_ends_nothing(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let idle = steps::sign_in(&*store).await;
    store.revoke_grant(fixtures::revoke_grant(idle.id)).await.unwrap();
    for who in [
        Subject::User(fixtures::user_id()),
        Subject::User(idle.new_user),
        wallet(&idle.account),
        wallet(&fixtures::wallet_account()),
        wallet(&namesake(&login.account)),
    ] {
        assert_eq!(end(&*store, &who).await, AccessEnded::default(), "{who:?}");
    }
    assert!(lasts(&*store, &session).await && !is_revoked(&*store, login.id).await);
}

/// Each client once for each session that ended, for back-channel logout. Expired sessions count. A grant that
/// was revoked before, and one that belongs to no session, name no client.
pub async fn the_clients_of_ended_sessions_are_told(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let bystander = steps::remember(&*store).await.1;
    let mut expected = Vec::new();
    for (account, expires_in) in [(&first, HOUR), (&second, HOUR), (&second, Duration::seconds(1))] {
        let session = NewSession { expires_at: fixtures::NOW + expires_in, ..fixtures::new_session() };
        let login = CompleteLogin { session: Some(session), ..fixtures::complete_login_of(account.clone()) };
        let session = steps::remember_by(&*store, &login).await;
        for _ in 0..2 {
            let request = fixtures::continue_session(&session, login.client);
            assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
        }
        let client = login.client;
        expected.push((account, (user, SessionClient { session: session.id, client })));
        let revoked = fixtures::complete_login_of(account.clone());
        steps::user_of(&*store, &revoked).await;
        let request = fixtures::continue_session(&session, revoked.client);
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
        store.revoke_grant(fixtures::revoke_grant(request.login.id)).await.unwrap();
    }
    let told = |account: Option<&WalletAccount>| {
        let of = expected.iter().filter(|(of, _)| account.is_none_or(|account| account == *of));
        let mut clients: Vec<_> = of.map(|(_, client)| *client).collect();
        clients.sort_unstable();
        clients
    };
    let done = end(&*store, &wallet(&first)).await;
    assert_eq!((done.clients, done.sessions), (told(Some(&first)), 1));
    let done = end(&*store, &Subject::User(user)).await;
    assert_eq!((done.clients, done.sessions), (told(Some(&second)), 2));
    assert!(lasts(&*store, &bystander).await);
    assert_eq!(told(None).len(), 3);
}

/// An operator's sign-out. The clients of what is kept are told of the session's end too.
pub async fn what_is_kept_outlives_the_sessions(store: Arc<dyn Storage>) {
    let kept = CompleteLogin { scope: ScopeSet::of(&Scope::ALL), ..fixtures::remembered_login() };
    let session = steps::remember_by(&*store, &kept).await;
    let own = CompleteLogin {
        scope: ScopeSet::of(&[Scope::OpenId, Scope::Wallets]),
        ..fixtures::complete_login_of(kept.account.clone())
    };
    let user = steps::user_of(&*store, &own).await;
    let request = fixtures::continue_session(&session, kept.client);
    let continued = CompleteLogin { scope: ScopeSet::of(&[Scope::Profile]), ..request.login.clone() };
    let request = ContinueSession { login: continued, ..request };
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    let command = EndAccess {
        reason: RevocationReason::Operator,
        keeps: Some(Scope::OfflineAccess),
        ..fixtures::end_access(&Subject::User(user))
    };
    let clients = vec![(user, SessionClient { session: session.id, client: kept.client })];
    let done = store.end_access(command.clone()).await.unwrap();
    assert_eq!(done, AccessEnded { clients, sessions: 1, grants: 2 });
    assert!(!lasts(&*store, &session).await);
    for (id, ends) in [(kept.id, false), (own.id, true), (request.login.id, true)] {
        assert_eq!(is_revoked(&*store, id).await, ends);
    }
    assert_eq!(store.end_access(command).await.unwrap(), AccessEnded::default());
    assert_eq!(end(&*store, &Subject::User(user)).await.grants, 1, "a block keeps nothing");
}

/// A session that is not signed for by a client's login tells no client.
pub async fn an_opened_session_ends_without_clients(store: Arc<dyn Storage>) {
    let opening = fixtures::open_session();
    let user = steps::open(&*store, &opening).await;
    let done = store
        .end_access(EndAccess { now: fixtures::NOW + HOUR, ..fixtures::end_access(&Subject::User(user)) });
    let expected = AccessEnded { sessions: 1, ..AccessEnded::default() };
    assert_eq!(done.await.unwrap(), expected);
    assert_eq!(store.find_session(opening.session.id).await.unwrap(), None);
}

/// The challenge is spent all the same. Once the user is let in again, the next one works.
pub async fn a_blocked_user_changes_no_wallets(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let new = fixtures::wallet_account();
    steps::block(&*store, fixtures::block_user(user)).await;
    let links = [&new, &second].map(|wallet| fixtures::link_wallet(&first, wallet));
    let unlinks = [&first, &second, &new].map(|wallet| fixtures::unlink_wallet(&first, wallet));
    for command in &links {
        assert_eq!(store.link_wallet(command.clone()).await.unwrap(), WalletLinked::Blocked);
    }
    for command in &unlinks {
        assert_eq!(store.unlink_wallet(command.clone()).await.unwrap(), WalletUnlinked::Blocked);
    }
    assert_eq!(steps::accounts_of(&*store, user).await, [first.clone(), second.clone()]);
    assert_eq!(store.find_owner(new.clone()).await.unwrap(), None);

    assert!(remove(&*store, &Subject::User(user)).await);
    for command in links {
        assert_eq!(store.link_wallet(command).await.unwrap(), WalletLinked::ChallengeSpent, "F-17");
    }
    for command in unlinks {
        assert_eq!(store.unlink_wallet(command).await.unwrap(), WalletUnlinked::ChallengeSpent, "F-17");
    }
    steps::link(&*store, &first, &new).await;
    steps::unlink(&*store, &first, &second).await;
}

/// It neither signs for a change, nor is linked or unlinked by others, whatever its chain.
pub async fn a_blocked_wallet_stays_where_it_is(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let other = steps::sign_in(&*store).await;
    let unseen = fixtures::wallet_account();
    for account in [&second, &unseen] {
        steps::block(&*store, fixtures::block_wallet(account)).await;
    }
    for (signer, account) in [
        (&second, &fixtures::wallet_account()),
        (&elsewhere(&second), &first),
        (&first, &unseen),
        (&first, &elsewhere(&unseen)),
        (&first, &second),
        (&other.account, &second),
    ] {
        let command = fixtures::link_wallet(signer, account);
        assert_eq!(store.link_wallet(command).await.unwrap(), WalletLinked::Blocked);
    }
    for (signer, account) in [(&second, &first), (&second, &second), (&first, &elsewhere(&second))] {
        let command = fixtures::unlink_wallet(signer, account);
        assert_eq!(store.unlink_wallet(command).await.unwrap(), WalletUnlinked::Blocked);
    }
    assert_eq!(steps::accounts_of(&*store, user).await, [first.clone(), second.clone()]);
    assert_eq!(store.find_owner(unseen).await.unwrap(), None);

    steps::link(&*store, &first, &fixtures::wallet_account()).await;
    steps::link(&*store, &first, &namesake(&second)).await;
    steps::unlink(&*store, &first, &first).await;
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 3);
}

/// A wallet that is not theirs is only that, whether it is blocked or not: by itself, or with its user.
pub async fn unlinking_tells_nobody_of_a_strangers_block(store: Arc<dyn Storage>) {
    let (_, [asker, _]) = steps::user_with_two_wallets(&*store).await;
    let [victim, user, unblocked] =
        [steps::sign_in(&*store).await, steps::sign_in(&*store).await, steps::sign_in(&*store).await];
    let unseen = fixtures::wallet_account();
    steps::block(&*store, fixtures::block_wallet(&victim.account)).await;
    steps::block(&*store, fixtures::block_wallet(&unseen)).await;
    steps::block(&*store, fixtures::block_user(user.new_user)).await;
    for account in [&victim.account, &user.account, &unblocked.account, &unseen, &fixtures::wallet_account()]
    {
        let command = fixtures::unlink_wallet(&asker, account);
        assert_eq!(store.unlink_wallet(command).await.unwrap(), WalletUnlinked::NotTheirs);
    }
    let taking = fixtures::link_wallet(&asker, &user.account);
    assert_eq!(store.link_wallet(taking).await.unwrap(), WalletLinked::BelongsToAnother);
}

/// The challenge first, then the signer, then the block of whoever asks, then the wallet, then its block.
pub async fn a_block_has_its_place_among_the_refusals(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let (account, unseen) = (&login.account, fixtures::wallet_account());
    steps::block(&*store, fixtures::block_wallet(account)).await;
    steps::block(&*store, fixtures::block_user(login.new_user)).await;
    let link = fixtures::link_wallet(account, &unseen);
    let unlink = fixtures::unlink_wallet(account, account);
    assert_eq!(store.link_wallet(link.clone()).await.unwrap(), WalletLinked::Blocked);
    assert_eq!(store.link_wallet(link).await.unwrap(), WalletLinked::ChallengeSpent);
    assert_eq!(
        store.unlink_wallet(unlink.clone()).await.unwrap(),
        WalletUnlinked::Blocked,
        "it is their last wallet, too"
    );
    assert_eq!(store.unlink_wallet(unlink).await.unwrap(), WalletUnlinked::ChallengeSpent);

    let begun_at = fixtures::NOW - HOUR;
    let stale = LinkWallet { begun_at, ..fixtures::link_wallet(account, &unseen) };
    assert_eq!(store.link_wallet(stale).await.unwrap(), WalletLinked::SignerUnknown, "F-18");
    let stale = UnlinkWallet { begun_at, ..fixtures::unlink_wallet(account, account) };
    assert_eq!(store.unlink_wallet(stale).await.unwrap(), WalletUnlinked::SignerUnknown, "F-18");
    steps::block(&*store, fixtures::block_wallet(&unseen)).await;
    let unknown = fixtures::link_wallet(&unseen, account);
    assert_eq!(store.link_wallet(unknown).await.unwrap(), WalletLinked::SignerUnknown);
    let not_theirs = fixtures::unlink_wallet(account, &unseen);
    assert_eq!(
        store.unlink_wallet(not_theirs).await.unwrap(),
        WalletUnlinked::Blocked,
        "who asks is blocked"
    );
}

/// With the same time and reason, so that an account is no way around a block. A wallet that was blocked by
/// itself keeps that block.
pub async fn the_wallets_of_a_blocked_user_stay_blocked_after_deletion(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let third = elsewhere(&fixtures::wallet_account());
    steps::link(&*store, &first, &third).await;
    let bystander = steps::sign_in(&*store).await;
    let own = Block { at: fixtures::NOW - HOUR, reason: None };
    steps::block(&*store, PutBlock { who: wallet(&elsewhere(&second)), block: own.clone(), event: None })
        .await;
    steps::block(&*store, fixtures::block_user(user)).await;
    let now = fixtures::NOW + HOUR;
    let command = DeleteAccount { now, ..fixtures::delete_account(user) };
    assert!(store.delete_account(command).await.unwrap());

    assert_eq!(of_user(&*store, user).await, None);
    assert!(!remove(&*store, &Subject::User(user)).await);
    assert!(any(&*store).await);
    let mut expected =
        [(first.clone(), block()), (elsewhere(&second), own.clone()), (third.clone(), block())];
    expected.sort_by(|(one, _), (other, _)| one.address.cmp(&other.address));
    let expected = expected.map(|(account, block)| BlockedWallet { account, block, user: None });
    assert_eq!(wallets(&*store).await, expected);
    for (account, block) in [(first, block()), (second, own), (third, block())] {
        let login = fixtures::complete_login_of(account.clone());
        steps::user_of(&*store, &login).await;
        let standing = steps::standing(&*store, &account).await;
        assert_eq!((standing.user, standing.block), (Some(login.new_user), Some(block)));
    }
    assert_eq!(steps::standing(&*store, &bystander.account).await.block, None);
}

/// Its block stays, and no other wallet of the user is blocked for it.
pub async fn a_users_deletion_leaves_the_blocks_of_wallets(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    steps::block(&*store, fixtures::block_wallet(&first)).await;
    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
    assert_eq!(steps::standing(&*store, &first).await.block, Some(block()));
    assert_eq!(steps::standing(&*store, &second).await, Standing::default());
    // A user who was blocked and let in again is like any other.
    let login = steps::sign_in(&*store).await;
    steps::block(&*store, fixtures::block_user(login.new_user)).await;
    assert!(remove(&*store, &Subject::User(login.new_user)).await);
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    assert_eq!(steps::standing(&*store, &login.account).await, Standing::default());
}
