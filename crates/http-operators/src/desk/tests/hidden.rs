//! Whoever is no operator cannot tell a server with a desk from one without.

use countersign_domain::subject::Subject;

use super::*;
use crate::desk::PLACES;

/// Everything that an answer says, except what names this one request.
fn told(answer: &Answer) -> (u16, BTreeMap<String, String>, String) {
    let mut headers = answer.headers.clone();
    let id = headers.remove("x-request-id").unwrap_or_default();
    headers.remove("date");
    (answer.status, headers, answer.body.replace(&id, "ID"))
}

/// Paths below `/admin`: all that there are, and some that there are not.
fn paths() -> Vec<String> {
    let ids = ["0197a2b4-dd20-7a41-b6f2-90c1e3d5a784", "x"];
    let there = PLACES.iter().flat_map(|place| {
        let path = format!("/admin{}", place.path);
        ids.map(|id| match path.split_once('{') {
            Some((before, _)) => format!("{before}{id}"),
            None => path.clone(),
        })
    });
    let more = [
        "/admin/",
        "/admin//",
        "/admin/nothing",
        "/admin/people/",
        "/admin/%2e%2e/account",
        "/admin/api/v1/users",
        "/admin/%ff",
    ];
    let mut paths: Vec<String> = there.chain(more.map(str::to_owned)).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The same request to another path.
fn request(method: &Method, path: &str, accept: &str, language: &str, body: Option<&[u8]>) -> TestRequest {
    let request = TestRequest::with_uri(path)
        .method(method.clone())
        .insert_header(("accept", accept))
        .insert_header(("accept-language", language));
    match body {
        Some(body) => request
            .insert_header(("content-type", "application/x-www-form-urlencoded"))
            .set_payload(body.to_vec()),
        None => request,
    }
}

#[actix_web::test]
async fn k_01_whoever_is_no_operator_gets_the_answer_of_a_path_that_does_not_exist() {
    let with = site(Quorum::Two).await;
    let without = Site::new().await;
    let mut count = 0;
    for site in [&with, &without] {
        let mut blocked = Browser::of(site, "bob").await;
        let who = Subject::Wallet(wallet("bob"));
        countersign_operators::people::block::block(
            site.context.management(),
            who,
            None,
            countersign_usecases::context::blocks::IfBlocked::EndAccess,
        )
        .await
        .unwrap();
        // The block ended the session; this is what a browser still sends.
        blocked.cookies.insert("__Host-countersign_login".to_owned(), "made-up".to_owned());
        for mut browser in [Browser::new(site), Browser::of(site, "eve").await, blocked] {
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
                let method = Method::from_bytes(method.as_bytes()).unwrap();
                for (accept, language) in
                    [("text/html", "en"), ("text/html", "ar"), ("application/json", "de"), ("*/*", "ja")]
                {
                    let large = vec![b'x'; 70_000];
                    for body in [None, Some(&b"form=x&change=user-block"[..]), Some(&large[..])] {
                        let nowhere = request(&method, "/nowhere/at/all", accept, language, body);
                        let nowhere = told(&browser.send(nowhere).await);
                        assert_eq!(nowhere.0, 404);
                        for path in paths() {
                            let there = request(&method, &path, accept, language, body);
                            assert_eq!(told(&browser.send(there).await), nowhere, "{method} {path} {accept}");
                            count += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{count} requests");
    assert!(count > 10_000, "{count}");
}

#[actix_web::test]
async fn an_operator_finds_every_place_and_learns_which_methods_it_has() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    for place in PLACES.iter().filter(|place| !place.path.contains('{')) {
        let path = format!("/admin{}", place.path);
        let answer = ada.send(Browser::asking(Method::DELETE, &path)).await;
        assert_eq!((answer.status, answer.headers["allow"].as_str()), (405, place.allow), "{path}");
    }
    for nothing in ["/admin/nothing", "/admin/people/x", "/admin/groups/none", "/admin/events/x"] {
        assert_eq!(ada.get(nothing).await.status, 404, "{nothing}");
    }
}

#[actix_web::test]
async fn only_operators_see_the_link_to_the_desk_on_their_account_page() {
    let site = site(Quorum::One).await;
    let link = "href=\"/admin\"";
    assert!(Browser::of(&site, "ada").await.page("/account").await.contains(link));
    assert!(!Browser::of(&site, "eve").await.page("/account").await.contains(link));
    let plain = Site::new().await;
    assert!(!Browser::of(&plain, "ada").await.page("/account").await.contains(link));
}

#[actix_web::test]
async fn k_12_a_private_desk_does_not_exist_on_the_public_listener() {
    let policy = DeskPolicy { admins: vec![wallet("ada")], group: None, quorum: Quorum::One };
    let site = Site::with(ISSUER, Some((policy, routes(DeskPlace::Private)))).await;
    let mut ada = Browser::of(&site, "ada").await;
    let nowhere = told(&ada.get("/nowhere/at/all").await);
    for path in paths() {
        assert_eq!(told(&ada.get(&path).await), nowhere, "{path}");
    }
    assert!(!ada.page("/account").await.contains("href=\"/admin\""));
}
