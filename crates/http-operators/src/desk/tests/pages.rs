//! The pages with nothing on them, and with much: long names, words from right to left, and names that try to be markup.

use std::collections::BTreeSet;

use countersign_domain::admin_key::{AdminArea, AdminKeyName, AdminRight, AdminScope, AdminScopes};
use countersign_domain::admission::{AccessRule, Block};
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::group::{GroupName, GroupTitle};
use countersign_domain::resource::{OpenTo, Resource, ResourceName, ResourceScope, ScopeTitle};
use countersign_domain::scope::ScopeName;
use countersign_domain::subject::Subject;
use countersign_operators::admin_keys::create_admin_key::create_admin_key;
use countersign_operators::people::add_members::add_members;
use countersign_operators::people::block::block;
use countersign_operators::people::change_access::change_access;
use countersign_operators::people::groups::create_group;
use countersign_usecases::clients::declare_resource::create_resource;
use countersign_usecases::clients::register_client::register_client;
use countersign_usecases::context::blocks::IfBlocked;

use super::*;
use crate::desk::PLACES;
use crate::desk::query::segment;

/// What people might write to see what happens.
const MARKUP: &str = "<script>alert(1)</script>\" onfocus=alert(2) autofocus '><img src=x> {{ 7 * 7 }}";
const ARABIC: &str = "مجموعة المشغلين";

/// The pages that need no name.
fn places() -> impl Iterator<Item = String> {
    let places = PLACES.iter().filter(|place| place.allow != "POST" && !place.path.contains('{'));
    places.filter(|place| place.path != "/").map(|place| format!("/admin{}", place.path))
}

/// What is so on every page.
fn judge(path: &str, answer: &Answer) {
    let Answer { status, headers, body, .. } = answer;
    assert_eq!(*status, 200, "{path}: {body}");
    assert_eq!(headers["cache-control"], "no-store", "{path}");
    let policy = &headers["content-security-policy"];
    assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(body.matches("<h1").count(), 1, "{path}: {body}");
    assert_eq!(body.matches("<main").count(), 1, "{path}");
    for forbidden in [
        "<script>",
        " style=",
        "javascript:",
        "{{ t.",
        "{{ base",
        "{%",
        "<img src=x>",
        "\" onfocus",
        "onclick",
    ] {
        let found = body
            .find(forbidden)
            .map(|at| body[at.saturating_sub(100)..].chars().take(200).collect::<String>());
        assert_eq!(found, None, "{path}: {forbidden}");
    }
    let mut ids: Vec<&str> =
        body.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "{path}: an id is there twice: {body}");
    for form in body.split("<form method=\"post\"").skip(1) {
        let form = form.split("</form>").next().unwrap();
        assert!(form.contains("name=\"form\" value=\""), "{path}: {form}");
    }
}

#[actix_web::test]
async fn every_page_is_there_for_an_operator_of_an_empty_server() {
    let site = site(Quorum::Two).await;
    let mut ada = Browser::of(&site, "ada").await;
    for path in places() {
        let answer = ada.get(&path).await;
        judge(&path, &answer);
        for language in ["ar", "de", "ja"] {
            judge(&path, &ada.get(&format!("{path}?lang={language}")).await);
        }
        ada.get(&format!("{path}?lang=en")).await;
    }
}

