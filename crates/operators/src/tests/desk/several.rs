//! One text for several people: each of their events is about one, and the text goes with the first whose account is
//! deleted. The record of all others still holds.

use countersign_domain::act::{Act, NamedSubject};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson};
use countersign_domain::id::{EventId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_usecases::act_refused::ActRefused;
use time::Duration;

use super::{Office, Signing, group};
use crate::desk::begin_change::{BeginChangeError, begin_change};
use crate::desk::complete_change::CompleteChangeError;
use crate::events::verify_events::Finding;
use crate::tests::world::toy;

const PEOPLE: [&str; 3] = ["toy-dan", "toy-eve", "toy-fay"];

/// Three people who signed in, and a wallet that no one has signed in with.
async fn four(office: &Office) -> Vec<NamedSubject> {
    let mut members = Vec::new();
    for name in PEOPLE {
        office.sign_in(name).await;
        members.push(Subject::User(office.user(name).await.into()));
    }
    members.push(Subject::Wallet(toy("toy-gus").into()));
    members
}

fn add(members: Vec<NamedSubject>) -> Act {
    Act::AddMembers { group: group("staff"), members }
}

fn create(name: &str, members: Vec<NamedSubject>) -> Act {
    Act::CreateGroup { group: group(name), title: None, members }
}

/// Every text of every event that a database would hold.
fn written(events: &[Event]) -> String {
    let text = |event: &Event| format!("{event:?} {:?}", event.wallet.as_ref().map(WalletAccount::caip10));
    events.iter().map(text).collect()
}

#[tokio::test]
async fn one_signature_puts_several_people_into_a_group_and_the_record_holds() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let members = four(&office).await;
    office.make(&ada, create("made-with", members.clone())).await.unwrap();
    office.make(&ada, create("staff", Vec::new())).await.unwrap();
    office.make(&ada, add(members.clone())).await.unwrap();
    office.make(&ada, Act::RemoveMembers { group: group("staff"), members }).await.unwrap();

    let acts = office.acts().await;
    let of = |kind| acts.iter().filter(move |act| act.kind == kind);
    assert_eq!(of(EventKind::ChangeSigned).count(), 3);
    assert_eq!(of(EventKind::GroupMemberAdded).count(), 8);
    assert_eq!(of(EventKind::GroupMemberRemoved).count(), 4);
    for text in of(EventKind::ChangeSigned) {
        let signed = text.signed.as_ref().unwrap().as_str();
        assert!(PEOPLE.iter().all(|name| signed.contains(name)) && signed.contains("toy-gus"), "{signed}");
        assert_eq!((text.person, &text.wallet), (None, &None));
        let named = acts.iter().filter(|act| act.details.signed_in() == Some(text.id));
        assert!(named.clone().all(|act| act.id > text.id && act.signed.is_none()));
        assert!((4..=5).contains(&named.count()));
    }
    // One for each text, and that of the group without members.
    assert_eq!(office.verify().await.unwrap().signatures, 4);
}

#[tokio::test]
async fn the_text_goes_with_the_first_of_its_people_and_everyone_elses_record_holds() {
    for is_sealed in [false, true] {
        let office = Office::new(Quorum::One);
        let ada = office.operator("toy-ada").await;
        office.make(&ada, create("staff", Vec::new())).await.unwrap();
        let members = four(&office).await;
        office.make(&ada, add(members.clone())).await.unwrap();
        if is_sealed {
            office.verify().await.unwrap();
        }
        let before = office.events().await;
        let (eve, fay) = (office.user("toy-eve").await, office.user("toy-fay").await);
        office.make(&ada, Act::DeleteUser { user: eve.into() }).await.unwrap();
        let after = office.events().await;
        let left = written(&after);
        assert!(!left.contains("toy-eve") && !left.contains(&eve.to_string()), "{left}");
        let is_of = |event: &Event, user: UserId| event.person == Some(EventPerson::User(user));
        for event in before.iter().filter(|event| !is_of(event, eve)) {
            let now = after.iter().find(|now| now.id == event.id).unwrap();
            if event.kind == EventKind::ChangeSigned {
                assert!(now.signed.is_none() && matches!(now.person, Some(EventPerson::Deleted(_))));
            } else {
                assert_eq!(now, event);
            }
        }
        assert_eq!(office.verify().await.unwrap().signatures, 1, "that of the group");
        // The next one finds no text any more.
        office.make(&ada, Act::DeleteUser { user: fay.into() }).await.unwrap();
        let left = written(&office.events().await);
        assert!(!left.contains("toy-fay") && left.contains("toy-dan"), "{left}");
        office.verify().await.unwrap();
    }
}

