//! Everything about a client is read back unchanged.

use std::sync::Arc;

use countersign_domain::admission::{ClientAccess, Release};
use countersign_domain::client::{
    Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata, SecretMethod,
};
use countersign_domain::client_secrets::{ClientSecrets, OldSecret};
use countersign_domain::grant_type::GrantType;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::scope::{Scope, ScopeSet};
use countersign_ports::{RegisterClient, Storage, UpdateClient};

use crate::fixtures;

/// Registers a client and reads it alone and in a list. Then updates another client to the same values, and
/// reads it again.
async fn survives(store: &dyn Storage, client: Client) {
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert_eq!(store.find_client(client.id).await.unwrap().as_ref(), Some(&client));
    let listed = store.list_clients(None, u32::MAX).await.unwrap();
    assert!(listed.contains(&client), "the list shows the same as the single read");

    // An update leaves them alone.
    let (resources, access) = (client.resources.clone(), client.access.clone());
    let other = Client { metadata: all_fields(), resources, access, ..fixtures::client() };
    store.register_client(RegisterClient { client: other.clone(), event: None }).await.unwrap();
    let changed = Client { id: other.id, ..client };
    assert!(store.update_client(UpdateClient { client: changed.clone(), event: None }).await.unwrap());
    let authentication = keeping_secrets(other.authentication, &changed.authentication);
    let stored = Client { authentication, ..changed };
    assert_eq!(store.find_client(other.id).await.unwrap(), Some(stored));
}

/// The secrets that the other client has stay.
fn keeping_secrets(known: ClientAuthentication, changed: &ClientAuthentication) -> ClientAuthentication {
    match (known, changed) {
        (ClientAuthentication::Secret { secrets, .. }, ClientAuthentication::Secret { method, .. }) => {
            ClientAuthentication::Secret { method: *method, secrets }
        }
        (_, other) => other.clone(),
    }
}

fn all_fields() -> ClientMetadata {
    ClientMetadata {
        backchannel_logout_uri: Some("https://client.example/logged-out".to_owned()),
        requires_pushed_requests: true,
        requires_bound_tokens: true,
        display: fixtures::full_display(),
        ..fixtures::client().metadata
    }
}

fn with(change: impl FnOnce(&mut ClientMetadata)) -> Client {
    let mut client = fixtures::client();
    change(&mut client.metadata);
    client
}

/// A secret by either method, or none.
pub async fn every_way_to_authenticate_survives(store: Arc<dyn Storage>) {
    let old = OldSecret { hash: fixtures::secret_hash(), expires_at: fixtures::NOW };
    let secrets = ClientSecrets::only(fixtures::secret_hash());
    let both = ClientSecrets { old: Some(old), ..secrets };
    let ways = [
        ClientAuthentication::Secret { method: SecretMethod::Post, secrets },
        ClientAuthentication::Secret { method: SecretMethod::Basic, secrets },
        ClientAuthentication::Secret { method: SecretMethod::Post, secrets: both },
        ClientAuthentication::Keys,
        ClientAuthentication::Public,
    ];
    for authentication in ways {
        survives(&*store, Client { authentication, ..fixtures::client() }).await;
    }
}

/// Every way in which a client can have been registered.
pub async fn every_origin_survives(store: Arc<dyn Storage>) {
    for origin in [ClientOrigin::SelfRegistered, ClientOrigin::Operator, ClientOrigin::Document] {
        survives(&*store, Client { origin, ..fixtures::client() }).await;
    }
}

/// A client that a document describes is like any other, and keeps its id.
pub async fn the_document_of_a_client_survives(store: Arc<dyn Storage>) {
    let document = Some("https://client.example/oauth/client.json".to_owned());
    survives(&*store, Client { document, ..fixtures::client() }).await;
}

/// The resources that the operator opened to the client by name.
pub async fn the_resources_that_were_opened_survive(store: Arc<dyn Storage>) {
    for count in [1, 2, 9] {
        let resources = (0..count).map(|number| format!("https://api-{number}.example/v1")).collect();
        survives(&*store, Client { resources, ..fixtures::client() }).await;
    }
}

/// Whom a client lets in, by every kind of rule, and what it is told, up to many groups with long names.
pub async fn every_decision_about_access_survives(store: Arc<dyn Storage>) {
    let long: Vec<_> = (10..99).map(|number| format!("{}{number}", "z".repeat(62))).collect();
    let long = long.join(",");
    let rules = ["everyone", "nobody", "groups:a", "groups:a,a-b,a.b,a:b,a_b", &format!("groups:{long}")];
    let rules: Vec<_> = rules.into_iter().map(|rule| Some(fixtures::rule(rule))).chain([None]).collect();
    for told in ["", "all", "a", "a,a-b,a.b,a:b,a_b", &long] {
        let release = if told.is_empty() { Release::OfRule } else { Release::parse(told).unwrap() };
        for rule in &rules {
            let access = ClientAccess { rule: rule.clone(), release: release.clone() };
            survives(&*store, Client { access, ..fixtures::client() }).await;
        }
    }
}

