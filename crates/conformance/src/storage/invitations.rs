//! Invitations into groups.

use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::group::GroupName;
use countersign_domain::invitation::{Invitation, InvitationState};
use countersign_domain::person_name::PersonName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    AcceptInvitation, CameBy, CreateInvitation, DeleteGroup, InvitationAccepted, InvitationCreated,
    NameSubject, PutBlock, RemoveBlock, RevokeInvitation, Storage,
};
use time::Duration;

use super::races::{at_once, count};
use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

const ROUNDS: usize = 16;
const TASKS: usize = 64;

async fn group(store: &dyn Storage) -> GroupName {
    let name = fixtures::group_name();
    store.create_group(fixtures::create_group(&name)).await.unwrap();
    name
}

async fn invite(store: &dyn Storage, invitation: &Invitation) -> InvitationCreated {
    let command = CreateInvitation { invitation: invitation.clone(), event: None };
    store.create_invitation(command).await.unwrap()
}

/// An invitation into a group of its own, for so many people.
async fn invited(store: &dyn Storage, uses: u32) -> Invitation {
    let group = group(store).await;
    let name = fixtures::invitation(&group).name.filter(|_| uses == 1);
    let invitation = Invitation { uses, name, ..fixtures::invitation(&group) };
    assert_eq!(invite(store, &invitation).await, InvitationCreated::Stored);
    invitation
}

async fn accept(store: &dyn Storage, invitation: &Invitation, wallet: &WalletAccount) -> InvitationAccepted {
    store.accept_invitation(fixtures::accept_invitation(invitation, wallet)).await.unwrap()
}

async fn revoke(store: &dyn Storage, invitation: &Invitation) -> bool {
    store.revoke_invitation(RevokeInvitation { id: invitation.id, now: NOW, event: None }).await.unwrap()
}

async fn is_in(store: &dyn Storage, invitation: &Invitation, wallet: &WalletAccount) -> bool {
    store.standing_of(wallet).await.unwrap().groups.contains(&invitation.group)
}

async fn used(store: &dyn Storage, invitation: &Invitation) -> u32 {
    store.find_invitation(invitation.id).await.unwrap().unwrap().used
}

/// By its id and by its hash, with every value, and only into a group that is there.
pub async fn an_invitation_is_found_as_it_was_created(store: Arc<dyn Storage>) {
    let full = invited(&*store, 1).await;
    let bare = Invitation {
        client: None,
        inviter: None,
        name: None,
        uses: 10_000,
        revoked_at: None,
        ..fixtures::invitation(&full.group)
    };
    assert_eq!(invite(&*store, &bare).await, InvitationCreated::Stored);
    for invitation in [&full, &bare] {
        let found = store.find_invitation(invitation.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(invitation));
        assert_eq!(store.find_invitation_by_hash(invitation.hash).await.unwrap(), found);
        assert_eq!(invite(&*store, invitation).await, InvitationCreated::Stored, "repeated");
    }
    assert_eq!(store.find_invitation(fixtures::invitation_id()).await.unwrap(), None);
    assert_eq!(store.find_invitation_by_hash(fixtures::secret_hash()).await.unwrap(), None);
    let nowhere = fixtures::invitation(&fixtures::group_name());
    assert_eq!(invite(&*store, &nowhere).await, InvitationCreated::GroupUnknown);
    assert_eq!(store.find_invitation(nowhere.id).await.unwrap(), None);
}

