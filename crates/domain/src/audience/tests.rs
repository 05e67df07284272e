//! What a token can be for, for everything that can be signed.

use time::OffsetDateTime;
use uuid::Uuid;

use super::*;
use crate::grant::Holder;
use crate::id::{ClientId, GrantId, UserId};
use crate::particulars::Particulars;
use crate::resource::{DeclaredResource, OpenTo};
use crate::secret::{Secret, SecretHash};
use crate::testing::client;
use crate::wallet::WalletAccount;

const ISSUER: &str = "https://auth.example";

fn rules(declared: &[&str]) -> ResourceRules {
    let declared =
        declared.iter().map(|uri| DeclaredResource { uri: (*uri).to_owned(), open_to: OpenTo::Everyone });
    ResourceRules::new(crate::public_url::PublicUrl::parse(ISSUER).unwrap(), declared.collect()).unwrap()
}

fn texts(uris: &[&str]) -> Vec<String> {
    uris.iter().map(|uri| (*uri).to_owned()).collect()
}

fn grant(resources: &[&str], scope: &[Scope]) -> Grant {
    let now = OffsetDateTime::UNIX_EPOCH;
    let particulars = Particulars { resources: texts(resources), ..Particulars::default() };
    let hash = SecretHash::of(&Secret::new("x"));
    let id = GrantId::from_uuid(Uuid::from_u128(3));
    let of_client = Grant::of_client(now, id, ClientId::from_uuid(Uuid::from_u128(1)), particulars, hash);
    let user = UserId::from_uuid(Uuid::from_u128(2));
    let account = WalletAccount {
        family: "eip155".to_owned(),
        chain: "eip155:1".to_owned(),
        address: "0xA".to_owned(),
    };
    let holder = Holder::Person { user, account };
    Grant { holder, scope: ScopeSet::of(scope), ..of_client }
}

fn chosen(resources: &[&str], scope: &[Scope], requested: &[&str]) -> Option<Vec<String>> {
    let grant = grant(resources, scope);
    let rules = rules(&["urn:a", "urn:b", "urn:c"]);
    let audience = Audience::of_grant(&rules, &client(), &grant, grant.scope, &texts(requested));
    audience.ok().map(|audience| audience.as_slice().to_vec())
}

#[test]
fn f_01_a_token_is_for_what_was_signed_or_for_less() {
    use Scope::{OpenId, Profile};
    let of = |uris: &[&str]| Some(texts(uris));
    assert_eq!(chosen(&[], &[Profile], &[]), of(&[ISSUER]));
    assert_eq!(chosen(&[], &[Profile], &[ISSUER]), of(&[ISSUER]));
    assert_eq!(chosen(&[], &[Profile], &["urn:a"]), None, "no one signed for it");
    assert_eq!(chosen(&["urn:b", "urn:a"], &[Profile], &[]), of(&["urn:b", "urn:a"]));
    assert_eq!(chosen(&["urn:b", "urn:a"], &[Profile], &["urn:a", "urn:a"]), of(&["urn:a"]));
    assert_eq!(chosen(&["urn:a"], &[Profile], &["urn:b"]), None);
    assert_eq!(chosen(&["urn:a"], &[Profile], &["urn:a", "urn:b"]), None);
    assert_eq!(chosen(&["urn:a"], &[Profile], &[ISSUER]), None);
    assert_eq!(chosen(&["urn:a"], &[Profile], &["urn:a/"]), None);
    assert_eq!(chosen(&["urn:a"], &[OpenId], &[]), of(&["urn:a", ISSUER]));
    assert_eq!(chosen(&["urn:a", "urn:b"], &[OpenId], &["urn:b"]), of(&["urn:b", ISSUER]));
    assert_eq!(chosen(&["urn:a"], &[OpenId], &[ISSUER]), of(&[ISSUER]));
}

#[test]
fn f_09_a_token_without_openid_may_leave_this_server_out() {
    let grant = grant(&["urn:a"], &[Scope::OpenId, Scope::Profile]);
    let (rules, profile) = (rules(&["urn:a"]), ScopeSet::of(&[Scope::Profile]));
    let narrow = Audience::of_grant(&rules, &client(), &grant, profile, &texts(&["urn:a"])).unwrap();
    assert_eq!(narrow.as_slice(), ["urn:a"]);
    let all = Audience::of_grant(&rules, &client(), &grant, profile, &[]).unwrap();
    assert_eq!(all.as_slice(), ["urn:a", ISSUER]);
}

#[test]
fn what_the_operator_took_back_is_granted_no_longer() {
    let (client, rules) = (client(), rules(&["urn:b"]));
    let audience = |resources: &[&str], scope: &[Scope], requested: &[&str]| {
        let grant = grant(resources, scope);
        let audience = Audience::of_grant(&rules, &client, &grant, grant.scope, &texts(requested));
        audience.map(|audience| audience.as_slice().to_vec()).ok()
    };
    assert_eq!(audience(&["urn:a", "urn:b"], &[Scope::Profile], &[]), Some(texts(&["urn:b"])));
    assert_eq!(audience(&["urn:a"], &[Scope::Profile], &[]), None);
    assert_eq!(audience(&["urn:a"], &[Scope::Profile], &["urn:a"]), None);
    assert_eq!(audience(&["urn:a"], &[Scope::OpenId], &[]), Some(texts(&[ISSUER])));
}

#[test]
fn f_01_a_client_by_itself_gets_what_the_operator_opened_to_it() {
    let rules = rules(&["urn:a", "urn:b"]);
    let trusted = Client { resources: texts(&["urn:a", "urn:z"]), ..client() };
    let of = |client: &Client, requested: &[&str]| {
        Audience::of_client(&rules, client, &texts(requested)).map(|audience| audience.as_slice().to_vec())
    };
    assert_eq!(of(&trusted, &["urn:a"]).unwrap(), ["urn:a"]);
    assert_eq!(of(&trusted, &[]).unwrap(), [ISSUER]);
    assert_eq!(of(&trusted, &[ISSUER]).unwrap(), [ISSUER]);
    assert!(of(&trusted, &["urn:b"]).is_err(), "declared, but not opened to it");
    assert!(of(&trusted, &["urn:z"]).is_err(), "opened to it, but no longer declared");
    assert!(of(&client(), &["urn:a"]).is_err());
}

#[test]
fn a_set_of_audiences_is_read_as_it_was_written() {
    for resources in [&[][..], &["urn:a"], &["urn:b", "urn:a", "urn:b"]] {
        for scope in [&[][..], &[Scope::OpenId]] {
            let set = SignedAudiences::of(&texts(resources), ScopeSet::of(scope));
            assert_eq!(SignedAudiences::parse(&set.to_text()), Some(set));
        }
    }
    assert_eq!(SignedAudiences::of(&[], ScopeSet::default()).to_text(), "issuer");
    let nothing = SignedAudiences::parse("").unwrap();
    assert!(!nothing.holds(&nothing) && !nothing.hold_this_server());
    for text in ["urn:b\nurn:a", "urn:a\n", "urn:a\nissuer", "urn:a\nurn:a"] {
        assert_eq!(SignedAudiences::parse(text), None, "{text:?}");
    }
}
