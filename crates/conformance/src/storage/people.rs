//! What an operator sees of people.

use std::sync::Arc;

use countersign_domain::admission::Block;
use countersign_domain::event::{ChangeSignature, Event, EventKind, Signed};
use countersign_domain::group::{GroupName, Membership, Through};
use countersign_domain::id::UserId;
use countersign_domain::person_name::PersonName;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{
    BlockedWallet, CompleteLogin, EndSessions, FindWallets, NamePut, NameSubject, NamedPerson, NewSession,
    OpenSession, PeopleFilter, PeopleOrder, Person, PersonListed, RemoveBlock, SessionContinued, SortPeople,
    Storage, Total, UserSeen,
};
use time::{Duration, OffsetDateTime};

use super::steps;
use crate::fixtures::{self, NOW};
use crate::one_member::OneMember as _;

const HOUR: Duration = Duration::hours(1);

fn block() -> Block {
    fixtures::block_user(fixtures::user_id()).block
}

async fn list(store: &dyn Storage, filter: &PeopleFilter) -> Vec<UserId> {
    page(store, filter, None, u32::MAX).await
}

async fn page(store: &dyn Storage, filter: &PeopleFilter, after: Option<UserId>, limit: u32) -> Vec<UserId> {
    let listed = store.list_people(filter, after, limit).await.unwrap();
    listed.into_iter().map(|person| person.id).collect()
}

async fn person(store: &dyn Storage, user: UserId) -> Person {
    store.find_person(user, NOW).await.unwrap().unwrap()
}

/// Reads a user in both ways, which must say the same.
async fn listed(store: &dyn Storage, user: UserId) -> PersonListed {
    let shown = person(store, user).await.listed;
    let all = store.list_people(&PeopleFilter::default(), None, u32::MAX).await.unwrap();
    assert_eq!(all.iter().find(|listed| listed.id == user), Some(&shown));
    shown
}

/// Each page after the one before is the same as all at once.
async fn in_pages(store: &dyn Storage, filter: &PeopleFilter, expected: &[UserId]) {
    assert_eq!(list(store, filter).await, expected);
    for limit in 1..=3 {
        let mut paged: Vec<UserId> = Vec::new();
        loop {
            let next = page(store, filter, paged.last().copied(), limit).await;
            assert!(next.len() <= usize::try_from(limit).unwrap());
            if next.is_empty() {
                break;
            }
            paged.extend(next);
            assert!(paged.len() <= expected.len(), "a page repeats what came before");
        }
        assert_eq!(paged, expected, "in pages of {limit}");
    }
    assert_eq!(page(store, filter, None, 0).await, []);
}

/// In the order of their ids, whatever the order in which they came.
pub async fn people_are_listed_by_id_in_pages(store: Arc<dyn Storage>) {
    let everybody = PeopleFilter::default();
    assert_eq!(list(&*store, &everybody).await, []);
    let mut users = [(); 7].map(|()| fixtures::user_id());
    users.sort_unstable();
    for place in [3, 0, 6, 2, 1, 5, 4] {
        let login = CompleteLogin { new_user: users[place], ..fixtures::complete_login() };
        steps::user_of(&*store, &login).await;
    }
    in_pages(&*store, &everybody, &users).await;
    assert_eq!(page(&*store, &everybody, Some(users[6]), 2).await, []);
    assert!(store.delete_account(fixtures::delete_account(users[2])).await.unwrap());
    assert_eq!(
        page(&*store, &everybody, Some(users[2]), 1).await,
        users[3..4],
        "a page may start after a deleted user"
    );
    assert_eq!(page(&*store, &everybody, Some(users[1]), 1).await, users[3..4]);
}

/// Neither in the list nor by itself. A wallet that an operator named is nobody yet.
pub async fn nobody_is_no_person(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let unseen = fixtures::wallet_account();
    steps::add(&*store, &group, &Subject::Wallet(unseen.clone())).await;
    steps::block(&*store, fixtures::block_wallet(&unseen)).await;
    for filter in [
        PeopleFilter::default(),
        PeopleFilter { group: Some(group), blocked: false },
        PeopleFilter { group: None, blocked: true },
    ] {
        assert_eq!(store.list_people(&filter, None, 10).await.unwrap(), []);
    }
    steps::sign_in(&*store).await;
    assert_eq!(store.find_person(fixtures::user_id(), NOW).await.unwrap(), None);
}

