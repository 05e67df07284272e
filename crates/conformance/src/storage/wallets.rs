//! Users link further wallets, and unlink all but the last.

use std::sync::Arc;

use countersign_domain::wallet::WalletAccount;
use countersign_domain::wallet_name::WalletName;
use countersign_ports::{
    CompleteLogin, LinkWallet, LinkedWallet, NameWallet, Redeemed, Revoked, Rotated, Storage, UnlinkWallet,
    WalletLinked, WalletUnlinked,
};
use time::Duration;

use super::steps;
use crate::fixtures;

async fn link(store: &dyn Storage, command: &LinkWallet) -> WalletLinked {
    store.link_wallet(command.clone()).await.unwrap()
}

async fn unlink(store: &dyn Storage, command: &UnlinkWallet) -> WalletUnlinked {
    store.unlink_wallet(command.clone()).await.unwrap()
}

/// With the chain and the time of its first sign-in.
pub async fn the_wallet_of_a_first_login_is_its_users(store: Arc<dyn Storage>) {
    let account = WalletAccount { chain: "eip155:137".to_owned(), ..fixtures::wallet_account() };
    let mut login = fixtures::complete_login_of(account.clone());
    login.now += Duration::hours(1);
    let user = steps::user_of(&*store, &login).await;
    let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..account.clone() };
    steps::user_of(&*store, &fixtures::complete_login_of(elsewhere)).await;
    let wallets = store.wallets_of(user).await.unwrap();
    assert_eq!(wallets, [LinkedWallet { account, linked_at: login.now, name: None }]);
}

/// An unknown user has no wallets.
pub async fn nobody_has_no_wallets(store: Arc<dyn Storage>) {
    steps::sign_in(&*store).await;
    assert_eq!(store.wallets_of(fixtures::user_id()).await.unwrap(), []);
}

/// From its first login or link until it is unlinked.
pub async fn the_owner_of_a_wallet_is_found_whatever_its_chain(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let wallet = fixtures::wallet_account();
    assert_eq!(store.find_owner(wallet.clone()).await.unwrap(), None);
    link(&*store, &fixtures::link_wallet(&login.account, &wallet)).await;
    let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..wallet.clone() };
    for account in [login.account.clone(), wallet.clone(), elsewhere] {
        assert_eq!(store.find_owner(account).await.unwrap(), Some(login.new_user));
    }
    let contract = WalletAccount { family: wallet.chain.clone(), ..wallet.clone() };
    assert_eq!(store.find_owner(contract).await.unwrap(), None, "F-15");
    unlink(&*store, &fixtures::unlink_wallet(&login.account, &wallet)).await;
    assert_eq!(store.find_owner(wallet).await.unwrap(), None);
}

/// The user's id never changes, whichever wallet signs.
pub async fn a_linked_wallet_signs_in_as_its_user(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let wallet = fixtures::wallet_account();
    let command = fixtures::link_wallet(&login.account, &wallet);
    let user = login.new_user;
    assert_eq!(link(&*store, &command).await, WalletLinked::Linked { user });
    for account in [&login.account, &wallet] {
        let again = fixtures::complete_login_of(account.clone());
        assert_eq!(steps::user_of(&*store, &again).await, user);
        let grant = store.find_grant(again.id).await.unwrap().unwrap();
        assert_eq!(steps::person(&grant.holder), (user, account));
    }
    let token = steps::redeem_by(&*store, &wallet).await;
    assert_eq!(steps::access(&*store, &token).await.holder.user(), Some(user));
    // A linked wallet may link the next one.
    assert_eq!(steps::link(&*store, &wallet, &fixtures::wallet_account()).await, user);
}

