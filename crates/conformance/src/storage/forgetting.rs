//! Deletes users whom no client was told about, and unused clients with documents. Everyone else stays.

use std::sync::Arc;

use countersign_domain::admission::Release;
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::forgetting::{TimeMark, TimeWitness};
use countersign_domain::id::{ClientId, UserId};
use countersign_domain::subject::Subject;
use countersign_ports::{
    ChangeAccess, CompleteLogin, DeleteClient, DocumentsForgotten, EmailPut, EndSessions, ForgetDocuments,
    ForgetUnused, LoginCompleted, NewSession, PurgeExpired, Purged, Redeemed, RegisterClient, RemoveBlock,
    Storage,
};
use time::{Duration, OffsetDateTime};

use super::races::at_once;
use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

const SECOND: Duration = Duration::seconds(1);
const WEEK: Duration = Duration::days(7);

async fn forget(store: &dyn Storage, before: OffsetDateTime, limit: u32) -> Purged {
    store
        .forget_unused(ForgetUnused {
            before: fixtures::past(before),
            since: OffsetDateTime::UNIX_EPOCH,
            now: before,
            limit,
        })
        .await
        .unwrap()
}

async fn purge_all(store: &dyn Storage, before: OffsetDateTime) {
    while store.purge_expired(PurgeExpired::oldest(fixtures::past(before), 1_000)).await.unwrap().more {}
}

async fn is_there(store: &dyn Storage, user: UserId) -> bool {
    store.find_account(user).await.unwrap().is_some()
}

/// A user who signed in once, and whose client never asked who it was.
async fn throw_away(store: &dyn Storage) -> CompleteLogin {
    let login = steps::sign_in(store).await;
    purge_all(store, login.forget_after + SECOND).await;
    login
}

/// The wallet and the consents are deleted too; the wallet then makes a new user.
pub async fn a_user_whom_nobody_was_told_of_is_forgotten_in_their_time(store: Arc<dyn Storage>) {
    let login = throw_away(&*store).await;
    assert_eq!(forget(&*store, NOW, 10).await, Purged { rows: 0, more: false });
    assert!(is_there(&*store, login.new_user).await);
    assert_eq!(forget(&*store, NOW + SECOND, 10).await, Purged { rows: 1, more: false });
    assert!(!is_there(&*store, login.new_user).await);
    assert!(store.consents_at(login.new_user, login.client).await.unwrap().is_empty());
    let again = fixtures::complete_login_of(login.account);
    assert_eq!(steps::user_of(&*store, &again).await, again.new_user);
}

/// Clients identify users by this id, whatever has happened since to the grant, its tokens and the client.
pub async fn f_07_a_user_whose_code_was_redeemed_is_never_forgotten(store: Arc<dyn Storage>) {
    let far = NOW + Duration::days(400);
    let kept = steps::sign_in(&*store).await;
    assert_eq!(store.redeem_code(fixtures::redeem_code(kept.id)).await.unwrap(), Redeemed::Stored);
    let revoked = steps::sign_in(&*store).await;
    assert_eq!(store.redeem_code(fixtures::redeem_code(revoked.id)).await.unwrap(), Redeemed::Stored);
    store.revoke_grant(fixtures::revoke_grant(revoked.id)).await.unwrap();
    let deleted = steps::sign_in(&*store).await;
    assert_eq!(store.redeem_code(fixtures::redeem_code(deleted.id)).await.unwrap(), Redeemed::Stored);
    let users = [kept.new_user, revoked.new_user, deleted.new_user];

    assert_eq!(forget(&*store, far, 10).await.rows, 0, "the grants still exist");
    assert!(store.delete_client(DeleteClient { id: deleted.client, event: None }).await.unwrap());
    assert_eq!(forget(&*store, far + WEEK, 10).await.rows, 0, "one grant was deleted with its client");
    purge_all(&*store, far).await;
    assert_eq!(store.find_grant(kept.id).await.unwrap(), None);
    assert_eq!(forget(&*store, far + WEEK * 2, 10).await, Purged { rows: 0, more: false });
    for user in users {
        assert!(is_there(&*store, user).await);
    }
}

