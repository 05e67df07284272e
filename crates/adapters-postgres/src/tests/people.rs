//! Groups, blocks and what an operator sees of people, among many users.

use countersign_conformance::fixtures;
use countersign_domain::group::GroupName;
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ChangeAccess, DeleteGroup, MembersChanged, MembersGo, PeopleFilter, PeopleOrder, PersonPlace,
    RegisterClient, RemoveBlock, RetitleGroup, SortPeople, Total, UserSeen,
};
use countersign_sql::ops::accounts::wallets::are_blocked;
use countersign_sql::ops::blocks::end_access::end_access;
use countersign_sql::ops::blocks::put_block::put_block;
use countersign_sql::ops::blocks::read_blocks::{block_of_user, blocked_wallets};
use countersign_sql::ops::blocks::remove_block::remove_block;
use countersign_sql::ops::clients::change_access::change_access;
use countersign_sql::ops::people::change_members::change_members;
use countersign_sql::ops::people::manage_groups::{create_group, delete_group, retitle_group};
use countersign_sql::ops::people::read_groups::{
    find_group, group_names, list_groups, list_members, memberships_of, standing_of_user,
};
use countersign_sql::ops::people::read_people::{find_person, list_people};
use countersign_sql::ops::people::sign_ins::note_sign_ins;
use countersign_sql::ops::people::sort_people::sort_people;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;

use super::{count, migrated};
use crate::ops::register_client;
use crate::ops::sign_in::complete_login::complete_login;
use crate::together::standing::{anything_blocked, find_groups, find_standings};

/// Each once, with outcomes of every kind, with or without optional values.
pub(super) fn every_operation_on_people(connection: &mut PgConnection, with_options: bool) {
    let client = fixtures::client();
    register_client(connection, &RegisterClient { client: client.clone(), event: None }).unwrap();
    let rule = with_options.then(|| fixtures::rule("groups:a,b"));
    let access = ChangeAccess { client: client.id, rule, release: None, event: None };
    change_access(connection, &access).unwrap();
    change_access(connection, &access).unwrap();

    let login = fixtures::remembered_login();
    complete_login(connection, &login).unwrap();
    let (user, wallet) = (login.new_user, login.account);
    let name = fixtures::group_name();
    create_group(connection, &fixtures::create_group(&name)).unwrap();
    create_group(connection, &fixtures::create_group(&name)).unwrap();
    retitle_group(connection, &RetitleGroup { group: name.clone(), title: None, event: None }).unwrap();
    let members = [Subject::User(user), Subject::Wallet(wallet.clone())];
    for member in &members {
        let join = fixtures::change_one(MembersGo::In, fixtures::add_member(&name, member));
        change_members(connection, &join).unwrap();
    }
    find_group(connection, &name).unwrap().unwrap();
    list_groups(connection, with_options.then_some(&name), 10).unwrap();
    list_members(connection, &name, None, 10).unwrap();
    assert_eq!(memberships_of(connection, user).unwrap().len(), 2);
    standing_of_user(connection, user).unwrap();
    assert_eq!(find_groups(connection, vec![user.as_uuid()]).unwrap(), [vec![name.clone()]]);

    let blocked = [Subject::User(user), Subject::Wallet(wallet.clone())];
    for put in [fixtures::block_user(user), fixtures::block_wallet(&wallet)] {
        put_block(connection, &put).unwrap();
        put_block(connection, &put).unwrap();
    }
    assert!(anything_blocked(connection).unwrap());
    assert!(find_standings(connection, &[&wallet]).unwrap().remove(0).block.is_some());
    assert_eq!(are_blocked(connection, user, &wallet, &wallet).unwrap(), (true, true));
    block_of_user(connection, user).unwrap().unwrap();
    blocked_wallets(connection, with_options.then_some(&wallet), 10).unwrap();
    for group in [None, Some(name.clone())] {
        for blocked in [false, true] {
            let filter = PeopleFilter { group: group.clone(), blocked };
            list_people(connection, &filter, None, 10).unwrap();
            for order in [PeopleOrder::LastSeen, PeopleOrder::Created] {
                sort_people(
                    connection,
                    &SortPeople { filter: filter.clone(), order, after: None, limit: 10 },
                )
                .unwrap();
            }
        }
    }
    note_sign_ins(connection, &[UserSeen { user, at: fixtures::NOW }]).unwrap();
    assert!(group_names(connection, 10).unwrap().contains(&name));
    find_person(connection, user, fixtures::NOW).unwrap().unwrap();
    for who in &blocked {
        end_access(connection, &fixtures::end_access(who)).unwrap();
        assert!(remove_block(connection, &RemoveBlock { who: who.clone(), event: None }).unwrap());
    }
    for member in &members {
        let leave = fixtures::change_one(MembersGo::Out, fixtures::remove_member(&name, member));
        assert_eq!(change_members(connection, &leave).unwrap(), MembersChanged::Changed(vec![true]));
    }
    assert!(delete_group(connection, &DeleteGroup { name, event: None }).unwrap());
}

