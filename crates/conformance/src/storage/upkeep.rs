//! Deletes what nobody can need any more, and nothing else.

use std::sync::Arc;

use countersign_domain::token::{RefreshToken, Token};
use countersign_ports::{
    CompleteLogin, EmailPut, KeyAdded, KnownAccess, LinkWallet, NewSession, OpenSession, PurgeExpired,
    Purged, RedeemCode, Redeemed, RegisterClient, Revoked, RotateRefresh, Rotated, SessionOpened, Storage,
    UnlinkWallet, WalletLinked, WalletUnlinked,
};
use time::{Duration, OffsetDateTime};

use super::steps;
use crate::fixtures;

const SECOND: Duration = Duration::seconds(1);

async fn purge(store: &dyn Storage, before: OffsetDateTime, limit: u32) -> Purged {
    store.purge_expired(PurgeExpired::oldest(fixtures::past(before), limit)).await.unwrap()
}

/// A login whose grant may be deleted at this time.
async fn sign_in_until(store: &dyn Storage, forget_after: OffsetDateTime) -> CompleteLogin {
    let login = CompleteLogin { forget_after, ..fixtures::complete_login() };
    steps::user_of(store, &login).await;
    login
}

/// The store can be read and written.
pub async fn a_store_that_works_answers_a_ping(store: Arc<dyn Storage>) {
    store.ping().await.unwrap();
    let command = fixtures::add_signing_key();
    assert_eq!(store.add_signing_key(command.clone()).await.unwrap(), KeyAdded::Stored);
    for _ in 0..3 {
        store.ping().await.unwrap();
    }
    assert_eq!(store.signing_keys().await.unwrap(), [command.key], "it writes without changing anything");
}

/// The answer says that there was nothing to do.
pub async fn nothing_is_purged_from_an_empty_store(store: Arc<dyn Storage>) {
    assert_eq!(purge(&*store, fixtures::NOW, 100).await, Purged { rows: 0, more: false });
}

/// At exactly the time from which something may be deleted, it stays.
pub async fn what_may_be_forgotten_at_the_boundary_stays(store: Arc<dyn Storage>) {
    let login = sign_in_until(&*store, fixtures::NOW).await;
    let redemption = fixtures::redeem_code(login.id);
    let command = RedeemCode { forget_after: fixtures::NOW, ..redemption };
    let token = command.token.clone();
    store.redeem_code(command).await.unwrap();

    assert_eq!(purge(&*store, fixtures::NOW, 100).await, Purged { rows: 0, more: false });
    assert!(store.find_grant(login.id).await.unwrap().is_some());
    assert_eq!(purge(&*store, fixtures::NOW + SECOND, 100).await, Purged { rows: 1, more: false });
    assert!(store.find_grant(login.id).await.unwrap().is_none());

    assert_eq!(purge(&*store, token.forget_after(), 100).await, Purged { rows: 0, more: false });
    assert_eq!(purge(&*store, token.forget_after() + SECOND, 100).await, Purged { rows: 1, more: false });
}

/// Grants past their time are deleted; the others stay and work.
pub async fn a_purged_grant_is_gone(store: Arc<dyn Storage>) {
    let old = sign_in_until(&*store, fixtures::NOW - SECOND).await;
    let good = sign_in_until(&*store, fixtures::NOW + SECOND).await;
    assert_eq!(purge(&*store, fixtures::NOW, 100).await, Purged { rows: 1, more: false });
    assert_eq!(store.find_grant(old.id).await.unwrap(), None);
    assert_eq!(store.redeem_code(fixtures::redeem_code(old.id)).await.unwrap(), Redeemed::Unknown);
    assert_eq!(store.redeem_code(fixtures::redeem_code(good.id)).await.unwrap(), Redeemed::Stored);
}

/// Tokens past their time are deleted, even while their grant stays.
pub async fn a_purged_token_is_gone(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let token = Token { refresh: None, ..fixtures::token(login.id) };
    let forget_after = fixtures::NOW + Duration::days(1);
    let command = RedeemCode { token: token.clone(), now: fixtures::NOW, forget_after };
    assert_eq!(store.redeem_code(command).await.unwrap(), Redeemed::Stored);
    let purged = purge(&*store, token.access_expires_at + SECOND, 100).await;
    assert_eq!(purged, Purged { rows: 1, more: false });
    assert_eq!(store.find_access(token.id).await.unwrap(), None);
    assert_eq!(store.find_refresh(token.id).await.unwrap(), None);
    assert!(store.find_grant(login.id).await.unwrap().is_some());
}

