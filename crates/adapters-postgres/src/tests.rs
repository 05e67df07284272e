//! What only this crate can see: statements on a connection, and the rows that outcomes leave.

mod accounts;
mod batches;
mod desk;
mod events;
mod people;

use std::env;

use countersign_conformance::fixtures;
use countersign_domain::id::ClientId;
use countersign_ports::{ClientFilter, ClientOrder, ClientUse, SortClients};
use countersign_ports::{FindHoldings, KnownAccess, LoginCompleted, PurgeExpired, StoreError};
use countersign_sql::ops::accounts::{
    confirm_email, delete_account, end_session, link_wallet, name_wallet, put_email, remove_email,
    revoke_consent, unlink_wallet,
};
use countersign_sql::ops::clients::client_uses::note_client_uses;
use countersign_sql::ops::clients::sort_clients::sort_clients;
use countersign_sql::ops::clients::{manage_clients, resources};
use countersign_sql::ops::keys::{admin_keys, signing_keys};
use countersign_sql::ops::people::declarations;
use countersign_sql::ops::upkeep::epoch;
use countersign_test_postgres::Cluster;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, sql_query};

use crate::connect::connection::ConnectionUrl;
use crate::ops::people::read_holdings;
use crate::ops::sign_in::{complete_login, continue_session, open_session};
use crate::ops::tokens::{redeem_code, revoke, rotate_refresh};
use crate::ops::upkeep::{ping, purge_expired};
use crate::setup::migrate::migrate;
use crate::{ops, together};

/// The URL of a database with the whole schema.
fn migrated_url() -> String {
    Cluster::shared().create_prepared_database(&env::current_exe().unwrap(), |url| {
        migrate(url).unwrap();
    })
}

fn migrated() -> (ConnectionUrl, PgConnection) {
    let url = ConnectionUrl::parse(&migrated_url()).unwrap();
    let connection = url.open_for_operations().unwrap();
    (url, connection)
}

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

fn count(connection: &mut PgConnection, of: &str) -> i64 {
    let counted: Counted = sql_query(format!("SELECT count(*) FROM {of}")).get_result(connection).unwrap();
    counted.count
}