/// A grant that could still be redeemed, or that was revoked a moment ago.
pub async fn a_user_with_any_grant_is_not_forgotten(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    assert_eq!(forget(&*store, NOW + WEEK, 10).await.rows, 0);
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    assert_eq!(forget(&*store, NOW + WEEK * 2, 10).await.rows, 0);
    purge_all(&*store, login.forget_after + SECOND).await;
    assert_eq!(forget(&*store, NOW + WEEK * 3, 10).await.rows, 1);
}

/// They are looked at again when that is over.
pub async fn users_with_a_session_an_address_or_two_wallets_are_not_forgotten(store: Arc<dyn Storage>) {
    let with_email = throw_away(&*store).await.new_user;
    assert_eq!(store.put_email(fixtures::put_email(with_email)).await.unwrap(), EmailPut::Stored);
    let with_wallets = throw_away(&*store).await;
    steps::link(&*store, &with_wallets.account, &fixtures::wallet_account()).await;
    let opening = fixtures::open_session();
    let with_session = steps::open(&*store, &opening).await;
    let session = Some(NewSession { expires_at: NOW + WEEK * 2, ..fixtures::new_session() });
    let remembered = CompleteLogin { session, ..fixtures::complete_login() };
    let remembered_user = steps::user_of(&*store, &remembered).await;
    purge_all(&*store, remembered.forget_after + SECOND).await;
    let users = [with_email, with_wallets.new_user, with_session, remembered_user];

    assert_eq!(forget(&*store, NOW + SECOND, 10).await, Purged { rows: 0, more: false });
    for user in users {
        assert!(is_there(&*store, user).await);
    }
    assert!(store.remove_email(with_email).await.unwrap());
    store.end_sessions(EndSessions { user: with_session, event: None }).await.unwrap();
    assert_eq!(forget(&*store, NOW + SECOND, 10).await.rows, 0, "they have just been looked at");
    assert_eq!(forget(&*store, NOW + WEEK, 10).await.rows, 2);
    assert!(!is_there(&*store, with_email).await && !is_there(&*store, with_session).await);
    assert!(is_there(&*store, with_wallets.new_user).await && is_there(&*store, remembered_user).await);
}

/// The event of what they unlinked leads to them, and from them to the wallet that they still have.
pub async fn f_23_a_user_who_unlinked_a_wallet_is_not_forgotten(store: Arc<dyn Storage>) {
    let login = throw_away(&*store).await;
    let wallet = fixtures::wallet_account();
    steps::link(&*store, &login.account, &wallet).await;
    steps::unlink(&*store, &login.account, &wallet).await;
    assert_eq!(forget(&*store, NOW + WEEK, 10).await.rows, 0);
    assert!(is_there(&*store, login.new_user).await);
}

/// They are looked at again when that is over. What was done with their wallet alone keeps nobody, and outlives
/// them.
pub async fn users_in_a_group_and_blocked_ones_are_not_forgotten(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let [member, blocked, neither] =
        [throw_away(&*store).await, throw_away(&*store).await, throw_away(&*store).await];
    let membership = Subject::User(member.new_user);
    steps::add(&*store, &group, &membership).await;
    steps::block(&*store, fixtures::block_user(blocked.new_user)).await;
    steps::add(&*store, &group, &Subject::Wallet(neither.account.clone())).await;
    steps::block(&*store, fixtures::block_wallet(&neither.account)).await;

    assert_eq!(forget(&*store, NOW + SECOND, 10).await, Purged { rows: 1, more: false });
    assert!(is_there(&*store, member.new_user).await && is_there(&*store, blocked.new_user).await);
    assert_eq!(store.groups_of(member.new_user).await.unwrap(), std::slice::from_ref(&group));
    assert!(store.block_of_user(blocked.new_user).await.unwrap().is_some());
    let standing = steps::standing(&*store, &neither.account).await;
    assert!(standing.user.is_none() && standing.block.is_some() && standing.groups == [group.clone()]);

    assert!(store.remove_member(fixtures::remove_member(&group, &membership)).await.unwrap());
    assert!(
        store.remove_block(RemoveBlock { who: Subject::User(blocked.new_user), event: None }).await.unwrap()
    );
    assert_eq!(forget(&*store, NOW + SECOND, 10).await.rows, 0, "they have just been looked at");
    assert_eq!(forget(&*store, NOW + WEEK, 10).await.rows, 2);
    assert!(!is_there(&*store, member.new_user).await && !is_there(&*store, blocked.new_user).await);
}