/// Each step sets a new time after which the family may be deleted.
pub async fn redeeming_and_rotating_keep_a_grant_longer(store: Arc<dyn Storage>) {
    let login = sign_in_until(&*store, fixtures::NOW).await;
    let [second_day, third_day] = [1, 2].map(|days| fixtures::NOW + Duration::days(days));
    let command = RedeemCode { forget_after: second_day, ..fixtures::redeem_code(login.id) };
    let token = command.token.clone();
    assert_eq!(store.redeem_code(command).await.unwrap(), Redeemed::Stored);
    assert_eq!(purge(&*store, second_day, 100).await, Purged { rows: 0, more: false });
    let command = RotateRefresh { forget_after: third_day, ..fixtures::rotate_refresh(&token) };
    assert_eq!(store.rotate_refresh(command).await.unwrap(), Rotated::Stored);
    assert_eq!(purge(&*store, third_day, 100).await, Purged { rows: 0, more: false });
    assert_eq!(purge(&*store, third_day + SECOND, 100).await, Purged { rows: 1, more: false });
    assert!(store.find_grant(login.id).await.unwrap().is_none());
}

/// Tokens that were issued under longer lifetimes stay valid for as long as promised, so the end of their
/// family must be known for as long. If an ended grant were deleted, nothing would show that they ended with
/// it.
pub async fn a_shorter_lifetime_forgets_no_family_early(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let known = KnownAccess::from(&steps::access(&*store, &first).await);
    let soon = fixtures::NOW + SECOND;
    let rotation = RotateRefresh { forget_after: soon, ..fixtures::rotate_refresh(&first) };
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Stored);
    assert_eq!(store.revoke_grant(fixtures::revoke_grant(first.grant)).await.unwrap(), Revoked::Revoked);
    assert_eq!(purge(&*store, soon + SECOND, 100).await, Purged { rows: 0, more: false });
    assert!(!steps::is_live(&*store, &first).await);
    assert!(!store.lives_on(known).await.unwrap());
}

/// A copy of a rotated refresh token must be recognized for as long as it could be valid.
pub async fn a_rotated_refresh_token_stays_until_it_expires(store: Arc<dyn Storage>) {
    let first = steps::redeem(&*store).await;
    let expires_at = first.forget_after();
    let rotation = fixtures::rotate_refresh(&first);
    let refresh = RefreshToken { hash: fixtures::secret_hash(), expires_at: expires_at + SECOND };
    let token = Token { refresh: Some(refresh), ..rotation.token };
    let forget_after = token.forget_after();
    let rotation = RotateRefresh { token: token.clone(), forget_after, ..rotation };
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Stored);

    assert_eq!(purge(&*store, expires_at, 100).await, Purged { rows: 0, more: false });
    assert_eq!(steps::newest(&*store, &first).await, token.id);
    assert_eq!(purge(&*store, expires_at + SECOND, 100).await, Purged { rows: 1, more: false });
    assert_eq!(store.find_refresh(first.id).await.unwrap(), None);
    assert_eq!(steps::newest(&*store, &token).await, token.id);
    steps::rotate(&*store, &token).await;
}

/// The later of the two expiry times counts, whichever it is.
pub async fn a_token_stays_while_either_half_is_good(store: Arc<dyn Storage>) {
    let [early, late] = [1, 2].map(|hours| fixtures::NOW + Duration::hours(hours));
    for (access_expires_at, refresh_expires_at) in [(early, late), (late, early)] {
        let login = steps::sign_in(&*store).await;
        let refresh = Some(RefreshToken { hash: fixtures::secret_hash(), expires_at: refresh_expires_at });
        let token = Token { access_expires_at, refresh, ..fixtures::token(login.id) };
        let forget_after = fixtures::NOW + Duration::days(1);
        let command = RedeemCode { token: token.clone(), now: fixtures::NOW, forget_after };
        assert_eq!(store.redeem_code(command).await.unwrap(), Redeemed::Stored);
        assert_eq!(purge(&*store, late, 100).await, Purged { rows: 0, more: false });
        assert!(store.find_access(token.id).await.unwrap().is_some());
        assert_eq!(purge(&*store, late + SECOND, 100).await, Purged { rows: 1, more: false });
        assert!(store.find_access(token.id).await.unwrap().is_none());
    }
}