/// Every operation once, with outcomes of every kind, with or without optional values.
fn every_operation(connection: &mut PgConnection, with_options: bool) {
    let mut client = fixtures::client();
    if with_options {
        client.metadata.display = fixtures::full_display();
    }
    let register = countersign_ports::RegisterClient { client: client.clone(), event: None };
    ops::register_client(connection, &register).unwrap();
    ops::register_client(connection, &register).unwrap();
    let update = countersign_ports::UpdateClient { client: client.clone(), event: None };
    manage_clients::update_client(connection, &update).unwrap();
    manage_clients::update_client(connection, &update).unwrap();
    together::read::find_clients(connection, &[client.id.into()]).unwrap();
    manage_clients::list_clients(connection, None, 10).unwrap();
    manage_clients::list_clients(connection, Some(client.id), 20).unwrap();
    for order in [ClientOrder::Name, ClientOrder::LastUse, ClientOrder::Created] {
        let mut question = SortClients {
            filter: ClientFilter::default(),
            default_access: fixtures::rule("everyone"),
            order,
            after: None,
            limit: 10,
        };
        sort_clients(connection, &question).unwrap();
        question.filter.origin = Some(client.origin);
        sort_clients(connection, &question).unwrap();
    }
    let used = ClientUse { client: client.id, used_at: fixtures::NOW };
    note_client_uses(connection, &[used]).unwrap();

    let mut login = fixtures::remembered_login();
    login.session = login.session.filter(|_| with_options);
    login.nonce = login.nonce.filter(|_| with_options);
    login.code_challenge = login.code_challenge.filter(|_| with_options);
    complete_login::complete_login(connection, &login).unwrap();
    complete_login::complete_login(connection, &login).unwrap();
    together::read::find_grants(connection, &[login.id.into()]).unwrap();
    let mut redeem = fixtures::redeem_code(login.id);
    redeem.token.refresh = redeem.token.refresh.filter(|_| with_options);
    redeem_code::redeem_code(connection, &redeem).unwrap();
    redeem_code::redeem_code(connection, &redeem).unwrap();
    let rotate = fixtures::rotate_refresh(&redeem.token);
    rotate_refresh::rotate_refresh(connection, &rotate).unwrap();
    rotate_refresh::rotate_refresh(connection, &rotate).unwrap();
    together::read::find_refreshes(connection, &[redeem.token.id.into()]).unwrap();
    let access = together::read::find_accesses(connection, &[rotate.token.id.into()]).unwrap().remove(0);
    together::read::living_on(connection, &[KnownAccess::from(&access)]).unwrap();
    let revoke_token = fixtures::revoke_token(&rotate.token);
    revoke::revoke_token(connection, &revoke_token).unwrap();
    revoke::revoke_token(connection, &revoke_token).unwrap();
    let revoke_grant = fixtures::revoke_grant(login.id);
    revoke::revoke_grant(connection, &revoke_grant).unwrap();
    revoke::revoke_grant(connection, &revoke_grant).unwrap();

    let other = fixtures::wallet_account();
    let link = fixtures::link_wallet(&login.account, &other);
    link_wallet::link_wallet(connection, &link).unwrap();
    link_wallet::link_wallet(connection, &link).unwrap();
    link_wallet::link_wallet(connection, &fixtures::link_wallet(&other, &other)).unwrap();
    ops::find_owner(connection, &other).unwrap();
    let named = fixtures::name_wallet(login.new_user, &other, if with_options { "Other" } else { "" });
    name_wallet::name_wallet(connection, &named).unwrap();
    ops::wallets_of(connection, login.new_user).unwrap();
    let question = FindHoldings { users: vec![login.new_user], wallets: vec![other.clone()], limit: 10 };
    assert!(!read_holdings::find_holdings(connection, &question).unwrap().is_empty());
    let unlink = fixtures::unlink_wallet(&other, &login.account);
    unlink_wallet::unlink_wallet(connection, &unlink).unwrap();
    unlink_wallet::unlink_wallet(connection, &unlink).unwrap();

    every_operation_on_accounts(connection, with_options);
    every_operation_on_requests(connection);
    people::every_operation_on_people(connection, with_options);
    batches::every_operation_together(connection, with_options);
    events::every_operation_on_events(connection, with_options);
    desk::every_operation_of_the_desk(connection, with_options);

    let resource = fixtures::resource(&["photos.read", "photos.write"]);
    let create = countersign_ports::CreateResource { resource: resource.clone(), event: None };
    resources::create_resource(connection, &create).unwrap();
    resources::create_resource(connection, &create).unwrap();
    let open_to = countersign_domain::resource::OpenTo::Named;
    let changed = countersign_domain::resource::Resource { open_to, ..resource.clone() };
    let update = countersign_ports::UpdateResource { resource: changed, event: None };
    resources::update_resource(connection, &update).unwrap();
    resources::list_resources(connection).unwrap();
    let scopes = resource.scopes.iter().map(|scope| scope.name.clone()).collect();
    let named = with_options.then(|| resource.uri.clone());
    let uses = countersign_ports::FindUses { resource: named, scopes, now: fixtures::NOW };
    resources::find_uses(connection, &uses).unwrap();
    let delete = countersign_ports::DeleteResource { uri: resource.uri, event: None };
    resources::delete_resource(connection, &delete).unwrap();

    let declared = fixtures::declaration();
    let put = countersign_ports::PutDeclarations { declarations: vec![declared.clone()] };
    declarations::put_declarations(connection, &put).unwrap();
    declarations::put_declarations(connection, &put).unwrap();
    declarations::list_declarations(connection).unwrap();
    let forget = countersign_ports::ForgetDeclarations { things: vec![declared.thing] };
    declarations::forget_declarations(connection, &forget).unwrap();
    let key = fixtures::admin_key();
    let create = countersign_ports::CreateAdminKey { key: key.clone(), event: None };
    admin_keys::create_admin_key(connection, &create).unwrap();
    admin_keys::create_admin_key(connection, &create).unwrap();
    let revoke = countersign_ports::RevokeAdminKey { id: key.id, now: fixtures::NOW, event: None };
    admin_keys::revoke_admin_key(connection, &revoke).unwrap();
    admin_keys::note_admin_key_use(connection, key.id, fixtures::NOW).unwrap();
    admin_keys::find_admin_key(connection, key.id).unwrap();
    admin_keys::list_admin_keys(connection).unwrap();
    let begin = countersign_ports::BeginRequest {
        key: key.id,
        name: [1; 32],
        asked: [2; 32],
        now: fixtures::NOW,
        forget_before: fixtures::NOW,
    };
    admin_keys::begin_request(connection, &begin).unwrap();
    let once = countersign_ports::CreateOnce {
        request: countersign_ports::RequestName { key: key.id, name: begin.name },
        now: fixtures::NOW,
        creation: countersign_ports::Creation::Group(fixtures::create_group(&fixtures::group_name())),
    };
    ops::create_once(connection, &once).unwrap();
    ops::create_once(connection, &once).unwrap();
    epoch::raise_epoch(connection, &fixtures::raise_epoch()).unwrap();
    epoch::epoch(connection).unwrap().unwrap();
    let read = together::read::find_clients(connection, &[client.id.into()]).unwrap().remove(0);
    let update = countersign_ports::UpdateClient { client: read.clone(), event: None };
    let change = countersign_ports::ClientChange::Update(Box::new(update));
    let changed = countersign_ports::IfClientUnchanged { read, change };
    ops::if_client_unchanged(connection, &changed).unwrap();

    let key = fixtures::add_signing_key();
    signing_keys::add_signing_key(connection, &key).unwrap();
    signing_keys::add_signing_key(connection, &key).unwrap();
    let kid = key.key.kid;
    let withdraw =
        countersign_ports::WithdrawSigningKey { kid: kid.clone(), now: fixtures::NOW, event: None };
    signing_keys::withdraw_signing_key(connection, &withdraw).unwrap();
    let remove = countersign_ports::RemoveSigningKey { kid, event: None };
    signing_keys::remove_signing_key(connection, &remove).unwrap();
    signing_keys::signing_keys(connection).unwrap();
    purge_expired::purge_expired(connection, &PurgeExpired::oldest(fixtures::past(fixtures::NOW), 5))
        .unwrap();
    ping::ping(connection).unwrap();
    let delete = countersign_ports::DeleteClient { id: client.id, event: None };
    manage_clients::delete_client(connection, &delete).unwrap();
}

