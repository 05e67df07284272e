//! How SQLite carries out the statements that both databases share.

use countersign_domain::desk::proposal::Proposal;
use countersign_domain::event::{Actor, Details, Event, EventKind};
use countersign_domain::id::EventId;
use countersign_ports::{ProposalAt, ProposalPage, PutProposal};
use countersign_sql::columns::{At, Id, Ids, OnDay, WalletKeys};
use countersign_sql::ops::accounts::delete_account::{ForgetAccess, ForgetGrants};
use countersign_sql::ops::accounts::wallets::{AreBlocked, ForgetNameOfWallet};
use countersign_sql::ops::blocks::read_blocks::{BlockOfUser, BlockedWallets, BlockedWalletsOf};
use countersign_sql::ops::clients::client_uses::NoteClientUses;
use countersign_sql::ops::clients::sort_clients::{ClientsByCreated, ClientsByName, ClientsByUse};
use countersign_sql::ops::desk::overview::{
    CountSessions, DayCounts, DeleteReplica, ForgetHour, ForgetReplicas, HourCounts, IsNoted, NoteBatch,
    Replicas,
};
use countersign_sql::ops::desk::proposals::{
    End, FindProposal, Forget, ListProposals, list_proposals, put_proposal,
};
use countersign_sql::ops::desk::suspensions::{EndProposals, Restore};
use countersign_sql::ops::events::forget_person::{
    CountSealed, ForgetOf, ForgetOne, SealedOf, SealedOfWallet,
};
use countersign_sql::ops::events::fulfil::Fulfil;
use countersign_sql::ops::events::read_record::{
    Checkpoints, CountEventsOf, EventsOfRequest, FindCheckpoint, FindEvent, OldestFresh, SealedEvents,
    StrayCheckpoints, StrayEvents, StrayFresh,
};
use countersign_sql::ops::events::record_event::{IsRecorded, StoreEvent};
use countersign_sql::ops::people::names::{
    NamedUsers, NamedWallets, NamesOfUsers, NamesOfWallets, UsersByName, WalletsByLetters, WalletsByName,
};
use countersign_sql::ops::people::read_groups::{
    COUNTED, FindGroup, FreeWallets, ListGroups, MemberUsers, MemberWallets, MembershipsOf,
};
use countersign_sql::ops::people::read_people::{Page, PageOfAll, PageOfBlocked, PageOfGroup, WalletsOfPage};
use countersign_sql::ops::people::sign_ins::NoteSignIns;
use countersign_sql::ops::people::sort_people::{
    LATEST, Members, PeopleByCreated, PeopleBySeen, WhichBlocked, WhichInGroup,
};
use countersign_sql::ops::suspended::{
    SpreadSuspension, SuspendedWallets, SuspensionsOfUsers, SuspensionsOfWallets,
};
use countersign_sql::ops::upkeep::forget_documents::{DeleteUnused, LockDescribed};
use countersign_sql::rows::event::NewEvent;
use diesel::prelude::*;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::statement::plan::{database, finds_rows_by_keys, steps};

const NOBODY: Id = Id(Uuid::nil());
const TIME: At = At(OffsetDateTime::UNIX_EPOCH);

#[test]
fn proposals_are_found_and_listed_by_their_ids_however_many_there_are() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    finds_rows_by_keys(connection, FindProposal { id: NOBODY });
    let (from, to, waiting, taken, signature) = ("waiting", "withdrawn", "waiting", "taken", None);
    finds_rows_by_keys(connection, End { id: NOBODY, from, to, waiting, taken, given_up: TIME, signature });
    finds_rows_by_keys(connection, Fulfil { id: NOBODY, signature: "0x", taken, done: "done" });
    finds_rows_by_keys(connection, Forget { before: TIME, limit: 10 });
    finds_rows_by_keys(connection, ForgetOf { user: NOBODY });
    let page = steps(connection, ListProposals { before: NOBODY, limit: 10 });
    assert_eq!(page, ["SEARCH proposals USING PRIMARY KEY (id<?)"]);
}

/// F-25
#[test]
fn a_row_that_cannot_be_a_proposal_hides_no_other() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let proposals = [(); 4].map(|()| countersign_conformance::fixtures::proposal());
    for proposal in &proposals {
        let command = PutProposal { proposal: proposal.clone(), event: None };
        assert!(put_proposal(connection, &command).unwrap());
    }
    let mut altered = |set: &str, proposal: &Proposal| {
        let id = proposal.id.as_uuid().simple();
        diesel::sql_query(format!("UPDATE proposals SET {set} WHERE id = x'{id}'")).execute(connection)
    };
    altered("state = 'x'", &proposals[0]).unwrap();
    altered("wallets = 'x', proposed_at = 'x'", &proposals[1]).unwrap();
    altered("user_id = x'00'", &proposals[2]).unwrap();
    let listed = list_proposals(connection, ProposalPage { after: None, limit: 10 }).unwrap();
    assert_eq!(listed.len(), 4);
    let readable: Vec<_> = listed.into_iter().filter_map(ProposalAt::readable).collect();
    assert_eq!(readable, [proposals[3].clone()]);
}

