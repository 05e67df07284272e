//! A client and resources for the tests of this crate.

use std::collections::BTreeMap;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::admission::ClientAccess;
use crate::client::{Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata};
use crate::grant_type::GrantType;
use crate::id::ClientId;
use crate::resource::{Catalog, OpenTo, Resource, ResourceScope, ScopeTitle};
use crate::scope::{Scope, ScopeName, ScopeSet};
use crate::secret::{Secret, SecretHash};

/// Resources with these scopes.
pub(crate) fn catalog(resources: &[(&str, OpenTo, &[&str])]) -> Catalog {
    let scope = |name: &&str| {
        let name = ScopeName::parse(name).unwrap();
        ResourceScope { title: ScopeTitle::of_name(&name), name, titles: BTreeMap::new(), needs: None }
    };
    let resource = |(uri, open_to, scopes): &(&str, OpenTo, &[&str])| Resource {
        uri: (*uri).to_owned(),
        name: None,
        open_to: *open_to,
        scopes: scopes.iter().map(scope).collect(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    };
    Catalog::new(resources.iter().map(resource).collect())
}

/// A public client that registered itself and can ask for every scope.
pub(crate) fn client() -> Client {
    Client {
        id: ClientId::from_uuid(Uuid::from_u128(1)),
        authentication: ClientAuthentication::Public,
        metadata: ClientMetadata {
            name: "Example".to_owned(),
            redirect_uris: Vec::new(),
            scopes: ScopeSet::of(&Scope::ALL),
            grant_types: GrantType::ALL.to_vec(),
            backchannel_logout_uri: None,
            requires_pushed_requests: false,
            requires_bound_tokens: false,
            display: DisplayMetadata::default(),
        },
        origin: ClientOrigin::SelfRegistered,
        document: None,
        resources: Vec::new(),
        access: ClientAccess::default(),
        registration_token: SecretHash::of(&Secret::new("token")),
        created_at: OffsetDateTime::UNIX_EPOCH,
    }
}
