use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::challenge::{ChallengeDigest, IssuedChallenge};
use countersign_domain::id::{ClientId, GrantId};
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::{AccountKind, WalletAccount};
use time::Duration;

use super::*;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// A request as client libraries send it, with as many challenges as are remembered.
fn ordinary(number: u8) -> PendingAuthorization {
    let account = WalletAccount {
        family: "eip155".to_owned(),
        chain: "eip155:1".to_owned(),
        address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".to_owned(),
    };
    let challenge = |challenge: u8| IssuedChallenge {
        id: GrantId::at(NOW, [challenge; 10]),
        digest: ChallengeDigest::of(&account, &format!("{number} {challenge}")),
        expires_at: NOW + Duration::minutes(5),
        failures: 4,
        chain: None,
        kind: None,
    };
    let redirect_uri = RedirectUri::parse("https://photos.example.com/oauth/callback/countersign").unwrap();
    let (scope, expires_at) = (ScopeSet::of(&Scope::ALL), NOW + Duration::minutes(30));
    PendingAuthorization {
        state: Some(URL_SAFE_NO_PAD.encode([number; 32])),
        nonce: Some(URL_SAFE_NO_PAD.encode([number; 32])),
        code_challenge: Some(CodeChallenge::from_bytes([number; 32])),
        challenges: (0..5).map(challenge).collect(),
        ..PendingAuthorization::bare(ClientId::at(NOW, [number; 10]), redirect_uri, scope, expires_at)
    }
}

fn with_state(state: String) -> PendingAuthorization {
    PendingAuthorization {
        state: Some(state),
        nonce: None,
        code_challenge: None,
        challenges: Vec::new(),
        ..ordinary(0)
    }
}

#[test]
fn what_was_sealed_opens_as_it_was() {
    let pending = ordinary(1);
    assert_eq!(SealedPending::seal(&pending).open(), Some(pending));
    let bare =
        PendingAuthorization { state: None, login_hint: Some("0xA".to_owned()), ..with_state(String::new()) };
    assert_eq!(SealedPending::seal(&bare).open(), Some(bare));
    let public_url = PublicUrl::parse("https://auth.example.com").unwrap();
    let account = PendingAuthorization {
        oldest_sign_in: Some(NOW),
        ..PendingAuthorization::for_account(&public_url, NOW, &Lifetimes::default())
    };
    assert_eq!(SealedPending::seal(&account).open(), Some(account), "the account page has no scopes");
}

#[test]
fn f_15_the_kind_that_was_named_is_remembered_and_cookies_without_one_are_still_read() {
    let issued = ordinary(1).challenges.remove(0);
    for chain in [None, Some("eip155:8453".to_owned())] {
        for kind in [None, Some(AccountKind::Key), Some(AccountKind::Contract)] {
            let challenges = vec![IssuedChallenge { chain: chain.clone(), kind, ..issued.clone() }];
            let pending = PendingAuthorization { challenges, ..ordinary(1) };
            let sealed = serde_json::to_string(&SealedPending::seal(&pending)).unwrap();
            let opened: SealedPending = serde_json::from_str(&sealed).unwrap();
            assert_eq!(opened.open(), Some(pending), "{sealed}");
            // The release before writes four values, or five.
            assert_eq!(sealed.contains(r#""key""#) || sealed.contains(r#""contract""#), kind.is_some());
        }
    }
}

#[test]
fn a_038_four_ordinary_requests_fit_and_the_oldest_gives_way_to_more() {
    let mut pendings = Pendings((1..=4).map(ordinary).collect());
    let mark = escaped_size(&format!("{:?}", URL_SAFE_NO_PAD.encode([7; 16])));
    assert_eq!(pendings.fit(MAX_PLAIN - mark).unwrap().len(), 4, "beside the mark of the browser");
    let mut pendings = Pendings((1..=20).map(ordinary).collect());
    let kept = pendings.fit(MAX_PLAIN).unwrap();
    assert!((4..20).contains(&kept.len()));
    let newest = kept.into_iter().next_back().and_then(SealedPending::open);
    assert_eq!(newest, Some(ordinary(20)));
}

#[test]
fn a_030_a_long_state_fits_with_its_challenges_and_one_that_cannot_is_refused() {
    let long = PendingAuthorization { challenges: ordinary(0).challenges, ..with_state("a".repeat(2_048)) };
    assert!(Pendings(vec![long]).fit(MAX_PLAIN).is_ok());
    assert!(Pendings(vec![with_state("a".repeat(4_000))]).fit(MAX_PLAIN).is_err());
    assert!(
        Pendings(vec![with_state("\\0".repeat(2_048))]).fit(MAX_PLAIN).is_err(),
        "escaped, it is much longer"
    );
}

#[test]
fn a_sealed_cookie_stays_below_what_browsers_keep() {
    let sealing = 12 + 16;
    let base64 = (MAX_PLAIN + sealing).div_ceil(3) * 4;
    // Of 64 characters two, `+` and `/`, are written as three. How many come is chance; six standard deviations are
    // more than will ever be seen.
    let expected = base64 / 32;
    let escapes = expected + 6 * (expected.isqrt() + 1);
    assert!(cookie_name(true).len() + 1 + base64 + 2 * escapes <= 4_096);
}

#[test]
fn the_same_request_again_takes_the_place_of_its_elder() {
    let mut pendings = Pendings(vec![ordinary(1), ordinary(2)]);
    pendings.add(PendingAuthorization { nonce: None, ..ordinary(1) });
    assert_eq!(pendings.len(), 2);
    assert_eq!(pendings.newest().map(|pending| pending.nonce.clone()), Some(None));
}
