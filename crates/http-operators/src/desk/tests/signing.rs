//! Changes: nothing changes without a signature of its own text, and with it exactly what it says.

use countersign_domain::event::EventKind;
use countersign_domain::subject::Subject;
use countersign_ports::{EventFilter, EventOrder, EventPage};

use super::*;

const VICTIM: &str = "toy:1:toy-mallory";

async fn is_blocked(site: &Site) -> bool {
    site.context.storage.standing_of(&wallet("mallory")).await.unwrap().block.is_some()
}

/// How many changes were recorded that were made at the desk.
async fn made(site: &Site) -> usize {
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 500 };
    let events = site.context.storage.list_events(&EventFilter::default(), page).await.unwrap();
    events.iter().filter(|event| event.signed.is_some()).count()
}

#[actix_web::test]
async fn a_signed_change_is_made_and_its_event_shows_the_text_and_the_signature() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let asked = ada.begin("wallet-block", &[("wallet", VICTIM), ("reason", "spam <b>")]).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    assert_eq!(asked.headers["cross-origin-opener-policy"], "same-origin-allow-popups");
    assert!(asked.body.contains("data-state=\"desk-sign\""), "{}", asked.body);
    assert!(!is_blocked(&site).await, "nothing changes before it is signed");
    let done = ada.sign(&asked.body, "ada").await;
    assert_eq!(done.status, 200, "{}", done.body);
    assert!(done.body.contains("data-done=\"wallet_block\""), "{}", done.body);
    assert!(is_blocked(&site).await);
    let events = ada.page("/admin/events?type=wallet_blocked").await;
    let id = events.split("href=\"/admin/events/").nth(1).unwrap().split('"').next().unwrap();
    let event = unescaped(&ada.page(&format!("/admin/events/{id}")).await);
    assert!(event.contains("wallet:toy:1:toy-ada") && event.contains("toy-ada signs "), "{event}");
    assert!(event.contains("urn:countersign:change:wallet-block"), "{event}");
    assert_eq!(made(&site).await, 1);
}

#[actix_web::test]
async fn k_04_a_text_works_once_and_only_in_the_browser_that_asked_for_it() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let asked = ada.begin("wallet-block", &[("wallet", VICTIM)]).await.body;
    let before = ada.cookies.clone();
    let mut other = Browser::of(&site, "ada").await;
    assert!(other.sign(&asked, "ada").await.status >= 400);
    assert!(!is_blocked(&site).await);
    assert_eq!(ada.sign(&asked, "ada").await.status, 200);
    // The cookie from before, as a browser can keep it.
    ada.cookies = before;
    let again = ada.sign(&asked, "ada").await;
    assert!([401, 409].contains(&again.status), "{}", again.status);
    assert_eq!(made(&site).await, 1);
}

#[actix_web::test]
async fn k_02_a_session_without_the_right_signature_changes_nothing() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let asked = ada.begin("wallet-block", &[("wallet", VICTIM)]).await.body;
    let [form, text] = ["form", "challenge"].map(|field| value_in(&asked, "sign-form", field));
    let good = sign("toy-ada", &text);
    let other_text = text.replace("mallory", "eve");
    let refused: [(u16, Vec<(&str, &str)>); 8] = [
        (400, vec![("form", &form), ("challenge", &text)]),
        (400, vec![("form", &form), ("signature", &good)]),
        (403, vec![("challenge", &text), ("signature", &good)]),
        (403, vec![("form", "x"), ("challenge", &text), ("signature", &good)]),
        (401, vec![("form", &form), ("challenge", &text), ("signature", "x")]),
        (401, vec![("form", &form), ("challenge", &text), ("signature", "toy-bob signs it")]),
        (401, vec![("form", &form), ("challenge", &other_text), ("signature", &good)]),
        (400, vec![("form", &form), ("form", &form), ("challenge", &text), ("signature", &good)]),
    ];
    for (status, fields) in refused {
        assert_eq!(ada.post("/admin/changes/sign", &fields).await.status, status, "{fields:?}");
        assert!(!is_blocked(&site).await, "{fields:?}");
    }
    for (name, value) in
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("origin", "null")]
    {
        for path in
            ["/admin/changes", "/admin/changes/sign", "/admin/proposals/begin", "/admin/proposals/sign"]
        {
            let fields = [("form", form.as_str()), ("challenge", &text), ("signature", &good)];
            let request = Browser::asking(Method::POST, path).insert_header((name, value)).set_form(fields);
            assert_eq!(ada.send(request).await.status, 403, "{path} {name}");
        }
    }
    assert_eq!((is_blocked(&site).await, made(&site).await), (false, 0));
    let done =
        ada.post("/admin/changes/sign", &[("form", &form), ("challenge", &text), ("signature", &good)]).await;
    assert_eq!(done.status, 200, "the right one still works: {}", done.body);
}