/// By whatever way, each once. Whoever left is not listed.
pub async fn people_are_listed_by_group(store: Arc<dyn Storage>) {
    let [group, other, empty] =
        [steps::group(&*store).await, steps::group(&*store).await, steps::group(&*store).await];
    let mut users = Vec::new();
    for place in 0..6 {
        let (user, wallets) = steps::user_with_two_wallets(&*store).await;
        let [first, second] = wallets.clone().map(Subject::Wallet);
        let ways = match place {
            0 => vec![Subject::User(user)],
            1 => vec![first],
            2 => vec![first, second],
            3 => vec![Subject::User(user), first, second],
            4 => vec![second],
            _ => vec![],
        };
        for member in &ways {
            steps::add(&*store, &group, member).await;
        }
        steps::add(&*store, &other, &Subject::User(user)).await;
        users.push((user, wallets));
    }
    steps::add(&*store, &group, &Subject::Wallet(fixtures::wallet_account())).await;
    let filter = |name: &GroupName| PeopleFilter { group: Some(name.clone()), blocked: false };
    let mut expected: Vec<_> = users[..5].iter().map(|(user, _)| *user).collect();
    expected.sort_unstable();
    in_pages(&*store, &filter(&group), &expected).await;
    assert_eq!(list(&*store, &filter(&other)).await.len(), 6);
    assert_eq!(list(&*store, &filter(&empty)).await, []);
    assert_eq!(list(&*store, &filter(&fixtures::group_name())).await, []);

    let (user, [first, second]) = &users[4];
    steps::unlink(&*store, first, second).await;
    let leaving = fixtures::remove_member(&group, &Subject::User(users[0].0));
    assert!(store.remove_member(leaving).await.unwrap());
    expected.retain(|listed| listed != user && *listed != users[0].0);
    in_pages(&*store, &filter(&group), &expected).await;
}

/// Users, not those who have a blocked wallet. Together with a group, both must hold.
pub async fn blocked_people_are_listed(store: Arc<dyn Storage>) {
    let group = steps::group(&*store).await;
    let mut blocked = Vec::new();
    let mut both = Vec::new();
    for place in 0..8 {
        let login = steps::sign_in(&*store).await;
        let (user, account) = (login.new_user, login.account);
        match place % 4 {
            0 => {
                steps::block(&*store, fixtures::block_user(user)).await;
                blocked.push(user);
            }
            1 => {
                steps::block(&*store, fixtures::block_user(user)).await;
                steps::add(&*store, &group, &Subject::Wallet(account)).await;
                blocked.push(user);
                both.push(user);
            }
            2 => steps::add(&*store, &group, &Subject::User(user)).await,
            _ => steps::block(&*store, fixtures::block_wallet(&account)).await,
        }
    }
    blocked.sort_unstable();
    both.sort_unstable();
    let all_blocked = PeopleFilter { group: None, blocked: true };
    in_pages(&*store, &all_blocked, &blocked).await;
    let in_group = PeopleFilter { group: Some(group), blocked: true };
    in_pages(&*store, &in_group, &both).await;
    assert!(store.remove_block(RemoveBlock { who: Subject::User(both[0]), event: None }).await.unwrap());
    assert_eq!(list(&*store, &in_group).await, both[1..]);
    assert_eq!(list(&*store, &all_blocked).await.len(), 3);
}

/// Who they are, with which wallets, since when, and whether they are blocked.
pub async fn a_listed_person_is_told_with_their_wallets(store: Arc<dyn Storage>) {
    let login = CompleteLogin { now: NOW + HOUR, ..fixtures::complete_login() };
    let user = steps::user_of(&*store, &login).await;
    steps::link(&*store, &login.account, &fixtures::wallet_account()).await;
    assert!(store.name_wallet(fixtures::name_wallet(user, &login.account, "Savings")).await.unwrap());
    let bystander = steps::sign_in(&*store).await;
    let mut expected = PersonListed {
        id: user,
        created_at: NOW + HOUR,
        last_sign_in_at: Some(NOW + HOUR),
        wallets: store.wallets_of(user).await.unwrap(),
        block: None,
    };
    assert_eq!(expected.wallets.len(), 2);
    assert_eq!(listed(&*store, user).await, expected);
    steps::block(&*store, fixtures::block_wallet(&login.account)).await;
    assert_eq!(listed(&*store, user).await, expected, "a wallet's block is none of its user's");
    steps::block(&*store, fixtures::block_user(user)).await;
    expected.block = Some(block());
    assert_eq!(listed(&*store, user).await, expected);
    assert_eq!(listed(&*store, bystander.new_user).await.block, None);
}