fn every_operation_on_accounts(connection: &mut PgConnection, with_options: bool) {
    let login = fixtures::complete_login();
    complete_login::complete_login(connection, &login).unwrap();
    let mut open = fixtures::open_session_of(login.account.clone());
    open.session.replaces = with_options.then(fixtures::session_id);
    open_session::open_session(connection, &open).unwrap();
    open_session::open_session(connection, &open).unwrap();
    let session = ops::find_session(connection, open.session.id).unwrap().unwrap();
    let mut proceed = fixtures::continue_session(&session, login.client);
    proceed.login.nonce = proceed.login.nonce.filter(|_| with_options);
    continue_session::continue_session(connection, &proceed).unwrap();
    continue_session::continue_session(connection, &proceed).unwrap();

    let user = session.user;
    ops::consents_at(connection, user, login.client).unwrap();
    let mut put = fixtures::put_email(user);
    put.confirmation = put.confirmation.filter(|_| with_options);
    put_email::put_email(connection, &put).unwrap();
    put_email::put_email(connection, &fixtures::put_email(user)).unwrap();
    confirm_email::confirm_email(connection, &fixtures::confirm_email(user, fixtures::email_confirmation()))
        .unwrap();
    ops::find_email(connection, user).unwrap().unwrap();
    ops::find_account(connection, user).unwrap().unwrap();
    remove_email::remove_email(connection, user).unwrap();
    revoke_consent::revoke_consent(connection, &fixtures::revoke_consent(user, login.client)).unwrap();
    let end = countersign_ports::EndSession { user, id: session.id, event: None };
    end_session::end_session(connection, &end).unwrap();
    end_session::end_sessions(connection, &countersign_ports::EndSessions { user, event: None }).unwrap();
    delete_account::delete_account(connection, &fixtures::delete_account(user)).unwrap();
}

