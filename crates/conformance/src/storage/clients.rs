//! Clients are registered, changed and deleted.

use std::sync::Arc;

use countersign_domain::admission::{ClientAccess, Release};
use countersign_domain::client::{Client, ClientAuthentication, ClientMetadata, ClientOrigin};
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::GroupName;
use countersign_domain::id::ClientId;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_ports::{
    ChangeAccess, ChangeResources, ClientFilter, ClientOrder, ClientUse, CompleteLogin, DeleteClient,
    KnownAccess, LetsIn, LoginCompleted, Redeemed, RegisterClient, Registered, ResourceChange, Rotated,
    SortClients, Storage, UpdateClient,
};
use time::Duration;

use super::races::at_once;
use super::steps;
use crate::fixtures::{self, NOW};

const TASKS: usize = 32;
const MINUTE: Duration = Duration::MINUTE;
const DAY: Duration = Duration::DAY;

/// A client is found as it was registered.
pub async fn a_registered_client_is_found(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    let outcome =
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert_eq!(outcome, Registered::Stored);
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
}

/// No client is found under an unknown id.
pub async fn an_unknown_client_is_not_found(store: Arc<dyn Storage>) {
    store.register_client(fixtures::register_client()).await.unwrap();
    assert_eq!(store.find_client(fixtures::client_id()).await.unwrap(), None);
}

/// Rule 3: the same command again gets the same answer.
pub async fn a_registration_that_is_repeated_is_stored_once(store: Arc<dyn Storage>) {
    let command = fixtures::register_client();
    for _ in 0..3 {
        assert_eq!(store.register_client(command.clone()).await.unwrap(), Registered::Stored);
    }
    assert_eq!(store.find_client(command.client.id).await.unwrap(), Some(command.client));
}

/// If the id is taken, the client that has it stays unchanged.
pub async fn a_taken_client_id_changes_nothing(store: Arc<dyn Storage>) {
    let first = fixtures::client();
    let second = Client { id: first.id, ..fixtures::public_client() };
    store.register_client(RegisterClient { client: first.clone(), event: None }).await.unwrap();
    let outcome = store.register_client(RegisterClient { client: second, event: None }).await.unwrap();
    assert_eq!(outcome, Registered::IdTaken);
    assert_eq!(store.find_client(first.id).await.unwrap(), Some(first));
}

/// Every field changes, in both directions; id, `created_at` and what the operator decided stay.
pub async fn an_update_replaces_everything_but_id_and_birth(store: Arc<dyn Storage>) {
    let first = fixtures::client();
    let bystander = fixtures::client();
    let changed = Client {
        id: first.id,
        authentication: ClientAuthentication::Public,
        metadata: ClientMetadata {
            name: "Another name".to_owned(),
            redirect_uris: vec![fixtures::redirect_uri("https://other.example/cb")],
            scopes: ScopeSet::of(&[Scope::Email]),
            grant_types: vec![GrantType::AuthorizationCode],
            backchannel_logout_uri: Some("https://other.example/logged-out".to_owned()),
            requires_pushed_requests: true,
            requires_bound_tokens: true,
            display: fixtures::full_display(),
        },
        origin: ClientOrigin::Operator,
        document: Some("https://other.example/client.json".to_owned()),
        resources: vec!["https://api.example".to_owned()],
        access: ClientAccess { rule: Some(fixtures::rule("nobody")), release: Release::All },
        registration_token: fixtures::secret_hash(),
        created_at: first.created_at + Duration::days(1),
    };
    for client in [&first, &bystander] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }

    assert!(store.update_client(UpdateClient { client: changed.clone(), event: None }).await.unwrap());
    let Client { created_at, resources, access, .. } = first.clone();
    let stored = Client { created_at, resources, access, ..changed };
    assert_eq!(store.find_client(first.id).await.unwrap(), Some(stored));

    assert!(store.update_client(UpdateClient { client: first.clone(), event: None }).await.unwrap());
    assert_eq!(store.find_client(first.id).await.unwrap(), Some(first.clone()));
    assert!(
        store.update_client(UpdateClient { client: first.clone(), event: None }).await.unwrap(),
        "a repeated update finds the client too"
    );
    assert_eq!(store.find_client(bystander.id).await.unwrap(), Some(bystander));
}

/// An update never creates a client.
pub async fn an_update_of_nobody_changes_nothing(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    assert!(!store.update_client(UpdateClient { client: client.clone(), event: None }).await.unwrap());
    assert_eq!(store.find_client(client.id).await.unwrap(), None);
}

