//! Who may read, and what an operator finds.

use std::sync::Arc;

use countersign_conformance::fixtures;
use countersign_domain::act::Act;
use countersign_domain::desk::operators::Quorum;
use countersign_domain::email::{EmailAddress, EmailConfirmation};
use countersign_domain::event::EventKind;
use countersign_domain::figure::Figure;
use countersign_domain::hour::Hour;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::subject::Subject;
use countersign_ports::{AddHourCounts, ConfirmEmail, FigureTotal, PutEmail, SharedAddress, Storage};
use countersign_usecases::steps::login::Browser;
use countersign_usecases::steps::recognize_operator::Operator;
use time::Duration;

use super::{Office, block, delete, group, id_of};
use crate::desk::overview::{Counted, read_overview};
use crate::desk::proposals::operators_with_mail;
use crate::desk::search::{Found, SearchFrom, search};
use crate::tests::breakable::world as breakable_world;
use crate::tests::world::toy;

#[tokio::test]
async fn an_operator_is_whom_the_settings_or_the_group_name_and_nobody_else() {
    let mut office = Office::new(Quorum::One);
    assert_eq!(office.recognize(&Browser::default()).await, None, "no one is signed in");
    let (ada, eve) = (office.sign_in("toy-ada").await, office.sign_in("toy-eve").await);
    assert_eq!(office.recognize(&ada).await.unwrap().wallets, [toy("toy-ada")]);
    assert_eq!(office.recognize(&eve).await, None);

    let user = office.user("toy-eve").await;
    office.world.join("ops", Subject::User(user)).await;
    office.link("toy-eve", "toy-eve-2").await;
    let operator = office.recognize(&eve).await.unwrap();
    assert_eq!(operator.wallets, [toy("toy-eve"), toy("toy-eve-2")], "the session's own first");
    office.world.block(Subject::Wallet(toy("toy-eve"))).await;
    // Blocking ends the session; with another one the other wallet may still sign.
    assert_eq!(office.recognize(&eve).await, None);
    assert_eq!(office.operator("toy-eve-2").await.wallets, [toy("toy-eve-2")]);

    office.world.context.policy.desk = None;
    assert_eq!(office.recognize(&ada).await, None, "there is no desk");
}

/// Whoever measures the time learns nothing, and no number of wallets makes it long.
#[tokio::test]
async fn f_26_who_asks_is_found_out_by_the_same_two_reads_however_many_wallets_there_are() {
    let (_, storage) = breakable_world();
    let mut office = Office::on(Arc::<_>::clone(&storage) as Arc<dyn Storage>, Quorum::One);
    let (ada, eve) = (office.sign_in("toy-ada").await, office.sign_in("toy-eve").await);
    for number in 1..20 {
        office.link("toy-eve", &format!("toy-eve-{number}")).await;
    }
    for has_desk in [true, false] {
        if !has_desk {
            office.world.context.policy.desk = None;
        }
        for (browser, is_operator) in [(&ada, has_desk), (&eve, false)] {
            storage.asked();
            assert_eq!(office.recognize(browser).await.is_some(), is_operator);
            assert_eq!(storage.asked(), ["find_session", "standing_of_user"], "desk: {has_desk}");
        }
    }
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

    let overview = read_overview(office.desk(), Vec::new()).await.unwrap();

    assert_eq!(overview.sign_ins.len(), 30);
    let totals: Vec<u64> = overview.sign_ins.iter().map(|day| day.by_family.values().sum()).collect();
    assert_eq!(totals[27..], [0, 2, 1]);
    assert_eq!(overview.sign_ins[28].by_family.get("toy"), Some(&2));
    assert_eq!(overview.sign_ins[29].day, overview.today);
    let proposed = overview.counts.iter().filter(|counted| counted.kind == EventKind::ChangeProposed);
    assert_eq!(proposed.map(|counted| counted.count).sum::<u64>(), 1);
    assert_eq!((overview.waiting, overview.unreadable), (Counted { count: 1, is_limit: false }, 0));
    assert_eq!(overview.keys.len(), 2);
    let Counted { count, is_limit } = overview.sessions;
    assert!(count >= 1 && !is_limit, "{count}");
    // The counts are those of the events, and sealing once more adds nothing.
    let total: u64 = overview.counts.iter().map(|counted| counted.count).sum();
    assert_eq!(total, u64::try_from(office.events().await.len()).unwrap());
    office.verify().await.unwrap();
    assert_eq!(read_overview(office.desk(), Vec::new()).await.unwrap().counts, overview.counts);
}

#[tokio::test]
async fn what_is_not_written_yet_is_added_to_the_counts_of_the_last_hours() {
    let office = Office::new(Quorum::One);
    let hour = Hour::of(office.world.context.clock.now());
    let replica = fixtures::replica();
    office.world.storage.note_replica(replica.clone(), fixtures::past(replica.seen_at)).await.unwrap();
    let counts = [(24, "code", 1_000), (23, "code", 10), (0, "scope", 5), (0, "added later", 1)];
    let counts = counts
        .map(|(back, label, count)| fixtures::hour_count(hour.back(back), Figure::Refusals, label, count));
    let command = AddHourCounts { replica: replica.id, batch: 1, counts: counts.to_vec() };
    assert!(office.world.storage.add_hour_counts(command).await.unwrap());
    let own = |figure, label, total| FigureTotal { figure, label, total };
    let unwritten = vec![
        own(Figure::Refusals, "scope", 3),
        own(Figure::Refusals, "code", 0),
        own(Figure::Tokens, "code", 2),
    ];
    let figures = read_overview(office.desk(), unwritten).await.unwrap().figures;
    let labels = |labels: &[(&str, u64)]| -> Vec<(String, u64)> {
        labels.iter().map(|(label, count)| ((*label).to_owned(), *count)).collect()
    };
    let refusals = labels(&[("scope", 8), ("code", 10), ("added later", 1)]);
    assert_eq!(figures, [(Figure::Refusals, refusals), (Figure::Tokens, labels(&[("code", 2)]))].into());
}