/// Signing, continuing and opening a session count, wherever it was. What was forgotten or ended does not.
pub async fn the_last_sign_in_is_the_last_that_is_stored(store: Arc<dyn Storage>) {
    let last = async |user| listed(&*store, user).await.last_sign_in_at;
    let (login, _) = steps::remember(&*store).await;
    let user = login.new_user;
    assert_eq!(last(user).await, Some(NOW));
    let later = CompleteLogin { now: NOW + HOUR, ..fixtures::complete_login_of(login.account.clone()) };
    steps::user_of(&*store, &later).await;
    assert_eq!(last(user).await, Some(NOW + HOUR));
    let earlier = CompleteLogin { now: NOW - HOUR, ..fixtures::complete_login_of(login.account.clone()) };
    steps::user_of(&*store, &earlier).await;
    assert_eq!(last(user).await, Some(NOW + HOUR));

    let session = NewSession { expires_at: NOW + HOUR * 4, ..fixtures::new_session() };
    let opening = OpenSession {
        now: NOW + HOUR * 2,
        session: session.clone(),
        ..fixtures::open_session_of(login.account.clone())
    };
    steps::open(&*store, &opening).await;
    assert_eq!(last(user).await, Some(NOW + HOUR * 2));
    let stored = steps::session(&*store, session.id).await;
    let mut request = fixtures::continue_session(&stored, login.client);
    request.login.now = NOW + HOUR * 3;
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    assert_eq!(last(user).await, Some(NOW + HOUR * 3));
    store.end_sessions(EndSessions { user, event: None }).await.unwrap();
    assert_eq!(last(user).await, Some(NOW + HOUR * 3), "the consent tells it too");
    store.revoke_consent(fixtures::revoke_consent(user, login.client)).await.unwrap();
    assert_eq!(last(user).await, Some(NOW + HOUR));

    let (other, session) = steps::remember(&*store).await;
    let mut request = fixtures::continue_session(&session, other.client);
    request.login.now = NOW + Duration::minutes(1);
    assert_eq!(steps::proceed(&*store, &request).await, SessionContinued::CodeIssued);
    store.revoke_consent(fixtures::revoke_consent(other.new_user, other.client)).await.unwrap();
    assert_eq!(last(other.new_user).await, Some(NOW + Duration::minutes(1)), "the session tells it alone");

    let opening = fixtures::open_session();
    let idle = steps::open(&*store, &opening).await;
    assert_eq!(last(idle).await, Some(NOW));
    assert_eq!(store.end_sessions(EndSessions { user: idle, event: None }).await.unwrap(), 1);
    assert_eq!(last(idle).await, None);
}

/// The same as the single reads tell, and nothing of others.
pub async fn a_person_is_shown_with_everything(store: Arc<dyn Storage>) {
    let [own, brought] = [steps::group(&*store).await, steps::group(&*store).await];
    let (user, wallets) = steps::user_with_two_wallets(&*store).await;
    let (other, _) = steps::remember(&*store).await;
    for user in [user, other.new_user] {
        steps::add(&*store, &own, &Subject::User(user)).await;
    }
    for account in [&wallets[0], &other.account, &fixtures::wallet_account()] {
        steps::add(&*store, &brought, &Subject::Wallet(account.clone())).await;
        steps::block(&*store, fixtures::block_wallet(account)).await;
    }
    steps::block(&*store, fixtures::block_wallet(&wallets[1])).await;
    for (place, account) in wallets.iter().cycle().take(5).enumerate() {
        let now = NOW + Duration::minutes([2, 1, 3, 2, 1][place]);
        steps::user_of(&*store, &CompleteLogin { now, ..fixtures::remembered_login_of(account.clone()) })
            .await;
    }
    let account = steps::account(&*store, user).await;
    let memberships = store.memberships_of(user).await.unwrap();
    let through = Through::Wallet(wallets[0].clone());
    let expected_memberships =
        [Membership { group: own, through: Through::User }, Membership { group: brought, through }];
    assert_eq!(memberships, expected_memberships);
    let mut sorted = wallets.clone();
    sorted.sort_by(|one, other| one.address.cmp(&other.address));
    let blocked = sorted.map(|account| BlockedWallet { account, block: block(), user: Some(user) });
    let expected = Person {
        listed: PersonListed {
            id: user,
            created_at: account.created_at,
            last_sign_in_at: Some(NOW + Duration::minutes(3)),
            wallets: account.wallets,
            block: None,
        },
        memberships,
        blocked_wallets: blocked.to_vec(),
        sessions: account.sessions,
        consents: account.consents,
    };
    assert_eq!((expected.sessions.len(), expected.consents.len()), (5, 6));
    assert_eq!(person(&*store, user).await, expected);
    listed(&*store, user).await;
}