/// Whoever read the client before the operator opened a resource to it, and updates it afterwards, changes
/// nothing about what is open.
pub async fn an_update_leaves_opened_resources_alone(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert!(store.change_resources(open(client.id, &["urn:a"])).await.unwrap());
    for resources in [Vec::new(), vec!["urn:b".to_owned()]] {
        let stale = Client { resources, ..client.clone() };
        assert!(store.update_client(UpdateClient { client: stale, event: None }).await.unwrap());
        assert_eq!(opened(&*store, client.id).await, ["urn:a"]);
    }
    assert!(store.change_resources(close(client.id, &["urn:a"])).await.unwrap());
    let stale = Client { resources: vec!["urn:a".to_owned()], ..client.clone() };
    assert!(store.update_client(UpdateClient { client: stale, event: None }).await.unwrap());
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
}

/// Each stands once in the list, in the order in which they were opened. Other clients are unaffected.
pub async fn resources_are_opened_and_closed(store: Arc<dyn Storage>) {
    let [client, bystander] = [fixtures::client(), fixtures::client()];
    for client in [&client, &bystander] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    let changes: [(ChangeResources, &[&str]); 8] = [
        (open(client.id, &["urn:b"]), &["urn:b"]),
        (open(client.id, &["urn:a", "urn:b", "urn:c", "urn:c"]), &["urn:b", "urn:a", "urn:c"]),
        (open(client.id, &["urn:a"]), &["urn:b", "urn:a", "urn:c"]),
        (open(client.id, &[]), &["urn:b", "urn:a", "urn:c"]),
        (close(client.id, &["urn:a", "urn:other"]), &["urn:b", "urn:c"]),
        (close(client.id, &["urn:a"]), &["urn:b", "urn:c"]),
        (open(client.id, &["urn:a"]), &["urn:b", "urn:c", "urn:a"]),
        (close(client.id, &["urn:c", "urn:a", "urn:b"]), &[]),
    ];
    for (change, expected) in changes {
        assert!(store.change_resources(change.clone()).await.unwrap());
        assert_eq!(opened(&*store, client.id).await, expected, "{change:?}");
    }
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client), "nothing else changed");
    assert_eq!(store.find_client(bystander.id).await.unwrap(), Some(bystander));
}

/// Opening a resource never creates a client.
pub async fn resources_of_nobody_are_not_changed(store: Arc<dyn Storage>) {
    let id = fixtures::client_id();
    assert!(!store.change_resources(open(id, &["urn:a"])).await.unwrap());
    assert!(!store.change_resources(close(id, &["urn:a"])).await.unwrap());
    assert_eq!(store.find_client(id).await.unwrap(), None);
}

/// Whoever read the client before the operator decided about it, and updates it afterwards, changes nothing
/// about whom it lets in and what it is told.
pub async fn an_update_leaves_access_alone(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let decided = ClientAccess { rule: Some(fixtures::rule("groups:a")), release: Release::All };
    assert!(store.change_access(deciding(client.id, &decided)).await.unwrap());
    for access in [ClientAccess::default(), ClientAccess { rule: None, ..decided.clone() }] {
        assert!(
            store
                .update_client(UpdateClient { client: Client { access, ..client.clone() }, event: None })
                .await
                .unwrap()
        );
        assert_eq!(access_of(&*store, client.id).await, decided);
    }
    assert!(store.change_access(deciding(client.id, &ClientAccess::default())).await.unwrap());
    assert!(
        store
            .update_client(UpdateClient { client: Client { access: decided, ..client.clone() }, event: None })
            .await
            .unwrap()
    );
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
}

/// The rule with each decision, and what the client is told with those that say it. Nothing else of the client
/// changes, and no other client.
pub async fn whom_a_client_lets_in_is_decided(store: Arc<dyn Storage>) {
    let [client, bystander] = [fixtures::client(), fixtures::client()];
    for client in [&client, &bystander] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    let some = Release::parse("a,c").unwrap();
    let decisions = [
        (Some("nobody"), None, Release::OfRule),
        (Some("groups:a,b"), Some(some.clone()), some.clone()),
        (Some("groups:a,b"), Some(some.clone()), some.clone()),
        (Some("everyone"), None, some.clone()),
        (None, None, some),
        (None, Some(Release::All), Release::All),
        (Some("groups:c"), None, Release::All),
        (Some("groups:c"), Some(Release::OfRule), Release::OfRule),
        (None, None, Release::OfRule),
    ];
    for (rule, change, release) in decisions {
        let rule = rule.map(fixtures::rule);
        let command = ChangeAccess { client: client.id, rule: rule.clone(), release: change, event: None };
        assert!(store.change_access(command).await.unwrap());
        let expected = Client { access: ClientAccess { rule, release }, ..client.clone() };
        assert_eq!(store.find_client(client.id).await.unwrap(), Some(expected));
    }
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client), "as it was at first");
    assert_eq!(store.find_client(bystander.id).await.unwrap(), Some(bystander));
}