#[tokio::test]
async fn anything_is_found_by_its_address_id_name_or_request() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    let client = office.client().await;
    let proposal = office.propose(&ada, delete(&client)).await;
    office
        .make(&ada, Act::CreateGroup { group: group("staff"), title: None, members: Vec::new() })
        .await
        .unwrap();
    office.make(&ada, block("toy-mallory")).await.unwrap();
    let event = office.acts().await.pop().unwrap().id;
    let found = async |text: &str| search(office.desk(), text, None).await.unwrap().found;

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
    for text in [client.id.as_str(), "photo album", "Photo", "photos.example"] {
        assert_eq!(by(text).await, id_of(&client));
    }
    assert!(
        matches!(found("staf").await.as_slice(), [Found::Group(counted)] if counted.group.name == group("staff"))
    );
    assert_eq!(found(&proposal.to_string()).await, [Found::Proposal(proposal)]);
    assert_eq!(found(&event.to_string()).await, [Found::Event(event)]);
    assert!(matches!(found("request-7").await.as_slice(), [Found::Request(_, events)] if events.count >= 3));
    assert!(matches!(found("key-1").await.as_slice(), [Found::SigningKey(key)] if key.kid == "key-1"));
    for nothing in ["", "   ", "nothing at all", "%", "'; DROP TABLE users", &"x".repeat(10_000)] {
        assert_eq!(found(nothing).await, [], "{nothing}");
    }
}

/// An application asks for help with a person, and knows only the `sub` that it was given. Two applications of one site know
/// the same one, and a public application the user's own id.
#[tokio::test]
async fn a_person_is_found_by_the_sub_that_a_pairwise_application_knows() {
    let office = Office::new(Quorum::One);
    office.sign_in("toy-eve").await;
    let eve = office.user("toy-eve").await;
    let desk = office.desk();
    let found = async |text: &str| search(desk, text, None).await.unwrap().found;
    let mut subjects = Vec::new();
    for number in 1..=3 {
        let mut client = countersign_conformance::fixtures::client();
        client.id = countersign_domain::id::ClientId::from_uuid(uuid::Uuid::from_u128(number));
        client.metadata.display.subject_type = (number > 1).then(|| "pairwise".to_owned());
        subjects.push(desk.context.keys.pairwise.known_to(&client).subject(eve));
        let command = countersign_ports::RegisterClient { client, event: None };
        office.world.storage.register_client(command).await.unwrap();
    }
    assert_eq!((subjects[0], subjects[1] == subjects[2]), (eve.as_public(), true));
    assert_ne!(subjects[0], subjects[1]);
    for subject in subjects {
        for text in [subject.to_string(), subject.to_string().to_uppercase()] {
            assert_eq!(found(&text).await, [Found::User(eve, Some(toy("toy-eve")))], "{text}");
        }
    }
    assert_eq!(found("7b0f6c1e-0000-4000-8000-000000000000").await, []);
}

/// Whoever may register could push a client behind any number that is looked through at once.
#[tokio::test]
async fn f_23_a_search_says_when_it_stopped_and_goes_on_to_the_last_client_and_group() {
    let office = Office::new(Quorum::One);
    let ada = office.operator("toy-ada").await;
    for number in 0..11_000_u128 {
        let id = countersign_domain::id::ClientId::from_uuid(uuid::Uuid::from_u128(number + 1));
        let client = countersign_domain::client::Client { id, ..countersign_conformance::fixtures::client() };
        let command = countersign_ports::RegisterClient { client, event: None };
        office.world.storage.register_client(command).await.unwrap();
    }
    let hidden = office.client().await;
    let last = Act::CreateGroup { group: group("photo-team"), title: None, members: Vec::new() };
    office.make(&ada, last).await.unwrap();
    let (mut from, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let page = search(office.desk(), "photo", from).await.unwrap();
        found.extend(page.found);
        pages += 1;
        from = page.next;
        if let Some(next) = &from {
            assert_eq!(SearchFrom::parse(&next.to_string()).as_ref(), Some(next));
        } else {
            break;
        }
    }
    assert_eq!(pages, 3);
    let [Found::Client(client), Found::Group(counted)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((client.id, &counted.group.name), (id_of(&hidden), &group("photo-team")));
    assert_eq!(SearchFrom::parse("client:").or(SearchFrom::parse("else:a")), None);
}

/// Those that were made since are more than a page.
#[tokio::test]
async fn f_23_the_overview_counts_a_proposal_that_waits_behind_many_that_do_not() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let client = office.client().await;
    office.propose(&ada, delete(&client)).await;
    for _ in 0..120 {
        let id = office.propose(&ada, delete(&client)).await;
        office.make(&ada, Act::WithdrawProposal { proposal: id }).await.unwrap();
    }
    let overview = read_overview(office.desk(), Vec::new()).await.unwrap();
    assert_eq!(overview.waiting, Counted { count: 1, is_limit: false });
}

#[tokio::test]
async fn the_other_operators_are_told_by_mail_if_their_address_is_confirmed() {
    let office = Office::new(Quorum::Two);
    let ada = office.operator("toy-ada").await;
    let bob = office.operator("toy-bob").await;
    office.world.join("ops", Subject::Wallet(toy("toy-dan"))).await;
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