/// By the time of the link. Wallets linked at the same time are in the order of family and address, byte for
/// byte.
pub async fn wallets_are_read_oldest_link_first(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let mut linked = vec![(Duration::ZERO, login.account.clone())];
    let families = ["eip155", "Z:1", "a:1"];
    for (hours, family, address) in
        [(2, 0, "0xb"), (1, 1, "B"), (1, 1, "a"), (1, 2, "_"), (1, 0, "0xc"), (3, 0, "0xa")]
    {
        let account = WalletAccount {
            family: families[family].to_owned(),
            chain: format!("{}:chain", families[family]),
            address: format!("{address}{}", fixtures::wallet_account().address),
        };
        let now = fixtures::NOW + Duration::hours(hours);
        let command = LinkWallet { now, ..fixtures::link_wallet(&login.account, &account) };
        assert!(matches!(link(&*store, &command).await, WalletLinked::Linked { .. }));
        linked.push((Duration::hours(hours), account));
    }
    steps::user_with_two_wallets(&*store).await;
    linked.sort_by(|(one_at, one), (other_at, other)| {
        (one_at, &one.family, &one.address).cmp(&(other_at, &other.family, &other.address))
    });
    let expected: Vec<_> = linked
        .into_iter()
        .map(|(hours, account)| LinkedWallet { account, linked_at: fixtures::NOW + hours, name: None })
        .collect();
    assert_eq!(store.wallets_of(login.new_user).await.unwrap(), expected);
}

/// Family and address identify the wallet; the chain of the first link is kept.
pub async fn a_wallet_is_linked_whatever_its_chain(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let wallet = fixtures::wallet_account();
    let elsewhere = WalletAccount { chain: "eip155:137".to_owned(), ..wallet.clone() };
    let signer = WalletAccount { chain: "eip155:8453".to_owned(), ..login.account.clone() };
    let user = login.new_user;
    assert_eq!(steps::link(&*store, &signer, &elsewhere).await, user);
    let again = fixtures::link_wallet(&signer, &wallet);
    assert_eq!(link(&*store, &again).await, WalletLinked::AlreadyTheirs { user });
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
    assert!(steps::accounts_of(&*store, user).await.contains(&elsewhere));
    assert_eq!(steps::unlink(&*store, &signer, &wallet).await, user);
}

/// Even if signer and wallet are the same. The time of the link stays.
pub async fn a_wallet_that_is_theirs_already_changes_nothing(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let before = store.wallets_of(user).await.unwrap();
    for (signer, wallet) in [(&first, &second), (&second, &first), (&first, &first)] {
        let command = fixtures::link_wallet(signer, wallet);
        let later = LinkWallet { now: command.now + Duration::hours(1), ..command };
        assert_eq!(link(&*store, &later).await, WalletLinked::AlreadyTheirs { user });
    }
    assert_eq!(store.wallets_of(user).await.unwrap(), before);
}

/// Nobody takes a wallet from its user, whether it is the last one or one of several.
pub async fn another_users_wallet_is_refused(store: Arc<dyn Storage>) {
    let thief = steps::sign_in(&*store).await;
    let only = steps::sign_in(&*store).await;
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    for wallet in [&only.account, &first, &second] {
        let command = fixtures::link_wallet(&thief.account, wallet);
        assert_eq!(link(&*store, &command).await, WalletLinked::BelongsToAnother);
    }
    assert_eq!(steps::accounts_of(&*store, thief.new_user).await, [thief.account]);
    assert_eq!(steps::accounts_of(&*store, only.new_user).await, [only.account]);
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
}

/// A signature alone creates no user. The same address in another family is another wallet.
pub async fn an_unknown_signer_links_and_unlinks_nothing(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let namesake = WalletAccount { family: "cosmos:hub".to_owned(), ..first.clone() };
    let wallet = fixtures::wallet_account();
    for signer in [fixtures::wallet_account(), namesake, wallet.clone()] {
        for wallet in [&wallet, &first] {
            let command = fixtures::link_wallet(&signer, wallet);
            assert_eq!(link(&*store, &command).await, WalletLinked::SignerUnknown);
        }
        for wallet in [&wallet, &second] {
            let command = fixtures::unlink_wallet(&signer, wallet);
            assert_eq!(unlink(&*store, &command).await, WalletUnlinked::SignerUnknown);
        }
    }
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
    let login = fixtures::complete_login_of(wallet);
    assert_eq!(steps::user_of(&*store, &login).await, login.new_user);
}

