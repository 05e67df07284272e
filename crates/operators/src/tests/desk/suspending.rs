//! An operator suspends another: from then on the desk is gone for them, whatever they prepared.

use countersign_domain::desk::proposal::ProposalState;
use countersign_usecases::act_refused::ActRefused;

use super::*;
use crate::desk::begin_change::BeginChangeError;
use crate::desk::oneself::WORD;
use crate::desk::proposals::{BeginCountersignError, ProposalGone};
use crate::people::delete_user::delete_user;
use crate::people::list_operators::{MOST_OPERATORS, Through, list_operators};
use crate::people::suspend::{restore, suspend};

fn operator(address: &str) -> Subject {
    Subject::Wallet(toy(address))
}

fn suspending(address: &str) -> Act {
    Act::Suspend { who: operator(address).into(), reason: Some("last day".to_owned()) }
}

async fn state(office: &Office, id: GrantId) -> ProposalState {
    office.world.storage.find_proposal(id).await.unwrap().unwrap().state
}

/// Suspends them as the command line does.
async fn suspend_now(office: &Office, who: Subject) {
    suspend(office.world.context.management(), who, None).await.unwrap();
}

#[tokio::test]
async fn a_suspended_operator_sees_nothing_and_signs_nothing_with_one_signature_even_among_two() {
    let office = Office::new(Quorum::Two);
    let (ada, browser) = (office.operator("toy-ada").await, office.sign_in("toy-bob").await);
    let bob = office.recognize(&browser).await.unwrap();
    let early = office.begin(&bob, block("toy-eve")).await;
    let Completed::Done { .. } = office.make(&ada, suspending("toy-bob")).await.unwrap() else {
        panic!("one signature is enough")
    };
    assert_eq!(office.recognize(&browser).await, None);
    assert_eq!(office.recognize(&office.sign_in("toy-bob").await).await, None);
    let refused = office.finish(&bob, early).await;
    assert!(matches!(refused, Err(CompleteChangeError::NotOperator)), "{refused:?}");
    assert!(!office.is_blocked("toy-eve").await);

    let restoring = Act::Restore { who: operator("toy-bob").into() };
    let id = office.propose(&ada, restoring).await;
    let cal = office.operator("toy-cal").await;
    office.countersign(&cal, id).await.unwrap();
    assert!(office.recognize(&browser).await.is_some());
    office.verify().await.unwrap();
}

#[tokio::test]
async fn their_proposals_end_and_the_event_leads_to_the_suspension() {
    let office = Office::new(Quorum::Two);
    let (ada, bob, cal) = (
        office.operator("toy-ada").await,
        office.operator("toy-bob").await,
        office.operator("toy-cal").await,
    );
    let id = office.propose(&bob, delete(&office.client().await)).await;
    let of_ada = office.propose(&ada, delete(&office.client().await)).await;
    let begun = begin_countersign(office.desk(), &cal, id, Signing::default()).await.unwrap();
    office.make(&ada, suspending("toy-bob")).await.unwrap();
    assert_eq!(state(&office, id).await, ProposalState::Suspended);
    assert_eq!(state(&office, of_ada).await, ProposalState::Waiting);
    let refused = office.finish(&cal, begun).await;
    let is_gone = matches!(refused, Err(CompleteChangeError::ProposalGone(ProposalGone::FirstSuspended)));
    assert!(is_gone, "{refused:?}");
    let suspended = office.act(EventKind::OperatorSuspended).await;
    let events = office.events().await;
    let ended = events.iter().find(|event| event.kind == EventKind::ChangeWithdrawn).unwrap();
    assert!(ended.details.as_str().contains(&suspended.id.to_string()), "{ended:?}");
    office.verify().await.unwrap();
}

#[tokio::test]
async fn no_wallet_and_no_account_that_hangs_together_with_theirs_helps() {
    let office = Office::new(Quorum::One);
    // An account that was prepared: its wallet was linked to the other one once.
    office.sign_in("toy-bob").await;
    office.link("toy-bob", "toy-cal").await;
    office.unlink("toy-bob", "toy-cal").await;
    let prepared = office.sign_in("toy-cal").await;
    assert!(office.recognize(&prepared).await.is_some());
    suspend_now(&office, operator("toy-bob")).await;
    assert_eq!(office.recognize(&prepared).await, None);

    office.link("toy-bob", "toy-new").await;
    office.unlink("toy-new", "toy-bob").await;
    let key = &office.world.context.keys.record;
    delete_user(office.world.context.management(), key, office.user("toy-new").await).await.unwrap();
    let management = office.world.context.management();
    for wallet in ["toy-bob", "toy-new", "toy-cal"] {
        let browser = office.sign_in(wallet).await;
        assert_eq!(office.recognize(&browser).await, None, "{wallet}");
    }
    assert!(restore(management, operator("toy-bob")).await.unwrap());
    assert!(office.recognize(&office.sign_in("toy-bob").await).await.is_some());
}

#[tokio::test]
async fn only_operators_are_suspended_and_all_of_them_are_listed() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let refused = begin_change(office.desk(), &ada, suspending("toy-eve"), Signing::default()).await;
    assert!(matches!(refused, Err(BeginChangeError::Refused(ActRefused::NotOperator(_)))), "{refused:?}");
    suspend_now(&office, operator("toy-cal")).await;
    let again = begin_change(office.desk(), &ada, suspending("toy-cal"), Signing::default()).await;
    assert!(matches!(again, Err(BeginChangeError::Refused(ActRefused::NoChange))), "{again:?}");
    let listed = list_operators(office.world.context.management(), MOST_OPERATORS).await.unwrap();
    let listed: Vec<_> = listed
        .operators
        .iter()
        .map(|listed| (listed.who.to_string(), listed.through, listed.suspension.is_some()))
        .collect();
    let of_settings = |name: &str, is_suspended| (format!("toy:1:{name}"), Through::Settings, is_suspended);
    assert_eq!(
        listed,
        [of_settings("toy-ada", false), of_settings("toy-bob", false), of_settings("toy-cal", true)]
    );
}

#[tokio::test]
async fn operators_type_a_word_before_they_lock_themselves_out() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.link("toy-ada", "toy-spare").await;
    let user = ada.session.user;
    for change in [
        block("toy-spare"),
        Act::Block { who: Subject::User(user.into()), reason: None },
        suspending("toy-spare"),
        Act::Suspend { who: Subject::User(user.into()), reason: None },
    ] {
        for typed in [None, Some("MYSELF"), Some("")] {
            let refused = begin_change(office.desk(), &ada, change.clone(), saying(typed)).await;
            assert!(matches!(refused, Err(BeginChangeError::AboutOneself)), "{change:?}: {refused:?}");
        }
        begin_change(office.desk(), &ada, change, saying(Some(WORD))).await.unwrap();
    }
    begin_change(office.desk(), &ada, suspending("toy-bob"), Signing::default()).await.unwrap();
}

#[tokio::test]
async fn operators_type_the_word_too_when_they_are_the_second_to_sign() {
    let office = Office::new(Quorum::Two);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    let id = office.propose(&bob, block("toy-ada")).await;
    for typed in [None, Some("MYSELF"), Some("")] {
        let refused = begin_countersign(office.desk(), &ada, id, saying(typed)).await;
        let is_refused = matches!(refused, Err(BeginCountersignError::Begin(BeginChangeError::AboutOneself)));
        assert!(is_refused, "{refused:?}");
    }
    begin_countersign(office.desk(), &ada, id, saying(Some(WORD))).await.unwrap();
}