/// A repeat spends nothing, and the next one finds it used.
pub async fn a_wallet_comes_in_once_and_gets_the_name(store: Arc<dyn Storage>) {
    let store = &*store;
    let invitation = invited(store, 1).await;
    let (wallet, late) = (fixtures::wallet_account(), fixtures::wallet_account());
    assert_eq!(accept(store, &invitation, &wallet).await, InvitationAccepted::Joined);
    assert!(is_in(store, &invitation, &wallet).await);
    let names = store.names_of(vec![Subject::Wallet(wallet.clone())]).await.unwrap();
    assert_eq!(names[0].clone().map(|known| known.name), invitation.name);
    assert_eq!(accept(store, &invitation, &wallet).await, InvitationAccepted::AlreadyMember, "repeated");
    assert_eq!(used(store, &invitation).await, 1);
    let ended = InvitationAccepted::Ended(InvitationState::Used);
    assert_eq!(accept(store, &invitation, &late).await, ended);
    assert!(!is_in(store, &invitation, &late).await);
    let uses = store.uses_of_invitation(invitation.id, 9).await.unwrap();
    let uses: Vec<_> = uses.into_iter().map(|used| (used.wallet, used.used_at)).collect();
    assert_eq!(uses, [(wallet, NOW)]);
}

/// Of the wallet as of its user.
pub async fn a_name_that_someone_has_stays(store: Arc<dyn Storage>) {
    let store = &*store;
    let own = PersonName::parse("Own").ok();
    let user = steps::sign_in(store).await;
    let wallet = fixtures::wallet_account();
    for who in [Subject::User(user.new_user), Subject::Wallet(wallet.clone())] {
        store.name_subject(NameSubject { who, name: own.clone(), event: None }).await.unwrap();
    }
    for account in [user.account, wallet] {
        let invitation = invited(store, 1).await;
        assert_eq!(accept(store, &invitation, &account).await, InvitationAccepted::Joined);
        let names = store.names_of(vec![Subject::Wallet(account)]).await.unwrap();
        assert_eq!(names[0].clone().map(|known| known.name), own);
    }
}

/// It was revoked, its time is over, it leads elsewhere, or its group was deleted.
pub async fn an_invitation_that_ended_lets_no_one_in(store: Arc<dyn Storage>) {
    let store = &*store;
    let wallet = fixtures::wallet_account();
    let revoked = invited(store, 5).await;
    assert!(revoke(store, &revoked).await);
    assert!(!revoke(store, &revoked).await, "only once");
    assert!(!revoke(store, &fixtures::invitation(&revoked.group)).await, "there is none");
    let ended = |state| InvitationAccepted::Ended(state);
    assert_eq!(accept(store, &revoked, &wallet).await, ended(InvitationState::Revoked));
    let over = invited(store, 5).await;
    let late = AcceptInvitation { now: over.expires_at, ..fixtures::accept_invitation(&over, &wallet) };
    let outcome = store.accept_invitation(late).await.unwrap();
    assert_eq!(outcome, ended(InvitationState::Expired));
    let foreign = Invitation { group: revoked.group.clone(), ..over.clone() };
    assert_eq!(
        accept(store, &foreign, &wallet).await,
        InvitationAccepted::Unknown,
        "another group was signed"
    );
    let none = fixtures::invitation(&over.group);
    assert_eq!(accept(store, &none, &wallet).await, InvitationAccepted::Unknown);
    let gone = invited(store, 5).await;
    store.delete_group(DeleteGroup { name: gone.group.clone(), event: None }).await.unwrap();
    assert_eq!(accept(store, &gone, &wallet).await, InvitationAccepted::Unknown);
    assert_eq!(store.find_invitation(gone.id).await.unwrap(), None, "it went with its group");
    store.create_group(fixtures::create_group(&gone.group)).await.unwrap();
    assert_eq!(accept(store, &gone, &wallet).await, InvitationAccepted::Unknown, "nor comes back with it");
    for invitation in [&revoked, &over] {
        assert_eq!((used(store, invitation).await, is_in(store, invitation, &wallet).await), (0, false));
    }
}

