//! Proposals, what happened on which day, who is signed in, and which replicas run.

use std::net::Ipv6Addr;
use std::ops::AsyncFn;
use std::sync::Arc;

use countersign_domain::desk::proposal::{LIFETIME, Proposal, ProposalState, TIME_TO_CARRY_OUT};
use countersign_domain::event::{ChangeSignature, Event, EventKind, Signed};
use countersign_domain::group::GroupName;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    ChangeMember, CreateGroup, DayCount, DeleteAccount, DeleteGroup, EndProposal, ForgetEvents, GroupCreated,
    ProposalAt, ProposalPage, PutProposal, Replica, SealEvents, Sealed, Storage, TakeProposal,
};
use time::macros::date;
use time::{Date, Duration};

use super::races::{Pinned, at_once, count};
use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

const TASKS: usize = 16;
const ROUNDS: usize = 8;

async fn find(store: &dyn Storage, id: GrantId) -> Option<Proposal> {
    store.find_proposal(id).await.unwrap()
}

/// A new proposal, as it is stored.
async fn proposed(store: &dyn Storage) -> Proposal {
    let proposal = fixtures::proposal();
    assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
    proposal
}

async fn take(store: &dyn Storage, command: &TakeProposal) -> bool {
    store.take_proposal(command.clone()).await.unwrap()
}

async fn end(store: &dyn Storage, proposal: &Proposal, from: ProposalState, to: ProposalState) -> bool {
    store.end_proposal(fixtures::end_proposal(proposal, from, to)).await.unwrap()
}

async fn listed(store: &dyn Storage, after: Option<GrantId>, limit: u32) -> Vec<Proposal> {
    let listed = store.list_proposals(ProposalPage { after, limit }).await.unwrap();
    let count = listed.len();
    let listed: Vec<Proposal> = listed.into_iter().filter_map(ProposalAt::readable).collect();
    assert_eq!(listed.len(), count, "each can be read");
    listed
}

/// Every state, wallets of every family, no wallet, texts in any alphabet, and a second signature.
pub async fn every_value_of_a_proposal_survives(store: Arc<dyn Storage>) {
    let accounts = [
        ("eip155", "eip155:137", "0xAb"),
        ("eip155:10", "eip155:10", "0xab"),
        ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "7S3P4H"),
        ("bip122:000000000019d6689c085ae165831e93", "bip122:000000000019d6689c085ae165831e93", "bc1qar"),
    ];
    let account = |(family, chain, address): (&str, &str, &str)| WalletAccount {
        family: family.to_owned(),
        chain: chain.to_owned(),
        address: address.to_owned(),
    };
    let mut proposals: Vec<_> =
        ProposalState::ALL.iter().map(|state| Proposal { state: *state, ..fixtures::proposal() }).collect();
    for wallets in [Vec::new(), vec![account(accounts[3])], accounts.map(account).to_vec()] {
        let first = ChangeSignature { account: account(accounts[1]), ..fixtures::change_signature() };
        proposals.push(Proposal { wallets, first, ..fixtures::proposal() });
    }
    for text in ["", "é \u{1f511}\n\r\t\"quoted\" \\ 'quoted'", &"x".repeat(4_000)] {
        let text = text.to_owned();
        let first = ChangeSignature { signature: text.clone(), text, ..fixtures::change_signature() };
        proposals.push(Proposal { first, ..fixtures::proposal() });
    }
    let later = NOW + Duration::microseconds(1);
    proposals.push(Proposal { proposed_at: later, expires_at: later, ..fixtures::proposal() });
    let second = Some((fixtures::user_id(), fixtures::change_signature()));
    let taken_at = Some(later);
    proposals.push(Proposal { second, taken_at, state: ProposalState::Failed, ..fixtures::proposal() });
    for proposal in &proposals {
        assert!(store.put_proposal(fixtures::put_proposal(proposal)).await.unwrap());
        assert_eq!(find(&*store, proposal.id).await.as_ref(), Some(proposal));
    }
    proposals.reverse();
    assert_eq!(listed(&*store, None, u32::MAX).await, proposals);
    assert_eq!(find(&*store, fixtures::grant_id()).await, None);
}

/// A repeat is answered as the first, whatever became of the proposal. Another one of the same id is refused.
pub async fn a_proposal_is_put_once(store: Arc<dyn Storage>) {
    let proposal = proposed(&*store).await;
    let command = fixtures::put_proposal(&proposal);
    let others = [
        Proposal { user: fixtures::user_id(), ..proposal.clone() },
        Proposal { first: fixtures::change_signature(), ..proposal.clone() },
    ];
    for state in [ProposalState::Waiting, ProposalState::Withdrawn] {
        assert!(store.put_proposal(command.clone()).await.unwrap(), "{state:?}");
        for other in &others {
            assert!(!store.put_proposal(fixtures::put_proposal(other)).await.unwrap(), "{state:?}");
        }
        assert_eq!(find(&*store, proposal.id).await, Some(Proposal { state, ..proposal.clone() }));
        end(&*store, &proposal, ProposalState::Waiting, ProposalState::Withdrawn).await;
    }
}