/// All sets that are not empty.
pub async fn every_set_of_scopes_survives(store: Arc<dyn Storage>) {
    for bits in 1_usize..1 << Scope::ALL.len() {
        let chosen = Scope::ALL.into_iter().enumerate().filter(|(place, _)| bits & (1 << place) != 0);
        let scopes: Vec<_> = chosen.map(|(_, scope)| scope).collect();
        survives(&*store, with(|metadata| metadata.scopes = ScopeSet::of(&scopes))).await;
    }
}

/// Both types, in either order, and each alone.
pub async fn every_list_of_grant_types_survives(store: Arc<dyn Storage>) {
    let all = GrantType::ALL;
    let [code, refresh, ..] = all;
    for grant_types in [vec![code], vec![code, refresh], vec![refresh, code], all.to_vec()] {
        survives(&*store, with(|metadata| metadata.grant_types = grant_types)).await;
    }
}

/// Up to a hundred characters of four bytes each, and whatever could confuse SQL.
pub async fn names_in_every_alphabet_survive(store: Arc<dyn Storage>) {
    let names = [
        "A".to_owned(),
        "Ünïcödé 名前 имя".to_owned(),
        "e\u{301} is not \u{e9}".to_owned(),
        "🦀".repeat(100),
        "'; DROP TABLE clients; --".to_owned(),
        "\\x00 %s $1 ? \" ` {}".to_owned(),
    ];
    for name in names {
        survives(&*store, with(|metadata| metadata.name = name)).await;
    }
}

/// As many as may be registered, including the longest, in the given order.
pub async fn twenty_redirect_uris_survive_in_their_order(store: Arc<dyn Storage>) {
    let mut uris: Vec<RedirectUri> = (0..19)
        .map(|number| {
            fixtures::redirect_uri(&format!("https://z{}.example/cb?x=%20&n={number}", 50 - number))
        })
        .collect();
    uris.insert(7, fixtures::redirect_uri(&format!("https://client.example/{}", "a".repeat(2_025))));
    survives(&*store, with(|metadata| metadata.redirect_uris = uris)).await;
}

/// Each field with a value while all others are empty.
pub async fn every_display_field_survives_alone(store: Arc<dyn Storage>) {
    let full = fixtures::full_display();
    let none = DisplayMetadata::default;
    let alone = [
        none(),
        DisplayMetadata { client_uri: full.client_uri, ..none() },
        DisplayMetadata { logo_uri: full.logo_uri, ..none() },
        DisplayMetadata { tos_uri: full.tos_uri, ..none() },
        DisplayMetadata { policy_uri: full.policy_uri, ..none() },
        DisplayMetadata { contacts: full.contacts, ..none() },
        DisplayMetadata { jwks: full.jwks, ..none() },
        DisplayMetadata { jwks_uri: full.jwks_uri, ..none() },
        DisplayMetadata { application_type: full.application_type, ..none() },
        DisplayMetadata { id_token_signed_response_alg: full.id_token_signed_response_alg, ..none() },
        DisplayMetadata { token_endpoint_auth_signing_alg: full.token_endpoint_auth_signing_alg, ..none() },
        DisplayMetadata { post_logout_redirect_uris: full.post_logout_redirect_uris, ..none() },
    ];
    for display in alone {
        survives(&*store, with(|metadata| metadata.display = display)).await;
    }
}

/// Every field that a client can set.
pub async fn all_display_fields_survive_together(store: Arc<dyn Storage>) {
    survives(&*store, with(|metadata| metadata.display = fixtures::full_display())).await;
    let long_keys = format!("{{\"keys\":[\"{}\"]}}", "🔑".repeat(4_000));
    survives(&*store, with(|metadata| metadata.display.jwks = Some(long_keys))).await;
}

/// No list is different from an empty one.
pub async fn lists_of_every_length_survive(store: Arc<dyn Storage>) {
    for length in [0, 1, 2, 10] {
        let contacts = (0..length).map(|number| format!("{number}, <ops@client.example>; 名前")).collect();
        let uris = (0..length).map(|number| format!("https://client.example/bye?n={number}")).collect();
        let client = with(|metadata| {
            metadata.display.contacts = contacts;
            metadata.display.post_logout_redirect_uris = uris;
        });
        survives(&*store, client).await;
    }
}
