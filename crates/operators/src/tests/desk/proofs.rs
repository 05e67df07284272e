//! Whoever has the database, and even the server's keys, cannot make an operator's signature. So a change that no
//! operator signed is found, although the seal over it holds.

use countersign_domain::act::{Act, OfflineAccess};
use countersign_domain::checkpoint::{Salt, SealedEvent};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::event::{Actor, Details, Event, EventKind, EventPerson, Signed};
use countersign_domain::id::{ClientId, EventId, UserId};
use countersign_domain::subject::Subject;
use serde_json::{Value, json};
use time::Duration;

use super::{Office, block, delete, id_of};
use crate::events::verify_events::Finding;
use crate::tests::world::{sign, toy};

/// The act of one operator: Ada deletes a client.
async fn of_one() -> Event {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    office.make(&ada, delete(&client)).await.unwrap();
    office.acts().await.pop().unwrap()
}

/// The act of two operators: Ada proposes to delete a client, and Bob signs it too.
async fn of_two() -> (Event, Event) {
    let office = Office::new(Quorum::Two);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    let client = office.client().await;
    let id = office.propose(&ada, delete(&client)).await;
    office.countersign(&bob, id).await.unwrap();
    (office.act(EventKind::ChangeProposed).await, office.act(EventKind::ClientDeleted).await)
}

/// Seals an event with the server's key, and verifies.
async fn judged(event: Event) -> Result<u64, Finding> {
    let office = Office::new(Quorum::One);
    office.world.storage.record_event(event).await.unwrap();
    match office.verify().await {
        Ok(verified) => Ok(verified.signatures),
        Err(broken) => Err(broken.finding),
    }
}

/// Changes what an event has under `signed`.
fn resigned(event: &Event, alter: impl FnOnce(&mut Value)) -> Event {
    let mut signed: Value = serde_json::from_str(event.signed.as_ref().unwrap().as_str()).unwrap();
    alter(&mut signed);
    Event { signed: Some(Signed::from_stored(signed.to_string())), ..event.clone() }
}

/// Replaces a part of one text, and signs it with a wallet of one's own.
fn rewritten(event: &Event, from: &str, to: &str, signer: &str) -> Event {
    resigned(event, |signed| {
        let text = signed["signatures"][0]["text"].as_str().unwrap().replace(from, to);
        assert_ne!(signed["signatures"][0]["text"], text.as_str(), "{from}");
        signed["signatures"][0]["signature"] = sign(signer, &text).into();
        signed["signatures"][0]["text"] = text.into();
    })
}

#[tokio::test]
async fn what_operators_signed_holds() {
    assert_eq!(judged(of_one().await).await, Ok(1));
    let (proposed, done) = Box::pin(of_two()).await;
    assert_eq!(judged(proposed).await, Ok(1));
    assert_eq!(judged(done).await, Ok(2));
}

#[tokio::test]
async fn an_act_of_a_wallet_without_a_signature_is_found() {
    let act = of_one().await;
    let event = act.id;
    assert_eq!(judged(Event { signed: None, ..act }).await, Err(Finding::Unsigned { event }));
}

#[tokio::test]
async fn what_cannot_be_read_is_found() {
    let act = of_one().await;
    let unreadable = Err(Finding::SignedUnreadable { event: act.id });
    for signed in ["", "{}", "[]", "{\"change\":\"x\",\"signatures\":[]}"] {
        let signed = Some(Signed::from_stored(signed.to_owned()));
        assert_eq!(judged(Event { signed, ..act.clone() }).await, unreadable);
    }
    let alterations: [fn(&mut Value); 5] = [
        |signed| signed["more"] = json!(1),
        |signed| signed["change"] = json!("nobody's"),
        |signed| signed["signatures"][0]["text"] = json!("Delete it."),
        |signed| signed["signatures"][0]["text"] = json!(""),
        |signed| signed["signatures"][0] = json!({}),
    ];
    for alter in alterations {
        assert_eq!(judged(resigned(&act, alter)).await, unreadable);
    }
    // Words that were put into another change's mouth.
    let words = rewritten(&act, "Delete the client", "Greet the client", "toy-ada");
    assert_eq!(judged(words).await, unreadable);
}

#[tokio::test]
async fn an_altered_text_or_signature_is_found() {
    let act = of_one().await;
    let invalid = Err(Finding::SignatureInvalid { event: act.id });
    let alterations: [fn(&mut Value); 3] = [
        |signed| signed["signatures"][0]["signature"] = json!(""),
        |signed| signed["signatures"][0]["signature"] = json!("toy-ada signs something"),
        |signed| {
            // A nonce is not looked at; the signature covers it.
            let text = signed["signatures"][0]["text"].as_str().unwrap();
            let nonce = text.split_once("Nonce: ").unwrap().1.split('\n').next().unwrap().to_owned();
            let text = text.replace(&nonce, &"0".repeat(nonce.len()));
            signed["signatures"][0]["text"] = json!(text);
        },
    ];
    for alter in alterations {
        assert_eq!(judged(resigned(&act, alter)).await, invalid);
    }
    // Signed anew, but by another's wallet.
    let nonce = rewritten(&act, "Nonce: ", "Nonce: 0", "toy-eve");
    assert_eq!(judged(nonce).await, invalid);
}