/// A used challenge is refused before anything else is checked, even if the same caller presents it again.
pub async fn b_001_a_challenge_links_once(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let command = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
    assert!(matches!(link(&*store, &command).await, WalletLinked::Linked { .. }));
    let again = LinkWallet { wallet: fixtures::wallet_account(), ..command.clone() };
    let unknown = LinkWallet { signer: fixtures::wallet_account(), ..command.clone() };
    for spent in [&command, &again, &unknown] {
        assert_eq!(link(&*store, spent).await, WalletLinked::ChallengeSpent);
    }
    let wallets = steps::accounts_of(&*store, login.new_user).await;
    assert!(wallets.len() == 2 && wallets.contains(&command.wallet));
    // It does not bring back what was undone either.
    steps::unlink(&*store, &login.account, &command.wallet).await;
    assert_eq!(link(&*store, &command).await, WalletLinked::ChallengeSpent);
    assert_eq!(steps::accounts_of(&*store, login.new_user).await, [login.account]);
}

/// The same as with linking.
pub async fn b_001_a_challenge_unlinks_once(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let third = fixtures::wallet_account();
    steps::link(&*store, &first, &third).await;
    let command = fixtures::unlink_wallet(&first, &second);
    assert_eq!(unlink(&*store, &command).await, WalletUnlinked::Unlinked { user });
    let another = UnlinkWallet { wallet: third.clone(), ..command.clone() };
    let unknown = UnlinkWallet { signer: fixtures::wallet_account(), ..command.clone() };
    steps::link(&*store, &third, &second).await;
    for spent in [&command, &another, &unknown] {
        assert_eq!(unlink(&*store, spent).await, WalletUnlinked::ChallengeSpent);
    }
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 3);
}

/// Both kinds of challenges are recorded in one place.
pub async fn a_challenge_that_linked_does_not_unlink(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let linking = fixtures::link_wallet(&first, &fixtures::wallet_account());
    assert_eq!(link(&*store, &linking).await, WalletLinked::Linked { user });
    let unlinking = UnlinkWallet { id: linking.id, ..fixtures::unlink_wallet(&first, &second) };
    assert_eq!(unlink(&*store, &unlinking).await, WalletUnlinked::ChallengeSpent);
    let unlinking = fixtures::unlink_wallet(&first, &second);
    assert_eq!(unlink(&*store, &unlinking).await, WalletUnlinked::Unlinked { user });
    let linking = LinkWallet { id: unlinking.id, ..fixtures::link_wallet(&first, &second) };
    assert_eq!(link(&*store, &linking).await, WalletLinked::ChallengeSpent);
}

/// Whatever the answer about the wallets, the challenge was used: presented again when it would change
/// something, it is refused.
pub async fn f_17_a_link_that_changes_nothing_spends_its_challenge(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let stranger = steps::sign_in(&*store).await;
    let nobody = fixtures::wallet_account();

    let idle = fixtures::link_wallet(&first, &second);
    let myself = fixtures::link_wallet(&second, &second);
    let theft = fixtures::link_wallet(&stranger.account, &second);
    let unknown = fixtures::link_wallet(&nobody, &second);
    assert_eq!(link(&*store, &idle).await, WalletLinked::AlreadyTheirs { user });
    assert_eq!(link(&*store, &myself).await, WalletLinked::AlreadyTheirs { user });
    assert_eq!(link(&*store, &theft).await, WalletLinked::BelongsToAnother);
    assert_eq!(link(&*store, &unknown).await, WalletLinked::SignerUnknown);

    // Each would change something now.
    steps::unlink(&*store, &first, &second).await;
    steps::user_of(&*store, &fixtures::complete_login_of(nobody)).await;
    for replayed in [idle, myself, theft, unknown] {
        assert_eq!(link(&*store, &replayed).await, WalletLinked::ChallengeSpent);
        let unlinking = UnlinkWallet { id: replayed.id, ..fixtures::unlink_wallet(&first, &first) };
        assert_eq!(unlink(&*store, &unlinking).await, WalletUnlinked::ChallengeSpent);
    }
    assert_eq!(steps::accounts_of(&*store, user).await, std::slice::from_ref(&first));
    let login = fixtures::complete_login_of(second);
    assert_eq!(steps::user_of(&*store, &login).await, login.new_user, "nobody was given the wallet");
}

