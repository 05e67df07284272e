//! Clients come.

use countersign_ports::{RegisterClient, Registered};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{column, where_stored};
use crate::batch::Batched;
use crate::error::OpResult;
use crate::ops::register_client::register_client;
use crate::rows::client::ClientRow;
use crate::statement::statement;

statement! {
    /// Gives the clients whose ids were free.
    StoreClients<'a> {
        id: Vec<Uuid> as Array<SqlUuid>,
        created_at: Vec<OffsetDateTime> as Array<Timestamptz>,
        origin: Vec<&'a str> as Array<Text>,
        auth_method: Vec<&'a str> as Array<Text>,
        secret_hash: Vec<Option<&'a [u8]>> as Array<Nullable<Binary>>,
        registration_token_hash: Vec<&'a [u8]> as Array<Binary>,
        name: Vec<&'a str> as Array<Text>,
        redirect_uris: Vec<&'a str> as Array<Text>,
        scopes: Vec<&'a str> as Array<Text>,
        grant_types: Vec<&'a str> as Array<Text>,
        client_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        logo_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        tos_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        policy_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        contacts: Vec<&'a str> as Array<Text>,
        jwks: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        jwks_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        application_type: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        id_token_signed_response_alg: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        post_logout_redirect_uris: Vec<&'a str> as Array<Text>,
        document: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        backchannel_logout_uri: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        token_endpoint_auth_signing_alg: Vec<Option<&'a str>> as Array<Nullable<Text>>,
        requires_pushed_requests: Vec<bool> as Array<Bool>,
        requires_bound_tokens: Vec<bool> as Array<Bool>,
        resources: Vec<&'a str> as Array<Text>,
    } -> (SqlUuid) = "\
        INSERT INTO clients (id, created_at, origin, auth_method, secret_hash, registration_token_hash, name, redirect_uris, \
          scopes, grant_types, client_uri, logo_uri, tos_uri, policy_uri, contacts, jwks, jwks_uri, \
          application_type, id_token_signed_response_alg, post_logout_redirect_uris, document, \
          backchannel_logout_uri, token_endpoint_auth_signing_alg, requires_pushed_requests, \
          requires_bound_tokens, resources) \
        SELECT * FROM unnest(:id, :created_at, :origin, :auth_method, :secret_hash, :registration_token_hash, :name, \
          :redirect_uris, :scopes, :grant_types, :client_uri, :logo_uri, :tos_uri, :policy_uri, :contacts, \
          :jwks, :jwks_uri, :application_type, :id_token_signed_response_alg, :post_logout_redirect_uris, \
          :document, :backchannel_logout_uri, :token_endpoint_auth_signing_alg, :requires_pushed_requests, \
          :requires_bound_tokens, :resources) \
        AS asked (id) ORDER BY id \
        ON CONFLICT (id) DO NOTHING \
        RETURNING id"
}

impl Batched for RegisterClient {
    type Outcome = Registered;

    fn keys(&self) -> impl IntoIterator<Item = u128> + Clone {
        [self.client.id.as_uuid().as_u128()]
    }

    fn together(connection: &mut PgConnection, batch: &[Self]) -> OpResult<Vec<Option<Registered>>> {
        let rows = column(batch, |command| ClientRow::from(command.client.clone()));
        let statement = StoreClients {
            id: column(&rows, |row| row.id),
            created_at: column(&rows, |row| row.created_at),
            origin: column(&rows, |row| row.origin.as_str()),
            auth_method: column(&rows, |row| row.auth_method.as_str()),
            secret_hash: column(&rows, |row| row.secret_hash.as_deref()),
            registration_token_hash: column(&rows, |row| row.registration_token_hash.as_slice()),
            name: column(&rows, |row| row.name.as_str()),
            redirect_uris: column(&rows, |row| row.redirect_uris.as_str()),
            scopes: column(&rows, |row| row.scopes.as_str()),
            grant_types: column(&rows, |row| row.grant_types.as_str()),
            client_uri: column(&rows, |row| row.client_uri.as_deref()),
            logo_uri: column(&rows, |row| row.logo_uri.as_deref()),
            tos_uri: column(&rows, |row| row.tos_uri.as_deref()),
            policy_uri: column(&rows, |row| row.policy_uri.as_deref()),
            contacts: column(&rows, |row| row.contacts.as_str()),
            jwks: column(&rows, |row| row.jwks.as_deref()),
            jwks_uri: column(&rows, |row| row.jwks_uri.as_deref()),
            application_type: column(&rows, |row| row.application_type.as_deref()),
            id_token_signed_response_alg: column(&rows, |row| row.id_token_signed_response_alg.as_deref()),
            post_logout_redirect_uris: column(&rows, |row| row.post_logout_redirect_uris.as_str()),
            document: column(&rows, |row| row.document.as_deref()),
            backchannel_logout_uri: column(&rows, |row| row.backchannel_logout_uri.as_deref()),
            token_endpoint_auth_signing_alg: column(&rows, |row| {
                row.token_endpoint_auth_signing_alg.as_deref()
            }),
            requires_pushed_requests: column(&rows, |row| row.requires_pushed_requests),
            requires_bound_tokens: column(&rows, |row| row.requires_bound_tokens),
            resources: column(&rows, |row| row.resources.as_str()),
        };
        let stored: Vec<(Uuid,)> = statement.load(connection)?;
        Ok(where_stored(batch, stored, |command| command.client.id.as_uuid(), Registered::Stored))
    }

    fn alone(&self, connection: &mut PgConnection) -> OpResult<Registered> {
        register_client(connection, self)
    }
}
