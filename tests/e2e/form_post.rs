//! Responses sent as a form (OAuth 2.0 Form Post Response Mode), and the pictures of users.

use countersign_tests::site::REDIRECT_URI;
use countersign_tests::{Parameters, Request, Response, Wallet, on_both};
use serde_json::json;

/// E-27: text that breaks out of an attribute, an element, a script and a policy if it is not escaped.
const HOSTILE: &str = "\"><script>alert(1)</script>'&lt;;,\u{2028}</form><base href=//evil.example>";

/// How an HTML parser reads an attribute's value.
fn unescaped(text: &str) -> String {
    let pairs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&#x2F;", "/")];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
        .replace("&amp;", "&")
}

/// The value of an attribute in a piece of HTML.
fn attribute(html: &str, name: &str) -> String {
    let (_, rest) = html.split_once(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name} in {html}"));
    unescaped(rest.split('"').next().unwrap())
}

/// Where the form is sent, and its fields.
fn form(page: &Response) -> (String, Vec<(String, String)>) {
    let html = page.text();
    let (_, form) =
        html.split_once("<form id=\"answer\"").unwrap_or_else(|| panic!("there is no form in {html}"));
    let (form, _) = form.split_once("</form>").unwrap();
    let (head, inputs) = form.split_once('>').unwrap();
    assert_eq!(attribute(head, "method"), "post");
    let fields = inputs.split("<input ").skip(1);
    (
        attribute(head, "action"),
        fields.map(|field| (attribute(field, "name"), attribute(field, "value"))).collect(),
    )
}

fn names(fields: &[(String, String)]) -> Vec<&str> {
    fields.iter().map(|(name, _)| name.as_str()).collect()
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    &fields.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name} in {fields:?}")).1
}

fn by_form(authorization: Parameters) -> Parameters {
    authorization.with("response_mode", "form_post")
}

/// The page may post to the client and nowhere else.
fn assert_policy(page: &Response, source: &str) {
    let policy = page.header("Content-Security-Policy").unwrap();
    let directives: Vec<&str> = policy.split("; ").collect();
    for wanted in ["default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(directives.contains(&wanted), "{wanted} in {policy}");
    }
    assert!(directives.contains(&format!("form-action {source}").as_str()), "{policy}");
    assert_eq!(page.header("Cache-Control"), Some("no-store"));
}

