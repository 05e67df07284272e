//! A client for the tests of this crate.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::admission::ClientAccess;
use crate::client::{Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata};
use crate::grant_type::GrantType;
use crate::id::ClientId;
use crate::scope::{Scope, ScopeSet};
use crate::secret::{Secret, SecretHash};

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
