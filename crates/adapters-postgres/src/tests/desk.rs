//! What the desk reads, among many rows, and its operations once each.

use countersign_conformance::fixtures;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::EventKind;
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{AddHourCounts, FindHoldings, ProposalAt, ProposalPage, Replica, TakeProposal};
use countersign_sql::ops::desk::overview::{
    add_hour_counts, count_sessions, day_counts, forget_hour_counts, forget_replica, hour_counts,
    note_replica, replicas,
};
use countersign_sql::ops::desk::proposals::{
    end_proposal, find_proposal, forget_proposals, list_proposals, put_proposal, take_proposal,
};
use countersign_sql::ops::events::forget_person::forget_proposals_of;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use time::Duration;
use time::macros::date;

use super::people::reads;
use super::{count, migrated};
use crate::ops::events::day_counts::add_day_counts;
use crate::ops::events_of_request;
use crate::ops::list_clients;
use crate::ops::people::read_holdings::find_holdings;

/// Each once, with outcomes of every kind, with or without optional values.
pub(super) fn every_operation_of_the_desk(connection: &mut PgConnection, with_options: bool) {
    let proposal = fixtures::proposal();
    let put = fixtures::put_proposal(&proposal);
    assert!(put_proposal(connection, &put).unwrap());
    assert!(put_proposal(connection, &put).unwrap());
    let after = with_options.then(fixtures::grant_id);
    list_proposals(connection, ProposalPage { after, limit: 10 }).unwrap();
    let take = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(take_proposal(connection, &take).unwrap());
    assert!(take_proposal(connection, &take).unwrap());
    let end = fixtures::end_proposal(&proposal, ProposalState::Taken, ProposalState::Done);
    assert!(end_proposal(connection, &end).unwrap());
    assert!(end_proposal(connection, &end).unwrap());
    assert!(find_proposal(connection, proposal.id).unwrap().is_some());
    forget_proposals_of(connection, proposal.user).unwrap();
    forget_proposals(connection, fixtures::past(fixtures::NOW), 10).unwrap();

    let counts = [fixtures::day_count(date!(2026 - 11 - 21), EventKind::SignIn, "eip155", 2)];
    add_day_counts(connection, &counts).unwrap();
    day_counts(connection, date!(2026 - 11 - 21)).unwrap();
    count_sessions(connection, fixtures::NOW, 10).unwrap();
    let replica = fixtures::replica();
    note_replica(connection, &replica, fixtures::past(fixtures::NOW)).unwrap();
    let counts = vec![fixtures::hour_count(Hour::of(fixtures::NOW), Figure::Tokens, "refresh_token", 2)];
    let add = AddHourCounts { replica: replica.id, batch: 1, counts };
    assert!(add_hour_counts(connection, &add).unwrap());
    assert!(add_hour_counts(connection, &add).unwrap());
    hour_counts(connection, Hour::of(fixtures::NOW)).unwrap();
    forget_hour_counts(connection, fixtures::past(fixtures::NOW)).unwrap();
    replicas(connection, fixtures::NOW).unwrap();
    forget_replica(connection, fixtures::replica().id).unwrap();
}

/// F-25
#[test]
fn a_row_that_cannot_be_a_proposal_hides_no_other() {
    let (_, mut connection) = migrated();
    let connection = &mut connection;
    let proposals = [(); 4].map(|()| fixtures::proposal());
    for proposal in &proposals {
        assert!(put_proposal(connection, &fixtures::put_proposal(proposal)).unwrap());
    }
    for (set, proposal) in ["state = 'x'", "wallets = 'x'", "proposed_at = 'infinity'"].iter().zip(&proposals)
    {
        let id = proposal.id;
        connection.batch_execute(&format!("UPDATE proposals SET {set} WHERE id = '{id}'")).unwrap();
    }
    let listed = list_proposals(connection, ProposalPage { after: None, limit: 10 }).unwrap();
    assert_eq!(listed.len(), 4);
    let readable: Vec<_> = listed.into_iter().filter_map(ProposalAt::readable).collect();
    assert_eq!(readable, [proposals[3].clone()]);
}

/// Twenty thousand proposals, each a second younger than the one before; as many clients, sessions of which half
/// have expired, counts of days, replicas, and sealed events.
const MANY: &str = "\
    INSERT INTO proposals SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), gen_random_uuid(), '', 'eip155', \
      'eip155:1', '0x', 'text', 'signature', \
      CASE WHEN n % 2 = 0 THEN CAST(lpad(to_hex(n), 32, '0') AS uuid) END, 'eip155', 'eip155:1', '0x', 'text', \
      'signature', to_timestamp(n), to_timestamp(n), 'done' FROM generate_series(1, 20000) AS n; \
    UPDATE proposals SET second_family = NULL, second_chain = NULL, second_address = NULL, second_text = NULL, \
      second_signature = NULL WHERE second_user_id IS NULL; \
    INSERT INTO clients (id, created_at, origin, auth_method, registration_token_hash, name, redirect_uris, scopes, \
      grant_types, contacts, post_logout_redirect_uris, requires_pushed_requests, requires_bound_tokens, resources, \
      released_groups) \
      SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid), now(), 'operator', 'none', sha256(''), 'name', \
      'https://client.example/', 'profile', 'authorization_code', '', '', false, false, '', '' \
      FROM generate_series(1, 20000) AS n; \
    INSERT INTO login_sessions SELECT gen_random_uuid(), gen_random_uuid(), 'eip155', 'eip155:1', '0x', sha256(''), \
      '', now(), now(), to_timestamp(n) FROM generate_series(1, 20000) AS n; \
    INSERT INTO day_counts SELECT DATE '1970-01-01' + n / 20, 'sign_in', 'family ' || n % 20, n \
      FROM generate_series(0, 19999) AS n; \
    INSERT INTO hour_counts SELECT n / 20, 'refusals', 'label ' || n % 20, n FROM generate_series(0, 19999) AS n; \
    INSERT INTO replicas (id, version, started_at, seen_at) SELECT CAST(sha256(CAST(CAST(n AS TEXT) AS BYTEA)) AS BYTEA), '1', to_timestamp(n), \
      to_timestamp(n) FROM generate_series(1, 20000) AS n; \
    UPDATE replicas SET id = substr(id, 1, 16); \
    INSERT INTO events (position, id, kind, actor, request, details, commitment) \
      SELECT n, CAST(lpad(to_hex(n), 32, '0') AS uuid), 'sign_in', 'person', 'request ' || n % 1000, '{}', sha256('') \
      FROM generate_series(1, 20000) AS n; \
    INSERT INTO events (position, id, kind, actor, user_id, family, chain, address, details, commitment) \
      SELECT n + 20000, CAST(lpad(to_hex(n + 20000), 32, '0') AS uuid), 'wallet_unlinked', 'person', \
      CAST(lpad(to_hex(n % 1000), 32, '0') AS uuid), 'eip155', 'eip155:1', '0x' || n % 500, '{}', sha256('') \
      FROM generate_series(1, 20000) AS n; \
    ANALYZE";

