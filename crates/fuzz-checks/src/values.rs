//! What must be true of the small values: each has one spelling, or all of its spellings mean the same.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_adapters_crypto::OperatorSecret;
use countersign_domain::challenge::{ReadText, TextKey, is_ours};
use countersign_domain::client::{AuthenticationMethod, ClientOrigin};
use countersign_domain::email::EmailAddress;
use countersign_domain::grant_type::GrantType;
use countersign_domain::id::{ClientId, GrantId, TokenId, UserId};
use countersign_domain::pkce::CodeChallenge;
use countersign_domain::redirect_uri::percent_escapes_are_whole;
use countersign_domain::resource::Catalog;
use countersign_domain::scope::ScopeSet;
use countersign_domain::secret::{Secret, SecretHash};
use countersign_domain::wallet::AccountName;
use sha2::{Digest, Sha256};

/// Reads the input as each of the values.
pub fn judge(input: &str) {
    ids(input);
    secrets(input);
    code_challenges(input);
    account_names(input);
    email_addresses(input);
    foreign_texts(input);
    if let Ok(scopes) = ScopeSet::parse(input, &Catalog::NONE) {
        assert!(scopes.names().all(|scope| input.split(' ').any(|word| word == scope)));
        assert_eq!(ScopeSet::parse(&scopes.to_string(), &Catalog::NONE), Ok(scopes));
    }
    let names = [
        GrantType::parse(input).map(GrantType::name),
        AuthenticationMethod::parse(input).map(AuthenticationMethod::name),
        ClientOrigin::parse(input).map(ClientOrigin::name),
    ];
    assert!(names.into_iter().flatten().all(|name| name == input));
    if percent_escapes_are_whole(input) {
        let escapes = input.match_indices('%').filter_map(|(at, _)| input.get(at + 1..at + 3));
        assert_eq!(escapes.filter(|digits| hex::decode(digits).is_ok()).count(), input.matches('%').count());
    }
}

fn ids(input: &str) {
    let spellings = [
        ClientId::parse(input).map(|id| id.to_string()),
        UserId::parse(input).map(|id| id.to_string()),
        GrantId::parse(input).map(|id| id.to_string()),
        TokenId::parse(input).map(|id| id.to_string()),
    ];
    for spelling in spellings.iter().flatten() {
        assert_eq!(spelling, input);
    }
    assert!(spellings.iter().all(|spelling| spelling.is_some() == spellings[0].is_some()));
}

/// Codes and tokens that contain the id of their row, hashes, and the operator's secret.
fn secrets(input: &str) {
    let secret = Secret::new(input);
    assert_eq!(format!("{secret:?}"), "Secret(..)");
    assert!(SecretHash::of(&secret).admits(&secret));
    if let Some(id) = secret.id() {
        let bytes = URL_SAFE_NO_PAD.decode(input).expect("base64url");
        let random = bytes[16..].try_into().expect("32 bytes behind the id");
        assert_eq!(Secret::with_id(id, random).expose(), input);
    }
    if let Ok(secret) = OperatorSecret::parse(input) {
        let text = secret.expose();
        assert_eq!(OperatorSecret::parse(&text).map(|secret| secret.expose()), Ok(text));
    }
}

fn code_challenges(input: &str) {
    if let Ok(Some(challenge)) = CodeChallenge::judge(Some(input), Some("S256")) {
        assert_eq!(URL_SAFE_NO_PAD.encode(challenge.as_bytes()), input);
    }
    assert!(
        CodeChallenge::judge(Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"), Some(input)).is_ok()
            == (input == "S256")
    );
    let of_input = CodeChallenge::from_bytes(Sha256::digest(input.as_bytes()).into());
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let well_formed = (43..=128).contains(&input.len()) && input.bytes().all(unreserved);
    assert_eq!(of_input.admits(input), well_formed);
}

/// A mail address has one spelling, and cannot break a line of a mail (B-070).
fn email_addresses(input: &str) {
    let Ok(address) = EmailAddress::parse(input) else { return };
    assert_eq!(EmailAddress::parse(address.as_str()), Ok(address.clone()));
    assert!(crate::is_printable(address.as_str()) && address.as_str().len() <= 254);
    assert_eq!(address.as_str().matches('@').count(), 1);
    assert!(input.trim().eq_ignore_ascii_case(address.as_str()));
}

/// A text that somebody else wrote is parsed but not trusted: everything shown is in the text, and it is not ours.
fn foreign_texts(input: &str) {
    assert!(!is_ours(&TextKey::new([7; 32]), input));
    let text = format!("a.example wants you to sign in with your Ethereum account:\n{input}");
    let Some(read) = ReadText::read(&text) else { panic!("it begins as such texts do") };
    assert_eq!((read.host(), read.account_kind), ("a.example", "Ethereum"));
    let shown = [read.address, read.uri, read.chain_id, read.nonce, read.expiration_time];
    assert!(
        shown
            .into_iter()
            .flatten()
            .chain(read.resources)
            .chain(read.other_lines)
            .all(|part| text.contains(part))
    );
}

fn account_names(input: &str) {
    let Ok(name) = AccountName::read(input, None) else { panic!("one chain cannot differ from itself") };
    match name.chain {
        Some(chain) => {
            assert_eq!(format!("{chain}:{}", name.address), input);
            assert_eq!(chain.matches(':').count(), 1);
            assert_eq!(AccountName::read(input, Some(chain)), Ok(name));
            assert!(AccountName::read(input, Some("another:chain")).is_err() || chain == "another:chain");
        }
        None => assert_eq!(name.address, input),
    }
}
