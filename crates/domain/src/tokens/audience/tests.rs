//! What a token can be for, for everything that can be signed.

use std::sync::Arc;

use time::OffsetDateTime;
use uuid::Uuid;

use super::*;
use crate::client::{ClientMetadata, ClientOrigin};
use crate::error::OAuthErrorCode;
use crate::grant::Holder;
use crate::id::{ClientId, GrantId, UserId};
use crate::particulars::Particulars;
use crate::resource::{DeclaredResource, OpenTo};
use crate::secret::{Secret, SecretHash};
use crate::testing::{catalog, client};
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
    let audience = TokenAccess::of_grant(&rules, &client(), &grant, &grant.scope, &texts(requested));
    audience.ok().map(|access| access.audience.as_slice().to_vec())
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
    let narrow = TokenAccess::of_grant(&rules, &client(), &grant, &profile, &texts(&["urn:a"])).unwrap();
    assert_eq!(narrow.audience.as_slice(), ["urn:a"]);
    let all = TokenAccess::of_grant(&rules, &client(), &grant, &profile, &[]).unwrap();
    assert_eq!(all.audience.as_slice(), ["urn:a", ISSUER]);
}

#[test]
fn what_the_operator_took_back_is_granted_no_longer() {
    let (client, rules) = (client(), rules(&["urn:b"]));
    let audience = |resources: &[&str], scope: &[Scope], requested: &[&str]| {
        let grant = grant(resources, scope);
        let audience = TokenAccess::of_grant(&rules, &client, &grant, &grant.scope, &texts(requested));
        audience.map(|access| access.audience.as_slice().to_vec()).ok()
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
        let access = TokenAccess::of_client(&rules, client, &ScopeSet::EMPTY, &texts(requested));
        access.map(|access| access.audience.as_slice().to_vec())
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
            let set = SignedAudiences::of(&texts(resources), &ScopeSet::of(scope));
            assert_eq!(SignedAudiences::parse(&set.to_text()), Some(set));
        }
    }
    assert_eq!(SignedAudiences::of(&[], &ScopeSet::EMPTY).to_text(), "issuer");
    let nothing = SignedAudiences::parse("").unwrap();
    assert!(!nothing.holds(&nothing) && !nothing.hold_this_server());
    for text in ["urn:b\nurn:a", "urn:a\n", "urn:a\nissuer", "urn:a\nurn:a"] {
        assert_eq!(SignedAudiences::parse(text), None, "{text:?}");
    }
}

/// Resources with scopes: `urn:a` has `a.read` and `a.write`, `urn:b` has `b.read` for members of `staff`.
fn with_scopes() -> ResourceRules {
    rules(&["urn:c"]).with(Arc::new(catalog(&[
        ("urn:a", OpenTo::Everyone, &["a.read", "a.write"]),
        ("urn:b", OpenTo::Named, &["b.read"]),
    ])))
}

fn own_grant(resources: &[&str], scope: &str) -> Grant {
    Grant { scope: ScopeSet::from_stored(scope).unwrap(), ..grant(resources, &[]) }
}

fn access(grant: &Grant, scope: &str, requested: &[&str]) -> Result<(String, String), OAuthError> {
    let client = Client { resources: texts(&["urn:b"]), ..client() };
    let scope = ScopeSet::from_stored(scope).unwrap();
    let access = TokenAccess::of_grant(&with_scopes(), &client, grant, &scope, &texts(requested));
    access.map(|access| (access.audience.as_slice().join(" "), access.scope.to_string()))
}

