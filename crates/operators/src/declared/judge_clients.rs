//! Compares the clients in the files of a run with those that are there.

use std::sync::Arc;

use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::client::{
    AuthenticationMethod, Client, ClientAuthentication, ClientMetadata, ClientOrigin,
};
use countersign_domain::client_secrets::ClientSecrets;
use countersign_domain::declaration::DeclaredThing;
use countersign_domain::registration::{JudgedMetadata, RegistrationRejected, Rules};
use countersign_domain::secret::SecretHash;
use countersign_usecases::Management;
use countersign_usecases::clients::judge_sector::{judge_sector, judge_sector_change};
use countersign_usecases::clients::register_client::{judge, owners};
use countersign_usecases::clients::update_client::carried_over;

use super::ahead::{Ahead, declared_before, no_group};
use super::plan::{Change, DeclaredBefore, NewSecret, NewState, PlannedClient, What};
use super::read_state::State;
use super::{DeclaredFiles, FileClient, Item, Mistake};

/// Compares all clients.
pub(super) async fn judge_clients(
    management: Management<'_>,
    files: &DeclaredFiles,
    state: &State,
    ahead: &Ahead,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for item in &files.clients {
        match judge_client(management, item, state, ahead) {
            Ok(None) => {}
            Ok(Some(change)) => match judge_sector_of(management, &change).await {
                Ok(()) => changes.push(change),
                Err(rejected) => mistakes.push(refused(item, &rejected)),
            },
            Err(mut found) => mistakes.append(&mut found),
        }
    }
    changes
}

async fn judge_sector_of(management: Management<'_>, change: &Change) -> Result<(), RegistrationRejected> {
    let What::Client(planned) = &change.what else { return Ok(()) };
    match &**planned {
        PlannedClient::Registered(now) => judge_sector(management.fetcher, &now.client.metadata).await,
        PlannedClient::Kept { before, now } => {
            judge_sector_change(management.fetcher, before, &now.client).await
        }
        PlannedClient::Deleted(_) => Ok(()),
    }
}

fn judge_client(
    management: Management<'_>,
    item: &Item<FileClient>,
    state: &State,
    ahead: &Ahead,
) -> Result<Option<Change>, Vec<Mistake>> {
    let FileClient { id, is_derived, requested, access, resources, secret } = &item.value;
    let mistake = |field: &str, what: String| item.mistake("client", field, what);
    let mut mistakes = references(item, state, ahead);
    let before = state.clients.get(id);
    if let Some(before) = before {
        match before.origin {
            ClientOrigin::Operator => {}
            ClientOrigin::SelfRegistered => mistakes.push(mistake(
                "id",
                format!(
                    "the client {id} registered itself, and may change what it registered: declare another"
                ),
            )),
            ClientOrigin::Document => {
                mistakes
                    .push(mistake("id", format!("the client {id} is what its document says: change that")));
            }
        }
    }
    let name = requested.client_name.as_deref().unwrap_or_default();
    // A replica may have registered this very client since the others were read.
    let others = state.namesakes.get(name.trim()).into_iter().flatten();
    let namesake = others.copied().find(|other| other != id);
    if let Some(namesake) = namesake.filter(|_| before.is_none() && *is_derived && !was_declared(state, name))
    {
        mistakes.push(mistake(
            "name",
            format!("an operator's client has this name: write id = \"{namesake}\" to declare that one"),
        ));
    }
    let rules = Rules::of(ClientOrigin::Operator, ahead.rules.catalog());
    let judged = judge(management, requested.clone(), rules).map_err(|rejected| {
        mistakes.push(refused(item, &rejected));
        mistakes.clone()
    });
    let JudgedMetadata { metadata, method, left_out: _ } = judged?;
    let mut resources = resources.clone().unwrap_or_else(|| owners(ahead.rules.catalog(), &metadata.scopes));
    resources.sort();
    resources.dedup();
    if secret.is_some() && !matches!(method, AuthenticationMethod::Secret(_)) {
        let what = format!("a client with token_endpoint_auth_method {} has no secret", method.name());
        let field = if item.fields.contains_key("secret_env") { "secret_env" } else { "secret_file" };
        mistakes.push(mistake(field, what));
    }
    let authentication = match before {
        Some(before) => carried_over(before.authentication.clone(), method),
        None => Some(match method {
            AuthenticationMethod::Secret(method) => {
                // What is stored instead is made when the client is registered.
                let hash = secret
                    .as_ref()
                    .map_or(SecretHash::from_bytes([0; 32]), |given| SecretHash::of(&given.secret));
                ClientAuthentication::Secret { method, secrets: ClientSecrets::only(hash) }
            }
            AuthenticationMethod::PrivateKeyJwt => ClientAuthentication::Keys,
            AuthenticationMethod::None => ClientAuthentication::Public,
        }),
    };
    let Some(authentication) = authentication else {
        mistakes.push(mistake(
            "token_endpoint_auth_method",
            "it cannot change between a secret, keys and none: declare another client".to_owned(),
        ));
        return Err(mistakes);
    };
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let thing = DeclaredThing::client(*id);
    let source = Arc::clone(&item.at.file);
    let requested = requested.clone();
    let Some(before) = before else {
        let now = management.clock.now();
        let client = Client {
            id: *id,
            authentication,
            metadata,
            origin: ClientOrigin::Operator,
            document: None,
            resources,
            access: access.clone(),
            registration_token: SecretHash::from_bytes([0; 32]),
            created_at: now.replace_nanosecond(0).unwrap_or(now),
        };
        let secret = match (secret, method) {
            (Some(given), _) => NewSecret::Given(given.clone()),
            (None, AuthenticationMethod::Secret(_)) => NewSecret::Unknown,
            (None, AuthenticationMethod::PrivateKeyJwt | AuthenticationMethod::None) => NewSecret::Same,
        };
        let what = PlannedClient::Registered(NewState { client, requested, secret });
        let what = What::Client(Box::new(what));
        return Ok(Some(Change { source, thing, what, declared: DeclaredBefore::Nowhere }));
    };
    let declared = declared_before(state, &thing, before.created_at, &source);
    let client = Client {
        authentication,
        metadata: with_stored_keys(metadata, before),
        resources: in_stored_order(resources, &before.resources),
        access: access.clone(),
        ..before.clone()
    };
    let secret = match (secret, &before.authentication) {
        (Some(given), ClientAuthentication::Secret { secrets, .. })
            if !secrets.current.admits(&given.secret) =>
        {
            NewSecret::Given(given.clone())
        }
        (Some(_) | None, _) => NewSecret::Same,
    };
    if client == *before && matches!(secret, NewSecret::Same) && declared == DeclaredBefore::Here {
        return Ok(None);
    }
    let now = NewState { client, requested, secret };
    let what = What::Client(Box::new(PlannedClient::Kept { before: Box::new(before.clone()), now }));
    Ok(Some(Change { source, thing, what, declared }))
}

