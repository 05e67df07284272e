//! What happens to codes and refresh tokens, and where they are never sent.

use countersign_tests::openid::{Answer, Party, Person};
use countersign_tests::{Parameters, Response};

use crate::suite::Suite;

/// A code that is used a second time is refused with `invalid_grant`.
#[test]
fn oidcc_codereuse() {
    let suite = Suite::start();
    let (party, request, code, _) = redeemed(&suite);
    assert_eq!(suite.exchange(&party, &request, &code).verdict(), "400 invalid_grant");
}

/// A code that is used again half a minute later is refused, and the access token that it returned is
/// revoked.
#[test]
fn oidcc_codereuse_30seconds() {
    let suite = Suite::start();
    let (party, request, code, answer) = redeemed(&suite);
    half_a_minute_passes(&suite, &party);
    assert_eq!(suite.exchange(&party, &request, &code).verdict(), "400 invalid_grant");
    assert_eq!(suite.userinfo(&party, &answer.access).verdict(), "401 invalid_token");
}

/// A redirect URI that the client did not register gets an error page, never a redirect.
#[test]
fn oidcc_ensure_registered_redirect_uri() {
    let suite = Suite::start();
    let party = suite.client();
    let request = party.request().with("redirect_uri", &format!("{}/unregistered", party.redirect_uri));
    assert_shown(Person::new(&suite).visit(&suite, &request));
}

/// Refresh tokens work, return a matching ID token, and are bound to the client that got them.
#[test]
fn oidcc_refresh_token() {
    let suite = Suite::start();
    refresh_tokens_are_bound_to(&suite, &suite.client(), &suite.client());
}

/// The suite's checks of refresh tokens, for two clients.
#[track_caller]
pub(crate) fn refresh_tokens_are_bound_to(suite: &Suite, first: &Party, second: &Party) {
    assert!(suite.list("grant_types_supported").contains("refresh_token"));
    for party in [first, second] {
        let request = party.request().with("scope", "openid offline_access").with("prompt", "consent");
        let answer = suite.log_in(party, &request);
        let token = answer.refresh.as_deref().unwrap();
        assert!(token.bytes().all(|byte| matches!(byte, 0x20..=0x7E)), "RFC 6749, appendix A.17");
        let again = suite.judge(party, suite.refresh(party, token));
        assert_ne!(again.access, answer.access);
        assert_refreshed(&answer, &again);
        super::told(suite, party, &again);
        let stranger = if std::ptr::eq(party, first) { second } else { first };
        let refused = suite.refresh(stranger, again.refresh.as_deref().unwrap());
        assert_eq!(refused.verdict(), "400 invalid_grant");
    }
}

/// What may change in an ID token after a refresh (OpenID Connect Core section 12.2).
#[track_caller]
pub(crate) fn assert_refreshed(first: &Answer, again: &Answer) {
    for name in ["iss", "sub", "aud", "auth_time"] {
        assert_eq!(first.claims[name], again.claims[name], "{name}");
    }
    assert_eq!(again.claims.get("nonce"), None, "{}", again.claims);
}

/// If the client or its redirect URI is not valid, there is an error page and no redirect.
#[track_caller]
pub(crate) fn assert_shown(answered: Response) {
    assert_eq!(answered.expect(400).header("Location"), None);
}

fn redeemed(suite: &Suite) -> (Party, Parameters, String, Answer) {
    let party = suite.client();
    let request = party.request();
    let code = Person::new(suite).answer(suite, &request).code();
    let answer = suite.redeem(&party, &request, &code);
    suite.userinfo(&party, &answer.access).expect(200);
    (party, request, code, answer)
}

/// Makes everything that belongs to the client half a minute older.
fn half_a_minute_passes(suite: &Suite, party: &Party) {
    let id = party.id.replace('-', "");
    let grants = format!("SELECT id FROM grants WHERE client_id = x'{id}'");
    let older = |column: &str| format!("{column} = {column} - 30000000");
    let database = suite.server.database();
    assert_eq!(database.number(&format!("SELECT count(*) FROM ({grants})")), 1);
    database.change(&format!(
        "UPDATE tokens SET {}, {} WHERE grant_id IN ({grants})",
        older("issued_at"),
        older("access_expires_at"),
    ));
    database.change(&format!(
        "UPDATE grants SET {}, {}, {} WHERE id IN ({grants})",
        older("authenticated_at"),
        older("code_expires_at"),
        older("redeemed_at"),
    ));
}