/// Grants and tokens each up to the limit. Those whose time passed first are deleted first.
pub async fn a_purge_keeps_to_its_limit_oldest_first(store: Arc<dyn Storage>) {
    let mut logins = Vec::new();
    for seconds in [4, 1, 5, 3, 2] {
        let forget_after = fixtures::NOW - Duration::seconds(seconds);
        let login = sign_in_until(&*store, forget_after).await;
        let token = Token { refresh: None, access_expires_at: forget_after, ..fixtures::token(login.id) };
        let command = RedeemCode { token: token.clone(), now: fixtures::NOW, forget_after };
        assert_eq!(store.redeem_code(command).await.unwrap(), Redeemed::Stored);
        logins.push((forget_after, login.id, token.id));
    }
    logins.sort();
    assert_eq!(purge(&*store, fixtures::NOW, 2).await, Purged { rows: 4, more: true });
    for (place, (_, grant, token)) in logins.iter().enumerate() {
        let stays = place >= 2;
        assert_eq!(store.find_grant(*grant).await.unwrap().is_some(), stays);
        assert_eq!(store.find_access(*token).await.unwrap().is_some(), stays);
    }
    assert_eq!(purge(&*store, fixtures::NOW, 2).await, Purged { rows: 4, more: true });
    assert_eq!(purge(&*store, fixtures::NOW, 2).await, Purged { rows: 2, more: false });
    assert_eq!(purge(&*store, fixtures::NOW, 2).await, Purged { rows: 0, more: false });
}

/// A caller that purges while there is more comes to an end, even if the limit fits exactly.
pub async fn a_purge_that_is_repeated_ends(store: Arc<dyn Storage>) {
    for _ in 0..6 {
        sign_in_until(&*store, fixtures::NOW - SECOND).await;
    }
    let mut rows = 0;
    for _ in 0..4 {
        let purged = purge(&*store, fixtures::NOW, 2).await;
        rows += purged.rows;
        if !purged.more {
            break;
        }
        assert_eq!(purged.rows, if rows > 6 { 0 } else { 2 });
    }
    assert_eq!(rows, 6);
    assert_eq!(purge(&*store, fixtures::NOW, 2).await, Purged { rows: 0, more: false });
}

/// What does not expire is never purged; nor are consents, addresses and users.
pub async fn a_purge_forgets_no_client_no_key_and_no_wallet(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let key = fixtures::add_signing_key();
    assert_eq!(store.add_signing_key(key.clone()).await.unwrap(), KeyAdded::Stored);
    let login = sign_in_until(&*store, fixtures::NOW).await;
    assert_eq!(store.put_email(fixtures::put_email(login.new_user)).await.unwrap(), EmailPut::Stored);
    let account = steps::account(&*store, login.new_user).await;
    assert_eq!((account.consents.len(), account.email.is_some()), (1, true));

    let far = fixtures::NOW + Duration::days(40_000);
    assert_eq!(purge(&*store, far, 1_000).await, Purged { rows: 1, more: false });

    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
    assert_eq!(store.signing_keys().await.unwrap(), [key.key]);
    assert_eq!(steps::account(&*store, login.new_user).await, account);
    let again = fixtures::complete_login_of(login.account);
    assert_eq!(steps::user_of(&*store, &again).await, login.new_user);
}

/// Not earlier, so that a text that is still valid works only once.
pub async fn a_spent_challenge_is_forgotten_in_its_time(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let before = login.forget_after + SECOND;
    assert_eq!(purge(&*store, before, 10).await.rows, 1);
    let wallet = fixtures::wallet_account();
    let linking = fixtures::link_wallet(&login.account, &wallet);
    let forget_after = linking.forget_after + Duration::hours(1);
    let linking = LinkWallet { forget_after, ..linking };
    let unlinking = fixtures::unlink_wallet(&login.account, &wallet);
    let unlinking = UnlinkWallet { forget_after: forget_after + SECOND, ..unlinking };
    assert!(matches!(store.link_wallet(linking.clone()).await.unwrap(), WalletLinked::Linked { .. }));
    assert!(matches!(store.unlink_wallet(unlinking.clone()).await.unwrap(), WalletUnlinked::Unlinked { .. }));
    for (before, rows) in [(forget_after, 0), (forget_after + SECOND, 1)] {
        assert_eq!(store.link_wallet(linking.clone()).await.unwrap(), WalletLinked::ChallengeSpent);
        assert_eq!(store.unlink_wallet(unlinking.clone()).await.unwrap(), WalletUnlinked::ChallengeSpent);
        assert_eq!(purge(&*store, before, 10).await, Purged { rows, more: false });
    }
    assert_eq!(store.unlink_wallet(unlinking.clone()).await.unwrap(), WalletUnlinked::ChallengeSpent);
    let before = forget_after + SECOND * 2;
    assert_eq!(purge(&*store, before, 10).await, Purged { rows: 1, more: false });
}

