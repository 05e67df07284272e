//! Rows of `clients`.

use countersign_domain::admission::{AccessRule, ClientAccess, Release};
use countersign_domain::client::{
    AuthenticationMethod, Client, ClientAuthentication, ClientMetadata, ClientOrigin, DisplayMetadata,
};
use countersign_domain::client_field::{ClientField, FieldSaid, FieldSlot};
use countersign_domain::client_secrets::{ClientSecrets, OldSecret};
use countersign_domain::grant_type::GrantType;
use countersign_domain::number::whole;
use countersign_domain::redirect_uri::RedirectUri;
use countersign_domain::registration::RequestedMetadata;
use diesel::prelude::*;

use crate::SqlError;
use crate::columns::{
    Binary, Bool, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text, from_lines, lines,
};
use crate::schema::clients;
use crate::statement::row;

row! {
    /// A row of `clients`. An update writes everything but the key, the time of creation, the secrets, and what
    /// the operator decided: the opened resources and who can sign in to the client.
    ///
    /// Values that are absent are written as NULL, not left out. So one statement fits every client and is
    /// prepared once.
    #[derive(Queryable, Selectable, AsChangeset)]
    #[diesel(table_name = clients, treat_none_as_null = true)]
    pub ClientRow, ClientRows {
        id: StoredId as Key,
        #[diesel(skip_update)]
        created_at: StoredTime as Moment,
        origin: String as Text,
        auth_method: String as Text,
        /// Changed by operations of their own, like the other two columns about secrets.
        #[diesel(skip_update)]
        secret_hash: Option<Vec<u8>> as Nullable<Binary>,
        registration_token_hash: Vec<u8> as Binary,
        name: String as Text,
        redirect_uris: String as Text,
        scopes: String as Text,
        grant_types: String as Text,
        client_uri: Option<String> as Nullable<Text>,
        logo_uri: Option<String> as Nullable<Text>,
        tos_uri: Option<String> as Nullable<Text>,
        policy_uri: Option<String> as Nullable<Text>,
        contacts: String as Text,
        jwks: Option<String> as Nullable<Text>,
        jwks_uri: Option<String> as Nullable<Text>,
        application_type: Option<String> as Nullable<Text>,
        id_token_signed_response_alg: Option<String> as Nullable<Text>,
        post_logout_redirect_uris: String as Text,
        document: Option<String> as Nullable<Text>,
        backchannel_logout_uri: Option<String> as Nullable<Text>,
        token_endpoint_auth_signing_alg: Option<String> as Nullable<Text>,
        requires_pushed_requests: bool as Bool,
        requires_bound_tokens: bool as Bool,
        /// The fields that few clients have: lines with the name of a field and its value.
        rare_fields: Option<String> as Nullable<Text>,
        /// Changed by an operation of its own.
        #[diesel(skip_update)]
        resources: String as Text,
        /// So is this.
        #[diesel(skip_update)]
        access_rule: Option<String> as Nullable<Text>,
        #[diesel(skip_update)]
        released_groups: String as Text,
        #[diesel(skip_update)]
        old_secret_hash: Option<Vec<u8>> as Nullable<Binary>,
        #[diesel(skip_update)]
        old_secret_expires_at: Option<StoredTime> as Nullable<Moment>,
    }
}

/// The fields that share a column, because few clients have any of them.
const RARE: [ClientField; 5] = [
    ClientField::SubjectType,
    ClientField::SectorIdentifierUri,
    ClientField::AccessTokenTtl,
    ClientField::RefreshTokenTtl,
    ClientField::RefreshTokenIdleTtl,
];

/// The rare fields of a client, if it has any.
fn written_rarities(display: &DisplayMetadata) -> Option<String> {
    let said = RARE.into_iter().filter_map(|field| match display.said(field) {
        Ok(FieldSaid::Text(Some(text))) => Some(format!("{field} {text}")),
        Ok(FieldSaid::Number(Some(number))) => Some(format!("{field} {number}")),
        Ok(_) | Err(_) => None,
    });
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| lines(said.iter().map(String::as_str)))
}

/// What a client with these rare fields says, and nothing else.
fn read_rarities(written: &str) -> Option<DisplayMetadata> {
    let mut read = RequestedMetadata::default();
    for line in from_lines(written) {
        let (name, value) = line.split_once(' ')?;
        let field = ClientField::parse(name).filter(|field| RARE.contains(field))?;
        match read.slot(field) {
            FieldSlot::Text(slot) => *slot = Some(value.to_owned()),
            FieldSlot::Number(slot) => *slot = Some(whole(value)?),
            FieldSlot::Truth(_) | FieldSlot::Texts(_) | FieldSlot::Several(_) => return None,
        }
    }
    Some(read.display)
}

