//! What is dangerous takes two persons, and is done exactly once.

use countersign_domain::act::{Act, ActName, UsedBy};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::desk::proposal::{LIFETIME, Proposal, ProposalState};
use countersign_domain::event::EventKind;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_ports::{DeleteAccount, EntropyExt, PutProposal};
use countersign_usecases::account::change_wallets::SignedText;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::steps::recognize_operator::Operator;
use time::Duration;

use super::{Office, Signing, delete, group, id_of, signing_with};
use crate::desk::begin_change::{BeginChangeError, begin_change};
use crate::desk::complete_change::{CompleteChangeError, Completed, complete_change};
use crate::desk::proposals::{
    BeginCountersignError, MaySign, ProposalGone, begin_countersign, list_proposals, read_proposal,
};
use crate::tests::world::{TestClient, sign, toy};

/// An office with a client that Ada proposes to delete.
async fn proposed() -> (Office, TestClient, Operator, GrantId) {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    let id = office.propose(&ada, delete(&client)).await;
    (office, client, ada, id)
}

async fn is_there(office: &Office, client: &TestClient) -> bool {
    office.world.context.clients.find_fresh(id_of(client)).await.unwrap().is_some()
}

async fn state(office: &Office, id: GrantId) -> ProposalState {
    office.world.storage.find_proposal(id).await.unwrap().unwrap().state
}

/// Who tries to be the second, and is not let.
async fn is_same_person(office: &Office, operator: &Operator, id: GrantId) {
    let refused = begin_countersign(office.desk(), operator, id, Signing::default()).await;
    assert!(matches!(refused, Err(BeginCountersignError::SamePerson)), "{refused:?}");
    let read = read_proposal(office.desk(), operator, id).await.unwrap().unwrap();
    assert_eq!(read.may_sign, MaySign::SamePerson);
}