/// Fills the server with what is hard to show.
async fn fill(site: &Site) -> Vec<String> {
    let management = site.context.management();
    let mut paths = Vec::new();
    Browser::of(site, "eve").await;
    let eve = site.context.storage.find_owner(wallet("eve")).await.unwrap().unwrap();
    paths.push(format!("/admin/people/{eve}"));
    block(
        management,
        Subject::Wallet(wallet(MARKUP)),
        Some(Block::judge_reason(MARKUP).unwrap()),
        IfBlocked::EndAccess,
    )
    .await
    .unwrap();
    block(management, Subject::User(eve), Some(Block::judge_reason(ARABIC).unwrap()), IfBlocked::EndAccess)
        .await
        .unwrap();
    paths.push(format!("/admin/wallets/{}", segment(&wallet(MARKUP).caip10())));
    paths.push("/admin/wallets/toy:1:toy-eve".to_owned());
    paths.push("/admin/wallets/toy:1:toy-nobody".to_owned());
    for (name, title) in [("markup", MARKUP), ("arabic", ARABIC)] {
        let (name, title) = (GroupName::parse(name).unwrap(), GroupTitle::parse(title).unwrap());
        create_group(management, name.clone(), Some(title), &[]).await.unwrap();
        let members =
            vec![Subject::User(eve), Subject::Wallet(wallet(MARKUP)), Subject::Wallet(wallet("nobody"))];
        add_members(management, &name, members).await.unwrap();
        paths.push(format!("/admin/groups/{name}"));
    }
    let requested = RequestedMetadata {
        client_name: Some(MARKUP.to_owned()),
        redirect_uris: Some(vec![format!("https://a.example/{}", "long/".repeat(100))]),
        ..RequestedMetadata::default()
    };
    let client = register_client(management, requested, ClientOrigin::Operator).await.unwrap();
    paths.push(format!("/admin/clients/{}", client.client.id));
    let scope = ResourceScope {
        name: ScopeName::parse("photos.read").unwrap(),
        title: ScopeTitle::parse(MARKUP).unwrap(),
        titles: BTreeMap::from([("ar".to_owned(), ScopeTitle::parse(ARABIC).unwrap())]),
        needs: Some(GroupName::parse("markup").unwrap()),
    };
    let resource = Resource {
        uri: "https://photos.example/api".to_owned(),
        name: Some(ResourceName::parse(MARKUP).unwrap()),
        open_to: OpenTo::Named,
        scopes: vec![scope],
        created_at: management.clock.now(),
    };
    create_resource(management, resource).await.unwrap();
    let scope = AdminScope { area: AdminArea::Users, right: AdminRight::Read };
    let name = AdminKeyName::parse("CI").unwrap();
    create_admin_key(management, name, AdminScopes::of([scope]), None).await.unwrap();
    paths
}

#[actix_web::test]
async fn names_that_try_to_be_markup_are_only_ever_words() {
    let site = site(Quorum::Two).await;
    let mut paths = fill(&site).await;
    let mut ada = Browser::of(&site, "ada").await;
    let events = ada.page("/admin/events?limit=500").await;
    let ids =
        events.split("href=\"/admin/events/").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    paths.extend(ids.map(|id| format!("/admin/events/{id}")));
    paths.extend(places());
    for query in [
        "/admin/people?blocked=true&group=markup",
        "/admin/wallets?blocked=true",
        "/admin/search?q=example",
        "/admin/events?type=user_blocked,wallet_blocked&user=toy-eve&since=2020-01-01",
    ] {
        paths.push(query.to_owned());
    }
    let mut shown = String::new();
    for path in &paths {
        let answer = ada.get(path).await;
        if answer.status == 302 {
            continue;
        }
        judge(path, &answer);
        shown.push_str(&answer.body);
    }
    for words in ["&lt;script&gt;alert(1)&lt;", ARABIC] {
        assert!(shown.matches(words).count() > 5, "{words}");
    }
    println!("{} pages", paths.len());
}

#[actix_web::test]
async fn what_is_typed_into_a_filter_or_the_search_comes_back_as_words() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let typed = url::form_urlencoded::byte_serialize(MARKUP.as_bytes()).collect::<String>();
    judge("search", &ada.get(&format!("/admin/search?q={typed}")).await);
    for path in [
        "people?group",
        "clients?rule",
        "clients?registered_by",
        "events?user",
        "events?client",
        "events?type",
        "events?since",
        "events?day",
    ] {
        let answer = ada.get(&format!("/admin/{path}={typed}")).await;
        assert_eq!(answer.status, 400, "{path}");
        judge(path, &Answer { status: 200, ..answer });
    }
    for wrong in [
        "people?after=x",
        "events?limit=0",
        "wallets?after=x",
        "groups?after=X",
        "clients?after=1",
        "people?sort=x",
        "clients?sort=x",
        "clients?after=eA",
        "resources?after=x",
        "proposals?after=x",
    ] {
        assert_eq!(ada.get(&format!("/admin/{wrong}")).await.status, 400, "{wrong}");
    }
}

