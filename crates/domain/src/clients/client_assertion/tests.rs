//! Every claim on its own, and claims of any kind.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::claims::Claim;

const NOW: i64 = 1_800_000_000;
const ISSUER: &str = "https://auth.example.com";
const TOKEN_ENDPOINT: &str = "https://auth.example.com/oauth/token";
const EXPECTED: Expected<'_> = Expected {
    client_id: "the-client",
    issuer: ISSUER,
    token_endpoint: None,
    keeps_fapi: false,
    restored_at: None,
};

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(NOW).unwrap()
}

fn text(text: &str) -> Option<Claim> {
    Some(Claim::Text(text.to_owned()))
}

fn texts(texts: &[&str]) -> Option<Claim> {
    Some(Claim::Texts(texts.iter().map(|text| (*text).to_owned()).collect()))
}

/// A valid assertion, with one claim replaced or left out.
fn with(name: &str, claim: Option<Claim>) -> Claims {
    both(&[(name, claim)])
}

/// A valid assertion, with some claims replaced or left out.
fn both(changes: &[(&str, Option<Claim>)]) -> Claims {
    let good = [
        ("iss", text("the-client")),
        ("sub", text("the-client")),
        ("aud", text(ISSUER)),
        ("exp", Some(Claim::Number(NOW + 60))),
        ("iat", Some(Claim::Number(NOW))),
        ("jti", text("1")),
    ];
    let mut claims: BTreeMap<_, _> =
        good.into_iter().filter_map(|(name, claim)| Some((name.to_owned(), claim?))).collect();
    for (name, claim) in changes {
        claims.remove(*name);
        claims.extend(claim.clone().map(|claim| ((*name).to_owned(), claim)));
    }
    Claims::new(claims)
}

fn judged(claims: &Claims) -> Result<SingleUse, AssertionRejected> {
    judge(Some("JWT"), claims, EXPECTED, now())
}

#[test]
fn a_111_a_good_assertion_is_remembered_until_it_is_too_old() {
    let spend = judged(&with("", None)).unwrap();
    assert_eq!(spend.forget_after, now() + Duration::seconds(60) + SKEW);
    assert_eq!(judged(&with("iat", None)).unwrap(), spend, "only the client and the jti are remembered");
    assert_ne!(judged(&with("jti", text("2"))).unwrap().digest, spend.digest);
}

/// An assertion that was accepted before the restore is refused after it, whatever its times and whenever it comes. One that is
/// issued when the allowance for clocks is over is accepted.
#[test]
fn d_26_an_assertion_that_could_have_been_used_before_a_restore_is_refused() {
    let at = |seconds: i64| now() + Duration::seconds(seconds);
    let judged_at = |claims: &Claims, restored_at, now| {
        judge(Some("JWT"), claims, Expected { restored_at, ..EXPECTED }, now).map(drop)
    };
    let times = |issued: Option<i64>, expires: i64| {
        let issued = issued.map(|issued| Claim::Number(NOW + issued));
        both(&[("iat", issued), ("exp", Some(Claim::Number(NOW + expires)))])
    };
    let mut accepted_before = 0;
    for issued in [None, Some(-300), Some(-1), Some(0), Some(30), Some(31), Some(120)] {
        for expires in [1, 60, 299, 300, 301, 420] {
            let claims = times(issued, expires);
            for used in [-300, -60, 0] {
                if judged_at(&claims, None, at(used)).is_err() {
                    continue;
                }
                accepted_before += 1;
                for again in [0, 1, 30, 60, 299] {
                    assert!(
                        judged_at(&claims, Some(at(0)), at(again)).is_err(),
                        "{issued:?} {expires} {used} {again}"
                    );
                }
            }
        }
    }
    assert!(accepted_before > 20, "{accepted_before}");
    assert_eq!(judged_at(&times(Some(31), 91), Some(at(0)), at(31)), Ok(()));
    assert_eq!(judged_at(&times(Some(30), 90), Some(at(0)), at(31)), Err(AssertionRejected::BeforeRestore));
    let without = times(None, 301);
    assert_eq!(judged_at(&without, Some(at(0)), at(31)), Ok(()));
    assert_eq!(judged_at(&without, Some(at(1)), at(31)), Err(AssertionRejected::BeforeRestore));
}

#[test]
fn a_111_the_audience_is_this_server_and_nobody_else() {
    for audience in [text(ISSUER), texts(&[ISSUER])] {
        assert!(judged(&with("aud", audience)).is_ok());
    }
    for audience in [
        None,
        text(""),
        text("https://auth.example.com/"),
        text("https://other.example"),
        texts(&[]),
        texts(&[ISSUER, ISSUER]),
        texts(&[ISSUER, "https://other.example"]),
        text(TOKEN_ENDPOINT),
        texts(&[TOKEN_ENDPOINT]),
        texts(&[ISSUER, TOKEN_ENDPOINT]),
        Some(Claim::Number(1)),
        Some(Claim::Other),
    ] {
        assert_eq!(judged(&with("aud", audience)), Err(AssertionRejected::OtherAudience));
    }
}

