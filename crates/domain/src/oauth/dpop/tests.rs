//! Every claim on its own, claims of any kind, and nonces over time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::claims::Claim;

const NOW: i64 = 1_800_000_000;
const TOKEN_ENDPOINT: &str = "https://auth.example.com/oauth/token";
const KEY: KeyThumbprint = KeyThumbprint::from_bytes([5; 32]);

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(NOW).unwrap()
}

fn nonces() -> DpopNonceKey {
    DpopNonceKey::new([9; 32])
}

fn text(text: &str) -> Option<Claim> {
    Some(Claim::Text(text.to_owned()))
}

/// A valid proof, with one claim replaced or left out.
fn with(name: &str, claim: Option<Claim>) -> Claims {
    let good = [
        ("htm", text("POST")),
        ("htu", text(TOKEN_ENDPOINT)),
        ("iat", Some(Claim::Number(NOW))),
        ("jti", text("1")),
        ("nonce", text(&nonces().nonce(now()))),
    ];
    let mut claims: BTreeMap<_, _> =
        good.into_iter().filter_map(|(name, claim)| Some((name.to_owned(), claim?))).collect();
    claims.remove(name);
    claims.extend(claim.map(|claim| (name.to_owned(), claim)));
    Claims::new(claims)
}

fn judged_at(claims: &Claims, now: OffsetDateTime) -> Result<SingleUse, DpopRejected> {
    let request = ProvenRequest { method: "POST", url: TOKEN_ENDPOINT, access_token: None };
    judge(Some(TYP), claims, KEY, request, &nonces(), now)
}

fn judged(claims: &Claims) -> Result<SingleUse, DpopRejected> {
    judged_at(claims, now())
}

#[test]
fn a_110_a_good_proof_is_remembered_while_its_nonce_is_good() {
    let spend = judged(&with("", None)).unwrap();
    assert_eq!(spend.forget_after, now() + DpopNonceKey::LIFETIME + SKEW);
    assert_eq!(judged_at(&with("", None), spend.forget_after), Err(DpopRejected::UseNonce));
    assert_ne!(judged(&with("jti", text("2"))).unwrap().digest, spend.digest);
}

#[test]
fn a_110_a_proof_is_of_its_type() {
    for typ in [None, Some("JWT"), Some("at+jwt"), Some("")] {
        let request = ProvenRequest { method: "POST", url: TOKEN_ENDPOINT, access_token: None };
        let judged = judge(typ, &with("", None), KEY, request, &nonces(), now());
        assert_eq!(judged, Err(DpopRejected::OtherKind), "{typ:?}");
    }
}

#[test]
fn a_110_a_proof_is_for_one_method() {
    for method in [None, text("GET"), text("post"), Some(Claim::Texts(vec!["POST".to_owned()]))] {
        assert_eq!(judged(&with("htm", method)), Err(DpopRejected::OtherMethod));
    }
}

#[test]
fn a_110_a_proof_is_for_one_address_however_it_is_written() {
    for url in [
        TOKEN_ENDPOINT,
        "https://auth.example.com/oauth/token?a=b#c",
        "HTTPS://AUTH.example.com:443/oauth/token",
        "https://auth.example.com/oauth/./token",
    ] {
        assert!(judged(&with("htu", text(url))).is_ok(), "{url}");
    }
    for url in [
        "",
        "/oauth/token",
        "http://auth.example.com/oauth/token",
        "https://auth.example.com:8443/oauth/token",
        "https://auth.example.com/oauth/token/",
        "https://auth.example.com/oauth/TOKEN",
        "https://user@auth.example.com/oauth/token",
        "https://other.example/oauth/token",
        "https://auth.example.com.other.example/oauth/token",
    ] {
        assert_eq!(judged(&with("htu", text(url))), Err(DpopRejected::OtherUrl), "{url}");
    }
    assert_eq!(judged(&with("htu", None)), Err(DpopRejected::OtherUrl));
}

#[test]
fn a_110_a_proof_for_a_token_names_it() {
    let request = ProvenRequest { method: "POST", url: TOKEN_ENDPOINT, access_token: Some("token") };
    let judged = |claims: &Claims| judge(Some(TYP), claims, KEY, request, &nonces(), now());
    assert!(judged(&with("ath", text(&token_hash("token")))).is_ok());
    for ath in [None, text(""), text("token"), text(&token_hash("other"))] {
        assert_eq!(judged(&with("ath", ath)), Err(DpopRejected::OtherToken));
    }
}

#[test]
fn a_110_the_nonce_decides_how_old_a_proof_may_be() {
    for nonce in [None, text(""), text("0"), text(&DpopNonceKey::new([8; 32]).nonce(now()))] {
        assert_eq!(judged(&with("nonce", nonce)), Err(DpopRejected::UseNonce));
    }
    for (seconds, is_good) in [(-301, false), (-300, true), (0, true), (300, true), (301, false)] {
        let judged = judged(&with("iat", Some(Claim::Number(NOW + seconds))));
        assert_eq!(judged.err(), (!is_good).then_some(DpopRejected::Time), "{seconds}");
    }
    assert_eq!(judged(&with("iat", None)), Err(DpopRejected::Time));
    assert_eq!(judged(&with("jti", None)), Err(DpopRejected::TokenId));
}

proptest! {
    #[test]
    fn a_nonce_is_good_for_two_and_a_half_to_five_minutes(start in 0_i64..4_000_000_000, later in 0_i64..600) {
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        let nonce = nonces().nonce(at(start));
        let is_good = nonces().admits(&nonce, at(start + later));
        if later < 150 { prop_assert!(is_good) }
        if later >= 300 { prop_assert!(!is_good) }
    }

    #[test]
    fn whatever_it_says_a_proof_is_judged(
        name in prop_oneof![Just("htm"), Just("htu"), Just("iat"), Just("jti"), Just("nonce"), Just("ath")],
        value in ".{0,300}",
        number in any::<i64>(),
        seconds in -377_705_116_800_i64..253_402_300_799,
    ) {
        let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        for claim in [Claim::Text(value), Claim::Number(number), Claim::Other] {
            let _ = judged_at(&with(name, Some(claim.clone())), at);
            let _ = judged(&with(name, Some(claim)));
        }
    }
}
