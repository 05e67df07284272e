//! Who has or had which wallets, so that one person never counts as two (F-23).

use std::sync::Arc;

use countersign_domain::event::{Event, EventKind, EventPerson};
use countersign_domain::id::UserId;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{FindHoldings, LinkWallet, Storage, UnlinkWallet, WalletLinked, WalletUnlinked};

use super::steps;
use crate::fixtures;

/// A user, the address of a wallet, and whether it is theirs now.
type Held = (UserId, String, bool);

/// What is found, each holding once, in a fixed order.
async fn holdings(store: &dyn Storage, users: &[UserId], wallets: &[&WalletAccount]) -> Vec<Held> {
    let wallets = wallets.iter().copied().cloned().collect();
    let question = FindHoldings { users: users.to_vec(), wallets, limit: 1_000 };
    let found = store.find_holdings(question).await.unwrap();
    let mut found: Vec<Held> =
        found.into_iter().map(|held| (held.user, held.wallet.address, held.is_now)).collect();
    found.sort();
    found.dedup();
    found
}

fn sorted(mut expected: Vec<Held>) -> Vec<Held> {
    expected.sort();
    expected
}

fn event_of(kind: EventKind, user: Option<UserId>, wallet: &WalletAccount) -> Event {
    let person = user.map(EventPerson::User);
    Event { kind, person, wallet: Some(wallet.clone()), ..fixtures::event() }
}

/// Links a wallet, with its event.
async fn link(store: &dyn Storage, signer: &WalletAccount, wallet: &WalletAccount) {
    let event = Some(Box::new(event_of(EventKind::WalletLinked, None, wallet)));
    let command = LinkWallet { event, ..fixtures::link_wallet(signer, wallet) };
    assert!(matches!(store.link_wallet(command).await.unwrap(), WalletLinked::Linked { .. }));
}

/// Unlinks it, with its event.
async fn unlink(store: &dyn Storage, signer: &WalletAccount, wallet: &WalletAccount) {
    let event = Some(Box::new(event_of(EventKind::WalletUnlinked, None, wallet)));
    let command = UnlinkWallet { event, ..fixtures::unlink_wallet(signer, wallet) };
    assert!(matches!(store.unlink_wallet(command).await.unwrap(), WalletUnlinked::Unlinked { .. }));
}

/// By the user and by the wallet, while the events are fresh and after they are sealed, and nothing about others.
pub async fn what_is_linked_and_what_was_is_found_by_users_and_by_wallets(store: Arc<dyn Storage>) {
    let store = &*store;
    let login = steps::sign_in(store).await;
    let (first, gone, stays) = (&login.account, &fixtures::wallet_account(), &fixtures::wallet_account());
    link(store, first, gone).await;
    unlink(store, first, gone).await;
    link(store, first, stays).await;
    let next = steps::user_of(store, &fixtures::complete_login_of(gone.clone())).await;
    let (stranger, _) = steps::user_with_two_wallets(store).await;
    let user = login.new_user;
    let of_user = sorted(vec![
        (user, first.address.clone(), true),
        (user, stays.address.clone(), true),
        (user, stays.address.clone(), false),
        (user, gone.address.clone(), false),
    ]);
    let of_wallet = sorted(vec![(user, gone.address.clone(), false), (next, gone.address.clone(), true)]);
    let of_both = sorted([of_user.clone(), of_wallet[of_wallet.len() - 2..].to_vec()].concat());
    for is_sealed in [false, true] {
        if is_sealed {
            steps::seal(store).await;
        }
        assert_eq!(holdings(store, &[user], &[]).await, of_user, "sealed: {is_sealed}");
        let elsewhere = WalletAccount { chain: "eip155:10".to_owned(), ..gone.clone() };
        assert_eq!(holdings(store, &[], &[&elsewhere]).await, of_wallet, "sealed: {is_sealed}");
        let mut both = of_both.clone();
        both.dedup();
        assert_eq!(holdings(store, &[user], &[gone]).await, both, "sealed: {is_sealed}");
        let contract = WalletAccount { family: gone.chain.clone(), ..gone.clone() };
        assert_eq!(holdings(store, &[fixtures::user_id()], &[&contract]).await, [], "F-15");
    }
    assert_eq!(holdings(store, &[stranger], &[]).await.len(), 2);
}