/// In whatever order they came, in whatever state they are.
pub async fn proposals_are_listed_newest_first_in_pages(store: Arc<dyn Storage>) {
    assert_eq!(listed(&*store, None, 10).await, []);
    let mut proposals: Vec<_> = (0..7).map(|_| fixtures::proposal()).collect();
    let between = fixtures::grant_id();
    proposals.push(fixtures::proposal());
    for place in [3, 0, 7, 6, 5, 1, 4, 2] {
        assert!(store.put_proposal(fixtures::put_proposal(&proposals[place])).await.unwrap());
    }
    assert!(end(&*store, &proposals[5], ProposalState::Waiting, ProposalState::Withdrawn).await);
    proposals[5].state = ProposalState::Withdrawn;
    proposals.reverse();
    for limit in 0..10 {
        let page = listed(&*store, None, u32::try_from(limit).unwrap()).await;
        assert_eq!(page, proposals[..limit.min(8)]);
    }
    for (place, proposal) in proposals.iter().enumerate() {
        assert_eq!(listed(&*store, Some(proposal.id), 3).await, proposals[place + 1..][..3.min(7 - place)]);
    }
    assert_eq!(listed(&*store, Some(between), 2).await, proposals[1..3], "after one that is not there");
    assert_eq!(listed(&*store, Some(fixtures::grant_id()), 1).await, proposals[..1]);
}

/// The first who comes has it, with what they signed; everybody else is refused.
pub async fn a_proposal_is_taken_once(store: Arc<dyn Storage>) {
    let [proposal, other] = [proposed(&*store).await, proposed(&*store).await];
    let command = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(take(&*store, &command).await);
    let taken = Proposal {
        state: ProposalState::Taken,
        second: Some((command.user, command.signed.clone())),
        taken_at: Some(command.now),
        ..proposal.clone()
    };
    for user in [fixtures::user_id(), command.user, proposal.user] {
        assert!(!take(&*store, &fixtures::take_proposal(&proposal, user)).await);
        assert_eq!(find(&*store, proposal.id).await.as_ref(), Some(&taken));
    }
    assert_eq!(find(&*store, other.id).await, Some(other));
    let nothing = fixtures::take_proposal(&fixtures::proposal(), fixtures::user_id());
    assert!(!take(&*store, &nothing).await);
    assert_eq!(find(&*store, nothing.id).await, None);
}

/// One person is never two.
pub async fn whoever_proposed_does_not_take_it(store: Arc<dyn Storage>) {
    let proposal = proposed(&*store).await;
    assert!(!take(&*store, &fixtures::take_proposal(&proposal, proposal.user)).await);
    assert_eq!(find(&*store, proposal.id).await.as_ref(), Some(&proposal));
    assert!(take(&*store, &fixtures::take_proposal(&proposal, fixtures::user_id())).await);
}

/// At the end of its time it has expired already.
pub async fn a_proposal_is_taken_before_it_expires(store: Arc<dyn Storage>) {
    for (micros, expected) in [(-1, true), (0, false), (1, false), (1_000_000_000_000, false)] {
        let proposal = proposed(&*store).await;
        let command = TakeProposal {
            now: proposal.expires_at + Duration::microseconds(micros),
            ..fixtures::take_proposal(&proposal, fixtures::user_id())
        };
        assert_eq!(take(&*store, &command).await, expected, "{micros}");
        let state = if expected { ProposalState::Taken } else { ProposalState::Waiting };
        assert_eq!(find(&*store, proposal.id).await.unwrap().state, state);
    }
}

/// Nobody carries out what has ended, in whatever way.
pub async fn a_proposal_that_ended_is_not_taken(store: Arc<dyn Storage>) {
    for state in [ProposalState::Withdrawn, ProposalState::Done, ProposalState::Failed] {
        let proposal = proposed(&*store).await;
        assert!(end(&*store, &proposal, ProposalState::Waiting, state).await);
        assert!(!take(&*store, &fixtures::take_proposal(&proposal, fixtures::user_id())).await);
        assert_eq!(find(&*store, proposal.id).await, Some(Proposal { state, ..proposal }));
    }
}

/// Also when its time is over. Once what was taken has ended, a repeat is refused, so that nobody begins anew.
pub async fn a_taking_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let proposal = proposed(&*store).await;
    let command = fixtures::take_proposal(&proposal, fixtures::user_id());
    let late = TakeProposal { now: NOW + Duration::days(9), ..command.clone() };
    for again in [&command, &command, &late] {
        assert!(take(&*store, again).await);
    }
    for signed in [
        ChangeSignature { text: "another".to_owned(), ..command.signed.clone() },
        ChangeSignature { signature: "another".to_owned(), ..command.signed.clone() },
        ChangeSignature { account: fixtures::wallet_account(), ..command.signed.clone() },
    ] {
        assert!(!take(&*store, &TakeProposal { signed, ..command.clone() }).await);
    }
    assert!(end(&*store, &proposal, ProposalState::Taken, ProposalState::Done).await);
    assert!(!take(&*store, &command).await);
}