fn every_operation_on_requests(connection: &mut PgConnection) {
    let pushed = fixtures::pushed_request();
    ops::push_request(connection, &pushed).unwrap();
    ops::take_pushed_request(connection, &fixtures::take_pushed_request(&pushed)).unwrap().unwrap();
    let device = fixtures::begin_device();
    ops::begin_device(connection, &device).unwrap();
    ops::begin_device(connection, &device).unwrap();
    ops::find_device_by_user_code(connection, device.request.user_code_hash).unwrap().unwrap();
    let deny = countersign_ports::DenyDevice { id: device.request.id, now: fixtures::NOW };
    ops::deny_device(connection, &deny).unwrap();
}

#[test]
fn every_statement_is_prepared_once_for_each_connection() {
    let (_, mut connection) = migrated();
    every_operation(&mut connection, true);
    let prepared = prepared_statements(&mut connection);
    // Diesel does not cache updates that it wrote itself. Only the one of clients is left, and it is rare.
    assert!(prepared.len() >= 64, "{} statements are prepared", prepared.len());
    every_operation(&mut connection, false);
    every_operation(&mut connection, true);
    let more: Vec<_> = prepared_statements(&mut connection)
        .into_iter()
        .filter(|statement| !prepared.contains(statement))
        .collect();
    assert_eq!(more, Vec::<String>::new());
}

fn prepared_statements(connection: &mut PgConnection) -> Vec<String> {
    #[derive(diesel::QueryableByName)]
    struct Prepared {
        #[diesel(sql_type = diesel::sql_types::Text)]
        statement: String,
    }
    let prepared: Vec<Prepared> =
        sql_query("SELECT statement FROM pg_prepared_statements WHERE name <> '' ORDER BY statement")
            .load(connection)
            .unwrap();
    prepared.into_iter().map(|prepared| prepared.statement).collect()
}

#[test]
fn a_pooled_connection_is_durable_and_patient_within_limits_whatever_the_database_says() {
    #[derive(QueryableByName)]
    struct Setting {
        #[diesel(sql_type = Text)]
        setting: String,
    }
    let (url, mut connection) = migrated();
    let statement = "DO $$ BEGIN \
        EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); \
        EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); \
        END $$";
    sql_query(statement).execute(&mut connection).unwrap();
    let mut connection = url.open_for_operations().unwrap();
    let mut setting = |name: &str| {
        let found: Setting = sql_query(format!("SELECT current_setting('{name}') AS setting"))
            .get_result(&mut connection)
            .unwrap();
        found.setting
    };
    assert_eq!(setting("synchronous_commit"), "on");
    assert_eq!(setting("transaction_isolation"), "read committed");
    assert_eq!(setting("statement_timeout"), "5s");
    assert_eq!(setting("lock_timeout"), "3s");
}

#[test]
fn first_logins_of_one_wallet_at_once_leave_one_user_and_every_grant() {
    let (url, mut connection) = migrated();
    for round in 1..=20 {
        let account = fixtures::wallet_account();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (url, account) = (&url, account.clone());
                scope.spawn(move || {
                    let mut connection = url.open_for_operations().unwrap();
                    let login = fixtures::complete_login_of(account);
                    let outcome = complete_login::complete_login(&mut connection, &login).unwrap();
                    assert!(matches!(outcome, LoginCompleted::CodeIssued { .. }));
                });
            }
        });
        assert_eq!(count(&mut connection, "users"), round);
        assert_eq!(count(&mut connection, "grants JOIN wallets USING (user_id)"), 4 * round);
    }
}

#[test]
fn d_08_one_challenge_signed_by_several_new_wallets_at_once_makes_one_user() {
    let (url, mut connection) = migrated();
    for round in 1..=20 {
        let id = fixtures::grant_id();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let url = &url;
                scope.spawn(move || {
                    let mut connection = url.open_for_operations().unwrap();
                    let login = countersign_ports::CompleteLogin { id, ..fixtures::complete_login() };
                    complete_login::complete_login(&mut connection, &login).unwrap()
                });
            }
        });
        for table in ["users", "wallets", "grants"] {
            assert_eq!(count(&mut connection, table), round, "{table}");
        }
    }
}