/// One that ends at this very moment has expired.
pub async fn sessions_that_have_expired_are_not_shown(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let mut sessions = Vec::new();
    for minutes in [3, 1, 2] {
        let expires_at = NOW + Duration::minutes(minutes);
        let session = Some(NewSession { expires_at, ..fixtures::new_session() });
        let again = CompleteLogin { session, ..fixtures::complete_login_of(login.account.clone()) };
        sessions.push(steps::remember_by(&*store, &again).await);
    }
    let shown =
        async |now: OffsetDateTime| store.find_person(login.new_user, now).await.unwrap().unwrap().sessions;
    assert_eq!(shown(NOW).await, sessions);
    assert_eq!(shown(NOW + Duration::minutes(1)).await, [sessions[0].clone(), sessions[2].clone()]);
    let almost = NOW + Duration::minutes(2) - Duration::microseconds(1);
    assert_eq!(shown(almost).await.len(), 2);
    assert_eq!(shown(NOW + Duration::minutes(2)).await, sessions[..1]);
    assert_eq!(shown(NOW + Duration::days(1)).await, []);
    assert_eq!(person(&*store, login.new_user).await.listed.last_sign_in_at, Some(NOW));
}

fn name(text: &str) -> PersonName {
    PersonName::parse(text).unwrap()
}

async fn call(store: &dyn Storage, who: &Subject, text: Option<&str>) -> NamePut {
    let command = NameSubject { who: who.clone(), name: text.map(name), event: None };
    store.name_subject(command).await.unwrap()
}

async fn called(store: &dyn Storage, who: &Subject) -> Option<(String, bool)> {
    let known = store.names_of(vec![who.clone()]).await.unwrap();
    assert_eq!(known.len(), 1);
    known.into_iter().next().unwrap().map(|known| (known.name.to_string(), known.is_own))
}

/// To a user, to a wallet of theirs, and to a wallet that no one ever used. What is so already changes nothing.
pub async fn a_name_is_given_and_taken_away(store: Arc<dyn Storage>) {
    let login = steps::sign_in(&*store).await;
    let (user, wallet) = (Subject::User(login.new_user), Subject::Wallet(login.account));
    let unseen = Subject::Wallet(fixtures::wallet_account());
    for who in [&user, &wallet, &unseen] {
        assert_eq!(called(&*store, who).await, None);
        for text in ["Ann \"the boss\" O'Neill", "ann", "安"] {
            assert_eq!(call(&*store, who, Some(text)).await, NamePut::Stored);
            assert_eq!(call(&*store, who, Some(text)).await, NamePut::AlreadySo);
            assert_eq!(called(&*store, who).await, Some((text.to_owned(), true)));
        }
        assert_eq!(call(&*store, who, None).await, NamePut::Stored);
        assert_eq!(call(&*store, who, None).await, NamePut::AlreadySo);
        assert_eq!(called(&*store, who).await, None);
    }
    let nobody = Subject::User(fixtures::user_id());
    for text in [None, Some("Ann")] {
        assert_eq!(call(&*store, &nobody, text).await, NamePut::UserUnknown);
    }
    assert_eq!(called(&*store, &nobody).await, None);
}

