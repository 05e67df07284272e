//! Wallets are linked and unlinked while many concurrent operations use them.

use std::sync::Arc;

use countersign_domain::id::{GrantId, UserId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{LinkWallet, Redeemed, Storage, WalletLinked, WalletUnlinked};

use super::races::{Pinned, at_once, count};
use super::steps;
use crate::fixtures;

const TASKS: usize = 32;
const ROUNDS: usize = 4;

/// The wallet's user, found by a login; it must belong to someone.
async fn owner_of(store: &dyn Storage, wallet: &WalletAccount) -> UserId {
    let login = fixtures::complete_login_of(wallet.clone());
    let owner = steps::user_of(store, &login).await;
    assert_ne!(owner, login.new_user, "{wallet:?} belongs to nobody");
    owner
}

/// Exactly one user gets it, and only that user has it.
pub async fn one_wallet_is_linked_by_one_of_many_users(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let wallet = fixtures::wallet_account();
        let mut users = Vec::new();
        for _ in 0..TASKS {
            users.push(steps::sign_in(&*store).await);
        }
        let outcomes = at_once(users.iter().map(|login| {
            let (store, command) = (Arc::clone(&store), fixtures::link_wallet(&login.account, &wallet));
            async move { store.link_wallet(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &WalletLinked::BelongsToAnother), TASKS - 1);
        let user = owner_of(&*store, &wallet).await;
        assert_eq!(count(&outcomes, &WalletLinked::Linked { user }), 1);
        for login in users {
            let expected = if login.new_user == user { 2 } else { 1 };
            assert_eq!(steps::accounts_of(&*store, login.new_user).await.len(), expected);
        }
    }
}

/// A challenge works once, whatever it is used for.
pub async fn one_challenge_links_one_of_many_wallets(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let login = steps::sign_in(&*store).await;
        let id = fixtures::grant_id();
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let command = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
            async move { store.link_wallet(LinkWallet { id, ..command }).await.unwrap() }
        }))
        .await;
        let user = login.new_user;
        assert_eq!(count(&outcomes, &WalletLinked::Linked { user }), 1);
        assert_eq!(count(&outcomes, &WalletLinked::ChallengeSpent), TASKS - 1);
        assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
    }
}

/// Either the wallet is linked first, and its logins are that user's, or it makes a user of its own. All
/// agree.
pub async fn a_first_login_and_a_link_agree_on_the_user(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let mut pairs = Vec::new();
        for _ in 0..TASKS / 2 {
            pairs.push((steps::sign_in(&*store).await, fixtures::wallet_account()));
        }
        let tasks = pairs.iter().flat_map(|(user, wallet)| {
            let link = fixtures::link_wallet(&user.account, wallet);
            let logins = [(); 2].map(|()| fixtures::complete_login_of(wallet.clone()));
            let linking: Pinned<Option<(GrantId, UserId)>> = {
                let store = Arc::clone(&store);
                Box::pin(async move {
                    let outcome = store.link_wallet(link).await.unwrap();
                    assert!(matches!(outcome, WalletLinked::Linked { .. } | WalletLinked::BelongsToAnother));
                    None
                })
            };
            let signing_in = logins.map(|login| {
                let store = Arc::clone(&store);
                let task: Pinned<Option<(GrantId, UserId)>> =
                    Box::pin(async move { Some((login.id, steps::user_of(&*store, &login).await)) });
                task
            });
            signing_in.into_iter().chain([linking])
        });
        for (grant, answered) in at_once(tasks).await.into_iter().flatten() {
            let grant = store.find_grant(grant).await.unwrap().unwrap();
            let (user, account) = steps::person(&grant.holder);
            assert_eq!(user, answered);
            assert_eq!(owner_of(&*store, account).await, answered);
        }
        for (login, wallet) in pairs {
            let theirs = steps::accounts_of(&*store, login.new_user).await;
            let is_theirs = owner_of(&*store, &wallet).await == login.new_user;
            assert_eq!(theirs.contains(&wallet), is_theirs);
        }
    }
}