impl From<Client> for ClientRow {
    fn from(client: Client) -> Self {
        let auth_method = client.authentication.method().to_owned();
        let secrets = match client.authentication {
            ClientAuthentication::Secret { secrets, .. } => Some(secrets),
            ClientAuthentication::Keys | ClientAuthentication::Public => None,
        };
        let old = secrets.and_then(|secrets| secrets.old);
        let rare_fields = written_rarities(&client.metadata.display);
        let ClientMetadata { name, redirect_uris, scopes, grant_types, display, .. } = client.metadata;
        Self {
            id: Id::from(client.id).into(),
            created_at: StoredTime::Time(client.created_at),
            origin: client.origin.name().to_owned(),
            auth_method,
            secret_hash: secrets.map(|secrets| secrets.current.as_bytes().to_vec()),
            registration_token_hash: client.registration_token.as_bytes().to_vec(),
            name,
            redirect_uris: lines(redirect_uris.iter().map(RedirectUri::as_str)),
            scopes: scopes.to_string(),
            grant_types: lines(grant_types.iter().map(|grant_type| grant_type.name())),
            client_uri: display.client_uri,
            logo_uri: display.logo_uri,
            tos_uri: display.tos_uri,
            policy_uri: display.policy_uri,
            contacts: lines(display.contacts.iter().map(String::as_str)),
            jwks: display.jwks,
            jwks_uri: display.jwks_uri,
            application_type: display.application_type,
            id_token_signed_response_alg: display.id_token_signed_response_alg,
            post_logout_redirect_uris: lines(display.post_logout_redirect_uris.iter().map(String::as_str)),
            document: client.document,
            backchannel_logout_uri: client.metadata.backchannel_logout_uri,
            token_endpoint_auth_signing_alg: display.token_endpoint_auth_signing_alg,
            requires_pushed_requests: client.metadata.requires_pushed_requests,
            requires_bound_tokens: client.metadata.requires_bound_tokens,
            rare_fields,
            resources: lines(client.resources.iter().map(String::as_str)),
            access_rule: client.access.rule.as_ref().map(ToString::to_string),
            released_groups: client.access.release.to_string(),
            old_secret_hash: old.map(|old| old.hash.as_bytes().to_vec()),
            old_secret_expires_at: old.map(|old| StoredTime::Time(old.expires_at)),
        }
    }
}

impl TryFrom<ClientRow> for Client {
    type Error = SqlError;

    fn try_from(row: ClientRow) -> Result<Self, SqlError> {
        let at = Row { table: "clients", key: &row.id };
        let method =
            AuthenticationMethod::parse(&row.auth_method).ok_or_else(|| at.impossible("auth_method"))?;
        let old = match (&row.old_secret_hash, row.old_secret_expires_at) {
            (Some(hash), Some(expires_at)) => Some(OldSecret {
                hash: at.hash("old_secret_hash", hash)?,
                expires_at: at.time("old_secret_expires_at", expires_at)?,
            }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(at.impossible("old_secret_expires_at")),
        };
        let authentication = match (method, &row.secret_hash) {
            (AuthenticationMethod::Secret(method), Some(hash)) => {
                let secrets = ClientSecrets { current: at.hash("secret_hash", hash)?, old };
                ClientAuthentication::Secret { method, secrets }
            }
            (AuthenticationMethod::PrivateKeyJwt, None) => ClientAuthentication::Keys,
            (AuthenticationMethod::None, None) => ClientAuthentication::Public,
            (AuthenticationMethod::Secret(_), None)
            | (AuthenticationMethod::PrivateKeyJwt | AuthenticationMethod::None, Some(_)) => {
                return Err(at.impossible("secret_hash"));
            }
        };
        let grant_types = from_lines(&row.grant_types)
            .map(|name| GrantType::parse(name).ok_or_else(|| at.impossible("grant_types")))
            .collect::<Result<_, _>>()?;
        let mut display = DisplayMetadata::default();
        if let Some(rare) = &row.rare_fields {
            display = read_rarities(rare).ok_or_else(|| at.impossible("rare_fields"))?;
        }
        let rule = row.access_rule.as_deref().map(AccessRule::parse).transpose();
        let release = match &*row.released_groups {
            "" => Ok(Release::OfRule),
            released => Release::parse(released),
        };
        Ok(Self {
            id: at.id("id", &row.id)?,
            authentication,
            document: row.document,
            resources: from_lines(&row.resources).map(ToOwned::to_owned).collect(),
            access: ClientAccess {
                rule: rule.map_err(|_| at.impossible("access_rule"))?,
                release: release.map_err(|_| at.impossible("released_groups"))?,
            },
            origin: ClientOrigin::parse(&row.origin).ok_or_else(|| at.impossible("origin"))?,
            registration_token: at.hash("registration_token_hash", &row.registration_token_hash)?,
            created_at: at.time("created_at", row.created_at)?,
            metadata: ClientMetadata {
                name: row.name,
                redirect_uris: from_lines(&row.redirect_uris)
                    .map(|uri| RedirectUri::from_trusted(uri.to_owned()))
                    .collect(),
                scopes: at.scope("scopes", &row.scopes)?,
                grant_types,
                backchannel_logout_uri: row.backchannel_logout_uri,
                requires_pushed_requests: row.requires_pushed_requests,
                requires_bound_tokens: row.requires_bound_tokens,
                display: DisplayMetadata {
                    client_uri: row.client_uri,
                    logo_uri: row.logo_uri,
                    tos_uri: row.tos_uri,
                    policy_uri: row.policy_uri,
                    contacts: from_lines(&row.contacts).map(str::to_owned).collect(),
                    jwks: row.jwks,
                    jwks_uri: row.jwks_uri,
                    application_type: row.application_type,
                    id_token_signed_response_alg: row.id_token_signed_response_alg,
                    token_endpoint_auth_signing_alg: row.token_endpoint_auth_signing_alg,
                    post_logout_redirect_uris: from_lines(&row.post_logout_redirect_uris)
                        .map(str::to_owned)
                        .collect(),
                    ..display
                },
            },
        })
    }
}