#[tokio::test]
async fn two_persons_make_a_dangerous_change() {
    let (office, client, _, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let listed = list_proposals(office.desk(), &bob, None, 10).await.unwrap();
    let [read] = listed.proposals.as_slice() else { panic!("{listed:?}") };
    assert_eq!((read.proposal.id, read.may_sign, listed.more), (id, MaySign::Yes, false));
    assert_eq!(read.change.as_ref().unwrap().name(), ActName::DeleteClient);
    assert!(is_there(&office, &client).await);
    office.countersign(&bob, id).await.unwrap();
    assert!(!is_there(&office, &client).await);
    assert_eq!(state(&office, id).await, ProposalState::Done);
    let read = read_proposal(office.desk(), &bob, id).await.unwrap().unwrap();
    assert_eq!(read.may_sign, MaySign::Over);
    assert_eq!(read.proposal.second.unwrap().0, bob.session.user);
}

#[tokio::test]
async fn the_first_cannot_be_the_second_in_this_session_or_in_another() {
    let (office, client, ada, id) = proposed().await;
    is_same_person(&office, &ada, id).await;
    is_same_person(&office, &office.operator("toy-ada").await, id).await;
    assert!(is_there(&office, &client).await);
}

#[tokio::test]
async fn the_first_cannot_be_the_second_by_a_wallet_that_was_linked_before_or_after() {
    for linked_before in [true, false] {
        let mut office = Office::new(Quorum::Two);
        office.policy().admins.push(toy("toy-ada-2"));
        let ada = office.operator("toy-ada").await;
        if linked_before {
            office.link("toy-ada", "toy-ada-2").await;
        }
        let client = office.client().await;
        let id = office.propose(&ada, delete(&client)).await;
        if !linked_before {
            office.link("toy-ada", "toy-ada-2").await;
        }
        let other = office.operator("toy-ada-2").await;
        is_same_person(&office, &other, id).await;
        let named = begin_countersign(office.desk(), &other, id, signing_with(&toy("toy-ada-2"))).await;
        assert!(matches!(named, Err(BeginCountersignError::SamePerson)), "{named:?}");
        assert!(is_there(&office, &client).await);
    }
}

/// The other wallet has a user of its own by now. But it was the first's when they signed.
#[tokio::test]
async fn the_first_cannot_be_the_second_by_a_wallet_that_was_unlinked_after_proposing() {
    let mut office = Office::new(Quorum::Two);
    office.policy().admins.push(toy("toy-ada-2"));
    let ada = office.operator("toy-ada").await;
    office.link("toy-ada", "toy-ada-2").await;
    let client = office.client().await;
    let id = office.propose(&ada, delete(&client)).await;
    office.unlink("toy-ada", "toy-ada-2").await;
    let other = office.operator("toy-ada-2").await;
    assert_ne!(other.session.user, ada.session.user);
    is_same_person(&office, &other, id).await;
    // Nor the other way round: the wallet that signed first goes, and signs in as somebody new.
    office.link("toy-ada", "toy-ada-3").await;
    office.unlink("toy-ada-3", "toy-ada").await;
    let anew = office.operator("toy-ada").await;
    assert_ne!(anew.session.user, ada.session.user);
    is_same_person(&office, &anew, id).await;
    assert!(is_there(&office, &client).await);
}

/// Two users without a wallet in common, at any time since the proposal. But the events know.
#[tokio::test]
async fn the_first_cannot_be_the_second_by_a_wallet_that_was_unlinked_before_proposing() {
    for unlinks_the_proposer in [true, false] {
        let mut office = Office::new(Quorum::Two);
        office.policy().admins.push(toy("toy-ada-2"));
        office.sign_in("toy-ada").await;
        office.link("toy-ada", "toy-ada-2").await;
        if unlinks_the_proposer {
            office.unlink("toy-ada-2", "toy-ada").await;
        } else {
            office.unlink("toy-ada", "toy-ada-2").await;
        }
        office.world.advance(Duration::days(60));
        let (ada, other) = (office.operator("toy-ada").await, office.operator("toy-ada-2").await);
        assert_ne!(ada.session.user, other.session.user);
        let client = office.client().await;
        let id = office.propose(&ada, delete(&client)).await;
        is_same_person(&office, &other, id).await;
        let id = office.propose(&other, delete(&client)).await;
        is_same_person(&office, &ada, id).await;
        // Somebody else is somebody else.
        let bob = office.operator("toy-bob").await;
        office.countersign(&bob, id).await.unwrap();
        assert!(!is_there(&office, &client).await);
    }
}

#[tokio::test]
async fn the_first_cannot_be_the_second_after_deleting_the_account() {
    let (office, client, ada, id) = proposed().await;
    let proposal = office.world.storage.find_proposal(id).await.unwrap().unwrap();
    let context = &office.world.context;
    let pseudonym = countersign_domain::event::Pseudonym::new(context.entropy.bytes());
    let now = context.clock.now();
    let hiding = office.world.context.keys.record.hiding(pseudonym);
    let command = DeleteAccount { user: ada.session.user, now, pseudonym, hiding, event: None };
    assert!(office.world.storage.delete_account(command).await.unwrap());
    let anew = office.operator("toy-ada").await;
    // Deleting the account forgot the proposal. Even if it had not:
    let refused = begin_countersign(office.desk(), &anew, id, Signing::default()).await;
    assert!(matches!(refused, Err(BeginCountersignError::Gone(ProposalGone::Unknown))), "{refused:?}");
    let command = PutProposal { proposal, event: None };
    assert!(office.world.storage.put_proposal(command).await.unwrap());
    is_same_person(&office, &anew, id).await;
    assert!(is_there(&office, &client).await);
}

/// The text for the second was made in time; by the time of the signature both are one person.
#[tokio::test]
async fn who_becomes_one_person_with_the_first_after_beginning_cannot_finish() {
    let (office, client, _, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    // Bob's wallet leaves his user, and Ada takes it.
    office.link("toy-bob", "toy-bob-2").await;
    office.unlink("toy-bob-2", "toy-bob").await;
    office.link("toy-ada", "toy-bob").await;
    let refused = office.finish(&bob, begun.clone()).await;
    assert!(matches!(refused, Err(CompleteChangeError::NotOperator)), "{refused:?}");
    let both = office.operator("toy-bob").await;
    let refused = office.finish(&both, begun).await;
    assert!(matches!(refused, Err(CompleteChangeError::SamePerson)), "{refused:?}");
    assert!(is_there(&office, &client).await);
}

#[tokio::test]
async fn the_first_must_still_be_an_operator() {
    for case in ["settings", "group", "blocked"] {
        let mut office = Office::new(Quorum::Two);
        office.world.join("ops", Subject::Wallet(toy("toy-dan"))).await;
        let first = if case == "group" { "toy-dan" } else { "toy-ada" };
        let operator = office.operator(first).await;
        let client = office.client().await;
        let id = office.propose(&operator, delete(&client)).await;
        let bob = office.operator("toy-bob").await;
        let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
        match case {
            "settings" => office.policy().admins.retain(|admin| *admin != toy("toy-ada")),
            "group" => office.policy().group = Some(group("other")),
            _ => office.world.block(Subject::Wallet(toy("toy-ada"))).await,
        }
        let refused = office.finish(&bob, begun).await;
        let gone = ProposalGone::FirstIsNoOperator;
        assert!(
            matches!(refused, Err(CompleteChangeError::ProposalGone(why)) if why == gone),
            "{case}: {refused:?}"
        );
        assert!(is_there(&office, &client).await);
    }
}

#[tokio::test]
async fn a_second_signature_is_for_its_proposal_alone() {
    let (office, client, ada, id) = proposed().await;
    let other_client = office.client().await;
    let other_id = office.propose(&ada, delete(&other_client)).await;
    let bob = office.operator("toy-bob").await;
    let (mut pending, shown) = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    let (mut other, other_shown) =
        begin_countersign(office.desk(), &bob, other_id, Signing::default()).await.unwrap();
    let (text, other_text) = (&shown.text.text, &other_shown.text.text);
    for (pending, text, signed) in [(&mut pending, other_text, other_text), (&mut other, text, text)] {
        let refused = office.present(&bob, pending, text, &sign("toy-bob", signed)).await;
        assert!(matches!(refused, Err(CompleteChangeError::Challenge(_))), "{refused:?}");
    }
    let refused = office.present(&bob, &mut pending, text, &sign("toy-bob", other_text)).await;
    assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{refused:?}");
    // The first text, which Bob's wallet signs too, is not for Bob.
    let first = office.world.storage.find_proposal(id).await.unwrap().unwrap().first.text;
    let refused = office.present(&bob, &mut pending, &first, &sign("toy-bob", &first)).await;
    assert!(matches!(refused, Err(CompleteChangeError::Challenge(_))), "{refused:?}");
    // The proposal that the session remembers is that of the text.
    let mut confused = pending.clone();
    confused.proposal = None;
    let refused = office.present(&bob, &mut confused, text, &sign("toy-bob", text)).await;
    assert!(matches!(refused, Err(CompleteChangeError::Challenge(_))), "{refused:?}");
    assert!(is_there(&office, &client).await && is_there(&office, &other_client).await);
}

#[tokio::test]
async fn a_proposal_whose_subject_changed_is_refused() {
    let (office, client, ada, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    let rule = Act::SetAccess {
        client: id_of(&client).into(),
        rule: Some(countersign_domain::admission::AccessRule::Nobody),
        release: None,
    };
    office.make(&ada, rule).await.unwrap();
    let refused = office.finish(&bob, begun).await;
    assert!(matches!(refused, Err(CompleteChangeError::Stale(_))), "{refused:?}");
    let refused = begin_countersign(office.desk(), &bob, id, Signing::default()).await;
    assert!(matches!(refused, Err(BeginCountersignError::Stale(_))), "{refused:?}");
    assert!(is_there(&office, &client).await);
    assert_eq!(state(&office, id).await, ProposalState::Waiting, "it was not taken");
}

#[tokio::test]
async fn a_proposal_ends_after_24_hours_and_when_it_is_taken_back() {
    let (office, client, ada, id) = proposed().await;
    let expires_at = office.world.storage.find_proposal(id).await.unwrap().unwrap().expires_at;
    let left = expires_at - office.world.context.clock.now();
    assert!(left <= LIFETIME && left > LIFETIME - Duration::seconds(2));
    office.world.advance(left - Duration::seconds(1));
    let bob = office.operator("toy-bob").await;
    let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    office.world.advance(Duration::seconds(1));
    let refused = office.finish(&bob, begun).await;
    let gone = ProposalGone::Expired;
    assert!(matches!(refused, Err(CompleteChangeError::ProposalGone(why)) if why == gone), "{refused:?}");

    let ada_again = office.operator("toy-ada").await;
    let id = office.propose(&ada_again, delete(&client)).await;
    let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    let back = Act::WithdrawProposal { proposal: id };
    // Only the first can do that.
    let refused = begin_change(office.desk(), &bob, back.clone(), Signing::default()).await;
    assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoSuchProposal))), "{refused:?}");
    office.make(&ada_again, back.clone()).await.unwrap();
    let refused = office.finish(&bob, begun).await;
    let gone = ProposalGone::Withdrawn;
    assert!(matches!(refused, Err(CompleteChangeError::ProposalGone(why)) if why == gone), "{refused:?}");
    let refused = begin_change(office.desk(), &ada, back, Signing::default()).await;
    assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoSuchProposal))), "{refused:?}");
    assert!(is_there(&office, &client).await);
}

