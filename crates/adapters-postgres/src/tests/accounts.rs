//! Sessions, consents and accounts while others work with them, and impossible rows of theirs.
//!
//! No operation may fail here: an error would be a deadlock.

use std::sync::Barrier;
use std::thread;

use countersign_conformance::fixtures;
use countersign_domain::login_session::LoginSession;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ChangeMembers, CompleteLogin, ContinueSession, DeleteClient, DeleteGroup, EndSession, EndSessions,
    LinkWallet, MembersGo, NewSession, SessionContinued, StoreError,
};
use countersign_sql::SqlError;
use countersign_sql::ops::accounts::delete_account::delete_account;
use countersign_sql::ops::accounts::end_session::{end_session, end_sessions};
use countersign_sql::ops::accounts::link_wallet::link_wallet;
use countersign_sql::ops::accounts::put_email::put_email;
use countersign_sql::ops::accounts::revoke_consent::revoke_consent;
use countersign_sql::ops::accounts::unlink_wallet::unlink_wallet;
use countersign_sql::ops::blocks::end_access::end_access;
use countersign_sql::ops::blocks::put_block::put_block;
use countersign_sql::ops::clients::manage_clients::delete_client;
use countersign_sql::ops::people::change_members::change_members;
use countersign_sql::ops::people::manage_groups::{create_group, delete_group};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_query;

use super::{count, migrated};
use crate::connect::connection::ConnectionUrl;
use crate::error::OpError;
use crate::ops::sign_in::complete_login::complete_login;
use crate::ops::sign_in::continue_session::continue_session;
use crate::ops::{consents_at, find_account, find_email, find_session};

const ROUNDS: usize = 30;

/// A live grant that its user did not agree to, or that has no user.
const STRAY_GRANTS: &str = "grants WHERE revoked_at IS NULL \
    AND NOT EXISTS (SELECT FROM signed_consents c WHERE c.user_id = grants.user_id AND c.client_id = grants.client_id)";

/// A consent whose grants were all revoked: only half of a revocation happened.
const STRAY_CONSENTS: &str = "signed_consents WHERE NOT EXISTS (SELECT FROM grants g \
    WHERE g.user_id = signed_consents.user_id AND g.client_id = signed_consents.client_id AND g.revoked_at IS NULL)";

/// Whatever is left of a user who does not exist.
const STRAY_ROWS: &str = "(SELECT user_id FROM wallets UNION ALL SELECT user_id FROM signed_consents \
    UNION ALL SELECT user_id FROM login_sessions UNION ALL SELECT user_id FROM emails \
    UNION ALL SELECT user_id FROM group_users UNION ALL SELECT user_id FROM blocked_users \
    UNION ALL SELECT user_id FROM grants WHERE revoked_at IS NULL) AS rows \
    WHERE user_id NOT IN (SELECT id FROM users)";

/// Every write takes a moment, so that operations overlap.
const LINGER: &str = "\
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
      PERFORM pg_sleep(random() * 0.004); RETURN COALESCE(NEW, OLD); \
    END $$; \
    DO $$ DECLARE name text; BEGIN \
      FOREACH name IN ARRAY ARRAY['group_users', 'wallets', 'blocked_users', 'blocked_wallets', \
        'signed_consents', 'login_sessions', 'grants', 'fresh_events', 'events'] LOOP \
        EXECUTE format('CREATE TRIGGER linger BEFORE INSERT OR UPDATE OR DELETE ON %I \
          FOR EACH ROW EXECUTE FUNCTION linger()', name); \
      END LOOP; \
    END $$";

pub(super) fn lingering() -> (Crowd, PgConnection) {
    let (url, mut connection) = migrated();
    connection.batch_execute(LINGER).unwrap();
    (Crowd { url, connections: Vec::new() }, connection)
}

pub(super) type Step<'a> = Box<dyn Fn(&mut PgConnection) + Send + Sync + 'a>;

/// A step that must succeed.
pub(super) fn step<'a, T, E: std::fmt::Debug>(
    operation: impl Fn(&mut PgConnection) -> Result<T, E> + Send + Sync + 'a,
) -> Step<'a> {
    Box::new(move |connection| drop(operation(connection).unwrap()))
}