/// Twenty thousand users with a wallet, a consent and a session each, in two hundred groups.
const MANY: &str = "\
    INSERT INTO users SELECT gen_random_uuid(), now(), NULL FROM generate_series(1, 20000); \
    INSERT INTO wallets (family, address, user_id, linked_at, chain) \
      SELECT 'eip155', 'of ' || id, id, now(), 'eip155:1' FROM users; \
    INSERT INTO signed_consents SELECT id, gen_random_uuid(), '', '', 1, now(), now() FROM users; \
    INSERT INTO login_sessions SELECT gen_random_uuid(), id, 'eip155', 'eip155:1', 'of ' || id, sha256(''), '', \
      now(), now(), now() FROM users; \
    INSERT INTO user_groups SELECT 'g' || number, NULL, now() FROM generate_series(0, 199) AS number; \
    INSERT INTO group_users SELECT 'g' || (row_number() OVER ()) % 200, id, now() FROM users; \
    INSERT INTO group_wallets \
      SELECT 'g' || (row_number() OVER ()) % 200, family, address, chain, now() FROM wallets; \
    INSERT INTO blocked_users SELECT id, now(), NULL FROM users LIMIT 2000; \
    INSERT INTO blocked_wallets SELECT family, address, chain, now(), NULL FROM wallets LIMIT 2000; \
    ANALYZE";

/// How many rows and entries of indexes were read so far.
pub(super) fn reads(connection: &mut PgConnection) -> i64 {
    #[derive(QueryableByName)]
    struct Read {
        #[diesel(sql_type = BigInt)]
        read: i64,
    }
    sql_query("SELECT pg_stat_force_next_flush()").execute(connection).unwrap();
    let read: Read = sql_query(
        "SELECT CAST((SELECT sum(seq_tup_read) FROM pg_stat_user_tables) \
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS BIGINT) AS read",
    )
    .get_result(connection)
    .unwrap();
    read.read
}

