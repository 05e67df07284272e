//! What must be true of every text that is presented as one of our access tokens.

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use countersign_adapters_crypto::{JosekitSigner, SigningKey};
use countersign_domain::audience::Audience;
use countersign_domain::grant::TokenSubject;
use countersign_domain::id::{SubjectId, TokenId};
use countersign_domain::public_url::PublicUrl;
use countersign_domain::resource::ResourceRules;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_domain::signing_algorithm::SigningAlgorithm;
use countersign_domain::token::AccessClaims;
use countersign_ports::TokenSigner;
use time::OffsetDateTime;
use uuid::Uuid;

/// A signer, and the header of its tokens with the dot after it. Every process has a different key, so seeds begin
/// after the header.
static SIGNER: LazyLock<(JosekitSigner, String)> = LazyLock::new(|| {
    let key = SigningKey::generate(SigningAlgorithm::Es256).expect("a key");
    let signer = JosekitSigner::new(&[key]).expect("a signer");
    let id = TokenId::from_uuid(Uuid::from_u128(7));
    let issuer = PublicUrl::parse("https://auth.example.com").expect("a public URL");
    let rules = ResourceRules::new(issuer, Vec::new()).expect("no resource is refused");
    let claims = AccessClaims {
        issuer: "https://auth.example.com".to_owned(),
        audience: Audience::of_issuer(&rules),
        subject: TokenSubject::Person(SubjectId::from_uuid(Uuid::from_u128(7))),
        client: Uuid::nil().to_string(),
        scope: ScopeSet::of(&[Scope::Profile]),
        groups: None,
        authenticated_at: Some(OffsetDateTime::UNIX_EPOCH),
        issued_at: OffsetDateTime::UNIX_EPOCH,
        expires_at: OffsetDateTime::UNIX_EPOCH,
        id,
        key: None,
    };
    let signed = pin!(signer.sign_access_token(&claims)).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(token)) = signed else { panic!("signing waits or fails") };
    assert_eq!(signer.read_access_token(&token).map(|read| read.id), Some(id));
    let (header, _) = token.split_once('.').expect("a header");
    let header = format!("{header}.");
    (signer, header)
});

/// Reads the input as a token, and as the rest of a token with our header.
pub fn judge(input: &str) {
    let (signer, header) = &*SIGNER;
    assert_eq!(signer.read_id_token(input), None, "an ID token without our signature");
    assert_eq!(signer.read_access_token(input), None, "a token without our header");
    let token = format!("{header}{input}");
    if signer.read_access_token(&token).is_some() {
        assert_eq!(token.split('.').count(), 3);
        assert!(token.is_ascii());
        assert_eq!(signer.read_access_token(&format!("{token}=")), None, "a second spelling");
        assert_eq!(signer.read_access_token(&format!(" {token}")), None, "a second spelling");
    }
}