/// Did a file declare a client of this name? Then this is its new id.
fn was_declared(state: &State, name: &str) -> bool {
    let ids = state.namesakes.get(name.trim()).into_iter().flatten();
    let mut things = ids.map(|id| DeclaredThing::client(*id));
    things.any(|thing| state.declarations.contains_key(&thing))
}

/// The groups and resources that a client names must be there when the run is done.
fn references(item: &Item<FileClient>, state: &State, ahead: &Ahead) -> Vec<Mistake> {
    let FileClient { access: ClientAccess { rule, release }, resources, .. } = &item.value;
    let mut mistakes = Vec::new();
    let missing = |name: &&_| !ahead.groups.contains(*name);
    for name in rule.iter().flat_map(AccessRule::groups).filter(missing) {
        mistakes.push(item.mistake("client", "access", no_group(name, state)));
    }
    let released = match release {
        Release::Groups(groups) => groups.as_slice(),
        Release::OfRule | Release::All => &[],
    };
    for name in released.iter().filter(missing) {
        mistakes.push(item.mistake("client", "release", no_group(name, state)));
    }
    for (place, uri) in resources.iter().flatten().enumerate() {
        let field = format!("resources[{place}]");
        match ahead.rules.may_be_opened(uri) {
            Ok(true) => {}
            Ok(false) => {
                let what =
                    format!("{uri} is not declared: [[resource]] does that, or the setting `resources`");
                mistakes.push(item.mistake("client", &field, what));
            }
            Err(unfit) => mistakes.push(item.mistake("client", &field, format_args!("{uri} is {unfit}"))),
        }
    }
    mistakes
}

/// What is wrong with a registration, at the field that it is about.
fn refused(item: &Item<FileClient>, rejected: &RegistrationRejected) -> Mistake {
    match rejected {
        RegistrationRejected::Missing("client_name") => item.mistake("client", "name", "is missing"),
        RegistrationRejected::Missing(field) => item.mistake("client", field, "is missing"),
        RegistrationRejected::RedirectUriCount => item.mistake("client", "redirect_uris", rejected),
        RegistrationRejected::RedirectUri { position, reason } => {
            item.mistake("client", &format!("redirect_uris[{position}]"), reason)
        }
        RegistrationRejected::Name(reason) => item.mistake("client", "name", reason),
        RegistrationRejected::Keys(reason) => item.mistake("client", "jwks", reason),
        RegistrationRejected::Scope { field, unknown } => item.mistake("client", field, unknown),
        RegistrationRejected::Lifetime { field, .. } => item.mistake("client", field, rejected),
        RegistrationRejected::Sector(reason) => item.mistake("client", "sector_identifier_uri", reason),
        RegistrationRejected::Field { field, rule } => item.mistake("client", field, rule),
    }
}

/// Keys that are the same JSON stay as they were sent.
fn with_stored_keys(mut metadata: ClientMetadata, before: &Client) -> ClientMetadata {
    let read = |text: &Option<String>| {
        text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
    };
    let stored = &before.metadata.display.jwks;
    if read(&metadata.display.jwks).is_some_and(|keys| read(stored) == Some(keys)) {
        metadata.display.jwks.clone_from(stored);
    }
    metadata
}

/// A list of open resources says the same in any order.
fn in_stored_order(resources: Vec<String>, stored: &[String]) -> Vec<String> {
    let is_same = resources.len() == stored.len() && stored.iter().all(|uri| resources.contains(uri));
    if is_same { stored.to_vec() } else { resources }
}
