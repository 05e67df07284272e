use std::collections::BTreeSet;
use std::fs;

use clap::Parser;
use countersign_conformance::fixtures;
use countersign_domain::client::{AuthenticationMethod, ClientAuthentication, ClientOrigin};
use countersign_domain::registration;
use countersign_domain::resource::Catalog;
use countersign_domain::scope::{Scope, ScopeSet};

use super::*;
use crate::cli::{Cli, ClientCommand, Command};
use crate::client_command::file;

/// A client with a value in every field; its keys are in it or at an address.
fn full(keys_inside: bool) -> Client {
    let display = fixtures::full_display();
    let display = DisplayMetadata {
        jwks: Some(r#"{"keys":[{"kid":"🔑","kty":"EC"}]}"#.to_owned()).filter(|_| keys_inside),
        jwks_uri: display.jwks_uri.filter(|_| !keys_inside),
        ..fixtures::full_display()
    };
    Client {
        metadata: ClientMetadata {
            name: "Photo Album".to_owned(),
            redirect_uris: vec![fixtures::redirect_uri("https://client.example/cb")],
            scopes: ScopeSet::of(&[Scope::OpenId, Scope::Email]),
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            backchannel_logout_uri: Some("https://client.example/logout".to_owned()),
            requires_pushed_requests: true,
            requires_bound_tokens: true,
            display,
        },
        authentication: ClientAuthentication::Keys,
        origin: ClientOrigin::Operator,
        document: Some("https://client.example/client.json".to_owned()),
        resources: vec!["https://api.example".to_owned()],
        ..fixtures::client()
    }
}

fn both() -> [Client; 2] {
    [full(true), full(false)]
}

/// The fields of a registration that are stored. The others repeat them, or have one value only.
fn stored() -> BTreeSet<String> {
    let not_stored = ["scopes", "response_types", "subject_type"];
    let names = CLEARABLE.into_iter().chain(OTHERS).filter(|name| !not_stored.contains(name));
    names.map(ToOwned::to_owned).collect()
}

/// [`shown`] and [`requested`] name every field of the domain's types, without `..`: who adds one adds it there,
/// and then this test and those below want it in the lists, in a file and among the flags.
#[test]
fn every_field_is_shown() {
    let shown: Vec<_> = both().iter().flat_map(shown).filter(|(_, value)| value.is_some()).collect();
    let mut shown: BTreeSet<_> = shown.into_iter().map(|(name, _)| name.to_owned()).collect();
    for ours in ["client_id", "response_types", "resources", "document", "registered_by", "created_at"] {
        assert!(shown.remove(ours), "{ours}");
    }
    assert_eq!(shown, stored());
}

#[test]
fn what_is_shown_can_be_registered_again() {
    for client in both() {
        let judged =
            registration::judge(requested(of(&client)).unwrap(), ClientOrigin::Operator, &Catalog::NONE)
                .unwrap();
        assert_eq!((judged.metadata, judged.method), (client.metadata, AuthenticationMethod::PrivateKeyJwt));
    }
}

#[test]
fn what_is_shown_as_json_can_be_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client.json");
    for client in both() {
        let object: Fields =
            shown(&client).into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        fs::write(&path, Value::Object(object).to_string()).unwrap();
        let file = file::read_fields(&path).unwrap();
        assert_eq!((file.client_id, file.resources), (Some(client.id.to_string()), client.resources.clone()));
        assert_eq!(
            registration::judge(requested(file.fields).unwrap(), ClientOrigin::Operator, &Catalog::NONE)
                .unwrap()
                .metadata,
            client.metadata
        );
    }
}