/// The same as with linking.
pub async fn f_17_an_unlink_that_changes_nothing_spends_its_challenge(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let (first, user) = (login.account.clone(), login.new_user);
    let [second, nobody] = [fixtures::wallet_account(), fixtures::wallet_account()];

    let idle = fixtures::unlink_wallet(&first, &second);
    let last = fixtures::unlink_wallet(&first, &first);
    let unknown = fixtures::unlink_wallet(&nobody, &first);
    assert_eq!(unlink(&*store, &idle).await, WalletUnlinked::NotTheirs);
    assert_eq!(unlink(&*store, &last).await, WalletUnlinked::LastWallet);
    assert_eq!(unlink(&*store, &unknown).await, WalletUnlinked::SignerUnknown);

    // Each would change something now.
    steps::link(&*store, &first, &second).await;
    steps::link(&*store, &first, &nobody).await;
    let token = steps::redeem_by(&*store, &second).await;
    for replayed in [idle, last, unknown] {
        assert_eq!(unlink(&*store, &replayed).await, WalletUnlinked::ChallengeSpent);
        let linking =
            LinkWallet { id: replayed.id, ..fixtures::link_wallet(&first, &fixtures::wallet_account()) };
        assert_eq!(link(&*store, &linking).await, WalletLinked::ChallengeSpent);
    }
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 3);
    assert!(steps::is_live(&*store, &token).await);
}

/// One address has a key's account and, on a chain, a contract's. These are two wallets, and both may belong
/// to one user. Unlinking one leaves the other, in either order, with everything that was granted with it
/// (F-15).
pub async fn f_15_a_key_and_the_contract_at_its_address_are_two_wallets(store: Arc<dyn Storage>) {
    for goes_first in 0..2 {
        let login = steps::sign_in(&*store).await;
        let key = fixtures::wallet_account();
        let contract = WalletAccount { family: key.chain.clone(), ..key.clone() };
        assert_eq!(key.caip10(), contract.caip10());
        let user = login.new_user;
        for account in [&key, &contract] {
            assert_eq!(steps::link(&*store, &login.account, account).await, user);
        }
        assert_eq!(steps::accounts_of(&*store, user).await.len(), 3);
        let pair = [key, contract];
        let (goes, stays) = (&pair[goes_first], &pair[1 - goes_first]);
        let (dead, alive) = (steps::redeem_by(&*store, goes).await, steps::redeem_by(&*store, stays).await);
        assert_eq!(steps::unlink(&*store, stays, goes).await, user);
        assert!(!steps::is_live(&*store, &dead).await && steps::is_live(&*store, &alive).await);
        // The remaining wallet is not mistaken for the unlinked one.
        let again = fixtures::unlink_wallet(stays, goes);
        assert_eq!(unlink(&*store, &again).await, WalletUnlinked::NotTheirs);
        let by_the_gone = fixtures::unlink_wallet(goes, stays);
        assert_eq!(unlink(&*store, &by_the_gone).await, WalletUnlinked::SignerUnknown);
        assert!(steps::accounts_of(&*store, user).await.contains(stays));
        let alone = fixtures::complete_login_of(goes.clone());
        assert_eq!(steps::user_of(&*store, &alone).await, alone.new_user, "it belongs to nobody");
    }
}

/// It is in nobody's list any more, and can no longer sign for the user.
pub async fn an_unlinked_wallet_is_gone_and_the_user_stays(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    assert_eq!(steps::unlink(&*store, &second, &first).await, user);
    assert_eq!(steps::accounts_of(&*store, user).await, std::slice::from_ref(&second));
    let command = fixtures::link_wallet(&first, &fixtures::wallet_account());
    assert_eq!(link(&*store, &command).await, WalletLinked::SignerUnknown);
    let login = fixtures::complete_login_of(second);
    assert_eq!(steps::user_of(&*store, &login).await, user);
}

/// The signer may be the wallet to unlink.
pub async fn a_wallet_unlinks_itself(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    assert_eq!(steps::unlink(&*store, &first, &first).await, user);
    assert_eq!(steps::accounts_of(&*store, user).await, [second]);
}

