use time::Duration;

use super::*;
use crate::challenge::{ChallengeRejected, MAX_FAILURES};
use crate::id::{ClientId, SessionId, UserId};
use crate::key_thumbprint::KeyThumbprint;
use crate::pkce::CodeChallenge;
use crate::redirect_uri::UriOwner;
use crate::secret::{Secret, SecretHash};

const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn account(address: &str) -> WalletAccount {
    WalletAccount { family: "eip155".to_owned(), chain: "eip155:1".to_owned(), address: address.to_owned() }
}

const EXPIRES_AT: OffsetDateTime = NOW.saturating_add(Duration::minutes(30));

fn request() -> ClientRequest {
    let redirect_uri = RedirectUri::parse("https://a.example/cb", UriOwner::Registered).unwrap();
    let scope = ScopeSet::of(&[Scope::Profile]);
    ClientRequest {
        state: Some("s".to_owned()),
        ..ClientRequest::bare(ClientId::at(NOW, [1; 10]), redirect_uri, scope)
    }
}

fn pending_of(request: ClientRequest) -> PendingAuthorization {
    PendingAuthorization::of(Requester::Client(request), EXPIRES_AT)
}

fn pending() -> PendingAuthorization {
    pending_of(request())
}

fn challenge(number: u8, account: &WalletAccount, text: &str) -> IssuedChallenge {
    IssuedChallenge {
        id: GrantId::at(NOW, [number; 10]),
        digest: ChallengeDigest::of(account, text),
        expires_at: NOW + Duration::minutes(5),
        failures: 0,
        chain: None,
        kind: None,
    }
}

fn admit(
    pending: &PendingAuthorization,
    now: OffsetDateTime,
    address: &str,
    text: &str,
) -> Result<GrantId, ChallengeRejected> {
    let found = pending.challenge(text, |chain, _| {
        let chain = chain.unwrap_or("eip155:1").to_owned();
        vec![account("0xOther"), WalletAccount { chain, ..account(address) }]
    });
    let (challenge, found) = found.ok_or(ChallengeRejected::Unknown)?;
    assert_eq!(found.address, address);
    challenge.admit(now).map(|()| challenge.id)
}

#[test]
fn the_issued_text_is_admitted_for_its_account_only() {
    let mut pending = pending();
    let challenge = challenge(1, &account("0xA"), "text");
    pending.remember(challenge.clone());
    assert_eq!(admit(&pending, NOW, "0xA", "text"), Ok(challenge.id));
    assert_eq!(admit(&pending, NOW, "0xB", "text"), Err(ChallengeRejected::Unknown), "B-005");
    assert_eq!(admit(&pending, NOW, "0xA", "text "), Err(ChallengeRejected::Unknown), "B-002");
}

#[test]
fn b_012_an_older_live_challenge_is_still_admitted() {
    let mut pending = pending();
    let older = challenge(1, &account("0xA"), "older");
    pending.remember(older.clone());
    pending.remember(challenge(2, &account("0xA"), "newer"));
    assert_eq!(admit(&pending, NOW, "0xA", "older"), Ok(older.id));
}

#[test]
fn a_049_a_challenge_ends_at_its_exact_second() {
    let mut pending = pending();
    let challenge = challenge(1, &account("0xA"), "text");
    pending.remember(challenge.clone());
    let end = challenge.expires_at;
    assert!(admit(&pending, end - Duration::seconds(1), "0xA", "text").is_ok());
    assert_eq!(admit(&pending, end, "0xA", "text"), Err(ChallengeRejected::Expired));
}

