//! What clients claim about themselves, and codes that are presented in the wrong way (F-08, A-014).

use countersign_tests::{Browser, Client, Parameters, Request, Server, Site, Tokens, Wallet, on_both};
use serde_json::{Value, json};

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn of_both_kinds(site: &Site, method: &str) -> Client {
    site.register_with(&json!({
        "grant_types": [DEVICE_CODE, "refresh_token", "authorization_code"],
        "token_endpoint_auth_method": method,
    }))
}

on_both! {
    fn f_08_a_devices_code_is_redeemed_by_its_own_grant_type_alone(database) {
        let server = database.start();
        let done = format!("{}/device/done", server.public_url);
        for method in ["client_secret_post", "none"] {
            let client = of_both_kinds(&server, method);
            let asked = client.identify(Parameters::of(&[("scope", "profile")]));
            let device = server.send(&Request::form("/oauth/device_authorization", &asked)).expect(200);
            let (code, user_code) = (device.field("device_code"), device.field("user_code"));
            let (mut browser, wallet) = (server.browser(), Wallet::fresh());
            let typed = Parameters::of(&[("user_code", &user_code)]);
            browser.press(Request::form("/device", &typed)).expect(303);
            let pending = Parameters::of(&[("client_id", &client.id), ("redirect_uri", &done), ("state", &user_code)]);
            let challenge = browser.challenge(&pending, &wallet);
            browser.login(&Browser::login_body(&pending, &wallet, &challenge));
            let by_browser = |redirect_uri: &str| {
                let form = Parameters::of(&[
                    ("grant_type", "authorization_code"), ("code", &code), ("redirect_uri", redirect_uri),
                ]);
                server.token(&client.identify(form)).verdict()
            };
            for redirect_uri in [done.as_str(), &client.redirect_uri, "x"] {
                assert_eq!(by_browser(redirect_uri), "400 invalid_grant", "{redirect_uri}");
            }
            let form = Parameters::of(&[("grant_type", DEVICE_CODE), ("device_code", &code)]);
            let tokens = Tokens::of(server.token(&client.identify(form)));
            assert_eq!(by_browser(&done), "400 invalid_grant");
            server.userinfo(&tokens.access).expect(200);
        }
    }

    fn f_08_a_browsers_code_is_redeemed_by_its_own_grant_type_alone(database) {
        let server = database.start();
        let client = of_both_kinds(&server, "client_secret_post");
        let code = server.browser().sign_in_with(&client.authorization(), &Wallet::fresh());
        let form = Parameters::of(&[("grant_type", DEVICE_CODE), ("device_code", &code)]);
        assert_eq!(server.token(&client.identify(form)).verdict(), "400 invalid_grant");
        Tokens::of(server.exchange(&client, &code));
    }
}

fn metadata(more: &Value) -> Value {
    let mut metadata = json!({
        "client_name": "Photo Album",
        "redirect_uris": ["https://photos.example/cb"],
    });
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    metadata
}

#[test]
fn f_08_no_address_of_a_client_has_a_host_that_dns_cannot_have() {
    let server = Server::sqlite();
    let hosts = [
        "a;b.example",
        "a,b.example",
        "a(b).example",
        "a'b.example",
        "a!.example",
        "a$b.example",
        "a_b.example",
    ];
    let long = [format!("{}.example", "a".repeat(64)), format!("{}example", "a.".repeat(130))];
    for host in hosts.into_iter().chain(long.iter().map(String::as_str)) {
        let uri = format!("https://{host}/x");
        for scheme in ["https", "com.example.app"] {
            let redirected = metadata(&json!({"redirect_uris": [format!("{scheme}://{host}/cb")]}));
            let refused = server.send(&Request::json("/oauth/clients", &redirected));
            assert_eq!(refused.verdict(), "400 invalid_redirect_uri", "{scheme}://{host}");
        }
        for field in ["client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri", "backchannel_logout_uri"]
        {
            let refused = server.send(&Request::json("/oauth/clients", &metadata(&json!({field: uri}))));
            assert_eq!(refused.verdict(), "400 invalid_client_metadata", "{field} {host}");
        }
        let leaving = metadata(&json!({"post_logout_redirect_uris": [uri]}));
        let refused = server.send(&Request::json("/oauth/clients", &leaving));
        assert_eq!(refused.verdict(), "400 invalid_client_metadata", "{host}");
        let described = Parameters::of(&[("client_id", uri.as_str()), ("response_type", "code")]);
        let refused = server.browser().authorize(&described);
        assert_eq!(refused.verdict(), "400 invalid_client", "{host}");
    }
}

#[test]
fn f_08_the_form_of_an_answer_may_go_to_the_parsed_origin_and_nowhere_else() {
    let server = Server::sqlite();
    for (uri, source) in [
        (
            "https://photos.example:8443/cb;script-src%20x?x=,%3B'!$()",
            "form-action https://photos.example:8443",
        ),
        ("http://[::1]:7777/cb;x", "form-action http:"),
    ] {
        let client = server.register_with(&json!({"redirect_uris": [uri]}));
        let authorization =
            client.authorization().with("response_mode", "form_post").with("scope", "wallets");
        let page = server.browser().authorize(&authorization).expect(200);
        let policy = page.header("Content-Security-Policy").unwrap();
        let rules: Vec<&str> = policy.split("; ").filter(|rule| rule.starts_with("form-action")).collect();
        assert_eq!(rules, [source], "{policy}");
        assert!(!policy.contains("script-src *") && !policy.contains(','), "{policy}");
    }
}

#[test]
fn a_014_a_name_that_nobody_can_read_is_refused_wherever_it_comes_in() {
    let server = Server::sqlite();
    let client = server.register();
    for name in [
        "Pho\u{3164}tos",
        "Pho\u{ad}tos",
        "Pho\u{200d}tos",
        "Pho\u{34f}tos",
        "\u{2800}",
        "Pho\u{fe0f}tos",
        "a\u{e0041}",
        "\u{301}",
    ] {
        let refused = server.send(&Request::json("/oauth/clients", &metadata(&json!({"client_name": name}))));
        assert_eq!(refused.verdict(), "400 invalid_client_metadata", "{name:?}");
    }
    drop(client);
}
