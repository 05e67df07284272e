//! Who may read, and what an operator finds.

use countersign_domain::desk::change::Change;
use countersign_domain::desk::operators::Quorum;
use countersign_domain::email::{EmailAddress, EmailConfirmation};
use countersign_domain::event::EventKind;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_ports::{Blocked, ConfirmEmail, Member, PutEmail, SharedAddress};
use time::Duration;

use super::{Office, block, delete, group, id_of};
use crate::desk::overview::{Counted, read_overview};
use crate::desk::proposals::operators_with_mail;
use crate::desk::recognize_operator::Operator;
use crate::desk::search::{Found, search};
use crate::steps::login::Browser;
use crate::tests::world::toy;

#[tokio::test]
async fn an_operator_is_whom_the_settings_or_the_group_name_and_nobody_else() {
    let mut office = Office::new(Quorum::One);
    assert_eq!(office.recognize(&Browser::default()).await, None, "nobody is signed in");
    let (ada, eve) = (office.sign_in("toy-ada").await, office.sign_in("toy-eve").await);
    assert_eq!(office.recognize(&ada).await.unwrap().wallets, [toy("toy-ada")]);
    assert_eq!(office.recognize(&eve).await, None);

    let user = office.user("toy-eve").await;
    office.world.join("ops", Member::User(user)).await;
    office.link("toy-eve", "toy-eve-2").await;
    let operator = office.recognize(&eve).await.unwrap();
    assert_eq!(operator.wallets, [toy("toy-eve"), toy("toy-eve-2")], "the session's own first");
    office.world.block(Blocked::Wallet(toy("toy-eve"))).await;
    // Blocking ends the session; with another one the other wallet may still sign.
    assert_eq!(office.recognize(&eve).await, None);
    assert_eq!(office.operator("toy-eve-2").await.wallets, [toy("toy-eve-2")]);

    office.world.context.policy.desk = None;
    assert_eq!(office.recognize(&ada).await, None, "there is no desk");
}

#[tokio::test]
async fn an_operator_whose_session_ended_is_nobody() {
    let office = Office::new(Quorum::One);
    let browser = office.sign_in("toy-ada").await;
    let operator = office.recognize(&browser).await.unwrap();
    office.world.advance(operator.session.expires_at - office.world.context.clock.now());
    assert_eq!(office.recognize(&browser).await, None);
}

#[tokio::test]
async fn the_overview_counts_what_was_sealed_by_day_and_family() {
    let office = Office::new(Quorum::Two);
    office.sign_in("toy-eve").await;
    office.sign_in("toy-eve").await;
    office.verify().await.unwrap();
    office.world.advance(Duration::days(1));
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    office.propose(&ada, delete(&client)).await;
    office.verify().await.unwrap();

    let overview = read_overview(office.desk()).await.unwrap();

    assert_eq!(overview.sign_ins.len(), 30);
    let totals: Vec<u64> = overview.sign_ins.iter().map(|day| day.by_family.values().sum()).collect();
    assert_eq!(totals[27..], [0, 2, 1]);
    assert_eq!(overview.sign_ins[28].by_family.get("toy"), Some(&2));
    assert_eq!(overview.sign_ins[29].day, overview.today);
    let proposed = overview.counts.iter().filter(|counted| counted.kind == EventKind::ChangeProposed);
    assert_eq!(proposed.map(|counted| counted.count).sum::<u64>(), 1);
    assert_eq!(overview.waiting, 1);
    assert_eq!(overview.keys.len(), 2);
    let Counted { count, is_limit } = overview.sessions;
    assert!(count >= 1 && !is_limit, "{count}");
    // The counts are those of the events, and sealing once more adds nothing.
    let total: u64 = overview.counts.iter().map(|counted| counted.count).sum();
    assert_eq!(total, u64::try_from(office.events().await.len()).unwrap());
    office.verify().await.unwrap();
    assert_eq!(read_overview(office.desk()).await.unwrap().counts, overview.counts);
}

#[tokio::test]
async fn anything_is_found_by_its_address_id_name_or_request() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    let client = office.client().await;
    let proposal = office.propose(&ada, delete(&client)).await;
    office.make(&ada, Change::CreateGroup { group: group("staff"), title: None }).await.unwrap();
    office.make(&ada, block("toy-mallory")).await.unwrap();
    let event = office.acts().await.pop().unwrap().id;
    let found = async |text: &str| search(office.desk(), text).await.unwrap();

    let wallet = [Found::Wallet(toy("toy-eve"), Some(eve))];
    for text in ["toy-eve", " toy-eve ", "toy:1:toy-eve"] {
        assert_eq!(found(text).await, wallet, "{text}");
    }
    assert_eq!(found("toy-nobody").await, [Found::Wallet(toy("toy-nobody"), None)]);
    let user = [Found::User(eve, Some(toy("toy-eve")))];
    assert_eq!(found(&eve.to_string()).await, user);
    assert_eq!(found(&eve.to_string().to_uppercase()).await, user);
    let by = async |text: &str| match found(text).await.as_slice() {
        [Found::Client(client)] => client.id,
        other => panic!("{text}: {other:?}"),
    };
    for text in [client.id.as_str(), "photo album", "Photo"] {
        assert_eq!(by(text).await, id_of(&client));
    }
    assert!(
        matches!(found("staf").await.as_slice(), [Found::Group(counted)] if counted.group.name == group("staff"))
    );
    assert_eq!(found(&proposal.to_string()).await, [Found::Proposal(proposal)]);
    assert_eq!(found(&event.to_string()).await, [Found::Event(event)]);
    assert!(matches!(found("request-7").await.as_slice(), [Found::Request(_, events)] if *events >= 3));
    assert!(matches!(found("key-1").await.as_slice(), [Found::SigningKey(key)] if key.kid == "key-1"));
    for nothing in ["", "   ", "nothing at all", "%", "'; DROP TABLE users", &"x".repeat(10_000)] {
        assert_eq!(found(nothing).await, [], "{nothing}");
    }
}

#[tokio::test]
async fn the_other_operators_are_told_by_mail_if_their_address_is_confirmed() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let bob = office.operator("toy-bob").await;
    office.world.join("ops", Member::Wallet(toy("toy-dan"))).await;
    let dan = office.operator("toy-dan").await;
    let context = &office.world.context;
    let file = async |operator: &Operator, address: &str| {
        let (address, now) = (EmailAddress::parse(address).unwrap(), context.clock.now());
        let user = operator.session.user;
        let secret = Secret::from_random([7; 32]);
        let hash = SecretHash::of(&secret);
        let confirmation = Some(EmailConfirmation { hash, expires_at: now + Duration::days(1) });
        let command = PutEmail { user, address: address.clone(), confirmation, replace: true, now };
        context.storage.put_email(command).await.unwrap();
        (ConfirmEmail { user, hash, shared: SharedAddress::Refused, now, event: None }, (user, address))
    };
    let (of_ada, _) = file(&ada, "ada@mail.org").await;
    let (of_bob, bob) = file(&bob, "bob@mail.org").await;
    let (of_dan, dan) = file(&dan, "dan@mail.org").await;
    let others = async || operators_with_mail(context, ada.session.user, 100).await.unwrap();
    assert_eq!(others().await, [], "nobody followed a link");
    for command in [of_ada, of_bob, of_dan] {
        context.storage.confirm_email(command).await.unwrap();
    }
    let mut told = vec![bob, dan];
    told.sort_by_key(|(user, _)| *user);
    assert_eq!(others().await, told);
}