#[test]
fn a_050_five_failures_burn_a_challenge_and_six_challenges_push_out_the_first() {
    let mut pending = pending();
    for number in 0..=u8::try_from(MAX_CHALLENGES).unwrap() {
        pending.remember(challenge(number, &account("0xA"), &number.to_string()));
    }
    assert_eq!(admit(&pending, NOW, "0xA", "0"), Err(ChallengeRejected::Unknown));
    let id = admit(&pending, NOW, "0xA", "1").unwrap();
    for _ in 0..MAX_FAILURES {
        assert!(admit(&pending, NOW, "0xA", "1").is_ok());
        pending.count_failure(id);
    }
    assert_eq!(admit(&pending, NOW, "0xA", "1"), Err(ChallengeRejected::Exhausted));
    assert!(admit(&pending, NOW, "0xA", "2").is_ok(), "the others stay good");
}

#[test]
fn a_challenge_for_a_named_chain_is_found_without_naming_it_again() {
    let mut pending = pending();
    let on_base = WalletAccount { chain: "eip155:8453".to_owned(), ..account("0xA") };
    let named = IssuedChallenge { chain: Some(on_base.chain.clone()), ..challenge(1, &on_base, "text") };
    pending.remember(named.clone());
    assert_eq!(admit(&pending, NOW, "0xA", "text"), Ok(named.id));
}

#[test]
fn b_065_one_request_has_one_grant_for_a_session_and_another_for_another() {
    let (mine, yours) = (SessionId::at(NOW, [1; 10]), SessionId::at(NOW, [2; 10]));
    let mine_of = |request: &ClientRequest| request.grant_id(EXPIRES_AT, mine);
    assert_eq!(mine_of(&request()), mine_of(&request()));
    assert_ne!(mine_of(&request()), request().grant_id(EXPIRES_AT, yours));
    let later = EXPIRES_AT + Duration::minutes(1);
    assert_ne!(mine_of(&request()), request().grant_id(later, mine), "a later request");
    let scope = ScopeSet::of(&[Scope::Email]);
    let others = [
        ClientRequest { state: Some("t".to_owned()), ..request() },
        ClientRequest { nonce: Some("n".to_owned()), ..request() },
        ClientRequest { access: AccessRequest { scope, ..request().access }, ..request() },
        ClientRequest { code_challenge: Some(CodeChallenge::from_bytes([7; 32])), ..request() },
        ClientRequest {
            access: AccessRequest { resources: vec!["urn:a".to_owned()], ..request().access },
            ..request()
        },
        ClientRequest { key: Some(KeyThumbprint::from_bytes([7; 32])), ..request() },
    ];
    for other in others {
        assert_ne!(mine_of(&request()), mine_of(&other), "{other:?}");
    }
}

fn session(authenticated_at: OffsetDateTime) -> LoginSession {
    let id = SessionId::at(NOW, [1; 10]);
    LoginSession {
        id,
        user: UserId::random([3; 16]),
        account: account("0xA"),
        secret_hash: SecretHash::of(&Secret::with_id(id.as_uuid(), [2; 32])),
        browser: String::new(),
        authenticated_at,
        last_used_at: authenticated_at,
        expires_at: NOW + Duration::hours(1),
    }
}

#[test]
fn a_034_a_sign_in_from_before_the_oldest_time_does_not_answer() {
    let fresh = PendingAuthorization { oldest_sign_in: Some(NOW), ..pending() };
    let earlier = session(NOW - Duration::seconds(1));
    assert!(pending().takes_session(&earlier));
    assert!(!fresh.takes_session(&earlier));
    assert!(fresh.takes_session(&session(NOW)));
}

#[test]
fn the_session_of_another_user_than_the_one_who_is_asked_for_does_not_answer() {
    let of = |user| pending_of(ClientRequest { accepted: AcceptedUsers::OneOf(vec![user]), ..request() });
    assert!(of(session(NOW).user).takes_session(&session(NOW)));
    assert!(!of(UserId::random([4; 16])).takes_session(&session(NOW)));
}

#[test]
fn whoever_wants_to_see_a_signature_gets_one_of_its_own() {
    let access = AccessRequest { scope: ScopeSet::of(&[Scope::WalletProof]), ..request().access };
    let wants = pending_of(ClientRequest { access, ..request() });
    assert!(!wants.takes_session(&session(NOW)));
}