#[actix_web::test]
async fn a_list_goes_on_after_its_last_row_and_shows_everything_once() {
    let site = site(Quorum::One).await;
    for number in 0..7 {
        let name = GroupName::parse(&format!("group-{number}")).unwrap();
        create_group(site.context.management(), name, None, &[]).await.unwrap();
        Browser::of(&site, &format!("n{number}")).await;
    }
    let mut ada = Browser::of(&site, "ada").await;
    for (path, row, all) in [
        ("/admin/groups", "/admin/groups/group-", 7),
        ("/admin/people", "/admin/people/", 8),
        ("/admin/wallets", "/admin/wallets/toy", 8),
        ("/admin/clients", "/admin/clients/", 9),
    ] {
        let mut next = format!("{path}?limit=3");
        let mut seen = BTreeSet::new();
        let mut pages = 0;
        let start = format!("href=\"{row}");
        loop {
            let page = ada.page(&next).await;
            let rows = page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            // The menu of a row leads to the same page, to a form.
            seen.extend(rows.filter(|row| !row.contains('?')));
            pages += 1;
            let Some((_, rest)) = page.split_once("id=\"next\" href=\"") else { break };
            next = format!("{path}{}", unescaped(rest.split_once('"').unwrap().0));
        }
        assert_eq!(seen.len(), all, "{path}: {seen:?}");
        assert_eq!(pages, all.div_ceil(3), "{path}");
    }
}

/// The clients that a group's page lists, on all pages, and how many pages there are.
async fn clients_named_on(browser: &mut Browser<'_>, path: &str, limit: u32) -> (BTreeSet<String>, usize) {
    let (mut seen, mut pages) = (BTreeSet::new(), 0);
    let mut next = format!("{path}?limit={limit}");
    loop {
        let page = browser.page(&next).await;
        let rows = page.split("href=\"/admin/clients/").skip(1);
        let rows: Vec<_> = rows.map(|rest| rest.split("#access\"").next().unwrap().to_owned()).collect();
        assert!(rows.len() <= usize::try_from(limit).unwrap(), "{page}");
        assert!(rows.into_iter().all(|row| seen.insert(row)), "a client is there twice: {page}");
        pages += 1;
        let Some((_, rest)) = page.split_once("id=\"next-clients\" href=\"") else { break (seen, pages) };
        let to = unescaped(rest.split_once('"').unwrap().0);
        next = format!("{path}{}", to.strip_suffix("#clients").unwrap());
    }
}

#[actix_web::test]
async fn k_10_a_group_s_page_lists_the_clients_whose_rules_name_it_and_reads_so_many_at_a_time() {
    let site = site(Quorum::One).await;
    let management = site.context.management();
    let [staff, guests] = ["staff", "guests"].map(|name| GroupName::parse(name).unwrap());
    for name in [&staff, &guests] {
        create_group(management, name.clone(), None, &[]).await.unwrap();
    }
    let let_in = async |client: Client, groups: Vec<GroupName>| {
        let id = client.id.to_string();
        change_access(management, client, Some(AccessRule::Groups(groups)), None).await.unwrap();
        id
    };
    let mut clients = management.clients.list(None, 500).await.unwrap().into_iter();
    let mut expected = BTreeSet::new();
    for _ in 0..3 {
        expected.insert(let_in(clients.next().unwrap(), vec![staff.clone()]).await);
    }
    expected.insert(let_in(clients.next().unwrap(), vec![guests.clone(), staff.clone()]).await);
    let only_guests = let_in(clients.next().unwrap(), vec![guests]).await;
    let mut ada = Browser::of(&site, "ada").await;
    assert_eq!(clients_named_on(&mut ada, "/admin/groups/staff", 3).await, (expected.clone(), 2));
    assert_eq!(clients_named_on(&mut ada, "/admin/groups/staff", 4).await, (expected.clone(), 1));
    assert!(!expected.contains(&only_guests));
    assert_eq!(ada.get("/admin/groups/staff?clients_after=x").await.status, 400);

    // Of more clients than one page looks through, the last one is found on the next page.
    for number in 0..510 {
        let requested = RequestedMetadata {
            client_name: Some(format!("Client {number}")),
            redirect_uris: Some(vec!["https://a.example/cb".to_owned()]),
            ..RequestedMetadata::default()
        };
        register_client(management, requested, ClientOrigin::Operator).await.unwrap();
    }
    let all = management.clients.list(None, 1_000).await.unwrap();
    expected.insert(let_in(all.into_iter().next_back().unwrap(), vec![staff]).await);
    assert_eq!(clients_named_on(&mut ada, "/admin/groups/staff", 50).await, (expected, 2));
}

