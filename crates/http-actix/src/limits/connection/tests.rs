//! Tests the limits of connections without a network.

use std::net::IpAddr;
use std::sync::Arc;

use super::ending::STALLED;
use super::*;

fn admission(total: usize, of_one_address: usize) -> Arc<Admission> {
    let limits = ConnectionLimits { total, of_one_address };
    Admission::new(limits, vec!["10.0.0.0/8".parse().unwrap()], false)
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn f_06_one_address_has_so_many_connections_and_no_more() {
    let admission = admission(1_000, 2);
    let first = admission.admit(address("198.51.100.1"));
    let second = admission.admit(address("::ffff:198.51.100.1"));
    assert!(first.is_some() && second.is_some());
    assert!(admission.admit(address("198.51.100.1")).is_none());
    assert!(admission.admit(address("198.51.100.2")).is_some(), "other addresses are not affected");
    drop(first);
    assert!(admission.admit(address("198.51.100.1")).is_some(), "one that ended makes room");
}

#[test]
fn f_06_a_whole_ipv6_64_counts_as_one_address() {
    let admission = admission(1_000, 1);
    let _held = admission.admit(address("2001:db8::1"));
    assert!(admission.admit(address("2001:db8::ffff")).is_none());
    assert!(admission.admit(address("2001:db8:0:1::1")).is_some());
}

#[test]
fn f_06_a_trusted_proxy_has_as_many_as_it_needs() {
    let admission = admission(1_000, 1);
    let held: Vec<_> = (0..100).map(|_| admission.admit(address("10.1.2.3"))).collect();
    assert!(held.iter().all(Option::is_some));
}

#[test]
fn f_06_what_has_ended_is_counted_no_more() {
    let admission = admission(8, 100);
    let held: Vec<_> = (0..7).map(|_| admission.admit(address("198.51.100.1"))).collect();
    assert!(admission.is_crowded());
    drop(held);
    assert!(!admission.is_crowded());
    assert!(
        (0..100)
            .map(|_| admission.admit(address("198.51.100.1")))
            .collect::<Vec<_>>()
            .iter()
            .all(Option::is_some)
    );
}

/// Lets seconds pass, and returns after how many the connection was ended.
fn ended_after(ending: &Ending, connection: &Connection, within: u32) -> Option<u32> {
    (1..=within).find(|_| {
        ending.look();
        connection.is_overdue.get()
    })
}

#[actix_web::test]
async fn f_05_whatever_a_connection_does_outside_a_handler_has_an_end() {
    for (doing, limit) in [(Doing::Resting, 21), (Doing::Sending, 12), (Doing::Stalling, STALLED + 1)] {
        let admission = admission(1_000, 1_000);
        let ending = Ending::start(Arc::clone(&admission));
        let admitted = admission.admit(address("198.51.100.1")).unwrap();
        let connection = ending.add(Connection::new(admitted, ending.clock()));
        connection.does(doing);
        assert_eq!(ended_after(&ending, &connection, 60), Some(limit), "{doing:?}");
    }
}

#[actix_web::test]
async fn f_05_an_answer_that_is_taken_byte_by_byte_is_given_up_all_the_same() {
    let admission = admission(1_000, 1_000);
    let ending = Ending::start(Arc::clone(&admission));
    let connection =
        ending.add(Connection::new(admission.admit(address("198.51.100.1")).unwrap(), ending.clock()));
    connection.does(Doing::Stalling);
    let ended = (1..60).find(|_| {
        connection.takes(100, false);
        ending.look();
        connection.is_overdue.get()
    });
    assert_eq!(ended, Some(STALLED + 1));
}

#[actix_web::test]
async fn f_06_while_there_is_hardly_room_whoever_rests_goes_first() {
    let admission = admission(8, 1_000);
    let ending = Ending::start(Arc::clone(&admission));
    let connect =
        || ending.add(Connection::new(admission.admit(address("198.51.100.1")).unwrap(), ending.clock()));
    let connections: Vec<_> = (0..7).map(|_| connect()).collect();
    connections[0].does(Doing::Answering);
    assert_eq!(ended_after(&ending, &connections[1], 60), Some(4));
    assert!(!connections[0].is_overdue.get(), "nobody who is being answered is cut off");
}