/// A user without a wallet could never sign in again.
pub async fn the_last_wallet_is_refused(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    steps::unlink(&*store, &first, &second).await;
    let token = steps::redeem_by(&*store, &first).await;
    for _ in 0..2 {
        let command = fixtures::unlink_wallet(&first, &first);
        assert_eq!(unlink(&*store, &command).await, WalletUnlinked::LastWallet);
    }
    assert_eq!(steps::accounts_of(&*store, user).await, [first]);
    assert!(steps::is_live(&*store, &token).await);
}

/// A user can only unlink their own wallets, and is told no more than that.
pub async fn a_wallet_of_another_or_of_nobody_is_not_unlinked(store: Arc<dyn Storage>) {
    let alone = steps::sign_in(&*store).await;
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let token = steps::redeem_by(&*store, &second).await;
    for wallet in [&first, &second, &fixtures::wallet_account()] {
        let command = fixtures::unlink_wallet(&alone.account, wallet);
        assert_eq!(unlink(&*store, &command).await, WalletUnlinked::NotTheirs);
    }
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
    assert!(steps::is_live(&*store, &token).await);
}

/// Codes, refresh tokens and access tokens of that wallet are revoked; those of the user's other wallets are
/// not.
pub async fn what_an_unlinked_wallet_granted_is_dead_and_the_rest_lives(store: Arc<dyn Storage>) {
    let (_, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let bystander = steps::redeem(&*store).await;
    let alive = steps::redeem_by(&*store, &first).await;
    let on_another_chain = WalletAccount { chain: "eip155:137".to_owned(), ..second.clone() };
    let dead = [steps::redeem_by(&*store, &second).await, steps::redeem_by(&*store, &on_another_chain).await];
    let rotated = steps::rotate(&*store, &dead[0]).await;
    let code = fixtures::complete_login_of(second.clone());
    steps::user_of(&*store, &code).await;

    steps::unlink(&*store, &first, &second).await;

    for token in dead.iter().chain([&rotated]) {
        let snapshot = steps::access(&*store, token).await;
        assert!(snapshot.grant_revoked && !snapshot.is_live(fixtures::NOW));
        assert!(store.find_refresh(token.id).await.unwrap().unwrap().grant.revoked);
    }
    let rotation = fixtures::rotate_refresh(&rotated);
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Revoked);
    let redemption = fixtures::redeem_code(code.id);
    assert_eq!(store.redeem_code(redemption).await.unwrap(), Redeemed::Revoked);
    for token in [&alive, &bystander] {
        assert!(steps::is_live(&*store, token).await);
        steps::rotate(&*store, token).await;
    }
    let revocation = fixtures::revoke_grant(dead[0].grant);
    assert_eq!(store.revoke_grant(revocation).await.unwrap(), Revoked::AlreadyRevoked);
}