#[test]
fn what_is_asked_about_a_few_of_many_people_reads_few_rows() {
    let (_, mut connection) = migrated();
    connection.batch_execute(MANY).unwrap();
    let everybody = PeopleFilter::default();
    let all = list_people(&mut connection, &everybody, None, 20).unwrap();
    assert_eq!(all.len(), 20);
    let (user, wallet): (UserId, WalletAccount) = (all[9].id, all[9].wallets[0].account.clone());
    let group: GroupName = memberships_of(&mut connection, user).unwrap().remove(0).group;
    let of_group = PeopleFilter { group: Some(group.clone()), blocked: false };
    let blocked_of_group = PeopleFilter { blocked: true, ..of_group.clone() };
    let blocked = PeopleFilter { group: None, blocked: true };
    let end = [Subject::User(user), Subject::Wallet(wallet.clone())].map(|who| fixtures::end_access(&who));

    type Ask<'a> = Box<dyn Fn(&mut PgConnection) + 'a>;
    let asks: [(&str, i64, Ask<'_>); 15] = [
        ("everybody", 200, Box::new(|c| drop(list_people(c, &everybody, Some(user), 20).unwrap()))),
        ("of a group", 700, Box::new(|c| drop(list_people(c, &of_group, None, 20).unwrap()))),
        ("blocked of a group", 700, Box::new(|c| drop(list_people(c, &blocked_of_group, None, 20).unwrap()))),
        ("blocked", 200, Box::new(|c| drop(list_people(c, &blocked, None, 20).unwrap()))),
        ("one", 50, Box::new(|c| drop(find_person(c, user, fixtures::NOW).unwrap()))),
        ("a group", 300, Box::new(|c| drop(find_group(c, &group).unwrap()))),
        ("members", 300, Box::new(|c| drop(list_members(c, &group, None, 120).unwrap()))),
        ("standing of a user", 20, Box::new(|c| drop(standing_of_user(c, user).unwrap()))),
        ("memberships", 20, Box::new(|c| drop(memberships_of(c, user).unwrap()))),
        ("blocked wallets", 50, Box::new(|c| drop(blocked_wallets(c, Some(&wallet), 20).unwrap()))),
        ("standing", 20, Box::new(|c| drop(find_standings(c, &[&wallet]).unwrap()))),
        ("groups", 20, Box::new(|c| drop(find_groups(c, vec![user.as_uuid()]).unwrap()))),
        ("anything blocked", 10, Box::new(|c| assert!(anything_blocked(c).unwrap()))),
        ("end a wallet's access", 50, Box::new(|c| drop(end_access(c, &end[1]).unwrap()))),
        ("end access", 50, Box::new(|c| drop(end_access(c, &end[0]).unwrap()))),
    ];
    for (name, most, ask) in asks {
        let before = reads(&mut connection);
        ask(&mut connection);
        let read = reads(&mut connection) - before;
        assert!(read <= most, "{name}: {read} rows");
    }
    assert_eq!(count(&mut connection, "login_sessions"), 19_999);
}

/// A page of everybody follows the index. A group of 200 is gone through; one of more than ten thousand is looked for
/// among the first ten thousand places, and the page after it among the rest.
#[test]
fn a_page_of_a_sorted_list_reads_few_rows() {
    let (_, mut connection) = migrated();
    connection.batch_execute(MANY).unwrap();
    connection
        .batch_execute(
            "UPDATE users SET created_at = now() - number * interval '1 second' \
             FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM users) AS n WHERE users.id = n.id; \
             INSERT INTO user_groups VALUES ('late', NULL, now()); \
             INSERT INTO group_users SELECT 'late', id, now() FROM users ORDER BY created_at LIMIT 10001",
        )
        .unwrap();
    // Without the entries of the index from before.
    connection.batch_execute("VACUUM ANALYZE").unwrap();
    let page = |group: Option<&str>, blocked, order, after| SortPeople {
        filter: PeopleFilter { group: group.map(|name| GroupName::parse(name).unwrap()), blocked },
        order,
        after,
        limit: 20,
    };
    let (seen, created) = (PeopleOrder::LastSeen, PeopleOrder::Created);
    let first = sort_people(&mut connection, &page(None, false, seen, None)).unwrap();
    let asks = [
        ("all", 500, 20, page(None, false, seen, None)),
        ("the next", 500, 20, page(None, false, seen, first.next)),
        ("by creation", 500, 20, page(None, false, created, first.next)),
        ("of a group", 2_000, 20, page(Some("g7"), false, seen, None)),
        ("blocked", 12_000, 20, page(None, true, seen, None)),
    ];
    for (name, most, expected, question) in asks {
        let before = reads(&mut connection);
        let found = sort_people(&mut connection, &question).unwrap();
        // The total of all stops after 10,001, which an index alone answers.
        let counted = if question.filter == PeopleFilter::default() { 10_100 } else { 0 };
        let read = reads(&mut connection) - before - counted;
        assert_eq!(found.people.len(), expected, "{name}");
        assert!(read <= most, "{name}: {read} rows");
    }
    assert_eq!(first.total, Total { counted: 10_000, more: true });
    let of_late = |after: Option<PersonPlace>| page(Some("late"), false, seen, after);
    let before = reads(&mut connection);
    let few = sort_people(&mut connection, &of_late(None)).unwrap();
    assert!(reads(&mut connection) - before < 60_000);
    assert!(few.people.len() <= 1, "the group is among the later half");
    assert_eq!(few.total, Total { counted: 10_000, more: true });
    let next = sort_people(&mut connection, &of_late(few.next)).unwrap();
    assert_eq!(next.people.len(), 20);
    assert!(next.people.iter().all(|person| few.people.iter().all(|before| before.id != person.id)));
}
