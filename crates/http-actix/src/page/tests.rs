//! Which choice of a language a response makes the browser remember.

use actix_web::test::TestRequest;

use super::*;

#[test]
fn only_a_choice_that_we_have_is_remembered() {
    let cookie = |path: &str| {
        let request = TestRequest::with_uri(path).insert_header(("accept-language", "fr")).to_http_request();
        let answer = answer(&request, StatusCode::OK, Vec::new(), true);
        answer.headers().get(header::SET_COOKIE).map(|value| value.to_str().unwrap().to_owned())
    };
    assert!(cookie("/?x=1&lang=zh-Hans").unwrap().starts_with("__Host-countersign_language=zh-CN;"));
    assert_eq!(cookie("/?lang=xx"), None);
    assert_eq!(cookie("/"), None, "what the browser says is no choice");
}