/// The event of an act that the first and this second operator signed.
fn act_of(proposal: &Proposal, second: &TakeProposal) -> Option<Box<Event>> {
    let signed = Signed::of(proposal.id, &[proposal.first.clone(), second.signed.clone()]);
    Some(Box::new(Event { signed: Some(signed), ..fixtures::event() }))
}

/// An act of a proposal: a group of this name.
fn act(proposal: &Proposal, second: &TakeProposal, name: &GroupName) -> CreateGroup {
    CreateGroup { event: act_of(proposal, second), ..fixtures::create_group(name) }
}

async fn is_there(store: &dyn Storage, group: &GroupName) -> bool {
    store.find_group(group).await.unwrap().is_some()
}

/// By the second operator who was there before, or by another; from the minute on, until it expires. Only the one who
/// took it last has taken it.
pub async fn what_nobody_carried_out_in_time_waits_again(store: Arc<dyn Storage>) {
    let proposal = proposed(&*store).await;
    let first = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(take(&*store, &first).await);
    let at =
        |after| TakeProposal { now: NOW + after, ..fixtures::take_proposal(&proposal, fixtures::user_id()) };
    assert!(!take(&*store, &at(TIME_TO_CARRY_OUT - Duration::microseconds(1))).await);
    assert!(!take(&*store, &at(LIFETIME)).await, "it has expired");
    let again = at(TIME_TO_CARRY_OUT);
    assert!(take(&*store, &again).await);
    assert!(take(&*store, &again).await, "repeated");
    assert!(!take(&*store, &first).await);
    let read = find(&*store, proposal.id).await.unwrap();
    assert_eq!((read.second, read.taken_at), (Some((again.user, again.signed)), Some(again.now)));
    let withdraw = |now| EndProposal {
        now,
        ..fixtures::end_proposal(&proposal, ProposalState::Waiting, ProposalState::Withdrawn)
    };
    let almost = again.now + TIME_TO_CARRY_OUT - Duration::microseconds(1);
    assert!(!store.end_proposal(withdraw(almost)).await.unwrap());
    assert!(store.end_proposal(withdraw(again.now + TIME_TO_CARRY_OUT)).await.unwrap());
}

/// In the act's commit, and only then. The act can be repeated, and others of the same proposal may follow.
pub async fn the_act_of_a_proposal_makes_it_done(store: Arc<dyn Storage>) {
    let (proposal, group) = (proposed(&*store).await, fixtures::group_name());
    let second = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(take(&*store, &second).await);
    let state = async || find(&*store, proposal.id).await.unwrap().state;
    let nothing = CreateGroup {
        event: act_of(&proposal, &second),
        ..fixtures::create_group(&steps::group(&*store).await)
    };
    assert_eq!(store.create_group(nothing).await.unwrap(), GroupCreated::NameTaken, "it was there before");
    assert_eq!(state().await, ProposalState::Taken, "nothing was done");
    let command = act(&proposal, &second, &group);
    for _ in 0..2 {
        assert_eq!(store.create_group(command.clone()).await.unwrap(), GroupCreated::Stored);
        assert_eq!(state().await, ProposalState::Done);
    }
    let another = act(&proposal, &second, &fixtures::group_name());
    assert_eq!(store.create_group(another).await.unwrap(), GroupCreated::Stored);
    let late =
        TakeProposal { now: NOW + Duration::HOUR, ..fixtures::take_proposal(&proposal, fixtures::user_id()) };
    assert!(!take(&*store, &late).await, "what is done never waits again");
}

/// It was killed, as it seemed, and goes on. Neither its act happens, nor anything that the act would have done before it
/// was refused; whoever took the proposal makes it.
pub async fn an_act_whose_proposal_somebody_else_took_does_not_happen(store: Arc<dyn Storage>) {
    let (proposal, group) = (proposed(&*store).await, fixtures::group_name());
    let slow = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(store.create_group(act(&proposal, &slow, &group)).await.is_err(), "nobody took it yet");
    assert!(take(&*store, &slow).await);
    let now = NOW + TIME_TO_CARRY_OUT;
    let quick = TakeProposal { now, ..fixtures::take_proposal(&proposal, fixtures::user_id()) };
    assert!(take(&*store, &quick).await);
    for _ in 0..2 {
        assert!(store.create_group(act(&proposal, &slow, &group)).await.is_err());
        assert!(!is_there(&*store, &group).await);
    }
    assert_eq!(store.create_group(act(&proposal, &quick, &group)).await.unwrap(), GroupCreated::Stored);
    let later = fixtures::group_name();
    assert!(store.create_group(act(&proposal, &slow, &later)).await.is_err());
    assert!(!is_there(&*store, &later).await);

    let member = Subject::Wallet(fixtures::wallet_account());
    let add = |event| ChangeMember { event, ..fixtures::add_member(&group, &member) };
    assert!(store.add_member(add(act_of(&proposal, &slow))).await.is_err());
    assert_eq!(store.list_members(&group, None, 9).await.unwrap(), []);
    let delete = DeleteGroup { name: group.clone(), event: act_of(&proposal, &slow) };
    assert!(store.delete_group(delete).await.is_err());
    assert!(is_there(&*store, &group).await);

    let gone = fixtures::proposal();
    assert!(store.create_group(act(&gone, &slow, &later)).await.is_err(), "it was forgotten");
    let withdrawn = proposed(&*store).await;
    assert!(end(&*store, &withdrawn, ProposalState::Waiting, ProposalState::Withdrawn).await);
    assert!(store.create_group(act(&withdrawn, &slow, &later)).await.is_err());
    assert!(!is_there(&*store, &later).await);
}