#[test]
fn suspensions_are_found_by_their_wallets_and_by_their_ids() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (family, address, user, id, limit) = ("a", "b", NOBODY, NOBODY, 10);
    let (waiting, taken, suspended) = ("waiting", "taken", "suspended");
    finds_rows_by_keys(connection, SuspensionsOfUsers { users: Ids(Vec::new()) });
    finds_rows_by_keys(connection, SuspensionsOfWallets { wallets: WalletKeys(Vec::new()) });
    finds_rows_by_keys(connection, SuspendedWallets { family, address, limit });
    finds_rows_by_keys(connection, SpreadSuspension { user, ethereum: String::new() });
    finds_rows_by_keys(connection, EndProposals { id, waiting, taken, suspended });
    finds_rows_by_keys(connection, Restore { wallets: WalletKeys(Vec::new()) });
}

#[test]
fn recording_an_event_takes_no_longer_among_many() {
    let (_folder, mut connection) = database();
    let event = Event {
        id: EventId::from_uuid(Uuid::nil()),
        kind: EventKind::SignIn,
        actor: Actor::Person,
        person: None,
        wallet: None,
        client: None,
        address: None,
        request: None,
        details: Details::default(),
        signed: None,
    };
    finds_rows_by_keys(&mut connection, StoreEvent { event: NewEvent::of(&event) });
    finds_rows_by_keys(&mut connection, IsRecorded { id: NOBODY });
}

#[test]
fn events_and_checkpoints_are_found_by_their_keys() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    finds_rows_by_keys(connection, FindEvent { id: NOBODY });
    finds_rows_by_keys(connection, FindCheckpoint { number: 1 });
    finds_rows_by_keys(connection, Checkpoints { after: 1, limit: 10 });
    finds_rows_by_keys(connection, StrayCheckpoints {});
    finds_rows_by_keys(connection, OldestFresh { after: None, before: None, limit: 10 });
    finds_rows_by_keys(connection, StrayFresh {});
    finds_rows_by_keys(connection, EventsOfRequest { request: "", after: None, limit: 10 });
    finds_rows_by_keys(connection, SealedEvents { after: 1, limit: 10 });
    finds_rows_by_keys(connection, StrayEvents {});
    let steps = steps(connection, CountEventsOf { pseudonym: &[], deletion: "account_deleted" });
    assert!(steps.iter().any(|step| step.contains("events USING INDEX events_by_pseudonym")), "{steps:#?}");
}

#[test]
fn the_overview_scans_no_table() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let counts = steps(connection, DayCounts { since: OnDay(Date::MIN) });
    assert_eq!(counts, ["SEARCH day_counts USING PRIMARY KEY (day>?)"]);
    let sessions = steps(connection, CountSessions { now: TIME, at_most: 10 }).join("\n");
    let by = "SEARCH login_sessions USING COVERING INDEX login_sessions_by_expires_at (expires_at>?)";
    assert!(sessions.contains(by), "{sessions}");
    let hours = steps(connection, HourCounts { since: 0 });
    assert_eq!(hours, ["SEARCH hour_counts USING PRIMARY KEY (hour>?)"]);
    finds_rows_by_keys(connection, NoteBatch { replica: &[], batch: 1 });
    finds_rows_by_keys(connection, IsNoted { replica: &[] });
    finds_rows_by_keys(connection, ForgetHour { before: 0 });
    finds_rows_by_keys(connection, ForgetReplicas { before: TIME });
    finds_rows_by_keys(connection, DeleteReplica { id: &[] });
    finds_rows_by_keys(connection, Replicas { since: TIME });
}

#[test]
fn blocks_are_found_by_their_keys() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (family, address, user) = ("b", "c", NOBODY);
    finds_rows_by_keys(connection, BlockOfUser { user });
    finds_rows_by_keys(connection, BlockedWallets { family, address, limit: 10 });
    finds_rows_by_keys(connection, BlockedWalletsOf { user });
    let (signer_family, signer_address) = (family, address);
    finds_rows_by_keys(connection, AreBlocked { user, signer_family, signer_address, family, address });
}

#[test]
fn groups_are_found_by_their_keys_and_so_is_what_a_user_has() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (group, family, address, user, limit) = ("a", "b", "c", NOBODY, 10);
    finds_rows_by_keys(connection, FindGroup { name: group, counted: COUNTED });
    finds_rows_by_keys(connection, ListGroups { after: "", counted: COUNTED, limit });
    finds_rows_by_keys(connection, MemberUsers { group, after: user, limit });
    finds_rows_by_keys(connection, MemberWallets { group, family, address, limit });
    finds_rows_by_keys(connection, MembershipsOf { user });
    finds_rows_by_keys(connection, FreeWallets { user });
}

