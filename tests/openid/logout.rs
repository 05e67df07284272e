//! The plan "RP-Initiated OP" (`oidcc-rp-initiated-logout-certification-test-plan`): a client asks the
//! provider to sign a user out.

use countersign_tests::jose::{SigningKey, claims_of, random_text, unsigned};
use countersign_tests::openid::{Answer, How, Party, Person};
use countersign_tests::{Parameters, Request, Response};
use serde_json::json;
use url::Url;

use crate::suite::Suite;

const BACK: &str = "https://client.example/post_logout_redirect";

/// The metadata contains the end session endpoint.
#[test]
fn oidcc_rp_initiated_logout_discovery_endpoint_verification() {
    let suite = Suite::start();
    suite.path("end_session_endpoint");
}

/// With all parameters, the user is signed out and redirected back with the client's state. A silent sign-in
/// afterwards fails.
#[test]
fn oidcc_rp_initiated_logout() {
    let mut leaving = Leaving::start();
    let request = leaving.request();
    let sent_back = leaving.ask(&request);
    assert_eq!(back(&sent_back), vec![("state".to_owned(), request.get("state").to_owned())]);
    leaving.assert_signed_out();
}

/// Without `state`, the same happens, and nothing is added to the redirect URI.
#[test]
fn oidcc_rp_initiated_logout_no_state() {
    let mut leaving = Leaving::start();
    let sent_back = leaving.ask(&leaving.request().without("state"));
    assert_eq!(sent_back.location(), BACK);
    leaving.assert_signed_out();
}

/// A redirect URI that the client did not register gets an error page.
#[test]
fn oidcc_rp_initiated_logout_bad_post_logout_redirect_uri() {
    let leaving = Leaving::start();
    let request = leaving.request().with("post_logout_redirect_uri", &format!("{BACK}/{}", random_text()));
    leaving.assert_refused(&request);
}

/// A registered redirect URI with a query added gets an error page.
#[test]
fn oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri() {
    let leaving = Leaving::start();
    let request = leaving.request().with("post_logout_redirect_uri", &format!("{BACK}?foo=bar"));
    leaving.assert_refused(&request);
}

/// A hint that was changed to `alg: none` gets an error page.
#[test]
fn oidcc_rp_initiated_logout_modified_id_token_hint() {
    let leaving = Leaving::start();
    let hint = unsigned(&json!({"typ": "JWT"}), &claims_of(&leaving.answer.id_token));
    let request = leaving.request().with("id_token_hint", &hint);
    leaving.assert_refused(&request);
}

/// A hint that someone else signed gets an error page.
#[test]
fn oidcc_rp_initiated_logout_bad_id_token_hint() {
    let leaving = Leaving::start();
    let hint = SigningKey::es256().sign(&claims_of(&leaving.answer.id_token));
    let request = leaving.request().with("id_token_hint", &hint);
    leaving.assert_refused(&request);
}

/// Without a hint, the user is asked for confirmation and is not redirected.
#[test]
fn oidcc_rp_initiated_logout_no_id_token_hint() {
    leaves_by_the_page(&["post_logout_redirect_uri", "state"]);
}

/// Without any parameter, the user is asked for confirmation and is signed out.
#[test]
fn oidcc_rp_initiated_logout_no_params() {
    leaves_by_the_page(&[]);
}

/// With only a state, the user is asked for confirmation and is signed out.
#[test]
fn oidcc_rp_initiated_logout_only_state() {
    leaves_by_the_page(&["state"]);
}

/// Without a redirect URI, the user is signed out and a page says so.
#[test]
fn oidcc_rp_initiated_logout_no_post_logout_redirect_uri() {
    let mut leaving = Leaving::start();
    let page = leaving.ask(&leaving.request().without("post_logout_redirect_uri"));
    assert_eq!(page.expect(200).header("Location"), None);
    leaving.assert_signed_out();
}

/// A user who is signed in, and the client that signs them out.
struct Leaving {
    suite: Suite,
    party: Party,
    person: Person,
    answer: Answer,
}

impl Leaving {
    #[track_caller]
    fn start() -> Self {
        let suite = Suite::start();
        let party = suite.let_in(&json!({"post_logout_redirect_uris": [BACK]}));
        let mut person = Person::new(&suite);
        let request = party.request().with("state", &random_text().repeat(6));
        let code = person.answer(&suite, &request).code();
        let answer = suite.redeem(&party, &request, &code);
        let leaving = Self { suite, party, person, answer };
        leaving.assert_signed_in()
    }

    fn request(&self) -> Parameters {
        Parameters::of(&[
            ("id_token_hint", &self.answer.id_token),
            ("post_logout_redirect_uri", BACK),
            ("state", &random_text().repeat(6)),
        ])
    }

    #[track_caller]
    fn ask(&mut self, request: &Parameters) -> Response {
        self.person.browser.send(Request::query(&self.suite.path("end_session_endpoint"), request))
    }

    #[track_caller]
    fn assert_signed_in(mut self) -> Self {
        let sent_back = self.person.answer(&self.suite, &self.party.request().with("prompt", "none"));
        assert_eq!((sent_back.how, sent_back.code().is_empty()), (How::Silently, false));
        self
    }

    #[track_caller]
    fn assert_signed_out(mut self) {
        let sent_back = self.person.answer(&self.suite, &self.party.request().with("prompt", "none"));
        assert_eq!((sent_back.how, sent_back.error()), (How::Silently, "login_required"));
    }

    /// A page says what is wrong, and the user stays signed in.
    #[track_caller]
    fn assert_refused(mut self, request: &Parameters) {
        assert_eq!(self.ask(request).expect(400).header("Location"), None);
        self.assert_signed_in();
    }
}

/// Sends the user to sign out with only these parameters. The page asks, signs out when the user confirms,
/// and links nowhere.
#[track_caller]
fn leaves_by_the_page(names: &[&str]) {
    let mut leaving = Leaving::start();
    let mut request = leaving.request();
    request.0.retain(|(name, _)| names.contains(&name.as_str()));
    assert_eq!(leaving.ask(&request).expect(200).header("Location"), None);
    let mut leaving = leaving.assert_signed_in();
    let confirmed =
        Request::form(&leaving.suite.path("end_session_endpoint"), &request.and("confirm", "yes"));
    let page = leaving.person.browser.press(confirmed.header("Accept", "text/html")).expect(200);
    assert!(!page.text().contains(BACK), "{page:?}");
    leaving.assert_signed_out();
}

/// What was added to the URI that the user is redirected to.
#[track_caller]
fn back(sent_back: &Response) -> Vec<(String, String)> {
    let url = Url::parse(sent_back.location()).unwrap();
    assert_eq!(url.as_str().split('?').next(), Some(BACK), "{sent_back:?}");
    url.query_pairs().into_owned().collect()
}