/// A server that could not carry it out says so too late.
pub async fn nobody_ends_what_somebody_else_took(store: Arc<dyn Storage>) {
    let proposal = proposed(&*store).await;
    let slow = fixtures::take_proposal(&proposal, fixtures::user_id());
    assert!(take(&*store, &slow).await);
    let now = NOW + TIME_TO_CARRY_OUT;
    let quick = TakeProposal { now, ..fixtures::take_proposal(&proposal, fixtures::user_id()) };
    assert!(take(&*store, &quick).await);
    let failed = |second: &TakeProposal| EndProposal {
        signed: Some(second.signed.clone()),
        ..fixtures::end_proposal(&proposal, ProposalState::Taken, ProposalState::Failed)
    };
    assert!(!store.end_proposal(failed(&slow)).await.unwrap());
    assert_eq!(find(&*store, proposal.id).await.unwrap().state, ProposalState::Taken);
    assert!(store.end_proposal(failed(&quick)).await.unwrap());
}

/// Whoever signs that their own account is deleted takes the proposal along.
pub async fn a_proposal_deletes_the_account_of_who_signed_it(store: Arc<dyn Storage>) {
    for signs_first in [true, false] {
        let user = steps::sign_in(&*store).await.new_user;
        let first = if signs_first { user } else { fixtures::user_id() };
        let proposal = Proposal { user: first, ..fixtures::proposal() };
        assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
        let by = if signs_first { fixtures::user_id() } else { user };
        let second = fixtures::take_proposal(&proposal, by);
        let delete = || DeleteAccount { event: act_of(&proposal, &second), ..fixtures::delete_account(user) };
        assert!(store.delete_account(delete()).await.is_err(), "nobody took it yet");
        assert!(store.find_account(user).await.unwrap().is_some());
        assert!(take(&*store, &second).await);
        assert!(store.delete_account(delete()).await.unwrap());
        assert_eq!(store.find_account(user).await.unwrap(), None);
        assert_eq!(find(&*store, proposal.id).await, None);
    }
}

/// From every state to every other. A repeat is answered as the first.
pub async fn a_proposal_ends_from_the_state_that_is_named(store: Arc<dyn Storage>) {
    for from in ProposalState::ALL {
        for to in ProposalState::ALL.into_iter().filter(|to| *to != from) {
            let proposal = Proposal { state: from, ..fixtures::proposal() };
            assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
            let state = async || find(&*store, proposal.id).await.unwrap().state;
            for wrong in ProposalState::ALL.into_iter().filter(|wrong| *wrong != from) {
                for elsewhere in ProposalState::ALL.into_iter().filter(|elsewhere| *elsewhere != from) {
                    assert!(!end(&*store, &proposal, wrong, elsewhere).await, "{from:?}: {wrong:?}");
                }
            }
            assert_eq!(state().await, from);
            assert!(end(&*store, &proposal, from, to).await);
            assert_eq!(state().await, to);
            assert!(end(&*store, &proposal, from, to).await, "repeated");
            assert_eq!(find(&*store, proposal.id).await, Some(Proposal { state: to, ..proposal.clone() }));
        }
    }
    let nothing = fixtures::proposal();
    assert!(!end(&*store, &nothing, ProposalState::Waiting, ProposalState::Withdrawn).await);
}

/// Those first that expired first, whatever became of them. At the boundary a proposal stays.
pub async fn proposals_are_forgotten_in_their_time_up_to_the_limit(store: Arc<dyn Storage>) {
    assert_eq!(store.forget_proposals(fixtures::past(NOW), 10).await.unwrap(), 0);
    let mut left = Vec::new();
    for (place, state) in ProposalState::ALL.into_iter().enumerate() {
        let expires_at = NOW - Duration::microseconds(i64::try_from(place).unwrap());
        let proposal = Proposal { state, expires_at, ..fixtures::proposal() };
        assert!(store.put_proposal(fixtures::put_proposal(&proposal)).await.unwrap());
        left.push(proposal.id);
    }
    let ids = async || listed(&*store, None, 10).await.into_iter().map(|read| read.id).collect::<Vec<_>>();
    for (limit, forgotten) in [(0, 0), (1, 1), (2, 2), (9, 3), (9, 0)] {
        assert_eq!(store.forget_proposals(fixtures::past(NOW), limit).await.unwrap(), forgotten);
        left.truncate(left.len() - usize::try_from(forgotten).unwrap());
        assert_eq!(ids().await, left.iter().rev().copied().collect::<Vec<_>>());
    }
    assert_eq!(left.len(), 1, "the one at the boundary");
    assert_eq!(store.forget_proposals(fixtures::past(NOW + Duration::microseconds(1)), 9).await.unwrap(), 1);
}