#[tokio::test]
async fn another_subject_actor_time_or_server_is_found() {
    let act = of_one().await;
    let otherwise = |what| Err(Finding::SignedOtherwise { event: act.id, what });
    let other_client = ClientId::of_document("other");
    let with = |alter: fn(&mut Event)| {
        let mut event = act.clone();
        alter(&mut event);
        event
    };
    let cases: Vec<(Event, &'static str)> = vec![
        (Event { client: Some(other_client), ..act.clone() }, "another client"),
        (with(|event| event.client = None), "another client"),
        (with(|event| event.wallet = Some(toy("toy-eve"))), "another wallet"),
        (with(|event| event.kind = EventKind::ClientRegistered), "another kind of act"),
        (with(|event| event.kind = EventKind::AccountDeleted), "another kind of act"),
        (with(|event| event.actor = Actor::Wallet("toy:1:toy-bob".to_owned())), "another actor"),
        (
            with(|event| event.actor = Actor::CommandLine("root@host".to_owned())),
            "no one who acted with a wallet",
        ),
        (with(|event| event.actor = Actor::Server), "no one who acted with a wallet"),
        (with(|event| event.kind = EventKind::ChangeProposed), "other details"),
    ];
    for (event, what) in cases {
        assert_eq!(judged(event).await, otherwise(what));
    }
    // The same signature, kept for later or for before.
    for offset in [Duration::hours(1), Duration::days(30), -Duration::hours(1)] {
        let at = act.id.at_time() + offset;
        let id = EventId::at(at, [7; 10]);
        let moved = Event { id, ..act.clone() };
        let expected = Err(Finding::SignedOtherwise { event: id, what: "another time" });
        assert_eq!(judged(moved).await, expected);
    }
    // A text that another server made, which an operator was tricked to sign there.
    let phished = rewritten(&act, "auth.example.com", "evil.example", "toy-ada");
    assert_eq!(judged(phished).await, otherwise("another server"));
    // A signature for another change, with or without its id.
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.make(&ada, block("toy-mallory")).await.unwrap();
    let other = office.acts().await.pop().unwrap();
    let borrowed = Event { signed: other.signed, ..act.clone() };
    assert_eq!(judged(borrowed).await, otherwise("another kind of act"));
    let renamed = resigned(&act, |signed| {
        signed["change"] = json!(countersign_domain::id::GrantId::at(act.id.at_time(), [9; 10]).to_string());
    });
    assert_eq!(judged(renamed).await, otherwise("another change"));
    // The wallet that is said to have signed is not the one that the text names.
    let said = resigned(&act, |signed| signed["signatures"][0]["wallet"] = json!("toy:1:toy-eve"));
    let said = Event { actor: Actor::Wallet("toy:1:toy-eve".to_owned()), ..said };
    assert_eq!(judged(said).await, otherwise("another wallet"));
}

#[tokio::test]
async fn another_user_group_or_detail_is_found() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    office.make(&ada, Act::Block { who: Subject::User(eve.into()), reason: None }).await.unwrap();
    let act = office.act(EventKind::UserBlocked).await;
    assert_eq!(judged(act.clone()).await, Ok(1));
    for person in [None, Some(EventPerson::User(UserId::random([9; 16])))] {
        let expected = Err(Finding::SignedOtherwise { event: act.id, what: "another user" });
        assert_eq!(judged(Event { person, ..act.clone() }).await, expected);
    }
    office
        .make(&ada, Act::CreateGroup { group: super::group("staff"), title: None, members: Vec::new() })
        .await
        .unwrap();
    let act = office.act(EventKind::GroupCreated).await;
    for details in
        [Details::default(), Details::default().text("group", "ops"), Details::from_stored("x".to_owned())]
    {
        let expected = Err(Finding::SignedOtherwise { event: act.id, what: "other details" });
        assert_eq!(judged(Event { details, ..act.clone() }).await, expected);
    }
}