/// A user like the wallet that they have had longest among those with a name; a wallet like its user. One question can be
/// about many, in any order.
pub async fn who_has_no_name_is_called_by_another_that_is_theirs(store: Arc<dyn Storage>) {
    let (id, [first, second]) = steps::user_with_two_wallets(&*store).await;
    let bystander = steps::sign_in(&*store).await;
    let (user, first, second) = (Subject::User(id), Subject::Wallet(first), Subject::Wallet(second));
    call(&*store, &second, Some("Ledger")).await;
    assert_eq!(called(&*store, &user).await, Some(("Ledger".to_owned(), false)));
    assert_eq!(called(&*store, &first).await, None, "wallets are not called like each other");
    call(&*store, &first, Some("Phone")).await;
    assert_eq!(called(&*store, &user).await, Some(("Phone".to_owned(), false)));
    call(&*store, &user, Some("Ann")).await;
    call(&*store, &first, None).await;
    let others = [Subject::User(bystander.new_user), Subject::Wallet(bystander.account)];
    let asked = [&second, &others[0], &user, &first, &others[1], &user].map(Subject::clone).to_vec();
    let known = store.names_of(asked).await.unwrap();
    let known = known.into_iter().map(|known| known.map(|known| (known.name.to_string(), known.is_own)));
    let ann = |is_own| Some(("Ann".to_owned(), is_own));
    let expected = [Some(("Ledger".to_owned(), true)), None, ann(true), ann(false), None, ann(true)];
    assert_eq!(known.collect::<Vec<_>>(), expected);
    assert_eq!(store.names_of(Vec::new()).await.unwrap(), []);
}

/// Whatever letters are capitals, and no others: `%` and `_` are letters like any other.
pub async fn names_are_found_by_their_beginning(store: Arc<dyn Storage>) {
    let mut people = Vec::new();
    for text in ["Ann Lee", "anna", "Bob", "100%", "a_n", "Ännchen"] {
        let user = steps::sign_in(&*store).await.new_user;
        call(&*store, &Subject::User(user), Some(text)).await;
        people.push((user, text));
    }
    let wallet = Subject::Wallet(fixtures::wallet_account());
    call(&*store, &wallet, Some("Ann's vault")).await;
    let found = async |beginning: &str, limit| {
        let found = store.find_named(beginning, limit).await.unwrap();
        found.into_iter().map(|person| (person.who, person.name.to_string())).collect::<Vec<_>>()
    };
    let one = |text: &str| {
        let (user, _) = people.iter().find(|(_, known)| *known == text).unwrap();
        (Subject::User(*user), text.to_owned())
    };
    let vault = (wallet, "Ann's vault".to_owned());
    assert_eq!(found(" ANN", 10).await, [one("Ann Lee"), one("anna"), vault.clone()]);
    assert_eq!(found("ann", 1).await, [one("Ann Lee")]);
    assert_eq!(found("ann'", 10).await, [vault]);
    assert_eq!(found("100%", 10).await, [one("100%")]);
    assert_eq!(found("a_", 10).await, [one("a_n")]);
    assert_eq!(found("än", 10).await, [one("Ännchen")]);
    for none in ["lee", "%", "_nn", "nobody"] {
        assert_eq!(found(none, 10).await, [], "{none}");
    }
}

/// Whatever letters are capitals, and whatever their family: as pages and logs shorten addresses.
pub async fn wallets_are_found_by_their_first_and_last_letters(store: Arc<dyn Storage>) {
    let mut logins = Vec::new();
    for _ in 0..3 {
        logins.push(steps::sign_in(&*store).await);
    }
    let found = async |beginning: &str, end: &str, limit| {
        let question = FindWallets { beginning: beginning.to_owned(), end: end.to_owned(), limit };
        store.find_wallets(question).await.unwrap()
    };
    for login in &logins {
        let address = &login.account.address;
        let (beginning, end) = (&address[..6], &address[address.len() - 4..]);
        for (beginning, end) in [
            (beginning.to_owned(), end.to_owned()),
            (beginning.to_uppercase(), end.to_lowercase()),
            (address.clone(), String::new()),
            (String::new(), address.clone()),
        ] {
            let found = found(&beginning, &end, 10).await;
            assert!(found.contains(&(login.account.clone(), login.new_user)), "{beginning}…{end}: {found:?}");
            let fits = |(account, _): &(WalletAccount, UserId)| {
                let letters = account.address.to_ascii_lowercase();
                letters.starts_with(&beginning.to_ascii_lowercase())
                    && letters.ends_with(&end.to_ascii_lowercase())
            };
            assert!(found.iter().all(fits));
        }
    }
    assert_eq!(found("", "", 10).await.len(), 3);
    assert_eq!(found("", "", 2).await.len(), 2);
    for (beginning, end) in [("%", ""), ("_", ""), ("", "%"), ("no such", ""), ("", "no such")] {
        assert_eq!(found(beginning, end, 10).await, [], "{beginning}…{end}");
    }
}