/// Those who have waited longest are deleted first.
pub async fn unused_users_are_forgotten_oldest_first_up_to_the_limit(store: Arc<dyn Storage>) {
    let mut users = Vec::new();
    for seconds in [3, 1, 5, 2, 4] {
        let now = NOW + SECOND * seconds;
        let login = CompleteLogin { now, ..fixtures::complete_login() };
        users.push((seconds, steps::user_of(&*store, &login).await));
        purge_all(&*store, login.forget_after + SECOND).await;
    }
    users.sort_unstable();
    assert_eq!(forget(&*store, NOW + WEEK, 2).await, Purged { rows: 2, more: true });
    for (place, (_, user)) in users.iter().enumerate() {
        assert_eq!(is_there(&*store, *user).await, place >= 2);
    }
    let mut rows = 0;
    for _ in 0..3 {
        rows += forget(&*store, NOW + WEEK, 2).await.rows;
    }
    assert_eq!(rows, 3);
}

fn described(name: &str) -> Client {
    let document = format!("https://{name}.example/client.json");
    Client {
        id: ClientId::of_document(&document),
        origin: ClientOrigin::Document,
        document: Some(document),
        ..fixtures::public_client()
    }
}

async fn forget_documents(
    store: &dyn Storage,
    before: OffsetDateTime,
    after: Option<ClientId>,
) -> DocumentsForgotten {
    store.forget_documents(ForgetDocuments { before: fixtures::past(before), after, limit: 2 }).await.unwrap()
}