#[test]
fn a_row_that_cannot_be_is_reported_with_its_place() {
    let (_, mut connection) = migrated();
    let client = fixtures::client();
    let id: ClientId = client.id;
    ops::register_client(&mut connection, &countersign_ports::RegisterClient { client, event: None })
        .unwrap();
    sql_query("UPDATE clients SET grant_types = 'password'").execute(&mut connection).unwrap();
    let error = StoreError::from(together::read::find_clients(&mut connection, &[id.into()]).unwrap_err());
    assert_eq!(error.to_string(), format!("stored clients {id} has an impossible grant_types"));
}

#[test]
fn a_rule_of_access_that_cannot_be_read_lets_nobody_in() {
    let (_, mut connection) = migrated();
    let client = fixtures::client();
    let id: ClientId = client.id;
    ops::register_client(&mut connection, &countersign_ports::RegisterClient { client, event: None })
        .unwrap();
    for (rule, released, column) in [
        ("''", "", "access_rule"),
        ("'Everyone'", "", "access_rule"),
        ("'groups:'", "", "access_rule"),
        ("NULL", "All", "released_groups"),
    ] {
        let update = format!("UPDATE clients SET access_rule = {rule}, released_groups = '{released}'");
        sql_query(update).execute(&mut connection).unwrap();
        let found = together::read::find_clients(&mut connection, &[id.into()]);
        let error = StoreError::from(found.unwrap_err());
        assert_eq!(error.to_string(), format!("stored clients {id} has an impossible {column}"), "{rule}");
    }
}

/// How many entries of an index were read, by all connections whose statistics are written.
fn entries_read(connection: &mut PgConnection, index: &str) -> i64 {
    sql_query("SELECT pg_stat_force_next_flush()").execute(connection).unwrap();
    let read: Counted = sql_query(format!(
        "SELECT idx_tup_read AS count FROM pg_stat_user_indexes WHERE indexrelname = '{index}'"
    ))
    .get_result(connection)
    .unwrap();
    read.count
}

/// `pg_dump` and `countersign backup` read an old state for a long time.
#[test]
fn upkeep_does_not_pass_again_what_it_deleted_while_somebody_reads_an_old_state() {
    const ROWS: i64 = 4_000;
    let (url, mut connection) = migrated();
    let mut reader = url.open().unwrap();
    sql_query("BEGIN ISOLATION LEVEL REPEATABLE READ").execute(&mut reader).unwrap();
    assert_eq!(count(&mut reader, "spent_challenges"), 0);
    let second = "make_interval(secs => n)";
    let rows = format!(
        "INSERT INTO spent_challenges (id, forget_after) \
        SELECT gen_random_uuid(), '2026-01-01 00:00:00Z'::timestamptz + {second} FROM generate_series(0, {ROWS} - 1) AS n"
    );
    let start = time::macros::datetime!(2026-01-01 00:00:00 UTC);
    let end = start + time::Duration::seconds(ROWS);
    let mut purge = |parts: i64| {
        sql_query(&rows).execute(&mut connection).unwrap();
        let before = entries_read(&mut connection, "spent_challenges_by_forget_after");
        let length = time::Duration::seconds(ROWS / parts);
        let mut since = start;
        while since < end {
            let step = PurgeExpired {
                since,
                pushed_since: since,
                ..PurgeExpired::oldest(fixtures::past(since + length), 100)
            };
            while purge_expired::purge_expired(&mut connection, &step).unwrap().more {}
            since += length;
        }
        assert_eq!(count(&mut connection, "spent_challenges"), 0);
        entries_read(&mut connection, "spent_challenges_by_forget_after") - before
    };
    // What both the rows of now and those that were deleted the first time cost.
    let (in_parts, at_once) = (purge(80), purge(1));
    assert!(in_parts < ROWS * 8, "{in_parts}");
    assert!(at_once > ROWS * 30, "the test sees what is in the way: {at_once}");
    drop(reader);
}