#[test]
fn a_page_of_people_takes_no_longer_among_many() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (after, limit, users) = (NOBODY, 10, Ids(Vec::new()));
    finds_rows_by_keys(connection, PageOfAll { after, limit });
    finds_rows_by_keys(connection, PageOfBlocked { after, limit });
    finds_rows_by_keys(connection, PageOfGroup { group: "a", only_blocked: true, after, limit });
    finds_rows_by_keys(connection, Page { users: users.clone() });
    finds_rows_by_keys(connection, WalletsOfPage { users });
}

#[test]
fn sorted_lists_follow_an_index_and_sort_nothing() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (at, id, limit, name) = (LATEST, NOBODY, 10, "a");
    let plans = [
        (steps(connection, PeopleBySeen { at, id, limit }), "users USING COVERING INDEX users_by_seen"),
        (
            steps(connection, PeopleByCreated { at, id, limit }),
            "users USING COVERING INDEX users_by_created_at",
        ),
        (steps(connection, ClientsByName { name, id, limit }), "clients USING INDEX clients_by_name"),
        (steps(connection, ClientsByUse { at, id, limit }), "clients USING INDEX clients_by_use"),
        (steps(connection, ClientsByCreated { at, id, limit }), "clients USING INDEX clients_by_created_at"),
    ];
    for (plan, index) in plans {
        assert_eq!(plan.len(), 1, "{plan:?}");
        assert!(plan[0].starts_with(&format!("SEARCH {index} (")), "{plan:?}");
    }
    let users = Ids(Vec::new());
    finds_rows_by_keys(connection, Members { group: "a" });
    finds_rows_by_keys(connection, WhichBlocked { users: users.clone() });
    finds_rows_by_keys(connection, WhichInGroup { users: users.clone(), group: "a" });
    finds_rows_by_keys(connection, NoteSignIns { at, users: users.clone() });
    finds_rows_by_keys(connection, NoteClientUses { used_at: at, clients: users });
}

#[test]
fn names_are_found_by_whom_they_name_and_by_their_letters() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let (family, address, limit) = ("a", "b", 10);
    finds_rows_by_keys(connection, NamesOfUsers { users: Ids(Vec::new()) });
    finds_rows_by_keys(connection, NamesOfWallets { wallets: WalletKeys(Vec::new()) });
    finds_rows_by_keys(connection, UsersByName { from: "a".to_owned(), to: "b".to_owned(), limit });
    finds_rows_by_keys(connection, WalletsByName { from: "a".to_owned(), to: "b".to_owned(), limit });
    let (from, to, end) = ("a".to_owned(), "b".to_owned(), "c".to_owned());
    finds_rows_by_keys(connection, WalletsByLetters { from, to, end, length: 1, limit });
    finds_rows_by_keys(connection, NamedUsers { after: NOBODY, limit });
    finds_rows_by_keys(connection, NamedWallets { family, address, limit });
    finds_rows_by_keys(connection, ForgetNameOfWallet { family, address });
}

#[test]
fn what_leads_to_a_user_is_found_without_reading_what_belongs_to_others() {
    let (_folder, mut connection) = database();
    let access = steps(&mut connection, ForgetAccess { user: NOBODY });
    let grants = steps(&mut connection, ForgetGrants { user: NOBODY, pseudonym: NOBODY });
    let scans = |step: &&String| step.starts_with("SCAN") && *step != "SCAN theirs";
    assert_eq!(access.iter().chain(&grants).find(scans), None, "{access:#?}");
}

#[test]
fn the_sealed_events_of_a_user_are_found_by_their_index() {
    let (_folder, mut connection) = database();
    finds_rows_by_keys(&mut connection, SealedOf { user: NOBODY, limit: 1 });
    finds_rows_by_keys(&mut connection, CountSealed { user: NOBODY });
    finds_rows_by_keys(&mut connection, SealedOfWallet { family: "a", address: "b" });
    finds_rows_by_keys(&mut connection, ForgetOne { pseudonym: &[], hiding_proof: &[], position: 1 });
}

#[test]
fn clients_that_documents_describe_are_found_by_their_own_index_and_deleted_by_their_keys() {
    let (_folder, mut connection) = database();
    let connection = &mut connection;
    let page = steps(connection, LockDescribed { before: TIME, after: NOBODY, limit: 10 });
    assert_eq!(page, ["SEARCH clients USING INDEX clients_described (id>?)"]);
    finds_rows_by_keys(connection, DeleteUnused { clients: Ids(vec![NOBODY.0]) });
}
