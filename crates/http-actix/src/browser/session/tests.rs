use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::challenge::{ChallengeDigest, IssuedChallenge};
use countersign_domain::desk::pending::{Fact, FactName};
use countersign_domain::device::UserCode;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, GrantId, InvitationId, UserId};
use countersign_domain::invitation::AcceptedInvitation;
use countersign_domain::key_thumbprint::KeyThumbprint;
use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::pending::{AcceptedUsers, AccessRequest, ClientRequest, Requester, WaitingDevice};
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::redirect_uri::{RedirectUri, UriOwner};
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::wallet::{AccountKind, WalletAccount};
use time::Duration;
use uuid::Uuid;

use super::*;

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// A request as client libraries send it, with as many challenges as the session remembers.
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
    let redirect_uri =
        RedirectUri::parse("https://photos.example.com/oauth/callback/countersign", UriOwner::Registered)
            .unwrap();
    let (scope, expires_at) = (ScopeSet::of(&Scope::ALL), NOW + Duration::minutes(30));
    let request = ClientRequest {
        state: Some(URL_SAFE_NO_PAD.encode([number; 32])),
        nonce: Some(URL_SAFE_NO_PAD.encode([number; 32])),
        code_challenge: Some(CodeChallenge::from_bytes([number; 32])),
        ..ClientRequest::bare(ClientId::at(NOW, [number; 10]), redirect_uri, scope)
    };
    PendingAuthorization {
        challenges: (0..5).map(challenge).collect(),
        ..PendingAuthorization::of(Requester::Client(request), expires_at)
    }
}

fn with_state(state: String) -> PendingAuthorization {
    let request = ClientRequest { state: Some(state), nonce: None, code_challenge: None, ..request(0) };
    PendingAuthorization { challenges: Vec::new(), ..of(request) }
}

fn request(number: u8) -> ClientRequest {
    ordinary(number).client_request().unwrap().clone()
}

fn of(request: ClientRequest) -> PendingAuthorization {
    PendingAuthorization { requester: Requester::Client(request), ..ordinary(0) }
}

#[test]
fn what_was_sealed_opens_as_it_was() {
    let pending = ordinary(1);
    assert_eq!(SealedPending::seal(&pending).open(), Some(pending));
    let bare =
        of(ClientRequest { state: None, nonce: None, login_hint: Some("0xA".to_owned()), ..request(0) });
    assert_eq!(SealedPending::seal(&bare).open(), Some(bare));
    let public_url = PublicUrl::parse("https://auth.example.com").unwrap();
    let account = PendingAuthorization {
        oldest_sign_in: Some(NOW),
        ..PendingAuthorization::for_account(&public_url, NOW, &Lifetimes::default())
    };
    assert_eq!(SealedPending::seal(&account).open(), Some(account), "the account page has no scopes");
}

/// Opens what an earlier release sealed, and checks that this release seals the same.
fn desk_change(value: &str) -> PendingChange {
    let account = WalletAccount {
        family: "eip155:1".to_owned(),
        chain: "eip155:1".to_owned(),
        address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".to_owned(),
    };
    let facts = FactName::ALL.iter().take(12).map(|name| Fact { name: *name, value: value.to_owned() });
    PendingChange {
        challenge: ordinary(1).challenges[0].clone(),
        signer: account,
        proposal: Some(GrantId::at(NOW, [3; 10])),
        needs_second: true,
        seen: facts.collect(),
    }
}

#[test]
fn a_change_at_the_desk_opens_as_it_was_sealed() {
    for change in
        [desk_change("\"é\n"), PendingChange { proposal: None, needs_second: false, ..desk_change("") }]
    {
        let sealed = serde_json::to_string(&SealedDeskChange::seal(&change)).unwrap();
        let opened: SealedDeskChange = serde_json::from_str(&sealed).unwrap();
        assert_eq!(opened.open(), Some(change));
    }
}

#[test]
fn a_change_at_the_desk_with_many_long_facts_fits_beside_nothing_else() {
    let value =
        "ordinary words, sixty characters long, as they are remembered".chars().take(60).collect::<String>();
    let sealed = serde_json::to_string(&SealedDeskChange::seal(&desk_change(&value))).unwrap();
    assert!(escaped_size(&sealed) < MAX_PLAIN - 100, "{}", escaped_size(&sealed));
}

fn opened_as_before(sealed: &str) -> PendingAuthorization {
    let opened = serde_json::from_str::<SealedPending>(sealed).unwrap().open().unwrap();
    assert_eq!(serde_json::to_string(&SealedPending::seal(&opened)).unwrap(), sealed);
    opened
}