/// The flags of `client create` and `client update`, each with a value, and what they say.
fn said_by_all_flags(command: &[&str], keys: &str) -> Fields {
    let flags = [
        "--name=x",
        "--redirect-uri=https://client.example/cb",
        "--scope=openid",
        "--grant-type=authorization_code",
        "--auth-method=private_key_jwt",
        keys,
        "--token-endpoint-auth-signing-alg=ES256",
        "--id-token-signed-response-alg=ES256",
        "--require-pushed-authorization-requests",
        "--dpop-bound-access-tokens",
        "--post-logout-redirect-uri=https://client.example/bye",
        "--backchannel-logout-uri=https://client.example/logout",
        "--client-uri=https://client.example",
        "--logo-uri=https://client.example/logo",
        "--tos-uri=https://client.example/tos",
        "--policy-uri=https://client.example/policy",
        "--contact=ann@client.example",
        "--application-type=web",
    ];
    let arguments = ["countersign", "client"].iter().chain(command).chain(&flags);
    let cli = Cli::try_parse_from(arguments).unwrap();
    let Some(Command::Client { command, .. }) = cli.command else { panic!("{cli:?}") };
    let (name, redirect_uri, metadata) = if let ClientCommand::Create { client, .. } = command {
        (client.name, client.redirect_uri, client.metadata)
    } else if let ClientCommand::Update { client, .. } = command {
        (client.name, client.redirect_uri, client.metadata)
    } else {
        panic!("{command:?}")
    };
    of_flags(name, redirect_uri, metadata).unwrap()
}

#[test]
fn every_field_has_a_flag_at_create_and_at_update() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    fs::write(&file, r#"{"keys":[]}"#).unwrap();
    let jwks = format!("--jwks-file={}", file.display());
    for command in [&["create"][..], &["update", "an id"]] {
        let mut names = BTreeSet::new();
        for keys in [jwks.as_str(), "--jwks-uri=https://client.example/jwks"] {
            let said = said_by_all_flags(command, keys);
            requested(said.clone()).unwrap();
            names.extend(said.into_iter().map(|(name, _)| name));
        }
        assert_eq!(names, stored());
    }
}

#[test]
fn every_field_that_a_file_can_name_is_read() {
    for name in CLEARABLE.into_iter().chain(OTHERS) {
        let wrong = Fields::from_iter([(name.to_owned(), json!(7))]);
        let Err(Failure::Usage(told)) = requested(wrong) else { panic!("{name}") };
        assert!(told.starts_with(&format!("{name} must be ")), "{told}");
        let null = Fields::from_iter([(name.to_owned(), Value::Null)]);
        assert_eq!(requested(null).unwrap(), RequestedMetadata::default(), "{name}");
    }
}

#[test]
fn a_change_leaves_everything_else_as_it_was() {
    for client in both() {
        for name in CLEARABLE {
            let mut fields = of(&client);
            change(&mut fields, Fields::from_iter([(name.to_owned(), Value::Null)]));
            let mut expected = of(&client);
            expected.remove(name);
            assert_eq!(fields, expected, "{name}");
        }
    }
}

#[test]
fn either_spelling_of_scopes_replaces_both() {
    for (name, value) in [("scope", json!("email")), ("scopes", json!(["email"]))] {
        let mut fields = of(&full(true));
        fields.insert("scopes".to_owned(), json!(["openid", "email"]));
        change(&mut fields, Fields::from_iter([(name.to_owned(), value)]));
        let judged =
            registration::judge(requested(fields).unwrap(), ClientOrigin::Operator, &Catalog::NONE).unwrap();
        assert_eq!(judged.metadata.scopes.to_string(), "email");
    }
}

/// Before keys had to be JSON.
#[test]
fn a_stored_key_set_that_is_not_json_stays_what_it_is() {
    let mut client = full(true);
    client.metadata.display.jwks = Some("garbage".to_owned());
    assert_eq!(requested(of(&client)).unwrap().display.jwks.as_deref(), Some("garbage"));
}

#[test]
fn the_page_about_registration_names_every_field() {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/registration.md")).unwrap();
    for name in CLEARABLE.into_iter().chain(OTHERS) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