/// Of the user, of the wallet, and of a wallet that no one has signed in with.
pub async fn an_invitation_is_no_way_around_a_block(store: Arc<dyn Storage>) {
    let store = &*store;
    let login = steps::sign_in(store).await;
    let invitation = invited(store, 5).await;
    let blocks = [
        fixtures::block_user(login.new_user),
        fixtures::block_wallet(&login.account),
        fixtures::block_wallet(&fixtures::wallet_account()),
    ];
    for block in blocks {
        let wallet = match &block.who {
            Subject::User(_) => login.account.clone(),
            Subject::Wallet(wallet) => wallet.clone(),
        };
        store.put_block(PutBlock { ..block.clone() }).await.unwrap();
        assert_eq!(accept(store, &invitation, &wallet).await, InvitationAccepted::Blocked);
        assert!(!is_in(store, &invitation, &wallet).await);
        store.remove_block(RemoveBlock { who: block.who, event: None }).await.unwrap();
    }
    assert_eq!(used(store, &invitation).await, 0);
    assert_eq!(accept(store, &invitation, &login.account).await, InvitationAccepted::Joined);
}

/// As a user, by another wallet, or by this one.
pub async fn whoever_is_in_the_group_by_any_way_spends_nothing(store: Arc<dyn Storage>) {
    let store = &*store;
    let invitation = invited(store, 5).await;
    let (user, wallet) = (steps::sign_in(store).await, fixtures::wallet_account());
    let members = [Subject::User(user.new_user), Subject::Wallet(wallet.clone())];
    for member in members {
        store.add_member(fixtures::add_member(&invitation.group, &member)).await.unwrap();
    }
    let other = fixtures::wallet_account();
    steps::link(store, &user.account, &other).await;
    for account in [user.account, other, wallet] {
        assert_eq!(accept(store, &invitation, &account).await, InvitationAccepted::AlreadyMember);
    }
    assert_eq!(used(store, &invitation).await, 0);
    assert_eq!(store.uses_of_invitation(invitation.id, 9).await.unwrap(), []);
}

/// Into one group or into any, in pages.
pub async fn invitations_are_listed_newest_first(store: Arc<dyn Storage>) {
    let store = &*store;
    let group = group(store).await;
    let mut all = Vec::new();
    for _ in 0..5 {
        let invitation = fixtures::invitation(&group);
        invite(store, &invitation).await;
        invited(store, 1).await;
        all.insert(0, invitation);
    }
    let page = async |before, limit| store.list_invitations(Some(&group), before, limit).await.unwrap();
    assert_eq!(page(None, 9).await, all);
    assert_eq!(page(None, 2).await, all[..2]);
    assert_eq!(page(Some(all[1].id), 2).await, all[2..4]);
    assert_eq!(page(Some(all[4].id), 2).await, []);
    let any = store.list_invitations(None, Some(all[0].id), 200).await.unwrap();
    assert!(any.is_sorted_by(|newer, older| newer.id > older.id));
    assert!(all[1..].iter().all(|invitation| any.contains(invitation)) && !any.contains(&all[0]));
    assert!(any.iter().any(|invitation| invitation.group != group));
}

/// Until the account is deleted.
pub async fn a_user_came_in_by_the_invitations_of_all_their_wallets(store: Arc<dyn Storage>) {
    let store = &*store;
    let user = steps::sign_in(store).await;
    let other = fixtures::wallet_account();
    steps::link(store, &user.account, &other).await;
    let (first, second) = (invited(store, 2).await, invited(store, 1).await);
    let later = AcceptInvitation {
        now: NOW + Duration::minutes(1),
        ..fixtures::accept_invitation(&first, &user.account)
    };
    store.accept_invitation(later).await.unwrap();
    assert_eq!(accept(store, &second, &other).await, InvitationAccepted::Joined);
    let ways = |came: Vec<CameBy>| -> Vec<_> {
        came.into_iter().map(|came| (came.invitation.id, came.used.wallet)).collect()
    };
    let came = store.invitations_of(user.new_user).await.unwrap();
    assert_eq!(ways(came), [(second.id, other), (first.id, user.account.clone())]);
    assert_eq!(store.invitations_of(fixtures::user_id()).await.unwrap(), []);
    store.delete_account(fixtures::delete_account(user.new_user)).await.unwrap();
    for invitation in [first, second] {
        assert_eq!(
            store.uses_of_invitation(invitation.id, 9).await.unwrap(),
            [],
            "forgotten with the account"
        );
        assert_eq!(used(store, &invitation).await, 1, "and counted still");
    }
}

