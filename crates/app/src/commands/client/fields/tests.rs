use std::collections::BTreeSet;
use std::fs;

use clap::Parser;
use countersign_conformance::fixtures;
use countersign_domain::client::{
    AuthenticationMethod, Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata,
};
use countersign_domain::client_field::FieldKind;
use countersign_domain::grant_type::GrantType;
use countersign_domain::registration;
use countersign_domain::resource::Catalog;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_usecases::clients::client_view::ClientView;

use super::*;
use crate::cli::{Cli, ClientCommand, Command};
use crate::commands::client::file;

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
    ClientField::in_words().into_iter().map(|field| field.name().to_owned()).collect()
}

#[test]
fn what_is_shown_can_be_registered_again() {
    for client in both() {
        let judged = registration::judge(
            requested(&of(&client)).unwrap(),
            registration::Rules::of(ClientOrigin::Operator, &Catalog::NONE),
        )
        .unwrap();
        assert_eq!((judged.metadata, judged.method), (client.metadata, AuthenticationMethod::PrivateKeyJwt));
    }
}

#[test]
fn what_is_shown_as_json_can_be_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client.json");
    for client in both() {
        let object: Fields = ClientView::of(&client)
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect();
        fs::write(&path, Value::Object(object).to_string()).unwrap();
        let file = file::read_fields(&path).unwrap();
        assert_eq!((file.client_id, file.resources), (Some(client.id.to_string()), client.resources.clone()));
        assert_eq!(
            registration::judge(
                requested(&file.fields).unwrap(),
                registration::Rules::of(ClientOrigin::Operator, &Catalog::NONE)
            )
            .unwrap()
            .metadata,
            client.metadata
        );
    }
}

/// The flags of `client create` and `client update`, each with a value, and what they say.
fn said_by_all_flags(command: &[&str], keys: &str) -> Fields {
    let mut flags = vec![
        "--name=x".to_owned(),
        "--redirect-uri=https://client.example/cb".to_owned(),
        "--scope=openid".to_owned(),
        "--grant-type=authorization_code".to_owned(),
        "--auth-method=private_key_jwt".to_owned(),
        keys.to_owned(),
    ];
    // Keys are in one of two places.
    let others = ClientField::in_words().into_iter().filter(|field| ![ClientField::JwksUri].contains(field));
    flags.extend(others.skip(5).filter(|field| *field != ClientField::Jwks).map(|field| {
        let name = field.name().replace('_', "-");
        match field.kind() {
            FieldKind::Address | FieldKind::Text | FieldKind::Keys => {
                format!("--{name}=https://client.example")
            }
            FieldKind::OneOf(values, _) => format!("--{name}={}", values[0]),
            FieldKind::Truth => format!("--{name}"),
            FieldKind::Seconds => format!("--{name}=5m"),
            FieldKind::List | FieldKind::RedirectUris => {
                format!("--{}=https://client.example", name.strip_suffix('s').unwrap())
            }
        }
    }));
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
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
            requested(&said).unwrap();
            names.extend(said.into_iter().map(|(name, _)| name));
        }
        assert_eq!(names, stored());
    }
}

#[test]
fn every_field_that_a_file_can_name_is_read() {
    for &name in ClientField::NAMES {
        let wrong = Fields::from_iter([(name.to_owned(), json!(-7))]);
        let Err(Failure::Usage(told)) = requested(&wrong) else { panic!("{name}") };
        assert!(told.starts_with(&format!("{name} must be ")), "{told}");
        let null = Fields::from_iter([(name.to_owned(), Value::Null)]);
        assert_eq!(requested(&null).unwrap(), RequestedMetadata::default(), "{name}");
    }
}

#[test]
fn a_change_leaves_everything_else_as_it_was() {
    for client in both() {
        for name in ClientField::ALL.iter().filter(|field| field.is_clearable()).map(|field| field.name()) {
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
        let judged = registration::judge(
            requested(&fields).unwrap(),
            registration::Rules::of(ClientOrigin::Operator, &Catalog::NONE),
        )
        .unwrap();
        assert_eq!(judged.metadata.scopes.to_string(), "email");
    }
}

/// Before keys had to be JSON.
#[test]
fn a_stored_key_set_that_is_not_json_stays_what_it_is() {
    let mut client = full(true);
    client.metadata.display.jwks = Some("garbage".to_owned());
    assert_eq!(requested(&of(&client)).unwrap().display.jwks.as_deref(), Some("garbage"));
}

#[test]
fn the_page_about_registration_names_every_field() {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/registration.md")).unwrap();
    for &name in ClientField::NAMES {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