/// Those that the user signed first, and those that the user signed second.
pub async fn the_proposals_of_a_deleted_account_are_gone(store: Arc<dyn Storage>) {
    let user = steps::sign_in(&*store).await.new_user;
    let [theirs, seconded] = [Proposal { user, ..fixtures::proposal() }, fixtures::proposal()];
    let [other, of_others] = [proposed(&*store).await, fixtures::proposal()];
    for proposal in [&theirs, &seconded, &of_others] {
        assert!(store.put_proposal(fixtures::put_proposal(proposal)).await.unwrap());
    }
    assert!(take(&*store, &fixtures::take_proposal(&seconded, user)).await);
    assert!(take(&*store, &fixtures::take_proposal(&of_others, fixtures::user_id())).await);
    assert!(store.delete_account(fixtures::delete_account(user)).await.unwrap());
    let left: Vec<_> = listed(&*store, None, 10).await.into_iter().map(|read| read.id).collect();
    assert_eq!(left, [of_others.id, other.id]);
}

const DAY: Date = date!(2026 - 11 - 21);

/// Seals fresh events, with these counts.
async fn seal_and_count(store: &dyn Storage, counts: Vec<DayCount>) -> SealEvents {
    let last = store.last_checkpoint().await.unwrap();
    let fresh = store.fresh_events(u32::MAX).await.unwrap();
    let command = SealEvents { counts, ..fixtures::seal_events(last.as_ref(), fresh) };
    assert_eq!(store.seal_events(command.clone()).await.unwrap(), Sealed::Sealed);
    command
}

async fn counted(store: &dyn Storage, since: Date) -> Vec<DayCount> {
    store.day_counts(since).await.unwrap()
}

/// By day, kind and family; each seal adds to what is there. They stay when the events are forgotten.
pub async fn what_happened_is_counted_by_day_kind_and_family(store: Arc<dyn Storage>) {
    assert_eq!(counted(&*store, DAY).await, []);
    let next = DAY.next_day().unwrap();
    let of = fixtures::day_count;
    let family = "bip122:000000000019d6689c085ae165831e93";
    for counts in [
        vec![of(next, EventKind::SignIn, "eip155", 3), of(DAY, EventKind::SignIn, "eip155", 1)],
        Vec::new(),
        vec![of(DAY, EventKind::SignIn, family, 4), of(DAY, EventKind::SignIn, "", 2)],
        vec![of(DAY, EventKind::SignIn, "eip155", 10), of(DAY, EventKind::ClientChanged, "", 7)],
        vec![of(DAY, EventKind::SignIn, "eip155", 100), of(DAY, EventKind::SignIn, "eip155", 1_000)],
        vec![of(date!(1969 - 12 - 31), EventKind::SignOut, "", 5), of(DAY, EventKind::SignOut, "Eip155", 0)],
    ] {
        steps::record(&*store, &fixtures::event()).await;
        seal_and_count(&*store, counts).await;
    }
    let expected = [
        of(DAY, EventKind::ClientChanged, "", 7),
        of(DAY, EventKind::SignIn, "", 2),
        of(DAY, EventKind::SignIn, family, 4),
        of(DAY, EventKind::SignIn, "eip155", 1_111),
        of(DAY, EventKind::SignOut, "Eip155", 0),
        of(next, EventKind::SignIn, "eip155", 3),
    ];
    assert_eq!(counted(&*store, DAY).await, expected);
    assert_eq!(counted(&*store, next).await, expected[5..]);
    assert_eq!(counted(&*store, next.next_day().unwrap()).await, []);
    assert_eq!(counted(&*store, date!(1969 - 12 - 31)).await.len(), 7);
    assert_eq!(store.forget_events(ForgetEvents { before: 100, checkpoints: 100 }).await.unwrap(), 6);
    assert_eq!(counted(&*store, DAY).await, expected);
}

/// Every kind has its own count.
pub async fn every_kind_is_counted(store: Arc<dyn Storage>) {
    let mut expected: Vec<_> = (1..)
        .zip(EventKind::ALL)
        .map(|(number, kind)| fixtures::day_count(DAY, *kind, "eip155", number))
        .collect();
    seal_and_count(&*store, expected.clone()).await;
    expected.sort_by_key(|counted| counted.kind.name());
    assert_eq!(counted(&*store, DAY).await, expected);
}