#[test]
fn f_01_a_token_for_one_resource_carries_no_scope_of_another() {
    let both = "profile a.read b.read";
    let grant = own_grant(&["urn:a", "urn:b"], both);
    let of = |aud: &str, scope: &str| Ok((aud.to_owned(), scope.to_owned()));
    assert_eq!(access(&grant, both, &["urn:a"]), of("urn:a", "profile a.read"));
    assert_eq!(access(&grant, both, &["urn:b"]), of("urn:b", "profile b.read"));
    for requested in [&[][..], &["urn:a", "urn:b"]] {
        let refused = access(&grant, both, requested).unwrap_err();
        assert_eq!(refused.code, OAuthErrorCode::InvalidTarget);
    }
    assert_eq!(access(&grant, "b.read", &["urn:a"]).unwrap_err().code, OAuthErrorCode::InvalidScope);
    assert_eq!(access(&grant, "a.read", &[]), of("urn:a", "a.read"), "all scopes belong to one");
    assert_eq!(
        access(&own_grant(&["urn:a"], "a.read"), "a.read", &["urn:b"]).unwrap_err().code,
        OAuthErrorCode::InvalidTarget
    );
    let with_us = own_grant(&["urn:a"], "openid a.read");
    assert_eq!(access(&with_us, "openid a.read", &[]), of(&format!("urn:a {ISSUER}"), "openid a.read"));
    assert_eq!(access(&with_us, "openid a.read", &[ISSUER]), of(ISSUER, "openid"));
}

#[test]
fn what_was_deleted_is_dropped_and_nothing_at_all_is_refused() {
    let grant = own_grant(&["urn:a"], "profile a.read a.gone");
    assert_eq!(
        access(&grant, "profile a.read a.gone", &[]),
        Ok(("urn:a".to_owned(), "profile a.read".to_owned()))
    );
    let gone = own_grant(&["urn:a"], "a.gone");
    assert_eq!(access(&gone, "a.gone", &[]).unwrap_err().code, OAuthErrorCode::InvalidScope);
    let deleted = own_grant(&["urn:z"], "z.read");
    assert_eq!(access(&deleted, "z.read", &[]).unwrap_err().code, OAuthErrorCode::InvalidTarget);
    let with_us = own_grant(&["urn:z"], "openid z.read");
    assert_eq!(access(&with_us, "openid z.read", &[]), Ok((ISSUER.to_owned(), "openid".to_owned())));
}

#[test]
fn f_01_a_client_by_itself_gets_the_scopes_that_the_operator_gave_to_it() {
    let rules = with_scopes();
    let scopes = ScopeSet::from_stored("a.read b.read profile").unwrap();
    let metadata = ClientMetadata { scopes, ..client().metadata };
    let ours = Client { origin: ClientOrigin::Operator, resources: texts(&["urn:a"]), metadata, ..client() };
    let stranger = Client { origin: ClientOrigin::SelfRegistered, ..ours.clone() };
    let of = |client: &Client, scope: Option<&str>, requested: &[&str]| {
        let scope = rules.choose_for_itself(client, scope, &texts(requested)).map_err(|error| error.code)?;
        let access =
            TokenAccess::of_client(&rules, client, &scope, &texts(requested)).map_err(|error| error.code)?;
        Ok((access.audience.as_slice().join(" "), access.scope.to_string()))
    };
    let (scope, target) = (Err(OAuthErrorCode::InvalidScope), Err(OAuthErrorCode::InvalidTarget));
    let got = |aud: &str, scope: &str| Ok((aud.to_owned(), scope.to_owned()));
    assert_eq!(of(&ours, Some("a.read"), &[]), got("urn:a", "a.read"));
    assert_eq!(of(&ours, Some("a.read"), &["urn:a"]), got("urn:a", "a.read"));
    assert_eq!(of(&ours, None, &["urn:a"]), got("urn:a", "a.read"));
    assert_eq!(of(&ours, None, &[]), got(ISSUER, ""));
    assert_eq!(of(&ours, Some("a.write"), &[]), scope, "not given");
    assert_eq!(of(&ours, Some("profile"), &[]), scope, "about a person");
    assert_eq!(of(&ours, Some("a.read"), &[ISSUER]), scope);
    assert_eq!(of(&ours, Some("b.read"), &[]), target, "its resource is not open to the client");
    assert_eq!(of(&stranger, Some("a.read"), &["urn:a"]), scope);
    assert_eq!(of(&stranger, None, &["urn:a"]), got("urn:a", ""));
}