#[tokio::test]
async fn another_operator_refuses_a_proposal_and_says_why() {
    let (office, client, ada, id) = proposed().await;
    let (bob, cal) = (office.operator("toy-bob").await, office.operator("toy-cal").await);
    let begun = begin_countersign(office.desk(), &cal, id, Signing::default()).await.unwrap();
    let refusal = Act::RefuseProposal { proposal: id, reason: Some("still used".to_owned()) };
    // The first takes it back, and cannot refuse it.
    let refused = begin_change(office.desk(), &ada, refusal.clone(), Signing::default()).await;
    assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoSuchProposal))), "{refused:?}");
    office.make(&bob, refusal.clone()).await.unwrap();
    assert_eq!(state(&office, id).await, ProposalState::Refused);
    let refused = office.finish(&cal, begun).await;
    let gone = ProposalGone::Refused;
    assert!(matches!(refused, Err(CompleteChangeError::ProposalGone(why)) if why == gone), "{refused:?}");
    for (operator, change) in [(&cal, refusal), (&ada, Act::WithdrawProposal { proposal: id })] {
        let refused = begin_change(office.desk(), operator, change, Signing::default()).await;
        assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoSuchProposal))), "{refused:?}");
    }
    let event = office.acts().await.pop().unwrap();
    assert_eq!((event.kind, event.details.as_str().contains("refused")), (EventKind::ChangeWithdrawn, true));
    assert!(event.signed.unwrap().as_str().contains("Reason: 'still used'."));
    assert!(is_there(&office, &client).await);
}