/// Connections for steps that run at once.
pub(super) struct Crowd {
    url: ConnectionUrl,
    connections: Vec<PgConnection>,
}

impl Crowd {
    /// Runs all at once, each on a connection of its own.
    pub(super) fn at_once(&mut self, steps: &[Step<'_>]) {
        while self.connections.len() < steps.len() {
            self.connections.push(self.url.open_for_operations().unwrap());
        }
        let barrier = Barrier::new(steps.len());
        thread::scope(|scope| {
            for (step, connection) in steps.iter().zip(&mut self.connections) {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    step(connection);
                });
            }
        });
    }
}

/// A person who signed in, with a browser that remembers it.
pub(super) fn signed_in(connection: &mut PgConnection) -> (CompleteLogin, LoginSession) {
    let login = fixtures::remembered_login();
    complete_login(connection, &login).unwrap();
    let session = login.session.as_ref().unwrap().id;
    (login, find_session(connection, session).unwrap().unwrap())
}

/// A later login of the same wallet at the same client, in the same browser.
fn again(login: &CompleteLogin) -> CompleteLogin {
    let replaces = login.session.as_ref().map(|session| session.id);
    let session = NewSession { replaces, ..fixtures::new_session() };
    CompleteLogin {
        client: login.client,
        session: Some(session),
        ..fixtures::complete_login_of(login.account.clone())
    }
}

#[test]
fn a_consent_that_is_revoked_while_people_sign_in_or_continue_leaves_no_live_grant_without_one() {
    let (mut crowd, mut connection) = lingering();
    for _ in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let (next, proceed) = (again(&login), fixtures::continue_session(&session, login.client));
        let revoke = fixtures::revoke_consent(session.user, login.client);
        crowd.at_once(&[
            step(|connection| complete_login(connection, &next)),
            step(|connection| continue_session(connection, &proceed)),
            step(|connection| revoke_consent(connection, &revoke)),
            step(|connection| revoke_consent(connection, &revoke)),
        ]);
        assert_eq!(count(&mut connection, STRAY_GRANTS), 0);
        assert_eq!(count(&mut connection, STRAY_CONSENTS), 0);
    }
}

#[test]
fn a_first_login_at_a_client_comes_wholly_before_a_revocation_or_wholly_after() {
    let (mut crowd, mut connection) = lingering();
    for _ in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let first =
            CompleteLogin { client: fixtures::client().id, ..fixtures::complete_login_of(login.account) };
        let revoke = fixtures::revoke_consent(session.user, first.client);
        crowd.at_once(&[
            step(|connection| complete_login(connection, &first)),
            step(|connection| revoke_consent(connection, &revoke)),
            step(|connection| revoke_consent(connection, &revoke)),
        ]);
        assert_eq!(count(&mut connection, STRAY_GRANTS), 0);
        assert_eq!(count(&mut connection, STRAY_CONSENTS), 0);
    }
}

#[test]
fn one_request_that_is_signed_for_and_continued_at_once_is_answered_once() {
    let (mut crowd, mut connection) = lingering();
    for round in 1..=ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let next = again(&login);
        let proceed = |_| {
            let mut proceed = fixtures::continue_session(&session, login.client);
            proceed.login.id = next.id;
            proceed
        };
        let commands: [ContinueSession; 3] = std::array::from_fn(proceed);
        crowd.at_once(&[
            step(|connection| complete_login(connection, &next)),
            step(|connection| continue_session(connection, &commands[0])),
            step(|connection| continue_session(connection, &commands[1])),
            step(|connection| continue_session(connection, &commands[2])),
        ]);
        assert_eq!(count(&mut connection, "grants"), i64::try_from(2 * round).unwrap());
    }
}