/// A repeat counts nothing twice, and what is stale counts nothing.
pub async fn a_seal_counts_once(store: Arc<dyn Storage>) {
    let counts = vec![fixtures::day_count(DAY, EventKind::SignIn, "eip155", 2)];
    for _ in 0..2 {
        steps::record(&*store, &fixtures::event()).await;
    }
    let command = seal_and_count(&*store, counts.clone()).await;
    assert_eq!(counted(&*store, DAY).await, counts);
    assert_eq!(store.seal_events(command.clone()).await.unwrap(), Sealed::Sealed, "repeated");
    assert_eq!(counted(&*store, DAY).await, counts);
    let stale = SealEvents { counts: counts.clone(), ..fixtures::seal_events(None, Vec::new()) };
    assert_eq!(store.seal_events(stale).await.unwrap(), Sealed::Stale, "its number is taken");
    let unknown = fixtures::seal_events(Some(&command.checkpoint), vec![fixtures::event()]);
    let stale = SealEvents { counts: counts.clone(), ..unknown };
    assert_eq!(store.seal_events(stale).await.unwrap(), Sealed::Stale, "its event is not fresh");
    assert_eq!(counted(&*store, DAY).await, counts);
}

/// Fresh and sealed, and none of another request.
pub async fn the_events_of_a_request_are_found(store: Arc<dyn Storage>) {
    let of = |request: Option<&str>| Event { request: request.map(str::to_owned), ..fixtures::event() };
    let events = [Some("é 1"), Some("E 1"), None, Some("é 1"), Some("é 1"), Some(""), Some("é 1")].map(of);
    for place in [4, 0, 3, 6, 2, 1, 5] {
        steps::record(&*store, &events[place]).await;
    }
    steps::seal_these(&*store, &[events[3].clone(), events[0].clone(), events[1].clone()]).await;
    let named = [0, 3, 4, 6].map(|place| events[place].clone());
    for limit in 0..6 {
        let read = store.events_of_request("é 1", None, u32::try_from(limit).unwrap()).await.unwrap();
        assert_eq!(read, named[..limit.min(4)]);
    }
    for place in 0..4 {
        let read = store.events_of_request("é 1", Some(named[place].id), 9).await.unwrap();
        assert_eq!(read, named[place + 1..], "F-23");
    }
    for (request, expected) in [("E 1", &events[1..2]), ("", &events[5..6]), ("é", &[]), ("é 1 ", &[])] {
        assert_eq!(store.events_of_request(request, None, 9).await.unwrap(), expected, "{request:?}");
    }
}

/// Those that expire later, and no more than were asked for.
pub async fn sessions_are_counted_up_to_a_limit(store: Arc<dyn Storage>) {
    assert_eq!(store.count_sessions(NOW, 10).await.unwrap(), 0);
    let mut ends = Vec::new();
    for seconds in [10, 20, 20, 30] {
        let mut open = fixtures::open_session_of(fixtures::wallet_account());
        open.session.expires_at = NOW + Duration::seconds(seconds);
        ends.push(open.session.expires_at);
        store.open_session(open).await.unwrap();
    }
    let micro = Duration::microseconds(1);
    for (now, at_most, expected) in [
        (NOW, 10, 4),
        (NOW, 4, 4),
        (NOW, 3, 3),
        (NOW, 0, 0),
        (ends[0] - micro, 10, 4),
        (ends[0], 10, 3),
        (ends[1], 10, 1),
        (ends[1], 1, 1),
        (ends[3], 10, 0),
    ] {
        assert_eq!(store.count_sessions(now, at_most).await.unwrap(), expected, "{now} {at_most}");
    }
}

/// Of one client: people once each, and grants that are neither revoked nor over.
pub async fn access_is_counted_up_to_a_limit(store: Arc<dyn Storage>) {
    let mut login = steps::sign_in(&*store).await;
    let (client, later) = (login.client, NOW + Duration::days(1_000));
    let count = async |now, at_most| {
        let counted = store.count_access(client, now, at_most).await.unwrap();
        (counted.people, counted.grants)
    };
    assert_eq!(count(NOW, 10).await, (1, 1));
    steps::sign_in(&*store).await;
    assert_eq!(count(NOW, 10).await, (1, 1), "another client's do not count");
    for _ in 0..3 {
        login = fixtures::complete_login();
        login.client = client;
        store.complete_login(login.clone()).await.unwrap();
    }
    assert_eq!(count(NOW, 10).await, (4, 4));
    assert_eq!(count(NOW, 3).await, (3, 3));
    assert_eq!(count(later, 10).await, (4, 0));
    store.revoke_grant(fixtures::revoke_grant(login.id)).await.unwrap();
    assert_eq!(count(NOW, 10).await, (4, 3));
}

