//! Many concurrent operations open, use and end sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_domain::id::{GrantId, SessionId};
use countersign_ports::{
    CompleteLogin, EndSession, EndSessions, LoginCompleted, NewSession, OpenSession, SessionContinued,
    SessionOpened, Storage, WalletUnlinked,
};
use tokio::task::yield_now;

use super::races::{Pinned, at_once, count, poll_once};
use super::steps;
use crate::fixtures;

const TASKS: usize = 64;
const ROUNDS: usize = 4;

/// Exactly one gets a code, and the grant is that one's.
pub async fn d_08_one_request_is_continued_by_one_of_many(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    for _ in 0..ROUNDS {
        let id = fixtures::grant_id();
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let mut command = fixtures::continue_session(&session, login.client);
            command.login.id = id;
            async move { (command.login.code_hash, steps::proceed(&*store, &command).await) }
        }))
        .await;
        let answers: Vec<_> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(count(&answers, &SessionContinued::CodeIssued), 1);
        assert_eq!(count(&answers, &SessionContinued::RequestSpent), TASKS - 1);
        let grant = store.find_grant(id).await.unwrap().unwrap();
        assert!(outcomes.contains(&(grant.code_hash, SessionContinued::CodeIssued)));
    }
}

/// A signature and a session answer the same request at the same time: there is one code.
pub async fn one_request_is_signed_or_continued(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let (login, session) = steps::remember(&*store).await;
        let id = fixtures::grant_id();
        let outcomes = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&store);
            let mut command = fixtures::continue_session(&session, login.client);
            command.login.id = id;
            let task: Pinned<bool> = Box::pin(async move {
                if place % 2 == 0 {
                    steps::proceed(&*store, &command).await == SessionContinued::CodeIssued
                } else {
                    let outcome = store.complete_login(command.login).await.unwrap();
                    outcome != LoginCompleted::ChallengeSpent
                }
            });
            task
        }))
        .await;
        assert_eq!(count(&outcomes, &true), 1);
    }
}

/// Rule 3 while the first one is still on its way.
pub async fn many_copies_of_one_continuation_are_all_answered_alike(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    let command = fixtures::continue_session(&session, login.client);
    let outcomes = at_once((0..TASKS).map(|_| {
        let (store, command) = (Arc::clone(&store), command.clone());
        async move { steps::proceed(&*store, &command).await }
    }))
    .await;
    assert_eq!(count(&outcomes, &SessionContinued::CodeIssued), TASKS);
}

/// A browser that opens many pages, and many browsers.
pub async fn many_continuations_at_once_do_not_disturb_each_other(store: Arc<dyn Storage>) {
    let shared = steps::remember(&*store).await;
    let mut remembered = Vec::new();
    for place in 0..TASKS {
        remembered.push(if place % 2 == 0 { shared.clone() } else { steps::remember(&*store).await });
    }
    let grants = at_once(remembered.into_iter().map(|(login, session)| {
        let store = Arc::clone(&store);
        let command = fixtures::continue_session(&session, login.client);
        async move {
            assert_eq!(steps::proceed(&*store, &command).await, SessionContinued::CodeIssued);
            (command.login.id, login.new_user)
        }
    }))
    .await;
    for (grant, user) in grants {
        let grant = store.find_grant(grant).await.unwrap().unwrap();
        assert_eq!(grant.holder.user(), Some(user));
    }
}

/// Exactly one opens a session; the others open none and create no users.
pub async fn d_08_one_challenge_opens_one_of_many_sessions(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS {
        let id = fixtures::grant_id();
        let account = fixtures::wallet_account();
        let outcomes = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let account = if round % 2 == 0 { account.clone() } else { fixtures::wallet_account() };
            let command = OpenSession { id, ..fixtures::open_session_of(account) };
            async move { (command.clone(), store.open_session(command).await.unwrap()) }
        }))
        .await;
        let mut winners = 0;
        for (command, outcome) in outcomes {
            let session = store.find_session(command.session.id).await.unwrap();
            assert_eq!(session.is_some(), outcome != SessionOpened::ChallengeSpent);
            assert_eq!(store.find_account(command.new_user).await.unwrap().is_some(), session.is_some());
            winners += usize::from(session.is_some());
        }
        assert_eq!(winners, 1);
    }
}