/// Only links say whose a wallet was. An operator's act about a wallet does not.
pub async fn other_events_say_nothing_about_whose_a_wallet_was(store: Arc<dyn Storage>) {
    let (user, wallet) = (fixtures::user_id(), fixtures::wallet_account());
    let is_link = |kind: &&EventKind| matches!(kind, EventKind::WalletLinked | EventKind::WalletUnlinked);
    for kind in EventKind::ALL.iter().filter(|kind| !is_link(kind)) {
        steps::record(&*store, &event_of(*kind, Some(user), &wallet)).await;
    }
    for is_sealed in [false, true] {
        if is_sealed {
            steps::seal(&*store).await;
        }
        assert_eq!(holdings(&*store, &[user], &[&wallet]).await, [], "sealed: {is_sealed}");
    }
}

/// However often it was linked, and whatever was linked first: a page of the newest events would miss it.
pub async fn f_23_a_wallet_that_was_linked_often_hides_no_other(store: Arc<dyn Storage>) {
    let user = fixtures::user_id();
    let (hidden, often) = (fixtures::wallet_account(), fixtures::wallet_account());
    let others = [fixtures::user_id(), fixtures::user_id()];
    let mut acts = vec![event_of(EventKind::WalletUnlinked, Some(user), &hidden)];
    for _ in 0..600 {
        acts.push(event_of(EventKind::WalletLinked, Some(user), &often));
        acts.push(event_of(EventKind::WalletUnlinked, Some(user), &often));
    }
    acts.extend(others.map(|other| event_of(EventKind::WalletUnlinked, Some(other), &often)));
    for event in &acts {
        steps::record(&*store, event).await;
    }
    let of_user = sorted(vec![(user, hidden.address.clone(), false), (user, often.address.clone(), false)]);
    let of_wallet =
        sorted([user, others[0], others[1]].map(|user| (user, often.address.clone(), false)).to_vec());
    for is_sealed in [false, true] {
        if is_sealed {
            steps::seal(&*store).await;
        }
        for (users, wallets, expected) in [(&[user][..], &[][..], &of_user), (&[], &[&often], &of_wallet)] {
            assert_eq!(holdings(&*store, users, wallets).await, *expected, "sealed: {is_sealed}");
            // A few more than there are holdings are enough to know that these are all.
            let wallets = wallets.iter().copied().cloned().collect();
            let question = FindHoldings { users: users.to_vec(), wallets, limit: 10 };
            assert!(store.find_holdings(question).await.unwrap().len() < 10, "sealed: {is_sealed}");
        }
    }
}

/// Whoever asks learns that there may be more.
pub async fn f_23_holdings_stop_at_the_limit(store: Arc<dyn Storage>) {
    let user = fixtures::user_id();
    let wallets: Vec<WalletAccount> = (0..30).map(|_| fixtures::wallet_account()).collect();
    for wallet in &wallets {
        steps::record(&*store, &event_of(EventKind::WalletUnlinked, Some(user), wallet)).await;
    }
    for is_sealed in [false, true] {
        if is_sealed {
            steps::seal(&*store).await;
        }
        for question in [
            FindHoldings { users: vec![user], wallets: Vec::new(), limit: 20 },
            FindHoldings { users: Vec::new(), wallets: wallets.clone(), limit: 20 },
        ] {
            assert_eq!(store.find_holdings(question).await.unwrap().len(), 20, "sealed: {is_sealed}");
        }
    }
    assert_eq!(holdings(&*store, &[user], &[]).await.len(), 30);
}

/// Nothing that is kept names the person. What others had stays.
pub async fn a_deleted_account_leaves_no_holding(store: Arc<dyn Storage>) {
    let store = &*store;
    let (login, other) = (steps::sign_in(store).await, steps::sign_in(store).await);
    let wallet = fixtures::wallet_account();
    link(store, &login.account, &wallet).await;
    unlink(store, &login.account, &wallet).await;
    link(store, &other.account, &wallet).await;
    steps::seal(store).await;
    assert!(store.delete_account(fixtures::delete_account(login.new_user)).await.unwrap());
    assert_eq!(holdings(store, &[login.new_user], &[&login.account]).await, []);
    let others = sorted([true, false].map(|now| (other.new_user, wallet.address.clone(), now)).to_vec());
    assert_eq!(holdings(store, &[], &[&wallet]).await, others);
}