/// As they were noted last; those that nobody saw for long are forgotten.
pub async fn replicas_are_seen_until_they_are_forgotten(store: Arc<dyn Storage>) {
    let at = |minutes| NOW + Duration::minutes(minutes);
    let note = async |replica: &Replica, forget: i64| {
        store.note_replica(replica.clone(), fixtures::past(at(forget))).await.unwrap();
    };
    let seen = async |since: i64| store.replicas(at(since)).await.unwrap();
    assert_eq!(seen(-1_000).await, []);
    let [mut one, mut two, three] = [3, 1, 1].map(|started| Replica {
        started_at: at(started),
        seen_at: at(started),
        ..fixtures::replica()
    });
    for replica in [&one, &three, &two] {
        note(replica, 0).await;
    }
    assert_eq!(seen(0).await, [two.clone(), three.clone(), one.clone()], "the longest running first");
    (two.seen_at, two.version) = (at(5), "2.0.0".to_owned());
    (two.settings, two.untrusted_proxy) = (String::new(), None);
    note(&two, 1).await;
    note(&Replica { seen_at: at(4), version: "1.0.0".to_owned(), ..two.clone() }, 1).await;
    assert_eq!(seen(1).await, [two.clone(), three.clone(), one.clone()], "at the boundary they stay");
    assert_eq!(seen(2).await, [two.clone(), one.clone()]);
    one.seen_at = at(6);
    note(&one, 2).await;
    assert_eq!(seen(-1_000).await, [two.clone(), one.clone()], "and the third is forgotten");
    (one.seen_at, one.untrusted_proxy) = (at(7), Some(Ipv6Addr::LOCALHOST.into()));
    note(&one, 2).await;
    for _ in 0..2 {
        store.forget_replica(two.id).await.unwrap();
        assert_eq!(seen(-1_000).await, [one.clone()], "it stopped");
    }
}

/// Exactly one of two operators who sign at once carries it out.
pub async fn a_proposal_is_taken_by_one_of_many(store: Arc<dyn Storage>) {
    taken_once(&[Arc::clone(&store), store]).await;
}

/// As in one process.
pub async fn a_proposal_is_taken_once_on_two_replicas(open: impl AsyncFn() -> Arc<dyn Storage>) {
    taken_once(&[open().await, open().await]).await;
}

async fn taken_once(stores: &[Arc<dyn Storage>; 2]) {
    for _ in 0..ROUNDS {
        let proposal = proposed(&*stores[0]).await;
        let outcomes = at_once((0..TASKS).map(|place| {
            let store = Arc::clone(&stores[place % 2]);
            let command = fixtures::take_proposal(&proposal, fixtures::user_id());
            async move { (take(&*store, &command).await, command) }
        }))
        .await;
        let winners: Vec<_> = outcomes.into_iter().filter(|(taken, _)| *taken).collect();
        let [(_, winner)] = &*winners else { panic!("{} took it", winners.len()) };
        for store in stores {
            let read = find(&**store, proposal.id).await.unwrap();
            assert_eq!(read.second, Some((winner.user, winner.signed.clone())));
        }
    }
}

/// Either somebody takes it, or the first takes it back, and whoever is too late is told.
pub async fn a_proposal_is_taken_or_withdrawn(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let proposal = proposed(&*store).await;
        let outcomes = at_once((0..TASKS).map(|place| {
            let (store, proposal) = (Arc::clone(&store), proposal.clone());
            let task: Pinned<(bool, bool)> = if place % 2 == 0 {
                let command = fixtures::take_proposal(&proposal, fixtures::user_id());
                Box::pin(async move { (true, take(&*store, &command).await) })
            } else {
                let (from, to) = (ProposalState::Waiting, ProposalState::Withdrawn);
                Box::pin(async move { (false, end(&*store, &proposal, from, to).await) })
            };
            task
        }))
        .await;
        let (taken, withdrawn) = (count(&outcomes, &(true, true)), count(&outcomes, &(false, true)));
        let expected = match find(&*store, proposal.id).await.unwrap().state {
            ProposalState::Taken => (1, 0),
            // Whoever withdraws what is withdrawn repeats.
            ProposalState::Withdrawn => (0, TASKS / 2),
            state @ (ProposalState::Waiting
            | ProposalState::Done
            | ProposalState::Failed
            | ProposalState::Refused
            | ProposalState::Suspended) => {
                panic!("{state:?}")
            }
        };
        assert_eq!((taken, withdrawn), expected);
    }
}

/// At the very moment at which a proposal waits again.
pub async fn an_act_that_comes_late_happens_or_somebody_else_makes_it(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS * 4 {
        let (proposal, groups) = (proposed(&*store).await, [fixtures::group_name(), fixtures::group_name()]);
        let slow = fixtures::take_proposal(&proposal, fixtures::user_id());
        assert!(take(&*store, &slow).await);
        let now = NOW + TIME_TO_CARRY_OUT;
        let quick = TakeProposal { now, ..fixtures::take_proposal(&proposal, fixtures::user_id()) };
        let made = at_once((0..2).map(|place| {
            let (store, proposal, group) = (Arc::clone(&store), proposal.clone(), groups[place].clone());
            let (slow, quick) = (slow.clone(), quick.clone());
            let task: Pinned<(usize, bool)> = if place == 0 {
                Box::pin(
                    async move { (place, store.create_group(act(&proposal, &slow, &group)).await.is_ok()) },
                )
            } else {
                Box::pin(async move {
                    let is_taken = take(&*store, &quick).await;
                    (place, is_taken && store.create_group(act(&proposal, &quick, &group)).await.is_ok())
                })
            };
            task
        }))
        .await;
        assert_eq!(made.iter().filter(|(_, made)| *made).count(), 1, "{made:?}");
        for (place, made) in made {
            assert_eq!(is_there(&*store, &groups[place]).await, made);
        }
        assert_eq!(find(&*store, proposal.id).await.unwrap().state, ProposalState::Done);
    }
}