#[tokio::test]
async fn a_proposal_that_expired_cannot_be_taken_back() {
    let (office, _, _, id) = proposed().await;
    office.world.advance(LIFETIME);
    let ada = office.operator("toy-ada").await;
    let refused =
        begin_change(office.desk(), &ada, Act::WithdrawProposal { proposal: id }, Signing::default()).await;
    assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NoSuchProposal))), "{refused:?}");
    assert_eq!(state(&office, id).await, ProposalState::Waiting);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_countersign_at_once_one_carries_the_proposal_out() {
    let office = Office::new(Quorum::Two);
    let (ada, bob, cal) = (
        office.operator("toy-ada").await,
        office.operator("toy-bob").await,
        office.operator("toy-cal").await,
    );
    let rounds = 500;
    for round in 0..rounds {
        let change = Act::RotateKeys {
            at_once: false,
            algorithms: vec![countersign_domain::signing_algorithm::SigningAlgorithm::Es256],
        };
        let id = office.propose(&ada, change).await;
        let of_bob = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
        let of_cal = begin_countersign(office.desk(), &cal, id, Signing::default()).await.unwrap();
        // Sometimes one of them twice, too.
        let again = of_bob.clone();
        let (one, other, third) = tokio::join!(
            office.finish(&bob, of_bob),
            office.finish(&cal, of_cal),
            office.finish(&bob, again)
        );
        let done = [&one, &other, &third].into_iter();
        let done = done.filter(|done| matches!(done, Ok(Completed::Done { .. }))).count();
        assert_eq!(done, 1, "{round}: {one:?} {other:?} {third:?}");
        assert_eq!(state(&office, id).await, ProposalState::Done);
    }
    let made = office.acts().await.into_iter().filter(|act| act.kind == EventKind::KeyAnnounced).count();
    assert_eq!(made, rounds);
}