/// Users before wallets, each by their keys.
pub async fn everyone_with_a_name_is_listed_in_pages(store: Arc<dyn Storage>) {
    let mut expected = Vec::new();
    for number in 0..3 {
        let login = steps::sign_in(&*store).await;
        for who in [Subject::User(login.new_user), Subject::Wallet(login.account)] {
            let text = format!("Number {number}");
            call(&*store, &who, Some(&text)).await;
            expected.push(NamedPerson { who, name: name(&text) });
        }
        steps::sign_in(&*store).await;
    }
    let place = |person: &NamedPerson| match &person.who {
        Subject::User(user) => (0, user.to_string(), String::new()),
        Subject::Wallet(wallet) => (1, wallet.family.clone(), wallet.address.clone()),
    };
    expected.sort_by_key(place);
    for limit in [1, 2, 4, 10] {
        let mut listed: Vec<NamedPerson> = Vec::new();
        loop {
            let page = store.list_named(listed.last().map(|last| &last.who), limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= limit as usize);
            listed.extend(page);
        }
        assert_eq!(listed, expected, "{limit}");
    }
}

/// Neither the name of the user nor those of the wallets, nor events that say whose wallet had which name: those keep what
/// happened, and the texts that operators signed go. Those of others stay.
pub async fn a_deleted_account_leaves_no_name(store: Arc<dyn Storage>) {
    for is_sealed in [false, true] {
        let (user, [first, second]) = steps::user_with_two_wallets(&*store).await;
        let stays = steps::sign_in(&*store).await;
        let mut about = Vec::new();
        for wallet in [&first, &second, &stays.account] {
            let mut event = Event { kind: EventKind::WalletNamed, person: None, ..fixtures::event() };
            event.wallet = Some(wallet.clone());
            let signature = ChangeSignature { account: first.clone(), ..fixtures::change_signature() };
            event.signed = Some(Signed::of(fixtures::grant_id(), &[signature]));
            let (who, name) = (Subject::Wallet(wallet.clone()), Some(name("Ann")));
            let command = NameSubject { who, name, event: Some(Box::new(event.clone())) };
            assert_eq!(store.name_subject(command).await.unwrap(), NamePut::Stored);
            about.push(event);
        }
        call(&*store, &Subject::User(user), Some("Ann Lee")).await;
        if is_sealed {
            steps::seal(&*store).await;
        }
        let command = fixtures::delete_account(user);
        let pseudonym = command.pseudonym;
        assert!(store.delete_account(command).await.unwrap());
        for who in [Subject::User(user), Subject::Wallet(first.clone()), Subject::Wallet(second.clone())] {
            assert_eq!(called(&*store, &who).await, None);
        }
        let kept = Subject::Wallet(stays.account.clone());
        assert_eq!(called(&*store, &kept).await, Some(("Ann".to_owned(), true)));
        let named = store.list_named(None, u32::MAX).await.unwrap();
        assert!(named.iter().all(|person| !matches!(&person.who, Subject::User(of) if *of == user)));
        for event in about {
            let now = store.find_event(event.id).await.unwrap().unwrap().event;
            if event.wallet.as_ref() == Some(&stays.account) {
                assert_eq!(now, event);
                continue;
            }
            let request = event.request.clone().filter(|_| is_sealed);
            assert_eq!(now, Event { request, ..event.forgetting(pseudonym) });
        }
        assert_eq!(store.count_events_of(pseudonym).await.unwrap(), 2);
    }
}

/// All of a sorted list, page after page.
async fn sorted(store: &dyn Storage, filter: &PeopleFilter, order: PeopleOrder, limit: u32) -> Vec<UserId> {
    let mut users = Vec::new();
    let mut after = None;
    loop {
        let question = SortPeople { filter: filter.clone(), order, after, limit };
        let page = store.sort_people(question).await.unwrap();
        assert!(page.people.len() <= usize::try_from(limit).unwrap());
        assert!(
            page.next.is_none_or(|next| after.is_none_or(|after| next < after)),
            "a page that leads back"
        );
        users.extend(page.people.into_iter().map(|person| person.id));
        after = page.next;
        if after.is_none() {
            return users;
        }
    }
}