/// Of many copies of one proposal one leaves its event; and of many who end it, one.
pub async fn a_proposal_is_put_and_ended_by_one_of_many(store: Arc<dyn Storage>) {
    for _ in 0..ROUNDS {
        let proposal = fixtures::proposal();
        let before = steps::events(&*store).await.len();
        let put = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let event = Some(Box::new(fixtures::event()));
            let command = PutProposal { event, ..fixtures::put_proposal(&proposal) };
            async move { store.put_proposal(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&put, &true), TASKS);
        let ended = at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let (from, to) = (ProposalState::Waiting, ProposalState::Withdrawn);
            let event = Some(Box::new(fixtures::event()));
            let command = EndProposal { event, ..fixtures::end_proposal(&proposal, from, to) };
            async move { store.end_proposal(command).await.unwrap() }
        }))
        .await;
        assert_eq!(count(&ended, &true), 1, "each has an event of its own, so they are no repeats of one");
        assert_eq!(steps::events(&*store).await.len(), before + 2);
    }
}

/// What the one counted who sealed, and nothing of the others.
pub async fn what_many_sealers_count_at_once_is_counted_once(store: Arc<dyn Storage>) {
    for round in 1..=4 {
        steps::record(&*store, &fixtures::event()).await;
        let last = store.last_checkpoint().await.unwrap();
        let read = store.fresh_events(u32::MAX).await.unwrap();
        let counts = vec![fixtures::day_count(DAY, EventKind::SignIn, "eip155", 1)];
        at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let sealed = fixtures::seal_events(last.as_ref(), read.clone());
            let command = SealEvents { counts: counts.clone(), ..sealed };
            async move { store.seal_events(command).await.unwrap() }
        }))
        .await;
        let expected = fixtures::day_count(DAY, EventKind::SignIn, "eip155", round);
        assert_eq!(counted(&*store, DAY).await, [expected]);
    }
}

/// Replicas that note themselves at once do not disturb each other.
pub async fn replicas_that_are_noted_at_once_are_all_seen(store: Arc<dyn Storage>) {
    for round in 1..=4 {
        let since = NOW + Duration::minutes(round);
        at_once((0..TASKS).map(|_| {
            let store = Arc::clone(&store);
            let replica = Replica { seen_at: since, ..fixtures::replica() };
            async move { store.note_replica(replica, fixtures::past(since)).await.unwrap() }
        }))
        .await;
        assert_eq!(store.replicas(since).await.unwrap().len(), TASKS);
    }
    // What one of them skipped is forgotten by the next.
    let last = NOW + Duration::minutes(4);
    store.note_replica(Replica { seen_at: last, ..fixtures::replica() }, fixtures::past(last)).await.unwrap();
    assert_eq!(store.replicas(NOW).await.unwrap().len(), TASKS + 1);
}

/// Proposals with what became of them, counts, and replicas.
pub async fn what_the_desk_keeps_outlives_the_process(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let store = open().await;
    let [mut taken, mut withdrawn] = [proposed(&*store).await, proposed(&*store).await];
    let command = fixtures::take_proposal(&taken, fixtures::user_id());
    assert!(take(&*store, &command).await);
    assert!(end(&*store, &withdrawn, ProposalState::Waiting, ProposalState::Withdrawn).await);
    (taken.state, taken.second) = (ProposalState::Taken, Some((command.user, command.signed.clone())));
    taken.taken_at = Some(command.now);
    withdrawn.state = ProposalState::Withdrawn;
    let counts = vec![fixtures::day_count(DAY, EventKind::SignIn, "eip155", 2)];
    seal_and_count(&*store, counts.clone()).await;
    let replica = fixtures::replica();
    store.note_replica(replica.clone(), fixtures::past(NOW)).await.unwrap();
    drop(store);
    let store = open().await;
    assert_eq!(listed(&*store, None, 10).await, [withdrawn, taken]);
    assert!(take(&*store, &command).await, "repeated");
    assert_eq!(counted(&*store, DAY).await, counts);
    assert_eq!(store.replicas(NOW).await.unwrap(), [replica]);
}

/// From the answer on.
pub async fn what_happens_to_a_proposal_is_seen_by_the_other_replica(
    open: impl AsyncFn() -> Arc<dyn Storage>,
) {
    let (here, there) = (open().await, open().await);
    for _ in 0..8 {
        let proposal = proposed(&*here).await;
        assert_eq!(find(&*there, proposal.id).await.as_ref(), Some(&proposal));
        let user: UserId = fixtures::user_id();
        assert!(take(&*there, &fixtures::take_proposal(&proposal, user)).await);
        assert!(!take(&*here, &fixtures::take_proposal(&proposal, fixtures::user_id())).await);
        assert!(end(&*here, &proposal, ProposalState::Taken, ProposalState::Done).await);
        assert_eq!(find(&*there, proposal.id).await.unwrap().state, ProposalState::Done);
    }
    let replica = fixtures::replica();
    here.note_replica(replica.clone(), fixtures::past(NOW)).await.unwrap();
    assert_eq!(there.replicas(NOW).await.unwrap(), [replica]);
}