/// K-10
#[test]
fn what_the_desk_shows_of_many_rows_reads_few() {
    let (_, mut connection) = migrated();
    connection.batch_execute(MANY).unwrap();
    let at = |seconds| time::OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds);
    let id = |number: u128| GrantId::from_uuid(uuid::Uuid::from_u128(number));
    let page = |after: Option<u128>| ProposalPage { after: after.map(id), limit: 20 };
    let client = ClientId::from_uuid(uuid::Uuid::from_u128(10_000));
    let user = |number: u128| countersign_domain::id::UserId::from_uuid(uuid::Uuid::from_u128(number));
    let take = TakeProposal { id: id(77), ..fixtures::take_proposal(&fixtures::proposal(), user(1)) };

    let holdings = |of: Option<u128>, address: Option<&str>| FindHoldings {
        users: of.map(user).into_iter().collect(),
        wallets: address
            .map(|address| WalletAccount { address: address.to_owned(), ..fixtures::wallet_account() })
            .into_iter()
            .collect(),
        limit: 1_000,
    };

    type Ask<'a> = Box<dyn Fn(&mut PgConnection) -> usize + 'a>;
    let asks: [(&str, i64, usize, Ask<'_>); 17] = [
        ("the newest proposals", 60, 20, Box::new(|c| list_proposals(c, page(None)).unwrap().len())),
        ("older proposals", 60, 20, Box::new(|c| list_proposals(c, page(Some(9_999))).unwrap().len())),
        ("a proposal", 10, 1, Box::new(|c| usize::from(find_proposal(c, id(5)).unwrap().is_some()))),
        ("a proposal that is done", 10, 0, Box::new(|c| usize::from(take_proposal(c, &take).unwrap()))),
        ("days", 200, 60, Box::new(|c| day_counts(c, date!(1972 - 09 - 24)).unwrap().len())),
        ("hours", 1_000, 480, Box::new(|c| hour_counts(c, Hour::from_number(976)).unwrap().len())),
        (
            "an hour that is over",
            100,
            20,
            Box::new(|c| {
                usize::try_from(forget_hour_counts(c, fixtures::past(at(36_000))).unwrap()).unwrap()
            }),
        ),
        ("a few sessions", 60, 20, Box::new(|c| count_sessions(c, at(10_000), 20).unwrap() as usize)),
        ("the last sessions", 60, 10, Box::new(|c| count_sessions(c, at(19_990), 20).unwrap() as usize)),
        ("replicas", 60, 11, Box::new(|c| replicas(c, at(19_990)).unwrap().len())),
        ("a request", 100, 20, Box::new(|c| events_of_request(c, "request 7", None, 20).unwrap().len())),
        ("a request of many", 50, 5, Box::new(|c| events_of_request(c, "request 8", None, 5).unwrap().len())),
        ("what a user had", 30, 1, Box::new(|c| find_holdings(c, &holdings(Some(7), None)).unwrap().len())),
        (
            "who had a wallet",
            30,
            2,
            Box::new(|c| find_holdings(c, &holdings(None, Some("0x7"))).unwrap().len()),
        ),
        ("clients", 60, 20, Box::new(|c| list_clients(c, Some(client), 20).unwrap().len())),
        (
            "proposals of a second user",
            30,
            0,
            Box::new(|c| {
                forget_proposals_of(c, user(44)).unwrap();
                0
            }),
        ),
        (
            "proposals that expired",
            100,
            20,
            Box::new(|c| {
                usize::try_from(forget_proposals(c, fixtures::past(at(1_000)), 20).unwrap()).unwrap()
            }),
        ),
    ];
    for (name, most, expected, ask) in asks {
        let before = reads(&mut connection);
        assert_eq!(ask(&mut connection), expected, "{name}");
        let read = reads(&mut connection) - before;
        assert!(read <= most, "{name}: {read} rows");
    }
    let before = reads(&mut connection);
    let noted = Replica { seen_at: at(30_000), ..fixtures::replica() };
    note_replica(&mut connection, &noted, fixtures::past(at(10))).unwrap();
    let read = reads(&mut connection) - before;
    assert!(read <= 60, "noting a replica: {read} rows");
    assert_eq!(count(&mut connection, "proposals"), 19_979);
    assert_eq!(count(&mut connection, "replicas"), 19_992);
}
