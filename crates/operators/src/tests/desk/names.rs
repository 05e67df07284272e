//! Operators name people: texts quote the names, and no name outlives the account that it belongs to.

use countersign_domain::act::{Act, NamedSubject};
use countersign_domain::desk::operators::Quorum;
use countersign_domain::event::{Event, EventKind};
use countersign_domain::person_name::PersonName;
use countersign_domain::subject::Subject;
use countersign_usecases::act_refused::ActRefused;

use super::{Office, Signing, group};
use crate::desk::begin_change::{BeginChangeError, begin_change};
use crate::desk::search::{Found, search};
use crate::people::names::{Names, people_of};
use crate::tests::world::toy;

fn name(text: &str) -> Option<PersonName> {
    Some(PersonName::parse(text).unwrap())
}

async fn call(office: &Office, who: NamedSubject, text: &str) {
    let ada = office.operator("toy-ada").await;
    office.make(&ada, Act::Name { who, name: name(text) }).await.unwrap();
}

fn written(events: &[Event]) -> String {
    events.iter().map(|event| format!("{event:?} {:?}", event.signed)).collect()
}

#[tokio::test]
async fn a_text_quotes_the_names_of_all_whom_it_is_about() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    let (user, gus) = (NamedSubject::User(eve.into()), NamedSubject::Wallet(toy("toy-gus").into()));
    // What looks like the server's own words, or like those of a member.
    call(&office, user.clone(), "Eve'. Delete the group staff.").await;
    call(&office, gus.clone(), "Gus (U+0027)").await;
    let text = async |act: Act| office.begin(&ada, act).await.1.text.text;
    let eves = "called 'Eve(U+0027). Delete the group staff.'";
    let block = text(Act::Block { who: user.clone(), reason: None }).await;
    assert!(
        block.contains(&format!("Keep user {eve} {eves}, who has the wallet toy:1:toy-eve, out.")),
        "{block}"
    );
    let of_wallet = text(Act::Block { who: Subject::Wallet(toy("toy-eve").into()), reason: None }).await;
    assert!(of_wallet.contains(&format!("Keep wallet toy:1:toy-eve {eves} out.")), "{of_wallet}");
    let both =
        text(Act::CreateGroup { group: group("staff"), title: None, members: vec![user.clone(), gus] }).await;
    let gus = "the wallet toy:1:toy-gus called 'Gus (U+0027)'";
    assert!(both.contains(&format!("the user {eves} with the wallet toy:1:toy-eve, {gus}.")), "{both}");
    let rename = text(Act::Name { who: user.clone(), name: name("Eve") }).await;
    let before = format!("Give user {eve} {eves}, who has the wallet toy:1:toy-eve, the name 'Eve'.");
    assert!(rename.contains(&before), "{rename}");
    let same = Act::Name { who: user, name: name("Eve'. Delete the group staff.") };
    let refused = begin_change(office.desk(), &ada, same, Signing::default()).await.unwrap_err();
    assert!(matches!(refused, BeginChangeError::Refused(ActRefused::NoChange)), "{refused:?}");
    assert_eq!(office.verify().await.unwrap().signatures, 2);
}

#[tokio::test]
async fn an_operator_who_was_overtaken_by_another_name_reads_anew() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    let gus = || NamedSubject::Wallet(toy("toy-gus").into());
    let begun = office.begin(&ada, Act::Name { who: gus(), name: name("Gus") }).await;
    call(&office, gus(), "Gustav").await;
    assert!(office.finish(&ada, begun).await.is_err());
    let names = Names::of(&*office.world.storage, [Subject::Wallet(toy("toy-gus"))]).await.unwrap();
    assert_eq!(names.text(&Subject::Wallet(toy("toy-gus"))), Some("Gustav"));
}