#[test]
fn a_cookie_of_the_release_before_opens_as_the_request_of_a_client() {
    let opened = opened_as_before(
        r#"["AQEBAQEBAQEBAQEBAQEBAQ","https://photos.example/cb","openid profile","s 1","n 1","BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ","0xA",1800,[["AgICAgICAgICAgICAgICAg","AwMDAwMDAwMDAwMDAwMDAw",300,1,"","key"]],["de",60,{"f":true,"r":["urn:a"],"k":"BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU","u":"BgYGBgYGBgYGBgYGBgYGBg","c":"https://photos.example/client.json","i":["BwcHBwcHBwcHBwcHBwcHBw","staff"]}]]"#,
    );
    let expected = PendingAuthorization {
        invitation: Some(AcceptedInvitation {
            id: InvitationId::from_uuid(Uuid::from_bytes([7; 16])),
            group: GroupName::parse("staff").unwrap(),
        }),
        requester: Requester::Client(ClientRequest {
            access: AccessRequest {
                client: ClientId::from_uuid(Uuid::from_bytes([1; 16])),
                document: Some("https://photos.example/client.json".to_owned()),
                scope: ScopeSet::of(&[Scope::OpenId, Scope::Profile]),
                resources: vec!["urn:a".to_owned()],
            },
            redirect_uri: RedirectUri::from_trusted("https://photos.example/cb".to_owned()),
            state: Some("s 1".to_owned()),
            nonce: Some("n 1".to_owned()),
            code_challenge: Some(CodeChallenge::from_bytes([4; 32])),
            login_hint: Some("0xA".to_owned()),
            response_mode: ResponseMode::FormPost,
            key: Some(KeyThumbprint::from_bytes([5; 32])),
            asked_auth_time: false,
            accepted: AcceptedUsers::OneOf(vec![UserId::from_uuid(Uuid::from_bytes([6; 16]))]),
        }),
        ui_locales: Some("de".to_owned()),
        oldest_sign_in: Some(NOW + Duration::minutes(1)),
        expires_at: NOW + Duration::minutes(30),
        challenges: vec![IssuedChallenge {
            id: GrantId::from_uuid(Uuid::from_bytes([2; 16])),
            digest: ChallengeDigest::from_bytes([3; 16]),
            expires_at: NOW + Duration::minutes(5),
            failures: 1,
            chain: None,
            kind: Some(AccountKind::Key),
        }],
    };
    assert_eq!(opened, expected);
    assert_eq!(opened.label(), "81fe811f");
}

#[test]
fn a_cookie_of_the_release_before_opens_as_the_request_of_the_account_page() {
    let opened = opened_as_before(
        r#"["AAAAAAAAAAAAAAAAAAAAAA","https://auth.example.com/account","",null,null,null,null,1800,[],[null,60]]"#,
    );
    let public_url = PublicUrl::parse("https://auth.example.com").unwrap();
    let expected = PendingAuthorization {
        oldest_sign_in: Some(NOW + Duration::minutes(1)),
        ..PendingAuthorization::for_account(&public_url, NOW, &Lifetimes::default())
    };
    assert_eq!(opened, expected);
    assert_eq!(opened.label(), "600a0aa2");
}

#[test]
fn a_cookie_of_the_release_before_opens_as_the_request_of_a_device() {
    let opened = opened_as_before(
        r#"["AQEBAQEBAQEBAQEBAQEBAQ","https://auth.example.com/device/done","profile","WDJB-MJHT",null,null,null,600,[],[null,null,{"r":["urn:a"],"d":"BwcHBwcHBwcHBwcHBwcHBw"}]]"#,
    );
    let device = WaitingDevice {
        id: GrantId::from_uuid(Uuid::from_bytes([7; 16])),
        code: UserCode::parse("WDJB-MJHT").unwrap(),
        access: AccessRequest {
            client: ClientId::from_uuid(Uuid::from_bytes([1; 16])),
            document: None,
            scope: ScopeSet::of(&[Scope::Profile]),
            resources: vec!["urn:a".to_owned()],
        },
        done: RedirectUri::of_device(&PublicUrl::parse("https://auth.example.com").unwrap()),
    };
    let expires_at = NOW + Duration::minutes(10);
    assert_eq!(opened, PendingAuthorization::of(Requester::Device(device), expires_at));
    assert_eq!(opened.label(), "26a6c12e");
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
            // Without a kind there are four values, or five, as in the previous release.
            assert_eq!(sealed.contains(r#""key""#) || sealed.contains(r#""contract""#), kind.is_some());
        }
    }
}

fn kept(pendings: &mut Pendings, room: usize) -> Vec<SealedPending> {
    serde_json::from_str(pendings.fit(room).unwrap().get()).unwrap()
}

#[test]
fn the_size_of_an_entry_is_what_it_takes_in_the_map() {
    for state in ["s 1", "\"quoted\"", "back\\slash", "\u{0}\u{1f}\n", "ein Äpfelchen", "🍏"] {
        let text = serde_json::to_string(&SealedPending::seal(&with_state(state.to_owned()))).unwrap();
        assert_eq!(escaped_size(&text), serde_json::json!({ KEY: text }).to_string().len(), "{text}");
    }
}

#[test]
fn a_038_four_ordinary_requests_fit_and_the_oldest_gives_way_to_more() {
    let mut pendings = Pendings((1..=4).map(ordinary).collect());
    let mark = escaped_size(&format!("{:?}", URL_SAFE_NO_PAD.encode([7; 16])));
    assert_eq!(kept(&mut pendings, MAX_PLAIN - mark).len(), 4, "beside the mark of the browser");
    let mut pendings = Pendings((1..=20).map(ordinary).collect());
    let kept = kept(&mut pendings, MAX_PLAIN);
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
    // Two of the 64 characters, `+` and `/`, are written as three. Their number is random, but will never be
    // more than six standard deviations above the expected one.
    let expected = base64 / 32;
    let escapes = expected + 6 * (expected.isqrt() + 1);
    assert!(cookie_name(true).len() + 1 + base64 + 2 * escapes <= 4_096);
}

#[test]
fn the_same_request_again_takes_the_place_of_its_elder() {
    let mut pendings = Pendings(vec![ordinary(1), ordinary(2)]);
    let again = of(ClientRequest { nonce: None, ..request(1) });
    pendings.add(again.clone());
    assert_eq!(pendings.len(), 2);
    assert_eq!(pendings.newest(), Some(&mut again.clone()));
}