/// What a person reads on an error page leads an operator to why, and to what to do.
#[actix_web::test]
async fn the_reference_on_an_error_page_leads_to_what_happened_and_why_not_now() {
    let site = site(Quorum::One).await;
    let management = site.context.management();
    let staff = GroupName::parse("staff").unwrap();
    create_group(management, staff.clone(), None, &[]).await.unwrap();
    let requested = RequestedMetadata {
        client_name: Some("Wiki".to_owned()),
        redirect_uris: Some(vec![CALLBACK.to_owned()]),
        ..RequestedMetadata::default()
    };
    let client = register_client(management, requested, ClientOrigin::Operator).await.unwrap().client;
    let (id, name) = (client.id, client.metadata.name.clone());
    change_access(management, client, Some(AccessRule::Groups(vec![staff.clone()])), None).await.unwrap();
    let mut ada = Browser::of(&site, "ada").await;

    // Another person cannot sign in, and reads the reference.
    let mut eve = Browser::new(&site);
    let answer = eve.sign_in_to(&id.to_string(), "eve").await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    let reference = answer.headers["x-request-id"].clone();
    let path = format!("/admin/refusals/{reference}");
    let found = ada.get(&format!("/admin/search?q={reference}")).await;
    assert_eq!((found.status, found.location), (302, Some(path.clone())));
    let page = ada.get(&path).await;
    judge(&path, &page);
    for said in [
        name.as_str(),
        "toy-eve",
        "none of the groups that can sign in: <bdi>staff</bdi>",
        "POST /oauth/login",
    ] {
        assert!(page.body.contains(said), "{said}: {}", page.body);
    }
    for list in [
        "/admin/refusals".to_owned(),
        "/admin/refusals?reason=not_admitted".to_owned(),
        format!("/admin/refusals?q={}", &reference[reference.len() - 8..]),
        format!("/admin/refusals?q={id}"),
        "/admin/refusals?q=TOY-EVE".to_owned(),
        "/admin".to_owned(),
    ] {
        let answer = ada.get(&list).await;
        judge(&list, &answer);
        assert!(answer.body.contains(&path), "{list}");
    }
    for list in ["/admin/refusals?reason=code", "/admin/refusals?q=toy-ada"] {
        assert!(!ada.page(list).await.contains(&path), "{list}");
    }

    // The same question from the other side, before and after the group has her.
    let wallet_page = format!("/admin/wallets/toy:1:toy-eve?client={}", segment(&name));
    let client_page = format!("/admin/clients/{id}?who=toy-eve");
    for asked in [&wallet_page, &client_page] {
        assert!(
            ada.page(asked).await.contains("none of the groups that can sign in: <bdi>staff</bdi>"),
            "{asked}"
        );
    }
    add_members(management, &staff, vec![Subject::Wallet(wallet("eve"))]).await.unwrap();
    for asked in [&wallet_page, &client_page, &path] {
        assert!(ada.page(asked).await.contains("Yes, as a member of <bdi>staff</bdi>."), "{asked}");
    }
    let reason = Some(Block::judge_reason("spam").unwrap());
    block(management, Subject::Wallet(wallet("eve")), reason, IfBlocked::EndAccess).await.unwrap();
    for asked in [&wallet_page, &client_page, &path] {
        let page = ada.page(asked).await;
        assert!(page.contains("It is blocked since") && page.contains("spam"), "{asked}");
    }

    // What cannot be answered says why, and nothing is lost.
    for (asked, why) in [
        ("/admin/wallets/toy:1:toy-eve?client=nothing-like-that".to_owned(), "no client has this id"),
        (format!("/admin/clients/{id}?who=nonsense"), "id=\"trouble\""),
    ] {
        assert!(ada.page(&asked).await.contains(why), "{asked}");
    }
    let unknown = ada.get("/admin/refusals/ffffffffffffffffffffffffffffffff").await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.body.contains("knows no refusal"), "{}", unknown.body);

    // No one else reads any of it.
    for path in [path.as_str(), "/admin/refusals"] {
        assert_eq!(eve.get(path).await.status, 404, "{path}");
    }
}