/// Rule 3 while the first one is still on its way, with an old wallet and a new one.
pub async fn many_copies_of_one_opening_are_all_answered_alike(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let known = (fixtures::open_session_of(login.account), login.new_user);
    let new = fixtures::open_session();
    let new_user = new.new_user;
    for (command, user) in [known, (new, new_user)] {
        let outcomes = at_once((0..TASKS).map(|_| {
            let (store, command) = (Arc::clone(&store), command.clone());
            async move { store.open_session(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&outcomes, &SessionOpened::Opened { user }), TASKS);
        assert_eq!(steps::account(&*store, user).await.sessions.len(), 1);
    }
}

/// First logins, remembered or not, and first openings with one wallet: all agree on its user.
pub async fn one_wallet_that_comes_in_every_way_at_once_is_one_user(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let account = fixtures::wallet_account();
        let users = at_once((0..TASKS).map(|place| {
            let (store, account) = (Arc::clone(&store), account.clone());
            async move {
                match place % 3 {
                    0 => steps::user_of(&*store, &fixtures::complete_login_of(account)).await,
                    1 => steps::user_of(&*store, &fixtures::remembered_login_of(account)).await,
                    _ => steps::open(&*store, &fixtures::open_session_of(account)).await,
                }
            }
        }))
        .await;
        assert_eq!(count(&users, &users[0]), TASKS);
        let sessions = steps::account(&*store, users[0]).await.sessions;
        assert_eq!(sessions.len(), (0..TASKS).filter(|place| place % 3 != 0).count());
    }
}

/// Each replaces the session before it, which never comes back.
pub async fn one_session_is_replaced_by_many_at_once(store: Arc<dyn Storage>) {
    let (login, session) = steps::remember(&*store).await;
    at_once((0..TASKS).map(|place| {
        let (store, account) = (Arc::clone(&store), login.account.clone());
        let replaces = Some(session.id);
        async move {
            let session = NewSession { replaces, ..fixtures::new_session() };
            if place % 2 == 0 {
                let command = OpenSession { session, ..fixtures::open_session_of(account) };
                steps::open(&*store, &command).await
            } else {
                let session = Some(session);
                let again = CompleteLogin { session, ..fixtures::complete_login_of(account) };
                steps::user_of(&*store, &again).await
            }
        }
    }))
    .await;
    assert_eq!(store.find_session(session.id).await.unwrap(), None);
    assert_eq!(steps::account(&*store, login.new_user).await.sessions.len(), TASKS);
}

/// Sessions are used as fast as possible while they end, one by one, all together or with their wallet.
pub async fn no_session_continues_after_its_end_was_answered(store: Arc<dyn Storage>) {
    let mut sessions = Vec::new();
    for _ in 0..TASKS / 2 {
        let (login, session) = steps::remember(&*store).await;
        let other = fixtures::wallet_account();
        steps::link(&*store, &login.account, &other).await;
        sessions.push((login, session, other, Arc::new(AtomicBool::new(false))));
    }
    let tasks = sessions.iter().enumerate().flat_map(|(place, (login, session, other, is_answered))| {
        let use_it = {
            let (store, is_answered) = (Arc::clone(&store), Arc::clone(is_answered));
            let (session, client) = (session.clone(), login.client);
            async move {
                loop {
                    let ended_before = is_answered.load(Ordering::SeqCst);
                    let command = fixtures::continue_session(&session, client);
                    let refusal = SessionContinued::SessionEnded;
                    if steps::proceed_unless(&*store, &command, refusal).await.is_none() {
                        break;
                    }
                    assert!(!ended_before, "continued after the end was answered");
                    // A store that never waits must still give the others their turn.
                    yield_now().await;
                }
            }
        };
        let end_it = {
            let (store, is_answered) = (Arc::clone(&store), Arc::clone(is_answered));
            let (user, id) = (login.new_user, session.id);
            let unlink = fixtures::unlink_wallet(other, &login.account);
            async move {
                for _ in 0..place % 8 {
                    steps::session(&*store, id).await;
                }
                match place % 3 {
                    0 => assert!(store.end_session(EndSession { user, id, event: None }).await.unwrap()),
                    1 => assert_eq!(store.end_sessions(EndSessions { user, event: None }).await.unwrap(), 1),
                    _ => assert_eq!(
                        store.unlink_wallet(unlink).await.unwrap(),
                        WalletUnlinked::Unlinked { user }
                    ),
                }
                is_answered.store(true, Ordering::SeqCst);
            }
        };
        [Box::pin(use_it) as Pinned<()>, Box::pin(end_it)]
    });
    at_once(tasks.collect::<Vec<_>>()).await;
    for (_, session, ..) in sessions {
        assert_eq!(
            store.find_session(session.id).await.unwrap(),
            None,
            "using a session does not bring it back"
        );
    }
}

/// One of many ends it. The numbers of ended sessions add up to the number of sessions.
pub async fn a_session_is_ended_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let (login, session) = steps::remember(&*store).await;
        let user = login.new_user;
        let outcomes =
            at_once(
                (0..TASKS).map(|_| {
                    let store = Arc::clone(&store);
                    async move {
                        store.end_session(EndSession { user, id: session.id, event: None }).await.unwrap()
                    }
                }),
            )
            .await;
        assert_eq!(count(&outcomes, &true), 1);

        let mut sessions: Vec<SessionId> = Vec::new();
        for _ in 0..8 {
            let again = fixtures::remembered_login_of(login.account.clone());
            sessions.push(steps::remember_by(&*store, &again).await.id);
        }
        let ended = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&store);
            let id = sessions[place % 8];
            async move {
                if place % 2 == 0 {
                    u64::from(store.end_session(EndSession { user, id, event: None }).await.unwrap())
                } else {
                    store.end_sessions(EndSessions { user, event: None }).await.unwrap()
                }
            }
        }))
        .await;
        assert_eq!(ended.iter().sum::<u64>(), 8);
    }
}