#[test]
fn sessions_that_end_while_they_are_continued_lead_nowhere_from_then_on() {
    let (mut crowd, mut connection) = lingering();
    for _ in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let other = CompleteLogin {
            session: Some(fixtures::new_session()),
            ..fixtures::complete_login_of(login.account.clone())
        };
        complete_login(&mut connection, &other).unwrap();
        let commands: [ContinueSession; 2] =
            std::array::from_fn(|_| fixtures::continue_session(&session, login.client));
        crowd.at_once(&[
            step(|connection| continue_session(connection, &commands[0])),
            step(|connection| continue_session(connection, &commands[1])),
            step(|connection| {
                end_session(connection, &EndSession { user: session.user, id: session.id, event: None })
            }),
            step(|connection| end_sessions(connection, &EndSessions { user: session.user, event: None })),
            step(|connection| end_sessions(connection, &EndSessions { user: session.user, event: None })),
        ]);
        assert_eq!(count(&mut connection, "login_sessions"), 0);
        let late = fixtures::continue_session(&session, login.client);
        assert_eq!(continue_session(&mut connection, &late).unwrap(), SessionContinued::SessionEnded);
    }
}

/// A second wallet for the user of the first.
fn linked(connection: &mut PgConnection, signer: &WalletAccount) -> WalletAccount {
    let link: LinkWallet = fixtures::link_wallet(signer, &fixtures::wallet_account());
    link_wallet(connection, &link).unwrap();
    link.wallet
}

#[test]
fn an_account_that_is_deleted_while_everything_else_happens_leaves_nothing_behind() {
    let (mut crowd, mut connection) = lingering();
    for round in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let wallet = linked(&mut connection, &login.account);
        let unlink = fixtures::unlink_wallet(&wallet, &login.account);
        let link = fixtures::link_wallet(&login.account, &fixtures::wallet_account());
        let (next, other) = (again(&login), fixtures::remembered_login_of(wallet));
        let proceed = fixtures::continue_session(&session, login.client);
        let revoke = fixtures::revoke_consent(session.user, login.client);
        let put = fixtures::put_email(session.user);
        let all = [
            step(|connection| delete_account(connection, &fixtures::delete_account(session.user))),
            step(|connection| complete_login(connection, &next)),
            step(|connection| complete_login(connection, &other)),
            step(|connection| continue_session(connection, &proceed)),
            step(|connection| put_email(connection, &put)),
            step(|connection| unlink_wallet(connection, &unlink)),
            step(|connection| link_wallet(connection, &link)),
            step(|connection| revoke_consent(connection, &revoke)),
            step(|connection| end_sessions(connection, &EndSessions { user: session.user, event: None })),
            step(|connection| delete_client(connection, &DeleteClient { id: login.client, event: None })),
        ];
        // In the gentle rounds a login comes first more often.
        crowd.at_once(if round % 2 == 0 { &all } else { &all[..5] });
        assert_eq!(count(&mut connection, STRAY_ROWS), 0);
        assert!(find_account(&mut connection, session.user).unwrap().is_none());
    }
}

/// The block of the wallet with this address.
const BLOCKS: &str = "blocked_wallets WHERE address";