/// Many want the uses that are left: so many come in, and no one else.
pub async fn uses_are_exact_when_many_want_them_at_once(store: Arc<dyn Storage>) {
    on_stores(&[store]).await;
}

/// The same on two replicas.
pub async fn uses_are_exact_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    on_stores(&[open().await, open().await]).await;
}

async fn on_stores(stores: &[Arc<dyn Storage>]) {
    let turns = stores.iter().cycle();
    for (round, here) in (0..ROUNDS).zip(turns.clone()) {
        let uses = if round % 2 == 0 { 1 } else { 7 };
        let invitation = invited(&**here, uses).await;
        let outcomes = at_once(turns.clone().take(TASKS).map(|store| {
            let (store, wallet) = (Arc::clone(store), fixtures::wallet_account());
            let command = fixtures::accept_invitation(&invitation, &wallet);
            async move { store.accept_invitation(command).await.unwrap() }
        }))
        .await;
        let uses = usize::try_from(uses).unwrap();
        assert_eq!(count(&outcomes, &InvitationAccepted::Joined), uses);
        let ended = InvitationAccepted::Ended(InvitationState::Used);
        assert_eq!(count(&outcomes, &ended), TASKS - uses);
        for store in stores {
            let members = store.list_members(&invitation.group, None, 100).await.unwrap();
            assert_eq!(members.len(), uses, "each replica sees the same members");
            assert_eq!(used(&**store, &invitation).await, invitation.uses);
        }
    }
}

/// One wallet sends the same many times: it comes in once.
pub async fn one_wallet_spends_one_use_however_often_it_asks(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let invitation = invited(&*store, 7).await;
        let wallet = fixtures::wallet_account();
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), fixtures::accept_invitation(&invitation, &wallet));
            async move { store.accept_invitation(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &InvitationAccepted::Joined), 1);
        assert_eq!(count(&outcomes, &InvitationAccepted::AlreadyMember), TASKS - 1);
        assert_eq!(used(&*store, &invitation).await, 1);
    }
}

/// A revocation that was answered has ended the invitation; what came before counts.
pub async fn no_one_comes_in_after_a_revocation_was_answered(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let invitation = invited(&*store, 100).await;
        let outcomes = at_once((0..TASKS).map(|number| {
            let (store, invitation) = (Arc::clone(&store), invitation.clone());
            async move {
                if number == TASKS / 2 {
                    assert!(revoke(&*store, &invitation).await);
                    let late = accept(&*store, &invitation, &fixtures::wallet_account()).await;
                    assert_eq!(late, InvitationAccepted::Ended(InvitationState::Revoked));
                    return late;
                }
                accept(&*store, &invitation, &fixtures::wallet_account()).await
            }
        }))
        .await;
        let joined = count(&outcomes, &InvitationAccepted::Joined);
        assert_eq!(usize::try_from(used(&*store, &invitation).await).unwrap(), joined);
        let members = store.list_members(&invitation.group, None, 100).await.unwrap();
        assert_eq!(members.len(), joined);
    }
}

/// What was spent and what was revoked stays so.
pub async fn invitations_outlive_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let (once, revoked) = (invited(&*store, 1).await, invited(&*store, 1).await);
    let wallet = fixtures::wallet_account();
    accept(&*store, &once, &wallet).await;
    revoke(&*store, &revoked).await;
    drop(store);
    let store = open().await;
    let later = fixtures::wallet_account();
    assert!(is_in(&*store, &once, &wallet).await);
    assert_eq!(accept(&*store, &once, &later).await, InvitationAccepted::Ended(InvitationState::Used));
    assert_eq!(accept(&*store, &revoked, &later).await, InvitationAccepted::Ended(InvitationState::Revoked));
}