/// A session of the unlinked wallet either belongs to the old user and ends, or belongs to a new user. What
/// it granted is revoked with it.
pub async fn no_session_outlives_the_link_of_its_wallet(store: Arc<dyn Storage>) {
    for round in 0..ROUNDS * 2 {
        let mut users = Vec::new();
        for _ in 0..TASKS / 8 {
            let (user, wallets) = steps::user_with_two_wallets(&*store).await;
            let login = fixtures::remembered_login_of(wallets[1].clone());
            users.push((user, wallets, steps::remember_by(&*store, &login).await, login.client));
        }
        let tasks = users.iter().flat_map(|(user, [stays, goes], session, client)| {
            let (user, unlink) = (*user, fixtures::unlink_wallet(stays, goes));
            let opening = fixtures::open_session_of(goes.clone());
            let login = fixtures::remembered_login_of(goes.clone());
            let request = fixtures::continue_session(session, *client);
            let stores = [(); 4].map(|()| Arc::clone(&store));
            let [unlinking, signing_in, opening_one, using] = stores;
            let tasks: [Pinned<Option<GrantId>>; 4] = [
                Box::pin(async move {
                    // Spreads the order: before, among and after the others.
                    for _ in 0..round {
                        unlinking.wallets_of(user).await.unwrap();
                    }
                    let outcome = unlinking.unlink_wallet(unlink).await.unwrap();
                    assert_eq!(outcome, WalletUnlinked::Unlinked { user });
                    None
                }),
                Box::pin(async move {
                    steps::user_of(&*signing_in, &login).await;
                    Some(login.id)
                }),
                Box::pin(async move {
                    steps::open(&*opening_one, &opening).await;
                    None
                }),
                Box::pin(async move {
                    steps::proceed_unless(&*using, &request, SessionContinued::SessionEnded).await
                }),
            ];
            tasks
        });
        let grants = at_once(tasks.collect::<Vec<_>>()).await;
        for grant in grants.into_iter().flatten() {
            let grant = store.find_grant(grant).await.unwrap().unwrap();
            let is_old = users.iter().any(|(user, ..)| Some(*user) == grant.holder.user());
            assert_eq!(grant.revoked, is_old);
        }
        for (user, [_, goes], session, _) in users {
            let theirs = steps::account(&*store, user).await.sessions;
            assert!(theirs.is_empty(), "{theirs:?} of {goes:?}");
            assert_eq!(store.find_session(session.id).await.unwrap(), None);
        }
    }
}

/// Rules 4 and 3: a caller hangs up in the middle, comes back and repeats the command.
pub async fn a_session_that_nobody_waits_for_is_opened_and_used_wholly_or_not_at_all(
    store: Arc<dyn Storage>,
) {
    let login = steps::sign_in(&*store).await;
    for _ in 0..ROUNDS {
        let opening = fixtures::open_session_of(login.account.clone());
        poll_once(store.open_session(opening.clone()));
        assert_eq!(steps::open(&*store, &opening).await, login.new_user);
        let session = steps::session(&*store, opening.session.id).await;
        let request = fixtures::continue_session(&session, login.client);
        poll_once(store.continue_session(request.clone()));
        assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    }
    assert_eq!(steps::account(&*store, login.new_user).await.sessions.len(), ROUNDS);
}