/// It stays revoked, and it does not prevent unlinking.
pub async fn a_grant_that_was_revoked_before_its_wallet_was_unlinked_stays_revoked(store: Arc<dyn Storage>) {
    let (_, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let token = steps::redeem_by(&*store, &second).await;
    assert_eq!(store.revoke_grant(fixtures::revoke_grant(token.grant)).await.unwrap(), Revoked::Revoked);
    steps::unlink(&*store, &first, &second).await;
    assert!(!steps::is_live(&*store, &token).await);
}

/// It comes back like a wallet that was never seen. What it granted before stays revoked.
pub async fn an_unlinked_wallet_signs_in_as_a_new_user(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let dead = steps::redeem_by(&*store, &second).await;
    steps::unlink(&*store, &first, &second).await;
    let login = fixtures::complete_login_of(second.clone());
    assert_eq!(steps::user_of(&*store, &login).await, login.new_user);
    assert_ne!(login.new_user, user);
    assert_eq!(steps::accounts_of(&*store, login.new_user).await, std::slice::from_ref(&second));
    assert!(!steps::is_live(&*store, &dead).await);
    let command = fixtures::link_wallet(&first, &second);
    assert_eq!(link(&*store, &command).await, WalletLinked::BelongsToAnother);
}

/// The link has a new time. What the wallet granted before stays revoked; what it grants now is valid.
pub async fn an_unlinked_wallet_may_be_linked_again(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let dead = steps::redeem_by(&*store, &second).await;
    steps::unlink(&*store, &first, &second).await;
    let now = fixtures::NOW + Duration::hours(1);
    let again = LinkWallet { now, ..fixtures::link_wallet(&first, &second) };
    assert_eq!(link(&*store, &again).await, WalletLinked::Linked { user });
    let expected = [
        LinkedWallet { account: first, linked_at: fixtures::NOW, name: None },
        LinkedWallet { account: second.clone(), linked_at: now, name: None },
    ];
    assert_eq!(store.wallets_of(user).await.unwrap(), expected);
    let alive = steps::redeem_by(&*store, &second).await;
    assert!(steps::is_live(&*store, &alive).await);
    assert!(!steps::is_live(&*store, &dead).await);
}

/// Any user who has the wallet's signature can link it.
pub async fn an_unlinked_wallet_may_be_linked_by_another(store: Arc<dyn Storage>) {
    let other = steps::sign_in(&*store).await;
    let (_, [first, second]) = steps::user_with_two_wallets(&*store).await;
    steps::unlink(&*store, &first, &second).await;
    assert_eq!(steps::link(&*store, &other.account, &second).await, other.new_user);
    let login = fixtures::complete_login_of(second);
    assert_eq!(steps::user_of(&*store, &login).await, other.new_user);
}

/// Back and forth between two users, with grants of both.
pub async fn a_wallet_is_linked_and_unlinked_many_times(store: Arc<dyn Storage>) {
    let homes = [steps::sign_in(&*store).await, steps::sign_in(&*store).await];
    let wanderer = fixtures::wallet_account();
    let mut dead = Vec::new();
    for home in homes.iter().cycle().take(6) {
        assert_eq!(steps::link(&*store, &home.account, &wanderer).await, home.new_user);
        let token = steps::redeem_by(&*store, &wanderer).await;
        assert_eq!(steps::access(&*store, &token).await.holder.user(), Some(home.new_user));
        assert!(steps::is_live(&*store, &token).await);
        assert_eq!(steps::unlink(&*store, &home.account, &wanderer).await, home.new_user);
        dead.push(token);
    }
    for token in &dead {
        assert!(!steps::is_live(&*store, token).await);
    }
}

/// A user starts to link or unlink a wallet, deletes the account (or unlinks the signer), and the wallet
/// signs in again. What was signed for the old user does not apply to the new one.
pub async fn f_18_a_text_from_before_the_signers_user_changes_nothing_of_theirs(store: Arc<dyn Storage>) {
    let first = steps::sign_in(&*store).await;
    let linking = fixtures::link_wallet(&first.account, &fixtures::wallet_account());
    let unlinking = fixtures::unlink_wallet(&first.account, &first.account);
    assert!(store.delete_account(fixtures::delete_account(first.new_user)).await.unwrap());
    let now = fixtures::NOW + Duration::milliseconds(1);
    let next = CompleteLogin { now, ..fixtures::complete_login_of(first.account.clone()) };
    let user = steps::user_of(&*store, &next).await;
    assert_eq!(user, next.new_user);

    assert_eq!(link(&*store, &linking).await, WalletLinked::SignerUnknown);
    assert_eq!(unlink(&*store, &unlinking).await, WalletUnlinked::SignerUnknown);
    let begun_at = now;
    let for_them = LinkWallet { begun_at, ..fixtures::link_wallet(&first.account, &linking.wallet) };
    assert_eq!(link(&*store, &for_them).await, WalletLinked::Linked { user });
    let for_them = UnlinkWallet { begun_at, ..fixtures::unlink_wallet(&first.account, &first.account) };
    assert_eq!(unlink(&*store, &for_them).await, WalletUnlinked::Unlinked { user });
}

/// Whatever the chain; family and address identify the wallet. Nothing else of it changes.
pub async fn a_user_names_their_wallets_and_takes_names_away(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let before = store.wallets_of(user).await.unwrap();
    assert!(before.iter().all(|wallet| wallet.name.is_none()), "a new wallet has no name");
    let elsewhere = WalletAccount { chain: "eip155:137".to_owned(), ..first.clone() };
    for (wallet, name) in [(&second, "Löwe 🦁"), (&elsewhere, "Old"), (&first, "Old"), (&first, "New")] {
        assert!(store.name_wallet(fixtures::name_wallet(user, wallet, name)).await.unwrap());
    }
    let named = store.wallets_of(user).await.unwrap();
    let names: Vec<_> = named.iter().map(|wallet| wallet.name.as_ref().map(WalletName::as_str)).collect();
    assert_eq!(names, [Some("New"), Some("Löwe 🦁")]);
    assert_eq!(store.find_account(user).await.unwrap().unwrap().wallets, named);
    for wallet in [&first, &second] {
        let command = NameWallet { user, wallet: wallet.clone(), name: None };
        assert!(store.name_wallet(command).await.unwrap());
    }
    assert_eq!(store.wallets_of(user).await.unwrap(), before);
}

/// Neither another user's wallet, nor one that nobody has.
pub async fn only_the_users_own_wallets_get_a_name(store: Arc<dyn Storage>) {
    let ann = steps::sign_in(&*store).await;
    let (bob, [first, _]) = steps::user_with_two_wallets(&*store).await;
    let before = store.wallets_of(bob).await.unwrap();
    for wallet in [first, fixtures::wallet_account()] {
        let command = fixtures::name_wallet(ann.new_user, &wallet, "Mine");
        assert!(!store.name_wallet(command).await.unwrap());
    }
    let namesake = WalletAccount { family: "cosmos:hub".to_owned(), ..ann.account.clone() };
    assert!(!store.name_wallet(fixtures::name_wallet(ann.new_user, &namesake, "Mine")).await.unwrap());
    assert_eq!(store.wallets_of(bob).await.unwrap(), before);
    assert_eq!(store.wallets_of(ann.new_user).await.unwrap()[0].name, None);
}

/// Whoever has the wallet next does not learn the name. Another login or link of it keeps the name.
pub async fn a_name_stays_while_the_wallet_is_the_users_and_goes_with_it(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    assert!(store.name_wallet(fixtures::name_wallet(user, &second, "Mine")).await.unwrap());
    steps::user_of(&*store, &fixtures::complete_login_of(second.clone())).await;
    let again = fixtures::link_wallet(&first, &second);
    assert_eq!(link(&*store, &again).await, WalletLinked::AlreadyTheirs { user });
    let wallets = store.wallets_of(user).await.unwrap();
    assert_eq!(wallets[1].name.as_ref().map(WalletName::as_str), Some("Mine"));
    steps::unlink(&*store, &first, &second).await;
    let other = steps::user_of(&*store, &fixtures::complete_login_of(second)).await;
    assert_ne!(other, user);
    assert_eq!(store.wallets_of(other).await.unwrap()[0].name, None);
}

/// What is theirs already, and what is another's, is said as before. Unlinking makes room. Nothing is taken from whoever
/// has more than the bound.
pub async fn f_26_a_user_who_has_the_most_wallets_gets_no_other(store: Arc<dyn Storage>) {
    let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let (third, stranger) = (fixtures::wallet_account(), steps::sign_in(&*store).await.account);
    let bounded = |wallet: &WalletAccount, most| LinkWallet { most, ..fixtures::link_wallet(&first, wallet) };
    for most in [0, 1, 2] {
        let refused = bounded(&third, most);
        assert_eq!(link(&*store, &refused).await, WalletLinked::TooMany);
        assert_eq!(link(&*store, &refused).await, WalletLinked::ChallengeSpent, "F-17");
        let present = bounded(&second, most);
        assert_eq!(link(&*store, &present).await, WalletLinked::AlreadyTheirs { user });
        assert_eq!(link(&*store, &bounded(&stranger, most)).await, WalletLinked::BelongsToAnother);
    }
    assert_eq!(steps::accounts_of(&*store, user).await.len(), 2);
    assert_eq!(store.find_owner(third.clone()).await.unwrap(), None);
    steps::unlink(&*store, &first, &second).await;
    assert_eq!(link(&*store, &bounded(&third, 2)).await, WalletLinked::Linked { user });
    assert_eq!(link(&*store, &bounded(&second, 3)).await, WalletLinked::Linked { user });
}
