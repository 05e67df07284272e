//! A signature makes a grant, and a wallet makes a user.

use std::sync::Arc;

use countersign_domain::grant::{Grant, Holder};
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{CompleteLogin, LoginCompleted, Redeemed, Storage};
use time::Duration;

use super::steps;
use crate::fixtures;

/// The grant that this login must have made.
fn grant_of(login: &CompleteLogin) -> Grant {
    let login = login.clone();
    Grant {
        id: login.id,
        client: login.client,
        holder: Holder::Person { user: login.new_user, account: login.account },
        redirect_uri: login.redirect_uri,
        scope: login.scope,
        nonce: login.nonce,
        code_challenge: login.code_challenge,
        particulars: login.particulars,
        session: login.session.map(|session| session.id),
        code_hash: login.code_hash,
        authenticated_at: login.now,
        code_expires_at: login.code_expires_at,
        redeemed: false,
        revoked: false,
    }
}

/// Everything in the command is in the grant.
pub async fn a_completed_login_is_a_grant_that_is_found(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    let outcome = store.complete_login(login.clone()).await.unwrap();
    assert_eq!(outcome, LoginCompleted::CodeIssued { user: login.new_user });
    assert_eq!(store.find_grant(login.id).await.unwrap(), Some(grant_of(&login)));
}

/// No grant is found under an unknown id.
pub async fn an_unknown_grant_is_not_found(store: Arc<dyn Storage>) {
    steps::sign_in(&*store).await;
    assert_eq!(store.find_grant(fixtures::grant_id()).await.unwrap(), None);
}

/// Redirect URI, nonce and PKCE challenge, present or not; unusual values of everything else.
pub async fn every_optional_part_of_a_grant_survives(store: Arc<dyn Storage>) {
    let nonces = [None, Some("n".to_owned()), Some("' 🦀\n\"\\".repeat(40))];
    let challenges =
        [None, Some(CodeChallenge::from_bytes([0; 32])), Some(CodeChallenge::from_bytes([255; 32]))];
    let app = fixtures::redirect_uri("com.example.app:/cb?a=%00&b='");
    for nonce in nonces {
        for code_challenge in challenges {
            let login = CompleteLogin {
                redirect_uri: nonce.is_some().then(|| app.clone()),
                nonce: nonce.clone(),
                code_challenge,
                scope: ScopeSet::of(&[Scope::Profile]),
                now: fixtures::NOW + Duration::days(40_000),
                ..fixtures::complete_login()
            };
            steps::user_of(&*store, &login).await;
            assert_eq!(store.find_grant(login.id).await.unwrap(), Some(grant_of(&login)));
        }
    }
}

/// A challenge works once: the second answer gets no code, and the first grant stays unchanged.
pub async fn b_001_a_used_challenge_is_spent(store: Arc<dyn Storage>) {
    let first = fixtures::complete_login();
    steps::user_of(&*store, &first).await;
    let same_wallet = CompleteLogin { id: first.id, ..fixtures::complete_login_of(first.account.clone()) };
    let other_wallet = CompleteLogin { id: first.id, ..fixtures::complete_login() };
    for second in [same_wallet, other_wallet] {
        assert_eq!(store.complete_login(second).await.unwrap(), LoginCompleted::ChallengeSpent);
    }
    assert_eq!(store.find_grant(first.id).await.unwrap(), Some(grant_of(&first)));
}

/// The refused login wrote neither a user nor a wallet.
pub async fn a_spent_challenge_leaves_no_user_behind(store: Arc<dyn Storage>) {
    let first = steps::sign_in(&*store).await;
    let refused = CompleteLogin { id: first.id, ..fixtures::complete_login() };
    assert_eq!(store.complete_login(refused.clone()).await.unwrap(), LoginCompleted::ChallengeSpent);
    let later = fixtures::complete_login_of(refused.account);
    assert_eq!(steps::user_of(&*store, &later).await, later.new_user);
}