/// Of two wallets one is unlinked, of eight seven, whatever the order of the requests.
pub async fn many_unlinks_at_once_leave_a_user_one_wallet(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let mut users = Vec::new();
        for _ in 0..TASKS / 2 {
            users.push(steps::user_with_two_wallets(&*store).await);
        }
        let outcomes = at_once(users.iter().flat_map(|(_, wallets)| wallets).map(|wallet| {
            let (store, command) = (Arc::clone(&store), fixtures::unlink_wallet(wallet, wallet));
            async move { store.unlink_wallet(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &WalletUnlinked::LastWallet), TASKS / 2);
        for (user, _) in users {
            assert_eq!(count(&outcomes, &WalletUnlinked::Unlinked { user }), 1);
            assert_eq!(steps::accounts_of(&*store, user).await.len(), 1);
        }

        let login = steps::sign_in(&*store).await;
        let mut wallets = vec![login.account.clone()];
        for _ in 1..8 {
            let wallet = fixtures::wallet_account();
            steps::link(&*store, &login.account, &wallet).await;
            wallets.push(wallet);
        }
        let outcomes = at_once(wallets.iter().cycle().take(TASKS).map(|wallet| {
            let (store, command) = (Arc::clone(&store), fixtures::unlink_wallet(wallet, wallet));
            async move { store.unlink_wallet(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &WalletUnlinked::Unlinked { user: login.new_user }), 7);
        assert_eq!(steps::accounts_of(&*store, login.new_user).await.len(), 1);
    }
}

/// A login of the unlinked wallet either belongs to the old user and is revoked, or belongs to a new user and
/// stays.
pub async fn no_grant_outlives_the_link_of_its_wallet(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let mut users = Vec::new();
        for _ in 0..TASKS / 4 {
            users.push(steps::user_with_two_wallets(&*store).await);
        }
        let tasks = users.iter().flat_map(|(old_user, [stays, goes])| {
            let (old_user, unlink) = (*old_user, fixtures::unlink_wallet(stays, goes));
            let unlinking: Pinned<Option<GrantId>> = {
                let store = Arc::clone(&store);
                Box::pin(async move {
                    // Spreads the order: before, among and after the logins.
                    for _ in 0..round {
                        store.wallets_of(old_user).await.unwrap();
                    }
                    let outcome = store.unlink_wallet(unlink).await.unwrap();
                    assert_eq!(outcome, WalletUnlinked::Unlinked { user: old_user });
                    None
                })
            };
            let signing_in = [(); 3].map(|()| {
                let (store, login) = (Arc::clone(&store), fixtures::complete_login_of(goes.clone()));
                let task: Pinned<Option<GrantId>> = Box::pin(async move {
                    steps::user_of(&*store, &login).await;
                    Some(login.id)
                });
                task
            });
            signing_in.into_iter().chain([unlinking])
        });
        let grants = at_once(tasks).await;
        for grant in grants.into_iter().flatten() {
            let grant = store.find_grant(grant).await.unwrap().unwrap();
            let (user, account) = steps::person(&grant.holder);
            let is_old = users.iter().any(|(old_user, _)| *old_user == user);
            assert_eq!(grant.revoked, is_old);
            assert!(is_old || owner_of(&*store, account).await == user);
        }
        for (old_user, [stays, _]) in users {
            assert_eq!(steps::accounts_of(&*store, old_user).await, [stays]);
        }
    }
}

/// However often a wallet changed hands, its active grants belong to its owner.
pub async fn links_unlinks_and_logins_at_once_leave_one_owner(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS * 2 {
        let wallet = fixtures::wallet_account();
        let [one, other] = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
        steps::link(&*store, &one.account, &wallet).await;
        let grants = at_once((0..TASKS).map(|place| {
            let (store, wallet) = (Arc::clone(&store), wallet.clone());
            let signer = if place % 2 == 0 { one.account.clone() } else { other.account.clone() };
            let task: Pinned<Option<GrantId>> = Box::pin(async move {
                match place % 8 {
                    0 | 1 => {
                        store.unlink_wallet(fixtures::unlink_wallet(&signer, &wallet)).await.unwrap();
                        store.link_wallet(fixtures::link_wallet(&signer, &wallet)).await.unwrap();
                        None
                    }
                    2 | 3 => {
                        store.link_wallet(fixtures::link_wallet(&signer, &wallet)).await.unwrap();
                        store.unlink_wallet(fixtures::unlink_wallet(&signer, &wallet)).await.unwrap();
                        None
                    }
                    _ => {
                        let login = fixtures::complete_login_of(wallet);
                        steps::user_of(&*store, &login).await;
                        let redeemed = store.redeem_code(fixtures::redeem_code(login.id)).await.unwrap();
                        assert!(matches!(redeemed, Redeemed::Stored | Redeemed::Revoked));
                        Some(login.id)
                    }
                }
            });
            task
        }))
        .await;
        let last = fixtures::complete_login_of(wallet.clone());
        let owner = steps::user_of(&*store, &last).await;
        let mut owners = 0;
        for user in [one.new_user, other.new_user] {
            owners += usize::from(steps::accounts_of(&*store, user).await.contains(&wallet));
        }
        let is_ones_or_others = owner == one.new_user || owner == other.new_user;
        assert_eq!(owners, usize::from(is_ones_or_others));
        for grant in grants.into_iter().flatten() {
            let grant = store.find_grant(grant).await.unwrap().unwrap();
            assert!(
                grant.revoked || grant.holder.user() == Some(owner),
                "a live grant of a user who lost the wallet"
            );
        }
    }
}

/// However many are linked at once, and by whichever of the user's wallets.
pub async fn f_26_many_links_at_once_stop_at_the_bound(store: Arc<dyn Storage>) {
    const MOST: u32 = 5;
    for _ in 0..ROUNDS {
        let (user, signers) = steps::user_with_two_wallets(&*store).await;
        let outcomes = at_once((0..TASKS).map(|task| {
            let store = Arc::clone(&store);
            let command = fixtures::link_wallet(&signers[task % 2], &fixtures::wallet_account());
            async move { store.link_wallet(LinkWallet { most: MOST, ..command }).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &WalletLinked::Linked { user }), 3);
        assert_eq!(count(&outcomes, &WalletLinked::TooMany), TASKS - 3);
        assert_eq!(steps::accounts_of(&*store, user).await.len(), 5);
    }
}