async fn sorted_in_pages(
    store: &dyn Storage,
    filter: &PeopleFilter,
    order: PeopleOrder,
    expected: &[UserId],
) {
    for limit in [1, 2, 3, 100] {
        assert_eq!(sorted(store, filter, order, limit).await, expected, "{order:?} in pages of {limit}");
    }
    let question = SortPeople { filter: filter.clone(), order, after: None, limit: 1 };
    let total = store.sort_people(question).await.unwrap().total;
    assert_eq!(total, Total { counted: u32::try_from(expected.len()).unwrap(), more: false });
}

/// Who signed in last comes first, and who never did again when they were created. Two with one time come by their ids. So
/// it is with each filter.
pub async fn people_are_sorted_by_their_last_sign_in(store: Arc<dyn Storage>) {
    let everybody = PeopleFilter::default();
    sorted_in_pages(&*store, &everybody, PeopleOrder::LastSeen, &[]).await;
    let group = steps::group(&*store).await;
    let mut users = Vec::new();
    for minute in 0..6 {
        let login = CompleteLogin { now: NOW + Duration::minutes(minute), ..fixtures::complete_login() };
        users.push((steps::user_of(&*store, &login).await, login.account));
    }
    let ids: Vec<UserId> = users.iter().map(|(user, _)| *user).collect();
    let created: Vec<UserId> = ids.iter().rev().copied().collect();
    sorted_in_pages(&*store, &everybody, PeopleOrder::LastSeen, &created).await;

    let seen = |place: usize, at| UserSeen { user: ids[place], at };
    store
        .note_sign_ins(vec![seen(1, NOW + HOUR), seen(4, NOW + HOUR), seen(2, NOW + 2 * HOUR)])
        .await
        .unwrap();
    let unknown = UserSeen { user: fixtures::user_id(), at: NOW + HOUR };
    store.note_sign_ins(vec![unknown, seen(2, NOW + HOUR), seen(5, NOW)]).await.unwrap();
    let equal = [ids[1].max(ids[4]), ids[1].min(ids[4])];
    let expected = [ids[2], equal[0], equal[1], ids[5], ids[3], ids[0]];
    sorted_in_pages(&*store, &everybody, PeopleOrder::LastSeen, &expected).await;
    sorted_in_pages(&*store, &everybody, PeopleOrder::Created, &created).await;

    for place in [0, 1, 2] {
        steps::add(&*store, &group, &Subject::User(ids[place])).await;
    }
    for place in [2, 5] {
        steps::add(&*store, &group, &Subject::Wallet(users[place].1.clone())).await;
    }
    for place in [1, 4, 5] {
        steps::block(&*store, fixtures::block_user(ids[place])).await;
    }
    let filter = |group: Option<&GroupName>, blocked| PeopleFilter { group: group.cloned(), blocked };
    let asked = |places: &[usize]| -> Vec<UserId> {
        let wanted: Vec<UserId> = places.iter().map(|place| ids[*place]).collect();
        expected.iter().copied().filter(|user| wanted.contains(user)).collect()
    };
    let of_group = filter(Some(&group), false);
    sorted_in_pages(&*store, &of_group, PeopleOrder::LastSeen, &asked(&[0, 1, 2, 5])).await;
    sorted_in_pages(&*store, &of_group, PeopleOrder::Created, &[ids[5], ids[2], ids[1], ids[0]]).await;
    sorted_in_pages(&*store, &filter(None, true), PeopleOrder::LastSeen, &asked(&[1, 4, 5])).await;
    sorted_in_pages(&*store, &filter(Some(&group), true), PeopleOrder::LastSeen, &asked(&[1, 5])).await;
    sorted_in_pages(&*store, &filter(Some(&fixtures::group_name()), true), PeopleOrder::LastSeen, &[]).await;
    assert_eq!(store.group_names(10).await.unwrap(), [group]);
    assert_eq!(store.group_names(0).await.unwrap(), []);

    assert!(store.delete_account(fixtures::delete_account(ids[2])).await.unwrap());
    sorted_in_pages(&*store, &everybody, PeopleOrder::LastSeen, &expected[1..]).await;
}