#[actix_web::test]
async fn a_search_leads_at_once_to_the_only_thing_that_it_finds() {
    let site = site(Quorum::Two).await;
    fill(&site).await;
    let mut ada = Browser::of(&site, "ada").await;
    let eve = site.context.storage.find_owner(wallet("eve")).await.unwrap().unwrap();
    for (text, to) in [
        (eve.to_string(), format!("/admin/people/{eve}")),
        ("toy-nobody".to_owned(), "/admin/wallets/toy:1:toy-nobody".to_owned()),
        ("toy:1:toy-eve".to_owned(), "/admin/wallets/toy:1:toy-eve".to_owned()),
        ("arabic".to_owned(), "/admin/groups/arabic".to_owned()),
        ("photos.read".to_owned(), "/admin/resources".to_owned()),
        ("kid-active".to_owned(), "/admin/keys".to_owned()),
    ] {
        let answer = ada.get(&format!("/admin/search?q={}", segment(&text))).await;
        assert_eq!((answer.status, answer.location), (302, Some(to)), "{text}");
    }
    assert!(ada.page("/admin/search?q=nothing-at-all").await.contains("Nothing was found."));
}

/// What an operator chose stays in every link of the list, and in its form.
#[actix_web::test]
async fn lists_keep_their_filters_and_their_order() {
    let site = site(Quorum::One).await;
    fill(&site).await;
    let members: Vec<String> = (0..3).map(|number| format!("n{number}")).collect();
    let group = GroupName::parse("markup").unwrap();
    for member in &members {
        Browser::of(&site, member).await;
        add_members(site.context.management(), &group, vec![Subject::Wallet(wallet(member))]).await.unwrap();
    }
    let mut ada = Browser::of(&site, "ada").await;
    let page = ada.page("/admin/people?group=markup&sort=created&limit=2").await;
    assert!(page.contains("<option selected>markup</option>"), "{page}");
    assert!(page.contains("name=\"sort\" value=\"created\"") && page.contains("name=\"limit\" value=\"2\""));
    assert!(
        page.contains("aria-sort=\"descending\"><a href=\"?group=markup&amp;limit=2&amp;sort=created\""),
        "{page}"
    );
    assert!(page.contains("<a href=\"?group=markup&amp;limit=2&amp;sort=last_sign_in\""), "{page}");
    let (_, next) = page.split_once("id=\"next\" href=\"").unwrap();
    let next = unescaped(next.split_once('"').unwrap().0);
    assert!(next.starts_with("?group=markup&sort=created&limit=2&after="), "{next}");
    assert!(page.contains("Matching: <bdi>4</bdi>"), "{page}");
    let rest = ada.page(&format!("/admin/people{next}")).await;
    assert_eq!(rest.matches("<th scope=\"row\">").count(), 2, "{rest}");
    assert!(!rest.contains("id=\"next\""), "{rest}");

    let clients = ada.page("/admin/clients?rule=groups:markup&registered_by=operator&sort=last_used").await;
    assert!(clients.contains("value=\"groups:markup\" selected"), "{clients}");
    assert!(clients.contains("value=\"operator\" selected"), "{clients}");
    assert!(clients.contains("Matching: <bdi>0</bdi>"), "{clients}");
    let clients = ada.page("/admin/clients?registered_by=operator&sort=last_used").await;
    assert!(clients.contains("<a href=\"?registered_by=operator&amp;sort=name\""), "{clients}");
}