/// They have a limit of their own, besides those of grants and tokens.
pub async fn spent_challenges_are_purged_oldest_first_up_to_the_limit(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let end = login.forget_after + SECOND;
    assert_eq!(purge(&*store, end, 10).await.rows, 1);
    let mut links = Vec::new();
    for seconds in [3, 1, 5, 2, 4] {
        let command = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
        let command = LinkWallet { forget_after: end + SECOND * seconds, ..command };
        assert!(matches!(store.link_wallet(command.clone()).await.unwrap(), WalletLinked::Linked { .. }));
        links.push(command);
    }
    links.sort_by_key(|command| command.forget_after);
    let later = end + SECOND * 10;
    assert_eq!(purge(&*store, later, 2).await, Purged { rows: 2, more: true });
    for (place, command) in links.iter().enumerate() {
        let is_spent = store.link_wallet(command.clone()).await.unwrap() == WalletLinked::ChallengeSpent;
        assert_eq!(is_spent, place >= 2);
    }
    // The two deleted ones were checked once more, and are spent again.
    assert_eq!(purge(&*store, later, 3).await, Purged { rows: 3, more: true });
    assert_eq!(purge(&*store, later, 3).await, Purged { rows: 2, more: false });
}

/// Not at its end, but after it. The challenge that opened it stays spent for its own time.
pub async fn an_expired_session_is_purged(store: Arc<dyn Storage>) {
    let opening = fixtures::open_session();
    let user = steps::open(&*store, &opening).await;
    let end = opening.session.expires_at;
    let forget_after = end + Duration::hours(1);
    let later = OpenSession { forget_after, ..fixtures::open_session_of(opening.account.clone()) };
    steps::open(&*store, &later).await;
    let session = Some(NewSession { expires_at: end + SECOND, ..fixtures::new_session() });
    let login = CompleteLogin { session, ..fixtures::complete_login_of(opening.account.clone()) };
    let login = CompleteLogin { forget_after, ..login };
    let living = steps::remember_by(&*store, &login).await;

    // The challenge of the first opening, which was valid for minutes.
    assert_eq!(purge(&*store, end, 10).await, Purged { rows: 1, more: false });
    assert_eq!(steps::account(&*store, user).await.sessions.len(), 3);
    assert_eq!(purge(&*store, end + SECOND, 10).await, Purged { rows: 2, more: false });
    assert_eq!(steps::account(&*store, user).await.sessions, [living]);
    assert_eq!(store.open_session(later).await.unwrap(), SessionOpened::ChallengeSpent);
    assert_eq!(purge(&*store, end + SECOND * 2, 10).await, Purged { rows: 1, more: false });
    assert_eq!(steps::account(&*store, user).await.sessions, []);
}

/// They have a limit of their own, besides those of grants, tokens and challenges.
pub async fn expired_sessions_are_purged_oldest_first_up_to_the_limit(store: Arc<dyn Storage>) {
    let far = fixtures::NOW + Duration::days(40_000);
    let login = sign_in_until(&*store, far).await;
    let mut sessions = Vec::new();
    for seconds in [3, 1, 5, 2, 4] {
        let expires_at = fixtures::NOW + SECOND * seconds;
        let session = Some(NewSession { expires_at, ..fixtures::new_session() });
        let again = fixtures::complete_login_of(login.account.clone());
        let again = CompleteLogin { session, forget_after: far, ..again };
        sessions.push(steps::remember_by(&*store, &again).await);
    }
    for _ in 0..2 {
        sign_in_until(&*store, fixtures::NOW).await;
    }
    sessions.sort_by_key(|session| session.expires_at);
    let later = fixtures::NOW + SECOND * 10;
    assert_eq!(purge(&*store, later, 2).await, Purged { rows: 4, more: true });
    for (place, session) in sessions.iter().enumerate() {
        assert_eq!(store.find_session(session.id).await.unwrap().is_some(), place >= 2);
    }
    assert_eq!(purge(&*store, later, 3).await, Purged { rows: 3, more: false });
    assert_eq!(purge(&*store, later, 3).await, Purged { rows: 0, more: false });
}