on_both! {
    fn a_code_reaches_the_client_in_a_form(database) {
        let server = database.start();
        let client = server.register();
        let authorization = by_form(client.authorization());
        let mut browser = server.browser();
        let body = browser.prepare_with(&authorization, &Wallet::fresh());
        let page = browser.login(&body).expect(200);
        assert_policy(&page, "https://client.example");
        let (target, fields) = form(&page);
        assert_eq!(target, REDIRECT_URI);
        assert_eq!(names(&fields), ["code", "state", "iss"], "A-041");
        assert_eq!(value(&fields, "state"), authorization.get("state"));
        assert_eq!(value(&fields, "iss"), server.public_url);
        assert_eq!(server.exchange(&client, value(&fields, "code")).status, 200);
    }

    /// The page's script cannot post to another site. It gets the URL of a page of ours, which shows the form
    /// once.
    fn a_script_is_led_to_the_form_and_no_address_of_ours_has_the_code(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let body = browser.prepare_with(&by_form(client.authorization()), &Wallet::fresh());
        let login = Request::json("/oauth/login", &body.json()).header("Accept", "application/json");
        let answer = browser.send(login).expect(200);
        assert_eq!(answer.json(), json!({"redirect_to": format!("{}/oauth/answer", server.public_url)}));
        let page = browser.send(Request::get("/oauth/answer").header("Accept", "text/html")).expect(200);
        assert_policy(&page, "https://client.example");
        let (target, fields) = form(&page);
        assert_eq!((target.as_str(), names(&fields)), (REDIRECT_URI, vec!["code", "state", "iss"]));
        let again = browser.send(Request::get("/oauth/answer").header("Accept", "text/html")).expect(400);
        assert!(!again.text().contains(value(&fields, "code")));
        assert_eq!(browser.cookies.len(), 0, "nothing is left: {:?}", browser.cookies);
        assert_eq!(server.exchange(&client, value(&fields, "code")).status, 200);
    }

    /// A response that waits for its page does not affect other requests.
    fn other_requests_wait_beside_an_answer(database) {
        let server = database.start();
        let (client, other) = (server.register(), server.register());
        let (mut browser, wallet) = (server.browser(), Wallet::fresh());
        let later = browser.prepare_with(&other.authorization(), &wallet);
        let body = browser.prepare_with(&by_form(client.authorization()), &wallet);
        let login = Request::json("/oauth/login", &body.json()).header("Accept", "application/json");
        browser.send(login).expect(200);
        assert!(browser.login(&later).expect(303).answer("code").is_some());
        let page = browser.send(Request::get("/oauth/answer")).expect(200);
        assert_eq!(server.exchange(&client, value(&form(&page).1, "code")).status, 200);
    }

    /// E-27, CVE-2023-6134: whatever the client's state contains, it stays a plain value.
    fn e_27_a_hostile_state_is_only_text(database) {
        let server = database.start();
        let client = server.register();
        let authorization = by_form(client.authorization()).with("state", HOSTILE);
        let mut browser = server.browser();
        browser.authorize(&authorization).expect(302);
        let denied = browser.press(Request::form("/oauth/deny", &Parameters::of(&[])).header("Accept", "text/html"));
        let refused = browser.authorize(&authorization.with("response_type", "token"));
        for page in [denied.expect(200), refused.expect(200)] {
            let html = page.text();
            for broken_out in ["<script>alert", "</form><base", "<base"] {
                assert!(!html.contains(broken_out), "{html}");
            }
            let (target, fields) = form(&page);
            assert_eq!(target, REDIRECT_URI);
            assert_eq!(names(&fields), ["error", "error_description", "state", "iss"]);
            assert_eq!(value(&fields, "state"), HOSTILE);
        }
    }

    fn every_refusal_reaches_the_client_in_a_form(database) {
        let server = database.start();
        let client = server.register();
        let mut browser = server.browser();
        let silent = by_form(client.authorization()).with("prompt", "none");
        let cases = [(silent, "login_required"), (by_form(client.authorization()).with("scope", "wallets"), "invalid_scope")];
        for (authorization, error) in cases {
            let by_post = browser.send(Request::form("/oauth/authorize", &authorization)).expect(200);
            for page in [browser.authorize(&authorization).expect(200), by_post] {
                let (target, fields) = form(&page);
                assert_eq!((target.as_str(), value(&fields, "error")), (REDIRECT_URI, error));
                assert_eq!(value(&fields, "state"), authorization.get("state"));
            }
        }
        let denied = browser.authorize(&by_form(client.authorization()));
        denied.expect(302);
        let script = Request::json("/oauth/deny", &json!({})).header("Accept", "application/json");
        assert!(browser.press(script).expect(200).field("redirect_to").ends_with("/oauth/answer"));
        let page = browser.send(Request::get("/oauth/answer")).expect(200);
        assert_eq!(value(&form(&page).1, "error"), "access_denied");
    }

    /// A browser cannot post to an app, so its response goes into the URL. Programs on the user's own
    /// computer accept posts.
    fn apps_are_answered_by_their_address_and_local_programs_by_a_form(database) {
        let server = database.start();
        let app = server.register_at("com.example.app:/cb");
        let refused = server.browser().authorize(&by_form(app.authorization()).with("scope", "wallets")).expect(302);
        assert!(refused.location().starts_with("com.example.app:/cb?error=invalid_scope&"), "{refused:?}");
        for (uri, source) in [("http://127.0.0.1:7777/cb", "http://127.0.0.1:7777"), ("http://[::1]:7777/cb", "http:")] {
            let client = server.register_at(uri);
            let page = server.browser().authorize(&by_form(client.authorization()).with("scope", "wallets")).expect(200);
            assert_policy(&page, source);
            assert_eq!(form(&page).0, uri);
        }
    }

    /// B-058: there is no response by redirect or form until client and redirect URI are known to be valid.
    fn b_058_no_form_goes_to_an_address_that_is_not_registered(database) {
        // On loopback the error shows the address, as text.
        let server = database.server().with_public_url("https://auth.example").with_env("COUNTERSIGN_REGISTRATION", "open").start();
        let client = server.register();
        let authorization = by_form(client.authorization()).with("redirect_uri", "https://evil.example/cb");
        let page = server.browser().authorize(&authorization).expect(400);
        assert!(!page.text().contains("evil.example"), "{page:?}");
        let unknown = by_form(client.authorization()).with("response_mode", "fragment");
        assert_eq!(server.browser().authorize(&unknown).expect(302).answer("error").as_deref(), Some("invalid_request"));
    }

    fn every_user_has_a_picture_and_so_has_everybody_else(database) {
        let server = database.start();
        let picture = |id: &str| server.get(&format!("/pictures/{id}.svg"));
        let ids = ["0e6a4bd6-5f5c-4a0f-9f0e-2f1b6f0a9c3d", "0e6a4bd6-5f5c-4a0f-9f0e-2f1b6f0a9c3e"];
        let [one, other] = ids.map(|id| picture(id).expect(200));
        assert_eq!(one.text(), picture(ids[0]).text());
        assert_ne!(one.text(), other.text());
        assert!(one.text().starts_with("<svg "), "{one:?}");
        for (name, value) in [
            ("Content-Type", "image/svg+xml"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Access-Control-Allow-Origin", "*"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "public, max-age=31536000, immutable"),
        ] {
            assert_eq!(one.header(name), Some(value), "{name}");
        }
        assert!(one.header("Content-Security-Policy").unwrap().starts_with("default-src 'none'"));
        for bad in ["x", &ids[0].to_uppercase(), "%3Cscript%3E", ".."] {
            assert_eq!(picture(bad).status, 404, "{bad}");
        }
    }
}
