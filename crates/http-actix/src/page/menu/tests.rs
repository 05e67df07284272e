//! What a change of language keeps, and where it is not offered.

use actix_web::test::TestRequest;
use countersign_domain::secret::Secret;

use super::*;

fn menu(request: TestRequest, name: Name) -> Option<Menu> {
    Menu::of(&request.to_http_request(), name, "/base")
}

#[test]
fn a_change_of_language_keeps_which_request_the_page_is_about() {
    let request = TestRequest::with_uri("/auth?request=0a1b&lang=de&another=1&x=y");
    let field = |name: &str, value: &str| Field { name: name.to_owned(), value: value.to_owned() };
    let keep = vec![field("request", "0a1b"), field("another", "1")];
    assert_eq!(menu(request, Name::Auth), Some(Menu { action: None, keep }));
}

#[test]
fn a_change_of_language_keeps_what_was_done_and_the_link_that_was_followed() {
    let kept = |path: &str, name| {
        let menu = menu(TestRequest::with_uri(path), name).unwrap();
        menu.keep.into_iter().map(|field| (field.name, field.value)).collect::<Vec<_>>()
    };
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    assert_eq!(kept("/account?done=signed_out", Name::SignedOut), pair("done", "signed_out"));
    let secret = Secret::with_id(uuid::Uuid::nil(), [7; 32]);
    let secret = secret.expose();
    let path = format!("/account/email/confirm?token={secret}");
    assert_eq!(kept(&path, Name::AccountEmail), pair("token", secret));
}

#[test]
fn a_hostile_query_is_not_kept() {
    let request =
        TestRequest::with_uri(&format!("/auth?request={}&{}", "x".repeat(65), "another=1&".repeat(500)));
    assert!(menu(request, Name::Auth).unwrap().keep.len() <= KEPT.len());
}

#[test]
fn the_answer_to_a_form_leads_to_the_page_or_has_no_menu() {
    let post = || TestRequest::post().uri("/base/oauth/challenge");
    assert_eq!(menu(post(), Name::Auth).unwrap().action.as_deref(), Some("/base/auth"));
    assert_eq!(menu(post(), Name::Continue), None);
    assert_eq!(menu(post(), Name::Error), None);
}

/// an error page does not repeat what was sent. Without it, there would be another error.
#[test]
fn an_error_has_a_menu_only_where_it_would_be_the_same_again() {
    assert_eq!(menu(TestRequest::with_uri("/none?lang=de"), Name::Error), Some(Menu::default()));
    assert_eq!(menu(TestRequest::with_uri("/oauth/authorize?client_id=x"), Name::Error), None);
}