#[tokio::test]
async fn a_removed_exchanged_or_doubled_second_signature_is_found() {
    let (_, done) = Box::pin(of_two()).await;
    let otherwise = |what| Err(Finding::SignedOtherwise { event: done.id, what });
    let one = |place: usize| {
        resigned(&done, |signed| {
            let kept = signed["signatures"][place].take();
            signed["signatures"] = json!([kept]);
        })
    };
    // The first alone is good for no act of the second; and the second alone for none.
    assert_eq!(judged(one(0)).await, otherwise("another actor"));
    assert_eq!(judged(one(1)).await, otherwise("another change"));
    let swapped = resigned(&done, |signed| {
        let list = signed["signatures"].as_array_mut().unwrap();
        list.swap(0, 1);
    });
    assert_eq!(judged(swapped).await, otherwise("another change"));
    let doubled = resigned(&done, |signed| signed["signatures"][1] = signed["signatures"][0].clone());
    assert_eq!(judged(doubled).await, otherwise("two different changes"));
    let three = resigned(&done, |signed| {
        let more = signed["signatures"][1].clone();
        signed["signatures"].as_array_mut().unwrap().push(more);
    });
    assert_eq!(judged(three).await, otherwise("another change"));
    let none = resigned(&done, |signed| signed["signatures"] = json!([]));
    assert_eq!(judged(none).await, otherwise("another change"));
    // One of them signed both.
    let alone = resigned(&done, |signed| {
        let text = signed["signatures"][1]["text"].as_str().unwrap().replace("toy-bob", "toy-ada");
        signed["signatures"][1] =
            json!({ "wallet": "toy:1:toy-ada", "signature": sign("toy-ada", &text), "text": text });
    });
    let alone = Event { actor: Actor::Wallet("toy:1:toy-ada".to_owned()), ..alone };
    assert_eq!(judged(alone).await, otherwise("one wallet twice"));
    let wrong = resigned(&done, |signed| signed["signatures"][0]["signature"] = json!("no"));
    assert_eq!(judged(wrong).await, Err(Finding::SignatureInvalid { event: done.id }));
}

/// What nobody can verify here is counted, and named.
#[tokio::test]
async fn a_signature_of_a_wallet_that_only_a_chain_knows_is_counted_and_not_believed() {
    let act = of_one().await;
    let elsewhere = resigned(&act, |signed| signed["signatures"][0]["wallet"] = json!("other:1:toy-ada"));
    let elsewhere = Event { actor: Actor::Wallet("other:1:toy-ada".to_owned()), ..elsewhere };
    let office = Office::new(Quorum::One);
    office.world.storage.record_event(elsewhere).await.unwrap();
    let verified = office.verify().await.unwrap();
    assert_eq!((verified.signatures, verified.signatures_unchecked), (0, 1));
    let signers: Vec<_> = verified.signers.into_iter().collect();
    assert_eq!(signers, [("other:1:toy-ada".to_owned(), 1)]);
}

/// Anybody can sign with a wallet of their own. Who signed is told, for those who know the operators.
#[tokio::test]
async fn who_signed_is_told() {
    let (proposed, done) = Box::pin(of_two()).await;
    let office = Office::new(Quorum::One);
    for event in [proposed, done] {
        office.world.storage.record_event(event).await.unwrap();
    }
    let signers: Vec<_> = office.verify().await.unwrap().signers.into_iter().collect();
    assert_eq!(signers, [("toy:1:toy-ada".to_owned(), 2), ("toy:1:toy-bob".to_owned(), 1)]);
}

/// Without the server's keys, the seal tells already.
#[tokio::test]
async fn a_sealed_event_is_not_faithful_to_another_signature() {
    let act = of_one().await;
    let sealed = SealedEvent::seal(1, act, Salt::new([1; 16]));
    assert!(sealed.is_faithful());
    let alterations: [fn(&mut Event); 2] = [
        |event| event.signed = None,
        |event| {
            let text = event.signed.as_ref().unwrap().as_str().replace("toy-ada", "toy-eve");
            event.signed = Some(Signed::from_stored(text));
        },
    ];
    for alter in alterations {
        let mut altered = sealed.clone();
        alter(&mut altered.event);
        assert!(!altered.is_faithful());
    }
}

/// The text of a change names whom it is about. It goes with the account, and the rest still holds.
#[tokio::test]
async fn deleting_an_account_takes_the_texts_about_it_away_and_everything_holds() {
    let office = Office::new(Quorum::Two);
    let (ada, bob) = (office.operator("toy-ada").await, office.operator("toy-bob").await);
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    let client = office.client().await;
    office.make(&ada, Act::SignOut { user: eve.into(), offline: Some(OfflineAccess::Ended) }).await.unwrap();
    let rule = Some(countersign_domain::admission::AccessRule::Nobody);
    let other = Act::SetAccess { client: id_of(&client).into(), rule, release: None };
    office.make(&ada, other).await.unwrap();
    let before = office.verify().await.unwrap();
    assert_eq!(before.signatures, 2);

    let id = office.propose(&ada, Act::DeleteUser { user: eve.into() }).await;
    office.countersign(&bob, id).await.unwrap();

    let verified = office.verify().await.unwrap();
    assert_eq!(verified.signatures, 1, "only the change that was not about the person is proven");
    for event in office.events().await {
        let signed = event.signed.as_ref().map_or("", Signed::as_str);
        assert!(!signed.contains(&eve.to_string()) && !signed.contains("toy-eve"), "{event:?}");
    }
}