/// Both hold a good signature at the same moment: one to carry it out, one to take it back or to refuse it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposal_is_carried_out_or_ended_and_never_both() {
    let office = Office::new(Quorum::Two);
    let (ada, bob, cal) = (
        office.operator("toy-ada").await,
        office.operator("toy-bob").await,
        office.operator("toy-cal").await,
    );
    for round in 0..400 {
        let client = office.client().await;
        let id = office.propose(&ada, delete(&client)).await;
        let forth = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
        let (by, end) = if round % 2 == 0 {
            (&ada, Act::WithdrawProposal { proposal: id })
        } else {
            (&cal, Act::RefuseProposal { proposal: id, reason: None })
        };
        let back = office.begin(by, end).await;
        let (forth, back) = tokio::join!(office.finish(&bob, forth), office.finish(by, back));
        assert!(forth.is_ok() != back.is_ok(), "{round}: {forth:?} {back:?}");
        assert_eq!(is_there(&office, &client).await, back.is_ok(), "{round}");
    }
}

/// Whoever could block the others would be the only operator left.
#[tokio::test]
async fn one_operator_alone_neither_blocks_another_nor_changes_who_is_one() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let bob = office.operator("toy-bob").await;
    office.world.join("ops", Subject::Wallet(toy("toy-dan"))).await;
    office.sign_in("toy-dan").await;
    office.link("toy-dan", "toy-dan-2").await;
    let dan = office.user("toy-dan").await;
    let dangerous = [
        Act::Block { who: Subject::Wallet(toy("toy-bob").into()), reason: None },
        Act::Block { who: Subject::User(bob.session.user.into()), reason: None },
        Act::Block { who: Subject::Wallet(toy("toy-dan").into()), reason: None },
        Act::Block { who: Subject::Wallet(toy("toy-dan-2").into()), reason: None },
        Act::Block { who: Subject::User(dan.into()), reason: None },
        Act::AddMembers { group: group("ops"), members: vec![Subject::Wallet(toy("toy-ada-2").into())] },
        Act::RemoveMembers { group: group("ops"), members: vec![Subject::Wallet(toy("toy-dan").into())] },
        Act::DeleteGroup { group: group("ops"), used_by: UsedBy::default(), needed_by: Vec::new() },
        Act::DeleteUser { user: dan.into() },
    ];
    for change in dangerous {
        let done = office.make(&ada, change.clone()).await.unwrap();
        assert!(matches!(done, Completed::Proposed { .. }), "{change:?}");
    }
    assert!(!office.is_blocked("toy-bob").await && !office.is_blocked("toy-dan").await);
    let harmless = Act::Block { who: Subject::Wallet(toy("toy-eve").into()), reason: None };
    assert!(matches!(office.make(&ada, harmless).await.unwrap(), Completed::Done { .. }));
}