#[test]
fn blocking_and_groups_wait_in_the_same_order_as_everything_else() {
    let (mut crowd, mut connection) = lingering();
    for round in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let wallet = linked(&mut connection, &login.account);
        let names = [fixtures::group_name(), fixtures::group_name()];
        let member = Subject::User(session.user);
        for name in &names {
            create_group(&mut connection, &fixtures::create_group(name)).unwrap();
            let join = fixtures::change_one(MembersGo::In, fixtures::add_member(name, &member));
            change_members(&mut connection, &join).unwrap();
        }
        let changes = names.iter().map(|name| fixtures::add_member(name, &member)).collect();
        let join = ChangeMembers { way: MembersGo::In, changes, event: None };
        let (block_user, block_wallet) =
            (fixtures::block_user(session.user), fixtures::block_wallet(&wallet));
        let (end_user, end_wallet) = (
            fixtures::end_access(&Subject::User(session.user)),
            fixtures::end_access(&Subject::Wallet(wallet.clone())),
        );
        let unlink = fixtures::unlink_wallet(&login.account, &wallet);
        let (next, other) = (again(&login), fixtures::remembered_login_of(wallet.clone()));
        let proceed = fixtures::continue_session(&session, login.client);
        let all = [
            step(|connection| delete_account(connection, &fixtures::delete_account(session.user))),
            step(|connection| put_block(connection, &block_user)),
            step(|connection| put_block(connection, &block_wallet)),
            step(|connection| end_access(connection, &end_user)),
            step(|connection| end_access(connection, &end_wallet)),
            step(|connection| unlink_wallet(connection, &unlink)),
            step(|connection| delete_group(connection, &DeleteGroup { name: names[0].clone(), event: None })),
            step(|connection| delete_group(connection, &DeleteGroup { name: names[1].clone(), event: None })),
            step(|connection| change_members(connection, &join)),
            step(|connection| complete_login(connection, &next)),
            step(|connection| complete_login(connection, &other)),
            step(|connection| continue_session(connection, &proceed)),
        ];
        // Every other round the account stays.
        crowd.at_once(if round % 2 == 0 { &all } else { &all[1..] });
        assert_eq!(count(&mut connection, STRAY_ROWS), 0);
        assert_eq!(count(&mut connection, "group_users"), 0);
        assert_eq!(count(&mut connection, &format!("{BLOCKS} = '{}'", wallet.address)), 1);
        // The account was blocked before it was deleted, or was gone, and then nobody is blocked by it.
        let blocked = count(&mut connection, &format!("{BLOCKS} = '{}'", login.account.address));
        let is_user = count(&mut connection, &format!("blocked_users WHERE user_id = '{}'", session.user));
        assert!(blocked + is_user <= 1 && (round % 2 == 0 || is_user == 1), "{blocked} {is_user}");
    }
}

#[test]
fn the_wallet_that_is_unlinked_takes_its_sessions_and_what_they_led_to_with_it() {
    let (mut crowd, mut connection) = lingering();
    for _ in 0..ROUNDS {
        let (login, session) = signed_in(&mut connection);
        let wallet = linked(&mut connection, &login.account);
        let unlink = fixtures::unlink_wallet(&wallet, &login.account);
        let proceed = fixtures::continue_session(&session, login.client);
        let next = again(&login);
        crowd.at_once(&[
            step(|connection| unlink_wallet(connection, &unlink)),
            step(|connection| continue_session(connection, &proceed)),
            step(|connection| complete_login(connection, &next)),
        ]);
        let of_the_wallet = format!("user_id = '{}' AND address = '{}'", session.user, login.account.address);
        for of in ["login_sessions WHERE", "grants WHERE revoked_at IS NULL AND"] {
            assert_eq!(count(&mut connection, &format!("{of} {of_the_wallet}")), 0, "{of}");
        }
    }
}

/// The error of `operation` after the statement changed a row.
fn told<T: std::fmt::Debug>(
    connection: &mut PgConnection,
    statement: &str,
    operation: impl Fn(&mut PgConnection) -> Result<T, SqlError>,
) -> String {
    sql_query(statement).execute(connection).unwrap();
    StoreError::from(OpError::from(operation(connection).unwrap_err())).to_string()
}

#[test]
fn rows_of_an_account_that_cannot_be_are_reported_with_their_place() {
    let (_, mut connection) = migrated();
    let (login, session) = signed_in(&mut connection);
    let (user, client) = (session.user, login.client);
    put_email(&mut connection, &fixtures::put_email(user)).unwrap();
    let statement = "UPDATE emails SET confirmation_expires_at = NULL";
    let error = told(&mut connection, statement, |connection| find_email(connection, user));
    assert_eq!(error, format!("stored emails {user} has an impossible confirmation_expires_at"));
    for scopes in [128, 256, -1] {
        let statement = format!("UPDATE signed_consents SET scopes = {scopes}");
        let error = told(&mut connection, &statement, |connection| consents_at(connection, user, client));
        assert_eq!(error, format!("stored signed_consents {user} {client} has an impossible scopes"));
    }
    let statement = "UPDATE login_sessions SET secret_hash = '\\x00'";
    let error = told(&mut connection, statement, |connection| find_session(connection, session.id));
    assert_eq!(error, format!("stored login_sessions {} has an impossible secret_hash", session.id));
    let error = told(&mut connection, "SELECT 1", |connection| find_account(connection, user));
    assert!(error.contains("impossible"), "{error}");
}