/// A registered client stays, whether it is used or not.
pub async fn f_07_a_document_that_nobody_uses_is_forgotten(store: Arc<dyn Storage>) {
    let (used, unused, registered) = (described("used"), described("unused"), fixtures::client());
    for client in [&used, &unused, &registered] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    let login = CompleteLogin { client: used.id, ..fixtures::complete_login() };
    steps::user_of(&*store, &login).await;
    let there = async |id| store.find_client(id).await.unwrap().is_some();

    assert_eq!(forget_documents(&*store, NOW, None).await.rows, 0, "it has just been stored");
    let mut rows = 0;
    let mut after = None;
    loop {
        let forgotten = forget_documents(&*store, NOW + SECOND, after).await;
        rows += forgotten.rows;
        after = forgotten.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(rows, 1);
    assert_eq!(
        [there(used.id).await, there(unused.id).await, there(registered.id).await],
        [true, false, true]
    );

    purge_all(&*store, login.forget_after + SECOND).await;
    assert_eq!(forget_documents(&*store, NOW + SECOND, None).await.rows, 0, "a user agreed to it");
    assert_eq!(forget(&*store, NOW + WEEK, 10).await.rows, 1);
    assert_eq!(forget_documents(&*store, NOW + SECOND, None).await.rows, 1);
    assert!(there(registered.id).await);
}

/// Whatever the operator decided must not be undone by the document that is fetched again.
pub async fn a_document_that_the_operator_decided_about_is_kept(store: Arc<dyn Storage>) {
    let (kept, told, undecided) = (described("decided"), described("told"), described("undecided"));
    for client in [&kept, &told, &undecided] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    let closing = fixtures::change_access(kept.id, fixtures::rule("nobody"));
    assert!(store.change_access(closing.clone()).await.unwrap());
    let telling = ChangeAccess { client: told.id, rule: None, release: Some(Release::All), event: None };
    assert!(store.change_access(telling.clone()).await.unwrap());
    let all = ForgetDocuments { before: fixtures::past(NOW + SECOND), after: None, limit: 10 };
    assert_eq!(store.forget_documents(all).await.unwrap().rows, 1);
    assert_eq!(store.find_client(undecided.id).await.unwrap(), None);
    let found = store.find_client(kept.id).await.unwrap().unwrap();
    assert_eq!(found.access.rule, closing.rule);

    let undone = ChangeAccess { rule: None, ..closing };
    assert!(store.change_access(undone).await.unwrap());
    let undone = ChangeAccess { release: Some(Release::OfRule), ..telling };
    assert!(store.change_access(undone).await.unwrap());
    assert_eq!(store.forget_documents(all).await.unwrap().rows, 2);
}

/// A database with a clock returns its time, and a file returns what was written.
pub async fn f_18_a_store_tells_the_time_or_keeps_what_it_is_told(store: Arc<dyn Storage>) {
    match store.time_witness().await.unwrap() {
        TimeWitness::Clock(first) => {
            store.mark_time(TimeMark::trusting(NOW)).await.unwrap();
            let TimeWitness::Clock(second) = store.time_witness().await.unwrap() else { panic!("a clock") };
            assert!(second >= first && second - first < Duration::minutes(5));
        }
        TimeWitness::Mark(nothing) => {
            assert_eq!(nothing, None);
            steps::redeem(&*store).await;
            let newest = Some(TimeMark::trusting(NOW));
            assert_eq!(store.time_witness().await.unwrap(), TimeWitness::Mark(newest));
            for seconds in [3, 1, 2] {
                let doubted_for = SECOND * seconds;
                let mark = TimeMark { trusted_at: NOW - doubted_for, doubted_for };
                store.mark_time(mark).await.unwrap();
                assert_eq!(store.time_witness().await.unwrap(), TimeWitness::Mark(Some(mark)));
            }
        }
    }
}

/// How many wallets sign in while their users are being deleted.
const WALLETS: usize = 50;

/// A login either comes completely before, and its user stays, or completely after, and makes a new user.
/// Then the code is valid, and the wallet keeps the user that the client was told about.
pub async fn f_07_a_login_and_the_forgetting_of_its_user_do_not_mix(store: Arc<dyn Storage>) {
    let mut logins = Vec::new();
    for _ in 0..WALLETS {
        logins.push(steps::sign_in(&*store).await);
    }
    purge_all(&*store, logins[0].forget_after + SECOND).await;
    let (mut stayed, mut new) = (0, 0);
    let tasks = logins.into_iter().enumerate().map(|(place, old)| {
        let store = Arc::clone(&store);
        async move {
            if place % 5 == 0 {
                forget(&*store, NOW + SECOND, 10).await;
            }
            let login =
                CompleteLogin { client: old.client, ..fixtures::complete_login_of(old.account.clone()) };
            let LoginCompleted::CodeIssued { user } = store.complete_login(login.clone()).await.unwrap()
            else {
                panic!("the challenge has not been used");
            };
            if place % 5 == 1 {
                forget(&*store, NOW + SECOND, 10).await;
            }
            assert_eq!(store.redeem_code(fixtures::redeem_code(login.id)).await.unwrap(), Redeemed::Stored);
            assert!(user == old.new_user || user == login.new_user);
            (old, user)
        }
    });
    for (old, user) in at_once(tasks).await {
        if user == old.new_user {
            stayed += 1
        } else {
            new += 1
        }
        let account = steps::account(&*store, user).await;
        assert_eq!(account.wallets.len(), 1, "{user}");
        assert_eq!(account.consents.len(), 1, "{user}");
        assert_eq!(is_there(&*store, old.new_user).await, user == old.new_user);
        let again = CompleteLogin { client: old.client, ..fixtures::complete_login_of(old.account) };
        assert_eq!(steps::user_of(&*store, &again).await, user);
    }
    assert_eq!(stayed + new, WALLETS);
}