/// Whoever has the database, and is one operator, tries to be two.
#[tokio::test]
async fn an_altered_proposal_is_carried_out_by_nobody() {
    type Alter = fn(&mut Proposal, &Office);
    let alterations: Vec<(&str, Alter)> = vec![
        ("another user signed", |proposal, _| proposal.user = UserId::random([9; 16])),
        ("no wallets", |proposal, _| proposal.wallets.clear()),
        ("another user without wallets", |proposal, _| {
            proposal.user = UserId::random([9; 16]);
            proposal.wallets.clear();
        }),
        ("the signature of nobody", |proposal, _| proposal.first.signature = "no".to_owned()),
        ("another change", |proposal, _| {
            proposal.first.text = proposal.first.text.replace("client-delete", "client-rotate-secret");
        }),
        ("a text of one's own, signed", |proposal, _| {
            proposal.first.text.push_str("\n- urn:countersign:with:known-as:x");
            proposal.first.signature = sign("toy-ada", &proposal.first.text);
        }),
        ("signed by another operator, they say", |proposal, _| {
            proposal.first.account = toy("toy-cal");
            proposal.wallets = vec![toy("toy-cal")];
        }),
        ("signed by another operator's user, they say", |proposal, _| {
            proposal.wallets.clear();
            proposal.first.account = toy("toy-bob");
            proposal.user = UserId::random([9; 16]);
        }),
    ];
    for (what, alter) in alterations {
        let (office, client, ada, id) = proposed().await;
        let bob = office.operator("toy-bob").await;
        office.operator("toy-cal").await;
        let mut proposal = office.world.storage.find_proposal(id).await.unwrap().unwrap();
        // As if the row had been overwritten.
        let far = proposal.expires_at + Duration::days(1_000);
        assert_eq!(
            office
                .world
                .storage
                .forget_proposals(countersign_conformance::fixtures::past(far), 10)
                .await
                .unwrap(),
            1
        );
        alter(&mut proposal, &office);
        let command = PutProposal { proposal, event: None };
        assert!(office.world.storage.put_proposal(command).await.unwrap());
        let first = begin_countersign(office.desk(), &ada, id, Signing::default()).await;
        assert!(first.is_err(), "{what}: {first:?}");
        // For the other operator it makes no difference what wallets are said to be the first's.
        let second = begin_countersign(office.desk(), &bob, id, Signing::default()).await;
        assert_eq!(second.is_ok(), what == "no wallets", "{what}: {second:?}");
        assert!(is_there(&office, &client).await, "{what}");
    }
}

/// It is kept longer than it may be signed, says the row.
#[tokio::test]
async fn no_row_makes_a_proposal_live_longer() {
    let (office, client, _, id) = proposed().await;
    let mut proposal = office.world.storage.find_proposal(id).await.unwrap().unwrap();
    let far = proposal.expires_at + Duration::days(1_000);
    office.world.storage.forget_proposals(countersign_conformance::fixtures::past(far), 10).await.unwrap();
    proposal.expires_at = far;
    proposal.proposed_at = far - LIFETIME;
    assert!(office.world.storage.put_proposal(PutProposal { proposal, event: None }).await.unwrap());
    office.world.advance(LIFETIME + Duration::hours(1));
    let bob = office.operator("toy-bob").await;
    let refused = begin_countersign(office.desk(), &bob, id, Signing::default()).await;
    assert!(matches!(refused, Err(BeginCountersignError::Gone(ProposalGone::Expired))), "{refused:?}");
    assert!(is_there(&office, &client).await);
}