/// Seals these events with the server's key, and verifies.
async fn judged(events: Vec<Event>) -> Result<u64, Finding> {
    let office = Office::new(Quorum::One);
    for event in events {
        office.world.storage.record_event(event).await.unwrap();
    }
    match office.verify().await {
        Ok(verified) => Ok(verified.signatures),
        Err(broken) => Err(broken.finding),
    }
}

/// A text and the events that name it.
async fn shared() -> Vec<Event> {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let members = four(&office).await;
    office.make(&ada, create("staff", members)).await.unwrap();
    office.acts().await
}

/// K-05: the database and even the server's keys are not enough to say that an operator put someone into a group.
#[tokio::test]
async fn an_event_that_its_text_does_not_say_is_found() {
    let events = Box::pin(shared()).await;
    assert_eq!(judged(events.clone()).await, Ok(1));
    let (text, rest) = events.split_first().unwrap();
    assert_eq!(text.kind, EventKind::ChangeSigned);
    let member = rest.iter().find(|event| event.wallet.is_some()).unwrap();
    let otherwise = |id, what| Err(Finding::SignedOtherwise { event: id, what });
    let with = |alter: fn(&mut Event)| {
        let mut altered = member.clone();
        alter(&mut altered);
        altered
    };
    for (altered, what) in [
        (with(|event| event.wallet = Some(toy("toy-mallory"))), "another member"),
        (with(|event| event.wallet = None), "another member"),
        (with(|event| event.person = Some(EventPerson::User(UserId::random([9; 16])))), "another member"),
        (with(|event| event.kind = EventKind::GroupMemberRemoved), "another kind of act"),
        (with(|event| event.kind = EventKind::ClientDeleted), "another kind of act"),
        (with(|event| event.actor = Actor::Wallet("toy:1:toy-bob".to_owned())), "another actor"),
    ] {
        assert_eq!(judged(vec![text.clone(), altered]).await, otherwise(member.id, what));
    }
    let name = |details: Details| {
        let mut named = Event { details, ..member.clone() };
        named.name_text(text.id);
        named
    };
    let ops = name(Details::default().text("group", "ops"));
    assert_eq!(judged(vec![text.clone(), ops]).await, otherwise(member.id, "other details"));
    let id = EventId::at(member.id.at_time() + Duration::minutes(1), [7; 10]);
    let later = Event { id, ..member.clone() };
    assert_eq!(judged(vec![text.clone(), later]).await, otherwise(id, "another time"));
    let unnamed = Event { details: Details::default().text("group", "staff"), ..member.clone() };
    let unsigned = Err(Finding::Unsigned { event: member.id });
    assert_eq!(judged(vec![text.clone(), unnamed]).await, unsigned);
    // The text as if it were the signature of one member, and of another kind of act.
    let lent = Event { signed: text.signed.clone(), ..member.clone() };
    assert_eq!(judged(vec![lent]).await, otherwise(member.id, "another number of people"));
    let renamed = Event { kind: EventKind::GroupCreated, ..text.clone() };
    assert_eq!(judged(vec![renamed]).await, otherwise(text.id, "another number of people"));
}

#[tokio::test]
async fn what_a_second_operator_signs_names_one_member_and_each_member_is_as_read() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let members = four(&office).await;
    office.make(&ada, create("staff", Vec::new())).await.unwrap();
    for change in [create("ops", members.clone()), create("ops", members[..1].to_vec())] {
        let refused = begin_change(office.desk(), &ada, change, Signing::default()).await.unwrap_err();
        assert!(matches!(refused, BeginChangeError::Refused(ActRefused::OneAtATime)), "{refused:?}");
    }
    // One of them is deleted while the operator reads.
    let begun = office.begin(&ada, add(members.clone())).await;
    let cal = office.operator("toy-cal").await;
    let eve = office.user("toy-eve").await;
    let delete = office.propose(&ada, Act::DeleteUser { user: eve.into() }).await;
    office.countersign(&cal, delete).await.unwrap();
    let refused = office.finish(&ada, begun).await.unwrap_err();
    assert!(
        matches!(refused, CompleteChangeError::Stale(_) | CompleteChangeError::Refused(_)),
        "{refused:?}"
    );
    let counted = office.world.storage.find_group(&group("staff")).await.unwrap().unwrap();
    assert_eq!((counted.users, counted.wallets), (0, 0), "all of them or none");
    // Who is in it already is said, and stays; if all are, nothing changes.
    let staying = vec![members[0].clone(), members[3].clone()];
    office.make(&ada, add(staying[..1].to_vec())).await.unwrap();
    office.make(&ada, add(staying.clone())).await.unwrap();
    let refused = begin_change(office.desk(), &ada, add(staying), Signing::default()).await.unwrap_err();
    assert!(matches!(refused, BeginChangeError::Refused(ActRefused::NoChange)), "{refused:?}");
    office.verify().await.unwrap();
}