/// An operator whose clients cannot be changed can let them name the token endpoint, and only that.
#[test]
fn a_111_old_clients_may_name_the_token_endpoint_where_the_operator_lets_them() {
    let expected = Expected { token_endpoint: Some(TOKEN_ENDPOINT), ..EXPECTED };
    let judged = |audience| judge(None, &with("aud", audience), expected, now()).map(|_| ());
    for audience in [text(ISSUER), text(TOKEN_ENDPOINT), texts(&[ISSUER]), texts(&[TOKEN_ENDPOINT])] {
        assert_eq!(judged(audience), Ok(()));
    }
    for audience in [texts(&[ISSUER, TOKEN_ENDPOINT]), text("https://auth.example.com/oauth/par"), None] {
        assert_eq!(judged(audience), Err(AssertionRejected::OtherAudience));
    }
}

/// FAPI 2.0 Security Profile, section 5.3.3.
#[test]
fn a_112_a_client_that_keeps_the_profile_names_the_issuer_as_one_string() {
    let expected = Expected { keeps_fapi: true, token_endpoint: Some(TOKEN_ENDPOINT), ..EXPECTED };
    let judged = |audience| judge(None, &with("aud", audience), expected, now()).map(|_| ());
    assert_eq!(judged(text(ISSUER)), Ok(()));
    for audience in [text(TOKEN_ENDPOINT), texts(&[ISSUER]), None] {
        assert_eq!(judged(audience), Err(AssertionRejected::OtherAudience));
    }
}

#[test]
fn a_111_issuer_and_subject_are_the_client() {
    for name in ["iss", "sub"] {
        for claim in [None, text("other"), text("The-Client"), texts(&["the-client"]), Some(Claim::Other)] {
            assert_eq!(judged(&with(name, claim)), Err(AssertionRejected::OtherClient));
        }
    }
}

#[test]
fn a_111_e_31_an_assertion_ends_and_soon() {
    for seconds in [1, 299, 300] {
        assert!(judged(&with("exp", Some(Claim::Number(NOW + seconds)))).is_ok(), "{seconds}");
    }
    for seconds in [0, -1, 301, 3600, i64::MAX - NOW] {
        let claim = Some(Claim::Number(NOW + seconds));
        assert_eq!(judged(&with("exp", claim)), Err(AssertionRejected::Expiry), "{seconds}");
    }
    assert_eq!(judged(&with("exp", None)), Err(AssertionRejected::Expiry));
    assert_eq!(judged(&with("exp", text("1800000060"))), Err(AssertionRejected::Expiry));
}

#[test]
fn a_111_an_assertion_from_the_future_is_refused() {
    for name in ["iat", "nbf"] {
        for (seconds, is_good) in [(-86_400, true), (30, true), (31, false), (3600, false)] {
            let judged = judged(&with(name, Some(Claim::Number(NOW + seconds))));
            assert_eq!(judged.is_ok(), is_good, "{name} {seconds}");
        }
        assert_eq!(judged(&with(name, Some(Claim::Other))), Err(AssertionRejected::Early));
    }
}

#[test]
fn a_111_e_23_an_assertion_can_be_known_again() {
    for id in [None, text(""), text(&"x".repeat(257)), Some(Claim::Number(1))] {
        assert_eq!(judged(&with("jti", id)), Err(AssertionRejected::TokenId));
    }
    assert!(judged(&with("jti", text(&"x".repeat(256)))).is_ok());
}

#[test]
fn tokens_of_other_kinds_are_no_assertions() {
    let judged = |typ| judge(typ, &with("", None), EXPECTED, now());
    for typ in [None, Some("JWT"), Some("jwt"), Some("client-authentication+jwt")] {
        assert!(judged(typ).is_ok(), "{typ:?}");
    }
    for typ in ["", "dpop+jwt", "at+jwt", "logout+jwt"] {
        assert_eq!(judged(Some(typ)), Err(AssertionRejected::OtherKind));
    }
}

fn any_claim() -> impl Strategy<Value = Claim> {
    prop_oneof![
        ".{0,300}".prop_map(Claim::Text),
        proptest::collection::vec(".{0,20}", 0..3).prop_map(Claim::Texts),
        any::<i64>().prop_map(Claim::Number),
        (NOW - 400..NOW + 400).prop_map(Claim::Number),
        Just(Claim::Other),
    ]
}

proptest! {
    #[test]
    fn whatever_it_says_an_assertion_is_judged(
        name in prop_oneof![Just("iss"), Just("sub"), Just("aud"), Just("exp"), Just("iat"), Just("nbf"), Just("jti")],
        claim in any_claim(),
        seconds in -377_705_116_800_i64..253_402_300_799,
    ) {
        let claims = with(name, Some(claim));
        let _ = judge(None, &claims, EXPECTED, OffsetDateTime::from_unix_timestamp(seconds).unwrap());
        if let Ok(spend) = judged(&claims) {
            prop_assert!(spend.forget_after > now() && spend.forget_after <= now() + MAX_LIFETIME + SKEW);
        }
    }
}