#[tokio::test]
async fn a_session_alone_countersigns_nothing() {
    let (office, client, _, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let (mut pending, shown) = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    let first = office.world.storage.find_proposal(id).await.unwrap().unwrap().first;
    for signature in ["", "toy-bob", &first.signature, &sign("toy-ada", &shown.text.text)] {
        let signed = SignedText { text: shown.text.text.clone(), signature: signature.to_owned() };
        let refused = complete_change(office.desk(), &bob, &mut pending, signed).await;
        assert!(matches!(refused, Err(CompleteChangeError::Signature(_))), "{refused:?}");
    }
    assert!(is_there(&office, &client).await);
}

/// The newest thousand events of links tell only of `toy-z`.
#[tokio::test]
async fn f_23_five_hundred_links_and_unlinks_of_a_third_wallet_do_not_make_a_second_person() {
    let mut office = Office::new(Quorum::Two);
    office.policy().admins.push(toy("toy-ada-2"));
    office.sign_in("toy-ada").await;
    office.link("toy-ada", "toy-ada-2").await;
    office.unlink("toy-ada", "toy-ada-2").await;
    for _ in 0..500 {
        office.link("toy-ada", "toy-z").await;
        office.unlink("toy-ada", "toy-z").await;
    }
    let (ada, other) = (office.operator("toy-ada").await, office.operator("toy-ada-2").await);
    let client = office.client().await;
    let id = office.propose(&ada, delete(&client)).await;
    is_same_person(&office, &other, id).await;
    let id = office.propose(&other, delete(&client)).await;
    is_same_person(&office, &ada, id).await;
    assert!(is_there(&office, &client).await);
    // The cycles do not keep Ada from signing beside somebody else.
    let bob = office.operator("toy-bob").await;
    office.countersign(&bob, id).await.unwrap();
    assert!(!is_there(&office, &client).await);
}

/// Ada's second wallet never had an account with her first one. It had one with a wallet that had.
#[tokio::test]
async fn f_23_no_chain_of_accounts_makes_a_second_person() {
    for accounts_between in 1..=5 {
        let mut office = Office::new(Quorum::Two);
        office.policy().admins.push(toy("toy-ada-2"));
        office.sign_in("toy-ada").await;
        let mut last = "toy-ada".to_owned();
        for number in 0..accounts_between {
            let next = format!("toy-x{number}");
            office.link(&last, &next).await;
            office.unlink(&last, &next).await;
            office.sign_in(&next).await;
            last = next;
        }
        office.link(&last, "toy-ada-2").await;
        office.unlink(&last, "toy-ada-2").await;
        let (ada, other) = (office.operator("toy-ada").await, office.operator("toy-ada-2").await);
        let client = office.client().await;
        for (first, second) in [(&ada, &other), (&other, &ada)] {
            let id = office.propose(first, delete(&client)).await;
            is_same_person(&office, second, id).await;
        }
        assert!(is_there(&office, &client).await);
        let id = office.propose(&ada, delete(&client)).await;
        office.countersign(&office.operator("toy-bob").await, id).await.unwrap();
    }
}

async fn is_unknown_person(office: &Office, operator: &Operator, id: GrantId) {
    let refused = begin_countersign(office.desk(), operator, id, Signing::default()).await;
    assert!(matches!(refused, Err(BeginCountersignError::PersonUnknown)), "{refused:?}");
    let read = read_proposal(office.desk(), operator, id).await.unwrap().unwrap();
    assert_eq!(read.may_sign, MaySign::PersonUnknown);
}

/// Whoever had so many wallets that they cannot all be followed is nobody's second, nor has one.
#[tokio::test]
async fn f_23_where_it_cannot_be_known_that_two_are_two_nobody_countersigns() {
    let (office, client, ada, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let begun = begin_countersign(office.desk(), &bob, id, Signing::default()).await.unwrap();
    for number in 0..1_000 {
        let wallet = format!("toy-bob-{number}");
        office.link("toy-bob", &wallet).await;
        office.unlink("toy-bob", &wallet).await;
    }
    is_unknown_person(&office, &bob, id).await;
    let refused = office.finish(&bob, begun).await;
    assert!(matches!(refused, Err(CompleteChangeError::PersonUnknown)), "{refused:?}");
    let of_bob = office.propose(&bob, delete(&client)).await;
    is_unknown_person(&office, &ada, of_bob).await;
    assert!(is_there(&office, &client).await);
    office.countersign(&office.operator("toy-cal").await, id).await.unwrap();
}

/// An earlier release forgot a user who had once linked Bob's wallet, and the wallet that the user came with.
#[tokio::test]
async fn f_23_an_event_of_a_user_who_is_gone_leads_to_nobody_knows_whom() {
    let (office, client, _, id) = proposed().await;
    let bob = office.operator("toy-bob").await;
    let (now, context) = (office.world.context.clock.now(), &office.world.context);
    let event = context.event(now, &office.cause, EventKind::WalletUnlinked, |event| {
        event.wallet = Some(toy("toy-bob"));
        event.person = Some(countersign_domain::event::EventPerson::User(UserId::at(now, [7; 10])));
    });
    assert!(office.world.storage.record_event(*event.unwrap()).await.unwrap());
    is_unknown_person(&office, &bob, id).await;
    assert!(is_there(&office, &client).await);
    office.countersign(&office.operator("toy-cal").await, id).await.unwrap();
}