/// Rule 3: the same id with the same code hash is the same command.
pub async fn a_login_that_is_repeated_gives_the_same_user(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    for _ in 0..3 {
        assert_eq!(steps::user_of(&*store, &login).await, login.new_user);
    }
    let back = fixtures::complete_login_of(login.account.clone());
    for _ in 0..3 {
        assert_eq!(steps::user_of(&*store, &back).await, login.new_user);
    }
    assert_eq!(store.find_grant(login.id).await.unwrap(), Some(grant_of(&login)));
}

/// All grants that answer one device have the same id and code. The signer tells a repetition from another
/// answer.
pub async fn one_code_for_another_wallet_is_another_login(store: Arc<dyn Storage>) {
    let first = steps::sign_in(&*store).await;
    let chain = "eip155:137".to_owned();
    let address = fixtures::wallet_account().address;
    let others = [
        WalletAccount { family: "solana".to_owned(), ..first.account.clone() },
        WalletAccount { chain, ..first.account.clone() },
        WalletAccount { address, ..first.account.clone() },
    ];
    for account in others {
        let other = CompleteLogin { account, ..first.clone() };
        assert_eq!(store.complete_login(other).await.unwrap(), LoginCompleted::ChallengeSpent);
    }
    assert_eq!(steps::user_of(&*store, &first).await, first.new_user);
    assert_eq!(store.find_grant(first.id).await.unwrap(), Some(grant_of(&first)));
}

/// Rule 3 holds whatever happened to the grant between the lost answer and the repetition, and what happened
/// stays.
pub async fn a_login_that_is_repeated_later_gives_the_same_answer(store: Arc<dyn Storage>) {
    let login = fixtures::complete_login();
    let user = steps::user_of(&*store, &login).await;
    let redemption = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Stored);
    assert_eq!(steps::user_of(&*store, &login).await, user);
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    assert_eq!(steps::user_of(&*store, &login).await, user);
    let grant = Grant { redeemed: true, revoked: true, ..grant_of(&login) };
    assert_eq!(store.find_grant(login.id).await.unwrap(), Some(grant));
}

/// The proposed user is used only for a new wallet.
pub async fn a_wallet_that_comes_back_is_the_same_user(store: Arc<dyn Storage>) {
    let first = fixtures::complete_login();
    let user = steps::user_of(&*store, &first).await;
    let again = fixtures::complete_login_of(first.account);
    assert_eq!(steps::user_of(&*store, &again).await, user);
    let grant = store.find_grant(again.id).await.unwrap().unwrap();
    assert_eq!(grant.holder.user(), Some(user));
}

/// The family says which keys are the same; the chain is only where the key was used. The grant keeps the
/// chain of its login.
pub async fn one_wallet_on_two_chains_is_one_user(store: Arc<dyn Storage>) {
    let main = fixtures::wallet_account();
    let other = WalletAccount { chain: "eip155:137".to_owned(), ..main.clone() };
    let first = fixtures::complete_login_of(main);
    let second = fixtures::complete_login_of(other.clone());
    let user = steps::user_of(&*store, &first).await;
    assert_eq!(steps::user_of(&*store, &second).await, user);
    let grant = store.find_grant(second.id).await.unwrap().unwrap();
    assert_eq!(grant.holder.account(), Some(&other));
}

/// The same letters in another family are another key.
pub async fn one_address_in_two_families_is_two_users(store: Arc<dyn Storage>) {
    let account = fixtures::wallet_account();
    let elsewhere = WalletAccount { family: "cosmos:hub".to_owned(), ..account.clone() };
    let first = fixtures::complete_login_of(account);
    let second = fixtures::complete_login_of(elsewhere);
    assert_eq!(steps::user_of(&*store, &first).await, first.new_user);
    assert_eq!(steps::user_of(&*store, &second).await, second.new_user);
}

/// Addresses are compared byte for byte. Whether case matters is for their family to decide, before storage.
pub async fn two_wallets_are_two_users(store: Arc<dyn Storage>) {
    let account = fixtures::wallet_account();
    let upper_case = WalletAccount { address: account.address.to_uppercase(), ..account.clone() };
    let [first, second] = [account, upper_case].map(fixtures::complete_login_of);
    assert_eq!(steps::user_of(&*store, &first).await, first.new_user);
    assert_eq!(steps::user_of(&*store, &second).await, second.new_user);
}