/// Deciding never creates a client, and the next client of the id begins anew.
pub async fn access_of_nobody_is_not_decided(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    let command = fixtures::change_access(client.id, fixtures::rule("nobody"));
    assert!(!store.change_access(command.clone()).await.unwrap());
    assert_eq!(store.find_client(client.id).await.unwrap(), None);
    for _ in 0..2 {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        assert_eq!(access_of(&*store, client.id).await, ClientAccess::default());
        assert!(store.change_access(command.clone()).await.unwrap());
        assert!(store.delete_client(DeleteClient { id: client.id, event: None }).await.unwrap());
    }
}

fn deciding(client: ClientId, access: &ClientAccess) -> ChangeAccess {
    ChangeAccess { client, rule: access.rule.clone(), release: Some(access.release.clone()), event: None }
}

/// Whom a client lets in, and what it is told.
pub(crate) async fn access_of(store: &dyn Storage, client: ClientId) -> ClientAccess {
    store.find_client(client).await.unwrap().unwrap().access
}

/// The operator opens one resource each, while the client updates itself.
pub async fn openings_and_updates_at_once_all_stay(store: Arc<dyn Storage>) {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    let first: Vec<String> = (0..TASKS).map(|number| format!("urn:first:{number}")).collect();
    at_once(first.iter().map(|uri| {
        let (store, client) = (Arc::clone(&store), client.clone());
        let change = open(client.id, &[uri]);
        async move {
            assert!(store.change_resources(change).await.unwrap());
            assert!(store.update_client(UpdateClient { client, event: None }).await.unwrap());
        }
    }))
    .await;
    assert_eq!(sorted(opened(&*store, client.id).await), sorted(first.clone()));

    let second: Vec<String> = (0..TASKS).map(|number| format!("urn:second:{number}")).collect();
    at_once(first.iter().zip(&second).map(|(old, new)| {
        let store = Arc::clone(&store);
        let changes = [close(client.id, &[old]), open(client.id, &[new])];
        async move {
            for change in changes {
                assert!(store.change_resources(change).await.unwrap());
            }
        }
    }))
    .await;
    assert_eq!(sorted(opened(&*store, client.id).await), sorted(second));
}

/// Opens resources to a client.
pub(crate) fn open(client: ClientId, uris: &[&str]) -> ChangeResources {
    let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
    ChangeResources { client, change: ResourceChange::Open(uris), event: None }
}

fn close(client: ClientId, uris: &[&str]) -> ChangeResources {
    let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
    ChangeResources { client, change: ResourceChange::Close(uris), event: None }
}

/// The resources that are open to a client.
pub(crate) async fn opened(store: &dyn Storage, client: ClientId) -> Vec<String> {
    store.find_client(client).await.unwrap().unwrap().resources
}

pub(crate) fn sorted(mut uris: Vec<String>) -> Vec<String> {
    uris.sort();
    uris
}

/// A deleted client is not found; other clients are.
pub async fn a_deleted_client_is_gone(store: Arc<dyn Storage>) {
    let [gone, stays] = [fixtures::client(), fixtures::client()];
    for client in [&gone, &stays] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    assert!(store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap());
    assert_eq!(store.find_client(gone.id).await.unwrap(), None);
    assert!(!store.update_client(UpdateClient { client: gone.clone(), event: None }).await.unwrap());
    assert!(
        !store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap(),
        "it is already deleted"
    );
    assert_eq!(store.find_client(stays.id).await.unwrap(), Some(stays));
}

/// Deleting an unknown client is not an error.
pub async fn deleting_nobody_says_so(store: Arc<dyn Storage>) {
    assert!(!store.delete_client(DeleteClient { id: fixtures::client_id(), event: None }).await.unwrap());
}