#[actix_web::test]
async fn a_form_that_asks_for_a_change_needs_the_secret_of_a_page() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let secret = ada.secret().await;
    let fields = [("change", "wallet-block"), ("wallet", VICTIM)];
    assert_eq!(ada.post("/admin/changes", &fields).await.status, 403);
    let theirs = Browser::of(&site, "bob").await.secret().await;
    for wrong in ["", "x", &theirs] {
        let fields = [("form", wrong), fields[0], fields[1]];
        assert_eq!(ada.post("/admin/changes", &fields).await.status, 403, "{wrong}");
        assert_eq!(ada.post("/admin/proposals/begin", &fields).await.status, 403, "{wrong}");
    }
    let body = json!({ "form": secret, "change": "wallet-block", "wallet": VICTIM });
    assert_eq!(ada.json("/admin/changes", &body).await.status, 400, "it takes forms");
    let nothing = [("form", secret.as_str()), ("change", "everything")];
    assert_eq!(ada.post("/admin/changes", &nothing).await.status, 400);
}

#[actix_web::test]
async fn what_was_typed_is_there_again_where_it_is_refused() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    for (change, fields) in [
        ("wallet-block", vec![("wallet", "<nobody>"), ("reason", "spam \"one\"")]),
        ("group-create", vec![("group", "No Name"), ("title", "spam \"one\"")]),
        (
            "client-register",
            vec![("client_name", "spam \"one\""), ("redirect_uris", "javascript:x"), ("rule", "nobody")],
        ),
        ("resource-create", vec![("uri", "https://a.example"), ("resource_scopes", "spam \"one\" = x")]),
        ("admin-key-create", vec![("key_name", "spam \"one\"")]),
    ] {
        let answer = ada.begin(change, &fields).await;
        assert!([400, 409].contains(&answer.status), "{change}: {}", answer.status);
        assert!(answer.body.contains("data-state=\"desk-refused\""), "{change}");
        assert!(answer.body.contains("id=\"trouble\""), "{change}");
        assert!(unescaped(&answer.body).contains("spam \"one\""), "{change}: {}", answer.body);
        assert!(!answer.body.contains("<nobody>"), "{change}");
    }
}

#[actix_web::test]
async fn k_05_a_change_whose_subject_changed_meanwhile_is_refused_and_the_page_says_what_changed() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let asked = ada.begin("wallet-block", &[("wallet", VICTIM), ("reason", "one")]).await.body;
    let who = Subject::Wallet(wallet("mallory"));
    countersign_operators::people::block::block(
        site.context.management(),
        who,
        Some("two".to_owned()),
        countersign_usecases::context::blocks::IfBlocked::EndAccess,
    )
    .await
    .unwrap();
    let stale = ada.sign(&asked, "ada").await;
    assert_eq!(stale.status, 409, "{}", stale.body);
    assert!(
        stale.body.contains("data-state=\"desk-stale\"") && stale.body.contains("id=\"changed\""),
        "{}",
        stale.body
    );
    assert!(stale.body.contains("two"), "{}", stale.body);
    assert_eq!(made(&site).await, 0);
}

#[actix_web::test]
async fn a_new_secret_is_shown_with_the_settings_of_the_application() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let fields = [
        ("application", "wiki"),
        ("application_url", "https://wiki.example/"),
        ("scope", "openid profile"),
        ("rule", "nobody"),
    ];
    let asked = ada.begin("client-register", &fields).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let [form, text] = ["form", "challenge"].map(|field| value_in(&asked.body, "sign-form", field));
    let signature = sign("toy-ada", &text);
    let signed =
        [("form", form.as_str()), ("challenge", &text), ("signature", &signature), fields[0], fields[1]];
    let done = ada.post("/admin/changes/sign", &signed).await;
    assert_eq!(done.status, 200, "{}", done.body);
    let body = unescaped(&done.body);
    assert!(
        body.contains("Wiki <b>") && body.contains("wiki.toml") && body.contains("id=\"only-once\""),
        "{body}"
    );
    let secret = body.split("id=\"secret-1\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(secret.len() > 30 && body.matches(&secret).count() >= 2, "{body}");
    let id = body.split("id=\"back\" href=\"/admin/clients/").nth(1).unwrap().split('"').next().unwrap();
    let client = ada.page(&format!("/admin/clients/{id}")).await;
    assert!(client.contains("https://wiki.example/cb") && !client.contains(&secret), "{client}");
}