/// F-27: with the account go its names, in the events and texts about its wallets too, and what others did still verifies.
#[tokio::test]
async fn no_name_outlives_its_account_and_the_record_of_everyone_else_verifies() {
    for is_sealed in [false, true] {
        let office = Office::new(Quorum::One);
        let ada = office.operator("toy-ada").await;
        office.sign_in("toy-fay").await;
        let (eve, fay) = (NamedSubject::Wallet(toy("toy-eve").into()), office.user("toy-fay").await);
        // Before anyone signs in with it, a wallet is named, blocked for a while, and put into a group beside others.
        call(&office, eve.clone(), "Eve Young").await;
        call(&office, NamedSubject::User(fay.into()), "Fay Old").await;
        office.make(&ada, Act::Block { who: eve.clone(), reason: None }).await.unwrap();
        office.make(&ada, Act::Unblock { who: eve.clone() }).await.unwrap();
        let members = vec![eve, NamedSubject::User(fay.into())];
        office.make(&ada, Act::CreateGroup { group: group("staff"), title: None, members }).await.unwrap();
        office.sign_in("toy-eve").await;
        let user = office.user("toy-eve").await;
        call(&office, NamedSubject::User(user.into()), "Evelyn").await;
        if is_sealed {
            office.verify().await.unwrap();
        }
        let before = office.events().await;
        let said = written(&before);
        assert!(said.contains("Eve Young") && said.contains("Evelyn") && said.contains("Fay Old"));
        office.make(&ada, Act::DeleteUser { user: user.into() }).await.unwrap();
        let after = office.events().await;
        let left = written(&after);
        for gone in ["Eve Young", "Evelyn", "toy-eve", &user.to_string()] {
            assert!(!left.contains(gone), "{gone}: {left}");
        }
        assert!(left.contains("Fay Old") && left.contains(&fay.to_string()), "{left}");
        // That of Fay's name. The text of the group named both.
        assert_eq!(office.verify().await.unwrap().signatures, 1);
        let happened = |events: &[Event], kind| events.iter().filter(|event| event.kind == kind).count();
        for kind in [EventKind::WalletBlocked, EventKind::WalletNamed, EventKind::GroupMemberAdded] {
            assert_eq!(
                happened(&after, kind),
                happened(&before, kind),
                "{}: it is still known that it happened",
                kind.name()
            );
        }
        let names = Names::of(&*office.world.storage, [Subject::Wallet(toy("toy-eve"))]).await.unwrap();
        assert_eq!(names.text(&Subject::Wallet(toy("toy-eve"))), None);
    }
}

#[tokio::test]
async fn a_wallet_is_found_as_pages_and_logs_shorten_it() {
    let office = Office::new(Quorum::One);
    for wallet in ["toy-eve", "toy-everyone", "toy-fay"] {
        office.sign_in(wallet).await;
    }
    let user = |wallet| office.user(wallet);
    let found = async |text: &str| search(office.desk(), text, None).await.unwrap().found;
    let eve = Found::Wallet(toy("toy-eve"), Some(user("toy-eve").await));
    let everyone = Found::Wallet(toy("toy-everyone"), Some(user("toy-everyone").await));
    assert_eq!(found("TOY-EV").await, [eve, everyone.clone()]);
    for text in ["toy-ev…one", "toy-ev...one", "toy:1:toy-ev…one"] {
        assert_eq!(found(text).await, std::slice::from_ref(&everyone), "{text}");
    }
    for text in ["toy-ev…xx", "to…one", "…one", "toy-x…"] {
        assert_eq!(found(text).await, [], "{text}");
    }
}

#[tokio::test]
async fn people_are_found_by_the_beginning_of_their_names_and_events_name_who_acted() {
    let office = Office::new(Quorum::One);
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    call(&office, NamedSubject::User(eve.into()), "Eve Young").await;
    call(&office, NamedSubject::Wallet(toy("toy-gus").into()), "eveline").await;
    call(&office, NamedSubject::Wallet(toy("toy-ada").into()), "Ada").await;
    let found = search(office.desk(), "EVE", None).await.unwrap().found;
    let expected = [Found::User(eve, Some(toy("toy-eve"))), Found::Wallet(toy("toy-gus"), None)];
    assert_eq!(found, expected);
    let acts = office.acts().await;
    let names = Names::of(&*office.world.storage, acts.iter().flat_map(people_of)).await.unwrap();
    assert!(acts.iter().all(|act| names.of_actor(&act.actor) == Some("Ada")));
}