/// Codes, access tokens and refresh tokens of a deleted client are not found; those of another client
/// stay.
pub async fn a_deleted_client_takes_its_codes_and_tokens_along(store: Arc<dyn Storage>) {
    let [gone, stays] = [fixtures::client(), fixtures::client()];
    let mut families = Vec::new();
    for client in [&gone, &stays] {
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
        let waiting = CompleteLogin { client: client.id, ..fixtures::complete_login() };
        steps::user_of(&*store, &waiting).await;
        let login = CompleteLogin { client: client.id, ..fixtures::complete_login() };
        steps::user_of(&*store, &login).await;
        let redemption = fixtures::redeem_code(login.id);
        assert_eq!(store.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Stored);
        let newest = steps::rotate(&*store, &redemption.token).await;
        families.push((waiting.id, redemption.token, newest));
    }

    let known = KnownAccess::from(&steps::access(&*store, &families[0].1).await);
    assert!(store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap());
    assert!(!store.lives_on(known).await.unwrap());

    let (waiting, first, newest) = families.remove(0);
    assert_eq!(store.find_grant(waiting).await.unwrap(), None);
    assert_eq!(store.find_grant(first.grant).await.unwrap(), None);
    assert_eq!(store.redeem_code(fixtures::redeem_code(waiting)).await.unwrap(), Redeemed::Unknown);
    for token in [&first, &newest] {
        assert_eq!(store.find_access(token.id).await.unwrap(), None);
        assert_eq!(store.find_refresh(token.id).await.unwrap(), None);
    }
    let rotation = fixtures::rotate_refresh(&newest);
    assert_eq!(store.rotate_refresh(rotation).await.unwrap(), Rotated::Unknown);

    let (waiting, first, newest) = families.remove(0);
    assert!(steps::is_live(&*store, &first).await);
    steps::rotate(&*store, &newest).await;
    assert_eq!(store.redeem_code(fixtures::redeem_code(waiting)).await.unwrap(), Redeemed::Stored);
}

/// A replica that still had the client cached may have completed a sign-in after the deletion.
pub async fn what_is_left_of_a_deleted_client_goes_when_it_is_deleted_again(store: Arc<dyn Storage>) {
    let gone = fixtures::client();
    store.register_client(RegisterClient { client: gone.clone(), event: None }).await.unwrap();
    assert!(store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap());
    let login = CompleteLogin { client: gone.id, ..fixtures::complete_login() };
    let LoginCompleted::CodeIssued { user } = store.complete_login(login.clone()).await.unwrap() else {
        panic!("a login does not check whether the client exists");
    };
    let redemption = fixtures::redeem_code(login.id);
    assert_eq!(store.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Stored);
    assert!(steps::consent(&*store, user, gone.id).await.is_some());

    assert!(
        !store.delete_client(DeleteClient { id: gone.id, event: None }).await.unwrap(),
        "the client itself was already deleted"
    );
    assert_eq!(store.find_grant(login.id).await.unwrap(), None);
    assert_eq!(store.find_access(redemption.token.id).await.unwrap(), None);
    assert_eq!(steps::consent(&*store, user, gone.id).await, None);
}

/// Pages in the order of ids, without gaps or repetitions, whatever the order of registration.
pub async fn clients_are_listed_by_id_in_pages(store: Arc<dyn Storage>) {
    let before_all = fixtures::client_id();
    let clients: Vec<_> = (0..5).map(|_| fixtures::client()).collect();
    for place in [3, 0, 4, 2, 1] {
        let client: &Client = &clients[place];
        store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    }
    let page = async |after, limit| store.list_clients(Some(after), limit).await.unwrap();
    assert_eq!(page(before_all, 2).await, clients[..2]);
    assert_eq!(page(clients[1].id, 2).await, clients[2..4]);
    assert_eq!(page(clients[3].id, 2).await, clients[4..]);
    assert_eq!(page(clients[4].id, 2).await, []);
    assert_eq!(page(before_all, 100).await, clients);
    assert_eq!(page(before_all, u32::MAX).await, clients);
    assert_eq!(page(before_all, 0).await, []);
    assert_eq!(store.list_clients(None, 100).await.unwrap(), clients);
    assert_eq!(store.list_clients(None, 3).await.unwrap(), clients[..3]);

    store.delete_client(DeleteClient { id: clients[2].id, event: None }).await.unwrap();
    assert_eq!(page(clients[2].id, 1).await, clients[3..4], "a page may start after a deleted client");
}

