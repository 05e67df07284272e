//! The headers that depend on the page.

use super::*;

fn opener(path: &str) -> String {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    complete(&mut headers, &Method::GET, path, true);
    headers.get("cross-origin-opener-policy").unwrap().to_str().unwrap().to_owned()
}

/// ADR 0012.
#[test]
fn only_pages_with_wallets_may_open_windows_that_reach_them() {
    for path in ["/auth", "/account", "/account/wallets/link"] {
        assert_eq!(opener(path), "same-origin-allow-popups", "{path}");
    }
    for path in ["/", "/docs", "/verify", "/authority", "/accounts", "/oauth/authorize", "/oauth/login"] {
        assert_eq!(opener(path), "same-origin", "{path}");
    }
}
