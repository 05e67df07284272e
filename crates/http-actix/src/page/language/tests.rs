//! Which language a user gets, and that no list costs much.

use actix_web::test::TestRequest;

use super::*;

fn negotiated(list: &str) -> Option<&'static str> {
    Language::negotiate(list).map(Language::tag)
}

#[test]
fn the_heaviest_range_that_we_have_wins_and_equals_keep_their_order() {
    assert_eq!(negotiated("fr;q=0.8, de;q=0.9, en;q=0.1"), Some("de"));
    assert_eq!(negotiated("fr, de"), Some("fr"));
    assert_eq!(negotiated("nl, da;q=0.9, ja;q=0.5, *;q=0.1"), Some("ja"));
    assert_eq!(negotiated("de;q=0, es;q=0.001"), Some("es"), "a weight of zero means no");
    assert_eq!(negotiated("nl, *"), None);
    assert_eq!(negotiated(""), None);
}

#[test]
fn a_range_is_cut_from_its_end_until_we_have_it() {
    let pairs = [
        ("de-AT-1996", "de"),
        ("EN-gb", "en"),
        ("zh", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-Hans-CN", "zh-CN"),
        ("pt", "pt-BR"),
        ("PT-br", "pt-BR"),
        ("pt-BR-x-private", "pt-BR"),
        ("ar-EG-u-nu-latn", "ar"),
    ];
    for (range, tag) in pairs {
        assert_eq!(negotiated(range), Some(tag), "{range}");
    }
    for none in ["e", "english", "-", "--", "x-en", "en_US", "日本語", "*-CH"] {
        assert_eq!(negotiated(none), None, "{none}");
    }
}

#[test]
fn the_locales_of_openid_connect_are_separated_by_spaces() {
    assert_eq!(negotiated("nl-NL  fr-CA en"), Some("fr"));
}

#[test]
fn hostile_lists_end_soon() {
    assert_eq!(negotiated(&"a-".repeat(8_000)), None);
    assert_eq!(negotiated(&format!("{} de", "x ".repeat(8_000))), None, "the end of a long list is not read");
    assert_eq!(negotiated(&format!("{}de", "x,".repeat(8_000))), None);
    assert_eq!(negotiated(&"en;q=1;".repeat(2_000)), Some("en"));
}

#[test]
fn a_choice_wins_over_the_client_the_cookie_and_the_browser_in_this_order() {
    let request = |query: &str, cookie: &str| {
        let request =
            TestRequest::with_uri(&format!("/auth?{query}")).insert_header(("accept-language", "ar"));
        let request = if cookie.is_empty() { request } else { request.insert_header(("cookie", cookie)) };
        request.to_http_request()
    };
    let cookie = "countersign_language=ja";
    assert_eq!(Language::of(&request("request=1&lang=de", cookie), Some("fr")), Language::German);
    assert_eq!(Language::of(&request("lang=xx", cookie), Some("fr")), Language::French);
    assert_eq!(Language::of(&request("", cookie), Some("xx")), Language::Japanese);
    assert_eq!(Language::of(&request("", "__Host-countersign_language=es"), None), Language::Spanish);
    assert_eq!(Language::of(&request("", "countersign_language=xx"), None), Language::Arabic);
    assert_eq!(Language::of(&TestRequest::default().to_http_request(), None), Language::English);
}

/// A-022: with https, only the host itself can have set the cookie.
#[test]
fn the_choice_is_remembered_for_a_year_by_this_host_alone() {
    let plain = Language::Portuguese.cookie(false).to_string();
    assert_eq!(plain, "countersign_language=pt-BR; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000");
    let secure = Language::Portuguese.cookie(true).to_string();
    assert_eq!(
        secure,
        "__Host-countersign_language=pt-BR; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=31536000"
    );
}