async fn names_sorted(
    store: &dyn Storage,
    filter: &ClientFilter,
    order: ClientOrder,
    limit: u32,
) -> Vec<String> {
    let mut names = Vec::new();
    let mut question = SortClients {
        filter: filter.clone(),
        default_access: fixtures::rule("groups:staff"),
        order,
        after: None,
        limit,
    };
    loop {
        let page = store.sort_clients(question.clone()).await.unwrap();
        assert!(page.clients.len() <= usize::try_from(limit).unwrap());
        names.extend(page.clients.into_iter().map(|listed| listed.client.metadata.name));
        let total = usize::try_from(page.total.counted).unwrap();
        assert!(!page.total.more && total >= names.len());
        if page.next.is_none() {
            assert_eq!(total, names.len());
            return names;
        }
        question.after = page.next;
    }
}

/// By name, last use or registration; and filtered by who can sign in, and by who registered them.
pub async fn clients_are_sorted_and_filtered(store: Arc<dyn Storage>) {
    let mut ids = Vec::new();
    let rules =
        [None, Some("everyone"), Some("groups:board,staff"), Some("nobody"), None, Some("groups:board")];
    let names = ["wiki", "Gitea", "gitea", "Zulip", "Immich", "gitea"];
    for (number, (name, rule)) in names.into_iter().zip(rules).enumerate() {
        let mut client = fixtures::client();
        client.metadata.name = name.to_owned();
        client.created_at = NOW + MINUTE * u32::try_from(number).unwrap();
        client.origin = if number % 2 == 0 { ClientOrigin::Operator } else { ClientOrigin::SelfRegistered };
        client.access.rule = rule.map(fixtures::rule);
        ids.push(client.id);
        store.register_client(RegisterClient { client, event: None }).await.unwrap();
    }
    let all = ClientFilter::default();
    let sorted = async |filter: &ClientFilter, order, expected: &[&str]| {
        for limit in [1, 2, 4, 100] {
            assert_eq!(names_sorted(&*store, filter, order, limit).await, expected, "{filter:?} by {limit}");
        }
    };
    let mut equal = [(ids[1], "Gitea"), (ids[2], "gitea"), (ids[5], "gitea")];
    equal.sort_unstable();
    let [first, second, third] = equal.map(|(_, name)| name);
    sorted(&all, ClientOrder::Name, &[first, second, third, "Immich", "wiki", "Zulip"]).await;
    sorted(&all, ClientOrder::Created, &["gitea", "Immich", "Zulip", "gitea", "Gitea", "wiki"]).await;

    let used = |place: usize, used_at| ClientUse { client: ids[place], used_at };
    let unknown = ClientUse { client: fixtures::client_id(), used_at: NOW + DAY };
    store.note_client_uses(vec![used(0, NOW + 2 * DAY), used(3, NOW + DAY), unknown]).await.unwrap();
    store.note_client_uses(vec![used(0, NOW + DAY)]).await.unwrap();
    sorted(&all, ClientOrder::LastUse, &["wiki", "Zulip", "gitea", "Immich", "gitea", "Gitea"]).await;
    let question = SortClients {
        filter: all,
        default_access: fixtures::rule("everyone"),
        order: ClientOrder::LastUse,
        after: None,
        limit: 3,
    };
    let page = store.sort_clients(question).await.unwrap();
    let uses: Vec<_> = page.clients.iter().map(|listed| listed.used_at).collect();
    assert_eq!(uses, [Some(NOW + 2 * DAY), Some(NOW + DAY), None]);

    let lets_in = |lets_in| ClientFilter { lets_in: Some(lets_in), origin: None };
    let staff = GroupName::parse("staff").unwrap();
    let created = ClientOrder::Created;
    sorted(&lets_in(LetsIn::ByDefault), created, &["Immich", "wiki"]).await;
    sorted(&lets_in(LetsIn::Everyone), created, &["Gitea"]).await;
    sorted(&lets_in(LetsIn::Group(staff.clone())), created, &["Immich", "gitea", "wiki"]).await;
    let origin = Some(ClientOrigin::SelfRegistered);
    sorted(&ClientFilter { lets_in: None, origin }, created, &["gitea", "Zulip", "Gitea"]).await;
    sorted(&ClientFilter { lets_in: Some(LetsIn::Group(staff)), origin }, created, &[]).await;
}