#[actix_web::test]
async fn k_07_with_a_quorum_of_two_the_first_operator_waits_for_another_person() {
    let site = site(Quorum::Two).await;
    let mut ada = Browser::of(&site, "ada").await;
    let fields = [("key_name", "CI"), ("admin_scopes", "users:read")];
    let asked = ada.begin("admin-key-create", &fields).await;
    assert!(asked.body.contains("id=\"second\""), "{}", asked.body);
    let proposed = ada.sign(&asked.body, "ada").await;
    assert!(proposed.body.contains("data-state=\"desk-proposed\""), "{}", proposed.body);
    let id = proposed.body.split("/admin/proposals/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let path = format!("/admin/proposals/{id}");
    let own = ada.page(&path).await;
    assert!(own.contains("id=\"same-person\"") && own.contains("value=\"proposal-withdraw\""), "{own}");
    let secret = ada.secret().await;
    let own = ada.post("/admin/proposals/begin", &[("form", &secret), ("proposal", &id)]).await;
    assert_eq!(own.status, 403, "{}", own.body);
    let mut bob = Browser::of(&site, "bob").await;
    assert!(bob.page("/admin/proposals").await.contains(&path));
    let theirs = bob.page(&path).await;
    assert!(theirs.contains("action=\"/admin/proposals/begin\""), "{theirs}");
    let secret = bob.secret().await;
    let asked = bob.post("/admin/proposals/begin", &[("form", &secret), ("proposal", &id)]).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let done = bob.sign(&asked.body, "bob").await;
    assert!(
        done.body.contains("data-done=\"admin_key_create\"") && done.body.contains("csak_"),
        "{}",
        done.body
    );
    let over = ada.page(&path).await;
    assert!(over.contains("id=\"second-heading\"") && !over.contains("id=\"same-person\""), "{over}");
    assert!(bob.post("/admin/proposals/begin", &[("form", &secret), ("proposal", &id)]).await.status == 409);
    let page = EventPage { order: EventOrder::OldestFirst, after: None, limit: 500 };
    let filter = EventFilter { kinds: vec![EventKind::AdminKeyCreated], ..EventFilter::default() };
    let events = site.context.storage.list_events(&filter, page).await.unwrap();
    assert_eq!(events[0].signed.as_ref().unwrap().as_str().matches("\"signature\":").count(), 2);
}

#[actix_web::test]
async fn five_wrong_signatures_end_a_text() {
    let site = site(Quorum::One).await;
    let mut ada = Browser::of(&site, "ada").await;
    let asked = ada.begin("wallet-block", &[("wallet", VICTIM)]).await.body;
    let [form, text] = ["form", "challenge"].map(|field| value_in(&asked, "sign-form", field));
    for left in (0..5).rev() {
        let fields = [("form", form.as_str()), ("challenge", &text), ("signature", "wrong")];
        let answer = ada.post("/admin/changes/sign", &fields).await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.body.contains("id=\"sign-form\""), left > 0, "{left}: {}", answer.body);
    }
    let good = sign("toy-ada", &text);
    let fields = [("form", form.as_str()), ("challenge", &text), ("signature", &good)];
    assert_eq!(ada.post("/admin/changes/sign", &fields).await.status, 401);
    assert!(!is_blocked(&site).await);
}

#[actix_web::test]
async fn loading_the_page_of_a_change_again_shows_it_again_and_the_secret_only_for_all_that_was_sent() {
    let site = site(Quorum::Two).await;
    let mut ada = Browser::of(&site, "ada").await;
    let registration = [
        ("client_name", "Wiki"),
        ("redirect_uris", "https://wiki.example/cb"),
        ("scope", "profile"),
        ("rule", "nobody"),
    ];
    let asked = ada.begin("client-register", &registration).await.body;
    let done = ada.sign(&asked, "ada").await;
    assert!(done.status == 200 && done.body.contains("id=\"only-once\""), "{}", done.body);
    let secret = done.body.split("id=\"secret-1\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let before = made(&site).await;
    for _ in 0..2 {
        let again = ada.sign(&asked, "ada").await;
        assert_eq!(again.status, 409);
        assert!(again.body.contains("data-done=\"client_register\""), "{}", again.body);
        assert!(again.body.contains("id=\"again\"") && again.body.contains("id=\"back\""), "{}", again.body);
        assert!(again.body.contains(&secret) && !again.body.contains("timed out"), "{}", again.body);
    }
    // A thief of the cookies can read the signature in the record, but not the secret of the form.
    let [text, signature] = [
        value_in(&asked, "sign-form", "challenge"),
        sign("toy-ada", &value_in(&asked, "sign-form", "challenge")),
    ];
    for form in ["", "guessed"] {
        let fields = [("form", form), ("challenge", &text), ("signature", &signature)];
        let again = ada.post("/admin/changes/sign", &fields).await;
        assert!(again.status == 409 && again.body.contains("id=\"again\""), "{}", again.body);
        assert!(!again.body.contains("only-once") && !again.body.contains(&secret), "{}", again.body);
    }
    site.clock.advance(site.context.policy.lifetimes.challenge);
    let late = ada.sign(&asked, "ada").await;
    assert!(late.status == 409 && !late.body.contains(&secret), "{}", late.body);
    // A proposal still waits.
    let create =
        ada.begin("admin-key-create", &[("key_name", "CI"), ("admin_scopes", "users:read")]).await.body;
    assert!(ada.sign(&create, "ada").await.body.contains("id=\"proposal\""));
    let again = ada.sign(&create, "ada").await;
    assert!(again.status == 409 && again.body.contains("id=\"proposal\""), "{}", again.body);
    assert_eq!(made(&site).await, before + 1);
    // Another text is none of this, nor is this one in another browser.
    assert_eq!(Browser::of(&site, "ada").await.sign(&create, "ada").await.status, 400);
    assert_eq!(ada.sign(&asked, "ada").await.status, 400);
}
